//! Finds the root that an event belongs to.

use std::path::{Path, PathBuf};

use harness::Harness;
use model::event::{Event, EventKind, StartSource};
use model::marker::RootMarker;
use store::{FoundRoot, Root, Store};

use super::HookCall;
use super::deadline::Deadline;
use crate::World;
use crate::project::settings;
use crate::setup::init;

/// Finds an event's root, or returns `None` if there is none. Returns an error if there is a root whose marker cannot be
/// used. The harness's project folder is searched first, because it stays the same for the whole session, whereas `cwd`
/// changes with every `cd`.
pub(super) fn find_root(
    world: &World,
    harness: &Harness,
    call: &HookCall,
    event: Option<&Event>,
) -> store::Result<Option<(Root, Store, RootMarker)>> {
    let explicit = world.absolute_path_variable("THROUGHLINE_ROOT");
    let project = harness.project_variable.and_then(|name| world.absolute_path_variable(name));
    let cwd = event.and_then(|e| e.cwd.as_deref()).map(PathBuf::from).filter(|path| path.is_absolute());
    let mut starts: Vec<&Path> = project.as_deref().into_iter().collect();
    starts.extend(cwd.as_deref().filter(|cwd| Some(*cwd) != project.as_deref()));
    if explicit.is_none() && starts.is_empty() {
        return Ok(None);
    }
    Ok(match world.find_root_from(explicit.as_deref(), &starts)? {
        FoundRoot::Marked { root, store, marker } => {
            let checkout =
                cwd.as_deref().and_then(|cwd| worktree_of_cwd(world, &root, cwd)).unwrap_or(root.checkout);
            Some((Root { path: root.path, checkout }, store, marker))
        }
        FoundRoot::Unmarked(root) => {
            event.and_then(|event| create_root_if_configured(world, root, call, event))
        }
    })
}

/// Says why an event has no root, for `thru debug hook`.
pub(super) fn why_no_root(world: &World, harness: &Harness, event: Option<&Event>) -> String {
    if !names_a_folder(world, harness, event) {
        return "the payload names no folder, so thru cannot tell which project it is about".to_owned();
    }
    let cwd = event.and_then(|event| event.cwd.as_deref()).map(Path::new);
    match cwd.and_then(|cwd| world.excluded_root_at_or_above(cwd)) {
        Some((root, why)) => format!("no root: the one in {} is not used: {why}", root.display()),
        None => "no root: there is no .agent/context/root.json in this folder or above it".to_owned(),
    }
}

/// Returns whether the event or the environment names a folder in which a root can be searched for.
fn names_a_folder(world: &World, harness: &Harness, event: Option<&Event>) -> bool {
    let is_named = |name| world.absolute_path_variable(name).is_some();
    let cwd = event.and_then(|event| event.cwd.as_deref());
    cwd.is_some_and(|cwd| Path::new(cwd).is_absolute())
        || is_named("THROUGHLINE_ROOT")
        || harness.project_variable.is_some_and(is_named)
}

/// Returns the worktree that the session is in now, if it has moved to another worktree of the same root.
fn worktree_of_cwd(world: &World, root: &Root, cwd: &Path) -> Option<PathBuf> {
    if cwd == root.checkout {
        return None;
    }
    match world.find_root_from(None, &[cwd]) {
        Ok(FoundRoot::Marked { root: other, .. }) if other.path == root.path => Some(other.checkout),
        _ => None,
    }
}

/// Creates a root if the user's settings ask for it. By default they do not, because most users do not want a new
/// folder in every repository.
fn create_root_if_configured(
    world: &World,
    root: Root,
    call: &HookCall,
    event: &Event,
) -> Option<(Root, Store, RootMarker)> {
    let startup = matches!(event.kind, EventKind::SessionStart { source: StartSource::Startup });
    let settings = settings::settings_for_hook(world, None).settings;
    if !startup || !settings.hooks_enabled || !settings.hooks_auto_init {
        return None;
    }
    world.refuse_unfit_root(&root).ok()?;
    init::refuse_root_below_another(world, &root).ok()?;
    let wait = Deadline::of_event(Some(&event.kind), &settings, call.started_at).lock_wait();
    let created = init::create_store(world, &root, &init::InitOptions::default(), wait).ok()?;
    let store = Store::open_at_root(&root.path).ok()??;
    Some((root, store, created.marker))
}
