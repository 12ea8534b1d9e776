//! Tests how decisions are recorded, superseded, suggested and imported, how the user's answers become decisions, and
//! how briefs mention them.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::env::{TestEnv, names_in};

fn recorded_decisions(env: &TestEnv) -> Vec<Value> {
    env.read_log("decisions.jsonl")
}

fn listed_texts(listing: &Value) -> Vec<String> {
    let decisions = listing["decisions"].as_array().unwrap();
    decisions.iter().map(|one| one["text"].as_str().unwrap().to_owned()).collect()
}

/// Reports the user's answer to a question, as Claude Code does.
fn report_answer(env: &TestEnv, session: &str, question: &str, answer: &str) {
    let input = json!({"questions": [{"question": question, "options": []}]});
    let response = json!({"questions": [], "answers": {question: answer}});
    let call = json!({"tool_name": "AskUserQuestion", "tool_use_id": format!("{session}-{answer}"),
                      "tool_input": input, "tool_response": response});
    env.fire_event(session, "PostToolUse", call).assert_silent("an answer is recorded, and nothing is said");
}

fn start_session(env: &TestEnv, session: &str) {
    env.fire_event(session, "SessionStart", json!({"source": "startup"}));
    env.fire_event(
        session,
        "UserPromptSubmit",
        json!({"prompt": "Write the parser, with its tests and its docs"}),
    );
}

fn brief_after_compaction(env: &TestEnv, session: &str) -> String {
    env.fire_event(session, "PreCompact", json!({"trigger": "manual"}));
    env.fire_event(session, "SessionStart", json!({"source": "compact"})).context_for_model()
}

#[test]
fn a_decision_is_recorded_once_and_listed() {
    let env = TestEnv::with_root();
    let first = env.run_thru_json(&["decide", "Use TOML", "--why", "people edit it"]);
    assert_eq!((&first["changed"], &first["decision"]["by"]), (&json!(true), &json!("user")));
    assert_eq!(env.run_thru_json(&["decide", "Use TOML"])["changed"], false);
    env.run_thru(&["decide", "Errors name the file", "--pattern"]).assert_ok();
    env.thru_call(&["decide", "-"]).with_stdin("  Two passes\nover the file\n").run().assert_ok();
    let listing = env.run_thru_json(&["decisions", "list"]);
    assert_eq!(listed_texts(&listing), ["Two passes\nover the file", "Errors name the file", "Use TOML"]);
    assert_eq!((&listing["current"], &listing["ended_count"]), (&json!(3), &json!(0)));
    assert_eq!(recorded_decisions(&env).len(), 3);
    let shown = env.run_thru(&["decisions", "list"]).assert_ok().stdout;
    assert!(shown.contains("pattern: Errors name the file"), "{shown}");
    assert!(shown.contains("Use TOML  because people edit it"), "{shown}");
    assert_eq!(env.run_thru_json(&["decisions", "list", "-n", "1"])["more"], 2);
}

#[test]
fn a_decision_supersedes_another_and_nothing_is_deleted() {
    let env = TestEnv::with_root();
    let old = env.run_thru_json(&["decide", "Use XML"])["decision"]["id"].as_str().unwrap().to_owned();
    let new =
        env.run_thru_json(&["decisions", "supersede", &old[..8], "Use TOML", "--why", "people edit it"]);
    let new_id = new["decision"]["id"].as_str().unwrap();
    assert_eq!((&new["superseded"], &new["decision"]["supersedes"]), (&json!("Use XML"), &json!(old)));
    assert_eq!(listed_texts(&env.run_thru_json(&["decisions", "list"])), ["Use TOML"]);
    let all = env.run_thru_json(&["decisions", "list", "--all"]);
    assert_eq!(all["decisions"][1]["state"], "superseded");
    let shown = env.run_thru_json(&["decisions", "show", new_id]);
    assert_eq!(shown["before"][0]["text"], "Use XML");
    assert!(
        env.run_thru(&["decisions", "show", &old])
            .assert_ok()
            .stdout
            .contains(&format!("superseded by {new_id}"))
    );
    let again = env.run_thru(&["decisions", "supersede", &old, "Use YAML"]);
    assert_eq!(again.code, 15, "{}", again.stderr);
    assert!(again.stderr.contains(new_id), "{}", again.stderr);
    // The decision is withdrawn without a replacement.
    env.run_thru(&["decisions", "supersede", new_id, "--why", "no settings at all"]).assert_ok();
    assert_eq!(listed_texts(&env.run_thru_json(&["decisions", "list"])), [""; 0]);
    assert!(
        env.run_thru(&["decisions", "show", new_id])
            .assert_ok()
            .stdout
            .contains("withdrawn: no settings at all")
    );
    assert_eq!(recorded_decisions(&env).len(), 3, "the file only grows");
}

