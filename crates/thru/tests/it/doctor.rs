//! `thru doctor` examines everything and changes nothing.

use std::os::unix::fs::symlink;

use insta::assert_snapshot;
use serde_json::json;

use crate::env::TestEnv;

/// Returns the output before the rows about harnesses, which depend on the machine.
fn text_above_harnesses(doctor: &str) -> &str {
    doctor.split("\nok   claude-code").next().unwrap_or(doctor)
}

#[test]
fn the_doctor_of_a_healthy_root() {
    let env = TestEnv::with_root();
    env.run_thru(&["install", "claude-code", "--local"]).assert_ok();
    assert_snapshot!(text_above_harnesses(&env.mask_variable_parts(&env.run_thru(&["doctor"]).to_string())), @"
    exit: 0
    ---- stdout
    ok   root         $PROJECT (<uuid>)
    ok   trust        trusted on this machine
    ok   settings     all at their defaults
    ok   disk         records can be written
    ok   files        3 files in 7 folders
    ok   hooks        no hook has run yet
    ");
    for (event, name) in [("SessionStart", "SessionStart.startup"), ("PostToolUse", "PostToolUse.Edit")] {
        env.fire_hook(event, &env.captured_payload(name)).assert_silent(name);
    }
    let later = env.thru_call(&["doctor"]).with_variable("THROUGHLINE_NOW", "2026-11-15T19:52:00Z").run();
    let shown = env.mask_variable_parts(&later.to_string());
    let (_, events) = shown.split_once("\n\n").unwrap_or((&shown, ""));
    assert_snapshot!(text_above_harnesses(&shown), @"
    exit: 0
    ---- stdout
    ok   root         $PROJECT (<uuid>)
    ok   trust        trusted on this machine
    ok   settings     all at their defaults
    ok   disk         records can be written
    ok   files        8 files in 8 folders
    ok   hooks        2 hook runs, last: session-start 30 min ago
    ");
    // Remove the durations, which differ from run to run.
    let rows: Vec<&str> = events.lines().map(|row| row.get(..49).unwrap_or(row).trim_end()).collect();
    assert_eq!(
        rows,
        [
            "harness      event             runs  last fired",
            "claude-code  session-start        1  30 min ago",
            "claude-code  tool-done            1  30 min ago",
            "-: not timed. A tool call is recorded before its",
        ]
    );
}

#[test]
fn a_root_that_no_harness_calls_needs_attention() {
    let env = TestEnv::with_root();
    let doctor = env.run_thru(&["doctor"]).assert_exit_code(1).stdout;
    assert!(doctor.contains("warn hooks") && doctor.contains("`thru init` installs hooks"), "{doctor}");
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(
        status.contains("Next: `thru init` installs hooks") && !status.contains("start your harness"),
        "{status}"
    );
    assert_eq!(env.run_thru_json(&["status"])["next"], "wire");
    env.run_thru(&["install", "claude-code", "--local"]).assert_ok();
    env.run_thru(&["doctor"]).assert_ok();
    assert_eq!(env.run_thru_json(&["status"])["next"], "start-harness");

    // The harness may call `thru` through a plugin, without any settings file.
    env.run_thru(&["uninstall", "claude-code"]).assert_ok();
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    let doctor = env.run_thru(&["doctor"]).assert_ok().stdout;
    assert!(doctor.contains("unless a plugin does"), "{doctor}");
}

#[test]
fn the_number_of_hook_runs_is_that_of_the_table() {
    let env = TestEnv::with_root();
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    for call in ["t1", "t2", "t3"] {
        let input = json!({"command": "true"});
        env.fire_event(
            "s1",
            "PostToolUse",
            json!({"tool_name": "Bash", "tool_use_id": call, "tool_input": input}),
        );
    }
    let doctor = env.run_thru(&["doctor"]).stdout;
    assert!(doctor.contains("4 hook runs, last: "), "{doctor}");
    let (_, table) = doctor.split_once("\n\n").unwrap();
    let runs = table.lines().filter(|line| line.starts_with("claude-code"));
    let runs: usize = runs.map(|row| row.split_whitespace().nth(2).unwrap().parse::<usize>().unwrap()).sum();
    assert_eq!(runs, 4, "{doctor}");
    assert!(table.contains("not timed"), "{doctor}");
}

/// Claude Code reports the summary of a compaction in a `SubagentStop` event without an agent type. thru records this
/// event under another name, but `SubagentStop` must still count as fired.
#[test]
fn an_event_that_is_recorded_under_another_name_has_fired() {
    let env = TestEnv::with_root();
    env.run_thru(&["install", "claude-code", "--local"]).assert_ok();
    let silent = |env: &TestEnv| {
        let doctor = env.run_thru(&["doctor"]).stdout;
        doctor.lines().find(|line| line.contains("never fired here")).unwrap_or_default().to_owned()
    };
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    assert!(silent(&env).contains("SubagentStop"), "{}", silent(&env));
    let summary = json!({"agent_type": "", "last_assistant_message": "<summary>all</summary>"});
    env.fire_event("s1", "SubagentStop", summary);
    assert!(!silent(&env).contains("SubagentStop"), "{}", silent(&env));
}

#[test]
fn the_doctor_without_a_root() {
    let env = TestEnv::new();
    assert_snapshot!(env.mask_variable_parts(&env.run_thru(&["doctor"]).to_string()), @"
    exit: 1
    ---- stdout
    warn root      none; it would be $PROJECT
        warning: there is no root here
          hint: run `thru init` in your project's folder to create one
    ok   settings  all at their defaults
    ");
}

#[test]
fn notes_do_not_change_the_exit_code() {
    let env = TestEnv::with_root();
    env.run_thru(&["install", "claude-code", "--local"]).assert_ok();
    env.write_file("project/.agent/context/packets/.p.md.77-0.tmp", "half");
    env.write_file("project/.agent/context/packets/p.md.damaged-20261101T000000Z", "?");
    env.write_file("project/.agent/context/sessions/s.jsonl", "{\"a\":1}\n{\"b\":\n\n{\"c\":3}\nx\n");
    env.write_file("project/.agent/context/sessions/s~0001.jsonl", "{\"a\":1}\n{\"tor");
    let before = env.file_tree();
    let output = env.thru_call(&["doctor"]).with_variable("THROUGHLINE_DISABLE", "1").run();
    assert_snapshot!(text_above_harnesses(&env.mask_variable_parts(&output.to_string())), @"
    exit: 0
    ---- stdout
    ok   root         $PROJECT (<uuid>)
    ok   trust        trusted on this machine
    ok   settings     all at their defaults
        note: THROUGHLINE_DISABLE is set: hooks are off in this shell
    ok   disk         records can be written
    ok   files        7 files in 7 folders
        note: packets/.p.md.77-0.tmp: left by an interrupted write; the record itself is complete
        note: packets/p.md.damaged-20261101T000000Z: a damaged record that was moved aside; nothing reads it any more
        note: sessions/s.jsonl:2: 2 lines could not be read (cut off by a crash, or not written by thru); readers skip what they cannot read, and nothing is deleted
        note: sessions/s~0001.jsonl:2: 1 line could not be read (cut off by a crash, or not written by thru); readers skip what they cannot read, and nothing is deleted
    ok   hooks        no hook has run yet
    ");
    // Only the folder's modification time has changed, because doctor wrote a file to the folder and removed it.
    assert_eq!(
        before.changes_to(&env.file_tree()),
        ["~/project/.agent/context/scratch"],
        "doctor changes nothing else"
    );
}

#[test]
fn what_wants_attention_exits_1() {
    let env = TestEnv::with_root();
    symlink("/etc/hosts", env.store_folder().join("packets/link.md")).unwrap();
    let output = env.run_thru(&["doctor"]).assert_exit_code(1);
    assert!(output.stdout.contains("warn files") && output.stdout.contains("packets/link.md"), "{output}");
    let report = env.thru_call(&["doctor", "--json"]).run().assert_exit_code(1).json();
    let files = report["checks"].as_array().unwrap().iter().find(|check| check["name"] == "files").unwrap();
    assert_eq!(files["findings"][0]["level"], "warning");
    assert_eq!(files["findings"][0]["file"], "packets/link.md");
}

#[test]
fn hooks_that_failed_lately_are_named_once() {
    let env = TestEnv::with_root();
    for _ in 0..3 {
        env.fire_hook("Stop", &json!({"session_id": "../x", "cwd": env.project_folder()}))
            .assert_silent("bad id");
    }
    let at = |now: &str| env.thru_call(&["doctor"]).with_variable("THROUGHLINE_NOW", now).run();
    let output = at("2026-11-15T20:22:00Z").assert_exit_code(1);
    assert_eq!(output.stdout.matches("the session id ").count(), 1, "{output}");
    assert!(
        output.stdout.contains("3 hook runs, last: stop 1 h ago") || output.stdout.contains("60 min ago"),
        "{output}"
    );
    at("2026-11-23T19:22:00Z").assert_ok();
}

#[test]
fn many_different_failures_are_cut_short() {
    let env = TestEnv::with_root();
    for number in 0..8 {
        env.fire_hook(&format!("Event{number}"), &json!([])).assert_silent("not a payload");
    }
    let output = env.run_thru(&["doctor"]).assert_exit_code(1);
    assert_eq!(output.stdout.matches("is not a JSON object").count(), 5, "{output}");
    assert!(output.stdout.contains("and 3 more"), "{output}");
}

#[test]
fn text_from_a_harness_cannot_paint_the_terminal() {
    let env = TestEnv::with_root();
    env.fire_hook("\u{1b}]0;owned\u{7}Stop", &json!([])).assert_silent("an event with control characters");
    env.fire_hook("Stop", &json!({"session_id": "\u{1b}[2J", "cwd": env.project_folder()}))
        .assert_silent("a session id");
    let output = env.run_thru(&["doctor"]).assert_exit_code(1);
    assert!(!output.stdout.contains(['\u{1b}', '\u{7}']), "{output:?}");
}
