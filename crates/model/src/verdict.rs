//! Reads the ruling in the answer of a reviewer, critic or test engineer. It recognises a line such as `VERDICT:
//! APPROVED` in the forms that models use: plain, in bold, in a list, in a table, in a code fence, or on the line
//! below a heading.
//!
//! An approval that leaves any doubt is treated as unreadable, because a pass that nobody gave would skip the review.
//! If a rejection is not recognised, the only cost is that somebody has to ask again.

mod fields;
mod label;
mod objection;
mod ruling;

use std::fmt;

pub use fields::{AnswerFields, read_answer_fields};
pub use ruling::Ruling;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadVerdict {
    Clear(Ruling),
    Unreadable(VerdictProblem),
}

/// Why an answer has no reliable verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictProblem {
    NoVerdict,
    /// The answer repeats the template without choosing, as in `APPROVED | REJECTED`.
    Template,
    SeveralVerdicts,
    Negated,
    /// The verdict has a condition, or the answer expresses doubt.
    Conditional,
    /// The verdict is in a quotation or belongs to somebody else.
    Quoted,
    /// The verdict is not one of the known words.
    UnknownWord,
    /// The verdict is a pass, but the answer reports failed tests.
    Contradicted,
    /// The answer is too long to be read completely, so a verdict at its end could be missed.
    TooLong,
    /// The harness passed on only a part of the answer.
    Incomplete,
}

impl fmt::Display for VerdictProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            VerdictProblem::NoVerdict => "it gives no verdict",
            VerdictProblem::Template => "it repeats the form without choosing a verdict",
            VerdictProblem::SeveralVerdicts => "it gives several verdicts",
            VerdictProblem::Negated => "its verdict is negated",
            VerdictProblem::Conditional => "its verdict has a condition",
            VerdictProblem::Quoted => "its verdict is a quotation",
            VerdictProblem::UnknownWord => "its verdict is not one of the words that were asked for",
            VerdictProblem::Contradicted => "it says PASS but reports failed tests",
            VerdictProblem::TooLong => "the answer is longer than 256 KB and was not read",
            VerdictProblem::Incomplete => "the harness passed on only part of the answer",
        })
    }
}

pub fn read_verdict(text: &str) -> ReadVerdict {
    let lines = label::answer_lines(text);
    let found = label::rulings_of_labels(&lines);
    let found =
        if found.is_empty() { label::ruling_without_label(&lines).into_iter().collect() } else { found };
    match combine_verdicts(&found) {
        ReadVerdict::Clear(ruling) if ruling.is_good() => objection::find_objection(text, ruling)
            .map_or(ReadVerdict::Clear(ruling), ReadVerdict::Unreadable),
        reading => reading,
    }
}

/// Combines the verdicts that were found in an answer. The verdicts must agree. A doubtful verdict makes an
/// approval unreadable, but a rejection stays a rejection.
fn combine_verdicts(found: &[Result<Ruling, VerdictProblem>]) -> ReadVerdict {
    let mut clear: Vec<Ruling> = found.iter().filter_map(|one| one.ok()).collect();
    clear.dedup();
    let problem = found.iter().find_map(|one| one.err());
    match (clear.as_slice(), problem) {
        ([], problem) => ReadVerdict::Unreadable(problem.unwrap_or(VerdictProblem::NoVerdict)),
        ([one], Some(problem)) if one.is_good() => ReadVerdict::Unreadable(problem),
        ([one], _) => ReadVerdict::Clear(*one),
        (_, _) => ReadVerdict::Unreadable(VerdictProblem::SeveralVerdicts),
    }
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
