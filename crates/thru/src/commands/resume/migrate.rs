use model::render::one_line;
use ops::features::workstreams::resume::{self, Direction, Migrated, Outcome};
use ops::{Result, World};

use crate::output::{self, BAD, DIM, Format, GOOD};

pub fn run(world: &World, direction: Direction, format: Format) -> Result<u8> {
    let done = resume::migrate(world, direction)?;
    match format {
        Format::Json => output::json(&done),
        Format::Text if done.is_empty() => output::talk("There is nothing to migrate."),
        Format::Text => {
            for Migrated { path, outcome, why } in &done {
                let word = match outcome {
                    Outcome::Success => format!("{GOOD}SUCCESS{GOOD:#}"),
                    Outcome::Skip => format!("{DIM}SKIP{DIM:#}   "),
                    Outcome::Error => format!("{BAD}ERROR{BAD:#}  "),
                };
                output::line(format_args!("{word}  {}: {}", one_line(path, 200), one_line(why, 300)));
            }
        }
    }
    Ok(u8::from(done.iter().any(|one| one.outcome == Outcome::Error)))
}
