//! Loops in the real harnesses: what the model receives, what is counted, and how loops end.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::claude::{ClaudeCode, hook_runs, session};
use crate::droid::Droid;
use crate::hooks;
use crate::journal::Lines;
use crate::model::{Kind, Model};
use crate::plugin_tests::plugin;
use crate::process::LIMIT;
use crate::scratch::Scratch;
use crate::script::{Script, Step, call, say};

/// A prompt that contains everything which usually breaks such prompts.
const PROMPT: &str = "MAKE-IT-GREEN\n---\n# Steps\n```sh\nmake \"test\"\n```\n## Notes\nthen `stop` | ✓";

fn bash(command: &str) -> Step {
    call("Bash", json!({ "command": command, "description": "Run it" }))
}

/// Starts a loop for the next session.
fn waiting(scratch: &Scratch, words: &[&str]) -> String {
    let started = scratch.thru_json(&[&["loop", "start", "--next", PROMPT], words].concat());
    started["loop"]["id"].as_str().expect("an id").to_owned()
}

fn shown(scratch: &Scratch, id: &str) -> Value {
    scratch.thru_json(&["loop", "show", id])
}

fn log(scratch: &Scratch, id: &str) -> Lines {
    Lines::read(&scratch.store().join(format!("loops/{id}.log.jsonl")))
}

fn ended(scratch: &Scratch, id: &str) -> (String, String) {
    let state = shown(scratch, id);
    let text = |key: &str| state[key].as_str().unwrap_or_default().to_owned();
    (text("status"), text("ended_reason"))
}

