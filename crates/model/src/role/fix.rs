//! Fixes that need no judgement: the dash in the title, the labels, and the names of headings. Each fix changes one
//! line, and prose is never changed.

use crate::document::Document;

use super::header::{self, FieldSpelling, MAX_HEADER_LINES, TitleDash};
use super::section;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedContextFile {
    pub bytes: Vec<u8>,
    /// The numbers of the changed lines.
    pub changed_lines: Vec<usize>,
}

pub fn fix_context_file(bytes: impl Into<Vec<u8>>) -> FixedContextFile {
    let mut document = Document::parse(bytes);
    let mut edits: Vec<(usize, String)> = Vec::new();
    if let Some(heading) =
        document.headings().first().filter(|heading| (heading.line, heading.level) == (1, 1))
        && let Some(title) = fixed_title(&heading.text)
    {
        edits.push((1, format!("# {title}")));
    }
    let fields = header::header_fields(&document);
    let in_header = || fields.iter().filter(|field| field.line <= MAX_HEADER_LINES);
    for field in in_header().filter(|field| field.spelling == FieldSpelling::Loose) {
        // If a key occurs twice, only a person can choose between the lines, so neither is changed.
        if in_header().filter(|other| other.key == field.key).count() == 1 {
            let blank = if field.value.is_empty() { "" } else { " " };
            edits.push((field.line, format!("**{}**:{blank}{}", field.key, field.value)));
        }
    }
    for named in section::CONTEXT_FILE_SECTIONS {
        if let Some(heading) = named.misnamed_heading(&document)
            && !edits.iter().any(|(line, _)| *line == heading.line)
        {
            edits.push((heading.line, named.corrected_heading(heading)));
        }
    }
    edits.sort();
    let mut lines = Vec::new();
    for (line, text) in edits {
        // A line that is not valid UTF-8 is not changed.
        if document.set_line(line, &text).is_ok() {
            lines.push(line);
        }
    }
    FixedContextFile { bytes: document.into_bytes(), changed_lines: lines }
}

/// Returns the corrected title if only its form is wrong.
fn fixed_title(title: &str) -> Option<String> {
    match header::find_title_dash(title) {
        Some((TitleDash::En | TitleDash::Hyphen, at)) if at.start > 0 => {
            Some(format!("{} — {}", &title[..at.start], &title[at.end..]))
        }
        Some(_) => None,
        None => {
            let tails = ["Session Context", "Context"];
            // In `Foo: Session Context` and `Foo― Session Context`, the punctuation may be part of the name, so such
            // titles are not changed.
            let is_plain = |name: &str| name.ends_with(char::is_alphanumeric);
            let named = |tail: &&str| title.strip_suffix(tail).is_some_and(|name| name.ends_with(' '));
            let told = tails.into_iter().find(named);
            let name = told.and_then(|tail| title.strip_suffix(tail)).unwrap_or(title).trim_end();
            // A title that consists only of these words does not name a role.
            let is_form = ["session", "context", "session context"].contains(&name.to_lowercase().as_str());
            let says_so = told.is_none() && name.to_lowercase().contains("context");
            (is_plain(name) && !is_form && !says_so)
                .then(|| format!("{name} — {}", told.unwrap_or("Session Context")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fixed_title;

    #[test]
    fn a_title_is_mended_only_where_that_takes_no_thought() {
        for (title, expected) in [
            ("Tester - Session Context", Some("Tester — Session Context")),
            ("Tester – Context", Some("Tester — Context")),
            ("Tester Session Context", Some("Tester — Session Context")),
            ("Tester", Some("Tester — Session Context")),
            ("Tester — Session Context", None),
            ("Tester ― Session Context", None),
            ("tester: Session Context", None),
            ("Foo-Context", None),
            ("Session Context", None),
            ("Context", None),
        ] {
            assert_eq!(fixed_title(title).as_deref(), expected, "{title}");
        }
    }
}
