//! Tests for the complaints of the sixth newcomer.

use super::fifth::{ask, edit_file, run_command, stop};
use super::*;
use crate::packet_sweeps::mark_process_dead;

/// A session that edits files with commands has changed files.
#[test]
fn the_log_of_a_loop_counts_what_commands_wrote() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    env.run_thru(&["loop", "start", "--session", "s1", "Make the tests pass", "--promise", "OK"]).assert_ok();
    let turn = |n: usize, commands: &[&str]| {
        for (i, command) in commands.iter().enumerate() {
            run_command(&env, "s1", &format!("t{n}-{i}"), command);
        }
        let said = json!({"last_assistant_message": format!("Turn {n} is over.")});
        env.hook_call("Stop", env.event_payload("s1", "Stop", said).to_string()).run();
    };
    turn(1, &["ls src", "cargo test"]);
    turn(2, &["sed -i s/1/2/ cart.py", "echo hi > notes.txt"]);
    turn(3, &["python3 gen.py"]);
    turn(4, &["sed -i s/1/2/ cart.py", "make generate"]);
    edit_file(&env, "s1", "e1", "tax.py");
    turn(5, &[]);
    // A file that was edited earlier is only read.
    let read = json!({"tool_name": "Read", "tool_use_id": "r1",
        "tool_input": {"file_path": env.project_folder().join("tax.py")}});
    env.fire_event("s1", "PostToolUse", read);
    turn(6, &["git add tax.py", "git status"]);
    let log = env.run_thru(&["loop", "log"]).assert_ok();
    let turns: Vec<&str> = log.stdout.lines().filter(|line| line.contains("  continued  ")).collect();
    let expected = [
        "no file changed, 2 calls",
        "2 files changed, 2 calls",
        "no edits, but commands may have changed files, 1 call",
        "at least 1 file changed, 2 calls",
        "1 file changed, 1 call",
        "no file changed, 3 calls",
    ];
    assert_eq!(turns.len(), expected.len(), "{log}");
    for (line, expected) in turns.iter().zip(expected) {
        assert!(line.ends_with(expected), "{line}\n{log}");
    }
    let entries = env.run_thru_json(&["loop", "log"])["entries"].clone();
    assert_eq!(entries[2]["files"], json!(["cart.py", "notes.txt"]), "{entries}");
}

/// The last session had only a question. The session before it did the work.
#[test]
fn the_status_and_the_brief_describe_the_same_last_session() {
    let env = TestEnv::with_root();
    let (worked, asked) = ("9487a9f7-611a-4b6c-8f3e-0123456789ab", "c0ffee00-611a-4b6c-8f3e-0123456789ab");
    start_session(&env, worked);
    ask(&env, worked, "Make the cart apply a discount");
    edit_file(&env, worked, "e1", "cart.py");
    stop(&env, worked, "The discount is applied.");
    end_session(&env, worked);
    start_session(&env, asked);
    ask(&env, asked, "What is the capital of France?");
    stop(&env, asked, "Paris.");
    end_session(&env, asked);
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(status.contains("2, last at work: 9487a9f7 in Claude Code, just now\n"), "{status}");
    assert!(status.contains("Next: `thru brief` shows where session 9487a9f7 stood\n"), "{status}");
    assert!(status.contains("“Make the cart apply a discount”"), "{status}");
    let brief = env.run_thru(&["brief"]).assert_ok();
    assert!(brief.stdout.starts_with("Throughline: session 9487a9f7, as of "), "{brief}");
    let startup = env.run_thru(&["brief", "--event", "startup"]).assert_ok();
    assert!(startup.stdout.contains("the last session to work here was 9487a9f7"), "{startup}");
    assert_eq!(env.run_thru_json(&["status"])["last_session"]["session"], worked);
    assert_eq!(env.run_thru_json(&["brief"])["session"], worked);
}

#[test]
fn a_brief_says_which_event_it_previews() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    ask(&env, "s1", "Make the cart apply a discount");
    edit_file(&env, "s1", "e1", "cart.py");
    let note = |words: &[&str]| env.run_thru(words).assert_ok().stderr;
    let compact = "Preview: what session s1 is told after a compaction\n";
    assert!(
        note(&["brief"]).starts_with("Session s1 as it stands. To preview what a hook would send: --event")
    );
    assert_eq!(note(&["brief", "--event", "compact"]), compact);
    assert_eq!(note(&["brief", "--event", "startup", "--session", "s1"]).lines().count(), 1);
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"}));
    env.fire_event("s1", "SessionStart", json!({"source": "compact"}));
    ask(&env, "s1", "Go on");
    edit_file(&env, "s1", "e2", "cart.py");
    end_session(&env, "s1");
    assert!(note(&["brief"]).starts_with("Session s1 as it stands."), "it has ended");
    assert!(
        note(&["brief", "--event", "startup"]).contains("what a new session here is told when it starts")
    );
    assert_eq!(env.run_thru(&["brief", "--json"]).assert_ok().stderr, "");
    let help = note_of_help(&env, &["brief", "--help"]);
    assert!(help.contains("which event it previews") && help.contains("--as-sent"), "{help}");
}

