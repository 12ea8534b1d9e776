//! Through a compaction and out the other side: what a poor summary loses, the manifest and its gate.

use serde_json::json;

use crate::claude::{ClaudeCode, session};
use crate::model::{Asked, Kind, Model};
use crate::scratch::Scratch;
use crate::script::{Script, Step, call, say};

const HOME: &str = ".agent/context/workstreams/01-greeting";

/// A project with a workstream, and Claude Code wired to it.
fn scene() -> Scratch {
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    scratch.write(&format!("{HOME}/overview.md"), "The greeting must be polite.\n");
    scratch.write(&format!("{HOME}/steps.md"), "- [x] write it\n- [ ] translate it\n");
    scratch.thru_ok(&["resume", "new", "01-greeting", "--name", "The greeting", "--phase", "execution"]);
    scratch
}

/// Edits, fails, and works on the workstream.
fn work(scratch: &Scratch) -> Vec<Step> {
    let file = scratch.project.join("src/greeting.txt");
    vec![
        call("Write", json!({ "file_path": file, "content": "hello\n" })),
        call("Read", json!({ "file_path": scratch.project.join(HOME).join("overview.md") })),
        call("Bash", json!({ "command": "echo error: no such greeting >&2; exit 3", "description": "Fail" })),
    ]
}

/// What the poor summary left out, and what the manifest says.
fn assert_restored(after: &Asked) {
    let facts = [
        "Throughline: the context of this session",
        "Please GREET-THE-WORLD",
        "src/greeting.txt",
        "error: no such greeting",
        "(exit 3)",
        "01-greeting “The greeting”",
        "to load, in this order: 1. ",
        "overview.md (29 bytes",
        "questions that its files answer",
        "The greeting must be polite.",
    ];
    for fact in facts {
        assert!(after.holds(fact), "{fact:?} reaches the model after a compaction");
    }
}

#[test]
fn a_manual_compaction_is_restored_and_the_gate_is_observed() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = scene();
    let mut main = work(&scratch);
    main.extend([
        say("Half done."),
        call("Edit", json!({ "file_path": scratch.project.join("src/greeting.txt"), "old_string": "hello", "new_string": "goodbye" })),
        say("Changed."),
        call("Read", json!({ "file_path": scratch.project.join(HOME).join("overview.md") })),
        call("Read", json!({ "file_path": scratch.project.join(HOME).join("steps.md") })),
        say("Read."),
        say("Quiet."),
    ]);
    let model = Model::start(Script {
        main,
        compact: vec![say("<analysis>none</analysis>\n<summary>SOMETHING-WAS-DONE</summary>")],
        ..Script::default()
    });

    let mut talk = claude.converse(&scratch, &model, &[]);
    let sid = session(&talk.say("Please GREET-THE-WORLD"));
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
    assert!(second.holds(unread) && second.holds("steps.md"), "the next prompt names what is unread");
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
    let model = Model::start(Script {
        main,
        compact: vec![say("<analysis>none</analysis>\n<summary>SOMETHING-WAS-DONE</summary>")],
        ..Script::default()
    });

    let mut talk = claude.converse(&scratch, &model, &["--autocompact", "100000"]);
    talk.say("Please GREET-THE-WORLD");
    talk.say("Second");
    talk.end().assert_success();

    model.assert_played();
    let asked = model.asked();
    let compacted = asked.iter().position(|asked| asked.kind == Kind::Compact).expect("a compaction");
    assert!(asked[compacted].holds("Keep verbatim in the summary"), "the summariser is guided");
    assert_restored(asked.last().expect("a question"));
}
