//! Tests handoffs: what they continue and finish, and what a killed session leaves behind.

use super::*;
use crate::packet_sweeps::mark_session_dead;

/// Fires an event of a session. `time` is a time of day on the test day, such as `19:30:05`.
pub fn fire_at(env: &TestEnv, time: &str, session: &str, event: &str, fields: Value) -> String {
    let payload = env.event_payload(session, event, fields);
    let call = env.hook_call(event, payload.to_string());
    let output = call.with_variable("THROUGHLINE_NOW", format!("2026-11-15T{time}Z")).run();
    output.assert_accepted_by_harness(event);
    output.context_for_model()
}

pub fn start_at(env: &TestEnv, time: &str, session: &str) -> String {
    fire_at(env, time, session, "SessionStart", json!({"source": "startup"}))
}

pub fn ask_at(env: &TestEnv, time: &str, session: &str, prompt: &str) -> String {
    fire_at(env, time, session, "UserPromptSubmit", json!({"prompt": prompt}))
}

pub fn edit_at(env: &TestEnv, time: &str, session: &str, path: &str) {
    let file = env.project_folder().join(path);
    let call = json!({"tool_name": "Edit", "tool_use_id": format!("{session}-{time}"),
        "tool_input": {"file_path": file, "old_string": "a", "new_string": "b"}});
    fire_at(env, time, session, "PostToolUse", call);
}

pub fn run_at(env: &TestEnv, time: &str, session: &str, command: &str, output: &str) {
    let call = json!({"tool_name": "Bash", "tool_use_id": format!("{session}-{time}"), "tool_input": {"command": command},
        "tool_response": {"stdout": output, "stderr": "", "interrupted": false}});
    fire_at(env, time, session, "PostToolUse", call);
}

pub fn stop_at(env: &TestEnv, time: &str, session: &str, message: &str) {
    fire_at(env, time, session, "Stop", json!({"last_assistant_message": message}));
}

/// Runs a thru command at this time, as if the agent of the session ran it.
pub fn thru_at(env: &TestEnv, time: &str, session: &str, words: &[&str]) -> crate::call::ThruOutput {
    let call = env.thru_call(words).with_variable("THROUGHLINE_NOW", format!("2026-11-15T{time}Z"));
    call.with_variable("CLAUDE_CODE_SESSION_ID", session).run().assert_ok()
}

pub fn end_at(env: &TestEnv, time: &str, session: &str) {
    fire_at(env, time, session, "SessionEnd", json!({"reason": "exit"}));
}

/// Creates a project in which session `s1` edited a file and was killed, and `s2` came later and ended.
fn env_with_killed_and_ended_session() -> TestEnv {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Sum each column of the table");
    edit_at(&env, "19:00:02", "s1", "Makefile");
    mark_session_dead(&env, "s1");
    start_at(&env, "19:00:05", "s2");
    ask_at(&env, "19:00:06", "s2", "Name the file of each table");
    end_at(&env, "19:00:07", "s2");
    env
}

#[test]
fn a_killed_session_gets_no_role_no_loop_no_stage_and_no_workstream() {
    let env = env_with_killed_and_ended_session();
    let bind = env.run_thru(&["role", "bind", "tester"]).assert_exit_code(15);
    assert!(bind.stderr.contains("no session is running here"), "{bind}");
    assert!(bind.stderr.contains("THROUGHLINE_ROLE=tester"), "{bind}");
    assert!(bind.stderr.contains("(session s2 has ended)"), "{bind}");
    let begin = env.run_thru(&["loop", "start", "x", "--promise", "y"]).assert_exit_code(2);
    assert!(begin.stderr.contains("use --next") && !begin.stderr.contains("s1"), "{begin}");
    let named = env.run_thru(&["loop", "start", "x", "--promise", "y", "--session", "s1"]).assert_ok();
    assert!(named.stderr.contains("session s1 has crashed; the loop continues if"), "{named}");
    let expect = env.run_thru(&["gate", "expect", "review", "--critical", "a.md"]).assert_ok();
    assert!(!expect.stderr.contains("is told"), "{expect}");

    start_at(&env, "19:10:00", "s3");
    mark_session_dead(&env, "s1");
    for (words, field) in [
        (&["role", "bind", "tester"][..], "session"),
        (&["gate", "expect", "second", "--critical", "b.md"], "session"),
    ] {
        assert_eq!(env.run_thru_json(words)[field], "s3", "{words:?}");
    }
    mark_session_dead(&env, "s3");
    let roles = env.run_thru_json(&["role", "list"]);
    assert_eq!(roles[0]["ended_sessions"], json!(["s3"]), "{roles}");
    let lifecycle = env.run_thru(&["lifecycle", "status"]).assert_ok();
    assert!(lifecycle.stdout.contains("ended") && !lifecycle.stdout.contains("s3"), "{lifecycle}");
}

