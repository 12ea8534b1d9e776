use model::render::one_line;
use ops::features::workstreams::resume::{self, MigratedFile, MigrationDirection, MigrationOutcome};
use ops::{Result, World};

use crate::output::{self, BAD, DIM, GOOD, OutputFormat};

pub fn run(world: &World, direction: MigrationDirection, format: OutputFormat) -> Result<u8> {
    let done = resume::migrate_all(world, direction)?;
    match format {
        OutputFormat::Json => output::print_json(&done),
        OutputFormat::Text if done.is_empty() => output::print_message("There is nothing to migrate."),
        OutputFormat::Text => {
            for MigratedFile { path, outcome, why } in &done {
                let word = match outcome {
                    MigrationOutcome::Success => format!("{GOOD}SUCCESS{GOOD:#}"),
                    MigrationOutcome::Skip => format!("{DIM}SKIP{DIM:#}   "),
                    MigrationOutcome::Error => format!("{BAD}ERROR{BAD:#}  "),
                };
                output::print_line(format_args!("{word}  {}: {}", one_line(path, 200), one_line(why, 300)));
            }
        }
    }
    Ok(u8::from(done.iter().any(|one| one.outcome == MigrationOutcome::Error)))
}
