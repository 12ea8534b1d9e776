//! Tests the content of a packet: the goal, the checks that must pass, the checks that passed, and the sources.

use std::fs;

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::packets::{fire_event, report_tool_call, repository_with_session, write_handoff};

fn report_command(env: &TestEnv, command: &str, printed: &str) {
    let input = json!({"command": command});
    let response = json!({"stdout": printed, "stderr": "", "interrupted": false, "exitCode": 0});
    let call =
        json!({"tool_name": "Bash", "tool_use_id": command, "tool_input": input, "tool_response": response});
    fire_event(env, "PostToolUse", call);
}

fn report_failed_command(env: &TestEnv, command: &str, error: &str) {
    let input = json!({"command": command});
    let call = json!({"tool_name": "Bash", "tool_use_id": command, "tool_input": input, "error": error});
    fire_event(env, "PostToolUseFailure", call);
}

fn env_with_prompt(prompt: &str) -> TestEnv {
    let env = TestEnv::with_root();
    fire_event(&env, "SessionStart", json!({"source": "startup"}));
    fire_event(&env, "UserPromptSubmit", json!({"prompt": prompt}));
    env
}

fn packet_validators(env: &TestEnv, word: &str) -> Vec<String> {
    let shown = env.run_thru_json(&["packet", "show", word]);
    let all = shown["packet"]["validators"].as_array().unwrap().iter();
    all.map(|command| command.as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_purpose_that_says_nothing_is_not_the_goal() {
    let env = repository_with_session();
    let (_, path) = write_handoff(&env, "go on");
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains("Goal: “Build the parser. Never use regular expressions.”"), "{text}");
    let intent = text.split_once("## Intent").unwrap().1.split_once("## Context").unwrap().0;
    assert!(!intent.contains("go on") && intent.contains("> Build the parser."), "{intent}");
}

#[test]
fn pickup_tells_the_goal_once_and_a_concrete_first_step() {
    let env = env_with_prompt("Build the parser. Never use regular expressions.");
    env.write_file("project/src/lib.rs", "");
    report_tool_call(&env, "Edit", json!({"file_path": env.project_folder().join("src/lib.rs")}));
    report_failed_command(
        &env,
        "bash -lc 'cargo test -p parse'",
        "Exit code 101\nerror: src/lib.rs:1: no such rule",
    );
    write_handoff(&env, "go on");
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    let goal =
        "\nGoal: The user asked, 2026-11-15T19:22:00Z:\n> Build the parser. Never use regular expressions.\n";
    assert!(picked.contains(goal) && picked.matches("Build the parser.").count() == 1, "{picked}");
    let first = "\nBegin with: the failing command `cargo test -p parse` (see Failing).\n";
    assert!(picked.contains(first), "{picked}");
    let error = "error: src/lib.rs:1: no such rule";
    assert!(picked.matches(error).count() == 1 && picked.contains("\nFailing:\n"), "{picked}");
    // Run the same check without a shell around it.
    report_command(&env, "cargo test -p parse", "test result: ok. 3 passed; 0 failed; 0 ignored");
    write_handoff(&env, "go on once more");
    let picked = env.run_thru(&["pickup", "once-more"]).assert_ok().stdout;
    assert!(!picked.contains("the failing command") && !picked.contains("Failing:"), "{picked}");
    for phrase in ["Intent has the user", "nothing could be checked", "last calls"] {
        assert!(!picked.contains(phrase), "{phrase}: {picked}");
    }
}

#[test]
fn a_check_that_never_said_how_it_ended_is_no_validator() {
    let env = env_with_prompt("Build the parser. Never use regular expressions.");
    report_command(&env, "make test | grep -c started", "1");
    report_command(&env, "cargo test -p parse", "test result: ok. 3 passed; 0 failed; 0 ignored");
    write_handoff(&env, "finish the parser");
    assert_eq!(packet_validators(&env, "parser"), ["cargo test -p parse"]);
}

#[test]
fn pickup_tells_what_fails_and_what_must_pass_whoever_wrote_the_prompt() {
    let env = repository_with_session();
    env.run_thru(&["handoff", "finish the parser", "--validator", "make release-check"]).assert_ok();
    let replace = |section: &str, text: &str| {
        env.thru_call(&["packet", "set", "parser", "--section", section]).with_stdin(text).run().assert_ok();
    };
    replace("Next Prompt", "Just do the lexer.\n");
    let picked = env.run_thru(&["pickup", "parser"]).assert_ok().stdout;
    for needle in [
        "Just do the lexer.",
        "- `make release-check`: not run yet",
        "- `cargo test -p parse`: ",
        "`error: src/parse.rs:1: no such rule`",
        "> Build the parser. Never use regular expressions.",
        "- Should lex.rs go as well?",
    ] {
        assert!(picked.contains(needle), "{needle:?} in\n{picked}");
    }
}

#[test]
fn a_run_is_verified_only_if_nothing_was_edited_after_it() {
    let claim = |env: &TestEnv, word: &str| {
        let told = env.run_thru_json(&["pickup", word]);
        let all = told["claims"].as_array().unwrap();
        let check: Vec<&Value> = all.iter().filter(|claim| claim["about"] == "check").collect();
        (check[0]["state"].as_str().unwrap().to_owned(), check[0]["note"].as_str().unwrap().to_owned())
    };
    let env = env_with_prompt("Build the parser in one file, please, and nothing else.");
    env.write_file("project/src/a.rs", "a");
    let edit = json!({"file_path": env.project_folder().join("src/a.rs")});
    report_tool_call(&env, "Edit", edit.clone());
    report_command(&env, "cargo test", "test result: ok. 3 passed; 0 failed");
    write_handoff(&env, "first");
    let (state, note) = claim(&env, "first");
    assert!(state == "verified" && note.starts_with("passed at"), "{state} {note}");

    fire_event(&env, "PostToolUse", json!({"tool_name": "Edit", "tool_use_id": "later", "tool_input": edit}));
    write_handoff(&env, "second");
    let (state, note) = claim(&env, "second");
    assert!(state == "unverified" && note.ends_with("before the last edits; run it again"), "{state} {note}");

    env.write_file("project/src/a.rs", "on disk");
    let (state, note) = claim(&env, "first");
    assert!(state == "unverified" && note.ends_with("before later changes; run it again"), "{state} {note}");
}

#[test]
fn a_prohibition_within_a_sentence_is_a_constraint() {
    let env = env_with_prompt("Make HALF halve the amount; never change tests/.");
    fire_event(&env, "Stop", json!({"last_assistant_message": "HALF halves the amount now."}));
    let next = "Now round the totals of the cart with Decimal, to two places.";
    fire_event(&env, "UserPromptSubmit", json!({"prompt": next}));
    write_handoff(&env, "round");
    let packet = env.run_thru(&["packet", "show", "round"]).assert_ok().stdout;
    assert!(packet.contains("the user: “never change tests/.”"), "{packet}");
}

#[test]
fn a_question_in_passing_hides_neither_the_task_nor_its_rules() {
    let task = "Implement class Coupon in shop/coupon.py with code and percentage. Percentages must be integers from 1 to 90. \
                Never use floats for money, use Decimal. Do not change cart.py.";
    let env = env_with_prompt(task);
    let answer = |words: &str| {
        fire_event(&env, "Stop", json!({"stop_hook_active": false, "last_assistant_message": words}));
    };
    report_tool_call(&env, "Edit", json!({"file_path": env.project_folder().join("shop/coupon.py")}));
    answer("Coupon is in shop/coupon.py.");
    fire_event(&env, "UserPromptSubmit", json!({"prompt": "Now write a test: codes are case-insensitive"}));
    report_tool_call(&env, "Edit", json!({"file_path": env.project_folder().join("tests/test_coupon.py")}));
    answer("The test is in tests/test_coupon.py.");
    fire_event(&env, "UserPromptSubmit", json!({"prompt": "what is changed in git right now?"}));
    answer("Two files are changed.");
    write_handoff(&env, "finish it");
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(picked.contains("“finish it”"), "the purpose that was given: {picked}");
    assert!(picked.contains("Implement class Coupon in shop/coupon.py"), "{picked}");
    for rule in ["must be integers from 1 to 90", "Never use floats for money", "Do not change cart.py"] {
        assert!(picked.contains(rule), "{rule}: {picked}");
    }
    assert!(!picked.contains("the question is answered"), "{picked}");
    // The brief contains the request and quotes its rules.
    let brief = env.run_thru(&["brief", "--all"]).assert_ok().stdout;
    assert!(brief.contains("Implement class Coupon") && brief.contains("Do not change cart.py."), "{brief}");
}

#[test]
fn validators_are_commands_that_exist() {
    let env = env_with_prompt(
        "Build the parser. It is done when `go vet ./...` passes:\n```sh\nnpm run lint\n```\n",
    );
    report_command(
        &env,
        "# the tests of this part\ncd /somewhere/else && cargo test 2>&1 | tail -5",
        "test result: ok. 3 passed",
    );
    report_failed_command(&env, "make lint", "Exit code 2\nmake: *** No rule to make target 'lint'.  Stop.");
    write_handoff(&env, "go on");
    let found = packet_validators(&env, "go-on");
    assert_eq!(found, ["go vet ./...", "npm run lint", "cargo test"]);
    let text = env.run_thru(&["packet", "show", "go-on"]).assert_ok().stdout;
    assert!(text.contains("- [ ] `go vet ./...`, asked for by the user"), "{text}");
    assert!(!text.contains("`make lint` pass"), "{text}");
}

#[test]
fn a_copied_transcript_still_says_whose_it_is() {
    let env = TestEnv::with_root();
    let line = json!({"type": "user", "sessionId": "5f0c6a4e-0000-4000-8000-000000000001", "uuid": "u1",
        "cwd": "/elsewhere/app", "gitBranch": "fix-parser", "timestamp": "2026-11-15T19:22:00Z",
        "message": {"role": "user", "content": "Build the parser in one file, please, and nothing else."}});
    let path = env.write_file("copy-of-a-session.jsonl", format!("{line}\n"));
    let told = env.run_thru_json(&["handoff", "go on", "--transcript", path.to_str().unwrap()]);
    assert_eq!(told["session"], "5f0c6a4e-0000-4000-8000-000000000001");
    let text = env.run_thru(&["packet", "show", "go-on"]).assert_ok().stdout;
    assert!(!text.contains("Not in git"), "nobody looked at that folder:\n{text}");
}

#[test]
fn work_that_is_half_done_comes_before_a_look_that_has_begun() {
    let env = TestEnv::with_root();
    let folder = env.project_folder().to_str().unwrap().to_owned();
    let line = |kind: &str, id: &str, content: Value| {
        json!({"type": kind, "sessionId": "5f0c6a4e-0000-4000-8000-000000000001", "uuid": id, "cwd": folder,
            "timestamp": "2026-11-15T19:22:00Z", "message": {"role": kind, "content": content}})
    };
    let call = |id: &str, tool: &str, input: Value| {
        line("assistant", id, json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]))
    };
    let done =
        |id: &str| line("user", &format!("r{id}"), json!([{"type": "tool_result", "tool_use_id": id}]));
    let said = |id: &str, text: &str| line("assistant", id, json!([{"type": "text", "text": text}]));
    let path = |name: &str| format!("{folder}/src/{name}");
    let start = [
        line("user", "u1", json!("Let the reader and the writer of the basket keep comments.")),
        said("m1", "Good. Now apply the changes.\n\n**Change 1: `skip` in reader.py keeps the comment**"),
        call("c1", "Read", json!({"file_path": path("reader.py"), "offset": 475, "limit": 20})),
        done("c1"),
    ];
    let edit =
        call("c2", "Edit", json!({"file_path": path("reader.py"), "old_string": "a", "new_string": "b"}));
    let look = call("c3", "Read", json!({"file_path": path("writer.py")}));
    for (name, last, needles) in [
        (
            "edit",
            edit,
            [
                "\nThe edit of `src/reader.py` was running when the session ended; its outcome is unknown, so check the \
                 file before repeating the edit (the agent had said",
                "Change 1: `skip` in reader.py keeps the comment",
            ],
        ),
        (
            "look",
            look,
            [
                "Begin with: the user's newest message, which the agent was working on; it was reading \
                 `src/writer.py`.",
                "Change 1: `skip` in reader.py keeps the comment",
            ],
        ),
    ] {
        let lines: Vec<String> = start.iter().chain([&last]).map(Value::to_string).collect();
        let transcript = env.write_file(format!("{name}.jsonl"), lines.join("\n") + "\n");
        let told = env.run_thru_json(&["handoff", name, "--transcript", transcript.to_str().unwrap()]);
        let picked = env.run_thru(&["pickup", told["id"].as_str().unwrap()]).assert_ok().stdout;
        for needle in needles {
            assert!(picked.contains(needle), "{name}: {needle:?} in\n{picked}");
        }
        assert!(!picked.contains("Running when the session ended"), "it is said above: {picked}");
        let brief = env.run_thru(&["brief", "--transcript", transcript.to_str().unwrap()]).assert_ok().stdout;
        assert!(brief.contains("then read src/reader.py lines 475–494"), "{brief}");
    }
}

