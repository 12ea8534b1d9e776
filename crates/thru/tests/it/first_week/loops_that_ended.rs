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

/// A paused loop may be resumed, so it is not reported as ended. A loop that has ended is not reported as paused.
#[test]
fn a_paused_loop_is_told_with_its_reason_and_an_ended_loop_with_its_end() {
    let agent_says = |env: &TestEnv, message: &str| stop_at(env, "19:30:04", "s1", message);
    for (options, ends, expected, resumes) in [
        (&[][..], None, "is paused: `thru loop pause` paused it; ", "` continues it"),
        (
            &["--blocked-promise", "STUCK"],
            Some("I need a key. <promise>STUCK</promise>"),
            "is paused: the agent said “STUCK”; ",
            "` continues it",
        ),
        (
            &["--max-iterations", "1"],
            Some("Half is done."),
            "is paused: it has used up its 1 iteration; ",
            " --max-iterations N` gives it more",
        ),
        (&[], Some("<promise>DONE</promise>"), "has ended: the agent gave its promise. ", ""),
        (
            &["--validator", "true"],
            Some("<promise>DONE</promise>"),
            "has ended: the agent gave its promise, and its validators passed. ",
            "",
        ),
    ] {
        let env = TestEnv::with_root();
        let words = [&["loop", "start", PROMPT, "--promise", "DONE", "--next"], options].concat();
        env.run_thru(&words).assert_ok();
        let id = env.run_thru_json(&["loop", "list"])["loops"][0]["id"].as_str().unwrap().to_owned();
        start_at(&env, "19:30:00", "s1");
        ask_at(&env, "19:30:01", "s1", "go");
        edit_at(&env, "19:30:02", "s1", "src/infer.js");
        if ends.is_none() {
            thru_at(&env, "19:30:03", "s1", &["loop", "pause"]);
        }
        agent_says(&env, ends.unwrap_or("Half of the types are inferred."));
        let packet = thru_at(&env, "19:30:05", "s1", &["handoff", "go on", "--json"]).json();
        let packet = env.run_thru(&["packet", "show", packet["id"].as_str().unwrap()]).assert_ok().stdout;
        end_at(&env, "19:30:06", "s1");
        let told = start_at(&env, "19:31:00", "s2");
        let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
        let command = format!("`thru loop resume {id}");
        for text in [packet, told, picked] {
            assert!(
                text.contains(PROMPT) && text.contains(expected.trim_end_matches(". ")),
                "{expected}: {text}"
            );
            assert_eq!(text.contains(&command), !resumes.is_empty(), "{expected}: {text}");
            assert!(text.contains(resumes), "{expected}: {text}");
            assert!(text.contains("has ended") != text.contains("is paused"), "{expected}: {text}");
        }
    }
}
