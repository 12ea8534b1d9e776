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
    assert!(packet.contains("only in the working tree") && !packet.contains("under Files"), "{packet}");
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