#[test]
fn the_packet_of_finished_work_says_what_it_was_about_and_asks_for_nothing() {
    let env = env_with_prompt("Let the basket give a discount of 5 % for orders over 100.");
    env.write_file("project/src/basket.py", "");
    report_tool_call(&env, "Edit", json!({"file_path": env.project_folder().join("src/basket.py")}));
    report_command(&env, "pytest", "3 passed in 0.01s");
    fire_event(&env, "Stop", json!({"last_assistant_message": "The basket gives the discount now."}));
    fire_event(&env, "UserPromptSubmit", json!({"prompt": "push it"}));
    report_command(&env, "git push", "To github.com:u/shop.git\n   2249d3e..0535c28  main -> main");
    fire_event(&env, "Stop", json!({"last_assistant_message": "Pushed."}));
    write_handoff(&env, "go on");
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    for needle in ["> Let the basket give a discount of 5 %", "> push it", "Nothing is open: "] {
        assert!(picked.contains(needle), "{needle:?} in\n{picked}");
    }
    assert!(!picked.contains("Done when:") && !picked.contains("Open first:"), "{picked}");
}

#[test]
fn a_script_that_was_edited_is_run_and_no_other_file_is_opened() {
    let env = env_with_prompt("Let the check script print the basket's total.");
    for file in ["src/basket.py", "scripts/check.sh"] {
        env.write_file(format!("project/{file}"), "");
        report_command(&env, "pytest", "3 passed in 0.01s");
        report_tool_call(&env, "Edit", json!({"file_path": env.project_folder().join(file)}));
    }
    write_handoff(&env, "go on");
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    let first = "Begin with: running `scripts/check.sh`, which was edited and has not been run since.";
    assert!(picked.contains(first) && picked.contains("\nOpen first: `scripts/check.sh`.\n"), "{picked}");
    report_command(&env, "sh scripts/check.sh", "total 95");
    write_handoff(&env, "go on once more");
    let picked = env.run_thru(&["pickup", "once-more"]).assert_ok().stdout;
    assert!(!picked.contains("has not been run since"), "{picked}");
}

