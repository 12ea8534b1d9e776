//! Open failures, and failures that will recur.

use crate::brief::BriefMaterial;
use crate::brief::candidate::FactClass;
use crate::brief::gather::GatheredCandidates;
use crate::brief::paths::PathEndings;
use crate::digest::{ChangesAfterRun, Failure, Trap};
use crate::failure;
use crate::render::{format_path_or_code, in_backticks};
use crate::run;
use crate::text::count_with_noun;

use super::checks::COMMAND_ID_CHARS;

/// The maximum length, in characters, of a command that is listed without its error.
const MAX_CHARS_OF_COMMAND_WITHOUT_ERROR: usize = 160;

/// The maximum length, in characters, of the error line in the terse form.
const MAX_TERSE_LINE_CHARS: usize = 140;

/// The maximum length, in characters, of the error lines in a short form.
const MAX_SHORT_LINE_CHARS: usize = 240;

/// If the list of files that are left to edit is longer than this many bytes, a short form leaves the list out.
const MAX_SHORT_LEFT_BYTES: usize = 160;

/// The maximum number of names in the list of files that are left to edit.
const MAX_FILES_LEFT: usize = 6;

pub fn gather_failures(material: &BriefMaterial, all: &mut GatheredCandidates) {
    let digest = material.digest;
    let outside = digest.describe_change_outside_session();
    let endings = PathEndings::count_endings(digest.files.iter().map(|file| file.path.as_str()));
    // The records may end while a call is running. The harness saw how that call ended, so its summary contains the
    // newer error.
    let beside = !material.visible_summary().is_empty();
    let is_run_again = |failure: &Failure| {
        let command = failure.command_to_repeat();
        digest.unfinished_calls().any(|call| run::command_to_repeat(call) == command)
    };
    for failure in digest.open_failures() {
        if beside && is_run_again(failure) {
            let command = in_backticks(&failure.command_as_typed(), MAX_CHARS_OF_COMMAND_WITHOUT_ERROR);
            let text = format!("{command}: failed earlier and was started again");
            all.add_fact(FactClass::Failing, format!("failure:{}", failure.record), vec![text]);
            continue;
        }
        let known = failure::first_reason_line(&failure.error).to_owned();
        let unseen_run = digest.unseen_run_after(failure);
        let changes = match &unseen_run {
            Some(run) => run.changes_since.clone(),
            None => digest.changes_after_check(failure.record),
        };
        let edits =
            if changes.edited.len() == 1 { "before the last edit to" } else { "before the last edits to" };
        let since = match describe_changes(&changes, edits, &endings) {
            since if since.is_empty() => outside.to_owned(),
            since => since,
        };
        let since = match &unseen_run {
            Some(run) => run.describe(&since),
            None => since,
        };
        let id = format!("failure:{}", failure.record);
        let folder = digest.folder_of_command(&failure.command_or_file, &failure.folder);
        let left = describe_files_left(&digest.files_left_to_fix(failure), &endings);
        let (terse, forms) = failure_forms(failure, &folder, &since, &left);
        let candidate = all.add_fact(FactClass::Failing, id, forms);
        candidate.add_terse_form(terse);
        candidate.strings_stating_fact = vec![known];
    }
    for (i, failure) in digest.failures_of_earlier_sessions.iter().enumerate() {
        let describe = |changes| describe_changes(changes, "before the edits to", &endings);
        let changes = match &failure.unseen_run {
            Some(run) => run.describe(&describe(&run.changes_since)),
            None => describe(&failure.changes_since),
        };
        let since = match changes {
            since if since.is_empty() => "in an earlier session".to_owned(),
            since => format!("in an earlier session, {since}"),
        };
        let folder = digest.folder_of_command(&failure.command_or_file, &failure.folder);
        let (terse, forms) = failure_forms(failure, &folder, &since, "");
        let candidate = all.add_fact(FactClass::Failing, format!("earlier-failure:{i}"), forms);
        candidate.add_terse_form(terse);
        candidate.strings_stating_fact = vec![failure::first_reason_line(&failure.error).to_owned()];
    }
    for trap in digest.traps() {
        let id = format!("trap:{}", trap.record);
        let words = describe_trap(&trap);
        all.add_fact(FactClass::Traps, id, vec![words]).strings_stating_fact = vec![trap.why];
    }
}

/// Says which files changed after a run. `edits` is the text before the list of edited files, such as `before the last
/// edits to`.
fn describe_changes(changes: &ChangesAfterRun, edits: &str, endings: &PathEndings) -> String {
    let list = |files: &[String]| list_changed_files(files, endings);
    let ChangesAfterRun { edited, maybe_changed } = changes;
    match (edited.is_empty(), maybe_changed.is_empty()) {
        (true, true) => String::new(),
        (true, false) => format!("{} may have changed since", list(maybe_changed)),
        (false, true) => format!("{edits} {}", list(edited)),
        (false, false) => {
            format!("{edits} {}, and {} may have changed since", list(edited), list(maybe_changed))
        }
    }
}

