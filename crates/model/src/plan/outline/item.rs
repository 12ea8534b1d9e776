//! Parses the text of one item: its id, size, dependencies and state, and the rest as its description.

use super::super::{PhaseStatus, Size, TaskStatus};
use super::shape::Mark;
use crate::id::Id;
use crate::render::one_line;

#[derive(Debug, Default)]
pub struct Parsed {
    pub id: Option<String>,
    pub status: TaskStatus,
    pub size: Option<Size>,
    pub description: String,
    pub depends: Vec<String>,
    pub blocked_reason: Option<String>,
    pub doubt: Option<String>,
}

/// A line below a task that gives one of its fields.
#[derive(Debug, PartialEq)]
pub enum Field {
    Acceptance(String),
    Files(Vec<String>),
    /// The ids, and any text that is not an id.
    Depends(Vec<String>, Option<String>),
    Size(Size),
    Status(TaskStatus),
    Blocked(String),
    Evidence(String),
    WithoutEvidence(String),
}

pub fn parse(text: &str, mark: Option<&Mark>) -> Parsed {
    let mut parsed = Parsed::default();
    match mark {
        Some(Mark::Is(status)) => parsed.status = *status,
        Some(Mark::Likely(status, sign)) => {
            parsed.status = *status;
            parsed.doubt = Some(format!("`[{sign}]` was read as in progress"));
        }
        None => {}
    }
    let (id, rest) = leading_id(text);
    parsed.id = id;
    let mut rest = rest.trim().to_owned();
    // Marks at the end may be in any order.
    while let Some(shorter) = take_ending(&rest, &mut parsed) {
        rest = shorter;
    }
    if parsed.status == TaskStatus::Blocked
        && let Some((before, why)) = split_reason(&rest)
    {
        (parsed.blocked_reason, rest) = (Some(why), before);
    }
    if let Some(struck) = rest.strip_prefix("~~").and_then(|rest| rest.strip_suffix("~~"))
        && mark.is_none_or(|mark| *mark != Mark::Is(TaskStatus::Completed))
    {
        (parsed.status, rest) = (TaskStatus::Closed, struck.to_owned());
    }
    parsed.description = rest;
    parsed
}

/// Parses `Task 1.2 — Name [DONE]` or `3. Name`.
pub fn parse_heading(text: &str) -> Parsed {
    parse(text, None)
}

/// Returns the name of a phase, and its state if the heading ends with one.
pub fn phase_name(heading: &str) -> (String, Option<PhaseStatus>) {
    let text = heading.trim();
    if let Some((before, word)) = ending(text, '[', ']')
        && let Some(status) = PhaseStatus::parse(word).filter(|_| !word.trim().is_empty())
    {
        return (before.trim_end().to_owned(), Some(status));
    }
    if let Some((before, word)) = ending(text, '(', ')')
        && let Some(status) = PhaseStatus::parse(word).filter(|_| !word.trim().is_empty())
    {
        return (before.trim_end().to_owned(), Some(status));
    }
    if let Some(before) = text.strip_suffix('✅') {
        return (before.trim_end().to_owned(), Some(PhaseStatus::Complete));
    }
    (text.to_owned(), None)
}

/// Whether a heading is a task: `Task 3`, `Step 2:`, `1.2 Name`, `T012`.
pub fn is_task_heading(text: &str) -> bool {
    let text = text.trim().trim_start_matches(|c: char| !c.is_alphanumeric());
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let numbered = || rest.trim_start().starts_with(|c: char| c.is_ascii_digit());
    if ["task", "step", "tarea", "шаг", "任务", "步骤"].contains(&word.to_lowercase().as_str()) && numbered()
    {
        return true;
    }
    let id = word.trim_end_matches([':', '.', ')']);
    is_dotted(id) || is_lettered(id)
}

/// Whether a text begins with a number, as in `3. Name` and `3) Name`.
pub fn is_numbered(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && digits < 4 && text[digits..].starts_with(['.', ')', ':'])
}

/// Returns the id that a text begins with, and the text after it.
fn leading_id(text: &str) -> (Option<String>, String) {
    let text = text.trim();
    for bold in ["**", "__", "`", "["] {
        let Some(inside) = text.strip_prefix(bold) else { continue };
        let close = if bold == "[" { "]" } else { bold };
        let (Some(id), rest) = leading_id_plain(inside) else { break };
        // The id is bold alone, as in `**1.2** text`, or with the name, as in `**1.2: Name** text`; then the name stays
        // bold.
        if let Some(rest) = rest.strip_prefix(close) {
            // `` `T013`, `T014` are closed `` is a sentence about two tasks.
            if rest.starts_with([',', ';', '/', '&', '+']) || rest.starts_with('-') && !rest.starts_with("- ")
            {
                break;
            }
            return (Some(id), without_colon(rest).to_owned());
        }
        if bold == "`" || bold == "[" {
            break;
        }
        return (Some(id), format!("{bold}{rest}"));
    }
    let (id, rest) = leading_id_plain(text);
    (id, rest.to_owned())
}

