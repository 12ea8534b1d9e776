use std::fs as files;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

fn temp_dir() -> (tempfile::TempDir, Dir) {
    let temp = tempfile::tempdir().unwrap();
    let dir = Dir::open(temp.path()).unwrap();
    (temp, dir)
}

#[test]
fn replaces_whole_and_keeps_the_mode() {
    let (temp, dir) = temp_dir();
    let path = temp.path().join("x");
    dir.write("x", b"one", Durability::Synced).unwrap();
    files::set_permissions(&path, files::Permissions::from_mode(0o600)).unwrap();
    dir.write("x", b"two", Durability::Relaxed).unwrap();
    assert_eq!(files::read(&path).unwrap(), b"two");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(dir.entries().unwrap().len(), 1, "no temporary file is left");
}

#[test]
fn never_writes_through_a_link() {
    let (temp, dir) = temp_dir();
    files::write(temp.path().join("target"), "mine").unwrap();
    symlink("target", temp.path().join("x")).unwrap();
    assert!(matches!(dir.write("x", b"theirs", Durability::Synced), Err(Error::Refused { .. })));
    assert!(!dir.create_private_file("x", b"theirs").unwrap(), "a link is there, so it is not created");
    assert_eq!(files::read_to_string(temp.path().join("target")).unwrap(), "mine");
    assert_eq!(dir.entries().unwrap().len(), 2);
}

#[test]
fn a_file_is_created_at_most_once() {
    let (temp, dir) = temp_dir();
    assert!(dir.create_private_file("x", b"first").unwrap());
    assert!(!dir.create_private_file("x", b"second").unwrap());
    assert!(!dir.create_without_hard_link("x", b"third", NewFileAccess::ForOwner).unwrap());
    assert!(dir.create_without_hard_link("y", b"plain", NewFileAccess::ForOwner).unwrap());
    assert_eq!(files::read(temp.path().join("x")).unwrap(), b"first");
    assert_eq!(dir.entries().unwrap().len(), 2);
}

#[test]
fn of_many_that_create_at_once_one_wins() {
    let (temp, _dir) = temp_dir();
    let winners: Vec<u32> = std::thread::scope(|scope| {
        let make = |n: u32| {
            let path = temp.path();
            scope.spawn(move || {
                Dir::open(path)
                    .unwrap()
                    .create_private_file("x", n.to_string().as_bytes())
                    .unwrap()
                    .then_some(n)
            })
        };
        let threads: Vec<_> = (0..16).map(make).collect();
        threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(winners.len(), 1);
    assert_eq!(files::read_to_string(temp.path().join("x")).unwrap(), winners[0].to_string());
}

#[test]
fn leftovers_of_killed_writers_go_once_they_are_old() {
    use std::time::{Duration, SystemTime};
    let (temp, dir) = temp_dir();
    let left = |name: &str, minutes: u64| {
        let file = File::create(temp.path().join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(minutes * 60)).unwrap();
    };
    left(".x.123-0.tmp", 61);
    left(".y.json.99-12.tmp", 3_000);
    left(".x.124-0.tmp", 30);
    // These names do not match the pattern of temporary files, so the files stay, however old they are.
    let others = [".x.tmp", "x.123-0.tmp", ".x.a-0.tmp", ".x.123.tmp", "x.md"];
    others.iter().for_each(|name| left(name, 100_000));
    dir.write("z", b"z", Durability::Synced).unwrap();
    let mut expected = [&others[..], &[".x.124-0.tmp", "z"]].concat();
    expected.sort_unstable();
    let names: Vec<String> = dir.entries().unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, expected);
}

#[test]
fn new_files_and_folders_are_for_their_owner() {
    let (temp, dir) = temp_dir();
    let mode = |rel: &str| temp.path().join(rel).metadata().unwrap().permissions().mode() & 0o777;
    dir.write("synced", b"", Durability::Synced).unwrap();
    dir.write("cache", b"", Durability::Rebuildable).unwrap();
    dir.create_private_file("created", b"").unwrap();
    dir.write_at_path("a/b/put", b"", Durability::Synced).unwrap();
    dir.append_line("a/log.jsonl", b"{}", 1_000).unwrap();
    for file in ["synced", "cache", "created", "a/b/put", "a/log.jsonl"] {
        assert_eq!(mode(file), 0o600, "{file}");
    }
    assert_eq!((mode("a"), mode("a/b")), (0o700, 0o700));
    files::set_permissions(temp.path().join("synced"), files::Permissions::from_mode(0o640)).unwrap();
    dir.write("synced", b"again", Durability::Synced).unwrap();
    assert_eq!(mode("synced"), 0o640, "what is there keeps its mode");
}
