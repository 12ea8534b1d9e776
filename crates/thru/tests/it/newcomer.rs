//! Tests for what a new user found wrong or confusing after a day with thru.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::call::ThruOutput;
use crate::env::{TestEnv, names_in};
use crate::packets::{fire_event, write_handoff};

fn fire_event_in(env: &TestEnv, folder: &Path, event: &str, fields: Value) {
    let mut payload = env.event_payload("w1", event, fields);
    payload["cwd"] = json!(folder);
    let call = env.hook_call(event, payload.to_string()).with_variable("CLAUDE_PROJECT_DIR", folder);
    call.run().assert_accepted_by_harness(event);
}

/// Returns a pickup's claims about one kind of subject, as `state: note`.
fn claims_about(picked: &Value, about: &str) -> Vec<String> {
    let all = picked["claims"].as_array().unwrap().iter().filter(|claim| claim["about"] == about);
    all.map(|claim| format!("{}: {}", claim["state"].as_str().unwrap(), claim["note"].as_str().unwrap()))
        .collect()
}

#[test]
fn a_run_counts_as_verified_only_in_the_checkout_it_ran_in() {
    let env = TestEnv::with_repository();
    env.run_thru(&["context", "init"]).assert_ok();
    env.write_file("project/src/a.py", "old\n");
    env.run_git(&["add", "."]);
    env.run_git(&["commit", "-qm", "a"]);
    let tree = env.base_folder().join("tree");
    env.run_git(&["worktree", "add", "-q", "-b", "f2", tree.to_str().unwrap()]);
    fire_event_in(&env, &tree, "SessionStart", json!({"source": "startup"}));
    fire_event_in(&env, &tree, "UserPromptSubmit", json!({"prompt": "Write the second upper function."}));
    env.write_file("tree/src/a.py", "new\n");
    let edit = json!({"file_path": tree.join("src/a.py"), "old_string": "old", "new_string": "new"});
    let call = json!({"tool_name": "Edit", "tool_use_id": "t1", "tool_input": edit});
    fire_event_in(&env, &tree, "PostToolUse", call);
    let printed = json!({"stdout": "test result: ok. 3 passed; 0 failed", "stderr": "", "exitCode": 0});
    let call = json!({"tool_name": "Bash", "tool_use_id": "t2", "tool_input": {"command": "cargo test"},
        "tool_response": printed});
    fire_event_in(&env, &tree, "PostToolUse", call);
    env.run_git_in(&tree, &["commit", "-qam", "second upper"]);
    fire_event_in(&env, &tree, "Stop", json!({"last_assistant_message": "Done."}));

    // The packet describes the worktree, although it is written in the main checkout.
    write_handoff(&env, "while it exists");
    let there = env.thru_call(&["pickup", "while-it-exists", "--json"]).in_folder(&tree).run().json();
    assert_eq!(there["drift"], json!([]), "{there}");
    assert!(claims_about(&there, "check")[0].starts_with("verified: passed at"), "{there}");
    // In another checkout, the packet is still compared with its own worktree.
    let here = env.run_thru_json(&["pickup", "while-it-exists"]);
    assert_eq!((&here["claims"], &here["drift"]), (&there["claims"], &json!([])), "{here}");
    let text = env.run_thru(&["pickup", "while-it-exists"]).assert_ok().stdout;
    let place = format!("It describes the worktree {} (branch f2), not this checkout.", tree.display());
    assert!(text.contains(&place) && text.contains("was compared with that worktree"), "{text}");
    // A change in the worktree is drift, and a change in this checkout is not.
    env.write_file("project/src/a.py", "here\n");
    assert_eq!(env.run_thru_json(&["pickup", "while-it-exists"])["drift"], json!([]));
    env.write_file("tree/src/a.py", "newer\n");
    let here = env.run_thru_json(&["pickup", "while-it-exists"]);
    assert_eq!(claims_about(&here, "file"), ["changed: its content differs"]);
    env.write_file("tree/src/a.py", "new\n");
    env.write_file("project/src/a.py", "old\n");

    env.run_git(&["worktree", "remove", "--force", tree.to_str().unwrap()]);
    write_handoff(&env, "after its removal");
    for word in ["while-it-exists", "after-its-removal"] {
        let here = env.run_thru_json(&["pickup", word]);
        assert!(claims_about(&here, "check")[0].ends_with(", in another worktree"), "{here}");
        assert!(!claims_about(&here, "file")[0].starts_with("verified"), "{here}");
        assert_eq!(here["drift"], json!([]), "the worktree cannot be compared: {here}");
        let text = env.run_thru(&["pickup", word]).assert_ok().stdout;
        assert!(text.contains("which has since been removed"), "{text}");
        assert!(text.contains("a difference may be older than the packet"), "{text}");
    }
}

