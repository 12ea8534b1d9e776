//! Checks the binary's system calls, traced with strace. There are few of them, and hooks do not sync, use the network
//! or start a process.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::call::ThruCall;
use crate::env::{TestEnv, event_of_fixture, fixture_names};

#[derive(Debug)]
struct SystemCall {
    name: String,
    /// The text of the call from the first argument on, including the result.
    rest: String,
}

/// Returns whether the test can run. In CI it must run, with two exceptions: systems other than Linux have no strace,
/// and for an emulated binary strace shows the emulator's calls.
pub fn can_run_test(needed: &[(&str, bool)]) -> bool {
    for (foreign, why) in [
        (!cfg!(target_os = "linux"), "strace exists only on Linux"),
        (std::env::var_os("THRU_EMULATED").is_some(), "the binary runs in an emulator"),
    ] {
        if foreign {
            println!("skipped: {why}");
            return false;
        }
    }
    let Some((missing, _)) = needed.iter().find(|(_, there)| !there) else { return true };
    assert!(std::env::var_os("CI").is_none(), "on CI this test must run, and {missing} is missing");
    println!("skipped: {missing} is missing");
    false
}

pub fn strace_works() -> (&'static str, bool) {
    let tried = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    ("strace", tried.is_ok_and(|output| output.status.success()))
}

/// Returns whether the release build is tested. The debug build is linked dynamically, and its loader makes more calls
/// than the program itself.
fn release_build() -> (&'static str, bool) {
    ("THRU_BIN (the release build)", std::env::var_os("THRU_BIN").is_some_and(|path| !path.is_empty()))
}

fn trace_call(env: &TestEnv, call: ThruCall) -> Vec<SystemCall> {
    let log = env.base_folder().join("strace.log");
    let words = ["-f", "-qq", "-y", "-s", "4096", "-o"].map(OsStr::new);
    let output = call.through_program("strace", &[&words[..], &[log.as_os_str()]].concat()).run();
    let text = String::from_utf8_lossy(&std::fs::read(&log).unwrap()).into_owned();
    std::fs::remove_file(&log).unwrap();
    let calls: Vec<SystemCall> = text.lines().filter_map(parse_strace_line).collect();
    assert!(calls.iter().any(|made| made.name == "execve"), "strace saw nothing: {output}");
    calls
}

/// Parses a line such as `1234  openat(AT_FDCWD</x>, "y", O_RDONLY) = 3</x/y>`.
fn parse_strace_line(line: &str) -> Option<SystemCall> {
    let call = line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
    let (name, rest) = call.split_once('(')?;
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_name.then(|| SystemCall { name: name.to_owned(), rest: rest.to_owned() })
}

/// Returns the path that a call opens, resolved against the folder that it is relative to.
fn opened_path(made: &SystemCall) -> Option<String> {
    let named = made.rest.split('"').nth(1)?;
    match made.name.as_str() {
        "open" | "creat" => Some(named.to_owned()),
        "openat" | "openat2" => {
            let folder =
                made.rest.split_once('<').and_then(|(_, rest)| rest.split_once('>')).map(|(path, _)| path);
            let path = Path::new(folder.unwrap_or("/")).join(named);
            Some(path.to_str()?.to_owned())
        }
        _ => None,
    }
}

