//! The commands under torture. To add a command, add a line to `ROWS`.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::integrity::{self, AllowedRemoval};
pub use super::journals::{read_journals, tool_call_ids};
use super::roles::{
    ROLE_PATH, has_lifecycle_begun, has_role_file, is_role_active, is_role_bound, is_role_compacting,
    is_role_file_fixed, is_role_recovering, is_role_saved, payload_reading_role, project_during_compaction,
    project_with_bad_role, project_with_role,
};
use super::settings::{
    has_status_line, is_unwired, is_unwired_for_user, is_wired_for_user, is_wired_locally,
};
use super::{decisions, evidence, gates, packets, plans, summaries, swarm, workstreams};
use crate::sandbox::{SESSION, Sandbox, payload};
use crate::transcript;

#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub name: &'static str,
    /// Creates the initial state for the command.
    pub sandbox: fn(&Sandbox) -> Result<()>,
    pub argv: &'static [&'static str],
    pub stdin: fn(&Path) -> Vec<u8>,
    /// Returns whether the state is correct after the command reported success.
    pub done: fn(&Sandbox) -> bool,
    pub takes: AllowedRemoval,
    /// Whether hooks write in this sandbox after the command. In an untrusted project, they must not.
    pub hooks_after: Hooks,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hooks {
    Write,
    Silent,
}

impl Row {
    pub fn is_hook(&self) -> bool {
        self.argv.first() == Some(&"hook")
    }
}

const fn cli(
    name: &'static str,
    sandbox: fn(&Sandbox) -> Result<()>,
    argv: &'static [&'static str],
    done: fn(&Sandbox) -> bool,
) -> Row {
    Row {
        name,
        sandbox,
        argv,
        stdin: empty_stdin,
        done,
        takes: AllowedRemoval::Nothing,
        hooks_after: Hooks::Write,
    }
}

const fn hook(name: &'static str, argv: &'static [&'static str], stdin: fn(&Path) -> Vec<u8>) -> Row {
    Row {
        name,
        sandbox: lived_in,
        argv,
        stdin,
        done: always,
        takes: AllowedRemoval::Nothing,
        hooks_after: Hooks::Write,
    }
}

const fn hook_on(
    sandbox: fn(&Sandbox) -> Result<()>,
    name: &'static str,
    argv: &'static [&'static str],
    stdin: fn(&Path) -> Vec<u8>,
) -> Row {
    Row { sandbox, ..hook(name, argv, stdin) }
}

/// Returns a row for a command that changes a harness's settings.
const fn wires(
    name: &'static str,
    sandbox: fn(&Sandbox) -> Result<()>,
    argv: &'static [&'static str],
    done: fn(&Sandbox) -> bool,
) -> Row {
    Row { takes: AllowedRemoval::Settings, ..cli(name, sandbox, argv, done) }
}

