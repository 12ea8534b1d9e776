//! Finds a section by its heading, and makes the edits that replace its text.

use std::ops::Range;

use super::frontmatter::is_fence;
use super::items::{Item, items};
use super::line::{Line, content, lines, slice};
use super::outline::{Block, Heading, Kind, Outline, Scanner, outline};
use super::{Document, Edit, EditError};

/// Identifies a section by the level and the text of its heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head<'a> {
    pub level: u8,
    pub text: &'a str,
    pub matching: Matching,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matching {
    Exact,
    /// The heading begins with the text: `Pending` finds `Pending Tasks`.
    Prefix,
}

impl<'a> Head<'a> {
    pub const fn exact(level: u8, text: &'a str) -> Self {
        Self { level, text, matching: Matching::Exact }
    }

    pub const fn prefix(level: u8, text: &'a str) -> Self {
        Self { level, text, matching: Matching::Prefix }
    }

    pub fn matches(&self, heading: &Heading) -> bool {
        let text = match self.matching {
            Matching::Exact => heading.text == self.text,
            Matching::Prefix => heading.text.starts_with(self.text),
        };
        text && heading.level == self.level
    }
}

/// A heading and the bytes below it.
#[derive(Debug, Clone)]
pub struct Section<'d> {
    pub heading: &'d Heading,
    /// The body: from the line after the heading to the next heading of the same or a higher level.
    pub span: Range<usize>,
    document: &'d [u8],
}

impl<'d> Section<'d> {
    pub fn body(&self) -> &'d [u8] {
        slice(self.document, self.span.clone())
    }

    /// Returns the body without surrounding blank lines and the end of its last line. `set_section` replaces this
    /// part.
    pub fn content(&self) -> &'d [u8] {
        slice(self.body(), content(self.body()))
    }

    /// Returns the content as text, with a replacement character for each invalid byte.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(self.content()).into_owned()
    }

    /// Returns the list items outside fences, including those of deeper sections.
    pub fn items(&self) -> Vec<Item> {
        items(self.document, self.span.clone(), self.heading.line + 1)
    }
}

impl Outline {
    /// Finds the section at the end of `path`: each heading is the first match within the previous section.
    pub fn find<'d>(&'d self, document: &'d [u8], path: &[Head]) -> Option<Section<'d>> {
        let mut range = 0..self.headings.len();
        let mut found = None;
        for head in path {
            let (at, heading) = self.within(range).find(|(_, heading)| head.matches(heading))?;
            let end = self.within(at + 1..self.headings.len()).find(|(_, next)| next.level <= heading.level);
            range = at + 1..end.map_or(self.headings.len(), |(end, _)| end);
            let body = heading.span.end..end.map_or(document.len(), |(_, next)| next.span.start);
            found = Some(Section { heading, span: body, document });
        }
        found
    }

    /// Returns everything from the first `from` to the last `until` after it, or to the end if there is none.
    pub fn find_to_last<'d>(&'d self, document: &'d [u8], from: Head, until: Head) -> Option<Section<'d>> {
        let (at, heading) = self.within(0..self.headings.len()).find(|(_, heading)| from.matches(heading))?;
        let end = self.headings.iter().skip(at + 1).rfind(|heading| until.matches(heading));
        let span = heading.span.end..end.map_or(document.len(), |end| end.span.start);
        Some(Section { heading, span, document })
    }

    fn within(&self, range: Range<usize>) -> impl Iterator<Item = (usize, &Heading)> {
        let headings = self.headings.get(range.clone()).unwrap_or_default();
        range.zip(headings)
    }
}

/// Returns the edits of `set_section`. The text is checked first. If it passes, the heading after the text is still a
/// heading. A heading leaves no block open, so everything after that heading reads as before.
pub(super) fn set(document: &Document, path: &[Head], text: &[u8]) -> Result<Vec<Edit>, EditError> {
    let level = path_level(path)?;
    let section = document.section(path);
    let (known, region) = parent(document, path);
    let end = section.as_ref().map_or(region.end, |section| section.span.end);
    check_text(document, level, text, end)?;
    let text = slice(text, content(text));
    match section {
        Some(section) => Ok(replace(document, &section, text).into_iter().collect()),
        None => append(document, path.get(known..).unwrap_or_default(), region, text).map(|edit| vec![edit]),
    }
}

