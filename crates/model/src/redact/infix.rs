//! Tokens without a known prefix. They are recognised by a fixed string in the middle, such as `.atlasv1.`, or at the
//! end.

use super::FoundSecret;
use super::chance::profile_value;
use super::classes::{
    ANY_HEX, BASE64, BASE64_URL, ByteClass, DIGIT, DOT, EQUALS, LETTER_OR_DIGIT, LOWER_HEX, PLUS, SLASH,
    TILDE, UPPER_OR_DIGIT, byte_or_newline, class_run_length, class_run_length_at_end, is_byte_in_class,
};

/// Finds a token around the word `text[start..end]`. The word's length and the byte after it determine which kinds of
/// tokens are tried.
pub fn token_around_word(text: &[u8], start: usize, end: usize) -> Option<FoundSecret> {
    let word = &text[start..end];
    let rest = &text[end..];
    let all = |class: ByteClass| word.iter().all(|byte| is_byte_in_class(*byte, class));
    let hit = |length: usize, kind| Some(FoundSecret { start, end: end + length, kind });
    match (word.len(), byte_or_newline(rest, 0)) {
        (14, b'.') if rest.starts_with(b".atlasv1.") => {
            let length = class_run_length(&rest[9..], BASE64_URL | EQUALS, 100);
            if length >= 50 { hit(9 + length, "terraform-token") } else { None }
        }
        (32, b'-') if all(LOWER_HEX) => {
            if rest.starts_with(b"-us") && is_byte_in_class(byte_or_newline(rest, 3), DIGIT) {
                return hit(3 + class_run_length(&rest[3..], DIGIT, 2), "mailchimp-key");
            }
            let (first, second) = (
                class_run_length(&rest[1..], LOWER_HEX, 9),
                class_run_length(rest.get(10..).unwrap_or_default(), LOWER_HEX, 9),
            );
            if first == 8 && byte_or_newline(rest, 9) == b'-' && second == 8 {
                hit(18, "mailgun-key")
            } else {
                None
            }
        }
        // Windows password dumps have lines such as `name:500:lm:nt:::`.
        (32, b':')
            if all(ANY_HEX)
                && class_run_length(&rest[1..], ANY_HEX, 33) == 32
                && rest[33..].starts_with(b":::") =>
        {
            hit(33, "password-hash")
        }
        (8..=10, b':') if all(DIGIT) && rest.starts_with(b":AA") => {
            let length = class_run_length(&rest[1..], BASE64_URL, 40);
            if (32..=38).contains(&length) { hit(1 + length, "telegram-token") } else { None }
        }
        (40, _)
            if word.ends_with(b"NRAL")
                && word[..36].iter().all(|byte| is_byte_in_class(*byte, LOWER_HEX)) =>
        {
            hit(0, "new-relic-key")
        }
        // The private key of a Bitcoin wallet is written in base58, which excludes `0`, `O`, `I` and `l`.
        (51 | 52, _)
            if is_wallet_key(word) && !matches!(byte_or_newline(rest, 0), b'+' | b'/' | b'=' | b'-') =>
        {
            let before = start.checked_sub(1).map_or(b'\n', |at| text[at]);
            if matches!(before, b'+' | b'/' | b'-') { None } else { hit(0, "wallet-key") }
        }
        (84, _) if &word[52..58] == b"JQQJ99" || &word[76..80] == b"AZDO" => hit(0, "azure-key"),
        _ => None,
    }
}

fn is_wallet_key(word: &[u8]) -> bool {
    let looks = profile_value(word);
    matches!(
        (word.len(), word[0], word[1]),
        (51, b'5', b'H' | b'J' | b'K') | (52, b'K' | b'L', _) | (51, b'9', _) | (52, b'c', _)
    ) && word
        .iter()
        .all(|byte| is_byte_in_class(*byte, LETTER_OR_DIGIT) && !matches!(byte, b'0' | b'O' | b'I' | b'l'))
        && looks.digits > 2
        && looks.upper > 8
        && looks.lower > 8
        && looks.class_changes * 4 >= looks.len
}

/// Finds the secret right after its AWS or Razorpay key id, which ends at `at`. The id and the secret may be two CSV
/// fields, two arguments, or a pair such as `id:secret`.
pub fn secret_after_key_id(text: &[u8], at: usize) -> Option<FoundSecret> {
    if let Some(hit) = razorpay_secret(text, at) {
        return Some(hit);
    }
    let id = &text[at.checked_sub(20)?..at];
    if !(id.starts_with(b"AKIA") || id.starts_with(b"ASIA"))
        || id.iter().any(|byte| !is_byte_in_class(*byte, UPPER_OR_DIGIT))
    {
        return None;
    }
    let start = at + text[at..].iter().take(12).take_while(|byte| b" \t\r\n\"',:;|".contains(byte)).count();
    let length = class_run_length(&text[start..], BASE64, 41);
    let secret = start > at && length == 40 && profile_value(&text[start..start + length]).looks_random();
    secret.then_some(FoundSecret { start, end: start + length, kind: "aws-secret-access-key" })
}

