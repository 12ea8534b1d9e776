//! Finds the label `VERDICT` in an answer and the text that belongs to it.

use super::VerdictProblem;
use super::ruling::{
    Ruling, is_negation, mentions_ruling, read_ruling, ruling_alone_on_line, ruling_at_start, split_words,
};
use crate::clean::is_hidden_char;

const VERDICT_LABEL: &str = "verdict";

#[derive(Clone, Copy, Debug)]
pub(super) struct AnswerLine<'t> {
    text: &'t str,
    /// Whether the line is in a quotation or in a code fence that contains code.
    is_quoted: bool,
    /// Whether the line opens or closes a fence.
    is_fence: bool,
}

/// A fenced block that is marked with one of these languages may contain the answer itself, rather than code.
const ANSWER_FENCE_LANGUAGES: &[&str] =
    &["", "text", "txt", "plain", "plaintext", "markdown", "md", "yaml", "yml", "json", "toml", "xml"];

pub(super) fn answer_lines(text: &str) -> Vec<AnswerLine<'_>> {
    let (mut fence, mut is_code) = (None::<&str>, false);
    let mut all = Vec::new();
    for text in text.lines() {
        let text = text.trim_start_matches(is_hidden_char);
        let trimmed = text.trim_start();
        let behind = trimmed.trim_start_matches(['`', '~']);
        let mark = Some(&trimmed[..trimmed.len() - behind.len()]).filter(|mark| mark.len() >= 3);
        let is_fence = match (mark, fence) {
            (Some(mark), None) => {
                let language = behind.trim().to_ascii_lowercase();
                (fence, is_code) = (Some(mark), !ANSWER_FENCE_LANGUAGES.contains(&language.as_str()));
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
        all.push(AnswerLine { text, is_quoted, is_fence });
    }
    all
}

/// Returns the ruling of each label in an answer, or the reason why the label has no ruling.
pub(super) fn rulings_of_labels(lines: &[AnswerLine]) -> Vec<Result<Ruling, VerdictProblem>> {
    let mut found = Vec::new();
    for (i, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_fence) {
        if let Some(cells) = verdict_column(lines, i) {
            found.extend(
                cells
                    .into_iter()
                    .map(|cell| if line.is_quoted { Err(VerdictProblem::Quoted) } else { read_ruling(cell) }),
            );
            continue;
        }
        for (before, after) in split_at_labels(line.text) {
            let rest = &lines[i + 1..];
            let said = ruling_of_label(before, after, rest);
            match said {
                // A quoted verdict is not the verdict of this answer.
                Some(Ok(_)) if line.is_quoted => found.push(Err(VerdictProblem::Quoted)),
                Some(said) => found.push(said),
                None => {}
            }
        }
    }
    found
}

/// Returns the ruling of an answer without a label. The ruling must be alone on the first or last line, and no other
/// line may contain a ruling.
pub(super) fn ruling_without_label(lines: &[AnswerLine]) -> Option<Result<Ruling, VerdictProblem>> {
    let told: Vec<&AnswerLine> =
        lines.iter().filter(|line| !line.is_fence && !line.text.trim().is_empty()).collect();
    let (first, last) = (told.first()?, told.last()?);
    let line = [first, last].into_iter().find(|line| ruling_alone_on_line(line.text).is_some())?;
    let is_only = told.iter().filter(|one| mentions_ruling(one.text)).count() == 1;
    (is_only && !line.is_quoted).then(|| read_ruling(line.text))
}

/// Returns the text before and after each `verdict` in a line.
fn split_at_labels(line: &str) -> Vec<(&str, &str)> {
    let lower = line.to_ascii_lowercase();
    let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | '-');
    let spots =
        lower.match_indices(VERDICT_LABEL).map(|(at, _)| (&line[..at], &line[at + VERDICT_LABEL.len()..]));
    spots
        .filter(|(before, after)| {
            // The underscores in `__Verdict__` are emphasis.
            let before = before.trim_end_matches('_');
            let is_part = before.ends_with(|c: char| is_inside(c)) && !before.trim_start().is_empty();
            let is_list = before.trim_end_matches(['-', '*', '+']).trim().is_empty();
            let goes_on = after.trim_start_matches('_').starts_with(char::is_alphanumeric);
            (!is_part || is_list) && !goes_on && !before.ends_with('/')
        })
        .collect()
}

