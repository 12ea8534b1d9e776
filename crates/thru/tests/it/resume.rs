//! Tests how manifests are created, checked, updated and converted. The active manifest is detected before a compaction
//! and sent after it. `thru resume gate` shows which of the manifest's files were read.

use serde_json::{Value, json};

use crate::env::{TEST_TIME, TestEnv};
use crate::tree::FileTree;

const STEPS_TEXT: &str = "# One\n- [x] lexer\n- [ ] parser\n# Two\n- [ ] printer\n";
const WORKSTREAM_FOLDER: &str = "project/.agent/context/workstreams/01-parser";

/// Creates a root with one workstream, which has an overview, a plan and steps.
fn env_with_workstream() -> TestEnv {
    let env = TestEnv::with_root();
    env.write_file(format!("{WORKSTREAM_FOLDER}/overview.md"), "We build a parser that never panics.\n");
    env.write_file(format!("{WORKSTREAM_FOLDER}/plan.md"), "Recursive descent.\n");
    env.write_file(format!("{WORKSTREAM_FOLDER}/steps.md"), STEPS_TEXT);
    env.run_thru(&["resume", "new", "01-parser", "--name", "The parser", "--phase", "execution"]).assert_ok();
    env
}

fn report_tool_call(env: &TestEnv, session: &str, id: &str, tool: &str, path: &str) {
    let input = json!({"file_path": env.project_folder().join(path)});
    env.fire_event(
        session,
        "PostToolUse",
        json!({"tool_name": tool, "tool_use_id": id, "tool_input": input}),
    );
}

fn brief_after_compaction(env: &TestEnv, session: &str) -> String {
    env.fire_event(session, "PreCompact", json!({"trigger": "auto"}));
    let summary =
        json!({"agent_id": "a", "agent_type": "", "last_assistant_message": "<summary>poor</summary>"});
    env.fire_event(session, "SubagentStop", summary);
    env.fire_event(session, "SessionStart", json!({"source": "compact"})).context_for_model()
}

fn read_state(env: &TestEnv, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(env.store_folder().join("state").join(name)).unwrap()).unwrap()
}

#[test]
fn a_manifest_is_made_shown_checked_and_followed() {
    let env = env_with_workstream();
    let shown = env.run_thru_json(&["resume", "show"]);
    let named: Vec<&str> = shown["loads"]
        .as_array()
        .unwrap()
        .iter()
        .map(|load| load["written_path"].as_str().unwrap())
        .collect();
    assert_eq!(named, ["overview.md", "plan.md", "steps.md"]);
    env.run_thru(&["resume", "validate", "--all"]).assert_ok();
    env.run_thru(&["resume", "new", "01-parser", "--name", "The parser", "--phase", "execution"]).assert_ok();
    env.run_thru(&["resume", "new", "01-parser"]).assert_exit_code(15);
    env.run_thru(&["resume", "new", "parser"]).assert_exit_code(2);
    let updated = env.run_thru_json(&["resume", "update", "--task-done"]);
    assert_eq!((&updated["done"], &updated["progress"]), (&json!("parser"), &json!("2/3 tasks complete")));
    let steps =
        std::fs::read_to_string(env.base_folder().join(format!("{WORKSTREAM_FOLDER}/steps.md"))).unwrap();
    assert_eq!(steps, STEPS_TEXT.replace("[ ] parser", "[x] parser"));
    let shown = env.run_thru_json(&["resume", "show", "01-parser"]);
    let manifest = &shown["manifest"];
    assert_eq!((&manifest["current_section"], &manifest["current_task"]), (&json!(2), &json!(3)));
    assert_eq!(manifest["last_updated"], TEST_TIME);
    std::fs::remove_file(env.base_folder().join(format!("{WORKSTREAM_FOLDER}/plan.md"))).unwrap();
    assert!(
        env.run_thru(&["resume", "validate"]).assert_exit_code(1).stdout.contains("`plan.md` is missing")
    );
}

