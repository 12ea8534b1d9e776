//! Compares the lists of the harnesses' own slash commands with the real harnesses. A command of ours must not hide one
//! of theirs.

use std::fs;

use harness::commands::{command_files, own_commands, plugin_commands};
use harness::{Harness, harness_by_name};
use memchr::memmem;
use serde_json::json;

use crate::available;
use crate::claude::ClaudeCode;
use crate::model::ScriptedModel;
use crate::process::TestProcess;
use crate::scratch::ScratchProject;
use crate::script::{ModelScript, call_step, text_step};

fn row(name: &str) -> &'static Harness {
    harness_by_name(name).expect("a row")
}

/// Returns the quoted words that follow `before` in a program.
fn words_after(program: &[u8], before: &str) -> Vec<String> {
    let is_word = |byte: &u8| byte.is_ascii_lowercase() || *byte == b'-';
    let mut words = Vec::new();
    for at in memmem::find_iter(program, before) {
        let rest = &program[at + before.len()..];
        let end = rest.iter().position(|byte| !is_word(byte)).unwrap_or(rest.len());
        // Other code reads the name from an object, as in `slashName:"slash"in command`.
        if end > 0 && [&b"\","[..], b"\"}"].iter().any(|after| rest[end..].starts_with(after)) {
            words.push(String::from_utf8_lossy(&rest[..end]).into_owned());
        }
    }
    words
}

/// Claude Code lists its commands at the start of a session.
#[test]
fn claude_code_has_no_command_that_the_list_lacks() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    let model = ScriptedModel::start(ModelScript::main([text_step("Hello.")]));
    let ended = claude.run_prompt(&scratch, &model, "Hello", &[]);
    ended.assert_success();
    let start = ended.lines.iter().map(|line| &line.json).find(|line| line["subtype"] == "init");
    let start = start.expect("the message at the start");
    let own = own_commands(row("claude-code"));
    assert_eq!(start["claude_code_version"], own.version);
    let names = start["slash_commands"].as_array().expect("a list");
    assert!(names.len() > 20, "{start}");
    for name in names.iter().filter_map(|name| name.as_str()) {
        assert!(own.names.contains(&name), "/{name} is missing in the row");
    }
}

#[test]
fn opencode_has_no_command_that_the_list_lacks() {
    let Some(path) = available::find_harness("THRU_OPENCODE", "opencode") else { return };
    let program = fs::read(path).expect("a program");
    let own = own_commands(row("opencode"));
    let names = words_after(&program, "slashName:\"");
    assert!(names.len() > 5, "the commands are written in another way: {names:?}");
    for name in &names {
        assert!(own.names.contains(&&**name), "/{name} is missing in the row");
    }
}

#[test]
fn droid_has_no_command_with_a_name_of_ours() {
    let Some(path) = available::find_harness("THRU_DROID", "droid") else { return };
    let program = fs::read(path).expect("a program");
    let droid = row("droid");
    let has =
        |name: &str| memmem::find(&program, format!("name:\"{name}\",description:").as_bytes()).is_some();
    assert!(has("context") && has("loop"), "the commands are written in another way");
    for file in command_files(droid, "thru") {
        assert!(!has(&file.name), "/{} is a command of Droid", file.name);
    }
    assert_eq!(plugin_commands(droid, "thru"), []);
}

/// In a folder without a root, `/thru-context init` makes one. The permission comes from the command's frontmatter.
#[test]
fn the_context_command_makes_a_root() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    fs::create_dir_all(scratch.home.join(".claude/projects")).expect("a folder");
    scratch.run_thru_successfully(&["install", "claude-code"]);
    assert!(!scratch.project.join(".agent/context/root.json").exists());
    let file =
        fs::read_to_string(scratch.project.join(".claude/commands/thru-context.md")).expect("a command");
    let (_, rest) = file.split_once("allowed-tools: Bash(").expect("a permission");
    let thru = rest.split(":*)").next().expect("a program");
    let model = ScriptedModel::start(ModelScript::main([
        call_step("Bash", json!({ "command": format!("{thru} init"), "description": "Create a root" })),
        text_step("There is a root now."),
    ]));
    let mut command = claude.command_with_permissions(&scratch, &model);
    command.arg("/thru-context init");
    TestProcess::start(command).close_and_wait().assert_success();
    model.assert_script_used_up();
    let asked = model.received_requests();
    assert!(asked[0].contains("If the words are"), "the model reads what to do with `init`");
    assert!(scratch.project.join(".agent/context/root.json").exists());
}
