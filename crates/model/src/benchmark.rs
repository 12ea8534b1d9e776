//! The benchmark: figures about the quality of the work, computed from records and compared with limits.
//!
//! A figure without records is `None`. The result of its check is then no-data, which never counts as a pass.

mod history;
mod picture;

use serde::{Deserialize, Serialize};

pub use history::{BenchmarkHistory, BenchmarkRun, SCHEMA_VERSION, parse_foreign_runs};
pub use picture::{draw_svg, format_metric_value, is_benchmark_picture, sparkline};

use crate::config::Settings;
use crate::evidence::{EntryType, EvidenceEntry, EvidenceVerdict};
use crate::loops::EndReason;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct CountedRecords {
    pub reviews: u64,
    pub rejected_reviews: u64,
    pub approved_reviews: u64,
    pub tested_tasks: u64,
    /// The number of tasks whose last test passed. Earlier failures of such a task count as retries.
    pub passing_tasks: u64,
    pub failed_tests: u64,
    /// The number of tasks with a test or a review that passed or failed, or with a review that asked for a revision.
    pub judged_tasks: u64,
    pub completed_tasks: u64,
    pub tool_calls: u64,
    /// The number of calls whose result is known.
    pub calls_with_known_result: u64,
    pub failed_calls: u64,
    pub loops: u64,
    /// The number of loops that ended because of a limit.
    pub loops_ended_by_limit: u64,
    /// The durations of hooks in milliseconds, in any order.
    pub hook_ms: Vec<f64>,
}

impl CountedRecords {
    /// Adds the evidence of one task. `entries` are in chronological order. Notes and diffs are skipped, because they
    /// are not judgements.
    pub fn add_task(&mut self, entries: &[EvidenceEntry]) {
        let mut is_judged = false;
        let mut last_test = None;
        for entry in entries.iter().filter(|entry| !entry.is_imported_gate()) {
            let is_review = match EntryType::parse(&entry.entry_type) {
                Some(EntryType::Review | EntryType::Approval) => true,
                Some(EntryType::Test) => false,
                Some(EntryType::Diff | EntryType::Note) | None => continue,
            };
            let verdict = entry.verdict();
            // A review that asks for a revision counts as a review but not as a rejection.
            let is_revision = is_review && verdict == EvidenceVerdict::Warn;
            if !verdict.is_good() && !verdict.is_negative_verdict() && !is_revision {
                continue;
            }
            is_judged = true;
            if is_review {
                self.reviews += 1;
                self.rejected_reviews += u64::from(verdict.is_negative_verdict());
                self.approved_reviews += u64::from(verdict.is_good());
            } else {
                self.failed_tests += u64::from(verdict.is_negative_verdict());
                last_test = Some(verdict.is_good());
            }
        }
        self.judged_tasks += u64::from(is_judged);
        self.tested_tasks += u64::from(last_test.is_some());
        self.passing_tasks += u64::from(last_test == Some(true));
    }

    /// Adds a loop. A loop can end several times, because it can be resumed. `ended` contains the reason for every end.
    /// A loop that reached a limit and was then resumed still counts as having reached a limit.
    pub fn add_loop(&mut self, ended: &[EndReason]) {
        let is_limit = |end: &EndReason| {
            matches!(
                end,
                EndReason::IterationLimit
                    | EndReason::TimeLimit
                    | EndReason::NoProgress
                    | EndReason::HarnessLimit
            )
        };
        self.loops += 1;
        self.loops_ended_by_limit += u64::from(ended.iter().any(is_limit));
    }

    pub fn to_metrics(&self) -> Metrics {
        let bad = self.rejected_reviews + self.failed_tests;
        let mut ms = self.hook_ms.clone();
        ms.sort_by(f64::total_cmp);
        let at = |percent: usize| ms.get((ms.len() * percent / 100).min(ms.len().saturating_sub(1))).copied();
        Metrics {
            rejection_percent: percent_if_any(self.rejected_reviews, self.reviews),
            retries_per_task: ratio_if_any(bad, self.judged_tasks),
            calls_per_task: ratio_if_any(self.tool_calls, self.completed_tasks)
                .filter(|_| self.tool_calls > 0),
            hard_limit_hits: (self.loops > 0).then_some(self.loops_ended_by_limit as f64),
            review_pass_percent: percent_if_any(self.approved_reviews, self.reviews),
            test_pass_percent: percent_if_any(self.passing_tasks, self.tested_tasks),
            tool_error_percent: percent_if_any(self.failed_calls, self.calls_with_known_result),
            hook_ms_p50: at(50),
            hook_ms_p99: at(99),
        }
    }
}

fn percent_if_any(part: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| round_to_three_decimals(part as f64 * 100.0 / all as f64))
}

fn ratio_if_any(part: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| round_to_three_decimals(part as f64 / all as f64))
}

/// Rounds to three decimal places, so that the stored figure equals the figure that is compared with the limit.
fn round_to_three_decimals(value: f64) -> f64 {
    (value * 1_000.0).round() / 1_000.0
}