fn leading_id_plain(text: &str) -> (Option<String>, &str) {
    let lower = text.to_lowercase();
    let word = ["task ", "step "].into_iter().find(|word| lower.starts_with(word));
    let after = word.map_or(text, |word| text[word.len()..].trim_start());
    let end = after
        .find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '-' | '_'))
        .unwrap_or(after.len());
    let mut id = &after[..end];
    // The separator is part of `1.2.` and `3.`.
    let divided = id.ends_with('.');
    id = id.trim_end_matches('.');
    let after_id = &after[id.len()..];
    let divides = divided || after_id.starts_with([':', ')']);
    let looks = if is_dotted(id) || is_lettered(id) {
        after_id.is_empty() || after_id.starts_with([' ', ':', ')', '.', '*', '_', '`', ']'])
    } else if word.is_some() {
        id.starts_with(|c: char| c.is_ascii_digit()) && id.len() <= 12
    } else if id.ends_with(|c: char| c.is_ascii_digit()) || is_ours(id) {
        // An id can be any word with a digit before a colon, as in `auth-3: text`. A bare number needs a separator too.
        (divides && after_id.starts_with([':', '.', ')'])) && is_short_id(id)
    } else {
        false
    };
    if !looks || Id::new(id).is_err() {
        return (None, text);
    }
    let rest = after_id.trim_start_matches(['.', ')']);
    (Some(id.to_owned()), without_colon(rest))
}

/// Returns whether a person would use this as an id and not as the first word of a sentence.
fn is_short_id(id: &str) -> bool {
    id.len() <= 24 && id.bytes().any(|b| b.is_ascii_digit())
}

fn is_ours(id: &str) -> bool {
    id.bytes().any(|b| b.is_ascii_digit())
}

fn without_colon(text: &str) -> &str {
    let text = text.trim_start();
    let rest = text.strip_prefix([':', '—', '–']).or_else(|| text.strip_prefix("- "));
    rest.unwrap_or(text).trim_start()
}

/// Whether an id has numbers with dots, as in `1.2`, `2.10.3` or `1.2a`.
fn is_dotted(id: &str) -> bool {
    let mut parts = id.split('.');
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()) && part.len() < 5;
    let last = |part: &str| digits(part.trim_end_matches(|c: char| c.is_ascii_lowercase()));
    let count = id.split('.').count();
    count > 1 && parts.by_ref().take(count - 1).all(digits) && id.rsplit('.').next().is_some_and(last)
}

/// Whether an id has letters and a number, as in `T012` or `ABC-12`.
fn is_lettered(id: &str) -> bool {
    let Some(start) = id.find(|c: char| c.is_ascii_digit()) else { return false };
    let (letters, digits) = id.split_at(start);
    let number = digits.bytes().all(|b| b.is_ascii_digit()) && digits.len() < 6;
    let word = letters.trim_end_matches('-');
    let upper = !word.is_empty() && word.len() < 8 && word.bytes().all(|b| b.is_ascii_uppercase());
    number && upper && (letters.ends_with('-') || (word == "T" && digits.len() > 1))
}

/// Removes one mark from the end of a text; `None` if there is none.
fn take_ending(text: &str, parsed: &mut Parsed) -> Option<String> {
    let text = text.trim_end();
    for arrow in ["← CURRENT", "<- CURRENT", "⬅ CURRENT", "🔄"] {
        if let Some(rest) = text.strip_suffix(arrow) {
            if parsed.status == TaskStatus::Pending {
                parsed.status = TaskStatus::InProgress;
            }
            return Some(rest.trim_end().to_owned());
        }
    }
    if let Some(rest) = text.strip_suffix('✅') {
        parsed.status = TaskStatus::Completed;
        return Some(rest.trim_end().to_owned());
    }
    for (open, close) in [('[', ']'), ('(', ')')] {
        let Some((before, inside)) = ending(text, open, close) else { continue };
        if before.trim().is_empty() {
            continue;
        }
        if let Some(size) = whole_size(inside, open).filter(|_| parsed.size.is_none()) {
            parsed.size = Some(size);
            return Some(before.trim_end().to_owned());
        }
        if let Some(ids) = depends_words(inside).filter(|_| parsed.depends.is_empty()) {
            let (ids, doubt) = dependencies(ids);
            // Text that is not an id stays where it was written.
            if doubt.is_none() {
                parsed.depends = ids;
                return Some(before.trim_end().to_owned());
            }
            parsed.doubt = doubt;
            return None;
        }
        if open == '['
            && inside.len() > 3
            && parsed.status == TaskStatus::Pending
            && let Some(status) = TaskStatus::parse(inside).filter(|status| *status != TaskStatus::Pending)
        {
            parsed.status = status;
            return Some(before.trim_end().to_owned());
        }
    }
    None
}

