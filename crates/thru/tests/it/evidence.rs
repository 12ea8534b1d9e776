//! Tests of evidence: running and recording commands, and detecting later changes to files.

mod imports;

use std::fs;

use serde_json::{Value, json};

use crate::env::{TestEnv, names_in};

/// Creates a repository with a plan. Task 1.1 has an acceptance criterion and is in progress.
fn env_with_plan() -> TestEnv {
    let env = TestEnv::with_repository();
    env.write_file("project/src/a.rs", "fn a() {}\n");
    env.run_git(&["add", "."]);
    env.run_git(&["commit", "--quiet", "--message", "code"]);
    env.run_thru(&["init"]).assert_ok();
    env.run_thru(&["plan", "init", "Parser", "--phase", "Read"]).assert_ok();
    env.run_thru(&["task", "add", "Lexer", "--acceptance", "the tests pass"]).assert_ok();
    env.run_thru(&["task", "add", "Grammar"]).assert_ok();
    env.run_thru(&["task", "start", "1.1"]).assert_ok();
    env
}

/// A command that prints cargo's summary of passed tests.
const PASSING_COMMAND: &str = "echo 'test result: ok. 5 passed; 0 failed; 0 ignored'";
const FAILING_COMMAND: &str =
    "echo 'test a::b ... FAILED'; echo 'test result: FAILED. 4 passed; 1 failed; 0 ignored'; exit 101";

