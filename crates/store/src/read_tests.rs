use std::fs::File;
use std::path::{Path, PathBuf};

use super::*;

fn write_file(folder: &Path, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn write_sparse_file(folder: &Path, name: &str, size: u64) -> PathBuf {
    let path = folder.join(name);
    File::create(&path).unwrap().set_len(size).unwrap();
    path
}

fn make_pipe(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

fn bytes_read_or_error_kind(read: Result<Vec<u8>>) -> std::result::Result<usize, &'static str> {
    read.map(|bytes| bytes.len()).map_err(|error| match error {
        Error::Damaged { .. } => "damaged",
        Error::Refused { .. } => "refused",
        Error::Absent { .. } => "absent",
        _ => "other",
    })
}

#[test]
fn a_file_is_read_up_to_its_limit_and_nothing_else_is_read_at_all() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    let rows: [(PathBuf, std::result::Result<usize, &str>); 12] = [
        (write_file(folder, "empty", ""), Ok(0)),
        (write_file(folder, "small", "abc"), Ok(3)),
        (write_file(folder, "block", [b'x'; 4096]), Ok(4096)),
        (write_file(folder, "more", vec![b'x'; 4097]), Ok(4097)),
        (write_file(folder, "limit", vec![b'x'; 10_000]), Ok(10_000)),
        (write_file(folder, "over", vec![b'x'; 10_001]), Err("damaged")),
        (write_sparse_file(folder, "sparse", 1 << 40), Err("damaged")),
        (make_pipe(folder, "pipe"), Err("refused")),
        (folder.to_owned(), Err("refused")),
        ("/dev/zero".into(), Err("refused")),
        ("/dev/null".into(), Err("refused")),
        (folder.join("absent"), Err("absent")),
    ];
    for (path, expected) in rows {
        assert_eq!(
            bytes_read_or_error_kind(read_outside_store(&path, 10_000)),
            expected,
            "{}",
            path.display()
        );
    }
    // Files in /proc report a size of 0.
    assert!(bytes_read_or_error_kind(read_outside_store(Path::new("/proc/self/stat"), 10_000)).unwrap() > 20);
    // The limit may be smaller than one block.
    assert_eq!(
        bytes_read_or_error_kind(read_outside_store(&write_file(folder, "tiny", "12345"), 4)),
        Err("damaged")
    );
}

#[test]
fn a_named_file_may_be_a_pipe_but_not_without_end() {
    let temp = tempfile::tempdir().unwrap();
    let path = make_pipe(temp.path(), "pipe");
    let writer = {
        let path = path.clone();
        std::thread::spawn(move || std::fs::write(path, "from a pipe").unwrap())
    };
    assert_eq!(read_file_named_by_user(&path, 100).unwrap(), b"from a pipe");
    writer.join().unwrap();
    assert_eq!(
        bytes_read_or_error_kind(read_file_named_by_user(Path::new("/dev/zero"), 100)),
        Err("damaged")
    );
    assert_eq!(bytes_read_or_error_kind(read_file_named_by_user(temp.path(), 100)), Err("refused"));
    assert_eq!(
        bytes_read_or_error_kind(read_file_named_by_user(
            &write_sparse_file(temp.path(), "sparse", 1 << 40),
            100
        )),
        Err("damaged")
    );
}

#[test]
fn lines_are_found_across_chunks_and_long_ones_are_cut() {
    let temp = tempfile::tempdir().unwrap();
    let long = "y".repeat(CHUNK_BYTES * 2 + 7);
    let longest = "z".repeat(MAX_LINE_BYTES + 5);
    let text = format!("one\n\n{long}\n{longest}\nlast\nunfinished");
    let path = write_file(temp.path(), "log", &text);
    let mut lengths = Vec::new();
    let read = File::open(&path).unwrap();
    let ending = read_lines(&read, &path, 0, text.len() as u64, |line| lengths.push(line.len())).unwrap();
    assert_eq!(lengths, [3, 0, long.len(), MAX_LINE_BYTES, 4]);
    assert_eq!(ending.unfinished_line, b"unfinished");
    assert_eq!(ending.complete_lines_end, (text.len() - "unfinished".len()) as u64);
    // Bytes after the given end may have been appended later, so they are not read.
    let ending = read_lines(&read, &path, 4, 5, |line| assert!(line.is_empty())).unwrap();
    assert_eq!((ending.complete_lines_end, ending.unfinished_line.len()), (5, 0));
}
