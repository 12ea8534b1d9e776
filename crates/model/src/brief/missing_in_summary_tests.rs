use super::*;
use crate::brief::BriefOccasion;
use crate::digest::{EffectOnDisk, RecordedEffect};
use crate::effect::{Effect, EffectKind};

/// Pads a summary to more than `THIN_SUMMARY_BYTES`.
fn with_padding(summary: &str) -> String {
    format!("{summary}\n{}", "The reader of tables was looked at.\n".repeat(50))
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

fn effect_use(record: u64, kind: EffectKind, what: &str, place: &str, id: &str) -> RecordedEffect {
    let (what, place, id) = (what.into(), place.into(), id.into());
    let effect = Effect { kind, what, place, id, link: String::new(), folder: String::new() };
    RecordedEffect {
        effect,
        at: "2026-11-17T16:20:00Z".into(),
        record,
        is_in_other_repository: false,
        disk: EffectOnDisk::default(),
    }
}

/// Returns the lines of the brief that accompanies a summary.
fn note(digest: &Digest, summary: &str) -> Vec<String> {
    let mut digest = digest.clone();
    digest.simulate_compaction(&with_padding(summary));
    let occasion = BriefOccasion::Compacted;
    let material = BriefMaterial {
        occasion,
        digest: &digest,
        hook_problems: &[],
        missing_files: &[],
        feature_candidates: &[],
        scoring: None,
    };
    let text = crate::brief::compose_brief(&material, 9_500).map(|brief| brief.text).unwrap_or_default();
    text.lines().skip(1).filter(|line| line.starts_with("- ")).map(str::to_owned).collect()
}

fn digest_with_files(paths: &[&str]) -> Digest {
    let mut digest = Digest::new("s");
    digest.branch = "topic".into();
    digest.files = (1..).zip(paths).map(|(at, path)| edited_file(path, at, 0)).collect();
    digest.record_count = 50;
    digest
}

#[test]
fn work_that_no_commit_holds_is_told_once() {
    let digest = digest_with_files(&["src/one.rs", "src/two.rs"]);
    let cases: [(&str, &[&str]); 5] = [
        (
            "Edited one.rs and two.rs.",
            &[
                "- 2 files edited by this session, not in any commit seen here; the summary does not say so: src/{two.rs,one.rs}",
            ],
        ),
        (
            "Edited one.rs.",
            &["- 2 files edited by this session, not in any commit seen here; the summary does not say so; \
              1 that the summary does not name: src/two.rs"],
        ),
        ("Edited one.rs and two.rs. Nothing is committed.", &[]),
        ("Edited one.rs and two.rs. Pending:\n- Commit the changes", &[]),
        (
            "Edited one.rs, not committed.",
            &[
                "- 1 file edited by this session that the summary does not name, not in any commit seen here: src/two.rs",
            ],
        ),
    ];
    for (summary, expected) in cases {
        assert_eq!(note(&digest, summary), expected, "{summary}");
    }
}

#[test]
fn a_file_that_a_commit_left_out_is_not_at_risk() {
    let mut digest = digest_with_files(&["notes/plan.md", ".tool/review.md", "src/new.rs"]);
    digest.effects.push(effect_use(2, EffectKind::Commit, "Tables", "topic", "1234567"));
    digest.files[0].edited_at = 1;
    digest.files[2].edited_at = 9;
    let told = note(&digest, "Committed tables. plan.md, review.md and new.rs");
    assert_eq!(
        told,
        [
            "- 1 file edited by this session, not in any commit seen after 1234567; the summary does not say so: src/new.rs"
        ]
    );
    assert_eq!(note(&digest, "Commit 1234567, then new.rs, plan.md and review.md"), [""; 0]);
}

#[test]
fn the_branch_is_told_where_it_matters() {
    let mut digest = digest_with_files(&["src/one.rs"]);
    let summary = "Edited one.rs, not committed.";
    assert_eq!(note(&digest, summary), [""; 0]);
    digest.branch = "main".into();
    assert_eq!(note(&digest, summary), ["- Git: the work is on branch main; the summary does not name it"]);
    assert_eq!(note(&digest, "On main: edited one.rs, not committed."), [""; 0]);
}

#[test]
fn acts_that_the_summary_tells_are_left_out() {
    let mut digest = digest_with_files(&[]);
    digest.effects.push(effect_use(2, EffectKind::Commit, "Skip empty lines in tables", "topic", "1234567"));
    digest.effects.push(effect_use(3, EffectKind::Push, "topic", "origin", "0..1"));
    let told = "Skipped empty lines in tables, committed and pushed.";
    assert_eq!(
        note(&digest, told),
        ["- commit 1234567 “Skip empty lines in tables” on topic, pushed; the summary gives no id",]
    );
    let told = "Skipped empty lines in tables, committed as 1234567 and pushed to topic.";
    assert_eq!(note(&digest, told), [""; 0]);
    let open = note(&digest, "- Skip empty lines in tables (in progress)");
    let wrong =
        "- the summary says “in progress”; commit 1234567 “Skip empty lines in tables” was made at 16:20";
    assert_eq!(open[0], wrong);
    // A commit that a rebase recreates is listed once.
    digest.effects.push(effect_use(4, EffectKind::Commit, "Skip empty lines in tables", "topic", "7654321"));
    let all = note(&digest, "Nothing is known.").join("\n");
    assert!(all.contains("7654321") && !all.contains("1234567"), "{all}");
}

#[test]
fn only_the_lines_of_a_failure_that_the_summary_lacks_are_told() {
    let mut digest = digest_with_files(&[]);
    digest.branch = String::new();
    digest.failures.push(Failure {
        command_or_file: "go test ./...".into(),
        error:
            "--- FAIL: TestOne (0.0s)\n--- FAIL: TestTwo (0.0s)\na_test.go:12: got 3, want 4\nFAIL pkg 1.2s"
                .into(),
        record: 7,
        is_open: true,
        ..Failure::default()
    });
    let told = note(&digest, "TestOne fails in a_test.go at line 12.");
    assert_eq!(told, ["- `go test ./...` also fails with: `--- FAIL: TestTwo (0.0s)`"]);
    assert_eq!(note(&digest, "TestOne and TestTwo fail: got 33, want 34; a_test.go (line 12)"), [""; 0]);
    assert!(note(&digest, "All is well.")[0].contains("TestOne"));
}

#[test]
fn only_another_test_is_a_second_failure() {
    let told = |error: &str, summary: &str| {
        let mut digest = digest_with_files(&[]);
        digest.branch = String::new();
        digest.failures.push(Failure {
            command_or_file: "make test".into(),
            error: error.into(),
            record: 7,
            is_open: true,
            ..Failure::default()
        });
        note(&digest, summary).join("\n")
    };
    let euro = "FAIL: test_euro (tests.Test.test_euro)\nAssertionError: '1.5 EUR' != '1.50 EUR'";
    let unit = "ERROR: test_unit_is_kept (tests.Test.test_unit_is_kept)\nTypeError: add() got an unexpected \
                keyword argument 'unit'";
    let node = "not ok 7 - --json prints JSON\nexpected: '{}'\nactual: 'none'\nlocation: '/x/a.mjs:3:1'";
    for (error, summary, expected) in [
        (
            euro,
            "Errors: test_euro fails: 1.5 is printed with one decimal.",
            "- `make test` fails with: `FAIL: test_euro (tests.Test.test_euro)` \
             `AssertionError: '1.5 EUR' != '1.50 EUR'`",
        ),
        (
            unit,
            "test_units fails because add() got an unexpected keyword argument 'unit'.",
            "- `make test` fails with: `ERROR: test_unit_is_kept (tests.Test.test_unit_is_kept)`",
        ),
        (
            node,
            "The new test “--json prints JSON” fails.",
            "- `make test` fails with: `not ok 7 - --json prints JSON` `expected: '{}'` `actual: 'none'`",
        ),
        (
            "a.go:3:1: odd\na.go:9:1: undefined: parse",
            "Error: a.go line 3 is odd, so the build fails.",
            "- `make test` also fails with: `a.go:9:1: undefined: parse`",
        ),
    ] {
        assert_eq!(told(error, summary), expected, "{summary}");
    }
}

#[test]
fn it_is_only_said_that_the_summary_is_silent_about_the_commit_if_it_is() {
    let digest = digest_with_files(&["src/one.rs"]);
    let fact = "- 1 file edited by this session, not in any commit seen here";
    for (summary, expected) in [
        ("Edited one.rs.", Some("; the summary does not say so")),
        ("Edited one.rs. Pending: make the quantity an int, run the tests, commit.", None),
        // It is unclear what these say about the work.
        ("Edited one.rs. The user does not want me to commit before the review.", Some("")),
        ("Edited one.rs. Ask before committing.", Some("")),
    ] {
        let expected: Vec<String> =
            expected.into_iter().map(|silent| format!("{fact}{silent}: src/one.rs")).collect();
        assert_eq!(note(&digest, summary), expected, "{summary}");
    }
}

#[test]
fn a_failure_that_the_summary_does_not_mention_is_no_addition_to_it() {
    let mut digest = digest_with_files(&[]);
    digest.branch = String::new();
    digest.failures.push(Failure {
        command_or_file: "make lint".into(),
        is_command: true,
        exit: Some(2),
        error: "src/format.c:13:45: error: conversion".into(),
        record: 7,
        is_open: true,
        ..Failure::default()
    });
    let summary = "Keep `make test` and `make lint` passing. `make test` failed because dur_format printed 36h; rewrote it.";
    let told = note(&digest, summary);
    assert_eq!(told, ["- `make lint` fails (exit 2) with: `src/format.c:13:45: error: conversion`"]);
    let told = note(&digest, "The linter fails in another file.");
    assert_eq!(told, ["- `make lint` fails with: `src/format.c:13:45: error: conversion`"]);
}

#[test]
fn files_that_the_summary_does_not_name_are_one_line() {
    let mut digest = digest_with_files(&["a/one.rs", "a/two.rs", "a/three.rs"]);
    digest.branch = String::new();
    digest.files.push(FileUse {
        path: "b/read.rs".into(),
        reads: 1,
        last_use_record: 40,
        ..FileUse::default()
    });
    digest.files[1].edits = 5;
    let edited = "- edited a/{two.rs,three.rs}, which the summary does not name";
    assert_eq!(note(&digest, "Edited one.rs."), [edited]);
    let all = "Edited one.rs, two.rs and three.rs.";
    assert_eq!(note(&digest, all), ["- read b/read.rs, which the summary does not name"]);
    // A file that was last read long ago is not worth a line.
    digest.files[0].last_use_record = 49;
    assert_eq!(note(&digest, all), [""; 0]);
}

#[test]
fn an_id_is_told_with_its_place_and_subject() {
    let mut digest = digest_with_files(&[]);
    let reply = |record, to: &str, id: &str| {
        effect_use(record, EffectKind::Comment, &format!("reply to {to}"), "o/r#9", id)
    };
    digest.effects.push(reply(2, "555001", "666001"));
    let told = "On topic, responded to all comments.";
    let one = "- answered comment 555001 on o/r#9 with reply 666001; the summary gives no id";
    assert_eq!(note(&digest, told), [one]);
    digest.effects.push(reply(3, "555002", "666002"));
    let both = "- answered 2 comments on o/r#9: 555001 (reply 666001), 555002 (reply 666002); \
                this session answered no others there";
    assert_eq!(note(&digest, told), [both]);
    // A later commit with the same subject replaces the first one, as after an amendment. Only the later one is listed.
    digest.effects.clear();
    let commit = |record, what: &str, id: &str| effect_use(record, EffectKind::Commit, what, "topic", id);
    digest.effects.push(commit(2, "Skip empty lines in tables", "1234567"));
    digest.effects.push(commit(3, "Skip empty lines in tables", "2345678"));
    digest.effects.push(commit(4, "Sort columns by their width", "3456789"));
    let told = "On topic. Committed: skip empty lines in tables; sort columns by their width. Not pushed.";
    let line = "- 2 commits on topic; the summary gives no ids: 2345678 “Skip empty lines in tables”, \
                3456789 “Sort columns by their width”";
    assert!(note(&digest, told).contains(&line.to_owned()), "{:?}", note(&digest, told));
}

#[test]
fn a_pushed_branch_that_the_summary_does_not_name_is_told() {
    let mut digest = digest_with_files(&[]);
    digest.effects.push(effect_use(3, EffectKind::Push, "topic", "origin", ""));
    let told = note(&digest, "Pushed the branch and opened a pull request.");
    assert_eq!(told, ["- Git: the work is on branch topic, pushed; the summary does not name it"]);
    assert_eq!(note(&digest, "Pushed the branch topic."), [""; 0]);
}

#[test]
fn a_trap_that_was_met_once_is_spent() {
    let mut digest = digest_with_files(&[]);
    digest.branch = String::new();
    digest.failures.push(Failure {
        command_or_file: "shellcheck x.sh".into(),
        error: "bash: shellcheck: command not found".into(),
        working_alternative: "mise exec -- shellcheck x.sh".into(),
        is_command: true,
        occurrences: 1,
        record: 7,
        ..Failure::default()
    });
    assert_eq!(note(&digest, "All is well."), [""; 0]);
    digest.failures[0].occurrences = 2;
    assert!(note(&digest, "All is well.")[0].contains("shellcheck"), "{:?}", note(&digest, "All is well."));
    assert_eq!(note(&digest, "Check with `mise exec -- shellcheck x.sh`."), [""; 0]);
}

#[test]
fn an_error_in_a_file_that_was_not_edited_since_still_holds() {
    let mut digest = digest_with_files(&["src/a.go"]);
    digest.branch = String::new();
    digest.failures.push(Failure {
        command_or_file: "go build ./...".into(),
        error: "src/a.go:3:1: undefined: parseAll\nsrc/b.go:4:1: odd\nsrc/b.go:9:1: odd".into(),
        record: 0,
        is_open: true,
        ..Failure::default()
    });
    let told = note(&digest, "The build of a.go fails.");
    assert_eq!(told, ["- `go build ./...` fails with: `src/b.go:4, :9: odd`"]);
}
