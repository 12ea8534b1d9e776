//! The user's instructions that hold for later work in the same session and in later sessions.

use std::ops::Range;

use super::changed::is_documentation;
use super::{Digest, FileEdit, Prompt};
use crate::project_rules::{ProjectRule, ProjectRules};
use crate::prompt::{self, PromptKind};
use crate::statement;
use crate::text::split_into_sentences;
use crate::time::parse_time;

/// How many instructions of earlier sessions are reported.
const MAX_INHERITED_INSTRUCTIONS: usize = 3;

/// How many rules for the whole project are reported in addition.
const MAX_PROJECT_RULES: usize = 12;

/// An instruction that the user gave in an earlier session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstructionOfEarlierSession {
    pub text: String,
    pub session: String,
    /// When the user said it, in RFC 3339 format.
    pub said_at: String,
    /// Whether the instruction is about a task that may be over: the user has given another task since.
    pub may_be_over: bool,
}

impl Digest {
    /// Returns the user's instructions that still apply, newest first, without those in prompts that are quoted in full.
    pub fn lasting_instructions(&self, is_quoted: impl Fn(&Prompt) -> bool) -> impl Iterator<Item = &str> {
        self.lasting_instructions_with_prompts(is_quoted).map(|(_, wish)| wish)
    }

    fn lasting_instructions_with_prompts(
        &self,
        is_quoted: impl Fn(&Prompt) -> bool,
    ) -> impl Iterator<Item = (&Prompt, &str)> {
        let earlier = self.prompts.iter().rev().filter(move |prompt| !is_quoted(prompt));
        let wishes = earlier.flat_map(|prompt| {
            let wishes = prompt::instruction_sentences(&prompt.text).into_iter();
            let ended = self.end_of_instructions(prompt);
            let wishes = wishes.flat_map(prompt::lasting_parts);
            wishes.filter(move |wish| !ended.ends(wish)).map(move |wish| (prompt, wish))
        });
        wishes.filter(|(prompt, wish)| !self.revokes_instruction(wish, prompt.record))
    }

    /// Returns the lasting instructions of earlier sessions, newest first. An earlier session counts only if it
    /// left a failing check, or if it edited a file that this session edited too. The instructions of any other
    /// session may have nothing to do with this work. `ended` contains other sessions, newest first.
    pub fn instructions_left_by(&self, ended: &[Digest]) -> Vec<InstructionOfEarlierSession> {
        let edited = |digest: &Digest, path: &str| {
            digest.files.iter().any(|file| file.edits > 0 && !file.is_outside_checkout && file.path == path)
        };
        let is_related = |earlier: &Digest| {
            let is_same_work = self.files.iter().any(|file| file.edits > 0 && edited(earlier, &file.path));
            !earlier.is_launched_by_gate_run
                && earlier.last_at <= self.last_at
                && (is_same_work || earlier.has_open_failure_of_check())
        };
        let mut told: Vec<InstructionOfEarlierSession> = Vec::new();
        for (at, earlier) in ended.iter().enumerate().filter(|(_, earlier)| is_related(earlier)) {
            let is_closed = |prompt: &Prompt, wish: &str| {
                earlier.was_said_before_closing(prompt) && InstructionEnd::RulesOfPacket.ends(wish)
            };
            let has_other_task = ended[..at]
                .iter()
                .chain([self])
                .any(|later| later.prompts_of_user().iter().any(|prompt| later.gives_new_task(prompt)));
            let is_committed = self.are_all_edits_committed(earlier);
            let wishes = earlier.lasting_instructions_with_prompts(|_| false);
            for (prompt, wish) in wishes.filter(|(prompt, wish)| !is_closed(prompt, wish)) {
                let may_be_over = has_other_task && !prompt::outlives_task(wish);
                let is_revoked = self.revokes_instruction(wish, 0)
                    || ended[..at].iter().any(|later| later.revokes_instruction(wish, 0));
                let is_said_again = self.prompts_of_user().iter().any(|prompt| prompt.text.contains(wish));
                let is_known = is_said_again || told.iter().any(|known| known.text == wish);
                let is_over = may_be_over && is_committed;
                if !is_revoked && !is_known && !is_over {
                    told.push(InstructionOfEarlierSession {
                        text: wish.to_owned(),
                        session: earlier.session.clone(),
                        said_at: prompt.at.clone(),
                        may_be_over,
                    });
                }
            }
        }
        told.truncate(MAX_INHERITED_INSTRUCTIONS);
        told
    }

