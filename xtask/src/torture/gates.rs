//! Torture tests of gates: runs with existing and missing outputs, and the checks afterwards.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::prepare::prepare_records;
use crate::sandbox::{Sandbox, payload};

pub const EXPECT_COMMAND: &[&str] =
    &["gate", "expect", "review", "--critical", "review-a.md", "--input", "plan.md"];

pub fn prepare_gate_files(sandbox: &Sandbox) -> Result<()> {
    prepare_records(sandbox)?;
    Ok(fs::write(sandbox.project_folder().join("plan.md"), "A plan.\n")?)
}

/// Prepares a sandbox with a live run of two outputs. One output exists. The other is missing, and the run has a
/// command that writes it.
pub fn prepare_half_finished_run(sandbox: &Sandbox) -> Result<()> {
    project_with_outputs(sandbox, "A report.\n\n<!-- AGENT_COMPLETE -->\n")
}

pub fn prepare_unsealed_output(sandbox: &Sandbox) -> Result<()> {
    project_with_outputs(sandbox, "A report.\n")
}

fn project_with_outputs(sandbox: &Sandbox, report: &str) -> Result<()> {
    prepare_gate_files(sandbox)?;
    // `gate expect` records the user's consent. Without consent, `thru` runs no command from a list in the project.
    let launch = "printf 'B.\\n<!-- AGENT_COMPLETE -->\\n' > \"$THROUGHLINE_OUTPUT\"";
    let expect = ["gate", "expect", "review", "review-a.md", "review-b.md", "--", "sh", "-c", launch];
    sandbox.run_successfully(&expect, b"")?;
    Ok(fs::write(only_run_folder(sandbox)?.join("review-a.md"), report)?)
}

fn only_run_folder(sandbox: &Sandbox) -> Result<PathBuf> {
    let mut runs = fs::read_dir(sandbox.project_folder().join(".agent/context/outputs"))?;
    Ok(runs.next().context("there is no run")??.path())
}

/// Returns the verdicts of `thru gate check` for the live run.
fn gate_verdicts(sandbox: &Sandbox) -> Vec<String> {
    let output =
        sandbox.run_thru(&["gate", "check", "--json"], b"").map(|output| output.stdout).unwrap_or_default();
    let told: Value = serde_json::from_slice(&output).unwrap_or_default();
    let rows = told["outputs"].as_array().cloned().unwrap_or_default();
    rows.iter().filter_map(|row| row["verdict"].as_str().map(str::to_owned)).collect()
}

pub fn is_output_expected(sandbox: &Sandbox) -> bool {
    gate_verdicts(sandbox) == ["missing"]
}

pub fn are_outputs_valid(sandbox: &Sandbox) -> bool {
    gate_verdicts(sandbox) == ["valid", "valid"]
}

pub fn is_output_sealed(sandbox: &Sandbox) -> bool {
    gate_verdicts(sandbox).first().is_some_and(|verdict| verdict == "valid")
}

pub fn is_src_set_live(sandbox: &Sandbox) -> bool {
    let output =
        sandbox.run_thru(&["gate", "live", "--json"], b"").map(|output| output.stdout).unwrap_or_default();
    serde_json::from_slice::<Value>(&output)
        .is_ok_and(|told| told["run"].as_str().is_some_and(|run| run.ends_with("/project/src")))
}

pub fn subagent_stop_payload(sandbox: &Path) -> Vec<u8> {
    let more = json!({"agent_id": "a1", "agent_type": "b", "last_assistant_message": "I said it instead."});
    payload::hook_payload(sandbox, "SubagentStop", more)
}

pub fn is_last_message_saved(sandbox: &Sandbox) -> bool {
    let text = only_run_folder(sandbox)
        .and_then(|run| Ok(fs::read_to_string(run.join("review-b.md.last-message.md"))?));
    text.is_ok_and(|text| text == "I said it instead.\n")
}
