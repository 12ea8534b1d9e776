//! Finds errors in JSON: values of keys such as `error`, records with `"level": "error"`, and strings with error
//! messages.

use serde_json::{Map, Value};

use super::super::ErrorLine;
use crate::clean::clean_line;
use crate::error_line::{is_error_line, is_error_report};

/// Parts of keys, in lower case. If a key contains one of these words, its value describes an error.
const ERROR_KEYS: &[&str] = &["error", "exception", "fail", "panic", "stderr", "traceback", "fatal"];

/// Keys that state an outcome, in lower case and without separators.
const OUTCOME_KEYS: &[&str] = &[
    "level",
    "lvl",
    "severity",
    "loglevel",
    "status",
    "state",
    "conclusion",
    "result",
    "outcome",
    "verdict",
    "type",
];

/// Values of [`OUTCOME_KEYS`] that mean an error, in lower case.
const BAD_OUTCOMES: &[&str] = &[
    "error",
    "err",
    "errored",
    "fatal",
    "critical",
    "crit",
    "severe",
    "panic",
    "emergency",
    "alert",
    "fail",
    "failed",
    "failure",
    "broken",
    "crashed",
    "aborted",
    "timed_out",
    "timedout",
    "timeout",
    "rejected",
];

/// Keys whose value is false after a failure, in lower case and without separators.
const SUCCESS_KEYS: &[&str] = &["success", "succeeded", "ok", "passed"];

/// Keys that contain exit codes, in lower case and without separators.
const EXIT_KEYS: &[&str] = &["exitcode", "exitstatus", "returncode"];

/// The lowest numeric log level that means an error.
const MIN_NUMERIC_ERROR_LEVEL: u64 = 50;

/// The maximum length of a record that is shown in full, in bytes. For a longer record, only the simple fields are
/// shown, and the nested fields are searched.
const MAX_WHOLE_RECORD_BYTES: usize = 2_000;

/// Returns all errors with their paths. Error messages are never cut.
pub fn find_json_errors(text: &str) -> Vec<ErrorLine> {
    let mut found = Vec::new();
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        collect_errors(&value, "$", &mut found);
    }
    found
}

/// Returns whether a log line that consists of a JSON object reports an error, or `None` if the line is not an
/// object.
pub fn line_reports_error(line: &str) -> Option<bool> {
    if !line.starts_with('{') {
        return None;
    }
    let value: Value = serde_json::from_str(line).ok()?;
    let mut found = Vec::new();
    collect_errors(&value, "$", &mut found);
    Some(!found.is_empty() || has_text_line_that(&value, is_error_line))
}

fn collect_errors(value: &Value, path: &str, found: &mut Vec<ErrorLine>) {
    match value {
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(i, item)| collect_errors(item, &format!("{path}[{i}]"), found));
        }
        Value::Object(fields) if is_record_of_failure(fields) => {
            let whole = value.to_string();
            if whole.len() <= MAX_WHOLE_RECORD_BYTES {
                return found.push(error_line(path, &whole));
            }
            let is_plain = |value: &Value| !value.is_array() && !value.is_object();
            let plain: Map<String, Value> = fields
                .iter()
                .filter(|(_, value)| is_plain(value))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            found.push(error_line(path, &Value::Object(plain).to_string()));
            fields
                .iter()
                .filter(|(_, value)| !is_plain(value))
                .for_each(|(key, value)| collect_errors_of_field(key, value, path, found));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| collect_errors_of_field(key, value, path, found));
        }
        Value::String(text) => {
            found
                .extend(text.lines().filter(|line| is_error_report(line)).map(|line| error_line(path, line)));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn collect_errors_of_field(key: &str, value: &Value, path: &str, found: &mut Vec<ErrorLine>) {
    let path = format!("{path}.{}", clean_line(key));
    let key = key.to_lowercase();
    match ERROR_KEYS.iter().any(|word| key.contains(word)) {
        true => add_reported_error(value, &path, found),
        false => collect_errors(value, &path, found),
    }
}

/// Adds the value of a key such as `error`, unless the value means that there is no error.
fn add_reported_error(value: &Value, path: &str, found: &mut Vec<ErrorLine>) {
    match value {
        _ if says_no_error(value) => {}
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(i, item)| add_reported_error(item, &format!("{path}[{i}]"), found));
        }
        Value::String(text) => found.push(error_line(path, text)),
        value => found.push(error_line(path, &value.to_string())),
    }
}

fn error_line(path: &str, text: &str) -> ErrorLine {
    ErrorLine { line_number_or_json_path: path.to_owned(), text: clean_line(text).trim().to_owned() }
}

/// Returns whether a value means that there was no error: null, false, 0, an empty string, or a list or object of
/// such values.
fn says_no_error(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(is_error) => !is_error,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.iter().all(says_no_error),
        Value::Object(fields) => fields.values().all(says_no_error),
    }
}

/// Returns whether a record reports a failure, such as `"level": "error"`, `"success": false` or `"exit_code": 2`.
fn is_record_of_failure(fields: &Map<String, Value>) -> bool {
    fields.iter().any(|(key, value)| {
        let key: String = key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        match value {
            Value::String(text) => {
                OUTCOME_KEYS.contains(&key.as_str())
                    && BAD_OUTCOMES.contains(&text.trim().to_lowercase().as_str())
            }
            Value::Bool(false) => SUCCESS_KEYS.contains(&key.as_str()),
            Value::Bool(true) => key == "iserror" || key == "interrupted",
            Value::Number(number) => match key.as_str() {
                "level" => number.as_u64().is_some_and(|level| level >= MIN_NUMERIC_ERROR_LEVEL),
                key => EXIT_KEYS.contains(&key) && number.as_i64() != Some(0),
            },
            _ => false,
        }
    })
}

fn has_text_line_that(value: &Value, is: fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => text.lines().any(is),
        Value::Array(items) => items.iter().any(|item| has_text_line_that(item, is)),
        Value::Object(fields) => fields.values().any(|value| has_text_line_that(value, is)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
