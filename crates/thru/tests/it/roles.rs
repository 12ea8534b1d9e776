//! Tests of roles: checks and repairs of context files, lifecycle changes by commands and hooks, and the recovery of
//! roles.

use std::fs;

use serde_json::{Value, json};

use crate::env::{TestEnv, names_in};

pub const CONTEXT_FILE: &str = "project/.agent/context/agents/tester.context.md";

pub const GOOD_CONTEXT_TEXT: &str = include_str!("../../../model/src/role/good.context.md");

pub fn env_with_role() -> TestEnv {
    let env = TestEnv::with_root();
    env.write_file("project/README.md", "hello\n");
    env.write_file(CONTEXT_FILE, GOOD_CONTEXT_TEXT);
    env
}

pub fn env_with_bound_role() -> TestEnv {
    let env = env_with_role();
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    env.run_thru(&["role", "bind", "tester", "--session", "s1"]).assert_ok();
    env
}

fn report_read(env: &TestEnv, session: &str, tool: &str) {
    let input = json!({"file_path": env.base_folder().join(CONTEXT_FILE)});
    let call = json!({"tool_name": tool, "tool_use_id": format!("{session}{tool}"), "tool_input": input});
    env.fire_event(session, "PostToolUse", call);
}

/// Returns the steps in the lifecycle's history, such as `saved → compacting`.
fn lifecycle_history(env: &TestEnv) -> Vec<String> {
    let rows = env.run_thru_json(&["lifecycle", "status", "tester"]);
    let steps = rows[0]["history"].as_array().unwrap().iter();
    steps
        .map(|step| format!("{} → {}", step["from"].as_str().unwrap(), step["to"].as_str().unwrap()))
        .collect()
}

fn lifecycle_state(env: &TestEnv) -> String {
    env.run_thru_json(&["lifecycle", "status", "tester"])[0]["state"].as_str().unwrap().to_owned()
}

#[test]
fn files_are_checked_in_the_words_of_the_schema() {
    let env = env_with_role();
    let file = env.base_folder().join(CONTEXT_FILE);
    let validate = |text: &str| {
        fs::write(&file, text).unwrap();
        env.run_thru(&["context", "validate", file.to_str().unwrap()])
    };
    assert_eq!(validate(GOOD_CONTEXT_TEXT).assert_ok().stdout, "PASS: tester.context.md (0 warnings)\n");
    assert_eq!(
        validate(&GOOD_CONTEXT_TEXT.replace("## Current Goal", "## Aim")).assert_ok().stdout,
        "WARN: RECOMMENDED: there is no \"## Current Goal\"\nPASS: tester.context.md (1 warning)\n"
    );
    assert_eq!(
        validate(&GOOD_CONTEXT_TEXT.replace("README.md", "GONE.md").replace('—', "–"))
            .assert_exit_code(1)
            .stdout,
        "ERROR: TITLE: line 1: there is an en dash (U+2013) after the name; write an em dash — (U+2014)\n\
         WARN: RECOMMENDED: line 22: the key file `GONE.md` does not exist\n\
         FAIL: tester.context.md (1 error, 1 warning)\n"
    );
    env.run_thru(&["context", "validate"]).assert_exit_code(2);
    let absent = env.run_thru(&["context", "validate", "nowhere.context.md"]).assert_exit_code(10);
    assert!(absent.stderr.contains("nowhere.context.md"), "{absent}");
}

/// Each rule has its own message and exit code. They stay the same if the file has CRLF line endings and a byte order
/// mark.
#[test]
fn each_rule_has_its_exit_code() {
    let env = env_with_role();
    let file = env.base_folder().join(CONTEXT_FILE);
    let cases = include_str!("../../../model/src/role/cases.txt").split("\ncase: ").skip(1);
    let mut codes = [0, 0];
    for case in cases {
        let mut lines = case.lines().filter(|line| !line.is_empty());
        let name = lines.next().unwrap();
        let [from, to] = ["from: ", "to: "].map(|key| {
            let part = lines.next().and_then(|line| line.strip_prefix(key)?.strip_suffix('|')).unwrap();
            part.replace("\\n", "\n")
        });
        let words: Vec<&str> = lines.collect();
        let code = usize::from(words.iter().any(|line| line.starts_with("ERROR")));
        codes[code] += 1;
        let text = GOOD_CONTEXT_TEXT.replacen(&from, &to, 1);
        for text in [text.clone(), format!("\u{feff}{}", text.replace('\n', "\r\n"))] {
            fs::write(&file, text).unwrap();
            let shown = env.run_thru(&["context", "validate", file.to_str().unwrap()]);
            assert_eq!(shown.code, i32::try_from(code).unwrap(), "{name}: {shown}");
            let (found, verdict): (Vec<&str>, Vec<&str>) =
                shown.stdout.lines().partition(|line| !line.starts_with(["PASS: ", "FAIL: "][code]));
            assert_eq!((found, verdict.len()), (words.clone(), 1), "{name}");
        }
    }
    assert!(codes[0] > 10 && codes[1] > 25, "{codes:?}");
}

