use clap::builder::PossibleValuesParser;
use model::swarm::Part;
use ops::setup::agents::{self, AgentRow, State};
use ops::{Result, World};
use serde::Serialize;

use crate::output::{self, BAD, BOLD, DIM, Format, GOOD, WARN};

/// Show the agents of a swarm, or the whole prompt of one of them
#[derive(Debug, clap::Args)]
pub struct Args {
    #[arg(help = "Print the prompt of this agent", value_parser = PossibleValuesParser::new(Part::ALL.map(Part::name)))]
    agent: Option<String>,
    /// The swarm [default: the setting swarm.id]
    #[arg(long, value_name = "ID")]
    swarm: Option<String>,
}

#[derive(Serialize)]
struct Listed {
    swarm: String,
    agents: Vec<AgentRow>,
}

#[derive(Serialize)]
struct Prompt<'a> {
    agent: &'a str,
    prompt: String,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    if let Some(part) = args.agent.as_deref().and_then(Part::of) {
        let prompt = agents::whole_prompt(world, part, args.swarm.as_deref())?;
        match format {
            Format::Json => output::json(&Prompt { agent: part.name(), prompt }),
            Format::Text => output::line(&prompt),
        }
        return Ok(0);
    }
    let (swarm, agents) = agents::list_agents(world, args.swarm.as_deref())?;
    match format {
        Format::Json => output::json(&Listed { swarm: swarm.to_string(), agents }),
        Format::Text => agents.iter().for_each(print),
    }
    Ok(0)
}

fn print(row: &AgentRow) {
    let access = if row.read_only { "read-only" } else { "writes" };
    output::line(format_args!("{BOLD}{}{BOLD:#}  {DIM}{access}{DIM:#}  {}", row.name, row.about));
    for place in &row.harnesses {
        let (style, word) = match place.state {
            State::Installed => (GOOD, "installed"),
            State::OutOfDate => (WARN, "out of date"),
            State::Changed => (WARN, "changed by hand"),
            State::Foreign => (BAD, "a file of yours has this name"),
            State::Missing => (DIM, "not installed"),
        };
        let model = place.model.as_ref().map_or(String::new(), |model| format!(", model {model}"));
        output::line(format_args!("    {}: {style}{word}{style:#}{model}", place.harness));
    }
    for file in &row.prompt_files {
        output::line(format_args!("    {DIM}prompt: {}{DIM:#}", file.display()));
    }
}
