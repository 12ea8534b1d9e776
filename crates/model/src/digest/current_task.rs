//! The prompts that belong to the current task.

use super::{Digest, Prompt};
use crate::prompt::{self, PromptKind};

/// How many prompts are searched. Older ones are rarely about the same work.
const MAX_PROMPTS_OF_TASK: usize = 6;

impl Digest {
    /// Returns the prompts of the current task, newest first. These are the newest prompt and, if it does not begin a task
    /// of its own, the prompts before it.
    pub fn prompts_of_current_task(&self) -> Vec<&Prompt> {
        let newest_first: Vec<usize> = (0..self.prompts.len()).rev().take(MAX_PROMPTS_OF_TASK).collect();
        let kept = newest_first.iter().position(|place| self.begins_task_of_its_own(*place));
        let kept = kept.map_or(newest_first.len(), |last| last + 1);
        newest_first[..kept].iter().map(|place| &self.prompts[*place]).collect()
    }

    /// Returns whether the prompt in `place` begins a new task. It does if the work of the previous prompt is
    /// committed, or if that work is finished and this prompt does not continue it.
    fn begins_task_of_its_own(&self, place: usize) -> bool {
        let prompt = &self.prompts[place];
        let Some(before) = place.checked_sub(1).map(|before| &self.prompts[before]) else { return true };
        let continues = !prompt.begins_turn()
            || self.kind_in_conversation(prompt) != PromptKind::Task
            || prompt::continues_earlier_work(&prompt.text)
            || prompt::revises_request(&prompt.text);
        let is_committed = self.are_edits_between_committed(before.record..prompt.record);
        is_committed || !continues && self.is_turn_settled(place - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::AgentStatement;

    #[test]
    fn a_correction_belongs_to_the_task_before_it() {
        const REQUEST: &str = "Add --from and --to options that filter by the timestamp.";
        const OTHER: &str = "Write a page about the formats of the export, with examples.";
        let said = |record: u64, text: &str| AgentStatement {
            record,
            text: text.into(),
            ended_turn: true,
            ..AgentStatement::default()
        };
        for (answer, next, expected) in [
            (Some("Both filter now."), "Actually --to should be exclusive, like in journalctl.", 2),
            (Some("Both filter now."), "--from is enough.", 2),
            (Some("Both filter now."), OTHER, 1),
            (Some("I read it. Next, I'll add the options."), OTHER, 2),
            (None, OTHER, 2),
        ] {
            let mut digest = Digest::new("s");
            let prompt = |record: u64, text: &str| Prompt { record, text: text.into(), ..Prompt::default() };
            digest.prompts = vec![prompt(1, REQUEST), prompt(5, next)];
            digest.statements = answer.map(|text| said(3, text)).into_iter().collect();
            assert_eq!(digest.prompts_of_current_task().len(), expected, "{answer:?} {next}");
        }
    }
}
