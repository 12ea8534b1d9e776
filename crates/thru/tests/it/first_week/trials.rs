//! What people complained about who tried thru with the README alone.

use super::*;

const MANIFEST: &str = "project/.agent/context/workstreams/01-parser";

fn workstream() -> TestEnv {
    let env = TestEnv::rooted();
    env.write(format!("{MANIFEST}/steps.md"), "- [x] lexer\n- [ ] parser\n");
    env.thru(&["resume", "new", "01-parser", "--phase", "execution"]).ok();
    env
}

fn edit(env: &TestEnv, session: &str, id: &str, path: &str) {
    env.write(format!("project/{path}"), id);
    let input = json!({"file_path": env.project().join(path)});
    env.fire(session, "PostToolUse", json!({"tool_name": "Edit", "tool_use_id": id, "tool_input": input}));
}

#[test]
fn no_workstream_is_given_to_a_session_that_has_ended() {
    let env = workstream();
    start(&env, "s1");
    end(&env, "s1");
    for words in [&["resume", "use", "01"][..], &["resume", "use", "01", "--session", "s1"]] {
        let refused = env.thru(words).exits(15);
        assert!(refused.stderr.contains("session s1 has ended"), "{refused}");
    }
    start(&env, "s2");
    start(&env, "s3");
    end(&env, "s3");
    assert_eq!(env.json(&["resume", "use", "01"])["session"], "s2", "the newest that is open");
}

#[test]
fn workstreams_loops_and_outputs_are_listed_by_the_words_that_people_type() {
    let env = workstream();
    let listed = env.thru(&["resume", "list"]).ok();
    assert!(listed.stdout.contains("01-parser  execution") && listed.stdout.contains("1/2"), "{listed}");
    assert_eq!(env.json(&["resume", "list"])[0]["project_id"], "01-parser");
    env.write(format!("{MANIFEST}/resume-context.md"), [0xff, 0xfe]);
    assert!(env.thru(&["resume", "list"]).ok().stdout.contains("01-parser"), "a damaged one is listed too");
    let empty = TestEnv::rooted();
    assert!(empty.thru(&["resume", "list"]).ok().stderr.contains("`thru resume new 01-name`"));
    assert!(empty.thru(&["loop", "status"]).ok().stderr.contains("no loops yet"));
    empty.thru(&["gate", "expect", "review", "--critical", "review-a.md"]).ok();
    assert_eq!(empty.thru(&["gate", "status"]).stdout, empty.thru(&["gate", "check"]).stdout);
}

#[test]
fn the_pickup_command_reads_well_without_an_argument() {
    let env = repository();
    env.thru(&["install", "claude-code"]).ok();
    let text = fs::read_to_string(env.project().join(".claude/commands/pickup.md")).unwrap();
    assert!(!text.contains("`$ARGUMENTS`"), "{text}");
}

#[test]
fn pickup_says_that_a_claim_is_over() {
    let env = TestEnv::rooted();
    start(&env, "s1");
    start(&env, "s2");
    let id = packet(&env);
    claim(&env, &id, "s2", &["--claim"]).ok();
    assert!(env.thru(&["pickup", &id]).ok().stdout.contains("Claimed by s2 at"));
    end(&env, "s2");
    let picked = env.thru(&["pickup", &id]).ok().stdout;
    assert!(
        picked.contains("Free again: session s2 claimed it at") && !picked.contains("Claimed by"),
        "{picked}"
    );
    assert_eq!(env.json(&["pickup", &id])["claim_is_over"], true);
}

#[test]
fn status_says_to_wire_again_after_everything_was_uninstalled() {
    let env = repository();
    env.thru(&["init"]).ok();
    start(&env, "s1");
    env.thru(&["gate", "expect", "review", "--critical", "review-a.md"]).ok();
    assert!(env.thru(&["status"]).ok().stdout.contains("Next: thru gate check"));
    env.thru(&["uninstall", "--all"]).ok();
    let status = env.thru(&["status"]).ok().stdout;
    assert!(status.contains("Next: `thru init` wires the harnesses in use again"), "{status}");
    assert_eq!(env.json(&["status"])["next"], "wire-again");
    // The list of installations has the path from before a move.
    let moved = env.base().join("moved");
    fs::rename(env.project(), &moved).unwrap();
    env.call(&["trust", "--moved"]).dir(&moved).run().ok();
    assert_eq!(env.call(&["status", "--json"]).dir(&moved).run().ok().json()["next"], "wire-again");
}

