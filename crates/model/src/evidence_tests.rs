use serde_json::json;

use super::*;
use crate::digest::NewestRunOfCheck;
use crate::plan::{Plan, Task, TaskStatus};

fn run_entry(command: &str, verdict: EvidenceVerdict) -> EvidenceEntry {
    EvidenceEntry {
        entry_type: "test".to_owned(),
        kind: EvidenceOrigin::Run.name().to_owned(),
        verdict: verdict.name().to_owned(),
        command: Some(command.to_owned()),
        timestamp: "2026-11-15T19:22:00Z".to_owned(),
        ..EvidenceEntry::default()
    }
}

fn with_tree(entry: EvidenceEntry) -> EvidenceEntry {
    EvidenceEntry { tree: "fresh".to_owned(), ..entry }
}

fn claimed_entry(entry_type: &str, verdict: EvidenceVerdict) -> EvidenceEntry {
    EvidenceEntry {
        entry_type: entry_type.to_owned(),
        kind: EvidenceOrigin::Claimed.name().to_owned(),
        verdict: verdict.name().to_owned(),
        ..EvidenceEntry::default()
    }
}

/// Returns an entry whose file listing is lost.
fn with_unknown_files(entry: EvidenceEntry) -> EvidenceEntry {
    EvidenceEntry { tree: "forgotten".to_owned(), ..entry }
}

/// Judges entries. An entry without a tree is stale, and any other entry is fresh unless its file listing is lost.
fn judge_proof(entries: &[EvidenceEntry]) -> ProofState {
    let freshness = |entry: &EvidenceEntry| match entry.tree.as_str() {
        "" => Freshness::Stale("a.rs changed".to_owned()),
        "forgotten" => Freshness::Unknown("the evidence's list of files is no longer stored".to_owned()),
        _ => Freshness::Fresh,
    };
    judge_evidence(entries, freshness).proof
}

#[test]
fn one_judgement_says_what_evidence_comes_to() {
    use EvidenceVerdict::{Approved, Fail, Pass, Rejected, Warn};
    let test = |verdict| run_entry("cargo test", verdict);
    let narrow = |verdict| run_entry("cargo test lexer::", verdict);
    let inside = |folder: &str, command, verdict| EvidenceEntry {
        folder: folder.to_owned(),
        ..run_entry(command, verdict)
    };
    let imported = |entry| EvidenceEntry { kind: EvidenceOrigin::Imported.name().to_owned(), ..entry };
    let rows: Vec<(&str, Vec<EvidenceEntry>, ProofState)> = vec![
        ("nothing", vec![], ProofState::None),
        ("a fresh pass", vec![with_tree(test(Pass))], ProofState::Passed),
        ("a stale pass", vec![test(Pass)], ProofState::Stale),
        ("a fresh failure", vec![with_tree(test(Fail))], ProofState::Failed),
        ("a stale failure", vec![test(Fail)], ProofState::Failed),
        ("failed, then passed", vec![with_tree(test(Fail)), with_tree(test(Pass))], ProofState::Passed),
        ("passed, then failed", vec![with_tree(test(Pass)), with_tree(test(Fail))], ProofState::Failed),
        (
            "another command passes",
            vec![with_tree(test(Fail)), with_tree(run_entry("true", Pass))],
            ProofState::Failed,
        ),
        ("a wider one passes", vec![with_tree(narrow(Fail)), with_tree(test(Pass))], ProofState::Passed),
        ("a narrower one passes", vec![with_tree(test(Fail)), with_tree(narrow(Pass))], ProofState::Failed),
        (
            "the files changed since it failed",
            vec![test(Fail), with_tree(run_entry("./check", Pass))],
            ProofState::Passed,
        ),
        (
            "one fresh, one stale",
            vec![with_tree(test(Pass)), run_entry("cargo clippy", Pass)],
            ProofState::Passed,
        ),
        ("stale, and no test ran since", vec![test(Pass), with_tree(test(Warn))], ProofState::Stale),
        (
            "only a claim",
            vec![claimed_entry("test", Pass), claimed_entry("review", Approved)],
            ProofState::None,
        ),
        (
            "rejected since",
            vec![with_tree(test(Pass)), claimed_entry("review", Rejected)],
            ProofState::Failed,
        ),
        (
            "rejected, then approved",
            vec![with_tree(test(Pass)), claimed_entry("review", Rejected), claimed_entry("review", Approved)],
            ProofState::Passed,
        ),
        (
            "a claim to fail in a note",
            vec![with_tree(test(Pass)), claimed_entry("note", Fail)],
            ProofState::Passed,
        ),
        ("its files are forgotten", vec![with_unknown_files(test(Pass))], ProofState::Stale),
        (
            "failed, its files are forgotten, another passes",
            vec![with_unknown_files(test(Fail)), with_tree(run_entry("./check", Pass))],
            ProofState::Failed,
        ),
        (
            "failed elsewhere",
            vec![with_tree(inside("a", "./check", Fail)), with_tree(run_entry("./check", Pass))],
            ProofState::Failed,
        ),
        (
            "failed, then passed, in one folder",
            vec![with_tree(inside("a", "./check", Fail)), with_tree(inside("a", "./check", Pass))],
            ProofState::Passed,
        ),
        (
            "rejected, then approved, in other letters",
            vec![with_tree(test(Pass)), claimed_entry("review", Rejected), claimed_entry("Review", Approved)],
            ProofState::Passed,
        ),
        (
            "rejected, then approved by another tool's file",
            vec![
                with_tree(test(Pass)),
                claimed_entry("review", Rejected),
                imported(claimed_entry("review", Approved)),
            ],
            ProofState::Failed,
        ),
        (
            "rejected by another tool's file, then approved",
            vec![
                with_tree(test(Pass)),
                imported(claimed_entry("review", Rejected)),
                claimed_entry("review", Approved),
            ],
            ProofState::Passed,
        ),
        (
            "imported",
            vec![EvidenceEntry { kind: "imported".to_owned(), ..with_tree(test(Pass)) }],
            ProofState::None,
        ),
    ];
    for (about, entries, expected) in rows {
        assert_eq!(judge_proof(&entries), expected, "{about}");
    }
}

