//! Loops in the real harnesses: what the model receives, which stops are counted, and how loops end.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::claude::{ClaudeCode, hook_runs, session_id_of_result};
use crate::droid::Droid;
use crate::hooks;
use crate::journal::JournalLines;
use crate::model::{RequestKind, ScriptedModel};
use crate::plugin_tests::plugin_folder;
use crate::process::WAIT_LIMIT;
use crate::scratch::ScratchProject;
use crate::script::{ModelScript, ScriptStep, call_step, text_step};

/// A prompt with characters that software often mishandles.
const LOOP_PROMPT: &str = "MAKE-IT-GREEN\n---\n# Steps\n```sh\nmake \"test\"\n```\n## Notes\nthen `stop` | ✓";

fn bash_step(command: &str) -> ScriptStep {
    call_step("Bash", json!({ "command": command, "description": "Run it" }))
}

fn start_waiting_loop(scratch: &ScratchProject, words: &[&str]) -> String {
    let started = scratch.run_thru_json(&[&["loop", "start", "--next", LOOP_PROMPT], words].concat());
    started["loop"]["id"].as_str().expect("an id").to_owned()
}

fn show_loop(scratch: &ScratchProject, id: &str) -> Value {
    scratch.run_thru_json(&["loop", "show", id])
}

fn loop_log(scratch: &ScratchProject, id: &str) -> JournalLines {
    JournalLines::read(&scratch.store_folder().join(format!("loops/{id}.log.jsonl")))
}

fn status_and_reason(scratch: &ScratchProject, id: &str) -> (String, String) {
    let state = show_loop(scratch, id);
    let text = |key: &str| state[key].as_str().unwrap_or_default().to_owned();
    (text("status"), text("ended_reason"))
}

