//! Tests of the ranking by score. Every signal comes from real records, and a changed record changes the order
//! according to the formula.

use serde_json::{Value, json};

use crate::call::ThruOutput;
use crate::env::{TEST_TIME, TestEnv};

const SCORING_ON: &str = "[brief.scoring]\nenabled = true\n";

/// Creates a root with ranking by score and these additional settings.
fn env_with_scoring(settings: &str) -> TestEnv {
    let env = TestEnv::with_root();
    write_settings(&env, settings);
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Make the lexer fast"}));
    env
}

fn write_settings(env: &TestEnv, settings: &str) {
    env.write_file(env.store_folder().join("config.toml"), format!("{SCORING_ON}{settings}"));
}

fn report_tool_call(env: &TestEnv, id: &str, tool: &str, path: &str) {
    let path = env.project_folder().join(path);
    // A file that does not exist would not be listed, so create it.
    if !path.exists() {
        env.write_file(&path, "");
    }
    let input = json!({"file_path": path});
    env.fire_event("s1", "PostToolUse", json!({"tool_name": tool, "tool_use_id": id, "tool_input": input}));
}

fn report_command(env: &TestEnv, id: &str, command: &str, passed: bool) {
    let call = json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": command}});
    match passed {
        true => env.fire_event("s1", "PostToolUse", call),
        false => {
            let error = json!({"error": "Exit code 101\nerror: test parse failed"});
            env.fire_event("s1", "PostToolUseFailure", crate::env::merge_fields(&call, error))
        }
    };
}

/// The candidates for the brief of session s1, in ranked order.
struct BriefRanking(Value);

impl BriefRanking {
    fn current(env: &TestEnv) -> BriefRanking {
        BriefRanking::at_time(env, TEST_TIME)
    }

    fn at_time(env: &TestEnv, now: &str) -> BriefRanking {
        let words = ["brief", "--session", "s1", "--event", "compact", "--json"];
        let call = env.thru_call(&words).with_variable("THROUGHLINE_NOW", now);
        let has_role = env.store_folder().join("agents/tester.context.md").exists();
        let call = if has_role { call.with_variable("THROUGHLINE_ROLE", "tester") } else { call };
        BriefRanking(call.run().assert_ok().json())
    }

    fn rows(&self) -> &Vec<Value> {
        self.0["rows"].as_array().unwrap()
    }

    #[track_caller]
    fn row_of(&self, id: &str) -> &Value {
        let exact = self.rows().iter().find(|row| row["id"] == id);
        let row = exact.or(self.rows().iter().find(|row| row["id"].as_str().unwrap().starts_with(id)));
        row.unwrap_or_else(|| panic!("no {id} among {:?}", self.ids()))
    }

    fn ids(&self) -> Vec<&str> {
        self.rows().iter().map(|row| row["id"].as_str().unwrap()).collect()
    }

    #[track_caller]
    fn score_of(&self, id: &str) -> f64 {
        self.row_of(id)["score"].as_f64().unwrap()
    }

    #[track_caller]
    fn position_of(&self, id: &str) -> u64 {
        self.row_of(id)["position"].as_u64().unwrap()
    }

    fn contains(&self, id: &str) -> bool {
        self.ids().iter().any(|known| known.starts_with(id))
    }

    /// Checks the score of a candidate, and the contribution of each signal to it.
    #[track_caller]
    fn assert_score(&self, id: &str, parts: &[(&str, f64)]) {
        let row = self.row_of(id);
        let found = row["signals"].as_array().unwrap();
        let names: Vec<&str> = found.iter().map(|part| part["signal"].as_str().unwrap()).collect();
        assert_eq!(names, parts.iter().map(|(name, _)| *name).collect::<Vec<_>>(), "{row}");
        for (part, (name, expected)) in found.iter().zip(parts) {
            assert_close(part["contribution"].as_f64().unwrap(), *expected, name);
        }
        assert_close(self.score_of(id), parts.iter().map(|(_, part)| part).sum(), id);
    }
}