#[test]
fn the_active_workstream_is_told_after_a_compaction() {
    let env = env_with_workstream();
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Build the parser"}));
    report_tool_call(&env, "s1", "t1", "Edit", ".agent/context/workstreams/01-parser/plan.md");
    let brief = brief_after_compaction(&env, "s1");
    let own = read_state(&env, "precompact/s1.json");
    assert_eq!(
        (&own["active_project_id"], &own["confidence"], &own["detection_method"]),
        (&json!("01-parser"), &json!("medium"), &json!("transcript"))
    );
    assert_eq!(own, read_state(&env, "precompact_state.json"));
    for fact in
        ["01-parser “The parser”", "phase execution", "next step “parser”", "questions that its files answer"]
    {
        assert!(brief.contains(fact), "{fact} in\n{brief}");
    }
    let order: Vec<usize> = ["1. .agent", "overview.md (37 bytes", "plan.md (19 bytes", "steps.md ("]
        .iter()
        .map(|word| brief.find(word).unwrap_or_else(|| panic!("{word} in\n{brief}")))
        .collect();
    assert!(order.is_sorted(), "{brief}");
    assert!(brief.contains("“We build a parser that never panics.”"), "the text itself: {brief}");
    assert!(brief_after_compaction(&env, "s1").contains("01-parser"), "and again");
    let own = read_state(&env, "precompact/s1.json");
    let answer = (&own["confidence"], &own["detection_method"]);
    assert_eq!(answer, (&json!("low"), &json!("cache")), "nothing was done since");
    report_tool_call(&env, "s1", "t2", "Read", ".agent/context/workstreams/01-parser/plan.md");
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"}));
    assert_eq!(read_state(&env, "precompact/s1.json")["confidence"], "high", "now two sources agree");
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"}));
    assert_eq!(
        read_state(&env, "precompact/s1.json")["confidence"],
        "high",
        "the same report twice changes nothing"
    );
    env.fire_event("s1", "SessionStart", json!({"source": "clear"})).assert_silent("a clear start is clear");
}

#[test]
fn inline_text_can_be_switched_off() {
    let env = env_with_workstream();
    report_tool_call(&env, "s1", "t1", "Edit", ".agent/context/workstreams/01-parser/plan.md");
    env.write_file("project/.agent/context/config.toml", "[resume]\ninline = false\n");
    let brief = brief_after_compaction(&env, "s1");
    assert!(brief.contains("overview.md") && !brief.contains("never panics"), "{brief}");
}

#[test]
fn a_state_of_another_session_or_too_old_is_not_used() {
    let env = env_with_workstream();
    report_tool_call(&env, "s1", "t1", "Edit", ".agent/context/workstreams/01-parser/plan.md");
    brief_after_compaction(&env, "s1");
    env.fire_event("s2", "UserPromptSubmit", json!({"prompt": "something else"}));
    let brief = env.fire_event("s2", "SessionStart", json!({"source": "resume"})).context_for_model();
    assert!(
        !brief.contains("01-parser") && !brief.contains("Workstream:"),
        "the brief does not name the workstream of another session: {brief}"
    );
    let path = env.store_folder().join("state/precompact/s1.json");
    let old = std::fs::read_to_string(&path).unwrap().replace("2026-11-15", "2026-11-10");
    std::fs::write(&path, old).unwrap();
    let brief = env.fire_event("s1", "SessionStart", json!({"source": "resume"})).context_for_model();
    assert!(brief.contains("more than 72 hours ago") && !brief.contains("to load, in this order"), "{brief}");
    std::fs::write(&path, "{\"project_detection\":{}}").unwrap();
    let brief = env.fire_event("s1", "SessionStart", json!({"source": "resume"})).context_for_model();
    assert!(brief.contains("`project_detection` is nested") || brief.contains("is nested"), "{brief}");
}

#[test]
fn the_gate_is_observed() {
    let env = env_with_workstream();
    env.write_file("project/.agent/context/config.toml", "[resume]\ninline = false\n");
    let home = ".agent/context/workstreams/01-parser";
    report_tool_call(&env, "s1", "t1", "Read", &format!("{home}/plan.md"));
    brief_after_compaction(&env, "s1");
    let prompt =
        |text: &str| env.fire_event("s1", "UserPromptSubmit", json!({"prompt": text})).context_for_model();
    assert_eq!(prompt("go on"), "", "nothing has been edited yet");
    report_tool_call(&env, "s1", "t2", "Edit", "src/parse.rs");
    let reminder = prompt("and on");
    for name in ["overview.md", "plan.md", "steps.md"] {
        assert!(reminder.contains(name), "{name}: {reminder}");
    }
    assert_eq!(prompt("again"), "", "once for each set");
    brief_after_compaction(&env, "s1");
    assert_eq!(prompt("after the compaction"), "", "nothing has been edited since");
    report_tool_call(&env, "s1", "t2b", "Edit", "src/parse.rs");
    let again = prompt("go on");
    assert!(again.contains("have not been read since") && again.contains("overview.md"), "{again}");
    report_tool_call(&env, "s1", "t3", "Read", &format!("{home}/overview.md"));
    let reminder = prompt("more");
    assert!(!reminder.contains("overview.md") && reminder.contains("plan.md"), "{reminder}");
    let gate = env.run_thru(&["resume", "gate", "--session", "s1", "--json"]).assert_exit_code(1).json();
    let read: Vec<bool> =
        gate["files"].as_array().unwrap().iter().map(|file| file["read_at"].is_string()).collect();
    assert_eq!((read, &gate["has_edited"]), (vec![true, false, false], &json!(true)));
    report_tool_call(&env, "s1", "t4", "Read", &format!("{home}/plan.md"));
    report_tool_call(&env, "s1", "t5", "Read", &format!("{home}/steps.md"));
    assert_eq!(prompt("last"), "");
    env.run_thru(&["resume", "gate", "--session", "s1"]).assert_ok();
}

