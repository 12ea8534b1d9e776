//! Compares the records with OpenCode's own database, and checks what its model receives.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::model::{ReceivedRequest, RequestKind, ScriptedModel};
use crate::opencode::{CONTEXT_TOKENS, OpenCode, PATCHING_MODEL, ServerSession};
use crate::scratch::{ScratchProject, files_below};
use crate::script::{ModelScript, ScriptStep, call_step, error_step, text_step};

pub const BRIEF_TITLE: &str = "Throughline: the context of this session";

pub fn bash_step(command: &str) -> ScriptStep {
    call_step("bash", json!({ "command": command, "description": "Run it" }))
}

/// One server, started in another folder, runs a session in a repository and a session in a folder without git. The
/// sessions use all features of an agent. Then both kinds of compaction follow.
#[test]
fn a_whole_session_is_in_the_journal_as_it_is_in_the_database() {
    let Some(opencode) = OpenCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    OpenCode::install_plugin(&scratch);
    scratch.run_thru_successfully(&["plan", "init", "Parser plan"]);
    scratch.run_thru_successfully(&["plan", "add", "The lexer"]);
    scratch.run_thru_successfully(&["task", "add", "Write the TOKENS"]);
    scratch.run_thru_successfully(&["task", "start", "1.1"]);
    let run = scratch.run_thru_json(&["gate", "expect", "review", "--critical", "review-general.md"]);
    let output = format!("{}/review-general.md", run["run"].as_str().expect("a run"));
    let model = ScriptedModel::start(whole_script(&scratch));
    let server = opencode.start_server(&scratch, &model, &scratch.tmp_folder());
    let session = server.create_session(&scratch.project);

    session.send_and_wait("Please DO-THE-WORK");
    session.send_to_model("Now PATCH-IT", PATCHING_MODEL);
    std::thread::scope(|scope| {
        scope.spawn(|| session.send_and_wait("ASK-ME something"));
        session.answer_question("red");
    });
    model.assert_script_used_up();
    // Read the journal's file, because `thru journal` hides duplicates.
    let journal = scratch.read_journal(&session.id);
    journal.assert_in_order(&[
        json!({ "event": "session-start", "name": "startup", "harness": "opencode" }),
        json!({ "event": "prompt", "text": "Please DO-THE-WORK" }),
        json!({ "tool": "read", "ok": true, "files": [{ "path": "README.md", "action": "read" }] }),
        json!({ "tool": "write", "ok": true, "files": [{ "path": "src/a.txt", "action": "create" }] }),
        json!({ "tool": "edit", "ok": true, "files": [{ "path": "src/a.txt", "action": "edit" }] }),
        json!({ "tool": "edit", "ok": false, "files": [{ "path": "src/a.txt", "action": "edit" }] }),
        json!({ "tool": "bash", "ok": false, "exit": 3, "error": format!("OPENCODE_SESSION_ID={}\nBOOM", session.id) }),
        json!({ "tool": "todowrite", "todos": [{ "text": "one", "status": "completed" }, { "text": "two", "status": "pending" }] }),
        json!({ "event": "subagent-start", "agent": { "type": "general" } }),
        json!({ "tool": "bash", "command": "echo SUB-CALL", "agent": { "type": "general" } }),
        json!({ "event": "subagent-stop", "agent": { "type": "general" }, "text": "SUB-ANSWER" }),
        json!({ "tool": "task", "ok": true }),
        json!({ "event": "stop", "text": "ALL-DONE" }),
        json!({ "event": "prompt", "text": "Now PATCH-IT" }),
        json!({ "tool": "apply_patch", "ok": true, "files": [
            { "path": "patched.txt", "action": "create" }, { "path": "README.md", "action": "edit" },
        ] }),
        json!({ "event": "stop", "text": "PATCHED" }),
        json!({ "event": "prompt", "text": "ASK-ME something" }),
        json!({ "tool": "question", "answers": [{ "question": "Which colour?", "answer": "red" }] }),
        json!({ "event": "stop", "text": "ANSWERED" }),
    ]);
    let asked = model.received_requests();
    let told = asked.iter().find(|asked| asked.kind == RequestKind::Subagent).expect("the sub-agent asked");
    assert!(told.contains("SUB-PROMPT") && told.contains(&output), "the sub-agent is told its path");
    assert_told_but_not_titled(&asked);
    journal.assert_once(&json!({ "event": "subagent-stop", "text": "SUB-ANSWER", "verdict": "missing" }));

    check_manual_compaction(&session, &model);
    check_automatic_compaction(&session, &model);
    check_compaction_after_error(&server.create_session(&scratch.project), &model);
    let plain = scratch.tmp_folder().join("plain");
    check_folder_without_git(&scratch, &server.create_session(&make_root(&scratch, &plain)), &model, &plain);

    let id = session.id;
    drop(server);
    let (prompts, calls) = prompts_and_calls_in_database(&opencode, &scratch, &id);
    let journal = scratch.read_journal(&id);
    assert_eq!(prompts.len(), 10, "{prompts:?}");
    for prompt in &prompts {
        journal.assert_once(&json!({ "event": "prompt", "text": prompt }));
    }
    assert_eq!(journal.matching(&json!({ "event": "prompt" })).len(), prompts.len(), "{journal}");
    for (call, tool) in &calls {
        journal.assert_once(&json!({ "event": "tool-done", "id": call, "tool": tool }));
    }
    assert_eq!(journal.matching(&json!({ "event": "tool-done" })).len(), calls.len(), "{journal}");
    scratch.read_receipts().assert_never(&json!({ "outcome": "failed" }));
    let doctor = String::from_utf8(scratch.run_thru(&["doctor"]).stdout).expect("a text");
    assert!(doctor.contains("(plugin ") && doctor.contains("last event "), "{doctor}");
}