#[track_caller]
fn assert_close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() < 1e-9, "{what}: {found}, not {expected}");
}

/// Returns 100 / (100 + rank), the formula in docs/scoring.md.
fn standing_of_rank(rank: f64) -> f64 {
    100.0 / (100.0 + rank)
}

#[test]
fn phase_current_and_blocked_tasks() {
    let env = env_with_scoring("");
    env.run_thru(&["plan", "init", "Parser", "--phase", "Read"]).assert_ok();
    for task in ["Lexer", "Grammar", "Errors"] {
        env.run_thru(&["task", "add", task]).assert_ok();
    }
    let ranking = BriefRanking::current(&env);
    ranking.assert_score("plan", &[("phase", 1.0)]);
    ranking.assert_score("plan:ready", &[("current_task", 2.0)]);
    env.run_thru(&["task", "start", "1.2"]).assert_ok();
    env.run_thru(&["task", "block", "1.3", "no words yet"]).assert_ok();
    let ranking = BriefRanking::current(&env);
    ranking.assert_score("task:1.2", &[("current_task", 2.0)]);
    ranking.assert_score("task:1.3", &[("blocked_task", 1.5)]);
    ranking.assert_score("plan:ready", &[("phase", 0.5)]);
    let first: Vec<&str> = ranking.ids().into_iter().take(3).collect();
    assert_eq!(first, ["task:1.2", "task:1.3", "plan"]);
    // If the two tasks swap their states, they swap their positions.
    env.run_thru(&["task", "unblock", "1.3"]).assert_ok();
    env.run_thru(&["task", "start", "1.3"]).assert_ok();
    env.run_thru(&["task", "block", "1.2", "1.3 first"]).assert_ok();
    let ranking = BriefRanking::current(&env);
    assert_eq!(ranking.ids()[..2], ["task:1.3", "task:1.2"]);
}

#[test]
fn dependencies_by_their_distance() {
    let env = env_with_scoring("");
    env.run_thru(&["plan", "init", "Parser", "--phase", "Read"]).assert_ok();
    env.run_thru(&["task", "add", "Lexer"]).assert_ok();
    env.run_thru(&["task", "add", "Grammar", "--depends", "1.1"]).assert_ok();
    env.run_thru(&["task", "add", "Errors", "--depends", "1.2"]).assert_ok();
    for task in ["1.1", "1.2"] {
        env.run_thru(&["task", "start", task]).assert_ok();
        env.run_thru(&["task", "done", task]).assert_ok();
    }
    env.run_thru(&["task", "start", "1.3"]).assert_ok();
    let ranking = BriefRanking::current(&env);
    ranking.assert_score("dependency:1.2", &[("dependency_proximity", 1.0 / 2.0)]);
    ranking.assert_score("dependency:1.1", &[("dependency_proximity", 1.0 / 3.0)]);
    assert_eq!(ranking.row_of("dependency:1.1")["depth"], 2);
    assert!(ranking.row_of("dependency:1.2")["text"].as_str().unwrap().contains("“Grammar” (completed)"));
    env.run_thru(&["plan", "set", "1.3", "--depends", "1.1"]).assert_ok();
    let ranking = BriefRanking::current(&env);
    ranking.assert_score("dependency:1.1", &[("dependency_proximity", 1.0 / 2.0)]);
    assert!(!ranking.contains("dependency:1.2"), "{:?}", ranking.ids());
}

