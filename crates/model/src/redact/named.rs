//! `name = value` in all its spellings: environment, JSON (also JSON inside JSON), YAML, TOML, INI, code, headers,
//! query strings, XML. The separator is found first; the name is read backwards from it, the value forwards.

use super::chance::profile;
use super::classes::{ALNUM, BASE64_URL, DOT, LOWER, UPPER, WORD, blanks, byte, is, run, run_back};
use super::names::{self, Says, Verdict};
use super::values::{self, Joint, Value};
use super::{Hit, headers, keys, shape};

/// Names are read back this far; what is longer is judged by its end.
const LONGEST_NAME: usize = 64;
/// Blanks around a separator, as in aligned tables.
const WIDEST_GAP: usize = 40;

/// The secret assigned at the `=` or `:` at `at`.
pub fn assigned(text: &[u8], at: usize, floor: usize) -> Option<Hit> {
    let mut after = at + 1;
    let mut joint = Joint::default();
    match (text[at], byte(text, after)) {
        (b':', b':') | (b'=', b'~') => return None,
        (b':', b'/') if byte(text, after + 1) == b'/' => return None,
        (b':', b'=') | (b'=', b'>') => after += 1,
        (b'=', b'=') => {
            joint.doubtful = true;
            after += run(&text[after..], super::classes::EQUALS, 2);
        }
        _ => {}
    }
    let mut name = name_before(text, at, floor)?;
    if name.bytes(text) == b"string" {
        name = name_before(text, name.start, floor)?; // `var name string = "value"`
    }
    if text[at] == b':' && name.bytes(text) == b"Private-Lines" {
        return keys::putty_lines(text, after);
    }
    if text[at] == b':' && text[floor..name.start].ends_with(b"//") {
        return None; // the user of an address, see `urls`
    }
    let verdict = match pair_name(text, &name, floor) {
        Some(paired) => names::judge(paired)?,
        None => names::judge(name.bytes(text))?,
    };
    joint.tight = name.end == at && !matches!(byte(text, after), b' ' | b'\t') && text[at] == b'=';
    after += closing_marks(&text[after..]);
    after += blanks(&text[after..], WIDEST_GAP);
    if verdict.says == Says::Authorization {
        return headers::credential(text, after);
    }
    after = behind_type(text, at, after)?;
    let verdict = qualified(text, &name, floor, verdict)?;
    let mut value = values::value(text, after)?;
    if !value.quoted && text[value.start..value.end] == *name.bytes(text) {
        return None;
    }
    joint.loud = is_loud(name.bytes(text));
    let opened = text[floor..name.start].last().copied().unwrap_or(b'\n');
    joint.listed = text[at] == b'='
        && (matches!(opened, b'?' | b'&' | b';') || joint.tight && byte(text, value.end) == b'&');
    if matches!(opened, b'?' | b'&') {
        value.end -= text[value.start..value.end]
            .iter()
            .position(|byte| *byte == b'#')
            .map_or(0, |hash| value.end - value.start - hash);
    } else if verdict.says == Says::Password && !value.quoted {
        value.end = values::beyond_ampersand(text, value.end);
    }
    hit(text, value, verdict, joint)
}

/// `("NAME", "value")`: a name and a value as two arguments. `at` is the comma.
pub fn argument(text: &[u8], at: usize, floor: usize) -> Option<Hit> {
    let name = name_before(text, at, floor)?;
    let opening = text[floor..name.start].len().checked_sub(2).map(|open| text[floor + open]);
    if !name.quoted || !matches!(opening, Some(b'(')) {
        return None;
    }
    let verdict = names::judge(name.bytes(text))?;
    let after = at + 1 + blanks(&text[at + 1..], WIDEST_GAP);
    values::quote_at(text, after)?;
    if verdict.says == Says::Authorization {
        return headers::credential(text, after);
    }
    let joint = Joint { doubtful: !is_loud(name.bytes(text)), ..Joint::default() };
    hit(text, values::value(text, after)?, verdict, joint)
}

