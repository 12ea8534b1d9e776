//! Tells limits that hold for all later work from the description of one mistake.

use super::first_words_in_lower_case;

/// Returns whether a sentence limits how the work may be done without saying so in a verb, such as "Integers only: no
/// float, no Decimal." or "No new dependencies."
pub(super) fn states_limit(sentence: &str) -> bool {
    const MAX_LIMIT_WORDS: usize = 12;
    /// Words after "no" that begin an answer or a remark.
    const REMARK_WORDS: &[&str] = &[
        "a", "but", "clue", "doubt", "error", "errors", "go", "hurry", "i", "idea", "it", "just", "longer",
        "luck", "matter", "more", "need", "no", "not", "one", "problem", "rush", "thank", "thanks", "that",
        "the", "there", "they", "this", "time", "way", "we", "wonder", "worries", "you",
    ];
    /// Words that make the sentence a statement.
    const VERBS: &[&str] = &["are", "did", "does", "has", "have", "is", "was", "were", "works"];
    let words = first_words_in_lower_case(sentence, MAX_LIMIT_WORDS + 1);
    let has_verb = words.iter().any(|word| VERBS.contains(&word.as_str()));
    if words.len() > MAX_LIMIT_WORDS || has_verb {
        return false;
    }
    let small = sentence.trim().to_lowercase();
    let forbids = |part: &str| {
        let second = part.strip_prefix("no ").and_then(|rest| rest.split_whitespace().next());
        second.is_some_and(|word| !REMARK_WORDS.contains(&word.trim_matches(|c: char| !c.is_alphanumeric())))
    };
    forbids(&small) || small.split_once("only: ").is_some_and(|(_, rest)| forbids(rest))
}

/// Returns whether a sentence reports a wrong result and the right one, as in "parse('1') returns 2; it must be 1". Once
/// that is mended, the sentence is no rule for later work.
pub(super) fn reports_wrong_result(sentence: &str) -> bool {
    const RESULT_VERBS: &[&str] = &[
        "counts", "crashes", "displays", "fails", "gives", "is", "outputs", "prints", "produces", "raises",
        "reads", "reports", "returns", "says", "shows", "throws", "yields",
    ];
    let small = sentence.to_lowercase();
    let wanted =
        ["; it must ", ", it must ", " but it must ", ", but must ", "; must ", " – it must ", " — it must "];
    let Some(at) = wanted.iter().filter_map(|words| small.find(words)).min() else { return false };
    first_words_in_lower_case(&small[..at], 60).iter().any(|word| RESULT_VERBS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::super::{instruction_sentences, lasting_parts};

    #[test]
    fn a_limit_lasts_and_a_mistake_does_not() {
        let lasting = |text: &str| {
            let wishes = instruction_sentences(text).into_iter();
            wishes.flat_map(lasting_parts).map(str::to_owned).collect::<Vec<_>>().join("|")
        };
        for (text, expected) in [
            (
                "Money.parse('1.5') returns 105 cents; it must be 150. Write a test first. Integers only: no float, \
                 no Decimal. Commit when it is green.",
                "Integers only: no float, no Decimal.",
            ),
            ("The total is 3, but it must be 4. Never change tests/.", "Never change tests/."),
            ("Add the reader. No new dependencies.", "No new dependencies."),
            ("Add median; it must accept an empty list.", "Add median; it must accept an empty list."),
            ("Percentages must be integers.", "Percentages must be integers."),
            ("No problem at all, thanks.", ""),
            ("No idea why. Look at the log.", ""),
            ("No tests were harmed so far.", ""),
            ("No need to push this one.", ""),
        ] {
            assert_eq!(lasting(text), expected, "{text}");
        }
    }
}
