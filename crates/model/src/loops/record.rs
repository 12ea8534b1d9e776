//! A loop as a document: `loops/<id>.md`. An edit changes only the bytes that it edits.

use serde_json::{Value, json};

use super::{Ended, LastStop, Loop, Outcome, Promise, Status};
use crate::document::{Document, EditError, Head, unwrap_verbatim, wrap_verbatim};
use crate::time;

const PROMISE_KEY: &str = "completion_promise";
const PROMPT_HEADING: Head = Head::exact(2, "Loop Prompt");
const NOTES_HEADING: Head = Head::exact(2, "Notes");

/// A loop and its document.
#[derive(Clone, Debug)]
pub struct Record {
    pub state: Loop,
    document: Document,
}

/// Why a file cannot be read as a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    pub line: Option<usize>,
    pub why: String,
}

impl Record {
    /// Creates a new record.
    pub fn new(state: Loop) -> Result<Record, EditError> {
        let mut document = Document::default();
        // Absent values are left out, except the promise, because a person would look for it.
        for (key, value) in
            fields(&state).into_iter().filter(|(key, value)| *key == PROMISE_KEY || !value.is_null())
        {
            document.set(key, value)?;
        }
        let head = document.into_bytes();
        let file = |prompt: &[u8]| {
            let parts: [&[u8]; 4] = [&head, b"\n## Loop Prompt\n\n", prompt, b"\n\n## Notes\n"];
            Document::parse(parts.concat())
        };
        // Most prompts read back unchanged and are stored as they are. Others go into a fence.
        let plain = file(state.prompt.as_bytes());
        let document = match prompt(&plain) == Some(state.prompt.as_bytes()) {
            true => plain,
            false => file(wrap_verbatim(&state.prompt, "\n").trim_ascii_end()),
        };
        Ok(Record { state, document })
    }

    /// Parses what `new` and `edited` wrote, including people's edits.
    pub fn parse(bytes: Vec<u8>) -> Result<Record, Damage> {
        let document = Document::parse(bytes);
        let state = Reader(&document).state()?;
        Ok(Record { state, document })
    }

    /// Returns the record with the new `state`. The prompt stays, because nothing ever changes it.
    pub fn edited(&self, state: Loop) -> Result<Record, EditError> {
        let mut document = self.document.clone();
        let before = fields(&self.state);
        for ((key, value), (_, old)) in fields(&state).into_iter().zip(before) {
            if value != old {
                document.set(key, value)?;
            }
        }
        Ok(Record { state, document })
    }

    pub fn bytes(&self) -> &[u8] {
        self.document.bytes()
    }
}

/// Returns the entries of the frontmatter in the order in which they are written.
fn fields(state: &Loop) -> Vec<(&'static str, Value)> {
    let last_stop = state.last_stop.as_ref().and_then(|stop| serde_json::to_value(stop).ok());
    vec![
        ("id", json!(state.id)),
        ("created_at", json!(state.created_at)),
        ("updated_at", json!(state.updated_at)),
        ("status", json!(state.status)),
        ("iteration", json!(state.iteration)),
        ("max_iterations", json!(state.max_iterations)),
        (PROMISE_KEY, json!(state.promises.first().map(|promise| &promise.text))),
        ("promises", json!(state.promises)),
        ("source_packet_id", json!(state.source_packet_id)),
        ("imported_from", json!(state.imported_from)),
        ("session_id", json!(state.session)),
        ("ended_reason", json!(state.ended)),
        ("ended_detail", json!(state.ended_detail)),
        ("validators", json!(state.validators)),
        ("deadline", json!(state.deadline)),
        ("last_message_digest", json!(state.last_message_digest)),
        ("last_stop", json!(last_stop)),
    ]
}

/// Returns the prompt byte for byte.
fn prompt(document: &Document) -> Option<&[u8]> {
    let section = document.section_to_last(PROMPT_HEADING, NOTES_HEADING)?;
    Some(unwrap_verbatim(section.body()).unwrap_or_else(|| section.content()))
}

