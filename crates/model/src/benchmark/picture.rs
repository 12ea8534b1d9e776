//! Draws the benchmark as a sparkline for a terminal, or as an SVG for a README or a pull request.

use std::fmt::Write as _;

use super::{BenchmarkHistory, CheckOutcome, METRICS, Metric, MetricCheck};
use crate::config::Settings;

/// Draws one bar for each value, relative to the largest value, as in `▁▃▇`. A run without data is drawn as a dot.
pub fn sparkline(values: &[Option<f64>]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = largest_value(values);
    let bar = |value: &Option<f64>| match value {
        None => '·',
        Some(value) => BARS[((value / most * 7.0).round() as usize).min(7)],
    };
    values.iter().map(bar).collect()
}

/// Returns the largest value, or 1 if no value is above zero, because the result is used as a divisor.
fn largest_value(values: &[Option<f64>]) -> f64 {
    let most = values.iter().flatten().copied().fold(0.0, f64::max);
    if most > 0.0 { most } else { 1.0 }
}

const PICTURE_WIDTH: usize = 760;

const ROW_HEIGHT: usize = 34;

const HEIGHT_ABOVE_ROWS: usize = 46;

/// The x coordinates of the columns.
const VALUE_COLUMN_X: usize = 310;
const LIMIT_COLUMN_X: usize = 330;
const OUTCOME_COLUMN_X: usize = 400;
const RUNS_COLUMN_X: usize = 490;

const RUNS_COLUMN_WIDTH: usize = 250;

/// The line that identifies a picture as drawn by thru.
const PICTURE_MARK_LINE: &str = "<title>Throughline benchmark</title>";

/// Returns whether [`draw_svg`] drew this file.
pub fn is_benchmark_picture(text: &str) -> bool {
    text.starts_with("<svg ") && text.lines().nth(1) == Some(PICTURE_MARK_LINE)
}

/// Draws a table with one row per figure. The row shows the figure's value, its limit and its values in the last runs.
pub fn draw_svg(
    history: &BenchmarkHistory,
    checks: &[MetricCheck],
    settings: &Settings,
    runs: usize,
) -> String {
    let height = HEIGHT_ABOVE_ROWS + METRICS.len() * ROW_HEIGHT + 12;
    let last = history.runs.last().map_or("", |run| run.ts.as_str());
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{PICTURE_WIDTH}\" height=\"{height}\" viewBox=\"0 0 {PICTURE_WIDTH} {height}\" \
         font-family=\"ui-sans-serif, system-ui, sans-serif\" font-size=\"13\">\n\
         {PICTURE_MARK_LINE}\n\
         <rect width=\"{PICTURE_WIDTH}\" height=\"{height}\" rx=\"8\" fill=\"#ffffff\" stroke=\"#d0d7de\"/>\n\
         <text x=\"20\" y=\"29\" font-weight=\"600\" font-size=\"15\" fill=\"#1f2328\">Benchmark</text>\n\
         <text x=\"{}\" y=\"29\" text-anchor=\"end\" fill=\"#59636e\">{} runs, last {}</text>\n",
        PICTURE_WIDTH - 20,
        history.runs.len(),
        escape_xml(last)
    );
    for (row, metric) in METRICS.iter().enumerate() {
        let outcome = checks.iter().find(|check| check.metric == metric.name).map(|check| check.outcome);
        svg.push_str(&draw_metric_row(
            metric,
            &history.last_values(metric.name, runs),
            outcome,
            settings,
            HEIGHT_ABOVE_ROWS + row * ROW_HEIGHT,
        ));
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw_metric_row(
    metric: &Metric,
    values: &[Option<f64>],
    outcome: Option<CheckOutcome>,
    settings: &Settings,
    top: usize,
) -> String {
    let middle = top + ROW_HEIGHT / 2 + 5;
    let colour = match outcome {
        Some(CheckOutcome::Pass) => "#1a7f37",
        Some(CheckOutcome::Fail) => "#cf222e",
        Some(CheckOutcome::NoData) | None => "#59636e",
    };
    let value = format_metric_value(metric, values.last().copied().flatten());
    let limit = metric.limit.map(|limit| limit(settings).describe()).unwrap_or_default();
    let mut row = format!(
        "<line x1=\"12\" y1=\"{top}\" x2=\"{}\" y2=\"{top}\" stroke=\"#eaeef2\"/>\n\
         <text x=\"20\" y=\"{middle}\" fill=\"#1f2328\">{}</text>\n\
         <text x=\"{VALUE_COLUMN_X}\" y=\"{middle}\" text-anchor=\"end\" font-weight=\"600\" fill=\"#1f2328\">{}</text>\n\
         <text x=\"{LIMIT_COLUMN_X}\" y=\"{middle}\" fill=\"#59636e\">{}</text>\n\
         <text x=\"{OUTCOME_COLUMN_X}\" y=\"{middle}\" font-weight=\"600\" fill=\"{colour}\">{}</text>\n",
        PICTURE_WIDTH - 12,
        escape_xml(metric.title),
        escape_xml(&value),
        escape_xml(&limit),
        outcome.map_or("", CheckOutcome::name)
    );
    row.push_str(&draw_run_line(values, colour, top));
    row
}

/// Draws the values of the runs as a line with a dot at the last run. Runs without data leave a gap.
fn draw_run_line(values: &[Option<f64>], colour: &str, top: usize) -> String {
    let most = largest_value(values);
    let step = RUNS_COLUMN_WIDTH as f64 / values.len().saturating_sub(1).max(1) as f64;
    let point = |i: usize, value: f64| {
        let y = (top + ROW_HEIGHT - 7) as f64 - value / most * (ROW_HEIGHT - 14) as f64;
        (RUNS_COLUMN_X as f64 + i as f64 * step, y)
    };
    let (mut path, mut looks_randomly_generated, mut end) = (String::new(), false, None);
    for (i, value) in values.iter().enumerate() {
        let Some(value) = value else {
            looks_randomly_generated = false;
            continue;
        };
        let (x, y) = point(i, *value);
        let _ = write!(path, "{}{x:.1} {y:.1} ", if looks_randomly_generated { 'L' } else { 'M' });
        (looks_randomly_generated, end) = (true, Some((x, y)));
    }
    let Some((x, y)) = end else { return String::new() };
    format!(
        "<path d=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>\n<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"{colour}\"/>\n",
        path.trim_end()
    )
}

/// Returns a value with its unit, such as `12.5 %`, or `no data`.
pub fn format_metric_value(metric: &Metric, value: Option<f64>) -> String {
    value.map_or("no data".to_owned(), |value| format!("{}{}", (value * 100.0).round() / 100.0, metric.unit))
}

fn escape_xml(text: &str) -> String {
    crate::clean::clean_line(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
