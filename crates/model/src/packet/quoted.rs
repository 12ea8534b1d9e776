//! Finds the messages that a packet quotes as its goal. A session that picked up the packet repeats them.

use super::compose::AGENT_QUESTION_TITLE;
use super::is_title_of_finished_work;
use super::words::says_what_to_do;
use crate::prompt;

/// If a title begins with one of these texts, the quotation below it is from the agent. The user's answer follows
/// that quotation.
const STARTS_OF_AGENT_TITLES: [&str; 3] = ["The agent ", AGENT_QUESTION_TITLE, "Of the agent's proposals"];

/// A shorter text is compared as a whole, because it can be a part of any message.
const MIN_CHARS_OF_REPEATED_TEXT: usize = 12;

/// A message that a packet quotes as its goal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuotedMessage {
    /// The line above the message, such as `The user asked`.
    pub title: String,
    pub text: String,
    /// The agent's question or proposal that this message answers: first the title above it, then its words.
    pub question: Option<(String, String)>,
}

impl QuotedMessage {
    /// Applies a function to the quoted words, for example to redact them.
    #[must_use]
    pub fn map_words(self, change: impl Fn(&str) -> String) -> QuotedMessage {
        let question = self.question.map(|(title, words)| (title, change(&words)));
        QuotedMessage { text: change(&self.text), title: self.title, question }
    }
}

/// Returns the messages that the goal section quotes. If the agent's words come before a user's message, they
/// become the `question` of that message. If no message follows them, they are left out, because it is unknown
/// whether the user agreed.
pub fn quoted_messages(section: &str) -> Vec<QuotedMessage> {
    let mut messages: Vec<QuotedMessage> = Vec::new();
    let mut question = None;
    for (title, text) in block_quotes(section) {
        match STARTS_OF_AGENT_TITLES.iter().any(|start| title.starts_with(start)) {
            true => question = Some((title, text)),
            false => messages.push(QuotedMessage { title, text, question: question.take() }),
        }
    }
    messages
}

/// Returns the messages of [`quoted_messages`] that matter to a session that picked up the packet, each of them once. If
/// the purpose says what remains to be done, messages whose work is finished are left out, unless they contain
/// instructions, which may still apply.
pub fn remaining_messages(section: &str, purpose: &str) -> Vec<QuotedMessage> {
    let mut messages = quoted_messages(section);
    if says_what_to_do(purpose) {
        let beginning = purpose.trim_end_matches('…');
        messages.retain(|message| {
            !is_title_of_finished_work(&message.title)
                || message.text.starts_with(beginning)
                || !prompt::instruction_sentences(&message.text).is_empty()
        });
    }
    let purpose = words_to_compare(purpose);
    let mut kept: Vec<QuotedMessage> = Vec::new();
    for message in messages {
        let words = words_to_compare(&message.text);
        if message.question.is_some() {
            kept.push(message);
            continue;
        }
        // If the purpose is only the beginning of the message, the message says more, so it is kept.
        if is_repeated_in(&words, &purpose)
            || kept.iter().any(|other| is_repeated_in(&words, &words_to_compare(&other.text)))
        {
            continue;
        }
        kept.retain(|other| {
            other.question.is_some() || !is_repeated_in(&words_to_compare(&other.text), &words)
        });
        kept.push(message);
    }
    kept
}

/// Returns whether the purpose of a packet is only the beginning of a message, or the message without its command. A
/// purpose in the middle or at the end of a message may be all that remains of the message's work, so it does not count.
pub fn is_purpose_part_of_message(purpose: &str, message: &str) -> bool {
    let (purpose, message) = (words_to_compare(purpose), words_to_compare(message));
    is_repeated_in(&purpose, &message) && message.starts_with(&purpose)
}

fn is_repeated_in(words: &str, other: &str) -> bool {
    match words.chars().count() < MIN_CHARS_OF_REPEATED_TEXT {
        true => words == other,
        false => other.contains(words),
    }
}

