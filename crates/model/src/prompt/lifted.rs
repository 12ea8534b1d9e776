//! Decides whether a later message of the user lifts an instruction about the work at hand. For a rule about the whole
//! project, an order is not enough: see `taken_back.rs`.

use super::limits::{ARTICLES, CHANGING_VERBS};
use super::{
    PromptKind, begins_with_prohibition, classify_prompt, first_words_in_lower_case, only_asks_to_look,
    split_clauses, without_opening_words,
};
use crate::digest::{is_only_reference, paths_in};
use crate::text::split_into_sentences;

/// Returns whether a later message orders what an instruction forbids. For example, "commit this" lifts "don't commit
/// yet", and "in src/level.rs, accept TRACE" lifts "don't touch src/level.rs".
pub fn is_instruction_revoked_by(wish: &str, later: &str) -> bool {
    let orders_step = forbidden_git_step(wish).is_some_and(|step| {
        let words = first_words_in_lower_case(later, 30);
        words.iter().any(|word| word == step) && !is_negated(&words)
    });
    orders_step || orders_forbidden_change(wish, later)
}

/// Returns whether an instruction forbids a step such as a push. Such a rule is about the project rather than about one
/// piece of work.
pub fn forbids_git_step(wish: &str) -> bool {
    forbidden_git_step(wish).is_some()
}

pub(super) fn forbidden_git_step(wish: &str) -> Option<&'static str> {
    const FORBIDDEN_STEPS: [&str; 6] = ["amend", "force", "rebase", "merge", "push", "commit"];
    let words = first_words_in_lower_case(wish, 60);
    let step = FORBIDDEN_STEPS.into_iter().find(|step| words.iter().any(|word| word == step));
    step.filter(|_| is_negated(&words))
}

fn is_negated(words: &[String]) -> bool {
    const NEGATIONS: [&str; 8] = ["not", "don't", "dont", "doesn't", "didn't", "never", "without", "no"];
    words.iter().any(|word| NEGATIONS.contains(&word.as_str()))
}

/// Returns whether a later message asks to change what an instruction protects. If the instruction names files,
/// the message must ask to change all of them. Otherwise, it must ask to change the part of the code that the
/// instruction names.
fn orders_forbidden_change(wish: &str, later: &str) -> bool {
    if !begins_with_prohibition(wish) || only_asks_to_look(later) {
        return false;
    }
    let files: Vec<&str> = paths_in(wish).collect();
    let words = first_words_in_lower_case(without_opening_words(wish), 60);
    let part = part_that_must_not_change(&words);
    let clauses: Vec<&str> = split_into_sentences(later)
        .flat_map(split_clauses)
        .filter(|clause| may_order_change(clause))
        .collect();
    let orders_change_of_file = |file: &&str| clauses.iter().any(|clause| is_file_to_change(clause, file));
    let orders_change_of_part = |clause: &&str| {
        let words = first_words_in_lower_case(clause, 60);
        words
            .iter()
            .any(|word| CHANGING_VERBS.contains(&word.as_str()) || OTHER_CHANGES.contains(&word.as_str()))
            && part.iter().all(|wanted| words.iter().any(|word| word == *wanted))
    };
    match files.is_empty() {
        false => files.iter().all(orders_change_of_file),
        true => !part.is_empty() && clauses.iter().any(orders_change_of_part),
    }
}

/// Verbs that are common in requests for a change but rare in prohibitions.
const OTHER_CHANGES: &[&str] = &[
    "add", "convert", "extend", "fix", "make", "refactor", "replace", "simplify", "split", "update", "write",
];

