//! Tests of the plan: commands, files on disk, and briefs.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::env::{TestEnv, names_in};

const PLAN_MARKDOWN: &str = "# Parser\n\n## Phase 1: Read\n- [x] 1.1: Lexer [SMALL]\n- [ ] 1.2: Grammar [LARGE] (depends: 1.1)\n\
  - Acceptance: the tests pass\n- [ ] 1.3: Errors (depends: 1.2)\n\n## Phase 2: Write\n- [BLOCKED] 2.1: Printer - Reason: no style yet\n";

fn env_with_plan() -> TestEnv {
    let env = TestEnv::with_root();
    let file = env.write_file("project/notes/plan.md", PLAN_MARKDOWN.replace("\n- Acc", "\n  - Acc"));
    env.run_thru(&["plan", "import", file.to_str().unwrap()]).assert_ok();
    env
}

fn read_plan(env: &TestEnv) -> Value {
    serde_json::from_slice(&fs::read(env.store_folder().join("plan.json")).unwrap()).unwrap()
}

fn task_status(env: &TestEnv, id: &str) -> String {
    let plan = read_plan(env);
    let phases = plan["phases"].as_array().unwrap();
    let mut tasks = phases.iter().flat_map(|phase| phase["tasks"].as_array().unwrap());
    tasks.find(|task| task["id"] == id).unwrap()["status"].as_str().unwrap().to_owned()
}

