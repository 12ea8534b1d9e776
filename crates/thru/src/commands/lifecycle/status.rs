use model::render::one_line;
use model::role::lifecycle::Step;
use model::time;
use ops::features::roles::lifecycle::{self, Row};
use ops::{Result, World};

use crate::clock;
use crate::output::{self, BAD, BOLD, DIM, Format};

/// How much of a history is printed.
const STEPS: usize = 20;

/// Show where a role stands, with its history, or every role
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only this role, with its history
    role: Option<String>,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    let rows = lifecycle::status(world, args.role.as_deref())?;
    match format {
        Format::Json => output::json(&rows),
        Format::Text => {
            print_rows(&rows, world);
            // The histories of all roles would be too long to read.
            rows.iter().filter(|_| args.role.is_some()).for_each(print_history);
        }
    }
    Ok(u8::from(rows.iter().any(|row| row.unreadable.is_some())))
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
        let at = clock::when(at);
        output::line(format_args!(
            "  {at}  {from} → {to}  {} {DIM}({by}{session}{forced}){DIM:#}",
            one_line(why, 100)
        ));
    }
}
