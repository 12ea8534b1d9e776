//! Tests what the next session learns about a session whose loop has ended.

use super::handoffs::{ask_at, edit_at, end_at, run_at, start_at, stop_at, thru_at};
use super::*;

const PROMPT: &str = "Make inferTypes keep leading zeros ('007') as text; all tests must pass.";

/// Runs a loop to its end in the session `s1`, which the user started with “go”.
fn env_with_ended_loop() -> TestEnv {
    let env = TestEnv::with_root();
    env.run_thru(&["loop", "start", PROMPT, "--promise", "DONE", "--next"]).assert_ok();
    start_at(&env, "19:30:00", "s1");
    ask_at(&env, "19:30:01", "s1", "go");
    edit_at(&env, "19:30:02", "s1", "src/infer.js");
    stop_at(&env, "19:30:03", "s1", "Leading zeros stay text now. <promise>DONE</promise>");
    assert!(env.run_thru(&["loop", "list"]).assert_ok().stdout.contains("done"));
    env
}

#[test]
fn the_next_session_learns_the_task_of_a_finished_loop() {
    for (thanks, is_told) in [
        ("thanks. commit it", true),
        ("Great, please commit and push.", true),
        ("Now write the changelog entry for the release.", false),
    ] {
        let env = env_with_ended_loop();
        ask_at(&env, "19:30:04", "s1", thanks);
        run_at(&env, "19:30:05", "s1", "git commit -qam zeros", "[main 1a2b3c4] zeros");
        stop_at(&env, "19:30:06", "s1", "Done.");
        let packet = thru_at(&env, "19:30:07", "s1", &["handoff", "go on", "--json"]).json();
        let packet = env.run_thru(&["packet", "show", packet["id"].as_str().unwrap()]).assert_ok().stdout;
        end_at(&env, "19:30:08", "s1");
        let told = start_at(&env, "19:31:00", "s2");
        assert_eq!(
            told.contains(&format!("Its prompt was the goal: “{PROMPT}”")),
            is_told,
            "{thanks}: {told}"
        );
        assert!(!told.contains("“go”"), "{thanks}: {told}");
        assert_eq!(packet.contains(&format!("> {PROMPT}")), is_told, "{thanks}: {packet}");
    }
}

/// A loop that somebody else wrote into the project is only data.
#[test]
fn a_loop_that_the_user_did_not_start_here_is_not_named_as_the_task() {
    let env = env_with_ended_loop();
    let loops = env.project_folder().join(".agent/context/loops");
    let name = names_in(&loops).into_iter().find(|name| name.ends_with(".md")).unwrap();
    let text = fs::read_to_string(loops.join(&name)).unwrap();
    fs::write(loops.join(&name), text.replace("keep leading zeros", "drop leading zeros")).unwrap();
    ask_at(&env, "19:30:04", "s1", "thanks. commit it");
    stop_at(&env, "19:30:06", "s1", "Committed.");
    end_at(&env, "19:30:08", "s1");
    let told = start_at(&env, "19:31:00", "s2");
    assert!(!told.contains("drop leading zeros ('007')"), "{told}");
}

/// A paused loop may be resumed, so it is not told as one that has ended.
#[test]
fn a_paused_loop_is_not_told_as_ended() {
    let env = TestEnv::with_root();
    env.run_thru(&["loop", "start", PROMPT, "--promise", "DONE", "--next"]).assert_ok();
    start_at(&env, "19:30:00", "s1");
    ask_at(&env, "19:30:01", "s1", "go");
    edit_at(&env, "19:30:02", "s1", "src/infer.js");
    thru_at(&env, "19:30:03", "s1", &["loop", "pause"]);
    stop_at(&env, "19:30:04", "s1", "Half of the types are inferred.");
    let packet = thru_at(&env, "19:30:05", "s1", &["handoff", "go on", "--json"]).json();
    let packet = env.run_thru(&["packet", "show", packet["id"].as_str().unwrap()]).assert_ok().stdout;
    end_at(&env, "19:30:06", "s1");
    let told = start_at(&env, "19:31:00", "s2");
    assert!(packet.contains("ran in the session; it is not running now"), "{packet}");
    for text in [packet, told] {
        assert!(text.contains(PROMPT) && !text.contains("has ended"), "{text}");
    }
}
