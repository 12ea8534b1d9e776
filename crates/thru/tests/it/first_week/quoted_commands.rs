//! Tests how briefs and packets quote the commands of a session. Each quoted line is a command line that ran, or a
//! contiguous part of one.

use super::handoffs::{ask_at, edit_at, run_at, start_at, stop_at, thru_at};
use super::*;

const CARGO: &str = "test result: ok. 11 passed; 0 failed; 0 ignored; finished in 0.00s\n";

/// Returns the brief and the packet after a run of each command.
fn told_after_runs(calls: &[(&str, &str)]) -> [String; 2] {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Make run() take bytes.");
    edit_at(&env, "19:00:02", "s1", "src/lib.rs");
    for (n, (command, output)) in calls.iter().enumerate() {
        run_at(&env, &format!("19:00:{:02}", n + 3), "s1", command, output);
    }
    stop_at(&env, "19:00:30", "s1", "Done.");
    let brief = thru_at(&env, "19:00:31", "s1", &["brief"]).stdout;
    let written = thru_at(&env, "19:00:32", "s1", &["handoff", "describe run()", "--json"]).json();
    [brief, env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout]
}

#[test]
fn a_command_worked_only_if_its_last_part_did() {
    for (command, output) in [
        (
            "cargo test -q 2>&1 | tail -3 && printf '\\xff' | ./target/debug/logsift; echo $?",
            &*format!("{CARGO}\n1\n"),
        ),
        ("./target/debug/logsift --since; echo $?", "2\n"),
        ("./target/debug/logsift --since || true", "--since needs a value\n"),
        ("./target/debug/logsift --since | head -3", ""),
    ] {
        let [brief, packet] = told_after_runs(&[(command, output)]);
        for text in [brief, packet] {
            assert!(!text.contains("Commands that worked"), "{command}: {text}");
            let is_called_passed = |line: &str| line.contains("./target") && line.contains("passed");
            assert!(!text.lines().any(is_called_passed), "{command}: {text}");
        }
    }
}

#[test]
fn a_command_that_worked_is_quoted_with_its_input() {
    for (command, quoted) in [
        ("printf 'a\\n' | ./target/debug/logsift", "printf 'a\\n' | ./target/debug/logsift"),
        ("./target/debug/logsift --count < a.log > out", "./target/debug/logsift --count < a.log"),
        (
            "echo now && ./target/debug/logsift --count a.log && echo ok",
            "./target/debug/logsift --count a.log",
        ),
    ] {
        let [brief, _] = told_after_runs(&[(command, "a\n")]);
        assert!(brief.contains(&format!("- `{quoted}` → passed\n")), "{command}: {brief}");
    }
}

#[test]
fn a_program_tried_out_after_a_check_is_not_part_of_the_check() {
    let line = "cargo test -q 2>&1 | tail -3 && printf '\\xff' | ./target/debug/logsift; echo $?";
    let [brief, packet] = told_after_runs(&[(line, &format!("{CARGO}\n1\n"))]);
    assert!(brief.contains("- `cargo test -q` → passed"), "{brief}");
    assert!(packet.contains("`cargo test -q` — passed"), "{packet}");
    for text in [brief, packet] {
        assert!(!text.contains("target/debug"), "{text}");
    }
    let [brief, _] = told_after_runs(&[("make && ./app a.log", "a"), ("make && ./app a.log", "a")]);
    assert!(brief.contains("- `make` → passed"), "{brief}");
}

#[test]
fn an_edit_is_not_part_of_a_check() {
    let command =
        "sed -i 's/a/b/' tests/cli.rs && printf '// x\\n' >> tests/cli.rs && cargo test -q 2>&1 | tail -20";
    let [brief, packet] = told_after_runs(&[(command, CARGO)]);
    assert!(brief.contains("- `cargo test -q` → passed"), "{brief}");
    assert!(packet.contains("`cargo test -q` — passed"), "{packet}");
    for text in [brief, packet] {
        assert!(!text.contains("sed -i") && !text.contains("printf"), "{text}");
    }
}

#[test]
fn a_line_of_checks_is_quoted_as_it_ran() {
    for (command, quoted) in [
        ("cargo clippy -q && cargo test -q 2>&1 | tail -20", "cargo clippy -q && cargo test -q"),
        ("cargo clippy -q && echo ok; cargo test -q", "cargo clippy -q && echo ok; cargo test -q"),
        ("yes | ./test.sh > log", "yes | ./test.sh"),
    ] {
        let [brief, _] = told_after_runs(&[(command, CARGO)]);
        assert!(brief.contains(&format!("- `{quoted}` → ")), "{command}: {brief}");
    }
}
