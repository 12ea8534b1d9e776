use clap::Subcommand;
use model::decision::{Decision, Kind, Standing, State};
use model::render::one_line;
use ops::features::decisions::import;
use ops::features::decisions::record::{self, Report, Wanted};
use ops::features::decisions::show::{self, Listing, Shown, Which};
use ops::features::decisions::suggest::{self, Suggested};
use ops::{Mode, Result, World};

use super::plan::tell_notes;
use crate::output::{self, BOLD, DIM, Format, GOOD, WARN};

/// Decisions: which hold, why, and what they took the place of
///
/// They are lines of .agent/context/decisions.jsonl, which only grows; context.md beside it is the same to read.
/// `thru decide` records one.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the decisions that hold, newest first
    List {
        /// Superseded, withdrawn and expired ones too
        #[arg(long)]
        all: bool,
        /// What agents said was decided, and nobody has accepted; nothing is decided by it
        #[arg(long, conflicts_with = "all")]
        suggested: bool,
        /// How many; 0 for all
        #[arg(short, value_name = "N", default_value_t = 30)]
        n: usize,
    },
    /// Show one decision, with what it took the place of
    Show {
        /// Its id, or the beginning of it
        id: String,
    },
    /// Put another decision in the place of one, or take it back
    Supersede {
        /// The old one: its id, or the beginning of it
        id: String,
        /// What is decided now; without it the old one is withdrawn. `-` reads it from stdin
        text: Option<String>,
        /// Why
        #[arg(long)]
        why: Option<String>,
        /// Until when the new one holds: 2026-12-01, or 30d from now
        #[arg(long, value_name = "WHEN", requires = "text")]
        expires: Option<String>,
        /// Who decides, instead of the session around us
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// Make a decision of what an agent said
    Accept {
        /// The suggestion: its id, or the beginning of it
        id: String,
        /// Why, instead of what the agent said
        #[arg(long)]
        why: Option<String>,
    },
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    match &args.command {
        Command::List { suggested: true, n, .. } => {
            let suggested = suggest::list(world, *n)?;
            match format {
                Format::Json => output::json(&suggested),
                Format::Text => print_suggested(&suggested),
            }
        }
        Command::List { all, n, .. } => {
            let listing = show::list(world, if *all { Which::All } else { Which::Current }, *n)?;
            match format {
                Format::Json => output::json(&listing),
                Format::Text => print_listing(&listing, *all),
            }
        }
        Command::Show { id } => {
            let shown = show::show(world, id)?;
            match format {
                Format::Json => output::json(&shown),
                Format::Text => print_shown(&shown),
            }
        }
        Command::Supersede { id, text: Some(text), why, expires, session } => {
            let text = if text == "-" { super::decide::stdin()? } else { text.clone() };
            let wanted = Wanted {
                text: &text,
                why: why.as_deref(),
                supersedes: Some(id),
                expires: expires.as_deref(),
                session: session.as_deref(),
                ..Wanted::default()
            };
            tell(&record::decide(world, &wanted)?, format, &format!("{GOOD}Decided{GOOD:#}"));
        }
        Command::Supersede { id, text: None, why, session, .. } => {
            let report = record::withdraw(world, id, why.as_deref(), session.as_deref())?;
            tell(&report, format, "Withdrawn");
        }
        Command::Accept { id, why } => {
            tell(&record::accept(world, id, why.as_deref())?, format, &format!("{GOOD}Accepted{GOOD:#}"));
        }
    }
    Ok(0)
}

pub fn tell(report: &Report, format: Format, word: &str) {
    if format == Format::Json {
        return output::json(report);
    }
    let Report { decision, superseded, changed, covered, notes } = report;
    let text = if decision.is_withdrawal() { superseded } else { &decision.text };
    let id = if decision.is_withdrawal() { &decision.supersedes } else { &decision.id };
    let word = if *changed { word } else { "It was so already" };
    output::line(format_args!("{word} {DIM}{id}{DIM:#}: {BOLD}{}{BOLD:#}", one_line(text, TEXT)));
    if !superseded.is_empty() && !decision.is_withdrawal() {
        output::line(format_args!("  in place of: {}", one_line(superseded, TEXT)));
    }
    tell_notes(notes, *covered);
}

/// Of a text in a list.
const TEXT: usize = 160;

