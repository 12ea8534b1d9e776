use model::render::one_line;
use ops::features::evidence::show::{self, EvidenceListing};
use ops::{Result, World};

use super::{describe_evidence, proof_style};
use crate::output::{self, BOLD, OutputFormat};

pub fn run(world: &World, format: OutputFormat) -> Result<u8> {
    let listed = show::list_evidence(world)?;
    match format {
        OutputFormat::Json => output::print_json(&listed),
        OutputFormat::Text => print_list(&listed),
    }
    Ok(0)
}

fn print_list(listed: &EvidenceListing) {
    if listed.tasks.is_empty() {
        return output::print_message(
            "There is no evidence yet; `thru evidence run TASK -- COMMAND` records some.",
        );
    }
    let width = listed.tasks.iter().map(|line| line.task.chars().count()).max().unwrap_or(0).min(24);
    for line in &listed.tasks {
        let style = proof_style(line);
        output::print_line(format_args!(
            "{BOLD}{:<width$}{BOLD:#}  {style}●{style:#} {}",
            line.task,
            one_line(&describe_evidence(line), 300)
        ));
    }
}
