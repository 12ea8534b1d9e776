//! Tests `thru status`, which must describe the current state in terms that a new user understands.

use insta::assert_snapshot;

use crate::env::TestEnv;

#[test]
fn a_newcomer_is_told_what_to_do_next() {
    let env = TestEnv::new();
    assert_snapshot!(env.mask_variable_parts(&env.run_thru(&["status"]).to_string()), @"
    exit: 0
    ---- stdout
    No root yet. This project's records would be kept in
      $PROJECT/.agent/context

    Next: `thru init` makes this project a root
    ");
    env.run_thru(&["init"]).assert_ok();
    assert_snapshot!(env.mask_variable_parts(&env.run_thru(&["status"]).to_string()), @"
    exit: 0
    ---- stdout
    project   project (<uuid>)
    root      $PROJECT
    records   private: nothing goes into git
    trust     trusted on this machine
    hooks     no settings file calls thru here; `thru init` installs hooks for the harnesses in use (not needed with a plugin)
    sessions  0

    Next: `thru init` installs hooks for the harnesses that it finds, and `thru install HARNESS` installs them for another one; until then nothing is captured
    ");
    env.fire_hook("SessionStart", &env.captured_payload("SessionStart.startup")).assert_silent("start");
    assert_snapshot!(env.mask_variable_parts(&env.run_thru(&["status"]).to_string()), @"
    exit: 0
    ---- stdout
    project   project (<uuid>)
    root      $PROJECT
    records   private: nothing goes into git
    trust     trusted on this machine
    hooks     no settings file calls thru here; `thru init` installs hooks for the harnesses in use (not needed with a plugin)
    sessions  1, most recent work: 9487a9f7 in Claude Code, just now

    Next: `thru journal` shows what has been captured from session 9487a9f7
    ");
    env.run_thru(&["trust", "--revoke"]).assert_ok();
    assert_snapshot!(env.mask_variable_parts(&env.run_thru(&["status"]).to_string()), @"
    exit: 0
    ---- stdout
    project   project (<uuid>)
    root      $PROJECT
    records   private: nothing goes into git
    trust     not trusted: hooks record nothing here and tell the agent nothing
    hooks     no settings file calls thru here; `thru init` installs hooks for the harnesses in use (not needed with a plugin)
    sessions  1, most recent work: 9487a9f7 in Claude Code, just now

    Next: look at the records in .agent/context, then run `thru trust`
    ");
}

#[test]
fn hooks_that_do_nothing_are_told() {
    let env = TestEnv::with_root();
    let hooks = |env: &TestEnv| {
        let shown = env.run_thru(&["status"]).assert_ok().stdout;
        shown.lines().find(|line| line.starts_with("hooks ")).unwrap_or_default().to_owned()
    };
    assert!(hooks(&env).contains("no settings file calls thru"), "{}", hooks(&env));
    env.run_thru(&["install", "claude-code", "--local"]).assert_ok();
    assert_eq!(hooks(&env), "hooks     installed for Claude Code");
    env.write_file("project/.agent/context/config.toml", "[hooks]\nenabled = false\n");
    assert!(hooks(&env).contains("switched off"), "{}", hooks(&env));
    let doctor = env.run_thru(&["doctor"]);
    assert!(doctor.stdout.contains("hooks.enabled is false"), "{doctor}");
}

#[test]
fn packets_that_are_done_are_not_counted_as_open() {
    let env = TestEnv::with_root();
    let packets = |env: &TestEnv| {
        let shown = env.run_thru(&["status"]).assert_ok().stdout;
        shown.lines().find(|line| line.starts_with("packets ")).unwrap_or_default().replace("packets   ", "")
    };
    let make = |purpose: &str| env.run_thru_json(&["handoff", purpose])["id"].as_str().unwrap().to_owned();
    let (first, second) = (make("finish the lexer"), make("finish the parser"));
    assert_eq!(packets(&env), format!("2, the newest {second}"));
    env.run_thru(&["packet", "done", &second]).assert_ok();
    assert_eq!(packets(&env), format!("2, 1 of them open, the newest {first}"));
    assert_eq!(env.run_thru_json(&["status"])["packets"]["open"], 1);
    env.run_thru(&["packet", "done", &first]).assert_ok();
    assert_eq!(packets(&env), "2, all done");
    assert_eq!(env.run_thru_json(&["status"])["on_offer"], serde_json::Value::Null);
}

#[test]
fn all_packets_on_offer_are_counted() {
    let env = TestEnv::with_root();
    for n in 1..=9 {
        env.run_thru(&["handoff", &format!("step {n}")]).assert_ok();
    }
    let shown = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(shown.contains("“step 9” (and 8 more)"), "{shown}");
}

#[test]
fn settings_that_are_not_in_force_are_named() {
    let env = TestEnv::with_root();
    env.write_file("project/.agent/context/config.toml", "[hooks\n");
    let status = env.run_thru(&["status"]).assert_ok();
    assert!(status.stderr.contains("config.toml:1: not valid TOML"), "{status}");
    assert_eq!(env.run_thru_json(&["status"])["settings_problems"][0]["line"], 1);
}

#[test]
fn the_json_of_status() {
    let env = TestEnv::new();
    assert_snapshot!(env.mask_variable_parts(&env.run_thru(&["status", "--json"]).assert_ok().stdout), @r#"
    {
      "root": "$PROJECT",
      "marked": false,
      "trusted": false,
      "sessions": 0,
      "wired": [],
      "next": "init"
    }
    "#);
    env.run_thru(&["init", "--shared"]).assert_ok();
    env.fire_hook("SessionStart", &env.captured_payload("SessionStart.startup")).assert_silent("start");
    assert_snapshot!(env.mask_variable_parts(&env.run_thru(&["status", "--json"]).assert_ok().stdout), @r#"
    {
      "root": "$PROJECT",
      "marked": true,
      "project_id": "<uuid>",
      "name": "project",
      "mode": "shared",
      "trusted": true,
      "sessions": 1,
      "last_session": {
        "session": "<uuid>",
        "at": "2026-11-15T19:22:00Z",
        "harness": "claude-code"
      },
      "wired": [],
      "next": "nothing",
      "next_step": {
        "command": "thru journal",
        "why": "shows what has been captured from session 9487a9f7"
      }
    }
    "#);
}

#[test]
fn sessions_are_counted_by_journal_not_by_part() {
    let env = TestEnv::with_root();
    for name in ["a", "a~0001", "a~0002", "b"] {
        env.write_file(format!("project/.agent/context/sessions/{name}.jsonl"), "{}\n");
    }
    assert_eq!(env.run_thru_json(&["status"])["sessions"], 2);
}

#[test]
fn the_last_session_is_found_behind_torn_lines() {
    let env = TestEnv::with_root();
    env.fire_hook("SessionStart", &env.captured_payload("SessionStart.startup")).assert_silent("start");
    let list = env.store_folder().join("indexes/sessions.jsonl");
    let mut text = std::fs::read_to_string(&list).unwrap();
    text.push_str("{\"ts\":\"2026-11-15T19:2");
    std::fs::write(&list, text).unwrap();
    assert_eq!(
        env.run_thru_json(&["status"])["last_session"]["session"],
        "9487a9f7-611a-47e9-8202-df72ea246773"
    );
}

#[test]
fn every_kind_of_record_has_its_line() {
    let env = TestEnv::with_root();
    // Write the packets before the session starts, because a session with a packet counts as handled.
    env.run_thru(&["handoff", "finish the lexer"]).assert_ok();
    env.run_thru(&["handoff", "finish the parser"]).assert_ok();
    env.fire_hook(
        "SessionStart",
        &serde_json::json!({"session_id": "s1", "cwd": env.project_folder(), "source": "startup"}),
    );
    env.fire_hook(
        "UserPromptSubmit",
        &serde_json::json!({"session_id": "s1", "cwd": env.project_folder(), "prompt": "x"}),
    );
    let edit = serde_json::json!({"file_path": env.project_folder().join("a"), "old_string": "a", "new_string": "b"});
    let call = serde_json::json!({"tool_name": "Edit", "tool_use_id": "e", "tool_input": edit});
    env.fire_event("s1", "PostToolUse", call);
    env.run_thru(&["context", "new", "tester"]).assert_ok();
    env.run_thru(&["resume", "new", "01-parser"]).assert_ok();
    let sessions = env.store_folder().join("indexes/sessions.jsonl");
    let text = std::fs::read_to_string(&sessions).unwrap();
    // With another process id, the record matches no running process, so the session counts as crashed.
    std::fs::write(&sessions, text.replace("\"process\":\"", "\"process\":\"9")).unwrap();
    assert_snapshot!(env.mask_variable_parts(&env.run_thru(&["status"]).assert_ok().stdout), @"
    project      project (<uuid>)
    root         $PROJECT
    records      private: nothing goes into git
    trust        trusted on this machine
    hooks        no settings file calls thru here; `thru init` installs hooks for the harnesses in use (not needed with a plugin)
    sessions     1, most recent work: s1 in Claude Code, just now
    roles        tester
    workstreams  01-parser
    crashed      1 session; `thru sweep` writes a packet for it
    packets      2, the newest 20261115T192200Z-finish-the-parser
    on offer     “finish the parser” (and 1 more)
    last prompt  “x”

    Next: `thru sweep` saves the work of a crashed session as a packet
    ");
    let json = env.run_thru_json(&["status"]);
    assert_eq!((&json["packets"]["count"], &json["crashed_sessions"]), (&2.into(), &1.into()), "{json}");
    assert_eq!(
        (&json["roles"][0], &json["workstreams"][0]),
        (&"tester".into(), &"01-parser".into()),
        "{json}"
    );
    let bind = env.thru_call(&["role", "bind", "tester", "--session", "s1"]);
    bind.with_variable("CLAUDE_CODE_SESSION_ID", "s1").run().assert_ok();
    let here = env.thru_call(&["status"]).with_variable("CLAUDE_CODE_SESSION_ID", "s1").run().assert_ok();
    assert!(here.stdout.contains("role         tester in this session"), "{here}");
}

/// The status line finds the project from the harness's payload or from `--root`, which may come before or after the
/// command.
#[test]
fn the_status_line_of_a_named_root() {
    let env = TestEnv::with_root();
    env.run_thru(&["plan", "init", "Parser", "--phase", "Read"]).assert_ok();
    env.run_thru(&["task", "add", "Lexer"]).assert_ok();
    env.run_thru(&["task", "start", "1.1"]).assert_ok();
    let status = r#"{"session_id":"s1","context_window":{"used_percentage":42}}"#;
    let root = env.project_folder().to_string_lossy().into_owned();
    let joined = format!("--root={root}");
    let line =
        |words: &[&str]| env.thru_call(words).in_folder("/").with_stdin(status).run().assert_ok().stdout;
    assert_eq!(line(&["statusline"]), "context 42%\n");
    for words in
        [&["statusline", "--root", &root][..], &["--root", &root, "statusline"], &["statusline", &joined]]
    {
        assert_eq!(line(words), "context 42% · task 1.1\n", "{words:?}");
    }
    assert_eq!(line(&["statusline", "--root"]), "context 42%\n", "a word is missing");
    let both = line(&["--root", &root, "statusline", "--after", "echo mine"]);
    assert_eq!(both, "mine\ncontext 42% · task 1.1\n");
}
