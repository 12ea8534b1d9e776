//! Tests that the latest work is offered first after a crash, and that counts and lists are correct.

use super::previews_and_titles::{ask, edit_file, run_command, stop};
use super::*;
use crate::packet_sweeps::mark_process_dead;

/// A file that a session edits with a shell command counts as changed.
#[test]
fn the_log_of_a_loop_counts_what_commands_wrote() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    env.run_thru(&["loop", "start", "--session", "s1", "Make the tests pass", "--promise", "OK"]).assert_ok();
    let turn = |n: usize, commands: &[&str]| {
        for (i, command) in commands.iter().enumerate() {
            run_command(&env, "s1", &format!("t{n}-{i}"), command);
        }
        let said = json!({"last_assistant_message": format!("Turn {n} is over.")});
        env.hook_call("Stop", env.event_payload("s1", "Stop", said).to_string()).run();
    };
    turn(1, &["ls src", "cargo test"]);
    turn(2, &["sed -i s/1/2/ cart.py", "echo hi > notes.txt"]);
    turn(3, &["python3 gen.py"]);
    turn(4, &["sed -i s/1/2/ cart.py", "make generate"]);
    edit_file(&env, "s1", "e1", "tax.py");
    turn(5, &[]);
    // In this turn, a file that was edited earlier is only read.
    let read = json!({"tool_name": "Read", "tool_use_id": "r1",
        "tool_input": {"file_path": env.project_folder().join("tax.py")}});
    env.fire_event("s1", "PostToolUse", read);
    turn(6, &["git add tax.py", "git status"]);
    let log = env.run_thru(&["loop", "log"]).assert_ok();
    let turns: Vec<&str> = log.stdout.lines().filter(|line| line.contains("  continued  ")).collect();
    let expected = [
        "no file changed, 2 calls",
        "2 files changed, 2 calls",
        "no edits, but commands may have changed files, 1 call",
        "at least 1 file changed, 2 calls",
        "1 file changed, 1 call",
        "no file changed, 3 calls",
    ];
    assert_eq!(turns.len(), expected.len(), "{log}");
    for (line, expected) in turns.iter().zip(expected) {
        assert!(line.ends_with(expected), "{line}\n{log}");
    }
    let entries = env.run_thru_json(&["loop", "log"])["entries"].clone();
    assert_eq!(entries[2]["files"], json!(["cart.py", "notes.txt"]), "{entries}");
}

/// In the last session, the user only asked a question; the session before it did the work. Both commands describe the
/// session that did the work.
#[test]
fn the_status_and_the_brief_describe_the_same_last_session() {
    let env = TestEnv::with_root();
    let (worked, asked) = ("9487a9f7-611a-4b6c-8f3e-0123456789ab", "c0ffee00-611a-4b6c-8f3e-0123456789ab");
    start_session(&env, worked);
    ask(&env, worked, "Make the cart apply a discount");
    edit_file(&env, worked, "e1", "cart.py");
    stop(&env, worked, "The discount is applied.");
    end_session(&env, worked);
    start_session(&env, asked);
    ask(&env, asked, "What is the capital of France?");
    stop(&env, asked, "Paris.");
    end_session(&env, asked);
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(status.contains("2, most recent work: 9487a9f7 in Claude Code, just now\n"), "{status}");
    assert!(status.contains("Next: `thru brief` shows where session 9487a9f7 left off\n"), "{status}");
    assert!(status.contains("“Make the cart apply a discount”"), "{status}");
    let brief = env.run_thru(&["brief"]).assert_ok();
    assert!(brief.stdout.starts_with("Throughline: session 9487a9f7, as of "), "{brief}");
    let startup = env.run_thru(&["brief", "--event", "startup"]).assert_ok();
    assert!(startup.stdout.contains("the last session that did any work here was 9487a9f7"), "{startup}");
    assert_eq!(env.run_thru_json(&["status"])["last_session"]["session"], worked);
    assert_eq!(env.run_thru_json(&["brief"])["session"], worked);
}

