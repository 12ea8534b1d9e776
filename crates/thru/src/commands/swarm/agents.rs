use clap::builder::PossibleValuesParser;
use model::swarm::SwarmRole;
use ops::setup::agents::{self, AgentFileState, AgentRow};
use ops::{Result, World};
use serde::Serialize;

use crate::output::{self, BAD, BOLD, DIM, GOOD, OutputFormat, WARN};

/// Show the agents of a swarm, or the whole prompt of one of them
#[derive(Debug, clap::Args)]
pub struct Args {
    #[arg(help = "Print the prompt of this agent", value_parser = PossibleValuesParser::new(SwarmRole::ALL.map(SwarmRole::name)))]
    agent: Option<String>,
    /// Show this swarm [default: the setting swarm.id]
    #[arg(long, value_name = "ID")]
    swarm: Option<String>,
}

#[derive(Serialize)]
struct AgentListJson {
    swarm: String,
    agents: Vec<AgentRow>,
}

#[derive(Serialize)]
struct PromptJson<'a> {
    agent: &'a str,
    prompt: String,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    if let Some(part) = args.agent.as_deref().and_then(SwarmRole::from_agent_type) {
        let prompt = agents::whole_prompt_of_agent(world, part, args.swarm.as_deref())?;
        match format {
            OutputFormat::Json => output::print_json(&PromptJson { agent: part.name(), prompt }),
            OutputFormat::Text => output::print_line(&prompt),
        }
        return Ok(0);
    }
    let (swarm, agents) = agents::list_agents(world, args.swarm.as_deref())?;
    match format {
        OutputFormat::Json => output::print_json(&AgentListJson { swarm: swarm.to_string(), agents }),
        OutputFormat::Text => agents.iter().for_each(print_agent),
    }
    Ok(0)
}

fn print_agent(row: &AgentRow) {
    let access = if row.read_only { "read-only" } else { "writes" };
    output::print_line(format_args!("{BOLD}{}{BOLD:#}  {DIM}{access}{DIM:#}  {}", row.name, row.description));
    for place in &row.harnesses {
        let (style, word) = match place.state {
            AgentFileState::Installed => (GOOD, "installed"),
            AgentFileState::OutOfDate => (WARN, "out of date"),
            AgentFileState::Changed => (WARN, "changed by hand"),
            AgentFileState::Foreign => (BAD, "one of your own files has this name"),
            AgentFileState::Missing => (DIM, "not installed"),
        };
        let model = place.model.as_ref().map_or(String::new(), |model| format!(", model {model}"));
        output::print_line(format_args!("    {}: {style}{word}{style:#}{model}", place.harness));
    }
    for file in &row.prompt_files {
        output::print_line(format_args!("    {DIM}prompt: {}{DIM:#}", file.display()));
    }
}
