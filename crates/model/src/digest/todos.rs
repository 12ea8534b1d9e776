//! Decides whether the harness's own todo list is up to date.

use crate::event::TodoStatus;
use crate::journal::RecordedTodo;
use crate::prompt::PromptKind;
use crate::run::{self, RunResult};

use super::{CallStep, Digest, StepAction};

/// A todo list is stale if it has not changed for this many prompts.
const STALE_TODOS_PROMPTS: usize = 6;

/// A todo list is stale if it has not changed for this many new tasks.
const STALE_TODOS_TASKS: usize = 2;

impl Digest {
    /// Whether the todo list is about the current work, because few prompts have followed its last change.
    pub fn are_todos_current(&self) -> bool {
        let later = || self.prompts.iter().filter(|prompt| prompt.record > self.todos_at);
        let tasks = later()
            .filter(|prompt| prompt.prompt_kind() == PromptKind::Task && !self.is_reply_to_agent(prompt))
            .count();
        later().count() < STALE_TODOS_PROMPTS && tasks < STALE_TODOS_TASKS
    }

    /// Returns the number of successful edits since the todo list last changed. After many edits, entries that are
    /// still open may be done.
    pub fn edits_since_todos(&self) -> usize {
        let later =
            |step: &&CallStep| step.record > self.todos_at && step.did == StepAction::Edited && !step.failed;
        self.steps.iter().filter(later).count()
    }

    /// Returns whether an entry such as "run the tests" only requests checks, and these have passed since the list
    /// changed.
    pub fn has_run_since_todos(&self, entry: &str) -> bool {
        const RUN_WORDS: [&str; 3] = ["run ", "verify ", "check "];
        let small = entry.to_lowercase();
        if !RUN_WORDS.iter().any(|start| small.starts_with(start)) || self.open_failures().next().is_some() {
            return false;
        }
        let passed = |sort: run::CommandKind| {
            let mut runs = self.checks.iter().filter(|used| used.sort == sort && used.last > self.todos_at);
            runs.any(|used| used.ended == RunResult::Passed && self.file_edited_after(used.last).is_none())
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
