//! Reads the entries below one heading, which are list items, table rows or paragraphs.

use super::{OutlineWarning, OutlinedDecision, OutlinedDecisions};
use crate::render::one_line;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SectionBlock {
    Item { line: usize, text: String, nested: Vec<String> },
    Row { line: usize, cells: Vec<String>, head: Vec<String> },
    Paragraph { line: usize, text: String },
}

impl SectionBlock {
    pub fn is_decision_entry(&self) -> bool {
        match self {
            SectionBlock::Item { text, .. } => !is_placeholder(&strip_box_tag_and_date(text).0),
            SectionBlock::Row { .. } => true,
            SectionBlock::Paragraph { text, .. } => text.starts_with("**"),
        }
    }
}

/// Labels of a line that gives the reason for the decision above it.
const REASON_LABELS: &[&str] =
    &["why", "rationale", "reason", "reasoning", "because", "justification", "context"];

/// Labels of a line that states what was decided.
const DECISION_LABELS: &[&str] = &["decision", "choice", "chosen", "decided", "pattern", "resolution"];

/// Labels of a line that gives the date of the decision.
const DATE_LABELS: &[&str] = &["date", "when", "decided at", "recorded_at"];

/// Labels of lines that are ignored.
const IGNORED_LABELS: &[&str] = &[
    "status",
    "alternatives",
    "alternative",
    "consequences",
    "impact",
    "options",
    "tradeoffs",
    "trade-offs",
];

/// Values of `status` that mean a decision is not in force.
const NOT_IN_FORCE_STATUSES: &[&str] =
    &["pending", "open", "proposed", "rejected", "superseded", "deprecated", "tbd", "deferred"];

pub fn split_blocks(lines: &[(usize, &str)]) -> Vec<SectionBlock> {
    let mut out: Vec<SectionBlock> = Vec::new();
    let mut head: Option<Vec<String>> = None;
    let (mut fenced, mut top, mut is_broken) = (false, None, true);
    for (i, (number, line)) in lines.iter().enumerate() {
        let bare = line.trim();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            fenced = !fenced;
            continue;
        }
        if fenced || bare.starts_with("<!--") || is_horizontal_rule(bare) {
            continue;
        }
        if bare.is_empty() {
            (is_broken, head) = (true, None);
            continue;
        }
        if bare.starts_with('|') {
            let cells = table_cells(bare);
            let next_is_rule = lines.get(i + 1).is_some_and(|(_, next)| is_table_rule(next.trim()));
            match &head {
                _ if is_table_rule(bare) => {}
                None if next_is_rule => head = Some(cells),
                known => {
                    out.push(SectionBlock::Row {
                        line: *number,
                        cells,
                        head: known.clone().unwrap_or_default(),
                    });
                }
            }
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        match (list_item_text(bare), out.last_mut()) {
            (Some(text), Some(SectionBlock::Item { nested, .. }))
                if top.is_some_and(|top| indent > top + 1) =>
            {
                nested.push(text.to_owned());
            }
            (Some(text), _) => {
                top = Some(indent);
                out.push(SectionBlock::Item { line: *number, text: text.to_owned(), nested: Vec::new() });
            }
            // The line continues the item above it.
            (None, Some(SectionBlock::Item { text, nested, .. }))
                if !is_broken || indent > top.unwrap_or(0) =>
            {
                let to = nested.last_mut().unwrap_or(text);
                to.push(' ');
                to.push_str(bare);
            }
            (None, Some(SectionBlock::Paragraph { text, .. })) if !is_broken && !bare.starts_with("**") => {
                text.push(' ');
                text.push_str(bare);
            }
            (None, _) => {
                top = None;
                out.push(SectionBlock::Paragraph { line: *number, text: bare.to_owned() });
            }
        }
        is_broken = false;
    }
    out
}

/// Reads the entries of a section. `title` is the heading above them if that heading is inside the section, and
/// otherwise empty. Such a heading can itself be a decision.
pub fn read_entries(
    blocks: &[SectionBlock],
    at: usize,
    title: &str,
    out: &mut OutlinedDecisions,
    make: impl Fn(OutlinedDecision) -> OutlinedDecision,
) {
    if !title.is_empty() && is_decision_heading(title, blocks) {
        let found = decision_of_heading(title, blocks, at);
        match why_entry_left_out(&found.text, stated_status(blocks)) {
            Some(text) => out.warnings.push(OutlineWarning { line: at, text }),
            None => out.decisions.push(OutlinedDecision { topic: String::new(), ..make(found) }),
        }
        return;
    }
    let has_entries = blocks.iter().any(SectionBlock::is_decision_entry);
    for block in blocks {
        let found = match block {
            SectionBlock::Item { line, text, nested } => decision_of_item(*line, text, nested),
            SectionBlock::Row { line, cells, head } => match decision_of_row(*line, cells, head) {
                Ok(found) => found,
                Err(text) => {
                    out.warnings.push(OutlineWarning { line: *line, text });
                    continue;
                }
            },
            SectionBlock::Paragraph { text, .. } if has_entries && !text.starts_with("**") => continue,
            SectionBlock::Paragraph { text, .. } if text.ends_with(':') => continue,
            SectionBlock::Paragraph { line, text } => decision_of_item(*line, text, &[]),
        };
        if found.text.starts_with("~~") {
            let text = format!("struck through, left out: {}", one_line(&found.text, 80));
            out.warnings.push(OutlineWarning { line: found.line, text });
        } else if !is_placeholder(&found.text) {
            out.decisions.push(make(found));
        }
    }
}

