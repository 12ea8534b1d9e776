//! Agents of a swarm in Droid's format. Droid calls them droids, and a droid without a list of tools has all tools.

use model::swarm::Part;

use crate::agents::{AgentFiles, Head, quoted};

pub const FILES: AgentFiles =
    AgentFiles { folder: "droids", head, start: "the command /swarm; a droid cannot be the main agent" };

fn head(head: &Head) -> String {
    let Head { name, about, part, model } = *head;
    let tools = match part {
        // Execute is left out, because a shell can write files too.
        Part::Sme => "tools: [\"Read\", \"LS\", \"Grep\", \"Glob\", \"WebSearch\", \"FetchUrl\"]\n",
        part if part.is_read_only() => "tools: [\"Read\", \"LS\", \"Grep\", \"Glob\"]\n",
        _ => "",
    };
    let model = model.map_or("inherit".to_owned(), quoted);
    format!("name: {name}\ndescription: {}\nmodel: {model}\n{tools}", quoted(about))
}
