//! Picks out the parts of messages that matter to the next agent.

use crate::digest::Prompt;
use crate::prompt;
use crate::text::sentences;

const MAX_QUESTIONS: usize = 5;

/// Words that only say that work continues.
const UNINFORMATIVE_WORDS: &str = "a all and carry continue doing everything finish finished for from go going hand handoff handover here \
                     i it keep later me my next now of off on our over packet pick please proceed rest resume save \
                     session something stuff task that the them then things this to today tomorrow up we where wip \
                     with work you your";

/// Returns whether a purpose names the work. "go on" and "finish the rest" do not.
pub fn says_what_to_do(purpose: &str) -> bool {
    full_words(purpose).next().is_some()
}

/// Returns whether a person gave the purpose. The packet of a session that was killed has a purpose that starts with
/// `go on`.
pub fn is_given(purpose: &str) -> bool {
    !purpose.trim().is_empty() && !purpose.starts_with("go on")
}

/// Returns whether a purpose and a request are about the same work, because the request contains at least half of the
/// purpose's informative words.
pub fn is_about(purpose: &str, request: &str) -> bool {
    let request: Vec<String> = full_words(request).collect();
    let (shared, all) = full_words(purpose)
        .fold((0, 0), |(shared, all), word| (shared + usize::from(request.contains(&word)), all + 1));
    shared * 2 >= all
}

fn full_words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words
        .map(str::to_lowercase)
        .filter(|word| !UNINFORMATIVE_WORDS.split_whitespace().any(|empty| empty == word))
}

/// Returns the prompts about the work, oldest first.
pub fn prompts_about_work(prompts: &[Prompt]) -> Vec<&Prompt> {
    prompts.iter().filter(|prompt| prompt::is_typed_work_prompt(&prompt.text)).collect()
}

/// Returns the last few questions in the agent's last message.
pub fn unanswered_questions(said: &str) -> Vec<&str> {
    let all: Vec<&str> = sentences(said).filter(|sentence| sentence.ends_with('?')).collect();
    all.into_iter().rev().take(MAX_QUESTIONS).rev().collect()
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
