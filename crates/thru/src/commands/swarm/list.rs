use clap::builder::PossibleValuesParser;
use ops::setup::agents::{self, InstalledSwarm};
use ops::{Result, World};

use crate::output::{self, BOLD, DIM, OutputFormat, WARN};

/// List the swarms whose agents are installed in this project or in your own agents folder
#[derive(Debug, clap::Args)]
pub struct Args {
    /// List only swarms in this harness
    #[arg(long = "for", value_name = "HARNESS", value_parser = PossibleValuesParser::new(ops::setup::harnesses::installable_harnesses()))]
    harness: Option<String>,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let mut found = agents::list_swarms_installed_here(world)?;
    found.retain(|one| args.harness.as_deref().is_none_or(|harness| harness == one.harness));
    match format {
        OutputFormat::Json => output::print_json(&found),
        OutputFormat::Text => print_swarms(&found),
    }
    Ok(0)
}

fn print_swarms(found: &[InstalledSwarm]) {
    if found.is_empty() {
        return output::print_message("No swarm is installed; `thru swarm install` installs one.");
    }
    for InstalledSwarm { swarm, harness, folder, agents, changed_agents, .. } in found {
        let changed_agents = match changed_agents.as_slice() {
            [] => String::new(),
            names => format!("  {WARN}changed: {}{WARN:#}", names.join(", ")),
        };
        output::print_line(format_args!(
            "{BOLD}{swarm}{BOLD:#}  {harness}  {agents} agents  {DIM}{}{DIM:#}{changed_agents}",
            folder.display()
        ));
    }
}
