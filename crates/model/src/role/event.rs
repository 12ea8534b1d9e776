//! What a harness's event means to the role of its session.

use crate::event::{Event, Kind, Source};
use crate::journal::FileField;
use crate::session::Pending;

/// What an event means to the role of its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoleEvent {
    /// A session began. It gets its role from the environment, unless it has one.
    Started,
    /// The session continued after a compaction, or was resumed.
    Continued,
    Compacting,
    /// The announced compaction did not happen.
    NotCompacted,
    /// The agent read or changed context files.
    Touched(Vec<FileField>),
}

/// Returns what an event means to the role, if anything. A tool call matters if it touched a context file, or came
/// instead of a compaction.
pub fn role_event(event: &Event, pending: Option<Pending>, files: &[FileField]) -> Option<RoleEvent> {
    // A sub-agent has its own context: what happens to it changes nothing for the session.
    if event.agent.is_some() {
        return None;
    }
    match &event.kind {
        Kind::SessionStart { source: Source::Compact | Source::Resume } => Some(RoleEvent::Continued),
        Kind::SessionStart { source: Source::Startup | Source::Clear | Source::Fork | Source::Unknown } => {
            Some(RoleEvent::Started)
        }
        Kind::BeforeCompact { .. } => Some(RoleEvent::Compacting),
        Kind::Prompt { .. } => match pending? {
            Pending::Announced => Some(RoleEvent::NotCompacted),
            Pending::Due => Some(RoleEvent::Continued),
        },
        Kind::ToolDone(done) => {
            let touched = files.iter().filter(|file| !done.failed && file.path.ends_with(super::SUFFIX));
            let touched: Vec<FileField> = touched.cloned().collect();
            // An agent that continues working was not compacted.
            let instead = (pending == Some(Pending::Announced)).then_some(RoleEvent::NotCompacted);
            if touched.is_empty() { instead } else { Some(RoleEvent::Touched(touched)) }
        }
        Kind::Summary { .. }
        | Kind::AfterCompact { .. }
        | Kind::SubagentStart
        | Kind::SubagentStop { .. }
        | Kind::Stop(_)
        | Kind::SessionEnd { .. }
        | Kind::Other { .. } => None,
    }
}

#[cfg(test)]
#[path = "event_tests.rs"]
mod tests;