pub const ROWS: &[Row] = &[
    cli("init, empty folder", fresh, &["init"], rooted),
    cli("init, again", lived_in, &["init"], rooted),
    cli("context init, empty folder", fresh, &["context", "init"], rooted),
    cli("trust", cloned, &["trust"], trusted),
    Row {
        takes: AllowedRemoval::Trust,
        hooks_after: Hooks::Silent,
        ..cli("trust --revoke", lived_in, &["trust", "--revoke"], untrusted)
    },
    hook("hook SessionStart", &["hook", "claude-code", "SessionStart"], start),
    hook("hook UserPromptSubmit", &["hook", "claude-code", "UserPromptSubmit"], prompt),
    hook("hook PostToolUse", TOOL_DONE, tool),
    hook("hook PostToolUseFailure", &["hook", "claude-code", "PostToolUseFailure"], failure),
    hook("hook PreCompact", &["hook", "claude-code", "PreCompact"], compact),
    hook("hook Stop", &["hook", "claude-code", "Stop"], stop),
    Row { done: retold, ..hook_on(with_transcript, "hook Stop, transcript", STOP, stop) },
    Row {
        done: retold,
        ..hook_on(
            with_transcript,
            "hook PreCompact, transcript",
            &["hook", "claude-code", "PreCompact"],
            compact,
        )
    },
    hook_on(compacted, "hook SessionStart(compact)", &["hook", "claude-code", "SessionStart"], restart),
    Row {
        done: retold_by_droid,
        ..hook_on(with_droid, "hook droid Stop", &["hook", "droid", "Stop"], droid_stop)
    },
    hook("hook SessionEnd", &["hook", "claude-code", "SessionEnd"], end),
    Row { done: went_on, ..hook_on(looping, "hook Stop, a loop goes on", STOP, stop) },
    Row { done: kept, ..hook_on(promised, "hook Stop, a loop ends", STOP, promise) },
    Row { done: claimed, ..hook_on(waiting, "hook SessionStart, a loop waits", START, start) },
    cli("loop start", lived_in, &["loop", "start", "--next", PROMPT], loop_there),
    cli("loop cancel", looping, &["loop", "cancel", "make-it-green"], loop_cancelled),
    cli("loop pause", looping, &["loop", "pause", "make-it-green"], loop_paused),
    cli("import ralph", with_ralph, &["import", "ralph"], loop_paused),
    Row {
        sandbox: rooted_only,
        ..hook("hook SessionStart, first ever", &["hook", "claude-code", "SessionStart"], start)
    },
    Row { sandbox: rooted_only, ..hook("hook PostToolUse, first ever", TOOL_DONE, tool) },
    Row { sandbox: full_log, ..hook("hook PostToolUse, the log is full", TOOL_DONE, tool) },
    cli("context new", lived_in, &["context", "new", "tester"], has_role_file),
    Row {
        takes: AllowedRemoval::Fault,
        ..cli("context fix", project_with_bad_role, &["context", "fix", ROLE_PATH], is_role_file_fixed)
    },
    Row {
        takes: AllowedRemoval::Role,
        ..cli("role unbind", project_with_role, &["role", "unbind", "--session", SESSION], |sandbox| {
            !is_role_bound(sandbox)
        })
    },
    cli("role bind", project_with_role, &["role", "bind", "tester", "--session", SESSION], is_role_bound),
    cli("lifecycle init", project_with_role, &["lifecycle", "init", "scribe"], has_lifecycle_begun),
    cli("lifecycle save", project_with_role, &["lifecycle", "save", "tester"], is_role_saved),
    cli("recover", project_during_compaction, &["recover", "tester"], is_role_active),
    Row {
        done: is_role_compacting,
        ..hook_on(project_with_role, "hook PreCompact, role", &["hook", "claude-code", "PreCompact"], compact)
    },
    Row {
        done: is_role_recovering,
        ..hook_on(
            project_during_compaction,
            "hook SessionStart(compact), role",
            &["hook", "claude-code", "SessionStart"],
            restart,
        )
    },
    Row {
        done: is_role_active,
        ..hook_on(project_during_compaction, "hook PostToolUse, role file", TOOL_DONE, payload_reading_role)
    },
    wires("install --local", wireless, &["install", "claude-code", "--local"], is_wired_locally),
    wires("install --local, no settings", bare, &["install", "claude-code", "--local"], is_wired_locally),
    wires("install --user", wireless, &["install", "claude-code", "--user"], is_wired_for_user),
    wires("install --statusline", wireless, &["install", "claude-code", "--statusline"], has_status_line),
    wires("swarm install", wireless, swarm::INSTALL, swarm::is_installed),
    wires("swarm uninstall", swarm::with_agents, swarm::UNINSTALL, swarm::is_uninstalled),
    wires("uninstall", wired, &["uninstall", "claude-code", "--local"], is_unwired),
    wires("uninstall --user", wired, &["uninstall", "claude-code", "--user"], is_unwired_for_user),
    wires("uninstall --all", wired, &["uninstall", "--all"], |sandbox| {
        is_unwired(sandbox) && is_unwired_for_user(sandbox)
    }),
    cli("handoff", lived_in, &["handoff", "go on"], packets::handed_off),
    cli("packet activate", packets::with_packet, &["packet", "activate", "mine"], packets::active),
    cli(
        "packet confirm",
        packets::with_packet,
        &["packet", "confirm", "mine", "src/a.rs"],
        packets::confirmed,
    ),
    Row {
        stdin: packets::section,
        ..cli(
            "packet set",
            packets::with_packet,
            &["packet", "set", "mine", "--section", "Plan"],
            packets::planned,
        )
    },
    // The session is named, because a second claim is recognised only if it names the same session.
    cli(
        "pickup --claim",
        packets::with_packet,
        &["pickup", "mine", "--claim", "--session", SESSION],
        packets::active,
    ),
    cli(
        "pickup --take-over",
        packets::with_claimed,
        &["pickup", "mine", "--take-over", "--session", SESSION],
        packets::taken_over,
    ),
    cli("sweep", packets::with_dead_session, &["sweep"], always),
    hook_on(
        packets::with_dead_session,
        "hook SessionStart, a dead session",
        &["hook", "claude-code", "SessionStart"],
        packets::other_start,
    ),
    cli("gate expect", gates::with_plan, gates::EXPECT, gates::awaits),
    cli(
        "gate run, one there, one not",
        gates::half_run,
        &["gate", "run", "--again", "--jobs", "1"],
        gates::all_valid,
    ),
    cli("gate seal", gates::unsealed, &["gate", "seal", "review-a.md"], gates::sealed),
    cli("gate live --set", gates::half_run, &["gate", "live", "--set", "src"], gates::lives_in_src),
    Row {
        done: gates::kept_message,
        ..hook_on(
            gates::half_run,
            "hook SubagentStop, no output",
            &["hook", "claude-code", "SubagentStop"],
            gates::agent_stop,
        )
    },
    cli("resume new", workstreams::without_manifest, &["resume", "new", "02-fresh"], workstreams::is_made),
    cli("resume migrate", workstreams::with_legacy, &["resume", "migrate"], workstreams::is_migrated),
    Row {
        takes: AllowedRemoval::Manifest,
        ..cli(
            "resume migrate --rollback",
            workstreams::with_migrated,
            &["resume", "migrate", "--rollback"],
            workstreams::is_rolled_back,
        )
    },
    cli(
        "resume use",
        workstreams::with_one,
        &["resume", "use", "01", "--session", SESSION],
        workstreams::is_used,
    ),
    cli("resume update", workstreams::with_one, &["resume", "update", "--task-done"], workstreams::is_ticked),
    Row {
        done: workstreams::is_detected,
        ..hook_on(
            workstreams::with_one,
            "hook PreCompact, workstream",
            &["hook", "claude-code", "PreCompact"],
            compact,
        )
    },
    cli("plan init", lived_in, &["plan", "init", "Parser", "--phase", "Read", "--replace"], plans::is_begun),
    cli("plan import", plans::with_file, &["plan", "import", "todo.md"], plans::is_imported),
    cli("task done, the phase ends", plans::almost_done, &["task", "done", "1.2"], plans::is_over),
    cli(
        "evidence add",
        plans::with_plan,
        &["evidence", "add", "1.1", "--summary", "seen"],
        evidence::is_added,
    ),
    cli("evidence run", plans::with_plan, &["evidence", "run", "1.1", "--", "true"], evidence::is_run),
    cli(
        "evidence add, a full bundle",
        evidence::with_full_bundle,
        &["evidence", "add", "1.1", "--summary", "seen"],
        evidence::is_moved_on,
    ),
    cli(
        "evidence archive",
        evidence::with_entries,
        &["evidence", "archive", "--keep", "1"],
        evidence::is_archived,
    ),
    cli("import swarm, evidence", evidence::with_swarm, &["import", "swarm"], evidence::is_imported),
    Row {
        done: evidence::is_observed,
        ..hook_on(evidence::with_test_run, "hook Stop, a test run is evidence", STOP, stop)
    },
    Row {
        done: swarm::is_judged,
        ..hook_on(plans::with_plan, "hook SubagentStop, a verdict", swarm::STOP, swarm::verdict)
    },
    cli("swarm plan --adopt", swarm::with_foreign_plan, &["swarm", "plan", "--adopt"], swarm::is_adopted),
    cli("task start", plans::with_plan, &["task", "start", "1.1", "--session", SESSION], plans::is_started),
    cli("task add, plan.json edited by hand", plans::edited, &["task", "add", "more"], plans::is_added),
    Row {
        done: plans::is_followed,
        ..hook_on(plans::with_todos, "hook Stop, a todo moves its task", STOP, stop)
    },
    cli("decide", decisions::with_some, &["decide", "Use TOML", "--why", "edited"], decisions::is_decided),
    cli("import swarm, decisions", decisions::with_swarm, &["import", "swarm"], decisions::is_imported),
    Row {
        done: decisions::is_answered,
        ..hook_on(decisions::with_some, "hook PostToolUse, an answer", TOOL_DONE, decisions::answer)
    },
    Row {
        done: decisions::is_answered,
        ..hook_on(decisions::answered, "hook Stop after an answer", STOP, stop)
    },
    Row {
        done: summaries::are_whole,
        ..hook_on(
            summaries::with_summaries,
            "hook PostToolUse, a summary",
            TOOL_DONE,
            summaries::large_output,
        )
    },
    cli("swarm benchmark", summaries::with_runs, &["swarm", "benchmark"], summaries::has_another_run),
    cli("import swarm, summaries", summaries::with_swarm, &["import", "swarm"], summaries::is_imported),
    cli("import agents", summaries::with_agents, &["import", "agents"], summaries::has_agent),
    cli("status --json", lived_in, &["status", "--json"], rooted),
    cli("doctor", lived_in, &["doctor"], rooted),
    cli("config", lived_in, &["config"], rooted),
];

