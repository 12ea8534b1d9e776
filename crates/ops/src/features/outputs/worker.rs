//! Records which session works on a run. Only that session is told what the run is still waiting for, because other
//! sessions have no use for this information.

use std::path::Path;

use model::id::Id;
use store::{Root, RunFolder, SessionState, Store, layout};

use super::GateContext;
use super::live::folder_below_root;
use crate::hook::context::HookContext;
use crate::session::{list, roster};
use crate::{Result, World};

/// The run that a session works on. Either the session began the run, or one of its sub-agents writes one of the
/// outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RunWorkedOnBySession {
    /// The path of the run, relative to the root.
    folder: String,
}

impl SessionState for RunWorkedOnBySession {
    const STATE_FOLDER: &'static str = layout::RUN_WORKED_ON_BY_SESSION_FOLDER;
    const MAX_STATE_FILE_BYTES: usize = 16 * 1024;

    fn parse(bytes: &[u8]) -> std::result::Result<RunWorkedOnBySession, String> {
        let folder = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
        Ok(RunWorkedOnBySession { folder: folder.trim_end_matches('\n').to_owned() })
    }

    fn to_bytes(&self) -> Vec<u8> {
        format!("{}\n", self.folder).into_bytes()
    }
}

/// Records that the calling session works on a run, and returns that session. If the command is run at a terminal,
/// the session is a guess: the last active session of this checkout that has neither ended nor crashed.
pub(super) fn record_calling_session_works_on_run(
    world: &World,
    place: &GateContext,
    run: &RunFolder,
) -> Result<Option<Id>> {
    let session = match list::session_of_current_harness(world) {
        Some(session) => Some(session),
        None => running_session_here(world, place)?,
    };
    if let Some(session) = &session {
        record_session_works_on_run(&place.store, &place.root, session, run)?;
    }
    Ok(session)
}

/// Records that the calling agent's session works on a run. A sub-agent that the run launched is not recorded,
/// because it writes only its own output. Errors are ignored, because the command also works without this record.
pub(super) fn record_calling_agent_works_on_run(world: &World, place: &GateContext, run: &RunFolder) {
    let is_recorded = place.trusted && !world.is_inside_gate_run_launch();
    if let Some(session) = list::session_of_current_harness(world).filter(|_| is_recorded) {
        let _ = record_session_works_on_run(&place.store, &place.root, &session, run);
    }
}

fn running_session_here(world: &World, place: &GateContext) -> Result<Option<Id>> {
    let entries = roster::read_roster(&place.store, roster::ROSTER_TAIL_BYTES)?;
    let is_here = |entry: &roster::RosterEntry| Path::new(&entry.worktree) == place.root.checkout;
    Ok(list::last_running_session(&entries, &place.store, world.now, is_here))
}

/// Records that a session works on a run, unless that is already recorded.
pub(super) fn record_session_works_on_run(
    store: &Store,
    root: &Root,
    session: &Id,
    run: &RunFolder,
) -> Result<()> {
    let worked = RunWorkedOnBySession { folder: folder_below_root(root, run.path())?.1 };
    // If the existing record cannot be read, replace it.
    if store.session_state(session).read_state::<RunWorkedOnBySession>().ok().flatten().as_ref()
        == Some(&worked)
    {
        return Ok(());
    }
    Ok(store.session_state(session).write_state(&worked)?)
}

/// Returns whether a session works on `run`. If `run` is `None`, returns whether the session works on any run.
pub(super) fn does_session_work_on_run(
    store: &Store,
    root: &Root,
    session: &Id,
    run: Option<&RunFolder>,
) -> bool {
    let Ok(Some(worked)) = store.session_state(session).read_state::<RunWorkedOnBySession>() else {
        return false;
    };
    run.is_none_or(|run| folder_below_root(root, run.path()).is_ok_and(|(_, folder)| folder == worked.folder))
}

/// Lets a session that continues under a new id keep its run.
pub(super) fn continue_under_new_id(context: &HookContext, previous: &Id) -> Result<()> {
    Ok(context
        .project
        .store
        .session_state(context.session)
        .inherit_from_session::<RunWorkedOnBySession>(previous)?)
}
