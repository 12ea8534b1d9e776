//! OpenCode: what is recorded, compared with its own database, and what its model receives.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::model::{Asked, Kind, Model};
use crate::opencode::{OpenCode, PATCHING, Session, WINDOW};
use crate::scratch::{Scratch, snapshot};
use crate::script::{Script, Step, call, refuse, say};

pub const BRIEF: &str = "Throughline: the context of this session";

pub fn bash(command: &str) -> Step {
    call("bash", json!({ "command": command, "description": "Run it" }))
}

/// One server, which was started in another folder, runs a session in a repository and a session in a folder
/// without git. The sessions do everything that an agent can do. Then both kinds of compaction follow.
#[test]
fn a_whole_session_is_in_the_journal_as_it_is_in_the_database() {
    let Some(opencode) = OpenCode::find() else { return };
    let scratch = Scratch::new();
    OpenCode::init(&scratch);
    scratch.thru_ok(&["plan", "init", "Parser plan"]);
    scratch.thru_ok(&["plan", "add", "The lexer"]);
    scratch.thru_ok(&["task", "add", "Write the TOKENS"]);
    scratch.thru_ok(&["task", "start", "1.1"]);
    let run = scratch.thru_json(&["gate", "expect", "review", "--critical", "review-general.md"]);
    let output = format!("{}/review-general.md", run["run"].as_str().expect("a run"));
    let model = Model::start(whole_script(&scratch));
    let server = opencode.serve(&scratch, &model, &scratch.tmp());
    let session = server.session(&scratch.project);

    session.say("Please DO-THE-WORK");
    session.say_to("Now PATCH-IT", PATCHING);
    std::thread::scope(|scope| {
        scope.spawn(|| session.say("ASK-ME something"));
        session.answer("red");
    });
    model.assert_played();
    // Read the journal's file, because `thru journal` hides repeated lines.
    let journal = scratch.journal(&session.id);
    journal.in_order(&[
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
    let asked = model.asked();
    let told = asked.iter().find(|asked| asked.kind == Kind::Subagent).expect("the sub-agent asked");
    assert!(told.holds("SUB-PROMPT") && told.holds(&output), "the sub-agent is told its path");
    assert_told_but_not_titled(&asked);
    journal.once(&json!({ "event": "subagent-stop", "text": "SUB-ANSWER", "verdict": "missing" }));

    compact_by_hand(&session, &model);
    compact_by_itself(&session, &model);
    compact_after_an_error(&server.session(&scratch.project), &model);
    let plain = scratch.tmp().join("plain");
    a_folder_without_git(&scratch, &server.session(&make_root(&scratch, &plain)), &model, &plain);

    let id = session.id;
    drop(server);
    let (prompts, calls) = stored(&opencode, &scratch, &id);
    let journal = scratch.journal(&id);
    assert_eq!(prompts.len(), 10, "{prompts:?}");
    for prompt in &prompts {
        journal.once(&json!({ "event": "prompt", "text": prompt }));
    }
    assert_eq!(journal.matching(&json!({ "event": "prompt" })).len(), prompts.len(), "{journal}");
    for (call, tool) in &calls {
        journal.once(&json!({ "event": "tool-done", "id": call, "tool": tool }));
    }
    assert_eq!(journal.matching(&json!({ "event": "tool-done" })).len(), calls.len(), "{journal}");
    scratch.receipts().never(&json!({ "outcome": "failed" }));
    let doctor = String::from_utf8(scratch.thru(&["doctor"]).stdout).expect("a text");
    assert!(doctor.contains("(plugin ") && doctor.contains("last event "), "{doctor}");
}

/// Asserts that the first prompt was sent with context. The request for a title of the same message was sent at the
/// same time, without the context.
fn assert_told_but_not_titled(asked: &[Asked]) {
    let first = asked.iter().find(|asked| asked.kind == Kind::Main).expect("a request");
    assert!(first.holds("DO-THE-WORK") && first.holds("Parser plan"), "the plan is told at the start");
    let titles: Vec<_> = asked.iter().filter(|asked| asked.kind == Kind::Side).collect();
    assert!(titles.iter().any(|title| title.holds("DO-THE-WORK")), "a title was requested: {titles:?}");
    for title in titles {
        assert!(!title.holds("Throughline") && !title.holds("Parser plan"), "{title:?}");
    }
}

fn whole_script(scratch: &Scratch) -> Script {
    let file = scratch.project.join("src/a.txt");
    let readme = scratch.project.join("README.md");
    let patch = "*** Begin Patch\n*** Add File: patched.txt\n+one\n*** Update File: README.md\n@@\n-# Scratch\n+# Patched\n*** End Patch";
    let question = json!({
        "question": "Which colour?", "header": "Colour",
        "options": [{ "label": "red", "description": "r" }, { "label": "blue", "description": "b" }],
    });
    Script {
        main: vec![
            call("read", json!({ "filePath": readme })),
            call("write", json!({ "filePath": file, "content": "hello\n" })),
            call("edit", json!({ "filePath": file, "oldString": "hello", "newString": "goodbye" })),
            call("edit", json!({ "filePath": file, "oldString": "NOT-THERE", "newString": "x" })),
            bash("env | grep ^OPENCODE_SESSION_ID; echo BOOM >&2; exit 3"),
            call(
                "todowrite",
                json!({ "todos": [
                    { "content": "one", "status": "completed", "priority": "high" },
                    { "content": "two", "status": "pending", "priority": "low" },
                ] }),
            ),
            call(
                "task",
                json!({ "description": "Look", "prompt": "SUB-PROMPT", "subagent_type": "general" }),
            ),
            say("ALL-DONE"),
            call("apply_patch", json!({ "patchText": patch })),
            say("PATCHED"),
            call("question", json!({ "questions": [question] })),
            say("ANSWERED"),
        ],
        subagent: vec![bash("echo SUB-CALL"), say("SUB-ANSWER")],
        ..Script::default()
    }
}

/// Compacts on request. The brief is in the first request after the compaction, and unchanged in the next three.
/// The summariser gets guidance.
fn compact_by_hand(session: &Session, model: &Model) {
    let before = model.asked().len();
    model.then(Script {
        main: vec![
            say("After one."),
            bash("echo three"),
            say("After two."),
            call(
                "task",
                json!({ "description": "Look again", "prompt": "AFTER-PROMPT", "subagent_type": "general" }),
            ),
            say("After three."),
        ],
        subagent: vec![say("AFTER-ANSWER")],
        compact: vec![say("## Objective\nWHAT-WAS-DONE")],
    });
    session.summarize();
    session.say("FIRST-AFTER");
    session.say("SECOND-AFTER");
    session.say("THIRD-AFTER");
    model.assert_played();
    let (child, asked): (Vec<Asked>, Vec<Asked>) =
        model.asked()[before..].iter().cloned().partition(|asked| asked.kind == Kind::Subagent);
    assert_eq!(child.iter().map(|asked| asked.count(BRIEF)).collect::<Vec<_>>(), [0], "a sub-agent has none");
    assert_eq!(asked[0].kind, Kind::Compact);
    for needle in ["Keep verbatim in the summary", "The lexer", "in progress: 1.1", "Write the TOKENS"] {
        assert!(asked[0].holds(needle), "{needle:?} reaches the summariser");
    }
    assert!(asked[1].holds("WHAT-WAS-DONE") && asked[1].holds("FIRST-AFTER"));
    assert_briefed_alike(&asked[1..], 5);
    assert!(
        asked[1].text_with(BRIEF).is_some_and(|brief| brief.contains("src/a.txt")),
        "it tells of the work"
    );
}

/// Lets OpenCode compact by itself. It continues without a prompt, and the brief is still there.
fn compact_by_itself(session: &Session, model: &Model) {
    let before = model.asked().len();
    model.then(Script {
        main: vec![
            Step { input_tokens: Some(WINDOW * 2), ..bash("echo BIG-STEP") },
            say("Went on."),
            say("Next one."),
            say("Next two."),
            say("Next three."),
        ],
        compact: vec![say("## Objective\nSECOND-SUMMARY")],
        ..Script::default()
    });
    session.say("GO-BIG");
    session.say("NEXT-ONE");
    session.say("NEXT-TWO");
    session.say("NEXT-THREE");
    model.assert_played();
    let asked = &model.asked()[before..];
    let compacted = asked.iter().position(|asked| asked.kind == Kind::Compact).expect("a compaction");
    assert_eq!(asked[compacted].count(BRIEF), 0, "the summariser is not told what it wrote before");
    let after = &asked[compacted + 1..];
    assert!(after[0].holds("Continue if you have next steps") && after[0].holds("SECOND-SUMMARY"));
    assert_briefed_alike(after, 4);
    assert_ne!(after[0].text_with(BRIEF), asked[0].text_with(BRIEF), "it is a new one");
}

/// Lets the provider refuse a request that is too long. OpenCode compacts and sends the user's message again.
fn compact_after_an_error(session: &Session, model: &Model) {
    model.then(Script {
        main: vec![
            bash("echo some work"),
            say("Worked."),
            refuse("400 context_length_exceeded"),
            say("Went on."),
            say("Next."),
        ],
        compact: vec![say("## Objective\nTHIRD-SUMMARY")],
        ..Script::default()
    });
    session.say("BEGIN-THE-WORK");
    let before = model.asked().len();
    session.say("TOO-LONG");
    session.say("AFTER-THAT");
    model.assert_played();
    let asked: Vec<Asked> =
        model.asked()[before..].iter().filter(|asked| asked.kind != Kind::Side).cloned().collect();
    let kinds: Vec<Kind> = asked.iter().map(|asked| asked.kind).collect();
    assert_eq!(kinds, [Kind::Main, Kind::Compact, Kind::Main, Kind::Main]);
    assert_eq!((asked[0].count(BRIEF), asked[1].count(BRIEF)), (0, 0));
    assert!(asked[2].holds("TOO-LONG") && asked[2].holds("THIRD-SUMMARY"), "it is sent again");
    assert_briefed_alike(&asked[2..], 2);
}

fn assert_briefed_alike(asked: &[Asked], requests: usize) {
    assert_eq!(asked.len(), requests);
    let brief = asked[0].text_with(BRIEF).expect("a brief");
    for asked in asked {
        assert_eq!((asked.kind, asked.count(BRIEF)), (Kind::Main, 1));
        assert_eq!(asked.text_with(BRIEF).as_deref(), Some(brief.as_str()), "byte for byte");
    }
}

fn make_root(scratch: &Scratch, folder: &Path) -> std::path::PathBuf {
    std::fs::create_dir_all(folder).expect("a folder");
    let folder = folder.canonicalize().expect("just made");
    let run = |words: &[&str]| {
        let output =
            scratch.command("thru").args(words).current_dir(&folder).output().expect("thru is built");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run(&["init"]);
    run(&["install", "opencode"]);
    folder
}

/// Runs a turn in a folder without git. OpenCode then reports `/` as the worktree, but the root is still the
/// session's folder.
fn a_folder_without_git(scratch: &Scratch, session: &Session, model: &Model, folder: &Path) {
    model.then(Script::main([bash("echo plain > plain.txt"), say("Plain.")]));
    session.say("IN-A-PLAIN-FOLDER");
    session.delete();
    let journal = folder.join(".agent/context/sessions").join(format!("{}.jsonl", session.id));
    let journal = crate::journal::Lines::read(&journal);
    journal.in_order(&[
        json!({ "event": "session-start", "worktree": folder.to_string_lossy() }),
        json!({ "event": "prompt", "text": "IN-A-PLAIN-FOLDER" }),
        json!({ "tool": "bash", "ok": true, "exit": 0 }),
        json!({ "event": "stop", "text": "Plain." }),
        json!({ "event": "session-end", "name": "deleted" }),
    ]);
    assert!(!scratch.store().join(format!("sessions/{}.jsonl", session.id)).exists(), "and nowhere else");
}

/// Returns every prompt of a session, and every call of the session and its sub-agents by id, as OpenCode stored them.
fn stored(opencode: &OpenCode, scratch: &Scratch, id: &str) -> (Vec<String>, BTreeMap<String, String>) {
    let query = format!(
        "select m.data as message, p.data as part from part p join message m on m.id = p.message_id join session s \
         on s.id = p.session_id where s.id = '{id}' or s.parent_id = '{id}' and json_extract(p.data, '$.type') = 'tool' \
         order by m.time_created, p.id"
    );
    let parse =
        |value: &Value| -> Value { serde_json::from_str(value.as_str().expect("a text")).expect("JSON") };
    let (mut prompts, mut calls) = (Vec::new(), BTreeMap::new());
    for row in opencode.query(scratch, &query) {
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

/// Two processes run at the same time in one project.
#[test]
fn two_processes_on_one_project_do_not_mix() {
    let Some(opencode) = OpenCode::find() else { return };
    let scratch = Scratch::new();
    scratch.write(".opencode/opencode.json", "{ \"$schema\": \"https://opencode.ai/config.json\" }");
    scratch.write(".opencode/plugins/mine.js", "export const Mine = async () => ({})\n");
    let before = snapshot(&scratch.project.join(".opencode"));
    OpenCode::init(&scratch);
    // There are two copies of the plugin, and one of them must be silent.
    scratch.thru_ok(&["install", "opencode", "--user"]);
    let script = |word: &str| Script::main([bash(&format!("echo {word}")), say(&format!("{word}-DONE"))]);
    let (one, two) = (Model::start(script("ONE")), Model::start(script("TWO")));
    // OpenCode creates its database at the first start, and fails if two processes do that at once.
    opencode.query(&scratch, "select count(*) as sessions from session");
    let first = opencode.start(&scratch, &one, &["FIRST"]);
    let second = opencode.start(&scratch, &two, &["SECOND"]);
    for (process, model, word, prompt) in [(first, one, "ONE", "FIRST"), (second, two, "TWO", "SECOND")] {
        let ended = process.finish();
        ended.assert_success();
        model.assert_played();
        let session = crate::opencode::session_of(&ended);
        let raw = scratch.journal(&session);
        for event in ["session-start", "prompt", "tool-done", "stop", "session-end"] {
            assert_eq!(raw.matching(&json!({ "event": event })).len(), 1, "{event} is told once\n{raw}");
        }
        let journal = scratch.shown(&session);
        journal.in_order(&[
            json!({ "event": "session-start", "name": "startup" }),
            json!({ "event": "prompt", "text": prompt }),
            json!({ "tool": "bash", "command": format!("echo {word}") }),
            json!({ "event": "stop", "text": format!("{word}-DONE") }),
            json!({ "event": "session-end", "name": "dispose" }),
        ]);
        assert_eq!(journal.matching(&json!({ "event": "prompt" })).len(), 1, "{journal}");
    }
    scratch.assert_healthy();
    // Uninstalling removes the two copies of the plugin and changes no other byte. OpenCode has added files to both
    // folders.
    let folders = [scratch.project.join(".opencode"), scratch.home.join(".config/opencode")];
    let mut expected = folders.each_ref().map(|folder| snapshot(folder));
    for files in &mut expected {
        let with = files.len();
        files.retain(|(path, _)| !path.ends_with("plugins/throughline.js"));
        assert_eq!(files.len(), with - 1);
    }
    scratch.thru_ok(&["uninstall", "opencode"]);
    scratch.thru_ok(&["uninstall", "opencode", "--user"]);
    let left = folders.each_ref().map(|folder| snapshot(folder));
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