#[test]
fn a_plan_is_shown_with_what_is_ready_and_what_waits() {
    let env = env_with_plan();
    assert_snapshot!(env.run_thru(&["plan", "show"]).assert_ok().stdout, @r"
    Parser  █████░░░░░░░░░░░░░░░ 1/4

    ▸ 1. Read  ██████░░░░░░░░░░░░░░ 1/3
        ✓ 1.1  Lexer small
        ○ 1.2  Grammar large
        ○ 1.3  Errors  ← 1.2

      2. Write  ░░░░░░░░░░░░░░░░░░░░ 0/1
        ✗ 2.1  Printer
          no style yet

    ready    1.2
    blocked  2.1
    ");
    assert_snapshot!(env.run_thru(&["plan", "show", "--graph"]).assert_ok().stdout, @r"
    ✓ 1.1  Lexer
    └─ ○ 1.2  Grammar
       └─ ○ 1.3  Errors
    ✗ 2.1  Printer
    ");
    let json = env.run_thru_json(&["plan", "show"]);
    assert_eq!(
        (&json["ready"], &json["blocked"], &json["current_task"]),
        (&json!(["1.2"]), &json!(["2.1"]), &json!("1.2"))
    );
    assert_eq!(json["phases"][0]["tasks"][2]["waits_for"], json!(["1.2"]));
    assert_eq!(json["progress"], json!({"done": 1, "total": 4}));
    assert_eq!(
        env.run_thru(&["plan", "check"]).assert_ok().stdout,
        "The plan is sound: 4 tasks; rebuilding it from 1 change in the ledger gives the same plan\n"
    );
}

#[test]
fn tasks_are_taken_up_and_finished() {
    let env = env_with_plan();
    env.run_thru(&["task", "start", "1.2", "--session", "s1"]).assert_ok();
    env.run_thru(&["task", "start", "1.2", "--session", "s1"]).assert_ok();
    let taken = env.run_thru(&["task", "start", "1.2", "--session", "s2"]);
    assert_eq!(taken.code, 14, "{}", taken.stderr);
    assert!(taken.stderr.contains("1.2 is taken by s1 since 2026-11-15T19:22:00Z"), "{}", taken.stderr);
    let early = env.run_thru(&["task", "start", "1.3"]);
    assert_eq!(early.code, 15);
    assert!(early.stderr.contains("1.3 is not ready: it waits for 1.2"), "{}", early.stderr);
    let unproven = env.run_thru(&["task", "done", "1.2"]);
    assert_eq!(unproven.code, 15);
    assert!(unproven.stderr.contains("thru task done 1.2 --without-evidence WHY"), "{}", unproven.stderr);
    let done = env.run_thru_json(&["task", "done", "1.2", "--without-evidence", "looked at it"]);
    assert_eq!(
        (&done["newly_ready"], &done["task"]["without_evidence"]),
        (&json!(["1.3"]), &json!("looked at it"))
    );
    // Finishing the last task of a phase ends the phase. A record is written, and the next phase becomes current.
    env.run_thru(&["task", "done", "1.3"]).assert_ok();
    let record = fs::read_to_string(env.store_folder().join("phases/1.md")).unwrap();
    assert!(record.starts_with("# Phase 1: Read\n") && record.contains("- done 1.2: Grammar"), "{record}");
    assert!(record.contains("Without evidence: looked at it"), "{record}");
    assert_eq!(env.run_thru_json(&["plan", "show"])["current_phase"], 2);
    env.run_thru(&["task", "unblock", "2.1"]).assert_ok();
    env.run_thru(&["task", "block", "2.1", "no paper"]).assert_ok();
    let shown = env.run_thru(&["task", "show", "2.1"]).assert_ok().stdout;
    assert!(shown.contains("no paper") && shown.contains("task_blocked"), "{shown}");
    env.run_thru(&["plan", "check"]).assert_ok();
}

#[test]
fn what_would_break_the_plan_is_refused_by_id() {
    let env = env_with_plan();
    let rows: [(&[&str], i32, &str); 7] = [
        (&["plan", "set", "1.2", "--depends", "1.3"], 15, "in a cycle: 1.2 → 1.3 → 1.2"),
        (
            &["plan", "set", "1.2", "--depends", "8.8"],
            15,
            "1.2 depends on 8.8, which is not a task of this plan",
        ),
        (&["task", "add", "x", "--id", "1.1"], 15, "two tasks have the id 1.1"),
        (&["task", "add", "x", "--id", "../x"], 15, "cannot be an id"),
        (&["task", "add", "x", "--phase", "9"], 10, "there is no phase 9"),
        (&["task", "start", "1.22"], 10, "did you mean 1.2?"),
        (&["plan", "set", "1.2", "--size", "huge"], 2, "one of: small, medium, large"),
    ];
    let before = fs::read(env.store_folder().join("plan.json")).unwrap();
    for (words, code, text) in rows {
        let output = env.run_thru(words);
        assert_eq!(output.code, code, "{words:?}: {}", output.stderr);
        assert!(output.stderr.contains(text), "{words:?}: {}", output.stderr);
    }
    assert_eq!(fs::read(env.store_folder().join("plan.json")).unwrap(), before);
    env.run_thru(&["task", "add", "Docs", "--phase", "2", "--depends", "1.3", "--size", "s"]).assert_ok();
    assert_eq!(task_status(&env, "2.2"), "pending");
}

#[test]
fn without_a_plan_the_way_to_one_is_told() {
    let env = TestEnv::with_root();
    for words in [&["plan", "show"], &["plan", "next"], &["plan", "check"]] {
        let output = env.run_thru(words);
        assert_eq!(
            (output.code, output.stderr.contains("`thru plan init TITLE` creates one")),
            (10, true),
            "{}",
            output.stderr
        );
    }
    env.run_thru(&["plan", "init", "Parser", "--phase", "Read"]).assert_ok();
    assert_eq!(env.run_thru(&["plan", "init", "Other"]).code, 15);
    env.run_thru(&["task", "add", "Lexer"]).assert_ok();
    env.run_thru(&["plan", "init", "Other", "--replace"]).assert_ok();
    assert_eq!(env.run_thru(&["plan", "show"]).assert_ok().stdout.lines().next(), Some("Other  no tasks"));
    assert_eq!(env.run_thru_json(&["plan", "log"])["lines"].as_array().unwrap().len(), 3);
}

/// If plan.json is lost or truncated, the ledger restores it byte for byte.
#[test]
fn the_file_is_made_again_from_the_ledger() {
    let env = env_with_plan();
    let path = env.store_folder().join("plan.json");
    let first = fs::read(&path).unwrap();
    env.run_thru(&["task", "start", "1.2", "--session", "s1"]).assert_ok();
    let second = fs::read(&path).unwrap();
    // Simulates a `thru` that was killed after it wrote the ledger's line and before it wrote the file.
    fs::write(&path, &first).unwrap();
    let shown = env.run_thru(&["plan", "show", "--json"]).assert_ok().json();
    assert_eq!((&shown["source"], &shown["in_progress"]), (&json!("ledger"), &json!(["1.2"])));
    env.run_thru(&["task", "start", "1.2", "--session", "s1"]).assert_ok();
    assert_eq!(fs::read(&path).unwrap(), second);
    fs::remove_file(&path).unwrap();
    env.run_thru(&["task", "start", "1.2", "--session", "s1"]).assert_ok();
    assert_eq!(fs::read(&path).unwrap(), second);
    // If the file is damaged, a read-only command reports the damage, and a command that changes the plan renames the
    // file.
    fs::write(&path, "{\"schema_version\": \"1.0.0\", \"phases\": 7}").unwrap();
    let damaged = env.run_thru(&["plan", "show"]);
    assert_eq!(damaged.code, 12, "{}", damaged.stderr);
    env.run_thru(&["task", "block", "1.2", "why"]).assert_ok();
    assert!(names_in(&env.store_folder()).iter().any(|name| name.starts_with("plan.json.damaged-")));
    assert_eq!(task_status(&env, "1.2"), "blocked");
    // A file that a newer version of thru wrote is not changed.
    fs::write(&path, "{\"schema_version\": \"2.0.0\", \"phases\": []}").unwrap();
    assert_eq!(env.run_thru(&["plan", "show"]).code, 13);
    assert_eq!(env.run_thru(&["task", "unblock", "1.2"]).code, 13);
}

#[test]
fn what_a_person_edits_is_taken_in() {
    let env = env_with_plan();
    let path = env.store_folder().join("plan.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"Grammar\"", "\"The grammar\", \"owner\": \"ada\"")).unwrap();
    let checked = env.run_thru(&["plan", "check"]).assert_ok().stdout;
    assert!(checked.contains("plan.json was edited by hand"), "{checked}");
    env.run_thru(&["task", "start", "1.2", "--session", "s1"]).assert_ok();
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"owner\": \"ada\"") && text.contains("The grammar"), "{text}");
    env.run_thru(&["plan", "check"]).assert_ok();
    // An edited plan.md is imported if the user names it as the file to import. Otherwise it is renamed.
    let view = env.store_folder().join("plan.md");
    let edited = fs::read_to_string(&view).unwrap().replace("- [ ] 1.3: Errors", "- [x] 1.3: Errors");
    fs::write(&view, &edited).unwrap();
    env.run_thru(&["plan", "import", view.to_str().unwrap()]).assert_ok();
    assert_eq!(task_status(&env, "1.3"), "completed");
    assert!(fs::read_to_string(&path).unwrap().contains("\"owner\": \"ada\""));
    fs::write(&view, "my notes\n").unwrap();
    let told = env.run_thru(&["task", "unblock", "2.1"]).assert_ok().stderr;
    assert!(
        told.contains("plan.md was edited by hand: your version was kept as plan.md.edited-20261115T192200Z"),
        "{told}"
    );
    assert_eq!(
        fs::read_to_string(env.store_folder().join("plan.md.edited-20261115T192200Z")).unwrap(),
        "my notes\n"
    );
}

