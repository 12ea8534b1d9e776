//! Sessions of OpenCode that have ended, that started before the plugin was installed, or that another harness
//! continues.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::available::print_to_stderr;
use crate::claude::ClaudeCode;
use crate::droid::Droid;
use crate::droid_tests::execute_step;
use crate::model::{RequestKind, ScriptedModel};
use crate::opencode::{CONTEXT_TOKENS, OpenCode, PLUGIN_PATH, ServerSession, reported_session, wait_until};
use crate::opencode_tests::{BRIEF_TITLE, bash_step};
use crate::scratch::ScratchProject;
use crate::script::{ModelScript, ScriptStep, call_step, text_step};

#[test]
fn killed_in_the_middle_of_a_call_its_packet_has_its_last_message() {
    let Some(opencode) = OpenCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    OpenCode::install_plugin(&scratch);
    let endless = "touch in-flight; exec sh -c 'while [ -e in-flight ]; do sleep 0.1; done'";
    let task = json!({ "description": "Look", "prompt": "LOOK-AROUND", "subagent_type": "general" });
    let model = ScriptedModel::start(ModelScript {
        main: vec![
            call_step("task", task),
            call_step("write", json!({ "filePath": scratch.project.join("a.txt"), "content": "a\n" })),
            ScriptStep { text: "I know the cause: THE-LOCK-IS-NEVER-RELEASED.".into(), ..bash_step(endless) },
        ],
        // The journal contains the sub-agent's calls too, but the database does not list them under the session.
        subagent: (1..=3)
            .map(|n| bash_step(&format!("echo {n}")))
            .chain([text_step("SEEN-IT-ALL")])
            .collect(),
        ..ModelScript::default()
    });
    let process = opencode.start_prompt(&scratch, &model, &["Find the BIG-BUG and mend it"]);
    let running = scratch.project.join("in-flight");
    wait_until("the last call is running", || running.exists());
    assert_eq!(scratch.run_thru_json(&["sweep", "--dry-run"]), json!([]), "it still lives");
    process.kill();
    std::fs::remove_file(running).expect("it was there");

    opencode.put_on_path(&scratch);
    let swept = scratch.run_thru_json(&["sweep"]);
    assert_eq!(swept[0]["harness"], "opencode", "{swept}");
    let packet = swept[0]["packet"].as_str().expect("a packet").to_owned();
    let text = scratch.run_thru_successfully(&["packet", "show", &packet]);
    for needle in ["BIG-BUG", "a.txt", "THE-LOCK-IS-NEVER-RELEASED", "touch in-flight", "source: opencode"] {
        assert!(text.contains(needle), "{needle:?} in {text}");
    }
    assert_eq!(scratch.run_thru_json(&["sweep"]), json!([]), "once");
}

/// No hook observed the session, so it is read from the database, once with sqlite3 and once with OpenCode's own
/// program. Then the session continues with the plugin.
#[test]
fn a_session_that_began_before_the_plugin() {
    let Some(opencode) = OpenCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    let model = ScriptedModel::start(ModelScript::main([
        call_step("write", json!({ "filePath": scratch.project.join("early.txt"), "content": "a\n" })),
        bash_step("exit 4"),
        text_step("EARLY-WORDS"),
    ]));
    let early = opencode.run_prompt(&scratch, &model, &["EARLY-PROMPT"]);
    early.assert_success();
    let sid = reported_session(&early);
    scratch.run_thru_successfully(&["init", "--no-hooks"]);

    let thru = scratch.bin_folder().join("thru");
    let mut alone = scratch.command_in_project(&thru.to_string_lossy());
    let refused = alone.args(["brief", "--session", &sid]).env("PATH", "/nowhere").output();
    let refused = String::from_utf8(refused.expect("it starts").stderr).expect("a text");
    assert!(
        refused.contains("opencode") && refused.contains("sqlite3"),
        "it says what is missing: {refused}"
    );
    let has_sqlite = scratch.command_in_project("sqlite3").arg("--version").output().is_ok();
    if has_sqlite {
        let brief = scratch.run_thru_successfully(&["brief", "--session", &sid]);
        assert!(brief.contains("EARLY-PROMPT") && brief.contains("early.txt"), "by sqlite3: {brief}");
    } else {
        print_to_stderr("sqlite3 is not installed: only OpenCode's own program is asked");
    }
    opencode.put_on_path(&scratch);
    let handed = scratch.run_thru_json(&["handoff", "go on with the early work", "--session", &sid]);
    let text = scratch.run_thru_successfully(&["packet", "show", handed["id"].as_str().expect("an id")]);
    for needle in ["EARLY-PROMPT", "early.txt", "EARLY-WORDS", &sid] {
        assert!(text.contains(needle), "{needle:?} in {text}");
    }

    scratch.run_thru_successfully(&["install", "opencode"]);
    let model = ScriptedModel::start(ModelScript::main([bash_step("echo late"), text_step("Went on.")]));
    opencode.run_prompt(&scratch, &model, &["--session", &sid, "LATE-PROMPT"]).assert_success();
    model.assert_script_used_up();
    scratch.shown_journal(&sid).assert_in_order(&[
        json!({ "event": "session-start", "name": "resume" }),
        json!({ "event": "prompt", "text": "LATE-PROMPT" }),
        json!({ "tool": "bash", "command": "echo late" }),
        json!({ "event": "stop", "text": "Went on." }),
    ]);
}