/// A prompt with a brief has no room for the reminder, so the reminder comes with the next prompt.
#[test]
fn a_reminder_that_was_not_told_is_told_later() {
    let env = env_with_workstream();
    env.write_file("project/.agent/context/config.toml", "[resume]\ninline = false\n");
    report_tool_call(&env, "s1", "t1", "Read", ".agent/context/workstreams/01-parser/plan.md");
    brief_after_compaction(&env, "s1");
    report_tool_call(&env, "s1", "t2", "Edit", "src/parse.rs");
    env.write_file("project/.agent/context/state/pending/s1", "due\n");
    let prompt =
        |text: &str| env.fire_event("s1", "UserPromptSubmit", json!({"prompt": text})).context_for_model();
    let brief = prompt("go on");
    assert!(brief.contains("compacted") && !brief.contains("have not been read since"), "{brief}");
    assert!(prompt("and on").contains("have not been read since"));
    assert_eq!(prompt("again"), "", "once");
}

#[test]
fn reminders_can_be_switched_off() {
    let env = env_with_workstream();
    report_tool_call(&env, "s1", "t1", "Read", ".agent/context/workstreams/01-parser/plan.md");
    brief_after_compaction(&env, "s1");
    report_tool_call(&env, "s1", "t2", "Edit", "src/parse.rs");
    env.write_file("project/.agent/context/config.toml", "[resume]\nreminders = false\n");
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "go on"})).assert_silent("switched off");
}

#[test]
fn steps_that_are_ticked_move_the_manifest() {
    let env = env_with_workstream();
    env.write_file(format!("{WORKSTREAM_FOLDER}/steps.md"), STEPS_TEXT.replace("[ ] parser", "[x] parser"));
    report_tool_call(&env, "s1", "t1", "Edit", ".agent/context/workstreams/01-parser/steps.md");
    env.fire_event("s1", "Stop", json!({}));
    assert_eq!(env.run_thru_json(&["resume", "show"])["manifest"]["progress"], "2/3 tasks complete");
    let todos = json!([{"content": "Printer", "status": "completed"}]);
    let call = json!({"tool_name": "TodoWrite", "tool_use_id": "t2", "tool_input": {"todos": todos}});
    env.fire_event("s1", "PostToolUse", call);
    env.fire_event("s1", "Stop", json!({}));
    assert_eq!(env.run_thru_json(&["resume", "show"])["manifest"]["progress"], "3/3 tasks complete");
}

#[test]
fn a_box_that_somebody_unticked_stays_unticked() {
    let env = env_with_workstream();
    let (mut calls, steps) = (0, env.base_folder().join(format!("{WORKSTREAM_FOLDER}/steps.md")));
    report_tool_call(&env, "s1", "t0", "Read", ".agent/context/workstreams/01-parser/plan.md");
    let mut list = |status: &str| {
        calls += 1;
        let todos = json!([{"content": "Printer", "status": status}]);
        let call = json!({"tool_name": "TodoWrite", "tool_use_id": format!("list{calls}"), "tool_input": {"todos": todos}});
        env.fire_event("s1", "PostToolUse", call);
        env.fire_event("s1", "Stop", json!({}));
        std::fs::read_to_string(&steps).unwrap()
    };
    assert!(list("completed").contains("[x] printer"), "done by the list");
    env.write_file(format!("{WORKSTREAM_FOLDER}/steps.md"), STEPS_TEXT);
    assert_eq!(list("completed"), STEPS_TEXT, "somebody opened it again");
    assert_eq!(env.run_thru_json(&["resume", "update"])["progress"], "1/3 tasks complete");
    assert_eq!(list("in_progress"), STEPS_TEXT, "now the list has it open too");
    assert!(list("completed").contains("[x] printer"), "and done again");
}