#[test]
fn a_brief_says_which_event_it_previews() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    ask(&env, "s1", "Make the cart apply a discount");
    edit_file(&env, "s1", "e1", "cart.py");
    let note = |words: &[&str]| env.run_thru(words).assert_ok().stderr;
    let compact = "Preview: what session s1 is told after a compaction\n";
    assert!(
        note(&["brief"]).starts_with("Session s1 as it stands. To preview what a hook would send: --event")
    );
    assert_eq!(note(&["brief", "--event", "compact"]), compact);
    assert_eq!(note(&["brief", "--event", "startup", "--session", "s1"]).lines().count(), 1);
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"}));
    env.fire_event("s1", "SessionStart", json!({"source": "compact"}));
    ask(&env, "s1", "Go on");
    edit_file(&env, "s1", "e2", "cart.py");
    end_session(&env, "s1");
    assert!(note(&["brief"]).starts_with("Session s1 as it stands."), "it has ended");
    assert!(
        note(&["brief", "--event", "startup"]).contains("what a new session here is told when it starts")
    );
    assert_eq!(env.run_thru(&["brief", "--json"]).assert_ok().stderr, "");
    let help = note_of_help(&env, &["brief", "--help"]);
    assert!(help.contains("which event it previews") && help.contains("--as-sent"), "{help}");
}

fn note_of_help(env: &TestEnv, words: &[&str]) -> String {
    let help = env.run_thru(words).assert_ok().stdout;
    help.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A session crashes after another packet was written. The packet of the crashed session describes the latest work, so
/// this packet is offered first.
#[test]
fn after_a_crash_the_packet_of_the_crashed_session_comes_first() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    start_session(&env, "s1");
    let active = write_packet(&env);
    end_session(&env, "s1");
    start_session(&env, "s2");
    env.run_thru(&["packet", "activate", &active]).assert_ok();
    let later = |words: &[&str]| {
        env.thru_call(words).with_variable("THROUGHLINE_NOW", "2026-11-15T21:00:00Z").run().assert_ok()
    };
    ask(&env, "s2", "Now write the table of symbols");
    edit_file(&env, "s2", "e1", "symbols.rs");
    mark_process_dead(&env);
    let swept = later(&["sweep", "--json"]).json();
    let crashed = swept[0]["packet"].as_str().unwrap().to_owned();
    let status = later(&["status"]).stdout;
    assert!(status.contains(", from a crashed session (and 1 more)\n"), "{status}");
    assert!(status.contains(&format!("\nNext: `thru pickup {crashed}` ")), "{status}");
    assert!(!status.contains("is newer"), "{status}");
    let picked = later(&["pickup"]);
    assert!(picked.stdout.starts_with(&format!("Picking up packet {crashed},")), "{picked}");
    assert!(
        picked.stderr.contains(&format!("an older packet is also on offer: `thru pickup {active}`")),
        "{picked}"
    );
    let told = env.fire_event("s3", "SessionStart", json!({"source": "startup"})).context_for_model();
    assert!(told.contains(&format!("thru pickup {crashed}")), "{told}");
}

