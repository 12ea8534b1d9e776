//! Findings, decisions and finished work: requests with their outcomes, and informative text that the agent wrote
//! between calls.

use std::borrow::Cow;

use crate::brief::BriefMaterial;
use crate::brief::candidate::FactClass;
use crate::brief::gather::GatheredCandidates;
use crate::brief::paths::list_by_folder;
use crate::content::SearchableText;
use crate::declared::ChangedNames;
use crate::digest::{AgentStatement, DelegatedTask, Digest, Prompt, RequestWithOutcome};
use crate::edit_text::ChangedLine;
use crate::prompt::{self, PromptKind};
use crate::render::{format_path_or_code, in_backticks, in_quotation_marks, quote_part};
use crate::statement;
use crate::text::cut_to_bytes;

use super::overtaken::{
    does_newest_prompt_object_to, have_checks_passed_since, is_answered_question_before_other_task,
    is_committed_fix, is_committed_work, is_guessing, is_lack_made_good, is_mostly_settled_message,
    is_outdated_by_later_statement, is_overtaken_by_work, is_same_subject, is_solved_failure, note_if_fixed,
    without_outdated_sentences,
};
use super::quote_agent_words;
use super::short_answers::{
    MIN_INFORMATIVE_BYTES, is_short_answer, is_short_remark_without_reason, is_short_update, names_effect,
    short_answer_tells_outcome,
};
use super::state::describe_changed_line;

const MAX_DONE_TURNS_LISTED: usize = 3;

/// The maximum number of turns to include if a lot is known about the current work. Earlier turns concern other work.
const MAX_TURNS_BESIDE_WORK: usize = 1;

/// With at least this many explained changes and findings, a lot is known about the current work.
const MIN_FACTS_FOR_MUCH_WORK: usize = 3;

/// The maximum number of groups of changed files to include.
const MAX_CHANGE_GROUPS: usize = 8;

const MAX_FINDINGS_LISTED: usize = 3;

const MAX_SUBAGENT_ANSWERS_LISTED: usize = 4;

const MAX_EDIT_REASONS_LISTED: usize = 4;

/// The maximum length of a changed line, in characters, if it is shown with the file.
const MAX_SHORT_LINE_CHARS: usize = 44;

const MAX_FILES_PER_GROUP: usize = 4;

/// A turn is left out if later messages contain at least this percentage of its words.
const MIN_PERCENT_OF_REPEATED_WORDS: usize = 60;

/// The maximum length of a closing message about finished and committed work, in characters.
const MAX_COMMITTED_WORK_CHARS: usize = 100;

/// The length of the shortest quotation of a closing message, in characters.
const MIN_CLOSING_CHARS: usize = 160;

/// The maximum length of a quotation from the second-newest closing message, in characters. If there is less room,
/// list items in the message are cut to their headings.
const MAX_SECOND_CLOSING_CHARS: usize = 600;

/// A closing message of at least this many bytes may sum up the sub-agents' answers.
const MIN_BYTES_OF_SUMMING_UP_MESSAGE: usize = 240;

/// A closing message sums up a sub-agent's answer if it contains at least this percentage of the answer's words.
const SUMMED_UP_PERCENT: usize = 30;

/// If a request or plan mentions more than this many unedited files, it probably does not ask for all of them
/// to be edited.
const MAX_FILES_LEFT: usize = 8;

