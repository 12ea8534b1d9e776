use std::path::PathBuf;

use model::render::one_line;
use ops::project::extract::{
    self, AllowedWrites, ExistingFilePolicy, ExtractOutcome, ExtractReport, ExtractedFile,
};
use ops::{Result, World, WriteMode};

use crate::output::{self, BAD, BOLD, DIM, GOOD, OutputFormat, WARN};

/// Write the code blocks in a message to files
///
/// The name of each file comes from the block's fence, its first line or the line before it. A name that leads out of
/// the folder, or into `.git`, is not used. Existing files stay unchanged unless --replace is given. A file that
/// changes which programs run, or what agents are told, is written only if `--allow` names it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The message: a file, or `-` for stdin
    #[arg(default_value = "-")]
    message: PathBuf,
    /// Write the files into this folder [default: the current folder]
    #[arg(long, value_name = "FOLDER")]
    into: Option<PathBuf>,
    /// Replace existing files
    #[arg(long)]
    replace: bool,
    /// Write this file even though it changes which programs run or what agents are told; can be given several times
    #[arg(long, value_name = "PATH")]
    allow: Vec<String>,
    /// Only show what would be written
    #[arg(long)]
    dry_run: bool,
}

/// Returns exit code 1 if any block was not written.
pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let message = extract::read_message_to_extract_from(world, &args.message)?;
    let existing_file = if args.replace { ExistingFilePolicy::Replace } else { ExistingFilePolicy::Keep };
    let mode = if args.dry_run { WriteMode::DryRun } else { WriteMode::Write };
    let allowed = AllowedWrites { existing_file, allowed_guarded_files: &args.allow };
    let report = extract::extract_files(world, &message, args.into.as_deref(), allowed, mode)?;
    match format {
        OutputFormat::Json => output::print_json(&report),
        OutputFormat::Text => print_report(&report, mode),
    }
    Ok(u8::from(report.left_out > 0))
}

fn print_report(report: &ExtractReport, mode: WriteMode) {
    for ExtractedFile { path, line, lines, outcome, note } in &report.files {
        let (style, word) = match outcome {
            ExtractOutcome::Created => (GOOD, "new"),
            ExtractOutcome::Replaced => (WARN, "replaced"),
            ExtractOutcome::Same => (DIM, "same"),
            ExtractOutcome::Exists => (WARN, "exists"),
            ExtractOutcome::Refused => (WARN, "refused"),
            ExtractOutcome::Failed => (BAD, "failed"),
        };
        let path = one_line(path, 400);
        output::print_line(format_args!(
            "{style}{word:<8}{style:#}  {BOLD}{path}{BOLD:#}  {DIM}{lines} lines, from line {line}{DIM:#}"
        ));
        if !note.is_empty() {
            output::print_line(format_args!("          {WARN}{}{WARN:#}", one_line(note, 400)));
        }
    }
    output::print_message(extract::describe_report(report, mode));
    if report.files.iter().any(|file| file.outcome == ExtractOutcome::Exists) {
        output::print_message("hint: `--replace` replaces files that exist");
    }
}
