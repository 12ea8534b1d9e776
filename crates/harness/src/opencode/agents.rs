//! Agents of a swarm in OpenCode's format. The file name is the agent's name, and permissions take the place of a list
//! of tools.

use model::swarm::Part;

use crate::agents::{AgentFiles, Head, quoted};

pub const FILES: AgentFiles = AgentFiles { folder: "agent", head, start: "opencode --agent NAME" };

fn head(head: &Head) -> String {
    let Head { about, part, model, .. } = *head;
    let mode = if part == Part::Architect { "primary" } else { "subagent" };
    let permission = match part.is_read_only() {
        // `edit` covers every tool that writes files. `bash` is denied too, because a shell can write files.
        true => "permission:\n  edit: deny\n  bash: deny\n",
        false => "",
    };
    let model = model.map_or(String::new(), |model| format!("model: {}\n", quoted(model)));
    format!("description: {}\nmode: {mode}\n{model}{permission}", quoted(about))
}