#[test]
fn an_older_form_is_migrated_once_with_a_backup() {
    let env = TestEnv::with_root();
    env.write_file(
        "project/.agent/context/plan.json",
        r#"{"title": "Old", "tasks": [{"id": "a", "title": "do", "state": 7}]}"#,
    );
    env.run_thru(&["task", "start", "a"]).assert_ok();
    env.run_thru(&["task", "done", "a"]).assert_ok();
    let backups: Vec<String> =
        names_in(&env.store_folder()).into_iter().filter(|name| name.contains("backup")).collect();
    assert_eq!(backups, ["plan.json.backup-20261115T192200Z"]);
    let plan = read_plan(&env);
    assert_eq!((&plan["schema_version"], &plan["migration_status"]), (&json!("1.0.0"), &json!("migrated")));
    assert_eq!(plan["phases"][0]["tasks"][0]["state"], 7);
    env.run_thru(&["plan", "check"]).assert_ok();
}

#[test]
fn an_import_warns_and_never_fails() {
    let env = TestEnv::with_root();
    let file = env.write_file("project/p.md", "# P\n## Phase 1\n- [ ] 1.1: a\n- [-] 1.1: b (depends: 9.9)\n");
    let file = file.to_str().unwrap();
    let dry = env.run_thru(&["plan", "import", file, "--dry-run"]).assert_ok();
    assert!(dry.stdout.starts_with("Would be imported: P"), "{}", dry.stdout);
    assert!(!env.store_folder().join("plan.json").exists());
    let told = env.run_thru(&["plan", "import", file]).assert_ok().stderr;
    for text in [
        "line 4: duplicate task id 1.1: the second task gets the id 1.1-2",
        "`[-]` was read as “in progress”",
        "1.1-2 depends on 9.9",
    ] {
        assert!(told.contains(text), "{text}: {told}");
    }
    assert!(env.run_thru(&["plan", "import", file]).assert_ok().stdout.starts_with("Already imported"));
    let other = env.write_file("project/q.md", "- [ ] 1.1: c\n");
    assert_eq!(env.run_thru(&["plan", "import", other.to_str().unwrap()]).code, 15);
    env.run_thru(&["plan", "import", other.to_str().unwrap(), "--append"]).assert_ok();
    assert_eq!(task_status(&env, "2.1"), "pending");
    assert_eq!(env.run_thru(&["plan", "check"]).code, 1, "9.9 is still unknown");
    let damaged = env.write_file("project/x.json", "{\"phases\": [");
    assert_eq!(env.run_thru(&["plan", "import", damaged.to_str().unwrap(), "--replace"]).code, 12);
}

