//! The commands under torture. A new one is one line in `ROWS`.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::integrity::{self, Takes};
use super::{gates, packets, workstreams};
use crate::scene::{SESSION, Scene, payload};
use crate::transcript;

#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub name: &'static str,
    /// How things are before the command.
    pub scene: fn(&Scene) -> Result<()>,
    pub argv: &'static [&'static str],
    pub stdin: fn(&Path) -> Vec<u8>,
    /// What must be true when the command has said it succeeded.
    pub done: fn(&Scene) -> bool,
    pub takes: Takes,
    /// Whether hooks write in this scene once the command has run: in an untrusted project they must not.
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
    scene: fn(&Scene) -> Result<()>,
    argv: &'static [&'static str],
    done: fn(&Scene) -> bool,
) -> Row {
    Row { name, scene, argv, stdin: nothing, done, takes: Takes::Nothing, hooks_after: Hooks::Write }
}

const fn hook(name: &'static str, argv: &'static [&'static str], stdin: fn(&Path) -> Vec<u8>) -> Row {
    Row { name, scene: lived_in, argv, stdin, done: always, takes: Takes::Nothing, hooks_after: Hooks::Write }
}

const fn hook_on(
    scene: fn(&Scene) -> Result<()>,
    name: &'static str,
    argv: &'static [&'static str],
    stdin: fn(&Path) -> Vec<u8>,
) -> Row {
    Row { scene, ..hook(name, argv, stdin) }
}

/// A command that changes a harness's settings.
const fn wires(
    name: &'static str,
    scene: fn(&Scene) -> Result<()>,
    argv: &'static [&'static str],
    done: fn(&Scene) -> bool,
) -> Row {
    Row { takes: Takes::Settings, ..cli(name, scene, argv, done) }
}

pub const ROWS: &[Row] = &[
    cli("init, empty folder", fresh, &["init"], rooted),
    cli("init, again", lived_in, &["init"], rooted),
    cli("context init, empty folder", fresh, &["context", "init"], rooted),
    cli("trust", cloned, &["trust"], trusted),
    Row {
        takes: Takes::Trust,
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
        scene: rooted_only,
        ..hook("hook SessionStart, first ever", &["hook", "claude-code", "SessionStart"], start)
    },
    Row { scene: rooted_only, ..hook("hook PostToolUse, first ever", TOOL_DONE, tool) },
    Row { scene: full_log, ..hook("hook PostToolUse, the log is full", TOOL_DONE, tool) },
    cli("context new", lived_in, &["context", "new", "tester"], has_role_file),
    Row {
        takes: Takes::Fault,
        ..cli("context fix", with_bad_role, &["context", "fix", ROLE_PATH], is_mended)
    },
    Row {
        takes: Takes::Role,
        ..cli("role unbind", with_role, &["role", "unbind", "--session", SESSION], |scene| !is_bound(scene))
    },
    cli("role bind", with_role, &["role", "bind", "tester", "--session", SESSION], is_bound),
    cli("lifecycle init", with_role, &["lifecycle", "init", "scribe"], has_begun),
    cli("lifecycle save", with_role, &["lifecycle", "save", "tester"], is_saved),
    cli("recover", compacting, &["recover", "tester"], is_active),
    Row {
        done: is_compacting,
        ..hook_on(with_role, "hook PreCompact, role", &["hook", "claude-code", "PreCompact"], compact)
    },
    Row {
        done: is_recovering,
        ..hook_on(
            compacting,
            "hook SessionStart(compact), role",
            &["hook", "claude-code", "SessionStart"],
            restart,
        )
    },
    Row { done: is_active, ..hook_on(compacting, "hook PostToolUse, role file", TOOL_DONE, reads_role) },
    wires("install --local", wireless, &["install", "claude-code", "--local"], wired_locally),
    wires("install --local, no settings", bare, &["install", "claude-code", "--local"], wired_locally),
    wires("install --user", wireless, &["install", "claude-code", "--user"], wired_for_user),
    wires("uninstall", wired, &["uninstall", "claude-code", "--local"], unwired),
    wires("uninstall --user", wired, &["uninstall", "claude-code", "--user"], unwired_for_user),
    // It asks git.
    Row { takes: Takes::Launches, ..cli("handoff", lived_in, &["handoff", "go on"], packets::handed_off) },
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
    // In the name of a session: only one that is named can be told from another claimant when it asks again.
    cli(
        "pickup --claim",
        packets::with_packet,
        &["pickup", "mine", "--claim", "--session", SESSION],
        packets::active,
    ),
    cli("sweep", packets::with_dead_session, &["sweep"], always),
    hook_on(
        packets::with_dead_session,
        "hook SessionStart, a dead session",
        &["hook", "claude-code", "SessionStart"],
        packets::other_start,
    ),
    cli("gate expect", gates::with_plan, gates::EXPECT, gates::awaits),
    Row {
        takes: Takes::Launches,
        ..cli(
            "gate run, one there, one not",
            gates::half_run,
            &["gate", "run", "--again", "--jobs", "1"],
            gates::all_valid,
        )
    },
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
        takes: Takes::Manifest,
        ..cli(
            "resume migrate --rollback",
            workstreams::with_migrated,
            &["resume", "migrate", "--rollback"],
            workstreams::is_rolled_back,
        )
    },
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
    cli("status --json", lived_in, &["status", "--json"], rooted),
    cli("doctor", lived_in, &["doctor"], rooted),
    cli("config", lived_in, &["config"], rooted),
];

