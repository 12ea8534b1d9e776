use super::*;
use crate::event::FileAction;
use crate::journal::{JournalRecord, RecordedAgent, RecordedFile};

/// Builds a digest from calls, each given as the agent, the action and the path.
fn fold_calls(calls: &[(&str, FileAction, &str)]) -> Digest {
    let mut digest = Digest::new("s");
    for (i, (who, action, path)) in calls.iter().enumerate() {
        let outside = path.starts_with('/');
        let file = RecordedFile {
            outside,
            guess: *who == "command",
            ..RecordedFile::new((*path).to_owned(), *action)
        };
        digest.fold_record(&JournalRecord {
            event: "tool-done".into(),
            id: i.to_string().into(),
            agent: (*who == "agent").then(|| RecordedAgent { id: "a".into(), kind: "explorer".into() }),
            files: vec![file],
            ok: Some(true),
            ..JournalRecord::default()
        });
    }
    digest
}

const PLAN_OF_A: &str = ".agent/context/workstreams/01-a/plan.md";
const PLAN_OF_B: &str = ".agent/context/workstreams/02-b/plan.md";
const STEPS_OF_C: &str = "02-projects/03-c/01-planning/steps.md";

#[test]
fn the_active_workstream_is_detected() {
    use DetectionConfidence::{High, Low, Medium};
    use DetectionMethod::{Cache, Fallback, Transcript};
    use FileAction::{Edit, Read};
    type DetectionCase<'a> = (
        &'a str,
        Option<&'a str>,
        &'a [(&'a str, FileAction, &'a str)],
        Option<&'a str>,
        (Option<&'a str>, DetectionConfidence, DetectionMethod),
    );
    let cases: &[DetectionCase] = &[
        (
            "mapped",
            Some("09-m"),
            &[("main", Edit, PLAN_OF_A)],
            Some("02-b"),
            (Some("09-m"), High, Transcript),
        ),
        ("one", None, &[("main", Read, PLAN_OF_A)], None, (Some("01-a"), Medium, Transcript)),
        (
            "one, as before",
            None,
            &[("main", Read, PLAN_OF_A)],
            Some("01-a"),
            (Some("01-a"), High, Transcript),
        ),
        (
            "one, other than before",
            None,
            &[("main", Read, PLAN_OF_A)],
            Some("02-b"),
            (Some("01-a"), Medium, Transcript),
        ),
        ("the seed's layout", None, &[("main", Edit, STEPS_OF_C)], None, (Some("03-c"), Medium, Transcript)),
        (
            "two with a leader",
            None,
            &[("main", Read, PLAN_OF_A), ("main", Edit, PLAN_OF_B), ("main", Edit, PLAN_OF_B)],
            None,
            (Some("02-b"), Medium, Transcript),
        ),
        (
            "three without",
            None,
            &[("main", Read, PLAN_OF_A), ("main", Read, PLAN_OF_B), ("main", Read, STEPS_OF_C)],
            Some("01-a"),
            (None, Low, Fallback),
        ),
        (
            "three with a leader",
            None,
            &[
                ("main", Read, PLAN_OF_A),
                ("main", Read, PLAN_OF_B),
                ("main", Edit, STEPS_OF_C),
                ("main", Edit, STEPS_OF_C),
                ("main", Edit, STEPS_OF_C),
            ],
            None,
            (Some("03-c"), Medium, Transcript),
        ),
        (
            "one that there is not",
            None,
            &[("main", Edit, ".agent/context/workstreams/99-nope/plan.md")],
            None,
            (None, Low, Fallback),
        ),
        ("only prose", None, &[], None, (None, Low, Fallback)),
        ("only prose, known before", None, &[], Some("01-a"), (Some("01-a"), Low, Cache)),
        (
            "another root's",
            None,
            &[("main", Edit, "/other/.agent/context/workstreams/01-a/plan.md")],
            None,
            (None, Low, Fallback),
        ),
        ("Bash only", None, &[("command", Read, PLAN_OF_A)], None, (Some("01-a"), Medium, Transcript)),
        ("sub-agent only", None, &[("agent", Edit, PLAN_OF_A)], None, (None, Low, Fallback)),
        (
            "no workstream's",
            None,
            &[("main", Edit, "src/a.rs"), ("main", Edit, ".agent/context/workstreams/odd/x")],
            None,
            (None, Low, Fallback),
        ),
    ];
    for (name, mapped, calls, cached, (id, confidence, method)) in cases {
        let digest = fold_calls(calls);
        let there = ["01-a", "02-b", "03-c"].map(str::to_owned);
        let found = detect_workstream(&DetectionFacts {
            workstream_naming_session: *mapped,
            digest: &digest,
            existing_workstreams: &there,
            last_detected: *cached,
        });
        let expected =
            DetectedWorkstream { id: id.map(str::to_owned), confidence: *confidence, method: *method };
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn what_the_last_answer_was_made_of_is_no_second_source() {
    let there = ["01-a", "02-b"].map(str::to_owned);
    let mut digest =
        fold_calls(&[("main", FileAction::Edit, PLAN_OF_A), ("main", FileAction::Edit, "src/x.rs")]);
    let found = |digest: &Digest| {
        let found = detect_workstream(&DetectionFacts {
            workstream_naming_session: None,
            digest,
            existing_workstreams: &there,
            last_detected: Some("01-a"),
        });
        (found.confidence, found.method)
    };
    assert_eq!(found(&digest), (DetectionConfidence::High, DetectionMethod::Transcript));
    digest.records_at_last_detection = 1;
    assert_eq!(found(&digest), (DetectionConfidence::Low, DetectionMethod::Cache));
}

#[test]
fn the_state_is_flat_small_and_stable() {
    let now = "2026-11-15T19:22:00Z".parse().unwrap();
    let detected = DetectedWorkstream {
        id: Some("24-skills".into()),
        confidence: DetectionConfidence::High,
        method: DetectionMethod::Transcript,
    };
    let state = WorkstreamAtCompaction::new(detected, "s1", "p1", now);
    let text = "{\"active_project_id\":\"24-skills\",\"confidence\":\"high\",\"detection_method\":\"transcript\",\
                \"timestamp\":\"2026-11-15T19:22:00Z\",\"session_id\":\"s1\",\"root_id\":\"p1\"}\n";
    assert_eq!(String::from_utf8(state.to_bytes()).unwrap(), text);
    assert_eq!(WorkstreamAtCompaction::parse(text.as_bytes()), Ok(state));
    let plain = "{\"active_project_id\":null,\"confidence\":\"low\",\"detection_method\":\"fallback\",\"timestamp\":\"2026-01-03T14:00:00\"}";
    assert!(WorkstreamAtCompaction::parse(plain.as_bytes()).is_ok(), "a time without a zone is UTC");
}

#[test]
fn what_is_wrong_with_a_state_has_a_name() {
    let good = "{\"active_project_id\":\"24-skills\",\"confidence\":\"high\",\"detection_method\":\"transcript\",\"timestamp\":\"2026-01-03T14:00:00\"}";
    let cases = [
        ("{\"project_detection\":{}}".to_owned(), "nested"),
        (good.replace("\"confidence\":\"high\",", ""), "`confidence` is missing"),
        (good.replace("high", "sure"), "`confidence` is `sure`"),
        (good.replace("transcript", "guess"), "`detection_method` is `guess`"),
        (good.replace("24-skills", "../x"), "not NN-kebab-case"),
        (good.replace("2026-01-03T14:00:00", "noon"), "not a valid time"),
        (format!("{good}{}", " ".repeat(1024)), "smaller than 1024"),
        ("{torn".to_owned(), "not JSON"),
    ];
    for (text, expected) in cases {
        let why = WorkstreamAtCompaction::parse(text.as_bytes()).unwrap_err();
        assert!(why.contains(expected), "{why} for {text}");
    }
}