fn brief_beside_summary(env: &TestEnv, session: &str, summary: &str) -> String {
    env.fire_event(session, "PreCompact", json!({"trigger": "auto"}));
    let text = format!("<summary>{summary}</summary>");
    let fields =
        json!({"agent_id": format!("a{}", text.len()), "agent_type": "", "last_assistant_message": text});
    env.fire_event(session, "SubagentStop", fields);
    env.fire_event(session, "SessionStart", json!({"source": "compact"})).context_for_model()
}

#[test]
fn an_answered_question_is_never_the_only_goal() {
    let brief = |summary: &str| {
        let env = TestEnv::with_root();
        fire_event(&env, "SessionStart", json!({"source": "startup"}));
        fire_event(&env, "UserPromptSubmit", json!({"prompt": "Explain how the migration script works"}));
        fire_event(&env, "Stop", json!({"last_assistant_message": "It reads each table and copies it."}));
        fire_event(&env, "UserPromptSubmit", json!({"prompt": "Now make the retry limit configurable"}));
        fire_event(&env, "Stop", json!({"last_assistant_message": "I will look at it."}));
        brief_beside_summary(&env, "s1", summary)
    };
    let both = brief("Ran some commands.");
    assert!(both.contains("Newest message: “Now make") && both.contains("Before it, answered"), "{both}");
    let known = brief("The user wants: Now make the retry limit configurable.");
    assert!(!known.contains("Before it, answered"), "{known}");
}

/// Returns the arguments of the first printed command that is in backticks and begins with `start`.
fn printed_command(output: &ThruOutput, start: &str) -> Vec<String> {
    let text = format!("{}{}", output.stdout, output.stderr);
    let command = text.split('`').skip(1).step_by(2).find(|command| command.starts_with(start));
    let command = command.unwrap_or_else(|| panic!("{start} in {output}"));
    command.split_whitespace().skip(1).map(str::to_owned).collect()
}

#[test]
fn a_loop_that_waits_is_in_the_status_and_the_printed_command_activates_it() {
    let env = TestEnv::with_root();
    let start = |minute: u32, prompt: &str| {
        let call = env.thru_call(&["loop", "start", "--next", prompt, "--promise", "OK"]);
        call.with_variable("THROUGHLINE_NOW", format!("2026-11-15T19:0{minute}:00Z")).run().assert_ok()
    };
    start(1, "uno");
    let second = start(2, "dos");
    let status = env.run_thru(&["status"]).assert_ok();
    assert!(
        status.stdout.contains("20261115T190200Z-dos, iteration 1 of 30, for the next session"),
        "{status}"
    );
    assert!(status.stdout.contains("waiting") && status.stdout.contains("20261115T190100Z-uno"), "{status}");
    for advice in [&second, &env.run_thru(&["loop", "list"]), &status] {
        let command = printed_command(advice, "thru loop activate");
        assert_eq!(command.last().unwrap(), "20261115T190100Z-uno", "{advice}");
        env.thru_call(&command).run().assert_ok();
        assert!(env.run_thru(&["loop", "list"]).stdout.contains("▷ 20261115T190100Z-uno"), "it waits again");
        env.run_thru(&["loop", "activate", "dos"]).assert_ok();
    }
    env.run_thru(&["loop", "cancel", "dos"]).assert_ok();
    let status = env.run_thru(&["status"]).assert_ok();
    assert_eq!(printed_command(&status, "thru loop activate").last().unwrap(), "20261115T190100Z-uno");
    assert_eq!(env.run_thru_json(&["status"])["waiting_loops"], 1);
}

/// After the current session's loop is cancelled, `thru status` still lists the loop that waits for the next session.
#[test]
fn a_loop_for_the_next_session_stays_in_the_status() {
    let env = TestEnv::with_root();
    fire_event(&env, "SessionStart", json!({"source": "startup"}));
    env.run_thru(&["loop", "start", "--next", "later"]).assert_ok();
    env.run_thru(&["loop", "start", "--session", "s1", "now"]).assert_ok();
    env.run_thru(&["loop", "cancel", "now"]).assert_ok();
    let status = env.run_thru(&["status"]).assert_ok();
    assert!(status.stdout.contains("later, iteration 1 of 30, for the next session"), "{status}");
}

