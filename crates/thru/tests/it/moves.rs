//! A project whose folder was moved: every command gives the same advice, and one command transfers trust and
//! consents to the new path.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::call::Output;
use crate::env::TestEnv;

/// A project with one session, moved to another folder.
struct Moved {
    env: TestEnv,
    old: PathBuf,
    new: PathBuf,
}

impl Moved {
    fn new() -> Moved {
        Moved::after(|_| {})
    }

    fn after(prepare: impl FnOnce(&TestEnv)) -> Moved {
        let env = TestEnv::rooted();
        env.write("project/src/lexer.rs", "a\n");
        env.fire("s1", "SessionStart", json!({"source": "startup"}));
        env.fire("s1", "UserPromptSubmit", json!({"prompt": "Make the lexer fast"}));
        let input =
            json!({"file_path": env.project().join("src/lexer.rs"), "old_string": "a", "new_string": "b"});
        env.fire("s1", "PostToolUse", json!({"tool_name": "Edit", "tool_use_id": "t1", "tool_input": input}));
        env.fire("s1", "SessionEnd", json!({"reason": "other"}));
        prepare(&env);
        let (old, new) = (env.project(), env.base().join("elsewhere"));
        fs::rename(&old, &new).unwrap();
        Moved { env, old, new }
    }

    fn thru(&self, words: &[&str]) -> Output {
        self.env.call(words).dir(&self.new).run()
    }

    /// Returns what the agent is told when a session starts in the new folder.
    fn told(&self, session: &str) -> String {
        let payload = json!({
            "session_id": session, "cwd": self.new, "hook_event_name": "SessionStart", "source": "startup",
        });
        let call = self.env.call(&["hook", "claude-code", "SessionStart"]).dir(&self.new);
        let output = call.stdin(payload.to_string()).var("CLAUDE_PROJECT_DIR", &self.new).run();
        let context = output.json()["hookSpecificOutput"]["additionalContext"].as_str().map(str::to_owned);
        context.unwrap_or_else(|| panic!("nothing was told: {output}"))
    }