#[test]
fn a_look_is_not_told_as_work_on_a_message_that_is_carried_out_or_unknown() {
    let env = TestEnv::with_root();
    let folder = env.project_folder().to_str().unwrap().to_owned();
    let line = |kind: &str, id: &str, content: Value| {
        json!({"type": kind, "sessionId": "5f0c6a4e-0000-4000-8000-000000000001", "uuid": id, "cwd": folder,
            "timestamp": "2026-11-15T19:22:00Z", "message": {"role": kind, "content": content}})
    };
    let call = |id: &str, command: &str| {
        let input = json!({"command": command});
        line("assistant", id, json!([{"type": "tool_use", "id": id, "name": "Bash", "input": input}]))
    };
    let printed = "To github.com:u/shop.git\n   2249d3e..0535c28  main -> main";
    let pushed =
        line("user", "r1", json!([{"type": "tool_result", "tool_use_id": "c1", "content": printed}]));
    let carried_out =
        [line("user", "u1", json!("push it")), call("c1", "git push"), pushed, call("c2", "git log")];
    let unknown =
        [line("assistant", "m1", json!([{"type": "text", "text": "I look around."}])), call("c2", "git log")];
    for (name, lines, expected) in [
        ("pushed", carried_out.as_slice(), "The newest message has been carried out"),
        ("unknown", unknown.as_slice(), "- `git log`\n"),
    ] {
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        let transcript = env.write_file(format!("{name}.jsonl"), lines.join("\n") + "\n");
        let told = env.run_thru_json(&["handoff", name, "--transcript", transcript.to_str().unwrap()]);
        let picked = env.run_thru(&["pickup", told["id"].as_str().unwrap()]).assert_ok().stdout;
        assert!(picked.contains(expected) && !picked.contains("Begin with: `git log`"), "{name}: {picked}");
    }
}

