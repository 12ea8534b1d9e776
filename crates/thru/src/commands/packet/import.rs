use std::path::Path;

use ops::features::packets;
use ops::{Mode, Result, World};

use crate::output::{self, DIM, Format};

pub fn run(world: &World, file: &Path, dry_run: bool, format: Format) -> Result<u8> {
    let imported = packets::import(world, file, if dry_run { Mode::DryRun } else { Mode::Write })?;
    match format {
        Format::Json => output::json(&imported),
        Format::Text => {
            let how = match (imported.known, dry_run) {
                (true, _) => "was made of these bytes before",
                (false, true) => "would be made",
                (false, false) => "made",
            };
            output::line(format_args!("{}  {DIM}{how}{DIM:#}", imported.id));
        }
    }
    if imported.covered {
        output::tell_covered();
    }
    Ok(0)
}
