//! Runs in a folder that belongs to an orchestrator, and the messages if a run cannot be found.

use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::env::{TestEnv, names_in};

const DONE: &str = "<!-- AGENT_COMPLETE -->";
const FOLDER: &str = ".cwf/p/01-x";

/// A project in which a YAML file of the orchestrator names the session's folder.
fn shared() -> TestEnv {
    let env = TestEnv::rooted();
    env.write("project/.agent/context/config.toml", "[gates]\nlive_state_file = \".cwf/state.yaml\"\n");
    env.write("project/.cwf/state.yaml", format!("live:\n  dir: \"{FOLDER}\"\n"));
    fs::create_dir_all(env.project().join(FOLDER)).unwrap();
    env
}

/// Leaves an output that was written a day before the test's clock.
fn leave_old(env: &TestEnv, file: &str) {
    let path = env.write(format!("project/{FOLDER}/{file}"), format!("x\n{DONE}\n"));
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_794_684_120);
    fs::File::open(path).unwrap().set_modified(old).unwrap();
}

fn verdict(env: &TestEnv, stage: &str, file: &str) -> Value {
    let report = env.call(&["gate", "check", "--stage", stage, "--json"]).run().json();
    let rows = report["outputs"].as_array().unwrap_or_else(|| panic!("{report}"));
    rows.iter().find(|row| row["file"] == file).unwrap_or_else(|| panic!("{report}"))["verdict"].clone()
}

/// Valid files in the folder are used and not requested again. A stale file does not become fresh because it is
/// requested.
#[test]
fn valid_work_in_a_shared_folder_stays_valid() {
    let env = shared();
    env.write("project/plan.md", "v1\n");
    let ask = ["gate", "expect", "review", "review-a.md", "review-b.md", "--input", "plan.md"];
    leave_old(&env, "review-a.md");
    env.thru(&ask).ok();
    assert_eq!(verdict(&env, "review", "review-a.md"), "valid", "the folder is the session's");
    env.thru(&ask).ok();
    assert_eq!(verdict(&env, "review", "review-a.md"), "valid", "asked for the same again");
    assert_eq!(verdict(&env, "review", "review-b.md"), "missing");
    env.write("project/plan.md", "v2\n");
    assert_eq!(verdict(&env, "review", "review-a.md"), "stale");
    env.thru(&ask).ok();
    assert_eq!(verdict(&env, "review", "review-a.md"), "stale", "asking does not make it fresh");
    leave_old(&env, "review-b.md");
    env.thru(&["gate", "expect", "review", "review-b.md", "--prompt", "Look again"]).ok();
    assert_eq!(verdict(&env, "review", "review-b.md"), "stale", "something else is asked for");
}

/// Plan, review and retro share one folder, and each keeps its own list.
#[test]
fn stages_in_one_folder_stand_side_by_side() {
    let env = shared();
    env.thru(&["gate", "expect", "plan", "plan-a.md", "--", "sh", "-c", "exit 1"]).ok();
    env.thru(&["gate", "expect", "review", "review-a.md"]).ok();
    env.thru(&["gate", "expect", "retro", "retro-a.md"]).ok();
    assert_eq!(env.json(&["gate", "live"])["stage"], "retro");
    for (stage, file) in [("plan", "plan-a.md"), ("review", "review-a.md"), ("retro", "retro-a.md")] {
        assert_eq!(verdict(&env, stage, file), "missing");
    }
    env.thru(&["gate", "run", "--stage", "plan"]).exits(4);
    let read = |name: &str| -> Value {
        serde_json::from_slice(&fs::read(env.project().join(FOLDER).join(name)).unwrap()).unwrap()
    };
    assert_eq!(read("expected.plan.json")["outputs"][0]["attempts"], 2);
    assert_eq!(read("expected.json")["stage"], "retro");
    env.write(format!("project/{FOLDER}/review-a.md"), "x\n");
    env.thru(&["gate", "seal", "review-a.md"]).ok();
    assert_eq!(verdict(&env, "review", "review-a.md"), "valid");
    env.thru(&["gate", "expect", "review", "review-a.md"]).ok();
    assert_eq!(verdict(&env, "review", "review-a.md"), "valid");
    assert_eq!(verdict(&env, "retro", "retro-a.md"), "missing");
    let names = names_in(&env.project().join(FOLDER));
    assert!(!names.contains(&"expected.review.json".to_owned()), "it is the current one: {names:?}");
}