#[test]
fn the_seeds_layout_and_globs_are_found() {
    let env = TestEnv::with_root();
    let manifest = |id: &str| {
        format!(
            "---\nresume_schema_version: \"1.0\"\nlast_updated: {TEST_TIME}\nproject_id: {id}\nproject_name: X\ncurrent_phase: execution\nnext_action: go\nfiles_to_load: [\"01-planning/plan.md\", \"README.md\"]\n---\n# Validation Gate\n1. What? (from plan.md)\n"
        )
    };
    env.write_file("project/02-projects/24-skills/01-planning/resume-context.md", manifest("24-skills"));
    env.write_file("project/02-projects/24-skills/01-planning/plan.md", "the plan\n");
    env.write_file("project/README.md", "read me\n");
    env.write_file("project/work/x/resume-context.md", manifest("25-globbed"));
    let shown = env.run_thru_json(&["resume", "show", "24-skills"]);
    assert_eq!(shown["loads"][0]["path"], "02-projects/24-skills/01-planning/plan.md");
    assert_eq!(shown["loads"][1]["path"], "README.md");
    env.run_thru(&["resume", "show", "25-globbed"]).assert_exit_code(10);
    env.write_file("project/.agent/context/config.toml", "[resume]\nglobs = \"work/*/resume-context.md\"\n");
    assert_eq!(env.run_thru_json(&["resume", "show", "25-globbed"])["path"], "work/x/resume-context.md");
    report_tool_call(&env, "s1", "t1", "Edit", "02-projects/24-skills/01-planning/plan.md");
    assert!(brief_after_compaction(&env, "s1").contains("24-skills"));
}

