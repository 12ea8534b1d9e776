//! Tests how work is handed over and picked up: the content of a packet, changes since it was written, and claims.

use std::fs;
use std::sync::Barrier;

use serde_json::{Value, json};

use crate::env::TestEnv;

/// Creates a repository with two commits on `main`, and a session that worked in it.
pub fn repository_with_session() -> TestEnv {
    let env = TestEnv::with_repository();
    env.run_thru(&["context", "init"]).assert_ok();
    for (path, text) in
        [("src/parse.rs", "fn parse() {}\n"), ("src/lex.rs", "fn lex() {}\n"), ("notes.md", "x\n")]
    {
        env.write_file(format!("project/{path}"), text);
    }
    env.run_git(&["add", "."]);
    env.run_git(&["commit", "-qm", "work"]);
    fire_event(&env, "SessionStart", json!({"source": "startup"}));
    fire_event(
        &env,
        "UserPromptSubmit",
        json!({"prompt": "Build the parser. Never use regular expressions."}),
    );
    for path in ["src/parse.rs", "src/lex.rs"] {
        report_tool_call(&env, "Edit", json!({"file_path": env.project_folder().join(path)}));
    }
    report_tool_call(&env, "Read", json!({"file_path": env.project_folder().join("notes.md")}));
    let failed = json!({"tool_name": "Bash", "tool_use_id": "t9", "tool_input": {"command": "cargo test -p parse"},
        "error": "Exit code 101\nerror: src/parse.rs:1: no such rule"});
    fire_event(&env, "PostToolUseFailure", failed);
    fire_event(&env, "UserPromptSubmit", json!({"prompt": "/handoff the rest"}));
    fire_event(&env, "Stop", json!({"last_assistant_message": "Half done. Should lex.rs go as well?"}));
    env
}

pub fn fire_event(env: &TestEnv, event: &str, more: Value) -> String {
    env.fire_event("s1", event, more).stdout
}

pub fn report_tool_call(env: &TestEnv, name: &str, input: Value) {
    let id = format!("{name}-{input}");
    fire_event(env, "PostToolUse", json!({"tool_name": name, "tool_use_id": id, "tool_input": input}));
}

pub fn write_handoff(env: &TestEnv, purpose: &str) -> (String, std::path::PathBuf) {
    let told = env.run_thru_json(&["handoff", purpose]);
    let id = told["id"].as_str().unwrap().to_owned();
    let path = env.store_folder().join(format!("packets/{id}.md"));
    assert_eq!(told["path"].as_str(), path.to_str());
    (id, path)
}

/// Returns all changes since the packet was written, as `about subject: note`.
pub fn drift_lines(told: &Value) -> Vec<String> {
    let text = |claim: &Value, key: &str| claim[key].as_str().unwrap().to_owned();
    let all = told["drift"].as_array().unwrap().iter();
    all.map(|c| format!("{} {}: {}", text(c, "about"), text(c, "subject"), text(c, "note"))).collect()
}

#[test]
fn a_packet_is_filled_not_a_skeleton() {
    let env = repository_with_session();
    let (id, path) = write_handoff(&env, "finish the parser");
    assert_eq!(id, "20261115T192200Z-finish-the-parser");
    let text = fs::read_to_string(path).unwrap();
    for needle in [
        "status: draft",
        "source: claude-code",
        "> Build the parser. Never use regular expressions.",
        "- `src/parse.rs` — edited, the failing `cargo test -p parse` names it",
        "- [ ] `cargo test -p parse` — failed (exit 101) at 2026-11-15T19:22:00Z: `error: src/parse.rs:1: no such rule`",
        "Git, when this was written: branch `main` at ",
        "- Should lex.rs go as well?",
        "Goal: finish the parser",
        "- [ ] `cargo test -p parse`",
        "_none recorded_",
    ] {
        assert!(text.contains(needle), "{needle:?} in\n{text}");
    }
    assert!(!text.contains("/handoff"), "a command is not a prompt:\n{text}");
    env.run_thru(&["packet", "validate", &id]).assert_ok();
    let (second, _) = write_handoff(&env, "finish the parser");
    assert_eq!(second, "20261115T192200Z-finish-the-parser-2", "two in one second");
}

