//! Framed key material: PEM, OpenSSH and PGP private keys, PuTTY keys, JSON web tokens.

use std::ops::Range;

use memchr::memmem;

use super::Hit;
use super::chance::profile;
use super::classes::{BASE64, BASE64_URL, LETTER, byte, is, run, run_back};

/// Longer than any private key in use. A frame around more bytes than this does not contain a key.
const LONGEST_KEY: usize = 32 * 1024;
const LONGEST_LABEL: usize = 48;
/// The longest segment of a web token. Segments with certificates reach some kilobytes.
const LONGEST_SEGMENT: usize = 16 * 1024;

/// Finds a private key whose `-----BEGIN ` is at `at`: the whole key with its frame, even if it is cut off. Line breaks
/// may be real, escaped (`\n` inside JSON) or decorated (quotes, `> `, line numbers).
pub fn private_key(text: &[u8], at: usize, floor: usize) -> Option<Hit> {
    let rest = &text[at..];
    if is_end(rest) {
        return beheaded(text, at, floor);
    }
    let label = rest.strip_prefix(b"-----BEGIN ").or_else(|| rest.strip_prefix(b"---- BEGIN "))?;
    let label = &label[..label.len().min(LONGEST_LABEL)];
    let label = &label[..memmem::find(label, b"----")?];
    if !names_private(label) {
        return None;
    }
    let body = 11 + label.len() + 4;
    let body = body + run(&rest[body..], super::classes::DASH, 1);
    let window = &rest[body..rest.len().min(body + LONGEST_KEY)];
    let end = match memmem::find(window, b"----") {
        Some(length) if is_end(&window[length..]) => {
            if !is_body(&window[..length]) {
                return None;
            }
            let tail = &window[length..];
            let closing = 9 + memmem::find(&tail[9..tail.len().min(9 + LONGEST_LABEL)], b"----")?;
            body + length + closing + run(&tail[closing..], super::classes::DASH, 5)
        }
        _ => body + cut_off_body(window)?,
    };
    Some(Hit { start: at, end: at + end, kind: "private-key" })
}

/// Finds a key whose first lines are missing: from the lines of base64 above `-----END … PRIVATE KEY-----` at `at`.
fn beheaded(text: &[u8], at: usize, floor: usize) -> Option<Hit> {
    let label = text.get(at + 9..text.len().min(at + 9 + LONGEST_LABEL))?;
    let closing = memmem::find(label, b"----")?;
    if !names_private(&label[..closing]) {
        return None;
    }
    let end = at + 9 + closing + run(&label[closing..], super::classes::DASH, 5);
    let (mut start, mut line_end) = (None, at);
    let lowest = floor.max(at.saturating_sub(LONGEST_KEY));
    // The text before the mark on the same line is a prefix such as `file:12:`, or the whole key.
    let mut own = true;
    let mut plausible = false;
    loop {
        let line_start = line_start(text, lowest, line_end);
        let line = &text[line_start..line_end];
        match body_of(line, start.is_none()) {
            Some(body) => {
                start = Some(line_start + body.start);
                plausible |= body.len() >= 16 && !profile(&line[body]).is_filler();
            }
            None if own || is_filling(line) => {}
            None => break,
        }
        own = false;
        let Some(above) = before_break(text, lowest, line_start) else { break };
        line_end = above;
    }
    plausible.then_some(Hit { start: start?, end, kind: "private-key" })
}

/// How far back the beginning of a line is searched for. Only a body without line breaks, which is all base64, is
/// longer.
const WIDEST_LINE: usize = 400;

