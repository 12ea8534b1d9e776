use super::*;

#[test]
fn the_deadline_holds_and_the_lock_is_freed() {
    let temp = tempfile::tempdir().unwrap();
    let dir = Dir::open(temp.path()).unwrap();
    let held = dir.lock_file("a.lock", Duration::ZERO).unwrap();
    let start = Instant::now();
    let second = dir.lock_file("a.lock", Duration::from_millis(30));
    assert!(matches!(second, Err(Error::Busy { .. })));
    assert!(start.elapsed() >= Duration::from_millis(30));
    drop(held);
    dir.lock_file("a.lock", Duration::ZERO).unwrap();
}

#[test]
fn a_removed_lock_file_does_not_let_two_in() {
    let temp = tempfile::tempdir().unwrap();
    let dir = Dir::open(temp.path()).unwrap();
    let first = dir.lock_file("a.lock", Duration::ZERO).unwrap();
    std::fs::remove_file(temp.path().join("a.lock")).unwrap();
    let second = dir.lock_file("a.lock", Duration::ZERO).unwrap();
    drop(first);
    assert!(
        matches!(dir.lock_file("a.lock", Duration::ZERO), Err(Error::Busy { .. })),
        "the new file is the lock now"
    );
    drop(second);
}