#[test]
fn stale_is_said_wherever_it_is_told() {
    let entries =
        [EvidenceEntry { tests_passed: Some(12), ..run_entry("cargo test", EvidenceVerdict::Pass) }];
    let stale = judge_evidence(&entries, |_| Freshness::Stale("src/a.rs changed".to_owned()));
    assert_eq!(stale.state_word(), "stale");
    assert_eq!(stale.describe(), "stale (src/a.rs changed): cargo test (12 passed), 2026-11-15T19:22:00Z");
    assert!(
        stale
            .describe_for_model()
            .unwrap()
            .starts_with("stale, src/a.rs changed since it passed: cargo test")
    );
    let failed = [run_entry("cargo test", EvidenceVerdict::Fail)];
    let failed = judge_evidence(&failed, |_| Freshness::Stale("src/a.rs changed".to_owned()));
    assert!(
        failed.describe().contains("stale") && failed.describe_for_model().unwrap().contains("changed since")
    );
}

#[test]
fn a_bundle_keeps_what_it_does_not_know() {
    let text = json!({
        "schema_version": "1.3.0", "task_id": "1.1", "swarm": "mega",
        "entries": [{"task_id": "1.1", "type": "sast", "timestamp": "t", "agent": "a", "verdict": "pass",
            "summary": "s", "findings": [{"rule": 1}], "tests_passed": null}],
        "created_at": "t", "updated_at": "t"
    });
    let bundle = EvidenceBundle::parse(text.to_string().as_bytes()).unwrap();
    let again: Value = serde_json::from_slice(&bundle.to_bytes()).unwrap();
    assert_eq!(again["entries"][0]["findings"], json!([{"rule": 1}]));
    assert_eq!((&again["swarm"], &again["schema_version"]), (&json!("mega"), &json!("1.3.0")));
    assert_eq!(EvidenceBundle::parse(&bundle.to_bytes()).unwrap(), bundle);
    assert!(matches!(
        EvidenceBundle::parse(b"{\n\"entries\": 3}"),
        Err(PlanUnreadableReason::Damaged { line: Some(2), .. })
    ));
    assert!(matches!(
        EvidenceBundle::parse(br#"{"schema_version": "2.0.0"}"#),
        Err(PlanUnreadableReason::Foreign { .. })
    ));
}

#[test]
fn the_same_entry_is_taken_once_and_the_oldest_are_archived() {
    let mut bundle = EvidenceBundle::new("1.1", "t");
    for number in 0..150 {
        assert!(bundle.add_entry(EvidenceEntry { id: number.to_string(), ..EvidenceEntry::default() }));
    }
    assert!(!bundle.add_entry(EvidenceEntry { id: "7".to_owned(), ..EvidenceEntry::default() }));
    let TrimmedBundle { bundle, archived } = trim_to_count(bundle, MAX_ENTRIES_PER_BUNDLE);
    assert_eq!((bundle.entries.len(), archived.len()), (100, 50));
    assert_eq!((archived[0].id.as_str(), bundle.entries[0].id.as_str()), ("0", "50"));
    let mut large = EvidenceBundle::new("1.1", "t");
    for _ in 0..10 {
        large.add_entry(EvidenceEntry { summary: "x".repeat(100 * 1024), ..EvidenceEntry::default() });
    }
    let TrimmedBundle { bundle, archived } = archive_entries_over_limits(large);
    assert!(
        bundle.to_bytes().len() <= MAX_BUNDLE_BYTES && bundle.entries.len() == 4,
        "{}",
        bundle.entries.len()
    );
    assert_eq!(archived.len(), 6);
}

/// Archiving entries never makes a task pass.
#[test]
fn an_open_failure_stays_in_the_bundle() {
    use EvidenceVerdict::{Fail, Pass, Rejected};
    let note = || EvidenceEntry { entry_type: "note".to_owned(), ..EvidenceEntry::default() };
    let of = |entries: Vec<EvidenceEntry>| EvidenceBundle { entries, ..EvidenceBundle::new("1.1", "t") };
    let rows: Vec<(&str, Vec<EvidenceEntry>, usize, usize)> = vec![
        (
            "failed, then another passed",
            vec![with_tree(run_entry("a", Fail)), with_tree(run_entry("b", Pass))],
            1,
            1,
        ),
        (
            "failed, then passed",
            vec![with_tree(run_entry("a", Fail)), with_tree(run_entry("a", Pass)), note()],
            1,
            1,
        ),
        (
            "rejected, then passed",
            vec![claimed_entry("review", Rejected), with_tree(run_entry("b", Pass))],
            0,
            1,
        ),
        ("notes leave before what passed", vec![with_tree(run_entry("b", Pass)), note(), note()], 1, 1),
        (
            "two open failures",
            vec![with_tree(run_entry("a", Fail)), with_tree(run_entry("b", Fail)), note()],
            1,
            2,
        ),
    ];
    for (about, entries, most, kept) in rows {
        let before = judge_proof(&entries);
        let TrimmedBundle { bundle, archived } = trim_to_count(of(entries.clone()), most);
        assert_eq!((bundle.entries.len(), archived.len()), (kept, entries.len() - kept), "{about}");
        if most > 0 || before == ProofState::Failed {
            assert_eq!(judge_proof(&bundle.entries), before, "{about}");
        }
    }
    let many = (0..102).map(|number| with_tree(run_entry(&number.to_string(), Fail))).collect();
    let TrimmedBundle { bundle, archived } = trim_to_count(of(many), 10);
    assert_eq!((bundle.entries.len(), archived.len()), (MAX_ENTRIES_PER_BUNDLE, 2));
}

#[test]
fn an_entry_too_large_for_a_bundle_takes_no_other_with_it() {
    let of = |id: &str, size: usize| EvidenceEntry {
        id: id.to_owned(),
        summary: "x".repeat(size),
        ..EvidenceEntry::default()
    };
    let entries = vec![of("small", 10), of("huge", MAX_BUNDLE_BYTES), of("last", 10)];
    let TrimmedBundle { bundle, archived } =
        archive_entries_over_limits(EvidenceBundle { entries, ..EvidenceBundle::new("1.1", "t") });
    let ids = |entries: &[EvidenceEntry]| entries.iter().map(|entry| entry.id.clone()).collect::<Vec<_>>();
    assert_eq!(
        (ids(&bundle.entries), ids(&archived)),
        (vec!["small".into(), "last".into()], vec!["huge".into()])
    );
    let large = vec![of("a", 400 * 1024), of("b", 90 * 1024), of("c", 90 * 1024)];
    let large = EvidenceBundle { entries: large, ..EvidenceBundle::default() };
    assert_eq!(max_old_entries_beside_new_ones(&large, &[]), Some(2));
    assert_eq!(max_old_entries_beside_new_ones(&large, &[of("new", 400 * 1024)]), Some(1));
    assert_eq!(max_old_entries_beside_new_ones(&large, &[of("new", MAX_BUNDLE_BYTES)]), None);
}

/// Entries are ordered by their time, because observed runs and imports are recorded late.
#[test]
fn entries_stand_by_their_time() {
    let at = |id: &str, time: &str| EvidenceEntry {
        id: id.to_owned(),
        timestamp: time.to_owned(),
        ..EvidenceEntry::default()
    };
    let mut bundle = EvidenceBundle::new("1.1", "t");
    for (id, time) in [
        ("b", "2026-11-15T19:22:00Z"),
        ("d", "2026-11-15T19:30:00Z"),
        ("a", "2026-11-15T18:22:00.5Z"),
        ("c", "2026-11-15T20:22:00+01:00"),
        ("unknown", "yesterday"),
    ] {
        assert!(bundle.add_entry(at(id, time)));
    }
    let ids: Vec<&str> = bundle.entries.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids, ["unknown", "a", "b", "c", "d"]);
    assert_eq!(bundle.updated_at, "2026-11-15T19:30:00Z");
}