fn read_bundle(env: &TestEnv, task: &str) -> Value {
    let path = env.store_folder().join(format!("evidence/{task}/bundle.json"));
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn run_passing_tests(env: &TestEnv) {
    env.run_thru(&["evidence", "run", "1.1", "--", "sh", "-c", PASSING_COMMAND]).assert_ok();
}

/// A filter may have removed the summaries that count tests.
#[test]
fn a_count_of_zero_in_a_cut_output_proves_nothing() {
    let env = env_with_plan();
    let summary = |n: u32| {
        format!("echo 'running {n} tests'\necho 'test result: ok. {n} passed; 0 failed; 0 ignored'\n")
    };
    env.write_file("project/test.sh", format!("{}{}", summary(11), summary(0)));
    for line in ["sh test.sh 2>&1 | tail -2", "sh test.sh > .git/log; tail -1 .git/log"] {
        let run = env.run_thru(&["evidence", "run", "1.1", "--", "sh", "-c", line]);
        let all = format!("{}{}", run.stdout, run.stderr);
        assert!(run.code == 1 && all.contains("Not sure: recorded for 1.1"), "{line}: {all}");
        assert!(!all.contains("no test ran") && !all.contains("(0 passed"), "{line}: {all}");
        let entry = read_bundle(&env, "1.1")["entries"].as_array().unwrap().last().unwrap().clone();
        assert!(entry["tests_passed"].is_null() && entry["verdict"] == "warn", "{line}: {entry}");
    }
    let whole = env.run_thru(&["evidence", "run", "1.1", "--", "sh", "-c", "sh test.sh | tail -9"]);
    assert!(
        whole.stdout.contains("Passed: recorded for 1.1") && whole.stdout.contains("11 passed"),
        "{}",
        whole.stdout
    );
}

#[test]
fn a_run_is_streamed_and_recorded() {
    let env = env_with_plan();
    let run = env.run_thru(&["evidence", "run", "1.1", "--", "sh", "-c", PASSING_COMMAND]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.starts_with("test result: ok. 5 passed"), "{}", run.stdout);
    assert!(run.stdout.contains("Passed: recorded for 1.1: pass: "), "{}", run.stdout);
    let entry = &read_bundle(&env, "1.1")["entries"][0];
    let head = env.run_git(&["rev-parse", "HEAD"]);
    assert_eq!(entry["head"], json!(head.trim()));
    assert_eq!(
        (&entry["exit_code"], &entry["tests_passed"], &entry["tests_failed"]),
        (&json!(0), &json!(5), &json!(0))
    );
    assert_eq!(
        (&entry["type"], &entry["kind"], &entry["verdict"]),
        (&json!("test"), &json!("run"), &json!("pass"))
    );
    assert_eq!((&entry["files"], &entry["scope"]), (&json!(2), &json!("project")));

    let failed =
        env.thru_call(&["evidence", "run", "1.1", "--json", "--", "sh", "-c", FAILING_COMMAND]).run();
    assert_eq!(failed.code, 1);
    let json = failed.json();
    assert_eq!((&json["entry"]["exit_code"], &json["entry"]["failures"]), (&json!(101), &json!(["a::b"])));
    assert!(failed.stderr.contains("test a::b ... FAILED"), "the output is shown beside the report");
    let partial = env.run_thru(&["evidence", "run", "1.2", "--", "printf", "no line end"]);
    assert!(partial.stdout.starts_with("no line end\n"), "{}", partial.stdout);
    let absent = env.run_thru(&["evidence", "run", "1.1", "--", "no-such-program"]);
    assert_eq!(absent.code, 10, "{}", absent.stderr);
    assert_eq!(
        read_bundle(&env, "1.1")["entries"].as_array().unwrap().len(),
        2,
        "nothing was recorded of it"
    );
}

/// A line of a private key is recognised as a secret only together with the lines before it. So the output is
/// redacted as a whole, and no line of the key is stored.
#[test]
fn the_last_line_of_a_private_key_is_not_stored() {
    let env = env_with_plan();
    let body = ["MIIBVwIBADANBgkqhkiG9w0BAQEFAASCAUEwggE9", "AgEAAkEAq7BFUpkGp3LQmlQYx2eqzDV3xeG8kXsc"];
    env.write_file(
        "project/key.txt",
        format!("-----BEGIN {}-----\n{}\n", "RSA PRIVATE KEY", body.join("\n")),
    );
    env.run_thru(&["evidence", "run", "1.1", "--", "cat", "key.txt"]);
    let stored = read_bundle(&env, "1.1").to_string();
    assert!(body.iter().all(|line| !stored.contains(line)), "{stored}");
}

#[test]
fn a_task_with_acceptance_wants_evidence_that_is_fresh_and_passed() {
    let env = env_with_plan();
    let refused = env.run_thru(&["task", "done", "1.1"]);
    assert_eq!(refused.code, 15);
    assert!(refused.stderr.contains("there is no evidence for it"), "{}", refused.stderr);
    assert!(refused.stderr.contains("thru evidence run 1.1 -- COMMAND"), "{}", refused.stderr);
    env.run_thru(&[
        "evidence",
        "add",
        "1.1",
        "--type",
        "test",
        "--verdict",
        "pass",
        "--summary",
        "I ran them",
    ])
    .assert_ok();
    let claimed = env.run_thru(&["task", "done", "1.1"]);
    assert!(claimed.code == 15 && claimed.stderr.contains("nothing proves that"), "{}", claimed.stderr);
    env.run_thru(&["evidence", "run", "1.1", "--", "sh", "-c", FAILING_COMMAND]);
    let failed = env.run_thru(&["task", "done", "1.1"]);
    assert!(failed.code == 15 && failed.stderr.contains("4 passed, 1 failed"), "{}", failed.stderr);
    run_passing_tests(&env);
    let other = env.run_thru(&["task", "done", "1.1"]);
    assert!(other.code == 15, "another command does not settle the one that failed: {}", other.stdout);
    env.write_file("project/src/a.rs", "fn a() { 1 }\n");
    run_passing_tests(&env);
    env.write_file("project/src/a.rs", "fn a() { 2 }\n");
    let stale = env.run_thru(&["task", "done", "1.1"]);
    assert!(stale.code == 15 && stale.stderr.contains("src/a.rs changed"), "{}", stale.stderr);
    run_passing_tests(&env);
    env.run_thru(&["task", "done", "1.1"]).assert_ok();
    let ledger = fs::read_to_string(env.store_folder().join("plan-ledger.jsonl")).unwrap();
    assert!(ledger.lines().last().unwrap().contains("\"why\":\"passed: "), "{ledger}");
}

#[test]
fn who_goes_without_evidence_says_why_and_it_is_recorded() {
    let env = env_with_plan();
    env.run_thru(&["task", "done", "1.1", "--without-evidence", "checked by hand"]).assert_ok();
    let ledger = fs::read_to_string(env.store_folder().join("plan-ledger.jsonl")).unwrap();
    assert!(ledger.lines().last().unwrap().contains("\"why\":\"checked by hand\""), "{ledger}");
}

#[test]
fn a_file_that_changes_makes_it_stale_wherever_it_is_shown() {
    let env = env_with_plan();
    run_passing_tests(&env);
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Finish the lexer of the parser."}));
    env.run_thru(&["handoff", "finish the lexer"]).assert_ok();
    let text = |words: &[&str]| env.run_thru(words).assert_ok().stdout;
    let json = |words: &[&str]| env.run_thru_json(words);
    assert!(text(&["plan", "show"]).contains("Lexer  evidence passed"));
    assert!(text(&["brief"]).contains("1.1: passed, and no file has changed since"), "{}", text(&["brief"]));
    assert_eq!(json(&["plan", "show"])["phases"][0]["tasks"][0]["evidence"]["stale"], json!(false));

    // The new content has the same length and is written in the same second, so neither the size nor the time of the
    // file shows the change.
    env.write_file("project/src/a.rs", "fn b() {}\n");
    let changed = "src/a.rs changed";
    assert!(
        text(&["plan", "show"]).contains("evidence stale: src/a.rs changed"),
        "{}",
        text(&["plan", "show"])
    );
    for words in [
        &["task", "show", "1.1"][..],
        &["evidence", "list"],
        &["evidence", "show", "1.1"],
        &["brief"],
        &["pickup"],
    ] {
        let text = text(words);
        assert!(text.contains("stale") && text.contains(changed), "{words:?}: {text}");
    }
    assert!(text(&["status"]).contains("1 stale"), "{}", text(&["status"]));
    let task = &json(&["plan", "show"])["phases"][0]["tasks"][0];
    assert_eq!((&task["evidence"]["stale"], &task["evidence"]["proof"]), (&json!(true), &json!("stale")));
    assert_eq!(json(&["task", "show", "1.1"])["evidence"]["changed"], json!(changed));
    assert_eq!(json(&["evidence", "list"])["tasks"][0]["stale"], json!(true));
    let shown = json(&["evidence", "show", "1.1"]);
    assert_eq!((&shown["entries"][0]["stale"], &shown["evidence"]["word"]), (&json!(true), &json!("stale")));
    assert!(json(&["pickup"])["evidence"][0].as_str().unwrap().contains("stale"));
    assert_eq!(json(&["status"])["evidence"]["stale"], json!(1));

    env.write_file("project/src/a.rs", "fn a() {}\n");
    assert!(text(&["plan", "show"]).contains("evidence passed"), "the content is as it was");
    fs::remove_file(env.project_folder().join("src/a.rs")).unwrap();
    assert!(text(&["plan", "show"]).contains("src/a.rs is gone"));
    env.run_git(&["checkout", "--quiet", "src/a.rs"]);
    env.write_file("project/src/new.rs", "");
    env.run_git(&["add", "src/new.rs"]);
    assert!(text(&["plan", "show"]).contains("src/new.rs is new"));
}

#[test]
fn a_commit_changes_no_file() {
    let env = env_with_plan();
    env.write_file("project/src/a.rs", "fn a() { 1 }\n");
    run_passing_tests(&env);
    env.run_git(&["add", "."]);
    env.run_git(&["commit", "--quiet", "--message", "more"]);
    assert_eq!(env.run_thru_json(&["evidence", "list"])["tasks"][0]["proof"], json!("passed"));
}

#[test]
fn a_run_can_speak_of_some_files() {
    let env = env_with_plan();
    env.write_file("project/docs/x.md", "x\n");
    env.run_thru(&["evidence", "run", "1.1", "--file", "src", "--", "true"]).assert_ok();
    assert_eq!(read_bundle(&env, "1.1")["entries"][0]["files"], json!(1));
    env.write_file("project/docs/x.md", "y\n");
    assert_eq!(env.run_thru_json(&["evidence", "list"])["tasks"][0]["proof"], json!("passed"));
    env.write_file("project/src/a.rs", "fn c() {}\n");
    assert_eq!(env.run_thru_json(&["evidence", "list"])["tasks"][0]["proof"], json!("stale"));
    let outside = env.run_thru(&["evidence", "run", "1.1", "--file", "../..", "--", "true"]);
    assert!(outside.code == 15 && outside.stderr.contains("outside"), "{}", outside.stderr);
    let absent = env.run_thru(&["evidence", "run", "1.1", "--file", "nothing.rs", "--", "true"]);
    assert_eq!(absent.code, 10, "{}", absent.stderr);
}

#[test]
fn what_changes_while_it_runs_was_not_tested() {
    let env = env_with_plan();
    let run = env.run_thru(&["evidence", "run", "1.1", "--", "sh", "-c", "echo x > src/a.rs"]);
    assert!(run.stderr.contains("src/a.rs changed while the command ran"), "{}", run.stderr);
    assert_eq!(env.run_thru_json(&["evidence", "list"])["tasks"][0]["proof"], json!("stale"));
}

#[test]
fn a_run_that_says_nothing_proves_nothing() {
    let env = env_with_plan();
    for line in
        ["cargo test 2>/dev/null | tail -1; true", "echo 'test result: ok. 0 passed; 0 failed; 0 ignored'"]
    {
        let run = env.run_thru(&["evidence", "run", "1.1", "--", "sh", "-c", line]);
        assert_eq!(run.code, 1, "{}", run.stdout);
        assert!(run.stderr.contains("this does not prove that the task is done"), "{}", run.stderr);
    }
    assert_eq!(env.run_thru(&["task", "done", "1.1"]).code, 15);
    let late = env.run_thru(&["evidence", "run", "1.2", "--timeout", "1", "--", "sleep", "600"]);
    assert_eq!(late.code, 1);
    assert_eq!(read_bundle(&env, "1.2")["entries"][0]["metadata"]["ended"], json!("timed out"));
}

/// The run is recorded even if its JUnit report is ignored.
#[test]
fn a_report_counts_only_if_the_command_wrote_it() {
    let env = env_with_plan();
    env.write_file("project/.gitignore", "junit.xml\n");
    let run = |line: &str| {
        env.run_thru(&["evidence", "run", "1.2", "--junit", "junit.xml", "--", "sh", "-c", line])
    };
    let last = || read_bundle(&env, "1.2")["entries"].as_array().unwrap().last().unwrap().clone();
    let absent = run("true");
    assert!(absent.code == 1 && absent.stderr.contains("wrote no report"), "{}", absent.stderr);
    assert_eq!(run("echo '<testsuite tests=\"3\" failures=\"0\"></testsuite>' > junit.xml").code, 0);
    assert_eq!((&last()["tests_passed"], &last()["verdict"]), (&json!(3), &json!("pass")));
    let old = run("true");
    assert!(old.code == 1 && old.stderr.contains("from an earlier run"), "{}", old.stderr);
    assert_eq!((&last()["verdict"], &last()["tests_passed"]), (&json!("warn"), &Value::Null));
    assert_eq!(run("echo '<testsuite tests=\"3\" failures=\"1\"></testsuite>' > junit.xml").code, 1);
    assert_eq!((&last()["verdict"], &last()["tests_failed"]), (&json!("fail"), &json!(1)));
    let other = run("echo hello > junit.xml");
    assert!(other.code == 1 && other.stderr.contains("not a JUnit report"), "{}", other.stderr);
    assert_eq!(read_bundle(&env, "1.2")["entries"].as_array().unwrap().len(), 5);
}

/// A time that is later than any file change. The clock of these tests is fixed, but changed files get the real time.
const FAR_FUTURE: &str = "2099-01-01T00:00:00Z";

fn fire_at(env: &TestEnv, now: &str, event: &str, more: Value) {
    let payload = env.event_payload("s1", event, more).to_string();
    env.hook_call(event, payload)
        .with_variable("THROUGHLINE_NOW", now)
        .run()
        .assert_accepted_by_harness(event);
}

fn report_stop(env: &TestEnv) {
    fire_at(env, FAR_FUTURE, "Stop", json!({}));
}

fn report_bash_at(env: &TestEnv, now: &str, id: &str, command: &str, output: &str) {
    let more = json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id,
        "tool_response": {"stdout": output, "stderr": "", "interrupted": false}});
    fire_at(env, now, "PostToolUse", more);
}

