//! `thru resume gate`: shows which of a manifest's files the agent has read, according to the hooks.

use model::event::FileAction;
use model::id::Id;
use model::journal::JournalRecord;
use serde::Serialize;

use super::ResumeContext;
use crate::features::workstreams::{self, FileToLoad, LoadLocation, brief};
use crate::session::{journal, list};
use crate::{Error, Result, World};

#[derive(Clone, Debug, Serialize)]
pub struct ReadingGate {
    pub project_id: String,
    /// The session, or `None` if the project has had no session yet.
    pub session: Option<String>,
    pub files: Vec<FileOfReadingGate>,
    pub questions: Vec<String>,
    /// Whether the agent has edited anything since the last compaction.
    pub has_edited: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct FileOfReadingGate {
    pub written_path: String,
    pub location: LoadLocation,
    pub path: Option<String>,
    /// When the agent last read the file, or `None` if it has not done so since the last compaction.
    pub read_at: Option<String>,
    /// Whether the brief contained the whole current text of the file. Ticking a checkbox does not count as a change.
    pub was_in_brief: bool,
}

impl FileOfReadingGate {
    pub fn is_open(&self) -> bool {
        self.read_at.is_none() && !self.was_in_brief
    }
}

impl ReadingGate {
    pub fn is_open(&self) -> bool {
        self.files.iter().any(FileOfReadingGate::is_open)
    }
}

/// Returns which of the manifest's files the session has read since its last compaction.
pub fn reading_gate(world: &World, id: Option<&str>, session: Option<&str>) -> Result<ReadingGate> {
    let context = ResumeContext::open(world)?;
    let place = context.workstreams();
    let chosen = match list::choose_session(world, &context.project.store, session) {
        Err(Error::Absent { .. }) if session.is_none() => None,
        chosen => Some(chosen?.0),
    };
    let active =
        chosen.as_ref().and_then(|id| workstreams::session_state(&context.project.store, id.as_str()));
    let active = active.and_then(std::result::Result::ok).and_then(|state| state.active_project_id);
    let found = context.choose_workstream(id.or(active.as_deref()))?;
    let (_, manifest) = place.read_manifest(&found)?;
    // If the session does not work on this workstream, its edits from before the manifest's last update have nothing to
    // do with the workstream.
    let is_named = |id: &Id| manifest.session_ids.iter().any(|known| known == id.as_str());
    let is_own = active.as_deref() == Some(&found.id) || chosen.as_ref().is_some_and(is_named);
    let concerns = |record: &JournalRecord| is_own || *record.ts >= *manifest.last_updated;
    // The journal records when files were read. Count only reads after the last compaction.
    let (mut reads, mut has_edited) = (Vec::<(String, String)>::new(), false);
    let journal = chosen.as_ref().map(|id| journal::open_journal(world, Some(id.as_str())));
    let journal = match journal.transpose() {
        // The session has started, but its journal is still empty.
        Err(Error::Absent { .. }) if session.is_none() => None,
        journal => journal?,
    };
    let mut each = |record: &JournalRecord| {
        if record.is_compaction() {
            reads.clear();
            has_edited = false;
        }
        for file in record.files.iter().filter(|_| record.agent.is_none()) {
            reads.push((file.path.clone(), record.ts.to_string()));
            has_edited |= concerns(record)
                && !file.guess
                && matches!(file.action, FileAction::Edit | FileAction::Create);
        }
    };
    if let Some(mut journal) = journal {
        journal.read_new_records(&mut each)?;
    }
    let file = |load: FileToLoad| FileOfReadingGate {
        was_in_brief: chosen
            .as_ref()
            .is_some_and(|session| brief::is_file_text_in_context(&place, session, &load)),
        read_at: load
            .path
            .as_deref()
            .and_then(|path| reads.iter().find(|(read, _)| read == path))
            .map(|(_, at)| at.clone()),
        written_path: load.written_path,
        location: load.location,
        path: load.path,
    };
    let files = place.files_to_load(&found, &manifest)?.into_iter().map(file).collect();
    Ok(ReadingGate {
        project_id: found.id,
        session: chosen.map(|id| id.to_string()),
        files,
        questions: manifest.questions,
        has_edited,
    })
}
