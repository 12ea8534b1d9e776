//! The lines between `---` and `---`. This module parses them into entries and creates the edits that change an entry.
//!
//! Both fences may have trailing blanks. If two entries have the same key, **the last one wins**, as in JSON and
//! in YAML readers that allow duplicates. Entries, list items, comments and blank lines are recognized. Any other
//! line is kept and reported as a finding.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::Value;

use super::line::{
    LineBounds, count_leading_bytes, is_all_blank, is_space_or_tab, lines_from_offset, slice_or_empty,
    trimmed_range,
};
use super::{ByteEdit, DocumentFinding, DocumentFindingKind, scalar};

#[derive(Debug, Clone)]
pub(super) struct Frontmatter {
    pub entries: Vec<FrontmatterEntry>,
    /// The start of the closing line. New entries are inserted here.
    pub closing_line_start: usize,
    /// The start of the body and the number of its first line.
    pub body_start: (usize, usize),
    /// The line ending for new entries.
    pub line_end: &'static str,
}

/// One `key: value` line. If the value is a block list, its items are included.
#[derive(Debug, Clone)]
pub struct FrontmatterEntry {
    pub key: String,
    /// The line of the key, counted from 1.
    pub line: usize,
    pub value: Value,
    span: Range<usize>,
    /// The position after the colon. If the entry has no value, a new one is inserted here.
    value_position: usize,
    value_span: Range<usize>,
    items: Vec<FrontmatterItem>,
    /// The lines below the entry that belong to its value in YAML but are not parsed here, such as a nested map or a
    /// block scalar.
    unparsed_lines: Vec<Range<usize>>,
}

#[derive(Debug, Clone)]
struct FrontmatterItem {
    text: String,
    span: Range<usize>,
    indent: usize,
    value_position: usize,
    value_span: Range<usize>,
}

impl FrontmatterEntry {
    /// Returns the value's bytes on the key's line as they were written.
    pub(super) fn source_bytes<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        slice_or_empty(bytes, self.value_span.clone())
    }
}

impl Frontmatter {
    /// Parses the frontmatter at `start`. Returns `None` if it is missing or not closed.
    pub fn parse_at(bytes: &[u8], start: usize, findings: &mut Vec<DocumentFinding>) -> Option<Frontmatter> {
        let mut source = lines_from_offset(bytes, start, 1);
        let open = source.next().filter(|line| is_frontmatter_fence(line.text(bytes)))?;
        let mut inside: Vec<LineBounds> = Vec::new();
        let close = source.find(|line| {
            let closes = is_frontmatter_fence(line.text(bytes));
            if !closes {
                inside.push(*line);
            }
            closes
        });
        let Some(close) = close else {
            findings
                .push(DocumentFinding { line: open.number, kind: DocumentFindingKind::UnclosedFrontmatter });
            return None;
        };
        Some(Frontmatter {
            entries: parse_entries(bytes, &inside, findings),
            closing_line_start: close.start,
            body_start: (close.end, close.number + 1),
            line_end: inside.last().unwrap_or(&open).ending(bytes).unwrap_or("\n"),
        })
    }

    /// Returns the entry for a key. If several entries have the key, the last one is used.
    pub fn effective_entry(&self, key: &str) -> Option<&FrontmatterEntry> {
        self.entries.iter().rev().find(|entry| entry.key == key)
    }

    /// Returns the edits that set a key. There are none if the key already has this value.
    pub fn edits_to_set_key(&self, bytes: &[u8], key: &str, value: &Value) -> Vec<ByteEdit> {
        let Some(entry) = self.effective_entry(key) else {
            let line = format!("{key}: {}{}", scalar::write_scalar(value, false), self.line_end);
            return vec![ByteEdit::new(self.closing_line_start..self.closing_line_start, line)];
        };
        if entry.value == *value {
            return Vec::new();
        }
        let mut edits = match block_list_texts(value).filter(|_| !entry.items.is_empty()) {
            Some(texts) => edits_to_set_list_items(bytes, &entry.items, &texts, self.line_end),
            None => {
                let quoted = entry.source_bytes(bytes).starts_with(b"\"") && entry.value.is_string();
                let gone = entry.items.iter().map(|item| ByteEdit::new(item.span.clone(), ""));
                std::iter::once(edit_replacing_value(
                    entry.value_position,
                    &entry.value_span,
                    scalar::write_scalar(value, quoted),
                ))
                .chain(gone)
                .collect()
            }
        };
        // The unparsed lines below an empty value, or below `|` or `>`, are the old value and are removed. Below any
        // other value they are a mistake and are kept.
        if matches!(entry.source_bytes(bytes).first(), None | Some(b'|' | b'>')) {
            edits.extend(entry.unparsed_lines.iter().map(|span| ByteEdit::new(span.clone(), "")));
        }
        edits
    }

