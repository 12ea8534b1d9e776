use model::render::one_line;
use ops::features::workstreams::resume::{self, NewManifest};
use ops::{Result, World};

use crate::output::{self, OutputFormat, WARN};

pub fn run(world: &World, wish: &NewManifest, format: OutputFormat) -> Result<u8> {
    let created = resume::create_manifest(world, wish)?;
    match format {
        OutputFormat::Json => output::print_json(&created),
        OutputFormat::Text => {
            output::print_line(&created.path);
            if created.project_id != wish.id {
                output::print_message(format_args!(
                    "the workstream is stored as {}: a number has at least two digits",
                    created.project_id
                ));
            }
            for file in &created.missing_files {
                output::print_message(format_args!(
                    "{WARN}does not exist yet:{WARN:#} {}",
                    one_line(file, 200)
                ));
            }
        }
    }
    Ok(0)
}
