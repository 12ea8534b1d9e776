use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::Subcommand;
use model::evidence::{Entry, EntryType, Verdict};
use model::render::one_line;
use model::text::count;
use ops::features::evidence::run::Recorded;
use ops::features::evidence::show::{EntryShown, Listed, Shown, Which};
use ops::features::evidence::{add, archive, run, show};
use ops::{Error, Mode, Result, World};

use super::plan::tell_notes;
use super::plan_view::proof_style;
use crate::output::{self, BAD, BOLD, DIM, Format, GOOD, WARN};

/// What shows that tasks are done: test runs that thru saw, reviews, diffs, approvals, notes
///
/// Only what thru saw itself proves a task: a command that `evidence run` ran, or a test run in a session with hooks. It is
/// bound to the files it spoke of, and stale once they change.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(RunArgs),
    Add(Box<AddArgs>),
    /// List the tasks that have evidence, and how it stands
    List,
    /// Show all evidence of a task
    Show {
        /// The task
        id: String,
        /// What went to the archive, instead
        #[arg(long)]
        archived: bool,
    },
    /// Move older entries out of the bundle, to a file beside it
    Archive {
        /// The task; all of them unless said
        id: Option<String>,
        /// How many of the newest stay
        #[arg(long, value_name = "N", default_value_t = 20)]
        keep: usize,
        /// Only show what would be moved
        #[arg(long)]
        dry_run: bool,
    },
}

/// Run a command and record how it ended: exit code, counts, commit, and the files it spoke of
///
/// Its output is shown as it comes (with --json on stderr). Exit code 0 if it passed, 1 if not. It speaks of --file, else of
/// the files of the task, else of every file of the project that git does not ignore.
#[derive(Debug, clap::Args)]
struct RunArgs {
    /// The task
    id: String,
    /// A file or folder that it speaks of; once for each
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<String>,
    /// Take the counts from this report, in JUnit's form, that the command writes
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// End it after this many seconds; it has failed then
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// Who does it, instead of the session around us
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The command and what it is given
    #[arg(last = true, required = true, value_name = "COMMAND")]
    argv: Vec<String>,
}

/// Add what somebody says of a task; it is shown, and proves nothing by itself
#[derive(Debug, clap::Args)]
struct AddArgs {
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
    match &args.command {
        Command::Run(args) => return run_command(world, args, format),
        Command::Add(args) => {
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
                    tell_notes(&added.notes, added.covered);
                }
            }
        }
        Command::List => {
            let listed = show::list(world)?;
            match format {
                Format::Json => output::json(&listed),
                Format::Text => list(&listed),
            }
        }
        Command::Show { id, archived } => {
            let which = if *archived { Which::Archived } else { Which::Current };
            let shown = show::show(world, id, which)?;
            match format {
                Format::Json => output::json(&shown),
                Format::Text => details(&shown, which),
            }
        }
        Command::Archive { id, keep, dry_run } => {
            let mode = if *dry_run { Mode::DryRun } else { Mode::Write };
            let report = archive::run(world, id.as_deref(), *keep, mode)?;
            match format {
                Format::Json => output::json(&report),
                Format::Text => {
                    for task in &report.tasks {
                        let how = if report.written { "moved" } else { "would be moved" };
                        let entries = entries(task.moved);
                        output::line(format_args!(
                            "{BOLD}{}{BOLD:#}: {entries} {how} to {}, {} left",
                            task.task, task.file, task.kept
                        ));
                    }
                    if report.tasks.is_empty() {
                        output::talk(format_args!("No task has more than {}.", entries(*keep)));
                    }
                }
            }
        }
    }
    Ok(0)
}

fn run_command(world: &World, args: &RunArgs, format: Format) -> Result<u8> {
    let request = run::Request {
        task: &args.id,
        argv: &args.argv,
        files: &args.files,
        timeout: args.timeout.map(Duration::from_secs),
        junit: args.junit.as_deref(),
        session: args.session.as_deref(),
    };
    let lines = Arc::new(Mutex::new(Lines { pending: Vec::new(), format }));
    let heard = Arc::clone(&lines);
    let held =
        |lines: &Mutex<Lines>, said: &[u8]| lines.lock().unwrap_or_else(PoisonError::into_inner).hear(said);
    let recorded = run::run(world, &request, move |said| held(&heard, said));
    lines.lock().unwrap_or_else(PoisonError::into_inner).close();
    let recorded = recorded?;
    match format {
        Format::Json => output::json(&recorded),
        Format::Text => tell(&recorded),
    }
    Ok(u8::from(!recorded.is_passed()))
}

/// What a command prints, shown by whole lines: a letter that comes in two parts must not be shown as two.
struct Lines {
    pending: Vec<u8>,
    format: Format,
}

/// A longer line is shown in parts.
const LONGEST_LINE: usize = 64 * 1024;

impl Lines {
    fn hear(&mut self, said: &[u8]) {
        self.pending.extend_from_slice(said);
        let end = match self.pending.iter().rposition(|b| *b == b'\n') {
            Some(end) => end + 1,
            None if self.pending.len() > LONGEST_LINE => self.pending.len(),
            None => return,
        };
        let text: Vec<u8> = self.pending.drain(..end).collect();
        self.show(&text);
    }

    fn close(&mut self) {
        let rest = std::mem::take(&mut self.pending);
        if !rest.is_empty() {
            self.show(&rest);
        }
    }

