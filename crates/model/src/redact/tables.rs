//! Secrets recognised by the header of their column: CSV files, Markdown tables, output of database clients, `INSERT`
//! statements, and lines of files with fixed fields such as `.pgpass`.

use super::FoundSecret;
use super::chance::profile_value;
use super::classes::{
    BASE64_URL, LETTER, byte_or_newline, ends_with_ignore_case, is_byte_in_class, starts_with_ignore_case,
};
use super::grades::grade_word;
use super::names::{self, NameStrength, NameVerdict};
use super::values::{self, LiteralValue, ValueContext};

const MAX_LINE_BYTES: usize = 1024;
const MAX_TABLE_ROWS_READ: usize = 10_000;
const MAX_COLUMNS: usize = 40;

/// Returns whether the word `text[start..end]` can be the header of a column. A word between single blanks is part of a
/// sentence. The test must be cheap, because it runs for every keyword.
#[inline]
pub fn may_be_column_head(text: &[u8], start: usize, end: usize) -> bool {
    let wide = |at: usize| {
        matches!(byte_or_newline(text, at), b' ' | b'|' | b'\n' | b'\r' | 0xe2 | 0x82 | 0x83 | 0x91)
    };
    let after = match byte_or_newline(text, end) {
        b',' | b';' | b'\t' | b'|' | b'\n' | b'\r' => true,
        b' ' => wide(end + 1),
        b'"' => matches!(byte_or_newline(text, end + 1), b',' | b';' | b'\t' | b'\n' | b'\r'),
        _ => false,
    };
    let before = match start.checked_sub(1).map(|at| text[at]) {
        None | Some(b',' | b';' | b'\t' | b'|' | b'\n' | b'"' | b'_') => true,
        Some(b' ') => {
            start == 1
                || wide(start - 2)
                || matches!(text[start - 2], b',' | b';')
                // A header may consist of several words, as in `| DB password |` and `nom,mot de passe`.
                || byte_or_newline(text, end) == b' ' && byte_or_newline(text, end + 1) == b'|'
                || byte_or_newline(text, end) == b' ' && byte_or_newline(text, end + 1) == 0xe2
                || text[..start].ends_with(b"mot de ")
                || byte_or_newline(text, end) != b'\n' && begins_cell(&text[..start])
        }
        Some(b'-') => begins_cell(&text[..start]),
        _ => false,
    };
    after && before
}

/// Returns whether all words before the name belong to the same cell, as in `name,One-time password,id`.
fn begins_cell(before: &[u8]) -> bool {
    let words = before
        .iter()
        .rev()
        .take(24)
        .take_while(|byte| is_byte_in_class(**byte, LETTER) || matches!(byte, b' ' | b'-'))
        .count();
    words < 24
        && matches!(
            before[..before.len() - words].last(),
            None | Some(b',' | b';' | b'\t' | b'|' | b'\n' | b'"')
        )
}

