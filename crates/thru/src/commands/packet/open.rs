use std::io::IsTerminal;
use std::process::Command;

use ops::features::packets;
use ops::{Error, Result, World};

use crate::output::{self, OutputFormat, OutputStream};

pub fn run(world: &World, id: &str, only_path: bool, format: OutputFormat) -> Result<u8> {
    let shown = packets::show_packet(world, Some(id))?;
    let editor = (world.read_variable)("VISUAL")
        .or_else(|| (world.read_variable)("EDITOR"))
        .filter(|editor| !editor.is_empty());
    let at_terminal = std::io::stdin().is_terminal() && OutputStream::Out.is_terminal();
    match (format, editor) {
        (OutputFormat::Json, _) => output::print_json(&serde_json::json!({ "path": shown.path })),
        (OutputFormat::Text, Some(editor)) if at_terminal && !only_path => {
            // `$EDITOR` may contain arguments, as in `code --wait`.
            let line = format!("{} \"$1\"", editor.to_string_lossy());
            let ended = Command::new("sh").args(["-c", &line, "sh"]).arg(&shown.path).status();
            let ended = ended.map_err(|e| Error::stream_error("the editor", "start", &e))?;
            return Ok(u8::from(!ended.success()));
        }
        _ => output::print_line(shown.path.display()),
    }
    Ok(0)
}
