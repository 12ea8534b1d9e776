//! Reduces a brief to the facts that the harness's summary lacks or gets wrong. Facts are compared by content, not by
//! exact wording. Minor facts are left out.

mod claims;
mod commands;
mod files;
mod git;
mod ids;
mod not_named;
mod requirements;

use std::collections::BTreeMap;

use super::BriefMaterial;
use super::candidate::{Candidate, FactClass};
use super::sections::goal::{ANSWERED_REQUEST_LABEL, NEWEST_MESSAGE_LABEL, TASK_OF_MESSAGE_LABEL};
use super::sections::words::EARLIER_WORDS_ID_PREFIX;
use crate::digest::{Digest, Failure, Trap};
use crate::error_line::starts_with_file_and_line;
use crate::failure;
use crate::render::in_backticks;
use crate::run;

use claims::SummaryClaims;

/// A summary with fewer bytes than this is thin: it says too little about the work. The brief then also contains the
/// goal, the state, finished work and earlier requests.
const THIN_SUMMARY_BYTES: usize = 1_500;

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
        if candidate.class == FactClass::Words
            && !thin
            && !requirements::still_holds(&candidate, material.digest)
        {
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
        // A rule from an earlier session holds for all work, however many rules there are.
        if candidate.class == FactClass::Words && candidate.id.starts_with(EARLIER_WORDS_ID_PREFIX) {
            kept.push(candidate);
            continue;
        }
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
    not_named::add_names_missing_in_summary(&mut kept, &checks, material, &claims, thin);
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
    // If a file was edited after the failed run, the edit may have fixed the errors in that file. Leave those
    // errors out, because the summary is more up to date.
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
        // If the summary mentions only other failures, and no file was edited after this one, keep the whole failure.
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

/// Returns whether the summary reports one failing test but not another. If the errors name no tests, they are
/// told apart by their file and line. If the summary reports a test or an error, a new detail of it is not a
/// second failure.
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

#[cfg(test)]
#[path = "missing_in_summary_tests.rs"]
mod tests;
