//! Picks the part of an agent's message that is relevant to a question or a request.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::items::{is_closed, shorten_items};
use super::talk::announces_step;
use super::{ends_in_number, first_sentences};

/// Shorter words are not compared, because they occur in almost all text.
const MIN_COMPARED_WORD_CHARS: usize = 4;

/// A first sentence with fewer characters than this may be only an opening remark, such as "Now I see it."
const MIN_OPENING_SENTENCE_CHARS: usize = 36;

/// With less room than this, a list that does not fit is left out.
const MIN_ROOM_FOR_PART_OF_LIST: usize = 120;

/// A sentence with fewer characters is uninformative on its own.
const MIN_INFORMATIVE_SENTENCE_CHARS: usize = 16;

/// Returns the sentences that share the most words with `topic`, or the most informative ones if no sentence shares a
/// word with it. As many as fit into `max` characters are returned, in their original order. A sentence stays together
/// with the list that it introduces. If not even the best sentence fits, see [`best_sentences`].
pub fn sentences_about<'t>(text: &'t str, max: usize, topic: &str) -> Cow<'t, str> {
    best_sentences(text, max, max, topic)
}

/// Returns the best sentences that fit into `max` characters, as [`sentences_about`] does. If the best sentence is
/// longer than `max`, the limit is raised to `longer`. If the best sentence is still too long, returns another
/// sentence with a conclusion. If there is none, returns the clauses of the best sentence that fit into `max`
/// characters, or else its beginning.
pub fn best_sentences<'t>(text: &'t str, max: usize, longer: usize, topic: &str) -> Cow<'t, str> {
    if text.chars().count() <= max {
        return Cow::Borrowed(text);
    }
    if let Some(items) = shorten_items(text, max) {
        return Cow::Owned(items);
    }
    let topic = word_stems(topic);
    let units = split_sentences_with_lists(text);
    let ranked: Vec<RankedSentence> = units
        .iter()
        .enumerate()
        .map(|(place, unit)| {
            // The first piece introduces the list, so it is not an item, even if it ends like one.
            let pieces = split_pieces(unit).into_iter().enumerate().map(|(at, piece)| match at {
                0 => piece.trim_end_matches(';'),
                _ => piece,
            });
            let weight = pieces.map(|piece| informativeness_of_sentence(piece, place)).max().unwrap_or(0);
            // "This means …" is unclear without the sentence before it.
            let unclear = usize::from(place > 0 && begins_with_pronoun(unit)) * 2;
            let shared_words = word_stems(unit).intersection(&topic).count();
            RankedSentence { shared_words, weight: weight.saturating_sub(unclear), place }
        })
        .collect();
    let mut order = ranked;
    order.sort_by_key(|one| (Reverse(one.shared_words), Reverse(one.weight), one.place));
    let Some(best) = order.first().copied() else { return first_sentences(text, max) };
    if let Some(told) =
        whole_sentences(&units, &order, max).or_else(|| whole_sentences(&units, &order, longer))
    {
        return Cow::Owned(told);
    }
    // Another whole conclusion is better than a part of the best sentence.
    let is_another = |one: &&RankedSentence| {
        let unit = units[one.place];
        (one.shared_words > 0 || best.shared_words == 0 && names_cause(unit)) && !begins_with_pronoun(unit)
    };
    let another = order.iter().filter(is_another).find_map(|one| whole_sentences(&units, &[*one], max));
    let unit = units[best.place];
    match another.or_else(|| clauses_within(unit, max)) {
        Some(told) => Cow::Owned(told),
        None => first_sentences(unit, max),
    }
}

/// A sentence with its list, and how much it says.
#[derive(Clone, Copy)]
struct RankedSentence {
    /// How many words it shares with the topic.
    shared_words: usize,
    weight: usize,
    /// Its place in the text.
    place: usize,
}

