mod list;
mod show;

use clap::Subcommand;
use model::decision::{Decision, DecisionKind, DecisionStanding, DecisionState};
use model::render::one_line;
use ops::features::decisions::import;
use ops::features::decisions::record::{self, DecisionReport, NewDecision};
use ops::{Result, World, WriteMode};

use super::plan::print_notes;
use crate::output::{self, BOLD, DIM, GOOD, OutputFormat, WARN};

/// The maximum length of a decision or a reason in a list, in characters.
const MAX_LISTED_DECISION_CHARS: usize = 160;

/// List, show, supersede and accept decisions
///
/// Each decision is a line in .agent/context/decisions.jsonl. Lines are only ever added. context.md next to it lists
/// the decisions for people. `thru decide` records a decision.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the decisions in force, newest first
    List {
        /// Also list superseded, withdrawn and expired decisions
        #[arg(long)]
        all: bool,
        /// List decisions that agents suggested and nobody has accepted yet; they are not in force
        #[arg(long, conflicts_with = "all")]
        suggested: bool,
        /// List at most this many; 0 means all
        #[arg(short, value_name = "N", default_value_t = 30)]
        n: usize,
    },
    /// Show one decision, and what it superseded
    Show {
        /// The id of the decision, or the beginning of the id
        id: String,
    },
    /// Supersede a decision with a new one, or withdraw it
    Supersede {
        /// The old decision: its id, or the beginning of its id
        id: String,
        /// The new decision, or `-` to read it from stdin; if omitted, the old decision is withdrawn
        text: Option<String>,
        /// Give the reason
        #[arg(long)]
        why: Option<String>,
        /// Let the new decision expire on a date (2026-12-01) or after a time (30d)
        #[arg(long, value_name = "WHEN", requires = "text")]
        expires: Option<String>,
        /// Record this session as the author [default: the current session]
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// Accept a decision that an agent suggested
    Accept {
        /// The suggestion: its id, or the beginning of its id
        id: String,
        /// Record this reason instead of the agent's reason
        #[arg(long)]
        why: Option<String>,
    },
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    match &args.command {
        Command::List { suggested: true, n, .. } => return list::list_suggested_decisions(world, *n, format),
        Command::List { all, n, .. } => return list::run(world, *all, *n, format),
        Command::Show { id } => return show::run(world, id, format),
        Command::Supersede { id, text: Some(text), why, expires, session } => {
            let text = if text == "-" { super::decide::read_stdin()? } else { text.clone() };
            let wanted = NewDecision {
                text: &text,
                why: why.as_deref(),
                supersedes: Some(id),
                expires: expires.as_deref(),
                session: session.as_deref(),
                ..NewDecision::default()
            };
            print_report(
                &record::record_decision(world, &wanted)?,
                format,
                &format!("{GOOD}Decided{GOOD:#}"),
            );
        }
        Command::Supersede { id, text: None, why, session, .. } => {
            let report = record::withdraw_decision(world, id, why.as_deref(), session.as_deref())?;
            print_report(&report, format, "Withdrawn");
        }
        Command::Accept { id, why } => {
            let report = record::accept_suggestion(world, id, why.as_deref())?;
            print_report(&report, format, &format!("{GOOD}Accepted{GOOD:#}"));
        }
    }
    Ok(0)
}

pub fn print_report(report: &DecisionReport, format: OutputFormat, word: &str) {
    if format == OutputFormat::Json {
        return output::print_json(report);
    }
    let DecisionReport { decision, superseded_text, changed, redacted, notes } = report;
    let text = if decision.is_withdrawal() { superseded_text } else { &decision.text };
    let id = if decision.is_withdrawal() { &decision.supersedes } else { &decision.id };
    let word = if *changed { word } else { "Already recorded:" };
    output::print_line(format_args!(
        "{word} {DIM}{id}{DIM:#}: {BOLD}{}{BOLD:#}",
        one_line(text, MAX_LISTED_DECISION_CHARS)
    ));
    if !superseded_text.is_empty() && !decision.is_withdrawal() {
        output::print_line(format_args!(
            "  supersedes: {}",
            one_line(superseded_text, MAX_LISTED_DECISION_CHARS)
        ));
    }
    print_notes(notes, *redacted);
}

/// Prints the result of importing a context.md.
pub fn print_import(report: &import::DecisionImportReport, mode: WriteMode) {
    let import::DecisionImportReport { from, decisions, patterns, already_recorded, newly_recorded, .. } =
        report;
    let how = match (newly_recorded, mode) {
        (0, WriteMode::DryRun) if *already_recorded < decisions + patterns => "Would be imported".to_owned(),
        (0, _) => "Already imported".to_owned(),
        _ => format!("{GOOD}Imported{GOOD:#}"),
    };
    output::print_line(format_args!(
        "{how}: {decisions} decisions, {patterns} patterns {DIM}({from}){DIM:#}"
    ));
    if *already_recorded > 0 && *already_recorded < decisions + patterns {
        output::print_line(format_args!("  {already_recorded} of them were already here"));
    }
    for warning in &report.warnings {
        output::print_message(format_args!("{WARN}warning:{WARN:#} line {}: {}", warning.line, warning.text));
    }
    print_notes(&report.notes, report.redacted);
}

fn format_row(one: &DecisionStanding) -> String {
    let Decision { id, ts, text, why, kind, .. } = &one.decision;
    let day = one_line(ts.get(..10).unwrap_or(ts), 10);
    let kind = if *kind == DecisionKind::Pattern { "pattern: " } else { "" };
    let why = format_reason(why);
    let state = match one.state {
        DecisionState::Current => String::new(),
        state => format!("  {WARN}{}{WARN:#}", state.name()),
    };
    format!(
        "{DIM}{} {day}{DIM:#}  {kind}{}{why}{state}",
        one_line(id, 20),
        one_line(text, MAX_LISTED_DECISION_CHARS)
    )
}

fn format_reason(why: &str) -> String {
    if why.is_empty() {
        String::new()
    } else {
        format!("  {DIM}because {}{DIM:#}", one_line(why, MAX_LISTED_DECISION_CHARS))
    }
}
