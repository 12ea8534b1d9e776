//! Reduces a brief to what a harness's summary lacks or gets wrong. The comparison is by content, not letter by letter.

use std::collections::BTreeMap;

use super::candidate::{Candidate, FactClass};
use super::effects::contains_file_name;
use crate::content::TextContent;

/// A summary of fewer bytes does not describe the state, so the last words, finished work
/// and earlier requests are added to it.
const THIN_SUMMARY_BYTES: usize = 1_500;

/// The most files that were only read and are added to a summary that is not thin.
const MOST_READ: usize = 2;

/// Returns the most facts of a class that are added to a summary; `None` for no limit.
fn max_facts_of_class(class: FactClass, thin: bool) -> Option<usize> {
    match class {
        FactClass::Risk
        | FactClass::Outside
        | FactClass::First(_)
        | FactClass::Last(_)
        | FactClass::Problems => None,
        FactClass::Words | FactClass::Failing => Some(3),
        FactClass::Traps => Some(1),
        // A summary often leaves out how the project is checked.
        FactClass::Checks => Some(2),
        FactClass::Edited | FactClass::Read => Some(6),
        FactClass::Goal | FactClass::State | FactClass::Done | FactClass::Earlier => {
            Some(if thin { 3 } else { 0 })
        }
        FactClass::Commands | FactClass::Named => Some(0),
    }
}

/// Returns the candidates that the summary lacks.
pub(super) fn facts_missing_in_summary(candidates: Vec<Candidate>, text: &str) -> Vec<Candidate> {
    let thin = text.len() < THIN_SUMMARY_BYTES;
    let summary = TextContent::from_text(text);
    // Files that the warning about uncommitted work names need not be named again.
    let risk = candidates.iter().find(|candidate| candidate.id == "risk:uncommitted");
    let risk = risk.and_then(|candidate| candidate.forms.last()).cloned().unwrap_or_default();
    let mut told: BTreeMap<FactClass, usize> = BTreeMap::new();
    let mut kept = Vec::new();
    for candidate in candidates {
        let files = matches!(candidate.class, FactClass::Edited | FactClass::Read);
        let class = if files { FactClass::Edited } else { candidate.class };
        let name = candidate.id.rsplit('/').next().unwrap_or_default().trim_start_matches("file:");
        // Whoever reads the name of an edited file knows which one it is. A file outside the project is the harness's.
        let is_known_file = candidate.class == FactClass::Edited && contains_file_name(text, name)
            || files && !thin && candidate.id.starts_with("file:/");
        let known = is_known_file
            || !candidate.known_by.is_empty()
                && candidate.known_by.iter().all(|words| summary.contains_text(words));
        // The state of git is added to any summary that lacks it.
        if candidate.id.starts_with("git:") && !known {
            kept.push(candidate);
            continue;
        }
        let is_gone = files && !thin && candidate.forms.iter().any(|form| form.ends_with(" (gone)"));
        if candidate.class == FactClass::Edited && risk.contains(name) || is_gone {
            continue;
        }
        // Of files that were only read, the first are needed again; most of the others are not.
        let read = told.entry(FactClass::Read).or_default();
        if candidate.class == FactClass::Read && !thin && !known {
            if *read == MOST_READ {
                continue;
            }
            *read += 1;
        }
        let times = told.entry(class).or_default();
        if known || max_facts_of_class(class, thin).is_some_and(|most| *times >= most) {
            continue;
        }
        *times += 1;
        kept.push(candidate);
    }
    kept
}
