//! Tests how hooks handle loops: which session a loop belongs to, which stops are counted, and what happens if
//! something is wrong.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::call::{ThruCall, ThruOutput};
use crate::env::{TestEnv, merge_fields};

const LOOP_PROMPT: &str = "Make it green.";

/// A project with one session, `s1`, which owns a loop.
struct LoopedSession {
    env: TestEnv,
    id: String,
}

impl LoopedSession {
    fn new(words: &[&str]) -> LoopedSession {
        let env = TestEnv::with_root();
        env.fire_hook(
            "SessionStart",
            &json!({"session_id": "s1", "cwd": env.project_folder(), "source": "startup"}),
        );
        let looped = LoopedSession { env, id: String::new() };
        let id = looped.start_loop(&[&[LOOP_PROMPT, "--promise", "ALL GREEN"], words].concat());
        LoopedSession { id, ..looped }
    }

    fn start_loop(&self, words: &[&str]) -> String {
        let call = self.env.thru_call(&[&["loop", "start", "--json"], words].concat());
        let started = call.with_variable("CLAUDE_CODE_SESSION_ID", "s1").run().assert_ok().json();
        started["loop"]["id"].as_str().unwrap().to_owned()
    }

    fn fire_event(&self, event: &str, more: Value) -> ThruOutput {
        self.hook_call(event, more).run()
    }

    fn hook_call(&self, event: &str, more: Value) -> ThruCall {
        let common = json!({"session_id": "s1", "cwd": self.env.project_folder(), "prompt_id": "p1"});
        self.env.hook_call(event, merge_fields(&common, more).to_string())
    }

    /// Reports a stop at this minute. Tests use different minutes, so that two stops with the same message are not
    /// treated as one.
    fn report_stop(&self, minute: u32, more: Value) -> ThruOutput {
        self.hook_call("Stop", more)
            .with_variable("THROUGHLINE_NOW", format!("2026-11-15T20:{minute:02}:00Z"))
            .run()
    }

    fn report_stop_with_words(&self, minute: u32, text: &str) -> ThruOutput {
        self.report_stop(minute, json!({"last_assistant_message": text, "stop_hook_active": minute > 1}))
    }

    fn loop_state(&self) -> Value {
        self.env.run_thru_json(&["loop", "show", &self.id])
    }

    fn loop_iteration(&self) -> u64 {
        self.loop_state()["iteration"].as_u64().unwrap()
    }

    fn loop_file(&self) -> std::path::PathBuf {
        self.env.store_folder().join(format!("loops/{}.md", self.id))
    }

    fn last_receipt(&self) -> Value {
        self.env.read_receipts().pop().unwrap()
    }
}

#[track_caller]
fn prompt_fed(output: &ThruOutput, iteration: &str) -> String {
    let reply = output.json();
    assert_eq!(reply["decision"], "block", "{reply}");
    let reason = reply["reason"].as_str().unwrap().to_owned();
    assert!(
        reason.starts_with(LOOP_PROMPT) && reason.contains(&format!("iteration {iteration}")),
        "{reason}"
    );
    reason
}

