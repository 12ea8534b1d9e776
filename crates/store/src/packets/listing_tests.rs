use std::fs;
use std::time::{Duration, SystemTime};

use model::packet::PacketStatus;

use super::{INDEX_FIRST_LINE, MAX_PACKETS_CHECKED, MIN_PACKETS_FOR_INDEX, PacketListing};
use crate::{Dir, Store, layout};

fn packet_text(status: &str, purpose: &str) -> String {
    format!(
        "---\nid: x\ncreated_at: 2026-11-15T19:22:00Z\nupdated_at: 2026-11-15T19:22:00Z\nstatus: {status}\npurpose: {purpose}\n---\n"
    )
}

struct ListingFixture {
    _temp: tempfile::TempDir,
    store: Store,
    path: std::path::PathBuf,
}

impl ListingFixture {
    fn new(packets: usize) -> ListingFixture {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("store");
        fs::create_dir_all(path.join("packets")).unwrap();
        for i in 0..packets {
            fs::write(path.join(format!("packets/p{i:05}.md")), packet_text("draft", &format!("number {i}")))
                .unwrap();
        }
        ListingFixture { store: Store::new(Dir::open(&path).unwrap()), _temp: temp, path }
    }

    fn read_index(&self) -> Option<String> {
        fs::read_to_string(self.path.join(layout::PACKETS_INDEX)).ok()
    }

    fn list_packets(&self) -> PacketListing {
        self.store.list_packets().unwrap()
    }

    fn find_packet(&self, name: &str) -> Option<(Option<PacketStatus>, String)> {
        let listing = self.list_packets();
        let found = listing.iter().find(|listed| listed.name == name)?;
        Some((found.status, found.purpose.to_owned()))
    }

    fn make_files_older(&self) {
        let past = SystemTime::now() - Duration::from_secs(60);
        fs::File::open(self.path.join("packets")).unwrap().set_modified(past).unwrap();
    }
}

#[test]
fn few_packets_are_listed_without_an_index() {
    let case = ListingFixture::new(3);
    assert_eq!(case.list_packets().len(), 3);
    assert_eq!(case.read_index(), None);
}

#[test]
fn the_index_never_hides_a_change() {
    let case = ListingFixture::new(MIN_PACKETS_FOR_INDEX);
    case.make_files_older();
    let first = case.list_packets();
    assert!(case.read_index().unwrap().starts_with(INDEX_FIRST_LINE));
    assert!(case.list_packets() == first, "from the index");
    // Some editors write a file in place, which does not update the folder's time.
    fs::write(case.path.join("packets/p00007.md"), packet_text("done", "other words")).unwrap();
    assert_eq!(case.find_packet("p00007"), Some((Some(PacketStatus::Done), "other words".into())));
    fs::write(case.path.join("packets/p9-new.md"), packet_text("active", "new")).unwrap();
    fs::remove_file(case.path.join("packets/p00003.md")).unwrap();
    assert_eq!(case.find_packet("p9-new").unwrap().0, Some(PacketStatus::Active));
    assert_eq!(case.find_packet("p00003"), None);
    assert_eq!(case.list_packets().len(), MIN_PACKETS_FOR_INDEX);
}

#[test]
fn an_old_packet_edited_in_place_is_seen_when_the_folder_changes() {
    let case = ListingFixture::new(MAX_PACKETS_CHECKED + 10);
    case.make_files_older();
    case.list_packets();
    fs::write(case.path.join("packets/p00002.md"), packet_text("done", "edited in place")).unwrap();
    assert_eq!(
        case.find_packet("p00002").unwrap().0,
        Some(PacketStatus::Draft),
        "the index speaks for the old ones"
    );
    fs::write(case.path.join("packets/p9-new.md"), packet_text("active", "new")).unwrap();
    assert_eq!(case.find_packet("p00002").unwrap().0, Some(PacketStatus::Done));
}

#[test]
fn an_index_that_is_gone_or_damaged_is_made_again() {
    let case = ListingFixture::new(MIN_PACKETS_FOR_INDEX);
    case.make_files_older();
    let known = case.list_packets();
    let good = case.read_index().unwrap();
    for bad in ["", "nonsense", &format!("{INDEX_FIRST_LINE} 5\np00001\tx"), &good[..good.len() / 2]] {
        fs::write(case.path.join(layout::PACKETS_INDEX), bad).unwrap();
        assert!(case.list_packets() == known, "{bad:.20}");
    }
    fs::remove_file(case.path.join(layout::PACKETS_INDEX)).unwrap();
    assert!(case.list_packets() == known);
}

#[test]
fn an_unreadable_packet_is_still_listed() {
    let case = ListingFixture::new(1);
    fs::create_dir(case.path.join("packets/p5.md")).unwrap();
    let (status, purpose) = case.find_packet("p5").unwrap();
    assert_eq!(status, None);
    assert!(purpose.contains("p5.md"), "{purpose}");
    assert_eq!(case.list_packets().len(), 2);
}

#[test]
fn the_packet_changed_last_comes_first() {
    let case = ListingFixture::new(3);
    let later = packet_text("draft", "later").replace("updated_at: 2026-11-15", "updated_at: 2026-11-16");
    fs::write(case.path.join("packets/p00000.md"), later).unwrap();
    let names: Vec<String> = case.list_packets().iter().map(|packet| packet.name.to_owned()).collect();
    assert_eq!(names, ["p00000", "p00002", "p00001"]);
}
