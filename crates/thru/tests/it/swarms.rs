//! Tests of a swarm: installing its agents, removing them without a trace, and recording their verdicts as evidence.

use std::fs;

use serde_json::{Value, json};

use crate::env::{TestEnv, names_in};

const AGENT_NAMES: [&str; 7] =
    ["architect", "coder", "critic", "explorer", "reviewer", "sme", "test_engineer"];

const AGENT_FOLDERS: &[(&str, &str)] =
    &[("claude-code", ".claude/agents"), ("droid", ".factory/droids"), ("opencode", ".opencode/agent")];

fn read_text(env: &TestEnv, rel: &str) -> String {
    fs::read_to_string(env.base_folder().join(rel)).unwrap_or_else(|error| panic!("{rel}: {error}"))
}

fn file_names(env: &TestEnv, folder: &str) -> Vec<String> {
    let mut names: Vec<String> =
        names_in(&env.project_folder().join(folder)).iter().map(|name| name.replace(".md", "")).collect();
    names.sort();
    names
}

#[test]
fn agents_come_and_go_byte_for_byte_in_every_harness() {
    for scope in [&[][..], &["--user"], &["--project"]] {
        let env = TestEnv::with_repository();
        env.write_file("project/.claude/agents/mine.md", "---\nname: mine\n---\nMine.\n");
        let before = env.file_tree();
        let excluded = fs::read(env.project_folder().join(".git/info/exclude")).ok();
        for (harness, _) in AGENT_FOLDERS {
            env.run_thru(&[&["swarm", "install", "--harness", harness], scope].concat()).assert_ok();
        }
        if scope.is_empty() {
            let shown = env.run_git(&[
                "status",
                "--porcelain",
                "--untracked-files=all",
                "--",
                ".claude",
                ".factory",
                ".opencode",
            ]);
            assert_eq!(
                shown.trim(),
                "?? .claude/agents/mine.md",
                "what one person installs does not show in git"
            );
        }
        let once = env.file_tree();
        for (harness, folder) in AGENT_FOLDERS {
            let again = env.run_thru_json(&[&["swarm", "install", "--harness", harness], scope].concat());
            assert!(
                again["harnesses"][0]["files"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .all(|file| file["change"] == "unchanged")
            );
            if scope.is_empty() {
                let mut expected: Vec<String> = AGENT_NAMES.map(str::to_owned).to_vec();
                if *harness == "claude-code" {
                    expected.insert(4, "mine".to_owned());
                }
                assert_eq!(file_names(&env, folder), expected);
            }
        }
        once.assert_unchanged(&env.file_tree(), "twice is once");
        env.run_thru(&[&["swarm", "uninstall"], scope].concat()).assert_ok();
        let mut changes = before.changes_to(&env.file_tree());
        changes.retain(|change| {
            !change.contains("/.local") && !change.starts_with('~') && !change.contains("/home")
        });
        assert_eq!(changes, [""; 0], "{scope:?}");
        assert_eq!(fs::read(env.project_folder().join(".git/info/exclude")).ok(), excluded, "{scope:?}");
        assert_eq!(env.run_thru_json(&["swarm", "list"]), json!([]), "{scope:?}");
    }
}

/// One command installs the agents in all worktrees of a repository, as `thru init` does with hooks. Agent files that
/// git tracks in another worktree are not changed.
#[test]
fn every_worktree_gets_the_agents_and_loses_them() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    let beside = env.base_folder().join("beside");
    env.run_git(&["worktree", "add", "--quiet", "--detach", beside.to_str().unwrap()]);
    let mine = beside.join(".claude/agents/coder.md");
    fs::create_dir_all(mine.parent().unwrap()).unwrap();
    fs::write(&mine, "Mine.\n").unwrap();
    let excluded = || fs::read_to_string(env.project_folder().join(".git/info/exclude")).unwrap();
    let before = excluded();
    let installed = env.run_thru(&["swarm", "install", "--harness", "claude-code"]).assert_ok();
    for folder in [env.project_folder().join(".claude/agents"), beside.join(".claude/agents")] {
        let said = format!("created in {}", folder.display());
        assert!(installed.stdout.contains(&said), "{said:?} in {installed}");
        assert_eq!(names_in(&folder).len(), AGENT_NAMES.len());
    }
    assert!(installed.stderr.contains("beside/.claude/agents/coder.md"), "{installed}");
    assert_eq!(fs::read_to_string(&mine).unwrap(), "Mine.\n");
    let again = env.run_thru_json(&["swarm", "install", "--harness", "claude-code"]);
    let files = again["harnesses"][0]["files"].as_array().unwrap();
    assert_eq!(files.len(), 2 * AGENT_NAMES.len() - 1);
    assert!(files.iter().all(|file| file["change"] == "unchanged"), "{again}");

    env.run_thru(&["swarm", "uninstall"]).assert_ok();
    assert!(!env.project_folder().join(".claude/agents").exists());
    assert_eq!(names_in(&beside.join(".claude/agents")), ["coder.md"]);
    assert_eq!(excluded(), before);
}

