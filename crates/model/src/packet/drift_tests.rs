use super::{
    ClaimSubject, ClaimVerification, CommitDistance, CurrentFileState, CurrentGitState, CurrentState,
    drifted_claims, is_clean, verify_claims,
};
use crate::packet::{Packet, RecordedCheck};
use crate::time;

fn test_packet() -> Packet {
    Packet {
        created_at: "2026-11-15T19:22:00Z".into(),
        confirmed: vec!["a".into()],
        suggested: vec!["b".into(), "a".into(), "c".into(), "/etc/x".into(), "d".into()],
        head: "1111111111111111".into(),
        branch: "main".into(),
        dirty: Some(2),
        files_seen: [("a", "1"), ("b", "2"), ("c", "gone"), ("d", "4")]
            .map(|(path, mark)| (path.into(), mark.into()))
            .to_vec(),
        checks_seen: vec![RecordedCheck {
            command: "make test".into(),
            ok: true,
            at: "2026-11-15T19:00:00Z".into(),
            ..RecordedCheck::default()
        }],
        ..Packet::default()
    }
}

fn existing_file(fingerprint: &str) -> CurrentFileState {
    CurrentFileState::Here { fingerprint: Some(fingerprint.into()) }
}

fn check_claims(
    files: &[CurrentFileState],
    git: Option<CurrentGitState>,
    expected: &[(ClaimSubject, ClaimVerification, &str)],
) {
    let now = time::parse_time("2026-11-15T21:22:00Z").unwrap();
    let claims = verify_claims(
        &test_packet(),
        &CurrentState {
            project: None,
            git,
            files,
            has_session_edited_since: false,
            file_times: &[],
            is_worktree_gone: false,
        },
        now,
    );
    let found: Vec<(ClaimSubject, ClaimVerification, &str)> =
        claims.iter().map(|c| (c.subject_kind, c.state, c.note.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn claims_are_verified_if_nothing_changed() {
    use ClaimSubject::{Age, Branch, Check, Dirty, File, Head};
    use ClaimVerification::{Unverified, Verified};
    let git = CurrentGitState {
        head: "1111111111111111".into(),
        branch: "main".into(),
        uncommitted_files: Some(vec!["src/a.rs".into(), "src/b.rs".into()]),
        fingerprint_of_changes: None,
        distance_to_packet_commit: None,
    };
    check_claims(
        &[
            existing_file("1"),
            existing_file("2"),
            CurrentFileState::Gone,
            CurrentFileState::Outside,
            existing_file("4"),
        ],
        Some(git),
        &[
            (Head, Verified, "HEAD is where it was"),
            (Branch, Verified, "still checked out"),
            (Dirty, Unverified, "2 files uncommitted then and now: src/{a.rs,b.rs}"),
            (File, Verified, "unchanged"),
            (File, Verified, "unchanged"),
            (File, Verified, "still gone"),
            (File, Unverified, "outside the project, not opened"),
            (File, Verified, "unchanged"),
            (Check, Verified, "passed at 2026-11-15T19:00:00Z; nothing has changed since"),
            (Age, Verified, "written 2 h ago"),
        ],
    );
}

#[test]
fn claims_are_refuted_if_everything_changed() {
    use ClaimSubject::{Age, Branch, Check, Dirty, File, Head};
    use ClaimVerification::{Changed, Unverified, Verified};
    let way = Some(CommitDistance { ahead: 3, behind: 1 });
    let git = CurrentGitState {
        head: "2222222222222222".into(),
        branch: String::new(),
        uncommitted_files: Some(Vec::new()),
        fingerprint_of_changes: None,
        distance_to_packet_commit: way,
    };
    check_claims(
        &[
            existing_file("9"),
            CurrentFileState::Gone,
            existing_file("3"),
            CurrentFileState::Outside,
            CurrentFileState::Here { fingerprint: None },
        ],
        Some(git),
        &[
            (Head, Changed, "HEAD is 2222222222, diverged: 3 here, 1 there"),
            (Branch, Changed, "no branch is checked out now"),
            (Dirty, Changed, "2 files uncommitted then, 0 now"),
            (File, Changed, "its content differs"),
            (File, Changed, "gone"),
            (File, Changed, "exists now; it did not exist when the packet was written"),
            (File, Unverified, "outside the project, not opened"),
            (File, Unverified, "exists; its earlier content was not recorded"),
            (Check, Unverified, "passed at 2026-11-15T19:00:00Z, before later changes; run it again"),
            (Age, Verified, "written 2 h ago"),
        ],
    );
}

#[test]
fn a_packet_by_hand_claims_little() {
    let packet = Packet { suggested: vec!["a".into(), "b".into()], ..Packet::default() };
    let files = [existing_file("1"), CurrentFileState::Gone];
    let claims = verify_claims(
        &packet,
        &CurrentState {
            project: Some("here"),
            git: None,
            files: &files,
            has_session_edited_since: false,
            file_times: &[],
            is_worktree_gone: false,
        },
        time::parse_time("2026-11-15").unwrap(),
    );
    let found: Vec<(ClaimVerification, &str)> = claims.iter().map(|c| (c.state, c.note.as_str())).collect();
    assert_eq!(
        found,
        [
            (ClaimVerification::Unverified, "exists; its earlier content was not recorded"),
            (ClaimVerification::Unverified, "not here; the packet does not record whether it existed")
        ]
    );
    assert_eq!(drifted_claims(&claims), [] as [&super::Claim; 0]);
}

#[test]
fn a_packet_of_another_project_says_so() {
    let of = |project: &str| {
        let packet = Packet { project_id: "there".into(), ..Packet::default() };
        let now = CurrentState {
            project: Some(project),
            git: None,
            files: &[],
            has_session_edited_since: false,
            file_times: &[],
            is_worktree_gone: false,
        };
        let claims = verify_claims(&packet, &now, time::parse_time("2026-11-15").unwrap());
        claims.iter().map(|c| (c.subject_kind, c.state)).collect::<Vec<_>>()
    };
    assert_eq!(of("here"), [(ClaimSubject::Project, ClaimVerification::Unverified)]);
    assert_eq!(of("there"), []);
}

#[test]
fn a_run_before_the_last_edit_proves_nothing() {
    let check = |unknown: bool, edited_since, edited, expected: (ClaimVerification, &str)| {
        let seen =
            RecordedCheck { command: "make".into(), ok: !unknown, unknown, edited_since, at: "then".into() };
        let packet = Packet { checks_seen: vec![seen], ..Packet::default() };
        let now = CurrentState {
            project: None,
            git: None,
            files: &[],
            has_session_edited_since: edited,
            file_times: &[],
            is_worktree_gone: false,
        };
        let claims = verify_claims(&packet, &now, time::parse_time("2026-11-15").unwrap());
        assert_eq!((claims[0].state, claims[0].note.as_str()), expected);
    };
    use ClaimVerification::{Unverified, Verified};
    check(false, false, false, (Verified, "passed at then; nothing has changed since"));
    check(false, true, false, (Unverified, "passed at then, before the last edits; run it again"));
    check(false, false, true, (Unverified, "passed at then, before later changes; run it again"));
    check(true, false, false, (Unverified, "ran at then; its result was not seen"));
}

#[test]
fn a_commit_of_the_tested_files_leaves_a_run_valid() {
    use ClaimVerification::{Unverified, Verified};
    let note = |seen: &str, found: Option<&str>, head: &str, fingerprint_of_a: &str| {
        let packet =
            Packet { fingerprint_of_changes: seen.into(), suggested: vec!["a".into()], ..test_packet() };
        let git = CurrentGitState {
            head: head.into(),
            branch: "main".into(),
            uncommitted_files: Some(Vec::new()),
            fingerprint_of_changes: found.map(str::to_owned),
            distance_to_packet_commit: Some(CommitDistance { ahead: 1, behind: 0 }),
        };
        let files = [existing_file(fingerprint_of_a)];
        let now = CurrentState { git: Some(git), files: &files, ..CurrentState::default() };
        let claims = verify_claims(&packet, &now, time::parse_time("2026-11-15T21:22:00Z").unwrap());
        let check = claims.into_iter().find(|claim| claim.subject_kind == ClaimSubject::Check).unwrap();
        (check.state, check.note.trim_start_matches("passed at 2026-11-15T19:00:00Z").to_owned())
    };
    let (head, next) = ("1111111111111111", "2222222222222222");
    let same = (Verified, "; the files have not changed since".to_owned());
    let moved = (Unverified, ", before HEAD moved; run it again".to_owned());
    let changed = (Unverified, ", before later changes; run it again".to_owned());
    assert_eq!(note("2-a", Some("2-a"), next, "1"), same);
    assert_eq!(note("2-a", Some("3-b"), next, "1"), moved);
    assert_eq!(note("2-a", None, next, "1"), moved);
    // Packets written before fingerprints were recorded have none.
    assert_eq!(note("", None, next, "1"), moved);
    assert_eq!(note("2-a", Some("2-a"), next, "9"), changed, "a file that git ignores");
    assert_eq!(note("2-a", Some("0-c"), head, "1"), changed, "the files were changed back");
}

#[test]
fn a_checkout_that_is_clean_now_is_known_to_be_clean() {
    let dirty = |dirty: Option<i64>, uncommitted: &[&str]| {
        let packet = Packet { dirty, ..test_packet() };
        let git = CurrentGitState {
            uncommitted_files: Some(uncommitted.iter().map(|file| (*file).to_owned()).collect()),
            ..CurrentGitState::default()
        };
        let now = CurrentState { git: Some(git), ..CurrentState::default() };
        is_clean(&verify_claims(&packet, &now, time::parse_time("2026-11-15").unwrap()))
    };
    assert!(dirty(Some(0), &[]) && dirty(Some(2), &[]) && dirty(None, &[]));
    assert!(!dirty(Some(0), &["a"]) && !dirty(None, &["a"]));
}

#[test]
fn a_file_of_unknown_content_may_have_changed() {
    let seen =
        RecordedCheck { command: "make".into(), ok: false, at: "then".into(), ..RecordedCheck::default() };
    let note = |files_seen: &[(&str, &str)], file: CurrentFileState| {
        let packet = Packet {
            suggested: vec!["a".into()],
            checks_seen: vec![seen.clone()],
            files_seen: files_seen.iter().map(|(path, mark)| ((*path).into(), (*mark).into())).collect(),
            ..Packet::default()
        };
        let now = CurrentState { files: &[file], ..CurrentState::default() };
        let claims = verify_claims(&packet, &now, time::parse_time("2026-11-15").unwrap());
        claims.iter().find(|claim| claim.subject_kind == ClaimSubject::Check).unwrap().note.clone()
    };
    let unknown = "failed at then; it is unknown whether the files have changed since; run it again";
    assert_eq!(note(&[], existing_file("1")), unknown);
    assert_eq!(note(&[("a", "1")], CurrentFileState::Here { fingerprint: None }), unknown);
    assert_eq!(note(&[("a", "1")], existing_file("1")), "failed at then; nothing has changed since");
    assert_eq!(note(&[("a", "1")], existing_file("2")), "failed at then, before later changes; run it again");
}

#[test]
fn uncommitted_files_are_verified_if_each_of_them_is_unchanged() {
    use ClaimVerification::{Changed, Unverified, Verified};
    let state = |uncommitted: &[&str], head: &str, fingerprint: &str| {
        let git = CurrentGitState {
            head: head.into(),
            branch: "main".into(),
            uncommitted_files: Some(uncommitted.iter().map(|file| (*file).to_owned()).collect()),
            fingerprint_of_changes: None,
            distance_to_packet_commit: None,
        };
        let files = [existing_file("1"), existing_file(fingerprint), CurrentFileState::Gone];
        let now = CurrentState { git: Some(git), files: &files, ..CurrentState::default() };
        let at = time::parse_time("2026-11-15T21:22:00Z").unwrap();
        let claims = verify_claims(&test_packet(), &now, at);
        claims.iter().find(|claim| claim.subject_kind == ClaimSubject::Dirty).unwrap().state
    };
    let head = "1111111111111111";
    assert_eq!(state(&["a", "b"], head, "2"), Verified);
    assert_eq!(state(&["a", "b"], head, "9"), Unverified);
    assert_eq!(state(&["a", "other"], head, "2"), Unverified);
    assert_eq!(state(&["a", "b"], "2222", "2"), Unverified);
    assert_eq!(state(&["a"], head, "2"), Changed);
}

#[test]
fn a_file_on_another_branch_is_not_gone() {
    let packet = Packet { branch: "round".into(), ..test_packet() };
    let git = |branch: &str| CurrentGitState { branch: branch.into(), ..CurrentGitState::default() };
    for (branch_now, has_branch, expected) in [
        ("main", true, "on branch round, not on main"),
        ("", true, "on branch round, not here"),
        ("main", false, "in commit 1111111111, not on main"),
    ] {
        let file = CurrentFileState::OnOtherBranch { has_branch };
        let files: Vec<CurrentFileState> = (0..5).map(|_| file.clone()).collect();
        let now = CurrentState { git: Some(git(branch_now)), files: &files, ..CurrentState::default() };
        let claims = verify_claims(&packet, &now, time::parse_time("2026-11-15T19:30:00Z").unwrap());
        let note = |path: &str| {
            let claim = claims.iter().find(|claim| claim.subject == path).unwrap();
            (claim.state, claim.note.clone())
        };
        assert_eq!(note("a"), (ClaimVerification::Unverified, expected.to_owned()));
        assert_eq!(note("c"), (ClaimVerification::Verified, "still gone".to_owned()), "it was gone then");
    }
}
