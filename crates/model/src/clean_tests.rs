use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};
use regex_syntax::hir::{Class, HirKind};

use super::*;

#[test]
fn escape_sequences_are_removed_completely() {
    let cases = [
        ("plain text\n\twith lines", "plain text\n\twith lines"),
        ("\u{1b}[31mred\u{1b}[0m", "red"),
        ("\u{1b}[38;2;1;2;3mred\u{1b}[m\u{1b}[?25l", "red"),
        ("bold\u{1b}(B\u{1b}[m off", "bold off"),
        ("\u{1b}]0;title\u{7}x", "x"),
        ("\u{1b}]52;c;cm0gLXJmIC8=\u{1b}\\x", "x"),
        ("\u{1b}]8;;https://example.com\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
        ("\u{1b}Pq#0;2;0;0;0~~@@\u{1b}\\x", "x"),
        ("\u{1b}_apc\u{1b}\\\u{1b}^pm\u{1b}\\\u{1b}Xsos\u{1b}\\x", "x"),
        ("\u{1b}]0;cut off by the next\u{1b}[31mx", "x"),
        ("\u{1b}]52;c;no end", "52;c;no end"),
        ("\u{1b}]0;no end\nnext line\u{7}", "0;no end\nnext line"),
        ("\u{1b}cx\u{1b}7y\u{1b}=z", "xyz"),
        ("\u{9b}31mred\u{9b}0m", "red"),
        ("\u{9d}52;c;eA==\u{9c}x\u{90}q\u{9c}y", "xy"),
        ("\u{84}\u{85}\u{8d}x", "x"),
        ("\u{1b}", ""),
        ("\u{1b}[", ""),
        ("\u{1b}[31", ""),
        ("\u{1b}\u{1b}[31mx", "x"),
        ("\u{1b}é", "é"),
        ("\u{1b}[31é", "é"),
        ("\u{1b}\nx", "\nx"),
        ("gh\u{1b}[1mp_\u{200b}ab", "ghp_ab"),
    ];
    for (text, expected) in cases {
        assert_eq!(clean_text(text), expected, "{text:?}");
    }
}

#[test]
fn control_and_invisible_characters_are_removed() {
    let cases = [
        ("a\r\nb\rc", "a\nb\nc"),
        ("bell\u{7}back\u{8}nul\0del\u{7f}", "bellbacknuldel"),
        ("a\u{200b}b\u{202e}c\u{feff}\u{e0041}\u{2066}d", "abcd"),
        ("\u{34f}\u{115f}\u{1160}\u{17b4}\u{180b}\u{2800}\u{3164}\u{ffa0}\u{fff0}\u{fff9}\u{1d173}x", "x"),
        ("👩\u{200d}💻 ❤\u{fe0f}", "👩💻 ❤"),
        ("a\u{2028}b\u{2029}c", "a\nb\nc"),
        ("Größe 数据 ─│ é\u{a0}", "Größe 数据 ─│ é\u{a0}"),
    ];
    for (text, expected) in cases {
        assert_eq!(clean_text(text), expected, "{text:?}");
    }
    assert_eq!(clean_line("a\r\nb\tc\u{1b}[1m"), "a b c");
}

#[test]
fn nothing_to_do_allocates_nothing() {
    for text in ["", "plain\n", "Größe, 数据, 👩", &"x".repeat(100)] {
        assert!(matches!(clean_text(text), Cow::Borrowed(_)), "{text}");
    }
}

/// If a new version of Unicode changes the property, this test prints the new table.
#[test]
fn the_table_is_the_unicode_property() {
    let property = regex_syntax::parse(r"\p{Default_Ignorable_Code_Point}").unwrap();
    let HirKind::Class(Class::Unicode(class)) = property.kind() else { panic!("{property:?}") };
    let expected: Vec<_> = class.ranges().iter().map(|range| (range.start(), range.end())).collect();
    assert_eq!(DEFAULT_IGNORABLE.as_slice(), expected);

    for set in [
        r"\p{Default_Ignorable_Code_Point}",
        r"\p{Bidi_Control}",
        r"[\p{Cc}--\n\t]",
        r"[\p{Zl}\p{Zp}]",
        r"\p{Noncharacter_Code_Point}",
    ] {
        let parsed = regex_syntax::parse(set).unwrap();
        let HirKind::Class(Class::Unicode(class)) = parsed.kind() else { panic!("{set}") };
        let mut each = class.ranges().iter().flat_map(|range| range.start()..=range.end());
        assert!(each.all(is_hidden_char), "{set}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_clean_stays_so(text in r"([\x00-\x7f]|[\x{80}-\x{9f}]|\x1b[\[\]P(]|\p{Cf}|é|数|😀){0,40}") {
        let cleaned = clean_text(&text).into_owned();
        prop_assert!(!cleaned.chars().any(is_hidden_char), "{cleaned:?}");
        prop_assert_eq!(clean_text(&cleaned), cleaned.as_str());
    }

    #[test]
    fn spans_lie_in_the_text_in_order(text in any::<String>()) {
        let mut from = 0;
        for (span, _) in hidden_spans(&text) {
            prop_assert!(from <= span.start && span.start < span.end && text.get(span.clone()).is_some());
            from = span.end;
        }
    }
}