pub fn gather_done_work(material: &BriefMaterial, all: &mut GatheredCandidates) {
    let digest = material.digest;
    let goal = digest.current_goal();
    let turns = digest.requests_with_outcomes();
    // Two statements are not repeated in this section. The last message is in the section "Where it stands", and an
    // accepted proposal is part of the goal.
    let accepted = goal.accepted_proposal.map(|accepted| accepted.record);
    // If the agent is already working on a newer prompt, "Where it stands" leaves out the last message, so the
    // message is listed here.
    let last = digest.prompts.last().is_none_or(|prompt| prompt.record < digest.last_message_record)
        || digest.steps_since_last_message().is_empty();
    let is_told = |said: &AgentStatement| {
        last && said.record == digest.last_message_record || Some(said.record) == accepted
    };
    let closing: Vec<&AgentStatement> = turns.iter().filter_map(|turn| turn.outcome).collect();
    // If the agent has finished, its last message closes a turn even before the next prompt.
    let finished = digest.has_finished().then_some(digest.last_message_record);
    let last_closed = closing.iter().map(|said| said.record).max().max(finished).unwrap_or(0);

    // The closing message of a turn sums up all earlier findings, so only later findings are added.
    let found = digest.statements.iter().rev().filter(|said| said.record > last_closed && !is_told(said));
    let found = found.filter(|said| {
        !digest.is_statement_retracted(said)
            && !does_newest_prompt_object_to(digest, said)
            && !is_solved_failure(digest, said)
            && !is_committed_fix(digest, said)
            && !is_lack_made_good(digest, said)
            && !is_guessing(said)
            && !is_outdated_by_later_statement(digest, said)
            && !without_outdated_sentences(digest, said).is_empty()
    });
    let changes = digest.changes_since(last_closed);
    let is_reason = |said: &AgentStatement| {
        changes
            .iter()
            .flat_map(|(_, why)| why)
            .any(|why| said.text.contains(*why) && said.text.len() < why.len() * 2)
    };
    let explained = changes.iter().filter(|(_, why)| !why.is_empty()).count();
    // If there are many explained changes, remarks are left out, because the changes are more informative.
    let found: Vec<&AgentStatement> = found
        .filter(|said| {
            !(is_reason(said) || explained >= MIN_FACTS_FOR_MUCH_WORK && is_short_remark_without_reason(said))
        })
        .filter(|said| current_finding(digest, said).contains(char::is_alphanumeric))
        .take(MAX_FINDINGS_LISTED)
        .collect();
    let max_turns = if explained + found.len() >= MIN_FACTS_FOR_MUCH_WORK {
        MAX_TURNS_BESIDE_WORK
    } else {
        MAX_DONE_TURNS_LISTED
    };

    // If two turns describe the same work, the newer description is the correct one.
    let mut told = SearchableText::from_text(if last { &digest.last_message } else { "" });
    let mut facts: Vec<(u64, FinishedWorkFact)> = Vec::new();
    let mut turns_told: Vec<&Prompt> = Vec::new();
    // The brief leaves out statements about committed fixes. They still count towards the maximum number of turns, so
    // that no older turns take their place.
    let committed =
        digest.statements.iter().filter(|said| said.record > last_closed && is_committed_fix(digest, said));
    let (mut subjects, mut skipped): (Vec<String>, usize) = (Vec::new(), committed.count());
    // If the agent's last message sums up its work, that message is the newest conclusion.
    let is_closing = last && closing.iter().any(|said| said.record == digest.last_message_record);
    let newer = usize::from(digest.has_finished() || is_closing);
    let newest_work = turns.iter().rev().find(|turn| has_edits(digest, turn));
    let mut short_turns_told: Vec<&Prompt> = Vec::new();
    for (place, turn) in turns.iter().enumerate().rev() {
        let Some(outcome) = turn.outcome.filter(|said| !is_told(said)) else { continue };
        // Leave out a message that is mostly about an answered question or finished work, or that is unrelated to the
        // newest prompt.
        if is_mostly_settled_message(digest, outcome)
            || is_committed_fix(digest, outcome)
            || is_answered_question_before_other_task(digest, turn, outcome)
        {
            skipped += 1;
            continue;
        }
        // If the newest work ended with a short message that says what became of the work, include this message.
        // Without it, an older message would read as if it were the last word. This message does not count towards
        // the maximum number of turns.
        if newest_work == Some(turn)
            && short_answer_tells_outcome(turn, outcome)
            && is_worth_knowing(digest, turn, outcome, AnswerLength::Any)
        {
            let standing = LaterWork { newer_turns_included: newer, ..LaterWork::default() };
            facts.push((
                outcome.record,
                FinishedWorkFact::RequestWithOutcome(*turn, outcome, standing, digest),
            ));
            short_turns_told.push(turn.prompt);
            continue;
        }
        let is_settled = is_overtaken_by_work(digest, turn, outcome, newer + turns_told.len());
        let subject = format!("{} {}", turn.prompt.text, outcome.text);
        let is_known = told.percent_of_words_shared_with(&outcome.text) >= MIN_PERCENT_OF_REPEATED_WORDS
            || subjects.iter().any(|newer| is_same_subject(&subject, newer));
        // A turn that is left out still counts, so no older turn takes its place.
        skipped += usize::from(is_known);
        if turns_told.len() + skipped < max_turns
            && !is_settled
            && !is_known
            && is_worth_knowing(digest, turn, outcome, AnswerLength::Informative)
        {
            told.add_words(&outcome.text);
            subjects.push(subject);
            let overtaken = digest.last_file_edited_after(outcome.record).is_some();
            let standing = LaterWork {
                newer_turns_included: newer + turns_told.len(),
                has_later_edits: overtaken,
                have_checks_passed: have_checks_passed_since(digest, outcome),
                is_committed: is_committed_work(digest, turn, outcome, newer + turns_told.len()),
            };
            facts.push((
                outcome.record,
                FinishedWorkFact::RequestWithOutcome(*turn, outcome, standing, digest),
            ));
            // Without the short answer after it, this answer would read as if it were the last word.
            let next = turns.get(place + 1).and_then(|next| Some((next, next.outcome?)));
            if let Some((next, update)) = next
                && !is_told(update)
                && !short_turns_told.contains(&next.prompt)
                && is_short_update(digest, outcome, next, update)
            {
                facts.push((
                    update.record,
                    FinishedWorkFact::RequestWithOutcome(*next, update, standing, digest),
                ));
                turns_told.push(next.prompt);
            }
            turns_told.push(turn.prompt);
        }
    }
    facts.extend(found.iter().map(|said| (said.record, FinishedWorkFact::Found(said, digest))));
    let asked = goal
        .task_prompt
        .filter(|_| !goal.is_answered)
        .or(goal.newest_prompt)
        .map_or(0, |prompt| prompt.record);
    let summed_up = |agent: &&DelegatedTask| {
        // A sub-agent's findings for an earlier task are no longer needed once that task has been summed up.
        let holds = |text: &str| {
            agent.record < asked && text.len() >= MIN_BYTES_OF_SUMMING_UP_MESSAGE
                || SearchableText::from_text(text).percent_of_words_shared_with(&agent.answer)
                    >= SUMMED_UP_PERCENT
        };
        closing.iter().any(|said| said.record > agent.record && holds(&said.text))
            || finished.is_some_and(|record| record > agent.record) && holds(&digest.last_message)
    };
    let answered = digest.agents.iter().rev().filter(|agent| !agent.answer.is_empty() && !summed_up(agent));
    facts.extend(
        answered
            .take(MAX_SUBAGENT_ANSWERS_LISTED)
            .map(|agent| (agent.record, FinishedWorkFact::Agent(agent))),
    );
    facts.sort_by_key(|(record, fact)| {
        (
            *record <= digest.last_compaction_before_work,
            // Finished and committed work comes after what may still matter.
            fact.is_committed(),
            std::cmp::Reverse(*record),
        )
    });
    let topic = goal.newest_prompt.map_or("", |newest| newest.text.as_str());
    add_files_left(digest, all);
    // The newest finding comes first, because it says more about the current work than the names of the changed
    // declarations.
    let newest = facts.iter().position(|(_, fact)| matches!(fact, FinishedWorkFact::Found(..)));
    if let Some((record, fact)) = newest.map(|place| facts.remove(place)) {
        add_done_fact(all, record, fact, topic);
    }
    add_deleted_files(digest, all);
    add_changed_files(digest, &changes, all);
    for (record, fact) in facts {
        add_done_fact(all, record, fact, topic);
    }
    add_uncommitted_names(digest, all);
    turns_told.extend(short_turns_told);
    super::earlier::add_earlier_requests(digest, &turns_told, all);
}

