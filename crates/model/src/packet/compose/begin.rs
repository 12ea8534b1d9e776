//! What to begin with, for a brief, and the agent's questions that the user has to answer first.

use jiff::Timestamp;

use super::next::FirstStep;
use super::{PacketFacts, PacketMaterial};
use crate::digest::{Digest, Prompt};
use crate::packet::words;
use crate::render::inline_for_model;

/// Returns the first step if that step is to run a check that the edits call for. A packet of this session begins
/// with the same step. Other kinds of first steps are not returned, because a brief already contains what they say:
/// the command that fails, what the agent announced and what is on its list.
pub fn check_to_begin_with(digest: &Digest) -> Option<String> {
    let material = PacketMaterial {
        id: "",
        purpose: "",
        is_purpose_from_session: true,
        digest,
        source: "",
        harness: "",
        transcript: None,
        project_id: "",
        git: None,
        is_of_other_project: false,
        now: Timestamp::UNIX_EPOCH,
        confirmed: &[],
        decisions: &[],
        role_rules: &[],
        missing_files: &[],
        ignored: &[],
        files_seen: &[],
        validators: &[],
        promise: None,
        max_iterations: 0,
        loop_prompt: "",
        loop_left_behind: None,
        ended_loop_prompt: "",
        end_of_loop: "",
        workstream: "",
        continued: None,
        continued_session: None,
    };
    match PacketFacts::with_brief_facts(&material, Vec::new()).first_step()? {
        FirstStep::Check(step) => Some(step),
        FirstStep::Begin(_) | FirstStep::NothingOpen(_) => None,
    }
}

impl PacketFacts<'_> {
    /// Returns the agent's questions that are still unanswered.
    pub(super) fn open_questions(&self) -> Vec<String> {
        let digest = self.material.digest;
        let answered =
            digest.prompts.last().is_some_and(|prompt: &Prompt| prompt.record > digest.last_message_record);
        if answered {
            return Vec::new();
        }
        let questions = words::unanswered_questions(&digest.last_message);
        questions.iter().map(|question| inline_for_model(&question.replace("**", ""), 300)).collect()
    }
}
