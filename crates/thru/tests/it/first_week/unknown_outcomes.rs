//! Tests what is said about a call that was running when its session ended. Hooks do not report that a call begins, so
//! such a call is only in the transcript, and nobody knows how it ended.

use super::files_at_risk::repository_with_files;
use super::handoffs::{ask_at, edit_at, end_at, fire_at, run_at, start_at, thru_at};
use super::results_of_checks::fail_at;
use super::*;
use crate::packet_sweeps::mark_session_dead;

const TASK: &str = "Run the migration once.";
const MIGRATION: &str = "./scripts/migrate.sh";
const UNKNOWN: &str = "`./scripts/migrate.sh` was running when the session ended; its outcome is unknown, so check its \
     effects before running it again";

/// Returns the line of a transcript with the user's message or the agent's calls.
fn line(role: &str, content: &Value) -> String {
    let message = json!({"role": role, "id": "m1", "content": content});
    json!({"type": role, "timestamp": "2026-11-15T19:00:02Z", "message": message}).to_string() + "\n"
}

fn bash(id: &str, command: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}})
}

/// Starts session `s1` with a transcript that contains these lines after the user's message.
fn session_with_transcript(env: &TestEnv, lines: &[String]) {
    let text = line("user", &json!(TASK)) + &lines.concat();
    let path = env.write_file("s1.jsonl", text);
    let start = json!({"source": "startup", "transcript_path": path});
    fire_at(env, "19:00:00", "s1", "SessionStart", start);
    ask_at(env, "19:00:01", "s1", TASK);
}

/// Starts session `s1`, in which `calls` are running.
fn session_with_running_calls(env: &TestEnv, calls: &[Value]) {
    session_with_transcript(env, &[line("assistant", &json!(calls))]);
}

fn assert_claims_nothing(text: &str) {
    for words in
        ["acted on yet", "did not finish", "not finished", "Begin with: `./scripts", "ended its turn"]
    {
        assert!(!text.contains(words), "{words}: {text}");
    }
}

#[test]
fn a_command_that_was_running_when_its_session_was_killed_has_an_unknown_outcome() {
    let env = TestEnv::with_root();
    session_with_running_calls(&env, &[bash("t1", MIGRATION)]);
    mark_session_dead(&env, "s1");
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(status.contains("1 session; `thru sweep` writes a packet for it"), "{status}");
    let asked = env.run_thru(&["brief"]).assert_ok().stdout;
    let preview = env.run_thru(&["brief", "--event", "startup"]).assert_ok().stdout;
    let told = start_at(&env, "19:01:00", "s2");
    assert!(told.contains("s1 (started 2026-11-15T19:00:00Z) crashed; `thru pickup "), "{told}");
    let later = env.run_thru(&["brief"]).assert_ok().stdout;
    let packet = env.run_thru(&["packet", "show", "run-the-migration"]).assert_ok().stdout;
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    for text in [&asked, &preview, &told, &later, &packet, &picked] {
        assert!(text.contains(UNKNOWN), "{text}");
        assert_claims_nothing(text);
    }
    assert_eq!(picked.matches("was running when").count(), 1, "{picked}");
    // The transcript is read again, but nothing is counted twice.
    end_at(&env, "19:01:01", "s2");
    let again = start_at(&env, "19:02:00", "s3");
    assert!(again.contains(UNKNOWN), "{again}");
    assert_claims_nothing(&again);
}

#[test]
fn a_session_whose_only_call_was_cut_off_gets_a_packet() {
    let read =
        json!({"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/p/README.md"}});
    let create = json!({"type": "tool_use", "id": "t1", "name": "mcp__tracker__create_issue", "input": {"title": "A"}});
    for (call, expected) in [
        (bash("t1", MIGRATION), UNKNOWN),
        (create, "`mcp__tracker__create_issue` was running when the session ended; its outcome is unknown"),
        (read, "it was reading `"),
    ] {
        let env = TestEnv::with_root();
        session_with_running_calls(&env, &[call]);
        mark_session_dead(&env, "s1");
        let swept = env.run_thru(&["sweep"]).assert_ok().stdout;
        assert!(swept.contains("-run-the-migration"), "{swept}");
        let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
        assert!(picked.contains(expected), "{picked}");
        assert_claims_nothing(&picked);
    }
    // A call to thru is not work.
    let env = TestEnv::with_root();
    session_with_running_calls(&env, &[bash("t1", "thru status")]);
    mark_session_dead(&env, "s1");
    let swept = env.run_thru(&["sweep"]).assert_ok().stdout;
    assert!(swept.contains("nothing to hand over"), "{swept}");
}