/// Returns as many sentences as fit into `max` characters. Those that come first in `order` take precedence. Returns
/// `None` if the first one does not fit.
fn whole_sentences(units: &[&str], order: &[RankedSentence], max: usize) -> Option<String> {
    let best = *order.first()?;
    let cost = |one: &RankedSentence| units[one.place].chars().count() + 3;
    let mut room = max.checked_sub(cost(&best))?;
    let mut kept = vec![best.place];
    let mut cut: Option<(usize, Cow<str>)> = None;
    let says_something =
        |one: &&RankedSentence| one.shared_words > 0 || best.shared_words == 0 && one.weight > 0;
    for one in order[1..].iter().filter(says_something) {
        if cost(one) <= room {
            room -= cost(one);
            kept.push(one.place);
        } else if room >= MIN_ROOM_FOR_PART_OF_LIST && cut.is_none() {
            // If a list does not fit completely, keep its first items. Never keep an incomplete sentence.
            let part = first_sentences(units[one.place], room - 3);
            if part.ends_with(" …") {
                room -= part.chars().count() + 1;
                kept.push(one.place);
                cut = Some((one.place, part));
            }
        }
    }
    kept.sort_unstable();
    // Drop a sentence such as "It fails there" if the sentence before it is dropped, because it would be unclear on its
    // own.
    let alone = kept.clone();
    kept.retain(|i| {
        *i == best.place || alone.contains(&i.wrapping_sub(1)) || !begins_with_pronoun(units[*i])
    });
    let mut out = String::new();
    // A whole sentence can be understood on its own, so no ellipsis marks an omitted beginning.
    let mut next = kept[0];
    for i in kept {
        out.push_str(if i > next { "… " } else { "" });
        let part = cut.as_ref().filter(|(place, _)| *place == i);
        let told = part.map_or(units[i], |(_, part)| part.trim_end_matches([' ', '…']));
        out.push_str(told.trim_start_matches("… "));
        out.push(' ');
        next = i + usize::from(part.is_none());
    }
    let out = out.trim_end();
    Some(match next < units.len() {
        true => format!("{} …", out.trim_end_matches([';', '…', ' '])),
        false => out.to_owned(),
    })
}

/// Returns the clauses of a sentence that fit into `max` characters. `None` if they would say too little.
fn clauses_within(sentence: &str, max: usize) -> Option<String> {
    const CLAUSE_ENDS: [&str; 5] = [": ", "; ", " — ", " – ", " - "];
    let marks = CLAUSE_ENDS.iter().flat_map(|mark| sentence.match_indices(mark));
    let end = marks
        .map(|(at, _)| at)
        .filter(|at| sentence[..*at].chars().count() + 2 <= max && is_closed(&sentence[..*at]))
        .max()?;
    let kept = &sentence[..end];
    (kept.chars().count() * 2 >= max).then(|| format!("{kept} …"))
}

/// Returns the text without sentences about open work, which may have been finished since. If no sentence would remain,
/// returns the text unchanged. An ellipsis marks each gap between kept sentences. If checks have passed since, sentences
/// about a failing test are left out too, even if no sentence remains.
pub fn without_sentences_about_open_work(text: &str, have_checks_passed: bool) -> Cow<'_, str> {
    const OPEN_ENDS: [&str; 15] = [
        "remaining",
        "still fail",
        "still to ",
        "still open",
        "is failing",
        "are failing",
        "next step",
        "next, ",
        "not yet ",
        "try running",
        "i will ",
        "i'll ",
        "should see",
        "should now see",
        "i need to",
    ];
    let pieces = split_pieces(text);
    // "Fails without the fix" says what a test is for, and that remains true after the fix.
    let is_solved = |small: &str| {
        have_checks_passed
            && ["test fails", "tests fail"].iter().any(|words| small.contains(words))
            && !["without ", " pass", "before "].iter().any(|words| small.contains(words))
    };
    let mut has_solved = false;
    let mut is_open = |piece: &str| {
        let small = piece.to_lowercase().replace('’', "'");
        has_solved |= is_solved(&small);
        is_solved(&small) || OPEN_ENDS.iter().any(|words| small.contains(words))
    };
    let mut out = String::new();
    let mut kept = 0;
    let (mut is_list, mut gap) = (false, false);
    for piece in &pieces {
        // If a sentence about open work is followed by a numbered list, the items of that list are dropped too.
        is_list = is_open(piece) || is_list && piece.starts_with(|c: char| c.is_ascii_digit());
        if is_list {
            gap = true;
            continue;
        }
        out.push_str(match (out.is_empty(), gap) {
            (true, _) => "",
            (false, true) => " … ",
            (false, false) => " ",
        });
        out.push_str(piece);
        (gap, kept) = (false, kept + 1);
    }
    if kept == 0 && !has_solved || kept == pieces.len() { Cow::Borrowed(text) } else { Cow::Owned(out) }
}

