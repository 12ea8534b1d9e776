use std::path::PathBuf;

use model::role;
use ops::Mode;
use ops::Result;
use ops::World;
use ops::features::roles::context::{Checked, Mended, Validated};
use ops::setup::init::Hooks;

use crate::commands::{init, lifecycle, recover};
use crate::output::{self, BOLD, DIM, Format, GOOD};

/// Work on the store itself, .agent/context, and on the context files of roles
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

impl Args {
    pub fn makes_root(&self) -> bool {
        matches!(self.command, Command::Init(_))
    }
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make the marker and the folders only; no harness is touched
    Init(init::RootArgs),
    Validate(ValidateArgs),
    Schema(SchemaArgs),
    New(NewArgs),
    Fix(FixArgs),
    /// The same as `thru lifecycle`
    Lifecycle(lifecycle::Args),
    /// The same as `thru recover`
    Recover(recover::Args),
}

/// Check context files of roles: every error and warning with its line
///
/// Exits with 0 if all are valid (warnings allowed), otherwise with 1.
#[derive(Debug, clap::Args)]
struct ValidateArgs {
    /// The files, or the roles they are of
    #[arg(required_unless_present = "all")]
    files: Vec<PathBuf>,
    /// Every context file of this project
    #[arg(long, conflicts_with = "files")]
    all: bool,
}

/// Print the schema of context files; with --json a JSON Schema of what they say
#[derive(Debug, clap::Args)]
struct SchemaArgs {}

/// Make the context file of a role, to be filled in; one that is there stays as it is
#[derive(Debug, clap::Args)]
struct NewArgs {
    /// What the role is called: `tester`, `oosh-expert`
    role: String,
}

/// Mend what needs no thought: the dash, the labels, the names of headings
///
/// Shows the diff and keeps a backup; everything else stays byte for byte. Exit code 1 when the file is not valid
/// afterwards either.
#[derive(Debug, clap::Args)]
struct FixArgs {
    /// The context file, or the role it is of
    file: PathBuf,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    match &args.command {
        Command::Init(args) => init::make(world, args, Hooks::Leave, format),
        Command::Validate(args) => validate(world, args, format),
        Command::Schema(SchemaArgs {}) => {
            let text = if format == Format::Json { role::JSON_SCHEMA } else { role::SCHEMA };
            output::line(text.trim_end());
            Ok(0)
        }
        Command::New(args) => {
            let begun = ops::features::roles::context::new(world, &args.role)?;
            match format {
                Format::Json => output::json(&begun),
                Format::Text if begun.created => {
                    output::line(format_args!("{GOOD}Made{GOOD:#} {}", begun.file));
                    output::line(format_args!("Next: fill it in, then `thru lifecycle save {}`", begun.role));
                }
                Format::Text => {
                    output::line(format_args!("{} is there already, and stays as it is", begun.file));
                }
            }
            Ok(0)
        }
        Command::Fix(args) => fix(world, args, format),
        Command::Lifecycle(args) => lifecycle::run(world, args, format),
        Command::Recover(args) => recover::run(world, args, format),
    }
}

fn validate(world: &World, args: &ValidateArgs, format: Format) -> Result<u8> {
    let Validated { checked, failed } = match args.all {
        true => ops::features::roles::context::validate_all(world)?,
        false => ops::features::roles::context::validate(world, &args.files)?,
    };
    match format {
        // One answer is one document: there the failure is it.
        Format::Json if failed.is_some() => {}
        Format::Json => output::json(&checked),
        Format::Text if checked.is_empty() && failed.is_none() => {
            output::talk("There are no context files here yet; `thru context new ROLE` makes one.");
        }
        Format::Text => checked.iter().for_each(print_checked),
    }
    failed.map_or(Ok(()), Err)?;
    Ok(u8::from(checked.iter().any(|checked| !checked.valid)))
}

/// In the words of the schema, without colour: other tools read these lines.
fn print_checked(checked: &Checked) {
    checked.findings.iter().for_each(output::line);
    output::line(&checked.verdict);
}

fn fix(world: &World, args: &FixArgs, format: Format) -> Result<u8> {
    let mode = if args.dry_run { Mode::DryRun } else { Mode::Write };
    let mended = ops::features::roles::context::fix(world, &args.file, mode)?;
    match format {
        Format::Json => output::json(&mended),
        Format::Text => print_mended(&mended),
    }
    Ok(u8::from(!mended.check.valid))
}

fn print_mended(mended: &Mended) {
    let file = &mended.file;
    match (mended.lines.is_empty(), mended.written) {
        (true, _) => output::line(format_args!("{BOLD}{file}{BOLD:#}: nothing to mend")),
        (false, written) => {
            output::line(format_args!("--- {file}\n+++ {file}\n{}", mended.diff.trim_end()));
            if !written {
                output::talk(format_args!("{DIM}(a dry run: nothing was written){DIM:#}"));
            }
        }
    }
    if let Some(backup) = &mended.backup {
        output::talk(format_args!("{DIM}backup: {}{DIM:#}", backup.display()));
    }
    print_checked(&mended.check);
}
