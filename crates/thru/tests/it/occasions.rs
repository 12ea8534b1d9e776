//! Tests when a session gets a brief and which sessions the brief describes. Covers resumes, simultaneous sessions and
//! worktrees. Also tests the messages that explain why nothing is recorded.

use std::fs;
use std::path::Path;
#[cfg(target_os = "linux")]
use std::process::Child;
use std::process::Command;

use serde_json::{Value, json};

use crate::env::{TestEnv, event_of_fixture, fixture_names, merge_fields};

fn report_work(env: &TestEnv, session: &str, prompt: &str, file: &str) {
    env.fire_event(session, "UserPromptSubmit", json!({"prompt": prompt}));
    let input = json!({"file_path": env.project_folder().join(file)});
    let call = json!({"tool_name": "Edit", "tool_use_id": format!("{session}-{file}"), "tool_input": input});
    env.fire_event(session, "PostToolUse", call);
    env.fire_event(session, "Stop", json!({"last_assistant_message": format!("{file} is done.")}));
}

fn fire_at(env: &TestEnv, now: &str, session: &str, event: &str, more: Value) -> String {
    let payload = env.event_payload(session, event, more).to_string();
    let output = env.hook_call(event, payload).with_variable("THROUGHLINE_NOW", now).run();
    if output.stdout.is_empty() { String::new() } else { output.context_for_model() }
}

/// A process that acts as a harness until the test ends. Its start time is read from `/proc`.
#[cfg(target_os = "linux")]
struct OtherHarness(Child);

#[cfg(target_os = "linux")]
impl OtherHarness {
    fn start() -> OtherHarness {
        OtherHarness(Command::new("sleep").arg("600").spawn().unwrap())
    }

    /// Records this process as the process of the session.
    fn own_session(&self, env: &TestEnv, session: &str) {
        let pid = self.0.id();
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let started = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().to_owned();
        rewrite_session_lines(env, session, |line| {
            let place = line["process"].as_str().unwrap().splitn(3, ':').nth(2).unwrap().to_owned();
            line["process"] = json!(format!("{pid}:{started}:{place}"));
        });
    }
}

#[cfg(target_os = "linux")]
impl Drop for OtherHarness {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(target_os = "linux")]
fn rewrite_session_lines(env: &TestEnv, session: &str, change: impl Fn(&mut Value)) {
    let path = env.store_folder().join("indexes/sessions.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let lines = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if line["session"] == session && line["process"].is_string() {
            change(&mut line);
        }
        format!("{line}\n")
    });
    fs::write(&path, lines.collect::<String>()).unwrap();
}

fn start_session(env: &TestEnv, session: &str) -> String {
    let output = env.fire_event(session, "SessionStart", json!({"source": "startup"}));
    if output.stdout.is_empty() { String::new() } else { output.context_for_model() }
}

fn resume_session(env: &TestEnv, session: &str) -> String {
    let output = env.fire_event(session, "SessionStart", json!({"source": "resume"}));
    if output.stdout.is_empty() { String::new() } else { output.context_for_model() }
}

#[test]
fn a_resume_after_a_compaction_does_not_repeat_its_brief() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    report_work(&env, "s1", "Make the lexer fast", "src/lexer.rs");
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"}));
    let brief = env.fire_event("s1", "SessionStart", json!({"source": "compact"})).context_for_model();
    assert!(brief.contains("src/lexer.rs"), "{brief}");
    for _ in 0..2 {
        assert_eq!(resume_session(&env, "s1"), "", "its brief is still in the context");
    }
    assert_eq!(env.run_thru(&["brief", "--session", "s1", "--event", "resume"]).assert_ok().stdout, "");
}