#[test]
fn a_workstream_may_be_called_by_a_number_of_one_digit() {
    let env = TestEnv::with_root();
    fire_event(&env, "SessionStart", json!({"source": "startup"}));
    let made = env.run_thru_json(&["resume", "new", "1-parse-errors"]);
    assert_eq!(made["project_id"], "01-parse-errors");
    for word in ["1", "01", "1-parse-errors", "01-parse-errors"] {
        let used = env.run_thru_json(&["resume", "use", word, "--session", "s1"]);
        assert_eq!(used["project_id"], "01-parse-errors", "{word}");
    }
    let refused = env.run_thru(&["resume", "new", "1_parse"]).assert_exit_code(2);
    assert!(refused.stderr.contains("two to four digits"), "{refused}");
    let refused = env.run_thru(&["resume", "use", "2"]).assert_exit_code(10);
    assert!(refused.stderr.contains("`thru resume list`"), "{refused}");
}

#[test]
fn a_new_manifest_says_where_its_files_belong_and_what_it_is_called() {
    let env = TestEnv::with_root();
    env.write_file("project/docs/intro.md", "");
    let loads = ["--load", "overview.md", "--load", "docs/plan.md", "--load", "notes/a.md"];
    let made = env.run_thru(&[&["resume", "new", "1-errors"], &loads[..]].concat()).assert_ok();
    let folder = ".agent/context/workstreams/01-errors";
    assert_eq!(made.stdout, format!("{folder}/resume-context.md\n"));
    // Only the project has a `docs` folder.
    let expected = format!(
        "the workstream is stored as 01-errors: a number has at least two digits\n\
         does not exist yet: {folder}/overview.md\n\
         does not exist yet: docs/plan.md\n\
         does not exist yet: {folder}/notes/a.md\n"
    );
    assert_eq!(made.stderr, expected);
    let named_in_full = env.run_thru(&["resume", "new", "02-rest", "--load", "steps.md"]).assert_ok();
    assert_eq!(named_in_full.stderr, "does not exist yet: .agent/context/workstreams/02-rest/steps.md\n");
}

#[test]
fn nobody_is_told_to_make_the_home_folder_a_root() {
    let env = TestEnv::new();
    let home = env.home_folder();
    let status = env.thru_call(&["status"]).in_folder(&home).run().assert_ok();
    assert!(!status.stdout.contains("`thru init` makes"), "{status}");
    assert!(status.stdout.contains("it is your home folder"), "{status}");
    assert!(status.stdout.contains("Next: run `thru init` in your project's folder"), "{status}");
    let json = env.thru_call(&["status", "--json"]).in_folder(&home).run().assert_ok().json();
    assert_eq!(json["next"], "go-to-project");
    for words in [&["brief"][..], &["doctor"]] {
        let output = env.thru_call(words).in_folder(&home).run();
        assert!(!output.to_string().contains("`thru init` makes one"), "{output}");
    }
}

#[test]
fn the_constraints_of_a_claimed_packet_survive_a_compaction() {
    let env = TestEnv::with_root();
    fire_event(&env, "SessionStart", json!({"source": "startup"}));
    let rule = "Never change the signature of parse_line; the web team imports it.";
    let task = "Now make the columns of the report line up.";
    for prompt in [rule, task] {
        fire_event(&env, "UserPromptSubmit", json!({"prompt": prompt}));
        fire_event(&env, "Stop", json!({"last_assistant_message": "Understood."}));
    }
    let (id, _) = write_handoff(&env, "columns");
    env.fire_event("s2", "SessionStart", json!({"source": "startup"}));
    let claim = env.thru_call(&["pickup", &id, "--claim"]).with_variable("CLAUDE_CODE_SESSION_ID", "s2");
    claim.run().assert_ok();
    let brief = brief_beside_summary(&env, "s2", "The agent ran some commands.");
    assert!(brief.contains("From the packet: the user said: “Never change the signature"), "{brief}");
    assert!(
        brief.contains(&format!("From the packet: The user asked, 2026-11-15T19:22:00Z: “{task}”")),
        "{brief}"
    );
    let brief = brief_beside_summary(&env, "s2", &format!("The user said: {rule} {task}"));
    assert!(!brief.contains("parse_line") && !brief.contains("line up"), "the summary has it: {brief}");
}

