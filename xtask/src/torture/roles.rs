//! Roles under torture: sandboxes with a role, and what must be true of the role afterwards.

use std::fs;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::rows::{TOOL_ID, compact, lived_in};
use crate::sandbox::{SESSION, Sandbox, payload};

/// A valid context file. The only warning about it is that it is old.
pub const ROLE: &str = "# Tester — Session Context\n\n**Updated**: 2026-11-15\n**Role**: tester\n**Pane**: none\n\n\
    ## Recovery Steps\n1. Read this file\n\n## Completed Work\n1. This (DONE)\n";
pub const ROLE_PATH: &str = ".agent/context/agents/tester.context.md";

/// A sandbox whose session has a role, with a context file and a history.
pub fn with_role(sandbox: &Sandbox) -> Result<()> {
    lived_in(sandbox)?;
    fs::create_dir_all(sandbox.store().join("agents"))?;
    fs::write(sandbox.project().join(ROLE_PATH), ROLE)?;
    sandbox.must(&["role", "bind", "tester", "--session", SESSION], b"")?;
    sandbox.must(&["lifecycle", "save", "tester"], b"").map(drop)
}

pub fn with_bad_role(sandbox: &Sandbox) -> Result<()> {
    lived_in(sandbox)?;
    fs::create_dir_all(sandbox.store().join("agents"))?;
    Ok(fs::write(sandbox.project().join(ROLE_PATH), ROLE.replacen('—', "-", 1))?)
}

pub fn compacting(sandbox: &Sandbox) -> Result<()> {
    with_role(sandbox)?;
    sandbox.must(&["hook", "claude-code", "PreCompact"], &compact(&sandbox.dir)).map(drop)
}

pub fn reads_role(sandbox: &Path) -> Vec<u8> {
    let more = json!({"tool_name": "Read", "tool_use_id": TOOL_ID,
        "tool_input": {"file_path": sandbox.join("project").join(ROLE_PATH)}});
    payload::event(sandbox, "PostToolUse", more)
}

pub fn has_role_file(sandbox: &Sandbox) -> bool {
    fs::read_to_string(sandbox.project().join(ROLE_PATH)).is_ok_and(|text| text.starts_with("# Tester — "))
}

pub fn is_mended(sandbox: &Sandbox) -> bool {
    fs::read_to_string(sandbox.project().join(ROLE_PATH)).is_ok_and(|text| text == ROLE)
}

pub fn is_bound(sandbox: &Sandbox) -> bool {
    fs::read_to_string(sandbox.store().join("state/roles").join(SESSION)).is_ok_and(|text| text == "tester\n")
}

fn state_of(sandbox: &Sandbox, machine: &str) -> Option<String> {
    let bytes = fs::read(sandbox.store().join(format!("state/lifecycle/{machine}.json"))).ok()?;
    let value: Value = serde_json::from_slice(&bytes).ok()?;
    value["state"].as_str().map(str::to_owned)
}

pub fn has_begun(sandbox: &Sandbox) -> bool {
    state_of(sandbox, "scribe").as_deref() == Some("active")
}

pub fn is_saved(sandbox: &Sandbox) -> bool {
    state_of(sandbox, "tester").as_deref() == Some("saved")
}

pub fn is_compacting(sandbox: &Sandbox) -> bool {
    state_of(sandbox, "tester").as_deref() == Some("compacting")
}

pub fn is_recovering(sandbox: &Sandbox) -> bool {
    state_of(sandbox, "tester").as_deref() == Some("recovering")
}

pub fn is_active(sandbox: &Sandbox) -> bool {
    state_of(sandbox, "tester").as_deref() == Some("active")
}
