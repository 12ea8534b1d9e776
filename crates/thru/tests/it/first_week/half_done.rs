//! Tests what a brief says about a half-done change, and about the newest message once it has been carried out.

use super::files_at_risk::repository_with_files;
use super::handoffs::{ask_at, edit_at, fire_at, run_at, start_at, thru_at};
use super::quoted_words::compact_at;
use super::*;

/// Two edits. Each has a path, the old text and the new text. The second edit contains a secret.
const EDITS: [(&str, &str, &str); 2] = [
    ("src/report.rs", "fn total(rows: &[Row]) -> u64 {", "fn sum_of_rows(rows: &[Row]) -> u64 {"),
    (
        "src/main.rs",
        "    let all = total(&rows);",
        "    let token = \"ghp_0123456789abcdefghijABCDEFGHIJ012345\";\n    let all = sum_of_rows(&rows);",
    ),
];

fn make_edits(env: &TestEnv) {
    let mut lines = Vec::new();
    for (place, (path, old, new)) in EDITS.iter().enumerate() {
        let (id, time) = (format!("t{place}"), format!("19:00:0{}", place + 3));
        let input =
            json!({"file_path": env.project_folder().join(path), "old_string": old, "new_string": new});
        let line = |kind: &str, content: Value| {
            json!({"type": kind, "uuid": format!("{kind}{place}"), "timestamp": format!("2026-11-15T{time}Z"),
                "sessionId": "s1", "message": {"role": kind, "id": format!("m{place}"), "content": content}})
        };
        let call = json!([{"type": "tool_use", "id": id, "name": "Edit", "input": input}]);
        lines.push(line("assistant", call));
        lines.push(line("user", json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}])));
        let call = json!({"tool_name": "Edit", "tool_use_id": id, "tool_input": input, "tool_response": {}});
        fire_at(env, &time, "s1", "PostToolUse", call);
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let path = env.write_file("s1.jsonl", text);
    let before = json!({"trigger": "auto", "transcript_path": path});
    let call = env.hook_call("PreCompact", env.event_payload("s1", "PreCompact", before).to_string());
    call.with_variable("THROUGHLINE_NOW", "2026-11-15T19:00:09Z").run().assert_ok();
}

#[test]
fn a_brief_shows_what_the_last_edits_changed() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Rename total to sum_of_rows, in all callers.");
    make_edits(&env);
    let brief = fire_at(&env, "19:00:10", "s1", "SessionStart", json!({"source": "compact"}));
    let [first, second] = [
        "src/report.rs `fn total(rows: &[Row]) -> u64 {` → `fn sum_of_rows(rows: &[Row]) -> u64 {`",
        "src/main.rs `let all = total(&rows);` → `let all = sum_of_rows(&rows);`",
    ];
    assert!(
        brief.contains(&format!("Last edits (no commit or passing check since): {first}; {second}")),
        "{brief}"
    );
    let short = thru_at(&env, "19:00:11", "s1", &["brief", "--max-chars", "700"]).stdout;
    assert!(short.contains("last `let all = total(&rows);`") || short.contains(second), "{short}");
    // Only redacted text is stored, and `thru journal` lists each edit once.
    let journal = fs::read_to_string(env.project_folder().join(".agent/context/sessions/s1.jsonl")).unwrap();
    assert!(!journal.contains("ghp_0123"), "{journal}");
    let shown = thru_at(&env, "19:00:12", "s1", &["journal"]).stdout;
    assert_eq!(shown.matches("src/main.rs").count(), 1, "{shown}");
    // After a passing check, the brief no longer lists the last edits.
    run_at(&env, "19:00:13", "s1", "cargo test", "test result: ok. 3 passed; 0 failed");
    let brief = thru_at(&env, "19:00:14", "s1", &["brief"]).stdout;
    assert!(!brief.contains("Last edits"), "{brief}");
}

#[test]
fn a_brief_says_that_the_newest_message_has_been_carried_out() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Split quoted fields in src/csv.ts.");
    edit_at(&env, "19:00:02", "s1", "src/csv.ts");
    ask_at(&env, "19:00:03", "s1", "Commit it.");
    let committed = "[main 1a2b3c4] csv: quoted fields\n 1 file changed, 2 insertions(+)";
    run_at(&env, "19:00:04", "s1", "git add -A && git commit -m 'csv: quoted fields'", committed);
    let brief = thru_at(&env, "19:00:05", "s1", &["brief"]).stdout;
    assert!(brief.contains("The newest message has been carried out ("), "{brief}");
    assert!(!brief.contains("Working on the newest message"), "{brief}");
}

#[test]
fn a_summary_about_a_feature_for_uncommitted_files_does_not_hide_the_risk() {
    let summary =
        |state: &str| format!("1. Added a warning about uncommitted changes to `status`.\n2. {state}");
    let cases = [("Next: tests for src/status.ts.", true), ("src/status.ts is still uncommitted.", false)];
    for (state, expected) in cases {
        let env = repository_with_files(&["src/status.ts"]);
        start_at(&env, "19:00:00", "s1");
        ask_at(&env, "19:00:01", "s1", "Warn about uncommitted changes in src/status.ts.");
        env.write_file("project/src/status.ts", "new\n");
        edit_at(&env, "19:00:02", "s1", "src/status.ts");
        let brief = compact_at(&env, "19:00:05", "s1", &summary(state));
        assert_eq!(brief.contains("the summary does not say so"), expected, "{state}: {brief}");
    }
}
