//! Effects on the outside world are recorded as soon as the call ends. Briefs mention them, so that the agent does not
//! repeat them.

use serde_json::{Value, json};

use crate::env::{TestEnv, merge_fields};

const COMMIT_OUTPUT: &str = "[main 3696270] Add the parser\n 2 files changed, 9 insertions(+)";
const PUSH_OUTPUT: &str = "To github.com:o/r.git\n   b7b88a7..3696270  main -> main";
const COMMENT_REPLY: &str = r#"{"url":"https://api.github.com/repos/o/r/pulls/comments/2752893362","id":2752893362,"node_id":"x","diff_hunk":"@@","html_url":"https://github.com/o/r/pull/133#discussion_r2752893362"}"#;

/// Reports a successful command in the format of Claude Code. Git prints the result of a push on stderr.
fn report_command(env: &TestEnv, id: &str, command: &str, stdout: &str, stderr: &str) {
    let response = json!({"stdout": stdout, "stderr": stderr, "interrupted": false});
    let call = json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": command}, "tool_response": response});
    env.fire_event("s1", "PostToolUse", call).assert_silent(command);
}

fn report_edit(env: &TestEnv, id: &str, path: &str) {
    let input = json!({"file_path": env.project_folder().join(path)});
    env.fire_event("s1", "PostToolUse", json!({"tool_name": "Edit", "tool_use_id": id, "tool_input": input}))
        .assert_silent(path);
}

fn recorded_effects(env: &TestEnv) -> Vec<Value> {
    env.read_journal("s1")
        .into_iter()
        .flat_map(|line| line["effect"].as_array().cloned().unwrap_or_default())
        .collect()
}

#[test]
fn a_call_is_written_down_with_what_it_did() {
    let env = TestEnv::with_root();
    report_command(&env, "t1", "git add -A && git commit -m 'Add the parser'", COMMIT_OUTPUT, "");
    report_command(&env, "t2", "git push origin main 2>&1 | tail -2", PUSH_OUTPUT, "");
    report_command(
        &env,
        "t3",
        "gh api repos/o/r/pulls/133/comments/27/replies -f body=Done",
        COMMENT_REPLY,
        "",
    );
    report_command(&env, "t4", "git log --oneline", "3696270 Add the parser", "");
    report_command(&env, "t5", "echo git push", "git push", "");
    let tool = json!({"tool_name": "mcp__linear__create_issue", "tool_use_id": "t6", "tool_input": {"title": "Bug"},
        "tool_response": [{"type": "text", "text": "{\"id\":\"u\",\"identifier\":\"ENT-5\"}"}]});
    env.fire_event("s1", "PostToolUse", tool);
    let failed = json!({"tool_name": "Bash", "tool_use_id": "t7", "tool_input": {"command": "git push"},
        "error": "Exit code 1\nTo github.com:o/r.git\n ! [rejected]        main -> main (fetch first)"});
    env.fire_event("s1", "PostToolUseFailure", failed);
    assert_eq!(
        recorded_effects(&env),
        [
            json!({"kind": "commit", "what": "Add the parser", "place": "main", "id": "3696270"}),
            json!({"kind": "push", "what": "main", "place": "origin", "id": "b7b88a7..3696270"}),
            json!({"kind": "comment", "what": "reply to 27", "place": "o/r#133", "id": "2752893362",
                "link": "https://github.com/o/r/pull/133#discussion_r2752893362"}),
            json!({"kind": "issue", "what": "created: Bug", "place": "linear", "id": "ENT-5"}),
        ]
    );
}

#[test]
fn droid_tells_it_in_one_text() {
    let env = TestEnv::with_root();
    let fire = |command: &str, response: &str| {
        let payload = json!({"session_id": "s1", "cwd": env.project_folder(), "hook_event_name": "PostToolUse", "tool_name": "Execute",
            "tool_input": {"command": command}, "tool_response": response});
        let call = env
            .thru_call(&["hook", "droid", "PostToolUse"])
            .with_variable("FACTORY_PROJECT_DIR", env.project_folder());
        call.with_stdin(payload.to_string()).run().assert_silent(command);
    };
    fire(
        "git commit -m x && git push",
        &format!("{COMMIT_OUTPUT}\n{PUSH_OUTPUT}\n\n\n[Process exited with code 0]"),
    );
    fire("gh pr create --fill", "https://github.com/o/r/pull/7\n\n\n[Process exited with code 0]");
    fire("git commit -m y", "nothing to commit, working tree clean\n\n\n[Process exited with code 1]");
    let ids: Vec<Value> = recorded_effects(&env).iter().map(|effect| effect["id"].clone()).collect();
    assert_eq!(ids, ["3696270", "b7b88a7..3696270", "7"]);
}

