//! Torture tests of the plan: sandboxes with a plan, the checks afterwards, and many parallel writers.

use std::collections::BTreeSet;
use std::fs;

use anyhow::Result;
use serde_json::{Value, json};

use super::concurrency::{PARALLEL_WRITERS, build_tally, run_writers};
use super::judge::first_line;
use super::prepare::{TOOL_DONE_HOOK_ARGV, prepare_records};
use super::{LossKind, TortureDepth, TortureTally};
use crate::sandbox::{SANDBOX_SESSION_ID, Sandbox, SandboxRoot, payload};

pub fn prepare_plan(sandbox: &Sandbox) -> Result<()> {
    prepare_records(sandbox)?;
    sandbox.run_successfully(&["plan", "init", "Parser", "--phase", "Read", "--phase", "Write"], b"")?;
    for (phase, text) in [("1", "lexer"), ("1", "grammar"), ("2", "printer")] {
        sandbox.run_successfully(&["task", "add", text, "--phase", phase], b"")?;
    }
    Ok(())
}

pub fn prepare_plan_with_one_open_task(sandbox: &Sandbox) -> Result<()> {
    prepare_plan(sandbox)?;
    sandbox.run_successfully(&["task", "done", "1.1"], b"").map(drop)
}

/// Prepares a sandbox without a plan, but with a file to import.
pub fn prepare_plan_file_to_import(sandbox: &Sandbox) -> Result<()> {
    prepare_records(sandbox)?;
    let text = "# Work\n## Phase 1: All\n- [ ] 1.1: one\n- [x] 1.2: two\n";
    Ok(fs::write(sandbox.project_folder().join("todo.md"), text)?)
}

pub fn prepare_edited_plan(sandbox: &Sandbox) -> Result<()> {
    prepare_plan(sandbox)?;
    let path = sandbox.store_folder().join("plan.json");
    let text = fs::read_to_string(&path)?.replace("\"lexer\"", "\"lexer, by hand\"");
    Ok(fs::write(path, text)?)
}

/// Prepares a sandbox with a plan that was imported from the session's own list. The list has changed since the import.
pub fn prepare_changed_todos(sandbox: &Sandbox) -> Result<()> {
    prepare_records(sandbox)?;
    let list = |status: &str, id: &str| {
        let todos = json!([{"content": "write it", "status": status, "activeForm": "Writing it"}]);
        let more = json!({"tool_name": "TodoWrite", "tool_input": {"todos": todos}, "tool_response": {}, "tool_use_id": id});
        payload::hook_payload(&sandbox.dir, "PostToolUse", more)
    };
    sandbox.run_successfully(TOOL_DONE_HOOK_ARGV, &list("pending", "toolu_todo1"))?;
    sandbox.run_successfully(&["plan", "import", "--from-session", "--session", SANDBOX_SESSION_ID], b"")?;
    sandbox.run_successfully(TOOL_DONE_HOOK_ARGV, &list("completed", "toolu_todo2")).map(drop)
}

pub fn is_task_started(sandbox: &Sandbox) -> bool {
    task_status(sandbox, "1.1").as_deref() == Some("in_progress") && does_ledger_match_plan(sandbox)
}

pub fn is_plan_begun(sandbox: &Sandbox) -> bool {
    read_plan(sandbox).is_some_and(|plan| plan["title"] == "Parser") && does_ledger_match_plan(sandbox)
}

pub fn is_plan_imported(sandbox: &Sandbox) -> bool {
    task_status(sandbox, "1.2").as_deref() == Some("completed") && does_ledger_match_plan(sandbox)
}

pub fn is_phase_over(sandbox: &Sandbox) -> bool {
    task_status(sandbox, "1.2").as_deref() == Some("completed")
        && sandbox.store_folder().join("phases/1.md").is_file()
        && does_ledger_match_plan(sandbox)
}

pub fn are_todos_followed(sandbox: &Sandbox) -> bool {
    task_status(sandbox, "1.1").as_deref() == Some("completed") && does_ledger_match_plan(sandbox)
}

pub fn is_task_added(sandbox: &Sandbox) -> bool {
    let text = fs::read_to_string(sandbox.store_folder().join("plan.json")).unwrap_or_default();
    text.contains("lexer, by hand") && text.contains("\"more\"") && does_ledger_match_plan(sandbox)
}

/// Returns what is wrong with a new `plan.json`. No task may be missing.
pub fn find_lost_tasks(old: &[u8], new: &[u8]) -> Option<String> {
    let (Some(old), Some(new)) = (task_ids(old), task_ids(new)) else {
        return Some("cannot be read any more".into());
    };
    old.difference(&new).next().map(|id| format!("task {id} is gone"))
}

fn task_ids(bytes: &[u8]) -> Option<BTreeSet<String>> {
    let plan: Value = serde_json::from_slice(bytes).ok()?;
    let phases = plan["phases"].as_array()?;
    let tasks = phases.iter().filter_map(|phase| phase["tasks"].as_array()).flatten();
    tasks.map(|task| task["id"].as_str().map(str::to_owned)).collect()
}

