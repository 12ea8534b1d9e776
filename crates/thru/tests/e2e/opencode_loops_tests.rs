//! Loops in OpenCode. With `serve` and in the user interface they continue after the turn. With plain `run` they
//! continue before the process exits.

use serde_json::{Value, json};

use crate::journal::Lines;
use crate::model::{Kind, Model};
use crate::opencode::{OpenCode, Session, WINDOW, refused, session_of, until};
use crate::opencode_tests::bash;
use crate::process::LIMIT;
use crate::scratch::Scratch;
use crate::script::{Script, Step, refuse, say};

const PROMPT: &str = "MAKE-IT-GREEN\n---\n# Steps\n```sh\nmake \"test\"\n```\nthen `stop` | ✓";

fn waiting(scratch: &Scratch, words: &[&str]) -> String {
    let started =
        scratch.thru_json(&[&["loop", "start", "--next", PROMPT, "--promise", "ALL GREEN"], words].concat());
    started["loop"]["id"].as_str().expect("an id").to_owned()
}

fn shown(scratch: &Scratch, id: &str) -> Value {
    scratch.thru_json(&["loop", "show", id])
}

/// Returns the state of a loop: its status, why it ended, and the iteration.
fn standing(scratch: &Scratch, id: &str) -> (String, String, u64) {
    let state = shown(scratch, id);
    let text = |key: &str| state[key].as_str().unwrap_or_default().to_owned();
    (text("status"), text("ended_reason"), state["iteration"].as_u64().unwrap_or_default())
}

fn ended(status: &str, why: &str, iteration: u64) -> (String, String, u64) {
    (status.to_owned(), why.to_owned(), iteration)
}

fn log(scratch: &Scratch, id: &str) -> Lines {
    Lines::read(&scratch.store().join(format!("loops/{id}.log.jsonl")))
}

/// Five turns. In one of them the agent says something before its call, which is not a stop.
fn five() -> Script {
    Script::main([
        say("One."),
        Step { text: "Hm. <promise>ALL GREEN</promise> soon.".into(), ..bash("echo two") },
        say("Two."),
        say("Three."),
        say("Four."),
        say("Five. <promise>ALL GREEN</promise>"),
    ])
}

fn main_questions(model: &Model) -> usize {
    model.asked().iter().filter(|asked| asked.kind == Kind::Main).count()
}

#[test]
fn in_serve_a_loop_ends_by_promise_limit_and_cancel_and_not_after_abort_or_error() {
    let Some(opencode) = OpenCode::find() else { return };
    let scratch = Scratch::new();
    OpenCode::init(&scratch);
    let model = Model::start(Script::default());
    let server = opencode.serve(&scratch, &model, &scratch.project);
    let idle = |session: &Session| until("the turn's end", || session.is_idle());

    // The loop runs five iterations until the promise. The validators take longer than a hook may take.
    let id = waiting(&scratch, &["--max-iterations", "9", "--validator", "sleep 2.5"]);
    model.then(five());
    let session = server.session(&scratch.project);
    session.start_saying("Begin");
    until("the promise", || standing(&scratch, &id).0 != "active");
    assert_eq!(standing(&scratch, &id), ended("done", "promise", 5));
    model.assert_played();
    let asked = model.asked();
    for iteration in 2..=5 {
        let words = format!("iteration {iteration} of 9");
        let first = asked.iter().find(|asked| asked.holds(&words)).unwrap_or_else(|| panic!("{words}"));
        assert!(first.count(PROMPT) >= iteration - 1, "with the prompt to the byte");
    }
    let log = log(&scratch, &id);
    assert_eq!(log.matching(&json!({ "event": "fed" })).len(), 4, "{log}");
    log.once(&json!({ "event": "ended", "reason": "promise", "tokens": { "output": 50 } }));
    let journal = scratch.shown(&session.id);
    assert_eq!(
        journal.matching(&json!({ "event": "prompt" })).len(),
        1,
        "what a loop feeds is no prompt\n{journal}"
    );
    assert_eq!(journal.matching(&json!({ "event": "stop" })).len(), 5, "once a turn\n{journal}");

    // The loop ends at its limit.
    let id = waiting(&scratch, &["--max-iterations", "5"]);
    model.then(Script::main((1..=5).map(bash_then).collect::<Vec<_>>().concat()));
    let session = server.session(&scratch.project);
    session.start_saying("Begin");
    until("the limit", || standing(&scratch, &id).0 != "active");
    assert_eq!(standing(&scratch, &id), ended("paused", "limit", 5));
    idle(&session);
    model.assert_played();

    // A cancel from a terminal ends the loop while the second turn runs.
    let id = waiting(&scratch, &[]);
    model.then(Script::main([say("One."), bash("while ! [ -e go-on ]; do sleep 0.1; done"), say("Two.")]));
    let session = server.session(&scratch.project);
    session.start_saying("Begin");
    until("the second turn", || standing(&scratch, &id).2 == 2);
    scratch.thru_ok(&["loop", "cancel", &id]);
    scratch.write("go-on", "");
    until("its answer", || model.asked().last().is_some_and(|asked| asked.holds("while ! [ -e go-on ]")));
    idle(&session);
    assert_eq!(standing(&scratch, &id).0, "cancelled");
    model.assert_played();

    // An abort is the user's decision. The turn took a step before the abort, so only the abort distinguishes this
    // turn from a finished turn.
    let id = waiting(&scratch, &[]);
    let never = Step { delay: LIMIT, ..say("Never heard.") };
    model.then(Script::main([say("One."), bash("echo two"), never]));
    let questions = main_questions(&model);
    let session = server.session(&scratch.project);
    session.start_saying("Begin");
    until("the second turn", || standing(&scratch, &id).2 == 2 && main_questions(&model) == questions + 3);
    session.abort();
    idle(&session);
    assert_not_fed(&scratch, &model, &id, 2);
    scratch.thru_ok(&["loop", "cancel", &id]);

    // A refused permission is the user's decision too.
    let id = waiting(&scratch, &[]);
    model.then(Script::main([say("One."), refused()]));
    let session = server.session(&scratch.project);
    session.start_saying("Begin");
    session.refuse();
    idle(&session);
    assert_not_fed(&scratch, &model, &id, 2);
    scratch.thru_ok(&["loop", "cancel", &id]);

    // After an error from the provider the loop is not fed either.
    let id = waiting(&scratch, &[]);
    model.then(Script::main([say("One."), bash("echo two"), refuse("401 Unauthorized")]));
    let questions = main_questions(&model);
    let session = server.session(&scratch.project);
    session.start_saying("Begin");
    let is_refused = || main_questions(&model) == questions + 3 && session.is_idle();
    until("the second turn", || standing(&scratch, &id).2 == 2 && is_refused());
    assert_not_fed(&scratch, &model, &id, 2);
    scratch.thru_ok(&["loop", "cancel", &id]);

    the_user_comes_first(&scratch, &model, &server.session(&scratch.project));
    scratch.receipts().never(&json!({ "outcome": "failed" }));
}