#[test]
fn a_session_whose_user_closed_the_terminal_is_treated_like_a_killed_one() {
    let env = TestEnv::with_root();
    session_with_running_calls(&env, &[bash("t1", MIGRATION)]);
    end_at(&env, "19:00:09", "s1");
    for text in [start_at(&env, "19:01:00", "s2"), env.run_thru(&["brief"]).assert_ok().stdout] {
        assert!(text.contains(UNKNOWN), "{text}");
        assert_claims_nothing(&text);
    }
}

#[test]
fn a_message_is_untouched_only_if_the_transcript_shows_it() {
    let cut_off = line("assistant", &json!([bash("t1", MIGRATION)]));
    for (lines, is_untouched) in [
        (vec![], true),
        // The harness was killed while it was writing the line.
        (vec![cut_off[..cut_off.len() / 2].to_owned()], false),
    ] {
        let env = TestEnv::with_root();
        session_with_transcript(&env, &lines);
        mark_session_dead(&env, "s1");
        let told = start_at(&env, "19:01:00", "s2");
        assert!(told.contains(TASK), "{told}");
        assert_eq!(told.contains("has not been acted on yet"), is_untouched, "{lines:?}: {told}");
    }
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", TASK);
    let running = env.run_thru(&["brief"]).assert_ok().stdout;
    env.run_thru(&["handoff", "go on"]).assert_ok();
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    mark_session_dead(&env, "s1");
    for text in [running, picked, start_at(&env, "19:01:00", "s2")] {
        assert!(text.contains(TASK), "{text}");
        assert_claims_nothing(&text);
    }
}

#[test]
fn the_next_step_is_not_the_call_of_unknown_outcome() {
    let env = TestEnv::with_root();
    let path = env.write_file("s1.jsonl", "");
    fire_at(&env, "19:00:00", "s1", "SessionStart", json!({"source": "startup", "transcript_path": path}));
    ask_at(&env, "19:00:01", "s1", TASK);
    let todos = json!([{"content": "Migrate", "status": "in_progress", "activeForm": "Migrating"}]);
    let call = json!({"tool_name": "TodoWrite", "tool_use_id": "t0", "tool_input": {"todos": todos}});
    fire_at(&env, "19:00:01", "s1", "PostToolUse", call);
    edit_at(&env, "19:00:02", "s1", "scripts/migrate.sh");
    fail_at(&env, "19:00:03", "s1", "make lint", "Exit code 2\nscripts/migrate.sh:1: error: quote this");
    let said = json!({"type": "text", "text": "Now I'll run the migration."});
    let calls = json!([said, bash("t1", MIGRATION), bash("t2", "git push")]);
    env.write_file("s1.jsonl", line("user", &json!(TASK)) + &line("assistant", &calls));
    mark_session_dead(&env, "s1");
    env.run_thru(&["sweep"]).assert_ok();
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(picked.contains(&format!("\n{UNKNOWN}.\n\n`git push` was running")), "{picked}");
    assert!(picked.contains("\nBegin with: the failing command `make lint` (see Failing).\n"), "{picked}");
    assert_claims_nothing(&picked);
}

const LOOP_PROMPT: &str = "Write docs.md, all parts.";

