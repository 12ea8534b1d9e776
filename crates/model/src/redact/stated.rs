//! Secrets told in words: `the password is x`, `set it to x`, and the files and commands that do without a separator.

use super::Hit;
use super::chance::profile;
use super::classes::{UPPER, blanks, byte, is};
use super::named::{WIDEST_GAP, hit};
use super::names::{self, Says, Verdict};
use super::values::{self, Joint};

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
    if let Some(after) = text[end..].strip_prefix(b" is ") {
        let after = after.strip_prefix(b"now ").unwrap_or(after);
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
        let in_redis = name == b"requirepass" && looks.digits + looks.symbols > 0;
        if in_netrc || in_sql || in_redis || context.ends_with(b"ENV ") {
            return hit(text, value, verdict, joint);
        }
        // A line of its own, as in `~/.msmtprc` and in tables.
        let line = context.trim_ascii_end();
        let starts = line.is_empty() || context[line.len()..].contains(&b'\n');
        let ends = byte(text, value.end + usize::from(value.quoted)) == b'\n';
        // As an argument of a block, `password "x"` is a literal.
        let joint = Joint { doubtful: !value.quoted, ..Joint::default() };
        let told = starts && ends || context.ends_with(b"with ") || context.ends_with(b"using ");
        return if told { hit(text, value, verdict, joint) } else { None };
    }
    let least = if name == b"login" { 24 } else { 20 };
    let content = &text[value.start..value.end];
    // `#define initSecret initSecret_avx512` renames it.
    if content.len() < least || super::contains(content, name) {
        return None;
    }
    hit(text, value, verdict, doubtful)
}

/// `name is value`: in prose almost anything follows, so the value must not be a word.
fn declared(text: &[u8], at: usize, verdict: Verdict, joint: Joint) -> Option<Hit> {
    let value = values::value(text, at + blanks(&text[at..], 4))?;
    let content = &text[value.start..value.end];
    let looks = profile(content);
    let separated = content.iter().any(|byte| matches!(byte, b'-' | b'/' | b'_'));
    let name_like = separated && looks.changes < 2;
    let plausible = looks.symbols > 0 || (looks.digits > 0 && looks.letters() > 0 && !name_like);
    let doubtful = joint.doubtful || verdict.says != Says::Password && !value.quoted;
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
    )
}
