//! Validates names that come from outside before they become part of a path. No other module does this.

use std::fmt;

/// A name that is safe in a file name. It names a packet, loop, role, task, session, stage, output or summary.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(String);

/// The maximum length of an id. Most file systems allow file names of 255 bytes, which leaves room for suffixes such
/// as `.log.jsonl`.
pub const MAX_ID_BYTES: usize = 128;

impl Id {
    /// Accepts a string that matches `^[A-Za-z0-9_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$`, has at most [`MAX_ID_BYTES`]
    /// bytes and is not a Windows device name.
    pub fn new(text: &str) -> Result<Id, InvalidId> {
        Id::check_id(text).map(|()| Id(text.to_owned()))
    }

    /// Validates a string without creating an id.
    pub fn check_id(text: &str) -> Result<(), InvalidId> {
        let fail = |why| Err(InvalidId { displayed_id: display_id(text), why });
        if text.is_empty() {
            return fail("is empty");
        }
        if text.len() > MAX_ID_BYTES {
            return fail("is longer than 128 bytes");
        }
        if !text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')) {
            return fail("may contain only letters, digits, `_`, `-` and single dots");
        }
        if text.starts_with('-') {
            return fail("starts with `-`");
        }
        if text.split('.').any(str::is_empty) {
            return fail("has a dot at its start or end, or two in a row");
        }
        if is_device_name(text) {
            return fail("is a device name on Windows");
        }
        Ok(())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{displayed_id}` cannot be an id: it {why}")]
pub struct InvalidId {
    displayed_id: String,
    why: &'static str,
}

impl InvalidId {
    /// Returns only the reason, for messages that must not quote the id.
    pub fn reason(&self) -> &'static str {
        self.why
    }
}

/// Formats a refused id for a message: shortened, on one line, without control characters.
fn display_id(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().take(40) {
        if crate::clean::is_hidden_char(c) || c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    if text.chars().nth(40).is_some() {
        out.push('…');
    }
    out
}

/// Returns whether Windows forbids a file of this name, such as `NUL`, `con.txt` or `COM1`.
fn is_device_name(text: &str) -> bool {
    let stem = text.split('.').next().unwrap_or(text);
    let port = |prefix: &str| {
        stem.len() == 4
            && stem.get(..3).is_some_and(|s| s.eq_ignore_ascii_case(prefix))
            && stem.ends_with(|c: char| ('1'..='9').contains(&c))
    };
    ["con", "prn", "aux", "nul"].iter().any(|d| stem.eq_ignore_ascii_case(d)) || port("com") || port("lpt")
}

/// Returns the names whose slug (the part after the time) is `word`. If there are none, returns the names that start
/// with `word`, or else the names that contain it. The caller tries an exact match first. An empty word matches
/// nothing.
pub fn names_matching_word<'a>(names: &[&'a str], word: &str) -> Vec<&'a str> {
    if word.is_empty() {
        return Vec::new();
    }
    let part = word.to_lowercase();
    let has_slug = |name: &str| name.split_once('-').is_some_and(|(_, slug)| slug == word);
    let ways: [&dyn Fn(&str) -> bool; 3] =
        [&has_slug, &|name| name.starts_with(word), &|name| name.contains(&part)];
    let mut fitting =
        ways.iter().map(|fits| names.iter().copied().filter(|name| fits(name)).collect::<Vec<_>>());
    fitting.find(|found| !found.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_and_invalid_ids() {
        let good =
            ["a", "_x", "9487a9f7-611a-47e9-8202-df72ea246773", "20261115T192200Z-fix", "a.b.c", "1.2"];
        for text in good {
            assert!(Id::new(text).is_ok(), "{text}");
        }
        let long = "x".repeat(129);
        let bad = [
            "", ".", "..", "a..b", ".a", "a.", "-a", "a/b", "../a", "a\\b", "a\0", "a\n", "ä", "a b", "NUL",
            "con.txt", "Com7", "lpt1.x", "~a", &long,
        ];
        for text in bad {
            assert!(Id::new(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_word_matches_names_by_beginning_and_parts() {
        let names = ["1-fix", "1-fix-more", "2-fix", "20-other"];
        let rows: [(&str, &[&str]); 6] = [
            ("fix", &["1-fix", "2-fix"]),
            ("2", &["2-fix", "20-other"]),
            ("20-", &["20-other"]),
            ("MORE", &["1-fix-more"]),
            ("none", &[]),
            ("", &[]),
        ];
        for (word, expected) in rows {
            assert_eq!(names_matching_word(&names, word), expected, "{word}");
        }
    }

    #[test]
    fn a_refusal_is_one_short_line() {
        let message = Id::new(&format!("../\n\x1b{}", "é".repeat(500))).unwrap_err().to_string();
        assert!(message.len() < 400 && !message.contains(['\n', '\x1b']), "{message}");
    }
}
