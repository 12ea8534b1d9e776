use std::collections::BTreeMap;
use std::path::Path;

use clap::builder::PossibleValuesParser;
use ops::setup::agents::{self, AgentInstallReport, AgentsRequest, HarnessAgentFilesReport};
use ops::setup::install::{FileChange, FileChangedByInstall, InstallScope};
use ops::{Result, World, WriteMode};

use crate::commands::install;
use crate::output::{self, BOLD, DIM, GOOD, OutputFormat, WARN};

/// Install the agents of a swarm into one harness, or into all harnesses in use
///
/// Writes seven files to the harness's agents folder. The last line of each file says that thru wrote it, and
/// contains a digest. A file that you wrote or changed is left alone and reported. Without --user or --project, every
/// worktree of the repository gets the files. In the folder `agents` next to your settings, {agent}.md replaces an
/// agent's prompt, and {agent}_append.md extends it.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    what: InstallTarget,
}

/// Remove the agents of a swarm, or of all swarms
///
/// Removes only files that thru wrote and nobody changed; other files are reported.
#[derive(Debug, clap::Args)]
pub struct UninstallArgs {
    #[command(flatten)]
    what: InstallTarget,
}

#[derive(Debug, clap::Args)]
struct InstallTarget {
    /// Use only this harness
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(ops::setup::harnesses::installable_harnesses()))]
    harness: Option<String>,
    /// Use this swarm, whose agents have the prefix ID_ [default: the setting swarm.id]
    #[arg(long, value_name = "ID")]
    swarm: Option<String>,
    /// Use your own agents folder, which applies to every project
    #[arg(long, group = "scope")]
    user: bool,
    /// Use the project's agents folder, and share the files in git
    #[arg(long, group = "scope")]
    project: bool,
    /// Use the project's agents folder, and hide the files from git [default]
    #[arg(long, group = "scope")]
    local: bool,
    /// Also replace or remove files that somebody changed; a backup is kept
    #[arg(long)]
    force: bool,
    /// Show what would change, but change nothing
    #[arg(long)]
    dry_run: bool,
}

impl InstallTarget {
    fn request(&self) -> AgentsRequest<'_> {
        AgentsRequest {
            harness: self.harness.as_deref(),
            swarm: self.swarm.as_deref(),
            scope: install::scope_of_flags(self.user, self.project, self.local)
                .unwrap_or(InstallScope::Local),
            force: self.force,
            mode: if self.dry_run { WriteMode::DryRun } else { WriteMode::Write },
        }
    }
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    print_report(&agents::install_agents(world, &args.what.request())?, format);
    Ok(0)
}

pub fn uninstall(world: &World, args: &UninstallArgs, format: OutputFormat) -> Result<u8> {
    print_report(&agents::uninstall_agents(world, &args.what.request())?, format);
    Ok(0)
}

fn print_report(report: &AgentInstallReport, format: OutputFormat) {
    if format == OutputFormat::Json {
        return output::print_json(report);
    }
    let is_empty = |one: &HarnessAgentFilesReport| one.files.is_empty() && one.kept_files.is_empty();
    if report.harnesses.iter().all(is_empty) {
        output::print_line("No agents of a swarm are installed here.");
    }
    for one in report.harnesses.iter().filter(|one| !is_empty(one)) {
        print_harness(one, report.written);
    }
    for note in &report.notes {
        output::print_message(format_args!("{WARN}note:{WARN:#} {note}"));
    }
    if !report.written {
        output::print_message(format_args!("{DIM}(a dry run: nothing was written){DIM:#}"));
    }
}

fn print_harness(report: &HarnessAgentFilesReport, written: bool) {
    let harness = report.harness;
    let rows = [
        (FileChange::Created, "created", "would create"),
        (FileChange::Changed, "changed", "would change"),
        (FileChange::Removed, "removed", "would remove"),
        (FileChange::Unchanged, "unchanged", "unchanged"),
    ];
    for (change, done, planned) in rows {
        let word = if written { done } else { planned };
        let mut folders: BTreeMap<&Path, Vec<&FileChangedByInstall>> = BTreeMap::new();
        for file in report.files.iter().filter(|file| file.change == change) {
            folders.entry(file.path.parent().unwrap_or(&file.path)).or_default().push(file);
        }
        for (folder, files) in folders {
            let names: Vec<String> = files
                .iter()
                .filter_map(|file| Some(file.path.file_stem()?.to_string_lossy().into_owned()))
                .collect();
            output::print_line(format_args!(
                "{BOLD}{harness}{BOLD:#} {GOOD}{word}{GOOD:#} in {}: {}",
                folder.display(),
                names.join(", ")
            ));
            for backup in files.iter().filter_map(|file| file.backup.as_ref()) {
                output::print_line(format_args!("{DIM}  backup: {}{DIM:#}", backup.display()));
            }
        }
    }
    for kept in &report.kept_files {
        output::print_message(format_args!(
            "{WARN}left alone:{WARN:#} {}: {}",
            kept.path.display(),
            kept.why
        ));
    }
}