#[test]
fn all_files_are_found_where_they_may_be() {
    let env = env_with_role();
    env.write_file("project/session/agents/old.context.md", "# Old\n");
    env.write_file("project/session/agents/tester.context.md", "# shadowed\n");
    env.write_file("project/docs/roles/third.context.md", GOOD_CONTEXT_TEXT);
    env.write_file("project/.agent/context/config.toml", "[roles]\ndir = \"docs/roles\"\n");
    for words in [&["context", "validate", "--all"][..], &["context", "validate.all"]] {
        let shown = env.run_thru(words).assert_exit_code(1).stdout;
        let verdicts: Vec<&str> = shown.lines().filter(|line| line.starts_with(['P', 'F'])).collect();
        assert_eq!(
            verdicts,
            [
                "FAIL: old.context.md (6 errors, 3 warnings)",
                "PASS: tester.context.md (0 warnings)",
                "PASS: third.context.md (0 warnings)"
            ]
        );
    }
    let all = env.thru_call(&["context", "validate", "--all", "--json"]).run().assert_exit_code(1).json();
    assert_eq!(all[0]["findings"][0]["kind"], "TITLE");
    assert_eq!((&all[1]["role"], &all[1]["valid"]), (&json!("tester"), &json!(true)));
    env.write_file("project/.agent/context/config.toml", "[roles]\ndir = \"../elsewhere\"\n");
    let refused = env.run_thru(&["context", "validate", "--all"]).assert_exit_code(15);
    assert!(refused.stderr.contains("roles.dir"), "{refused}");
}

#[test]
fn a_commit_after_the_update_is_warned_of() {
    let env = TestEnv::with_repository();
    env.run_thru(&["context", "init"]).assert_ok();
    env.write_file(CONTEXT_FILE, GOOD_CONTEXT_TEXT.replace("2026-11-15T18:00Z", "2020-01-01"));
    let shown = env.run_thru(&["context", "validate", "--all"]).assert_ok().stdout;
    assert!(shown.contains("line 3: **Updated** is older than the newest commit"), "{shown}");
    assert!(shown.contains("a file older than 24 h is stale"), "{shown}");
}

#[test]
fn a_new_file_is_for_filling_in_and_none_is_overwritten() {
    let env = TestEnv::new();
    env.thru_call(&["context", "new", "oosh-expert"]).with_variable("TMUX_PANE", "%3").run().assert_ok();
    let file = env.store_folder().join("agents/oosh-expert.context.md");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("**Pane**: %3\n"), "{text}");
    let shown = env.run_thru(&["context", "validate", "--all"]).assert_exit_code(1).stdout;
    assert!(shown.ends_with("FAIL: oosh-expert.context.md (1 error, 0 warnings)\n"), "{shown}");
    assert!(env.run_thru(&["context", "new", "oosh-expert"]).assert_ok().stdout.contains("already exists"));
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    env.run_thru(&["context", "new", "../x"]).assert_exit_code(2);
}

#[test]
fn the_schema_is_printed_and_holds_for_what_recover_tells() {
    let env = env_with_role();
    assert!(env.run_thru(&["context", "schema"]).assert_ok().stdout.contains("## Recovery Steps"));
    let schema = env.run_thru_json(&["context", "schema"]);
    let told = env.run_thru_json(&["recover", "tester"]);
    for key in schema["required"].as_array().unwrap() {
        assert!(told["context"].get(key.as_str().unwrap()).is_some(), "{key}");
    }
    assert_eq!(told["context"]["recovery_steps"], json!(["Read this file", "Run the suites"]));
}

