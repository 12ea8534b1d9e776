//! A compaction and what follows it: what a poor summary omits, the manifest and its gate.

use serde_json::{Value, json};

use crate::claude::{ClaudeCode, Conversation, hook_runs, session};
use crate::model::{Asked, Kind, Model};
use crate::scratch::Scratch;
use crate::script::{Script, Step, call, say};

const HOME: &str = ".agent/context/workstreams/01-greeting";

/// Arguments that tell Claude Code that a person can be asked. Otherwise it hides its question tool.
const ASKING: [&str; 2] = ["--permission-prompt-tool", "stdio"];

/// A project with a workstream, and hooks in Claude Code.
fn scene() -> Scratch {
    let scratch = Scratch::new();
    scratch.failing_check("error: no such greeting", 3);
    ClaudeCode::init(&scratch);
    scratch.write(&format!("{HOME}/overview.md"), "The greeting must be polite.\n");
    scratch.write(&format!("{HOME}/plan.md"), "One line, then its translations.\n");
    scratch.write(&format!("{HOME}/steps.md"), "- [x] write it\n- [ ] translate it\n");
    scratch.thru_ok(&["resume", "new", "01-greeting", "--name", "The greeting", "--phase", "execution"]);
    scratch
}

/// Steps that edit a file, run a failing check, ask the user to decide, and work on the workstream.
fn work(scratch: &Scratch) -> Vec<Step> {
    let file = scratch.project.join("src/greeting.txt");
    let option = |label: &str| json!({ "label": label, "description": "A tongue" });
    let question = json!({ "questions": [{
        "question": "Which tongue comes first?", "header": "Tongue", "multiSelect": false,
        "options": [option("Latin"), option("Basque")],
    }] });
    vec![
        call("Write", json!({ "file_path": file, "content": "hello\n" })),
        call("Read", json!({ "file_path": scratch.project.join(HOME).join("overview.md") })),
        call("Bash", json!({ "command": "./test.sh", "description": "Fail" })),
        call("AskUserQuestion", question),
    ]
}

/// Sends the prompt for [`work`], with an instruction, and answers the agent's question.
fn begin(talk: &mut Conversation) -> Value {
    let answers = json!({ "Which tongue comes first?": "Basque" });
    talk.say_and_answer("Please GREET-THE-WORLD. Never use exclamation marks.", &answers)
}

/// A summary without anything that was done, asked or decided.
fn poor_summary() -> Vec<Step> {
    vec![say("<analysis>none</analysis>\n<summary>SOMETHING-WAS-DONE</summary>")]
}

/// Asserts that a request contains what the poor summary left out, and what the manifest says.
fn assert_restored(after: &Asked) {
    let facts = [
        "SOMETHING-WAS-DONE",
        "Throughline: the context of this session",
        "Please GREET-THE-WORLD. Never use exclamation marks.",
        "asked “Which tongue comes first?” the user chose “Basque”",
        "src/greeting.txt",
        "error: no such greeting",
        "(exit 3)",
        "01-greeting “The greeting”",
        "next action `continue-next-step`",
        "The greeting must be polite.",
    ];
    for fact in facts {
        assert!(after.holds(fact), "{fact:?} reaches the model after a compaction");
    }
    let manifest = [
        "to load, in this order: 1. ",
        "overview.md (29 bytes",
        "2. ",
        "plan.md (",
        "3. ",
        "steps.md (",
        "questions that its files answer: 1. “What problem is solved, and what shows that it is? (from overview.md)”",
        "2. “What is the approach, and what was decided against? (from plan.md)”",
        "3. “Which step is next, and what does it need? (from steps.md)”",
    ];
    assert!(after.holds_in_order(&manifest), "files and questions of the manifest, in order");
    // The earlier conversation is no longer in the request, so this copy came with the brief.
    assert_eq!(after.count("Which tongue comes first?"), 1, "the decision is told once");
}

#[test]
fn a_manual_compaction_is_restored_and_the_gate_is_observed() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = scene();
    // The files are too long for the brief. A file that the brief contains in full need not be loaded again.
    scratch.write(&format!("{HOME}/plan.md"), &"One line, then its translations.\n".repeat(1_000));
    scratch.write(&format!("{HOME}/steps.md"), &"- [x] write it\n- [ ] translate it\n".repeat(1_000));
    let mut main = work(&scratch);
    main.extend([
        say("Half done."),
        call("Edit", json!({ "file_path": scratch.project.join("src/greeting.txt"), "old_string": "hello", "new_string": "goodbye" })),
        say("Changed."),
        call("Read", json!({ "file_path": scratch.project.join(HOME).join("overview.md") })),
        call("Read", json!({ "file_path": scratch.project.join(HOME).join("plan.md") })),
        call("Read", json!({ "file_path": scratch.project.join(HOME).join("steps.md") })),
        say("Read."),
        say("Quiet."),
    ]);
    let model = Model::start(Script { main, compact: poor_summary(), ..Script::default() });

    let mut talk = claude.converse(&scratch, &model, &ASKING);
    let sid = session(&begin(&mut talk));
    talk.say("/compact");
    talk.say("FIRST-AFTER");
    talk.say("SECOND-AFTER");
    talk.say("THIRD-AFTER");
    talk.end().assert_success();

    model.assert_played();
    let asked = model.asked();
    let compacted = asked.iter().position(|asked| asked.kind == Kind::Compact).expect("a compaction");
    assert!(asked[compacted].holds("Keep verbatim in the summary"), "the summariser is guided");
    let first = asked[compacted..].iter().find(|asked| asked.holds("FIRST-AFTER")).expect("a question");
    assert_restored(first);
    let unread = "these have not been read since";
    assert!(!first.holds(unread), "nothing was edited yet");
    let second = asked.iter().find(|asked| asked.holds("SECOND-AFTER")).expect("a question");
    assert!(second.holds_in_order(&[unread, "plan.md", "steps.md"]), "the next prompt names what is unread");
    let last = asked.last().expect("a question");
    assert!(last.holds("THIRD-AFTER") && last.count(unread) == 1, "once, and no more after reading");
    let gate = scratch.thru_ok(&["resume", "gate", "--session", &sid]);
    assert!(!gate.contains("unread"), "{gate}");
}

