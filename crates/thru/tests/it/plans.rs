//! The plan through the binary: what a user types, what is on disk, and what a session is told.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::env::{TestEnv, names_in};

const PLAN: &str = "# Parser\n\n## Phase 1: Read\n- [x] 1.1: Lexer [SMALL]\n- [ ] 1.2: Grammar [LARGE] (depends: 1.1)\n\
  - Acceptance: the tests pass\n- [ ] 1.3: Errors (depends: 1.2)\n\n## Phase 2: Write\n- [BLOCKED] 2.1: Printer - Reason: no style yet\n";

fn planned() -> TestEnv {
    let env = TestEnv::rooted();
    let file = env.write("project/notes/plan.md", PLAN.replace("\n- Acc", "\n  - Acc"));
    env.thru(&["plan", "import", file.to_str().unwrap()]).ok();
    env
}

fn plan(env: &TestEnv) -> Value {
    serde_json::from_slice(&fs::read(env.store().join("plan.json")).unwrap()).unwrap()
}

fn status(env: &TestEnv, id: &str) -> String {
    let plan = plan(env);
    let phases = plan["phases"].as_array().unwrap();
    let mut tasks = phases.iter().flat_map(|phase| phase["tasks"].as_array().unwrap());
    tasks.find(|task| task["id"] == id).unwrap()["status"].as_str().unwrap().to_owned()
}

