//! Work that is handed over in one harness and picked up in another.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::claude::{ClaudeCode, session};
use crate::droid::Droid;
use crate::droid_tests::execute;
use crate::model::Model;
use crate::scratch::Scratch;
use crate::script::{Script, call, say};

#[test]
fn from_claude_code_to_droid() {
    let (Some(claude), Some(droid)) = (ClaudeCode::find(), Droid::find()) else { return };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    Droid::init(&scratch);
    let thru = scratch.bin().join("thru").display().to_string();
    let file = scratch.project.join("src/parser.rs");
    scratch.failing_check("parser.rs:1: no such rule", 2);
    let model = Model::start(Script::main([
        call("Write", json!({ "file_path": file, "content": "fn parse() {}\n" })),
        call("Bash", json!({ "command": "./test.sh", "description": "Test" })),
        say("The parser does not know the rule yet."),
        call(
            "Bash",
            json!({ "command": format!("{thru} handoff 'finish the parser'"), "description": "Hand off" }),
        ),
        say("Handed over."),
    ]));
    let mut talk = claude.converse(&scratch, &model, &["--permission-mode", "bypassPermissions"]);
    let sid = session(&talk.say("Write a parser. Never use regular expressions in it."));
    talk.say("/handoff finish the parser");
    talk.end().assert_success();
    model.assert_played();
    assert!(model.sent_to_model("> finish the parser"), "the command's text reaches the model");

    let packets = scratch.thru_json(&["packet", "list"]);
    assert_eq!(packets[0]["purpose"], "finish the parser", "{packets}");
    let id = packets[0]["id"].as_str().expect("an id").to_owned();
    let text = scratch.thru_ok(&["packet", "show", &id]);
    assert!(text.contains(&sid), "the session it ran in, not a guess: {text}");
    for needle in ["Never use regular expressions", "src/parser.rs", "no such rule", "source: claude-code"] {
        assert!(text.contains(needle), "{needle:?} in {text}");
    }
    assert!(!text.contains("“/handoff"), "a command is no wish: {text}");

    let model =
        Model::start(Script::main([execute(&format!("{thru} pickup --for droid")), say("Picked up.")]));
    droid.ask(&scratch, &model, "/pickup").assert_success();
    model.assert_played();
    assert!(
        model.sent_to_model(&format!("{thru} pickup --for droid")),
        "the command's text reaches the model"
    );
    for needle in
        ["Picking up packet", "Goal: finish the parser", "src/parser.rs", "Drift: none found", "no such rule"]
    {
        assert!(model.sent_to_model(needle), "{needle:?} reaches Droid's model");
    }
    scratch.assert_healthy();
}

#[test]
fn a_session_that_was_killed_is_offered_until_it_is_taken_up() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    let file = scratch.project.join("a.txt");
    let endless = "touch in-flight; exec sh -c 'while [ -e in-flight ]; do sleep 0.1; done'";
    let model = Model::start(Script::main([
        call("Write", json!({ "file_path": file, "content": "a\n" })),
        call("Bash", json!({ "command": endless, "description": "Never end" })),
    ]));
    let mut talk = claude.converse(&scratch, &model, &[]);
    talk.start_saying("Begin the BIG-WORK and do not end");
    let running = scratch.project.join("in-flight");
    let until = Instant::now() + Duration::from_secs(60);
    while !running.exists() {
        assert!(Instant::now() < until, "the last call never ran");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(scratch.thru_json(&["sweep", "--dry-run"]), json!([]), "it still lives");
    talk.kill();
    std::fs::remove_file(running).expect("it was there");

    let swept = scratch.thru_json(&["sweep"]);
    let packet = swept[0]["packet"].as_str().expect("a packet").to_owned();
    assert_eq!(scratch.thru_json(&["sweep"]), json!([]), "once");
    // The packet is offered until somebody picks it up.
    for prompt in ["Hello", "Hello again"] {
        let model = Model::start(Script::main([say("Hello.")]));
        claude.ask(&scratch, &model, prompt, &[]).assert_success();
        assert!(model.sent_to_model(&format!("thru pickup {packet}")), "{prompt}");
    }
    scratch.assert_healthy();
}
