//! Properties that hold for every document.

use std::ops::Range;

use model::document::{Document, EditError, HeadingPattern, unwrap_verbatim, wrap_verbatim};
use proptest::prelude::*;
use serde_json::Value;

use crate::generate::{
    A, B, YAML_LINES, random_body, random_document, random_line_end, random_path, random_value,
};
use crate::oracle::{atx_headings, our_headings, parse_yaml};

/// Returns the range of `before` that differs from `after`, which is the part between their common prefix and their
/// common suffix.
fn changed_range(before: &[u8], after: &[u8]) -> Range<usize> {
    let start = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let most = before.len().min(after.len()) - start;
    let end = before.iter().rev().zip(after.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    start..before.len() - end
}

/// Returns the keys and values of all entries except those with the given key.
fn other_entries<'d>(document: &'d Document, key: &str) -> Vec<(&'d str, &'d Value)> {
    document
        .frontmatter_entries()
        .iter()
        .filter(|entry| entry.key != key)
        .map(|entry| (entry.key.as_str(), &entry.value))
        .collect()
}

/// Returns the level, the heading and the content of all sections except those in `skip`, a range of heading indexes.
/// For a section that contains a skipped one, the content is `None`.
fn other_sections(document: &Document, skip: Range<usize>) -> Vec<(u8, &str, Option<Vec<u8>>)> {
    let headings = document.headings();
    let hole = headings.get(skip.start).filter(|_| !skip.is_empty()).map(|heading| heading.span.start);
    let section = |at: usize| {
        let heading = &headings[at];
        let next = headings[at + 1..].iter().find(|next| next.level <= heading.level);
        let body = heading.span.end..next.map_or(document.bytes().len(), |next| next.span.start);
        let around = hole.is_some_and(|hole| body.contains(&hole));
        let content = (!around).then(|| without_blank_lines(&document.bytes()[body]));
        (heading.level, heading.text.as_str(), content)
    };
    (0..headings.len()).filter(|at| !skip.contains(at)).map(section).collect()
}

/// Returns the indexes of the headings of the section at `path` and of its subsections.
fn headings_of_section(document: &Document, path: &[HeadingPattern]) -> Range<usize> {
    let Some(section) = document.find_section(path) else { return 0..0 };
    let before =
        document.headings().iter().filter(|heading| heading.span.start < section.heading.span.start).count();
    let within =
        document.headings().iter().filter(|heading| section.span.contains(&heading.span.start)).count();
    before..before + 1 + within
}

/// Strips surrounding blank lines with a simple but slow algorithm.
fn without_blank_lines(text: &[u8]) -> Vec<u8> {
    let document = Document::parse([b"## A\n", text].concat());
    let lines: Vec<_> = document.lines().skip(1).map(|line| (line, line.text(document.bytes()))).collect();
    let full = |(_, text): &(_, &[u8])| text.iter().any(|byte| !matches!(byte, b' ' | b'\t'));
    match (lines.iter().position(full), lines.iter().rposition(full)) {
        (Some(first), Some(last)) => document.bytes()[lines[first].0.start..lines[last].0.text_end].to_vec(),
        _ => Vec::new(),
    }
}

/// Adds blank lines before each line that would continue a paragraph, because the two parsers treat such lines in list
/// items differently.
fn without_lazy_lines(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let starts = ["#", "`", "~", "<!--", "- ", "*", "1"];
    let lazy = |line: &str| {
        line.starts_with("#no")
            || line.starts_with("``` a`")
            || !starts.iter().any(|start| line.starts_with(start))
    };
    let lines =
        Document::parse(text.as_bytes()).lines().map(|line| &text[line.range_with_end()]).collect::<Vec<_>>();
    // Two line endings are needed, because the first one may turn a lone CR into CR LF.
    lines
        .into_iter()
        .map(|line| if lazy(line.trim_start()) { format!("\n\n{line}") } else { line.to_owned() })
        .collect()
}