#[test]
fn a_plan_is_shown_with_what_is_ready_and_what_waits() {
    let env = planned();
    assert_snapshot!(env.thru(&["plan", "show"]).ok().stdout, @r"
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
    assert_snapshot!(env.thru(&["plan", "show", "--graph"]).ok().stdout, @r"
    ✓ 1.1  Lexer
    └─ ○ 1.2  Grammar
       └─ ○ 1.3  Errors
    ✗ 2.1  Printer
    ");
    let json = env.json(&["plan", "show"]);
    assert_eq!(
        (&json["ready"], &json["blocked"], &json["current_task"]),
        (&json!(["1.2"]), &json!(["2.1"]), &json!("1.2"))
    );
    assert_eq!(json["phases"][0]["tasks"][2]["waits_for"], json!(["1.2"]));
    assert_eq!(json["progress"], json!({"done": 1, "total": 4}));
    assert_eq!(
        env.thru(&["plan", "check"]).ok().stdout,
        "The plan is sound: 4 tasks, 1 change in the ledger give the same plan\n"
    );
}

#[test]
fn tasks_are_taken_up_and_finished() {
    let env = planned();
    env.thru(&["task", "start", "1.2", "--session", "s1"]).ok();
    env.thru(&["task", "start", "1.2", "--session", "s1"]).ok();
    let taken = env.thru(&["task", "start", "1.2", "--session", "s2"]);
    assert_eq!(taken.code, 14, "{}", taken.stderr);
    assert!(taken.stderr.contains("1.2 is taken by s1 since 2026-11-15T19:22:00Z"), "{}", taken.stderr);
    let early = env.thru(&["task", "start", "1.3"]);
    assert_eq!(early.code, 15);
    assert!(early.stderr.contains("1.3 is not ready: it waits for 1.2"), "{}", early.stderr);
    let unproven = env.thru(&["task", "done", "1.2"]);
    assert_eq!(unproven.code, 15);
    assert!(unproven.stderr.contains("thru task done 1.2 --without-evidence WHY"), "{}", unproven.stderr);
    let done = env.json(&["task", "done", "1.2", "--without-evidence", "looked at it"]);
    assert_eq!(
        (&done["newly_ready"], &done["task"]["without_evidence"]),
        (&json!(["1.3"]), &json!("looked at it"))
    );
    // The last task of a phase ends it: a record is written, and the next phase becomes current.
    env.thru(&["task", "done", "1.3"]).ok();
    let record = fs::read_to_string(env.store().join("phases/1.md")).unwrap();
    assert!(record.starts_with("# Phase 1: Read\n") && record.contains("- done 1.2: Grammar"), "{record}");
    assert!(record.contains("Without evidence: looked at it"), "{record}");
    assert_eq!(env.json(&["plan", "show"])["current_phase"], 2);
    env.thru(&["task", "unblock", "2.1"]).ok();
    env.thru(&["task", "block", "2.1", "no paper"]).ok();
    let shown = env.thru(&["task", "show", "2.1"]).ok().stdout;
    assert!(shown.contains("no paper") && shown.contains("task_blocked"), "{shown}");
    env.thru(&["plan", "check"]).ok();
}

#[test]
fn what_would_break_the_plan_is_refused_by_id() {
    let env = planned();
    let rows: [(&[&str], i32, &str); 7] = [
        (&["plan", "set", "1.2", "--depends", "1.3"], 15, "in a circle: 1.2 → 1.3 → 1.2"),
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
    let before = fs::read(env.store().join("plan.json")).unwrap();
    for (words, code, text) in rows {
        let output = env.thru(words);
        assert_eq!(output.code, code, "{words:?}: {}", output.stderr);
        assert!(output.stderr.contains(text), "{words:?}: {}", output.stderr);
    }
    assert_eq!(fs::read(env.store().join("plan.json")).unwrap(), before);
    env.thru(&["task", "add", "Docs", "--phase", "2", "--depends", "1.3", "--size", "s"]).ok();
    assert_eq!(status(&env, "2.2"), "pending");
}

#[test]
fn without_a_plan_the_way_to_one_is_told() {
    let env = TestEnv::rooted();
    for words in [&["plan", "show"], &["plan", "next"], &["plan", "check"]] {
        let output = env.thru(words);
        assert_eq!(
            (output.code, output.stderr.contains("`thru plan init TITLE` begins one")),
            (10, true),
            "{}",
            output.stderr
        );
    }
    env.thru(&["plan", "init", "Parser", "--phase", "Read"]).ok();
    assert_eq!(env.thru(&["plan", "init", "Other"]).code, 15);
    env.thru(&["task", "add", "Lexer"]).ok();
    env.thru(&["plan", "init", "Other", "--replace"]).ok();
    assert_eq!(env.thru(&["plan", "show"]).ok().stdout.lines().next(), Some("Other  no tasks"));
    assert_eq!(env.json(&["plan", "log"])["lines"].as_array().unwrap().len(), 3);
}

/// Whatever is lost or truncated, the ledger restores the plan, byte for byte.
#[test]
fn the_file_is_made_again_from_the_ledger() {
    let env = planned();
    let path = env.store().join("plan.json");
    let first = fs::read(&path).unwrap();
    env.thru(&["task", "start", "1.2", "--session", "s1"]).ok();
    let second = fs::read(&path).unwrap();
    // `thru` was killed after it wrote the ledger's line and before it wrote the file.
    fs::write(&path, &first).unwrap();
    let shown = env.thru(&["plan", "show", "--json"]).ok().json();
    assert_eq!((&shown["source"], &shown["in_progress"]), (&json!("ledger"), &json!(["1.2"])));
    env.thru(&["task", "start", "1.2", "--session", "s1"]).ok();
    assert_eq!(fs::read(&path).unwrap(), second);
    fs::remove_file(&path).unwrap();
    env.thru(&["task", "start", "1.2", "--session", "s1"]).ok();
    assert_eq!(fs::read(&path).unwrap(), second);
    // If the file is damaged, a command that reads reports the damage, and a command that writes moves the file
    // aside.
    fs::write(&path, "{\"schema_version\": \"1.0.0\", \"phases\": 7}").unwrap();
    let damaged = env.thru(&["plan", "show"]);
    assert_eq!(damaged.code, 12, "{}", damaged.stderr);
    env.thru(&["task", "block", "1.2", "why"]).ok();
    assert!(names_in(&env.store()).iter().any(|name| name.starts_with("plan.json.damaged-")));
    assert_eq!(status(&env, "1.2"), "blocked");
    // A file that a newer version of thru wrote is not touched.
    fs::write(&path, "{\"schema_version\": \"2.0.0\", \"phases\": []}").unwrap();
    assert_eq!(env.thru(&["plan", "show"]).code, 13);
    assert_eq!(env.thru(&["task", "unblock", "1.2"]).code, 13);
}

#[test]
fn what_a_person_edits_is_taken_in() {
    let env = planned();
    let path = env.store().join("plan.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"Grammar\"", "\"The grammar\", \"owner\": \"ada\"")).unwrap();
    let checked = env.thru(&["plan", "check"]).ok().stdout;
    assert!(checked.contains("plan.json was edited by hand"), "{checked}");
    env.thru(&["task", "start", "1.2", "--session", "s1"]).ok();
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"owner\": \"ada\"") && text.contains("The grammar"), "{text}");
    env.thru(&["plan", "check"]).ok();
    // An edited view is imported if the user names it as the file to import. Otherwise it is moved aside.
    let view = env.store().join("plan.md");
    let edited = fs::read_to_string(&view).unwrap().replace("- [ ] 1.3: Errors", "- [x] 1.3: Errors");
    fs::write(&view, &edited).unwrap();
    env.thru(&["plan", "import", view.to_str().unwrap()]).ok();
    assert_eq!(status(&env, "1.3"), "completed");
    assert!(fs::read_to_string(&path).unwrap().contains("\"owner\": \"ada\""));
    fs::write(&view, "my notes\n").unwrap();
    let told = env.thru(&["task", "unblock", "2.1"]).ok().stderr;
    assert!(
        told.contains("plan.md had been edited: it is kept as plan.md.edited-20261115T192200Z"),
        "{told}"
    );
    assert_eq!(
        fs::read_to_string(env.store().join("plan.md.edited-20261115T192200Z")).unwrap(),
        "my notes\n"
    );
}

