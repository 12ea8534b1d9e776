//! Loops in OpenCode. With `serve` and in the user interface, they continue after the turn. With plain `run`, they
//! continue before the process exits.

use serde_json::{Value, json};

use crate::journal::JournalLines;
use crate::model::{RequestKind, ScriptedModel};
use crate::opencode::{
    CONTEXT_TOKENS, OpenCode, ServerSession, reported_session, step_without_permission, wait_until,
};
use crate::opencode_tests::bash_step;
use crate::process::WAIT_LIMIT;
use crate::scratch::ScratchProject;
use crate::script::{ModelScript, ScriptStep, error_step, text_step};

const LOOP_PROMPT: &str = "MAKE-IT-GREEN\n---\n# Steps\n```sh\nmake \"test\"\n```\nthen `stop` | ✓";

fn start_waiting_loop(scratch: &ScratchProject, words: &[&str]) -> String {
    let started = scratch.run_thru_json(
        &[&["loop", "start", "--next", LOOP_PROMPT, "--promise", "ALL GREEN"], words].concat(),
    );
    started["loop"]["id"].as_str().expect("an id").to_owned()
}

fn show_loop(scratch: &ScratchProject, id: &str) -> Value {
    scratch.run_thru_json(&["loop", "show", id])
}

/// Returns the state of a loop: its status, why it ended, and the iteration.
fn loop_state(scratch: &ScratchProject, id: &str) -> (String, String, u64) {
    let state = show_loop(scratch, id);
    let text = |key: &str| state[key].as_str().unwrap_or_default().to_owned();
    (text("status"), text("ended_reason"), state["iteration"].as_u64().unwrap_or_default())
}

fn ended_state(status: &str, why: &str, iteration: u64) -> (String, String, u64) {
    (status.to_owned(), why.to_owned(), iteration)
}

fn loop_log(scratch: &ScratchProject, id: &str) -> JournalLines {
    JournalLines::read(&scratch.store_folder().join(format!("loops/{id}.log.jsonl")))
}

/// Returns a script of five turns. In one of them, the agent writes a message before a tool call. Such a message is not
/// a stop.
fn script_of_five_turns() -> ModelScript {
    ModelScript::main([
        text_step("One."),
        ScriptStep { text: "Hm. <promise>ALL GREEN</promise> soon.".into(), ..bash_step("echo two") },
        text_step("Two."),
        text_step("Three."),
        text_step("Four."),
        text_step("Five. <promise>ALL GREEN</promise>"),
    ])
}

fn count_main_requests(model: &ScriptedModel) -> usize {
    model.received_requests().iter().filter(|asked| asked.kind == RequestKind::Main).count()
}

