//! Long random values that no other rule finds, in lines that mention tokens, keys or logins, such as `consul acl
//! set-agent-token agent x` and `client.login("x")`.

use super::FoundSecret;
use super::chance::profile_value;
use super::classes::{
    BASE64_URL, EQUALS, byte_or_newline, class_run_length, class_run_length_at_end, is_byte_in_class,
};
use super::context::text_after_last_break;

/// The minimum length of a token. A shorter value may be a name.
pub const MIN_TOKEN_BYTES: usize = 20;
const MAX_TOKEN_BYTES: usize = 200;
/// How many bytes of the line are read on each side of the value.
const MAX_LINE_BYTES: usize = 160;

/// Beginnings of words that show that a random value in the same line is a secret.
const TELLING_WORDS: [&str; 21] = [
    "auth",
    "login\"",
    "cookie",
    "session",
    "token",
    "secret",
    "passw",
    "passphrase",
    "pwd",
    "apikey",
    "api key",
    "api-key",
    "api_key",
    "credential",
    "bearer",
    "private key",
    "access key",
    "authorization",
    "login(",
    "login ",
    "license key",
];

/// Words which show that a value is public. For example, the value is a digest, a public key or a position in a list.
const WORDS_SHOWING_VALUE_IS_PUBLIC: [&str; 36] = [
    "mappings",
    "revision",
    "sha1",
    "sha2",
    "sha3",
    "sha5",
    "md5",
    "hash",
    "digest",
    "checksum",
    "integrity",
    "fingerprint",
    "thumbprint",
    "x5t",
    "h1:",
    "public",
    "pubkey",
    "certificate",
    "certdata",
    "authority-data",
    "data:",
    "base64,",
    "etag",
    "nonce",
    "page",
    "cursor",
    "continuation",
    "next",
    "commit",
    "ssh-",
    "ecdsa-",
    "kid",
    "uuid",
    "peer",
    "example",
    "dummy",
];

/// Finds the random value that contains the word `text[start..end]`, if its line mentions secrets.
pub fn random_value_at(text: &[u8], start: usize, end: usize, floor: usize) -> Option<FoundSecret> {
    // In a random value, digits and letters of both cases alternate more than in any name. Almost every word fails this
    // test.
    if !looks_randomly_generated(&text[start..end]) {
        return None;
    }
    let class = BASE64_URL;
    let start = start - class_run_length_at_end(&text[floor..start], class, MAX_TOKEN_BYTES);
    let end = end + class_run_length(&text[end..], class, MAX_TOKEN_BYTES);
    let end = end + class_run_length(&text[end..], EQUALS, 2);
    let before = start.checked_sub(1).map_or(b'\n', |at| text[at]);
    // If one of these bytes is next to the word, the word is part of base64, a path, a member access or a call.
    let next = byte_or_newline(text, end);
    let part = matches!(before, b'/' | b'+' | b'.' | b'$' | b'#' | b'%')
        || before == b',' && next == b','
        || matches!(next, b'/' | b'+' | b'(' | b'[' | b'%')
        || next == b'.' && is_byte_in_class(byte_or_newline(text, end + 1), class);
    if part || end - start > MAX_TOKEN_BYTES {
        return None;
    }
    let above = text_after_last_break(&text[floor.max(start.saturating_sub(MAX_LINE_BYTES))..start]);
    let below = &text[end..text.len().min(end + MAX_LINE_BYTES)];
    let below = &below[..memchr::memchr(b'\n', below).unwrap_or(below.len())];
    let says = |words: &[&str]| contains_any(above, words) || contains_any(below, words);
    let value = &text[start..end];
    let told = says(&TELLING_WORDS)
        && !says(&WORDS_SHOWING_VALUE_IS_PUBLIC)
        && !is_harmless_id(above, value)
        && !is_wallet_address(value);
    told.then_some(FoundSecret { start, end, kind: "token" })
}

/// Returns whether a value is the address of a wallet or a contract, which is `0x` followed by 40 hexadecimal digits.
pub fn is_wallet_address(value: &[u8]) -> bool {
    value.len() == 42 && value.starts_with(b"0x") && value[2..].iter().all(u8::is_ascii_hexdigit)
}

/// Returns whether a value is an id, judging by its prefix or by the word before it, as in `"node_id": "x"` and
/// `request x`.
fn is_harmless_id(before: &[u8], value: &[u8]) -> bool {
    const ID_PREFIXES: &str = "msg req toolu call run file chatcmpl resp asst thread evt cus pi in sub acct price prod ch txn card src ba re \
        seti cs pm PRR PRRC PR IC I U R O MDQ MDU MDEx kwDO ep job build dpl prj team usr user org ws conv trace span sess session";
    const WORDS_BEFORE_HARMLESS_IDS: &str = "request trace span user order build job run ref file commit session object node tenant account client customer \
        project message event upload document record item entry row shard instance deployment cluster machine image";
    let before = before.trim_ascii_end();
    let before = &before
        [..before.len() - before.iter().rev().take(4).take_while(|byte| b"\"'`:= (".contains(byte)).count()];
    let word = &before[before.len() - class_run_length_at_end(before, BASE64_URL, 40)..];
    let prefix = &value[..value.iter().position(|byte| matches!(byte, b'_' | b'-')).unwrap_or(0)];
    let listed =
        |list: &str, word: &[u8]| list.split_ascii_whitespace().any(|known| known.as_bytes() == word);
    super::classes::ends_with_ignore_case(word, "id")
        || super::classes::ends_with_ignore_case(word, "ids")
        || listed(WORDS_BEFORE_HARMLESS_IDS, &word.to_ascii_lowercase())
        || listed(ID_PREFIXES, prefix)
}

fn looks_randomly_generated(word: &[u8]) -> bool {
    // Few words contain digits, so this is tested first.
    if word.iter().filter(|byte| byte.is_ascii_digit()).take(2).count() < 2 {
        return false;
    }
    let looks = profile_value(word);
    looks.digits > 1
        && looks.upper > 2
        && looks.lower > 2
        && looks.class_changes * 4 >= looks.len
        && looks.distinct_bytes >= 10
        && !looks.is_filler()
}

/// Returns whether `text` contains one of the words, ignoring case.
fn contains_any(text: &[u8], words: &[&str]) -> bool {
    (0..text.len()).any(|at| {
        words.iter().any(|word| {
            // The plural `tokens` is ignored, because it usually follows a number, as in `200 tokens`.
            word.as_bytes()[0] == text[at] | 32
                && super::classes::starts_with_ignore_case(&text[at..], word)
                && !(*word == "token" && byte_or_newline(text, at + 5) | 32 == b's')
                && !(*word == "auth" && byte_or_newline(text, at + 4).is_ascii_alphabetic())
        })
    })
}
