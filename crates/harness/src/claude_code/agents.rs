//! Agents of a swarm in Claude Code's format. An agent without a list of tools has all tools.

use model::swarm::Part;

use crate::agents::{AgentFiles, Head, quoted};

pub const FILES: AgentFiles = AgentFiles { folder: "agents", head, start: "claude --agent NAME" };

fn head(head: &Head) -> String {
    let Head { name, about, part, model } = *head;
    let tools = match part {
        // Bash is left out, because a shell can write files too.
        Part::Sme => "tools: Read, Grep, Glob, WebFetch, WebSearch\n",
        part if part.is_read_only() => "tools: Read, Grep, Glob\n",
        _ => "",
    };
    let model = model.map_or("inherit".to_owned(), quoted);
    format!("name: {name}\ndescription: {}\n{tools}model: {model}\n", quoted(about))
}
