use std::fs;
use std::time::{Duration, SystemTime};

use model::packet::Status;

use super::{HEAD, Listing, WATCHED, WORTH_AN_INDEX};
use crate::{Dir, Store, layout};

fn packet(status: &str, purpose: &str) -> String {
    format!(
        "---\nid: x\ncreated_at: 2026-11-15T19:22:00Z\nupdated_at: 2026-11-15T19:22:00Z\nstatus: {status}\npurpose: {purpose}\n---\n"
    )
}

struct Case {
    _temp: tempfile::TempDir,
    store: Store,
    path: std::path::PathBuf,
}

impl Case {
    fn new(packets: usize) -> Case {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("store");
        fs::create_dir_all(path.join("packets")).unwrap();
        for i in 0..packets {
            fs::write(path.join(format!("packets/p{i:05}.md")), packet("draft", &format!("number {i}")))
                .unwrap();
        }
        Case { store: Store::new(Dir::open(&path).unwrap()), _temp: temp, path }
    }

    fn index(&self) -> Option<String> {
        fs::read_to_string(self.path.join(layout::PACKETS_INDEX)).ok()
    }

    fn list(&self) -> Listing {
        self.store.packets().unwrap()
    }

    /// Returns the status and the purpose of one packet.
    fn find(&self, name: &str) -> Option<(Option<Status>, String)> {
        let listing = self.list();
        let found = listing.iter().find(|listed| listed.name == name)?;
        Some((found.status, found.purpose.to_owned()))
    }

    /// Sets the times of all files to a minute ago.
    fn age(&self) {
        let past = SystemTime::now() - Duration::from_secs(60);
        fs::File::open(self.path.join("packets")).unwrap().set_modified(past).unwrap();
    }
}

#[test]
fn few_need_no_index() {
    let case = Case::new(3);
    assert_eq!(case.list().len(), 3);
    assert_eq!(case.index(), None);
}

#[test]
fn the_index_never_hides_a_change() {
    let case = Case::new(WORTH_AN_INDEX);
    case.age();
    let first = case.list();
    assert!(case.index().unwrap().starts_with(HEAD));
    assert!(case.list() == first, "from the index");
    // Some editors write a file in place. Then the folder's time does not change.
    fs::write(case.path.join("packets/p00007.md"), packet("done", "other words")).unwrap();
    assert_eq!(case.find("p00007"), Some((Some(Status::Done), "other words".into())));
    fs::write(case.path.join("packets/p9-new.md"), packet("active", "new")).unwrap();
    fs::remove_file(case.path.join("packets/p00003.md")).unwrap();
    assert_eq!(case.find("p9-new").unwrap().0, Some(Status::Active));
    assert_eq!(case.find("p00003"), None);
    assert_eq!(case.list().len(), WORTH_AN_INDEX);
}

#[test]
fn an_old_packet_edited_in_place_is_seen_when_the_folder_changes() {
    let case = Case::new(WATCHED + 10);
    case.age();
    case.list();
    fs::write(case.path.join("packets/p00002.md"), packet("done", "edited in place")).unwrap();
    assert_eq!(case.find("p00002").unwrap().0, Some(Status::Draft), "the index speaks for the old ones");
    fs::write(case.path.join("packets/p9-new.md"), packet("active", "new")).unwrap();
    assert_eq!(case.find("p00002").unwrap().0, Some(Status::Done));
}

#[test]
fn an_index_that_is_gone_or_damaged_is_made_again() {
    let case = Case::new(WORTH_AN_INDEX);
    case.age();
    let known = case.list();
    let good = case.index().unwrap();
    for bad in ["", "nonsense", &format!("{HEAD} 5\np00001\tx"), &good[..good.len() / 2]] {
        fs::write(case.path.join(layout::PACKETS_INDEX), bad).unwrap();
        assert!(case.list() == known, "{bad:.20}");
    }
    fs::remove_file(case.path.join(layout::PACKETS_INDEX)).unwrap();
    assert!(case.list() == known);
}

#[test]
fn what_cannot_be_read_is_still_listed() {
    let case = Case::new(1);
    fs::create_dir(case.path.join("packets/p5.md")).unwrap();
    let (status, purpose) = case.find("p5").unwrap();
    assert_eq!(status, None);
    assert!(purpose.contains("p5.md"), "{purpose}");
    assert_eq!(case.list().len(), 2);
}

#[test]
fn the_one_changed_last_comes_first() {
    let case = Case::new(3);
    let later = packet("draft", "later").replace("updated_at: 2026-11-15", "updated_at: 2026-11-16");
    fs::write(case.path.join("packets/p00000.md"), later).unwrap();
    let names: Vec<String> = case.list().iter().map(|packet| packet.name.to_owned()).collect();
    assert_eq!(names, ["p00000", "p00002", "p00001"]);
}