#[test]
fn a_dry_run_writes_nothing() {
    let env = TestEnv::with_repository();
    let before = env.file_tree();
    let shown = env.run_thru(&["swarm", "install", "--harness", "claude-code", "--dry-run"]).assert_ok();
    assert!(shown.stdout.contains("would create") && shown.stdout.contains("reviewer"), "{shown}");
    before.assert_unchanged(&env.file_tree(), "a dry run");
}

#[test]
fn what_a_person_wrote_or_changed_stays() {
    let env = TestEnv::with_repository();
    let mine = "---\nname: critic\n---\nMy own critic.\n";
    env.write_file("project/.claude/agents/critic.md", mine);
    let install = ["swarm", "install", "--harness", "claude-code"];
    let said = env.run_thru(&install).assert_ok();
    assert!(said.stderr.contains("critic.md: thru did not write it"), "{said}");
    assert_eq!(read_text(&env, "project/.claude/agents/critic.md"), mine);

    let coder = "project/.claude/agents/coder.md";
    let changed = read_text(&env, coder).replace("nothing else", "nothing but that");
    env.write_file(coder, &changed);
    for words in [&install[..], &["swarm", "uninstall"]] {
        let said = env.run_thru(words).assert_ok();
        assert!(said.stderr.contains("coder.md: somebody has changed it"), "{said}");
        assert_eq!(read_text(&env, coder), changed, "{words:?}");
    }
    assert_eq!(file_names(&env, ".claude/agents"), ["coder", "critic"]);
    let listed = env.run_thru_json(&["swarm", "list"]);
    assert_eq!((&listed[0]["agents"], &listed[0]["changed"]), (&json!(1), &json!(["coder"])), "{listed}");

    let forced = env.run_thru_json(&["swarm", "uninstall", "--force"]);
    let backup = forced["harnesses"][0]["files"][0]["backup"].as_str().expect("a backup");
    assert_eq!(fs::read_to_string(backup).unwrap(), changed);
    assert_eq!(read_text(&env, "project/.claude/agents/critic.md"), mine, "never what is not ours");
}

#[test]
fn swarms_live_side_by_side_with_their_own_names() {
    let env = TestEnv::with_repository();
    env.run_thru(&["swarm", "install", "--harness", "claude-code"]).assert_ok();
    env.run_thru(&["swarm", "install", "--harness", "claude-code", "--swarm", "mega"]).assert_ok();
    let names = file_names(&env, ".claude/agents");
    assert_eq!(names.len(), 14);
    assert!(names.contains(&"coder".to_owned()) && names.contains(&"mega_coder".to_owned()), "{names:?}");
    let architect = read_text(&env, "project/.claude/agents/mega_architect.md");
    assert!(
        architect.contains("the swarm `mega`") && architect.contains("`mega_test_engineer`"),
        "{architect}"
    );
    assert!(!architect.contains("{{"), "{architect}");
    let swarms: Vec<Value> = env
        .run_thru_json(&["swarm", "list"])
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["swarm"].clone())
        .collect();
    assert_eq!(swarms, [json!("default"), json!("mega")]);
    env.run_thru(&["swarm", "uninstall", "--swarm", "default"]).assert_ok();
    assert!(env.run_thru_json(&["swarm", "list"])[0]["swarm"] == "mega");
    for bad in ["../up", "Mega", "a b", ""] {
        let said = env.run_thru(&["swarm", "install", "--harness", "claude-code", "--swarm", bad]);
        assert_eq!(said.code, 2, "{bad:?}: {said}");
    }
}

