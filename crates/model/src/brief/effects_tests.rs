use super::*;
use crate::digest::{EffectOnDisk, GitOnDisk};

fn commit_effect(record: u64, id: &str, subject: &str) -> RecordedEffect {
    effect_use(record, EffectKind::Commit, subject, "main", id)
}

fn effect_use(record: u64, kind: EffectKind, what: &str, place: &str, id: &str) -> RecordedEffect {
    let effect = Effect {
        kind,
        what: what.into(),
        place: place.into(),
        id: id.into(),
        link: String::new(),
        folder: String::new(),
    };
    RecordedEffect {
        effect,
        at: "2026-11-17T16:20:00Z".into(),
        record,
        is_in_other_repository: false,
        disk: EffectOnDisk::default(),
    }
}

fn edited_file(path: &str, at: u64, saved_at: u64) -> FileUse {
    FileUse {
        path: path.into(),
        edits: 1,
        last_use_record: at,
        edited_at: at,
        saved_at,
        ..FileUse::default()
    }
}

fn longest_forms(digest: &Digest) -> Vec<String> {
    effect_candidates(digest, BriefOccasion::Asked)
        .into_iter()
        .map(|mut all| all.forms.pop().unwrap())
        .collect()
}

#[test]
fn what_is_only_in_the_working_tree() {
    let mut digest = Digest::new("s");
    digest.branch = "topic".into();
    digest.files = (0..20).map(|n| edited_file(&format!("src/f{n}.rs"), n + 1, 0)).collect();
    let alone = effect_candidates(&digest, BriefOccasion::Asked);
    let head = "20 files edited by the session, not in any commit seen here";
    assert_eq!(
        alone[0].forms,
        [
            head.to_owned(),
            format!("{head} (named below)"),
            format!("{head}: src/{{f19.rs,f18.rs,f17.rs,f16.rs,f15.rs}}, +15 more")
        ]
    );
    digest.git_on_disk = Some(GitOnDisk::default());
    assert_eq!(
        effect_candidates(&digest, BriefOccasion::Asked)[0].forms[1],
        "20 files edited by the session, not committed (named below)"
    );
    digest.branch = "main".into();
    digest.effects.push(commit_effect(21, "1111111", "One"));
    digest.files[3] = edited_file("src/f3.rs", 25, 21);
    digest.files.iter_mut().for_each(|file| file.saved_at = 21);
    assert_eq!(
        longest_forms(&digest)[0],
        "1 file edited by the session, not committed since 1111111: src/f3.rs"
    );
    // A commit on one branch says nothing about another branch.
    digest.branch = "other".into();
    assert_eq!(
        longest_forms(&digest)[0],
        "1 file edited by the session, not in any commit seen here: src/f3.rs"
    );
    assert!(longest_forms(&digest).contains(&"Git: branch other".to_owned()));
}

#[test]
fn a_stash_that_was_taken_back_and_changes_made_anew_are_history() {
    let mut digest = Digest::new("s");
    digest.branch = "main".into();
    digest.files = vec![edited_file("src/a.rs", 9, 0)];
    digest.effects.push(effect_use(2, EffectKind::Stash, "WIP", "", ""));
    digest.effects.push(effect_use(3, EffectKind::Unstash, "pop", "", ""));
    digest.effects.push(effect_use(5, EffectKind::Discard, "src/a.rs", "", ""));
    let notes = |digest: &Digest| longest_forms(digest).iter().any(|line| line.starts_with("Git since then"));
    assert!(!notes(&digest), "{:?}", longest_forms(&digest));
    digest.effects.push(effect_use(12, EffectKind::Discard, "src/a.rs", "", ""));
    assert!(notes(&digest));
}

#[test]
fn what_is_not_known_to_be_git_is_not_at_risk() {
    let mut digest = Digest::new("s");
    digest.files = vec![edited_file("a.rs", 1, 0)];
    assert_eq!(longest_forms(&digest), Vec::<String>::new());
}