#[test]
fn nothing_captured_and_no_git_still_gives_a_packet() {
    let env = TestEnv::new();
    let told = env.run_thru(&["handoff", "begin", "at", "last"]).assert_ok();
    assert!(
        told.stdout.contains("20261115T192200Z-begin-at-last")
            && told.stderr.contains("nothing has been captured")
    );
    env.run_thru(&["packet", "validate", "--all"]).assert_ok();
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(picked.contains("Goal: begin at last") && !picked.contains("Drift"), "{picked}");
    env.run_thru(&["handoff", "  "]).assert_exit_code(2);
    let none = env.run_thru(&["handoff", "x", "--session", "nobody"]).assert_exit_code(10);
    assert!(none.stderr.contains("no session `nobody`"), "{none}");
}

#[test]
fn pickup_reports_what_drifted_and_changes_nothing() {
    let env = repository_with_session();
    let (id, path) = write_handoff(&env, "finish the parser");
    let before = fs::read(&path).unwrap();
    let same = env.run_thru_json(&["pickup", &id]);
    assert_eq!(drift_lines(&same), [""; 0]);
    assert!(same["claims"].as_array().unwrap().iter().all(|claim| claim["state"] == "verified"), "{same}");

    env.run_git(&["checkout", "-qb", "other"]);
    env.run_git(&["commit", "--allow-empty", "-qm", "on"]);
    env.write_file("project/src/parse.rs", "fn parse() { }\n");
    fs::remove_file(env.project_folder().join("src/lex.rs")).unwrap();
    let head = env.run_git(&["rev-parse", "HEAD"]);
    let old = env.run_git(&["rev-parse", "main"]);
    let told = env.run_thru_json(&["pickup", &id]);
    assert_eq!(
        drift_lines(&told),
        [
            format!("head {}: HEAD is {}, ahead by 1 commit", old.trim(), &head[..10]),
            "branch main: other is checked out now".to_owned(),
            "dirty 0: 0 files uncommitted then, 2 now: src/{lex.rs,parse.rs}".to_owned(),
            "file src/parse.rs: its content differs".to_owned(),
            "file src/lex.rs: gone".to_owned(),
        ]
    );
    let prompt = told["prompt"].as_str().unwrap();
    for needle in [
        "Drift: 5 facts changed",
        "- changed: `src/lex.rs`: gone",
        "- `notes.md` — read (verified: unchanged)",
    ] {
        assert!(prompt.contains(needle), "{needle:?} in\n{prompt}");
    }
    assert_eq!(fs::read(&path).unwrap(), before, "a pickup changes nothing");

    let at = env.run_thru(&["pickup", &id, "--for", "claude-code"]).assert_ok().stdout;
    assert!(at.contains("- @src/parse.rs — edited,"), "{at}");
    assert!(at.contains("- `src/lex.rs` — edited (changed: gone)"), "{at}");
    assert!(!prompt.contains("not committed"), "git says that nothing is uncommitted:\n{prompt}");
    env.run_thru(&["pickup", "--for", "emacs"]).assert_exit_code(2);
}

#[test]
fn pickup_does_not_say_that_committed_work_is_at_risk() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    env.write_file("project/src/cart.py", "1");
    env.run_git(&["add", "-A"]);
    env.run_git(&["commit", "-qm", "One"]);
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Make the cart halve the amount"}));
    env.write_file("project/src/cart.py", "2");
    let input = json!({"file_path": env.project_folder().join("src/cart.py")});
    env.fire_event(
        "s1",
        "PostToolUse",
        json!({"tool_name": "Edit", "tool_use_id": "e1", "tool_input": input}),
    );
    env.run_thru(&["handoff", "finish the cart", "--session", "s1"]).assert_ok();
    let before = env.run_thru(&["pickup", "cart"]).assert_ok().stdout;
    assert!(before.contains("At risk:\n- 1 file edited by the session, not committed"), "{before}");

    env.write_file("project/other.txt", "not of the session");
    env.run_git(&["commit", "-qm", "Two", "src/cart.py"]);
    let moved = env.run_thru(&["pickup", "cart"]).assert_ok().stdout;
    assert!(moved.contains(" (when the packet was written; HEAD has moved since)\n"), "{moved}");

    env.run_git(&["add", "-A"]);
    env.run_git(&["commit", "-qm", "Three"]);
    let clean = env.run_thru(&["pickup", "cart"]).assert_ok().stdout;
    assert!(!clean.contains("not committed") && !clean.contains("At risk"), "{clean}");
}