#[test]
fn evidence_failures_reviews_and_successes() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    write_settings(&env, "");
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Make the lexer fast"}));
    env.run_thru(&["plan", "init", "Parser", "--phase", "Read"]).assert_ok();
    env.run_thru(&["task", "add", "Lexer"]).assert_ok();
    env.run_thru(&["task", "start", "1.1"]).assert_ok();
    BriefRanking::current(&env).assert_score("task:1.1", &[("current_task", 2.0)]);
    let run = |script: &str| env.run_thru(&["evidence", "run", "1.1", "--", "sh", "-c", script]);
    run("echo 'test result: ok. 5 passed; 0 failed; 0 ignored'").assert_ok();
    let ranking = BriefRanking::current(&env);
    ranking.assert_score("task:1.1", &[("current_task", 2.0), ("evidence_presence", 1.0)]);
    ranking.assert_score("evidence:1.1", &[("evidence_presence", 1.0), ("recent_success", 0.5)]);
    assert!(ranking.position_of("task:1.1") < ranking.position_of("evidence:1.1"));
    run("echo 'test result: FAILED. 4 passed; 1 failed; 0 ignored'; exit 101").assert_exit_code(1);
    let ranking = BriefRanking::current(&env);
    ranking.assert_score("evidence:1.1", &[("evidence_presence", 1.0), ("recent_failure", 2.5)]);
    assert!(ranking.position_of("evidence:1.1") < ranking.position_of("task:1.1"), "a failure goes first");
    run("echo 'test result: ok. 5 passed; 0 failed; 0 ignored'").assert_ok();
    let review = ["evidence", "add", "1.1", "--type", "review", "--verdict", "rejected", "--summary", "racy"];
    env.run_thru(&review).assert_ok();
    let ranking = BriefRanking::current(&env);
    ranking.assert_score("evidence:1.1", &[("evidence_presence", 1.0), ("recent_failure", 2.5)]);
    assert!(ranking.row_of("evidence:1.1")["text"].as_str().unwrap().contains("racy"));
}

#[test]
fn decisions_by_their_age() {
    let env = env_with_scoring("");
    let decide = |text: &str, now: &str| {
        let call = env.thru_call(&["decide", text, "--json"]).with_variable("THROUGHLINE_NOW", now);
        format!("decision:{}", call.run().assert_ok().json()["decision"]["id"].as_str().unwrap())
    };
    let old = decide("Use TOML", "2026-11-14T19:22:00Z");
    let new = decide("Use JSON for records", "2026-11-15T13:22:00Z");
    let ranking = BriefRanking::current(&env);
    ranking.assert_score(&old, &[("decision_recency", 0.75)]);
    ranking.assert_score(&new, &[("decision_recency", 1.5 * 2.0_f64.powf(-0.25))]);
    assert_eq!(ranking.row_of(&old)["age_hours"], 24.0);
    assert!(ranking.position_of(&new) < ranking.position_of(&old));
    assert!(ranking.position_of("prompt:") > ranking.position_of(&new), "{:?}", ranking.ids());
    // A day later, the newer decision ranks below the goal, as the older decision already did.
    let later = BriefRanking::at_time(&env, "2026-11-16T19:22:00Z");
    later.assert_score(&old, &[("decision_recency", 0.375)]);
    assert!(later.position_of("prompt:") < later.position_of(&new), "{:?}", later.ids());
    write_settings(&env, "decision_decay.half_life_hours = 48\n");
    BriefRanking::current(&env).assert_score(&old, &[("decision_recency", 1.5 * 2.0_f64.powf(-0.5))]);
    write_settings(&env, "decision_decay = { mode = \"linear\", half_life_hours = 16 }\n");
    let ranking = BriefRanking::current(&env);
    ranking.assert_score(&old, &[("decision_recency", 1.5 * 0.25)]);
    ranking.assert_score(&new, &[("decision_recency", 1.5 * 0.8125)]);
}

