use std::path::PathBuf;

use model::evidence::{EntryType, Verdict};
use model::render::one_line;
use ops::features::evidence::add;
use ops::{Error, Result, World};

use crate::commands::plan::print_notes;
use crate::output::{self, BOLD, Format, GOOD};

/// Add what somebody says of a task; it is shown, and proves nothing by itself
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The task
    id: String,
    /// review, test, diff, approval, note
    #[arg(long = "type", value_name = "TYPE", default_value = "note")]
    entry_type: String,
    /// pass, fail, warn, skip, approved, rejected, info
    #[arg(long, default_value = "info")]
    verdict: String,
    /// What there is to know
    #[arg(long, value_name = "TEXT", default_value = "")]
    summary: String,
    /// Who says so, instead of the session around us
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Of a review: low, medium, high, …
    #[arg(long)]
    risk: Option<String>,
    /// Of a review: what is wrong; once for each
    #[arg(long = "issue", value_name = "TEXT")]
    issues: Vec<String>,
    /// Of a test: how many passed
    #[arg(long, value_name = "N")]
    passed: Option<u64>,
    /// Of a test: how many failed
    #[arg(long, value_name = "N")]
    failed: Option<u64>,
    /// Of a test: what failed; once for each
    #[arg(long = "failure", value_name = "TEXT")]
    failures: Vec<String>,
    /// Of a diff: the patch, which is copied
    #[arg(long, value_name = "FILE")]
    patch: Option<PathBuf>,
    /// Anything else, as KEY=VALUE; once for each
    #[arg(long = "meta", value_name = "KEY=VALUE")]
    metadata: Vec<String>,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    let added = add_entry(world, args)?;
    match format {
        Format::Json => output::json(&added),
        Format::Text => {
            let entry = &added.entry;
            output::line(format_args!(
                "{GOOD}Added{GOOD:#} to {BOLD}{}{BOLD:#}: {} {}",
                added.task,
                entry.entry_type,
                entry.words()
            ));
            print_notes(&added.notes, added.covered);
        }
    }
    Ok(0)
}

fn add_entry(world: &World, args: &Args) -> Result<add::Added> {
    let entry_type =
        word(&args.entry_type, EntryType::parse, "a type", &EntryType::ALL.map(EntryType::name))?;
    let verdict = word(&args.verdict, Verdict::parse, "a verdict", &Verdict::ALL.map(Verdict::name))?;
    let pair = |text: &String| {
        let pair = text.split_once('=').filter(|(key, _)| !key.trim().is_empty());
        pair.map(|(key, value)| (key.to_owned(), value.to_owned())).ok_or_else(|| Error::Usage {
            what: format!("`{}` is not KEY=VALUE", one_line(text, 40)),
            hint: "write it like --meta browser=firefox".into(),
        })
    };
    let metadata = args.metadata.iter().map(pair).collect::<Result<Vec<_>>>()?;
    add::add(
        world,
        &add::Request {
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

fn word<T>(given: &str, parse: fn(&str) -> Option<T>, what: &str, allowed: &[&str]) -> Result<T> {
    parse(given).ok_or_else(|| Error::Usage {
        what: format!("`{}` is not {what}", one_line(given, 40)),
        hint: format!("one of: {}", allowed.join(", ")),
    })
}