#[test]
fn clearing_the_live_run_says_what_was_given_up() {
    let env = TestEnv::with_root();
    env.run_thru(&["gate", "expect", "review", "review-a.md"]).assert_ok();
    let run = env.store_folder().join("outputs/review-20261115T192200Z");
    let cleared = env.run_thru(&["gate", "live", "--clear"]).assert_ok();
    assert_eq!(
        cleared.stdout,
        format!("Stage review is no longer live; its files stay in {}\n", run.display())
    );
    let again = env.run_thru(&["gate", "live", "--clear"]).assert_ok();
    assert_eq!(again.stdout, "No run was live, so there was nothing to clear\n");
    env.run_thru(&["gate", "live", "--set", "review-20261115T192200Z"]).assert_ok();
    let json = env.run_thru_json(&["gate", "live", "--clear"]);
    assert_eq!((&json["run"], &json["cleared"]["stage"]), (&Value::Null, &json!("review")));
}

#[test]
fn a_file_that_is_set_aside_is_named() {
    let env = TestEnv::with_root();
    let output = json!({"file": "review-a.md", "tier": "critical", "prompt": "Review.", "launch": ["true"]});
    let expected = json!({"schema_version": 1, "stage": "review", "attempt": 1, "outputs": [output]});
    env.make_allowed_live_run("run", &expected);
    env.write_file("project/run/review-a.md", "half a report\n");
    let ran = env.run_thru(&["gate", "run"]).assert_exit_code(4);
    let names = names_in(&env.project_folder().join("run"));
    let aside = names.iter().find(|name| name.starts_with("review-a.md.set-aside-")).unwrap();
    assert!(ran.stderr.contains(&format!("set aside review-a.md: incomplete, kept as {aside}")), "{ran}");
}

/// `thru gate check` exits with 4 if an output is missing.
#[test]
fn a_command_of_thru_is_not_a_failure_of_the_project() {
    let env = TestEnv::with_root();
    fire_event(&env, "SessionStart", json!({"source": "startup"}));
    fire_event(&env, "UserPromptSubmit", json!({"prompt": "Build the parser."}));
    for command in ["thru gate check", "~/bin/thru gate check --stage review"] {
        let call = json!({"tool_name": "Bash", "tool_use_id": command, "tool_input": {"command": command},
            "error": "Exit code 4\nmissing critical a.md\nPERSISTENCE_GATE=HARD_FAIL"});
        fire_event(&env, "PostToolUseFailure", call);
    }
    let status = env.run_thru_json(&["status"]);
    assert!(status.get("failing").is_none(), "{status}");
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(!brief.contains("Failing:"), "{brief}");
}

#[test]
fn the_journal_shows_what_a_sub_agent_answered() {
    let env = TestEnv::with_root();
    let content = json!([
        {"type": "text", "text": "<tools-used-before-summary>Write</tools-used-before-summary>\n"},
        {"type": "text", "text": "Done, see file."}
    ]);
    let call = json!({"tool_name": "Agent", "tool_use_id": "t1", "tool_response": {"content": content},
        "tool_input": {"description": "Security review", "prompt": "Review."}});
    fire_event(&env, "PostToolUse", call);
    let journal = env.run_thru(&["journal"]).assert_ok();
    assert!(journal.stdout.contains("Security review  Done, see file."), "{journal}");
}

#[test]
fn a_session_that_ended_in_the_second_in_which_the_next_began_is_no_clash() {
    let env = TestEnv::with_root();
    let fire = |now: &str, session: &str, event: &str, fields: Value| {
        let payload = env.event_payload(session, event, fields).to_string();
        let now = format!("2026-11-15T{now}Z");
        env.hook_call(event, payload).with_variable("THROUGHLINE_NOW", now).run().stdout
    };
    let edit = |now: &str, session: &str| {
        let input = json!({"file_path": env.project_folder().join("src/a.py")});
        let id = format!("{session}{now}");
        fire(
            now,
            session,
            "PostToolUse",
            json!({"tool_name": "Edit", "tool_use_id": id, "tool_input": input}),
        );
    };
    fire("10:00:00", "one", "SessionStart", json!({"source": "startup"}));
    edit("10:00:03", "one");
    fire("10:00:03", "one", "SessionEnd", json!({"reason": "other"}));
    fire("10:00:03", "two", "SessionStart", json!({"source": "startup"}));
    edit("10:00:04", "two");
    let told = fire("10:00:09", "two", "UserPromptSubmit", json!({"prompt": "go on"}));
    assert!(!told.contains("src/a.py"), "{told}");
}