/// Returns whether a clause may request a change. A question does not. "Show me src/level.rs" and "revert src/level.rs"
/// do not either.
fn may_order_change(clause: &str) -> bool {
    const OTHER_ORDERS: &[&str] = &[
        "check", "commit", "compare", "describe", "explain", "keep", "leave", "list", "look", "open",
        "print", "push", "read", "restore", "revert", "review", "run", "see", "show", "stage", "stash",
        "test", "undo",
    ];
    let words = first_words_in_lower_case(without_opening_words(clause), 60);
    !is_negated(&words)
        && words.first().is_some_and(|first| !OTHER_ORDERS.contains(&first.as_str()))
        && classify_prompt(clause) != PromptKind::Question
}

/// Returns whether a clause that requests a change also names this file as the file to change. "Write a test for
/// src/level.rs" and "like in src/level.rs" mention the file, but the requested change is in another file.
fn is_file_to_change(clause: &str, file: &str) -> bool {
    const WORDS_BEFORE_OTHER_FILE: &[&str] = &[
        "about", "against", "as", "by", "for", "from", "like", "of", "per", "see", "than", "unlike", "via",
        "with",
    ];
    let is_same = |named: &str| {
        let is_end =
            |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.ends_with('/'));
        named == file || is_end(named, file) || is_end(file, named)
    };
    let mut before = "";
    let mut is_named = false;
    for word in clause.split_whitespace() {
        let is_this = paths_in(word).any(is_same);
        is_named |= is_this && !WORDS_BEFORE_OTHER_FILE.contains(&before.to_lowercase().as_str());
        before = word;
    }
    is_named && !is_only_reference(clause, file)
}

/// Returns the words that name the part of the code that must not change, such as "signature" and "parse". Empty if the
/// prohibition is about something else.
fn part_that_must_not_change(words: &[String]) -> Vec<&str> {
    const JOINING_WORDS: &[&str] = &["and", "for", "from", "in", "of", "on", "or", "to", "with"];
    let is_change = |word: &String| CHANGING_VERBS.contains(&word.as_str());
    let Some(verb) = words.iter().take(4).position(is_change) else { return Vec::new() };
    let object = words[verb + 1..].iter().map(String::as_str);
    object.filter(|word| !ARTICLES.contains(word) && !JOINING_WORDS.contains(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_to_change_a_file_lifts_the_rule_about_it() {
        let rule = "Don't touch src/level.rs.";
        for (wish, later, expected) in [
            (rule, "Now in src/level.rs accept TRACE as DEBUG, and in src/main.rs fix --until.", true),
            (rule, "Change level.rs so that it accepts TRACE.", true),
            (rule, "Can you change src/level.rs after all?", true),
            (rule, "src/level.rs must accept TRACE.", true),
            (rule, "Fix src/main.rs, but don't touch src/level.rs.", false),
            (rule, "Write a test for src/level.rs.", false),
            (rule, "Do it like in src/level.rs.", false),
            (rule, "What does src/level.rs do?", false),
            (rule, "Look at src/level.rs.", false),
            (rule, "Revert src/level.rs.", false),
            (rule, "Commit src/level.rs.", false),
            (rule, "Now in src/sublevel.rs accept TRACE.", false),
            (rule, "go on", false),
            ("Don't touch a.rs or b.rs.", "In a.rs, add a field.", false),
            ("Don't touch a.rs or b.rs.", "In a.rs and b.rs, add a field.", true),
            ("Never edit src/level.rs.", "Add TRACE to src/level.rs.", true),
            ("Never change tests/.", "Fix tests/cli.rs.", false),
            (
                "Don't touch the public signature of parse.",
                "Change the public signature of parse to return a Result.",
                true,
            ),
            ("Don't touch the public signature of parse.", "Add a header option to parse.", false),
            ("Please don't rename the options.", "Rename the file.", false),
            ("Keep src/level.rs as it is.", "In src/level.rs, accept TRACE.", false),
            ("Don't commit yet.", "commit this", true),
            ("Don't commit yet.", "don't commit that either", false),
        ] {
            assert_eq!(is_instruction_revoked_by(wish, later), expected, "{wish} / {later}");
        }
    }
}