fn report_bash(env: &TestEnv, id: &str, command: &str, output: &str) {
    report_bash_at(env, FAR_FUTURE, id, command, output);
}

fn report_edit(env: &TestEnv, id: &str, path: &str) {
    let path = env.project_folder().join(path);
    let more = json!({"tool_name": "Edit", "tool_input": {"file_path": path}, "tool_use_id": id, "tool_response": {}});
    fire_at(env, FAR_FUTURE, "PostToolUse", more);
}

/// Waits until a new second begins, and returns the time at which it began. Files that were changed before the call are
/// older than that time. A file gets the time of the last clock tick, so the function waits for a few ticks before and
/// after the beginning of the second.
fn quiet_real_time() -> String {
    let ticks = || std::thread::sleep(std::time::Duration::from_millis(60));
    let second = || jiff::Timestamp::now().as_second();
    ticks();
    let first = second();
    let now = loop {
        ticks();
        let now = second();
        if now > first {
            break now;
        }
    };
    ticks();
    jiff::Timestamp::from_second(now).unwrap().to_string()
}

/// No hook reports changes by an editor or another session, but the modification times of the files show them.
#[test]
fn a_file_that_changed_between_a_run_and_its_checkpoint_was_not_tested() {
    let env = env_with_plan();
    env.write_file("project/src/gone.rs", "");
    env.write_file("project/src/missing.rs", "");
    env.run_git(&["add", "."]);
    fs::remove_file(env.project_folder().join("src/missing.rs")).unwrap();
    let ok = "test result: ok. 7 passed; 0 failed; 0 ignored\n";
    let last = || read_bundle(&env, "1.1")["entries"].as_array().unwrap().last().unwrap().clone();
    let path = env.project_folder().join("src/a.rs");
    let set_back = || {
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    };
    let rows: [(&str, &dyn Fn()); 4] = [
        ("", &|| {}),
        ("src/a.rs", &|| fs::write(&path, "fn b() {}\n").unwrap()),
        ("src/a.rs", &set_back),
        ("src/gone.rs", &|| fs::remove_file(env.project_folder().join("src/gone.rs")).unwrap()),
    ];
    for (number, (changed, act)) in rows.into_iter().enumerate() {
        let now = quiet_real_time();
        report_bash_at(&env, &now, &format!("t{number}"), "cargo test", ok);
        act();
        fire_at(&env, &now, "Stop", json!({}));
        let seen = last();
        assert_eq!(seen["changed"].as_str().unwrap_or_default(), changed, "{number}: {seen}");
        assert_eq!(seen["tree"].is_null(), !changed.is_empty(), "{number}: {seen}");
    }
}