#[test]
fn a_group_of_effects_keeps_every_id() {
    let mut digest = Digest::new("s");
    digest.effects = (1..=11)
        .map(|n| {
            effect_use(n, EffectKind::Comment, &format!("reply to {n}"), "o/r#5", &format!("90000{n:02}"))
        })
        .collect();
    digest.effects.push(commit_effect(12, "1111111", "One"));
    digest.effects.push(effect_use(13, EffectKind::Push, "main", "origin", "0000000..1111111"));
    digest.effects.push(commit_effect(14, "2222222", "Two"));
    let told = effect_candidates(&digest, BriefOccasion::Asked);
    for form in [0, 1] {
        let text: String =
            told.iter().map(|one| one.forms[form.min(one.forms.len() - 1)].clone() + "\n").collect();
        for id in (1..=11).map(|n| format!("90000{n:02}")).chain(["1111111".into(), "2222222".into()]) {
            assert!(text.contains(&id), "{id} in {text}");
        }
        assert!(text.contains("11 comments on o/r#5: 9000001"), "{text}");
        assert!(text.contains("commit 2222222 is not pushed"), "{text}");
        assert!(text.contains("pushed main to origin, 0000000..1111111"), "{text}");
    }
}

#[test]
fn a_summary_that_is_wrong_is_put_right() {
    let mut digest = Digest::new("s");
    digest.files = vec![edited_file("a.rs", 1, 5)];
    digest.effects.push(commit_effect(5, "3696270", "One"));
    let wrong = "All work is done. The changes are uncommitted.";
    assert_eq!(
        find_contradictions(wrong, &digest),
        [
            "the summary says “are uncommitted”; commit 3696270 was made at 16:20, and nothing has been edited since"
        ]
    );
    for summary in ["", "All changes are committed as 3696270.", "Commit the changes."] {
        assert_eq!(find_contradictions(summary, &digest), Vec::<String>::new(), "{summary}");
    }
    digest.files.push(edited_file("b.rs", 7, 0));
    assert_eq!(
        find_contradictions(wrong, &digest),
        Vec::<String>::new(),
        "something is not committed indeed"
    );
    digest.files.pop();
    assert_eq!(find_contradictions("It has not been pushed.", &digest), Vec::<String>::new());
    digest.effects.push(effect_use(6, EffectKind::Push, "main", "origin", "1..2"));
    assert_eq!(
        find_contradictions("It has not been pushed.", &digest),
        ["the summary says “not been pushed”; pushed main to origin, 1..2 at 16:20"]
    );
}

#[test]
fn a_pull_request_of_another_branch_is_not_this_ones() {
    let mut digest = Digest::new("s");
    digest.branch = "topic".into();
    digest.effects.push(effect_use(2, EffectKind::Push, "topic", "origin", "1..2"));
    digest.effects.push(effect_use(3, EffectKind::PullRequest, "One", "o/r", "7"));
    assert!(
        longest_forms(&digest).contains(&"Git: branch topic; pull request #7".to_owned()),
        "{:?}",
        longest_forms(&digest)
    );
    digest.branch = "other".into();
    assert!(!longest_forms(&digest).iter().any(|line| line.starts_with("Git: ") && line.contains("#7")));
}

/// `git commit -q` prints no id, and with `-F -` its command line has no subject either.
#[test]
fn a_quiet_commit_is_named_once() {
    let mut digest = Digest::new("s");
    digest.branch = "main".into();
    for (subject, head, expected) in [
        ("Commas", "", "Git: branch main; last commit by the session “Commas”"),
        (
            "Commas",
            "0858b41c3daa81b0",
            "Git: branch main; last commit by the session “Commas”; HEAD 0858b41c3d",
        ),
        ("", "", "Git: branch main; last commit by the session (id unknown), 16:20"),
    ] {
        digest.effects = vec![commit_effect(3, "", subject)];
        digest.git_on_disk = Some(GitOnDisk { commit: head.into(), ..GitOnDisk::default() });
        assert!(longest_forms(&digest).contains(&expected.to_owned()), "{:?}", longest_forms(&digest));
    }
}

#[test]
fn our_own_records_are_not_at_risk() {
    let mut digest = Digest::new("s");
    digest.branch = "main".into();
    digest.files = vec![edited_file(".agent/context/agents/tester.context.md", 2, 0)];
    assert_eq!(longest_forms(&digest), ["Git: branch main"]);
}

