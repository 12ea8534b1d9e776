//! Tests what a session is told at its start: open stages, packets on offer, loops, roles and moved folders.

use super::*;

fn ask(env: &TestEnv, session: &str, prompt: &str) {
    env.fire_event(session, "UserPromptSubmit", json!({"prompt": prompt}));
}

pub(super) fn run_command(env: &TestEnv, session: &str, id: &str, command: &str, output: &str) {
    let response = json!({"stdout": output, "stderr": "", "interrupted": false});
    let input = json!({"command": command});
    let call =
        json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": input, "tool_response": response});
    env.fire_event(session, "PostToolUse", call);
}

pub(super) fn brief_after_compaction(env: &TestEnv, session: &str) -> String {
    env.fire_event(session, "PreCompact", json!({"trigger": "manual"}));
    env.fire_event(session, "SessionStart", json!({"source": "compact"})).context_for_model()
}

const OPEN_OUTPUTS: &str = "Sub-agent outputs that are still open";

#[test]
fn an_open_stage_is_told_only_to_the_session_that_works_on_it() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    let tree = add_worktree(&env);
    start_session(&env, "s1");
    ask(&env, "s1", "Review the plan");
    let expect = ["gate", "expect", "review", "--critical", "review-security.md"];
    let made = env.thru_call(&expect).with_variable("CLAUDE_CODE_SESSION_ID", "s1").run().assert_ok();
    assert!(made.stderr.contains("session s1 is told which outputs are missing"), "{made}");
    // Two unrelated sessions start, one of them in another worktree.
    start_session(&env, "s2");
    ask(&env, "s2", "Add a changelog");
    let elsewhere = json!({"source": "startup", "cwd": tree});
    env.fire_event("s3", "SessionStart", elsewhere);
    ask(&env, "s3", "Write the docs");
    for other in ["s2", "s3"] {
        let brief = brief_after_compaction(&env, other);
        assert!(!brief.contains(OPEN_OUTPUTS) && !brief.contains("review-security.md"), "{other}: {brief}");
    }
    assert!(brief_after_compaction(&env, "s1").contains(OPEN_OUTPUTS), "it began the stage");
    // From now on, a sub-agent of s2 writes the file.
    let stop = json!({"agent_id": "a1", "agent_type": "security", "last_assistant_message": "Done."});
    env.fire_event("s2", "SubagentStop", stop);
    assert!(brief_after_compaction(&env, "s2").contains(OPEN_OUTPUTS), "its agents do the work");
    let prompt = ["gate", "prompt", "review-security.md"];
    env.thru_call(&prompt).with_variable("CLAUDE_CODE_SESSION_ID", "s3").run().assert_ok();
    assert!(
        brief_after_compaction(&env, "s3").contains(OPEN_OUTPUTS),
        "it asked for the words of a sub-agent"
    );
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(status.contains("1 of 1 open (stage review"), "{status}");
    env.run_thru(&["gate", "live", "--clear"]).assert_ok();
    assert!(!brief_after_compaction(&env, "s1").contains(OPEN_OUTPUTS), "the stage was given up");
}

/// A command at a terminal has no session of its own, so the stage belongs to the session that is working in this
/// checkout.
#[test]
fn a_stage_that_is_begun_at_a_terminal_belongs_to_the_session_at_work_here() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    ask(&env, "s1", "Long ago");
    end_session(&env, "s1");
    start_session(&env, "s2");
    ask(&env, "s2", "Review the plan");
    let expect = ["gate", "expect", "review", "--critical", "review-security.md"];
    assert_eq!(env.run_thru_json(&expect)["session"], "s2");
    assert!(brief_after_compaction(&env, "s2").contains(OPEN_OUTPUTS));
    end_session(&env, "s2");
    let next = env.fire_event("s3", "SessionStart", json!({"source": "startup"})).context_for_model();
    assert!(next.contains(OPEN_OUTPUTS), "the next session continues this work: {next}");
}

#[test]
fn an_open_stage_does_not_hide_a_packet_on_offer() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    write_packet(&env);
    env.run_thru(&["gate", "expect", "review", "--critical", "review-security.md"]).assert_ok();
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(status.contains("1 of 1 open") && status.contains("Next: `thru pickup"), "{status}");
}

