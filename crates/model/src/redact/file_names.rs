//! Secrets in the names of files and branches: `backup-password-x.zip`, `fix/reset-pw-to-x`, `apikey_x.txt`.

use super::FoundSecret;
use super::chance::profile_value;
use super::classes::{LETTER_OR_DIGIT, byte_or_newline, is_byte_in_class, starts_with_ignore_case};
use super::context::text_after_last_break;
use super::grades::{PasswordGrade, grade_word};
use super::names::{WordList, word_list};

/// Nouns that may come before the value. The flag is true if the noun names a password, and false if it names a random
/// token.
const NOUNS_IN_NAMES: [(&str, bool); 13] = [
    ("password", true),
    ("passwort", true),
    ("passwd", true),
    ("passphrase", true),
    ("pass", true),
    ("pwd", true),
    ("pw", true),
    ("mdp", true),
    ("senha", true),
    ("apikey", false),
    ("api_key", false),
    ("token", false),
    ("secret", false),
];
const MAX_FILE_OR_BRANCH_NAME_BYTES: usize = 80;

/// Finds the value after a noun inside the word `text[start..end]`. If the whole word is a noun and a dash follows,
/// the value follows the dash.
pub fn secret_inside_name(text: &[u8], start: usize, end: usize) -> Option<FoundSecret> {
    let word = &text[start..end];
    // The noun must be at the start of the word or follow an underscore.
    let mut begins = (0..word.len()).filter(|at| *at == 0 || word[at - 1] == b'_');
    let (at, noun, is_password) = begins.find_map(|at| {
        if !matches!(word[at] | 32, b'p' | b'm' | b's' | b'a' | b't') {
            return None;
        }
        NOUNS_IN_NAMES.iter().find_map(|(noun, is_password)| {
            let ends = at + noun.len() == word.len() && byte_or_newline(text, end) == b'-'
                || word.get(at + noun.len()) == Some(&b'_');
            (ends && starts_with_ignore_case(&word[at..], noun)).then_some((at, noun, *is_password))
        })
    })?;
    let mut from = start + at + noun.len() + 1;
    for verb in ["is-", "is_", "to-", "to_"] {
        from += if text[from..].starts_with(verb.as_bytes()) { verb.len() } else { 0 };
    }
    let rest = &text[from..text.len().min(from + MAX_FILE_OR_BRANCH_NAME_BYTES)];
    let joined = |byte: &u8| is_byte_in_class(*byte, LETTER_OR_DIGIT) || b"_-.!@#$%&*+?^".contains(byte);
    let length = rest.iter().take_while(|byte| joined(byte)).count();
    let whole = &rest[..length];
    let stem = memchr::memrchr(b'.', whole).filter(|dot| FILE_EXTENSIONS.contains_word(&whole[dot + 1..]));
    let value = &whole[..stem.unwrap_or(length)];
    let value = &value
        [..value.len() - value.iter().rev().take_while(|byte| matches!(byte, b'.' | b'?' | b'-')).count()];
    let named = stem.is_some()
        || names_branches_or_files(text, start)
        || byte_or_newline(text, from + length) == b'/';
    let secret = match is_password {
        true => grade_word(value) >= Some(if named { PasswordGrade::Likely } else { PasswordGrade::Obvious }),
        false => {
            value.len() >= 20
                && profile_value(value).looks_random()
                && profile_value(value).class_changes >= 4
        }
    };
    let code = matches!(byte_or_newline(text, from + length), b'(' | b'=' | b':' | b'[' | b'{');
    (named && secret && !code && length < MAX_FILE_OR_BRANCH_NAME_BYTES).then_some(FoundSecret {
        start: from,
        end: from + value.len(),
        kind: if is_password { "password" } else { "token" },
    })
}

static FILE_EXTENSIONS: WordList = word_list(
    "\
    asc bak cfg conf csv doc docx dump enc env gpg gz html jpg json kdbx key log md pdf pem png rar rtf sh sql \
    tar tgz txt 7z xlsx yaml yml zip",
);

/// Returns whether the line looks like the command line or output of a tool that names branches or lists files.
fn names_branches_or_files(text: &[u8], start: usize) -> bool {
    let line = text_after_last_break(&text[start.saturating_sub(160)..start]);
    [
        "git ",
        "branch ",
        "-rw",
        "refs/",
        "origin/",
        "HEAD",
        "checkout ",
        "feature/",
        "fix/",
        "hotfix/",
        "bugfix/",
        "chore/",
        "release/",
        "feat/",
    ]
    .iter()
    .any(|word| super::contains_bytes(line, word.as_bytes()))
}