#[test]
fn failing_commands_and_checks_that_passed() {
    let env = env_with_scoring("");
    report_command(&env, "t1", "cargo test --lib", false);
    report_command(&env, "t2", "npm run lint", false);
    let failures = |ranking: &BriefRanking| -> Vec<(String, f64)> {
        let rows = ranking.rows().iter().filter(|row| row["class"] == "failing");
        rows.map(|row| (row["text"].as_str().unwrap().to_owned(), row["score"].as_f64().unwrap())).collect()
    };
    let ranking = BriefRanking::current(&env);
    let found = failures(&ranking);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].0.contains("npm run lint") && found[1].0.contains("cargo test"),
        "newest first: {found:?}"
    );
    assert_close(found[0].1, 2.5, "the newest");
    assert_close(found[1].1, 1.25, "the one before");
    assert_eq!(ranking.position_of("failure:"), 1);
    // The lint now passes, so there is one failure and one successful check.
    report_command(&env, "t3", "npm run lint", true);
    let ranking = BriefRanking::current(&env);
    let found = failures(&ranking);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_close(found[0].1, 2.5, "now the newest");
    let check = ranking.row_of("command:npm run lint");
    let standing = standing_of_rank(check["rank"].as_f64().unwrap());
    ranking.assert_score(
        "command:npm run lint",
        &[("commands", 0.75 * standing), ("recent_success", 0.5 * 0.5 * standing)],
    );
    // A higher weight for successful checks changes the order.
    write_settings(&env, "weights.recent_success = 5\n");
    let ranking = BriefRanking::current(&env);
    assert_eq!(ranking.position_of("command:npm run lint"), 1, "{:?}", ranking.ids());
}

#[test]
fn files_by_their_use() {
    let env = env_with_scoring("");
    for (id, path) in [("t1", "src/a.rs"), ("t2", "src/b.rs")] {
        report_tool_call(&env, id, "Read", path);
    }
    let ranking = BriefRanking::current(&env);
    ranking.assert_score("file:src/b.rs", &[("files", standing_of_rank(9.0))]);
    ranking.assert_score("file:src/a.rs", &[("files", standing_of_rank(10.0))]);
    report_tool_call(&env, "t3", "Edit", "src/a.rs");
    let ranking = BriefRanking::current(&env);
    ranking.assert_score("file:src/a.rs", &[("files", standing_of_rank(9.0))]);
    ranking.assert_score("file:src/b.rs", &[("files", standing_of_rank(10.0))]);
}

#[test]
fn prompts_by_their_place() {
    let env = env_with_scoring("");
    let ranking = BriefRanking::current(&env);
    ranking.assert_score("prompt:", &[("prompts", standing_of_rank(6.0))]);
    assert!(ranking.row_of("prompt:")["text"].as_str().unwrap().contains("Make the lexer fast"));
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Now rewrite the grammar of the parser"}));
    let ranking = BriefRanking::current(&env);
    let prompts: Vec<&Value> = ranking.rows().iter().filter(|row| row["class"] == "goal").collect();
    assert!(prompts.len() > 1 || prompts[0]["text"].as_str().unwrap().contains("grammar"), "{prompts:?}");
    write_settings(&env, "weights.prompts = 0\n");
    let ranking = BriefRanking::current(&env);
    assert_close(ranking.score_of("prompt:"), 0.0, "without weight");
    assert_eq!(ranking.row_of("prompt:")["signals"][0]["weight"], 0.0);
}

