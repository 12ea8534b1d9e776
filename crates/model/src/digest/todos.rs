//! Decides whether the harness's own todo list is up to date.

use crate::event::TodoStatus;
use crate::journal::RecordedTodo;
use crate::prompt::PromptKind;
use crate::run::{self, RunResult};

use super::{CallStep, Digest, ToolCallAction};

/// A todo list is stale if it has not changed for this many prompts.
const MIN_PROMPTS_MAKING_TODOS_STALE: usize = 6;

/// A todo list is stale if the user has given this many new tasks since the list last changed.
const MIN_NEW_TASKS_MAKING_TODOS_STALE: usize = 2;

impl Digest {
    /// Returns whether the todo list is probably about the current work, that is, whether few prompts have followed its
    /// last change.
    pub fn are_todos_current(&self) -> bool {
        let later = || self.prompts.iter().filter(|prompt| prompt.record > self.todos_changed_at);
        let tasks = later()
            .filter(|prompt| prompt.prompt_kind() == PromptKind::Task && !self.is_reply_to_agent(prompt))
            .count();
        later().count() < MIN_PROMPTS_MAKING_TODOS_STALE && tasks < MIN_NEW_TASKS_MAKING_TODOS_STALE
    }

    /// Returns the number of successful edits since the todo list last changed. After many edits, entries that are
    /// still open may be done.
    pub fn edits_since_todos(&self) -> usize {
        let later = |step: &&CallStep| {
            step.record > self.todos_changed_at && step.action == ToolCallAction::Edited && !step.failed
        };
        self.steps.iter().filter(later).count()
    }

    /// Returns whether the records show that an open entry is done, although the agent has not ticked it off. This is
    /// the case if the entry, or a later entry, asks for something that has happened since the list changed: checks
    /// that passed, or a declaration that was added. The entry in progress is also done if files were edited since the list changed and
    /// tests passed after the last edit.
    pub fn is_todo_done(&self, entry: &RecordedTodo) -> bool {
        // Agents work through their list in order, so an entry is also done if a later entry is done.
        let from = self.todos.iter().position(|todo| todo == entry).unwrap_or(self.todos.len());
        self.has_run_since_todos(&entry.text)
            || entry.status == Some(TodoStatus::InProgress) && self.is_work_since_todos_tested()
            || self.todos[from..].iter().any(|todo| self.has_added_since_todos(&todo.text))
    }

    /// Returns whether an entry such as "implement computeTotals" requests a declaration that was added since the
    /// list changed. All names in the entry must have been added, because the entry may request more than one
    /// declaration.
    fn has_added_since_todos(&self, entry: &str) -> bool {
        const ADD_WORDS: [&str; 5] = ["add ", "create ", "implement ", "extract ", "write "];
        let small = entry.to_lowercase();
        if !ADD_WORDS.iter().any(|start| small.starts_with(start)) {
            return false;
        }
        let edits = self.changes.iter().filter(|change| change.record > self.todos_changed_at);
        let added: Vec<&String> = edits.flat_map(|change| &change.changed_names.added).collect();
        let mut names = identifiers_in(entry).peekable();
        names.peek().is_some() && names.all(|name| added.iter().any(|known| *known == name))
    }

    /// Returns whether files were edited since the list changed, tests passed after the last edit, and no failure is open.
    fn is_work_since_todos_tested(&self) -> bool {
        let is_tested = |used: &super::NewestRunOfCheck| {
            used.check_kind == run::CommandKind::Test
                && used.last_result == RunResult::Passed
                && used.last_run_record > self.todos_changed_at
                && self.is_check_current(used.last_run_record)
        };
        self.edits_since_todos() > 0
            && self.checks.iter().any(is_tested)
            && self.open_failures().next().is_none()
    }

    /// Returns true if an entry asks only for checks, as in "run the tests", and all of these checks have
    /// passed since the list changed.
    fn has_run_since_todos(&self, entry: &str) -> bool {
        const RUN_WORDS: [&str; 3] = ["run ", "verify ", "check "];
        let small = entry.to_lowercase();
        if !RUN_WORDS.iter().any(|start| small.starts_with(start)) || self.open_failures().next().is_some() {
            return false;
        }
        let passed = |sort: run::CommandKind| {
            let mut runs = self
                .checks
                .iter()
                .filter(|used| used.check_kind == sort && used.last_run_record > self.todos_changed_at);
            runs.any(|used| {
                used.last_result == RunResult::Passed && self.is_check_current(used.last_run_record)
            })
        };
        let asked = [
            ("test", run::CommandKind::Test),
            ("lint", run::CommandKind::Lint),
            ("build", run::CommandKind::Build),
        ];
        let mut asked = asked.into_iter().filter(|(word, _)| small.contains(word)).peekable();
        asked.peek().is_some() && asked.all(|(_, sort)| passed(sort))
    }

    pub fn open_todos(&self) -> impl Iterator<Item = &RecordedTodo> {
        self.todos.iter().filter(|todo| todo.status.is_none_or(TodoStatus::is_open))
    }
}

/// Returns the words that are names of declarations, such as `computeTotals`, `HTTPClient` or `read_all`.
fn identifiers_in(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| {
        let has_inner_capital = word.chars().skip(1).any(char::is_uppercase);
        word.chars().any(char::is_lowercase) && (has_inner_capital || word.trim_matches('_').contains('_'))
    })
}

#[cfg(test)]
#[path = "todos_tests.rs"]
mod tests;
