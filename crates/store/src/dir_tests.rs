use std::fs;
use std::os::unix::fs::symlink;

use super::*;

const READ_CHUNK_BYTES: usize = 128 * 1024;

fn temp_dir() -> (tempfile::TempDir, Dir) {
    let temp = tempfile::tempdir().unwrap();
    let dir = Dir::open(temp.path()).unwrap();
    (temp, dir)
}

#[test]
fn the_four_kinds_of_error_are_distinguished() {
    let (temp, dir) = temp_dir();
    fs::create_dir(temp.path().join("folder")).unwrap();
    symlink("folder", temp.path().join("link")).unwrap();
    fs::write(temp.path().join("big"), vec![b'x'; 10_000]).unwrap();
    assert!(matches!(dir.read_file("none", 100), Err(Error::Absent { .. })));
    assert!(matches!(dir.read_file("folder", 100), Err(Error::Refused { .. })));
    assert!(matches!(dir.read_file("link", 100), Err(Error::Refused { .. })));
    assert!(matches!(dir.read_file("big", 9_999), Err(Error::Damaged { .. })));
    assert_eq!(dir.read_file("big", 10_000).unwrap().len(), 10_000);
    for (errno, kind) in
        [(Errno::ACCESS, "denied"), (Errno::ROFS, "denied"), (Errno::NOSPC, "io"), (Errno::IO, "io")]
    {
        let found = match Error::from_errno(errno, temp.path(), "read") {
            Error::Denied { .. } => "denied",
            Error::Io { .. } => "io",
            _ => "other",
        };
        assert_eq!(found, kind, "{errno:?}");
    }
}

#[test]
fn a_subfolder_is_created_once_and_not_through_a_link() {
    let (temp, dir) = temp_dir();
    dir.create_subfolder("a/b/c").unwrap();
    dir.create_subfolder("a/b/c").unwrap();
    symlink("a", temp.path().join("link")).unwrap();
    assert!(matches!(dir.create_subfolder("link/x"), Err(Error::Refused { .. })));
    fs::write(temp.path().join("file"), "").unwrap();
    assert!(matches!(dir.create_subfolder("file/x"), Err(Error::Refused { .. })));
}

#[test]
fn each_line_and_the_end_of_a_file_are_read() {
    let (temp, dir) = temp_dir();
    let long = "y".repeat(READ_CHUNK_BYTES * 2);
    fs::write(temp.path().join("log"), format!("one\n\n{long}\nlast")).unwrap();
    let mut lines = Vec::new();
    dir.each_line("log", |number, line| lines.push((number, line.len()))).unwrap();
    assert_eq!(lines, [(1, 3), (2, 0), (3, READ_CHUNK_BYTES * 2), (4, 4)]);
    assert_eq!(dir.read_tail("log", 6).unwrap(), b"last");
    assert_eq!(dir.read_tail("log", 4).unwrap(), b"", "half a line is not a line");
    assert_eq!(dir.read_tail("log", 1 << 30).unwrap().len(), READ_CHUNK_BYTES * 2 + 10);
}

#[test]
fn entries_are_sorted_and_know_their_kind() {
    let (temp, dir) = temp_dir();
    fs::write(temp.path().join("b"), "").unwrap();
    fs::create_dir(temp.path().join("a")).unwrap();
    symlink("b", temp.path().join("c")).unwrap();
    let entries: Vec<_> = dir.entries().unwrap().into_iter().map(|e| (e.name, e.kind)).collect();
    let expected =
        [("a", FolderEntryKind::Folder), ("b", FolderEntryKind::File), ("c", FolderEntryKind::Other)];
    assert_eq!(entries, expected.map(|(name, kind)| (name.to_owned(), kind)));
}
