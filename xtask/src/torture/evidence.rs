//! Torture tests of evidence: sandboxes with evidence, and the checks afterwards.

use std::fs;

use anyhow::Result;
use serde_json::{Value, json};

use super::plans::prepare_plan;
use super::prepare::{TOOL_DONE_HOOK_ARGV, prepare_records};
use crate::sandbox::{SANDBOX_SESSION_ID, Sandbox, payload};

pub fn prepare_evidence_entries(sandbox: &Sandbox) -> Result<()> {
    prepare_plan(sandbox)?;
    for number in 0..3 {
        sandbox.run_successfully(&["evidence", "add", "1.1", "--summary", &format!("note {number}")], b"")?;
    }
    Ok(())
}

/// Prepares a sandbox with an evidence bundle that is full. The next new entry moves the oldest entry to the archive.
pub fn prepare_full_bundle(sandbox: &Sandbox) -> Result<()> {
    prepare_plan(sandbox)?;
    let folder = sandbox.store_folder().join("evidence/1.1");
    fs::create_dir_all(&folder)?;
    let entries: Vec<Value> = (0..100)
        .map(|number| {
            json!({"id": format!("e{number}"), "task_id": "1.1", "type": "note", "timestamp": "2026-01-01T00:00:00Z",
                   "agent": "a", "verdict": "info", "summary": format!("note {number}")})
        })
        .collect();
    let bundle = json!({"schema_version": "1.0.0", "task_id": "1.1", "entries": entries, "created_at": "t", "updated_at": "t"});
    Ok(fs::write(folder.join("bundle.json"), bundle.to_string())?)
}

/// Returns whether the new entry is in the bundle, the oldest entry is in the archive once, and no entry is
/// missing.
pub fn is_oldest_archived(sandbox: &Sandbox) -> bool {
    let archive =
        fs::read_to_string(sandbox.store_folder().join("evidence/1.1/archive.jsonl")).unwrap_or_default();
    let kept = entry_summaries(sandbox);
    let is_there = |number: usize| kept.contains(&format!("note {number}"));
    let first = archive.matches("\"note 0\"").count();
    is_entry_added(sandbox)
        && kept.len() <= 100
        && first == 1
        && (1..100).all(|number| is_there(number) || archive.contains(&format!("\"note {number}\"")))
}

pub fn prepare_swarm_evidence(sandbox: &Sandbox) -> Result<()> {
    prepare_records(sandbox)?;
    let folder = sandbox.project_folder().join(".swarm/evidence/1.1");
    fs::create_dir_all(&folder)?;
    let entries: Vec<Value> = (0..3)
        .map(|number| json!({"type": "note", "verdict": "pass", "summary": format!("note {number}")}))
        .collect();
    Ok(fs::write(folder.join("evidence.json"), json!({"task_id": "1.1", "entries": entries}).to_string())?)
}

/// Prepares a sandbox with a task in progress, and a test run that no checkpoint has read yet.
pub fn prepare_test_run(sandbox: &Sandbox) -> Result<()> {
    prepare_plan(sandbox)?;
    sandbox.run_successfully(&["task", "start", "1.1", "--session", SANDBOX_SESSION_ID], b"")?;
    let said = json!({"stdout": "test result: ok. 5 passed; 0 failed; 0 ignored\n", "stderr": "", "interrupted": false});
    let input = json!({"command": "cargo test --workspace"});
    let more =
        json!({"tool_name": "Bash", "tool_input": input, "tool_response": said, "tool_use_id": "toolu_test"});
    sandbox
        .run_successfully(TOOL_DONE_HOOK_ARGV, &payload::hook_payload(&sandbox.dir, "PostToolUse", more))
        .map(drop)
}

pub fn is_entry_added(sandbox: &Sandbox) -> bool {
    entry_summaries(sandbox).iter().any(|summary| summary == "seen")
}

pub fn is_run_recorded(sandbox: &Sandbox) -> bool {
    bundle_entries(sandbox).iter().any(|entry| entry["exit_code"] == 0)
}

pub fn is_observed_run_recorded(sandbox: &Sandbox) -> bool {
    // The sandbox also contains runs of another command, so count only the runs of this one.
    let is_it = |entry: &&Value| entry["kind"] == "observed" && entry["command"] == "cargo test --workspace";
    bundle_entries(sandbox).iter().filter(is_it).count() == 1
}

/// Returns whether every entry is in the bundle or the archive, and the newest entry is still in the bundle.
pub fn are_entries_archived(sandbox: &Sandbox) -> bool {
    let archive =
        fs::read_to_string(sandbox.store_folder().join("evidence/1.1/archive.jsonl")).unwrap_or_default();
    let kept = entry_summaries(sandbox);
    let has = |number: usize| {
        let summary = format!("note {number}");
        kept.contains(&summary) || archive.contains(&summary)
    };
    kept == ["note 2"] && (0..3).all(has)
}

pub fn is_evidence_imported(sandbox: &Sandbox) -> bool {
    entry_summaries(sandbox) == ["note 0", "note 1", "note 2"]
}

/// Returns what is wrong with a new bundle, or `None` if it is readable. The entries are not checked here.
pub fn why_bundle_is_unreadable(new: &[u8]) -> Option<String> {
    let bundle: Option<Value> = serde_json::from_slice(new).ok();
    let entries = bundle.as_ref().and_then(|bundle| bundle["entries"].as_array());
    entries.is_none().then(|| "cannot be read any more".to_owned())
}

fn entry_summaries(sandbox: &Sandbox) -> Vec<String> {
    bundle_entries(sandbox).iter().filter_map(|entry| entry["summary"].as_str().map(str::to_owned)).collect()
}

fn bundle_entries(sandbox: &Sandbox) -> Vec<Value> {
    let bytes = fs::read(sandbox.store_folder().join("evidence/1.1/bundle.json")).unwrap_or_default();
    let bundle: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    bundle["entries"].as_array().cloned().unwrap_or_default()
}
