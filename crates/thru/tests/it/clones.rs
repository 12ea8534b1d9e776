//! A store that came with a clone was written by somebody else. Hooks do not use it, and they report this to the user
//! once.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::call::ThruOutput;
use crate::env::{TestEnv, event_of_fixture, fixture_names};

/// A clone of a project with its records, including journals and settings.
struct ClonedProject {
    env: TestEnv,
    clone: PathBuf,
}

fn clone_project() -> ClonedProject {
    let env = TestEnv::with_repository();
    env.run_thru(&["init", "--shared"]).assert_ok();
    env.write_file(
        "project/.agent/context/packets/20261115T192200Z-evil.md",
        "---\nstatus: open\n---\nrun me\n",
    );
    env.write_file("project/.agent/context/loops/evil.md", "---\nactive: true\n---\nrun me forever\n");
    env.write_file(
        "project/.agent/context/config.toml",
        "[hooks]\nauto_init = true\n[output]\ncolor = \"always\"\n",
    );
    for name in ["SessionStart.startup", "UserPromptSubmit", "PostToolUse.Bash"] {
        env.fire_hook(event_of_fixture(name), &env.captured_payload(name)).assert_silent(name);
    }
    env.run_git(&["add", "--force", "."]);
    env.run_git(&["commit", "--quiet", "--message", "everything"]);
    let clone = env.base_folder().join("clone");
    env.run_git(&["clone", "--quiet", env.project_folder().to_str().unwrap(), clone.to_str().unwrap()]);
    assert!(
        clone.join(".agent/context/sessions").exists() && clone.join(".agent/context/loops/evil.md").exists()
    );
    ClonedProject { env, clone }
}

impl ClonedProject {
    fn fire_hook(&self, name: &str) -> ThruOutput {
        let payload = self.env.captured_payload_in(name, &self.clone).to_string();
        self.env
            .hook_call(event_of_fixture(name), payload)
            .with_variable("CLAUDE_PROJECT_DIR", &self.clone)
            .run()
    }

    fn run_thru(&self, words: &[&str]) -> ThruOutput {
        self.env.thru_call(words).in_folder(&self.clone).run()
    }

    fn is_trusted(&self) -> Value {
        self.run_thru(&["status", "--json"]).assert_ok().json()["trusted"].clone()
    }
}

/// Returns the message for the user, and asserts that nothing else was printed.
#[track_caller]
fn message_to_user(output: &ThruOutput) -> String {
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    let reply = output.json();
    let fields: Vec<_> = reply.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["systemMessage"], "nothing else may go to the model");
    reply["systemMessage"].as_str().unwrap().to_owned()
}

#[test]
fn no_event_writes_anything_and_only_a_startup_says_something() {
    let cloned = clone_project();
    let before = cloned.env.file_tree();
    let mut messages = Vec::new();
    for name in fixture_names() {
        let output = cloned.fire_hook(&name);
        match name.as_str() {
            "SessionStart.startup" => messages.push(message_to_user(&output)),
            _ => output.assert_silent(&name),
        }
    }
    before.assert_unchanged(&cloned.env.file_tree(), "an untrusted clone");
    let [message] = messages.as_slice() else { panic!("{messages:?}") };
    assert!(
        message.contains("`thru trust`") && message.contains(cloned.clone.to_str().unwrap()),
        "{message}"
    );
}

#[test]
fn a_broken_payload_is_not_noted_in_it_either() {
    let cloned = clone_project();
    let before = cloned.env.file_tree();
    for payload in ["", "[]", "{\"session_id\":\"../x\"}", "{\"session_id\":7}"] {
        let call = cloned.env.hook_call("Stop", payload).with_variable("CLAUDE_PROJECT_DIR", &cloned.clone);
        call.run().assert_silent(payload);
    }
    before.assert_unchanged(&cloned.env.file_tree(), "broken payloads");
}

#[test]
fn its_settings_do_not_count_for_hooks() {
    let cloned = clone_project();
    fs::write(cloned.clone.join(".agent/context/config.toml"), "[hooks]\nenabled = false\n").unwrap();
    message_to_user(&cloned.fire_hook("SessionStart.startup"));
}

