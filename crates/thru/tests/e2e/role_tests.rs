use serde_json::{Value, json};

use crate::claude::{ClaudeCode, session_id_of_result};
use crate::model::{RequestKind, ScriptedModel};
use crate::scratch::ScratchProject;
use crate::script::{ModelScript, call_step, text_step};

const CONTEXT_FILE: &str = ".agent/context/agents/tester.context.md";

const SUMMARY_TEXT: &str = "<analysis>none</analysis>\n<summary>WHAT-WAS-DONE</summary>";

/// Creates a context file with today's date, because an older file would count as stale.
fn write_context_file(scratch: &ScratchProject) -> String {
    scratch.run_thru_successfully(&["context", "new", "tester"]);
    let path = scratch.project.join(CONTEXT_FILE);
    let text = std::fs::read_to_string(&path).expect("it was just made");
    let text = text
        .replace("Not set yet: one or two sentences on what this role is after.", "GREEN-SUITES everywhere.")
        .replace("2. Read the files under Key Files", "2. RUN-THE-SUITES");
    std::fs::write(&path, &text).expect("a file");
    text
}

fn lifecycle_steps(scratch: &ScratchProject) -> Vec<String> {
    let rows = scratch.run_thru_json(&["lifecycle", "status", "tester"]);
    let step = |step: &Value| {
        format!("{} → {}", step["from"].as_str().expect("a state"), step["to"].as_str().expect("a state"))
    };
    rows[0]["history"].as_array().expect("a history").iter().map(step).collect()
}

/// The agent gets a role and saves its context, the harness compacts, and the agent reads its context file again.
#[test]
fn a_role_goes_through_a_compaction() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    write_context_file(&scratch);
    let model = ScriptedModel::start(ModelScript {
        main: vec![
            call_step("Bash", json!({ "command": "thru role bind tester", "description": "Bind" })),
            call_step("Bash", json!({ "command": "thru context lifecycle.save", "description": "Save" })),
            text_step("Saved."),
            call_step("Read", json!({ "file_path": scratch.project.join(CONTEXT_FILE) })),
            text_step("I am back."),
        ],
        compact: vec![text_step(SUMMARY_TEXT)],
        ..ModelScript::default()
    });

    let mut talk = claude.start_conversation(&scratch, &model, &[]);
    let sid = session_id_of_result(&talk.send_and_wait("You are the tester"));
    assert_eq!(lifecycle_steps(&scratch), ["active → saving", "saving → saved"]);
    talk.send_and_wait("/compact");
    let row = &scratch.run_thru_json(&["lifecycle", "status", "tester"])[0];
    assert_eq!((&row["state"], &row["session"]), (&json!("recovering"), &json!(sid)));
    talk.send_and_wait("Go on");
    talk.end().assert_success();

    model.assert_script_used_up();
    assert_eq!(
        lifecycle_steps(&scratch),
        [
            "active → saving",
            "saving → saved",
            "saved → compacting",
            "compacting → recovering",
            "recovering → active"
        ]
    );
    let row = &scratch.run_thru_json(&["lifecycle", "status", "tester"])[0];
    assert_eq!((&row["state"], &row["valid"]), (&json!("active"), &json!(true)));
    let bys: Vec<&Value> =
        row["history"].as_array().expect("a history").iter().map(|step| &step["by"]).collect();
    assert_eq!(bys, ["cli", "cli", "claude-code", "claude-code", "claude-code"]);
    assert!(
        row["history"].as_array().expect("a history").iter().all(|step| step["session"] == json!(sid)),
        "{row}"
    );

    let asked = model.received_requests();
    let compacted = asked.iter().position(|asked| asked.kind == RequestKind::Compact).expect("a compaction");
    let after = &asked[compacted + 1];
    for needle in ["GREEN-SUITES", "1. “Read this file”; 2. “RUN-THE-SUITES”", CONTEXT_FILE, "WHAT-WAS-DONE"]
    {
        assert!(after.contains(needle), "{needle:?} reaches the model after the compaction");
    }
    scratch.read_receipts().assert_never(&json!({ "outcome": "failed" }));
    scratch.assert_healthy();
}

/// An invalid context file does not stop a compaction. The next brief reports what is wrong with the file.
#[test]
fn an_invalid_file_does_not_stop_a_compaction() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    let text = write_context_file(&scratch);
    std::fs::write(scratch.project.join(CONTEXT_FILE), text.replacen('—', "-", 1)).expect("a file");
    let model = ScriptedModel::start(ModelScript {
        main: vec![
            call_step("Bash", json!({ "command": "thru role bind tester", "description": "Bind" })),
            text_step("Bound."),
            text_step("I see."),
        ],
        compact: vec![text_step(SUMMARY_TEXT)],
        ..ModelScript::default()
    });

    let mut talk = claude.start_conversation(&scratch, &model, &[]);
    let sid = session_id_of_result(&talk.send_and_wait("You are the tester"));
    talk.send_and_wait("/compact");
    assert_eq!(lifecycle_steps(&scratch), ["active → recovering"], "it was never saved");
    talk.send_and_wait("Go on");
    talk.end().assert_success();

    model.assert_script_used_up();
    let asked = model.received_requests();
    let compacted = asked.iter().position(|asked| asked.kind == RequestKind::Compact).expect("a compaction");
    let wrong = "ERROR: TITLE: line 1: there is a hyphen after the name";
    for needle in [wrong, "GREEN-SUITES", "WHAT-WAS-DONE"] {
        assert!(asked[compacted + 1].contains(needle), "{needle:?} reaches the model after the compaction");
    }
    let receipts = scratch.read_receipts();
    let receipts = receipts.matching(&json!({ "event": "before-compact", "session": sid, "outcome": "ok" }));
    assert!(
        receipts.iter().any(|receipt| receipt["warning"].as_str().is_some_and(|text| text.contains(wrong))),
        "{receipts:?}"
    );
}

/// The installed slash command `/recover` makes the model run `thru recover`, and grants the permission to run it.
#[test]
fn the_slash_command_recovers() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    write_context_file(&scratch);
    scratch.run_thru_successfully(&["lifecycle", "save", "tester"]);
    let program = scratch.bin_folder().join("thru").display().to_string();
    let model = ScriptedModel::start(ModelScript::main([
        call_step(
            "Bash",
            json!({ "command": format!("{program} recover tester"), "description": "Recover" }),
        ),
        text_step("Recovered."),
    ]));

    // Unlike in the other tests, only the permissions in the command's own frontmatter apply.
    let mut command = claude.command_with_permissions(&scratch, &model);
    command.arg("/recover tester");
    crate::process::TestProcess::start(command).close_and_wait().assert_success();

    model.assert_script_used_up();
    assert!(model.has_received("<words>\ntester\n</words>"), "what was typed is in the task");
    let last = model.received_requests().pop().expect("a question");
    for needle in ["Checklist:", "GREEN-SUITES", "Recovered: tester"] {
        assert!(last.contains(needle), "{needle:?} reaches the model");
    }
    assert_eq!(lifecycle_steps(&scratch).pop().as_deref(), Some("saved → active"));
}
