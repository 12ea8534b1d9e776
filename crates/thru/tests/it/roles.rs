//! Roles through the binary: context files are checked and fixed, the lifecycle changes by hand and by hooks, and
//! roles recover.

use std::fs;

use serde_json::{Value, json};

use crate::env::{TestEnv, names_in};

const FILE: &str = "project/.agent/context/agents/tester.context.md";

const GOOD: &str = include_str!("../../../model/src/role/good.context.md");

fn with_role() -> TestEnv {
    let env = TestEnv::rooted();
    env.write("project/README.md", "hello\n");
    env.write(FILE, GOOD);
    env
}

fn bound() -> TestEnv {
    let env = with_role();
    env.fire("s1", "SessionStart", json!({"source": "startup"}));
    env.thru(&["role", "bind", "tester", "--session", "s1"]).ok();
    env
}

fn read(env: &TestEnv, session: &str, tool: &str) {
    let input = json!({"file_path": env.base().join(FILE)});
    let call = json!({"tool_name": tool, "tool_use_id": format!("{session}{tool}"), "tool_input": input});
    env.fire(session, "PostToolUse", call);
}

/// Returns the steps of the lifecycle, such as `saved → compacting`.
fn history(env: &TestEnv) -> Vec<String> {
    let rows = env.json(&["lifecycle", "status", "tester"]);
    let steps = rows[0]["history"].as_array().unwrap().iter();
    steps
        .map(|step| format!("{} → {}", step["from"].as_str().unwrap(), step["to"].as_str().unwrap()))
        .collect()
}

fn state(env: &TestEnv) -> String {
    env.json(&["lifecycle", "status", "tester"])[0]["state"].as_str().unwrap().to_owned()
}

#[test]
fn files_are_checked_in_the_words_of_the_schema() {
    let env = with_role();
    let file = env.base().join(FILE);
    let validate = |text: &str| {
        fs::write(&file, text).unwrap();
        env.thru(&["context", "validate", file.to_str().unwrap()])
    };
    assert_eq!(validate(GOOD).ok().stdout, "PASS: tester.context.md (0 warnings)\n");
    assert_eq!(
        validate(&GOOD.replace("## Current Goal", "## Aim")).ok().stdout,
        "WARN: RECOMMENDED: there is no \"## Current Goal\"\nPASS: tester.context.md (1 warning)\n"
    );
    assert_eq!(
        validate(&GOOD.replace("README.md", "GONE.md").replace('—', "–")).exits(1).stdout,
        "ERROR: TITLE: line 1: there is an en dash (U+2013) after the name; write an em dash — (U+2014)\n\
         WARN: RECOMMENDED: line 22: the key file `GONE.md` is not there\n\
         FAIL: tester.context.md (1 error, 1 warning)\n"
    );
    env.thru(&["context", "validate"]).exits(2);
    let absent = env.thru(&["context", "validate", "nowhere.context.md"]).exits(10);
    assert!(absent.stderr.contains("nowhere.context.md"), "{absent}");
}

