//! Credentials in URLs (`scheme://user:password@host`), and e-mail addresses if requested.

use super::FoundSecret;
use super::chance::profile_value;
use super::classes::{
    BASE64_URL, DASH, DOT, LETTER_OR_DIGIT, PERCENT, PLUS, byte_or_newline, class_run_length,
    class_run_length_at_end, is_byte_in_class,
};

/// The maximum length of a user name and a password together.
const MAX_USERINFO_BYTES: usize = 512;

/// Finds the password before the `@` at `at`, or the token that takes the place of a user name.
pub fn secret_in_userinfo(text: &[u8], at: usize, floor: usize) -> Option<FoundSecret> {
    let before = &text[floor..at];
    let ends = |byte: &u8| *byte <= b' ' || b"\"'`<>@".contains(byte);
    let length = before.iter().rev().take(MAX_USERINFO_BYTES).take_while(|byte| !ends(byte)).count();
    let window = &before[before.len() - length..];
    let scheme = memchr::memmem::rfind(window, b"://").map(|scheme| scheme + 3);
    // Some programs escape slashes in JSON, as in `https:\/\/user:password@host`.
    let scheme = scheme.or_else(|| Some(memchr::memmem::rfind(window, b":\\/\\/")? + 5));
    let Some(scheme) = scheme else {
        // The user name may be a token that has already been redacted, as in `s3://[id]:x@bucket`.
        let user = &text[floor.saturating_sub(120)..floor];
        let user = &user[user.iter().rposition(ends).map_or(0, |at| at + 1)..];
        if length == before.len()
            && window.len() > 8
            && window.starts_with(b":")
            && memchr::memmem::find(user, b"://").is_some()
            && !window[1..].iter().any(|byte| b"/:[".contains(byte))
            && is_byte_in_class(byte_or_newline(text, at + 1), LETTER_OR_DIGIT)
        {
            return Some(FoundSecret { start: at - length + 1, end: at, kind: "url-credentials" });
        }
        if let Some(hit) = password_after_address(text, at - length, at, floor) {
            return Some(hit);
        }
        return secret_without_scheme(text, at - length, at);
    };
    let start = at - length + scheme;
    let info = &text[start..at];
    let end = at + length_to_last_at_sign(&text[at..]);
    if super::contains_bytes(info, b"[REDACTED:")
        || !is_byte_in_class(byte_or_newline(text, at + 1), LETTER_OR_DIGIT)
            && byte_or_newline(text, at + 1) != b'['
            && byte_or_newline(text, at + 1) != b'$'
    {
        return None;
    }
    match memchr::memchr(b':', info) {
        Some(colon) => {
            let password = &info[colon + 1..];
            // If a slash or a port comes before the `@`, the `@` is part of a path.
            let host = info[..colon].contains(&b'/');
            let port =
                password.iter().take_while(|byte| !matches!(byte, b'/' | b'\\')).all(u8::is_ascii_digit);
            let is_path = host || (port && password.contains(&b'/'));
            if password.is_empty() {
                // In `https://key:@host`, a key is sent as the user name.
                let key = !host && colon >= 16 && profile_value(&info[..colon]).looks_random();
                return key.then_some(FoundSecret { start, end: start + colon, kind: "url-credentials" });
            }
            // In `https://token:x-oauth-basic@host`, the user name is the secret.
            let user = &info[..colon];
            if !host
                && user.len() >= 20
                && profile_value(user).looks_random()
                && profile_value(user).digits > 1
            {
                return Some(FoundSecret { start, end, kind: "url-credentials" });
            }
            // The default login `guest:guest` of a message broker works only on the same machine, so it is not a
            // secret.
            let guest = user == b"guest" && password == b"guest" && text[at..].starts_with(b"@localhost");
            let secret = !is_path && !guest && !is_placeholder_password(password);
            secret.then_some(FoundSecret { start: start + colon + 1, end, kind: "url-credentials" })
        }
        None => {
            let token = !info.contains(&b'/') && info.len() >= 16 && profile_value(info).looks_random();
            token.then_some(FoundSecret { start, end: at, kind: "url-credentials" })
        }
    }
}

/// Finds the password in `scheme://name@example.com:password@host`, where the user name is an e-mail address whose `@`
/// is not encoded. The part after that `@` is `text[start..at]`.
fn password_after_address(text: &[u8], start: usize, at: usize, floor: usize) -> Option<FoundSecret> {
    let name = text[floor..start].strip_suffix(b"@")?;
    let ends = |byte: &u8| *byte <= b' ' || b"\"'`<>@".contains(byte);
    let length = name.iter().rev().take(MAX_USERINFO_BYTES).take_while(|byte| !ends(byte)).count();
    memchr::memmem::find(&name[name.len() - length..], b"://")?;
    let colon = memchr::memchr(b':', &text[start..at])?;
    let password = &text[start + colon + 1..at];
    let secret = !password.is_empty()
        && !text[start..at].contains(&b'/')
        && !super::contains_bytes(password, b"[REDACTED:")
        && !is_placeholder_password(password);
    secret.then_some(FoundSecret { start: start + colon + 1, end: at, kind: "url-credentials" })
}

