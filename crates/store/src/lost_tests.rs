use super::*;

const NO_WAIT: Duration = Duration::from_millis(50);

fn project() -> ProjectId {
    ProjectId::new("0197a000-1111-7222-8333-444455556666").unwrap()
}

fn store(folder: &Path) -> Store {
    std::fs::create_dir_all(folder).unwrap();
    Store::new(Dir::open(folder).unwrap())
}

#[test]
fn lost_records_are_counted_told_and_forgotten() {
    let temp = tempfile::tempdir().unwrap();
    let (store, state) = (store(&temp.path().join("store")), temp.path().join("state"));
    store.reserve_lost_note().unwrap();
    store.reserve_lost_note().unwrap();
    let note = LostNote::new(&store, Some(&state), &project());
    assert_eq!(note.read(), None);
    for now in ["2026-11-15T19:22:00Z", "2026-11-15T19:22:01Z", "2026-11-15T19:23:00Z"] {
        note.add(now, "no space", NO_WAIT).unwrap();
    }
    let lost = note.read().unwrap();
    assert_eq!(
        lost.to_string(),
        "records were lost between 2026-11-15T19:22:00Z and 2026-11-15T19:23:00Z (3 of them): no space"
    );
    assert_eq!(store.dir().look(layout::LOST).unwrap().unwrap().bytes, SIZE as u64, "written in place");
    assert!(!state.exists(), "nothing is written outside while the store takes it");
    // The note stays until it has been reported.
    let refused = |_: &Lost| Err(Error::Absent { path: "x".into() });
    note.take(NO_WAIT, refused).unwrap_err();
    assert!(note.read().is_some());
    let mut told = Vec::new();
    let mut tell = |lost: &Lost| {
        told.push(lost.count);
        Ok(())
    };
    note.take(NO_WAIT, &mut tell).unwrap();
    note.take(NO_WAIT, &mut tell).unwrap();
    assert_eq!(told, [3]);
    assert_eq!(note.read(), None);
}

#[test]
fn without_room_in_the_store_the_state_folder_has_the_note() {
    let temp = tempfile::tempdir().unwrap();
    let (store, state) = (store(&temp.path().join("store")), temp.path().join("state"));
    std::fs::write(temp.path().join("store/state"), "a file in place of the folder").unwrap();
    let note = LostNote::new(&store, Some(&state), &project());
    note.add("2026-11-15T19:22:00Z", "read-only", NO_WAIT).unwrap();
    assert_eq!(note.read().unwrap().count, 1);
    let mut told = 0;
    note.take(NO_WAIT, |_| {
        told += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!((told, note.read()), (1, None));
    assert_eq!(std::fs::read_dir(state.join("lost")).unwrap().count(), 0);
}

#[test]
fn a_note_of_an_older_version_is_taken_over() {
    let temp = tempfile::tempdir().unwrap();
    let (store, state) = (store(&temp.path().join("store")), temp.path().join("state"));
    store.reserve_lost_note().unwrap();
    let note = LostNote::new(&store, Some(&state), &project());
    note.add("2026-11-15T19:22:00Z", "no space", NO_WAIT).unwrap();
    let dir = store.dir().sub("state").unwrap();
    dir.rename("reserved.json", layout::LOST_BEFORE).unwrap();
    assert_eq!(note.read(), None);
    store.reserve_lost_note().unwrap();
    assert_eq!(note.read().unwrap().count, 1);
    assert!(dir.look(layout::LOST_BEFORE).unwrap().is_none());
}