#[test]
fn invalid_decisions_are_refused_with_a_reason() {
    let env = TestEnv::with_root();
    env.run_thru(&["decide", "a"]).assert_ok();
    let long = "x".repeat(9_000);
    let rows: [(&[&str], i32, &str); 8] = [
        (&["decide", " "], 2, "say what was decided"),
        (&["decide", &long], 2, "is 9000 bytes long; the limit is 8192"),
        (&["decide", "b", "--expires", "soon"], 2, "`soon` is not a valid time"),
        (&["decide", "b", "--expires", "2020-01-01"], 2, "is in the past"),
        (&["decide", "b", "--supersedes", "d-zzz"], 10, "there is no decision d-zzz"),
        (&["decide", "b", "--task", "1.1"], 10, "there is no plan here yet"),
        (&["decisions", "show", ""], 10, "there is no decision"),
        (&["decisions", "accept", "d-0"], 10, "there is no suggestion d-0"),
    ];
    for (words, code, text) in rows {
        let output = env.run_thru(words);
        assert_eq!(output.code, code, "{words:?}: {}", output.stderr);
        assert!(output.stderr.contains(text), "{words:?}: {}", output.stderr);
    }
    assert_eq!(recorded_decisions(&env).len(), 1);
    // Torn lines, and lines from a newer version of thru, are skipped. `thru doctor` reports them.
    let mut log = fs::read(env.store_folder().join("decisions.jsonl")).unwrap();
    log.extend_from_slice(b"{\"v\":9,\"id\":\"d-9\",\"text\":\"later\"}\n{\"id\":\"d-");
    fs::write(env.store_folder().join("decisions.jsonl"), log).unwrap();
    env.run_thru(&["decide", "b"]).assert_ok();
    assert_eq!(listed_texts(&env.run_thru_json(&["decisions", "list"])), ["b", "a"]);
    let doctor = env.run_thru(&["doctor"]).stdout;
    assert!(
        doctor.contains("1 line could not be read") && doctor.contains("newer version of thru"),
        "{doctor}"
    );
}

#[test]
fn a_secret_is_covered_before_it_is_written() {
    let env = TestEnv::with_root();
    let secret = format!("{}{}", "ghp_", "a1B2".repeat(9));
    let told = env.run_thru(&["decide", &format!("use {secret}"), "--why", &secret]).assert_ok().stderr;
    assert!(told.contains("a secret was redacted"), "{told}");
    for name in ["decisions.jsonl", "context.md"] {
        let text = fs::read_to_string(env.store_folder().join(name)).unwrap();
        assert!(!text.contains(&secret) && text.contains("[REDACTED:github-token]"), "{name}: {text}");
    }
}

/// An answer is recorded as a decision as soon as the call ends. After the compaction, the brief contains the decision
/// once. A later answer supersedes it.
#[test]
fn an_answer_is_a_decision_at_the_call() {
    let env = TestEnv::with_root();
    env.run_thru(&["plan", "init", "Parser", "--phase", "Read"]).assert_ok();
    env.run_thru(&["task", "add", "Lexer"]).assert_ok();
    env.run_thru(&["task", "start", "1.1", "--session", "s1"]).assert_ok();
    start_session(&env, "s1");
    report_answer(&env, "s1", "Which database?", "SQLite");
    let [line] = &recorded_decisions(&env)[..] else { panic!("one line") };
    assert_eq!(
        (&line["text"], &line["by"], &line["source"], &line["session"], &line["task"], &line["phase"]),
        (
            &json!("Which database? → SQLite"),
            &json!("user"),
            &json!("answer"),
            &json!("s1"),
            &json!("1.1"),
            &json!(1)
        )
    );
    let told = brief_after_compaction(&env, "s1");
    assert_eq!(told.matches("asked “Which database?”, the user chose “SQLite”").count(), 1, "{told}");
    assert_eq!(recorded_decisions(&env).len(), 1, "a checkpoint does not record it again");
    // If hooks are installed twice, the answer is reported twice.
    report_answer(&env, "s1", "Which database?", "SQLite");
    assert_eq!(listed_texts(&env.run_thru_json(&["decisions", "list"])), ["Which database? → SQLite"]);
    report_answer(&env, "s1", "Which database?", "Postgres");
    let told = brief_after_compaction(&env, "s1");
    assert!(told.contains("“Postgres”") && !told.contains("“SQLite”"), "{told}");
    // If the user answers with a question, nothing is decided.
    report_answer(&env, "s1", "Which colour?", "What is the difference?");
    assert_eq!(listed_texts(&env.run_thru_json(&["decisions", "list"])), ["Which database? → Postgres"]);
    // The packet contains the decision exactly once.
    env.run_thru(&["handoff", "finish the parser", "--session", "s1"]).assert_ok();
    let packet = fs::read_to_string(
        env.store_folder().join("packets").join(&names_in(&env.store_folder().join("packets"))[0]),
    )
    .unwrap();
    assert_eq!(packet.matches("“Postgres”").count(), 1, "{packet}");
    assert!(!packet.contains("SQLite"), "{packet}");
}

