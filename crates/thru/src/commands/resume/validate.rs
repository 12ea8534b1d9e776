use std::path::Path;

use model::render::one_line;
use ops::features::workstreams::resume::{self, CheckedManifest};
use ops::{Result, World};

use crate::output::{self, BAD, GOOD, OutputFormat};

pub fn run(world: &World, file: Option<&Path>, format: OutputFormat) -> Result<u8> {
    let checked = resume::validate_manifests(world, file)?;
    let good = checked.iter().all(CheckedManifest::is_valid);
    match format {
        OutputFormat::Json => output::print_json(&checked),
        OutputFormat::Text if checked.is_empty() => {
            output::print_message("There is no manifest in this project.")
        }
        OutputFormat::Text => {
            for one in &checked {
                let mark =
                    if one.is_valid() { format!("{GOOD}ok{GOOD:#}") } else { format!("{BAD}bad{BAD:#}") };
                output::print_line(format_args!("{mark}  {}", one_line(&one.path, 200)));
                one.findings.iter().for_each(|finding| output::print_line(output::format_finding(finding)));
            }
        }
    }
    Ok(u8::from(!good))
}
