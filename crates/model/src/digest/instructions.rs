//! The user's instructions that hold for later work in the same session and in later sessions.

use super::{Digest, Prompt};
use crate::prompt;

/// How many instructions of earlier sessions are reported.
const MAX_INHERITED_INSTRUCTIONS: usize = 3;

impl Digest {
    /// Returns the user's instructions that still apply, newest first, without those in prompts that are quoted in full.
    pub fn lasting_instructions(&self, is_quoted: impl Fn(&Prompt) -> bool) -> impl Iterator<Item = &str> {
        let earlier = self.prompts.iter().rev().filter(move |prompt| !is_quoted(prompt));
        let wishes = earlier.flat_map(|prompt| {
            let wishes = prompt::instruction_sentences(&prompt.text).into_iter();
            wishes.flat_map(prompt::lasting_parts).map(move |wish| (prompt.record, wish))
        });
        wishes.filter(|(record, wish)| !self.revokes_instruction(wish, *record)).map(|(_, wish)| wish)
    }

    /// Returns the lasting instructions of earlier sessions that edited one of this session's edited files, newest
    /// first. Instructions given for other files may have nothing to do with this work. `ended` contains other
    /// sessions, newest first.
    pub fn instructions_left_by(&self, ended: &[Digest]) -> Vec<String> {
        let edited = |digest: &Digest, path: &str| {
            digest.files.iter().any(|file| file.edits > 0 && !file.is_outside_checkout && file.path == path)
        };
        let is_related = |earlier: &Digest| {
            earlier.last_at <= self.last_at
                && self.files.iter().any(|file| file.edits > 0 && edited(earlier, &file.path))
        };
        let mut told: Vec<String> = Vec::new();
        for (at, earlier) in ended.iter().enumerate().filter(|(_, earlier)| is_related(earlier)) {
            for wish in earlier.lasting_instructions(|_| false) {
                let is_revoked = self.revokes_instruction(wish, 0)
                    || ended[..at].iter().any(|later| later.revokes_instruction(wish, 0));
                let is_said_again = self.prompts.iter().any(|prompt| prompt.text.contains(wish));
                if !is_revoked && !is_said_again && !told.iter().any(|known| known == wish) {
                    told.push(wish.to_owned());
                }
            }
        }
        told.truncate(MAX_INHERITED_INSTRUCTIONS);
        told
    }

    /// Returns whether a prompt after this record lifts an instruction.
    fn revokes_instruction(&self, wish: &str, record: u64) -> bool {
        let mut later = self.prompts.iter().filter(|later| later.record > record);
        later.any(|later| prompt::is_instruction_revoked_by(wish, &later.text))
    }
}
