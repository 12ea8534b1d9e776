//! Secrets that are recognised by their surroundings rather than by their own name: cookies, codes in a URL, the
//! private numbers of a JSON web key, a value on the line below its name.

use memchr::memmem;

use super::chance::profile;
use super::classes::{
    BASE64_URL, Class, DOT, EQUALS, LOWER, PERCENT, PLUS, SLASH, TILDE, blanks, byte, ends_with_ignore_case,
    run, starts_with_ignore_case,
};
use super::names::{self, Says, Verdict};
use super::values::{self, Joint, Value};
use super::{Hit, commands, flags, keys, languages, made_up, named, pairs};

const COOKIE: Class = BASE64_URL | DOT | PERCENT | PLUS | SLASH | TILDE;
/// A session id has at least this many bytes; a shorter value is a setting.
const SHORTEST_SESSION: usize = 16;
/// The longest header with all its cookies.
const LONGEST_HEADER: usize = 2 * 1024;
/// The private numbers of a web key are base64 of 32 bytes or more.
const SHORTEST_NUMBER: usize = 40;
/// How far apart the members of one web key may be.
const WIDEST_KEY: usize = 3 * 1024;
const LONGEST_LINE: usize = 200;

/// Finds a secret after the `=` or `:` at `at`, whose name `text[start..end]` does not show that it is one.
#[inline]
pub fn told(text: &[u8], start: usize, end: usize, at: usize) -> Option<Hit> {
    let opened = start.checked_sub(1).map_or(b'\n', |before| text[before]);
    match (text[at], opened) {
        (b'=', b'?' | b'&') if end == at => query(text, start, at),
        (b'=', b'\n') if end == at && is_session(&text[start..end]) => session(text, at),
        (b'=', b' ' | b'"' | b'\'' | b':') if end == at && cookie_length(&text[at + 1..], 8) == 8 => {
            cookie(text, start, at)
        }
        (b':', b' ' | b'\'') if &text[start..end] == b"API" => languages::key_of_api(text, start, at),
        (b':', _) if end - start <= 2 && end < at => web_key(text, start, end, at),
        (b':', b'"' | b'\'') if is_session(&text[start..end]) => cookie(text, start, at),
        (b':', b'"') if text[start..end].contains(&b'.') => hosted(text, start, at),
        (b':', b'=')
            if end == at && (text[..start].ends_with(b"user=") || text[..start].ends_with(b"login=")) =>
        {
            pairs::assigned(text, at)
        }
        (b':', _) if byte(text, at + 1) == b'\n' => announced(text, at),
        (b':', b' ' | b'`' | b'"' | b'\'' | b'(') if end == at && byte(text, at + 1) > b' ' => {
            pairs::colon(text, start, at)
        }
        (b'=', b';') if &text[start..end] == b"issecret" => masked(text, at),
        (b':', _) if text[at + 1..].starts_with(b" EAP \"") || text[at + 1..].starts_with(b" XAUTH \"") => {
            flags::given(text, at + 1 + text[at + 1..].iter().position(|byte| *byte == b'"')?)
        }
        (b':', b'@') if &text[start..end] == b"localhost" => generated(text, at),
        (b':', b'@') if end == at && text[start..end].contains(&b'.') => after_address(text, at),
        (b':', b'/') if end == at => commands::slash_flag(text, start, at),
        (b':', b';') if &text[start..end] == b"P" => network(text, at),
        (b':', _) if &text[start..end] == b"PIN" => debugger(text, at),
        (b'=', b' ') if &text[start..end] == b"name" => form_field(text, start, at),
        (b':', b' ') if text[..start].ends_with(b" for ") || text[..start].ends_with(b" of ") => {
            commands::prompted(text, at)
        }
        (b':', b'/' | b'.' | b'@' | b'\\' | b'\'') if byte(text, at + 1) == b' ' => {
            commands::prompted(text, at)
        }
        _ => None,
    }
}

