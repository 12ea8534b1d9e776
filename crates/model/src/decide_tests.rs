use super::*;
use crate::event::{Agent, Stop};
use crate::{journal, time};

fn facts() -> Facts<'static> {
    Facts { mode: Mode::Private, pending: None, process: None }
}

fn event(kind: Kind<'_>) -> Event<'_> {
    Event {
        session: "s1".into(),
        id: None,
        torn: false,
        previous: None,
        cwd: None,
        transcript: None,
        agent: None,
        kind,
    }
}

fn policy() -> RecordPolicy<'static> {
    let now = time::parse("2026-11-15T19:22:00Z").unwrap();
    RecordPolicy { harness: "claude-code", checkout: "/p", redact: Default::default(), now }
}

fn run(facts: &Facts, event: &Event) -> Vec<Effect> {
    capture(facts, event, &journal::record(event, &policy()), &policy())
}

fn start(source: Source) -> Kind<'static> {
    Kind::SessionStart { source }
}

fn prompt() -> Kind<'static> {
    Kind::Prompt { text: "x".into() }
}

/// Returns the names of the effects, without their bytes.
fn names(effects: &[Effect]) -> Vec<&'static str> {
    let name = |effect: &Effect| match effect {
        Effect::Journal(_) => "journal",
        Effect::Register(_) => "register",
        Effect::RememberSession => "remember",
        Effect::Checkpoint => "checkpoint",
        Effect::SetPending(Some(Pending::Announced)) => "announced",
        Effect::SetPending(Some(Pending::Due)) => "due",
        Effect::SetPending(None) => "none pending",
    };
    effects.iter().map(name).collect()
}

#[test]
fn effects_by_event() {
    let shared = Facts { mode: Mode::Shared, ..facts() };
    let announced = Facts { pending: Some(Pending::Announced), ..facts() };
    let due = Facts { pending: Some(Pending::Due), ..facts() };
    let (stop, end) = (Kind::Stop(Stop::default()), Kind::SessionEnd { reason: None });
    let (compact, summary) =
        (Kind::BeforeCompact { trigger: None, instructions: None }, Kind::Summary { text: "s".into() });
    let after = Kind::AfterCompact { trigger: None };
    let cases: &[(&str, Facts, Kind, &[&str])] = &[
        ("a tool call is one write", facts(), Kind::ToolDone(Default::default()), &["journal"]),
        ("a prompt", facts(), prompt(), &["journal"]),
        ("a stop", facts(), stop, &["journal", "checkpoint"]),
        ("an end", facts(), end.clone(), &["journal", "checkpoint", "register"]),
        ("an end with a compaction", due, end, &["journal", "checkpoint", "register", "none pending"]),
        ("a start registers", facts(), start(Source::Startup), &["journal", "register", "remember"]),
        ("a shared root.json stays clean", shared, start(Source::Resume), &["journal", "register"]),
        ("a compaction is announced", facts(), compact, &["journal", "announced", "checkpoint"]),
        ("and comes", announced, summary.clone(), &["journal", "due"]),
        ("and comes without a summary", announced, after.clone(), &["journal", "due"]),
        ("and was told already", due, after, &["journal"]),
        ("a sub-agent's was not announced", facts(), summary, &["journal"]),
        (
            "told at the start",
            due,
            start(Source::Compact),
            &["journal", "register", "remember", "none pending"],
        ),
        ("or at the next prompt", due, prompt(), &["journal", "none pending"]),
        ("or it never came", announced, prompt(), &["journal", "none pending"]),
    ];
    for (why, facts, kind, expected) in cases {
        assert_eq!(names(&run(facts, &event(kind.clone()))), *expected, "{why}");
    }
}

#[test]
fn half_a_payload_leaves_a_brief_due() {
    let due = Facts { pending: Some(Pending::Due), ..facts() };
    assert_eq!(names(&run(&due, &Event { torn: true, ..event(prompt()) })), ["journal"]);
}

