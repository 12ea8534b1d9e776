use std::path::Path;

use ops::features::packets;
use ops::{Mode, Result, World};

use crate::output::{self, DIM, Format};

pub fn run(world: &World, file: &Path, dry_run: bool, format: Format) -> Result<u8> {
    let imported = packets::import_handoff(world, file, if dry_run { Mode::DryRun } else { Mode::Write })?;
    match format {
        Format::Json => output::print_json(&imported),
        Format::Text => {
            let how = match (imported.known, dry_run) {
                (true, _) => "was imported before, from the same bytes",
                (false, true) => "would be created",
                (false, false) => "made",
            };
            output::print_line(format_args!("{}  {DIM}{how}{DIM:#}", imported.id));
        }
    }
    if imported.covered {
        output::print_redaction_note();
    }
    Ok(0)
}