#[test]
fn in_serve_a_loop_ends_by_promise_limit_and_cancel_and_not_after_abort_or_error() {
    let Some(opencode) = OpenCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    OpenCode::install_plugin(&scratch);
    let model = ScriptedModel::start(ModelScript::default());
    let server = opencode.start_server(&scratch, &model, &scratch.project);
    let idle = |session: &ServerSession| wait_until("the turn's end", || session.is_idle());

    // The loop runs for five iterations, until the agent gives the promise. The validators take longer than a hook may
    // take.
    let id = start_waiting_loop(&scratch, &["--max-iterations", "9", "--validator", "sleep 2.5"]);
    model.add_answers(script_of_five_turns());
    let session = server.create_session(&scratch.project);
    session.send_prompt("Begin");
    wait_until("the promise", || loop_state(&scratch, &id).0 != "active");
    assert_eq!(loop_state(&scratch, &id), ended_state("done", "promise", 5));
    model.assert_script_used_up();
    let asked = model.received_requests();
    for iteration in 2..=5 {
        let words = format!("iteration {iteration} of 9");
        let first = asked.iter().find(|asked| asked.contains(&words)).unwrap_or_else(|| panic!("{words}"));
        assert!(first.count_occurrences(LOOP_PROMPT) >= iteration - 1, "with the prompt to the byte");
    }
    let log = loop_log(&scratch, &id);
    assert_eq!(log.matching(&json!({ "event": "fed" })).len(), 4, "{log}");
    log.assert_once(&json!({ "event": "ended", "reason": "promise", "tokens": { "output": 50 } }));
    let journal = scratch.shown_journal(&session.id);
    assert_eq!(
        journal.matching(&json!({ "event": "prompt" })).len(),
        1,
        "a loop's prompt is not recorded as a prompt of the user\n{journal}"
    );
    assert_eq!(journal.matching(&json!({ "event": "stop" })).len(), 5, "once a turn\n{journal}");

    // The loop ends at its limit.
    let id = start_waiting_loop(&scratch, &["--max-iterations", "5"]);
    model.add_answers(ModelScript::main((1..=5).map(bash_then_text).collect::<Vec<_>>().concat()));
    let session = server.create_session(&scratch.project);
    session.send_prompt("Begin");
    wait_until("the limit", || loop_state(&scratch, &id).0 != "active");
    assert_eq!(loop_state(&scratch, &id), ended_state("paused", "limit", 5));
    idle(&session);
    model.assert_script_used_up();

    // Cancelling the loop from a terminal ends the loop while the second turn is running.
    let id = start_waiting_loop(&scratch, &[]);
    model.add_answers(ModelScript::main([
        text_step("One."),
        bash_step("while ! [ -e go-on ]; do sleep 0.1; done"),
        text_step("Two."),
    ]));
    let session = server.create_session(&scratch.project);
    session.send_prompt("Begin");
    wait_until("the second turn", || loop_state(&scratch, &id).2 == 2);
    scratch.run_thru_successfully(&["loop", "cancel", &id]);
    scratch.write_file("go-on", "");
    wait_until("its answer", || {
        model.received_requests().last().is_some_and(|asked| asked.contains("while ! [ -e go-on ]"))
    });
    idle(&session);
    assert_eq!(loop_state(&scratch, &id).0, "cancelled");
    model.assert_script_used_up();

    // The user aborts a turn, so the loop must not continue it. The turn had already finished a step, so only the abort
    // distinguishes it from a finished turn.
    let id = start_waiting_loop(&scratch, &[]);
    let never = ScriptStep { delay: WAIT_LIMIT, ..text_step("Never heard.") };
    model.add_answers(ModelScript::main([text_step("One."), bash_step("echo two"), never]));
    let questions = count_main_requests(&model);
    let session = server.create_session(&scratch.project);
    session.send_prompt("Begin");
    wait_until("the second turn", || {
        loop_state(&scratch, &id).2 == 2 && count_main_requests(&model) == questions + 3
    });
    session.abort();
    idle(&session);
    assert_not_fed(&scratch, &model, &id, 2);
    scratch.run_thru_successfully(&["loop", "cancel", &id]);

    // The user denies a permission request, so the loop must not continue.
    let id = start_waiting_loop(&scratch, &[]);
    model.add_answers(ModelScript::main([text_step("One."), step_without_permission()]));
    let session = server.create_session(&scratch.project);
    session.send_prompt("Begin");
    session.refuse_permission();
    idle(&session);
    assert_not_fed(&scratch, &model, &id, 2);
    scratch.run_thru_successfully(&["loop", "cancel", &id]);

    // After an error from the provider, the loop does not continue.
    let id = start_waiting_loop(&scratch, &[]);
    model.add_answers(ModelScript::main([
        text_step("One."),
        bash_step("echo two"),
        error_step("401 Unauthorized"),
    ]));
    let questions = count_main_requests(&model);
    let session = server.create_session(&scratch.project);
    session.send_prompt("Begin");
    let is_refused = || count_main_requests(&model) == questions + 3 && session.is_idle();
    wait_until("the second turn", || loop_state(&scratch, &id).2 == 2 && is_refused());
    assert_not_fed(&scratch, &model, &id, 2);
    scratch.run_thru_successfully(&["loop", "cancel", &id]);

    check_user_comes_first(&scratch, &model, &server.create_session(&scratch.project));
    scratch.read_receipts().assert_never(&json!({ "outcome": "failed" }));
}