/// If the header at `start` is in the first line of a table, finds the secrets below that header.
pub fn secrets_below_head(text: &[u8], start: usize, hits: &mut Vec<FoundSecret>) {
    let from = start.saturating_sub(MAX_LINE_BYTES);
    let line_start = memchr::memrchr(b'\n', &text[from..start]).map_or(from, |at| from + at + 1);
    let head = line_range_at(text, line_start);
    let Some(divider) = CellDivider::of_head(head) else { return };
    // Jira doubles the bars around headers, as in `||Login||Password||`.
    let doubled = head.trim_ascii_start().starts_with(b"||");
    let heads: Vec<(usize, usize)> =
        divider.cell_ranges(head).filter(|cell| !doubled || cell.1 > cell.0).take(MAX_COLUMNS).collect();
    let Some(column) =
        heads.iter().position(|cell| (line_start + cell.0..line_start + cell.1).contains(&start))
    else {
        return;
    };
    let name = without_quotes(&head[heads[column].0..heads[column].1]);
    let verdict = names::judge_name(name).or_else(|| super::languages::verdict_of_non_ascii_name(name));
    let Some(verdict) = verdict.filter(is_certain_verdict) else { return };
    let named = |cell: &(usize, usize)| is_column_name(&head[cell.0..cell.1]);
    if heads.len() < 2 || !heads.iter().all(named) {
        return;
    }
    // Names and values that are aligned with blanks look like a table, but the headers of a real table are in
    // capitals or underlined.
    let is_loud = !head.iter().any(u8::is_ascii_lowercase);
    // If another column contains user names, a word may be a password, as in `user,pass` and `site,login,secret`.
    let has_user = heads.iter().any(|cell| is_user_column(&head[cell.0..cell.1]));
    let gap = matches!(divider, CellDivider::Gap);
    if gap && !is_loud && !has_user && !is_table_rule(line_range_at(text, line_start + head.len() + 1)) {
        return;
    }
    let may_be_word = verdict.strength == NameStrength::Password && name.len() >= 6 || has_user;
    let verdict = if has_user && verdict.kind == "secret" {
        NameVerdict { strength: NameStrength::Password, ..verdict }
    } else {
        verdict
    };
    let mut at = line_start + head.len() + 1;
    for _ in 0..MAX_TABLE_ROWS_READ {
        if at >= text.len() {
            return;
        }
        let row = line_range_at(text, at);
        if row.trim_ascii().is_empty() && at == line_start + head.len() + 1 {
            at += row.len() + 1;
            continue; // in AsciiDoc, an empty line follows the headers
        }
        if !is_table_rule(row) {
            let cells: Vec<(usize, usize)> = divider.cell_ranges(row).take(MAX_COLUMNS).collect();
            // If a row repeats one of the headers, the first line consists of cells rather than headers.
            let repeats = |(head_cell, cell): (&(usize, usize), &(usize, usize))| {
                cell.1 > cell.0 && head[head_cell.0..head_cell.1] == row[cell.0..cell.1]
            };
            if cells.len() != heads.len() || heads.iter().zip(&cells).any(repeats) {
                return;
            }
            let (first, last) = cells[column];
            hits.extend(secret_in_cell(text, at + first, at + last, verdict, may_be_word));
        }
        at += row.len() + 1;
    }
}

/// Returns whether a cell is the header of a column of user names.
fn is_user_column(cell: &[u8]) -> bool {
    const USER_COLUMN_WORDS: &str = "user login email mail account benutzer usuario usuário utilisateur identifiant utente gebruiker konto";
    let cell = without_quotes(cell);
    USER_COLUMN_WORDS
        .split(' ')
        .any(|known| starts_with_ignore_case(cell, known) || ends_with_ignore_case(cell, known))
}

fn is_certain_verdict(verdict: &NameVerdict) -> bool {
    matches!(verdict.strength, NameStrength::Password | NameStrength::Secret | NameStrength::LikelyPassword)
}

fn secret_in_cell(
    text: &[u8],
    start: usize,
    end: usize,
    verdict: NameVerdict,
    may_be_word: bool,
) -> Option<FoundSecret> {
    let (mut start, mut end) = (start, end);
    if end - start >= 2 && matches!(text[start], b'"' | b'\'' | b'`') && text[end - 1] == text[start] {
        (start, end) = (start + 1, end - 1);
    }
    let content = text.get(start..end).filter(|content| !content.is_empty())?;
    let looks = profile_value(content);
    if may_be_word && grade_word(content).is_some() {
        return Some(FoundSecret { start, end, kind: verdict.kind })
            .filter(|_| !super::contains_bytes(content, b"REDACTED"));
    }
    // A column of descriptions also contains words, so a password that consists only of letters must be longer.
    let noun = may_be_word && super::lexicon::count_everyday_nouns(content) > 0;
    let word = looks.digits == 0 && (looks.len < 7 || !may_be_word) && !noun;
    if verdict.strength == NameStrength::Password
        && super::sentences::passphrase_length(content) == Some(content.len())
    {
        return Some(FoundSecret { start, end, kind: verdict.kind });
    }
    if word || content.contains(&b' ') || content.contains(&b'(') {
        return None;
    }
    let value = LiteralValue { start, end, is_quoted: true, is_in_call: false };
    let says =
        if verdict.strength == NameStrength::Secret { NameStrength::Secret } else { NameStrength::Password };
    values::is_secret_value(
        text,
        value,
        says,
        ValueContext { without_blanks: true, is_in_list: true, ..ValueContext::default() },
    )
    .then_some(FoundSecret { start, end, kind: verdict.kind })
}