/// Each rule has its own message and exit code. Other line ends and a byte order mark change neither of these.
#[test]
fn each_rule_has_its_exit_code() {
    let env = with_role();
    let file = env.base().join(FILE);
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
        let text = GOOD.replacen(&from, &to, 1);
        for text in [text.clone(), format!("\u{feff}{}", text.replace('\n', "\r\n"))] {
            fs::write(&file, text).unwrap();
            let shown = env.thru(&["context", "validate", file.to_str().unwrap()]);
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
    let env = with_role();
    env.write("project/session/agents/old.context.md", "# Old\n");
    env.write("project/session/agents/tester.context.md", "# shadowed\n");
    env.write("project/docs/roles/third.context.md", GOOD);
    env.write("project/.agent/context/config.toml", "[roles]\ndir = \"docs/roles\"\n");
    for words in [&["context", "validate", "--all"][..], &["context", "validate.all"]] {
        let shown = env.thru(words).exits(1).stdout;
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
    let all = env.call(&["context", "validate", "--all", "--json"]).run().exits(1).json();
    assert_eq!(all[0]["findings"][0]["kind"], "TITLE");
    assert_eq!((&all[1]["role"], &all[1]["valid"]), (&json!("tester"), &json!(true)));
    env.write("project/.agent/context/config.toml", "[roles]\ndir = \"../elsewhere\"\n");
    let refused = env.thru(&["context", "validate", "--all"]).exits(15);
    assert!(refused.stderr.contains("roles.dir"), "{refused}");
}

#[test]
fn a_commit_after_the_update_is_warned_of() {
    let env = TestEnv::repository();
    env.thru(&["context", "init"]).ok();
    env.write(FILE, GOOD.replace("2026-11-15T18:00Z", "2020-01-01"));
    let shown = env.thru(&["context", "validate", "--all"]).ok().stdout;
    assert!(shown.contains("line 3: **Updated** is older than the newest commit"), "{shown}");
    assert!(shown.contains("a file older than 24 h is stale"), "{shown}");
}

#[test]
fn a_new_file_is_for_filling_in_and_none_is_overwritten() {
    let env = TestEnv::new();
    env.call(&["context", "new", "oosh-expert"]).var("TMUX_PANE", "%3").run().ok();
    let file = env.store().join("agents/oosh-expert.context.md");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("**Pane**: %3\n"), "{text}");
    let shown = env.thru(&["context", "validate", "--all"]).exits(1).stdout;
    assert!(shown.ends_with("FAIL: oosh-expert.context.md (1 error, 0 warnings)\n"), "{shown}");
    assert!(env.thru(&["context", "new", "oosh-expert"]).ok().stdout.contains("already exists"));
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    env.thru(&["context", "new", "../x"]).exits(2);
}

#[test]
fn the_schema_is_printed_and_holds_for_what_recover_tells() {
    let env = with_role();
    assert!(env.thru(&["context", "schema"]).ok().stdout.contains("## Recovery Steps"));
    let schema = env.json(&["context", "schema"]);
    let told = env.json(&["recover", "tester"]);
    for key in schema["required"].as_array().unwrap() {
        assert!(told["context"].get(key.as_str().unwrap()).is_some(), "{key}");
    }
    assert_eq!(told["context"]["recovery_steps"], json!(["Read this file", "Run the suites"]));
}

#[test]
fn a_fix_shows_its_diff_keeps_a_backup_and_touches_nothing_else() {
    let env = with_role();
    let file = env.base().join(FILE);
    let prose = "\nRole: this line is prose – and stays\r\n```\n## Done\n```\n";
    let bad = GOOD
        .replacen('—', "-", 1)
        .replace("**Role**:", "Role:")
        .replace("## Completed Work", "## Completed This Session");
    fs::write(&file, format!("{bad}{prose}")).unwrap();
    let path = file.to_str().unwrap();
    let shown = env.thru(&["context", "fix", path, "--dry-run"]).ok();
    assert!(
        shown.stdout.contains("-# Test Runner - Session Context\n+# Test Runner — Session Context\n"),
        "{shown}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), format!("{bad}{prose}"), "a dry run");
    let fixed = env.call(&["context", "fix", path, "--json"]).run().ok().json();
    assert_eq!(fs::read_to_string(&file).unwrap(), format!("{GOOD}{prose}"));
    assert_eq!(fixed["lines"], json!([1, 4, 14]));
    let backup = fixed["backup"].as_str().unwrap();
    assert_eq!(fs::read_to_string(backup).unwrap(), format!("{bad}{prose}"));
    let before = env.tree();
    assert!(env.thru(&["context", "fix", path]).ok().stdout.contains("nothing to fix"));
    assert!(env.thru(&["context", "fix", "tester"]).ok().stdout.contains("tester.context.md"), "by its role");
    assert!(env.thru(&["context", "validate", "tester"]).ok().stdout.contains("PASS: tester.context.md"));
    before.assert_same(&env.tree(), "a good file stays, and no backup is made of it");
    fs::write(&file, "prose\n").unwrap();
    env.thru(&["context", "fix", path]).exits(1);
    assert_eq!(fs::read_to_string(&file).unwrap(), "prose\n");
}

#[test]
fn a_save_checks_the_file_and_refuses_what_is_not_in_the_table() {
    let env = with_role();
    for _ in 0..2 {
        env.thru(&["lifecycle", "init", "tester"]).ok();
    }
    assert_eq!(state(&env), "active");
    for words in [&["lifecycle", "save", "tester"][..], &["context", "lifecycle.save", "tester"]] {
        env.thru(words).ok();
        assert_eq!(state(&env), "saved");
    }
    let file = env.base().join(FILE);
    fs::write(&file, "# broken\n").unwrap();
    let failed = env.thru(&["lifecycle", "save", "tester"]).exits(1);
    assert!(failed.stdout.contains("ERROR: MISSING: **Role**"), "{failed}");
    assert_eq!((state(&env).as_str(), fs::read_to_string(&file).unwrap().as_str()), ("active", "# broken\n"));
    fs::write(&file, GOOD).unwrap();
    env.thru(&["context", "lifecycle.pre.compact", "tester"]).ok();
    assert_eq!(state(&env), "compacting");
    let refused = env.thru(&["lifecycle", "save", "tester"]).exits(15);
    assert!(
        refused.stderr.contains("tester is compacting") && refused.stderr.contains("recovering or active"),
        "{refused}"
    );
    let mistyped = env.thru(&["lifecycle", "save", "tster"]).exits(10);
    assert!(mistyped.stderr.contains("`tster` has no lifecycle"), "{mistyped}");
    assert_eq!(env.json(&["lifecycle", "status"]).as_array().unwrap().len(), 1, "nothing was begun for it");
    env.thru(&["lifecycle", "save", "tester", "--force"]).ok();
    let forced = &env.json(&["lifecycle", "status", "tester"])[0]["history"];
    let forced: Vec<&Value> =
        forced.as_array().unwrap().iter().filter(|step| step["forced"] == true).collect();
    assert_eq!(forced.len(), 1, "{forced:?}");
    assert_eq!(
        (&forced[0]["from"], &forced[0]["to"], &forced[0]["by"]),
        (&json!("compacting"), &json!("saving"), &json!("cli"))
    );
    env.thru(&["lifecycle", "recover", "tester"]).ok();
    assert_eq!(state(&env), "active");
    let shown = env.thru(&["lifecycle", "status"]).ok().stdout;
    assert!(
        shown.contains("tester  active      just now       82 min ago") || shown.contains("1 h ago"),
        "{shown}"
    );
}

#[test]
fn two_roles_with_one_machine_name_are_refused() {
    let env = TestEnv::rooted();
    env.thru(&["lifecycle", "init", "a-b"]).ok();
    let refused = env.thru(&["lifecycle", "init", "a.b"]).exits(15);
    assert!(refused.stderr.contains("`a-b`"), "{refused}");
    assert_eq!(names_in(&env.store().join("state/lifecycle")), ["a_b.json"]);
    env.thru(&["lifecycle", "recover", "nobody"]).exits(10);
    env.thru(&["lifecycle", "status", "nobody"]).exits(10);
    assert!(env.thru(&["lifecycle", "init", "x/y"]).exits(2).stderr.contains("cannot be an id"));
}

#[test]
fn hooks_drive_a_role_through_a_compaction() {
    let env = bound();
    env.thru(&["lifecycle", "save", "tester"]).ok();
    env.fire("s1", "PreCompact", json!({"trigger": "auto"}));
    assert_eq!(state(&env), "compacting");
    let brief = env.fire("s1", "SessionStart", json!({"source": "compact"})).stdout;
    assert_eq!(state(&env), "recovering");
    for part in [
        "Green suites",
        "1. “Read this file”; 2. “Run the suites”",
        "agents/tester.context.md",
        "the flaky one",
    ] {
        assert!(brief.contains(part), "{part}: {brief}");
    }
    read(&env, "s1", "Read");
    assert_eq!(
        history(&env),
        [
            "active → saving",
            "saving → saved",
            "saved → compacting",
            "compacting → recovering",
            "recovering → active"
        ]
    );
    env.thru(&["lifecycle", "save", "tester"]).ok();
    read(&env, "s1", "Edit");
    assert_eq!(state(&env), "active", "edited again");
    let failed = env.receipts().into_iter().filter(|receipt| receipt["outcome"] == "failed").count();
    assert_eq!(failed, 0);
}

#[test]
fn a_command_that_reads_the_file_counts_as_reading_it() {
    let env = bound();
    env.fire("s1", "SessionStart", json!({"source": "resume"}));
    assert_eq!(state(&env), "recovering");
    let cat = json!({"command": "cat .agent/context/agents/tester.context.md"});
    env.fire("s1", "PostToolUse", json!({"tool_name": "Bash", "tool_use_id": "t", "tool_input": cat}));
    assert_eq!(state(&env), "active");
}

#[test]
fn a_compaction_that_never_came_ends_with_the_next_prompt() {
    let env = bound();
    env.fire("s1", "PreCompact", json!({"trigger": "manual"}));
    env.fire("s1", "UserPromptSubmit", json!({"prompt": "go on"}));
    assert_eq!(history(&env).last().unwrap(), "compacting → active");
}

#[test]
fn one_file_that_is_not_there_does_not_silence_the_others() {
    let env = bound();
    let found = env
        .thru(&["context", "validate", ".agent/context/agents/tester.context.md", "nofile.context.md"])
        .exits(10);
    assert!(found.stdout.contains("PASS: tester.context.md"), "{found}");
    assert!(found.stderr.contains("nofile.context.md"), "{found}");
}

#[test]
fn or_with_the_next_tool_call() {
    let env = bound();
    env.fire("s1", "PreCompact", json!({"trigger": "manual"}));
    let call = |agent: Value| {
        let mut payload =
            json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "true"}});
        payload.as_object_mut().unwrap().extend(agent.as_object().unwrap().clone());
        env.fire("s1", "PostToolUse", payload);
        state(&env)
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
    let env = bound();
    env.fire("s1", "PreCompact", json!({"trigger": "auto"}));
    env.call(&["lifecycle", "recover", "tester"]).var("CLAUDE_CODE_SESSION_ID", "s4").run().ok();
    assert_eq!(state(&env), "active");
    env.thru(&["lifecycle", "init", "other"]).ok();
    env.write("project/.agent/context/state/lifecycle/tester.json", "{");
    let table = env.thru(&["lifecycle", "status"]).exits(1);
    assert!(table.stdout.contains("other") && table.stdout.contains("damaged"), "{table}");
    env.thru(&["lifecycle", "recover", "tester"]).ok();
    assert_eq!(state(&env), "active");
    let kept = names_in(&env.store().join("state/lifecycle"));
    assert!(kept.iter().any(|name| name.starts_with("tester.json.damaged-")), "{kept:?}");
    fs::remove_file(env.store().join("state/lifecycle/tester.json")).unwrap();
    env.fire("s1", "PreCompact", json!({"trigger": "auto"}));
    assert_eq!(state(&env), "compacting", "a bound session's role is tracked again");
}