#[test]
fn the_files_of_what_counts_stay_known() {
    use EvidenceVerdict::{Fail, Pass};
    let tree = |tree: &str, entry| EvidenceEntry { tree: tree.to_owned(), ..entry };
    let mut entries = vec![tree("failed", run_entry("a", Fail)), tree("old", run_entry("b", Pass))];
    entries.extend((0..9).map(|number| tree(&format!("n{number}"), run_entry("b", Pass))));
    assert_eq!(tree_hashes_in_effect(&entries, 4), ["n8", "failed"]);
    assert_eq!(tree_hashes_in_effect(&entries, 1), ["n8"]);
}

#[test]
fn a_listing_reads_back_and_a_torn_one_does_not() {
    let mut listing = FileListing::default();
    for (path, changed) in [("a b.rs", 3), ("x\ny", 9), ("z", 1)] {
        let hash = if path == "z" { String::new() } else { crate::plan::sha256_hex(path.as_bytes()) };
        listing.files.insert(path.to_owned(), ListedFileState { size: 7, modified_ns: changed, hash });
    }
    assert_eq!(FileListing::parse(&listing.to_bytes()), Ok(listing.clone()));
    assert!(String::from_utf8(listing.to_bytes()).unwrap().lines().next().unwrap().ends_with("\"x\\ny\""));
    let torn = &listing.to_bytes()[..listing.to_bytes().len() - 4];
    assert_eq!(FileListing::parse(torn), Err(3));
    let mut touched = listing.clone();
    touched.files.get_mut("a b.rs").unwrap().modified_ns = 99;
    assert_eq!(touched.tree_hash(), listing.tree_hash(), "the content is the same");
    touched.files.get_mut("z").unwrap().modified_ns = 99;
    assert_ne!(touched.tree_hash(), listing.tree_hash(), "nobody read that one");
}

