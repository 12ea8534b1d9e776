//! Evidence that is imported from other tools.

use super::*;

#[test]
fn a_swarm_s_evidence_is_imported_once_and_stays_as_it_is() {
    let env = TestEnv::with_root();
    let swarm =
        |path: &str, value: Value| env.write_file(format!("project/.swarm/{path}"), value.to_string());
    let gates = json!({"taskId": "1.1", "required_gates": ["reviewer"],
        "gates": {"reviewer": {"sessionId": "s", "timestamp": "2026-04-14T07:01:02Z", "agent": "reviewer"}}});
    let entry = |task: &str| {
        json!({"task_id": task, "type": "retrospective", "timestamp": "2026-04-14T07:00:00Z",
        "agent": "architect", "verdict": "pass", "summary": "done", "lessons_learned": ["x"]})
    };
    let of = |task: &str| {
        json!({"schema_version": "1.0.0", "task_id": task, "entries": [entry(task)],
        "created_at": "t", "updated_at": "t"})
    };
    swarm("plan.md", json!("unused"));
    env.write_file("project/.swarm/plan.md", "# P\n## Phase 1: One\n- [ ] 1.1: a\n");
    swarm("evidence/1.1.json", gates.clone());
    swarm("evidence/1.1 2.json", gates);
    swarm("evidence/1.1/evidence.json", of("1.1"));
    swarm("evidence/retro-1/evidence.json", of("retro-1"));
    swarm(
        "evidence/1/drift-verifier.json",
        json!({"entries": [{"type": "drift-verification", "verdict": "approved", "summary": "s"}]}),
    );
    swarm("evidence/agent-tools-init-1.json", json!({"agents": {}}));
    env.write_file("project/.swarm/evidence/torn.json", "{\"entries\": [");
    std::os::unix::fs::symlink("/etc/passwd", env.project_folder().join(".swarm/evidence/link.json"))
        .unwrap();
    let before = env.file_tree();
    let dry = env.run_thru_json(&["import", "swarm", "--dry-run"]);
    assert_eq!((&dry["evidence"]["entries"], &dry["evidence"]["new"]), (&json!(5), &json!(4)));
    assert_eq!(before.changes_to(&env.file_tree()), Vec::<String>::new());
    let done = env.run_thru_json(&["import", "swarm"]);
    assert_eq!((&done["evidence"]["new"], &done["evidence"]["tasks"]), (&json!(4), &json!(3)));
    let left: Vec<&str> = done["evidence"]["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|left| left["file"].as_str().unwrap())
        .collect();
    assert_eq!(left, ["link.json", "agent-tools-init-1.json", "torn.json"]);
    assert_eq!(read_bundle(&env, "1.1")["entries"].as_array().unwrap().len(), 2);
    assert_eq!(read_bundle(&env, "retro-1")["entries"][0]["lessons_learned"], json!(["x"]));
    let again = env.run_thru_json(&["import", "swarm"]);
    assert_eq!(again["evidence"]["new"], json!(0));
    assert!(env.run_thru(&["evidence", "list"]).assert_ok().stdout.contains("nothing proves that"));
    assert!(names_in(&env.project_folder().join(".swarm/evidence")).contains(&"1.1 2.json".to_owned()));
}

#[test]
fn an_entry_of_another_tool_that_is_too_large_takes_no_other_with_it() {
    let env = TestEnv::with_root();
    let entry = |summary: &str| json!({"type": "note", "timestamp": "2026-04-14T07:00:00Z", "agent": "a", "verdict": "info", "summary": summary});
    let entries = [entry("small"), entry(&"x".repeat(600 * 1024)), entry("last")];
    env.write_file("project/.swarm/plan.md", "# P\n## Phase 1: One\n- [ ] 1.1: a\n");
    env.write_file(
        "project/.swarm/evidence/1.1/evidence.json",
        json!({"task_id": "1.1", "entries": entries}).to_string(),
    );
    let report = env.run_thru_json(&["import", "swarm"]);
    assert_eq!(report["evidence"]["new"], json!(3), "{report}");
    assert_eq!(read_bundle(&env, "1.1")["entries"].as_array().unwrap().len(), 2);
    assert_eq!(env.read_log("evidence/1.1/archive.jsonl").len(), 1);
    assert_eq!(env.run_thru_json(&["import", "swarm"])["evidence"]["new"], json!(0));
}

/// An approval in another tool's file does not settle a rejection that was recorded here.
#[test]
fn an_import_settles_nothing() {
    let env = env_with_plan();
    run_passing_tests(&env);
    env.run_thru(&["evidence", "add", "1.1", "--type", "review", "--verdict", "rejected", "--summary", "no"])
        .assert_ok();
    let review = |at: &str| json!({"type": "review", "timestamp": at, "agent": "reviewer", "verdict": "approved", "summary": "fine"});
    let entries = [review("2020-01-01T00:00:00Z"), review("2099-01-01T00:00:00Z")];
    env.write_file(
        "project/.swarm/evidence/1.1/evidence.json",
        json!({"task_id": "1.1", "entries": entries}).to_string(),
    );
    env.run_thru(&["import", "swarm"]).assert_ok();
    assert_eq!(env.run_thru_json(&["evidence", "list"])["tasks"][0]["proof"], json!("failed"));
    assert_eq!(
        read_bundle(&env, "1.1")["entries"][0]["timestamp"],
        json!("2020-01-01T00:00:00Z"),
        "it stands by its time"
    );
}
