//! A store that came with a clone was written by somebody else: hooks do not use it, and tell the user once.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::call::Output;
use crate::env::{TestEnv, event_of, fixture_names};

/// A clone of a project with its records, including journals and settings.
struct Cloned {
    env: TestEnv,
    clone: PathBuf,
}

fn cloned() -> Cloned {
    let env = TestEnv::repository();
    env.thru(&["init", "--shared"]).ok();
    env.write("project/.agent/context/packets/20261115T192200Z-evil.md", "---\nstatus: open\n---\nrun me\n");
    env.write("project/.agent/context/loops/evil.md", "---\nactive: true\n---\nrun me forever\n");
    env.write(
        "project/.agent/context/config.toml",
        "[hooks]\nauto_init = true\n[output]\ncolor = \"always\"\n",
    );
    for name in ["SessionStart.startup", "UserPromptSubmit", "PostToolUse.Bash"] {
        env.hook(event_of(name), &env.fixture(name)).silent(name);
    }
    env.git(&["add", "--force", "."]);
    env.git(&["commit", "--quiet", "--message", "everything"]);
    let clone = env.base().join("clone");
    env.git(&["clone", "--quiet", env.project().to_str().unwrap(), clone.to_str().unwrap()]);
    assert!(
        clone.join(".agent/context/sessions").exists() && clone.join(".agent/context/loops/evil.md").exists()
    );
    Cloned { env, clone }
}

impl Cloned {
    fn hook(&self, name: &str) -> Output {
        let payload = self.env.fixture_in(name, &self.clone).to_string();
        self.env.hook_call(event_of(name), payload).var("CLAUDE_PROJECT_DIR", &self.clone).run()
    }

    fn thru(&self, words: &[&str]) -> Output {
        self.env.call(words).dir(&self.clone).run()
    }

    fn trusted(&self) -> Value {
        self.thru(&["status", "--json"]).ok().json()["trusted"].clone()
    }
}

/// Returns what the user is told, and asserts that nothing else was printed.
#[track_caller]
fn told(output: &Output) -> String {
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    let reply = output.json();
    let fields: Vec<_> = reply.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["systemMessage"], "nothing else may go to the model");
    reply["systemMessage"].as_str().unwrap().to_owned()
}

#[test]
fn no_event_writes_anything_and_only_a_startup_says_something() {
    let cloned = cloned();
    let before = cloned.env.tree();
    let mut messages = Vec::new();
    for name in fixture_names() {
        let output = cloned.hook(&name);
        match name.as_str() {
            "SessionStart.startup" => messages.push(told(&output)),
            _ => output.silent(&name),
        }
    }
    before.assert_same(&cloned.env.tree(), "an untrusted clone");
    let [message] = messages.as_slice() else { panic!("{messages:?}") };
    assert!(
        message.contains("`thru trust`") && message.contains(cloned.clone.to_str().unwrap()),
        "{message}"
    );
}

#[test]
fn a_broken_payload_is_not_noted_in_it_either() {
    let cloned = cloned();
    let before = cloned.env.tree();
    for payload in ["", "[]", "{\"session_id\":\"../x\"}", "{\"session_id\":7}"] {
        let call = cloned.env.hook_call("Stop", payload).var("CLAUDE_PROJECT_DIR", &cloned.clone);
        call.run().silent(payload);
    }
    before.assert_same(&cloned.env.tree(), "broken payloads");
}

#[test]
fn its_settings_do_not_count_for_hooks() {
    let cloned = cloned();
    fs::write(cloned.clone.join(".agent/context/config.toml"), "[hooks]\nenabled = false\n").unwrap();
    told(&cloned.hook("SessionStart.startup"));
}