/// cargo prints a summary for each crate and, at the end, an empty summary for doc tests. The tests in all summaries
/// are added up.
#[test]
fn every_summary_of_a_run_is_counted() {
    let env = env_with_plan();
    let output = "test result: ok. 7 passed; 0 failed\ntest result: ok. 5 passed; 0 failed\n   Doc-tests x\n\
                  test result: ok. 0 passed; 0 failed\n";
    report_bash(&env, "t1", "cargo test", output);
    report_stop(&env);
    let entry = &read_bundle(&env, "1.1")["entries"][0];
    assert_eq!((&entry["verdict"], &entry["tests_passed"]), (&json!("pass"), &json!(12)));
}

#[test]
fn a_run_that_found_no_room_is_recorded_when_there_is_some() {
    let env = env_with_plan();
    let large = env.write_file(env.store_folder().join("evidence/1.1/diff.patch"), "");
    fs::File::options().write(true).open(&large).unwrap().set_len(21 * 1024 * 1024).unwrap();
    report_bash(&env, "t1", "cargo test", "test result: ok. 7 passed; 0 failed; 0 ignored\n");
    report_stop(&env);
    assert!(!env.store_folder().join("evidence/1.1/bundle.json").exists());
    fs::remove_file(large).unwrap();
    report_stop(&env);
    assert_eq!(read_bundle(&env, "1.1")["entries"][0]["kind"], json!("observed"));
}

