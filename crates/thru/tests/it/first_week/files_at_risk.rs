//! Tests for the files at risk, and for how packets and briefs name the work of a session.

use super::handoffs::{ask_at, edit_at, fire_at, start_at, stop_at, thru_at};
use super::previews_and_titles::{ask, edit_file, run_command, stop};
use super::quoted_words::compact_at;
use super::*;
use crate::packet_sweeps::{mark_process_dead, mark_session_dead};

/// Creates a repository with these files in its first commit.
pub fn repository_with_files(files: &[&str]) -> TestEnv {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    files.iter().for_each(|file| drop(env.write_file(format!("project/{file}"), "old\n")));
    env.run_git(&["add", "-A"]);
    env.run_git(&["commit", "-qm", "One"]);
    env
}

fn fail_command(env: &TestEnv, session: &str, id: &str, command: &str, output: &str) {
    let failed = json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": command},
        "error": format!("Exit code 1\n{output}")});
    env.fire_event(session, "PostToolUseFailure", failed);
}

fn pass_command(env: &TestEnv, session: &str, id: &str, command: &str, output: &str) {
    let passed = json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": command},
        "tool_response": {"stdout": output, "stderr": "", "interrupted": false}});
    env.fire_event(session, "PostToolUse", passed);
}

fn brief(env: &TestEnv) -> String {
    env.run_thru(&["brief"]).assert_ok().stdout
}

fn brief_after_compaction(env: &TestEnv, session: &str) -> String {
    env.fire_event(session, "PreCompact", json!({"trigger": "auto"}));
    env.fire_event(session, "SessionStart", json!({"source": "compact"})).context_for_model()
}

/// The agent ticks off a step with `thru`. The agent has the text of the step, so it is not asked to read the file
/// again.
#[test]
fn a_file_whose_step_was_ticked_off_is_not_unread() {
    let env = TestEnv::with_root();
    let folder = "project/.agent/context/workstreams/01-parser";
    env.write_file(format!("{folder}/overview.md"), "We build a parser that never panics.\n");
    env.write_file(format!("{folder}/steps.md"), "# Steps\n\n- [x] lexer\n- [ ] parser\n- [ ] printer\n");
    env.run_thru(&["resume", "new", "01-parser", "--phase", "execution"]).assert_ok();
    start_session(&env, "s1");
    env.run_thru(&["resume", "use", "01", "--session", "s1"]).assert_ok();
    assert!(brief_after_compaction(&env, "s1").contains("- [ ] printer"));
    edit_file(&env, "s1", "e1", "src/parser.rs");
    assert_eq!(env.run_thru_json(&["resume", "update", "--task-done"])["done"], "parser");
    let gate = env.run_thru(&["resume", "gate", "--session", "s1"]).assert_ok();
    assert!(gate.stdout.contains("given") && !gate.stdout.contains("unread"), "{gate}");
    let reminder =
        || env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Now the printer"})).context_for_model();
    assert_eq!(reminder(), "");
    env.write_file(format!("{folder}/steps.md"), "# Steps\n\n- [x] lexer\n- [ ] scanner\n");
    assert!(reminder().contains("steps.md"), "another step is another text");
}