#[test]
fn the_journal_shows_a_message_before_the_call_that_it_announces() {
    let env = TestEnv::with_root();
    let at = "2026-11-15T19:22:00.100Z";
    let mut text = String::new();
    let mut push = |kind: &str, content: Value| {
        let message = json!({"role": kind, "content": content, "id": format!("m{}", text.len())});
        let line =
            json!({"type": kind, "uuid": format!("u{}", text.len()), "timestamp": at, "message": message});
        text.push_str(&format!("{line}\n"));
    };
    let file = env.write_file("project/a.py", "a\n");
    let calls = [
        ("t1", "Read", json!({"file_path": file}), "Let me look."),
        (
            "t2",
            "Edit",
            json!({"file_path": file, "old_string": "a", "new_string": "b"}),
            "Now let me update the parser in a.py to keep comments:",
        ),
        ("t3", "Bash", json!({"command": "make test"}), ""),
    ];
    fire_event(&env, "SessionStart", json!({"source": "startup"}));
    for (id, tool, input, said) in calls {
        if !said.is_empty() {
            push("assistant", json!([{"type": "text", "text": said}]));
        }
        push("assistant", json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]));
        push("user", json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}]));
        fire_event(&env, "PostToolUse", json!({"tool_name": tool, "tool_use_id": id, "tool_input": input}));
    }
    push("assistant", json!([{"type": "text", "text": "All done here."}]));
    let path = env.write_file("transcript.jsonl", text);
    fire_event(&env, "Stop", json!({"last_assistant_message": "All done here.", "transcript_path": path}));
    let journal = env.run_thru(&["journal"]).assert_ok().stdout;
    let at = |needle: &str| journal.find(needle).unwrap_or_else(|| panic!("{needle} in\n{journal}"));
    assert!(at("Read ") < at("Now let me update") && at("Now let me update") < at("Edit "), "{journal}");
    assert!(at("Edit ") < at("make test") && at("make test") < at("All done"), "{journal}");
}

#[test]
fn a_mistyped_packet_or_role_gets_a_suggestion() {
    let env = TestEnv::with_root();
    write_handoff(&env, "align the columns");
    write_handoff(&env, "write docs");
    for word in ["colums", "allign-the-colums", "20261115T192200Z-align-the-colums"] {
        let refused = env.run_thru(&["pickup", word]).assert_exit_code(10);
        let hint = "did you mean 20261115T192200Z-align-the-columns?";
        assert!(refused.stderr.contains(hint), "{word}: {refused}");
    }
    let refused = env.run_thru(&["pickup", "zebra"]).assert_exit_code(10);
    assert!(!refused.stderr.contains("did you mean"), "{refused}");
    let good = include_str!("../../../model/src/role/good.context.md");
    env.write_file("project/.agent/context/agents/tester.context.md", good);
    let refused = env.run_thru(&["recover", "testr"]).assert_exit_code(1);
    assert!(refused.stderr.contains("did you mean tester?"), "{refused}");
    assert_eq!(env.thru_call(&["recover", "testr", "--json"]).run().json()["similar_role"], "tester");
    assert!(!fs::exists(env.store_folder().join("agents/testr.context.md")).unwrap());
}

fn say(env: &TestEnv, prompt: &str, answer: &str) {
    fire_event(env, "UserPromptSubmit", json!({"prompt": prompt}));
    fire_event(env, "Stop", json!({"last_assistant_message": answer}));
}

/// The words after `/compact` are usually instructions for the summary.
#[test]
fn words_after_compact_are_no_message_to_the_agent() {
    let env = TestEnv::with_root();
    fire_event(&env, "SessionStart", json!({"source": "startup"}));
    say(&env, "Now add sub() to the calculator.", "I added sub() to calc.js.");
    say(&env, "write a README with usage", "I looked at it. Which language should the README use?");
    let compact = |words: &str| {
        let fields = json!({"trigger": "manual", "custom_instructions": words});
        fire_event(&env, "PreCompact", fields);
        let text = "<summary>The agent ran some commands.</summary>";
        let fields =
            json!({"agent_id": format!("a{words}"), "agent_type": "", "last_assistant_message": text});
        fire_event(&env, "SubagentStop", fields);
        env.fire_event("s1", "SessionStart", json!({"source": "compact"})).context_for_model()
    };
    let brief = compact("focus on the sub() work");
    assert!(brief.contains("Newest message (the agent has replied): “write a README with usage”"), "{brief}");
    assert!(brief.contains("- with /compact: “focus on the sub() work”"), "{brief}");
    assert_eq!(brief.matches("focus on the sub() work").count(), 1, "{brief}");
    let listed = env.run_thru(&["journal", "--list"]).assert_ok().stdout;
    assert!(!listed.contains("focus on the sub() work"), "{listed}");
    let packet = fs::read_to_string(write_handoff(&env, "README").1).unwrap();
    assert!(!packet.contains("focus on the sub() work"), "{packet}");
    assert!(packet.contains("> write a README with usage"), "{packet}");

    // The text after `/compact` applies to that compaction only.
    say(&env, "In English, please.", "I wrote README.md.");
    let asked = env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(!asked.contains("focus on the sub() work"), "{asked}");
    let brief = compact("");
    assert!(!brief.contains("focus on the sub() work") && brief.contains("In English"), "{brief}");
}

