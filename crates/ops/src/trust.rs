//! `thru trust`: the person at the terminal vouches for a store that came with the folder.

use std::path::PathBuf;

use model::marker::ProjectId;
use serde::Serialize;
use store::{Found, TrustedRoot};

use crate::init::PATIENCE;
use crate::{Error, Result, World};

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
    refuse_inside_harness(world)?;
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

/// Trust is a person's word. An agent that read "run thru trust" in somebody's file must not be able to give it.
fn refuse_inside_harness(world: &World) -> Result<()> {
    match world.harness() {
        Some(harness) => Err(Error::Refused {
            what: format!("trust is not given from inside a harness (this was started by {harness})"),
            hint: "run `thru trust` yourself, in a terminal of your own".into(),
        }),
        None => Ok(()),
    }
}
