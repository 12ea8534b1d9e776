//! `thru trust`: lets the user allow hooks to use a store that came with the folder.

mod permission_requests;

use std::path::{Path, PathBuf};

use model::marker::ProjectId;
use serde::Serialize;
use store::{FoundRoot, TrustedRoot};

pub use permission_requests::PermissionRequest;
pub use store::ConsentKind;

use crate::features::ProjectContext;
use crate::project::{Project, person};
use crate::setup::init::MAX_WAIT_FOR_RECORD_LOCK;
use crate::{Error, Result, World};

#[derive(Clone, Debug, Serialize)]
pub struct TrustReport {
    pub root: PathBuf,
    pub project_id: ProjectId,
    pub trusted: bool,
    /// Whether the trust record was changed. False if there was nothing to change.
    pub changed: bool,
    /// The path at which the project was trusted before it was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    /// A path at which the project was trusted, if that path no longer exists. The project may have been moved from
    /// there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maybe_moved_from: Option<String>,
    /// How many consents were taken over from the old path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consents_taken_over: Option<usize>,
    /// The path of the trust record.
    pub record: PathBuf,
    /// The prompts and commands in the store that need permission. Trust alone allows none of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub permission_requests: Vec<PermissionRequest>,
}

pub fn grant_trust(world: &World) -> Result<TrustReport> {
    person::require_person(world, "trust cannot be granted", "thru trust")?;
    change_trust(world, true)
}

/// Trusts the project at its new path, if its old path no longer exists. Everything that the user allowed at the old
/// path stays allowed. That is safe, because each consent is valid only for exactly the same content.
pub fn trust_moved_project(world: &World) -> Result<TrustReport> {
    person::require_person(world, "trust cannot be granted", "thru trust --moved")?;
    let project = project_with_marker(world)?;
    let (trust, id) = (world.require_trust_records()?, &project.marker.project_id);
    let Some(from) = trust.former_path(id, &project.root.path)? else {
        // If this path is already trusted, act like `thru trust` without `--moved`.
        if trust.is_trusted(id, &project.root.path)? {
            return change_trust(world, true);
        }
        let path = project.root.path.display();
        return Err(Error::Refused {
            what: format!("no trusted folder is known to have been moved to {path}"),
            hint: "`thru trust` trusts this folder at its current path".into(),
        });
    };
    // Move the consents first. If the command is interrupted after that, the old path is still recorded, so the
    // command can be repeated.
    let taken = match project.store.consents() {
        Some(consents) => consents.move_from_former_roots(&trust.former_paths(id)?, world.now)?,
        None => 0,
    };
    trust.trust_new_path(id, &project.root.path, world.now, MAX_WAIT_FOR_RECORD_LOCK)?;
    let wants = permission_requests::all_permission_requests(world, &project);
    let Project { root, marker, .. } = project;
    Ok(TrustReport {
        record: trust.path_of_trust_record(&marker.project_id),
        root: root.path,
        project_id: marker.project_id,
        trusted: true,
        changed: true,
        moved_from: Some(from),
        maybe_moved_from: None,
        consents_taken_over: Some(taken),
        permission_requests: wants,
    })
}

/// Returns the path at which this project was trusted before its folder was moved.
pub(crate) fn former_root(world: &World, id: &ProjectId, root: &Path) -> Option<String> {
    world.trust_records()?.former_path(id, root).ok()?
}

/// Returns a hint that says how to trust a root. Unless the project was moved, the hint asks the user to look at
/// `what` first.
pub(crate) fn how_to_trust(world: &World, id: &ProjectId, root: &Path, what: &str) -> String {
    match former_root(world, id, root) {
        Some(from) => format!("it was moved from {from}: run `thru trust --moved`"),
        None => format!("look at {what}, then run `thru trust`"),
    }
}

/// Returns the current path of `folder` if it is below a path that the project was moved from. Any other path is
/// returned unchanged.
pub(crate) fn path_after_project_move(project: &ProjectContext, folder: &Path) -> PathBuf {
    let former = || {
        let id = project.store.read_marker().ok()?.project_id;
        let former = project.world.trust_records()?.former_paths(&id).ok()?;
        let rest = former.iter().find_map(|old| folder.strip_prefix(old).ok())?;
        // Collect the components, because joining an empty path would add a slash at the end.
        Some(project.root.path.components().chain(rest.components()).collect())
    };
    former().unwrap_or_else(|| folder.to_owned())
}

pub fn revoke_trust(world: &World) -> Result<TrustReport> {
    change_trust(world, false)
}

pub fn list_trusted_projects(world: &World) -> Result<Vec<(ProjectId, TrustedRoot)>> {
    Ok(world.require_trust_records()?.list_trusted_roots()?)
}

fn project_with_marker(world: &World) -> Result<Project> {
    match world.find_root()? {
        FoundRoot::Marked { root, store, marker } => Ok(Project { root, store, marker }),
        FoundRoot::Unmarked(root) => Err(Error::NoRoot { path: root.path }),
    }
}

fn change_trust(world: &World, trusted: bool) -> Result<TrustReport> {
    let project = project_with_marker(world)?;
    let wants =
        if trusted { permission_requests::all_permission_requests(world, &project) } else { Vec::new() };
    let (root, marker) = (project.root.path, project.marker);
    let trust = world.require_trust_records()?;
    let id = &marker.project_id;
    let changed = match trusted {
        true => trust.grant_trust(id, &root, world.now, MAX_WAIT_FOR_RECORD_LOCK)?,
        false => trust.revoke_trust(id, &root, MAX_WAIT_FOR_RECORD_LOCK)?,
    };
    let maybe_moved_from = if trusted { trust.former_path(id, &root)? } else { None };
    Ok(TrustReport {
        root,
        record: trust.path_of_trust_record(id),
        project_id: marker.project_id,
        trusted,
        changed,
        moved_from: None,
        maybe_moved_from,
        consents_taken_over: None,
        permission_requests: wants,
    })
}
