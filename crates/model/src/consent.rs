//! Digests of the commands and prompts that need the user's consent. Consent is bound to a digest, so it lapses if the
//! text changes.
//!
//! Each digest covers exactly the text that reaches a process or an agent. For example, a loop keeps its consent
//! while its iterations are counted, but loses it if a pull changes a word of its prompt.

use sha2::{Digest as _, Sha256};

use crate::config::StageDefinition;
use crate::gate::ExpectedOutput;
use crate::loops::{Loop, PromiseOutcome};
use crate::render::show_hidden_characters;

/// A SHA-256 hash in hexadecimal. Nobody can construct other input with the same digest.
pub type ConsentDigest = String;

/// Returns the digest of a loop's prompt, promises, limits and validators.
pub fn digest_of_loop(state: &Loop) -> ConsentDigest {
    let mut fields = FieldHasher::new("loop");
    fields.add_loop(state);
    fields.finish()
}

/// Returns the digest of the consent that lets the next session claim a loop. A loop that already belongs to a session
/// cannot be claimed by another one.
pub fn digest_of_claim(state: &Loop) -> ConsentDigest {
    let mut fields = FieldHasher::new("loop claimed by the next session");
    fields.add_loop(state);
    fields.finish()
}

/// Returns the digest for the launch of one output. It covers the output's command, its prompt, and the file
/// that it must write. If the command does not run in the root's own checkout, the digest also covers the
/// worktree in which it runs, because a script there may be different.
pub fn digest_of_output(output: &ExpectedOutput) -> ConsentDigest {
    let mut fields = FieldHasher::new("output");
    fields.add_output(output);
    if let Some(checkout) = output.other_checkout() {
        fields.add_text(checkout);
    }
    fields.finish()
}

/// Returns the digest for all launches of a stage. It does not depend on the file that defines the stage.
pub fn digest_of_stage(stage: &StageDefinition) -> ConsentDigest {
    let mut fields = FieldHasher::new("stage");
    fields.add_text(&stage.name);
    let outputs = stage.expected_outputs();
    fields.add_number(outputs.len() as u64);
    for output in &outputs {
        fields.add_output(output);
    }
    fields.finish()
}

/// Quotes a program and its arguments for a shell. Invisible characters are made visible.
pub fn quote_command(argv: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    let word = |word: &String| match !word.is_empty() && word.chars().all(is_plain) {
        true => word.clone(),
        false => format!("'{}'", show_hidden_characters(word).replace('\'', "'\\''")),
    };
    argv.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// Hashes fields, each preceded by its length, so that different lists of fields never produce the same bytes.
struct FieldHasher(Sha256);

impl FieldHasher {
    fn new(kind: &str) -> FieldHasher {
        let mut fields = FieldHasher(Sha256::new());
        fields.add_text(kind);
        fields
    }

    fn add_number(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }

    fn add_text(&mut self, text: &str) {
        self.add_number(text.len() as u64);
        self.0.update(text);
    }

    fn add_texts(&mut self, texts: &[String]) {
        self.add_number(texts.len() as u64);
        for text in texts {
            self.add_text(text);
        }
    }

    fn add_loop(&mut self, state: &Loop) {
        self.add_text(&state.prompt);
        self.add_number(state.promises.len() as u64);
        for promise in &state.promises {
            self.add_text(&promise.text);
            self.add_text(match promise.outcome {
                PromiseOutcome::Done => "done",
                PromiseOutcome::Blocked => "blocked",
            });
        }
        self.add_texts(&state.validators);
        self.add_number(state.max_iterations);
        self.add_texts(state.deadline.as_slice());
    }

    fn add_output(&mut self, output: &ExpectedOutput) {
        self.add_text(&output.file);
        self.add_text(&output.prompt);
        self.add_texts(&output.launch);
    }

    fn finish(self) -> ConsentDigest {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
#[path = "consent_tests.rs"]
mod tests;