/// After a compaction there is one brief. It stays in the conversation, no matter which process continues the session.
#[test]
fn a_compacted_session_is_briefed_once_in_the_next_process_too() {
    let Some(opencode) = OpenCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    OpenCode::install_plugin(&scratch);
    let model =
        ScriptedModel::start(ModelScript::main([bash_step("echo work > work.txt"), text_step("Worked.")]));
    let serve = || opencode.start_server(&scratch, &model, &scratch.project);
    let first = serve();
    let id = first.create_session(&scratch.project).id;
    first.open_session(&id, &scratch.project).send_and_wait("DO-THE-WORK");
    first.kill();

    // Create a plan, so that there is something to report to a resumed session.
    for words in
        [&["plan", "init", "Parser plan"][..], &["plan", "add", "The lexer"], &["task", "add", "Tokens"]]
    {
        scratch.run_thru_successfully(words);
    }
    // The next process begins with a compaction.
    let second = serve();
    let session = second.open_session(&id, &scratch.project);
    model.add_answers(ModelScript {
        main: vec![text_step("After.")],
        compact: vec![text_step("## Objective\nSUMMARY")],
        ..ModelScript::default()
    });
    session.summarize();
    session.send_and_wait("AFTER");
    assert_eq!(count_briefs(&model, 1), [1], "not one for a resume as well");
    second.kill();

    let third = serve();
    let session = third.open_session(&id, &scratch.project);
    model.add_answers(ModelScript::main([text_step("Later."), text_step("Even later.")]));
    session.send_and_wait("LATER");
    session.send_and_wait("EVEN-LATER");
    model.assert_script_used_up();
    assert_eq!(count_briefs(&model, 2), [1, 1]);
    let asked = model.received_requests();
    assert!(asked.last().is_some_and(|asked| asked.contains(BRIEF_TITLE) && asked.contains("SUMMARY")));
    scratch.read_receipts().assert_never(&json!({ "outcome": "failed" }));
}

fn count_briefs(model: &ScriptedModel, requests: usize) -> Vec<usize> {
    let asked = model.received_requests();
    let main: Vec<_> = asked.iter().filter(|asked| asked.kind == RequestKind::Main).collect();
    main[main.len() - requests..].iter().map(|asked| asked.count_occurrences("Throughline: ")).collect()
}

/// The token count comes from OpenCode's last request, and the size of the window from its settings.
#[test]
fn a_window_that_fills_up_in_opencode_is_told_once() {
    let Some(opencode) = OpenCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    OpenCode::install_plugin(&scratch);
    let used = |tokens, step: ScriptStep| ScriptStep { input_tokens: Some(tokens), ..step };
    let model = ScriptedModel::start(ModelScript::main([
        used(3_000, bash_step("echo one")),
        used(5_000, text_step("One.")),
        used(14_000, bash_step("echo two")),
        used(14_500, text_step("Two.")),
        used(14_600, text_step("Three.")),
        used(14_700, text_step("Four.")),
    ]));
    let server = opencode.start_server(&scratch, &model, &scratch.project);
    let session = server.create_session(&scratch.project);
    for prompt in ["ONE", "TWO", "THREE", "FOUR"] {
        session.send_and_wait(prompt);
        // The stop is reported when the session is idle, which is after the answer.
        wait_until("the stop", || {
            scratch.read_journal(&session.id).matching(&json!({ "event": "stop" })).len()
                == scratch.read_journal(&session.id).matching(&json!({ "event": "prompt" })).len()
        });
    }
    model.assert_script_used_up();
    let asked: Vec<_> =
        model.received_requests().into_iter().filter(|asked| asked.kind == RequestKind::Main).collect();
    let told: Vec<usize> = asked.iter().map(|asked| asked.count_occurrences("% full (")).collect();
    assert_eq!(told, [0, 0, 0, 0, 1, 1], "with the third prompt; the fourth request replays it");
    assert!(asked[4].contains(&format!("% full (14,500 of {},000 tokens)", CONTEXT_TOKENS / 1_000)));
    scratch.read_receipts().assert_never(&json!({ "outcome": "failed" }));
}