#[test]
fn a_plan_of_another_project_is_read_as_it_was_meant() {
    let env = TestEnv::with_root();
    let file = env.write_file(
        "project/PLAN.md",
        "# P\n## Phase 1: Base - COMPLETE\n**Tasks:**\n1. set up\n2. build\n## Phase 2: Login\n**Dependencies**: Phase 1\n\
         ### [P0] TASK-001: Log in\n**Acceptance criteria**:\n- [x] it works\n- [ ] it is fast\n\
         ### [P1] TASK-002: Log out — BLOCKED: no host\n## Rules\n- be short\n",
    );
    let told = env.run_thru(&["plan", "import", file.to_str().unwrap()]).assert_ok().stderr;
    assert!(told.contains("1 list item is not a task and was left out"), "{told}");
    let statuses = ["1.1", "1.2", "TASK-001", "TASK-002"].map(|id| task_status(&env, id));
    assert_eq!(statuses, ["completed", "completed", "pending", "blocked"]);
    let task = &read_plan(&env)["phases"][1]["tasks"][0];
    assert_eq!(task["acceptance"], "[x] it works; it is fast");
    assert_eq!(task["depends"], json!(["1.2"]));
    assert_eq!(env.run_thru_json(&["plan", "show"])["ready"], json!(["TASK-001"]));
}

#[test]
fn a_swarm_is_imported_once_and_stays_as_it_is() {
    let env = TestEnv::with_root();
    let task = |id: &str, status: &str| json!({"id": id, "phase": 1, "status": status, "size": "small", "description": format!("task {id}"), "depends": [], "files_touched": []});
    let plan = json!({"schema_version": "1.0.0", "title": "Swarm", "swarm": "mega", "current_phase": 1, "specHash": "x", "phases":
        [{"id": 1, "name": "One", "status": "completed", "tasks": [task("1.1", "completed"), task("1.2", "in_progress")]}]});
    env.write_file("project/.swarm/plan.json", plan.to_string());
    env.write_file(
        "project/.swarm/plan.md",
        "# Swarm\n## Phase 1: One [COMPLETE]\n- [x] 1.1: task\n- [ ] 1.2: task\n- [ ] 1.3: by hand\n",
    );
    let moved = json!({"event_type": "task_status_changed", "task_id": "1.1", "to_status": "completed", "timestamp": "2026-01-02T03:04:05Z"});
    env.write_file("project/.swarm/plan-ledger.jsonl", format!("{moved}\ntorn\n"));
    let before = env.file_tree();
    let dry = env.run_thru_json(&["import", "swarm", "--dry-run"]);
    assert_eq!((&dry["plan"]["tasks"], &dry["plan"]["written"]), (&json!(2), &json!(false)));
    before.assert_unchanged(&env.file_tree(), "a dry run");
    let told = env.run_thru(&["import", "swarm"]).assert_ok().stderr;
    assert!(
        told.contains("plan.md has tasks that plan.json does not have; they are left out: 1.3"),
        "{told}"
    );
    let imported = read_plan(&env);
    assert_eq!((&imported["specHash"], &imported["swarm"]), (&json!("x"), &json!("mega")));
    assert_eq!(imported["phases"][0]["tasks"][0]["done_at"], "2026-01-02T03:04:05Z");
    assert_eq!(env.run_thru_json(&["import", "swarm"])["plan"]["already_imported"], true);
    assert_eq!(fs::read_to_string(env.project_folder().join(".swarm/plan.json")).unwrap(), plan.to_string());
    assert_eq!(env.thru_call(&["import", "swarm", "nowhere"]).run().code, 10);
}

