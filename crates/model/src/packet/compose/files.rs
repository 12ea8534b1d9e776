//! The files in a packet: those that the user chose, and those that the work suggests, each with the reason.

use super::PacketFacts;
use crate::brief;
use crate::digest::{Failure, FileUse};
use crate::failure;
use crate::packet::choose::bullet_list_or_none_recorded;
use crate::packet::pickup::CHOSEN_BY_USER;
use crate::packet::{CONFIRMED_FILES_HEADING, SUGGESTED_HEADING};
use crate::render::{in_backticks, in_quotation_marks};

/// The maximum number of added declarations that are named for each file. The same limit applies to changed
/// declarations, and to removed ones.
const MAX_NAMES_PER_FILE: usize = 5;

/// The maximum number of reasons quoted for the edits to a file.
const MAX_REASONS_PER_FILE: usize = 2;

/// A failure that names more of the suggested files than this is not mentioned beside any of these files.
const MAX_FILES_PER_FAILURE: usize = 3;

impl PacketFacts<'_> {
    pub(super) fn files_section(&self) -> String {
        let confirmed: Vec<String> = self
            .material
            .confirmed
            .iter()
            .map(|path| format!("{} — {CHOSEN_BY_USER}", in_backticks(path, 300)))
            .collect();
        let mut suggested: Vec<String> = self.suggested.iter().map(|file| self.describe_file(file)).collect();
        if self.suggested_left_out > 0 {
            suggested.push(format!("+{} more, only read or named in a command", self.suggested_left_out));
        }
        format!(
            "### {CONFIRMED_FILES_HEADING}\n\n{}\n\n### {SUGGESTED_HEADING}\n\n{}",
            bullet_list_or_none_recorded(&confirmed),
            bullet_list_or_none_recorded(&suggested)
        )
    }

    fn describe_file(&self, file: &FileUse) -> String {
        let mut why = Vec::new();
        if file.edits == 0 && file.is_edited_by_command() {
            why.push("edited by a command".to_owned());
        }
        let is_opened = file.is_edited() || file.reads > 0;
        let guesses = if is_opened { 0 } else { file.mentions_in_commands };
        for (times, word) in [(file.edits, "edited"), (file.reads, "read"), (guesses, "named in a command")] {
            if times > 0 {
                why.push(word.to_owned());
            }
        }
        // Use only reasons that were given for the current task, because earlier reasons do not apply to it.
        let task = self.goal.task_prompt.filter(|_| !self.goal.is_answered).or(self.goal.newest_prompt);
        let changes = self.material.digest.changes_since(task.map_or(0, |prompt| prompt.record));
        let reasons = changes.iter().find(|(path, _)| *path == file.path).map(|(_, why)| why.as_slice());
        let reasons: Vec<&str> = reasons
            .map_or(&[][..], |reasons| reasons)
            .iter()
            .copied()
            .filter(|why| brief::says_more_than_file_name(why, &file.path))
            .collect();
        let names = self.material.digest.names_changed_in_current_work(&file.path);
        if !names.is_empty() {
            why.push(names.describe(MAX_NAMES_PER_FILE, |name| in_backticks(name, 80)));
        } else if !reasons.is_empty() {
            let last = &reasons[reasons.len().saturating_sub(MAX_REASONS_PER_FILE)..];
            why.push(in_quotation_marks(&last.join("; "), 240));
        }
        // A failure is not mentioned if it names many files, because its error text lists them anyway.
        let is_one_of_few = |failure: &&&Failure| {
            let named = |file: &&&FileUse| failure::names_file(&failure.error, &file.path);
            self.suggested.iter().filter(named).count() <= MAX_FILES_PER_FAILURE
        };
        let names_it = |failure: &&&Failure| failure::names_file(&failure.error, &file.path);
        if let Some(failure) = self.failing.iter().filter(names_it).find(is_one_of_few) {
            why.push(format!("the failing {} names it", in_backticks(&failure.command_as_typed(), 60)));
        }
        for (is, word) in [
            (self.is_file_gone(file), "gone"),
            (file.is_outside_checkout, "outside the project"),
            (self.material.ignored.contains(&file.path), "ignored by git"),
        ] {
            if is {
                why.push(word.to_owned());
            }
        }
        format!("{} — {}", in_backticks(&file.path, 300), why.join(", "))
    }

    pub(super) fn is_file_gone(&self, file: &FileUse) -> bool {
        file.deleted || self.material.missing_files.contains(&file.path)
    }
}