fn decision_of_item(line: usize, text: &str, nested: &[String]) -> OutlinedDecision {
    let (mut text, mut date) = strip_box_tag_and_date(text);
    let mut why = String::new();
    if let Some((before, reason)) = split_inline_reason(&text) {
        (text, why) = (before, reason);
    }
    for more in nested {
        match split_label(more) {
            Some((label, rest)) if REASON_LABELS.contains(&label.as_str()) => {
                append_with_gap(&mut why, "; ", &rest);
            }
            Some((label, rest)) if DATE_LABELS.contains(&label.as_str()) => date = rest,
            _ => {
                let gap = if text.ends_with(':') { " " } else { "; " };
                append_with_gap(&mut text, gap, &without_bold_marks(more));
            }
        }
    }
    OutlinedDecision { line, text, why, date, ..OutlinedDecision::default() }
}

fn decision_of_row(line: usize, cells: &[String], head: &[String]) -> Result<OutlinedDecision, String> {
    let column = |names: &[&str]| {
        head.iter().position(|title| {
            let title = without_bold_marks(title).to_lowercase();
            names.iter().any(|name| title == *name || title.split(' ').any(|word| word == *name))
        })
    };
    let cell =
        |place: Option<usize>| place.and_then(|place| cells.get(place)).map(|cell| without_bold_marks(cell));
    let what = column(DECISION_LABELS);
    let about = column(&["topic", "area", "question", "aspect", "category", "item", "component"]);
    let first = || cells.iter().position(|cell| without_bold_marks(cell).chars().any(char::is_alphabetic));
    let mut text = cell(what.or_else(first)).unwrap_or_default();
    if let (Some(about), true) = (cell(about), what.is_some() && what != about)
        && !about.is_empty()
    {
        text = format!("{about}: {text}");
    }
    if let Some(why) = why_entry_left_out(&text, cell(column(&["status", "state"]))) {
        return Err(why);
    }
    let why = cell(column(REASON_LABELS)).unwrap_or_default();
    let date = cell(column(DATE_LABELS)).unwrap_or_default();
    Ok(OutlinedDecision { line, text, why, date, ..OutlinedDecision::default() })
}

/// Returns whether a heading is itself a decision. Such a heading is numbered, as in `ADR-3: …`, or lines with labels
/// follow it.
fn is_decision_heading(title: &str, blocks: &[SectionBlock]) -> bool {
    let bare = title.trim_start_matches(['*', '[']).to_lowercase();
    let numbered = ["adr", "decision", "dec", "d"].iter().any(|start| {
        let rest = bare.strip_prefix(start).map(|rest| rest.trim_start_matches([' ', '-', '_', '#']));
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    });
    let labels =
        blocks.iter().filter_map(|block| split_label(section_block_text(block))).map(|(label, _)| label);
    let labels: Vec<String> = labels.collect();
    let says = |known: &[&str]| labels.iter().any(|label| known.contains(&label.as_str()));
    numbered
        || says(REASON_LABELS)
        || says(DECISION_LABELS) && labels.len() > 1
        || says(IGNORED_LABELS) && says(DECISION_LABELS)
}

fn decision_of_heading(title: &str, blocks: &[SectionBlock], line: usize) -> OutlinedDecision {
    let (title, date) = strip_box_tag_and_date(title);
    let mut found = OutlinedDecision { line, text: title, date, ..OutlinedDecision::default() };
    for block in blocks {
        let text = section_block_text(block);
        match split_label(text) {
            Some((label, rest)) if DECISION_LABELS.contains(&label.as_str()) => {
                append_with_gap(&mut found.text, ": ", &rest);
            }
            Some((label, rest)) if REASON_LABELS.contains(&label.as_str()) => {
                append_with_gap(&mut found.why, "; ", &rest);
            }
            Some((label, rest)) if DATE_LABELS.contains(&label.as_str()) => found.date = rest,
            Some((label, _)) if IGNORED_LABELS.contains(&label.as_str()) => {}
            _ => append_with_gap(&mut found.why, "; ", &without_bold_marks(text)),
        }
    }
    found
}

fn section_block_text(block: &SectionBlock) -> &str {
    match block {
        SectionBlock::Item { text, .. } | SectionBlock::Paragraph { text, .. } => text,
        SectionBlock::Row { cells, .. } => cells.first().map_or("", String::as_str),
    }
}