/// Files in a project may come from other people. A link could lead to any of the user's files, and reading a pipe may
/// never end.
#[test]
fn a_swarm_is_read_through_no_link_and_no_pipe() {
    let outside = "# Elsewhere\n## Phase 1: One\n- [ ] 1.1: private words\n";
    for rel in [".swarm", ".swarm/plan.md", ".swarm/context.md", ".swarm/evidence"] {
        for words in [&["import", "swarm"][..], &["import", "swarm", "folder/.swarm"]] {
            let env = TestEnv::with_root();
            let private = env.write_file("private/plan.md", outside);
            let (folder, named) = if words.len() > 2 { ("folder/", true) } else { ("", false) };
            let at = env.project_folder().join(format!("{folder}{rel}"));
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            let target = if rel.ends_with(".md") { &private } else { private.parent().unwrap() };
            std::os::unix::fs::symlink(target, &at).unwrap();
            let output = env.run_thru(words);
            // A folder that the user names is used, even if it is a link.
            if rel == ".swarm" && named {
                output.assert_ok();
                continue;
            }
            assert_ne!(output.code, 0, "{rel}: {output}");
            assert!(!env.store_folder().join("plan.json").exists(), "{rel}");
        }
    }
    let env = TestEnv::with_root();
    fs::create_dir_all(env.project_folder().join(".swarm")).unwrap();
    let pipe = env.project_folder().join(".swarm/plan.json");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let refused = env.run_thru(&["import", "swarm"]);
    assert!(refused.code != 0 && refused.stderr.contains("plan.json"), "{refused}");
}

fn report_todos(env: &TestEnv, session: &str, entries: &[(&str, &str)], id: &str) {
    let todos: Vec<Value> =
        entries.iter().map(|(text, status)| json!({"content": text, "status": status})).collect();
    let more = json!({"tool_name": "TodoWrite", "tool_input": {"todos": todos}, "tool_response": {}, "tool_use_id": id});
    env.fire_event(session, "PostToolUse", more).assert_ok();
}

/// Approved plans can be up to 18 KB long, and all of their tasks are imported.
#[test]
fn a_long_plan_is_imported_whole() {
    let env = TestEnv::with_root();
    env.fire_event("s1", "SessionStart", json!({"source": "startup"})).assert_ok();
    let tasks: String = (1..=250)
        .map(|n| format!("- [ ] 1.{n}: Change number {n} of the parser, with its tests and its docs\n"))
        .collect();
    let approved = format!("# Parser plan\n\n## Phase 1: Read\n{tasks}");
    assert!(approved.len() > 16 * 1024, "{}", approved.len());
    let more = json!({"tool_name": "ExitPlanMode", "tool_input": {"plan": approved}, "tool_use_id": "toolu_plan",
                      "tool_response": {"plan": approved, "isAgent": false}});
    env.fire_event("s1", "PostToolUse", more).assert_ok();
    assert_eq!(env.run_thru_json(&["plan", "import", "--from-session", "--session", "s1"])["tasks"], 250);
}

