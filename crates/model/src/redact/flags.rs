//! Secrets on a command line: `--password x`, `curl -u user:x`, `mysql -px`, `sshpass -p x`.

use memchr::memmem;

use super::Hit;
use super::chance::profile;
use super::classes::{ALNUM, DASH, LETTER, UNDERSCORE, blanks, byte, is, run};
use super::names::{self, Says};
use super::values::{self, Joint};

/// How far back the command of a flag may stand.
const REACH: usize = 300;

/// The value of the flag whose (first) dash stands at `at`.
pub fn value(text: &[u8], at: usize, floor: usize) -> Option<Hit> {
    if at > floor && !matches!(text[at - 1], b' ' | b'\t' | b'\n' | b'"' | b'\'' | b'[' | b'`' | b'n') {
        return None;
    }
    if byte(text, at + 1) == b'-' { long(text, at + 2) } else { short(text, at + 1) }
}

fn long(text: &[u8], at: usize) -> Option<Hit> {
    let length = run(&text[at..], ALNUM | DASH | UNDERSCORE, 48);
    let name = &text[at..at + length];
    let after = behind_flag(text, at + length)?;
    if matches!(name, b"user" | b"proxy-user") {
        return before(text, at, &["curl"]).then(|| user_and_password(text, after))?;
    }
    let verdict = names::judge(name)?;
    if byte(text, after) == b'-' {
        return None;
    }
    let value = values::value(text, after)?;
    let content = &text[value.start..value.end];
    // In prose a plain word follows (`the --password flag`); in a command another flag does.
    let prose = !value.quoted
        && content.iter().all(|byte| is(*byte, LETTER))
        && !text[value.end..].starts_with(b" -");
    if prose && profile(content).changes < 3 || verdict.says == Says::Authorization {
        return None;
    }
    let joint = Joint { tight: true, listed: true, ..Joint::default() };
    super::named::hit(text, value, verdict, joint)
}

fn short(text: &[u8], at: usize) -> Option<Hit> {
    let letter = byte(text, at);
    let attached = !matches!(byte(text, at + 1), b' ' | b'\t' | b'"' | b'\'' | b'\n' | b'=' | b',');
    match letter {
        b'u' if !attached && before(text, at, &["curl", "http ", "xh "]) => {
            user_and_password(text, behind_flag(text, at + 1)?)
        }
        b'u' if attached && before(text, at, &["curl"]) => user_and_password(text, at + 1),
        b'k' if !attached && before(text, at, &["openssl"]) => argument(text, behind_flag(text, at + 1)?),
        b'p' if attached && before(text, at, &["mysql", "mariadb"]) => argument(text, at + 1),
        b'p' if !attached && before(text, at, &["sshpass", " login", "mosquitto", "ldap"]) => {
            argument(text, behind_flag(text, at + 1)?)
        }
        b'p' if attached && before(text, at, &["sshpass"]) => argument(text, at + 1),
        b'N' if !attached && before(text, at, &["ssh-keygen"]) => argument(text, behind_flag(text, at + 1)?),
        b'a' if !attached && before(text, at, &["redis-cli"]) => argument(text, behind_flag(text, at + 1)?),
        b'w' if !attached && before(text, at, &["ldapsearch", "ldapadd", "ldapmodify"]) => {
            argument(text, behind_flag(text, at + 1)?)
        }
        b'P' if !attached && before(text, at, &["sqlcmd", "zip ", "bcp ", "mosquitto"]) => {
            argument(text, behind_flag(text, at + 1)?)
        }
        _ => None,
    }
}

/// `IDENTIFIED BY 'x'` in SQL; `start..end` is the `BY`.
pub fn identified(text: &[u8], start: usize, end: usize) -> Option<Hit> {
    let context = &text[start.saturating_sub(100)..start];
    // In prose many a thing is identified by 'name'.
    let told = context.ends_with(b"IDENTIFIED ")
        || (context.ends_with(b"identified ") && memmem::find(context, b" user ").is_some());
    let quoted = matches!(byte(text, end + 1), b'\'' | b'"');
    if told && quoted { argument(text, end + 1) } else { None }
}

/// Behind the blank (or the JSON comma and quotes of an argument list) that separates a flag from its value.
fn behind_flag(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    if matches!(byte(rest, 0), b'"' | b'\'') && byte(rest, 1) == b',' {
        return Some(at + 2 + blanks(&rest[2..], 8));
    }
    let gap = blanks(rest, 8);
    (gap > 0 || matches!(byte(rest, 0), b'"' | b'\'')).then_some(at + gap)
}

/// The whole argument, unless it is a variable or another flag.
fn argument(text: &[u8], at: usize) -> Option<Hit> {
    let value = values::value(text, at)?;
    let joint = Joint { loud: true, tight: true, listed: true, doubtful: false };
    let secret = text[value.start] != b'-' && values::is_secret(text, value, Says::Password, joint);
    secret.then_some(Hit { start: value.start, end: value.end, kind: "password" })
}

/// `user:password`: the password. Numbers on both sides are a user and a group.
fn user_and_password(text: &[u8], at: usize) -> Option<Hit> {
    let value = values::value(text, at)?;
    let content = &text[value.start..value.end];
    let colon = memchr::memchr(b':', content)?;
    if colon + 1 == content.len() {
        // `curl -u key:` sends the key as the user.
        let token = profile(&content[..colon]).is_random();
        return token.then_some(Hit { start: value.start, end: value.start + colon, kind: "password" });
    }
    argument(&text[..value.end], value.start + colon + 1)
        .map(|hit| Hit { end: value.end, ..hit })
        .filter(|_| value.quoted || !content[..colon].is_empty())
}

/// Does one of `commands` stand before `at`, in the same command?
fn before(text: &[u8], at: usize, commands: &[&str]) -> bool {
    let window = &text[at.saturating_sub(REACH)..at];
    let ends = |index: &usize| match window[*index] {
        b'\n' => !window[..*index].ends_with(b"\\"), // a backslash continues the line
        b'n' => window[..*index].ends_with(b"\\"),
        byte => matches!(byte, b';' | b'|' | b'&'),
    };
    let start = (0..window.len()).rev().find(ends).map_or(0, |end| end + 1);
    commands.iter().any(|command| memmem::find(&window[start..], command.as_bytes()).is_some())
}
