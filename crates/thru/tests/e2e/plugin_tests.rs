//! Tests the plugin in `plugins/claude-code`, which is meant for people who do not want their settings changed.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::claude::{ClaudeCode, hook_runs, session_id_of_result};
use crate::hooks;
use crate::model::ScriptedModel;
use crate::scratch::ScratchProject;
use crate::script::{ModelScript, call_step, text_step};

/// The plugin contains the hooks that `thru install claude-code --project` writes, byte for byte. `THRU_BLESS=1`
/// rewrites the plugin.
#[test]
fn the_plugin_is_what_would_be_installed() {
    let scratch = ScratchProject::new();
    scratch.run_thru_successfully(&["init", "--no-hooks"]);
    scratch.run_thru_successfully(&["install", "claude-code", "--project"]);
    let installed = scratch.project.join(".claude");
    let (hooks, commands) = (plugin_folder().join("hooks/hooks.json"), plugin_folder().join("commands"));
    if std::env::var_os("THRU_BLESS").is_some() {
        fs::copy(installed.join("settings.json"), &hooks).expect("a copy");
        fs::remove_dir_all(&commands).expect("it was there");
        fs::create_dir(&commands).expect("a folder");
        for (name, bytes) in read_files(&installed.join("commands")) {
            fs::write(commands.join(name), bytes).expect("a file");
        }
    }
    assert_eq!(read_text(&hooks), read_text(&installed.join("settings.json")), "THRU_BLESS=1 writes it anew");
    assert_eq!(
        read_files(&commands),
        read_files(&installed.join("commands")),
        "THRU_BLESS=1 writes them anew"
    );
}

#[test]
fn the_manifests_agree() {
    let manifest = read_json(&plugin_folder().join(".claude-plugin/plugin.json"));
    let marketplace = read_json(&repository_root().join(".claude-plugin/marketplace.json"));
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    let listed = &marketplace["plugins"][0];
    assert_eq!(listed["name"], manifest["name"]);
    let source = repository_root().join(listed["source"].as_str().expect("a path"));
    assert_eq!(source.canonicalize().expect("it is there"), plugin_folder());
}

#[test]
fn claude_code_finds_nothing_wrong_with_it() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    for folder in [plugin_folder(), repository_root()] {
        let output = claude
            .run_claude_command(&scratch, &["plugin", "validate", "--strict", &folder.to_string_lossy()]);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("Validation passed"), "{said}");
    }
}

/// The plugin is installed from the marketplace of a checkout. No settings contain our hooks.
#[test]
fn a_session_with_the_plugin_alone_is_in_the_journal() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    scratch.run_thru_successfully(&["init", "--no-hooks"]);
    let (marketplace, manifest) =
        (repository_root(), read_json(&plugin_folder().join(".claude-plugin/plugin.json")));
    let name = manifest["name"].as_str().expect("a name");
    for words in [
        ["plugin", "marketplace", "add", &marketplace.to_string_lossy()].as_slice(),
        ["plugin", "install", &format!("{name}@throughline")].as_slice(),
    ] {
        let output = claude.run_claude_command(&scratch, words);
        let (said, stderr) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{words:?}: {said}{stderr}");
    }
    let model = ScriptedModel::start(ModelScript::main([
        call_step("Write", json!({ "file_path": scratch.project.join("a.txt"), "content": "a\n" })),
        call_step("Bash", json!({ "command": "exit 3", "description": "Fail" })),
        text_step("Written."),
        text_step("Told."),
    ]));

    let mut talk = claude.start_conversation(&scratch, &model, &[]);
    let sid = session_id_of_result(&talk.send_and_wait("Write a file"));
    talk.send_and_wait(&format!("/{name}:thru-context"));
    let ended = talk.end();
    ended.assert_success();

    model.assert_script_used_up();
    let last = model.received_requests().pop().expect("a question");
    assert!(last.contains("trusted on this machine"), "what the command printed reaches the model");
    scratch.read_journal(&sid).assert_in_order(&[
        json!({ "event": "session-start", "name": "startup" }),
        json!({ "event": "prompt", "text": "Write a file" }),
        json!({ "tool": "Write", "ok": true, "files": [{ "path": "a.txt", "action": "create" }] }),
        json!({ "tool": "Bash", "ok": false, "command": "exit 3", "exit": 3 }),
        json!({ "event": "session-end" }),
    ]);
    scratch.read_receipts().assert_never(&json!({ "outcome": "failed" }));
    scratch.assert_healthy();
    hooks::assert_all_succeeded("Claude Code, through the plugin,", &hook_runs(&ended));
}

