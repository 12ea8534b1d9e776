//! Key material in a recognisable format: private keys in the PEM, OpenSSH, PGP and PuTTY formats, and JSON Web
//! Tokens.

use std::ops::Range;

use memchr::memmem;

use super::FoundSecret;
use super::chance::profile_value;
use super::classes::{
    BASE64, BASE64_URL, LETTER, byte_or_newline, class_run_length, class_run_length_at_end, is_byte_in_class,
};

/// The maximum length of a private key. All keys in use are shorter, so longer text between two frame lines is not a
/// key.
const MAX_KEY_BYTES: usize = 32 * 1024;
const MAX_LABEL_BYTES: usize = 48;
/// The maximum length of one segment of a web token. Segments that contain certificates are several kilobytes long.
const MAX_WEB_TOKEN_SEGMENT_BYTES: usize = 16 * 1024;

/// Finds a private key whose `-----BEGIN ` is at `at`. The hit includes the `BEGIN` and `END` lines. A key without an
/// `END` line is also found. Line breaks may be real, escaped (`\n` inside JSON) or decorated (quotes, `> `, line
/// numbers).
pub fn private_key(text: &[u8], at: usize, floor: usize) -> Option<FoundSecret> {
    let rest = &text[at..];
    if is_end_frame(rest) {
        return key_without_first_lines(text, at, floor);
    }
    let label = rest.strip_prefix(b"-----BEGIN ").or_else(|| rest.strip_prefix(b"---- BEGIN "))?;
    let label = &label[..label.len().min(MAX_LABEL_BYTES)];
    let label = &label[..memmem::find(label, b"----")?];
    if !is_private_label(label) {
        return None;
    }
    let body = 11 + label.len() + 4;
    let body = body + class_run_length(&rest[body..], super::classes::DASH, 1);
    let window = &rest[body..rest.len().min(body + MAX_KEY_BYTES)];
    let end = match memmem::find(window, b"----") {
        Some(length) if is_end_frame(&window[length..]) => {
            if !is_key_body(&window[..length]) {
                return None;
            }
            let tail = &window[length..];
            let closing = 9 + memmem::find(&tail[9..tail.len().min(9 + MAX_LABEL_BYTES)], b"----")?;
            body + length + closing + class_run_length(&tail[closing..], super::classes::DASH, 5)
        }
        _ => body + length_of_lines_joined_by_blanks(window).or_else(|| cut_off_body_length(window))?,
    };
    Some(FoundSecret { start: at, end: at + end, kind: "private-key" })
}

/// Returns the length of a key whose line breaks became blanks, as in an environment variable with
/// ` MIIE… 72ys… PC8c…`.
fn length_of_lines_joined_by_blanks(text: &[u8]) -> Option<usize> {
    const MIN_KEY_LINE_BYTES: usize = 40;
    let (mut end, mut lines) = (0, 0);
    while byte_or_newline(text, end) == b' ' {
        let length = class_run_length(&text[end + 1..], BASE64, MAX_KEY_BYTES);
        let last =
            lines > 0 && length >= 4 && profile_value(&text[end + 1..end + 1 + length]).letters() < length;
        if length < MIN_KEY_LINE_BYTES && !last {
            break;
        }
        (end, lines) = (end + 1 + length, lines + 1);
    }
    (lines > 1).then_some(end)
}

/// Finds a key whose first lines are missing. The key consists of the base64 lines above `-----END … PRIVATE KEY-----`
/// at `at`.
fn key_without_first_lines(text: &[u8], at: usize, floor: usize) -> Option<FoundSecret> {
    let label = text.get(at + 9..text.len().min(at + 9 + MAX_LABEL_BYTES))?;
    let closing = memmem::find(label, b"----")?;
    if !is_private_label(&label[..closing]) {
        return None;
    }
    let end = at + 9 + closing + class_run_length(&label[closing..], super::classes::DASH, 5);
    let (mut start, mut line_end) = (None, at);
    let lowest = floor.max(at.saturating_sub(MAX_KEY_BYTES));
    // The text before the end mark on the same line may be a prefix such as `file:12:` or the whole key.
    let mut own = true;
    let mut plausible = false;
    loop {
        let line_start = line_start(text, lowest, line_end);
        let line = &text[line_start..line_end];
        match base64_of_line(line, start.is_none()) {
            Some(body) => {
                start = Some(line_start + body.start);
                plausible |= body.len() >= 16 && !profile_value(&line[body]).is_filler();
            }
            None if own || is_line_inside_key(line) => {}
            None => break,
        }
        own = false;
        let Some(above) = end_of_previous_line(text, lowest, line_start) else { break };
        line_end = above;
    }
    plausible.then_some(FoundSecret { start: start?, end, kind: "private-key" })
}