#[test]
fn a_secret_in_an_effect_is_redacted() {
    let env = TestEnv::with_root();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    report_command(
        &env,
        "t1",
        "git commit -m x",
        &format!("[main 3696270] Use {token} for now\n 1 file changed, 1 insertion(+)"),
        "",
    );
    let pushed = format!("To https://me:{token}@github.com/o/r.git\n   b7b88a7..3696270  main -> main");
    report_command(&env, "t2", "git push", "", &pushed);
    let told = serde_json::to_string(&recorded_effects(&env)).unwrap();
    assert!(!told.contains(&token) && told.contains("REDACTED") && told.contains("3696270"), "{told}");
}

#[test]
fn a_brief_says_what_is_at_risk_first() {
    let env = TestEnv::with_root();
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Build the parser"}));
    report_edit(&env, "t1", "src/parse.rs");
    report_edit(&env, "t2", "src/lex.rs");
    report_command(&env, "t3", "git status --short", " M src/parse.rs", "");
    report_command(&env, "t4", "git checkout -b topic", "", "Switched to a new branch 'topic'");
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    let risk =
        "At risk:\n- 2 files edited by the session, not in any commit seen here: src/{lex.rs,parse.rs}\n";
    assert!(brief.contains(risk), "{brief}");
    assert!(brief.find("At risk").unwrap() < brief.find("Build the parser").unwrap(), "{brief}");
    assert!(brief.contains("branch topic"), "{brief}");
    report_command(&env, "t5", "git add src/parse.rs && git commit -m 'Add the parser'", COMMIT_OUTPUT, "");
    report_command(&env, "t6", "git push", "", PUSH_OUTPUT);
    report_command(&env, "t7", "git commit -m Two --allow-empty", "[main 4444444] Two", "");
    for id in 1..=8 {
        let command = format!("gh api repos/o/r/pulls/133/comments/{id}/replies -f body=Done --jq .id");
        report_command(&env, &format!("r{id}"), &command, &format!("90000{id:02}"), "");
    }
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"}));
    let summary =
        json!({"agent_id": "a", "agent_type": "", "last_assistant_message": "<summary>All done.</summary>"});
    env.fire_event("s1", "SubagentStop", summary);
    let brief = env.fire_event("s1", "SessionStart", json!({"source": "compact"})).stdout;
    let risk = "1 file edited by this session, not in any commit seen after 4444444; the summary does not say so: src/lex.rs";
    assert!(brief.contains(risk), "{brief}");
    assert!(brief.contains("commit 4444444 is not pushed"), "{brief}");
    assert!(brief.contains("pushed main"), "{brief}");
    for id in
        ["3696270", "4444444"].map(str::to_owned).into_iter().chain((1..=8).map(|id| format!("90000{id:02}")))
    {
        assert!(brief.contains(&id), "{id}: {brief}");
    }
    // The journal is authoritative. A deleted digest is rebuilt from the journal and leads to the same brief.
    std::fs::remove_dir_all(env.store_folder().join("state/digest")).unwrap();
    assert!(env.run_thru(&["brief"]).assert_ok().stdout.contains("8 comments on o/r#133"));
}

#[test]
fn a_summary_that_says_uncommitted_is_put_right() {
    let env = TestEnv::with_root();
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Build the parser"}));
    report_edit(&env, "t1", "src/parse.rs");
    report_command(&env, "t2", "git commit -am 'Add the parser'", COMMIT_OUTPUT, "");
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"}));
    let text = "<summary>The parser is written; the changes are uncommitted.</summary>";
    env.fire_event(
        "s1",
        "SubagentStop",
        json!({"agent_id": "a", "agent_type": "", "last_assistant_message": text}),
    );
    let brief = env.fire_event("s1", "SessionStart", json!({"source": "compact"})).stdout;
    assert!(brief.contains("the summary says “are uncommitted”; commit 3696270 was made at"), "{brief}");
}

