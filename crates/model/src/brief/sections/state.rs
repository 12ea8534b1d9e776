//! The current state: the agent's last message, the calls after it, and the remaining work.

use crate::brief::candidate::FactClass;
use crate::brief::gather::GatheredCandidates;
use crate::brief::{BriefMaterial, BriefOccasion};
use crate::declared::ChangedNames;
use crate::digest::{CallStep, Digest, FileEdit, ToolCallAction, names_more_than_a_tool};
use crate::edit_text::ChangedLine;
use crate::effect::{DescriptionDetail, describe_effect};
use crate::event::{LineRange, TodoStatus};
use crate::packet;
use crate::prompt;
use crate::render::{format_path_or_code, in_backticks, in_quotation_marks, quote_part};
use crate::statement;
use crate::text::count_with_noun;
use crate::unfinished_call::UnfinishedCall;

use super::{is_cut_in_sentence, quote_agent_words};

const MAX_CALL_STEPS_LISTED: usize = 8;

/// The id of the fact that says what to begin with.
pub const FIRST_STEP_ID: &str = "begin";

/// The first word of the description of an edit.
const EDITED_VERB: &str = "edited ";

/// The beginning of the line about the newest edits.
const LAST_EDITS_INTRO: &str = "Last edits (no commit or passing check since): ";

/// The maximum number of edits whose changed lines are shown.
const MAX_EDITS_SHOWN: usize = 3;

/// The number of newest calls that are listed even if they only read something.
const NEWEST_STEPS_LISTED: usize = 2;

/// After this many calls, the last message says little about the current state, so less of it is quoted.
const MIN_STEPS_OUTDATING_WORDS: usize = 4;

/// A todo list counts as outdated after this many edits since its last change.
const MIN_EDITS_OUTDATING_TODOS: usize = 6;

/// In a short brief, this many open entries of the todo list are named, each with at most this many characters.
const MAX_SHORT_TODOS: usize = 3;
const MAX_SHORT_TODO_CHARS: usize = 52;

/// A message with more bytes than this is a summary, not an announcement.
const MAX_ANNOUNCEMENT_BYTES: usize = 400;

pub fn gather_state(material: &BriefMaterial, all: &mut GatheredCandidates) {
    add_last_message(material.digest, all);
    add_first_step(material, all);
    add_unfinished_calls(material, all);
    add_todo_list(material.digest, all);
    add_running_agents(material.digest, all);
    add_edits_in_progress(material.digest, all);
}

/// Adds the check that the edits call for, in the words of a packet's prompt. The check is left out if the agent
/// has a summary or its whole conversation, because the agent then knows about the check.
fn add_first_step(material: &BriefMaterial, all: &mut GatheredCandidates) {
    let is_alone = material.visible_summary().is_empty() && material.occasion != BriefOccasion::Replayed;
    if let Some(step) = is_alone.then(|| packet::check_to_begin_with(material.digest)).flatten() {
        // The short form leaves out what other facts already say. The list of checks says which checks are older than
        // the last edits, and the fact before this one names the folder of the file that was edited last.
        let short = step.strip_suffix(packet::REASON_TO_RUN_CHECK).unwrap_or(&step);
        let edited = material.digest.last_code_file_edited_after(0).unwrap_or_default();
        let short = match edited.rsplit_once('/') {
            Some((_, name)) if !edited.ends_with(".sh") => short.replace(edited, name),
            _ => short.to_owned(),
        };
        let mut forms = vec![format!("Begin with: {short}"), format!("Begin with: {step}")];
        forms.dedup();
        all.add_fact(FactClass::State, FIRST_STEP_ID.to_owned(), forms);
    }
}

fn add_running_agents(digest: &Digest, all: &mut GatheredCandidates) {
    // Leave out sub-agents that were started before the newest prompt. Their results are known by other means, even
    // if no answer was recorded.
    let since =
        digest.prompts.last().map_or(0, |prompt| prompt.record).max(digest.last_compaction_before_work);
    let running = digest.agents.iter().rev().filter(|agent| agent.answer.is_empty() && agent.record > since);
    for agent in running.filter(|_| digest.has_work_after_last_message()) {
        let id = format!("agent:{}", agent.record);
        all.add_fact(
            FactClass::State,
            id,
            vec![format!("A sub-agent was running: {}", in_quotation_marks(&agent.task, 120))],
        );
    }
}