/// The agent changes files with commands only.
#[test]
fn files_that_commands_wrote_are_at_risk() {
    let env = repository_with_files(&["src/cart.js", "src/tax.js", "docs/notes.md", ".gitignore"]);
    start_session(&env, "s1");
    ask(&env, "s1", "Apply a discount of 10 % to the cart");
    let write = |file: &str| drop(env.write_file(format!("project/{file}"), "something new\n"));
    for (id, file, command) in [
        ("b1", "src/cart.js", "sed -i s/1/2/ src/cart.js"),
        ("b2", "src/discount.js", "cat > src/discount.js <<'EOF'\nexport const d = 0.1;\nEOF"),
        ("b3", "docs/notes.md", "echo 'Discounts' | tee -a docs/notes.md"),
        // A log, a build output and a file outside the project do not count as work.
        ("b4", "test.log", "npm test > test.log"),
        ("b5", "dist/all.js", "npx esbuild src/cart.js > dist/all.js"),
        ("b6", "result.txt", "node src/cart.js > result.txt"),
        ("b7", "../elsewhere.js", "cp src/cart.js ../elsewhere.js"),
    ] {
        write(file);
        run_command(&env, "s1", id, command);
    }
    // This command names a file but does not change it.
    run_command(&env, "s1", "b8", "npx prettier --check src/tax.js");
    let files = "docs/notes.md, src/{discount.js,cart.js}";
    let told = brief(&env);
    assert!(told.contains(&format!("3 files edited by the session, not committed: {files}\n")), "{told}");
    let told = brief_after_compaction(&env, "s1");
    assert!(told.contains(&format!("3 files edited by this session, not committed: {files}\n")), "{told}");
    // The user commits two of the files in another terminal.
    env.run_git(&["add", "src"]);
    env.run_git(&["commit", "-qm", "Two"]);
    let told = brief(&env);
    assert!(
        told.contains("- 1 file edited by the session, not in any commit seen here: docs/notes.md\n"),
        "{told}"
    );
    env.run_git(&["add", "docs"]);
    env.run_git(&["commit", "-qm", "Three"]);
    assert!(!brief(&env).contains("At risk"), "{}", brief(&env));
    // The agent stages a file that it wrote with a command, but does not commit it.
    write("src/tax.js");
    run_command(&env, "s1", "b9", "sed -i s/2/3/ src/tax.js && git add src/tax.js");
    env.run_git(&["add", "src/tax.js"]);
    assert!(brief(&env).contains(": src/tax.js\n"), "{}", brief(&env));
}

#[test]
fn a_tracked_file_that_a_command_deleted_is_told() {
    let env = repository_with_files(&["src/old.js", "src/cart.js"]);
    start_session(&env, "s1");
    ask(&env, "s1", "Remove the old cart");
    fs::remove_file(env.project_folder().join("src/old.js")).unwrap();
    run_command(&env, "s1", "b1", "rm src/old.js scratch.js");
    edit_file(&env, "s1", "e1", "src/cart.js");
    let told = brief(&env);
    assert!(told.contains("- deleted src/old.js\n"), "{told}");
}

fn purpose_of_swept_packet(env: &TestEnv) -> (String, String) {
    let id = env.run_thru_json(&["sweep"])[0]["packet"].as_str().unwrap().to_owned();
    let listed = env.run_thru_json(&["packet", "list"]);
    let row = listed.as_array().unwrap().iter().find(|row| row["id"] == id.as_str()).unwrap().clone();
    (id, row["purpose"].as_str().unwrap().to_owned())
}

#[test]
fn the_packet_of_a_crashed_session_is_titled_by_its_work() {
    let goal = "Make the cart apply a discount of 10 %";
    for words in [&[goal][..], &[goal, "go on"], &[goal, "pick up where you stopped"]] {
        let env = TestEnv::with_root();
        start_session(&env, "s1");
        for (i, prompt) in words.iter().enumerate() {
            ask(&env, "s1", prompt);
            edit_file(&env, "s1", &format!("e{i}"), "cart.py");
            stop(&env, "s1", "The discount is applied. Rounding is next.");
        }
        mark_process_dead(&env);
        let (id, purpose) = purpose_of_swept_packet(&env);
        assert_eq!(purpose, goal, "{words:?}");
        assert!(id.ends_with("-make-the-cart-apply-a-discount-of-10"), "{id}");
        let status = env.run_thru(&["status"]).assert_ok().stdout;
        assert!(status.contains(&format!("on offer     “{goal}”")), "{status}");
        let picked = env.run_thru(&["pickup", &id]).assert_ok().stdout;
        assert!(!picked.contains("go on:"), "{picked}");
        assert!(picked.contains("Begin with: what the agent said it would do"), "{picked}");
    }
}