#[test]
fn a_prompt_is_replaced_or_extended_and_a_model_chosen() {
    let env = TestEnv::with_repository();
    let folder = env.user_config_path().parent().unwrap().join("agents");
    fs::create_dir_all(folder.join("mega")).unwrap();
    fs::write(folder.join("coder.md"), "Write {{SWARM_ID}} code; ask {{AGENT_PREFIX}}sme.\n").unwrap();
    fs::write(folder.join("reviewer_append.md"), "Look at MY-LIST too.\n").unwrap();
    fs::write(folder.join("mega/coder.md"), "Only for mega.\n").unwrap();
    fs::write(folder.join("codr.md"), "A slip.\n").unwrap();
    fs::write(
        env.user_config_path(),
        "[swarm]\nmodels = \"coder=opus, opencode:coder=local/big, nobody=x\"\n",
    )
    .unwrap();
    for (harness, _) in AGENT_FOLDERS {
        let said = env.run_thru(&["swarm", "install", "--harness", harness]).assert_ok();
        assert!(said.stderr.contains("codr.md: no agent has this name"), "{said}");
    }
    env.run_thru(&["swarm", "install", "--harness", "claude-code", "--swarm", "mega"]).assert_ok();
    let coder = read_text(&env, "project/.claude/agents/coder.md");
    assert!(
        coder.contains("\nWrite default code; ask sme.\n") && coder.contains("model: \"opus\"\n"),
        "{coder}"
    );
    assert!(read_text(&env, "project/.opencode/agent/coder.md").contains("model: \"local/big\"\n"));
    assert!(read_text(&env, "project/.factory/droids/coder.md").contains("model: \"opus\"\n"));
    assert!(read_text(&env, "project/.claude/agents/mega_coder.md").contains("Only for mega."));
    let reviewer = read_text(&env, "project/.claude/agents/reviewer.md");
    assert!(
        reviewer.contains("VERDICT is APPROVED or REJECTED") && reviewer.contains("Look at MY-LIST too.")
    );
    assert!(env.run_thru(&["swarm", "agents", "coder"]).assert_ok().stdout.contains("Write default code"));

    fs::write(folder.join("coder.md"), "Another.\n").unwrap();
    let said = env.run_thru(&["swarm", "diagnose"]);
    assert_eq!(said.code, 1, "{said}");
    for needle in [
        "coder.md: the prompt, the model or the version has changed",
        "codr.md",
        "`nobody=x` does not name an agent",
    ] {
        assert!(said.stdout.contains(needle), "{needle}: {said}");
    }
    fs::write(folder.join("coder.md"), [0xff, 0xfe]).unwrap();
    let said = env.run_thru(&["swarm", "install", "--harness", "claude-code"]);
    assert!(said.code != 0 && said.stderr.contains("coder.md: a prompt must be UTF-8"), "{said}");
    assert!(
        read_text(&env, "project/.claude/agents/coder.md").contains("Write default code"),
        "nothing was written"
    );
}

#[test]
fn a_link_in_a_project_is_not_followed() {
    let env = TestEnv::with_repository();
    fs::create_dir(env.base_folder().join("elsewhere")).unwrap();
    fs::create_dir(env.project_folder().join(".claude")).unwrap();
    std::os::unix::fs::symlink(
        env.base_folder().join("elsewhere"),
        env.project_folder().join(".claude/agents"),
    )
    .unwrap();
    let said = env.run_thru(&["swarm", "install", "--harness", "claude-code"]);
    assert!(said.code != 0 && said.stderr.contains("symbolic link"), "{said}");
    assert!(names_in(&env.base_folder().join("elsewhere")).is_empty());
}

