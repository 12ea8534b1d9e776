//! The projects in which the benchmark runs commands, the payloads of its hooks, and the state that it restores
//! between rounds.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::json;

use crate::sandbox::{SANDBOX_SESSION_ID, Sandbox, payload};
use crate::transcript;

pub const PROMPT_HOOK_ARGV: &[&str] = &["hook", "claude-code", "UserPromptSubmit"];
pub const PICKUP_ARGV: &[&str] = &["pickup", "20260101T000000Z-fix-the-thing-050000"];
pub const SESSION_START_HOOK_ARGV: &[&str] = &["hook", "claude-code", "SessionStart"];
pub const STOP_HOOK_ARGV: &[&str] = &["hook", "claude-code", "Stop"];
pub const BEFORE_COMPACT_HOOK_ARGV: &[&str] = &["hook", "claude-code", "PreCompact"];
pub const TOOL_DONE_HOOK_ARGV: &[&str] = &["hook", "claude-code", "PostToolUse"];

pub const SUBAGENT_START_HOOK_ARGV: &[&str] = &["hook", "claude-code", "SubagentStart"];
pub const SUBAGENT_STOP_HOOK_ARGV: &[&str] = &["hook", "claude-code", "SubagentStop"];

pub fn prepare_trusted_root(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()
}

/// Prepares a project with a thousand sessions. The last session has ten thousand journal lines and a digest.
pub fn prepare_many_sessions(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()?;
    sandbox.run_successfully(SESSION_START_HOOK_ARGV, &session_start_payload(&sandbox.dir))?;
    sandbox.run_successfully(PROMPT_HOOK_ARGV, &prompt_payload(&sandbox.dir))?;
    let sessions = sandbox.store_folder().join("indexes/sessions.jsonl");
    // The brief of a new session describes the last session in the list, so the session with the journal is moved to
    // the end.
    let last = std::fs::read_to_string(&sessions)?;
    repeat_last_line(&sessions, SANDBOX_SESSION_ID, 999, |number| {
        format!("0197a000-1111-7222-8333-{number:012}")
    })?;
    let others = std::fs::read_to_string(&sessions)?;
    std::fs::write(&sessions, [&others[last.len()..], &last].concat())?;
    for tool in [edit_4k_payload(&sandbox.dir), bash_4k_payload(&sandbox.dir)] {
        sandbox.run_successfully(TOOL_DONE_HOOK_ARGV, &tool)?;
        repeat_last_line(&sandbox.journal_path(), "toolu_01bench", 4_999, |number| {
            format!("toolu_{number:06}")
        })?;
    }
    sandbox.run_successfully(STOP_HOOK_ARGV, &stop_payload(&sandbox.dir)).map(drop)
}

/// Prepares the project of `prepare_many_sessions`, and adds 500 decisions, 1,000 packets and a plan of 200 tasks.
/// Briefs are ranked by score.
pub fn prepare_scored_briefs(sandbox: &Sandbox) -> Result<()> {
    prepare_many_sessions(sandbox)?;
    add_plan(sandbox, 10, 20)?;
    sandbox.run_successfully(&["task", "start", "5.1"], b"")?;
    add_decisions(sandbox, 500)?;
    add_packets(sandbox, 1_000)?;
    std::fs::write(sandbox.store_folder().join("config.toml"), "[brief.scoring]\nenabled = true\n")?;
    Ok(())
}

/// Prepares a project with a large plan, and as many decisions as a team makes over several years.
pub fn prepare_many_decisions(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()?;
    add_plan(sandbox, 20, 100)?;
    add_decisions(sandbox, 5_000)
}