/// The user of the crashed session only said “go on”, or picked up a packet.
#[test]
fn the_packet_of_a_crashed_session_names_the_work_that_it_continued() {
    let goal = "Make the cart apply a discount of 10 %";
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    ask(&env, "s1", goal);
    edit_file(&env, "s1", "e1", "cart.py");
    stop(&env, "s1", "The discount is applied. Rounding is next.");
    end_session(&env, "s1");
    start_session(&env, "s2");
    ask(&env, "s2", "Continue where the last session stopped");
    edit_file(&env, "s2", "e2", "round.py");
    mark_session_dead(&env, "s2");
    let (_, purpose) = purpose_of_swept_packet(&env);
    assert_eq!(purpose, goal);

    let env = TestEnv::with_root();
    start_session(&env, "s1");
    let packet = write_packet(&env);
    end_session(&env, "s1");
    start_session(&env, "s2");
    claim_packet(&env, &packet, "s2", &["--claim"]).assert_ok();
    ask(&env, "s2", "/pickup");
    edit_file(&env, "s2", "e1", "parser.rs");
    mark_session_dead(&env, "s2");
    let (_, purpose) = purpose_of_swept_packet(&env);
    assert_eq!(purpose, "finish the parser");
}

#[test]
fn a_prompt_that_only_continues_is_explained_after_a_compaction() {
    for prompt in
        ["go on", "pick up where the last session stopped", "Carry on from last time", "Please resume."]
    {
        let env = TestEnv::with_root();
        start_session(&env, "s1");
        ask(&env, "s1", "Make the cart apply a discount of 10 %");
        edit_file(&env, "s1", "e1", "cart.py");
        end_session(&env, "s1");
        start_session(&env, "s2");
        ask(&env, "s2", prompt);
        edit_file(&env, "s2", "e2", "cart.py");
        let told = brief_after_compaction(&env, "s2");
        let work = "Earlier work being continued:\n- in session s1 the user asked “Make the cart apply a discount of 10 %”";
        assert!(told.contains(work), "{prompt}: {told}");
    }
}

/// Fires an event of a session that works in a worktree.
fn fire_in(
    env: &TestEnv,
    folder: &Path,
    session: &str,
    event: &str,
    fields: Value,
) -> crate::call::ThruOutput {
    let mut payload = env.event_payload(session, event, fields);
    payload["cwd"] = json!(folder);
    let call = env.hook_call(event, payload.to_string()).with_variable("CLAUDE_PROJECT_DIR", folder);
    call.run()
}

#[test]
fn work_of_another_worktree_is_not_told_as_work_of_this_one() {
    let env = repository_with_files(&["cart.py"]);
    let tree = add_worktree(&env);
    start_session(&env, "s1");
    ask(&env, "s1", "Make the cart apply a discount of 10 %");
    edit_file(&env, "s1", "e1", "cart.py");
    end_session(&env, "s1");
    let told = fire_in(&env, &tree, "s2", "SessionStart", json!({"source": "startup"}));
    let told = told.context_for_model();
    assert!(
        told.starts_with("Throughline: the last session that did any work was s1, in another worktree, "),
        "{told}"
    );
    fire_in(&env, &tree, "s2", "UserPromptSubmit", json!({"prompt": "go on"}));
    let call =
        json!({"tool_name": "Edit", "tool_use_id": "e2", "tool_input": {"file_path": tree.join("cart.py")}});
    fire_in(&env, &tree, "s2", "PostToolUse", call);
    fire_in(&env, &tree, "s2", "PreCompact", json!({"trigger": "auto"}));
    let told = fire_in(&env, &tree, "s2", "SessionStart", json!({"source": "compact"}));
    let told = told.context_for_model();
    let place = format!(
        "in session s1, in the worktree {} (branch main), the user asked",
        env.project_folder().display()
    );
    assert!(told.contains(&place), "{told}");
}

#[test]
fn pickup_names_the_uncommitted_files_that_it_counts() {
    let env = repository_with_files(&["cart.py", "src/a.py"]);
    start_session(&env, "s1");
    ask(&env, "s1", "Make the cart apply a discount of 10 %");
    env.write_file("project/cart.py", "new\n");
    edit_file(&env, "s1", "e1", "cart.py");
    // The user edits another file.
    env.write_file("project/src/a.py", "new\n");
    env.run_thru(&["handoff", "discount", "--session", "s1"]).assert_ok();
    let packet = env.run_thru(&["packet", "show", "discount"]).assert_ok().stdout;
    assert!(packet.contains(", 2 files uncommitted: cart.py, src/a.py"), "{packet}");
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(
        picked.contains("uncommitted files: 2 files uncommitted then and now: cart.py, src/a.py\n"),
        "{picked}"
    );
    (1..=6).for_each(|i| drop(env.write_file(format!("project/more{i}.py"), "1\n")));
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    let names = "cart.py, more1.py, more2.py, more3.py, src/a.py, +3 more";
    assert!(picked.contains(&format!("2 files uncommitted then, 8 now: {names}\n")), "{picked}");
}

