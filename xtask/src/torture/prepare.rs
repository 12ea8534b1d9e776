//! The initial states of the commands in the torture tests, the payloads of these commands, and the checks of the
//! states that the commands leave behind.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::integrity;
use crate::sandbox::{SANDBOX_SESSION_ID, Sandbox, payload};
use crate::transcript;

pub const SESSION_START_HOOK_ARGV: &[&str] = &["hook", "claude-code", "SessionStart"];
pub const STOP_HOOK_ARGV: &[&str] = &["hook", "claude-code", "Stop"];
pub const TOOL_DONE_HOOK_ARGV: &[&str] = &["hook", "claude-code", "PostToolUse"];

pub fn prepare_nothing(_: &Sandbox) -> Result<()> {
    Ok(())
}

pub fn prepare_root(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()
}

/// Prepares a project with records: journal lines, receipts, an unknown key in root.json, the user's files, and a
/// second root in the same trust record.
pub fn prepare_records(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()?;
    sandbox
        .run_successfully(&["hook", "claude-code", "SessionStart"], &session_start_payload(&sandbox.dir))?;
    for number in 0..3 {
        sandbox.run_successfully(
            TOOL_DONE_HOOK_ARGV,
            &payload::bash_payload(&sandbox.dir, &format!("toolu_before{number}"), "cargo test"),
        )?;
    }
    sandbox.run_successfully(&["hook", "claude-code", "Stop"], &stop_payload(&sandbox.dir))?;
    let marker = sandbox.store_folder().join("root.json");
    edit_json(&marker, |root| root["not_ours"] = json!({"keep": [1, 2, 3]}))?;
    fs::create_dir_all(sandbox.store_folder().join("packets"))?;
    fs::write(
        sandbox.store_folder().join("packets/20260101T000000Z-hello.md"),
        "---\nid: 20260101T000000Z-hello\ncreated_at: 2026-01-01T00:00:00Z\nupdated_at: 2026-01-01T00:00:00Z\n\
         status: draft\npurpose: hello\n---\n\n## Intent\n\nText of a person.\n\n## Next Prompt\n\nGo on.\n",
    )?;
    fs::write(sandbox.store_folder().join("config.toml"), "# settings of a person\n")?;
    edit_json(&trust_record_path(sandbox)?, |trust| {
        if let Some(roots) = trust["roots"].as_array_mut() {
            roots.push(json!({"path": "/somewhere/else", "trusted_at": "2026-01-01T00:00:00Z"}));
        }
    })
}

/// Prepares the project of [`prepare_records`] in the state after a clone: it is trusted only at another path.
pub fn prepare_clone(sandbox: &Sandbox) -> Result<()> {
    prepare_records(sandbox)?;
    edit_json(&trust_record_path(sandbox)?, |trust| {
        if let Some(roots) = trust["roots"].as_array_mut() {
            roots.retain(|root| root["path"] == "/somewhere/else");
        }
    })
}

pub fn edit_json(path: &Path, edit: impl FnOnce(&mut Value)) -> Result<()> {
    let text = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    let mut value: Value =
        serde_json::from_slice(&text).with_context(|| format!("reading {}", path.display()))?;
    edit(&mut value);
    Ok(fs::write(path, format!("{value:#}\n"))?)
}

pub fn project_id(sandbox: &Sandbox) -> Option<String> {
    let root: Value =
        serde_json::from_slice(&fs::read(sandbox.store_folder().join("root.json")).ok()?).ok()?;
    root["project_id"].as_str().map(str::to_owned)
}

pub fn trust_record_path(sandbox: &Sandbox) -> Result<std::path::PathBuf> {
    let id = project_id(sandbox).context("root.json names no project_id")?;
    Ok(sandbox.state_folder().join("trust").join(format!("{id}.json")))
}

/// Settings that are easily damaged, because they have comments, tabs, other hooks, and no newline at the end.
pub const USER_SETTINGS_TEXT: &str = "{\n\t// mine\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }\n\t\t]\n\t}\n}";
pub const GIT_EXCLUDE_LIST_TEXT: &str = "# git ls-files --others\n*.swp\n";
pub const LOCAL_SETTINGS_PATH: &str = "project/.claude/settings.local.json";
pub const USER_SETTINGS_PATH: &str = "home/.claude/settings.json";
pub const GIT_EXCLUDE_PATH: &str = "project/.git/info/exclude";

