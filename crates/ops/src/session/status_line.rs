//! `thru statusline`: prints one line about a session, for the harness's status line. It writes nothing.

use std::path::Path;

use harness::HARNESSES;
use harness::status::SessionStatus;
use model::id::Id;
use model::loops;
use model::plan;
use model::render::one_line;
use store::FoundRoot;

use crate::features::{ProjectContext, loops as loop_feature, outputs, packets, plan as plan_feature};
use crate::project::{consent, settings};
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

/// Returns the session's loop, for example `loop 3/20`.
fn loop_part(project: &ProjectContext, session: &Id) -> Result<Option<String>> {
    let store = project.store;
    let pointer = loop_feature::foreground_pointer(store)?;
    let Some(Ok(id)) = pointer.loop_of_session(session.as_str()).map(Id::new) else { return Ok(None) };
    let state = store.read_loop(&id)?.loop_state;
    if state.status != loops::LoopStatus::Active || !consent::is_started_here(store, &state) {
        return Ok(None);
    }
    Ok(Some(format!("loop {}", state.iteration_progress().replace(" of ", "/"))))
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
