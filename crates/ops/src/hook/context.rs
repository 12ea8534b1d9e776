//! An event, with everything that a feature needs to handle it.

use std::cell::{OnceCell, RefCell};
use std::mem::ManuallyDrop;

use harness::Harness;
use model::digest::Digest;
use model::event::Event;
use model::id::Id;
use model::journal::{JournalRecord, RecordPolicy};
use model::session::PendingBrief;

use super::deadline::Deadline;
use crate::WriteMode;
use crate::features::ProjectContext;

#[derive(Debug)]
pub struct HookContext<'a> {
    pub project: ProjectContext<'a>,
    pub harness: &'static Harness,
    pub deadline: Deadline,
    pub mode: WriteMode,
    pub session: &'a Id,
    pub event: &'a Event<'a>,
    /// Set if a compaction was announced before this event, or if the session has been compacted and has not received
    /// its brief yet.
    pub pending_brief: Option<PendingBrief>,
    /// The journal line of this event.
    pub record: &'a JournalRecord<'a>,
    /// Warnings for the receipt about problems that are not failures.
    pub warnings: &'a RefCell<Vec<String>>,
    /// Never freed, because the process ends soon.
    pub(super) digest: OnceCell<Option<ManuallyDrop<Digest>>>,
}

impl HookContext<'_> {
    /// Returns the session's digest up to this event, or `None` if the session's records cannot be read.
    pub fn session_digest(&self) -> Option<&Digest> {
        let read = || self.project.store.current_digest(self.session, |_| {}).ok().map(ManuallyDrop::new);
        self.digest.get_or_init(read).as_deref()
    }

    pub fn record_policy(&self) -> RecordPolicy<'_> {
        record_policy_of(&self.project, self.harness, "")
    }

    pub fn add_warning(&self, text: String) {
        self.warnings.borrow_mut().push(text);
    }
}

pub(crate) fn record_policy_of<'a>(
    project: &ProjectContext<'a>,
    harness: &'static Harness,
    checkout: &'a str,
) -> RecordPolicy<'a> {
    RecordPolicy {
        harness: harness.name,
        checkout,
        redact_options: project.settings.redact_options(),
        now: project.world.now,
    }
}
