//! Digests of what would run or be fed. A user's consent is bound to one of these, so it ends where the text changes.
//!
//! Each digest covers exactly what reaches a process or an agent, and none of what our own engine counts: a loop stays the
//! user's while its iterations go up, and stops being so when a pull changes a word of its prompt.

use sha2::{Digest as _, Sha256};

use crate::config::Stage;
use crate::gate::Output;
use crate::loops::{Loop, Outcome};
use crate::render::visible;

/// SHA-256, in hexadecimal: whoever writes a file into the tree must not be able to choose one that fits.
pub type Digest = String;

/// What a loop feeds, what ends it and what it runs.
pub fn of_loop(state: &Loop) -> Digest {
    let mut fields = Fields::new("loop");
    fields.loop_of(state);
    fields.digest()
}

/// That the next session which starts may claim the loop. A loop for one session is never claimed by another.
pub fn of_claim(state: &Loop) -> Digest {
    let mut fields = Fields::new("loop claimed by the next session");
    fields.loop_of(state);
    fields.digest()
}

/// What is launched for one output of a run: the command, its prompt, and the file it is to make.
pub fn of_output(output: &Output) -> Digest {
    let mut fields = Fields::new("output");
    fields.output(output);
    fields.digest()
}

/// What a stage would launch, whichever files define it.
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

/// A program and its arguments as a shell would take them, with everything in them to be seen.
pub fn shown_command(argv: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    let word = |word: &String| match !word.is_empty() && word.chars().all(is_plain) {
        true => word.clone(),
        false => format!("'{}'", visible(word).replace('\'', "'\\''")),
    };
    argv.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// Every field with its length before it: no two different lists of fields give the same bytes.
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
