use super::*;
use crate::event::FileAction;

fn parse_record(text: &str) -> JournalRecord<'_> {
    JournalRecord::parse_line(text.as_bytes()).unwrap()
}

#[test]
fn a_call_becomes_a_line_and_other_records_do_not() {
    let call = r#"{"v":1,"ts":"2026-11-15T19:22:00Z","harness":"claude-code","event":"tool-done","session":"s1",
        "worktree":"/p","agent":{"id":"a1","type":"coder"},"id":"t1","tool":"Edit","ok":true,"ms":12,
        "files":[{"path":"src/a.rs","action":"edit"},{"path":"b","action":"read","guess":true}]}"#;
    let made = Activity::from_record(&parse_record(call), "tester").unwrap();
    let paths: Vec<&str> = made.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!((made.agent_name(), made.role.as_str(), paths), ("coder", "tester", vec!["src/a.rs"]));
    assert_eq!(serde_json::from_slice::<Activity>(&made.to_json_line()).unwrap(), made);
    let prompt = r#"{"v":1,"ts":"x","event":"prompt","session":"s1","text":"hello"}"#;
    assert_eq!(Activity::from_record(&parse_record(prompt), ""), None);
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
        assert_eq!(Activity::from_record(&parse_record(&line), "").unwrap().ok, expected, "{fields}");
    }
}

#[test]
fn agents_are_named_by_type_then_role() {
    let agent = |kind: &str| Some(RecordedAgent { id: "a".to_owned(), kind: kind.to_owned() });
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
    let counts = count_calls_by(&calls, |one| &one.tool);
    let rows: Vec<_> = counts
        .iter()
        .map(|c| (c.name.as_str(), c.calls, c.ok, c.failed, c.average_ms, c.last_at.as_str()))
        .collect();
    assert_eq!(
        rows,
        [("Bash", 3, 1, 1, Some(150), "3"), ("Edit", 1, 1, 0, Some(10), "2"), ("Read", 1, 1, 0, None, "1"),]
    );
}

fn edit_activity(session: &str, ts: &str, file: &str) -> Activity {
    let files = vec![RecordedFile::new(file.to_owned(), FileAction::Edit)];
    Activity {
        ts: format!("2026-11-15T{ts}:00Z"),
        session: session.to_owned(),
        harness: "claude-code".to_owned(),
        worktree: "/p".to_owned(),
        tool: "Edit".to_owned(),
        ok: Some(true),
        files,
        ..Activity::default()
    }
}

#[test]
fn two_sessions_clash_over_a_file_within_ten_minutes() {
    let own = [
        edit_activity("a", "19:00", "src/a.rs"),
        edit_activity("a", "19:30", "src/a.rs"),
        edit_activity("a", "19:00", "src/b.rs"),
    ];
    let of = |others: &[Activity]| -> Vec<(String, String, String)> {
        find_clashes(&own, others)
            .into_iter()
            .map(|one| (one.path, one.other_session, one.other_edit_at))
            .collect()
    };
    let at = |ts: &str| format!("2026-11-15T{ts}:00Z");
    assert_eq!(
        of(&[edit_activity("b", "19:10", "src/a.rs")]),
        [("src/a.rs".into(), "b".into(), at("19:10"))]
    );
    assert_eq!(of(&[edit_activity("b", "19:11", "src/a.rs")]), []);
    assert_eq!(of(&[edit_activity("b", "19:41", "src/a.rs")]), []);
    assert_eq!(
        of(&[edit_activity("b", "18:50", "src/b.rs")]),
        [("src/b.rs".into(), "b".into(), at("18:50"))]
    );
    // The last edit within ten minutes is reported, once for each session and file.
    let many = [
        edit_activity("b", "19:01", "src/a.rs"),
        edit_activity("b", "19:32", "src/a.rs"),
        edit_activity("b", "19:55", "src/a.rs"),
        edit_activity("c", "19:35", "src/a.rs"),
        edit_activity("b", "19:03", "src/b.rs"),
    ];
    let found = of(&many).into_iter().map(|(path, session, _)| (path, session)).collect::<Vec<_>>();
    let pair = |path: &str, session: &str| (path.to_owned(), session.to_owned());
    assert_eq!(found, [pair("src/a.rs", "c"), pair("src/a.rs", "b"), pair("src/b.rs", "b")]);
    // A file of the same name in another worktree is a different file, and a failed edit is ignored.
    let elsewhere = Activity { worktree: "/q".to_owned(), ..edit_activity("b", "19:01", "src/a.rs") };
    let failed = Activity { ok: Some(false), ..edit_activity("b", "19:01", "src/a.rs") };
    assert_eq!(of(&[elsewhere, failed]), []);
    let clash = &find_clashes(&own, &[edit_activity("b", "19:10", "src/a.rs")])[0];
    let words = clash.describe_for_agent("Claude Code", OtherSessionState::Open);
    assert_eq!(
        words,
        "Throughline: session b (Claude Code) edited src/a.rs at 2026-11-15T19:10:00Z, and this session edited it at \
         2026-11-15T19:00:00Z. Read it again before you change it.\n"
    );
    let words = clash.describe_for_agent("Claude Code", OtherSessionState::Ended);
    assert!(
        words.starts_with("Throughline: session b (Claude Code), which has since ended, edited src/a.rs")
    );
}

#[test]
fn what_agents_did_lately_is_short() {
    let coder = |ts: &str, file: &str| Activity {
        agent: Some(RecordedAgent { id: "1".to_owned(), kind: "coder".to_owned() }),
        ..edit_activity("own", ts, file)
    };
    let did = [
        edit_activity("0123abcd-1", "19:00", "src/a.rs"),
        coder("19:01", "src/b.rs"),
        coder("19:02", "src/c.rs"),
        coder("19:03", "src/b.rs"),
        Activity { ok: Some(false), files: Vec::new(), ..coder("19:04", "") },
        Activity { files: Vec::new(), ..edit_activity("own", "18:00", "") },
    ];
    assert_eq!(
        describe_recent_activity(&did, "own", 300).unwrap(),
        "coder edited src/b.rs, src/c.rs (1 of 4 calls failed); main of session 0123abcd edited src/a.rs"
    );
    assert_eq!(
        describe_recent_activity(&did, "own", 60).unwrap(),
        "coder edited src/b.rs, src/c.rs (1 of 4 calls failed)"
    );
    assert_eq!(
        describe_recent_activity(&did, "own", 50).unwrap(),
        "main of session 0123abcd edited src/a.rs"
    );
    assert_eq!(describe_recent_activity(&did[5..], "own", 300), None, "it changed nothing");
    assert_eq!(describe_recent_activity(&[], "own", 300), None);
}
