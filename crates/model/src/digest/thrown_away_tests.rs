use super::*;
use crate::digest::{FileUse, GitOnDisk};

fn digest_with_edits(path: &str, records: &[u64], saved_at: u64) -> Digest {
    let mut digest = Digest::new("s");
    let edited_at = records.last().copied().unwrap_or(0);
    let edits = records.len() as u32;
    digest.files = vec![FileUse { path: path.into(), edits, edited_at, saved_at, ..FileUse::default() }];
    let edit = |record: &u64| FileEdit { record: *record, path: path.into(), ..FileEdit::default() };
    digest.changes = records.iter().map(edit).collect();
    digest
}

fn discard_at(digest: &mut Digest, record: u64) {
    digest.record_count = record;
    digest.discard_changes(|_| true);
}

fn records_kept(digest: &Digest) -> Vec<u64> {
    digest.changes.iter().filter(|edit| !digest.is_thrown_away(edit)).map(|edit| edit.record).collect()
}

#[test]
fn only_edits_after_the_last_commit_are_thrown_away() {
    for (edits, saved_at, expected) in
        [(&[1, 2][..], 0, &[][..]), (&[1, 4], 3, &[1]), (&[1, 2], 3, &[1, 2]), (&[6], 0, &[6])]
    {
        let mut digest = digest_with_edits("a.rs", edits, saved_at);
        discard_at(&mut digest, 5);
        assert_eq!(records_kept(&digest), expected, "{edits:?} {saved_at}");
    }
}

#[test]
fn gits_files_decide_what_a_discard_has_left() {
    let list = |path: &str| vec![path.to_owned()];
    let equal = GitOnDisk { files_equal_to_index: list("a.rs"), ..GitOnDisk::default() };
    let changed = GitOnDisk { files_changed_in_index: list("a.rs"), ..GitOnDisk::default() };
    let untracked = GitOnDisk { untracked_files: list("a.rs"), ..GitOnDisk::default() };
    // A discard at record 5, and a command line that wrote the file at `written_at`.
    for (disk, written_at, edits, is_at_risk, kept) in [
        (None, 0, 1, false, false),
        (Some(&equal), 0, 0, false, false),
        (Some(&equal), 5, 0, false, false),
        // The same line changed the file after the discard.
        (Some(&changed), 5, 1, true, false),
        // Somebody else changed the file later.
        (Some(&changed), 0, 1, false, false),
        (Some(&untracked), 0, 1, true, true),
    ] {
        let mut digest = digest_with_edits("a.rs", &[1], 0);
        digest.files[0].written_at = written_at;
        discard_at(&mut digest, 5);
        digest.git_on_disk = disk.cloned();
        digest.forget_edits_thrown_away();
        let about = format!("{disk:?} {written_at}");
        assert_eq!(digest.files[0].edits, edits, "{about}");
        assert_eq!(!digest.git_state().uncommitted.is_empty(), is_at_risk, "{about}");
        assert_eq!(!records_kept(&digest).is_empty(), kept, "{about}");
    }
}
