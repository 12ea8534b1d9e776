//! `thru journal`: shows what happened in a session, call by call.

use std::collections::BTreeSet;
use std::time::Duration;

use model::digest::{Digest, FoldOutcome};
use model::event::EventName;
use model::id::Id;
use model::journal::JournalRecord;
use model::packet::words;
use model::prompt;
use serde::Serialize;
use store::{LogPosition, Store, layout};

use crate::features::ProjectContext;
use crate::project::{Project, settings};
use crate::session::list::{self, SessionChoiceReason};
use crate::session::{last, roster};
use crate::{Error, Result, World};

/// How long to wait between two reads of a followed journal.
pub const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// A journal that is being read. Duplicate calls are left out.
#[derive(Debug)]
pub struct JournalReader {
    pub session: Id,
    pub session_choice: SessionChoiceReason,
    store: Store,
    log_position: LogPosition,
    digest_so_far: Digest,
}

#[derive(Clone, Debug, Serialize)]
pub struct ListedSession {
    pub session: String,
    pub harness: String,
    pub first_at: String,
    pub last_at: String,
    pub records: u64,
    pub files: usize,
    /// Why the session ended. Empty as long as the session may continue.
    pub ended: String,
    /// The last prompt about the work, which `thru status` also shows. If there is none, the arguments of a slash command.
    pub title: String,
    pub prompt: String,
}

pub fn open_journal(world: &World, session: Option<&str>) -> Result<JournalReader> {
    let Project { root, store, .. } = Project::find_for_reading(world)?;
    let settings = settings::settings_here(world).settings();
    let context = ProjectContext { world, root: &root, store: &store, settings: &settings };
    let (session, chosen) = last::choose_session_at_work(&context, session)?;
    if !list::all_session_ids(&store)?.contains(&session) {
        return Err(Error::Absent {
            what: format!("nothing was captured from session `{session}` in this project"),
            hint: "`thru journal --list` shows the sessions".into(),
        });
    }
    let seen = Digest::new(session.as_str());
    Ok(JournalReader {
        session,
        session_choice: chosen,
        store,
        log_position: LogPosition::default(),
        digest_so_far: seen,
    })
}

/// Waits until there is a session. Calls `waiting` as long as there is none, so that the caller can tell the user what
/// it is waiting for.
pub fn wait_for_session(world: &World, mut waiting: impl FnMut()) -> Result<JournalReader> {
    loop {
        match open_journal(world, None) {
            Err(Error::Absent { .. }) => waiting(),
            reading => return reading,
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

impl JournalReader {
    /// Opens the journal of the newest session. Returns `None` if this reader's session was not a guess, or if that
    /// session is still the newest one.
    pub fn open_journal_of_newer_session(&self, world: &World) -> Option<JournalReader> {
        let is_guess = self.session_choice == SessionChoiceReason::Guess;
        is_guess
            .then(|| open_journal(world, None).ok())
            .flatten()
            .filter(|newest| newest.session != self.session)
    }

    /// Calls `each` for every record that was added since the last read.
    pub fn read_new_records(&mut self, mut each: impl FnMut(&JournalRecord)) -> Result<()> {
        let seen = &mut self.digest_so_far;
        let journal = layout::journal_path(&self.session);
        let new = self.store.dir().each_new_line(&journal, self.log_position, u64::MAX, |line| {
            if let Some(record) = JournalRecord::parse_line(line)
                && seen.fold_record(&record) == FoldOutcome::Counted
            {
                each(&record);
            }
        })?;
        // If the journal was cut or replaced in the meantime, the next read starts at its beginning.
        self.log_position = new.map(|new| new.end_position).unwrap_or_default();
        Ok(())
    }
}

/// Returns the arguments of the first slash command that has any, or else the first command. The journal is read,
/// because the digest leaves out commands that control the harness or thru.
fn title_from_first_command(store: &Store, session: &Id) -> Option<String> {
    let (mut with_arguments, mut first) = (None, None);
    let journal = layout::journal_path(session);
    let read = store.dir().each_new_line(&journal, LogPosition::default(), u64::MAX, |line| {
        let Some(record) = JournalRecord::parse_line(line) else { return };
        if with_arguments.is_some()
            || record.event_name() != Some(EventName::Prompt)
            || record.agent.is_some()
        {
            return;
        }
        if let Some((_, arguments)) = prompt::split_slash_command(&record.text) {
            first.get_or_insert_with(|| record.text.trim().to_owned());
            with_arguments = (!arguments.is_empty()).then(|| arguments.to_owned());
        }
    });
    read.ok()?;
    with_arguments.or(first)
}

pub fn list_sessions(world: &World) -> Result<Vec<ListedSession>> {
    let Some(Project { store, .. }) = Project::find_if_present(world)? else { return Ok(Vec::new()) };
    let (mut listed, mut continued) = (Vec::new(), BTreeSet::new());
    let entries = roster::read_roster(&store, u64::MAX)?;
    let is_crashed = |id: &Id| {
        let entry = entries.iter().find(|entry| entry.session == *id);
        entry.is_some_and(|entry| entry.has_crashed(&store, world.now))
    };
    for id in list::all_session_ids(&store)? {
        let digest = store.current_digest(&id, |_| {})?;
        let title = words::prompts_about_work(&digest.prompts).last().map(|prompt| prompt.text.clone());
        let title = title.or_else(|| title_from_first_command(&store, &id));
        continued.insert(digest.continued_session.clone());
        listed.push(ListedSession {
            session: id.to_string(),
            title: title.unwrap_or_default(),
            prompt: digest.prompts.last().map(|prompt| prompt.text.clone()).unwrap_or_default(),
            files: digest.files.len(),
            harness: digest.harness,
            first_at: digest.first_at,
            last_at: digest.last_at,
            records: digest.record_count,
            ended: match digest.end_reason {
                ended if ended.is_empty() && is_crashed(&id) => "crashed".to_owned(),
                ended => ended,
            },
        });
    }
    // A session that continued under a new id is no longer open under its old id.
    for open in listed.iter_mut().filter(|one| one.ended.is_empty() && continued.contains(&one.session)) {
        open.ended = "continued".to_owned();
    }
    listed.sort_by(|a, b| b.last_at.cmp(&a.last_at).then_with(|| a.session.cmp(&b.session)));
    Ok(listed)
}