#[test]
fn read_commands_work_in_it_and_write_nothing() {
    let cloned = cloned();
    let before = cloned.env.tree();
    let status = cloned.thru(&["status"]).ok();
    assert!(status.stdout.contains("not trusted") && status.stdout.contains("`thru trust`"), "{status}");
    assert!(!status.stdout.contains('\x1b'), "its settings are not read");
    let doctor = cloned.thru(&["doctor"]).exits(1);
    assert!(doctor.stdout.contains("not trusted"), "{doctor}");
    let config = cloned.thru(&["config"]).ok();
    assert!(config.stderr.contains("not trusted"), "{config}");
    assert!(config.stdout.lines().all(|line| line.contains(" default ")), "{config}");
    before.assert_same(&cloned.env.tree(), "read commands");
}

#[test]
fn trust_makes_it_work_and_taking_it_back_stops_it() {
    let cloned = cloned();
    let journal = cloned.clone.join(".agent/context/sessions/9487a9f7-611a-47e9-8202-df72ea246773.jsonl");
    let lines = || fs::read_to_string(&journal).unwrap().lines().count();
    let before = lines();
    cloned.thru(&["trust"]).ok();
    assert_eq!(cloned.trusted(), true);
    cloned.hook("SessionStart.startup").silent("trusted");
    assert_eq!(lines(), before + 1);
    cloned.thru(&["trust", "--revoke"]).ok();
    assert_eq!(cloned.trusted(), false);
    told(&cloned.hook("SessionStart.startup"));
    cloned.hook("UserPromptSubmit").silent("revoked");
    assert_eq!(lines(), before + 1);
}

#[test]
fn init_in_it_grants_no_trust_and_says_so() {
    let cloned = cloned();
    let before = cloned.env.tree();
    for words in [&["init"][..], &["init", "--shared"], &["context", "init"]] {
        let output = cloned.thru(words).ok();
        assert!(output.stdout.contains("not trusted") && output.stdout.contains("`thru trust`"), "{output}");
    }
    before.assert_same(&cloned.env.tree(), "init");
    assert_eq!(cloned.trusted(), false);
}

#[test]
fn on_another_machine_it_is_no_more_trusted() {
    let cloned = cloned();
    let home = cloned.env.base().join("other-home");
    fs::create_dir(&home).unwrap();
    for folder in [&cloned.clone, &cloned.env.project()] {
        let status = cloned.env.call(&["status", "--json"]).dir(folder).var("HOME", &home).run().ok().json();
        assert_eq!(status["trusted"], false);
    }
    assert_eq!(fs::read_dir(&home).unwrap().count(), 0, "reading leaves no trace");
}

#[test]
fn a_copied_or_moved_folder_is_not_trusted() {
    let env = TestEnv::rooted();
    let (copy, moved) = (env.base().join("copy"), env.base().join("moved"));
    let copied = std::process::Command::new("cp").arg("-r").arg(env.project()).arg(&copy).status().unwrap();
    assert!(copied.success());
    fs::rename(env.project(), &moved).unwrap();
    let before = env.tree();
    for folder in [&copy, &moved] {
        let status = env.call(&["status", "--json"]).dir(folder).run().ok().json();
        assert_eq!(status["trusted"], false, "{}", folder.display());
        let payload = env.fixture_in("UserPromptSubmit", folder).to_string();
        let call = env.hook_call("UserPromptSubmit", payload).var("CLAUDE_PROJECT_DIR", folder);
        call.dir(folder).run().silent("not trusted");
    }
    before.assert_same(&env.tree(), "a copy and a moved one");
    fs::rename(&moved, env.project()).unwrap();
    assert_eq!(env.json(&["status"])["trusted"], true, "back in its place");
}

#[test]
fn somebody_elses_records_without_a_marker_are_not_trusted_by_init() {
    let records = ["loops/evil.md", "packets/p.md", "config.toml", "a/deep/folder/x", "root.json.damaged-1"];
    for rel in records {
        let env = TestEnv::new();
        env.write(format!("project/.agent/context/{rel}"), "x = 1\n");
        let output = env.thru(&["init"]).ok();
        assert!(output.stdout.contains("not trusted"), "{rel}: {output}");
        let before = env.tree();
        env.hook("UserPromptSubmit", &env.fixture("UserPromptSubmit")).silent(rel);
        before.assert_same(&env.tree(), rel);
    }
}