#[test]
fn hydrate_adds_what_came_later() {
    let env = repository_with_session();
    let (id, _) = write_handoff(&env, "finish the parser");
    let payload = json!({"session_id": "s2", "cwd": env.project_folder(), "tool_name": "Write", "tool_use_id": "w",
        "tool_input": {"file_path": env.project_folder().join("src/new.rs")}});
    let later = env
        .hook_call("PostToolUse", payload.to_string())
        .with_variable("THROUGHLINE_NOW", "2026-11-15T20:00:00Z");
    later.run().assert_silent("a write");
    assert!(env.run_thru_json(&["pickup", &id]).get("later").is_none());
    let told = env.run_thru_json(&["pickup", &id, "--hydrate"]);
    assert_eq!(told["files_changed_since"], json!(["src/new.rs"]));
    assert!(
        told["prompt"]
            .as_str()
            .unwrap()
            .contains("Touched later, after the packet was written:\n- `src/new.rs`")
    );
}

#[test]
fn only_one_session_can_claim_a_packet() {
    let env = repository_with_session();
    for round in 0..10 {
        let (id, _) = write_handoff(&env, &format!("round {round}"));
        let barrier = Barrier::new(2);
        let codes: Vec<i32> = std::thread::scope(|scope| {
            let claim = |session: &str| {
                let call = env
                    .thru_call(&["pickup", &id, "--claim"])
                    .with_variable("CLAUDE_CODE_SESSION_ID", session);
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    call.run().code
                })
            };
            [claim("a"), claim("b")].map(|thread| thread.join().unwrap()).to_vec()
        });
        let mut sorted = codes.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 15], "round {round}: {codes:?}");
        let winner = if codes[0] == 0 { "a" } else { "b" };
        let shown = env.run_thru_json(&["packet", "show", &id]);
        assert_eq!(
            (&shown["packet"]["claimed_by"], &shown["packet"]["status"]),
            (&json!(winner), &json!("active"))
        );
        let refused = env
            .thru_call(&["pickup", &id, "--claim"])
            .with_variable("CLAUDE_CODE_SESSION_ID", "c")
            .run()
            .assert_exit_code(15);
        let words = format!("was claimed by {winner} at 2026-11-15T19:22:00Z");
        assert!(refused.stderr.contains(&words), "{refused}");
        let again =
            env.thru_call(&["pickup", &id, "--claim"]).with_variable("CLAUDE_CODE_SESSION_ID", winner).run();
        again.assert_ok();
    }
}

#[test]
fn a_claimed_packet_is_in_the_brief_after_a_compaction() {
    let env = repository_with_session();
    let (id, _) = write_handoff(&env, "finish the parser");
    env.thru_call(&["pickup", &id, "--claim"])
        .with_variable("CLAUDE_CODE_SESSION_ID", "s1")
        .run()
        .assert_ok();
    let brief = fire_event(&env, "SessionStart", json!({"source": "compact"}));
    assert!(brief.contains(&format!("is working on packet {id}: “finish the parser”")), "{brief}");
    env.run_thru(&["packet", "done", &id]).assert_ok();
    assert!(!fire_event(&env, "SessionStart", json!({"source": "compact"})).contains(&id));
}