/// Finds the first request that mentions this iteration, and returns how many times it contains the whole prompt.
fn count_fed_iterations(model: &ScriptedModel, iteration: &str) -> usize {
    let words = format!("iteration {iteration}");
    let asked = model.received_requests();
    let first = asked.iter().position(|asked| asked.contains(&words));
    first.map_or(0, |place| asked[place].count_occurrences(LOOP_PROMPT))
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let limit = Instant::now() + WAIT_LIMIT;
    while !is_so() {
        assert!(Instant::now() < limit, "{what} within {WAIT_LIMIT:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The user types the slash command, and the model starts the loop in its own session. Each of the five iterations gets
/// the exact prompt. The agent gives the promise in the last one.
#[test]
fn claude_code_is_fed_five_times_and_ends_on_the_promise() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    let start = format!(
        "thru loop start --promise 'ALL GREEN' --max-iterations 9 --file - <<'PROMPT'\n{LOOP_PROMPT}\nPROMPT"
    );
    let model = ScriptedModel::start(ModelScript::main([
        bash_step(&start),
        text_step("One."),
        bash_step("echo two"),
        text_step("Two, and soon I will say `<promise>ALL GREEN</promise>`."),
        bash_step("echo three"),
        text_step("Three:\n```\n<promise>ALL GREEN</promise>\n```"),
        bash_step("echo four"),
        text_step("Four. ALL GREEN, nearly."),
        bash_step("echo five"),
        text_step("Five.\n\n<promise>ALL GREEN</promise>"),
    ]));

    let ended_run =
        claude.run_prompt(&scratch, &model, "/thru-loop MAKE-IT-GREEN --promise 'ALL GREEN'", &[]);
    ended_run.assert_success();

    model.assert_script_used_up();
    let asked = model.received_requests();
    assert!(
        asked[0].contains("The user's request about loops")
            && asked[0].contains("MAKE-IT-GREEN --promise 'ALL GREEN'")
    );
    let list = scratch.run_thru_json(&["loop", "list"]);
    let state = &list["loops"][0];
    let id = state["id"].as_str().expect("an id");
    assert_eq!((&state["status"], &state["iteration"]), (&json!("done"), &json!(5)), "{list}");
    assert_eq!(state["prompt"], format!("{LOOP_PROMPT}\n"));
    let sid = session_id_of_result(&ended_run.lines.last().expect("a result").json);
    assert_eq!(state["session"], sid.as_str(), "the loop knew its session");
    for iteration in 2..=5 {
        assert!(
            count_fed_iterations(&model, &format!("{iteration} of 9")) > iteration - 2,
            "iteration {iteration} has the prompt"
        );
    }
    assert!(!model.has_received("iteration 6 of 9"));
    let log = loop_log(&scratch, id);
    assert_eq!(log.matching(&json!({ "event": "fed" })).len(), 4, "{log}");
    log.assert_in_order(&[
        json!({ "event": "started", "iteration": 1 }),
        json!({ "event": "fed", "iteration": 2, "calls": 1, "detail": "ended without the promise" }),
        json!({ "event": "fed", "iteration": 4, "calls": 1 }),
        json!({ "event": "ended", "iteration": 5, "reason": "promise", "tokens": { "input": 2000 } }),
    ]);
    scratch.read_receipts().assert_never(&json!({ "outcome": "failed" }));
    scratch.assert_healthy();
    hooks::assert_all_succeeded("Claude Code", &hook_runs(&ended_run));
}

#[test]
fn claude_code_stops_at_the_limit() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    let id = start_waiting_loop(&scratch, &["--promise", "ALL GREEN", "--max-iterations", "2"]);
    let model =
        ScriptedModel::start(ModelScript::main([text_step("One."), bash_step("true"), text_step("Two.")]));

    let ended_run = claude.run_prompt(&scratch, &model, "Begin", &[]);
    ended_run.assert_success();

    model.assert_script_used_up();
    assert!(
        model.received_requests()[0].contains("the user started loop"),
        "the session is told what it holds"
    );
    assert_eq!(count_fed_iterations(&model, "2 of 2"), 2, "once as feedback, once as a hook's word");
    assert_eq!(model.received_requests().len(), 3);
    assert_eq!(status_and_reason(&scratch, &id), ("paused".into(), "limit".into()));
    loop_log(&scratch, &id).assert_in_order(&[
        json!({ "event": "started" }),
        json!({ "event": "claimed", "session": session_id_of_result(&ended_run.lines.last().expect("a result").json) }),
        json!({ "event": "fed", "iteration": 1 }),
        json!({ "event": "ended", "iteration": 2, "reason": "limit" }),
    ]);
}

#[test]
fn a_validator_that_fails_sends_claude_code_back_with_its_output() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    // The agent sees the validator's command, so the command does not contain its own output literally.
    let validator = "test -f green.txt || { printf 'STILL-VERY-%s\\n' RED; exit 3; }";
    let id = start_waiting_loop(&scratch, &["--promise", "ALL GREEN", "--validator", validator]);
    let model = ScriptedModel::start(ModelScript::main([
        text_step("<promise>ALL GREEN</promise>"),
        call_step("Write", json!({ "file_path": scratch.project.join("green.txt"), "content": "green\n" })),
        text_step("Now it is.\n<promise>ALL GREEN</promise>"),
    ]));

    claude.run_prompt(&scratch, &model, "Begin", &[]).assert_success();

    model.assert_script_used_up();
    let asked = model.received_requests();
    assert!(!asked[0].contains("STILL-VERY-RED"));
    assert!(
        asked[1].contains("STILL-VERY-RED\n```")
            && asked[1].contains("did not pass (exit 3)")
            && asked[1].contains(LOOP_PROMPT)
    );
    assert_eq!(asked.len(), 3);
    assert_eq!(status_and_reason(&scratch, &id), ("done".into(), "promise".into()));
    loop_log(&scratch, &id)
        .assert_once(&json!({ "event": "ended", "iteration": 2, "files": ["green.txt"], "changed": 1 }));
}

/// A loop belongs to one session. The loop does not keep another session in the same project from stopping, and a
/// `thru` command in another terminal can cancel the loop.
#[test]
fn a_second_session_is_free_and_a_cancel_from_elsewhere_counts() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    let id = start_waiting_loop(&scratch, &["--promise", "ALL GREEN"]);
    let slow = |text: &str| ScriptStep { delay: Duration::from_secs(8), ..text_step(text) };
    let held = ScriptedModel::start(ModelScript::main([text_step("One."), slow("Two.")]));
    let mut talk = claude.start_conversation(&scratch, &held, &[]);
    talk.send_prompt("Begin");
    wait_until("the second iteration", || show_loop(&scratch, &id)["iteration"] == 2);

    let free = ScriptedModel::start(ModelScript::main([text_step("<promise>ALL GREEN</promise>")]));
    claude.run_prompt(&scratch, &free, "Something else", &[]).assert_success();
    free.assert_script_used_up();
    assert_eq!(free.received_requests().len(), 1, "it was never held");
    assert!(!free.has_received("MAKE-IT-GREEN"), "and never told");
    assert_eq!(
        (&show_loop(&scratch, &id)["status"], &show_loop(&scratch, &id)["iteration"]),
        (&json!("active"), &json!(2))
    );

    scratch.run_thru_successfully(&["loop", "cancel", &id]);
    talk.end().assert_success();
    held.assert_script_used_up();
    assert_eq!(held.received_requests().len(), 2, "it ended at the next stop");
    assert_eq!(status_and_reason(&scratch, &id), ("cancelled".into(), "cancelled".into()));
}