#[test]
fn an_invalid_file_stops_nothing_and_is_told() {
    let env = bound();
    fs::write(env.base().join(FILE), GOOD.replace("**Pane**", "Pane")).unwrap();
    env.fire("s1", "PreCompact", json!({"trigger": "auto"}));
    assert_eq!(state(&env), "active", "unchanged");
    let receipt = env.receipts().pop().unwrap();
    assert_eq!((&receipt["event"], &receipt["outcome"]), (&json!("before-compact"), &json!("ok")));
    let wrong = "ERROR: FORMAT: line 5: **Pane** is spelled differently";
    assert!(receipt["warning"].as_str().unwrap().contains(wrong), "{receipt}");
    let brief = env.fire("s1", "SessionStart", json!({"source": "compact"})).stdout;
    assert!(brief.contains(wrong) && brief.contains("Green suites"), "{brief}");
    assert!(env.thru(&["doctor"]).stdout.contains("a context file with 1 error"));
}

/// Droid gives a session a new id at every compaction, but it is the same agent with the same role.
#[test]
fn a_session_that_goes_on_under_another_id_keeps_its_role() {
    let env = bound();
    let fire = |event: &str, payload: Value| {
        env.call(&["hook", "droid", event])
            .var("FACTORY_PROJECT_DIR", env.project())
            .stdin(payload.to_string())
            .run()
    };
    let cwd = env.project();
    fire("PreCompact", json!({"session_id": "s1", "cwd": cwd, "trigger": "manual"})).silent("no guidance");
    let start = json!({"session_id": "s2", "previous_session_id": "s1", "cwd": cwd, "source": "compact"});
    assert!(fire("SessionStart", start).stdout.contains("Green suites"));
    assert_eq!(state(&env), "recovering");
    read(&env, "s2", "Read");
    assert_eq!(state(&env), "active");
}

