use std::path::Path;

use clap::builder::PossibleValuesParser;
use model::text::count_with_noun;
use ops::ErrorKind;
use ops::Result;
use ops::World;
use ops::WriteMode;
use ops::setup::install::everywhere::{self, FileLeftByUninstallation, UninstallReport};
use ops::setup::install::{
    self, FailedFile, FileChange, FileChangedByInstall, InstallReport, InstallScope, InstallTask, status_line,
};

use crate::output::{self, BAD, BOLD, DIM, GOOD, OutputFormat, WARN};

/// Install hooks and commands into a harness's settings
///
/// Nothing of yours is changed: comments, order, indentation and other tools' hooks stay the same, byte for byte.
/// Running this command again changes nothing, and `thru uninstall` restores the original bytes. A backup is kept.
/// Without --user, --project or --local, a settings file that is not in git is used.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    what: InstallTarget,
    /// Also add the status line to your own settings; a status line that you already have is kept and called first
    #[arg(long)]
    statusline: bool,
}

/// Remove thru's hooks and commands from a harness's settings
///
/// Removes only what thru added; your own changes stay. --all covers every project on this machine that thru was
/// installed into, the worktrees of these projects, and your own settings.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["harness", "all"]))]
pub struct UninstallArgs {
    #[arg(help = "The harness", value_parser = PossibleValuesParser::new(ops::setup::harnesses::installable_harnesses()))]
    harness: Option<String>,
    /// Uninstall from every harness, in every project and in your own settings, and report what is left
    #[arg(long, conflicts_with = "scope")]
    all: bool,
    #[command(flatten)]
    how: InstallFlags,
}

#[derive(Debug, clap::Args)]
struct InstallTarget {
    #[arg(help = "The harness", value_parser = PossibleValuesParser::new(ops::setup::harnesses::installable_harnesses()))]
    harness: String,
    #[command(flatten)]
    how: InstallFlags,
}

#[derive(Debug, clap::Args)]
struct InstallFlags {
    /// Use your own settings, which apply to every project
    #[arg(long, group = "scope")]
    user: bool,
    /// Use the project's settings, which are in git; hooks find `thru` on PATH, and do nothing where thru is not
    /// installed
    #[arg(long, group = "scope")]
    project: bool,
    /// Use your own settings for this project; they are not in git
    #[arg(long, group = "scope")]
    local: bool,
    /// Show what would change, but change nothing
    #[arg(long)]
    dry_run: bool,
}

impl InstallFlags {
    fn mode(&self) -> WriteMode {
        if self.dry_run { WriteMode::DryRun } else { WriteMode::Write }
    }

    fn scope(&self) -> Option<InstallScope> {
        scope_of_flags(self.user, self.project, self.local)
    }
}

/// Returns the scope that `--user`, `--project` or `--local` names. At most one of them is given.
pub fn scope_of_flags(user: bool, project: bool, local: bool) -> Option<InstallScope> {
    let flags = [(user, InstallScope::User), (project, InstallScope::Project), (local, InstallScope::Local)];
    flags.into_iter().find_map(|(given, scope)| given.then_some(scope))
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let InstallTarget { harness, how } = &args.what;
    let mut report =
        install::run_for_harness_name(world, harness, how.scope(), InstallTask::Install, how.mode())?;
    if args.statusline {
        let line = status_line::install_status_line(world, harness, how.mode())?;
        report.files.extend(line.files);
        report.notes.extend(line.notes);
    }
    Ok(print_result(&report, how.mode(), format))
}

pub fn uninstall(world: &World, args: &UninstallArgs, format: OutputFormat) -> Result<u8> {
    match &args.harness {
        Some(harness) => {
            let report = install::run_for_harness_name(
                world,
                harness,
                args.how.scope(),
                InstallTask::Uninstall,
                args.how.mode(),
            )?;
            Ok(print_result(&report, args.how.mode(), format))
        }
        None => uninstall_everywhere(world, args.how.mode(), format),
    }
}

fn print_result(report: &InstallReport, mode: WriteMode, format: OutputFormat) -> u8 {
    match format {
        OutputFormat::Json => output::print_json(report),
        OutputFormat::Text => {
            print_report(report);
            if mode == WriteMode::DryRun {
                print_dry_run_note();
                print_diffs(report);
            }
        }
    }
    if report.failed.is_empty() { 0 } else { output::exit_code(ErrorKind::Damaged) }
}

fn uninstall_everywhere(world: &World, mode: WriteMode, format: OutputFormat) -> Result<u8> {
    let all = everywhere::uninstall_everywhere(world, mode)?;
    match format {
        OutputFormat::Json => output::print_json(&all),
        OutputFormat::Text => print_uninstall_everywhere_report(&all),
    }
    Ok(if all.is_complete() { 0 } else { output::exit_code(ErrorKind::Damaged) })
}