/// The conversation is compacted during the loop: first automatically, then by the user after a crash. The loop
/// continues both times.
#[test]
fn a_compaction_in_the_middle_keeps_the_count() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    let id = start_waiting_loop(&scratch, &["--promise", "ALL GREEN", "--max-iterations", "9"]);
    let summary = || text_step("<analysis>none</analysis>\n<summary>WHAT-WAS-DONE</summary>");
    let model = ScriptedModel::start(ModelScript {
        main: vec![
            bash_step("echo one"),
            ScriptStep { input_tokens: Some(95_000), ..text_step("One.") },
            bash_step("echo two"),
            text_step("Two."),
            ScriptStep { delay: Duration::from_secs(60), ..text_step("Never heard.") },
        ],
        compact: vec![summary()],
        ..ModelScript::default()
    });
    let mut talk = claude.start_conversation(&scratch, &model, &["--autocompact", "100000"]);
    talk.send_prompt("Begin");
    wait_until("the third iteration", || show_loop(&scratch, &id)["iteration"] == 3);
    wait_until("its question", || {
        model.received_requests().iter().filter(|asked| asked.kind == RequestKind::Main).count() == 5
    });
    talk.kill();
    let asked = model.received_requests();
    let compacted = asked.iter().position(|asked| asked.kind == RequestKind::Compact).expect("a compaction");
    assert!(
        asked[compacted + 1].contains("iteration 2 of 9"),
        "the brief, or the prompt itself, tells where it stands"
    );

    let sid = show_loop(&scratch, &id)["session"].as_str().expect("an owner").to_owned();
    let model = ScriptedModel::start(ModelScript {
        main: vec![
            bash_step("echo three"),
            text_step("Three."),
            bash_step("echo four"),
            text_step("<promise>ALL GREEN</promise>"),
        ],
        compact: vec![summary()],
        ..ModelScript::default()
    });
    claude.run_prompt(&scratch, &model, "/compact", &["--resume", &sid]).assert_success();
    claude.run_prompt(&scratch, &model, "Go on", &["--resume", &sid]).assert_success();
    model.assert_script_used_up();
    assert!(
        model
            .received_requests()
            .iter()
            .any(|asked| asked.kind == RequestKind::Main && asked.contains("iteration 3 of 9")),
        "the brief"
    );
    assert!(model.has_received("iteration 4 of 9"), "the agent gets the prompt for the fourth time");
    assert_eq!(
        (status_and_reason(&scratch, &id).1.as_str(), &show_loop(&scratch, &id)["iteration"]),
        ("promise", &json!(4))
    );
}

/// If hooks are installed twice, every stop is reported twice at the same moment. The stop is counted once, even if the
/// agent repeats its message.
#[test]
fn a_stop_that_fires_twice_counts_once() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    let validator = "echo ran >> runs.txt; test -f green.txt";
    let id = start_waiting_loop(
        &scratch,
        &["--promise", "ALL GREEN", "--max-iterations", "9", "--validator", validator],
    );
    let model = ScriptedModel::start(ModelScript::main([
        text_step("Hm."),
        bash_step("echo two"),
        text_step("Hm."),
        bash_step("echo three"),
        text_step("Three."),
        text_step("<promise>ALL GREEN</promise>"),
        bash_step("touch green.txt"),
        text_step("<promise>ALL GREEN</promise>"),
    ]));

    let plugin = plugin_folder();
    let ended_run =
        claude.run_prompt(&scratch, &model, "Begin", &["--plugin-dir", &plugin.to_string_lossy()]);
    ended_run.assert_success();

    model.assert_script_used_up();
    let stops = hook_runs(&ended_run).iter().filter(|run| run.event == "Stop").count();
    assert_eq!(stops, 10, "each of five stops fires twice");
    assert_eq!(
        (status_and_reason(&scratch, &id).1.as_str(), &show_loop(&scratch, &id)["iteration"]),
        ("promise", &json!(5))
    );
    let log = loop_log(&scratch, &id);
    assert_eq!(log.matching(&json!({ "event": "fed" })).len(), 4, "{log}");
    let runs = std::fs::read_to_string(scratch.project.join("runs.txt")).expect("they ran");
    assert_eq!(runs.lines().count(), 2, "validators run once for a promise");
}

