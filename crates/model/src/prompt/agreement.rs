//! Recognises messages that begin with agreement, and what the user adds to the agreement.

use super::continuing::CONTINUING_STARTS;
use super::{MIN_PASTE_BYTES, PromptKind, begins_with_words, classify_prompt, first_words_in_lower_case};

/// How many words of a message are examined.
const MAX_WORDS_EXAMINED: usize = 60;

/// Words that say "yes" at the beginning of a message of any length. Words such as "right" or "all" are not among them,
/// because a longer message that begins with one is often a request: "All tests fail on Windows".
const AGREEING_WORDS: &[&str] = &[
    "yes", "y", "yep", "yeah", "yup", "ok", "okay", "sure", "agreed", "approved", "exactly", "lgtm", "ja",
    "oui",
];

const AGREEING_PHRASES: &[&[&str]] = &[
    &["go", "ahead"],
    &["go", "with"],
    &["go", "for", "it"],
    &["do", "it"],
    &["do", "that"],
    &["sounds", "good"],
    &["please", "do"],
    &["let's", "do", "it"],
    &["let's", "do", "that"],
    &["let's", "go", "with"],
    &["that's", "fine"],
    &["that", "is", "fine"],
    &["fine", "with", "me"],
];

/// After agreement, these words begin a separate request: "ok, now write the documentation".
const NEXT_REQUEST_WORDS: &[&str] =
    &["now", "next", "thanks", "thank", "cool", "great", "nice", "good", "done", "so", "let's", "lets"];

/// "Ok" may also be a mere opening: "okay, we need to change the names". In that case, one of `SUBJECT_WORDS` follows
/// it.
const OPENING_WORDS: &[&str] = &["ok", "okay"];
const SUBJECT_WORDS: &[&str] = &["we", "i", "i'm", "can", "could", "the", "there", "this", "here", "then"];

/// Words that say nothing about the work itself. Most of them express agreement or say where the work stopped.
const EMPTY_WORDS: &str = "a again ahead all alright and as at back before both break chat commit compaction continue \
    conversation correct crash crashed did do doing earlier ended fine finished fix for from go going good had has \
    have here i implement in interrupted is it keep last left let's lets me merge my now of off on our perfect pick \
    please point previous proceed push rest resume right session sounds start stood stopped take task thanks that \
    the them then there things this time to today up was way we were what when where which with work working \
    yesterday you your";

/// Returns whether a message begins with agreement, such as "Yes, do it that way, but keep the name". A question, a paste
/// and "ok, now write the documentation" do not count.
pub fn begins_with_agreement(text: &str) -> bool {
    let words = first_words_in_lower_case(text, MAX_WORDS_EXAMINED);
    let said = words_of_agreement(&words);
    let next = words.get(said).map_or("", String::as_str);
    said > 0
        && text.len() < MIN_PASTE_BYTES
        && !NEXT_REQUEST_WORDS.contains(&next)
        && !(OPENING_WORDS.contains(&words[said - 1].as_str()) && SUBJECT_WORDS.contains(&next))
        && !text.trim_end().ends_with('?')
        && classify_prompt(text) != PromptKind::Question
}

/// Returns how many words at the beginning only express agreement, such as "yes".
fn words_of_agreement(words: &[String]) -> usize {
    let mut said = 0;
    while said < words.len() {
        let rest = &words[said..];
        let phrase = AGREEING_PHRASES.iter().find(|phrase| begins_with_words(rest, phrase));
        said += match (phrase, AGREEING_WORDS.contains(&rest[0].as_str())) {
            (Some(phrase), _) => phrase.len(),
            (None, true) => 1,
            (None, false) => break,
        };
    }
    said
}

/// Returns whether a message that agrees or says "continue" also says something about the work, such as "yes, but keep
/// the name" or "start with the second table".
pub fn adds_to_agreement(text: &str) -> bool {
    const MIN_WORDS: usize = 2;
    let says_something = |word: &&String| {
        word.len() > 1
            && !AGREEING_WORDS.contains(&word.as_str())
            && !EMPTY_WORDS.split_whitespace().any(|known| known == **word)
    };
    first_words_in_lower_case(text, MAX_WORDS_EXAMINED).iter().filter(says_something).count() >= MIN_WORDS
}

/// Returns whether a message names no work, such as "go", "yes" or "thanks, commit it and push".
pub fn names_no_work(text: &str) -> bool {
    const COURTESY_WORDS: &str = "awesome begin branch cool done excellent good great it's looks main master nice ok okay \
                                  open pr pull request sure thank very well yep yes";
    let is_empty = |word: &String| {
        EMPTY_WORDS.split_whitespace().chain(COURTESY_WORDS.split_whitespace()).any(|known| known == word)
    };
    first_words_in_lower_case(text, MAX_WORDS_EXAMINED).iter().all(is_empty)
}

/// Returns whether a message that agrees or says "continue" leaves the work unnamed, as in "continue", "do the rest" or
/// "go on with the tests". In contrast, "start with the second table" begins the work that it names.
pub fn continues_earlier_work(text: &str) -> bool {
    let words = first_words_in_lower_case(text, MAX_WORDS_EXAMINED);
    let said = words_of_agreement(&words);
    let said = said + usize::from(words.get(said).is_some_and(|word| word == "please"));
    CONTINUING_STARTS.iter().any(|start| begins_with_words(&words[said..], start)) || !adds_to_agreement(text)
}