/// Prepares a repository without harness settings, which contains only the files that git needs.
pub fn prepare_repository(sandbox: &Sandbox) -> Result<()> {
    prepare_records(sandbox)?;
    let git = sandbox.project_folder().join(".git");
    for folder in ["objects", "refs", "info"] {
        fs::create_dir_all(git.join(folder))?;
    }
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n")?;
    Ok(fs::write(sandbox.dir.join(GIT_EXCLUDE_PATH), GIT_EXCLUDE_LIST_TEXT)?)
}

/// Prepares the repository of [`prepare_repository`], and adds the user's own settings, which do not contain our
/// hooks.
pub fn prepare_settings(sandbox: &Sandbox) -> Result<()> {
    prepare_repository(sandbox)?;
    for path in [LOCAL_SETTINGS_PATH, USER_SETTINGS_PATH].map(|path| sandbox.dir.join(path)) {
        fs::create_dir_all(path.parent().context("the path has no parent folder")?)?;
        fs::write(path, USER_SETTINGS_TEXT)?;
    }
    Ok(())
}

pub fn prepare_hooks(sandbox: &Sandbox) -> Result<()> {
    prepare_settings(sandbox)?;
    sandbox.run_successfully(&["install", "claude-code", "--local"], b"")?;
    sandbox.run_successfully(&["install", "claude-code", "--user"], b"").map(drop)
}

pub fn has_our_hooks(sandbox: &Sandbox, path: &str) -> bool {
    let text = fs::read_to_string(sandbox.dir.join(path)).unwrap_or_default();
    ["PostToolUse", "SessionStart", "PreCompact"].iter().all(|event| text.contains(event))
}

/// Prepares a sandbox with a transcript of eight calls that no hook has reported.
pub fn prepare_transcript(sandbox: &Sandbox) -> Result<()> {
    prepare_records(sandbox)?;
    let turns = (0..TRANSCRIPT_TURNS)
        .map(|number| transcript::turn_lines(&sandbox.project_folder(), &format!("told{number}"), number));
    let folder = sandbox.dir.join("home/.claude/projects/p");
    fs::create_dir_all(&folder)?;
    Ok(fs::write(folder.join("s.jsonl"), turns.collect::<String>())?)
}

pub const TRANSCRIPT_TURNS: usize = 8;

/// Returns whether the journal contains each call of the transcript exactly once, and whether each edited file has
/// exactly one edit.
pub fn is_transcript_in_journal(sandbox: &Sandbox) -> bool {
    let edits = ["src/module1.rs", "src/module5.rs"];
    let ids: Vec<String> = (0..TRANSCRIPT_TURNS).map(|number| format!("toolu_told{number}")).collect();
    // Every fourth call is a search, which need not be recorded.
    let shown = record_ids_shown_by_thru_journal(sandbox);
    let once = |id: &String| shown.iter().filter(|shown| *shown == id).count() == 1;
    ids.iter().enumerate().filter(|(number, _)| number % 4 != 3).all(|(_, id)| once(id))
        && edits.iter().all(|path| edit_count_shown_by_thru_files(sandbox, path) == Some(1))
}

/// Prepares a sandbox after a compaction, when a brief is due.
pub fn prepare_compaction(sandbox: &Sandbox) -> Result<()> {
    prepare_transcript(sandbox)?;
    sandbox.run_successfully(&["hook", "claude-code", "PreCompact"], &compact_payload(&sandbox.dir)).map(drop)
}

pub fn restart_payload(sandbox: &Path) -> Vec<u8> {
    payload::hook_payload(sandbox, "SessionStart", json!({"source": "compact"}))
}

pub fn prepare_droid_transcript(sandbox: &Sandbox) -> Result<()> {
    prepare_records(sandbox)?;
    let text = transcript::droid_call_lines(&sandbox.project_folder(), "call_droid");
    Ok(fs::write(sandbox.dir.join("home/droid.jsonl"), text)?)
}

pub fn droid_stop_payload(sandbox: &Path) -> Vec<u8> {
    let more = json!({"transcript_path": sandbox.join("home/droid.jsonl"), "message_id": "m",
        "stop_hook_active": false, "tool_execution_count": 1, "elapsed_time": 872});
    payload::hook_payload(sandbox, "Stop", more)
}