/// With a plugin of the harness there is no settings file, and nothing to wire.
#[test]
fn status_says_nothing_of_wiring_where_thru_was_never_installed() {
    let env = TestEnv::rooted();
    start(&env, "s1");
    env.thru(&["gate", "expect", "review", "--critical", "review-a.md"]).ok();
    assert!(env.thru(&["status"]).ok().stdout.contains("Next: thru gate check"));
}

#[test]
fn a_purpose_that_has_not_begun_does_not_begin_with_what_was_done() {
    let env = TestEnv::rooted();
    start(&env, "s1");
    env.fire("s1", "UserPromptSubmit", json!({"prompt": "Make the cart apply a discount of 10 %"}));
    edit(&env, "s1", "e1", "src/cart.py");
    let ran = json!({"tool_name": "Bash", "tool_use_id": "b1", "tool_input": {"command": "pytest -q"},
        "tool_response": {"stdout": "3 passed in 0.1s", "stderr": "", "interrupted": false}});
    env.fire("s1", "PostToolUse", ran);
    let begins = |purpose: &str| {
        env.thru(&["handoff", purpose]).ok();
        let packet =
            env.thru(&["packet", "show", &purpose.split(' ').next().unwrap().to_lowercase()]).ok().stdout;
        packet.contains("Begin with: comparing the result with the goal")
    };
    assert!(begins("discount of the cart"));
    assert!(!begins("Decimal for all prices"));
    env.fire("s1", "Stop", json!({"last_assistant_message": "Done: the discount is applied."}));
    env.thru(&["handoff", "Euro instead of dollars"]).ok();
    let packet = env.thru(&["packet", "show", "euro"]).ok().stdout;
    assert!(!packet.contains("Begin with: the user"), "the purpose is the next request: {packet}");
}

#[test]
fn a_packet_points_at_no_section_that_it_lacks() {
    let env = TestEnv::repository();
    env.thru(&["init"]).ok();
    env.write("project/src/cart.py", "1");
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "One"]);
    start(&env, "s1");
    env.fire("s1", "UserPromptSubmit", json!({"prompt": "Make the cart fast"}));
    edit(&env, "s1", "e1", "src/cart.py");
    env.thru(&["handoff", "cart"]).ok();
    let packet = env.thru(&["packet", "show", "cart"]).ok().stdout;
    assert!(packet.contains("nothing committed of 1 edited file") && !packet.contains("under Files"), "{packet}");
}

#[test]
fn a_traceback_is_shown_as_it_is() {
    let env = TestEnv::rooted();
    start(&env, "s1");
    env.fire("s1", "UserPromptSubmit", json!({"prompt": "Make the cart fast"}));
    let error = "Exit code 1\nTraceback (most recent call last):\n  File \"t.py\", line 1, in <module>\nNameError: <module> cart";
    let call = json!({"tool_name": "Bash", "tool_use_id": "b1", "tool_input": {"command": "python3 t.py"}, "error": error});
    env.fire("s1", "PostToolUseFailure", call);
    let brief = env.thru(&["brief"]).ok().stdout;
    assert!(brief.contains("<module>") && !brief.contains("<\\module>"), "{brief}");
}

/// A session that was opened only to hand the work over has nothing to report itself.
#[test]
fn a_handoff_from_a_fresh_session_is_about_the_work() {
    let env = TestEnv::rooted();
    start(&env, "worked");
    env.fire("worked", "UserPromptSubmit", json!({"prompt": "Make the cart apply a discount of 10 %"}));
    edit(&env, "worked", "e1", "src/cart.py");
    env.fire("worked", "Stop", json!({"last_assistant_message": "The discount is applied."}));
    end(&env, "worked");
    start(&env, "fresh");
    env.fire("fresh", "UserPromptSubmit", json!({"prompt": "/handoff round the discount"}));
    let hand_off = |words: &[&str]| env.call(words).var("CLAUDE_CODE_SESSION_ID", "fresh").run().ok();
    let said = hand_off(&["handoff", "round the discount"]);
    assert!(
        said.stderr.contains("from session worked, the last that did work here (fresh has done nothing)"),
        "{said}"
    );
    let packet = env.thru(&["packet", "show"]).ok().stdout;
    assert!(packet.contains("src/cart.py") && packet.contains("session_id: worked"), "{packet}");
    // A person who names a session means it, and words alone are work too.
    assert_eq!(env.json(&["handoff", "round", "--session", "fresh"])["session"], "fresh");
    env.fire("fresh", "UserPromptSubmit", json!({"prompt": "Let us round half up."}));
    let own = hand_off(&["handoff", "rounding", "--json"]).json();
    assert_eq!((&own["session"], &own["instead_of"]), (&json!("fresh"), &Value::Null));
}

