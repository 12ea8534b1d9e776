//! The prompt that a fresh agent starts from. It is short, because the packet's other sections accompany it.

use super::Facts;
use crate::brief::Class;
use crate::event::TodoStatus;
use crate::loops::promise;
use crate::packet::choose::goal_words;
use crate::packet::words;
use crate::prompt::Sort;
use crate::render::{code, inline, quoted};

/// How much of the goal is repeated, and how many files are named.
const GOAL: usize = 240;
const FIRST_FILES: usize = 5;

impl Facts<'_> {
    /// Goal, where to begin, what to open, when it is done. For the rest it refers to the packet.
    pub(super) fn next_prompt(&self) -> String {
        let mut parts = vec![format!("Goal: {}", self.goal_line())];
        parts.extend(self.first_step().map(|step| format!("Begin with: {step}.")));
        let files = self.first_files();
        if !files.is_empty() {
            parts.push(format!("Open first: {}.", files.join(", ")));
        }
        parts.push(self.exit_criteria());
        if !self.told.is_empty() {
            parts.push(
                "Intent has the user's own words; Context what was done, what is at risk and what fails; \
                 Constraints what the user wants heeded."
                    .to_owned(),
            );
        }
        parts.join("\n\n")
    }

    fn goal_line(&self) -> String {
        let purpose = self.material.purpose;
        match goal_words(&self.goal) {
            Some(goal) if !words::says_something(purpose) => quoted(goal, GOAL),
            _ => inline(purpose, 400),
        }
    }

    /// Returns the work in progress with its failures; if there was none, the next item of the list, or what only the
    /// user can decide.
    fn first_step(&self) -> Option<String> {
        let digest = self.material.digest;
        if digest.records == 0 {
            return None;
        }
        let in_progress = digest.open_todos().find(|todo| todo.status == Some(TodoStatus::InProgress));
        let todo = in_progress.or_else(|| digest.open_todos().next());
        let failing =
            self.of(Class::Failing).next().map(|_| "what stands under Failing in Context".to_owned());
        // A yes says nothing by itself: the list, or the proposal, says what it was about.
        let newest = self.goal.newest.filter(|_| digest.is_at_work());
        let under_way = match (newest.map(|newest| (newest.sort(), &newest.text)), todo) {
            (Some((Sort::Approval, _)) | None, Some(todo)) => Some(quoted(&todo.text, 160)),
            (Some((Sort::Approval, _)), None) if self.goal.accepted.is_some() => {
                Some("what was agreed to, under Intent".to_owned())
            }
            (Some((_, text)), _) => Some(format!("what was under way: {}", quoted(text, 160))),
            (None, None) => None,
        };
        let broken_off = digest
            .unfinished
            .first()
            .map(|call| format!("{}, which was running when the session broke off", code(call, 200)));
        let steps: Vec<String> = broken_off.into_iter().chain(under_way).chain(failing).collect();
        Some(match steps.is_empty() {
            false => steps.join("; then "),
            true if !self.open_questions().is_empty() => {
                "the user's answer to what stands under Open Questions".to_owned()
            }
            true => "the user: the agent had finished and waited for the next word".to_owned(),
        })
    }

    fn first_files(&self) -> Vec<String> {
        let chosen = self.material.confirmed;
        let here = self.suggested.iter().filter(|file| !file.outside && !self.is_gone(file));
        let here = here.filter(|file| !chosen.contains(&file.path));
        let all = chosen.iter().chain(here.map(|file| &file.path));
        all.take(FIRST_FILES).map(|path| code(path, 120)).collect()
    }

    fn exit_criteria(&self) -> String {
        let commands: Vec<String> =
            self.validator_commands().iter().take(3).map(|command| code(command, 120)).collect();
        let promise =
            self.material.promise.map(|promise| format!("the last message holds {}", promise::tag(promise)));
        let all: Vec<String> = (!commands.is_empty())
            .then(|| {
                format!("{} {}", commands.join(", "), if commands.len() == 1 { "passes" } else { "pass" })
            })
            .into_iter()
            .chain(promise)
            .collect();
        if all.is_empty() {
            return "Done when: the goal is met, and it was seen to work (no check was recorded).".to_owned();
        }
        format!("Done when: the goal is met, and {}.", all.join(", and "))
    }
}
