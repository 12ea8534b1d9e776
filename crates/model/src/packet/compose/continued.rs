//! The packet or the earlier session that a session continues, and the titles under which a packet quotes finished work.

use super::{MAX_INSTRUCTION_CHARS, MAX_USER_INSTRUCTIONS_LISTED, USER_QUOTE_PREFIX};
use crate::digest::{Digest, OPENING_REQUEST_LABELS};
use crate::render::in_quotation_marks;

/// The titles of quoted messages whose work is finished.
pub(super) const SUMMED_UP_TASK_TITLE: &str = "The task before that, which the agent has summed up";
pub(super) const ANSWERED_MESSAGE_TITLE: &str = "The user's newest message, answered";
/// The reply to a request does not show that all of it was done, but the packet's purpose says what is left.
pub(super) const REPLIED_MESSAGE_TITLE: &str = "The user's newest message, to which the agent has replied";

/// Returns whether a packet quotes a message under this title whose work is finished.
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
    pub quoted_messages: Vec<String>,
    /// The packet's constraints, one line each.
    pub constraints: Vec<String>,
}

impl ContinuedPacket {
    /// Returns the purpose and the quoted messages, one below the other. If the first message begins with the purpose,
    /// the purpose is left out.
    pub(super) fn goal_with_messages(&self) -> String {
        let beginning = self.goal.trim_end_matches('…');
        let is_quoted = self.quoted_messages.first().is_some_and(|first| first.starts_with(beginning));
        let all = Some(&self.goal).filter(|_| !is_quoted).into_iter().chain(&self.quoted_messages);
        all.map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

/// An earlier session whose work a session continues without having picked up a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContinuedSession {
    pub id: String,
    /// What the user asked for in the earlier session.
    pub request: String,
    /// The user's other instructions in the earlier session, one line each.
    pub constraints: Vec<String>,
}

impl ContinuedSession {
    /// Returns `None` if the user asked for nothing in the earlier session.
    pub fn from_digest(digest: &Digest) -> Option<ContinuedSession> {
        let goal = digest.current_goal();
        let newest = goal.newest_prompt.filter(|newest| goal.task_prompt != Some(*newest));
        let quoted: Vec<&str> =
            goal.task_prompt.into_iter().chain(newest).map(|prompt| prompt.text.as_str()).collect();
        let wishes = digest.lasting_instructions(|prompt| quoted.contains(&prompt.text.as_str()));
        let wishes = wishes
            .map(|wish| format!("{USER_QUOTE_PREFIX}{}", in_quotation_marks(wish, MAX_INSTRUCTION_CHARS)));
        let constraints = wishes.take(MAX_USER_INSTRUCTIONS_LISTED).collect();
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