fn print_listing(listing: &Listing, all: bool) {
    if listing.decisions.is_empty() {
        let yet = if listing.over > 0 { "No decision is in force." } else { "No decisions yet." };
        output::talk(format_args!("{yet} `thru decide TEXT --why WHY` records one."));
    }
    for one in &listing.decisions {
        output::line(row(one));
    }
    if listing.more > 0 {
        output::talk(format_args!("{DIM}and {} more: `-n 0` lists all{DIM:#}", listing.more));
    }
    if listing.over > 0 && !all {
        output::talk(format_args!("{DIM}{} no longer in force: `--all` lists them{DIM:#}", listing.over));
    }
    if listing.torn > 0 {
        output::talk(format_args!(
            "{WARN}note:{WARN:#} {} lines could not be read (cut off by a crash, or not written by thru)",
            listing.torn
        ));
    }
}

fn row(one: &Standing) -> String {
    let Decision { id, ts, text, why, kind, .. } = &one.decision;
    let day = one_line(ts.get(..10).unwrap_or(ts), 10);
    let kind = if *kind == Kind::Pattern { "pattern: " } else { "" };
    let why =
        if why.is_empty() { String::new() } else { format!("  {DIM}because {}{DIM:#}", one_line(why, TEXT)) };
    let state = match one.state {
        State::Current => String::new(),
        state => format!("  {WARN}{}{WARN:#}", state.name()),
    };
    format!("{DIM}{} {day}{DIM:#}  {kind}{}{why}{state}", one_line(id, 20), one_line(text, TEXT))
}

fn print_shown(shown: &Shown) {
    let one = &shown.standing;
    let Decision { id, ts, text, why, by, phase, task, expires_at, source, session, question, topic, .. } =
        &one.decision;
    let state = match one.state {
        State::Superseded => format!("superseded by {}", one.superseded_by),
        State::Withdrawn if !one.withdrawn_because.is_empty() => {
            format!("withdrawn: {}", one.withdrawn_because)
        }
        state => state.name().to_owned(),
    };
    output::line(format_args!("{BOLD}{}{BOLD:#}", text.trim_end()));
    let rows = [
        ("id", id.clone()),
        ("why", why.clone()),
        ("state", state),
        ("decided", format!("{ts} by {by}")),
        ("from", source.name().to_owned()),
        ("asked", question.clone()),
        ("topic", topic.clone()),
        ("session", session.clone()),
        ("phase", phase.map(|phase| phase.to_string()).unwrap_or_default()),
        ("task", task.clone()),
        ("until", expires_at.clone()),
    ];
    let rows: Vec<(&str, String)> = rows.into_iter().filter(|(_, text)| !text.is_empty()).collect();
    output::pairs(&rows);
    for earlier in &shown.before {
        output::line(format_args!("in place of {}", row(earlier)));
    }
}

fn print_suggested(suggested: &Suggested) {
    if suggested.suggested.is_empty() {
        output::talk("Nothing is suggested: no agent said what was decided, or all of it was accepted.");
        return;
    }
    for one in &suggested.suggested {
        let why = if one.why.is_empty() {
            String::new()
        } else {
            format!("  {DIM}because {}{DIM:#}", one_line(&one.why, TEXT))
        };
        output::line(format_args!("{DIM}{}{DIM:#}  {}{why}", one.id, one_line(&one.text, TEXT)));
    }
    if suggested.more > 0 {
        output::talk(format_args!("{DIM}and {} more: `-n 0` lists all{DIM:#}", suggested.more));
    }
    output::talk(format_args!("{DIM}`thru decisions accept ID` makes one a decision{DIM:#}"));
}

/// What `thru import swarm` took from a context.md.
pub fn tell_import(report: &import::Report, mode: Mode) {
    let import::Report { from, decisions, patterns, known, written, .. } = report;
    let how = match (written, mode) {
        (0, Mode::DryRun) if *known < decisions + patterns => "Would be imported".to_owned(),
        (0, _) => "Imported before".to_owned(),
        _ => format!("{GOOD}Imported{GOOD:#}"),
    };
    output::line(format_args!("{how}: {decisions} decisions, {patterns} patterns {DIM}({from}){DIM:#}"));
    if *known > 0 && *known < decisions + patterns {
        output::line(format_args!("  {known} of them were here already"));
    }
    for warning in &report.warnings {
        output::talk(format_args!("{WARN}warning:{WARN:#} line {}: {}", warning.line, warning.text));
    }
    tell_notes(&report.notes, report.covered);
}