/// A packet goes from Claude Code to OpenCode to Droid. Each step uses the commands that a user types.
#[test]
fn a_packet_goes_through_three_harnesses() {
    let (Some(claude), Some(opencode), Some(droid)) =
        (ClaudeCode::find_installed(), OpenCode::find_installed(), Droid::find_installed())
    else {
        return;
    };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    OpenCode::install_plugin(&scratch);
    scratch.run_thru_successfully(&["install", "opencode"]);
    assert!(scratch.project.join(PLUGIN_PATH).exists());
    let thru = scratch.bin_folder().join("thru").display().to_string();
    let model = ScriptedModel::start(ModelScript::main([
        call_step(
            "Write",
            json!({ "file_path": scratch.project.join("parser.rs"), "content": "fn parse() {}\n" }),
        ),
        text_step("The parser does not know the rule yet."),
    ]));
    let prompt = "Write a parser. Never use regular expressions in it.";
    claude.run_prompt(&scratch, &model, prompt, &[]).assert_success();
    scratch.run_thru_successfully(&["handoff", "finish the parser"]);

    // The agent runs the commands in the session's folder, although the server was started in another folder.
    let model = ScriptedModel::start(ModelScript::main([
        bash_step(&format!("{thru} pickup --for opencode")),
        text_step("Picked up."),
        bash_step(&format!("{thru} handoff 'test the parser'")),
        text_step("Handed over."),
        text_step("That is where it stands."),
    ]));
    let server = opencode.start_server(&scratch, &model, &scratch.tmp_folder());
    let session = server.create_session(&scratch.project);
    session.run_slash_command("pickup", "");
    for needle in
        ["Picking up packet", "Goal: finish the parser", "parser.rs", "Never use regular expressions"]
    {
        assert!(model.has_received(needle), "{needle:?} reaches OpenCode's model");
    }
    session.run_slash_command("handoff", "test the parser");
    assert!(model.has_received("<words>\ntest the parser\n</words>"), "the command's text reaches the model");
    session.run_slash_command("context", "");
    model.assert_script_used_up();
    assert!(model.has_received("$ thru status") && model.has_received("root      "), "what it ran is shown");
    let journal = scratch.shown_journal(&session.id);
    journal.assert_in_order(&[
        json!({ "event": "prompt", "text": "/pickup" }),
        json!({ "event": "prompt", "text": "/handoff test the parser" }),
        json!({ "event": "prompt", "text": "/context" }),
    ]);
    let id = session.id;
    server.kill();
    let packets = scratch.run_thru_json(&["packet", "list"]);
    let packet =
        packets.as_array().and_then(|all| all.iter().find(|one| one["purpose"] == "test the parser"));
    let packet = packet.unwrap_or_else(|| panic!("{packets}"))["id"].as_str().expect("an id").to_owned();
    let text = scratch.run_thru_successfully(&["packet", "show", &packet]);
    assert!(text.contains(&id) && text.contains("source: opencode"), "{text}");

    Droid::init_project(&scratch);
    let model = ScriptedModel::start(ModelScript::main([
        execute_step(&format!("{thru} pickup {packet} --for droid")),
        text_step("Picked up."),
    ]));
    droid.run_prompt(&scratch, &model, &format!("/pickup {packet}")).assert_success();
    model.assert_script_used_up();
    for needle in ["Picking up packet", "Goal: test the parser"] {
        assert!(model.has_received(needle), "{needle:?} reaches Droid's model");
    }
}

/// Measures the cost of the plugin. Two servers, one with the plugin and one without it, run turns of ten calls. Each
/// server goes first in every other round. The medians are compared.
///
///     THRU_BIN=<the static release build> cargo test -p thru --test e2e -- --ignored --nocapture what_the_plugin_costs
#[test]
#[ignore = "a measurement: it wants a quiet machine"]
fn what_the_plugin_costs() {
    let Some(opencode) = OpenCode::find_installed() else { return };
    const WARM_UP_TURNS: usize = 2;
    const MEASURED_TURNS: usize = 16;
    let with = ScratchProject::new();
    OpenCode::init_project(&with);
    let without = ScratchProject::new();
    let model = ScriptedModel::start(ModelScript::default());
    let (here, there) = (
        opencode.start_server(&with, &model, &with.project),
        opencode.start_server(&without, &model, &without.project),
    );
    let sessions = [here.create_session(&with.project), there.create_session(&without.project)];
    let mut times = [Vec::new(), Vec::new()];
    for turn in 0..WARM_UP_TURNS + MEASURED_TURNS {
        let first = turn % 2;
        for which in [first, 1 - first] {
            let calls = (0..10).map(|n| bash_step(&format!("echo {n}")));
            model.add_answers(ModelScript::main(calls.chain([text_step("Done.")]).collect::<Vec<_>>()));
            let started = Instant::now();
            sessions[which].send_and_wait("Ten calls");
            let took = started.elapsed();
            // Wait for work after the turn, such as a title, so that it does not count towards the next turn.
            wait_until("nothing is going on", || sessions.iter().all(ServerSession::is_idle));
            if turn >= WARM_UP_TURNS {
                times[which].push(took);
            }
        }
    }
    model.assert_script_used_up();
    let calls = with.read_journal(&sessions[0].id).matching(&json!({ "event": "tool-done" })).len();
    assert_eq!(calls, (WARM_UP_TURNS + MEASURED_TURNS) * 10, "every call was told");
    let [with, without] = times.map(|times| median(times).as_secs_f64() * 1_000.0);
    let more = (with / without - 1.0) * 100.0;
    print_to_stderr(&format!(
        "a turn with ten calls, p50 of {MEASURED_TURNS}: {without:.0} ms without, {with:.0} ms with, {more:+.1} %"
    ));
    assert!(more <= 3.0, "{more:+.1} %");
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
