//! Decides which of the agent's statements are obsolete, because of later work or because of what the user said.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::content::SearchableText;
use crate::digest::{
    AgentStatement, Digest, FileEdit, NewestRunOfCheck, RequestWithOutcome, is_file_or_folder_of,
};
use crate::prompt::{self, PromptKind};
use crate::run::RunResult;
use crate::statement;
use crate::text::{cut_to_bytes, split_into_sentences};

/// The number of newest turns that are included even if they changed nothing.
const NEWEST_TURNS_INCLUDED: usize = 2;

/// Only this many bytes at the beginning of a statement are searched for words such as "probably", which mark a
/// guess.
const MAX_BYTES_SEARCHED_FOR_GUESS: usize = 240;

/// If open work was removed from a message and fewer bytes than this are left, the rest says little, unless it names a
/// file or contains code.
const MIN_REMAINING_MESSAGE_BYTES: usize = 90;

/// Returns whether later work has made a closing message obsolete. This is the case if the message answers a question
/// or makes a proposal, and the agent has since worked on the same subject. `newer` is the number of newer conclusions
/// in the brief. If it is not 0, a guess is also obsolete.
pub fn is_overtaken_by_work(
    digest: &Digest,
    turn: &RequestWithOutcome,
    outcome: &AgentStatement,
    newer: usize,
) -> bool {
    let during = turn.prompt.record..outcome.record;
    let worked = digest.changes.iter().any(|change| during.contains(&change.record))
        || digest.effects.iter().any(|used| during.contains(&used.record));
    let is_edited_since = digest.last_file_edited_after(outcome.record).is_some();
    if is_work_abandoned_by_user(digest, outcome)
        || was_result_revised_at_once(digest, turn, outcome)
        || is_edited_since && describes_old_code(&outcome.text)
    {
        return true;
    }
    if newer == 0 {
        // The code was changed for a later prompt, so an answer about it may no longer be true.
        let later = digest.prompts.iter().find(|prompt| prompt.record > outcome.record);
        let is_changed = later.is_some_and(|prompt| digest.last_file_edited_after(prompt.record).is_some())
            && !digest.does_text_name_session_files(&outcome.text);
        let worked_on = |change: &FileEdit| {
            change.record > outcome.record && (is_changed || do_words_name_file(&outcome.text, &change.path))
        };
        let is_answer = (turn.prompt.prompt_kind() == PromptKind::Question || !worked)
            && outcome.record < digest.last_message_record;
        // The user answered the question, and the agent has edited files since.
        let is_decided =
            !outcome.closing_question.is_empty() && digest.last_file_edited_after(outcome.record).is_some();
        // A message that names a cause is still useful, because it explains the later work.
        return !statement::names_cause(&outcome.text)
            && (is_decided || is_answer && digest.changes.iter().any(worked_on));
    }
    // If the agent changed something in reply to a question, the question was really a request.
    let is_question = turn.prompt.prompt_kind() == PromptKind::Question && !worked;
    let is_talk = is_question || !outcome.closing_question.is_empty();
    let is_over = is_talk || !worked && newer >= NEWEST_TURNS_INCLUDED;
    is_over && digest.last_file_edited_after(outcome.record).is_some() || is_guessing(outcome)
}

/// Returns whether the user immediately questioned the result of a turn, and the agent then edited one of the turn's
/// files again and said what it did.
fn was_result_revised_at_once(digest: &Digest, turn: &RequestWithOutcome, outcome: &AgentStatement) -> bool {
    let mut later = digest.prompts.iter().filter(|prompt| prompt.record > outcome.record);
    let Some(question) = later.next().filter(|next| next.prompt_kind() == PromptKind::Question) else {
        return false;
    };
    let end = later.next().map_or(u64::MAX, |after| after.record);
    let edited_in =
        |from: u64, to: u64| digest.changes.iter().filter(move |change| (from..to).contains(&change.record));
    let is_edited_again = edited_in(turn.prompt.record, outcome.record)
        .any(|change| edited_in(question.record, end).any(|again| again.path == change.path));
    let is_answered =
        digest.statements.iter().any(|said| said.ended_turn && (question.record..end).contains(&said.record));
    is_edited_again && is_answered
}

/// Returns whether a turn merely answered a question and the agent has since moved on to the newest prompt, an
/// unrelated task.
pub fn is_answered_question_before_other_task(
    digest: &Digest,
    turn: &RequestWithOutcome,
    outcome: &AgentStatement,
) -> bool {
    let Some(newest) = digest.prompts.last().filter(|newest| newest.record > outcome.record) else {
        return false;
    };
    let during = turn.prompt.record..outcome.record;
    turn.prompt.prompt_kind() == PromptKind::Question
        && !digest.changes.iter().any(|change| during.contains(&change.record))
        && digest.is_newest_prompt_clear_alone()
        && digest.has_work_since_newest_prompt()
        && !statement::shares_a_word(&newest.text, &turn.prompt.text)
        && !statement::shares_a_word(&newest.text, &outcome.text)
}

