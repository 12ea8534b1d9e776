use super::*;
use crate::event::{EventSubagent, StopEvent};
use crate::{journal, time};

fn default_facts() -> StoreStateBeforeEvent<'static> {
    StoreStateBeforeEvent {
        mode: SharingMode::Private,
        pending_brief: None,
        session_origin: SessionOrigin::default(),
    }
}

fn event_of_kind(kind: EventKind<'_>) -> Event<'_> {
    Event {
        session: "s1".into(),
        harness_event_id: None,
        is_payload_truncated: false,
        previous_session: None,
        cwd: None,
        transcript: None,
        subagent: None,
        kind,
    }
}

fn test_policy() -> RecordPolicy<'static> {
    let now = time::parse_time("2026-11-15T19:22:00Z").unwrap();
    RecordPolicy { harness: "claude-code", checkout: "/p", redact_options: Default::default(), now }
}

fn capture_event(facts: &StoreStateBeforeEvent, event: &Event) -> Vec<StoreChange> {
    changes_to_record_event(facts, event, &journal::record_of_event(event, &test_policy()), &test_policy())
}

fn session_start(source: StartSource) -> EventKind<'static> {
    EventKind::SessionStart { source }
}

fn user_prompt() -> EventKind<'static> {
    EventKind::Prompt { text: "x".into() }
}

fn effect_names(effects: &[StoreChange]) -> Vec<&'static str> {
    let name = |effect: &StoreChange| match effect {
        StoreChange::AppendJournal(_) => "journal",
        StoreChange::RegisterSession(_) => "register",
        StoreChange::RememberSession => "remember",
        StoreChange::Checkpoint => "checkpoint",
        StoreChange::SetPending(Some(PendingBrief::Announced)) => "announced",
        StoreChange::SetPending(Some(PendingBrief::Due)) => "due",
        StoreChange::SetPending(None) => "none pending",
    };
    effects.iter().map(name).collect()
}

#[test]
fn effects_by_event() {
    let shared = StoreStateBeforeEvent { mode: SharingMode::Shared, ..default_facts() };
    let announced = StoreStateBeforeEvent { pending_brief: Some(PendingBrief::Announced), ..default_facts() };
    let due = StoreStateBeforeEvent { pending_brief: Some(PendingBrief::Due), ..default_facts() };
    let (stop, end) = (EventKind::Stop(StopEvent::default()), EventKind::SessionEnd { reason: None });
    let (compact, summary) = (
        EventKind::BeforeCompact { trigger: None, instructions: None },
        EventKind::Summary { text: "s".into() },
    );
    let after = EventKind::AfterCompact { trigger: None };
    let cases: &[(&str, StoreStateBeforeEvent, EventKind, &[&str])] = &[
        ("a tool call is one write", default_facts(), EventKind::ToolDone(Default::default()), &["journal"]),
        ("a prompt", default_facts(), user_prompt(), &["journal"]),
        ("a stop", default_facts(), stop, &["journal", "checkpoint"]),
        ("an end", default_facts(), end.clone(), &["journal", "checkpoint", "register"]),
        ("an end with a compaction", due, end, &["journal", "checkpoint", "register", "none pending"]),
        (
            "a start registers",
            default_facts(),
            session_start(StartSource::Startup),
            &["journal", "register", "remember"],
        ),
        (
            "a shared root.json stays clean",
            shared,
            session_start(StartSource::Resume),
            &["journal", "register"],
        ),
        ("a compaction is announced", default_facts(), compact, &["journal", "announced", "checkpoint"]),
        ("and comes", announced, summary.clone(), &["journal", "due"]),
        ("and comes without a summary", announced, after.clone(), &["journal", "due"]),
        ("and its brief was already sent", due, after, &["journal"]),
        ("a sub-agent's was not announced", default_facts(), summary, &["journal"]),
        (
            "the brief is sent at the start",
            due,
            session_start(StartSource::Compact),
            &["journal", "register", "remember", "none pending"],
        ),
        ("or at the next prompt", due, user_prompt(), &["journal", "none pending"]),
        ("or it never came", announced, user_prompt(), &["journal", "none pending"]),
    ];
    for (why, facts, kind, expected) in cases {
        assert_eq!(effect_names(&capture_event(facts, &event_of_kind(kind.clone()))), *expected, "{why}");
    }
}

#[test]
fn half_a_payload_leaves_a_brief_due() {
    let due = StoreStateBeforeEvent { pending_brief: Some(PendingBrief::Due), ..default_facts() };
    assert_eq!(
        effect_names(&capture_event(
            &due,
            &Event { is_payload_truncated: true, ..event_of_kind(user_prompt()) }
        )),
        ["journal"]
    );
}

