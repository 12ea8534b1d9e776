//! Extracts the change that the agent announces, as an imperative. "Now let me update `a` to do b:" yields "update
//! `a` to do b".

use super::talk::{is_informative, is_uninformative_talk};
use super::{split_line_mark, split_sentences};

/// A shorter announcement, such as "Let me fix it", is not informative.
const MIN_PURPOSE_CHARS: usize = 24;

/// The maximum length of an announcement, in characters.
const MAX_ANNOUNCED_CHANGE_CHARS: usize = 200;

/// Lower-case phrases that introduce an announcement.
const ANNOUNCEMENT_BEGINNINGS: &[&str] = &[
    "now ",
    "next, ",
    "next ",
    "then ",
    "first, ",
    "first ",
    "finally, ",
    "also ",
    "so ",
    "let me ",
    "let's ",
    "i'll ",
    "i will ",
    "i need to ",
    "we need to ",
    "i should ",
    "i also need to ",
    "i'm going to ",
    "i can ",
    "need to ",
    "and ",
    "good. ",
    "got it. ",
];

/// First words of announcements that do not announce a change.
const READING_VERBS: &[&str] = &[
    "check",
    "look",
    "read",
    "see",
    "search",
    "run",
    "verify",
    "find",
    "view",
    "explore",
    "understand",
    "examine",
    "inspect",
    "grep",
    "continue",
    "start",
    "commit",
    "push",
    "rebuild",
    "build",
    "test",
    "trace",
    "investigate",
    "confirm",
    "get",
    "try",
    "take",
    "wait",
    "know",
    "have",
    "understand",
    "think",
    "compare",
    "list",
    "show",
    "use",
];

/// First words of sentences that announce a change without "let me".
const CHANGING_VERBS: &[&str] = &[
    "add",
    "adjust",
    "apply",
    "change",
    "clean",
    "convert",
    "create",
    "delete",
    "do",
    "drop",
    "extend",
    "extract",
    "fix",
    "handle",
    "implement",
    "inline",
    "make",
    "merge",
    "migrate",
    "move",
    "refactor",
    "remove",
    "rename",
    "replace",
    "resolve",
    "restore",
    "revert",
    "rewrite",
    "simplify",
    "split",
    "switch",
    "update",
    "wire",
    "wrap",
    "write",
];

/// Phrases about how the agent works rather than about a change.
const WAY_OF_WORKING_PHRASES: &[&str] =
    &["create task", "task track", "todo list", "start implementing", "re-read", "re-run", "create a plan"];

/// Words that refer to an earlier sentence, as in "Fix these errors".
const REFERRING_WORDS: &[&str] = &["it", "this", "that", "these", "those", "them", "both", "all"];

/// Returns the change that a message announces. If the announcement is vague, returns the agent's last finding
/// instead. The result is empty if there is neither.
pub fn change_announced_in_message(text: &str) -> String {
    let mut order = String::new();
    let mut found = String::new();
    let mut fenced = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("```") {
            fenced = !fenced;
        }
        let is_row = line.starts_with('|') || line.starts_with('`') && !line.contains(' ');
        if fenced || is_row || line.starts_with("```") {
            continue;
        }
        let line = split_line_mark(line).1.replace("**", "");
        for sentence in split_sentences(&line) {
            match announced_change(sentence) {
                Some(words) => order = words,
                // A finding counts as a reason only if it contains a name in backticks.
                None if !is_uninformative_talk(sentence)
                    && is_informative(sentence)
                    && contains_backticked_name(sentence)
                    && is_clause(sentence) =>
                {
                    found = sentence.trim_end_matches([':', '.']).to_owned();
                }
                None => {}
            }
        }
    }
    let refers = order.split(' ').nth(1).is_some_and(|word| REFERRING_WORDS.contains(&word));
    let is_vague = (order.chars().count() < MIN_PURPOSE_CHARS || refers) && !order.contains('`');
    let kept = if is_vague && !order.is_empty() { found } else { order };
    super::first_sentences(&kept, MAX_ANNOUNCED_CHANGE_CHARS)
        .trim_end_matches([' ', '…', '.', ':', ';'])
        .to_owned()
}

/// Returns whether a sentence says more than a name. For example, "First, `parse`:" does not.
fn is_clause(sentence: &str) -> bool {
    sentence.split_whitespace().count() > 3
}

/// Returns whether a sentence contains a name in backticks. A sentence that starts with such a name is a list entry and
/// does not count.
fn contains_backticked_name(sentence: &str) -> bool {
    sentence.contains('`') && !sentence.starts_with('`')
}