#[test]
fn the_files_of_a_killed_session_are_no_clash_for_the_next_one() {
    let env = env_with_killed_and_ended_session();
    start_at(&env, "19:00:10", "s3");
    ask_at(&env, "19:00:11", "s3", "Sum each row as well");
    edit_at(&env, "19:00:20", "s3", "Makefile");
    let told = ask_at(&env, "19:00:30", "s3", "Now name the columns");
    assert!(!told.contains("edited Makefile"), "{told}");

    // This session edits the file while s3 is running, and is killed afterwards.
    start_at(&env, "19:00:40", "s4");
    ask_at(&env, "19:00:41", "s4", "Name the rows");
    edit_at(&env, "19:00:42", "s4", "Makefile");
    mark_session_dead(&env, "s4");
    let told = ask_at(&env, "19:00:50", "s3", "Go on with the columns");
    assert!(told.contains("session s4 (Claude Code), which has since ended, edited Makefile"), "{told}");
}

#[test]
fn the_purpose_of_a_handoff_is_open_work() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Sum each column of the table");
    edit_at(&env, "19:00:02", "s1", "table.py");
    run_at(&env, "19:00:03", "s1", "make test", "3 passed in 0.1s");
    stop_at(&env, "19:00:04", "s1", "The columns are summed.");
    ask_at(&env, "19:00:05", "s1", "Does it handle quoted cells?");
    stop_at(&env, "19:00:06", "s1", "Yes, the csv module does. There is no test for it, though.");
    thru_at(&env, "19:00:07", "s1", &["handoff", "add a test for quoted cells"]);
    let picked = env.run_thru(&["pickup", "quoted"]).assert_ok().stdout;
    let start = ["loop", "start", "--next", "--from-packet", "quoted", "--promise", "DONE"];
    env.run_thru(&start).assert_ok();
    let shown = env.run_thru(&["loop", "show"]).assert_ok().stdout;
    for text in [picked, shown, env.run_thru(&["packet", "show", "quoted"]).assert_ok().stdout] {
        assert!(text.contains("Goal: add a test for quoted cells"), "{text}");
        assert!(!text.contains("Nothing is open"), "{text}");
    }
    thru_at(&env, "19:00:08", "s1", &["handoff", "go on"]);
    let picked = env.run_thru(&["pickup", "go-on"]).assert_ok().stdout;
    assert!(picked.contains("Nothing is open: wait for the next request."), "no purpose: {picked}");
}

fn status_of_packet(env: &TestEnv, word: &str) -> Value {
    let listed = env.run_thru_json(&["packet", "list"]);
    let rows = listed.as_array().unwrap();
    rows.iter().find(|row| row["id"].as_str().unwrap().contains(word)).unwrap()["status"].clone()
}

#[test]
fn a_handoff_continues_the_packet_that_its_session_picked_up() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Print no exclamation mark. Never change the tests.");
    edit_at(&env, "19:00:02", "s1", "hello.py");
    thru_at(&env, "19:00:03", "s1", &["handoff", "remove the exclamation mark"]);
    end_at(&env, "19:00:04", "s1");

    start_at(&env, "19:01:00", "s2");
    let picked = thru_at(&env, "19:01:01", "s2", &["pickup", "--claim"]).stdout;
    let id = "20261115T190003Z-remove-the-exclamation-mark";
    assert!(picked.contains(&format!("When this work is done, run `thru packet done {id}`.")), "{picked}");
    ask_at(&env, "19:01:02", "s2", "/pickup");
    edit_at(&env, "19:01:03", "s2", "hello.py");
    stop_at(&env, "19:01:04", "s2", "The mark is gone.");
    let done = thru_at(&env, "19:01:05", "s2", &["handoff", "write a changelog"]);
    assert!(
        done.stderr.contains(&format!("packet {id} is done, because this packet continues it")),
        "{done}"
    );
    end_at(&env, "19:01:06", "s2");

    assert_eq!(status_of_packet(&env, "exclamation"), "done");
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(picked.contains("Goal: write a changelog"), "{picked}");
    assert!(picked.contains("Never change the tests."), "the first user's words: {picked}");
    assert!(
        picked.contains(&format!(
            "The session picked up packet {id}, which says:\n> remove the exclamation mark"
        )),
        "{picked}"
    );
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(status.contains("Next: `thru pickup 20261115T190105Z-write-a-changelog`"), "{status}");
    let told = start_at(&env, "19:02:00", "s3");
    assert!(told.contains("on offer: “write a changelog”") && !told.contains("remove the"), "{told}");
    let old = env.run_thru(&["pickup", "exclamation"]).assert_ok().stdout;
    assert!(old.contains("which is done (packet 20261115T190105Z-write-a-changelog continues it)"), "{old}");
    env.run_thru(&["packet", "activate", id]).assert_ok();
    assert!(!env.run_thru(&["packet", "show", id]).assert_ok().stdout.contains("continued_by"));
}