/// Calls every function that reads a document. None of them may panic.
fn call_every_reader(bytes: &[u8]) {
    let mut document = Document::parse(bytes);
    for head in [A, B] {
        let items = document
            .find_section(&[head])
            .map(|section| (section.items(), section.text(), section.content().len()));
        let _ = (
            items,
            document.find_section_to_last(head, head),
            document.frontmatter_text("a"),
            document.frontmatter_integer("a"),
            document.frontmatter_list("a"),
        );
    }
    for item in document.list_items().into_iter().filter(|item| item.checked == Some(false)) {
        let before = document.bytes().to_vec();
        document.tick_checkbox(item.line).unwrap();
        assert_eq!(changed_range(&before, document.bytes()).len(), 1);
    }
    let _ = (
        document.set_frontmatter_entry("a", "x"),
        document.set_section(&[A, B], "x"),
        unwrap_verbatim(bytes),
    );
    document.remove_frontmatter_entry("a");
    assert!(document.frontmatter_value("a").is_none());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(5_000) })]

    #[test]
    fn any_bytes_survive(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Document::parse(bytes.as_slice()).into_bytes() == bytes);
        call_every_reader(&bytes);
    }

    #[test]
    fn any_document_survives(bytes in random_document()) {
        prop_assert!(Document::parse(bytes.as_slice()).into_bytes() == bytes);
        call_every_reader(&bytes);
    }

    #[test]
    fn set_changes_one_value(bytes in random_document(), key in prop::sample::select(&["a", "b", "c", "new", "My key"][..]), value in random_value()) {
        let before = Document::parse(bytes.as_slice());
        let mut after = before.clone();
        if after.set_frontmatter_entry(key, value.clone()).is_err() {
            prop_assert!(key == "My key" && before.frontmatter_value(key).is_none());
            return Ok(());
        }
        prop_assert_eq!(after.frontmatter_value(key), Some(&value));
        prop_assert_eq!(after.body(), before.body());
        prop_assert_eq!(other_entries(&after, key), other_entries(&before, key));
        let hole = changed_range(&bytes, after.bytes());
        match before.frontmatter_entry(key) {
            Some(entry) if !entry.value.is_null() && !entry.value.is_array() && before.frontmatter_text(key) != Some("|") => {
                let line = before.lines().find(|line| line.number == entry.line).unwrap();
                let colon = line.start + line.text(&bytes).iter().position(|byte| *byte == b':').unwrap();
                prop_assert!(hole.is_empty() || colon < hole.start && hole.end <= line.text_end);
            }
            Some(_) => {}
            None => prop_assert!(hole.is_empty() && after.frontmatter_entries().len() == before.frontmatter_entries().len() + 1),
        }
        // Comments and blank lines in a list are kept.
        let notes = |document: &Document| -> Vec<Vec<u8>> {
            let lines = document.lines().map(|line| line.text(document.bytes()).trim_ascii().to_vec());
            lines.filter(|line| line.is_empty() || line.starts_with(b"#")).collect()
        };
        prop_assert_eq!(notes(&after), notes(&before));
        let once = after.bytes().to_vec();
        after.set_frontmatter_entry(key, value).unwrap();
        prop_assert_eq!(after.bytes(), once);
    }

    #[test]
    fn set_keeps_what_is_around_the_value(
        start in prop::sample::select(&["k: ", "k:\t", "k:   ", "k : "][..]),
        old in prop::sample::select(&["x", "1", "'it''s # x'", "\"a # b\"", "[\"# a\"]", "{}", "[a", "fix: it", "issue#12"][..]),
        rest in prop::sample::select(&["", "  ", " # why", "\t# 'why' # \"", "  #"][..]),
        end in random_line_end(),
        value in random_value(),
    ) {
        let lines = |middle: &str| format!("---{end}a: 1{end}{start}{middle}{rest}{end}z: \"x\"{end}---{end}");
        let mut document = Document::parse(lines(old));
        document.set_frontmatter_entry("k", value).unwrap();
        let after = String::from_utf8(document.into_bytes()).unwrap();
        let (head, tail) = lines("\0").split_once('\0').map(|(head, tail)| (head.to_owned(), tail.to_owned())).unwrap();
        prop_assert!(after.starts_with(&head) && after.ends_with(&tail) && after.len() > head.len() + tail.len(), "{}", after);
    }

    #[test]
    fn remove_takes_one_key(bytes in random_document(), key in prop::sample::select(&["a", "b", "c"][..])) {
        let before = Document::parse(bytes.as_slice());
        let mut after = before.clone();
        after.remove_frontmatter_entry(key);
        prop_assert!(after.frontmatter_value(key).is_none());
        prop_assert_eq!(after.body(), before.body());
        prop_assert_eq!(other_entries(&after, key), other_entries(&before, key));
    }

    #[test]
    fn set_section_changes_one_section(bytes in random_document(), path in random_path(), text in random_body()) {
        let before = Document::parse(bytes.as_slice());
        let mut after = before.clone();
        if let Err(error) = after.set_section(&path, &text) {
            prop_assert_eq!(after.bytes(), before.bytes());
            let harmless = !text.iter().any(|byte| b"#`~<-*1=".contains(byte));
            prop_assert!(!harmless || matches!(error, EditError::UnclosedInDocument { .. } | EditError::BadHeading(_)), "{:?}", error);
            return Ok(());
        }
        match before.find_section(&path) {
            Some(section) => {
                let tail = &bytes[section.span.end..];
                prop_assert!(after.bytes().starts_with(&bytes[..section.span.start]) && after.bytes().ends_with(tail));
                prop_assert!(after.bytes().len() >= section.span.start + tail.len());
            }
            None => prop_assert!(changed_range(&bytes, after.bytes()).is_empty()),
        }
        let there = (0..=path.len()).rev().find(|length| *length == 0 || before.find_section(&path[..*length]).is_some()).unwrap();
        let new = headings_of_section(&after, &path[..(there + 1).min(path.len())]);
        let (was, is) = (other_sections(&before, headings_of_section(&before, &path)), other_sections(&after, new));
        prop_assert_eq!(was.len(), is.len());
        for (was, is) in was.iter().zip(&is) {
            prop_assert_eq!((was.0, was.1), (is.0, is.1));
            prop_assert!(is.2.is_none() || was.2 == is.2);
        }
        let section = after.find_section(&path).unwrap();
        prop_assert_eq!(section.content(), without_blank_lines(&text));
        prop_assert_eq!(other_entries(&after, ""), other_entries(&before, ""));
        let once = after.bytes().to_vec();
        after.set_section(&path, &text).unwrap();
        prop_assert_eq!(after.bytes(), once);
    }

    #[test]
    fn what_is_written_is_yaml(pairs in prop::collection::vec(("[a-z][a-z_.-]{0,6}", random_value()), 1..5)) {
        let mut document = Document::default();
        for (key, value) in pairs {
            if document.set_frontmatter_entry(&key, value.clone()).is_ok() {
                prop_assert_eq!(&parse_yaml(&document)[&key], &value);
            }
        }
    }

    #[test]
    fn what_is_edited_is_yaml(
        lines in prop::sample::subsequence(YAML_LINES, 0..=YAML_LINES.len()),
        end in random_line_end(),
        edits in prop::collection::vec((prop::sample::select(&["a", "b", "c", "d", "e", "l", "m", "q", "o", "p", "new"][..]), random_value()), 1..4),
    ) {
        let text = format!("---\n{}\n---\n", lines.join("\n")).replace('\n', end);
        let before = Document::parse(text);
        let mut document = before.clone();
        for (key, value) in edits {
            document.set_frontmatter_entry(key, value).unwrap();
        }
        let read = parse_yaml(&document);
        // thru cannot read the original YAML values of `q`, `o` and `p`. These keys are compared only if an
        // edit has changed their values.
        let known = |key: &str| !["q", "o", "p"].contains(&key) || document.frontmatter_value(key) != before.frontmatter_value(key);
        for entry in document.frontmatter_entries().iter().filter(|entry| known(&entry.key)) {
            prop_assert_eq!(&read[&entry.key], &entry.value);
        }
    }

    #[test]
    fn headings_are_those_of_a_markdown_parser(body in random_body()) {
        let document = Document::parse(without_lazy_lines(&body));
        prop_assume!(!document.has_frontmatter());
        prop_assert_eq!(our_headings(&document), atx_headings(&String::from_utf8_lossy(document.body())));
    }

    #[test]
    fn verbatim_is_exact(text in prop_oneof![random_body(), prop::collection::vec(any::<u8>(), 0..60)], bytes in random_document(), path in random_path()) {
        let mut document = Document::parse(bytes);
        let wrapped = wrap_verbatim(&text, document.line_ending());
        prop_assert_eq!(unwrap_verbatim(&wrapped), Some(text.as_slice()));
        match document.set_section(&path, &wrapped) {
            Ok(()) => prop_assert_eq!(document.find_section(&path).and_then(|section| unwrap_verbatim(section.body())), Some(text.as_slice())),
            // The edit may fail only if the document was already broken.
            Err(EditError::UnclosedInDocument { .. } | EditError::ClosesFrontmatter { .. } | EditError::BadHeading(_)) => {}
            Err(error) => prop_assert!(false, "{}", error),
        }
    }
}
