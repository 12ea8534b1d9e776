//! The calls that were running when the session ended. The next agent must find out how they ended before it makes them
//! again, so none of them is a first step.

use super::PacketFacts;
use super::next::MAX_AGENT_QUOTE_CHARS;
use crate::packet::choose;
use crate::render::quote_part;
use crate::statement;
use crate::unfinished_call::{UnfinishedCall, note_on_earlier_failure};

/// The maximum number of calls of unknown outcome that the prompt names.
const MAX_CALLS_TO_CHECK: usize = 3;

impl PacketFacts<'_> {
    /// Returns the calls that were running when the session ended, except those that only look at something.
    pub(super) fn calls_to_check(&self) -> impl Iterator<Item = UnfinishedCall<'_>> {
        let calls = self.material.digest.unfinished_calls().map(UnfinishedCall::parse);
        calls.filter(|call| !call.is_look())
    }

    /// Returns a sentence for each call whose outcome the next agent has to find out.
    pub(super) fn calls_of_unknown_outcome(&self) -> Vec<String> {
        let run_again = self.failing_command_run_again();
        let sentence = |call: UnfinishedCall| {
            let note = match call {
                UnfinishedCall::Command(command) => {
                    let failing = run_again.as_deref().filter(|it| choose::covers_command(command, it));
                    note_on_earlier_failure(command, failing)
                }
                UnfinishedCall::Edit(_) => self.words_before_unfinished_edit(),
                UnfinishedCall::Look(_) => String::new(),
            };
            format!("{}{note}.", call.describe_outcome(200))
        };
        self.calls_to_check().take(MAX_CALLS_TO_CHECK).map(sentence).collect()
    }

    /// Returns the failing command that was being run again when the session ended.
    pub(super) fn failing_command_run_again(&self) -> Option<String> {
        let failing = self.failing.first()?.command_as_typed();
        let is_it = |call: &str| choose::covers_command(call, &failing);
        self.material.digest.unfinished_calls().any(is_it).then_some(failing)
    }

    /// Returns a note with what the agent said before it started an edit whose outcome is unknown. The note is added to
    /// the end of a sentence. It is empty if the agent said nothing.
    fn words_before_unfinished_edit(&self) -> String {
        let digest = self.material.digest;
        let asked = self.goal.newest_prompt.map_or(0, |newest| newest.record);
        let said = match digest.last_message_record > asked {
            true => statement::last_sentences(digest.last_message.trim(), MAX_AGENT_QUOTE_CHARS),
            false => "".into(),
        };
        match said.is_empty() {
            true => String::new(),
            false => {
                let said = quote_part(&said, &digest.last_message, MAX_AGENT_QUOTE_CHARS + 2);
                format!(" (the agent had said {said})")
            }
        }
    }
}
