use super::*;
use crate::config::{SETTING_ROWS, SettingValue, Settings};

fn test_scoring() -> ScoringSettings {
    Settings::DEFAULT.scoring_settings()
}

fn score_value(
    signals: &[(ScoreSignal, f64)],
    dependency_distance: Option<u32>,
    age_hours: Option<f64>,
    scoring: &ScoringSettings,
) -> f64 {
    score_candidate(&MeasuredSignals { signals: signals.to_vec(), dependency_distance, age_hours }, scoring)
        .value
}

#[track_caller]
fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
}

#[test]
fn the_score_agrees_with_the_formula() {
    use ScoreSignal::{
        BlockedTask, CurrentTask, DecisionRecency, DependencyProximity, EvidencePresence, Phase,
    };
    use ScoreSignal::{RecentFailure, RecentSuccess};
    let scoring = test_scoring();
    let of = |signals: &[(ScoreSignal, f64)], depth, age| score_value(signals, depth, age, &scoring);
    assert_close(of(&[(Phase, 1.0)], None, None), 1.0);
    assert_close(of(&[(CurrentTask, 1.0)], None, None), 2.0);
    assert_close(of(&[(CurrentTask, 1.0), (EvidencePresence, 1.0)], None, None), 3.0);
    assert_close(of(&[(BlockedTask, 1.0)], None, None), 1.5);
    assert_close(of(&[(RecentFailure, 1.0)], None, None), 2.5);
    assert_close(of(&[(RecentFailure, 0.25)], None, None), 0.625);
    assert_close(of(&[(RecentSuccess, 1.0)], None, None), 0.5);
    // For a task at distance d, the dependency signal and the task's other signals are all divided by 1 + d.
    assert_close(of(&[(DependencyProximity, 1.0)], Some(1), None), 0.5);
    assert_close(of(&[(DependencyProximity, 1.0)], Some(3), None), 0.25);
    assert_close(of(&[(DependencyProximity, 1.0), (EvidencePresence, 1.0)], Some(2), None), 2.0 / 3.0);
    assert_close(of(&[(CurrentTask, 1.0)], Some(0), None), 2.0);
    // A decision contributes 1.5 · 2^(−age/24).
    assert_close(of(&[(DecisionRecency, 1.0)], None, Some(0.0)), 1.5);
    assert_close(of(&[(DecisionRecency, 1.0)], None, Some(24.0)), 0.75);
    assert_close(of(&[(DecisionRecency, 1.0)], None, Some(12.0)), 1.060_660_171_779_821_3);
    assert_close(of(&[(DecisionRecency, 1.0)], None, Some(168.0)), 0.011_718_75);
    assert_close(of(&[(DecisionRecency, 1.0)], None, Some(-5.0)), 1.5);
    assert_close(of(&[(DecisionRecency, 1.0)], None, None), 0.0);
    assert_close(of(&[], None, None), 0.0);
}

#[test]
fn a_linear_decay_ends_at_twice_the_half_life() {
    let scoring = ScoringSettings { decay: DecayShape::Linear, half_life_hours: 10.0, ..test_scoring() };
    for (age, expected) in [(0.0, 1.5), (5.0, 1.125), (10.0, 0.75), (15.0, 0.375), (20.0, 0.0), (500.0, 0.0)]
    {
        assert_close(
            score_value(&[(ScoreSignal::DecisionRecency, 1.0)], None, Some(age), &scoring),
            expected,
        );
    }
}

#[test]
fn a_signal_stays_between_0_and_1_and_contributions_add_up() {
    let scoring = test_scoring();
    assert_close(score_value(&[(ScoreSignal::Files, 7.0)], None, None, &scoring), 1.0);
    assert_close(score_value(&[(ScoreSignal::Files, -7.0)], None, None, &scoring), 0.0);
    let measured = MeasuredSignals {
        signals: vec![
            (ScoreSignal::Commands, 0.6),
            (ScoreSignal::RecentSuccess, 0.4),
            (ScoreSignal::Phase, 1.0),
        ],
        dependency_distance: Some(4),
        age_hours: None,
    };
    let found = score_candidate(&measured, &scoring);
    assert_close(found.parts.iter().map(|part| part.contribution).sum(), found.value);
    assert_close(found.value, (0.6 + 0.2 + 1.0) / 5.0);
    assert_eq!(found.parts[1].signal, "recent_success");
    assert_close(found.parts[1].contribution, 0.04);
}

#[test]
fn ties_go_by_priority_then_by_the_bytes_of_the_id() {
    let place = |score, priority, id| CandidateOrderingKey { score, priority, id };
    let mut places = [
        place(1.0, 1, "b"),
        place(1.0, 2, "z"),
        place(1.0, 1, "Z"),
        place(2.0, 0, "x"),
        place(1.0, 1, "é"),
        place(1.0, 1, "a"),
        place(0.5, 9, "a"),
    ];
    places.sort_by(compare_candidates);
    assert_eq!(places.map(|place| place.id), ["x", "z", "Z", "a", "b", "é", "a"]);
}

/// Every signal has one table row, in order, and one setting with the specified bounds and default.
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
    let scoring = test_scoring();
    for (at, row) in SIGNALS.iter().enumerate() {
        assert_eq!(row.signal as usize, at, "{}", row.name);
        assert!(!row.value_description.is_empty() && !row.value_source.is_empty(), "{}", row.name);
        let expected = weights.iter().find(|(name, _)| *name == row.name).map_or(1.0, |(_, weight)| *weight);
        assert_close(scoring.weights.weight_of(row.signal), expected);
        let key = SETTING_ROWS.iter().find(|key| key.name == format!("brief.scoring.weights.{}", row.name));
        assert_eq!(
            key.map(crate::config::SettingRow::default_value),
            Some(SettingValue::Decimal(expected)),
            "{}",
            row.name
        );
    }
    let rows = SETTING_ROWS.iter().filter(|key| key.name.starts_with("brief.scoring.weights.")).count();
    assert_eq!(rows, SIGNALS.len());
    assert_eq!((scoring.half_life_hours, scoring.max_candidates, scoring.max_tokens), (24.0, 100, 4_000));
    assert_eq!((scoring.ratios.prose, scoring.ratios.code), (0.25, 0.40));
    assert_eq!((scoring.ratios.markdown, scoring.ratios.json), (0.30, 0.35));
    assert_eq!(Settings::DEFAULT.enabled_scoring(), None, "off by default");
}