/// Asserts that the first prompt was sent with context. OpenCode requests a title at the same time, and that request
/// must contain no context.
fn assert_told_but_not_titled(asked: &[ReceivedRequest]) {
    let first = asked.iter().find(|asked| asked.kind == RequestKind::Main).expect("a request");
    assert!(first.contains("DO-THE-WORK") && first.contains("Parser plan"), "the plan is told at the start");
    let titles: Vec<_> = asked.iter().filter(|asked| asked.kind == RequestKind::Side).collect();
    assert!(titles.iter().any(|title| title.contains("DO-THE-WORK")), "a title was requested: {titles:?}");
    for title in titles {
        assert!(!title.contains("Throughline") && !title.contains("Parser plan"), "{title:?}");
    }
}

fn whole_script(scratch: &ScratchProject) -> ModelScript {
    let file = scratch.project.join("src/a.txt");
    let readme = scratch.project.join("README.md");
    let patch = "*** Begin Patch\n*** Add File: patched.txt\n+one\n*** Update File: README.md\n@@\n-# Scratch\n+# Patched\n*** End Patch";
    let question = json!({
        "question": "Which colour?", "header": "Colour",
        "options": [{ "label": "red", "description": "r" }, { "label": "blue", "description": "b" }],
    });
    ModelScript {
        main: vec![
            call_step("read", json!({ "filePath": readme })),
            call_step("write", json!({ "filePath": file, "content": "hello\n" })),
            call_step("edit", json!({ "filePath": file, "oldString": "hello", "newString": "goodbye" })),
            call_step("edit", json!({ "filePath": file, "oldString": "NOT-THERE", "newString": "x" })),
            bash_step("env | grep ^OPENCODE_SESSION_ID; echo BOOM >&2; exit 3"),
            call_step(
                "todowrite",
                json!({ "todos": [
                    { "content": "one", "status": "completed", "priority": "high" },
                    { "content": "two", "status": "pending", "priority": "low" },
                ] }),
            ),
            call_step(
                "task",
                json!({ "description": "Look", "prompt": "SUB-PROMPT", "subagent_type": "general" }),
            ),
            text_step("ALL-DONE"),
            call_step("apply_patch", json!({ "patchText": patch })),
            text_step("PATCHED"),
            call_step("question", json!({ "questions": [question] })),
            text_step("ANSWERED"),
        ],
        subagent: vec![bash_step("echo SUB-CALL"), text_step("SUB-ANSWER")],
        ..ModelScript::default()
    }
}