#[test]
fn by_hand_in_another_language_with_other_line_ends() {
    let env = TestEnv::with_root();
    let text = "\u{feff}---\r\nid: eigenes\r\nstatus: active # läuft\r\npurpose: den Parser fertig machen\r\ncreated_at: 2026-11-15T10:00:00Z\r\nupdated_at: 2026-11-15T10:00:00Z\r\n---\r\n\r\n# Übergabe\r\n\r\n## Next Prompt (Draft)\r\n\r\nMach weiter mit `src/a.rs`.\r\n\r\n## Meins\r\n\r\n---\r\n\r\n```\r\n## Intent\r\n```\r\n\r\n## Intent\r\n\r\nFertig werden.\r\n";
    let path = env.write_file("project/.agent/context/packets/eigenes.md", text);
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(picked.contains("Mach weiter mit `src/a.rs`."), "{picked}");
    let checked = env.run_thru(&["packet", "validate", "eigenes"]).assert_ok().stdout;
    assert!(checked.contains("`## Plan` is missing") && checked.contains("valid"), "{checked}");

    let set = |section: &str, words: &str| {
        env.thru_call(&["packet", "set", "eigenes", "--section", section]).with_stdin(words).run()
    };
    set("intent", "Bald fertig werden.\n").assert_ok();
    assert_eq!(fs::read_to_string(&path).unwrap(), text.replace("Fertig werden.", "Bald fertig werden."));
    set("Meins", "Neu.").assert_ok();
    assert!(fs::read_to_string(&path).unwrap().contains("## Meins\r\n\r\nNeu.\r\n\r\n## Intent\r\n"));
    let bad = set("Intnt", "x").assert_exit_code(2);
    assert!(bad.stderr.contains("did you mean `Intent`?"), "{bad}");
    let breaks = set("Intent", "a\n## b\n").assert_exit_code(15);
    assert!(breaks.stderr.contains("line 2 of the text is a heading"), "{breaks}");
}

#[test]
fn a_packet_without_our_sections_is_its_own_prompt() {
    let env = TestEnv::with_root();
    env.write_file(
        "project/.agent/context/packets/mine.md",
        "---\nid: mine\n---\nJust go on with the lexer.\n",
    );
    let picked = env.run_thru(&["pickup", "mine"]).assert_ok().stdout;
    assert!(picked.contains("Just go on with the lexer."), "{picked}");
    env.run_thru(&["packet", "validate", "mine"]).assert_exit_code(1);
}

#[test]
fn names_may_be_shortened_and_ambiguous_ones_are_listed() {
    let env = TestEnv::with_root();
    for purpose in ["fix the parser", "fix the lexer", "write docs"] {
        write_handoff(&env, purpose);
    }
    for word in [
        "docs",
        "20261115T192200Z-write",
        "20261115T192200Z-write-docs",
        "packets/20261115T192200Z-write-docs.md",
    ] {
        let shown = env.run_thru_json(&["packet", "show", word]);
        assert_eq!(shown["packet"]["purpose"], "write docs", "{word}");
    }
    let many = env.run_thru(&["packet", "show", "fix"]).assert_exit_code(15);
    assert!(many.stderr.contains("matches 2 packets") && many.stderr.contains("-fix-the-lexer"), "{many}");
    let none = env.run_thru(&["packet", "show", "nothing"]).assert_exit_code(10);
    assert!(none.stderr.contains("thru packet list"), "{none}");
    env.run_thru(&["packet", "show", "../../root"]).assert_exit_code(10);
}