/// A plan that the user approved in plan mode is imported together with the agent's todo list. Changes in the list
/// change the states of the tasks. The brief after a compaction names the current task and the blocked tasks.
#[test]
fn a_session_s_plan_is_imported_and_followed() {
    let env = TestEnv::with_root();
    env.fire_event("s1", "SessionStart", json!({"source": "startup"})).assert_ok();
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Plan the parser"})).assert_ok();
    let approved = "# Parser plan\n\n## Steps\n1. Write the lexer\n2. Write the grammar\n3. Write the docs\n";
    let more = json!({"tool_name": "ExitPlanMode", "tool_input": {"plan": approved}, "tool_use_id": "toolu_plan",
                      "tool_response": {"plan": approved, "isAgent": false}});
    env.fire_event("s1", "PostToolUse", more).assert_ok();
    report_todos(
        &env,
        "s1",
        &[("Write the lexer", "in_progress"), ("Write the grammar", "pending"), ("Tell the team", "pending")],
        "t1",
    );
    let report = env.run_thru_json(&["plan", "import", "--from-session", "--session", "s1"]);
    assert_eq!((&report["title"], &report["tasks"]), (&json!("Parser plan"), &json!(4)), "{report}");
    assert_eq!(
        (task_status(&env, "1.1"), task_status(&env, "1.2"), task_status(&env, "2.1")),
        ("in_progress".into(), "pending".into(), "pending".into())
    );
    env.run_thru(&["plan", "set", "1.3", "--depends", "1.2"]).assert_ok();
    env.run_thru(&["task", "block", "2.1", "no team"]).assert_ok();
    report_todos(
        &env,
        "s1",
        &[
            ("Write the lexer", "completed"),
            ("Write the grammar", "in_progress"),
            ("Tell the team", "completed"),
        ],
        "t2",
    );
    env.fire_event("s1", "Stop", json!({"stop_hook_active": false})).assert_ok();
    assert_eq!(
        (task_status(&env, "1.1"), task_status(&env, "1.2")),
        ("completed".into(), "in_progress".into())
    );
    assert_eq!(task_status(&env, "2.1"), "blocked", "what a person blocked is not ticked off by a list");
    // A task that somebody reopens stays open as long as the agent's todo list does not change.
    env.run_thru(&["plan", "set", "1.1", "--status", "pending"]).assert_ok();
    env.fire_event("s1", "Stop", json!({"stop_hook_active": false})).assert_ok();
    assert_eq!(task_status(&env, "1.1"), "pending");
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"})).assert_ok();
    let brief = env.fire_event("s1", "SessionStart", json!({"source": "compact"})).assert_ok().stdout;
    for text in [
        "Parser plan",
        "in progress: 1.2 “Write the grammar”",
        "; waiting for it: 1.3",
        "blocked: 2.1 “Tell the team”: no team",
    ] {
        assert!(brief.contains(text), "{text}: {brief}");
    }
    let log = env.run_thru(&["plan", "log"]).assert_ok().stdout;
    assert!(log.contains("followed_todo"), "{log}");
    env.run_thru(&["plan", "check"]).assert_ok();
    let again = env.run_thru(&["plan", "import", "--from-session", "--session", "s1", "--append"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
}

#[test]
fn status_and_doctor_tell_of_the_plan() {
    let env = env_with_plan();
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(status.contains("Parser, 1 of 4 tasks done; 1 blocked; next 1.2 “Grammar” (large)"), "{status}");
    assert_eq!(env.run_thru_json(&["status"])["plan"]["progress"], json!({"done": 1, "total": 4}));
    fs::write(env.store_folder().join("plan.json"), "{").unwrap();
    let doctor = env.run_thru(&["doctor"]).stdout;
    assert!(doctor.contains("plan.json"), "{doctor}");
}

/// Sixteen processes make five changes each. `cargo xtask torture` uses sixty-four.
#[test]
fn many_writers_lose_nothing() {
    let env = TestEnv::with_root();
    let text: String = (1..=16).map(|n| format!("- [ ] 1.{n}: task {n}\n")).collect();
    let file = env.write_file("project/p.md", format!("## Phase 1\n{text}"));
    env.run_thru(&["plan", "import", file.to_str().unwrap()]).assert_ok();
    let calls = |writer: usize| {
        let id = format!("1.{writer}");
        let call = |n: usize| match n % 2 {
            0 => env.thru_call(&["task", "block", &id, "x"]),
            _ => env.thru_call(&["task", "unblock", &id]),
        };
        (0..5).map(call).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        for calls in (1..=16).map(calls) {
            scope.spawn(move || calls.into_iter().for_each(|call| drop(call.run().assert_ok())));
        }
    });
    assert_eq!(env.read_log("plan-ledger.jsonl").len(), 1 + 16 * 5);
    assert!(
        env.run_thru(&["plan", "check"])
            .assert_ok()
            .stdout
            .contains("81 changes in the ledger gives the same plan")
    );
}

#[test]
fn a_long_phase_is_cut_unless_it_is_the_current_one() {
    let env = TestEnv::with_root();
    let phase = |id: u32| -> String {
        (1..=30).map(|n| format!("- [ ] {id}.{n}: Step {n} of {id}\n")).collect::<String>()
    };
    let text = format!("# Long\n\n## Phase 1: One\n{}\n## Phase 2: Two\n{}", phase(1), phase(2));
    let file = env.write_file("project/long.md", text);
    env.run_thru(&["plan", "import", file.to_str().unwrap()]).assert_ok();
    let shown = |words: &[&str]| env.run_thru(&[&["plan", "show"], words].concat()).assert_ok().stdout;
    let short = shown(&[]);
    assert_eq!(short.matches(" of 1").count(), 30, "the current phase: {short}");
    assert_eq!(short.matches(" of 2").count(), 20, "{short}");
    assert!(short.contains("… 10 more; `thru plan show --phase 2` lists them\n"), "{short}");
    for words in [&["--phase", "2"][..], &["--all"]] {
        assert_eq!(shown(words).matches(" of 2").count(), 30, "{words:?}");
    }
}