/// Finds the secret after a Razorpay key id that ends at `at`.
fn razorpay_secret(text: &[u8], at: usize) -> Option<FoundSecret> {
    let id = &text[at.checked_sub(23)?..at];
    if !(id.starts_with(b"rzp_live_") || id.starts_with(b"rzp_test_")) {
        return None;
    }
    let start = at + text[at..].iter().take(12).take_while(|byte| b" \t\r\n\"',:;|".contains(byte)).count();
    let length = class_run_length(&text[start..], LETTER_OR_DIGIT, 32);
    let secret = start > at
        && (20..=28).contains(&length)
        && profile_value(&text[start..start + length]).looks_random();
    secret.then_some(FoundSecret { start, end: start + length, kind: "razorpay-secret" })
}

/// Finds an Entra ID client secret, which has the form `abc8Q~` followed by about thirty more bytes. `at` points to the
/// tilde.
pub fn entra_secret(text: &[u8], at: usize, floor: usize) -> Option<FoundSecret> {
    let before = &text[floor..at];
    let class = LETTER_OR_DIGIT | TILDE | DOT | BASE64_URL;
    if before.len() < 5
        || !before.ends_with(b"Q")
        || !is_byte_in_class(before[before.len() - 2], DIGIT)
        || class_run_length_at_end(before, class, 5) < 5
    {
        return None;
    }
    let length = class_run_length(&text[at + 1..], class, 40);
    let mut end = at + 1 + length;
    while text[end - 1] == b'.' {
        end -= 1;
    }
    let secret = length >= 30 && !profile_value(&text[at + 1..end]).is_filler();
    secret.then_some(FoundSecret { start: at - 5, end, kind: "azure-client-secret" })
}

/// Finds an Azure storage or service key by a mark such as `+ASt`, which starts at `at`. The mark is preceded by 42 to
/// 76 base64 characters and followed by at most 12 more, the last of which is `=`.
pub fn azure_storage_key(text: &[u8], at: usize, floor: usize) -> Option<FoundSecret> {
    let rest = &text[at..];
    let marked = [b"+ASt", b"+AMC", b"+ABa", b"+ARm", b"+ACR"].iter().any(|mark| rest.starts_with(*mark));
    if !marked || class_run_length_at_end(&text[floor..at], LETTER_OR_DIGIT | PLUS | SLASH, 76) < 42 {
        return None;
    }
    let length = class_run_length(rest, BASE64, 16);
    let back = class_run_length_at_end(&text[floor..at], LETTER_OR_DIGIT | PLUS | SLASH, 76);
    rest[..length].ends_with(b"=").then_some(FoundSecret {
        start: at - back,
        end: at + length,
        kind: "azure-key",
    })
}

/// Finds a hash such as `$6$salt$hash`, as stored in `/etc/shadow`, `.htpasswd` and databases. A weak password can be
/// recovered from its hash.
pub fn crypt_password_hash_at(text: &[u8], at: usize) -> Option<FoundSecret> {
    const HASH_SCHEMES: [&[u8]; 17] = [
        b"$1$",
        b"$5$",
        b"$6$",
        b"$y$",
        b"$7$",
        b"$2a$",
        b"$2b$",
        b"$2y$",
        b"$apr1$",
        b"$argon2id$",
        b"$argon2i$",
        b"$gy$",
        b"$P$",
        b"$krb5tgs$",
        b"$krb5asrep$",
        b"$pbkdf2-",
        b"$scrypt$",
    ];
    let rest = &text[at..];
    let named = [&b"pbkdf2_sha256"[..], b"SCRAM-SHA-256"].iter().any(|name| text[..at].ends_with(name));
    let scheme =
        if named { &&b"$"[..] } else { HASH_SCHEMES.iter().find(|scheme| rest.starts_with(scheme))? };
    let length = rest
        .iter()
        .take(400)
        .take_while(|byte| {
            is_byte_in_class(**byte, LETTER_OR_DIGIT)
                || b"$./=,+-*_@".contains(byte)
                || named && **byte == b':'
        })
        .count();
    let length = length - rest[..length].iter().rev().take_while(|byte| matches!(byte, b'.' | b',')).count();
    let body = &rest[scheme.len().min(length)..length];
    let plausible = body.len() >= 24 && profile_value(body).looks_random();
    plausible.then_some(FoundSecret { start: at, end: at + length, kind: "password-hash" })
}
