//! Stores any text inside a section byte for byte, for example a loop's prompt, which may contain headings, fences
//! and `---`.

use super::line::{lines_from_offset, range_without_blank_lines, slice_or_empty};
use super::outline::CodeFence;

/// Marks the fences that `wrap_verbatim` writes. Without this mark, text that is itself a code block would be
/// unwrapped.
const VERBATIM_FENCE_INFO: &[u8] = b"verbatim";

/// Wraps `text` in a fence that is longer than any run of backticks in it. The line ending before the closing fence
/// belongs to the fence, so a line ending at the end of `text` is preserved. `line_end` is the document's line ending.
pub fn wrap_verbatim(text: impl AsRef<[u8]>, line_end: &str) -> Vec<u8> {
    let text = text.as_ref();
    // A lone CR is never used, because together with an LF at the start of the text it would form a single CRLF.
    let end: &[u8] = if line_end == "\r\n" { b"\r\n" } else { b"\n" };
    let fence = vec![b'`'; longest_backtick_run(text).max(2) + 1];
    [&fence, VERBATIM_FENCE_INFO, end, text, end, &fence, end].concat()
}

/// Returns the text that `wrap_verbatim` wrapped, or `None` if `section` contains any other text.
pub fn unwrap_verbatim(section: &[u8]) -> Option<&[u8]> {
    let wrapped = slice_or_empty(section, range_without_blank_lines(section));
    let opening = lines_from_offset(wrapped, 0, 1).next()?;
    let head = opening.text(wrapped);
    let fence = CodeFence::fence_opened_by_line(head, 0).filter(|_| head.starts_with(b"`"))?;
    if head.iter().copied().skip_while(|byte| *byte == b'`').ne(VERBATIM_FENCE_INFO.iter().copied()) {
        return None;
    }
    // The first line that closes the fence must also be the last line.
    let closing = lines_from_offset(wrapped, opening.end, 2)
        .find(|line| fence.is_fence_closed_by(line.text(wrapped)))?;
    if closing.end != wrapped.len() {
        return None;
    }
    let inside = slice_or_empty(wrapped, opening.end..closing.start);
    // An empty fence has no line ending to remove.
    let end = opening.ending(wrapped)?.as_bytes();
    Some(inside.strip_suffix(end).unwrap_or(inside))
}

fn longest_backtick_run(text: &[u8]) -> usize {
    text.split(|byte| *byte != b'`').map(<[u8]>::len).max().unwrap_or(0)
}
