//! Recognises messages that only continue earlier work.

use super::{begins_with_words, first_words_in_lower_case};

/// The beginnings of messages that continue earlier work.
pub(super) const CONTINUING_STARTS: &[&[&str]] = &[
    &["continue"],
    &["resume"],
    &["proceed"],
    &["go", "on"],
    &["carry", "on"],
    &["keep", "going"],
    &["pick", "up"],
    &["pick", "it", "up"],
    &["pick", "this", "up"],
    &["take", "it", "up"],
    &["start", "where"],
    &["start", "from", "where"],
    &["begin", "where"],
];

/// Returns whether a message only says that earlier work continues, such as "go on", "carry on from last time" or "pick
/// up where the last session stopped".
pub fn only_says_continue(text: &str) -> bool {
    const MAX_CONTINUATION_WORDS: usize = 16;
    const OPENING_WORDS: &[&str] = &[
        "please", "ok", "okay", "now", "so", "hi", "hello", "hey", "and", "then", "just", "can", "could",
        "would", "you", "we", "let's", "lets",
    ];
    /// Words that say where the work stopped but do not describe the work.
    const PLACE_WORDS: &str = "again all and as at back before break chat compaction conversation crash crashed did \
                               doing earlier ended finished for from had has have here i in interrupted it last left me \
                               my now of off on our please point previous session stood stopped task that the then \
                               there things this time to today up was we were what when where which with work working \
                               yesterday you your";
    let words = first_words_in_lower_case(text, MAX_CONTINUATION_WORDS + 1);
    let opening = words.iter().take_while(|word| OPENING_WORDS.contains(&word.as_str())).count();
    let words_after = &words[opening..];
    let says_where = |word: &String| PLACE_WORDS.split_whitespace().any(|known| known == word);
    let start = CONTINUING_STARTS.iter().find(|start| begins_with_words(words_after, start));
    words.len() <= MAX_CONTINUATION_WORDS
        && start.is_some_and(|start| words_after[start.len()..].iter().all(says_where))
}

/// Returns whether a message corrects or extends the request before it, such as "Actually --to should be exclusive" or
/// "Also mention it in the README".
pub fn revises_request(text: &str) -> bool {
    const REVISING_STARTS: &[&[&str]] = &[
        &["actually"],
        &["also"],
        &["and"],
        &["but"],
        &["forgot"],
        &["hmm"],
        &["instead"],
        &["i", "forgot"],
        &["no"],
        &["not"],
        &["oh"],
        &["one", "more"],
        &["or", "rather"],
        &["rather"],
        &["sorry"],
        &["wait"],
    ];
    let words = first_words_in_lower_case(text, 2);
    REVISING_STARTS.iter().any(|start| begins_with_words(&words, start))
}
