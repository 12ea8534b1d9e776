//! Output that must be pleasant to read: status, journal, lists, times.

use super::*;

/// Creates a session with a task and a failing check. The session and its sub-agent are still running.
fn env_with_running_session() -> TestEnv {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Make the parser accept trailing commas"}));
    let bash = |id: &str, command: &str, exit: i64| {
        let event = if exit == 0 { "PostToolUse" } else { "PostToolUseFailure" };
        let error = format!("Exit code {exit}\nerror: test trailing_comma failed");
        let call = json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": command}, "error": error});
        env.fire_event("s1", event, call);
    };
    bash("b1", "cargo build", 0);
    bash("b2", "cargo test", 101);
    let asked = json!({"description": "look for callers", "prompt": "Find who calls parse().", "subagent_type": "Explore"});
    let call = json!({"tool_name": "Agent", "tool_use_id": "a1", "tool_input": asked, "tool_response": {}});
    env.fire_event("s1", "PostToolUse", call);
    env.fire_event("s1", "Stop", json!({}));
    env
}

#[test]
fn status_answers_where_was_i() {
    let env = env_with_running_session();
    let said = env.run_thru(&["status"]).assert_ok();
    assert!(said.stdout.contains("last prompt  “Make the parser accept trailing commas”"), "{said}");
    assert!(said.stdout.contains("failing      `cargo test`"), "{said}");
    assert!(said.stdout.contains("\nNext: `thru brief` shows where session s1 left off\n"), "{said}");
    let id = env.run_thru_json(&["handoff", "finish the parser"])["id"].as_str().unwrap().to_owned();
    let status = env.run_thru_json(&["status"]);
    assert_eq!(status["next_step"]["command"], format!("thru pickup {id}"));
    assert_eq!((&status["failing"], &status["on_offer"]), (&json!(["cargo test"]), &json!([id])));
}

#[test]
fn a_journal_can_be_cut_and_sifted_and_says_what_an_agent_was_asked() {
    let env = env_with_running_session();
    let lines = |words: &[&str]| -> Vec<String> {
        let said = env.run_thru(&[&["journal", "--session", "s1"], words].concat()).assert_ok();
        said.stdout.lines().map(str::to_owned).collect()
    };
    let all = lines(&[]);
    assert_eq!(lines(&["-n", "2"]), all[all.len() - 2..]);
    let failed = lines(&["--failures"]);
    assert!(failed.len() == 1 && failed[0].contains("cargo test"), "{failed:?}");
    assert_eq!(lines(&["--failures", "-n", "0"]), [""; 0]);
    assert!(all.iter().any(|line| line.contains("Agent") && line.contains("look for callers")), "{all:?}");
}

#[test]
fn a_journal_says_which_task_was_created() {
    let env = env_with_running_session();
    let mut payload = env.captured_payload("PostToolUse.TaskCreate");
    payload["session_id"] = json!("s1");
    let subject = payload["tool_input"]["subject"].as_str().unwrap().to_owned();
    env.fire_hook("PostToolUse", &payload);
    let said = env.run_thru(&["journal", "--session", "s1"]).assert_ok().stdout;
    let row = said.lines().find(|line| line.contains("TaskCreate")).unwrap_or_else(|| panic!("{said}"));
    assert!(subject.len() > 3 && row.contains(&subject), "{row}");
}

#[test]
fn a_list_of_packets_shows_the_age_and_the_purpose_of_each() {
    let env = TestEnv::with_root();
    for (at, purpose) in [("19:22", "finish the parser"), ("20:22", "write the manual")] {
        let now = format!("2026-11-15T{at}:00Z");
        env.thru_call(&["handoff", purpose]).with_variable("THROUGHLINE_NOW", now).run().assert_ok();
    }
    let list = env.thru_call(&["packet", "list"]).with_variable("THROUGHLINE_NOW", "2026-11-15T22:22:00Z");
    let said = list.run().assert_ok().stdout;
    for (purpose, age) in [("finish the parser", "3 h ago"), ("write the manual", "2 h ago")] {
        let slug = purpose.replace(' ', "-");
        let row = said.lines().find(|line| line.contains(&slug)).unwrap_or_else(|| panic!("{said}"));
        assert!(row.contains(age) && row.contains(purpose), "{said}");
    }
}