#[test]
fn a_loop_is_not_offered_a_session_that_has_ended() {
    let env = TestEnv::rooted();
    start(&env, "s1");
    end(&env, "s1");
    let none = env.thru(&["loop", "start", "Go on", "--promise", "DONE"]).exits(2);
    assert!(none.stderr.contains("use --next") && !none.stderr.contains("s1"), "{none}");
    let named = env.thru(&["loop", "start", "Go on", "--promise", "DONE", "--session", "s1"]).ok();
    assert!(
        named.stderr.contains("session s1 has ended; the loop goes on if the session is resumed"),
        "{named}"
    );
    start(&env, "s2");
    let one = env.thru(&["loop", "start", "Go on", "--promise", "DONE"]).exits(2);
    assert!(one.stderr.contains("the newest that has not ended is s2"), "{one}");
}

#[test]
fn words_that_announce_more_are_not_called_work_and_are_told_whole() {
    let env = TestEnv::rooted();
    start(&env, "s1");
    env.fire("s1", "UserPromptSubmit", json!({"prompt": "Please keep the function pure."}));
    let words = "Will do. I will keep the function pure and use Decimal in the cart only.";
    env.fire("s1", "Stop", json!({"last_assistant_message": words}));
    let brief = env.thru(&["brief"]).ok().stdout;
    assert!(brief.contains(&format!("\n- Last said: “{words}”")), "{brief}");
}

#[test]
fn the_brief_of_a_session_that_has_ended_does_not_say_that_it_was_compacted() {
    let env = TestEnv::rooted();
    start(&env, "s1");
    env.fire("s1", "UserPromptSubmit", json!({"prompt": "Make the cart fast"}));
    env.fire("s1", "PreCompact", json!({"trigger": "manual"}));
    env.fire("s1", "SessionStart", json!({"source": "compact"}));
    assert!(env.thru(&["brief"]).ok().stdout.contains("(s1) was compacted"));
    end(&env, "s1");
    let brief = env.thru(&["brief"]).ok().stdout;
    assert!(brief.contains("(s1), as it stood at") && !brief.contains("compacted"), "{brief}");
}

#[test]
fn the_journal_names_the_error_of_a_traceback_and_shows_a_summary_without_its_tags() {
    let env = TestEnv::rooted();
    start(&env, "s1");
    let error = "Exit code 1\nTraceback (most recent call last):\n  File \"t.py\", line 4, in <module>\n    assert got == 90, f\"expected 90, got {got}\"\nAssertionError: expected 90, got 0.0";
    let call = json!({"tool_name": "Bash", "tool_use_id": "b1", "tool_input": {"command": "python3 t.py"}, "error": error});
    env.fire("s1", "PostToolUseFailure", call);
    let journal = env.thru(&["journal"]).ok().stdout;
    assert!(journal.contains("python3 t.py  failed (1) AssertionError: expected 90, got 0.0"), "{journal}");
    let summary = "<analysis>thinking</analysis>\n<summary>\n1. The cart is fast.\n</summary>";
    env.fire("s1", "SubagentStop", json!({"agent_type": "", "last_assistant_message": summary}));
    let journal = env.thru(&["journal"]).ok().stdout;
    assert!(journal.contains("summary         1. The cart is fast."), "{journal}");
}

#[test]
fn what_is_printed_about_files_and_hooks_is_short() {
    let env = repository();
    let made = env.thru(&["init"]).ok().stdout;
    assert!(made.contains("/.claude/commands/{thru-context,handoff,pickup,packet,"), "{made}");
    let doctor = env.thru(&["doctor"]).stdout;
    assert!(doctor.contains("no hook has run yet") && !doctor.contains("never fired"), "{doctor}");
    start(&env, "s1");
    let doctor = env.thru(&["doctor"]).stdout;
    assert!(doctor.contains("wired and never fired here: UserPromptSubmit"), "{doctor}");
}