#[test]
fn a_fix_shows_its_diff_keeps_a_backup_and_touches_nothing_else() {
    let env = env_with_role();
    let file = env.base_folder().join(CONTEXT_FILE);
    let prose = "\nRole: this line is prose – and stays\r\n```\n## Done\n```\n";
    let bad = GOOD_CONTEXT_TEXT
        .replacen('—', "-", 1)
        .replace("**Role**:", "Role:")
        .replace("## Completed Work", "## Completed This Session");
    fs::write(&file, format!("{bad}{prose}")).unwrap();
    let path = file.to_str().unwrap();
    let shown = env.run_thru(&["context", "fix", path, "--dry-run"]).assert_ok();
    assert!(
        shown.stdout.contains("-# Test Runner - Session Context\n+# Test Runner — Session Context\n"),
        "{shown}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), format!("{bad}{prose}"), "a dry run");
    let fixed = env.thru_call(&["context", "fix", path, "--json"]).run().assert_ok().json();
    assert_eq!(fs::read_to_string(&file).unwrap(), format!("{GOOD_CONTEXT_TEXT}{prose}"));
    assert_eq!(fixed["lines"], json!([1, 4, 14]));
    let backup = fixed["backup"].as_str().unwrap();
    assert_eq!(fs::read_to_string(backup).unwrap(), format!("{bad}{prose}"));
    let before = env.file_tree();
    assert!(env.run_thru(&["context", "fix", path]).assert_ok().stdout.contains("nothing to fix"));
    assert!(
        env.run_thru(&["context", "fix", "tester"]).assert_ok().stdout.contains("tester.context.md"),
        "by its role"
    );
    assert!(
        env.run_thru(&["context", "validate", "tester"])
            .assert_ok()
            .stdout
            .contains("PASS: tester.context.md")
    );
    before.assert_unchanged(&env.file_tree(), "a good file stays, and no backup is made of it");
    fs::write(&file, "prose\n").unwrap();
    env.run_thru(&["context", "fix", path]).assert_exit_code(1);
    assert_eq!(fs::read_to_string(&file).unwrap(), "prose\n");
}

#[test]
fn a_save_checks_the_file_and_refuses_what_is_not_in_the_table() {
    let env = env_with_role();
    for _ in 0..2 {
        env.run_thru(&["lifecycle", "init", "tester"]).assert_ok();
    }
    assert_eq!(lifecycle_state(&env), "active");
    for words in [&["lifecycle", "save", "tester"][..], &["context", "lifecycle.save", "tester"]] {
        env.run_thru(words).assert_ok();
        assert_eq!(lifecycle_state(&env), "saved");
    }
    let file = env.base_folder().join(CONTEXT_FILE);
    fs::write(&file, "# broken\n").unwrap();
    let failed = env.run_thru(&["lifecycle", "save", "tester"]).assert_exit_code(1);
    assert!(failed.stdout.contains("ERROR: MISSING: **Role**"), "{failed}");
    assert_eq!(
        (lifecycle_state(&env).as_str(), fs::read_to_string(&file).unwrap().as_str()),
        ("active", "# broken\n")
    );
    fs::write(&file, GOOD_CONTEXT_TEXT).unwrap();
    env.run_thru(&["context", "lifecycle.pre.compact", "tester"]).assert_ok();
    assert_eq!(lifecycle_state(&env), "compacting");
    let refused = env.run_thru(&["lifecycle", "save", "tester"]).assert_exit_code(15);
    assert!(
        refused.stderr.contains("tester is compacting") && refused.stderr.contains("recovering or active"),
        "{refused}"
    );
    let mistyped = env.run_thru(&["lifecycle", "save", "tster"]).assert_exit_code(10);
    assert!(mistyped.stderr.contains("`tster` has no lifecycle"), "{mistyped}");
    assert_eq!(
        env.run_thru_json(&["lifecycle", "status"]).as_array().unwrap().len(),
        1,
        "nothing was begun for it"
    );
    env.run_thru(&["lifecycle", "save", "tester", "--force"]).assert_ok();
    let forced = &env.run_thru_json(&["lifecycle", "status", "tester"])[0]["history"];
    let forced: Vec<&Value> =
        forced.as_array().unwrap().iter().filter(|step| step["forced"] == true).collect();
    assert_eq!(forced.len(), 1, "{forced:?}");
    assert_eq!(
        (&forced[0]["from"], &forced[0]["to"], &forced[0]["by"]),
        (&json!("compacting"), &json!("saving"), &json!("cli"))
    );
    env.run_thru(&["lifecycle", "recover", "tester"]).assert_ok();
    assert_eq!(lifecycle_state(&env), "active");
    let shown = env.run_thru(&["lifecycle", "status"]).assert_ok().stdout;
    assert!(
        shown.contains("tester  active      just now       82 min ago") || shown.contains("1 h ago"),
        "{shown}"
    );
}

#[test]
fn two_roles_with_one_machine_name_are_refused() {
    let env = TestEnv::with_root();
    env.run_thru(&["lifecycle", "init", "a-b"]).assert_ok();
    let refused = env.run_thru(&["lifecycle", "init", "a.b"]).assert_exit_code(15);
    assert!(refused.stderr.contains("`a-b`"), "{refused}");
    assert_eq!(names_in(&env.store_folder().join("state/lifecycle")), ["a_b.json"]);
    env.run_thru(&["lifecycle", "recover", "nobody"]).assert_exit_code(10);
    env.run_thru(&["lifecycle", "status", "nobody"]).assert_exit_code(10);
    assert!(
        env.run_thru(&["lifecycle", "init", "x/y"]).assert_exit_code(2).stderr.contains("cannot be an id")
    );
}

#[test]
fn hooks_drive_a_role_through_a_compaction() {
    let env = env_with_bound_role();
    env.run_thru(&["lifecycle", "save", "tester"]).assert_ok();
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"}));
    assert_eq!(lifecycle_state(&env), "compacting");
    let brief = env.fire_event("s1", "SessionStart", json!({"source": "compact"})).stdout;
    assert_eq!(lifecycle_state(&env), "recovering");
    for part in [
        "Green suites",
        "1. “Read this file”; 2. “Run the suites”",
        "agents/tester.context.md",
        "the flaky one",
    ] {
        assert!(brief.contains(part), "{part}: {brief}");
    }
    report_read(&env, "s1", "Read");
    assert_eq!(
        lifecycle_history(&env),
        [
            "active → saving",
            "saving → saved",
            "saved → compacting",
            "compacting → recovering",
            "recovering → active"
        ]
    );
    env.run_thru(&["lifecycle", "save", "tester"]).assert_ok();
    report_read(&env, "s1", "Edit");
    assert_eq!(lifecycle_state(&env), "active", "edited again");
    let failed = env.read_receipts().into_iter().filter(|receipt| receipt["outcome"] == "failed").count();
    assert_eq!(failed, 0);
}

#[test]
fn a_command_that_reads_the_file_counts_as_reading_it() {
    let env = env_with_bound_role();
    env.fire_event("s1", "SessionStart", json!({"source": "resume"}));
    assert_eq!(lifecycle_state(&env), "recovering");
    let cat = json!({"command": "cat .agent/context/agents/tester.context.md"});
    env.fire_event("s1", "PostToolUse", json!({"tool_name": "Bash", "tool_use_id": "t", "tool_input": cat}));
    assert_eq!(lifecycle_state(&env), "active");
}

#[test]
fn a_compaction_that_never_came_ends_with_the_next_prompt() {
    let env = env_with_bound_role();
    env.fire_event("s1", "PreCompact", json!({"trigger": "manual"}));
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "go on"}));
    assert_eq!(lifecycle_history(&env).last().unwrap(), "compacting → active");
}