#[test]
fn an_automatic_compaction_is_restored() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = scene();
    let mut main = work(&scratch);
    main.extend([Step { input_tokens: Some(95_000), ..say("My head is full.") }, say("That is better.")]);
    let model = Model::start(Script { main, compact: poor_summary(), ..Script::default() });

    let mut talk =
        claude.converse(&scratch, &model, &[ASKING.as_slice(), &["--autocompact", "100000"]].concat());
    begin(&mut talk);
    talk.say("Second");
    talk.end().assert_success();

    model.assert_played();
    let asked = model.asked();
    let compacted = asked.iter().position(|asked| asked.kind == Kind::Compact).expect("a compaction");
    assert!(asked[compacted].holds("Keep verbatim in the summary"), "the summariser is guided");
    assert_restored(asked.last().expect("a question"));
}

/// A user who clears a session wants nothing from before.
#[test]
fn after_a_clear_nothing_is_told() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = scene();
    let mut main = work(&scratch);
    main.extend([say("Half done."), say("Fresh.")]);
    let model = Model::start(Script { main, ..Script::default() });

    let mut talk = claude.converse(&scratch, &model, &ASKING);
    let before = session(&begin(&mut talk));
    talk.say("/clear");
    let after = session(&talk.say("AFTER-THE-CLEAR"));
    let ended = talk.end();
    ended.assert_success();

    model.assert_played();
    assert_ne!(before, after, "a session of its own");
    scratch.journal(&after).once(&json!({ "event": "session-start", "name": "clear" }));
    let asked = model.asked();
    let last = asked.last().expect("a question");
    assert!(last.holds("AFTER-THE-CLEAR"));
    for gone in ["Throughline:", "GREET-THE-WORLD", "src/greeting.txt", "Basque", "01-greeting"] {
        assert!(!last.holds(gone), "{gone:?} reaches the model after a clear");
    }
    let mut said = hook_runs(&ended).into_iter().filter(|run| run.event == "SessionStart");
    assert_eq!(said.next_back().expect("it was called").stdout, "", "the hook says nothing");
}

/// The active workstream applies to one session, and for a limited time.
#[test]
fn a_state_of_another_session_or_too_old_is_named_and_not_used() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = scene();
    let mut main = work(&scratch);
    main.extend([say("Half done."), say("Hello."), say("Resumed."), say("Late."), say("In time.")]);
    let model = Model::start(Script { main, compact: poor_summary(), ..Script::default() });

    let mut talk = claude.converse(&scratch, &model, &ASKING);
    let first = session(&begin(&mut talk));
    talk.say("/compact");
    talk.end().assert_success();
    let ended = claude.ask(&scratch, &model, "SOMETHING-ELSE", &[]);
    ended.assert_success();
    let second = session(&ended.lines.last().expect("a result").json);
    claude.ask(&scratch, &model, "OF-ANOTHER", &["--resume", &second]).assert_success();
    let path = scratch.store().join(format!("state/precompact/{first}.json"));
    let fresh = std::fs::read(&path).expect("its own state");
    let mut old: Value = serde_json::from_slice(&fresh).expect("JSON");
    old["timestamp"] = json!("2026-01-02T03:04:05Z");
    std::fs::write(&path, old.to_string()).expect("a file");
    claude.ask(&scratch, &model, "TOO-LATE", &["--resume", &first]).assert_success();
    std::fs::write(&path, &fresh).expect("a file");
    claude.ask(&scratch, &model, "IN-TIME", &["--resume", &first]).assert_success();

    model.assert_played();
    let asked = model.asked();
    let sent = |prompt: &str| asked.iter().find(|asked| asked.holds(prompt)).expect("a question");
    // A request also contains what the session was told before, so the briefs in it are counted.
    let load = "to load, in this order";
    let of_another = sent("OF-ANOTHER");
    let named = format!("the last state is of another session, {first} at 01-greeting; it is not used");
    assert!(of_another.holds(&named) && !of_another.holds(load), "another session's");
    let loads = |asked: &Asked| asked.count(load);
    let (late, in_time) = (sent("TOO-LATE"), sent("IN-TIME"));
    let named = "01-greeting was active before the compaction; that state is not used: it is from \
                 2026-01-02T03:04:05Z, more than 72 hours ago";
    assert!(late.holds(named), "too old");
    // The list that came after the compaction is still in the conversation, so a resume does not repeat it.
    assert_eq!((loads(late), loads(in_time)), (1, 1), "told once");
}