/// The maximum number of bytes between the start of a line and its base64 text.
const MAX_LINE_BYTES: usize = 400;

fn line_start(text: &[u8], lowest: usize, end: usize) -> usize {
    let marks =
        text[lowest..end].iter().rev().take(16).take_while(|byte| !is_byte_in_class(**byte, BASE64)).count();
    let body = end - marks - class_run_length_at_end(&text[lowest..end - marks], BASE64, MAX_KEY_BYTES);
    let window = &text[lowest.max(body.saturating_sub(MAX_LINE_BYTES))..end];
    let first = end - window.len();
    let real = memchr::memrchr(b'\n', window).map_or(0, |at| at + 1);
    let escaped = [&b"\\n"[..], b"\\r"].iter().filter_map(|mark| memmem::rfind(&window[real..], mark)).max();
    first + real + escaped.map_or(0, |at| at + 2)
}

/// Returns the end of the previous line, or `None` if no line break comes before `at`.
fn end_of_previous_line(text: &[u8], lowest: usize, at: usize) -> Option<usize> {
    let before = &text[lowest..at];
    let length = match before.last()? {
        b'\n' => 1,
        _ => 1 + before[..before.len() - 1].iter().rev().take(8).take_while(|byte| **byte == b'\\').count(),
    };
    (before.len() > length).then(|| at - length)
}

/// Finds a private key that has no `BEGIN` and `END` lines. Such a key is identified by its first characters, which
/// encode `openssh-key-v1` or the ASN.1 header of a private key.
pub fn private_key_without_frame(text: &[u8], at: usize) -> Option<FoundSecret> {
    const KEY_BEGINNINGS: [&[u8]; 6] = [
        b"b3BlbnNzaC1rZXktdjE",
        b"MHcCAQEEI",
        b"MHQCAQEEI",
        b"MIGHAgEAMBMGByqGSM49",
        b"MC4CAQAwBQYDK2Vw",
        b"MIHcAgEBBE",
    ];
    const INNER_KEY_BEGINNINGS: [&[u8]; 2] = [b"IBAAKC", b"IBADANBgkqhki"];
    let rest = &text[at..];
    let known = KEY_BEGINNINGS.iter().any(|known| rest.starts_with(known))
        || rest.starts_with(b"MII")
            && INNER_KEY_BEGINNINGS.iter().any(|inner| rest[6.min(rest.len())..].starts_with(inner));
    if !known {
        return None;
    }
    let end = cut_off_body_length(&rest[..rest.len().min(MAX_KEY_BYTES)])?;
    (end >= 40).then_some(FoundSecret { start: at, end: at + end, kind: "private-key" })
}

/// Finds the lines after `Private-Lines: n` in a PuTTY key file. `at` is just after the colon.
pub fn putty_key_lines(text: &[u8], at: usize) -> Option<FoundSecret> {
    let start = at + text[at..].iter().take(16).position(|byte| *byte == b'\n')? + 1;
    let end = start + cut_off_body_length(&text[start..text.len().min(start + MAX_KEY_BYTES)])?;
    Some(FoundSecret { start, end, kind: "private-key" })
}

/// Finds a JSON Web Token that starts with `eyJ` at `at`. An encrypted token has five parts.
pub fn json_web_token(text: &[u8], at: usize) -> Option<FoundSecret> {
    let rest = text[at..].strip_prefix(b"eyJ")?;
    let head = class_run_length(rest, BASE64_URL, MAX_WEB_TOKEN_SEGMENT_BYTES);
    if head < 8 || byte_or_newline(rest, head) != b'.' {
        return None;
    }
    let mut end = head;
    let mut segments = 0;
    while segments < 4 && byte_or_newline(rest, end) == b'.' {
        let length = class_run_length(&rest[end + 1..], BASE64_URL, MAX_WEB_TOKEN_SEGMENT_BYTES);
        // Only the second part may be empty. It is empty in some encrypted tokens.
        if length == 0 && (segments > 0 || !is_byte_in_class(byte_or_newline(rest, end + 2), BASE64_URL)) {
            break;
        }
        end += 1 + length;
        segments += 1;
    }
    let payload = rest.get(head + 1..end)?;
    let plausible =
        payload.len() >= 8 && (payload.starts_with(b"eyJ") || (segments >= 2 && payload.len() >= 24));
    plausible.then_some(FoundSecret { start: at, end: at + 3 + end, kind: "jwt" })
}

