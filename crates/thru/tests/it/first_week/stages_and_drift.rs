//! Tests open stages, changes since a packet was written, and edits from before a workstream existed.

use std::time::{Duration, SystemTime};

use super::*;
use crate::packet_sweeps::mark_session_dead;

fn start(env: &TestEnv, session: &str) -> String {
    env.fire_event(session, "SessionStart", json!({"source": "startup"})).context_for_model()
}

fn ask(env: &TestEnv, session: &str, prompt: &str) {
    env.fire_event(session, "UserPromptSubmit", json!({"prompt": prompt}));
}

fn edit(env: &TestEnv, session: &str, id: &str, path: &str, content: &str) {
    let file = env.write_file(env.project_folder().join(path), content);
    let input = json!({"file_path": file, "old_string": "a", "new_string": "b"});
    env.fire_event(
        session,
        "PostToolUse",
        json!({"tool_name": "Edit", "tool_use_id": id, "tool_input": input}),
    );
}

fn run_failing_tests(env: &TestEnv, session: &str, id: &str) {
    let error = "Exit code 1\nFAIL: test_missing\nAssertionError: 'x' not found";
    let call = json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": "make test"}, "error": error});
    env.fire_event(session, "PostToolUseFailure", call);
}

/// Writes the transcript of a session that was killed while its last call was running.
fn write_transcript_of_killed_session(path: &Path, words: &str) {
    let at = "2026-11-15T19:22:05Z";
    let lines = [
        json!({"type": "user", "timestamp": at, "message": {"role": "user", "content": "Print the missing name."}}),
        json!({"type": "assistant", "timestamp": at, "message": {"role": "assistant", "id": "m1",
            "content": [{"type": "text", "text": words}]}}),
        json!({"type": "assistant", "timestamp": at, "message": {"role": "assistant", "id": "m1",
            "content": [{"type": "tool_use", "id": "t9", "name": "Bash", "input": {"command": "sleep 45 && git diff"}}]}}),
    ];
    fs::write(path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
}

#[test]
fn an_agent_that_was_killed_during_a_call_had_not_finished() {
    let env = TestEnv::with_root();
    let path = env.write_file("s1.jsonl", "");
    env.fire_event("s1", "SessionStart", json!({"source": "startup", "transcript_path": path}));
    ask(&env, "s1", "Print the missing name.");
    edit(&env, "s1", "t1", "tally.py", "a = 1\n");
    write_transcript_of_killed_session(&path, "The exit code is right, but the message names argv[0].");
    mark_session_dead(&env, "s1");
    start(&env, "s2");
    end_session(&env, "s2");
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    let brief = env.run_thru(&["brief", "--event", "startup"]).assert_ok().stdout;
    assert!(picked.contains("it was running `sleep 45 && git diff`."), "{picked}");
    for text in [&picked, &brief, &start(&env, "s3")] {
        assert!(!text.contains("had ended its turn") && !text.contains("answered"), "{text}");
        assert!(text.contains("the message names argv[0]"), "{text}");
    }
    assert!(brief.contains("The agent was running `sleep 45 && git diff` when the session ended"), "{brief}");
}

#[test]
fn a_file_that_changed_after_the_packet_of_a_crash_is_drift() {
    let env = TestEnv::with_root();
    start(&env, "s1");
    ask(&env, "s1", "Print the missing name.");
    edit(&env, "s1", "t1", "tally.py", "a = 1\n");
    run_failing_tests(&env, "s1", "t2");
    mark_session_dead(&env, "s1");
    start(&env, "s2");
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(picked.contains("nothing has changed since"), "{picked}");
    env.write_file("project/tally.py", "a = 2\n");
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(
        !picked.contains("nothing has changed since") && picked.contains("its content differs"),
        "{picked}"
    );

    // The user edits the file after the crash, before the packet is written.
    let env = TestEnv::with_root();
    let path = env.write_file("s1.jsonl", "");
    env.fire_event("s1", "SessionStart", json!({"source": "startup", "transcript_path": path}));
    ask(&env, "s1", "Print the missing name.");
    edit(&env, "s1", "t1", "tally.py", "a = 1\n");
    run_failing_tests(&env, "s1", "t2");
    write_transcript_of_killed_session(&path, "Fixing that now.");
    mark_session_dead(&env, "s1");
    let file = env.write_file("project/tally.py", "a = 2\n");
    // The clock of a file system is coarse, so make sure that the edit is later than the journal.
    let later = SystemTime::now() + Duration::from_millis(50);
    fs::File::options().write(true).open(file).unwrap().set_modified(later).unwrap();
    start(&env, "s2");
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(!picked.contains("nothing has changed since"), "{picked}");
}

#[test]
fn a_file_that_was_rewritten_names_only_what_changed() {
    let env = TestEnv::with_root();
    start(&env, "s1");
    ask(&env, "s1", "Accept '1.' as 100.");
    let old = "def fmt(cents):\n    return str(cents)\n\n\ndef parse(text):\n    return int(text)\n";
    let new = "def fmt(cents):\n    return str(cents)\n\n\n_WHOLE = 3\n\n\ndef parse(text):\n    return float(text)\n";
    let file = env.write_file("project/money.py", new);
    let call = |original: Value| {
        json!({"tool_name": "Write", "tool_use_id": format!("w{}", original.is_null()),
            "tool_input": {"file_path": file, "content": new},
            "tool_response": {"type": "update", "filePath": file, "content": new, "structuredPatch": [], "originalFile": original}})
    };
    env.fire_event("s1", "PostToolUse", call(Value::Null));
    let brief = env.run_thru(&["brief", "--event", "compact", "--session", "s1"]).assert_ok().stdout;
    assert!(!brief.contains("parse") && !brief.contains("fmt"), "the original is unknown: {brief}");
    env.fire_event("s1", "PostToolUse", call(old.into()));
    let brief = env.run_thru(&["brief", "--event", "compact", "--session", "s1"]).assert_ok().stdout;
    assert!(brief.contains("money.py: added `_WHOLE`; changed `parse`") && !brief.contains("fmt"), "{brief}");
}

const COMPLETE: &str = "Done.\n<!-- AGENT_COMPLETE -->\n";

#[test]
fn an_open_stage_stays_visible_when_the_next_one_begins() {
    let env = TestEnv::with_root();
    let expect =
        |stage: &str, file: &str| env.run_thru(&["gate", "expect", stage, "--critical", file]).assert_ok();
    let outputs = |stage: &str| {
        let names = names_in(&env.store_folder().join("outputs"));
        let run = names.iter().rev().find(|name| name.starts_with(stage)).unwrap().clone();
        env.store_folder().join("outputs").join(run)
    };
    assert!(!expect("review", "review-style.md").stderr.contains("still has"), "it is the first stage");
    fs::write(outputs("review").join("review-style.md"), "Half of it\n").unwrap();
    let audit = expect("audit", "audit-a.md");
    assert!(audit.stderr.contains("stage review still has 1 open output"), "{audit}");
    fs::write(outputs("audit").join("audit-a.md"), COMPLETE).unwrap();
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(status.contains("all 1 valid (stage audit"), "{status}");
    assert!(status.contains("1 of 1 open (stage review): incomplete review-style.md"), "{status}");
    assert!(status.contains("`thru gate check --stage review`"), "{status}");
    env.run_thru(&["gate", "check", "--stage", "review"]).assert_exit_code(4);
    assert_eq!(env.run_thru_json(&["status"])["earlier_outputs"][0]["stage"], "review");
    let doctor = env.run_thru(&["doctor"]).stdout;
    assert!(doctor.contains("0 of 1 open; earlier: 1 of 1 open (stage review)"), "{doctor}");

    // A stage that is complete or abandoned is not mentioned.
    fs::write(outputs("review").join("review-style.md"), COMPLETE).unwrap();
    assert!(!env.run_thru(&["status"]).assert_ok().stdout.contains("stage review"), "complete");
    fs::write(outputs("review").join("review-style.md"), "Half\n").unwrap();
    let cleared = env.run_thru(&["gate", "live", "--clear"]).assert_ok();
    assert!(cleared.stdout.contains("Stage audit has passed and is no longer live"), "{cleared}");
    assert!(cleared.stdout.contains("Stage review still has open outputs and is live again"), "{cleared}");
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(status.contains("1 of 1 open (stage review"), "only the live stage was abandoned: {status}");
    let json = env.run_thru_json(&["gate", "live", "--clear"]);
    assert_eq!((&json["run"], &json["cleared"]["stage"]), (&Value::Null, &json!("review")), "{json}");
    assert!(!env.run_thru(&["status"]).assert_ok().stdout.contains("stage review"), "abandoned");
}

#[test]
fn clearing_a_folder_of_several_stages_names_each_that_is_open() {
    let env = TestEnv::with_root();
    for (stage, list) in [("plan", "expected.plan.json"), ("review", "expected.json")] {
        let outputs = json!([{"file": format!("{stage}-a.md"), "tier": "critical"}]);
        let list_of_stage = json!({"schema_version": 1, "stage": stage, "attempt": 1, "outputs": outputs});
        env.write_file(format!("project/stages/{list}"), list_of_stage.to_string());
    }
    env.run_thru(&["gate", "live", "--set", "stages"]).assert_ok();
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(status.contains("1 of 1 open (stage plan)"), "{status}");
    let cleared = env.run_thru(&["gate", "live", "--clear"]).assert_ok();
    assert!(
        cleared
            .stderr
            .contains("stage plan in the same folder is no longer live either, and still has 1 open output"),
        "{cleared}"
    );
}

#[test]
fn what_the_brief_says_about_open_outputs_is_a_statement() {
    let env = TestEnv::with_root();
    start(&env, "s1");
    ask(&env, "s1", "Review the plan.");
    env.run_thru(&["gate", "expect", "review", "--critical", "review-a.md"]).assert_ok();
    env.run_thru(&["gate", "expect", "audit", "--critical", "audit-a.md"]).assert_ok();
    let brief = env.run_thru(&["brief", "--event", "compact", "--session", "s1"]).assert_ok().stdout;
    assert!(brief.contains("shows the verdicts; `thru gate prompt FILE` prints"), "{brief}");
    assert!(!brief.contains("have each written"), "{brief}");
    assert!(brief.contains("earlier stage, 1 of 1 open (stage review): missing review-a.md"), "{brief}");
}

/// Creates a project whose session `s1` works on a workstream with three steps, of which the first is done.
fn env_with_workstream_in_use() -> TestEnv {
    let env = TestEnv::with_root();
    start(&env, "s1");
    ask(&env, "s1", "Export the totals as CSV.");
    env.run_thru(&["resume", "new", "24-csv-export", "--load", "plan.md", "--load", "steps.md"]).assert_ok();
    let folder = env.store_folder().join("workstreams/24-csv-export");
    fs::write(folder.join("plan.md"), "# Plan\n").unwrap();
    fs::write(folder.join("steps.md"), "- [x] Write the rows\n- [ ] Quote the cells\n- [ ] Document it\n")
        .unwrap();
    env
}

#[test]
fn the_workstream_of_the_last_session_is_named_at_a_start() {
    let env = env_with_workstream_in_use();
    env.run_thru(&["resume", "use", "24-csv-export", "--session", "s1"]).assert_ok();
    edit(&env, "s1", "t1", "export.py", "a = 1\n");
    env.fire_event("s1", "Stop", json!({"last_assistant_message": "The rows are written."}));
    let packet = env.run_thru_json(&["handoff", "quote the cells", "--session", "s1"]);
    let picked = env.run_thru(&["pickup", packet["id"].as_str().unwrap()]).assert_ok().stdout;
    end_session(&env, "s1");
    let brief = env.run_thru(&["brief", "--event", "startup"]).assert_ok().stdout;
    for text in [&picked, &brief, &start(&env, "s2")] {
        assert!(text.contains("24-csv-export") && text.contains("next step “Quote the cells”"), "{text}");
        assert!(text.contains("workstreams/24-csv-export/resume-context.md"), "{text}");
    }
    assert!(brief.contains("from the last session: 24-csv-export"), "{brief}");

    // The next session has nothing to do with the workstream, so its packet does not name it.
    ask(&env, "s2", "Rename the module.");
    edit(&env, "s2", "t2", "module.py", "b = 1\n");
    let packet = env.run_thru_json(&["handoff", "rename the module", "--session", "s2"]);
    let picked = env.run_thru(&["pickup", packet["id"].as_str().unwrap()]).assert_ok().stdout;
    assert!(!picked.contains("24-csv-export"), "{picked}");
    end_session(&env, "s2");
    let brief = env.run_thru(&["brief", "--event", "startup"]).assert_ok().stdout;
    assert!(!brief.contains("24-csv-export"), "another session's workstream: {brief}");

    // A finished workstream is not mentioned, even if the last session worked on it.
    env.run_thru(&["resume", "use", "24-csv-export", "--session", "s2"]);
    let steps = env.store_folder().join("workstreams/24-csv-export/steps.md");
    fs::write(&steps, "- [x] Write the rows\n- [x] Quote the cells\n- [x] Document it\n").unwrap();
    let brief = env.run_thru(&["brief", "--event", "startup"]).assert_ok().stdout;
    assert!(!brief.contains("24-csv-export"), "{brief}");
}

#[test]
fn edits_before_a_workstream_existed_are_no_edits_in_the_meantime() {
    let env = TestEnv::with_root();
    start(&env, "s1");
    ask(&env, "s1", "Export the totals as CSV.");
    edit(&env, "s1", "t1", "export.py", "a = 1\n");
    end_session(&env, "s1");
    let later =
        |words: &[&str]| env.thru_call(words).with_variable("THROUGHLINE_NOW", "2026-11-15T20:00:00Z").run();
    later(&["resume", "new", "24-csv-export", "--load", "plan.md"]).assert_ok();
    fs::write(env.store_folder().join("workstreams/24-csv-export/plan.md"), "# Plan\n").unwrap();
    let gate = later(&["resume", "gate"]).assert_exit_code(1);
    assert!(gate.stderr.contains("1 file still to read"), "{gate}");
    assert!(!gate.stderr.contains("in the meantime"), "{gate}");
}

#[test]
fn status_in_a_moved_folder_says_what_hooks_do() {
    let env = TestEnv::with_root();
    let moved = env.base_folder().join("moved");
    fs::rename(env.project_folder(), &moved).unwrap();
    let status = env.thru_call(&["status"]).in_folder(&moved).run().assert_ok().stdout;
    assert!(status.contains("hooks record nothing here and tell the agent nothing"), "{status}");
}
