//! Finds where an answer says `VERDICT`, and the text that belongs to it.

use super::Problem;
use super::ruling::{Ruling, begins_with, is_negation, mentions_ruling, read_ruling, ruling_alone, words};
use crate::clean::is_hidden;

const VERDICT_LABEL: &str = "verdict";

/// A line of an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'t> {
    text: &'t str,
    /// Whether the line is in a quotation, or in a fence that contains code.
    is_quoted: bool,
    /// Whether the line opens or closes a fence.
    is_fence: bool,
}

/// Languages of a fence that may contain the answer itself.
const PLAIN_FENCES: &[&str] =
    &["", "text", "txt", "plain", "plaintext", "markdown", "md", "yaml", "yml", "json", "toml", "xml"];

pub(super) fn lines(text: &str) -> Vec<Line<'_>> {
    let (mut fence, mut is_code) = (None::<&str>, false);
    let mut all = Vec::new();
    for text in text.lines() {
        let text = text.trim_start_matches(is_hidden);
        let trimmed = text.trim_start();
        let behind = trimmed.trim_start_matches(['`', '~']);
        let mark = Some(&trimmed[..trimmed.len() - behind.len()]).filter(|mark| mark.len() >= 3);
        let is_fence = match (mark, fence) {
            (Some(mark), None) => {
                let language = behind.trim().to_ascii_lowercase();
                (fence, is_code) = (Some(mark), !PLAIN_FENCES.contains(&language.as_str()));
                true
            }
            (Some(mark), Some(open)) if mark.starts_with(open) && behind.trim().is_empty() => {
                (fence, is_code) = (None, false);
                true
            }
            _ => false,
        };
        let is_lead = |c: char| c.is_whitespace() || matches!(c, '-' | '*' | '+' | '•');
        let is_quoted = is_code || text.trim_start_matches(is_lead).starts_with('>');
        all.push(Line { text, is_quoted, is_fence });
    }
    all
}

/// Returns what each label in an answer says.
pub(super) fn rulings(lines: &[Line]) -> Vec<Result<Ruling, Problem>> {
    let mut found = Vec::new();
    for (i, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_fence) {
        if let Some(cells) = verdict_column(lines, i) {
            found.extend(
                cells
                    .into_iter()
                    .map(|cell| if line.is_quoted { Err(Problem::Quoted) } else { read_ruling(cell) }),
            );
            continue;
        }
        for (before, after) in labels(line.text) {
            let rest = &lines[i + 1..];
            let said = of_label(before, after, rest);
            match said {
                // A quoted rejection does not count as a rejection.
                Some(Ok(_)) if line.is_quoted => found.push(Err(Problem::Quoted)),
                Some(said) => found.push(said),
                None => {}
            }
        }
    }
    found
}

/// Returns the ruling of an answer without any label: one word on its first or last line, and no other ruling anywhere.
pub(super) fn ruling_without_label(lines: &[Line]) -> Option<Result<Ruling, Problem>> {
    let told: Vec<&Line> =
        lines.iter().filter(|line| !line.is_fence && !line.text.trim().is_empty()).collect();
    let (first, last) = (told.first()?, told.last()?);
    let line = [first, last].into_iter().find(|line| ruling_alone(line.text).is_some())?;
    let is_only = told.iter().filter(|one| mentions_ruling(one.text)).count() == 1;
    (is_only && !line.is_quoted).then(|| read_ruling(line.text))
}

/// Returns the text before and after each occurrence of the word `verdict`.
fn labels(line: &str) -> Vec<(&str, &str)> {
    let lower = line.to_ascii_lowercase();
    let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | '-');
    let spots =
        lower.match_indices(VERDICT_LABEL).map(|(at, _)| (&line[..at], &line[at + VERDICT_LABEL.len()..]));
    spots
        .filter(|(before, after)| {
            // `__Verdict__` is emphasis.
            let before = before.trim_end_matches('_');
            let is_part = before.ends_with(|c: char| is_inside(c)) && !before.trim_start().is_empty();
            let is_list = before.trim_end_matches(['-', '*', '+']).trim().is_empty();
            let goes_on = after.trim_start_matches('_').starts_with(char::is_alphanumeric);
            (!is_part || is_list) && !goes_on && !before.ends_with('/')
        })
        .collect()
}