#[test]
fn a_packet_passes_through_every_status() {
    let env = TestEnv::with_root();
    let (id, _) = write_handoff(&env, "one");
    env.write_file("project/sub/a.txt", "");
    let in_sub =
        |words: &[&str]| env.thru_call(words).in_folder(env.project_folder().join("sub")).run().assert_ok();
    in_sub(&["packet", "confirm", "one", "a.txt"]);
    let shown = env.run_thru_json(&["packet", "show", "one"]);
    assert_eq!(shown["packet"]["confirmed"], json!(["sub/a.txt"]), "from any folder the same paths");
    assert!(
        shown["text"].as_str().unwrap().contains("### Confirmed\n\n- `sub/a.txt` — chosen by the user\n")
    );
    env.run_thru(&["packet", "unconfirm", "one", "b.txt"]).assert_exit_code(10);
    in_sub(&["packet", "unconfirm", "one", "a.txt"]);
    assert_eq!(env.run_thru_json(&["packet", "show", "one"])["packet"]["confirmed"], json!([]));
    env.run_thru(&["packet", "block", "one"]).assert_exit_code(2);
    for (words, status) in [
        (&["packet", "block", "one", "--reason", "no access"][..], "blocked"),
        (&["packet", "activate", "one"], "active"),
        (&["packet", "done", "one"], "done"),
    ] {
        env.thru_call(words).with_variable("THROUGHLINE_NOW", "2026-11-16T00:00:00Z").run().assert_ok();
        let listed = env.run_thru_json(&["packet", "list"]);
        assert_eq!(
            (&listed[0]["status"], &listed[0]["updated_at"]),
            (&json!(status), &json!("2026-11-16T00:00:00Z"))
        );
    }
    assert_eq!(env.run_thru_json(&["packet", "list", "--status", "draft"]), json!([]));
    env.run_thru(&["packet", "list", "--status", "open"]).assert_exit_code(2);
    let none = env.run_thru(&["pickup"]).assert_exit_code(10);
    assert!(none.stderr.contains("no packet to pick up"), "{none}");
    let path = env.run_thru(&["packet", "open", &id]).assert_ok().stdout;
    assert_eq!(path.trim(), env.store_folder().join(format!("packets/{id}.md")).to_str().unwrap());
}

#[test]
fn other_peoples_handoffs_are_imported_once() {
    let env = TestEnv::with_repository();
    let file = env.write_file(
        "home/HANDOFF.md",
        "# Handoff: finish the lexer\n\nIntro.\n\n## Goal\nMake it lex.\n\n## Next Steps\n- [ ] tokens\n\n## Key files\n- `src/lex.rs`: the lexer\n- docs/a.md\n\n## Odd\n```\n## Intent\n```\n",
    );
    let file = file.to_str().unwrap();
    let before = env.file_tree();
    env.run_thru(&["packet", "import", file, "--dry-run"]).assert_ok();
    before.assert_unchanged(&env.file_tree(), "a dry run makes no root");
    env.run_thru(&["init"]).assert_ok();
    let dry = env.run_thru_json(&["packet", "import", file, "--dry-run"]);
    assert_eq!((&dry["created"], env.run_thru_json(&["packet", "list"])), (&json!(false), json!([])));
    assert_eq!(env.run_thru_json(&["packet", "import", file])["created"], true);
    let again = env.run_thru_json(&["packet", "import", file]);
    assert_eq!(
        (&again["created"], env.run_thru_json(&["packet", "list"]).as_array().unwrap().len()),
        (&json!(false), 1)
    );
    let shown = env.run_thru_json(&["packet", "show", "lexer"]);
    assert_eq!(shown["packet"]["suggested"], json!(["src/lex.rs", "docs/a.md"]));
    let text = shown["text"].as_str().unwrap();
    for needle in
        ["## Intent\n\nMake it lex.", "## Plan\n\n- [ ] tokens", "### Odd\n\n```\n## Intent\n```", "Intro."]
    {
        assert!(text.contains(needle), "{needle:?} in\n{text}");
    }
    env.run_thru(&["packet", "validate", "lexer"]).assert_ok();
    env.run_thru(&["packet", "import", "/nowhere.md"]).assert_exit_code(10);
}

