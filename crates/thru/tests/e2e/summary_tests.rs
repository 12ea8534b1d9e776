//! Reversible summaries: the model of the real harness receives the summary, and retrieves the original.

use serde_json::json;

use crate::claude::ClaudeCode;
use crate::model::{ReceivedRequest, ScriptedModel};
use crate::opencode::OpenCode;
use crate::scratch::ScratchProject;
use crate::script::{ModelScript, call_step, text_step};

/// Prints 24 KB of lines with one error among them. The harness itself shortens only longer output.
const LONG_OUTPUT_COMMAND: &str = "i=0; while [ $i -lt 800 ]; do echo \"test parser::case_$i ... ok\"; i=$((i+1)); done; echo 'error: THE-PARSER-STOPPED'; echo the end";

/// A line that no summary shows.
const OMITTED_LINE: &str = "test parser::case_400 ... ok";

fn enable_summaries(scratch: &ScratchProject) {
    let config = scratch.project.join(".agent/context/config.toml");
    std::fs::write(config, "[summaries]\nenabled = true\n").expect("settings");
}

/// Retrieves the only stored output.
const RETRIEVE_COMMAND: &str =
    "id=$(basename .agent/context/summaries/o-*.txt .txt); thru swarm retrieve \"$id\" --grep case_400";

fn assert_summarised(asked: &[ReceivedRequest]) {
    let after = asked.iter().find(|asked| asked.contains("THE-PARSER-STOPPED")).expect("the output was sent");
    let shown = after.text_containing("[Throughline summary of an output: o-").expect("the summary was sent");
    assert!(shown.contains("801: error: THE-PARSER-STOPPED"), "{shown}");
    assert!(shown.contains("thru swarm retrieve o-"), "{shown}");
    assert!(!after.contains(OMITTED_LINE), "the output itself was not sent");
    let last = asked.last().expect("a last request");
    assert!(last.contains(&format!("401: {OMITTED_LINE}")), "what it retrieved was sent");
}

#[test]
fn claude_code_sends_the_summary_and_can_retrieve() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    enable_summaries(&scratch);
    let model = ScriptedModel::start(ModelScript::main([
        call_step("Bash", json!({ "command": LONG_OUTPUT_COMMAND, "description": "Test" })),
        call_step("Bash", json!({ "command": RETRIEVE_COMMAND, "description": "Retrieve" })),
        text_step("Seen."),
    ]));
    claude.run_prompt(&scratch, &model, "Run the tests", &[]).assert_success();
    model.assert_script_used_up();
    assert_summarised(&model.received_requests());
    scratch.read_receipts().assert_never(&json!({ "outcome": "failed" }));
}

#[test]
fn opencode_sends_the_summary_and_can_retrieve() {
    let Some(opencode) = OpenCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    OpenCode::install_plugin(&scratch);
    enable_summaries(&scratch);
    let model = ScriptedModel::start(ModelScript::main([
        call_step("bash", json!({ "command": LONG_OUTPUT_COMMAND, "description": "Test" })),
        call_step("bash", json!({ "command": RETRIEVE_COMMAND, "description": "Retrieve" })),
        text_step("Seen."),
    ]));
    let server = opencode.start_server(&scratch, &model, &scratch.tmp_folder());
    server.create_session(&scratch.project).send_and_wait("Run the tests");
    model.assert_script_used_up();
    assert_summarised(&model.received_requests());
    scratch.read_receipts().assert_never(&json!({ "outcome": "failed" }));
}