/// After eight continuations in a row without a tool call, Claude Code ignores the hook. The log mentions this.
#[test]
fn the_log_says_when_claude_code_would_not_go_on() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    scratch.write_file(".agent/context/config.toml", "[loops]\nno_progress_turns = 0\n");
    let id = start_waiting_loop(&scratch, &["--promise", "ALL GREEN"]);
    let model = ScriptedModel::start(ModelScript::main(
        (1..=9).map(|n| text_step(&format!("Hm {n}."))).collect::<Vec<_>>(),
    ));

    claude.run_prompt(&scratch, &model, "Begin", &[]).assert_success();

    model.assert_script_used_up();
    assert_eq!(model.received_requests().len(), 9, "eight were sent on, the ninth was not");
    assert_eq!(status_and_reason(&scratch, &id), ("paused".into(), "harness-cap".into()));
    let text = scratch.run_thru_successfully(&["loop", "log", &id]);
    assert!(
        text.contains("harness-cap: Claude Code ended the turn")
            && text.contains("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=0"),
        "{text}"
    );
    let log = loop_log(&scratch, &id);
    assert_eq!(log.matching(&json!({ "event": "fed" })).len(), 9, "{log}");
}

/// Droid's stop event contains no message, so the promise is read from the transcript.
#[test]
fn droid_is_fed_until_the_promise() {
    let Some(droid) = Droid::find_installed() else { return };
    let scratch = ScratchProject::new();
    Droid::init_project(&scratch);
    // The agent sees the validator's command, so the command does not contain its own output literally.
    let validator = "test -f green.txt || { printf 'STILL-VERY-%s\\n' RED; exit 3; }";
    let id = start_waiting_loop(
        &scratch,
        &["--promise", "ALL GREEN", "--max-iterations", "9", "--validator", validator],
    );
    let model = ScriptedModel::start(ModelScript::main([
        text_step("One."),
        text_step("Two: <promise>ALL GREEN</promise>"),
        call_step("Create", json!({ "file_path": scratch.project.join("green.txt"), "content": "green\n" })),
        text_step("Three: <promise>ALL GREEN</promise>"),
    ]));

    let ended_run = droid.run_prompt(&scratch, &model, "Begin");
    ended_run.assert_success();

    model.assert_script_used_up();
    let asked = model.received_requests();
    let main: Vec<_> = asked.iter().filter(|asked| asked.kind == RequestKind::Main).collect();
    assert!(main[0].contains("the user started loop"), "the session is told");
    for (n, needle) in [(1, "iteration 2 of 9"), (2, "iteration 3 of 9"), (2, "STILL-VERY-RED")] {
        assert!(main[n].contains(needle) && main[n].contains(LOOP_PROMPT), "{needle}");
    }
    assert_eq!(status_and_reason(&scratch, &id), ("done".into(), "promise".into()));
    assert_eq!(show_loop(&scratch, &id)["iteration"], 3);
    let sid = ended_run.lines[0].json["session_id"].as_str().expect("a session");
    assert_eq!(show_loop(&scratch, &id)["session"], sid);
    // The loop's prompt is not recorded as one of the user's prompts.
    scratch.shown_journal(sid).assert_once(&json!({ "event": "prompt" }));
    scratch.read_receipts().assert_never(&json!({ "outcome": "failed" }));
    scratch.assert_healthy();
}

/// After a compaction, Droid continues under another session id, and the loop moves to this id.
#[test]
fn droid_takes_its_loop_through_a_compaction() {
    let Some(droid) = Droid::find_installed() else { return };
    let scratch = ScratchProject::new();
    Droid::init_project(&scratch);
    let id = start_waiting_loop(&scratch, &["--promise", "ALL GREEN", "--max-iterations", "2"]);
    let model = ScriptedModel::start(ModelScript {
        main: vec![
            text_step("One."),
            text_step("Two."),
            text_step("Three."),
            text_step("<promise>ALL GREEN</promise>"),
        ],
        compact: vec![text_step("<summary>WHAT-WAS-DONE</summary>")],
        ..ModelScript::default()
    });
    let (mut talk, old) = droid.start_conversation(&scratch, &model);
    talk.send_and_wait("Begin");
    assert_eq!(status_and_reason(&scratch, &id), ("paused".into(), "limit".into()));
    scratch.run_thru_successfully(&["loop", "resume", &id, "--max-iterations", "9"]);
    assert_eq!(show_loop(&scratch, &id)["session"], old.as_str());
    let new = talk.compact("keep the bits");
    assert_eq!(show_loop(&scratch, &id)["session"], new.as_str(), "it moved along");
    talk.send_and_wait("Go on");
    talk.end().assert_success();
    model.assert_script_used_up();
    assert!(model.has_received("iteration 3 of 9"), "with the right count");
    assert_eq!(
        (status_and_reason(&scratch, &id).1.as_str(), &show_loop(&scratch, &id)["iteration"]),
        ("promise", &json!(3))
    );
}
