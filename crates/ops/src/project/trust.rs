//! `thru trust`: the person at the terminal vouches for a store that came with the folder.

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
    /// False when it was so before.
    pub changed: bool,
    /// Where that is noted.
    pub record: PathBuf,
    /// What the store would have run or fed. Trust gives none of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wants: Vec<Want>,
}

pub fn grant(world: &World) -> Result<TrustReport> {
    person::require_person(world, "trust is not given", "thru trust")?;
    change(world, true)
}

pub fn revoke(world: &World) -> Result<TrustReport> {
    change(world, false)
}

pub fn list(world: &World) -> Result<Vec<(ProjectId, TrustedRoot)>> {
    Ok(world.need_trust()?.list()?)
}

fn change(world: &World, trusted: bool) -> Result<TrustReport> {
    let project = match world.find()? {
        Found::Marked { root, store, marker } => Project { root, store, marker },
        Found::Unmarked(root) => return Err(Error::NoRoot { path: root.path }),
    };
    let wants = if trusted { wants::all(world, &project) } else { Vec::new() };
    let (root, marker) = (project.root.path, project.marker);
    let trust = world.need_trust()?;
    let id = &marker.project_id;
    let changed = match trusted {
        true => trust.grant(id, &root, world.now, PATIENCE)?,
        false => trust.revoke(id, &root, PATIENCE)?,
    };
    Ok(TrustReport { root, record: trust.file(id), project_id: marker.project_id, trusted, changed, wants })
}
