//! For any output, the summary is short, contains every error line with its position, and is deterministic.

#![allow(clippy::unwrap_used)]

use model::redact::{RedactOptions, Redacted};
use model::summary::{self, MAX_SUMMARY_PERCENT_OF_OUTPUT, OutputKind};
use proptest::prelude::*;

/// Returns a typical line of a program's output. Many lines occur several times.
fn random_line() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => (0..40_u32).prop_map(|n| format!("test parser::case_{n} ... ok")),
        3 => (0..40_u32).prop_map(|n| format!("    let value_{n} = compute({n});")),
        2 => (0..40_u32).prop_map(|n| format!("src/part{n}/file{n}.rs")),
        2 => (0..40_u32).prop_map(|n| format!("src/a.rs:{n}:fn a() {{")),
        2 => (0..40_u32).prop_map(|n| format!("@@ -{n},2 +{n},2 @@")),
        1 => (0..40_u32).prop_map(|n| format!("pub fn part_{n}(a: u8) -> u8 {{")),
        1 => (0..9_u32).prop_map(|n| format!("error[E{n:04}]: mismatched types")),
        1 => (0..9_u32).prop_map(|n| format!("\u{1b}[31mFAILED\u{1b}[0m tests/a.py::test_{n}")),
        1 => "\\PC{0,60}",
        1 => ".{0,60}",
    ]
}

/// Returns an output in which one kind of line is more frequent than the others, as in real outputs.
fn random_output() -> impl Strategy<Value = String> {
    let body = (proptest::collection::vec(random_line(), 1..12), 1..60_usize)
        .prop_map(|(lines, times)| (lines.join("\n") + "\n").repeat(times));
    let json = proptest::collection::vec(("[a-z]{1,8}", "\\PC{0,30}"), 1..40).prop_map(|fields| {
        let items: Vec<_> = fields
            .iter()
            .map(|(key, text)| serde_json::json!({ key: text, "error": text, "n": [1, 2] }))
            .collect();
        serde_json::json!({ "items": items }).to_string()
    });
    let parts = proptest::collection::vec(body, 1..4).prop_map(|parts| parts.concat());
    prop_oneof![5 => parts, 1 => json]
}

proptest! {
    #[test]
    fn a_summary_is_short_and_loses_no_error(output in random_output()) {
        let output = Redacted::redact_whole(&output, RedactOptions::default());
        let room = summary::summary_room(output.len(), usize::MAX);
        let made = summary::summarise_output(&output, "o-0123456789abcdef", room);
        prop_assert_eq!(&made, &summary::summarise_output(&output, "o-0123456789abcdef", room));
        let Some(made) = made else { return Ok(()) };
        prop_assert!(made.text.len() * 100 <= output.len() * MAX_SUMMARY_PERCENT_OF_OUTPUT);
        let lines: Vec<&str> = output.lines().collect();
        prop_assert_eq!(made.kind, OutputKind::detect(&output, &lines));
        let errors = summary::error_lines_of_output(&output, &lines, made.kind);
        prop_assert_eq!(made.error_line_count, errors.len());
        for error in errors {
            let kept = made.text.lines().any(|line| {
                line.split_once(": ").is_some_and(|(places, text)| {
                    text == error.text && places.trim().split(", ").any(|place| place == error.line_number_or_json_path)
                }) || line.contains(&error.line_number_or_json_path) && line.ends_with(&error.text)
            });
            prop_assert!(kept, "{}: {} is not in\n{}", error.line_number_or_json_path, error.text, made.text);
        }
    }
}
