//! Distinguishes limits that apply to all later work from descriptions of a single mistake.

use super::{first_words_in_lower_case, without_opening_words};

/// Returns whether a sentence without a verb limits how the work may be done, such as "Integers only: no float, no
/// Decimal." or "No new dependencies."
pub(super) fn states_limit(sentence: &str) -> bool {
    const MAX_LIMIT_WORDS: usize = 12;
    /// If one of these words follows "no", the sentence is an answer or a remark.
    const REMARK_WORDS: &[&str] = &[
        "a", "but", "clue", "doubt", "error", "errors", "go", "hurry", "i", "idea", "it", "just", "longer",
        "luck", "matter", "more", "need", "no", "not", "one", "problem", "rush", "thank", "thanks", "that",
        "the", "there", "they", "this", "time", "way", "we", "wonder", "worries", "you",
    ];
    /// Words that show that the sentence is a statement.
    const VERBS: &[&str] = &["are", "did", "does", "has", "have", "is", "was", "were", "works"];
    /// Words that show that the sentence reports what the user saw, as in "No output when I run it."
    const REPORT_WORDS: &[&str] =
        &["anymore", "fail", "failed", "failing", "fails", "failure", "failures", "when", "yet"];
    const REPORT_PHRASES: &[[&str; 2]] = &[["any", "more"], ["so", "far"], ["this", "time"]];
    let words = first_words_in_lower_case(sentence, MAX_LIMIT_WORDS + 1);
    let is_statement =
        words.iter().map(String::as_str).any(|word| VERBS.contains(&word) || REPORT_WORDS.contains(&word))
            || words.windows(2).any(|pair| REPORT_PHRASES.iter().any(|phrase| pair == phrase));
    if words.len() > MAX_LIMIT_WORDS || is_statement {
        return false;
    }
    let small = sentence.trim().to_lowercase();
    let forbids = |part: &str| {
        let second = part.strip_prefix("no ").and_then(|rest| rest.split_whitespace().next());
        second.is_some_and(|word| !REMARK_WORDS.contains(&word.trim_matches(|c: char| !c.is_alphanumeric())))
    };
    forbids(&small) || small.split_once("only: ").is_some_and(|(_, rest)| forbids(rest))
}

/// Returns whether a sentence reports a wrong result and the right one, as in "parse('1') returns 2; it must be 1".
/// Once the result is fixed, the sentence does not limit later work. In contrast, "The API is frozen; it must not
/// change" does.
pub(super) fn reports_wrong_result(sentence: &str) -> bool {
    const RESULT_VERBS: &[&str] = &[
        "counts", "crashes", "displays", "fails", "gives", "outputs", "prints", "produces", "raises",
        "reads", "reports", "returns", "says", "shows", "throws", "yields",
    ];
    /// Words that report a result if they follow "is". A number after "is" also reports a result.
    const RESULTS: &[&str] = &[
        "broken",
        "empty",
        "false",
        "incorrect",
        "missing",
        "nan",
        "negative",
        "nil",
        "none",
        "null",
        "off",
        "too",
        "true",
        "undefined",
        "wrong",
        "zero",
    ];
    /// A requirement in which one of these follows "must" applies to all later work.
    const LASTING_WISHES: &[&str] =
        &["always ", "continue ", "keep ", "never ", "not change", "remain ", "stay "];
    let small = sentence.to_lowercase();
    let wanted =
        ["; it must ", ", it must ", " but it must ", ", but must ", "; must ", " – it must ", " — it must "];
    let places = wanted.iter().filter_map(|words| small.find(words).map(|at| (at, at + words.len())));
    let Some((at, end)) = places.min() else { return false };
    if LASTING_WISHES.iter().any(|words| small[end..].starts_with(words)) {
        return false;
    }
    let words = first_words_in_lower_case(&small[..at], 60);
    let is_value = |word: &String| {
        RESULTS.contains(&word.as_str())
            || word.starts_with('\'')
            || word.contains(|c: char| c.is_ascii_digit())
    };
    words.iter().any(|word| RESULT_VERBS.contains(&word.as_str()))
        || words.windows(2).any(|pair| pair[0] == "is" && is_value(&pair[1]))
}

