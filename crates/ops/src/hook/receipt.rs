//! The receipt of a hook run. If there is no root, it is written to the state folder.

use model::digest::describe_unread_journal;
use model::receipt::{HookOutcome, Receipt};
use model::redact::{self, Redacted};
use model::time;

use super::{HookCall, TrustedHook, lost};
use crate::features::ProjectContext;
use crate::{World, WriteMode};

/// How large the receipts file in the state folder may become. Only rare problems are recorded there.
const MAX_STATE_RECEIPTS_BYTES: u64 = 256 * 1024;

impl TrustedHook<'_> {
    pub(super) fn leave_receipt(&self, event: &str, session: &str) {
        if self.mode != WriteMode::Write {
            return;
        }
        let options = self.project.settings.redact_options();
        let unread = Some(self.project.store.skipped_journal_bytes()).filter(|bytes| *bytes > 0);
        let unread = unread.map(describe_unread_journal);
        let warnings: Vec<String> = self.warnings.borrow().iter().cloned().chain(unread).collect();
        let (error, warning) =
            (first_message_and_count(&self.errors.borrow()), first_message_and_count(&warnings));
        let receipt = new_receipt(self.project.world, self.call, self.harness.name, event, session, options);
        let receipt = Receipt {
            outcome: if error.is_some() { HookOutcome::Failed } else { HookOutcome::Ok },
            error: error.map(|error| redact_and_shorten(&error, 500, options)),
            warning: warning.map(|warning| redact_and_shorten(&warning, 500, options)),
            ..receipt
        };
        let ProjectContext { world, store, settings, .. } = self.project;
        let left = store.append_receipt(&receipt.to_json_line(), settings.log_limit_bytes());
        // Neither the record nor the receipt could be written, so count the loss.
        if let (Err(_), Some(why)) = (left, &receipt.error) {
            lost::count_lost_record(world, store, self.project_id, why, self.deadline);
        }
    }
}

/// Writes a receipt to this machine's state folder, for an event that has no root or whose root must not be written
/// to.
pub(super) fn leave_receipt_without_root(world: &World, call: &HookCall, mode: WriteMode, why: &str) {
    let Some(trust) = world.trust_records().filter(|_| mode == WriteMode::Write) else { return };
    let options = redact::RedactOptions::default();
    let receipt = new_receipt(world, call, call.harness, call.event, "", options);
    let error = Some(redact_and_shorten(why, 500, options));
    let receipt = Receipt { outcome: HookOutcome::Failed, error, ..receipt };
    let _ = trust.leave_receipt(&receipt.to_json_line(), MAX_STATE_RECEIPTS_BYTES);
}

/// Writes a receipt after a panic, when nothing else is known about the event.
pub fn leave_receipt_after_panic(world: &World, call: &HookCall, why: &str) {
    leave_receipt_without_root(world, call, WriteMode::Write, &format!("a bug in thru: {why}"));
}

fn new_receipt(
    world: &World,
    call: &HookCall,
    harness: &str,
    event: &str,
    session: &str,
    options: redact::RedactOptions,
) -> Receipt {
    Receipt {
        ts: time::to_rfc3339(world.now),
        harness: redact_and_shorten(harness, 64, options),
        event: redact_and_shorten(event, 64, options),
        session: redact_and_shorten(session, 128, options),
        ms: (call.started_at.elapsed().as_micros() as f64) / 1000.0,
        outcome: HookOutcome::Ok,
        error: None,
        warning: None,
    }
}

/// Redacts and shortens text for a receipt, because an error message can quote input from the harness.
fn redact_and_shorten(text: &str, most: usize, options: redact::RedactOptions) -> String {
    Redacted::redact_head(text, most, options).to_string()
}

/// Returns the first message, followed by the number of the others.
fn first_message_and_count(texts: &[String]) -> Option<String> {
    match texts {
        [] => None,
        [only] => Some(only.clone()),
        [first, rest @ ..] => Some(format!("{first} (and {} more)", rest.len())),
    }
}