    fn show(&self, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        let text = text.strip_suffix('\n').unwrap_or(&text);
        match self.format {
            Format::Text => output::line(text),
            // stdout is for the report.
            Format::Json => output::talk(text),
        }
    }
}

fn tell(recorded: &Recorded) {
    let entry = &recorded.entry;
    let (style, word) = match entry.verdict() {
        Verdict::Pass => (GOOD, "Passed"),
        Verdict::Fail => (BAD, "Failed"),
        _ => (WARN, "Not sure"),
    };
    output::line(format_args!(
        "{style}{word}{style:#}: recorded for {BOLD}{}{BOLD:#}: {}",
        recorded.task,
        entry.words()
    ));
    if entry.verdict() == Verdict::Warn {
        let why = match entry.counts().and_then(model::run::Counts::ran) {
            Some(0) => "no test ran",
            _ => {
                "its exit code does not tell how it ended (a pipe, `|| true`), and neither does what it printed"
            }
        };
        output::talk(format_args!("{WARN}note:{WARN:#} {why}: this does not prove the task"));
    }
    if !recorded.changed.is_empty() {
        output::talk(format_args!(
            "{WARN}note:{WARN:#} {} changed while it ran, so this is stale already; run it again",
            one_line(&recorded.changed, 200)
        ));
    }
    tell_notes(&recorded.notes, recorded.covered);
}

fn add_entry(world: &World, args: &AddArgs) -> Result<add::Added> {
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

fn list(listed: &Listed) {
    if listed.tasks.is_empty() {
        return output::talk("There is no evidence yet; `thru evidence run TASK -- COMMAND` makes some.");
    }
    let width = listed.tasks.iter().map(|line| line.task.chars().count()).max().unwrap_or(0).min(24);
    for line in &listed.tasks {
        let style = proof_style(line);
        let text = line.error.as_ref().unwrap_or(&line.text);
        output::line(format_args!(
            "{BOLD}{:<width$}{BOLD:#}  {style}●{style:#} {}",
            line.task,
            one_line(text, 300)
        ));
    }
}

fn details(shown: &Shown, which: Which) {
    let style = proof_style(&shown.evidence);
    output::line(format_args!(
        "{BOLD}{}{BOLD:#}  {style}●{style:#} {}",
        shown.task,
        one_line(&shown.evidence.text, 1_000)
    ));
    for EntryShown { entry, stale, changed_since } in &shown.entries {
        let verdict = entry.verdict();
        let style = match verdict {
            _ if verdict.is_good() => GOOD,
            _ if verdict.is_bad() => BAD,
            _ => DIM,
        };
        let stale = match stale {
            Some(true) => format!("  {WARN}stale: {}{WARN:#}", one_line(changed_since, 200)),
            _ => String::new(),
        };
        output::line(format_args!(
            "\n{DIM}{}{DIM:#}  {BOLD}{}{BOLD:#} {style}{}{style:#} {DIM}{} by {}{DIM:#}{stale}",
            one_line(&entry.timestamp, 40),
            one_line(&entry.entry_type, 40),
            one_line(&entry.verdict, 40),
            entry.kind().name(),
            one_line(if entry.agent.is_empty() { "?" } else { &entry.agent }, 80)
        ));
        fields(entry);
    }
    if shown.archived > 0 && which == Which::Current {
        output::talk(format_args!(
            "{DIM}{} in the archive; `thru evidence show {} --archived` shows them{DIM:#}",
            entries(shown.archived),
            shown.task
        ));
    }
}

/// What an entry holds, each in a line.
fn fields(entry: &Entry) {
    let mut rows: Vec<(&str, String)> = Vec::new();
    let mut row = |name: &'static str, text: String| {
        if !text.is_empty() {
            rows.push((name, one_line(&text, 2_000)));
        }
    };
    let values = |values: &[serde_json::Value]| {
        let text =
            |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        values.iter().map(text).collect::<Vec<_>>().join("; ")
    };
    row("  summary", entry.summary.clone());
    row("  command", entry.command.clone().unwrap_or_default());
    row("  folder", entry.folder.clone());
    row("  exit", entry.exit_code.map(|code| code.to_string()).unwrap_or_default());
    row("  tests", entry.counts().map(|counts| counts.to_string()).unwrap_or_default());
    row("  failures", values(&entry.failures));
    row("  risk", entry.risk.clone().unwrap_or_default());
    row("  issues", values(&entry.issues));
    row("  changed", values(&entry.files_changed));
    if let (Some(more), Some(less)) = (entry.additions, entry.deletions) {
        row("  lines", format!("+{more} -{less}"));
    }
    row("  patch", entry.patch_path.clone().unwrap_or_default());
    row("  commit", entry.head.clone());
    let files = entry.files.filter(|_| !entry.tree.is_empty());
    let files = files.map(|files| count(usize::try_from(files).unwrap_or(usize::MAX), "file"));
    row("  speaks of", files.unwrap_or_default());
    for (key, value) in entry.metadata.iter().chain(&entry.rest) {
        rows.push(("  also", format!("{}: {}", one_line(key, 40), one_line(&value.to_string(), 400))));
    }
    output::pairs(&rows);
}

fn entries(n: usize) -> String {
    if n == 1 { "1 entry".to_owned() } else { format!("{n} entries") }
}
