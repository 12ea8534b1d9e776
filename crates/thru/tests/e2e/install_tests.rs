//! Tests with Claude Code what `thru init` and `thru install` write for it.

use std::fs;

use serde_json::json;

use crate::claude::{ClaudeCode, hook_runs, session};
use crate::model::Model;
use crate::scratch::Scratch;
use crate::script::{Script, call, say};

/// A new session is first told what the last session did.
#[test]
fn a_new_session_begins_with_the_last_one() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    let model = Model::start(Script::main([
        call(
            "Write",
            json!({ "file_path": scratch.project.join("src/deep/thought.txt"), "content": "42\n" }),
        ),
        say("Written."),
        say("Begun."),
    ]));

    let first = claude.ask(&scratch, &model, "Think deeply", &[]);
    first.assert_success();
    let second = claude.ask(&scratch, &model, "Begin anew", &[]);
    second.assert_success();

    model.assert_played();
    let ids = [&first, &second].map(|ended| session(&ended.lines.last().expect("a result").json));
    assert_ne!(ids[0], ids[1]);
    let asked = model.asked();
    let (early, last) = (&asked[0], asked.last().expect("a question"));
    assert!(!early.holds("Throughline: "), "there was nothing to tell in the first session");
    for needle in ["Throughline: ", "src/deep/thought.txt", "Begin anew"] {
        assert!(last.holds(needle), "{needle:?} reaches the model in a new session");
    }
    scratch.journal(&ids[1]).once(&json!({ "event": "session-start", "name": "startup" }));
}

/// A worktree that was added after `thru init` needs no installation. Claude Code runs the hooks of the main
/// checkout's local settings in the worktree too, and knows the main checkout's commands. If the worktree has the
/// same hooks, each runs only once. `HookTable` and the FAQ rely on this; this test fails if a version of Claude
/// Code behaves differently.
#[test]
fn a_worktree_runs_the_hooks_of_its_main_checkout() {
    let Some(claude) = ClaudeCode::find() else { return };
    let mut scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    scratch.git(&["worktree", "add", "--quiet", "../tree"]);
    scratch.project.set_file_name("tree");
    let model = Model::start(Script::main([say("Begun."), say("Told."), say("Begun again.")]));
    let ended = claude.ask(&scratch, &model, "Begin HERE", &[]);
    ended.assert_success();
    let sid = session(&ended.lines.last().expect("a result").json);
    assert!(!scratch.project.join(".claude").exists(), "the worktree has no settings");
    scratch.shown(&sid).in_order(&[
        json!({ "event": "session-start", "worktree": scratch.project.to_string_lossy() }),
        json!({ "event": "prompt", "text": "Begin HERE" }),
        json!({ "event": "session-end" }),
    ]);
    let status = scratch.thru_json(&["status"]);
    assert_eq!(status["wired"], json!(["claude-code"]), "{status}");
    scratch.assert_healthy();
    let mut command = claude.asking(&scratch, &model);
    command.arg("/thru-context");
    crate::process::Process::start(command).finish().assert_success();
    assert!(model.asked().last().expect("a question").holds("tell the user in a few lines"));

    // If the worktree also has its own hooks, each event is still reported once.
    scratch.thru_ok(&["init"]);
    assert!(scratch.project.join(".claude/settings.local.json").exists());
    let again = claude.ask(&scratch, &model, "Begin again", &[]);
    again.assert_success();
    let starts = hook_runs(&again).into_iter().filter(|run| run.event == "SessionStart").count();
    assert_eq!(starts, 1, "equal hooks of both files run once");
    model.assert_played();
}

/// The harness runs the slash command that `thru init` installed, and the model gets its output.
#[test]
fn the_slash_command_runs() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    let model = Model::start(Script::main([
        call("Write", json!({ "file_path": scratch.project.join("SEEN-BY-FILES.txt"), "content": "a\n" })),
        say("Written."),
        say("Told."),
    ]));

    claude.ask(&scratch, &model, "Write", &[]).assert_success();
    // Unlike in the other tests, the permissions in the command's own front matter must be enough.
    let mut command = claude.asking(&scratch, &model);
    command.arg("/thru-context");
    crate::process::Process::start(command).finish().assert_success();

    model.assert_played();
    let last = model.asked().pop().expect("a question");
    let status = scratch.thru_ok(&["status"]);
    let line = status.lines().find(|line| line.contains("project")).expect("a project in the status").trim();
    for needle in ["SEEN-BY-FILES.txt", line, "tell the user in a few lines"] {
        assert!(last.holds(needle), "{needle:?} reaches the model");
    }
}