/// Three of the packet's facts are verified. The fourth, the number of uncommitted files, cannot be verified.
#[test]
fn the_number_of_facts_is_the_number_of_facts_listed() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    env.write_file("project/cart.py", "1\n");
    env.run_git(&["add", "-A"]);
    env.run_git(&["commit", "-qm", "One"]);
    start_session(&env, "s1");
    ask(&env, "s1", "Make the cart apply a discount");
    env.write_file("project/cart.py", "2\n");
    edit_file(&env, "s1", "e1", "cart.py");
    let failed = json!({"tool_name": "Bash", "tool_use_id": "b1", "tool_input": {"command": "python3 -m unittest"},
        "error": "Exit code 1\nFAIL: test_cart (test_cart.T)\nAssertionError: 90 != 100\n\nRan 1 test in 0.000s\n\nFAILED (failures=1)"});
    env.fire_event("s1", "PostToolUseFailure", failed);
    edit_file(&env, "s1", "e2", "cart.py");
    env.write_file("project/notes.txt", "1\n");
    env.run_thru(&["handoff", "discount", "--session", "s1"]).assert_ok();
    // The user's file is not the same as when the packet was written.
    env.write_file("project/notes.txt", "2\n");
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    let drift = picked.split("\nDrift: ").nth(1).unwrap_or_else(|| panic!("{picked}"));
    let (head, list) = drift.split_once('\n').unwrap();
    assert_eq!(head, "none found; 3 facts verified, 1 unverified.", "{picked}");
    let listed: Vec<&str> = list.lines().take_while(|line| line.starts_with("- ")).collect();
    let count = |state: &str| listed.iter().filter(|line| line.starts_with(&format!("- {state}: "))).count();
    assert_eq!((count("verified"), count("unverified")), (3, 1), "{picked}");
    assert!(listed.contains(&"- verified: 1 file, see the list below"), "{picked}");
    // A check that failed before the last edits may succeed now.
    let check = picked.lines().find(|line| line.starts_with("- `python3 -m unittest`: failed")).unwrap();
    assert!(check.contains(", before the last edits; run it again"), "{check}");
}

#[test]
fn without_a_running_loop_the_loops_are_listed() {
    let env = TestEnv::with_root();
    let none = env.run_thru(&["loop", "cancel"]).assert_exit_code(10);
    assert_eq!(
        none.stderr,
        "error: no loop in this project is running\nhint:  `thru loop start` starts one\n"
    );
    let none = env.run_thru(&["loop", "log"]).assert_exit_code(10);
    assert!(none.stderr.starts_with("error: there are no loops in this project\n"), "{none}");
    start_session(&env, "s1");
    let begin = |minute: u32, prompt: &str| {
        let call = env.thru_call(&["loop", "start", prompt, "--session", "s1", "--promise", "OK"]);
        call.with_variable("THROUGHLINE_NOW", format!("2026-11-15T19:0{minute}:00Z")).run().assert_ok();
    };
    begin(1, "uno");
    env.run_thru(&["loop", "cancel"]).assert_ok();
    begin(2, "dos");
    env.run_thru(&["loop", "pause"]).assert_ok();
    for words in [&["loop", "cancel"][..], &["loop", "pause"]] {
        let none = env.run_thru(words).assert_exit_code(10);
        let expected = "error: no loop in this project is running\nhint:  name the loop that you mean; paused: \
                        20261115T190200Z-dos\n";
        assert_eq!(none.stderr, expected);
    }
    env.run_thru(&["loop", "cancel", "dos"]).assert_ok();
    let none = env.run_thru(&["loop", "resume"]).assert_exit_code(10);
    assert!(none.stderr.contains("no loop in this project is paused\n"), "{none}");
    assert!(none.stderr.contains("ended: 20261115T19"), "{none}");
    begin(3, "tres");
    let other = env.thru_call(&["loop", "cancel"]).with_variable("CLAUDE_CODE_SESSION_ID", "s2").run();
    let other = other.assert_exit_code(10);
    assert!(other.stderr.contains("no loop in this session is running\n"), "{other}");
    assert!(other.stderr.contains("20261115T190300Z-tres"), "{other}");
}

#[test]
fn the_help_names_every_limit_of_a_loop() {
    let env = TestEnv::with_root();
    let help = note_of_help(&env, &["loop", "start", "--help"]);
    assert!(help.contains("3 turns in a row without progress"), "{help}");
    assert!(help.contains("loops.no_progress_turns"), "{help}");
}