#[test]
fn a_tool_call_costs_few_system_calls() {
    if !can_run_test(&[strace_works(), release_build()]) {
        return;
    }
    let env = TestEnv::with_root();
    let payload = env.captured_payload("PostToolUse.Edit");
    let session = payload["session_id"].as_str().unwrap();
    let journal = env.store_folder().join(format!("sessions/{session}.jsonl"));
    let needed: BTreeSet<String> = [
        env.store_folder(),
        env.store_folder().join("root.json"),
        env.trust_record_path(),
        env.user_config_path(),
        env.store_folder().join("config.toml"),
        // The hook checks this file, because a tool call after an announced compaction shows that the compaction did
        // not happen.
        env.store_folder().join(format!("state/pending/{session}")),
        journal.clone(),
    ]
    .map(|path| path.to_str().unwrap().to_owned())
    .into();
    let rounds = [("first line", false), ("next line", false), ("with settings", true)];
    for (about, settings) in rounds {
        if settings {
            env.write_file(env.user_config_path(), "[redact]\nemails = false\n");
            env.write_file("project/.agent/context/config.toml", "[hooks]\nenabled = true\n");
        }
        let before = env.count_journal_lines();
        let calls = trace_call(&env, env.hook_call("PostToolUse", payload.to_string()));
        assert_eq!(env.count_journal_lines(), before + 1);
        let listed = || calls.iter().map(|made| format!("{}({}\n", made.name, made.rest)).collect::<String>();
        assert!(calls.len() <= 40, "{about}: {} system calls\n{}", calls.len(), listed());
        let synced = calls.iter().find(|made| made.name.contains("sync"));
        assert!(synced.is_none(), "{about}: {synced:?}");
        let paths: BTreeSet<String> = calls.iter().filter_map(opened_path).collect();
        assert_eq!(paths, needed, "{about}: opens these and no other");
        let writes: Vec<&SystemCall> = calls.iter().filter(|made| made.name.contains("write")).collect();
        assert_eq!(writes.len(), 1, "{about}: {writes:?}");
        assert!(writes[0].rest.contains(&format!("<{}>", journal.display())), "{about}: {writes:?}");
    }
}

/// In a project without loops, a stop takes two lookups on disk: one for the index, and one for the loops.
#[test]
fn a_stop_without_a_loop_looks_for_one_once() {
    if !can_run_test(&[strace_works()]) {
        return;
    }
    let env = TestEnv::with_root();
    let calls = trace_call(&env, env.hook_call("Stop", env.captured_payload("Stop.first").to_string()));
    let mut looked: Vec<String> =
        calls.iter().filter_map(opened_path).filter(|path| path.contains("loop")).collect();
    // Listing a folder opens it a second time, as `.`. Ignore that call.
    looked.retain(|path| !path.ends_with("/."));
    let expected =
        ["indexes/active-loop.json", "loops"].map(|rel| env.store_folder().join(rel).display().to_string());
    assert_eq!(looked, expected);
}

/// A tool call does not wait for the disk. The next checkpoint waits once.
#[test]
fn an_answer_is_on_the_disk_after_the_next_checkpoint() {
    if !can_run_test(&[strace_works()]) {
        return;
    }
    let env = TestEnv::with_root();
    let question = "Which database?";
    let answered = json!({"tool_name": "AskUserQuestion", "tool_use_id": "t1",
        "tool_input": {"questions": [{"question": question, "options": []}]},
        "tool_response": {"questions": [], "answers": {question: "SQLite"}}});
    let waits = |event: &str, more: serde_json::Value| {
        let calls = trace_call(&env, env.hook_call(event, env.event_payload("s1", event, more).to_string()));
        calls.iter().any(|made| made.name == "fsync" && made.rest.contains("decisions.jsonl"))
    };
    assert!(!waits("PostToolUse", answered));
    assert_eq!(env.read_log("decisions.jsonl").len(), 1);
    assert!(waits("Stop", json!({})));
    assert!(!waits("Stop", json!({})));
}

#[test]
fn a_hook_in_somebody_elses_folder_opens_nothing_of_theirs() {
    if !can_run_test(&[strace_works(), release_build()]) {
        return;
    }
    let env = TestEnv::with_repository();
    env.write_file("project/.agent/notes.md", "mine\n");
    let calls =
        trace_call(&env, env.hook_call("PostToolUse", env.captured_payload("PostToolUse.Edit").to_string()));
    let inside = env.project_folder().to_str().unwrap().to_owned();
    let opened: Vec<String> =
        calls.iter().filter_map(opened_path).filter(|path| path.starts_with(&inside)).collect();
    let looked_for = env.store_folder().to_str().unwrap().to_owned();
    assert!(opened.iter().all(|path| *path == looked_for), "{opened:?}");
    assert!(calls.len() <= 60, "{} system calls", calls.len());
    assert!(!calls.iter().any(|made| made.name.contains("write")));
}

