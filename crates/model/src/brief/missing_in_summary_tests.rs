use super::*;
use crate::brief::BriefOccasion;
use crate::digest::{AgentStatement, FileEdit, FileUse, Prompt};
use crate::digest::{EffectOnDisk, RecordedEffect};
use crate::effect::{Effect, EffectKind};
use crate::journal::JournalRecord;

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
    assert_eq!(note(&digest, "Commit 1234567, then new.rs, plan.md and review.md"), told);
    assert_eq!(note(&digest, "Commit 1234567, then new.rs (not committed), plan.md and review.md"), [""; 0]);
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
    assert_eq!(note(&digest, told), ["- commit 1234567 on topic, pushed; the summary gives no id"]);
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
    let edited = "- edited a/{two.rs,three.rs}; read b/read.rs, which the summary does not name";
    assert_eq!(note(&digest, "Edited one.rs."), [edited]);
    let all = "Edited one.rs, two.rs and three.rs.";
    assert_eq!(note(&digest, &format!("{all} Read b/read.rs.")), [""; 0]);
    // Files that were only read are worth a line only if they were used recently or often.
    let line = "- read b/read.rs, which the summary does not name";
    for (last_use, reads, record_count, expected) in
        [(45, 1, 50, Some(line)), (30, 1, 50, None), (30, 3, 50, Some(line)), (30, 3, 500, None)]
    {
        (digest.files[3].last_use_record, digest.files[3].reads) = (last_use, reads);
        digest.record_count = record_count;
        assert_eq!(note(&digest, all), Vec::from_iter(expected), "{last_use} {reads} {record_count}");
    }
}

#[test]
fn files_are_added_to_the_line_about_uncommitted_files() {
    let mut digest = digest_with_files(&["a/one.rs"]);
    digest.files.push(FileUse {
        path: "b/read.rs".into(),
        reads: 2,
        last_use_record: 45,
        ..FileUse::default()
    });
    // The records of thru are not files of the project.
    digest.files.push(FileUse {
        path: ".agent/context/workstreams/01-unary-minus/steps.md".into(),
        reads: 2,
        last_use_record: 46,
        ..FileUse::default()
    });
    let line = "- 1 file edited by this session, not in any commit seen here; the summary does not say so: \
                a/one.rs; also used, which the summary does not name: b/read.rs";
    assert_eq!(note(&digest, "Edited one.rs."), [line]);
}

#[test]
fn commands_and_files_share_a_line() {
    const TEST: &[(&str, i64, &str)] = &[("mise run test:ci", 0, "")];
    let read = |last_use_record| FileUse {
        path: "b/read.rs".into(),
        reads: 1,
        last_use_record,
        ..FileUse::default()
    };
    let edited = |path| edited_file(path, 1, 0);
    for (branch, files, runs, expected) in [
        ("", vec![read(1)], TEST, "- not named in the summary: commands `mise run test:ci`; files b/read.rs"),
        ("", vec![], TEST, "- not named in the summary: commands `mise run test:ci`"),
        (
            "",
            vec![edited("a/one.rs"), read(1)],
            TEST,
            "- edited a/one.rs; read b/read.rs; ran `mise run test:ci`, which the summary does not name",
        ),
        (
            "topic",
            vec![edited("a/one.rs"), read(1)],
            TEST,
            "- 1 file edited by this session, not in any commit seen here; the summary does not say so: \
             a/one.rs; also used, which the summary does not name: b/read.rs; commands `mise run test:ci`",
        ),
        (
            "topic",
            vec![edited("a/one.rs")],
            TEST,
            "- 1 file edited by this session, not in any commit seen here; the summary does not say so: \
             a/one.rs; commands that the summary does not name: `mise run test:ci`",
        ),
    ] {
        let mut digest = digest_with_runs(runs);
        digest.branch = branch.into();
        digest.files = files;
        assert_eq!(note(&digest, "All tests pass."), [expected]);
    }
    // Nothing was edited after the checks passed, so a line about them is told anyway.
    const BOTH: &[(&str, i64, &str)] = &[("mise run fmt", 0, ""), ("make lint", 0, "")];
    for (branch, expected) in [
        (
            "",
            &["- `make lint` → passed, nothing edited since; the summary does not say so; not named in the \
                 summary: commands `mise run fmt`; files b/read.rs"][..],
        ),
        (
            "topic",
            &[
                "- 1 file edited by this session, not in any commit seen here; the summary does not say so: \
                 a/one.rs; also used, which the summary does not name: b/read.rs",
                "- `make lint` → passed, nothing edited since; the summary does not say so; not named in the \
                 summary: commands `mise run fmt`",
            ],
        ),
    ] {
        let mut digest = digest_with_runs(BOTH);
        digest.branch = branch.into();
        digest.files = vec![edited("a/one.rs"), read(1)];
        assert_eq!(note(&digest, "Edited one.rs."), expected, "{branch}");
    }
}

