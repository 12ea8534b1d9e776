//! Tests for problems that people reported after trying thru with only the README.

use super::*;

const WORKSTREAM_FOLDER: &str = "project/.agent/context/workstreams/01-parser";

fn env_with_workstream() -> TestEnv {
    let env = TestEnv::with_root();
    env.write_file(format!("{WORKSTREAM_FOLDER}/steps.md"), "- [x] lexer\n- [ ] parser\n");
    env.run_thru(&["resume", "new", "01-parser", "--phase", "execution"]).assert_ok();
    env
}

fn report_edit(env: &TestEnv, session: &str, id: &str, path: &str) {
    env.write_file(format!("project/{path}"), id);
    let input = json!({"file_path": env.project_folder().join(path)});
    env.fire_event(
        session,
        "PostToolUse",
        json!({"tool_name": "Edit", "tool_use_id": id, "tool_input": input}),
    );
}

#[test]
fn no_workstream_is_given_to_a_session_that_has_ended() {
    let env = env_with_workstream();
    start_session(&env, "s1");
    end_session(&env, "s1");
    for words in [&["resume", "use", "01"][..], &["resume", "use", "01", "--session", "s1"]] {
        let refused = env.run_thru(words).assert_exit_code(15);
        assert!(refused.stderr.contains("session s1 has ended"), "{refused}");
    }
    start_session(&env, "s2");
    start_session(&env, "s3");
    end_session(&env, "s3");
    assert_eq!(env.run_thru_json(&["resume", "use", "01"])["session"], "s2", "the newest that is open");
}

#[test]
fn workstreams_loops_and_outputs_are_listed_by_the_words_that_people_type() {
    let env = env_with_workstream();
    let listed = env.run_thru(&["resume", "list"]).assert_ok();
    assert!(listed.stdout.contains("01-parser  execution") && listed.stdout.contains("1/2"), "{listed}");
    assert_eq!(env.run_thru_json(&["resume", "list"])[0]["project_id"], "01-parser");
    env.write_file(format!("{WORKSTREAM_FOLDER}/resume-context.md"), [0xff, 0xfe]);
    assert!(
        env.run_thru(&["resume", "list"]).assert_ok().stdout.contains("01-parser"),
        "a damaged one is listed too"
    );
    let empty = TestEnv::with_root();
    assert!(empty.run_thru(&["resume", "list"]).assert_ok().stderr.contains("`thru resume new 01-name`"));
    assert!(empty.run_thru(&["loop", "status"]).assert_ok().stderr.contains("no loops yet"));
    empty.run_thru(&["gate", "expect", "review", "--critical", "review-a.md"]).assert_ok();
    assert_eq!(empty.run_thru(&["gate", "status"]).stdout, empty.run_thru(&["gate", "check"]).stdout);
}

#[test]
fn the_pickup_command_reads_well_without_an_argument() {
    let env = repository_with_claude_code();
    env.run_thru(&["install", "claude-code"]).assert_ok();
    let text = fs::read_to_string(env.project_folder().join(".claude/commands/pickup.md")).unwrap();
    assert!(!text.contains("`$ARGUMENTS`"), "{text}");
}

#[test]
fn pickup_says_that_a_claim_is_over() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    start_session(&env, "s2");
    let id = write_packet(&env);
    claim_packet(&env, &id, "s2", &["--claim"]).assert_ok();
    assert!(env.run_thru(&["pickup", &id]).assert_ok().stdout.contains("Claimed by s2 at"));
    end_session(&env, "s2");
    let picked = env.run_thru(&["pickup", &id]).assert_ok().stdout;
    assert!(
        picked.contains("Free again: session s2 claimed it at") && !picked.contains("Claimed by"),
        "{picked}"
    );
    assert_eq!(env.run_thru_json(&["pickup", &id])["claim_is_over"], true);
}

#[test]
fn status_says_to_wire_again_after_everything_was_uninstalled() {
    let env = repository_with_claude_code();
    env.run_thru(&["init"]).assert_ok();
    start_session(&env, "s1");
    env.run_thru(&["gate", "expect", "review", "--critical", "review-a.md"]).assert_ok();
    assert!(env.run_thru(&["status"]).assert_ok().stdout.contains("Next: `thru gate check`"));
    env.run_thru(&["uninstall", "--all"]).assert_ok();
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(status.contains("Next: `thru init` reinstalls hooks for the harnesses in use"), "{status}");
    assert_eq!(env.run_thru_json(&["status"])["next"], "wire-again");
    // The same holds after a move, although the list of installations contains only the old path.
    let moved = env.base_folder().join("moved");
    fs::rename(env.project_folder(), &moved).unwrap();
    env.thru_call(&["trust", "--moved"]).in_folder(&moved).run().assert_ok();
    assert_eq!(
        env.thru_call(&["status", "--json"]).in_folder(&moved).run().assert_ok().json()["next"],
        "wire-again"
    );
}

