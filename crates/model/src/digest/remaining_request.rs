//! Shortens a long request to the work that remains. Sections about files that have been edited since are reduced to
//! their headings.

use std::borrow::Cow;

use super::{Digest, NewestRunOfCheck, ToolCallAction, names};
use crate::journal::RecordedTodo;
use crate::render::format_path_or_code;
use crate::run::{CommandKind, RunResult};

/// A request or plan with fewer bytes than this is quoted unchanged.
const MIN_SHORTENED_REQUEST_BYTES: usize = 1_200;

/// The note that replaces the body of a finished section.
const FINISHED_SECTION_NOTE: &str = "[its files have been edited since]";

/// The note that replaces the body of any other section once the work looks complete.
const NOTE_FOR_COMPLETE_SECTION: &str = "[its text is not quoted here, because the work looks complete]";

/// The files that a message mentions, split into those that have been edited since and those that have not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFileEdits {
    pub edited: Vec<String>,
    pub not_edited: Vec<String>,
}

impl NamedFileEdits {
    /// Describes which files were edited and which were not: `edited since: a.rs; not yet: b.rs`.
    pub fn describe(&self) -> String {
        let list = |names: &[String]| {
            let names: Vec<String> = names.iter().map(|name| format_path_or_code(name, 80)).collect();
            names.join(", ")
        };
        match self.not_edited.is_empty() {
            true => "all of these files have been edited since".to_owned(),
            false => format!("edited since: {}; not yet: {}", list(&self.edited), list(&self.not_edited)),
        }
    }
}

impl Digest {
    /// Shortens a request or a plan. If a section mentions only files that were edited after `since`, only its heading is
    /// kept. Sections about the purpose and the checks are always kept whole. If the work looks complete, every other
    /// section is reduced to its heading.
    pub fn remaining_sections<'t>(&self, text: &'t str, since: u64) -> Cow<'t, str> {
        // Until a check has run, the most recently edited file may be unfinished, so it does not count as done.
        let last = self.last_file_edited_after(since).filter(|_| !self.is_checked_since_last_edit());
        let edited = |name: &str| {
            let mut uses = self.files.iter().filter(|file| last_path_part(&file.path) == name);
            uses.any(|file| file.edits > 0 && file.edited_at > since && Some(file.path.as_str()) != last)
        };
        if text.len() < MIN_SHORTENED_REQUEST_BYTES || self.last_file_edited_after(since).is_none() {
            return Cow::Borrowed(text);
        }
        let leaves_file = |section: &str| {
            let names = names::file_names_in(section);
            names.iter().any(|name| self.has_files_with_extension(name) && !edited(name))
        };
        // A passing test does not show that a step is done if the step's files were never edited.
        let is_complete = self.does_work_for_newest_prompt_look_complete()
            && !split_sections(text).into_iter().any(|part| !is_needed_until_end(part) && leaves_file(part));
        let mut out = String::new();
        let mut left_out = false;
        for section in split_sections(text) {
            let names = names::file_names_in(section);
            let mut named = names.iter().filter(|name| self.has_files_with_extension(name)).peekable();
            let is_done = named.peek().is_some() && named.all(|name| edited(name));
            match (is_done || is_complete) && !is_needed_until_end(section) {
                true => {
                    let heading = section.lines().next().unwrap_or_default().trim_end();
                    let note = if is_done { FINISHED_SECTION_NOTE } else { NOTE_FOR_COMPLETE_SECTION };
                    // A heading that does not describe a step is dropped.
                    if is_step_heading(heading) {
                        out.push_str(&format!("{heading} {note}\n"));
                    }
                    left_out = true;
                }
                false => out.push_str(section),
            }
        }
        if left_out { Cow::Owned(out) } else { Cow::Borrowed(text) }
    }

    /// Splits the files that `text` mentions into those edited after `since` and the others. An unedited file is left
    /// out if it is only an example to follow. Returns `None` if fewer than two files of the session remain, or if none
    /// of them was edited.
    pub fn edits_of_named_files(&self, text: &str, since: u64) -> Option<NamedFileEdits> {
        let is_known = |name: &String| self.files.iter().any(|file| last_path_part(&file.path) == name);
        let names: Vec<String> = names::file_names_in(text).into_iter().filter(is_known).collect();
        let is_edited = |name: &String| {
            let mut uses = self.files.iter().filter(|file| last_path_part(&file.path) == name);
            uses.any(|file| file.edits > 0 && file.edited_at > since)
        };
        let (edited, mut left): (Vec<String>, Vec<String>) = names.into_iter().partition(is_edited);
        left.retain(|name| !names::is_only_reference(text, name));
        (edited.len() + left.len() >= 2 && !edited.is_empty())
            .then_some(NamedFileEdits { edited, not_edited: left })
    }

    /// Returns whether a file was read for the newest prompt and the work for that prompt looks complete. If so, the
    /// file needed no edit.
    pub fn was_file_read_for_finished_prompt(&self, name: &str) -> bool {
        let asked = self.prompts.last().map_or(0, |prompt| prompt.record);
        let mut uses = self.files.iter().filter(|file| last_path_part(&file.path) == name);
        uses.any(|file| file.reads > 0 && file.last_use_record > asked)
            && self.does_work_for_newest_prompt_look_complete()
    }

    /// Returns whether the work for the newest prompt looks complete. This is the case if files were edited and tests
    /// ran for the prompt, all its checks passed after the last edit, and every test of the session has run again since
    /// that edit. There must also be no open failure, unfinished call or open todo entry.
    pub fn does_work_for_newest_prompt_look_complete(&self) -> bool {
        let asked = self.prompts.last().map_or(0, |prompt| prompt.record);
        let is_fresh = |used: &&NewestRunOfCheck| self.is_check_current(used.last_run_record);
        let runs = self.check_runs();
        let mut checks =
            runs.iter().filter(|used| used.check_kind.is_check() && used.last_run_record > asked);
        let is_tested = checks.clone().any(|used| used.check_kind == CommandKind::Test);
        let is_done = |todo: &RecordedTodo| self.is_todo_done(todo);
        self.last_file_edited_after(asked).is_some()
            && is_tested
            && checks.all(|used| used.last_result == RunResult::Passed && is_fresh(used))
            && runs.iter().filter(|used| used.check_kind == CommandKind::Test).all(is_fresh)
            && self.open_failures().next().is_none()
            && self.unfinished_calls().next().is_none()
            && (!self.are_todos_current() || self.open_todos().all(is_done))
    }

    /// Returns whether the agent has edited nothing since its last message, and its last call was a check that passed.
    pub fn ended_with_passed_check(&self) -> bool {
        let since = self.steps_since_last_message();
        since.last().is_some_and(|step| step.passed)
            && !since.iter().any(|step| step.action == ToolCallAction::Edited)
    }

    /// Returns whether `text` contains a file name with the extension of one of the session's files.
    pub fn does_text_name_session_files(&self, text: &str) -> bool {
        names::file_names_in(text).iter().any(|name| self.has_files_with_extension(name))
    }

    /// Returns the files that a text names, except those that it names only as examples to follow. A name without a
    /// folder counts only if the session used a file with the same extension.
    pub fn files_named_in<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let is_file = |path: &&str| path.contains('/') || self.has_files_with_extension(path);
        let paths = names::paths_in(text).filter(is_file);
        paths.filter(|path| !names::is_only_reference(text, path)).collect()
    }

    /// Returns whether a test, a build or a lint ran after the last edit.
    fn is_checked_since_last_edit(&self) -> bool {
        let mut checks = self.checks.iter().filter(|used| used.check_kind.is_check());
        checks.any(|used| self.is_check_current(used.last_run_record))
    }

    /// Returns whether any file of the session has the same extension as `name`. `os.Exit` and `e.g` look like file
    /// names but fail this test.
    fn has_files_with_extension(&self, name: &str) -> bool {
        let ending = |name: &str| name.rsplit_once('.').map(|(_, ending)| ending.to_owned());
        let wanted = ending(name);
        self.files.iter().any(|file| ending(last_path_part(&file.path)) == wanted)
    }
}

