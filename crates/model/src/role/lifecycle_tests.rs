use super::*;
use State::{Active, Compacting, Recovering, Saved, Saving};

fn at(text: &str) -> Timestamp {
    time::parse(text).unwrap()
}

fn actor(session: Option<&str>) -> Actor<'_> {
    Actor { by: "claude-code", session, previous: None, now: at("2026-11-15T19:22:00Z") }
}

fn role(state: State) -> Lifecycle {
    Lifecycle { state, ..Lifecycle::new(&Id::new("tester").unwrap(), at("2026-11-15T19:00:00Z")) }
}

/// Tries every pair of states: a step in the table is taken, any other step is refused with a list of the allowed
/// steps, and a forced step is recorded.
#[test]
fn every_step_that_is_not_in_the_table_is_refused() {
    let table = [
        (Active, vec![Saving, Recovering]),
        (Saving, vec![Saved, Active]),
        (Saved, vec![Compacting, Active, Recovering]),
        (Compacting, vec![Recovering, Active]),
        (Recovering, vec![Active]),
    ];
    for (from, allowed) in table {
        for to in STATES {
            let mut lifecycle = role(from);
            let went = lifecycle.step(to, "why", Insist::No, &actor(None));
            if allowed.contains(&to) {
                assert_eq!((went, lifecycle.state, lifecycle.history.len()), (Ok(()), to, 1), "{from} {to}");
                assert!(!lifecycle.history[0].forced);
                continue;
            }
            let words = went.unwrap_err().to_string();
            assert!(words.contains(&format!("tester is {from} and cannot become {to}")), "{words}");
            assert!(allowed.iter().all(|state| words.contains(state.name())), "{words}");
            assert_eq!(lifecycle, role(from), "nothing has changed");
            lifecycle.step(to, "why", Insist::Yes, &actor(None)).unwrap();
            assert_eq!((lifecycle.state, lifecycle.history[0].forced), (to, true), "{from} {to}");
        }
    }
}

#[test]
fn what_happens_leads_where_it_should() {
    let (valid, invalid) = (Validity::Valid, Validity::Invalid);
    let cases: &[(State, Happened, &[State])] = &[
        (Active, Happened::Save(valid), &[Saving, Saved]),
        (Active, Happened::Save(invalid), &[Saving, Active]),
        (Saved, Happened::Save(valid), &[Active, Saving, Saved]),
        (Saved, Happened::Save(invalid), &[Active, Saving, Active]),
        (Saving, Happened::Save(valid), &[Saved]),
        (Active, Happened::Compaction(valid), &[Saving, Saved, Compacting]),
        (Saved, Happened::Compaction(valid), &[Compacting]),
        (Saving, Happened::Compaction(valid), &[Saved, Compacting]),
        (Compacting, Happened::Compaction(valid), &[Active, Saving, Saved, Compacting]),
        (Recovering, Happened::Compaction(valid), &[Active, Saving, Saved, Compacting]),
        (Active, Happened::Start, &[Recovering]),
        (Saved, Happened::Start, &[Recovering]),
        (Saving, Happened::Start, &[Active, Recovering]),
        (Compacting, Happened::Start, &[Recovering]),
        (Recovering, Happened::Start, &[]),
        (Compacting, Happened::NeverCame, &[Active]),
        (Saved, Happened::NeverCame, &[]),
        (Recovering, Happened::NeverCame, &[]),
        (Recovering, Happened::FileRead, &[Active]),
        (Compacting, Happened::FileRead, &[Active]),
        (Saved, Happened::FileRead, &[]),
        (Active, Happened::FileRead, &[]),
        (Saved, Happened::FileEdited, &[Active]),
        (Active, Happened::FileEdited, &[]),
        (Active, Happened::Recover, &[]),
    ];
    for (from, happened, expected) in cases {
        let mut lifecycle = role(*from);
        lifecycle.hear(*happened, Insist::No, &actor(Some("s1"))).unwrap();
        let went: Vec<State> = lifecycle.history.iter().map(|step| step.to).collect();
        assert_eq!(went, *expected, "{from} {happened:?}");
    }
    for from in STATES {
        let mut lifecycle = role(from);
        lifecycle.hear(Happened::Recover, Insist::No, &actor(None)).unwrap();
        assert_eq!(lifecycle.state, Active, "any state can be recovered from");
        let mut lifecycle = role(from);
        lifecycle.hear(Happened::Compaction(invalid), Insist::No, &actor(None)).unwrap();
        assert_eq!(lifecycle, role(from), "an invalid file changes nothing");
    }
}

