//! The first lines of a context file: the title and three one-line fields.

use jiff::Timestamp;
use jiff::civil::Date;

use crate::document::Document;
use crate::time;

/// The fields must be within this many lines of the start of the file, because people look for them there.
pub const MAX_HEADER_LINES: usize = 6;

pub const UPDATED_KEY: &str = "Updated";
pub const ROLE_KEY: &str = "Role";
pub const PANE_KEY: &str = "Pane";
pub const HEADER_KEYS: [&str; 3] = [UPDATED_KEY, ROLE_KEY, PANE_KEY];

/// Common synonyms of a key, in lower case.
const KEY_ALIASES: &[(&str, &str)] = &[
    ("last updated", UPDATED_KEY),
    ("last update", UPDATED_KEY),
    ("agent role", ROLE_KEY),
    ("pane id", PANE_KEY),
    ("tmux pane", PANE_KEY),
];

/// A line that sets the value of a key, in the exact or a loose spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderField {
    pub key: &'static str,
    pub line: usize,
    pub value: String,
    pub spelling: FieldSpelling,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldSpelling {
    /// The line is `**Key**: value`.
    Exact,
    /// The line is `Key: value`, `**Key:** value`, `- **key**: value` or similar.
    Loose,
}

/// Returns every line of the file that looks like a field.
pub fn header_fields(document: &Document) -> Vec<HeaderField> {
    let bytes = document.bytes();
    let lines =
        document.lines().map(|line| (line.number, String::from_utf8_lossy(line.text(bytes)).into_owned()));
    lines.filter_map(|(number, text)| parse_field(number, &text)).collect()
}

/// Returns the value of a key from the header.
pub fn header_value(document: &Document, key: &str) -> Option<String> {
    header_fields(document)
        .into_iter()
        .find(|field| field.key == key && field.line <= MAX_HEADER_LINES)
        .map(|field| field.value)
}

fn parse_field(line: usize, text: &str) -> Option<HeaderField> {
    for key in HEADER_KEYS {
        if let Some(value) = text.strip_prefix(&format!("**{key}**:")) {
            return Some(HeaderField {
                key,
                line,
                value: value.trim().to_owned(),
                spelling: FieldSpelling::Exact,
            });
        }
    }
    let bare = text.trim_start().trim_start_matches(['-', '+', '>']).trim_start();
    let bare = bare.strip_prefix("* ").unwrap_or(bare);
    let (label, value) = bare.split_once(':')?;
    let marks = label.len() - label.trim_start_matches(['*', '_']).len();
    // In `**Key:** value` the bold text ends after the colon.
    let open = marks > 0 && !label.trim_end().ends_with(['*', '_']);
    let value = if open { value.trim_start_matches(['*', '_']) } else { value };
    let word = label.trim_matches(|c: char| c == '*' || c == '_' || c.is_whitespace()).to_lowercase();
    let alias = KEY_ALIASES.iter().find(|(alias, _)| *alias == word).map(|(_, key)| *key);
    let key = alias.or_else(|| HEADER_KEYS.into_iter().find(|key| key.to_lowercase() == word))?;
    Some(HeaderField { key, line, value: value.trim().to_owned(), spelling: FieldSpelling::Loose })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TitleDash {
    Em,
    En,
    Hyphen,
}

/// Finds the dash between the role's name and `Session Context`, which is the last dash in the title. The returned
/// range includes the blanks around it. A hyphen without blanks around it is part of a name.
pub fn find_title_dash(title: &str) -> Option<(TitleDash, std::ops::Range<usize>)> {
    let found = title.char_indices().rev().find_map(|(at, c)| match c {
        '\u{2014}' => Some((TitleDash::Em, at, at + c.len_utf8())),
        '\u{2013}' => Some((TitleDash::En, at, at + c.len_utf8())),
        '-' => {
            let before = title[..at].trim_end_matches('-');
            let after = &title[at + 1..];
            let apart = (before.is_empty() || before.ends_with(char::is_whitespace))
                && after.starts_with(char::is_whitespace);
            apart.then_some((TitleDash::Hyphen, before.len(), at + 1))
        }
        _ => None,
    });
    let (dash, start, end) = found?;
    let (before, after) = (title[..start].trim_end(), title[end..].trim_start());
    Some((dash, before.len()..title.len() - after.len()))
}

/// Returns whether a title ends with the word `Context`.
pub fn ends_with_context(title: &str) -> bool {
    title.strip_suffix("Context").is_some_and(|rest| !rest.ends_with(char::is_alphanumeric))
}

/// The date in a field's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdatedDate {
    /// The time up to which the file claims to be current. A date alone means the end of that day.
    Time(Timestamp),
    /// Text in the form of a date that does not exist in the calendar.
    Impossible(String),
    NoDate,
}

pub fn parse_updated_date(value: &str) -> UpdatedDate {
    let mut no_such = UpdatedDate::NoDate;
    for (start, _) in value.char_indices() {
        let Some(text) = value.get(start..start + 10).filter(|text| is_date_shaped(text)) else { continue };
        let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        if digit(value[..start].chars().next_back()) || digit(value[start + 10..].chars().next()) {
            continue;
        }
        let Ok(date) = text.parse::<Date>() else {
            if no_such == UpdatedDate::NoDate {
                no_such = UpdatedDate::Impossible(text.to_owned());
            }
            continue;
        };
        let word = value[start..].split([' ', '(', ',', ';']).next().unwrap_or(text);
        let exact = word.contains('T').then(|| time::parse_time(word)).flatten();
        let end = || date.tomorrow().ok().and_then(|date| time::parse_time(&date.to_string()));
        return exact.or_else(end).map_or(UpdatedDate::NoDate, UpdatedDate::Time);
    }
    no_such
}

fn is_date_shaped(text: &str) -> bool {
    text.bytes().enumerate().all(|(i, b)| if matches!(i, 4 | 7) { b == b'-' } else { b.is_ascii_digit() })
}
