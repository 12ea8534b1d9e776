use model::packet::PacketStatus;
use ops::features::packets::{self, EditedPacket, PacketEdit};
use ops::{Error, Result, World};

use crate::output::{self, DIM, GOOD, OutputFormat};

/// The maximum size of the input on stdin, in bytes.
const MAX_INPUT_BYTES: usize = 4 * 1024 * 1024;

pub fn run(world: &World, id: &str, edit: PacketEdit, format: OutputFormat) -> Result<u8> {
    print_edited(&packets::edit_packet(world, id, edit)?, format);
    Ok(0)
}

fn print_edited(edited: &EditedPacket, format: OutputFormat) {
    let EditedPacket { shown, note, is_secret_redacted: redacted } = edited;
    match format {
        OutputFormat::Json => output::print_json(
            &serde_json::json!({ "path": shown.path, "packet": shown.packet, "redacted": redacted, "note": note }),
        ),
        OutputFormat::Text => {
            let status = shown.packet.status.map_or("unknown", PacketStatus::name);
            output::print_line(format_args!("{}  {GOOD}{status}{GOOD:#}", shown.id));
        }
    }
    if let Some(note) = note {
        output::print_message(format_args!("{DIM}note:{DIM:#} {note}"));
    }
    if *redacted {
        output::print_redaction_note();
    }
}

/// Makes a path absolute if the file exists relative to the current folder. Other paths are returned unchanged, because
/// they may be relative to the project's folder.
pub fn to_absolute_paths_if_existing(world: &World, files: &[String]) -> Vec<String> {
    let seen_from_here = |file: &String| match &world.cwd {
        Some(cwd) if cwd.join(file).exists() => cwd.join(file).to_string_lossy().into_owned(),
        _ => file.clone(),
    };
    files.iter().map(seen_from_here).collect()
}

pub fn read_stdin() -> Result<String> {
    let bytes = ops::input::read_stdin(MAX_INPUT_BYTES)?;
    String::from_utf8(bytes).map_err(|_| Error::Usage {
        what: "stdin is not UTF-8".into(),
        hint: "a packet is a text file, so its sections must be text".into(),
    })
}
