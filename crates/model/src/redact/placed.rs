//! Secrets that are recognised by their position: a value on the line below a name, a literal that a comment describes,
//! a cell of a table, or part of the name of a file or branch.

use super::FoundSecret;
use super::chance::profile_value;
use super::classes::{byte_or_newline, count_blanks};
use super::grades::grade_word;
use super::made_up;
use super::name_spans::name_with_word_before;
use super::named::hit_if_secret;
use super::names::{self, NameStrength, WordList, word_list};
use super::sentences::{self, RequiredCertainty};
use super::stated::{is_password_name, secret_if_password_like};
use super::values::{self, LiteralValue, ValueContext};

/// Finds a literal described by a comment at the end of its line, as in
/// `sign(body, "9f8e…")  # webhook signing secret`. The name `text[start..end]` is a word of the comment.
pub fn secret_described_by_comment(
    text: &[u8],
    start: usize,
    end: usize,
    floor: usize,
) -> Option<FoundSecret> {
    const MAX_COMMENT_WORDS: usize = 6;
    if !follows_comment_mark(&text[floor..start]) {
        return None;
    }
    let line = super::context::text_after_last_break(&text[floor.max(start.saturating_sub(240))..start]);
    let mark = [&b" # "[..], b" // ", b" -- ", b";# ", b"; // "]
        .iter()
        .find_map(|mark| Some(memchr::memmem::rfind(line, mark)? + mark.len()))?;
    // Without a literal or a flag, the line contains no value.
    if !line[..mark].iter().any(|byte| matches!(byte, b'"' | b'\'' | b'`' | b'-')) {
        return None;
    }
    let comment = || line[mark..].split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let other = |word: &[u8]| OTHER_WORDS.contains_word(word);
    let closes =
        matches!(byte_or_newline(text, end), b' ' | b',' | b'.' | b'\n' | b'\r' | b')' | b';' | b':' | b'*');
    let next = text[end..].strip_prefix(b" ").unwrap_or_default();
    let next = &next[..next.iter().take(16).take_while(|byte| byte.is_ascii_alphanumeric()).count()];
    if !closes || comment().count() > MAX_COMMENT_WORDS || comment().any(other) || other(next) {
        return None;
    }
    let verdict =
        names::judge_name(name_with_word_before(text, start, end, floor).unwrap_or(&text[start..end]))?;
    let code = &line[..mark];
    let from = start - line.len();
    let Some(close) = code.iter().rposition(|byte| matches!(byte, b'"' | b'\'' | b'`')) else {
        return argument_before_comment(text, from, code);
    };
    let open = memchr::memrchr(code[close], &code[..close])?;
    let line_break = usize::from(code[..close].ends_with(b"\\n") || code[..close].ends_with(b"\\r")) * 2;
    let value = LiteralValue {
        start: from + open + 1,
        end: from + close.saturating_sub(line_break),
        is_quoted: true,
        is_in_call: false,
    };
    if value.end <= value.start
        || super::lines_about_secrets::is_wallet_address(&text[value.start..value.end])
    {
        return None;
    }
    let sure = matches!(verdict.strength, NameStrength::Password | NameStrength::Secret);
    let random = profile_value(&text[value.start..value.end]).looks_random() && value.end - value.start >= 16;
    let content = &text[value.start..value.end];
    let told = verdict.strength == NameStrength::Password
        && (grade_word(content).is_some()
            || profile_value(content).looks_random()
            || content.len() >= 8 && made_up::is_unlisted_words_joined(content));
    if told {
        return secret_if_password_like(text, value, true);
    }
    if sure && random { hit_if_secret(text, value, verdict, ValueContext::default()) } else { None }
}

/// Words in a comment that show that the literal is not a secret.
static OTHER_WORDS: WordList = word_list(
    "\
    are checksum column count digest dummy example expired fake field file hash header id invalid is length md5 \
    must name names no not of path pattern prefix public regex revoked sha sha1 sha256 should type was without \
    wrong",
);