#[test]
fn old_files_are_taken_over_and_given_back() {
    let env = TestEnv::with_root();
    let shapes = [
        (
            "project/02-projects/24-skills/01-planning/_resume.md",
            "---\nresume_version: \"1.0\"\nupdated: 2026-01-02\nphase: planning\nlast_skill: plan-project\n---\nBody.\n",
        ),
        ("project/02-projects/25-other/_resume.md", "---\r\nphase: Execution\r\n---\r\nBody.\r\n"),
        ("project/.agent/context/workstreams/26-own/_resume.md", "No frontmatter, only words.\n"),
        ("project/02-projects/27-done/01-planning/_resume.md", "---\nphase: review\n---\n"),
        ("project/.agent/context/workstreams/28-planned/01-planning/_resume.md", "---\nphase: review\n---\n"),
    ];
    for (path, text) in shapes {
        env.write_file(path, text);
        env.write_file(std::path::Path::new(path).with_file_name("plan.md"), "plan\n");
    }
    env.write_file(
        "project/02-projects/27-done/01-planning/resume-context.md",
        "---\nproject_id: 27-done\n---\n",
    );
    let content = || FileTree::read_folder(&env.project_folder().join("02-projects"));
    let before = content();
    let outcomes = |words: &[&str]| -> Vec<String> {
        let done = env.run_thru_json(words);
        done.as_array().unwrap().iter().map(|one| one["outcome"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        outcomes(&["resume", "migrate", "--dry-run"]),
        ["SUCCESS", "SUCCESS", "SUCCESS", "SUCCESS", "SKIP"]
    );
    before.assert_unchanged(&content(), "a dry run changes nothing");
    assert_eq!(outcomes(&["resume", "migrate"]), ["SUCCESS", "SUCCESS", "SUCCESS", "SUCCESS", "SKIP"]);
    let after = content();
    let shown = env.run_thru_json(&["resume", "show", "24-skills"]);
    let manifest = &shown["manifest"];
    assert_eq!(
        (&manifest["current_phase"], &manifest["next_action"]),
        (&json!("planning"), &json!("plan-project"))
    );
    for id in ["25-other", "26-own", "28-planned"] {
        assert_eq!(
            env.run_thru_json(&["resume", "show", id])["manifest"]["project_id"],
            id,
            "every one is found"
        );
    }
    assert_eq!(outcomes(&["resume", "migrate"]), ["SKIP"; 5]);
    after.assert_unchanged(&content(), "twice is once");
    assert_eq!(outcomes(&["resume", "migrate", "--rollback"]), ["SUCCESS"; 4]);
    // Compare only the files, because the modification times of folders have changed.
    let files: Vec<String> =
        before.changes_to(&content()).into_iter().filter(|change| change.contains(".md")).collect();
    assert_eq!(files, [] as [&str; 0], "the same bytes");
}

/// A migration or a rollback can be interrupted between its two steps. Running the same command again completes it.
#[test]
fn a_migration_that_was_cut_short_is_completed() {
    let env = TestEnv::with_root();
    let folder = env.project_folder().join("02-projects/24-skills");
    let old = "---\nphase: planning\n---\nBody.\n";
    let (legacy, backup) = (folder.join("_resume.md"), folder.join("_resume.md.backup"));
    let target = folder.join("resume-context.md");
    env.write_file("project/02-projects/24-skills/plan.md", "plan\n");
    env.write_file("project/02-projects/24-skills/_resume.md", old);
    let outcome = |words: &[&str]| {
        let done = env.run_thru_json(words);
        done.as_array()
            .unwrap()
            .iter()
            .map(|one| one["outcome"].as_str().unwrap().to_owned())
            .collect::<String>()
    };
    let is = |path: &std::path::Path| std::fs::read_to_string(path).ok();
    let migrated = |made: &Option<String>| {
        assert_eq!((is(&legacy), is(&backup), &is(&target)), (None, Some(old.to_owned()), made));
    };
    assert_eq!(outcome(&["resume", "migrate"]), "SUCCESS");
    let made = is(&target);
    // Simulates an interruption after the manifest was written and before the original was renamed. The next attempt is
    // on another day.
    std::fs::rename(&backup, &legacy).unwrap();
    let later = env
        .thru_call(&["resume", "migrate", "--dry-run"])
        .with_variable("THROUGHLINE_NOW", "2026-11-18T00:00:00Z");
    assert!(later.run().assert_ok().stdout.contains("would become"));
    assert_eq!(outcome(&["resume", "migrate"]), "SUCCESS");
    migrated(&made);
    // A migration that was interrupted before the original was renamed can be rolled back.
    std::fs::rename(&backup, &legacy).unwrap();
    assert_eq!(outcome(&["resume", "migrate", "--rollback"]), "SUCCESS");
    assert_eq!((is(&legacy).as_deref(), is(&target)), (Some(old), None));
    // Simulates an interrupted rollback, which has removed the manifest but not restored the original.
    assert_eq!(outcome(&["resume", "migrate"]), "SUCCESS");
    std::fs::remove_file(&target).unwrap();
    assert_eq!(outcome(&["resume", "migrate"]), "SKIP", "nobody knows whether it was removed by hand");
    assert_eq!(outcome(&["resume", "migrate", "--rollback"]), "SUCCESS");
    assert_eq!((is(&legacy).as_deref(), is(&backup)), (Some(old), None));
    assert_eq!(outcome(&["resume", "migrate", "--rollback"]), "", "there is nothing more to give back");
    // A manifest that somebody else wrote is neither treated as ours nor removed.
    std::fs::write(&target, "---\nproject_id: 24-skills\n---\nMine.\n").unwrap();
    assert_eq!(outcome(&["resume", "migrate"]), "SKIP");
    assert_eq!(outcome(&["resume", "migrate", "--rollback"]), "");
    assert!(legacy.exists() && is(&target).unwrap().contains("Mine."));
}

#[test]
fn a_folder_that_cannot_be_read_is_no_empty_one() {
    let env = TestEnv::with_root();
    env.write_file("project/02-projects/24-skills/_resume.md", "---\nphase: planning\n---\n");
    env.write_file("project/02-projects/25-shut/_resume.md", "---\nphase: planning\n---\n");
    let shut = env.project_folder().join("02-projects/25-shut");
    std::fs::set_permissions(&shut, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
    let said = env.call_bound_by_modes(&["resume", "migrate", "--dry-run"]).run().assert_exit_code(11).stderr;
    assert!(said.contains("02-projects/25-shut"), "{said}");
    let said = env.call_bound_by_modes(&["resume", "show", "25-shut"]).run().assert_exit_code(11).stderr;
    assert!(said.contains("02-projects/25-shut"), "{said}");
}

#[test]
fn a_brief_of_a_transcript_alone() {
    let env = TestEnv::new();
    let call = |id: &str, tool: &str, input: Value| {
        json!({"type": "assistant", "sessionId": "abc", "cwd": "/home/x/app", "timestamp": "2026-11-15T10:00:00Z",
            "message": {"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": tool, "input": input}]}})
    };
    let result = |id: &str, failed: bool, text: &str| {
        json!({"type": "user", "sessionId": "abc", "cwd": "/home/x/app", "timestamp": "2026-11-15T10:00:01Z",
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "is_error": failed, "content": text}]}})
    };
    let prompt = json!({"type": "user", "sessionId": "abc", "cwd": "/home/x/app", "timestamp": "2026-11-15T09:59:00Z",
        "message": {"role": "user", "content": "Make the parser fast"}});
    let lines = [
        prompt,
        call("1", "Edit", json!({"file_path": "/home/x/app/src/parse_fast.rs"})),
        result("1", false, "ok"),
        call("2", "Bash", json!({"command": "cargo test"})),
        result("2", true, "Exit code 101\nerror: it is slow"),
        // The transcript ends while these calls are running.
        call("3", "Read", json!({"file_path": "/home/x/app/docs/being_read.md"})),
        call("4", "Bash", json!({"command": "make never-ended"})),
    ];
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    let path = env.write_file("t.jsonl", text.join("\n"));
    let path = path.to_str().unwrap();
    let brief = env.run_thru(&["brief", "--transcript", path]).assert_ok().stdout;
    for fact in
        ["“Make the parser fast”", "edited src/parse_fast.rs", "`cargo test` (exit 101): `error: it is slow`"]
    {
        assert!(brief.contains(fact), "{fact} in\n{brief}");
    }
    let begun = "`make never-ended` was running when the session ended; its outcome is unknown, so check its \
         effects before running it again. The agent was reading `docs/being_read.md` when the session ended";
    assert!(brief.contains(begun) && brief.contains("- read docs/being_read.md"), "{brief}");
    assert!(!brief.contains("edited docs/being_read.md"), "{brief}");
    assert!(brief.starts_with("Throughline: session abc, as of 2026-11-15T10:00:01Z."), "{brief}");
    let compacted = env.run_thru(&["brief", "--transcript", path, "--event", "compact"]).assert_ok().stdout;
    assert!(compacted.contains("was compacted"), "{compacted}");
    let report = env.run_thru_json(&["brief", "--transcript", path, "--max-chars", "300"]);
    assert!(report["chars"].as_u64().unwrap() <= 300 && report["max_chars"] == 300, "{report}");
    let ids: Vec<&str> =
        report["rows"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert!(ids.contains(&"file:src/parse_fast.rs") && ids.contains(&"prompt:1"), "{ids:?}");
    let shown = env.run_thru(&["brief", "--transcript", path, "--explain", "--all"]).assert_ok().stdout;
    assert!(shown.contains("file:src/parse_fast.rs"), "{shown}");
    env.run_thru(&["brief", "--transcript", path, "--for", "nobody"]).assert_exit_code(2);
    env.run_thru(&["brief", "--transcript", "absent.jsonl"]).assert_exit_code(10);
}

