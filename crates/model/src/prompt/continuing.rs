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

/// Returns whether a message only gives the word to begin, such as "let's proceed with the implementation" or "do the
/// implementation too". A message that also sets a limit says more.
pub fn only_starts_work(text: &str) -> bool {
    const MAX_WORDS: usize = 10;
    const OPENING_WORDS: &[&str] =
        &["yes", "ok", "okay", "please", "now", "then", "so", "great", "good", "and", "let's", "lets"];
    const STARTS: &[&[&str]] = &[
        &["go", "ahead"],
        &["start"],
        &["begin"],
        &["proceed"],
        &["continue"],
        &["do", "it"],
        &["do", "that"],
        &["do", "this"],
        &["do", "the"],
        &["implement", "it"],
        &["implement", "this"],
        &["implement", "the", "plan"],
    ];
    const LIMITING_WORDS: &[&str] = &[
        "but", "not", "don't", "never", "always", "only", "without", "must", "should", "keep", "instead",
        "except", "no",
    ];
    let words = first_words_in_lower_case(text, MAX_WORDS + 1);
    let opening = words.iter().take_while(|word| OPENING_WORDS.contains(&word.as_str())).count();
    words.len() <= MAX_WORDS
        && STARTS.iter().any(|start| begins_with_words(&words[opening..], start))
        && !words.iter().any(|word| LIMITING_WORDS.contains(&word.as_str()))
}

/// Returns whether the user only asks whether they understood something correctly, as in "so I understand this:
/// each session has its own branch". Such a message is a question, even without a question mark.
pub fn checks_understanding(text: &str) -> bool {
    const STARTS: &[&[&str]] = &[
        &["so", "i", "understand"],
        &["so", "that", "i", "understand"],
        &["if", "i", "understand"],
        &["do", "i", "understand"],
        &["am", "i", "right"],
        &["so", "you're", "saying"],
        &["so", "what", "you're", "saying"],
        &["so", "you", "mean"],
        &["you", "mean"],
        &["let", "me", "see", "if", "i"],
    ];
    const OPENING_WORDS: &[&str] = &["just", "ok", "okay", "right", "hm", "hmm"];
    let words = first_words_in_lower_case(text, 10);
    let opening = words.iter().take_while(|word| OPENING_WORDS.contains(&word.as_str())).count();
    STARTS.iter().any(|start| begins_with_words(&words[opening..], start))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_to_begin_says_nothing_about_the_work() {
        for (text, expected) in [
            ("let's proceed with implementation using superpowers", true),
            ("Lets do the implementation too", true),
            ("ok, go ahead", true),
            ("implement the plan", true),
            ("go ahead, but don't touch the lexer", false),
            ("start with the second table, without the header", false),
            ("please use the british spelling", false),
            ("Make the parser accept trailing commas", false),
        ] {
            assert_eq!(only_starts_work(text), expected, "{text}");
        }
    }

    #[test]
    fn a_check_of_what_was_understood_is_no_request() {
        for (text, expected) in [
            ("so I understand clearly, this scenario has: - a state - two commits", true),
            ("just so I understand: each session has its own branch", true),
            ("So you mean the second table", true),
            ("I understand you, but keep the old name", false),
            ("So keep the old name", false),
            ("Let me have both", false),
        ] {
            assert_eq!(checks_understanding(text), expected, "{text}");
        }
    }
}
