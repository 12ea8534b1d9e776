//! Reduces a brief to the facts that the harness's summary lacks or gets wrong. Facts are compared by content, not by
//! exact wording. A fact that is not worth a line is left out.

mod claims;
mod git;

use std::collections::BTreeMap;

use super::BriefMaterial;
use super::candidate::{Candidate, FactClass};
use super::effects::contains_file_name;
use super::sections::goal::{ANSWERED_LABEL, NEWEST_LABEL, TASK_OF_MESSAGE_LABEL};
use crate::content::TextContent;

/// A summary with fewer bytes than this is thin: it says too little about the work. The brief then also contains the
/// goal, the state, finished work and earlier requests.
const THIN_SUMMARY_BYTES: usize = 1_500;

/// The maximum number of edited files, of which those edited most often are chosen.
const MAX_EDITED_FILES: usize = 6;

/// The maximum number of files that were only read. They are listed only if no edited file is.
const MAX_READ_FILES: usize = 2;

/// The maximum number of files beside a thin summary.
const MAX_FILES_IF_THIN: usize = 6;

/// A file that was only read counts if it was used within this many records before the compaction.
const RECENT_RECORDS: u64 = 8;

/// The maximum number of error lines that are added to what the summary says about a failure.
const MAX_NEW_ERROR_LINES: usize = 3;

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
        FactClass::Goal | FactClass::State | FactClass::Done | FactClass::Earlier => {
            Some(if thin { 3 } else { 0 })
        }
        FactClass::Edited | FactClass::Read | FactClass::Commands | FactClass::Named => Some(0),
    }
}

/// Returns the facts about git and the outside world that the summary lacks.
pub(super) fn effect_candidates(digest: &Digest, summary: &str) -> Vec<Candidate> {
    git::facts_about_git(digest, &SummaryClaims::from_text(summary))
}

/// Returns the candidates that the summary lacks, and one line of files that it does not name.
pub(super) fn facts_missing_in_summary(
    candidates: Vec<Candidate>,
    material: &BriefMaterial,
) -> Vec<Candidate> {
    let text = material.visible_summary();
    let thin = text.len() < THIN_SUMMARY_BYTES;
    let claims = SummaryClaims::from_text(text);
    let risk = candidates.iter().find(|candidate| candidate.id == "risk:uncommitted");
    let risk = risk.and_then(|candidate| candidate.forms.last()).cloned().unwrap_or_default();
    let mut told: BTreeMap<FactClass, usize> = BTreeMap::new();
    let (mut kept, mut newest) = (Vec::new(), None);
    for candidate in candidates {
        if candidate.id.starts_with("git:") {
            kept.push(candidate);
            continue;
        }
        let is_known = !candidate.known_by.is_empty()
            && candidate.known_by.iter().all(|words| claims.content.contains_text(words));
        let is_repeated = match candidate.class {
            FactClass::Words => candidate.known_by.iter().any(|words| claims.tells_subject(words)),
            FactClass::Checks => !is_new_pass(&candidate, &claims),
            _ => false,
        };
        if is_known || is_repeated {
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