#[test]
fn what_an_answer_was_made_of_does_not_confirm_it() {
    let env = env_with_workstream();
    let detected = |id: &str, path: &str| {
        report_tool_call(&env, "s1", id, "Edit", path);
        env.fire_event("s1", "PreCompact", json!({"trigger": "auto"}));
        let own = read_state(&env, "precompact/s1.json");
        format!("{} {} {}", own["active_project_id"], own["confidence"], own["detection_method"])
            .replace('"', "")
    };
    assert_eq!(
        detected("t1", &format!("{WORKSTREAM_FOLDER}/plan.md")["project/".len()..]),
        "01-parser medium transcript"
    );
    assert_eq!(detected("t2", "src/x.rs"), "01-parser low cache");
    assert_eq!(detected("t3", "src/x.rs"), "01-parser low cache", "once more");
    assert_eq!(
        detected("t4", ".agent/context/workstreams/99-nope/plan.md"),
        "01-parser low cache",
        "no such one"
    );
    assert_eq!(
        detected("t5", &format!("{WORKSTREAM_FOLDER}/plan.md")["project/".len()..]),
        "01-parser high transcript"
    );
}

/// A transcript can end with a call, and some transcripts contain only calls.
#[test]
fn calls_that_have_not_ended_tell_the_workstream() {
    let env = env_with_workstream();
    let call = |id: &str, path: &str| {
        let input = json!({"file_path": env.project_folder().join(path)});
        let content = json!([{"type": "tool_use", "id": id, "name": "Edit", "input": input}]);
        json!({"type": "assistant", "uuid": id, "timestamp": TEST_TIME, "message": {"role": "assistant", "content": content}})
    };
    let first = call("c1", ".agent/context/workstreams/01-parser/plan.md");
    let path = env.write_file("t.jsonl", format!("{first}\n"));
    let confidence = || {
        env.fire_event("s1", "PreCompact", json!({"trigger": "auto", "transcript_path": path}));
        read_state(&env, "precompact/s1.json")["confidence"].clone()
    };
    assert_eq!(confidence(), "medium");
    env.write_file("t.jsonl", format!("{first}\n{}\n", call("c2", "src/x.rs")));
    assert_eq!(confidence(), "low", "it had begun when it was asked last");
}

