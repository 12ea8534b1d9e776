//! The receipt of a hook run, and where it is written if there is no root.

use model::digest::journal_unread_words;
use model::receipt::{Outcome, Receipt};
use model::redact::{self, Redacted};
use model::time;

use super::{Call, Hook, lost};
use crate::features::ProjectContext;
use crate::{Mode, World};

/// How large the receipts in the state folder may become. These receipts are only for events that should not
/// happen.
const STATE_LIMIT: u64 = 256 * 1024;

impl Hook<'_> {
    pub(super) fn leave_receipt(&self, event: &str, session: &str) {
        if self.mode != Mode::Write {
            return;
        }
        let options = self.project.settings.redact();
        let unread = Some(self.project.store.journal_unread()).filter(|bytes| *bytes > 0);
        let unread = unread.map(journal_unread_words);
        let warnings: Vec<String> = self.warnings.borrow().iter().cloned().chain(unread).collect();
        let (error, warning) = (first(&self.errors.borrow()), first(&warnings));
        let receipt = made(self.project.world, self.call, self.harness.name, event, session, options);
        let receipt = Receipt {
            outcome: if error.is_some() { Outcome::Failed } else { Outcome::Ok },
            error: error.map(|error| clean(&error, 500, options)),
            warning: warning.map(|warning| clean(&warning, 500, options)),
            ..receipt
        };
        let ProjectContext { world, store, settings, .. } = self.project;
        let left = store.append_receipt(&receipt.line(), settings.log_limit_bytes());
        // Neither the record nor the receipt could be written.
        if let (Err(_), Some(why)) = (left, &receipt.error) {
            lost::note(world, store, self.project_id, why, self.deadline);
        }
    }
}

/// Leaves a receipt in the state folder of this machine, for an event that belongs to no root, or to a root that
/// must not be written to.
pub(super) fn without_root(world: &World, call: &Call, mode: Mode, why: &str) {
    let Some(trust) = world.trust().filter(|_| mode == Mode::Write) else { return };
    let options = redact::Options::default();
    let receipt = made(world, call, call.harness, call.event, "", options);
    let error = Some(clean(why, 500, options));
    let receipt = Receipt { outcome: Outcome::Failed, error, ..receipt };
    let _ = trust.leave_receipt(&receipt.line(), STATE_LIMIT);
}

/// Leaves a receipt after a panic was caught, when nothing else is known.
pub fn panicked(world: &World, call: &Call, why: &str) {
    without_root(world, call, Mode::Write, &format!("a bug in thru: {why}"));
}

fn made(
    world: &World,
    call: &Call,
    harness: &str,
    event: &str,
    session: &str,
    options: redact::Options,
) -> Receipt {
    Receipt {
        ts: time::rfc3339(world.now),
        harness: clean(harness, 64, options),
        event: clean(event, 64, options),
        session: clean(session, 128, options),
        ms: (call.started.elapsed().as_micros() as f64) / 1000.0,
        outcome: Outcome::Ok,
        error: None,
        warning: None,
    }
}

/// Redacts and shortens a text for a receipt: an error can quote its input, which came from the harness.
fn clean(text: &str, most: usize, options: redact::Options) -> String {
    Redacted::head(text, most, options).to_string()
}

/// Returns the first text, and mentions that there are others.
fn first(texts: &[String]) -> Option<String> {
    match texts {
        [] => None,
        [only] => Some(only.clone()),
        [first, rest @ ..] => Some(format!("{first} (and {} more)", rest.len())),
    }
}
