//! Markdown documents with line-oriented frontmatter. This module is the only reader and writer for packets, loops,
//! roles, manifests and plans.
//!
//! A document consists of its bytes and the positions of its parts. Reading never fails: unusual text is reported as
//! a finding, and unknown text is kept. **An edit changes only the bytes it edits**, because it splices bytes and
//! never prints a document back from a syntax tree. After an edit the document is parsed again, in linear time, so no
//! second representation can get out of date.

mod frontmatter;
mod items;
mod line;
mod outline;
mod scalar;
mod section;
mod verbatim;

use std::fmt;
use std::ops::Range;

use serde_json::Value;

pub use frontmatter::FrontmatterEntry;
pub use items::ListItem;
pub use line::LineBounds;
pub(crate) use outline::OutlineScanner;
pub use outline::{Heading, HeadingHidingBlock, lines_outside_blocks};
pub use section::{HeadingMatching, HeadingPattern, Section};
pub use verbatim::{unwrap_verbatim, wrap_verbatim};

use frontmatter::Frontmatter;
use line::slice_or_empty;
use outline::{Outline, UnclosedBlock};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A document. Reading from it is cheap, but every edit parses it again.
#[derive(Debug, Clone, Default)]
pub struct Document {
    bytes: Vec<u8>,
    frontmatter: Option<Frontmatter>,
    outline: Outline,
    findings: Vec<DocumentFinding>,
}

impl Document {
    /// Parses any bytes. A document without edits is written back byte for byte.
    pub fn parse(bytes: impl Into<Vec<u8>>) -> Document {
        let bytes = bytes.into();
        let mut findings = Vec::new();
        if let Err(error) = std::str::from_utf8(&bytes) {
            let before = slice_or_empty(&bytes, 0..error.valid_up_to());
            let line =
                line::lines_from_offset(&bytes, 0, 1).take_while(|line| line.start <= before.len()).count();
            findings.push(DocumentFinding { line, kind: DocumentFindingKind::NotUtf8 });
        }
        let start = if bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        let frontmatter = Frontmatter::parse_at(&bytes, start, &mut findings);
        let (body, number) = frontmatter.as_ref().map_or((start, 1), |frontmatter| frontmatter.body_start);
        let outline = outline::outline_from_position(&bytes, body, number);
        if let Some(open) = outline.open_block {
            findings
                .push(DocumentFinding { line: open.line, kind: DocumentFindingKind::Unclosed(open.block) });
        }
        findings.sort_by_key(|finding| finding.line);
        Document { bytes, frontmatter, outline, findings }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns the text after the frontmatter or, if there is none, after the byte order mark.
    pub fn body(&self) -> &[u8] {
        slice_or_empty(&self.bytes, self.body_start().0..self.bytes.len())
    }

    /// Iterates over all lines of the file, including the frontmatter. A byte order mark belongs to no line.
    pub fn lines(&self) -> impl Iterator<Item = LineBounds> {
        line::lines_from_offset(&self.bytes, self.start_after_bom(), 1)
    }

    /// Returns the line ending that edits insert.
    pub fn line_ending(&self) -> &'static str {
        let first = || self.lines().next().and_then(|line| line.ending(&self.bytes));
        self.frontmatter.as_ref().map(|frontmatter| frontmatter.line_end).or_else(first).unwrap_or("\n")
    }

    /// Returns the unusual parts of this document, ordered by line.
    pub fn findings(&self) -> &[DocumentFinding] {
        &self.findings
    }
}

impl Document {
    pub fn has_frontmatter(&self) -> bool {
        self.frontmatter.is_some()
    }

    /// Returns all entries in order, including those that a later entry with the same key replaces.
    pub fn frontmatter_entries(&self) -> &[FrontmatterEntry] {
        self.frontmatter.as_ref().map_or(&[], |frontmatter| &frontmatter.entries)
    }

    /// Returns the entry for a key. If several entries have the key, the last one is used.
    pub fn frontmatter_entry(&self, key: &str) -> Option<&FrontmatterEntry> {
        self.frontmatter.as_ref()?.effective_entry(key)
    }

    pub fn frontmatter_value(&self, key: &str) -> Option<&Value> {
        Some(&self.frontmatter_entry(key)?.value)
    }

