//! Detects the kind of an output from its text.

use super::source;
use crate::redact::Redacted;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputKind {
    /// One JSON value.
    Json,
    Diff,
    /// Search results, such as `src/a.rs:12:text`.
    Matches,
    /// File names, one on each line.
    Listing,
    Table,
    Code,
    /// Anything else, such as logs, test output and prose.
    Log,
}

/// The number of lines examined to detect the kind.
const MAX_LINES_EXAMINED_FOR_KIND: usize = 2_000;

impl OutputKind {
    pub fn detect(output: &Redacted, lines: &[&str]) -> OutputKind {
        let text = output.trim_start();
        if text.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(output).is_ok() {
            return OutputKind::Json;
        }
        let filled: Vec<&str> = lines
            .iter()
            .copied()
            .filter(|line| !line.trim().is_empty())
            .take(MAX_LINES_EXAMINED_FOR_KIND)
            .collect();
        let share =
            |is: fn(&str) -> bool| filled.iter().filter(|line| is(line)).count() * 100 / filled.len().max(1);
        match () {
            () if is_diff(&filled) => OutputKind::Diff,
            () if share(is_search_match) >= 80 => OutputKind::Matches,
            () if share(is_path_line) >= 80 => OutputKind::Listing,
            () if is_table(&filled) => OutputKind::Table,
            // An output with one JSON object on each line is a log.
            () if share(|line| line.starts_with('{')) >= 80 => OutputKind::Log,
            () if share(source::looks_like_code) >= 45
                && filled.iter().any(|line| source::is_declaration(line)) =>
            {
                OutputKind::Code
            }
            () => OutputKind::Log,
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            OutputKind::Json => "JSON",
            OutputKind::Diff => "diff",
            OutputKind::Matches => "search matches",
            OutputKind::Listing => "file listing",
            OutputKind::Table => "table",
            OutputKind::Code => "code",
            OutputKind::Log => "log",
        }
    }
}

fn is_diff(lines: &[&str]) -> bool {
    let hunks = lines.iter().filter(|line| line.starts_with("@@ ")).count();
    let heads =
        lines.iter().filter(|line| line.starts_with("diff --git ") || line.starts_with("+++ ")).count();
    let changed =
        lines.iter().filter(|line| line.starts_with(['+', '-', ' ', '@'])).count() * 100 / lines.len().max(1);
    hunks > 0 && heads > 0 && changed >= 70
}

/// Returns whether a line is a search result such as `src/a.rs:12:text`. Lines from compilers and linters have a column
/// or a space before the message. They are not search results, because they report errors.
fn is_search_match(line: &str) -> bool {
    text_after_file_and_line(line, &[':', '-']).is_some_and(|text| !begins_with_column_number(text))
        && !is_compiler_message(line)
}

/// Returns whether a line has the form `src/a.rs:12: text` or `src/a.rs:12:3: text`.
pub fn is_compiler_message(line: &str) -> bool {
    text_after_file_and_line(line, &[':']).is_some_and(|text| {
        let is_message = |text: &str| {
            text.strip_prefix(' ')
                .is_some_and(|text| text.starts_with(|c: char| c.is_alphanumeric() || "['\"`".contains(c)))
        };
        is_message(text)
            || begins_with_column_number(text)
                && text.split_once(':').is_some_and(|(_, text)| is_message(text))
    })
}

/// Returns the text after a file name and a line number.
fn text_after_file_and_line<'l>(line: &'l str, separators: &[char]) -> Option<&'l str> {
    let mut parts = line.splitn(3, separators);
    let (file, number, text) = (parts.next()?, parts.next()?, parts.next()?);
    (file.contains(['.', '/']) && !file.contains(' ') && is_all_digits(number)).then_some(text)
}

fn begins_with_column_number(text: &str) -> bool {
    text.split_once(':').is_some_and(|(column, _)| is_all_digits(column))
}

fn is_all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn is_path_line(line: &str) -> bool {
    let line = line.trim();
    line.contains(['/', '.']) && !line.contains([' ', '=', '(', '{', ';', '"', '<'])
}

/// Returns whether most lines have about as many cells as the first line.
fn is_table(lines: &[&str]) -> bool {
    let Some(separator) =
        ["|", "\t", "  "].into_iter().find(|one| count_cells(lines.first().unwrap_or(&""), one) >= 3)
    else {
        return false;
    };
    let wide = lines.iter().filter(|line| {
        let (first, this) = (count_cells(lines[0], separator), count_cells(line, separator));
        this.abs_diff(first) <= usize::from(separator == "  ")
    });
    wide.count() * 100 / lines.len() >= 80
}

fn count_cells(line: &str, separator: &str) -> usize {
    let line = line.trim().trim_start_matches('|').trim_end_matches('|');
    line.split(separator).filter(|cell| !cell.trim().is_empty()).count()
}
