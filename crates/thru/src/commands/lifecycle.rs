use model::render::one_line;
use model::role::lifecycle::{Insist, Step};
use model::time;
use ops::Result;
use ops::World;
use ops::features::roles::lifecycle::{PreCompact, Row, Saved};

use crate::commands::role::{Which, tell_doubt};
use crate::output::{self, BAD, BOLD, DIM, Format, GOOD, WARN};

/// Where each role stands between two compactions
///
/// active → saving → saved → compacting → recovering → active. Hooks move a role by themselves; these are the steps that
/// a person or an agent takes. A step that is not allowed is refused with what is (exit code 15).
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Init(InitArgs),
    Save(SaveArgs),
    Status(StatusArgs),
    PreCompact(PreCompactArgs),
    Recover(RecoverArgs),
}

/// Begin the lifecycle of a role; running it again changes nothing
#[derive(Debug, clap::Args)]
struct InitArgs {
    /// What the role is called
    role: String,
}

/// Check the context file; valid, the role is saved
///
/// Exit code 1 when the file is not valid: the role is then active again, and the file as it was.
#[derive(Debug, clap::Args)]
struct SaveArgs {
    #[command(flatten)]
    which: Which,
    /// Take the step also where it is not allowed; the history says so
    #[arg(long)]
    force: bool,
}

/// Show where a role stands, with its history, or every role
#[derive(Debug, clap::Args)]
struct StatusArgs {
    /// Only this role, with its history
    role: Option<String>,
}

/// Do what the hook does before a compaction: check the file, and say what is wrong. Exit code 0, always
#[derive(Debug, clap::Args)]
struct PreCompactArgs {
    #[command(flatten)]
    which: Which,
}

/// Bring a role back to active, from wherever it stands
#[derive(Debug, clap::Args)]
struct RecoverArgs {
    #[command(flatten)]
    which: Which,
}

/// How much of a history is printed.
const STEPS: usize = 20;

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    match &args.command {
        Command::Init(args) => {
            let begun = ops::features::roles::lifecycle::init(world, &args.role)?;
            let word = if begun.created { "begins" } else { "has begun already" };
            show(format, &begun, || {
                output::line(format_args!(
                    "The lifecycle of {BOLD}{}{BOLD:#} {word}: {}",
                    begun.role, begun.state
                ));
            });
            Ok(0)
        }
        Command::Save(args) => {
            let insist = if args.force { Insist::Yes } else { Insist::No };
            let saved = ops::features::roles::lifecycle::save(world, args.which.name(), insist)?;
            show(format, &saved, || print_saved(&saved));
            Ok(u8::from(!saved.valid))
        }
        Command::Status(args) => {
            let rows = ops::features::roles::lifecycle::status(world, args.role.as_deref())?;
            show(format, &rows, || {
                print_rows(&rows, world);
                // Of one role the whole story; of all of them that would be a wall.
                rows.iter().filter(|_| args.role.is_some()).for_each(print_history);
            });
            Ok(u8::from(rows.iter().any(|row| row.unreadable.is_some())))
        }
        Command::PreCompact(args) => {
            let done = ops::features::roles::lifecycle::pre_compact(world, args.which.name());
            show(format, &done, || print_pre_compact(&done));
            Ok(0)
        }
        Command::Recover(args) => {
            let moved = ops::features::roles::lifecycle::recover(world, args.which.name())?;
            show(format, &moved, || {
                tell_doubt(&moved.source);
                output::line(format_args!("{BOLD}{}{BOLD:#} is {GOOD}{}{GOOD:#}", moved.role, moved.state));
            });
            Ok(0)
        }
    }
}

fn show(format: Format, value: &impl serde::Serialize, text: impl FnOnce()) {
    match format {
        Format::Json => output::json(value),
        Format::Text => text(),
    }
}

fn print_saved(saved: &Saved) {
    tell_doubt(&saved.source);
    saved.findings.iter().for_each(output::line);
    let role = &saved.role;
    if saved.valid {
        output::line(format_args!("{BOLD}{role}{BOLD:#} is {GOOD}{}{GOOD:#}", saved.state));
        return;
    }
    output::line(format_args!("{BOLD}{role}{BOLD:#} is {BAD}not saved{BAD:#}: it is {}", saved.state));
    match (&saved.file, &saved.missing) {
        (Some(file), _) => output::talk(format_args!(
            "Next: mend {file}; `thru context fix {file}` does what needs no thought"
        )),
        (None, Some(path)) => output::talk(format_args!("Next: `thru context new {role}` makes {path}")),
        (None, None) => {}
    }
}

fn print_pre_compact(done: &PreCompact) {
    if let Some(source) = &done.source {
        tell_doubt(source);
    }
    for warning in &done.warnings {
        output::line(format_args!("{WARN}warning:{WARN:#} {warning}"));
    }
    if let (Some(role), Some(state)) = (&done.role, &done.state) {
        output::line(format_args!("{BOLD}{role}{BOLD:#} is {state}"));
    }
}

fn print_rows(rows: &[Row], world: &World) {
    if rows.is_empty() {
        output::talk("No role has a lifecycle here yet; `thru lifecycle init ROLE` begins one.");
        return;
    }
    let width = rows.iter().map(|row| row.role.len()).max().unwrap_or(0).max(4);
    let head =
        format!("{:<width$}  {:<10}  {:<13}  {:<13}  {}", "role", "state", "since", "context", "valid");
    output::line(format_args!("{DIM}{head}{DIM:#}"));
    let ago = |text: &str| time::parse(text).map(|at| time::ago(at, world.now));
    for row in rows {
        let state = row.state.map_or("-", |state| state.name());
        let since = ago(&row.since).unwrap_or_else(|| "-".to_owned());
        let context = match (&row.file, ago(&row.updated)) {
            (None, _) => "none".to_owned(),
            (Some(_), Some(ago)) => ago,
            (Some(_), None) => one_line(&row.updated, 13),
        };
        let valid = match row.valid {
            Some(true) => "yes",
            Some(false) => "no",
            None => "-",
        };
        let role = &row.role;
        if let Some(why) = &row.unreadable {
            output::line(format_args!(
                "{BOLD}{role:<width$}{BOLD:#}  {BAD}unreadable{BAD:#}  {}",
                one_line(why, 200)
            ));
            if let Some(hint) = &row.hint {
                output::line(format_args!("{:<width$}  {DIM}{hint}{DIM:#}", ""));
            }
            continue;
        }
        output::line(format_args!(
            "{BOLD}{role:<width$}{BOLD:#}  {state:<10}  {since:<13}  {context:<13}  {valid}"
        ));
    }
}

fn print_history(row: &Row) {
    if let Some(file) = &row.file {
        output::line(format_args!("{DIM}  context file: {}{DIM:#}", one_line(file, 200)));
    }
    let older = row.history.len().saturating_sub(STEPS);
    if older > 0 {
        output::line(format_args!("{DIM}  … {older} earlier steps; --json shows them{DIM:#}"));
    }
    for Step { at, from, to, why, by, session, forced } in row.history.iter().skip(older) {
        let session = if session.is_empty() { String::new() } else { format!(" {}", one_line(session, 40)) };
        let forced = if *forced { ", forced" } else { "" };
        output::line(format_args!(
            "  {at}  {from} → {to}  {} {DIM}({by}{session}{forced}){DIM:#}",
            one_line(why, 100)
        ));
    }
}