/// Each of these signals comes from one record. Without the record, there is no candidate. Changing the signal's weight
/// moves the candidate.
#[test]
fn loop_role_manifest_packet_outputs_problems_and_effects() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    write_settings(&env, "");
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Make the lexer fast"}));
    let signals = [
        ("loop", "loop:"),
        ("role", "role:tester"),
        ("manifest", "workstream:"),
        ("packet", "packet:"),
        ("outputs", "output:"),
        ("problems", "problem:"),
        ("effects", "outside:"),
    ];
    let before = BriefRanking::current(&env);
    for (signal, id) in signals {
        assert!(!before.contains(id), "{signal}: {:?}", before.ids());
    }
    env.run_thru(&["resume", "new", "01-parser", "--name", "The parser", "--phase", "execution"]).assert_ok();
    env.run_thru(&["context", "new", "tester"]).assert_ok();
    report_tool_call(&env, "t1", "Edit", "src/lexer.rs");
    report_tool_call(&env, "t2", "Edit", ".agent/context/workstreams/01-parser/plan.md");
    let commit = json!({"tool_name": "Bash", "tool_use_id": "t3",
        "tool_input": {"command": "git commit -m 'Faster'"},
        "tool_response": {"stdout": "[main 1a2b3c4] Faster\n 1 file changed", "stderr": "", "interrupted": false}});
    env.fire_event("s1", "PostToolUse", commit);
    let packet =
        env.run_thru(&["handoff", "Finish the lexer", "--session", "s1", "--json"]).assert_ok().json();
    env.run_thru(&["pickup", packet["id"].as_str().unwrap(), "--claim", "--session", "s1"]).assert_ok();
    env.run_thru(&["loop", "start", "Go on", "--promise", "DONE", "--session", "s1"]).assert_ok();
    env.run_thru(&["gate", "expect", "review", "--critical", "review-security.md"]).assert_ok();
    env.fire_hook("Stop", &env.event_payload("../x", "Stop", json!({})));
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"}));
    let ranking = BriefRanking::current(&env);
    for (signal, id) in signals {
        let rank = ranking.row_of(id)["rank"].as_f64().unwrap();
        ranking.assert_score(id, &[(signal, standing_of_rank(rank))]);
    }
    for (signal, id) in signals {
        write_settings(&env, &format!("weights.{signal} = 5\n"));
        let most = BriefRanking::current(&env);
        assert_eq!(most.position_of(id), 1, "{signal}: {:?}", most.ids());
        write_settings(&env, &format!("weights.{signal} = 0\n"));
        assert_close(BriefRanking::current(&env).score_of(id), 0.0, signal);
    }
}

#[test]
fn what_others_did_meanwhile() {
    let env = env_with_scoring("");
    let resumed = || {
        let words = ["brief", "--session", "s1", "--event", "resume", "--json"];
        BriefRanking(
            env.thru_call(&words)
                .with_variable("THROUGHLINE_NOW", "2026-11-15T21:00:00Z")
                .run()
                .assert_ok()
                .json(),
        )
    };
    assert!(!resumed().contains("worked:"), "nobody else was there");
    let fire = |event: &str, more: Value| {
        let call = env.hook_call(event, env.event_payload("s2", event, more).to_string());
        call.with_variable("THROUGHLINE_NOW", "2026-11-15T20:00:00Z").run().assert_accepted_by_harness(event);
    };
    fire("SessionStart", json!({"source": "startup"}));
    fire("UserPromptSubmit", json!({"prompt": "Write the docs of the lexer"}));
    let input = json!({"file_path": env.project_folder().join("docs/lexer.md")});
    fire("PostToolUse", json!({"tool_name": "Edit", "tool_use_id": "t9", "tool_input": input}));
    fire("SessionEnd", json!({"reason": "other"}));
    resumed().assert_score("worked:s2", &[("activity", standing_of_rank(5.0))]);
    write_settings(&env, "weights.activity = 0.5\n");
    resumed().assert_score("worked:s2", &[("activity", 0.5 * standing_of_rank(5.0))]);
}

#[test]
fn work_that_could_be_lost() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    write_settings(&env, "");
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Make the lexer fast"}));
    assert!(!BriefRanking::current(&env).contains("risk:"), "nothing was edited");
    for n in 0..4 {
        env.write_file(format!("project/src/lexer{n}.rs"), "fn a() {}\n");
        report_tool_call(&env, &format!("t{n}"), "Edit", &format!("src/lexer{n}.rs"));
    }
    let ranking = BriefRanking::current(&env);
    ranking.assert_score("risk:uncommitted", &[("risk", standing_of_rank(0.0))]);
    assert_eq!(ranking.position_of("risk:uncommitted"), 1);
    write_settings(&env, "weights.risk = 0.1\n");
    let ranking = BriefRanking::current(&env);
    ranking.assert_score("risk:uncommitted", &[("risk", 0.1)]);
    assert!(ranking.position_of("risk:uncommitted") > ranking.position_of("file:"), "{:?}", ranking.ids());
}

