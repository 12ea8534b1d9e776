//! Decides whether the user takes back a rule for the whole project.

use super::lifted::forbidden_git_step;
use super::limits::{ARTICLES, CHANGING_VERBS};
use super::{
    MIN_PASTE_BYTES, first_words_in_lower_case, is_pasted_report, split_clauses, without_opening_words,
};
use crate::text::split_into_sentences;

const MAX_WORDS_EXAMINED: usize = 60;

/// Returns whether a later message says that a rule no longer holds, as "pushing is fine now" says about "never push".
/// An order such as "push this" is obeyed once and takes nothing back. A rule that is lost harms more than a rule that is
/// told too long, so the message must name the rule's subject and must use one of a few clear forms.
pub fn takes_back_rule(rule: &str, later: &str) -> bool {
    if later.len() >= MIN_PASTE_BYTES || is_pasted_report(later) {
        return false;
    }
    let subject = SubjectOfRule::of_rule(rule);
    let sentences = split_into_sentences(later).filter(|sentence| !sentence.ends_with('?'));
    let mut parts = sentences.flat_map(|sentence| [sentence].into_iter().chain(split_clauses(sentence)));
    parts.any(|part| {
        let words = first_words_in_lower_case(without_opening_words(part), MAX_WORDS_EXAMINED);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        !has_condition(&words)
            && (forgets_rule(&words, &subject)
                || gives_permission(&words, &subject)
                || calls_subject_fine(&words, &subject)
                || stops_habit(&words, &subject))
    })
}

/// Returns whether an instruction is only about the present, as "Don't commit yet" is. Nobody takes such an instruction
/// back, because it ends by itself.
pub fn is_only_for_now(wish: &str) -> bool {
    let words = first_words_in_lower_case(wish, MAX_WORDS_EXAMINED);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    [
        &["yet"][..],
        &["today"],
        &["for", "now"],
        &["right", "now"],
        &["this", "time"],
        &["for", "the", "moment"],
    ]
    .iter()
    .any(|phrase| has_phrase(&words, phrase))
}

/// The words that say what a rule is about, without their endings.
struct SubjectOfRule {
    /// In the order of the rule. If the rule forbids a git step, that step is first.
    stems: Vec<String>,
    is_git_step: bool,
    /// Whether the rule tells the agent to ask first.
    is_about_asking: bool,
    is_prohibition: bool,
}

impl SubjectOfRule {
    fn of_rule(rule: &str) -> SubjectOfRule {
        const GENERAL_WORDS: &[&str] = &[
            "add",
            "adding",
            "all",
            "always",
            "and",
            "as",
            "at",
            "be",
            "before",
            "by",
            "create",
            "do",
            "don't",
            "dont",
            "every",
            "for",
            "from",
            "general",
            "going",
            "forward",
            "i",
            "in",
            "install",
            "introduce",
            "is",
            "it",
            "keep",
            "make",
            "me",
            "must",
            "never",
            "new",
            "no",
            "not",
            "now",
            "of",
            "on",
            "or",
            "please",
            "project",
            "repo",
            "run",
            "should",
            "that",
            "this",
            "to",
            "use",
            "using",
            "we",
            "when",
            "with",
            "without",
            "you",
        ];
        let words = first_words_in_lower_case(rule, MAX_WORDS_EXAMINED);
        let step = forbidden_git_step(rule);
        let telling = words.iter().map(String::as_str).filter(|word| {
            !GENERAL_WORDS.contains(word) && !ARTICLES.contains(word) && !CHANGING_VERBS.contains(word)
        });
        let mut stems: Vec<String> = Vec::new();
        for stem in step.into_iter().chain(telling).map(stem_of) {
            if !stems.contains(&stem) {
                stems.push(stem);
            }
        }
        SubjectOfRule {
            is_about_asking: stems.iter().any(|stem| stem == "ask"),
            is_git_step: step.is_some(),
            is_prohibition: words.iter().any(|word| PROHIBITING_WORDS.contains(&word.as_str())),
            stems,
        }
    }

    fn contains(&self, word: &str) -> bool {
        self.stems.contains(&stem_of(word))
    }

    /// Returns whether these words name the subject clearly: the first word of it, and a second one if there are several.
    fn is_named_by(&self, words: &[&str]) -> bool {
        let is_named = |stem: &String| words.iter().any(|word| stem_of(word) == *stem);
        let named = self.stems.iter().filter(|stem| is_named(stem)).count();
        let wanted = if self.is_git_step { 1 } else { self.stems.len().min(2) };
        self.stems.first().is_some_and(is_named) && named >= wanted
    }

