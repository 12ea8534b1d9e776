//! A hook neither hangs on a file that it cannot use nor loads it into memory. Each file that hooks read is replaced
//! in turn with a file of one gigabyte, a pipe, a device and a folder.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::call::ThruCall;
use crate::env::{TestEnv, event_of_fixture};
use crate::obstacles::make_pipe;

const SESSION_ID: &str = "9487a9f7-611a-47e9-8202-df72ea246773";
const GIGABYTE: u64 = 1 << 30;

/// The longest time that a hook may take. The limit is far longer than a hook of the debug build takes on a busy
/// machine, and far shorter than reading a gigabyte takes.
const MAX_HOOK_TIME: Duration = Duration::from_secs(4);

/// The memory that a hook may allocate in this test, in KB. The debug build needs more than the eight megabytes that
/// `xtask torture` checks.
const MAX_MEMORY_KB: u32 = 24 * 1024;

const TESTED_EVENTS: [&str; 6] = [
    "SessionStart.startup",
    "SessionStart.resume",
    "PostToolUse.Edit",
    "PreCompact.manual",
    "Stop.first",
    "SessionEnd.other",
];

/// Runs the same call with little memory. If the call needs more, it is aborted, and its exit code shows that.
fn with_little_memory(call: ThruCall) -> ThruCall {
    let script = format!("ulimit -d {MAX_MEMORY_KB}; exec \"$0\" \"$@\"");
    call.through_program("sh", &["-c".as_ref(), script.as_ref()])
}

/// Returns every file that a hook reads, relative to the base of the environment.
fn files_read_by_hooks(env: &TestEnv) -> Vec<PathBuf> {
    let store = [
        "root.json",
        "config.toml",
        "decisions.jsonl",
        "packets/20261115T192200Z-a.md",
        "loops/a.md",
        "agents/dev.context.md",
        "workstreams/01-a/resume-context.md",
        "indexes/active-loop.json",
        "indexes/receipts.jsonl",
        "indexes/sessions.jsonl",
        "indexes/relevant-files.jsonl",
        "state/live.json",
        "state/reserved.json",
        "state/precompact_state.json",
        &format!("state/claims/{SESSION_ID}"),
        &format!("state/cursors/{SESSION_ID}.json"),
        &format!("state/digest/{SESSION_ID}.json"),
        &format!("state/pending/{SESSION_ID}"),
        &format!("state/roles/{SESSION_ID}"),
        &format!("sessions/{SESSION_ID}.jsonl"),
    ]
    .map(|rel| env.store_folder().join(rel));
    let outside = [
        env.project_folder().join(".git"),
        env.user_config_path(),
        env.trust_record_path(),
        write_transcript(env),
    ];
    store.into_iter().chain(outside).collect()
}

fn write_transcript(env: &TestEnv) -> PathBuf {
    env.home_folder().join("transcript.jsonl")
}

fn event_payload(env: &TestEnv, name: &str) -> Value {
    let mut payload = env.captured_payload(name);
    payload["session_id"] = json!(SESSION_ID);
    payload["transcript_path"] = json!(write_transcript(env));
    payload
}

fn make_huge_file(path: &Path) {
    File::create(path).unwrap().set_len(GIGABYTE).unwrap();
}

/// Replaces one file after another, and fires every event each time.
fn check_all_files(about: &str, make: impl Fn(&Path)) {
    let count = files_read_by_hooks(&TestEnv::with_root()).len();
    for at in 0..count {
        let env = TestEnv::with_root();
        let place = files_read_by_hooks(&env).remove(at);
        // Fire an event first, so that hooks have something to report.
        env.fire_hook("UserPromptSubmit", &event_payload(&env, "UserPromptSubmit")).assert_ok();
        let _ = fs::remove_file(&place);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        make(&place);
        for name in TESTED_EVENTS {
            let about = format!("{about} in place of {}: {name}", place.display());
            let started = Instant::now();
            let call = env.hook_call(event_of_fixture(name), event_payload(&env, name).to_string());
            let output = with_little_memory(call).run();
            assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{about}");
            assert!(started.elapsed() < MAX_HOOK_TIME, "{about}: {:?}", started.elapsed());
        }
        // Without the marker, the journal or the trust record, nothing can be recorded. In all other cases, nothing may
        // be lost.
        let is_needed =
            ["root.json", &format!("{SESSION_ID}.jsonl")].map(|name| place.ends_with(name)).contains(&true);
        if !is_needed && place != env.trust_record_path() {
            let text =
                fs::read_to_string(env.store_folder().join(format!("sessions/{SESSION_ID}.jsonl"))).unwrap();
            assert!(
                text.lines().any(|line| line.contains("tool-done")),
                "{about} in place of {}",
                place.display()
            );
        }
    }
}

