//! The single pass over the bytes: which rules are tried at which byte.

use super::classes::{ALNUM, ANY_HEX, BASE64, DIGIT, LOWER, UNDERSCORE, WORD, byte, is, run};
use super::{
    Head, Hit, MARK, Options, calls, commands, file_names, flags, headers, infix, keys, languages, mentions,
    named, pairs, placed, sentences, shape, stated, tables, urls,
};

/// Finds the first secret at or after `floor`. Nothing before `floor` is examined, except as context.
pub fn next(text: &[u8], floor: usize, options: Options, heads: &mut Vec<Head>) -> Option<Hit> {
    if let Some(hit) = infix::aws_secret(text, floor) {
        return Some(hit);
    }
    let mut floor = floor;
    let mut at = floor;
    // Where an escape ended. A word that starts there is separate, whatever the last byte of the escape is.
    let mut edge = floor;
    while at < text.len() {
        let action = ACTIONS[usize::from(text[at])];
        let hit = match action {
            Action::Skip => {
                at += 1;
                continue;
            }
            Action::Word => match token(text, at, edge) {
                Some(hit) => Some(hit),
                None => {
                    let end = at + word_length(&text[at..]);
                    let hit = word(text, at, end, floor, heads);
                    if hit.is_none() {
                        at = end;
                        continue;
                    }
                    hit
                }
            },
            Action::Assign => named::assigned(text, at, floor),
            // Base64 as in `data:image/png;base64,…` is content, however long it is.
            Action::Comma if text[floor..at].ends_with(b";base64") => {
                at += 1 + run(&text[at + 1..], BASE64, text.len());
                continue;
            }
            Action::Comma if matches!(text[floor..at].last(), Some(b'"' | b'\'')) => {
                calls::argument(text, at, floor)
            }
            Action::Element if text[floor..at].ends_with(b"-") => named::arrow(text, at, floor),
            Action::Element if text[floor..at].ends_with(b" on ") => commands::access_rule(text, at),
            Action::Element => calls::element(text, at, floor),
            Action::Call if calls::may_take(&text[floor..at], byte(text, at + 1)) => {
                calls::call(text, at, floor).or_else(|| calls::positional(text, at, floor))
            }
            Action::Call => calls::positional(text, at, floor),
            Action::Or if byte(text, at + 1) == text[at] || byte(text, at + 1) == b':' => {
                named::otherwise(text, at, floor)
            }
            Action::Or => None,
            Action::At => at_sign(text, at, floor, options),
            Action::Dash if text[at..].starts_with(b"----") => keys::private_key(text, at, floor),
            Action::Dash if text[floor..at].ends_with(b"<") => named::arrow_left(text, at, floor),
            Action::Dash
                if matches!(byte(text, at + 1), b'b' | b't') && commands::may_configure(&text[floor..at]) =>
            {
                commands::configured(text, at)
            }
            Action::Dash => flags::value(text, at, floor).or_else(|| sentences::listed(text, at)),
            Action::Foreign if text[at..].starts_with("→".as_bytes()) => named::wide_arrow(text, at, floor),
            Action::Foreign => languages::stated(text, at),
            Action::Dollar => infix::crypt_hash(text, at),
            Action::Tilde => infix::entra_secret(text, at, floor),
            Action::Plus => infix::azure_storage_key(text, at, floor),
            Action::Slash if byte(text, at + 1) == b' ' && text[floor..at].ends_with(b" ") => {
                pairs::apart(text, at, floor)
            }
            Action::Slash => None,
            Action::Here if text[floor..at].ends_with(b" ") && text[at..].starts_with(b"<<<") => {
                flags::here_string(text, at)
            }
            Action::Here => None,
            Action::Star if matches!(byte(text, at + 1), b' ' | b'\t') => {
                tables::peer_secret(text, at, floor)
            }
            Action::Star
                if matches!(byte(text, at + 1), b'\n' | b'\r')
                    && matches!(text[floor..at].last(), Some(b' ' | b'\t')) =>
            {
                tables::chap_secret(text, at, floor)
            }
            Action::Star => None,
            Action::Bracket => {
                if let Some(length) = placeholder(&text[at..]) {
                    at += length;
                    (floor, edge) = (at, at);
                    continue;
                }
                if sentences::is_list(&text[floor..at]) && heads.len() < super::MOST_HEADS {
                    heads.push(Head::List(at + 1));
                }
                None
            }
            Action::Escape => {
                let (length, hit) = escape(text, at, floor);
                if hit.is_none() {
                    at += length;
                    edge = at;
                    continue;
                }
                hit
            }
            Action::Percent => {
                at += if run(&text[at + 1..], ANY_HEX, 2) == 2 { 3 } else { 1 };
                edge = at;
                continue;
            }
            Action::Comma if text[at + 1..].starts_with(b" \"") || text[at + 1..].starts_with(b" '") => {
                calls::symbol(text, at, floor)
            }
            Action::Comma => None,
        };
        if hit.is_some() {
            return hit;
        }
        at += 1;
    }
    None
}