/// The agent says that it committed, but git refused because no e-mail address was configured. The brief reports the
/// failure and the uncommitted files.
#[test]
fn a_commit_that_failed_behind_a_pipe_is_told_and_its_files_are_at_risk() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    env.write_file("project/cart.py", "1\n");
    env.run_git(&["add", "-A"]);
    env.run_git(&["commit", "-qm", "One"]);
    start_session(&env, "s1");
    ask(&env, "s1", "Make the cart apply a discount, and commit");
    env.write_file("project/cart.py", "2\n");
    edit_file(&env, "s1", "e1", "cart.py");
    env.run_git(&["add", "-A"]);
    let command = "git add -A && git commit -qm 'Discount' && git log --oneline | head -1";
    let failed = json!({"tool_name": "Bash", "tool_use_id": "b1", "tool_input": {"command": command},
        "error": "Exit code 128\nfatal: unable to auto-detect email address (got 'root@vm.(none)')"});
    env.fire_event("s1", "PostToolUseFailure", failed);
    stop(&env, "s1", "The discount works and is committed.");
    end_session(&env, "s1");
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(brief.contains("1 file edited by the session, not committed: cart.py"), "{brief}");
    assert!(brief.contains("Failing:\n- `git add -A && git commit -qm 'Discount'"), "{brief}");
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(status.contains("failing      `git add -A && git commit"), "{status}");
}

#[test]
fn a_path_with_other_letters_is_printed_in_one_piece() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    ask(&env, "s1", "Correct the sizes");
    for path in ["src/über/größe.txt", "src/über/maß.txt", "docs dir/table of sizes.md"] {
        env.write_file(format!("project/{path}"), "1\n");
        edit_file(&env, "s1", path, path);
    }
    stop(&env, "s1", "The sizes are correct.");
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    for path in ["`src/über/größe.txt`", "`src/über/maß.txt`", "`docs dir/table of sizes.md`"] {
        assert!(brief.contains(path), "{brief}");
    }
}

#[test]
fn an_empty_folder_of_a_harness_is_called_empty() {
    let env = TestEnv::new();
    fs::create_dir_all(env.home_folder().join(".claude")).unwrap();
    let init = env.run_thru(&["init"]).assert_ok();
    let folder = env.home_folder().join(".claude");
    assert!(init.stderr.contains(&format!("{} (which is empty),", folder.display())), "{init}");
}

/// The user states a purpose for the handoff, so something is left to do, although the agent's last message does not
/// announce a next step.
#[test]
fn a_handoff_with_a_purpose_does_not_say_that_nothing_is_open() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    ask(&env, "s1", "Round the totals half up");
    edit_file(&env, "s1", "e1", "round.py");
    stop(&env, "s1", "r() exists; total() does not call it yet.");
    env.run_thru(&["handoff", "round the totals", "--session", "s1"]).assert_ok();
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(!picked.contains("Nothing is open"), "{picked}");
    assert!(picked.contains("\nBegin with: what the goal still requires;"), "{picked}");
    assert!(picked.contains("total() does not call it yet."), "{picked}");
}

/// A session picks up a packet, gets another request and crashes. Its own packet still contains what the first packet
/// said.
#[test]
fn the_packet_of_a_session_repeats_the_packet_that_the_session_picked_up() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    start_session(&env, "s1");
    let rule = "Never change the signature of total; the web team imports it.";
    ask(&env, "s1", rule);
    stop(&env, "s1", "Understood.");
    ask(&env, "s1", "Round the totals half up");
    edit_file(&env, "s1", "e1", "round.py");
    let first = env.run_thru_json(&["handoff", "round the totals", "--session", "s1"]);
    let first = first["id"].as_str().unwrap();
    end_session(&env, "s1");
    start_session(&env, "s2");
    claim_packet(&env, first, "s2", &["--claim"]).assert_ok();
    ask(&env, "s2", "Also print the total");
    edit_file(&env, "s2", "e2", "cart.py");
    stop(&env, "s2", "Printing is next.");
    mark_process_dead(&env);
    let swept = env.run_thru_json(&["sweep"]);
    let packet = swept[0]["packet"].as_str().unwrap().to_owned();
    let picked = env.run_thru(&["pickup", &packet]).assert_ok().stdout;
    assert!(
        picked.contains(&format!("The session picked up packet {first}, which says:\n> round the totals")),
        "{picked}"
    );
    assert!(picked.contains("> Round the totals half up"), "{picked}");
    assert!(picked.contains(rule), "{picked}");
    assert!(picked.contains("Begin with: what the agent said it would do: “Printing is next.”"), "{picked}");
    // The new packet continues the older one, so only the new one is on offer.
    let told = env.run_thru(&["brief", "--event", "startup"]).assert_ok().stdout;
    assert!(told.contains(" crashed; `thru pickup ") && !told.contains("on offer:"), "{told}");
}

