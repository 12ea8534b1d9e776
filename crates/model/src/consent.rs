//! Digests of the commands that would be run and the prompts that would be fed. A user's consent is bound to a digest,
//! so it ends when the text changes.
//!
//! Each digest covers exactly what reaches a process or an agent, and nothing that `thru` itself counts. A loop keeps
//! its consent while its iterations are counted, and loses it if a pull changes a word of its prompt.

use sha2::{Digest as _, Sha256};

use crate::config::Stage;
use crate::gate::Output;
use crate::loops::{Loop, Outcome};
use crate::render::visible;

/// SHA-256 in hexadecimal. Nobody can construct another text that has a given digest.
pub type Digest = String;

/// Returns the digest of what a loop feeds, what ends it and what it runs.
pub fn of_loop(state: &Loop) -> Digest {
    let mut fields = Fields::new("loop");
    fields.loop_of(state);
    fields.digest()
}

/// Returns the digest of the permission for the next session to claim the loop. A loop for one session is never claimed
/// by another.
pub fn of_claim(state: &Loop) -> Digest {
    let mut fields = Fields::new("loop claimed by the next session");
    fields.loop_of(state);
    fields.digest()
}

/// Returns the digest of what is launched for one output of a run: the command, its prompt, and the file it must write.
pub fn of_output(output: &Output) -> Digest {
    let mut fields = Fields::new("output");
    fields.output(output);
    fields.digest()
}

/// Returns the digest of what a stage would launch, whichever file defines it.
pub fn of_stage(stage: &Stage) -> Digest {
    let mut fields = Fields::new("stage");
    fields.text(&stage.name);
    let outputs = stage.expected();
    fields.number(outputs.len() as u64);
    for output in &outputs {
        fields.output(output);
    }
    fields.digest()
}

/// Returns a program and its arguments, quoted for a shell, with invisible characters made visible.
pub fn shown_command(argv: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    let word = |word: &String| match !word.is_empty() && word.chars().all(is_plain) {
        true => word.clone(),
        false => format!("'{}'", visible(word).replace('\'', "'\\''")),
    };
    argv.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// Hashes every field with its length before it, so that no two different lists of fields give the same bytes.
struct Fields(Sha256);

impl Fields {
    fn new(kind: &str) -> Fields {
        let mut fields = Fields(Sha256::new());
        fields.text(kind);
        fields
    }

    fn number(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.update(text);
    }

    fn texts(&mut self, texts: &[String]) {
        self.number(texts.len() as u64);
        for text in texts {
            self.text(text);
        }
    }

    fn loop_of(&mut self, state: &Loop) {
        self.text(&state.prompt);
        self.number(state.promises.len() as u64);
        for promise in &state.promises {
            self.text(&promise.text);
            self.text(match promise.outcome {
                Outcome::Done => "done",
                Outcome::Blocked => "blocked",
            });
        }
        self.texts(&state.validators);
        self.number(state.max_iterations);
        self.texts(state.deadline.as_slice());
    }

    fn output(&mut self, output: &Output) {
        self.text(&output.file);
        self.text(&output.prompt);
        self.texts(&output.launch);
    }

    fn digest(self) -> Digest {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
#[path = "consent_tests.rs"]
mod tests;
