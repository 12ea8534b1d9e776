//! Summaries of large tool outputs. The original is stored under an id, so that omitted parts can be retrieved.
//!
//! A summary contains the original's id, size, kind and number of lines, and every error line with its position. It
//! also shows the structure: JSON keys, code declarations, the files of a diff or a listing, or the first and last
//! lines. A summary is at most 15% as large as the original. If the error lines alone do not fit, there is no summary.

mod diff;
mod json;
mod kind;
mod listing;
mod record;
pub(crate) mod source;

use std::collections::HashMap;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

pub use kind::OutputKind;
pub use record::{ArchivedOutput, ORIGINAL_KEPT_DAYS, SummarisedOutput, ids_of_outdated_originals};

use crate::clean::clean_line;
use crate::error_line;
use crate::redact::Redacted;
use crate::text::{count_with_noun, cut_to_bytes};

/// Returns whether an output is large enough for a summary. It must exceed the threshold by more than a quarter,
/// because summarising a slightly larger output saves little.
pub fn is_large_enough_for_summary(bytes: usize, threshold: u64) -> bool {
    bytes as u64 > threshold.saturating_add(threshold / 4)
}

/// Returns the SHA-256 hash of an output in hexadecimal.
pub fn output_digest(output: &[u8]) -> String {
    Sha256::digest(output).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns an output's id, which consists of the first digits of its digest.
pub fn output_id(digest: &str) -> String {
    format!("o-{}", cut_to_bytes(digest, OUTPUT_ID_DIGITS))
}

/// Returns whether a word has the form of an output id.
pub fn is_output_id(word: &str) -> bool {
    let digits = word.strip_prefix("o-").unwrap_or_default();
    digits.len() == OUTPUT_ID_DIGITS
        && digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

const OUTPUT_ID_DIGITS: usize = 16;

/// The maximum size of a summary, as a percentage of the original's size.
pub const MAX_SUMMARY_PERCENT_OF_OUTPUT: usize = 15;

/// The maximum length of a shown line, in bytes. Error lines are never cut.
const MAX_SHOWN_LINE_BYTES: usize = 160;

const MAX_FIRST_LINES_IN_SUMMARY: usize = 12;

const MAX_LAST_LINES_SHOWN: usize = 20;

/// The summary of an output, with figures about that output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSummary {
    pub text: String,
    pub kind: OutputKind,
    pub original_lines: usize,
    pub error_line_count: usize,
}

/// Returns the maximum size of a summary for an output of `bytes` bytes. It never exceeds `cap`, the limit for a
/// hook's reply.
pub fn summary_room(bytes: usize, cap: usize) -> usize {
    (bytes * MAX_SUMMARY_PERCENT_OF_OUTPUT / 100).min(cap)
}

/// Returns a summary of at most `room` bytes, or `None` if the error lines alone do not fit.
pub fn summarise_output(output: &Redacted, id: &str, room: usize) -> Option<OutputSummary> {
    let lines: Vec<&str> = output.lines().collect();
    let kind = OutputKind::detect(output, &lines);
    let errors = error_lines_of_output(output, &lines, kind);
    let mut text = format!(
        "[Throughline summary of an output: {id}, {} bytes, {}, {}]\n",
        output.len(),
        count_with_noun(lines.len(), "line"),
        kind.title()
    );
    if !errors.is_empty() {
        let _ = writeln!(text, "{}:", count_with_noun(errors.len(), "error line"));
        text.push_str(&list_grouped_errors(&errors));
    }
    let hint = format!(
        "[Full output: `thru swarm retrieve {id}`; add --offset N --limit N for some lines, --grep RE for matching lines]"
    );
    let left = room.checked_sub(text.len() + hint.len())?;
    text.push_str(&match kind {
        OutputKind::Json => json::outline_json(output, left),
        OutputKind::Code => source::outline_source(&lines, left),
        OutputKind::Diff => diff::outline_diff(&lines, left),
        OutputKind::Listing => listing::outline_listing(&lines, left),
        OutputKind::Table | OutputKind::Matches | OutputKind::Log => String::new(),
    });
    if kind != OutputKind::Json {
        let left = room.checked_sub(text.len() + hint.len())?;
        text.push_str(&first_and_last_lines(&lines, left));
    }
    text.push_str(&hint);
    (text.len() <= room).then_some(OutputSummary {
        text,
        kind,
        original_lines: lines.len(),
        error_line_count: errors.len(),
    })
}

/// An error line and its position, which is a line number or a JSON path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorLine {
    pub line_number_or_json_path: String,
    pub text: String,
}