    fn trusted_paths(&self) -> Vec<Value> {
        let list = self.thru(&["trust", "--list", "--json"]).ok().json();
        list.as_array().unwrap().iter().map(|row| row["path"].clone()).collect()
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn every_command_gives_the_advice_of_the_hook() {
    let moved = Moved::new();
    for (words, code) in
        [(&["status"][..], 0), (&["doctor"], 1), (&["journal", "--session", "s1"], 0), (&["init"], 0)]
    {
        let output = moved.thru(words).exits(code);
        let said = format!("{}{}", output.stdout, output.stderr);
        assert!(
            said.contains(text(&moved.old)) && said.contains("`thru trust --moved`"),
            "{words:?}: {output}"
        );
        for wrong in ["somebody else", "came with this folder", "run `thru trust`"] {
            assert!(!said.contains(wrong), "{words:?} says {wrong:?}: {output}");
        }
    }
    let status = moved.thru(&["status", "--json"]).ok().json();
    assert_eq!(
        (&status["next"], &status["moved_from"]),
        (&json!("trust-moved"), &json!(moved.old)),
        "{status}"
    );
    assert!(
        moved.thru(&["journal", "--session", "s1", "--json"]).ok().stdout.contains("\"trusted\""),
        "and programs"
    );
}

#[test]
fn a_copy_is_still_somebody_elses_text() {
    let env = TestEnv::rooted();
    env.fire("s1", "SessionStart", json!({"source": "startup"}));
    let copy = env.base().join("copy");
    let copied = std::process::Command::new("cp").arg("-r").arg(env.project()).arg(&copy).status().unwrap();
    assert!(copied.success());
    let journal = env.call(&["journal", "--session", "s1"]).dir(&copy).run().ok();
    assert!(journal.stderr.contains("somebody else's text"), "{journal}");
    let status = env.call(&["status"]).dir(&copy).run().ok();
    assert!(status.stdout.contains("run `thru trust`") && !status.stdout.contains("--moved"), "{status}");
}

#[test]
fn the_agent_is_not_told_that_its_files_are_in_another_worktree() {
    for words in [&["trust", "--moved"][..], &["trust"]] {
        let moved = Moved::new();
        moved.thru(words).ok();
        let told = moved.told("s2");
        assert!(told.contains("Make the lexer fast"), "{words:?}: {told}");
        assert!(!told.contains("worktree"), "{words:?}: {told}");
    }
}

#[test]
fn a_worktree_that_is_gone_is_still_named() {
    let env = TestEnv::repository();
    env.thru(&["init"]).ok();
    let tree = env.base().join("tree");
    env.git(&["worktree", "add", "--quiet", "--detach", text(&tree)]);
    for (event, more) in [
        ("SessionStart", json!({"source": "startup"})),
        ("UserPromptSubmit", json!({"prompt": "Make the lexer fast"})),
        ("SessionEnd", json!({"reason": "other"})),
    ] {
        let payload = crate::env::merged(&env.payload("s1", event, more), json!({"cwd": tree}));
        env.hook_call(event, payload.to_string()).var("CLAUDE_PROJECT_DIR", &tree).run().silent(event);
    }
    env.git(&["worktree", "remove", "--force", text(&tree)]);
    let told = env.fire("s2", "SessionStart", json!({"source": "startup"})).stdout;
    assert!(told.contains("Another worktree") && told.contains("which is gone"), "{told}");
}

#[test]
fn trust_offers_the_move_and_the_move_still_works_after_it() {
    let moved = Moved::new();
    let trusted = moved.thru(&["trust"]).ok().stdout;
    assert!(trusted.contains(text(&moved.old)) && trusted.contains("`thru trust --moved`"), "{trusted}");
    let doctor = moved.thru(&["doctor"]).stdout;
    assert!(
        doctor.contains("trusted on this machine") && doctor.contains("`thru trust --moved`"),
        "{doctor}"
    );
    let report = moved.thru(&["trust", "--moved", "--json"]).ok().json();
    assert_eq!(report["moved_from"], json!(moved.old), "{report}");
    assert_eq!(moved.trusted_paths(), [json!(moved.new)]);
    assert!(!moved.thru(&["doctor"]).stdout.contains("--moved"));
    let again = moved.thru(&["trust", "--moved"]).ok().stdout;
    assert!(again.contains("is trusted already"), "{again}");
    assert!(!moved.told("s2").contains("worktree"));
}

#[test]
fn what_the_user_allowed_moves_along() {
    let stage = "[stages.lint]\ncritical = [\"lint.md\"]\nlaunch = [\"touch\", \"lint.md\"]\n";
    let prepare = |env: &TestEnv| {
        env.write("project/.agent/context/config.toml", stage);
        env.thru(&["loop", "start", "Make the tests pass", "--promise", "DONE", "--next"]).ok();
    };
    let moved = Moved::after(prepare);
    let report = moved.thru(&["trust", "--moved", "--json"]).ok().json();
    let wants = |report: &Value| -> Vec<(String, bool)> {
        let all = report["wants"].as_array().unwrap().iter();
        all.map(|want| (want["kind"].as_str().unwrap().to_owned(), want["given"] == true)).collect()
    };
    // The user never allowed the stage, and moving the project does not change that.
    assert!(wants(&report).contains(&("loop".to_owned(), true)), "{report}");
    assert!(wants(&report).contains(&("stage-definition".to_owned(), false)), "{report}");

    // Without `--moved`, `thru trust` allows nothing.
    let moved = Moved::after(prepare);
    let report = moved.thru(&["trust", "--json"]).ok().json();
    assert!(wants(&report).iter().all(|(_, given)| !given), "{report}");
    let report = moved.thru(&["trust", "--moved", "--json"]).ok().json();
    assert!(wants(&report).contains(&("loop".to_owned(), true)), "{report}");
}

#[test]
fn uninstalling_everything_names_a_project_that_is_gone() {
    let moved = Moved::after(|env| drop(env.thru(&["install", "claude-code", "--local"]).ok()));
    let settings = moved.new.join(".claude/settings.local.json");
    let elsewhere = |words: &[&str]| moved.env.call(words).dir(moved.env.home()).run();
    let all = elsewhere(&["uninstall", "--all"]).ok();
    let said = format!("{}{}", all.stdout, all.stderr);
    assert!(said.contains(text(&moved.old)) && said.contains("no longer exists"), "{all}");
    assert!(!said.contains("No settings file calls thru"), "{all}");
    assert_eq!(elsewhere(&["uninstall", "--all", "--json"]).ok().json()["gone"], json!([moved.old]));
    assert!(settings.exists(), "nobody knows where it is");

    // The hooks are removed if the command runs in the new folder, or after the new folder has become known.
    let here = moved.thru(&["uninstall", "--all", "--json", "--dry-run"]).ok().json();
    assert_eq!(here["gone"], Value::Null, "{here}");
    assert!(here["undone"].to_string().contains(text(&settings)), "{here}");
    moved.thru(&["trust", "--moved"]).ok();
    let all = elsewhere(&["uninstall", "--all", "--json"]).ok().json();
    assert_eq!(all["gone"], Value::Null, "{all}");
    assert!(!settings.exists(), "{all}");
}
