//! One event and its context, as features see it.

use std::cell::{OnceCell, RefCell};

use harness::Harness;
use model::digest::Digest;
use model::event::Event;
use model::id::Id;
use model::journal::{JournalRecord, RecordPolicy};
use model::session::PendingBrief;

use super::deadline::Deadline;
use crate::Mode;
use crate::features::ProjectContext;

#[derive(Debug)]
pub struct HookContext<'a> {
    pub project: ProjectContext<'a>,
    pub harness: &'static Harness,
    pub deadline: Deadline,
    /// Whether changes are written. In a dry run nothing is written.
    pub mode: Mode,
    pub session: &'a Id,
    pub event: &'a Event<'a>,
    /// Set if the session had been compacted and had not received its brief before this event.
    pub pending: Option<PendingBrief>,
    /// The journal line of this event.
    pub record: &'a JournalRecord<'a>,
    /// Notes for the receipt, although nothing failed.
    pub warnings: &'a RefCell<Vec<String>>,
    pub(super) digest: OnceCell<Option<Digest>>,
}

impl HookContext<'_> {
    /// Returns the digest of the session up to this event; `None` if its records cannot be read.
    pub fn session_digest(&self) -> Option<&Digest> {
        self.digest.get_or_init(|| self.project.store.current_digest(self.session, |_| {}).ok()).as_ref()
    }

    /// Returns the rules for recording text of this event.
    pub fn record_policy(&self) -> RecordPolicy<'_> {
        record_policy_of(&self.project, self.harness, "")
    }

    pub fn add_warning(&self, text: String) {
        self.warnings.borrow_mut().push(text);
    }
}

/// Returns the rules for recording events of this project.
pub(super) fn record_policy_of<'a>(
    project: &ProjectContext<'a>,
    harness: &'static Harness,
    checkout: &'a str,
) -> RecordPolicy<'a> {
    RecordPolicy {
        harness: harness.name,
        checkout,
        redact: project.settings.redact_options(),
        now: project.world.now,
    }
}
