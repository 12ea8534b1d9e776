//! Tests for problems that new users of thru reported from a TypeScript project and a Python project. The problems
//! concern runs in pipes and after here-documents, and what a second session learns about the first one.

use super::files_at_risk::repository_with_files;
use super::handoffs::{ask_at, edit_at, end_at, run_at, start_at, stop_at, thru_at};
use super::quoted_words::compact_at;
use super::results_of_checks::fail_at;
use super::*;

const TAP: &str = "# Subtest: splits quoted fields\nnot ok 3 - splits quoted fields\n  ---\n  duration_ms: 1.2\n  location: '/p/test/csv.test.js:14:1'\n  failureType: 'testCodeFailure'\n  error: |-\n    Expected values to be strictly deep-equal:\n    + actual - expected\n    \n      [\n    +   'a,b'\n    -   'a'\n      ]\n  code: 'ERR_ASSERTION'\n  name: 'AssertionError'\n  expected:\n    0: 'a'\n  actual:\n    0: 'a,b'\n  operator: 'deepStrictEqual'\n  ...\n# tests 3\n# pass 2\n# fail 1";

/// Writes a packet and returns its text.
fn packet_at(env: &TestEnv, time: &str, session: &str, purpose: &str) -> String {
    let written = thru_at(env, time, session, &["handoff", purpose, "--json"]).json();
    env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout
}

#[test]
fn a_run_after_a_here_document_is_a_run() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Split quoted fields in src/csv.ts, with a test.");
    let command = "cat > test/csv.test.js <<'EOF'\nimport { test } from 'node:test';\ntest('x', () => {});\nEOF\nnpm test 2>&1 | tail -40";
    run_at(&env, "19:00:02", "s1", command, TAP);
    stop_at(&env, "19:00:03", "s1", "The test is there; it fails as expected.");
    let status = thru_at(&env, "19:00:04", "s1", &["status"]).assert_ok().stdout;
    assert!(status.contains("npm test"), "{status}");
    let brief = thru_at(&env, "19:00:04", "s1", &["brief"]).assert_ok().stdout;
    assert!(brief.contains("npm test` fail") || brief.contains("Failing"), "{brief}");
    assert!(!brief.contains("cat > test/csv.test.js"), "{brief}");
    let packet = packet_at(&env, "19:00:05", "s1", "Split quoted fields");
    assert!(!packet.contains("cat >"), "{packet}");
    let journal = thru_at(&env, "19:00:06", "s1", &["journal"]).assert_ok().stdout;
    assert!(journal.contains("failed"), "{journal}");
}

#[test]
fn the_journal_marks_a_failure_that_a_pipe_hid() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    run_at(&env, "19:00:02", "s1", "npm test 2>&1 | tail -9", TAP);
    run_at(&env, "19:00:03", "s1", "npm test 2>&1 | tail -9", "# tests 3\n# pass 3\n# fail 0");
    let journal = thru_at(&env, "19:00:06", "s1", &["journal"]).assert_ok().stdout;
    let runs: Vec<&str> = journal.lines().filter(|line| line.contains("npm test")).collect();
    assert!(runs[0].contains("failed") && runs[0].contains("splits quoted fields"), "{journal}");
    assert!(!runs[1].contains("failed"), "{journal}");
    let failed = thru_at(&env, "19:00:06", "s1", &["journal", "--failures"]).assert_ok().stdout;
    assert_eq!(failed.matches("npm test").count(), 1, "{failed}");
}

#[test]
fn a_check_is_shown_without_what_was_done_around_it() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Split quoted fields in src/csv.ts, with a test.");
    edit_at(&env, "19:00:02", "s1", "src/csv.ts");
    let pass = "# tests 3\n# pass 3\n# fail 0\n[main 1a2b3c4] csv: quoted fields\n 1 file changed";
    run_at(&env, "19:00:03", "s1", "npm test && git add -A && git commit -m 'csv: quoted fields'", pass);
    edit_at(&env, "19:00:04", "s1", "src/csv.ts");
    fail_at(
        &env,
        "19:00:05",
        "s1",
        "sed -i 's/a/b/' src/csv.ts && npm run lint",
        "Exit code 1\nsrc/csv.ts:3:1 error Unexpected var",
    );
    stop_at(&env, "19:00:06", "s1", "The linter complains.");
    let packet = packet_at(&env, "19:00:07", "s1", "Split quoted fields");
    let brief = thru_at(&env, "19:00:07", "s1", &["brief"]).assert_ok().stdout;
    let status = thru_at(&env, "19:00:07", "s1", &["status"]).assert_ok().stdout;
    assert!(packet.contains("Begin with: the failing command `npm run lint` (see Failing)"), "{packet}");
    assert!(brief.contains("- `npm test` → passed, before the last edits"), "{brief}");
    assert!(brief.contains("- `npm run lint` (exit 1)"), "{brief}");
    assert!(status.contains("failing      `npm run lint`"), "{status}");
    for text in [packet, brief, status] {
        assert!(!text.contains("sed -i") && !text.contains("git add"), "{text}");
    }
}

