//! Sessions of OpenCode that have ended, that began before the plugin was installed, or that another harness continues.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::available::note;
use crate::claude::ClaudeCode;
use crate::droid::Droid;
use crate::droid_tests::execute;
use crate::model::{Kind, Model};
use crate::opencode::{OpenCode, PLUGIN, Session, WINDOW, session_of, until};
use crate::opencode_tests::{BRIEF, bash};
use crate::scratch::Scratch;
use crate::script::{Script, Step, call, say};

#[test]
fn killed_in_the_middle_of_a_call_its_packet_has_its_last_words() {
    let Some(opencode) = OpenCode::find() else { return };
    let scratch = Scratch::new();
    OpenCode::init(&scratch);
    let endless = "touch in-flight; exec sh -c 'while [ -e in-flight ]; do sleep 0.1; done'";
    let task = json!({ "description": "Look", "prompt": "LOOK-AROUND", "subagent_type": "general" });
    let model = Model::start(Script {
        main: vec![
            call("task", task),
            call("write", json!({ "filePath": scratch.project.join("a.txt"), "content": "a\n" })),
            Step { text: "I know the cause: THE-LOCK-IS-NEVER-RELEASED.".into(), ..bash(endless) },
        ],
        // The sub-agent's calls are in the journal too, but the database does not list them in the session.
        subagent: (1..=3).map(|n| bash(&format!("echo {n}"))).chain([say("SEEN-IT-ALL")]).collect(),
        ..Script::default()
    });
    let process = opencode.start(&scratch, &model, &["Find the BIG-BUG and mend it"]);
    let running = scratch.project.join("in-flight");
    until("the last call is running", || running.exists());
    assert_eq!(scratch.thru_json(&["sweep", "--dry-run"]), json!([]), "it still lives");
    process.kill();
    std::fs::remove_file(running).expect("it was there");

    opencode.on_path(&scratch);
    let swept = scratch.thru_json(&["sweep"]);
    assert_eq!(swept[0]["harness"], "opencode", "{swept}");
    let packet = swept[0]["packet"].as_str().expect("a packet").to_owned();
    let text = scratch.thru_ok(&["packet", "show", &packet]);
    for needle in ["BIG-BUG", "a.txt", "THE-LOCK-IS-NEVER-RELEASED", "touch in-flight", "source: opencode"] {
        assert!(text.contains(needle), "{needle:?} in {text}");
    }
    assert_eq!(scratch.thru_json(&["sweep"]), json!([]), "once");
}

/// No hook saw the session, so it is read from the database: by OpenCode's own program and by sqlite3. After that
/// the session continues with the plugin.
#[test]
fn a_session_that_began_before_the_plugin() {
    let Some(opencode) = OpenCode::find() else { return };
    let scratch = Scratch::new();
    let model = Model::start(Script::main([
        call("write", json!({ "filePath": scratch.project.join("early.txt"), "content": "a\n" })),
        bash("exit 4"),
        say("EARLY-WORDS"),
    ]));
    let early = opencode.ask(&scratch, &model, &["EARLY-PROMPT"]);
    early.assert_success();
    let sid = session_of(&early);
    scratch.thru_ok(&["init", "--no-hooks"]);

    let thru = scratch.bin().join("thru");
    let mut alone = scratch.command(&thru.to_string_lossy());
    let refused = alone.args(["brief", "--session", &sid]).env("PATH", "/nowhere").output();
    let refused = String::from_utf8(refused.expect("it starts").stderr).expect("a text");
    assert!(
        refused.contains("opencode") && refused.contains("sqlite3"),
        "it says what is missing: {refused}"
    );
    let has_sqlite = scratch.command("sqlite3").arg("--version").output().is_ok();
    if has_sqlite {
        let brief = scratch.thru_ok(&["brief", "--session", &sid]);
        assert!(brief.contains("EARLY-PROMPT") && brief.contains("early.txt"), "by sqlite3: {brief}");
    } else {
        note("sqlite3 is not installed: only OpenCode's own program is asked");
    }
    opencode.on_path(&scratch);
    let handed = scratch.thru_json(&["handoff", "go on with the early work", "--session", &sid]);
    let text = scratch.thru_ok(&["packet", "show", handed["id"].as_str().expect("an id")]);
    for needle in ["EARLY-PROMPT", "early.txt", "EARLY-WORDS", &sid] {
        assert!(text.contains(needle), "{needle:?} in {text}");
    }

    scratch.thru_ok(&["install", "opencode"]);
    let model = Model::start(Script::main([bash("echo late"), say("Went on.")]));
    opencode.ask(&scratch, &model, &["--session", &sid, "LATE-PROMPT"]).assert_success();
    model.assert_played();
    scratch.shown(&sid).in_order(&[
        json!({ "event": "session-start", "name": "resume" }),
        json!({ "event": "prompt", "text": "LATE-PROMPT" }),
        json!({ "tool": "bash", "command": "echo late" }),
        json!({ "event": "stop", "text": "Went on." }),
    ]);
}