/// All events have the same time here, because a scripted model answers within a second. Only the transcript contains
/// the failed edit, and `thru journal` lists it before the stop.
#[test]
fn what_the_transcript_adds_stands_before_the_stop() {
    let env = TestEnv::with_root();
    let line = |kind: &str, content: Value| {
        json!({"type": kind, "uuid": content.to_string(), "timestamp": TEST_TIME, "sessionId": "s1",
            "message": {"role": kind, "id": content.to_string(), "content": content}})
    };
    let edit =
        json!({"file_path": env.project_folder().join("src/a.rs"), "old_string": "a", "new_string": "a"});
    let lines = [
        line("user", json!("Accept commas")),
        line("assistant", json!([{"type": "tool_use", "id": "t1", "name": "Edit", "input": edit}])),
        line(
            "user",
            json!([{"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": "No changes"}]),
        ),
        line("assistant", json!([{"type": "tool_use", "id": "t2", "name": "Edit", "input": edit}])),
        line("user", json!([{"type": "tool_result", "tool_use_id": "t2", "content": "ok"}])),
        line("assistant", json!([{"type": "text", "text": "Commas are accepted now."}])),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    env.write_file("project/src/a.rs", "fn a() {}\n");
    let path = env.write_file("s1.jsonl", text);
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Accept commas"}));
    env.fire_event(
        "s1",
        "PostToolUse",
        json!({"tool_name": "Edit", "tool_input": edit, "tool_use_id": "t2", "tool_response": {}}),
    );
    let stop = json!({"last_assistant_message": "Commas are accepted now.", "transcript_path": path});
    env.fire_event("s1", "Stop", stop);
    let journal = env.run_thru(&["journal", "--session", "s1"]).assert_ok().stdout;
    let rows: Vec<&str> = journal.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(rows, ["session-start", "prompt", "Edit", "Edit", "stop"], "{journal}");
    let brief = env.run_thru(&["brief", "--session", "s1"]).assert_ok().stdout;
    assert!(brief.contains("The agent had ended its turn and was waiting for the user."), "{brief}");
    assert!(brief.contains("edited src/a.rs\n") && !brief.contains("2×"), "{brief}");
}

#[test]
fn a_short_question_does_not_replace_the_work_before_it() {
    let env = TestEnv::with_root();
    env.fire_event("work", "SessionStart", json!({"source": "startup"}));
    env.fire_event("work", "UserPromptSubmit", json!({"prompt": "Accept commas"}));
    let edit = json!({"file_path": env.project_folder().join("src/a.rs")});
    env.fire_event(
        "work",
        "PostToolUse",
        json!({"tool_name": "Edit", "tool_input": edit, "tool_use_id": "t1", "tool_response": {}}),
    );
    env.fire_event("work", "SessionEnd", json!({"reason": "other"}));
    env.fire_event("asks", "SessionStart", json!({"source": "startup"}));
    env.fire_event("asks", "UserPromptSubmit", json!({"prompt": "What is a comma?"}));
    env.fire_event("asks", "SessionEnd", json!({"reason": "other"}));
    let told = env.fire_event("next", "SessionStart", json!({"source": "startup"})).context_for_model();
    assert!(told.contains("Accept commas") && !told.contains("What is a comma?"), "{told}");
}

#[test]
fn times_are_local_for_people_and_utc_in_json() {
    let env = env_with_running_session();
    let said = env
        .thru_call(&["journal", "--session", "s1"])
        .with_variable("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
        .run()
        .assert_ok();
    assert!(said.stdout.starts_with("20:22:00  session-start"), "{said}");
    assert!(said.stderr.contains("times in CET"), "{said}");
    let json = env
        .thru_call(&["journal", "--session", "s1", "--json"])
        .with_variable("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
        .run()
        .assert_ok();
    assert!(json.stdout.contains("\"2026-11-15T19:22:00Z\""), "{json}");
    let odd = env
        .thru_call(&["journal", "--session", "s1"])
        .with_variable("TZ", "../../etc/passwd")
        .run()
        .assert_ok();
    assert!(odd.stdout.starts_with("19:22:00"), "{odd}");
}

/// The records on disk and `--json` keep UTC, and so do commands that an agent runs.
#[test]
fn the_times_of_all_reports_are_local_for_people_and_utc_in_json() {
    const LOCAL: &str = "2026-11-15 20:22 CET";
    let env = env_with_running_session();
    let task =
        env.run_thru_json(&["task", "add", "Accept commas"])["task"]["id"].as_str().unwrap().to_owned();
    env.run_thru(&["evidence", "run", &task, "--", "true"]).assert_ok();
    let decide = ["decide", "Commas are accepted", "--expires", "2d"];
    let decision = env.run_thru_json(&decide)["decision"]["id"].as_str().unwrap().to_owned();
    let packet = env.run_thru_json(&["handoff", "finish the parser"])["id"].as_str().unwrap().to_owned();
    env.run_thru(&["pickup", &packet, "--claim", "--session", "s1"]).assert_ok();
    env.write_file("project/calc.py", "1\n");
    let expect = ["gate", "expect", "review", "--critical", "review-a.md", "--input", "calc.py", "--json"];
    let run = env.run_thru(&expect).assert_ok().json()["run"].as_str().unwrap().to_owned();
    fs::write(Path::new(&run).join("review-a.md"), "Fine.\n<!-- AGENT_COMPLETE -->\n").unwrap();
    env.run_thru(&["gate", "check"]).assert_ok();
    env.write_file("project/calc.py", "2\n");
    start_session(&env, "s2");
    // This hook fails, and its receipt has the time.
    env.hook_call("PostToolUse", "{").run();

    let call = |words: &[&str]| env.thru_call(words).with_variable("TZ", "CET-1CEST,M3.5.0,M10.5.0/3");
    let reports = [
        &["plan", "log"][..],
        &["decisions", "show", &decision],
        &["evidence", "show", &task],
        &["evidence", "list"],
        &["task", "show", &task],
        &["pickup", &packet, "--claim", "--session", "s2"],
        &["gate", "check"],
        &["status"],
        &["doctor"],
    ];
    for words in reports {
        let said = call(words).run();
        let text = format!("{}{}", said.stdout, said.stderr);
        assert!(text.contains(LOCAL), "{words:?}: {text}");
        assert!(!text.contains(TEST_TIME), "{words:?}: {text}");
        let json = call(words).with_argument("--json").run();
        let json = format!("{}{}", json.stdout, json.stderr);
        assert!(!json.contains("CET"), "{words:?}: {json}");
        // The status has no time for a program: the sentence about the stage is for people.
        assert!(json.contains(TEST_TIME) || words == ["status"], "{words:?}: {json}");
    }
    let until = call(&["decisions", "show", &decision]).run().stdout;
    assert!(until.contains("2026-11-17 20:22 CET"), "{until}");
    // The rest of the prompt is for an agent.
    let for_person = call(&["pickup", &packet]).run().assert_ok().stdout;
    assert!(for_person.contains(&format!("Claimed by s1 at {LOCAL}.")), "{for_person}");
    let for_agent = call(&["pickup", &packet]).with_variable("CLAUDECODE", "1").run().assert_ok().stdout;
    assert!(for_agent.contains(&format!("Claimed by s1 at {TEST_TIME}.")), "{for_agent}");
    let on_disk = env.run_thru(&["packet", "show", &packet]).assert_ok().stdout;
    assert!(on_disk.contains(&format!("claimed_at: \"{TEST_TIME}\"")), "{on_disk}");
}

#[test]
fn a_list_of_sessions_tells_tasks_and_crashes() {
    let env = env_with_running_session();
    let sessions = env.store_folder().join("indexes/sessions.jsonl");
    let text = fs::read_to_string(&sessions).unwrap();
    // With another process id, the record matches no running process, so the session counts as crashed.
    fs::write(&sessions, text.replace("\"process\":\"", "\"process\":\"9")).unwrap();
    let said = env.run_thru(&["journal", "--list"]).assert_ok();
    assert!(said.stdout.contains("crashed") && said.stdout.contains("Make the parser accept"), "{said}");
}

#[test]
fn a_brief_is_explained_with_its_text() {
    let env = env_with_running_session();
    let said = env.run_thru(&["brief", "--session", "s1", "--explain"]).assert_ok();
    assert!(said.stdout.contains("“Make the parser accept trailing commas”"), "{said}");
    let none = env.run_thru(&["brief", "--session", "s1", "--budget", "1"]).assert_ok();
    assert!(none.stderr.contains("Nothing fits in 1 token."), "{none}");
}
