//! Tests of documents: how they are read, which bytes an edit changes, and whether thru agrees with a markdown parser
//! and a YAML parser.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

#[path = "document/generate.rs"]
mod generate;
#[path = "document/oracle.rs"]
mod oracle;
#[path = "document/properties.rs"]
mod properties;

use generate::{A, B};
use model::document::{
    Document, DocumentFindingKind, EditError, HeadingHidingBlock, HeadingPattern, unwrap_verbatim,
    wrap_verbatim,
};
use oracle::{atx_headings, our_headings, parse_yaml};
use serde_json::{Value, json};

const PACKET: &str = include_str!("fixtures/document/packet.md");
const ROLE: &str = include_str!("fixtures/document/role.context.md");
const MANIFEST: &str = include_str!("fixtures/document/resume-context.md");
const LOOP: &str = include_str!("fixtures/document/loop.md");

/// Checks that `edit` turns `input` into `expected` and that applying `edit` again changes nothing.
#[track_caller]
fn check_edit(input: &str, edit: impl Fn(&mut Document) -> Result<(), EditError>, expected: &str) {
    let mut document = Document::parse(input);
    edit(&mut document).unwrap();
    assert_eq!(String::from_utf8_lossy(document.bytes()), expected);
    edit(&mut document).unwrap();
    assert_eq!(String::from_utf8_lossy(document.bytes()), expected, "the second time");
}

#[track_caller]
fn check_set(input: &str, key: &str, value: impl Into<Value>, expected: &str) {
    let value = value.into();
    check_edit(input, |document| document.set_frontmatter_entry(key, value.clone()), expected);
    assert_eq!(Document::parse(expected).frontmatter_value(key), Some(&value));
}

#[track_caller]
fn check_section(input: &str, path: &[HeadingPattern], text: &str, expected: &str) {
    check_edit(input, |document| document.set_section(path, text), expected);
}

#[track_caller]
fn check_refused(input: &str, path: &[HeadingPattern], text: &str, error: EditError) {
    let mut document = Document::parse(input);
    assert_eq!(document.set_section(path, text), Err(error));
    assert_eq!(document.bytes(), input.as_bytes());
}

fn document_findings(input: &str) -> Vec<(usize, DocumentFindingKind)> {
    Document::parse(input).findings().iter().map(|finding| (finding.line, finding.kind)).collect()
}