#[test]
fn a_save_in_the_middle_of_a_compaction_is_refused_unless_insisted() {
    for from in [Compacting, Recovering] {
        let mut lifecycle = role(from);
        let refused = lifecycle.hear(Happened::Save(Validity::Valid), Insist::No, &actor(None)).unwrap_err();
        assert!(matches!(refused, Refused::NotInTable { to: Saving, .. }), "{refused}");
        assert_eq!(lifecycle, role(from));
        lifecycle.hear(Happened::Save(Validity::Valid), Insist::Yes, &actor(None)).unwrap();
        let forced: Vec<bool> = lifecycle.history.iter().map(|step| step.forced).collect();
        assert_eq!((lifecycle.state, forced), (Saved, vec![true, false]));
    }
}

/// The session that compacts or recovers has the role to itself. A dead session loses it after a while.
#[test]
fn two_sessions_in_one_role_do_not_cross() {
    let mut lifecycle = role(Saved);
    lifecycle.hear(Happened::Compaction(Validity::Valid), Insist::No, &actor(Some("a"))).unwrap();
    for happened in [
        Happened::NeverCame,
        Happened::Start,
        Happened::FileRead,
        Happened::Compaction(Validity::Valid),
        Happened::Recover,
    ] {
        let refused = lifecycle.clone().hear(happened, Insist::No, &actor(Some("b"))).unwrap_err();
        assert_eq!(refused.to_string(), "tester is compacting in session a, which has it to itself");
    }
    let renamed = Actor { previous: Some("a"), ..actor(Some("c")) };
    assert_eq!(
        lifecycle.clone().hear(Happened::Start, Insist::No, &renamed),
        Ok(1),
        "the same under another id"
    );
    lifecycle.hear(Happened::Start, Insist::No, &actor(Some("a"))).unwrap();
    assert!(lifecycle.clone().hear(Happened::FileRead, Insist::No, &actor(Some("b"))).is_err());
    assert_eq!(
        lifecycle.clone().hear(Happened::Recover, Insist::No, &actor(None)),
        Ok(1),
        "a person at a terminal may"
    );
    let later = Actor { now: at("2026-11-15T20:22:00Z"), ..actor(Some("b")) };
    assert_eq!(lifecycle.clone().hear(Happened::Compaction(Validity::Valid), Insist::No, &later), Ok(4));
    lifecycle.hear(Happened::FileRead, Insist::No, &actor(Some("a"))).unwrap();
    assert_eq!((lifecycle.state, lifecycle.session.as_str()), (Active, ""));
    assert_eq!(lifecycle.hear(Happened::Compaction(Validity::Valid), Insist::No, &actor(Some("b"))), Ok(3));
}

#[test]
fn reads_back_what_it_wrote_and_forgets_by_count() {
    let mut lifecycle = role(Active);
    for _ in 0..201 {
        lifecycle.hear(Happened::Save(Validity::Invalid), Insist::No, &actor(Some("s"))).unwrap();
    }
    assert_eq!((lifecycle.history.len(), lifecycle.forgotten), (400, 2));
    assert_eq!(Lifecycle::parse(&lifecycle.render()), Ok(lifecycle));
    assert!(matches!(Lifecycle::parse(b"{\"schema_version\": 9}"), Err(Problem::Foreign { .. })));
    assert!(matches!(Lifecycle::parse(b"{\"schema_version\": 1, \"ro"), Err(Problem::Damaged { .. })));
}

#[test]
fn machines_are_named_after_their_roles() {
    assert_eq!(machine(&Id::new("oosh-expert.v2").unwrap()), "oosh_expert_v2");
}