const START: &[&str] = &["hook", "claude-code", "SessionStart"];
pub const STOP: &[&str] = &["hook", "claude-code", "Stop"];
pub const TOOL_DONE: &[&str] = &["hook", "claude-code", "PostToolUse"];

fn fresh(_: &Sandbox) -> Result<()> {
    Ok(())
}

pub fn rooted_only(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()
}

/// A project with records: journal lines, receipts, a foreign key in root.json, the user's files, and a second root in
/// the same trust record.
pub fn lived_in(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()?;
    sandbox.run_successfully(&["hook", "claude-code", "SessionStart"], &start(&sandbox.dir))?;
    for number in 0..3 {
        sandbox.run_successfully(
            TOOL_DONE,
            &payload::bash_payload(&sandbox.dir, &format!("toolu_before{number}"), "cargo test"),
        )?;
    }
    sandbox.run_successfully(&["hook", "claude-code", "Stop"], &stop(&sandbox.dir))?;
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

/// A project with the same records, as after a clone. Only another path is trusted.
fn cloned(sandbox: &Sandbox) -> Result<()> {
    lived_in(sandbox)?;
    edit_json(&trust_record_path(sandbox)?, |trust| {
        if let Some(roots) = trust["roots"].as_array_mut() {
            roots.retain(|root| root["path"] == "/somewhere/else");
        }
    })
}

fn edit_json(path: &Path, edit: impl FnOnce(&mut Value)) -> Result<()> {
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

/// Settings that are easily damaged: they have comments, tabs, other hooks, and no line end at the end.
pub const USER_SETTINGS_TEXT: &str = "{\n\t// mine\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }\n\t\t]\n\t}\n}";
pub const EXCLUDE_TEXT: &str = "# git ls-files --others\n*.swp\n";
pub const LOCAL_SETTINGS_PATH: &str = "project/.claude/settings.local.json";
pub const USER_SETTINGS_PATH: &str = "home/.claude/settings.json";
pub const EXCLUDE_PATH: &str = "project/.git/info/exclude";

/// A repository without settings of any harness, and with only the files that git needs.
fn bare(sandbox: &Sandbox) -> Result<()> {
    lived_in(sandbox)?;
    let git = sandbox.project_folder().join(".git");
    for folder in ["objects", "refs", "info"] {
        fs::create_dir_all(git.join(folder))?;
    }
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n")?;
    Ok(fs::write(sandbox.dir.join(EXCLUDE_PATH), EXCLUDE_TEXT)?)
}

/// The same repository with the user's own settings, which do not contain our hooks.
pub fn wireless(sandbox: &Sandbox) -> Result<()> {
    bare(sandbox)?;
    for path in [LOCAL_SETTINGS_PATH, USER_SETTINGS_PATH].map(|path| sandbox.dir.join(path)) {
        fs::create_dir_all(path.parent().context("settings lie in a folder")?)?;
        fs::write(path, USER_SETTINGS_TEXT)?;
    }
    Ok(())
}

fn wired(sandbox: &Sandbox) -> Result<()> {
    wireless(sandbox)?;
    sandbox.run_successfully(&["install", "claude-code", "--local"], b"")?;
    sandbox.run_successfully(&["install", "claude-code", "--user"], b"").map(drop)
}

pub fn has_our_hooks(sandbox: &Sandbox, path: &str) -> bool {
    let text = fs::read_to_string(sandbox.dir.join(path)).unwrap_or_default();
    ["PostToolUse", "SessionStart", "PreCompact"].iter().all(|event| text.contains(event))
}

/// A sandbox with a transcript of eight calls that no hook has reported.
pub fn with_transcript(sandbox: &Sandbox) -> Result<()> {
    lived_in(sandbox)?;
    let turns = (0..TRANSCRIPT_TURNS)
        .map(|number| transcript::turn_lines(&sandbox.project_folder(), &format!("told{number}"), number));
    let folder = sandbox.dir.join("home/.claude/projects/p");
    fs::create_dir_all(&folder)?;
    Ok(fs::write(folder.join("s.jsonl"), turns.collect::<String>())?)
}

const TRANSCRIPT_TURNS: usize = 8;

/// Returns whether the journal contains each call of the transcript once, and each edited file has one edit.
pub fn retold(sandbox: &Sandbox) -> bool {
    let edits = ["src/module1.rs", "src/module5.rs"];
    let ids: Vec<String> = (0..TRANSCRIPT_TURNS).map(|number| format!("toolu_told{number}")).collect();
    // Some searches are not recorded, but all other calls are.
    let shown = ids_shown_by_journal(sandbox);
    let once = |id: &String| shown.iter().filter(|shown| *shown == id).count() == 1;
    ids.iter().enumerate().filter(|(number, _)| number % 4 != 3).all(|(_, id)| once(id))
        && edits.iter().all(|path| edits_shown_by_files(sandbox, path) == Some(1))
}

/// A sandbox after a compaction, when a brief is due.
fn compacted(sandbox: &Sandbox) -> Result<()> {
    with_transcript(sandbox)?;
    sandbox.run_successfully(&["hook", "claude-code", "PreCompact"], &compact(&sandbox.dir)).map(drop)
}

fn restart(sandbox: &Path) -> Vec<u8> {
    payload::hook_payload(sandbox, "SessionStart", json!({"source": "compact"}))
}

fn with_droid(sandbox: &Sandbox) -> Result<()> {
    lived_in(sandbox)?;
    let text = transcript::droid_call_lines(&sandbox.project_folder(), "call_droid");
    Ok(fs::write(sandbox.dir.join("home/droid.jsonl"), text)?)
}

fn droid_stop(sandbox: &Path) -> Vec<u8> {
    let more = json!({"transcript_path": sandbox.join("home/droid.jsonl"), "message_id": "m",
        "stop_hook_active": false, "tool_execution_count": 1, "elapsed_time": 872});
    payload::hook_payload(sandbox, "Stop", more)
}

fn retold_by_droid(sandbox: &Sandbox) -> bool {
    ids_shown_by_journal(sandbox).iter().filter(|id| *id == "call_droid").count() == 1
        && edits_shown_by_files(sandbox, "src/droid.rs") == Some(1)
}

/// Returns the ids that `thru journal` shows for the sandbox's session.
pub fn ids_shown_by_journal(sandbox: &Sandbox) -> Vec<String> {
    let output = sandbox.run_thru(&["journal", "--json", "--session", SESSION], b"");
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter_map(|line| line["id"].as_str().map(str::to_owned)).collect()
}

/// Returns how many times a file was edited, according to `thru files`.
pub fn edits_shown_by_files(sandbox: &Sandbox, path: &str) -> Option<u64> {
    let output = sandbox.run_thru(&["files", "--json", "--session", SESSION, "--limit", "1000"], b"").ok()?;
    let told: Value = serde_json::from_slice(&output.stdout).ok()?;
    let files = told.as_array().or_else(|| told["files"].as_array())?;
    files.iter().find(|file| file["path"] == path)?["edits"].as_u64()
}

pub const PROMPT: &str = "Make it green";

/// A sandbox whose session owns a loop. The session's last message has an id, so that a repeated report counts as the
/// same stop.
pub fn looping(sandbox: &Sandbox) -> Result<()> {
    loop_with_last_message(sandbox, "Done.")
}

fn promised(sandbox: &Sandbox) -> Result<()> {
    loop_with_last_message(sandbox, PROMISE_TEXT)
}

const PROMISE_TEXT: &str = "<promise>ALL GREEN</promise>";

fn loop_with_last_message(sandbox: &Sandbox, said: &str) -> Result<()> {
    lived_in(sandbox)?;
    let folder = sandbox.dir.join("home/.claude/projects/p");
    fs::create_dir_all(&folder)?;
    fs::write(
        folder.join("s.jsonl"),
        transcript::agent_message_line(&sandbox.project_folder(), "msg_last", said),
    )?;
    sandbox
        .run_successfully(&["loop", "start", PROMPT, "--promise", "ALL GREEN", "--session", SESSION], b"")
        .map(drop)
}

fn waiting(sandbox: &Sandbox) -> Result<()> {
    lived_in(sandbox)?;
    sandbox.run_successfully(&["loop", "start", "--next", PROMPT, "--promise", "ALL GREEN"], b"").map(drop)
}

fn with_ralph(sandbox: &Sandbox) -> Result<()> {
    lived_in(sandbox)?;
    fs::create_dir_all(sandbox.project_folder().join(".claude"))?;
    let text = "---\nactive: true\niteration: 2\nmax_iterations: 9\ncompletion_promise: \"OK\"\n---\n\nMake it green\n";
    Ok(fs::write(sandbox.project_folder().join(".claude/ralph-loop.local.md"), text)?)
}

fn promise(sandbox: &Path) -> Vec<u8> {
    let more = json!({"stop_hook_active": false, "last_assistant_message": PROMISE_TEXT});
    payload::hook_payload(sandbox, "Stop", more)
}

/// Returns the loops of a sandbox from `thru loop list`.
pub fn list_loops(sandbox: &Sandbox) -> Vec<Value> {
    let told = sandbox.run_thru(&["loop", "list", "--json"], b"").ok();
    let told: Option<Value> = told.and_then(|output| serde_json::from_slice(&output.stdout).ok());
    told.and_then(|told| told["loops"].as_array().cloned()).unwrap_or_default()
}

fn any_loop_has(sandbox: &Sandbox, key: &str, value: &Value) -> bool {
    list_loops(sandbox).iter().any(|one| one[key] == *value && one["prompt"] == PROMPT)
}

fn went_on(sandbox: &Sandbox) -> bool {
    any_loop_has(sandbox, "iteration", &json!(2)) && any_loop_has(sandbox, "status", &json!("active"))
}

fn kept(sandbox: &Sandbox) -> bool {
    any_loop_has(sandbox, "status", &json!("done"))
}

fn claimed(sandbox: &Sandbox) -> bool {
    any_loop_has(sandbox, "session", &json!(SESSION))
}

fn loop_there(sandbox: &Sandbox) -> bool {
    any_loop_has(sandbox, "status", &json!("active"))
}

fn loop_cancelled(sandbox: &Sandbox) -> bool {
    any_loop_has(sandbox, "status", &json!("cancelled"))
}

fn loop_paused(sandbox: &Sandbox) -> bool {
    any_loop_has(sandbox, "status", &json!("paused"))
}

fn always(_: &Sandbox) -> bool {
    true
}

fn rooted(sandbox: &Sandbox) -> bool {
    project_id(sandbox).is_some_and(|id| !id.is_empty())
}

fn trusted(sandbox: &Sandbox) -> bool {
    let roots = trust_record_path(sandbox)
        .ok()
        .and_then(|path| fs::read(path).ok())
        .and_then(|bytes| integrity::trusted_roots(&bytes));
    roots.is_some_and(|roots| roots.iter().any(|root| root.ends_with("/project")))
}

fn untrusted(sandbox: &Sandbox) -> bool {
    rooted(sandbox) && !trusted(sandbox)
}

fn empty_stdin(_: &Path) -> Vec<u8> {
    Vec::new()
}

pub fn start(sandbox: &Path) -> Vec<u8> {
    payload::hook_payload(sandbox, "SessionStart", json!({"source": "startup"}))
}

pub fn prompt(sandbox: &Path) -> Vec<u8> {
    payload::hook_payload(sandbox, "UserPromptSubmit", json!({"prompt": "Fix the failing test, please."}))
}

pub const TOOL_CALL_ID: &str = "toolu_tortured";

pub fn tool(sandbox: &Path) -> Vec<u8> {
    payload::bash_payload(sandbox, TOOL_CALL_ID, "cargo test --workspace")
}

pub fn failure(sandbox: &Path) -> Vec<u8> {
    let more = json!({"tool_name": "Bash", "tool_use_id": "toolu_failed", "tool_input": {"command": "false"},
        "error": "Exit code 1", "is_interrupt": false});
    payload::hook_payload(sandbox, "PostToolUseFailure", more)
}

pub fn compact(sandbox: &Path) -> Vec<u8> {
    payload::hook_payload(sandbox, "PreCompact", json!({"trigger": "auto", "custom_instructions": ""}))
}

pub fn stop(sandbox: &Path) -> Vec<u8> {
    let more = json!({"stop_hook_active": false, "last_assistant_message": "Done."});
    payload::hook_payload(sandbox, "Stop", more)
}

pub fn end(sandbox: &Path) -> Vec<u8> {
    payload::hook_payload(sandbox, "SessionEnd", json!({"reason": "exit"}))
}

/// A sandbox with a full journal. The next line rotates it.
fn full_log(sandbox: &Sandbox) -> Result<()> {
    lived_in(sandbox)?;
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
