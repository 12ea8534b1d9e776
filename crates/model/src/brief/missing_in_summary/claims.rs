//! Finds what a harness's summary claims: that checks pass, that work is not committed, or that something was done.

use super::super::effects::contains_file_name;
use super::super::paths::{PathEndings, path_endings};
use crate::content::{SearchableText, meaningful_words, normalise_text};
use crate::effect::{Effect, EffectKind};
use crate::run::CommandKind;

/// A line describes a commit if it contains at least this percentage of the words in the commit's subject.
const MIN_SUBJECT_WORDS_PERCENT: usize = 60;

/// Phrases that say that work is not committed, or that committing it is left to the user.
const UNCOMMITTED_PHRASES: &[&str] = &[
    "not committed",
    "not yet committed",
    "not been committed",
    "nothing committed",
    "nothing has been committed",
    "nothing is committed",
    "not asked for a commit",
    "not asked to commit",
    "not requested a commit",
    "wants a commit",
    "want a commit",
    "want to commit",
    "wants to commit",
];

/// Phrases that announce a commit. In a request that the summary only reports, they say nothing about the work now.
const COMMIT_PLAN_PHRASES: &[&str] = &[
    "ready to commit",
    "ready to be committed",
    "needs to be committed",
    "need to be committed",
    "needs committing",
    "without committing",
    "then commit",
    "and commit",
    "changes to commit",
];

/// Words of a line that reports a request or finished work. A commit that such a line mentions may have been made.
const PAST_WORDS: &[&str] =
    &["asked", "requested", "told", "instructed", "wanted", "done", "completed", "✅", "✓", "[x]"];

/// Words of a clause about something that happened, or whose cause is looked for.
const EVENT_WORDS: &[&str] = &["was", "were", "why", "had"];

/// Words that can also describe what a program does, as in "lists uncommitted files" and "no commit hooks". They count
/// only in a clause about the present state of this work.
const AMBIGUOUS_UNCOMMITTED_WORDS: &[&str] = &["uncommitted", "unstaged", "no commit"];

/// Nouns after "uncommitted" that stand for the work in the checkout.
const UNCOMMITTED_NOUNS: &[&str] = &[
    "changes",
    "change",
    "files",
    "file",
    "work",
    "edits",
    "edit",
    "modifications",
    "code",
    "fixes",
    "fix",
    "tests",
    "test",
    "additions",
    "deletions",
    "diff",
    "lines",
];

/// Words that may follow "is uncommitted". Other words after it are nouns that it describes.
const WORDS_AFTER_PREDICATE: &[&str] = &[
    "yet", "and", "so", "in", "on", "at", "since", "because", "as", "for", "by", "but", "until", "while",
    "now", "still", "here", "with", "after", "from", "locally", "though", "or", "too", "also", "to", "the",
    "this", "that", "which",
];

/// Words directly before "uncommitted" that make the clause a statement about the present.
const STATE_WORDS: &[&str] = &[
    "is",
    "are",
    "be",
    "still",
    "remain",
    "remains",
    "left",
    "stay",
    "stays",
    "currently",
    "all",
    "has",
    "have",
    "yet",
];

/// Words that turn a clause into a condition.
const CONDITION_WORDS: &[&str] = &["if", "when", "whether", "whenever", "unless", "before"];

/// Words that describe what a program does.
const DESCRIBING_WORDS: &[&str] = &[
    "warn*", "detect*", "handl*", "list*", "show*", "count*", "check*", "skip*", "includ*", "test*",
    "print*", "report*", "refus*",
];

/// Phrases that say that something is not pushed.
const UNPUSHED_PHRASES: &[&str] = &[
    "unpushed",
    "not pushed",
    "not yet pushed",
    "not been pushed",
    "and push",
    "then push",
    "to push",
    "be pushed",
];

/// Other beginnings of list items in which a commit is a pending step.
const COMMIT_STEPS: &[&str] = &["create commit", "create a commit", "create the commit", "make a commit"];

/// Words that may come before the verb of a pending step.
const WORDS_BEFORE_STEP: &[&str] =
    &["then", "finally", "and", "now", "please", "still", "to", "lastly", "afterwards"];