/// Lists the most recently changed file, and also the other file if there are exactly two, because either change may
/// have fixed the failure. The files are listed with their folders further down in the brief.
fn list_changed_files(files: &[String], endings: &PathEndings) -> String {
    let path = |file: &str| format_path_or_code(endings.split_at_unique_ending(file).1, 120);
    match files {
        [] => String::new(),
        [only] => path(only),
        [newest, other] => format!("{} and {}", path(newest), path(other)),
        [newest, others @ ..] => format!("{} and {} other files", path(newest), others.len()),
    }
}

/// Lists the files that an error mentions and that have not been edited since.
fn describe_files_left(files: &[&str], endings: &PathEndings) -> String {
    if files.is_empty() {
        return String::new();
    }
    let path = |file: &&str| format_path_or_code(endings.split_at_unique_ending(file).1, 120);
    let named: Vec<String> = files.iter().take(MAX_FILES_LEFT).map(path).collect();
    let more = files.len().saturating_sub(MAX_FILES_LEFT);
    let more = if more > 0 { format!(", +{more} more") } else { String::new() };
    format!("not edited since: {}{more}", named.join(", "))
}

/// Returns the terse form of a failure, and its other forms. The first of these contains one line of the error. The
/// longer ones contain more lines, and also the files that are left to edit.
fn failure_forms(failure: &Failure, folder: &str, since: &str, left: &str) -> (String, Vec<String>) {
    let exit = failure.exit.filter(|exit| *exit != 0).map_or(String::new(), |exit| format!("exit {exit}"));
    let notes = |left: &str| {
        let notes: Vec<&str> =
            [exit.as_str(), since, left].into_iter().filter(|note| !note.is_empty()).collect();
        if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) }
    };
    let folder = match folder {
        "" => String::new(),
        folder => format!(" in {}", format_path_or_code(folder, 120)),
    };
    // Some lines name the failed test, others give the reason, and some do both.
    let (names, mut reasons): (Vec<&str>, Vec<&str>) =
        failure::reason_lines(&failure.error).partition(|line| failure::names_failed_test(line));
    reasons.sort_by_key(|line| failure::is_test_location(line));
    for reason in names.iter().rev().filter_map(|line| run::reason_in_test_line(line)) {
        // A test runner may print the reason twice, once in full and once cut short. The second copy is skipped.
        if !reasons.iter().any(|line| line.contains(reason.trim_end_matches("..."))) {
            reasons.insert(0, reason);
        }
    }
    let names: Vec<&str> = names.iter().map(|line| run::failed_test_in_line(line).unwrap_or(line)).collect();
    let reasons = failure::group_equal_messages(&reasons);
    // The files left to edit are the open part of a half-done repair, so a short form names them too if they are few.
    let is_left_told = |line: usize| {
        line > MAX_SHORT_LINE_CHARS
            || line == MAX_SHORT_LINE_CHARS && (1..=MAX_SHORT_LEFT_BYTES).contains(&left.len())
    };
    let form = |command: usize, most_names: usize, most_reasons: usize, line: usize| {
        // If a short form lists the files left to edit, it quotes only one error. The other errors are probably
        // about these files.
        let most_reasons = if is_left_told(line) && line <= MAX_SHORT_LINE_CHARS { 1 } else { most_reasons };
        let more = names.len().saturating_sub(most_names);
        let more =
            if more > 0 { format!(" (+{} failing)", count_with_noun(more, "test")) } else { String::new() };
        let why: Vec<String> = names
            .iter()
            .take(most_names)
            .map(|name| in_backticks(name, 120))
            .chain(reasons.iter().take(most_reasons).map(|text| in_backticks(text, line)))
            .collect();
        let between = if why.is_empty() { "" } else { ": " };
        let notes = notes(if is_left_told(line) { left } else { "" });
        format!(
            "{}{folder}{notes}{between}{}{more}",
            in_backticks(&failure.command_as_typed(), command),
            why.join(" ")
        )
    };
    let mut forms = vec![
        form(COMMAND_ID_CHARS, 1, 1, 200),
        form(COMMAND_ID_CHARS, 3, 2, MAX_SHORT_LINE_CHARS),
        form(COMMAND_ID_CHARS, 6, 6, 300),
        form(200, 6, 6, 400),
    ];
    forms.dedup();
    (form(COMMAND_ID_CHARS, 1, 1, MAX_TERSE_LINE_CHARS), forms)
}

/// Describes a failure that is likely to recur, in the form `X → why → Y worked`.
fn describe_trap(trap: &Trap) -> String {
    let worked = match trap.worked.as_str() {
        "" => String::new(),
        worked => format!(" → {} worked", in_backticks(worked, 100)),
    };
    let times = if trap.times > 1 { format!(" ({}×)", trap.times) } else { String::new() };
    format!("{} → {}{times}{worked}", in_backticks(&trap.what, 80), in_backticks(&trap.why, 120))
}