/// The file listing of a failed run is kept, no matter how many runs follow.
#[test]
fn a_failure_is_not_forgotten() {
    let env = env_with_plan();
    env.run_thru(&["evidence", "run", "1.1", "--", "sh", "-c", FAILING_COMMAND]);
    for number in 0..6 {
        env.write_file("project/src/a.rs", format!("fn a() {{ {number} }}\n"));
        run_passing_tests(&env);
    }
    env.write_file("project/src/a.rs", "fn a() {}\n");
    run_passing_tests(&env);
    let proof = || env.run_thru_json(&["evidence", "list"])["tasks"][0]["proof"].clone();
    assert_eq!(proof(), json!("failed"), "the files are as they were when it failed");
    env.run_thru(&["evidence", "archive", "1.1", "--keep", "1"]).assert_ok();
    assert_eq!(proof(), json!("failed"), "the archive settles nothing");
    assert_eq!(env.run_thru(&["task", "done", "1.1"]).code, 15);
}

#[test]
fn each_task_has_its_own_files_and_unknown_ones_prove_nothing() {
    let env = env_with_plan();
    run_passing_tests(&env);
    env.run_thru(&["evidence", "run", "1.2", "--", "sh", "-c", PASSING_COMMAND]).assert_ok();
    let lists = |task: &str| {
        names_in(&env.store_folder().join(format!("evidence/{task}")))
            .into_iter()
            .filter(|name| name.ends_with(".files"))
            .collect::<Vec<_>>()
    };
    fs::remove_file(env.store_folder().join("evidence/1.1").join(&lists("1.1")[0])).unwrap();
    let proofs = || {
        let tasks = env.run_thru_json(&["evidence", "list"])["tasks"].clone();
        [tasks[0]["proof"].clone(), tasks[1]["proof"].clone()]
    };
    assert_eq!(proofs(), [json!("stale"), json!("passed")]);
    fs::write(env.project_folder().join(".git/index"), "no index").unwrap();
    assert_eq!(proofs(), [json!("stale"), json!("stale")], "it is not known whether there is a new file");
}

/// A session waits for its brief, so a brief compares only a limited number of files.
#[test]
fn a_brief_compares_a_limited_number_of_files() {
    let env = TestEnv::with_root();
    for number in 0..5_001 {
        env.write_file(format!("project/many/{number}"), "");
    }
    env.run_thru(&["plan", "init", "Parser", "--phase", "Read"]).assert_ok();
    env.run_thru(&["task", "add", "Lexer"]).assert_ok();
    env.run_thru(&["task", "start", "1.1"]).assert_ok();
    run_passing_tests(&env);
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Finish the lexer of the parser."}));
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(brief.contains("too many files to compare here"), "{brief}");
    assert_eq!(env.run_thru_json(&["evidence", "list"])["tasks"][0]["proof"], json!("passed"));
}

