//! Parses the text of one item into its id, size, dependencies, state and description.

use super::super::{PhaseStatus, TaskSize, TaskStatus};
use super::field::parse_dependencies;
use super::lines::CheckboxMark;
use super::marks;
use crate::id::Id;

#[derive(Debug, Default)]
pub struct ParsedTaskItem {
    pub id: Option<String>,
    pub status: TaskStatus,
    pub size: Option<TaskSize>,
    pub description: String,
    pub depends: Vec<String>,
    pub blocked_reason: Option<String>,
    pub warning: Option<String>,
}

pub fn parse_task_item(text: &str, mark: Option<&CheckboxMark>) -> ParsedTaskItem {
    let mut parsed = ParsedTaskItem::default();
    match mark {
        Some(CheckboxMark::Certain(status)) => parsed.status = *status,
        Some(CheckboxMark::Likely(status, sign)) => {
            parsed.status = *status;
            parsed.warning = Some(format!("`[{sign}]` was read as “in progress”"));
        }
        None => {}
    }
    let drawn = parsed.status;
    let (mut says_done, mut is_struck) = (false, false);
    let text = match marks::text_after_done_sign(text) {
        Some(rest) => {
            says_done = true;
            rest
        }
        None => text.to_owned(),
    };
    let text = match split_struck_text(&text) {
        Some((inside, behind)) => {
            is_struck = true;
            format!("{inside}{behind}")
        }
        None => text,
    };
    let (id, rest) = leading_id(without_priority(&text));
    parsed.id = id;
    let mut rest = rest.trim().to_owned();
    // The marks at the end of an item can come in any order.
    loop {
        if let Some(shorter) = take_mark_at_end(&rest, &mut parsed) {
            rest = shorter;
        } else if let Some(shorter) = marks::without_done_mark(&rest) {
            (says_done, rest) = (true, shorter);
        } else {
            break;
        }
    }
    if says_done {
        parsed.status = TaskStatus::Completed;
        if mark.is_some() && drawn != TaskStatus::Completed {
            parsed.warning =
                Some("the box is open, but the text says “done”; the task is read as completed".to_owned());
        }
    }
    take_blocked_reason(&mut rest, &mut parsed);
    // The id may be outside the text that is struck through, as in `1.2: ~~text~~`.
    if let Some((inside, behind)) = split_struck_text(&rest) {
        is_struck = true;
        rest = format!("{inside}{behind}");
    }
    if is_struck && parsed.status == TaskStatus::Pending {
        parsed.status = TaskStatus::Closed;
    }
    parsed.description = rest;
    parsed
}

/// Records why an item is blocked and removes the reason from its text.
fn take_blocked_reason(text: &mut String, parsed: &mut ParsedTaskItem) {
    let found = match parsed.status {
        TaskStatus::Blocked => split_reason(text).or_else(|| marks::split_blocked_reason(text)),
        TaskStatus::Pending | TaskStatus::Completed => marks::split_blocked_reason(text),
        TaskStatus::InProgress | TaskStatus::Closed => None,
    };
    let Some((before, why)) = found else { return };
    if parsed.status == TaskStatus::Completed {
        parsed.warning =
            Some("the box is ticked, but the text says “blocked”; the task is read as completed".to_owned());
        return;
    }
    (parsed.status, *text) = (TaskStatus::Blocked, before);
    parsed.blocked_reason = Some(why).filter(|why| !why.is_empty()).or(parsed.blocked_reason.take());
}

/// Splits `~~text~~ remark` into the text and the remark.
fn split_struck_text(text: &str) -> Option<(&str, &str)> {
    let (inside, behind) = text.strip_prefix("~~")?.split_once("~~")?;
    (behind.is_empty() || behind.starts_with([' ', ':', ','])).then_some((inside, behind))
}

/// Removes the priority from `[P0] TASK-001: name`. Text without an id is unchanged.
fn without_priority(text: &str) -> &str {
    text_after_priority(text).filter(|rest| begins_with_ticket_id(rest)).unwrap_or(text)
}

fn text_after_priority(text: &str) -> Option<&str> {
    let (digit, rest) = text.trim_start().strip_prefix("[P")?.split_once("] ")?;
    (digit.len() == 1).then_some(rest)
}

/// Parses a heading such as `Task 1.2 — Name [DONE]` or `3. Name`.
pub fn parse_task_heading(text: &str) -> ParsedTaskItem {
    parse_task_item(text, None)
}

/// Returns the name of a phase and, if the heading contains one, its state.
pub fn parse_phase_name_and_status(heading: &str) -> (String, Option<PhaseStatus>) {
    let text = heading.trim();
    for (open, close) in [('[', ']'), ('(', ')')] {
        if let Some((before, word)) = split_last_brackets(text, open, close)
            && let Some(status) = PhaseStatus::parse(word).filter(|_| !word.trim().is_empty())
        {
            return (before.trim_end().to_owned(), Some(status));
        }
    }
    match marks::without_done_mark(text) {
        Some(name) => (name, Some(PhaseStatus::Complete)),
        None => (text.to_owned(), None),
    }
}

