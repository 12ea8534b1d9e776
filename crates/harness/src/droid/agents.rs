//! Agents of a swarm in Droid's format. Droid calls an agent a droid. A droid without a list of tools has all tools.

use model::swarm::AgentPart;

use crate::agents::{AgentFiles, AgentHead, yaml_quoted};

pub const AGENT_FILES: AgentFiles = AgentFiles {
    folder: "droids",
    head: render_head,
    start: "the command /swarm; a droid cannot be the main agent",
};

fn render_head(head: &AgentHead) -> String {
    let AgentHead { name, about, part, model } = *head;
    let tools = match part {
        // Execute is left out, because a shell can write files.
        AgentPart::Sme => "tools: [\"Read\", \"LS\", \"Grep\", \"Glob\", \"WebSearch\", \"FetchUrl\"]\n",
        part if part.is_read_only() => "tools: [\"Read\", \"LS\", \"Grep\", \"Glob\"]\n",
        _ => "",
    };
    let model = model.map_or("inherit".to_owned(), yaml_quoted);
    format!("name: {name}\ndescription: {}\nmodel: {model}\n{tools}", yaml_quoted(about))
}
