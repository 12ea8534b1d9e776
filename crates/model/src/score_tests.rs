use super::*;
use crate::config::{KEYS, Settings, Value};

fn scoring() -> Scoring {
    Settings::DEFAULT.scoring_if_enabled()
}

fn value(signals: &[(Signal, f64)], depth: Option<u32>, age_hours: Option<f64>, scoring: &Scoring) -> f64 {
    score(&Measured { signals: signals.to_vec(), depth, age_hours }, scoring).value
}

#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
}

#[test]
fn the_formula_by_hand() {
    use Signal::{BlockedTask, CurrentTask, DecisionRecency, DependencyProximity, EvidencePresence, Phase};
    use Signal::{RecentFailure, RecentSuccess};
    let scoring = scoring();
    let of = |signals: &[(Signal, f64)], depth, age| value(signals, depth, age, &scoring);
    close(of(&[(Phase, 1.0)], None, None), 1.0);
    close(of(&[(CurrentTask, 1.0)], None, None), 2.0);
    close(of(&[(CurrentTask, 1.0), (EvidencePresence, 1.0)], None, None), 3.0);
    close(of(&[(BlockedTask, 1.0)], None, None), 1.5);
    close(of(&[(RecentFailure, 1.0)], None, None), 2.5);
    close(of(&[(RecentFailure, 0.25)], None, None), 0.625);
    close(of(&[(RecentSuccess, 1.0)], None, None), 0.5);
    // Dependencies: weight / (1 + d), and every other signal of that task is divided too.
    close(of(&[(DependencyProximity, 1.0)], Some(1), None), 0.5);
    close(of(&[(DependencyProximity, 1.0)], Some(3), None), 0.25);
    close(of(&[(DependencyProximity, 1.0), (EvidencePresence, 1.0)], Some(2), None), 2.0 / 3.0);
    close(of(&[(CurrentTask, 1.0)], Some(0), None), 2.0);
    // Decisions: 1.5 · 2^(−age/24).
    close(of(&[(DecisionRecency, 1.0)], None, Some(0.0)), 1.5);
    close(of(&[(DecisionRecency, 1.0)], None, Some(24.0)), 0.75);
    close(of(&[(DecisionRecency, 1.0)], None, Some(12.0)), 1.060_660_171_779_821_3);
    close(of(&[(DecisionRecency, 1.0)], None, Some(168.0)), 0.011_718_75);
    close(of(&[(DecisionRecency, 1.0)], None, Some(-5.0)), 1.5);
    close(of(&[(DecisionRecency, 1.0)], None, None), 0.0);
    close(of(&[], None, None), 0.0);
}

#[test]
fn a_linear_decay_ends_at_twice_the_half_life() {
    let scoring = Scoring { decay: Decay::Linear, half_life_hours: 10.0, ..scoring() };
    for (age, expected) in [(0.0, 1.5), (5.0, 1.125), (10.0, 0.75), (15.0, 0.375), (20.0, 0.0), (500.0, 0.0)]
    {
        close(value(&[(Signal::DecisionRecency, 1.0)], None, Some(age), &scoring), expected);
    }
}

#[test]
fn a_signal_stays_between_0_and_1_and_contributions_add_up() {
    let scoring = scoring();
    close(value(&[(Signal::Files, 7.0)], None, None, &scoring), 1.0);
    close(value(&[(Signal::Files, -7.0)], None, None, &scoring), 0.0);
    let measured = Measured {
        signals: vec![(Signal::Commands, 0.6), (Signal::RecentSuccess, 0.4), (Signal::Phase, 1.0)],
        depth: Some(4),
        age_hours: None,
    };
    let found = score(&measured, &scoring);
    close(found.parts.iter().map(|part| part.contribution).sum(), found.value);
    close(found.value, (0.6 + 0.2 + 1.0) / 5.0);
    assert_eq!(found.parts[1].signal, "recent_success");
    close(found.parts[1].contribution, 0.04);
}

#[test]
fn ties_go_by_priority_then_by_the_bytes_of_the_id() {
    let place = |score, priority, id| Place { score, priority, id };
    let mut places = [
        place(1.0, 1, "b"),
        place(1.0, 2, "z"),
        place(1.0, 1, "Z"),
        place(2.0, 0, "x"),
        place(1.0, 1, "é"),
        place(1.0, 1, "a"),
        place(0.5, 9, "a"),
    ];
    places.sort_by(compare);
    assert_eq!(places.map(|place| place.id), ["x", "z", "Z", "a", "b", "é", "a"]);
}

/// Every signal has one row, in order, and one setting with the bounds and the default of the specification.
#[test]
fn one_table_names_every_signal_and_its_weight() {
    let weights = [
        ("phase", 1.0),
        ("current_task", 2.0),
        ("blocked_task", 1.5),
        ("recent_failure", 2.5),
        ("recent_success", 0.5),
        ("decision_recency", 1.5),
        ("evidence_presence", 1.0),
        ("dependency_proximity", 1.0),
    ];
    let scoring = scoring();
    for (at, row) in SIGNALS.iter().enumerate() {
        assert_eq!(row.signal as usize, at, "{}", row.name);
        assert!(!row.value.is_empty() && !row.source.is_empty(), "{}", row.name);
        let expected = weights.iter().find(|(name, _)| *name == row.name).map_or(1.0, |(_, weight)| *weight);
        close(scoring.weights.of(row.signal), expected);
        let key = KEYS.iter().find(|key| key.name == format!("brief.scoring.weights.{}", row.name));
        assert_eq!(key.map(crate::config::Key::default), Some(Value::Decimal(expected)), "{}", row.name);
    }
    let rows = KEYS.iter().filter(|key| key.name.starts_with("brief.scoring.weights.")).count();
    assert_eq!(rows, SIGNALS.len());
    assert_eq!((scoring.half_life_hours, scoring.max_candidates, scoring.max_tokens), (24.0, 100, 4_000));
    assert_eq!((scoring.ratios.prose, scoring.ratios.code), (0.25, 0.40));
    assert_eq!((scoring.ratios.markdown, scoring.ratios.json), (0.30, 0.35));
    assert_eq!(Settings::DEFAULT.scoring(), None, "off by default");
}