const START: &[&str] = &["hook", "claude-code", "SessionStart"];
pub const STOP: &[&str] = &["hook", "claude-code", "Stop"];
pub const TOOL_DONE: &[&str] = &["hook", "claude-code", "PostToolUse"];

fn fresh(_: &Scene) -> Result<()> {
    Ok(())
}

pub fn rooted_only(scene: &Scene) -> Result<()> {
    scene.init()
}

/// A project with a past: journal lines, receipts, a key of somebody else's in root.json, files of the user's,
/// and a second root under the same trust record.
pub fn lived_in(scene: &Scene) -> Result<()> {
    scene.init()?;
    scene.must(&["hook", "claude-code", "SessionStart"], &start(&scene.dir))?;
    for number in 0..3 {
        scene.must(TOOL_DONE, &payload::bash(&scene.dir, &format!("toolu_before{number}"), "cargo test"))?;
    }
    scene.must(&["hook", "claude-code", "Stop"], &stop(&scene.dir))?;
    let marker = scene.store().join("root.json");
    edit_json(&marker, |root| root["not_ours"] = json!({"keep": [1, 2, 3]}))?;
    fs::create_dir_all(scene.store().join("packets"))?;
    fs::write(
        scene.store().join("packets/20260101T000000Z-hello.md"),
        "---\nid: hello\n---\nText of a person.\n",
    )?;
    fs::write(scene.store().join("config.toml"), "# settings of a person\n")?;
    edit_json(&trust_record(scene)?, |trust| {
        if let Some(roots) = trust["roots"].as_array_mut() {
            roots.push(json!({"path": "/somewhere/else", "trusted_at": "2026-01-01T00:00:00Z"}));
        }
    })
}