/// Returns a message without the question at its end and without the options that it offers, because the user has
/// answered. The result is empty if the message contains nothing else.
pub fn without_answered_question<'t>(text: &'t str, asks: &str) -> Cow<'t, str> {
    /// Lower-case beginnings of sentences that introduce a choice.
    const OPTION_OFFERING_PHRASES: [&str; 9] = [
        "options:",
        "two options",
        "three options",
        "option 1",
        "option a",
        "would you like me to",
        "do you want me to",
        "want me to",
        "which ",
    ];
    let is_offer = |piece: &str| {
        let small = piece.to_lowercase();
        let is_asked = !asks.is_empty();
        is_asked
            && (OPTION_OFFERING_PHRASES.iter().any(|offer| small.starts_with(offer))
                || small.contains("options:"))
            || small.starts_with("would you like me to:")
    };
    if asks.is_empty() && !text.contains("ould you like me to:") {
        return Cow::Borrowed(text);
    }
    let mut kept: Vec<&str> = Vec::new();
    for piece in split_pieces(text) {
        match () {
            () if is_offer(piece) => break,
            () if piece.ends_with('?') && asks.contains(piece) => {}
            () => kept.push(piece),
        }
    }
    // Drop headings and separators from the end, because no text follows them.
    while kept.last().is_some_and(|piece| piece.ends_with(':') || !piece.contains(char::is_alphanumeric)) {
        kept.pop();
    }
    Cow::Owned(kept.join(" ").trim_end_matches([' ', '…']).to_owned())
}

/// Lower-case phrases that introduce a cause.
const CAUSE_WORDS: [&str; 21] = [
    "because",
    "actual cause",
    "actual issue",
    "actual problem",
    "culprit",
    "misdiagnos",
    "real blocker",
    "real bug",
    "real issue",
    "real problem",
    "root cause",
    "the cause",
    "the issue",
    "the problem",
    "the bug",
    "the reason",
    "the fix",
    "fixed by",
    "turns out",
    "caused by",
    "due to",
];

pub fn names_cause(text: &str) -> bool {
    let small = text.to_lowercase();
    CAUSE_WORDS.iter().any(|word| small.contains(word)) || small.contains("actual bug")
}

/// Returns whether `text` gives a cause, a decision or a conclusion, rather than only a description.
pub fn gives_reason(text: &str) -> bool {
    const MIN_REASON_WEIGHT: usize = 4;
    split_pieces(text).iter().any(|piece| informativeness_of_sentence(piece, 1) >= MIN_REASON_WEIGHT)
}

fn begins_with_pronoun(unit: &str) -> bool {
    const PRONOUNS: [&str; 8] = ["It ", "This ", "That ", "They ", "These ", "Those ", "It's ", "You could "];
    PRONOUNS.iter().any(|start| unit.starts_with(start))
}

