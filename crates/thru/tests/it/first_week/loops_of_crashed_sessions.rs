//! Tests what is said about a loop whose session has crashed or ended.

use super::handoffs::{ask_at, edit_at, end_at, fire_at, start_at, stop_at, thru_at};
use super::*;
use crate::packet_sweeps::mark_session_dead;

const PROMPT: &str = "Make inferTypes keep leading zeros ('007') as text; all tests must pass.";

/// Runs a loop in the session `s1` and returns the loop's id.
fn loop_in_session(env: &TestEnv) -> String {
    env.run_thru(&["loop", "start", PROMPT, "--promise", "DONE", "--next"]).assert_ok();
    start_at(env, "19:30:00", "s1");
    ask_at(env, "19:30:01", "s1", "go");
    edit_at(env, "19:30:02", "s1", "src/infer.js");
    env.run_thru_json(&["loop", "list"])["loops"][0]["id"].as_str().unwrap().to_owned()
}

/// Asserts that the text says that the loop is not running. The text must also name the command that gives the loop
/// to another session.
fn assert_left(text: &str, id: &str, command: &str) {
    assert!(text.contains(command), "{command}: {text}");
    let says = text.contains("not running") && (text.contains("crashed") || text.contains("over"));
    assert!(says && text.contains(id), "{text}");
}

#[test]
fn a_crashed_session_leaves_its_loop_to_be_given_on() {
    let env = TestEnv::with_root();
    let id = loop_in_session(&env);
    let (here, next) = (format!("`thru loop activate {id}`"), format!("`thru loop activate {id} --next`"));
    let running = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(!running.contains("not running  "), "{running}");
    mark_session_dead(&env, "s1");
    for words in [&["status"][..], &["brief"], &["loop", "list"], &["loop", "show"], &["loop", "log"]] {
        let said = env.run_thru(words).assert_ok();
        assert_left(&format!("{}{}", said.stdout, said.stderr), &id, &next);
    }
    assert_eq!(env.run_thru_json(&["loop", "list"])["loops"][0]["session_end"], "crashed");
    env.run_thru(&["sweep"]).assert_ok();
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(status.contains(&format!("Next: {next} gives the loop to the next session")), "{status}");
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert_left(&picked, &id, &here);
    assert_left(&picked, &id, &next);
    assert!(!picked.contains("loop that runs in the session"), "{picked}");

    let told = start_at(&env, "19:31:00", "s2");
    assert_left(&told, &id, &format!("If the user wants it to go on, {here} gives it to this session."));
    assert!(told.contains(&format!("Its prompt was the goal: “{PROMPT}”")), "{told}");
    assert_left(
        &thru_at(&env, "19:31:01", "s2", &["status"]).stdout,
        &id,
        &format!("{here} gives the loop to this"),
    );
    assert!(status_line(&env, "s2").contains("loop 1/30 not running"), "{}", status_line(&env, "s2"));

    let moved = thru_at(&env, "19:31:02", "s2", &["loop", "activate", &id]);
    assert!(moved.stdout.contains("session s2") && !moved.stdout.contains("crashed"), "{moved}");
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(!status.contains("not running  "), "{status}");
    assert!(
        status_line(&env, "s2").contains("loop 1/30") && !status_line(&env, "s2").contains("not running")
    );
}

#[test]
fn a_loop_left_by_a_crashed_session_goes_to_the_next_session() {
    let env = TestEnv::with_root();
    let id = loop_in_session(&env);
    mark_session_dead(&env, "s1");
    // Without --next, the loop would stay with the session that is gone.
    let stays = env.run_thru(&["loop", "activate", &id]).assert_ok();
    assert!(stays.stderr.contains("session s1 has crashed") && stays.stderr.contains("--next"), "{stays}");
    env.run_thru(&["loop", "activate", &id, "--next"]).assert_ok();
    let told = start_at(&env, "19:31:00", "s2");
    assert!(told.contains("the user started loop") && !told.contains("not running"), "{told}");
    assert_eq!(env.run_thru_json(&["loop", "list"])["loops"][0]["session"], "s2");
}

#[test]
fn a_session_that_ended_keeps_its_loop_until_it_is_resumed() {
    let env = TestEnv::with_root();
    let id = loop_in_session(&env);
    end_at(&env, "19:30:05", "s1");
    let listed = env.run_thru(&["loop", "list"]).assert_ok();
    assert!(
        listed.stdout.contains("active (not running)") && listed.stderr.contains("s1 has ended"),
        "{listed}"
    );
    let told = fire_at(&env, "19:31:00", "s1", "SessionStart", json!({"source": "resume"}));
    assert!(!told.contains("not running"), "{told}");
    let listed = env.run_thru(&["loop", "list"]).assert_ok();
    assert!(listed.stdout.contains(&format!("▶ {id}")) && listed.stderr.is_empty(), "{listed}");
}

fn status_line(env: &TestEnv, session: &str) -> String {
    let payload = json!({"session_id": session, "workspace": {"current_dir": env.project_folder()}});
    env.thru_call(&["statusline"]).with_stdin(payload.to_string()).run().stdout
}