/// Words that make "commit" a noun if they follow it.
const WORDS_AFTER_COMMIT_AS_NOUN: &[&str] = &[
    "hook*", "message*", "history", "log", "id", "ids", "hash*", "graph", "count*", "list*", "is", "was",
    "has",
];

/// Words that make "commit" a noun if they come before it.
const WORDS_BEFORE_COMMIT_AS_NOUN: &[&str] = &[
    "the", "a", "an", "this", "that", "last", "first", "previous", "each", "every", "per", "in", "of", "at",
    "by", "new", "latest", "pre", "post", "one", "same", "git",
];

/// Words that refer to a check, with one list for each kind of check. A trailing `*` stands for any ending.
const TEST_WORDS: &[&str] = &["test*", "suite*", "spec", "specs", "checks"];
const LINT_WORDS: &[&str] = &["lint*", "clippy", "eslint", "checks", "warnings"];
const BUILD_WORDS: &[&str] = &["build*", "compil*", "checks"];

/// Words that say that a check passes.
const PASS_WORDS: &[&str] = &["pass*", "green", "clean*", "succe*", "ok", "✓", "✅"];

/// Phrases that say that a lint passes.
const LINT_PASS_PHRASES: &[&str] =
    &["0 issues", "no issues", "0 warnings", "no warnings", "fixed", "resolved"];

/// Words that turn a clause about a check into a wish, a failure or a pending step.
const NOT_YET_PASSING_WORDS: &[&str] = &[
    "not", "fail*", "should", "must", "until", "ensure", "verify", "confirm", "whether", "if", "run",
    "rerun", "pending", "need*", "before",
];

/// Phrases in lines about unfinished work.
const UNFINISHED_PHRASES: &[&str] =
    &["in progress", "in_progress", "not started", "not yet", "pending", "todo"];

/// Words that say that something has been committed or published.
const COMMITTED_WORDS: &[&str] = &["committed", "pushed", "merged", "amended"];

/// A line calls a commit's work unfinished only if it contains at least this percentage of the words in the commit's
/// subject. The subject must have at least [`MIN_UNFINISHED_SUBJECT_WORDS`] words. A line of more than
/// [`MAX_UNFINISHED_LINE_BYTES`] bytes is also about other work, so it does not count.
const MIN_UNFINISHED_WORDS_PERCENT: usize = 80;
const MIN_UNFINISHED_SUBJECT_WORDS: usize = 3;
const MAX_UNFINISHED_LINE_BYTES: usize = 200;

const FAILURE_WORDS: &[&str] = &["fail*", "error*", "broken", "undefined"];

/// Headings that harnesses request in their summaries. The headings mention errors, but they do not say that anything
/// failed.
const ERROR_HEADINGS: &[&str] = &["errors and fixes", "errors encountered", "errors"];

/// Words that say that there are no failures.
const NONE_WORDS: &[&str] = &["no", "none", "0", "without", "zero"];

/// Words that say that a failure is over.
const FIXED_WORDS: &[&str] = &["fixed", "resolved", "corrected", "repaired"];

/// The summary, prepared for searching.
pub(super) struct SummaryClaims<'s> {
    pub text: &'s str,
    pub content: SearchableText,
    /// The lines of the summary, in normalised form.
    lines: Vec<String>,
    /// The text without code and quotations, which say nothing about the state of this work.
    statements: SearchableText,
    /// The lines of the text without code and quotations, in normalised form.
    statement_lines: Vec<String>,
}