#[test]
fn a_handoff_leaves_the_packets_of_other_sessions_alone() {
    let env = TestEnv::with_root();
    for (second, session) in [("00", "s1"), ("10", "s2")] {
        start_at(&env, &format!("19:00:{second}"), session);
        ask_at(&env, &format!("19:00:{second}"), session, &format!("Do the task of {session}"));
        edit_at(&env, &format!("19:00:{second}"), session, "hello.py");
    }
    thru_at(&env, "19:00:20", "s1", &["handoff", "remove the mark"]);
    thru_at(&env, "19:00:21", "s2", &["pickup", "mark", "--claim"]);
    thru_at(&env, "19:00:22", "s1", &["handoff", "first"]);
    thru_at(&env, "19:00:23", "s2", &["handoff", "second", "--session", "s1"]);
    assert_eq!(status_of_packet(&env, "mark"), "active", "s2 hands over the work of s1");
    let crossing = thru_at(&env, "19:00:24", "s2", &["handoff", "third"]);
    assert!(crossing.stderr.contains("remove-the-mark is done"), "{crossing}");
    assert_eq!(status_of_packet(&env, "mark"), "done");
    assert_eq!(status_of_packet(&env, "first"), "draft");
}

#[test]
fn a_loop_whose_validators_pass_finishes_its_packet() {
    for (validator, status) in [(Some("true"), "done"), (None, "draft")] {
        let env = TestEnv::with_root();
        start_at(&env, "19:00:00", "s1");
        ask_at(&env, "19:00:01", "s1", "Sum each column");
        edit_at(&env, "19:00:02", "s1", "table.py");
        thru_at(&env, "19:00:03", "s1", &["handoff", "sum each row"]);
        let mut words = vec!["loop", "start", "--from-packet", "row", "--promise", "DONE"];
        words.extend(validator.into_iter().flat_map(|command| ["--validator", command]));
        thru_at(&env, "19:00:04", "s1", &words);
        stop_at(&env, "19:00:05", "s1", "<promise>DONE</promise>");
        assert_eq!(env.run_thru_json(&["loop", "show"])["status"], "done");
        assert_eq!(status_of_packet(&env, "row"), status, "{validator:?}");
    }
}

#[test]
fn files_at_risk_are_named_with_their_folder_and_are_those_of_the_session() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    for file in ["csvsum/__main__.py", "tests/test_cli.py", "tests/test_sum.py"] {
        env.write_file(format!("project/{file}"), "old\n");
    }
    env.run_git(&["add", "-A"]);
    env.run_git(&["commit", "-qm", "One"]);
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Sum one column");
    for (second, file) in
        [("02", "csvsum/__main__.py"), ("03", "tests/test_cli.py"), ("04", "tests/test_sum.py")]
    {
        env.write_file(format!("project/{file}"), "new\n");
        edit_at(&env, &format!("19:00:{second}"), "s1", file);
    }
    env.write_file("project/tests/of_another.py", "new\n");
    let files = "tests/{test_sum.py,test_cli.py}, csvsum/__main__.py";
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(brief.contains(&format!("- 3 files edited by the session, not committed: {files}")), "{brief}");
    // Above the list of files, the brief names every file together with its folder.
    let (before, _) = brief.split_once("\nFiles:\n").unwrap();
    assert!(!before.contains(" test_cli.py") && !before.contains(" __main__.py"), "{brief}");
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"}));
    let told = env.fire_event("s1", "SessionStart", json!({"source": "compact"})).context_for_model();
    assert!(told.contains("3 files edited by this session, not committed"), "{told}");
    mark_session_dead(&env, "s1");
    let told = start_at(&env, "19:30:00", "s2");
    assert!(told.contains(&format!("- 3 files edited by that session, not committed: {files}")), "{told}");
    let packet = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(packet.contains(&format!("- 3 files edited by the session, not committed: {files}")), "{packet}");
    // Commit the session's files. The file that somebody else wrote stays uncommitted.
    env.run_git(&["commit", "-qam", "Two"]);
    let packet = env.run_thru(&["pickup"]).assert_ok().stdout;
    let note = "csvsum/__main__.py (when the packet was written; HEAD has moved since)";
    assert!(packet.contains(note), "{packet}");
}

