//! The single pass over the bytes. The byte at each position determines which rules are tried.

use super::classes::{
    ANY_HEX, BASE64, DIGIT, IDENTIFIER_BYTE, LETTER_OR_DIGIT, LOWER, UNDERSCORE, byte_or_newline,
    class_run_length, is_byte_in_class,
};
use super::{
    FoundSecret, PLACEHOLDER_START, RedactOptions, TableHead, calls, commands, file_names, flags, headers,
    infix, keys, languages, lines_about_secrets, mentions, named, pairs, pipes, placed, sentences, shape,
    stated, tables, urls,
};

/// Finds the first secret at or after `floor`. Bytes before `floor` are used only as context.
pub fn next_secret(
    text: &[u8],
    floor: usize,
    options: RedactOptions,
    heads: &mut Vec<TableHead>,
) -> Option<FoundSecret> {
    if let Some(hit) = infix::secret_after_key_id(text, floor) {
        return Some(hit);
    }
    let mut floor = floor;
    let mut at = floor;
    // The end of the last escape sequence. A new word starts there, even if the escape ends with a letter.
    let mut edge = floor;
    while at < text.len() {
        let action = SCAN_ACTIONS[usize::from(text[at])];
        let hit = match action {
            ScanAction::Skip => {
                at += 1;
                continue;
            }
            ScanAction::Word => match token_at(text, at, edge) {
                Some(hit) => Some(hit),
                None => {
                    let end = at + word_length(&text[at..]);
                    let hit = secret_at_word(text, at, end, floor, heads);
                    if hit.is_none() {
                        at = end;
                        continue;
                    }
                    hit
                }
            },
            ScanAction::Assign => named::secret_assigned_at(text, at, floor),
            // Base64 in a data URL, such as `data:image/png;base64,…`, is content and not a secret.
            ScanAction::Comma if text[floor..at].ends_with(b";base64") => {
                at += 1 + class_run_length(&text[at + 1..], BASE64, text.len());
                continue;
            }
            ScanAction::Comma if matches!(text[floor..at].last(), Some(b'"' | b'\'')) => {
                calls::secret_in_named_argument(text, at, floor)
            }
            ScanAction::Element if text[floor..at].ends_with(b"-") => {
                named::secret_after_arrow(text, at, floor)
            }
            ScanAction::Element if text[floor..at].ends_with(b" on ") => {
                commands::secret_in_redis_acl(text, at)
            }
            ScanAction::Element => calls::secret_in_element(text, at, floor),
            ScanAction::Call if calls::may_take_secret(&text[floor..at], byte_or_newline(text, at + 1)) => {
                calls::secret_in_named_call(text, at, floor)
                    .or_else(|| calls::secret_at_fixed_position(text, at, floor))
            }
            ScanAction::Call => calls::secret_at_fixed_position(text, at, floor),
            ScanAction::Or
                if byte_or_newline(text, at + 1) == text[at] || byte_or_newline(text, at + 1) == b':' =>
            {
                named::secret_in_default_only(text, at, floor)
            }
            ScanAction::Or => None,
            ScanAction::At => secret_at_at_sign(text, at, floor, options),
            ScanAction::Dash if text[at..].starts_with(b"----") => keys::private_key(text, at, floor),
            ScanAction::Dash if text[floor..at].ends_with(b"<") => {
                named::secret_after_left_arrow(text, at, floor)
            }
            ScanAction::Dash
                if matches!(byte_or_newline(text, at + 1), b'b' | b't')
                    && commands::may_be_setting_command(&text[floor..at]) =>
            {
                commands::secret_in_setting_command(text, at)
            }
            ScanAction::Dash => {
                flags::secret_of_flag(text, at, floor).or_else(|| sentences::secret_in_list_item(text, at))
            }
            ScanAction::Foreign if text[at..].starts_with("→".as_bytes()) => {
                named::secret_after_wide_arrow(text, at, floor)
            }
            ScanAction::Foreign => languages::secret_after_name(text, at),
            ScanAction::Dollar => infix::crypt_password_hash_at(text, at),
            ScanAction::Tilde => infix::entra_secret(text, at, floor),
            ScanAction::Plus => infix::azure_storage_key(text, at, floor),
            ScanAction::Slash if byte_or_newline(text, at + 1) == b' ' && text[floor..at].ends_with(b" ") => {
                pairs::password_after_slash(text, at, floor)
            }
            ScanAction::Slash => None,
            ScanAction::Here if text[floor..at].ends_with(b" ") && text[at..].starts_with(b"<<<") => {
                pipes::secret_in_here_string(text, at)
            }
            ScanAction::Here => None,
            ScanAction::Star if matches!(byte_or_newline(text, at + 1), b' ' | b'\t') => {
                tables::secret_in_ppp_file(text, at, floor)
            }
            ScanAction::Star
                if matches!(byte_or_newline(text, at + 1), b'\n' | b'\r')
                    && matches!(text[floor..at].last(), Some(b' ' | b'\t')) =>
            {
                tables::chap_secret(text, at, floor)
            }
            ScanAction::Star => None,
            ScanAction::Bracket => {
                if let Some(length) = redaction_placeholder_length(&text[at..]) {
                    at += length;
                    (floor, edge) = (at, at);
                    continue;
                }
                if sentences::is_after_secret_list_name(&text[floor..at])
                    && heads.len() < super::MAX_TABLE_HEADS
                {
                    heads.push(TableHead::List(at + 1));
                }
                None
            }
            ScanAction::Escape => {
                let (length, hit) = skip_escape(text, at, floor);
                if hit.is_none() {
                    at += length;
                    edge = at;
                    continue;
                }
                hit
            }
            ScanAction::Percent => {
                at += if class_run_length(&text[at + 1..], ANY_HEX, 2) == 2 { 3 } else { 1 };
                edge = at;
                continue;
            }
            ScanAction::Comma if text[at + 1..].starts_with(b" \"") || text[at + 1..].starts_with(b" '") => {
                calls::secret_named_by_symbol(text, at, floor)
            }
            ScanAction::Comma => None,
        };
        if hit.is_some() {
            return hit;
        }
        at += 1;
    }
    None
}