    /// Returns a scalar as text, with values such as `1.0` and `true` as they were written. Returns `None` for null,
    /// lists and objects.
    pub fn frontmatter_text(&self, key: &str) -> Option<&str> {
        let entry = self.frontmatter_entry(key)?;
        match &entry.value {
            Value::String(text) => Some(text),
            Value::Number(_) | Value::Bool(_) => std::str::from_utf8(entry.source_bytes(&self.bytes)).ok(),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    pub fn frontmatter_integer(&self, key: &str) -> Option<i64> {
        self.frontmatter_value(key)?.as_i64()
    }

    /// Returns the items of a list as strings. Items of other types are returned as JSON.
    pub fn frontmatter_list(&self, key: &str) -> Option<Vec<String>> {
        let text = |item: &Value| item.as_str().map_or_else(|| item.to_string(), str::to_owned);
        Some(self.frontmatter_value(key)?.as_array()?.iter().map(text).collect())
    }

    /// Sets a key in place, or adds it as the last line of the frontmatter, which is created if necessary. Setting a
    /// key to its current value does not change any byte. Double quotes and block lists are kept.
    pub fn set_frontmatter_entry(&mut self, key: &str, value: impl Into<Value>) -> Result<(), EditError> {
        let value = value.into();
        if self.frontmatter_entry(key).is_none() && !frontmatter::is_valid_key(key) {
            return Err(EditError::BadKey(key.to_owned()));
        }
        let edits = match &self.frontmatter {
            Some(frontmatter) => frontmatter.edits_to_set_key(&self.bytes, key, &value),
            None => {
                let (value, end) = (scalar::write_scalar(&value, false), self.line_ending());
                let start = self.start_after_bom();
                vec![ByteEdit::new(start..start, format!("---{end}{key}: {value}{end}---{end}"))]
            }
        };
        self.apply_edits(edits);
        Ok(())
    }

    /// Removes all entries for a key with their nested lines. Comments and blank lines are kept.
    pub fn remove_frontmatter_entry(&mut self, key: &str) {
        let edits = self.frontmatter.as_ref().map(|frontmatter| frontmatter.edits_to_remove_key(key));
        self.apply_edits(edits.unwrap_or_default());
    }
}

impl Document {
    pub fn headings(&self) -> &[Heading] {
        &self.outline.headings
    }

    /// Finds the first section that matches a path of headings. Each heading is searched for within the section of the
    /// previous one.
    pub fn find_section(&self, path: &[HeadingPattern]) -> Option<Section<'_>> {
        self.outline.find_section(&self.bytes, path)
    }

    /// Returns the section from the first heading that matches `from` to the last heading that matches `until`, or to
    /// the end of the document if no heading matches `until`. The function is used for a pasted prompt, which may
    /// contain headings.
    pub fn find_section_to_last(&self, from: HeadingPattern, until: HeadingPattern) -> Option<Section<'_>> {
        self.outline.find_section_to_last(&self.bytes, from, until)
    }

    /// Replaces the content of a section, including deeper sections, and keeps the blank lines around it. A missing
    /// section is appended to its parent section or to the document. Line endings within `text` are unchanged.
    ///
    /// Refuses `text` if it would hide or split what follows the section. `wrap_verbatim` makes any text safe.
    pub fn set_section(&mut self, path: &[HeadingPattern], text: impl AsRef<[u8]>) -> Result<(), EditError> {
        let edits = section::edits_to_set_section(self, path, text.as_ref())?;
        self.apply_edits(edits);
        Ok(())
    }

    /// Replaces the text of one line and keeps its line ending.
    pub fn set_line(&mut self, number: usize, text: &str) -> Result<(), EditError> {
        let line = self.lines().find(|line| line.number == number);
        let line = line.filter(|line| {
            !text.contains(['\n', '\r']) && std::str::from_utf8(line.text(&self.bytes)).is_ok()
        });
        let line = line.ok_or(EditError::NoSuchLine { line: number })?;
        self.apply_edits(vec![ByteEdit::new(line.start..line.text_end, text)]);
        Ok(())
    }

    /// Returns the list items of the body outside code fences.
    pub fn list_items(&self) -> Vec<ListItem> {
        let (start, number) = self.body_start();
        items::list_items(&self.bytes, start..self.bytes.len(), number)
    }

    /// Ticks an open checkbox: `- [ ]` becomes `- [x]`.
    pub fn tick_checkbox(&mut self, line: usize) -> Result<(), EditError> {
        let item =
            self.list_items().into_iter().find(|item| item.line == line && item.checked == Some(false));
        let mark = item.ok_or(EditError::NoOpenBox { line })?.box_mark_position;
        self.apply_edits(vec![ByteEdit::new(mark..mark + 1, "x")]);
        Ok(())
    }
}