/// Compacts on request. The first request after the compaction contains the brief, and the next three requests repeat
/// it unchanged. The summariser gets guidance.
fn check_manual_compaction(session: &ServerSession, model: &ScriptedModel) {
    let before = model.received_requests().len();
    model.add_answers(ModelScript {
        main: vec![
            text_step("After one."),
            bash_step("echo three"),
            text_step("After two."),
            call_step(
                "task",
                json!({ "description": "Look again", "prompt": "AFTER-PROMPT", "subagent_type": "general" }),
            ),
            text_step("After three."),
        ],
        subagent: vec![text_step("AFTER-ANSWER")],
        compact: vec![text_step("## Objective\nWHAT-WAS-DONE")],
    });
    session.summarize();
    session.send_and_wait("FIRST-AFTER");
    session.send_and_wait("SECOND-AFTER");
    session.send_and_wait("THIRD-AFTER");
    model.assert_script_used_up();
    let (child, asked): (Vec<ReceivedRequest>, Vec<ReceivedRequest>) = model.received_requests()[before..]
        .iter()
        .cloned()
        .partition(|asked| asked.kind == RequestKind::Subagent);
    assert_eq!(
        child.iter().map(|asked| asked.count_occurrences(BRIEF_TITLE)).collect::<Vec<_>>(),
        [0],
        "a sub-agent has none"
    );
    assert_eq!(asked[0].kind, RequestKind::Compact);
    for needle in ["Keep verbatim in the summary", "The lexer", "in progress: 1.1", "Write the TOKENS"] {
        assert!(asked[0].contains(needle), "{needle:?} reaches the summariser");
    }
    assert!(asked[1].contains("WHAT-WAS-DONE") && asked[1].contains("FIRST-AFTER"));
    assert_briefed_alike(&asked[1..], 5);
    assert!(
        asked[1].text_containing(BRIEF_TITLE).is_some_and(|brief| brief.contains("src/a.txt")),
        "it tells of the work"
    );
}

/// Lets OpenCode compact automatically. OpenCode then continues without a prompt, and its request contains the brief.
fn check_automatic_compaction(session: &ServerSession, model: &ScriptedModel) {
    let before = model.received_requests().len();
    model.add_answers(ModelScript {
        main: vec![
            ScriptStep { input_tokens: Some(CONTEXT_TOKENS * 2), ..bash_step("echo BIG-STEP") },
            text_step("Went on."),
            text_step("Next one."),
            text_step("Next two."),
            text_step("Next three."),
        ],
        compact: vec![text_step("## Objective\nSECOND-SUMMARY")],
        ..ModelScript::default()
    });
    session.send_and_wait("GO-BIG");
    session.send_and_wait("NEXT-ONE");
    session.send_and_wait("NEXT-TWO");
    session.send_and_wait("NEXT-THREE");
    model.assert_script_used_up();
    let asked = &model.received_requests()[before..];
    let compacted = asked.iter().position(|asked| asked.kind == RequestKind::Compact).expect("a compaction");
    assert_eq!(
        asked[compacted].count_occurrences(BRIEF_TITLE),
        0,
        "the summariser is not told what it wrote before"
    );
    let after = &asked[compacted + 1..];
    assert!(after[0].contains("Continue if you have next steps") && after[0].contains("SECOND-SUMMARY"));
    assert_briefed_alike(after, 4);
    assert_ne!(
        after[0].text_containing(BRIEF_TITLE),
        asked[0].text_containing(BRIEF_TITLE),
        "it is a new one"
    );
}

