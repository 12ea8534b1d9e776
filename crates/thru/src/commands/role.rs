use model::render::one_line;
use ops::role::{Bound, Row, Source};
use ops::{Result, World};

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
    List(ListArgs),
}

/// Say that a session works in a role: hooks then move it through its lifecycle, and briefs tell what its file says
#[derive(Debug, clap::Args)]
struct BindArgs {
    role: String,
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
            let bound = ops::role::bind(world, &args.role, args.session.as_deref())?;
            match format {
                Format::Json => output::json(&bound),
                Format::Text => print_bound(&bound),
            }
        }
        Command::List(ListArgs {}) => {
            let rows = ops::role::list(world)?;
            match format {
                Format::Json => output::json(&rows),
                Format::Text => print_rows(&rows),
            }
        }
    }
    Ok(0)
}

fn print_bound(Bound { role, session, guess, file, missing }: &Bound) {
    if *guess {
        output::talk(format_args!("{WARN}note:{WARN:#} the session is a guess: the newest one here"));
    }
    output::line(format_args!("Session {session} is {BOLD}{role}{BOLD:#} {GOOD}from now on{GOOD:#}"));
    match (file, missing) {
        (Some(file), _) => output::line(format_args!("{DIM}  context file: {file}{DIM:#}")),
        (None, Some(path)) => {
            output::line(format_args!("Next: `thru context new {role}` makes its context file, {path}"));
        }
        (None, None) => {}
    }
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
