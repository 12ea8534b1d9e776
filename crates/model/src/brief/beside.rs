//! Reduces a brief to the facts that the harness's summary lacks or gets wrong. Facts are compared by content, not by
//! exact wording. A fact that is not worth a line is left out.

mod claims;
mod git;

use std::collections::BTreeMap;

use super::BriefMaterial;
use super::candidate::{Candidate, FactClass};
use super::sections::goal::{ANSWERED_LABEL, NEWEST_LABEL, TASK_OF_MESSAGE_LABEL};
use crate::digest::{Digest, Failure, FileUse};
use crate::error_line::starts_with_file_and_line;
use crate::failure;
use crate::render::{in_backticks, path_or_code};
use crate::run;

use claims::SummaryClaims;

/// A summary with fewer bytes than this is thin: it says too little about the work. The brief then also contains the
/// goal, the state, finished work and earlier requests.
const THIN_SUMMARY_BYTES: usize = 1_500;

/// The maximum number of edited files. Those edited most often are chosen.
const MAX_EDITED_FILES: usize = 6;

/// The maximum number of files that were only read. They are listed only if no edited file is listed.
const MAX_READ_FILES: usize = 2;

/// The maximum number of files that accompany a thin summary.
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
        FactClass::Edited
        | FactClass::Read
        | FactClass::Commands
        | FactClass::Named
        | FactClass::Answered => Some(0),
    }
}

/// Returns the facts about git and the outside world that the summary lacks.
pub(super) fn effect_candidates(digest: &Digest, summary: &str) -> Vec<Candidate> {
    git::facts_about_git(digest, &SummaryClaims::from_text(summary))
}

/// Returns the candidates that the summary lacks, and one line with the files that it does not name.
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
        if is_known && has_label(&candidate, NEWEST_LABEL) {
            newest = Some(candidate);
            continue;
        }
        if is_known || is_repeated {
            continue;
        }
        let candidate = match candidate.class {
            FactClass::Failing => match new_about_failure(candidate, material.digest, &claims) {
                Some(candidate) => candidate,
                None => continue,
            },
            _ => candidate,
        };
        let times = told.entry(candidate.class).or_default();
        if max_facts_of_class(candidate.class, thin).is_some_and(|most| *times >= most) {
            continue;
        }
        *times += 1;
        kept.push(candidate);
    }
    if let Some(newest) = newest {
        // The two labelled facts refer to the newest message as "it", but the summary already contains that message, so
        // the brief left it out. An answered request is useless without the message. A task is still useful, so the
        // message is added again before it.
        kept.retain(|candidate| !has_label(candidate, ANSWERED_LABEL));
        if let Some(place) = kept.iter().position(|candidate| has_label(candidate, TASK_OF_MESSAGE_LABEL)) {
            kept.insert(place, newest);
        }
    }
    kept.extend(files_not_named(material, &claims, thin, &risk));
    kept
}

fn has_label(candidate: &Candidate, label: &str) -> bool {
    candidate.class == FactClass::Goal && candidate.forms.iter().any(|form| form.starts_with(label))
}

/// Whether a check passed, nothing has been edited since, and the summary does not report the state of checks of this
/// kind.
fn is_new_pass(candidate: &Candidate, claims: &SummaryClaims) -> bool {
    let command = candidate.known_by.first().map_or("", String::as_str);
    let kinds = run::checks_of_command(command, "").into_iter().map(|check| check.check_kind);
    candidate.forms[0].ends_with(" → passed")
        && kinds.into_iter().any(|kind| kind.is_check() && !claims.says_how_check_stands(kind))
}

/// Reduces a failure to the error lines that the summary lacks. If the summary does not mention any failure, the whole
/// failure is kept.
fn new_about_failure(candidate: Candidate, digest: &Digest, claims: &SummaryClaims) -> Option<Candidate> {
    let is_this = |failure: &&Failure| candidate.id == format!("failure:{}", failure.record);
    let failure = digest.open_failures().find(is_this)?;
    if !claims.tells_of_failure() {
        return Some(candidate);
    }
    // The command was running again when the records ended. The harness saw how that run ended.
    if digest.unfinished_calls().any(|call| run::command_to_repeat(call) == failure.command_to_repeat()) {
        return None;
    }
    let lines = failure::reason_lines(&failure.error).filter(|line| is_exact(line));
    let new: Vec<&str> = lines.filter(|line| !tells_error_line(claims, line)).collect();
    // If files were edited after the failed run, the summary is more up to date than the errors of that run.
    if new.is_empty() || digest.file_edited_after(failure.record).is_some() {
        return None;
    }
    let quoted: Vec<String> =
        new.iter().take(MAX_NEW_ERROR_LINES).map(|line| in_backticks(line, 200)).collect();
    let command = in_backticks(&failure.command_as_typed(), 100);
    let text = format!("{command} also says: {}", quoted.join(" "));
    Some(Candidate { forms: vec![text], ..candidate })
}