#[test]
fn words_of_the_agent_and_where_it_stands() {
    let env = env_with_scoring("");
    let stop = |text: &str| {
        env.fire_event("s1", "Stop", json!({"stop_hook_active": false, "last_assistant_message": text}));
    };
    stop("The lexer in src/lexer.rs copies every token twice; the cache in src/cache.rs hides that.");
    BriefRanking::current(&env).assert_score("said", &[("state", standing_of_rank(7.0))]);
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Now rewrite the grammar of the parser"}));
    report_tool_call(&env, "t1", "Edit", "src/grammar.rs");
    stop("The grammar is rewritten in src/grammar.rs; it has no left recursion any more.");
    let ranking = BriefRanking::current(&env);
    let done = ranking.rows().iter().find(|row| row["class"] == "done").expect("what was found before");
    assert!(done["text"].as_str().unwrap().contains("copies every token twice"), "{done}");
    assert_close(
        done["score"].as_f64().unwrap(),
        standing_of_rank(done["rank"].as_f64().unwrap()),
        "statements",
    );
    assert_eq!(done["signals"][0]["signal"], "statements");
}

fn run_brief(env: &TestEnv, words: &[&str]) -> ThruOutput {
    env.run_thru(&[&["brief", "--session", "s1", "--event", "compact"], words].concat())
}

#[test]
fn the_hook_sends_what_the_brief_shows() {
    let env = env_with_scoring("");
    report_command(&env, "t1", "cargo test", false);
    env.run_thru(&["decide", "Use TOML"]).assert_ok();
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"}));
    let shown = run_brief(&env, &["--json"]).assert_ok().json();
    assert_eq!(shown["scoring"], true);
    let sent = env.fire_event("s1", "SessionStart", json!({"source": "compact"})).context_for_model();
    assert_eq!(shown["text"], sent.as_str());
}

#[test]
fn the_same_bytes_whatever_the_locale() {
    let env = env_with_scoring("");
    for n in 0..30 {
        report_tool_call(&env, &format!("t{n}"), "Read", &format!("src/Ä{n}.rs"));
    }
    env.run_thru(&["decide", "Use TOML"]).assert_ok();
    let words = ["brief", "--session", "s1", "--event", "compact", "--max-chars", "900"];
    let first = env.run_thru(&words).assert_ok().stdout;
    for locale in ["C", "tr_TR.UTF-8", "de_DE.UTF-8", "ja_JP.eucJP", ""] {
        for _ in 0..5 {
            let call = env
                .thru_call(&words)
                .with_variable("LC_ALL", locale)
                .with_variable("LANG", locale)
                .with_variable("LC_COLLATE", locale);
            assert_eq!(call.run().assert_ok().stdout, first, "{locale}");
        }
    }
}

#[test]
fn off_is_the_fixed_order_whatever_the_weights_are() {
    let env = TestEnv::with_root();
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Make the lexer fast"}));
    report_command(&env, "t1", "cargo test", false);
    report_tool_call(&env, "t2", "Edit", "src/lexer.rs");
    env.run_thru(&["plan", "init", "Parser", "--phase", "Read"]).assert_ok();
    env.run_thru(&["task", "add", "Lexer"]).assert_ok();
    for n in 0..12 {
        env.run_thru(&["decide", &format!("Decision {n}")]).assert_ok();
    }
    let fixed = run_brief(&env, &[]).assert_ok().stdout;
    let settings = "[brief.scoring]\nenabled = false\nmax_tokens = 100\n[brief.scoring.weights]\nfiles = 5\n";
    env.write_file(env.store_folder().join("config.toml"), settings);
    assert_eq!(run_brief(&env, &[]).assert_ok().stdout, fixed);
    let on = run_brief(&env, &["--scoring", "on"]).assert_ok().stdout;
    assert!(on != fixed && on.contains("\nMore"), "{on}");
    write_settings(&env, "");
    assert_eq!(run_brief(&env, &["--scoring", "off"]).assert_ok().stdout, fixed);
}