#[test]
fn what_cannot_be_read_is_not_taken_for_absent() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let env = env_with_workstream();
    report_tool_call(&env, "s1", "t1", "Edit", "src/x.rs");
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    let mode = |rel: &str, mode: u32| {
        std::fs::set_permissions(env.store_folder().join(rel), std::fs::Permissions::from_mode(mode))
            .unwrap();
    };
    let denied = |rel: &str, good: u32, words: &[&str]| {
        mode(rel, 0o000);
        env.call_bound_by_modes(words).run().assert_exit_code(11);
        mode(rel, good);
    };
    denied("sessions/s1.jsonl", 0o644, &["brief", "--session", "s1"]);
    denied("sessions/s1.jsonl", 0o644, &["brief"]);
    denied("sessions", 0o755, &["brief"]);
    denied("sessions", 0o755, &["journal"]);
    denied("workstreams", 0o755, &["resume", "validate", "--all"]);
    denied("workstreams", 0o755, &["resume", "show", "01-parser"]);
    let away = |rel: &str| {
        let path = env.store_folder().join(rel);
        let kept = env.base_folder().join("kept");
        std::fs::rename(&path, &kept).unwrap();
        symlink(&kept, &path).unwrap();
        move || {
            std::fs::remove_file(&path).unwrap();
            std::fs::rename(&kept, &path).unwrap();
        }
    };
    let back = away("workstreams/01-parser/resume-context.md");
    env.run_thru(&["resume", "validate", "--all"]).assert_exit_code(15);
    env.run_thru(&["resume", "show", "01-parser"]).assert_exit_code(15);
    back();
    let back = away("sessions");
    env.run_thru(&["journal"]).assert_exit_code(15);
    std::fs::remove_dir_all(env.store_folder().join("indexes")).unwrap();
    env.run_thru(&["journal"]).assert_exit_code(15);
    back();
}

#[test]
fn files_outside_are_listed_as_such_and_never_opened() {
    let env = env_with_workstream();
    env.write_file("project/src/shared.md", "Shared by all.\n");
    env.write_file("secret.md", "SECRET\n");
    std::os::unix::fs::symlink(env.base_folder().join("secret.md"), env.project_folder().join("link.md"))
        .unwrap();
    let path = format!("{WORKSTREAM_FOLDER}/resume-context.md");
    let text = std::fs::read_to_string(env.base_folder().join(&path)).unwrap();
    let files = "  - \"/etc/hosts\"\n  - \"../../../../../secret.md\"\n  - \"../../../../src/shared.md\"\n  - \"link.md\"\n";
    env.write_file(&path, text.replace("files_to_load:\n", &format!("files_to_load:\n{files}")));
    report_tool_call(&env, "s1", "t1", "Edit", ".agent/context/workstreams/01-parser/plan.md");
    let brief = brief_after_compaction(&env, "s1");
    for fact in [
        "/etc/hosts (outside the project, not opened)",
        "secret.md (outside the project, not opened)",
        "src/shared.md (15 bytes",
        "Shared by all.",
        "link.md (a link, not opened)",
    ] {
        assert!(brief.contains(fact), "{fact} in\n{brief}");
    }
    assert!(!brief.contains("SECRET"), "{brief}");
    let checked = env.run_thru(&["resume", "validate", "--all"]).assert_exit_code(1).stdout;
    assert!(
        checked.contains("secret.md` is outside the project") && !checked.contains("is missing"),
        "{checked}"
    );
    assert!(!checked.contains("shared.md"), "{checked}");
}