#[test]
fn one_file_that_is_not_there_does_not_silence_the_others() {
    let env = env_with_bound_role();
    let found = env
        .run_thru(&["context", "validate", ".agent/context/agents/tester.context.md", "nofile.context.md"])
        .assert_exit_code(10);
    assert!(found.stdout.contains("PASS: tester.context.md"), "{found}");
    assert!(found.stderr.contains("nofile.context.md"), "{found}");
}

#[test]
fn a_compaction_that_never_came_ends_with_the_next_tool_call() {
    let env = env_with_bound_role();
    env.fire_event("s1", "PreCompact", json!({"trigger": "manual"}));
    let call = |agent: Value| {
        let mut payload =
            json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "true"}});
        payload.as_object_mut().unwrap().extend(agent.as_object().unwrap().clone());
        env.fire_event("s1", "PostToolUse", payload);
        lifecycle_state(&env)
    };
    assert_eq!(
        call(json!({"agent_id": "a1", "agent_type": "Explore"})),
        "compacting",
        "a sub-agent's tells nothing"
    );
    assert_eq!(call(json!({})), "active");
}

#[test]
fn a_dead_sessions_role_is_taken_back_and_a_damaged_state_begun_anew() {
    let env = env_with_bound_role();
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"}));
    env.thru_call(&["lifecycle", "recover", "tester"])
        .with_variable("CLAUDE_CODE_SESSION_ID", "s4")
        .run()
        .assert_ok();
    assert_eq!(lifecycle_state(&env), "active");
    env.run_thru(&["lifecycle", "init", "other"]).assert_ok();
    env.write_file("project/.agent/context/state/lifecycle/tester.json", "{");
    let table = env.run_thru(&["lifecycle", "status"]).assert_exit_code(1);
    assert!(table.stdout.contains("other") && table.stdout.contains("damaged"), "{table}");
    env.run_thru(&["lifecycle", "recover", "tester"]).assert_ok();
    assert_eq!(lifecycle_state(&env), "active");
    let kept = names_in(&env.store_folder().join("state/lifecycle"));
    assert!(kept.iter().any(|name| name.starts_with("tester.json.damaged-")), "{kept:?}");
    fs::remove_file(env.store_folder().join("state/lifecycle/tester.json")).unwrap();
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"}));
    assert_eq!(lifecycle_state(&env), "compacting", "a bound session's role is tracked again");
}