#[test]
fn paths_lead_to_no_file_outside() {
    let env = env_with_plan();
    let outside = env.base_folder().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret"), "x").unwrap();
    std::os::unix::fs::symlink(&outside, env.project_folder().join("link")).unwrap();
    let linked = env.run_thru(&["evidence", "run", "1.1", "--file", "link/secret", "--", "true"]);
    assert_eq!(linked.code, 10, "{}", linked.stderr);
    // If a task names a file outside the project, the task's list is ignored, and the run covers the whole project.
    env.run_thru(&["plan", "set", "1.1", "--file", "../outside/secret"]).assert_ok();
    env.run_thru(&["evidence", "run", "1.1", "--", "true"]).assert_ok();
    let lists = names_in(&env.store_folder().join("evidence/1.1"));
    let list = lists.iter().find(|name| name.ends_with(".files")).unwrap();
    let listed = fs::read_to_string(env.store_folder().join("evidence/1.1").join(list)).unwrap();
    assert!(!listed.contains("secret") && listed.contains("src/a.rs"), "{listed}");
}

#[test]
fn a_test_run_that_a_hook_saw_is_evidence_of_the_task_in_progress() {
    let env = env_with_plan();
    let ok = "test result: ok. 7 passed; 0 failed; 0 ignored\n";
    report_bash(&env, "t1", "cargo test", ok);
    assert!(
        !env.store_folder().join("evidence").exists(),
        "a tool call writes its journal line and nothing else"
    );
    report_stop(&env);
    let entry = &read_bundle(&env, "1.1")["entries"][0];
    assert_eq!(
        (&entry["kind"], &entry["verdict"], &entry["tests_passed"]),
        (&json!("observed"), &json!("pass"), &json!(7))
    );
    assert_eq!((&entry["command"], &entry["scope"]), (&json!("cargo test"), &json!("project")));
    report_stop(&env);
    assert_eq!(read_bundle(&env, "1.1")["entries"].as_array().unwrap().len(), 1, "seen once");
    assert_eq!(env.run_thru_json(&["evidence", "list"])["tasks"][0]["proof"], json!("passed"));

    // The run covers all files of the project, not only the files that were edited before it.
    env.write_file("project/README.md", "other\n");
    assert_eq!(env.run_thru_json(&["evidence", "list"])["tasks"][0]["proof"], json!("stale"));

    report_bash(&env, "t2", "cargo test", ok);
    report_edit(&env, "t3", "src/a.rs");
    report_stop(&env);
    let last = read_bundle(&env, "1.1")["entries"][1].clone();
    assert_eq!(
        (&last["changed"], &last["tree"]),
        (&json!("src/a.rs"), &Value::Null),
        "edited after the run: {last}"
    );
}

#[test]
fn what_the_session_saw_counts_at_once() {
    let env = env_with_plan();
    report_bash(&env, "t1", "cargo test", "test result: ok. 7 passed; 0 failed; 0 ignored\n");
    // The agent finishes the task in the same turn, before the next checkpoint.
    env.thru_call(&["task", "done", "1.1"]).with_variable("CLAUDE_CODE_SESSION_ID", "s1").run().assert_ok();
    assert_eq!(read_bundle(&env, "1.1")["entries"][0]["kind"], json!("observed"));
}

