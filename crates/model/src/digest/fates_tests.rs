use super::*;
use crate::digest::{FileUse, GitOnDisk};

fn effect(record: u64, kind: EffectKind, what: &str, id: &str) -> RecordedEffect {
    RecordedEffect {
        effect: Effect {
            kind,
            what: what.into(),
            place: String::new(),
            id: id.into(),
            link: String::new(),
            folder: String::new(),
        },
        at: "2026-11-17T16:20:00Z".into(),
        record,
        is_in_other_repository: false,
        disk: EffectOnDisk::default(),
    }
}

fn edited_file(path: &str, edited_at: u64, saved_at: u64) -> FileUse {
    FileUse { path: path.into(), edits: 1, edited_at, saved_at, ..FileUse::default() }
}

/// Returns the history after these moves of HEAD, each given as `OLD NEW what`.
fn history(moves: &[&str], remote: &str) -> HistoryOnDisk {
    let parse = |line: &&str| {
        let mut parts = line.splitn(3, ' ').map(str::to_owned);
        let mut next = || parts.next().unwrap();
        BranchMove { commit_before: next(), commit: next(), what: next(), ..BranchMove::default() }
    };
    let moves_of_head: Vec<BranchMove> = moves.iter().map(parse).collect();
    HistoryOnDisk {
        head: moves_of_head.last().unwrap().commit.clone(),
        moves_of_head,
        remote_commits: vec![remote.to_owned()],
    }
}

fn add_fates(digest: &mut Digest, disk: &HistoryOnDisk, refs: &[&str]) {
    let commits: Vec<String> = refs.iter().map(|id| (*id).to_owned()).collect();
    digest.add_fates_of_commits(
        disk,
        |_| RefsOnDisk { commits, has_others: false },
        RedactOptions::default(),
    );
    digest.git_on_disk =
        Some(GitOnDisk { commit: disk.head.clone(), has_remote: true, ..GitOnDisk::default() });
}

const COMMITS: [&str; 2] = ["base0 swap0 commit: Swap", "swap0 more0 commit: More"];

/// The session committed “Swap” and “More”, and pushed both unless `is_pushed` is false.
fn committed(is_pushed: bool) -> Digest {
    let mut digest = Digest::new("s");
    digest.effects =
        vec![effect(2, EffectKind::Commit, "Swap", "swap0"), effect(4, EffectKind::Commit, "More", "more0")];
    if is_pushed {
        digest.effects.push(effect(5, EffectKind::Push, "main", "base0..more0"));
    }
    digest.files = vec![edited_file("swap.py", 1, 2), edited_file("more.py", 3, 4)];
    digest
}

