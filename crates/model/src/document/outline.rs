//! Headings, and the blocks that hide them: code fences, HTML comments and lists.
//!
//! This is a line scanner and not a markdown parser, because its state after a heading must be the same as at the start
//! of a document. So a section can be checked alone and then inserted anywhere.
//!
//! - Only ATX headings are recognised, indented by at most three spaces. Underlined (setext) headings are text.
//! - Fences are ``` and ~~~, indented by at most three spaces. Within a list item, columns are counted from the item's
//!   text. An unclosed fence ends with the item, because a missing closing line must not hide the rest of the file.
//! - An HTML comment at the start of a line hides everything up to the line that contains `-->`. Other HTML does not
//!   hide headings.
//! - Headings in block quotes and lists are text: `> # quoted` and `- # item`.
//!
//! One difference from CommonMark is deliberate: an unindented line that continues an item's paragraph ends the item
//! here.

use std::fmt;
use std::ops::Range;

use super::line::{
    count_leading_bytes, is_all_blank, is_space_or_tab, lines_from_offset, slice_or_empty, trimmed_range,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// The level, 1 to 6.
    pub level: u8,
    /// The number of the line, counted from 1.
    pub line: usize,
    /// The range of the line, including the line ending.
    pub span: Range<usize>,
    /// The text without the marks before and after it. Inline markup is kept.
    pub text: String,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Outline {
    pub headings: Vec<Heading>,
    /// The block that is still open at the end of the text. It would hide any appended text.
    pub open_block: Option<UnclosedBlock>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnclosedBlock {
    pub line: usize,
    pub block: HeadingHidingBlock,
}

/// A block that hides the headings inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadingHidingBlock {
    Fence,
    Comment,
    List,
}

impl fmt::Display for HeadingHidingBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HeadingHidingBlock::Fence => "code fence",
            HeadingHidingBlock::Comment => "HTML comment",
            HeadingHidingBlock::List => "list",
        })
    }
}

/// Returns the outline of `bytes` from `at`, which is the start of line `number`.
pub(super) fn outline_from_position(bytes: &[u8], at: usize, number: usize) -> Outline {
    let mut scanner = OutlineScanner::default();
    let mut headings = Vec::new();
    for line in lines_from_offset(bytes, at, number) {
        let source = line.text(bytes);
        if let LineKind::Heading { level, text } = scanner.scan_line(source, line.number) {
            let text = String::from_utf8_lossy(slice_or_empty(source, text)).into_owned();
            headings.push(Heading { level, line: line.number, span: line.range_with_end(), text });
        }
    }
    Outline { headings, open_block: scanner.open_block() }
}

/// Returns the ranges of the lines outside code fences and comments, including their line endings.
pub fn lines_outside_blocks(text: &[u8]) -> Vec<Range<usize>> {
    let mut scanner = OutlineScanner::default();
    lines_from_offset(text, 0, 1)
        .filter(|line| scanner.scan_line(line.text(text), line.number) != LineKind::Hidden)
        .map(|line| line.range_with_end())
        .collect()
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    Text,
    /// A heading. `text` is the range of its text within the line.
    Heading {
        level: u8,
        text: Range<usize>,
    },
    /// The line is part of a fence or a comment. The first and last lines of the block are included.
    Hidden,
}

/// Scans one line at a time, for callers that do not keep the whole document in memory.
#[derive(Debug, Default)]
pub(crate) struct OutlineScanner {
    state: ScannerState,
    /// The text columns of the open list items, outermost first.
    list_columns: Vec<usize>,
}

#[derive(Debug, Default)]
enum ScannerState {
    #[default]
    Outside,
    Fence {
        fence: CodeFence,
        line: usize,
    },
    Comment {
        line: usize,
    },
}

impl OutlineScanner {
    pub fn scan_line(&mut self, text: &[u8], line: usize) -> LineKind {
        let blank = is_all_blank(text);
        match &self.state {
            ScannerState::Comment { .. } => {
                if memchr::memmem::find(text, b"-->").is_some() {
                    self.state = ScannerState::Outside;
                }
                return LineKind::Hidden;
            }
            ScannerState::Fence { fence, .. } if blank || indentation_width(text) >= fence.column => {
                if fence.is_fence_closed_by(text) {
                    self.state = ScannerState::Outside;
                }
                return LineKind::Hidden;
            }
            // The fence is inside a list item, and this line is to the left of that item's content. Such a line ends
            // both the item and the fence.
            ScannerState::Fence { .. } => self.state = ScannerState::Outside,
            ScannerState::Outside => {}
        }
        if blank { LineKind::Text } else { self.scan_outside_block(text, line) }
    }

    fn scan_outside_block(&mut self, text: &[u8], line: usize) -> LineKind {
        let indent = indentation_width(text);
        while self.list_columns.pop_if(|column| *column > indent).is_some() {}
        let mut column = self.list_columns.last().copied().unwrap_or_default();
        let mut rest = slice_or_empty(text, column..text.len());
        // This is checked once per line. Checking it for each marker would take quadratic time on a long line of
        // markers.
        let rule = is_horizontal_rule(slice_or_empty(rest, trimmed_range(rest)));
        while let Some(marker) = list_marker_length(rest).filter(|_| !rule) {
            column += marker;
            rest = slice_or_empty(text, column..text.len());
            self.list_columns.push(column);
        }
        let Some(rest) = without_indentation(rest) else { return LineKind::Text };
        if let Some(fence) = CodeFence::fence_opened_by_line(rest, column) {
            self.state = ScannerState::Fence { fence, line };
            return LineKind::Hidden;
        }
        if column > 0 {
            return LineKind::Text;
        }
        if let Some(comment) = rest.strip_prefix(b"<!--") {
            // `<!-->` and `<!--->` are complete comments.
            let closed = comment.starts_with(b">")
                || comment.starts_with(b"->")
                || memchr::memmem::find(comment, b"-->").is_some();
            if !closed {
                self.state = ScannerState::Comment { line };
            }
            return LineKind::Hidden;
        }
        parse_heading(text).map_or(LineKind::Text, |(level, text)| LineKind::Heading { level, text })
    }

