//! Reduces a brief to the facts that the harness's summary lacks or gets wrong. Facts are compared by content, not by
//! exact wording. Minor facts are left out.

mod claims;
mod git;
mod ids;
mod requirements;

use std::collections::{BTreeMap, BTreeSet};

use super::BriefMaterial;
use super::candidate::{Candidate, FactClass};
use super::paths::list_by_folder;
use super::sections::goal::{ANSWERED_REQUEST_LABEL, NEWEST_MESSAGE_LABEL, TASK_OF_MESSAGE_LABEL};
use crate::digest::{Digest, Failure, FileUse, Trap};
use crate::error_line::starts_with_file_and_line;
use crate::failure;
use crate::render::{format_path_or_code, in_backticks};
use crate::run::{self, ProjectCheck};

use claims::SummaryClaims;
use git::NOT_NAMED_PHRASE;

/// A summary with fewer bytes than this is thin: it says too little about the work. The brief then also contains the
/// goal, the state, finished work and earlier requests.
const THIN_SUMMARY_BYTES: usize = 1_500;

/// The maximum number of edited files. Those edited most often are chosen.
const MAX_EDITED_FILES_BESIDE_SUMMARY: usize = 10;

/// The maximum number of files that were only read.
const MAX_READ_FILES: usize = 3;

/// The maximum number of files that are listed if the summary is shorter than [`THIN_SUMMARY_BYTES`].
const MAX_FILES_FOR_THIN_SUMMARY: usize = 6;

/// A file that was only read is listed only if two conditions are met: no edited file is listed, and the file was used
/// within this many records before the compaction.
const MAX_RECORDS_SINCE_FILE_WAS_READ: u64 = 8;

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
        // The checks share one line.
        FactClass::Checks => Some(1),
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

