//! One session of OpenCode in several processes, and several copies of the plugin in one session.

use std::path::Path;

use serde_json::json;

use crate::journal::Lines;
use crate::model::{Kind, Model};
use crate::opencode::{OpenCode, PLUGIN, session_of};
use crate::opencode_tests::{BRIEF, bash};
use crate::scratch::Scratch;
use crate::script::{Script, call, say};

/// The server was started before the session, and another process began and compacted the session.
#[test]
fn a_session_that_another_process_compacted_is_briefed() {
    let Some(opencode) = OpenCode::find() else { return };
    let scratch = Scratch::new();
    OpenCode::init(&scratch);
    let model = Model::start(Script::default());
    let older = opencode.serve(&scratch, &model, &scratch.project);
    // Opening a session in this folder loads the plugin.
    older.session(&scratch.project);

    let other = opencode.serve(&scratch, &model, &scratch.project);
    let session = other.session(&scratch.project);
    let id = session.id.clone();
    model.then(compacted());
    session.say("DO-THE-WORK");
    session.summarize();
    // This process gets the brief.
    session.say("AFTER");
    other.kill();

    model.then(Script::main([say("Later."), say("Even later.")]));
    let session = older.known(&id, &scratch.project);
    session.say("LATER");
    session.say("EVEN-LATER");
    model.assert_played();
    assert_eq!(briefs(&model, 2), [1, 1]);

    // The session continues in a third process, which compacts it again while this process still has a brief.
    let third = opencode.serve(&scratch, &model, &scratch.project);
    model.then(compacted());
    third.known(&id, &scratch.project).say("GO-ON");
    third.known(&id, &scratch.project).summarize();
    third.known(&id, &scratch.project).say("AFTER-THAT");
    third.kill();
    model.then(Script::main([say("Last.")]));
    session.say("LAST");
    model.assert_played();
    assert_eq!(briefs(&model, 1), [1]);
    let last = model.asked().pop().expect("a request");
    assert!(last.text_with(BRIEF).is_some_and(|brief| brief.contains("GO-ON")), "it is a new one");
    let starts = scratch.journal(&id).matching(&json!({ "event": "session-start", "name": "startup" })).len();
    assert_eq!(starts, 1, "it began once");
    scratch.receipts().never(&json!({ "outcome": "failed" }));
}

/// OpenCode does not answer the plugin's request for the conversation. The summary is in the model's request anyway.
#[test]
fn the_brief_does_not_depend_on_the_conversation_being_read() {
    let Some(opencode) = OpenCode::find() else { return };
    let scratch = Scratch::new();
    OpenCode::init(&scratch);
    let model = Model::start(compacted());
    let first = opencode.serve(&scratch, &model, &scratch.project);
    let id = first.session(&scratch.project).id;
    first.known(&id, &scratch.project).say("DO-THE-WORK");
    first.known(&id, &scratch.project).summarize();
    // This process gets the brief.
    first.known(&id, &scratch.project).say("AFTER");
    first.kill();

    fail_first(&scratch, "messages", 1_000);
    let second = opencode.serve(&scratch, &model, &scratch.project);
    model.then(Script::main([say("Later."), say("Even later.")]));
    second.known(&id, &scratch.project).say("LATER");
    second.known(&id, &scratch.project).say("EVEN-LATER");
    model.assert_played();
    assert_eq!(briefs(&model, 2), [1, 1]);
    let journal = scratch.journal(&id);
    journal.never(&json!({ "event": "session-start", "name": "resume" }));
    journal.once(&json!({ "event": "prompt", "text": "LATER" }));
}

/// OpenCode does not answer the plugin's request for the parent session. A sub-agent is still not taken for a main
/// session.
#[test]
fn a_session_of_unknown_parent_is_not_taken_for_a_main_one() {
    let Some(opencode) = OpenCode::find() else { return };
    let scratch = Scratch::new();
    OpenCode::init(&scratch);
    let task = json!({ "description": "Look", "prompt": "LOOK-AROUND", "subagent_type": "general" });
    let model = Model::start(Script {
        main: vec![call("task", task), say("Looked.")],
        subagent: vec![say("SEEN")],
        ..Script::default()
    });
    let begun = opencode.ask(&scratch, &model, &["DO-THE-WORK"]);
    begun.assert_success();
    let main = session_of(&begun);
    let query = format!("select id from session where parent_id = '{main}'");
    let child = opencode.query(&scratch, &query)[0]["id"].as_str().expect("an id").to_owned();

    // Both requests at the prompt fail. The request at the call that follows is answered.
    fail_first(&scratch, "get", 2);
    let server = opencode.serve(&scratch, &model, &scratch.project);
    model.then(Script { subagent: vec![bash("echo GO-ON"), say("Went on.")], ..Script::default() });
    server.known(&child, &scratch.project).say("LOOK-AGAIN");
    model.assert_played();
    let journal = scratch.store().join("sessions").join(format!("{child}.jsonl"));
    assert!(!journal.exists(), "{}", Lines::read(&journal));
    scratch
        .journal(&main)
        .once(&json!({ "tool": "bash", "command": "echo GO-ON", "agent": { "id": child } }));
}

/// A shared plugin calls the `thru` on PATH. If `thru` is not there, the shared plugin leaves the session to the
/// user's own copy of the plugin.
#[test]
fn a_shared_plugin_without_its_program_does_not_silence_the_users_own() {
    let Some(opencode) = OpenCode::find() else { return };
    let scratch = Scratch::new();
    OpenCode::init(&scratch);
    scratch.thru_ok(&["install", "opencode", "--user"]);
    let shared = scratch.project.join(PLUGIN);
    let text = std::fs::read_to_string(&shared).expect("it was installed");
    let (before, rest) = text.split_once("{\"thru\":\"").expect("what it was installed with");
    let (_, after) = rest.split_once('"').expect("a path");
    std::fs::write(&shared, format!("{before}{{\"thru\":\"thru-of-nobody\"{after}")).expect("a file");
    let model = Model::start(Script::main([bash("echo work"), say("Worked.")]));
    let ended = opencode.ask(&scratch, &model, &["DO-THE-WORK"]);
    ended.assert_success();
    model.assert_played();
    let journal = scratch.journal(&session_of(&ended));
    for event in ["session-start", "prompt", "tool-done", "stop", "session-end"] {
        assert_eq!(journal.matching(&json!({ "event": event })).len(), 1, "{event}\n{journal}");
    }
}

fn compacted() -> Script {
    Script {
        main: vec![bash("echo work > work.txt"), say("Worked."), say("After.")],
        compact: vec![say("## Objective\nSUMMARY")],
        ..Script::default()
    }
}

/// Counts the briefs in the last requests of the session.
fn briefs(model: &Model, requests: usize) -> Vec<usize> {
    let asked = model.asked();
    let main: Vec<_> = asked.iter().filter(|asked| asked.kind == Kind::Main).collect();
    main[main.len() - requests..].iter().map(|asked| asked.count(BRIEF)).collect()
}

/// Adds a plugin that makes OpenCode answer the first requests of other plugins with an error.
fn fail_first(scratch: &Scratch, what: &str, times: u32) {
    let plugin = format!(
        "export const Failing = async ({{ client }}) => {{\n\
         const answer = client.session.{what}.bind(client.session)\n\
         let left = {times}\n\
         client.session.{what} = async (request) => (left-- > 0 ? {{ error: {{}} }} : answer(request))\n\
         return {{}}\n}}\n"
    );
    let file = Path::new(".opencode/plugins/failing.js");
    scratch.write(&file.to_string_lossy(), &plugin);
}