#[test]
fn a_loop_is_fed_until_the_promise_and_the_validators_pass() {
    let looped = LoopedSession::new(&[
        "--max-iterations",
        "9",
        "--validator",
        "test -f green || { echo STILL RED; exit 3; }",
    ]);
    prompt_fed(&looped.report_stop_with_words(1, "Working on it."), "2 of 9");
    prompt_fed(&looped.report_stop_with_words(2, "Nearly: ALL GREEN"), "3 of 9");
    let reason = prompt_fed(&looped.report_stop_with_words(3, "<promise>ALL GREEN</promise>"), "4 of 9");
    assert!(reason.contains("did not pass (exit 3)") && reason.contains("STILL RED"), "{reason}");
    looped.env.write_file("project/green", "");
    looped.report_stop_with_words(4, "Now.\n<promise>ALL  GREEN</promise>").assert_silent("the end");
    let state = looped.loop_state();
    assert_eq!((&state["status"], &state["ended_reason"]), (&json!("done"), &json!("promise")));
    looped.report_stop_with_words(5, "Anything.").assert_silent("over");
    let pointer: Value = serde_json::from_slice(
        &fs::read(looped.env.store_folder().join("indexes/active-loop.json")).unwrap(),
    )
    .unwrap();
    assert_eq!(pointer, json!({"active_loop_id": null, "by_session": {}}));
    let log = looped.env.read_log(&format!("loops/{}.log.jsonl", looped.id));
    let events: Vec<_> = log
        .iter()
        .map(|line| (line["event"].as_str().unwrap(), line["iteration"].as_u64().unwrap()))
        .collect();
    assert_eq!(events, [("started", 1), ("fed", 1), ("fed", 2), ("fed", 3), ("ended", 4)]);
}

/// A validator's run counts like any other run of its command. The brief, the status and the packet contain its result.
#[test]
fn the_runs_of_validators_count_as_runs_of_their_commands() {
    for typed in ["npm test", "npm run build; npm test 2>&1 | tail -40; exit ${PIPESTATUS[0]}"] {
        let looped = LoopedSession::new(&["--validator", "npm test"]);
        let env = &looped.env;
        let npm = env.write_file(
            "bin/npm",
            "#!/bin/sh\ntest -f green && echo '# fail 0' || { echo 'not ok 1 - umlaut'; exit 1; }\n",
        );
        fs::set_permissions(npm, fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", env.base_folder().join("bin").display(), std::env::var("PATH").unwrap());
        let stop = |minute: u32| {
            let words = json!({"last_assistant_message": "<promise>ALL GREEN</promise>", "stop_hook_active": minute > 1});
            let call = looped.hook_call("Stop", words).with_variable("PATH", &path);
            call.with_variable("THROUGHLINE_NOW", format!("2026-11-15T20:{minute:02}:00Z")).run()
        };
        looped.fire_event("UserPromptSubmit", json!({"prompt": "Make it green."}));
        prompt_fed(&stop(1), "2 of 30");
        let brief = env.run_thru(&["brief"]).assert_ok().stdout.clone();
        assert!(brief.contains("- `npm test` (exit 1)"), "a validator that failed is a failure: {brief}");
        looped.fire_event(
            "PostToolUseFailure",
            json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": typed},
                "error": "Exit code 1\nTAP version 13\nnot ok 1 - umlaut\n# tests 1\n# pass 0\n# fail 1"}),
        );
        looped.fire_event(
            "PostToolUse",
            json!({"tool_name": "Edit", "tool_use_id": "t2", "tool_input": {"file_path": env.project_folder().join("src/slug.ts")}}),
        );
        env.write_file("project/green", "");
        stop(2).assert_silent("the validator passed");
        let brief = env.run_thru(&["brief"]).assert_ok().stdout.clone();
        assert!(!brief.contains("Failing"), "{typed}: {brief}");
        let status = env.run_thru(&["status"]).assert_ok().stdout.clone();
        assert!(!status.contains("failing"), "{typed}: {status}");
        let handoff = env.run_thru(&["handoff", "eszett"]).assert_ok();
        assert!(!handoff.stdout.contains("failing") && !handoff.stderr.contains("failing"), "{handoff:?}");
        let journal = env.run_thru(&["journal"]).assert_ok().stdout.clone();
        assert!(journal.contains("npm test  passed"), "{journal}");
        let log = env.read_log(&format!("loops/{}.log.jsonl", looped.id));
        let calls: Vec<_> = log.iter().map(|line| line["calls"].as_u64()).collect();
        assert_eq!(calls, [None, Some(0), Some(2)], "the first iteration has its calls too");
    }
}

