//! Finds a section by its heading and creates the edits that replace its text.

use std::ops::Range;

use super::frontmatter::is_frontmatter_fence;
use super::items::{ListItem, list_items};
use super::line::{LineBounds, lines_from_offset, range_without_blank_lines, slice_or_empty};
use super::outline::{Heading, HeadingHidingBlock, LineKind, Outline, OutlineScanner, outline_from_position};
use super::{ByteEdit, Document, EditError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadingPattern<'a> {
    pub level: u8,
    pub text: &'a str,
    pub matching: HeadingMatching,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadingMatching {
    Exact,
    /// The heading starts with `text`, so `Pending` matches `Pending Tasks`.
    Prefix,
}

impl<'a> HeadingPattern<'a> {
    pub const fn exact(level: u8, text: &'a str) -> Self {
        Self { level, text, matching: HeadingMatching::Exact }
    }

    pub const fn prefix(level: u8, text: &'a str) -> Self {
        Self { level, text, matching: HeadingMatching::Prefix }
    }

    pub fn matches(&self, heading: &Heading) -> bool {
        let text = match self.matching {
            HeadingMatching::Exact => heading.text == self.text,
            HeadingMatching::Prefix => heading.text.starts_with(self.text),
        };
        text && heading.level == self.level
    }
}

/// A heading and the body below it.
#[derive(Debug, Clone)]
pub struct Section<'d> {
    pub heading: &'d Heading,
    /// The range from the line after the heading to the next heading of the same or a higher level.
    pub span: Range<usize>,
    document: &'d [u8],
}

impl<'d> Section<'d> {
    pub fn body(&self) -> &'d [u8] {
        slice_or_empty(self.document, self.span.clone())
    }

    /// Returns the part that `set_section` replaces, which is the body without surrounding blank lines and without its
    /// last line ending.
    pub fn content(&self) -> &'d [u8] {
        slice_or_empty(self.body(), range_without_blank_lines(self.body()))
    }

    /// Returns the content as text, with a replacement character for each invalid byte.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(self.content()).into_owned()
    }

    /// Returns the list items outside fences, including those in deeper sections.
    pub fn items(&self) -> Vec<ListItem> {
        list_items(self.document, self.span.clone(), self.heading.line + 1)
    }
}

impl Outline {
    /// Finds the section at the end of `path`. For each heading of the path, the first match within the previous
    /// section is used.
    pub fn find_section<'d>(&'d self, document: &'d [u8], path: &[HeadingPattern]) -> Option<Section<'d>> {
        let mut range = 0..self.headings.len();
        let mut found = None;
        for head in path {
            let (at, heading) = self.headings_within(range).find(|(_, heading)| head.matches(heading))?;
            let end = self
                .headings_within(at + 1..self.headings.len())
                .find(|(_, next)| next.level <= heading.level);
            range = at + 1..end.map_or(self.headings.len(), |(end, _)| end);
            let body = heading.span.end..end.map_or(document.len(), |(_, next)| next.span.start);
            found = Some(Section { heading, span: body, document });
        }
        found
    }

    /// Returns the section from the first heading that matches `from` to the last heading after it that matches
    /// `until`, or to the end of the document if no heading matches `until`.
    pub fn find_section_to_last<'d>(
        &'d self,
        document: &'d [u8],
        from: HeadingPattern,
        until: HeadingPattern,
    ) -> Option<Section<'d>> {
        let (at, heading) =
            self.headings_within(0..self.headings.len()).find(|(_, heading)| from.matches(heading))?;
        let end = self.headings.iter().skip(at + 1).rfind(|heading| until.matches(heading));
        let span = heading.span.end..end.map_or(document.len(), |end| end.span.start);
        Some(Section { heading, span, document })
    }

    fn headings_within(&self, range: Range<usize>) -> impl Iterator<Item = (usize, &Heading)> {
        let headings = self.headings.get(range.clone()).unwrap_or_default();
        range.zip(headings)
    }
}

/// Returns the edits of `set_section`. `text` is checked first, so that the heading after it remains a heading. No
/// block is open after a heading, so everything after that heading is parsed as before.
pub(super) fn edits_to_set_section(
    document: &Document,
    path: &[HeadingPattern],
    text: &[u8],
) -> Result<Vec<ByteEdit>, EditError> {
    let level = heading_path_level(path)?;
    let section = document.find_section(path);
    let (known, region) = deepest_existing_section(document, path);
    let end = section.as_ref().map_or(region.end, |section| section.span.end);
    check_section_text(document, level, text, end)?;
    let text = slice_or_empty(text, range_without_blank_lines(text));
    match section {
        Some(section) => Ok(replace_content_edit(document, &section, text).into_iter().collect()),
        None => append_section_edit(document, path.get(known..).unwrap_or_default(), region, text)
            .map(|edit| vec![edit]),
    }
}

/// Returns how many headings of a path exist, not counting the last one, and the range of the deepest existing
/// section including its heading.
fn deepest_existing_section(document: &Document, path: &[HeadingPattern]) -> (usize, Range<usize>) {
    let there = (1..path.len()).rev().find_map(|length| {
        let section = document.find_section(path.get(..length)?)?;
        Some((length, section.heading.span.start..section.span.end))
    });
    there.unwrap_or((0, document.start_after_bom()..document.bytes().len()))
}

/// Returns the level of the last heading of a path. Each heading must be deeper than the previous one.
fn heading_path_level(path: &[HeadingPattern]) -> Result<u8, EditError> {
    let mut level = 0;
    for head in path {
        if head.level <= level || head.level > 6 {
            return Err(EditError::BadHeading(head.text.to_owned()));
        }
        level = head.level;
    }
    if level == 0 { Err(EditError::BadHeading(String::new())) } else { Ok(level) }
}