#[test]
fn a_resume_tells_what_others_did_since() {
    let env = TestEnv::with_root();
    for file in ["src/lexer.rs", "src/parser.rs", "src/same.rs"] {
        env.write_file(format!("project/{file}"), "old\n");
    }
    start_session(&env, "s1");
    for file in ["src/lexer.rs", "src/parser.rs", "src/same.rs"] {
        report_work(&env, "s1", "Make the lexer fast", file);
    }
    env.fire_event("s1", "SessionEnd", json!({"reason": "other"}));
    assert_eq!(resume_session(&env, "s1"), "");
    env.fire_event("s1", "SessionEnd", json!({"reason": "other"}));
    // File times are coarse, so wait before a file is changed.
    std::thread::sleep(std::time::Duration::from_millis(20));
    env.write_file("project/src/lexer.rs", "new\n");
    fs::remove_file(env.project_folder().join("src/parser.rs")).unwrap();
    let later = "2026-11-15T20:00:00Z";
    fire_at(&env, later, "s2", "SessionStart", json!({"source": "startup"}));
    fire_at(&env, later, "s2", "UserPromptSubmit", json!({"prompt": "Write the printer"}));
    fire_at(&env, later, "s2", "SessionEnd", json!({"reason": "other"}));
    let told = fire_at(&env, "2026-11-15T21:00:00Z", "s1", "SessionStart", json!({"source": "resume"}));
    for fact in ["s2", "Write the printer", "changed: src/lexer.rs", "gone: src/parser.rs"] {
        assert!(told.contains(fact), "{fact} in\n{told}");
    }
    assert!(!told.contains("src/same.rs") && !told.contains("Make the lexer fast"), "{told}");
    assert!(told.encode_utf16().count() <= 1_000, "{}", told.len());
    let again = fire_at(&env, "2026-11-15T21:00:00Z", "s1", "SessionStart", json!({"source": "resume"}));
    assert!(!again.contains("Write the printer"), "it is in the context now: {again}");
}

#[test]
fn a_check_is_qualified_if_files_changed_after_the_session() {
    let env = TestEnv::with_root();
    env.write_file("project/src/cart.py", "amount / 2\n");
    start_session(&env, "s1");
    report_work(&env, "s1", "Make HALF halve the amount in the cart", "src/cart.py");
    let input = json!({"command": "cargo test"});
    let output = json!({"stdout": "test result: ok. 3 passed; 0 failed; 0 ignored", "stderr": ""});
    let call =
        json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": input, "tool_response": output});
    env.fire_event("s1", "PostToolUse", call);
    env.fire_event("s1", "Stop", json!({"last_assistant_message": "HALF halves the amount."}));
    env.fire_event("s1", "SessionEnd", json!({"reason": "other"}));
    let told = start_session(&env, "s2");
    assert!(told.contains("`cargo test` → passed\n"), "{told}");
    env.fire_event("s2", "SessionEnd", json!({"reason": "other"}));
    // File times are coarse, so wait before a file is changed.
    std::thread::sleep(std::time::Duration::from_millis(20));
    env.write_file("project/src/cart.py", "amount / 7\n");
    let told = start_session(&env, "s3");
    assert!(told.contains("`cargo test` → passed, before later changes\n"), "{told}");
}

#[test]
fn a_loop_is_told_once_to_a_session_that_is_resumed() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    env.run_thru(&["loop", "start", "Go on", "--promise", "DONE", "--session", "s1"]).assert_ok();
    let told = resume_session(&env, "s1");
    assert!(told.contains("Loop:") && told.contains("DONE"), "{told}");
    assert_eq!(resume_session(&env, "s1"), "", "it stands in the context");
    env.fire_hook("Stop", &env.event_payload("s1", "Stop", json!({"last_assistant_message": "Not yet."})))
        .assert_ok();
    assert!(resume_session(&env, "s1").contains("iteration"), "it has gone on since");
}