#[test]
fn validators_know_that_a_hook_runs_them() {
    let looped = LoopedSession::new(&["--validator", "test \"$THROUGHLINE_HOOK\" = 1 && pwd > where"]);
    looped.report_stop_with_words(1, "<promise>ALL GREEN</promise>").assert_silent("passed");
    let folder = fs::read_to_string(looped.env.project_folder().join("where")).unwrap();
    assert_eq!(folder.trim(), looped.env.project_folder().to_str().unwrap());
}

#[test]
fn a_loop_blocks_only_the_session_that_owns_it() {
    let looped = LoopedSession::new(&[]);
    looped
        .report_stop(1, json!({"session_id": "s2", "last_assistant_message": "Hm."}))
        .assert_silent("another session");
    looped
        .report_stop(1, json!({"agent_id": "a1", "last_assistant_message": "<promise>ALL GREEN</promise>"}))
        .assert_silent("a sub-agent");
    looped.fire_event(
        "SubagentStop",
        json!({"agent_id": "a1", "last_assistant_message": "<promise>ALL GREEN</promise>"}),
    );
    let task = |kind: &str, status: &str| json!([{"id": "b", "type": kind, "status": status}]);
    for (kind, status, held) in
        [("subagent", "running", false), ("subagent", "completed", true), ("bash", "running", true)]
    {
        let output = looped.report_stop(if held { 2 } else { 1 }, json!({"last_assistant_message": format!("{kind} {status}"), "background_tasks": task(kind, status)}));
        assert_eq!(!output.stdout.is_empty(), held, "{kind} {status}");
    }
    looped.fire_event("PreCompact", json!({"trigger": "auto"}));
    looped
        .report_stop(9, json!({"last_assistant_message": "<summary>…</summary>"}))
        .assert_silent("a compaction's stop");
    assert_eq!((looped.loop_iteration(), &looped.loop_state()["status"]), (3, &json!("active")));
    looped
        .env
        .fire_hook("Stop", &json!({"session_id": "", "cwd": looped.env.project_folder()}))
        .assert_silent("no session");
    let torn = looped.env.hook_call("Stop", r#"{"session_id":"s1","last_assistant_message":"Hm."#);
    torn.with_variable("THROUGHLINE_NOW", "2026-11-15T20:30:00Z")
        .run()
        .assert_silent("half a payload holds nobody");
}

/// If the payload contains no message, the last message of the main agent is read from the transcript, in full.
#[test]
fn the_transcript_tells_what_was_said_last() {
    let said = |id: &str, text: &str, more: &str| {
        format!(
            r#"{{"parentUuid":null,"isSidechain":false,"type":"assistant","message":{{"id":"{id}","role":"assistant","content":[{{"type":"text","text":"{text}"}}{more}]}},"timestamp":"2026-11-15T19:22:01.000Z"}}"#
        )
    };
    let promise = "<promise>ALL GREEN</promise>";
    let call = r#",{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"true"}}"#;
    let result = format!(
        r#"{{"parentUuid":null,"isSidechain":false,"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t1","content":"{promise}"}}]}}}}"#
    );
    let rows = [
        ("the promise", vec![said("m1", promise, "")], false),
        (
            "control characters in the line",
            vec![said("m1", &format!("\u{1}\u{8}\u{1b}[1m {promise}"), "")],
            false,
        ),
        ("in a tool result", vec![said("m1", "Looking.", call), result], true),
        (
            "by a sub-agent",
            vec![
                said("m1", "Hm.", ""),
                said("x", promise, "").replace("\"isSidechain\":false", "\"isSidechain\":true"),
            ],
            true,
        ),
        ("the last block is a tool call", vec![said("m1", "Looking.", call)], true),
        (
            "a torn line behind it",
            vec![said("m1", promise, ""), r#"{"parentUuid":null,"type":"assi"#.to_owned()],
            false,
        ),
    ];
    for (about, lines, held) in rows {
        let looped = LoopedSession::new(&[]);
        let path = looped.env.write_file("t.jsonl", lines.join("\n") + "\n");
        let output = looped.report_stop(1, json!({"transcript_path": path}));
        assert_eq!(!output.stdout.is_empty(), held, "{about}: {output}");
        assert_eq!(looped.loop_iteration(), if held { 2 } else { 1 }, "{about}");
    }
    let looped = LoopedSession::new(&[]);
    let path = looped.env.write_file(
        "t.jsonl",
        said("m0", "Before.", "")
            + "\n{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"go\"}}\n",
    );
    let late = {
        let (path, line) = (path.clone(), said("m1", promise, "") + "\n");
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(40));
            fs::OpenOptions::new().append(true).open(path).unwrap().write_all(line.as_bytes()).unwrap();
        })
    };
    // The agent's message is usually written after the hook has started. On a busy machine, it may be written earlier.
    // The promise is found in both cases.
    looped.report_stop(1, json!({"transcript_path": path})).assert_silent("a message that comes late");
    late.join().unwrap();
    assert_eq!(looped.loop_state()["ended_reason"], "promise");

    let looped = LoopedSession::new(&[]);
    let folder = looped.env.base_folder().join("no-file");
    fs::create_dir(&folder).unwrap();
    looped
        .report_stop(1, json!({"transcript_path": folder}))
        .assert_silent("a transcript that cannot be read");
    let state = looped.loop_state();
    assert_eq!((&state["status"], &state["ended_reason"]), (&json!("paused"), &json!("error")), "{state}");
}

