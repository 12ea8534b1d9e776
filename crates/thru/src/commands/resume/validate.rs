use std::path::Path;

use model::render::one_line;
use ops::features::workstreams::resume::{self, Checked};
use ops::{Result, World};

use crate::output::{self, BAD, Format, GOOD};

pub fn run(world: &World, file: Option<&Path>, format: Format) -> Result<u8> {
    let checked = resume::validate(world, file)?;
    let good = checked.iter().all(Checked::is_good);
    match format {
        Format::Json => output::json(&checked),
        Format::Text if checked.is_empty() => output::talk("There is no manifest in this project."),
        Format::Text => {
            for one in &checked {
                let mark =
                    if one.is_good() { format!("{GOOD}ok{GOOD:#}") } else { format!("{BAD}bad{BAD:#}") };
                output::line(format_args!("{mark}  {}", one_line(&one.path, 200)));
                one.findings.iter().for_each(|finding| output::line(output::finding(finding)));
            }
        }
    }
    Ok(u8::from(!good))
}
