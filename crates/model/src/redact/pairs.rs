//! A user name and a password stated as a pair: `log in as admin / x`, `credentials: admin:x`, `user/pass: admin/x`.

use super::FoundSecret;
use super::classes::{
    BASE64_URL, DOT, byte_or_newline, class_run_length_at_end, count_blanks, is_byte_in_class,
    starts_with_ignore_case,
};
use super::context::text_after_last_break;
use super::grades::grade_word;
use super::sentences::{self, RequiredCertainty};

/// How many bytes before a user name are searched for words that announce a user name and a password.
const MAX_ANNOUNCEMENT_DISTANCE: usize = 100;
/// Words and stems of words that announce a user name and a password.
const ANNOUNCING_WORDS: &str = "login logged signin credential creds zugang anmeld einlogg identifiant connexion accès acceso acesso \
    accesso accedi connecte verbind ssh credencia credenzia inlog wifi wi-fi ssid";
/// Phrases that announce a user name and its password.
const ANNOUNCING_WORD_PAIRS: [&[u8]; 4] = [b"log in", b"log on", b"sign in", b"log into"];
/// Names of accounts that usually have a password.
const ACCOUNT_NAMES: &str =
    "admin administrator root guest sa superuser superadmin sysadmin operator demo tester testuser";

/// Finds the password in `admin / x`. `at` points to the slash between two blanks.
pub fn password_after_slash(text: &[u8], at: usize, floor: usize) -> Option<FoundSecret> {
    let before = text[floor..at].strip_suffix(b" ")?;
    let user = word_before(before)?;
    let told = is_pair_announced(&before[..before.len() - user.len()]);
    if !told && is_account_name(user) {
        let end = at + 2 + sentences::length_of_value_in_sentence(&text[at + 2..]);
        let likely = grade_word(&text[at + 2..end]).is_some()
            && !super::contains_bytes(&text[at + 2..end], b"REDACTED");
        return likely.then_some(FoundSecret { start: at + 2, end, kind: "password" });
    }
    let least = match super::made_up::is_noun_not_used_as_modifier(
        &text[at + 2..at + 2 + sentences::length_of_value_in_sentence(&text[at + 2..])],
    ) {
        true => RequiredCertainty::SingleWord,
        false => required_certainty(user),
    };
    told.then(|| sentences::secret_value_at(text, at + 2, least))?
}

/// Finds the password in `admin:x` after words such as `log in with`. The user is `text[start..at]`, and `at` points to
/// the colon.
pub fn password_after_colon(text: &[u8], start: usize, at: usize) -> Option<FoundSecret> {
    let credentials = || {
        let line = text_after_last_break(&text[start.saturating_sub(MAX_ANNOUNCEMENT_DISTANCE)..start]);
        [&b"creds"[..], b"credential", b"Creds", b"Credential"]
            .iter()
            .any(|word| super::contains_bytes(line, word))
    };
    let near = &text[start.saturating_sub(200)..start];
    // The configurations of Postfix and Asterisk contain lines such as `[host]:587 name:x` and
    // `register => name:x@host`.
    let line = text_after_last_break(near);
    if line.starts_with(b"[") && super::contains_bytes(line, b"]:") && line.len() < 80
        || line.ends_with(b"register => ")
        || line.ends_with(b"stats auth ")
    {
        let end =
            text[at..].iter().take(100).position(|byte| matches!(byte, b'@' | b'\n' | b' ')).unwrap_or(0);
        let end = if end > 1 { at + end } else { text.len() };
        return password_in_assigned_pair(&text[..end], at);
    }
    if memchr::memmem::rfind(near, b"chpasswd:").is_some()
        || memchr::memmem::find(text_after_last_break(near), b"bundle config").is_some()
    {
        return super::flags::secret_as_whole_argument(text, at + 1);
    }
    if byte_or_newline(text, at + 1).is_ascii_whitespace()
        || !is_account_name(&text[start..at]) && !credentials()
    {
        return None;
    }
    // A single word is not accepted. In `root:wheel`, it is a group and not a password.
    let hit = sentences::secret_value_at(text, at + 1, RequiredCertainty::SeveralWords)?;
    let after = &text[hit.end..text.len().min(hit.end + 16)];
    let told = is_pair_announced(&text[..start])
        || [&b" to log"[..], b" to sign"].iter().any(|words| after.starts_with(words));
    told.then_some(hit)
}