#[test]
fn reads_values() {
    let cases = [
        ("fix: the thing", json!("fix: the thing")),
        ("issue#12", json!("issue#12")),
        ("issue #12", json!("issue")),
        ("a  # b # c", json!("a")),
        ("# nothing", json!(null)),
        ("", json!(null)),
        ("null", json!(null)),
        ("~", json!(null)),
        ("True", json!(true)),
        ("yes", json!("yes")),
        ("-3", json!(-3)),
        ("1.5", json!(1.5)),
        ("007", json!("007")),
        ("+7", json!("+7")),
        ("1e999", json!("1e999")),
        ("'it''s # not'  # a comment", json!("it's # not")),
        ("'open", json!("'open")),
        ("'a' b", json!("'a' b")),
        (r#""a\tb\u00e9 # c" # d"#, json!("a\tbé # c")),
        (r#""a"b"#, json!(r#""a"b"#)),
        (r#"["a", "b # c"] # d"#, json!(["a", "b # c"])),
        (r#"{"a": [1, null]}"#, json!({"a": [1, null]})),
        ("[a, b] # c", json!("[a, b]")),
        ("\ttab", json!("tab")),
    ];
    for (source, value) in cases {
        let document = Document::parse(format!("---\nkey: {source}\n---\n"));
        assert_eq!(document.frontmatter_value("key"), Some(&value), "{source}");
    }
}

#[test]
fn reads_by_type() {
    let document = Document::parse("---\na: 1.0\nb: 24\nc: [\"x\", 2]\nd:\ne: \"5\"\n---\n");
    assert_eq!(document.frontmatter_text("a"), Some("1.0"));
    assert_eq!((document.frontmatter_text("b"), document.frontmatter_integer("b")), (Some("24"), Some(24)));
    assert_eq!(
        (document.frontmatter_text("c"), document.frontmatter_list("c")),
        (None, Some(vec!["x".to_owned(), "2".to_owned()]))
    );
    assert_eq!((document.frontmatter_text("d"), document.frontmatter_value("d")), (None, Some(&Value::Null)));
    assert_eq!((document.frontmatter_text("e"), document.frontmatter_integer("e")), (Some("5"), None));
    assert_eq!((document.frontmatter_text("f"), document.frontmatter_entry("f").is_none()), (None, true));
    assert_eq!(document.frontmatter_entry("e").map(|entry| entry.line), Some(6));
}

#[test]
fn finds_the_frontmatter() {
    let body = |input: &str| String::from_utf8_lossy(Document::parse(input).body()).into_owned();
    for (input, expected) in [
        ("---\na: 1\n---\nb\n---\n", "b\n---\n"),
        ("\u{feff}---\r\na: 1\r\n---\r\nb", "b"),
        ("--- \t\na: 1\n---\t\nb", "b"),
        ("---\n---", ""),
        ("---\ra: 1\r---\rb", "b"),
        ("\n---\na: 1\n---\n", "\n---\na: 1\n---\n"),
        ("----\na: 1\n---\n", "----\na: 1\n---\n"),
        ("---\na: 1\n --- \n", "---\na: 1\n --- \n"),
        ("\u{feff}# a", "# a"),
    ] {
        assert_eq!(body(input), expected, "{input:?}");
    }
}

#[test]
fn reports_findings_by_line() {
    assert_eq!(document_findings("---\na: 1\n"), [(1, DocumentFindingKind::UnclosedFrontmatter)]);
    assert_eq!(
        document_findings("---\na: 1\nstatus:done\nb: [1\n  deep: 1\na: 2\nc: 'x\nd: |\n- e\n---\n```\n"),
        [
            (2, DocumentFindingKind::DuplicateKey { effective_line: 6 }),
            (3, DocumentFindingKind::UnknownLine),
            (4, DocumentFindingKind::BrokenJson),
            (5, DocumentFindingKind::UnknownLine),
            (7, DocumentFindingKind::BrokenQuotes),
            (8, DocumentFindingKind::ForeignYaml),
            (9, DocumentFindingKind::UnknownLine),
            (11, DocumentFindingKind::Unclosed(HeadingHidingBlock::Fence)),
        ]
    );
    assert_eq!(
        document_findings("a\n\n<!-- b\n# c"),
        [(3, DocumentFindingKind::Unclosed(HeadingHidingBlock::Comment))]
    );
    let odd = Document::parse(b"a\r\nb\rc \xff\n".as_slice());
    assert_eq!(odd.findings().iter().map(|finding| finding.line).collect::<Vec<_>>(), [3]);
    for fixture in [PACKET, ROLE, MANIFEST, LOOP] {
        assert_eq!(document_findings(fixture), []);
    }
}

#[test]
fn sets_one_value() {
    check_set("---\na: 1\nb: x\n---\n", "a", 2, "---\na: 2\nb: x\n---\n");
    check_set("---\r\na:\t 'x' \t# why\r\n---\r\n", "a", "y z", "---\r\na:\t y z \t# why\r\n---\r\n");
    check_set("---\na:   # why\n---\n", "a", "x", "---\na: x   # why\n---\n");
    check_set("---\na:\n---\n", "a", "x", "---\na: x\n---\n");
    check_set("---\na: \"x\"\n---\n", "a", "y", "---\na: \"y\"\n---\n");
    check_set("---\na: \"x\"\n---\n", "a", 5, "---\na: 5\n---\n");
    check_set("---\na: [1\n---\n", "a", json!([1]), "---\na: [1]\n---\n");
    // Setting a key to the value that it already has keeps the quotes and the comment.
    check_set("---\na: 'it''s'  # c\n---\n", "a", "it's", "---\na: 'it''s'  # c\n---\n");
    check_set("---\na: [ \"x\" , 1 ]\n---\n", "a", json!(["x", 1]), "---\na: [ \"x\" , 1 ]\n---\n");
    check_set("---\na:\n---\n", "a", Value::Null, "---\na:\n---\n");
    check_set("---\na: True\n---\n", "a", true, "---\na: True\n---\n");
    // Only the last entry for a key is changed.
    check_set("---\na: 1\na: 2\n---\n", "a", 3, "---\na: 1\na: 3\n---\n");
    // Below `|`, `>` or an empty value, the following lines are part of the value, so setting the value replaces them
    // too. Below any other value, such lines are a mistake and are kept.
    check_set("---\na: |\n  x\n\n  y\nb: 1\n---\n", "a", "z", "---\na: z\n\nb: 1\n---\n");
    check_set("---\na: # why\n  x: 1\nb: 1\n---\n", "a", "z", "---\na: z # why\nb: 1\n---\n");
    check_set("---\na: x\n  b: 1\n---\n", "a", "z", "---\na: z\n  b: 1\n---\n");
    // Any existing key may be set.
    check_set("---\nMy key : 1\n---\n", "My key", 2, "---\nMy key : 2\n---\n");
}

#[test]
fn adds_a_key() {
    check_set("---\r\na: 1\r\n---\r\n\r\nbody", "b", "x", "---\r\na: 1\r\nb: x\r\n---\r\n\r\nbody");
    check_set("---\n---", "b", "x", "---\nb: x\n---");
    check_set("", "b", "x", "---\nb: x\n---\n");
    check_set("\u{feff}# T\r\n", "b", "x", "\u{feff}---\r\nb: x\r\n---\r\n# T\r\n");
    check_set("---\nunclosed: 1\n", "b", "x", "---\nb: x\n---\n---\nunclosed: 1\n");
    for key in ["", "a b", "a:", "-a", "#a", "null", "1", "é\n", "---"] {
        assert_eq!(Document::default().set_frontmatter_entry(key, 1), Err(EditError::BadKey(key.to_owned())));
    }
}

#[test]
fn quotes_what_needs_it() {
    for (value, written) in [
        ("plain text, with [marks] & (more)", "plain text, with [marks] & (more)"),
        ("", "\"\""),
        (" a", "\" a\""),
        ("a ", "\"a \""),
        ("a: b", "\"a: b\""),
        ("a:b", "a:b"),
        ("a:", "\"a:\""),
        ("a #b", "\"a #b\""),
        ("a#b", "a#b"),
        ("[x]", "\"[x]\""),
        ("- x", "\"- x\""),
        ("null", "\"null\""),
        ("True", "\"True\""),
        ("no", "\"no\""),
        ("Yes", "\"Yes\""),
        ("ON", "\"ON\""),
        ("off", "\"off\""),
        ("y", "\"y\""),
        ("N", "\"N\""),
        ("FALSE", "\"FALSE\""),
        ("nULL", "\"nULL\""),
        ("1_000", "\"1_000\""),
        ("0b1", "\"0b1\""),
        ("0X1F", "\"0X1F\""),
        ("007", "\"007\""),
        ("12:30", "\"12:30\""),
        ("12e4567", "\"12e4567\""),
        ("abc1234", "abc1234"),
        ("2026-11-15T19:22:00Z", "\"2026-11-15T19:22:00Z\""),
        ("a\nb\u{1}", "\"a\\nb\\u0001\""),
        ("a\u{85}\u{2028}\u{feff}", "\"a\\u0085\\u2028\\ufeff\""),
        ("it's \"so\"", "it's \"so\""),
        ("C:\\new", "C:\\new"),
    ] {
        check_set("---\n---\n", "k", value, &format!("---\nk: {written}\n---\n"));
    }
    check_set("---\n---\n", "k", json!(["a", "b: c"]), "---\nk: [\"a\",\"b: c\"]\n---\n");
}

#[test]
fn edits_block_lists_in_place() {
    let list = "---\nl: # why\n  - a # first\n\n  # second\n  - 'b'\n  - c\nz: 1\n---\n";
    let set = |items: Value, expected: &str| check_set(list, "l", items, expected);
    assert_eq!(
        Document::parse(list).frontmatter_list("l"),
        Some(vec!["a".to_owned(), "b".to_owned(), "c".to_owned()])
    );
    set(json!(["a", "b", "c"]), list);
    set(
        json!(["a", "b", "c", "5"]),
        "---\nl: # why\n  - a # first\n\n  # second\n  - 'b'\n  - c\n  - \"5\"\nz: 1\n---\n",
    );
    set(
        json!(["0x", "a", "b", "c"]),
        "---\nl: # why\n  - 0x\n  - a # first\n\n  # second\n  - 'b'\n  - c\nz: 1\n---\n"
            .replace("0x", "\"0x\"")
            .as_str(),
    );
    set(json!(["a", "x", "c"]), "---\nl: # why\n  - a # first\n\n  # second\n  - x\n  - c\nz: 1\n---\n");
    set(json!(["a", "c"]), "---\nl: # why\n  - a # first\n\n  # second\n  - c\nz: 1\n---\n");
    set(json!([]), "---\nl: [] # why\n\n  # second\nz: 1\n---\n");
    set(json!([1]), "---\nl: [1] # why\n\n  # second\nz: 1\n---\n");
    check_set(
        "---\nl:\n  - x: 1\n    y: 2\n  - z\n---\n",
        "l",
        json!(["a", "b"]),
        "---\nl:\n  - a\n  - b\n---\n",
    );
    check_set("---\nl:\n-\n- b\n---\n", "l", json!(["a", "b"]), "---\nl:\n- a\n- b\n---\n");
    // Items with a different indentation do not belong to this list.
    assert_eq!(
        Document::parse("---\nl:\n  - a\n - b\n---\n").frontmatter_list("l"),
        Some(vec!["a".to_owned()])
    );
}

#[test]
fn removes_a_key() {
    let remove = |input: &str, expected: &str| {
        let edit = |document: &mut Document| {
            document.remove_frontmatter_entry("a");
            Ok(())
        };
        check_edit(input, edit, expected);
    };
    remove("---\na: 1\nb: 2\n---\n", "---\nb: 2\n---\n");
    remove("---\nb: 2\n---\n", "---\nb: 2\n---\n");
    remove("a: 1\n", "a: 1\n");
    remove("---\na: 1\nb: 2\na: 3\n---\n", "---\nb: 2\n---\n");
    remove("---\na:\n  - x\n  # why\n  - y\nb: 2\n---\n", "---\n  # why\nb: 2\n---\n");
    // The lines below the entry are also removed, because they would become part of the previous entry.
    remove("---\nb:\na: 1\n  - x\n---\n", "---\nb:\n---\n");
    remove("---\na: |\n  text\n\nb: 2\n---\n", "---\n\nb: 2\n---\n");
}

#[test]
fn finds_headings() {
    let text = "# One\n ## Two ##  \n   ### Three#\n    # code\n#no\n####### no\n#\n## ##\n```\n# x\n````\n~~~ a`b\n```\n# x\n~~~\n\
        ``` a`b\n###### Six\n> # no\n- # no\n  # no\n\t# no\n<!-- a\n# x\n--> b\n<!-- # x -->\n- ```sh\n# After\n~~~\n# x";
    let found = |text: &str| -> Vec<(u8, String, usize)> {
        Document::parse(text)
            .headings()
            .iter()
            .map(|heading| (heading.level, heading.text.clone(), heading.line))
            .collect()
    };
    let expected = [
        (1, "One", 1),
        (2, "Two", 2),
        (3, "Three#", 3),
        (1, "", 7),
        (2, "", 8),
        (6, "Six", 17),
        (1, "After", 27),
    ];
    assert_eq!(found(text), expected.map(|(level, text, line)| (level, text.to_owned(), line)));
    assert_eq!(found("---\n# no\n---\r\n# Yes\r\n"), [(1, "Yes".to_owned(), 4)]);
    assert_eq!(found("## A\t#\r# B \\#"), [(2, "A".to_owned(), 1), (1, "B \\#".to_owned(), 2)]);
    // An unclosed fence ends with its list item, and headings in an item are not sections.
    assert_eq!(found("- a\n  ```\n  x\n  ``` y\n# B\n"), [(1, "B".to_owned(), 5)]);
    assert_eq!(found("1. a\n   - b\n     # c\n\n     ```\n  # d\n"), [(1, "d".to_owned(), 6)]);
    assert_eq!(found("---\n# Unclosed\n"), [(1, "Unclosed".to_owned(), 2)]);
}

#[test]
fn finds_sections() {
    let document = Document::parse("## A\n1\n### B\n2\n#### C\n3\n## Pending Tasks\n4\n### B\n5\n");
    let body = |path: &[HeadingPattern]| document.find_section(path).map(|section| section.body());
    assert_eq!(body(&[A]), Some(b"1\n### B\n2\n#### C\n3\n".as_slice()));
    assert_eq!(body(&[A, B]), Some(b"2\n#### C\n3\n".as_slice()));
    assert_eq!(body(&[HeadingPattern::prefix(2, "Pending"), B]), Some(b"5\n".as_slice()));
    assert_eq!(body(&[B]), Some(b"2\n#### C\n3\n".as_slice()));
    assert_eq!(body(&[HeadingPattern::exact(2, "Pending")]), None);
    assert_eq!(body(&[HeadingPattern::exact(3, "A")]), None);
    assert_eq!(body(&[]), None);
    let prompt = Document::parse(LOOP);
    let prompt = prompt
        .find_section_to_last(HeadingPattern::exact(2, "Loop Prompt"), HeadingPattern::exact(2, "Notes"))
        .unwrap();
    assert_eq!(prompt.text(), "Make the tests green.\n\n## Notes\n\nThis heading belongs to the prompt.");
}

#[test]
fn sets_a_section() {
    check_section("## A\n\nold\n\n\n## C\n", &[A], "new\n", "## A\n\nnew\n\n\n## C\n");
    check_section("## A\nold\n## C\n", &[A], "\n\nnew\nmore", "## A\nnew\nmore\n## C\n");
    check_section("## A\r\n\r\nold", &[A], "new\n", "## A\r\n\r\nnew");
    check_section("## A\n## C\n", &[A], "new", "## A\n\nnew\n\n## C\n");
    check_section("## A\n\n## C\n", &[A], "new", "## A\n\nnew\n\n## C\n");
    check_section("## A\n\n\n\n## C\n", &[A], "new", "## A\n\nnew\n\n\n## C\n");
    check_section("## A", &[A], "new", "## A\n\nnew\n");
    check_section("## A\r\n  ", &[A], "new", "## A\r\n  \r\nnew\r\n");
    check_section("## A\n\nold\n\n## C\n", &[A], " \n", "## A\n\n\n## C\n");
    check_section("## A\n\n\n## C\n", &[A], "old", "## A\n\nold\n\n## C\n");
    check_section("## A\n\n    code\n\n## C\n", &[A], "\n\n    new\n", "## A\n\n    new\n\n## C\n");
    check_section(
        "## A\n\n### B\n\nold\n\n## C\n### B\nx",
        &[A, B],
        "new",
        "## A\n\n### B\n\nnew\n\n## C\n### B\nx",
    );
    check_section("## A\nold\n", &[A], "### B\n```\n# x\n```", "## A\n### B\n```\n# x\n```\n");
}

#[test]
fn appends_a_section() {
    check_section("", &[A], "new", "## A\n\nnew\n");
    check_section("\u{feff}", &[A], "new", "\u{feff}## A\n\nnew\n");
    check_section("---\r\na: 1\r\n---\r\n", &[A], "new", "---\r\na: 1\r\n---\r\n\r\n## A\r\n\r\nnew\r\n");
    check_section(" \t", &[A], "new", "## A\n\nnew\n \t");
    check_section("text", &[A], "new", "text\n\n## A\n\nnew\n");
    check_section("text\n\n", &[A], "", "text\n\n## A\n\n");
    check_section("", &[A, B], "new", "## A\n\n### B\n\nnew\n");
    check_section("## A\n\ntext\n\n## C\n", &[A, B], "new", "## A\n\ntext\n\n### B\n\nnew\n\n## C\n");
    check_section("## A\n## C\n", &[A, B], "new", "## A\n\n### B\n\nnew\n\n## C\n");
    check_section("## A", &[A, B], "", "## A\n\n### B\n");
}

#[test]
fn refuses_a_text_that_breaks_out() {
    let refused = |text: &str, error| check_refused("## A\nold\n## C\n", &[A], text, error);
    refused("x\n## y", EditError::HeadingInText { line: 2, level: 2 });
    refused("\n\n# y", EditError::HeadingInText { line: 3, level: 1 });
    refused("x\n```\ny\n~~~", EditError::UnclosedInText { line: 2, block: HeadingHidingBlock::Fence });
    refused("- ```\n  y", EditError::UnclosedInText { line: 1, block: HeadingHidingBlock::Fence });
    refused("<!--", EditError::UnclosedInText { line: 1, block: HeadingHidingBlock::Comment });
    check_refused(
        "## A\n  ## C\n",
        &[A],
        "- x",
        EditError::UnclosedInText { line: 1, block: HeadingHidingBlock::List },
    );
    check_refused("---\n## A\n", &[A], "x\n---\ny", EditError::ClosesFrontmatter { line: 2 });
    check_refused(
        "x\n```\n",
        &[A],
        "x",
        EditError::UnclosedInDocument { line: 2, block: HeadingHidingBlock::Fence },
    );
    for (path, bad) in [
        (&[][..], ""),
        (&[A, HeadingPattern::exact(2, "C")], "C"),
        (&[HeadingPattern::exact(7, "C")], "C"),
        (&[HeadingPattern::exact(0, "C")], "C"),
        (&[HeadingPattern::exact(2, "C #")], "C #"),
        (&[HeadingPattern::exact(2, "C\nD")], "C\nD"),
        (&[HeadingPattern::exact(2, " C")], " C"),
    ] {
        check_refused("## A\n", path, "x", EditError::BadHeading(bad.to_owned()));
    }
}

#[test]
fn lists_and_ticks_items() {
    let text = "- [ ] a\n  - [x] b\n3) c\n```\n- [ ] no\n```\n* * *\n-no\n1. [X] d\n   ```\n   - [ ] no\n   ```\n    + [ ] e\n- [y] f\n-\n\nx\n\n    - [ ] code\n";
    let items: Vec<_> = Document::parse(text)
        .list_items()
        .into_iter()
        .map(|item| (item.line, item.number, item.checked, item.text))
        .collect();
    let expected = [
        (1, None, Some(false), "a"),
        (2, None, Some(true), "b"),
        (3, Some(3), None, "c"),
        (9, Some(1), Some(true), "d"),
        (13, None, Some(false), "e"),
        (14, None, None, "[y] f"),
        (15, None, None, ""),
    ];
    assert_eq!(items, expected.map(|(line, number, checked, text)| (line, number, checked, text.to_owned())));
    let fenced = Document::parse("- a\n  - b\n    ```\n    - [ ] no\n    ```\n    - [ ] yes\n");
    assert_eq!(fenced.list_items().iter().map(|item| item.line).collect::<Vec<_>>(), [1, 2, 6]);
    let mut document = Document::parse(text);
    document.tick_checkbox(13).unwrap();
    assert_eq!(document.bytes(), text.replace("+ [ ] e", "+ [x] e").as_bytes());
    for line in [0, 2, 3, 5, 13, 99] {
        assert_eq!(document.tick_checkbox(line), Err(EditError::NoOpenBox { line }));
    }
}

#[test]
fn wraps_any_text() {
    for (text, wrapped) in [
        ("a", "```verbatim\na\n```\n"),
        ("", "```verbatim\n\n```\n"),
        ("# a\n---\n", "```verbatim\n# a\n---\n\n```\n"),
        ("```\na\n````x", "`````verbatim\n```\na\n````x\n`````\n"),
    ] {
        assert_eq!(wrap_verbatim(text, "\n"), wrapped.as_bytes());
        assert_eq!(unwrap_verbatim(format!("\n{wrapped}\n\n").as_bytes()), Some(text.as_bytes()));
    }
    assert_eq!(wrap_verbatim("a\n", "\r\n"), b"```verbatim\r\na\n\r\n```\r\n");
    assert_eq!(unwrap_verbatim(b"```verbatim\n```"), Some(b"".as_slice()));
    for plain in [
        "",
        "a",
        "```\na\n```",
        "```verbatim\na",
        "```verbatim\na\n```\nb\n",
        "```verbatim\na\n```\nb\n```",
        "~~~verbatim\na\n~~~",
        "```verbatim",
    ] {
        assert_eq!(unwrap_verbatim(plain.as_bytes()), None, "{plain}");
    }
}

#[test]
fn every_kind_of_record_is_read_and_edited() {
    let mut packet = Document::parse(PACKET);
    assert_eq!(packet.frontmatter_text("purpose"), Some("fix: the login, see issue#12"));
    assert_eq!(packet.frontmatter_list("validators").unwrap().last().unwrap(), "grep -q '# done' notes.md");
    assert_eq!(packet.headings().len(), 12);
    let confirmed = [HeadingPattern::exact(2, "Relevant Files"), HeadingPattern::exact(3, "Confirmed")];
    assert_eq!(packet.find_section(&confirmed).unwrap().items().len(), 2);
    packet.set_frontmatter_entry("status", "active").unwrap();
    let expected = PACKET.replace("status: draft", "status: active");
    assert_eq!(String::from_utf8_lossy(packet.bytes()), expected);
    packet.set_section(&[HeadingPattern::exact(2, "Next Prompt (Draft)")], "Go on.").unwrap();
    let expected = expected.replace("Continue with the login.\n\n---\n\n(That line is body.)", "Go on.");
    assert_eq!(String::from_utf8_lossy(packet.bytes()), expected);

    let role = Document::parse(ROLE);
    let steps = role.find_section(&[HeadingPattern::exact(2, "Recovery Steps")]).unwrap().items();
    assert_eq!(
        steps.iter().map(|step| (step.line, step.number)).collect::<Vec<_>>(),
        [(8, Some(1)), (9, Some(2)), (14, Some(3))]
    );
    assert_eq!(role.find_section(&[HeadingPattern::prefix(2, "Completed Work")]).unwrap().heading.line, 16);

    let mut manifest = Document::parse(MANIFEST);
    assert_eq!(manifest.frontmatter_list("files_to_load").unwrap().len(), 3);
    assert_eq!(manifest.frontmatter_text("current_phase"), Some("execution"));
    manifest.set_frontmatter_entry("current_task", 16).unwrap();
    manifest.set_frontmatter_entry("last_updated", "2026-01-04T09:00:00").unwrap();
    let expected = MANIFEST
        .replace("current_task: 15", "current_task: 16")
        .replace("2026-01-03T15:30:00", "2026-01-04T09:00:00");
    assert_eq!(String::from_utf8_lossy(manifest.bytes()), expected);
}

#[test]
fn fixtures_read_alike_in_real_parsers() {
    for fixture in [PACKET, ROLE, MANIFEST, LOOP]
        .map(str::to_owned)
        .into_iter()
        .flat_map(|text| [text.replace('\n', "\r\n"), text])
    {
        let document = Document::parse(fixture.as_str());
        assert_eq!(document.bytes(), fixture.as_bytes());
        assert_eq!(our_headings(&document), atx_headings(&String::from_utf8_lossy(document.body())));
    }
    let manifest = Document::parse(MANIFEST);
    for entry in manifest.frontmatter_entries() {
        assert_eq!(parse_yaml(&manifest)[&entry.key], entry.value);
    }
}
