//! Reads the ruling in a judging agent's answer, in the forms that models use: `VERDICT: APPROVED`, bold, in a list, a
//! table, a code fence, or a heading with the word below it.
//!
//! An answer that could mean anything else is unreadable. A rejection that is not understood only costs a question, but
//! a pass that nobody gave would skip the review.

mod fields;
mod label;
mod objection;
mod ruling;

use std::fmt;

pub use fields::{Fields, fields};
pub use ruling::Ruling;

/// What an answer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    Clear(Ruling),
    Unreadable(Problem),
}

/// Why an answer has no reliable verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    NoVerdict,
    /// The answer repeats the form and does not choose: `APPROVED | REJECTED`.
    Template,
    Several,
    Negated,
    /// The verdict has a condition, or the answer is unsure.
    Conditional,
    /// The verdict is in a quotation, or is somebody else's.
    Quoted,
    /// There is a verdict, but not one of the known words.
    UnknownWord,
    /// The verdict is a pass, but the answer counts failed tests.
    Contradicted,
    /// The answer was not read, because a verdict at the end of so long a text would be missed.
    TooLong,
    /// The harness did not pass on all of the answer.
    Incomplete,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Problem::NoVerdict => "it gives no verdict",
            Problem::Template => "it repeats the form and chooses nothing",
            Problem::Several => "it gives several verdicts",
            Problem::Negated => "its verdict is negated",
            Problem::Conditional => "its verdict has a condition",
            Problem::Quoted => "its verdict is a quotation",
            Problem::UnknownWord => "its verdict is not one of the words that were asked for",
            Problem::Contradicted => "it says PASS and counts failed tests",
            Problem::TooLong => "the answer is longer than 256 KB and was not read",
            Problem::Incomplete => "the harness passed on only a part of the answer",
        })
    }
}

/// Reads the verdict of an answer.
pub fn read(text: &str) -> Reading {
    let lines = label::lines(text);
    let found = label::rulings(&lines);
    let found =
        if found.is_empty() { label::ruling_without_label(&lines).into_iter().collect() } else { found };
    match combine(&found) {
        Reading::Clear(ruling) if ruling.is_good() => {
            objection::find(text, ruling).map_or(Reading::Clear(ruling), Reading::Unreadable)
        }
        reading => reading,
    }
}

/// Combines the verdicts of an answer, which must agree. A doubtful one makes a good ruling unreadable, but a bad
/// ruling stays bad.
fn combine(found: &[Result<Ruling, Problem>]) -> Reading {
    let mut clear: Vec<Ruling> = found.iter().filter_map(|one| one.ok()).collect();
    clear.dedup();
    let problem = found.iter().find_map(|one| one.err());
    match (clear.as_slice(), problem) {
        ([], problem) => Reading::Unreadable(problem.unwrap_or(Problem::NoVerdict)),
        ([one], Some(problem)) if one.is_good() => Reading::Unreadable(problem),
        ([one], _) => Reading::Clear(*one),
        (_, _) => Reading::Unreadable(Problem::Several),
    }
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