#[test]
fn the_session_that_was_active_last_is_told_of() {
    let env = TestEnv::with_root();
    fire_at(&env, "2026-11-15T10:00:00Z", "early", "SessionStart", json!({"source": "startup"}));
    fire_at(&env, "2026-11-15T11:00:00Z", "brief", "SessionStart", json!({"source": "startup"}));
    fire_at(
        &env,
        "2026-11-15T11:01:00Z",
        "brief",
        "UserPromptSubmit",
        json!({"prompt": "Write the printer"}),
    );
    fire_at(&env, "2026-11-15T11:02:00Z", "brief", "SessionEnd", json!({"reason": "other"}));
    fire_at(
        &env,
        "2026-11-15T12:00:00Z",
        "early",
        "UserPromptSubmit",
        json!({"prompt": "Make the lexer fast"}),
    );
    // Add a session that was opened and closed without any work.
    fire_at(&env, "2026-11-15T13:00:00Z", "empty", "SessionStart", json!({"source": "startup"}));
    fire_at(&env, "2026-11-15T13:00:00Z", "empty", "SessionEnd", json!({"reason": "other"}));
    let told = start_session(&env, "new");
    assert!(told.contains("early") && told.contains("Make the lexer fast"), "{told}");
    env.fire_event("new", "SessionEnd", json!({"reason": "other"}));
    assert_eq!(env.run_thru_json(&["status"])["last_session"]["session"], "early");
    assert_eq!(env.run_thru_json(&["brief"])["session"], "early");
    assert_eq!(env.run_thru_json(&["handoff", "the rest"])["session"], "early");
}

#[cfg(target_os = "linux")]
#[test]
fn sessions_side_by_side_hear_of_each_other_as_running() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    let (one, two) = (OtherHarness::start(), OtherHarness::start());
    start_session(&env, "s1");
    one.own_session(&env, "s1");
    report_work(&env, "s1", "Make the lexer fast", "src/lexer.rs");
    let told = start_session(&env, "s2");
    two.own_session(&env, "s2");
    assert!(
        told.contains("Also active:\n- session s1 (Claude Code) in this same checkout, branch main"),
        "{told}"
    );
    assert!(told.contains("editing src/lexer.rs") && told.contains("Make the lexer fast"), "{told}");
    assert!(!told.contains("the last session that did any work here was"), "it is not over: {told}");
    report_work(&env, "s2", "Write the printer", "src/printer.rs");
    let told = resume_session(&env, "s1");
    assert!(told.contains("session s2") && told.contains("editing src/printer.rs"), "{told}");
    one.own_session(&env, "s1");
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"}));
    let told = env.fire_event("s1", "SessionStart", json!({"source": "compact"})).context_for_model();
    assert!(told.contains("Also active") && told.contains("src/printer.rs"), "{told}");
    one.own_session(&env, "s1");
    assert_eq!(env.run_thru_json(&["status"])["running"], json!(["s1", "s2"]));
    drop(two);
    let told = start_session(&env, "s3");
    assert!(!told.contains("session s2 (Claude Code) in"), "it is dead: {told}");
}

/// A brief says what each running session did recently. The setting `awareness_max_chars` limits the total length of
/// these texts, not the length of each one.
#[cfg(target_os = "linux")]
#[test]
fn what_running_sessions_did_lately_is_limited_as_a_whole() {
    let env = TestEnv::with_root();
    let harnesses: Vec<OtherHarness> = (0..4).map(|_| OtherHarness::start()).collect();
    for (harness, session) in harnesses.iter().zip(["aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd"]) {
        start_session(&env, session);
        harness.own_session(&env, session);
        let input = json!({"file_path": env.project_folder().join(format!("src/{session}.rs"))});
        let call = json!({"tool_name": "Edit", "tool_use_id": session, "tool_input": input,
            "agent_id": "a1", "agent_type": "coder"});
        env.fire_event(session, "PostToolUse", call);
    }
    let lately = |session: &str| -> Vec<usize> {
        let told = start_session(&env, session);
        let phrases = told.lines().filter_map(|line| line.split_once("; recently "));
        phrases.map(|(_, phrase)| phrase.chars().count()).collect()
    };
    assert_eq!(lately("free").len(), 4);
    env.write_file(env.user_config_path(), "[swarm]\nawareness_max_chars = 60\n");
    let told = lately("limited");
    assert!(!told.is_empty() && told.iter().sum::<usize>() <= 60, "{told:?}");
}

fn fire_event_in(env: &TestEnv, folder: &Path, session: &str, event: &str, more: Value) -> String {
    let payload = env.event_payload(session, event, merge_fields(&json!({"cwd": folder}), more)).to_string();
    let output = env.hook_call(event, payload).with_variable("CLAUDE_PROJECT_DIR", folder).run();
    if output.stdout.is_empty() { String::new() } else { output.context_for_model() }
}

