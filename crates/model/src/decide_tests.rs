use super::*;
use crate::digest::Prompt;
use crate::event::{Action, Agent, Stop, ToolDone, Touched};
use crate::time;

fn facts() -> Facts<'static> {
    Facts {
        harness: "claude-code",
        root: "/p",
        checkout: "/p",
        trusted: true,
        mode: Mode::Private,
        context_cap: 9_500,
        past: None,
        pending: None,
        again: false,
        process: None,
        awaited: None,
        reminder: None,
    }
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

fn run(facts: &Facts, event: &Event) -> Verdict {
    decide(facts, event, &Settings::default(), time::parse("2026-11-15T19:22:00Z").unwrap())
}

fn start(source: Source) -> Kind<'static> {
    Kind::SessionStart { source }
}

fn prompt() -> Kind<'static> {
    Kind::Prompt { text: "x".into() }
}

fn read(path: &'static str, failed: bool) -> Kind<'static> {
    let files = vec![Touched { path: path.into(), action: Action::Read }];
    Kind::ToolDone(Box::new(ToolDone { tool: "Read".into(), files, failed, ..ToolDone::default() }))
}

/// What an effect does, without its bytes.
fn names(verdict: &Verdict) -> Vec<&'static str> {
    let name = |effect: &Effect| match effect {
        Effect::Journal(_) => "journal",
        Effect::Register(_) => "register",
        Effect::RememberSession => "remember",
        Effect::Checkpoint => "checkpoint",
        Effect::SetPending(Some(Pending::Announced)) => "announced",
        Effect::SetPending(Some(Pending::Due)) => "due",
        Effect::SetPending(None) => "told",
        Effect::Role(RoleEvent::Started) => "role started",
        Effect::Role(RoleEvent::WentOn) => "role went on",
        Effect::Role(RoleEvent::Compaction) => "role compacts",
        Effect::Role(RoleEvent::NeverCame) => "role stays",
        Effect::Role(RoleEvent::Touched(_)) => "role touched",
        Effect::KeepMessage { .. } => "message",
    };
    verdict.effects.iter().map(name).collect()
}

#[test]
fn effects_by_event() {
    let shared = Facts { mode: Mode::Shared, ..facts() };
    let untrusted = Facts { trusted: false, ..facts() };
    let announced = Facts { pending: Some(Pending::Announced), ..facts() };
    let due = Facts { pending: Some(Pending::Due), ..facts() };
    let (stop, end) = (Kind::Stop(Stop::default()), Kind::SessionEnd { reason: None });
    let (compact, summary) =
        (Kind::BeforeCompact { trigger: None, instructions: None }, Kind::Summary { text: "s".into() });
    let cases: &[(&str, Facts, Kind, &[&str])] = &[
        ("a tool call is one write", facts(), Kind::ToolDone(Default::default()), &["journal"]),
        ("a prompt", facts(), prompt(), &["journal"]),
        ("a stop", facts(), stop, &["journal", "checkpoint"]),
        ("an end", facts(), end, &["journal", "checkpoint", "register"]),
        (
            "a start registers",
            facts(),
            start(Source::Startup),
            &["journal", "register", "remember", "role started"],
        ),
        (
            "a shared root.json stays clean",
            shared,
            start(Source::Resume),
            &["journal", "register", "role went on"],
        ),
        (
            "a compaction is announced",
            facts(),
            compact,
            &["journal", "announced", "checkpoint", "role compacts"],
        ),
        ("and comes", announced, summary.clone(), &["journal", "due"]),
        ("a sub-agent's was not announced", facts(), summary, &["journal"]),
        (
            "told at the start",
            due,
            start(Source::Compact),
            &["journal", "register", "remember", "told", "role went on"],
        ),
        ("or at the next prompt", due, prompt(), &["journal", "told", "role went on"]),
        ("or it never came", announced, prompt(), &["journal", "told", "role stays"]),
        ("a role file was read", facts(), read("a.context.md", false), &["journal", "role touched"]),
        ("it was not", facts(), read("a.context.md", true), &["journal"]),
        ("another was", facts(), read("a.md", false), &["journal"]),
        ("untrusted writes nothing", untrusted, start(Source::Startup), &[]),
        ("untrusted writes nothing", untrusted, Kind::ToolDone(Default::default()), &[]),
    ];
    for (why, facts, kind, expected) in cases {
        assert_eq!(names(&run(facts, &event(kind.clone()))), *expected, "{why}");
    }
}

