use model::decision::{DecisionKind, MAX_TEXT_BYTES};
use ops::features::decisions::record::{self, NewDecision};
use ops::{Error, Result, World};

use super::decisions::print_report;
use crate::output::{Format, GOOD};

/// Record a decision: what was settled, and why
///
/// It stands in .agent/context/decisions.jsonl, and in every brief and packet until another supersedes it or its time is
/// over. `thru decisions` lists them. The user's answers to an agent's questions are recorded by themselves.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What was decided; `-` reads it from stdin
    text: String,
    /// Why
    #[arg(long)]
    why: Option<String>,
    /// The decision that it takes the place of
    #[arg(long, value_name = "ID")]
    supersedes: Option<String>,
    /// Until when it holds: 2026-12-01, or 30d from now
    #[arg(long, value_name = "WHEN")]
    expires: Option<String>,
    /// The task it belongs to, instead of the one in progress
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// It is a pattern: how a thing is done here every time
    #[arg(long)]
    pattern: bool,
    /// Who decides, instead of the session around us
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
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
    // Read more than the limit, so that the error can give the length of a text that is too long.
    let bytes = ops::input::read_stdin(16 * MAX_TEXT_BYTES)?;
    String::from_utf8(bytes)
        .map_err(|_| Error::Usage { what: "stdin is not UTF-8".into(), hint: "a decision is text".into() })
}
