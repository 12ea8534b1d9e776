use model::render::one_line;
use ops::Result;
use ops::World;
use ops::features::roles::{Bound, Row, Source, Unbound};

use crate::output::{self, BOLD, DIM, Format, GOOD, WARN};

/// Bind this session to a role, and list the roles there are
///
/// A role is a named agent with a context file, `<role>.context.md` (see `thru context schema`), and a lifecycle.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Bind(BindArgs),
    Unbind(UnbindArgs),
    List(ListArgs),
}

/// Bind a session to a role: hooks then advance its lifecycle, and briefs include its context file
#[derive(Debug, clap::Args)]
struct BindArgs {
    /// What the role is called; `thru role list` shows those there are
    role: String,
    /// Which session, instead of the one around us; the beginning of its id is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

/// Say that a session works in no role any more; the role's file and lifecycle stay
#[derive(Debug, clap::Args)]
struct UnbindArgs {
    /// Which session, instead of the one around us; the beginning of its id is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

/// List every role with a context file, a lifecycle or a session
#[derive(Debug, clap::Args)]
struct ListArgs {}

/// The role that a command is about.
#[derive(Debug, clap::Args)]
pub struct Which {
    /// The role, instead of this session's
    role: Option<String>,
    /// The same as a flag
    #[arg(long = "role", value_name = "ROLE", conflicts_with = "role")]
    named: Option<String>,
}

impl Which {
    pub fn name(&self) -> Option<&str> {
        self.role.as_deref().or(self.named.as_deref())
    }
}

/// Says where a role comes from, if that is not sure.
pub fn tell_doubt(source: &Source) {
    if let Some(doubt) = source.doubt() {
        output::talk(format_args!("{WARN}note:{WARN:#} {doubt}"));
    }
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    match &args.command {
        Command::Bind(args) => {
            let bound = ops::features::roles::bind(world, &args.role, args.session.as_deref())?;
            match format {
                Format::Json => output::json(&bound),
                Format::Text => print_bound(&bound),
            }
        }
        Command::Unbind(args) => {
            let unbound = ops::features::roles::unbind(world, args.session.as_deref())?;
            match format {
                Format::Json => output::json(&unbound),
                Format::Text => print_unbound(&unbound),
            }
        }
        Command::List(ListArgs {}) => {
            let rows = ops::features::roles::list(world)?;
            match format {
                Format::Json => output::json(&rows),
                Format::Text => print_rows(&rows),
            }
        }
    }
    Ok(0)
}

fn print_bound(Bound { role, session, guess, file, missing, near }: &Bound) {
    if *guess {
        tell_guess();
    }
    output::line(format_args!("Session {session} is {BOLD}{role}{BOLD:#} {GOOD}from now on{GOOD:#}"));
    if let Some(file) = file {
        output::line(format_args!("{DIM}  context file: {file}{DIM:#}"));
    }
    if let Some(path) = missing {
        let near = near.as_ref().map_or(String::new(), |near| {
            format!("; did you mean {near}? `thru role bind {near}` takes that one")
        });
        output::talk(format_args!("{WARN}note:{WARN:#} {role} has no context file yet{near}"));
        output::line(format_args!("Next: `thru context new {role}` makes it, {path}"));
    }
}

fn print_unbound(Unbound { session, guess, role, variable }: &Unbound) {
    if *guess {
        tell_guess();
    }
    match role {
        Some(role) => output::line(format_args!("Session {session} is no longer {BOLD}{role}{BOLD:#}")),
        None => output::line(format_args!("Session {session} has no role; nothing to change")),
    }
    if let Some(variable) = variable {
        output::talk(format_args!(
            "{WARN}note:{WARN:#} ${variable} is set, and gives a session its role again"
        ));
    }
}

fn tell_guess() {
    output::talk(format_args!("{WARN}note:{WARN:#} the session is a guess: the newest one here"));
}

fn print_rows(rows: &[Row]) {
    if rows.is_empty() {
        output::talk("There are no roles here yet; `thru context new ROLE` makes one.");
        return;
    }
    let width = rows.iter().map(|row| row.role.len()).max().unwrap_or(0);
    for Row { role, file, state, sessions } in rows {
        let state = state.map_or("-", |state| state.name());
        let file = one_line(file.as_deref().unwrap_or("no context file"), 200);
        let sessions = if sessions.is_empty() { String::new() } else { format!("  {}", sessions.join(", ")) };
        output::line(format_args!("{BOLD}{role:<width$}{BOLD:#}  {state:<10}  {file}{DIM}{sessions}{DIM:#}"));
    }
}