/// Checks the compaction after an error: the provider refuses a request that is too long, so OpenCode compacts and
/// sends the user's message again.
fn check_compaction_after_error(session: &ServerSession, model: &ScriptedModel) {
    model.add_answers(ModelScript {
        main: vec![
            bash_step("echo some work"),
            text_step("Worked."),
            error_step("400 context_length_exceeded"),
            text_step("Went on."),
            text_step("Next."),
        ],
        compact: vec![text_step("## Objective\nTHIRD-SUMMARY")],
        ..ModelScript::default()
    });
    session.send_and_wait("BEGIN-THE-WORK");
    let before = model.received_requests().len();
    session.send_and_wait("TOO-LONG");
    session.send_and_wait("AFTER-THAT");
    model.assert_script_used_up();
    let asked: Vec<ReceivedRequest> = model.received_requests()[before..]
        .iter()
        .filter(|asked| asked.kind != RequestKind::Side)
        .cloned()
        .collect();
    let kinds: Vec<RequestKind> = asked.iter().map(|asked| asked.kind).collect();
    assert_eq!(kinds, [RequestKind::Main, RequestKind::Compact, RequestKind::Main, RequestKind::Main]);
    assert_eq!((asked[0].count_occurrences(BRIEF_TITLE), asked[1].count_occurrences(BRIEF_TITLE)), (0, 0));
    assert!(asked[2].contains("TOO-LONG") && asked[2].contains("THIRD-SUMMARY"), "it is sent again");
    assert_briefed_alike(&asked[2..], 2);
}

fn assert_briefed_alike(asked: &[ReceivedRequest], requests: usize) {
    assert_eq!(asked.len(), requests);
    let brief = asked[0].text_containing(BRIEF_TITLE).expect("a brief");
    for asked in asked {
        assert_eq!((asked.kind, asked.count_occurrences(BRIEF_TITLE)), (RequestKind::Main, 1));
        assert_eq!(asked.text_containing(BRIEF_TITLE).as_deref(), Some(brief.as_str()), "byte for byte");
    }
}