/// Returns the error lines of an output in order, without terminal control characters.
pub fn error_lines_of_output(output: &Redacted, lines: &[&str], kind: OutputKind) -> Vec<ErrorLine> {
    let is_error: fn(&str) -> bool = match kind {
        OutputKind::Json => return json::find_json_errors(output),
        OutputKind::Log | OutputKind::Table => {
            |line| json::line_reports_error(line).unwrap_or_else(|| error_line::is_error_line(line))
        }
        // In code and file lists, a word such as `error` is not an error report.
        OutputKind::Matches => |line| error_line::is_error_report(line) || kind::is_compiler_message(line),
        OutputKind::Diff => |line| !line.starts_with(['+', '-']) && error_line::is_error_report(line),
        OutputKind::Code | OutputKind::Listing => error_line::is_error_report,
    };
    let shown = |(i, line): (usize, &&str)| {
        let text = clean_line(line).trim().to_owned();
        is_error(&text).then(|| ErrorLine { line_number_or_json_path: (i + 1).to_string(), text })
    };
    lines.iter().enumerate().filter_map(shown).collect()
}

/// Lists errors as `12: text`, or as `12, 40, 77: text` if a line is repeated.
fn list_grouped_errors(errors: &[ErrorLine]) -> String {
    let mut order: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for error in errors {
        let at = *known.entry(&error.text).or_insert_with(|| {
            order.push((&error.text, Vec::new()));
            order.len() - 1
        });
        order[at].1.push(&error.line_number_or_json_path);
    }
    order.iter().fold(String::new(), |mut text, (line, places)| {
        let _ = writeln!(text, "  {}: {line}", places.join(", "));
        text
    })
}

/// Returns as many first and last lines as fit. Two fifths of the room go to the first lines.
fn first_and_last_lines(lines: &[&str], room: usize) -> String {
    let shown = |line: &&str| {
        let line = clean_line(line);
        let line = line.trim_end();
        if line.len() > MAX_SHOWN_LINE_BYTES {
            format!("  {}…\n", cut_to_bytes(line, MAX_SHOWN_LINE_BYTES))
        } else {
            format!("  {line}\n")
        }
    };
    // Reserve room for the two headings.
    let room = room.saturating_sub(2 * "lines 1000000 to 1000000:\n".len());
    let fit = |lines: &mut dyn Iterator<Item = &&str>, room: usize| {
        let (mut kept, mut used) = (Vec::new(), 0);
        for line in lines.map(shown) {
            used += line.len();
            if used > room {
                break;
            }
            kept.push(line);
        }
        kept
    };
    let head = fit(&mut lines.iter().take(MAX_FIRST_LINES_IN_SUMMARY), room * 2 / 5);
    let used: usize = head.iter().map(String::len).sum();
    let mut tail =
        fit(&mut lines[head.len()..].iter().rev().take(MAX_LAST_LINES_SHOWN), room.saturating_sub(used));
    tail.reverse();
    let mut text = String::new();
    if !head.is_empty() {
        let _ = write!(text, "lines 1 to {}:\n{}", head.len(), head.concat());
    }
    if !tail.is_empty() {
        let _ = write!(text, "lines {} to {}:\n{}", lines.len() - tail.len() + 1, lines.len(), tail.concat());
    }
    text
}

/// Returns the items that fit into `room`. The title above them contains the total number of items and the number of
/// items shown.
fn titled_section(title: &str, items: &[String], room: usize) -> String {
    let head = |shown: usize| match shown == items.len() {
        true => format!("{title} ({}):\n", items.len()),
        false => format!("{title} (the first {shown} of {}):\n", items.len()),
    };
    let (mut text, mut shown) = (String::new(), 0);
    for item in items {
        let item = clean_line(item);
        let item = if item.len() > MAX_SHOWN_LINE_BYTES {
            format!("  {}…\n", cut_to_bytes(&item, MAX_SHOWN_LINE_BYTES))
        } else {
            format!("  {item}\n")
        };
        if head(items.len() - 1).len() + text.len() + item.len() > room {
            break;
        }
        text.push_str(&item);
        shown += 1;
    }
    if shown == 0 { String::new() } else { head(shown) + &text }
}

/// Returns whether a call retrieves a stored output. Its result must not be summarised again.
pub fn is_call_retrieving_original(tool: &str, command: Option<&str>) -> bool {
    let mut words = command.unwrap_or_default().split_whitespace().peekable();
    let mut asks = false;
    while let Some(word) = words.next() {
        asks |= word == "swarm" && words.peek() == Some(&"retrieve");
    }
    asks || tool.ends_with("__retrieve") || tool.ends_with("_retrieve")
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
