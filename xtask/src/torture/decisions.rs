//! Torture tests of decisions: sandboxes with decisions, the checks afterwards, and many parallel writers.

use std::fs;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::concurrency::{PARALLEL_WRITERS, build_tally, run_writers};
use super::judge::first_line;
use super::prepare::{TOOL_DONE_HOOK_ARGV, prepare_records};
use super::{LossKind, TortureDepth, TortureTally};
use crate::sandbox::{Sandbox, SandboxRoot, payload};

pub fn prepare_decisions(sandbox: &Sandbox) -> Result<()> {
    prepare_records(sandbox)?;
    sandbox.run_successfully(&["decide", "Use XML", "--why", "it is there"], b"")?;
    sandbox.run_successfully(&["decide", "Errors name the file", "--pattern"], b"").map(drop)
}

/// Prepares a sandbox in which the user has answered a question. `context.md` does not contain the answer yet.
pub fn prepare_answered_question(sandbox: &Sandbox) -> Result<()> {
    prepare_decisions(sandbox)?;
    sandbox.run_successfully(TOOL_DONE_HOOK_ARGV, &answer_payload(&sandbox.dir)).map(drop)
}

pub fn prepare_swarm_decisions(sandbox: &Sandbox) -> Result<()> {
    prepare_decisions(sandbox)?;
    fs::create_dir_all(sandbox.project_folder().join(".swarm"))?;
    let text = "## Decisions\n- Two passes\n- Static binary\n## Patterns\n- Small files\n";
    Ok(fs::write(sandbox.project_folder().join(".swarm/context.md"), text)?)
}

pub fn answer_payload(dir: &Path) -> Vec<u8> {
    let more = json!({"tool_name": "AskUserQuestion", "tool_use_id": "toolu_answer", "tool_input": {"questions": []},
                      "tool_response": {"questions": [], "answers": {"Which database?": "SQLite"}}});
    payload::hook_payload(dir, "PostToolUse", more)
}

pub fn is_decision_recorded(sandbox: &Sandbox) -> bool {
    decisions_in_force(sandbox)
        .is_some_and(|texts| texts.contains(&"Use TOML".to_owned()) && texts.contains(&"Use XML".to_owned()))
}

pub fn is_answer_recorded(sandbox: &Sandbox) -> bool {
    decisions_in_force(sandbox).is_some_and(|texts| texts.contains(&"Which database? → SQLite".to_owned()))
}

pub fn are_decisions_imported(sandbox: &Sandbox) -> bool {
    decisions_in_force(sandbox).is_some_and(|texts| texts.len() == 5)
}

/// Returns the text of each decision in force, or `None` if the decisions cannot be listed.
fn decisions_in_force(sandbox: &Sandbox) -> Option<Vec<String>> {
    let output = sandbox.run_thru(&["decisions", "list", "-n", "0", "--json"], b"").ok()?;
    let listing: Value = serde_json::from_slice(&output.stdout).ok()?;
    let decisions = listing["decisions"].as_array()?;
    decisions.iter().map(|one| one["text"].as_str().map(str::to_owned)).collect()
}

/// Makes all processes record decisions at the same time. Afterwards, each decision must be one complete line, and it
/// must be in force.
pub fn decisions_at_once(lab: &SandboxRoot, depth: TortureDepth) -> Result<TortureTally> {
    let each = if depth == TortureDepth::Quick { 5 } else { 20 };
    let sandbox = lab.sandbox("decisions")?;
    sandbox.init_root()?;
    let failed = run_writers(|writer| {
        let mut failed = Vec::new();
        for number in 0..each {
            let text = format!("decision {number} of {writer}");
            let output = sandbox.run_thru(&["decide", &text, "--why", "everyone does"], b"")?;
            if !output.status.success() {
                failed.push(format!("{text} ended with {}: {}", output.status, first_line(&output.stderr)));
            }
        }
        Ok(failed)
    })?;
    let mut wrong: Vec<_> = failed.into_iter().map(|text| (LossKind::NoLoss, text)).collect();
    let lines = fs::read_to_string(sandbox.store_folder().join("decisions.jsonl"))?.lines().count();
    let held = decisions_in_force(&sandbox).map_or(0, |texts| texts.len());
    if (lines, held) != (PARALLEL_WRITERS * each, PARALLEL_WRITERS * each) {
        wrong.push((
            LossKind::RecordLost,
            format!(
                "{} decisions were recorded as {lines} lines, and {held} are in force",
                PARALLEL_WRITERS * each
            ),
        ));
    }
    Ok(build_tally(PARALLEL_WRITERS * each, wrong, "64 × `thru decide TEXT --why WHY`"))
}
