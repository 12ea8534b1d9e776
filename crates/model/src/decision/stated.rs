//! Finds sentences in which an agent states a decision. They are only suggestions that the user may accept.

use crate::text::{self, split_into_sentences};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedDecision {
    pub text: String,
    /// The text after `because`.
    pub why: String,
}

/// The minimum length of a suggested sentence, in bytes. Shorter sentences rarely contain a decision.
const MIN_SENTENCE_BYTES: usize = 20;

/// The maximum length of a suggested sentence, in bytes. Longer sentences contain much more than the decision.
const MAX_SENTENCE_BYTES: usize = 400;

/// Words that state a decision.
const DECIDED_WORDS: &[&str] = &[
    "decided to ",
    "decided on ",
    "decided against ",
    "decided not to ",
    "decided that ",
    "decision: ",
    "decision is ",
    "decision was ",
    "decision made",
    "i chose ",
    "we chose ",
    "i've chosen ",
    "we've chosen ",
    "chose to ",
    "opted for ",
    "opted to ",
    "opting for ",
    "settled on ",
    "went with ",
    "i'm going with ",
    "we're going with ",
    "we are going with ",
    "going with option ",
    "we agreed ",
    "agreed to ",
    "as agreed, ",
    "was chosen because ",
    "were chosen because ",
    "the chosen approach ",
    "the approach chosen ",
];

/// Words of a comparison. In a sentence about code, they do not always express a choice, so one of [`CHOOSING_WORDS`]
/// is also required.
const COMPARING_WORDS: &[&str] = &["rather than ", "instead of ", " over "];

/// Words that express the agent's own choice.
const CHOOSING_WORDS: &[&str] =
    &["i used ", "we use ", "i kept ", "i'm using ", "we're using ", "we keep ", "i picked ", "i prefer"];

/// Words in a sentence that leaves the decision open or leaves it to somebody else.
const UNDECIDED_WORDS: &[&str] = &[
    "not decided",
    "n't decided",
    "to be decided",
    "to decide",
    "should decide",
    "must decide",
    "if you decide",
    "if we decide",
    "when you decide",
    "you decide",
    "let me know",
    "would you",
    "could be decided",
    "no decision",
    "your decision",
    "a decision is needed",
];

/// Returns the decisions that `said` states. Items of lists titled `Key decisions` or similar come first, followed by
/// sentences. Code, quotations and questions are skipped.
pub fn find_stated_decisions(said: &str) -> Vec<StatedDecision> {
    let quoted = |line: &&str| !line.trim_start().starts_with(['>', '|']);
    let said: Vec<&str> = said.lines().filter(quoted).collect();
    let said = said.join("\n");
    let mut found: Vec<StatedDecision> = listed_decisions(&said).into_iter().map(split_sentence).collect();
    for sentence in split_into_sentences(&said).filter(|sentence| states_decision(sentence)) {
        let one = split_sentence(sentence);
        if !found.iter().any(|known| known.text.contains(&one.text) || one.text.contains(&known.text)) {
            found.push(one);
        }
    }
    found
}

/// Returns the items below `Key design decisions:` or a similar heading.
fn listed_decisions(said: &str) -> Vec<&str> {
    let (mut found, mut within, mut fenced) = (Vec::new(), false, false);
    for line in said.lines().map(str::trim) {
        fenced ^= line.starts_with("```");
        if fenced || line.is_empty() {
            continue;
        }
        let item = ["- ", "* ", "• "].iter().find_map(|mark| line.strip_prefix(mark));
        match item.filter(|_| within) {
            Some(item)
                if (MIN_SENTENCE_BYTES..=MAX_SENTENCE_BYTES).contains(&item.len())
                    && !item.ends_with('?') =>
            {
                found.push(item);
            }
            Some(_) => {}
            None => within = is_decisions_title(line),
        }
    }
    found
}

fn is_decisions_title(line: &str) -> bool {
    let bare = line.trim_matches(['*', '#', ' ', ':']).to_lowercase();
    let is_marked = line.starts_with('#') || line.starts_with("**") || line.ends_with(':');
    let is_open =
        UNDECIDED_WORDS.iter().chain(&["pending", "open ", "needed"]).any(|word| bare.contains(word));
    is_marked && bare.ends_with("decisions") && bare.len() <= 60 && !is_open
        || is_marked && bare.ends_with("decisions made") && !is_open
}

fn states_decision(sentence: &str) -> bool {
    let small = sentence.to_lowercase().replace('’', "'").replace("**", "");
    let has = |words: &[&str]| words.iter().any(|word| small.contains(word));
    let decided = has(DECIDED_WORDS) || has(CHOOSING_WORDS) && has(COMPARING_WORDS);
    (MIN_SENTENCE_BYTES..=MAX_SENTENCE_BYTES).contains(&sentence.len())
        && !sentence.ends_with('?')
        && decided
        && !has(UNDECIDED_WORDS)
}

fn split_sentence(sentence: &str) -> StatedDecision {
    let plain = sentence.replace("**", "");
    let plain = plain.trim();
    let at = plain.to_ascii_lowercase().find(" because ");
    let (text, why) = at.map_or((plain, ""), |at| (&plain[..at], &plain[at + " because ".len()..]));
    let tidy = |text: &str| {
        text::shorten_to_bytes(text.trim().trim_end_matches([',', ';']), MAX_SENTENCE_BYTES).into_owned()
    };
    StatedDecision { text: tidy(text), why: tidy(why) }
}