/// The user sends a message while validators are running. Checks that the loop sends no prompt during the user's turn,
/// and that the loop continues afterwards.
fn check_user_comes_first(scratch: &ScratchProject, model: &ScriptedModel, session: &ServerSession) {
    let slow = "while ! [ -e validated ]; do sleep 0.1; done; false";
    let id = start_waiting_loop(scratch, &["--max-iterations", "3", "--validator", slow]);
    let before = model.received_requests().len();
    model.add_answers(ModelScript::main([
        text_step("<promise>ALL GREEN</promise>"),
        bash_step("while ! [ -e answered ]; do sleep 0.1; done"),
        text_step("It is 7."),
        text_step("Three."),
    ]));
    session.send_and_wait("Begin");
    session.send_prompt("WHAT-IS-THE-PORT");
    wait_until("the user's turn", || model.has_received("WHAT-IS-THE-PORT"));
    scratch.write_file("validated", "");
    wait_until("the promise is not believed", || loop_state(scratch, &id).2 == 2);
    // Wait, because a prompt from the loop would arrive within a second.
    std::thread::sleep(std::time::Duration::from_secs(1));
    scratch.write_file("answered", "");
    wait_until("the limit", || loop_state(scratch, &id).0 != "active");
    wait_until("the end of the turn", || session.is_idle());
    model.assert_script_used_up();
    let asked: Vec<_> = model.received_requests()[before..]
        .iter()
        .filter(|asked| asked.kind == RequestKind::Main)
        .cloned()
        .collect();
    let fed = |iteration: u32| {
        asked
            .iter()
            .map(|asked| asked.count_occurrences(&format!("iteration {iteration} of 3")))
            .collect::<Vec<_>>()
    };
    assert_eq!((fed(2), fed(3)), (vec![0, 0, 0, 0], vec![0, 0, 0, 1]), "behind the user's turn");
}

fn bash_then_text(n: u32) -> Vec<ScriptStep> {
    vec![bash_step(&format!("echo {n}")), text_step(&format!("Turn {n}."))]
}

/// Asserts that the model gets no more requests for two seconds after the turn. That is long enough, because the stop
/// is reported before the session is idle.
fn assert_not_fed(scratch: &ScratchProject, model: &ScriptedModel, id: &str, iteration: u64) {
    let questions = count_main_requests(model);
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!((loop_state(scratch, id).0.as_str(), loop_state(scratch, id).2), ("active", iteration));
    assert_eq!(count_main_requests(model), questions);
}

#[test]
fn on_the_screen_a_loop_ends_by_the_promise() {
    let Some(opencode) = OpenCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    OpenCode::install_plugin(&scratch);
    let id = start_waiting_loop(&scratch, &["--max-iterations", "9"]);
    let model = ScriptedModel::start(script_of_five_turns());
    let mut terminal = opencode.open_terminal(&scratch, &model);
    terminal.wait_for("Ask anything");
    terminal.type_keys("Begin");
    terminal.wait_for("Begin");
    terminal.type_keys("\r");
    wait_until("the promise", || loop_state(&scratch, &id).0 != "active");
    assert_eq!(loop_state(&scratch, &id), ended_state("done", "promise", 5));
    model.assert_script_used_up();
    assert_eq!(count_main_requests(&model), 6);
    assert_eq!(loop_log(&scratch, &id).matching(&json!({ "event": "fed" })).len(), 4);
    scratch.read_receipts().assert_never(&json!({ "outcome": "failed" }));
}

