//! The command line: its commands and options, and which module handles each command.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use ops::project::{RootSearch, settings};

use crate::commands::{
    brief, completions, config, context, debug, decide, decisions, doctor, evidence, files, gate, handoff,
    harness, hook, import, init, install, journal, lifecycle, loops, packet, pickup, plan, recover, redact,
    resume, role, status, statusline, swarm, sweep, task, trust,
};
use crate::output::{self, BAD, OutputFormat, OutputStream, WARN};
use crate::{spelling, world};

/// Keeps coding agents' work alive across compactions, crashes, handoffs and changes of harness.
#[derive(Debug, Parser)]
#[command(name = "thru", bin_name = "thru", version, after_help = AFTER_HELP, arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    /// Use this project folder instead of searching for one from here
    #[arg(long, global = true, value_name = "DIR", display_order = LAST_DISPLAY_ORDER)]
    root: Option<PathBuf>,
    /// Print JSON, including errors
    #[arg(long, global = true, display_order = LAST_DISPLAY_ORDER)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

impl Cli {
    fn creates_root(&self) -> bool {
        match &self.command {
            Command::Init(_) => true,
            Command::Context(args) => args.creates_root(),
            _ => false,
        }
    }
}

/// The position of the global options in the help text: after the command's own options.
const LAST_DISPLAY_ORDER: usize = 900;

const AFTER_HELP: &str = "\
Exit codes:
  0   done
  1   a check found a problem
  2   incorrect usage
  3   a gate passed, but an advisory output is missing
  4   a gate did not pass: a critical output is missing
  10  not found
  11  no permission
  12  a record is damaged
  13  a record was written by a newer version of thru or by another program
  14  in use by another thru process; try again
  15  refused
  16  the disk failed
  70  a bug in thru

Variables:
  THROUGHLINE_ROOT         the same as --root
  THROUGHLINE_DISABLE=1    hooks do nothing
  THROUGHLINE_ROLE         the role of a session started with this variable (or HIVEMIND_ROLE)
  THROUGHLINE_<KEY>        a setting, e.g. THROUGHLINE_REDACT_EMAILS=true; `thru config` lists them
  XDG_STATE_HOME           where trust is recorded   XDG_CONFIG_HOME  where your settings are stored";

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Args),
    Install(install::Args),
    Uninstall(install::UninstallArgs),
    Status(status::Args),
    Handoff(handoff::Args),
    Pickup(pickup::Args),
    Packet(packet::Args),
    Sweep(sweep::Args),
    Plan(plan::Args),
    Task(task::Args),
    Decide(decide::Args),
    Decisions(decisions::Args),
    Evidence(evidence::Args),
    Swarm(swarm::Args),
    Loop(loops::Args),
    Files(files::Args),
    Gate(gate::Args),
    Journal(journal::Args),
    Import(import::Args),
    Brief(brief::Args),
    Resume(resume::Args),
    Config(config::Args),
    Trust(trust::Args),
    Doctor(doctor::Args),
    Debug(debug::Args),
    Redact(redact::Args),
    Context(context::Args),
    Role(role::Args),
    Lifecycle(lifecycle::Args),
    Recover(recover::Args),
    Harness(harness::Args),
    Hook(hook::Args),
    Statusline(statusline::Args),
    Completions(completions::Args),
}

impl Command {
    /// Returns whether the command prints records. Before such a command runs, a warning is printed if the store is not
    /// trusted. The other commands print their own warning (`status`, `doctor`, `init`, `trust`) or print nothing from
    /// a store.
    fn prints_records(&self) -> bool {
        match self {
            Command::Handoff(_)
            | Command::Pickup(_)
            | Command::Packet(_)
            | Command::Sweep(_)
            | Command::Plan(_)
            | Command::Task(_)
            | Command::Decide(_)
            | Command::Decisions(_)
            | Command::Evidence(_)
            | Command::Swarm(_)
            | Command::Loop(_)
            | Command::Files(_)
            | Command::Gate(_)
            | Command::Journal(_)
            | Command::Brief(_)
            | Command::Debug(_)
            | Command::Resume(_)
            | Command::Role(_)
            | Command::Lifecycle(_)
            | Command::Recover(_) => true,
            Command::Context(args) => !args.creates_root(),
            Command::Init(_)
            | Command::Install(_)
            | Command::Uninstall(_)
            | Command::Status(_)
            | Command::Import(_)
            | Command::Config(_)
            | Command::Trust(_)
            | Command::Doctor(_)
            | Command::Redact(_)
            | Command::Harness(_)
            | Command::Hook(_)
            | Command::Statusline(_)
            | Command::Completions(_) => false,
        }
    }
}