/// Creates a repository with a plan, in which task 1.1 is in progress.
fn env_with_plan() -> TestEnv {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    env.run_thru(&["plan", "init", "Parser", "--phase", "Read"]).assert_ok();
    env.run_thru(&["task", "add", "Lexer"]).assert_ok();
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    env
}

fn report_agent_stop(env: &TestEnv, agent: &str, id: &str, said: &str) {
    let more = json!({"agent_id": id, "agent_type": agent, "last_assistant_message": said});
    env.fire_event("s1", "SubagentStop", more).assert_silent("a verdict is recorded without a word");
}

fn evidence_entries(env: &TestEnv, task: &str) -> Vec<Value> {
    let bytes = fs::read(env.store_folder().join(format!("evidence/{task}/bundle.json")))
        .unwrap_or_else(|_| b"{}".to_vec());
    let bundle: Value = serde_json::from_slice(&bytes).unwrap();
    bundle["entries"].as_array().cloned().unwrap_or_default()
}

#[test]
fn verdicts_become_evidence_of_the_current_task() {
    let env = env_with_plan();
    env.run_thru(&["swarm", "install", "--harness", "claude-code", "--swarm", "mega"]).assert_ok();
    report_agent_stop(
        &env,
        "critic",
        "a1",
        "VERDICT: NEEDS_REVISION\nCONFIDENCE: HIGH\nISSUES:\n- [1.1] no acceptance",
    );
    env.run_thru(&["task", "start", "1.1"]).assert_ok();
    report_agent_stop(
        &env,
        "mega_reviewer",
        "a2",
        "**VERDICT:** REJECTED\n**RISK:** HIGH\nISSUES:\n- src/a.rs:3 leaks",
    );
    report_agent_stop(
        &env,
        "mega_reviewer",
        "a2",
        "**VERDICT:** REJECTED\n**RISK:** HIGH\nISSUES:\n- src/a.rs:3 leaks",
    );
    report_agent_stop(
        &env,
        "test_engineer",
        "a3",
        "VERDICT: FAIL\nTESTS: 11 passed, 1 failed\nFAILURES:\n- lexer::empty",
    );
    report_agent_stop(&env, "reviewer", "a4", "VERDICT: APPROVED | REJECTED");
    report_agent_stop(&env, "coder", "a5", "VERDICT: APPROVED");
    // These verdicts are not recorded, because they come from agents of other plugins and from an agent of a swarm that
    // is not in use.
    report_agent_stop(&env, "pr-review-toolkit:code-reviewer", "a6", "VERDICT: APPROVED");
    report_agent_stop(&env, "code-reviewer", "a7", "VERDICT: APPROVED");
    report_agent_stop(&env, "other_reviewer", "a8", "VERDICT: APPROVED");
    let entries = evidence_entries(&env, "1.1");
    let rows: Vec<(&str, &str, &str)> = entries
        .iter()
        .map(|entry| {
            (
                entry["type"].as_str().unwrap(),
                entry["agent"].as_str().unwrap(),
                entry["verdict"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("review", "critic", "warn"),
            ("review", "mega_reviewer", "rejected"),
            ("test", "test_engineer", "fail"),
            ("note", "reviewer", "info"),
        ]
    );
    assert_eq!((&entries[1]["risk"], &entries[1]["issues"]), (&json!("HIGH"), &json!(["src/a.rs:3 leaks"])));
    assert_eq!((&entries[2]["tests_failed"], &entries[2]["failures"]), (&json!(1), &json!(["lexer::empty"])));
    assert!(entries[3]["summary"].as_str().unwrap().contains("has no readable verdict"));
    let shown = env.run_thru(&["plan", "show"]).assert_ok().stdout;
    assert!(shown.contains("evidence failed"), "{shown}");
    let shown = env.run_thru(&["swarm", "plan"]).assert_ok().stdout;
    for line in ["1.1  critic  NEEDS_REVISION", "1.1  mega_reviewer  REJECTED", "1.1  reviewer  unreadable"] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
}

/// Droid does not name the agent, but it reports the description of the call.
#[test]
fn a_description_names_the_agent_where_the_harness_does_not() {
    let env = env_with_plan();
    let payload = |name: &str, result: &str| {
        let common =
            json!({"session_id": "d1", "cwd": env.project_folder(), "hook_event_name": "SubagentStop"});
        crate::env::merge_fields(
            &common,
            json!({"task_name": name, "task_result": result, "stop_hook_active": false}),
        )
    };
    for (name, result) in [("reviewer: the lexer", "VERDICT: APPROVED"), ("look around", "VERDICT: APPROVED")]
    {
        let call =
            env.thru_call(&["hook", "droid", "SubagentStop"]).with_stdin(payload(name, result).to_string());
        call.run().assert_silent("nothing to say");
    }
    let entries = evidence_entries(&env, "1.1");
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!((&entries[0]["agent"], &entries[0]["verdict"]), (&json!("reviewer"), &json!("approved")));
}

#[test]
fn a_verdict_is_redacted_before_it_is_kept() {
    let env = env_with_plan();
    let secret = ["ghp_", &"a1B2".repeat(9)].concat();
    report_agent_stop(
        &env,
        "reviewer",
        "a1",
        &format!("VERDICT: REJECTED\nISSUES:\n- a token {secret} in a.rs"),
    );
    let kept = evidence_entries(&env, "1.1")[0].to_string();
    assert!(kept.contains("rejected") && !kept.contains(&secret), "{kept}");
}

#[test]
fn without_a_plan_nothing_is_written_and_a_broken_bundle_is_kept() {
    let env = TestEnv::with_root();
    report_agent_stop(&env, "reviewer", "a1", "VERDICT: APPROVED");
    assert!(!env.store_folder().join("evidence").exists());
    let env = env_with_plan();
    env.write_file("project/.agent/context/evidence/1.1/bundle.json", "{");
    report_agent_stop(&env, "reviewer", "a1", "VERDICT: APPROVED");
    assert_eq!(evidence_entries(&env, "1.1").len(), 1);
    assert!(names_in(&env.store_folder().join("evidence/1.1")).iter().any(|name| name.contains("damaged")));
}

#[test]
fn a_plan_of_another_swarm_is_told_of_and_not_continued() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    let plan = json!({"schema_version": "1.0.0", "title": "Theirs", "swarm": "other", "phases": [
        {"id": 1, "name": "One", "status": "in_progress", "tasks": [
            {"id": "1.1", "phase": 1, "status": "in_progress", "description": "THEIR-TASK", "depends": [], "files_touched": []}]}]});
    env.write_file("theirs.json", plan.to_string());
    env.run_thru(&["plan", "import", env.base_folder().join("theirs.json").to_str().unwrap()]).assert_ok();
    let brief = |session: &str| env.fire_event(session, "SessionStart", json!({"source": "startup"})).stdout;
    assert!(!brief("s0").contains("belongs to the swarm"), "nobody here has a swarm");

    env.run_thru(&["swarm", "install", "--harness", "claude-code"]).assert_ok();
    let told = env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(told.contains("belongs to the swarm other") && !told.contains("THEIR-TASK"), "{told}");
    report_agent_stop(&env, "reviewer", "a1", "VERDICT: APPROVED");
    assert!(evidence_entries(&env, "1.1").is_empty(), "no verdict goes into it");
    let shown = env.run_thru(&["swarm", "plan"]).assert_ok().stdout;
    assert!(shown.contains("belongs to the swarm other"), "{shown}");
    assert_eq!(env.run_thru(&["swarm", "diagnose"]).code, 1);

    env.run_thru(&["swarm", "plan", "--adopt"]).assert_ok();
    let told = env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(told.contains("THEIR-TASK") && !told.contains("belongs to the swarm"), "{told}");
    report_agent_stop(&env, "reviewer", "a2", "VERDICT: APPROVED");
    assert_eq!(evidence_entries(&env, "1.1").len(), 1);
}

#[test]
fn a_swarm_of_the_settings_names_the_plan() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    fs::create_dir_all(env.user_config_path().parent().unwrap()).unwrap();
    fs::write(env.user_config_path(), "[swarm]\nid = \"mega\"\n").unwrap();
    env.run_thru(&["plan", "init", "Ours"]).assert_ok();
    assert_eq!(env.run_thru_json(&["plan", "show"])["swarm"], "mega");
    env.run_thru(&["swarm", "install", "--harness", "claude-code"]).assert_ok();
    assert!(env.project_folder().join(".claude/agents/mega_coder.md").exists());
}