#[test]
fn a_task_that_its_list_has_as_done_is_done_once_there_is_evidence() {
    let env = env_with_plan();
    env.run_thru(&["task", "start", "1.2", "--session", "s1"]).assert_ok();
    env.run_thru(&["plan", "set", "1.2", "--acceptance", "the tests pass"]).assert_ok();
    let todos = json!([{"content": "Grammar", "status": "completed", "activeForm": "Grammar"}]);
    let more = json!({"tool_name": "TodoWrite", "tool_input": {"todos": todos}, "tool_use_id": "t0", "tool_response": {}});
    env.fire_event("s1", "PostToolUse", more);
    report_stop(&env);
    let task = |env: &TestEnv| env.run_thru_json(&["task", "show", "1.2"])["task"].clone();
    assert_eq!((&task(&env)["status"], &task(&env)["reported_done"]), (&json!("in_progress"), &json!(true)));
    report_bash(&env, "t1", "cargo test", "test result: ok. 7 passed; 0 failed; 0 ignored\n");
    fire_at(&env, FAR_FUTURE, "Stop", json!({"stop_hook_active": false, "last_assistant_message": "done"}));
    assert_eq!(task(&env)["status"], json!("completed"));
    let ledger = fs::read_to_string(env.store_folder().join("plan-ledger.jsonl")).unwrap();
    assert!(ledger.lines().last().unwrap().contains("7 passed"), "{ledger}");
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let env = env_with_plan();
    let long = "x".repeat(300);
    for id in ["..", "../1.1", "a/b", "a\u{7}b", "a\nb", &long, "", "nul"] {
        for words in [
            &["evidence", "add", id, "--summary", "x"][..],
            &["evidence", "run", id, "--", "true"],
            &["evidence", "show", id],
            &["evidence", "archive", id],
        ] {
            let refused = env.run_thru(words);
            assert_eq!(refused.code, 2, "{words:?}: {}", refused.stderr);
            assert!(!refused.stderr.contains(['\u{7}']), "{}", refused.stderr);
        }
    }
    assert!(!env.store_folder().join("evidence").exists());
    let unknown = env.run_thru(&["evidence", "add", "1.9", "--summary", "x"]);
    assert!(unknown.code == 10 && unknown.stderr.contains("there is no task 1.9"), "{}", unknown.stderr);
    let elsewhere = env.base_folder().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::create_dir(env.store_folder().join("evidence")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, env.store_folder().join("evidence/1.1")).unwrap();
    let linked = env.run_thru(&["evidence", "add", "1.1", "--summary", "x"]);
    assert_eq!(linked.code, 15, "{}", linked.stderr);
    assert!(names_in(&elsewhere).is_empty());
}