/// Runs a loop in session `s1`. The session stops once with a message that does not contain the promise, so the loop
/// continues.
fn continued_loop(env: &TestEnv) {
    env.run_thru(&[
        "loop",
        "start",
        "--next",
        LOOP_PROMPT,
        "--promise",
        "DOCUMENTED",
        "--validator",
        "test -s docs.md",
        "--max-iterations",
        "5",
    ])
    .assert_ok();
    start_at(env, "19:10:00", "s1");
    ask_at(env, "19:10:01", "s1", "go");
    edit_at(env, "19:10:02", "s1", "docs.md");
    stop_in_loop(env, "19:10:03", "First part.");
}

/// Fires the stop event of session `s1`, which runs the loop. Returns the hook's answer.
fn stop_in_loop(env: &TestEnv, time: &str, message: &str) -> String {
    let payload = env.event_payload("s1", "Stop", json!({"last_assistant_message": message}));
    let call = env.hook_call("Stop", payload.to_string());
    call.with_variable("THROUGHLINE_NOW", format!("2026-11-15T{time}Z")).run().assert_ok().stdout
}

#[test]
fn an_agent_that_a_loop_continued_was_at_work() {
    let env = TestEnv::with_root();
    continued_loop(&env);
    mark_session_dead(&env, "s1");
    let asked = env.run_thru(&["brief"]).assert_ok().stdout;
    let told = start_at(&env, "19:11:00", "s2");
    for text in [&asked, &told] {
        assert!(
            text.contains("at iteration 2 of 5") && text.contains("In progress. Last said: “First part."),
            "{text}"
        );
        assert!(!text.contains("the agent has replied"), "{text}");
        assert_claims_nothing(text);
    }
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert_claims_nothing(&picked);
    // A stop that ends the loop ends the turn.
    let env = TestEnv::with_root();
    continued_loop(&env);
    env.write_file("project/docs.md", "all parts\n");
    assert_eq!(stop_in_loop(&env, "19:10:05", "All parts. <promise>DOCUMENTED</promise>"), "");
    end_at(&env, "19:10:06", "s1");
    let told = start_at(&env, "19:11:00", "s2");
    assert!(told.contains("had ended its turn"), "{told}");
}

/// Makes a check fail in a session that has nothing to do with the loop.
fn fail_in_unrelated_session(env: &TestEnv) {
    start_at(env, "19:00:00", "s0");
    ask_at(env, "19:00:01", "s0", "Add a test for empty links.");
    edit_at(env, "19:00:02", "s0", "test_links.py");
    fail_at(
        env,
        "19:00:03",
        "s0",
        "make test",
        "Exit code 2\nFAIL: test_empty\nmake: *** [Makefile:2: test] Error 1",
    );
    end_at(env, "19:00:04", "s0");
}

#[test]
fn the_packet_of_a_crashed_loop_takes_its_promise_and_its_validators() {
    let env = TestEnv::with_root();
    fail_in_unrelated_session(&env);
    continued_loop(&env);
    // The agent gives the promise too early, so the validator runs and fails.
    let answer = stop_in_loop(&env, "19:10:05", "Second part. <promise>DOCUMENTED</promise>");
    assert!(answer.contains("\"block\""), "{answer}");
    mark_session_dead(&env, "s1");
    let swept = env.run_thru_json(&["sweep"]);
    let text = env.run_thru(&["packet", "show", swept[0]["packet"].as_str().unwrap()]).assert_ok().stdout;
    assert!(text.contains("\nloop_promise: DOCUMENTED\n"), "{text}");
    assert!(text.contains("\nvalidators: [\"test -s docs.md\"]\n"), "{text}");
    assert!(text.contains("\nloop_max_iterations: 5\n"), "{text}");
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    let done = "Done when: the goal is met, and `test -s docs.md` passes, and the last message contains \
         <promise>DOCUMENTED</promise>.";
    assert!(picked.contains(done), "{picked}");
    assert!(!picked.contains("not run yet"), "{picked}");
    // The packet is data: nothing runs for a session that picks it up.
    start_at(&env, "19:12:00", "s2");
    thru_at(&env, "19:12:01", "s2", &["pickup", "--claim"]);
    let stop = json!({"last_assistant_message": "Done. <promise>DOCUMENTED</promise>"});
    assert_eq!(fire_at(&env, "19:12:02", "s2", "Stop", stop), "");
    let journal = fs::read_to_string(env.store_folder().join("sessions/s2.jsonl")).unwrap();
    assert!(!journal.contains("\"validator\""), "{journal}");
}

