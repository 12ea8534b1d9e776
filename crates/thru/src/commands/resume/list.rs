use model::render::one_line;
use model::time;
use ops::features::workstreams::resume::{self, ListedWorkstream};
use ops::{Result, World};

use crate::output::{self, BAD, BOLD, DIM, OutputFormat};

pub fn run(world: &World, format: OutputFormat) -> Result<u8> {
    let rows = resume::list_workstreams(world)?;
    match format {
        OutputFormat::Json => output::print_json(&rows),
        OutputFormat::Text if rows.is_empty() => {
            output::print_message("There are no workstreams yet; `thru resume new 01-name` creates one.");
        }
        OutputFormat::Text => print_rows(&rows, world),
    }
    Ok(0)
}

fn print_rows(rows: &[ListedWorkstream], world: &World) {
    let width =
        |of: fn(&ListedWorkstream) -> &str| rows.iter().map(|row| of(row).len()).max().unwrap_or(0).min(60);
    let (id, state) = (width(|row| &row.project_id), width(|row| &row.state));
    for row in rows {
        let name = one_line(&row.project_id, 100);
        if let Some(problem) = &row.problem {
            output::print_line(format_args!(
                "{BOLD}{name:<id$}{BOLD:#}  {BAD}{}{BAD:#}",
                one_line(problem, 400)
            ));
            continue;
        }
        let ago =
            time::parse_time(&row.last_updated).map_or(String::new(), |at| time::describe_age(at, world.now));
        output::print_line(format_args!(
            "{BOLD}{name:<id$}{BOLD:#}  {:<state$}  {DIM}{ago:<12}{DIM:#}  {}",
            one_line(&row.state, 40),
            one_line(&row.progress, 80),
        ));
    }
}
