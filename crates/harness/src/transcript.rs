//! What the readers of transcripts share: how a line is walked through, the messages in it, and lines that are not one
//! clean object: with a byte order mark, with the zeros of a crash, torn, two glued together.

pub(crate) mod call;
pub(crate) mod message;
pub(crate) mod walk;

use memchr::memmem;
use model::transcript::{Kind, Line};

/// One line without its line end in, what it says out. A reader never fails.
pub type ReadLine = for<'a> fn(&'a [u8]) -> Line<'a>;

/// More than two objects in one line are no accident, and looking for the next one must not become the work.
const GLUED: usize = 32;

/// Reads a line as it lies in the file, and what may be glued to it.
pub fn each_line<'a>(read: ReadLine, bytes: &'a [u8], mut each: impl FnMut(Line<'a>)) {
    let mut rest = bytes;
    for _ in 0..GLUED {
        let line = read(rest);
        rest = line.rest;
        if line.kind != Kind::Blank {
            each(line);
        }
        if rest.is_empty() {
            break;
        }
    }
}

/// The folder the session was in when this line was written, where the line says so.
pub fn cwd(line: &[u8]) -> Option<String> {
    let (fields, _) = crate::fields::Fields::parse(trim(line));
    fields.text("cwd").map(std::borrow::Cow::into_owned).filter(|cwd| cwd.starts_with('/'))
}

/// The line without what is no part of its JSON: byte order mark, zeros, white space.
pub(crate) fn trim(mut line: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = line {
        line = match line {
            [0xEF, 0xBB, 0xBF, rest @ ..] => rest,
            _ if is_blank(*first) => rest,
            _ => break,
        };
    }
    let end = line.iter().rposition(|byte| !is_blank(*byte)).map_or(0, |last| last + 1);
    &line[..end]
}

/// The object that a line is, or what the line is instead: blank, the end of one that was torn, nothing of the harness's.
pub(crate) fn object<'a>(line: &'a [u8], beginnings: &[&str]) -> Result<&'a [u8], Box<Line<'a>>> {
    let bytes = trim(line);
    match bytes.first() {
        Some(b'{') => Ok(bytes),
        None => Err(Box::default()),
        Some(_) => {
            Err(Box::new(Line { kind: Kind::Torn, rest: next_line(bytes, beginnings), ..Line::default() }))
        }
    }
}

/// The next object in `bytes` that begins like a line: the second of two that lost the line end between them.
///
/// Quotes inside a string are escaped, so a beginning cannot be part of a text. It can be part of a list or a field;
/// then a bracket, a comma or a colon stands before it. (A tear just behind one of these hides the second object.)
pub(crate) fn next_line<'a>(bytes: &'a [u8], beginnings: &[&str]) -> &'a [u8] {
    memmem::find_iter(bytes, "{\"")
        .find(|at| {
            let here = &bytes[*at..];
            beginnings.iter().any(|beginning| here.starts_with(beginning.as_bytes()))
                && !is_inside(bytes, *at)
        })
        .map_or(&[], |at| &bytes[at..])
}

/// The same for one beginning, at the speed of a search for a rare word.
pub(crate) fn next_line_like<'a>(bytes: &'a [u8], beginning: &str) -> &'a [u8] {
    memmem::find_iter(bytes, beginning).find(|at| !is_inside(bytes, *at)).map_or(&[], |at| &bytes[at..])
}

/// Whether what begins at `at` is an element or a field of something.
fn is_inside(bytes: &[u8], at: usize) -> bool {
    matches!(bytes[..at].iter().rfind(|byte| !is_blank(**byte)), Some(b'[' | b',' | b':'))
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_json_is_trimmed() {
        for (line, expected) in [
            ("\u{feff}{}\r\n", "{}"),
            ("\0\0 {} \0", "{}"),
            ("", ""),
            (" \r\n", ""),
            ("\u{feff}", ""),
            ("x", "x"),
        ] {
            assert_eq!(trim(line.as_bytes()), expected.as_bytes(), "{line:?}");
        }
    }

    #[test]
    fn finds_the_second_object() {
        for (bytes, expected) in [
            (r#"}{"type":"b"}"#, r#"{"type":"b"}"#),
            (r#"tor{"type":"b"}"#, r#"{"type":"b"}"#),
            (r#""x":{"type":"b"},"y":[{"type":"c"}, {"type":"d"}]}"#, ""),
            (r#"{"x":[{"type":"b"}]} {"type":"e"}"#, r#"{"type":"e"}"#),
            (r#"{\"type\":\"b\"}"#, ""),
            ("", ""),
        ] {
            assert_eq!(next_line(bytes.as_bytes(), &["{\"type\""]), expected.as_bytes(), "{bytes}");
            assert_eq!(next_line_like(bytes.as_bytes(), "{\"type\""), expected.as_bytes(), "{bytes}");
        }
    }
}