/// Finds the password in Go's form `user:password@tcp(host)` and in Oracle's forms `thin:user/password@host` and
/// `connect user/password@host`.
fn secret_without_scheme(text: &[u8], start: usize, at: usize) -> Option<FoundSecret> {
    let info = &text[start..at];
    let rest = &text[at..];
    let connects = [&b"CONNECT "[..], b"connect ", b"CONN ", b"conn "];
    let short = [&b"@("[..], b"@/"].iter().any(|host| rest.starts_with(host)) && is_user_and_password(info);
    let start = if short || rest.starts_with(b"@tcp(") || rest.starts_with(b"@unix(") {
        start + memchr::memchr(b':', info)? + 1
    } else if connects.iter().any(|verb| text[..start].ends_with(verb)) {
        let from = start + memchr::memchr(b'/', info)? + 1;
        let looks = profile_value(&text[from..at]);
        // A string such as `connect name/branch2@main` is not a login.
        let drawn = looks.has_letters_and_digits() && looks.len >= 8 && looks.class_changes >= 2;
        if !drawn && !super::made_up::consists_of_joined_words(&text[from..at]) {
            return None;
        }
        from
    } else {
        let thin = memchr::memmem::find(info, b":thin:")? + 6;
        start + thin + memchr::memchr(b'/', &info[thin..])? + 1
    };
    let secret = start < at
        && !super::contains_bytes(info, b"[REDACTED:")
        && !is_placeholder_password(&text[start..at]);
    secret.then_some(FoundSecret { start, end: at, kind: "url-credentials" })
}

/// Returns whether `info` has the form `name:password`, without slashes in the password.
fn is_user_and_password(info: &[u8]) -> bool {
    let Some(colon) = memchr::memchr(b':', info) else { return false };
    let named = colon > 0 && info[..colon].iter().all(|byte| is_byte_in_class(*byte, BASE64_URL | DOT));
    named && !info[colon + 1..].contains(&b'/')
}

/// Finds the e-mail address around the `@` at `at`.
pub fn email_around(text: &[u8], at: usize, floor: usize) -> Option<FoundSecret> {
    let local = class_run_length_at_end(&text[floor..at], BASE64_URL | DOT | PLUS | PERCENT, 64);
    let domain = class_run_length(&text[at + 1..], LETTER_OR_DIGIT | DASH | DOT, 253);
    let domain = text[at + 1..at + 1 + domain].trim_ascii_end();
    let length = domain.len() - domain.iter().rev().take_while(|byte| matches!(byte, b'.' | b'-')).count();
    let dot = memchr::memrchr(b'.', &domain[..length])?;
    let top = &domain[dot + 1..length];
    let plausible = local > 0 && dot > 0 && top.len() >= 2 && top.iter().all(u8::is_ascii_alphabetic);
    plausible.then_some(FoundSecret { start: at - local, end: at + 1 + length, kind: "email" })
}

/// Returns the number of bytes before the last `@` in the part of a URL that contains the host. An `@` in a password is
/// not always escaped, so the first `@` may belong to the password.
fn length_to_last_at_sign(text: &[u8]) -> usize {
    let ends = |byte: &u8| *byte <= b' ' || b"\"'`<>/?,;)&|".contains(byte);
    let authority = &text[..text.iter().take(96).take_while(|byte| !ends(byte)).count()];
    memchr::memrchr(b'@', authority).unwrap_or(0)
}

/// Returns whether a password is a placeholder, as in `user:password@`, `user:${PASSWORD}@` and `user:***@`.
fn is_placeholder_password(password: &[u8]) -> bool {
    const PLACEHOLDER_WORDS: &str = "password passwd pass pwd pw passcode passphrase token credentials credential yourpassword your_password your-password mypassword secret_password";
    let looks = profile_value(password);
    let template = matches!(password[0], b'$' | b'{' | b'<' | b'%' | b'[' | b'(' | b':')
        && !is_byte_in_class(byte_or_newline(password, 1), super::classes::DIGIT)
        || super::contains_bytes(password, b"${")
        || super::contains_bytes(password, b"{{")
        || super::contains_bytes(password, b"(");
    // A password that is itself a name of several words is a placeholder, as in `user:db_password@`.
    let named =
        || password.contains(&b'_') && super::names::judge_name(password).is_some() && looks.digits == 0;
    template
        || named()
        || looks.letters() + looks.digits == 0
        || looks.is_filler()
        || PLACEHOLDER_WORDS
            .split_ascii_whitespace()
            .any(|word| password.eq_ignore_ascii_case(word.as_bytes()))
}
