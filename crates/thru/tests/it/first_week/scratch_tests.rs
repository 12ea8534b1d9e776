//! Tests that a failed run of a file that no longer exists is neither reported as failing nor listed as a check to
//! repeat.

use super::files_at_risk::repository_with_files;
use super::handoffs::{ask_at, edit_at, end_at, run_at, start_at, stop_at, thru_at};
use super::results_of_checks::fail_at;
use super::*;

const FAILED: &str = "Exit code 1\nnot ok 1 - tries a quote\n  ---\n  error: 'Unterminated quote'\n  ...\n# tests 1\n# pass 0\n# fail 1";
const SCRATCH: &str = "test/tmp-quote.test.js";

/// A session that wrote a scratch test to `file` and ran `command`, which failed. The file was deleted afterwards.
fn env_with_scratch_test(command: &str, file: &str) -> TestEnv {
    let env = repository_with_files(&["src/csv.js", "test/csv.test.js"]);
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Split quoted fields in src/csv.js.");
    edit_at(&env, "19:00:02", "s1", "src/csv.js");
    let path = env.write_file(format!("project/{file}"), "try\n");
    edit_at(&env, "19:00:03", "s1", file);
    fail_at(&env, "19:00:04", "s1", command, FAILED);
    stop_at(&env, "19:00:05", "s1", "The scratch test shows that the quote is not closed.");
    fs::remove_file(path).unwrap();
    env
}

fn packet_at(env: &TestEnv, time: &str, session: &str) -> (String, String) {
    let written = thru_at(env, time, session, &["handoff", "finish the quotes", "--json"]).json();
    let id = written["id"].as_str().unwrap();
    let packet = env.run_thru(&["packet", "show", id]).assert_ok().stdout;
    (packet, thru_at(env, time, session, &["pickup", id]).assert_ok().stdout)
}

#[test]
fn a_run_of_a_deleted_test_is_neither_failing_nor_a_validator() {
    for (command, file) in [
        ("node --test test/tmp-quote.test.js", SCRATCH),
        ("npx vitest run ./test/tmp-quote.test.js 2>&1 | tail -5", SCRATCH),
        ("cd test && node --test tmp-quote.test.js", SCRATCH),
        ("pytest -q tests/test_tmp.py::test_quote", "tests/test_tmp.py"),
        ("python3 -m unittest tests.test_tmp -q", "tests/test_tmp.py"),
        ("cargo test --test scratch", "tests/scratch.rs"),
    ] {
        let env = env_with_scratch_test(command, file);
        let name = file.rsplit('/').next().unwrap().split('.').next().unwrap();
        let is_told = |text: &str| {
            let lines = text.lines().filter(|line| line.contains(name) && !line.contains("said"));
            lines.map(str::to_owned).collect::<Vec<_>>().join("\n")
        };
        let own = thru_at(&env, "19:00:06", "s1", &["brief"]).assert_ok().stdout;
        assert!(!own.contains("Failing") && !own.contains("not committed"), "{command}: {own}");
        let status = thru_at(&env, "19:00:06", "s1", &["status"]).assert_ok().stdout;
        assert!(!status.contains("failing"), "{command}: {status}");
        let (packet, prompt) = packet_at(&env, "19:00:07", "s1");
        let own = [packet, prompt];
        end_at(&env, "19:00:08", "s1");
        start_at(&env, "19:01:00", "s2");
        ask_at(&env, "19:01:01", "s2", "Now write about quoted fields in the README.");
        edit_at(&env, "19:01:02", "s2", "README.md");
        stop_at(&env, "19:01:03", "s2", "The README has a section about quoted fields.");
        let brief = thru_at(&env, "19:01:04", "s2", &["brief"]).assert_ok().stdout;
        let (packet, prompt) = packet_at(&env, "19:01:04", "s2");
        end_at(&env, "19:01:05", "s2");
        let told = start_at(&env, "19:02:00", "s3");
        for text in own {
            assert!(!text.contains("failed") && !text.contains("not run yet"), "{command}: {text}");
        }
        for text in [brief, packet, prompt, told] {
            assert!(is_told(&text).is_empty(), "{command}: {}\n{text}", is_told(&text));
        }
    }
}

#[test]
fn a_run_stays_failing_if_its_file_exists_or_only_one_of_its_files_is_gone() {
    for command in
        ["node --test test/csv.test.js", "node --test test/csv.test.js test/tmp-quote.test.js", "npm test"]
    {
        let env = env_with_scratch_test(command, SCRATCH);
        end_at(&env, "19:00:08", "s1");
        let told = start_at(&env, "19:01:00", "s2");
        assert!(told.contains(&format!("`{command}` (exit 1")), "{command}: {told}");
    }
}

/// The file is back, so its failure is open again.
#[test]
fn a_test_that_is_restored_fails_again() {
    let env = env_with_scratch_test("node --test test/tmp-quote.test.js", SCRATCH);
    run_at(&env, "19:00:06", "s1", "ls", "src test");
    env.write_file(format!("project/{SCRATCH}"), "try\n");
    let brief = thru_at(&env, "19:00:07", "s1", &["brief"]).assert_ok().stdout;
    assert!(brief.contains("`node --test test/tmp-quote.test.js` (exit 1"), "{brief}");
}