#[test]
fn a_mistyped_role_is_noticed_and_a_binding_can_be_undone() {
    let env = bound();
    let bind = |role: &str| env.call(&["role", "bind", role, "--session", "s1"]).run().ok();
    let output = bind("testr");
    assert!(output.stderr.contains("testr has no context file yet; did you mean tester?"), "{output}");
    assert!(output.stdout.contains("Next: `thru context new testr` creates"), "{output}");
    let output = bind("scribe");
    assert!(output.stderr.contains("scribe has no context file yet\n"), "{output}");
    let unbind =
        |words: &[&str]| env.call(&[&["role", "unbind", "--session", "s1"], words].concat()).run().ok();
    assert!(unbind(&[]).stdout.contains("Session s1 is no longer scribe"));
    let again = unbind(&["--json"]).json();
    assert_eq!((&again["session"], again.get("role")), (&json!("s1"), None), "{again}");
    assert!(!env.json(&["role", "list"]).to_string().contains("s1"));
    env.fire("s1", "PreCompact", json!({"trigger": "auto"}));
    assert_eq!(history(&env), [""; 0], "no role is moved");
    let told = env.call(&["role", "unbind", "--session", "s1"]).var("THROUGHLINE_ROLE", "tester").run().ok();
    assert!(told.stderr.contains("$THROUGHLINE_ROLE is set"), "{told}");
}

