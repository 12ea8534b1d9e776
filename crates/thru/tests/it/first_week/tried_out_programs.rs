//! Tests programs that a session builds and tries out. Whoever tries a program out may want it to fail.

use super::handoffs::{ask_at, edit_at, end_at, run_at, start_at, stop_at, thru_at};
use super::results_of_checks::fail_at;
use super::*;

/// Runs a command that fails. Returns what the session's brief and packet say, what `thru status` says after a later
/// session, and what a third session is told at its start.
fn told_after_failure(command: &str, output: &str) -> [String; 4] {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Make a missing value of --since an error, with exit code 2.");
    edit_at(&env, "19:00:02", "s1", "src/main.rs");
    fail_at(&env, "19:00:03", "s1", command, output);
    stop_at(&env, "19:00:04", "s1", "It works as it should.");
    let brief = thru_at(&env, "19:00:05", "s1", &["brief"]).stdout;
    let written = thru_at(&env, "19:00:06", "s1", &["handoff", "describe --since", "--json"]).json();
    let packet = env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout;
    end_at(&env, "19:00:07", "s1");
    start_at(&env, "19:01:00", "s2");
    ask_at(&env, "19:01:01", "s2", "Fix the typo in the README.");
    edit_at(&env, "19:01:02", "s2", "README.md");
    run_at(&env, "19:01:03", "s2", "git log -1", "commit 1");
    stop_at(&env, "19:01:04", "s2", "Fixed.");
    let status = thru_at(&env, "19:01:05", "s2", &["status"]).stdout;
    end_at(&env, "19:01:06", "s2");
    [brief, packet, status, start_at(&env, "19:02:00", "s3")]
}

fn has_failure(text: &str) -> bool {
    text.contains("Failing:") || text.contains("failing ") || text.contains("the failing command")
}

#[test]
fn a_program_that_is_tried_out_is_no_open_failure() {
    let clap = "Exit code 2\nerror: a value is required for '--since <WHEN>' but none was supplied";
    for (command, output) in [
        (
            "cargo build -q && ./target/debug/logsift --since < /dev/null",
            "Exit code 2\nlogsift: --since needs a value",
        ),
        ("cargo build -q && ./target/debug/logsift --since < /dev/null", clap),
        ("cargo build -q && ./target/debug/logsift --since < /dev/null", "Exit code 2"),
        ("cargo build -q 2>&1 | tail -3 && ./target/debug/logsift --since", clap),
        ("cargo build; ./target/debug/logsift --since", clap),
        ("cargo run -q -- --since", clap),
        ("cargo build -q && printf 'a' | cargo run -q -- --since", clap),
        ("./target/debug/logsift --since && cargo build", clap),
        ("go build -o app . && ./app -since", "Exit code 2\nflag: -since is missing"),
        ("make && ./logsift --since", "Exit code 2\ncc -c main.c\nlogsift: --since needs a value"),
        ("npm run build && node dist/cli.js --since", "Exit code 2\n--since needs a value"),
    ] {
        for text in told_after_failure(command, output) {
            assert!(!has_failure(&text), "{command}: {text}");
        }
    }
}

#[test]
fn a_failed_build_before_the_program_is_an_open_failure() {
    let build = "Exit code 101\nerror[E0308]: mismatched types\n --> src/main.rs:3:5\nerror: could not compile `logsift` (bin \"logsift\") due to 1 previous error";
    let panic = "Exit code 101\nthread 'main' panicked at src/main.rs:3:5:\nindex out of bounds";
    for (command, output) in [
        ("cargo build -q && ./target/debug/logsift --since < /dev/null", build),
        ("cargo build -q && ./target/debug/logsift a.log", panic),
        ("npm run build && ./deploy.sh", "Exit code 1\n> tsc\ndeploy: no credentials"),
    ] {
        let told = told_after_failure(command, output);
        for text in [&told[0], &told[2], &told[3]] {
            assert!(has_failure(text), "{command}: {text}");
        }
    }
}
