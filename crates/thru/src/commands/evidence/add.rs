use std::path::PathBuf;

use model::evidence::{EntryType, EvidenceVerdict};
use model::render::one_line;
use ops::features::evidence::add;
use ops::{Error, Result, World};

use crate::commands::plan::print_notes;
use crate::output::{self, BOLD, GOOD, OutputFormat};

/// Add a statement about a task; the statement is shown, but does not prove that the task is done
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The task
    id: String,
    /// Set the type: review, test, diff, approval, note
    #[arg(long = "type", value_name = "TYPE", default_value = "note")]
    entry_type: String,
    /// Set the verdict: pass, fail, warn, skip, approved, rejected, info
    #[arg(long, default_value = "info")]
    verdict: String,
    /// Set the summary
    #[arg(long, value_name = "TEXT", default_value = "")]
    summary: String,
    /// Name the author [default: the current session]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Set the risk that a review found: low, medium, high, …
    #[arg(long)]
    risk: Option<String>,
    /// Add an issue that a review found; can be given several times
    #[arg(long = "issue", value_name = "TEXT")]
    issues: Vec<String>,
    /// Set how many tests passed
    #[arg(long, value_name = "N")]
    passed: Option<u64>,
    /// Set how many tests failed
    #[arg(long, value_name = "N")]
    failed: Option<u64>,
    /// Add a test that failed; can be given several times
    #[arg(long = "failure", value_name = "TEXT")]
    failures: Vec<String>,
    /// Attach a copy of this patch file to a diff
    #[arg(long, value_name = "FILE")]
    patch: Option<PathBuf>,
    /// Add another field; can be given several times
    #[arg(long = "meta", value_name = "KEY=VALUE")]
    metadata: Vec<String>,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let added = add_entry(world, args)?;
    match format {
        OutputFormat::Json => output::print_json(&added),
        OutputFormat::Text => {
            let entry = &added.entry;
            output::print_line(format_args!(
                "{GOOD}Added{GOOD:#} to {BOLD}{}{BOLD:#}: {} {}",
                added.task,
                entry.entry_type,
                entry.describe()
            ));
            print_notes(&added.notes, added.redacted);
        }
    }
    Ok(0)
}

fn add_entry(world: &World, args: &Args) -> Result<add::AddedEntry> {
    let entry_type =
        parse_word(&args.entry_type, EntryType::parse, "a type", &EntryType::ALL.map(EntryType::name))?;
    let verdict = parse_word(
        &args.verdict,
        EvidenceVerdict::parse,
        "a verdict",
        &EvidenceVerdict::ALL.map(EvidenceVerdict::name),
    )?;
    let pair = |text: &String| {
        let pair = text.split_once('=').filter(|(key, _)| !key.trim().is_empty());
        pair.map(|(key, value)| (key.to_owned(), value.to_owned())).ok_or_else(|| Error::Usage {
            what: format!("`{}` is not KEY=VALUE", one_line(text, 40)),
            hint: "write it like --meta browser=firefox".into(),
        })
    };
    let metadata = args.metadata.iter().map(pair).collect::<Result<Vec<_>>>()?;
    add::add_entry(
        world,
        &add::AddEvidenceRequest {
            task: &args.id,
            entry_type,
            verdict,
            summary: &args.summary,
            agent: args.agent.as_deref(),
            risk: args.risk.as_deref(),
            issues: &args.issues,
            failures: &args.failures,
            tests_passed: args.passed,
            tests_failed: args.failed,
            patch: args.patch.as_deref(),
            metadata: &metadata,
        },
    )
}

fn parse_word<T>(given: &str, parse: fn(&str) -> Option<T>, what: &str, allowed: &[&str]) -> Result<T> {
    parse(given).ok_or_else(|| Error::Usage {
        what: format!("`{}` is not {what}", one_line(given, 40)),
        hint: format!("one of: {}", allowed.join(", ")),
    })
}