pub fn run_command_line(words: Vec<OsString>) -> u8 {
    let word = words.first().cloned();
    let wants_json = words.iter().any(|word| word == "--json");
    let cli = match Cli::try_parse_from(spelling::expand_command(words)) {
        Ok(cli) => cli,
        Err(error) => return report_parse_error(&error, wants_json),
    };
    let format = if cli.json { OutputFormat::Json } else { OutputFormat::Text };
    let now = match world::current_time() {
        Ok(now) => now,
        Err(text) => {
            let what = format!("THROUGHLINE_NOW is `{text}`, which is not a valid time");
            let hint = "write it like 2026-11-15T19:22:00Z, or unset it".to_owned();
            return output::report_error(&ops::Error::Usage { what, hint }, format);
        }
    };
    let world = world::build_world(cli.root.clone(), word.as_deref(), now, format);
    output::apply_color_setting(settings::settings_here(&world).settings().output_color);
    let before = RootSearch::search_root(&world);
    if cli.command.prints_records()
        && let Some(why) = before.why_untrusted(&world)
    {
        output::announce_untrusted(&why, format);
    }
    let done = match &cli.command {
        Command::Init(args) => init::run(&world, args, format),
        Command::Install(args) => install::run(&world, args, format),
        Command::Uninstall(args) => install::uninstall(&world, args, format),
        Command::Status(args) => status::run(&world, args, format),
        Command::Handoff(args) => handoff::run(&world, args, format),
        Command::Pickup(args) => pickup::run(&world, args, format),
        Command::Packet(args) => packet::run(&world, args, format),
        Command::Sweep(args) => sweep::run(&world, args, format),
        Command::Plan(args) => plan::run(&world, args, format),
        Command::Task(args) => task::run(&world, args, format),
        Command::Decide(args) => decide::run(&world, args, format),
        Command::Decisions(args) => decisions::run(&world, args, format),
        Command::Evidence(args) => evidence::run(&world, args, format),
        Command::Swarm(args) => swarm::run(&world, args, format),
        Command::Loop(args) => loops::run(&world, args, format),
        Command::Files(args) => files::run(&world, args, format),
        Command::Gate(args) => gate::run(&world, args, format),
        Command::Journal(args) => journal::run(&world, args, format),
        Command::Import(args) => import::run(&world, args, format),
        Command::Brief(args) => brief::run(&world, args, format),
        Command::Resume(args) => resume::run(&world, args, format),
        Command::Config(args) => config::run(&world, args, format),
        Command::Trust(args) => trust::run(&world, args, format),
        Command::Doctor(args) => doctor::run(&world, args, format),
        Command::Debug(args) => debug::run(&world, args, format),
        Command::Redact(args) => redact::run(&world, args, format),
        Command::Context(args) => context::run(&world, args, format),
        Command::Role(args) => role::run(&world, args, format),
        Command::Lifecycle(args) => lifecycle::run(&world, args, format),
        Command::Recover(args) => recover::run(&world, args, format),
        Command::Harness(args) => harness::run(&world, args, format),
        Command::Hook(args) => hook::run(args),
        Command::Statusline(args) => statusline::run(cli.root.clone(), args, format),
        Command::Completions(args) => completions::run(args, format),
    };
    let code = done.unwrap_or_else(|error| output::report_error(&error, format));
    let after = RootSearch::search_root(&world);
    if !matches!(cli.command, Command::Redact(_) | Command::Completions(_) | Command::Harness(_))
        && let Some(folder) = after.unmarked_records_folder()
    {
        output::print_message(format_args!(
            "{WARN}note:{WARN:#} {} contains records but no root.json, so hooks do nothing here; run `thru init`",
            folder.display()
        ));
    }
    if code == 0 && cli.command.prints_records() && after.is_empty() {
        output::print_message(format_args!(
            "{WARN}note:{WARN:#} there is no root here yet; {}",
            after.advice_without_root()
        ));
    }
    if !before.is_root() && !cli.creates_root() && after.is_root() {
        output::print_message(format_args!(
            "{WARN}note:{WARN:#} this command made the folder a root without installing hooks; `thru init` installs them"
        ));
    }
    code
}

/// Prints clap's message and returns the exit code. Help and version are not errors. A usage error is reported in the
/// requested format.
fn report_parse_error(error: &clap::Error, wants_json: bool) -> u8 {
    use clap::error::ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    let code = u8::try_from(error.exit_code()).unwrap_or(2);
    let stream = if error.use_stderr() { OutputStream::Err } else { OutputStream::Out };
    match error.kind() {
        DisplayHelp | DisplayVersion => {
            let _ = output::print_help(stream, &error.render());
            return code;
        }
        DisplayHelpOnMissingArgumentOrSubcommand if !wants_json => {
            let _ = output::print_help(stream, &error.render());
            return code;
        }
        _ => {}
    }
    let text = error.render().to_string();
    if !wants_json {
        // The text may quote the user's input, so the printer must clean it.
        let text = text.trim_end();
        output::print_message(format_args!(
            "{BAD}error:{BAD:#} {}",
            text.strip_prefix("error: ").unwrap_or(text)
        ));
        return code;
    }
    let what = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let rest = text.lines().skip(1).map(str::trim).filter(|line| !line.is_empty());
    output::report_error(
        &ops::Error::Usage { what, hint: rest.collect::<Vec<_>>().join("; ") },
        OutputFormat::Json,
    )
}
