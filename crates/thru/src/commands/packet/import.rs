use std::path::Path;

use ops::features::packets;
use ops::{Result, World, WriteMode};

use crate::output::{self, DIM, OutputFormat};

pub fn run(world: &World, file: &Path, dry_run: bool, format: OutputFormat) -> Result<u8> {
    let imported =
        packets::import_handoff(world, file, if dry_run { WriteMode::DryRun } else { WriteMode::Write })?;
    match format {
        OutputFormat::Json => output::print_json(&imported),
        OutputFormat::Text => {
            let how = match (imported.already_imported, dry_run) {
                (true, _) => "was already imported, from the same bytes",
                (false, true) => "would be created",
                (false, false) => "made",
            };
            output::print_line(format_args!("{}  {DIM}{how}{DIM:#}", imported.id));
        }
    }
    if imported.is_secret_redacted {
        output::print_redaction_note();
    }
    Ok(0)
}