#[test]
fn checks_come_before_builds_and_one_off_variants_are_left_out() {
    const COVERAGE: (&str, i64, &str) = ("pytest --cov=app", 0, "");
    const TEMPORARY: (&str, i64, &str) = ("go build -o /tmp/app ./cmd/app", 0, "");
    const LINT: (&str, i64, &str) = ("make lint", 0, "");
    const BUILD: (&str, i64, &str) = ("make build", 0, "");
    const SINGLE: (&str, i64, &str) = ("make test -run TestOne", 0, "");
    for (runs, expected) in [
        (&[LINT, BUILD, BUILD][..], "`make lint`, `make build`"),
        (&[COVERAGE, LINT], "`make lint`"),
        (&[LINT, COVERAGE], "`make lint`, `pytest --cov=app`"),
        (&[COVERAGE, COVERAGE, COVERAGE, LINT], "`make lint`, `pytest --cov=app`"),
        (&[TEMPORARY, LINT], "`make lint`"),
        (&[TEMPORARY, TEMPORARY, LINT], "`make lint`, `go build -o /tmp/app ./cmd/app`"),
        (&[SINGLE, LINT], "`make lint`"),
        (&[LINT, SINGLE], "`make lint`, `make test -run TestOne`"),
    ] {
        let told = note(&digest_with_runs(runs), "All tests pass; the linter is clean; the build passes.");
        let line = told.iter().find_map(|line| line.split("not named in the summary: commands ").nth(1));
        assert_eq!(line.unwrap_or_default(), expected, "{runs:?}: {told:?}");
    }
}

#[test]
fn effects_of_no_consequence_are_left_out() {
    let act = |kind, what: &str, folder: &str| {
        let mut used = effect_use(0, kind, what, "topic", "1234567");
        used.effect.folder = folder.into();
        used.is_in_other_repository = !folder.is_empty();
        used
    };
    let commit = |folder| act(EffectKind::Commit, "Skip empty lines in tables", folder);
    let reset = |folder| act(EffectKind::Reset, "HEAD~1", folder);
    let amend = |folder| act(EffectKind::Amend, "Sort columns by their width", folder);
    let worktree = |what| act(EffectKind::Worktree, what, "");
    let push = |folder| act(EffectKind::Push, "topic", folder);
    for (effects, is_told) in [
        (vec![commit("")], true),
        (vec![commit(""), reset("")], false),
        (vec![commit(""), amend("")], false),
        (vec![commit("../other")], true),
        (vec![commit("../other"), reset("../other")], false),
        (vec![commit("../other"), amend("../other")], false),
        (vec![commit("../other"), reset("../third")], true),
        (vec![commit("/tmp/try")], false),
        (vec![commit("$TMPDIR/try")], false),
        (vec![commit("/tmp/try"), push("/tmp/try")], true),
        (vec![worktree("/tmp/try"), commit("/tmp/try/sub")], true),
        (vec![worktree("/tmp/tr"), commit("/tmp/try")], false),
    ] {
        let mut digest = digest_with_files(&[]);
        digest.branch = "topic".into();
        digest.effects = effects;
        (1..).zip(&mut digest.effects).for_each(|(record, used)| used.record = record);
        let told = note(&digest, "On topic.").join("\n");
        assert_eq!(told.contains("Skip empty lines in tables"), is_told, "{:?}: {told}", digest.effects);
    }
    // A summary that names the removed commit is put right.
    let mut digest = digest_with_files(&[]);
    digest.effects = vec![commit(""), reset("")];
    digest.effects[0].record = 1;
    digest.effects[1].record = 2;
    let told = note(&digest, "On topic. Made commit 1234567.").join("\n");
    assert!(told.contains("since removed by a reset: 1234567"), "{told}");
}

