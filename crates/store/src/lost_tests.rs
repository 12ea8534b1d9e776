use super::*;

const SHORT_WAIT: Duration = Duration::from_millis(50);

fn test_project_id() -> ProjectId {
    ProjectId::new("0197a000-1111-7222-8333-444455556666").unwrap()
}

fn new_store(folder: &Path) -> Store {
    std::fs::create_dir_all(folder).unwrap();
    Store::new(Dir::open(folder).unwrap())
}

#[test]
fn lost_records_are_counted_told_and_forgotten() {
    let temp = tempfile::tempdir().unwrap();
    let (store, state) = (new_store(&temp.path().join("store")), temp.path().join("state"));
    store.reserve_lost_note().unwrap();
    store.reserve_lost_note().unwrap();
    let note = LostRecordsNote::new(&store, Some(&state), &test_project_id());
    assert_eq!(note.read_note(), None);
    for now in ["2026-11-15T19:22:00Z", "2026-11-15T19:22:01Z", "2026-11-15T19:23:00Z"] {
        note.add_loss(now, "no space", SHORT_WAIT).unwrap();
    }
    let lost = note.read_note().unwrap();
    assert_eq!(
        lost.to_string(),
        "records were lost between 2026-11-15T19:22:00Z and 2026-11-15T19:23:00Z (3 of them): no space"
    );
    assert_eq!(
        store.dir().file_info(layout::LOST_RECORDS_FILE).unwrap().unwrap().bytes,
        NOTE_BYTES as u64,
        "written in place"
    );
    assert!(!state.exists(), "nothing is written outside while the store takes it");
    // If reporting fails, the note is not cleared.
    let refused = |_: &LostRecords| Err(Error::Absent { path: "x".into() });
    note.report_and_clear_lost_records(SHORT_WAIT, refused).unwrap_err();
    assert!(note.read_note().is_some());
    let mut told = Vec::new();
    let mut tell = |lost: &LostRecords| {
        told.push(lost.count);
        Ok(())
    };
    note.report_and_clear_lost_records(SHORT_WAIT, &mut tell).unwrap();
    note.report_and_clear_lost_records(SHORT_WAIT, &mut tell).unwrap();
    assert_eq!(told, [3]);
    assert_eq!(note.read_note(), None);
}

#[test]
fn without_room_in_the_store_the_state_folder_has_the_note() {
    let temp = tempfile::tempdir().unwrap();
    let (store, state) = (new_store(&temp.path().join("store")), temp.path().join("state"));
    std::fs::write(temp.path().join("store/state"), "a file in place of the folder").unwrap();
    let note = LostRecordsNote::new(&store, Some(&state), &test_project_id());
    note.add_loss("2026-11-15T19:22:00Z", "read-only", SHORT_WAIT).unwrap();
    assert_eq!(note.read_note().unwrap().count, 1);
    let mut told = 0;
    note.report_and_clear_lost_records(SHORT_WAIT, |_| {
        told += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!((told, note.read_note()), (1, None));
    assert_eq!(std::fs::read_dir(state.join("lost")).unwrap().count(), 0);
}

#[test]
fn a_note_of_an_older_version_is_taken_over() {
    let temp = tempfile::tempdir().unwrap();
    let (store, state) = (new_store(&temp.path().join("store")), temp.path().join("state"));
    store.reserve_lost_note().unwrap();
    let note = LostRecordsNote::new(&store, Some(&state), &test_project_id());
    note.add_loss("2026-11-15T19:22:00Z", "no space", SHORT_WAIT).unwrap();
    let dir = store.dir().open_subfolder("state").unwrap();
    dir.rename_synced("reserved.json", layout::FORMER_LOST_RECORDS_NAME).unwrap();
    assert_eq!(note.read_note(), None);
    store.reserve_lost_note().unwrap();
    assert_eq!(note.read_note().unwrap().count, 1);
    assert!(dir.file_info(layout::FORMER_LOST_RECORDS_NAME).unwrap().is_none());
}
