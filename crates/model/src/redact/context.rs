//! Secrets that are recognised by their surroundings and not by their own name: cookies, codes in a URL, the private
//! numbers of a JSON Web Key, and a value on the line below its name.

use memchr::memmem;

use super::chance::profile_value;
use super::classes::{
    BASE64_URL, ByteClass, DOT, EQUALS, LOWER, PERCENT, PLUS, SLASH, TILDE, byte_or_newline,
    class_run_length, count_blanks, ends_with_ignore_case, starts_with_ignore_case,
};
use super::names::{self, NameStrength, NameVerdict};
use super::values::{self, LiteralValue, ValueContext};
use super::{FoundSecret, commands, flags, keys, languages, made_up, named, pairs};

const COOKIE_CLASS: ByteClass = BASE64_URL | DOT | PERCENT | PLUS | SLASH | TILDE;
/// The minimum length of a session id. A shorter value is probably an ordinary setting.
const MIN_SESSION_ID_BYTES: usize = 16;
/// The maximum length of a header with all its cookies.
const MAX_COOKIE_HEADER_BYTES: usize = 2 * 1024;
/// The minimum length of a private number in a JSON Web Key, which encodes at least 32 bytes in base64.
const MIN_PRIVATE_NUMBER_BYTES: usize = 40;
/// The maximum distance in bytes between a private number and the `kty` member of the same JSON Web Key.
const MAX_WEB_KEY_BYTES: usize = 3 * 1024;
const MAX_LINE_BYTES: usize = 200;

/// Finds the secret after a name that may also come before an ordinary value, so that the context must decide.
/// `text[start..end]` is the name, and `at` is the position of the `=` or `:` after it.
#[inline]
pub fn secret_told_by_context(text: &[u8], start: usize, end: usize, at: usize) -> Option<FoundSecret> {
    let opened = start.checked_sub(1).map_or(b'\n', |before| text[before]);
    match (text[at], opened) {
        (b'=', b'?' | b'&') if end == at => secret_in_query(text, start, at),
        (b'=', b'\n') if end == at && is_session_name(&text[start..end]) => secret_in_session_pair(text, at),
        (b'=', b' ' | b'"' | b'\'' | b':') if end == at && cookie_length(&text[at + 1..], 8) == 8 => {
            secret_in_cookie(text, start, at)
        }
        (b':', b' ' | b'\n' | b',' | b'|') if matches!(&text[start..end], b"p" | b"P") && end == at => {
            pairs::password_after_short_label(text, start, at)
        }
        (b':', b' ' | b'\'') if &text[start..end] == b"API" => {
            languages::secret_after_api_key_words(text, start, at)
        }
        (b':', _) if end - start <= 2 && end < at => secret_in_web_key(text, start, end, at),
        (b':', b'"' | b'\'') if is_session_name(&text[start..end]) => secret_in_cookie(text, start, at),
        (b':', b'"') if text[start..end].contains(&b'.') => secret_of_host(text, start, at),
        (b':', b'=')
            if end == at && (text[..start].ends_with(b"user=") || text[..start].ends_with(b"login=")) =>
        {
            pairs::password_in_assigned_pair(text, at)
        }
        (b':', _) if byte_or_newline(text, at + 1) == b'\n' => secret_in_announced_line(text, at),
        (b':', b' ' | b'`' | b'"' | b'\'' | b'(') if end == at && byte_or_newline(text, at + 1) > b' ' => {
            pairs::password_after_colon(text, start, at)
        }
        (b'=', b';') if &text[start..end] == b"issecret" => secret_in_masked_variable(text, at),
        (b':', _) if text[at + 1..].starts_with(b" EAP \"") || text[at + 1..].starts_with(b" XAUTH \"") => {
            flags::secret_as_whole_argument(
                text,
                at + 1 + text[at + 1..].iter().position(|byte| *byte == b'"')?,
            )
        }
        (b':', b'@') if &text[start..end] == b"localhost" => secret_in_generated_line(text, at),
        (b':', b'@') if end == at && text[start..end].contains(&b'.') => secret_after_address(text, at),
        (b':', b'/') if end == at => commands::secret_in_slash_flag(text, start, at),
        (b':', b';') if &text[start..end] == b"P" => secret_in_wifi_code(text, at),
        (b':', _) if &text[start..end] == b"PIN" => pin_after_colon(text, at),
        (b'=', b' ') if &text[start..end] == b"name" => secret_in_form_field(text, start, at),
        (b':', b' ')
            if end == at && text[at + 1..].starts_with(b" ") && is_below_passwords(&text[..start]) =>
        {
            flags::secret_as_whole_argument(text, at + 2)
        }
        (b':', b' ') if text[..start].ends_with(b" for ") || text[..start].ends_with(b" of ") => {
            commands::answer_to_password_prompt(text, at)
        }
        (b':', b'/' | b'.' | b'@' | b'\\' | b'\'') if byte_or_newline(text, at + 1) == b' ' => {
            commands::answer_to_password_prompt(text, at)
        }
        _ => None,
    }
}