struct Reader<'d>(&'d Document);

impl Reader<'_> {
    fn state(&self) -> Result<Loop, Damage> {
        if !self.0.has_frontmatter() {
            return Err(Damage { line: Some(1), why: "it has no frontmatter".into() });
        }
        let status = self.need("status")?;
        let prompt = prompt(self.0)
            .ok_or_else(|| Damage { line: None, why: "there is no section `## Loop Prompt`".into() })?;
        let prompt = std::str::from_utf8(prompt)
            .map_err(|_| Damage { line: None, why: "the loop prompt is not UTF-8".into() })?;
        if prompt.trim().is_empty() {
            return Err(Damage { line: None, why: "the loop prompt is empty".into() });
        }
        Ok(Loop {
            id: self.need("id")?,
            created_at: self.text("created_at").unwrap_or_default(),
            updated_at: self.text("updated_at").unwrap_or_default(),
            status: Status::parse(&status).ok_or_else(|| {
                self.flaw("status", &format!("`{status}` is not one of active, paused, done, cancelled"))
            })?,
            iteration: self.count("iteration")?.max(1),
            max_iterations: self.count("max_iterations")?,
            promises: self.promises()?,
            source_packet_id: self.text("source_packet_id"),
            imported_from: self.text("imported_from"),
            session: self.text("session_id"),
            ended: self.text("ended_reason").as_deref().and_then(Ended::parse),
            ended_detail: self.text("ended_detail"),
            validators: self.list("validators")?,
            deadline: self.deadline()?,
            last_message_digest: self.text("last_message_digest"),
            last_stop: self.last_stop(),
            prompt: prompt.to_owned(),
        })
    }

    fn flaw(&self, key: &str, why: &str) -> Damage {
        Damage { line: self.0.entry(key).map(|entry| entry.line), why: format!("{key}: {why}") }
    }

    fn text(&self, key: &str) -> Option<String> {
        self.0.text(key).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    fn need(&self, key: &str) -> Result<String, Damage> {
        self.text(key).ok_or_else(|| self.flaw(key, "it is missing"))
    }

    fn count(&self, key: &str) -> Result<u64, Damage> {
        let number = self.0.int(key).and_then(|number| u64::try_from(number).ok());
        number.ok_or_else(|| self.flaw(key, "it must be a whole number that is not negative"))
    }

    fn list(&self, key: &str) -> Result<Vec<String>, Damage> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(_) => self.0.list(key).ok_or_else(|| self.flaw(key, "it must be a list on one line")),
        }
    }

    /// Reads the promises. People edit `completion_promise`: if it differs from the first of `promises`, it replaces
    /// that one.
    fn promises(&self) -> Result<Vec<Promise>, Damage> {
        let mut promises: Vec<Promise> = match self.0.get("promises") {
            None | Some(Value::Null) => Vec::new(),
            Some(value) => serde_json::from_value(value.clone()).map_err(|_| {
                self.flaw("promises", "it must be [{\"text\": …, \"outcome\": \"done|blocked\"}]")
            })?,
        };
        match (self.text(PROMISE_KEY), promises.first_mut()) {
            (Some(text), None) => promises.push(Promise { text, outcome: Outcome::Done }),
            (Some(text), Some(first)) => first.text = text,
            (None, _) => {}
        }
        Ok(promises)
    }

    fn deadline(&self) -> Result<Option<String>, Damage> {
        let Some(text) = self.text("deadline") else { return Ok(None) };
        match time::parse(&text) {
            Some(_) => Ok(Some(text)),
            None => Err(self.flaw("deadline", &format!("`{text}` is not a time"))),
        }
    }

    /// Reads the last stop. Only the engine needs it, so an unreadable value counts as none.
    fn last_stop(&self) -> Option<LastStop> {
        serde_json::from_value(self.0.get("last_stop")?.clone()).ok()
    }
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
