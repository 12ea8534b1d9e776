//! Tests of `thru swarm benchmark`: figures from records, a gate that can fail a build, and a chart.

use std::fs;

use serde_json::{Value, json};

use crate::env::TestEnv;

const CONFIG_FILE: &str = "project/.agent/context/config.toml";

/// Creates a plan with one task. Reviewers rejected the task once and approved it once, and its tests failed once and
/// passed once.
fn project_with_reviews() -> TestEnv {
    let env = TestEnv::new();
    env.run_thru(&["init"]).assert_ok();
    env.run_thru(&["plan", "init", "Parser", "--phase", "Read"]).assert_ok();
    env.run_thru(&["task", "add", "Lexer"]).assert_ok();
    env.run_thru(&["task", "start", "1.1"]).assert_ok();
    env
}

fn add_review(env: &TestEnv, verdict: &str) {
    let words = ["evidence", "add", "1.1", "--type", "review", "--verdict", verdict, "--summary", verdict];
    env.run_thru(&words).assert_ok();
}

fn outcome_of_metric<'r>(report: &'r Value, metric: &str) -> &'r str {
    let checks = report["run"]["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["metric"] == metric).unwrap();
    check["outcome"].as_str().unwrap()
}

#[test]
fn without_records_there_is_no_pass() {
    let env = TestEnv::new();
    env.run_thru(&["init"]).assert_ok();
    let report = env.run_thru(&["swarm", "benchmark", "--ci-gate", "--json"]).assert_ok().json();
    assert_eq!(report["outcome"], "no-data");
    for metric in ["rejection_percent", "test_pass_percent", "tool_error_percent", "hard_limit_hits"] {
        assert_eq!(outcome_of_metric(&report, metric), "no-data", "{metric}");
    }
    let shown = env.run_thru(&["swarm", "benchmark"]).assert_ok().stdout;
    assert!(shown.contains("no data") && shown.contains("no-data: there are no records"), "{shown}");
    assert_eq!(env.run_thru(&["swarm", "benchmark", "--ci-gate", "--require-data"]).code, 1);
    assert_eq!(
        env.run_thru(&["swarm", "benchmark", "--require-data"]).code,
        0,
        "only the gate fails a build"
    );
}

#[test]
fn a_strict_limit_fails_the_gate_and_the_default_passes() {
    let env = project_with_reviews();
    for verdict in ["rejected", "approved", "approved", "approved"] {
        add_review(&env, verdict);
    }
    env.write_file(CONFIG_FILE, "[benchmark]\nmax_rejection_percent = 10\n");
    let strict = env.run_thru(&["swarm", "benchmark", "--ci-gate", "--json"]);
    assert_eq!(strict.code, 1);
    assert_eq!(strict.json()["run"]["metrics"]["rejection_percent"], json!(25.0));
    assert_eq!(strict.json()["run"]["metrics"]["retries_per_task"], json!(1.0));
    assert_eq!(outcome_of_metric(&strict.json(), "rejection_percent"), "fail");
    env.write_file(CONFIG_FILE, "");
    let usual = env.run_thru(&["swarm", "benchmark", "--ci-gate", "--json"]).assert_ok().json();
    assert_eq!((&usual["outcome"], outcome_of_metric(&usual, "rejection_percent")), (&json!("pass"), "pass"));

    let kept: Value =
        serde_json::from_slice(&fs::read(env.store_folder().join("benchmarks.json")).unwrap()).unwrap();
    assert_eq!(kept["schema_version"], "1.0.0");
    let gates: Vec<&Value> = kept["runs"].as_array().unwrap().iter().map(|run| &run["gate"]).collect();
    assert_eq!(gates, ["fail", "pass"], "every run is kept");
}