#[test]
fn a_long_answer_is_a_note_that_says_so() {
    let env = env_with_plan();
    report_agent_stop(&env, "reviewer", "a1", &format!("{}\nVERDICT: APPROVED", "x".repeat(300_000)));
    let entries = evidence_entries(&env, "1.1");
    assert_eq!((&entries[0]["type"], &entries[0]["verdict"]), (&json!("note"), &json!("info")));
    assert!(entries[0]["summary"].as_str().unwrap().contains("longer than 256 KB"), "{}", entries[0]);
}

/// A rejected task cannot be completed, even without an acceptance criterion.
#[test]
fn a_rejected_task_is_not_closed_in_silence() {
    let env = env_with_plan();
    env.run_thru(&["task", "start", "1.1"]).assert_ok();
    report_agent_stop(&env, "reviewer", "a1", "VERDICT: REJECTED\nISSUES:\n- a.rs:1 sql injection");
    let refused = env.run_thru(&["task", "done", "1.1"]);
    assert!(refused.code != 0 && refused.stderr.contains("sql injection"), "{refused}");
    assert!(refused.stderr.contains("--without-evidence"), "{refused}");
    report_agent_stop(&env, "critic", "a2", "VERDICT: APPROVED\nSUMMARY: the plan of phase 2 is fine");
    assert!(env.run_thru(&["task", "done", "1.1"]).code != 0, "a critic judges the plan");
    report_agent_stop(&env, "reviewer", "a3", "VERDICT: APPROVED");
    env.run_thru(&["task", "done", "1.1"]).assert_ok();

    env.run_thru(&["task", "add", "Parser"]).assert_ok();
    env.run_thru(&["task", "start", "1.2"]).assert_ok();
    report_agent_stop(&env, "test_engineer", "a4", "VERDICT: FAIL\nTESTS: 1 passed, 1 failed");
    assert!(env.run_thru(&["task", "done", "1.2"]).code != 0);
    env.run_thru(&["task", "done", "1.2", "--without-evidence", "the test is wrong"]).assert_ok();
}

