//! Secrets that are recognised by their line: a value on the line below a name, a literal with a comment at the end of
//! the line, a cell of a table, a part of a file's or a branch's name.

use super::Hit;
use super::chance::profile;
use super::classes::{blanks, byte};
use super::grades::grade;
use super::made_up;
use super::named::{hit, with_word_before};
use super::names::{self, Says};
use super::sentences::{self, Least};
use super::stated::{names_password, told_words};
use super::values::{self, Joint, Value};

/// Finds a literal that a comment at the end of its line describes, as in `sign(body, "9f8e…")  # webhook signing
/// secret`. The name `text[start..end]` is the last word of the comment.
pub fn commented(text: &[u8], start: usize, end: usize, floor: usize) -> Option<Hit> {
    const OTHERS: &str = "hash sha sha1 sha256 md5 digest id public example fake dummy no not without invalid wrong checksum of";
    const MOST_WORDS: usize = 6;
    let line = super::context::last_line(&text[floor.max(start.saturating_sub(240))..start]);
    let mark = [&b" # "[..], b" // ", b" -- ", b";# ", b"; // "]
        .iter()
        .find_map(|mark| Some(memchr::memmem::rfind(line, mark)? + mark.len()))?;
    let comment = || line[mark..].split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let other = |word: &[u8]| OTHERS.split(' ').any(|known| word.eq_ignore_ascii_case(known.as_bytes()));
    if comment().count() > MOST_WORDS || comment().any(other) {
        return None;
    }
    let verdict = names::judge(with_word_before(text, start, end, floor).unwrap_or(&text[start..end]))?;
    let code = &line[..mark];
    let close = code.iter().rposition(|byte| matches!(byte, b'"' | b'\''))?;
    let open = memchr::memrchr(code[close], &code[..close])?;
    let from = start - line.len();
    let line_break = usize::from(code[..close].ends_with(b"\\n") || code[..close].ends_with(b"\\r")) * 2;
    let value = Value {
        start: from + open + 1,
        end: from + close.saturating_sub(line_break),
        quoted: true,
        wrapped: false,
    };
    if value.end <= value.start {
        return None;
    }
    let sure = matches!(verdict.says, Says::Password | Says::Secret);
    let random = profile(&text[value.start..value.end]).is_random() && value.end - value.start >= 16;
    let content = &text[value.start..value.end];
    let told = verdict.says == Says::Password
        && (grade(content).is_some()
            || profile(content).is_random()
            || content.len() >= 8 && made_up::is_joined(content));
    if told {
        return told_words(text, value, true);
    }
    if sure && random { hit(text, value, verdict, Joint::default()) } else { None }
}

/// Finds the rest of a branch's or a file's name, as in `fix/password-CopperKettle7` and
/// `backup-password-Copper2024.zip`, if its spelling is unusual for such names. `end` is the dash.
pub fn dashed(text: &[u8], start: usize, end: usize) -> Option<Hit> {
    // A verb may come before the value, as in `password-is-copperkettle`.
    let from = end + 1 + usize::from(text[end + 1..].starts_with(b"is-")) * 3;
    let rest = &text[from..text.len().min(from + 64)];
    let names_password = |word: &[u8]| names_password(word) || word == b"pw" || word.ends_with(b"_pw");
    let joined = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'!' | b'-' | b'.');
    let whole = Value {
        start: from,
        end: from + rest.iter().take_while(|byte| joined(byte)).count(),
        quoted: false,
        wrapped: false,
    };
    let whole = Value { end: values::before_extension(text, whole), ..whole };
    if made_up::is_nouns(&text[from..whole.end]) && names_password(&text[start..end]) {
        return told_words(text, whole, true);
    }
    let length = rest.iter().take_while(|byte| joined(byte) && !matches!(byte, b'-' | b'.')).count();
    let content = &text[from..from + length];
    let looks = profile(content);
    let cased = looks.upper > 0 && looks.lower > 0;
    // A file such as `components/password-StrengthMeter.vue` contains no password.
    let git = || super::contains(super::context::last_line(&text[start.saturating_sub(120)..start]), b"git ");
    let words = cased && made_up::is_words(content) && (looks.digits > 0 || git());
    let drawn = cased && looks.digits > 0 && looks.changes >= 3 && looks.len >= 8;
    let told = (words || drawn)
        && names_password(&text[start..end])
        && !matches!(byte(text, from + length), b'(' | b'-' | b'=' | b':' | b'{');
    told_words(text, Value { start: from, end: from + length, quoted: false, wrapped: false }, told)
}

