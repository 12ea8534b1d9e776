use ops::{Result, World};

use super::list::print_note_on_loop_that_cannot_run;
use crate::output::{self, OutputFormat};

pub fn run(world: &World, id: Option<&str>, format: OutputFormat) -> Result<()> {
    let (shown, text) = ops::features::loops::show_loop(world, id)?;
    if format == OutputFormat::Json {
        output::print_json(&shown);
        return Ok(());
    }
    output::print_text(&text);
    print_note_on_loop_that_cannot_run(world, &shown);
    Ok(())
}
