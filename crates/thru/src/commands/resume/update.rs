use model::render::one_line;
use ops::features::workstreams::resume::{self, UpdateStep};
use ops::{Result, World};

use crate::output::{self, OutputFormat};

pub fn run(world: &World, id: Option<&str>, step: UpdateStep, format: OutputFormat) -> Result<u8> {
    let updated = resume::update_manifest(world, id, step)?;
    match format {
        OutputFormat::Json => output::print_json(&updated),
        OutputFormat::Text => {
            match &updated.completed_step {
                Some(done) => output::print_line(format_args!("done: {}", one_line(done, 200))),
                None if step == UpdateStep::TickNextStep => {
                    output::print_message("No box is open, so there was nothing to tick.");
                }
                None => {}
            }
            output::print_line(format_args!("{}  {}", updated.project_id, one_line(&updated.progress, 80)));
        }
    }
    Ok(0)
}