/// Lists the files that the request, the accepted proposal or the plan mentions, if they have not been edited yet.
fn add_files_left(digest: &Digest, all: &mut GatheredCandidates) {
    let goal = digest.current_goal();
    let task = goal.task_prompt.filter(|_| !goal.is_answered);
    let prompts =
        [goal.newest_prompt, task].into_iter().flatten().map(|prompt| (prompt.record, prompt.text.as_str()));
    let accepted = goal.accepted_proposal.map(|said| (said.record, said.text.as_str()));
    let plan = digest.plan.as_ref().map(|plan| (plan.record, plan.text.as_str()));
    let texts = prompts.chain(accepted).chain(plan);
    let Some(newest) = texts
        .filter_map(|(record, text)| Some((record, digest.edits_of_named_files(text, record)?)))
        .max_by_key(|(record, _)| *record)
        .map(|(_, edits)| edits)
        .map(|mut edits| {
            edits.not_edited.retain(|name| !digest.was_file_read_for_finished_prompt(name));
            edits
        })
        .filter(|edits| !edits.not_edited.is_empty() && edits.not_edited.len() <= MAX_FILES_LEFT)
    else {
        return;
    };
    let left: Vec<String> = newest.not_edited.iter().map(|name| format_path_or_code(name, 80)).collect();
    let text = format!("files named in the request and not edited yet: {}", left.join(", "));
    all.add_fact(FactClass::Done, "files-left".to_owned(), vec![text]);
}

