//! Passwords that follow their name without a separator, in SQL statements, router configurations and Lisp forms.

use super::FoundSecret;
use super::chance::profile_value;
use super::classes::byte_or_newline;
use super::made_up;
use super::stated::secret_if_password_like;
use super::values::{self, LiteralValue};

/// Finds the password in `SET PASSWORD FOR 'name'@'host' = 'x'`.
pub fn secret_in_set_password(text: &[u8], start: usize, end: usize) -> Option<FoundSecret> {
    let set = super::classes::ends_with_ignore_case(&text[..start], "set ");
    let window = &text[end..text.len().min(end + 100)];
    if !set || !window.get(..5)?.eq_ignore_ascii_case(b" for ") {
        return None;
    }
    let at = end + memchr::memmem::find(window, b" = ")? + 3;
    values::opening_quote_at(text, at)?;
    super::flags::secret_as_whole_argument(text, at)
}

/// Finds the password in a router's or switch's configuration, as in `enable secret x` and
/// `username name password 0 x`.
pub fn secret_in_router_config(text: &[u8], start: usize, end: usize) -> Option<FoundSecret> {
    let line =
        super::context::text_after_last_break(&text[start.saturating_sub(120)..start]).trim_ascii_start();
    let line = line
        .iter()
        .position(|byte| matches!(byte, b'#' | b'>'))
        .map_or(line, |prompt| line[prompt + 1..].trim_ascii());
    let command = [
        &b"enable"[..],
        b"username ",
        b"tacacs-server ",
        b"radius-server ",
        b"crypto isakmp ",
        b"neighbor ",
        b"ppp ",
        b"set vpn ",
        b"set system ",
    ]
    .iter()
    .any(|command| line.starts_with(command));
    // Prose such as `username and password properties` contains no value.
    let prose = [&b"username and "[..], b"username or "].iter().any(|words| line.starts_with(words));
    if !command || prose || line.len() > 80 || byte_or_newline(text, end) != b' ' {
        return None;
    }
    let kind = byte_or_newline(text, end + 1).is_ascii_digit() && byte_or_newline(text, end + 2) == b' ';
    let value = values::literal_value_at(text, end + if kind { 3 } else { 1 })?;
    let looks = profile_value(&text[value.start..value.end]);
    let plausible = looks.len >= 6
        && (looks.has_letters_and_digits()
            || looks.symbols > 0
            || made_up::made_up_certainty(&text[value.start..value.end]).is_some());
    secret_if_password_like(text, value, plausible && made_up::ends_clause(text, value.end))
}

/// Returns the scrambled password after the type digit, as in the router line `password 7 0822455D0A16`.
pub fn value_after_type_digit(text: &[u8], kind: LiteralValue) -> Option<LiteralValue> {
    let scrambled = |value: &LiteralValue| {
        let content = &text[value.start..value.end];
        content.len() >= 8
            && content.iter().all(u8::is_ascii_hexdigit)
            && content.iter().any(u8::is_ascii_digit)
    };
    let digit = kind.end == kind.start + 1 && text[kind.start].is_ascii_digit();
    (digit && byte_or_newline(text, kind.end) == b' ')
        .then(|| values::literal_value_at(text, kind.end + 1).filter(scrambled))?
}

/// Returns whether a value is the last part of a Lisp form, as in `(setq smtp-password "x")`. `before` is the text
/// before the name.
pub fn is_in_lisp_form(text: &[u8], value: LiteralValue, before: &[u8]) -> bool {
    let line = super::context::text_after_last_break(before).trim_ascii_start();
    let form = line.strip_prefix(b"(").unwrap_or_default();
    let verb = &form[..super::classes::class_run_length(form, super::classes::BASE64_URL, 24)];
    value.is_quoted
        && byte_or_newline(text, value.end + 1) == b')'
        && matches!(
            verb,
            b"setq"
                | b"setf"
                | b"setopt"
                | b"def"
                | b"defvar"
                | b"define"
                | b"defparameter"
                | b"defconst"
                | b"setq-default"
                | b"defcustom"
        )
}
