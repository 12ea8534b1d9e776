use std::borrow::Cow;
use std::fs;
use std::time::{Duration, SystemTime};

use model::packet::Status;

use super::{HEAD, Listed, WATCHED, WORTH_AN_INDEX};
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

    fn find(&self, name: &str) -> Option<Listed<'static>> {
        all(self).into_iter().find(|listed| listed.name == name)
    }

    /// As if nothing had happened for a while.
    fn age(&self) {
        let past = SystemTime::now() - Duration::from_secs(60);
        fs::File::open(self.path.join("packets")).unwrap().set_modified(past).unwrap();
    }
}

fn all(case: &Case) -> Vec<Listed<'static>> {
    let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
    let keep = |one: Listed<'_>| Listed {
        name: own(one.name),
        updated_at: own(one.updated_at),
        created_at: own(one.created_at),
        claimed_by: own(one.claimed_by),
        purpose: own(one.purpose),
        ..one_of(one.status, one.stamp)
    };
    case.store.packets(|packets| packets.into_iter().map(keep).collect()).unwrap()
}

fn one_of(status: Option<Status>, stamp: super::Stamp) -> Listed<'static> {
    Listed { status, stamp, ..Listed::default() }
}

#[test]
fn few_need_no_index() {
    let case = Case::new(3);
    assert_eq!(all(&case).len(), 3);
    assert_eq!(case.index(), None);
}

#[test]
fn the_index_never_hides_a_change() {
    let case = Case::new(WORTH_AN_INDEX);
    case.age();
    let first = all(&case);
    assert!(case.index().unwrap().starts_with(HEAD));
    assert!(all(&case) == first, "from the index");
    // In place, as some editors write: the folder does not tell.
    fs::write(case.path.join("packets/p00007.md"), packet("done", "other words")).unwrap();
    let found = case.find("p00007").unwrap();
    assert_eq!((found.status, found.purpose.as_ref()), (Some(Status::Done), "other words"));
    fs::write(case.path.join("packets/p9-new.md"), packet("active", "new")).unwrap();
    fs::remove_file(case.path.join("packets/p00003.md")).unwrap();
    assert_eq!(case.find("p9-new").unwrap().status, Some(Status::Active));
    assert_eq!(case.find("p00003"), None);
    assert_eq!(all(&case).len(), WORTH_AN_INDEX);
}

#[test]
fn an_old_packet_edited_in_place_is_seen_when_the_folder_changes() {
    let case = Case::new(WATCHED + 10);
    case.age();
    all(&case);
    fs::write(case.path.join("packets/p00002.md"), packet("done", "edited in place")).unwrap();
    assert_eq!(case.find("p00002").unwrap().status, Some(Status::Draft), "the index speaks for the old ones");
    fs::write(case.path.join("packets/p9-new.md"), packet("active", "new")).unwrap();
    assert_eq!(case.find("p00002").unwrap().status, Some(Status::Done));
}

#[test]
fn an_index_that_is_gone_or_damaged_is_made_again() {
    let case = Case::new(WORTH_AN_INDEX);
    case.age();
    let known = all(&case);
    let good = case.index().unwrap();
    for bad in ["", "nonsense", &format!("{HEAD} 5\np00001\tx"), &good[..good.len() / 2]] {
        fs::write(case.path.join(layout::PACKETS_INDEX), bad).unwrap();
        assert!(all(&case) == known, "{bad:.20}");
    }
    fs::remove_file(case.path.join(layout::PACKETS_INDEX)).unwrap();
    assert!(all(&case) == known);
}