/// Counts the requests to the model whose last message contains this iteration and the whole prompt.
fn fed(model: &Model, iteration: &str) -> usize {
    let words = format!("iteration {iteration}");
    let asked = model.asked();
    let first = asked.iter().position(|asked| asked.holds(&words));
    first.map_or(0, |place| asked[place].count(PROMPT))
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let limit = Instant::now() + LIMIT;
    while !is_so() {
        assert!(Instant::now() < limit, "{what} within {LIMIT:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The user types the slash command, and the model starts the loop in its own session. There are five iterations,
/// each with the exact prompt. The agent gives the promise at the end.
#[test]
fn claude_code_is_fed_five_times_and_ends_on_the_promise() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    let start = format!(
        "thru loop start --promise 'ALL GREEN' --max-iterations 9 --file - <<'PROMPT'\n{PROMPT}\nPROMPT"
    );
    let model = Model::start(Script::main([
        bash(&start),
        say("One."),
        bash("echo two"),
        say("Two, and soon I will say `<promise>ALL GREEN</promise>`."),
        bash("echo three"),
        say("Three:\n```\n<promise>ALL GREEN</promise>\n```"),
        bash("echo four"),
        say("Four. ALL GREEN, nearly."),
        bash("echo five"),
        say("Five.\n\n<promise>ALL GREEN</promise>"),
    ]));

    let ended_run = claude.ask(&scratch, &model, "/thru-loop MAKE-IT-GREEN --promise 'ALL GREEN'", &[]);
    ended_run.assert_success();

    model.assert_played();
    let asked = model.asked();
    assert!(
        asked[0].holds("The user asks for a loop") && asked[0].holds("MAKE-IT-GREEN --promise 'ALL GREEN'")
    );
    let list = scratch.thru_json(&["loop", "list"]);
    let state = &list["loops"][0];
    let id = state["id"].as_str().expect("an id");
    assert_eq!((&state["status"], &state["iteration"]), (&json!("done"), &json!(5)), "{list}");
    assert_eq!(state["prompt"], format!("{PROMPT}\n"));
    let sid = session(&ended_run.lines.last().expect("a result").json);
    assert_eq!(state["session"], sid.as_str(), "the loop knew its session");
    for iteration in 2..=5 {
        assert!(
            fed(&model, &format!("{iteration} of 9")) > iteration - 2,
            "iteration {iteration} has the prompt"
        );
    }
    assert!(!model.sent_to_model("iteration 6 of 9"));
    let log = log(&scratch, id);
    assert_eq!(log.matching(&json!({ "event": "fed" })).len(), 4, "{log}");
    log.in_order(&[
        json!({ "event": "started", "iteration": 1 }),
        json!({ "event": "fed", "iteration": 2, "calls": 1, "detail": "ended without the promise" }),
        json!({ "event": "fed", "iteration": 4, "calls": 1 }),
        json!({ "event": "ended", "iteration": 5, "reason": "promise", "tokens": { "input": 2000 } }),
    ]);
    scratch.receipts().never(&json!({ "outcome": "failed" }));
    scratch.assert_healthy();
    hooks::assert_well("Claude Code", &hook_runs(&ended_run));
}

#[test]
fn claude_code_stops_at_the_limit() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    let id = waiting(&scratch, &["--promise", "ALL GREEN", "--max-iterations", "2"]);
    let model = Model::start(Script::main([say("One."), bash("true"), say("Two.")]));

    let ended_run = claude.ask(&scratch, &model, "Begin", &[]);
    ended_run.assert_success();

    model.assert_played();
    assert!(model.asked()[0].holds("the user started loop"), "the session is told what it holds");
    assert_eq!(fed(&model, "2 of 2"), 2, "once as feedback, once as a hook's word");
    assert_eq!(model.asked().len(), 3);
    assert_eq!(ended(&scratch, &id), ("paused".into(), "limit".into()));
    log(&scratch, &id).in_order(&[
        json!({ "event": "started" }),
        json!({ "event": "claimed", "session": session(&ended_run.lines.last().expect("a result").json) }),
        json!({ "event": "fed", "iteration": 1 }),
        json!({ "event": "ended", "iteration": 2, "reason": "limit" }),
    ]);
}

#[test]
fn a_validator_that_fails_sends_claude_code_back_with_its_output() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    // The agent knows the validator's text from the start, but not its output.
    let validator = "test -f green.txt || { printf 'STILL-VERY-%s\\n' RED; exit 3; }";
    let id = waiting(&scratch, &["--promise", "ALL GREEN", "--validator", validator]);
    let model = Model::start(Script::main([
        say("<promise>ALL GREEN</promise>"),
        call("Write", json!({ "file_path": scratch.project.join("green.txt"), "content": "green\n" })),
        say("Now it is.\n<promise>ALL GREEN</promise>"),
    ]));

    claude.ask(&scratch, &model, "Begin", &[]).assert_success();

    model.assert_played();
    let asked = model.asked();
    assert!(!asked[0].holds("STILL-VERY-RED"));
    assert!(
        asked[1].holds("STILL-VERY-RED\n```")
            && asked[1].holds("did not pass (exit 3)")
            && asked[1].holds(PROMPT)
    );
    assert_eq!(asked.len(), 3);
    assert_eq!(ended(&scratch, &id), ("done".into(), "promise".into()));
    log(&scratch, &id)
        .once(&json!({ "event": "ended", "iteration": 2, "files": ["green.txt"], "changed": 1 }));
}

/// A loop belongs to one session. Another session in the same project stops as usual, and a command in another terminal
/// ends the loop.
#[test]
fn a_second_session_is_free_and_a_cancel_from_elsewhere_counts() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    let id = waiting(&scratch, &["--promise", "ALL GREEN"]);
    let slow = |text: &str| Step { delay: Duration::from_secs(8), ..say(text) };
    let held = Model::start(Script::main([say("One."), slow("Two.")]));
    let mut talk = claude.converse(&scratch, &held, &[]);
    talk.start_saying("Begin");
    until("the second iteration", || shown(&scratch, &id)["iteration"] == 2);

    let free = Model::start(Script::main([say("<promise>ALL GREEN</promise>")]));
    claude.ask(&scratch, &free, "Something else", &[]).assert_success();
    free.assert_played();
    assert_eq!(free.asked().len(), 1, "it was never held");
    assert!(!free.sent_to_model("MAKE-IT-GREEN"), "and never told");
    assert_eq!(
        (&shown(&scratch, &id)["status"], &shown(&scratch, &id)["iteration"]),
        (&json!("active"), &json!(2))
    );

    scratch.thru_ok(&["loop", "cancel", &id]);
    talk.end().assert_success();
    held.assert_played();
    assert_eq!(held.asked().len(), 2, "it ended at the next stop");
    assert_eq!(ended(&scratch, &id), ("cancelled".into(), "cancelled".into()));
}

