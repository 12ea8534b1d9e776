use std::fs;

use super::*;

const NO_LIMIT: u64 = u64::MAX;

fn temp_dir() -> (tempfile::TempDir, Dir) {
    let temp = tempfile::tempdir().unwrap();
    let dir = Dir::open(temp.path()).unwrap();
    (temp, dir)
}

#[test]
fn a_torn_end_is_closed_first() {
    for (before, after) in [
        ("", "{}\n"),
        ("a\n", "a\n{}\n"),
        ("torn", "torn\n{}\n"),
        ("a\n\0\0", "a\n\0\0\n{}\n"),
        ("\n", "\n{}\n"),
    ] {
        let (temp, dir) = temp_dir();
        fs::write(temp.path().join("x.jsonl"), before).unwrap();
        dir.append_line("x.jsonl", b"{}", NO_LIMIT).unwrap();
        assert_eq!(fs::read_to_string(temp.path().join("x.jsonl")).unwrap(), after);
    }
}

#[test]
fn a_folder_that_was_removed_comes_back() {
    let (temp, dir) = temp_dir();
    dir.append_line("sessions/s.jsonl", b"{}", NO_LIMIT).unwrap();
    fs::remove_dir_all(temp.path().join("sessions")).unwrap();
    dir.append_line("sessions/s.jsonl", b"{}", NO_LIMIT).unwrap();
    assert_eq!(dir.count_lines("sessions/s.jsonl").unwrap().valid_lines, 1);
}

#[test]
fn a_full_log_is_rotated_and_still_read_in_order() {
    let (_temp, dir) = temp_dir();
    for n in 0..25 {
        dir.append_line("logs/s.jsonl", format!("{n:>10}").as_bytes(), 60).unwrap();
    }
    let parts = dir.rotated_parts("logs/s.jsonl").unwrap();
    assert_eq!(parts, ["logs/s~0001.jsonl", "logs/s~0002.jsonl", "logs/s~0003.jsonl", "logs/s~0004.jsonl"]);
    let mut numbers = Vec::new();
    let tally = dir.each_record("logs/s.jsonl", |n: u32| numbers.push(n)).unwrap();
    assert_eq!(numbers, (0..25).collect::<Vec<_>>());
    assert_eq!((tally.valid_lines, tally.invalid_lines.len()), (25, 0));
}

#[test]
fn another_log_is_not_taken_for_a_part() {
    let (_temp, dir) = temp_dir();
    for name in ["s.jsonl", "s.0001.jsonl", "s-1.jsonl", "st~0001.jsonl", "s~x.jsonl"] {
        dir.append_line(name, b"1", NO_LIMIT).unwrap();
    }
    assert_eq!(dir.rotated_parts("s.jsonl").unwrap(), Vec::<String>::new());
}

#[test]
fn threads_that_rotate_at_once_lose_nothing() {
    let (temp, dir) = temp_dir();
    dir.append_line("s.jsonl", b"0", NO_LIMIT).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let path = temp.path();
            scope.spawn(move || {
                let dir = Dir::open(path).unwrap();
                for n in 0..200 {
                    dir.append_line("s.jsonl", (1 + thread * 200 + n).to_string().as_bytes(), 256).unwrap();
                }
            });
        }
    });
    let mut numbers = Vec::new();
    dir.each_record("s.jsonl", |n: u32| numbers.push(n)).unwrap();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..=1600).collect::<Vec<_>>());
}

#[test]
fn torn_and_foreign_lines_are_skipped_and_counted() {
    let (temp, dir) = temp_dir();
    fs::write(temp.path().join("s.jsonl"), b"1\n{\"a\":\n\n2\n\xff\xfe\n3").unwrap();
    let mut numbers = Vec::new();
    let tally = dir.each_record("s.jsonl", |n: u32| numbers.push(n)).unwrap();
    assert_eq!(numbers, [1, 2, 3]);
    assert_eq!(tally.invalid_lines, [("s.jsonl".to_owned(), 2), ("s.jsonl".to_owned(), 5)]);
    assert_eq!(dir.count_lines("none.jsonl").unwrap(), crate::LineTally::default());
}