#[test]
fn what_happens_to_a_sub_agent_changes_nothing_for_the_session() {
    for kind in [
        session_start(StartSource::Compact),
        EventKind::BeforeCompact { trigger: None, instructions: None },
        EventKind::Stop(StopEvent::default()),
        EventKind::ToolDone(Default::default()),
    ] {
        let agent = Some(EventSubagent { id: "a".into(), agent_type: "explorer".into() });
        let event = Event { subagent: agent, ..event_of_kind(kind) };
        assert_eq!(effect_names(&capture_event(&default_facts(), &event)), ["journal"]);
        assert_eq!(brief_occasion(&event, Some(PendingBrief::Due), true), None);
        assert!(!sends_guidance_to_summariser(&event, &Settings::default()));
    }
}

#[test]
fn when_a_brief_is_given() {
    let cases = [
        (session_start(StartSource::Startup), None, Some(BriefOccasion::Started)),
        (session_start(StartSource::Compact), None, Some(BriefOccasion::Compacted)),
        (session_start(StartSource::Clear), None, None),
        (session_start(StartSource::Unknown), None, None),
        (user_prompt(), None, None),
        (user_prompt(), Some(PendingBrief::Announced), None),
        (user_prompt(), Some(PendingBrief::Due), Some(BriefOccasion::Compacted)),
        (EventKind::Stop(StopEvent::default()), Some(PendingBrief::Due), None),
    ];
    for (kind, pending, expected) in cases {
        for replays in [false, true] {
            let occasion = brief_occasion(&event_of_kind(kind.clone()), pending, replays);
            assert_eq!(occasion, expected, "{kind:?} {pending:?}");
        }
    }
    for source in [StartSource::Resume, StartSource::Fork] {
        assert_eq!(
            brief_occasion(&event_of_kind(session_start(source)), None, true),
            Some(BriefOccasion::Replayed)
        );
        assert_eq!(
            brief_occasion(&event_of_kind(session_start(source)), None, false),
            Some(BriefOccasion::Resumed)
        );
    }
    assert_eq!(max_brief_length(BriefOccasion::Replayed, 9_500), MAX_REPLAYED_BRIEF_UNITS);
    assert_eq!(max_brief_length(BriefOccasion::Started, 9_500), MAX_STARTUP_BRIEF_UNITS);
    assert_eq!(max_brief_length(BriefOccasion::Compacted, 9_500), 9_500);
}

#[test]
fn the_summariser_is_guided_unless_told_not_to() {
    let compact = event_of_kind(EventKind::BeforeCompact { trigger: None, instructions: None });
    assert!(sends_guidance_to_summariser(&compact, &Settings::default()));
    let off = Settings { compaction_guidance: false, ..Settings::default() };
    assert!(!sends_guidance_to_summariser(&compact, &off));
    assert!(!sends_guidance_to_summariser(&event_of_kind(user_prompt()), &Settings::default()));
    let text = |facts: &[&str]| match summariser_guidance(
        &facts.iter().map(|fact| (*fact).to_owned()).collect::<Vec<_>>(),
    ) {
        Reply::GuideSummariser(text) => text,
        other => panic!("{other:?}"),
    };
    assert_eq!(text(&[]), SUMMARISER_GUIDANCE_TEXT);
    let told = text(&["phase 2", "in progress: 2.1"]);
    assert!(told.ends_with("as they are now:\n- phase 2\n- in progress: 2.1\n"), "{told}");
    let long = "x".repeat(MAX_GUIDANCE_FACTS_UNITS);
    assert_eq!(text(&[&long, "left out"]).matches("\n- ").count(), 1, "as many as fit");
    assert_eq!(text(&["first", &long]).matches("\n- ").count(), 1);
}

#[test]
fn the_user_is_told_where_a_session_starts_why_nothing_is_captured() {
    let moved = NotCapturedReason::Moved { from: "/old" };
    let unwritable = NotCapturedReason::Unwritable { why: "no space" };
    let cases = [
        (NotCapturedReason::Untrusted, "`thru trust`", false),
        (moved, "`thru trust --moved`", true),
        (NotCapturedReason::Disabled, "`thru config`", true),
        (unwritable, "`thru doctor`", true),
        (NotCapturedReason::MarkerUnusable { why: "damaged" }, "(damaged). `thru doctor`", true),
        (NotCapturedReason::StoreTooNew { why: "version 9" }, "this thru is older than the records", true),
        (NotCapturedReason::TrustUnknown { why: "torn\nrecord" }, "(torn record). `thru doctor`", true),
    ];
    for (off, way_out, at_resume) in cases {
        let told = |kind: &EventKind| matches!(not_captured_notice(kind, "/p", off), Reply::MessageForUser(text) if text.contains(way_out));
        assert!(told(&session_start(StartSource::Startup)), "{off:?}");
        assert_eq!(
            [StartSource::Resume, StartSource::Fork].map(|source| told(&session_start(source))),
            [at_resume; 2],
            "{off:?}"
        );
        for source in [StartSource::Clear, StartSource::Compact, StartSource::Unknown] {
            assert!(!told(&session_start(source)), "{off:?} {source:?}");
        }
        assert!(!told(&user_prompt()), "{off:?}");
    }
}
