//! Headings, and what hides them: code fences, HTML comments, lists.
//!
//! This is a line scanner, not a markdown parser, because its state after a heading must be the same as at the start
//! of a document. That makes it possible to check a section alone and then put it anywhere.
//!
//! - Only ATX headings count, indented by at most three spaces. Underlined (setext) headings are text.
//! - Fences are ``` and ~~~, indented by at most three spaces. Within a list item, columns are measured from the
//!   item's text, and an unclosed fence ends with the item: one forgotten closing line must not swallow the rest of
//!   the file.
//! - An HTML comment that starts a line hides everything up to the line that contains `-->`. Other HTML hides
//!   nothing.
//! - Block quotes and lists contain no headings for us: `> # quoted` and `- # item` are text.
//!
//! This deliberately differs from CommonMark in one point: a line that continues an item's paragraph without being
//! indented ends the item here.

use std::fmt;
use std::ops::Range;

use super::line::{all_blank, is_blank, lines, run, slice, trimmed};

/// A heading and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// The level, 1 to 6.
    pub level: u8,
    /// The number of the line, counted from 1.
    pub line: usize,
    /// The range of the line, including the line end.
    pub span: Range<usize>,
    /// The text without the marks before and after it, otherwise as written, including inline markup.
    pub text: String,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Outline {
    pub headings: Vec<Heading>,
    /// The block that is still open at the end and would swallow any appended text.
    pub open: Option<Opened>,
}

/// An open block, and the line that opened it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Opened {
    pub line: usize,
    pub block: Block,
}

/// A construct that hides headings inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Block {
    Fence,
    Comment,
    List,
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Block::Fence => "code fence",
            Block::Comment => "HTML comment",
            Block::List => "list",
        })
    }
}

/// Returns the outline of `bytes` from `at`, the start of a line numbered `number`.
pub(super) fn outline(bytes: &[u8], at: usize, number: usize) -> Outline {
    let mut scanner = Scanner::default();
    let mut headings = Vec::new();
    for line in lines(bytes, at, number) {
        let source = line.text(bytes);
        if let Kind::Heading { level, text } = scanner.feed(source, line.number) {
            let text = String::from_utf8_lossy(slice(source, text)).into_owned();
            headings.push(Heading { level, line: line.number, span: line.span(), text });
        }
    }
    Outline { headings, open: scanner.opened() }
}

/// Returns the lines of a text outside code fences and comments, including their line ends.
pub fn outside_blocks(text: &[u8]) -> Vec<Range<usize>> {
    let mut scanner = Scanner::default();
    lines(text, 0, 1)
        .filter(|line| scanner.feed(line.text(text), line.number) != Kind::Hidden)
        .map(|line| line.span())
        .collect()
}

/// How the outline sees a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    /// The range of the heading's text within the line.
    Heading {
        level: u8,
        text: Range<usize>,
    },
    /// The line is part of a fence or a comment, including its first and last line.
    Hidden,
}

/// Scans one line after another, for callers that cannot keep the whole document in memory.
#[derive(Debug, Default)]
pub(crate) struct Scanner {
    state: State,
    /// The columns at which the texts of the open list items start, outermost first.
    items: Vec<usize>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Outside,
    Fence {
        fence: Fence,
        line: usize,
    },
    Comment {
        line: usize,
    },
}

impl Scanner {
    pub fn feed(&mut self, text: &[u8], line: usize) -> Kind {
        let blank = all_blank(text);
        match &self.state {
            State::Comment { .. } => {
                if memchr::memmem::find(text, b"-->").is_some() {
                    self.state = State::Outside;
                }
                return Kind::Hidden;
            }
            State::Fence { fence, .. } if blank || columns(text) >= fence.column => {
                if fence.is_closed_by(text) {
                    self.state = State::Outside;
                }
                return Kind::Hidden;
            }
            // A line to the left of a fence in a list ends both the fence and the list item.
            State::Fence { .. } => self.state = State::Outside,
            State::Outside => {}
        }
        if blank { Kind::Text } else { self.outside(text, line) }
    }

    fn outside(&mut self, text: &[u8], line: usize) -> Kind {
        let indent = columns(text);
        while self.items.pop_if(|column| *column > indent).is_some() {}
        let mut column = self.items.last().copied().unwrap_or_default();
        let mut rest = slice(text, column..text.len());
        // This is checked once per line; otherwise a long line of markers would take quadratic time.
        let rule = is_rule(slice(rest, trimmed(rest)));
        while let Some(marker) = list_marker(rest).filter(|_| !rule) {
            column += marker;
            rest = slice(text, column..text.len());
            self.items.push(column);
        }
        let Some(rest) = unindented(rest) else { return Kind::Text };
        if let Some(fence) = Fence::open(rest, column) {
            self.state = State::Fence { fence, line };
            return Kind::Hidden;
        }
        if column > 0 {
            return Kind::Text;
        }
        if let Some(comment) = rest.strip_prefix(b"<!--") {
            // `<!-->` and `<!--->` are complete comments.
            let closed = comment.starts_with(b">")
                || comment.starts_with(b"->")
                || memchr::memmem::find(comment, b"-->").is_some();
            if !closed {
                self.state = State::Comment { line };
            }
            return Kind::Hidden;
        }
        heading(text).map_or(Kind::Text, |(level, text)| Kind::Heading { level, text })
    }