#[test]
fn a_run_without_tests_is_not_called_passed() {
    let rows = [
        ("python3 -m unittest", "\n----\nRan 0 tests in 0.000s\n\nOK\n"),
        ("go test ./...", "?   \texample.com/a\t[no test files]\n"),
        ("cargo test", "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured\n"),
        ("npx mocha", "\n  0 passing (1ms)\n"),
        ("npx jest --passWithNoTests", "No tests found, exiting with code 0\n"),
    ];
    for (command, output) in rows {
        let env = TestEnv::with_root();
        start_session(&env, "s1");
        ask(&env, "s1", "Add class Coupon");
        run_command(&env, "s1", "b1", command, output);
        let brief = env.run_thru(&["brief"]).assert_ok().stdout;
        assert!(brief.contains(&format!("`{command}` → ran no tests")), "{brief}");
        assert!(!brief.contains("passed"), "{brief}");
        assert_ne!(env.read_journal("s1").last().unwrap()["ended"], "passed", "{command}");
        run_command(&env, "s1", "b2", "python3 -m unittest", "Ran 3 tests in 0.000s\n\nOK\n");
        let brief = env.run_thru(&["brief"]).assert_ok().stdout;
        assert!(brief.contains("`python3 -m unittest` → passed\n"), "{brief}");
    }
}

#[test]
fn the_agent_is_told_the_next_step_and_no_action_that_nobody_knows() {
    let env = TestEnv::with_root();
    let folder = "project/.agent/context/workstreams/24-coupons";
    env.write_file(format!("{folder}/steps.md"), "- [x] write the class\n- [ ] check the codes\n");
    let new = ["resume", "new", "24-coupons", "--phase", "execution"];
    env.run_thru(&new).assert_ok();
    start_session(&env, "s1");
    ask(&env, "s1", "Go on");
    env.run_thru(&["resume", "use", "24", "--session", "s1"]).assert_ok();
    let brief = brief_after_compaction(&env, "s1");
    assert!(brief.contains("next step “check the codes”") && !brief.contains("next action"), "{brief}");
    let shown = env.run_thru(&["resume", "show", "24"]).assert_ok().stdout;
    assert!(shown.contains("next step   check the codes") && !shown.contains("next-open-step"), "{shown}");
    let path = env.base_folder().join(format!("{folder}/resume-context.md"));
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        text.contains("next_action: \"next-open-step\"  # no skill or command: the first unticked checkbox"),
        "{text}"
    );
    env.run_thru(&["resume", "validate", "--all"]).assert_ok();
    // A manifest can name a skill. In manifests of earlier versions, `continue-next-step` means that there is none.
    fs::write(&path, text.replace("\"next-open-step\"", "continue-next-step")).unwrap();
    assert!(!brief_after_compaction(&env, "s1").contains("continue-next-step"));
    fs::write(&path, text.replace("\"next-open-step\"", "execute-project")).unwrap();
    let brief = brief_after_compaction(&env, "s1");
    assert!(brief.contains("continued with `execute-project`"), "{brief}");
    let shown = env.run_thru(&["resume", "show", "24"]).assert_ok().stdout;
    assert!(shown.contains("next action  execute-project"), "{shown}");
}

/// The user types only “Start on the loop”, so the session's goal is the prompt of the loop.
#[test]
fn the_goal_of_a_session_with_a_loop_is_the_prompt_of_the_loop() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    let prompt = "Write a usage section into README.md";
    env.run_thru(&["loop", "start", prompt, "--promise", "DONE", "--session", "s1"]).assert_ok();
    ask(&env, "s1", "Start on the loop");
    run_command(&env, "s1", "b1", "touch README.md", "");
    env.fire_event("s1", "Stop", json!({"last_assistant_message": "<promise>DONE</promise>"}));
    assert!(env.run_thru(&["loop", "list"]).assert_ok().stdout.contains("done"));
    end_session(&env, "s1");
    let next = env.fire_event("s2", "SessionStart", json!({"source": "startup"})).context_for_model();
    assert!(next.contains("has ended: the agent gave its promise"), "{next}");
    assert!(next.contains(&format!("Its prompt was the goal: “{prompt}”")), "{next}");
    // Later, the user asks for something else.
    let start = env.event_payload("s1", "SessionStart", json!({"source": "resume"})).to_string();
    let ask = env.event_payload("s1", "UserPromptSubmit", json!({"prompt": "Now the license"})).to_string();
    for (event, payload) in [("SessionStart", start), ("UserPromptSubmit", ask)] {
        env.hook_call(event, payload).with_variable("THROUGHLINE_NOW", "2026-11-15T19:30:00Z").run();
    }
    let shown = env.run_thru(&["brief", "--session", "s1"]).assert_ok().stdout;
    assert!(shown.contains("Now the license") && !shown.contains("was the goal"), "{shown}");
}