/// `<password>value</password>`: `at` is the bracket that closes the opening tag.
pub fn element(text: &[u8], at: usize, floor: usize) -> Option<Hit> {
    let length = run_back(&text[floor..at], BASE64_URL | DOT, LONGEST_NAME);
    let start = at - length;
    if length == 0 || start == floor || !matches!(text[start - 1], b'<' | b':') {
        return None;
    }
    let verdict = names::judge(&text[start..at])?;
    let length = text[at + 1..].iter().take(512).position(|byte| matches!(byte, b'<' | b'\n'))?;
    let value = Value { start: at + 1, end: at + 1 + length, quoted: true, wrapped: false };
    if length == 0 || byte(text, value.end + 1) != b'/' {
        return None;
    }
    hit(text, value, verdict, Joint::default())
}

/// A value that follows its name behind a blank: `password is hunter2`, `machine … password hunter2`,
/// `PASSWORD 'x'`, `configure set secret_access_key x`. The name is the word `text[start..end]`.
pub fn stated(text: &[u8], start: usize, end: usize) -> Option<Hit> {
    let name = &text[start..end];
    let verdict = match name {
        b"login" => Verdict { says: Says::Secret, kind: "token" },
        _ => names::judge(name)?,
    };
    if let Some(after) = text[end..].strip_prefix(b" is ") {
        return declared(text, text.len() - after.len(), verdict);
    }
    let value = values::value(text, end + 1)?;
    if verdict.says == Says::Password {
        let context = &text[start.saturating_sub(200)..start];
        let in_netrc = super::contains(context, b"login ") && super::contains(context, b"machine ");
        let in_sql = value.quoted && name.iter().all(|byte| is(*byte, UPPER));
        let joint = Joint { loud: true, tight: true, ..Joint::default() };
        let in_command = in_netrc || in_sql || context.ends_with(b"ENV ");
        return if in_command { hit(text, value, verdict, joint) } else { None };
    }
    let joint = Joint { doubtful: true, ..Joint::default() };
    let least = if name == b"login" { 32 } else { 20 };
    if value.end - value.start < least { None } else { hit(text, value, verdict, joint) }
}

/// `name is value`: in prose almost anything follows, so the value must not be a word.
fn declared(text: &[u8], at: usize, verdict: Verdict) -> Option<Hit> {
    let value = values::value(text, at + blanks(&text[at..], 4))?;
    let content = &text[value.start..value.end];
    let looks = profile(content);
    let separated = content.iter().any(|byte| matches!(byte, b'-' | b'/' | b'_'));
    let plausible = looks.symbols > 0 || (looks.digits > 0 && looks.letters() > 0 && !separated);
    let joint = Joint { doubtful: verdict.says != Says::Password && !value.quoted, ..Joint::default() };
    if plausible || joint.doubtful { hit(text, value, verdict, joint) } else { None }
}

/// The last letters of every name that [`stated`] knows; most words of a text fail here.
#[inline]
pub fn may_end_name(word: &[u8]) -> bool {
    let Some(tail) = word.last_chunk::<3>() else { return false };
    matches!(
        &tail.map(|byte| byte | 32),
        b"key" | b"ken" | b"ret" | b"ord" | b"swd" | b"pwd" | b"ase" | b"ial" | b"als" | b"uth" | b"gin"
    )
}

/// The value as a hit, when it is secret. A provider's token keeps its provider's kind.
pub fn hit(text: &[u8], value: Value, verdict: Verdict, joint: Joint) -> Option<Hit> {
    let shaped = shape::find(text, value.start, value.start).filter(|hit| hit.end == value.end);
    let secret = || values::is_secret(text, value, verdict.says, joint);
    shaped.or_else(|| secret().then_some(Hit { start: value.start, end: value.end, kind: verdict.kind }))
}

struct Name {
    start: usize,
    end: usize,
    quoted: bool,
}

impl Name {
    fn bytes<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.start..self.end]
    }
}

