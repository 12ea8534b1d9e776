//! Tests with a project whose folder was moved. Every command gives the same advice, and one command transfers trust
//! and consents to the new path.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::call::ThruOutput;
use crate::env::TestEnv;

/// A project with one session, moved to another folder.
pub struct MovedProject {
    pub env: TestEnv,
    old: PathBuf,
    pub new: PathBuf,
}

impl MovedProject {
    pub fn new() -> MovedProject {
        MovedProject::moved_after(|_| {})
    }

    pub fn moved_after(prepare: impl FnOnce(&TestEnv)) -> MovedProject {
        let env = TestEnv::with_root();
        env.write_file("project/src/lexer.rs", "a\n");
        env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
        env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Make the lexer fast"}));
        let input = json!({"file_path": env.project_folder().join("src/lexer.rs"), "old_string": "a", "new_string": "b"});
        env.fire_event(
            "s1",
            "PostToolUse",
            json!({"tool_name": "Edit", "tool_use_id": "t1", "tool_input": input}),
        );
        env.fire_event("s1", "SessionEnd", json!({"reason": "other"}));
        prepare(&env);
        let (old, new) = (env.project_folder(), env.base_folder().join("elsewhere"));
        fs::rename(&old, &new).unwrap();
        MovedProject { env, old, new }
    }

    pub fn run_thru(&self, words: &[&str]) -> ThruOutput {
        self.env.thru_call(words).in_folder(&self.new).run()
    }

    /// Returns the context that the agent gets when a session starts in the new folder.
    pub fn text_at_session_start(&self, session: &str) -> String {
        let payload = json!({
            "session_id": session, "cwd": self.new, "hook_event_name": "SessionStart", "source": "startup",
        });
        let call = self.env.thru_call(&["hook", "claude-code", "SessionStart"]).in_folder(&self.new);
        let output =
            call.with_stdin(payload.to_string()).with_variable("CLAUDE_PROJECT_DIR", &self.new).run();
        let context = output.json()["hookSpecificOutput"]["additionalContext"].as_str().map(str::to_owned);
        context.unwrap_or_else(|| panic!("the agent was told nothing: {output}"))
    }

    fn trusted_paths(&self) -> Vec<Value> {
        let list = self.run_thru(&["trust", "--list", "--json"]).assert_ok().json();
        list.as_array().unwrap().iter().map(|row| row["path"].clone()).collect()
    }
}

fn path_as_text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn every_command_gives_the_advice_of_the_hook() {
    let moved = MovedProject::new();
    for (words, code) in
        [(&["status"][..], 0), (&["doctor"], 1), (&["journal", "--session", "s1"], 0), (&["init"], 0)]
    {
        let output = moved.run_thru(words).assert_exit_code(code);
        let said = format!("{}{}", output.stdout, output.stderr);
        assert!(
            said.contains(path_as_text(&moved.old)) && said.contains("`thru trust --moved`"),
            "{words:?}: {output}"
        );
        for wrong in ["somebody else", "came with this folder", "run `thru trust`"] {
            assert!(!said.contains(wrong), "{words:?} says {wrong:?}: {output}");
        }
    }
    let status = moved.run_thru(&["status", "--json"]).assert_ok().json();
    assert_eq!(
        (&status["next"], &status["moved_from"]),
        (&json!("trust-moved"), &json!(moved.old)),
        "{status}"
    );
    assert!(
        moved.run_thru(&["journal", "--session", "s1", "--json"]).assert_ok().stdout.contains("\"trusted\""),
        "and programs"
    );
}

#[test]
fn a_copy_is_still_somebody_elses_text() {
    let env = TestEnv::with_root();
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    let copy = env.base_folder().join("copy");
    let copied =
        std::process::Command::new("cp").arg("-r").arg(env.project_folder()).arg(&copy).status().unwrap();
    assert!(copied.success());
    let journal = env.thru_call(&["journal", "--session", "s1"]).in_folder(&copy).run().assert_ok();
    assert!(journal.stderr.contains("somebody else's text"), "{journal}");
    let status = env.thru_call(&["status"]).in_folder(&copy).run().assert_ok();
    assert!(status.stdout.contains("run `thru trust`") && !status.stdout.contains("--moved"), "{status}");
}

#[test]
fn the_agent_is_not_told_that_its_files_are_in_another_worktree() {
    for words in [&["trust", "--moved"][..], &["trust"]] {
        let moved = MovedProject::new();
        moved.run_thru(words).assert_ok();
        let told = moved.text_at_session_start("s2");
        assert!(told.contains("Make the lexer fast"), "{words:?}: {told}");
        assert!(!told.contains("worktree"), "{words:?}: {told}");
    }
}