fn do_words_name_file(words: &str, path: &str) -> bool {
    words.contains(path.rsplit('/').next().unwrap_or(path))
}

pub fn is_guessing(said: &AgentStatement) -> bool {
    // Search only the beginning, because a "probably" further on may refer to only one of several points.
    let beginning = cut_to_bytes(&said.text, MAX_BYTES_SEARCHED_FOR_GUESS);
    ["likely ", "probably", "might be "].iter().any(|word| beginning.contains(word))
}

/// Returns whether a statement reports a failure that has since been fixed. The failure counts as fixed if a
/// check has passed since the statement and no failure is open.
pub fn is_solved_failure(digest: &Digest, said: &AgentStatement) -> bool {
    const FAILURE_WORDS: [&str; 6] = ["failing", " fails", "failed", "error", "broken", "doesn't compile"];
    let small = said.text.to_lowercase();
    FAILURE_WORDS.iter().any(|word| small.contains(word)) && have_checks_passed_since(digest, said)
}

/// Returns whether a check has passed since the statement and no failure is open now.
pub fn have_checks_passed_since(digest: &Digest, said: &AgentStatement) -> bool {
    let mut since = digest.checks.iter().filter(|check| check.last_run_record > said.record);
    since.any(|check| check.last_result == RunResult::Passed) && digest.open_failures().next().is_none()
}

/// Returns a note for a statement that describes a problem or a fix to come, if the work has been done since. Without
/// the note, the statement reads as if the problem were still there. If the statement names files, only work on one of
/// them counts, because other work leaves the problem as it was.
pub fn note_if_fixed(digest: &Digest, said: &AgentStatement) -> String {
    let small = said.text.to_lowercase();
    if !PHRASES_ANNOUNCING_FIX.iter().chain(&PROBLEM_WORDS).any(|words| small.contains(words)) {
        return String::new();
    }
    let named = digest.files_named_in(&said.text);
    let is_meant = |edit: &&FileEdit| {
        edit.record > said.record
            && !digest.is_thrown_away(edit)
            && (named.is_empty() || named.iter().any(|name| is_file_or_folder_of(name, &edit.path)))
    };
    let mut edits = digest.changes.iter().filter(is_meant);
    let Some(edit) = edits.clone().next() else { return String::new() };
    let commits = match named.is_empty() {
        true => digest
            .standing_commits()
            .into_iter()
            .find(|commit| commit.record > edit.record)
            .into_iter()
            .collect(),
        false => edits
            .find_map(|edit| {
                Some(digest.commits_one_of_which_contains(edit)).filter(|commits| !commits.is_empty())
            })
            .unwrap_or_default(),
    };
    match commits.as_slice() {
        [only] if !only.effect.id.is_empty() => {
            return format!(" (since then committed: {})", only.effect.id);
        }
        [_, _, ..] => return " (since then committed)".to_owned(),
        _ => {}
    }
    let is_checked = |check: &NewestRunOfCheck| {
        check.last_result == RunResult::Passed
            && check.last_run_record > edit.record
            && digest.is_check_current(check.last_run_record)
    };
    match digest.checks.iter().any(is_checked) && digest.open_failures().next().is_none() {
        true => " (since then, files were edited and the checks passed)".to_owned(),
        false => String::new(),
    }
}

/// Returns true for a short statement in which the agent admits that it left something undone, if files have
/// been edited since. A longer statement does not count, because it says more than that.
pub fn is_lack_made_good(digest: &Digest, said: &AgentStatement) -> bool {
    const MAX_ADMISSION_BYTES: usize = 240;
    said.text.len() <= MAX_ADMISSION_BYTES
        && split_into_sentences(&said.text).any(admits_lack)
        && digest.last_file_edited_after(said.record).is_some()
}