#[test]
fn pickup_says_once_that_the_newest_message_is_untouched() {
    let env = TestEnv::with_root();
    let prompt = "Build the parser in src/parse.rs.";
    let message = json!({"type": "user", "message": {"role": "user", "content": prompt}});
    let transcript = env.write_file("s1.jsonl", format!("{message}\n"));
    fire_event(&env, "SessionStart", json!({"source": "startup", "transcript_path": transcript}));
    fire_event(&env, "UserPromptSubmit", json!({"prompt": prompt}));
    fire_event(&env, "SessionEnd", json!({"reason": "exit"}));
    write_handoff(&env, "go on");
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert_eq!(picked.matches("has not been acted on yet").count(), 1, "{picked}");
}

#[test]
fn the_first_known_request_is_not_the_beginning_after_a_compaction() {
    let env = env_with_prompt("Let the basket give a discount of 5 % for orders over 100.");
    env.write_file("project/src/basket.py", "");
    report_tool_call(&env, "Edit", json!({"file_path": env.project_folder().join("src/basket.py")}));
    fire_event(&env, "Stop", json!({"last_assistant_message": "The basket gives the discount now."}));
    fire_event(&env, "SessionStart", json!({"source": "compact"}));
    fire_event(
        &env,
        "UserPromptSubmit",
        json!({"prompt": "Write a test for the discount in tests/basket.py."}),
    );
    report_tool_call(&env, "Edit", json!({"file_path": env.project_folder().join("tests/basket.py")}));
    fire_event(&env, "Stop", json!({"last_assistant_message": "The discount has a test."}));
    fire_event(&env, "UserPromptSubmit", json!({"prompt": "push it"}));
    report_command(&env, "git push", "To github.com:u/shop.git\n   2249d3e..0535c28  main -> main");
    fire_event(&env, "Stop", json!({"last_assistant_message": "Pushed."}));
    let (_, path) = write_handoff(&env, "go on");
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains("\nAsked earlier in the session") && !text.contains("began with"), "{text}");
}