#[test]
fn what_happens_to_a_sub_agent_changes_nothing_for_the_session() {
    for kind in [
        start(Source::Compact),
        Kind::BeforeCompact { trigger: None, instructions: None },
        Kind::Stop(Stop::default()),
        read("a.context.md", false),
    ] {
        let agent = Some(Agent { id: "a".into(), kind: "explorer".into() });
        let verdict = run(&facts(), &Event { agent, ..event(kind) });
        assert_eq!((names(&verdict), verdict.reply), (vec!["journal"], Reply::Silent));
    }
}

#[test]
fn who_is_told_what_went_before() {
    let mut digest = Digest::new("s1");
    digest.prompts.push(Prompt { text: "the goal ".repeat(300), ..Prompt::default() });
    let past = Some(Past { digest: &digest, problems: &[], gone: &[], notes: &[] });
    let reply = |facts: Facts, kind| run(&Facts { past, ..facts }, &event(kind)).reply;
    let told =
        |facts: Facts, kind| matches!(reply(facts, kind), Reply::Context(text) if text.contains("the goal"));
    for source in [Source::Startup, Source::Resume, Source::Compact, Source::Fork] {
        assert!(told(facts(), start(source)), "{source:?}");
    }
    for source in [Source::Clear, Source::Unknown] {
        assert!(!told(facts(), start(source)), "{source:?}");
    }
    assert!(!told(facts(), prompt()));
    assert!(told(Facts { pending: Some(Pending::Due), ..facts() }, prompt()));
    assert!(!told(Facts { pending: Some(Pending::Announced), ..facts() }, prompt()));
    let Reply::Context(short) = reply(facts(), start(Source::Startup)) else { panic!("no brief") };
    assert!(crate::render::width(&short) <= STARTUP_CAP);
}

#[test]
fn the_summariser_is_guided_unless_told_not_to() {
    let compact = event(Kind::BeforeCompact { trigger: None, instructions: None });
    assert!(matches!(run(&facts(), &compact).reply, Reply::Guidance(_)));
    let off = Settings { compaction_guidance: false, ..Settings::default() };
    assert_eq!(decide(&facts(), &compact, &off, Timestamp::UNIX_EPOCH).reply, Reply::Silent);
}

#[test]
fn the_user_is_told_of_an_untrusted_store_at_startup_only() {
    let untrusted = Facts { trusted: false, ..facts() };
    let told = |facts: &Facts, kind| matches!(run(facts, &event(kind)).reply, Reply::TellUser(text) if text.contains("thru trust"));
    assert!(told(&untrusted, start(Source::Startup)));
    for source in [Source::Resume, Source::Clear, Source::Compact, Source::Fork, Source::Unknown] {
        assert!(!told(&untrusted, start(source)), "{source:?}");
    }
    assert!(!told(&untrusted, prompt()));
    assert!(!told(&facts(), start(Source::Startup)));
}

#[test]
fn a_sub_agent_is_told_its_output_and_its_verdict_is_kept() {
    let agent = Some(Agent { id: "a1".into(), kind: "security".into() });
    let awaited = |verdict| Awaited {
        stage: "review".into(),
        file: "review-security.md".into(),
        path: "/p/o/review-security.md".into(),
        shown: "o/review-security.md".into(),
        verdict,
    };
    let started = Event { agent: agent.clone(), ..event(Kind::SubagentStart) };
    let fact = awaited(OutputVerdict::Missing);
    let told = run(&Facts { awaited: Some(&fact), ..facts() }, &started);
    assert!(
        matches!(&told.reply, Reply::Context(text) if text.contains("/p/o/review-security.md")),
        "{told:?}"
    );
    assert_eq!(run(&facts(), &started).reply, Reply::Silent);
    for (verdict, message, effects) in [
        (OutputVerdict::Missing, Some("It is fine."), &["journal", "message"][..]),
        (OutputVerdict::Empty, Some("It is fine."), &["journal", "message"]),
        (OutputVerdict::Missing, Some("  "), &["journal"]),
        (OutputVerdict::Missing, None, &["journal"]),
        (OutputVerdict::Incomplete, Some("It is fine."), &["journal"]),
        (OutputVerdict::Valid, Some("It is fine."), &["journal"]),
    ] {
        let fact = awaited(verdict);
        let stopped =
            Event { agent: agent.clone(), ..event(Kind::SubagentStop { message: message.map(Into::into) }) };
        let verdict = run(&Facts { awaited: Some(&fact), ..facts() }, &stopped);
        assert_eq!(names(&verdict), effects, "{fact:?}");
        let Effect::Journal(line) = &verdict.effects[0] else { panic!("the journal first") };
        let line = String::from_utf8_lossy(line);
        let word = format!("\"verdict\":\"{}\"", fact.verdict.name());
        assert!(line.contains(&word) && line.contains("\"output\":\"o/review-security.md\""), "{line}");
        assert_eq!(verdict.reply, Reply::Silent);
    }
}
