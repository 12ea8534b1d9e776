use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::evidence::EvidenceVerdict;
use model::render::one_line;
use ops::features::evidence::run::{self, RunRecordedAsEvidence};
use ops::{Result, World};

use crate::commands::plan::print_notes;
use crate::output::{self, BAD, BOLD, GOOD, OutputFormat, WARN};

/// Run a command and record its result: exit code, test counts, commit, covered files
///
/// The command's output is shown as it arrives (on stderr with --json). The exit code is 0 if the command passed, and 1
/// if not. The evidence covers the files given with --file, or else the files of the task, or else every file in the
/// project that git does not ignore.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The task
    id: String,
    /// Cover this file or folder; can be given several times
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<String>,
    /// Read the counts from this JUnit report, which the command writes
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Stop the command after this many seconds, and record it as failed
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// Act as this session [default: the current session]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    argv: Vec<String>,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let request = run::EvidenceRunRequest {
        task: &args.id,
        argv: &args.argv,
        files: &args.files,
        timeout: args.timeout.map(Duration::from_secs),
        junit: args.junit.as_deref(),
        session: args.session.as_deref(),
    };
    let lines = Arc::new(Mutex::new(LinePrinter { pending: Vec::new(), format }));
    let heard = Arc::clone(&lines);
    let held = |lines: &Mutex<LinePrinter>, said: &[u8]| {
        lines.lock().unwrap_or_else(PoisonError::into_inner).push_output(said);
    };
    let recorded = run::run_and_record(world, &request, move |said| held(&heard, said));
    lines.lock().unwrap_or_else(PoisonError::into_inner).finish();
    let recorded = recorded?;
    match format {
        OutputFormat::Json => output::print_json(&recorded),
        OutputFormat::Text => print_recorded_run(&recorded),
    }
    Ok(u8::from(!recorded.has_passed()))
}

/// Prints a command's output in whole lines, because one read may end in the middle of a UTF-8 character.
struct LinePrinter {
    pending: Vec<u8>,
    format: OutputFormat,
}

/// A line that is longer than this is printed in parts.
const MAX_LINE_BYTES: usize = 64 * 1024;

impl LinePrinter {
    fn push_output(&mut self, said: &[u8]) {
        self.pending.extend_from_slice(said);
        let end = match self.pending.iter().rposition(|b| *b == b'\n') {
            Some(end) => end + 1,
            None if self.pending.len() > MAX_LINE_BYTES => self.pending.len(),
            None => return,
        };
        let text: Vec<u8> = self.pending.drain(..end).collect();
        self.print_line(&text);
    }

    fn finish(&mut self) {
        let rest = std::mem::take(&mut self.pending);
        if !rest.is_empty() {
            self.print_line(&rest);
        }
    }

    fn print_line(&self, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        let text = text.strip_suffix('\n').unwrap_or(&text);
        match self.format {
            OutputFormat::Text => output::print_line(text),
            // With `--json`, stdout contains only the report.
            OutputFormat::Json => output::print_message(text),
        }
    }
}

fn print_recorded_run(recorded: &RunRecordedAsEvidence) {
    let entry = &recorded.entry;
    let (style, word) = match entry.verdict() {
        EvidenceVerdict::Pass => (GOOD, "Passed"),
        EvidenceVerdict::Fail => (BAD, "Failed"),
        _ => (WARN, "Not sure"),
    };
    output::print_line(format_args!(
        "{style}{word}{style:#}: recorded for {BOLD}{}{BOLD:#}: {}",
        recorded.task,
        entry.describe()
    ));
    if entry.verdict() == EvidenceVerdict::Warn {
        let why = match entry.test_counts().and_then(model::run::TestCounts::tests_run) {
            Some(0) => "no test ran",
            _ => "neither its exit code (a pipe, `|| true`) nor its output shows how it ended",
        };
        output::print_message(format_args!(
            "{WARN}note:{WARN:#} {why}: this does not prove that the task is done"
        ));
    }
    if !recorded.changed_file.is_empty() {
        output::print_message(format_args!(
            "{WARN}note:{WARN:#} {} changed while the command ran, so this evidence is already stale; run the command again",
            one_line(&recorded.changed_file, 200)
        ));
    }
    print_notes(&recorded.notes, recorded.redacted);
}