    /// Adds the rules for the whole project that are not told yet. The log of the rules is written at checkpoints, and a
    /// killed session may not have reached one, so the prompts of the `ended` sessions are examined, too.
    pub fn add_project_rules(&mut self, rules: &ProjectRules, ended: &[Digest]) {
        let is_lifted = |rule: &ProjectRule| {
            let prompts = ended.iter().chain([&*self]).flat_map(Digest::prompts_of_user);
            let mut later = prompts.filter(|prompt| prompt.at > rule.ts);
            later.any(|later| prompt::takes_back_rule(&rule.text, &later.text))
        };
        // While this session changes a protected file on the user's order, the rule would contradict the order. It is told
        // again with the next session. A git step such as a push is over as soon as it is done.
        let is_suspended = |rule: &ProjectRule| {
            let mut later = self.prompts_of_user().iter().filter(|prompt| prompt.at > rule.ts);
            !prompt::forbids_git_step(&rule.text)
                && later.any(|later| prompt::is_instruction_revoked_by(&rule.text, &later.text))
        };
        // An order in this session, such as "push this", ends its own instruction "never push", but not the rule.
        let own: Vec<&str> = match self.is_launched_by_gate_run {
            true => Vec::new(),
            false => self.lasting_instructions(|_| false).collect(),
        };
        let is_known = |rule: &ProjectRule| {
            own.contains(&rule.text.as_str())
                || self.instructions_of_earlier_sessions.iter().any(|known| known.text == rule.text)
        };
        let new = rules.in_force().filter(|rule| !is_known(rule) && !is_lifted(rule) && !is_suspended(rule));
        let told: Vec<InstructionOfEarlierSession> = new
            .take(MAX_PROJECT_RULES)
            .map(|rule| InstructionOfEarlierSession {
                text: rule.text.clone(),
                session: rule.session.clone(),
                said_at: rule.ts.clone(),
                may_be_over: false,
            })
            .collect();
        self.instructions_of_earlier_sessions.extend(told);
    }

    /// Returns the prompts that are the user's own words.
    fn prompts_of_user(&self) -> &[Prompt] {
        if self.is_launched_by_gate_run { &[] } else { &self.prompts }
    }

    /// Returns whether everything that an earlier session edited in this checkout is known to be committed. This session
    /// knows the uncommitted files only if git's files were read.
    fn are_all_edits_committed(&self, earlier: &Digest) -> bool {
        let own = self.git_state();
        let is_uncommitted = |path: &String| {
            self.uncommitted_by_others.contains(path) || own.uncommitted.iter().any(|file| file.path == *path)
        };
        let mut edited =
            earlier.files.iter().filter(|file| file.edits > 0 && !file.is_outside_checkout).peekable();
        // A later session may have changed a file again after its commit. Such a change is not the earlier session's.
        self.git_on_disk.is_some()
            && edited.peek().is_some()
            && !edited.any(|file| file.may_have_uncommitted_change() && is_uncommitted(&file.path))
    }

    /// Returns the agent's question that this prompt answers. The question must be about the work, and the
    /// answer must be in the user's own words. Such an answer is a requirement, and it stays in force until the
    /// user abandons the work. A bare “yes” does not count, because it adds no requirement. An answer to a
    /// request for permission does not count either, because it is settled as soon as the agent acts on it.
    pub fn question_answered_by(&self, prompt: &Prompt) -> Option<&str> {
        let asked = self.message_answered_by_prompt(prompt).filter(|_| prompt.begins_turn())?;
        let question = Some(asked.closing_question.as_str()).filter(|asks| !asks.is_empty())?;
        let says_something = match self.kind_in_conversation(prompt) {
            PromptKind::Question => false,
            PromptKind::Approval => prompt::adds_to_agreement(&prompt.text),
            PromptKind::Task | PromptKind::Remark => !prompt.text.starts_with('/'),
        };
        let is_abandoned = || {
            let mut later = self.prompts.iter().filter(|later| later.record > prompt.record);
            later.any(|later| prompt::abandons_work(&later.text))
        };
        // A message that is a request on its own may have nothing to do with the question.
        let is_reply =
            self.kind_in_conversation(prompt) != PromptKind::Task && self.asked_before_working(prompt);
        let is_about_work =
            !statement::asks_permission(question) && (is_reply || shares_word(question, &prompt.text));
        let is_over = || is_abandoned() || self.is_about_closed_work(prompt);
        (says_something && is_about_work && !is_over()).then_some(question)
    }

    /// Returns whether an answer is about finished work and so no longer says what to do. An answer from before
    /// the current task still matters only if some code that was edited after the answer is not committed yet.
    /// `is_of_current_task` is true if the answer was given after the current task began.
    pub fn is_answer_settled(&self, prompt: &Prompt, question: &str, is_of_current_task: bool) -> bool {
        if self.are_edits_for_prompt_committed(prompt) {
            return true;
        }
        if is_of_current_task {
            return statement::asks_confirmation(question) && prompt::begins_with_agreement(&prompt.text);
        }
        let until = self.end_of_task_after(prompt.record);
        let is_open = |edit: &FileEdit| {
            (prompt.record..until).contains(&edit.record)
                && !is_documentation(&edit.path)
                && self.commits_one_of_which_contains(edit).is_empty()
        };
        statement::asks_confirmation(question)
            || prompt::contradicts_agent(&prompt.text)
            || split_into_sentences(&prompt.text).any(|sentence| sentence.ends_with('?'))
            || !self.changes.iter().any(is_open)
    }

