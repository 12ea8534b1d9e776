//! Recognises an answer of several sentences to the agent's question, such as “SQLite. Keep it simple.” The first
//! sentence answers, and the others say more about it.

use super::{MIN_SUBSTANTIAL_PROMPT_CHARS, begins_with_words, first_words_in_lower_case};
use crate::statement::{asks_permission, shares_a_word};
use crate::text::split_into_sentences;

/// A longer message is a request of its own.
const MAX_ANSWER_CHARS: usize = 240;

/// The maximum length, in words, of a first sentence that neither chooses an option nor repeats a word of the
/// question.
const MAX_WORDS_OF_BARE_ANSWER: usize = 3;

/// How many words of a question are compared.
const MAX_QUESTION_WORDS: usize = 80;

/// The beginnings of answers that choose from several options.
const CHOOSING_STARTS: &[&[&str]] = &[
    &["a"],
    &["both"],
    &["either"],
    &["neither"],
    &["none"],
    &["option"],
    &["whatever"],
    &["whichever"],
    &["the", "first"],
    &["the", "second"],
    &["the", "third"],
    &["the", "last"],
    &["the", "former"],
    &["the", "latter"],
];

/// Words that begin a request or a remark. They begin an answer only if the question contains the word.
const REQUEST_STARTS: &str = "add also anyway build change check clean commit create delete do done drop edit explain extend \
                              extract first fix good great hold implement later let's look make merge modify move next nice now \
                              open perfect pull push read refactor release remove rename replace revert review rewrite run \
                              show skip split start stop test thank thanks then try undo update verify wait write";

/// Returns whether a message of several sentences answers the question with its first sentence.
pub fn begins_with_short_answer(text: &str, question: &str) -> bool {
    let text = text.trim();
    let mut sentences = split_into_sentences(text);
    let (Some(first), Some(_)) = (sentences.next(), sentences.next()) else { return false };
    if text.chars().count() > MAX_ANSWER_CHARS
        || first.chars().count() >= MIN_SUBSTANTIAL_PROMPT_CHARS
        || text.ends_with('?')
        || text.starts_with('/')
    {
        return false;
    }
    let said = first_words_in_lower_case(first, MAX_QUESTION_WORDS);
    let said = if said.first().is_some_and(|word| word == "please") { &said[1..] } else { &said[..] };
    let asked = first_words_in_lower_case(question, MAX_QUESTION_WORDS);
    let Some(start) = said.first() else { return false };
    if REQUEST_STARTS.split(' ').any(|known| known == start) && !asked.contains(start) {
        return false;
    }
    CHOOSING_STARTS.iter().any(|start| begins_with_words(said, start))
        || shares_a_word(first, question)
        || said.len() <= MAX_WORDS_OF_BARE_ANSWER && !asks_permission(question)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_begins_with_what_was_asked_for() {
        let choice = "Postgres or SQLite?";
        let place = "Where should the jobs be stored?";
        for (question, text, expected) in [
            (choice, "SQLite. Keep it simple.", true),
            (choice, "SQLite. Keep it simple, and write no migration for the old files.", true),
            (choice, "Use SQLite. Keep it simple.", true),
            (choice, "Neither. A text file is enough for these few rows.", true),
            (choice, "The second. It must run without a server.", true),
            (choice, "SQLite, and keep it simple", false),
            (choice, "Add a page for the jobs. It lists the newest ones first.", false),
            (choice, "Thanks. Now write the page that lists the jobs.", false),
            (choice, "SQLite. Why do you ask?", false),
            (place, "In memory. They may be lost at a restart.", true),
            (place, "Write the page first. It lists the newest jobs.", false),
            ("Shall I delete the old files?", "Fix the build first. It lacks zlib.", false),
            ("Shall I delete the old files?", "Delete them. The backup has a copy.", true),
        ] {
            assert_eq!(begins_with_short_answer(text, question), expected, "{question} {text}");
        }
    }
}