/// After a compaction there is one brief. It stays in the conversation, whichever process continues the session.
#[test]
fn a_compacted_session_is_briefed_once_in_the_next_process_too() {
    let Some(opencode) = OpenCode::find() else { return };
    let scratch = Scratch::new();
    OpenCode::init(&scratch);
    let model = Model::start(Script::main([bash("echo work > work.txt"), say("Worked.")]));
    let serve = || opencode.serve(&scratch, &model, &scratch.project);
    let first = serve();
    let id = first.session(&scratch.project).id;
    first.known(&id, &scratch.project).say("DO-THE-WORK");
    first.kill();

    // Create a plan, so that there is something to tell a resumed session.
    for words in
        [&["plan", "init", "Parser plan"][..], &["plan", "add", "The lexer"], &["task", "add", "Tokens"]]
    {
        scratch.thru_ok(words);
    }
    // The first thing that the next process has to do is a compaction.
    let second = serve();
    let session = second.known(&id, &scratch.project);
    model.then(Script {
        main: vec![say("After.")],
        compact: vec![say("## Objective\nSUMMARY")],
        ..Script::default()
    });
    session.summarize();
    session.say("AFTER");
    assert_eq!(told(&model, 1), [1], "not one for a resume as well");
    second.kill();

    let third = serve();
    let session = third.known(&id, &scratch.project);
    model.then(Script::main([say("Later."), say("Even later.")]));
    session.say("LATER");
    session.say("EVEN-LATER");
    model.assert_played();
    assert_eq!(told(&model, 2), [1, 1]);
    let asked = model.asked();
    assert!(asked.last().is_some_and(|asked| asked.holds(BRIEF) && asked.holds("SUMMARY")));
    scratch.receipts().never(&json!({ "outcome": "failed" }));
}

/// Counts our briefs in the last requests of the session.
fn told(model: &Model, requests: usize) -> Vec<usize> {
    let asked = model.asked();
    let main: Vec<_> = asked.iter().filter(|asked| asked.kind == Kind::Main).collect();
    main[main.len() - requests..].iter().map(|asked| asked.count("Throughline: ")).collect()
}

/// The number of tokens is that of OpenCode's last request, and the size of the window comes from its settings.
#[test]
fn a_window_that_fills_up_in_opencode_is_told_once() {
    let Some(opencode) = OpenCode::find() else { return };
    let scratch = Scratch::new();
    OpenCode::init(&scratch);
    let used = |tokens, step: Step| Step { input_tokens: Some(tokens), ..step };
    let model = Model::start(Script::main([
        used(3_000, bash("echo one")),
        used(5_000, say("One.")),
        used(14_000, bash("echo two")),
        used(14_500, say("Two.")),
        used(14_600, say("Three.")),
        used(14_700, say("Four.")),
    ]));
    let server = opencode.serve(&scratch, &model, &scratch.project);
    let session = server.session(&scratch.project);
    for prompt in ["ONE", "TWO", "THREE", "FOUR"] {
        session.say(prompt);
        // The stop is reported when the session is idle, which is after the answer.
        until("the stop", || {
            scratch.journal(&session.id).matching(&json!({ "event": "stop" })).len()
                == scratch.journal(&session.id).matching(&json!({ "event": "prompt" })).len()
        });
    }
    model.assert_played();
    let asked: Vec<_> = model.asked().into_iter().filter(|asked| asked.kind == Kind::Main).collect();
    let told: Vec<usize> = asked.iter().map(|asked| asked.count("% full (")).collect();
    assert_eq!(told, [0, 0, 0, 0, 1, 1], "with the third prompt; the fourth request replays it");
    assert!(asked[4].holds(&format!("% full (14,500 of {},000 tokens)", WINDOW / 1_000)));
    scratch.receipts().never(&json!({ "outcome": "failed" }));
}