#[test]
fn an_invalid_file_stops_nothing_and_is_told() {
    let env = env_with_bound_role();
    fs::write(env.base_folder().join(CONTEXT_FILE), GOOD_CONTEXT_TEXT.replace("**Pane**", "Pane")).unwrap();
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"}));
    assert_eq!(lifecycle_state(&env), "active", "unchanged");
    let receipt = env.read_receipts().pop().unwrap();
    assert_eq!((&receipt["event"], &receipt["outcome"]), (&json!("before-compact"), &json!("ok")));
    let wrong = "ERROR: FORMAT: line 5: **Pane** is not spelled exactly like this";
    assert!(receipt["warning"].as_str().unwrap().contains(wrong), "{receipt}");
    let brief = env.fire_event("s1", "SessionStart", json!({"source": "compact"})).stdout;
    assert!(brief.contains(wrong) && brief.contains("Green suites"), "{brief}");
    assert!(env.run_thru(&["doctor"]).stdout.contains("a context file with 1 error"));
}

/// Droid gives a session a new id at every compaction. The agent stays the same, so it keeps its role.
#[test]
fn a_session_that_goes_on_under_another_id_keeps_its_role() {
    let env = env_with_bound_role();
    let fire = |event: &str, payload: Value| {
        env.thru_call(&["hook", "droid", event])
            .with_variable("FACTORY_PROJECT_DIR", env.project_folder())
            .with_stdin(payload.to_string())
            .run()
    };
    let cwd = env.project_folder();
    fire("PreCompact", json!({"session_id": "s1", "cwd": cwd, "trigger": "manual"}))
        .assert_silent("no guidance");
    let start = json!({"session_id": "s2", "previous_session_id": "s1", "cwd": cwd, "source": "compact"});
    assert!(fire("SessionStart", start).stdout.contains("Green suites"));
    assert_eq!(lifecycle_state(&env), "recovering");
    report_read(&env, "s2", "Read");
    assert_eq!(lifecycle_state(&env), "active");
}

#[test]
fn a_mistyped_role_is_noticed_and_a_binding_can_be_undone() {
    let env = env_with_bound_role();
    let bind = |role: &str| env.thru_call(&["role", "bind", role, "--session", "s1"]).run().assert_ok();
    let output = bind("testr");
    assert!(output.stderr.contains("testr has no context file yet; did you mean tester?"), "{output}");
    assert!(output.stdout.contains("Next: `thru context new testr` creates"), "{output}");
    let output = bind("scribe");
    assert!(output.stderr.contains("scribe has no context file yet\n"), "{output}");
    let unbind = |words: &[&str]| {
        env.thru_call(&[&["role", "unbind", "--session", "s1"], words].concat()).run().assert_ok()
    };
    assert!(unbind(&[]).stdout.contains("Session s1 no longer has the role scribe"));
    let again = unbind(&["--json"]).json();
    assert_eq!((&again["session"], again.get("role")), (&json!("s1"), None), "{again}");
    assert!(!env.run_thru_json(&["role", "list"]).to_string().contains("s1"));
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"}));
    assert_eq!(lifecycle_history(&env), [""; 0], "no role is moved");
    let told = env
        .thru_call(&["role", "unbind", "--session", "s1"])
        .with_variable("THROUGHLINE_ROLE", "tester")
        .run()
        .assert_ok();
    assert!(told.stderr.contains("$THROUGHLINE_ROLE is set"), "{told}");
}