#[test]
fn status_proposes_the_work_that_was_begun_last() {
    let at = |env: &TestEnv, minute: u32, words: &[&str]| {
        let call =
            env.thru_call(words).with_variable("THROUGHLINE_NOW", format!("2026-11-15T19:{minute}:00Z"));
        call.run().assert_ok()
    };
    let env = TestEnv::with_root();
    let next = |minute: u32| {
        let status = at(&env, minute, &["status"]).stdout;
        status.split("\nNext: ").nth(1).unwrap_or_else(|| panic!("{status}")).trim_end().to_owned()
    };
    start_session(&env, "s1");
    ask(&env, "s1", "finish the parser");
    at(&env, 30, &["handoff", "finish the parser", "--session", "s1"]);
    assert!(next(31).starts_with("`thru pickup 20261115T193000Z-finish-the-parser`"), "{}", next(31));
    at(&env, 32, &["gate", "expect", "review", "--critical", "review-a.md"]);
    assert_eq!(next(33), "`thru gate check` says what the open outputs lack");
    at(&env, 34, &["loop", "start", "Write the docs", "--promise", "DONE", "--next"]);
    assert_eq!(
        next(35),
        "`thru loop show` shows the waiting loop; start your harness here and send any message, such as `go`, to run it"
    );
    at(&env, 36, &["handoff", "write the docs", "--session", "s1"]);
    assert!(next(37).starts_with("`thru pickup 20261115T193600Z-write-the-docs`"), "{}", next(37));
    at(&env, 38, &["loop", "cancel"]);
    at(&env, 39, &["loop", "start", "Write the tests", "--promise", "DONE", "--session", "s1"]);
    assert_eq!(next(40), "`thru loop log` shows what the active loop has done so far");
    assert_eq!(at(&env, 40, &["status", "--json"]).json()["next_step"]["command"], "thru loop log");
}

/// npm prints the command of a script before it runs it.
#[test]
fn a_failed_package_script_is_fixed_when_its_command_passes() {
    let script = "\n> shop@1.0.0 test\n> mocha test/unit\n\n  1 passing (4ms)\n  1 failing\n\n  1) cart:\n     AssertionError: 90 == 100";
    for (command, is_fixed) in [
        ("npx mocha test/unit", true),
        ("npm test", true),
        ("npx mocha test/web", false),
        ("cd web && npx mocha test/unit", false),
    ] {
        let env = TestEnv::with_root();
        start_session(&env, "s1");
        ask(&env, "s1", "Make the cart apply a discount of 10 %");
        fail_command(&env, "s1", "b1", "npm test", script);
        edit_file(&env, "s1", "e1", "cart.js");
        pass_command(&env, "s1", "b2", command, "\n  2 passing (4ms)\n");
        assert_eq!(!brief(&env).contains("Failing:"), is_fixed, "{command}: {}", brief(&env));
    }
}

