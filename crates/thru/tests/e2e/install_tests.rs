//! Uses the real Claude Code to test the files that `thru init` and `thru install` write.

use std::fs;

use serde_json::json;

use crate::claude::{ClaudeCode, hook_runs, session_id_of_result};
use crate::model::ScriptedModel;
use crate::scratch::ScratchProject;
use crate::script::{ModelScript, call_step, text_step};

#[test]
fn a_new_session_begins_with_the_last_one() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    let model = ScriptedModel::start(ModelScript::main([
        call_step(
            "Write",
            json!({ "file_path": scratch.project.join("src/deep/thought.txt"), "content": "42\n" }),
        ),
        text_step("Written."),
        text_step("Begun."),
    ]));

    let first = claude.run_prompt(&scratch, &model, "Think deeply", &[]);
    first.assert_success();
    let second = claude.run_prompt(&scratch, &model, "Begin anew", &[]);
    second.assert_success();

    model.assert_script_used_up();
    let ids =
        [&first, &second].map(|ended| session_id_of_result(&ended.lines.last().expect("a result").json));
    assert_ne!(ids[0], ids[1]);
    let asked = model.received_requests();
    let (early, last) = (&asked[0], asked.last().expect("a question"));
    assert!(!early.contains("Throughline: "), "there was nothing to tell in the first session");
    for needle in ["Throughline: ", "src/deep/thought.txt", "Begin anew"] {
        assert!(last.contains(needle), "{needle:?} reaches the model in a new session");
    }
    scratch.read_journal(&ids[1]).assert_once(&json!({ "event": "session-start", "name": "startup" }));
}

/// A worktree that was added after `thru init` needs no installation: Claude Code also runs the hooks and offers the
/// commands of the main checkout. If the worktree has the same hooks, each runs only once. `HookTable` and the FAQ rely
/// on this behaviour, and this test fails if Claude Code changes it.
#[test]
fn a_worktree_runs_the_hooks_of_its_main_checkout() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let mut scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    scratch.run_git(&["worktree", "add", "--quiet", "../tree"]);
    scratch.project.set_file_name("tree");
    let model = ScriptedModel::start(ModelScript::main([
        text_step("Begun."),
        text_step("Told."),
        text_step("Begun again."),
    ]));
    let ended = claude.run_prompt(&scratch, &model, "Begin HERE", &[]);
    ended.assert_success();
    let sid = session_id_of_result(&ended.lines.last().expect("a result").json);
    assert!(!scratch.project.join(".claude").exists(), "the worktree has no settings");
    scratch.shown_journal(&sid).assert_in_order(&[
        json!({ "event": "session-start", "worktree": scratch.project.to_string_lossy() }),
        json!({ "event": "prompt", "text": "Begin HERE" }),
        json!({ "event": "session-end" }),
    ]);
    let status = scratch.run_thru_json(&["status"]);
    assert_eq!(status["wired"], json!(["claude-code"]), "{status}");
    scratch.assert_healthy();
    let mut command = claude.command_with_permissions(&scratch, &model);
    command.arg("/thru-context");
    crate::process::TestProcess::start(command).close_and_wait().assert_success();
    assert!(model.received_requests().last().expect("a question").contains("tell the user in a few lines"));

    // If the worktree also has its own hooks, each event is still reported once.
    scratch.run_thru_successfully(&["init"]);
    assert!(scratch.project.join(".claude/settings.local.json").exists());
    let again = claude.run_prompt(&scratch, &model, "Begin again", &[]);
    again.assert_success();
    let starts = hook_runs(&again).into_iter().filter(|run| run.event == "SessionStart").count();
    assert_eq!(starts, 1, "equal hooks of both files run once");
    model.assert_script_used_up();
}

