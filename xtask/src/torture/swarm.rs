//! Torture tests of a swarm: installing and removing its agents, and recording a verdict as evidence.

use std::fs;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::plans::prepare_plan;
use super::prepare::{GIT_EXCLUDE_LIST_TEXT, GIT_EXCLUDE_PATH, prepare_settings};
use crate::sandbox::{Sandbox, payload};

pub const SWARM_INSTALL_ARGV: &[&str] = &["swarm", "install", "--harness", "claude-code", "--local"];
pub const SWARM_UNINSTALL_ARGV: &[&str] = &["swarm", "uninstall", "--harness", "claude-code", "--local"];
pub const SUBAGENT_STOP_HOOK_ARGV: &[&str] = &["hook", "claude-code", "SubagentStop"];

const AGENT_NAMES: [&str; 7] =
    ["architect", "coder", "critic", "explorer", "reviewer", "sme", "test_engineer"];

pub fn prepare_installed_agents(sandbox: &Sandbox) -> Result<()> {
    prepare_settings(sandbox)?;
    sandbox.run_successfully(SWARM_INSTALL_ARGV, b"").map(drop)
}

pub fn prepare_foreign_plan(sandbox: &Sandbox) -> Result<()> {
    prepare_plan(sandbox)?;
    sandbox.run_successfully(&["swarm", "plan", "--adopt", "--swarm", "other"], b"").map(drop)
}

pub fn are_agents_installed(sandbox: &Sandbox) -> bool {
    AGENT_NAMES
        .iter()
        .all(|name| read_agent_file(sandbox, name).is_ok_and(|text| text.ends_with("removes it -->\n")))
}

pub fn are_agents_uninstalled(sandbox: &Sandbox) -> bool {
    AGENT_NAMES.iter().all(|name| read_agent_file(sandbox, name).is_err())
        && fs::read_to_string(sandbox.dir.join(GIT_EXCLUDE_PATH))
            .is_ok_and(|text| text == GIT_EXCLUDE_LIST_TEXT)
}

fn read_agent_file(sandbox: &Sandbox, name: &str) -> std::io::Result<String> {
    fs::read_to_string(sandbox.project_folder().join(format!(".claude/agents/{name}.md")))
}

pub fn is_plan_adopted(sandbox: &Sandbox) -> bool {
    let text = fs::read_to_string(sandbox.store_folder().join("plan.json")).unwrap_or_default();
    serde_json::from_str::<Value>(&text).is_ok_and(|plan| plan["swarm"] == "default")
}

pub fn verdict_payload(dir: &Path) -> Vec<u8> {
    let more = json!({
        "agent_id": "a1", "agent_type": "reviewer", "last_assistant_message": "VERDICT: REJECTED\nRISK: HIGH\nISSUES:\n- it leaks",
    });
    payload::hook_payload(dir, "SubagentStop", more)
}

pub fn is_verdict_recorded(sandbox: &Sandbox) -> bool {
    let text =
        fs::read_to_string(sandbox.store_folder().join("evidence/1.1/bundle.json")).unwrap_or_default();
    let bundle: Value = serde_json::from_str(&text).unwrap_or_default();
    let entries = bundle["entries"].as_array().cloned().unwrap_or_default();
    entries.iter().filter(|entry| entry["agent"] == "reviewer" && entry["verdict"] == "rejected").count() == 1
}