/// If the settings have a byte order mark, tabs, Windows line ends and other people's hooks, our hooks run, and so
/// do the others.
#[test]
fn hooks_run_from_settings_that_were_there() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    let theirs = format!("\u{feff}{}", SETTINGS.replace('\n', "\r\n"));
    let installed = install_over(&scratch, &theirs);
    let model = Model::start(Script::main([
        call("Bash", json!({ "command": "exit 3", "description": "Fail" })),
        say("Done."),
    ]));

    let ended = claude.ask(&scratch, &model, "Fail once", &[]);
    ended.assert_success();

    model.assert_played();
    assert!(scratch.project.join("theirs").exists(), "their hook runs");
    let sid = session(&ended.lines.last().expect("a result").json);
    scratch.journal(&sid).in_order(&[
        json!({ "event": "session-start", "name": "startup" }),
        json!({ "event": "prompt", "text": "Fail once" }),
        json!({ "tool": "Bash", "ok": false, "exit": 3 }),
        json!({ "event": "stop" }),
        json!({ "event": "session-end" }),
    ]);
    assert_eq!(settings(&scratch), installed, "the harness left it alone");
    scratch.thru_ok(&["uninstall", "claude-code"]);
    assert_eq!(settings(&scratch), theirs, "as it was before");
}

/// Comments and trailing commas stay, byte for byte. Claude Code itself silently ignores such a file; this test
/// fails if a version of Claude Code reads it.
#[test]
fn comments_stay_although_the_harness_reads_none() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    let theirs = SETTINGS.replace("{\n", "{ // mine\n").replace("\n}", ", /* the last */\n}");
    let installed = install_over(&scratch, &theirs);
    for comment in ["{ // mine\n", "/* the last */"] {
        assert_eq!(theirs.matches(comment).count(), installed.matches(comment).count(), "{installed}");
    }
    let model = Model::start(Script::main([say("Hello.")]));

    let ended = claude.ask(&scratch, &model, "Say hello", &[]);
    ended.assert_success();

    model.assert_played();
    assert!(
        hook_runs(&ended).is_empty() && !scratch.project.join("theirs").exists(),
        "it reads comments now"
    );
    scratch.thru_ok(&["uninstall", "claude-code"]);
    assert_eq!(settings(&scratch), theirs, "as it was before");
}

/// `thru doctor` names every event that has fired, and when it last fired.
#[test]
fn the_doctor_knows_what_fired() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    let model = Model::start(Script::main([
        call("Write", json!({ "file_path": scratch.project.join("a.txt"), "content": "a\n" })),
        say("Written."),
    ]));

    claude.ask(&scratch, &model, "Write a file", &[]).assert_success();

    model.assert_played();
    let report = scratch.thru_json(&["doctor"]);
    let events = report["events"].as_array().unwrap_or_else(|| panic!("no events in {report}"));
    for event in ["session-start", "prompt", "tool-done", "stop", "session-end"] {
        let fired = events.iter().find(|fired| fired["event"] == event);
        let fired = fired.unwrap_or_else(|| panic!("no {event} in {report}"));
        assert!(fired["runs"].as_u64() > Some(0) && fired["last_at"].as_str() > Some("2026"), "{fired}");
    }
    let hooks =
        report["checks"].as_array().and_then(|checks| checks.iter().find(|check| check["name"] == "hooks"));
    let text = hooks.map(|check| check["text"].to_string()).unwrap_or_default();
    assert!(!text.is_empty() && !text.contains("no hook has run"), "{report}");
}

const SETTINGS: &str = r#"{
	"permissions": {
		"allow": ["Bash(true)"]
	},
	"hooks": {
		"Stop": [
			{ "hooks": [{ "type": "command", "command": "touch theirs" }] }
		]
	},
	"env": { "A": "1" }
}
"#;

/// Installs over these settings and checks that text was only inserted: the old text is still there, in order.
fn install_over(scratch: &Scratch, theirs: &str) -> String {
    scratch.write(".claude/settings.local.json", theirs);
    ClaudeCode::init(scratch);
    let installed = settings(scratch);
    assert_ne!(installed, theirs);
    let mut rest = installed.chars();
    assert!(theirs.chars().all(|wanted| rest.any(|is| is == wanted)), "{installed}");
    installed
}

fn settings(scratch: &Scratch) -> String {
    fs::read_to_string(scratch.project.join(".claude/settings.local.json")).expect("settings")
}