/// Returns how informative a sentence is on its own. A cause, a decision, a next step or a result counts more than a
/// name. A sentence that only introduces a list has weight 0.
fn informativeness_of_sentence(piece: &str, place: usize) -> usize {
    const DECISION_WORDS: [&str; 10] = [
        "decided",
        "instead of",
        "so that",
        "must ",
        "no longer",
        "only ",
        "never ",
        "therefore",
        "which means",
        "chose",
    ];
    const OPENING_REMARKS: [&str; 7] =
        ["found it", "i found it", "i see ", "i think i ", "i understand", "now i see ", "now i understand"];
    const CONCLUSION_STARTS: [&str; 9] = [
        "so ",
        "this means",
        "that means",
        "in short",
        "conclusion",
        "result:",
        "no code ",
        "no change ",
        "no fix ",
    ];
    let small = piece.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| small.contains(word));
    // The first sentence never counts as a conclusion, because nothing comes before it.
    let concludes = place > 0 && CONCLUSION_STARTS.iter().any(|start| small.starts_with(start));
    let gives_reason = has(&CAUSE_WORDS) || concludes;
    let decides = has(&DECISION_WORDS);
    let said = 3 * usize::from(gives_reason) + 2 * usize::from(decides || announces_step(piece));
    // A list item, or a sentence such as "Found it!", is clear only together with the text before it.
    let is_item = piece.ends_with(';') || piece.starts_with(|c: char| c.is_ascii_digit());
    let names = piece.contains('`') || piece.bytes().any(|b| b.is_ascii_digit()) || piece.contains('/');
    let length = piece.chars().count();
    // "Now I see the pattern." only opens the message.
    let is_remark = place == 0
        && !names
        && length < MIN_OPENING_SENTENCE_CHARS
        && OPENING_REMARKS.iter().any(|start| small.starts_with(start));
    match () {
        () if piece.ends_with(':') || length < MIN_INFORMATIVE_SENTENCE_CHARS || is_remark => 0,
        () if is_item && place > 0 => said,
        () => 1 + said + usize::from(names) + usize::from(place == 0),
    }
}

/// Splits `text` into sentences, each together with the list items that it introduces.
fn split_sentences_with_lists(text: &str) -> Vec<&str> {
    let (mut found, mut start, mut end) = (Vec::<&str>::new(), 0, 0);
    for piece in split_pieces(text) {
        let at = text[end..].find(piece).map_or(end, |at| end + at);
        if at > start && !text[..end].ends_with(';') {
            found.push(text[start..end].trim());
            start = at;
        }
        end = at + piece.len();
    }
    found.push(text[start..].trim());
    found.retain(|unit| !unit.is_empty());
    found
}

/// Splits `text` into sentences and list items, each including its final punctuation.
pub(super) fn split_pieces(text: &str) -> Vec<&str> {
    let (mut found, mut start) = (Vec::new(), 0);
    let ends = text.match_indices(['.', ';', '!', '?']).map(|(at, mark)| at + mark.len());
    for end in ends.filter(|end| text[*end..].starts_with(' ')).chain([text.len()]) {
        let piece = text[start..end].trim();
        if !piece.is_empty() && !ends_in_number(&text[start..end]) {
            found.push(piece);
            start = end;
        }
    }
    found
}

/// Returns whether two texts share a word that is not common. Endings such as "ing" are not compared.
pub fn shares_a_word(one: &str, other: &str) -> bool {
    let other = word_stems(other);
    let is_same =
        |a: &str, b: &str| a == b || a.len() > 5 && b.starts_with(a) || b.len() > 5 && a.starts_with(b);
    word_stems(one).iter().any(|word| other.iter().any(|known| is_same(word, known)))
}