/// Returns whether a comment mark comes a few words earlier. Almost every noun fails this test.
fn follows_comment_mark(before: &[u8]) -> bool {
    const MAX_BYTES_BACK_TO_COMMENT_MARK: usize = 64;
    let mut at = before.len();
    let lowest = at.saturating_sub(MAX_BYTES_BACK_TO_COMMENT_MARK).max(2);
    while at > lowest {
        at -= 1;
        match before[at] {
            b'\n' => return false,
            b' ' => {
                let mark = before[at - 1];
                if mark == b'#' || matches!(mark, b'/' | b'-') && before[at - 2] == mark {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

/// Finds the argument in `-p x  # password for the registry`. `code` is the text before the comment and begins at
/// `from`.
fn argument_before_comment(text: &[u8], from: usize, code: &[u8]) -> Option<FoundSecret> {
    let code = code.trim_ascii_end();
    let code = code.strip_suffix(b"#").or_else(|| code.strip_suffix(b"//")).unwrap_or(code).trim_ascii_end();
    let blank = memchr::memrchr(b' ', code)?;
    let flag = code[..blank].rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    let value =
        LiteralValue { start: from + blank + 1, end: from + code.len(), is_quoted: false, is_in_call: false };
    let content = &text[value.start..value.end];
    let told = flag.starts_with(b"-") && flag.len() == 2;
    secret_if_password_like(
        text,
        value,
        told && (grade_word(content).is_some() || profile_value(content).looks_random()),
    )
}

/// Finds the value that a debugger or an interpreter prints for the name `text[start..end]`, as in
/// `>>> settings.SECRET_KEY` with `'x'` on the next line.
pub fn secret_echoed_at_prompt(text: &[u8], start: usize, end: usize) -> Option<FoundSecret> {
    const PROMPTS: [&str; 14] = [
        ">>> ", "(pdb) ", "(Pdb) ", "ipdb> ", "In [", "irb(", "pry(", "[1] pry", "> ", "iex(", "scala> ",
        "php > ", "julia> ", "(gdb) ",
    ];
    let closing = text[end..].iter().take(3).take_while(|byte| b"\"'])".contains(byte)).count();
    let rest = &text[end + closing..];
    let rest = rest.strip_prefix(b"\r").unwrap_or(rest).strip_prefix(b"\n")?;
    let line = super::context::text_after_last_break(&text[start.saturating_sub(120)..start]);
    if !PROMPTS.iter().any(|prompt| line.starts_with(prompt.as_bytes())) {
        return None;
    }
    let verdict = names::judge_name(&text[start..end])
        .filter(|verdict| matches!(verdict.strength, NameStrength::Password | NameStrength::Secret))?;
    // A mark may come before the answer, as in `Out[4]: 'x'`, `=> "x"` and `$1 = "x"`.
    let first = &rest[..rest.iter().take(200).position(|byte| *byte == b'\n').unwrap_or(rest.len().min(200))];
    let mark = first.iter().position(|byte| matches!(byte, b'"' | b'\''))?;
    let answers = first[..mark].trim_ascii();
    let known =
        answers.is_empty() || answers.starts_with(b"Out[") || answers == b"=>" || answers.ends_with(b"=");
    let value = values::literal_value_at(text, text.len() - rest.len() + mark)
        .filter(|value| value.is_quoted && known)?;
    hit_if_secret(
        text,
        value,
        verdict,
        ValueContext { is_env_style: true, without_blanks: true, ..ValueContext::default() },
    )
}

/// Finds the last part of a branch or file name such as `fix/password-CopperKettle7` or
/// `backup-password-Copper2024.zip`, if the spelling of that part is unusual for a name. `end` points to the dash.
pub fn secret_in_dashed_name(text: &[u8], start: usize, end: usize) -> Option<FoundSecret> {
    // A verb may come before the value, as in `password-is-copperkettle`.
    let from = end + 1 + usize::from(text[end + 1..].starts_with(b"is-")) * 3;
    let rest = &text[from..text.len().min(from + 64)];
    let names_password = |word: &[u8]| is_password_name(word) || word == b"pw" || word.ends_with(b"_pw");
    let joined = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'!' | b'-' | b'.');
    let whole = LiteralValue {
        start: from,
        end: from + rest.iter().take_while(|byte| joined(byte)).count(),
        is_quoted: false,
        is_in_call: false,
    };
    let whole = LiteralValue { end: values::end_before_extension(text, whole), ..whole };
    if made_up::consists_of_everyday_nouns(&text[from..whole.end]) && names_password(&text[start..end]) {
        return secret_if_password_like(text, whole, true);
    }
    let length = rest.iter().take_while(|byte| joined(byte) && !matches!(byte, b'-' | b'.')).count();
    let content = &text[from..from + length];
    let looks = profile_value(content);
    let cased = looks.upper > 0 && looks.lower > 0;
    // A file name such as `components/password-StrengthMeter.vue` contains no password.
    let git = || {
        super::contains_bytes(
            super::context::text_after_last_break(&text[start.saturating_sub(120)..start]),
            b"git ",
        )
    };
    let words = cased && made_up::consists_of_joined_words(content) && (looks.digits > 0 || git());
    let drawn = cased && looks.digits > 0 && looks.class_changes >= 3 && looks.len >= 8;
    let told = (words || drawn)
        && names_password(&text[start..end])
        && !matches!(byte_or_newline(text, from + length), b'(' | b'-' | b'=' | b':' | b'{');
    secret_if_password_like(
        text,
        LiteralValue { start: from, end: from + length, is_quoted: false, is_in_call: false },
        told,
    )
}

/// Finds the value on the line below a line that ends with `Password` or `the token is`. The name is
/// `text[start..end]`, and its line ends at `at`.
pub fn secret_on_next_line(text: &[u8], start: usize, end: usize, at: usize) -> Option<FoundSecret> {
    let rest = text[at..].strip_prefix(b"\r").unwrap_or(&text[at..]).strip_prefix(b"\n")?;
    let rest = rest.strip_prefix(b"\n").unwrap_or(rest);
    let from = text.len() - rest.len() + count_blanks(rest, 8);
    let length = text[from..].iter().take(200).take_while(|byte| byte.is_ascii_graphic()).count();
    if !matches!(byte_or_newline(text, from + length), b'\n' | b'\r') || length < 8 || length == 200 {
        return None;
    }
    let verdict = names::judge_name(name_with_word_before(text, start, end, 0).unwrap_or(&text[start..end]))
        .or_else(|| names::judge_name(&text[start..end]))?;
    let content = &text[from..from + length];
    let looks = profile_value(content);
    let value = LiteralValue { start: from, end: from + length, is_quoted: false, is_in_call: false };
    let plausible = match verdict.strength {
        NameStrength::Password => {
            made_up::consists_of_everyday_nouns(content)
                || looks.looks_random() && looks.digits > 0 && looks.upper > 0
        }
        NameStrength::Secret => {
            let label = super::context::text_after_last_break(&text[start.saturating_sub(40)..start]);
            let hex = matches!(length, 32 | 40 | 48 | 64)
                && content.iter().all(u8::is_ascii_hexdigit)
                && label.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b' ')
                && label.len() < 24;
            hex || length >= 24
                && looks.looks_random()
                && looks.digits > 1
                && looks.upper > 1
                && looks.lower > 1
        }
        _ => false,
    };
    let code = content.iter().any(|byte| b"(){}[]<>=;,\"'/".contains(byte));
    let code = code
        && !(verdict.strength == NameStrength::Secret
            && length >= 32
            && super::classes::class_run_length(content, super::classes::BASE64, length) == length);
    if plausible && !code && !super::contains_bytes(content, b"REDACTED") {
        hit_if_secret(
            text,
            value,
            verdict,
            ValueContext { without_blanks: true, is_in_list: true, ..ValueContext::default() },
        )
    } else {
        None
    }
}

/// Finds a password inside a file name, as in `notes_password_is_copperkettle.md` and `backup_pw_CopperKettle.zip`.
/// `end` points to the dot.
pub fn secret_in_file_name(text: &[u8], start: usize, end: usize) -> Option<FoundSecret> {
    const NAME_PREFIXES: [&str; 5] = ["password_is_", "password_", "passwort_", "pass_", "pw_"];
    const FILE_EXTENSIONS: &str =
        "md txt zip 7z rar pdf sql gz tgz tar csv json docx xlsx kdbx bak log yml yaml env sh html";
    let extension = &text[end + 1..text.len().min(end + 6)];
    let extension = &extension[..extension.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count()];
    let word = &text[start..end];
    let (at, name) =
        NAME_PREFIXES.iter().find_map(|name| Some((memchr::memmem::find(word, name.as_bytes())?, name)))?;
    let from = start + at + name.len();
    let told = FILE_EXTENSIONS.split(' ').any(|known| known.as_bytes() == extension)
        && (at == 0 || word[at - 1] == b'_')
        && made_up::consists_of_everyday_nouns(&text[from..end]);
    told.then_some(FoundSecret { start: from, end, kind: "password" })
}

/// Finds the value in the cell after a bold name, as in `| **Password** | x |`.
pub fn secret_in_cell_after_bold(text: &[u8], start: usize, end: usize) -> Option<FoundSecret> {
    let rest = text[end..].strip_prefix(b"**")?.trim_ascii_start().strip_prefix(b"|")?;
    let from = text.len() - rest.len() + count_blanks(rest, 8);
    let mark = usize::from(byte_or_newline(text, from) == b'`');
    is_password_name(&text[start..end])
        .then(|| sentences::secret_value_at(text, from + mark, RequiredCertainty::SeveralWords))?
}

/// Finds the value on a line that consists of `password`, a tab or a bar, and the value.
pub fn secret_in_columns(text: &[u8], start: usize, end: usize) -> Option<FoundSecret> {
    let first = start == 0 || text[start - 1] == b'\n';
    if !first || !is_password_name(&text[start..end]) {
        return None;
    }
    let gap = count_blanks(&text[end..], 24);
    let bar = end + gap + usize::from(matches!(byte_or_newline(text, end + gap), b'|' | b'\t'));
    let value = values::literal_value_at(text, bar + count_blanks(&text[bar..], 8))?;
    let ends =
        matches!(byte_or_newline(text, value.end + usize::from(value.is_quoted)), b'\n' | b'\r' | b'|');
    let content = &text[value.start..value.end];
    let enough = grade_word(content).is_some()
        || made_up::made_up_certainty(content).is_some()
        || super::lexicon::count_everyday_nouns(content) > 0
        || profile_value(content).has_letters_and_digits() && content.len() >= 8;
    secret_if_password_like(text, value, ends && enough)
}
