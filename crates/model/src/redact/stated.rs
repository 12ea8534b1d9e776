//! Secrets told in words: `the password is x`, `set it to x`, and the files and commands that do without a separator.

use super::Hit;
use super::chance::profile;
use super::classes::{UPPER, blanks, byte, is};
use super::named::{WIDEST_GAP, hit, with_word_before};
use super::names::{self, Says, Verdict};
use super::values::{self, Joint, Value};

/// A value that follows its name behind a blank: `password is hunter2`, `machine … password hunter2`,
/// `PASSWORD 'x'`, `configure set secret_access_key x`. The name is the word `text[start..end]`.
pub fn stated(text: &[u8], start: usize, end: usize) -> Option<Hit> {
    let name = &text[start..end];
    let end = end + usize::from(byte(text, end) == b'`');
    let verdict = match name {
        b"login" => Verdict { says: Says::Secret, kind: "token" },
        _ => names::judge(name)?,
    };
    // `pass it to the class` is no password.
    if text[..start].ends_with(b"public ") || verdict.says == Says::Pass {
        return None;
    }
    let doubtful = Joint { doubtful: true, ..Joint::default() };
    if let Some(after) =
        [&b" is "[..], b" ist ", b" lautet "].iter().find_map(|is| text[end..].strip_prefix(*is))
    {
        let after = after.strip_prefix(b"now ").unwrap_or(after);
        let verdict = if name == b"key" {
            names::judge(with_word_before(text, start, end, 0).unwrap_or(name))?
        } else {
            verdict
        };
        return declared(text, text.len() - after.len(), verdict, Joint::default());
    }
    if text[end..].starts_with(b" to ") || text[end..].starts_with(b" | ") {
        return declared(text, end + 3, verdict, doubtful);
    }
    let value = values::value(text, end + blanks(&text[end..], WIDEST_GAP))?;
    if verdict.says == Says::Password {
        let context = &text[start.saturating_sub(200)..start];
        let in_netrc = super::contains(context, b"login ") && super::contains(context, b"machine ");
        let in_sql = value.quoted && name.iter().all(|byte| is(*byte, UPPER));
        let joint = Joint { loud: true, tight: true, ..Joint::default() };
        let looks = profile(&text[value.start..value.end]);
        let made_up = looks.digits + looks.symbols > 0 && looks.letters() > 0;
        let in_server = matches!(name, b"requirepass" | b"bindpw" | b"rootpw") && (made_up || value.quoted);
        let in_code = value.quoted && made_up && context.ends_with(b"#define ");
        let in_command = made_up && super::contains(context, b"nmcli ");
        if in_netrc || in_sql || in_server || in_code || in_command || context.ends_with(b"ENV ") {
            return hit(text, value, verdict, joint);
        }
        if let Some(encoded) = numbered(text, value) {
            return hit(text, encoded, verdict, joint);
        }
        // A line of its own, as in `~/.msmtprc` and in tables.
        let line = context.trim_ascii_end();
        let starts = line.is_empty() || context[line.len()..].contains(&b'\n');
        let ends = byte(text, value.end + usize::from(value.quoted)) == b'\n';
        // As an argument of a block, `password "x"` is a literal.
        let in_block = value.quoted && context.ends_with(b"{ ");
        // `username admin and password Orchid190`
        let beside_user = made_up && context.ends_with(b" and ") && super::contains(context, b"username ");
        let joint = Joint { doubtful: !value.quoted && !beside_user, ..Joint::default() };
        let told = starts && ends
            || in_block
            || beside_user
            || context.ends_with(b"with ")
            || context.ends_with(b"using ");
        return if told { hit(text, value, verdict, joint) } else { None };
    }
    let at_prompt = name == b"AUTH" && text[..start].ends_with(b"> ");
    let least = match name {
        b"login" => 24,
        _ if at_prompt => 8,
        _ => 20,
    };
    let content = &text[value.start..value.end];
    // `#define initSecret initSecret_avx512` renames it.
    if content.len() < least || super::contains(content, name) {
        return None;
    }
    hit(text, value, verdict, doubtful)
}

/// `password 7 0822455D0A16`, as routers write what they have scrambled: the value behind the kind.
fn numbered(text: &[u8], kind: Value) -> Option<Value> {
    let scrambled = |value: &Value| {
        let content = &text[value.start..value.end];
        content.len() >= 8
            && content.iter().all(u8::is_ascii_hexdigit)
            && content.iter().any(u8::is_ascii_digit)
    };
    let digit = kind.end == kind.start + 1 && text[kind.start].is_ascii_digit();
    (digit && byte(text, kind.end) == b' ').then(|| values::value(text, kind.end + 1).filter(scrambled))?
}

/// `name is value`: in prose almost anything follows, so the value must not be a word.
fn declared(text: &[u8], at: usize, verdict: Verdict, joint: Joint) -> Option<Hit> {
    let value = values::value(text, at + blanks(&text[at..], 4))?;
    let content = &text[value.start..value.end];
    // `I changed the password to Purple.Kettle`
    if verdict.says == Says::Password
        && values::is_two_words(content)
        && is(content[0], UPPER)
        && names::judge(content).is_none()
    {
        return Some(Hit { start: value.start, end: value.end, kind: verdict.kind });
    }
    let looks = profile(content);
    let separated = content.iter().any(|byte| matches!(byte, b'-' | b'/' | b'_'));
    let name_like = separated && looks.changes < 2;
    let plausible = looks.symbols > 0 || (looks.is_mixed() && !name_like);
    // A key in hexadecimal digits is told as such, a word is not.
    let hex = content.len() >= 32 && content.iter().all(u8::is_ascii_hexdigit);
    let key = verdict.says == Says::Secret && hex;
    let doubtful = joint.doubtful || verdict.says != Says::Password && !value.quoted && !key;
    let joint = Joint { doubtful, ..joint };
    if plausible || joint.doubtful { hit(text, value, verdict, joint) } else { None }
}

/// The last letters of every name that [`stated`] knows; most words of a text fail here.
#[inline]
pub fn may_end_name(word: &[u8]) -> bool {
    let Some(tail) = word.last_chunk::<3>() else { return false };
    matches!(
        &tail.map(|byte| byte | 32),
        b"key"
            | b"ken"
            | b"ret"
            | b"ord"
            | b"swd"
            | b"pwd"
            | b"ase"
            | b"ial"
            | b"als"
            | b"uth"
            | b"gin"
            | b"ass"
            | b"dpw"
            | b"tpw"
            | b"psk"
            | b"ort"
    )
}
