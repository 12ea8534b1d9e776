//! `thru trust`: the person at the terminal vouches for a store that came with the folder.

use std::path::PathBuf;

use model::marker::ProjectId;
use serde::Serialize;
use store::{Found, TrustedRoot};

use crate::init::PATIENCE;
use crate::{Error, Result, World, person};

#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub root: PathBuf,
    pub project_id: ProjectId,
    pub trusted: bool,
    /// False when it was so before.
    pub changed: bool,
    /// Where that is noted.
    pub record: PathBuf,
}

pub fn grant(world: &World) -> Result<Report> {
    person::require_person(world, "trust is not given", "thru trust")?;
    change(world, true)
}

pub fn revoke(world: &World) -> Result<Report> {
    change(world, false)
}

pub fn list(world: &World) -> Result<Vec<(ProjectId, TrustedRoot)>> {
    Ok(world.need_trust()?.list()?)
}

fn change(world: &World, trusted: bool) -> Result<Report> {
    let (root, marker) = match world.find()? {
        Found::Marked { root, marker, .. } => (root.path, marker),
        Found::Unmarked(root) => return Err(Error::NoRoot { path: root.path }),
    };
    let trust = world.need_trust()?;
    let id = &marker.project_id;
    let changed = match trusted {
        true => trust.grant(id, &root, world.now, PATIENCE)?,
        false => trust.revoke(id, &root, PATIENCE)?,
    };
    Ok(Report { root, record: trust.file(id), project_id: marker.project_id, trusted, changed })
}