impl Document {
    fn start_after_bom(&self) -> usize {
        if self.bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 }
    }

    /// Returns the start of the body, and the number of its first line.
    fn body_start(&self) -> (usize, usize) {
        self.frontmatter.as_ref().map_or((self.start_after_bom(), 1), |frontmatter| frontmatter.body_start)
    }

    fn has_unclosed_frontmatter(&self) -> bool {
        self.findings.iter().any(|finding| finding.kind == DocumentFindingKind::UnclosedFrontmatter)
    }

    fn find_unclosed_block(&self) -> Option<UnclosedBlock> {
        self.outline.open_block
    }

    /// Applies the edits in one pass and parses the result.
    fn apply_edits(&mut self, mut edits: Vec<ByteEdit>) {
        if edits.is_empty() {
            return;
        }
        // The sort is stable, so edits at the same position keep their order.
        edits.sort_by_key(|edit| edit.replaced_range.start);
        let mut bytes = Vec::with_capacity(
            self.bytes.len() + edits.iter().map(|edit| edit.replacement.len()).sum::<usize>(),
        );
        let mut from = 0;
        for edit in &edits {
            bytes.extend_from_slice(slice_or_empty(&self.bytes, from..edit.replaced_range.start));
            bytes.extend_from_slice(&edit.replacement);
            from = edit.replaced_range.end;
        }
        bytes.extend_from_slice(slice_or_empty(&self.bytes, from..self.bytes.len()));
        *self = Document::parse(bytes);
    }
}

#[derive(Debug)]
struct ByteEdit {
    replaced_range: Range<usize>,
    replacement: Vec<u8>,
}

impl ByteEdit {
    fn new(at: Range<usize>, new: impl Into<Vec<u8>>) -> ByteEdit {
        ByteEdit { replaced_range: at, replacement: new.into() }
    }
}

/// An unusual part of a document, reported to validators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentFinding {
    /// The number of the line, counted from 1.
    pub line: usize,
    pub kind: DocumentFindingKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentFindingKind {
    /// The file starts with `---`, but no line closes the frontmatter, so the whole file is the body.
    UnclosedFrontmatter,
    /// A line of the frontmatter that cannot be parsed.
    UnknownLine,
    /// The entry on the line `effective_line` is used instead of this entry.
    DuplicateKey { effective_line: usize },
    /// The value starts like a list or an object but is not JSON on one line. It is read as text.
    BrokenJson,
    /// The quotes are not closed, or text follows them. The value is read as text.
    BrokenQuotes,
    /// The value starts with a character that has another meaning in YAML, such as `|`, `&` or `@`. It is read as text.
    ForeignYaml,
    /// A block extends to the end of the document.
    Unclosed(HeadingHidingBlock),
    /// The first line with bytes that are not UTF-8.
    NotUtf8,
}

impl fmt::Display for DocumentFindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DocumentFindingKind::UnclosedFrontmatter => f.write_str("frontmatter has no closing `---` line"),
            DocumentFindingKind::UnknownLine => f.write_str("neither `key: value` nor a list item"),
            DocumentFindingKind::DuplicateKey { effective_line } => {
                write!(f, "key is set again on line {effective_line}, and the later value is used")
            }
            DocumentFindingKind::BrokenJson => f.write_str("looks like JSON but is not valid; read as text"),
            DocumentFindingKind::BrokenQuotes => f.write_str("quotes are not closed; read as text"),
            DocumentFindingKind::ForeignYaml => {
                f.write_str("YAML syntax that is not supported; read as text")
            }
            DocumentFindingKind::Unclosed(block) => write!(f, "{block} is never closed"),
            DocumentFindingKind::NotUtf8 => f.write_str("not UTF-8"),
        }
    }
}

/// Why an edit was refused. A refused edit leaves the document unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("`{0}` cannot be a key")]
    BadKey(String),
    #[error("`{0}` cannot be a heading here")]
    BadHeading(String),
    #[error("line {line} of the text is a heading of level {level}, which would end the section")]
    HeadingInText { line: usize, level: u8 },
    #[error("line {line} of the text opens a {block} that is never closed")]
    UnclosedInText { line: usize, block: HeadingHidingBlock },
    #[error("line {line} of the text is `---`, which would close the document's unclosed frontmatter")]
    ClosesFrontmatter { line: usize },
    #[error(
        "line {line} of the document opens a {block} that is never closed; nothing can be appended after it"
    )]
    UnclosedInDocument { line: usize, block: HeadingHidingBlock },
    #[error("line {line} is not a line of text that can be replaced")]
    NoSuchLine { line: usize },
    #[error("line {line} is not an open checklist item")]
    NoOpenBox { line: usize },
}
