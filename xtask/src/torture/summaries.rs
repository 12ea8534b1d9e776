//! Prepares the sandboxes for commands that summarise outputs or run the benchmark, and checks the results.

use std::fs;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::prepare::prepare_records;
use crate::sandbox::{Sandbox, payload};

/// Prepares a sandbox in which summaries are enabled and one output is stored.
pub fn prepare_summaries(sandbox: &Sandbox) -> Result<()> {
    prepare_records(sandbox)?;
    fs::write(sandbox.store_folder().join("config.toml"), "[summaries]\nenabled = true\n")?;
    sandbox.run_successfully(super::prepare::TOOL_DONE_HOOK_ARGV, &output_payload(&sandbox.dir, "before"))?;
    Ok(())
}

/// Returns the payload of a call whose output is summarised.
pub fn large_output_payload(sandbox: &Path) -> Vec<u8> {
    output_payload(sandbox, "after")
}

fn output_payload(sandbox: &Path, word: &str) -> Vec<u8> {
    let stdout: String = (0..1_000).map(|n| format!("{word} test parser::case_{n} ... ok\n")).collect();
    let response = json!({"stdout": stdout, "stderr": "", "interrupted": false, "isImage": false});
    let more = json!({"tool_name": "Bash", "tool_use_id": word, "tool_input": {"command": "cargo test"}, "tool_response": response});
    payload::hook_payload(sandbox, "PostToolUse", more)
}

/// Returns whether every summary has its complete original.
pub fn are_originals_whole(sandbox: &Sandbox) -> bool {
    let folder = sandbox.store_folder().join("summaries");
    let Ok(index) = fs::read_to_string(folder.join("index.jsonl")) else { return false };
    let noted = index.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let is_whole = |line: Value| {
        let id = line["id"].as_str().unwrap_or_default();
        let original = fs::read(folder.join(format!("{id}.txt"))).unwrap_or_default();
        model::summary::output_id(&model::summary::output_digest(&original)) == id
    };
    let all: Vec<bool> = noted.map(is_whole).collect();
    !all.is_empty() && all.iter().all(|is_whole| *is_whole)
}

/// Prepares a sandbox with two runs of the benchmark.
pub fn prepare_benchmark_runs(sandbox: &Sandbox) -> Result<()> {
    prepare_records(sandbox)?;
    for _ in 0..2 {
        sandbox.run_successfully(&["swarm", "benchmark"], b"")?;
    }
    Ok(())
}

/// Returns whether a third run was added.
pub fn has_third_benchmark_run(sandbox: &Sandbox) -> bool {
    let bytes = fs::read(sandbox.store_folder().join("benchmarks.json")).unwrap_or_default();
    benchmark_runs(&bytes).is_some_and(|runs| runs.len() >= 3)
}

/// Returns what is wrong with a new list of runs. Runs may be added, but not changed.
pub fn find_lost_benchmark_runs(old: &[u8], new: &[u8]) -> Option<String> {
    let (Some(old), Some(new)) = (benchmark_runs(old), benchmark_runs(new)) else {
        return Some("cannot be read any more".into());
    };
    old.iter().any(|run| !new.contains(run)).then(|| "a run is lost".to_owned())
}

fn benchmark_runs(bytes: &[u8]) -> Option<Vec<Value>> {
    serde_json::from_slice::<Value>(bytes).ok()?["runs"].as_array().cloned()
}

/// Prepares a sandbox with summaries and a benchmark that another tool wrote.
pub fn prepare_swarm_outputs(sandbox: &Sandbox) -> Result<()> {
    prepare_records(sandbox)?;
    let folder = sandbox.project_folder().join(".swarm/summaries");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("S1.json"), json!({"id": "S1", "fullOutput": "all of it\n"}).to_string())?;
    fs::write(sandbox.project_folder().join(".swarm/benchmarks.json"), r#"[{"rejection_rate": 0.5}]"#)?;
    Ok(())
}

pub fn are_outputs_imported(sandbox: &Sandbox) -> bool {
    let bytes = fs::read(sandbox.store_folder().join("benchmarks.json")).unwrap_or_default();
    are_originals_whole(sandbox) && benchmark_runs(&bytes).is_some_and(|runs| runs.len() == 1)
}

pub fn prepare_session_agents(sandbox: &Sandbox) -> Result<()> {
    prepare_records(sandbox)?;
    let folder = sandbox.project_folder().join("session/agents");
    fs::create_dir_all(&folder)?;
    Ok(fs::write(folder.join("tester.context.md"), "# tester\n")?)
}

pub fn is_agent_imported(sandbox: &Sandbox) -> bool {
    fs::read(sandbox.store_folder().join("agents/tester.context.md"))
        .is_ok_and(|bytes| bytes == b"# tester\n")
}