#[derive(Clone, Copy)]
enum ScanAction {
    Skip,
    Word,
    Assign,
    Comma,
    Element,
    Call,
    Or,
    At,
    Dash,
    Tilde,
    Plus,
    Slash,
    Here,
    Star,
    Bracket,
    Escape,
    Percent,
    /// A byte that may start the non-ASCII name of a secret, such as `пароль`.
    Foreign,
    Dollar,
}

static SCAN_ACTIONS: [ScanAction; 256] = build_scan_actions();

const fn build_scan_actions() -> [ScanAction; 256] {
    let mut actions = [ScanAction::Skip; 256];
    let mut byte = 128;
    while byte < 256 {
        if languages::may_begin_non_ascii_name(byte as u8) {
            actions[byte] = ScanAction::Foreign;
        }
        byte += 1;
    }
    byte = 0;
    while byte < 128 {
        actions[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => ScanAction::Word,
            b'=' | b':' => ScanAction::Assign,
            b',' => ScanAction::Comma,
            b'>' => ScanAction::Element,
            b'(' => ScanAction::Call,
            b'|' | b'?' => ScanAction::Or,
            b'@' => ScanAction::At,
            b'-' => ScanAction::Dash,
            b'~' => ScanAction::Tilde,
            b'+' => ScanAction::Plus,
            b'/' => ScanAction::Slash,
            b'<' => ScanAction::Here,
            b'*' => ScanAction::Star,
            b'[' => ScanAction::Bracket,
            b'\\' | 0x1b => ScanAction::Escape,
            b'%' => ScanAction::Percent,
            b'$' => ScanAction::Dollar,
            _ => ScanAction::Skip,
        };
        byte += 1;
    }
    actions
}

