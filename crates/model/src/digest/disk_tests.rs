use super::*;
use crate::digest::{CommandUse, FileEdit, GitOnDisk};

fn time_of(second: u8, millis: u16) -> Timestamp {
    format!("2026-11-15T19:00:{second:02}.{millis:03}Z").parse().unwrap()
}

/// A session that ran commands at seconds 3 (record 3), 5 (record 4) and 9 (record 5). Record 4 may have changed any
/// file.
fn test_digest() -> Digest {
    let command = |record: u64, second: u8| CommandUse {
        command: format!("command {record}"),
        at: format!("2026-11-15T19:00:{second:02}Z"),
        last_run_record: record,
        ..CommandUse::default()
    };
    let file = FileUse { path: "a.py".into(), reads: 1, last_use_record: 1, ..FileUse::default() };
    Digest {
        files: vec![file],
        commands: vec![command(3, 3), command(4, 5), command(5, 9)],
        unnamed_change_at: 4,
        last_at: "2026-11-15T19:00:12Z".into(),
        record_count: 6,
        ..Digest::new("s1")
    }
}

#[test]
fn the_time_of_a_file_gives_the_run_after_which_it_was_changed() {
    let now = time_of(30, 0);
    for (modified_at, expected) in [
        (time_of(2, 999), None),
        // The file was changed in the same second as the run. Only the later command can have done that.
        (time_of(3, 0), Some((4, true))),
        (time_of(3, 999), Some((4, true))),
        (time_of(4, 0), Some((4, true))),
        (time_of(5, 999), Some((4, true))),
        // No command of the session can have done this.
        (time_of(6, 0), Some((5, false))),
        (time_of(9, 999), Some((5, false))),
        (time_of(10, 0), Some((6, false))),
        (time_of(20, 0), Some((6, false))),
        (time_of(31, 0), None),
    ] {
        let mut digest = test_digest();
        digest.add_changes_on_disk(&[FileTime { path: "a.py".into(), modified_at }], now);
        let found = digest.changes_on_disk.first().map(|change| (change.record, change.is_by_session));
        assert_eq!(found, expected, "{modified_at}");
        let is_stale = |record: u64| !digest.is_check_current(record);
        assert_eq!(is_stale(3), expected.is_some(), "{modified_at}");
        assert!(!is_stale(6), "{modified_at}");
    }
}

#[test]
fn a_read_file_that_differs_from_the_index_was_written_by_the_session() {
    for (second, is_changed, expected) in [(4, true, 4), (4, false, 0), (6, true, 0), (2, true, 0)] {
        let mut digest = test_digest();
        let times = [FileTime { path: "a.py".into(), modified_at: time_of(second, 0) }];
        digest.add_changes_on_disk(&times, time_of(30, 0));
        let changed = if is_changed { vec!["a.py".to_owned()] } else { Vec::new() };
        digest.git_on_disk = Some(GitOnDisk { files_changed_in_index: changed, ..GitOnDisk::default() });
        digest.mark_files_written_by_commands();
        assert_eq!(digest.files[0].written_at, expected, "{second} {is_changed}");
        assert_eq!(digest.git_state().uncommitted.len(), usize::from(expected > 0));
    }
}

#[test]
fn a_change_before_the_prompt_of_the_command_is_not_by_the_session() {
    let prompt = |record: u64, second: u8| crate::digest::Prompt {
        record,
        at: format!("2026-11-15T19:00:{second:02}Z"),
        ..crate::digest::Prompt::default()
    };
    // Commands may have changed files in turn one (record 4, second 5) and in turn two (record 8, second 15).
    for (second, expected) in [(2, false), (4, true), (7, false), (13, true), (16, false)] {
        let mut digest = test_digest();
        digest.commands[1].command = "python3 one.py".into();
        digest.commands.insert(
            0,
            CommandUse { last_run_record: 1, at: time_of(1, 0).to_string(), ..CommandUse::default() },
        );
        digest.commands[3] = CommandUse {
            command: "python3 two.py".into(),
            at: time_of(15, 0).to_string(),
            last_run_record: 8,
            ..CommandUse::default()
        };
        (digest.unnamed_change_at, digest.last_at) = (8, time_of(20, 0).to_string());
        digest.prompts = vec![prompt(2, 3), prompt(7, 12)];
        let times = [FileTime { path: "a.py".into(), modified_at: time_of(second, 0) }];
        digest.add_changes_on_disk(&times, time_of(30, 0));
        assert_eq!(digest.changes_on_disk[0].is_by_session, expected, "{second}");
    }
}

#[test]
fn a_time_in_the_second_of_a_checkout_is_dropped() {
    let time = |second| FileTime { path: format!("{second}.py"), modified_at: time_of(second, 500) };
    let mut times = vec![time(3), time(4), time(5)];
    drop_times_of_checkouts(&mut times, &[time_of(4, 0)]);
    assert_eq!(times, [time(3), time(5)]);
}