/// Whether an error line names a test, a location or a compared value.
fn is_exact(line: &str) -> bool {
    let small = line.to_lowercase();
    run::failed_test_in_line(line).is_some()
        || failure::names_failed_test(line)
        || starts_with_file_and_line(line)
        || failure::is_compared_value(line)
        || ["expected", "want", "got "].iter().any(|word| small.contains(word))
}

/// Whether the summary contains the test, the location or the values in an error line.
fn tells_error_line(claims: &SummaryClaims, line: &str) -> bool {
    if let Some(test) = run::failed_test_in_line(line) {
        let name = test.rsplit("::").next().unwrap_or(test);
        return claims.text.contains(name.split('/').next().unwrap_or(name));
    }
    let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.len() > 1;
    let rest = match starts_with_file_and_line(line) {
        true => {
            let mut parts = line.splitn(3, ':');
            let (file, number) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            if claims.names_file(file) && claims.content.has_phrase(number) {
                return true;
            }
            parts.next().unwrap_or_default()
        }
        false => line,
    };
    let words =
        rest.split(|c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')' | '"' | '=' | ':' | ';'));
    let numbers: Vec<&str> = words.map(|word| word.trim_matches(['%', '.'])).filter(is_number).collect();
    claims.content.contains_text(line)
        || claims.tells_subject(rest)
        || !numbers.is_empty() && numbers.iter().all(|number| claims.text.contains(number))
}

/// Returns one line with the files that the summary does not name: those edited since the last compaction, or else the
/// last ones that were read.
fn files_not_named(
    material: &BriefMaterial,
    claims: &SummaryClaims,
    thin: bool,
    risk: &str,
) -> Option<Candidate> {
    let BriefMaterial { digest, gone, .. } = *material;
    let newest = digest.files.iter().map(|file| file.last).max().unwrap_or(0);
    let is_new = |file: &&FileUse| {
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        let is_here = !file.deleted && !file.outside && !gone.contains(&file.path);
        is_here && file.last > digest.epoch && !claims.names_file(&file.path) && !risk.contains(name)
    };
    let files: Vec<&FileUse> = digest.ranked_files().into_iter().filter(is_new).collect();
    let is_recent = |file: &&FileUse| thin || file.last + RECENT_RECORDS > newest;
    let (mut edited, read): (Vec<&FileUse>, Vec<&FileUse>) =
        files.into_iter().filter(|file| file.edits + file.reads > 0).partition(|file| file.edits > 0);
    edited.retain(|file| file.edited_at > digest.epoch || thin);
    edited.sort_by_key(|file| std::cmp::Reverse(file.edits));
    edited.truncate(if thin { MAX_FILES_IF_THIN } else { MAX_EDITED_FILES });
    let room = match (thin, edited.is_empty()) {
        (true, _) => MAX_FILES_IF_THIN - edited.len(),
        (false, true) => MAX_READ_FILES,
        (false, false) => 0,
    };
    let list = |files: Vec<&FileUse>| {
        files.iter().map(|file| path_or_code(&file.path, 200)).collect::<Vec<_>>().join(", ")
    };
    let (edited, read) = (list(edited), list(read.into_iter().filter(is_recent).take(room).collect()));
    let (class, text) = match (edited.is_empty(), read.is_empty()) {
        (true, true) => return None,
        (true, false) => (FactClass::Read, read),
        (false, true) => (FactClass::Edited, edited),
        (false, false) => (FactClass::Edited, format!("{edited}; read {read}")),
    };
    let mut candidate = Candidate::of_class(class, "files:not-named".to_owned(), vec![text]);
    candidate.folder = Some(String::new());
    Some(candidate)
}

#[cfg(test)]
#[path = "beside_tests.rs"]
mod tests;