    pub fn is_in_list(&self) -> bool {
        !self.list_columns.is_empty()
    }

    pub fn line_of_open_fence(&self) -> Option<usize> {
        self.open_block().filter(|opened| opened.block == HeadingHidingBlock::Fence).map(|opened| opened.line)
    }

    pub(super) fn open_block(&self) -> Option<UnclosedBlock> {
        match self.state {
            ScannerState::Outside => None,
            ScannerState::Fence { line, .. } => {
                Some(UnclosedBlock { line, block: HeadingHidingBlock::Fence })
            }
            ScannerState::Comment { line } => {
                Some(UnclosedBlock { line, block: HeadingHidingBlock::Comment })
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct CodeFence {
    fence_char: u8,
    length: usize,
    /// The text column of the surrounding list item, or 0 outside lists.
    column: usize,
}

impl CodeFence {
    /// Returns the fence that a line opens. `text` is the line without its indentation.
    pub fn fence_opened_by_line(text: &[u8], column: usize) -> Option<CodeFence> {
        let mark = *text.first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let length = count_leading_bytes(text, |byte| byte == mark);
        let info = slice_or_empty(text, length..text.len());
        // If the info string contains backticks, the line is inline code.
        let opens = length >= 3 && (mark == b'~' || memchr::memchr(b'`', info).is_none());
        opens.then_some(CodeFence { fence_char: mark, length, column })
    }

    pub fn is_fence_closed_by(&self, text: &[u8]) -> bool {
        let indent = count_leading_bytes(text, |byte| byte == b' ');
        let marks = slice_or_empty(text, indent..text.len());
        let length = count_leading_bytes(marks, |byte| byte == self.fence_char);
        indent <= self.column + 3
            && length >= self.length
            && is_all_blank(slice_or_empty(marks, length..marks.len()))
    }
}

/// Returns the width of the indentation. A tab extends to the next multiple of four.
pub(super) fn indentation_width(text: &[u8]) -> usize {
    let blanks = text.iter().take_while(|byte| is_space_or_tab(**byte));
    blanks.fold(0, |column, byte| if *byte == b'\t' { column / 4 * 4 + 4 } else { column + 1 })
}

/// Returns `text` without its indentation, or `None` if four or more spaces make it indented code. A tab is not
/// removed.
fn without_indentation(text: &[u8]) -> Option<&[u8]> {
    let indent = count_leading_bytes(text, |byte| byte == b' ');
    (indent <= 3).then(|| slice_or_empty(text, indent..text.len()))
}

/// Returns the length of a list marker at the start of `text`, including its indentation and the blanks after it.
fn list_marker_length(text: &[u8]) -> Option<usize> {
    let rest = without_indentation(text)?;
    let (_, mark) = parse_list_marker(rest)?;
    let behind = slice_or_empty(rest, mark..rest.len());
    let blanks = match count_leading_bytes(behind, |byte| byte == b' ') {
        blanks if blanks == behind.len() => return None,
        0 => return None,
        blanks @ 1..=4 => blanks,
        // If more than four blanks follow, they begin indented code, and only the first blank belongs to the marker.
        _ => 1,
    };
    Some(text.len() - rest.len() + mark + blanks)
}

/// Returns the number, if any, and the length of a list marker such as `-`, `*`, `+`, `3.` or `3)`.
pub(super) fn parse_list_marker(text: &[u8]) -> Option<(Option<u32>, usize)> {
    let digits = count_leading_bytes(text, |byte| byte.is_ascii_digit());
    match (digits, text.get(digits)?) {
        (0, b'-' | b'*' | b'+') => Some((None, 1)),
        (1..=9, b'.' | b')') => {
            Some((std::str::from_utf8(slice_or_empty(text, 0..digits)).ok()?.parse().ok(), digits + 1))
        }
        _ => None,
    }
}

/// Returns whether a line is a horizontal rule, such as `* * *`.
pub(super) fn is_horizontal_rule(text: &[u8]) -> bool {
    let Some(mark @ (b'-' | b'*')) = text.first() else { return false };
    let marks = text.iter().filter(|byte| *byte == mark).count();
    marks >= 3 && text.iter().all(|byte| byte == mark || is_space_or_tab(*byte))
}

fn parse_heading(text: &[u8]) -> Option<(u8, Range<usize>)> {
    let rest = without_indentation(text)?;
    let level = count_leading_bytes(rest, |byte| byte == b'#');
    let title = slice_or_empty(rest, level..rest.len());
    if !(1..=6).contains(&level) || title.first().is_some_and(|byte| !is_space_or_tab(*byte)) {
        return None;
    }
    let start = text.len() - title.len();
    let whole = trimmed_range(title);
    let marks = slice_or_empty(title, whole.clone()).iter().rev().take_while(|byte| **byte == b'#').count();
    let open = whole.end - marks;
    // Closing `#` marks count only if a blank precedes them.
    let before = open.checked_sub(1).and_then(|at| title.get(at));
    let closed = marks > 0 && before.copied().is_some_and(is_space_or_tab);
    let inner = if closed { trimmed_range(slice_or_empty(title, 0..open)) } else { whole };
    Some((u8::try_from(level).unwrap_or(6), start + inner.start..start + inner.end))
}