/// Returns the ruling of one label; `None` if the word is part of a sentence that gives no verdict.
fn of_label(before: &str, after: &str, rest: &[Line]) -> Option<Result<Ruling, Problem>> {
    let (separator, value) = split_separator(after);
    let has_value = value.chars().any(char::is_alphanumeric);
    let place = label_place(before, after);
    if !has_value {
        return match (place, separator) {
            // Below the cell of a table there is only the next row.
            (Place::Start, _) if !before.contains('|') => ruling_below(rest),
            _ => None,
        };
    }
    let said = read_ruling(value);
    match (separator, said) {
        // `Verdict APPROVED` is a verdict, but `the verdict depends on it` is not.
        (Separator::None | Separator::Is, Err(Problem::UnknownWord)) => return None,
        (Separator::None, said) => {
            let first = words(value).into_iter().next().unwrap_or_default();
            if begins_with(value).is_none() || first.bytes().any(|b| b.is_ascii_lowercase()) {
                return None;
            }
            return Some(ruling_at(place, said));
        }
        (Separator::Was, Ok(_)) => return Some(Err(Problem::Quoted)),
        (Separator::Was, Err(_)) => return None,
        (Separator::Is | Separator::Sign, _) => {}
    }
    Some(ruling_at(place, said))
}

fn ruling_at(place: Place, said: Result<Ruling, Problem>) -> Result<Ruling, Problem> {
    match (place, said) {
        (_, Err(problem)) => Err(problem),
        (Place::Start, said) => said,
        (Place::Within(problem), _) => Err(problem),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Separator {
    None,
    Sign,
    Is,
    Was,
}

/// Splits the text after the label into the separator and the value.
fn split_separator(after: &str) -> (Separator, &str) {
    let is_mark = |c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`' | '"' | '\'' | '~' | '“' | '”');
    let is_sign = |c: char| matches!(c, ':' | '=' | '-' | '–' | '—' | '→' | '|' | '>' | '：');
    let behind = after.trim_start_matches(|c: char| (is_mark(c) && c != '~') || is_sign(c));
    let joined = &after[..after.len() - behind.len()];
    if joined.contains(is_sign) {
        return (Separator::Sign, behind);
    }
    for (word, separator) in [("is", Separator::Is), ("was", Separator::Was)] {
        let cut = behind.get(..word.len()).filter(|start| start.eq_ignore_ascii_case(word));
        if let Some(rest) = cut.map(|_| &behind[word.len()..])
            && !rest.starts_with(char::is_alphanumeric)
        {
            return (separator, rest.trim_start_matches(|c: char| is_mark(c) || is_sign(c)));
        }
    }
    (Separator::None, behind)
}

/// Whether a label begins a statement, or is only part of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Start,
    Within(Problem),
}

/// Words that may come before the label: `My final verdict:`.
const LEADING_WORDS: &[&str] = &[
    "a",
    "and",
    "code",
    "conclusion",
    "critic",
    "engineer",
    "final",
    "hence",
    "my",
    "our",
    "output",
    "overall",
    "plan",
    "result",
    "review",
    "reviewer",
    "s",
    "so",
    "summary",
    "test",
    "testing",
    "tests",
    "the",
    "therefore",
    "thus",
    "x",
    "is",
];

/// Words that show that a sentence is about another verdict.
const OTHER_WORDS: &[&str] = &[
    "ask",
    "asked",
    "asks",
    "before",
    "cannot",
    "claimed",
    "claims",
    "could",
    "earlier",
    "either",
    "example",
    "expect",
    "expected",
    "format",
    "give",
    "had",
    "hardly",
    "if",
    "instead",
    "last",
    "might",
    "nobody",
    "none",
    "no",
    "once",
    "previous",
    "previously",
    "prior",
    "quote",
    "quoted",
    "reply",
    "respond",
    "return",
    "said",
    "say",
    "says",
    "should",
    "template",
    "unless",
    "until",
    "want",
    "wanted",
    "was",
    "were",
    "when",
    "wish",
    "would",
    "write",
    "wrote",
];

fn label_place(before: &str, after: &str) -> Place {
    // `"verdict": …` is a key, but `"VERDICT: …"` is a quotation.
    let is_key = after.starts_with(['"', '\'']);
    let opens_quote = before.trim_end_matches('*').ends_with(['"', '“', '‘', '«']) && !is_key;
    if opens_quote {
        return Place::Within(Problem::Quoted);
    }
    let sentence = before.rsplit(['.', '!', ';', '?', '{']).next().unwrap_or(before);
    let told = words(sentence);
    let is = |set: &[&str]| told.iter().any(|word| set.contains(&word.to_ascii_lowercase().as_str()));
    let is_negated = told.iter().any(|word| is_negation(&word.to_ascii_uppercase()))
        || ["n't", "n’t"].iter().any(|end| sentence.to_ascii_lowercase().contains(end));
    if is_negated {
        return Place::Within(Problem::Negated);
    }
    if is(OTHER_WORDS) || (before.trim_end().ends_with('`') && !told.is_empty()) {
        return Place::Within(Problem::Quoted);
    }
    let clause = sentence.rsplit([',', ':', '|', '—', '–', ')', '(']).next().unwrap_or(sentence);
    let is_leading = |word: &String| {
        LEADING_WORDS.contains(&word.to_ascii_lowercase().as_str())
            || word.bytes().all(|b| b.is_ascii_digit())
    };
    match words(clause).iter().all(is_leading) {
        true => Place::Start,
        false => Place::Within(Problem::Quoted),
    }
}

/// How many lines below a label are searched for a list of choices.
const LINES_BELOW: usize = 6;

/// Reads the line below a label that has no text after it.
fn ruling_below(rest: &[Line]) -> Option<Result<Ruling, Problem>> {
    let is_told = |line: &&Line| !line.is_fence && line.text.chars().any(char::is_alphanumeric);
    let lines: Vec<&Line> = rest.iter().take(LINES_BELOW * 2).filter(is_told).take(LINES_BELOW).collect();
    let value = lines.first()?;
    if value.is_quoted {
        return Some(Err(Problem::Quoted));
    }
    // Only one line of a list of choices is ticked.
    let is_ticked = |line: &&&Line| ["[x]", "[X]", "☑", "✅"].iter().any(|mark| line.text.contains(mark));
    let is_open = |line: &&&Line| ["[ ]", "☐", "⬜"].iter().any(|mark| line.text.contains(mark));
    if lines.iter().any(|line| is_open(&line)) {
        let ticked: Vec<_> = lines.iter().filter(is_ticked).collect();
        return Some(match ticked.as_slice() {
            [one] => read_ruling(one.text.split_once(']').map_or(one.text, |(_, rest)| rest)),
            [] => Err(Problem::Template),
            _ => Err(Problem::Several),
        });
    }
    let said = read_ruling(value.text);
    let ruling = match said {
        // The line is another label or a sentence.
        Err(Problem::UnknownWord) => return Some(Err(Problem::UnknownWord)),
        Ok(ruling) => ruling,
        said => return Some(said),
    };
    let is_other = |line: &&&Line| begins_with(line.text).is_some_and(|other| other != ruling);
    match lines.iter().skip(1).find(is_other) {
        Some(_) => Some(Err(Problem::Template)),
        None => Some(Ok(ruling)),
    }
}

/// Returns the cells below the heading `Verdict` of a table.
fn verdict_column<'t>(lines: &[Line<'t>], at: usize) -> Option<Vec<&'t str>> {
    let cells = |line: &'t str| -> Vec<&'t str> {
        line.trim().trim_start_matches('|').trim_end_matches('|').split('|').map(str::trim).collect()
    };
    let is_row = |line: &&Line| line.text.contains('|');
    let is_rule = |line: &&Line| {
        line.text.contains('-')
            && line.text.chars().all(|c| matches!(c, '|' | '-' | ':') || c.is_whitespace())
    };
    let head = lines.get(at).filter(is_row)?;
    lines.get(at + 1).filter(is_rule)?;
    let is_label = |cell: &str| words(cell).iter().any(|word| word.eq_ignore_ascii_case(VERDICT_LABEL));
    let column = cells(head.text).iter().position(|cell| is_label(cell))?;
    let rows: Vec<&str> = lines[at + 2..]
        .iter()
        .take_while(|line| is_row(line))
        .filter_map(|line| cells(line.text).get(column).copied())
        .collect();
    // `| Verdict | APPROVED |` above the rule is a row by itself.
    (!rows.is_empty() && cells(head.text).iter().all(|cell| begins_with(cell).is_none())).then_some(rows)
}
