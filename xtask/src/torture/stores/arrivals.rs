//! The ways in which hostile files get into a project.

use std::fs;

use anyhow::Result;

use super::files::{self, Item};
use super::machine::{clone, commit, git, past_session, put, repository, trust, worked_in_clone};
use crate::sandbox::Sandbox;

pub struct Arrival {
    pub name: &'static str,
    /// Whether the user has trusted the project. Then hooks may record and answer, but must neither run nor feed
    /// anything.
    pub is_trusted: bool,
    pub bring: fn(&Sandbox, &[Item]) -> Result<()>,
}

pub const ARRIVALS: &[Arrival] = &[
    Arrival { name: "trusted clone", is_trusted: true, bring: trusted },
    Arrival { name: "pulled after trust", is_trusted: true, bring: pulled },
    Arrival { name: "clone, not trusted", is_trusted: false, bring: cloned },
    Arrival { name: "written by an agent", is_trusted: true, bring: written },
    Arrival { name: "checked out after trust", is_trusted: true, bring: checked_out },
];

fn hostile_upstream(sandbox: &Sandbox, items: &[Item]) -> Result<()> {
    let all: Vec<Item> = files::harmless().into_iter().chain(items.iter().cloned()).collect();
    repository(&sandbox.dir.join("upstream"), &all)
}

pub fn cloned(sandbox: &Sandbox, items: &[Item]) -> Result<()> {
    hostile_upstream(sandbox, items)?;
    clone(sandbox, &sandbox.dir.join("upstream"))?;
    Ok(fs::remove_dir_all(sandbox.dir.join("upstream"))?)
}

pub fn trusted(sandbox: &Sandbox, items: &[Item]) -> Result<()> {
    cloned(sandbox, items)?;
    trust(sandbox)
}

pub fn pulled(sandbox: &Sandbox, items: &[Item]) -> Result<()> {
    worked_in_clone(sandbox)?;
    let upstream = sandbox.dir.join("upstream");
    put(items, &upstream)?;
    commit(&upstream)?;
    git(&sandbox.project(), &["pull", "--quiet", "--ff-only"])?;
    Ok(fs::remove_dir_all(upstream)?)
}

fn checked_out(sandbox: &Sandbox, items: &[Item]) -> Result<()> {
    let upstream = sandbox.dir.join("upstream");
    repository(&upstream, &files::harmless())?;
    git(&upstream, &["checkout", "--quiet", "-b", "feature"])?;
    put(items, &upstream)?;
    commit(&upstream)?;
    git(&upstream, &["checkout", "--quiet", "main"])?;
    clone(sandbox, &upstream)?;
    trust(sandbox)?;
    past_session(sandbox)?;
    git(&sandbox.project(), &["checkout", "--quiet", "feature"])?;
    Ok(fs::remove_dir_all(upstream)?)
}

/// A prompt-injected agent writes the records with its own tools, so git does not track them.
fn written(sandbox: &Sandbox, items: &[Item]) -> Result<()> {
    worked_in_clone(sandbox)?;
    fs::remove_dir_all(sandbox.dir.join("upstream"))?;
    put(items, &sandbox.project())
}