fn line_range_at(text: &[u8], at: usize) -> &[u8] {
    let rest = &text[at.min(text.len())..];
    let rest = &rest[..rest.len().min(MAX_LINE_BYTES)];
    &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())]
}

/// Returns whether a cell can be the name of a column. It must consist of letters, digits and characters that join
/// words.
fn is_column_name(cell: &[u8]) -> bool {
    cell.len() <= 40
        && cell.iter().any(|byte| is_byte_in_class(*byte, LETTER))
        && cell.iter().all(|byte| {
            is_byte_in_class(*byte, BASE64_URL)
                || *byte >= 0x80
                || matches!(byte, b' ' | b'.' | b'"' | b'/' | b'#' | b'(' | b')')
        })
        && !profile_value(cell).looks_random()
}

/// Returns whether a row is a rule between headers and cells, such as `---+---` or `|:--|--:|`.
fn is_table_rule(row: &[u8]) -> bool {
    let drawn = || {
        row.starts_with("├".as_bytes()) || row.starts_with("╠".as_bytes()) || row.starts_with("┣".as_bytes())
    };
    drawn()
        || row.iter().all(|byte| matches!(byte, b'-' | b'+' | b'|' | b':' | b'=' | b' ' | b'\r'))
            && (row.contains(&b'-') || row.starts_with(b"=="))
}

#[derive(Clone, Copy)]
enum CellDivider {
    Character(u8),
    /// A box-drawing character of three bytes, such as `│`.
    BoxDrawing(&'static str),
    /// At least two blanks.
    Gap,
}

impl CellDivider {
    fn of_head(head: &[u8]) -> Option<CellDivider> {
        for mark in ["│", "║", "┃"] {
            if memchr::memmem::find(head, mark.as_bytes()).is_some() {
                return Some(CellDivider::BoxDrawing(mark));
            }
        }
        for mark in [b'|', b'\t', b';', b','] {
            if head.contains(&mark) {
                return Some(CellDivider::Character(mark));
            }
        }
        memchr::memmem::find(head.trim_ascii(), b"  ").map(|_| CellDivider::Gap)
    }

    /// Returns the ranges of the cells of a row, without surrounding blanks.
    fn cell_ranges(self, row: &[u8]) -> Box<dyn Iterator<Item = (usize, usize)> + '_> {
        let trimmed = move |start: usize, end: usize| {
            let cell = &row[start..end];
            let left = cell.len() - cell.trim_ascii_start().len();
            (start + left, (start + left).max(start + cell.trim_ascii_end().len()))
        };
        match self {
            CellDivider::Character(mark) => {
                let outer = usize::from(mark == b'|' && row.trim_ascii_start().starts_with(b"|"));
                let first = outer * (row.len() - row.trim_ascii_start().len() + 1);
                let last = match mark == b'|' && outer == 1 && row.trim_ascii_end().ends_with(b"|") {
                    true => row.trim_ascii_end().len() - 1,
                    false => row.len(),
                };
                let mut start = first.min(last);
                let mut quoted = false;
                let mut done = false;
                Box::new(std::iter::from_fn(move || {
                    if done {
                        return None;
                    }
                    let mut at = start;
                    while at < last && (row[at] != mark || quoted) {
                        quoted ^= row[at] == b'"' && mark != b'|';
                        at += 1;
                    }
                    let cell = trimmed(start, at);
                    done = at >= last;
                    start = at + 1;
                    Some(cell)
                }))
            }
            CellDivider::BoxDrawing(mark) => {
                let mut at =
                    memchr::memmem::find(row, mark.as_bytes()).map_or(row.len(), |at| at + mark.len());
                Box::new(std::iter::from_fn(move || {
                    let length = memchr::memmem::find(&row[at..], mark.as_bytes())?;
                    let cell = trimmed(at, at + length);
                    at += length + mark.len();
                    Some(cell)
                }))
            }
            CellDivider::Gap => {
                let mut at = 0;
                Box::new(std::iter::from_fn(move || {
                    while at < row.len() && matches!(row[at], b' ' | b'\r') {
                        at += 1;
                    }
                    let start = at;
                    while at < row.len() && !(row[at] == b' ' && byte_or_newline(row, at + 1) == b' ') {
                        at += 1;
                    }
                    (at > start).then(|| trimmed(start, at))
                }))
            }
        }
    }
}

