//! Reduces a brief to the facts that the harness's summary lacks or gets wrong. Facts are compared by content, not by
//! exact wording.

use std::collections::BTreeMap;

use super::candidate::{Candidate, FactClass};
use super::effects::contains_file_name;
use crate::content::TextContent;

/// A summary with fewer bytes than this is thin: it says too little about the work. The brief then also contains the
/// goal, the state, finished work and earlier requests.
const THIN_SUMMARY_BYTES: usize = 1_500;

/// The maximum number of files that were only read, if the summary is not thin.
const MAX_READ_FILES: usize = 2;

/// Returns how many facts of a class may accompany a summary. `None` means no limit.
fn max_facts_of_class(class: FactClass, thin: bool) -> Option<usize> {
    match class {
        FactClass::Risk
        | FactClass::Outside
        | FactClass::First(_)
        | FactClass::Last(_)
        | FactClass::Problems => None,
        FactClass::Words | FactClass::Failing => Some(3),
        FactClass::Traps => Some(1),
        // Summaries often leave out how to check the project.
        FactClass::Checks => Some(2),
        FactClass::Edited | FactClass::Read => Some(6),
        FactClass::Goal | FactClass::State | FactClass::Done | FactClass::Earlier => {
            Some(if thin { 3 } else { 0 })
        }
        FactClass::Commands | FactClass::Named => Some(0),
    }
}

pub(super) fn facts_missing_in_summary(candidates: Vec<Candidate>, text: &str) -> Vec<Candidate> {
    let thin = text.len() < THIN_SUMMARY_BYTES;
    let summary = TextContent::from_text(text);
    // The warning about uncommitted work already lists these files.
    let risk = candidates.iter().find(|candidate| candidate.id == "risk:uncommitted");
    let risk = risk.and_then(|candidate| candidate.forms.last()).cloned().unwrap_or_default();
    let mut told: BTreeMap<FactClass, usize> = BTreeMap::new();
    let mut kept = Vec::new();
    for candidate in candidates {
        let files = matches!(candidate.class, FactClass::Edited | FactClass::Read);
        let class = if files { FactClass::Edited } else { candidate.class };
        let name = candidate.id.rsplit('/').next().unwrap_or_default().trim_start_matches("file:");
        // An edited file is recognised by its name alone. Files outside the project belong to the harness.
        let is_known_file = candidate.class == FactClass::Edited && contains_file_name(text, name)
            || files && !thin && candidate.id.starts_with("file:/");
        let known = is_known_file
            || !candidate.known_by.is_empty()
                && candidate.known_by.iter().all(|words| summary.contains_text(words));
        if candidate.id.starts_with("git:") && !known {
            kept.push(candidate);
            continue;
        }
        if candidate.class == FactClass::Edited && risk.contains(name) {
            continue;
        }
        // Only the first few files that were read are likely to be needed again.
        let read = told.entry(FactClass::Read).or_default();
        if candidate.class == FactClass::Read && !thin && !known {
            if *read == MAX_READ_FILES {
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
