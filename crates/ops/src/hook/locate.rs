//! Finds the root that an event belongs to.

use std::path::{Path, PathBuf};

use harness::Harness;
use model::event::{Event, Kind, Source};
use model::marker::Marker;
use store::{Found, Root, Store};

use super::Call;
use super::deadline::Deadline;
use crate::World;
use crate::project::settings;
use crate::setup::init;

/// Finds the root of an event. The harness's project folder is searched first: it stays the folder where the
/// session began, while `cwd` changes with `cd`.
pub(super) fn find_root(
    world: &World,
    harness: &Harness,
    call: &Call,
    event: Option<&Event>,
) -> Option<(Root, Store, Marker)> {
    let explicit = world.path("THROUGHLINE_ROOT");
    let project = harness.project_dir.and_then(|name| world.path(name));
    let cwd = event.and_then(|e| e.cwd.as_deref()).map(PathBuf::from).filter(|path| path.is_absolute());
    let mut starts: Vec<&Path> = project.as_deref().into_iter().collect();
    starts.extend(cwd.as_deref().filter(|cwd| Some(*cwd) != project.as_deref()));
    match world.look_for(explicit.as_deref(), &starts) {
        Ok(Found::Marked { root, store, marker }) => {
            let checkout =
                cwd.as_deref().and_then(|cwd| checkout_of(world, &root, cwd)).unwrap_or(root.checkout);
            Some((Root { path: root.path, checkout }, store, marker))
        }
        Ok(Found::Unmarked(root)) => auto_init(world, root, call, event?),
        Err(_) => None,
    }
}

/// Returns the worktree that the session is in now, if it has moved to another worktree of the same root.
fn checkout_of(world: &World, root: &Root, cwd: &Path) -> Option<PathBuf> {
    if cwd == root.checkout {
        return None;
    }
    match world.look_for(None, &[cwd]) {
        Ok(Found::Marked { root: other, .. }) if other.path == root.path => Some(other.checkout),
        _ => None,
    }
}

/// Creates a root if the user's settings ask for it. This is off by default, because most users do not want a new
/// folder in every repository.
fn auto_init(world: &World, root: Root, call: &Call, event: &Event) -> Option<(Root, Store, Marker)> {
    let startup = matches!(event.kind, Kind::SessionStart { source: Source::Startup });
    let settings = settings::for_hook(world, None).settings;
    if !startup || !settings.hooks_enabled || !settings.hooks_auto_init {
        return None;
    }
    world.refuse_unfit(&root).ok()?;
    init::refuse_below_another(world, &root).ok()?;
    let wait = Deadline::of_event(Some(&event.kind), &settings, call.started).wait();
    let created = init::create(world, &root, &init::Options::default(), wait).ok()?;
    let store = Store::at(&root.path).ok()??;
    Some((root, store, created.marker))
}