/// A person's input can contain a secret, just like an agent's output. Paths are not redacted.
#[test]
fn what_is_given_is_covered_and_said_so() {
    let env = repository_with_session();
    let secret = ["ghp", "_", &"a1B2".repeat(9)].concat();
    let told = |output: &crate::call::ThruOutput| output.stderr.contains("a secret was redacted");
    let output = env
        .run_thru(&["handoff", "finish it", "--validator", &format!("GH_TOKEN={secret} make test")])
        .assert_ok();
    assert!(told(&output), "{output}");
    let id = env.run_thru_json(&["packet", "list"])[0]["id"].as_str().unwrap().to_owned();
    let read = || fs::read_to_string(env.store_folder().join(format!("packets/{id}.md"))).unwrap();
    assert!(!read().contains(&secret) && read().contains("make test"), "{}", read());
    let output = env
        .thru_call(&["packet", "set", &id, "--section", "Notes"])
        .with_stdin(format!("use {secret}\n"))
        .run()
        .assert_ok();
    assert!(told(&output) && !read().contains(&secret) && read().contains("use [REDACTED:"), "{output}");
    let output =
        env.run_thru(&["packet", "block", &id, "--reason", &format!("{secret} is no good")]).assert_ok();
    assert!(told(&output) && !read().contains(&secret) && read().contains("is no good"), "{output}");
    let output = env
        .thru_call(&["packet", "set", &id, "--section", "Plan"])
        .with_stdin("1. go on\n")
        .run()
        .assert_ok();
    assert!(!told(&output), "{output}");

    let foreign = env.write_file("h.md", format!("# Finish the lexer\n\n## Notes\n\ntoken {secret}\n"));
    let output = env.run_thru(&["packet", "import", foreign.to_str().unwrap()]).assert_ok();
    assert!(told(&output), "{output}");
    let imported = env.run_thru(&["packet", "show", "lexer"]).assert_ok();
    assert!(imported.stdout.contains("[REDACTED:") && !imported.stdout.contains(&secret), "{imported}");
    assert_eq!(env.run_thru_json(&["packet", "import", foreign.to_str().unwrap()])["created"], false, "once");

    let path = format!("keys/{secret}.txt");
    env.write_file(format!("project/{path}"), "x");
    env.run_thru(&["packet", "confirm", &id, &path]).assert_ok();
    assert!(read().contains(&path), "a path is needed as it is");
}

#[test]
fn the_same_packets_from_a_worktree_and_a_subfolder() {
    let env = repository_with_session();
    let (id, _) = write_handoff(&env, "finish the parser");
    env.run_git(&["worktree", "add", "-q", "../tree"]);
    for folder in [env.project_folder().join("src"), env.base_folder().join("tree")] {
        let listed = env.thru_call(&["packet", "list", "--json"]).in_folder(&folder).run().assert_ok().json();
        assert_eq!(listed[0]["id"], id.as_str(), "{}", folder.display());
    }
}