fn is_private_label(label: &[u8]) -> bool {
    [&b"PRIVATE KEY"[..], b"OpenVPN Static key"].iter().any(|name| memmem::find(label, name).is_some())
}

fn is_end_frame(text: &[u8]) -> bool {
    text.starts_with(b"-----END ") || text.starts_with(b"---- END ")
}

/// Returns whether `body` can be the body of a key. Source code that only mentions the `BEGIN` and `END` lines contains
/// brackets and similar characters.
fn is_key_body(body: &[u8]) -> bool {
    let foreign =
        |byte: &u8| matches!(byte, b'(' | b')' | b'{' | b'}' | b'[' | b']' | b';' | b'<' | b'$' | b'&');
    longest_base64_run(body).0 >= 12 && !profile_value(body).is_filler() && !body.iter().any(foreign)
}

/// Returns the length of the lines that belong to a key whose end is missing. Each of them ends with a long base64 run,
/// is blank, or is a header such as `Proc-Type: 4,ENCRYPTED`.
fn cut_off_body_length(text: &[u8]) -> Option<usize> {
    let (mut at, mut end) = (0, None);
    loop {
        let line = &text[at..at + line_length(&text[at..])];
        if let Some(body) = base64_of_line(line, end.is_some()) {
            end = Some(at + body.end);
        } else if !is_line_inside_key(line) {
            return end;
        }
        let step = line_break_length_at_start(&text[at + line.len()..]);
        if step == 0 {
            return end;
        }
        at += line.len() + step;
    }
}

/// Returns the base64 at the end of a line, after any prefix that a tool adds, such as `file:12:`, `12→`, `+`, `> ` or
/// a quote. The last line of a key may be short.
fn base64_of_line(line: &[u8], may_be_last: bool) -> Option<Range<usize>> {
    let closing = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`,;\\+|".contains(byte);
    let end = line.len() - line.iter().rev().take(16).take_while(|byte| closing(byte)).count();
    let length = class_run_length_at_end(&line[..end], BASE64, MAX_KEY_BYTES);
    let (prefix, body) = line[..end].split_at(end - length);
    // A `+` at the start of the line comes from a diff, although it is also a base64 character.
    let mark = usize::from(prefix.is_empty() && body.first() == Some(&b'+'));
    let decorated = !prefix.iter().any(|byte| is_byte_in_class(*byte, LETTER));
    let placed = prefix.len() < MAX_LINE_BYTES
        && matches!(prefix.last(), Some(b':' | b'-' | b'|' | b' ' | b'\t' | b'"' | b'\'' | 0x80..));
    let long = length >= 16 && (decorated || placed && (length >= 48 || profile_value(body).looks_random()));
    let short = may_be_last && length >= 4 && (decorated || placed && body.ends_with(b"="));
    (long || short).then_some(end - length + mark..end)
}

fn is_line_inside_key(line: &[u8]) -> bool {
    let headers: [&[u8]; 6] = [b"Proc-Type:", b"DEK-Info:", b"Version:", b"Comment:", b"Hash:", b"Charset:"];
    line.len() < 120
        && (line.iter().all(|byte| !is_byte_in_class(*byte, BASE64) || byte.is_ascii_digit())
            || headers.iter().any(|header| memmem::find(line, header).is_some()))
}

/// Returns the length and the end of the longest base64 run in a line.
fn longest_base64_run(line: &[u8]) -> (usize, usize) {
    let (mut longest, mut end, mut at) = (0, 0, 0);
    while at < line.len() {
        let length = class_run_length(&line[at..], BASE64, MAX_KEY_BYTES);
        if length > longest {
            (longest, end) = (length, at + length);
        }
        at += length + 1;
    }
    (longest, end)
}

/// Returns the length of the text before the first real or escaped line break.
fn line_length(text: &[u8]) -> usize {
    memchr::memchr2_iter(b'\n', b'\\', text)
        .find(|at| text[*at] == b'\n' || matches!(text.get(at + 1), Some(b'n' | b'r' | b'\\')))
        .unwrap_or(text.len())
}

/// Returns the length of the line break at the start of `text`: a newline, or up to eight backslashes with `n` or `r`.
pub fn line_break_length_at_start(text: &[u8]) -> usize {
    let slashes = text.iter().take(8).take_while(|byte| **byte == b'\\').count();
    match text.get(slashes) {
        Some(b'\n') if slashes == 0 => 1,
        Some(b'n' | b'r') if slashes > 0 => slashes + 1,
        _ => 0,
    }
}