#[test]
fn one_stop_counts_once_however_often_it_is_told() {
    let looped = LoopedSession::new(&[]);
    let line = |id: &str| {
        format!(
            "{{\"type\":\"assistant\",\"message\":{{\"id\":\"{id}\",\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"Hm.\"}}]}}}}\n"
        )
    };
    let path = looped.env.write_file("t.jsonl", line("m1"));
    let payload = || json!({"transcript_path": path, "last_assistant_message": "Hm."});
    let first = looped.report_stop(1, payload());
    prompt_fed(&first, "2 of 30");
    assert_eq!(looped.report_stop(9, payload()).stdout, first.stdout, "an hour later it is the same message");
    let answer = "{\"type\":\"user\",\"isMeta\":true,\"message\":{\"role\":\"user\",\"content\":\"Stop hook feedback:\\nx\"},\"timestamp\":\"2026-11-15T20:01:01Z\"}\n";
    fs::write(&path, line("m1") + answer).unwrap();
    assert_eq!(looped.report_stop(10, payload()).stdout, first.stdout, "its twin was answered already");
    fs::write(&path, line("m1") + answer + &line("m2")).unwrap();
    prompt_fed(&looped.report_stop(1, payload()), "3 of 30");
}

/// Many copies of a stop arrive at the same time. Only one is counted, all get the same answer, and none waits long.
#[test]
fn sixty_four_copies_of_one_stop_count_once() {
    let looped = LoopedSession::new(&[]);
    looped.env.write_file("project/.agent/context/config.toml", "[hooks]\ndeadline_ms = 5000\n");
    let path = looped.env.write_file("t.jsonl", "{\"type\":\"assistant\",\"message\":{\"id\":\"m1\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Hm.\"}]}}\n");
    let payload = json!({"transcript_path": path, "last_assistant_message": "Hm."});
    let calls: Vec<ThruCall> = (0..64).map(|_| looped.hook_call("Stop", payload.clone())).collect();
    let running: Vec<_> = calls.into_iter().map(|call| std::thread::spawn(|| call.run())).collect();
    let outputs: Vec<ThruOutput> = running.into_iter().map(|one| one.join().unwrap()).collect();
    assert_eq!(looped.loop_iteration(), 2, "one increment");
    for output in &outputs {
        assert_eq!(output.stdout, outputs[0].stdout, "one answer");
    }
    prompt_fed(&outputs[0], "2 of 30");
    let receipts = looped.env.read_receipts();
    let stops: Vec<&Value> = receipts.iter().filter(|receipt| receipt["event"] == "stop").collect();
    assert_eq!(stops.len(), 64);
    assert!(stops.iter().all(|stop| stop["outcome"] == "ok"), "{stops:?}");
    let log = looped.env.read_log(&format!("loops/{}.log.jsonl", looped.id));
    assert_eq!(log.iter().filter(|line| line["event"] == "fed").count(), 1);
}