pub fn add_decisions(sandbox: &Sandbox, decisions: usize) -> Result<()> {
    sandbox.run_successfully(
        &["decide", "Decision number 000000: the parser keeps comments", "--why", "people write them"],
        b"",
    )?;
    let log = sandbox.store_folder().join("decisions.jsonl");
    let line = std::fs::read_to_string(&log)?;
    let id = line.split("\"id\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
    let lines: String = (0..decisions)
        .map(|number| {
            line.replace("000000", &format!("{number:06}")).replace(id, &format!("d-{number:012x}"))
        })
        .collect();
    Ok(std::fs::write(&log, lines)?)
}

/// Prepares a project with a task in progress and evidence that covers a thousand files. The evidence is old, so only the
/// modification times of the files are compared.
pub fn prepare_evidence(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()?;
    let folder = sandbox.dir.join("src");
    std::fs::create_dir_all(&folder)?;
    for number in 0..1_000 {
        std::fs::write(folder.join(format!("file-{number:04}.rs")), format!("fn f{number}() {{}}\n"))?;
    }
    sandbox.run_successfully(&["plan", "init", "Parser", "--phase", "Read"], b"")?;
    sandbox.run_successfully(&["task", "add", "Lexer"], b"")?;
    sandbox.run_successfully(&["task", "start", "1.1"], b"")?;
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    sandbox.run_successfully(&["evidence", "run", "1.1", "--", "true"], b"").map(drop)
}

/// Creates a plan with `phases` phases of `tasks` tasks each; a fifth of the tasks are done.
pub fn add_plan(sandbox: &Sandbox, phases: usize, tasks: usize) -> Result<()> {
    let mut text = "# A large plan\n".to_owned();
    for phase in 1..=phases {
        text.push_str(&format!("## Phase {phase}: Part {phase}\n"));
        for task in 1..=tasks {
            let mark = if phase <= phases / 5 { "x" } else { " " };
            let depends = if task > 1 { format!(" (depends: {phase}.{})", task - 1) } else { String::new() };
            text.push_str(&format!(
                "- [{mark}] {phase}.{task}: Change number {task} of part {phase}, in its module and its tests [SMALL]{depends}\n"
            ));
        }
    }
    let file = sandbox.dir.join("large-plan.md");
    std::fs::write(&file, text)?;
    sandbox.run_successfully(&["plan", "import", &file.to_string_lossy()], b"").map(drop)
}

/// Prepares a project with a hundred thousand packets and an index of them. The packet folder is old enough for the
/// index to be trusted.
pub fn prepare_packets(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()?;
    add_packets(sandbox, 100_000)
}

pub fn add_packets(sandbox: &Sandbox, packets: usize) -> Result<()> {
    let folder = sandbox.store_folder().join("packets");
    std::fs::create_dir_all(&folder)?;
    for number in 0..packets {
        let id = format!("20260101T000000Z-fix-the-thing-{number:06}");
        let at = "2026-01-01T00:00:00Z";
        let head = format!(
            "---\nid: {id}\ncreated_at: {at}\nupdated_at: {at}\nstatus: draft\npurpose: fix number {number}\n---\n"
        );
        std::fs::write(
            folder.join(format!("{id}.md")),
            format!("{head}\n## Next Prompt (Draft)\n\nGo on.\n"),
        )?;
    }
    let past = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    std::fs::File::open(&folder)?.set_modified(past)?;
    sandbox.run_successfully(&["packet", "list"], b"").map(drop)
}

/// Prepares a live run with eight outputs. Six outputs exist, and each is 20 KB long. The sub-agent must write one of
/// the two missing outputs.
pub fn prepare_live_run(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()?;
    let mut words = vec!["gate", "expect", "review"];
    words.extend(OUTPUT_NAMES);
    sandbox.run_successfully(&words, b"")?;
    write_outputs(sandbox, &OUTPUT_NAMES[..6])
}

pub fn prepare_complete_run(sandbox: &Sandbox) -> Result<()> {
    prepare_live_run(sandbox)?;
    write_outputs(sandbox, &OUTPUT_NAMES[6..])
}

pub fn write_outputs(sandbox: &Sandbox, names: &[&str]) -> Result<()> {
    let outputs = sandbox.store_folder().join("outputs");
    let run = std::fs::read_dir(&outputs)?.next().context("expect made no run")??.path();
    let text = "A line of a report, of the usual length.\n".repeat(500);
    for name in names {
        std::fs::write(run.join(name), format!("{text}\n<!-- AGENT_COMPLETE -->\n"))?;
    }
    Ok(())
}

pub const OUTPUT_NAMES: &[&str] = &[
    "review-a.md",
    "review-b.md",
    "review-c.md",
    "review-d.md",
    "review-e.md",
    "review-f.md",
    "review-g.md",
    "review-security.md",
];

/// Appends copies of the last line of a log, each with a different id.
pub fn repeat_last_line(log: &Path, id: &str, times: usize, other: impl Fn(usize) -> String) -> Result<()> {
    let text = std::fs::read_to_string(log).with_context(|| format!("reading {}", log.display()))?;
    let line = text.lines().last().context("the log is empty")?;
    let copies: String = (0..times).map(|number| line.replace(id, &other(number)) + "\n").collect();
    Ok(std::fs::OpenOptions::new().append(true).open(log)?.write_all(copies.as_bytes())?)
}

/// Prepares a project whose session owns a loop, and a copy of the loop's initial state.
pub fn prepare_loop(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()?;
    sandbox.run_successfully(SESSION_START_HOOK_ARGV, &session_start_payload(&sandbox.dir))?;
    sandbox.run_successfully(
        &["loop", "start", "Make all tests pass", "--promise", "ALL PASS", "--session", SANDBOX_SESSION_ID],
        b"",
    )?;
    Ok(std::fs::copy(only_loop_path(sandbox)?, sandbox.dir.join("loop.md")).map(drop)?)
}

pub fn prepare_loop_for_next_session(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()?;
    sandbox
        .run_successfully(&["loop", "start", "Make all tests pass", "--promise", "ALL PASS", "--next"], b"")
        .map(drop)
}

pub fn only_loop_path(sandbox: &Sandbox) -> Result<PathBuf> {
    let mut files =
        std::fs::read_dir(sandbox.store_folder().join("loops"))?.flatten().map(|entry| entry.path());
    files.find(|path| path.extension().is_some_and(|found| found == "md")).context("there is no loop")
}

pub fn restore_loop(sandbox: &Sandbox, _: &Path, _: usize) -> Result<()> {
    Ok(std::fs::copy(sandbox.dir.join("loop.md"), only_loop_path(sandbox)?).map(drop)?)
}

pub fn leave_sandbox_unchanged(_: &Sandbox, _: &Path, _: usize) -> Result<()> {
    Ok(())
}

pub fn remove_session_records(sandbox: &Sandbox, _: &Path, _: usize) -> Result<()> {
    for name in ["state/cursors", "state/digest", "state/pending", "sessions"] {
        if let Ok(entries) = std::fs::read_dir(sandbox.store_folder().join(name)) {
            for entry in entries {
                std::fs::remove_file(entry?.path())?;
            }
        }
    }
    Ok(())
}

/// The prefix of the ids of new sessions.
pub const NEW_SESSION_ID_PREFIX: &str = "0197a000-2222-7222-8333-";

/// Returns the id of the session that starts in this round.
pub fn new_session_id(round: usize) -> String {
    format!("{NEW_SESSION_ID_PREFIX}{:012x}", round & 0xffff_ffff_ffff)
}

/// Removes the sessions of earlier rounds, so that the store is the same in each round.
pub fn remove_new_sessions(sandbox: &Sandbox, _: &Path, _: usize) -> Result<()> {
    let (list, first) =
        (sandbox.store_folder().join("indexes/sessions.jsonl"), sandbox.dir.join("sessions.jsonl"));
    match (first.exists(), list.exists()) {
        (true, _) => std::fs::copy(&first, &list).map(drop)?,
        (false, true) => std::fs::copy(&list, &first).map(drop)?,
        (false, false) => std::fs::write(&first, "")?,
    }
    let state = std::fs::read_dir(sandbox.store_folder().join("state")).into_iter().flatten().flatten();
    for folder in state.map(|entry| entry.path()).chain([sandbox.store_folder().join("sessions")]) {
        for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if file.file_name().to_string_lossy().starts_with(NEW_SESSION_ID_PREFIX) {
                std::fs::remove_file(file.path())?;
            }
        }
    }
    Ok(())
}

