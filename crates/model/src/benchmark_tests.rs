use super::*;

fn evidence_entry(entry_type: &str, verdict: &str) -> EvidenceEntry {
    EvidenceEntry {
        entry_type: entry_type.to_owned(),
        verdict: verdict.to_owned(),
        ..EvidenceEntry::default()
    }
}

fn outcome_names(metrics: &Metrics) -> Vec<&'static str> {
    check_metrics(metrics, &Settings::DEFAULT).iter().map(|check| check.outcome.name()).collect()
}

#[test]
fn metrics_are_computed_from_counts() {
    let mut counted = CountedRecords {
        completed_tasks: 2,
        tool_calls: 31,
        calls_with_known_result: 30,
        failed_calls: 3,
        ..CountedRecords::default()
    };
    counted.add_task(&[
        evidence_entry("review", "rejected"),
        evidence_entry("review", "warn"),
        evidence_entry("review", "approved"),
        evidence_entry("test", "fail"),
        evidence_entry("test", "pass"),
        evidence_entry("note", "fail"),
        evidence_entry("test", "skip"),
    ]);
    counted.add_task(&[
        evidence_entry("approval", "approved"),
        evidence_entry("test", "pass"),
        evidence_entry("test", "pass"),
    ]);
    counted.add_task(&[evidence_entry("diff", "info")]);
    counted.add_task(&[evidence_entry("test", "pass"), evidence_entry("test", "fail")]);
    counted.add_loop(&[EndReason::Promise]);
    counted.add_loop(&[EndReason::IterationLimit, EndReason::Promise]);
    counted.add_loop(&[]);
    counted.hook_ms = vec![3.0, 1.0, 2.0];
    let expected = Metrics {
        rejection_percent: Some(25.0),
        retries_per_task: Some(1.0),
        calls_per_task: Some(15.5),
        hard_limit_hits: Some(1.0),
        review_pass_percent: Some(50.0),
        test_pass_percent: Some(66.667),
        tool_error_percent: Some(10.0),
        hook_ms_p50: Some(2.0),
        hook_ms_p99: Some(3.0),
    };
    assert_eq!(counted.to_metrics(), expected);
    assert_eq!(outcome_names(&expected), ["pass", "fail", "pass", "pass"]);
}

#[test]
fn no_data_is_never_a_pass() {
    let none = CountedRecords::default().to_metrics();
    assert_eq!(none, Metrics::default());
    assert_eq!(outcome_names(&none), ["no-data"; 4]);
    for (metrics, left_out, fails) in [
        (none, CheckOutcome::NoData, CheckOutcome::Fail),
        (
            Metrics { test_pass_percent: Some(80.0), ..Metrics::default() },
            CheckOutcome::Pass,
            CheckOutcome::Fail,
        ),
        (
            Metrics { test_pass_percent: Some(79.9), ..Metrics::default() },
            CheckOutcome::Fail,
            CheckOutcome::Fail,
        ),
        (
            Metrics {
                rejection_percent: Some(30.0),
                test_pass_percent: Some(100.0),
                tool_error_percent: Some(20.0),
                hard_limit_hits: Some(1.0),
                ..Metrics::default()
            },
            CheckOutcome::Pass,
            CheckOutcome::Pass,
        ),
    ] {
        let checks = check_metrics(&metrics, &Settings::DEFAULT);
        assert_eq!(
            (
                benchmark_gate_outcome(&checks, NoDataPolicy::Ignored),
                benchmark_gate_outcome(&checks, NoDataPolicy::FailsGate)
            ),
            (left_out, fails),
            "{metrics:?}"
        );
    }
}

#[test]
fn a_history_keeps_what_it_does_not_know() {
    let text = r#"{"schema_version": "1.2.0", "runs": [{"ts": "2026-01-01T00:00:00Z", "metrics": {"hook_ms_p50": 1.5}, "mood": "good"}], "note": 7}"#;
    let history = BenchmarkHistory::parse(text.as_bytes()).unwrap();
    assert_eq!(history.last_values("hook_ms_p50", 5), [Some(1.5)]);
    let again = String::from_utf8(history.to_bytes()).unwrap();
    assert!(again.contains("\"mood\": \"good\"") && again.contains("\"note\": 7"), "{again}");
    assert!(matches!(BenchmarkHistory::parse(b"{"), Err(crate::plan::PlanUnreadableReason::Damaged { .. })));
    assert!(matches!(
        BenchmarkHistory::parse(br#"{"schema_version": "2.0.0"}"#),
        Err(crate::plan::PlanUnreadableReason::Foreign { .. })
    ));
    assert!(BenchmarkHistory::parse(&BenchmarkHistory::new().to_bytes()).unwrap().runs.is_empty());
}

#[test]
fn runs_of_others_are_read_leniently() {
    let runs = parse_foreign_runs(br#"[{"timestamp": "2026-01-01T00:00:00Z", "metrics": {"rejection_rate": 0.25, "hard_limit_hits": 2}, "x": 1}, 7]"#);
    let [run] = &runs.unwrap()[..] else { panic!("one run") };
    assert_eq!((run.metrics.rejection_percent, run.metrics.hard_limit_hits), (Some(25.0), Some(2.0)));
    assert_eq!((run.ts.as_str(), &run.rest["imported"]["x"]), ("2026-01-01T00:00:00Z", &1.into()));
    assert_eq!(parse_foreign_runs(br#"{"schema_version": "1", "benchmarks": [{}, {}]}"#).unwrap().len(), 2);
    assert!(
        parse_foreign_runs(b"{}").is_err()
            && parse_foreign_runs(b"7").is_err()
            && parse_foreign_runs(b"{").is_err()
    );
}

#[test]
fn the_sparkline_and_the_svg_are_drawn() {
    assert_eq!(sparkline(&[Some(0.0), None, Some(5.0), Some(10.0)]), "▁·▅█");
    assert_eq!(sparkline(&[Some(0.0)]), "▁");
    let mut history = BenchmarkHistory::new();
    for percent in [10.0, 40.0] {
        let metrics = Metrics { rejection_percent: Some(percent), ..Metrics::default() };
        let checks = check_metrics(&metrics, &Settings::DEFAULT);
        history.runs.push(BenchmarkRun {
            ts: "a<b&c".to_owned(),
            metrics,
            checks,
            ..BenchmarkRun::default()
        });
    }
    let checks = &history.runs[1].checks.clone();
    let svg = draw_svg(&history, checks, &Settings::DEFAULT, 30);
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(
        svg.contains(">40%<")
            && svg.contains("&lt;= 30")
            && svg.contains(">fail<")
            && svg.contains("a&lt;b&amp;c")
    );
    assert_eq!(svg.matches("<path ").count(), 1, "only figures with data have a course");
}