#[test]
fn a_packet_of_another_worktree_says_so() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    let tree = add_worktree(&env);
    let start = json!({"source": "startup", "cwd": tree});
    env.fire_event("s1", "SessionStart", start);
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Write the docs", "cwd": tree}));
    fs::write(tree.join("guide.md"), "x\n").unwrap();
    let input = json!({"file_path": tree.join("guide.md")});
    let call = json!({"tool_name": "Write", "tool_use_id": "t1", "tool_input": input, "cwd": tree});
    env.fire_event("s1", "PostToolUse", call);
    let made = env.thru_call(&["handoff", "finish the docs", "--session", "s1"]).in_folder(&tree).run();
    made.assert_ok();
    let there = env.thru_call(&["pickup"]).in_folder(&tree).run().assert_ok().stdout;
    assert!(!there.contains("not this checkout"), "{there}");
    let here = env.run_thru(&["pickup"]).assert_ok().stdout;
    let about = format!("It describes the worktree {}, not this checkout.", tree.display());
    assert!(here.contains(&about), "{here}");
    assert!(here.contains(&format!("To continue there: `cd {}`.", tree.display())), "{here}");
    assert!(here.contains("What follows was compared with that worktree."), "{here}");
    assert!(here.contains("Drift: none found") && here.contains("`guide.md`"), "{here}");
    assert!(!here.contains("guide.md`: gone"), "{here}");
    env.run_git(&["worktree", "remove", "--force", tree.to_str().unwrap()]);
    let gone = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(
        gone.contains(&format!("the worktree {}, which has since been removed, not", tree.display())),
        "{gone}"
    );
}

#[test]
fn a_role_whose_session_has_ended_is_shown_so() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    env.run_thru(&["context", "new", "tester"]).assert_ok();
    env.run_thru(&["role", "bind", "tester", "--session", "s1"]).assert_ok();
    let shown = |words: &[&str]| env.run_thru(words).assert_ok().stdout;
    let (roles, states) = (["role", "list"], ["lifecycle", "status"]);
    assert!(shown(&roles).contains("s1") && !shown(&roles).contains("ended"), "{}", shown(&roles));
    end_session(&env, "s1");
    assert!(shown(&roles).contains("s1 (ended)"), "{}", shown(&roles));
    assert!(shown(&states).lines().any(|line| line.ends_with("ended")), "{}", shown(&states));
    assert_eq!(env.run_thru_json(&roles)[0]["ended_sessions"], json!(["s1"]));
}

#[test]
fn init_says_what_to_do_about_settings_that_are_in_git() {
    let env = repository_with_claude_code();
    env.write_file("project/.claude/settings.local.json", "{}\n");
    env.run_git(&["add", "-f", "."]);
    env.run_git(&["commit", "--quiet", "--message", "settings"]);
    let made = env.run_thru(&["init"]).assert_exit_code(15);
    let own = env.home_folder().join(".claude/settings.json");
    let user =
        format!("`thru install claude-code --user` uses your settings for all projects ({})", own.display());
    let shared =
        "/.claude/settings.json); or make git stop tracking the file, then run `thru install claude-code`";
    let refused = env.run_thru(&["install", "claude-code"]).assert_exit_code(15).stderr;
    let doctor = env.run_thru(&["doctor"]);
    for text in [refused, doctor.stdout + &doctor.stderr] {
        assert!(text.contains(&user) && text.contains(shared), "{text}");
        assert!(!text.contains("`thru install claude-code` wires it") && !text.contains("anyway"), "{text}");
    }
    // Follow the advice in the message, and check that it works.
    env.run_thru(&["install", "claude-code", "--project"]).assert_ok();
    assert!(env.project_folder().join(".claude/settings.json").exists());
    env.run_thru(&["uninstall", "claude-code", "--project"]).assert_ok();
    env.run_git(&["rm", "--quiet", "--cached", ".claude/settings.local.json"]);
    env.run_thru(&["install", "claude-code"]).assert_ok();
    assert!(!made.stdout.contains("sets the hooks"), "that command would be refused: {made}");
}

