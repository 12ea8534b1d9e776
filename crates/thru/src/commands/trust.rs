use ops::trust::Report;
use ops::{Result, World};
use serde::Serialize;

use crate::output::{self, Format, GOOD};

/// Vouch for the records of this project, so that hooks may use them
///
/// Records that came with a clone are somebody else's text: hooks leave them alone until you have looked at them and
/// said so here. Refuses to run inside a harness. The word is kept outside the project, for this machine only.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Take it back
    #[arg(long, conflicts_with = "list")]
    revoke: bool,
    /// List every trusted root of this machine
    #[arg(long)]
    list: bool,
}

#[derive(Serialize)]
struct Row {
    path: String,
    project_id: String,
    trusted_at: String,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    if args.list {
        list(world, format)?;
        return Ok(0);
    }
    let report = if args.revoke { ops::trust::revoke(world)? } else { ops::trust::grant(world)? };
    match format {
        Format::Json => output::json(&report),
        Format::Text => print(&report),
    }
    Ok(0)
}

fn print(report: &Report) {
    let root = report.root.display();
    match (report.trusted, report.changed) {
        (true, true) => {
            output::line(format_args!("{GOOD}Trusted{GOOD:#} {root}; hooks work here from now on"));
        }
        (true, false) => output::line(format_args!("{root} is trusted already")),
        (false, true) => {
            output::line(format_args!(
                "No longer trusted: {root}; hooks neither write nor say anything there"
            ));
        }
        (false, false) => output::line(format_args!("{root} was not trusted")),
    }
}

fn list(world: &World, format: Format) -> Result<()> {
    let rows: Vec<Row> = ops::trust::list(world)?
        .into_iter()
        .map(|(project, root)| Row {
            path: root.path,
            project_id: project.as_str().to_owned(),
            trusted_at: root.trusted_at,
        })
        .collect();
    match format {
        Format::Json => output::json(&rows),
        Format::Text if rows.is_empty() => output::talk("No root is trusted on this machine."),
        Format::Text => {
            let width = rows.iter().map(|row| row.path.len()).max().unwrap_or(0);
            for Row { path, project_id, trusted_at } in &rows {
                output::line(format_args!("{path:<width$}  {project_id}  {trusted_at}"));
            }
        }
    }
    Ok(())
}
