//! Finds sentences in which an agent says what was decided. They are suggestions only: the user accepts them or not.

use crate::text::{self, sentences};

/// A statement of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stated {
    pub text: String,
    /// What follows `because`.
    pub why: String,
}

/// The shortest and longest sentence that is suggested: a shorter one does not say what was decided, and a longer one says
/// too much else.
const SHORTEST: usize = 20;
const LONGEST: usize = 400;

/// What settles something, within a sentence.
const DECIDED: &[&str] = &[
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

/// Words that are ambiguous: about code they describe how it works, about the speaker they state a choice.
const RATHER: &[&str] = &["rather than ", "instead of ", " over "];
const CHOOSING: &[&str] =
    &["i used ", "we use ", "i kept ", "i'm using ", "we're using ", "we keep ", "i picked ", "i prefer"];

/// Not settled yet, somebody else's, or asked.
const OPEN: &[&str] = &[
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

/// The statements of a text: the items of lists that are called decisions, then sentences that say so. Code, quotes and
/// questions are none.
pub fn stated(said: &str) -> Vec<Stated> {
    let quoted = |line: &&str| !line.trim_start().starts_with(['>', '|']);
    let said: Vec<&str> = said.lines().filter(quoted).collect();
    let said = said.join("\n");
    let mut found: Vec<Stated> = listed(&said).into_iter().map(of_sentence).collect();
    for sentence in sentences(&said).filter(|sentence| is_statement(sentence)) {
        let one = of_sentence(sentence);
        if !found.iter().any(|known| known.text.contains(&one.text) || one.text.contains(&known.text)) {
            found.push(one);
        }
    }
    found
}

/// The items below `Key design decisions:` or a heading of that kind.
fn listed(said: &str) -> Vec<&str> {
    let (mut found, mut within, mut fenced) = (Vec::new(), false, false);
    for line in said.lines().map(str::trim) {
        fenced ^= line.starts_with("```");
        if fenced || line.is_empty() {
            continue;
        }
        let item = ["- ", "* ", "• "].iter().find_map(|mark| line.strip_prefix(mark));
        match item.filter(|_| within) {
            Some(item) if (SHORTEST..=LONGEST).contains(&item.len()) && !item.ends_with('?') => {
                found.push(item);
            }
            Some(_) => {}
            None => within = is_title(line),
        }
    }
    found
}

fn is_title(line: &str) -> bool {
    let bare = line.trim_matches(['*', '#', ' ', ':']).to_lowercase();
    let is_marked = line.starts_with('#') || line.starts_with("**") || line.ends_with(':');
    let is_open = OPEN.iter().chain(&["pending", "open ", "needed"]).any(|word| bare.contains(word));
    is_marked && bare.ends_with("decisions") && bare.len() <= 60 && !is_open
        || is_marked && bare.ends_with("decisions made") && !is_open
}

fn is_statement(sentence: &str) -> bool {
    let small = sentence.to_lowercase().replace('’', "'").replace("**", "");
    let has = |words: &[&str]| words.iter().any(|word| small.contains(word));
    let decided = has(DECIDED) || has(CHOOSING) && has(RATHER);
    (SHORTEST..=LONGEST).contains(&sentence.len()) && !sentence.ends_with('?') && decided && !has(OPEN)
}

fn of_sentence(sentence: &str) -> Stated {
    let plain = sentence.replace("**", "");
    let plain = plain.trim();
    let at = plain.to_ascii_lowercase().find(" because ");
    let (text, why) = at.map_or((plain, ""), |at| (&plain[..at], &plain[at + " because ".len()..]));
    let tidy = |text: &str| text::cut(text.trim().trim_end_matches([',', ';']), LONGEST).to_owned();
    Stated { text: tidy(text), why: tidy(why) }
}