#[test]
fn an_earlier_runs_error_is_dropped_if_a_file_was_changed_between_the_runs() {
    for (second, expected) in [(3, "whole"), (4, "cut"), (9, "cut"), (10, "whole")] {
        let mut digest = test_digest();
        digest.failures.push(Failure {
            command_or_file: "command 5".into(),
            is_command: true,
            error: "whole".into(),
            error_at: time_of(3, 0).to_string(),
            own_error: Some("cut".into()),
            record: 5,
            ..Failure::default()
        });
        let times = [FileTime { path: "a.py".into(), modified_at: time_of(second, 0) }];
        digest.add_changes_on_disk(&times, time_of(30, 0));
        assert_eq!(digest.failures[0].error, expected, "{second}");
    }
}

#[test]
fn outputs_and_records_are_not_compared_with_runs() {
    let used = |path: &str, reads: u32| FileUse { path: path.into(), reads, ..FileUse::default() };
    let files = [
        used("src/a.py", 1),
        used("package.json", 1),
        used("run.log", 1),
        used("target/debug/x.rs", 1),
        used(".agent/context/outputs/audit.md", 1),
        used("sub/.agent/context/plan.md", 1),
        used("src/b.py", 0),
        used("data.csv", 0),
    ];
    let digest = Digest { files: files.into(), ..Digest::new("s1") };
    let listed = ["src/a.py", "src/c.py", "out.txt", ".agent/context/x.md"].map(str::to_owned);
    let mut found = digest.files_to_compare_with_runs(&listed);
    found.sort_unstable();
    assert_eq!(found, ["package.json", "src/a.py", "src/b.py", "src/c.py"]);
}

#[test]
fn a_change_is_in_a_commit_if_the_index_has_it_and_head_moved_later() {
    let edit = FileEdit { path: "a.py".into(), at: "2026-11-15T19:00:10Z".into(), ..FileEdit::default() };
    // A command wrote b.py and c.py, the latter after an edit. The command that wrote d.py is not known.
    let command =
        CommandUse { last_run_record: 8, at: "2026-11-15T19:00:11Z".into(), ..CommandUse::default() };
    let written =
        |path: &str, written_at: u64| FileUse { path: path.into(), written_at, ..FileUse::default() };
    let earlier =
        FileEdit { path: "c.py".into(), at: "2026-11-15T19:00:06Z".into(), record: 5, ..FileEdit::default() };
    let digest = Digest {
        changes: vec![edit, earlier],
        commands: vec![command],
        files: vec![written("b.py", 8), written("c.py", 8), written("d.py", 7)],
        first_at: "2026-11-15T19:00:05Z".into(),
        ..Digest::new("s1")
    };
    for (path, last_record, head_moved, in_index, expected) in [
        ("a.py", 12, 20, 10, true),
        // The hook reported the edit a second after it was made.
        ("a.py", 12, 20, 9, true),
        // The index has what was in the file before the edit.
        ("a.py", 12, 20, 3, false),
        // Nothing was committed after the session.
        ("a.py", 12, 11, 10, false),
        ("b.py", 12, 20, 11, true),
        ("b.py", 12, 20, 6, false),
        ("c.py", 12, 20, 11, true),
        ("c.py", 12, 20, 6, false),
        // It is not known when the session changed these files.
        ("d.py", 12, 20, 11, false),
        ("e.py", 12, 20, 11, false),
    ] {
        let times = (time_of(last_record, 0), time_of(head_moved, 0));
        let index_second = time_of(in_index, 0).as_second();
        let found = digest.is_change_in_commit(path, times, index_second);
        assert_eq!(found, expected, "{path} {last_record} {head_moved} {in_index}");
    }
}

#[test]
fn only_commits_and_merges_that_stand_save_work() {
    // Each row has the moves of HEAD with the commits before and after them, and the second of the last commit.
    for (moves, expected) in [
        (&[][..], None),
        (&[("a", "b", "commit: One")], Some(0)),
        (&[("a", "b", "commit (amend): One")], Some(0)),
        (&[("a", "b", "merge topic: Merge made by the 'ort' strategy.")], Some(0)),
        (&[("a", "b", "merge topic: Fast-forward")], None),
        (&[("a", "b", "checkout: moving from main to topic")], None),
        (&[("a", "b", "pull: Fast-forward")], None),
        (&[("a", "b", "commit: One"), ("b", "c", "checkout: moving from main to topic")], Some(0)),
        (&[("a", "b", "commit: One"), ("b", "c", "commit: Two")], Some(1)),
        // A stash resets HEAD to the commit at which it is.
        (&[("a", "b", "commit: One"), ("b", "b", "reset: moving to HEAD")], Some(0)),
        (&[("a", "b", "commit: One"), ("b", "a", "reset: moving to HEAD~1")], None),
        (&[("b", "a", "reset: moving to HEAD~1"), ("a", "c", "commit: Two")], Some(1)),
    ] {
        let moves_of_head: Vec<BranchMove> = moves
            .iter()
            .enumerate()
            .map(|(at, (before, after, what))| BranchMove {
                commit_before: (*before).into(),
                commit: (*after).into(),
                at: time_of(u8::try_from(at).unwrap(), 0),
                what: (*what).into(),
            })
            .collect();
        let found = time_of_last_commit(&moves_of_head);
        assert_eq!(found, expected.map(|at| time_of(at, 0)), "{moves:?}");
    }
}
