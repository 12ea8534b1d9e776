//! Gates under torture: runs with outputs that are there or not, and what must be true of them afterwards.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::rows::lived_in;
use crate::scene::{Scene, payload};

pub const EXPECT: &[&str] = &["gate", "expect", "review", "--critical", "review-a.md", "--input", "plan.md"];

pub fn with_plan(scene: &Scene) -> Result<()> {
    lived_in(scene)?;
    Ok(fs::write(scene.project().join("plan.md"), "A plan.\n")?)
}

/// A live run: one output is there, one is missing and has a command that makes it.
pub fn half_run(scene: &Scene) -> Result<()> {
    with_outputs(scene, "A report.\n\n<!-- AGENT_COMPLETE -->\n")
}

pub fn unsealed(scene: &Scene) -> Result<()> {
    with_outputs(scene, "A report.\n")
}

fn with_outputs(scene: &Scene, report: &str) -> Result<()> {
    with_plan(scene)?;
    // By the command, so that it counts as given by the user: a list that lies there launches nothing.
    let launch = "printf 'B.\\n<!-- AGENT_COMPLETE -->\\n' > \"$THROUGHLINE_OUTPUT\"";
    let expect = ["gate", "expect", "review", "review-a.md", "review-b.md", "--", "sh", "-c", launch];
    scene.must(&expect, b"")?;
    Ok(fs::write(run(scene)?.join("review-a.md"), report)?)
}

/// The folder of the one run there is.
fn run(scene: &Scene) -> Result<PathBuf> {
    let mut runs = fs::read_dir(scene.project().join(".agent/context/outputs"))?;
    Ok(runs.next().context("there is no run")??.path())
}

/// What `thru gate check` says of the live run.
fn verdicts(scene: &Scene) -> Vec<String> {
    let output = scene.run(&["gate", "check", "--json"], b"").map(|output| output.stdout).unwrap_or_default();
    let told: Value = serde_json::from_slice(&output).unwrap_or_default();
    let rows = told["outputs"].as_array().cloned().unwrap_or_default();
    rows.iter().filter_map(|row| row["verdict"].as_str().map(str::to_owned)).collect()
}

pub fn awaits(scene: &Scene) -> bool {
    verdicts(scene) == ["missing"]
}

pub fn all_valid(scene: &Scene) -> bool {
    verdicts(scene) == ["valid", "valid"]
}

pub fn sealed(scene: &Scene) -> bool {
    verdicts(scene).first().is_some_and(|verdict| verdict == "valid")
}

pub fn lives_in_src(scene: &Scene) -> bool {
    let output = scene.run(&["gate", "live", "--json"], b"").map(|output| output.stdout).unwrap_or_default();
    serde_json::from_slice::<Value>(&output)
        .is_ok_and(|told| told["run"].as_str().is_some_and(|run| run.ends_with("/project/src")))
}

pub fn agent_stop(scene: &Path) -> Vec<u8> {
    let more = json!({"agent_id": "a1", "agent_type": "b", "last_assistant_message": "I said it instead."});
    payload::event(scene, "SubagentStop", more)
}

pub fn kept_message(scene: &Scene) -> bool {
    let text = run(scene).and_then(|run| Ok(fs::read_to_string(run.join("review-b.md.last-message.md"))?));
    text.is_ok_and(|text| text == "I said it instead.\n")
}