/// Returns the candidates that the summary lacks, and one line with the files that the summary does not mention.
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
    let candidates = requirements::with_requirements(candidates, material.digest, &claims, thin);
    let (mut kept, mut checks, mut newest) = (Vec::new(), Vec::new(), None);
    for candidate in candidates {
        if candidate.id.starts_with("git:") {
            kept.push(candidate);
            continue;
        }
        let is_known = !candidate.strings_stating_fact.is_empty()
            && candidate.strings_stating_fact.iter().all(|words| claims.content.contains_text(words));
        let is_repeated = candidate.class == FactClass::Words
            && candidate.strings_stating_fact.iter().any(|words| claims.has_line_with_most_words_of(words));
        if is_known && is_goal_with_label(&candidate, NEWEST_MESSAGE_LABEL) {
            newest = Some(candidate);
            continue;
        }
        if is_known || is_repeated {
            continue;
        }
        if candidate.class == FactClass::Checks {
            checks.push(candidate);
            continue;
        }
        if candidate.class == FactClass::Traps && !is_trap_open(&candidate, material.digest, &claims) {
            continue;
        }
        let candidate = match candidate.class {
            FactClass::Failing => match failure_lines_missing_in_summary(candidate, material.digest, &claims)
            {
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
        // The summary contains the newest message, so the message was left out of the brief. But two labels refer to
        // the message as "it". A fact with `ANSWERED_REQUEST_LABEL` is useless without the message and is dropped. A fact with
        // `TASK_OF_MESSAGE_LABEL` is still useful, so the message is put back before it.
        kept.retain(|candidate| !is_goal_with_label(candidate, ANSWERED_REQUEST_LABEL));
        if let Some(place) =
            kept.iter().position(|candidate| is_goal_with_label(candidate, TASK_OF_MESSAGE_LABEL))
        {
            kept.insert(place, newest);
        }
    }
    kept.extend(checks_missing_in_summary(checks, &claims));
    kept.extend(files_missing_in_summary(material, &claims, thin, &risk));
    kept
}

fn is_goal_with_label(candidate: &Candidate, label: &str) -> bool {
    candidate.class == FactClass::Goal && candidate.forms.iter().any(|form| form.starts_with(label))
}

/// Returns whether the same failure is likely to happen again. This is the case if it has happened more than once,
/// and the summary does not contain the command that worked instead.
fn is_trap_open(candidate: &Candidate, digest: &Digest, claims: &SummaryClaims) -> bool {
    let is_this = |trap: &Trap| candidate.id == format!("trap:{}", trap.record);
    let is_open = |trap: &Trap| {
        trap.times > 1 && (trap.worked.is_empty() || !claims.content.contains_text(&trap.worked))
    };
    digest.traps().iter().any(|trap| is_this(trap) && is_open(trap))
}

/// Returns one line about the checks. It lists checks that passed, unless the summary reports the state of checks of
/// the same kind. It also lists checks that the summary announces without quoting their commands. A check that is
/// part of another check is left out.
fn checks_missing_in_summary(mut checks: Vec<Candidate>, claims: &SummaryClaims) -> Option<Candidate> {
    checks.retain(|check| is_new_pass(check, claims) || is_check_announced_by_summary(check, claims));
    let keys: Vec<BTreeSet<String>> = checks.iter().map(check_keys).collect();
    let is_part = |at: usize| {
        let is_wider = |(other, of_other): (usize, &BTreeSet<String>)| {
            other != at && keys[at].is_subset(of_other) && (keys[at] != *of_other || other < at)
        };
        keys.iter().enumerate().any(is_wider)
    };
    let whole: Vec<usize> = (0..checks.len()).filter(|at| !is_part(*at)).collect();
    let (mut passed, mut announced) = (Vec::new(), Vec::new());
    for at in whole {
        let form = &checks[at].forms[0];
        let command = form.split(" → ").next().unwrap_or(form);
        if is_new_pass(&checks[at], claims) { &mut passed } else { &mut announced }.push(command);
    }
    let passed = (!passed.is_empty()).then(|| {
        format!("{} → passed, nothing edited since; the summary does not say so", passed.join("; "))
    });
    let announced = (!announced.is_empty())
        .then(|| format!("to run the checks that the summary mentions: {}", announced.join("; ")));
    let parts: Vec<String> = [passed, announced].into_iter().flatten().collect();
    let text = parts.join("; ");
    let first = checks.into_iter().next()?;
    Some(Candidate { forms: vec![text], ..first })
}

/// Returns whether the summary announces every kind of check in this command line. Returns false if the line runs
/// only some of the tests.
fn is_check_announced_by_summary(candidate: &Candidate, claims: &SummaryClaims) -> bool {
    let command = candidate.strings_stating_fact.first().map_or("", String::as_str);
    let checks = run::checks_of_command(command, "");
    let mut proving = checks.iter().filter(|check| check.check_kind.is_check());
    !checks.iter().any(run::is_partial_test_run)
        && proving.all(|check| claims.announces_check(check.check_kind))
}

/// Returns the keys of the checks in a command line.
fn check_keys(candidate: &Candidate) -> BTreeSet<String> {
    let command = candidate.strings_stating_fact.first().map_or("", String::as_str);
    run::checks_of_command(command, "").iter().map(ProjectCheck::identity_key).collect()
}

/// Returns whether a check passed, nothing has been edited since, and the summary does not report the state of checks
/// of this kind.
fn is_new_pass(candidate: &Candidate, claims: &SummaryClaims) -> bool {
    let command = candidate.strings_stating_fact.first().map_or("", String::as_str);
    let kinds = run::checks_of_command(command, "").into_iter().map(|check| check.check_kind);
    candidate.forms[0].ends_with(" → passed")
        && kinds.into_iter().any(|kind| kind.is_check() && !claims.says_how_check_stands(kind))
}

/// Reduces a failure to the error lines that the summary lacks. If the summary does not mention any failure, the whole
/// failure is kept.
fn failure_lines_missing_in_summary(
    candidate: Candidate,
    digest: &Digest,
    claims: &SummaryClaims,
) -> Option<Candidate> {
    let is_this = |failure: &&Failure| candidate.id == format!("failure:{}", failure.record);
    let failure = digest.open_failures().find(is_this)?;
    if !claims.tells_of_failure() {
        return Some(candidate);
    }
    // The command was running again when the records ended, and the harness saw how that run ended. The summary is
    // therefore more up to date.
    if digest.unfinished_calls().any(|call| run::command_to_repeat(call) == failure.command_to_repeat()) {
        return None;
    }
    // If a file was edited after the failed run, an error in it may be fixed by now. Leave that error out, because
    // the summary is more up to date.
    let edited = digest.files_changed_after_check(failure.record);
    let holds = |line: &str| {
        let file = line.split(':').next().filter(|_| starts_with_file_and_line(line));
        edited.is_empty() || file.is_some_and(|file| !edited.iter().any(|edited| is_same_file(edited, file)))
    };
    let lines: Vec<&str> = failure::reason_lines(&failure.error)
        .filter(|line| has_exact_detail_of_error(line) && holds(line))
        .collect();
    let is_new = |line: &str| !does_summary_contain_error_line(claims, line);
    let new: Vec<&str> = lines.iter().copied().filter(|line| is_new(line)).collect();
    let checks = run::checks_of_command(&failure.command_or_file, &failure.folder);
    let is_quoted = failure::reason_lines(&failure.error)
        .any(|line| has_exact_detail_of_error(line) && does_summary_contain_error_line(claims, line));
    let is_told = is_quoted || checks.iter().any(|check| claims.says_check_fails(check.check_kind));
    if new.is_empty() {
        // If the failure still holds and the summary mentions only other failures, the whole failure is kept.
        return (!is_told && edited.is_empty()).then_some(candidate);
    }
    let is_second = is_second_failure(&lines, is_new);
    let new = failure::group_equal_messages(&with_names_of_tests(&lines, is_new));
    let quoted: Vec<String> =
        new.iter().take(MAX_NEW_ERROR_LINES).map(|line| in_backticks(line, 200)).collect();
    let command = in_backticks(&failure.command_as_typed(), 100);
    let fails = match failure.exit.filter(|exit| *exit != 0) {
        _ if is_second => "also fails".to_owned(),
        // The summary may describe this very failure in other words, so "also" would suggest a second one.
        _ if is_told => "fails".to_owned(),
        Some(exit) => format!("fails (exit {exit})"),
        None => "fails".to_owned(),
    };
    let text = format!("{command} {fails} with: {}", quoted.join(" "));
    Some(Candidate { forms: vec![text], ..candidate })
}

/// Returns whether the summary reports one failing test and lacks another. Without names of tests, the places of the errors
/// decide. A new detail of a test or an error that the summary reports is no second failure.
fn is_second_failure(lines: &[&str], is_new: impl Fn(&str) -> bool) -> bool {
    let of = |is_kind: fn(&str) -> bool| {
        let mut kind = lines.iter().filter(|line| is_kind(line)).peekable();
        kind.peek()?;
        let (new, known): (Vec<&str>, Vec<&str>) = kind.partition(|line| is_new(line));
        Some(!new.is_empty() && !known.is_empty())
    };
    of(names_test).or_else(|| of(starts_with_file_and_line)).unwrap_or(false)
}

/// Returns the lines that the summary lacks. The name of the test comes before its values.
fn with_names_of_tests<'l>(lines: &[&'l str], is_new: impl Fn(&str) -> bool) -> Vec<&'l str> {
    let (mut told, mut test): (Vec<&str>, Option<&str>) = (Vec::new(), None);
    for line in lines.iter().copied() {
        if names_test(line) {
            test = Some(line);
        }
        if is_new(line) {
            told.extend(test.take().filter(|test| *test != line));
            told.push(line);
        }
    }
    told
}

