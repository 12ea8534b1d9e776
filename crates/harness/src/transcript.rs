//! Code that the transcript readers share: walking through a line, reading its messages, and handling lines that are
//! not exactly one object. Such a line has a byte order mark or zeros from a crash, is torn, or is joined to the next
//! line.

pub(crate) mod call;
pub(crate) mod message;
pub(crate) mod walk;

use memchr::memmem;
use model::transcript::{TranscriptLine, TranscriptLineKind};

/// Parses a line without its line end. Never fails.
pub type ReadLine = for<'a> fn(&'a [u8]) -> TranscriptLine<'a>;

/// The maximum number of objects that are read from one line. A lost line break joins only two lines, so a small limit
/// is enough. The limit keeps the search cheap.
const MAX_OBJECTS_PER_LINE: usize = 32;

/// Calls `each` for every object in a raw line of the file.
pub fn each_object_in_line<'a>(read: ReadLine, bytes: &'a [u8], mut each: impl FnMut(TranscriptLine<'a>)) {
    let mut rest = bytes;
    for _ in 0..MAX_OBJECTS_PER_LINE {
        let line = read(rest);
        rest = line.text_after_object;
        if line.kind != TranscriptLineKind::Blank {
            each(line);
        }
        if rest.is_empty() {
            break;
        }
    }
}

/// Returns the session's working directory when this line was written. Returns `None` if the line does not contain it.
pub fn cwd_of_line(line: &[u8]) -> Option<String> {
    let (fields, _) = crate::fields::JsonFields::parse(trim_non_json(line));
    fields.text("cwd").map(std::borrow::Cow::into_owned).filter(|cwd| cwd.starts_with('/'))
}

/// Returns the id of the session that this line belongs to. Returns `None` if the line contains no id. The file's name
/// is not reliable, because the file may have been renamed or copied.
pub fn session_id_of_line(line: &[u8]) -> Option<String> {
    let (fields, _) = crate::fields::JsonFields::parse(trim_non_json(line));
    let named = fields.text("sessionId");
    // In the first line of a session, `id` is the session's id.
    let own = || fields.text("id").filter(|_| fields.text("type").as_deref() == Some("session_start"));
    named.or_else(own).map(std::borrow::Cow::into_owned).filter(|id| !id.is_empty())
}

/// Removes bytes that are not part of the JSON, namely byte order marks, zeros and white space, from both ends of a
/// line.
pub(crate) fn trim_non_json(mut line: &[u8]) -> &[u8] {
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

/// Returns the bytes of a line from the beginning of its object. If the line does not begin with an object, the error
/// says whether the line is blank or torn.
pub(crate) fn find_object<'a>(
    line: &'a [u8],
    beginnings: &[&str],
) -> Result<&'a [u8], Box<TranscriptLine<'a>>> {
    let bytes = trim_non_json(line);
    match bytes.first() {
        Some(b'{') => Ok(bytes),
        None => Err(Box::default()),
        Some(_) => Err(Box::new(TranscriptLine {
            kind: TranscriptLineKind::Torn,
            text_after_object: next_object(bytes, beginnings),
            ..TranscriptLine::default()
        })),
    }
}

/// Finds the next object that begins like a transcript line, and returns the bytes from its start. If the line end
/// between two lines was lost, that object is the second line.
///
/// Quotes inside a string are escaped, so the beginning of a line never occurs in a string. It can occur in an array or
/// as the value of a field, after a bracket, a comma or a colon. If the first line is torn right after one of these
/// characters, the second object is not found.
pub(crate) fn next_object<'a>(bytes: &'a [u8], beginnings: &[&str]) -> &'a [u8] {
    memmem::find_iter(bytes, "{\"")
        .find(|at| {
            let here = &bytes[*at..];
            beginnings.iter().any(|beginning| here.starts_with(beginning.as_bytes()))
                && !is_nested_object(bytes, *at)
        })
        .map_or(&[], |at| &bytes[at..])
}

/// Like `next_object`, but accepts only one way in which the object may begin. This makes the search faster.
pub(crate) fn next_object_beginning_with<'a>(bytes: &'a [u8], beginning: &str) -> &'a [u8] {
    memmem::find_iter(bytes, beginning)
        .find(|at| !is_nested_object(bytes, *at))
        .map_or(&[], |at| &bytes[at..])
}

/// Returns whether the object at `at` is an element or a field of another value.
fn is_nested_object(bytes: &[u8], at: usize) -> bool {
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
            assert_eq!(trim_non_json(line.as_bytes()), expected.as_bytes(), "{line:?}");
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
            assert_eq!(next_object(bytes.as_bytes(), &["{\"type\""]), expected.as_bytes(), "{bytes}");
            assert_eq!(
                next_object_beginning_with(bytes.as_bytes(), "{\"type\""),
                expected.as_bytes(),
                "{bytes}"
            );
        }
    }
}