#[test]
fn a_name_that_several_files_have_names_none_of_them() {
    let mut digest = digest_with_files(&["a/common.rs", "b/common.rs", "b/other.rs"]);
    digest.branch = String::new();
    for (summary, expected) in [
        (
            "Edited common.rs and other.rs.",
            "- edited b/common.rs, a/common.rs, which the summary does not name",
        ),
        ("Edited a/common.rs and other.rs.", "- edited b/common.rs, which the summary does not name"),
        ("Edited a/common.rs.", "- edited b/other.rs, b/common.rs, which the summary does not name"),
    ] {
        assert_eq!(note(&digest, summary), [expected], "{summary}");
    }
    assert_eq!(note(&digest, "Edited a/common.rs, b/common.rs and other.rs."), [""; 0]);
}

#[test]
fn an_id_is_told_with_its_place() {
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
                this session answered no other comments there";
    assert_eq!(note(&digest, told), [both]);
    // If two commits have the same subject, the later one counts as a new version of the earlier one, for example
    // after an amend. Only the later one is listed.
    digest.effects.clear();
    let commit = |record, what: &str, id: &str| effect_use(record, EffectKind::Commit, what, "topic", id);
    digest.effects.push(commit(2, "Skip empty lines in tables", "1234567"));
    digest.effects.push(commit(3, "Skip empty lines in tables", "2345678"));
    digest.effects.push(commit(4, "Sort columns by their width", "3456789"));
    let told = "On topic. Committed: skip empty lines in tables; sort columns by their width. Not pushed.";
    // The summary describes the work, so the subjects would only repeat it.
    let line = "- 2 commits on topic; the summary gives no ids: 2345678, 3456789";
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

/// Returns a digest with the user's messages at the records 10, 20, 30, …
fn digest_with_prompts(texts: &[&str]) -> Digest {
    let mut digest = digest_with_files(&[]);
    digest.branch = String::new();
    digest.prompts = (1..)
        .zip(texts)
        .map(|(n, text)| Prompt { record: 10 * n, text: (*text).into(), ..Prompt::default() })
        .collect();
    digest
}

#[test]
fn only_words_that_still_hold_are_quoted() {
    const TASK: &str = "Make the parser accept trailing commas in every list of the file";
    let summary = "The parser shall accept trailing commas in every list of the file.";
    for (later, expected) in [
        ("Don't touch the lexer, please", &["- “Don't touch the lexer, please”"][..]),
        ("Never use floats anywhere in this project", &["- “Never use floats anywhere in this project”"]),
        ("let's proceed with implementation using superpowers", &[]),
        ("so I understand clearly, every list is then sorted and condensed automatically", &[]),
    ] {
        assert_eq!(note(&digest_with_prompts(&[TASK, later, "continue"]), summary), expected, "{later}");
    }
}

#[test]
fn an_answer_and_a_settled_refusal_are_not_quoted() {
    const TASK: &str = "Make the parser accept trailing commas in every list of the file";
    const REFUSAL: &str = "let's avoid a second copy of the tokeniser";
    let summary = "The parser shall accept trailing commas in every list of the file.";
    let mut digest = digest_with_prompts(&[TASK, REFUSAL, "continue"]);
    digest.prompts[1].refused_call = "Write".into();
    assert_eq!(note(&digest, summary), [format!("- refusing `Write`: “{REFUSAL}”")]);
    let mut edit = FileEdit::default();
    (edit.record, edit.path) = (25, "a.rs".into());
    digest.changes.push(edit);
    assert_eq!(note(&digest, summary), [""; 0]);
    // The agent asked a question about the work, and the user answered in their own words.
    let mut digest = digest_with_prompts(&[TASK, "we should sort the lists by their width then", "continue"]);
    digest.statements.push(AgentStatement {
        record: 15,
        text: "Two orders are possible.".into(),
        closing_question: "Which order of the lists do you prefer?".into(),
        ended_turn: true,
        ..AgentStatement::default()
    });
    assert_eq!(note(&digest, summary), [""; 0]);
}

/// Returns a digest in which these commands ran in this order, each with its exit code and its output.
fn digest_with_runs(runs: &[(&str, i64, &str)]) -> Digest {
    let mut digest = Digest::new("s");
    digest.worktree = "/p".into();
    digest.first_worktree = "/p".into();
    for (n, (command, exit, output)) in runs.iter().enumerate() {
        digest.fold_record(&JournalRecord {
            event: "tool-done".into(),
            tool: "Bash".into(),
            id: n.to_string().into(),
            ok: Some(*exit == 0),
            exit: Some(*exit),
            command: (*command).into(),
            error: if *exit == 0 { "".into() } else { (*output).into() },
            ..JournalRecord::default()
        });
    }
    digest
}

#[test]
fn commands_that_the_summary_does_not_name_are_one_line() {
    const RUNS: &[(&str, i64, &str)] = &[
        ("cd web && npm run build 2>&1 | tail -5", 0, ""),
        ("mise run test -- -run TestOne", 0, ""),
        ("go build ./parser", 0, ""),
        ("mise run test:ci | tail -30", 0, ""),
        ("ls src", 0, ""),
        ("git status", 0, ""),
        ("mise run fmt", 0, ""),
        ("CI=1 mise run lint", 1, "src/a.go:3:1: undefined: parseAll"),
    ];
    for (summary, expected) in [
        ("", "`CI=1 mise run lint` (failing), `mise run fmt`, `mise run test:ci`, `npm run build` in web"),
        (
            "Ran `mise run test:ci` and `mise run fmt`.",
            "`CI=1 mise run lint` (failing), `npm run build` in web",
        ),
        ("`CI=1 mise run lint && mise run fmt && mise run test:ci` and `npm run build`", ""),
    ] {
        let told =
            note(&digest_with_runs(RUNS), &format!("The linter fails at parseAll in a.go:3. {summary}"));
        let line = told.iter().find_map(|line| line.split("not named in the summary: commands ").nth(1));
        assert_eq!(line.unwrap_or_default(), expected, "{summary}: {told:?}");
    }
}

#[test]
fn a_narrow_command_is_listed_only_if_it_ran_often_and_no_wider_one_is_known() {
    const NARROW: (&str, i64, &str) = ("go build ./parser", 0, "");
    for (runs, summary, expected) in [
        (&[NARROW, NARROW][..], "", "`go build ./parser`"),
        (&[NARROW], "", ""),
        (&[NARROW, NARROW, ("go build ./...", 0, "")], "", ""),
        (&[NARROW, NARROW], "Build it with `go build -o app ./cmd/app`.", ""),
    ] {
        let told = note(&digest_with_runs(runs), summary);
        let line = told.iter().find_map(|line| line.split("not named in the summary: commands ").nth(1));
        assert_eq!(line.unwrap_or_default(), expected, "{summary}: {told:?}");
    }
}