/// A reply must not be written to a file that got the descriptor of a closed stream.
#[test]
fn closed_streams_are_not_replaced_by_files() {
    if !can_run_test(&[strace_works(), release_build()]) {
        return;
    }
    let env = TestEnv::with_root();
    let payload = env.base_folder().join("payload.json");
    std::fs::write(&payload, env.captured_payload("SessionStart.startup").to_string()).unwrap();
    for closed in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
        let script = format!("exec \"$0\" \"$@\" <'{}' {closed}", payload.display());
        let call = env.hook_call("SessionStart", "").through_program("sh", &["-c".as_ref(), script.as_ref()]);
        let calls = trace_call(&env, call);
        let start = calls.iter().rposition(|made| made.name == "execve").unwrap();
        let opens = calls[start..].iter().filter(|made| opened_path(made).is_some());
        let low = |made: &&SystemCall| (0..3).any(|number| made.rest.contains(&format!("= {number}<")));
        let (null, files): (Vec<_>, Vec<_>) =
            opens.filter(low).partition(|made| made.rest.contains("</dev/null"));
        assert!(files.is_empty(), "{closed}: {files:?}");
        assert_eq!(null.len(), closed.matches('-').count(), "{closed}");
    }
}

/// Asserts that no call reaches the network or starts a process.
#[track_caller]
fn assert_no_network_or_process(calls: &[SystemCall], about: &str) {
    let forbidden =
        ["socket", "connect", "bind", "listen", "sendto", "fork", "vfork", "clone", "clone3", "execveat"];
    let made = calls.iter().find(|made| forbidden.contains(&made.name.as_str()));
    assert!(made.is_none(), "{about}: {made:?}");
    assert_eq!(calls.iter().filter(|made| made.name == "execve").count(), 1, "{about}");
}

#[test]
fn no_command_reaches_the_network_or_starts_a_process() {
    if !can_run_test(&[strace_works()]) {
        return;
    }
    let env = TestEnv::with_repository();
    let commands: [&[&str]; 16] = [
        &["status"],
        &["doctor"],
        &["init"],
        &["init"],
        &["init", "--shared"],
        &["context", "init", "--json"],
        &["status"],
        &["config"],
        &["doctor"],
        &["trust"],
        &["trust", "--list"],
        &["trust", "--revoke"],
        &["redact"],
        &["completions", "bash"],
        &["--version"],
        &["help", "hook"],
    ];
    for words in commands {
        assert_no_network_or_process(
            &trace_call(&env, env.thru_call(words).with_stdin(*b"text")),
            &words.join(" "),
        );
    }
}

#[test]
fn no_hook_reaches_the_network_or_starts_a_process() {
    if !can_run_test(&[strace_works()]) {
        return;
    }
    let (trusted, untrusted) = (TestEnv::with_root(), TestEnv::with_root());
    untrusted.run_thru(&["trust", "--revoke"]).assert_ok();
    let mut seen = BTreeSet::new();
    for name in fixture_names() {
        let event = event_of_fixture(&name);
        // Test one payload of each event, and every kind of session start.
        if !seen.insert(event.to_owned()) && event != "SessionStart" {
            continue;
        }
        for env in [&trusted, &untrusted] {
            let calls = trace_call(env, env.hook_call(event, env.captured_payload(&name).to_string()));
            assert_no_network_or_process(&calls, &name);
            // A session start writes to root.json, which is important enough to be synced.
            let synced = calls
                .iter()
                .find(|made| made.name.contains("sync") && !made.rest.contains("/.agent/context"));
            let any = calls.iter().find(|made| made.name.contains("sync"));
            let allowed = if event == "SessionStart" { synced } else { any };
            assert!(allowed.is_none(), "{name}: {allowed:?}");
        }
    }
    assert!(seen.len() > 25, "{seen:?}");
}