/// Returns how many headings of a path exist, not counting the last, and the range of the deepest one including its
/// heading.
fn parent(document: &Document, path: &[Head]) -> (usize, Range<usize>) {
    let there = (1..path.len()).rev().find_map(|length| {
        let section = document.section(path.get(..length)?)?;
        Some((length, section.heading.span.start..section.span.end))
    });
    there.unwrap_or((0, document.start()..document.bytes().len()))
}

/// Returns the level of the last heading of a path. Each heading must be deeper than the one before.
fn path_level(path: &[Head]) -> Result<u8, EditError> {
    let mut level = 0;
    for head in path {
        if head.level <= level || head.level > 6 {
            return Err(EditError::BadHeading(head.text.to_owned()));
        }
        level = head.level;
    }
    if level == 0 { Err(EditError::BadHeading(String::new())) } else { Ok(level) }
}

/// Refuses a text that would not stay within its section. `end` is the offset of the heading after the section.
fn check_text(document: &Document, level: u8, text: &[u8], end: usize) -> Result<(), EditError> {
    // A `---` that nothing closes is text, but a second one would turn everything between them into frontmatter.
    let unclosed = document.has_unclosed_frontmatter();
    let mut scanner = Scanner::default();
    let mut last = 0;
    for line in lines(text, 0, 1) {
        last = line.number;
        if let Kind::Heading { level: found, .. } = scanner.feed(line.text(text), last)
            && found <= level
        {
            return Err(EditError::HeadingInText { line: last, level: found });
        }
        if unclosed && is_fence(line.text(text)) {
            return Err(EditError::ClosesFrontmatter { line: last });
        }
    }
    if let Some(open) = scanner.opened() {
        return Err(EditError::OpenInText { line: open.line, block: open.block });
    }
    // An indented heading would become part of the list before it.
    let next = lines(document.bytes(), end, last + 1).next();
    match next.map(|next| scanner.feed(next.text(document.bytes()), next.number)) {
        None | Some(Kind::Heading { .. }) => Ok(()),
        Some(_) => Err(EditError::OpenInText { line: last, block: Block::List }),
    }
}

/// Replaces the content with `text` and keeps the blank lines around it. A section without content gets a blank line
/// before its first line, and one after it if something follows.
fn replace(document: &Document, section: &Section, text: &[u8]) -> Option<Edit> {
    let (bytes, body) = (document.bytes(), section.body());
    let old = content(body);
    let at = section.span.start;
    if slice(body, old.clone()) == text {
        return None;
    }
    if text.is_empty() {
        let end = line_at(body, old.end).map_or(old.end, |line| line.end);
        return Some(Edit::new(at + old.start..at + end, ""));
    }
    if !old.is_empty() {
        return Some(Edit::new(at + old.start..at + old.end, text));
    }
    let above = lines(bytes, section.heading.span.start, 1).next();
    let line_end = above.and_then(|line| line.ending(bytes));
    let end = line_end.unwrap_or(document.line_end()).as_bytes();
    let first = lines(body, 0, 1).next();
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
    Some(Edit::new(at + place..at + place, new))
}

/// Appends the missing headings, and `text`, at the end of `region`.
fn append(
    document: &Document,
    missing: &[Head],
    region: Range<usize>,
    text: &[u8],
) -> Result<Edit, EditError> {
    let bytes = document.bytes();
    if let (true, Some(open)) = (region.end == bytes.len(), document.open_block()) {
        return Err(EditError::OpenInDocument { line: open.line, block: open.block });
    }
    let end = document.line_end();
    let inside = slice(bytes, region.clone());
    let kept = content(inside);
    let last = if kept.is_empty() { None } else { line_at(inside, kept.end) };
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
    Ok(Edit::new(region.start + place..region.start + place, new))
}

/// Returns `## text`, if it reads back as the same heading.
fn heading_line(head: &Head) -> Result<String, EditError> {
    let line = format!("{} {}", "#".repeat(usize::from(head.level)), head.text);
    let read = outline(line.as_bytes(), 0, 1);
    let exact = Head { matching: Matching::Exact, ..*head };
    match read.headings.as_slice() {
        [heading] if exact.matches(heading) && heading.span.len() == line.len() => Ok(line),
        _ => Err(EditError::BadHeading(head.text.to_owned())),
    }
}

/// Returns the rest of the line from `at`, including its end.
fn line_at(bytes: &[u8], at: usize) -> Option<Line> {
    lines(bytes, at, 1).next()
}