/// A packet goes from Claude Code to OpenCode to Droid, with the commands that a user types.
#[test]
fn a_packet_goes_through_three_harnesses() {
    let (Some(claude), Some(opencode), Some(droid)) = (ClaudeCode::find(), OpenCode::find(), Droid::find())
    else {
        return;
    };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    OpenCode::init(&scratch);
    scratch.thru_ok(&["install", "opencode"]);
    assert!(scratch.project.join(PLUGIN).exists());
    let thru = scratch.bin().join("thru").display().to_string();
    let model = Model::start(Script::main([
        call(
            "Write",
            json!({ "file_path": scratch.project.join("parser.rs"), "content": "fn parse() {}\n" }),
        ),
        say("The parser does not know the rule yet."),
    ]));
    let prompt = "Write a parser. Never use regular expressions in it.";
    claude.ask(&scratch, &model, prompt, &[]).assert_success();
    scratch.thru_ok(&["handoff", "finish the parser"]);

    // The agent runs the commands in the session's folder, although the server was started elsewhere.
    let model = Model::start(Script::main([
        bash(&format!("{thru} pickup --for opencode")),
        say("Picked up."),
        bash(&format!("{thru} handoff 'test the parser'")),
        say("Handed over."),
        say("That is where it stands."),
    ]));
    let server = opencode.serve(&scratch, &model, &scratch.tmp());
    let session = server.session(&scratch.project);
    session.command("pickup", "");
    for needle in
        ["Picking up packet", "Goal: finish the parser", "parser.rs", "Never use regular expressions"]
    {
        assert!(model.sent_to_model(needle), "{needle:?} reaches OpenCode's model");
    }
    session.command("handoff", "test the parser");
    assert!(model.sent_to_model("> test the parser"), "the command's text reaches the model");
    session.command("context", "");
    model.assert_played();
    assert!(
        model.sent_to_model("$ thru status") && model.sent_to_model("root      "),
        "what it ran is shown"
    );
    let journal = scratch.shown(&session.id);
    journal.in_order(&[
        json!({ "event": "prompt", "text": "/pickup" }),
        json!({ "event": "prompt", "text": "/handoff test the parser" }),
        json!({ "event": "prompt", "text": "/context" }),
    ]);
    let id = session.id;
    server.kill();
    let packets = scratch.thru_json(&["packet", "list"]);
    let packet =
        packets.as_array().and_then(|all| all.iter().find(|one| one["purpose"] == "test the parser"));
    let packet = packet.unwrap_or_else(|| panic!("{packets}"))["id"].as_str().expect("an id").to_owned();
    let text = scratch.thru_ok(&["packet", "show", &packet]);
    assert!(text.contains(&id) && text.contains("source: opencode"), "{text}");

    Droid::init(&scratch);
    let model = Model::start(Script::main([
        execute(&format!("{thru} pickup {packet} --for droid")),
        say("Picked up."),
    ]));
    droid.ask(&scratch, &model, &format!("/pickup {packet}")).assert_success();
    model.assert_played();
    for needle in ["Picking up packet", "Goal: test the parser"] {
        assert!(model.sent_to_model(needle), "{needle:?} reaches Droid's model");
    }
}

/// Measures the cost of the plugin: turns of ten calls on two servers that differ only in the plugin. Each server is
/// the first one in every second turn, and the medians are compared.
///
///     THRU_BIN=<the static release build> cargo test -p thru --test e2e -- --ignored --nocapture what_the_plugin_costs
#[test]
#[ignore = "a measurement: it wants a quiet machine"]
fn what_the_plugin_costs() {
    let Some(opencode) = OpenCode::find() else { return };
    const WARM_UP: usize = 2;
    const TURNS: usize = 16;
    let with = Scratch::new();
    OpenCode::init_as_released(&with);
    let without = Scratch::new();
    let model = Model::start(Script::default());
    let (here, there) =
        (opencode.serve(&with, &model, &with.project), opencode.serve(&without, &model, &without.project));
    let sessions = [here.session(&with.project), there.session(&without.project)];
    let mut times = [Vec::new(), Vec::new()];
    for turn in 0..WARM_UP + TURNS {
        let first = turn % 2;
        for which in [first, 1 - first] {
            let calls = (0..10).map(|n| bash(&format!("echo {n}")));
            model.then(Script::main(calls.chain([say("Done.")]).collect::<Vec<_>>()));
            let started = Instant::now();
            sessions[which].say("Ten calls");
            let took = started.elapsed();
            // Work after a turn, such as a title, must not be counted in the next turn.
            until("nothing is going on", || sessions.iter().all(Session::is_idle));
            if turn >= WARM_UP {
                times[which].push(took);
            }
        }
    }
    model.assert_played();
    let calls = with.journal(&sessions[0].id).matching(&json!({ "event": "tool-done" })).len();
    assert_eq!(calls, (WARM_UP + TURNS) * 10, "every call was told");
    let [with, without] = times.map(|times| p50(times).as_secs_f64() * 1_000.0);
    let more = (with / without - 1.0) * 100.0;
    note(&format!(
        "a turn with ten calls, p50 of {TURNS}: {without:.0} ms without, {with:.0} ms with, {more:+.1} %"
    ));
    assert!(more <= 3.0, "{more:+.1} %");
}

fn p50(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