impl<'s> SummaryClaims<'s> {
    pub fn from_text(text: &'s str) -> SummaryClaims<'s> {
        let lines = text.lines().map(normalise_text).filter(|line| !line.is_empty()).collect();
        let unquoted = without_quotations(text);
        let statement_lines = unquoted.lines().map(normalise_text).collect();
        let statements = SearchableText::from_text(&unquoted);
        SummaryClaims { text, content: SearchableText::from_text(text), lines, statements, statement_lines }
    }

    pub fn names_file(&self, path: &str) -> bool {
        contains_file_name(self.text, path.rsplit('/').next().unwrap_or(path))
    }

    /// Returns whether the summary contains the path, or an ending of it that no other file of the session has.
    pub fn names_path(&self, path: &str, endings: &PathEndings) -> bool {
        let is_named = |ending: &str| endings.is_unique(ending) && contains_file_name(self.text, ending);
        path_endings(path).any(is_named)
    }

    /// Returns whether a clause says that checks of this kind pass, fail or have yet to be run. In each case, the
    /// summary reports their state.
    pub fn says_how_check_stands(&self, kind: CommandKind) -> bool {
        let words = check_words(kind);
        if words.is_empty() {
            return true;
        }
        self.clauses().any(|clause| {
            has_word(clause, words)
                && (has_word(clause, PASS_WORDS) || has_word(clause, NOT_YET_PASSING_WORDS))
        }) || kind == CommandKind::Lint
            && self.lines.iter().any(|line| {
                has_word(line, words) && LINT_PASS_PHRASES.iter().any(|words| line.contains(words))
            })
    }

    /// Returns whether the summary contains this command as a whole. `mise run test:ci` does not name `mise run test`.
    pub fn names_command(&self, command: &str) -> bool {
        let is_part_of_word = |c: char| c.is_alphanumeric() || "_-/.:=@+".contains(c);
        self.text.match_indices(command).any(|(at, _)| {
            // A full stop or a colon may end a sentence.
            let after = self.text[at + command.len()..].trim_start_matches(['.', ':']);
            !self.text[..at].ends_with(is_part_of_word) && !after.starts_with(is_part_of_word)
        })
    }

    /// Returns whether a clause says that something fails or failed.
    pub fn tells_of_failure(&self) -> bool {
        self.lines.iter().flat_map(|line| clauses_of(line)).any(tells_failure)
    }

    /// Returns whether a clause says that checks of this kind fail. A line that also says what was fixed is about the
    /// past.
    pub fn says_check_fails(&self, kind: CommandKind) -> bool {
        let words = check_words(kind);
        let lines = self.lines.iter().filter(|line| !has_word(line, FIXED_WORDS));
        lines.flat_map(|line| clauses_of(line)).any(|clause| has_word(clause, words) && tells_failure(clause))
    }

    pub fn says_uncommitted(&self) -> bool {
        UNCOMMITTED_PHRASES.iter().any(|phrase| self.statements.has_phrase(phrase))
            || self.statement_lines.iter().flat_map(|line| clauses_of(line)).any(says_work_is_uncommitted)
            || self
                .statement_lines
                .iter()
                .filter(|line| !has_word(line, PAST_WORDS))
                .any(|line| plans_commit(line))
    }

    /// Returns whether the summary says, or may say in words that are not understood here, that work is not committed.
    pub fn may_say_uncommitted(&self) -> bool {
        let may_clause_say = |clause: &str| {
            let words = words_of(clause);
            let mut at = 0..words.len();
            at.any(|at| match words[at] {
                "committing" => true,
                "commit" => {
                    let before = at.checked_sub(1).map_or("", |before| words[before]);
                    !WORDS_BEFORE_COMMIT_AS_NOUN.contains(&before) && is_verb(words.get(at + 1))
                }
                _ => false,
            })
        };
        self.says_uncommitted()
            || self.statement_lines.iter().flat_map(|line| clauses_of(line)).any(may_clause_say)
    }

    pub fn says_unpushed(&self) -> bool {
        UNPUSHED_PHRASES.iter().any(|phrase| self.content.has_phrase(phrase))
            || self.lines.iter().any(|line| is_item(line, "push "))
            || self.statement_lines.iter().any(|line| has_step(line, "push"))
    }

    /// Returns whether the summary mentions an effect by its id, its link, its number or its description. `alone` is
    /// true if the session has no other effect of the same kind.
    pub fn mentions_effect(&self, effect: &Effect, alone: bool) -> bool {
        let Effect { kind, what, id, link, .. } = effect;
        let has_id = id.len() >= 5 && self.content.has_phrase(&id.to_lowercase());
        if has_id || !link.is_empty() && self.text.contains(link.as_str()) {
            return true;
        }
        match kind {
            EffectKind::Commit | EffectKind::Amend => {
                !what.is_empty()
                    && self
                        .clauses()
                        .any(|clause| has_word(clause, COMMITTED_WORDS) && !has_word(clause, &["not"]))
                    && self.has_line_with_most_words_of(what)
                    && self.pending_phrase_about(what).is_none()
            }
            EffectKind::Push => self.says_published(),
            EffectKind::PullRequest => {
                self.names_pull_request(id) || self.says_done(&["pr", "pull"], &["created", "opened"])
            }
            EffectKind::Comment | EffectKind::Review => {
                let verbs = ["replied", "responded", "commented", "answered", "reviewed", "posted"];
                let number = what.rsplit(' ').next().filter(|id| id.len() >= 5);
                number.is_some_and(|id| self.content.has_phrase(id))
                    || alone && self.says_done(&verbs, &verbs)
                    || self.says_done(&["all", "each", "both", "every"], &verbs)
            }
            _ => !what.is_empty() && self.has_line_with_most_words_of(what),
        }
    }

    /// Returns whether the summary says that something was pushed or merged.
    pub fn says_published(&self) -> bool {
        self.says_done(&["pushed", "merged"], &["pushed", "merged"])
    }

    /// Returns whether a clause contains one of `words` and one of `verbs`, but no "not".
    fn says_done(&self, words: &[&str], verbs: &[&str]) -> bool {
        self.clauses()
            .any(|clause| has_word(clause, words) && has_word(clause, verbs) && !has_word(clause, &["not"]))
    }

    fn names_pull_request(&self, number: &str) -> bool {
        let forms = [format!("#{number}"), format!("pull/{number}"), format!("PR {number}")];
        let is_whole = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_digit());
        !number.is_empty()
            && forms.iter().any(|form| {
                self.text.match_indices(form.as_str()).any(|(at, _)| is_whole(&self.text[at + form.len()..]))
            })
    }

