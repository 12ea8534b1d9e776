use model::finding::FindingLevel;
use model::text::count_with_noun;
use ops::features::packets::{self, CheckedPacket};
use ops::{Result, World};

use crate::output::{self, BAD, GOOD, OutputFormat};

pub fn run(world: &World, id: Option<&str>, format: OutputFormat) -> Result<u8> {
    let checked = packets::validate_packets(world, id)?;
    let invalid = checked.iter().filter(|one| !one.valid).count();
    match format {
        OutputFormat::Json => output::print_json(&checked),
        OutputFormat::Text => {
            checked.iter().for_each(print_checked_packet);
            if id.is_none() {
                let fine = checked.len() - invalid;
                output::print_message(format_args!(
                    "{} valid, {invalid} not",
                    count_with_noun(fine, "packet")
                ));
            }
        }
    }
    Ok(u8::from(invalid > 0))
}

fn print_checked_packet(one: &CheckedPacket) {
    let errors = one.findings.iter().filter(|finding| finding.level == FindingLevel::Error).count();
    let (style, word) = if one.valid { (GOOD, "valid") } else { (BAD, "not valid") };
    let others = one.findings.len() - errors;
    let others =
        if others == 0 { String::new() } else { format!(" ({})", count_with_noun(others, "remark")) };
    output::print_line(format_args!("{}  {style}{word}{style:#}{others}", one.id));
    one.findings.iter().for_each(|finding| output::print_line(output::format_finding(finding)));
}
