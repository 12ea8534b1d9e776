use ops::{Result, World};

use super::list::tell_foreign;
use crate::output::{self, Format};

pub fn run(world: &World, id: Option<&str>, format: Format) -> Result<()> {
    let (shown, text) = ops::features::loops::show(world, id)?;
    if format == Format::Json {
        output::json(&shown);
        return Ok(());
    }
    output::text(&text);
    tell_foreign(&shown);
    Ok(())
}
