//! Tests a compaction and what follows: the facts that a poor summary omits, the manifest and its gate.

use serde_json::{Value, json};

use crate::claude::{ClaudeCode, Conversation, hook_runs, session_id_of_result};
use crate::model::{ReceivedRequest, RequestKind, ScriptedModel};
use crate::scratch::ScratchProject;
use crate::script::{ModelScript, ScriptStep, call_step, text_step};

const WORKSTREAM_FOLDER: &str = ".agent/context/workstreams/01-greeting";

/// The arguments that tell Claude Code that it can ask a person. Without them, Claude Code does not offer its question
/// tool.
const ASKING_ARGUMENTS: [&str; 2] = ["--permission-prompt-tool", "stdio"];

/// Creates a project with a workstream, and with hooks in Claude Code.
fn project_with_workstream() -> ScratchProject {
    let scratch = ScratchProject::new();
    scratch.write_failing_check("error: no such greeting", 3);
    ClaudeCode::init_project(&scratch);
    scratch.write_file(&format!("{WORKSTREAM_FOLDER}/overview.md"), "The greeting must be polite.\n");
    scratch.write_file(&format!("{WORKSTREAM_FOLDER}/plan.md"), "One line, then its translations.\n");
    scratch.write_file(&format!("{WORKSTREAM_FOLDER}/steps.md"), "- [x] write it\n- [ ] translate it\n");
    scratch.run_thru_successfully(&[
        "resume",
        "new",
        "01-greeting",
        "--name",
        "The greeting",
        "--phase",
        "execution",
    ]);
    scratch
}

/// Returns steps that edit a file, run a failing check, ask the user a question, and work on the workstream.
fn work_steps(scratch: &ScratchProject) -> Vec<ScriptStep> {
    let file = scratch.project.join("src/greeting.txt");
    let option = |label: &str| json!({ "label": label, "description": "A tongue" });
    let question = json!({ "questions": [{
        "question": "Which tongue comes first?", "header": "Tongue", "multiSelect": false,
        "options": [option("Latin"), option("Basque")],
    }] });
    vec![
        call_step("Write", json!({ "file_path": file, "content": "hello\n" })),
        call_step(
            "Read",
            json!({ "file_path": scratch.project.join(WORKSTREAM_FOLDER).join("overview.md") }),
        ),
        call_step("Bash", json!({ "command": "./test.sh", "description": "Fail" })),
        call_step("AskUserQuestion", question),
    ]
}

/// Sends the prompt for [`work_steps`], with an instruction, and answers the agent's question.
fn send_work_prompt(talk: &mut Conversation) -> Value {
    let answers = json!({ "Which tongue comes first?": "Basque" });
    talk.send_and_answer_question("Please GREET-THE-WORLD. Never use exclamation marks.", &answers)
}

/// Returns a summary that omits everything that was done, asked or decided.
fn poor_summary() -> Vec<ScriptStep> {
    vec![text_step("<analysis>none</analysis>\n<summary>SOMETHING-WAS-DONE</summary>")]
}

/// Asserts that a request contains the facts that the poor summary omits, and the content of the manifest.
fn assert_restored(after: &ReceivedRequest) {
    let facts = [
        "SOMETHING-WAS-DONE",
        "Throughline: the context of this session",
        "Please GREET-THE-WORLD. Never use exclamation marks.",
        "asked “Which tongue comes first?”, the user chose “Basque”",
        "src/greeting.txt",
        "error: no such greeting",
        "(exit 3)",
        "01-greeting “The greeting”",
        "next step “translate it”",
        "The greeting must be polite.",
    ];
    for fact in facts {
        assert!(after.contains(fact), "{fact:?} reaches the model after a compaction");
    }
    let manifest = [
        "to load, in this order: 1. ",
        "overview.md (29 bytes",
        "2. ",
        "plan.md (",
        "3. ",
        "steps.md (",
        "questions that its files answer: 1. “What problem is solved, and what shows that it is solved? (from overview.md)”",
        "2. “What is the approach, and which alternatives were rejected? (from plan.md)”",
        "3. “Which step is next, and what does it need? (from steps.md)”",
    ];
    assert!(after.contains_in_order(&manifest), "files and questions of the manifest, in order");
    // The request no longer contains the earlier conversation, so the question must come from the brief.
    assert_eq!(after.count_occurrences("Which tongue comes first?"), 1, "the decision is told once");
}