fn add_last_message(digest: &Digest, all: &mut GatheredCandidates) {
    if digest.record_count == 0 {
        return;
    }
    let is_listed = |id: &str| {
        let ids = digest.effects.iter().flat_map(|used| [&used.effect.id, &used.disk.replaced_id]);
        ids.filter(|known| !known.is_empty()).any(|known| id.starts_with(known.as_str()))
    };
    let condensed = statement::without_commit_lines(
        &statement::condense_closing_message(&digest.last_message),
        is_listed,
    );
    let since = digest.steps_since_last_message();
    // A short last message may announce the next step, so it is quoted unchanged until the agent has finished.
    let announced = !digest.has_finished() && digest.last_message.len() <= MAX_ANNOUNCEMENT_BYTES;
    let words = if condensed.is_empty() || announced { digest.last_message.as_str() } else { &condensed };
    if digest.has_finished() {
        if !digest.last_message.is_empty() {
            let asks = statement::question_at_end(&digest.last_message);
            let form = |most| {
                let told = quote_agent_words(words, &digest.last_message, most);
                let asks = match told.contains(&asks) {
                    true => String::new(),
                    false => format!(" It asked: {}", in_quotation_marks(&asks, 240)),
                };
                format!(
                    "The agent had ended its turn and was waiting for the user. Its last message: {told}{asks}"
                )
            };
            all.add_fact(FactClass::State, "said".to_owned(), [160, 400, 1_000].map(form).to_vec())
                .strings_stating_fact = vec![words.to_owned()];
        }
        return;
    }
    let steps = describe_steps(digest, since, StepDetail::WithPlaces);
    let short_steps = describe_steps(digest, since, StepDetail::Short);
    let is_accepted = digest
        .current_goal()
        .accepted_proposal
        .is_some_and(|accepted| accepted.record == digest.last_message_record);
    let newest = digest.prompts.last();
    let answered = newest.is_none_or(|prompt| prompt.record < digest.last_message_record);
    let then = |listed: ListedSteps| {
        let steps = if matches!(listed, Newest(_)) { &short_steps } else { &steps };
        (!steps.is_empty()).then(|| list_steps(steps, listed))
    };
    // The agent may have announced that it would look at something. If it has begun to do so, the listed calls
    // show this. Quote what it found before the announcement, because that tells the reader more.
    let has_begun_look = statement::ends_by_announcing_look(words)
        && (digest.unfinished_calls().next().is_some() || !steps.is_empty());
    let finding = match has_begun_look {
        true => statement::finding_before_announcement(words),
        false => String::new(),
    };
    // The last message may end by announcing the next step, so its end is quoted too.
    let last = |most: usize| {
        let most = if steps.len() >= MIN_STEPS_OUTDATING_WORDS { most.min(160) } else { most };
        if !finding.is_empty() && words.chars().count() > most {
            let told = quote_agent_words(&finding, &digest.last_message, most * 3 / 4);
            if !is_cut_in_sentence(told.trim_end_matches('”')) {
                return told;
            }
        }
        quote_part(&statement::reason_and_announcement(words, most), &digest.last_message, most + 2)
    };
    // If the last message mentions several files, list those that have not been edited yet.
    let left =
        digest.edits_of_named_files(words, digest.last_message_record).map_or(String::new(), |edits| {
            let left: Vec<String> =
                edits.not_edited.iter().map(|name| format_path_or_code(name, 80)).collect();
            if left.is_empty() { String::new() } else { format!("; not yet edited: {}", left.join(", ")) }
        });
    let complete = match digest.does_work_for_newest_prompt_look_complete()
        && left.is_empty()
        && digest.ended_with_passed_check()
    {
        true => "The work looks complete: the checks passed after the last edit",
        false => "",
    };
    // If the message asked only for a commit, a push or the like, and that was done, nothing is left to do for it.
    let done = digest.effect_of_newest_message().map(|used| {
        let effect = describe_effect(&used.effect, DescriptionDetail::Short);
        format!("The newest message has been carried out ({effect})")
    });
    let in_progress = match (&done, complete) {
        (Some(done), "") => done.clone(),
        (Some(done), complete) => format!("{done}. {complete}"),
        (None, "") => "In progress".to_owned(),
        (None, complete) => complete.to_owned(),
    };
    // It is unknown whether the agent has begun anything since the newest message. The brief must make no claim
    // about this.
    let is_unknown =
        digest.may_have_unseen_work && !digest.has_work_since_newest_prompt() && !digest.has_open_call();
    if is_unknown && !answered && done.is_none() && (words.is_empty() || is_accepted) {
        return;
    }
    let form = |most: usize, calls: ListedSteps| match (answered && !words.is_empty(), then(calls)) {
        (true, Some(then)) => {
            format!("{in_progress}. Last said: {}; then {then}{left}", last(most))
        }
        (true, None) if digest.has_work_after_last_message() || digest.has_loop_continued_turn => {
            format!("{in_progress}. Last said: {}", last(most))
        }
        (true, None) if digest.has_open_call() => {
            let call = match digest.unfinished_calls().next() {
                Some(_) => "",
                None => "; the outcome of the call that followed is unknown",
            };
            format!("{in_progress}. Last said: {}{call}", last(most))
        }
        (true, None) if digest.has_stopped_with_announcement() => {
            format!("The agent has replied and announced: {}", last(most))
        }
        // No work followed the last message, so the turn may be over. Do not call the turn in progress. If the
        // message announced a change, say that the outcome is not recorded, because a change must not be made
        // twice. If the message announced that the agent would only look at something, no such note is needed.
        (true, None) if digest.is_last_announced_change_unrecorded() => {
            format!("Last said: {}; whether that was done is not recorded", last(most))
        }
        (true, None) => format!("Last said: {}", last(most)),
        (false, _) if done.is_some() => in_progress.clone(),
        (false, Some(then)) => format!("Working on the newest message: {then}"),
        (false, None) if !is_unknown && !digest.is_newest_prompt_untouched() => {
            "Working on the newest message".to_owned()
        }
        (false, None) if words.is_empty() || is_accepted => {
            "The newest message has not been acted on yet".to_owned()
        }
        (false, None) => {
            // If the newest message is unclear on its own, the message before it helps to tell what the newest
            // message is about.
            let before = digest.message_explaining_newest_prompt();
            let before = before.map_or(String::new(), |before| prompt::words_before_paste(&before.text));
            let about = format!("{} {before}", newest.map_or("", |prompt| prompt.text.as_str()));
            let told = statement::sentences_about(words, most, &about);
            let told = quote_part(&told, &digest.last_message, most + 2);
            match is_unknown {
                true => format!("Before the newest message, the agent said {told}"),
                false => {
                    format!("The newest message has not been acted on yet; before it, the agent said {told}")
                }
            }
        }
    };
    use ListedSteps::{EditsAndOthers, Newest};
    let forms = vec![
        form(120, EditsAndOthers(2)),
        form(240, EditsAndOthers(4)),
        form(400, EditsAndOthers(MAX_CALL_STEPS_LISTED)),
        form(1_000, EditsAndOthers(MAX_CALL_STEPS_LISTED)),
    ];
    let candidate = all.add_fact(FactClass::State, "said".to_owned(), forms);
    candidate.add_terse_form(form(120, Newest(2)));
    candidate.strings_stating_fact = vec![words.to_owned()];
}