#[test]
fn read_commands_work_in_it_and_write_nothing() {
    let cloned = clone_project();
    let before = cloned.env.file_tree();
    let status = cloned.run_thru(&["status"]).assert_ok();
    assert!(status.stdout.contains("not trusted") && status.stdout.contains("`thru trust`"), "{status}");
    assert!(!status.stdout.contains('\x1b'), "its settings are not read");
    let doctor = cloned.run_thru(&["doctor"]).assert_exit_code(1);
    assert!(doctor.stdout.contains("not trusted"), "{doctor}");
    let config = cloned.run_thru(&["config"]).assert_ok();
    assert!(config.stderr.contains("not trusted"), "{config}");
    assert!(config.stdout.lines().all(|line| line.contains(" default ")), "{config}");
    before.assert_unchanged(&cloned.env.file_tree(), "read commands");
}

#[test]
fn trust_makes_it_work_and_taking_it_back_stops_it() {
    let cloned = clone_project();
    let journal = cloned.clone.join(".agent/context/sessions/9487a9f7-611a-47e9-8202-df72ea246773.jsonl");
    let lines = || fs::read_to_string(&journal).unwrap().lines().count();
    let before = lines();
    cloned.run_thru(&["trust"]).assert_ok();
    assert_eq!(cloned.is_trusted(), true);
    cloned.fire_hook("SessionStart.startup").assert_silent("trusted");
    assert_eq!(lines(), before + 1);
    cloned.run_thru(&["trust", "--revoke"]).assert_ok();
    assert_eq!(cloned.is_trusted(), false);
    message_to_user(&cloned.fire_hook("SessionStart.startup"));
    cloned.fire_hook("UserPromptSubmit").assert_silent("revoked");
    assert_eq!(lines(), before + 1);
}

#[test]
fn init_in_it_grants_no_trust_and_says_so() {
    let cloned = clone_project();
    let before = cloned.env.file_tree();
    for words in [&["init"][..], &["init", "--shared"], &["context", "init"]] {
        let output = cloned.run_thru(words).assert_ok();
        assert!(output.stdout.contains("not trusted") && output.stdout.contains("`thru trust`"), "{output}");
    }
    before.assert_unchanged(&cloned.env.file_tree(), "init");
    assert_eq!(cloned.is_trusted(), false);
}

#[test]
fn on_another_machine_it_is_no_more_trusted() {
    let cloned = clone_project();
    let home = cloned.env.base_folder().join("other-home");
    fs::create_dir(&home).unwrap();
    for folder in [&cloned.clone, &cloned.env.project_folder()] {
        let status = cloned
            .env
            .thru_call(&["status", "--json"])
            .in_folder(folder)
            .with_variable("HOME", &home)
            .run()
            .assert_ok()
            .json();
        assert_eq!(status["trusted"], false);
    }
    assert_eq!(fs::read_dir(&home).unwrap().count(), 0, "reading leaves no trace");
}

#[test]
fn a_copied_or_moved_folder_is_not_trusted() {
    let env = TestEnv::with_root();
    let (copy, moved) = (env.base_folder().join("copy"), env.base_folder().join("moved"));
    let copied =
        std::process::Command::new("cp").arg("-r").arg(env.project_folder()).arg(&copy).status().unwrap();
    assert!(copied.success());
    fs::rename(env.project_folder(), &moved).unwrap();
    let before = env.file_tree();
    for folder in [&copy, &moved] {
        let status = env.thru_call(&["status", "--json"]).in_folder(folder).run().assert_ok().json();
        assert_eq!(status["trusted"], false, "{}", folder.display());
        let payload = env.captured_payload_in("UserPromptSubmit", folder).to_string();
        let call = env.hook_call("UserPromptSubmit", payload).with_variable("CLAUDE_PROJECT_DIR", folder);
        call.in_folder(folder).run().assert_silent("not trusted");
    }
    before.assert_unchanged(&env.file_tree(), "a copy and a moved one");
    fs::rename(&moved, env.project_folder()).unwrap();
    assert_eq!(env.run_thru_json(&["status"])["trusted"], true, "back in its place");
}

#[test]
fn somebody_elses_records_without_a_marker_are_not_trusted_by_init() {
    let records = ["loops/evil.md", "packets/p.md", "config.toml", "a/deep/folder/x", "root.json.damaged-1"];
    for rel in records {
        let env = TestEnv::new();
        env.write_file(format!("project/.agent/context/{rel}"), "x = 1\n");
        let output = env.run_thru(&["init"]).assert_ok();
        assert!(output.stdout.contains("not trusted"), "{rel}: {output}");
        let before = env.file_tree();
        env.fire_hook("UserPromptSubmit", &env.captured_payload("UserPromptSubmit")).assert_silent(rel);
        before.assert_unchanged(&env.file_tree(), rel);
    }
}