/// Finds the secrets in `INSERT INTO t (name, password) VALUES ('a', 'x'), …`. `at` is just after `VALUES`.
pub fn secrets_in_insert(text: &[u8], at: usize, hits: &mut Vec<FoundSecret>) {
    let before = &text[at.saturating_sub(MAX_LINE_BYTES)..at];
    let lower = before.to_ascii_lowercase();
    let Some(into) = memchr::memmem::rfind(&lower, b"insert into") else { return };
    let (Some(open), Some(close)) = (memchr::memchr(b'(', &before[into..]), memchr::memrchr(b')', before))
    else {
        return;
    };
    let Some(columns) = before.get(into + open + 1..close) else { return };
    let told: Vec<(usize, NameVerdict)> = columns
        .split(|byte| *byte == b',')
        .map(|column| column.trim_ascii())
        .enumerate()
        .filter_map(|(n, column)| {
            Some((n, names::judge_name(without_quotes(column)).filter(is_certain_verdict)?))
        })
        .collect();
    if told.is_empty() {
        return;
    }
    let (mut at, end) = (at, text.len().min(at + 64 * 1024));
    let (mut depth, mut column) = (0usize, 0);
    let mut quote: Option<usize> = None;
    while at < end {
        match (text[at], quote) {
            (b'\'', None) => quote = Some(at + 1),
            (b'\'', Some(start)) => {
                if byte_or_newline(text, at + 1) == b'\'' {
                    at += 1; // an escaped quote
                } else {
                    if depth == 1
                        && let Some((_, verdict)) = told.iter().find(|(n, _)| *n == column)
                    {
                        hits.extend(secret_in_cell(
                            text,
                            start,
                            at,
                            *verdict,
                            verdict.strength == NameStrength::Password,
                        ));
                    }
                    quote = None;
                }
            }
            (_, Some(_)) => {}
            (b'(', None) => {
                depth += 1;
                if depth == 1 {
                    column = 0;
                }
            }
            (b')', None) => depth = depth.saturating_sub(1),
            (b',', None) if depth == 1 => column += 1,
            (b';', None) if depth == 0 => return,
            _ => {}
        }
        at += 1;
    }
}

/// Returns whether `kind: ` or `"kind":"` comes before a word.
pub fn ends_with_kind_key(before: &[u8]) -> bool {
    let before = before.strip_suffix(b"\"").unwrap_or(before).trim_ascii_end();
    before.strip_suffix(b":").is_some_and(|name| name.ends_with(b"kind") || name.ends_with(b"kind\""))
}

/// Finds the values below `data:` and `stringData:` in a Kubernetes secret, whose `kind` is at `at`.
pub fn secrets_in_kubernetes_manifest(text: &[u8], at: usize, hits: &mut Vec<FoundSecret>) {
    const MAX_MANIFEST_BYTES: usize = 16 * 1024;
    let from = at.saturating_sub(MAX_MANIFEST_BYTES);
    let from = memchr::memmem::rfind(&text[from..at], b"\n---").map_or(from, |mark| from + mark + 4);
    let end = text.len().min(at + MAX_MANIFEST_BYTES);
    let end = memchr::memmem::find(&text[at..end], b"\n---").map_or(end, |mark| at + mark);
    let document = &text[from..end];
    for name in [&b"data"[..], b"stringData"] {
        for found in memchr::memmem::find_iter(document, name) {
            let (before, rest) = (&document[..found], &document[found + name.len()..]);
            if rest.starts_with(b"\":") && before.ends_with(b"\"") {
                secrets_in_json_members(text, from + found + name.len() + 2, end, hits);
            } else if rest.starts_with(b":") && (before.is_empty() || before.ends_with(b"\n")) {
                secrets_in_indented_lines(text, from + found + name.len() + 1, end, hits);
            }
        }
    }
}

