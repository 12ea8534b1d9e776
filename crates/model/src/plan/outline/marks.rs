//! Reads the state of an item or a heading from marks in its text, such as `✅ DONE`, `- COMPLETE` and `— BLOCKED: why`.

use super::super::TaskStatus;

const DONE_SIGNS: [char; 4] = ['✅', '☑', '✔', '✓'];
const DONE_WORDS: [&str; 9] =
    ["done", "complete", "completed", "finished", "fixed", "shipped", "merged", "implemented", "landed"];
/// A character that may follow an emoji. It changes only how the emoji looks.
const EMOJI_VARIANT: char = '\u{fe0f}';

/// Returns the text without its done mark, such as `✅` or `- COMPLETE`. Returns `None` if the text has no such mark.
pub fn without_done_mark(text: &str) -> Option<String> {
    let text = text.trim();
    let shorter = text_after_done_sign(text)
        .or_else(|| text_before_done_sign(text))
        .or_else(|| text_before_done_word(text))?;
    Some(shorter).filter(|shorter| !shorter.is_empty())
}

/// Returns the text in `✅ text` or `✅ DONE: text`.
pub fn text_after_done_sign(text: &str) -> Option<String> {
    let rest = text.trim().strip_prefix(DONE_SIGNS)?.trim_start_matches(EMOJI_VARIANT);
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
    let word_end = rest.find([':', '—', '–']).filter(|at| is_done_word(&rest[..*at]));
    let rest = word_end.map_or(rest, |at| rest[at..].trim_start_matches([':', '—', '–', '*', ' ']));
    Some(rest.to_owned())
}

/// Returns the text in `text ✅` or `text ✅ DONE (2026-02-27)`. The remark in brackets is kept.
fn text_before_done_sign(text: &str) -> Option<String> {
    let at = text.rfind(DONE_SIGNS)?;
    let sign = text[at..].chars().next()?;
    let behind = text[at + sign.len_utf8()..].trim_start_matches(EMOJI_VARIANT);
    let (word, remark) = behind.find('(').map_or((behind, ""), |at| behind.split_at(at));
    let is_mark = word.trim_matches(DECORATION_CHARS).is_empty() || is_done_word(word);
    is_mark.then(|| join_with_remark(&text[..at], remark))
}

/// Returns the text in `text - COMPLETE`, `text — Done (why)`, `text (done)` or `text [x]`.
fn text_before_done_word(text: &str) -> Option<String> {
    for (open, close) in [('(', ')'), ('[', ']')] {
        if let Some(inside) = text.strip_suffix(close)
            && let Some(at) = inside.rfind(open)
            && let word = &inside[at + 1..]
            && (is_done_word(word) || open == '[' && matches!(word, "x" | "X"))
        {
            return Some(join_with_remark(&text[..at], ""));
        }
    }
    let (before, remark) = match text.ends_with(')').then(|| text.rfind(" (")).flatten() {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let (head, word) = before.trim_end().rsplit_once(' ')?;
    let divided = head.trim_end().strip_suffix(['—', '–']).or_else(|| head.trim_end().strip_suffix(" -"))?;
    // A word such as "done" may simply be the end of a sentence, so it is a mark only if it is capitalised.
    let is_mark = is_done_word(word) && word.trim_start_matches(['*', '_']).starts_with(char::is_uppercase);
    is_mark.then(|| join_with_remark(divided, remark))
}

const DECORATION_CHARS: [char; 9] = [' ', '*', '_', '~', ':', '—', '–', '-', '.'];

fn join_with_remark(before: &str, remark: &str) -> String {
    let before = before.trim_end_matches([' ', ':', '—', '–', '-']).trim_end();
    match remark.trim() {
        "" => before.to_owned(),
        remark => format!("{before} {remark}"),
    }
}

fn is_done_word(text: &str) -> bool {
    DONE_WORDS.contains(&text.trim_matches(DECORATION_CHARS).to_lowercase().as_str())
}

/// Returns whether a heading marks its list as done, such as `Completed`, `Done items` or `Shipped`.
pub fn is_heading_of_done_list(heading: &str) -> bool {
    let lower = heading.trim().trim_matches(DECORATION_CHARS).to_lowercase();
    let (first, rest) = lower.split_once(' ').unwrap_or((lower.as_str(), ""));
    DONE_WORDS.contains(&first) && matches!(rest, "" | "tasks" | "items" | "work" | "steps" | "milestones")
}

/// Parses the value of a `Status` field, such as `✅ FIXED`, `🔄 In progress (since May)` or `blocked-human`.
pub fn parse_status_value(value: &str) -> Option<TaskStatus> {
    let sign = value.trim().trim_matches(['*', '`', '_', ' ']);
    let is_done = sign.starts_with(DONE_SIGNS);
    let words = sign.trim_start_matches(|c: char| !c.is_alphanumeric());
    let end = words.find(['(', '—', '–', ',', ';', '*', '`', ']']).unwrap_or(words.len());
    let words = words[..end].trim().trim_end_matches('.');
    if words.is_empty() {
        return is_done.then_some(TaskStatus::Completed);
    }
    let first = words.split([' ', '-', '_']).next().unwrap_or_default().to_lowercase();
    TaskStatus::parse(words)
        .or_else(|| is_done_word(words).then_some(TaskStatus::Completed))
        .or_else(|| (first == "blocked").then_some(TaskStatus::Blocked))
        .or_else(|| (is_done && DONE_WORDS.contains(&first.as_str())).then_some(TaskStatus::Completed))
}

/// Splits `text — BLOCKED: why`, `text (blocked on why)` or `text; blocked until why` into the text and the reason.
pub fn split_blocked_reason(text: &str) -> Option<(String, String)> {
    const BLOCKED_WORD: &str = "blocked";
    let lower = text.to_ascii_lowercase();
    let at = lower.rfind(BLOCKED_WORD)?;
    let (before, behind) =
        (text[..at].trim_end_matches(['*', '_', ' ', '⛔', '🚫']), &text[at + BLOCKED_WORD.len()..]);
    let rest = behind.trim_start_matches(['*', '_']);
    let names = [" on ", " by "].into_iter().find_map(|word| rest.strip_prefix(word));
    let until = rest.strip_prefix(" until ").map(|_| rest.trim_start());
    let is_shout = text[at..].starts_with("BLOCKED")
        && (rest.trim().is_empty() || rest.trim_start().starts_with([':', '—', '–', '-', '(', ')', ']']));
    let why = names.or(until).or_else(|| is_shout.then_some(rest))?;
    let open = before.chars().next_back()?;
    let is_divided = match open {
        '—' | '–' | '(' | '[' => true,
        '-' => before.ends_with(" -"),
        ';' | ',' => !is_shout,
        _ => false,
    };
    if !is_divided {
        return None;
    }
    let close = match open {
        '(' => why.find(')'),
        '[' => why.find(']'),
        _ => None,
    };
    let (why, after) = close.map_or((why, ""), |at| (&why[..at], &why[at + 1..]));
    let before = before[..before.len() - open.len_utf8()].trim_end();
    let why = why.trim().trim_start_matches([':', '—', '–', '-']).trim_matches(['*', ' ', '(', ')']);
    Some((format!("{before}{after}").trim_end().to_owned(), why.to_owned()))
        .filter(|(text, _)| !text.is_empty())
}
