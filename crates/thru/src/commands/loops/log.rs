use model::loops::log::{LoopEvent, LoopLogEntry, TurnTokens};
use model::loops::{EndReason, describe_turn};
use model::render::one_line;
use ops::features::loops::{self, LoopLogShown};
use ops::{Result, World};

use super::list::{describe_state, print_note_on_loop_that_cannot_run};
use crate::clock;
use crate::output::{self, BOLD, DIM, GOOD, OutputFormat, WARN};

pub fn run(world: &World, id: Option<&str>, format: OutputFormat) -> Result<()> {
    let log = loops::show_loop_log(world, id)?;
    if format == OutputFormat::Json {
        output::print_json(&log);
        return Ok(());
    }
    let LoopLogShown { shown_loop, entries, torn } = &log;
    output::print_line(format_args!(
        "{BOLD}{}{BOLD:#}  {}, {}",
        shown_loop.id,
        describe_state(shown_loop),
        shown_loop.describe_state()
    ));
    let mut day = String::new();
    for entry in entries {
        let date = clock::local_date(&entry.ts);
        if date != day {
            output::print_line(format_args!("{DIM}{date} {}{DIM:#}", clock::time_zone_name(&entry.ts)));
            day = date;
        }
        print_entry(entry, &clock::local_time_of_day(&entry.ts));
    }
    print_note_on_loop_that_cannot_run(world, shown_loop);
    if *torn > 0 {
        output::print_message(format_args!("{WARN}note:{WARN:#} {torn} lines of the log cannot be read"));
    }
    Ok(())
}

/// Prints a line like `19:24:10 2 continued ended without the promise (2 files changed, 7 calls; 12.3k tokens in,
/// 1.1k out)`.
fn print_entry(entry: &LoopLogEntry, clock: &str) {
    let (style, word) = match entry.event {
        LoopEvent::Started => (GOOD, "started"),
        LoopEvent::Claimed => (GOOD, "claimed"),
        LoopEvent::PromptSent => (DIM, "continued"),
        LoopEvent::Ended if entry.reason == Some(EndReason::Promise) => (GOOD, "done"),
        LoopEvent::Ended => (WARN, "ended"),
        LoopEvent::Paused => (WARN, "paused"),
        LoopEvent::Resumed => (GOOD, "resumed"),
        LoopEvent::Activated => (GOOD, "activated"),
        LoopEvent::SessionIdChanged => (DIM, "moved on"),
        LoopEvent::Cancelled => (WARN, "cancelled"),
    };
    let session =
        || entry.session.as_ref().map(|session| format!("session {}", loops::short_session_id(session)));
    let reason =
        entry.reason.filter(|reason| *reason != EndReason::Cancelled).map(|reason| reason.name().to_owned());
    let mut parts: Vec<String> = match entry.event {
        LoopEvent::PromptSent => Vec::new(),
        LoopEvent::Ended => reason.into_iter().collect(),
        _ => session().into_iter().collect(),
    };
    parts.extend(Some(one_line(&entry.detail, 300)).filter(|detail| !detail.is_empty()));
    let tokens = entry.tokens.map(|TurnTokens { input, output }| {
        format!("{} tokens in, {} out", format_count_in_thousands(input), format_count_in_thousands(output))
    });
    let work = [Some(describe_turn(entry)).filter(|words| !words.is_empty()), tokens];
    let work = work.into_iter().flatten().collect::<Vec<_>>().join("; ");
    let work = if work.is_empty() { String::new() } else { format!("  {DIM}{work}{DIM:#}") };
    output::print_line(format_args!(
        "{DIM}{clock}{DIM:#}  {:>4}  {style}{word:<9}{style:#}  {}{work}",
        entry.iteration,
        parts.join(": ")
    ));
    let files: Vec<String> = entry.files.iter().map(|file| one_line(file, 80)).collect();
    if !files.is_empty() {
        let more = entry.changed.unwrap_or(0).saturating_sub(files.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        output::print_line(format_args!("{DIM}{:27}{}{more}{DIM:#}", "", files.join(", ")));
    }
}

/// Returns a number like `950` or `12.3k`.
fn format_count_in_thousands(n: u64) -> String {
    if n < 1_000 { n.to_string() } else { format!("{:.1}k", n as f64 / 1_000.0) }
}