#[test]
fn a_state_in_its_place_with_another_sessions_name_is_not_used() {
    let env = env_with_workstream();
    report_tool_call(&env, "s1", "t1", "Edit", ".agent/context/workstreams/01-parser/plan.md");
    brief_after_compaction(&env, "s1");
    let path = env.store_folder().join("state/precompact/s1.json");
    let foreign = std::fs::read_to_string(&path).unwrap().replace("\"s1\"", "\"zz\"");
    std::fs::write(&path, foreign).unwrap();
    let brief = env.fire_event("s1", "SessionStart", json!({"source": "resume"})).context_for_model();
    assert!(
        brief.contains("it belongs to another session, zz") && !brief.contains("to load, in this order"),
        "{brief}"
    );
}

#[test]
fn a_manifest_must_fit_its_folder_and_be_the_only_one() {
    let env = env_with_workstream();
    let text =
        std::fs::read_to_string(env.base_folder().join(format!("{WORKSTREAM_FOLDER}/resume-context.md")))
            .unwrap();
    env.write_file("project/02-projects/01-parser/01-planning/resume-context.md", &text);
    env.write_file(
        format!("{WORKSTREAM_FOLDER}/resume-context.md"),
        text.replace("\"01-parser\"", "\"02-lexer\""),
    );
    let checked = env.run_thru(&["resume", "validate", "--all"]).assert_exit_code(1).stdout;
    for fact in [
        "project_id is 02-lexer, but the folder belongs to 01-parser",
        "01-parser has another manifest, 02-projects/",
    ] {
        assert!(checked.contains(fact), "{fact} in\n{checked}");
    }
}

#[test]
fn what_cannot_be_taken_over_is_said_with_the_way_out() {
    let env = TestEnv::with_root();
    let old =
        |folder: &str, text: &[u8]| env.write_file(format!("project/02-projects/{folder}/_resume.md"), text);
    for folder in ["20-empty", "21-binary", "22-odd/01-planning", "Not Kebab"] {
        env.write_file(format!("project/02-projects/{folder}/plan.md"), "plan\n");
    }
    old("20-empty", b" \n");
    old("21-binary", b"\x00\xff\xfe");
    old("22-odd", b"---\nphase: doing it\nupdated: \"2026-01-02 10:00\"\n---\nBody.\n");
    old("23-alone", b"---\nphase: planning\n---\nBody.\n");
    old("Not Kebab", b"---\nphase: planning\n---\nBody.\n");
    let done = env.run_thru(&["resume", "migrate", "--json"]).assert_exit_code(1).json();
    let said = |part: &str| {
        let one =
            done.as_array().unwrap().iter().find(|one| one["path"].as_str().unwrap().contains(part)).unwrap();
        format!("{} {}", one["outcome"].as_str().unwrap(), one["why"].as_str().unwrap())
    };
    assert!(said("20-empty").starts_with("ERROR it is empty"), "{done}");
    assert!(said("21-binary").starts_with("ERROR it is not UTF-8 text"), "{done}");
    assert!(
        said("22-odd").starts_with("SUCCESS") && said("22-odd").contains("`doing it` is unknown"),
        "{done}"
    );
    assert!(
        said("23-alone").starts_with("ERROR") && said("23-alone").contains("write one, such as plan.md"),
        "{done}"
    );
    assert!(said("Not Kebab").contains("is not NN-kebab-case"), "{done}");
    assert_eq!(
        env.run_thru_json(&["resume", "show", "22-odd"])["manifest"]["last_updated"],
        "2026-01-02T10:00:00Z"
    );
}

#[test]
fn a_loaded_text_keeps_its_lines() {
    let env = env_with_workstream();
    env.write_file(format!("{WORKSTREAM_FOLDER}/plan.md"), "# Plan\n\n- one\n  - two\n\n    let x = 1;\n");
    report_tool_call(&env, "s1", "t1", "Edit", ".agent/context/workstreams/01-parser/plan.md");
    let brief = brief_after_compaction(&env, "s1");
    assert!(brief.contains("  > - one\n  >   - two\n  >\n  >     let x = 1;\n"), "{brief}");
}

#[test]
fn nothing_left_to_tick_and_no_session_yet_are_said() {
    let env = env_with_workstream();
    let gate = env.run_thru(&["resume", "gate", "--json"]).assert_exit_code(1).json();
    assert_eq!((&gate["session"], gate["files"].as_array().unwrap().len()), (&Value::Null, 3));
    env.run_thru(&["resume", "gate", "--session", "nobody"]).assert_exit_code(10);
    for _ in 0..2 {
        env.run_thru(&["resume", "update", "--task-done"]).assert_ok();
    }
    let last = env.run_thru(&["resume", "update", "--task-done"]).assert_ok();
    assert!(last.stderr.contains("nothing to tick"), "{}", last.stderr);
}
