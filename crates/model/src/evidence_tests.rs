use serde_json::json;

use super::*;
use crate::digest::CheckUse;
use crate::plan::{Plan, Task, TaskStatus};

fn run_of(command: &str, verdict: Verdict) -> Entry {
    Entry {
        entry_type: "test".to_owned(),
        kind: Kind::Run.name().to_owned(),
        verdict: verdict.name().to_owned(),
        command: Some(command.to_owned()),
        timestamp: "2026-11-15T19:22:00Z".to_owned(),
        ..Entry::default()
    }
}

fn fresh(entry: Entry) -> Entry {
    Entry { tree: "fresh".to_owned(), ..entry }
}

fn claim(entry_type: &str, verdict: Verdict) -> Entry {
    Entry {
        entry_type: entry_type.to_owned(),
        kind: Kind::Claimed.name().to_owned(),
        verdict: verdict.name().to_owned(),
        ..Entry::default()
    }
}

/// Makes an entry whose files are no longer known.
fn forgotten(entry: Entry) -> Entry {
    Entry { tree: "forgotten".to_owned(), ..entry }
}

/// Judges entries; those with a tree are fresh.
fn proof(entries: &[Entry]) -> Proof {
    let freshness = |entry: &Entry| match entry.tree.as_str() {
        "" => Freshness::Stale("a.rs changed".to_owned()),
        "forgotten" => Freshness::Unknown("the list of its files is no longer stored".to_owned()),
        _ => Freshness::Fresh,
    };
    standing(entries, freshness).proof
}

#[test]
fn one_judgement_says_what_evidence_comes_to() {
    use Verdict::{Approved, Fail, Pass, Rejected, Warn};
    let test = |verdict| run_of("cargo test", verdict);
    let narrow = |verdict| run_of("cargo test lexer::", verdict);
    let inside =
        |folder: &str, command, verdict| Entry { folder: folder.to_owned(), ..run_of(command, verdict) };
    let imported = |entry| Entry { kind: Kind::Imported.name().to_owned(), ..entry };
    let rows: Vec<(&str, Vec<Entry>, Proof)> = vec![
        ("nothing", vec![], Proof::None),
        ("a fresh pass", vec![fresh(test(Pass))], Proof::Passed),
        ("a stale pass", vec![test(Pass)], Proof::Stale),
        ("a fresh failure", vec![fresh(test(Fail))], Proof::Failed),
        ("a stale failure", vec![test(Fail)], Proof::Failed),
        ("failed, then passed", vec![fresh(test(Fail)), fresh(test(Pass))], Proof::Passed),
        ("passed, then failed", vec![fresh(test(Pass)), fresh(test(Fail))], Proof::Failed),
        ("another command passes", vec![fresh(test(Fail)), fresh(run_of("true", Pass))], Proof::Failed),
        ("a wider one passes", vec![fresh(narrow(Fail)), fresh(test(Pass))], Proof::Passed),
        ("a narrower one passes", vec![fresh(test(Fail)), fresh(narrow(Pass))], Proof::Failed),
        (
            "the files changed since it failed",
            vec![test(Fail), fresh(run_of("./check", Pass))],
            Proof::Passed,
        ),
        ("one fresh, one stale", vec![fresh(test(Pass)), run_of("cargo clippy", Pass)], Proof::Passed),
        ("stale, and no test ran since", vec![test(Pass), fresh(test(Warn))], Proof::Stale),
        ("only a claim", vec![claim("test", Pass), claim("review", Approved)], Proof::None),
        ("rejected since", vec![fresh(test(Pass)), claim("review", Rejected)], Proof::Failed),
        (
            "rejected, then approved",
            vec![fresh(test(Pass)), claim("review", Rejected), claim("review", Approved)],
            Proof::Passed,
        ),
        ("a claim to fail in a note", vec![fresh(test(Pass)), claim("note", Fail)], Proof::Passed),
        ("its files are forgotten", vec![forgotten(test(Pass))], Proof::Stale),
        (
            "failed, its files are forgotten, another passes",
            vec![forgotten(test(Fail)), fresh(run_of("./check", Pass))],
            Proof::Failed,
        ),
        (
            "failed elsewhere",
            vec![fresh(inside("a", "./check", Fail)), fresh(run_of("./check", Pass))],
            Proof::Failed,
        ),
        (
            "failed, then passed, in one folder",
            vec![fresh(inside("a", "./check", Fail)), fresh(inside("a", "./check", Pass))],
            Proof::Passed,
        ),
        (
            "rejected, then approved, in other letters",
            vec![fresh(test(Pass)), claim("review", Rejected), claim("Review", Approved)],
            Proof::Passed,
        ),
        (
            "rejected, then approved by another tool's file",
            vec![fresh(test(Pass)), claim("review", Rejected), imported(claim("review", Approved))],
            Proof::Failed,
        ),
        (
            "rejected by another tool's file, then approved",
            vec![fresh(test(Pass)), imported(claim("review", Rejected)), claim("review", Approved)],
            Proof::Passed,
        ),
        ("imported", vec![Entry { kind: "imported".to_owned(), ..fresh(test(Pass)) }], Proof::None),
    ];
    for (about, entries, expected) in rows {
        assert_eq!(proof(&entries), expected, "{about}");
    }
}

