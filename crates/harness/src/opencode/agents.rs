//! Agents of a swarm in OpenCode's format. The file name is the agent's name. Permissions replace the list of tools.

use model::swarm::SwarmRole;

use crate::agents::{AgentFiles, FrontmatterFields, yaml_quoted};

pub const AGENT_FILES: AgentFiles =
    AgentFiles { folder: "agent", render_frontmatter, start_instruction: "opencode --agent NAME" };

/// Denies every tool that can write: tools that change files, the shell, calls to other agents, and MCP tools.
/// The pattern `*_*` matches MCP tools, because their names contain an underscore. Reading is not mentioned, so
/// the user's own rules for reading apply.
const READ_ONLY_PERMISSIONS: &str = "permission:
  edit: deny
  write: deny
  patch: deny
  multiedit: deny
  apply_patch: deny
  bash: deny
  task: deny
  \"*_*\": deny
";

fn render_frontmatter(head: &FrontmatterFields) -> String {
    let FrontmatterFields { description, swarm_role, model, .. } = *head;
    let mode = if swarm_role == SwarmRole::Architect { "primary" } else { "subagent" };
    let permission = match swarm_role.is_read_only() {
        true => READ_ONLY_PERMISSIONS,
        false => "",
    };
    let model = model.map_or(String::new(), |model| format!("model: {}\n", yaml_quoted(model)));
    format!("description: {}\nmode: {mode}\n{model}{permission}", yaml_quoted(description))
}
