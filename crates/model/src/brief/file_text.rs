//! Quotes the text of a file as it is on disk. White space may be part of a file's meaning, so it is never changed.

use crate::clean::clean_text;
use crate::render::{escape_for_model, format_path_or_code, in_quotation_marks, utf16_length};

/// The maximum lengths of the forms, in UTF-16 units.
const FORM_LENGTHS: [usize; 3] = [400, 1_200, 4_000];

/// What stands before each quoted line.
const LINE_PREFIX: &str = "  >";

/// The text of a file, quoted in several lengths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotedFile {
    pub forms: Vec<String>,
    /// Whether the longest form determines the text of the file completely.
    pub is_whole: bool,
}

/// Quotes a file. `on_disk` is its text, and `redacted` is the same text, or the beginning of it, without secrets.
/// If the quoted text differs from the text on disk, the quotation says how.
pub fn quote_file_text(name: &str, on_disk: &str, redacted: &str) -> QuotedFile {
    let name = format_path_or_code(name, 200);
    let ends_with_crlf = on_disk.contains("\r\n") && is_every_line_end_crlf(on_disk);
    let unix = if ends_with_crlf { redacted.replace("\r\n", "\n") } else { redacted.to_owned() };
    let cleaned = clean_text(&unix);
    let escaped = escape_for_model(&unix);
    let is_escaped = escaped != *cleaned;
    // If the file itself contains `<\`, a reader cannot tell which of the backslashes were added.
    let is_ambiguous = is_escaped && cleaned.contains("<\\");
    let is_redacted = !on_disk.starts_with(redacted);
    let is_beginning = !is_redacted && redacted.len() < on_disk.len();
    let is_cleaned = *cleaned != unix;
    let mut is_whole = false;
    let forms = FORM_LENGTHS.map(|most| {
        let (quoted, is_cut) = quote_lines(&escaped, most);
        let is_cut = is_cut || is_beginning;
        is_whole = !(is_cut || is_redacted || is_cleaned || is_ambiguous);
        let notes = [
            (is_cut, "only the beginning"),
            (is_redacted, "without secrets"),
            (is_cleaned, "without control characters and invisible characters"),
            (ends_with_crlf, "its lines end with CRLF"),
            // Without this note, the agent might think that the backslash is in the file.
            (is_escaped, "with `<\\` where the file has `<`"),
        ];
        let notes: Vec<&str> = notes.into_iter().filter(|(holds, _)| *holds).map(|(_, note)| note).collect();
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
        format!("{name}{notes}:{quoted}")
    });
    QuotedFile { forms: forms.to_vec(), is_whole }
}

fn is_every_line_end_crlf(text: &str) -> bool {
    text.split_inclusive('\n').all(|line| line.ends_with("\r\n") || !line.ends_with('\n'))
}

/// Quotes lines with their white space unchanged. A single plain line is put in quotation marks. Returns the quotation
/// and whether it is cut. If it is cut, it ends with an ellipsis.
fn quote_lines(text: &str, max: usize) -> (String, bool) {
    let lines: Vec<&str> = text.strip_suffix('\n').unwrap_or(text).split('\n').collect();
    if let [line] = lines.as_slice() {
        let quoted = in_quotation_marks(line, max);
        if quoted == format!("“{line}”") {
            return (format!(" {quoted}"), false);
        }
    }
    let (mut block, mut room) = (String::new(), max);
    for line in lines {
        let length = utf16_length(line) + LINE_PREFIX.len() + 2;
        if length > room {
            let kept = room.saturating_sub(LINE_PREFIX.len() + 2);
            block.push_str(&format!("\n{LINE_PREFIX} {}…", beginning_of_line(line, kept)));
            return (block, true);
        }
        room -= length;
        let space = if line.is_empty() { "" } else { " " };
        block.push_str(&format!("\n{LINE_PREFIX}{space}{line}"));
    }
    (block, false)
}

/// Returns the beginning of a line, at most `max` UTF-16 units.
fn beginning_of_line(line: &str, max: usize) -> &str {
    let mut used = 0;
    let end = line.char_indices().find(|(_, c)| {
        used += c.len_utf16();
        used > max
    });
    &line[..end.map_or(line.len(), |(at, _)| at)]
}

#[cfg(test)]
#[path = "file_text_tests.rs"]
mod tests;
