use model::render::one_line;
use ops::features::workstreams::resume::{self, Step};
use ops::{Result, World};

use crate::output::{self, Format};

pub fn run(world: &World, id: Option<&str>, step: Step, format: Format) -> Result<u8> {
    let updated = resume::update(world, id, step)?;
    match format {
        Format::Json => output::json(&updated),
        Format::Text => {
            match &updated.done {
                Some(done) => output::line(format_args!("done: {}", one_line(done, 200))),
                None if step == Step::Done => output::talk("No box is open: there was nothing to tick."),
                None => {}
            }
            output::line(format_args!("{}  {}", updated.project_id, one_line(&updated.progress, 80)));
        }
    }
    Ok(0)
}