    /// Returns whether words such as "pushing to main" say nothing beyond the rule's subject. "The push button" and
    /// "pushing to staging" do, if the rule is "never push".
    fn is_all_of(&self, words: &[&str]) -> bool {
        const WORDS_BETWEEN: &[&str] =
            &["a", "add", "adding", "an", "and", "any", "for", "in", "new", "of", "to", "using", "without"];
        self.is_named_by(words)
            && words.iter().all(|word| WORDS_BETWEEN.contains(word) || self.contains(word))
    }
}

const PROHIBITING_WORDS: [&str; 6] = ["not", "don't", "dont", "never", "without", "no"];

/// Phrases that say that something holds for all later work.
const LASTING_PHRASES: &[&[&str]] = &[
    &["from", "now", "on"],
    &["going", "forward"],
    &["in", "future"],
    &["in", "the", "future"],
    &["in", "general"],
    &["whenever", "you", "like"],
];

/// Returns whether a statement is only about some case, or is not the user's own statement. "You may push from now on if
/// the tests pass" keeps a part of the rule, and which part is unclear.
fn has_condition(words: &[&str]) -> bool {
    const CONDITIONS: &[&str] = &[
        "after", "except", "explain", "if", "once", "only", "outside", "should", "that", "though", "today",
        "unless", "until", "when", "whether", "while", "why",
    ];
    let own = words.iter().position(|word| is_rule_word(word)).unwrap_or(0);
    let is_condition = |(at, word): (usize, &&str)| {
        // "Forget that rule" points at the rule.
        CONDITIONS.contains(word) && !(*word == "that" && at + 1 == own)
    };
    words.iter().enumerate().any(is_condition) || has_phrase(words, &["this", "time"])
}

fn is_rule_word(word: &str) -> bool {
    matches!(word, "rule" | "rules" | "ban" | "restriction" | "prohibition" | "instruction")
}

/// "Forget the rule about dependencies", "the rule about dependencies no longer applies".
fn forgets_rule(words: &[&str], subject: &SubjectOfRule) -> bool {
    const ABOUT: &[&str] = &["about", "against", "on", "for", "not"];
    const ENDS: &[&[&str]] = &[
        &["no", "longer", "applies"],
        &["no", "longer", "holds"],
        &["no", "longer", "counts"],
        &["doesn't", "apply", "anymore"],
        &["doesn't", "hold", "anymore"],
        &["does", "not", "apply", "anymore"],
        &["is", "lifted"],
        &["is", "off"],
        &["is", "over"],
        &["is", "gone"],
    ];
    let Some(rule) = words.iter().position(|word| is_rule_word(word)) else { return false };
    let begins = matches!(words[0], "forget" | "drop" | "ignore" | "lift" | "cancel" | "scrap" | "withdraw")
        || words.starts_with(&["i", "lift"])
        || words.starts_with(&["i", "withdraw"])
        || words.starts_with(&["i", "take", "back"]);
    let named = &words[rule + 1..];
    let is_about = named.first().is_some_and(|word| ABOUT.contains(word));
    // The user may describe a rule by any of its words here, because the message says that a rule is meant.
    let names_subject = named.iter().any(|word| subject.contains(word));
    let ends = ENDS.iter().any(|end| words.ends_with(end)) && rule <= 2;
    is_about && names_subject && (begins && rule <= 4 || ends)
}

/// "You may push from now on", "from now on you can add dependencies".
fn gives_permission(words: &[&str], subject: &SubjectOfRule) -> bool {
    const PERMISSIONS: &[&[&str]] = &[
        &["you", "may"],
        &["you", "can"],
        &["you're", "allowed", "to"],
        &["you", "are", "allowed", "to"],
        &["you", "are", "free", "to"],
        &["feel", "free", "to"],
    ];
    let lasting = LASTING_PHRASES.iter().filter(|phrase| has_phrase(words, phrase));
    let Some(lasting) = lasting.max_by_key(|phrase| phrase.len()) else { return false };
    let mut rest = without_phrase(words, lasting);
    let Some(permission) = PERMISSIONS.iter().find(|phrase| rest.starts_with(phrase)) else { return false };
    rest.drain(..permission.len());
    // "You may not push from now on" and "you can no longer push" forbid it.
    let forbids = rest.iter().any(|word| matches!(*word, "not" | "never" | "no" | "don't" | "dont" | "stop"));
    subject.is_prohibition && !forbids && subject.is_named_by(&rest)
}

