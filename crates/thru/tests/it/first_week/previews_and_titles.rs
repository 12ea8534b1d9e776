//! Tests previews of briefs, the titles of sessions, and the way back to a killed session.

use super::*;
use crate::packet_sweeps::mark_process_dead;

pub(super) fn ask(env: &TestEnv, session: &str, prompt: &str) {
    env.fire_event(session, "UserPromptSubmit", json!({"prompt": prompt}));
}

pub(super) fn edit_file(env: &TestEnv, session: &str, id: &str, path: &str) {
    let input = json!({"file_path": env.project_folder().join(path)});
    let call = json!({"tool_name": "Edit", "tool_use_id": id, "tool_input": input});
    env.fire_event(session, "PostToolUse", call);
}

pub(super) fn run_command(env: &TestEnv, session: &str, id: &str, command: &str) {
    let response = json!({"stdout": "", "stderr": "", "interrupted": false});
    let input = json!({"command": command});
    let call =
        json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": input, "tool_response": response});
    env.fire_event(session, "PostToolUse", call);
}

pub(super) fn stop(env: &TestEnv, session: &str, message: &str) {
    env.fire_event(session, "Stop", json!({"last_assistant_message": message}));
}

/// Creates a project with one session. A test failed in the session, and then the session was killed.
fn env_with_killed_session() -> TestEnv {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    start_session(&env, "s1");
    ask(&env, "s1", "Make the cart apply a discount of 10 %");
    edit_file(&env, "s1", "e1", "cart.py");
    let failed = json!({"tool_name": "Bash", "tool_use_id": "b1", "tool_input": {"command": "python3 -m unittest"},
        "error": "Exit code 1\nFAIL: test_cart (test_cart.T)\nAssertionError: 90 != 100\n\nRan 1 test in 0.000s\n\nFAILED (failures=1)"});
    env.fire_event("s1", "PostToolUseFailure", failed);
    mark_process_dead(&env);
    env
}

#[test]
fn a_preview_says_that_its_packet_is_not_written_yet() {
    let env = env_with_killed_session();
    let preview = env.run_thru(&["brief", "--event", "startup"]).assert_ok();
    let json = env.run_thru_json(&["brief", "--event", "startup"]);
    let packet = json["unwritten_packet"].as_str().unwrap();
    assert!(preview.stdout.contains(&format!("crashed; `thru pickup {packet} --claim`")), "{preview}");
    let note = format!(
        "packet {packet} has not been written yet; the next session start or `thru sweep` will write it"
    );
    assert!(preview.stderr.contains(&note), "{preview}");
    let missing = env.run_thru(&["pickup", packet]).assert_exit_code(10);
    assert!(missing.stderr.contains("`thru sweep` writes a packet for it"), "{missing}");
    env.run_thru(&["sweep"]).assert_ok();
    env.run_thru(&["pickup", packet]).assert_ok();
    let preview = env.run_thru(&["brief", "--event", "startup"]).assert_ok();
    assert!(preview.stdout.contains(packet) && !preview.stderr.contains("not written"), "{preview}");
}

#[test]
fn a_preview_tells_the_loop_that_waits_for_the_next_session() {
    for with_work in [true, false] {
        let env = TestEnv::with_root();
        if with_work {
            start_session(&env, "s1");
            ask(&env, "s1", "Make the lexer fast");
            edit_file(&env, "s1", "e1", "lexer.rs");
            end_session(&env, "s1");
        }
        env.run_thru(&["loop", "start", "Write the docs", "--promise", "DONE", "--next"]).assert_ok();
        let before = env.file_tree();
        let preview = env.run_thru_json(&["brief", "--event", "startup"]);
        assert!(before.changes_to(&env.file_tree()).is_empty());
        let preview = preview["text"].as_str().unwrap_or_default().to_owned();
        assert!(preview.contains("for the next session, which is this one"), "{preview}");
        let start = env.fire_event("s2", "SessionStart", json!({"source": "startup"}));
        assert_eq!(preview, start.context_for_model());
        let later = env.run_thru(&["brief", "--event", "startup"]);
        assert!(!later.stdout.contains("for the next session"), "s2 has the loop now: {later}");
    }
}