/// Refuses `text` if it would not stay within its section. `end` is the end of the section.
fn check_section_text(document: &Document, level: u8, text: &[u8], end: usize) -> Result<(), EditError> {
    // An unclosed `---` is text, but a second `---` would turn the lines between them into frontmatter.
    let unclosed = document.has_unclosed_frontmatter();
    let mut scanner = OutlineScanner::default();
    let mut last = 0;
    for line in lines_from_offset(text, 0, 1) {
        last = line.number;
        if let LineKind::Heading { level: found, .. } = scanner.scan_line(line.text(text), last)
            && found <= level
        {
            return Err(EditError::HeadingInText { line: last, level: found });
        }
        if unclosed && is_frontmatter_fence(line.text(text)) {
            return Err(EditError::ClosesFrontmatter { line: last });
        }
    }
    if let Some(open) = scanner.open_block() {
        return Err(EditError::UnclosedInText { line: open.line, block: open.block });
    }
    // If the text ends with a list, an indented heading after it would become part of the list. This is an error.
    let next = lines_from_offset(document.bytes(), end, last + 1).next();
    match next.map(|next| scanner.scan_line(next.text(document.bytes()), next.number)) {
        None | Some(LineKind::Heading { .. }) => Ok(()),
        Some(_) => Err(EditError::UnclosedInText { line: last, block: HeadingHidingBlock::List }),
    }
}

/// Replaces the content with `text` and keeps the blank lines around it. If the section has no content, a blank line
/// is added before `text`, and another one after it unless the document ends there.
fn replace_content_edit(document: &Document, section: &Section, text: &[u8]) -> Option<ByteEdit> {
    let (bytes, body) = (document.bytes(), section.body());
    let old = range_without_blank_lines(body);
    let at = section.span.start;
    if slice_or_empty(body, old.clone()) == text {
        return None;
    }
    if text.is_empty() {
        let end = line_rest_with_ending(body, old.end).map_or(old.end, |line| line.end);
        return Some(ByteEdit::new(at + old.start..at + end, ""));
    }
    if !old.is_empty() {
        return Some(ByteEdit::new(at + old.start..at + old.end, text));
    }
    let above = lines_from_offset(bytes, section.heading.span.start, 1).next();
    let line_end = above.and_then(|line| line.ending(bytes));
    let end = line_end.unwrap_or(document.line_ending()).as_bytes();
    let first = lines_from_offset(body, 0, 1).next();
    let mut new = Vec::with_capacity(text.len() + 8);
    if line_end.is_none() || first.is_some_and(|line| line.ending(body).is_none()) {
        new.extend_from_slice(end);
    }
    if first.is_none() {
        new.extend_from_slice(end);
    }
    new.extend_from_slice(text);
    new.extend_from_slice(end);
    let place = first.map_or(0, |line| line.end);
    if place == body.len() && section.span.end < bytes.len() {
        new.extend_from_slice(end);
    }
    Some(ByteEdit::new(at + place..at + place, new))
}

/// Appends the missing headings and `text` at the end of `region`.
fn append_section_edit(
    document: &Document,
    missing: &[HeadingPattern],
    region: Range<usize>,
    text: &[u8],
) -> Result<ByteEdit, EditError> {
    let bytes = document.bytes();
    if let (true, Some(open)) = (region.end == bytes.len(), document.find_unclosed_block()) {
        return Err(EditError::UnclosedInDocument { line: open.line, block: open.block });
    }
    let end = document.line_ending();
    let inside = slice_or_empty(bytes, region.clone());
    let kept = range_without_blank_lines(inside);
    let last = if kept.is_empty() { None } else { line_rest_with_ending(inside, kept.end) };
    let place = last.map_or(kept.end, |line| line.end);

    let mut new = Vec::with_capacity(text.len() + 64);
    if !kept.is_empty() {
        let whole = last.is_some_and(|line| line.ending(inside).is_some());
        new.extend_from_slice(end.repeat(if whole { 1 } else { 2 }).as_bytes());
    }
    for (at, head) in missing.iter().enumerate() {
        let gap = if at == 0 { "" } else { end };
        new.extend_from_slice(format!("{gap}{}{end}", heading_line(head)?).as_bytes());
    }
    if !text.is_empty() {
        new.extend_from_slice(end.as_bytes());
        new.extend_from_slice(text);
        new.extend_from_slice(end.as_bytes());
    }
    if place == inside.len() && region.end < bytes.len() {
        new.extend_from_slice(end.as_bytes());
    }
    Ok(ByteEdit::new(region.start + place..region.start + place, new))
}

/// Returns a line such as `## text`, or an error if the line would not be read as the same heading.
fn heading_line(head: &HeadingPattern) -> Result<String, EditError> {
    let line = format!("{} {}", "#".repeat(usize::from(head.level)), head.text);
    let read = outline_from_position(line.as_bytes(), 0, 1);
    let exact = HeadingPattern { matching: HeadingMatching::Exact, ..*head };
    match read.headings.as_slice() {
        [heading] if exact.matches(heading) && heading.span.len() == line.len() => Ok(line),
        _ => Err(EditError::BadHeading(head.text.to_owned())),
    }
}

/// Returns the line from `at` to its end, including the line ending.
fn line_rest_with_ending(bytes: &[u8], at: usize) -> Option<LineBounds> {
    lines_from_offset(bytes, at, 1).next()
}