#[test]
fn an_older_form_is_migrated_once_with_a_backup() {
    let env = TestEnv::rooted();
    env.write(
        "project/.agent/context/plan.json",
        r#"{"title": "Old", "tasks": [{"id": "a", "title": "do", "state": 7}]}"#,
    );
    env.thru(&["task", "start", "a"]).ok();
    env.thru(&["task", "done", "a"]).ok();
    let backups: Vec<String> =
        names_in(&env.store()).into_iter().filter(|name| name.contains("backup")).collect();
    assert_eq!(backups, ["plan.json.backup-20261115T192200Z"]);
    let plan = plan(&env);
    assert_eq!((&plan["schema_version"], &plan["migration_status"]), (&json!("1.0.0"), &json!("migrated")));
    assert_eq!(plan["phases"][0]["tasks"][0]["state"], 7);
    env.thru(&["plan", "check"]).ok();
}

#[test]
fn an_import_warns_and_never_fails() {
    let env = TestEnv::rooted();
    let file = env.write("project/p.md", "# P\n## Phase 1\n- [ ] 1.1: a\n- [-] 1.1: b (depends: 9.9)\n");
    let file = file.to_str().unwrap();
    let dry = env.thru(&["plan", "import", file, "--dry-run"]).ok();
    assert!(dry.stdout.starts_with("Would be imported: P"), "{}", dry.stdout);
    assert!(!env.store().join("plan.json").exists());
    let told = env.thru(&["plan", "import", file]).ok().stderr;
    for text in [
        "line 4: a second task 1.1 is read as 1.1-2",
        "`[-]` was read as in progress",
        "1.1-2 depends on 9.9",
    ] {
        assert!(told.contains(text), "{text}: {told}");
    }
    assert!(env.thru(&["plan", "import", file]).ok().stdout.starts_with("Imported before"));
    let other = env.write("project/q.md", "- [ ] 1.1: c\n");
    assert_eq!(env.thru(&["plan", "import", other.to_str().unwrap()]).code, 15);
    env.thru(&["plan", "import", other.to_str().unwrap(), "--append"]).ok();
    assert_eq!(status(&env, "2.1"), "pending");
    assert_eq!(env.thru(&["plan", "check"]).code, 1, "9.9 is still unknown");
    let damaged = env.write("project/x.json", "{\"phases\": [");
    assert_eq!(env.thru(&["plan", "import", damaged.to_str().unwrap(), "--replace"]).code, 12);
}