#[test]
fn lines_about_uncommitted_work_are_recognised_in_old_and_new_packets() {
    for (item, is_uncommitted) in [
        ("1 file edited by the session, not committed: a.py", true),
        ("3 files edited by the session, not committed since 1111111: a.py", true),
        ("2 files edited by the session, not in any commit seen here: a.py", true),
        ("1 edited file not committed: a.py", true),
        ("2 edited files, not in any commit seen here: a.py", true),
        ("1 file edited by earlier sessions, not committed: a.py", true),
        ("2 more files edited by earlier sessions, not committed", true),
        ("2 files in a stash, not in any commit: a.py", false),
        ("edited files not committed", false),
        ("1 edited file", false),
    ] {
        assert_eq!(is_uncommitted_work(item), is_uncommitted, "{item}");
    }
}

#[test]
fn a_branch_that_was_created_and_deleted_is_listed_once() {
    let branch = |record, what: &str, id: &str| effect_use(record, EffectKind::Branch, what, "", id);
    for (effects, expected) in [
        (
            vec![branch(1, "a", ""), branch(2, "deleted a", "1111111")],
            &["branch a created and since deleted, was 1111111, 16:20"][..],
        ),
        // Git printed nothing about the deletion.
        (
            vec![branch(1, "a", ""), branch(2, "deleted a", "")],
            &["branch a created and since deleted, 16:20"],
        ),
        (
            vec![branch(1, "a", ""), branch(2, "deleted a", ""), branch(3, "a", "")],
            &["branch a created, 16:20"],
        ),
        (
            vec![
                branch(1, "a", ""),
                branch(2, "b", ""),
                branch(3, "deleted a", ""),
                branch(4, "deleted b", ""),
            ],
            &["2 branches created and since deleted: a, b, 16:20"],
        ),
        (
            vec![branch(1, "new", ""), branch(2, "deleted old", "1111111"), branch(3, "deleted older", "")],
            &["2 branches deleted: old (was 1111111), older, 16:20", "branch new created, 16:20"],
        ),
        (vec![branch(1, "deleted old", "1111111")], &["branch deleted old, was 1111111, 16:20"]),
        (
            vec![
                effect_use(1, EffectKind::Tag, "v1", "", ""),
                branch(2, "v1", ""),
                effect_use(3, EffectKind::Tag, "deleted v1", "", ""),
            ],
            &["tag v1 created and since deleted, 16:20", "branch v1 created, 16:20"],
        ),
    ] {
        let mut digest = Digest::new("s");
        digest.effects = effects;
        assert_eq!(longest_forms(&digest), expected);
    }
}

#[test]
fn a_fast_forward_is_no_commit_of_its_own() {
    let mut digest = Digest::new("s");
    digest.effects = vec![
        commit_effect(1, "1111111", "One"),
        // Git printed `Updating 0000000..1111111`, and then a similar line for somebody else's branch.
        effect_use(2, EffectKind::Merge, "topic", "", "1111111"),
        effect_use(3, EffectKind::Merge, "origin/main", "", "2222222"),
    ];
    digest.git_on_disk = Some(GitOnDisk { has_remote: true, ..GitOnDisk::default() });
    let unpushed: Vec<&str> =
        digest.git_state().unpushed.iter().map(|used| used.effect.id.as_str()).collect();
    assert_eq!(unpushed, ["1111111"]);
}

#[test]
fn an_issue_that_was_created_and_changed_is_listed_once() {
    let issue = |record, what: &str, id: &str| effect_use(record, EffectKind::Issue, what, "linear", id);
    for (effects, expected) in [
        (
            vec![
                issue(1, "created: Split the reader", "R-1"),
                issue(2, "updated: The reader is long", "R-1"),
            ],
            "1 issue in linear: R-1 (created: Split the reader), 16:20",
        ),
        (
            vec![
                issue(1, "created: One", "R-1"),
                issue(2, "created: Two", "R-2"),
                issue(3, "updated: One", "R-1"),
            ],
            "2 issues in linear: R-1 (created: One), R-2 (created: Two), 16:20",
        ),
    ] {
        let mut digest = Digest::new("s");
        digest.effects = effects;
        assert_eq!(longest_forms(&digest), [expected]);
    }
}