#[test]
fn a_fork_takes_no_role_along() {
    let env = bound();
    let start =
        json!({"session_id": "s2", "previous_session_id": "s1", "cwd": env.project(), "source": "fork"});
    let call = env.call(&["hook", "droid", "SessionStart"]).var("FACTORY_PROJECT_DIR", env.project());
    let brief = call.stdin(start.to_string()).run();
    assert!(!brief.stdout.contains("Green suites"), "{brief}");
    let roles = env.json(&["role", "list"]).to_string();
    assert!(roles.contains("s1") && !roles.contains("s2"), "{roles}");
}

#[test]
fn a_sub_agent_moves_no_role() {
    let env = bound();
    let agent = json!({"agent_id": "a1", "agent_type": "explorer", "trigger": "auto", "source": "compact"});
    env.fire("s1", "PreCompact", agent.clone());
    env.fire("s1", "SessionStart", agent);
    assert_eq!(history(&env), [""; 0]);
}

#[test]
fn two_sessions_in_one_role_do_not_cross() {
    let env = bound();
    env.thru(&["role", "bind", "tester", "--session", "s1"]).ok();
    env.fire("s2", "SessionStart", json!({"source": "startup"}));
    env.thru(&["role", "bind", "tester", "--session", "s2"]).ok();
    env.fire("s1", "PreCompact", json!({"trigger": "auto"}));
    env.fire("s2", "PreCompact", json!({"trigger": "auto"}));
    env.fire("s2", "UserPromptSubmit", json!({"prompt": "go on"}));
    read(&env, "s2", "Read");
    assert_eq!(state(&env), "compacting", "it is the first one's compaction");
    assert!(env.fire("s2", "SessionStart", json!({"source": "compact"})).stdout.contains("Green suites"));
    env.fire("s1", "SessionStart", json!({"source": "compact"}));
    assert_eq!(state(&env), "recovering");
    read(&env, "s2", "Read");
    let other = env.call(&["recover", "tester"]).var("CLAUDE_CODE_SESSION_ID", "s2").run().ok();
    assert!(other.stdout.contains("Lifecycle: unchanged: tester is recovering in session s1"), "{other}");
    assert_eq!(state(&env), "recovering");
    read(&env, "s1", "Read");
    assert_eq!(state(&env), "active");
    let sessions: Vec<Value> = env.json(&["lifecycle", "status", "tester"])[0]["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["session"].clone())
        .collect();
    assert!(sessions.iter().all(|session| session == "s1"), "{sessions:?}");
}

/// Many processes change one record at once: every step is recorded, and each step begins in the state in which the
/// previous one ended.
#[test]
fn steps_at_once_are_all_on_record() {
    let env = with_role();
    env.thru(&["lifecycle", "init", "tester"]).ok();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let calls = [0; 5].map(|_| env.call(&["lifecycle", "save", "tester"]));
            scope.spawn(|| calls.map(|call| call.run().ok()));
        }
    });
    let steps = history(&env);
    assert_eq!(steps.len(), 2 + 39 * 3, "the first save takes two steps, each later one three");
    for pair in steps.windows(2) {
        assert_eq!(pair[0].split(" → ").nth(1), pair[1].split(" → ").next());
    }
}