    /// Returns whether a single line contains most of the meaningful words of `text`.
    pub fn has_line_with_most_words_of(&self, text: &str) -> bool {
        let words = subject_words(text);
        !words.is_empty()
            && self
                .lines
                .iter()
                .any(|line| contains_percent_of_words(line, &words, MIN_SUBJECT_WORDS_PERCENT))
    }

    /// Finds a line that says that the work with this subject is not finished, and returns the phrase that says so.
    pub fn pending_phrase_about(&self, subject: &str) -> Option<&'static str> {
        let words = subject_words(subject);
        if words.len() < MIN_UNFINISHED_SUBJECT_WORDS {
            return None;
        }
        let lines = self.lines.iter().filter(|line| line.len() <= MAX_UNFINISHED_LINE_BYTES);
        let mut lines =
            lines.filter(|line| contains_percent_of_words(line, &words, MIN_UNFINISHED_WORDS_PERCENT));
        lines.find_map(|line| UNFINISHED_PHRASES.iter().find(|phrase| line.contains(*phrase)).copied())
    }

    fn clauses(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().flat_map(|line| clauses_of(line))
    }
}

/// Returns whether a normalised line announces a commit.
fn plans_commit(line: &str) -> bool {
    let text = SearchableText::from_text(line);
    COMMIT_PLAN_PHRASES.iter().any(|phrase| text.has_phrase(phrase))
        || COMMIT_STEPS.iter().any(|step| is_item(line, step))
        || has_step(line, "commit")
}

/// Returns whether a clause of the line is a step that begins with this verb, as in "Pending: run the tests, commit."
fn has_step(line: &str, verb: &str) -> bool {
    let is_step = |clause: &str| {
        let step = clause.rsplit(": ").next().unwrap_or(clause);
        let words = words_of(step);
        let mut words = words.iter().skip_while(|word| WORDS_BEFORE_STEP.contains(*word));
        words.next() == Some(&verb) && is_verb(words.next())
    };
    clauses_of(line).any(is_step)
}