fn print_uninstall_everywhere_report(all: &UninstallReport) {
    match (all.uninstall_reports.is_empty() && all.failures.is_empty(), all.missing_checkouts.is_empty()) {
        (true, true) => output::print_line("No settings file calls thru."),
        (true, false) => output::print_line("Of the settings files that could be read, none calls thru."),
        (false, _) => {}
    }
    all.uninstall_reports.iter().for_each(print_report);
    for problem in &all.failures {
        output::print_message(format_args!("{BAD}error:{BAD:#} {problem}"));
    }
    if !all.missing_checkouts.is_empty() {
        output::print_message(format_args!(
            "{WARN}note:{WARN:#} thru was installed in these folders, which no longer exist. If you moved one, run \
             `thru uninstall --all` in its new location; if you deleted it, nothing is left to undo."
        ));
        for path in &all.missing_checkouts {
            output::print_message(format_args!("      {}", path.display()));
        }
    }
    if !all.written {
        print_dry_run_note();
    }
    let looked = count_with_noun(all.examined_checkouts.len(), "checkout");
    output::print_line(format_args!(
        "Looked at your own settings and at {looked} (every project that is trusted or that thru was installed in, and the current folder)."
    ));
    output::print_line(
        "To remove hooks that came with another project (`install --project` by somebody else), run \
         `thru uninstall HARNESS --project` there.",
    );
    if !all.remaining_files.is_empty() {
        output::print_line(
            "Left on this machine, because it is yours. When you no longer want one of these files and folders, delete it:",
        );
    }
    for FileLeftByUninstallation { path, description } in &all.remaining_files {
        output::print_line(format_args!("  {}  {DIM}{description}{DIM:#}", path.display()));
    }
}

fn print_dry_run_note() {
    output::print_message(format_args!("{DIM}(a dry run: nothing was written){DIM:#}"));
}

/// Prints one line for each changed file. Command files in the same folder share a line.
pub fn print_report(report: &InstallReport) {
    let InstallReport { harness, files, notes, .. } = report;
    let changed: Vec<_> = files.iter().filter(|file| file.change != FileChange::Unchanged).collect();
    if changed.is_empty() && report.failed.is_empty() {
        output::print_line(format_args!("{BOLD}{harness}{BOLD:#}: nothing to change"));
    }
    for group in changed.chunk_by(|one, next| are_on_one_line(one, next)) {
        let [file, others @ ..] = group else { continue };
        let word = match (file.change, report.written) {
            (FileChange::Created, true) => "created",
            (FileChange::Changed, true) => "changed",
            (FileChange::Removed, true) => "removed",
            (FileChange::Created, false) => "would create",
            (FileChange::Changed, false) => "would change",
            (FileChange::Removed, false) => "would remove",
            (FileChange::Unchanged, _) => "leaves",
        };
        let events =
            if file.events.is_empty() { String::new() } else { format!(" ({} hooks)", file.events.len()) };
        let named = match others {
            [] => file.path.display().to_string(),
            _ => join_paths_in_braces(group),
        };
        output::print_line(format_args!("{BOLD}{harness}{BOLD:#} {GOOD}{word}{GOOD:#} {named}{events}"));
        if let Some(backup) = &file.backup {
            output::print_line(format_args!("{DIM}  backup: {}{DIM:#}", backup.display()));
        }
    }
    for FailedFile { error, .. } in &report.failed {
        output::print_message(format_args!("{BAD}error:{BAD:#} {error}"));
        output::print_message(
            "hint:  fix that file, then run this again; thru's hooks in other files were removed",
        );
    }
    for note in notes {
        output::print_message(format_args!("{WARN}note:{WARN:#} {note}"));
    }
}

/// Returns whether two changed files are reported on one line. Only Markdown files in the same folder share a line.
fn are_on_one_line(one: &FileChangedByInstall, next: &FileChangedByInstall) -> bool {
    let is_plain = |file: &FileChangedByInstall| {
        file.events.is_empty()
            && file.backup.is_none()
            && file.path.extension().is_some_and(|kind| kind == "md")
    };
    is_plain(one) && is_plain(next) && one.change == next.change && one.path.parent() == next.path.parent()
}

/// Combines the paths of files in one folder, as in `/p/.claude/commands/{handoff,pickup}.md`.
fn join_paths_in_braces(files: &[&FileChangedByInstall]) -> String {
    let folder = files.iter().find_map(|file| file.path.parent()).unwrap_or(Path::new(""));
    let names: Vec<_> =
        files.iter().filter_map(|file| file.path.file_stem()).map(|name| name.to_string_lossy()).collect();
    folder.join(format!("{{{}}}.md", names.join(","))).display().to_string()
}

fn print_diffs(report: &InstallReport) {
    for file in report.files.iter().filter(|file| !file.diff.is_empty()) {
        output::print_line(format_args!(
            "\n--- {0}\n+++ {0}\n{1}",
            file.path.display(),
            file.diff.trim_end()
        ));
    }
}
