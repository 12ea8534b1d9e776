//! `indexes/active-loop.json` records which loop is in the foreground of each session. The file can be rebuilt from the
//! loops.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Loop, LoopStatus};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ForegroundPointer {
    /// The loop that was last started or activated.
    pub active_loop_id: Option<String>,
    pub by_session: BTreeMap<String, String>,
    /// The loop that is waiting for the next session to start.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "next")]
    pub loop_for_next_session: Option<String>,
}

impl ForegroundPointer {
    pub fn loop_of_session(&self, session: &str) -> Option<&str> {
        self.by_session.get(session).map(String::as_str)
    }

    /// Returns whether a loop is in the foreground of any session, or is waiting for the next session.
    pub fn contains_loop(&self, id: &str) -> bool {
        self.by_session.values().any(|known| known == id) || self.loop_for_next_session.as_deref() == Some(id)
    }

    /// Moves a loop to the foreground of one session.
    pub fn set_foreground_loop_of_session(&mut self, id: &str, session: &str) {
        self.remove_loop(id);
        self.by_session.insert(session.to_owned(), id.to_owned());
        self.active_loop_id = Some(id.to_owned());
    }

    pub fn set_for_next_session(&mut self, id: &str) {
        self.remove_loop(id);
        self.loop_for_next_session = Some(id.to_owned());
        self.active_loop_id = Some(id.to_owned());
    }

    pub fn remove_loop(&mut self, id: &str) {
        self.by_session.retain(|_, known| known != id);
        if self.active_loop_id.as_deref() == Some(id) {
            self.active_loop_id = None;
        }
        if self.loop_for_next_session.as_deref() == Some(id) {
            self.loop_for_next_session = None;
        }
    }

    /// Rebuilds the pointer from the loops. Each session gets its most recently changed loop.
    pub fn rebuild_from<'a>(loops: impl IntoIterator<Item = &'a Loop>) -> ForegroundPointer {
        let mut active: Vec<&Loop> =
            loops.into_iter().filter(|known| known.status == LoopStatus::Active).collect();
        active.sort_by(|a, b| (&a.updated_at, &a.id).cmp(&(&b.updated_at, &b.id)));
        let mut pointer = ForegroundPointer::default();
        for known in active {
            match &known.session {
                Some(session) => pointer.set_foreground_loop_of_session(&known.id, session),
                None => pointer.set_for_next_session(&known.id),
            }
        }
        pointer
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}