/// Adds what was changed in each file since the agent last summed up its work: the declarations, and the agent's
/// reasons. Files that were changed for the same reasons share a line.
fn add_changed_files(digest: &Digest, changes: &[(&str, Vec<&str>)], all: &mut GatheredCandidates) {
    let mut groups: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    // The section "Where it stands" quotes the last message, so the reasons that this message states are not
    // repeated.
    let said = digest.last_message.to_lowercase();
    let is_said = |why: &str| digest.has_work_after_last_message() && said.contains(&why.to_lowercase());
    let mut lines = 0;
    for (file, why) in changes {
        let why: Vec<&str> =
            why.iter().copied().filter(|why| says_more_than_file_name(why, file) && !is_said(why)).collect();
        let names = digest.names_changed_in_current_work(file);
        if !names.is_empty() {
            if lines < MAX_CHANGE_GROUPS {
                add_changed_names(digest, file, &names, &why, all);
            }
            lines += 1;
            continue;
        }
        match groups.iter_mut().find(|(_, known)| *known == why) {
            _ if why.is_empty() => {}
            Some((files, _)) => files.push(file),
            None => groups.push((vec![file], why)),
        }
    }
    for (files, why) in groups.iter().take(MAX_CHANGE_GROUPS.saturating_sub(lines)) {
        let named = list_by_folder(files.iter().copied(), MAX_FILES_PER_GROUP);
        let form = |reasons: usize, most: usize| {
            // "Do the same for b" makes no sense without the reason before it, so that reason is included.
            let alone = why.iter().rev().take_while(|why| why.starts_with("Do the same")).count();
            let from = why.len().saturating_sub(reasons + alone);
            let why: Vec<Cow<str>> =
                why[from..].iter().map(|why| statement::first_sentences(why, most)).collect();
            format!("edited {named}: {}", in_quotation_marks(&why.join("; "), (most + 3) * why.len()))
        };
        let mut forms = vec![form(1, 90), form(2, 110), form(MAX_EDIT_REASONS_LISTED, 200)];
        forms.dedup();
        all.add_fact(FactClass::Done, format!("change:{}", cut_to_bytes(files[0], 300)), forms)
            .strings_stating_fact = why.iter().map(|why| (*why).to_owned()).collect();
    }
}

/// Adds the declarations that were changed in a file. The longest form also gives the agent's reasons. If the last edit
/// in progress changed this file, the shortest form describes that edit instead of the declarations.
fn add_changed_names(
    digest: &Digest,
    file: &str,
    names: &ChangedNames,
    why: &[&str],
    all: &mut GatheredCandidates,
) {
    let path = format_path_or_code(file, 160);
    let form = |most: usize, reasons: usize, length: usize| {
        let changed = names.describe(most, |name| in_backticks(name, 80));
        let why: Vec<Cow<str>> = why[why.len().saturating_sub(reasons)..]
            .iter()
            .map(|why| statement::first_sentences(why, length))
            .collect();
        let why = match why.is_empty() {
            true => String::new(),
            false => format!(" — {}", in_quotation_marks(&why.join("; "), (length + 3) * why.len())),
        };
        format!("edited {path}: {changed}{why}")
    };
    let mut forms = vec![form(3, 0, 0), form(5, 1, 110), form(8, 2, 160)];
    let edits = digest.edits_in_progress();
    if let Some(last) = edits.last().filter(|last| last.path == file && !last.line.is_empty()) {
        let line = ChangedLine { more: 0, ..last.line.clone() };
        let last = format!("last {}", describe_changed_line(&line, MAX_SHORT_LINE_CHARS));
        forms[1] = format!("{}; {last}", forms[0]);
        forms[0] = format!("edited {path}: {last}");
    }
    forms.dedup();
    let id = format!("change:{}", cut_to_bytes(file, 300));
    if !all.has_fact(&id) {
        let known = [&names.added, &names.changed, &names.removed];
        all.add_fact(FactClass::Done, id, forms).strings_stating_fact =
            known.into_iter().flatten().cloned().collect();
    }
}

/// Adds the changed declarations in other uncommitted files. The agent has already summed up this work, but may not
/// have mentioned the declarations by name.
fn add_uncommitted_names(digest: &Digest, all: &mut GatheredCandidates) {
    let git = digest.git_state();
    for file in git.uncommitted.iter().filter(|file| !file.deleted).take(MAX_CHANGE_GROUPS) {
        let names = digest.names_changed_in_current_work(&file.path);
        if !names.is_empty() {
            add_changed_names(digest, &file.path, &names, &[], all);
        }
    }
}