pub fn is_droid_transcript_in_journal(sandbox: &Sandbox) -> bool {
    record_ids_shown_by_thru_journal(sandbox).iter().filter(|id| *id == "call_droid").count() == 1
        && edit_count_shown_by_thru_files(sandbox, "src/droid.rs") == Some(1)
}

/// Returns the ids that `thru journal` shows for the sandbox's session.
pub fn record_ids_shown_by_thru_journal(sandbox: &Sandbox) -> Vec<String> {
    let output = sandbox.run_thru(&["journal", "--json", "--session", SANDBOX_SESSION_ID], b"");
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter_map(|line| line["id"].as_str().map(str::to_owned)).collect()
}

/// Returns how many times a file was edited, according to `thru files`.
pub fn edit_count_shown_by_thru_files(sandbox: &Sandbox, path: &str) -> Option<u64> {
    let output = sandbox
        .run_thru(&["files", "--json", "--session", SANDBOX_SESSION_ID, "--limit", "1000"], b"")
        .ok()?;
    let told: Value = serde_json::from_slice(&output.stdout).ok()?;
    let files = told.as_array().or_else(|| told["files"].as_array())?;
    files.iter().find(|file| file["path"] == path)?["edits"].as_u64()
}

pub const LOOP_PROMPT: &str = "Make it green";

/// Prepares a sandbox whose session owns a loop. The session's last message has an id, so that a repeated report counts
/// as the same stop.
pub fn prepare_loop(sandbox: &Sandbox) -> Result<()> {
    prepare_loop_with_message(sandbox, "Done.")
}

pub fn prepare_promise(sandbox: &Sandbox) -> Result<()> {
    prepare_loop_with_message(sandbox, PROMISE_TEXT)
}

pub const PROMISE_TEXT: &str = "<promise>ALL GREEN</promise>";

pub fn prepare_loop_with_message(sandbox: &Sandbox, said: &str) -> Result<()> {
    prepare_records(sandbox)?;
    let folder = sandbox.dir.join("home/.claude/projects/p");
    fs::create_dir_all(&folder)?;
    fs::write(
        folder.join("s.jsonl"),
        transcript::agent_message_line(&sandbox.project_folder(), "msg_last", said),
    )?;
    sandbox
        .run_successfully(
            &["loop", "start", LOOP_PROMPT, "--promise", "ALL GREEN", "--session", SANDBOX_SESSION_ID],
            b"",
        )
        .map(drop)
}

pub fn prepare_waiting_loop(sandbox: &Sandbox) -> Result<()> {
    prepare_records(sandbox)?;
    sandbox
        .run_successfully(&["loop", "start", "--next", LOOP_PROMPT, "--promise", "ALL GREEN"], b"")
        .map(drop)
}

pub fn prepare_ralph_loop_file(sandbox: &Sandbox) -> Result<()> {
    prepare_records(sandbox)?;
    fs::create_dir_all(sandbox.project_folder().join(".claude"))?;
    let text = "---\nactive: true\niteration: 2\nmax_iterations: 9\ncompletion_promise: \"OK\"\n---\n\nMake it green\n";
    Ok(fs::write(sandbox.project_folder().join(".claude/ralph-loop.local.md"), text)?)
}

pub fn promise_payload(sandbox: &Path) -> Vec<u8> {
    let more = json!({"stop_hook_active": false, "last_assistant_message": PROMISE_TEXT});
    payload::hook_payload(sandbox, "Stop", more)
}

/// Returns the loops of a sandbox from `thru loop list`.
pub fn list_loops(sandbox: &Sandbox) -> Vec<Value> {
    let told = sandbox.run_thru(&["loop", "list", "--json"], b"").ok();
    let told: Option<Value> = told.and_then(|output| serde_json::from_slice(&output.stdout).ok());
    told.and_then(|told| told["loops"].as_array().cloned()).unwrap_or_default()
}

pub fn any_loop_has(sandbox: &Sandbox, key: &str, value: &Value) -> bool {
    list_loops(sandbox).iter().any(|one| one[key] == *value && one["prompt"] == LOOP_PROMPT)
}