#[test]
fn a_lock_that_is_held_lets_it_stop() {
    let looped = LoopedSession::new(&[]);
    let lock = fs::File::options()
        .create(true)
        .append(true)
        .open(looped.env.store_folder().join("state/locks/loops.lock"))
        .unwrap();
    lock.lock().unwrap();
    let started = Instant::now();
    looped.report_stop_with_words(1, "Hm.").assert_silent("let go");
    assert!(started.elapsed() < Duration::from_secs(20), "it does not wait for whoever holds it");
    let error = looped.last_receipt()["error"].as_str().unwrap().to_owned();
    assert!(error.contains("loops.lock") && error.contains("in use"), "{error}");
    drop(lock);
    assert_eq!(looped.loop_iteration(), 1);
    prompt_fed(&looped.report_stop_with_words(2, "Hm."), "2 of 30");
}

#[test]
fn a_damaged_loop_lets_it_stop_and_is_left_as_it_is() {
    for damage in ["", "---\nid: x\nstatus: act", "\u{0}\u{0}\u{0}"] {
        let looped = LoopedSession::new(&[]);
        fs::write(looped.loop_file(), damage).unwrap();
        looped.report_stop_with_words(1, "Hm.").assert_silent("let go");
        assert_eq!(fs::read_to_string(looped.loop_file()).unwrap(), damage, "nothing is deleted");
        let error = looped.last_receipt()["error"].as_str().unwrap().to_owned();
        assert!(error.contains(".md") && error.contains("damaged"), "{error}");
        let doctor = looped.env.run_thru(&["doctor"]).stdout;
        assert!(doctor.contains("a loop cannot be read"), "{doctor}");
        let list = looped.env.run_thru(&["loop", "list"]).assert_ok();
        assert!(list.stderr.contains("damaged"), "{list}");
    }
}

#[test]
fn a_loop_whose_file_was_removed_is_forgotten() {
    let looped = LoopedSession::new(&[]);
    fs::remove_file(looped.loop_file()).unwrap();
    looped.report_stop_with_words(1, "Hm.").assert_silent("no prompt to give");
    assert_eq!(looped.last_receipt()["outcome"], "ok");
    let pointer = fs::read_to_string(looped.env.store_folder().join("indexes/active-loop.json")).unwrap();
    assert!(!pointer.contains(&looped.id), "{pointer}");
}

#[test]
fn limits_end_it_and_say_which() {
    let rows: [(&[&str], &[&str], &str); 3] = [
        (&["--max-iterations", "1"], &["Hm."], "limit"),
        (&["--max-iterations", "0"], &["Hm.", "Hm.", "Hm."], "no-progress"),
        (&["--for", "38m"], &["Hm."], "time"),
    ];
    for (words, messages, reason) in rows {
        let looped = LoopedSession::new(words);
        let (last, before) = messages.split_last().unwrap();
        let mut minute = 0;
        for message in before {
            minute += 1;
            assert!(!looped.report_stop_with_words(minute, message).stdout.is_empty(), "{reason}");
        }
        looped.report_stop_with_words(minute + 1, last).assert_silent(reason);
        let state = looped.loop_state();
        assert_eq!((&state["status"], &state["ended_reason"]), (&json!("paused"), &json!(reason)), "{state}");
        // A loop at its limit can be resumed only with a higher limit.
        let status = looped.env.run_thru(&["status"]).assert_ok().stdout;
        assert!(status.contains("`thru loop resume "), "{status}");
        assert_eq!(
            status.contains(" --max-iterations N` gives it more iterations"),
            reason == "limit",
            "{status}"
        );
    }
}

