use model::loops::log::{Entry, Event, Tokens};
use model::loops::{Ended, turn_words};
use model::render::one_line;
use ops::features::loops::{self, Log};
use ops::{Result, World};

use super::list::state;
use crate::clock;
use crate::output::{self, BOLD, DIM, Format, GOOD, WARN};

pub fn run(world: &World, id: Option<&str>, format: Format) -> Result<()> {
    let log = loops::log(world, id)?;
    if format == Format::Json {
        output::json(&log);
        return Ok(());
    }
    let Log { shown, entries, torn } = &log;
    output::line(format_args!("{BOLD}{}{BOLD:#}  {}, {}", shown.id, state(shown), shown.standing()));
    let mut day = String::new();
    for entry in entries {
        let date = clock::day(&entry.ts);
        if date != day {
            output::line(format_args!("{DIM}{date} {}{DIM:#}", clock::zone_name(&entry.ts)));
            day = date;
        }
        print_entry(entry, &clock::time_of_day(&entry.ts));
    }
    if *torn > 0 {
        output::talk(format_args!("{WARN}note:{WARN:#} {torn} lines of the log cannot be read"));
    }
    Ok(())
}

/// Prints a line like `19:24:10 2 fed again ended without the promise (2 files changed, 7 calls; 12.3k tokens in,
/// 1.1k out)`.
fn print_entry(entry: &Entry, clock: &str) {
    let (style, word) = match entry.event {
        Event::Started => (GOOD, "started"),
        Event::Claimed => (GOOD, "claimed"),
        Event::Fed => (DIM, "fed again"),
        Event::Ended if entry.reason == Some(Ended::Promise) => (GOOD, "done"),
        Event::Ended => (WARN, "ended"),
        Event::Paused => (WARN, "paused"),
        Event::Resumed => (GOOD, "resumed"),
        Event::Activated => (GOOD, "activated"),
        Event::Moved => (DIM, "moved on"),
        Event::Cancelled => (WARN, "cancelled"),
    };
    let session = || entry.session.as_ref().map(|session| format!("session {}", loops::short(session)));
    let reason =
        entry.reason.filter(|reason| *reason != Ended::Cancelled).map(|reason| reason.name().to_owned());
    let mut parts: Vec<String> = match entry.event {
        Event::Fed => Vec::new(),
        Event::Ended => reason.into_iter().collect(),
        _ => session().into_iter().collect(),
    };
    parts.extend(Some(one_line(&entry.detail, 300)).filter(|detail| !detail.is_empty()));
    let tokens = entry
        .tokens
        .map(|Tokens { input, output }| format!("{} tokens in, {} out", thousands(input), thousands(output)));
    let work = [Some(turn_words(entry.changed, entry.calls)).filter(|words| !words.is_empty()), tokens];
    let work = work.into_iter().flatten().collect::<Vec<_>>().join("; ");
    let work = if work.is_empty() { String::new() } else { format!("  {DIM}{work}{DIM:#}") };
    output::line(format_args!(
        "{DIM}{clock}{DIM:#}  {:>4}  {style}{word:<9}{style:#}  {}{work}",
        entry.iteration,
        parts.join(": ")
    ));
    let files: Vec<String> = entry.files.iter().map(|file| one_line(file, 80)).collect();
    if !files.is_empty() {
        let more = entry.changed.unwrap_or(0).saturating_sub(files.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        output::line(format_args!("{DIM}{:27}{}{more}{DIM:#}", "", files.join(", ")));
    }
}

/// Returns a number like `950` or `12.3k`.
fn thousands(n: u64) -> String {
    if n < 1_000 { n.to_string() } else { format!("{:.1}k", n as f64 / 1_000.0) }
}