/// If the agent ticks off a rejected task in its own todo list, the task stays open in the plan.
#[test]
fn a_list_does_not_close_a_rejected_task() {
    let env = env_with_plan();
    let todo = |status: &str| {
        let todos = json!([{"content": "Lexer", "status": status, "activeForm": "x"}]);
        let more = json!({"tool_name": "TodoWrite", "tool_input": {"todos": todos}, "tool_response": {}, "tool_use_id": status});
        env.fire_event("s1", "PostToolUse", more);
        env.fire_event("s1", "Stop", json!({"stop_hook_active": false}));
    };
    let status = || env.run_thru_json(&["plan", "show"])["phases"][0]["tasks"][0]["status"].clone();
    todo("in_progress");
    assert_eq!(status(), "in_progress");
    report_agent_stop(&env, "reviewer", "a1", "VERDICT: REJECTED\nISSUES:\n- a.rs:1 leaks");
    todo("completed");
    assert_eq!(status(), "in_progress", "it was rejected");
}

/// A plan that was imported without a swarm, or with the name of another swarm, does not belong to the swarm of this
/// project. Briefs omit the plan and the decisions that came with it.
#[test]
fn what_belongs_to_a_plan_of_another_swarm_is_set_aside() {
    for (line, named) in [("Swarm: other\n", "other"), ("", "(unnamed)")] {
        let env = TestEnv::with_repository();
        env.run_thru(&["init"]).assert_ok();
        fs::create_dir_all(env.user_config_path().parent().unwrap()).unwrap();
        fs::write(env.user_config_path(), "[swarm]\nid = \"mega\"\n").unwrap();
        let plan = format!("# Theirs\n{line}## Phase 1: One\n- [ ] 1.1: THEIR-TASK\n");
        env.write_file("project/.swarm/plan.md", plan);
        env.write_file("project/.swarm/context.md", "# Context\n\n## Decisions\n\n- THEIR-DECISION\n");
        env.run_thru(&["import", "swarm"]).assert_ok();
        env.run_thru(&["decide", "OUR-DECISION"]).assert_ok();
        env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
        let told = env.run_thru(&["brief"]).assert_ok().stdout;
        assert!(told.contains(&format!("belongs to the swarm {named}")), "{told}");
        assert!(told.contains("OUR-DECISION") && !told.contains("THEIR"), "{told}");
        assert!(
            told.contains(
                "1 decision set aside and not in force here, because the plan belongs to the swarm"
            ),
            "{told}"
        );
        assert!(env.run_thru(&["swarm", "diagnose"]).stdout.contains(named));
        let listed = env.run_thru(&["decisions", "list"]).assert_ok().stdout;
        let marked =
            |text: &str| listed.lines().any(|line| line.contains(text) && line.contains("(set aside)"));
        assert!(marked("THEIR-DECISION") && !marked("OUR-DECISION"), "{listed}");
        let listed = env.run_thru_json(&["decisions", "list"]);
        assert_eq!((&listed["current"], &listed["set_aside"]["swarm"]), (&json!(1), &json!(named)));

        env.run_thru(&["swarm", "plan", "--adopt"]).assert_ok();
        let told = env.run_thru(&["brief"]).assert_ok().stdout;
        assert!(told.contains("THEIR-TASK") && told.contains("THEIR-DECISION"), "{told}");
    }
    // A plan that the user imports from a file belongs to the swarm of this project.
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    fs::create_dir_all(env.user_config_path().parent().unwrap()).unwrap();
    fs::write(env.user_config_path(), "[swarm]\nid = \"mega\"\n").unwrap();
    env.write_file("mine.md", "# Mine\n## Phase 1: One\n- [ ] 1.1: MY-TASK\n");
    env.run_thru(&["plan", "import", env.base_folder().join("mine.md").to_str().unwrap()]).assert_ok();
    assert_eq!(env.run_thru_json(&["plan", "show"])["swarm"], "mega");
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    assert!(env.run_thru(&["brief"]).assert_ok().stdout.contains("MY-TASK"));
}