/// If hooks make Claude Code continue too many times in a row without a tool call, it ignores them and ends the turn.
/// The next event shows that the turn has ended.
#[test]
fn a_harness_that_ends_the_turn_is_named() {
    for (event, more) in [
        ("SessionEnd", json!({"reason": "other"})),
        ("UserPromptSubmit", json!({"prompt": "hm"})),
        ("SessionStart", json!({"source": "resume"})),
    ] {
        let looped = LoopedSession::new(&[]);
        looped.env.write_file("project/.agent/context/config.toml", "[loops]\nno_progress_turns = 0\n");
        for minute in 1..=8 {
            prompt_fed(
                &looped.report_stop_with_words(minute, &format!("Hm {minute}.")),
                &format!("{} of 30", minute + 1),
            );
        }
        looped.fire_event(event, more.clone());
        assert_eq!(looped.loop_state()["status"], "active", "eight times are fine");
        if event == "UserPromptSubmit" {
            continue;
        }
        prompt_fed(&looped.report_stop_with_words(9, "Hm 9."), "10 of 30");
        looped.fire_event(event, more);
        let state = looped.loop_state();
        assert_eq!(
            (&state["status"], &state["ended_reason"]),
            (&json!("paused"), &json!("harness-cap")),
            "{event}: {state}"
        );
        let log = looped.env.run_thru(&["loop", "log", &looped.id]).assert_ok().stdout;
        assert!(
            log.contains("Claude Code ended the turn") && log.contains("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=0"),
            "{log}"
        );
        looped.report_stop_with_words(10, "Hm.").assert_silent("paused");
    }
}

#[test]
fn the_next_session_claims_what_waits_for_it_once() {
    let env = TestEnv::with_root();
    let started = env.run_thru_json(&["loop", "start", "--next", "--promise", "OK", "Do the thing"]);
    assert_eq!((&started["loop"]["waiting"], &started["loop"]["session"]), (&json!(true), &Value::Null));
    let start = |session: &str, source: &str| {
        env.fire_hook("SessionStart", &json!({"session_id": session, "cwd": env.project_folder(), "source": source, "hook_event_name": "SessionStart"}))
    };
    let stop = |session: &str| {
        env.fire_hook(
            "Stop",
            &json!({"session_id": session, "cwd": env.project_folder(), "last_assistant_message": "Hm."}),
        )
    };
    stop("s0").assert_silent("nobody's yet");
    assert!(!start("s0", "compact").stdout.contains("Do the thing"), "no session starts with a compaction");
    let told = start("s1", "startup");
    told.assert_accepted_by_harness("told");
    assert!(told.stdout.contains("Do the thing") && told.stdout.contains("iteration 1 of 30"), "{told}");
    assert!(!start("s2", "startup").stdout.contains("Do the thing"), "once");
    stop("s2").assert_silent("another's");
    assert_eq!(stop("s1").json()["decision"], "block");
    assert_eq!(env.run_thru_json(&["loop", "list"])["loops"][0]["session"], "s1");
}

#[test]
fn a_compaction_keeps_the_loop_and_the_brief_tells_it() {
    let looped = LoopedSession::new(&[]);
    prompt_fed(&looped.report_stop_with_words(1, "Hm."), "2 of 30");
    looped.fire_event("PreCompact", json!({"trigger": "auto"}));
    looped.fire_event(
        "SubagentStop",
        json!({"agent_id": "a", "agent_type": "", "last_assistant_message": "<summary>s</summary>"}),
    );
    let brief =
        looped.fire_event("SessionStart", json!({"source": "compact", "hook_event_name": "SessionStart"}));
    assert!(brief.stdout.contains("Loop:") && brief.stdout.contains("iteration 2 of 30"), "{brief}");
    let goal =
        format!("Its prompt is the goal: “{}”", LOOP_PROMPT.split_whitespace().collect::<Vec<_>>().join(" "));
    assert!(brief.stdout.contains(&goal), "{goal}: {brief}");
    prompt_fed(&looped.report_stop_with_words(2, "Hm, again."), "3 of 30");
    looped.env.run_thru(&["loop", "cancel"]).assert_ok();
    let brief =
        looped.fire_event("SessionStart", json!({"source": "resume", "hook_event_name": "SessionStart"}));
    assert!(!brief.stdout.contains("Loop:"), "cancelled: {brief}");
    looped
        .report_stop_with_words(3, &format!("The brief said loop {} is active. Hm.", looped.id))
        .assert_silent("final");
    assert_eq!(looped.loop_state()["status"], "cancelled");
}

