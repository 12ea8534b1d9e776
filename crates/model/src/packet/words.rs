//! What people and agents said, and what of it still matters to whoever goes on.

use crate::digest::Prompt;
use crate::prompt;
use crate::text::sentences;

const MOST_WISHES: usize = 12;
const MOST_QUESTIONS: usize = 5;

/// Prompts that are about the work, oldest first.
pub fn real(prompts: &[Prompt]) -> Vec<&Prompt> {
    prompts.iter().filter(|prompt| prompt::is_real(&prompt.text)).collect()
}

/// Sentences in which the user said how it is to be done, newest first, each once.
pub fn wishes<'a>(prompts: &[&'a Prompt]) -> Vec<(&'a str, &'a Prompt)> {
    let mut found: Vec<(&str, &Prompt)> = Vec::new();
    for prompt in prompts.iter().rev() {
        for sentence in prompt::wishes(&prompt.text) {
            if found.len() < MOST_WISHES && !found.iter().any(|(known, _)| *known == sentence) {
                found.push((sentence, prompt));
            }
        }
    }
    found
}

/// What the agent asked and nobody has answered: questions at the end of its last words.
pub fn questions(said: &str) -> Vec<&str> {
    let all: Vec<&str> = sentences(said).filter(|sentence| sentence.ends_with('?')).collect();
    all.into_iter().rev().take(MOST_QUESTIONS).rev().collect()
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
