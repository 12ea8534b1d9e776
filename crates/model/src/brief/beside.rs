//! Reduces a brief to the facts that the harness's summary lacks or gets wrong. Facts are compared by content, not by
//! exact wording.

use std::collections::BTreeMap;

use super::candidate::{Candidate, FactClass};
use super::effects::contains_file_name;
use super::sections::goal::{ANSWERED_LABEL, NEWEST_LABEL, TASK_OF_MESSAGE_LABEL};
use crate::content::TextContent;

/// A summary with fewer bytes than this is thin: it says too little about the work. The brief then also contains the
/// goal, the state, finished work and earlier requests.
const THIN_SUMMARY_BYTES: usize = 1_500;

/// If the summary is not thin, the brief contains at most this many files that were only read.
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
    let (mut kept, mut newest) = (Vec::new(), None);
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
        let is_gone = files && !thin && candidate.forms.iter().any(|form| form.ends_with(" (gone)"));
        if candidate.class == FactClass::Edited && risk.contains(name) || is_gone {
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
        if known && has_label(&candidate, NEWEST_LABEL) {
            newest = Some(candidate);
            continue;
        }
        let times = told.entry(class).or_default();
        if known || max_facts_of_class(class, thin).is_some_and(|most| *times >= most) {
            continue;
        }
        *times += 1;
        kept.push(candidate);
    }
    if let Some(newest) = newest {
        // Both facts refer to the newest message, which the summary already contains. An answered question is of no use
        // without it. A task is, but then the message has to be repeated.
        kept.retain(|candidate| !has_label(candidate, ANSWERED_LABEL));
        if let Some(place) = kept.iter().position(|candidate| has_label(candidate, TASK_OF_MESSAGE_LABEL)) {
            kept.insert(place, newest);
        }
    }
    kept
}

fn has_label(candidate: &Candidate, label: &str) -> bool {
    candidate.class == FactClass::Goal && candidate.forms.iter().any(|form| form.starts_with(label))
}