/// If a person removed the files of another swarm by hand, thru removes the lines for these files from git's exclude
/// list.
#[test]
fn the_exclude_list_is_restored_when_files_were_removed_by_hand() {
    let env = TestEnv::with_repository();
    let excluded = || fs::read_to_string(env.project_folder().join(".git/info/exclude")).unwrap_or_default();
    let before = excluded();
    env.run_thru(&["swarm", "install", "--harness", "claude-code", "--swarm", "mega"]).assert_ok();
    fs::remove_file(env.project_folder().join(".claude/agents/mega_coder.md")).unwrap();
    env.run_thru(&["swarm", "uninstall"]).assert_ok();
    assert_eq!(excluded(), before);
    env.run_thru(&["swarm", "install", "--harness", "claude-code", "--swarm", "mega"]).assert_ok();
    fs::remove_dir_all(env.project_folder().join(".claude")).unwrap();
    env.run_thru(&["swarm", "uninstall"]).assert_ok();
    assert_eq!(excluded(), before);
}

#[test]
fn uninstall_all_takes_the_agents_too() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    env.run_thru(&["swarm", "install", "--harness", "claude-code"]).assert_ok();
    env.run_thru(&["swarm", "install", "--harness", "opencode", "--user"]).assert_ok();
    env.run_thru(&["uninstall", "--all"]).assert_ok();
    assert_eq!(env.run_thru_json(&["swarm", "list"]), json!([]));
}
