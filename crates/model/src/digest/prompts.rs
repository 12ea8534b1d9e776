//! The prompts of a session, and the user's current goal.

use serde::{Deserialize, Serialize};

use super::{AgentStatement, Digest, names};
use crate::journal::JournalRecord;
use crate::prompt::{self, PromptKind};
use crate::text::{cut_to_bytes, outline_text, shorten_to_bytes};

pub(super) const MAX_PROMPTS_KEPT: usize = 80;
const MAX_PROMPT_BYTES: usize = 2_000;
/// The maximum length of the newest prompt. It is larger than for other prompts, because the newest prompt may be a
/// plan.
const MAX_NEWEST_PROMPT_BYTES: usize = 8_000;
/// How many of the newest prompts are not shortened further.
const FULL_LENGTH_PROMPTS: usize = 12;
const MAX_OLD_PROMPT_BYTES: usize = 400;
const MAX_REFUSAL_BYTES: usize = 200;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Prompt {
    pub at: String,
    pub record: u64,
    pub text: String,
    /// The call that the user refused with this prompt, or empty if there was none.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[serde(rename = "refused")]
    pub refused_call: String,
    /// Whether the prompt was sent while the agent was working. Such a prompt is a correction or a remark.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "at_work")]
    pub is_sent_during_work: bool,
    /// Whether the user typed this after the slash command that picks up a packet. The prompt is then about that
    /// packet.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "pickup")]
    pub is_about_packet: bool,
    /// File names that occurred in the removed part of a shortened prompt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "names")]
    pub file_names_in_removed_part: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Goal<'d> {
    pub newest_prompt: Option<&'d Prompt>,
    /// The proposal that the agent made and the user accepted. `None` if the proposal has been carried out,
    /// unless the newest prompt accepted it.
    pub accepted_proposal: Option<&'d AgentStatement>,
    /// The earlier prompt that states the task to which the newest prompt belongs. `None` if the newest prompt is the
    /// task itself.
    pub task_prompt: Option<&'d Prompt>,
    /// Whether the agent has already summed up the task. If so, the task is only context for the newest prompt.
    pub is_answered: bool,
}

impl Prompt {
    pub fn prompt_kind(&self) -> PromptKind {
        prompt::classify_prompt(&self.text)
    }

    /// Returns `, typed after /pickup` if the text contains only what the user typed after this command, so that it is not
    /// taken for a request of its own.
    pub fn note_on_command(&self) -> &'static str {
        if self.is_about_packet { ", typed after `/pickup`" } else { "" }
    }

    /// Returns what the user refused: the last command of a list such as `git add . && git commit`. Empty if the prompt
    /// refused nothing.
    pub fn refused_command(&self) -> &str {
        let list = self.refused_call.split(['\n', '"', '\'']).next().unwrap_or_default();
        let start = list.rfind(" && ").map_or(0, |at| at + " && ".len());
        &self.refused_call[start..]
    }

    /// Returns whether the prompt began a turn. A prompt that was sent while the agent was working, or that came with a
    /// refusal, does not begin a turn.
    pub fn begins_turn(&self) -> bool {
        !self.is_sent_during_work && self.refused_call.is_empty()
    }
}

/// The words that introduce the first request. The first label is for a request that is known to have begun the
/// session, and the second is for any other.
pub const OPENING_REQUEST_LABELS: [&str; 2] = ["The session began with", "Asked earlier in the session"];

