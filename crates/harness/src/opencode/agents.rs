//! Agents of a swarm in OpenCode's format. The file name is the agent's name, and permissions take the place of a list
//! of tools.

use model::swarm::AgentPart;

use crate::agents::{AgentFiles, AgentHead, yaml_quoted};

pub const AGENT_FILES: AgentFiles =
    AgentFiles { folder: "agent", head: render_head, start: "opencode --agent NAME" };

/// Denies every tool that writes: those that change files, the shell, other agents (which could write), and, by the
/// underscore in their names, the tools of MCP servers. Reading is not mentioned, so that the user's own rules for it
/// hold.
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

fn render_head(head: &AgentHead) -> String {
    let AgentHead { about, part, model, .. } = *head;
    let mode = if part == AgentPart::Architect { "primary" } else { "subagent" };
    let permission = match part.is_read_only() {
        true => READ_ONLY_PERMISSIONS,
        false => "",
    };
    let model = model.map_or(String::new(), |model| format!("model: {}\n", yaml_quoted(model)));
    format!("description: {}\nmode: {mode}\n{model}{permission}", yaml_quoted(about))
}