/// The agent's reply to `/thru-context` or `/packet` is about thru, so neither a brief nor a packet quotes it.
#[test]
fn a_reply_to_a_command_of_thru_is_not_told_as_an_answer() {
    let env = env_with_prompt("Build the parser in one file, please, and nothing else.");
    report_tool_call(&env, "Edit", json!({"file_path": env.project_folder().join("src/a.rs")}));
    let answer = |words: &str| {
        fire_event(&env, "Stop", json!({"stop_hook_active": false, "last_assistant_message": words}));
    };
    answer("The parser is in src/a.rs and reads every token.");
    fire_event(&env, "UserPromptSubmit", json!({"prompt": "/thru-context"}));
    answer("Throughline has recorded one session and no roles here.");
    fire_event(&env, "UserPromptSubmit", json!({"prompt": "/packet list"}));
    report_command(&env, "thru packet list", "No packets here yet.");
    answer("No packet has been written in this project so far.");
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    let (_, path) = write_handoff(&env, "finish the parser");
    for text in [brief, fs::read_to_string(path).unwrap()] {
        assert!(text.contains("The parser is in src/a.rs and reads every token."), "{text}");
        assert!(text.contains("The agent had ended its turn and was waiting for the user."), "{text}");
        assert!(!text.contains("has recorded") && !text.contains("No packet has been written"), "{text}");
    }
    // The next request closes the turn. The brief still shows the agent's answer to the first request.
    fire_event(&env, "UserPromptSubmit", json!({"prompt": "Now write the printer in src/print.rs as well."}));
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(brief.contains("The parser is in src/a.rs") && !brief.contains("No packet has been"), "{brief}");
}