impl Digest {
    pub(super) fn add_prompt(&mut self, record: &JournalRecord, at_work: bool) {
        if !prompt::is_typed_work_prompt(&record.text) {
            self.add_command_for_agent(record, at_work);
            return;
        }
        let mut prompt = Prompt {
            at: record.ts.to_string(),
            record: self.record_count,
            file_names_in_removed_part: Vec::new(),
            text: prompt::prompt_without_pickup_command(&record.text).to_owned(),
            refused_call: cut_to_bytes(&record.command, MAX_REFUSAL_BYTES).to_owned(),
            is_sent_during_work: at_work && !self.prompts.is_empty(),
            is_about_packet: prompt::words_after_pickup(&record.text).is_some(),
        };
        prompt.shorten_to_outline(MAX_NEWEST_PROMPT_BYTES);
        let is_long = prompt.text.len() > MAX_PROMPT_BYTES;
        self.prompts.push(prompt);
        // Digests from older versions lack this count, so the number of kept prompts is used if it is higher.
        self.prompt_count = self.prompt_count.max(self.prompts.len() as u64 - 1) + 1;
        let newest = self.prompts.len() - 1;
        if is_long {
            self.prompts[..newest].iter_mut().for_each(|prompt| prompt.shorten_to_outline(MAX_PROMPT_BYTES));
        }
        // The first prompt is not shortened, because it says what the session is about.
        if let Some(older) =
            self.prompts.len().checked_sub(FULL_LENGTH_PROMPTS + 1).filter(|place| *place > 0)
            && self.prompts[older].text.len() <= MAX_PROMPT_BYTES
        {
            self.prompts[older].shorten_to_outline(MAX_OLD_PROMPT_BYTES);
        }
        if self.prompts.len() > MAX_PROMPTS_KEPT {
            self.prompts.remove(1);
        }
    }

