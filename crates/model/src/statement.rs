//! What an agent said, reduced to what is worth knowing later: what it found, decided and did. Announcements of the next
//! call, praise and "all tests pass" go: what was done is known better from the calls.

use std::borrow::Cow;

/// Shorter than that, words between two calls say nothing.
const TELLING: usize = 45;

/// The text without markup, announcements and praise, on one line: sentences and list items in their order.
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
        let line = line.replace("**", "").replace("__", "");
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
    // What the colon announced was code, or a call.
    if out.ends_with(':') {
        out.pop();
    }
    out
}

/// What words between two calls tell that outlives the next call; empty where they only announce it.
pub fn finding(text: &str) -> String {
    let said = condense(text);
    if said.chars().count() < TELLING || !is_telling(&said) { String::new() } else { said }
}

/// The first sentences that fit into `max` characters; if not one does, the beginning of the first.
pub fn first_sentences(text: &str, max: usize) -> Cow<'_, str> {
    if text.chars().count() <= max {
        return Cow::Borrowed(text);
    }
    let within: usize = text.char_indices().nth(max).map_or(text.len(), |(at, _)| at);
    let mut ends = text[..within].match_indices(['.', ';', '!', '?']).map(|(at, mark)| at + mark.len());
    let end = ends.rfind(|end| text[*end..].starts_with(' '));
    match end.filter(|end| *end * 2 >= within) {
        Some(end) => Cow::Owned(format!("{} …", text[..end].trim_end_matches(';'))),
        None => Cow::Owned(format!("{}…", text[..within].trim_end())),
    }
}

/// Without the mark of a heading, a quote or a list item, and whether it was an item.
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

/// Says what comes next, or only that it goes well.
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

/// Names something, or says why.
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