#[test]
fn an_answer_that_only_the_journal_holds_is_recorded_at_a_checkpoint() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    report_answer(&env, "s1", "Which database?", "SQLite");
    fs::remove_file(env.store_folder().join("decisions.jsonl")).unwrap();
    env.fire_event("s1", "Stop", json!({}));
    assert_eq!(listed_texts(&env.run_thru_json(&["decisions", "list"])), ["Which database? → SQLite"]);
    // The next checkpoint does not record a withdrawn decision again.
    let id = recorded_decisions(&env)[0]["id"].as_str().unwrap().to_owned();
    env.run_thru(&["decisions", "supersede", &id]).assert_ok();
    report_answer(&env, "s1", "Which colour?", "red");
    env.fire_event("s1", "Stop", json!({}));
    assert_eq!(listed_texts(&env.run_thru_json(&["decisions", "list"])), ["Which colour? → red"]);
}

#[test]
fn superseded_and_expired_decisions_leave_the_brief() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    env.run_thru(&["decide", "Use TOML for all settings", "--why", "people edit it"]).assert_ok();
    env.run_thru(&["decide", "No network in this sprint", "--expires", "2d"]).assert_ok();
    let old = env.run_thru_json(&["decide", "Use XML for all records"])["decision"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    env.run_thru(&["decisions", "supersede", &old, "Use JSON for all records"]).assert_ok();
    let told = brief_after_compaction(&env, "s1");
    for text in [
        "Use TOML for all settings, because people edit it",
        "Use JSON for all records",
        "No network in this sprint",
    ] {
        assert!(told.contains(text), "{text}: {told}");
    }
    assert!(!told.contains("XML"), "{told}");
    let later = env
        .thru_call(&["brief", "--session", "s1", "--json"])
        .with_variable("THROUGHLINE_NOW", "2026-11-18T19:22:00Z");
    let told = later.run().assert_ok().json();
    let told = told["text"].as_str().unwrap();
    assert!(told.contains("Use TOML") && !told.contains("No network"), "{told}");
    let rows = env.run_thru_json(&["brief", "--session", "s1", "--explain"]);
    let ids: Vec<&str> =
        rows["rows"].as_array().unwrap().iter().filter_map(|row| row["id"].as_str()).collect();
    assert_eq!(ids.iter().filter(|id| id.starts_with("decision:d-")).count(), 3, "{ids:?}");
}

/// A packet lists the decisions that were in force when it was written. A pickup adds later decisions, and reports
/// which of the packet's decisions are no longer in force.
#[test]
fn a_pickup_tells_what_was_decided_since() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    let old = env.run_thru_json(&["decide", "Use XML for all records"])["decision"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    env.run_thru(&["handoff", "finish the parser", "--session", "s1"]).assert_ok();
    let told = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(told.contains("Use XML for all records") && !told.contains("Decided since"), "{told}");
    env.run_thru(&["decisions", "supersede", &old, "Use JSON for all records"]).assert_ok();
    let told = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(told.contains("Decided since the packet was written:\n- Use JSON for all records\n"), "{told}");
    assert!(told.contains("In the packet, but no longer in force:\n- Use XML for all records\n"), "{told}");
    assert_eq!(env.run_thru_json(&["pickup"])["decisions_since"], json!(["Use JSON for all records"]));
}