#[test]
fn figures_of_calls_and_test_runs() {
    let env = project_with_reviews();
    let run = |code: &str| env.run_thru(&["evidence", "run", "1.1", "--", "sh", "-c", code]).code;
    assert_eq!((run("exit 1"), run("exit 0")), (1, 0));
    for (event, n) in [("PostToolUse", 1), ("PostToolUse", 2), ("PostToolUse", 3), ("PostToolUseFailure", 4)]
    {
        let more = json!({"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": n.to_string()});
        env.fire_hook(event, &env.event_payload("s1", event, more));
    }
    env.run_thru(&["task", "done", "1.1"]).assert_ok();
    let report = env.run_thru(&["swarm", "benchmark", "--json"]).assert_ok().json();
    let metrics = &report["run"]["metrics"];
    assert_eq!(
        (&metrics["test_pass_percent"], &metrics["tool_error_percent"]),
        (&json!(100.0), &json!(25.0))
    );
    assert_eq!(metrics["calls_per_task"], json!(4.0));
    assert_eq!(
        (outcome_of_metric(&report, "test_pass_percent"), outcome_of_metric(&report, "tool_error_percent")),
        ("pass", "fail"),
        "the last test of the task passed"
    );
}

#[test]
fn a_picture_of_the_runs() {
    let env = project_with_reviews();
    add_review(&env, "approved");
    env.run_thru(&["swarm", "benchmark", "--svg", "bench.svg"]).assert_ok();
    env.run_thru(&["swarm", "benchmark", "--svg", "bench.svg"]).assert_ok();
    let svg = fs::read_to_string(env.project_folder().join("bench.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains("2 runs"), "{svg}");
    for (name, mine) in
        [("notes.txt", "mine"), ("logo.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>\n")]
    {
        env.write_file(format!("project/{name}"), mine);
        let refused = env.run_thru(&["swarm", "benchmark", "--svg", name]);
        assert!(refused.code != 0 && refused.stderr.contains("not a benchmark chart"), "{refused}");
        assert_eq!(fs::read_to_string(env.project_folder().join(name)).unwrap(), mine);
    }
    env.run_thru(&["swarm", "benchmark", "--svg", "logo.svg", "--force"]).assert_ok();
    assert!(
        fs::read_to_string(env.project_folder().join("logo.svg")).unwrap().contains("Throughline benchmark")
    );
    let shown = env.run_thru(&["swarm", "benchmark"]).assert_ok().stdout;
    assert!(shown.contains('▁') && shown.contains("pass: "), "{shown}");
}

#[test]
fn a_damaged_history_is_not_overwritten() {
    let env = project_with_reviews();
    env.write_file("project/.agent/context/benchmarks.json", "{\n");
    let refused = env.run_thru(&["swarm", "benchmark"]);
    assert!(refused.code != 0 && refused.stderr.contains("benchmarks.json"), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(env.store_folder().join("benchmarks.json")).unwrap(), "{\n");
    env.write_file("project/.agent/context/benchmarks.json", "{\"schema_version\": \"9.0.0\", \"runs\": []}");
    let refused = env.run_thru(&["swarm", "benchmark"]);
    assert!(refused.code != 0 && refused.stderr.contains("9.0.0"), "{}", refused.stderr);
}

#[test]
fn imports_of_other_tools() {
    let env = TestEnv::new();
    env.run_thru(&["init"]).assert_ok();
    env.write_file(
        "project/.swarm/benchmarks.json",
        r#"{"runs": [{"timestamp": "2026-01-01T00:00:00Z", "rejection_rate": 0.5}]}"#,
    );
    let text = "the whole output\n".repeat(10);
    env.write_file(
        "project/.swarm/summaries/S1.json",
        json!({"id": "S1", "toolName": "bash", "fullOutput": text}).to_string(),
    );
    env.write_file("project/.swarm/summaries/S2.json", "{");
    let link = env.project_folder().join(".swarm/summaries/S3.json");
    std::os::unix::fs::symlink("/etc/hostname", link).unwrap();
    env.write_file(
        "project/.swarm/evidence-archive/1.1/evidence.json",
        json!({"task_id": "1.1", "entries": [{"task_id": "1.1", "type": "review", "verdict": "approved", "agent": "r", "timestamp": "2026-01-01T00:00:00Z", "summary": "fine"}]}).to_string(),
    );
    let dry = env.run_thru(&["import", "swarm", "--dry-run", "--json"]).assert_ok().json();
    assert_eq!(
        (&dry["summaries"]["new"], &dry["benchmarks"]["new"], &dry["evidence"]["new"]),
        (&json!(1), &json!(1), &json!(1))
    );
    assert!(
        !env.store_folder().join("summaries").exists()
            && !env.store_folder().join("benchmarks.json").exists()
    );
    let done = env.run_thru(&["import", "swarm", "--json"]).assert_ok().json();
    assert_eq!(done["summaries"]["left_out"].as_array().unwrap().len(), 2, "{done}");
    let id = done["summaries"]["outputs"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(env.run_thru(&["swarm", "retrieve", &id]).assert_ok().stdout, text);
    let again = env.run_thru(&["import", "swarm", "--json"]).assert_ok().json();
    assert_eq!(
        (&again["summaries"]["new"], &again["benchmarks"]["new"], &again["evidence"]["new"]),
        (&json!(0), &json!(0), &json!(0))
    );
    let report = env.run_thru(&["swarm", "benchmark", "--json"]).assert_ok().json();
    assert_eq!(report["run"]["metrics"]["rejection_percent"], json!(0.0), "from the imported evidence");
    let kept: Value =
        serde_json::from_slice(&fs::read(env.store_folder().join("benchmarks.json")).unwrap()).unwrap();
    assert_eq!(kept["runs"][0]["metrics"]["rejection_percent"], json!(50.0));
    assert!(
        fs::read_to_string(env.project_folder().join(".swarm/summaries/S1.json")).unwrap().contains("S1"),
        "originals stay"
    );
}

/// A gate that another tool recorded shows only that an agent ran, not what the agent found. So it does not count as
/// a passed review or test.
#[test]
fn imported_gates_are_not_approvals() {
    let env = TestEnv::new();
    env.run_thru(&["init"]).assert_ok();
    let gate = |agent: &str| json!({"sessionId": "s", "timestamp": "2026-04-14T07:01:02Z", "agent": agent});
    let gates = json!({"taskId": "1.1", "required_gates": ["reviewer"], "gates": {
        "reviewer": gate("reviewer"), "test_engineer": gate("test_engineer"), "critic": gate("critic")}});
    env.write_file("project/.swarm/evidence/1.1.json", gates.to_string());
    assert_eq!(env.run_thru_json(&["import", "swarm"])["evidence"]["new"], json!(3));
    let shown = env.run_thru(&["evidence", "show", "1.1"]).assert_ok().stdout;
    assert!(!shown.contains("approved") && !shown.contains("pass:"), "{shown}");
    let metrics = env.run_thru_json(&["swarm", "benchmark"])["run"]["metrics"].clone();
    assert_eq!(
        (&metrics["review_pass_percent"], &metrics["test_pass_percent"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn agents_of_a_session_folder() {
    let env = TestEnv::new();
    env.run_thru(&["init"]).assert_ok();
    env.write_file("project/session/agents/tester.context.md", "# tester\n");
    env.write_file("project/session/agents/notes.txt", "x");
    let link = env.project_folder().join("session/agents/spy.context.md");
    std::os::unix::fs::symlink("/etc/hostname", link).unwrap();
    let dry = env.run_thru(&["import", "agents", "--dry-run", "--json"]).assert_ok().json();
    assert_eq!(
        (&dry["agents"][0]["role"], &dry["agents"][0]["outcome"]),
        (&json!("tester"), &json!("imported"))
    );
    let file = env.store_folder().join("agents/tester.context.md");
    assert!(!file.exists());
    let done = env.run_thru(&["import", "agents", "--json"]).assert_ok().json();
    assert_eq!(done["left_out"].as_array().unwrap().len(), 2, "{done}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "# tester\n");
    let again = env.run_thru(&["import", "agents", "--json"]).assert_ok().json();
    assert_eq!(again["agents"][0]["outcome"], "same");
    fs::write(&file, "# mine\n").unwrap();
    let other = env.run_thru(&["import", "agents"]).assert_ok();
    assert!(other.stdout.contains("exists and differs"), "{}", other.stdout);
    assert_eq!(fs::read_to_string(&file).unwrap(), "# mine\n");
    let absent = env.run_thru(&["import", "agents", "nowhere"]);
    assert!(absent.code != 0 && absent.stderr.contains("nowhere"), "{}", absent.stderr);
}
