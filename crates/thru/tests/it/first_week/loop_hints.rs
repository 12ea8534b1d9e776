//! Tests that if `thru` suggests a command for a loop, the command works in the loop's current state.

use super::handoffs::{ask_at, start_at, thru_at};
use super::*;

fn at(time: &str) -> String {
    format!("2026-11-15T{time}Z")
}

/// Starts a loop in session `s1`, and lets the session stop twice. Returns the loop's id.
fn start_loop(env: &TestEnv, session: &str, options: &[&str]) -> String {
    start_at(env, "19:00:00", session);
    let words = [&["loop", "start", "work on it", "--session", session], options].concat();
    let started = env.thru_call(&words).with_variable("THROUGHLINE_NOW", at("19:00:01")).run().assert_ok();
    ask_at(env, "19:00:02", session, "go");
    for (time, message) in [("19:00:03", "The first part is done."), ("19:00:04", "The second part is done.")]
    {
        let payload = env.event_payload(session, "Stop", json!({"last_assistant_message": message}));
        env.hook_call("Stop", payload.to_string()).with_variable("THROUGHLINE_NOW", at(time)).run();
    }
    let id = started.stdout.split_whitespace().find(|word| word.starts_with("20261115T"));
    id.unwrap_or_else(|| panic!("{started}")).trim_end_matches(',').to_owned()
}

/// Returns the commands that resume a loop. `N` is replaced by a number.
fn resume_commands(text: &str) -> Vec<Vec<String>> {
    let commands = text.split('`').filter_map(|part| part.strip_prefix("thru "));
    let resuming = commands.filter(|command| command.starts_with("loop resume"));
    resuming.map(|command| command.replace(" N", " 99").split(' ').map(str::to_owned).collect()).collect()
}

#[test]
fn the_command_that_resumes_a_loop_works_whatever_paused_it() {
    let limits: [&[&str]; 4] = [
        &["--max-iterations", "1"],
        &["--for", "1m"],
        &["--max-iterations", "1", "--for", "1m"],
        &["--max-iterations", "0"],
    ];
    for options in limits {
        let env = TestEnv::with_root();
        let id = start_loop(&env, "s1", options);
        thru_at(&env, "19:30:00", "s1", &["loop", "pause", &id]).assert_ok();
        let activate =
            env.thru_call(&["loop", "activate", &id]).with_variable("THROUGHLINE_NOW", at("19:30:01"));
        let refused = activate.run().assert_exit_code(15);
        let status = thru_at(&env, "19:30:01", "s1", &["status"]).assert_ok().stdout;
        let brief = thru_at(&env, "19:30:01", "s1", &["brief"]).assert_ok().stdout;
        for text in [refused.stderr, status, brief] {
            let commands = resume_commands(&text);
            assert!(!commands.is_empty(), "{options:?}: {text}");
            for words in commands {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                thru_at(&env, "19:30:02", "s1", &words).assert_ok();
                thru_at(&env, "19:30:03", "s1", &["loop", "pause", &id]).assert_ok();
            }
        }
    }
}

/// A command without an id chooses among the loops of the session that runs it.
#[test]
fn status_names_the_paused_loop_that_it_means() {
    let env = TestEnv::with_root();
    for session in ["s1", "s2"] {
        let id = start_loop(&env, session, &["--max-iterations", "1"]);
        thru_at(&env, "19:10:00", session, &["loop", "pause", &id]);
    }
    start_at(&env, "19:20:00", "s3");
    let status = thru_at(&env, "19:20:01", "s3", &["status"]).assert_ok().stdout;
    let line = status.lines().find(|line| line.starts_with("paused")).unwrap();
    assert!(line.contains("2 loops, of which this is the newest"), "{status}");
    let words = resume_commands(line).pop().unwrap();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    thru_at(&env, "19:20:02", "s3", &words).assert_ok();
}