#[test]
fn over_the_limits_is_refused_with_the_figure() {
    let env = env_with_plan();
    let long = "x".repeat(100 * 1024);
    for _ in 0..4 {
        env.run_thru(&["evidence", "add", "1.1", "--summary", &long]).assert_ok();
    }
    let refused = env.run_thru(&["evidence", "add", "1.1", "--summary", &long]);
    assert_eq!(refused.code, 15);
    assert!(refused.stderr.contains("the limit is 512000"), "{}", refused.stderr);
    let small = env.write_file("project/small.patch", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n");
    let with_patch = ["evidence", "add", "1.1", "--summary", &long, "--patch", small.to_str().unwrap()];
    assert_eq!(env.run_thru(&with_patch).code, 15);
    let names = names_in(&env.store_folder().join("evidence/1.1"));
    assert!(names.iter().all(|name| !name.ends_with(".patch")), "a patch that no entry names: {names:?}");
    // The hint suggests `--keep 3`, which leaves room for exactly this entry.
    let keep = refused.stderr.split("--keep ").nth(1).unwrap().split('`').next().unwrap();
    assert_eq!(keep, "3", "{}", refused.stderr);
    let patch = env.write_file("project/big.patch", vec![b'x'; 5 * 1024 * 1024 + 1]);
    let refused =
        env.run_thru(&["evidence", "add", "1.1", "--type", "diff", "--patch", patch.to_str().unwrap()]);
    assert!(
        refused.code == 15 && refused.stderr.contains("5242881 bytes; the limit is 5242880"),
        "{}",
        refused.stderr
    );
    let patch = env.write_file("project/ok.patch", vec![b'x'; 5 * 1024 * 1024]);
    for number in 0..4 {
        let add =
            env.run_thru(&["evidence", "add", "1.2", "--type", "diff", "--patch", patch.to_str().unwrap()]);
        assert_eq!(add.code, if number < 3 { 0 } else { 15 }, "{}", add.stderr);
    }
    env.run_thru(&["evidence", "archive", "1.1", "--keep", "1"]).assert_ok();
    env.run_thru(&["evidence", "add", "1.1", "--summary", &long]).assert_ok();
    assert_eq!(read_bundle(&env, "1.1")["entries"].as_array().unwrap().len(), 2);
    assert_eq!(
        env.run_thru_json(&["evidence", "show", "1.1", "--archived"])["entries"].as_array().unwrap().len(),
        3
    );
}

#[test]
fn the_hundred_and_first_entry_sends_the_first_to_the_archive() {
    let env = env_with_plan();
    let entries: Vec<Value> = (0..100)
        .map(|n| {
            json!({"id": format!("e{n}"), "task_id": "1.2", "type": "note", "timestamp": "t", "agent": "a",
            "verdict": "info", "summary": format!("note {n}")})
        })
        .collect();
    let old = json!({"schema_version": "1.0.0", "task_id": "1.2", "entries": entries, "created_at": "t", "updated_at": "t"});
    env.write_file(env.store_folder().join("evidence/1.2/bundle.json"), old.to_string());
    let added = env.run_thru(&["evidence", "add", "1.2", "--summary", "one more"]).assert_ok();
    assert!(added.stderr.contains("1 older entry moved to evidence/1.2/archive.jsonl"), "{}", added.stderr);
    assert_eq!(read_bundle(&env, "1.2")["entries"].as_array().unwrap().len(), 100);
    assert_eq!(env.read_log("evidence/1.2/archive.jsonl")[0]["summary"], json!("note 0"));
    let dry = env.run_thru(&["evidence", "archive", "--keep", "10", "--dry-run"]).assert_ok();
    assert!(dry.stdout.contains("90 entries would be moved"), "{}", dry.stdout);
    env.run_thru(&["evidence", "archive", "--keep", "10"]).assert_ok();
    assert_eq!(env.read_log("evidence/1.2/archive.jsonl").len(), 91);
}

/// Simulates a `thru` that was killed after it wrote the archive and before it wrote the bundle.
#[test]
fn an_entry_is_archived_once() {
    let env = env_with_plan();
    let of = |n: usize| {
        json!({"id": format!("e{n}"), "task_id": "1.2", "type": "note", "timestamp": "t", "agent": "a",
            "verdict": "info", "summary": format!("note {n}")})
    };
    let entries: Vec<Value> = (0..100).map(of).collect();
    let old = json!({"schema_version": "1.0.0", "task_id": "1.2", "entries": entries, "created_at": "t", "updated_at": "t"});
    env.write_file(env.store_folder().join("evidence/1.2/bundle.json"), old.to_string());
    env.write_file(env.store_folder().join("evidence/1.2/archive.jsonl"), format!("{0}\n{0}\n", of(0)));
    env.run_thru(&["evidence", "add", "1.2", "--summary", "one more"]).assert_ok();
    assert_eq!(env.read_log("evidence/1.2/archive.jsonl").len(), 2, "it was there already");
    assert_eq!(env.run_thru_json(&["evidence", "show", "1.2"])["archived"], json!(1));
}

#[test]
fn a_damaged_bundle_is_named_and_kept_aside_only_by_a_write() {
    let env = env_with_plan();
    run_passing_tests(&env);
    let path = env.store_folder().join("evidence/1.1/bundle.json");
    fs::write(&path, "{\n  \"entries\": [").unwrap();
    let shown = env.run_thru(&["evidence", "show", "1.1"]);
    assert_eq!(shown.code, 12, "{}", shown.stderr);
    assert!(env.run_thru(&["evidence", "list"]).assert_ok().stdout.contains("bundle.json"));
    assert!(env.run_thru(&["plan", "show"]).assert_ok().stdout.contains("evidence cannot be read"));
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Finish the lexer of the parser."}));
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(
        brief.contains("1.1: evidence/1.1/bundle.json cannot be read; `thru doctor` says why"),
        "{brief}"
    );
    assert_eq!(env.run_thru(&["task", "done", "1.1"]).code, 15);
    let doctor = env.run_thru(&["doctor"]).stdout;
    assert!(doctor.contains("evidence/1.1/bundle.json:2") && doctor.contains("moves it aside"), "{doctor}");
    env.write_file(env.store_folder().join("evidence/2.1 2.json"), "{}");
    assert!(env.run_thru(&["doctor"]).stdout.contains("2.1 2.json"));
    let added = env.run_thru(&["evidence", "add", "1.1", "--summary", "anew"]).assert_ok();
    assert!(
        added.stderr.contains("was damaged; the damaged file was kept as bundle.json.damaged-"),
        "{}",
        added.stderr
    );
    let names = names_in(&env.store_folder().join("evidence/1.1"));
    assert!(names.iter().any(|name| name.starts_with("bundle.json.damaged-")), "{names:?}");
    let newer =
        env.write_file(env.store_folder().join("evidence/1.2/bundle.json"), r#"{"schema_version": "9.0.0"}"#);
    assert_eq!(env.run_thru(&["evidence", "add", "1.2", "--summary", "x"]).code, 13);
    assert!(fs::read_to_string(newer).unwrap().contains("9.0.0"));
}

#[test]
fn many_writers_lose_no_entry() {
    let env = env_with_plan();
    let calls: Vec<_> = (0..16)
        .map(|number| env.thru_call(&["evidence", "add", "1.2", "--summary", &format!("note {number}")]))
        .collect();
    std::thread::scope(|scope| {
        for call in calls {
            scope.spawn(move || drop(call.run().assert_ok()));
        }
    });
    assert_eq!(read_bundle(&env, "1.2")["entries"].as_array().unwrap().len(), 16);
}
