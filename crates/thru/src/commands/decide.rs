use model::decision::{DecisionKind, MAX_DECISION_TEXT_BYTES};
use ops::features::decisions::record::{self, NewDecision};
use ops::{Error, Result, World};

use super::decisions::print_report;
use crate::output::{GOOD, OutputFormat};

/// Record a decision: what was settled, and why
///
/// The decision is written to .agent/context/decisions.jsonl. Briefs and packets contain it until it is superseded or
/// withdrawn, or expires. `thru decisions list` lists the decisions in force. The user's answers to an agent's
/// questions are recorded automatically.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What was decided; `-` reads the text from stdin
    text: String,
    /// Give the reason
    #[arg(long)]
    why: Option<String>,
    /// Supersede this decision
    #[arg(long, value_name = "ID")]
    supersedes: Option<String>,
    /// Let the decision expire on a date (2026-12-01) or after a time (30d)
    #[arg(long, value_name = "WHEN")]
    expires: Option<String>,
    /// Assign the decision to this task instead of the task in progress
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// Record a pattern: how something is always done here
    #[arg(long)]
    pattern: bool,
    /// Record this session as the author [default: the current session]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let text = if args.text == "-" { read_stdin()? } else { args.text.clone() };
    let wanted = NewDecision {
        text: &text,
        why: args.why.as_deref(),
        kind: if args.pattern { DecisionKind::Pattern } else { DecisionKind::Decision },
        supersedes: args.supersedes.as_deref(),
        expires: args.expires.as_deref(),
        task: args.task.as_deref(),
        session: args.session.as_deref(),
    };
    print_report(&record::record_decision(world, &wanted)?, format, &format!("{GOOD}Decided{GOOD:#}"));
    Ok(0)
}

pub fn read_stdin() -> Result<String> {
    // Accept more than the limit here, so that the error message can state how long the input is.
    let bytes = ops::input::read_stdin(16 * MAX_DECISION_TEXT_BYTES)?;
    String::from_utf8(bytes).map_err(|_| Error::Usage {
        what: "stdin is not UTF-8".into(),
        hint: "a decision must be text".into(),
    })
}