#[test]
fn a_packet_has_every_constraint_of_the_brief() {
    let env = TestEnv::with_root();
    fire_event(&env, "SessionStart", json!({"source": "startup"}));
    say(
        &env,
        "Fix add() so that the tests pass. Do not add any npm dependency.",
        "I fixed add() in calc.js.",
    );
    say(&env, "commit what works so far, but don't push", "I committed the fix.");
    say(&env, "now add sub(), and never touch package.json", "I added sub() to calc.js.");
    say(&env, "write a README with usage", "I wrote README.md.");
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    let packet = fs::read_to_string(write_handoff(&env, "README").1).unwrap();
    let constraints = packet.split("## Constraints").nth(1).unwrap().split("\n## ").next().unwrap();
    for rule in ["Do not add any npm dependency", "don't push", "never touch package.json"] {
        assert!(brief.contains(rule), "{rule}: {brief}");
        assert!(constraints.contains(rule), "{rule}: {packet}");
    }
}

#[test]
fn a_request_is_not_cut_before_a_prohibition() {
    let env = TestEnv::with_root();
    fire_event(&env, "SessionStart", json!({"source": "startup"}));
    let request = "Make slug() strip punctuation and handle German umlauts (ü -> ue, ß -> ss). Do not add any npm \
                   dependency.";
    let edit = |file: &str| {
        let input = json!({"file_path": env.project_folder().join(file), "content": "x"});
        let call = json!({"tool_name": "Write", "tool_use_id": file, "tool_input": input});
        fire_event(&env, "PostToolUse", call);
    };
    fire_event(&env, "UserPromptSubmit", json!({"prompt": request}));
    edit("slug.js");
    let done = "Punctuation works in slug.js, because I replaced the expression. I decided to keep slug() free of \
                dependencies, so that the table of umlauts is a constant.";
    fire_event(&env, "Stop", json!({"last_assistant_message": done}));
    fire_event(&env, "UserPromptSubmit", json!({"prompt": "Write a README with usage and one example"}));
    edit("README.md");
    fire_event(&env, "Stop", json!({"last_assistant_message": "I wrote README.md with one example."}));
    let packet = fs::read_to_string(write_handoff(&env, "README").1).unwrap();
    assert!(packet.contains("“Make slug()"), "{packet}");
    assert!(
        !packet.contains("ss). Do…") && packet.contains("ss). Do not add any npm dependency.” →"),
        "{packet}"
    );
}