fn check_use(run: &str, ended: crate::run::RunResult, result: &str) -> NewestRunOfCheck {
    let value = json!({"run": run, "sort": "test", "ended": ended, "result": result, "at": "2026-11-15T19:22:00Z",
        "last": 3, "runs": 1});
    serde_json::from_value(value).unwrap()
}

#[test]
fn a_run_that_was_seen_becomes_an_entry() {
    use crate::run::RunResult;
    let rows = [
        (RunResult::Passed, "test result: ok. 5 passed; 0 failed; 0 ignored", Some(("pass", Some(5)))),
        (RunResult::Passed, "test result: ok. 0 passed; 0 failed; 0 ignored", Some(("warn", Some(0)))),
        (RunResult::Passed, "", Some(("pass", None))),
        (RunResult::Failed, "1 failed, 2 passed in 1s", Some(("fail", Some(2)))),
        (RunResult::Unknown, "", None),
    ];
    for (ended, result, expected) in rows {
        let entry = entry_of_run(&check_use("cargo test", ended, result), "1.1", "s1", "claude-code");
        let seen = entry.as_ref().map(|entry| (entry.verdict.as_str(), entry.tests_passed));
        assert_eq!(seen, expected, "{result}");
        assert!(entry.is_none_or(|entry| entry.kind() == EvidenceOrigin::Observed && entry.task_id == "1.1"));
    }
}

#[test]
fn a_run_belongs_to_the_task_that_its_session_works_on() {
    let task = |id: &str, status, by: Option<&str>, started: &str| Task {
        id: id.to_owned(),
        status,
        claimed_by: by.map(str::to_owned),
        started_at: Some(started.to_owned()),
        ..Task::default()
    };
    let (at, now) = ("2026-11-15T19:22:00Z", "2026-11-15T19:30:00Z");
    let earlier = "2026-11-15T19:00:00Z";
    let of = |tasks: Vec<Task>| {
        let mut plan = Plan::new("");
        plan.phases.push(crate::plan::Phase { tasks, ..Default::default() });
        task_of_run(&plan, "s1", at, now).map(|task| task.id.clone())
    };
    use TaskStatus::{Completed, InProgress, Pending};
    let rows = [
        (vec![task("1", InProgress, Some("s1"), earlier)], Some("1")),
        (vec![task("1", InProgress, Some("s2"), earlier)], None),
        (
            vec![task("1", InProgress, Some("user"), earlier), task("2", InProgress, Some("s1"), earlier)],
            Some("2"),
        ),
        (vec![task("1", InProgress, Some("user"), earlier)], Some("1")),
        (vec![task("1", Pending, None, earlier)], None),
        (vec![task("1", InProgress, Some("s1"), "2026-11-15T19:25:00Z")], None),
        (vec![task("1", InProgress, Some("s1"), now)], Some("1")),
        (
            vec![Task { done_at: Some(now.to_owned()), ..task("1", Completed, Some("s1"), earlier) }],
            Some("1"),
        ),
        (vec![Task { done_at: Some(earlier.to_owned()), ..task("1", Completed, Some("s1"), earlier) }], None),
    ];
    for (number, (tasks, expected)) in rows.into_iter().enumerate() {
        assert_eq!(of(tasks).as_deref(), expected, "row {number}");
    }
}

