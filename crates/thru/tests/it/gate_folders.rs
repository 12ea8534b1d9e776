//! Tests stage runs in an orchestrator's folder, and the messages for a run that cannot be found.

use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::env::{TestEnv, names_in};

const COMPLETE_MARK: &str = "<!-- AGENT_COMPLETE -->";
const SESSION_FOLDER: &str = ".cwf/p/01-x";

/// Creates a project in which the orchestrator's YAML file names the session's folder.
fn env_with_orchestrator_file() -> TestEnv {
    let env = TestEnv::with_root();
    env.write_file("project/.agent/context/config.toml", "[gates]\nlive_state_file = \".cwf/state.yaml\"\n");
    env.write_file("project/.cwf/state.yaml", format!("live:\n  dir: \"{SESSION_FOLDER}\"\n"));
    fs::create_dir_all(env.project_folder().join(SESSION_FOLDER)).unwrap();
    env
}

/// Writes an output with a time one day before the test's clock.
fn write_old_output(env: &TestEnv, file: &str) {
    let path = env.write_file(format!("project/{SESSION_FOLDER}/{file}"), format!("x\n{COMPLETE_MARK}\n"));
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_794_684_120);
    fs::File::open(path).unwrap().set_modified(old).unwrap();
}

fn verdict_of_file(env: &TestEnv, stage: &str, file: &str) -> Value {
    let report = env.thru_call(&["gate", "check", "--stage", stage, "--json"]).run().json();
    let rows = report["outputs"].as_array().unwrap_or_else(|| panic!("{report}"));
    rows.iter().find(|row| row["file"] == file).unwrap_or_else(|| panic!("{report}"))["verdict"].clone()
}

/// Valid files in the folder are used and not produced again. A second `thru gate expect` does not make a stale file
/// fresh.
#[test]
fn valid_work_in_a_shared_folder_stays_valid() {
    let env = env_with_orchestrator_file();
    env.write_file("project/plan.md", "v1\n");
    let ask = ["gate", "expect", "review", "review-a.md", "review-b.md", "--input", "plan.md"];
    write_old_output(&env, "review-a.md");
    env.run_thru(&ask).assert_ok();
    assert_eq!(verdict_of_file(&env, "review", "review-a.md"), "valid", "the folder is the session's");
    env.run_thru(&ask).assert_ok();
    assert_eq!(verdict_of_file(&env, "review", "review-a.md"), "valid", "asked for the same again");
    assert_eq!(verdict_of_file(&env, "review", "review-b.md"), "missing");
    env.write_file("project/plan.md", "v2\n");
    assert_eq!(verdict_of_file(&env, "review", "review-a.md"), "stale");
    env.run_thru(&ask).assert_ok();
    assert_eq!(verdict_of_file(&env, "review", "review-a.md"), "stale", "asking does not make it fresh");
    write_old_output(&env, "review-b.md");
    env.run_thru(&["gate", "expect", "review", "review-b.md", "--prompt", "Look again"]).assert_ok();
    assert_eq!(verdict_of_file(&env, "review", "review-b.md"), "stale", "something else is asked for");
}

/// The stages plan, review and retro share one folder, and each has its own list of outputs.
#[test]
fn stages_in_one_folder_stand_side_by_side() {
    let env = env_with_orchestrator_file();
    env.run_thru(&["gate", "expect", "plan", "plan-a.md", "--", "sh", "-c", "exit 1"]).assert_ok();
    env.run_thru(&["gate", "expect", "review", "review-a.md"]).assert_ok();
    env.run_thru(&["gate", "expect", "retro", "retro-a.md"]).assert_ok();
    assert_eq!(env.run_thru_json(&["gate", "live"])["stage"], "retro");
    for (stage, file) in [("plan", "plan-a.md"), ("review", "review-a.md"), ("retro", "retro-a.md")] {
        assert_eq!(verdict_of_file(&env, stage, file), "missing");
    }
    env.run_thru(&["gate", "run", "--stage", "plan"]).assert_exit_code(4);
    let read = |name: &str| -> Value {
        serde_json::from_slice(&fs::read(env.project_folder().join(SESSION_FOLDER).join(name)).unwrap())
            .unwrap()
    };
    assert_eq!(read("expected.plan.json")["outputs"][0]["attempts"], 2);
    assert_eq!(read("expected.json")["stage"], "retro");
    env.write_file(format!("project/{SESSION_FOLDER}/review-a.md"), "x\n");
    env.run_thru(&["gate", "seal", "review-a.md"]).assert_ok();
    assert_eq!(verdict_of_file(&env, "review", "review-a.md"), "valid");
    env.run_thru(&["gate", "expect", "review", "review-a.md"]).assert_ok();
    assert_eq!(verdict_of_file(&env, "review", "review-a.md"), "valid");
    assert_eq!(verdict_of_file(&env, "retro", "retro-a.md"), "missing");
    let names = names_in(&env.project_folder().join(SESSION_FOLDER));
    assert!(!names.contains(&"expected.review.json".to_owned()), "it is the current one: {names:?}");
}