pub fn has_loop_continued(sandbox: &Sandbox) -> bool {
    any_loop_has(sandbox, "iteration", &json!(2)) && any_loop_has(sandbox, "status", &json!("active"))
}

pub fn is_loop_done(sandbox: &Sandbox) -> bool {
    any_loop_has(sandbox, "status", &json!("done"))
}

pub fn is_loop_claimed(sandbox: &Sandbox) -> bool {
    any_loop_has(sandbox, "session", &json!(SANDBOX_SESSION_ID))
}

pub fn is_loop_active(sandbox: &Sandbox) -> bool {
    any_loop_has(sandbox, "status", &json!("active"))
}

pub fn is_loop_cancelled(sandbox: &Sandbox) -> bool {
    any_loop_has(sandbox, "status", &json!("cancelled"))
}

pub fn is_loop_paused(sandbox: &Sandbox) -> bool {
    any_loop_has(sandbox, "status", &json!("paused"))
}

pub fn always_counts_as_done(_: &Sandbox) -> bool {
    true
}

pub fn is_root_marked(sandbox: &Sandbox) -> bool {
    project_id(sandbox).is_some_and(|id| !id.is_empty())
}

pub fn is_root_trusted(sandbox: &Sandbox) -> bool {
    let roots = trust_record_path(sandbox)
        .ok()
        .and_then(|path| fs::read(path).ok())
        .and_then(|bytes| integrity::trusted_roots(&bytes));
    roots.is_some_and(|roots| roots.iter().any(|root| root.ends_with("/project")))
}

pub fn is_root_untrusted(sandbox: &Sandbox) -> bool {
    is_root_marked(sandbox) && !is_root_trusted(sandbox)
}

pub fn empty_stdin(_: &Path) -> Vec<u8> {
    Vec::new()
}

pub fn session_start_payload(sandbox: &Path) -> Vec<u8> {
    payload::hook_payload(sandbox, "SessionStart", json!({"source": "startup"}))
}

pub fn prompt_payload(sandbox: &Path) -> Vec<u8> {
    payload::hook_payload(sandbox, "UserPromptSubmit", json!({"prompt": "Fix the failing test, please."}))
}

pub const TOOL_CALL_ID: &str = "toolu_tortured";

pub fn tool_payload(sandbox: &Path) -> Vec<u8> {
    payload::bash_payload(sandbox, TOOL_CALL_ID, "cargo test --workspace")
}

pub fn failure_payload(sandbox: &Path) -> Vec<u8> {
    let more = json!({"tool_name": "Bash", "tool_use_id": "toolu_failed", "tool_input": {"command": "false"},
        "error": "Exit code 1", "is_interrupt": false});
    payload::hook_payload(sandbox, "PostToolUseFailure", more)
}

pub fn compact_payload(sandbox: &Path) -> Vec<u8> {
    payload::hook_payload(sandbox, "PreCompact", json!({"trigger": "auto", "custom_instructions": ""}))
}

pub fn stop_payload(sandbox: &Path) -> Vec<u8> {
    let more = json!({"stop_hook_active": false, "last_assistant_message": "Done."});
    payload::hook_payload(sandbox, "Stop", more)
}

pub fn end_payload(sandbox: &Path) -> Vec<u8> {
    payload::hook_payload(sandbox, "SessionEnd", json!({"reason": "exit"}))
}

/// Prepares a sandbox with a full journal, which is rotated when the next record is written.
pub fn prepare_full_log(sandbox: &Sandbox) -> Result<()> {
    prepare_records(sandbox)?;
    set_smallest_log_limit(sandbox)?;
    let filler = format!("{}\n", json!({"v": 1, "event": "filler", "text": "x".repeat(1000)}));
    let mut log = fs::OpenOptions::new().append(true).open(sandbox.journal_path())?;
    Ok(log.write_all(filler.repeat(80).as_bytes())?)
}

/// Sets the limit for the size of logs to its smallest value.
pub fn set_smallest_log_limit(sandbox: &Sandbox) -> Result<()> {
    fs::create_dir_all(sandbox.dir.join("config/throughline"))?;
    Ok(fs::write(sandbox.dir.join("config/throughline/config.toml"), "[hooks]\nlog_limit_kib = 64\n")?)
}