/// Finds the value on the line after one that ends with `Password` or `the token is`. The name is `text[start..end]`,
/// and its line ends at `at`.
pub fn on_next_line(text: &[u8], start: usize, end: usize, at: usize) -> Option<Hit> {
    let rest = text[at..].strip_prefix(b"\r").unwrap_or(&text[at..]).strip_prefix(b"\n")?;
    let rest = rest.strip_prefix(b"\n").unwrap_or(rest);
    let from = text.len() - rest.len() + blanks(rest, 8);
    let length = text[from..].iter().take(200).take_while(|byte| byte.is_ascii_graphic()).count();
    if !matches!(byte(text, from + length), b'\n' | b'\r') || length < 8 || length == 200 {
        return None;
    }
    let verdict = names::judge(with_word_before(text, start, end, 0).unwrap_or(&text[start..end]))
        .or_else(|| names::judge(&text[start..end]))?;
    let content = &text[from..from + length];
    let looks = profile(content);
    let value = Value { start: from, end: from + length, quoted: false, wrapped: false };
    let plausible = match verdict.says {
        Says::Password => {
            made_up::is_nouns(content) || looks.is_random() && looks.digits > 0 && looks.upper > 0
        }
        Says::Secret => {
            length >= 24 && looks.is_random() && looks.digits > 1 && looks.upper > 1 && looks.lower > 1
        }
        _ => false,
    };
    let code = content.iter().any(|byte| b"(){}[]<>=;,\"'/".contains(byte));
    let code = code
        && !(verdict.says == Says::Secret
            && length >= 32
            && super::classes::run(content, super::classes::BASE64, length) == length);
    if plausible && !code && !super::contains(content, b"REDACTED") {
        hit(text, value, verdict, Joint { tight: true, listed: true, ..Joint::default() })
    } else {
        None
    }
}

/// Finds a password inside a file's name, as in `notes_password_is_copperkettle.md` and `backup_pw_CopperKettle.zip`.
/// `end` is the dot.
pub fn in_file_name(text: &[u8], start: usize, end: usize) -> Option<Hit> {
    const NAMES: [&str; 5] = ["password_is_", "password_", "passwort_", "pass_", "pw_"];
    const EXTENSIONS: &str =
        "md txt zip 7z rar pdf sql gz tgz tar csv json docx xlsx kdbx bak log yml yaml env sh html";
    let extension = &text[end + 1..text.len().min(end + 6)];
    let extension = &extension[..extension.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count()];
    let word = &text[start..end];
    let (at, name) =
        NAMES.iter().find_map(|name| Some((memchr::memmem::find(word, name.as_bytes())?, name)))?;
    let from = start + at + name.len();
    let told = EXTENSIONS.split(' ').any(|known| known.as_bytes() == extension)
        && (at == 0 || word[at - 1] == b'_')
        && made_up::is_nouns(&text[from..end]);
    told.then_some(Hit { start: from, end, kind: "password" })
}

/// Finds the cell after a name in bold, as in `| **Password** | x |`.
pub fn in_bold_cell(text: &[u8], start: usize, end: usize) -> Option<Hit> {
    let rest = text[end..].strip_prefix(b"**")?.trim_ascii_start().strip_prefix(b"|")?;
    let from = text.len() - rest.len() + blanks(rest, 8);
    let mark = usize::from(byte(text, from) == b'`');
    names_password(&text[start..end]).then(|| sentences::accepted(text, from + mark, Least::Words))?
}

/// Finds the value on a line that consists of `password`, a tab or a bar, and the value.
pub fn in_columns(text: &[u8], start: usize, end: usize) -> Option<Hit> {
    let first = start == 0 || text[start - 1] == b'\n';
    if !first || !names_password(&text[start..end]) {
        return None;
    }
    let value = values::value(text, end + 1 + blanks(&text[end + 1..], 8))?;
    let ends = matches!(byte(text, value.end + usize::from(value.quoted)), b'\n' | b'\r' | b'|');
    let content = &text[value.start..value.end];
    let enough = grade(content).is_some()
        || made_up::look(content).is_some()
        || profile(content).is_mixed() && content.len() >= 8;
    told_words(text, value, ends && enough)
}
