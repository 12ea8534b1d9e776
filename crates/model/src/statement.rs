//! Reduces what an agent said to what is worth knowing later: what it found, decided and did. Announcements of the
//! next call, praise and "all tests pass" are dropped, because the calls themselves show what was done.

use std::borrow::Cow;

/// Shorter text between two calls says nothing.
const TELLING: usize = 45;

/// Returns the text without markup, announcements and praise, on one line: sentences and list items in order.
pub fn condense(text: &str) -> String {
    let mut out = String::new();
    let mut fenced = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
            continue;
        }
        if fenced || line.starts_with('|') || line.chars().all(|c| matches!(c, '-' | '=' | '*' | '_' | ' ')) {
            continue;
        }
        let (item, line) = without_mark(line);
        let line = line.replace("**", "");
        let kept: Vec<&str> = split(&line).into_iter().filter(|sentence| !is_talk(sentence)).collect();
        let kept = kept.join(" ");
        if kept.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push_str(match out.chars().last() {
                Some(':') => " ",
                _ if item => "; ",
                Some('.' | '!' | '?' | ';' | ',') => " ",
                _ => ". ",
            });
        }
        out.push_str(&kept);
    }
    // The colon introduced code, or a call.
    if out.ends_with(':') {
        out.pop();
    }
    out
}

/// Returns the part of a text between two calls that stays useful later; empty if it only announces the next call.
pub fn finding(text: &str) -> String {
    let said = condense(text);
    let names = said.contains('`') || said.contains('/');
    let shortest = if names { TELLING } else { TELLING + 25 };
    if said.chars().count() < shortest || !is_telling(&said) { String::new() } else { said }
}

/// Returns the first sentences that fit into `max` characters; if none does, the beginning of the first.
pub fn first_sentences(text: &str, max: usize) -> Cow<'_, str> {
    if text.chars().count() <= max {
        return Cow::Borrowed(text);
    }
    let within: usize = text.char_indices().nth(max).map_or(text.len(), |(at, _)| at);
    let mut ends = text[..within].match_indices(['.', ';', '!', '?']).map(|(at, mark)| at + mark.len());
    let end = ends.rfind(|end| text[*end..].starts_with(' '));
    match end.filter(|end| *end * 4 >= within) {
        Some(end) => Cow::Owned(format!("{} …", text[..end].trim_end_matches(';'))),
        None => Cow::Owned(format!("{}…", text[..within].trim_end())),
    }
}

/// Returns the last sentences that fit into `max` characters; if none does, the end of the last.
pub fn last_sentences(text: &str, max: usize) -> Cow<'_, str> {
    let text = text.trim();
    let count = text.chars().count();
    if count <= max {
        return Cow::Borrowed(text);
    }
    let from = text.char_indices().nth(count - max.saturating_sub(2)).map_or(0, |(at, _)| at);
    let starts = text[from..].match_indices(['.', '!', '?', '\n']).map(|(at, mark)| from + at + mark.len());
    let mut starts =
        starts.filter(|start| text[*start..].starts_with([' ', '\n']) || text[..*start].ends_with('\n'));
    let start = starts.find(|start| !text[*start..].trim().is_empty()).unwrap_or(from);
    Cow::Owned(format!("… {}", text[start..].trim_start()))
}

/// Strips the mark of a heading, a quote or a list item, and returns whether it was an item.
fn without_mark(line: &str) -> (bool, &str) {
    let line = line.trim_start_matches('>').trim_start();
    if let Some(heading) = line.strip_prefix('#') {
        return (false, heading.trim_start_matches('#').trim());
    }
    for mark in ["- [x] ", "- [ ] ", "- ", "* ", "+ ", "• ", "✅ ", "✓ "] {
        if let Some(rest) = line.strip_prefix(mark) {
            return (true, rest.trim());
        }
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = (1..=2).contains(&digits) && line[digits..].starts_with(". ");
    (numbered, line)
}

fn split(line: &str) -> Vec<&str> {
    let ends = line.match_indices(['.', '?', '!']).map(|(at, mark)| at + mark.len());
    let (mut found, mut start) = (Vec::new(), 0);
    for end in ends.filter(|end| line[*end..].starts_with(' ')).chain([line.len()]) {
        let sentence = line[start..end].trim();
        if !sentence.is_empty() {
            found.push(sentence);
        }
        start = end;
    }
    found
}

/// Returns whether a sentence only says what comes next, or that all is well.
fn is_talk(sentence: &str) -> bool {
    const ANNOUNCING: &[&str] = &[
        "let me ",
        "now let me ",
        "let's ",
        "now let's ",
        "i'll ",
        "now i'll ",
        "first, let me ",
        "first, i'll ",
        "first let me ",
        "let's start ",
        "next, i'll ",
        "next, let me ",
        "now i need to ",
        "now i can ",
        "now update ",
        "now add ",
        "now fix ",
        "now remove ",
        "now run ",
        "now check ",
        "now find ",
        "now verify ",
        "now rewrite ",
        "now create ",
        "now write ",
        "now for ",
        "now to ",
        "i will ",
        "i'm going to ",
        "time to ",
        "continuing ",
        "here's a summary",
        "here is a summary",
        "here's what",
        "here is what",
        "here's the summary",
        "want me to ",
        "would you like me to ",
        "shall i ",
        "let me know ",
    ];
    const PRAISE: &[&str] = &[
        "perfect",
        "great",
        "excellent",
        "done",
        "good",
        "good catch",
        "good question",
        "great question",
        "good point",
        "great catch",
        "good idea",
        "great idea",
        "you're right",
        "you're absolutely right",
        "no response requested",
        "got it",
        "understood",
        "absolutely",
        "sure",
        "interesting",
        "all tests pass",
        "all tests pass now",
        "tests pass",
        "the tests pass",
        "the test passes",
        "test passes",
        "linter passes",
        "lint passes",
        "lint is clean",
        "build passes",
        "build succeeded",
        "the build succeeded",
        "all integration tests pass",
        "all unit tests pass",
        "all tests pass and lint is clean",
        "all tests pass and linting is clean",
        "now i have a complete understanding",
    ];
    let small = sentence.to_lowercase().replace('’', "'");
    let bare = small.trim_matches(|c: char| !c.is_alphanumeric());
    PRAISE.contains(&bare) || ANNOUNCING.iter().any(|start| small.starts_with(start))
}

/// Returns whether a text names something, or gives a reason.
fn is_telling(said: &str) -> bool {
    const WHY: &[&str] = &[
        "because",
        "issue",
        "problem",
        "cause",
        "bug",
        "missing",
        "wrong",
        "instead",
        "already",
        "cannot",
        "can't",
        "doesn't",
        "isn't",
        "not ",
        "must",
        "should",
        "found",
        "turns out",
        "fails",
        "failing",
        "pre-existing",
        "stale",
        "decid",
        "chose",
        "works",
        "fixed",
    ];
    let small = said.to_lowercase();
    said.contains('`') || said.contains('/') || WHY.iter().any(|word| small.contains(word))
}

#[cfg(test)]
#[path = "statement_tests.rs"]
mod tests;
