use super::*;
use crate::digest::{FileUse, GitOnDisk};
use crate::event::EventName;
use jiff::Timestamp;
use std::borrow::Cow;

const LINE: &str = "git add -A && git commit -qm 'One' && git push";

fn fold_call(digest: &mut Digest, second: u32, command: &'static str, failed: bool) {
    let record = JournalRecord {
        ts: format!("2026-11-17T16:20:{second:02}Z").into(),
        event: Cow::Borrowed(EventName::ToolDone.name()),
        tool: "Bash".into(),
        id: second.to_string().into(),
        ok: Some(!failed),
        exit: Some(i64::from(failed)),
        ended: if failed { "failed" } else { "" }.into(),
        command: command.into(),
        ..JournalRecord::default()
    };
    digest.fold_record(&record);
}

/// A session that edited `a.rs`, and then ran a command line that failed.
fn digest_after(command: &'static str) -> Digest {
    let mut digest = Digest::new("s");
    digest.head = "0000000".into();
    fold_call(&mut digest, 10, "ls", false);
    digest.files =
        vec![FileUse { path: "a.rs".into(), edits: 1, edited_at: digest.record_count, ..FileUse::default() }];
    fold_call(&mut digest, 20, command, true);
    digest
}

fn move_at(second: i64, commit: &str, what: &str) -> BranchMove {
    let start: Timestamp = "2026-11-17T16:20:00Z".parse().unwrap();
    let at = Timestamp::from_second(start.as_second() + second).unwrap();
    BranchMove { commit_before: String::new(), commit: commit.into(), at, what: what.into() }
}

fn ids(digest: &Digest) -> Vec<&str> {
    digest.standing_commits().iter().map(|used| used.effect.id.as_str()).collect()
}

#[test]
fn moves_of_head_show_which_commits_were_made() {
    let old = move_at(-500, "0000000000", "commit: Old");
    let id = "1111111111";
    for (line, found, expected, is_known) in [
        (LINE, Some(move_at(15, id, "commit: One")), &["1111111"][..], true),
        (LINE, Some(move_at(15, id, "commit (initial): One")), &["1111111"], true),
        ("git commit -q -F m.txt && git push", Some(move_at(10, id, "commit: Any")), &["1111111"], true),
        (
            "git commit -q --amend --no-edit && git push",
            Some(move_at(20, id, "commit (amend): Old")),
            &["1111111"],
            true,
        ),
        (LINE, None, &[], true),
        // Somebody else committed before or after.
        (LINE, Some(move_at(9, id, "commit: One")), &[], true),
        (LINE, Some(move_at(21, id, "commit: One")), &[], true),
        // It may be the same commit with a changed subject, or somebody else's.
        (LINE, Some(move_at(15, id, "commit: Two")), &[], false),
        (LINE, Some(move_at(15, id, "commit (amend): One")), &[], false),
        (LINE, Some(move_at(15, id, "checkout: moving from a to b")), &[], true),
    ] {
        let mut digest = digest_after(line);
        let moves: Vec<BranchMove> = [old.clone()].into_iter().chain(found.clone()).collect();
        digest.settle_unclear_commits("", "1111111111", &moves);
        assert_eq!(ids(&digest), expected, "{line} {found:?}");
        assert_eq!(digest.last_unclear_move_of_head() == 0, is_known, "{line} {found:?}");
        let commit = if found.is_some() { "1111111111" } else { "0000000000" };
        digest.git_on_disk = Some(GitOnDisk { commit: commit.into(), ..GitOnDisk::default() });
        let git = digest.git_state();
        assert_eq!(git.uncommitted.is_empty(), !expected.is_empty(), "{line} {found:?}");
        let is_moved = is_known && expected.is_empty() && found.is_some();
        assert_eq!(git.head_moved_by_others.is_some(), is_moved, "{line} {found:?}");
        let failing: Vec<&str> =
            digest.failures.iter().map(|failure| failure.command_or_file.as_str()).collect();
        assert_eq!(failing, [if expected.is_empty() { line } else { "git push" }], "{line} {found:?}");
    }
}