#[test]
fn a_manual_compaction_is_restored_and_the_gate_is_observed() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = project_with_workstream();
    // The files must be too long for the brief, because the agent need not load a file that the brief contains in full.
    scratch.write_file(
        &format!("{WORKSTREAM_FOLDER}/plan.md"),
        &"One line, then its translations.\n".repeat(1_000),
    );
    scratch.write_file(
        &format!("{WORKSTREAM_FOLDER}/steps.md"),
        &"- [x] write it\n- [ ] translate it\n".repeat(1_000),
    );
    let mut main = work_steps(&scratch);
    main.extend([
        text_step("Half done."),
        call_step("Edit", json!({ "file_path": scratch.project.join("src/greeting.txt"), "old_string": "hello", "new_string": "goodbye" })),
        text_step("Changed."),
        call_step("Read", json!({ "file_path": scratch.project.join(WORKSTREAM_FOLDER).join("overview.md") })),
        call_step("Read", json!({ "file_path": scratch.project.join(WORKSTREAM_FOLDER).join("plan.md") })),
        call_step("Read", json!({ "file_path": scratch.project.join(WORKSTREAM_FOLDER).join("steps.md") })),
        text_step("Read."),
        text_step("Quiet."),
    ]);
    let model = ScriptedModel::start(ModelScript { main, compact: poor_summary(), ..ModelScript::default() });

    let mut talk = claude.start_conversation(&scratch, &model, &ASKING_ARGUMENTS);
    let sid = session_id_of_result(&send_work_prompt(&mut talk));
    talk.send_and_wait("/compact");
    talk.send_and_wait("FIRST-AFTER");
    talk.send_and_wait("SECOND-AFTER");
    talk.send_and_wait("THIRD-AFTER");
    talk.end().assert_success();

    model.assert_script_used_up();
    let asked = model.received_requests();
    let compacted = asked.iter().position(|asked| asked.kind == RequestKind::Compact).expect("a compaction");
    assert!(asked[compacted].contains("Keep verbatim in the summary"), "the summariser is guided");
    let first = asked[compacted..].iter().find(|asked| asked.contains("FIRST-AFTER")).expect("a question");
    assert_restored(first);
    let unread = "have not been read since";
    assert!(!first.contains(unread), "nothing was edited yet");
    let second = asked.iter().find(|asked| asked.contains("SECOND-AFTER")).expect("a question");
    assert!(
        second.contains_in_order(&[unread, "plan.md", "steps.md"]),
        "the next prompt names what is unread"
    );
    let last = asked.last().expect("a question");
    assert!(
        last.contains("THIRD-AFTER") && last.count_occurrences(unread) == 1,
        "once, and no more after reading"
    );
    let gate = scratch.run_thru_successfully(&["resume", "gate", "--session", &sid]);
    assert!(!gate.contains("unread"), "{gate}");
}

#[test]
fn an_automatic_compaction_is_restored() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = project_with_workstream();
    let mut main = work_steps(&scratch);
    main.extend([
        ScriptStep { input_tokens: Some(95_000), ..text_step("My head is full.") },
        text_step("That is better."),
    ]);
    let model = ScriptedModel::start(ModelScript { main, compact: poor_summary(), ..ModelScript::default() });

    let mut talk = claude.start_conversation(
        &scratch,
        &model,
        &[ASKING_ARGUMENTS.as_slice(), &["--autocompact", "100000"]].concat(),
    );
    send_work_prompt(&mut talk);
    talk.send_and_wait("Second");
    talk.end().assert_success();

    model.assert_script_used_up();
    let asked = model.received_requests();
    let compacted = asked.iter().position(|asked| asked.kind == RequestKind::Compact).expect("a compaction");
    assert!(asked[compacted].contains("Keep verbatim in the summary"), "the summariser is guided");
    assert_restored(asked.last().expect("a question"));
}

