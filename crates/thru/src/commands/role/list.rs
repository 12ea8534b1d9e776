use model::render::one_line;
use ops::features::roles::{self, RoleListRow};
use ops::{Result, World};

use crate::output::{self, BOLD, DIM, OutputFormat};

/// List every role with a context file, a lifecycle or a session
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(world: &World, format: OutputFormat) -> Result<u8> {
    let rows = roles::list_roles(world)?;
    match format {
        OutputFormat::Json => output::print_json(&rows),
        OutputFormat::Text => print_rows(&rows),
    }
    Ok(0)
}

fn print_rows(rows: &[RoleListRow]) {
    if rows.is_empty() {
        output::print_message("There are no roles here yet; `thru context new ROLE` creates one.");
        return;
    }
    let width = rows.iter().map(|row| row.role.len()).max().unwrap_or(0);
    for RoleListRow { role, file, state, sessions, ended_sessions } in rows {
        let state = state.map_or("-", |state| state.name());
        let file = one_line(file.as_deref().unwrap_or("no context file"), 200);
        let sessions: Vec<String> = sessions
            .iter()
            .map(|session| match ended_sessions.contains(session) {
                true => format!("{session} (ended)"),
                false => session.clone(),
            })
            .collect();
        let sessions = if sessions.is_empty() { String::new() } else { format!("  {}", sessions.join(", ")) };
        output::print_line(format_args!(
            "{BOLD}{role:<width$}{BOLD:#}  {state:<10}  {file}{DIM}{sessions}{DIM:#}"
        ));
    }
}