#[test]
fn a_gigabyte_in_place_of_a_file_costs_nothing() {
    check_all_files("a gigabyte", make_huge_file);
}

#[test]
fn a_pipe_in_place_of_a_file_holds_up_no_hook() {
    check_all_files("a pipe", make_pipe);
}

#[test]
fn a_device_in_place_of_a_file_is_not_read() {
    check_all_files("a device", |path| symlink("/dev/zero", path).unwrap());
}

#[test]
fn a_folder_in_place_of_a_file_does_no_harm() {
    check_all_files("a folder", |path| {
        // If the folder already exists, it is kept.
        let _ = fs::create_dir(path);
    });
}

#[test]
fn pipes_in_git_hold_up_no_command() {
    for name in
        ["HEAD", "index", "packed-refs", "config", "commondir", "gitdir", "refs/heads/main", "info/exclude"]
    {
        let env = TestEnv::with_repository();
        env.run_thru(&["init"]).assert_ok();
        env.fire_hook("PostToolUse", &event_payload(&env, "PostToolUse.Edit")).assert_ok();
        let path = env.project_folder().join(".git").join(name);
        let _ = fs::remove_file(&path);
        make_pipe(&path);
        let started = Instant::now();
        env.run_thru(&["files", "--json"]).assert_ok();
        env.run_thru(&["handoff", "go on"]).assert_ok();
        env.fire_hook("SessionStart", &event_payload(&env, "SessionStart.startup")).assert_ok();
        // If thru ran the `git` program, each call would take ten seconds.
        assert!(started.elapsed() < Duration::from_secs(8), "{name}: {:?}", started.elapsed());
        // If git's state cannot be read, no file may be treated as untracked.
        let install = env.run_thru(&["install", "claude-code"]);
        assert!(install.code != 0 && install.stderr.contains("not a regular file"), "{name}: {install}");
    }
}

/// Writes a journal with a first prompt, a hole of 40 MB and a last prompt, and removes the digest.
fn write_long_journal(env: &TestEnv) {
    env.fire_event(SESSION_ID, "UserPromptSubmit", json!({"prompt": "begin with the lexer"})).assert_ok();
    let path = env.store_folder().join(format!("sessions/{SESSION_ID}.jsonl"));
    let mut file = File::options().write(true).open(&path).unwrap();
    file.seek(SeekFrom::End(40 << 20)).unwrap();
    file.write_all(b"\n").unwrap();
    drop(file);
    env.fire_event(SESSION_ID, "UserPromptSubmit", json!({"prompt": "finish the parser"})).assert_ok();
    let _ = fs::remove_dir_all(env.store_folder().join("state/digest"));
}

#[test]
fn of_a_long_journal_the_end_is_read_and_the_rest_is_told() {
    // With the first limit, the journal is one file. With the second limit, it is rotated.
    for limit in ["1000000", "1024"] {
        let env = TestEnv::with_root();
        let settings = format!("[hooks]\nlog_limit_kib = {limit}\n");
        env.write_file("project/.agent/context/config.toml", settings);
        check_long_journal(&env);
    }
}

fn check_long_journal(env: &TestEnv) {
    write_long_journal(env);
    let start = env.fire_event(SESSION_ID, "SessionStart", json!({"source": "compact"}));
    let told = start.context_for_model();
    assert!(told.contains("finish the parser"), "{told}");
    assert!(!told.contains("begin with the lexer"), "{told}");
    assert!(told.contains("MB of the journal was not read"), "{told}");
    let receipt = env.read_receipts().pop().unwrap();
    assert!(receipt["warning"].as_str().unwrap().contains("MB of the journal was not read"), "{receipt}");
    // A checkpoint writes the digest. A command can still read the part that the hook skipped.
    env.fire_event(SESSION_ID, "Stop", json!({"stop_hook_active": false})).assert_ok();
    let brief = env.run_thru(&["brief", "--session", SESSION_ID]).assert_ok().stdout;
    assert!(brief.contains("begin with the lexer") && brief.contains("finish the parser"), "{brief}");
    assert!(!brief.contains("were not read"), "{brief}");
}

#[test]
fn a_named_file_may_be_a_pipe() {
    let env = TestEnv::with_root();
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    let script = "printf 'fix the build' | \"$0\" loop start --session s1 --file /dev/stdin --max-iterations 2 && \"$0\" loop list";
    let output = env.thru_call::<&str>(&[]).through_program("sh", &["-c".as_ref(), script.as_ref()]).run();
    assert_eq!(output.code, 0, "{output}");
    let endless = env.run_thru(&["loop", "start", "--session", "s1", "--file", "/dev/zero"]);
    assert!(endless.code != 0 && endless.stderr.contains("larger than"), "{endless}");
}