/// The user says something while validators run. The loop feeds nothing during that turn, and continues after it.
fn the_user_comes_first(scratch: &Scratch, model: &Model, session: &Session) {
    let slow = "while ! [ -e validated ]; do sleep 0.1; done; false";
    let id = waiting(scratch, &["--max-iterations", "3", "--validator", slow]);
    let before = model.asked().len();
    model.then(Script::main([
        say("<promise>ALL GREEN</promise>"),
        bash("while ! [ -e answered ]; do sleep 0.1; done"),
        say("It is 7."),
        say("Three."),
    ]));
    session.say("Begin");
    session.start_saying("WHAT-IS-THE-PORT");
    until("the user's turn", || model.sent_to_model("WHAT-IS-THE-PORT"));
    scratch.write("validated", "");
    until("the promise is not believed", || standing(scratch, &id).2 == 2);
    // The loop's prompt would arrive within a second.
    std::thread::sleep(std::time::Duration::from_secs(1));
    scratch.write("answered", "");
    until("the limit", || standing(scratch, &id).0 != "active");
    until("the end of the turn", || session.is_idle());
    model.assert_played();
    let asked: Vec<_> =
        model.asked()[before..].iter().filter(|asked| asked.kind == Kind::Main).cloned().collect();
    let fed = |iteration: u32| {
        asked.iter().map(|asked| asked.count(&format!("iteration {iteration} of 3"))).collect::<Vec<_>>()
    };
    assert_eq!((fed(2), fed(3)), (vec![0, 0, 0, 0], vec![0, 0, 0, 1]), "behind the user's turn");
}

fn bash_then(n: u32) -> Vec<Step> {
    vec![bash(&format!("echo {n}")), say(&format!("Turn {n}."))]
}

/// Asserts that the model gets no more requests for a while after the turn. If the loop continued, it would do so
/// within this time, because the stop is reported before the session is idle.
fn assert_not_fed(scratch: &Scratch, model: &Model, id: &str, iteration: u64) {
    let questions = main_questions(model);
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!((standing(scratch, id).0.as_str(), standing(scratch, id).2), ("active", iteration));
    assert_eq!(main_questions(model), questions);
}

#[test]
fn on_the_screen_a_loop_ends_by_the_promise() {
    let Some(opencode) = OpenCode::find() else { return };
    let scratch = Scratch::new();
    OpenCode::init(&scratch);
    let id = waiting(&scratch, &["--max-iterations", "9"]);
    let model = Model::start(five());
    let mut terminal = opencode.open(&scratch, &model);
    terminal.wait_for("Ask anything");
    terminal.press("Begin");
    terminal.wait_for("Begin");
    terminal.press("\r");
    until("the promise", || standing(&scratch, &id).0 != "active");
    assert_eq!(standing(&scratch, &id), ended("done", "promise", 5));
    model.assert_played();
    assert_eq!(main_questions(&model), 6);
    assert_eq!(log(&scratch, &id).matching(&json!({ "event": "fed" })).len(), 4);
    scratch.receipts().never(&json!({ "outcome": "failed" }));
}