#[test]
fn a_plan_of_another_project_is_read_as_it_was_meant() {
    let env = TestEnv::rooted();
    let file = env.write(
        "project/PLAN.md",
        "# P\n## Phase 1: Base - COMPLETE\n**Tasks:**\n1. set up\n2. build\n## Phase 2: Login\n**Dependencies**: Phase 1\n\
         ### [P0] TASK-001: Log in\n**Acceptance criteria**:\n- [x] it works\n- [ ] it is fast\n\
         ### [P1] TASK-002: Log out — BLOCKED: no host\n## Rules\n- be short\n",
    );
    let told = env.thru(&["plan", "import", file.to_str().unwrap()]).ok().stderr;
    assert!(told.contains("1 list item is not a task and was left out"), "{told}");
    let statuses = ["1.1", "1.2", "TASK-001", "TASK-002"].map(|id| status(&env, id));
    assert_eq!(statuses, ["completed", "completed", "pending", "blocked"]);
    let task = &plan(&env)["phases"][1]["tasks"][0];
    assert_eq!(task["acceptance"], "[x] it works; it is fast");
    assert_eq!(task["depends"], json!(["1.2"]));
    assert_eq!(env.json(&["plan", "show"])["ready"], json!(["TASK-001"]));
}

#[test]
fn a_swarm_is_imported_once_and_stays_as_it_is() {
    let env = TestEnv::rooted();
    let task = |id: &str, status: &str| json!({"id": id, "phase": 1, "status": status, "size": "small", "description": format!("task {id}"), "depends": [], "files_touched": []});
    let plan = json!({"schema_version": "1.0.0", "title": "Swarm", "swarm": "mega", "current_phase": 1, "specHash": "x", "phases":
        [{"id": 1, "name": "One", "status": "completed", "tasks": [task("1.1", "completed"), task("1.2", "in_progress")]}]});
    env.write("project/.swarm/plan.json", plan.to_string());
    env.write(
        "project/.swarm/plan.md",
        "# Swarm\n## Phase 1: One [COMPLETE]\n- [x] 1.1: task\n- [ ] 1.2: task\n- [ ] 1.3: by hand\n",
    );
    let moved = json!({"event_type": "task_status_changed", "task_id": "1.1", "to_status": "completed", "timestamp": "2026-01-02T03:04:05Z"});
    env.write("project/.swarm/plan-ledger.jsonl", format!("{moved}\ntorn\n"));
    let before = env.tree();
    let dry = env.json(&["import", "swarm", "--dry-run"]);
    assert_eq!((&dry["plan"]["tasks"], &dry["plan"]["written"]), (&json!(2), &json!(false)));
    before.assert_same(&env.tree(), "a dry run");
    let told = env.thru(&["import", "swarm"]).ok().stderr;
    assert!(
        told.contains("plan.md has tasks that plan.json does not have; they are left out: 1.3"),
        "{told}"
    );
    let imported = self::plan(&env);
    assert_eq!((&imported["specHash"], &imported["swarm"]), (&json!("x"), &json!("mega")));
    assert_eq!(imported["phases"][0]["tasks"][0]["done_at"], "2026-01-02T03:04:05Z");
    assert_eq!(env.json(&["import", "swarm"])["plan"]["known"], true);
    assert_eq!(fs::read_to_string(env.project().join(".swarm/plan.json")).unwrap(), plan.to_string());
    assert_eq!(env.call(&["import", "swarm", "nowhere"]).run().code, 10);
}