#[test]
fn what_does_not_fit_is_named() {
    let env = env_with_scoring("max_tokens = 100\n");
    for n in 0..40 {
        report_tool_call(&env, &format!("t{n}"), "Read", &format!("src/module{n}/lexer{n}.rs"));
    }
    let report = run_brief(&env, &["--json"]).assert_ok().json();
    let text = report["text"].as_str().unwrap();
    assert!(report["tokens"].as_u64().unwrap() <= 100, "{report}");
    let left = report["rows"].as_array().unwrap().iter().filter(|row| row["taken"] == false).count();
    assert!(left > 30 && text.trim_end().ends_with(": `thru brief --all`."), "{left}: {text}");
    assert!(text.contains("\nMore") && text.contains(" files"), "{text}");
    let all = run_brief(&env, &["--all"]).assert_ok().stdout;
    assert!(!all.contains("\nMore") && all.contains("lexer39.rs"), "{all}");
    let budget = run_brief(&env, &["--budget", "300", "--json"]).assert_ok().json();
    assert!((101..=300).contains(&budget["tokens"].as_u64().unwrap()), "{budget}");
}

#[test]
fn explained_in_a_table_and_one_by_one() {
    let env = env_with_scoring("");
    report_command(&env, "t1", "cargo test", false);
    report_tool_call(&env, "t2", "Edit", "src/lexer.rs");
    env.run_thru(&["plan", "init", "Parser", "--phase", "Read"]).assert_ok();
    env.run_thru(&["task", "add", "Lexer"]).assert_ok();
    env.run_thru(&["task", "add", "Grammar", "--depends", "1.1"]).assert_ok();
    env.run_thru(&["task", "start", "1.1"]).assert_ok();
    let table = run_brief(&env, &["--explain"]).assert_ok();
    for line in table.stdout.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    let lines: Vec<&str> = table.stdout.lines().collect();
    assert_eq!(lines[0], " score  tokens  in   class    what");
    assert!(lines[1].starts_with(" 2.500      "), "{table}");
    assert!(lines[2].contains("recent_failure 1.000 × 2.5 = 2.500"), "{table}");
    assert!(table.stdout.contains("task:1.1 · current_task 1.000 × 2 = 2.000 · in full"), "{table}");
    assert!(table.stderr.contains("ranked by score"), "{table}");
    let one = run_brief(&env, &["--explain", "task:1.1"]).assert_ok().stdout;
    for text in ["task:1.1", "current_task", "1.000 × 2 = 2.000", "yes: in full", "in progress: 1.1", "prose"]
    {
        assert!(one.contains(text), "{text}: {one}");
    }
    let one = run_brief(&env, &["--explain", "task:", "--json"]).assert_ok().json();
    assert_eq!(one["rows"].as_array().unwrap().len(), 1, "the beginning is enough: {one}");
    let none = run_brief(&env, &["--explain", "task:9.9"]).assert_exit_code(10);
    assert!(none.stderr.contains("no candidate in this brief has the id task:9.9"), "{none}");
    run_brief(&env, &["--explain", "p"]).assert_exit_code(2);
    let fixed = run_brief(&env, &["--explain", "--scoring", "off"]).assert_ok();
    assert!(fixed.stdout.starts_with("  rank  tokens  in   class"), "{fixed}");
    assert!(fixed.stderr.contains("in the fixed order"), "{fixed}");
}

