//! `thru statusline`: prints one line about a session, for the harness's status line. It writes nothing.

use std::path::Path;

use harness::HARNESSES;
use harness::status::SessionStatus;
use model::id::Id;
use model::loops;
use model::loops::pointer::ForegroundPointer;
use model::plan;
use model::render::one_line;
use store::{FoundRoot, Store};

use crate::features::{ProjectContext, loops as loop_feature, outputs, packets, plan as plan_feature};
use crate::project::{consent, settings};
use crate::session::roster;
use crate::{Result, World};

/// The length to which names are cut.
const MAX_STATUS_LINE_NAME_CHARS: usize = 40;

/// Returns the status line for a harness's payload, or `None` if there is nothing to show. A part that causes an
/// error is left out.
pub fn render_status_line(world: &World, payload: &[u8]) -> Option<String> {
    let read = HARNESSES.iter().find_map(|harness| harness.status_line.as_ref())?.read_input;
    let status = read(payload)?;
    let mut parts: Vec<String> =
        status.window_percent.map(|percent| format!("context {percent}%")).into_iter().collect();
    parts.extend(project_parts(world, &status).unwrap_or_default());
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// Returns the parts that come from the project's records. An untrusted project has none, because another person may
/// have written its records.
fn project_parts(world: &World, status: &SessionStatus) -> Option<Vec<String>> {
    let session = Id::new(&status.session).ok()?;
    let explicit = world.explicit_root();
    let starts: Vec<&Path> =
        [&status.project, &status.cwd].into_iter().flatten().map(|text| Path::new(&**text)).collect();
    let starts: Vec<&Path> = starts.into_iter().filter(|path| path.is_absolute()).collect();
    let FoundRoot::Marked { root, store, marker } =
        world.find_root_from(explicit.as_deref(), &starts).ok()?
    else {
        return None;
    };
    if !world.is_trusted(&marker, &root.path) {
        return None;
    }
    let store = world.with_machine_records(store, &marker, &root.path);
    let settings = settings::settings_for_hook(world, Some(&store)).settings;
    let project = ProjectContext { world, root: &root, store: &store, settings: &settings };
    let parts = [task_part, loop_part, gate_part, role_part, packet_part]
        .map(|part| part(&project, &session).ok().flatten());
    Some(parts.into_iter().flatten().collect())
}

/// Returns the task in progress, for example `task 1.2`.
fn task_part(project: &ProjectContext, _: &Id) -> Result<Option<String>> {
    let Some(loaded) = plan_feature::load_plan(project.store)? else { return Ok(None) };
    let standing = plan::standing_of_plan(&loaded.plan);
    Ok(standing
        .in_progress
        .first()
        .map(|task| format!("task {}", one_line(&task.id, MAX_STATUS_LINE_NAME_CHARS))))
}

/// Returns the session's loop, for example `loop 3/20`. If the session has none, returns a loop whose session is over, for
/// example `loop 3/20 not running`.
fn loop_part(project: &ProjectContext, session: &Id) -> Result<Option<String>> {
    let store = project.store;
    let pointer = loop_feature::foreground_pointer(store)?;
    let Some(id) = pointer.loop_of_session(session.as_str()) else {
        return Ok(loop_left_behind(project, &pointer).map(|progress| format!("loop {progress} not running")));
    };
    Ok(progress_of_active_loop(store, id).map(|progress| format!("loop {progress}")))
}

/// Returns the progress of a loop whose session is over.
fn loop_left_behind(project: &ProjectContext, pointer: &ForegroundPointer) -> Option<String> {
    if pointer.by_session.is_empty() {
        return None;
    }
    let (store, now) = (project.store, project.world.now);
    let entries = roster::read_roster(store, roster::ROSTER_TAIL_BYTES).ok()?;
    let mut left =
        pointer.by_session.iter().filter(|(owner, _)| roster::is_over(&entries, store, owner, now));
    left.find_map(|(_, id)| progress_of_active_loop(store, id))
}

/// Returns the progress of an active loop, for example `3/20`, if the user started the loop on this machine.
fn progress_of_active_loop(store: &Store, id: &str) -> Option<String> {
    let state = store.read_loop(&Id::new(id).ok()?).ok()?.loop_state;
    let runs = state.status == loops::LoopStatus::Active && consent::is_started_here(store, &state);
    runs.then(|| state.iteration_progress().replace(" of ", "/"))
}

/// Returns the state of the gate: `gate 2/5 open` or `gate passed`.
fn gate_part(project: &ProjectContext, _: &Id) -> Result<Option<String>> {
    let live = outputs::live_run_state(project.store, project.root, project.settings)?;
    Ok(live.map(|live| match live.invalid_outputs.len() {
        0 => "gate passed".to_owned(),
        open => format!("gate {open}/{} open", live.outputs),
    }))
}

/// Returns the session's role, for example `role tester`.
fn role_part(project: &ProjectContext, session: &Id) -> Result<Option<String>> {
    Ok(project
        .store
        .role_of_session(session)?
        .map(|role| format!("role {}", one_line(role.as_str(), MAX_STATUS_LINE_NAME_CHARS))))
}

/// Returns the packet that the session has claimed, for example `packet 20261115T192200Z-parser`.
fn packet_part(project: &ProjectContext, session: &Id) -> Result<Option<String>> {
    let packet = packets::packet_claimed_by(project.store, session)?;
    Ok(packet.map(|packet| format!("packet {}", one_line(&packet, MAX_STATUS_LINE_NAME_CHARS))))
}