/// Adds the files that the session deleted without a commit. The list of files does not contain them.
fn add_deleted_files(digest: &Digest, all: &mut GatheredCandidates) {
    let git = digest.git_state();
    let deleted: Vec<&str> =
        git.uncommitted.iter().filter(|file| file.deleted).map(|file| file.path.as_str()).collect();
    if deleted.is_empty() {
        return;
    }
    let text = format!("deleted {}", list_by_folder(deleted.iter().copied(), MAX_FILES_PER_GROUP));
    let deleted = deleted.into_iter().map(str::to_owned).collect();
    all.add_fact(FactClass::Done, "deleted".to_owned(), vec![text]).strings_stating_fact = deleted;
}

/// Returns whether a reason says more than the file's name. "Update the a.go file" and "update the integration tests"
/// do not.
pub(crate) fn says_more_than_file_name(why: &str, file: &str) -> bool {
    const MIN_INFORMATIVE_WORDS: usize = 3;
    const UNINFORMATIVE_WORDS: &[&str] = &[
        "update",
        "add",
        "fix",
        "change",
        "changes",
        "the",
        "to",
        "of",
        "in",
        "for",
        "and",
        "file",
        "files",
        "test",
        "tests",
        "code",
        "new",
        "now",
        "implement",
        "implementation",
        "functionality",
        "integration",
        "make",
        "use",
        "this",
        "that",
        "these",
        "all",
        "also",
        "with",
        "remaining",
        "function",
        "layer",
        "start",
    ];
    let name = file.rsplit('/').next().unwrap_or(file);
    if why.starts_with("I see") && !why.contains('`') {
        return false;
    }
    let rest = why.replace(file, "").replace(name, "").to_lowercase();
    let telling =
        rest.split_whitespace().filter(|word| word.len() > 1 && !UNINFORMATIVE_WORDS.contains(word));
    telling.clone().any(|word| word.len() > 3 && word.contains('`'))
        || telling.count() >= MIN_INFORMATIVE_WORDS
}

/// Which answers can be worth knowing: answers of any length, or only those that are long enough to be informative.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AnswerLength {
    Any,
    Informative,
}

fn is_worth_knowing(
    digest: &Digest,
    turn: &RequestWithOutcome,
    outcome: &AgentStatement,
    length: AnswerLength,
) -> bool {
    let text = outcome.text.as_str();
    // A short message that ends with a question is left out, because the next prompt has answered it.
    let is_question = text.len() < MIN_INFORMATIVE_BYTES * 2 && text.ends_with('?');
    let is_short = length == AnswerLength::Informative && is_short_answer(turn, text);
    let is_unfinished = text.len() < MIN_INFORMATIVE_BYTES * 2 && statement::announces_next_step(text);
    // A short message that names a commit or a pull request is left out, because the effects list these ids and
    // links.
    let is_receipt = text.len() < MIN_INFORMATIVE_BYTES * 2 && names_effect(digest, outcome);
    // Leave out a prompt that came with a refusal. It is quoted with the refusal, and it does not begin a turn.
    let is_whole = turn.prompt.refused_call.is_empty();
    is_whole
        && !is_receipt
        && !is_question
        && !is_short
        && !is_unfinished
        && !text.is_empty()
        && !digest.is_statement_retracted(outcome)
        && !does_newest_prompt_object_to(digest, outcome)
}

/// Returns whether files were edited in a turn that has ended, by a tool or by a command.
fn has_edits(digest: &Digest, turn: &RequestWithOutcome) -> bool {
    let Some(outcome) = turn.outcome else { return false };
    let during = turn.prompt.record..=outcome.record;
    digest.changes.iter().any(|change| during.contains(&change.record))
        || digest.files.iter().any(|file| during.contains(&file.edited_at.max(file.written_at)))
}

#[derive(Clone, Copy, Default)]
struct LaterWork {
    /// How many newer turns are included.
    newer_turns_included: usize,
    /// Whether files were edited after the turn. If so, work that the turn left open may be done by now.
    has_later_edits: bool,
    /// Whether a check passed after the turn and no failure is open now.
    have_checks_passed: bool,
    /// Whether the turn's work is finished and committed. One short line is then enough.
    is_committed: bool,
}