#[test]
fn an_empty_field_of_a_report_says_nothing() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Split quoted fields in src/csv.ts, with a test.");
    fail_at(&env, "19:00:05", "s1", "npm test", &format!("Exit code 1\n{TAP}"));
    stop_at(&env, "19:00:06", "s1", "It fails.");
    let brief = thru_at(&env, "19:00:07", "s1", &["brief"]).assert_ok().stdout;
    for noise in ["expected:\n", "actual:\n", "|-"] {
        assert!(!brief.contains(noise), "{noise}: {brief}");
    }
}

#[test]
fn a_standing_instruction_outlives_its_session() {
    let env = repository_with_files(&["src/csv.ts"]);
    start_at(&env, "19:00:00", "s1");
    let prompt = "Split quoted fields in src/csv.ts. Do not add dependencies, and keep parseCsv's signature.";
    ask_at(&env, "19:00:01", "s1", prompt);
    edit_at(&env, "19:00:02", "s1", "src/csv.ts");
    stop_at(&env, "19:00:03", "s1", "The splitter is written; escaped quotes are left.");
    end_at(&env, "19:00:04", "s1");
    start_at(&env, "19:01:00", "s2");
    ask_at(&env, "19:01:01", "s2", "Go on with the escaped quotes.");
    edit_at(&env, "19:01:02", "s2", "src/quotes.ts");
    stop_at(&env, "19:01:03", "s2", "Escaped quotes work, line ends inside quotes do not.");
    let packet = packet_at(&env, "19:01:04", "s2", "Line ends inside quotes");
    let brief = thru_at(&env, "19:01:04", "s2", &["brief"]).assert_ok().stdout;
    for text in [packet, brief] {
        assert!(text.contains("Do not add dependencies"), "{text}");
        assert!(text.contains("src/csv.ts"), "{text}");
    }
}

#[test]
fn an_instruction_that_the_summary_lacks_is_told() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    let prompt = "Add fmt_eur(cents) to ledger/money.py: 1234.50 becomes 1.234,50 €. Leave fmt() unchanged. Tests first.";
    ask_at(&env, "19:00:01", "s1", prompt);
    edit_at(&env, "19:00:02", "s1", "tests/test_money.py");
    edit_at(&env, "19:00:03", "s1", "ledger/money.py");
    let summary = "1. Primary Request and Intent: add fmt_eur(cents) to ledger/money.py, which prints euros with a comma.\n\
                   3. Files: ledger/money.py, tests/test_money.py.\n6. Pending Tasks: finish fmt_eur.\n\
                   7. Current Work: fmt_eur was written.";
    let told = compact_at(&env, "19:00:06", "s1", summary);
    assert!(told.contains("Leave fmt() unchanged."), "{told}");
}

