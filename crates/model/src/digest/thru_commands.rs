//! Slash commands that are not prompts: thru's own and the harness's own. A reply to such a command does not answer the
//! request before it. If the command made the agent work, as `/pickup` does, the reply answers the command. A
//! message about thru's records, for example about a packet, answers no request, and does not count as the
//! agent's last message about the work.

use serde::{Deserialize, Serialize};

use super::{Digest, Prompt, keep_last};
use crate::checkout_path::is_in_store;
use crate::event::{EventName, FileAction};
use crate::journal::{JournalRecord, RecordedFile};
use crate::prompt::{self, ThruCommand};
use crate::run::{self, CommandPurpose};
use crate::text::cut_to_bytes;

const MAX_THRU_COMMANDS_KEPT: usize = 80;
const MAX_COMMANDS_FOR_AGENT_KEPT: usize = 20;
const MAX_COMMAND_BYTES: usize = 400;

/// The user's last slash command about thru's records, such as `/handoff`. It stays active until the next
/// prompt or until the agent continues its work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct CommandAboutRecords {
    /// The time of the command. Empty if there is none.
    asked_at: String,
    /// Whether `thru` has run. Until then, the agent's messages may still be about the work.
    called_thru: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CallKind {
    Thru,
    Look,
    Work,
}

impl Digest {
    pub(super) fn update_thru_commands(&mut self, record: &JournalRecord) {
        match record.event_name() {
            Some(EventName::Prompt) if record.agent.is_none() => {
                let command = prompt::thru_command(&record.text);
                if command.is_some() {
                    self.thru_commands.push(self.record_count);
                    keep_last(&mut self.thru_commands, MAX_THRU_COMMANDS_KEPT);
                }
                let is_about_records = command.is_some_and(|command| command != ThruCommand::Work);
                self.command_about_records = CommandAboutRecords {
                    asked_at: if is_about_records { record.ts.to_string() } else { String::new() },
                    called_thru: command == Some(ThruCommand::ShownRecords),
                };
            }
            Some(EventName::ToolDone) if !self.command_about_records.asked_at.is_empty() => {
                match kind_of_call(record) {
                    CallKind::Work => self.command_about_records = CommandAboutRecords::default(),
                    CallKind::Thru => self.command_about_records.called_thru = true,
                    CallKind::Look => {}
                }
            }
            _ => {}
        }
    }

    /// Stores a slash command if the agent may answer it as it would answer a request. If the user typed a
    /// command while the agent was working, the command is stored only if it is one of thru's. Any other
    /// command controls the harness.
    pub(super) fn add_command_for_agent(&mut self, record: &JournalRecord, is_agent_working: bool) {
        if !prompt::is_command_for_agent(&record.text)
            || is_agent_working && prompt::thru_command(&record.text).is_none()
        {
            return;
        }
        self.commands_for_agent.push(Prompt {
            at: record.ts.to_string(),
            record: self.record_count,
            text: cut_to_bytes(record.text.trim(), MAX_COMMAND_BYTES).to_owned(),
            ..Prompt::default()
        });
        keep_last(&mut self.commands_for_agent, MAX_COMMANDS_FOR_AGENT_KEPT);
    }

    /// Returns whether a prompt or a call belongs to a command about thru's records.
    pub(super) fn is_part_of_command_about_records(&self, record: &JournalRecord) -> bool {
        let asked_at = &self.command_about_records.asked_at;
        !asked_at.is_empty() && *record.ts >= **asked_at
    }

    /// Returns whether a message is about thru's records. The transcript may report an earlier message later, so the
    /// time of the message decides.
    pub(super) fn is_about_records(&self, record: &JournalRecord) -> bool {
        self.command_about_records.called_thru && self.is_part_of_command_about_records(record)
    }

    /// Returns the number of the record that ends the agent's replies to the prompt at `record`. This is the
    /// next slash command or the prompt `next`, whichever comes first.
    pub(super) fn end_of_replies(&self, record: u64, next: Option<&Prompt>) -> u64 {
        let commands = self.commands_for_agent.iter().map(|command| command.record);
        let commands = commands.chain(self.thru_commands.iter().copied()).filter(|command| *command > record);
        commands.chain(next.map(|next| next.record)).min().unwrap_or(u64::MAX)
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