/// Returns whether the agent says in a sentence that it left something undone. "The parser forgot to reset the buffer"
/// is about the code instead, and editing another file does not fix that problem.
fn admits_lack(sentence: &str) -> bool {
    const LACK_PHRASES: [&str; 7] = [
        " i forgot to ",
        " i missed ",
        " but i didn't ",
        " but i did not ",
        " but i haven't ",
        " but i have not ",
        " i also forgot to ",
    ];
    const LACKS_OF_SAME_SUBJECT: [&str; 4] =
        [" but didn't ", " but did not ", " but haven't ", " but have not "];
    /// Verbs after "I" that introduce another subject, as in "I see the parser reads the line but didn't …".
    const VERBS_OF_FINDING: [&str; 9] =
        ["believe", "checked", "confirmed", "found", "know", "noticed", "saw", "see", "think"];
    /// Words with which the agent agrees before it admits something, as in "You're right - I added it but didn't …".
    const AGREEING_STARTS: [&str; 6] =
        ["you're right", "you are right", "good catch", "good point", "fair point", "yes"];
    let small = sentence.to_lowercase().replace('’', "'");
    let said = AGREEING_STARTS.iter().find_map(|start| small.strip_prefix(start)).unwrap_or(&small);
    let small = format!(" {}", said.trim_start_matches([' ', ',', '-', '–', '—', '!', '.', ':']));
    if LACK_PHRASES.iter().any(|words| small.contains(words)) {
        return true;
    }
    let Some(at) = LACKS_OF_SAME_SUBJECT.iter().filter_map(|words| small.find(words)).min() else {
        return false;
    };
    let mut before = small[..at].split_whitespace();
    matches!(before.next(), Some("i" | "i've"))
        && !before.any(|word| word == "that" || VERBS_OF_FINDING.contains(&word))
}

/// Lower-case words of a statement that announces a fix.
const PHRASES_ANNOUNCING_FIX: [&str; 9] = [
    "the fix is",
    "the fix:",
    "fix is straightforward",
    "i see the issue",
    "i see the problem",
    "found the issue",
    "found the bug",
    "needs to be fixed",
    "let me fix",
];

/// Lower-case words of a statement that describes a problem in the present tense.
const PROBLEM_WORDS: [&str; 7] = [
    "the issue is",
    "the problem is",
    "the bug is",
    "root cause",
    "fails because",
    "is broken",
    "doesn't work",
];

/// Returns whether a statement announces a fix that has since been made and committed. Such a statement is obsolete,
/// because the commit's subject says what was fixed. Returns false if the newest prompt is about this fix.
pub fn is_committed_fix(digest: &Digest, said: &AgentStatement) -> bool {
    let small = said.text.to_lowercase();
    let edited = digest.changes.iter().find(|change| change.record > said.record).map(|change| change.record);
    let is_committed =
        edited.is_some_and(|edited| digest.standing_commits().iter().any(|commit| commit.record > edited));
    let newest = digest.prompts.last().map_or("", |prompt| prompt.text.as_str());
    PHRASES_ANNOUNCING_FIX.iter().any(|words| small.contains(words))
        && is_committed
        && !statement::shares_a_word(newest, &said.text)
}

/// Returns whether a turn's work is finished and committed. The commit's subject then says what was done.
/// Returns false if the closing message gives a reason, or if it is about the same subject as the newest
/// prompt. `newer` is the number of newer turns in the brief. If there are none, this turn may explain the
/// newest prompt. In that case, also returns false if the newest prompt is unclear by itself or if no work has
/// followed it.
pub fn is_committed_work(
    digest: &Digest,
    turn: &RequestWithOutcome,
    outcome: &AgentStatement,
    newer: usize,
) -> bool {
    let Some(newest) = digest.prompts.last().filter(|newest| newest.record > outcome.record) else {
        return false;
    };
    let during = turn.prompt.record..=outcome.record;
    let mut edits = digest.changes.iter().filter(|edit| during.contains(&edit.record)).peekable();
    let commits = digest.standing_commits();
    let has_committed = commits.iter().any(|commit| during.contains(&commit.record));
    (has_committed || edits.peek().is_some())
        && edits.all(|edit| !digest.commits_one_of_which_contains(edit).is_empty())
        && !statement::gives_reason(&outcome.text)
        && match newer {
            0 => {
                digest.is_newest_prompt_clear_alone()
                    && digest.has_work_since_newest_prompt()
                    && !is_same_subject(&newest.text, &outcome.text)
            }
            _ => !is_same_subject(&newest.text, &outcome.text),
        }
}

/// Returns whether `said` is about failing tests and has been followed by another statement about failing
/// tests. In this case, `said` is outdated.
pub fn is_outdated_by_later_statement(digest: &Digest, said: &AgentStatement) -> bool {
    let is_about_failures = |text: &str| {
        let small = text.to_lowercase();
        small.contains("test") && ["fail", "remaining issue"].iter().any(|word| small.contains(word))
    };
    let mut later = digest.statements.iter().filter(|later| later.record > said.record);
    is_about_failures(&said.text)
        && (said.record < digest.last_message_record && is_about_failures(&digest.last_message)
            || later.any(|later| is_about_failures(&later.text)))
}