/// Returns whether a line, without the mark of a list item, starts with these words.
fn is_item(line: &str, start: &str) -> bool {
    line.trim_start_matches(|c: char| !c.is_alphabetic()).starts_with(start)
}

/// Returns whether a clause says that work or a file is uncommitted now. A clause about a program that handles
/// uncommitted files does not count. If a noun follows the word "uncommitted", the clause counts only if it begins with
/// "uncommitted", or if a word such as "is" or "has" comes directly before.
fn says_work_is_uncommitted(clause: &str) -> bool {
    let word = |text: &str| text.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    AMBIGUOUS_UNCOMMITTED_WORDS.iter().any(|phrase| {
        let Some((before, after)) = crate::text::split_at_first(clause, phrase) else { return false };
        let last = before.split_whitespace().map(word).rfind(|word| !word.is_empty()).unwrap_or_default();
        let next = after.split_whitespace().map(word).find(|word| !word.is_empty()).unwrap_or_default();
        let is_heading = last.is_empty() && after.trim_start_matches(['*', '_']).starts_with(':');
        let is_about_work = UNCOMMITTED_NOUNS.contains(&next.as_str());
        // Another noun is about something else, as in "has uncommitted checkpoints".
        let is_predicate = next.is_empty() || is_about_work || WORDS_AFTER_PREDICATE.contains(&next.as_str());
        let is_stated = match *phrase {
            "no commit" => ["", "yet", "has", "have", "was", "is", "made", "so"].contains(&next.as_str()),
            _ => {
                next.is_empty()
                    || is_heading
                    || STATE_WORDS.contains(&last.as_str()) && is_predicate
                    || last.is_empty() && is_about_work
            }
        };
        // If nothing follows the phrase in its clause, the phrase is about the work, even if the clause also contains a
        // word that describes what a program does.
        is_stated
            && !has_word(clause, CONDITION_WORDS)
            && !has_word(clause, EVENT_WORDS)
            && (next.is_empty() || !has_word(clause, DESCRIBING_WORDS))
    })
}

/// Returns the words of a normalised clause. Punctuation and the number of a list item are left out.
fn words_of(clause: &str) -> Vec<&str> {
    let words = clause.split(|c: char| c.is_whitespace() || matches!(c, '/' | '-'));
    let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words
        .filter(|word| !word.is_empty())
        .skip_while(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
        .collect()
}

/// Returns whether "commit" or "push" is a verb, judging by the next word. An id makes it a noun.
fn is_verb(next: Option<&&str>) -> bool {
    next.is_none_or(|next| {
        let is_id = next.len() >= 7 && next.bytes().all(|byte| byte.is_ascii_hexdigit());
        !is_id && !has_word(next, WORDS_AFTER_COMMIT_AS_NOUN)
    })
}

/// Returns the clauses of a normalised line.
fn clauses_of(line: &str) -> impl Iterator<Item = &str> {
    let parts = line.split([',', ';', '—', '→']);
    parts.flat_map(|part| part.split(". ")).flat_map(|part| part.split(" but "))
}

/// Returns whether a clause reports a failure. A heading does not, and neither does a clause that denies failures.
fn tells_failure(clause: &str) -> bool {
    let plain = clause.trim_start_matches(|c: char| !c.is_alphabetic());
    let after_heading =
        |heading: &&str| plain.strip_prefix(*heading).filter(|rest| rest.is_empty() || rest.starts_with(':'));
    let said = ERROR_HEADINGS.iter().find_map(after_heading).unwrap_or(plain);
    has_word(said, FAILURE_WORDS) && !has_word(said, NONE_WORDS)
}

/// Returns the words for a check of this kind. There are none for a formatter or a program that is merely run.
fn check_words(kind: CommandKind) -> &'static [&'static str] {
    match kind {
        CommandKind::Test => TEST_WORDS,
        CommandKind::Lint => LINT_WORDS,
        CommandKind::Build => BUILD_WORDS,
        CommandKind::Format | CommandKind::Run => &[],
    }
}

