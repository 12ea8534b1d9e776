use super::*;

fn record(text: &str) -> Record<'_> {
    Record::read(text.as_bytes()).unwrap()
}

#[test]
fn a_call_becomes_a_line_and_other_records_do_not() {
    let call = r#"{"v":1,"ts":"2026-11-15T19:22:00Z","harness":"claude-code","event":"tool-done","session":"s1",
        "worktree":"/p","agent":{"id":"a1","type":"coder"},"id":"t1","tool":"Edit","ok":true,"ms":12,
        "files":[{"path":"src/a.rs","action":"edit"},{"path":"b","action":"read","guess":true}]}"#;
    let made = Activity::of(&record(call), "tester").unwrap();
    let paths: Vec<&str> = made.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!((made.agent_name(), made.role.as_str(), paths), ("coder", "tester", vec!["src/a.rs"]));
    assert_eq!(serde_json::from_slice::<Activity>(&made.line()).unwrap(), made);
    let prompt = r#"{"v":1,"ts":"x","event":"prompt","session":"s1","text":"hello"}"#;
    assert_eq!(Activity::of(&record(prompt), ""), None);
}

#[test]
fn how_a_call_went() {
    let cases = [
        (r#""ok":true"#, Some(true)),
        (r#""ok":false"#, Some(false)),
        (r#""ok":true,"ended":"failed""#, Some(false)),
        (r#""ok":true,"ended":"ran""#, Some(true)),
        (r#""exit":0"#, None),
    ];
    for (fields, expected) in cases {
        let line = format!(r#"{{"event":"tool-done","session":"s","tool":"Bash",{fields}}}"#);
        assert_eq!(Activity::of(&record(&line), "").unwrap().ok, expected, "{fields}");
    }
}

#[test]
fn agents_are_named_by_type_then_role() {
    let agent = |kind: &str| Some(AgentField { id: "a".to_owned(), kind: kind.to_owned() });
    let of = |agent, role: &str| Activity { agent, role: role.to_owned(), ..Activity::default() };
    assert_eq!(of(agent("coder"), "lead").agent_name(), "coder");
    assert_eq!(of(agent(""), "lead").agent_name(), "sub-agent");
    assert_eq!(of(None, "lead").agent_name(), "lead");
    assert_eq!(of(None, "").agent_name(), "main");
}

#[test]
fn calls_are_counted_by_name() {
    let call = |tool: &str, ok, ms, ts: &str| Activity {
        tool: tool.to_owned(),
        ok,
        ms,
        ts: ts.to_owned(),
        ..Activity::default()
    };
    let calls = [
        call("Edit", Some(true), Some(10), "2"),
        call("Bash", Some(true), Some(100), "1"),
        call("Bash", Some(false), None, "3"),
        call("Bash", None, Some(201), "2"),
        call("Read", Some(true), None, "1"),
    ];
    let counts = count_by(&calls, |one| &one.tool);
    let rows: Vec<_> = counts
        .iter()
        .map(|c| (c.name.as_str(), c.calls, c.ok, c.failed, c.average_ms, c.last_at.as_str()))
        .collect();
    assert_eq!(
        rows,
        [("Bash", 3, 1, 1, Some(150), "3"), ("Edit", 1, 1, 0, Some(10), "2"), ("Read", 1, 1, 0, None, "1"),]
    );
}
