//! Reversible summaries: the model of the real harness receives the summary, and retrieves the original.

use serde_json::json;

use crate::claude::ClaudeCode;
use crate::model::{Asked, Model};
use crate::opencode::OpenCode;
use crate::scratch::Scratch;
use crate::script::{Script, call, say};

/// Prints 24 KB of lines with one error among them. That is below the size at which a harness itself shortens outputs.
const PRINTS: &str = "i=0; while [ $i -lt 800 ]; do echo \"test parser::case_$i ... ok\"; i=$((i+1)); done; echo 'error: THE-PARSER-STOPPED'; echo the end";

/// A line that no summary shows.
const IN_THE_MIDDLE: &str = "test parser::case_400 ... ok";

fn switch_on(scratch: &Scratch) {
    let config = scratch.project.join(".agent/context/config.toml");
    std::fs::write(config, "[summaries]\nenabled = true\n").expect("settings");
}

/// Retrieves the only stored output.
const RETRIEVES: &str =
    "id=$(basename .agent/context/summaries/o-*.txt .txt); thru swarm retrieve \"$id\" --grep case_400";

fn assert_summarised(asked: &[Asked]) {
    let after = asked.iter().find(|asked| asked.holds("THE-PARSER-STOPPED")).expect("the output was sent");
    let shown = after.text_with("[Throughline summary of an output: o-").expect("the summary was sent");
    assert!(shown.contains("801: error: THE-PARSER-STOPPED"), "{shown}");
    assert!(shown.contains("thru swarm retrieve o-"), "{shown}");
    assert!(!after.holds(IN_THE_MIDDLE), "the output itself was not sent");
    let last = asked.last().expect("a last request");
    assert!(last.holds(&format!("401: {IN_THE_MIDDLE}")), "what it retrieved was sent");
}

#[test]
fn claude_code_sends_the_summary_and_can_retrieve() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    switch_on(&scratch);
    let model = Model::start(Script::main([
        call("Bash", json!({ "command": PRINTS, "description": "Test" })),
        call("Bash", json!({ "command": RETRIEVES, "description": "Retrieve" })),
        say("Seen."),
    ]));
    claude.ask(&scratch, &model, "Run the tests", &[]).assert_success();
    model.assert_played();
    assert_summarised(&model.asked());
    scratch.receipts().never(&json!({ "outcome": "failed" }));
}

#[test]
fn opencode_sends_the_summary_and_can_retrieve() {
    let Some(opencode) = OpenCode::find() else { return };
    let scratch = Scratch::new();
    OpenCode::init(&scratch);
    switch_on(&scratch);
    let model = Model::start(Script::main([
        call("bash", json!({ "command": PRINTS, "description": "Test" })),
        call("bash", json!({ "command": RETRIEVES, "description": "Retrieve" })),
        say("Seen."),
    ]));
    let server = opencode.serve(&scratch, &model, &scratch.tmp());
    server.session(&scratch.project).say("Run the tests");
    model.assert_played();
    assert_summarised(&model.asked());
    scratch.receipts().never(&json!({ "outcome": "failed" }));
}
