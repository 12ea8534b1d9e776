use model::render::one_line;
use model::text::count_with_noun;
use ops::features::workstreams::resume;
use ops::{Result, World};

use crate::clock;
use crate::output::{self, BAD, DIM, GOOD, OutputFormat, WARN};

pub fn run(world: &World, id: Option<&str>, session: Option<&str>, format: OutputFormat) -> Result<u8> {
    let gate = resume::reading_gate(world, id, session)?;
    if format == OutputFormat::Json {
        output::print_json(&gate);
        return Ok(u8::from(gate.is_open()));
    }
    for file in &gate.files {
        let state = match (&file.path, &file.read_at) {
            (None, _) => format!("{BAD}{}{BAD:#}", file.location.describe()),
            (_, Some(at)) => format!("{GOOD}read{GOOD:#} {DIM}{}{DIM:#}", clock::local_date_and_time(at)),
            (_, None) if file.was_in_brief => format!("{GOOD}given{GOOD:#} {DIM}in the brief{DIM:#}"),
            (_, None) => format!("{WARN}unread{WARN:#}"),
        };
        output::print_line(format_args!("{state}  {}", one_line(&file.written_path, 200)));
    }
    let open = gate.files.iter().filter(|file| file.is_open()).count();
    let editing = if gate.has_edited && open > 0 { "; files have been edited in the meantime" } else { "" };
    output::print_message(format_args!(
        "{DIM}{}: {} still to read{editing}{DIM:#}",
        gate.project_id,
        count_with_noun(open, "file")
    ));
    Ok(u8::from(gate.is_open()))
}