/// Where thru was never installed, `thru status` does not suggest an installation, because a plugin of the harness
/// may call thru.
#[test]
fn status_says_nothing_of_wiring_where_thru_was_never_installed() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    env.run_thru(&["gate", "expect", "review", "--critical", "review-a.md"]).assert_ok();
    assert!(env.run_thru(&["status"]).assert_ok().stdout.contains("Next: `thru gate check`"));
}

#[test]
fn a_purpose_that_has_not_begun_does_not_begin_with_what_was_done() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Make the cart apply a discount of 10 %"}));
    report_edit(&env, "s1", "e1", "src/cart.py");
    let ran = json!({"tool_name": "Bash", "tool_use_id": "b1", "tool_input": {"command": "pytest -q"},
        "tool_response": {"stdout": "3 passed in 0.1s", "stderr": "", "interrupted": false}});
    env.fire_event("s1", "PostToolUse", ran);
    let begins = |purpose: &str| {
        env.run_thru(&["handoff", purpose]).assert_ok();
        let packet = env
            .run_thru(&["packet", "show", &purpose.split(' ').next().unwrap().to_lowercase()])
            .assert_ok()
            .stdout;
        packet.contains("Nothing is open: report to the user.")
    };
    assert!(begins("go on"), "the purpose says nothing");
    assert!(!begins("discount of the cart"));
    assert!(!begins("Decimal for all prices"));
    env.fire_event("s1", "Stop", json!({"last_assistant_message": "Done: the discount is applied."}));
    env.run_thru(&["handoff", "Euro instead of dollars"]).assert_ok();
    let packet = env.run_thru(&["packet", "show", "euro"]).assert_ok().stdout;
    assert!(!packet.contains("Nothing is open"), "the purpose is the next request: {packet}");
}

#[test]
fn a_packet_points_at_no_section_that_it_lacks() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    env.write_file("project/src/cart.py", "1");
    env.run_git(&["add", "-A"]);
    env.run_git(&["commit", "-qm", "One"]);
    start_session(&env, "s1");
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Make the cart fast"}));
    report_edit(&env, "s1", "e1", "src/cart.py");
    env.run_thru(&["handoff", "cart"]).assert_ok();
    let packet = env.run_thru(&["packet", "show", "cart"]).assert_ok().stdout;
    assert!(
        packet.contains("1 file edited by the session, not committed: src/cart.py\n")
            && !packet.contains("under Files"),
        "{packet}"
    );
}

#[test]
fn a_traceback_is_shown_as_it_is() {
    let env = TestEnv::with_root();
    env.write_file("project/t.py", "cart\n");
    start_session(&env, "s1");
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Make the cart fast"}));
    let error = "Exit code 1\nTraceback (most recent call last):\n  File \"t.py\", line 1, in <module>\nNameError: <module> cart";
    let call = json!({"tool_name": "Bash", "tool_use_id": "b1", "tool_input": {"command": "python3 t.py"}, "error": error});
    env.fire_event("s1", "PostToolUseFailure", call);
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(brief.contains("<module>") && !brief.contains("<\\module>"), "{brief}");
}

/// A session that was opened only for a handoff has done no work itself, so the packet describes the last session
/// that did any work.
#[test]
fn a_handoff_from_a_fresh_session_is_about_the_work() {
    let env = TestEnv::with_root();
    start_session(&env, "worked");
    env.fire_event("worked", "UserPromptSubmit", json!({"prompt": "Make the cart apply a discount of 10 %"}));
    report_edit(&env, "worked", "e1", "src/cart.py");
    env.fire_event("worked", "Stop", json!({"last_assistant_message": "The discount is applied."}));
    end_session(&env, "worked");
    start_session(&env, "greeted");
    env.fire_event("greeted", "UserPromptSubmit", json!({"prompt": "Hello, who are you?"}));
    end_session(&env, "greeted");
    start_session(&env, "fresh");
    env.fire_event("fresh", "UserPromptSubmit", json!({"prompt": "/handoff round the discount"}));
    let hand_off = |words: &[&str]| {
        env.thru_call(words).with_variable("CLAUDE_CODE_SESSION_ID", "fresh").run().assert_ok()
    };
    let said = hand_off(&["handoff", "round the discount"]);
    assert!(
        said.stderr.contains(
            "from session worked, the last session that did any work here (session fresh has done nothing)"
        ),
        "{said}"
    );
    let packet = env.run_thru(&["packet", "show"]).assert_ok().stdout;
    assert!(packet.contains("src/cart.py") && packet.contains("session_id: worked"), "{packet}");
    // At a terminal, `thru` guesses the session. It must choose the session that did the work, not a session without
    // tool calls.
    start_session(&env, "asked");
    env.fire_event("asked", "UserPromptSubmit", json!({"prompt": "Where were we with the discount?"}));
    env.fire_event("asked", "Stop", json!({"last_assistant_message": "Hi."}));
    end_session(&env, "asked");
    let guessed = env.run_thru_json(&["handoff", "round"]);
    assert_eq!((&guessed["session"], &guessed["instead_of"]), (&json!("worked"), &json!("asked")));
    // A session that the user names is used even if it did no work. After the user's prompt below, the session `fresh`
    // has a conversation, which counts as work.
    assert_eq!(env.run_thru_json(&["handoff", "round", "--session", "fresh"])["session"], "fresh");
    env.fire_event("fresh", "UserPromptSubmit", json!({"prompt": "Let us round half up."}));
    let own = hand_off(&["handoff", "rounding", "--json"]).json();
    assert_eq!((&own["session"], &own["instead_of"]), (&json!("fresh"), &Value::Null));
}

