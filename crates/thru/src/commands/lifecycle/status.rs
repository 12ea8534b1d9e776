use model::activity::short_session_id;
use model::render::one_line;
use model::role::lifecycle::LifecycleStep;
use model::time;
use ops::features::roles::lifecycle::{self, LifecycleRow};
use ops::{Result, World};

use crate::clock;
use crate::output::{self, BAD, BOLD, DIM, OutputFormat};

/// The maximum number of history steps to print.
const MAX_HISTORY_STEPS: usize = 20;

/// Show the state of every role, or of one role with its history
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show only this role, with its history
    role: Option<String>,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let rows = lifecycle::lifecycle_rows(world, args.role.as_deref())?;
    match format {
        OutputFormat::Json => output::print_json(&rows),
        OutputFormat::Text => {
            print_rows(&rows, world);
            // The histories of all roles would be too long to read, so a history is printed only for a named role.
            rows.iter().filter(|_| args.role.is_some()).for_each(print_history);
        }
    }
    Ok(u8::from(rows.iter().any(|row| row.unreadable.is_some())))
}

fn print_rows(rows: &[LifecycleRow], world: &World) {
    if rows.is_empty() {
        output::print_message("No role has a lifecycle here yet; `thru lifecycle init ROLE` begins one.");
        return;
    }
    let width = rows.iter().map(|row| row.role.len()).max().unwrap_or(0).max(4);
    let head = format!(
        "{:<width$}  {:<10}  {:<13}  {:<13}  {:<5}  session",
        "role", "state", "since", "context", "valid"
    );
    output::print_line(format_args!("{DIM}{head}{DIM:#}"));
    let ago = |text: &str| time::parse_time(text).map(|at| time::describe_age(at, world.now));
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
        let session = match row.open_sessions.as_deref() {
            None => "-".to_owned(),
            Some([]) => "ended".to_owned(),
            Some(open) => open.iter().map(|id| short_session_id(id)).collect::<Vec<_>>().join(", "),
        };
        let role = &row.role;
        if let Some(why) = &row.unreadable {
            output::print_line(format_args!(
                "{BOLD}{role:<width$}{BOLD:#}  {BAD}unreadable{BAD:#}  {}",
                one_line(why, 200)
            ));
            if let Some(hint) = &row.hint {
                output::print_line(format_args!("{:<width$}  {DIM}{hint}{DIM:#}", ""));
            }
            continue;
        }
        output::print_line(format_args!(
            "{BOLD}{role:<width$}{BOLD:#}  {state:<10}  {since:<13}  {context:<13}  {valid:<5}  {session}"
        ));
    }
}

fn print_history(row: &LifecycleRow) {
    if let Some(file) = &row.file {
        output::print_line(format_args!("{DIM}  context file: {}{DIM:#}", one_line(file, 200)));
    }
    let older = row.history.len().saturating_sub(MAX_HISTORY_STEPS);
    if older > 0 {
        output::print_line(format_args!("{DIM}  … {older} earlier steps; --json shows them{DIM:#}"));
    }
    for LifecycleStep { at, from, to, why, actor, session, forced } in row.history.iter().skip(older) {
        let session = if session.is_empty() { String::new() } else { format!(" {}", one_line(session, 40)) };
        let forced = if *forced { ", forced" } else { "" };
        let at = clock::local_date_and_time(at);
        output::print_line(format_args!(
            "  {at}  {from} → {to}  {} {DIM}({actor}{session}{forced}){DIM:#}",
            one_line(why, 100)
        ));
    }
}
