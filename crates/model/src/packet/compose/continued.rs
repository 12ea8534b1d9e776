//! The packet or the earlier session that a session continues, and the titles under which a packet quotes finished work.

use std::borrow::Cow;

use super::{MAX_INSTRUCTION_CHARS, MAX_USER_INSTRUCTIONS_LISTED, USER_QUOTE_PREFIX};
use crate::brief::quote_answer;
use crate::digest::{Digest, InstructionEnd, OPENING_REQUEST_LABELS, Prompt};
use crate::packet::quoted::{QuotedMessage, is_purpose_part_of_message};
use crate::prompt;
use crate::render::{GAP_IN_QUOTE, in_quotation_marks};
use crate::text::{mark_missing_text, split_into_sentences};
use crate::time::parse_time;

/// The title of the prompt of a loop that is running.
const RUNNING_LOOP_TITLE: &str = "The prompt of the loop that ran in the session when this packet was written, given to the agent at every stop";
/// Returns the title of the prompt of a session's active loop. If the session is over, `left_behind` is the loop's id,
/// and the title names the command that gives the loop to another session.
pub(super) fn title_of_loop(left_behind: Option<&str>) -> Cow<'static, str> {
    match left_behind {
        None => RUNNING_LOOP_TITLE.into(),
        Some(id) => format!(
            "The prompt of the loop {id}, whose session is over. The loop is not running until `thru loop activate {id}` \
             gives it to the session that runs this command, or `thru loop activate {id} --next` to the next session \
             that starts here"
        )
        .into(),
    }
}

/// Returns the title of the prompt of a loop that ran in the session. `end` says that the loop is paused or has ended.
pub(super) fn title_of_ended_loop(end: &str) -> Cow<'static, str> {
    format!("The prompt of the loop that ran in the session. The loop {end}").into()
}

/// Titles of quoted messages. The work that these messages asked for is finished.
pub(super) const SUMMED_UP_TASK_TITLE: &str = "The task before that, which the agent has summed up";
pub(super) const ANSWERED_MESSAGE_TITLE: &str = "The user's newest message, answered";
/// The reply to a request does not show that all of it was done, but the packet's purpose says what is left.
pub(super) const REPLIED_MESSAGE_TITLE: &str = "The user's newest message, to which the agent has replied";

/// Returns whether this is a title for quoted messages that no longer need any work.
pub fn is_title_of_finished_work(title: &str) -> bool {
    [SUMMED_UP_TASK_TITLE, ANSWERED_MESSAGE_TITLE, REPLIED_MESSAGE_TITLE]
        .iter()
        .chain(&OPENING_REQUEST_LABELS)
        .any(|known| title.starts_with(known))
}

/// A packet that a session continues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContinuedPacket {
    pub id: String,
    /// The packet's purpose.
    pub goal: String,
    /// The messages that the packet quotes as its goal.
    pub quoted_messages: Vec<QuotedMessage>,
    /// The packet's constraints, one line each.
    pub constraints: Vec<String>,
    /// When the session claimed the packet.
    pub claimed_at: String,
}

impl ContinuedPacket {
    /// Returns the constraints without those that the user of the session has lifted. What the user said before the session
    /// picked up the packet was about other work.
    pub fn constraints_still_valid(&self, digest: &Digest) -> Vec<String> {
        let claimed_at = parse_time(&self.claimed_at);
        let is_later = |prompt: &&Prompt| {
            prompt.is_about_packet
                || claimed_at.zip(parse_time(&prompt.at)).is_some_and(|(claimed_at, at)| at >= claimed_at)
        };
        let later: Vec<&Prompt> = digest.prompts.iter().filter(is_later).collect();
        let earlier =
            digest.prompts.iter().rfind(|prompt| !is_later(prompt)).map_or(0, |prompt| prompt.record);
        let ended = match digest.is_task_committed_before_new_task(earlier) {
            true => InstructionEnd::RulesOfTask,
            false => InstructionEnd::Nothing,
        };
        self.constraints.iter().filter_map(|line| without_ended_sentences(line, &later, ended)).collect()
    }

