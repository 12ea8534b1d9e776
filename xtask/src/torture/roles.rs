//! Torture tests of roles: sandboxes with a role, and the checks afterwards.

use std::fs;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::prepare::{TOOL_CALL_ID, compact_payload, prepare_records};
use crate::sandbox::{SANDBOX_SESSION_ID, Sandbox, payload};

/// A valid context file. Its only warning is its age.
pub const ROLE_FILE_TEXT: &str = "# Tester — Session Context\n\n**Updated**: 2026-11-15\n**Role**: tester\n**Pane**: none\n\n\
    ## Recovery Steps\n1. Read this file\n\n## Completed Work\n1. This (DONE)\n";
pub const ROLE_PATH: &str = ".agent/context/agents/tester.context.md";

/// Prepares a sandbox whose session has a role, with a context file and a history.
pub fn prepare_role(sandbox: &Sandbox) -> Result<()> {
    prepare_records(sandbox)?;
    fs::create_dir_all(sandbox.store_folder().join("agents"))?;
    fs::write(sandbox.project_folder().join(ROLE_PATH), ROLE_FILE_TEXT)?;
    sandbox.run_successfully(&["role", "bind", "tester", "--session", SANDBOX_SESSION_ID], b"")?;
    sandbox.run_successfully(&["lifecycle", "save", "tester"], b"").map(drop)
}

pub fn prepare_invalid_context_file(sandbox: &Sandbox) -> Result<()> {
    prepare_records(sandbox)?;
    fs::create_dir_all(sandbox.store_folder().join("agents"))?;
    Ok(fs::write(sandbox.project_folder().join(ROLE_PATH), ROLE_FILE_TEXT.replacen('—', "-", 1))?)
}

pub fn prepare_compacting_role(sandbox: &Sandbox) -> Result<()> {
    prepare_role(sandbox)?;
    sandbox.run_successfully(&["hook", "claude-code", "PreCompact"], &compact_payload(&sandbox.dir)).map(drop)
}

pub fn payload_reading_context_file(sandbox: &Path) -> Vec<u8> {
    let more = json!({"tool_name": "Read", "tool_use_id": TOOL_CALL_ID,
        "tool_input": {"file_path": sandbox.join("project").join(ROLE_PATH)}});
    payload::hook_payload(sandbox, "PostToolUse", more)
}

pub fn has_role_file(sandbox: &Sandbox) -> bool {
    fs::read_to_string(sandbox.project_folder().join(ROLE_PATH))
        .is_ok_and(|text| text.starts_with("# Tester — "))
}

pub fn is_role_file_fixed(sandbox: &Sandbox) -> bool {
    fs::read_to_string(sandbox.project_folder().join(ROLE_PATH)).is_ok_and(|text| text == ROLE_FILE_TEXT)
}

pub fn is_role_bound(sandbox: &Sandbox) -> bool {
    fs::read_to_string(sandbox.store_folder().join("state/roles").join(SANDBOX_SESSION_ID))
        .is_ok_and(|text| text == "tester\n")
}

fn lifecycle_state(sandbox: &Sandbox, machine: &str) -> Option<String> {
    let bytes = fs::read(sandbox.store_folder().join(format!("state/lifecycle/{machine}.json"))).ok()?;
    let value: Value = serde_json::from_slice(&bytes).ok()?;
    value["state"].as_str().map(str::to_owned)
}

pub fn has_lifecycle_begun(sandbox: &Sandbox) -> bool {
    lifecycle_state(sandbox, "scribe").as_deref() == Some("active")
}

pub fn is_role_saved(sandbox: &Sandbox) -> bool {
    lifecycle_state(sandbox, "tester").as_deref() == Some("saved")
}

pub fn is_role_compacting(sandbox: &Sandbox) -> bool {
    lifecycle_state(sandbox, "tester").as_deref() == Some("compacting")
}

pub fn is_role_recovering(sandbox: &Sandbox) -> bool {
    lifecycle_state(sandbox, "tester").as_deref() == Some("recovering")
}

pub fn is_role_active(sandbox: &Sandbox) -> bool {
    lifecycle_state(sandbox, "tester").as_deref() == Some("active")
}