#[inline]
fn word_length(text: &[u8]) -> usize {
    text.iter().position(|byte| !is_byte_in_class(*byte, IDENTIFIER_BYTE)).unwrap_or(text.len())
}

/// Finds a token that starts with the word at `at`. The function runs before the scan looks for the end of the word,
/// because a word of several megabytes may contain thousands of tokens.
#[inline]
fn token_at(text: &[u8], at: usize, edge: usize) -> Option<FoundSecret> {
    let start = if text[at] == b'_' { at + class_run_length(&text[at..], UNDERSCORE, 8) } else { at };
    if start == text.len() {
        return None;
    }
    if let Some(hit) = shape::token_starting_at(text, start, edge) {
        return Some(hit);
    }
    if matches!(text[start], b'M' | b'b')
        && shape::is_word_start(text, start, edge)
        && let Some(hit) = keys::private_key_without_frame(text, start)
    {
        return Some(hit);
    }
    // The dots of a JSON Web Token distinguish it from base64, so it is also found in a path such as
    // `https://host/verify/eyJ…`.
    let web = text[start] == b'e'
        && text[start..].starts_with(b"eyJ")
        && (shape::is_word_start(text, start, edge) || text[start - 1] == b'/');
    if web { keys::json_web_token(text, start) } else { None }
}

/// Finds the secret that the word `text[start..end]` announces or is part of. For almost all words, there is none.
#[inline(always)]
fn secret_at_word(
    text: &[u8],
    start: usize,
    end: usize,
    floor: usize,
    heads: &mut Vec<TableHead>,
) -> Option<FoundSecret> {
    let next = byte_or_newline(text, end);
    let length = end - start;
    let odd = matches!(
        (length, next),
        (8..=10 | 14, b':')
            | (8.., b'.')
            | (8.., b'@' | b'#' | b'$')
            | (lines_about_secrets::MIN_TOKEN_BYTES.., _)
            | (_, b'-' | b'\t' | 0x80..)
    ) || next == b' ' && text[end - 1] == b'T'
        || length >= 12 && is_byte_in_class(text[end - 1], DIGIT);
    if odd || ends_like_known_word(&text[start..end]) {
        secret_at_known_word(text, start, end, floor, heads)
    } else {
        None
    }
}

fn secret_at_known_word(
    text: &[u8],
    start: usize,
    end: usize,
    floor: usize,
    heads: &mut Vec<TableHead>,
) -> Option<FoundSecret> {
    let next = byte_or_newline(text, end);
    // In `GET /account/password HTTP/1.1` the word is the end of a path, so no value follows it.
    if next == b' ' && text[end..].starts_with(b" HTTP/") {
        return None;
    }
    if (end - start >= MIN_INNER_TOKEN_BYTES || next == b'-')
        && let Some(hit) = token_inside_word(text, start, end)
    {
        return Some(hit);
    }
    if next == b'.'
        && end - start >= MIN_INNER_TOKEN_BYTES
        && let Some(hit) = placed::secret_in_file_name(text, start, end)
    {
        return Some(hit);
    }
    if (next == b'-' || end - start >= 8 && memchr::memchr(b'_', &text[start..end]).is_some())
        && let Some(hit) = file_names::secret_inside_name(text, start, end)
    {
        return Some(hit);
    }
    if next == b'-' && &text[start..end] == b"impacket" {
        return commands::secret_in_packaged_impacket(text, end);
    }
    if matches!((end - start, next), (8..=10 | 14 | 32, b':' | b'.' | b'-') | (40 | 51 | 52 | 84, _))
        && let Some(hit) = infix::token_around_word(text, start, end)
    {
        return Some(hit);
    }
    if next == b'\t' && matches!(&text[start..end], b"TRUE" | b"FALSE") {
        return tables::secret_in_cookie_file(text, end);
    }
    if next == b' ' && text[end - 1] == b'T' && text[start..end].ends_with(b"_PAT") {
        return stated::secret_stated_after_name(text, start, end);
    }
    if end - start >= lines_about_secrets::MIN_TOKEN_BYTES
        && let Some(hit) = lines_about_secrets::random_value_at(text, start, end, floor)
    {
        return Some(hit);
    }
    // The last two letters rule out almost all words.
    if next < 0x80 && !ends_like_known_word(&text[start..end]) {
        return None;
    }
    if matches!(next, b',' | b';' | b'\t' | b'|' | b'\n' | b'\r' | b' ' | b'"')
        && (stated::ends_like_secret_name(&text[start..end])
            || languages::may_announce_secret(&text[start..end]))
        && tables::may_be_column_head(text, start, end)
        && heads.len() < super::MAX_TABLE_HEADS
    {
        heads.push(TableHead::Column(start));
    }
    announced_secret(text, start, end, floor, heads)
        .or_else(|| mentions::secret_near_noun(text, start, end, floor))
        .or_else(|| {
            stated::ends_like_secret_name(&text[start..end]).then(|| {
                placed::secret_echoed_at_prompt(text, start, end)
                    .or_else(|| placed::secret_described_by_comment(text, start, end, floor))
            })?
        })
}