/// Adds what the newest edits changed, if no commit and no passing check followed. It shows how far a change has come.
fn add_edits_in_progress(digest: &Digest, all: &mut GatheredCandidates) {
    let edits = digest.edits_in_progress();
    let told: Vec<&FileEdit> = edits.into_iter().filter(|edit| !edit.line.is_empty()).collect();
    if told.is_empty() {
        return;
    }
    let form = |most: usize, width: usize| {
        let newest = &told[told.len().saturating_sub(most)..];
        let mut parts: Vec<String> = Vec::new();
        for (place, edit) in newest.iter().enumerate() {
            let change = describe_changed_line(&edit.line, width);
            match parts.last_mut().filter(|_| place > 0 && newest[place - 1].path == edit.path) {
                // The same change in several places is described once.
                Some(last) if last.ends_with(&change) => {}
                Some(last) => last.push_str(&format!(", then {change}")),
                None => parts.push(format!("{} {change}", format_path_or_code(&edit.path, 160))),
            }
        }
        format!("{LAST_EDITS_INTRO}{}", parts.join("; "))
    };
    let mut forms = vec![form(2, 60), form(MAX_EDITS_SHOWN, 100)];
    forms.dedup();
    // A short brief shows the last edit with its file (see `done.rs`).
    all.add_fact(FactClass::State, "edits".to_owned(), forms).is_late = true;
}