#[test]
fn what_happens_to_a_sub_agent_changes_nothing_for_the_session() {
    for kind in [
        start(Source::Compact),
        Kind::BeforeCompact { trigger: None, instructions: None },
        Kind::Stop(Stop::default()),
        Kind::ToolDone(Default::default()),
    ] {
        let agent = Some(Agent { id: "a".into(), kind: "explorer".into() });
        let event = Event { agent, ..event(kind) };
        assert_eq!(names(&run(&facts(), &event)), ["journal"]);
        assert_eq!(occasion(&event, Some(Pending::Due), true), None);
        assert!(!guides(&event, &Settings::default()));
    }
}

#[test]
fn when_a_brief_is_given() {
    let cases = [
        (start(Source::Startup), None, Some(Occasion::Started)),
        (start(Source::Compact), None, Some(Occasion::Compacted)),
        (start(Source::Clear), None, None),
        (start(Source::Unknown), None, None),
        (prompt(), None, None),
        (prompt(), Some(Pending::Announced), None),
        (prompt(), Some(Pending::Due), Some(Occasion::Compacted)),
        (Kind::Stop(Stop::default()), Some(Pending::Due), None),
    ];
    for (kind, pending, expected) in cases {
        for replays in [false, true] {
            let occasion = occasion(&event(kind.clone()), pending, replays);
            assert_eq!(occasion, expected, "{kind:?} {pending:?}");
        }
    }
    for source in [Source::Resume, Source::Fork] {
        assert_eq!(occasion(&event(start(source)), None, true), Some(Occasion::Replayed));
        assert_eq!(occasion(&event(start(source)), None, false), Some(Occasion::Resumed));
    }
    assert_eq!(cap(Occasion::Replayed, 9_500), REPLAYED_CAP);
    assert_eq!(cap(Occasion::Started, 9_500), STARTUP_CAP);
    assert_eq!(cap(Occasion::Compacted, 9_500), 9_500);
}

#[test]
fn the_summariser_is_guided_unless_told_not_to() {
    let compact = event(Kind::BeforeCompact { trigger: None, instructions: None });
    assert!(guides(&compact, &Settings::default()));
    let off = Settings { compaction_guidance: false, ..Settings::default() };
    assert!(!guides(&compact, &off));
    assert!(!guides(&event(prompt()), &Settings::default()));
    let text =
        |facts: &[&str]| match guidance(&facts.iter().map(|fact| (*fact).to_owned()).collect::<Vec<_>>()) {
            Reply::Guidance(text) => text,
            other => panic!("{other:?}"),
        };
    assert_eq!(text(&[]), GUIDANCE_TEXT);
    let told = text(&["phase 2", "in progress: 2.1"]);
    assert!(told.ends_with("as they are now:\n- phase 2\n- in progress: 2.1\n"), "{told}");
    let long = "x".repeat(FACTS_CAP);
    assert_eq!(text(&[&long, "left out"]).matches("\n- ").count(), 1, "as many as fit");
    assert_eq!(text(&["first", &long]).matches("\n- ").count(), 1);
}

#[test]
fn the_user_is_told_where_a_session_starts_why_nothing_is_captured() {
    let moved = NotCaptured::Moved { from: "/old" };
    let unwritable = NotCaptured::Unwritable { why: "no space" };
    let cases = [
        (NotCaptured::Untrusted, "`thru trust`", false),
        (moved, "`thru trust --moved`", true),
        (NotCaptured::Disabled, "`thru config`", true),
        (unwritable, "`thru doctor`", true),
    ];
    for (off, way_out, at_resume) in cases {
        let told = |kind: &Kind| matches!(not_captured_notice(kind, "/p", off), Reply::TellUser(text) if text.contains(way_out));
        assert!(told(&start(Source::Startup)), "{off:?}");
        assert_eq!(
            [Source::Resume, Source::Fork].map(|source| told(&start(source))),
            [at_resume; 2],
            "{off:?}"
        );
        for source in [Source::Clear, Source::Compact, Source::Unknown] {
            assert!(!told(&start(source)), "{off:?} {source:?}");
        }
        assert!(!told(&prompt()), "{off:?}");
    }
}