#[test]
fn a_worktree_that_is_gone_is_still_named() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    let tree = env.base_folder().join("tree");
    env.run_git(&["worktree", "add", "--quiet", "-b", "topic", path_as_text(&tree)]);
    for (event, more) in [
        ("SessionStart", json!({"source": "startup"})),
        ("UserPromptSubmit", json!({"prompt": "Make the lexer fast"})),
        ("SessionEnd", json!({"reason": "other"})),
    ] {
        let payload = crate::env::merge_fields(&env.event_payload("s1", event, more), json!({"cwd": tree}));
        env.hook_call(event, payload.to_string())
            .with_variable("CLAUDE_PROJECT_DIR", &tree)
            .run()
            .assert_silent(event);
    }
    env.run_git(&["worktree", "remove", "--force", path_as_text(&tree)]);
    let told = env.fire_event("s2", "SessionStart", json!({"source": "startup"})).stdout;
    assert!(told.contains("Another worktree") && told.contains("which has since been removed"), "{told}");
    env.run_git(&["branch", "-D", "topic"]);
    let told = env.fire_event("s3", "SessionStart", json!({"source": "startup"})).stdout;
    assert!(told.contains("which has since been removed together with its branch topic"), "{told}");
}

#[test]
fn trust_offers_the_move_and_the_move_still_works_after_it() {
    let moved = MovedProject::new();
    let trusted = moved.run_thru(&["trust"]).assert_ok().stdout;
    assert!(
        trusted.contains(path_as_text(&moved.old)) && trusted.contains("`thru trust --moved`"),
        "{trusted}"
    );
    let doctor = moved.run_thru(&["doctor"]).stdout;
    assert!(
        doctor.contains("trusted on this machine") && doctor.contains("`thru trust --moved`"),
        "{doctor}"
    );
    let report = moved.run_thru(&["trust", "--moved", "--json"]).assert_ok().json();
    assert_eq!(report["moved_from"], json!(moved.old), "{report}");
    assert_eq!(moved.trusted_paths(), [json!(moved.new)]);
    assert!(!moved.run_thru(&["doctor"]).stdout.contains("--moved"));
    let again = moved.run_thru(&["trust", "--moved"]).assert_ok().stdout;
    assert!(again.contains("is already trusted"), "{again}");
    assert!(!moved.text_at_session_start("s2").contains("worktree"));
}

#[test]
fn what_the_user_allowed_moves_along() {
    let stage = "[stages.lint]\ncritical = [\"lint.md\"]\nlaunch = [\"touch\", \"lint.md\"]\n";
    let prepare = |env: &TestEnv| {
        env.write_file("project/.agent/context/config.toml", stage);
        env.run_thru(&["loop", "start", "Make the tests pass", "--promise", "DONE", "--next"]).assert_ok();
    };
    let moved = MovedProject::moved_after(prepare);
    let advice = moved.run_thru(&["loop", "list"]).assert_ok().stderr;
    assert!(advice.contains("`thru trust --moved`") && !advice.contains("adopt"), "{advice}");
    let report = moved.run_thru(&["trust", "--moved", "--json"]).assert_ok().json();
    let wants = |report: &Value| -> Vec<(String, bool)> {
        let all = report["permission_requests"].as_array().unwrap().iter();
        all.map(|want| (want["kind"].as_str().unwrap().to_owned(), want["allowed"] == true)).collect()
    };
    // The user never allowed the stage, and moving the project does not change this.
    assert!(wants(&report).contains(&("loop".to_owned(), true)), "{report}");
    assert!(wants(&report).contains(&("stage-definition".to_owned(), false)), "{report}");

    // Without `--moved`, `thru trust` does not carry over what was allowed at the old path.
    let moved = MovedProject::moved_after(prepare);
    let report = moved.run_thru(&["trust", "--json"]).assert_ok().json();
    assert!(wants(&report).iter().all(|(_, given)| !given), "{report}");
    let report = moved.run_thru(&["trust", "--moved", "--json"]).assert_ok().json();
    assert!(wants(&report).contains(&("loop".to_owned(), true)), "{report}");
}

#[test]
fn uninstalling_everything_names_a_project_that_is_gone() {
    let moved = MovedProject::moved_after(|env| {
        drop(env.run_thru(&["install", "claude-code", "--local"]).assert_ok());
    });
    let settings = moved.new.join(".claude/settings.local.json");
    let elsewhere = |words: &[&str]| moved.env.thru_call(words).in_folder(moved.env.home_folder()).run();
    let all = elsewhere(&["uninstall", "--all"]).assert_ok();
    let said = format!("{}{}", all.stdout, all.stderr);
    assert!(said.contains(path_as_text(&moved.old)) && said.contains("no longer exist"), "{all}");
    assert!(!said.contains("No settings file calls thru"), "{all}");
    assert_eq!(elsewhere(&["uninstall", "--all", "--json"]).assert_ok().json()["gone"], json!([moved.old]));
    assert!(settings.exists(), "nobody knows where it is");

    // The hooks are removed if the command runs in the new folder, or if the new folder is already known.
    let here = moved.run_thru(&["uninstall", "--all", "--json", "--dry-run"]).assert_ok().json();
    assert_eq!(here["gone"], Value::Null, "{here}");
    assert!(here["undone"].to_string().contains(path_as_text(&settings)), "{here}");
    moved.run_thru(&["trust", "--moved"]).assert_ok();
    let all = elsewhere(&["uninstall", "--all", "--json"]).assert_ok().json();
    assert_eq!(all["gone"], Value::Null, "{all}");
    assert!(!settings.exists(), "{all}");
}
