use model::finding::Level;
use model::text::count;
use ops::features::packets::{self, Checked};
use ops::{Result, World};

use crate::output::{self, BAD, Format, GOOD};

pub fn run(world: &World, id: Option<&str>, format: Format) -> Result<u8> {
    let checked = packets::validate(world, id)?;
    let invalid = checked.iter().filter(|one| !one.valid).count();
    match format {
        Format::Json => output::json(&checked),
        Format::Text => {
            checked.iter().for_each(print_checked);
            if id.is_none() {
                let fine = checked.len() - invalid;
                output::talk(format_args!("{} valid, {invalid} not", count(fine, "packet")));
            }
        }
    }
    Ok(u8::from(invalid > 0))
}

fn print_checked(one: &Checked) {
    let errors = one.findings.iter().filter(|finding| finding.level == Level::Error).count();
    let (style, word) = if one.valid { (GOOD, "valid") } else { (BAD, "not valid") };
    let others = one.findings.len() - errors;
    let others = if others == 0 { String::new() } else { format!(" ({})", count(others, "remark")) };
    output::line(format_args!("{}  {style}{word}{style:#}{others}", one.id));
    one.findings.iter().for_each(|finding| output::line(output::finding(finding)));
}
