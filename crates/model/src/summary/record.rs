//! The index of summaries, with one line for each summary and one for each removed original.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::OutputKind;
use crate::time;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummarisedOutput {
    pub ts: String,
    pub id: String,
    #[serde(default)]
    pub session: String,
    #[serde(default)]
    pub tool: String,
    pub kind: OutputKind,
    /// The size of the redacted original.
    pub bytes: usize,
    #[serde(default)]
    pub lines: usize,
    #[serde(default)]
    pub errors: usize,
    pub summary_bytes: usize,
    /// Whether another tool created the summary and `thru import` stored the original.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub imported: bool,
}

/// A stored output that was removed because of its age.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchivedOutput {
    pub ts: String,
    pub id: String,
    /// The SHA-256 hash of the original, by which a copy can be recognised.
    pub digest: String,
    pub bytes: usize,
}

pub const ORIGINAL_KEPT_DAYS: i64 = 7;

/// Returns the ids of originals that are too old, judging by the newest summary with the same id.
pub fn ids_of_outdated_originals(summarised: &[SummarisedOutput], now: Timestamp) -> Vec<&str> {
    let limit =
        now.saturating_sub(SignedDuration::from_hours(24 * ORIGINAL_KEPT_DAYS)).unwrap_or(Timestamp::MIN);
    let is_old = |one: &SummarisedOutput| time::parse_time(&one.ts).is_some_and(|ts| ts < limit);
    let mut old: Vec<&str> = summarised.iter().filter(|one| is_old(one)).map(|one| one.id.as_str()).collect();
    old.sort_unstable();
    old.dedup();
    old.retain(|id| summarised.iter().filter(|one| one.id == *id).all(is_old));
    old
}

impl SummarisedOutput {
    /// Returns whether the output was imported. Older versions did not record this, but imported outputs have no
    /// session.
    pub fn is_imported(&self) -> bool {
        self.imported || self.session.is_empty()
    }

    pub fn to_json_line(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

impl ArchivedOutput {
    pub fn to_json_line(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}