#[test]
fn in_run_a_loop_is_fed_before_the_process_goes() {
    let Some(opencode) = OpenCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    OpenCode::install_plugin(&scratch);

    let id = start_waiting_loop(&scratch, &["--max-iterations", "9", "--validator", "sleep 2.5"]);
    let model = ScriptedModel::start(script_of_five_turns());
    opencode.run_prompt(&scratch, &model, &["Begin"]).assert_success();
    assert_eq!(loop_state(&scratch, &id), ended_state("done", "promise", 5));
    model.assert_script_used_up();

    let id = start_waiting_loop(&scratch, &["--max-iterations", "5"]);
    let model =
        ScriptedModel::start(ModelScript::main((1..=5).map(bash_then_text).collect::<Vec<_>>().concat()));
    opencode.run_prompt(&scratch, &model, &["Begin"]).assert_success();
    assert_eq!(loop_state(&scratch, &id), ended_state("paused", "limit", 5));
    model.assert_script_used_up();

    // First, the agent cancels its loop. Then a turn of another active loop ends with an error. Neither loop
    // continues.
    let id = start_waiting_loop(&scratch, &[]);
    let cancel = bash_step("thru loop cancel");
    let model = ScriptedModel::start(ModelScript::main([
        text_step("One."),
        text_step("Two."),
        cancel,
        text_step("Three."),
    ]));
    opencode.run_prompt(&scratch, &model, &["Begin"]).assert_success();
    assert_eq!(loop_state(&scratch, &id).0, "cancelled");
    model.assert_script_used_up();
    assert_eq!(count_main_requests(&model), 4);

    let id = start_waiting_loop(&scratch, &[]);
    let model = ScriptedModel::start(ModelScript::main([
        text_step("One."),
        bash_step("echo two"),
        error_step("401 Unauthorized"),
    ]));
    let failed = opencode.run_prompt(&scratch, &model, &["Begin"]);
    assert!(!failed.status.success(), "{failed}");
    assert_eq!((loop_state(&scratch, &id).0.as_str(), loop_state(&scratch, &id).2), ("active", 2));
    assert_eq!(count_main_requests(&model), 3);
    assert_eq!(
        count_fed_prompts(&opencode, &scratch, &reported_session(&failed)),
        1,
        "no prompt without an answer"
    );
    scratch.run_thru_successfully(&["loop", "cancel", &id]);

    // The user interrupts the second turn after one of its steps.
    let id = start_waiting_loop(&scratch, &[]);
    let never = ScriptStep { delay: WAIT_LIMIT, ..text_step("Never heard.") };
    let model = ScriptedModel::start(ModelScript::main([text_step("One."), bash_step("echo two"), never]));
    let process = opencode.start_prompt(&scratch, &model, &["Begin"]);
    wait_until("the second turn", || count_main_requests(&model) == 3);
    let broken_off = process.interrupt();
    assert_eq!((loop_state(&scratch, &id).0.as_str(), loop_state(&scratch, &id).2), ("active", 2));
    assert_eq!(count_main_requests(&model), 3);
    assert_eq!(
        count_fed_prompts(&opencode, &scratch, &reported_session(&broken_off)),
        1,
        "no prompt without an answer"
    );
    scratch.run_thru_successfully(&["loop", "cancel", &id]);

    // With `run`, nobody can grant a permission, so the turn ends. If the loop then sent a prompt, that prompt would
    // never be answered.
    let id = start_waiting_loop(&scratch, &[]);
    let model = ScriptedModel::start(ModelScript::main([text_step("One."), step_without_permission()]));
    let ended = opencode.run_prompt(&scratch, &model, &["Begin"]);
    assert_eq!((loop_state(&scratch, &id).0.as_str(), loop_state(&scratch, &id).2), ("active", 2));
    assert_eq!(count_main_requests(&model), 2);
    assert_eq!(
        count_fed_prompts(&opencode, &scratch, &reported_session(&ended)),
        1,
        "no prompt without an answer"
    );
    scratch.read_receipts().assert_never(&json!({ "outcome": "failed" }));
}

/// Without git, OpenCode takes no snapshots, so a turn ends earlier. After a turn that filled the window, OpenCode
/// compacts the conversation before the loop goes on.
#[test]
fn in_run_a_loop_goes_on_without_git_and_through_a_compaction() {
    let Some(opencode) = OpenCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    std::fs::remove_dir_all(scratch.project.join(".git")).expect("it was there");
    OpenCode::install_plugin(&scratch);

    let id = start_waiting_loop(&scratch, &["--max-iterations", "9"]);
    let model = ScriptedModel::start(script_of_five_turns());
    opencode.run_prompt(&scratch, &model, &["Begin"]).assert_success();
    assert_eq!(loop_state(&scratch, &id), ended_state("done", "promise", 5));
    model.assert_script_used_up();

    let id = start_waiting_loop(&scratch, &["--max-iterations", "9"]);
    let model = ScriptedModel::start(ModelScript {
        main: vec![
            ScriptStep { input_tokens: Some(CONTEXT_TOKENS * 2), ..text_step("One.") },
            text_step("Two."),
            text_step("Three. <promise>ALL GREEN</promise>"),
        ],
        compact: vec![text_step("## Objective\nSUMMARY")],
        ..ModelScript::default()
    });
    opencode.run_prompt(&scratch, &model, &["Begin"]).assert_success();
    assert_eq!(loop_state(&scratch, &id), ended_state("done", "promise", 3));
    model.assert_script_used_up();
}

/// Returns how many prompts a loop has sent to a session, according to OpenCode's database.
fn count_fed_prompts(opencode: &OpenCode, scratch: &ScratchProject, session: &str) -> u64 {
    let query = format!(
        "select count(*) as fed from part where session_id = '{session}' and \
         json_extract(data, '$.metadata.throughline') = 'loop'"
    );
    opencode.query_database(scratch, &query)[0]["fed"].as_u64().expect("a number")
}