#[test]
fn what_an_agent_says_is_suggested_and_never_decided() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    let said = "The lexer is done. I decided to keep the old reader, because the new one drops comments. Shall I go on?";
    env.fire_event("s1", "Stop", json!({"last_assistant_message": said}));
    assert!(!env.store_folder().join("decisions.jsonl").exists());
    let suggested = env.run_thru_json(&["decisions", "list", "--suggested"]);
    let [one] = &suggested["suggested"].as_array().unwrap()[..] else { panic!("{suggested}") };
    assert_eq!(one["text"], "I decided to keep the old reader");
    assert_eq!(one["why"], "the new one drops comments.");
    let id = one["id"].as_str().unwrap();
    assert!(!brief_after_compaction(&env, "s1").contains("Decisions in force"));
    let accepted = env.run_thru_json(&["decisions", "accept", id]);
    assert_eq!(
        (&accepted["decision"]["source"], &accepted["decision"]["session"]),
        (&json!("statement"), &json!("s1"))
    );
    assert_eq!(env.run_thru_json(&["decisions", "list", "--suggested"])["suggested"], json!([]));
    let again = env.run_thru(&["decisions", "accept", id]);
    assert_eq!(again.code, 10);
    assert!(again.stderr.contains("this suggestion is already a decision"), "{}", again.stderr);
    assert!(
        brief_after_compaction(&env, "s1")
            .contains("I decided to keep the old reader, because the new one drops comments.")
    );
}

/// Makes a file one second newer than another one. Files that are written within one tick of the clock have the same
/// time.
fn set_modified_after(path: &Path, older: &Path) {
    let modified = fs::metadata(older).unwrap().modified().unwrap() + Duration::from_secs(1);
    fs::File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
}

#[test]
fn an_answer_in_the_same_tick_as_the_last_decision_reaches_the_view() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    env.run_thru(&["decide", "Use TOML"]).assert_ok();
    report_answer(&env, "s1", "Which database?", "SQLite");
    let view = env.store_folder().join("context.md");
    let log = fs::metadata(env.store_folder().join("decisions.jsonl")).unwrap();
    let file = fs::File::options().write(true).open(&view).unwrap();
    file.set_modified(log.modified().unwrap()).unwrap();
    env.fire_event("s1", "Stop", json!({}));
    assert!(fs::read_to_string(&view).unwrap().contains("SQLite"));
}

#[test]
fn the_view_follows_and_what_a_person_wrote_is_kept() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    env.run_thru(&["decide", "Use TOML", "--why", "people edit it"]).assert_ok();
    let path = env.store_folder().join("context.md");
    let view = fs::read_to_string(&path).unwrap();
    assert!(
        view.starts_with("<!-- Written by thru (") && view.contains("- Use TOML, because people edit it (d-"),
        "{view}"
    );
    // After the next checkpoint, context.md contains the answer.
    report_answer(&env, "s1", "Which database?", "SQLite");
    env.fire_event("s1", "Stop", json!({}));
    let view = fs::read_to_string(&path).unwrap();
    assert!(view.contains("- Which database? → SQLite (d-"), "{view}");
    assert!(view.contains("| s1 | claude-code |") && view.contains("Write the parser"), "{view}");
    // thru never reads context.md, so editing it has no effect on briefs.
    fs::write(&path, view.replace("SQLite", "Oracle")).unwrap();
    set_modified_after(&path, &env.store_folder().join("decisions.jsonl"));
    assert!(!brief_after_compaction(&env, "s1").contains("Oracle"));
    let told = env.run_thru(&["decide", "Two passes"]).assert_ok().stderr;
    assert!(
        told.contains(
            "context.md was edited by hand: your version was kept as context.md.edited-20261115T192200Z"
        ),
        "{told}"
    );
    assert!(
        fs::read_to_string(env.store_folder().join("context.md.edited-20261115T192200Z"))
            .unwrap()
            .contains("Oracle")
    );
    assert!(!fs::read_to_string(&path).unwrap().contains("Oracle"));
}

#[test]
fn status_and_the_record_of_a_phase_tell_of_them() {
    let env = TestEnv::with_root();
    assert!(!env.run_thru(&["status"]).assert_ok().stdout.contains("decisions"));
    env.run_thru(&["plan", "init", "Parser", "--phase", "Read", "--phase", "Write"]).assert_ok();
    env.run_thru(&["task", "add", "Lexer"]).assert_ok();
    env.run_thru(&["decide", "Use TOML", "--why", "people edit it"]).assert_ok();
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(status.contains("decisions  1 in force; newest: Use TOML"), "{status}");
    assert_eq!(env.run_thru_json(&["status"])["decisions"]["current"], 1);
    env.run_thru(&["task", "done", "1.1"]).assert_ok();
    let record = fs::read_to_string(env.store_folder().join("phases/1.md")).unwrap();
    assert!(record.contains("## Decisions\n- Use TOML, because people edit it\n"), "{record}");
}