/// Describes a changed line, such as ``changed `fn a() {` → `fn b() {` ``.
pub(super) fn describe_changed_line(line: &ChangedLine, width: usize) -> String {
    let code = |text: &str| in_backticks(text, width);
    let more = match line.more {
        0 => String::new(),
        more => format!(" (+{})", count_with_noun(more, "line")),
    };
    match (line.old.as_str(), line.new.as_str()) {
        ("", new) => format!("added {}{more}", code(new)),
        (old, "") => format!("removed {}{more}", code(old)),
        (old, new) => {
            let (old, new) = cut_to_difference(old, new, width);
            format!("{} → {}{more}", code(&old), code(&new))
        }
    }
}

/// Cuts off most of what two lines have in common at their beginning, if they are too long to be shown whole.
fn cut_to_difference(old: &str, new: &str, width: usize) -> (String, String) {
    const CHARS_KEPT_BEFORE: usize = 12;
    let length = |text: &str| text.chars().count();
    let same = old.chars().zip(new.chars()).take_while(|(one, other)| one == other).count();
    // Cut before a word, so that no word is cut in half.
    let is_in_word = |place: usize| old.chars().nth(place).is_some_and(|c| c.is_alphanumeric() || c == '_');
    let most = same.saturating_sub(CHARS_KEPT_BEFORE);
    let skipped = (0..=most).rev().find(|place| *place == 0 || !is_in_word(place - 1)).unwrap_or(0);
    if length(old).max(length(new)) <= width || skipped == 0 {
        return (old.to_owned(), new.to_owned());
    }
    let cut = |text: &str| format!("…{}", text.chars().skip(skipped).collect::<String>());
    (cut(old), cut(new))
}