/// Finds the value in `::add-mask::x` in a GitHub workflow, or a password that an installer prints below a line such as
/// `… the following password:`. `at` points to the last colon.
pub fn secret_in_announced_line(text: &[u8], at: usize) -> Option<FoundSecret> {
    if text[..at].ends_with(b"::add-mask:") {
        return flags::quoted_or_random_secret(text, at + 1);
    }
    if byte_or_newline(text, at + 1) != b'\n' {
        return None;
    }
    let value = value_on_next_line(text, at + 1)?;
    let line = text_after_last_break(&text[at.saturating_sub(MAX_LINE_BYTES)..at]);
    let verdict = NameVerdict { strength: NameStrength::Password, kind: "password" };
    let content = &text[value.start..value.end];
    let told = content.len() >= 12 && !content.contains(&b':') && memmem::find(line, b"assword").is_some();
    if told {
        named::hit_if_secret(
            text,
            value,
            verdict,
            ValueContext { is_doubtful_form: true, ..ValueContext::default() },
        )
    } else {
        None
    }
}

/// Finds the token in `"github-oauth": {"github.com": "x"}`, where a host comes between the name and the token. The
/// host starts at `start`.
fn secret_of_host(text: &[u8], start: usize, at: usize) -> Option<FoundSecret> {
    let before =
        text[start.saturating_sub(80)..start - 1].trim_ascii_end().strip_suffix(b"{")?.trim_ascii_end();
    let name = before.strip_suffix(b":")?.trim_ascii_end().strip_suffix(b"\"")?;
    let name = &name[name.len() - super::classes::class_run_length_at_end(name, BASE64_URL, 40)..];
    let told = names::judge_name(name).is_some() || name.ends_with(b"oauth") || name == b"bearer";
    let value = values::literal_value_at(text, at + 1 + count_blanks(&text[at + 1..], 4))
        .filter(|value| value.is_quoted && told)?;
    let verdict = NameVerdict { strength: NameStrength::Secret, kind: "token" };
    named::hit_if_secret(text, value, verdict, ValueContext::default())
}

/// Finds the value in `##vso[task.setvariable variable=NAME;issecret=true]x`, a log line of Azure Pipelines.
fn secret_in_masked_variable(text: &[u8], at: usize) -> Option<FoundSecret> {
    let close = text[at..].iter().take(60).position(|byte| matches!(byte, b']' | b'\n'))?;
    (text[at + close] == b']').then(|| flags::secret_as_whole_argument(text, at + close + 1))?
}

