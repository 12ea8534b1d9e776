//! Recognises what the agent does for a handoff. The agent's message about the packet does not count as its last
//! message about the work.

use serde::{Deserialize, Serialize};

use super::Digest;
use crate::checkout_path::is_in_store;
use crate::event::{EventName, FileAction};
use crate::journal::{JournalRecord, RecordedFile};
use crate::prompt;
use crate::run::{self, CommandPurpose};

/// A handoff that the user asked for. It ends with the next prompt or with further work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Handoff {
    /// The time of the handoff command. Empty if there is no handoff.
    asked_at: String,
    /// Whether the agent has called `thru`. Until then, its messages may still be about the work.
    called_thru: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CallKind {
    Thru,
    Look,
    Work,
}

impl Digest {
    pub(super) fn update_handoff(&mut self, record: &JournalRecord) {
        match record.event_name() {
            Some(EventName::Prompt) if record.agent.is_none() => {
                let is_handoff = prompt::is_handoff_command(&record.text);
                let asked_at = if is_handoff { record.ts.to_string() } else { String::new() };
                self.handoff = Handoff { asked_at, called_thru: false };
            }
            Some(EventName::ToolDone) if !self.handoff.asked_at.is_empty() => match kind_of_call(record) {
                CallKind::Work => self.handoff = Handoff::default(),
                CallKind::Thru => self.handoff.called_thru = true,
                CallKind::Look => {}
            },
            _ => {}
        }
    }

    /// Returns whether a prompt or a call belongs to a handoff.
    pub(super) fn is_part_of_handoff(&self, record: &JournalRecord) -> bool {
        !self.handoff.asked_at.is_empty() && *record.ts >= *self.handoff.asked_at
    }

    /// Returns whether a message is about the packet. The transcript may report an earlier message later, so the time
    /// of the message decides.
    pub(super) fn is_about_packet(&self, record: &JournalRecord) -> bool {
        self.handoff.called_thru && self.is_part_of_handoff(record)
    }
}

fn kind_of_call(record: &JournalRecord) -> CallKind {
    let is_edit = |file: &RecordedFile| {
        !matches!(file.action, FileAction::Read | FileAction::Mention)
            && !file.guess
            && !is_in_store(&file.path)
    };
    if record.command.is_empty() {
        let is_work = record.files.iter().any(is_edit) || !record.asked.is_empty();
        return if is_work { CallKind::Work } else { CallKind::Look };
    }
    match run::command_purpose(&record.command, &record.cwd) {
        CommandPurpose::ReadOnly if run::calls_thru(&record.command) => CallKind::Thru,
        CommandPurpose::ReadOnly => CallKind::Look,
        CommandPurpose::Other(_) | CommandPurpose::Checks(_) | CommandPurpose::Git(_) => CallKind::Work,
    }
}
