use ops::features::packets;
use ops::{Error, Result, World};

use crate::output::{self, OutputFormat, OutputStream};

pub fn run(world: &World, id: Option<&str>, raw: bool, format: OutputFormat) -> Result<u8> {
    if raw && OutputStream::Out.is_terminal() {
        return Err(Error::Refused {
            what: "--raw prints escape sequences unchanged, and stdout is a terminal".into(),
            hint: "omit --raw, or write the bytes to a file: `thru packet show --raw ID > FILE`".into(),
        });
    }
    let shown = packets::show_packet(world, id)?;
    match format {
        OutputFormat::Json => {
            let text = String::from_utf8_lossy(shown.document.bytes());
            output::print_json(
                &serde_json::json!({ "path": shown.path, "packet": shown.packet, "text": text }),
            );
        }
        OutputFormat::Text if raw => output::print_data(shown.document.bytes()),
        OutputFormat::Text => output::print_text(&String::from_utf8_lossy(shown.document.bytes())),
    }
    Ok(0)
}
