//! Tests with one OpenCode session in several processes, and with several copies of the plugin in one session.

use std::path::Path;

use serde_json::json;

use crate::journal::JournalLines;
use crate::model::{RequestKind, ScriptedModel};
use crate::opencode::{OpenCode, PLUGIN_PATH, reported_session};
use crate::opencode_tests::{BRIEF_TITLE, bash_step};
use crate::scratch::ScratchProject;
use crate::script::{ModelScript, call_step, text_step};

/// Another process creates and compacts a session. A server that was started earlier then continues the session and
/// sends the brief.
#[test]
fn a_session_that_another_process_compacted_is_briefed() {
    let Some(opencode) = OpenCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    OpenCode::install_plugin(&scratch);
    let model = ScriptedModel::start(ModelScript::default());
    let older = opencode.start_server(&scratch, &model, &scratch.project);
    // Opening a session in this folder loads the plugin.
    older.create_session(&scratch.project);

    let other = opencode.start_server(&scratch, &model, &scratch.project);
    let session = other.create_session(&scratch.project);
    let id = session.id.clone();
    model.add_answers(script_with_compaction());
    session.send_and_wait("DO-THE-WORK");
    session.summarize();
    // The `other` process sends the brief.
    session.send_and_wait("AFTER");
    other.kill();

    model.add_answers(ModelScript::main([text_step("Later."), text_step("Even later.")]));
    let session = older.open_session(&id, &scratch.project);
    session.send_and_wait("LATER");
    session.send_and_wait("EVEN-LATER");
    model.assert_script_used_up();
    assert_eq!(count_briefs(&model, 2), [1, 1]);

    // A third process continues the session and compacts it again. The older process still has the earlier brief.
    let third = opencode.start_server(&scratch, &model, &scratch.project);
    model.add_answers(script_with_compaction());
    third.open_session(&id, &scratch.project).send_and_wait("GO-ON");
    third.open_session(&id, &scratch.project).summarize();
    third.open_session(&id, &scratch.project).send_and_wait("AFTER-THAT");
    third.kill();
    model.add_answers(ModelScript::main([text_step("Last.")]));
    session.send_and_wait("LAST");
    model.assert_script_used_up();
    assert_eq!(count_briefs(&model, 1), [1]);
    let last = model.received_requests().pop().expect("a request");
    let brief = last.text_containing(BRIEF_TITLE).unwrap_or_default();
    assert!(brief.contains("Newest message: “LAST”"), "it is a new one: {brief}");
    let starts =
        scratch.read_journal(&id).matching(&json!({ "event": "session-start", "name": "startup" })).len();
    assert_eq!(starts, 1, "it began once");
    scratch.read_receipts().assert_never(&json!({ "outcome": "failed" }));
}

/// OpenCode does not answer the plugin's request for the conversation. The plugin sends the brief anyway, because it
/// finds the summary in the model's request.
#[test]
fn the_brief_does_not_depend_on_the_conversation_being_read() {
    let Some(opencode) = OpenCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    OpenCode::install_plugin(&scratch);
    let model = ScriptedModel::start(script_with_compaction());
    let first = opencode.start_server(&scratch, &model, &scratch.project);
    let id = first.create_session(&scratch.project).id;
    first.open_session(&id, &scratch.project).send_and_wait("DO-THE-WORK");
    first.open_session(&id, &scratch.project).summarize();
    // The first process sends the brief.
    first.open_session(&id, &scratch.project).send_and_wait("AFTER");
    first.kill();

    fail_first_requests(&scratch, "messages", 1_000);
    let second = opencode.start_server(&scratch, &model, &scratch.project);
    model.add_answers(ModelScript::main([text_step("Later."), text_step("Even later.")]));
    second.open_session(&id, &scratch.project).send_and_wait("LATER");
    second.open_session(&id, &scratch.project).send_and_wait("EVEN-LATER");
    model.assert_script_used_up();
    assert_eq!(count_briefs(&model, 2), [1, 1]);
    let journal = scratch.read_journal(&id);
    journal.assert_never(&json!({ "event": "session-start", "name": "resume" }));
    journal.assert_once(&json!({ "event": "prompt", "text": "LATER" }));
}

