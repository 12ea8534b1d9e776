//! `benchmarks.json` contains all runs, oldest first. Runs are added but never changed or removed.

use serde_json::Value;

use super::{CheckOutcome, METRICS, MetricCheck, Metrics};
use crate::plan::PlanUnreadableReason;
use crate::plan::fields::keeping_the_rest;
use crate::render::one_line;

pub const SCHEMA_VERSION: &str = "1.0.0";

keeping_the_rest! {
    pub struct BenchmarkHistory {
        schema_version: String,
        runs: Vec<BenchmarkRun>,
    }
}

keeping_the_rest! {
    pub struct BenchmarkRun {
        /// Identifies an imported run, so that it is not imported twice. It is empty for thru's own runs.
        id: String = skip String::is_empty,
        ts: String,
        metrics: Metrics,
        checks: Vec<MetricCheck>,
        gate: Option<CheckOutcome>,
    }
}

impl BenchmarkHistory {
    pub fn new() -> BenchmarkHistory {
        BenchmarkHistory { schema_version: SCHEMA_VERSION.to_owned(), ..BenchmarkHistory::default() }
    }

    pub fn parse(bytes: &[u8]) -> Result<BenchmarkHistory, PlanUnreadableReason> {
        let damaged = |error: serde_json::Error| PlanUnreadableReason::Damaged {
            line: Some(error.line().max(1)),
            why: error.to_string(),
        };
        let history: BenchmarkHistory = serde_json::from_slice(bytes).map_err(damaged)?;
        match history.schema_version.split('.').next() {
            Some("1") => Ok(history),
            _ => Err(PlanUnreadableReason::Foreign {
                why: format!(
                    "schema_version is {}; this version of thru writes {SCHEMA_VERSION}",
                    one_line(&history.schema_version, 40)
                ),
            }),
        }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Returns the values of one metric in the last runs, oldest first.
    pub fn last_values(&self, name: &str, runs: usize) -> Vec<Option<f64>> {
        let metric = METRICS.iter().find(|metric| metric.name == name);
        let last = &self.runs[self.runs.len().saturating_sub(runs)..];
        last.iter().map(|run| metric.and_then(|metric| (metric.read_value)(&run.metrics))).collect()
    }
}

/// Reads the runs that another tool recorded, as a list or as an object that contains a list. Figures with a known name
/// are used, and all other fields are kept with the run.
pub fn parse_foreign_runs(bytes: &[u8]) -> Result<Vec<BenchmarkRun>, String> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let runs = match &value {
        Value::Array(runs) => runs,
        Value::Object(fields) => ["runs", "benchmarks", "history", "entries"]
            .iter()
            .find_map(|name| fields.get(*name)?.as_array())
            .ok_or("it has no list of runs")?,
        _ => return Err("it is neither a list nor an object".to_owned()),
    };
    Ok(runs.iter().filter_map(Value::as_object).map(parse_foreign_run).collect())
}

fn parse_foreign_run(fields: &serde_json::Map<String, Value>) -> BenchmarkRun {
    let figures = fields.get("metrics").and_then(Value::as_object).unwrap_or(fields);
    let figure = |names: &[&str]| names.iter().find_map(|name| figures.get(*name)?.as_f64());
    // Other tools write rates from 0 to 1. They are converted, because thru's figures are percentages.
    let percent = |names: &[&str], rates: &[&str]| {
        figure(names).or_else(|| {
            figure(rates)
                .map(|rate| super::round_to_three_decimals(if rate <= 1.0 { rate * 100.0 } else { rate }))
        })
    };
    let ts = ["ts", "timestamp", "created_at", "date"].iter().find_map(|name| fields.get(*name)?.as_str());
    let metrics = Metrics {
        rejection_percent: percent(&["rejection_percent"], &["rejection_rate", "rejectionRate"]),
        retries_per_task: figure(&["retries_per_task", "retry_count", "retries", "retryCount"]),
        calls_per_task: figure(&["calls_per_task", "tool_calls_per_task", "toolCallsPerTask"]),
        hard_limit_hits: figure(&["hard_limit_hits", "hardLimitHits"]),
        review_pass_percent: percent(&["review_pass_percent"], &["review_pass_rate", "reviewPassRate"]),
        test_pass_percent: percent(&["test_pass_percent"], &["test_pass_rate", "testPassRate"]),
        tool_error_percent: percent(&["tool_error_percent"], &["tool_error_rate", "toolErrorRate"]),
        hook_ms_p50: None,
        hook_ms_p99: None,
    };
    let text = Value::Object(fields.clone()).to_string();
    let mut rest = serde_json::Map::new();
    rest.insert("imported".to_owned(), Value::Object(fields.clone()));
    BenchmarkRun {
        id: format!("imported-{:016x}", crate::text::fnv_fingerprint([text.as_bytes()])),
        ts: ts.unwrap_or_default().to_owned(),
        metrics,
        rest,
        ..BenchmarkRun::default()
    }
}
