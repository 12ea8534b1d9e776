//! The packet that a session continues, and the titles under which a packet quotes finished work.

/// The titles of quoted messages whose work is finished.
pub(super) const SUMMED_UP_TASK_TITLE: &str = "The task before that, which the agent has summed up";
pub(super) const ANSWERED_MESSAGE_TITLE: &str = "The user's newest message, answered";
pub(super) const OPENING_REQUEST_TITLE: &str = "The session began with";

/// Returns whether a packet quotes a message under this title whose work is finished.
pub fn is_title_of_finished_work(title: &str) -> bool {
    [SUMMED_UP_TASK_TITLE, ANSWERED_MESSAGE_TITLE, OPENING_REQUEST_TITLE]
        .iter()
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
