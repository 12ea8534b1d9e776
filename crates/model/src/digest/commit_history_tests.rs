use super::*;

/// Returns moves of HEAD, each given as `OLD NEW what`.
fn moves(lines: &[&str]) -> Vec<BranchMove> {
    let parse = |line: &&str| {
        let mut parts = line.splitn(3, ' ').map(str::to_owned);
        let mut next = || parts.next().unwrap();
        BranchMove { commit_before: next(), commit: next(), what: next(), ..BranchMove::default() }
    };
    lines.iter().map(parse).collect()
}

const START: &str = "base swap commit: Swap";

#[test]
fn a_rebase_and_an_amend_replace_commits() {
    let pull = [
        "swap upst pull --rebase -q (start): checkout upst",
        "upst swp2 pull --rebase -q (pick): Swap",
        "swp2 swp2 pull --rebase -q (finish): returning to refs/heads/main",
    ];
    let squash = [
        "swap more commit: More",
        "more base rebase (start): checkout HEAD~2",
        "base swap rebase: fast-forward",
        "swap both rebase (fixup): Swap",
        "both both rebase (finish): returning to refs/heads/main",
    ];
    let reword = [
        "swap upst rebase (start): checkout main",
        "upst swp2 rebase (reword): Swap",
        "swp2 swp3 rebase (reword): Exchange",
        "swp3 swp3 rebase (finish): returning to refs/heads/main",
    ];
    let aborted =
        ["swap upst rebase (start): checkout main", "upst swap rebase (abort): returning to refs/heads/main"];
    let dropped = [
        "swap more commit: More",
        "more base rebase (start): checkout HEAD~2",
        "base mor2 rebase (pick): More",
        "mor2 mor2 rebase (finish): returning to refs/heads/main",
    ];
    // The columns are: the moves of HEAD, the id of a commit, and the expected result. The result says whether
    // the commit was replaced, and by which commits.
    type Case<'a> = (&'a [&'a str], &'a str, (bool, &'a [&'a str]));
    let cases: [Case; 9] = [
        (&pull, "swap", (true, &["swp2"])),
        (&["swap swp2 commit (amend): Swap"], "swap", (true, &["swp2"])),
        (
            &["swap swp2 commit (amend): Swap", "swp2 swp3 commit (amend): Swap"],
            "swap",
            (true, &["swp2", "swp3"]),
        ),
        (&squash, "swap", (true, &["both"])),
        (&squash, "more", (true, &[])),
        (&reword, "swap", (true, &["swp2", "swp3"])),
        (&aborted, "swap", (false, &[])),
        (&dropped, "swap", (true, &[])),
        (&dropped, "more", (true, &["mor2"])),
    ];
    for (after, id, expected) in cases {
        let moves = moves(&[&[START], after].concat());
        let (is_replaced, by) = CommitHistory::from_moves(&moves).replacements(id);
        assert_eq!((is_replaced, by.as_slice()), expected, "{id}: {after:?}");
    }
}

/// The new base of a rebase may already contain older commits. In that case, the rebase does not replace them.
#[test]
fn a_pull_says_nothing_about_older_commits() {
    let moves = moves(&[
        START,
        "swap more commit: More",
        "more upst pull --rebase (start): checkout upst",
        "upst mor2 pull --rebase (pick): More",
        "mor2 mor2 pull --rebase (finish): returning to refs/heads/main",
    ]);
    let history = CommitHistory::from_moves(&moves);
    assert_eq!(history.replacements("swap"), (false, vec![]));
    assert_eq!(history.contains("mor2", "swap"), Containment::Unknown);
    assert_eq!(history.contains("mor2", "more"), Containment::Unknown);
    assert_eq!(history.contains("upst", "mor2"), Containment::No, "it existed before");
}

#[test]
fn a_reset_removes_commits() {
    let cases: [(&[&str], bool); 8] = [
        (&["swap base reset: moving to HEAD~1"], true),
        (&["swap base reset: moving to base"], true),
        (&["swap more commit: More", "more base reset: moving to HEAD~2"], true),
        (&["swap more commit: More", "more swap reset: moving to HEAD~1"], false),
        (&["swap swap reset: moving to HEAD"], false),
        (&["swap base reset: moving to HEAD~1", "base swap reset: moving to ORIG_HEAD"], false),
        // The commit of the remote may contain this one.
        (&["swap upst reset: moving to origin/main"], false),
        // The reflog does not name the commit before the first one.
        (&["swap prev reset: moving to HEAD^^"], true),
    ];
    for (after, expected) in cases {
        let moves = moves(&[&[START], after].concat());
        assert_eq!(CommitHistory::from_moves(&moves).is_removed_by_reset("swap"), expected, "{after:?}");
    }
}

#[test]
fn a_commit_contains_those_that_it_was_made_on() {
    let moves = moves(&[
        "base base checkout: moving from main to topic",
        START,
        "swap base checkout: moving from topic to main",
        "base more commit: More",
        "more both merge topic: Merge made by the 'ort' strategy.",
        "both next commit: Next",
        "next pull pull: Fast-forward",
    ]);
    let history = CommitHistory::from_moves(&moves);
    for (whole, part, expected) in [
        ("swap", "base", Containment::Yes),
        ("more", "swap", Containment::No),
        ("next", "more", Containment::Yes),
        ("pull", "base", Containment::Yes),
        ("next", "swap", Containment::Unknown),
        ("swap", "next", Containment::No),
        ("else", "next", Containment::Unknown),
    ] {
        assert_eq!(history.contains(whole, part), expected, "{whole} contains {part}");
    }
}