#[test]
fn commits_are_named_as_they_are_now() {
    let pull = [
        "more0 upst0 pull --rebase (start): checkout upst0",
        "upst0 swap1 pull --rebase (pick): Swap",
        "swap1 more1 pull --rebase (pick): More",
        "more1 more1 pull --rebase (finish): returning to refs/heads/main",
    ];
    let squash = [
        "more0 swap0 rebase (start): checkout HEAD~2",
        "swap0 both0 rebase (fixup): Swap",
        "both0 both0 rebase (finish): returning to refs/heads/main",
    ];
    let reset = ["more0 swap0 reset: moving to HEAD~1"];
    let undone = ["more0 swap0 reset: moving to HEAD~1", "swap0 more0 reset: moving to ORIG_HEAD"];
    let left = ["more0 base0 checkout: moving from topic to main"];
    let amend = ["more0 more1 commit (amend): Even more"];
    // The columns are: the moves of HEAD, the commits of other references, the commits that still exist, the
    // commits that a reset removed, and the last commit.
    type Case<'a> = (&'a [&'a str], &'a [&'a str], &'a [&'a str], &'a [&'a str], Option<&'a str>);
    let cases: [Case; 9] = [
        (&[], &[], &["swap0", "more0"], &[], Some("more0")),
        (&pull, &["upst0"], &["swap1", "more1"], &[], Some("more1")),
        (&squash, &["base0"], &["both0"], &[], Some("both0")),
        (&reset, &["base0"], &["swap0"], &["more0"], Some("swap0")),
        // Another branch still has the commit.
        (&reset, &["more0"], &["swap0", "more0"], &[], Some("swap0")),
        (&undone, &["base0"], &["swap0", "more0"], &[], Some("more0")),
        (&left, &["more0"], &["swap0", "more0"], &[], None),
        // The branch was deleted.
        (&left, &["base0"], &[], &[], None),
        (&amend, &["base0"], &["swap0", "more1"], &[], Some("more1")),
    ];
    for (after, refs, standing, removed, last) in cases {
        let mut digest = committed(false);
        add_fates(&mut digest, &history(&[&COMMITS, after].concat(), "base0"), refs);
        let ids = |commits: Vec<&RecordedEffect>| -> Vec<String> {
            commits.iter().map(|used| used.effect.id.clone()).collect()
        };
        assert_eq!(ids(digest.standing_commits()), standing, "{after:?}");
        assert_eq!(ids(digest.commits_removed_by_reset()), removed, "{after:?}");
        let found = digest.git_state().commit.map(|used| used.effect.id.as_str());
        assert_eq!(found, last, "{after:?}");
    }
}

#[test]
fn a_replaced_commit_has_the_new_subject() {
    let mut digest = committed(false);
    let moves = [&COMMITS[..], &["more0 more1 commit (amend): Even more"]].concat();
    add_fates(&mut digest, &history(&moves, "base0"), &[]);
    assert_eq!(digest.effects[1].effect.what, "Even more");
    // If the session itself amended the commit, the commit is listed only once.
    let mut digest = committed(false);
    digest.effects.push(effect(6, EffectKind::Amend, "Even more", "more1"));
    add_fates(&mut digest, &history(&moves, "base0"), &[]);
    let standing: Vec<u64> = digest.standing_commits().iter().map(|used| used.record).collect();
    assert_eq!(standing, [2, 6]);
}

/// Git's own files do not show what became of these commits, so the recorded commands are believed.
#[test]
fn what_the_reflog_does_not_show_stays_unknown() {
    for (after, refs) in [
        // The remote may have merged the branch.
        (&["more0 base0 checkout: moving from topic to main", "base0 pull0 pull: Fast-forward"][..], &[][..]),
        (&["more0 else0 reset: moving to origin/main"], &["base0"]),
    ] {
        let mut digest = committed(true);
        add_fates(&mut digest, &history(&[&COMMITS, after].concat(), "base0"), refs);
        assert!(digest.effects.iter().all(|used| used.disk.fate == FateOnDisk::Unknown), "{after:?}");
        assert_eq!(digest.standing_commits().len(), 2, "{after:?}");
    }
}

#[test]
fn only_the_remote_branch_shows_that_a_commit_was_pushed() {
    let amend = ["more0 more1 commit (amend): More"];
    let next = ["more0 next0 commit: Next"];
    // The moves, the remote branch, whether a push was seen, whether the last commit counts as pushed, and the commits
    // that are not pushed.
    type Case<'a> = (&'a [&'a str], &'a str, bool, bool, &'a [&'a str]);
    let cases: [Case; 7] = [
        (&[], "more0", true, true, &[]),
        (&[], "more0", false, true, &[]),
        (&[], "base0", false, false, &["swap0", "more0"]),
        // The push may have gone elsewhere.
        (&[], "base0", true, false, &[]),
        // Somebody has pushed on top of it since.
        (&[], "else0", true, false, &[]),
        (&amend, "more0", true, false, &["more1"]),
        (&next, "more0", true, true, &[]),
    ];
    for (after, remote, is_push_seen, is_pushed, unpushed) in cases {
        let mut digest = committed(is_push_seen);
        add_fates(&mut digest, &history(&[&COMMITS, after].concat(), remote), &[remote]);
        let git = digest.git_state();
        assert_eq!(git.is_commit_pushed, is_pushed, "{after:?} {remote}");
        let ids: Vec<&str> = git.unpushed.iter().map(|used| used.effect.id.as_str()).collect();
        assert_eq!(ids, unpushed, "{after:?} {remote} {is_push_seen}");
    }
}

#[test]
fn files_of_removed_commits_are_uncommitted_again() {
    let mut digest = committed(false);
    add_fates(
        &mut digest,
        &history(&[&COMMITS[..], &["more0 swap0 reset: moving to HEAD~1"]].concat(), ""),
        &[],
    );
    digest.files.push(edited_file("both.py", 1, 4));
    digest.mark_files_of_removed_commits_as_unsaved();
    let unsaved: Vec<&str> = digest.files_without_observed_commit().collect();
    assert_eq!(unsaved, ["more.py"], "the first commit may contain both.py");
}

#[test]
fn a_stash_that_is_gone_contains_no_file() {
    let stash = |record, place: &str, what: &str| {
        let mut used = effect(record, EffectKind::Stash, what, "");
        used.effect.place = place.into();
        used
    };
    let on_disk = |description: &str, at: &str| StashOnDisk {
        description: description.into(),
        at: at.parse().unwrap(),
    };
    let before = "2026-11-17T16:19:59Z";
    let stashed = |path: &str, edited_at| FileUse { stashed: true, ..edited_file(path, edited_at, 0) };
    for (disk, expected) in [
        (vec![], &[][..]),
        (vec![on_disk("WIP on main: 1 One", before), on_disk("On main: b", before)], &["a.py", "b.py"]),
        (vec![on_disk("On main: b", before)], &["b.py"]),
        (vec![on_disk("WIP on main: 1 One", before)], &["a.py"]),
        // A later stash with the same description.
        (vec![on_disk("On main: b", "2026-11-17T16:21:00Z")], &[]),
    ] {
        let mut digest = Digest::new("s");
        digest.effects = vec![stash(2, "", "WIP on main: 1 One"), stash(4, "b.py", "On main: b")];
        digest.files = vec![stashed("a.py", 1), stashed("b.py", 3)];
        digest.add_fates_of_stashes(&disk);
        let files: Vec<&str> = digest.git_state().stashed.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(files, expected, "{disk:?}");
    }
}