#[test]
fn a_session_takes_its_role_from_the_variable_it_starts_with() {
    let env = with_role();
    let start = json!({"session_id": "s1", "cwd": env.project(), "source": "startup"}).to_string();
    env.hook_call("SessionStart", start).var("HIVEMIND_ROLE", "tester").run().context();
    assert_eq!(
        env.json(&["role", "list"]),
        json!([{
            "role": "tester", "file": ".agent/context/agents/tester.context.md", "state": "active", "sessions": ["s1"],
        }])
    );
    let weak = env.call(&["lifecycle", "save"]).var("THROUGHLINE_ROLE", "tester").run().ok();
    assert!(weak.stderr.contains("$THROUGHLINE_ROLE, which may be outdated"), "{weak}");
    let sure = env
        .call(&["lifecycle", "save"])
        .var("THROUGHLINE_ROLE", "other")
        .var("CLAUDE_CODE_SESSION_ID", "s1")
        .run()
        .ok();
    assert!(sure.stdout.contains("tester is saved") && sure.stderr.is_empty(), "{sure}");
    let start = json!({"session_id": "s3", "cwd": env.project(), "source": "startup"}).to_string();
    env.hook_call("SessionStart", start).var("HIVEMIND_ROLE", "../x").run().accepted("a name that is none");
    assert!(env.receipts().pop().unwrap()["error"].as_str().unwrap().contains("HIVEMIND_ROLE"));
}

#[test]
fn pre_compact_never_fails() {
    let env = TestEnv::new();
    assert!(env.thru(&["lifecycle", "pre-compact"]).ok().stdout.contains("warning:"));
    let env = with_role();
    assert!(env.thru(&["context", "lifecycle.pre.compact"]).ok().stdout.contains("no role is known"));
    let call = |env: &TestEnv| env.call(&["lifecycle.pre.compact"]).var("HIVEMIND_ROLE", "tester").run().ok();
    assert!(call(&env).stdout.contains("tester is compacting"));
    fs::remove_file(env.base().join(FILE)).unwrap();
    assert!(call(&env).stdout.contains("has no context file"));
}

#[test]
fn recovery_is_the_same_bytes_for_the_same_state() {
    let env = with_role();
    env.write("project/.claude/agents/tester/SKILL.md", "skill\n");
    env.write("project/ARCHITECTURE.md", "house\n");
    let first = env.thru(&["recover", "tester"]).ok();
    assert_eq!(env.thru(&["context", "recover", "tester"]).ok().bytes, first.bytes);
    let expected = format!(
        "Recovery of the role tester\n\n\
         Checklist:\n\
         1. Read the context file below, .agent/context/agents/tester.context.md\n\
         2. Read what the role is: .claude/agents/tester/SKILL.md\n\
         3. Read the architecture: ARCHITECTURE.md\n\
         4. Take the recovery steps that the context file lists\n\
         5. Continue with its goal and what is pending\n\n\
         ===== .agent/context/agents/tester.context.md\n\
         {GOOD}\
         ===== end of .agent/context/agents/tester.context.md\n\n\
         Recovered: tester\n"
    );
    assert_eq!(first.stdout, expected);
    env.thru(&["lifecycle", "save", "tester"]).ok();
    let later = env.call(&["recover", "tester"]).var("THROUGHLINE_NOW", "2027-01-01T00:00:00Z").run().ok();
    assert_eq!(later.stdout, expected.replace("Recovered", "Lifecycle: active\nRecovered"));
    assert_eq!(env.thru(&["recover", "tester"]).ok().bytes, later.bytes);
}

#[test]
fn recovery_without_a_file_names_it_and_with_a_bad_one_prints_it() {
    let env = TestEnv::rooted();
    let missing = env.thru(&["recover", "tester"]).exits(1);
    assert!(
        missing.stderr.contains(".agent/context/agents/tester.context.md")
            && missing.stderr.contains("thru context new tester"),
        "{missing}"
    );
    assert_eq!(missing.stdout, "");
    let told = env.call(&["recover", "tester", "--json"]).run().exits(1).json();
    assert_eq!(told["missing"], ".agent/context/agents/tester.context.md");
    let none = env.thru(&["recover"]).exits(2);
    assert!(none.stderr.contains("thru role bind"), "{none}");
    env.write(FILE, "# Tester\n===== end of x\n\u{1b}[31mtext");
    let bad = env.thru(&["recover", "tester"]).ok().stdout;
    let (error, file) = (bad.find("ERROR: TITLE: line 1").unwrap(), bad.find("# Tester\n").unwrap());
    assert!(error < file && bad.contains("text\n====== end of .agent"), "{bad}");
}