/// Finds the value in `::add-mask::x` of a workflow, and what an installer prints below a line such as `… the following
/// password:`.
pub fn announced(text: &[u8], at: usize) -> Option<Hit> {
    if text[..at].ends_with(b"::add-mask:") {
        return flags::literal(text, at + 1);
    }
    if byte(text, at + 1) != b'\n' {
        return None;
    }
    let value = below(text, at + 1)?;
    let line = last_line(&text[at.saturating_sub(LONGEST_LINE)..at]);
    let verdict = Verdict { says: Says::Password, kind: "password" };
    let content = &text[value.start..value.end];
    let told = content.len() >= 12 && !content.contains(&b':') && memmem::find(line, b"assword").is_some();
    if told { named::hit(text, value, verdict, Joint { doubtful: true, ..Joint::default() }) } else { None }
}

/// Finds the token in `"github-oauth": {"github.com": "x"}`, where a host comes between. The host is `text[start..]`.
fn hosted(text: &[u8], start: usize, at: usize) -> Option<Hit> {
    let before =
        text[start.saturating_sub(80)..start - 1].trim_ascii_end().strip_suffix(b"{")?.trim_ascii_end();
    let name = before.strip_suffix(b":")?.trim_ascii_end().strip_suffix(b"\"")?;
    let name = &name[name.len() - super::classes::run_back(name, BASE64_URL, 40)..];
    let told = names::judge(name).is_some() || name.ends_with(b"oauth") || name == b"bearer";
    let value =
        values::value(text, at + 1 + blanks(&text[at + 1..], 4)).filter(|value| value.quoted && told)?;
    let verdict = Verdict { says: Says::Secret, kind: "token" };
    named::hit(text, value, verdict, Joint::default())
}

/// Finds the value in `##vso[task.setvariable variable=NAME;issecret=true]x`, a line in a log of Azure Pipelines.
fn masked(text: &[u8], at: usize) -> Option<Hit> {
    let close = text[at..].iter().take(60).position(|byte| matches!(byte, b']' | b'\n'))?;
    (text[at + close] == b']').then(|| flags::given(text, at + close + 1))?
}

/// Finds a wallet's recovery phrase, twelve words or more, as in `seed phrase: actor island canyon …` and
/// `the mnemonic is "…"`. The noun ends at `end`.
pub fn seed(text: &[u8], end: usize) -> Option<Hit> {
    const FEWEST: usize = 12;
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
        let length = run(&text[next.min(text.len())..], LOWER, 9);
        if !(3..=8).contains(&length) || words > 0 && text[end] != b' ' {
            break;
        }
        (end, words) = (next + length, words + 1);
    }
    // In a sentence, further words or a punctuation mark would follow.
    let alone = words >= FEWEST && matches!(byte(text, end), b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\' | 0);
    alone.then_some(Hit { start, end, kind: "password" })
}

/// Finds the password in `A temporary password is generated for root@localhost: x`, which MySQL prints at its first
/// start. The password includes punctuation.
fn generated(text: &[u8], at: usize) -> Option<Hit> {
    let line = last_line(&text[at.saturating_sub(LONGEST_LINE)..at]);
    let start = at + 1 + blanks(&text[at + 1..], 1);
    let length = text[start..].iter().take(64).take_while(|byte| byte.is_ascii_graphic()).count();
    let mixed = profile(&text[start..start + length]).changes >= 3;
    let told = mixed && memmem::find(line, b"password is generated for").is_some();
    told.then_some(Hit { start, end: start + length, kind: "password" })
}

/// Returns the only word on the next line, such as the key below `api_key:`. A block (`password: |`) counts as quoted.
pub fn below(text: &[u8], at: usize) -> Option<Value> {
    let block = block_mark(text.get(at..)?);
    // In Python the value may be in brackets: `PASSWORD = (`.
    let mut at = at + block + usize::from(byte(text, at) == b'(');
    let step = keys::break_length(text.get(at..)?);
    if step == 0 {
        return None;
    }
    at += step;
    at += keys::break_length(&text[at..]);
    at += blanks(&text[at..], 40);
    // The value may be typed at a prompt, or be in a block of code.
    if let Some(fenced) = text[at..].strip_prefix(b"```") {
        at = text.len() - fenced.len() + run(fenced, LOWER, 12);
        at += keys::break_length(&text[at..]);
    } else if text[at..].starts_with(b"> ") {
        at += 2;
    }
    let value = values::value(text, at)?;
    let rest = &text[value.end..];
    let alone = rest.is_empty() || byte(rest, 0) == b'"' || keys::break_length(rest) > 0;
    // Some programs print JSON with `"password":` on one line and the value on the next.
    let quoted = value.quoted && block == 0 && matches!(byte(rest, 0), b'"' | b'\'');
    (alone && !value.quoted || quoted).then_some(Value { quoted: block > 0 || quoted, ..value })
}

