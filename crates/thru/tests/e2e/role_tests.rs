use serde_json::{Value, json};

use crate::claude::{ClaudeCode, session};
use crate::model::{Kind, Model};
use crate::scratch::Scratch;
use crate::script::{Script, call, say};

const FILE: &str = ".agent/context/agents/tester.context.md";

const SUMMARY: &str = "<analysis>none</analysis>\n<summary>WHAT-WAS-DONE</summary>";

/// Creates a context file with today's date, so that nothing in it is stale.
fn context_file(scratch: &Scratch) -> String {
    scratch.thru_ok(&["context", "new", "tester"]);
    let path = scratch.project.join(FILE);
    let text = std::fs::read_to_string(&path).expect("it was just made");
    let text = text
        .replace("Not set yet: one or two sentences on what this role is after.", "GREEN-SUITES everywhere.")
        .replace("2. Read the files under Key Files", "2. RUN-THE-SUITES");
    std::fs::write(&path, &text).expect("a file");
    text
}

fn steps(scratch: &Scratch) -> Vec<String> {
    let rows = scratch.thru_json(&["lifecycle", "status", "tester"]);
    let step = |step: &Value| {
        format!("{} → {}", step["from"].as_str().expect("a state"), step["to"].as_str().expect("a state"))
    };
    rows[0]["history"].as_array().expect("a history").iter().map(step).collect()
}

/// The agent takes a role and saves it, the harness compacts, and the agent reads its context file again.
#[test]
fn a_role_goes_through_a_compaction() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    context_file(&scratch);
    let model = Model::start(Script {
        main: vec![
            call("Bash", json!({ "command": "thru role bind tester", "description": "Bind" })),
            call("Bash", json!({ "command": "thru context lifecycle.save", "description": "Save" })),
            say("Saved."),
            call("Read", json!({ "file_path": scratch.project.join(FILE) })),
            say("I am back."),
        ],
        compact: vec![say(SUMMARY)],
        ..Script::default()
    });

    let mut talk = claude.converse(&scratch, &model, &[]);
    let sid = session(&talk.say("You are the tester"));
    assert_eq!(steps(&scratch), ["active → saving", "saving → saved"]);
    talk.say("/compact");
    let row = &scratch.thru_json(&["lifecycle", "status", "tester"])[0];
    assert_eq!((&row["state"], &row["session"]), (&json!("recovering"), &json!(sid)));
    talk.say("Go on");
    talk.end().assert_success();

    model.assert_played();
    assert_eq!(
        steps(&scratch),
        [
            "active → saving",
            "saving → saved",
            "saved → compacting",
            "compacting → recovering",
            "recovering → active"
        ]
    );
    let row = &scratch.thru_json(&["lifecycle", "status", "tester"])[0];
    assert_eq!((&row["state"], &row["valid"]), (&json!("active"), &json!(true)));
    let bys: Vec<&Value> =
        row["history"].as_array().expect("a history").iter().map(|step| &step["by"]).collect();
    assert_eq!(bys, ["cli", "cli", "claude-code", "claude-code", "claude-code"]);
    assert!(
        row["history"].as_array().expect("a history").iter().all(|step| step["session"] == json!(sid)),
        "{row}"
    );

    let asked = model.asked();
    let compacted = asked.iter().position(|asked| asked.kind == Kind::Compact).expect("a compaction");
    let after = &asked[compacted + 1];
    for needle in ["GREEN-SUITES", "1. “Read this file”; 2. “RUN-THE-SUITES”", FILE, "WHAT-WAS-DONE"]
    {
        assert!(after.holds(needle), "{needle:?} reaches the model after the compaction");
    }
    scratch.receipts().never(&json!({ "outcome": "failed" }));
    scratch.assert_healthy();
}

/// An invalid context file does not stop a compaction, and the next brief says what is wrong with the file.
#[test]
fn an_invalid_file_does_not_stop_a_compaction() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    let text = context_file(&scratch);
    std::fs::write(scratch.project.join(FILE), text.replacen('—', "-", 1)).expect("a file");
    let model = Model::start(Script {
        main: vec![
            call("Bash", json!({ "command": "thru role bind tester", "description": "Bind" })),
            say("Bound."),
            say("I see."),
        ],
        compact: vec![say(SUMMARY)],
        ..Script::default()
    });

    let mut talk = claude.converse(&scratch, &model, &[]);
    let sid = session(&talk.say("You are the tester"));
    talk.say("/compact");
    assert_eq!(steps(&scratch), ["active → recovering"], "it was never saved");
    talk.say("Go on");
    talk.end().assert_success();

    model.assert_played();
    let asked = model.asked();
    let compacted = asked.iter().position(|asked| asked.kind == Kind::Compact).expect("a compaction");
    let wrong = "ERROR: TITLE: line 1: there is a hyphen after the name";
    for needle in [wrong, "GREEN-SUITES", "WHAT-WAS-DONE"] {
        assert!(asked[compacted + 1].holds(needle), "{needle:?} reaches the model after the compaction");
    }
    let receipts = scratch.receipts();
    let receipts = receipts.matching(&json!({ "event": "before-compact", "session": sid, "outcome": "ok" }));
    assert!(
        receipts.iter().any(|receipt| receipt["warning"].as_str().is_some_and(|text| text.contains(wrong))),
        "{receipts:?}"
    );
}

/// `/recover`, as `thru init` installs it, asks the model to run the command, and gives it the permission.
#[test]
fn the_slash_command_recovers() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    context_file(&scratch);
    scratch.thru_ok(&["lifecycle", "save", "tester"]);
    let program = scratch.bin().join("thru").display().to_string();
    let model = Model::start(Script::main([
        call("Bash", json!({ "command": format!("{program} recover tester"), "description": "Recover" })),
        say("Recovered."),
    ]));

    // Unlike in the other tests, the permissions in the command's own front matter must be enough.
    let mut command = claude.asking(&scratch, &model);
    command.arg("/recover tester");
    crate::process::Process::start(command).finish().assert_success();

    model.assert_played();
    assert!(model.sent_to_model(&format!("`{program} recover tester`")), "what was typed is in the task");
    let last = model.asked().pop().expect("a question");
    for needle in ["Checklist:", "GREEN-SUITES", "Recovered: tester"] {
        assert!(last.holds(needle), "{needle:?} reaches the model");
    }
    assert_eq!(steps(&scratch).pop().as_deref(), Some("saved → active"));
}
