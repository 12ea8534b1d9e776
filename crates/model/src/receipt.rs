//! Receipts. Each hook run leaves one line, so that a hook that printed nothing can be examined later.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::time;

/// The event name of a receipt about records that could not be written. The receipt's error states the number of lost
/// records and the time.
pub const RECORDS_LOST_EVENT: &str = "records-lost";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    pub ts: String,
    pub harness: String,
    pub event: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub session: String,
    #[serde(default)]
    pub ms: f64,
    pub outcome: HookOutcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// A problem that the user should know about, although the event was handled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HookOutcome {
    Ok,
    Failed,
}

impl Receipt {
    pub fn to_json_line(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub fn parsed_time(&self) -> Option<Timestamp> {
        time::parse_time(&self.ts)
    }
}