#[derive(Clone, Copy)]
enum Action {
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
    /// A byte that begins a word for a password in another script.
    Foreign,
    Dollar,
}

static ACTIONS: [Action; 256] = actions();

const fn actions() -> [Action; 256] {
    let mut actions = [Action::Skip; 256];
    let mut byte = 128;
    while byte < 256 {
        if languages::may_begin(byte as u8) {
            actions[byte] = Action::Foreign;
        }
        byte += 1;
    }
    byte = 0;
    while byte < 128 {
        actions[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => Action::Word,
            b'=' | b':' => Action::Assign,
            b',' => Action::Comma,
            b'>' => Action::Element,
            b'(' => Action::Call,
            b'|' | b'?' => Action::Or,
            b'@' => Action::At,
            b'-' => Action::Dash,
            b'~' => Action::Tilde,
            b'+' => Action::Plus,
            b'/' => Action::Slash,
            b'<' => Action::Here,
            b'*' => Action::Star,
            b'[' => Action::Bracket,
            b'\\' | 0x1b => Action::Escape,
            b'%' => Action::Percent,
            b'$' => Action::Dollar,
            _ => Action::Skip,
        };
        byte += 1;
    }
    actions
}

#[inline]
fn word_length(text: &[u8]) -> usize {
    text.iter().position(|byte| !is(*byte, WORD)).unwrap_or(text.len())
}

/// Finds a token that starts with the word at `at`. This is tried before the end of the word is known, because a word
/// of megabytes may contain thousands of tokens.
#[inline]
fn token(text: &[u8], at: usize, edge: usize) -> Option<Hit> {
    let start = if text[at] == b'_' { at + run(&text[at..], UNDERSCORE, 8) } else { at };
    if start == text.len() {
        return None;
    }
    if let Some(hit) = shape::find(text, start, edge) {
        return Some(hit);
    }
    if matches!(text[start], b'M' | b'b')
        && shape::stands_alone(text, start, edge)
        && let Some(hit) = keys::bare_key(text, start)
    {
        return Some(hit);
    }
    // The dots of a web token distinguish it from base64, so it may be in a path: `https://host/verify/eyJ…`.
    let web = text[start] == b'e'
        && text[start..].starts_with(b"eyJ")
        && (shape::stands_alone(text, start, edge) || text[start - 1] == b'/');
    if web { keys::web_token(text, start) } else { None }
}

/// Returns the secret that the word `text[start..end]` announces or is part of. Almost all words fail this test.
#[inline(always)]
fn word(text: &[u8], start: usize, end: usize, floor: usize, heads: &mut Vec<Head>) -> Option<Hit> {
    let next = byte(text, end);
    let length = end - start;
    let odd = matches!(
        (length, next),
        (8..=10 | 14, b':')
            | (8.., b'.')
            | (8.., b'@' | b'#' | b'$')
            | (LONG_WORD.., _)
            | (_, b'-' | b'\t' | 0x80..)
    ) || next == b' ' && text[end - 1] == b'T'
        || length >= 12 && is(text[end - 1], DIGIT);
    if odd || ends_as_telling(&text[start..end]) { known_word(text, start, end, floor, heads) } else { None }
}

fn known_word(text: &[u8], start: usize, end: usize, floor: usize, heads: &mut Vec<Head>) -> Option<Hit> {
    let next = byte(text, end);
    // In `GET /account/password HTTP/1.1` the word is the end of a path.
    if next == b' ' && text[end..].starts_with(b" HTTP/") {
        return None;
    }
    if (end - start >= LONG_WORD || next == b'-')
        && let Some(hit) = inner_token(text, start, end)
    {
        return Some(hit);
    }
    if next == b'.'
        && end - start >= LONG_WORD
        && let Some(hit) = placed::in_file_name(text, start, end)
    {
        return Some(hit);
    }
    if (next == b'-' || end - start >= 8 && memchr::memchr(b'_', &text[start..end]).is_some())
        && let Some(hit) = file_names::in_word(text, start, end)
    {
        return Some(hit);
    }
    if next == b'-' && &text[start..end] == b"impacket" {
        return commands::packaged(text, end);
    }
    if matches!((end - start, next), (8..=10 | 14 | 32, b':' | b'.' | b'-') | (40 | 84, _))
        && let Some(hit) = infix::around_word(text, start, end)
    {
        return Some(hit);
    }
    if next == b'\t' && matches!(&text[start..end], b"TRUE" | b"FALSE") {
        return tables::cookie_file(text, end);
    }
    if next == b' ' && text[end - 1] == b'T' && text[start..end].ends_with(b"_PAT") {
        return stated::stated(text, start, end);
    }
    // Keywords end in one of a few pairs of letters. That alone rules out almost all words of a text.
    if next < 0x80 && !ends_as_telling(&text[start..end]) {
        return None;
    }
    if matches!(next, b',' | b';' | b'\t' | b'|' | b'\n' | b'\r' | b' ' | b'"')
        && (stated::may_end_name(&text[start..end]) || languages::may_tell(&text[start..end]))
        && tables::may_head(text, start, end)
        && heads.len() < super::MOST_HEADS
    {
        heads.push(Head::Column(start));
    }
    announced(text, start, end, floor, heads).or_else(|| mentions::near(text, start, end, floor))
}