#[test]
fn a_patch_is_counted() {
    let patch = "diff --git a/src/a.rs b/src/a.rs\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,3 +1,3 @@\n x\n--- not a name\n+++ neither\n y\n\
                 --- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n";
    let stats = patch_stats(patch);
    assert_eq!(
        stats,
        PatchStats { files: vec!["src/a.rs".to_owned(), "old".to_owned()], additions: 1, deletions: 2 }
    );
    assert_eq!(patch_stats("hello"), PatchStats::default());
}

#[test]
fn evidence_of_another_tool_is_read_as_it_is_laid_out() {
    let read = |path: &str, value: Value| match read_foreign_evidence_file(path, value.to_string().as_bytes())
    {
        Ok(ForeignEvidence::Evidence { task, entries }) => (task, entries),
        other => panic!("{path}: {other:?}"),
    };
    let gates = json!({"taskId": "2.1", "required_gates": ["reviewer"], "gates": {
        "reviewer": {"sessionId": "s", "timestamp": "2026-04-14T07:01:02Z", "agent": "reviewer"},
        "test_engineer": {"sessionId": "s", "timestamp": "2026-04-14T07:13:16Z", "agent": "test_engineer"}}});
    let (task, entries) = read("2.1.json", gates.clone());
    assert_eq!((task.as_str(), entries.len()), ("2.1", 2));
    // A gate shows that an agent ran, but not what it found, so gates are imported as notes.
    assert_eq!((entries[0].entry_type.as_str(), entries[1].entry_type.as_str()), ("note", "note"));
    assert!(entries.iter().all(|entry| entry.is_imported_gate() && entry.verdict() == EvidenceVerdict::Info));
    let (task, copied) = read("2.1 2.json", gates);
    assert_eq!((task.as_str(), &copied[0].id), ("2.1", &entries[0].id), "a copy is the same evidence");

    let bundle = json!({"schema_version": "1.0.0", "task_id": "retro-1", "entries": [
        {"task_id": "retro-1", "type": "retrospective", "timestamp": "t", "agent": "architect", "verdict": "pass",
         "summary": "done", "lessons_learned": ["x"], "kind": "run", "tree": "0"},
        {"type": "test", "tests_passed": "five", "summary": "odd"}]});
    let (task, entries) = read("retro-1/evidence.json", bundle);
    assert_eq!((task.as_str(), entries.len()), ("retro-1", 2));
    assert_eq!(entries[0].rest["lessons_learned"], json!(["x"]));
    assert!(!entries[0].is_seen_by_thru(), "what a file says of itself is not what thru saw");
    assert_eq!(entries[1].metadata["original"]["tests_passed"], json!("five"));
    assert_eq!(entries[1].verdict(), EvidenceVerdict::Info);

    let phase = json!({"entries": [{"type": "drift-verification", "verdict": "approved", "summary": "s"}]});
    assert_eq!(read("1/drift-verifier.json", phase).0, "1");
    let (task, entries) = read("2.3-b7-screening-decision.json", json!({"rationale": "too weak", "n": 3}));
    assert_eq!((task.as_str(), entries[0].summary.as_str()), ("2.3", "2.3-b7-screening-decision: too weak"));
    assert_eq!(entries[0].metadata["original"]["n"], json!(3));
    for path in ["a b/../c.json", "é.json", &"x".repeat(300), ".json", "-x.json"] {
        let (task, _) = read(path, json!({"taskId": "../../etc", "entries": []}));
        assert!(crate::id::Id::new(&task).is_ok(), "{path}: {task}");
    }
    assert!(matches!(
        read_foreign_evidence_file("agent-tools-init-1.json", b"{}"),
        Ok(ForeignEvidence::NotEvidence(_))
    ));
    assert!(
        read_foreign_evidence_file("1.json", b"[1]").is_err()
            && read_foreign_evidence_file("1.json", b"{").is_err()
    );
}
