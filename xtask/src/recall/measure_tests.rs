use super::*;

#[test]
fn a_name_is_found_only_as_a_whole_word() {
    for (text, expected) in [
        ("see src/a.rs, then", true),
        ("src: a.rs", true),
        ("/x/y/src/a.rs", true),
        ("a.rs.", true),
        ("a.rs.bak", false),
        ("ba.rs", false),
        ("a.rs/b", false),
        ("x-a.rs", false),
    ] {
        assert_eq!(contains_as_word(text, "a.rs"), expected, "{text}");
    }
}

#[test]
fn lines_that_a_summary_holds_are_not_new() {
    let summary = "The parser in src/parser.rs was fixed; `make test` passes. Commit 1a2b3c4 was pushed.";
    for (line, expected) in [
        ("- commit 1a2b3c4, pushed", 0),
        ("- src/parser.rs was fixed", 0),
        ("- commit 5d6e7f8 is not pushed", 1),
        ("- the user said: never touch the lexer or its tables", 1),
    ] {
        let share = count_new_lines(&format!("Head\nDone:\n{line}"), summary);
        assert_eq!(share, FoundShare { found: expected, total: 1 }, "{line}");
    }
}
