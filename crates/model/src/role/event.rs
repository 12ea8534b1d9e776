//! What a harness event means for the role of its session.

use crate::event::{Event, EventKind, StartSource};
use crate::journal::RecordedFile;
use crate::session::PendingBrief;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoleEvent {
    /// A session started. If it has no role yet, it gets one from the environment.
    Started,
    /// The session continued after a compaction, or was resumed.
    Continued,
    Compacting,
    /// The announced compaction did not happen.
    NotCompacted,
    /// The agent read or changed context files.
    ContextFilesTouched(Vec<RecordedFile>),
}

/// Returns what an event means for the role, or `None` if the event does not affect the role. A tool call affects the
/// role if it touched a context file or shows that an announced compaction did not happen.
pub fn role_event(event: &Event, pending: Option<PendingBrief>, files: &[RecordedFile]) -> Option<RoleEvent> {
    // A sub-agent has its own context, so its events do not change the state of the session's role.
    if event.subagent.is_some() {
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
            let touched: Vec<RecordedFile> = touched.cloned().collect();
            // If the agent keeps working, the compaction did not happen.
            let instead = (pending == Some(PendingBrief::Announced)).then_some(RoleEvent::NotCompacted);
            if touched.is_empty() { instead } else { Some(RoleEvent::ContextFilesTouched(touched)) }
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
