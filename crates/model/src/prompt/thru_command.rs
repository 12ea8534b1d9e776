//! The slash commands with which a user calls `thru`, and those that the agent answers.

use super::{NON_WORK_SLASH_COMMANDS, split_slash_command};

/// What the agent does after one of thru's slash commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThruCommand {
    /// The agent works: it continues a packet or a role, or begins a loop.
    Work,
    /// The agent calls `thru`, and then speaks about what `thru` recorded. Before the call, it may still speak about
    /// the work.
    Records,
    /// The harness runs `thru` before the model answers, so the agent speaks about thru's records from the start.
    ShownRecords,
}

/// The names in every harness. A harness that has its own command with the same name gets ours with the prefix `thru-`.
/// The commands that are not listed here count as prompts, as `/thru-loop` does.
const THRU_COMMANDS: &[(&str, ThruCommand)] = &[
    ("context", ThruCommand::ShownRecords),
    ("decide", ThruCommand::Records),
    ("handoff", ThruCommand::Records),
    ("loop", ThruCommand::Work),
    ("packet", ThruCommand::Records),
    ("pickup", ThruCommand::Work),
    ("plan", ThruCommand::Records),
    ("recover", ThruCommand::Work),
    ("swarm", ThruCommand::Work),
];

/// If the text is one of thru's slash commands, returns what the agent does after it. Returns `None` for any other
/// text, and for a command that counts as a prompt.
pub fn thru_command(text: &str) -> Option<ThruCommand> {
    let (name, _) = split_slash_command(text).filter(|(name, _)| NON_WORK_SLASH_COMMANDS.contains(name))?;
    let name = name.strip_prefix("thru-").unwrap_or(name);
    THRU_COMMANDS.iter().find(|(known, _)| *known == name).map(|(_, command)| *command)
}

/// Returns whether the agent may respond to a slash command as it does to a request, although the command does not
/// count as a prompt. Examples are `/pickup` and `/init`. After a command about thru's records, the agent only confirms
/// the command. A compaction gets no answer, so what the agent says after a compaction belongs to the earlier work.
pub fn is_command_for_agent(text: &str) -> bool {
    let Some((name, _)) =
        split_slash_command(text).filter(|(name, _)| NON_WORK_SLASH_COMMANDS.contains(name))
    else {
        return false;
    };
    name != "compact" && thru_command(text).is_none_or(|command| command == ThruCommand::Work)
}