/// Returns the ruling of one label, or `None` if the label is part of a sentence without a verdict.
fn ruling_of_label(before: &str, after: &str, rest: &[AnswerLine]) -> Option<Result<Ruling, VerdictProblem>> {
    let (separator, value) = split_separator(after);
    let has_value = value.chars().any(char::is_alphanumeric);
    let place = position_of_label(before, after);
    if !has_value {
        return match (place, separator) {
            // Below a label in a table cell there is only the next row, so nothing below it is read.
            (LabelPosition::Start, _) if !before.contains('|') => ruling_below(rest),
            _ => None,
        };
    }
    let said = read_ruling(value);
    match (separator, said) {
        // `Verdict APPROVED` is a verdict, but `the verdict depends on it` is not.
        (LabelSeparator::None | LabelSeparator::Is, Err(VerdictProblem::UnknownWord)) => return None,
        (LabelSeparator::None, said) => {
            let first = split_words(value).into_iter().next().unwrap_or_default();
            if ruling_at_start(value).is_none() || first.bytes().any(|b| b.is_ascii_lowercase()) {
                return None;
            }
            return Some(ruling_at_position(place, said));
        }
        (LabelSeparator::Was, Ok(_)) => return Some(Err(VerdictProblem::Quoted)),
        (LabelSeparator::Was, Err(_)) => return None,
        (LabelSeparator::Is | LabelSeparator::Sign, _) => {}
    }
    Some(ruling_at_position(place, said))
}