#[test]
fn a_check_that_failed_in_another_session_is_no_validator() {
    let env = TestEnv::with_root();
    fail_in_unrelated_session(&env);
    start_at(&env, "19:10:00", "s1");
    ask_at(&env, "19:10:01", "s1", "Describe the service in the README.");
    edit_at(&env, "19:10:02", "s1", "README.md");
    mark_session_dead(&env, "s1");
    env.run_thru(&["sweep"]).assert_ok();
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(picked.contains("- `make test` (exit 2, in an earlier session"), "{picked}");
    assert!(!picked.contains("Done when") && !picked.contains("not run yet"), "{picked}");
    // If the user makes the check a validator, the packet shows its last result.
    let id =
        env.run_thru_json(&["handoff", "describe it", "--session", "s1", "--validator", "make test"])["id"]
            .clone();
    let picked = env.run_thru(&["pickup", id.as_str().unwrap()]).assert_ok().stdout;
    assert!(picked.contains("Done when") && picked.contains("- `make test`: "), "{picked}");
    assert!(!picked.contains("not run yet"), "{picked}");
}

#[test]
fn a_handoff_names_the_pickup_that_takes_its_packet() {
    let env = repository_with_files(&["calc.py"]);
    let hand_off = |time: &str, session: &str, purpose: &str| {
        start_at(&env, &format!("{time}:00"), session);
        ask_at(&env, &format!("{time}:01"), session, &format!("Please {purpose} in calc.py."));
        edit_at(&env, &format!("{time}:02"), session, "calc.py");
        let made = thru_at(&env, &format!("{time}:03"), session, &["handoff", purpose]);
        end_at(&env, &format!("{time}:04"), session);
        made
    };
    let first = hand_off("19:00", "s1", "test add");
    assert!(first.stderr.contains("claims it with `/pickup`;"), "{first}");
    start_at(&env, "19:01:00", "s2");
    thru_at(&env, "19:01:01", "s2", &["pickup", "--claim"]);
    // Session s2 may end without finishing its packet, which then comes first.
    let second = hand_off("19:02", "s3", "test mul");
    assert!(second.stderr.contains("claims it with `/pickup 20261115T190203Z-test-mul`;"), "{second}");
    end_at(&env, "19:03:00", "s2");
    let third = hand_off("19:04", "s4", "test sub");
    assert!(third.stderr.contains("claims it with `/pickup 20261115T190403Z-test-sub`;"), "{third}");
    let plain = env.run_thru(&["pickup"]).assert_ok();
    assert!(plain.stderr.contains("note: packet 20261115T190003Z-test-add is still on offer"), "{plain}");
}

/// A hook reports a result at once, but the harness may be killed before it writes the result to its transcript.
#[test]
fn a_call_whose_end_a_hook_reported_was_not_running() {
    for (command, is_last) in
        [("sleep 2 && sed -i s/a/b/ src/parse.js", true), (MIGRATION, true), (MIGRATION, false)]
    {
        let env = TestEnv::with_root();
        let mut calls = vec![bash("s1-19:00:05", command)];
        if !is_last {
            calls.push(bash("t2", "./scripts/publish.sh"));
        }
        session_with_transcript(&env, &[line("assistant", &json!(calls))]);
        run_at(&env, "19:00:05", "s1", command, "");
        mark_session_dead(&env, "s1");
        let asked = env.run_thru(&["brief"]).assert_ok().stdout;
        let told = start_at(&env, "19:01:00", "s2");
        let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
        for text in [&asked, &told, &picked] {
            let is_called_running = |command: &str| {
                text.contains(&format!("`{command}` was running"))
                    || text.contains(&format!("running `{command}`"))
            };
            assert!(!is_called_running(command), "{command}: {text}");
            assert_eq!(is_called_running("./scripts/publish.sh"), !is_last, "{command}: {text}");
        }
    }
}