#[test]
fn without_thru_the_plugin_does_nothing() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    let model = ScriptedModel::start(ModelScript::main([
        call_step("Bash", json!({ "command": "exit 3", "description": "Fail" })),
        text_step("Done."),
    ]));
    fs::remove_file(scratch.bin_folder().join("thru")).expect("it was there");

    let folder = plugin_folder();
    let mut command = claude.claude_command(&scratch, &model);
    // Set PATH, because a developer may have `thru` on the PATH and the plugin would find it.
    command.env("PATH", "/usr/bin:/bin").args(["--plugin-dir", &folder.to_string_lossy(), "Begin"]);
    let ended = crate::process::TestProcess::start(command).close_and_wait();
    ended.assert_success();

    model.assert_script_used_up();
    let runs = hook_runs(&ended);
    hooks::assert_all_succeeded("Claude Code, without thru,", &runs);
    assert!(runs.iter().all(|run| run.stdout.is_empty()), "{runs:?}");
    assert!(!scratch.store_folder().exists());
}

/// If both the plugin and the settings contain hooks, every event fires twice, but every call is counted once.
#[test]
fn plugin_and_settings_together_count_once() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    let file = scratch.project.join("a.txt");
    let model = ScriptedModel::start(ModelScript::main([
        call_step("Write", json!({ "file_path": file, "content": "a\n" })),
        call_step("Edit", json!({ "file_path": file, "old_string": "a", "new_string": "b" })),
        call_step("Bash", json!({ "command": "exit 3", "description": "Fail" })),
        call_step("Read", json!({ "file_path": scratch.project.join("README.md") })),
        text_step("Done."),
    ]));

    let ended = claude.run_prompt(
        &scratch,
        &model,
        "DO-IT-ONCE",
        &["--plugin-dir", &plugin_folder().to_string_lossy()],
    );
    ended.assert_success();

    model.assert_script_used_up();
    let runs = hook_runs(&ended);
    hooks::assert_all_succeeded("Claude Code, with plugin and settings,", &runs);
    let started = runs.iter().filter(|run| run.event == "SessionStart").count();
    assert_eq!(started, 2, "each event fires twice: {runs:?}");

    let sid = session_id_of_result(&ended.lines.last().expect("a result").json);
    let written = scratch.read_journal(&sid).matching(&json!({ "tool": "Write" })).len();
    assert_eq!(written, 2, "nothing on the hook's way looks at what is there");
    scratch.shown_journal(&sid).assert_in_order(&[
        json!({ "tool": "Write", "ok": true }),
        json!({ "tool": "Edit", "ok": true }),
        json!({ "tool": "Bash", "ok": false, "exit": 3 }),
        json!({ "tool": "Read", "ok": true }),
    ]);
    let report = scratch.run_thru_json(&["files"]);
    let row = |path: &str| -> Value {
        let rows = report["files"].as_array().expect("rows");
        rows.iter().find(|row| row["path"] == path).cloned().unwrap_or_default()
    };
    assert_eq!((&row("a.txt")["edits"], &row("a.txt")["reads"]), (&json!(2), &json!(0)), "{report}");
    assert_eq!((&row("README.md")["edits"], &row("README.md")["reads"]), (&json!(0), &json!(1)), "{report}");
    scratch.assert_healthy();
}

fn repository_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the checkout")
}

pub fn plugin_folder() -> PathBuf {
    repository_root().join("plugins/claude-code").canonicalize().expect("the plugin")
}

fn read_text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn read_json(path: &Path) -> Value {
    serde_json::from_str(&read_text(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn read_files(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut files: Vec<_> = entries
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), read_text(&entry.path())))
        .collect();
    files.sort();
    files
}