fn note_of_help(env: &TestEnv, words: &[&str]) -> String {
    let help = env.run_thru(words).assert_ok().stdout;
    help.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A session picked up a packet and crashed later, so its own packet describes the latest work.
#[test]
fn after_a_crash_the_packet_of_the_crashed_session_comes_first() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    start_session(&env, "s1");
    let active = write_packet(&env);
    end_session(&env, "s1");
    start_session(&env, "s2");
    claim_packet(&env, &active, "s2", &["--claim"]).assert_ok();
    let later = |words: &[&str]| {
        env.thru_call(words).with_variable("THROUGHLINE_NOW", "2026-11-15T21:00:00Z").run().assert_ok()
    };
    ask(&env, "s2", "Now write the table of symbols");
    edit_file(&env, "s2", "e1", "symbols.rs");
    mark_process_dead(&env);
    let swept = later(&["sweep", "--json"]).json();
    let crashed = swept[0]["packet"].as_str().unwrap().to_owned();
    let status = later(&["status"]).stdout;
    assert!(status.contains(", from a crashed session (and 1 more)\n"), "{status}");
    assert!(status.contains(&format!("\nNext: `thru pickup {crashed}` ")), "{status}");
    assert!(!status.contains("is newer"), "{status}");
    let picked = later(&["pickup"]);
    assert!(picked.stdout.starts_with(&format!("Picking up packet {crashed},")), "{picked}");
    assert!(
        picked.stderr.contains(&format!("an older packet is also on offer: `thru pickup {active}`")),
        "{picked}"
    );
    let told = env.fire_event("s3", "SessionStart", json!({"source": "startup"})).context_for_model();
    assert!(told.contains(&format!("thru pickup {crashed}")), "{told}");
}

/// One of the facts, the number of uncommitted files, cannot be verified.
#[test]
fn the_number_of_facts_is_the_number_of_facts_listed() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    env.write_file("project/cart.py", "1\n");
    env.run_git(&["add", "-A"]);
    env.run_git(&["commit", "-qm", "One"]);
    start_session(&env, "s1");
    ask(&env, "s1", "Make the cart apply a discount");
    env.write_file("project/cart.py", "2\n");
    edit_file(&env, "s1", "e1", "cart.py");
    let failed = json!({"tool_name": "Bash", "tool_use_id": "b1", "tool_input": {"command": "python3 -m unittest"},
        "error": "Exit code 1\nFAIL: test_cart (test_cart.T)\nAssertionError: 90 != 100\n\nRan 1 test in 0.000s\n\nFAILED (failures=1)"});
    env.fire_event("s1", "PostToolUseFailure", failed);
    edit_file(&env, "s1", "e2", "cart.py");
    env.run_thru(&["handoff", "discount", "--session", "s1"]).assert_ok();
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    let drift = picked.split("\nDrift: ").nth(1).unwrap_or_else(|| panic!("{picked}"));
    let (head, list) = drift.split_once('\n').unwrap();
    assert_eq!(head, "none found; 3 facts verified, 1 unverified.", "{picked}");
    let listed: Vec<&str> = list.lines().take_while(|line| line.starts_with("- ")).collect();
    let count = |state: &str| listed.iter().filter(|line| line.starts_with(&format!("- {state}: "))).count();
    assert_eq!((count("verified"), count("unverified")), (3, 1), "{picked}");
    assert!(listed.contains(&"- verified: 1 file, see the list below"), "{picked}");
    // A check that failed before the last edits may pass by now.
    let check = picked.lines().find(|line| line.starts_with("- `python3 -m unittest`: failed")).unwrap();
    assert!(check.contains(", before the last edits; run it again"), "{check}");
}

#[test]
fn without_a_running_loop_the_loops_are_listed() {
    let env = TestEnv::with_root();
    let none = env.run_thru(&["loop", "cancel"]).assert_exit_code(10);
    assert_eq!(
        none.stderr,
        "error: no loop of this project is running\nhint:  `thru loop start` starts one\n"
    );
    let none = env.run_thru(&["loop", "log"]).assert_exit_code(10);
    assert!(none.stderr.starts_with("error: there are no loops in this project\n"), "{none}");
    start_session(&env, "s1");
    let begin = |minute: u32, prompt: &str| {
        let call = env.thru_call(&["loop", "start", prompt, "--session", "s1", "--promise", "OK"]);
        call.with_variable("THROUGHLINE_NOW", format!("2026-11-15T19:0{minute}:00Z")).run().assert_ok();
    };
    begin(1, "uno");
    env.run_thru(&["loop", "cancel"]).assert_ok();
    begin(2, "dos");
    env.run_thru(&["loop", "pause"]).assert_ok();
    for words in [&["loop", "cancel"][..], &["loop", "pause"]] {
        let none = env.run_thru(words).assert_exit_code(10);
        let expected = "error: no loop of this project is running\nhint:  name the loop that you mean; paused: \
                        20261115T190200Z-dos; ended: 20261115T190100Z-uno\n";
        assert_eq!(none.stderr, expected);
    }
    env.run_thru(&["loop", "cancel", "dos"]).assert_ok();
    let none = env.run_thru(&["loop", "resume"]).assert_exit_code(10);
    assert!(none.stderr.contains("no loop of this project is paused\n"), "{none}");
    assert!(none.stderr.contains("ended: 20261115T19"), "{none}");
    begin(3, "tres");
    let other = env.thru_call(&["loop", "cancel"]).with_variable("CLAUDE_CODE_SESSION_ID", "s2").run();
    let other = other.assert_exit_code(10);
    assert!(other.stderr.contains("no loop of this session is running\n"), "{other}");
    assert!(other.stderr.contains("20261115T190300Z-tres"), "{other}");
}

#[test]
fn the_help_names_every_limit_of_a_loop() {
    let env = TestEnv::with_root();
    let help = note_of_help(&env, &["loop", "start", "--help"]);
    assert!(help.contains("3 turns in a row without progress"), "{help}");
    assert!(help.contains("loops.no_progress_turns"), "{help}");
}