/// Reads a size in brackets, such as `SMALL`. A single letter counts only in square brackets, because `(s)` is a
/// plural.
fn whole_size(inside: &str, open: char) -> Option<Size> {
    let word = inside.trim().strip_prefix("size:").unwrap_or(inside.trim()).trim();
    match word.len() {
        1 | 2 if open == '[' && word.bytes().all(|b| b.is_ascii_uppercase()) => Size::parse(word),
        1 | 2 => None,
        _ => Size::parse(word),
    }
}

/// Returns the text between the last brackets, and the text before them.
fn ending(text: &str, open: char, close: char) -> Option<(&str, &str)> {
    let inside = text.trim_end().strip_suffix(close)?;
    let at = inside.rfind(open)?;
    Some((&inside[..at], &inside[at + open.len_utf8()..]))
}

fn depends_words(text: &str) -> Option<&str> {
    let lower = text.to_lowercase();
    const DEPENDS_WORDS: [&str; 10] = [
        "depends on:",
        "depends on",
        "depends:",
        "depends ",
        "dependencies:",
        "deps:",
        "dep:",
        "blocked by:",
        "blocked by",
        "requires:",
    ];
    let word = DEPENDS_WORDS.into_iter().find(|word| lower.trim_start().starts_with(word))?;
    text.trim_start().get(word.len()..)
}

/// Returns the ids of a list, and any text that is not an id.
fn dependencies(list: &str) -> (Vec<String>, Option<String>) {
    let list = list.trim().trim_matches(['*', '`']).trim();
    let nothing = ["", "none", "n/a", "-", "—", "nothing", "nil"];
    if nothing.contains(&list.trim_end_matches('.').to_lowercase().as_str()) {
        return (Vec::new(), None);
    }
    let (mut ids, mut other) = (Vec::new(), Vec::new());
    for part in list.split([',', ';', '&', '+']).flat_map(|part| part.split(" and ")) {
        let part = part.trim().trim_matches(['*', '`', '#']);
        let lower = part.to_lowercase();
        let named = ["tasks ", "task ", "step "].into_iter().find(|word| lower.starts_with(word));
        let id = named.map_or(part, |word| part[word.len()..].trim()).trim_end_matches('.');
        match Id::new(id).is_ok() && (id.bytes().any(|b| b.is_ascii_digit()) || !id.contains(' ')) {
            true => ids.push(id.to_owned()),
            false if part.is_empty() => {}
            false => other.push(part),
        }
    }
    let doubt = (!other.is_empty())
        .then(|| format!("a dependency that names no task stays text: {}", one_line(&other.join(", "), 80)));
    (ids, doubt)
}

fn split_reason(text: &str) -> Option<(String, String)> {
    const REASON_MARKS: [&str; 5] = [" - Reason:", " — Reason:", " Reason:", " - BLOCKED:", " — BLOCKED:"];
    let (at, mark) = REASON_MARKS.into_iter().find_map(|mark| Some((text.find(mark)?, mark)))?;
    Some((text[..at].trim_end().to_owned(), text[at + mark.len()..].trim().to_owned()))
}

pub fn field(text: &str) -> Option<Field> {
    let (name, value) = text.split_once(':')?;
    let name = name.trim().trim_matches(['*', '_', '`']).trim().to_lowercase();
    let value = value.trim().trim_start_matches("**").trim_start_matches("__").trim();
    let text = || value.to_owned();
    Some(match name.as_str() {
        "acceptance"
        | "acceptance criteria"
        | "acceptance criterion"
        | "ac"
        | "verify"
        | "verification"
        | "done when"
        | "definition of done" => Field::Acceptance(Some(text()).filter(|text| !text.is_empty())?),
        "files" | "file" | "file(s)" | "files touched" | "target files" => Field::Files(files(value)?),
        "depends" | "depends on" | "dependencies" | "deps" => {
            let (ids, doubt) = dependencies(value);
            if ids.is_empty() && doubt.is_some() {
                return None;
            }
            Field::Depends(ids, doubt)
        }
        "size" | "complexity" => Field::Size(Size::parse(value)?),
        "status" => Field::Status(
            TaskStatus::parse(value.trim_matches(['`', '[', ']', '*'])).filter(|_| !value.is_empty())?,
        ),
        "blocked" | "blocked reason" => Field::Blocked(text()),
        "evidence" => Field::Evidence(text()),
        "without evidence" => Field::WithoutEvidence(text()),
        _ => return None,
    })
}

/// Returns paths separated by commas; `None` if the text is a sentence about files.
fn files(list: &str) -> Option<Vec<String>> {
    let paths: Vec<String> = list
        .split(',')
        .map(|path| path.trim().trim_matches('`').to_owned())
        .filter(|path| !path.is_empty())
        .collect();
    (!paths.is_empty() && paths.iter().all(|path| !path.contains(char::is_whitespace))).then_some(paths)
}