/// Returns the words without a plural "s", so that "checkpoints" matches "checkpoint".
fn word_stems(text: &str) -> BTreeSet<String> {
    const COMMON_WORDS: [&str; 16] = [
        "that", "this", "with", "from", "have", "what", "when", "which", "should", "would", "could", "there",
        "them", "then", "into", "just",
    ];
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let words = words.filter(|word| {
        word.chars().count() >= MIN_COMPARED_WORD_CHARS && !COMMON_WORDS.contains(&word.as_str())
    });
    words.map(|word| word.trim_end_matches('s').to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_question_is_about_is_kept() {
        let text = "View mode: sessions come first; Press `t` to toggle. Removed the lanes. Fixed diff stats for uncommitted \
                    checkpoints: they counted everything. Kept: the colors.";
        let told = sentences_about(text, 100, "couldn't we diff against the commit of the checkpoint?");
        assert_eq!(told, "Fixed diff stats for uncommitted checkpoints: they counted everything. …");
        assert_eq!(sentences_about(text, 60, "what about lunch?"), first_sentences(text, 60));
        assert_eq!(sentences_about(text, 60, "the view mode is wrong"), first_sentences(text, 60));
        assert_eq!(sentences_about(text, 1_000, "diff"), text);
        let numbered = "All of it: 1. The reader. 2. The writer keeps comments now. 3. The rest.";
        assert_eq!(sentences_about(numbered, 50, "does the writer?"), "2. The writer keeps comments now. …");
    }

    #[test]
    fn the_conclusion_is_kept_rather_than_the_first_words() {
        let blocked = "Then 2 seconds later, the new session set the state back to idle. The `test.json` is the real \
                       blocker — it should not be there. The logic is correct; it was blocked by an old state. No code \
                       fix is needed for that flow.";
        let diagnosis = "So the fix for the cache was a misdiagnosis. The actual issue was: a developer on `main` with \
                         `auto-commit` is skipped without a word: the hook returns before it has written anything to the \
                         log, and nobody sees why.";
        for (text, max, expected) in [
            (
                blocked,
                120,
                "The `test.json` is the real blocker — it should not be there. … No code fix is needed for that flow.",
            ),
            (
                "The plan is at `plan.md`. The main changes are: the reader keeps its place in the file; the lock of the \
                 old format is gone; the writer takes the new type and all of its callers do that, too, as they should. \
                 The notes say why.",
                190,
                "The plan is at `plan.md`. The main changes are: the reader keeps its place in the file; the lock of the \
                 old format is gone … The notes say why.",
            ),
            (
                "Now I see the pattern. The generic names are used by the parser, and the names of `agent` by its hooks: \
                 1. To register; 2. To install",
                100,
                "The generic names are used by the parser, and the names of `agent` by its hooks: 1. To register …",
            ),
            // A sentence that does not fit is cut at the end of a clause, or another sentence is shown instead.
            (diagnosis, 60, "So the fix for the cache was a misdiagnosis. …"),
            (
                &diagnosis["So the fix for the cache was a misdiagnosis. ".len()..],
                110,
                "The actual issue was: a developer on `main` with `auto-commit` is skipped without a word …",
            ),
        ] {
            assert_eq!(sentences_about(text, max, ""), expected, "{text}");
        }
    }

    #[test]
    fn work_that_was_still_to_do_is_left_out_visibly() {
        let text = "HALF is in. I will add THIRD. TEN is as it was. Remaining: 1. Docs. 2. Tests.";
        assert_eq!(without_sentences_about_open_work(text, false), "HALF is in. … TEN is as it was.");
        assert_eq!(without_sentences_about_open_work("I’ll add THIRD.", false), "I’ll add THIRD.");
        assert_eq!(
            without_sentences_about_open_work("HALF is in. TEN is gone.", false),
            "HALF is in. TEN is gone."
        );
    }

    #[test]
    fn a_failing_test_is_left_out_once_checks_pass() {
        let failing = "HALF is in but its test fails: it is two. Still open: THIRD.";
        for (text, have_passed, left) in [
            (failing, false, "HALF is in but its test fails: it is two."),
            (failing, true, ""),
            ("TEN is in. Two tests fail.", true, "TEN is in."),
            ("The new test fails without the fix.", true, "The new test fails without the fix."),
        ] {
            assert_eq!(without_sentences_about_open_work(text, have_passed), left, "{text}");
        }
    }

    #[test]
    fn an_answered_question_is_left_out() {
        let text = "The cause is `skip()`. Options: 1. Change it. 2. Leave it. Which do you prefer?";
        assert_eq!(without_answered_question(text, "Which do you prefer?"), "The cause is `skip()`.");
        assert_eq!(without_answered_question(text, ""), text);
        assert_eq!(without_answered_question("Want me to push it?", "Want me to push it?"), "");
    }

    #[test]
    fn the_cause_is_kept() {
        let text = "I looked at the reader and at its callers. They fall into three groups. The test fails because `skip()` \
                    eats the comment. The rest is as it was before the change.";
        assert_eq!(sentences_about(text, 70, ""), "The test fails because `skip()` eats the comment. …");
        // A list and its introduction are either both kept or both left out. Here they are left out, and the
        // conclusion is kept.
        let list = "It takes another path: Reads the first one; Writes only one of them; Keeps the rest as it is for later. So \
                    `resume` has the same problem.";
        assert_eq!(sentences_about(list, 60, ""), "So `resume` has the same problem.");
        let first = "The cause is `skip()`: it eats the comment. The rest is as it was. Nothing else was changed here.";
        assert_eq!(sentences_about(first, 72, ""), first_sentences(first, 72));
    }
}
