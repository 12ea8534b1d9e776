use super::*;
use crate::redact::RedactOptions;

fn changed_line(old: &str, new: &str) -> Option<(String, String, usize)> {
    let redacted = |text| Redacted::redact_whole(text, RedactOptions::default());
    let found = first_changed_line(&redacted(old), &redacted(new))?;
    Some((found.old, found.new, found.more))
}

/// The old text, the new text, and the expected line: its old form, its new form and the number of further lines.
type EditCase<'a> = (&'a str, &'a str, Option<(&'a str, &'a str, usize)>);

#[test]
fn an_edit_is_shown_by_its_first_informative_line() {
    let cases: &[EditCase] = &[
        // A renamed function.
        (
            "fn total(rows: &[Row]) -> u64 {\n    0\n}",
            "fn sum(rows: &[Row]) -> u64 {\n    0\n}",
            Some(("fn total(rows: &[Row]) -> u64 {", "fn sum(rows: &[Row]) -> u64 {", 0)),
        ),
        // Added lines: the lines around them were not changed.
        (
            "fn a() {\n}",
            "fn a() {\n    let count = rows.len();\n    print(count);\n}",
            Some(("", "let count = rows.len();", 1)),
        ),
        ("fn a() {\n    check(rows);\n}", "fn a() {\n}", Some(("check(rows);", "", 0))),
        // Code says more than the comment before it.
        ("x", "// Rows may be empty.\nlet total = sum(rows);", Some(("", "let total = sum(rows);", 1))),
        (
            "// Rows are never empty.",
            "// Rows may be empty.",
            Some(("// Rows are never empty.", "// Rows may be empty.", 0)),
        ),
        // A replaced block: the new text is shown.
        ("let total = sum(rows);", "match rows.first() {", Some(("", "match rows.first() {", 0))),
        // An import says less than the code that needs it.
        (
            "use std::fs;",
            "use std::fs;\nuse std::io::Read;\nlet mut file = open(path);",
            Some(("", "let mut file = open(path);", 1)),
        ),
        // Only the indentation or the order was changed.
        ("if a {\nb();\n}", "if a {\n    b();\n}", None),
        // A single word may be a secret whose name is outside the edit.
        ("hunter2", "swordfish", None),
        ("\"hunter2\",", "\"swordfish\",", None),
        ("password = hunter2", "password = swordfish9", None),
        ("", "}\n);", None),
        // Data is not shown.
        ("", "aGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8gd29ybGQ one two", None),
    ];
    for (old, new, expected) in cases {
        let expected = expected.map(|(old, new, more)| (old.to_owned(), new.to_owned(), more));
        assert_eq!(changed_line(old, new), expected, "{old} -> {new}");
    }
}

#[test]
fn a_secret_of_an_edit_is_not_shown() {
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let found = changed_line("let a = 1;", &format!("let token = \"{token}\";\nlet other = call(token);"));
    assert_eq!(found, Some((String::new(), "let other = call(token);".to_owned(), 1)));
}

#[test]
fn files_with_secrets_are_recognised_by_their_names() {
    let cases = [
        (".env", true),
        ("app/.env.local", true),
        ("keys/server.pem", true),
        ("infra/prod.tfvars", true),
        ("config/secrets.yml", true),
        ("src/environment.rs", false),
        ("src/keyboard.ts", false),
        ("src/main.rs", false),
    ];
    for (path, expected) in cases {
        assert_eq!(may_hold_secrets(path), expected, "{path}");
    }
}