#[test]
fn the_packet_of_a_session_with_a_loop_has_its_prompt_as_the_goal() {
    let looped = LoopedSession::new(&[]);
    looped.fire_event("UserPromptSubmit", json!({"prompt": "and keep the old names please"}));
    looped.env.run_thru(&["handoff", "go on"]).assert_ok();
    let picked = looped.env.run_thru(&["pickup"]).assert_ok().stdout;
    let goal = format!(
        "Goal: The prompt of the loop that ran in the session when this packet was written, given to the agent at every stop:\n> {LOOP_PROMPT}\n"
    );
    assert!(picked.contains(&goal), "{picked}");
    assert!(picked.contains("> and keep the old names please"), "{picked}");
    looped.env.run_thru(&["loop", "cancel"]).assert_ok();
    looped.env.run_thru(&["handoff", "go on without it"]).assert_ok();
    let picked = looped.env.run_thru(&["pickup", "without"]).assert_ok().stdout;
    assert!(!picked.contains(LOOP_PROMPT), "{picked}");
}

#[test]
fn a_session_that_goes_on_under_another_id_takes_its_loop_along() {
    let looped = LoopedSession::new(&[]);
    let call = looped
        .env
        .thru_call(&["hook", "droid", "SessionStart"])
        .with_variable("FACTORY_PROJECT_DIR", looped.env.project_folder());
    let payload = json!({"session_id": "s9", "previous_session_id": "s1", "source": "compact", "cwd": looped.env.project_folder()});
    call.with_stdin(payload.to_string()).run();
    looped.report_stop_with_words(1, "Hm.").assert_silent("the old id");
    prompt_fed(
        &looped.report_stop(2, json!({"session_id": "s9", "last_assistant_message": "Hm."})),
        "2 of 30",
    );
}

/// A fork is another session, and the original session may continue too. So the fork does not take over the loop.
#[test]
fn a_fork_takes_no_loop_along() {
    let looped = LoopedSession::new(&[]);
    let call = looped
        .env
        .thru_call(&["hook", "droid", "SessionStart"])
        .with_variable("FACTORY_PROJECT_DIR", looped.env.project_folder());
    let payload = json!({"session_id": "s9", "previous_session_id": "s1", "source": "fork", "cwd": looped.env.project_folder()});
    call.with_stdin(payload.to_string()).run();
    looped
        .report_stop(1, json!({"session_id": "s9", "last_assistant_message": "Hm."}))
        .assert_silent("the fork");
    prompt_fed(&looped.report_stop_with_words(2, "Hm."), "2 of 30");
}