/// Finds a wallet's recovery phrase of twelve words or more, as in `seed phrase: actor island canyon …` and
/// `the mnemonic is "…"`. The noun ends at `end`.
pub fn recovery_phrase(text: &[u8], end: usize) -> Option<FoundSecret> {
    const MIN_SEED_PHRASE_WORDS: usize = 12;
    let marks = text[end..].iter().take(32).take_while(|byte| b" :=\n\r\"'`*-".contains(byte)).count();
    let verb = ["is", "are", "was", "(12 words)", "(24 words)"]
        .iter()
        .find(|verb| text[end + marks..].starts_with(verb.as_bytes()));
    let start = end + marks + verb.map_or(0, |verb| verb.len());
    let start =
        start + text[start..].iter().take(8).take_while(|byte| b" :=\n\r\"'`*".contains(byte)).count();
    let (mut end, mut words) = (start, 0);
    loop {
        let next = end + usize::from(words > 0);
        let length = class_run_length(&text[next.min(text.len())..], LOWER, 9);
        if !(3..=8).contains(&length) || words > 0 && text[end] != b' ' {
            break;
        }
        (end, words) = (next + length, words + 1);
    }
    // The words are a seed phrase only if nothing follows them. In a sentence, more words or a punctuation mark would
    // follow.
    let alone = words >= MIN_SEED_PHRASE_WORDS
        && matches!(byte_or_newline(text, end), b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\' | 0);
    alone.then_some(FoundSecret { start, end, kind: "password" })
}

/// Finds the password in `A temporary password is generated for root@localhost: x`, which MySQL prints at its first
/// start. The password can contain punctuation.
fn secret_in_generated_line(text: &[u8], at: usize) -> Option<FoundSecret> {
    let line = text_after_last_break(&text[at.saturating_sub(MAX_LINE_BYTES)..at]);
    let start = at + 1 + count_blanks(&text[at + 1..], 1);
    let length = text[start..].iter().take(64).take_while(|byte| byte.is_ascii_graphic()).count();
    let mixed = profile_value(&text[start..start + length]).class_changes >= 3;
    let told = mixed && memmem::find(line, b"password is generated for").is_some();
    told.then_some(FoundSecret { start, end: start + length, kind: "password" })
}

/// Returns the only word on the next line, such as the key below `api_key:`. A value in a YAML block
/// (`password: |`) is treated as quoted.
pub fn value_on_next_line(text: &[u8], at: usize) -> Option<LiteralValue> {
    let block = block_mark_length(text.get(at..)?);
    // In Python the value may be in brackets, as in `PASSWORD = (`.
    let mut at = at + block + usize::from(byte_or_newline(text, at) == b'(');
    // PHP's `var_dump` prints `["password"]=>` on one line and `string(14) "x"` on the next. The type is skipped below.
    let step = keys::line_break_length_at_start(text.get(at..)?);
    if step == 0 {
        return None;
    }
    at += step;
    at += keys::line_break_length_at_start(&text[at..]);
    at += count_blanks(&text[at..], 40);
    // The value may follow a `> ` prompt or be in a code block.
    if let Some(fenced) = text[at..].strip_prefix(b"```") {
        at = text.len() - fenced.len() + class_run_length(fenced, LOWER, 12);
        at += keys::line_break_length_at_start(&text[at..]);
    } else if text[at..].starts_with(b"> ") {
        at += 2;
    }
    if let Some(typed) = text[at..].strip_prefix(b"string(") {
        let digits = class_run_length(typed, super::classes::DIGIT, 5);
        at += if typed[digits..].starts_with(b") ") { 9 + digits } else { 0 };
    }
    let value = values::literal_value_at(text, at)?;
    let rest = &text[value.end..];
    let alone =
        rest.is_empty() || byte_or_newline(rest, 0) == b'"' || keys::line_break_length_at_start(rest) > 0;
    // Some programs print JSON with `"password":` on one line and the value on the next.
    let quoted = value.is_quoted && block == 0 && matches!(byte_or_newline(rest, 0), b'"' | b'\'');
    (alone && !value.is_quoted || quoted).then_some(LiteralValue { is_quoted: block > 0 || quoted, ..value })
}

/// Returns the length of the mark that opens a block, such as `|`, `>-`, `<<EOT` or three quotes.
fn block_mark_length(text: &[u8]) -> usize {
    match byte_or_newline(text, 0) {
        b'|' | b'>' => 1 + usize::from(matches!(byte_or_newline(text, 1), b'-' | b'+')),
        b'<' if text.starts_with(b"<<") => 2 + class_run_length(&text[2..], BASE64_URL, 16),
        b'"' | b'\'' if text.starts_with(b"\"\"\"\n") || text.starts_with(b"'''\n") => 3,
        b'"' | b'\'' if text.starts_with(b"\"\"\"\\\n") || text.starts_with(b"'''\\\n") => 4,
        _ => 0,
    }
}

/// Finds the authorization code in `?code=x`, or the value of `appid` or `token_hash`.
fn secret_in_query(text: &[u8], start: usize, at: usize) -> Option<FoundSecret> {
    let kind = match &text[start..at] {
        b"code" => "oauth-code",
        b"appid" | b"token_hash" => "token",
        _ => return None,
    };
    let value = values::literal_value_at(text, at + 1)?;
    let looks = profile_value(&text[value.start..value.end]);
    let secret = looks.len >= 20 && looks.looks_random();
    secret.then_some(FoundSecret { start: value.start, end: value.end, kind })
}

/// Finds the value in `Cookie: session=x`, `Set-Cookie: sid=x; Path=/` and `curl -b 'sid=x'`. A random value is treated
/// as a session id.
fn secret_in_cookie(text: &[u8], start: usize, at: usize) -> Option<FoundSecret> {
    let after = at + 1 + count_blanks(&text[at + 1..], 1);
    let content = values::opening_quote_at(text, after).map_or(after, |(content, _)| content);
    let named = is_session_name(&text[start..at]);
    let shortest = if named { 10 } else { MIN_SESSION_ID_BYTES };
    if cookie_length(&text[content..], shortest) < shortest {
        return None;
    }
    let line = text_after_last_break(&text[start.saturating_sub(MAX_COOKIE_HEADER_BYTES)..start]);
    if memmem::find(line, b"secrets set ").is_some() {
        return flags::quoted_or_random_secret(text, at + 1); // as in `fly secrets set NAME=x`
    }
    let behind = match memmem::rfind(line, b"ookie") {
        Some(header) => header + 5,
        None => memmem::rfind(line, b" -b ").filter(|_| memmem::find(line, b"curl").is_some())?,
    };
    let code = |byte: &u8| *byte == b'(' || (*byte == b'{' && text[at] == b'=');
    if line[behind..].iter().any(code) {
        return None; // this is code, not a header
    }
    let value = values::literal_value_at(text, after)?;
    let content = &text[value.start..value.end];
    let uuid = content.len() == 36 && content.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
    let joint = ValueContext { is_doubtful_form: true, ..ValueContext::default() };
    // A UUID is a secret only if its name is that of a session id.
    let uuid = uuid && !named;
    let secret = named
        && content.len() >= 10
        && profile_value(content).has_letters_and_digits()
        && !super::contains_bytes(content, b"REDACTED")
        || !uuid && values::is_secret_value(text, value, NameStrength::Secret, joint);
    secret.then_some(FoundSecret { start: value.start, end: value.end, kind: "cookie" })
}

/// Returns the length of a cookie's value, at most `max`. The `s:` at the start of a signed value is not counted.
#[inline]
fn cookie_length(text: &[u8], max: usize) -> usize {
    class_run_length(text.strip_prefix(b"s:").unwrap_or(text), COOKIE_CLASS, max)
}

/// Finds the session id in `PHPSESSID=x; path=/` at the start of a line.
fn secret_in_session_pair(text: &[u8], at: usize) -> Option<FoundSecret> {
    let length = class_run_length(&text[at + 1..], COOKIE_CLASS | EQUALS, MAX_COOKIE_HEADER_BYTES);
    let rest = &text[at + 1 + length..];
    let secret = length >= MIN_SESSION_ID_BYTES
        && rest.starts_with(b";")
        && profile_value(&text[at + 1..at + 1 + length]).looks_random();
    secret.then_some(FoundSecret { start: at + 1, end: at + 1 + length, kind: "cookie" })
}

/// Returns whether a session id is usually stored under this name. Examples are `sessionid`, `PHPSESSID` and
/// `connect.sid`.
fn is_session_name(name: &[u8]) -> bool {
    let known = |at: usize| starts_with_ignore_case(&name[at..], "sess");
    ends_with_ignore_case(name, "sid") || (0..name.len()).any(known) || name.starts_with(b".AspNet")
}

/// Finds a private number of a JSON Web Key, such as the value of `"d":"x"` in an object with `"kty"`.
fn secret_in_web_key(text: &[u8], start: usize, end: usize, at: usize) -> Option<FoundSecret> {
    if !matches!(&text[start..end], b"d" | b"p" | b"q" | b"dp" | b"dq" | b"qi" | b"k") {
        return None;
    }
    let (start, _) = values::opening_quote_at(text, at + 1 + count_blanks(&text[at + 1..], 4))?;
    let length = class_run_length(&text[start..], BASE64_URL, MAX_COOKIE_HEADER_BYTES);
    let around = &text[start.saturating_sub(MAX_WEB_KEY_BYTES)..text.len().min(start + MAX_WEB_KEY_BYTES)];
    let secret = length >= MIN_PRIVATE_NUMBER_BYTES
        && matches!(byte_or_newline(text, start + length), b'"' | b'\'' | b'\\')
        && memmem::find(around, b"kty").is_some();
    secret.then_some(FoundSecret { start, end: start + length, kind: "private-key" })
}

/// Finds the password in `someone@example.com:x`, as written in lists of accounts and in `/etc/postfix/sasl_passwd`.
fn secret_after_address(text: &[u8], at: usize) -> Option<FoundSecret> {
    let length = text[at + 1..].iter().take(64).take_while(|byte| byte.is_ascii_graphic()).count();
    let content = &text[at + 1..at + 1 + length];
    let looks = profile_value(content);
    let words = || made_up::consists_of_joined_words(content) && looks.digits > 0;
    let plausible = (looks.looks_random() && looks.has_letters_and_digits() || words())
        && !content.iter().all(u8::is_ascii_hexdigit)
        && !content.contains(&b'/')
        && (!content.contains(&b'.') || made_up::consists_of_everyday_nouns(content));
    (length >= 8 && plausible).then_some(FoundSecret {
        start: at + 1,
        end: at + 1 + length,
        kind: "password",
    })
}

/// Finds the number in `PIN: 482193` and in `Debugger PIN: 123-456-789`. Anybody who knows a debugger's PIN can run
/// code.
fn pin_after_colon(text: &[u8], at: usize) -> Option<FoundSecret> {
    let start = at + 1 + count_blanks(&text[at + 1..], 2);
    let length =
        text[start..].iter().take(16).take_while(|byte| byte.is_ascii_digit() || **byte == b'-').count();
    let dashed = text[start..start + length].contains(&b'-');
    let plausible = dashed && length >= 9 && text[..at].ends_with(b"Debugger PIN")
        || !dashed
            && (4..=8).contains(&length)
            && start > at + 1
            && matches!(byte_or_newline(text, start + length), b'\n' | b'\r' | b' ' | b',' | b')');
    plausible.then_some(FoundSecret { start, end: start + length, kind: "password" })
}

/// Returns whether a line is indented below `passwords:`. Such a line contains a name and a password.
fn is_below_passwords(before: &[u8]) -> bool {
    let before = &before[before.len().saturating_sub(MAX_LINE_BYTES)..];
    let indent = before.iter().rev().take_while(|byte| **byte == b' ').count();
    if indent == 0 || !before[..before.len() - indent].ends_with(b"\n") {
        return false;
    }
    let Some(label) = memmem::rfind(before, b"asswords:\n") else { return false };
    let rows = before[label + 10..before.len() - indent].split(|byte| *byte == b'\n');
    rows.filter(|row| !row.is_empty()).all(|row| row.starts_with(b" "))
}

/// Finds the value of a form field, which comes after `Content-Disposition: form-data; name="password"` and an empty
/// line.
fn secret_in_form_field(text: &[u8], start: usize, at: usize) -> Option<FoundSecret> {
    if !text[..start].ends_with(b"form-data; ") {
        return None;
    }
    let name = values::literal_value_at(text, at + 1).filter(|name| name.is_quoted)?;
    let verdict = names::judge_name(&text[name.start..name.end])?;
    let rest = text[name.end + 1..]
        .strip_prefix(b"\r\n\r\n")
        .or_else(|| text[name.end + 1..].strip_prefix(b"\n\n"))?;
    let start = text.len() - rest.len();
    let length = rest.iter().take(256).take_while(|byte| byte.is_ascii_graphic()).count();
    let value = LiteralValue { start, end: start + length, is_quoted: true, is_in_call: false };
    if length == 0 {
        None
    } else {
        named::hit_if_secret(
            text,
            value,
            verdict,
            ValueContext { without_blanks: true, is_in_list: true, ..ValueContext::default() },
        )
    }
}

/// Finds the password in `WIFI:T:WPA;S:name;P:x;;`, the content of a Wi-Fi network's QR code.
fn secret_in_wifi_code(text: &[u8], at: usize) -> Option<FoundSecret> {
    let line = text_after_last_break(&text[at.saturating_sub(MAX_LINE_BYTES)..at]);
    memmem::find(line, b"WIFI:")?;
    let length = text[at + 1..].iter().take(64).position(|byte| *byte == b';')?;
    (length >= 8).then_some(FoundSecret { start: at + 1, end: at + 1 + length, kind: "password" })
}

/// Returns the text after the last line break. The break may be a newline or the two characters `\n`.
pub fn text_after_last_break(text: &[u8]) -> &[u8] {
    let start = memchr::memrchr(b'\n', text).map_or(0, |end| end + 1);
    let line = &text[start..];
    &line[memmem::rfind(line, b"\\n").map_or(0, |end| end + 2)..]
}
