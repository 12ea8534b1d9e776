//! The ways in which hostile files arrive in a project.

use std::fs;

use anyhow::Result;

use super::files::{self, RepositoryItem};
use super::machine::{
    arrange_worked_in_clone, clone_project, commit_all, create_repository, create_repository_items, run_git,
    run_past_session, trust_project,
};
use crate::sandbox::Sandbox;

pub struct StoreArrival {
    pub name: &'static str,
    /// Whether the user has trusted the project. In a trusted project, hooks may record and answer, but must not run
    /// a command from it or give the agent a prompt from it.
    pub is_trusted: bool,
    pub bring_items: fn(&Sandbox, &[RepositoryItem]) -> Result<()>,
}

pub const ARRIVALS: &[StoreArrival] = &[
    StoreArrival { name: "trusted clone", is_trusted: true, bring_items: arrive_by_trusted_clone },
    StoreArrival { name: "pulled after trust", is_trusted: true, bring_items: arrive_by_pull },
    StoreArrival { name: "clone, not trusted", is_trusted: false, bring_items: arrive_by_clone },
    StoreArrival { name: "written by an agent", is_trusted: true, bring_items: arrive_by_agent },
    StoreArrival { name: "checked out after trust", is_trusted: true, bring_items: arrive_by_checkout },
];

fn create_hostile_upstream(sandbox: &Sandbox, items: &[RepositoryItem]) -> Result<()> {
    let all: Vec<RepositoryItem> = files::harmless_items().into_iter().chain(items.iter().cloned()).collect();
    create_repository(&sandbox.dir.join("upstream"), &all)
}

pub fn arrive_by_clone(sandbox: &Sandbox, items: &[RepositoryItem]) -> Result<()> {
    create_hostile_upstream(sandbox, items)?;
    clone_project(sandbox, &sandbox.dir.join("upstream"))?;
    Ok(fs::remove_dir_all(sandbox.dir.join("upstream"))?)
}

pub fn arrive_by_trusted_clone(sandbox: &Sandbox, items: &[RepositoryItem]) -> Result<()> {
    arrive_by_clone(sandbox, items)?;
    trust_project(sandbox)
}

pub fn arrive_by_pull(sandbox: &Sandbox, items: &[RepositoryItem]) -> Result<()> {
    arrange_worked_in_clone(sandbox)?;
    let upstream = sandbox.dir.join("upstream");
    create_repository_items(items, &upstream)?;
    commit_all(&upstream)?;
    run_git(&sandbox.project_folder(), &["pull", "--quiet", "--ff-only"])?;
    Ok(fs::remove_dir_all(upstream)?)
}

fn arrive_by_checkout(sandbox: &Sandbox, items: &[RepositoryItem]) -> Result<()> {
    let upstream = sandbox.dir.join("upstream");
    create_repository(&upstream, &files::harmless_items())?;
    run_git(&upstream, &["checkout", "--quiet", "-b", "feature"])?;
    create_repository_items(items, &upstream)?;
    commit_all(&upstream)?;
    run_git(&upstream, &["checkout", "--quiet", "main"])?;
    clone_project(sandbox, &upstream)?;
    trust_project(sandbox)?;
    run_past_session(sandbox)?;
    run_git(&sandbox.project_folder(), &["checkout", "--quiet", "feature"])?;
    Ok(fs::remove_dir_all(upstream)?)
}

/// Writes the records as a prompt-injected agent would, with the agent's own tools, so that git does not track them.
fn arrive_by_agent(sandbox: &Sandbox, items: &[RepositoryItem]) -> Result<()> {
    arrange_worked_in_clone(sandbox)?;
    fs::remove_dir_all(sandbox.dir.join("upstream"))?;
    create_repository_items(items, &sandbox.project_folder())
}