#[test]
fn a_loop_that_was_started_before_a_move_is_not_called_foreign() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    env.run_thru(&["loop", "start", "Go on", "--promise", "DONE", "--session", "s1"]).assert_ok();
    let moved = env.base_folder().join("moved");
    fs::rename(env.project_folder(), &moved).unwrap();
    let run = |words: &[&str]| env.thru_call(words).in_folder(&moved).run();
    let status = run(&["status"]).assert_ok().stdout;
    assert!(!status.contains("not started here") && status.contains("run `thru trust --moved`"), "{status}");
    let doctor = run(&["doctor"]);
    assert!(!doctor.stdout.contains("loop adopt") && !doctor.stderr.contains("loop adopt"), "{doctor}");
    run(&["trust", "--moved"]).assert_ok();
    assert!(!run(&["status"]).assert_ok().stdout.contains("trust --moved"));
}

/// After a crash, most people only type “continue”. What they want to continue is known only from the brief that the
/// session received.
#[test]
fn a_session_that_only_continues_is_told_what_it_continues() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    ask(&env, "s1", "Add search(items, tag) to notes/store.py");
    run_command(&env, "s1", "b1", "touch notes/store.py", "");
    env.fire_event("s1", "Stop", json!({"last_assistant_message": "search is there. The test is missing."}));
    end_session(&env, "s1");
    let expected = "Earlier work being continued:\n- in session s1 the user asked “Add search(items, tag) to notes/store.py”";
    for session in ["s2", "s3"] {
        start_session(&env, session);
        ask(&env, session, "continue");
        run_command(&env, session, &format!("c-{session}"), "touch notes/test.py", "");
        let brief = brief_after_compaction(&env, session);
        assert!(brief.contains(expected) && brief.contains("The test is missing."), "{session}: {brief}");
        end_session(&env, session);
    }
    start_session(&env, "s4");
    let next = env.run_thru(&["brief", "--as-sent", "--session", "s4"]).assert_ok().stdout;
    assert!(next.contains(expected), "{next}");
    ask(&env, "s4", "Write a changelog in CHANGELOG.md and keep it short");
    let brief = brief_after_compaction(&env, "s4");
    assert!(!brief.contains("Earlier work being continued"), "it has a task of its own: {brief}");
}

#[test]
fn uncommitted_work_is_still_at_risk_after_a_move() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    start_session(&env, "s1");
    ask(&env, "s1", "Add class Coupon to shop.py");
    env.write_file("project/shop.py", "class Coupon: pass\n");
    let input = json!({"file_path": env.project_folder().join("shop.py")});
    let edit = json!({"tool_name": "Write", "tool_use_id": "w1", "tool_input": input});
    env.fire_event("s1", "PostToolUse", edit);
    end_session(&env, "s1");
    let moved = env.base_folder().join("moved");
    fs::rename(env.project_folder(), &moved).unwrap();
    env.thru_call(&["trust", "--moved"]).in_folder(&moved).run().assert_ok();
    let told = env.thru_call(&["brief", "--event", "startup"]).in_folder(&moved).run().assert_ok().stdout;
    assert!(told.contains("1 file edited by that session, not committed"), "{told}");
    assert!(told.contains("edited shop.py") && !told.contains("gone"), "{told}");
}