    /// Returns whether files were edited for a prompt, before the user gave the next task, and all of these edits are
    /// committed.
    pub fn are_edits_for_prompt_committed(&self, prompt: &Prompt) -> bool {
        self.are_edits_between_committed(prompt.record..self.end_of_task_after(prompt.record))
    }

    /// Returns the record of the next prompt that gives a task of its own.
    fn end_of_task_after(&self, record: u64) -> u64 {
        let mut later = self.prompts.iter().filter(|later| later.record > record);
        later.find(|later| self.gives_new_task(later)).map_or(u64::MAX, |next| next.record)
    }

    /// Returns which of a prompt's instructions no longer apply.
    pub fn end_of_instructions(&self, prompt: &Prompt) -> InstructionEnd {
        match () {
            () if self.is_about_closed_work(prompt) => InstructionEnd::RulesOfPacket,
            () if self.is_task_committed_before_new_task(prompt.record) => InstructionEnd::RulesOfTask,
            () => InstructionEnd::Nothing,
        }
    }

    /// Returns whether a prompt is about finished work. This is the case if the prompt is about a packet that
    /// is now done and the user has since given another task. What the user demanded for the packet's work does
    /// not apply to the new task.
    pub fn is_about_closed_work(&self, prompt: &Prompt) -> bool {
        let is_new_task = |later: &Prompt| self.gives_new_task(later) && !self.was_said_before_closing(later);
        self.was_said_before_closing(prompt) && self.prompts.iter().any(is_new_task)
    }

    /// Returns whether the user gave a new task after this record, and all edits between the two are committed.
    pub fn is_task_committed_before_new_task(&self, since: u64) -> bool {
        let mut later = self.prompts.iter().filter(|later| later.record > since);
        let Some(next) = later.find(|later| self.gives_new_task(later)) else { return false };
        self.are_edits_between_committed(since..next.record)
    }

    /// Returns whether files were edited between these records, and all of these edits are committed.
    pub(super) fn are_edits_between_committed(&self, records: Range<u64>) -> bool {
        let mut edits = self.changes.iter().filter(|edit| records.contains(&edit.record)).peekable();
        edits.peek().is_some() && edits.all(|edit| !self.commits_one_of_which_contains(edit).is_empty())
    }

    /// Returns whether a prompt gives a new task, rather than continuing or correcting the work before it.
    fn gives_new_task(&self, prompt: &Prompt) -> bool {
        prompt.begins_turn()
            && self.kind_in_conversation(prompt) == PromptKind::Task
            && !prompt::continues_earlier_work(&prompt.text)
            && !prompt::revises_request(&prompt.text)
    }

    fn was_said_before_closing(&self, prompt: &Prompt) -> bool {
        let closed = parse_time(&self.closed_work_until).zip(parse_time(&prompt.at));
        closed.is_some_and(|(closed_at, said_at)| said_at <= closed_at)
    }

    /// Returns true if the prompt before this one was a request and the agent edited nothing for it. This means
    /// that the agent asked a question before it did the requested work.
    fn asked_before_working(&self, prompt: &Prompt) -> bool {
        let Some(before) = self.prompts.iter().rposition(|known| known.record < prompt.record) else {
            return false;
        };
        let is_request = matches!(self.prompts[before].prompt_kind(), PromptKind::Task | PromptKind::Remark);
        is_request && !self.has_edits_in_turn(before)
    }

    /// Returns whether a prompt after this record lifts an instruction.
    fn revokes_instruction(&self, wish: &str, record: u64) -> bool {
        let mut later = self.prompts_of_user().iter().filter(|later| later.record > record);
        later.any(|later| prompt::is_instruction_revoked_by(wish, &later.text))
    }
}

/// Which of the instructions in a prompt no longer apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionEnd {
    Nothing,
    /// The task is finished and committed, and the user has given another one.
    RulesOfTask,
    /// The prompt is about a packet that is now done, and the user has given another task. Rules for
    /// the whole project and rules about git still apply.
    RulesOfPacket,
}

impl InstructionEnd {
    pub fn ends(self, wish: &str) -> bool {
        match self {
            InstructionEnd::Nothing => false,
            InstructionEnd::RulesOfTask => !prompt::outlives_task(wish),
            InstructionEnd::RulesOfPacket => !prompt::outlives_task(wish) && !prompt::forbids_git_step(wish),
        }
    }
}

/// Returns whether two texts share a word that is long enough to say what they are about.
fn shares_word(question: &str, answer: &str) -> bool {
    const MIN_TELLING_WORD_CHARS: usize = 5;
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
        words.filter(|word| word.chars().count() >= MIN_TELLING_WORD_CHARS).collect()
    };
    let asked = words(question);
    words(answer).iter().any(|word| asked.contains(word) && !COMMON_LONG_WORDS.contains(&word.as_str()))
}

/// Long words that occur in messages about anything.
const COMMON_LONG_WORDS: [&str; 12] = [
    "should", "would", "could", "which", "there", "their", "these", "those", "first", "other", "about",
    "please",
];

#[cfg(test)]
#[path = "instructions_tests.rs"]
mod tests;