/// Lets session `s2` take the loop over and stop with this message. If the message contains no promise, the loop is
/// paused first. Returns the texts that would offer an open packet: the output of `thru sweep` and of `thru status`,
/// and what a new session is told.
fn texts_after_take_over(env: &TestEnv, id: &str, message: &str) -> [String; 3] {
    start_at(env, "19:31:00", "s2");
    thru_at(env, "19:31:01", "s2", &["loop", "activate", id]);
    ask_at(env, "19:31:02", "s2", "go");
    edit_at(env, "19:31:03", "s2", "src/infer.js");
    if !message.contains("<promise>") {
        thru_at(env, "19:31:04", "s2", &["loop", "pause"]);
    }
    stop_at(env, "19:31:04", "s2", message);
    end_at(env, "19:31:05", "s2");
    let swept = env.run_thru(&["sweep"]).assert_ok().stdout;
    [swept, env.run_thru(&["status"]).assert_ok().stdout, start_at(env, "19:32:00", "s3")]
}

fn offers_work(text: &str) -> bool {
    text.contains("thru pickup") || text.contains("the work on src/infer.js")
}

#[test]
fn a_finished_loop_leaves_no_packet_of_the_crashed_session_on_offer() {
    let done = "Leading zeros stay text now. <promise>DONE</promise>";
    // The crashed session is swept either before or after the loop is taken over.
    for is_swept in [true, false] {
        let env = TestEnv::with_root();
        let id = loop_in_session(&env);
        mark_session_dead(&env, "s1");
        if is_swept {
            env.run_thru(&["sweep"]).assert_ok();
        } else {
            env.run_thru(&["loop", "activate", &id, "--next"]).assert_ok();
        }
        for text in texts_after_take_over(&env, &id, done) {
            assert!(!offers_work(&text), "{is_swept}: {text}");
        }
        for packet in env.run_thru_json(&["packet", "list"]).as_array().unwrap() {
            let text = env.run_thru(&["packet", "show", packet["id"].as_str().unwrap()]).assert_ok().stdout;
            assert!(
                text.contains("status: done") && text.contains(&format!("finished_by_loop: {id}")),
                "{text}"
            );
        }
    }
}

#[test]
fn other_packets_of_a_session_that_lost_its_loop_stay_on_offer() {
    // The loop has not finished.
    let env = TestEnv::with_root();
    let id = loop_in_session(&env);
    mark_session_dead(&env, "s1");
    env.run_thru(&["sweep"]).assert_ok();
    let [_, status, _] = texts_after_take_over(&env, &id, "Half of it is done.");
    assert!(offers_work(&status), "{status}");
    // The user asked the crashed session for other work, or the packet was handed over for another purpose.
    for is_asked in [true, false] {
        let env = TestEnv::with_root();
        let id = loop_in_session(&env);
        if is_asked {
            ask_at(&env, "19:30:03", "s1", "Also write a page about the types for the docs.");
            edit_at(&env, "19:30:04", "s1", "docs/types.md");
        } else {
            thru_at(&env, "19:30:05", "s1", &["handoff", "publish the package"]);
        }
        mark_session_dead(&env, "s1");
        env.run_thru(&["sweep"]).assert_ok();
        let [_, status, _] = texts_after_take_over(&env, &id, "Done. <promise>DONE</promise>");
        assert!(status.contains("thru pickup"), "{is_asked}: {status}");
    }
}

#[test]
fn a_loop_that_was_given_on_was_still_running_in_its_crashed_session() {
    let given_on: &[&[&str]] = &[&["activate", "ID", "--next"]];
    let paused: &[&[&str]] = &[&["pause", "ID"]];
    let resumed: &[&[&str]] = &[&["pause", "ID"], &["resume", "ID", "--next"]];
    for (is_swept_first, commands) in [(true, given_on), (false, given_on), (false, paused), (false, resumed)]
    {
        let env = TestEnv::with_root();
        let id = loop_in_session(&env);
        let said = json!({"last_assistant_message": "inferTypes keeps zeros; the tests are still missing."});
        let stop = env.hook_call("Stop", env.event_payload("s1", "Stop", said).to_string());
        let answer = stop.with_variable("THROUGHLINE_NOW", "2026-11-15T19:30:05Z").run().stdout;
        assert!(answer.contains("block"), "{answer}");
        mark_session_dead(&env, "s1");
        if is_swept_first {
            env.run_thru(&["sweep"]).assert_ok();
        }
        for command in commands {
            let words = command.iter().map(|word| if *word == "ID" { id.as_str() } else { word });
            env.run_thru(&["loop"].into_iter().chain(words).collect::<Vec<_>>()).assert_ok();
        }
        if !is_swept_first {
            env.run_thru(&["sweep"]).assert_ok();
        }
        let brief = env.run_thru(&["brief"]).assert_ok().stdout;
        let told = start_at(&env, "19:31:00", "s2");
        let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
        for text in [&brief, &told, &picked] {
            let waits = text.contains("waiting for the user") || text.contains("Nothing is open");
            assert!(!waits, "{is_swept_first}, {commands:?}: {text}");
        }
        for text in [&brief, &told] {
            assert!(text.contains("In progress. Last said: “inferTypes"), "{is_swept_first}: {text}");
        }
        assert!(picked.contains("Begin with"), "{is_swept_first}: {picked}");
    }
}