    /// Returns the edits that remove a key. Every entry for the key is removed, because otherwise an earlier one would
    /// take effect. The lines below an entry are also removed, because they would become part of the previous entry.
    pub fn edits_to_remove_key(&self, key: &str) -> Vec<ByteEdit> {
        let gone = self.entries.iter().filter(|entry| entry.key == key);
        let mut spans: Vec<Range<usize>> = Vec::new();
        for entry in gone {
            spans.push(entry.span.clone());
            spans.extend(entry.items.iter().map(|item| item.span.clone()));
            spans.extend(entry.unparsed_lines.iter().cloned());
        }
        spans.into_iter().map(|span| ByteEdit::new(span, "")).collect()
    }
}

/// Returns whether every YAML reader would parse `key` as this key.
pub(super) fn is_valid_key(key: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    scalar::needs_no_quotes(key) && key.bytes().all(word)
}

pub(super) fn is_frontmatter_fence(text: &[u8]) -> bool {
    text.strip_prefix(b"---").is_some_and(is_all_blank)
}

fn parse_entries(
    bytes: &[u8],
    inside: &[LineBounds],
    findings: &mut Vec<DocumentFinding>,
) -> Vec<FrontmatterEntry> {
    let mut entries: Vec<FrontmatterEntry> = Vec::new();
    // True if the last entry has no value on its own line, so that list items may follow.
    let mut listing = false;
    // True if an indented line would belong to the last entry.
    let mut below = false;
    for line in inside {
        let text = line.text(bytes);
        let mut report = |kind| findings.push(DocumentFinding { line: line.number, kind });
        if is_all_blank(text) || slice_or_empty(text, trimmed_range(text)).starts_with(b"#") {
            continue;
        }
        if let (true, Some(entry), Some(item)) =
            (listing, entries.last_mut(), parse_block_list_item(text, line))
            && entry.items.first().is_none_or(|first| first.indent == item.0.indent)
        {
            item.1.into_iter().for_each(&mut report);
            entry.items.push(item.0);
        } else if let Some((entry, flaw)) = parse_entry(text, line) {
            flaw.into_iter().for_each(&mut report);
            listing = entry.value_span.is_empty();
            below = true;
            entries.push(entry);
        } else {
            report(DocumentFindingKind::UnknownLine);
            listing = false;
            below &= text.first().is_some_and(|first| is_space_or_tab(*first) || *first == b'-');
            if let (true, Some(entry)) = (below, entries.last_mut()) {
                entry.unparsed_lines.push(line.range_with_end());
            }
        }
    }
    for entry in entries.iter_mut().filter(|entry| !entry.items.is_empty()) {
        entry.value = entry.items.iter().map(|item| item.text.as_str()).collect();
    }
    report_duplicates(&entries, findings);
    entries
}

fn parse_entry(text: &[u8], line: &LineBounds) -> Option<(FrontmatterEntry, Option<DocumentFindingKind>)> {
    let colon =
        memchr::memchr_iter(b':', text).find(|at| text.get(at + 1).copied().is_none_or(is_space_or_tab))?;
    let key = std::str::from_utf8(slice_or_empty(text, 0..colon)).ok()?.trim_end_matches([' ', '\t']);
    let head = key.chars().next().is_some_and(|first| first.is_alphanumeric() || first == '_');
    if !head || key.contains(|c: char| c.is_control() || "\"'#,[]{}".contains(c)) {
        return None;
    }
    let token = scalar::read_scalar(slice_or_empty(text, colon + 1..text.len()));
    let value_position = line.start + colon + 1;
    let entry = FrontmatterEntry {
        key: key.to_owned(),
        line: line.number,
        value: token.value,
        span: line.range_with_end(),
        value_position,
        value_span: value_position + token.span.start..value_position + token.span.end,
        items: Vec::new(),
        unparsed_lines: Vec::new(),
    };
    Some((entry, token.flaw.map(finding_of_scalar_flaw)))
}

