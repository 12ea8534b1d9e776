//! Agents of a swarm in OpenCode's format. The file name is the agent's name, and permissions take the place of a list
//! of tools.

use model::swarm::Part;

use crate::agents::{AgentFiles, Head, quoted};

pub const FILES: AgentFiles = AgentFiles { folder: "agent", head, start: "opencode --agent NAME" };

/// Denies every tool that writes: those that change files, the shell, other agents (which could write), and, by the
/// underscore in their names, the tools of MCP servers. Reading is not mentioned, so that the user's own rules for it
/// hold.
const READ_ONLY: &str = "permission:
  edit: deny
  write: deny
  patch: deny
  multiedit: deny
  apply_patch: deny
  bash: deny
  task: deny
  \"*_*\": deny
";

fn head(head: &Head) -> String {
    let Head { about, part, model, .. } = *head;
    let mode = if part == Part::Architect { "primary" } else { "subagent" };
    let permission = match part.is_read_only() {
        true => READ_ONLY,
        false => "",
    };
    let model = model.map_or(String::new(), |model| format!("model: {}\n", quoted(model)));
    format!("description: {}\nmode: {mode}\n{model}{permission}", quoted(about))
}