/// The name that ends before `at`: `name `, `"name"`, `\"name\"`, `["name"]`, `name?`, `**name**`.
fn name_before(text: &[u8], at: usize, floor: usize) -> Option<Name> {
    let before = &text[floor..at];
    let mut end = before.len()
        - before.iter().rev().take(WIDEST_GAP).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let bracket = end > 1 && before[end - 1] == b']' && matches!(before[end - 2], b'"' | b'\'' | b'[');
    end -= usize::from(bracket);
    let marks = before[..end].iter().rev().take(8).take_while(|byte| b"\"'`\\*?![".contains(byte)).count();
    let quoted = before[end - marks..end].iter().any(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    end -= marks;
    let length = run_back(&before[..end], BASE64_URL | DOT, LONGEST_NAME);
    let mut start = floor + end - length;
    let end = floor + end;
    // In `\npassword` the `n` belongs to the escape.
    if start > floor && text[start - 1] == b'\\' && matches!(text.get(start), Some(b'n' | b'r' | b't')) {
        start += 1;
    }
    (start < end && text[start..end].iter().any(|byte| is(*byte, ALNUM))).then_some(Name {
        start,
        end,
        quoted,
    })
}

/// In `name: DB_PASSWORD, value: x` and `key="ApiKey" value="x"` the name stands one step further back.
fn pair_name<'a>(text: &'a [u8], name: &Name, floor: usize) -> Option<&'a [u8]> {
    if !name.bytes(text).eq_ignore_ascii_case(b"value") {
        return None;
    }
    let before = &text[floor..name.start];
    let gap = before.iter().rev().take(40).take_while(|byte| b" \t\r\n\"'\\,;-".contains(byte)).count();
    let mut before = &before[..before.len() - gap];
    // An escaped line break leaves its `n`.
    if before.ends_with(b"\\n") {
        before = before[..before.len() - 2].trim_ascii_end();
    }
    let before = before.strip_suffix(b"\"").or_else(|| before.strip_suffix(b"\\\"")).unwrap_or(before);
    let length = run_back(before, BASE64_URL | DOT, LONGEST_NAME);
    let (rest, paired) = before.split_at(before.len() - length);
    let rest = &rest
        [..rest.len() - rest.iter().rev().take(8).take_while(|byte| b" \t\"'\\:=".contains(byte)).count()];
    let label = &rest[rest.len() - run_back(rest, WORD, 8)..];
    ["name", "key"].iter().any(|known| label.eq_ignore_ascii_case(known.as_bytes())).then_some(paired)
}

/// A bare `key` or `token` takes the word before it into account: `API key: …`, `unexpected token: …`.
fn qualified(text: &[u8], name: &Name, floor: usize, verdict: Verdict) -> Option<Verdict> {
    let bare = name.bytes(text).iter().all(|byte| is(*byte, LOWER | UPPER));
    if name.quoted || !bare || name.start <= floor + 1 || text[name.start - 1] != b' ' {
        return Some(verdict);
    }
    let word = run_back(&text[floor..name.start - 1], BASE64_URL, 24);
    if word == 0 || verdict.says == Says::Password {
        return Some(verdict);
    }
    names::judge(&text[name.start - 1 - word..name.end])
}

/// `**Password:** x` closes its emphasis behind the separator.
fn closing_marks(text: &[u8]) -> usize {
    if text.starts_with(b"** ") || text.starts_with(b"__ ") { 2 } else { 0 }
}

/// `name: Type = value`: the value stands behind the type, and only a quoted one is a literal secret.
fn behind_type(text: &[u8], at: usize, after: usize) -> Option<usize> {
    if text[at] != b':' || !is(byte(text, after), ALNUM) && !matches!(byte(text, after), b'&' | b'*' | b'[') {
        return Some(after);
    }
    let window = &text[after..text.len().min(after + 40)];
    let length = window.iter().take_while(|byte| is(**byte, WORD) || b" &'<>[]?*|.:".contains(byte)).count();
    let behind = after + length + 1;
    let value = behind + blanks(text.get(behind..).unwrap_or_default(), 4);
    if byte(text, after + length) != b'=' || byte(text, behind) != b' ' {
        return Some(after);
    }
    values::quote_at(text, value).map(|_| value)
}

/// Written as an environment variable.
fn is_loud(name: &[u8]) -> bool {
    name.len() >= 3 && name.iter().any(|byte| is(*byte, UPPER)) && !name.iter().any(|byte| is(*byte, LOWER))
}
