use model::render::one_line;
use ops::ErrorKind;
use ops::Result;
use ops::World;
use ops::setup::init::{HookInstallation, InitOptions, InitReport, RecordSharing, RootLocation};
use ops::setup::install::TrackedSettings;

use crate::commands::install;
use crate::output::{self, BAD, BOLD, GOOD, OutputFormat, WARN};

/// Set up this project: create its store, trust it on this machine, and install hooks into the harnesses in use
///
/// Running this command again changes nothing. If a folder above this one is a root, that root is used; a git worktree
/// uses the root of its main checkout. Hooks are inserted into settings files that are not in git: your own settings
/// for this project if the harness has such a file, otherwise your settings for all projects. `thru uninstall` removes
/// the hooks again. If hooks cannot be installed because git tracks the settings file, the exit code is 15.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    root: RootArgs,
    /// Do not change the settings of any harness
    #[arg(long)]
    no_hooks: bool,
}

/// The options for a new root, shared by `thru init` and `thru context init`.
#[derive(Debug, clap::Args)]
pub struct RootArgs {
    /// Let git track the records that a team shares; journals and state stay out of git
    #[arg(long)]
    shared: bool,
    /// Create a root here even if a parent folder already has one
    #[arg(long)]
    nested: bool,
    /// Set the project's name [default: the name of the folder]
    #[arg(long)]
    name: Option<String>,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let hooks = if args.no_hooks { HookInstallation::Skip } else { HookInstallation::Install };
    create_root(world, &args.root, hooks, format)
}

/// Creates the root. `thru init` also installs hooks; `thru context init` does not.
pub fn create_root(
    world: &World,
    args: &RootArgs,
    hooks: HookInstallation,
    format: OutputFormat,
) -> Result<u8> {
    let report = ops::setup::init::init_project(world, &args.options(hooks))?;
    match format {
        OutputFormat::Json => output::print_json(&report),
        OutputFormat::Text => print_report(&report),
    }
    Ok(if report.tracked_settings.is_empty() { 0 } else { output::exit_code(ErrorKind::Refused) })
}

impl RootArgs {
    fn options(&self, hook_installation: HookInstallation) -> InitOptions {
        InitOptions {
            name: self.name.clone(),
            sharing: if self.shared { RecordSharing::Yes } else { RecordSharing::No },
            root_location: if self.nested { RootLocation::Nested } else { RootLocation::UseExistingRoot },
            hook_installation,
        }
    }
}

fn print_report(report: &InitReport) {
    let InitReport { root, .. } = report;
    let name = one_line(&report.name, 100);
    if let Some(kept) = &report.damaged_marker_name {
        output::print_message(format_args!(
            "{WARN}warning:{WARN:#} root.json was damaged; it is kept as {kept}"
        ));
    }
    let root = root.display();
    match report.created {
        true => output::print_line(format_args!(
            "{GOOD}Created{GOOD:#} the root of {BOLD}{name}{BOLD:#} in {root}/.agent/context"
        )),
        false => {
            output::print_line(format_args!(
                "{BOLD}{name}{BOLD:#} already has its root in {root}/.agent/context"
            ));
        }
    }
    if report.created && !report.records_in_git.is_empty() {
        output::print_line(format_args!(
            "Kept in git, for everybody with access to the repository: {}",
            report.records_in_git.join(", ")
        ));
        output::print_line("Everything else in it stays on this machine, readable by you alone.");
    }
    for wired in &report.install_reports {
        install::print_report(wired);
    }
    for failed in &report.not_installed {
        output::print_message(format_args!("{WARN}note:{WARN:#} {failed}"));
    }
    if !report.signs_searched.is_empty() {
        output::print_message(format_args!(
            "{WARN}note:{WARN:#} no harness was found, so no hooks were installed; looked for"
        ));
        for sign in &report.signs_searched {
            output::print_message(format_args!("      {}", one_line(sign, 400)));
        }
    }
    if let Some(from) = &report.moved_from {
        output::print_line(format_args!(
            "It was moved from {} and is not trusted at its new path, so hooks do nothing here.",
            one_line(from, 300)
        ));
        output::print_line("Next: `thru trust --moved`");
    } else if !report.trusted {
        output::print_line("Its records are not trusted on this machine, so hooks do nothing here.");
        output::print_line("Next: look at them, then run `thru trust`");
    } else if !report.signs_searched.is_empty() {
        output::print_line(format_args!("Next: {} installs hooks anyway", install_commands()));
    } else if report.created && report.install_reports.is_empty() && !report.installed_in_other_scope {
        // The entries of `not_installed`, if any, already explain why hooks were not installed and what to do.
        if report.not_installed.is_empty() && report.tracked_settings.is_empty() {
            output::print_line(format_args!("Next: {} installs the hooks", install_commands()));
        }
    } else if let Some(ignored) = report.ignored_files.first() {
        output::print_line(format_args!(
            "Next: remove the comments and trailing commas from {}; until then, none of its hooks run",
            one_line(&ignored.path.to_string_lossy(), 400)
        ));
    } else if report.created && report.tracked_settings.is_empty() {
        output::print_line("Next: start your harness as usual; `thru status` shows what was captured");
    }
    report.tracked_settings.iter().for_each(print_tracked_settings);
}

/// Prints why a harness has no hooks, and what to do about it. These are the last lines, so that nobody overlooks them.
fn print_tracked_settings(tracked: &TrackedSettings) {
    let TrackedSettings { harness, title, path } = tracked;
    let path = one_line(&path.to_string_lossy(), 400);
    output::print_message(format_args!(
        "{BAD}error:{BAD:#} no hooks were installed for {title}, because git tracks {path}; nothing is captured"
    ));
    output::print_message(format_args!(
        "hint:  `thru install {harness} --user` installs them for you, in all projects"
    ));
    output::print_message(format_args!(
        "       `thru install {harness} --project` installs them for everybody who uses the repository"
    ));
}

fn install_commands() -> String {
    let commands: Vec<String> =
        ops::setup::harnesses::installable_harnesses().map(|name| format!("`thru install {name}`")).collect();
    commands.join(" or ")
}