pub fn append_turn(_: &Sandbox, path: &Path, round: usize) -> Result<()> {
    transcript::append_turn(path, Path::new("/project"), round)
}

pub fn make_brief_due(sandbox: &Sandbox, _: &Path, _: usize) -> Result<()> {
    let folder = sandbox.store_folder().join("state/pending");
    std::fs::create_dir_all(&folder)?;
    Ok(std::fs::write(folder.join(SANDBOX_SESSION_ID), "due\n")?)
}

/// Prepares a project whose session has a role, with a context file of typical size.
pub fn prepare_role(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()?;
    sandbox.run_successfully(SESSION_START_HOOK_ARGV, &session_start_payload(&sandbox.dir))?;
    sandbox.run_successfully(&["context", "new", "tester"], b"")?;
    sandbox.run_successfully(&["role", "bind", "tester", "--session", SANDBOX_SESSION_ID], b"").map(drop)
}

/// Prepares a project with a manifest of three files, a session that is working on it, and an earlier compaction.
pub fn prepare_workstream(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()?;
    sandbox.run_successfully(SESSION_START_HOOK_ARGV, &session_start_payload(&sandbox.dir))?;
    let folder = sandbox.store_folder().join("workstreams/01-bench");
    std::fs::create_dir_all(&folder)?;
    for (name, text) in
        [("overview.md", "why\n"), ("plan.md", "how\n"), ("steps.md", "- [x] one\n- [ ] two\n")]
    {
        std::fs::write(folder.join(name), text.repeat(100))?;
    }
    sandbox.run_successfully(&["resume", "new", "01-bench"], b"")?;
    let input = json!({"file_path": folder.join("plan.md")});
    let read = json!({"tool_name": "Read", "tool_use_id": "toolu_01bench", "tool_input": input});
    sandbox
        .run_successfully(TOOL_DONE_HOOK_ARGV, &payload::hook_payload(&sandbox.dir, "PostToolUse", read))?;
    sandbox.run_successfully(BEFORE_COMPACT_HOOK_ARGV, &compact_payload(&sandbox.dir)).map(drop)
}