/// "Pushing is fine now", "new dependencies are allowed from now on".
fn calls_subject_fine(words: &[&str], subject: &SubjectOfRule) -> bool {
    let Some(verb) = words.iter().position(|word| matches!(*word, "is" | "are")) else { return false };
    let end = &words[verb + 1..];
    let end = match end {
        ["now", rest @ ..] | ["no", "longer", rest @ ..] => rest,
        rest => rest,
    };
    let is_now = words[verb + 1..].contains(&"now") || LASTING_PHRASES.iter().any(|p| words.ends_with(p));
    let is_no_longer = words[verb + 1..].starts_with(&["no", "longer"]);
    let says_fine = match end.first() {
        Some(&("fine" | "ok" | "okay" | "allowed" | "permitted" | "welcome")) => is_now && !is_no_longer,
        Some(&("forbidden" | "prohibited" | "banned" | "off-limits")) => is_no_longer,
        _ => false,
    };
    // Further words may narrow the permission: "pushing is fine now for docs".
    let tail = end.get(1..).unwrap_or_default();
    let has_no_more = tail.is_empty() || tail == ["now"] || LASTING_PHRASES.contains(&tail);
    subject.is_prohibition && says_fine && has_no_more && subject.is_all_of(&words[..verb])
}

/// "Stop asking", "no need to run the tests anymore", "you no longer have to ask before a commit".
fn stops_habit(words: &[&str], subject: &SubjectOfRule) -> bool {
    const NO_NEED: &[&[&str]] =
        &[&["you", "no", "longer", "have", "to"], &["you", "no", "longer", "need", "to"], &["no", "longer"]];
    const NO_NEED_ANYMORE: &[&[&str]] = &[
        &["no", "need", "to"],
        &["there's", "no", "need", "to"],
        &["you", "don't", "have", "to"],
        &["you", "don't", "need", "to"],
        &["you", "do", "not", "have", "to"],
        &["you", "do", "not", "need", "to"],
        &["don't"],
    ];
    let lasting = LASTING_PHRASES.iter().find(|phrase| has_phrase(words, phrase));
    let words = lasting.map_or_else(|| words.to_vec(), |phrase| without_phrase(words, phrase));
    let ends_now = lasting.is_some()
        || words.last() == Some(&"anymore")
        || words.ends_with(&["any", "more"])
        || words.ends_with(&["any", "longer"]);
    let rest = |phrases: &[&[&str]]| -> Option<Vec<&str>> {
        let phrase = phrases.iter().find(|phrase| words.starts_with(phrase))?;
        Some(words[phrase.len()..].to_vec())
    };
    let stopped =
        rest(&[&["stop"]]).or_else(|| rest(NO_NEED)).or_else(|| rest(NO_NEED_ANYMORE).filter(|_| ends_now));
    let Some(stopped) = stopped else { return false };
    let begins_with_ask = stopped.first().is_some_and(|word| stem_of(word) == "ask");
    match subject.is_about_asking {
        // "Stop asking about the colour" is about another question.
        true => begins_with_ask && !stopped.contains(&"about"),
        // "Stop pushing" repeats "never push".
        false => !subject.is_prohibition && subject.is_named_by(&stopped),
    }
}

fn has_phrase(words: &[&str], phrase: &[&str]) -> bool {
    words.windows(phrase.len()).any(|window| window == phrase)
}

fn without_phrase<'w>(words: &[&'w str], phrase: &[&str]) -> Vec<&'w str> {
    match words.windows(phrase.len()).position(|window| window == phrase) {
        Some(at) => [&words[..at], &words[at + phrase.len()..]].concat(),
        None => words.to_vec(),
    }
}