/// Returns the length of the mark that opens a block: `|`, `>-`, `<<EOT`.
fn block_mark(text: &[u8]) -> usize {
    match byte(text, 0) {
        b'|' | b'>' => 1 + usize::from(matches!(byte(text, 1), b'-' | b'+')),
        b'<' if text.starts_with(b"<<") => 2 + run(&text[2..], BASE64_URL, 16),
        _ => 0,
    }
}

/// Finds the code in `?code=x`, which an authorization server issues, and keys under other names.
fn query(text: &[u8], start: usize, at: usize) -> Option<Hit> {
    let kind = match &text[start..at] {
        b"code" => "oauth-code",
        b"appid" | b"token_hash" => "token",
        _ => return None,
    };
    let value = values::value(text, at + 1)?;
    let looks = profile(&text[value.start..value.end]);
    let secret = looks.len >= 20 && looks.is_random();
    secret.then_some(Hit { start: value.start, end: value.end, kind })
}

/// Finds the value in `Cookie: session=x`, `Set-Cookie: sid=x; Path=/` and `curl -b 'sid=x'`. A random value is a
/// session.
fn cookie(text: &[u8], start: usize, at: usize) -> Option<Hit> {
    let after = at + 1 + blanks(&text[at + 1..], 1);
    let content = values::quote_at(text, after).map_or(after, |(content, _)| content);
    let named = is_session(&text[start..at]);
    let shortest = if named { 10 } else { SHORTEST_SESSION };
    if cookie_length(&text[content..], shortest) < shortest {
        return None;
    }
    let line = last_line(&text[start.saturating_sub(LONGEST_HEADER)..start]);
    if memmem::find(line, b"secrets set ").is_some() {
        return flags::literal(text, at + 1); // as in `fly secrets set NAME=x`
    }
    let behind = match memmem::rfind(line, b"ookie") {
        Some(header) => header + 5,
        None => memmem::rfind(line, b" -b ").filter(|_| memmem::find(line, b"curl").is_some())?,
    };
    let code = |byte: &u8| *byte == b'(' || (*byte == b'{' && text[at] == b'=');
    if line[behind..].iter().any(code) {
        return None; // not a header
    }
    let value = values::value(text, after)?;
    let content = &text[value.start..value.end];
    let uuid = content.len() == 36 && content.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
    let joint = Joint { doubtful: true, ..Joint::default() };
    // A session may be a UUID.
    let uuid = uuid && !named;
    let secret =
        named && content.len() >= 10 && profile(content).is_mixed() && !super::contains(content, b"REDACTED")
            || !uuid && values::is_secret(text, value, Says::Secret, joint);
    secret.then_some(Hit { start: value.start, end: value.end, kind: "cookie" })
}

/// Returns the length of a cookie's value, at most `max`. A signed value, once decoded, begins with `s:`.
#[inline]
fn cookie_length(text: &[u8], max: usize) -> usize {
    run(text.strip_prefix(b"s:").unwrap_or(text), COOKIE, max)
}

/// Finds the session in `PHPSESSID=x; path=/` at the beginning of a line.
fn session(text: &[u8], at: usize) -> Option<Hit> {
    let length = run(&text[at + 1..], COOKIE | EQUALS, LONGEST_HEADER);
    let rest = &text[at + 1 + length..];
    let secret = length >= SHORTEST_SESSION
        && rest.starts_with(b";")
        && profile(&text[at + 1..at + 1 + length]).is_random();
    secret.then_some(Hit { start: at + 1, end: at + 1 + length, kind: "cookie" })
}

/// Whether a name is that of a session, such as `sessionid`, `PHPSESSID` or `connect.sid`.
fn is_session(name: &[u8]) -> bool {
    let known = |at: usize| starts_with_ignore_case(&name[at..], "sess");
    ends_with_ignore_case(name, "sid") || (0..name.len()).any(known) || name.starts_with(b".AspNet")
}