#[test]
fn an_instruction_and_uncommitted_files_of_the_session_before_are_in_the_packet() {
    let env = repository_with_files(&["src/parse.ts", "test/parse.test.ts"]);
    start_at(&env, "19:00:00", "s1");
    let prompt = "Make the CSV parser accept quoted fields. Write tests first. Do not add dependencies, and keep parseCsv's signature.";
    ask_at(&env, "19:00:01", "s1", prompt);
    env.write_file("project/src/parse.ts", "changed\n");
    edit_at(&env, "19:00:02", "s1", "src/parse.ts");
    env.write_file("project/test/parse.test.ts", "changed\n");
    edit_at(&env, "19:00:03", "s1", "test/parse.test.ts");
    stop_at(&env, "19:00:04", "s1", "Quoted fields parse now.");
    end_at(&env, "19:00:05", "s1");
    start_at(&env, "19:01:00", "s2");
    ask_at(
        &env,
        "19:01:01",
        "s2",
        "Start with newlines inside quoted fields on input. CRLF files must keep working too.",
    );
    env.write_file("project/src/parse.ts", "changed twice\n");
    edit_at(&env, "19:01:02", "s2", "src/parse.ts");
    stop_at(
        &env,
        "19:01:03",
        "s2",
        "The tests for newlines and CRLF fail, parseCsv must become a single pass.",
    );
    let packet = packet_at(&env, "19:01:04", "s2", "rewrite parseCsv as a single pass");
    assert!(packet.contains("Do not add dependencies, and keep parseCsv's signature."), "{packet}");
    assert!(packet.contains("test/parse.test.ts"), "{packet}");
    end_at(&env, "19:01:05", "s2");
    let told = start_at(&env, "19:02:00", "s3");
    assert!(told.contains("Do not add dependencies, and keep parseCsv's signature."), "{told}");
    ask_at(&env, "19:02:01", "s3", "What is the longest line in README.md?");
    edit_at(&env, "19:02:02", "s3", "README.md");
    let packet = packet_at(&env, "19:02:04", "s3", "shorten the README");
    // A rule about dependencies holds for the whole project, so it is told whichever files the session edits.
    assert!(packet.contains("Do not add dependencies"), "{packet}");
}

#[test]
fn an_instruction_of_a_session_that_left_a_failing_check_is_kept() {
    let env = repository_with_files(&["src/add.js", "test/add.test.js"]);
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Make the test stricter. Never add dependencies.");
    edit_at(&env, "19:00:02", "s1", "test/add.test.js");
    fail_at(&env, "19:00:03", "s1", "npm test", "not ok 1 - adds\n# fail 1");
    stop_at(&env, "19:00:04", "s1", "The test fails now.");
    end_at(&env, "19:00:05", "s1");
    start_at(&env, "19:01:00", "s2");
    ask_at(&env, "19:01:01", "s2", "Add comment two.");
    edit_at(&env, "19:01:02", "s2", "src/add.js");
    stop_at(&env, "19:01:03", "s2", "Commented.");
    end_at(&env, "19:01:04", "s2");
    let told = start_at(&env, "19:02:00", "s3");
    assert!(told.contains("in an earlier session: “Never add dependencies.”"), "{told}");
}

#[test]
fn an_edit_after_an_inherited_failure_is_told() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Add median(rows) to ledger/report.py.");
    fail_at(
        &env,
        "19:00:02",
        "s1",
        "python3 -m unittest",
        "Exit code 1\nFAIL: test_median\nAssertionError: 200 != 150",
    );
    edit_at(&env, "19:00:03", "s1", "ledger/report.py");
    end_at(&env, "19:00:04", "s1");
    start_at(&env, "19:01:00", "s2");
    ask_at(&env, "19:01:01", "s2", "Describe median in the README.");
    run_at(&env, "19:01:02", "s2", "git commit -am docs", "[main 1a2b3c4] docs");
    end_at(&env, "19:01:03", "s2");
    let told = start_at(&env, "19:02:00", "s3");
    let words = "in an earlier session, before the edits to ledger/report.py";
    assert!(told.contains(words), "{told}");
}

#[test]
fn a_finding_is_told_by_its_conclusion() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Why was the review not started when I closed the session?");
    let said = "Then 2 seconds later, the new session set the state of the old one back to idle, as the log shows. The \
                `state.json` is the real blocker: nothing should have written it. It holds the time, the name of \
                the branch and the number of the process, as it did before. No code fix is needed for the start.";
    stop_at(&env, "19:00:03", "s1", said);
    ask_at(&env, "19:00:04", "s1", "Also show at the start that a review is there.");
    edit_at(&env, "19:00:05", "s1", "src/start.ts");
    let brief = thru_at(&env, "19:00:06", "s1", &["brief", "--max-chars", "1200"]).assert_ok().stdout;
    assert!(brief.contains("`state.json` is the real blocker: nothing should have written it."), "{brief}");
    assert!(!brief.contains("It holds the time, the…") && !brief.contains("back to…"), "{brief}");
}
