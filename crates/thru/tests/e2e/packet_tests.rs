//! Work that is handed over in one harness and picked up in another.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::claude::{ClaudeCode, session_id_of_result};
use crate::droid::Droid;
use crate::droid_tests::execute_step;
use crate::model::ScriptedModel;
use crate::scratch::ScratchProject;
use crate::script::{ModelScript, call_step, text_step};

#[test]
fn from_claude_code_to_droid() {
    let (Some(claude), Some(droid)) = (ClaudeCode::find_installed(), Droid::find_installed()) else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    Droid::init_project(&scratch);
    let thru = scratch.bin_folder().join("thru").display().to_string();
    let file = scratch.project.join("src/parser.rs");
    scratch.write_failing_check("parser.rs:1: no such rule", 2);
    let model = ScriptedModel::start(ModelScript::main([
        call_step("Write", json!({ "file_path": file, "content": "fn parse() {}\n" })),
        call_step("Bash", json!({ "command": "./test.sh", "description": "Test" })),
        text_step("The parser does not know the rule yet."),
        call_step(
            "Bash",
            json!({ "command": format!("{thru} handoff 'finish the parser'"), "description": "Hand off" }),
        ),
        text_step("Handed over."),
    ]));
    let mut talk = claude.start_conversation(&scratch, &model, &["--permission-mode", "bypassPermissions"]);
    let sid =
        session_id_of_result(&talk.send_and_wait("Write a parser. Never use regular expressions in it."));
    talk.send_and_wait("/handoff finish the parser");
    talk.end().assert_success();
    model.assert_script_used_up();
    assert!(
        model.has_received("<words>\nfinish the parser\n</words>"),
        "the command's text reaches the model"
    );

    let packets = scratch.run_thru_json(&["packet", "list"]);
    assert_eq!(packets[0]["purpose"], "finish the parser", "{packets}");
    let id = packets[0]["id"].as_str().expect("an id").to_owned();
    let text = scratch.run_thru_successfully(&["packet", "show", &id]);
    assert!(text.contains(&sid), "the session it ran in, not a guess: {text}");
    for needle in ["Never use regular expressions", "src/parser.rs", "no such rule", "source: claude-code"] {
        assert!(text.contains(needle), "{needle:?} in {text}");
    }
    assert!(!text.contains("“/handoff"), "a command is not a request: {text}");

    let model = ScriptedModel::start(ModelScript::main([
        execute_step(&format!("{thru} pickup --for droid")),
        text_step("Picked up."),
    ]));
    droid.run_prompt(&scratch, &model, "/pickup").assert_success();
    model.assert_script_used_up();
    assert!(
        model.has_received(&format!("{thru} pickup --for droid")),
        "the command's text reaches the model"
    );
    for needle in
        ["Picking up packet", "Goal: finish the parser", "src/parser.rs", "Drift: none found", "no such rule"]
    {
        assert!(model.has_received(needle), "{needle:?} reaches Droid's model");
    }
    scratch.assert_healthy();
}

#[test]
fn a_session_that_was_killed_is_offered_until_it_is_taken_up() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    let file = scratch.project.join("a.txt");
    let endless = "touch in-flight; exec sh -c 'while [ -e in-flight ]; do sleep 0.1; done'";
    let model = ScriptedModel::start(ModelScript::main([
        call_step("Write", json!({ "file_path": file, "content": "a\n" })),
        call_step("Bash", json!({ "command": endless, "description": "Never end" })),
    ]));
    let mut talk = claude.start_conversation(&scratch, &model, &[]);
    talk.send_prompt("Begin the BIG-WORK and do not end");
    let running = scratch.project.join("in-flight");
    let until = Instant::now() + Duration::from_secs(60);
    while !running.exists() {
        assert!(Instant::now() < until, "the last call never ran");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(scratch.run_thru_json(&["sweep", "--dry-run"]), json!([]), "it still lives");
    talk.kill();
    std::fs::remove_file(running).expect("it was there");

    let swept = scratch.run_thru_json(&["sweep"]);
    let packet = swept[0]["packet"].as_str().expect("a packet").to_owned();
    assert_eq!(scratch.run_thru_json(&["sweep"]), json!([]), "once");
    // The packet is offered until somebody picks it up.
    for prompt in ["Hello", "Hello again"] {
        let model = ScriptedModel::start(ModelScript::main([text_step("Hello.")]));
        claude.run_prompt(&scratch, &model, prompt, &[]).assert_success();
        assert!(model.has_received(&format!("thru pickup {packet}")), "{prompt}");
    }
    scratch.assert_healthy();
}