/// Returns whether a heading is a task, such as `Task 3`, `Step 2:`, `1.2 Name` or `T012`.
pub fn is_task_heading(heading: &str) -> bool {
    let text = heading.trim().trim_start_matches(|c: char| !c.is_alphanumeric());
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let numbered = || rest.trim_start().starts_with(|c: char| c.is_ascii_digit());
    if ["task", "step", "tarea", "шаг", "任务", "步骤"].contains(&word.to_lowercase().as_str()) && numbered()
    {
        return true;
    }
    let id = word.trim_end_matches([':', '.', ')']);
    is_dotted_id(id) || begins_with_ticket_id(heading)
}

/// Returns the number of a heading such as `1.2 Name`, which is either a task or a chapter with tasks.
pub fn chapter_number(heading: &str) -> Option<String> {
    let text = heading.trim().trim_start_matches(|c: char| !c.is_alphanumeric());
    let id = text.split(' ').next().unwrap_or_default().trim_end_matches([':', '.', ')']);
    is_dotted_id(id).then(|| id.to_owned())
}

/// Returns whether `text` starts with a ticket id, as in `TASK-001: name`, `T012 name` and `TASK-1.2: name`.
pub fn begins_with_ticket_id(text: &str) -> bool {
    let text =
        text_after_priority(text).unwrap_or(text).trim().trim_start_matches(|c: char| !c.is_alphanumeric());
    let (word, _) = text.split_once(' ').unwrap_or((text, ""));
    let id = word.trim_end_matches([':', '.', ')', '*']);
    let in_parts = || {
        let (letters, number) = id.split_once('-').unwrap_or(("", ""));
        let is_word = (1..8).contains(&letters.len()) && letters.bytes().all(|b| b.is_ascii_uppercase());
        word.ends_with(':') && is_word && is_dotted_id(number)
    };
    is_lettered_id(id) || in_parts()
}

/// Returns whether `text` is numbered, as in `3. Name` and `3) Name`.
pub fn is_numbered(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && digits < 4 && text[digits..].starts_with(['.', ')', ':'])
}

/// Returns the id at the start of `text`, if any, and the text after it.
fn leading_id(text: &str) -> (Option<String>, String) {
    let text = text.trim();
    for bold in ["**", "__", "`", "["] {
        let Some(inside) = text.strip_prefix(bold) else { continue };
        let close = if bold == "[" { "]" } else { bold };
        let (Some(id), rest) = leading_id_without_emphasis(inside) else { break };
        // The id may be bold, as in `**1.2** text` and `**1.2: Name** text`. In the second form the name stays bold.
        if let Some(rest) = rest.strip_prefix(close) {
            // `` `T013`, `T014` are closed `` is a sentence about two tasks, so its first word is not the id of a
            // task.
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
    let (id, rest) = leading_id_without_emphasis(text);
    (id, rest.to_owned())
}

fn leading_id_without_emphasis(text: &str) -> (Option<String>, &str) {
    let lower = text.to_lowercase();
    let word = ["task ", "step "].into_iter().find(|word| lower.starts_with(word));
    let after = word.map_or(text, |word| text[word.len()..].trim_start());
    let end = after
        .find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '-' | '_'))
        .unwrap_or(after.len());
    let mut id = &after[..end];
    // In `1.2.` and `3.` the last dot is a separator.
    let divided = id.ends_with('.');
    id = id.trim_end_matches('.');
    let behind = &after[id.len()..];
    let divides = divided || behind.starts_with([':', ')']);
    let looks = if is_dotted_id(id) || is_lettered_id(id) {
        behind.is_empty() || behind.starts_with([' ', ':', ')', '.', '*', '_', '`', ']'])
    } else if word.is_some() {
        id.starts_with(|c: char| c.is_ascii_digit()) && id.len() <= 12
    } else if id.ends_with(|c: char| c.is_ascii_digit()) || contains_digit(id) {
        // Any other id, such as `auth-3` or a bare number, must be followed by a separator, as in `auth-3: text`.
        (divides && behind.starts_with([':', '.', ')'])) && is_short_id(id)
    } else {
        false
    };
    if !looks || Id::new(id).is_err() {
        return (None, text);
    }
    let rest = behind.trim_start_matches(['.', ')']);
    (Some(id.to_owned()), without_colon(rest))
}

/// Returns whether a word is likely to be an id rather than the first word of a sentence.
fn is_short_id(id: &str) -> bool {
    id.len() <= 24 && id.bytes().any(|b| b.is_ascii_digit())
}

fn contains_digit(id: &str) -> bool {
    id.bytes().any(|b| b.is_ascii_digit())
}