#[test]
fn a_fork_takes_no_role_along() {
    let env = env_with_bound_role();
    let start = json!({"session_id": "s2", "previous_session_id": "s1", "cwd": env.project_folder(), "source": "fork"});
    let call = env
        .thru_call(&["hook", "droid", "SessionStart"])
        .with_variable("FACTORY_PROJECT_DIR", env.project_folder());
    let brief = call.with_stdin(start.to_string()).run();
    assert!(!brief.stdout.contains("Green suites"), "{brief}");
    let roles = env.run_thru_json(&["role", "list"]).to_string();
    assert!(roles.contains("s1") && !roles.contains("s2"), "{roles}");
}

#[test]
fn a_sub_agent_moves_no_role() {
    let env = env_with_bound_role();
    let agent = json!({"agent_id": "a1", "agent_type": "explorer", "trigger": "auto", "source": "compact"});
    env.fire_event("s1", "PreCompact", agent.clone());
    env.fire_event("s1", "SessionStart", agent);
    assert_eq!(lifecycle_history(&env), [""; 0]);
}

#[test]
fn two_sessions_in_one_role_do_not_cross() {
    let env = env_with_bound_role();
    env.run_thru(&["role", "bind", "tester", "--session", "s1"]).assert_ok();
    env.fire_event("s2", "SessionStart", json!({"source": "startup"}));
    env.run_thru(&["role", "bind", "tester", "--session", "s2"]).assert_ok();
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"}));
    env.fire_event("s2", "PreCompact", json!({"trigger": "auto"}));
    env.fire_event("s2", "UserPromptSubmit", json!({"prompt": "go on"}));
    report_read(&env, "s2", "Read");
    assert_eq!(lifecycle_state(&env), "compacting", "it is the first one's compaction");
    assert!(
        env.fire_event("s2", "SessionStart", json!({"source": "compact"})).stdout.contains("Green suites")
    );
    env.fire_event("s1", "SessionStart", json!({"source": "compact"}));
    assert_eq!(lifecycle_state(&env), "recovering");
    report_read(&env, "s2", "Read");
    let other =
        env.thru_call(&["recover", "tester"]).with_variable("CLAUDE_CODE_SESSION_ID", "s2").run().assert_ok();
    assert!(other.stdout.contains("Lifecycle: unchanged: tester is recovering in session s1"), "{other}");
    assert_eq!(lifecycle_state(&env), "recovering");
    report_read(&env, "s1", "Read");
    assert_eq!(lifecycle_state(&env), "active");
    let sessions: Vec<Value> = env.run_thru_json(&["lifecycle", "status", "tester"])[0]["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["session"].clone())
        .collect();
    assert!(sessions.iter().all(|session| session == "s1"), "{sessions:?}");
}

/// A person can end a session's recovery with `thru recover` at a terminal. The command then prints a message about the
/// session.
#[test]
fn a_recovery_that_is_ended_from_outside_is_told() {
    let env = env_with_bound_role();
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"}));
    env.fire_event("s1", "SessionStart", json!({"source": "compact"}));
    let told = env.run_thru(&["recover", "tester"]).assert_ok();
    assert!(told.stderr.contains("session s1 was recovering this role"), "{told}");
    assert_eq!(env.run_thru(&["recover", "tester"]).assert_ok().stderr, "", "it is over");
}

/// Many processes change one record at the same time. Every step is recorded, and each step begins in the state in
/// which the previous one ended.
#[test]
fn steps_at_once_are_all_on_record() {
    let env = env_with_role();
    env.run_thru(&["lifecycle", "init", "tester"]).assert_ok();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let calls = [0; 5].map(|_| env.thru_call(&["lifecycle", "save", "tester"]));
            scope.spawn(|| calls.map(|call| call.run().assert_ok()));
        }
    });
    let steps = lifecycle_history(&env);
    assert_eq!(steps.len(), 2 + 39 * 3, "the first save takes two steps, each later one three");
    for pair in steps.windows(2) {
        assert_eq!(pair[0].split(" → ").nth(1), pair[1].split(" → ").next());
    }
}