/// If no session is named, thru neither uses nor suggests a session whose process was killed. This applies even if
/// there is no other session.
#[test]
fn a_session_that_crashed_is_neither_guessed_nor_suggested() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    ask(&env, "s1", "Make the lexer fast");
    edit_file(&env, "s1", "e1", "lexer.rs");
    mark_process_dead(&env);
    env.run_thru(&["context", "new", "tester"]).assert_ok();
    let bound = env.run_thru(&["role", "bind", "tester"]).assert_exit_code(15);
    assert!(bound.stderr.contains("run this inside the session"), "{bound}");
    env.run_thru(&["resume", "new", "24-new-parser"]).assert_ok();
    env.run_thru(&["resume", "use", "24"]).assert_exit_code(15);
    let expected = env.run_thru(&["gate", "expect", "review", "review-a.md"]).assert_ok();
    assert!(!expected.to_string().contains("is told which outputs"), "{expected}");
    let started = env.run_thru(&["loop", "start", "go on"]).assert_exit_code(2);
    assert!(started.stderr.contains("no session is open now"), "{started}");
    // The crashed session is accepted if the user names it, because the user may resume it.
    env.run_thru(&["role", "bind", "tester", "--session", "s1"]).assert_ok();
}

#[test]
fn a_manifest_always_says_what_is_next() {
    let env = TestEnv::with_root();
    env.run_thru(&["resume", "new", "24-new-parser", "--load", "steps.md"]).assert_ok();
    let steps = ".agent/context/workstreams/24-new-parser/steps.md";
    let next = |text: Option<&str>| {
        text.iter().for_each(|text| drop(env.write_file(format!("project/{steps}"), text)));
        let shown = env.run_thru(&["resume", "show"]).assert_ok().stdout;
        let line = shown.lines().find_map(|line| line.strip_prefix("next step ")).map(str::trim);
        line.unwrap_or_else(|| panic!("{shown}")).to_owned()
    };
    assert_eq!(next(None), "none: no file that it loads has a `- [ ]` box");
    assert_eq!(next(Some("- [ ] write the lexer\n")), "write the lexer");
    assert_eq!(next(Some("- [x] write the lexer\n")), "none: all checkboxes are ticked");
}

