//! The items that a brief or a summary should contain at a cut. They are derived from the events before and after the
//! cut.

use std::collections::BTreeSet;

use super::commands::{UsefulCommands, commands_that_ran_again, useful_commands};
use super::cut::{MAX_CALLS_AFTER, RecallSession, SessionCut, collapse_white_space, collapsed_beginning};
use super::effects::{self, RecallEffect};
use super::errors::{self, RecurringError};
use super::events::{CallOutcome, EventKind, ToolCall, TranscriptEvent};
use super::labels::{self, Labels};

/// The minimum length of a prompt that describes a task, in characters. A shorter prompt is usually an answer.
const MIN_TASK_PROMPT_CHARS: usize = 40;

#[derive(Debug, Default)]
pub struct WantedItems {
    /// Files that were used before the cut and are used again by the next calls.
    pub files_again: BTreeSet<String>,
    /// Useful commands that ran before the cut and run again in the next calls.
    pub commands_again: UsefulCommands,
    /// The command lines that ran before the cut and are repeated after it. Only the beginning of each line is compared
    /// and kept.
    pub command_lines_again: BTreeSet<String>,
    /// The newest prompt of any length.
    pub newest_prompt: Option<String>,
    /// The newest prompt that is long enough to describe a task.
    pub newest_task_prompt: Option<String>,
    pub prompts: BTreeSet<String>,
    /// The commands that were failing at the cut, or `None` if nobody has labelled them.
    pub open_failures: Option<Vec<String>>,
    pub edited_files: BTreeSet<String>,
    pub read_files: BTreeSet<String>,
    pub effects: Vec<RecallEffect>,
    pub errors_again: Vec<RecurringError>,
    /// Every command since the last compaction.
    pub commands: BTreeSet<String>,
    /// The files that were used before the point at which the session is cut, without duplicates. The file that was
    /// used last comes last.
    pub files_by_recency: Vec<String>,
    /// The files of `files_by_recency`, with the most frequently used file last.
    pub files_by_frequency: Vec<String>,
}

impl WantedItems {
    pub fn after_cut(session: &RecallSession, cut: &SessionCut, labels: &Labels) -> WantedItems {
        let (files_by_recency, files_by_frequency) = sort_paths_by_use(session.files_seen_before(cut));
        let events = session.events_since_compaction(cut);
        let failed = ids_of_failed_calls(events);
        // A read that failed was usually of a file that does not exist. An edit that failed shows that the agent works on
        // the file.
        let files = |edits: bool| -> BTreeSet<String> {
            let calls = events.iter().filter_map(|event| event.as_call());
            let all =
                calls.filter(|call| edits || !failed.contains(call.id.as_str())).flat_map(|call| &call.files);
            all.filter(|file| file.edited == edits).map(|file| file.path.clone()).collect()
        };
        let after: Vec<&ToolCall> = session.calls_after(cut, MAX_CALLS_AFTER).collect();
        let touched_after: BTreeSet<&str> =
            after.iter().flat_map(|call| &call.files).map(|file| file.path.as_str()).collect();
        let lines_after = || after.iter().filter_map(|call| call.command.as_deref());
        let command_lines_after: BTreeSet<String> = lines_after().map(collapsed_beginning).collect();
        let prompts: Vec<&str> = prompts_in(session.events_since_compaction(cut)).collect();
        let mut telling = prompts
            .iter()
            .rev()
            .copied()
            .chain(prompts_before(session, cut))
            .filter(|text| describes_task(text));
        let command_lines_ever = shell_commands_in_events(session.events_before(cut));
        let lines_before = session.events_before(cut).iter().filter_map(TranscriptEvent::as_shell_command);
        let useful_before = useful_commands(lines_before, |folder| session.folder_in_session(folder));
        let useful_after = useful_commands(lines_after(), |folder| session.folder_in_session(folder));
        WantedItems {
            files_again: files_by_recency
                .iter()
                .filter(|path| touched_after.contains(path.as_str()))
                .cloned()
                .collect(),
            commands_again: commands_that_ran_again(&useful_before, &useful_after),
            command_lines_again: command_lines_after.intersection(&command_lines_ever).cloned().collect(),
            newest_prompt: prompts.last().copied().map(collapsed_beginning),
            newest_task_prompt: telling.next().map(collapsed_beginning),
            prompts: prompts.iter().map(|text| collapsed_beginning(text)).collect(),
            open_failures: labels::open_commands_at_cut(labels, session, cut),
            edited_files: files(true),
            read_files: files(false),
            effects: effects::effects_of_events(session.events_since_compaction(cut)),
            errors_again: errors::recurring_errors(session, cut),
            commands: shell_commands_in_events(session.events_since_compaction(cut)),
            files_by_recency,
            files_by_frequency,
        }
    }
}

fn ids_of_failed_calls(events: &[TranscriptEvent]) -> BTreeSet<&str> {
    events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Result { call_id, end: CallOutcome::Failed, .. } => Some(call_id.as_str()),
            _ => None,
        })
        .collect()
}

fn prompts_in(events: &[TranscriptEvent]) -> impl DoubleEndedIterator<Item = &str> {
    events.iter().filter_map(|event| match &event.kind {
        EventKind::Prompt(text) => Some(text.as_str()),
        _ => None,
    })
}

/// Returns the prompts before the previous compaction, newest first.
fn prompts_before<'a>(session: &'a RecallSession, cut: &SessionCut) -> impl Iterator<Item = &'a str> {
    prompts_in(&session.events[..cut.first_event_since_compaction]).rev()
}

fn describes_task(text: &str) -> bool {
    collapse_white_space(text).chars().count() >= MIN_TASK_PROMPT_CHARS
}

fn shell_commands_in_events(events: &[TranscriptEvent]) -> BTreeSet<String> {
    let all = events.iter().filter_map(|event| event.as_shell_command()).map(collapsed_beginning);
    all.filter(|command| !command.is_empty()).collect()
}

/// Returns each path once, in two orders: the most recently used path last, and the most frequently used path last. If
/// two paths were used equally often, the more recent path comes later.
fn sort_paths_by_use<'a>(paths: impl Iterator<Item = &'a str>) -> (Vec<String>, Vec<String>) {
    let mut recent: Vec<String> = Vec::new();
    let mut uses: Vec<(usize, String)> = Vec::new();
    for path in paths {
        recent.retain(|known| known != path);
        recent.push(path.to_owned());
        match uses.iter_mut().find(|(_, known)| known == path) {
            Some((times, _)) => *times += 1,
            None => uses.push((1, path.to_owned())),
        }
    }
    uses.sort_by_key(|(times, path)| (*times, recent.iter().position(|known| known == path)));
    (recent, uses.into_iter().map(|(_, path)| path).collect())
}
