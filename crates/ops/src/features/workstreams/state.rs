//! A session's small state files: the workstream before a compaction, the chosen workstream, the ticked checkboxes and
//! the reminders.

use std::collections::BTreeSet;

use model::id::Id;
use model::manifest::is_workstream_id;
use model::workstream::{MAX_WORKSTREAM_STATE_FILE_BYTES, WorkstreamAtCompaction};
use store::{SessionState, Store, layout};

use crate::hook::context::HookContext;

/// Reads a state file. Returns `None` if it does not exist. The error says why the file cannot be used.
pub fn read_state(store: &Store, rel: &str) -> Option<Result<WorkstreamAtCompaction, String>> {
    match store.dir().read_file(rel, MAX_WORKSTREAM_STATE_FILE_BYTES * 4) {
        Ok(bytes) => Some(WorkstreamAtCompaction::parse(&bytes)),
        Err(store::Error::Absent { .. }) => None,
        Err(error) => Some(Err(error.to_string())),
    }
}

/// Reads a session's own state file. Returns an error if the file belongs to another session.
pub fn session_state(store: &Store, session: &str) -> Option<Result<WorkstreamAtCompaction, String>> {
    let id = Id::new(session).ok()?;
    let state = match store.session_state(&id).read_state::<WorkstreamAtCompaction>() {
        Ok(state) => Ok(state?),
        Err(store::Error::Damaged { why, .. }) => Err(why),
        Err(error) => Err(error.to_string()),
    };
    Some(state.and_then(|state| match state.session_id.as_deref().filter(|of| *of != session) {
        Some(other) => Err(format!("it belongs to another session, {other}")),
        None => Ok(state),
    }))
}

/// The workstream that was chosen for a session with `thru resume use`. It takes precedence over a detected
/// workstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenWorkstream {
    pub id: String,
}

impl SessionState for ChosenWorkstream {
    const STATE_FOLDER: &'static str = layout::CHOSEN_WORKSTREAM_FOLDER;
    const MAX_STATE_FILE_BYTES: usize = 1024;

    fn parse(bytes: &[u8]) -> Result<ChosenWorkstream, String> {
        let id = String::from_utf8_lossy(bytes).trim().to_owned();
        if is_workstream_id(&id) {
            Ok(ChosenWorkstream { id })
        } else {
            Err("it does not name a workstream".to_owned())
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        format!("{}\n", self.id).into_bytes()
    }
}

/// The entries in a session's own task list whose checkboxes have been ticked. Each line contains a workstream id and
/// the fingerprint of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TickedEntries {
    pub entry_fingerprints: BTreeSet<String>,
}

impl SessionState for TickedEntries {
    const STATE_FOLDER: &'static str = layout::TICKED_BOXES_FOLDER;
    const MAX_STATE_FILE_BYTES: usize = 64 * 1024;

    fn parse(bytes: &[u8]) -> Result<TickedEntries, String> {
        Ok(TickedEntries { entry_fingerprints: nonempty_lines(bytes).collect() })
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.entry_fingerprints.iter().map(|mark| format!("{mark}\n")).collect::<String>().into_bytes()
    }
}

/// Records which sets of unread files the agent has been reminded of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RemindersSent {
    pub unread_file_sets: Vec<String>,
}

impl SessionState for RemindersSent {
    const STATE_FOLDER: &'static str = layout::REMINDERS_FOLDER;
    const MAX_STATE_FILE_BYTES: usize = 64 * 1024;

    fn parse(bytes: &[u8]) -> Result<RemindersSent, String> {
        Ok(RemindersSent { unread_file_sets: nonempty_lines(bytes).collect() })
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.unread_file_sets.iter().map(|set| format!("{set}\n")).collect::<String>().into_bytes()
    }
}

fn nonempty_lines(bytes: &[u8]) -> impl Iterator<Item = String> {
    String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect::<Vec<_>>().into_iter()
}

/// Lets a session that continues under a new id keep its workstream, its ticked checkboxes and its reminders.
pub fn continue_under_new_id(context: &HookContext, previous: &Id) -> crate::Result<()> {
    let store = context.project.store;
    let session = store.session_state(context.session);
    // A damaged state counts as missing, because the next compaction writes a new one.
    if let Ok(Some(state)) = store.session_state(previous).read_state::<WorkstreamAtCompaction>() {
        session.write_state(&WorkstreamAtCompaction {
            session_id: Some(context.session.to_string()),
            ..state
        })?;
    }
    session.inherit_from_session::<ChosenWorkstream>(previous)?;
    session.inherit_from_session::<TickedEntries>(previous)?;
    Ok(session.inherit_from_session::<RemindersSent>(previous)?)
}
