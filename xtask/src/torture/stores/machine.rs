//! Sets up the victim's machine before the attack: repositories, trust, and the records of a session.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::files::{self, PROJECT_ID, RepositoryItem};
use crate::sandbox::Sandbox;
use crate::torture::prepare::{self, TOOL_DONE_HOOK_ARGV};

/// Runs git with settings that do not depend on the developer's machine.
pub fn run_git(folder: &Path, args: &[&str]) -> Result<()> {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    for (name, value) in [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_AUTHOR_NAME", "Mallory"),
        ("GIT_AUTHOR_EMAIL", "mallory@example.com"),
        ("GIT_COMMITTER_NAME", "Mallory"),
        ("GIT_COMMITTER_EMAIL", "mallory@example.com"),
    ] {
        git.env(name, value);
    }
    let output = git.output().context("starting git")?;
    ensure!(
        output.status.success(),
        "setting up the sandbox: git {} in {}: {}",
        args.join(" "),
        folder.display(),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(())
}

pub fn create_repository_items(items: &[RepositoryItem], project: &Path) -> Result<()> {
    items.iter().try_for_each(|item| item.create_in(project))
}

pub fn commit_all(folder: &Path) -> Result<()> {
    run_git(folder, &["add", "--force", "--all"])?;
    run_git(folder, &["commit", "--quiet", "--allow-empty", "--message", "work"])
}

/// Creates a repository with these files, committed on `main`.
pub fn create_repository(folder: &Path, items: &[RepositoryItem]) -> Result<()> {
    fs::create_dir_all(folder)?;
    run_git(folder, &["init", "--quiet", "--initial-branch=main", "--template="])?;
    create_repository_items(items, folder)?;
    commit_all(folder)
}

/// Replaces the empty project with the user's clone of `upstream`.
pub fn clone_project(sandbox: &Sandbox, upstream: &Path) -> Result<()> {
    if sandbox.project_folder().exists() {
        fs::remove_dir_all(sandbox.project_folder())?;
    }
    let [from, to] = [upstream, &sandbox.project_folder()].map(|path| path.display().to_string());
    run_git(&sandbox.dir, &["clone", "--quiet", "--template=", &from, &to])
}

/// Records that the user trusts the project, as `thru trust` does. `thru trust` itself refuses to run inside a harness,
/// and an agent may be running this test.
pub fn trust_project(sandbox: &Sandbox) -> Result<()> {
    trust_root(sandbox, &sandbox.project_folder(), PROJECT_ID)?;
    let status = sandbox.run_successfully(&["status", "--json"], b"")?;
    let told: Value = serde_json::from_slice(&status.stdout).unwrap_or_default();
    // If the project were not trusted, hooks would ignore its store, and the attacks on trusted stores would prove
    // nothing.
    ensure!(told["trusted"] == true, "setting up the sandbox: the project is not trusted: {told}");
    Ok(())
}

pub fn trust_root(sandbox: &Sandbox, root: &Path, project_id: &str) -> Result<()> {
    write_trust(&sandbox.state_folder(), root, project_id)
}

pub fn write_trust(state: &Path, root: &Path, project_id: &str) -> Result<()> {
    let record =
        json!({"schema_version": 1, "roots": [{"path": root, "trusted_at": "2026-01-01T00:00:00Z"}]});
    fs::create_dir_all(state.join("trust"))?;
    Ok(fs::write(state.join("trust").join(format!("{project_id}.json")), format!("{record:#}\n"))?)
}

/// Runs one of the user's sessions, so that hooks have something to report.
pub fn run_past_session(sandbox: &Sandbox) -> Result<()> {
    sandbox.run_successfully(
        &["hook", "claude-code", "SessionStart"],
        &prepare::session_start_payload(&sandbox.dir),
    )?;
    sandbox.run_successfully(TOOL_DONE_HOOK_ARGV, &prepare::tool_payload(&sandbox.dir))?;
    sandbox.run_successfully(prepare::STOP_HOOK_ARGV, &prepare::stop_payload(&sandbox.dir)).map(drop)
}

/// Prepares a sandbox with a harmless shared store that the user has cloned, trusted and worked in.
pub fn arrange_worked_in_clone(sandbox: &Sandbox) -> Result<()> {
    let upstream = sandbox.dir.join("upstream");
    create_repository(&upstream, &files::harmless_items())?;
    clone_project(sandbox, &upstream)?;
    trust_project(sandbox)?;
    run_past_session(sandbox)
}