    /// Returns the user's current goal: the newest prompt and the task to which it belongs. Questions and remarks do
    /// not change the task.
    pub fn current_goal(&self) -> Goal<'_> {
        let Some(newest) = self.prompts.last() else { return Goal::default() };
        let mut goal = Goal { newest_prompt: Some(newest), ..Goal::default() };
        for (i, prompt) in self.prompts.iter().enumerate().rev() {
            let is_newest = i + 1 == self.prompts.len();
            match self.kind_in_conversation(prompt) {
                // A proposal that was already carried out is no longer current, unless the newest prompt accepted it.
                PromptKind::Approval
                    if goal.accepted_proposal.is_none()
                        && (self.closing_words_of_turn(i).is_none()
                            || is_newest
                                && self
                                    .message_answered_by_prompt(prompt)
                                    .is_some_and(AgentStatement::proposes)) =>
                {
                    goal.accepted_proposal = self.message_answered_by_prompt(prompt);
                }
                _ if is_newest && self.is_reply_to_agent(prompt) => {
                    goal.accepted_proposal = self.message_answered_by_prompt(prompt);
                }
                // This remark led to edits. The newest prompt is probably about the same work.
                PromptKind::Remark
                    if !is_newest
                        && prompt.begins_turn()
                        && !prompt::is_uninformative_once_answered(&prompt.text)
                        && self.has_edits_in_turn(i) =>
                {
                    goal.task_prompt = Some(prompt);
                    goal.is_answered = true;
                    break;
                }
                PromptKind::Approval
                    if !is_newest
                        && goal.accepted_proposal.is_none()
                        && self.has_edits_in_turn(i)
                        && i > 0 =>
                {
                    let asked = &self.prompts[i - 1];
                    if asked.begins_turn()
                        && asked.text.chars().count() >= prompt::MIN_SUBSTANTIAL_PROMPT_CHARS
                    {
                        goal.task_prompt = Some(asked);
                        goal.is_answered = true;
                        break;
                    }
                }
                // A short request that is still unanswered, such as "log a bug and go on", is the task.
                PromptKind::Remark
                    if !is_newest
                        && prompt.begins_turn()
                        && !prompt::is_uninformative_once_answered(&prompt.text)
                        && !prompt::only_asks_to_look(&prompt.text)
                        && self.closing_words_of_turn(i).is_none() =>
                {
                    goal.task_prompt = Some(prompt);
                    break;
                }
                // A prompt that was sent while the agent was working, or that came with a refusal, corrects a task but
                // does not start one. Passing remarks and harness commands do not state a task either.
                PromptKind::Task
                    if prompt.begins_turn()
                        && !(is_newest && prompt.text.starts_with('/'))
                        && (is_newest
                            || !prompt::is_statement_of_fact(&prompt.text)
                                && !prompt::only_asks_to_look(&prompt.text)
                            || self.has_edits_in_turn(i)) =>
                {
                    goal.task_prompt = Some(prompt).filter(|_| !is_newest);
                    goal.is_answered = self.is_task_settled(i, &goal);
                    break;
                }
                _ => {}
            }
        }
        let stands_alone = self.kind_in_conversation(newest) == PromptKind::Task
            && newest.begins_turn()
            && !newest.text.starts_with('/');
        if goal.task_prompt.is_none() && !stands_alone {
            let first =
                self.prompts.iter().position(|prompt| !prompt::is_uninformative_once_answered(&prompt.text));
            let first = first.unwrap_or(0);
            goal.task_prompt = self.prompts.get(first).filter(|first| first.record < newest.record);
            goal.is_answered = self.is_task_settled(first, &goal);
        }
        // What the user abandoned was not done, whatever the agent said last.
        if goal.is_answered && prompt::abandons_work(&newest.text) {
            (goal.task_prompt, goal.is_answered) = (None, false);
        }
        goal
    }

    /// Returns whether the turn of the prompt in `place` ended with a message that announces no further step.
    pub(super) fn is_turn_settled(&self, place: usize) -> bool {
        self.closing_words_of_turn(place).is_some_and(settles_request)
    }

    /// Returns whether the task in `place` is settled. If the agent ended the task's turn with a proposal and
    /// the user accepted the proposal, the task stays open until the proposal has been carried out. If the
    /// agent edited nothing in the task's turn, the task stays open even after the proposal has been carried
    /// out, because the agent's later report is about the proposal and not about the task.
    fn is_task_settled(&self, place: usize, goal: &Goal) -> bool {
        let Some(outcome) = self.closing_words_of_turn(place).filter(|said| settles_request(said)) else {
            return false;
        };
        let Some(accepted) = goal.accepted_proposal else { return true };
        let is_carried_out = self.closing_words_of_turn(self.prompts.len() - 1).is_some();
        let only_planned = !self.has_edits_in_turn(place);
        let accepts =
            |later: &Prompt| !later.begins_turn() || self.kind_in_conversation(later) == PromptKind::Approval;
        let is_this = accepted.record == outcome.record;
        let is_open = is_this && (only_planned || !is_carried_out)
            || only_planned && self.prompts[place + 1..].iter().all(accepts);
        !is_open
    }

    /// Returns the kind of a prompt in view of the agent's previous message. If that message proposes
    /// something, "Yes, but keep the name" approves the proposal, however long the prompt is. Without a
    /// proposal, the same prompt is a request. If that message asks a question, "SQLite. Keep it simple." is a
    /// remark.
    pub fn kind_in_conversation(&self, prompt: &Prompt) -> PromptKind {
        match prompt.prompt_kind() {
            PromptKind::Task | PromptKind::Remark
                if prompt.begins_turn()
                    && prompt::begins_with_agreement(&prompt.text)
                    && self.message_answered_by_prompt(prompt).is_some_and(AgentStatement::proposes) =>
            {
                PromptKind::Approval
            }
            PromptKind::Task if self.begins_with_answer_to_agent(prompt) => PromptKind::Remark,
            kind => kind,
        }
    }

    /// Returns the session's first request for work, which says what the session is about.
    pub fn opening_request(&self) -> Option<&Prompt> {
        self.prompts
            .iter()
            .find(|prompt| prompt.refused_call.is_empty() && prompt::may_state_session_goal(&prompt.text))
    }

    /// Returns the words that introduce [`Digest::opening_request`]. After an earlier compaction, or if a part of the session
    /// is not known, the first known request need not be the beginning.
    pub fn label_of_opening_request(&self) -> &'static str {
        let is_beginning_known = self.last_compaction_before_work == 0
            && self.continued_session.is_empty()
            && self.unread_transcript_bytes == 0
            && self.unread_journal_bytes == 0
            && self.prompt_count <= self.prompts.len() as u64;
        let [known, unknown] = OPENING_REQUEST_LABELS;
        if is_beginning_known { known } else { unknown }
    }

    /// Returns the session's first request for work if the agent has finished and the newest prompt, such as "push it",
    /// does not say what the work was about.
    pub fn opening_request_of_finished_work(&self) -> Option<&Prompt> {
        let is_over = self.has_finished() && !self.is_newest_prompt_clear_alone();
        self.opening_request().filter(|first| is_over && !self.is_in_goal(first))
    }

    /// Returns whether a prompt is the newest one or the task that is still open.
    pub fn is_in_goal(&self, prompt: &Prompt) -> bool {
        let goal = self.current_goal();
        let task = goal.task_prompt.filter(|_| !goal.is_answered);
        [goal.newest_prompt, task].into_iter().flatten().any(|known| known.record == prompt.record)
    }

    /// Returns whether the newest prompt is clear without the messages before it.
    pub fn is_newest_prompt_clear_alone(&self) -> bool {
        let goal = self.current_goal();
        goal.accepted_proposal.is_none()
            && goal.newest_prompt.is_some_and(|newest| {
                self.kind_in_conversation(newest) == PromptKind::Task
                    && !prompt::is_unclear_without_message_before(&newest.text)
            })
    }

    /// Returns the prompt before the newest prompt, if the newest prompt is unclear without it and the earlier prompt
    /// is not the task. Returns `None` once the agent has finished, because the agent's last message then explains
    /// the newest prompt. A prompt such as "look again" is not explained by the agent's answer.
    pub fn message_explaining_newest_prompt(&self) -> Option<&Prompt> {
        let asks_again = || self.prompts.last().is_some_and(|newest| prompt::asks_again(&newest.text));
        let before = self.prompt_explaining_newest().filter(|_| !self.has_finished() || asks_again())?;
        self.current_goal().task_prompt.is_none_or(|task| task.record != before.record).then_some(before)
    }

    /// Returns the task to which the newest prompt belongs. Returns `None` if the agent has already summed up the
    /// task, and the agent's question or the previous prompt explains the newest prompt better.
    pub fn task_explaining_newest_prompt(&self) -> Option<&Prompt> {
        let goal = self.current_goal();
        // A message such as "go" names no work. If it started a loop, the loop's prompt is the task.
        let task = goal.task_prompt.filter(|task| !prompt::names_no_work(&task.text))?;
        // A proposal that was carried out explains the prompt that accepted it, but it does not say what the work was
        // for.
        let is_carried_out = || self.closing_words_of_turn(self.prompts.len() - 1).is_some();
        let is_explained = goal.accepted_proposal.is_some() && !is_carried_out()
            || self.prompt_explaining_newest().is_some_and(|before| before.record != task.record);
        (!(goal.is_answered && is_explained)).then_some(task)
    }

    /// Returns the prompt that came before the newest prompt, if the newest prompt is unclear without it.
    pub fn prompt_explaining_newest(&self) -> Option<&Prompt> {
        let (newest, earlier) = self.prompts.split_last()?;
        // If the newest prompt accepts a proposal, the proposal explains the prompt, so no earlier prompt is
        // needed.
        if !prompt::is_unclear_without_message_before(&newest.text)
            || self.current_goal().accepted_proposal.is_some()
        {
            return None;
        }
        let is_refusal_with_reason =
            |before: &Prompt| !before.refused_call.is_empty() && prompt::contradicts_agent(&before.text);
        let mut before = earlier.iter().rev();
        let before =
            before.find(|before| !is_refusal_with_reason(before) && !before.text.starts_with('/'))?;
        (before.prompt_kind() != PromptKind::Approval
            || before.text.len() >= prompt::MIN_SUBSTANTIAL_PROMPT_CHARS)
            .then_some(before)
    }

    /// Returns what the agent said first after a slash command without arguments.
    pub fn agent_words_after_bare_slash_command(&self, prompt: &Prompt) -> Option<&str> {
        let is_bare = prompt.text.starts_with('/') && prompt.text.split_whitespace().count() == 1;
        let said = self.statements.iter().find(|said| said.record > prompt.record).filter(|_| is_bare)?;
        (said.record < self.last_message_record).then_some(said.text.as_str())
    }

    /// Returns whether a prompt is still unanswered. A question is answered as soon as the agent has said
    /// anything. Any other prompt is answered when the agent ends a turn.
    pub fn is_unanswered(&self, prompt: &Prompt) -> bool {
        let is_question =
            prompt.prompt_kind() == PromptKind::Question || prompt::only_asks_to_look(&prompt.text);
        let answers = |said: &AgentStatement| (said.ended_turn || is_question) && said.record > prompt.record;
        let closed = self.statements.iter().any(answers);
        !(closed || self.has_finished() && self.last_message_record > prompt.record)
    }

    /// Returns the closing message of the turn that a prompt began. Prompts sent while the agent is working do not end
    /// the turn.
    fn closing_words_of_turn(&self, place: usize) -> Option<&AgentStatement> {
        let prompt = self.prompts.get(place)?;
        let next = self.prompts[place + 1..].iter().find(|later| later.begins_turn());
        let end = self.end_of_replies(prompt.record, next);
        let mut said = self.statements.iter().rev();
        said.find(|said| said.ended_turn && said.record > prompt.record && said.record < end)
    }

    /// Returns whether the turn of a prompt has ended and the agent edited files during that turn.
    pub(crate) fn has_edits_in_turn(&self, place: usize) -> bool {
        let Some(closing) = self.closing_words_of_turn(place) else { return false };
        let during = self.prompts[place].record..closing.record;
        self.changes.iter().any(|change| during.contains(&change.record))
    }

    /// Returns whether the agent has done anything since the newest prompt.
    pub fn has_work_since_newest_prompt(&self) -> bool {
        self.prompts.last().is_some_and(|newest| self.last_work_record > newest.record)
    }

    /// Returns whether a prompt answers the agent's question, for example by choosing an option or by approving with a
    /// condition.
    pub fn is_reply_to_agent(&self, prompt: &Prompt) -> bool {
        let asked =
            || self.message_answered_by_prompt(prompt).is_some_and(|said| !said.closing_question.is_empty());
        prompt.begins_turn() && prompt::is_reply(&prompt.text) && asked()
            || self.begins_with_answer_to_agent(prompt)
    }

    /// Returns whether the first of several sentences answers the agent's question.
    fn begins_with_answer_to_agent(&self, prompt: &Prompt) -> bool {
        let asked = self.message_answered_by_prompt(prompt).map(|said| said.closing_question.as_str());
        let asked = asked.filter(|question| !question.is_empty() && prompt.begins_turn());
        asked.is_some_and(|question| prompt::begins_with_short_answer(&prompt.text, question))
    }

    /// Returns whether a brief quotes the newest prompt before the task. This is the case if the prompt is clear
    /// without the task. In contrast, an answer is quoted after its question, and a refusal after the refused call.
    pub fn is_quoted_before_task(&self, newest: &Prompt) -> bool {
        self.kind_in_conversation(newest) == PromptKind::Task
            && newest.refused_call.is_empty()
            && !self.is_reply_to_agent(newest)
    }

    /// Returns the closing message to which the prompt responds.
    pub fn message_answered_by_prompt(&self, prompt: &Prompt) -> Option<&AgentStatement> {
        let earlier = self.prompts.iter().rev().find(|known| known.record < prompt.record);
        let since = earlier.map_or(0, |known| known.record);
        self.statements
            .iter()
            .rev()
            .find(|said| said.ended_turn && said.record < prompt.record && said.record > since)
    }
}

