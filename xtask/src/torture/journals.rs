//! Reads the journal of the sandbox's session.

use std::fs;

use anyhow::Result;
use serde_json::Value;

use crate::sandbox::{SANDBOX_SESSION_ID, Sandbox};

/// Returns the journal of the sandbox's session and its rotated parts.
pub fn read_journals(sandbox: &Sandbox) -> Result<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(sandbox.store_folder().join("sessions"))? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(SANDBOX_SESSION_ID) && entry.path().is_file() {
            found.push(fs::read(entry.path())?);
        }
    }
    Ok(found)
}

/// Returns the ids of all tool calls in the journal of the sandbox's session.
pub fn tool_call_ids(sandbox: &Sandbox) -> Vec<String> {
    let logs = read_journals(sandbox).unwrap_or_default();
    let lines = logs.iter().flat_map(|log| log.split(|&byte| byte == b'\n'));
    lines
        .filter_map(|line| serde_json::from_slice::<Value>(line).ok())
        .filter_map(|line| line["id"].as_str().map(str::to_owned))
        .collect()
}