/// Finds the values in `{"name":"x", …}`.
fn secrets_in_json_members(text: &[u8], at: usize, end: usize, hits: &mut Vec<FoundSecret>) {
    let object = &text[at..end];
    let object = &object[..memchr::memchr(b'}', object).unwrap_or(object.len())];
    for colon in memchr::memmem::find_iter(object, b"\":") {
        let start = at + colon + 2 + super::classes::count_blanks(&object[colon + 2..], 4);
        hits.extend(
            values::literal_value_at(text, start)
                .filter(|value| value.is_quoted)
                .and_then(|value| secret_of_entry(text, value)),
        );
    }
}

/// Finds the values in indented lines such as `name: x`.
fn secrets_in_indented_lines(text: &[u8], at: usize, end: usize, hits: &mut Vec<FoundSecret>) {
    let block = &text[at..end];
    let mut at = at;
    for row in block.split_inclusive(|byte| *byte == b'\n').take(MAX_TABLE_ROWS_READ) {
        let line = row.trim_ascii_end();
        if !line.is_empty() && !matches!(line[0], b' ' | b'\t' | b'#') {
            return;
        }
        if let Some(colon) = memchr::memmem::find(line, b": ") {
            let start = at + colon + 2 + super::classes::count_blanks(&line[colon + 2..], 8);
            hits.extend(
                values::literal_value_at(&text[..end], start).and_then(|value| secret_of_entry(text, value)),
            );
        }
        at += row.len();
    }
}

fn secret_of_entry(text: &[u8], value: LiteralValue) -> Option<FoundSecret> {
    let content = &text[value.start..value.end];
    // Short values are usually names or ports, so they are not redacted.
    let plausible = content.len() >= 12
        && profile_value(content).has_letters_and_digits()
        && !profile_value(content).is_filler()
        && !super::contains_bytes(content, b"REDACTED")
        && !super::contains_bytes(content, b"{{")
        && !super::contains_bytes(content, b"${");
    plausible.then_some(FoundSecret { start: value.start, end: value.end, kind: "secret" })
}

fn without_quotes(name: &[u8]) -> &[u8] {
    let marks = |byte: &u8| matches!(byte, b'"' | b'`' | b'[' | b']' | b'\'');
    let start = name.iter().take_while(|byte| marks(byte)).count();
    let end = name.len() - name[start..].iter().rev().take_while(|byte| marks(byte)).count();
    &name[start..end]
}

/// Finds the value in `host TRUE / TRUE 1799999999 sid x`, a line in the cookie file that curl and wget use. The fields
/// are separated by tabs. The first flag ends at `end`.
pub fn secret_in_cookie_file(text: &[u8], end: usize) -> Option<FoundSecret> {
    let flag = |word: &[u8]| matches!(word, b"TRUE" | b"FALSE");
    let line = line_range_at(text, end + 1);
    let mut fields = line.trim_ascii_end().split(|byte| *byte == b'\t');
    let (path, secure, expires, name, value) =
        (fields.next()?, fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let plausible = path.starts_with(b"/")
        && flag(secure)
        && expires.iter().all(u8::is_ascii_digit)
        && !name.is_empty()
        && value.len() >= 12
        && fields.next().is_none()
        && profile_value(value).looks_random();
    let start = end + 1 + line.trim_ascii_end().len() - value.len();
    plausible.then_some(FoundSecret { start, end: start + value.len(), kind: "cookie" })
}

/// Finds the secret in `name server "x" *`, a line of PPP's secrets file. `at` points to the asterisk.
pub fn chap_secret(text: &[u8], at: usize, floor: usize) -> Option<FoundSecret> {
    let line = super::context::text_after_last_break(&text[floor.max(at.saturating_sub(120))..at]);
    let from = at - line.len();
    let quoted = line.trim_ascii_end().strip_suffix(b"\"")?;
    let open = memchr::memrchr(b'"', quoted)?;
    let names =
        quoted[..open].split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty()).count();
    let content = &quoted[open + 1..];
    let told = names == 2 && (profile_value(content).looks_random() || grade_word(content).is_some());
    told.then_some(FoundSecret {
        start: from + open + 1,
        end: from + open + 1 + content.len(),
        kind: "password",
    })
}

