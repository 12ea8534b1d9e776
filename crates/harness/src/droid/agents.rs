//! Agents of a swarm in Droid's format. Droid calls an agent a droid. A droid without a list of tools has all tools.

use model::swarm::SwarmRole;

use crate::agents::{AgentFiles, FrontmatterFields, yaml_quoted};

pub const AGENT_FILES: AgentFiles = AgentFiles {
    folder: "droids",
    render_frontmatter,
    start_instruction: "the command /swarm; a droid cannot be the main agent",
};

fn render_frontmatter(head: &FrontmatterFields) -> String {
    let FrontmatterFields { name, description, swarm_role, model } = *head;
    let tools = match swarm_role {
        // The tool `Execute` is left out, because a shell can write files.
        SwarmRole::Sme => "tools: [\"Read\", \"LS\", \"Grep\", \"Glob\", \"WebSearch\", \"FetchUrl\"]\n",
        swarm_role if swarm_role.is_read_only() => "tools: [\"Read\", \"LS\", \"Grep\", \"Glob\"]\n",
        _ => "",
    };
    let model = model.map_or("inherit".to_owned(), yaml_quoted);
    format!("name: {name}\ndescription: {}\nmodel: {model}\n{tools}", yaml_quoted(description))
}