fn stated_status(blocks: &[SectionBlock]) -> Option<String> {
    let labels = blocks.iter().filter_map(|block| split_label(section_block_text(block)));
    labels.filter(|(label, _)| label == "status").map(|(_, rest)| rest).next()
}

fn why_entry_left_out(text: &str, status: Option<String>) -> Option<String> {
    let status = status?.to_lowercase();
    let first = status.split(|c: char| !c.is_alphabetic()).find(|word| !word.is_empty())?;
    NOT_IN_FORCE_STATUSES.contains(&first).then(|| format!("{first}, left out: {}", one_line(text, 80)))
}

/// Splits `**Rationale**: …` or `Why: …` into the lower-case label and the text after it.
fn split_label(text: &str) -> Option<(String, String)> {
    let bare = without_bold_marks(text);
    let (label, rest) = bare.split_once(':')?;
    let label = label.trim().to_lowercase();
    let known = [REASON_LABELS, DECISION_LABELS, DATE_LABELS, IGNORED_LABELS].concat();
    known.contains(&label.as_str()).then(|| (label, rest.trim().to_owned()))
}

/// Splits `Use X. Rationale: Y` or `Use X (why: Y)` into the decision and its reason.
fn split_inline_reason(text: &str) -> Option<(String, String)> {
    let small = text.to_ascii_lowercase();
    let labels = ["rationale:", "reason:", "why:"];
    let (at, label) = labels.iter().filter_map(|label| Some((small.find(label)?, *label))).min()?;
    let before = text[..at].trim_end_matches([' ', '(', '-', '–', '—', '.', ',', ';', '[']).to_owned();
    let reason = text[at + label.len()..].trim();
    let reason = if text[..at].trim_end().ends_with('(') { reason.trim_end_matches(')') } else { reason };
    (!before.is_empty()).then(|| (before, reason.to_owned()))
}

/// Removes a checkbox, a tag and a date from the start of `text`. Returns the remaining text and the date.
fn strip_box_tag_and_date(text: &str) -> (String, String) {
    let mut text = without_bold_marks(text);
    for mark in ["[ ] ", "[x] ", "[X] ", "✅ ", "✓ "] {
        if let Some(rest) = text.strip_prefix(mark) {
            text = rest.trim().to_owned();
        }
    }
    for tag in ["[decision]", "[pattern]"] {
        if text.to_ascii_lowercase().starts_with(tag) {
            text = text[tag.len()..].trim_start_matches([':', ' ']).to_owned();
        }
    }
    let bare = text.trim_start_matches(['[', '(']);
    let is_date = |date: &str| {
        date.bytes().enumerate().all(|(i, b)| if i == 4 || i == 7 { b == b'-' } else { b.is_ascii_digit() })
    };
    match bare.get(..10).filter(|date| is_date(date)) {
        Some(date) => {
            let rest = bare[10..].trim_start_matches([']', ')', ':', ' ', '-', '–', '—']);
            (rest.to_owned(), date.to_owned())
        }
        None => (text, String::new()),
    }
}

fn without_bold_marks(text: &str) -> String {
    text.replace("**", "").trim().to_owned()
}

/// Returns whether `text` is a placeholder that was never filled in.
fn is_placeholder(text: &str) -> bool {
    let bare = text.trim().trim_matches(['_', '*', '(', ')', '.', '-', ' ']).to_lowercase();
    let enclosed = (text.starts_with('[') && text.ends_with(']')
        || text.starts_with('<') && text.ends_with('>'))
        && !text.contains("](");
    bare.is_empty()
        || enclosed
        || matches!(bare.as_str(), "none" | "none yet" | "n/a" | "tbd" | "no decisions yet")
}

fn list_item_text(bare: &str) -> Option<&str> {
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = (1..=3).contains(&digits).then(|| &bare[digits..]);
    let numbered = numbered.and_then(|rest| rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")));
    let marked = || ["- ", "* ", "+ ", "• "].iter().find_map(|mark| bare.strip_prefix(mark));
    numbered.or_else(marked).map(str::trim)
}

fn table_cells(row: &str) -> Vec<String> {
    let inner = row.trim().trim_start_matches('|');
    let inner = inner.strip_suffix('|').unwrap_or(inner).replace("\\|", "\u{1}");
    inner.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect()
}

fn is_table_rule(row: &str) -> bool {
    row.starts_with('|') && row.contains('-') && row.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

fn is_horizontal_rule(bare: &str) -> bool {
    bare.len() >= 3 && bare.chars().all(|c| matches!(c, '-' | '*' | '_'))
}

fn append_with_gap(to: &mut String, gap: &str, more: &str) {
    if !to.is_empty() && !more.is_empty() {
        to.push_str(gap);
    }
    to.push_str(more);
}