/// Files in a project may come from elsewhere: a link could lead to any of the user's files, and reading a pipe may
/// never end.
#[test]
fn a_swarm_is_read_through_no_link_and_no_pipe() {
    let outside = "# Elsewhere\n## Phase 1: One\n- [ ] 1.1: private words\n";
    for rel in [".swarm", ".swarm/plan.md", ".swarm/context.md", ".swarm/evidence"] {
        for words in [&["import", "swarm"][..], &["import", "swarm", "folder/.swarm"]] {
            let env = TestEnv::rooted();
            let private = env.write("private/plan.md", outside);
            let (folder, named) = if words.len() > 2 { ("folder/", true) } else { ("", false) };
            let at = env.project().join(format!("{folder}{rel}"));
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            let target = if rel.ends_with(".md") { &private } else { private.parent().unwrap() };
            std::os::unix::fs::symlink(target, &at).unwrap();
            let output = env.thru(words);
            // If the user names a folder, it is used, even if it is a link.
            if rel == ".swarm" && named {
                output.ok();
                continue;
            }
            assert_ne!(output.code, 0, "{rel}: {output}");
            assert!(!env.store().join("plan.json").exists(), "{rel}");
        }
    }
    let env = TestEnv::rooted();
    fs::create_dir_all(env.project().join(".swarm")).unwrap();
    let pipe = env.project().join(".swarm/plan.json");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let refused = env.thru(&["import", "swarm"]);
    assert!(refused.code != 0 && refused.stderr.contains("plan.json"), "{refused}");
}

fn todos(env: &TestEnv, session: &str, entries: &[(&str, &str)], id: &str) {
    let todos: Vec<Value> =
        entries.iter().map(|(text, status)| json!({"content": text, "status": status})).collect();
    let more = json!({"tool_name": "TodoWrite", "tool_input": {"todos": todos}, "tool_response": {}, "tool_use_id": id});
    env.fire(session, "PostToolUse", more).ok();
}

/// Approved plans can be up to 18 KB long, and all of their tasks are imported.
#[test]
fn a_long_plan_is_imported_whole() {
    let env = TestEnv::rooted();
    env.fire("s1", "SessionStart", json!({"source": "startup"})).ok();
    let tasks: String = (1..=250)
        .map(|n| format!("- [ ] 1.{n}: Change number {n} of the parser, with its tests and its docs\n"))
        .collect();
    let approved = format!("# Parser plan\n\n## Phase 1: Read\n{tasks}");
    assert!(approved.len() > 16 * 1024, "{}", approved.len());
    let more = json!({"tool_name": "ExitPlanMode", "tool_input": {"plan": approved}, "tool_use_id": "toolu_plan",
                      "tool_response": {"plan": approved, "isAgent": false}});
    env.fire("s1", "PostToolUse", more).ok();
    assert_eq!(env.json(&["plan", "import", "--from-session", "--session", "s1"])["tasks"], 250);
}