#[test]
fn a_value_out_of_bounds_is_an_error_and_the_default_is_used() {
    let env = TestEnv::with_root();
    let file = env.store_folder().join("config.toml");
    for (line, message) in [
        (
            "weights.phase = 6",
            "brief.scoring.weights.phase is 6, not a number from 0 to 5; using the default, 1",
        ),
        (
            "weights.files = -0.5",
            "brief.scoring.weights.files is -0.5, not a number from 0 to 5; using the default, 1",
        ),
        (
            "weights.files = nan",
            "brief.scoring.weights.files is NaN, not a number from 0 to 5; using the default, 1",
        ),
        (
            "weights.files = inf",
            "brief.scoring.weights.files is inf, not a number from 0 to 5; using the default, 1",
        ),
        (
            "weights.files = \"much\"",
            "brief.scoring.weights.files is `much`, not a number from 0 to 5; using the default, 1",
        ),
        (
            "decision_decay.half_life_hours = 0",
            "brief.scoring.decision_decay.half_life_hours is 0, not a number from 1 to 168; using the default, 24",
        ),
        (
            "decision_decay.mode = \"never\"",
            "brief.scoring.decision_decay.mode is `never`, not one of exponential, linear; using the default, exponential",
        ),
        (
            "max_tokens = 99",
            "brief.scoring.max_tokens is 99, not a whole number from 100 to 50000; using the default, 4000",
        ),
        (
            "max_tokens = 400.5",
            "brief.scoring.max_tokens is 400.5, not a whole number from 100 to 50000; using the default, 4000",
        ),
        (
            "max_candidates = 501",
            "brief.scoring.max_candidates is 501, not a whole number from 10 to 500; using the default, 100",
        ),
        (
            "token_ratios.code = 0",
            "brief.scoring.token_ratios.code is 0, not a number from 0.05 to 2; using the default, 0.4",
        ),
    ] {
        write_settings(&env, &format!("{line}\n"));
        let config = env.run_thru(&["config"]).assert_exit_code(1);
        let expected = format!("error: {}:3: {message}", file.display());
        assert!(config.stderr.contains(&expected), "{expected}\n{config}");
        env.run_thru(&["doctor"]).assert_exit_code(1);
        env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
        let receipt = env.read_receipts().pop().unwrap();
        assert_eq!(receipt["outcome"], "ok", "{receipt}");
        assert_eq!(receipt["warning"], format!("settings: {}:3: {message}", file.display()), "{receipt}");
    }
    // The hook used the default instead of the invalid weight.
    write_settings(&env, "weights.phase = 6\n");
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Make the lexer fast"}));
    env.run_thru(&["plan", "init", "Parser", "--phase", "Read"]).assert_ok();
    env.run_thru(&["task", "add", "Lexer"]).assert_ok();
    BriefRanking::current(&env).assert_score("plan", &[("phase", 1.0)]);
    let told = run_brief(&env, &[]).assert_ok();
    assert!(told.stderr.contains("brief.scoring.weights.phase is 6"), "{told}");
    // A tool call writes one line to the journal and leaves no receipt.
    let receipts = env.read_receipts().len();
    report_tool_call(&env, "t1", "Edit", "src/lexer.rs");
    assert_eq!(env.read_receipts().len(), receipts);
}

#[test]
fn the_page_says_what_the_code_does() {
    let page = include_str!("../../../../docs/scoring.md");
    let weights = model::config::Settings::DEFAULT.scoring_settings().weights;
    for row in model::score::SIGNALS {
        let line = format!(
            "| `{}` | {:.1} | {} | {} |",
            row.name,
            weights.weight_of(row.signal),
            row.value_description,
            row.value_source
        );
        assert!(page.lines().any(|known| known == line), "{line}");
    }
    for key in model::config::SETTING_ROWS.iter().filter(|key| key.name.starts_with("brief.scoring.")) {
        let name = key.name.strip_prefix("brief.scoring.").unwrap();
        let last = name.rsplit('.').next().unwrap();
        assert!(
            page.contains(&format!("`{name}`"))
                || page.contains(&format!("`{last}`"))
                || page.contains(&format!("`.{last}`")),
            "{name}"
        );
    }
}
