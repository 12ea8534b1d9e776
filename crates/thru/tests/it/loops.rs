//! `thru loop` and `thru import ralph`, as people use them.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::env::{TestEnv, names_in};

fn env_with_session() -> TestEnv {
    let env = TestEnv::with_root();
    env.fire_hook(
        "SessionStart",
        &json!({"session_id": "9487a9f7-611a", "cwd": env.project_folder(), "source": "startup"}),
    );
    env
}

const OWNER_ARGUMENTS: [&str; 2] = ["--session", "9487a9f7-611a"];

fn report_stop(env: &TestEnv, now: &str, text: &str) {
    let payload =
        json!({"session_id": "9487a9f7-611a", "cwd": env.project_folder(), "last_assistant_message": text});
    env.hook_call("Stop", payload.to_string()).with_variable("THROUGHLINE_NOW", now).run();
}

#[test]
fn a_list_and_a_log_to_read() {
    let env = env_with_session();
    assert_snapshot!(env.run_thru(&["loop", "list"]), @"
    exit: 0
    ---- stderr
    There are no loops yet; `thru loop start` starts one.
    ");
    let words = ["loop", "start", "Write the docs", "--max-iterations", "2"];
    env.thru_call(&[&words[..], &OWNER_ARGUMENTS].concat())
        .with_variable("THROUGHLINE_NOW", "2026-11-14T10:00:00Z")
        .run()
        .assert_ok();
    report_stop(&env, "2026-11-14T10:05:00Z", "Half of it.");
    report_stop(&env, "2026-11-14T10:09:00Z", "More of it.");
    let words = [
        "loop",
        "start",
        "Make all tests pass.",
        "--promise",
        "ALL TESTS PASS",
        "--validator",
        "test -f green",
    ];
    assert_snapshot!(env.run_thru(&[&words[..], &OWNER_ARGUMENTS].concat()), @"
    exit: 0
    ---- stdout
    Started 20261115T192200Z-make-all-tests-pass, iteration 1 of 30, session 9487a9f7
    It ends when the agent says <promise>ALL TESTS PASS</promise> and the validators pass, or after 30 iterations.
    ---- stderr
    note: Claude Code continues at most 8 times in a row without a tool call; start it with CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=0 to remove this limit
    ");
    report_stop(&env, "2026-11-15T19:23:00Z", "Three are red.");
    let edit = json!({"session_id": "9487a9f7-611a", "cwd": env.project_folder(), "tool_name": "Edit", "tool_use_id": "t1",
        "tool_input": {"file_path": env.project_folder().join("src/parse.rs")}});
    env.fire_hook("PostToolUse", &edit);
    report_stop(&env, "2026-11-15T19:31:00Z", "<promise>ALL TESTS PASS</promise>");
    let later =
        |words: &[&str]| env.thru_call(words).with_variable("THROUGHLINE_NOW", "2026-11-15T19:40:00Z").run();
    assert_snapshot!(later(&["loop", "list"]), @"
    exit: 0
    ---- stdout
    ▶ 20261115T192200Z-make-all-tests-pass  active          3 of 30  9487a9f7  9 min ago     ALL TESTS PASS
      20261114T100000Z-write-the-docs       paused (limit)   2 of 2  9487a9f7  33 h ago
    ");
    assert_snapshot!(later(&["loop", "log", "make-all"]), @"
    exit: 0
    ---- stdout
    20261115T192200Z-make-all-tests-pass  active, iteration 3 of 30, session 9487a9f7
    2026-11-15 UTC
    19:22:00     1  started    session 9487a9f7
    19:23:00     1  continued  ended without the promise  no file changed, 0 calls
    19:31:00     2  continued  gave the promise, but `test -f green` did not pass (exit 1)  1 file changed, 1 call
                               src/parse.rs
    ");
    let status = later(&["status"]).stdout;
    assert!(status.contains("loop      20261115T192200Z-make-all-tests-pass, iteration 3 of 30"), "{status}");
    assert_eq!(env.run_thru_json(&["status"])["loop"]["iteration"], 3);
    env.write_file("project/green", "");
    report_stop(&env, "2026-11-15T19:41:00Z", "<promise>ALL TESTS PASS</promise>");
    assert_snapshot!(later(&["loop", "log", "2026111"]), @"
    exit: 15
    ---- stderr
    error: `2026111` matches 2 loops
    hint:  20261114T100000Z-write-the-docs, 20261115T192200Z-make-all-tests-pass
    ");
    let log = later(&["loop", "log", "make"]).stdout;
    assert!(log.contains("19:41:00     3  done       promise  no file changed, 0 calls"), "{log}");
    assert!(!later(&["status"]).stdout.contains("\nloop "));
    assert!(
        later(&["loop", "log"]).stdout.contains("make-all-tests-pass"),
        "none runs: the one that changed last"
    );
}

/// The list distinguishes the loop that is running, a loop that waits for the next session, and a loop that waits for
/// another loop.
#[test]
fn loops_that_wait_are_told_from_the_one_that_runs() {
    let env = env_with_session();
    for (minute, words) in [
        (1, ["Write the docs", "--session", "9487a9f7-611a"]),
        (2, ["Make all tests pass", "--session", "9487a9f7-611a"]),
        (3, ["Port it to Windows", "--next", "--max-iterations=5"]),
    ] {
        let call = env.thru_call(&[&["loop", "start"][..], &words].concat());
        call.with_variable("THROUGHLINE_NOW", format!("2026-11-15T19:0{minute}:00Z")).run().assert_ok();
    }
    assert_snapshot!(env.run_thru(&["loop", "list"]), @"
    exit: 0
    ---- stdout
    ▷ 20261115T190300Z-port-it-to-windows   active           1 of 5  next session  19 min ago
    ▶ 20261115T190200Z-make-all-tests-pass  active          1 of 30  9487a9f7      20 min ago
      20261115T190100Z-write-the-docs       active (waits)  1 of 30  9487a9f7      21 min ago
    ---- stderr
    `thru loop activate 20261115T190100Z-write-the-docs` brings a waiting loop to the foreground
    ");
}

#[test]
fn a_loop_wants_to_know_its_session() {
    let env = env_with_session();
    assert_snapshot!(env.run_thru(&["loop", "start", "work"]), @"
    exit: 2
    ---- stderr
    error: which session should run the loop? This command does not know which session it runs in
    hint:  use --session ID (the newest that has not ended is 9487a9f7-611a), or --next for the next session that starts here
    ");
    let inside =
        env.thru_call(&["loop", "start", "work", "--json"]).with_variable("CLAUDE_CODE_SESSION_ID", "here");
    let started = inside.run().assert_ok().json();
    assert_eq!((&started["loop"]["session"], &started["chosen"]), (&json!("here"), &json!("harness")));
    assert!(started["notes"].to_string().contains("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=0"), "{started}");
    env.run_thru(&["loop", "start", "work", "--session", "nobody"]).assert_exit_code(10);
    env.run_thru(&["loop", "start", "work", "--session", "9487", "--next"]).assert_exit_code(2);
    // Droid does not tell commands which session they run in. So `thru` uses the newest session, and the output says
    // so.
    let payload = json!({"session_id": "d1", "cwd": env.project_folder(), "source": "startup"}).to_string();
    env.thru_call(&["hook", "droid", "SessionStart"])
        .with_variable("FACTORY_PROJECT_DIR", env.project_folder())
        .with_stdin(payload)
        .run();
    let inside = env
        .thru_call(&["loop", "start", "work", "--json"])
        .with_variable("FACTORY_PROJECT_DIR", env.project_folder());
    let started = inside.run().assert_ok().json();
    assert_eq!((&started["loop"]["session"], &started["chosen"]), (&json!("d1"), &json!("guess")));
}

#[test]
fn what_cannot_be_promised_or_fed_is_refused() {
    let env = env_with_session();
    for words in [
        &["--promise", " "][..],
        &["--promise", "<promise>X</promise>"],
        &["--promise", "A  B", "--promise", "A B"],
        &["--for", "soon"],
        &["--for", "0h"],
    ] {
        env.run_thru(&[&["loop", "start", "work", "--next"], words].concat()).assert_exit_code(2);
    }
    env.run_thru(&["loop", "start", "--next", " \n "]).assert_exit_code(2);
    env.run_thru(&["loop", "start", "--next"]).assert_exit_code(2);
    env.run_thru(&["loop", "start", "--next", "--file", "nowhere.md"]).assert_exit_code(10);
    env.run_thru(&["loop", "start", "--next", "--from-packet", "none"]).assert_exit_code(10);
    assert_eq!(env.run_thru_json(&["loop", "list"])["loops"], json!([]), "nothing was left behind");
}

#[test]
fn several_loops_and_one_in_the_foreground() {
    let env = env_with_session();
    let start =
        |prompt: &str| env.run_thru_json(&[&["loop", "start", prompt], &OWNER_ARGUMENTS[..]].concat());
    let (a, b) = (start("alpha"), start("beta"));
    assert!(b["notes"][0].as_str().unwrap().contains("alpha was in the foreground"), "{b}");
    let front = || -> Vec<String> {
        let list = env.run_thru_json(&["loop", "list"]);
        let loops = list["loops"].as_array().unwrap().iter().filter(|one| one["foreground"] == true);
        loops.map(|one| one["prompt"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(front(), ["beta"]);
    assert_eq!(a["loop"]["status"], "active", "it waits");
    env.run_thru(&[&["loop", "activate", "alpha"], &OWNER_ARGUMENTS[..]].concat()).assert_ok();
    assert_eq!(front(), ["alpha"]);
    let other = env.thru_call(&["loop", "cancel"]).with_variable("CLAUDE_CODE_SESSION_ID", "another").run();
    assert!(other.assert_exit_code(10).stderr.contains("no loop in this session"), "never another session's");
    env.run_thru(&["loop", "pause"]).assert_ok();
    assert_eq!(front(), [""; 0]);
    env.run_thru(&["loop", "resume"]).assert_ok();
    assert_eq!(front(), ["alpha"], "the one that is paused is meant");
    env.run_thru(&["loop", "pause"]).assert_ok();
    env.run_thru(&[&["loop", "activate", "alpha"], &OWNER_ARGUMENTS[..]].concat()).assert_exit_code(15);
    env.run_thru(&["loop", "resume", "alpha"]).assert_ok();
    assert_eq!(front(), ["alpha"], "back to the session it had");
    env.run_thru(&["loop", "cancel", "alpha"]).assert_ok();
    for words in [
        &["loop", "resume", "alpha"][..],
        &["loop", "activate", "alpha", "--next"],
        &["loop", "pause", "alpha"],
    ] {
        let refused = env.run_thru(words).assert_exit_code(15);
        assert!(refused.stderr.contains("cancelled, and that is final"), "{refused}");
    }
    assert_eq!(env.run_thru_json(&["loop", "cancel", "alpha"])["changed"], false, "twice is once");
    // The index can be deleted, because it is rebuilt from the loops.
    env.run_thru(&[&["loop", "activate", "beta"], &OWNER_ARGUMENTS[..]].concat()).assert_ok();
    fs::remove_file(env.store_folder().join("indexes/active-loop.json")).unwrap();
    assert_eq!(front(), ["beta"]);
    env.write_file("project/.agent/context/indexes/active-loop.json", "{torn");
    start("gamma");
    assert_eq!(front(), ["gamma"]);
}

/// If a user types `thru loop cancel "$ID"` and the variable is not set, no loop is cancelled.
#[test]
fn no_name_at_all_means_no_loop() {
    let env = env_with_session();
    env.run_thru(&["loop", "start", "Go on.", "--next"]).assert_ok();
    let refused = env.run_thru(&["loop", "cancel", ""]).assert_exit_code(10);
    assert!(refused.stderr.contains("there is no loop ``"), "{refused}");
    assert!(env.run_thru(&["loop", "list"]).assert_ok().stdout.contains("active"));
}

#[test]
fn a_loop_that_is_used_up_wants_more_to_go_on() {
    let env = env_with_session();
    env.run_thru(&[&["loop", "start", "work", "--max-iterations", "1"], &OWNER_ARGUMENTS[..]].concat())
        .assert_ok();
    report_stop(&env, "2026-11-15T19:23:00Z", "Hm.");
    assert_snapshot!(env.run_thru(&["loop", "resume", "work"]), @"
    exit: 15
    ---- stderr
    error: 20261115T192200Z-work has used up its 1 iterations
    hint:  `thru loop resume 20261115T192200Z-work --max-iterations N` gives it more iterations; N counts from the start of the loop
    ");
    let resumed = env.run_thru_json(&["loop", "resume", "work", "--max-iterations", "5"]);
    assert_eq!(
        (&resumed["loop"]["max_iterations"], &resumed["loop"]["foreground"]),
        (&json!(5), &json!(true))
    );
    assert_eq!(resumed["loop"].get("ended_reason"), None);
}

#[test]
fn a_packet_gives_prompt_promise_and_limit_but_runs_nothing_unasked() {
    let env = env_with_session();
    let packet = "---\nid: 20261115T190000Z-parser\nstatus: active\nloop_promise: PARSED\nloop_max_iterations: 7\nvalidators: [\"touch ran\"]\n---\n\n## Intent\n\nx\n\n## Next Prompt (Draft)\n\nMend the parser.\n\nThen stop.\n\n## Plan\n\ny\n";
    env.write_file("project/.agent/context/packets/20261115T190000Z-parser.md", packet);
    let words = ["loop", "start", "--from-packet", "20261115T19", "--next"];
    let shown = env.run_thru_json(&words);
    let started = &shown["loop"];
    assert_eq!(started["prompt"], "Mend the parser.\n\nThen stop.");
    assert_eq!((&started["max_iterations"], &started["promises"][0]["text"]), (&json!(7), &json!("PARSED")));
    assert_eq!(started["validators"], json!([]));
    assert!(shown["notes"][0].as_str().unwrap().contains("`touch ran` is not run"), "{shown}");
    let taken = env.run_thru_json(&[&words[..], &["--with-validators", "--promise", "MINE"]].concat());
    assert_eq!(
        (&taken["loop"]["validators"], &taken["loop"]["promises"][0]["text"]),
        (&json!(["touch ran"]), &json!("MINE"))
    );
    let text = env.run_thru(&["loop", "show", taken["loop"]["id"].as_str().unwrap()]).assert_ok().stdout;
    assert!(
        text.contains("source_packet_id: \"20261115T190000Z-parser\"")
            || text.contains("source_packet_id: 20261115T190000Z-parser"),
        "{text}"
    );
}

#[test]
fn no_loop_where_hooks_do_nothing() {
    let env = TestEnv::with_root();
    env.run_thru(&["trust", "--revoke"]).assert_ok();
    let refused = env.run_thru(&["loop", "start", "--next", "work"]).assert_exit_code(15);
    assert!(refused.stderr.contains("thru trust"), "{refused}");
    let fresh = TestEnv::new();
    assert_eq!(fresh.run_thru_json(&["loop", "list"])["loops"], json!([]));
    fresh.run_thru(&["loop", "show"]).assert_exit_code(10);
    fresh.run_thru(&["loop", "start", "--next", "work"]).assert_ok();
    assert_eq!(fresh.run_thru_json(&["status"])["trusted"], true, "it made the root, and vouches for it");
}

const RALPH_STATE: &str = "---\nactive: true\niteration: 4\nsession_id: abc\nmax_iterations: 20\ncompletion_promise: \"TASK COMPLETE\"\nstarted_at: \"2026-11-01T08:00:00Z\"\n---\n\nBuild it.\n\n---\n\nSay so when done.\n";

#[test]
fn a_ralph_loop_comes_in_paused_and_once() {
    let env = TestEnv::with_root();
    env.run_thru(&["import", "ralph"]).assert_exit_code(10);
    let file = env.write_file("project/.claude/ralph-loop.local.md", RALPH_STATE);
    let dry = env.run_thru(&["import", "ralph", "--dry-run"]).assert_ok();
    assert!(dry.stdout.contains("iteration 4 of 20"), "{dry}");
    assert_eq!(env.run_thru_json(&["loop", "list"])["loops"], json!([]));
    let report = env.run_thru_json(&["import", "ralph"]);
    let imported = &report["loop"];
    assert_eq!(
        (&imported["status"], &imported["iteration"], &imported["max_iterations"]),
        (&json!("paused"), &json!(4), &json!(20))
    );
    assert_eq!(imported["prompt"], "Build it.\n\n---\n\nSay so when done.");
    assert_eq!(
        (&imported["promises"][0]["text"], &imported["created_at"]),
        (&json!("TASK COMPLETE"), &json!("2026-11-01T08:00:00Z"))
    );
    fs::write(&file, RALPH_STATE.replace("iteration: 4", "iteration: 5")).unwrap();
    let again = env.run_thru_json(&["import", "ralph"]);
    assert_eq!(
        (&again["already_imported"], &again["loop"]["id"]),
        (&json!(true), &imported["id"]),
        "it went on meanwhile"
    );
    assert_eq!(env.run_thru_json(&["loop", "list"])["loops"].as_array().unwrap().len(), 1);
    assert!(fs::read_to_string(&file).unwrap().contains("iteration: 5"), "the original is as it was");
    let id = imported["id"].as_str().unwrap();
    assert_eq!(imported["started_here"], false, "it is a file of the tree");
    env.run_thru(&["loop", "resume", id, "--next"]).assert_exit_code(15);
    env.thru_call(&["loop", "adopt", id]).run_on_terminal("y\n").assert_ok();
    env.run_thru(&["loop", "resume", id, "--next"]).assert_ok();
    let unlimited =
        env.write_file("project/other.md", "---\nmax_iterations: 0\ncompletion_promise: null\n---\nGo.\n");
    let report: Value = env.run_thru_json(&["import", "ralph", unlimited.to_str().unwrap()]);
    assert_eq!((&report["loop"]["max_iterations"], &report["loop"]["promises"]), (&json!(0), &json!([])));
    env.write_file("project/none.md", "no frontmatter\n");
    env.run_thru(&["import", "ralph", "none.md"]).assert_exit_code(12);
}

/// Validators run at a stop, so the timeout of the stop hook must allow for their time.
#[test]
fn the_stop_hook_gets_the_time_of_the_validators() {
    let env = TestEnv::with_root();
    let timeouts = || {
        env.run_thru(&["install", "claude-code", "--local"]).assert_ok();
        let text = fs::read_to_string(env.project_folder().join(".claude/settings.local.json")).unwrap();
        let settings: Value = serde_json::from_str(&text).unwrap();
        let of = |event: &str| settings["hooks"][event][0]["hooks"][0]["timeout"].clone();
        (of("Stop"), of("PreCompact"))
    };
    assert_eq!(timeouts(), (json!(300), json!(10)));
    env.write_file("project/.agent/context/config.toml", "[loops]\nvalidator_timeout = 900\n");
    assert_eq!(timeouts(), (json!(900), json!(10)));
}

#[test]
fn validators_need_a_promise_to_follow() {
    let env = TestEnv::with_root();
    for words in [
        &["loop", "start", "--next", "go", "--validator", "true"][..],
        &["loop", "start", "--next", "go", "--promise", "DONE", "--validator", " "],
        &["loop", "start", "--next", "go", "--blocked-promise", "STUCK", "--validator", "true"],
    ] {
        env.run_thru(words).assert_exit_code(2);
    }
    assert_eq!(names_in(&env.store_folder().join("loops")), [""; 0]);
}