fn make_root(scratch: &ScratchProject, folder: &Path) -> std::path::PathBuf {
    std::fs::create_dir_all(folder).expect("a folder");
    let folder = folder.canonicalize().expect("just made");
    let run = |words: &[&str]| {
        let output = scratch
            .command_in_project("thru")
            .args(words)
            .current_dir(&folder)
            .output()
            .expect("thru is built");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run(&["init"]);
    run(&["install", "opencode"]);
    folder
}

/// Runs a turn in a folder without git. OpenCode reports `/` as the worktree, but the root is the session's folder.
fn check_folder_without_git(
    scratch: &ScratchProject,
    session: &ServerSession,
    model: &ScriptedModel,
    folder: &Path,
) {
    model.add_answers(ModelScript::main([bash_step("echo plain > plain.txt"), text_step("Plain.")]));
    session.send_and_wait("IN-A-PLAIN-FOLDER");
    session.delete();
    let journal = folder.join(".agent/context/sessions").join(format!("{}.jsonl", session.id));
    let journal = crate::journal::JournalLines::read(&journal);
    journal.assert_in_order(&[
        json!({ "event": "session-start", "worktree": folder.to_string_lossy() }),
        json!({ "event": "prompt", "text": "IN-A-PLAIN-FOLDER" }),
        json!({ "tool": "bash", "ok": true, "exit": 0 }),
        json!({ "event": "stop", "text": "Plain." }),
        json!({ "event": "session-end", "name": "deleted" }),
    ]);
    assert!(
        !scratch.store_folder().join(format!("sessions/{}.jsonl", session.id)).exists(),
        "and nowhere else"
    );
}

/// Reads every prompt of a session, and the calls of the session and its sub-agents, from OpenCode's database. The
/// calls are keyed by their ids.
fn prompts_and_calls_in_database(
    opencode: &OpenCode,
    scratch: &ScratchProject,
    id: &str,
) -> (Vec<String>, BTreeMap<String, String>) {
    let query = format!(
        "select m.data as message, p.data as part from part p join message m on m.id = p.message_id join session s \
         on s.id = p.session_id where s.id = '{id}' or s.parent_id = '{id}' and json_extract(p.data, '$.type') = 'tool' \
         order by m.time_created, p.id"
    );
    let parse =
        |value: &Value| -> Value { serde_json::from_str(value.as_str().expect("a text")).expect("JSON") };
    let (mut prompts, mut calls) = (Vec::new(), BTreeMap::new());
    for row in opencode.query_database(scratch, &query) {
        let (message, part) = (parse(&row["message"]), parse(&row["part"]));
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match part["type"].as_str() {
            Some("text") if message["role"] == "user" && part["synthetic"] != true => {
                prompts.push(text(&part["text"]));
            }
            Some("tool") => drop(calls.insert(text(&part["callID"]), text(&part["tool"]))),
            _ => {}
        }
    }
    (prompts, calls)
}

#[test]
fn two_processes_on_one_project_do_not_mix() {
    let Some(opencode) = OpenCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    scratch.write_file(".opencode/opencode.json", "{ \"$schema\": \"https://opencode.ai/config.json\" }");
    scratch.write_file(".opencode/plugins/mine.js", "export const Mine = async () => ({})\n");
    let before = files_below(&scratch.project.join(".opencode"));
    OpenCode::install_plugin(&scratch);
    // There are now two copies of the plugin, and one of them must be silent.
    scratch.run_thru_successfully(&["install", "opencode", "--user"]);
    let script = |word: &str| {
        ModelScript::main([bash_step(&format!("echo {word}")), text_step(&format!("{word}-DONE"))])
    };
    let (one, two) = (ScriptedModel::start(script("ONE")), ScriptedModel::start(script("TWO")));
    // OpenCode creates its database at the first start, and fails if two processes do this at the same time.
    opencode.query_database(&scratch, "select count(*) as sessions from session");
    let first = opencode.start_prompt(&scratch, &one, &["FIRST"]);
    let second = opencode.start_prompt(&scratch, &two, &["SECOND"]);
    for (process, model, word, prompt) in [(first, one, "ONE", "FIRST"), (second, two, "TWO", "SECOND")] {
        let ended = process.close_and_wait();
        ended.assert_success();
        model.assert_script_used_up();
        let session = crate::opencode::reported_session(&ended);
        let raw = scratch.read_journal(&session);
        for event in ["session-start", "prompt", "tool-done", "stop", "session-end"] {
            assert_eq!(raw.matching(&json!({ "event": event })).len(), 1, "{event} is told once\n{raw}");
        }
        let journal = scratch.shown_journal(&session);
        journal.assert_in_order(&[
            json!({ "event": "session-start", "name": "startup" }),
            json!({ "event": "prompt", "text": prompt }),
            json!({ "tool": "bash", "command": format!("echo {word}") }),
            json!({ "event": "stop", "text": format!("{word}-DONE") }),
            json!({ "event": "session-end", "name": "dispose" }),
        ]);
        assert_eq!(journal.matching(&json!({ "event": "prompt" })).len(), 1, "{journal}");
    }
    scratch.assert_healthy();
    // Uninstalling removes both copies of the plugin and changes no other byte. OpenCode has added files to both
    // folders.
    let folders = [scratch.project.join(".opencode"), scratch.home.join(".config/opencode")];
    let mut expected = folders.each_ref().map(|folder| files_below(folder));
    for files in &mut expected {
        let with = files.len();
        files.retain(|(path, _)| !path.ends_with("plugins/throughline.js"));
        assert_eq!(files.len(), with - 1);
    }
    scratch.run_thru_successfully(&["uninstall", "opencode"]);
    scratch.run_thru_successfully(&["uninstall", "opencode", "--user"]);
    let left = folders.each_ref().map(|folder| files_below(folder));
    for (left, expected) in left.iter().zip(&expected) {
        let names = |files: &[(std::path::PathBuf, Vec<u8>)]| -> Vec<String> {
            files.iter().map(|(path, _)| path.display().to_string()).collect()
        };
        assert_eq!(names(left), names(expected));
        assert!(left == expected, "a file was changed");
    }
    assert!(!folders[1].join("plugins").exists(), "it was not there before");
    for file in &before {
        assert!(left[0].contains(file), "{} is as it was before the installation", file.0.display());
    }
}
