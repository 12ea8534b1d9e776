use super::*;
use LifecycleState::{Active, Compacting, Recovering, Saved, Saving};

fn parse_time(text: &str) -> Timestamp {
    time::parse_time(text).unwrap()
}

fn actor_of_session(session: Option<&str>) -> LifecycleStepActor<'_> {
    LifecycleStepActor {
        actor: "claude-code",
        session,
        previous_session: None,
        now: parse_time("2026-11-15T19:22:00Z"),
    }
}

fn role_in_state(state: LifecycleState) -> Lifecycle {
    Lifecycle { state, ..Lifecycle::new(&Id::new("tester").unwrap(), parse_time("2026-11-15T19:00:00Z")) }
}

/// Every pair of states is tried. A step in the table is taken, any other step is refused with a list of the allowed
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
        for to in ALL_STATES {
            let mut lifecycle = role_in_state(from);
            let went = lifecycle.take_step(to, "why", ForceStep::No, &actor_of_session(None));
            if allowed.contains(&to) {
                assert_eq!((went, lifecycle.state, lifecycle.history.len()), (Ok(()), to, 1), "{from} {to}");
                assert!(!lifecycle.history[0].forced);
                continue;
            }
            let words = went.unwrap_err().to_string();
            assert!(words.contains(&format!("tester is {from} and cannot become {to}")), "{words}");
            assert!(allowed.iter().all(|state| words.contains(state.name())), "{words}");
            assert_eq!(lifecycle, role_in_state(from), "nothing has changed");
            lifecycle.take_step(to, "why", ForceStep::Yes, &actor_of_session(None)).unwrap();
            assert_eq!((lifecycle.state, lifecycle.history[0].forced), (to, true), "{from} {to}");
        }
    }
}

#[test]
fn what_happens_leads_where_it_should() {
    let (valid, invalid) = (ContextFileValidity::Valid, ContextFileValidity::Invalid);
    let cases: &[(LifecycleState, LifecycleEvent, &[LifecycleState])] = &[
        (Active, LifecycleEvent::Save(valid), &[Saving, Saved]),
        (Active, LifecycleEvent::Save(invalid), &[Saving, Active]),
        (Saved, LifecycleEvent::Save(valid), &[Active, Saving, Saved]),
        (Saved, LifecycleEvent::Save(invalid), &[Active, Saving, Active]),
        (Saving, LifecycleEvent::Save(valid), &[Saved]),
        (Active, LifecycleEvent::Compaction(valid), &[Saving, Saved, Compacting]),
        (Saved, LifecycleEvent::Compaction(valid), &[Compacting]),
        (Saving, LifecycleEvent::Compaction(valid), &[Saved, Compacting]),
        (Compacting, LifecycleEvent::Compaction(valid), &[Active, Saving, Saved, Compacting]),
        (Recovering, LifecycleEvent::Compaction(valid), &[Active, Saving, Saved, Compacting]),
        (Active, LifecycleEvent::Start, &[Recovering]),
        (Saved, LifecycleEvent::Start, &[Recovering]),
        (Saving, LifecycleEvent::Start, &[Active, Recovering]),
        (Compacting, LifecycleEvent::Start, &[Recovering]),
        (Recovering, LifecycleEvent::Start, &[]),
        (Compacting, LifecycleEvent::NotCompacted, &[Active]),
        (Saved, LifecycleEvent::NotCompacted, &[]),
        (Recovering, LifecycleEvent::NotCompacted, &[]),
        (Recovering, LifecycleEvent::FileRead, &[Active]),
        (Compacting, LifecycleEvent::FileRead, &[Active]),
        (Saved, LifecycleEvent::FileRead, &[]),
        (Active, LifecycleEvent::FileRead, &[]),
        (Saved, LifecycleEvent::FileEdited, &[Active]),
        (Active, LifecycleEvent::FileEdited, &[]),
        (Active, LifecycleEvent::Recover, &[]),
    ];
    for (from, happened, expected) in cases {
        let mut lifecycle = role_in_state(*from);
        lifecycle.apply_event(*happened, ForceStep::No, &actor_of_session(Some("s1"))).unwrap();
        let went: Vec<LifecycleState> = lifecycle.history.iter().map(|step| step.to).collect();
        assert_eq!(went, *expected, "{from} {happened:?}");
    }
    for from in ALL_STATES {
        let mut lifecycle = role_in_state(from);
        lifecycle.apply_event(LifecycleEvent::Recover, ForceStep::No, &actor_of_session(None)).unwrap();
        assert_eq!(lifecycle.state, Active, "any state can be recovered from");
        let mut lifecycle = role_in_state(from);
        lifecycle
            .apply_event(LifecycleEvent::Compaction(invalid), ForceStep::No, &actor_of_session(None))
            .unwrap();
        assert_eq!(lifecycle, role_in_state(from), "an invalid file changes nothing");
    }
}