/// Finds the password in `u: ann p: x`. The `p` is at `start`, and `at` points to the colon after it.
pub fn password_after_short_label(text: &[u8], start: usize, at: usize) -> Option<FoundSecret> {
    let near = &text[start.saturating_sub(60)..start];
    let told = ["u: ", "u:", "U: ", "user: ", "login: ", "U:"].iter().any(|label| {
        memchr::memmem::rfind(near, label.as_bytes()).is_some_and(|found| {
            found == 0 || !is_byte_in_class(near[found - 1], super::classes::LETTER_OR_DIGIT)
        })
    });
    let from = at + 1 + count_blanks(&text[at + 1..], 2);
    let end = from + sentences::length_of_value_in_sentence(&text[from..]);
    let content = &text[from..end];
    let drawn = grade_word(content).is_some()
        || content.len() >= 8 && super::chance::profile_value(content).looks_random();
    (told && drawn && !super::contains_bytes(content, b"REDACTED")).then_some(FoundSecret {
        start: from,
        end,
        kind: "password",
    })
}

/// Finds the password in `login=name:x`. `at` points to the colon.
pub fn password_in_assigned_pair(text: &[u8], at: usize) -> Option<FoundSecret> {
    let end = at + 1 + sentences::length_of_value_in_sentence(&text[at + 1..]);
    let content = &text[at + 1..end];
    let told = grade_word(content).is_some()
        || content.len() >= 12 && super::chance::profile_value(content).looks_random();
    let plain = !content.contains(&b'/') && !super::contains_bytes(content, b"REDACTED");
    (told && plain).then_some(FoundSecret { start: at + 1, end, kind: "password" })
}

/// Finds the password in `user/pass: admin/x`. `at` is where the user name starts.
pub fn password_in_joined_pair(text: &[u8], at: usize) -> Option<FoundSecret> {
    let length =
        text[at..].iter().take(40).take_while(|byte| is_byte_in_class(**byte, BASE64_URL | DOT)).count();
    let mark = at + length;
    let told = length > 1 && matches!(byte_or_newline(text, mark), b'/' | b':');
    let value = mark + 1 + count_blanks(text.get(mark + 1..)?, 1);
    told.then(|| sentences::secret_value_at(text, value, RequiredCertainty::SingleWord))?
}

/// Finds the password in the first pair after the word that ends at `end`, as in `creds for the box: ann/x` and
/// `credentials are ann:x`.
pub fn password_in_pair_after(text: &[u8], end: usize) -> Option<FoundSecret> {
    let window = &text[end..text.len().min(end + MAX_ANNOUNCEMENT_DISTANCE)];
    let window = &window[..memchr::memchr(b'\n', window).unwrap_or(window.len())];
    let mut at = 0;
    for word in window.split(|byte| matches!(byte, b' ' | b'`' | b'"' | b'\'' | b'(')) {
        let user = word
            .iter()
            .take_while(|byte| is_byte_in_class(**byte, BASE64_URL | DOT | super::classes::AT_SIGN))
            .count();
        let value = end + at + user + 1;
        let told = (2..40).contains(&user)
            && matches!(byte_or_newline(word, user), b'/' | b':')
            && user + 1 < word.len();
        // A path such as `config/Settings2.md` is not a pair.
        let path = || {
            byte_or_newline(word, user) == b'/' && word[user + 1..].contains(&b'.')
                || word[user + 1..].contains(&b'/')
        };
        if told
            && !path()
            && let Some(hit) = sentences::secret_value_at(text, value, RequiredCertainty::SeveralWords)
            && looks_made_up(&text[hit.start..hit.end])
        {
            return Some(hit);
        }
        at += word.len() + 1;
    }
    None
}

/// Returns whether `content` looks made up or random, unlike the file names in `config/Settings2` and
/// `aws/StsProvider2`.
fn looks_made_up(content: &[u8]) -> bool {
    super::made_up::made_up_certainty(content).is_some()
        || super::chance::profile_value(content).looks_random()
}

fn required_certainty(user: &[u8]) -> RequiredCertainty {
    if is_account_name(user) || user.contains(&b'@') {
        RequiredCertainty::SingleWord
    } else {
        RequiredCertainty::SeveralWords
    }
}

fn is_account_name(user: &[u8]) -> bool {
    ACCOUNT_NAMES.split(' ').any(|known| user.eq_ignore_ascii_case(known.as_bytes()))
}

fn word_before(before: &[u8]) -> Option<&[u8]> {
    let length = class_run_length_at_end(before, BASE64_URL | DOT | super::classes::AT_SIGN, 64);
    (length > 1).then(|| &before[before.len() - length..])
}

fn is_pair_announced(before: &[u8]) -> bool {
    let line = text_after_last_break(&before[before.len().saturating_sub(MAX_ANNOUNCEMENT_DISTANCE)..]);
    ANNOUNCING_WORD_PAIRS.iter().any(|words| super::contains_bytes(line, words))
        || line
            .split(|byte| byte.is_ascii_whitespace() || matches!(byte, b':' | b'/' | b'(' | b',' | b'*'))
            .any(|word| {
                ANNOUNCING_WORDS.split_ascii_whitespace().any(|known| starts_with_ignore_case(word, known))
            })
}