/// Returns the text of a statement. If a file has changed or may have changed since the statement, leaves out
/// the sentences that were true only until the next change.
pub fn without_outdated_sentences<'s>(digest: &Digest, said: &'s AgentStatement) -> Cow<'s, str> {
    match digest.may_have_changed_files_after(said.record) {
        true => statement::without_states_of_the_moment(&said.text),
        false => Cow::Borrowed(&said.text),
    }
}

/// Returns whether a message mostly consists of a question that the user has answered, or of open work that has since
/// been done.
pub fn is_mostly_settled_message(digest: &Digest, outcome: &AgentStatement) -> bool {
    let current = without_outdated_sentences(digest, outcome);
    let is_partly_outdated = current.len() < outcome.text.len();
    let text = statement::without_answered_question(&outcome.text, &outcome.closing_question);
    let current = statement::without_answered_question(&current, &outcome.closing_question);
    let is_edited_since = digest.last_file_edited_after(outcome.record).is_some();
    let left = match is_edited_since {
        true => {
            statement::without_sentences_about_open_work(&current, have_checks_passed_since(digest, outcome))
        }
        false => current.as_ref().into(),
    };
    let is_remark = left.len() < MIN_REMAINING_MESSAGE_BYTES && !left.contains(['`', '/']);
    left.is_empty()
        || (is_edited_since || is_partly_outdated)
            && (left.len() * 3 < text.len() || is_remark && left.len() < text.len())
}

/// Returns whether the user has since abandoned the work that a statement is about. The statement to which the user was
/// replying is kept, because it explains why the user abandoned the work.
fn is_work_abandoned_by_user(digest: &Digest, said: &AgentStatement) -> bool {
    let mut later = digest.prompts.iter().filter(|prompt| prompt.record > said.record);
    later.any(|prompt| {
        prompt::abandons_work(&prompt.text)
            && digest.message_answered_by_prompt(prompt).is_none_or(|answered| answered.record != said.record)
    })
}

/// Returns whether a statement describes the code before a change.
fn describes_old_code(text: &str) -> bool {
    let small = cut_to_bytes(text, MAX_BYTES_SEARCHED_FOR_GUESS).to_lowercase();
    ["current behavior", "current behaviour", "currently, ", "currently it "]
        .iter()
        .any(|words| small.contains(words))
}

/// Returns whether the newest prompt quotes a statement in order to object to it.
pub fn does_newest_prompt_object_to(digest: &Digest, said: &AgentStatement) -> bool {
    const MIN_QUOTED_WORDS: usize = 4;
    const MIN_QUOTED_BYTES: usize = 24;
    let Some(newest) = digest.prompts.last().filter(|newest| newest.record > said.record) else {
        return false;
    };
    let text = SearchableText::from_text(&said.text);
    let parts = newest.text.split("<-").flat_map(|part| part.split("->")).flat_map(str::lines);
    let is_long = |part: &&str| {
        part.split_whitespace().count() >= MIN_QUOTED_WORDS && part.trim().len() >= MIN_QUOTED_BYTES
    };
    // A prompt that consists only of a quotation contains no objection.
    parts
        .map(str::trim)
        .filter(|part| part.len() < newest.text.trim().len())
        .filter(is_long)
        .any(|part| text.has_phrase(&part.to_lowercase().replace(['`', '*', '"'], "")))
}

/// Returns whether two messages are about the same subject: they share at least two names, and the shared names are a
/// large part of the older message's names.
pub fn is_same_subject(older: &str, newer: &str) -> bool {
    const MIN_SHARED_SUBJECT_WORDS: usize = 2;
    let (older, newer) = (names_in(older), names_in(newer));
    let shared = older.intersection(&newer).count();
    shared >= MIN_SHARED_SUBJECT_WORDS && shared * 3 >= older.len()
}

/// Returns the names of functions, types and files in `text`, without the module or folder before them.
fn names_in(text: &str) -> BTreeSet<&str> {
    const MIN_NAME_BYTES: usize = 6;
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '-');
    let words = text.split(|c: char| !is_part(c)).map(|word| word.trim_matches(['.', '-', '/']));
    let is_name = |word: &&str| {
        let inner_capital =
            word.chars().zip(word.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
        word.len() >= MIN_NAME_BYTES && (inner_capital || word.contains('_'))
    };
    let last_part = |word: &'_ str| -> usize { word.rfind('/').map_or(0, |at| at + 1) };
    words.map(|word| &word[last_part(word)..]).flat_map(|word| word.split('.')).filter(is_name).collect()
}

#[cfg(test)]
#[path = "overtaken_tests.rs"]
mod tests;