/// Parses `  - text`, with or without spaces before the dash.
fn parse_block_list_item(
    text: &[u8],
    line: &LineBounds,
) -> Option<(FrontmatterItem, Option<DocumentFindingKind>)> {
    let indent = count_leading_bytes(text, |byte| byte == b' ');
    let rest = slice_or_empty(text, indent..text.len())
        .strip_prefix(b"-")
        .filter(|rest| rest.first().copied().is_none_or(is_space_or_tab))?;
    let token = scalar::read_list_item(rest);
    let value_position = line.start + indent + 1;
    let item = FrontmatterItem {
        text: token.value.as_str().unwrap_or_default().to_owned(),
        span: line.range_with_end(),
        indent,
        value_position,
        value_span: value_position + token.span.start..value_position + token.span.end,
    };
    Some((item, token.flaw.filter(|flaw| *flaw != scalar::ScalarFlaw::Json).map(finding_of_scalar_flaw)))
}

fn finding_of_scalar_flaw(flaw: scalar::ScalarFlaw) -> DocumentFindingKind {
    match flaw {
        scalar::ScalarFlaw::Json => DocumentFindingKind::BrokenJson,
        scalar::ScalarFlaw::Quotes => DocumentFindingKind::BrokenQuotes,
        scalar::ScalarFlaw::UnsupportedYaml => DocumentFindingKind::ForeignYaml,
    }
}

fn report_duplicates(entries: &[FrontmatterEntry], findings: &mut Vec<DocumentFinding>) {
    let mut last = HashMap::new();
    for entry in entries.iter().rev() {
        let wins = *last.entry(entry.key.as_str()).or_insert(entry.line);
        if wins != entry.line {
            findings.push(DocumentFinding {
                line: entry.line,
                kind: DocumentFindingKind::DuplicateKey { effective_line: wins },
            });
        }
    }
}

/// Returns the items of a list that can be written as a block list. Such a list is not empty and contains only
/// strings.
fn block_list_texts(value: &Value) -> Option<Vec<&str>> {
    value.as_array().filter(|items| !items.is_empty())?.iter().map(Value::as_str).collect()
}

/// Returns the edits that change the items of a block list to `texts`. Items at the beginning and the end that are
/// the same in both lists stay unchanged, and comments are kept.
fn edits_to_set_list_items(
    bytes: &[u8],
    items: &[FrontmatterItem],
    texts: &[&str],
    line_end: &str,
) -> Vec<ByteEdit> {
    let head = items.iter().zip(texts).take_while(|(item, text)| item.text == **text).count();
    let (items_left, texts_left) =
        (items.get(head..).unwrap_or_default(), texts.get(head..).unwrap_or_default());
    let tail = items_left
        .iter()
        .rev()
        .zip(texts_left.iter().rev())
        .take_while(|(item, text)| item.text == **text)
        .count();
    let old = items_left.get(..items_left.len() - tail).unwrap_or_default();
    let new = texts_left.get(..texts_left.len() - tail).unwrap_or_default();

    let mut edits = Vec::new();
    for (item, text) in old.iter().zip(new).filter(|(item, text)| item.text != **text) {
        let quoted = slice_or_empty(bytes, item.value_span.clone()).starts_with(b"\"");
        edits.push(edit_replacing_value(
            item.value_position,
            &item.value_span,
            scalar::write_scalar(&Value::from(*text), quoted),
        ));
    }
    edits.extend(old.iter().skip(new.len()).map(|item| ByteEdit::new(item.span.clone(), "")));
    // New items are inserted after the previous item or, if there is none, before the first item.
    let place = items.get((head + old.len()).wrapping_sub(1)).map(|item| item.span.end);
    let place = place.or_else(|| items.first().map(|item| item.span.start)).unwrap_or_default();
    let indent = " ".repeat(items.first().map_or(2, |item| item.indent));
    for text in new.iter().skip(old.len()) {
        edits.push(ByteEdit::new(
            place..place,
            format!("{indent}- {}{line_end}", scalar::write_scalar(&Value::from(*text), false)),
        ));
    }
    edits
}

/// Replaces a value and keeps the blanks before it and the text after it. If there is no value yet, the new one is
/// inserted after the colon or dash.
fn edit_replacing_value(after: usize, token: &Range<usize>, value: String) -> ByteEdit {
    if token.is_empty() {
        ByteEdit::new(after..after, format!(" {value}"))
    } else {
        ByteEdit::new(token.clone(), value)
    }
}
