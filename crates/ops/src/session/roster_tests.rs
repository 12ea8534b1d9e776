use super::*;

fn entries_from_lines(lines: &[&str]) -> Vec<RosterEntry> {
    parse_roster(lines.join("\n").as_bytes())
}

#[test]
fn the_newest_line_of_a_session_decides() {
    let list = entries_from_lines(&[
        r#"{"ts":"1","session":"a","harness":"h","source":"startup","worktree":"/w","transcript":"/t/a","process":"7:1:2"}"#,
        r#"{"ts":"2","session":"b","harness":"h","source":"startup","worktree":"/w"}"#,
        r#"{"ts":"3","session":"b","harness":"h","ended":"other"}"#,
        r#"{"ts":"4","session":"a","harness":"h","source":"resume","worktree":"/x","process":"8:1:2"}"#,
        "torn {",
        r#"{"ts":"5","session":"c","harness":"h","source":"compact","worktree":"/w","previous":"a"}"#,
    ]);
    let seen: Vec<_> = list
        .iter()
        .map(|e| (e.session.as_str(), e.last_listed_at.as_str(), e.ended, e.has_continued_under_new_id))
        .collect();
    assert_eq!(seen, [("b", "3", true, false), ("a", "4", false, true), ("c", "5", false, false)]);
    let (b, a) = (&list[0], &list[1]);
    assert_eq!((b.worktree.as_str(), a.worktree.as_str()), ("/w", "/x"));
    assert_eq!((a.transcript.as_deref(), a.process_stamp.as_deref()), (Some("/t/a"), Some("8:1:2")));
}

#[test]
fn a_session_that_was_resumed_is_open() {
    let list = entries_from_lines(&[
        r#"{"ts":"1","session":"a","harness":"h","source":"startup"}"#,
        r#"{"ts":"2","session":"a","harness":"h","ended":"other"}"#,
        r#"{"ts":"3","session":"a","harness":"h","source":"resume"}"#,
    ]);
    assert_eq!(list.len(), 1);
    assert!(list[0].is_open());
}