/// Returns whether an error line names a failed test.
fn names_test(line: &str) -> bool {
    failure::names_failed_test(line) || unittest_name(line).is_some()
}

/// Returns whether `named`, a path in an error line, refers to the file at `path`. `named` may leave out the first
/// folders of the path.
fn is_same_file(path: &str, named: &str) -> bool {
    let shorter = named.trim_start_matches("./");
    path == shorter || path.ends_with(&format!("/{shorter}"))
}

/// Returns whether an error line contains the name of a test, a location or a compared value.
fn has_exact_detail_of_error(line: &str) -> bool {
    let small = line.to_lowercase();
    names_test(line)
        || starts_with_file_and_line(line)
        || failure::is_compared_value(line)
        || line.contains(" != ")
        || ["expected", "want", "got "].iter().any(|word| small.contains(word))
}

/// Returns the test that Python's unittest reports as failed, as in `FAIL: test_one (tests.test_a.OneTest.test_one)`.
fn unittest_name(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: "))?;
    let (name, class) = rest.split_once(" (")?;
    (!name.contains(' ') && class.ends_with(')')).then_some(name)
}

/// Returns whether the summary contains the test, the location or the values in an error line.
fn does_summary_contain_error_line(claims: &SummaryClaims, line: &str) -> bool {
    if let Some(test) = run::failed_test_in_line(line) {
        let name = test.rsplit("::").next().unwrap_or(test);
        return claims.text.contains(name.split('/').next().unwrap_or(name));
    }
    if let Some(test) = unittest_name(line) {
        return claims.text.contains(test);
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
        || claims.has_line_with_most_words_of(rest)
        || !numbers.is_empty() && numbers.iter().all(|number| claims.text.contains(number))
}

/// Returns one line with files that the summary does not mention. These are the files edited since the last
/// compaction or, if there are none, the files that were read last.
fn files_missing_in_summary(
    material: &BriefMaterial,
    claims: &SummaryClaims,
    thin: bool,
    risk: &str,
) -> Option<Candidate> {
    let BriefMaterial { digest, missing_files: gone, .. } = *material;
    let newest = digest.files.iter().map(|file| file.last_use_record).max().unwrap_or(0);
    let is_new = |file: &&FileUse| {
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        let is_here = !file.deleted && !file.is_outside_checkout && !gone.contains(&file.path);
        is_here
            && file.last_use_record > digest.last_compaction_before_work
            && !claims.names_file(&file.path)
            && !risk.contains(name)
    };
    // One line about files that the summary does not mention is enough. If the line about uncommitted files
    // already lists such files, files that were only read are left out.
    let lists_others = risk.contains(NOT_NAMED_PHRASE);
    let files: Vec<&FileUse> = digest.ranked_files().into_iter().filter(is_new).collect();
    let (mut edited, mut read): (Vec<&FileUse>, Vec<&FileUse>) =
        files.into_iter().filter(|file| file.edits + file.reads > 0).partition(|file| file.is_edited());
    edited.retain(|file| file.changed_at() > digest.last_compaction_before_work || thin);
    edited.sort_by_key(|file| std::cmp::Reverse(file.edits + file.edits_by_commands));
    edited.truncate(if thin { MAX_FILES_FOR_THIN_SUMMARY } else { MAX_EDITED_FILES_BESIDE_SUMMARY });
    let is_recent =
        |file: &FileUse| edited.is_empty() && file.last_use_record + MAX_RECORDS_SINCE_FILE_WAS_READ > newest;
    read.retain(|file| thin || !lists_others && is_recent(file));
    read.truncate(if thin { MAX_FILES_FOR_THIN_SUMMARY - edited.len() } else { MAX_READ_FILES });
    let read = read.iter().map(|file| format_path_or_code(&file.path, 200));
    let (edited, read) = (
        list_by_folder(edited.iter().map(|file| file.path.as_str()), usize::MAX),
        read.collect::<Vec<_>>().join(", "),
    );
    let (class, text) = match (edited.is_empty(), read.is_empty()) {
        (true, true) => return None,
        (true, false) => (FactClass::Read, read),
        (false, true) => (FactClass::Edited, edited),
        (false, false) => (FactClass::Edited, format!("{edited}; read {read}")),
    };
    let text = format!("{text}, which the summary does not name");
    let mut candidate = Candidate::of_class(class, "files:not-named".to_owned(), vec![text]);
    candidate.folder = Some(String::new());
    Some(candidate)
}

#[cfg(test)]
#[path = "missing_in_summary_tests.rs"]
mod tests;
