use super::*;

#[test]
fn markup_announcements_and_praise_go() {
    let cases = [
        (
            "Done! Here's a summary of the changes:\n\n**Reader:**\n- keeps comments\n- `parse()` is gone\n\nAll tests pass.",
            "Reader: keeps comments; `parse()` is gone",
        ),
        (
            "Found it! The path is missing from the saved state. Let me fix that.",
            "Found it! The path is missing from the saved state.",
        ),
        ("Now update the title:", ""),
        (
            "## Before\n| a | b |\n|---|---|\n| 1 | 2 |\n```rust\nfn a() {}\n```\nIt reads a.rs first.",
            "Before. It reads a.rs first.",
        ),
        ("1. Reads the file\n2. Writes it", "1. Reads the file; 2. Writes it"),
        ("", ""),
    ];
    for (text, expected) in cases {
        assert_eq!(condense(text), expected, "{text:?}");
    }
}

#[test]
fn findings_name_something_or_say_why() {
    let cases = [
        ("I see the structure now.", false),
        ("Let me run the tests and the linter to verify the changes in `a.rs`.", false),
        ("The transcript file is named `full.jsonl`, not `transcript.jsonl`. Let me fix the test.", true),
        ("The branch was merged into main before, because of which the walk stops too early.", true),
    ];
    for (text, expected) in cases {
        assert_eq!(!finding(text).is_empty(), expected, "{text:?}");
    }
}

#[test]
fn cut_between_sentences() {
    assert_eq!(first_sentences("One two. Three four.", 40), "One two. Three four.");
    assert_eq!(first_sentences("One two. Three four.", 12), "One two. …");
    assert_eq!(first_sentences("a; b; c and more of it", 6), "a; b …");
    assert_eq!(first_sentences("onelongword without an end", 11), "onelongword…");
    assert_eq!(first_sentences("éé éé éé", 4), "éé é…");
}