fn without_colon(text: &str) -> &str {
    let text = text.trim_start();
    let rest = text.strip_prefix([':', '—', '–']).or_else(|| text.strip_prefix("- "));
    rest.unwrap_or(text).trim_start()
}

/// Returns whether an id consists of numbers joined by dots, such as `1.2`, `2.10.3` or `1.2a`.
fn is_dotted_id(id: &str) -> bool {
    let mut parts = id.split('.');
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()) && part.len() < 5;
    let last = |part: &str| digits(part.trim_end_matches(|c: char| c.is_ascii_lowercase()));
    let count = id.split('.').count();
    count > 1 && parts.by_ref().take(count - 1).all(digits) && id.rsplit('.').next().is_some_and(last)
}

/// Returns whether an id consists of letters and a number, such as `T012` or `ABC-12`.
fn is_lettered_id(id: &str) -> bool {
    let Some(start) = id.find(|c: char| c.is_ascii_digit()) else { return false };
    let (letters, digits) = id.split_at(start);
    let number = digits.bytes().all(|b| b.is_ascii_digit()) && digits.len() < 6;
    let word = letters.trim_end_matches('-');
    let upper = !word.is_empty() && word.len() < 8 && word.bytes().all(|b| b.is_ascii_uppercase());
    number && upper && (letters.ends_with('-') || (word == "T" && digits.len() > 1))
}

/// Removes one mark, such as `← CURRENT`, `[SMALL]` or `(depends: 1.1)`, from the end of `text` and records its
/// meaning in `parsed`. Returns `None` if there is no mark.
fn take_mark_at_end(text: &str, parsed: &mut ParsedTaskItem) -> Option<String> {
    let text = text.trim_end();
    for arrow in ["← CURRENT", "<- CURRENT", "⬅ CURRENT", "🔄"] {
        if let Some(rest) = text.strip_suffix(arrow) {
            if parsed.status == TaskStatus::Pending {
                parsed.status = TaskStatus::InProgress;
            }
            return Some(rest.trim_end().to_owned());
        }
    }
    for (open, close) in [('[', ']'), ('(', ')')] {
        let Some((before, inside)) = split_last_brackets(text, open, close) else { continue };
        if before.trim().is_empty() {
            continue;
        }
        if let Some(size) = size_in_brackets(inside, open).filter(|_| parsed.size.is_none()) {
            parsed.size = Some(size);
            return Some(before.trim_end().to_owned());
        }
        if let Some(list) = text_after_depends(inside).filter(|_| parsed.depends.is_empty()) {
            let (ids, doubt) = parse_dependencies(list);
            // `(blocked on legal review)` names no task, so it is not a list of dependencies.
            if inside.to_lowercase().trim_start().starts_with("blocked")
                && !ids.iter().all(|id| contains_digit(id))
            {
                return None;
            }
            // If the brackets contain anything but ids, they stay in the text.
            if doubt.is_none() {
                parsed.depends = ids;
                return Some(before.trim_end().to_owned());
            }
            parsed.warning = doubt;
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

/// Returns the size in brackets, such as `(small)` or `[M]`. A size of one or two letters must be in square brackets,
/// because `(s)` is a plural ending.
fn size_in_brackets(inside: &str, open: char) -> Option<TaskSize> {
    let word = inside.trim().strip_prefix("size:").unwrap_or(inside.trim()).trim();
    match word.len() {
        1 | 2 if open == '[' && word.bytes().all(|b| b.is_ascii_uppercase()) => TaskSize::parse(word),
        1 | 2 => None,
        _ => TaskSize::parse(word),
    }
}

/// Returns the text before the last brackets, and the text inside them.
fn split_last_brackets(text: &str, open: char, close: char) -> Option<(&str, &str)> {
    let inside = text.trim_end().strip_suffix(close)?;
    let at = inside.rfind(open)?;
    Some((&inside[..at], &inside[at + open.len_utf8()..]))
}

fn split_reason(text: &str) -> Option<(String, String)> {
    const REASON_MARKS: [&str; 5] = [" - Reason:", " — Reason:", " Reason:", " - BLOCKED:", " — BLOCKED:"];
    let (at, mark) = REASON_MARKS.into_iter().find_map(|mark| Some((text.find(mark)?, mark)))?;
    Some((text[..at].trim_end().to_owned(), text[at + mark.len()..].trim().to_owned()))
}

fn text_after_depends(text: &str) -> Option<&str> {
    let lower = text.to_lowercase();
    const DEPENDENCY_WORDS: [&str; 12] = [
        "depends on:",
        "depends on",
        "depends:",
        "depends ",
        "dependencies:",
        "deps:",
        "dep:",
        "blocked by:",
        "blocked by",
        "blocked on:",
        "blocked on",
        "requires:",
    ];
    let word = DEPENDENCY_WORDS.into_iter().find(|word| lower.trim_start().starts_with(word))?;
    text.trim_start().get(word.len()..)
}
