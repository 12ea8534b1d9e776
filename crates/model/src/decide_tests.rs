use super::*;
use crate::time;

fn facts() -> Facts<'static> {
    Facts { harness: "claude-code", root: "/p", checkout: "/p", trusted: true, mode: Mode::Private }
}

fn run(facts: &Facts, kind: Kind) -> Verdict {
    let event =
        Event { session: "s1".into(), previous: None, cwd: None, transcript: None, agent: None, kind };
    decide(facts, &event, &Settings::default(), time::parse("2026-11-15T19:22:00Z").unwrap())
}

fn start(source: Source) -> Kind<'static> {
    Kind::SessionStart { source }
}

/// What an effect does, without its bytes.
fn names(verdict: &Verdict) -> Vec<&'static str> {
    let name = |effect: &Effect| match effect {
        Effect::Journal(_) => "journal",
        Effect::Register(_) => "register",
        Effect::RememberSession => "remember",
    };
    verdict.effects.iter().map(name).collect()
}

#[test]
fn effects_by_event() {
    let shared = Facts { mode: Mode::Shared, ..facts() };
    let untrusted = Facts { trusted: false, ..facts() };
    let cases: &[(&str, Facts, Kind, &[&str])] = &[
        ("a tool call is one write", facts(), Kind::ToolDone(Default::default()), &["journal"]),
        ("a prompt", facts(), Kind::Prompt { text: "x".into() }, &["journal"]),
        ("a stop", facts(), Kind::Stop { message: None }, &["journal"]),
        ("a start registers", facts(), start(Source::Startup), &["journal", "register", "remember"]),
        ("a shared root.json stays clean", shared, start(Source::Resume), &["journal", "register"]),
        ("untrusted writes nothing", untrusted, start(Source::Startup), &[]),
        ("untrusted writes nothing", untrusted, Kind::ToolDone(Default::default()), &[]),
    ];
    for (why, facts, kind, expected) in cases {
        assert_eq!(names(&run(facts, kind.clone())), *expected, "{why}");
    }
}

#[test]
fn the_user_is_told_at_startup_only() {
    let untrusted = Facts { trusted: false, ..facts() };
    let told = |facts: &Facts, kind| matches!(run(facts, kind).reply, Reply::TellUser(text) if text.contains("thru trust"));
    assert!(told(&untrusted, start(Source::Startup)));
    for source in [Source::Resume, Source::Clear, Source::Compact, Source::Fork, Source::Unknown] {
        assert!(!told(&untrusted, start(source)), "{source:?}");
    }
    assert!(!told(&untrusted, Kind::Prompt { text: "x".into() }));
    assert!(!told(&facts(), start(Source::Startup)));
}
