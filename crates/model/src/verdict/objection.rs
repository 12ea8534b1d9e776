//! Finds objections that contradict a good verdict in the same answer, such as failed tests, a condition or another
//! decision.

use super::ruling::ruling_at_start;
use super::{Ruling, VerdictProblem, read_answer_fields};

/// Words for a failed test. A number next to such a word is the number of failed tests.
const FAILED_WORDS: &[&str] =
    &["failed", "failure", "failures", "failing", "fail", "fails", "errored", "error", "errors"];

const NUMBER_WORDS: &[&str] =
    &["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "several"];

/// Values that mean a field is empty.
const NOTHING_WORDS: &[&str] = &["", "none", "no", "n/a", "-", "0", "nothing", "[]", "—"];

pub(super) fn find_objection(text: &str, ruling: Ruling) -> Option<VerdictProblem> {
    let is_contradicted = ruling == Ruling::Pass
        && (read_answer_fields(text).tests_failed.is_some_and(|failed| failed > 0)
            || text.lines().any(counts_failures)
            || has_nonempty_field(text, "failures"));
    if is_contradicted {
        return Some(VerdictProblem::Contradicted);
    }
    if has_nonempty_field(text, "conditions")
        || has_nonempty_field(text, "condition")
        || text.lines().any(is_condition)
    {
        return Some(VerdictProblem::Conditional);
    }
    text.lines().any(decides_otherwise).then_some(VerdictProblem::SeveralVerdicts)
}

/// Returns whether a line reports at least one failed test, as in `10 passed, 2 failed`, `TESTS FAILED: 2` and
/// `| failed | 2 |`.
fn counts_failures(line: &str) -> bool {
    let words: Vec<String> = line
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let is_many = |word: &String| {
        NUMBER_WORDS.contains(&word.as_str()) || word.parse::<u64>().is_ok_and(|number| number > 0)
    };
    let is_number = |word: &String| is_many(word) || word.parse::<u64>().is_ok();
    (0..words.len()).filter(|at| FAILED_WORDS.contains(&words[*at].as_str())).any(|at| {
        // The number may come before the word, as in `2 failed`, `2 tests failed` and `2 failing tests`.
        let before =
            words[at.saturating_sub(2)..at].iter().rev().find(|word| *word != "test" && *word != "tests");
        match before {
            Some(word) if is_number(word) => is_many(word),
            // If no number comes before the word, a number may come after the word, as in `failed: 2`.
            _ => words.get(at + 1).is_some_and(is_many) && line.contains([':', '|', '=']),
        }
    })
}

fn has_nonempty_field(text: &str, field: &str) -> bool {
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let plain = line.trim_start_matches(['-', '*', '#', ' ', '>', '_']).to_lowercase();
        let Some(rest) = plain.strip_prefix(field) else { continue };
        let Some(value) = rest.trim_start_matches(['*', '_', ' ']).strip_prefix(':') else { continue };
        let value = value.trim_matches(['*', '_', ' ', '.']);
        let below = lines.peek().is_some_and(|next| next.trim_start().starts_with(['-', '*']));
        let is_nothing = NOTHING_WORDS.contains(&value) || value.starts_with("none");
        if value.is_empty() && below || !is_nothing {
            return true;
        }
    }
    false
}

/// Returns whether a line is a condition in parentheses, such as `(if the lock is fixed)`.
fn is_condition(line: &str) -> bool {
    let small = line.trim().to_lowercase();
    ["(if ", "(once ", "(provided ", "(after ", "(subject to "].iter().any(|start| small.starts_with(start))
}

/// Returns whether a line contains another decision, as in `Final decision: REJECTED`.
fn decides_otherwise(line: &str) -> bool {
    let Some((label, rest)) = line.split_once(':') else { return false };
    label.to_lowercase().trim_end_matches(['*', '_', ' ']).ends_with("decision")
        && ruling_at_start(rest.trim_matches(['*', '_', ' '])).is_some_and(|ruling| !ruling.is_good())
}