/// A plan that was approved in plan mode and the agent's list become the plan. Changes in the list change the
/// states of its tasks, and the brief after a compaction names the current task and the blocked tasks.
#[test]
fn a_session_s_plan_is_imported_and_followed() {
    let env = TestEnv::rooted();
    env.fire("s1", "SessionStart", json!({"source": "startup"})).ok();
    env.fire("s1", "UserPromptSubmit", json!({"prompt": "Plan the parser"})).ok();
    let approved = "# Parser plan\n\n## Steps\n1. Write the lexer\n2. Write the grammar\n3. Write the docs\n";
    let more = json!({"tool_name": "ExitPlanMode", "tool_input": {"plan": approved}, "tool_use_id": "toolu_plan",
                      "tool_response": {"plan": approved, "isAgent": false}});
    env.fire("s1", "PostToolUse", more).ok();
    todos(
        &env,
        "s1",
        &[("Write the lexer", "in_progress"), ("Write the grammar", "pending"), ("Tell the team", "pending")],
        "t1",
    );
    let report = env.json(&["plan", "import", "--from-session", "--session", "s1"]);
    assert_eq!((&report["title"], &report["tasks"]), (&json!("Parser plan"), &json!(4)), "{report}");
    assert_eq!(
        (status(&env, "1.1"), status(&env, "1.2"), status(&env, "2.1")),
        ("in_progress".into(), "pending".into(), "pending".into())
    );
    env.thru(&["plan", "set", "1.3", "--depends", "1.2"]).ok();
    env.thru(&["task", "block", "2.1", "no team"]).ok();
    todos(
        &env,
        "s1",
        &[
            ("Write the lexer", "completed"),
            ("Write the grammar", "in_progress"),
            ("Tell the team", "completed"),
        ],
        "t2",
    );
    env.fire("s1", "Stop", json!({"stop_hook_active": false})).ok();
    assert_eq!((status(&env, "1.1"), status(&env, "1.2")), ("completed".into(), "in_progress".into()));
    assert_eq!(status(&env, "2.1"), "blocked", "what a person blocked is not ticked off by a list");
    // A task that somebody reopens stays open as long as the list does not change.
    env.thru(&["plan", "set", "1.1", "--status", "pending"]).ok();
    env.fire("s1", "Stop", json!({"stop_hook_active": false})).ok();
    assert_eq!(status(&env, "1.1"), "pending");
    env.fire("s1", "PreCompact", json!({"trigger": "auto"})).ok();
    let brief = env.fire("s1", "SessionStart", json!({"source": "compact"})).ok().stdout;
    for text in [
        "Parser plan",
        "in progress: 1.2 “Write the grammar”",
        "1.3 wait for it",
        "blocked: 2.1 “Tell the team”: no team",
    ] {
        assert!(brief.contains(text), "{text}: {brief}");
    }
    let log = env.thru(&["plan", "log"]).ok().stdout;
    assert!(log.contains("followed_todo"), "{log}");
    env.thru(&["plan", "check"]).ok();
    let again = env.thru(&["plan", "import", "--from-session", "--session", "s1", "--append"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
}

#[test]
fn status_and_doctor_tell_of_the_plan() {
    let env = planned();
    let status = env.thru(&["status"]).ok().stdout;
    assert!(status.contains("Parser, 1 of 4 tasks done; 1 blocked; next 1.2 “Grammar” (large)"), "{status}");
    assert_eq!(env.json(&["status"])["plan"]["progress"], json!({"done": 1, "total": 4}));
    fs::write(env.store().join("plan.json"), "{").unwrap();
    let doctor = env.thru(&["doctor"]).stdout;
    assert!(doctor.contains("plan.json"), "{doctor}");
}

/// Sixteen processes make five changes each. `cargo xtask torture` uses sixty-four.
#[test]
fn many_writers_lose_nothing() {
    let env = TestEnv::rooted();
    let text: String = (1..=16).map(|n| format!("- [ ] 1.{n}: task {n}\n")).collect();
    let file = env.write("project/p.md", format!("## Phase 1\n{text}"));
    env.thru(&["plan", "import", file.to_str().unwrap()]).ok();
    let calls = |writer: usize| {
        let id = format!("1.{writer}");
        let call = |n: usize| match n % 2 {
            0 => env.call(&["task", "block", &id, "x"]),
            _ => env.call(&["task", "unblock", &id]),
        };
        (0..5).map(call).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        for calls in (1..=16).map(calls) {
            scope.spawn(move || calls.into_iter().for_each(|call| drop(call.run().ok())));
        }
    });
    assert_eq!(env.log("plan-ledger.jsonl").len(), 1 + 16 * 5);
    assert!(env.thru(&["plan", "check"]).ok().stdout.contains("81 changes in the ledger give the same plan"));
}

#[test]
fn a_long_phase_is_cut_unless_it_is_the_current_one() {
    let env = TestEnv::rooted();
    let phase = |id: u32| -> String {
        (1..=30).map(|n| format!("- [ ] {id}.{n}: Step {n} of {id}\n")).collect::<String>()
    };
    let text = format!("# Long\n\n## Phase 1: One\n{}\n## Phase 2: Two\n{}", phase(1), phase(2));
    let file = env.write("project/long.md", text);
    env.thru(&["plan", "import", file.to_str().unwrap()]).ok();
    let shown = |words: &[&str]| env.thru(&[&["plan", "show"], words].concat()).ok().stdout;
    let short = shown(&[]);
    assert_eq!(short.matches(" of 1").count(), 30, "the current phase: {short}");
    assert_eq!(short.matches(" of 2").count(), 20, "{short}");
    assert!(short.contains("… 10 more; `thru plan show --phase 2` lists them\n"), "{short}");
    for words in [&["--phase", "2"][..], &["--all"]] {
        assert_eq!(shown(words).matches(" of 2").count(), 30, "{words:?}");
    }
}
