use std::fs as files;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

fn temp() -> (tempfile::TempDir, Dir) {
    let temp = tempfile::tempdir().unwrap();
    let dir = Dir::open(temp.path()).unwrap();
    (temp, dir)
}

#[test]
fn replaces_whole_and_keeps_the_mode() {
    let (temp, dir) = temp();
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
    let (temp, dir) = temp();
    files::write(temp.path().join("target"), "mine").unwrap();
    symlink("target", temp.path().join("x")).unwrap();
    assert!(matches!(dir.write("x", b"theirs", Durability::Synced), Err(Error::Refused { .. })));
    assert!(!dir.create("x", b"theirs").unwrap(), "a link is there, so it is not created");
    assert_eq!(files::read_to_string(temp.path().join("target")).unwrap(), "mine");
    assert_eq!(dir.entries().unwrap().len(), 2);
}

#[test]
fn creates_once() {
    let (temp, dir) = temp();
    assert!(dir.create("x", b"first").unwrap());
    assert!(!dir.create("x", b"second").unwrap());
    assert!(!dir.create_plainly("x", b"third").unwrap());
    assert!(dir.create_plainly("y", b"plain").unwrap());
    assert_eq!(files::read(temp.path().join("x")).unwrap(), b"first");
    assert_eq!(dir.entries().unwrap().len(), 2);
}

#[test]
fn of_many_that_create_at_once_one_wins() {
    let (temp, _dir) = temp();
    let winners: Vec<u32> = std::thread::scope(|scope| {
        let make = |n: u32| {
            let path = temp.path();
            scope.spawn(move || {
                Dir::open(path).unwrap().create("x", n.to_string().as_bytes()).unwrap().then_some(n)
            })
        };
        let threads: Vec<_> = (0..16).map(make).collect();
        threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(winners.len(), 1);
    assert_eq!(files::read_to_string(temp.path().join("x")).unwrap(), winners[0].to_string());
}
