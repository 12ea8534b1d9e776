//! Agents of a swarm in Claude Code's format. An agent without a list of tools has all tools.

use model::swarm::AgentPart;

use crate::agents::{AgentFiles, AgentHead, yaml_quoted};

pub const AGENT_FILES: AgentFiles =
    AgentFiles { folder: "agents", head: render_head, start: "claude --agent NAME" };

fn render_head(head: &AgentHead) -> String {
    let AgentHead { name, about, part, model } = *head;
    let tools = match part {
        // Bash is left out, because a shell can write files.
        AgentPart::Sme => "tools: Read, Grep, Glob, WebFetch, WebSearch\n",
        part if part.is_read_only() => "tools: Read, Grep, Glob\n",
        _ => "",
    };
    let model = model.map_or("inherit".to_owned(), yaml_quoted);
    format!("name: {name}\ndescription: {}\n{tools}model: {model}\n", yaml_quoted(about))
}