/// Sets up the state that a new user encountered: an older packet is active, and a newer one was left by a crashed
/// session.
#[test]
fn the_status_the_start_of_a_session_and_the_pickup_choose_the_same_packet() {
    let env = crate::packets::repository_with_session();
    let at = |now: &str, words: &[&str]| {
        env.thru_call(words).with_variable("THROUGHLINE_NOW", format!("2026-11-15T{now}Z")).run().assert_ok()
    };
    let made = |now: &str, words: &[&str]| at(now, words).json()["id"].as_str().unwrap().to_owned();
    let active = made("19:30:00", &["handoff", "finish the readme", "--json"]);
    at("19:31:00", &["packet", "activate", &active]);
    let agree = |expected: &str, why: &str| {
        let now = "2026-11-15T21:00:00Z";
        let status = env.thru_call(&["status"]).with_variable("THROUGHLINE_NOW", now).run().assert_ok();
        let next = status.stdout.split("Next: ").nth(1).unwrap_or_default();
        assert!(next.starts_with(&format!("`thru pickup {expected}`")), "{why}: {status}");
        let picked = env.run_thru_json(&["pickup"]);
        assert_eq!(picked["id"], expected, "{why}");
        let payload = env
            .event_payload(&why.replace(' ', "-"), "SessionStart", json!({"source": "startup"}))
            .to_string();
        let told = env.hook_call("SessionStart", payload).run().context_for_model();
        let offer = told.lines().find(|line| line.contains("`thru pickup ")).unwrap_or_default();
        assert!(offer.contains(&format!("`thru pickup {expected} --claim`")), "{why}: {told}");
        (status.stdout, offer.to_owned())
    };
    let draft = made("20:00:00", &["handoff", "write the docs", "--json"]);
    let (status, offer) = agree(&active, "an active packet comes before a newer draft");
    assert!(!status.contains("crashed session") && !offer.contains("crashed session"), "{status}\n{offer}");
    crate::packet_sweeps::mark_process_dead(&env);
    env.run_thru(&["sweep"]).assert_ok();
    let (status, offer) = agree(&draft, "its author has crashed");
    assert!(status.contains("“write the docs”, from a crashed session"), "{status}");
    assert!(offer.contains(" crashed; "), "{offer}");
    let picked = env.run_thru(&["pickup"]).assert_ok();
    let older = format!("an older packet is also on offer: `thru pickup {active}`");
    assert!(picked.stderr.contains(&older), "{picked}");
    env.fire_event("s9", "SessionStart", json!({"source": "startup"}));
    env.run_thru(&["pickup", &active, "--claim", "--session", "s9"]).assert_ok();
    agree(&draft, "a running session works on the active one");
    let own = env.thru_call(&["pickup", "--json"]).with_variable("CLAUDE_CODE_SESSION_ID", "s9").run();
    assert_eq!(own.json()["id"], json!(active), "a session gets its own packet again");
    env.run_thru(&["packet", "done", &draft]).assert_ok();
    let taken = env.run_thru(&["pickup", "--claim"]).assert_exit_code(15);
    assert!(taken.stderr.contains("was claimed by s9"), "{taken}");
    env.run_thru(&["install", "claude-code"]).assert_ok();
    let command = fs::read_to_string(env.project_folder().join(".claude/commands/pickup.md")).unwrap();
    assert!(command.contains("or else the newest draft"), "{command}");
}

#[test]
fn settings_in_git_make_init_fail_with_the_ways_out() {
    let env = TestEnv::with_repository();
    env.write_file("project/.claude/settings.local.json", "{}");
    env.run_git(&["add", "-f", "."]);
    env.run_git(&["commit", "-qm", "settings"]);
    for _ in 0..2 {
        let init = env.run_thru(&["init"]).assert_exit_code(15);
        let [shared, own, cause] = &init.stderr.lines().rev().take(3).collect::<Vec<_>>()[..] else {
            panic!("{init}")
        };
        assert!(cause.contains("git tracks ") && cause.contains("settings.local.json;"), "{init}");
        assert!(own.contains("`thru install claude-code --user`"), "{init}");
        assert!(shared.contains("`thru install claude-code --project`"), "{init}");
        assert!(!init.stdout.contains("Next:") && init.stderr.lines().all(|line| line.len() < 250), "{init}");
    }
    let status = env.run_thru(&["status"]).assert_ok();
    assert!(!status.stdout.contains("`thru init`"), "{status}");
    assert!(status.stdout.contains("Next: `thru install claude-code --user`"), "{status}");
    assert_eq!(env.run_thru_json(&["status"])["next"], "wire-elsewhere");
    env.run_thru(&["install", "claude-code", "--user"]).assert_ok();
    let init = env.run_thru(&["init"]).assert_ok();
    assert!(!init.stderr.contains("git tracks"), "{init}");
}

#[test]
fn files_at_risk_at_a_start_are_those_of_the_last_session() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    env.write_file("project/a.py", "1");
    env.run_git(&["add", "-A"]);
    env.run_git(&["commit", "-qm", "One"]);
    fire_event(&env, "SessionStart", json!({"source": "startup"}));
    fire_event(&env, "UserPromptSubmit", json!({"prompt": "Make a.py fast"}));
    env.write_file("project/a.py", "2");
    env.write_file("project/b.py", "of nobody");
    let input = json!({"file_path": env.project_folder().join("a.py")});
    fire_event(&env, "PostToolUse", json!({"tool_name": "Edit", "tool_use_id": "e1", "tool_input": input}));
    fire_event(&env, "SessionEnd", json!({"reason": "other"}));
    let told = env.fire_event("s2", "SessionStart", json!({"source": "startup"})).context_for_model();
    assert!(told.contains("- 1 file edited by that session, not committed: a.py"), "{told}");
}

