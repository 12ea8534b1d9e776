//! The ways in which hostile files get into a project.

use std::fs;

use anyhow::Result;

use super::files::{self, Item};
use super::machine::{clone, commit, git, past_session, put, repository, trust, worked_in_clone};
use crate::scene::Scene;

pub struct Arrival {
    pub name: &'static str,
    /// Whether the user has vouched for the project: then hooks may record and tell, but run and feed nothing.
    pub is_trusted: bool,
    pub bring: fn(&Scene, &[Item]) -> Result<()>,
}

pub const ARRIVALS: &[Arrival] = &[
    Arrival { name: "trusted clone", is_trusted: true, bring: trusted },
    Arrival { name: "pulled after trust", is_trusted: true, bring: pulled },
    Arrival { name: "clone, not trusted", is_trusted: false, bring: cloned },
    Arrival { name: "written by an agent", is_trusted: true, bring: written },
    Arrival { name: "checked out after trust", is_trusted: true, bring: checked_out },
];

fn hostile_upstream(scene: &Scene, items: &[Item]) -> Result<()> {
    let all: Vec<Item> = files::harmless().into_iter().chain(items.iter().cloned()).collect();
    repository(&scene.dir.join("upstream"), &all)
}

pub fn cloned(scene: &Scene, items: &[Item]) -> Result<()> {
    hostile_upstream(scene, items)?;
    clone(scene, &scene.dir.join("upstream"))?;
    Ok(fs::remove_dir_all(scene.dir.join("upstream"))?)
}

pub fn trusted(scene: &Scene, items: &[Item]) -> Result<()> {
    cloned(scene, items)?;
    trust(scene)
}

pub fn pulled(scene: &Scene, items: &[Item]) -> Result<()> {
    worked_in_clone(scene)?;
    let upstream = scene.dir.join("upstream");
    put(items, &upstream)?;
    commit(&upstream)?;
    git(&scene.project(), &["pull", "--quiet", "--ff-only"])?;
    Ok(fs::remove_dir_all(upstream)?)
}

fn checked_out(scene: &Scene, items: &[Item]) -> Result<()> {
    let upstream = scene.dir.join("upstream");
    repository(&upstream, &files::harmless())?;
    git(&upstream, &["checkout", "--quiet", "-b", "feature"])?;
    put(items, &upstream)?;
    commit(&upstream)?;
    git(&upstream, &["checkout", "--quiet", "main"])?;
    clone(scene, &upstream)?;
    trust(scene)?;
    past_session(scene)?;
    git(&scene.project(), &["checkout", "--quiet", "feature"])?;
    Ok(fs::remove_dir_all(upstream)?)
}

/// A prompt-injected agent uses its own tools to write records. Git does not track them.
fn written(scene: &Scene, items: &[Item]) -> Result<()> {
    worked_in_clone(scene)?;
    fs::remove_dir_all(scene.dir.join("upstream"))?;
    put(items, &scene.project())
}