/// A user who clears a session wants nothing from the earlier conversation, so the new session receives no facts about
/// it.
#[test]
fn after_a_clear_nothing_is_told() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = project_with_workstream();
    let mut main = work_steps(&scratch);
    main.extend([text_step("Half done."), text_step("Fresh.")]);
    let model = ScriptedModel::start(ModelScript { main, ..ModelScript::default() });

    let mut talk = claude.start_conversation(&scratch, &model, &ASKING_ARGUMENTS);
    let before = session_id_of_result(&send_work_prompt(&mut talk));
    talk.send_and_wait("/clear");
    let after = session_id_of_result(&talk.send_and_wait("AFTER-THE-CLEAR"));
    let ended = talk.end();
    ended.assert_success();

    model.assert_script_used_up();
    assert_ne!(before, after, "a session of its own");
    scratch.read_journal(&after).assert_once(&json!({ "event": "session-start", "name": "clear" }));
    let asked = model.received_requests();
    let last = asked.last().expect("a question");
    assert!(last.contains("AFTER-THE-CLEAR"));
    for gone in ["Throughline:", "GREET-THE-WORLD", "src/greeting.txt", "Basque", "01-greeting"] {
        assert!(!last.contains(gone), "{gone:?} reaches the model after a clear");
    }
    let mut said = hook_runs(&ended).into_iter().filter(|run| run.event == "SessionStart");
    assert_eq!(said.next_back().expect("it was called").stdout, "", "the hook says nothing");
}

/// The active workstream applies only to one session and only for a limited time.
#[test]
fn a_state_of_another_session_or_too_old_is_named_and_not_used() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = project_with_workstream();
    let mut main = work_steps(&scratch);
    main.extend([
        text_step("Half done."),
        text_step("Hello."),
        text_step("Resumed."),
        text_step("Late."),
        text_step("In time."),
    ]);
    let model = ScriptedModel::start(ModelScript { main, compact: poor_summary(), ..ModelScript::default() });

    let mut talk = claude.start_conversation(&scratch, &model, &ASKING_ARGUMENTS);
    let first = session_id_of_result(&send_work_prompt(&mut talk));
    talk.send_and_wait("/compact");
    talk.end().assert_success();
    let ended = claude.run_prompt(&scratch, &model, "SOMETHING-ELSE", &[]);
    ended.assert_success();
    let second = session_id_of_result(&ended.lines.last().expect("a result").json);
    claude.run_prompt(&scratch, &model, "OF-ANOTHER", &["--resume", &second]).assert_success();
    let path = scratch.store_folder().join(format!("state/precompact/{first}.json"));
    let fresh = std::fs::read(&path).expect("its own state");
    let mut old: Value = serde_json::from_slice(&fresh).expect("JSON");
    old["timestamp"] = json!("2026-01-02T03:04:05Z");
    std::fs::write(&path, old.to_string()).expect("a file");
    claude.run_prompt(&scratch, &model, "TOO-LATE", &["--resume", &first]).assert_success();
    std::fs::write(&path, &fresh).expect("a file");
    claude.run_prompt(&scratch, &model, "IN-TIME", &["--resume", &first]).assert_success();

    model.assert_script_used_up();
    let asked = model.received_requests();
    let sent = |prompt: &str| asked.iter().find(|asked| asked.contains(prompt)).expect("a question");
    // A request also contains earlier briefs, so count the briefs in it.
    let load = "to load, in this order";
    let of_another = sent("OF-ANOTHER");
    assert!(!of_another.contains(load), "another session's");
    // At its start, the session received the name of the workstream that the last session had worked on.
    assert_eq!(of_another.count_occurrences("from the last session: 01-greeting"), 1, "at the start only");
    let loads = |asked: &ReceivedRequest| asked.count_occurrences(load);
    let (late, in_time) = (sent("TOO-LATE"), sent("IN-TIME"));
    let named = "01-greeting was active before the compaction; that state is not used: it is from \
                 2026-01-02T03:04:05Z, more than 72 hours ago";
    assert!(late.contains(named), "too old");
    // The conversation still contains the list of files that the brief after the compaction gave, so a resume does
    // not repeat it.
    assert_eq!((loads(late), loads(in_time)), (1, 1), "told once");
}