/// Returns the secret that the keyword `text[start..end]` announces, by what follows it.
fn announced(text: &[u8], start: usize, end: usize, floor: usize, heads: &mut Vec<Head>) -> Option<Hit> {
    let next = byte(text, end);
    match (end - start, next) {
        (6, b' ') if text[start..end].eq_ignore_ascii_case(b"bearer") => headers::bearer(text, end),
        (6, b'\n' | b'\r' | b'"')
            if &text[start..end] == b"Secret" && tables::is_manifest(&text[..start]) =>
        {
            heads.push(Head::Manifest(start));
            None
        }
        (5, b'\n' | b'\r') if &text[start..end] == b"LOGIN" && text[..start].ends_with(b"AUTH ") => {
            commands::mail_login(text, end)
        }
        (2, b' ') if &text[start..end] == b"as" => stated::named_after(text, start, end, floor),
        (_, b'?' | b',' | b'.' | b';')
            if matches!(byte(text, end + 1), b' ' | b'\n' | b'\r')
                && stated::may_end_name(&text[start..end]) =>
        {
            stated::goes_on(text, start, end)
                .or_else(|| stated::typed_before(text, start, end, floor))
                .or_else(|| stated::used_before(text, start, end, floor))
        }
        (_, b',' | b'?') if languages::may_tell(&text[start..end]) => {
            languages::goes_on(text, start, end).or_else(|| languages::used_before(text, start, end, floor))
        }
        (_, b'\n' | b'"' | b'\r') if stated::may_end_name(&text[start..end]) => {
            placed::on_next_line(text, start, end, end)
                .or_else(|| stated::used_before(text, start, end, floor))
                .or_else(|| stated::typed_before(text, start, end, floor))
                .or_else(|| placed::commented(text, start, end, floor))
                .or_else(|| commands::sent(text, end))
                .or_else(|| stated::quoted_setting(text, start, end))
        }
        // The verb may be joined to the name, as in `the password's x`.
        (_, b'\'') if text[end..].starts_with(b"'s ") && stated::may_end_name(&text[start..end]) => {
            stated::goes_on(text, start, end)
        }
        (_, b'"' | b'\'') if stated::may_end_name(&text[start..end]) => {
            stated::quoted_setting(text, start, end)
        }
        (_, b'\n' | b'.') if languages::may_tell(&text[start..end]) => {
            languages::used_before(text, start, end, floor)
                .or_else(|| placed::on_next_line(text, start, end, end))
        }
        (_, b'*') if text[start..end].ends_with(b"assword") => {
            commands::sent(text, end + 1).or_else(|| placed::in_bold_cell(text, start, end))
        }
        (_, b'-') if stated::may_end_name(&text[start..end]) => placed::dashed(text, start, end),
        (_, b'\t' | b'|') if stated::may_end_name(&text[start..end]) => placed::in_columns(text, start, end),
        (2, b' ') if text[start..end].eq_ignore_ascii_case(b"by") => flags::identified(text, start, end),
        (4, b' ') if &text[start..end] == b"echo" => flags::piped(text, end),
        (6, b' ') if &text[start..end] == b"printf" => flags::piped(text, end),
        (4, b' ') if &text[start..end] == b"user" && text[..start].ends_with(b"net ") => {
            flags::second(text, end)
        }
        (8, b' ') if &text[start..end] == b"add_user" => flags::second(text, end),
        (15 | 12, b' ') if matches!(&text[start..end], b"change_password" | b"set_password") => {
            flags::second(text, end)
        }
        (12, b' ') if &text[start..end] == b"SecureString" => flags::secure_string(text, end),
        (13, b' ') if &text[start..end] == b"Authorization" && byte(text, end + 1) == b'"' => {
            headers::credential(text, end + 1)
        }
        (6, b' ' | b'(' | b'\n') if text[start..end].eq_ignore_ascii_case(b"values") => {
            heads.push(Head::Values(end));
            None
        }
        (_, b' ') if commands::may_take(&text[start..end]) => {
            commands::after(text, start, end).or_else(|| stated::stated(text, start, end))
        }
        (_, b' ' | b'`') if stated::may_end_name(&text[start..end]) => stated::stated(text, start, end)
            .or_else(|| languages::after_word(text, start, end))
            .or_else(|| stated::used_before(text, start, end, floor)),
        (5, b':') if text[start..end].eq_ignore_ascii_case(b"clave") => {
            languages::after_word(text, start, end)
        }
        (_, b' ' | b'-' | 0x80..) if languages::may_tell(&text[start..end]) => {
            languages::after_word(text, start, end)
                .or_else(|| languages::used_before(text, start, end, floor))
        }
        // The rest of the name begins with a letter that is not ASCII.
        (3 | 8, 0xc3 | 0xc5) if matches!(text[start] | 32, b'c' | b'h') => {
            if tables::may_head(text, start, end + 3) && heads.len() < super::MOST_HEADS {
                heads.push(Head::Column(start));
            }
            languages::stated(text, start).or_else(|| languages::used_before(text, start, end, floor))
        }
        (1, 0xc3) if text[start] | 32 == b'l' => languages::stated(text, start),
        (_, 0xc3) => languages::accented_key(text, start, end),
        _ => None,
    }
}