#[test]
fn the_page_about_loops_and_the_command_state_the_same_limit() {
    let env = repository_with_claude_code();
    env.run_thru(&["init"]).assert_ok();
    let note = "Claude Code continues at most 8 times in a row without a tool call";
    let said = env.run_thru(&["loop", "start", "go", "--next"]).assert_ok();
    assert!(said.stderr.contains(note), "{said}");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/loops.md");
    let page = fs::read_to_string(page).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains(note), "{page}");
}

#[test]
fn a_warning_is_not_the_cause_of_a_failing_test() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Sum one column");
    let output = "Exit code 2\npython3 -m unittest\n/tmp/p/tests/test_cli.py:16: ResourceWarning: unclosed file <_io.TextIOWrapper>\n  expected = open('a.csv').read()\nResourceWarning: Enable tracemalloc to get the object allocation traceback\n.F\n======\nFAIL: test_one_column (tests.test_cli.Cli)\n------\nTraceback (most recent call last):\n  File \"/tmp/p/tests/test_cli.py\", line 20, in test_one_column\nAssertionError: '4' != '3'\n\nRan 2 tests in 0.1s\n\nFAILED (failures=1)\nmake: *** [Makefile:2: test] Error 1";
    let failed = json!({"tool_name": "Bash", "tool_use_id": "b1", "tool_input": {"command": "make test"}, "error": output});
    fire_at(&env, "19:00:02", "s1", "PostToolUseFailure", failed);
    let journal = env.run_thru(&["journal"]).assert_ok().stdout;
    assert!(journal.contains("FAIL: test_one_column") && !journal.contains("ResourceWarning"), "{journal}");
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(brief.contains("AssertionError: '4' != '3'") && !brief.contains("ResourceWarning"), "{brief}");
}

#[test]
fn a_word_means_the_packet_that_is_not_done() {
    let env = TestEnv::with_root();
    for (second, purpose) in
        [("01", "write the readme"), ("02", "shorten the readme"), ("03", "translate the readme")]
    {
        thru_at(&env, &format!("19:00:{second}"), "s1", &["handoff", purpose]);
    }
    env.run_thru(&["packet", "done", "write"]).assert_ok();
    let many = env.run_thru(&["pickup", "readme"]).assert_exit_code(15);
    assert!(many.stderr.contains("matches 2 packets") && !many.stderr.contains("write-the"), "{many}");
    env.run_thru(&["packet", "done", "translate"]).assert_ok();
    let one = env.run_thru(&["pickup", "readme"]).assert_ok();
    assert!(one.stdout.contains("Picking up packet 20261115T190002Z-shorten-the-readme"), "{one}");
    env.run_thru(&["packet", "done", "shorten"]).assert_ok();
    let many = env.run_thru(&["pickup", "readme"]).assert_exit_code(15);
    assert!(many.stderr.contains("matches 3 packets"), "{many}");
}

#[test]
fn clearing_the_live_run_of_a_stage_says_how_the_stage_ended() {
    for (tier, is_written, words) in [
        ("--critical", true, "Stage review has passed and is no longer live; its files stay in "),
        (
            "--advisory",
            false,
            "Stage review has its critical outputs and is no longer live; its files stay in ",
        ),
        ("--critical", false, "Stage review is no longer live; its files stay in "),
    ] {
        let env = TestEnv::with_root();
        env.run_thru(&["gate", "expect", "review", tier, "review-a.md"]).assert_ok();
        if is_written {
            let run = "project/.agent/context/outputs/review-20261115T192200Z";
            let output = env.write_file(format!("{run}/review-a.md"), "# Review\n\nAll is well.\n");
            env.run_thru(&["gate", "seal", output.to_str().unwrap()]).assert_ok();
        }
        let cleared = env.run_thru(&["gate", "live", "--clear"]).assert_ok();
        assert!(cleared.stdout.starts_with(words), "{cleared}");
    }
}

#[test]
fn uninstall_removes_the_folders_in_the_home_that_thru_created() {
    for already in [&[][..], &["home/.factory"], &["home/.factory", "home/.factory/commands"]] {
        let env = TestEnv::new();
        already.iter().for_each(|folder| fs::create_dir(env.base_folder().join(folder)).unwrap());
        env.run_thru(&["init"]).assert_ok();
        env.run_thru(&["install", "droid"]).assert_ok();
        env.run_thru(&["swarm", "install", "--harness", "droid", "--user"]).assert_ok();
        assert!(env.home_folder().join(".factory/hooks.json").exists());
        env.run_thru(&["uninstall", "--all"]).assert_ok();
        assert_eq!(env.home_folder().join(".factory").exists(), !already.is_empty(), "{already:?}");
        // Another program creates the folder again, so thru must not remove it.
        fs::create_dir_all(env.home_folder().join(".factory")).unwrap();
        env.run_thru(&["uninstall", "--all"]).assert_ok();
        assert!(env.home_folder().join(".factory").exists(), "{already:?}");
    }
}