    pub fn in_list(&self) -> bool {
        !self.items.is_empty()
    }

    /// Returns the line that opened the current fence.
    pub fn open_fence(&self) -> Option<usize> {
        self.opened().filter(|opened| opened.block == Block::Fence).map(|opened| opened.line)
    }

    pub(super) fn opened(&self) -> Option<Opened> {
        match self.state {
            State::Outside => None,
            State::Fence { line, .. } => Some(Opened { line, block: Block::Fence }),
            State::Comment { line } => Some(Opened { line, block: Block::Comment }),
        }
    }
}

/// An open code fence.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fence {
    mark: u8,
    length: usize,
    /// The column at which the text of the surrounding list item starts; 0 outside lists.
    column: usize,
}

impl Fence {
    /// Returns the fence that a line opens. `text` is the line without its indentation.
    pub fn open(text: &[u8], column: usize) -> Option<Fence> {
        let mark = *text.first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let length = run(text, |byte| byte == mark);
        let info = slice(text, length..text.len());
        // Backticks in the info string make it inline code.
        let opens = length >= 3 && (mark == b'~' || memchr::memchr(b'`', info).is_none());
        opens.then_some(Fence { mark, length, column })
    }

    pub fn is_closed_by(&self, text: &[u8]) -> bool {
        let indent = run(text, |byte| byte == b' ');
        let marks = slice(text, indent..text.len());
        let length = run(marks, |byte| byte == self.mark);
        indent <= self.column + 3 && length >= self.length && all_blank(slice(marks, length..marks.len()))
    }
}

/// Returns the width of the indentation; a tab extends to the next multiple of four.
pub(super) fn columns(text: &[u8]) -> usize {
    let blanks = text.iter().take_while(|byte| is_blank(**byte));
    blanks.fold(0, |column, byte| if *byte == b'\t' { column / 4 * 4 + 4 } else { column + 1 })
}

/// Returns `text` without its indentation; `None` if four or more spaces make it indented code. A tab is not removed.
fn unindented(text: &[u8]) -> Option<&[u8]> {
    let indent = run(text, |byte| byte == b' ');
    (indent <= 3).then(|| slice(text, indent..text.len()))
}

/// Returns the length of a list marker at the start of `text`, with its indentation and the blanks after it.
fn list_marker(text: &[u8]) -> Option<usize> {
    let rest = unindented(text)?;
    let (_, mark) = marker(rest)?;
    let behind = slice(rest, mark..rest.len());
    let blanks = match run(behind, |byte| byte == b' ') {
        blanks if blanks == behind.len() => return None,
        0 => return None,
        blanks @ 1..=4 => blanks,
        // More than four blanks start indented code within the item.
        _ => 1,
    };
    Some(text.len() - rest.len() + mark + blanks)
}

/// Returns the number, if any, and the length of a list marker: `-`, `*`, `+`, `3.`, `3)`.
pub(super) fn marker(text: &[u8]) -> Option<(Option<u32>, usize)> {
    let digits = run(text, |byte| byte.is_ascii_digit());
    match (digits, text.get(digits)?) {
        (0, b'-' | b'*' | b'+') => Some((None, 1)),
        (1..=9, b'.' | b')') => {
            Some((std::str::from_utf8(slice(text, 0..digits)).ok()?.parse().ok(), digits + 1))
        }
        _ => None,
    }
}

/// Whether a line is a horizontal rule, such as `* * *`.
pub(super) fn is_rule(text: &[u8]) -> bool {
    let Some(mark @ (b'-' | b'*')) = text.first() else { return false };
    let marks = text.iter().filter(|byte| *byte == mark).count();
    marks >= 3 && text.iter().all(|byte| byte == mark || is_blank(*byte))
}

fn heading(text: &[u8]) -> Option<(u8, Range<usize>)> {
    let rest = unindented(text)?;
    let level = run(rest, |byte| byte == b'#');
    let title = slice(rest, level..rest.len());
    if !(1..=6).contains(&level) || title.first().is_some_and(|byte| !is_blank(*byte)) {
        return None;
    }
    let start = text.len() - title.len();
    let whole = trimmed(title);
    let marks = slice(title, whole.clone()).iter().rev().take_while(|byte| **byte == b'#').count();
    let open = whole.end - marks;
    // Closing marks count only after a blank.
    let before = open.checked_sub(1).and_then(|at| title.get(at));
    let closed = marks > 0 && before.copied().is_some_and(is_blank);
    let inner = if closed { trimmed(slice(title, 0..open)) } else { whole };
    Some((u8::try_from(level).unwrap_or(6), start + inner.start..start + inner.end))
}