fn read_plan(sandbox: &Sandbox) -> Option<Value> {
    serde_json::from_slice(&fs::read(sandbox.store_folder().join("plan.json")).ok()?).ok()
}

fn task_status(sandbox: &Sandbox, id: &str) -> Option<String> {
    let plan = read_plan(sandbox)?;
    let tasks = plan["phases"].as_array()?.iter().filter_map(|phase| phase["tasks"].as_array()).flatten();
    tasks.filter(|task| task["id"] == id).find_map(|task| task["status"].as_str().map(str::to_owned))
}

/// Returns whether replaying the ledger gives the same plan as the file.
fn does_ledger_match_plan(sandbox: &Sandbox) -> bool {
    sandbox.run_thru(&["plan", "check"], b"").is_ok_and(|output| {
        output.status.success() && String::from_utf8_lossy(&output.stdout).contains("The plan is sound")
    })
}

/// Makes all processes change tasks of one plan at the same time. Every change must be a line of the ledger, and
/// replaying the ledger must give the plan that is in `plan.json`.
pub fn simultaneous_plan_changes(lab: &SandboxRoot, depth: TortureDepth) -> Result<TortureTally> {
    let each = if depth == TortureDepth::Quick { 5 } else { 20 };
    let sandbox = lab.sandbox("plan-changes")?;
    sandbox.init_root()?;
    let text: String = (1..=PARALLEL_WRITERS).map(|n| format!("- [ ] 1.{n}: task {n}\n")).collect();
    fs::write(sandbox.project_folder().join("plan.md"), format!("# All\n## Phase 1: One\n{text}"))?;
    sandbox.run_successfully(&["plan", "import", "plan.md"], b"")?;
    let failed = run_writers(|writer| {
        let mut failed = Vec::new();
        let id = format!("1.{}", writer + 1);
        for number in 0..each {
            let argv: &[&str] =
                if number % 2 == 0 { &["task", "block", &id, "why"] } else { &["task", "unblock", &id] };
            let output = sandbox.run_thru(argv, b"")?;
            if !output.status.success() {
                failed.push(format!("{argv:?} ended with {}: {}", output.status, first_line(&output.stderr)));
            }
        }
        Ok(failed)
    })?;
    let mut wrong: Vec<_> = failed.into_iter().map(|text| (LossKind::NoLoss, text)).collect();
    let ledger = fs::read_to_string(sandbox.store_folder().join("plan-ledger.jsonl"))?;
    let lines = ledger.lines().filter(|line| serde_json::from_str::<Value>(line).is_ok()).count();
    if lines != 1 + PARALLEL_WRITERS * each || lines != ledger.lines().count() {
        wrong.push((
            LossKind::RecordLost,
            format!("{} changes and an import were recorded as {lines} lines", PARALLEL_WRITERS * each),
        ));
    }
    if !does_ledger_match_plan(&sandbox) {
        wrong.push((LossKind::RecordLost, "the ledger does not give the plan".into()));
    }
    Ok(build_tally(PARALLEL_WRITERS * each, wrong, "64 × `thru task block|unblock ID` on one plan"))
}

/// Makes all processes claim one task at the same time. Only one process may get the task, and all others must exit
/// with 14 (busy).
pub fn task_claims_at_once(lab: &SandboxRoot, depth: TortureDepth) -> Result<TortureTally> {
    let rounds = if depth == TortureDepth::Quick { 3 } else { 20 };
    let sandbox = lab.sandbox("plan-claims")?;
    sandbox.init_root()?;
    let text: String = (1..=rounds).map(|n| format!("- [ ] 1.{n}: task {n}\n")).collect();
    fs::write(sandbox.project_folder().join("plan.md"), format!("# All\n## Phase 1: One\n{text}"))?;
    sandbox.run_successfully(&["plan", "import", "plan.md"], b"")?;
    let mut wrong = Vec::new();
    for round in 1..=rounds {
        let id = format!("1.{round}");
        let codes = run_writers(|writer| {
            let output =
                sandbox.run_thru(&["task", "start", &id, "--session", &format!("s{writer}")], b"")?;
            Ok(vec![format!("{:?} s{writer}", output.status.code())])
        })?;
        let winners: Vec<&String> = codes.iter().filter(|code| code.starts_with("Some(0)")).collect();
        let told = codes.iter().filter(|code| code.starts_with("Some(14)")).count();
        let holder = fs::read_to_string(sandbox.store_folder().join("plan.json"))?;
        let holds = |code: &str| {
            let session = code.rsplit(' ').next().unwrap_or_default();
            holder.contains(&format!("\"claimed_by\": \"{session}\""))
        };
        if winners.len() != 1 || told != PARALLEL_WRITERS - 1 || !winners.iter().all(|code| holds(code)) {
            wrong.push((LossKind::RecordLost, format!("{id}: {} winners, {told} told", winners.len())));
        }
    }
    Ok(build_tally(PARALLEL_WRITERS * rounds, wrong, "64 × `thru task start ID --session s…`"))
}