#[derive(Clone, Copy)]
enum FinishedWorkFact<'d> {
    /// A turn, its closing message, and the work after it.
    RequestWithOutcome(RequestWithOutcome<'d>, &'d AgentStatement, LaterWork, &'d Digest),
    /// A finding that the agent stated between two calls.
    Found(&'d AgentStatement, &'d Digest),
    Agent(&'d DelegatedTask),
}

impl FinishedWorkFact<'_> {
    fn is_committed(&self) -> bool {
        matches!(self, Self::RequestWithOutcome(_, _, LaterWork { is_committed: true, .. }, _))
    }
}

/// Returns the part of a finding that still holds. Steps that were announced between two calls are left out,
/// because they have since been done or abandoned.
fn current_finding(digest: &Digest, said: &AgentStatement) -> String {
    statement::condense_message(&without_outdated_sentences(digest, said))
}

/// Adds a fact. For the newest turn, sentences about `topic` are preferred.
fn add_done_fact(all: &mut GatheredCandidates, record: u64, fact: FinishedWorkFact, topic: &str) {
    let (forms, known) = match fact {
        FinishedWorkFact::RequestWithOutcome(
            turn,
            outcome,
            LaterWork {
                newer_turns_included: newer,
                has_later_edits: overtaken,
                have_checks_passed,
                is_committed,
            },
            digest,
        ) => {
            let note = note_if_fixed(digest, outcome);
            let about = if newer == 0 { topic } else { "" };
            let form = |(request, most): &(usize, usize)| {
                let text = without_outdated_sentences(digest, outcome);
                let text = statement::without_answered_question(&text, &outcome.closing_question);
                let text = match overtaken {
                    true => statement::without_sentences_about_open_work(&text, have_checks_passed),
                    false => Cow::from(&*text),
                };
                // The shortest form has to leave room for other facts.
                let longer = if *most > MIN_CLOSING_CHARS { most * 4 / 3 } else { *most };
                let told = statement::best_sentences(&text, *most, longer, about);
                let told = quote_part(&told, &outcome.text, longer + 2);
                match (turn.prompt.prompt_kind(), prompt::words_above_paste(&turn.prompt.text)) {
                    // The text of an approval is not worth quoting, and neither is pasted output.
                    (PromptKind::Approval, _) | (_, None) => format!("{told}{note}"),
                    (_, Some(words)) => {
                        let words = prompt::shorten_request(words, *request);
                        format!(
                            "{} → {told}{note}",
                            quote_part(&words, &turn.prompt.text, words.len().max(*request))
                        )
                    }
                }
            };
            // Only the newest conclusion is quoted at length.
            let lengths: &[(usize, usize)] = match newer {
                _ if is_committed => &[(64, MAX_COMMITTED_WORK_CHARS)],
                0 => &[(64, MIN_CLOSING_CHARS), (80, 300), (120, 600), (120, 800)],
                1 => &[(64, MIN_CLOSING_CHARS), (80, 300), (80, 400), (120, MAX_SECOND_CLOSING_CHARS)],
                _ => &[(64, MIN_CLOSING_CHARS), (80, 240)],
            };
            (lengths.iter().map(form).collect(), outcome.text.as_str())
        }
        FinishedWorkFact::Found(said, digest) => {
            let progress = digest.edits_of_named_files(&said.text, said.record);
            let progress = progress
                .map_or_else(|| note_if_fixed(digest, said), |edits| format!(" ({})", edits.describe()));
            let text = current_finding(digest, said);
            let form = |most| format!("{}{progress}", quote_agent_words(&text, &said.text, most));
            // A finding with several points is not cut after the first ones, because each of them may still be open.
            let has_all_points =
                |most: &usize| !quote_agent_words(&text, &said.text, *most).contains(" more)");
            let shortest = [160, 240, 320, 400].into_iter().find(has_all_points).unwrap_or(160);
            let mut forms = vec![form(shortest), form(400), form(800)];
            forms.dedup();
            (forms, said.text.as_str())
        }
        FinishedWorkFact::Agent(agent) => {
            let form = |most| {
                format!(
                    "sub-agent {} → {}",
                    in_quotation_marks(&agent.task, 80),
                    quote_agent_words(&agent.answer, &agent.answer, most)
                )
            };
            (vec![form(200), form(400), form(800)], agent.answer.as_str())
        }
    };
    all.add_fact(FactClass::Done, format!("said:{record}"), forms).strings_stating_fact =
        vec![known.to_owned()];
}

#[cfg(test)]
#[path = "done_tests.rs"]
mod tests;
