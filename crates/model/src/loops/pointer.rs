//! `indexes/active-loop.json`: which loop is in the foreground of which session. It can be rebuilt from the loops.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Loop, Status};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pointer {
    /// The loop that was last started or activated.
    pub active_loop_id: Option<String>,
    pub by_session: BTreeMap<String, String>,
    /// The loop that waits for the next session to start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl Pointer {
    /// Returns the loop that holds this session.
    pub fn of(&self, session: &str) -> Option<&str> {
        self.by_session.get(session).map(String::as_str)
    }

    /// Returns whether a loop is in the foreground anywhere, or waits to be.
    pub fn holds(&self, id: &str) -> bool {
        self.by_session.values().any(|known| known == id) || self.next.as_deref() == Some(id)
    }

    /// Puts a loop into the foreground of one session, and of no other.
    pub fn set(&mut self, id: &str, session: &str) {
        self.clear(id);
        self.by_session.insert(session.to_owned(), id.to_owned());
        self.active_loop_id = Some(id.to_owned());
    }

    pub fn set_next(&mut self, id: &str) {
        self.clear(id);
        self.next = Some(id.to_owned());
        self.active_loop_id = Some(id.to_owned());
    }

    /// Removes a loop from every foreground.
    pub fn clear(&mut self, id: &str) {
        self.by_session.retain(|_, known| known != id);
        if self.active_loop_id.as_deref() == Some(id) {
            self.active_loop_id = None;
        }
        if self.next.as_deref() == Some(id) {
            self.next = None;
        }
    }

    /// Rebuilds the pointer from the loops: each session gets the loop that was last changed.
    pub fn rebuilt<'a>(loops: impl IntoIterator<Item = &'a Loop>) -> Pointer {
        let mut active: Vec<&Loop> =
            loops.into_iter().filter(|known| known.status == Status::Active).collect();
        active.sort_by(|a, b| (&a.updated_at, &a.id).cmp(&(&b.updated_at, &b.id)));
        let mut pointer = Pointer::default();
        for known in active {
            match &known.session {
                Some(session) => pointer.set(&known.id, session),
                None => pointer.set_next(&known.id),
            }
        }
        pointer
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}