fn ruling_at_position(
    place: LabelPosition,
    said: Result<Ruling, VerdictProblem>,
) -> Result<Ruling, VerdictProblem> {
    match (place, said) {
        (_, Err(problem)) => Err(problem),
        (LabelPosition::Start, said) => said,
        (LabelPosition::Within(problem), _) => Err(problem),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LabelSeparator {
    None,
    Sign,
    Is,
    Was,
}

/// Splits the text after the label into the separator and the value.
fn split_separator(after: &str) -> (LabelSeparator, &str) {
    let is_mark = |c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`' | '"' | '\'' | '~' | '“' | '”');
    let is_sign = |c: char| matches!(c, ':' | '=' | '-' | '–' | '—' | '→' | '|' | '>' | '：');
    let behind = after.trim_start_matches(|c: char| (is_mark(c) && c != '~') || is_sign(c));
    let joined = &after[..after.len() - behind.len()];
    if joined.contains(is_sign) {
        return (LabelSeparator::Sign, behind);
    }
    for (word, separator) in [("is", LabelSeparator::Is), ("was", LabelSeparator::Was)] {
        let cut = behind.get(..word.len()).filter(|start| start.eq_ignore_ascii_case(word));
        if let Some(rest) = cut.map(|_| &behind[word.len()..])
            && !rest.starts_with(char::is_alphanumeric)
        {
            return (separator, rest.trim_start_matches(|c: char| is_mark(c) || is_sign(c)));
        }
    }
    (LabelSeparator::None, behind)
}

/// Whether a label starts a statement or is only part of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LabelPosition {
    Start,
    Within(VerdictProblem),
}

/// Words that may come before the label, as in `My final verdict:`.
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

/// Words that occur in a sentence about another verdict.
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

fn position_of_label(before: &str, after: &str) -> LabelPosition {
    // `"verdict": …` is a key, but `"VERDICT: …"` is a quotation.
    let is_key = after.starts_with(['"', '\'']);
    let opens_quote = before.trim_end_matches('*').ends_with(['"', '“', '‘', '«']) && !is_key;
    if opens_quote {
        return LabelPosition::Within(VerdictProblem::Quoted);
    }
    let sentence = before.rsplit(['.', '!', ';', '?', '{']).next().unwrap_or(before);
    let told = split_words(sentence);
    let is = |set: &[&str]| told.iter().any(|word| set.contains(&word.to_ascii_lowercase().as_str()));
    let is_negated = told.iter().any(|word| is_negation(&word.to_ascii_uppercase()))
        || ["n't", "n’t"].iter().any(|end| sentence.to_ascii_lowercase().contains(end));
    if is_negated {
        return LabelPosition::Within(VerdictProblem::Negated);
    }
    if is(OTHER_WORDS) || (before.trim_end().ends_with('`') && !told.is_empty()) {
        return LabelPosition::Within(VerdictProblem::Quoted);
    }
    let clause = sentence.rsplit([',', ':', '|', '—', '–', ')', '(']).next().unwrap_or(sentence);
    let is_leading = |word: &String| {
        LEADING_WORDS.contains(&word.to_ascii_lowercase().as_str())
            || word.bytes().all(|b| b.is_ascii_digit())
    };
    match split_words(clause).iter().all(is_leading) {
        true => LabelPosition::Start,
        false => LabelPosition::Within(VerdictProblem::Quoted),
    }
}

/// How many lines below a label are searched for a list of choices.
const MAX_LINES_BELOW_LABEL: usize = 6;

/// Reads the ruling from the lines below a label if the label itself has no value.
fn ruling_below(rest: &[AnswerLine]) -> Option<Result<Ruling, VerdictProblem>> {
    let is_told = |line: &&AnswerLine| !line.is_fence && line.text.chars().any(char::is_alphanumeric);
    let lines: Vec<&AnswerLine> =
        rest.iter().take(MAX_LINES_BELOW_LABEL * 2).filter(is_told).take(MAX_LINES_BELOW_LABEL).collect();
    let value = lines.first()?;
    if value.is_quoted {
        return Some(Err(VerdictProblem::Quoted));
    }
    // In a list of choices, exactly one line must be ticked.
    let is_ticked =
        |line: &&&AnswerLine| ["[x]", "[X]", "☑", "✅"].iter().any(|mark| line.text.contains(mark));
    let is_open = |line: &&&AnswerLine| ["[ ]", "☐", "⬜"].iter().any(|mark| line.text.contains(mark));
    if lines.iter().any(|line| is_open(&line)) {
        let ticked: Vec<_> = lines.iter().filter(is_ticked).collect();
        return Some(match ticked.as_slice() {
            [one] => read_ruling(one.text.split_once(']').map_or(one.text, |(_, rest)| rest)),
            [] => Err(VerdictProblem::Template),
            _ => Err(VerdictProblem::SeveralVerdicts),
        });
    }
    let said = read_ruling(value.text);
    let ruling = match said {
        // The line below is another label or a sentence, so the label has no ruling.
        Err(VerdictProblem::UnknownWord) => return Some(Err(VerdictProblem::UnknownWord)),
        Ok(ruling) => ruling,
        said => return Some(said),
    };
    let is_other = |line: &&&AnswerLine| ruling_at_start(line.text).is_some_and(|other| other != ruling);
    match lines.iter().skip(1).find(is_other) {
        Some(_) => Some(Err(VerdictProblem::Template)),
        None => Some(Ok(ruling)),
    }
}

/// Returns the cells below the column header `Verdict`.
fn verdict_column<'t>(lines: &[AnswerLine<'t>], at: usize) -> Option<Vec<&'t str>> {
    let cells = |line: &'t str| -> Vec<&'t str> {
        line.trim().trim_start_matches('|').trim_end_matches('|').split('|').map(str::trim).collect()
    };
    let is_row = |line: &&AnswerLine| line.text.contains('|');
    let is_rule = |line: &&AnswerLine| {
        line.text.contains('-')
            && line.text.chars().all(|c| matches!(c, '|' | '-' | ':') || c.is_whitespace())
    };
    let head = lines.get(at).filter(is_row)?;
    lines.get(at + 1).filter(is_rule)?;
    let is_label = |cell: &str| split_words(cell).iter().any(|word| word.eq_ignore_ascii_case(VERDICT_LABEL));
    let column = cells(head.text).iter().position(|cell| is_label(cell))?;
    let rows: Vec<&str> = lines[at + 2..]
        .iter()
        .take_while(|line| is_row(line))
        .filter_map(|line| cells(line.text).get(column).copied())
        .collect();
    // In `| Verdict | APPROVED |` the line is a row and not a header.
    (!rows.is_empty() && cells(head.text).iter().all(|cell| ruling_at_start(cell).is_none())).then_some(rows)
}
