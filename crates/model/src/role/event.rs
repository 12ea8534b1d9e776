//! What a harness's event means to the role of its session.

use crate::event::{Event, EventKind, StartSource};
use crate::journal::FileField;
use crate::session::PendingBrief;

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
pub fn role_event(event: &Event, pending: Option<PendingBrief>, files: &[FileField]) -> Option<RoleEvent> {
    // A sub-agent has its own context: what happens to it changes nothing for the session.
    if event.agent.is_some() {
        return None;
    }
    match &event.kind {
        EventKind::SessionStart { source: StartSource::Compact | StartSource::Resume } => {
            Some(RoleEvent::Continued)
        }
        EventKind::SessionStart {
            source: StartSource::Startup | StartSource::Clear | StartSource::Fork | StartSource::Unknown,
        } => Some(RoleEvent::Started),
        EventKind::BeforeCompact { .. } => Some(RoleEvent::Compacting),
        EventKind::Prompt { .. } => match pending? {
            PendingBrief::Announced => Some(RoleEvent::NotCompacted),
            PendingBrief::Due => Some(RoleEvent::Continued),
        },
        EventKind::ToolDone(done) => {
            let touched =
                files.iter().filter(|file| !done.failed && file.path.ends_with(super::CONTEXT_FILE_SUFFIX));
            let touched: Vec<FileField> = touched.cloned().collect();
            // An agent that continues working was not compacted.
            let instead = (pending == Some(PendingBrief::Announced)).then_some(RoleEvent::NotCompacted);
            if touched.is_empty() { instead } else { Some(RoleEvent::Touched(touched)) }
        }
        EventKind::Summary { .. }
        | EventKind::AfterCompact { .. }
        | EventKind::SubagentStart
        | EventKind::SubagentStop { .. }
        | EventKind::Stop(_)
        | EventKind::SessionEnd { .. }
        | EventKind::Other { .. } => None,
    }
}

#[cfg(test)]
#[path = "event_tests.rs"]
mod tests;