/// Finds the secret that the keyword `text[start..end]` announces. The text after the keyword determines which scanner
/// is used.
fn announced_secret(
    text: &[u8],
    start: usize,
    end: usize,
    floor: usize,
    heads: &mut Vec<TableHead>,
) -> Option<FoundSecret> {
    let next = byte_or_newline(text, end);
    match (end - start, next) {
        (6, b' ') if text[start..end].eq_ignore_ascii_case(b"bearer") => {
            headers::token_after_bearer(text, end)
        }
        (6, b'\n' | b'\r' | b'"')
            if &text[start..end] == b"Secret" && tables::ends_with_kind_key(&text[..start]) =>
        {
            heads.push(TableHead::Manifest(start));
            None
        }
        (5, b'\n' | b'\r') if &text[start..end] == b"LOGIN" && text[..start].ends_with(b"AUTH ") => {
            commands::secrets_in_mail_login(text, end)
        }
        (2, b' ') if &text[start..end] == b"as" => stated::quoted_secret_named_after(text, start, end, floor),
        (_, b'?' | b',' | b'.' | b';')
            if matches!(byte_or_newline(text, end + 1), b' ' | b'\n' | b'\r')
                && stated::ends_like_secret_name(&text[start..end]) =>
        {
            stated::secret_in_next_clause(text, start, end)
                .or_else(|| stated::secret_typed_before_name(text, start, end, floor))
                .or_else(|| stated::secret_used_before_name(text, start, end, floor))
        }
        (_, b',' | b'?') if languages::may_announce_secret(&text[start..end]) => {
            languages::secret_after_comma(text, start, end)
                .or_else(|| languages::secret_before_name(text, start, end, floor))
        }
        (_, b'\n' | b'"' | b'\r') if stated::ends_like_secret_name(&text[start..end]) => {
            placed::secret_on_next_line(text, start, end, end)
                .or_else(|| stated::secret_used_before_name(text, start, end, floor))
                .or_else(|| stated::secret_typed_before_name(text, start, end, floor))
                .or_else(|| commands::secret_in_expect_send(text, end))
                .or_else(|| stated::secret_in_quoted_setting(text, start, end))
        }
        // The verb may be attached to the name, as in `the password's x`.
        (_, b'\'') if text[end..].starts_with(b"'s ") && stated::ends_like_secret_name(&text[start..end]) => {
            stated::secret_in_next_clause(text, start, end)
        }
        (_, b'"' | b'\'') if stated::ends_like_secret_name(&text[start..end]) => {
            stated::secret_in_quoted_setting(text, start, end)
        }
        (_, b'\n' | b'.') if languages::may_announce_secret(&text[start..end]) => {
            languages::secret_before_name(text, start, end, floor)
                .or_else(|| placed::secret_on_next_line(text, start, end, end))
        }
        (_, b'*') if text[start..end].ends_with(b"assword") => commands::secret_in_expect_send(text, end + 1)
            .or_else(|| placed::secret_in_cell_after_bold(text, start, end)),
        (_, b'-') if stated::ends_like_secret_name(&text[start..end]) => {
            placed::secret_in_dashed_name(text, start, end)
        }
        (_, b'\t' | b'|') if stated::ends_like_secret_name(&text[start..end]) => {
            placed::secret_in_columns(text, start, end)
        }
        (2, b' ') if text[start..end].eq_ignore_ascii_case(b"by") => {
            flags::secret_in_identified_by(text, start, end)
        }
        (4, b' ') if &text[start..end] == b"echo" => pipes::secret_piped_to_command(text, end),
        (6, b' ') if &text[start..end] == b"printf" => pipes::secret_piped_to_command(text, end),
        (4, b' ') if &text[start..end] == b"user" && text[..start].ends_with(b"net ") => {
            flags::password_after_name(text, end)
        }
        (8, b' ') if &text[start..end] == b"add_user" => flags::password_after_name(text, end),
        (15 | 12, b' ') if matches!(&text[start..end], b"change_password" | b"set_password") => {
            flags::password_after_name(text, end)
        }
        (12, b' ') if &text[start..end] == b"SecureString" => {
            flags::secret_after_secure_string_command(text, end)
        }
        (13, b' ') if &text[start..end] == b"Authorization" && byte_or_newline(text, end + 1) == b'"' => {
            headers::credential_in_header(text, end + 1)
        }
        (6, b' ' | b'(' | b'\n') if text[start..end].eq_ignore_ascii_case(b"values") => {
            heads.push(TableHead::Values(end));
            None
        }
        // In C++, braces initialise a variable, as in `std::string token{"x"}`.
        (_, b'{')
            if byte_or_newline(text, end + 1) == b'"' && stated::ends_like_secret_name(&text[start..end]) =>
        {
            named::secret_in_initialiser(text, start, end)
        }
        (_, b' ') if commands::may_take_secret(&text[start..end]) => {
            commands::secret_after_command(text, start, end)
                .or_else(|| stated::secret_stated_after_name(text, start, end))
        }
        (_, b' ' | b'`') if stated::ends_like_secret_name(&text[start..end]) => {
            stated::secret_stated_after_name(text, start, end)
                .or_else(|| languages::secret_after_foreign_secret_word(text, start, end))
                .or_else(|| stated::secret_used_before_name(text, start, end, floor))
        }
        (5, b':') if text[start..end].eq_ignore_ascii_case(b"clave") => {
            languages::secret_after_foreign_secret_word(text, start, end)
        }
        (_, b' ' | b'-' | 0x80..) if languages::may_announce_secret(&text[start..end]) => {
            languages::secret_after_foreign_secret_word(text, start, end)
                .or_else(|| languages::secret_before_name(text, start, end, floor))
        }
        // The name continues with a letter that is not ASCII.
        (3 | 8, 0xc3 | 0xc5) if matches!(text[start] | 32, b'c' | b'h') => {
            if tables::may_be_column_head(text, start, end + 3) && heads.len() < super::MAX_TABLE_HEADS {
                heads.push(TableHead::Column(start));
            }
            languages::secret_after_name(text, start)
                .or_else(|| languages::secret_before_name(text, start, end, floor))
        }
        (1, 0xc3) if text[start] | 32 == b'l' => languages::secret_after_name(text, start),
        (_, 0xc3) => languages::secret_after_accented_key(text, start, end),
        _ => None,
    }
}

