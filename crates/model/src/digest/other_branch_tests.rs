use super::*;
use crate::digest::EffectOnDisk;
use crate::effect::Effect;

fn commit(record: u64, id: &str, subject: &str, branch: &str) -> RecordedEffect {
    let effect = Effect {
        kind: EffectKind::Commit,
        what: subject.to_owned(),
        place: branch.to_owned(),
        id: id.to_owned(),
        link: String::new(),
        folder: String::new(),
    };
    RecordedEffect {
        effect,
        at: String::new(),
        record,
        is_in_other_repository: false,
        disk: EffectOnDisk::default(),
    }
}

fn moves(all: &[(&str, &str, &str)]) -> Vec<BranchMove> {
    let one = |(before, commit, what): &(&str, &str, &str)| BranchMove {
        commit_before: (*before).to_owned(),
        commit: (*commit).to_owned(),
        at: Timestamp::UNIX_EPOCH,
        what: (*what).to_owned(),
    };
    all.iter().map(one).collect()
}

#[test]
fn the_reflogs_show_on_which_branch_a_commit_is() {
    let there = moves(&[
        ("0", "aaaa", "branch: Created from HEAD"),
        ("aaaa", "bbbb", "commit: Round"),
        ("bbbb", "cccc", "commit: Later"),
    ]);
    let created = moves(&[("0", "aaaa", "commit (initial): One")]);
    let forwarded = moves(&[("0", "aaaa", "clone: from x"), ("aaaa", "bbbb", "merge round: Fast-forward")]);
    let ahead = moves(&[("0", "aaaa", "clone: from x"), ("aaaa", "dddd", "commit: Other")]);
    // The columns are: the commit's id, its subject, the commit at HEAD, the moves of HEAD's branch, and the
    // expected result. The result is `None` if the commit is not known to be on the other branch. Otherwise, it
    // says whether HEAD is known to be older.
    for (id, subject, head, here, expected) in [
        ("bbbb", "Round", "aaaa", &created, Some(true)),
        ("bb", "", "aaaa", &created, Some(true)),
        // `git commit -q` prints no id.
        ("", "Round", "aaaa", &created, Some(true)),
        ("", "", "aaaa", &created, None),
        ("", "Rounds", "aaaa", &created, None),
        ("eeee", "Round", "aaaa", &created, None),
        // The other branch begins at this commit, but the commit was not made on that branch.
        ("aaaa", "One", "aaaa", &created, None),
        ("bbbb", "Round", "dddd", &ahead, Some(false)),
        ("bbbb", "Round", "", &ahead, Some(false)),
        ("bbbb", "Round", "bbbb", &forwarded, None),
    ] {
        let mut digest = Digest::new("s");
        digest.effects.push(commit(3, id, subject, ""));
        let found = digest.other_branch_with_commits("round", head, here, &there);
        assert_eq!(found.as_ref().map(|found| found.is_head_older), expected, "{id} {subject} {head}");
        assert!(found.is_none_or(|found| found.records == [3] && found.commit == "bbbb"));
    }
}

#[test]
fn of_several_commits_with_one_subject_the_last_one_of_the_session_counts() {
    let at = |seconds: i64, found: BranchMove| BranchMove {
        at: Timestamp::from_second(seconds).unwrap(),
        ..found
    };
    let all = moves(&[
        ("0", "aaaa", "branch: Created from HEAD"),
        ("aaaa", "bbbb", "commit: wip"),
        ("bbbb", "cccc", "commit: wip"),
        ("cccc", "dddd", "commit: Tidy"),
    ]);
    let there: Vec<BranchMove> = (1000..).step_by(10).zip(all).map(|(time, found)| at(time, found)).collect();
    // The columns are: the commit id that the command printed, the time when the session began, and the commit
    // that should be found.
    for (id, first_at, expected) in [
        ("", "1970-01-01T00:16:40Z", Some("cccc")),
        // The session began in the same second.
        ("", "1970-01-01T00:17:00.900Z", Some("cccc")),
        ("", "1970-01-01T00:17:01Z", None),
        ("", "", Some("cccc")),
        ("bbbb", "1970-01-01T00:17:01Z", Some("bbbb")),
    ] {
        let mut digest = Digest::new("s");
        digest.first_at = first_at.into();
        digest.effects.push(commit(3, id, "wip", ""));
        let found = digest.other_branch_with_commits("round", "aaaa", &[], &there);
        assert_eq!(found.as_ref().map(|found| found.commit.as_str()), expected, "{id} {first_at}");
        let made = there.iter().find(|made| Some(made.commit.as_str()) == expected);
        assert_eq!(found.map(|found| found.committed_at), made.map(|made| made.at));
    }
}

#[test]
fn only_branches_of_the_session_are_searched() {
    let mut digest = Digest::new("s");
    digest.branch = "main".into();
    assert!(digest.branches_possibly_left("main").is_empty());
    digest.effects.push(commit(3, "bbbb", "Round", "round"));
    assert_eq!(digest.branches_possibly_left("main"), ["round"]);
    assert_eq!(digest.branches_possibly_left("round"), ["main"]);
    assert_eq!(digest.branches_possibly_left("tips"), ["round", "main"]);
}