/// Returns whether an instruction remains valid after its message is answered.
pub(super) fn is_lasting_instruction(wish: &str) -> bool {
    let words = first_words_in_lower_case(without_opening_words(wish), MAX_WORDS_EXAMINED);
    // "Do not change a.py" and "must be from 1 to 90" describe the result rather than a single step.
    let names_file = wish.split_whitespace().any(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/');
        word.contains('/')
            || word.rsplit_once('.').is_some_and(|(stem, ending)| !stem.is_empty() && ending.len() >= 2)
    });
    is_about_project(wish, &words)
        || words.iter().any(|word| word == "must") && !states_guess(&words)
        || forbids(&words) && (names_file || forbids_change_of_part(&words))
        || demands_property(&words)
}

/// Returns whether an instruction reads as a rule for all work in the project, such as "Never use floats" or "No new
/// dependencies". In contrast, "Don't touch src/level.rs" and "It must accept an empty list" are about one task. Such
/// an instruction no longer applies once the task is done.
pub fn outlives_task(wish: &str) -> bool {
    is_about_project(wish, &first_words_in_lower_case(without_opening_words(wish), MAX_WORDS_EXAMINED))
}

const MAX_WORDS_EXAMINED: usize = 60;

fn is_about_project(wish: &str, words: &[String]) -> bool {
    /// Words that show that the instruction is about every step.
    const GENERAL_WORDS: [&str; 9] = [
        "directive",
        "from now on",
        "going forward",
        "in general",
        "in this project",
        "in this repo",
        "spelling",
        "convention",
        "every time",
    ];
    let has = |word: &str| words.iter().any(|known| known == word);
    let has_any = |list: &[&str]| list.iter().any(|word| has(word));
    let about_git = has_any(&["commit", "commits", "amend", "push", "force", "rebase", "branch", "pr"]);
    let about_dependencies =
        has_any(&["dependency", "dependencies", "package", "packages", "library", "libraries"]);
    let small = wish.to_lowercase();
    has("always")
        || has("never") && !words.windows(2).any(|pair| pair == ["never", "mind"])
        || GENERAL_WORDS.iter().any(|words| small.contains(words))
        || states_limit(wish)
        || (has("don't") || has("not")) && about_git
        || forbids(words) && (about_dependencies || forbids_every_renaming(words))
        || demands_property(words) && has("dependency-free")
}

/// Returns whether an instruction begins with "don't" or "do not".
fn forbids(words: &[String]) -> bool {
    matches!(words, [first, ..] if first == "don't" || first == "dont")
        || matches!(words, [first, rest @ ..] if first == "do" && rest.iter().any(|word| word == "not" || word == "don't" || word == "dont"))
}

/// Returns whether a sentence with "must" is a guess at a cause, as in "It must be the cache" or "There must be a race".
fn states_guess(words: &[String]) -> bool {
    let Some(must) = words.iter().position(|word| word == "must") else { return false };
    let word_at = |at: usize| words.get(at).map_or("", String::as_str);
    match must.checked_sub(1).map(word_at) {
        Some("there") => true,
        Some("it" | "this" | "that") => {
            matches!(word_at(must + 1), "be" | "have")
                && matches!(word_at(must + 2), "been" | "because" | "due" | "some" | "something" | "the")
        }
        _ => false,
    }
}

pub(super) const CHANGING_VERBS: &[&str] =
    &["alter", "break", "change", "delete", "edit", "modify", "move", "remove", "rename", "rewrite", "touch"];

pub(super) const ARTICLES: &[&str] = &["a", "an", "any", "my", "our", "the"];

/// Returns whether a prohibition protects a part of the code, as in "Don't touch the public signature of parse". In
/// contrast, "don't change it yet" is about a single step.
fn forbids_change_of_part(words: &[String]) -> bool {
    /// Objects that do not name a particular part of the code.
    const VAGUE_OBJECTS: &[&str] =
        &["anything", "code", "everything", "it", "that", "them", "these", "this", "those"];
    /// Words that limit the prohibition to a period of time.
    const TIME_WORDS: &[&str] = &["again", "before", "now", "today", "until", "while", "yet"];
    let is_of = |list: &[&str], word: &String| list.contains(&word.as_str());
    let Some(verb) = words.iter().take(4).position(|word| is_of(CHANGING_VERBS, word)) else { return false };
    let object = words[verb + 1..].iter().find(|word| !is_of(ARTICLES, word));
    object.is_some_and(|object| !is_of(VAGUE_OBJECTS, object))
        && !words.iter().any(|word| is_of(TIME_WORDS, word))
}