/// A word of at least this many bytes may contain a token after a name, as in `key_sk_live_…`.
const LONG_WORD: usize = 28;
const LONGEST_WORD: usize = 256;

/// Finds a token that starts after an underscore of the word `text[start..end]`.
fn inner_token(text: &[u8], start: usize, end: usize) -> Option<Hit> {
    if end - start > LONGEST_WORD {
        return None;
    }
    let behind =
        |at: usize| if start + at + 1 < text.len() { shape::find(text, start + at + 1, start) } else { None };
    memchr::memchr_iter(b'_', &text[start..end]).find_map(behind)
}

/// The last two letters of every word that [`word`] knows, in lower case.
const TELLING_ENDS: &[u8] = b"fy ey en et rd wd se al ls th in ss pw sk rt tx us dp dr an xp mp py re it er rp es pi ve ha lo na la by ho ng on as de ol ds ty ck tf el im is to do ts ns li ce hl cl ic ue xt dd sh ql ll oi fo";
static TELLING: [u32; 32] = telling();

const fn telling() -> [u32; 32] {
    let mut table = [0; 32];
    let mut at = 0;
    while at < TELLING_ENDS.len() {
        table[(TELLING_ENDS[at] & 31) as usize] |= 1 << (TELLING_ENDS[at + 1] & 31);
        at += 3;
    }
    table
}

#[inline]
fn ends_as_telling(word: &[u8]) -> bool {
    match word {
        [.., first, last] => TELLING[usize::from(first & 31)] >> (last & 31) & 1 == 1,
        _ => false,
    }
}

fn at_sign(text: &[u8], at: usize, floor: usize, options: Options) -> Option<Hit> {
    let credentials = urls::userinfo(text, at, floor);
    if credentials.is_none() && options.emails { urls::email(text, at, floor) } else { credentials }
}

/// Returns the length of the placeholder at the start of `text`.
pub fn placeholder(text: &[u8]) -> Option<usize> {
    let kind = text.strip_prefix(MARK)?;
    let length = run(kind, LOWER | DIGIT | super::classes::DASH, 40);
    (length > 0 && byte(kind, length) == b']').then_some(MARK.len() + length + 1)
}

/// Skips an escape, so that the token after it starts a word, as in `\nghp_…`, `\u0022ghp_…` and after terminal
/// colours.
fn escape(text: &[u8], at: usize, floor: usize) -> (usize, Option<Hit>) {
    let slashes = text[at..].iter().take_while(|byte| **byte == b'\\').count();
    let rest = &text[at + slashes..];
    let length = match byte(rest, 0) {
        0x1b => 1,
        b'u' if run(&rest[1..], ANY_HEX, 4) == 4 => 5,
        b'x' if run(&rest[1..], ANY_HEX, 2) == 2 => 3,
        b'0' if rest.starts_with(b"033") => 3,
        b'n' | b'r' | b't' | b'e' | b'b' | b'f' | b'0' => 1,
        _ => return (slashes.max(1), None),
    };
    // In `\rk_live_…` the `r` may belong to the token, so it is tried as part of the word before it is skipped as an
    // escape.
    if slashes > 0
        && length == 1
        && is(byte(rest, 1), ALNUM)
        && let Some(hit) = shape::find(text, at + slashes, floor)
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
            if byte(rest, length + 1 + digits).is_ascii_alphabetic() { digits + 2 } else { 0 }
        }
        _ => 0,
    };
    (slashes + length + colour, None)
}