/// The brief at a session start describes the last session in the same checkout, even if a session in another worktree
/// is newer. So do `thru status` and `thru brief`.
#[test]
fn the_last_session_of_this_checkout_comes_before_one_of_another_worktree() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    env.write_file("project/cart.py", "1\n");
    env.run_git(&["add", "-A"]);
    env.run_git(&["commit", "-qm", "One"]);
    let tree = add_worktree(&env);
    let work = |session: &str, folder: &Path, second: u32| {
        for (event, fields) in [
            ("SessionStart", json!({"source": "startup"})),
            ("UserPromptSubmit", json!({"prompt": format!("Work of {session}")})),
            (
                "PostToolUse",
                json!({"tool_name": "Edit", "tool_use_id": session,
                "tool_input": {"file_path": folder.join("cart.py")}}),
            ),
            ("SessionEnd", json!({"reason": "exit"})),
        ] {
            let mut payload = env.event_payload(session, event, fields);
            payload["cwd"] = json!(folder);
            let call = env.hook_call(event, payload.to_string()).with_variable("CLAUDE_PROJECT_DIR", folder);
            call.with_variable("THROUGHLINE_NOW", format!("2026-11-15T19:2{second}:00Z")).run();
        }
    };
    work("there", &tree, 1);
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(
        status.contains("most recent work: there in Claude Code, ") && status.contains(", in the worktree "),
        "{status}"
    );
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(brief.contains("its files are in that worktree, not in this one"), "{brief}");
    work("here", &env.project_folder(), 2);
    work("there2", &tree, 3);
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(
        status.contains("3, most recent work: here in Claude Code, ") && !status.contains("in the worktree"),
        "{status}"
    );
    let startup = env.run_thru(&["brief", "--event", "startup"]).assert_ok().stdout;
    assert!(startup.contains("the last session that did any work here was here,"), "{startup}");
    assert_eq!(env.run_thru_json(&["brief"])["session"], "here");
    let there = env.thru_call(&["brief", "--json"]).in_folder(&tree).run().json();
    assert_eq!(there["session"], "there2");
}

/// After `sed` has changed the code, the failed check is out of date. It is closed when another command runs the same
/// tests successfully.
#[test]
fn a_check_that_ran_before_a_command_changed_code_is_out_of_date() {
    let env = TestEnv::with_root();
    env.write_file("project/add.js", "a-b\n");
    start_session(&env, "s1");
    ask(&env, "s1", "Fix add()");
    let failed = json!({"tool_name": "Bash", "tool_use_id": "b1", "tool_input": {"command": "npm test"},
        "error": "Exit code 1\nnot ok 1 - add\n  error: '-1 == 3'\n# fail 1"});
    env.fire_event("s1", "PostToolUseFailure", failed);
    run_command(&env, "s1", "b2", "sed -i s/a-b/a+b/ add.js");
    let brief = || env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(brief().contains("`npm test` (exit 1, before the last edit to add.js)"), "{}", brief());
    let passed = json!({"tool_name": "Bash", "tool_use_id": "b3", "tool_input": {"command": "node --test"},
        "tool_response": {"stdout": "ok 1 - add\n# tests 1\n# pass 1\n# fail 0\n", "stderr": "", "exitCode": 0}});
    env.fire_event("s1", "PostToolUse", passed);
    assert!(!brief().contains("Failing:"), "{}", brief());
    run_command(&env, "s1", "b4", "sed -i s/a+b/b+a/ add.js");
    assert!(brief().contains("`node --test` → passed, before the last edits"), "{}", brief());
    env.run_thru(&["handoff", "add", "--session", "s1"]).assert_ok();
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(picked.contains("`node --test`: unverified: passed at "), "{picked}");
    assert!(picked.contains(", before the last edits; run it again"), "{picked}");
}

#[test]
fn a_loop_of_a_moved_folder_is_not_called_foreign() {
    let env = TestEnv::with_root();
    env.run_thru(&["loop", "start", "--next", "Write the docs", "--promise", "OK"]).assert_ok();
    let moved = env.base_folder().join("moved");
    fs::rename(env.project_folder(), &moved).unwrap();
    let list = env.thru_call(&["loop", "list"]).in_folder(&moved).run().assert_ok();
    assert!(list.stdout.contains("active (folder moved)"), "{list}");
    assert!(list.stderr.contains("`thru trust --moved`") && !list.to_string().contains("adopt"), "{list}");
    env.thru_call(&["trust", "--moved"]).in_folder(&moved).run().assert_ok();
    let list = env.thru_call(&["loop", "list"]).in_folder(&moved).run().assert_ok();
    assert!(list.stdout.contains("▷ 20261115T192200Z-write-the-docs  active  "), "{list}");
}