#[test]
fn files_of_another_worktree_are_told_as_its_own() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    let tree = env.base_folder().join("topic");
    env.run_git(&["worktree", "add", "--quiet", "-b", "topic", tree.to_str().unwrap()]);
    fs::write(tree.join("only-there.rs"), "x\n").unwrap();
    fire_event_in(&env, &tree, "s1", "SessionStart", json!({"source": "startup"}));
    fire_event_in(&env, &tree, "s1", "UserPromptSubmit", json!({"prompt": "Make the lexer fast"}));
    for (id, file) in [("t1", "only-there.rs"), ("t2", "missing.rs")] {
        let input = json!({"file_path": tree.join(file)});
        let call = json!({"tool_name": "Edit", "tool_use_id": id, "tool_input": input});
        fire_event_in(&env, &tree, "s1", "PostToolUse", call);
    }
    fire_event_in(&env, &tree, "s1", "SessionEnd", json!({"reason": "other"}));
    let told = start_session(&env, "s2");
    let where_ = format!("that session was in the worktree {} (branch topic)", tree.display());
    assert!(told.contains(&where_), "{told}");
    assert!(told.ends_with("Files:\n- edited only-there.rs\n"), "the missing file is not listed: {told}");
    let files = env.run_thru_json(&["files"]);
    let row = |name: &str| {
        files["files"].as_array().unwrap().iter().find(|row| row["path"] == name).unwrap().clone()
    };
    assert_eq!((&row("only-there.rs")["gone"], &row("missing.rs")["gone"]), (&Value::Null, &json!(true)));
}

#[test]
fn one_name_in_two_worktrees_is_two_files() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    let tree = env.base_folder().join("topic");
    env.run_git(&["worktree", "add", "--quiet", "-b", "topic", tree.to_str().unwrap()]);
    start_session(&env, "s1");
    report_work(&env, "s1", "Make the lexer fast", "src/lexer.rs");
    let input = json!({"file_path": tree.join("src/lexer.rs")});
    // The session has moved to the worktree, but the harness still reports the same project folder.
    let call = json!({"tool_name": "Edit", "tool_use_id": "t9", "tool_input": input, "cwd": tree});
    env.fire_event("s1", "PostToolUse", call);
    let files = env.run_thru_json(&["files", "--session", "s1"]);
    let paths: Vec<&str> =
        files["files"].as_array().unwrap().iter().map(|row| row["path"].as_str().unwrap()).collect();
    let there = tree.join("src/lexer.rs");
    assert!(paths.contains(&"src/lexer.rs") && paths.contains(&there.to_str().unwrap()), "{paths:?}");
}

