use super::*;
use crate::journal::{self, RecordedFile};

/// Builds a digest from lines of the form `who: text`. `edit` is an edit in the transcript, and `hook` is an edit
/// that a hook reported. The time of a line is its index, unless the line begins with `@n `.
fn fold_session(lines: &[&str]) -> Digest {
    let mut digest = Digest::new("s");
    for (i, line) in lines.iter().enumerate() {
        let (time, line) = match line.strip_prefix('@') {
            Some(rest) => rest.split_once(' ').map(|(time, line)| (time.parse().unwrap(), line)).unwrap(),
            None => (i, *line),
        };
        let (who, text) = line.split_once(": ").unwrap();
        let mut record = JournalRecord {
            ts: format!("2026-11-15T19:22:{time:02}Z").into(),
            from: if who == "hook" { "" } else { "transcript" }.into(),
            ..JournalRecord::default()
        };
        match who {
            "user" => (record.event, record.text) = ("prompt".into(), text.into()),
            "said" => (record.event, record.text) = (journal::AGENT_MESSAGE_EVENT.into(), text.into()),
            "ran" => {
                (record.event, record.command, record.ok) = ("tool-done".into(), text.into(), Some(true));
            }
            _ => {
                (record.event, record.ok) = ("tool-done".into(), Some(true));
                let action = if who == "read" { FileAction::Read } else { FileAction::Edit };
                record.files = vec![RecordedFile::new(text.into(), action)];
            }
        }
        digest.fold_record(&record);
    }
    digest
}

#[test]
fn an_edit_is_for_what_was_announced_before_it() {
    let lines = [
        "user: Keep comments",
        "said: Now update `skip` to keep comments:",
        "edit: a.py",
        "edit: b.py",
        "said: Let me also add a test for nested arrays.",
        "edit: a.py",
        "ran: make test",
        "edit: c.py",
    ];
    let digest = fold_session(&lines);
    let expected = vec![
        ("c.py", vec![]),
        ("a.py", vec!["update `skip` to keep comments", "add a test for nested arrays"]),
        ("b.py", vec!["update `skip` to keep comments"]),
    ];
    assert_eq!(digest.changes_since(0), expected);
    assert_eq!(
        digest.changes_since(5),
        expected[..2]
            .iter()
            .map(|(path, why)| (
                *path,
                match *path {
                    "a.py" => why[1..].to_vec(),
                    _ => why.clone(),
                }
            ))
            .collect::<Vec<_>>()
    );
}

#[test]
fn words_that_come_after_the_hooks_report_are_matched_by_time() {
    let digest = fold_session(&[
        "@0 user: Keep comments",
        "@2 hook: a.py",
        "@4 hook: b.py",
        "@1 said: Now update `skip` to keep comments:",
        "@3 said: Next, write them in `emit`:",
    ]);
    assert_eq!(
        digest.changes_since(0),
        [("b.py", vec!["write them in `emit`"]), ("a.py", vec!["update `skip` to keep comments"])]
    );
}

#[test]
fn a_purpose_ends_when_the_agent_moves_on_to_another_file() {
    let moved = fold_session(&[
        "user: Keep comments",
        "said: Now update `skip` to keep comments:",
        "edit: a.py",
        "edit: b.py",
        "read: c.py",
        "edit: c.py",
    ]);
    let why = vec!["update `skip` to keep comments"];
    assert_eq!(moved.changes_since(0), [("c.py", vec![]), ("b.py", why.clone()), ("a.py", why.clone())]);
    // If the agent reads files between the announcement and the first edit, the announcement still explains the
    // edit.
    let prepared = fold_session(&[
        "user: Keep comments",
        "said: Now update `skip` to keep comments:",
        "read: a.py",
        "read: b.py",
        "edit: a.py",
    ]);
    assert_eq!(prepared.changes_since(0), [("a.py", why)]);
    let named = fold_session(&[
        "user: Keep comments",
        "said: Now update the tests in `b_test.py` for nested arrays:",
        "edit: b_test.py",
        "edit: env.py",
    ]);
    assert_eq!(
        named.changes_since(0),
        [("env.py", vec![]), ("b_test.py", vec!["update the tests in `b_test.py` for nested arrays"])]
    );
}