/// Removes fenced code, and text between quotation marks or backticks on one line.
fn without_quotations(text: &str) -> String {
    let (mut kept, mut fenced) = (String::with_capacity(text.len()), false);
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            // An unpaired quotation mark or backtick quotes nothing.
            let parts: Vec<&str> = line.split(['"', '`', '“', '”']).collect();
            let is_even = parts.len() % 2 == 1;
            let parts = parts.iter().enumerate().filter(|(at, _)| !is_even || at % 2 == 0);
            parts.for_each(|(_, part)| kept.push_str(part));
        }
        kept.push('\n');
    }
    kept
}

/// Returns the meaningful words of a subject, without a prefix such as `feat(parser): `.
fn subject_words(text: &str) -> Vec<String> {
    let subject = match text.split_once(": ") {
        Some((kind, rest)) if !kind.contains(' ') => rest,
        _ => text,
    };
    meaningful_words(&normalise_text(subject)).map(str::to_owned).collect()
}

fn contains_percent_of_words(line: &str, words: &[String], percent: usize) -> bool {
    let held = words.iter().filter(|word| line.contains(word.as_str())).count();
    held * 100 >= words.len() * percent
}

/// Returns whether normalised `text` contains one of these words. A trailing `*` stands for any ending.
fn has_word(text: &str, wanted: &[&str]) -> bool {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, '/' | ':' | '.' | '-' | '_'));
    let is_wanted = |word: &str| {
        wanted.iter().any(|wanted| match wanted.strip_suffix('*') {
            Some(start) => word.starts_with(start),
            None => word == *wanted,
        })
    };
    words.into_iter().any(is_wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(kind: EffectKind, what: &str, id: &str) -> Effect {
        let (place, link, folder) = (String::new(), String::new(), String::new());
        Effect { kind, what: what.into(), place, id: id.into(), link, folder }
    }

    #[test]
    fn a_summary_says_how_checks_stand() {
        let cases = [
            ("All unit tests pass.", true, false),
            ("All tests pass and linting is clean.", true, true),
            ("Tests: green, linter: 0 issues", true, true),
            ("Fixed the two lint errors in a.rs", false, true),
            ("Then run the tests again", true, false),
            ("Added a test for the parser", false, false),
            ("", false, false),
        ];
        for (text, test, lint) in cases {
            let claims = SummaryClaims::from_text(text);
            assert_eq!(claims.says_how_check_stands(CommandKind::Test), test, "{text}");
            assert_eq!(claims.says_how_check_stands(CommandKind::Lint), lint, "{text}");
        }
    }

    #[test]
    fn a_summary_tells_of_failures() {
        let cases = [
            ("4. Errors and fixes: none.", false, false),
            ("4. **Errors and fixes:**\n  - None", false, false),
            ("## Errors and fixes", false, false),
            ("Errors: none", false, false),
            ("There were no errors and 0 tests failed.", false, false),
            ("4. Errors and fixes: the import failed; it was fixed.", true, false),
            ("4. Errors and fixes:\n - test_one failed at first; fixed.", true, false),
            ("4. Errors and fixes:\n - test_one still fails.", true, true),
            ("4. Errors and fixes: two tests fail", true, true),
            ("Errors in the parser are broken lines", true, false),
        ];
        for (text, any, test) in cases {
            let claims = SummaryClaims::from_text(text);
            assert_eq!(claims.tells_of_failure(), any, "{text}");
            assert_eq!(claims.says_check_fails(CommandKind::Test), test, "{text}");
        }
    }

    #[test]
    fn a_summary_names_a_command() {
        for (text, expected) in [
            ("Run `mise run test` first.", true),
            ("Then mise run test.", true),
            ("mise run test: passed", true),
            ("`mise run fmt && mise run test`", true),
            ("`mise run test:ci`", false),
            ("mise run tests", false),
            ("promise run test", false),
            ("Run the tests.", false),
        ] {
            assert_eq!(SummaryClaims::from_text(text).names_command("mise run test"), expected, "{text}");
        }
    }

    #[test]
    fn a_summary_says_that_work_is_not_committed() {
        let cases = [
            ("The changes are still uncommitted.", true),
            ("The user has not asked for a commit.", true),
            ("Pending:\n  - Commit the changes", true),
            ("   3. **Commit** and push", true),
            ("Nothing further, unless the user wants a commit created", true),
            ("Committed the parser as 1234567.", false),
            ("The commit hook is slow.", false),
            ("Changed the message to \"there are uncommitted changes\".", false),
            ("The user said \"commit it\"; the changes are uncommitted.", true),
            ("Prints:\n```\nuncommitted changes\n```", false),
            ("A 5\" screen. Not committed.", true),
            // The following texts with `false` mention commits, but do not say whether this session's work is
            // committed.
            ("Added a warning about uncommitted changes to the status command.", false),
            ("`status` lists uncommitted files in a new column.", false),
            ("The session ends with uncommitted changes in the fixture repository.", false),
            ("If there are uncommitted changes, rebase refuses.", false),
            ("There are no commit hooks here.", false),
            ("data.go: no more totals for uncommitted checkpoints", false),
            ("There are uncommitted changes on the branch.", true),
            ("The working tree has uncommitted changes.", true),
            ("src/a.rs: skips blank lines (uncommitted)", true),
            ("Uncommitted: src/a.rs and src/b.rs", true),
            ("All work so far remains uncommitted", true),
            ("The fixes are uncommitted in the working tree", true),
            ("The session has uncommitted checkpoints on the shadow branch.", false),
            ("These are uncommitted checkpoints, shown in gray.", false),
            ("No commit has been made.", true),
            // A commit is a pending step.
            ("4. Pending: make the quantity an int in `shop.py`, run the tests, commit.", true),
            ("Pending: write a test; run the tests; commit it", true),
            ("Next: commit three.py.", true),
            ("5. Commit", true),
            ("Run the tests. Then finally commit.", true),
            ("The parser, commit 1234567, is done.", false),
            ("Fixed the parser, commit message included.", false),
            ("Read the log, commit hooks and tags.", false),
            // These texts report a request, a finished step or an event. None says how the work stands now.
            ("6. All user messages:\n   - \"Commit the changes\"", false),
            ("The user asked me to fix the linter and commit.", false),
            ("The user asked to commit, then to fix the linter.", false),
            ("- Commit the changes ✅", false),
            ("- [x] Commit the parser", false),
            ("Commits:\n  - Commit 1234567: skip empty lines", false),
            ("The other developer's files were left uncommitted.", false),
            ("Find out why the files stay uncommitted.", false),
            ("Stopped and left changes uncommitted", true),
        ];
        for (text, expected) in cases {
            assert_eq!(SummaryClaims::from_text(text).says_uncommitted(), expected, "{text}");
        }
    }

    #[test]
    fn an_act_is_told_by_its_id_its_number_or_its_words() {
        let commit = || effect(EffectKind::Commit, "feat(parser): skip empty lines in tables", "1234567");
        let reply = || effect(EffectKind::Comment, "reply to 555001", "555002");
        let request = || effect(EffectKind::PullRequest, "Tables", "12");
        let push = || effect(EffectKind::Push, "topic", "1..2");
        let cases = [
            ("Made commit 1234567.", commit(), true),
            ("The parser now skips empty lines of tables: committed.", commit(), true),
            ("Skip empty lines in tables: in progress. Committed the rest.", commit(), false),
            ("Committed and pushed the renaming.", commit(), false),
            ("Skip empty lines in tables (done, not committed)", commit(), false),
            ("Answered comment 555001.", reply(), true),
            ("Responded to all comments on the page.", reply(), true),
            ("Has to reply to all comments.", reply(), false),
            ("Opened PR #12.", request(), true),
            ("See PR #123.", request(), false),
            ("Pushed the branch.", push(), true),
            ("It is not pushed.", push(), false),
        ];
        for (text, act, expected) in cases {
            assert_eq!(SummaryClaims::from_text(text).mentions_effect(&act, false), expected, "{text}");
        }
        assert!(SummaryClaims::from_text("Replied to the reviewer.").mentions_effect(&reply(), true));
    }
}
