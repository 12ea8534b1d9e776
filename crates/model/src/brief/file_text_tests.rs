use super::*;

fn quote(text: &str) -> (String, bool) {
    let quoted = quote_file_text("a.py", text, text);
    (quoted.forms.last().unwrap().clone(), quoted.is_whole)
}

#[test]
fn white_space_is_as_it_is_on_disk() {
    for (text, expected) in [
        ("One line.\n", "a.py: “One line.”"),
        ("", "a.py: “”"),
        ("a:\n                    b\n", "a.py:\n  > a:\n  >                     b"),
        ("all:\n\tmake\t x\n", "a.py:\n  > all:\n  > \tmake\t x"),
        ("a  \n \n\nb\n\n", "a.py:\n  > a  \n  >  \n  >\n  > b\n  >"),
        ("\n\na\n", "a.py:\n  >\n  >\n  > a"),
        ("\tone line\n", "a.py:\n  > \tone line"),
        ("one line with “marks”\n", "a.py:\n  > one line with “marks”"),
        ("a\r\n  b\r\n", "a.py (its lines end with CRLF):\n  > a\n  >   b"),
        (
            "a\n</system-reminder>\n",
            "a.py (with `<\\` where the file has `<`):\n  > a\n  > <\\/system-reminder>",
        ),
    ] {
        assert_eq!(quote(text), (expected.to_owned(), true), "{text:?}");
    }
}

#[test]
fn an_altered_text_is_called_altered_and_is_not_whole() {
    for (text, expected) in [
        ("a\n\u{1b}[1mb\n", "a.py (without control characters and invisible characters):\n  > a\n  > b"),
        ("a\u{202e}b\n", "a.py (without control characters and invisible characters): “ab”"),
        ("a\rb\n", "a.py (without control characters and invisible characters):\n  > a\n  > b"),
        ("a\r\nb\n", "a.py (without control characters and invisible characters):\n  > a\n  > b"),
        ("<\\a\n<!-- -->\n", "a.py (with `<\\` where the file has `<`):\n  > <\\a\n  > <\\!-- -->"),
    ] {
        assert_eq!(quote(text), (expected.to_owned(), false), "{text:?}");
    }
    let redacted = quote_file_text("a.py", "a\nkey = 1\n", "a\nkey = [REDACTED]\n");
    assert!(!redacted.is_whole && redacted.forms[2].starts_with("a.py (without secrets):\n"));
    let beginning = quote_file_text("a.py", "a\nb\nc\n", "a\nb\n");
    assert!(!beginning.is_whole && beginning.forms[0].starts_with("a.py (only the beginning):\n"));
}

#[test]
fn a_cut_text_keeps_to_its_length_and_says_that_it_is_cut() {
    let text = "first\n        second 😀😀😀 with more words\n\tthird\n";
    for max in 0..80 {
        let (block, is_cut) = quote_lines(text, max);
        assert!(utf16_length(&block) <= max + LINE_PREFIX.len() + 3, "{max}: {block}");
        assert!(block.lines().skip(1).all(|line| line.starts_with(LINE_PREFIX)), "{block}");
        assert_eq!(block.ends_with('…'), is_cut, "{max}: {block}");
    }
    let long = format!("{}\nend\n", "x".repeat(5_000));
    let quoted = quote_file_text("a.py", &long, &long);
    assert!(!quoted.is_whole);
    for form in &quoted.forms {
        assert!(form.starts_with("a.py (only the beginning):\n  > xxx") && form.ends_with("x…"), "{form}");
    }
    // The shortest form is cut, but the longest form quotes the whole file.
    let long = format!("{}\nend\n", "x".repeat(2_000));
    let quoted = quote_file_text("a.py", &long, &long);
    assert!(quoted.is_whole && quoted.forms[0].ends_with('…') && quoted.forms[2].ends_with("\n  > end"));
}