/// Adds calls that were still running when the records ended. The agent must check what became of them. A session that
/// was only compacted has not ended, so less is said about its calls.
fn add_unfinished_calls(material: &BriefMaterial, all: &mut GatheredCandidates) {
    let mut begun: Vec<&str> = material.digest.unfinished_calls().collect();
    if begun.is_empty() {
        return;
    }
    let has_ended = material.occasion != BriefOccasion::Compacted;
    if has_ended {
        // A call that only looks at something can be repeated, so it comes last.
        begun.sort_by_key(|call| UnfinishedCall::parse(call).is_look());
    }
    let form = |most: usize, width: usize| {
        let more = begun.len().saturating_sub(most);
        let more = if more > 0 { format!(", +{more} more") } else { String::new() };
        let shown = begun.iter().take(most);
        match has_ended {
            true => {
                let calls = shown.map(|call| UnfinishedCall::parse(call).describe_outcome(width));
                format!("{}{more}", calls.collect::<Vec<_>>().join(". "))
            }
            false => {
                let calls: Vec<String> = shown.map(|call| in_backticks(call, width)).collect();
                format!("Started, result not seen: {}{more}", calls.join(", "))
            }
        }
    };
    let mut forms = vec![form(1, 80), form(4, 160)];
    forms.dedup();
    all.add_fact(FactClass::State, "unfinished".to_owned(), forms);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepDetail {
    /// Only what was called.
    Short,
    /// Also which lines were read, and where the last edit was made.
    WithPlaces,
}

/// Describes each call in a few words. A repeated call is listed once, at the position of its newest run. The
/// description shows how many of its newest runs in a row had the same result. Calls that neither edited a file
/// nor ran a command are listed only if they are among the newest.
pub(crate) fn describe_steps(digest: &Digest, since: &[CallStep], detail: StepDetail) -> Vec<String> {
    let is_same =
        |a: &CallStep, b: &CallStep| (a.action, &a.path_or_command) == (b.action, &b.path_or_command);
    let mut groups: Vec<Vec<&CallStep>> = Vec::new();
    for step in since
        .iter()
        .filter(|step| step.action != ToolCallAction::Called || names_more_than_a_tool(&step.path_or_command))
    {
        let known = groups.iter().position(|known| is_same(known[0], step));
        let mut same = known.map_or_else(Vec::new, |place| groups.remove(place));
        same.push(step);
        groups.push(same);
    }
    let newest = groups.len().saturating_sub(NEWEST_STEPS_LISTED);
    let is_work = |step: &CallStep| matches!(step.action, ToolCallAction::Edited | ToolCallAction::Ran);
    let last_edit = groups.iter().rposition(|same| same[0].action == ToolCallAction::Edited);
    let kept = groups.iter().enumerate().filter(|(i, same)| *i >= newest || is_work(same[0]));
    let place = match (detail, last_edit) {
        (StepDetail::WithPlaces, Some(at)) => describe_last_edit(digest, &groups[at]),
        _ => String::new(),
    };
    // Once it is known where a file was edited, it does not matter which of its lines were read before.
    let is_followed = |i: usize, step: &CallStep| {
        let edited = last_edit.filter(|at| *at > i && !place.is_empty());
        step.action == ToolCallAction::Read
            && edited.is_some_and(|at| groups[at][0].path_or_command == step.path_or_command)
    };
    kept.filter(|(i, same)| !is_followed(*i, same[0]))
        .map(|(i, same)| {
            let ended = |step: &CallStep| (step.failed, step.passed);
            let last = same[same.len() - 1];
            let times = same.iter().rev().take_while(|step| ended(step) == ended(last)).count();
            let times = if times > 1 { format!("{times}×") } else { String::new() };
            let place = if last_edit == Some(i) { place.clone() } else { String::new() };
            let notes: Vec<String> = [times, place].into_iter().filter(|note| !note.is_empty()).collect();
            let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
            let lines = match detail {
                StepDetail::WithPlaces => describe_lines(same),
                StepDetail::Short => String::new(),
            };
            format!("{}{lines}{notes}", describe_step(last))
        })
        .collect()
}

/// Returns where in its file an edit was made, such as `last in parse`. Returns an empty string if the declarations are
/// not known. The string is also empty if no other declarations in the file were changed, because the brief lists all
/// of them anyway.
fn describe_last_edit(digest: &Digest, same: &[&CallStep]) -> String {
    const MAX_NAMES: usize = 2;
    let (step, is_repeated) = (same[same.len() - 1], same.len() > 1);
    let path = step.path_or_command.as_str();
    let edit = digest.changes.iter().rfind(|edit| edit.path == path && edit.record == step.record);
    let count = |names: &ChangedNames| names.added.len() + names.changed.len() + names.removed.len();
    let Some(names) = edit.map(|edit| &edit.changed_names).filter(|names| {
        (1..=MAX_NAMES).contains(&count(names))
            && count(names) < count(&digest.names_changed_in_current_work(path))
    }) else {
        return String::new();
    };
    let all = [&names.added, &names.changed, &names.removed].into_iter().flatten();
    let all: Vec<String> = all.map(|name| in_backticks(name, 80)).collect();
    format!("{} {}", if is_repeated { "last in" } else { "in" }, all.join(", "))
}

/// Lists the lines that the newest of these calls read, such as ` lines 475–534, 570–599`. Nearby ranges are joined.
fn describe_lines(same: &[&CallStep]) -> String {
    const MAX_RANGES: usize = 3;
    const MAX_GAP: u64 = 10;
    // The newest call read the whole file.
    if same.last().is_none_or(|last| last.lines.is_none()) {
        return String::new();
    }
    let newest = same.len().saturating_sub(MAX_RANGES);
    let mut ranges: Vec<LineRange> = same[newest..].iter().filter_map(|step| step.lines).collect();
    ranges.sort_by_key(|range| range.first);
    let mut joined: Vec<LineRange> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.first <= last.last.saturating_add(MAX_GAP) => {
                last.last = last.last.max(range.last);
            }
            _ => joined.push(range),
        }
    }
    let each: Vec<String> = joined.iter().map(|range| format!("{}–{}", range.first, range.last)).collect();
    format!(" lines {}", each.join(", "))
}

/// Which of the calls after the last message are listed. The others are only counted.
#[derive(Clone, Copy)]
enum ListedSteps {
    /// The newest calls. The brief lists the edited files further down.
    Newest(usize),
    /// All edits, and the newest of the other calls.
    EditsAndOthers(usize),
}