#[test]
fn the_answer_to_a_handoff_is_not_the_last_message_about_the_work() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    ask(&env, "s1", "Make the cart apply a discount of 10 %");
    edit_file(&env, "s1", "e1", "cart.py");
    stop(&env, "s1", "The discount is applied. Rounding is still missing.");
    ask(&env, "s1", "/handoff round the discount");
    run_command(&env, "s1", "h1", "/usr/bin/thru handoff 'round the discount'");
    env.run_thru(&["handoff", "round the discount", "--session", "s1"]).assert_ok();
    run_command(&env, "s1", "h2", "cat .agent/context/packets/x.md");
    stop(&env, "s1", "Packet 20261115-round is written; thru pickup continues from it.");
    let shown = |words: &[&str]| env.run_thru(words).assert_ok().stdout;
    env.run_thru(&["handoff", "round it", "--session", "s1"]).assert_ok();
    for text in
        [shown(&["brief"]), shown(&["brief", "--event", "startup"]), shown(&["packet", "show", "round-it"])]
    {
        assert!(text.contains("Rounding is still missing."), "{text}");
        assert!(!text.contains("is written; thru pickup") && !text.contains("In progress."), "{text}");
    }
    // After the handoff, the session continues with further work.
    edit_file(&env, "s1", "e2", "cart.py");
    stop(&env, "s1", "Rounding is there now, half up.");
    let brief = shown(&["brief"]);
    assert!(brief.contains("Rounding is there now"), "{brief}");
    // The agent asks a question before it writes the packet.
    ask(&env, "s1", "/handoff");
    stop(&env, "s1", "Half is done. Should tax.py change too?");
    assert!(shown(&["brief"]).contains("Should tax.py change too?"));
    ask(&env, "s1", "/handoff");
    run_command(&env, "s1", "h3", "thru handoff tax");
    stop(&env, "s1", "Another packet is written.");
    assert!(!shown(&["brief"]).contains("Another packet"));
    ask(&env, "s1", "Is it half up or half even?");
    stop(&env, "s1", "It is half up, in cart.py.");
    assert!(shown(&["brief"]).contains("It is half up, in cart.py."));
}

#[test]
fn a_session_that_began_with_a_command_has_a_title() {
    let env = TestEnv::with_root();
    for (session, prompts, title) in [
        ("s1", &["/pickup discount"][..], "discount"),
        ("s2", &["/clear", "/handoff finish the cart"], "finish the cart"),
        ("s3", &["/recover"], "/recover"),
        ("s4", &["/pickup discount", "Round the discount half up"], "Round the discount half up"),
    ] {
        start_session(&env, session);
        prompts.iter().for_each(|prompt| ask(&env, session, prompt));
        let listed = env.run_thru_json(&["journal", "--list"]);
        let row = listed.as_array().unwrap().iter().find(|row| row["session"] == session).unwrap();
        assert_eq!(row["title"], title, "{session}");
    }
}

#[test]
fn the_way_back_to_a_killed_session_is_clear() {
    let env = env_with_killed_session();
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(status.contains("crashed      1 session; `thru sweep` writes a packet for it\n"), "{status}");
    assert!(status.contains("\nNext: `thru sweep` saves the work of a crashed session"), "{status}");
    for words in [&["pickup"][..], &["packet", "show"]] {
        let none = env.run_thru(words).assert_exit_code(10);
        assert!(
            none.stderr.contains("a session crashed here: `thru sweep` writes a packet for it"),
            "{none}"
        );
    }
    env.run_thru(&["sweep"]).assert_ok();
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(!status.contains("crashed") && status.contains("\nNext: `thru pickup 2026"), "{status}");
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(!picked.contains("Goal: go on"), "{picked}");
    assert!(picked.contains("\nGoal: The user asked, 2026-11-15T19:22:00Z:\n> Make the cart"), "{picked}");
    assert!(picked.contains("Begin with: the failing command `python3 -m unittest`"), "{picked}");
}