impl Prompt {
    /// Shortens a prompt of more than `most` bytes to its beginning, its steps and the checks it demands. File names
    /// in the removed part are kept in `file_names_in_removed_part`.
    fn shorten_to_outline(&mut self, most: usize) {
        if self.text.len() <= most {
            return;
        }
        let kept = outline_text(&self.text, most);
        let kept = shorten_to_bytes(&kept, most).into_owned();
        for name in names::file_names_in(&self.text) {
            if !kept.contains(&name) && !self.file_names_in_removed_part.contains(&name) {
                self.file_names_in_removed_part.push(name);
            }
        }
        self.text = kept;
    }
}

impl AgentStatement {
    /// Returns whether a closing message proposes something that the user can accept.
    pub fn proposes(&self) -> bool {
        const PROPOSING_WORDS: &[&str] = &[
            "plan:",
            "my plan",
            "i propose",
            "i suggest",
            "i'd suggest",
            "i'd propose",
            "i'd go ",
            "i'd do ",
            "i'd use ",
            "i would suggest",
            "i would propose",
            "i would go ",
            "i would do ",
            "i would use ",
            "my proposal",
            "the proposal",
            "option a",
            "option b",
            "option 1",
            "option 2",
        ];
        let small = self.text.to_lowercase().replace('’', "'");
        !self.closing_question.is_empty() || PROPOSING_WORDS.iter().any(|words| small.contains(words))
    }
}

/// Returns whether a closing message settles the request. A message that ends with a question to the user settles it.
/// A message such as "It still fails. Next I will add a parameter." does not.
fn settles_request(said: &AgentStatement) -> bool {
    !said.closing_question.is_empty() || !crate::statement::announces_next_step(&said.text)
}

#[cfg(test)]
#[path = "goal_tests.rs"]
mod tests;