#[test]
fn every_hint_can_be_followed() {
    let env = TestEnv::with_root();
    let output = env.run_thru(&["gate", "check", "--stage", "review"]).assert_exit_code(10);
    assert!(
        output.stderr.contains("`thru gate expect review --critical review-ROLE.md` creates one"),
        "{output}"
    );
    for words in [["gate", "check", "--stage", "../x"], ["gate", "run", "--stage", "../x"]] {
        let output = env.run_thru(&words).assert_exit_code(2);
        assert!(output.stderr.contains("cannot be an id"), "{output}");
    }

    env.write_file("project/.agent/context/state/live.json", "{\"dir\": ");
    let output = env.run_thru(&["gate", "check"]).assert_exit_code(12);
    assert!(output.stderr.contains("`thru gate live --set DIR`"), "{output}");
    env.run_thru(&["gate", "expect", "review", "review-a.md"]).assert_ok();
    let names = names_in(&env.store_folder().join("state"));
    let kept = names.iter().find(|name| name.starts_with("live.json.damaged-"));
    let kept = kept.unwrap_or_else(|| panic!("{names:?}"));
    assert_eq!(fs::read_to_string(env.store_folder().join("state").join(kept)).unwrap(), "{\"dir\": ");
}

#[test]
fn a_live_state_file_is_named_for_what_it_does() {
    let env = env_with_orchestrator_file();
    fs::create_dir_all(env.project_folder().join("other")).unwrap();
    env.run_thru(&["gate", "live", "--set", "other"]).assert_ok();
    let cleared = env.run_thru(&["gate", "live", "--clear"]).assert_ok();
    assert!(
        cleared.stdout.contains(SESSION_FOLDER) && cleared.stdout.contains("other is no longer the live run"),
        "{cleared}"
    );
    let json = env.run_thru_json(&["gate", "live", "--clear"]);
    assert!(json["run"].as_str().unwrap().ends_with(SESSION_FOLDER), "{json}");
    fs::remove_file(env.project_folder().join(".cwf/state.yaml")).unwrap();
    let output = env.run_thru(&["gate", "live"]).assert_exit_code(10);
    assert!(output.stderr.contains(".cwf/state.yaml does not exist"), "{output}");
    let cleared = env.run_thru(&["gate", "live", "--clear"]).assert_ok();
    assert_eq!(cleared.stdout, "No run was live, so there was nothing to clear\n");
}

#[test]
fn a_file_of_the_run_itself_is_never_an_output() {
    let env = TestEnv::with_root();
    env.run_thru(&["gate", "expect", "review", "review-a.md"]).assert_ok();
    let run = env.project_folder().join(".agent/context/outputs/review-20261115T192200Z");
    let names = [
        "expected.json",
        "expected.plan.json",
        "omissions.md",
        "review-a.md.launch.log",
        "review-a.md.prompt.md",
        "review-a.md.last-message.md",
    ];
    for name in names {
        env.run_thru(&["gate", "expect", "review", name]).assert_exit_code(2);
        fs::write(run.join(name), "text\n").unwrap();
    }
    let launch = json!(["sh", "-c", "echo launched > launched"]);
    let outputs = names.map(|name| json!({"file": name, "launch": launch}));
    let expected = json!({"stage": "review", "outputs": outputs}).to_string();
    fs::write(run.join("expected.json"), &expected).unwrap();
    for name in names {
        let before = fs::read(run.join(name)).unwrap();
        let output =
            env.thru_call(&["gate", "seal", run.join(name).to_str().unwrap()]).run().assert_exit_code(15);
        assert_eq!(fs::read(run.join(name)).unwrap(), before, "{output}");
    }
    let check = env.run_thru(&["gate", "check"]).assert_exit_code(4);
    assert_eq!(check.stdout.matches("  unsafe ").count(), names.len(), "{check}");
    assert!(!check.stdout.contains("gate seal"), "{check}");
    env.run_thru(&["gate", "run"]).assert_exit_code(4);
    assert!(!env.project_folder().join("launched").exists());
    assert_eq!(fs::read_to_string(run.join("expected.json")).unwrap(), expected);
}