/// Returns the message that the user gets when a session starts.
fn message_to_user_at_start(env: &TestEnv, source: &str) -> String {
    let payload = env.event_payload("s9", "SessionStart", json!({"source": source}));
    let output = env.fire_hook("SessionStart", &payload);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    if output.stdout.is_empty() {
        return String::new();
    }
    output.json()["systemMessage"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn the_user_is_told_why_nothing_is_captured() {
    let env = TestEnv::with_root();
    assert_eq!(message_to_user_at_start(&env, "startup"), "");
    env.write_file(env.user_config_path(), "[hooks]\nenabled = false\n");
    for source in ["startup", "resume"] {
        let told = message_to_user_at_start(&env, source);
        assert!(told.contains("hooks.enabled = false") && told.contains("thru config"), "{told}");
    }
    assert_eq!(message_to_user_at_start(&env, "compact"), "", "once a session");
    fs::remove_file(env.user_config_path()).unwrap();
    fs::remove_file(env.trust_record_path()).unwrap();
    assert!(message_to_user_at_start(&env, "startup").contains("run `thru trust` in a terminal"));
}

#[test]
fn a_project_that_was_moved_is_taken_over_with_one_command() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    report_work(&env, "s1", "Make the lexer fast", "src/lexer.rs");
    let (old, new) = (env.project_folder(), env.base_folder().join("elsewhere"));
    fs::rename(&old, &new).unwrap();
    let payload =
        json!({"session_id": "s2", "cwd": new, "hook_event_name": "SessionStart", "source": "startup"});
    let hook = |event: &str, payload: &Value| {
        let call =
            env.thru_call(&["hook", "claude-code", event]).in_folder(&new).with_stdin(payload.to_string());
        call.with_variable("CLAUDE_PROJECT_DIR", &new).run()
    };
    let told = hook("SessionStart", &payload).json()["systemMessage"].as_str().unwrap().to_owned();
    assert!(told.contains(old.to_str().unwrap()) && told.contains("thru trust --moved"), "{told}");
    let trusted = env.thru_call(&["trust", "--moved"]).in_folder(&new).run().assert_ok().stdout;
    assert!(trusted.contains("moved here from"), "{trusted}");
    assert!(hook("SessionStart", &payload).stdout.contains("Make the lexer fast"));
    env.thru_call(&["trust", "--moved"]).in_folder(&new).run().assert_ok();

    // A copy is not a move, because the old folder still exists.
    let copied = Command::new("cp").arg("-r").arg(&new).arg(env.base_folder().join("copy")).status().unwrap();
    assert!(copied.success());
    let copy = env.base_folder().join("copy");
    let call = env
        .thru_call(&["hook", "claude-code", "SessionStart"])
        .in_folder(&copy)
        .with_variable("CLAUDE_PROJECT_DIR", &copy);
    let payload =
        json!({"session_id": "s3", "cwd": copy, "hook_event_name": "SessionStart", "source": "startup"});
    let told =
        call.with_stdin(payload.to_string()).run().json()["systemMessage"].as_str().unwrap().to_owned();
    assert!(told.contains("run `thru trust` in a terminal"), "{told}");
    env.thru_call(&["trust", "--moved"]).in_folder(&copy).run().assert_exit_code(15);
    fs::create_dir(&old).unwrap();
}

/// A path that cannot be examined may still exist. In this test, the old project path goes through a link to itself.
#[test]
fn a_project_that_may_not_be_looked_at_was_not_moved() {
    let env = TestEnv::new();
    let (deep, copy) = (env.base_folder().join("deep"), env.base_folder().join("copy"));
    fs::create_dir_all(deep.join("project")).unwrap();
    env.thru_call(&["context", "init"]).in_folder(deep.join("project")).run().assert_ok();
    fs::rename(deep.join("project"), &copy).unwrap();
    fs::remove_dir(&deep).unwrap();
    std::os::unix::fs::symlink("deep", &deep).unwrap();
    env.thru_call(&["trust", "--moved"]).in_folder(&copy).run().assert_exit_code(15);
    fs::remove_file(&deep).unwrap();
    env.thru_call(&["trust", "--moved"]).in_folder(&copy).run().assert_ok();
}

#[test]
fn a_store_that_takes_no_records_is_told_to_the_user() {
    let env = TestEnv::with_root();
    let payload = env.event_payload("s1", "SessionStart", json!({"source": "startup"}));
    let folder = env.store_folder().join("sessions");
    fs::remove_dir(&folder).unwrap();
    fs::write(&folder, "in its place").unwrap();
    let output = env.fire_hook("SessionStart", &payload);
    let told = output.json()["systemMessage"].as_str().unwrap().to_owned();
    assert!(told.contains("cannot be written") && told.contains("thru doctor"), "{told}");
}

#[test]
fn a_marker_that_cannot_be_used_is_told_to_the_user() {
    let markers = [
        ("{brok", "root.json:1: damaged"),
        (r#"{"schema_version": 1}"#, "it has no usable project_id"),
        (r#"{"schema_version": 9, "project_id": "x"}"#, "this thru is older than the records here"),
    ];
    for (marker, part) in markers {
        let env = TestEnv::with_root();
        env.write_file("project/.agent/context/root.json", marker);
        let before = env.file_tree();
        for name in fixture_names() {
            env.fire_hook(event_of_fixture(&name), &env.captured_payload(&name))
                .assert_told_only_where_session_starts(&name, part, marker);
        }
        // A user who turned off hooks expects nothing to be captured.
        let start = env.captured_payload("SessionStart.startup").to_string();
        let off = env.hook_call("SessionStart", &*start).with_variable("THROUGHLINE_HOOKS_ENABLED", "false");
        off.run().assert_silent("hooks are off");
        before.assert_unchanged(&env.file_tree(), marker);

        let prompt = env.captured_payload("UserPromptSubmit").to_string();
        let call = env.thru_call(&["debug", "hook", "claude-code", "UserPromptSubmit", "--json"]);
        let explained = call.with_stdin(prompt).run().assert_ok().json();
        let why = explained["silent_because"].as_str().unwrap();
        assert!(why.contains("the root cannot be used") && why.contains("root.json"), "{why}");
    }
}

/// The message reaches the user in every harness, in the harness's own form.
#[test]
fn the_user_of_every_harness_is_told_why_nothing_is_captured() {
    let env = TestEnv::with_root();
    env.write_file("project/.agent/context/root.json", "{brok");
    let cwd = env.project_folder();
    let payloads = [
        ("claude-code", "SessionStart", "systemMessage", json!({"hook_event_name": "SessionStart"})),
        ("droid", "SessionStart", "systemMessage", json!({"hook_event_name": "SessionStart"})),
        ("opencode", "session.created", "tell", json!({})),
    ];
    for (harness, event, key, more) in payloads {
        let common = json!({"session_id": "s1", "cwd": cwd, "source": "startup"});
        let payload = merge_fields(&common, more).to_string();
        let output = env.thru_call(&["hook", harness, event]).with_stdin(payload).run().assert_ok();
        let answer = output.json();
        assert_eq!(answer.as_object().map(|answer| answer.len()), Some(1), "{harness}: {answer}");
        let told = answer[key].as_str().unwrap_or_else(|| panic!("{harness}: {answer}"));
        assert!(told.contains("root.json:1: damaged") && told.contains("`thru doctor`"), "{harness}: {told}");
    }
}

#[test]
fn packets_on_offer_are_told_at_the_start() {
    let env = TestEnv::with_root();
    let id = env.run_thru_json(&["handoff", "finish the parser"])["id"].as_str().unwrap().to_owned();
    let told = start_session(&env, "s1");
    assert!(told.contains("finish the parser") && told.contains(&format!("thru pickup {id}")), "{told}");
    env.run_thru(&["pickup", &id, "--claim", "--session", "s1"]).assert_ok();
    assert!(!start_session(&env, "s2").contains(&id), "somebody has it");
}

#[test]
fn a_claim_ends_with_its_session() {
    let env = TestEnv::with_root();
    let id = env.run_thru_json(&["handoff", "finish the parser"])["id"].as_str().unwrap().to_owned();
    for session in ["s1", "s2"] {
        env.fire_event(session, "SessionStart", json!({"source": "startup"}));
    }
    env.run_thru(&["pickup", &id, "--claim", "--session", "s1"]).assert_ok();
    env.run_thru(&["pickup", &id, "--claim", "--session", "s2"]).assert_exit_code(15);
    let listed = |env: &TestEnv| env.run_thru(&["packet", "list"]).assert_ok().stdout;
    assert!(listed(&env).contains("claimed by s1"), "{}", listed(&env));
    assert_eq!(env.run_thru_json(&["status"])["on_offer"], Value::Null);
    env.fire_event("s1", "SessionEnd", json!({"reason": "other"}));
    assert!(listed(&env).contains("free again: session s1"), "{}", listed(&env));
    assert_eq!(env.run_thru_json(&["packet", "list"])[0]["claim_is_over"], true);
    assert_eq!(env.run_thru_json(&["status"])["on_offer"], json!([id]));
    assert!(start_session(&env, "s3").contains(&format!("thru pickup {id}")), "it is offered again");
    env.run_thru(&["pickup", &id, "--claim", "--session", "s2"]).assert_ok();
    assert!(listed(&env).contains("claimed by s2"), "{}", listed(&env));
    assert!(env.run_thru(&["packet", "show", &id]).assert_ok().stdout.contains("claimed_by: s2"));
}