/// The harness runs the `thru` commands of the slash command, and the model gets their output.
#[test]
fn the_slash_command_runs() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    let model = ScriptedModel::start(ModelScript::main([
        call_step(
            "Write",
            json!({ "file_path": scratch.project.join("SEEN-BY-FILES.txt"), "content": "a\n" }),
        ),
        text_step("Written."),
        text_step("Told."),
    ]));

    claude.run_prompt(&scratch, &model, "Write", &[]).assert_success();
    // Unlike in the other tests, only the permissions in the command's own frontmatter apply.
    let mut command = claude.command_with_permissions(&scratch, &model);
    command.arg("/thru-context");
    crate::process::TestProcess::start(command).close_and_wait().assert_success();

    model.assert_script_used_up();
    let last = model.received_requests().pop().expect("a question");
    let status = scratch.run_thru_successfully(&["status"]);
    let line = status.lines().find(|line| line.contains("project")).expect("a project in the status").trim();
    for needle in ["SEEN-BY-FILES.txt", line, "tell the user in a few lines"] {
        assert!(last.contains(needle), "{needle:?} reaches the model");
    }
}

/// The settings have a byte order mark, tabs, Windows line endings and the user's own hooks. Both our hooks and the
/// user's hooks run.
#[test]
fn hooks_run_from_settings_that_were_there() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    let theirs = format!("\u{feff}{}", USER_SETTINGS.replace('\n', "\r\n"));
    let installed = install_over(&scratch, &theirs);
    let model = ScriptedModel::start(ModelScript::main([
        call_step("Bash", json!({ "command": "exit 3", "description": "Fail" })),
        text_step("Done."),
    ]));

    let ended = claude.run_prompt(&scratch, &model, "Fail once", &[]);
    ended.assert_success();

    model.assert_script_used_up();
    assert!(scratch.project.join("theirs").exists(), "their hook runs");
    let sid = session_id_of_result(&ended.lines.last().expect("a result").json);
    scratch.read_journal(&sid).assert_in_order(&[
        json!({ "event": "session-start", "name": "startup" }),
        json!({ "event": "prompt", "text": "Fail once" }),
        json!({ "tool": "Bash", "ok": false, "exit": 3 }),
        json!({ "event": "stop" }),
        json!({ "event": "session-end" }),
    ]);
    assert_eq!(read_settings(&scratch), installed, "the harness left it alone");
    scratch.run_thru_successfully(&["uninstall", "claude-code"]);
    assert_eq!(read_settings(&scratch), theirs, "as it was before");
}

/// Comments and trailing commas stay, byte for byte. Claude Code silently ignores a settings file with comments, and
/// this test fails if that changes.
#[test]
fn comments_stay_although_the_harness_reads_none() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    let theirs = USER_SETTINGS.replace("{\n", "{ // mine\n").replace("\n}", ", /* the last */\n}");
    let installed = install_over(&scratch, &theirs);
    for comment in ["{ // mine\n", "/* the last */"] {
        assert_eq!(theirs.matches(comment).count(), installed.matches(comment).count(), "{installed}");
    }
    let model = ScriptedModel::start(ModelScript::main([text_step("Hello.")]));

    let ended = claude.run_prompt(&scratch, &model, "Say hello", &[]);
    ended.assert_success();

    model.assert_script_used_up();
    assert!(
        hook_runs(&ended).is_empty() && !scratch.project.join("theirs").exists(),
        "it reads comments now"
    );
    scratch.run_thru_successfully(&["uninstall", "claude-code"]);
    assert_eq!(read_settings(&scratch), theirs, "as it was before");
}

#[test]
fn the_doctor_knows_what_fired() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    let model = ScriptedModel::start(ModelScript::main([
        call_step("Write", json!({ "file_path": scratch.project.join("a.txt"), "content": "a\n" })),
        text_step("Written."),
    ]));

    claude.run_prompt(&scratch, &model, "Write a file", &[]).assert_success();

    model.assert_script_used_up();
    let report = scratch.run_thru_json(&["doctor"]);
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

const USER_SETTINGS: &str = r#"{
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

/// Installs hooks into these settings and checks that the installation only inserted text.
fn install_over(scratch: &ScratchProject, theirs: &str) -> String {
    scratch.write_file(".claude/settings.local.json", theirs);
    ClaudeCode::init_project(scratch);
    let installed = read_settings(scratch);
    assert_ne!(installed, theirs);
    let mut rest = installed.chars();
    assert!(theirs.chars().all(|wanted| rest.any(|is| is == wanted)), "{installed}");
    installed
}

fn read_settings(scratch: &ScratchProject) -> String {
    fs::read_to_string(scratch.project.join(".claude/settings.local.json")).expect("settings")
}