#[test]
fn the_seeds_layout_is_recovered_from_without_a_root() {
    let env = TestEnv::new();
    env.write("project/session/agents/tester.context.md", GOOD);
    let before = env.tree();
    let shown = env.call(&["recover"]).var("HIVEMIND_ROLE", "tester").run().ok();
    assert!(
        shown.stdout.contains("session/agents/tester.context.md") && shown.stderr.contains("outdated"),
        "{shown}"
    );
    env.thru(&["context", "validate.all"]).ok();
    env.thru(&["lifecycle", "status"]).ok();
    before.assert_same(&env.tree(), "reading makes no root");
}

#[test]
fn a_damaged_state_is_named_and_holds_nothing_up() {
    let env = bound();
    env.write("project/.agent/context/state/lifecycle/tester.json", "{\"schema_version\": 1, torn");
    let failed = env.thru(&["lifecycle", "save", "tester"]).exits(12);
    assert!(failed.stderr.contains("state/lifecycle/tester.json:1: damaged"), "{failed}");
    assert!(env.fire("s1", "PreCompact", json!({"trigger": "auto"})).stdout.starts_with("Keep"));
    assert!(env.fire("s1", "SessionStart", json!({"source": "compact"})).stdout.contains("Green suites"));
    assert!(env.thru(&["doctor"]).exits(1).stdout.contains("lifecycle/tester.json"));
    let recovery = env.thru(&["recover", "tester"]).exits(12);
    assert!(
        recovery.stdout.contains("Green suites") && recovery.stderr.contains("tester.json"),
        "{recovery}"
    );
    env.call(&["recover", "tester", "--json"]).run().exits(12).json();
    env.thru(&["role", "list"]).ok();
    let advice = |env: &TestEnv| env.thru(&["lifecycle", "status"]).exits(1).stdout;
    assert!(advice(&env).contains("`thru lifecycle recover tester` starts a new one"), "{}", advice(&env));
    // The file's name does not show whether the role is oosh_expert or oosh-expert.
    env.write("project/.agent/context/state/lifecycle/oosh_expert.json", "{torn");
    assert!(!advice(&env).contains("recover oosh"), "{}", advice(&env));
    env.write("project/.agent/context/state/lifecycle/tester.json", "{\"schema_version\": 99}");
    assert!(!advice(&env).contains("recover tester"), "of a newer version: {}", advice(&env));
    env.thru(&["lifecycle", "save", "tester"]).exits(13);
}

#[test]
fn in_an_untrusted_root_no_hook_moves_or_tells_a_role() {
    let env = bound();
    env.thru(&["lifecycle", "save", "tester"]).ok();
    env.thru(&["trust", "--revoke"]).ok();
    env.fire("s1", "PreCompact", json!({"trigger": "auto"})).silent("untrusted");
    env.fire("s1", "SessionStart", json!({"source": "compact"})).silent("untrusted");
    assert_eq!(state(&env), "saved");
}

#[test]
fn a_role_with_a_secret_in_its_file_is_told_without_it() {
    let env = bound();
    let secret = format!("ghp_{}", "a1B2c3D4e5".repeat(4).get(..36).unwrap());
    fs::write(env.base().join(FILE), GOOD.replace("Green suites", &format!("token {secret}"))).unwrap();
    let brief = env.fire("s1", "SessionStart", json!({"source": "resume"})).stdout;
    assert!(brief.contains("REDACTED") && !brief.contains(&secret), "{brief}");
}

/// A tool call is one write, even in a session with a role, unless it uses the role's own file.
#[test]
fn an_ordinary_tool_call_looks_at_no_role() {
    let env = bound();
    env.fire("s1", "SessionStart", json!({"source": "resume"}));
    fs::remove_dir_all(env.store().join("state/roles")).unwrap();
    env.write("project/.agent/context/state/roles", "no folder: whoever looks into it fails\n");
    let input = json!({"file_path": env.project().join("README.md")});
    let receipts = env.receipts().len();
    env.fire("s1", "PostToolUse", json!({"tool_name": "Read", "tool_use_id": "x", "tool_input": input}));
    assert_eq!(env.receipts().len(), receipts, "a receipt would tell of a failure");
    read(&env, "s1", "Read");
    assert_eq!(env.receipts().len(), receipts + 1, "and this one looks");
}