fn line_start(text: &[u8], lowest: usize, end: usize) -> usize {
    let marks = text[lowest..end].iter().rev().take(16).take_while(|byte| !is(**byte, BASE64)).count();
    let body = end - marks - run_back(&text[lowest..end - marks], BASE64, LONGEST_KEY);
    let window = &text[lowest.max(body.saturating_sub(WIDEST_LINE))..end];
    let first = end - window.len();
    let real = memchr::memrchr(b'\n', window).map_or(0, |at| at + 1);
    let escaped = [&b"\\n"[..], b"\\r"].iter().filter_map(|mark| memmem::rfind(&window[real..], mark)).max();
    first + real + escaped.map_or(0, |at| at + 2)
}

/// Returns where the previous line ends, if there is a line break before `at`.
fn before_break(text: &[u8], lowest: usize, at: usize) -> Option<usize> {
    let before = &text[lowest..at];
    let length = match before.last()? {
        b'\n' => 1,
        _ => 1 + before[..before.len() - 1].iter().rev().take(8).take_while(|byte| **byte == b'\\').count(),
    };
    (before.len() > length).then(|| at - length)
}

/// Finds a key without a frame, by what its first bytes decode to: `openssh-key-v1`, or the ASN.1 of a private key.
pub fn bare_key(text: &[u8], at: usize) -> Option<Hit> {
    const WHOLE: [&[u8]; 6] = [
        b"b3BlbnNzaC1rZXktdjE",
        b"MHcCAQEEI",
        b"MHQCAQEEI",
        b"MIGHAgEAMBMGByqGSM49",
        b"MC4CAQAwBQYDK2Vw",
        b"MIHcAgEBBE",
    ];
    const INNER: [&[u8]; 2] = [b"IBAAKC", b"IBADANBgkqhki"];
    let rest = &text[at..];
    let known = WHOLE.iter().any(|known| rest.starts_with(known))
        || rest.starts_with(b"MII") && INNER.iter().any(|inner| rest[6.min(rest.len())..].starts_with(inner));
    if !known {
        return None;
    }
    let end = cut_off_body(&rest[..rest.len().min(LONGEST_KEY)])?;
    (end >= 40).then_some(Hit { start: at, end: at + end, kind: "private-key" })
}

/// Finds the lines after `Private-Lines: n` in a PuTTY key file. `at` is after the colon.
pub fn putty_lines(text: &[u8], at: usize) -> Option<Hit> {
    let start = at + text[at..].iter().take(16).position(|byte| *byte == b'\n')? + 1;
    let end = start + cut_off_body(&text[start..text.len().min(start + LONGEST_KEY)])?;
    Some(Hit { start, end, kind: "private-key" })
}

/// Finds a web token (or an encrypted one, with five parts) that starts with `eyJ` at `at`.
pub fn web_token(text: &[u8], at: usize) -> Option<Hit> {
    let rest = text[at..].strip_prefix(b"eyJ")?;
    let head = run(rest, BASE64_URL, LONGEST_SEGMENT);
    if head < 8 || byte(rest, head) != b'.' {
        return None;
    }
    let mut end = head;
    let mut segments = 0;
    while segments < 4 && byte(rest, end) == b'.' {
        let length = run(&rest[end + 1..], BASE64_URL, LONGEST_SEGMENT);
        // Only the second part of an encrypted token may be empty.
        if length == 0 && (segments > 0 || !is(byte(rest, end + 2), BASE64_URL)) {
            break;
        }
        end += 1 + length;
        segments += 1;
    }
    let payload = rest.get(head + 1..end)?;
    let plausible =
        payload.len() >= 8 && (payload.starts_with(b"eyJ") || (segments >= 2 && payload.len() >= 24));
    plausible.then_some(Hit { start: at, end: at + 3 + end, kind: "jwt" })
}

fn names_private(label: &[u8]) -> bool {
    [&b"PRIVATE KEY"[..], b"OpenVPN Static key"].iter().any(|name| memmem::find(label, name).is_some())
}

fn is_end(text: &[u8]) -> bool {
    text.starts_with(b"-----END ") || text.starts_with(b"---- END ")
}