/// Returns the words of a message on one line. Leaves out a slash command before them, a `…` after them and
/// quotation marks around them.
fn words_to_compare(text: &str) -> String {
    let text = prompt::split_slash_command(text).map_or(text, |(_, arguments)| arguments);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.trim_end_matches('…').trim_matches(['"', '\'', ' ']).to_owned()
}

/// Returns the block quotes of a section, each with the line above it.
fn block_quotes(section: &str) -> Vec<(String, String)> {
    let (mut title, mut quotes) = ("", Vec::<(String, String)>::new());
    let mut is_quoted = false;
    for line in section.lines().filter(|line| !line.trim().is_empty()) {
        match (line.strip_prefix('>'), quotes.last_mut()) {
            (Some(said), Some((_, quote))) if is_quoted => quote.push_str(&format!("\n{}", said.trim())),
            (Some(said), _) => quotes.push((title.to_owned(), said.trim().to_owned())),
            (None, _) => title = line.trim().trim_end_matches(':'),
        }
        is_quoted = line.starts_with('>');
    }
    quotes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(section: &str, purpose: &str) -> Vec<String> {
        remaining_messages(section, purpose).into_iter().map(|message| message.text).collect()
    }

    #[test]
    fn an_answer_is_kept_with_the_question_that_it_answers() {
        let section = &format!(
            "{AGENT_QUESTION_TITLE}:\n\n> It fails.\n> Shall I add it?\n\n\
             The user's newest message, 2026-11-19T17:36:18Z:\n\n> Yes.\n"
        );
        let question = Some((AGENT_QUESTION_TITLE.to_owned(), "It fails.\nShall I add it?".to_owned()));
        let [message] = &remaining_messages(section, "merge the branch")[..] else { panic!("{section}") };
        assert_eq!((message.text.as_str(), &message.question), ("Yes.", &question));
        // If the agent has replied to the answer, both the answer and the question are left out.
        let replied = section.replace("newest message,", "newest message, to which the agent has replied,");
        assert_eq!(texts(&replied, "merge the branch"), [""; 0]);
        let unanswered = "The agent had asked:\n\n> Shall I add it?\n";
        assert_eq!(texts(unanswered, "merge the branch"), [""; 0]);
    }

    #[test]
    fn each_text_is_quoted_once() {
        let asked = |texts: &[&str]| -> String {
            texts.iter().map(|text| format!("The user asked:\n\n> {text}\n\n")).collect()
        };
        for (quotes, purpose, expected) in [
            (
                &["wire --json into src/cli.js", "/thru-loop wire --json into src/cli.js --max-iterations 5"]
                    [..],
                "finish it",
                &["/thru-loop wire --json into src/cli.js --max-iterations 5"][..],
            ),
            (
                &[
                    "/thru-loop \"wire --json into src/cli.js\" --max-iterations 5",
                    "wire --json into src/cli.js",
                ],
                "finish it",
                &["/thru-loop \"wire --json into src/cli.js\" --max-iterations 5"],
            ),
            (&["wire --json into src/cli.js"], "/thru-loop wire --json into src/cli.js --validator x", &[]),
            (
                &["wire --json into src/cli.js with a test"],
                "wire --json into…",
                &["wire --json into src/cli.js with a test"],
            ),
            (&["Add a page", "Add a test"], "Add both", &["Add a page", "Add a test"]),
            (&["Go", "Go to the parser and mend it"], "Mend it", &["Go", "Go to the parser and mend it"]),
        ] {
            assert_eq!(texts(&asked(quotes), purpose), expected, "{quotes:?}");
        }
        assert!(is_purpose_part_of_message("/loop wire --json into src…", "wire --json into src/cli.js"));
        assert!(!is_purpose_part_of_message("document wire.js", "wire --json into src/cli.js"));
        let message = "wire --json into src/cli.js and finish the tests";
        assert!(is_purpose_part_of_message(message, message));
        assert!(!is_purpose_part_of_message("finish the tests", message));
    }
}
