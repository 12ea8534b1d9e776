//! What the agent says that it is about to change, as an order: "Now let me update `a` to do b:" is "update `a` to do b".

use super::talk::{is_informative, is_talk};
use super::{split, without_mark};

/// Shorter than that, an announcement says nothing: "Let me fix it".
const SHORT: usize = 24;

/// What is kept of it.
const LONGEST: usize = 200;

/// Words before an order. Compared in small letters.
const LEADS: &[&str] = &[
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

/// First words of an order that changes nothing.
const LOOKS: &[&str] = &[
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

/// First words of an order without "let me".
const ORDERS: &[&str] = &[
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

/// About the work itself, not about what changes.
const META: &[&str] =
    &["create task", "task track", "todo list", "start implementing", "re-read", "re-run", "create a plan"];

/// "Fix these errors": what they are was said before.
const REFERRING: &[&str] = &["it", "this", "that", "these", "those", "them", "both", "all"];

/// Returns what the words announce to change; what they found out, if the order itself says nothing; empty if neither.
pub fn purpose(text: &str) -> String {
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
        let line = without_mark(line).1.replace("**", "");
        for sentence in split(&line) {
            match announced(sentence) {
                Some(words) => order = words,
                // What it found is a reason only if it names something.
                None if !is_talk(sentence) && is_informative(sentence) && names_it(sentence) => {
                    found = sentence.trim_end_matches([':', '.']).to_owned();
                }
                None => {}
            }
        }
    }
    let refers = order.split(' ').nth(1).is_some_and(|word| REFERRING.contains(&word));
    let is_vague = (order.chars().count() < SHORT || refers) && !order.contains('`');
    let kept = if is_vague && !order.is_empty() { found } else { order };
    super::first_sentences(&kept, LONGEST).trim_end_matches([' ', '…', '.', ':', ';']).to_owned()
}

/// A sentence with a name in it; one that begins with a name is an entry of a list.
fn names_it(sentence: &str) -> bool {
    sentence.contains('`') && !sentence.starts_with('`')
}

/// Returns the order in a sentence, without the words that lead to it.
fn announced(sentence: &str) -> Option<String> {
    let mut rest = sentence.trim();
    let mut leads = false;
    loop {
        let small = rest.to_lowercase().replace('’', "'");
        let Some(lead) = LEADS.iter().find(|lead| small.starts_with(**lead)) else { break };
        // Letters can change their length in small letters; such a lead is not one of ours.
        let Some(after) = rest.get(rest.char_indices().nth(lead.chars().count())?.0..) else { break };
        (rest, leads) = (after.trim_start(), true);
    }
    let first: String = rest.chars().take_while(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
    // "Fix 4: remove it": a step with a number.
    let is_order = ORDERS.contains(&first.as_str());
    let small = rest.to_lowercase();
    let is_meta = META.iter().any(|words| small.contains(words));
    if LOOKS.contains(&first.as_str()) || is_meta || !is_order && !leads || first.is_empty() {
        return None;
    }
    (is_order || leads && sentence.ends_with(':')).then(|| rest.trim_end_matches([':', '.', '!']).to_owned())
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
            // Nothing is changed.
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
            assert_eq!(purpose(text), expected, "{text:?}");
        }
        assert!(
            purpose(&format!("Update `a` {}", "so that it works ".repeat(40))).chars().count() <= LONGEST
        );
    }
}