    /// Returns the purpose and the quoted messages, one below the other. If the purpose is only a part of the
    /// first message, it is left out. If a message answers the agent's question, that question comes first.
    pub(super) fn goal_with_messages(&self) -> String {
        let first = self.quoted_messages.first();
        let is_quoted = first.is_some_and(|first| is_purpose_part_of_message(&self.goal, &first.text));
        let mut lines: Vec<String> = Some(&self.goal).filter(|_| !is_quoted).into_iter().cloned().collect();
        for message in &self.quoted_messages {
            match &message.question {
                Some((_, asked)) => {
                    lines.extend([format!("The agent: {asked}"), format!("The user: {}", message.text)]);
                }
                None => lines.push(message.text.clone()),
            }
        }
        lines.join("\n")
    }
}

/// An earlier session. A later session continues its work, but has not picked up a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContinuedSession {
    pub id: String,
    /// What the user asked for in the earlier session.
    pub request: String,
    /// The user's other instructions in the earlier session, one line each.
    pub constraints: Vec<String>,
}

impl ContinuedSession {
    /// Returns the constraints that are still valid. `digest` describes the later session, in which the user may have
    /// lifted some of them.
    pub(super) fn constraints_still_valid(&self, digest: &Digest) -> Vec<String> {
        let later: Vec<&Prompt> = digest.prompts.iter().collect();
        let ended = InstructionEnd::Nothing;
        self.constraints.iter().filter_map(|line| without_ended_sentences(line, &later, ended)).collect()
    }

    /// Returns `None` if the user asked for nothing in the earlier session.
    pub fn from_digest(digest: &Digest) -> Option<ContinuedSession> {
        let goal = digest.current_goal();
        let newest = goal.newest_prompt.filter(|newest| goal.task_prompt != Some(*newest));
        let quoted: Vec<&str> =
            goal.task_prompt.into_iter().chain(newest).map(|prompt| prompt.text.as_str()).collect();
        let wishes = digest.lasting_instructions(|prompt| quoted.contains(&prompt.text.as_str()));
        let wishes = wishes
            .map(|wish| format!("{USER_QUOTE_PREFIX}{}", in_quotation_marks(wish, MAX_INSTRUCTION_CHARS)));
        let answers = digest.prompts.iter().rev().filter(|prompt| !quoted.contains(&prompt.text.as_str()));
        let answers = answers.filter_map(|prompt| {
            let question = digest.question_answered_by(prompt)?;
            Some(format!("{USER_QUOTE_PREFIX}{}", quote_answer(&prompt.text, question)))
        });
        let constraints = wishes.chain(answers).take(MAX_USER_INSTRUCTIONS_LISTED).collect();
        let request = quoted.join("\n");
        (!request.is_empty()).then(|| ContinuedSession { id: digest.session.clone(), request, constraints })
    }

    /// Describes a session that worked on a packet.
    pub fn from_packet(session: &str, packet: &ContinuedPacket) -> ContinuedSession {
        ContinuedSession {
            id: session.to_owned(),
            request: packet.goal_with_messages(),
            constraints: packet.constraints.clone(),
        }
    }
}

/// Removes the sentences that no longer apply from a line of inherited constraints. Returns `None` if no sentence
/// is left. A sentence no longer applies if a later prompt revoked it or if its task has ended. One line can
/// quote several instructions, so each sentence is checked separately.
fn without_ended_sentences(line: &str, later: &[&Prompt], ended: InstructionEnd) -> Option<String> {
    // Words such as "in an earlier session" may stand before the quotation.
    let quote = line.strip_prefix(USER_QUOTE_PREFIX).and_then(|said| said.split_once('“'));
    let Some((before, quote)) = quote.filter(|(_, quote)| !quote.contains('“')) else {
        return Some(line.to_owned());
    };
    let Some(words) = quote.strip_suffix('”') else { return Some(line.to_owned()) };
    let is_over = |wish: &&str| {
        ended.ends(wish) || later.iter().any(|later| prompt::is_instruction_revoked_by(wish, &later.text))
    };
    let (over, kept): (Vec<&str>, Vec<&str>) =
        words.split(GAP_IN_QUOTE).flat_map(split_into_sentences).partition(is_over);
    if over.is_empty() {
        return Some(line.to_owned());
    }
    let kept = kept.join(GAP_IN_QUOTE);
    (!kept.is_empty()).then(|| format!("{USER_QUOTE_PREFIX}{before}“{}”", mark_missing_text(&kept, words)))
}