#[test]
fn a_save_in_the_middle_of_a_compaction_is_refused_unless_insisted() {
    for from in [Compacting, Recovering] {
        let mut lifecycle = role_in_state(from);
        let refused = lifecycle
            .apply_event(
                LifecycleEvent::Save(ContextFileValidity::Valid),
                ForceStep::No,
                &actor_of_session(None),
            )
            .unwrap_err();
        assert!(matches!(refused, LifecycleStepRefusal::NotInTable { to: Saving, .. }), "{refused}");
        assert_eq!(lifecycle, role_in_state(from));
        lifecycle
            .apply_event(
                LifecycleEvent::Save(ContextFileValidity::Valid),
                ForceStep::Yes,
                &actor_of_session(None),
            )
            .unwrap();
        let forced: Vec<bool> = lifecycle.history.iter().map(|step| step.forced).collect();
        assert_eq!((lifecycle.state, forced), (Saved, vec![true, false]));
    }
}

/// A session that is compacting or recovering has exclusive use of the role. If the session dies, it loses the role
/// after a while.
#[test]
fn two_sessions_in_one_role_do_not_cross() {
    let mut lifecycle = role_in_state(Saved);
    lifecycle
        .apply_event(
            LifecycleEvent::Compaction(ContextFileValidity::Valid),
            ForceStep::No,
            &actor_of_session(Some("a")),
        )
        .unwrap();
    for happened in [
        LifecycleEvent::NotCompacted,
        LifecycleEvent::Start,
        LifecycleEvent::FileRead,
        LifecycleEvent::Compaction(ContextFileValidity::Valid),
        LifecycleEvent::Recover,
    ] {
        let refused =
            lifecycle.clone().apply_event(happened, ForceStep::No, &actor_of_session(Some("b"))).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "tester is compacting in session a, and only that session may change it now"
        );
    }
    let renamed = LifecycleStepActor { previous_session: Some("a"), ..actor_of_session(Some("c")) };
    assert_eq!(
        lifecycle.clone().apply_event(LifecycleEvent::Start, ForceStep::No, &renamed),
        Ok(1),
        "the same under another id"
    );
    lifecycle.apply_event(LifecycleEvent::Start, ForceStep::No, &actor_of_session(Some("a"))).unwrap();
    assert!(
        lifecycle
            .clone()
            .apply_event(LifecycleEvent::FileRead, ForceStep::No, &actor_of_session(Some("b")))
            .is_err()
    );
    assert_eq!(
        lifecycle.clone().apply_event(LifecycleEvent::Recover, ForceStep::No, &actor_of_session(None)),
        Ok(1),
        "a person at a terminal may"
    );
    let later = LifecycleStepActor { now: parse_time("2026-11-15T20:22:00Z"), ..actor_of_session(Some("b")) };
    assert_eq!(
        lifecycle.clone().apply_event(
            LifecycleEvent::Compaction(ContextFileValidity::Valid),
            ForceStep::No,
            &later
        ),
        Ok(4)
    );
    lifecycle.apply_event(LifecycleEvent::FileRead, ForceStep::No, &actor_of_session(Some("a"))).unwrap();
    assert_eq!((lifecycle.state, lifecycle.session.as_str()), (Active, ""));
    assert_eq!(
        lifecycle.apply_event(
            LifecycleEvent::Compaction(ContextFileValidity::Valid),
            ForceStep::No,
            &actor_of_session(Some("b"))
        ),
        Ok(3)
    );
}

#[test]
fn reads_back_what_it_wrote_and_forgets_by_count() {
    let mut lifecycle = role_in_state(Active);
    for _ in 0..201 {
        lifecycle
            .apply_event(
                LifecycleEvent::Save(ContextFileValidity::Invalid),
                ForceStep::No,
                &actor_of_session(Some("s")),
            )
            .unwrap();
    }
    assert_eq!((lifecycle.history.len(), lifecycle.dropped_steps), (400, 2));
    assert_eq!(Lifecycle::parse(&lifecycle.to_bytes()), Ok(lifecycle));
    assert!(matches!(Lifecycle::parse(b"{\"schema_version\": 9}"), Err(RootMarkerProblem::Foreign { .. })));
    assert!(matches!(
        Lifecycle::parse(b"{\"schema_version\": 1, \"ro"),
        Err(RootMarkerProblem::Damaged { .. })
    ));
}

#[test]
fn machines_are_named_after_their_roles() {
    assert_eq!(state_file_stem(&Id::new("oosh-expert.v2").unwrap()), "oosh_expert_v2");
}