/// Returns whether a message ends by announcing that the agent will look at something rather than change it, as in "Let
/// me check the order of events:".
pub fn ends_by_announcing_look(text: &str) -> bool {
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let last = split_sentences(line).pop().unwrap_or_default();
    let (rest, leads) = without_leading_words(last);
    leads && READING_VERBS.contains(&first_word(rest).as_str())
}

/// The last sentence of the text announces that the agent will look at something (see [`ends_by_announcing_look`]).
/// Returns the sentence before it if that sentence announces a change. For example, returns the first sentence of "Now
/// I need to change `total`. Let me read it first:".
pub fn change_announced_before_looking(text: &str) -> Option<&str> {
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    let mut sentences = split_sentences(line);
    sentences.pop();
    sentences.pop().filter(|before| announced_change(before).is_some())
}

/// Returns the change that a sentence announces, without the introductory phrase.
fn announced_change(sentence: &str) -> Option<String> {
    let (rest, leads) = without_leading_words(sentence);
    let first = first_word(rest);
    // A numbered step such as "Fix 4: remove it" also counts as an announcement.
    let is_order = CHANGING_VERBS.contains(&first.as_str());
    let small = rest.to_lowercase();
    let is_meta = WAY_OF_WORKING_PHRASES.iter().any(|words| small.contains(words));
    if READING_VERBS.contains(&first.as_str()) || is_meta || !is_order && !leads || first.is_empty() {
        return None;
    }
    (is_order || leads && sentence.ends_with(':')).then(|| rest.trim_end_matches([':', '.', '!']).to_owned())
}

/// Returns a sentence without introductory phrases such as "now let me", and whether it had any.
fn without_leading_words(sentence: &str) -> (&str, bool) {
    let mut rest = sentence.trim();
    let mut leads = false;
    loop {
        let small = rest.to_lowercase().replace('’', "'");
        let lead = ANNOUNCEMENT_BEGINNINGS.iter().find(|lead| small.starts_with(**lead));
        // Lowercasing can turn one character into two, but no phrase in [`ANNOUNCEMENT_BEGINNINGS`] contains such a
        // character.
        let Some((at, _)) = lead.and_then(|lead| rest.char_indices().nth(lead.chars().count())) else {
            break;
        };
        (rest, leads) = (rest[at..].trim_start(), true);
    }
    (rest, leads)
}

fn first_word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_edit_is_for() {
        let cases = [
            (
                "Now let me update the test script to commit the setup files first:",
                "update the test script to commit the setup files first",
            ),
            (
                "Got it. I'll remove the `entire session` calls since they are gone.",
                "remove the `entire session` calls since they are gone",
            ),
            ("Now update `computeDiff` to use `gitTimeout`:", "update `computeDiff` to use `gitTimeout`"),
            (
                "**Fix 4: Remove os.Chdir, write the state file directly:**",
                "Fix 4: Remove os.Chdir, write the state file directly",
            ),
            (
                "I found the bug: `skip()` eats the comment. Let me fix it:",
                "I found the bug: `skip()` eats the comment",
            ),
            ("Now I need to update `format`. Let me read its current signature:", "update `format`"),
            ("Do the same for `classify`:", "Do the same for `classify`"),
            // These sentences announce no specific change.
            ("Let me search for references to `sessions`.", ""),
            ("All tests pass. Let me run formatting and linting.", ""),
            ("Let me fix it:", ""),
            ("Now let me create tasks and start implementing:", ""),
            ("Let me re-read the exact lines I need to change:", ""),
            ("I see the structure clearly. Let me fix it:", ""),
            ("Now I have all the context.", ""),
            ("| 1 - Add `HookEnd` | Skip | Only a name |", ""),
            ("```go\nfix(a)\n```", ""),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(change_announced_in_message(text), expected, "{text:?}");
        }
        assert!(
            change_announced_in_message(&format!("Update `a` {}", "so that it works ".repeat(40)))
                .chars()
                .count()
                <= MAX_ANNOUNCED_CHANGE_CHARS
        );
    }

    #[test]
    fn a_look_changes_nothing() {
        for (text, expected) in [
            ("Rebased. Let me check the order of events:", true),
            ("Now let me look at the reader.", true),
            ("Let me fix both:", false),
            ("Now update `skip`:", false),
            ("Done.", false),
            ("", false),
        ] {
            assert_eq!(ends_by_announcing_look(text), expected, "{text}");
        }
    }

    #[test]
    fn a_change_before_a_look() {
        for (text, expected) in [
            ("Now I need to update `total`. Let me read it:", Some("Now I need to update `total`.")),
            ("The sum is wrong. Let me read it:", None),
            ("Let me read it:", None),
        ] {
            assert_eq!(change_announced_before_looking(text), expected, "{text}");
        }
    }
}