#[test]
fn init_says_that_a_settings_file_of_yours_would_be_committed_with_hooks() {
    let warns = |before: &str, ignored: &str| {
        let env = repository_with_claude_code();
        if !before.is_empty() {
            env.write_file("project/.claude/settings.local.json", before);
        }
        env.write_file("project/.gitignore", ignored);
        env.run_thru(&["init"]).assert_ok().stderr.contains("git does not ignore this file")
    };
    assert!(warns("{}\n", ""));
    assert!(!warns("", ""), "ours is excluded");
    assert!(!warns("{}\n", ".claude/settings.local.json\n"), "it is ignored");
}

#[test]
fn the_prompt_of_a_cancelled_loop_is_no_goal() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    env.run_thru(&["loop", "start", "Rewrite everything", "--promise", "DONE", "--session", "s1"])
        .assert_ok();
    ask(&env, "s1", "Start on the loop");
    run_command(&env, "s1", "b1", "touch README.md", "");
    env.run_thru(&["loop", "cancel"]).assert_ok();
    end_session(&env, "s1");
    let next = env.fire_event("s2", "SessionStart", json!({"source": "startup"})).context_for_model();
    assert!(next.contains("Start on the loop") && !next.contains("Rewrite everything"), "{next}");
}

/// The brief of a new session describes the last session in its own checkout, and mentions that another session has
/// worked in another worktree since.
#[test]
fn a_start_is_about_this_checkout() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    let tree = add_worktree(&env);
    start_session(&env, "s1");
    ask(&env, "s1", "Write the Latin table");
    run_command(&env, "s1", "b1", "git commit -m Latin", "[main 1a2b3c4] Latin\n 1 file changed");
    end_session(&env, "s1");
    let there = |event: &str, mut more: Value| {
        more["cwd"] = json!(tree);
        let payload = env.event_payload("s2", event, more).to_string();
        env.hook_call(event, payload).with_variable("THROUGHLINE_NOW", "2026-11-15T20:00:00Z").run();
    };
    there("SessionStart", json!({"source": "startup"}));
    there("UserPromptSubmit", json!({"prompt": "Start emoji support"}));
    let input = json!({"file_path": tree.join("emoji.ts")});
    there("PostToolUse", json!({"tool_name": "Write", "tool_use_id": "w1", "tool_input": input}));
    there("SessionEnd", json!({"reason": "exit"}));
    let told = env.fire_event("s3", "SessionStart", json!({"source": "startup"})).context_for_model();
    assert!(
        told.contains("the last session that did any work here was s1")
            && told.contains("Write the Latin table"),
        "{told}"
    );
    let line = format!("session s2 worked in the worktree {}", tree.display());
    assert!(told.contains(&line) && told.contains("Start emoji support"), "{told}");
}

#[test]
fn every_edit_after_a_failure_may_have_solved_it() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    start_session(&env, "s1");
    ask(&env, "s1", "Make the tests pass");
    let failed = json!({"tool_name": "Bash", "tool_use_id": "b1", "tool_input": {"command": "make test"},
        "error": "Exit code 1\nNameError: name 'Decimal' is not defined"});
    env.fire_event("s1", "PostToolUseFailure", failed);
    for (id, file) in [("w1", "parse.py"), ("w2", "README.md")] {
        let input = json!({"file_path": env.project_folder().join(file)});
        env.fire_event(
            "s1",
            "PostToolUse",
            json!({"tool_name": "Edit", "tool_use_id": id, "tool_input": input}),
        );
    }
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(brief.contains("before the last edits to README.md and parse.py)"), "{brief}");
}

#[test]
fn a_packet_knows_what_the_user_committed() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    start_session(&env, "s1");
    ask(&env, "s1", "Reword the README");
    env.write_file("project/README.md", "New words\n");
    let input = json!({"file_path": env.project_folder().join("README.md")});
    env.fire_event(
        "s1",
        "PostToolUse",
        json!({"tool_name": "Edit", "tool_use_id": "w1", "tool_input": input}),
    );
    env.run_git(&["add", "README.md"]);
    env.run_git(&["commit", "-qm", "Reword"]);
    env.write_file("project/notes.txt", "Not in git\n");
    env.run_thru(&["handoff", "reword more", "--session", "s1"]).assert_ok();
    let packet = env.run_thru(&["pickup", "reword-more"]).assert_ok().stdout;
    assert!(!packet.contains("At risk"), "{packet}");
}