/// The figures of one run. A figure without data is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Metrics {
    pub rejection_percent: Option<f64>,
    pub retries_per_task: Option<f64>,
    pub calls_per_task: Option<f64>,
    pub hard_limit_hits: Option<f64>,
    pub review_pass_percent: Option<f64>,
    pub test_pass_percent: Option<f64>,
    pub tool_error_percent: Option<f64>,
    pub hook_ms_p50: Option<f64>,
    pub hook_ms_p99: Option<f64>,
}

/// A figure, with its name, its unit, and the function that reads it from [`Metrics`].
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    pub name: &'static str,
    pub title: &'static str,
    pub unit: &'static str,
    pub read_value: fn(&Metrics) -> Option<f64>,
    /// The limit, or `None` if the figure has none.
    pub limit: Option<fn(&Settings) -> MetricLimit>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MetricLimit {
    AtMost(f64),
    AtLeast(f64),
}

/// All figures, in display order.
pub const METRICS: &[Metric] = &[
    Metric {
        name: "rejection_percent",
        title: "reviews that rejected the work",
        unit: "%",
        read_value: |metrics| metrics.rejection_percent,
        limit: Some(|settings| MetricLimit::AtMost(settings.benchmark_max_rejection_percent as f64)),
    },
    Metric {
        name: "test_pass_percent",
        title: "tasks whose last test passed",
        unit: "%",
        read_value: |metrics| metrics.test_pass_percent,
        limit: Some(|settings| MetricLimit::AtLeast(settings.benchmark_min_test_pass_percent as f64)),
    },
    Metric {
        name: "tool_error_percent",
        title: "tool calls that failed",
        unit: "%",
        read_value: |metrics| metrics.tool_error_percent,
        limit: Some(|settings| MetricLimit::AtMost(settings.benchmark_max_tool_error_percent as f64)),
    },
    Metric {
        name: "hard_limit_hits",
        title: "loops that hit a limit",
        unit: "",
        read_value: |metrics| metrics.hard_limit_hits,
        limit: Some(|settings| MetricLimit::AtMost(settings.benchmark_max_hard_limit_hits as f64)),
    },
    Metric {
        name: "review_pass_percent",
        title: "reviews that approved the work",
        unit: "%",
        read_value: |metrics| metrics.review_pass_percent,
        limit: None,
    },
    Metric {
        name: "retries_per_task",
        title: "retries per task",
        unit: "",
        read_value: |metrics| metrics.retries_per_task,
        limit: None,
    },
    Metric {
        name: "calls_per_task",
        title: "tool calls per finished task",
        unit: "",
        read_value: |metrics| metrics.calls_per_task,
        limit: None,
    },
    Metric {
        name: "hook_ms_p50",
        title: "hooks, median",
        unit: " ms",
        read_value: |metrics| metrics.hook_ms_p50,
        limit: None,
    },
    Metric {
        name: "hook_ms_p99",
        title: "hooks, 99th percentile",
        unit: " ms",
        read_value: |metrics| metrics.hook_ms_p99,
        limit: None,
    },
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckOutcome {
    Pass,
    Fail,
    NoData,
}

impl CheckOutcome {
    pub fn name(self) -> &'static str {
        match self {
            CheckOutcome::Pass => "pass",
            CheckOutcome::Fail => "fail",
            CheckOutcome::NoData => "no-data",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricCheck {
    pub metric: String,
    pub value: Option<f64>,
    /// The limit as text, such as `<= 30` or `>= 80`.
    pub limit: String,
    pub outcome: CheckOutcome,
}

pub fn check_metrics(metrics: &Metrics, settings: &Settings) -> Vec<MetricCheck> {
    let check = |metric: &Metric| {
        let limit = metric.limit?(settings);
        let value = (metric.read_value)(metrics);
        let outcome = match (value, limit) {
            (None, _) => CheckOutcome::NoData,
            (Some(value), MetricLimit::AtMost(most)) if value <= most => CheckOutcome::Pass,
            (Some(value), MetricLimit::AtLeast(least)) if value >= least => CheckOutcome::Pass,
            (Some(_), _) => CheckOutcome::Fail,
        };
        Some(MetricCheck { metric: metric.name.to_owned(), value, limit: limit.describe(), outcome })
    };
    METRICS.iter().filter_map(check).collect()
}

impl MetricLimit {
    pub fn describe(self) -> String {
        match self {
            MetricLimit::AtMost(most) => format!("<= {most}"),
            MetricLimit::AtLeast(least) => format!(">= {least}"),
        }
    }
}

/// Whether a check without data fails the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoDataPolicy {
    Ignored,
    FailsGate,
}

/// Returns the combined outcome of all checks. Without any data, this is no-data or, under
/// [`NoDataPolicy::FailsGate`], a failure.
pub fn benchmark_gate_outcome(checks: &[MetricCheck], no_data: NoDataPolicy) -> CheckOutcome {
    let has = |outcome: CheckOutcome| checks.iter().any(|check| check.outcome == outcome);
    match () {
        () if has(CheckOutcome::Fail) => CheckOutcome::Fail,
        () if has(CheckOutcome::NoData) && no_data == NoDataPolicy::FailsGate => CheckOutcome::Fail,
        () if has(CheckOutcome::Pass) => CheckOutcome::Pass,
        () => CheckOutcome::NoData,
    }
}

#[cfg(test)]
#[path = "benchmark_tests.rs"]
mod tests;