#[test]
fn every_hint_can_be_followed() {
    let env = TestEnv::rooted();
    let output = env.thru(&["gate", "check", "--stage", "review"]).exits(10);
    assert!(
        output.stderr.contains("`thru gate expect review --critical review-ROLE.md` makes one"),
        "{output}"
    );
    for words in [["gate", "check", "--stage", "../x"], ["gate", "run", "--stage", "../x"]] {
        let output = env.thru(&words).exits(2);
        assert!(output.stderr.contains("cannot be an id"), "{output}");
    }

    env.write("project/.agent/context/state/live.json", "{\"dir\": ");
    let output = env.thru(&["gate", "check"]).exits(12);
    assert!(output.stderr.contains("`thru gate live --set DIR`"), "{output}");
    env.thru(&["gate", "expect", "review", "review-a.md"]).ok();
    let names = names_in(&env.store().join("state"));
    let kept = names.iter().find(|name| name.starts_with("live.json.damaged-"));
    let kept = kept.unwrap_or_else(|| panic!("{names:?}"));
    assert_eq!(fs::read_to_string(env.store().join("state").join(kept)).unwrap(), "{\"dir\": ");
}

#[test]
fn a_live_state_file_is_named_for_what_it_does() {
    let env = shared();
    fs::create_dir_all(env.project().join("other")).unwrap();
    env.thru(&["gate", "live", "--set", "other"]).ok();
    let cleared = env.thru(&["gate", "live", "--clear"]).ok();
    assert!(cleared.stdout.contains(FOLDER) && !cleared.stdout.contains("No run is live"), "{cleared}");
    let json = env.json(&["gate", "live", "--clear"]);
    assert!(json["run"].as_str().unwrap().ends_with(FOLDER), "{json}");
    fs::remove_file(env.project().join(".cwf/state.yaml")).unwrap();
    let output = env.thru(&["gate", "live"]).exits(10);
    assert!(output.stderr.contains(".cwf/state.yaml is not there"), "{output}");
    let cleared = env.thru(&["gate", "live", "--clear"]).ok();
    assert_eq!(cleared.stdout, "No run is live\n");
}

#[test]
fn a_file_of_the_run_itself_is_never_an_output() {
    let env = TestEnv::rooted();
    env.thru(&["gate", "expect", "review", "review-a.md"]).ok();
    let run = env.project().join(".agent/context/outputs/review-20261115T192200Z");
    let names = [
        "expected.json",
        "expected.plan.json",
        "omissions.md",
        "review-a.md.launch.log",
        "review-a.md.prompt.md",
        "review-a.md.last-message.md",
    ];
    for name in names {
        env.thru(&["gate", "expect", "review", name]).exits(2);
        fs::write(run.join(name), "text\n").unwrap();
    }
    let launch = json!(["sh", "-c", "echo launched > launched"]);
    let outputs = names.map(|name| json!({"file": name, "launch": launch}));
    let expected = json!({"stage": "review", "outputs": outputs}).to_string();
    fs::write(run.join("expected.json"), &expected).unwrap();
    for name in names {
        let before = fs::read(run.join(name)).unwrap();
        let output = env.call(&["gate", "seal", run.join(name).to_str().unwrap()]).run().exits(15);
        assert_eq!(fs::read(run.join(name)).unwrap(), before, "{output}");
    }
    let check = env.thru(&["gate", "check"]).exits(4);
    assert_eq!(check.stdout.matches("  unsafe ").count(), names.len(), "{check}");
    assert!(!check.stdout.contains("gate seal"), "{check}");
    env.thru(&["gate", "run"]).exits(4);
    assert!(!env.project().join("launched").exists());
    assert_eq!(fs::read_to_string(run.join("expected.json")).unwrap(), expected);
}
