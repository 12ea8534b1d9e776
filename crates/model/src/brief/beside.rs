//! A brief next to a harness's summary contains only corrections and additions. Compared by content, not by letters.

use std::collections::BTreeMap;

use super::candidate::{Candidate, Class};
use crate::content::Content;

/// A shorter summary cannot describe the state, so the last words and finished work are added.
const THIN: usize = 1_500;

/// Returns the most facts of each class to add to a summary; `None` for no limit.
fn most(class: Class, thin: bool) -> Option<usize> {
    match class {
        Class::Risk | Class::Outside | Class::First(_) | Class::Last(_) | Class::Problems => None,
        Class::Words | Class::Failing => Some(3),
        Class::Traps => Some(1),
        // How the project is checked, where the summary does not say it.
        Class::Checks => Some(2),
        Class::Edited | Class::Read => Some(6),
        Class::Goal | Class::State | Class::Done => Some(if thin { 3 } else { 0 }),
        Class::Commands | Class::Earlier | Class::Named => Some(0),
    }
}

/// Returns the candidates that the summary lacks.
pub(super) fn additions(candidates: Vec<Candidate>, summary: &str) -> Vec<Candidate> {
    let thin = summary.len() < THIN;
    let summary = Content::of(summary);
    // Named as what is not committed, files need not be named again.
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
        let is_gone = files && candidate.forms.iter().any(|form| form.ends_with(" (gone)"));
        if candidate.class == Class::Edited && risk.contains(name) || is_gone {
            continue;
        }
        let times = told.entry(class).or_default();
        if known || most(class, thin).is_some_and(|most| *times >= most) {
            continue;
        }
        *times += 1;
        kept.push(candidate);
    }
    kept
}
