//! A user and a password stated as a pair: `log in as admin / x`, `credentials: admin:x`, `user/pass: admin/x`.

use super::Hit;
use super::classes::{BASE64_URL, DOT, blanks, byte, is, run_back, starts_with_ignore_case};
use super::context::last_line;
use super::grades::grade;
use super::sentences::{self, Least};

/// How many bytes before a pair the words that announce it may be.
const REACH: usize = 100;
/// Words, or beginnings of words, that announce a pair.
const TELLING: &str = "login logged signin credential creds zugang anmeld einlogg identifiant connexion accès acceso acesso \
    accesso accedi credencia credenzia inlog wifi wi-fi ssid";
/// Pairs of words that announce a pair.
const TELLING_PAIRS: [&[u8]; 4] = [b"log in", b"log on", b"sign in", b"log into"];
/// Common account names, which usually have a password.
const ACCOUNTS: &str =
    "admin administrator root guest sa superuser superadmin sysadmin operator demo tester testuser";

/// Finds the password in `admin / x`. `at` is the slash between two blanks.
pub fn apart(text: &[u8], at: usize, floor: usize) -> Option<Hit> {
    let before = text[floor..at].strip_suffix(b" ")?;
    let user = name_before(before)?;
    let told = is_told(&before[..before.len() - user.len()]);
    if !told && is_account(user) {
        let end = at + 2 + sentences::value_length(&text[at + 2..]);
        let likely = grade(&text[at + 2..end]).is_some() && !super::contains(&text[at + 2..end], b"REDACTED");
        return likely.then_some(Hit { start: at + 2, end, kind: "password" });
    }
    told.then(|| sentences::accepted(text, at + 2, least(user)))?
}

/// Finds the password in `admin:x` after words such as `log in with`; `at` is the colon after the user
/// `text[start..at]`.
pub fn colon(text: &[u8], start: usize, at: usize) -> Option<Hit> {
    let credentials = || {
        let line = last_line(&text[start.saturating_sub(REACH)..start]);
        [&b"creds"[..], b"credential", b"Creds", b"Credential"].iter().any(|word| super::contains(line, word))
    };
    let near = &text[start.saturating_sub(200)..start];
    // A line of Postfix or Asterisk: `[host]:587 name:x`, `register => name:x@host`.
    let line = last_line(near);
    if line.starts_with(b"[") && super::contains(line, b"]:") && line.len() < 80
        || line.ends_with(b"register => ")
        || line.ends_with(b"stats auth ")
    {
        let end =
            text[at..].iter().take(100).position(|byte| matches!(byte, b'@' | b'\n' | b' ')).unwrap_or(0);
        let end = if end > 1 { at + end } else { text.len() };
        return assigned(&text[..end], at);
    }
    if memchr::memmem::rfind(near, b"chpasswd:").is_some()
        || memchr::memmem::find(last_line(near), b"bundle config").is_some()
    {
        return super::flags::given(text, at + 1);
    }
    if byte(text, at + 1).is_ascii_whitespace() || !is_account(&text[start..at]) && !credentials() {
        return None;
    }
    // A pair such as `root:wheel` is a user and a group.
    let hit = sentences::accepted(text, at + 1, Least::Words)?;
    let after = &text[hit.end..text.len().min(hit.end + 16)];
    let told = is_told(&text[..start])
        || [&b" to log"[..], b" to sign"].iter().any(|words| after.starts_with(words));
    told.then_some(hit)
}

/// Finds the password in `login=name:x`; `at` is the colon.
pub fn assigned(text: &[u8], at: usize) -> Option<Hit> {
    let end = at + 1 + sentences::value_length(&text[at + 1..]);
    let content = &text[at + 1..end];
    let told = grade(content).is_some() || content.len() >= 12 && super::chance::profile(content).is_random();
    let plain = !content.contains(&b'/') && !super::contains(content, b"REDACTED");
    (told && plain).then_some(Hit { start: at + 1, end, kind: "password" })
}

/// Finds the password in `user/pass: admin/x`; `at` is where the user begins.
pub fn joined(text: &[u8], at: usize) -> Option<Hit> {
    let length = text[at..].iter().take(40).take_while(|byte| is(**byte, BASE64_URL | DOT)).count();
    let mark = at + length;
    let told = length > 1 && matches!(byte(text, mark), b'/' | b':');
    let value = mark + 1 + blanks(text.get(mark + 1..)?, 1);
    told.then(|| sentences::accepted(text, value, Least::Word))?
}

/// Finds the password in the first pair after the word that ends at `end`, as in `creds for the box: ann/x` and
/// `credentials are ann:x`.
pub fn behind(text: &[u8], end: usize) -> Option<Hit> {
    let window = &text[end..text.len().min(end + REACH)];
    let window = &window[..memchr::memchr(b'\n', window).unwrap_or(window.len())];
    let mut at = 0;
    for word in window.split(|byte| matches!(byte, b' ' | b'`' | b'"' | b'\'' | b'(')) {
        let user = word.iter().take_while(|byte| is(**byte, BASE64_URL | DOT | super::classes::AT)).count();
        let value = end + at + user + 1;
        let told =
            (2..40).contains(&user) && matches!(byte(word, user), b'/' | b':') && user + 1 < word.len();
        // A path such as `config/Settings2.md` is not a pair.
        let path = || {
            byte(word, user) == b'/' && word[user + 1..].contains(&b'.') || word[user + 1..].contains(&b'/')
        };
        if told
            && !path()
            && let Some(hit) = sentences::accepted(text, value, Least::Words)
            && is_made_up(&text[hit.start..hit.end])
        {
            return Some(hit);
        }
        at += word.len() + 1;
    }
    None
}

/// Whether a text looks made up or random, unlike files and types such as `config/Settings2` and `aws/StsProvider2`.
fn is_made_up(content: &[u8]) -> bool {
    super::made_up::look(content).is_some() || super::chance::profile(content).is_random()
}

fn least(user: &[u8]) -> Least {
    if is_account(user) || user.contains(&b'@') { Least::Word } else { Least::Words }
}

fn is_account(user: &[u8]) -> bool {
    ACCOUNTS.split(' ').any(|known| user.eq_ignore_ascii_case(known.as_bytes()))
}

fn name_before(before: &[u8]) -> Option<&[u8]> {
    let length = run_back(before, BASE64_URL | DOT | super::classes::AT, 64);
    (length > 1).then(|| &before[before.len() - length..])
}

fn is_told(before: &[u8]) -> bool {
    let line = last_line(&before[before.len().saturating_sub(REACH)..]);
    TELLING_PAIRS.iter().any(|words| super::contains(line, words))
        || line
            .split(|byte| byte.is_ascii_whitespace() || matches!(byte, b':' | b'/' | b'(' | b',' | b'*'))
            .any(|word| TELLING.split_ascii_whitespace().any(|known| starts_with_ignore_case(word, known)))
}