/// The minimum length of a word that may contain a token, as in `key_sk_live_…`.
const MIN_INNER_TOKEN_BYTES: usize = 24;
const MAX_SCANNED_WORD_BYTES: usize = 256;

/// Finds a token that starts after an underscore in the word `text[start..end]`.
fn token_inside_word(text: &[u8], start: usize, end: usize) -> Option<FoundSecret> {
    if end - start > MAX_SCANNED_WORD_BYTES {
        return None;
    }
    let behind = |at: usize| {
        if start + at + 1 < text.len() { shape::token_starting_at(text, start + at + 1, start) } else { None }
    };
    memchr::memchr_iter(b'_', &text[start..end]).find_map(behind)
}

/// The last two letters, in lower case, of every word that [`secret_at_word`] supports.
const KNOWN_WORD_ENDS: &[u8] = b"fy ey en et rd wd se al ls th in ss pw sk rt tx us dp dr an xp mp py re it er rp es pi ve ha lo na la by ho ng on as de ol ds ty ck tf el im is to do ts ns li ce hl cl ic ue xt dd sh ql ll oi fo";
static KNOWN_WORD_END_BITS: [u32; 32] = build_known_word_end_bits();

const fn build_known_word_end_bits() -> [u32; 32] {
    let mut table = [0; 32];
    let mut at = 0;
    while at < KNOWN_WORD_ENDS.len() {
        table[(KNOWN_WORD_ENDS[at] & 31) as usize] |= 1 << (KNOWN_WORD_ENDS[at + 1] & 31);
        at += 3;
    }
    table
}