/// Finds a private number of a JSON web key: the value of `"d":"x"` in an object with `"kty"`.
fn web_key(text: &[u8], start: usize, end: usize, at: usize) -> Option<Hit> {
    if !matches!(&text[start..end], b"d" | b"p" | b"q" | b"dp" | b"dq" | b"qi" | b"k") {
        return None;
    }
    let (start, _) = values::quote_at(text, at + 1 + blanks(&text[at + 1..], 4))?;
    let length = run(&text[start..], BASE64_URL, LONGEST_HEADER);
    let around = &text[start.saturating_sub(WIDEST_KEY)..text.len().min(start + WIDEST_KEY)];
    let secret = length >= SHORTEST_NUMBER
        && matches!(byte(text, start + length), b'"' | b'\'' | b'\\')
        && memmem::find(around, b"kty").is_some();
    secret.then_some(Hit { start, end: start + length, kind: "private-key" })
}

/// Finds the password in `someone@example.com:x`, as in lists of accounts and in `/etc/postfix/sasl_passwd`.
fn after_address(text: &[u8], at: usize) -> Option<Hit> {
    let length = text[at + 1..].iter().take(64).take_while(|byte| byte.is_ascii_graphic()).count();
    let content = &text[at + 1..at + 1 + length];
    let looks = profile(content);
    let words = || made_up::is_words(content) && looks.digits > 0;
    let plausible = (looks.is_random() && looks.is_mixed() || words())
        && !content.iter().all(u8::is_ascii_hexdigit)
        && !content.contains(&b'/')
        && (!content.contains(&b'.') || made_up::is_nouns(content));
    (length >= 8 && plausible).then_some(Hit { start: at + 1, end: at + 1 + length, kind: "password" })
}

/// Finds the PIN in `Debugger PIN: 123-456-789`, which lets anybody run code.
fn debugger(text: &[u8], at: usize) -> Option<Hit> {
    let start = at + 1 + blanks(&text[at + 1..], 2);
    let length =
        text[start..].iter().take(16).take_while(|byte| byte.is_ascii_digit() || **byte == b'-').count();
    let plausible =
        length >= 9 && text[start..start + length].contains(&b'-') && text[..at].ends_with(b"Debugger PIN");
    plausible.then_some(Hit { start, end: start + length, kind: "password" })
}

/// Finds the value of a form field: after `Content-Disposition: form-data; name="password"` and an empty line.
fn form_field(text: &[u8], start: usize, at: usize) -> Option<Hit> {
    if !text[..start].ends_with(b"form-data; ") {
        return None;
    }
    let name = values::value(text, at + 1).filter(|name| name.quoted)?;
    let verdict = names::judge(&text[name.start..name.end])?;
    let rest = text[name.end + 1..]
        .strip_prefix(b"\r\n\r\n")
        .or_else(|| text[name.end + 1..].strip_prefix(b"\n\n"))?;
    let start = text.len() - rest.len();
    let length = rest.iter().take(256).take_while(|byte| byte.is_ascii_graphic()).count();
    let value = Value { start, end: start + length, quoted: true, wrapped: false };
    if length == 0 {
        None
    } else {
        named::hit(text, value, verdict, Joint { tight: true, listed: true, ..Joint::default() })
    }
}

/// Finds the password in `WIFI:T:WPA;S:name;P:x;;`, the content of a network's QR code.
fn network(text: &[u8], at: usize) -> Option<Hit> {
    let line = last_line(&text[at.saturating_sub(LONGEST_LINE)..at]);
    memmem::find(line, b"WIFI:")?;
    let length = text[at + 1..].iter().take(64).position(|byte| *byte == b';')?;
    (length >= 8).then_some(Hit { start: at + 1, end: at + 1 + length, kind: "password" })
}

/// Returns the text after the last line break, real or escaped.
pub fn last_line(text: &[u8]) -> &[u8] {
    let start = memchr::memrchr(b'\n', text).map_or(0, |end| end + 1);
    let line = &text[start..];
    &line[memmem::rfind(line, b"\\n").map_or(0, |end| end + 2)..]
}