#[test]
fn without_the_moves_of_head_nothing_is_claimed() {
    for moves in [vec![], vec![move_at(100, "2222222222", "commit: Later")]] {
        let mut digest = digest_after(LINE);
        digest.settle_unclear_commits("", "1111111111", &moves);
        digest.git_on_disk = Some(GitOnDisk {
            commit: "1111111111".into(),
            files_equal_to_index: vec!["a.rs".into()],
            ..GitOnDisk::default()
        });
        let git = digest.git_state();
        assert_eq!((git.head_moved_by_others, git.uncommitted.len()), (None, 0));
        // The file differs from the index, so it was changed again.
        digest.git_on_disk =
            Some(GitOnDisk { files_changed_in_index: vec!["a.rs".into()], ..GitOnDisk::default() });
        assert_eq!(digest.git_state().uncommitted.len(), 1);
    }
    let mut digest = digest_after("git pull -q && make");
    digest.git_on_disk = Some(GitOnDisk { commit: "1111111111".into(), ..GitOnDisk::default() });
    assert_eq!(digest.git_state().head_moved_by_others, None);
}

#[test]
fn what_was_staged_or_edited_after_the_commit_is_not_in_it() {
    let mut digest = digest_after(LINE);
    fold_call(&mut digest, 30, "git add b.rs", false);
    let edited_at = digest.record_count;
    digest.files.push(FileUse { path: "b.rs".into(), edits: 1, edited_at, ..FileUse::default() });
    digest.settle_unclear_commits(
        "",
        "1111111111",
        &[move_at(-9, "0000000000", "commit: Old"), move_at(15, "1111111111", "commit: One")],
    );
    digest.git_on_disk = Some(GitOnDisk {
        commit: "1111111111".into(),
        files_equal_to_index: vec!["a.rs".into(), "b.rs".into()],
        ..GitOnDisk::default()
    });
    let uncommitted: Vec<String> =
        digest.git_state().uncommitted.iter().map(|file| file.path.clone()).collect();
    assert_eq!(uncommitted, ["b.rs"]);
}

#[test]
fn a_line_is_shortened_only_if_all_its_commits_were_made() {
    let line = "git commit -qm One && git commit -qm Two && git push";
    let one = move_at(15, "1111111111", "commit: One");
    let two = move_at(16, "2222222222", "commit: Two");
    for (moves, expected, failing) in
        [(vec![one.clone()], &["1111111"][..], line), (vec![one, two], &["1111111", "2222222"], "git push")]
    {
        let mut digest = digest_after(line);
        digest.settle_unclear_commits("", "3333333333", &moves);
        assert_eq!(ids(&digest), expected);
        assert_eq!(digest.failures[0].command_or_file, failing);
    }
}

#[test]
fn a_head_that_has_not_moved_shows_that_nothing_was_committed() {
    for (head, is_settled) in [("0000000000", true), ("1111111111", false), ("", false)] {
        let mut digest = digest_after(LINE);
        digest.settle_unclear_commits("", head, &[]);
        assert_eq!(digest.unclear_commits.is_empty(), is_settled, "{head}");
    }
}

#[test]
fn a_commit_that_cannot_have_been_made_is_not_unclear() {
    for (line, is_unclear) in [
        ("git add -A && git commit -qm x", false),
        ("make lint; git commit -qm x", false),
        // Git would have printed a line about the commit.
        ("git commit -m x && git push", false),
        ("git commit -m x | tail -1; git push", true),
        ("git commit -qm x; git push", true),
        ("git -C /elsewhere commit -qm x && git push", false),
    ] {
        assert_eq!(!digest_after(line).unclear_commits.is_empty(), is_unclear, "{line}");
    }
}

/// A hook stores the digest, and a later brief reads it.
#[test]
fn unclear_commits_are_stored() {
    let digest = digest_after(LINE);
    let stored: Digest = serde_json::from_slice(&crate::digest::to_json_bytes(&digest)).unwrap();
    assert_eq!(stored.unclear_commits, digest.unclear_commits);
    assert!(!stored.unclear_commits.is_empty());
}

#[test]
fn an_answer_of_thru_after_a_commit_that_was_made_is_no_failure() {
    for (line, is_open) in [
        ("git commit -qm 'One' && thru resume gate 2", false),
        ("git commit -qm 'One' && /home/u/.local/bin/thru resume gate 2", false),
        (LINE, true),
    ] {
        let mut digest = digest_after(line);
        digest.failures[0].error = "2: 1 file still to read".into();
        let was_open = digest.open_failures().count();
        digest.settle_unclear_commits("", "1111111111", &[move_at(15, "1111111111", "commit: One")]);
        assert_eq!((was_open, digest.open_failures().count()), (1, usize::from(is_open)), "{line}");
    }
}