#[test]
fn a_session_takes_its_role_from_the_variable_it_starts_with() {
    let env = env_with_role();
    let start = json!({"session_id": "s1", "cwd": env.project_folder(), "source": "startup"}).to_string();
    env.hook_call("SessionStart", start).with_variable("HIVEMIND_ROLE", "tester").run().context_for_model();
    assert_eq!(
        env.run_thru_json(&["role", "list"]),
        json!([{
            "role": "tester", "file": ".agent/context/agents/tester.context.md", "state": "active", "sessions": ["s1"],
        }])
    );
    let weak =
        env.thru_call(&["lifecycle", "save"]).with_variable("THROUGHLINE_ROLE", "tester").run().assert_ok();
    assert!(weak.stderr.contains("$THROUGHLINE_ROLE, which may be outdated"), "{weak}");
    let sure = env
        .thru_call(&["lifecycle", "save"])
        .with_variable("THROUGHLINE_ROLE", "other")
        .with_variable("CLAUDE_CODE_SESSION_ID", "s1")
        .run()
        .assert_ok();
    assert!(sure.stdout.contains("tester is saved") && sure.stderr.is_empty(), "{sure}");
    let start = json!({"session_id": "s3", "cwd": env.project_folder(), "source": "startup"}).to_string();
    env.hook_call("SessionStart", start)
        .with_variable("HIVEMIND_ROLE", "../x")
        .run()
        .assert_accepted_by_harness("a name that is none");
    assert!(env.read_receipts().pop().unwrap()["error"].as_str().unwrap().contains("HIVEMIND_ROLE"));
}

#[test]
fn pre_compact_never_fails() {
    let env = TestEnv::new();
    assert!(env.run_thru(&["lifecycle", "pre-compact"]).assert_ok().stdout.contains("warning:"));
    let env = env_with_role();
    assert!(
        env.run_thru(&["context", "lifecycle.pre.compact"])
            .assert_ok()
            .stdout
            .contains("cannot tell which role")
    );
    let call = |env: &TestEnv| {
        env.thru_call(&["lifecycle.pre.compact"]).with_variable("HIVEMIND_ROLE", "tester").run().assert_ok()
    };
    assert!(call(&env).stdout.contains("tester is compacting"));
    fs::remove_file(env.base_folder().join(CONTEXT_FILE)).unwrap();
    assert!(call(&env).stdout.contains("has no context file"));
}

#[test]
fn in_an_untrusted_root_no_hook_moves_or_tells_a_role() {
    let env = env_with_bound_role();
    env.run_thru(&["lifecycle", "save", "tester"]).assert_ok();
    env.run_thru(&["trust", "--revoke"]).assert_ok();
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"})).assert_silent("untrusted");
    env.fire_event("s1", "SessionStart", json!({"source": "compact"})).assert_silent("untrusted");
    assert_eq!(lifecycle_state(&env), "saved");
}

#[test]
fn a_role_with_a_secret_in_its_file_is_told_without_it() {
    let env = env_with_bound_role();
    let secret = format!("ghp_{}", "a1B2c3D4e5".repeat(4).get(..36).unwrap());
    fs::write(
        env.base_folder().join(CONTEXT_FILE),
        GOOD_CONTEXT_TEXT.replace("Green suites", &format!("token {secret}")),
    )
    .unwrap();
    let brief = env.fire_event("s1", "SessionStart", json!({"source": "resume"})).stdout;
    assert!(brief.contains("REDACTED") && !brief.contains(&secret), "{brief}");
}

/// An ordinary tool call does not look up the session's role, so it does not notice that the role cannot be read. A
/// call that uses the role's context file does notice.
#[test]
fn an_ordinary_tool_call_looks_at_no_role() {
    let env = env_with_bound_role();
    env.fire_event("s1", "SessionStart", json!({"source": "resume"}));
    fs::remove_dir_all(env.store_folder().join("state/roles")).unwrap();
    env.write_file("project/.agent/context/state/roles", "no folder: whoever looks into it fails\n");
    let input = json!({"file_path": env.project_folder().join("README.md")});
    let receipts = env.read_receipts().len();
    env.fire_event(
        "s1",
        "PostToolUse",
        json!({"tool_name": "Read", "tool_use_id": "x", "tool_input": input}),
    );
    assert_eq!(env.read_receipts().len(), receipts, "a receipt would tell of a failure");
    report_read(&env, "s1", "Read");
    assert_eq!(env.read_receipts().len(), receipts + 1, "and this one looks");
}
