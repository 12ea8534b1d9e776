//! `thru trust`: the user vouches for a store that came with the folder.

mod wants;

use std::path::PathBuf;

use model::marker::ProjectId;
use serde::Serialize;
use store::{Found, TrustedRoot};

pub use store::ConsentKind;
pub use wants::Want;

use crate::project::{Project, person};
use crate::setup::init::PATIENCE;
use crate::{Error, Result, World};

#[derive(Clone, Debug, Serialize)]
pub struct TrustReport {
    pub root: PathBuf,
    pub project_id: ProjectId,
    pub trusted: bool,
    /// False if there was nothing to change.
    pub changed: bool,
    /// Where it was trusted before it was moved here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    /// The file that records it.
    pub record: PathBuf,
    /// What the store would have run or fed. Trust allows none of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wants: Vec<Want>,
}

pub fn grant(world: &World) -> Result<TrustReport> {
    person::require_person(world, "trust is not given", "thru trust")?;
    change(world, true)
}

/// Trusts the project at its new path, if its old one no longer exists.
pub fn adopt_moved(world: &World) -> Result<TrustReport> {
    person::require_person(world, "trust is not given", "thru trust --moved")?;
    let project = marked(world)?;
    let (trust, id) = (world.need_trust()?, &project.marker.project_id);
    let Some(from) = trust.moved_from(id)? else {
        let path = project.root.path.display();
        let what = match trust.holds(id, &project.root.path)? {
            true => format!("{path} is trusted where it is: it was not moved"),
            false => {
                format!("this machine knows of no other place where {path} was trusted and which is gone")
            }
        };
        return Err(Error::Refused { what, hint: "`thru trust` trusts it where it is".into() });
    };
    let wants = wants::all(world, &project);
    let (root, marker) = (project.root.path, project.marker);
    trust.move_to(&marker.project_id, &root, world.now, PATIENCE)?;
    let record = trust.file(&marker.project_id);
    let moved_from = Some(from);
    Ok(TrustReport {
        root,
        record,
        project_id: marker.project_id,
        trusted: true,
        changed: true,
        moved_from,
        wants,
    })
}

pub fn revoke(world: &World) -> Result<TrustReport> {
    change(world, false)
}

pub fn list(world: &World) -> Result<Vec<(ProjectId, TrustedRoot)>> {
    Ok(world.need_trust()?.list()?)
}

fn marked(world: &World) -> Result<Project> {
    match world.find()? {
        Found::Marked { root, store, marker } => Ok(Project { root, store, marker }),
        Found::Unmarked(root) => Err(Error::NoRoot { path: root.path }),
    }
}

fn change(world: &World, trusted: bool) -> Result<TrustReport> {
    let project = marked(world)?;
    let wants = if trusted { wants::all(world, &project) } else { Vec::new() };
    let (root, marker) = (project.root.path, project.marker);
    let trust = world.need_trust()?;
    let id = &marker.project_id;
    let changed = match trusted {
        true => trust.grant(id, &root, world.now, PATIENCE)?,
        false => trust.revoke(id, &root, PATIENCE)?,
    };
    Ok(TrustReport {
        root,
        record: trust.file(id),
        project_id: marker.project_id,
        trusted,
        changed,
        moved_from: None,
        wants,
    })
}