pub fn role_payload(sandbox: &Path) -> Vec<u8> {
    let file = sandbox.join("project/.agent/context/agents/tester.context.md");
    let more =
        json!({"tool_name": "Read", "tool_use_id": "toolu_01bench", "tool_input": {"file_path": file}});
    payload::hook_payload(sandbox, "PostToolUse", more)
}

/// Prepares a project in the state after a clone: the store exists, but there is no trust record.
pub fn prepare_untrusted_clone(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()?;
    Ok(std::fs::remove_dir_all(sandbox.state_folder())?)
}

pub fn leave_sandbox_empty(_: &Sandbox) -> Result<()> {
    Ok(())
}

pub fn edit_4k_payload(sandbox: &Path) -> Vec<u8> {
    payload::edit_payload(sandbox, "toolu_01bench", 3_400, &payload::github_token())
}

pub fn edit_2m_payload(sandbox: &Path) -> Vec<u8> {
    payload::edit_payload(sandbox, "toolu_01bench", 1_900_000, &payload::github_token())
}

/// Returns the payload of a 4 KB Bash call. The journal records the command, so the hook must redact it.
pub fn bash_4k_payload(sandbox: &Path) -> Vec<u8> {
    let script = payload::sample_code_with_secret(3_300, &payload::github_token());
    payload::bash_payload(sandbox, "toolu_01bench", &format!("cat > src/session.rs <<'EOF'\n{script}EOF"))
}

pub fn prompt_payload(sandbox: &Path) -> Vec<u8> {
    let text = "Please make the token cache survive a restart, and do not log the password any more.";
    payload::hook_payload(sandbox, "UserPromptSubmit", json!({"prompt": text}))
}

/// Returns the JSON that a harness passes to a status line program.
pub fn status_payload(sandbox: &Path) -> Vec<u8> {
    let project = sandbox.join("project");
    let status = json!({"session_id": SANDBOX_SESSION_ID, "context_window": {"used_percentage": 42},
        "workspace": {"project_dir": project, "current_dir": project}});
    status.to_string().into_bytes()
}

pub fn session_start_payload(sandbox: &Path) -> Vec<u8> {
    payload::hook_payload(sandbox, "SessionStart", json!({"source": "startup", "model": "claude-opus-4"}))
}

pub fn restart_payload(sandbox: &Path) -> Vec<u8> {
    payload::hook_payload(sandbox, "SessionStart", json!({"source": "compact", "model": "claude-opus-4"}))
}

pub fn resume_payload(sandbox: &Path) -> Vec<u8> {
    payload::hook_payload(sandbox, "SessionStart", json!({"source": "resume"}))
}

pub fn agent_start_payload(sandbox: &Path) -> Vec<u8> {
    payload::hook_payload(sandbox, "SubagentStart", json!({"agent_id": "a1", "agent_type": "security"}))
}

pub fn coder_start_payload(sandbox: &Path) -> Vec<u8> {
    payload::hook_payload(sandbox, "SubagentStart", json!({"agent_id": "a1", "agent_type": "coder"}))
}

pub fn subagent_stop_payload(sandbox: &Path) -> Vec<u8> {
    let text = "All is well, but I did not write it down.";
    payload::hook_payload(
        sandbox,
        "SubagentStop",
        json!({"agent_id": "a1", "agent_type": "security", "last_assistant_message": text}),
    )
}

pub fn stop_payload(sandbox: &Path) -> Vec<u8> {
    let text = "All tests pass. Next: the cache of tokens.";
    payload::hook_payload(sandbox, "Stop", json!({"stop_hook_active": false, "last_assistant_message": text}))
}

pub fn compact_payload(sandbox: &Path) -> Vec<u8> {
    payload::hook_payload(sandbox, "PreCompact", json!({"trigger": "auto", "custom_instructions": ""}))
}

pub fn empty_payload(_: &Path) -> Vec<u8> {
    Vec::new()
}