#[test]
fn a_worktree_whose_main_checkout_was_moved_is_to_be_repaired() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    let tree = env.base_folder().join("tree");
    env.run_git(&["worktree", "add", "-q", "-b", "f2", tree.to_str().unwrap()]);
    let moved = env.base_folder().join("moved");
    fs::rename(env.project_folder(), &moved).unwrap();
    for words in [&["status"][..], &["doctor"], &["brief"], &["packet", "list"]] {
        let output = env.thru_call(words).in_folder(&tree).run();
        let text = output.to_string();
        assert!(text.contains("`git worktree repair`") && !text.contains("`thru init`"), "{words:?}: {text}");
    }
    let json = env.thru_call(&["status", "--json"]).in_folder(&tree).run().assert_ok().json();
    assert_eq!(json["next"], "repair-worktree");
    env.run_git_in(&moved, &["worktree", "repair"]);
    let status = env.thru_call(&["status", "--json"]).in_folder(&tree).run().assert_ok().json();
    assert_eq!(status["root"], json!(moved));
}

#[test]
fn a_mistyped_output_gets_no_prompt() {
    let env = TestEnv::with_root();
    env.run_thru(&["gate", "expect", "review", "review-security.md", "review-style.md"]).assert_ok();
    let refused = env.run_thru(&["gate", "prompt", "review-securty.md"]).assert_exit_code(2);
    assert_eq!(refused.stdout, "");
    assert!(refused.stderr.contains("did you mean review-security.md?"), "{refused}");
    let refused = env.run_thru(&["gate", "prompt", "nope.md"]).assert_exit_code(2);
    assert!(refused.stdout.is_empty() && !refused.stderr.contains("did you mean"), "{refused}");
    assert!(refused.stderr.contains("`thru gate check`"), "{refused}");
}

#[test]
fn before_the_first_session_it_is_said_when_recording_begins() {
    let env = TestEnv::with_root();
    let journal = env.run_thru(&["journal"]).assert_exit_code(10);
    assert!(journal.stderr.contains("every session is recorded from its next prompt on"), "{journal}");
}

/// A session that changes files with `sed` counts as a session with work, although hooks report only commands and no
/// edits. Claude Code may tell the model to use `sed`.
#[test]
fn a_session_that_edits_with_commands_is_the_last_one_with_work() {
    let env = TestEnv::with_root();
    let run = |session: &str, id: &str, command: &str| {
        let input = json!({"command": command});
        let call = json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": input,
            "tool_response": {"stdout": "Ran 1 test in 0.001s\n\nOK", "stderr": ""}});
        env.fire_event(session, "PostToolUse", call);
    };
    for (session, prompt) in [("s1", "Add the totals"), ("s2", "Make the test of the totals pass")] {
        env.fire_event(session, "SessionStart", json!({"source": "startup"}));
        env.fire_event(session, "UserPromptSubmit", json!({"prompt": prompt}));
        if session == "s1" {
            let input = json!({"file_path": env.project_folder().join("cart.py"), "content": "1"});
            let call = json!({"tool_name": "Write", "tool_use_id": "t0", "tool_input": input});
            env.fire_event(session, "PostToolUse", call);
        }
        run(session, "t1", "sed -i s/1/2/ cart.py");
        run(session, "t2", "python3 -m unittest");
        env.fire_event(session, "Stop", json!({"last_assistant_message": "It passes."}));
        env.fire_event(session, "SessionEnd", json!({"reason": "other"}));
    }
    let started = || env.run_thru(&["brief", "--event", "startup"]).assert_ok().stdout;
    assert!(started().contains("Make the test of the totals pass"), "{}", started());

    // Add a session that runs no check, and a session that only discusses a plan.
    let write: &[&str] = &["sed -i s/2/3/ cart.py"];
    let sessions: [(&str, &[&str], &[&str]); 2] = [
        ("s3", &["Make the totals three"], write),
        ("s4", &["How should we round?", "Why not to cents?", "Then plan the change of the rounding"], &[]),
    ];
    for (session, prompts, commands) in sessions {
        env.fire_event(session, "SessionStart", json!({"source": "startup"}));
        for prompt in prompts {
            env.fire_event(session, "UserPromptSubmit", json!({"prompt": prompt}));
        }
        for command in commands {
            run(session, "t1", command);
        }
        env.fire_event(session, "Stop", json!({"last_assistant_message": "That is the plan."}));
        env.fire_event(session, "SessionEnd", json!({"reason": "other"}));
        assert!(started().contains(prompts[prompts.len() - 1]), "{session}: {}", started());
    }
    // A session with only one question does not hide the work before it.
    env.fire_event("s5", "SessionStart", json!({"source": "startup"}));
    env.fire_event("s5", "UserPromptSubmit", json!({"prompt": "What is the capital of France?"}));
    env.fire_event("s5", "SessionEnd", json!({"reason": "other"}));
    assert!(started().contains("Then plan the change of the rounding"), "{}", started());
}