#[test]
fn a_session_that_broke_off_leaves_a_packet() {
    let env = repository_with_session();
    // The session's process is the process of this test, which is running.
    assert_eq!(env.run_thru_json(&["sweep"]), json!([]));
    let sessions = env.store_folder().join("indexes/sessions.jsonl");
    let text = fs::read_to_string(&sessions).unwrap();
    let (stamp, _) = text.split_once("\"process\":\"").expect("a process").1.split_once('"').unwrap();
    let dead = stamp.replacen(':', ":1", 1);
    fs::write(&sessions, text.replace(stamp, &dead)).unwrap();
    let dry = env.run_thru_json(&["sweep", "--dry-run"]);
    assert_eq!((&dry[0]["session"], &dry[0]["written"]), (&json!("s1"), &json!(false)));
    assert_eq!(env.run_thru_json(&["packet", "list"]), json!([]));

    // The hook of the next session start writes the packet, and reports it once.
    let start = |session: &str| {
        let payload = json!({"session_id": session, "cwd": env.project_folder(), "hook_event_name": "SessionStart", "source": "startup"});
        env.fire_hook("SessionStart", &payload).stdout
    };
    // A truncated payload gets no reply, so the packet has not been reported to any agent yet.
    let torn =
        format!(r#"{{"session_id":"s0","cwd":{:?},"source":"startup","model":"x"#, env.project_folder());
    env.hook_call("SessionStart", torn).run().assert_silent("torn");
    let told = start("s2");
    let listed = env.run_thru_json(&["packet", "list"]);
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    let id = listed[0]["id"].as_str().expect("a packet");
    assert!(listed[0]["purpose"].as_str().unwrap().starts_with("Build the parser"), "{listed}");
    assert!(told.contains(&format!("thru pickup {id}")), "{told}");
    assert!(!start("s3").contains("crashed;"), "once");
    assert_eq!(env.run_thru_json(&["sweep"]), json!([]), "it was seen to");
}

#[test]
fn a_session_that_ended_is_not_swept() {
    let env = repository_with_session();
    fire_event(&env, "SessionEnd", json!({"reason": "other"}));
    let sessions = env.store_folder().join("indexes/sessions.jsonl");
    let text = fs::read_to_string(&sessions).unwrap();
    fs::write(&sessions, text.replace("\"process\":\"", "\"process\":\"9")).unwrap();
    assert_eq!(env.run_thru_json(&["sweep"]), json!([]));
}

#[test]
fn what_factory_left_becomes_packets() {
    let env = TestEnv::with_root();
    let none = env.run_thru(&["import", "factory"]).assert_ok();
    assert!(none.stderr.contains("No handoffs were found"), "{none}");
    let original =
        env.write_file("project/.factory/handoffs/a.md", "# Finish the lexer\n\n## Goal\n\nLex.\n");
    env.write_file("project/.factory/notes.md", "not one\n");
    env.write_file("home/.factory/HANDOFF-b.md", "# Finish the parser\n");
    env.write_file("home/.factory/commands/handoff.md", "mine\n");
    let dry = env.run_thru_json(&["import", "factory", "--dry-run"]);
    assert_eq!(
        (dry["imported"].as_array().unwrap().len(), env.run_thru_json(&["packet", "list"])),
        (2, json!([]))
    );
    let told = env.run_thru_json(&["import", "factory"]);
    assert_eq!(told["imported"].as_array().unwrap().iter().filter(|one| one["created"] == true).count(), 2);
    assert!(told["commands"][0].as_str().unwrap().ends_with("home/.factory/commands/handoff.md"), "{told}");
    env.run_thru_json(&["import", "factory"]);
    assert_eq!(env.run_thru_json(&["packet", "list"]).as_array().unwrap().len(), 2, "twice is once");
    assert_eq!(fs::read_to_string(original).unwrap(), "# Finish the lexer\n\n## Goal\n\nLex.\n");
    env.run_thru(&["import", "factory", "/nowhere"]).assert_exit_code(10);
}

#[test]
fn a_claim_is_for_a_session_that_is_known_or_for_one_person() {
    let env = repository_with_session();
    let (id, _) = write_handoff(&env, "finish the parser");
    env.run_thru(&["pickup", &id, "--claim", "--session", "nobody"]).assert_exit_code(10);
    let first = |user: &str| env.thru_call(&["pickup", &id, "--claim"]).with_variable("USER", user).run();
    first("ann").assert_ok();
    let second = first("ann").assert_exit_code(15);
    assert!(second.stderr.contains("was claimed by ann at"), "{second}");
}

#[test]
fn nothing_outside_of_the_project_is_confirmed_or_looked_into() {
    let env = repository_with_session();
    let outside = env.write_file("home/secret.txt", "x");
    report_tool_call(&env, "Read", json!({"file_path": outside}));
    std::os::unix::fs::symlink(&outside, env.project_folder().join("link.txt")).unwrap();
    report_tool_call(&env, "Read", json!({"file_path": env.project_folder().join("link.txt")}));
    let (id, path) = write_handoff(&env, "finish the parser");
    let text = fs::read_to_string(path).unwrap();
    let seen = text.lines().find(|line| line.starts_with("files_seen:")).unwrap();
    assert!(
        seen.contains("src/parse.rs") && !seen.contains("secret.txt") && !seen.contains("link.txt"),
        "{seen}"
    );
    env.run_thru(&["packet", "confirm", &id, "../home/secret.txt"]).assert_exit_code(15);
    env.run_thru(&["packet", "confirm", &id, "src/nothing.rs"]).assert_exit_code(10);
    let told = env.run_thru_json(&["pickup", &id]);
    assert_eq!(drift_lines(&told), [""; 0], "what was not looked into has not changed: {told}");
}