/// Returns whether a prohibition is about every name, as in "Do not rename anything". In contrast, "Don't rename anything
/// else" and "Don't rename anything in parse" are about one task.
fn forbids_every_renaming(words: &[String]) -> bool {
    let verb = words.iter().take(4).position(|word| word == "rename");
    verb.is_some_and(|verb| {
        words[verb + 1..].iter().eq(["anything"]) || words[verb + 1..].iter().eq(["things"])
    })
}

/// Returns whether a sentence demands a property that the result must not lose, as in "Keep it dependency-free" or "Keep
/// the API stable".
fn demands_property(words: &[String]) -> bool {
    const PROPERTIES: &[&str] =
        &["compatible", "intact", "minimal", "pure", "stable", "unchanged", "untouched"];
    /// What other code relies on.
    const PROMISED_PARTS: &[&str] = &["api", "compatibility", "interface", "signature", "signatures"];
    let is_property = |word: &String| {
        word.ends_with("-free")
            || word.ends_with("-only")
            || PROPERTIES.contains(&word.as_str())
            || PROMISED_PARTS.contains(&word.as_str())
    };
    words.first().is_some_and(|first| first == "keep") && words.iter().any(is_property)
}

#[cfg(test)]
mod tests {
    use super::super::{instruction_sentences, lasting_parts};

    #[test]
    fn a_rule_about_a_task_ends_with_it() {
        for (wish, expected) in [
            ("Don't touch src/level.rs.", false),
            ("Do not change the public signature of parse.", false),
            ("Keep the API stable.", false),
            ("It must accept an empty list.", false),
            ("Never touch src/level.rs.", true),
            ("Always run the tests first.", true),
            ("From now on, don't edit src/level.rs.", true),
            ("Don't edit generated files in this project.", true),
            ("Do not add dependencies, and keep parseCsv's signature.", true),
            ("Keep it dependency-free.", true),
            ("No new dependencies.", true),
            ("Integers only: no float, no Decimal.", true),
            ("Don't push without asking me.", true),
            ("Do not rename anything.", true),
            ("Please don't rename things.", true),
            ("Don't rename anything else.", false),
            ("Don't rename anything in parse.", false),
            ("Do not rename the options.", false),
        ] {
            assert_eq!(super::outlives_task(wish), expected, "{wish}");
        }
    }

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
            (
                "The public API is frozen; it must not change.",
                "The public API is frozen; it must not change.",
            ),
            (
                "The format is versioned; it must stay compatible.",
                "The format is versioned; it must stay compatible.",
            ),
            ("The tool prints JSON; it must always do so.", "The tool prints JSON; it must always do so."),
            ("The total is wrong; it must be 4.", ""),
            ("mean() crashes on an empty list; it must not crash.", ""),
            ("No problem at all, thanks.", ""),
            ("No idea why. Look at the log.", ""),
            ("No tests were harmed so far.", ""),
            ("No need to push this one.", ""),
            ("No output when I run it.", ""),
            ("No tests fail any more.", ""),
            ("No tests failed this time.", ""),
            ("No answer from the server yet.", ""),
            ("No crash so far.", ""),
            ("No output anymore.", ""),
            ("No floats in the core, no panics.", "No floats in the core, no panics."),
            ("No changes in tests/.", "No changes in tests/."),
            (
                "Go on. Don't touch the public signature of parse.",
                "Don't touch the public signature of parse.",
            ),
            ("Please don't rename the options.", "Please don't rename the options."),
            ("Don't change it yet.", ""),
            ("Don't touch anything, just explain.", ""),
            ("Don't remove the log now, I need it.", ""),
            ("Add quotes. Keep it dependency-free. Write the tests first.", "Keep it dependency-free."),
            ("Please keep the API stable.", "Please keep the API stable."),
            ("Keep going until it is green.", ""),
            // A message that asks something may also state a rule.
            (
                "Yes, commit. And please never add a bin script, we ship a library only. What about two.js?",
                "And please never add a bin script, we ship a library only.",
            ),
            ("What about two.js? It must be a constant.", "It must be a constant."),
            ("Why is it so slow? It must be the cache.", ""),
            ("There must be a race in the queue. Why does it hang?", ""),
            ("It must have been the old build. Why does it hang?", ""),
            ("Oh, never mind the tests.", ""),
            ("Why does it fail? It should print 3. I did not change it.", ""),
            ("How do I make sure that we never leak a token?", ""),
            ("why do you always rewrite the whole file", ""),
            ("go ahead. And never print to the console.", "And never print to the console."),
        ] {
            assert_eq!(lasting(text), expected, "{text}");
        }
    }
}