/// The same, but as if it came with a clone: only somewhere else is trusted.
fn cloned(scene: &Scene) -> Result<()> {
    lived_in(scene)?;
    edit_json(&trust_record(scene)?, |trust| {
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

pub fn project_id(scene: &Scene) -> Option<String> {
    let root: Value = serde_json::from_slice(&fs::read(scene.store().join("root.json")).ok()?).ok()?;
    root["project_id"].as_str().map(str::to_owned)
}

pub fn trust_record(scene: &Scene) -> Result<std::path::PathBuf> {
    let id = project_id(scene).context("root.json names no project_id")?;
    Ok(scene.state().join("trust").join(format!("{id}.json")))
}

/// A person's settings, of the kind that is easily spoilt: comments, tabs, hooks of others, no last line end.
pub const SETTINGS: &str = "{\n\t// mine\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }\n\t\t]\n\t}\n}";
pub const EXCLUDE: &str = "# git ls-files --others\n*.swp\n";
pub const LOCAL_SETTINGS: &str = "project/.claude/settings.local.json";
pub const USER_SETTINGS: &str = "home/.claude/settings.json";
pub const EXCLUDE_FILE: &str = "project/.git/info/exclude";

/// A clone without settings of any harness. Just enough of a repository that git takes it for one.
fn bare(scene: &Scene) -> Result<()> {
    lived_in(scene)?;
    let git = scene.project().join(".git");
    for folder in ["objects", "refs", "info"] {
        fs::create_dir_all(git.join(folder))?;
    }
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n")?;
    Ok(fs::write(scene.dir.join(EXCLUDE_FILE), EXCLUDE)?)
}

/// The same with settings of a person's own, which do not know us.
fn wireless(scene: &Scene) -> Result<()> {
    bare(scene)?;
    for path in [LOCAL_SETTINGS, USER_SETTINGS].map(|path| scene.dir.join(path)) {
        fs::create_dir_all(path.parent().context("settings lie in a folder")?)?;
        fs::write(path, SETTINGS)?;
    }
    Ok(())
}

fn wired(scene: &Scene) -> Result<()> {
    wireless(scene)?;
    scene.must(&["install", "claude-code", "--local"], b"")?;
    scene.must(&["install", "claude-code", "--user"], b"").map(drop)
}

fn holds_hooks(scene: &Scene, path: &str) -> bool {
    let text = fs::read_to_string(scene.dir.join(path)).unwrap_or_default();
    ["PostToolUse", "SessionStart", "PreCompact"].iter().all(|event| text.contains(event))
}

fn wired_locally(scene: &Scene) -> bool {
    holds_hooks(scene, LOCAL_SETTINGS)
}

fn wired_for_user(scene: &Scene) -> bool {
    holds_hooks(scene, USER_SETTINGS)
}

fn unwired(scene: &Scene) -> bool {
    fs::read_to_string(scene.dir.join(LOCAL_SETTINGS)).is_ok_and(|text| text == SETTINGS)
        && fs::read_to_string(scene.dir.join(EXCLUDE_FILE)).is_ok_and(|text| text == EXCLUDE)
}

fn unwired_for_user(scene: &Scene) -> bool {
    fs::read_to_string(scene.dir.join(USER_SETTINGS)).is_ok_and(|text| text == SETTINGS)
}

/// A transcript that tells of eight calls which no hook has told.
pub fn with_transcript(scene: &Scene) -> Result<()> {
    lived_in(scene)?;
    let turns = (0..TURNS).map(|number| transcript::turn(&scene.project(), &format!("told{number}"), number));
    let folder = scene.dir.join("home/.claude/projects/p");
    fs::create_dir_all(&folder)?;
    Ok(fs::write(folder.join("s.jsonl"), turns.collect::<String>())?)
}

const TURNS: usize = 8;

/// Whether each of these calls can be read once, and the files they edited were edited once.
pub fn retold(scene: &Scene) -> bool {
    let edits = ["src/module1.rs", "src/module5.rs"];
    let ids: Vec<String> = (0..TURNS).map(|number| format!("toolu_told{number}")).collect();
    // Searching is not worth a line everywhere; the calls that read, edit and run are.
    let shown = shown_ids(scene);
    let once = |id: &String| shown.iter().filter(|shown| *shown == id).count() == 1;
    ids.iter().enumerate().filter(|(number, _)| number % 4 != 3).all(|(_, id)| once(id))
        && edits.iter().all(|path| edits_of(scene, path) == Some(1))
}

/// After a compaction: a brief is due.
fn compacted(scene: &Scene) -> Result<()> {
    with_transcript(scene)?;
    scene.must(&["hook", "claude-code", "PreCompact"], &compact(&scene.dir)).map(drop)
}

fn restart(scene: &Path) -> Vec<u8> {
    payload::event(scene, "SessionStart", json!({"source": "compact"}))
}

/// A valid context file, and nothing to warn of but its age.
pub const ROLE: &str = "# Tester — Session Context\n\n**Updated**: 2026-11-15\n**Role**: tester\n**Pane**: none\n\n\
    ## Recovery Steps\n1. Read this file\n\n## Completed Work\n1. This (DONE)\n";
pub const ROLE_PATH: &str = ".agent/context/agents/tester.context.md";

/// The session has a role with a file and a history.
pub fn with_role(scene: &Scene) -> Result<()> {
    lived_in(scene)?;
    fs::create_dir_all(scene.store().join("agents"))?;
    fs::write(scene.project().join(ROLE_PATH), ROLE)?;
    scene.must(&["role", "bind", "tester", "--session", SESSION], b"")?;
    scene.must(&["lifecycle", "save", "tester"], b"").map(drop)
}

fn with_bad_role(scene: &Scene) -> Result<()> {
    lived_in(scene)?;
    fs::create_dir_all(scene.store().join("agents"))?;
    Ok(fs::write(scene.project().join(ROLE_PATH), ROLE.replacen('—', "-", 1))?)
}

fn compacting(scene: &Scene) -> Result<()> {
    with_role(scene)?;
    scene.must(&["hook", "claude-code", "PreCompact"], &compact(&scene.dir)).map(drop)
}

fn reads_role(scene: &Path) -> Vec<u8> {
    let more = json!({"tool_name": "Read", "tool_use_id": TOOL_ID,
        "tool_input": {"file_path": scene.join("project").join(ROLE_PATH)}});
    payload::event(scene, "PostToolUse", more)
}

fn has_role_file(scene: &Scene) -> bool {
    fs::read_to_string(scene.project().join(ROLE_PATH)).is_ok_and(|text| text.starts_with("# Tester — "))
}

fn is_mended(scene: &Scene) -> bool {
    fs::read_to_string(scene.project().join(ROLE_PATH)).is_ok_and(|text| text == ROLE)
}

fn is_bound(scene: &Scene) -> bool {
    fs::read_to_string(scene.store().join("state/roles").join(SESSION)).is_ok_and(|text| text == "tester\n")
}

fn state_of(scene: &Scene, machine: &str) -> Option<String> {
    let bytes = fs::read(scene.store().join(format!("state/lifecycle/{machine}.json"))).ok()?;
    let value: Value = serde_json::from_slice(&bytes).ok()?;
    value["state"].as_str().map(str::to_owned)
}

fn has_begun(scene: &Scene) -> bool {
    state_of(scene, "scribe").as_deref() == Some("active")
}

fn is_saved(scene: &Scene) -> bool {
    state_of(scene, "tester").as_deref() == Some("saved")
}

fn is_compacting(scene: &Scene) -> bool {
    state_of(scene, "tester").as_deref() == Some("compacting")
}

fn is_recovering(scene: &Scene) -> bool {
    state_of(scene, "tester").as_deref() == Some("recovering")
}

fn is_active(scene: &Scene) -> bool {
    state_of(scene, "tester").as_deref() == Some("active")
}

fn with_droid(scene: &Scene) -> Result<()> {
    lived_in(scene)?;
    let text = transcript::droid(&scene.project(), "call_droid");
    Ok(fs::write(scene.dir.join("home/droid.jsonl"), text)?)
}

fn droid_stop(scene: &Path) -> Vec<u8> {
    let more = json!({"transcript_path": scene.join("home/droid.jsonl"), "message_id": "m",
        "stop_hook_active": false, "tool_execution_count": 1, "elapsed_time": 872});
    payload::event(scene, "Stop", more)
}

fn retold_by_droid(scene: &Scene) -> bool {
    shown_ids(scene).iter().filter(|id| *id == "call_droid").count() == 1
        && edits_of(scene, "src/droid.rs") == Some(1)
}

/// The ids that `thru journal` shows for the scene's session.
pub fn shown_ids(scene: &Scene) -> Vec<String> {
    let output = scene.run(&["journal", "--json", "--session", SESSION], b"");
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter_map(|line| line["id"].as_str().map(str::to_owned)).collect()
}

/// How often `thru files` says a file was edited.
pub fn edits_of(scene: &Scene, path: &str) -> Option<u64> {
    let output = scene.run(&["files", "--json", "--session", SESSION, "--limit", "1000"], b"").ok()?;
    let told: Value = serde_json::from_slice(&output.stdout).ok()?;
    let files = told.as_array().or_else(|| told["files"].as_array())?;
    files.iter().find(|file| file["path"] == path)?["edits"].as_u64()
}

pub const PROMPT: &str = "Make it green";

/// A loop that holds the scene's session, whose last message is known by its id: told again, it is the same stop.
pub fn looping(scene: &Scene) -> Result<()> {
    loop_after(scene, "Done.")
}

fn promised(scene: &Scene) -> Result<()> {
    loop_after(scene, PROMISE)
}

const PROMISE: &str = "<promise>ALL GREEN</promise>";

fn loop_after(scene: &Scene, said: &str) -> Result<()> {
    lived_in(scene)?;
    let folder = scene.dir.join("home/.claude/projects/p");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("s.jsonl"), transcript::said(&scene.project(), "msg_last", said))?;
    scene.must(&["loop", "start", PROMPT, "--promise", "ALL GREEN", "--session", SESSION], b"").map(drop)
}

fn waiting(scene: &Scene) -> Result<()> {
    lived_in(scene)?;
    scene.must(&["loop", "start", "--next", PROMPT, "--promise", "ALL GREEN"], b"").map(drop)
}

fn with_ralph(scene: &Scene) -> Result<()> {
    lived_in(scene)?;
    fs::create_dir_all(scene.project().join(".claude"))?;
    let text = "---\nactive: true\niteration: 2\nmax_iterations: 9\ncompletion_promise: \"OK\"\n---\n\nMake it green\n";
    Ok(fs::write(scene.project().join(".claude/ralph-loop.local.md"), text)?)
}

fn promise(scene: &Path) -> Vec<u8> {
    let more = json!({"stop_hook_active": false, "last_assistant_message": PROMISE});
    payload::event(scene, "Stop", more)
}

/// The loops of a scene, as `thru loop list` tells them.
pub fn loops(scene: &Scene) -> Vec<Value> {
    let told = scene.run(&["loop", "list", "--json"], b"").ok();
    let told: Option<Value> = told.and_then(|output| serde_json::from_slice(&output.stdout).ok());
    told.and_then(|told| told["loops"].as_array().cloned()).unwrap_or_default()
}

fn any_loop(scene: &Scene, key: &str, value: &Value) -> bool {
    loops(scene).iter().any(|one| one[key] == *value && one["prompt"] == PROMPT)
}

fn went_on(scene: &Scene) -> bool {
    any_loop(scene, "iteration", &json!(2)) && any_loop(scene, "status", &json!("active"))
}

fn kept(scene: &Scene) -> bool {
    any_loop(scene, "status", &json!("done"))
}

fn claimed(scene: &Scene) -> bool {
    any_loop(scene, "session", &json!(SESSION))
}

fn loop_there(scene: &Scene) -> bool {
    any_loop(scene, "status", &json!("active"))
}

fn loop_cancelled(scene: &Scene) -> bool {
    any_loop(scene, "status", &json!("cancelled"))
}

fn loop_paused(scene: &Scene) -> bool {
    any_loop(scene, "status", &json!("paused"))
}

fn always(_: &Scene) -> bool {
    true
}

fn rooted(scene: &Scene) -> bool {
    project_id(scene).is_some_and(|id| !id.is_empty())
}

fn trusted(scene: &Scene) -> bool {
    let roots = trust_record(scene)
        .ok()
        .and_then(|path| fs::read(path).ok())
        .and_then(|bytes| integrity::roots(&bytes));
    roots.is_some_and(|roots| roots.iter().any(|root| root.ends_with("/project")))
}

fn untrusted(scene: &Scene) -> bool {
    rooted(scene) && !trusted(scene)
}

fn nothing(_: &Path) -> Vec<u8> {
    Vec::new()
}

pub fn start(scene: &Path) -> Vec<u8> {
    payload::event(scene, "SessionStart", json!({"source": "startup"}))
}

pub fn prompt(scene: &Path) -> Vec<u8> {
    payload::event(scene, "UserPromptSubmit", json!({"prompt": "Fix the failing test, please."}))
}

pub const TOOL_ID: &str = "toolu_tortured";

pub fn tool(scene: &Path) -> Vec<u8> {
    payload::bash(scene, TOOL_ID, "cargo test --workspace")
}

pub fn failure(scene: &Path) -> Vec<u8> {
    let more = json!({"tool_name": "Bash", "tool_use_id": "toolu_failed", "tool_input": {"command": "false"},
        "error": "Exit code 1", "is_interrupt": false});
    payload::event(scene, "PostToolUseFailure", more)
}

pub fn compact(scene: &Path) -> Vec<u8> {
    payload::event(scene, "PreCompact", json!({"trigger": "auto", "custom_instructions": ""}))
}

pub fn stop(scene: &Path) -> Vec<u8> {
    let more = json!({"stop_hook_active": false, "last_assistant_message": "Done."});
    payload::event(scene, "Stop", more)
}

pub fn end(scene: &Path) -> Vec<u8> {
    payload::event(scene, "SessionEnd", json!({"reason": "exit"}))
}

/// A journal that is full: the next line rotates it.
fn full_log(scene: &Scene) -> Result<()> {
    lived_in(scene)?;
    rotate_early(scene)?;
    let filler = format!("{}\n", json!({"v": 1, "event": "filler", "text": "x".repeat(1000)}));
    let mut log = fs::OpenOptions::new().append(true).open(scene.journal())?;
    Ok(log.write_all(filler.repeat(80).as_bytes())?)
}

/// The smallest limit that can be set.
pub fn rotate_early(scene: &Scene) -> Result<()> {
    fs::create_dir_all(scene.dir.join("config/throughline"))?;
    Ok(fs::write(scene.dir.join("config/throughline/config.toml"), "[hooks]\nlog_limit_kib = 64\n")?)
}

/// The journal of the scene's session and its rotated parts.
pub fn journals(scene: &Scene) -> Result<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(scene.store().join("sessions"))? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(SESSION) && entry.path().is_file() {
            found.push(fs::read(entry.path())?);
        }
    }
    Ok(found)
}

/// The ids of all tool calls in the journal of the scene's session.
pub fn journal_ids(scene: &Scene) -> Vec<String> {
    let logs = journals(scene).unwrap_or_default();
    let lines = logs.iter().flat_map(|log| log.split(|&byte| byte == b'\n'));
    lines
        .filter_map(|line| serde_json::from_slice::<Value>(line).ok())
        .filter_map(|line| line["id"].as_str().map(str::to_owned))
        .collect()
}