#[test]
fn a_swarms_decisions_are_imported_once() {
    let env = TestEnv::with_root();
    let text = "# Context\nSwarm: mega\n\n## Decisions\n- **Store**: SQLite\n  - Rationale: no server\n- Two passes\n\n## Patterns\n- Errors name the file\n\n## Agent Activity\n| Tool | Calls |\n|--|--|\n| read | 2 |\n";
    let file = env.write_file("project/.swarm/context.md", text);
    let dry = env.run_thru_json(&["import", "swarm", "--dry-run"]);
    assert_eq!((&dry["decisions"]["decisions"], &dry["decisions"]["written"]), (&json!(2), &json!(0)));
    assert!(!env.store_folder().join("decisions.jsonl").exists());
    let told = env.run_thru(&["import", "swarm"]).assert_ok().stdout;
    assert!(told.contains("Imported: 2 decisions, 1 patterns"), "{told}");
    assert_eq!(
        listed_texts(&env.run_thru_json(&["decisions", "list"])),
        ["Errors name the file", "Two passes", "Store: SQLite"]
    );
    assert_eq!(recorded_decisions(&env)[0]["why"], "no server");
    let again = env.run_thru_json(&["import", "swarm"]);
    assert_eq!(
        (&again["decisions"]["already_recorded"], &again["decisions"]["written"]),
        (&json!(3), &json!(0))
    );
    assert_eq!(recorded_decisions(&env).len(), 3);
    assert_eq!(fs::read_to_string(file).unwrap(), text);
    // A new line in the imported file becomes a new decision. A decision that was superseded here is not imported
    // again.
    let id = recorded_decisions(&env)[1]["id"].as_str().unwrap().to_owned();
    env.run_thru(&["decisions", "supersede", &id, "One pass"]).assert_ok();
    env.write_file(
        "project/.swarm/context.md",
        text.replace("- Two passes\n", "- Two passes\n- Static binary\n"),
    );
    assert_eq!(env.run_thru_json(&["import", "swarm"])["decisions"]["written"], 1);
    assert_eq!(listed_texts(&env.run_thru_json(&["decisions", "list"]))[..2], ["Static binary", "One pass"]);
}

#[test]
fn many_who_decide_the_same_decide_once() {
    let env = TestEnv::with_root();
    std::thread::scope(|scope| {
        for _ in 0..16 {
            let call = env.thru_call(&["decide", "Use TOML"]);
            scope.spawn(move || drop(call.run().assert_ok()));
        }
    });
    assert_eq!(recorded_decisions(&env).len(), 1);
}

/// An answer that was superseded stays superseded, even if hundreds of later decisions follow in the log.
#[test]
fn an_answer_that_was_superseded_stays_away_however_old_it_is() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    report_answer(&env, "s1", "Which database?", "SQLite");
    let id = recorded_decisions(&env)[0]["id"].as_str().unwrap().to_owned();
    env.run_thru(&["decisions", "supersede", &id, "Postgres it is"]).assert_ok();
    let path = env.store_folder().join("decisions.jsonl");
    let mut log = fs::read_to_string(&path).unwrap();
    for number in 0..600 {
        let line = json!({"v": 1, "id": format!("d-{number:012x}"), "ts": "2026-11-15T19:22:00Z",
            "text": format!("Decision {number} {}", "x".repeat(100)), "by": "user", "source": "command"});
        log.push_str(&format!("{line}\n"));
    }
    fs::write(&path, log).unwrap();
    let told = brief_after_compaction(&env, "s1");
    assert!(told.contains("Decision 599") && !told.contains("SQLite"), "{told}");
}

#[test]
fn a_decision_whose_words_begin_another_is_told_at_a_pickup() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    env.run_thru(&["decide", "Use SQLite for the tests"]).assert_ok();
    env.run_thru(&["handoff", "write the parser"]).assert_ok();
    env.run_thru(&["decide", "Use SQLite"]).assert_ok();
    let text = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(text.contains("- Use SQLite\n"), "{text}");
}

#[test]
fn a_decision_of_another_tool_that_is_cut_is_named() {
    let env = TestEnv::with_root();
    env.write_file(
        "project/.swarm/context.md",
        format!("# Context\n## Decisions\n- {}\n", "long ".repeat(2_000)),
    );
    let report = env.run_thru_json(&["import", "swarm"]);
    let warnings = report["decisions"]["warnings"].to_string();
    assert!(warnings.contains("was cut: the limit for a decision is 8192"), "{report}");
}
