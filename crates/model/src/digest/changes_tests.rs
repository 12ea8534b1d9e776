use super::*;
use crate::journal::{self, FileField};

/// Folds lines of `who: words`; `edit` is an edit from the transcript, `hook` one that a hook reported. The number of
/// the line is its time, unless it begins with `@n `.
fn session(lines: &[&str]) -> Digest {
    let mut digest = Digest::new("s");
    for (i, line) in lines.iter().enumerate() {
        let (time, line) = match line.strip_prefix('@') {
            Some(rest) => rest.split_once(' ').map(|(time, line)| (time.parse().unwrap(), line)).unwrap(),
            None => (i, *line),
        };
        let (who, text) = line.split_once(": ").unwrap();
        let mut record = Record {
            ts: format!("2026-11-15T19:22:{time:02}Z").into(),
            from: if who == "hook" { "" } else { "transcript" }.into(),
            ..Record::default()
        };
        match who {
            "user" => (record.event, record.text) = ("prompt".into(), text.into()),
            "said" => (record.event, record.text) = (journal::SAID.into(), text.into()),
            "ran" => {
                (record.event, record.command, record.ok) = ("tool-done".into(), text.into(), Some(true));
            }
            _ => {
                (record.event, record.ok) = ("tool-done".into(), Some(true));
                record.files =
                    vec![FileField { path: text.into(), action: Action::Edit, outside: false, guess: false }];
            }
        }
        digest.fold(&record);
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
    let digest = session(&lines);
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
    let digest = session(&[
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