/// Lists the calls that `listed` selects, oldest first. The list begins with the number of calls that are left
/// out.
fn list_steps(steps: &[String], listed: ListedSteps) -> String {
    let is_edit = |step: &str| step.starts_with(EDITED_VERB);
    let (steps, most, uncounted) = match listed {
        ListedSteps::EditsAndOthers(most) => (steps, most, 0),
        ListedSteps::Newest(most) => {
            let older = steps.len().saturating_sub(most);
            (&steps[older..], most, older)
        }
    };
    let others = steps.iter().filter(|step| !is_edit(step)).count();
    let mut left = others.saturating_sub(most);
    let before = match (uncounted, left) {
        (0, 0) => String::new(),
        (0, n) => format!("{}, ", count_with_noun(n, "other call")),
        (n, _) => format!("{}, ", count_with_noun(n, "call")),
    };
    let mut listed: Vec<String> = Vec::new();
    for step in steps {
        match (step.strip_prefix(EDITED_VERB), listed.last_mut()) {
            // Consecutive edits share one verb.
            (Some(file), Some(last)) if is_edit(last) => last.push_str(&format!(", {file}")),
            (None, _) if left > 0 => left -= 1,
            _ => listed.push(step.clone()),
        }
    }
    format!("{before}{}", listed.join(", "))
}

/// Describes one step, such as `edited src/a.rs` or ``ran `cargo test` → failed``.
fn describe_step(step: &CallStep) -> String {
    let path = || format_path_or_code(&step.path_or_command, 160);
    let ended = match (step.failed, step.passed) {
        (true, _) => " → failed",
        (false, true) => " → passed",
        (false, false) => "",
    };
    match step.action {
        ToolCallAction::Edited => format!("{EDITED_VERB}{}{ended}", path()),
        ToolCallAction::Read => format!("read {}{ended}", path()),
        ToolCallAction::Ran => {
            format!("ran {}{ended}", in_backticks(&step.path_or_command.replace(" 2>&1", ""), 120))
        }
        ToolCallAction::Called => format!("called {}{ended}", in_backticks(&step.path_or_command, 80)),
    }
}

/// Returns a note if many edits were made after the last change to the todo list, otherwise an empty string.
pub fn note_on_old_todos(edits: usize) -> String {
    match edits >= MIN_EDITS_OUTDATING_TODOS {
        true => format!(" (the list was last changed {edits} edits ago)"),
        false => String::new(),
    }
}

/// Adds the todo list on one line. Agents often tick off entries late, so an entry whose work is recorded is not
/// listed as open.
fn add_todo_list(digest: &Digest, all: &mut GatheredCandidates) {
    if !digest.are_todos_current() {
        return;
    }
    let (mut open, mut done) = (Vec::new(), Vec::new());
    let mut short: Vec<String> = Vec::new();
    let shortened = |text: &str| in_quotation_marks(text, MAX_SHORT_TODO_CHARS);
    for todo in digest.todos.iter().filter(|todo| !todo.text.trim().is_empty()) {
        match todo.status {
            Some(TodoStatus::Pending | TodoStatus::InProgress) | None if digest.is_todo_done(todo) => {
                done.push(in_quotation_marks(&todo.text, 80));
            }
            Some(TodoStatus::InProgress) => {
                short.insert(0, format!("{} (in progress)", shortened(&todo.text)));
                open.insert(0, format!("{} (in progress)", in_quotation_marks(&todo.text, 120)));
            }
            Some(TodoStatus::Completed) => done.push(in_quotation_marks(&todo.text, 80)),
            _ => {
                short.push(shortened(&todo.text));
                open.push(in_quotation_marks(&todo.text, 120));
            }
        }
    }
    // A list without open entries is not needed.
    if open.is_empty() {
        return;
    }
    let since = note_on_old_todos(digest.edits_since_todos());
    let first = |list: &[String], most: usize| {
        let more = list.len().saturating_sub(most);
        let more = if more > 0 { format!("; +{more} more") } else { String::new() };
        format!("{}{more}", list[..list.len().min(most)].join("; "))
    };
    let form = |most: usize| format!("To do{since}: {}", first(&open, most));
    // What is left to do is more important than how each entry ends.
    let short_form = |most: usize| format!("To do{since}: {}", first(&short, most));
    let mut forms = vec![short_form(MAX_SHORT_TODOS), short_form(usize::MAX), form(usize::MAX)];
    forms.dedup();
    all.add_fact(FactClass::State, "todos".to_owned(), forms).add_terse_form(form(1));
    if !done.is_empty() {
        let form = |most: usize| {
            let left = done.len().saturating_sub(most);
            let more = if left > 0 { format!(" +{left} before") } else { String::new() };
            format!("Done from the list: {}{more}", done[left..].join("; "))
        };
        let mut forms = vec![form(2), form(3)];
        forms.dedup();
        all.add_fact(FactClass::State, "todos-done".to_owned(), forms);
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