/// Returns a word without its ending, so that "pushing" and "pushes" are the same word as "push".
fn stem_of(word: &str) -> String {
    const MIN_STEM_BYTES: usize = 3;
    let endings = [
        ("encies", "enc"),
        ("ency", "enc"),
        ("ies", ""),
        ("y", ""),
        ("ing", ""),
        ("ed", ""),
        ("es", ""),
        ("s", ""),
        ("e", ""),
    ];
    let cut = endings.iter().find_map(|(ending, kept)| {
        let stem = word.strip_suffix(ending).filter(|stem| stem.len() >= MIN_STEM_BYTES)?;
        Some(format!("{stem}{kept}"))
    });
    let mut stem = cut.unwrap_or_else(|| word.to_owned());
    // "Committing" has a consonant more than "commit".
    let last_two: Vec<char> = stem.chars().rev().take(2).collect();
    if let [last, before] = last_two[..]
        && last == before
        && last.is_alphabetic()
        && stem.len() > MIN_STEM_BYTES
    {
        stem.pop();
    }
    stem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_message_that_clearly_takes_a_rule_back_lifts_it() {
        const PUSH: &str = "Never push.";
        const COMMIT: &str = "Do not commit without asking.";
        const DEPENDENCIES: &str = "Please do not add any dependencies.";
        const FLOATS: &str = "Never use floats for money.";
        const ASK: &str = "Always ask before you change the schema.";
        const TESTS: &str = "Always run the tests before a commit.";
        for (rule, later, expected) in [
            (PUSH, "you may push from now on", true),
            (PUSH, "Thanks. Now set x to 2. From now on you can push.", true),
            (PUSH, "From now on, you may push.", true),
            (PUSH, "Pushing is fine now.", true),
            (PUSH, "Pushing is no longer forbidden.", true),
            (PUSH, "Forget the rule about pushing.", true),
            (PUSH, "The rule about pushing no longer applies.", true),
            (COMMIT, "You may commit without asking from now on.", true),
            (COMMIT, "Stop asking before commits.", true),
            (COMMIT, "no need to ask anymore", true),
            (DEPENDENCIES, "From now on you can add dependencies.", true),
            (DEPENDENCIES, "Forget the rule about dependencies.", true),
            (DEPENDENCIES, "New dependencies are fine now.", true),
            (FLOATS, "You may use floats for money from now on.", true),
            (FLOATS, "forget the rule about floats", true),
            (ASK, "Stop asking.", true),
            (ASK, "You no longer have to ask before you change the schema.", true),
            (TESTS, "You no longer need to run the tests before a commit.", true),
            // Orders for one time.
            (PUSH, "push this", false),
            (PUSH, "push this one", false),
            (PUSH, "Commit and push.", false),
            (PUSH, "You can push now.", false),
            (PUSH, "you may push this time", false),
            (COMMIT, "commit it", false),
            (DEPENDENCIES, "Add the dependency serde.", false),
            // The word has another meaning, or the message says something else about it.
            (COMMIT, "Explain commit 1a2b3c4", false),
            (PUSH, "the push button is too small", false),
            (PUSH, "The push button is fine now.", false),
            (PUSH, "The push is fine now.", false),
            (PUSH, "May I push from now on?", false),
            (PUSH, "Explain why pushing is fine now.", false),
            (PUSH, "You may not push from now on.", false),
            (PUSH, "You can no longer push.", false),
            (PUSH, "Pushing is no longer allowed.", false),
            (PUSH, "Stop pushing!", false),
            (PUSH, "Don't push anymore.", false),
            (PUSH, "No longer push.", false),
            (PUSH, "From now on never push.", false),
            (PUSH, "You may push from now on if the tests pass.", false),
            (PUSH, "Pushing to staging is fine now.", false),
            (PUSH, "Pushing is fine now for docs.", false),
            (PUSH, "Forget the rule about dependencies.", false),
            (PUSH, "From now on you can add dependencies.", false),
            (PUSH, "The login no longer works, push a fix.", false),
            (COMMIT, "You may push from now on.", false),
            (FLOATS, "You may use money from now on.", false),
            (ASK, "Stop asking about the colour.", false),
            (ASK, "Stop the server.", false),
            (TESTS, "You no longer need to skip the slow suite.", false),
            ("Never use \u{20000}.", "You may use \u{20000} from now on.", true),
        ] {
            assert_eq!(takes_back_rule(rule, later), expected, "{rule} / {later}");
        }
    }

    #[test]
    fn an_instruction_about_the_present_is_only_for_now() {
        for (wish, expected) in [
            ("Don't commit yet.", true),
            ("Don't push for now.", true),
            ("Don't commit this time.", true),
            ("Never push.", false),
            ("From now on don't commit.", false),
        ] {
            assert_eq!(is_only_for_now(wish), expected, "{wish}");
        }
    }
}
