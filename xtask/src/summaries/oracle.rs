//! Defines error lines independently of `model`. The definition is simple and broad, and summaries are checked against
//! it.

use serde_json::Value;

/// Messages from the operating system and from language runtimes.
const ERROR_MESSAGES: &[&str] = &[
    "panicked at",
    "traceback (most recent call last)",
    "command not found",
    "no such file or directory",
    "permission denied",
    "segmentation fault",
    "connection refused",
];

/// Words that introduce an error message when a colon follows.
const ERROR_LABELS: &[&str] = &["error", "fatal", "panic", "exception", "failed", "failure"];

/// Words in capitals that state a result or a level.
const ERROR_CAPITALS: &[&str] = &["ERROR", "FATAL", "FAILED", "FAIL", "CRITICAL", "PANIC"];

/// Words that report failures if a number comes before them, as in `3 failed`.
const COUNTED_FAILURE_WORDS: &[&str] = &["failed", "failures", "errors", "error", "failure"];

/// Returns the error lines that the summary of an output must contain.
pub fn error_lines(output: &str) -> Vec<String> {
    match serde_json::from_str::<Value>(output) {
        Ok(value) if value.is_object() || value.is_array() => {
            let mut found = Vec::new();
            collect_errors_of_json(&value, false, &mut found);
            found
        }
        _ => {
            let is_diff = output.lines().any(|line| line.starts_with("@@ -"));
            let lines = output.lines().filter(|line| !(is_diff && line.starts_with(['+', '-', ' '])));
            lines.filter(|line| is_error_line(line)).map(str::to_owned).collect()
        }
    }
}

/// Returns whether a summary contains `text`, either as a line or inside a JSON string.
pub fn does_summary_contain_text(summary: &str, text: &str) -> bool {
    let quoted = Value::from(text).to_string();
    summary.contains(&line_as_shown(text)) || summary.contains(quoted.trim_matches('"'))
}

/// Returns a line as a summary shows it.
fn line_as_shown(line: &str) -> String {
    model::clean::clean_line(line).trim().to_owned()
}

fn is_error_line(line: &str) -> bool {
    let line = line_as_shown(line);
    // Quoted lines of files are not errors. `grep -n` and `cat -n` print such lines, and some programs put them in
    // quotation marks.
    if is_quoted_file(&line) {
        return false;
    }
    let lower = line.to_lowercase();
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_capital =
        |word: &&str| ERROR_CAPITALS.contains(&word.trim_matches(|c: char| !c.is_alphanumeric()));
    begins_with_label(&line)
        || words.iter().take(4).any(is_capital)
        || ERROR_MESSAGES.iter().any(|message| lower.ends_with(message) || lower.starts_with(message))
        || counts_failures(&lower)
}

/// Returns whether a line begins with a label such as `error:` or `ValueError:`. A position such as `a.py:3:` may come
/// before the label.
fn begins_with_label(line: &str) -> bool {
    let is_label = |word: &str| {
        ERROR_LABELS.contains(&word.to_lowercase().as_str())
            || (word.ends_with("Error") || word.ends_with("Exception"))
                && word.starts_with(|c: char| c.is_uppercase())
    };
    let mut parts = line.split(": ");
    let first = parts.next().unwrap_or_default();
    let is_place =
        first.contains('.') && !first.contains(' ') && first.ends_with(|c: char| c.is_ascii_digit());
    let label = if is_place { parts.next().unwrap_or_default() } else { first };
    label.len() < line.len() && is_label(label)
}

/// Returns whether a number other than zero comes before a word such as `failed`.
fn counts_failures(lower: &str) -> bool {
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.windows(2).any(|pair| {
        pair[0].parse::<u64>().is_ok_and(|number| number > 0) && COUNTED_FAILURE_WORDS.contains(&pair[1])
    })
}

/// Returns whether a line is a quoted line of a file: `src/a.rs:12:text`, `12<tab>text`.
fn is_quoted_file(line: &str) -> bool {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = digits.len() < line.len() && digits.starts_with(['→', ':', '-']);
    let mut parts = line.splitn(3, [':', '-']);
    let (file, number, text) = (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    );
    let is_match = file.contains('.')
        && !number.is_empty()
        && number.bytes().all(|b| b.is_ascii_digit())
        && (text.is_empty() || text.starts_with("  ") || !text.starts_with(' '))
        && !text.starts_with(|c: char| c.is_ascii_digit());
    is_numbered || is_match
}

/// Collects the strings below keys such as `error`, and the strings of objects with a bad level or status.
fn collect_errors_of_json(value: &Value, is_error: bool, found: &mut Vec<String>) {
    match value {
        Value::String(text) if is_error && !text.trim().is_empty() => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect_errors_of_json(item, is_error, found)),
        Value::Object(fields) => {
            let is_bad = fields.iter().any(|(key, value)| {
                let value = value.as_str().unwrap_or_default().to_lowercase();
                ["level", "severity", "status"].contains(&key.to_lowercase().as_str())
                    && ["error", "fatal", "failed", "failure"].contains(&value.as_str())
            });
            for (key, value) in fields {
                let names_error = key.to_lowercase().contains("error");
                let is_text = value.is_string();
                collect_errors_of_json(value, is_error || names_error || is_bad && is_text, found);
            }
        }
        _ => {}
    }
}