/// The file `active-loop.json` is only an index. If it is deleted, it is rebuilt from the loops.
#[test]
fn a_deleted_pointer_is_made_again() {
    let looped = LoopedSession::new(&[]);
    let pointer = looped.env.store_folder().join("indexes/active-loop.json");
    let written = fs::read(&pointer).unwrap();
    fs::write(&pointer, "{torn").unwrap();
    prompt_fed(&looped.report_stop_with_words(0, "Eh."), "2 of 30");
    assert_eq!(fs::read(&pointer).unwrap(), written, "a torn one too");
    fs::remove_file(&pointer).unwrap();
    let status = looped.env.run_thru_json(&["status"]);
    assert_eq!(status["loop"]["id"], json!(looped.id), "{status}");
    prompt_fed(&looped.report_stop_with_words(1, "Hm."), "3 of 30");
    assert_eq!(fs::read(&pointer).unwrap(), written);
    fs::remove_file(&pointer).unwrap();
    let brief =
        looped.fire_event("SessionStart", json!({"source": "compact", "hook_event_name": "SessionStart"}));
    assert!(brief.stdout.contains("Loop:"), "{brief}");
    assert_eq!(fs::read(&pointer).unwrap(), written);
    looped.env.run_thru(&["loop", "cancel", &looped.id]).assert_ok();
    fs::remove_file(&pointer).unwrap();
    looped.report_stop_with_words(2, "Hm.").assert_silent("cancelled is final");
}

/// If two hooks report the same stop, both get the same answer, with the validator's output.
#[test]
fn a_stop_told_twice_says_why_the_validator_failed_twice() {
    let looped = LoopedSession::new(&["--validator", "echo run >> runs; echo STILL RED; exit 3"]);
    let line = r#"{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"<promise>ALL GREEN</promise>"}]}}"#;
    let path = looped.env.write_file("t.jsonl", format!("{line}\n"));
    let payload =
        || json!({"transcript_path": path, "last_assistant_message": "<promise>ALL GREEN</promise>"});
    let first = looped.report_stop(1, payload());
    assert!(prompt_fed(&first, "2 of 30").contains("STILL RED"), "{first}");
    assert_eq!(looped.report_stop(2, payload()).stdout, first.stdout);
    assert_eq!(fs::read_to_string(looped.env.project_folder().join("runs")).unwrap(), "run\n", "run once");
}

#[test]
fn validators_that_cannot_be_locked_are_told_on_the_receipt() {
    let looped = LoopedSession::new(&["--validator", "true"]);
    fs::create_dir_all(looped.env.store_folder().join(format!("state/locks/validators-{}.lock", looped.id)))
        .unwrap();
    looped.report_stop_with_words(1, "<promise>ALL GREEN</promise>").assert_silent("let go");
    let receipt = looped.last_receipt();
    assert!(
        receipt["error"].as_str().is_some_and(|error| error.contains("lets the agent stop")),
        "{receipt}"
    );
}

#[test]
fn the_prompt_is_fed_to_the_byte() {
    let prompt = "Make it green.\n---\nstatus: done\n---\n# Steps\n\n```sh\nmake  test\n```\n## Notes\n`x` \"y\" | z <b> $HOME ✓\n";
    let looped = LoopedSession::new(&[]);
    let file = looped.env.write_file("prompt.md", prompt);
    let id = looped.start_loop(&["--file", file.to_str().unwrap(), "--promise", "say \"yes\" | ✓"]);
    let reason = prompt_fed(&looped.report_stop_with_words(1, "Hm."), "2 of 30");
    assert!(reason.starts_with(prompt), "{reason}");
    assert!(reason.contains("<promise>say \"yes\" | ✓</promise>"), "{reason}");
    looped.report_stop_with_words(2, "<promise>say \"yes\"  |\n✓</promise>").assert_silent("kept");
    assert_eq!(looped.env.run_thru_json(&["loop", "show", &id])["status"], "done");
}

/// The agent's message comes from a harness, so it is redacted. The prompt is the user's own text, so it is not.
#[test]
fn what_was_said_is_written_down_redacted() {
    let looped = LoopedSession::new(&[]);
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    looped.report_stop_with_words(1, &format!("<promise>{secret}</promise>"));
    looped.env.run_thru(&["loop", "list"]).assert_ok();
    let text = fs::read_to_string(looped.loop_file()).unwrap()
        + &fs::read_to_string(looped.env.store_folder().join(format!("loops/{}.log.jsonl", looped.id)))
            .unwrap();
    assert!(!text.contains(&secret) && text.contains("REDACTED"), "{text}");
}
