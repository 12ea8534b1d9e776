//! Reduces a brief to what a harness's summary lacks or gets wrong. The comparison is by content, not letter by letter.

use std::collections::BTreeMap;

use super::candidate::{Candidate, Class};
use crate::content::Content;

/// A summary of fewer bytes does not describe the state, so the last words and finished work are added to it.
const THIN_SUMMARY: usize = 1_500;

/// The most files that were only read and are added to a summary that is not thin.
const MOST_READ: usize = 2;

/// Returns the most facts of a class that are added to a summary; `None` for no limit.
fn most_facts(class: Class, thin: bool) -> Option<usize> {
    match class {
        Class::Risk | Class::Outside | Class::First(_) | Class::Last(_) | Class::Problems => None,
        Class::Words | Class::Failing => Some(3),
        Class::Traps => Some(1),
        // A summary often leaves out how the project is checked.
        Class::Checks => Some(2),
        Class::Edited | Class::Read => Some(6),
        Class::Goal | Class::State | Class::Done => Some(if thin { 3 } else { 0 }),
        Class::Commands | Class::Earlier | Class::Named => Some(0),
    }
}

/// Returns the candidates that the summary lacks.
pub(super) fn additions(candidates: Vec<Candidate>, summary: &str) -> Vec<Candidate> {
    let thin = summary.len() < THIN_SUMMARY;
    let summary = Content::of(summary);
    // Files that the warning about uncommitted work names need not be named again.
    let risk = candidates.iter().find(|candidate| candidate.id == "risk:uncommitted");
    let risk = risk.and_then(|candidate| candidate.forms.last()).cloned().unwrap_or_default();
    let mut told: BTreeMap<Class, usize> = BTreeMap::new();
    let mut kept = Vec::new();
    for candidate in candidates {
        let files = matches!(candidate.class, Class::Edited | Class::Read);
        let class = if files { Class::Edited } else { candidate.class };
        let known =
            !candidate.known_by.is_empty() && candidate.known_by.iter().all(|words| summary.holds(words));
        // The state of git is added to any summary that lacks it.
        if candidate.id.starts_with("git:") && !known {
            kept.push(candidate);
            continue;
        }
        let name = candidate.id.rsplit('/').next().unwrap_or_default().trim_start_matches("file:");
        let is_gone = files && !thin && candidate.forms.iter().any(|form| form.ends_with(" (gone)"));
        if candidate.class == Class::Edited && risk.contains(name) || is_gone {
            continue;
        }
        // Of files that were only read, the first are needed again; most of the others are not.
        let read = told.entry(Class::Read).or_default();
        if candidate.class == Class::Read && !thin && !known {
            if *read == MOST_READ {
                continue;
            }
            *read += 1;
        }
        let times = told.entry(class).or_default();
        if known || most_facts(class, thin).is_some_and(|most| *times >= most) {
            continue;
        }
        *times += 1;
        kept.push(candidate);
    }
    kept
}
