use model::activity::CallCounts;
use model::render::one_line;
use model::text::count_with_noun;
use model::time;
use ops::features::sessions::activity::{self, ActivityReport, SessionCounts};
use ops::features::summaries::SavedTokens;
use ops::{Result, World};

use crate::output::{self, BOLD, DIM, OutputFormat, WARN};

/// Show what agents did: calls, failures and average time, by tool, by agent and by session
///
/// An agent is listed by its sub-agent type or by the role of its session, or as `main`. Everything comes from the
/// journals; `indexes/activity.jsonl` is a cache and can be deleted.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show only this session; the beginning of its id is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Show at most this many sessions; 0 means all
    #[arg(long, short = 'n', default_value_t = 10, value_name = "N")]
    limit: usize,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let mut report = activity::activity_report(world, args.session.as_deref())?;
    let all = report.sessions.len();
    if args.limit > 0 {
        report.sessions.truncate(args.limit);
    }
    match format {
        OutputFormat::Json => output::print_json(&report),
        OutputFormat::Text => print_report(&report, all, world),
    }
    Ok(0)
}

fn print_report(report: &ActivityReport, all: usize, world: &World) {
    if report.calls == 0 {
        output::print_message("Hooks have not reported any tool calls yet.");
        return print_saved(&report.summaries);
    }
    let sessions: Vec<(&CallCounts, String)> =
        report.sessions.iter().map(|session| (&session.counts, session_details(session, world))).collect();
    let parts = [
        ("tool", rows_without_details(&report.tools)),
        ("agent", rows_without_details(&report.agents)),
        ("session", sessions),
    ];
    let names = parts.iter().flat_map(|(_, rows)| rows).map(|(row, _)| format_counts(row).chars().count());
    let width = names.max().unwrap_or(0).max(7);
    for (index, (title, rows)) in parts.iter().enumerate() {
        let space = if index > 0 { "\n" } else { "" };
        output::print_line(format_args!(
            "{space}{DIM}{title:<width$}  {:>6}  {:>6}  {:>6}  {:>8}{DIM:#}",
            "calls", "ok", "failed", "average"
        ));
        rows.iter().for_each(|(row, more)| print_row(row, more, width));
    }
    if all > report.sessions.len() {
        let others = count_with_noun(all - report.sessions.len(), "other session");
        output::print_message(format_args!("{DIM}and {others}; -n 0 shows all{DIM:#}"));
    }
    print_saved(&report.summaries);
}

fn print_saved(saved: &SavedTokens) {
    if saved.outputs > 0 {
        let outputs = count_with_noun(saved.outputs, "large output");
        output::print_line(format_args!(
            "\n{DIM}summaries{DIM:#}  {outputs}: {BOLD}{} bytes{BOLD:#} saved, about {BOLD}{} tokens{BOLD:#} {DIM}({} bytes as {}){DIM:#}",
            saved.saved_bytes, saved.saved_tokens, saved.bytes, saved.summary_bytes
        ));
    }
}

fn rows_without_details(rows: &[CallCounts]) -> Vec<(&CallCounts, String)> {
    rows.iter().map(|row| (row, String::new())).collect()
}

fn print_row(row: &CallCounts, more: &str, width: usize) {
    let average = row.average_ms.map_or("-".to_owned(), format_duration);
    let failed = format!("{:>6}", row.failed);
    let failed = if row.failed > 0 { format!("{WARN}{failed}{WARN:#}") } else { failed };
    output::print_line(format_args!(
        "{BOLD}{:<width$}{BOLD:#}  {:>6}  {:>6}  {failed}  {average:>8}{more}",
        format_counts(row),
        row.calls,
        row.ok
    ));
}

fn format_counts(row: &CallCounts) -> String {
    one_line(&row.name, 40)
}

/// Returns a line like `  claude-code, role tester, with coder and critic; 3 files changed; 5 min ago`.
fn session_details(session: &SessionCounts, world: &World) -> String {
    let mut text = format!("  {}", one_line(&session.harness, 40));
    if !session.role.is_empty() {
        text.push_str(&format!(", role {}", one_line(&session.role, 40)));
    }
    if !session.sub_agents.is_empty() {
        text.push_str(&format!(", with {}", one_line(&session.sub_agents.join(", "), 100)));
    }
    if session.edited_files > 0 {
        text.push_str(&format!("; {} changed", count_with_noun(session.edited_files, "file")));
    }
    if let Some(at) = time::parse_time(&session.counts.last_at) {
        text.push_str(&format!("; {}", time::describe_age(at, world.now)));
    }
    format!("{DIM}{text}{DIM:#}")
}

/// Returns a duration like `850 ms`, `1.4 s` or `2 min`.
fn format_duration(ms: u64) -> String {
    match ms {
        ..1_000 => format!("{ms} ms"),
        1_000..120_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => format!("{} min", ms / 60_000),
    }
}