#[test]
fn a_loop_is_not_offered_a_session_that_has_ended() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    end_session(&env, "s1");
    let none = env.run_thru(&["loop", "start", "Go on", "--promise", "DONE"]).assert_exit_code(2);
    assert!(none.stderr.contains("use --next") && !none.stderr.contains("s1"), "{none}");
    let named = env.run_thru(&["loop", "start", "Go on", "--promise", "DONE", "--session", "s1"]).assert_ok();
    assert!(
        named.stderr.contains("session s1 has ended; the loop continues if the session is resumed"),
        "{named}"
    );
    start_session(&env, "s2");
    let one = env.run_thru(&["loop", "start", "Go on", "--promise", "DONE"]).assert_exit_code(2);
    assert!(one.stderr.contains("the newest that has not ended is s2"), "{one}");
}

#[test]
fn words_that_announce_more_are_not_called_work_and_are_told_whole() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Please keep the function pure."}));
    let words = "Will do. I will keep the function pure and use Decimal in the cart only.";
    env.fire_event("s1", "Stop", json!({"last_assistant_message": words}));
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(brief.contains(&format!("\n- Last said: “{words}”")), "{brief}");
}

#[test]
fn the_brief_of_a_session_that_has_ended_does_not_say_that_it_was_compacted() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Make the cart fast"}));
    env.fire_event("s1", "PreCompact", json!({"trigger": "manual"}));
    env.fire_event("s1", "SessionStart", json!({"source": "compact"}));
    assert!(env.run_thru(&["brief", "--event", "compact"]).assert_ok().stdout.contains("(s1) was compacted"));
    end_session(&env, "s1");
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(brief.contains("session s1, as of") && !brief.contains("compacted"), "{brief}");
}

#[test]
fn the_journal_names_the_error_of_a_traceback_and_shows_a_summary_without_its_tags() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    let error = "Exit code 1\nTraceback (most recent call last):\n  File \"t.py\", line 4, in <module>\n    assert got == 90, f\"expected 90, got {got}\"\nAssertionError: expected 90, got 0.0";
    let call = json!({"tool_name": "Bash", "tool_use_id": "b1", "tool_input": {"command": "python3 t.py"}, "error": error});
    env.fire_event("s1", "PostToolUseFailure", call);
    let journal = env.run_thru(&["journal"]).assert_ok().stdout;
    assert!(journal.contains("python3 t.py  failed (1) AssertionError: expected 90, got 0.0"), "{journal}");
    let summary = "<analysis>thinking</analysis>\n<summary>\n1. The cart is fast.\n</summary>";
    env.fire_event("s1", "SubagentStop", json!({"agent_type": "", "last_assistant_message": summary}));
    let journal = env.run_thru(&["journal"]).assert_ok().stdout;
    assert!(journal.contains("summary         1. The cart is fast."), "{journal}");
}

#[test]
fn what_is_printed_about_files_and_hooks_is_short() {
    let env = repository_with_claude_code();
    let made = env.run_thru(&["init"]).assert_ok().stdout;
    assert!(made.contains("/.claude/commands/{thru-context,handoff,pickup,packet,"), "{made}");
    let doctor = env.run_thru(&["doctor"]).stdout;
    assert!(doctor.contains("no hook has run yet") && !doctor.contains("never fired"), "{doctor}");
    start_session(&env, "s1");
    let doctor = env.run_thru(&["doctor"]).stdout;
    assert!(doctor.contains("wired, but never fired here: UserPromptSubmit"), "{doctor}");
}

/// A summary of a few words does not contain the first request, so the brief must contain it.
#[test]
fn a_short_summary_does_not_hide_the_first_request() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    let requests = [
        "Implement class Coupon in coupon.py with code and percentage. Percentages must be integers from 1 to 90.",
        "Now write a test: codes are case-insensitive",
        "what is changed in git right now?",
    ];
    for (at, request) in requests.iter().enumerate() {
        env.fire_event("s1", "UserPromptSubmit", json!({"prompt": request}));
        report_edit(&env, "s1", &format!("e{at}"), &format!("a{at}.py"));
        env.fire_event("s1", "Stop", json!({"last_assistant_message": "Two files are changed."}));
    }
    env.write_file("project/summary.txt", "The user works on a shop.");
    let brief = env.run_thru(&["brief", "--summary", "summary.txt"]).assert_ok().stdout;
    assert!(brief.contains("integers from 1 to 90"), "{brief}");
}