/// Whether a text can be the body of a key between its frames. Source code that only mentions the frames contains
/// brackets and similar characters.
fn is_body(body: &[u8]) -> bool {
    let foreign =
        |byte: &u8| matches!(byte, b'(' | b')' | b'{' | b'}' | b'[' | b']' | b';' | b'<' | b'$' | b'&');
    longest_run(body).0 >= 12 && !profile(body).is_filler() && !body.iter().any(foreign)
}

/// Returns the length of the lines that still look like a key if the end of the key is missing. A line counts if it
/// ends with a long base64 run (whatever decorates it), is blank, or is a header such as `Proc-Type: 4,ENCRYPTED`.
fn cut_off_body(text: &[u8]) -> Option<usize> {
    let (mut at, mut end) = (0, None);
    loop {
        let line = &text[at..at + line_length(&text[at..])];
        if let Some(body) = body_of(line, end.is_some()) {
            end = Some(at + body.end);
        } else if !is_filling(line) {
            return end;
        }
        let step = break_length(&text[at + line.len()..]);
        if step == 0 {
            return end;
        }
        at += line.len() + step;
    }
}

/// Returns the base64 at the end of a line, after any prefix that a tool may add: `file:12:`, `12→`, `+`, `> `, quotes.
/// The last line of a key can be short.
fn body_of(line: &[u8], may_be_last: bool) -> Option<Range<usize>> {
    let closing = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`,;\\+|".contains(byte);
    let end = line.len() - line.iter().rev().take(16).take_while(|byte| closing(byte)).count();
    let length = run_back(&line[..end], BASE64, LONGEST_KEY);
    let (prefix, body) = line[..end].split_at(end - length);
    // The `+` that a diff adds is a base64 character too.
    let mark = usize::from(prefix.is_empty() && body.first() == Some(&b'+'));
    let decorated = !prefix.iter().any(|byte| is(*byte, LETTER));
    let placed = prefix.len() < WIDEST_LINE
        && matches!(prefix.last(), Some(b':' | b'-' | b'|' | b' ' | b'\t' | b'"' | b'\'' | 0x80..));
    let long = length >= 16 && (decorated || placed && (length >= 48 || profile(body).is_random()));
    let short = may_be_last && length >= 4 && (decorated || placed && body.ends_with(b"="));
    (long || short).then_some(end - length + mark..end)
}

fn is_filling(line: &[u8]) -> bool {
    let headers: [&[u8]; 6] = [b"Proc-Type:", b"DEK-Info:", b"Version:", b"Comment:", b"Hash:", b"Charset:"];
    line.len() < 120
        && (line.iter().all(|byte| !is(*byte, BASE64) || byte.is_ascii_digit())
            || headers.iter().any(|header| memmem::find(line, header).is_some()))
}

/// Returns the length of the longest base64 run of a line, and where it ends.
fn longest_run(line: &[u8]) -> (usize, usize) {
    let (mut longest, mut end, mut at) = (0, 0, 0);
    while at < line.len() {
        let length = run(&line[at..], BASE64, LONGEST_KEY);
        if length > longest {
            (longest, end) = (length, at + length);
        }
        at += length + 1;
    }
    (longest, end)
}

/// Returns the length up to a real line break or an escaped one.
fn line_length(text: &[u8]) -> usize {
    memchr::memchr2_iter(b'\n', b'\\', text)
        .find(|at| text[*at] == b'\n' || matches!(text.get(at + 1), Some(b'n' | b'r' | b'\\')))
        .unwrap_or(text.len())
}

/// Returns the length of one line break: `\n`, or any number of backslashes with `n` or `r`.
pub fn break_length(text: &[u8]) -> usize {
    let slashes = text.iter().take(8).take_while(|byte| **byte == b'\\').count();
    match text.get(slashes) {
        Some(b'\n') if slashes == 0 => 1,
        Some(b'n' | b'r') if slashes > 0 => slashes + 1,
        _ => 0,
    }
}
