//! What an event of a harness is to the role of its session.

use crate::event::{Event, Kind, Source};
use crate::journal::FileField;
use crate::session::Pending;

/// What an event is to the role of its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoleEvent {
    /// A session began: it takes its role from the environment, unless it has one.
    Started,
    /// It went on after a compaction, or was resumed.
    Continued,
    Compacting,
    /// The compaction that was announced did not come.
    NotCompacted,
    /// The agent read or changed context files.
    Touched(Vec<FileField>),
}

/// The role's part in an event, if it has one. A tool call has one if it touched a context file, or came instead of a
/// compaction.
pub fn role_event(event: &Event, pending: Option<Pending>, files: &[FileField]) -> Option<RoleEvent> {
    // A sub-agent has a context of its own: what happens to it changes nothing for the session.
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
            // Whoever goes on working was not compacted.
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