fn last_path_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Splits `text` before each heading that is not inside a code fence.
fn split_sections(text: &str) -> Vec<&str> {
    let (mut found, mut start, mut at, mut fenced) = (Vec::new(), 0, 0, false);
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start();
        fenced ^= bare.starts_with("```");
        if !fenced && bare.starts_with('#') && at > start {
            found.push(&text[start..at]);
            start = at;
        }
        at += line.len();
    }
    found.push(&text[start..]);
    found
}

/// Returns whether a heading describes a step, that is, whether it contains a number, a name in backticks, or more
/// than a few words.
fn is_step_heading(heading: &str) -> bool {
    const MIN_STEP_WORDS: usize = 4;
    heading.contains('`')
        || heading.bytes().any(|byte| byte.is_ascii_digit())
        || heading.split_whitespace().count() > MIN_STEP_WORDS
}

/// Returns whether a section is needed until the work is finished. This is true of the introduction, and of sections
/// about the purpose or the checks.
fn is_needed_until_end(section: &str) -> bool {
    const PURPOSE_WORDS: [&str; 12] = [
        "context",
        "summary",
        "goal",
        "overview",
        "problem",
        "background",
        "why",
        "verification",
        "validation",
        "checks",
        "acceptance",
        "scope",
    ];
    let Some(heading) = section.lines().next().filter(|line| line.trim_start().starts_with('#')) else {
        return true;
    };
    let small = heading.to_lowercase();
    let is_title = heading.trim_start().starts_with("# ");
    is_title || small.split(|c: char| !c.is_alphanumeric()).any(|word| PURPOSE_WORDS.contains(&word))
}

#[cfg(test)]
#[path = "remaining_request_tests.rs"]
mod tests;
