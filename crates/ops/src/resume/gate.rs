//! `thru resume gate`: what of a manifest was read. Observed, not believed.

use model::event::Action;
use serde::Serialize;

use super::Desk;
use crate::workstreams::{self, Lies, Load};
use crate::{Result, World, journal, sessions};

#[derive(Clone, Debug, Serialize)]
pub struct Gate {
    pub project_id: String,
    pub session: String,
    pub files: Vec<GateFile>,
    pub questions: Vec<String>,
    /// Whether the agent has edited anything since the last compaction.
    pub editing: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct GateFile {
    pub named: String,
    pub lies: Lies,
    pub path: Option<String>,
    /// When the agent read it since the last compaction.
    pub read_at: Option<String>,
}

impl Gate {
    pub fn is_open(&self) -> bool {
        self.files.iter().any(|file| file.read_at.is_none())
    }
}

/// What of the manifest the session has read since it was compacted.
pub fn gate(world: &World, id: Option<&str>, session: Option<&str>) -> Result<Gate> {
    let desk = Desk::open(world)?;
    let place = desk.place();
    let (session, _) = sessions::choose(world, &desk.project.store, session)?;
    let active = workstreams::own_state(&desk.project.store, session.as_str());
    let active = active.and_then(std::result::Result::ok).and_then(|state| state.active_project_id);
    let found = desk.choose(id.or(active.as_deref()))?;
    let (_, manifest) = place.manifest(&found)?;
    // The journal knows when; the last compaction starts it anew.
    let (mut reads, mut editing) = (Vec::<(String, String)>::new(), false);
    journal::open(world, Some(session.as_str()))?.read(|record| {
        if record.event == "summary" {
            reads.clear();
            editing = false;
        }
        for file in record.files.iter().filter(|_| record.agent.is_none()) {
            reads.push((file.path.clone(), record.ts.to_string()));
            editing |= !file.guess && matches!(file.action, Action::Edit | Action::Create);
        }
    })?;
    let file = |load: Load| GateFile {
        read_at: load
            .path
            .as_deref()
            .and_then(|path| reads.iter().find(|(read, _)| read == path))
            .map(|(_, at)| at.clone()),
        named: load.named,
        lies: load.lies,
        path: load.path,
    };
    let files = place.loads(&found, &manifest)?.into_iter().map(file).collect();
    Ok(Gate {
        project_id: found.id,
        session: session.to_string(),
        files,
        questions: manifest.questions,
        editing,
    })
}