/// The result of a call that starts a sub-agent in the background only says that it was launched.
#[test]
fn the_answer_of_a_sub_agent_is_in_brief_and_packet() {
    let finding = "The timeout comes from pool.js: acquire() never releases the connection after an error.";
    for in_background in [false, true] {
        let env = TestEnv::with_root();
        start_session(&env, "s1");
        ask(&env, "s1", "Find out why the requests time out");
        let input = json!({"description": "find the timeout", "prompt": "Why do the requests time out?",
            "subagent_type": "general-purpose"});
        let response = match in_background {
            true => {
                json!({"isAsync": true, "status": "async_launched", "agentId": "a1", "description": "find the timeout",
                "prompt": "Why do the requests time out?", "outputFile": "/var/tmp/tasks/a1.output"})
            }
            false => {
                json!({"status": "completed", "agentId": "a1", "content": [{"type": "text", "text": finding}]})
            }
        };
        let call = json!({"tool_name": "Agent", "tool_use_id": "t1", "tool_input": input, "tool_response": response});
        let background = match in_background {
            true => json!([{"id": "b7", "type": "shell", "status": "running", "description": "npm start"},
                {"id": "a1", "type": "subagent", "status": "running", "description": "find the timeout",
                "agent_type": "general-purpose"}]),
            false => json!([]),
        };
        let stopped = |message: &str, again: bool| {
            json!({"agent_id": "a1", "agent_type": "general-purpose", "stop_hook_active": again,
                "last_assistant_message": message, "background_tasks": background})
        };
        match in_background {
            true => {
                env.fire_event("s1", "PostToolUse", call);
                stop(&env, "s1", "A sub-agent is looking.");
                env.fire_event("s1", "SubagentStop", stopped("I am looking into pool.js.", false));
                env.fire_event("s1", "SubagentStop", stopped(finding, true));
            }
            false => {
                env.fire_event("s1", "SubagentStop", stopped(finding, false));
                env.fire_event("s1", "PostToolUse", call);
            }
        }
        let told = brief(&env);
        assert_eq!(told.matches(finding).count(), 1, "{told}");
        assert!(!told.contains("A sub-agent was running") && !told.contains("I am looking"), "{told}");
        assert!(brief_after_compaction(&env, "s1").contains(finding));
        env.run_thru(&["handoff", "fix the timeout", "--session", "s1"]).assert_ok();
        let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
        assert!(picked.contains(finding), "{picked}");
    }
}

/// A reader who sees a report for the first time must be able to guess the meaning of each name at once.
#[test]
fn fields_of_json_reports_have_telling_names() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    ask(&env, "s1", "Finish the parser");
    edit_file(&env, "s1", "e1", "parser.rs");
    let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4).split_at(36).0);
    let handoff = env.run_thru_json(&["handoff", &format!("use the token {token}"), "--session", "s1"]);
    assert_eq!((&handoff["redacted"], &handoff["covered"]), (&json!(true), &Value::Null), "{handoff}");
    let decided = env.run_thru_json(&["decide", "Use tabs"]);
    assert_eq!(decided["redacted"], false, "{decided}");
    env.write_file("project/.agent/context/workstreams/01-parser/overview.md", "A parser.\n");
    env.run_thru(&["resume", "new", "01-parser"]).assert_ok();
    let gate = env.thru_call(&["resume", "gate", "01", "--session", "s1", "--json"]).run().json();
    assert_eq!(gate["has_edited"], true, "{gate}");
    let file = &gate["files"][0];
    assert_eq!(
        (&file["written_path"], &file["was_in_brief"]),
        (&json!("overview.md"), &json!(false)),
        "{gate}"
    );
    assert!(file["location"].is_string(), "{gate}");
    mark_process_dead(&env);
    ask(&env, "s1", "Write the printer");
    edit_file(&env, "s1", "e2", "printer.rs");
    let listing = env.run_thru_json(&["decisions", "list"]);
    assert_eq!((&listing["ended_count"], &listing["unreadable_lines"]), (&json!(0), &json!(0)), "{listing}");
    assert_eq!(env.run_thru_json(&["status"])["crashed_sessions"], 1);
}

#[test]
fn records_of_thru_that_were_only_read_are_not_told_as_files() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Add the operator Mod.");
    edit_at(&env, "19:00:02", "s1", "src/lex.rs");
    for (time, path) in
        [("19:00:03", ".agent/context/workstreams/01-unary-minus/steps.md"), ("19:00:04", "src/ops.rs")]
    {
        let file = env.write_file(format!("project/{path}"), "text\n");
        let call = json!({"tool_name": "Read", "tool_use_id": time, "tool_input": {"file_path": file},
            "tool_response": {"type": "text", "file": {"filePath": file, "content": "text\n"}}});
        fire_at(&env, time, "s1", "PostToolUse", call);
    }
    // After this message, the brief no longer lists the last calls.
    stop_at(&env, "19:00:05", "s1", "Mod is half done.");
    let brief = thru_at(&env, "19:00:06", "s1", &["brief"]).assert_ok().stdout;
    let compact = compact_at(&env, "19:00:06", "s1", "The operator Mod is being added.");
    let written = thru_at(&env, "19:00:07", "s1", &["handoff", "finish Mod", "--json"]).json();
    let packet = env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout;
    for text in [brief, compact, packet] {
        assert!(text.contains("ops.rs") && !text.contains("steps.md"), "{text}");
    }
}
