//! Agents of a swarm in Claude Code's format. An agent without a list of tools has all tools.

use model::swarm::SwarmRole;

use crate::agents::{AgentFiles, FrontmatterFields, yaml_quoted};

pub const AGENT_FILES: AgentFiles =
    AgentFiles { folder: "agents", render_frontmatter, start_instruction: "claude --agent NAME" };

fn render_frontmatter(head: &FrontmatterFields) -> String {
    let FrontmatterFields { name, description, swarm_role, model } = *head;
    let tools = match swarm_role {
        // Bash is left out, because a shell can write files.
        SwarmRole::Sme => "tools: Read, Grep, Glob, WebFetch, WebSearch\n",
        swarm_role if swarm_role.is_read_only() => "tools: Read, Grep, Glob\n",
        _ => "",
    };
    let model = model.map_or("inherit".to_owned(), yaml_quoted);
    format!("name: {name}\ndescription: {}\n{tools}model: {model}\n", yaml_quoted(description))
}