/// The conversation is compacted in the middle of the loop: first automatically, then by the user after a crash.
/// The loop continues each time.
#[test]
fn a_compaction_in_the_middle_keeps_the_count() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    let id = waiting(&scratch, &["--promise", "ALL GREEN", "--max-iterations", "9"]);
    let summary = || say("<analysis>none</analysis>\n<summary>WHAT-WAS-DONE</summary>");
    let model = Model::start(Script {
        main: vec![
            bash("echo one"),
            Step { input_tokens: Some(95_000), ..say("One.") },
            bash("echo two"),
            say("Two."),
            Step { delay: Duration::from_secs(60), ..say("Never heard.") },
        ],
        compact: vec![summary()],
        ..Script::default()
    });
    let mut talk = claude.converse(&scratch, &model, &["--autocompact", "100000"]);
    talk.start_saying("Begin");
    until("the third iteration", || shown(&scratch, &id)["iteration"] == 3);
    until("its question", || model.asked().iter().filter(|asked| asked.kind == Kind::Main).count() == 5);
    talk.kill();
    let asked = model.asked();
    let compacted = asked.iter().position(|asked| asked.kind == Kind::Compact).expect("a compaction");
    assert!(
        asked[compacted + 1].holds("iteration 2 of 9"),
        "the brief, or the prompt itself, tells where it stands"
    );

    let sid = shown(&scratch, &id)["session"].as_str().expect("an owner").to_owned();
    let model = Model::start(Script {
        main: vec![bash("echo three"), say("Three."), bash("echo four"), say("<promise>ALL GREEN</promise>")],
        compact: vec![summary()],
        ..Script::default()
    });
    claude.ask(&scratch, &model, "/compact", &["--resume", &sid]).assert_success();
    claude.ask(&scratch, &model, "Go on", &["--resume", &sid]).assert_success();
    model.assert_played();
    assert!(
        model.asked().iter().any(|asked| asked.kind == Kind::Main && asked.holds("iteration 3 of 9")),
        "the brief"
    );
    assert!(model.sent_to_model("iteration 4 of 9"), "it is fed the fourth time");
    assert_eq!((ended(&scratch, &id).1.as_str(), &shown(&scratch, &id)["iteration"]), ("promise", &json!(4)));
}

/// If hooks are installed twice, every stop is reported twice at the same moment. The stop counts once, even if the
/// agent repeats its words.
#[test]
fn a_stop_that_fires_twice_counts_once() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    let validator = "echo ran >> runs.txt; test -f green.txt";
    let id =
        waiting(&scratch, &["--promise", "ALL GREEN", "--max-iterations", "9", "--validator", validator]);
    let model = Model::start(Script::main([
        say("Hm."),
        bash("echo two"),
        say("Hm."),
        bash("echo three"),
        say("Three."),
        say("<promise>ALL GREEN</promise>"),
        bash("touch green.txt"),
        say("<promise>ALL GREEN</promise>"),
    ]));

    let plugin = plugin();
    let ended_run = claude.ask(&scratch, &model, "Begin", &["--plugin-dir", &plugin.to_string_lossy()]);
    ended_run.assert_success();

    model.assert_played();
    let stops = hook_runs(&ended_run).iter().filter(|run| run.event == "Stop").count();
    assert_eq!(stops, 10, "each of five stops fires twice");
    assert_eq!((ended(&scratch, &id).1.as_str(), &shown(&scratch, &id)["iteration"]), ("promise", &json!(5)));
    let log = log(&scratch, &id);
    assert_eq!(log.matching(&json!({ "event": "fed" })).len(), 4, "{log}");
    let runs = std::fs::read_to_string(scratch.project.join("runs.txt")).expect("they ran");
    assert_eq!(runs.lines().count(), 2, "validators run once for a promise");
}

