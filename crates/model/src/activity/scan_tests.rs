use super::*;

const JOURNAL: &str = r#"{"v":1,"ts":"2026-11-15T19:00:00Z","event":"prompt","text":"an \"action\":\"edit\" and \"path\":\"x\""}
{"v":1,"ts":"2026-11-15T19:01:00Z","event":"tool-done","files":[{"path":"src/a.rs","action":"edit"}]}
{"v":1,"ts":"2026-11-15T19:02:00Z","event":"tool-done","files":[{"path":"src/b.rs","action":"read"}]}
torn {"ts"
{"v":1,"ts":"2026-11-15T19:03:00Z","event":"prompt","text":"more"}
{"v":1,"ts":"2026-11-15T19:04:00Z","event":"tool-done","files":[{"path":"/x/q\"uote/c d.rs","action":"create"},{"path":"e","action":"delete"}]}
"#;

#[test]
fn lines_that_record_edits() {
    let paths = JournalLinePathFinder::default();
    let names = |from: &str| -> Vec<String> {
        let lines = journal_lines_with_edits(JOURNAL.as_bytes(), from);
        let names = lines.iter().flat_map(|line| line.paths(&paths));
        names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    };
    assert_eq!(names(""), ["a.rs", "c d.rs", "e"]);
    assert_eq!(names("2026-11-15T19:01:00Z"), ["a.rs", "c d.rs", "e"]);
    assert_eq!(names("2026-11-15T19:02:00Z"), ["c d.rs", "e"]);
    assert_eq!(names("2026-11-15T19:05:00Z"), [""; 0]);
    let name = journal_lines_with_edits(br#"{"files":[{"path":"a\"b","action":"edit"}]}"#, "9");
    assert_eq!(name[0].paths(&paths).collect::<Vec<_>>(), [br#"a\"b"#], "a line without a time counts");
}

#[test]
fn the_last_prompt_before_a_time() {
    let last = |before: &str| last_prompt_time(JOURNAL.as_bytes(), before);
    assert_eq!(last("2026-11-15T19:05:00Z"), Some("2026-11-15T19:03:00Z"));
    assert_eq!(last("2026-11-15T19:02:59Z"), Some("2026-11-15T19:00:00Z"));
    assert_eq!(last("2026-11-15T18:00:00Z"), None);
}

#[test]
fn how_far_back_a_text_reaches() {
    let reaches = |text: &str, from: &str| covers_time_since(text.as_bytes(), from);
    assert!(reaches(JOURNAL, "2026-11-15T19:05:00Z"));
    assert!(!reaches(JOURNAL, "2026-11-15T19:03:00Z"));
    assert!(!reaches("", "2026-11-15T19:05:00Z"));
}