#[test]
fn stale_is_said_wherever_it_is_told() {
    let entries = [Entry { tests_passed: Some(12), ..run_of("cargo test", Verdict::Pass) }];
    let stale = standing(&entries, |_| Freshness::Stale("src/a.rs changed".to_owned()));
    assert_eq!(stale.word(), "stale");
    assert_eq!(stale.words(), "stale (src/a.rs changed): cargo test (12 passed), 2026-11-15T19:22:00Z");
    assert!(stale.told().unwrap().starts_with("stale, src/a.rs changed since it passed: cargo test"));
    let failed = [run_of("cargo test", Verdict::Fail)];
    let failed = standing(&failed, |_| Freshness::Stale("src/a.rs changed".to_owned()));
    assert!(failed.words().contains("stale") && failed.told().unwrap().contains("changed since"));
}

#[test]
fn a_bundle_keeps_what_it_does_not_know() {
    let text = json!({
        "schema_version": "1.3.0", "task_id": "1.1", "swarm": "mega",
        "entries": [{"task_id": "1.1", "type": "sast", "timestamp": "t", "agent": "a", "verdict": "pass",
            "summary": "s", "findings": [{"rule": 1}], "tests_passed": null}],
        "created_at": "t", "updated_at": "t"
    });
    let bundle = Bundle::parse(text.to_string().as_bytes()).unwrap();
    let again: Value = serde_json::from_slice(&bundle.bytes()).unwrap();
    assert_eq!(again["entries"][0]["findings"], json!([{"rule": 1}]));
    assert_eq!((&again["swarm"], &again["schema_version"]), (&json!("mega"), &json!("1.3.0")));
    assert_eq!(Bundle::parse(&bundle.bytes()).unwrap(), bundle);
    assert!(matches!(Bundle::parse(b"{\n\"entries\": 3}"), Err(Unreadable::Damaged { line: Some(2), .. })));
    assert!(matches!(Bundle::parse(br#"{"schema_version": "2.0.0"}"#), Err(Unreadable::Foreign { .. })));
}

#[test]
fn the_same_entry_is_taken_once_and_the_oldest_are_archived() {
    let mut bundle = Bundle::new("1.1", "t");
    for number in 0..150 {
        assert!(bundle.add(Entry { id: number.to_string(), ..Entry::default() }));
    }
    assert!(!bundle.add(Entry { id: "7".to_owned(), ..Entry::default() }));
    let Trimmed { bundle, archived } = trim(bundle, MOST_ENTRIES);
    assert_eq!((bundle.entries.len(), archived.len()), (100, 50));
    assert_eq!((archived[0].id.as_str(), bundle.entries[0].id.as_str()), ("0", "50"));
    let mut large = Bundle::new("1.1", "t");
    for _ in 0..10 {
        large.add(Entry { summary: "x".repeat(100 * 1024), ..Entry::default() });
    }
    let Trimmed { bundle, archived } = trim_to_size(large);
    assert!(bundle.bytes().len() <= BUNDLE_BYTES && bundle.entries.len() == 4, "{}", bundle.entries.len());
    assert_eq!(archived.len(), 6);
}

/// Moving entries to the archive never makes a task pass.
#[test]
fn an_open_failure_stays_in_the_bundle() {
    use Verdict::{Fail, Pass, Rejected};
    let note = || Entry { entry_type: "note".to_owned(), ..Entry::default() };
    let of = |entries: Vec<Entry>| Bundle { entries, ..Bundle::new("1.1", "t") };
    let rows: Vec<(&str, Vec<Entry>, usize, usize)> = vec![
        ("failed, then another passed", vec![fresh(run_of("a", Fail)), fresh(run_of("b", Pass))], 1, 1),
        ("failed, then passed", vec![fresh(run_of("a", Fail)), fresh(run_of("a", Pass)), note()], 1, 1),
        ("rejected, then passed", vec![claim("review", Rejected), fresh(run_of("b", Pass))], 0, 1),
        ("notes leave before what passed", vec![fresh(run_of("b", Pass)), note(), note()], 1, 1),
        ("two open failures", vec![fresh(run_of("a", Fail)), fresh(run_of("b", Fail)), note()], 1, 2),
    ];
    for (about, entries, most, kept) in rows {
        let before = proof(&entries);
        let Trimmed { bundle, archived } = trim(of(entries.clone()), most);
        assert_eq!((bundle.entries.len(), archived.len()), (kept, entries.len() - kept), "{about}");
        if most > 0 || before == Proof::Failed {
            assert_eq!(proof(&bundle.entries), before, "{about}");
        }
    }
    let many = (0..102).map(|number| fresh(run_of(&number.to_string(), Fail))).collect();
    let Trimmed { bundle, archived } = trim(of(many), 10);
    assert_eq!((bundle.entries.len(), archived.len()), (MOST_ENTRIES, 2));
}

#[test]
fn an_entry_too_large_for_a_bundle_takes_no_other_with_it() {
    let of =
        |id: &str, size: usize| Entry { id: id.to_owned(), summary: "x".repeat(size), ..Entry::default() };
    let entries = vec![of("small", 10), of("huge", BUNDLE_BYTES), of("last", 10)];
    let Trimmed { bundle, archived } = trim_to_size(Bundle { entries, ..Bundle::new("1.1", "t") });
    let ids = |entries: &[Entry]| entries.iter().map(|entry| entry.id.clone()).collect::<Vec<_>>();
    assert_eq!(
        (ids(&bundle.entries), ids(&archived)),
        (vec!["small".into(), "last".into()], vec!["huge".into()])
    );
    let large = vec![of("a", 400 * 1024), of("b", 90 * 1024), of("c", 90 * 1024)];
    let large = Bundle { entries: large, ..Bundle::default() };
    assert_eq!(fitting(&large, &[]), Some(2));
    assert_eq!(fitting(&large, &[of("new", 400 * 1024)]), Some(1));
    assert_eq!(fitting(&large, &[of("new", BUNDLE_BYTES)]), None);
}

/// Observed runs and imports are recorded late.
#[test]
fn entries_stand_by_their_time() {
    let at =
        |id: &str, time: &str| Entry { id: id.to_owned(), timestamp: time.to_owned(), ..Entry::default() };
    let mut bundle = Bundle::new("1.1", "t");
    for (id, time) in [
        ("b", "2026-11-15T19:22:00Z"),
        ("d", "2026-11-15T19:30:00Z"),
        ("a", "2026-11-15T18:22:00.5Z"),
        ("c", "2026-11-15T20:22:00+01:00"),
        ("unknown", "yesterday"),
    ] {
        assert!(bundle.add(at(id, time)));
    }
    let ids: Vec<&str> = bundle.entries.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids, ["unknown", "a", "b", "c", "d"]);
    assert_eq!(bundle.updated_at, "2026-11-15T19:30:00Z");
}

#[test]
fn the_files_of_what_counts_stay_known() {
    use Verdict::{Fail, Pass};
    let tree = |tree: &str, entry| Entry { tree: tree.to_owned(), ..entry };
    let mut entries = vec![tree("failed", run_of("a", Fail)), tree("old", run_of("b", Pass))];
    entries.extend((0..9).map(|number| tree(&format!("n{number}"), run_of("b", Pass))));
    assert_eq!(trees_in_effect(&entries, 4), ["n8", "failed"]);
    assert_eq!(trees_in_effect(&entries, 1), ["n8"]);
}

#[test]
fn a_listing_reads_back_and_a_torn_one_does_not() {
    let mut listing = Listing::default();
    for (path, changed) in [("a b.rs", 3), ("x\ny", 9), ("z", 1)] {
        let hash = if path == "z" { String::new() } else { crate::plan::hash(path.as_bytes()) };
        listing.files.insert(path.to_owned(), FileState { size: 7, changed, hash });
    }
    assert_eq!(Listing::parse(&listing.bytes()), Ok(listing.clone()));
    assert!(String::from_utf8(listing.bytes()).unwrap().lines().next().unwrap().ends_with("\"x\\ny\""));
    let torn = &listing.bytes()[..listing.bytes().len() - 4];
    assert_eq!(Listing::parse(torn), Err(3));
    let mut touched = listing.clone();
    touched.files.get_mut("a b.rs").unwrap().changed = 99;
    assert_eq!(touched.tree(), listing.tree(), "the content is the same");
    touched.files.get_mut("z").unwrap().changed = 99;
    assert_ne!(touched.tree(), listing.tree(), "nobody read that one");
}

fn check(run: &str, ended: crate::run::Ended, result: &str) -> CheckUse {
    let value = json!({"run": run, "sort": "test", "ended": ended, "result": result, "at": "2026-11-15T19:22:00Z",
        "last": 3, "runs": 1});
    serde_json::from_value(value).unwrap()
}

#[test]
fn a_run_that_was_seen_becomes_an_entry() {
    use crate::run::Ended;
    let rows = [
        (Ended::Passed, "test result: ok. 5 passed; 0 failed; 0 ignored", Some(("pass", Some(5)))),
        (Ended::Passed, "test result: ok. 0 passed; 0 failed; 0 ignored", Some(("warn", Some(0)))),
        (Ended::Passed, "", Some(("pass", None))),
        (Ended::Failed, "1 failed, 2 passed in 1s", Some(("fail", Some(2)))),
        (Ended::Unknown, "", None),
    ];
    for (ended, result, expected) in rows {
        let entry = observed(&check("cargo test", ended, result), "1.1", "s1", "claude-code");
        let seen = entry.as_ref().map(|entry| (entry.verdict.as_str(), entry.tests_passed));
        assert_eq!(seen, expected, "{result}");
        assert!(entry.is_none_or(|entry| entry.kind() == Kind::Observed && entry.task_id == "1.1"));
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
        task_of(&plan, "s1", at, now).map(|task| task.id.clone())
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
    let read = |path: &str, value: Value| match read_foreign(path, value.to_string().as_bytes()) {
        Ok(Foreign::Evidence { task, entries }) => (task, entries),
        other => panic!("{path}: {other:?}"),
    };
    let gates = json!({"taskId": "2.1", "required_gates": ["reviewer"], "gates": {
        "reviewer": {"sessionId": "s", "timestamp": "2026-04-14T07:01:02Z", "agent": "reviewer"},
        "test_engineer": {"sessionId": "s", "timestamp": "2026-04-14T07:13:16Z", "agent": "test_engineer"}}});
    let (task, entries) = read("2.1.json", gates.clone());
    assert_eq!((task.as_str(), entries.len()), ("2.1", 2));
    // A gate says that an agent had its turn, not what it found.
    assert_eq!((entries[0].entry_type.as_str(), entries[1].entry_type.as_str()), ("note", "note"));
    assert!(entries.iter().all(|entry| entry.is_imported_gate() && entry.verdict() == Verdict::Info));
    let (task, copied) = read("2.1 2.json", gates);
    assert_eq!((task.as_str(), &copied[0].id), ("2.1", &entries[0].id), "a copy is the same evidence");

    let bundle = json!({"schema_version": "1.0.0", "task_id": "retro-1", "entries": [
        {"task_id": "retro-1", "type": "retrospective", "timestamp": "t", "agent": "architect", "verdict": "pass",
         "summary": "done", "lessons_learned": ["x"], "kind": "run", "tree": "0"},
        {"type": "test", "tests_passed": "five", "summary": "odd"}]});
    let (task, entries) = read("retro-1/evidence.json", bundle);
    assert_eq!((task.as_str(), entries.len()), ("retro-1", 2));
    assert_eq!(entries[0].rest["lessons_learned"], json!(["x"]));
    assert!(!entries[0].is_seen(), "what a file says of itself is not what thru saw");
    assert_eq!(entries[1].metadata["original"]["tests_passed"], json!("five"));
    assert_eq!(entries[1].verdict(), Verdict::Info);

    let phase = json!({"entries": [{"type": "drift-verification", "verdict": "approved", "summary": "s"}]});
    assert_eq!(read("1/drift-verifier.json", phase).0, "1");
    let (task, entries) = read("2.3-b7-screening-decision.json", json!({"rationale": "too weak", "n": 3}));
    assert_eq!((task.as_str(), entries[0].summary.as_str()), ("2.3", "2.3-b7-screening-decision: too weak"));
    assert_eq!(entries[0].metadata["original"]["n"], json!(3));
    for path in ["a b/../c.json", "é.json", &"x".repeat(300), ".json", "-x.json"] {
        let (task, _) = read(path, json!({"taskId": "../../etc", "entries": []}));
        assert!(crate::id::Id::new(&task).is_ok(), "{path}: {task}");
    }
    assert!(matches!(read_foreign("agent-tools-init-1.json", b"{}"), Ok(Foreign::Other(_))));
    assert!(read_foreign("1.json", b"[1]").is_err() && read_foreign("1.json", b"{").is_err());
}