#[test]
fn git_on_disk_is_asked_too() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    env.write_file("project/a.txt", "1");
    env.run_git(&["add", "-A"]);
    env.run_git(&["commit", "-qm", "One"]);
    let id = env.run_git(&["rev-parse", "--short", "HEAD"]);
    report_edit(&env, "t1", "a.txt");
    report_command(&env, "t2", "git commit -am One", &format!("[main {}] One", id.trim()), "");
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(brief.contains("branch ") && !brief.contains("HEAD is now"), "{brief}");
    assert!(!brief.contains("not pushed"), "there is no remote: {brief}");
    env.run_git(&["commit", "-qm", "Two", "--allow-empty"]);
    env.run_git(&["remote", "add", "origin", "https://example.com/r.git"]);
    let now = env.run_git(&["rev-parse", "HEAD"]);
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(brief.contains(&format!("HEAD is now {}", &now.trim()[..10])), "{brief}");
    assert_eq!(brief.matches("Git: ").count(), 1, "one line: {brief}");
    assert!(brief.contains("is not pushed"), "there is a remote now: {brief}");
    env.run_git(&[
        "update-ref",
        &format!("refs/remotes/origin/{}", env.run_git(&["branch", "--show-current"]).trim()),
        "HEAD",
    ]);
    assert!(!env.run_thru(&["brief"]).assert_ok().stdout.contains("not pushed"), "the remote has it");
}

/// If the user commits in another terminal, the brief does not claim that nothing was committed.
#[test]
fn a_commit_by_somebody_else_is_seen_on_disk() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    env.write_file("project/a.txt", "1");
    env.run_git(&["add", "-A"]);
    env.run_git(&["commit", "-qm", "One"]);
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Change a"}));
    report_edit(&env, "t1", "a.txt");
    env.write_file("project/a.txt", "edited");
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(brief.contains("1 file edited by the session, not committed"), "{brief}");
    env.write_file("project/a.txt", "2");
    env.run_git(&["commit", "-qam", "Two"]);
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(brief.contains("HEAD is now ") && !brief.contains("At risk"), "committed by somebody: {brief}");
    env.write_file("project/a.txt", "3 again");
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(brief.contains("1 file edited by the session, not in any commit seen here"), "{brief}");
    env.run_git(&["checkout", "a.txt"]);
    assert!(!env.run_thru(&["brief"]).assert_ok().stdout.contains("At risk"), "restored");
}

/// The effects are the same if they are read from Claude Code's transcript. The transcript contains the branch on every
/// line, and the results that the agent saw.
#[test]
fn a_transcript_tells_the_same() {
    let env = TestEnv::with_root();
    let common = json!({"parentUuid": null, "isSidechain": false, "cwd": env.project_folder(), "sessionId": "s9",
        "gitBranch": "topic", "timestamp": "2026-11-17T16:20:00.000Z"});
    let call = |id: &str, name: &str, input: Value| {
        merge_fields(
            &common,
            json!({"type": "assistant", "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": name, "input": input}]}}),
        )
    };
    let result = |id: &str, text: &str, failed: bool| {
        merge_fields(
            &common,
            json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed}]}}),
        )
    };
    let prompt = merge_fields(
        &common,
        json!({"type": "user", "message": {"role": "user", "content": "Build the parser"}}),
    );
    let long = format!("{}\n{COMMIT_OUTPUT}\n{PUSH_OUTPUT}\n", "running 1 test\n".repeat(4_000));
    let lines = [
        prompt,
        call("t1", "Edit", json!({"file_path": env.project_folder().join("src/lex.rs")})),
        result("t1", "ok", false),
        call("t2", "Bash", json!({"command": "cargo test && git commit -m x && git push"})),
        result("t2", &long, false),
        call("t3", "Bash", json!({"command": "gh api repos/o/r/pulls/133/comments/27/replies -f body=Done"})),
        result("t3", COMMENT_REPLY, false),
        call("t4", "mcp__linear__create_issue", json!({"title": "Bug", "team": "x"})),
        result("t4", r#"{"id":"u","identifier":"ENT-5"}"#, false),
        call("t5", "Bash", json!({"command": "git commit -m y"})),
        result("t5", "Exit code 1\nnothing to commit, working tree clean", true),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let path = env.write_file("s9.jsonl", text);
    let brief = env.run_thru(&["brief", "--transcript", path.to_str().unwrap()]).assert_ok().stdout;
    for fact in ["branch topic", "3696270", "b7b88a7..3696270", "2752893362", "ENT-5"] {
        assert!(brief.contains(fact), "{fact}: {brief}");
    }
    assert!(!brief.contains("not committed"), "{brief}");
}
