//! Searches logs without parsing their lines, because a long turn has thousands of lines and only a few of them are
//! needed.
//!
//! JSON escapes quotes inside strings, so the patterns cannot occur inside a string value.

use memchr::{memchr, memmem, memrchr};

/// Returns the lines of a journal that record edits at or after `from`, a time in the format that records use.
pub fn journal_lines_with_edits<'t>(text: &'t [u8], from: &str) -> Vec<EditLine<'t>> {
    const ACTION_KEY: &[u8] = br#""action":""#;
    let (mut lines, mut read) = (Vec::new(), 0);
    for at in memmem::find_iter(text, ACTION_KEY) {
        // The actions that change a file are `create`, `delete` and `edit`. They begin with the letters that are tested
        // here.
        if at < read || !matches!(text.get(at + ACTION_KEY.len()), Some(b'c' | b'd' | b'e')) {
            continue;
        }
        let start = memrchr(b'\n', &text[read..at]).map_or(read, |end| read + end + 1);
        let end = memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end);
        let line = &text[start..end];
        if time_of_line(line).is_none_or(|ts| ts >= from) {
            lines.push(EditLine(line));
        }
        read = end;
    }
    lines
}

#[derive(Clone, Copy, Debug)]
pub struct EditLine<'t>(pub &'t [u8]);

impl<'t> EditLine<'t> {
    /// Returns the file names of the call, without folders and as escaped JSON. Two sessions may record a file relative
    /// to different folders, so only the names can be compared before the line is parsed.
    pub fn paths(self, paths: &JournalLinePathFinder) -> impl Iterator<Item = &'t [u8]> {
        let name = |path: &'t [u8]| memrchr(b'/', path).map_or(path, |slash| &path[slash + 1..]);
        paths.0.find_iter(self.0).map(move |at| name(json_string_at(self.0, at + PATH_KEY.len())))
    }
}

const PATH_KEY: &[u8] = br#""path":""#;

/// Finds the paths in a line. A finder is built once and used for many lines.
#[derive(Debug)]
pub struct JournalLinePathFinder(memmem::Finder<'static>);

impl Default for JournalLinePathFinder {
    fn default() -> Self {
        JournalLinePathFinder(memmem::Finder::new(PATH_KEY))
    }
}

/// Returns the string values of a key as escaped JSON. The key must have the form `"key":"`.
pub fn string_values_of_key<'t>(text: &'t [u8], key: &'static [u8]) -> impl Iterator<Item = &'t [u8]> {
    memmem::find_iter(text, key).map(move |at| json_string_at(text, at + key.len()))
}

fn json_string_at(text: &[u8], start: usize) -> &[u8] {
    &text[start..start + json_string_end(&text[start..])]
}

/// Returns the time of the user's last prompt at or before `before`.
pub fn last_prompt_time<'t>(text: &'t [u8], before: &str) -> Option<&'t str> {
    let prompts = memmem::find_iter(text, br#""event":"prompt""#);
    let line = |at: usize| &text[memrchr(b'\n', &text[..at]).map_or(0, |end| end + 1)..at];
    prompts.filter_map(|at| time_of_line(line(at))).filter(|ts| *ts <= before).last()
}

/// How many lines at the start of the text are checked for their times. One line is not enough, because a record
/// taken from a transcript may be older than the lines around it.
const FIRST_LINES_EXAMINED: usize = 32;

/// Returns whether `text`, the end of a journal, contains everything since `from`. This is the case if the first lines
/// of `text` are all older than `from`.
pub fn covers_time_since(text: &[u8], from: &str) -> bool {
    let mut times =
        text.split(|b| *b == b'\n').filter_map(time_of_line).take(FIRST_LINES_EXAMINED).peekable();
    times.peek().is_some() && times.all(|ts| ts < from)
}

/// Returns the time of a line. Searches only the start of the line, because the time is there.
pub fn time_of_line(line: &[u8]) -> Option<&str> {
    const LINE_BEGINNING: &[u8] = br#"{"v":1,"ts":""#;
    const TIME_KEY: &[u8] = br#""ts":""#;
    let rest = match line.strip_prefix(LINE_BEGINNING) {
        Some(rest) => rest,
        None => &line[memmem::find(&line[..line.len().min(80)], TIME_KEY)? + TIME_KEY.len()..],
    };
    std::str::from_utf8(&rest[..json_string_end(rest)]).ok()
}

fn json_string_end(text: &[u8]) -> usize {
    let mut is_escaped = false;
    let is_end = |byte: &u8| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    };
    text.iter().position(is_end).unwrap_or(text.len())
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
