//! `thru statusline`: one line about a session, for the status line of its harness. It only reads.

use std::path::Path;

use harness::HARNESSES;
use harness::status::Status;
use model::id::Id;
use model::loops;
use model::plan;
use model::render::one_line;
use store::Found;

use crate::features::{ProjectContext, loops as loop_feature, outputs, packets, plan as plan_feature};
use crate::project::{consent, settings};
use crate::{Result, World};

/// The longest name that is shown.
const NAME: usize = 40;

/// Returns the line for what the harness says about its session; `None` if there is nothing to show. A part that fails
/// is left out.
pub fn line(world: &World, payload: &[u8]) -> Option<String> {
    let read = HARNESSES.iter().find_map(|harness| harness.status_line.as_ref())?.read;
    let status = read(payload)?;
    let mut parts: Vec<String> =
        status.percent.map(|percent| format!("context {percent}%")).into_iter().collect();
    parts.extend(of_project(world, &status).unwrap_or_default());
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// Returns the parts from the project's records if the project is trusted: otherwise they may be somebody else's text.
fn of_project(world: &World, status: &Status) -> Option<Vec<String>> {
    let session = Id::new(&status.session).ok()?;
    let explicit = world.explicit();
    let starts: Vec<&Path> =
        [&status.project, &status.cwd].into_iter().flatten().map(|text| Path::new(&**text)).collect();
    let starts: Vec<&Path> = starts.into_iter().filter(|path| path.is_absolute()).collect();
    let Found::Marked { root, store, marker } = world.look_for(explicit.as_deref(), &starts).ok()? else {
        return None;
    };
    if !world.trusts(&marker, &root.path) {
        return None;
    }
    let store = world.with_machine_records(store, &marker, &root.path);
    let settings = settings::for_hook(world, Some(&store)).settings;
    let project = ProjectContext { world, root: &root, store: &store, settings: &settings };
    let parts = [task, loop_part, gate, role, packet].map(|part| part(&project, &session).ok().flatten());
    Some(parts.into_iter().flatten().collect())
}

/// Returns the task in progress: `task 1.2`.
fn task(project: &ProjectContext, _: &Id) -> Result<Option<String>> {
    let Some(loaded) = plan_feature::load(project.store)? else { return Ok(None) };
    let standing = plan::standing(&loaded.plan);
    Ok(standing.in_progress.first().map(|task| format!("task {}", one_line(&task.id, NAME))))
}

/// Returns the session's loop: `loop 3/20`.
fn loop_part(project: &ProjectContext, session: &Id) -> Result<Option<String>> {
    let store = project.store;
    let pointer = loop_feature::front(store)?;
    let Some(Ok(id)) = pointer.of(session.as_str()).map(Id::new) else { return Ok(None) };
    let state = store.read_loop(&id)?.state;
    if state.status != loops::Status::Active || !consent::is_started_here(store, &state) {
        return Ok(None);
    }
    Ok(Some(format!("loop {}", state.progress().replace(" of ", "/"))))
}

/// Returns the state of the gate: `gate 2/5 open`, or `gate passed`.
fn gate(project: &ProjectContext, _: &Id) -> Result<Option<String>> {
    let live = outputs::open(project.store, project.root, project.settings)?;
    Ok(live.map(|live| match live.open.len() {
        0 => "gate passed".to_owned(),
        open => format!("gate {open}/{} open", live.outputs),
    }))
}

/// Returns the session's role: `role tester`.
fn role(project: &ProjectContext, session: &Id) -> Result<Option<String>> {
    Ok(project.store.role_of(session)?.map(|role| format!("role {}", one_line(role.as_str(), NAME))))
}

/// Returns the packet that the session claimed: `packet 20261115T192200Z-parser`.
fn packet(project: &ProjectContext, session: &Id) -> Result<Option<String>> {
    let packet = packets::pickup::claimed_by(project.store, session)?;
    Ok(packet.map(|packet| format!("packet {}", one_line(&packet, NAME))))
}