#[inline]
fn ends_like_known_word(word: &[u8]) -> bool {
    match word {
        [.., first, last] => KNOWN_WORD_END_BITS[usize::from(first & 31)] >> (last & 31) & 1 == 1,
        _ => false,
    }
}

fn secret_at_at_sign(text: &[u8], at: usize, floor: usize, options: RedactOptions) -> Option<FoundSecret> {
    let credentials = urls::secret_in_userinfo(text, at, floor);
    if credentials.is_none() && options.emails { urls::email_around(text, at, floor) } else { credentials }
}

/// Returns the length of the placeholder at the start of `text`.
pub fn redaction_placeholder_length(text: &[u8]) -> Option<usize> {
    let kind = text.strip_prefix(PLACEHOLDER_START)?;
    let length = class_run_length(kind, LOWER | DIGIT | super::classes::DASH, 40);
    (length > 0 && byte_or_newline(kind, length) == b']').then_some(PLACEHOLDER_START.len() + length + 1)
}

/// Skips an escape sequence, so that a token after it starts a word. Examples are `\nghp_…`, `\u0022ghp_…` and a token
/// after a terminal colour.
fn skip_escape(text: &[u8], at: usize, floor: usize) -> (usize, Option<FoundSecret>) {
    let slashes = text[at..].iter().take_while(|byte| **byte == b'\\').count();
    let rest = &text[at + slashes..];
    let length = match byte_or_newline(rest, 0) {
        0x1b => 1,
        b'u' if class_run_length(&rest[1..], ANY_HEX, 4) == 4 => 5,
        b'x' if class_run_length(&rest[1..], ANY_HEX, 2) == 2 => 3,
        b'0' if rest.starts_with(b"033") => 3,
        b'n' | b'r' | b't' | b'e' | b'b' | b'f' | b'0' => 1,
        _ => return (slashes.max(1), None),
    };
    // In `\rk_live_…` the `r` may belong to the token, so a token that starts with it is tried before the escape is
    // skipped.
    if slashes > 0
        && length == 1
        && is_byte_in_class(byte_or_newline(rest, 1), LETTER_OR_DIGIT)
        && let Some(hit) = shape::token_starting_at(text, at + slashes, floor)
    {
        return (0, Some(hit));
    }
    let colour = match rest.get(length) {
        Some(b'[') => {
            let digits = rest[length + 1..]
                .iter()
                .take(16)
                .take_while(|byte| byte.is_ascii_digit() || **byte == b';')
                .count();
            if byte_or_newline(rest, length + 1 + digits).is_ascii_alphabetic() { digits + 2 } else { 0 }
        }
        _ => 0,
    };
    (slashes + length + colour, None)
}