/// Finds the secret in `name * x *`, a line of PPP's secrets file. `at` points to the first asterisk.
pub fn secret_in_ppp_file(text: &[u8], at: usize, floor: usize) -> Option<FoundSecret> {
    let name = super::context::text_after_last_break(&text[floor.max(at.saturating_sub(80))..at]);
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = at + 1 + super::classes::count_blanks(&text[at + 1..], 40);
    let value = values::literal_value_at(text, start)?;
    let behind = line_range_at(text, value.end + usize::from(value.is_quoted));
    let named = name.last().is_some_and(blank)
        && !name.trim_ascii().is_empty()
        && !name.trim_ascii().iter().any(blank);
    let closes = behind.first().is_some_and(blank) && behind.trim_ascii() == b"*";
    let joint = ValueContext { without_blanks: true, is_in_list: true, ..ValueContext::default() };
    let content = &text[value.start..value.end];
    let plausible = super::made_up::made_up_certainty(content).is_some()
        || profile_value(content).has_letters_and_digits() && content.len() >= 6;
    (named && closes && plausible && values::is_secret_value(text, value, NameStrength::Password, joint))
        .then_some(FoundSecret { start: value.start, end: value.end, kind: "password" })
}

/// Finds the password in `host:5432:database:name:x`, a line of `.pgpass`. `at` points to the colon after the port.
pub fn secret_in_pgpass(text: &[u8], at: usize, floor: usize) -> Option<FoundSecret> {
    let before = &text[floor..at];
    if !before.last().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'*') {
        return None;
    }
    let port = before.iter().rev().take(5).take_while(|byte| byte.is_ascii_digit()).count();
    let port = if port == 0 { 1 } else { port };
    let host = before[..before.len() - port].strip_suffix(b":")?;
    let name = host
        .iter()
        .rev()
        .take(100)
        .take_while(|byte| is_byte_in_class(**byte, BASE64_URL) || matches!(byte, b'.' | b'*'))
        .count();
    let starts = matches!(
        host.len().checked_sub(name + 1).map(|at| host[at]),
        None | Some(b'\n' | b' ' | b'"' | b'\'' | b'n')
    );
    if name == 0 || !starts || !(port >= 4 || before.ends_with(b"*")) {
        return None;
    }
    let line = line_range_at(text, at + 1);
    let line = &line
        [..line.iter().position(|byte| matches!(byte, b'"' | b'\'' | b' ' | b'\r')).unwrap_or(line.len())];
    let mut fields = line.splitn(3, |byte| *byte == b':');
    let (database, user, password) = (fields.next()?, fields.next()?, fields.next()?);
    let field = |part: &[u8]| {
        !part.is_empty()
            && part.iter().all(|byte| is_byte_in_class(*byte, BASE64_URL) || matches!(byte, b'*' | b'.'))
    };
    let plausible = field(database)
        && field(user)
        && (user == b"*" || is_byte_in_class(user[0], LETTER))
        && password.len() >= 4
        && !password.contains(&b':')
        && !super::contains_bytes(password, b"[REDACTED:")
        && !ends_with_ignore_case(password, "password");
    let start = at + 1 + line.len() - password.len();
    plausible.then_some(FoundSecret { start, end: start + password.len(), kind: "password" })
}
