//! Long random values that no other rule knows, in a line that speaks of tokens, keys or logins: `consul acl
//! set-agent-token agent x`, `client.login("x")`.

use super::SecretHit;
use super::chance::profile_value;
use super::classes::{BASE64_URL, EQUALS, byte_is, byte_or_newline, run_length, run_length_at_end};
use super::context::text_after_last_break;

/// A shorter value may be a name.
pub const MIN_TOKEN_BYTES: usize = 20;
const MAX_TOKEN_BYTES: usize = 200;
/// How many bytes of the line are read on each side of the value.
const MAX_LINE_BYTES: usize = 160;

/// Beginnings of words that make a random value in the same line a secret.
const TELLING_WORDS: [&str; 19] = [
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

/// Words that say that the value is public: a digest, a public key, a position in a list.
const PUBLIC_WORDS: [&str; 36] = [
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

/// Finds the random value of which the word `text[start..end]` is a part, if its line speaks of secrets.
pub fn random_value_at(text: &[u8], start: usize, end: usize, floor: usize) -> Option<SecretHit> {
    // Letters of both cases and digits change as in no name. Almost every word fails here.
    if !is_drawn(&text[start..end]) {
        return None;
    }
    let class = BASE64_URL;
    let start = start - run_length_at_end(&text[floor..start], class, MAX_TOKEN_BYTES);
    let end = end + run_length(&text[end..], class, MAX_TOKEN_BYTES);
    let end = end + run_length(&text[end..], EQUALS, 2);
    let before = start.checked_sub(1).map_or(b'\n', |at| text[at]);
    // Next to these bytes the word is a part of base64, of a path, a member or a call.
    let next = byte_or_newline(text, end);
    let part = matches!(before, b'/' | b'+' | b'.' | b'$' | b'#' | b'%')
        || before == b',' && next == b','
        || matches!(next, b'/' | b'+' | b'(' | b'[' | b'%')
        || next == b'.' && byte_is(byte_or_newline(text, end + 1), class);
    if part || end - start > MAX_TOKEN_BYTES {
        return None;
    }
    let above = text_after_last_break(&text[floor.max(start.saturating_sub(MAX_LINE_BYTES))..start]);
    let below = &text[end..text.len().min(end + MAX_LINE_BYTES)];
    let below = &below[..memchr::memchr(b'\n', below).unwrap_or(below.len())];
    let says = |words: &[&str]| contains_any(above, words) || contains_any(below, words);
    let told = says(&TELLING_WORDS) && !says(&PUBLIC_WORDS) && !is_id(above, &text[start..end]);
    told.then_some(SecretHit { start, end, kind: "token" })
}

/// Whether a value is the id of a thing, by its prefix or by the word before it: `"node_id": "x"`, `request x`.
fn is_id(before: &[u8], value: &[u8]) -> bool {
    const ID_PREFIXES: &str = "msg req toolu call run file chatcmpl resp asst thread evt cus pi in sub acct price prod ch txn card src ba re \
        seti cs pm PRR PRRC PR IC I U R O MDQ MDU MDEx kwDO ep job build dpl prj team usr user org ws conv trace span sess session";
    const THINGS: &str = "request trace span user order build job run ref file commit session object node tenant account client customer \
        project message event upload document record item entry row shard instance deployment cluster machine image";
    let before = before.trim_ascii_end();
    let before = &before
        [..before.len() - before.iter().rev().take(4).take_while(|byte| b"\"'`:= (".contains(byte)).count()];
    let word = &before[before.len() - run_length_at_end(before, BASE64_URL, 40)..];
    let prefix = &value[..value.iter().position(|byte| matches!(byte, b'_' | b'-')).unwrap_or(0)];
    let listed =
        |list: &str, word: &[u8]| list.split_ascii_whitespace().any(|known| known.as_bytes() == word);
    super::classes::ends_with_ignore_case(word, "id")
        || super::classes::ends_with_ignore_case(word, "ids")
        || listed(THINGS, &word.to_ascii_lowercase())
        || listed(ID_PREFIXES, prefix)
}

fn is_drawn(word: &[u8]) -> bool {
    // Few words have digits, so this is tested first.
    if word.iter().filter(|byte| byte.is_ascii_digit()).take(2).count() < 2 {
        return false;
    }
    let looks = profile_value(word);
    looks.digits > 1
        && looks.upper > 2
        && looks.lower > 2
        && looks.changes * 4 >= looks.len
        && looks.distinct >= 10
        && !looks.is_filler()
}

/// Whether a text contains one of the words, in any case.
fn contains_any(text: &[u8], words: &[&str]) -> bool {
    (0..text.len()).any(|at| {
        words.iter().any(|word| {
            // A number of tokens says nothing.
            word.as_bytes()[0] == text[at] | 32
                && super::classes::starts_with_ignore_case(&text[at..], word)
                && !(*word == "token" && byte_or_newline(text, at + 5) | 32 == b's')
        })
    })
}