#[test]
fn in_run_a_loop_is_fed_before_the_process_goes() {
    let Some(opencode) = OpenCode::find() else { return };
    let scratch = Scratch::new();
    OpenCode::init(&scratch);

    let id = waiting(&scratch, &["--max-iterations", "9", "--validator", "sleep 2.5"]);
    let model = Model::start(five());
    opencode.ask(&scratch, &model, &["Begin"]).assert_success();
    assert_eq!(standing(&scratch, &id), ended("done", "promise", 5));
    model.assert_played();

    let id = waiting(&scratch, &["--max-iterations", "5"]);
    let model = Model::start(Script::main((1..=5).map(bash_then).collect::<Vec<_>>().concat()));
    opencode.ask(&scratch, &model, &["Begin"]).assert_success();
    assert_eq!(standing(&scratch, &id), ended("paused", "limit", 5));
    model.assert_played();

    // First the agent itself cancels the loop. Then a turn of another, active loop ends with an error. Neither loop
    // is fed again.
    let id = waiting(&scratch, &[]);
    let cancel = bash("thru loop cancel");
    let model = Model::start(Script::main([say("One."), say("Two."), cancel, say("Three.")]));
    opencode.ask(&scratch, &model, &["Begin"]).assert_success();
    assert_eq!(standing(&scratch, &id).0, "cancelled");
    model.assert_played();
    assert_eq!(main_questions(&model), 4);

    let id = waiting(&scratch, &[]);
    let model = Model::start(Script::main([say("One."), bash("echo two"), refuse("401 Unauthorized")]));
    let failed = opencode.ask(&scratch, &model, &["Begin"]);
    assert!(!failed.status.success(), "{failed}");
    assert_eq!((standing(&scratch, &id).0.as_str(), standing(&scratch, &id).2), ("active", 2));
    assert_eq!(main_questions(&model), 3);
    assert_eq!(fed(&opencode, &scratch, &session_of(&failed)), 1, "no prompt without an answer");
    scratch.thru_ok(&["loop", "cancel", &id]);

    // The user interrupts the second turn after one of its steps.
    let id = waiting(&scratch, &[]);
    let never = Step { delay: LIMIT, ..say("Never heard.") };
    let model = Model::start(Script::main([say("One."), bash("echo two"), never]));
    let process = opencode.start(&scratch, &model, &["Begin"]);
    until("the second turn", || main_questions(&model) == 3);
    let broken_off = process.interrupt();
    assert_eq!((standing(&scratch, &id).0.as_str(), standing(&scratch, &id).2), ("active", 2));
    assert_eq!(main_questions(&model), 3);
    assert_eq!(fed(&opencode, &scratch, &session_of(&broken_off)), 1, "no prompt without an answer");
    scratch.thru_ok(&["loop", "cancel", &id]);

    // With `run` nobody can be asked for a permission. So if the loop fed a prompt after the turn, it would never
    // be answered.
    let id = waiting(&scratch, &[]);
    let model = Model::start(Script::main([say("One."), refused()]));
    let ended = opencode.ask(&scratch, &model, &["Begin"]);
    assert_eq!((standing(&scratch, &id).0.as_str(), standing(&scratch, &id).2), ("active", 2));
    assert_eq!(main_questions(&model), 2);
    assert_eq!(fed(&opencode, &scratch, &session_of(&ended)), 1, "no prompt without an answer");
    scratch.receipts().never(&json!({ "outcome": "failed" }));
}

/// Without git OpenCode takes no snapshots, so a turn ends sooner. After a turn that filled the window, it compacts
/// first.
#[test]
fn in_run_a_loop_goes_on_without_git_and_through_a_compaction() {
    let Some(opencode) = OpenCode::find() else { return };
    let scratch = Scratch::new();
    std::fs::remove_dir_all(scratch.project.join(".git")).expect("it was there");
    OpenCode::init(&scratch);

    let id = waiting(&scratch, &["--max-iterations", "9"]);
    let model = Model::start(five());
    opencode.ask(&scratch, &model, &["Begin"]).assert_success();
    assert_eq!(standing(&scratch, &id), ended("done", "promise", 5));
    model.assert_played();

    let id = waiting(&scratch, &["--max-iterations", "9"]);
    let model = Model::start(Script {
        main: vec![
            Step { input_tokens: Some(WINDOW * 2), ..say("One.") },
            say("Two."),
            say("Three. <promise>ALL GREEN</promise>"),
        ],
        compact: vec![say("## Objective\nSUMMARY")],
        ..Script::default()
    });
    opencode.ask(&scratch, &model, &["Begin"]).assert_success();
    assert_eq!(standing(&scratch, &id), ended("done", "promise", 3));
    model.assert_played();
}

/// Counts the prompts that a loop has fed to a session, in OpenCode's own database.
fn fed(opencode: &OpenCode, scratch: &Scratch, session: &str) -> u64 {
    let query = format!(
        "select count(*) as fed from part where session_id = '{session}' and \
         json_extract(data, '$.metadata.throughline') = 'loop'"
    );
    opencode.query(scratch, &query)[0]["fed"].as_u64().expect("a number")
}