/// OpenCode does not answer the plugin's request for the parent session. Even so, a sub-agent is not treated as a main
/// session.
#[test]
fn a_session_of_unknown_parent_is_not_taken_for_a_main_one() {
    let Some(opencode) = OpenCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    OpenCode::install_plugin(&scratch);
    let task = json!({ "description": "Look", "prompt": "LOOK-AROUND", "subagent_type": "general" });
    let model = ScriptedModel::start(ModelScript {
        main: vec![call_step("task", task), text_step("Looked.")],
        subagent: vec![text_step("SEEN")],
        ..ModelScript::default()
    });
    let begun = opencode.run_prompt(&scratch, &model, &["DO-THE-WORK"]);
    begun.assert_success();
    let main = reported_session(&begun);
    let query = format!("select id from session where parent_id = '{main}'");
    let child = opencode.query_database(&scratch, &query)[0]["id"].as_str().expect("an id").to_owned();

    // The two requests at the prompt fail. The request at the next tool call succeeds.
    fail_first_requests(&scratch, "get", 2);
    let server = opencode.start_server(&scratch, &model, &scratch.project);
    model.add_answers(ModelScript {
        subagent: vec![bash_step("echo GO-ON"), text_step("Went on.")],
        ..ModelScript::default()
    });
    server.open_session(&child, &scratch.project).send_and_wait("LOOK-AGAIN");
    model.assert_script_used_up();
    let journal = scratch.store_folder().join("sessions").join(format!("{child}.jsonl"));
    assert!(!journal.exists(), "{}", JournalLines::read(&journal));
    scratch
        .read_journal(&main)
        .assert_once(&json!({ "tool": "bash", "command": "echo GO-ON", "agent": { "id": child } }));
}

/// A shared plugin calls the `thru` on PATH. If there is no `thru` on PATH, the user's own copy of the plugin handles
/// the session.
#[test]
fn a_shared_plugin_without_its_program_does_not_silence_the_users_own() {
    let Some(opencode) = OpenCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    OpenCode::install_plugin(&scratch);
    scratch.run_thru_successfully(&["install", "opencode", "--user"]);
    let shared = scratch.project.join(PLUGIN_PATH);
    let text = std::fs::read_to_string(&shared).expect("it was installed");
    let (before, rest) = text.split_once("{\"thru\":\"").expect("what it was installed with");
    let (_, after) = rest.split_once('"').expect("a path");
    std::fs::write(&shared, format!("{before}{{\"thru\":\"thru-of-nobody\"{after}")).expect("a file");
    let model = ScriptedModel::start(ModelScript::main([bash_step("echo work"), text_step("Worked.")]));
    let ended = opencode.run_prompt(&scratch, &model, &["DO-THE-WORK"]);
    ended.assert_success();
    model.assert_script_used_up();
    let journal = scratch.read_journal(&reported_session(&ended));
    for event in ["session-start", "prompt", "tool-done", "stop", "session-end"] {
        assert_eq!(journal.matching(&json!({ "event": event })).len(), 1, "{event}\n{journal}");
    }
}

fn script_with_compaction() -> ModelScript {
    ModelScript {
        main: vec![bash_step("echo work > work.txt"), text_step("Worked."), text_step("After.")],
        compact: vec![text_step("## Objective\nSUMMARY")],
        ..ModelScript::default()
    }
}

fn count_briefs(model: &ScriptedModel, requests: usize) -> Vec<usize> {
    let asked = model.received_requests();
    let main: Vec<_> = asked.iter().filter(|asked| asked.kind == RequestKind::Main).collect();
    main[main.len() - requests..].iter().map(|asked| asked.count_occurrences(BRIEF_TITLE)).collect()
}

/// Adds a plugin that makes the first requests of other plugins fail.
fn fail_first_requests(scratch: &ScratchProject, what: &str, times: u32) {
    let plugin = format!(
        "export const Failing = async ({{ client }}) => {{\n\
         const answer = client.session.{what}.bind(client.session)\n\
         let left = {times}\n\
         client.session.{what} = async (request) => (left-- > 0 ? {{ error: {{}} }} : answer(request))\n\
         return {{}}\n}}\n"
    );
    let file = Path::new(".opencode/plugins/failing.js");
    scratch.write_file(&file.to_string_lossy(), &plugin);
}