/// After eight continuations in a row without a tool call, Claude Code ignores the hook, and the log says so.
#[test]
fn the_log_says_when_claude_code_would_not_go_on() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    scratch.write(".agent/context/config.toml", "[loops]\nno_progress_turns = 0\n");
    let id = waiting(&scratch, &["--promise", "ALL GREEN"]);
    let model = Model::start(Script::main((1..=9).map(|n| say(&format!("Hm {n}."))).collect::<Vec<_>>()));

    claude.ask(&scratch, &model, "Begin", &[]).assert_success();

    model.assert_played();
    assert_eq!(model.asked().len(), 9, "eight were sent on, the ninth was not");
    assert_eq!(ended(&scratch, &id), ("paused".into(), "harness-cap".into()));
    let text = scratch.thru_ok(&["loop", "log", &id]);
    assert!(
        text.contains("harness-cap: Claude Code ended the turn")
            && text.contains("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=0"),
        "{text}"
    );
    let log = log(&scratch, &id);
    assert_eq!(log.matching(&json!({ "event": "fed" })).len(), 9, "{log}");
}

/// Droid's stop event contains no message, so the promise is found in its transcript.
#[test]
fn droid_is_fed_until_the_promise() {
    let Some(droid) = Droid::find() else { return };
    let scratch = Scratch::new();
    Droid::init(&scratch);
    // The agent knows the validator's text from the start, but not its output.
    let validator = "test -f green.txt || { printf 'STILL-VERY-%s\\n' RED; exit 3; }";
    let id =
        waiting(&scratch, &["--promise", "ALL GREEN", "--max-iterations", "9", "--validator", validator]);
    let model = Model::start(Script::main([
        say("One."),
        say("Two: <promise>ALL GREEN</promise>"),
        call("Create", json!({ "file_path": scratch.project.join("green.txt"), "content": "green\n" })),
        say("Three: <promise>ALL GREEN</promise>"),
    ]));

    let ended_run = droid.ask(&scratch, &model, "Begin");
    ended_run.assert_success();

    model.assert_played();
    let asked = model.asked();
    let main: Vec<_> = asked.iter().filter(|asked| asked.kind == Kind::Main).collect();
    assert!(main[0].holds("the user started loop"), "the session is told");
    for (n, needle) in [(1, "iteration 2 of 9"), (2, "iteration 3 of 9"), (2, "STILL-VERY-RED")] {
        assert!(main[n].holds(needle) && main[n].holds(PROMPT), "{needle}");
    }
    assert_eq!(ended(&scratch, &id), ("done".into(), "promise".into()));
    assert_eq!(shown(&scratch, &id)["iteration"], 3);
    let sid = ended_run.lines[0].json["session_id"].as_str().expect("a session");
    assert_eq!(shown(&scratch, &id)["session"], sid);
    // The prompt that the loop fed is not recorded as a prompt of the user.
    scratch.shown(sid).once(&json!({ "event": "prompt" }));
    scratch.receipts().never(&json!({ "outcome": "failed" }));
    scratch.assert_healthy();
}

/// After a compaction Droid continues with another session id, and the loop follows it.
#[test]
fn droid_takes_its_loop_through_a_compaction() {
    let Some(droid) = Droid::find() else { return };
    let scratch = Scratch::new();
    Droid::init(&scratch);
    let id = waiting(&scratch, &["--promise", "ALL GREEN", "--max-iterations", "2"]);
    let model = Model::start(Script {
        main: vec![say("One."), say("Two."), say("Three."), say("<promise>ALL GREEN</promise>")],
        compact: vec![say("<summary>WHAT-WAS-DONE</summary>")],
        ..Script::default()
    });
    let (mut talk, old) = droid.converse(&scratch, &model);
    talk.say("Begin");
    assert_eq!(ended(&scratch, &id), ("paused".into(), "limit".into()));
    scratch.thru_ok(&["loop", "resume", &id, "--max-iterations", "9"]);
    assert_eq!(shown(&scratch, &id)["session"], old.as_str());
    let new = talk.compact("keep the bits");
    assert_eq!(shown(&scratch, &id)["session"], new.as_str(), "it moved along");
    talk.say("Go on");
    talk.end().assert_success();
    model.assert_played();
    assert!(model.sent_to_model("iteration 3 of 9"), "with the right count");
    assert_eq!((ended(&scratch, &id).1.as_str(), &shown(&scratch, &id)["iteration"]), ("promise", &json!(3)));
}
