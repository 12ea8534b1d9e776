//! A loop as a document, `loops/<id>.md`. Updating a field leaves the rest of the file unchanged, byte for byte.

use serde_json::{Value, json};

use super::{EndReason, LastStop, Loop, LoopStatus, Promise, PromiseOutcome};
use crate::document::{Document, EditError, HeadingPattern, unwrap_verbatim, wrap_verbatim};
use crate::time;

const PROMISE_KEY: &str = "completion_promise";
const PROMPT_HEADING: HeadingPattern = HeadingPattern::exact(2, "Loop Prompt");
const NOTES_HEADING: HeadingPattern = HeadingPattern::exact(2, "Notes");

#[derive(Clone, Debug)]
pub struct LoopRecord {
    pub loop_state: Loop,
    document: Document,
}

/// Why a file cannot be read as a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopRecordDamage {
    pub line: Option<usize>,
    pub why: String,
}

impl LoopRecord {
    pub fn new(loop_state: Loop) -> Result<LoopRecord, EditError> {
        let mut document = Document::default();
        // Fields without a value are left out, except the promise, because people look for it.
        for (key, value) in frontmatter_fields(&loop_state)
            .into_iter()
            .filter(|(key, value)| *key == PROMISE_KEY || !value.is_null())
        {
            document.set_frontmatter_entry(key, value)?;
        }
        let head = document.into_bytes();
        let file = |prompt: &[u8]| {
            let parts: [&[u8]; 4] = [&head, b"\n## Loop Prompt\n\n", prompt, b"\n\n## Notes\n"];
            Document::parse(parts.concat())
        };
        // Most prompts are stored as they are. A prompt that would not be read back unchanged is stored in a fence.
        let plain = file(loop_state.prompt.as_bytes());
        let document = match prompt_bytes(&plain) == Some(loop_state.prompt.as_bytes()) {
            true => plain,
            false => file(wrap_verbatim(&loop_state.prompt, "\n").trim_ascii_end()),
        };
        Ok(LoopRecord { loop_state, document })
    }

    /// Parses a record, which people may have edited.
    pub fn parse(bytes: Vec<u8>) -> Result<LoopRecord, LoopRecordDamage> {
        let document = Document::parse(bytes);
        let loop_state = LoopFieldReader(&document).read_state()?;
        Ok(LoopRecord { loop_state, document })
    }

    /// Returns the record with the new `loop_state`. A loop's prompt never changes.
    pub fn with_state(&self, loop_state: Loop) -> Result<LoopRecord, EditError> {
        let mut document = self.document.clone();
        let before = frontmatter_fields(&self.loop_state);
        for ((key, value), (_, old)) in frontmatter_fields(&loop_state).into_iter().zip(before) {
            if value != old {
                document.set_frontmatter_entry(key, value)?;
            }
        }
        Ok(LoopRecord { loop_state, document })
    }

    pub fn bytes(&self) -> &[u8] {
        self.document.bytes()
    }
}

/// Returns the entries of the frontmatter in the order in which they are written.
fn frontmatter_fields(state: &Loop) -> Vec<(&'static str, Value)> {
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
        ("ended_reason", json!(state.end_reason)),
        ("ended_detail", json!(state.ended_detail)),
        ("validators", json!(state.validators)),
        ("deadline", json!(state.deadline)),
        ("last_message_digest", json!(state.last_message_digest)),
        ("last_stop", json!(last_stop)),
    ]
}

/// Returns the prompt, byte for byte.
fn prompt_bytes(document: &Document) -> Option<&[u8]> {
    let section = document.find_section_to_last(PROMPT_HEADING, NOTES_HEADING)?;
    Some(unwrap_verbatim(section.body()).unwrap_or_else(|| section.content()))
}

struct LoopFieldReader<'d>(&'d Document);

impl LoopFieldReader<'_> {
    fn read_state(&self) -> Result<Loop, LoopRecordDamage> {
        if !self.0.has_frontmatter() {
            return Err(LoopRecordDamage { line: Some(1), why: "it has no frontmatter".into() });
        }
        let status = self.required_text("status")?;
        let prompt = prompt_bytes(self.0).ok_or_else(|| LoopRecordDamage {
            line: None,
            why: "there is no section `## Loop Prompt`".into(),
        })?;
        let prompt = std::str::from_utf8(prompt)
            .map_err(|_| LoopRecordDamage { line: None, why: "the loop prompt is not UTF-8".into() })?;
        if prompt.trim().is_empty() {
            return Err(LoopRecordDamage { line: None, why: "the loop prompt is empty".into() });
        }
        Ok(Loop {
            id: self.required_text("id")?,
            created_at: self.optional_text("created_at").unwrap_or_default(),
            updated_at: self.optional_text("updated_at").unwrap_or_default(),
            status: LoopStatus::parse(&status).ok_or_else(|| {
                self.damage_of_field(
                    "status",
                    &format!("`{status}` is not one of active, paused, done, cancelled"),
                )
            })?,
            iteration: self.read_count("iteration")?.max(1),
            max_iterations: self.read_count("max_iterations")?,
            promises: self.read_promises()?,
            source_packet_id: self.optional_text("source_packet_id"),
            imported_from: self.optional_text("imported_from"),
            session: self.optional_text("session_id"),
            end_reason: self.optional_text("ended_reason").as_deref().and_then(EndReason::parse),
            ended_detail: self.optional_text("ended_detail"),
            validators: self.read_list("validators")?,
            deadline: self.read_deadline()?,
            last_message_digest: self.optional_text("last_message_digest"),
            last_stop: self.read_last_stop(),
            prompt: prompt.to_owned(),
        })
    }

    fn damage_of_field(&self, key: &str, why: &str) -> LoopRecordDamage {
        LoopRecordDamage {
            line: self.0.frontmatter_entry(key).map(|entry| entry.line),
            why: format!("{key}: {why}"),
        }
    }

    fn optional_text(&self, key: &str) -> Option<String> {
        self.0.frontmatter_text(key).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    fn required_text(&self, key: &str) -> Result<String, LoopRecordDamage> {
        self.optional_text(key).ok_or_else(|| self.damage_of_field(key, "it is missing"))
    }

    fn read_count(&self, key: &str) -> Result<u64, LoopRecordDamage> {
        let number = self.0.frontmatter_integer(key).and_then(|number| u64::try_from(number).ok());
        number.ok_or_else(|| self.damage_of_field(key, "it must be a non-negative whole number"))
    }

    fn read_list(&self, key: &str) -> Result<Vec<String>, LoopRecordDamage> {
        match self.0.frontmatter_value(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(_) => self
                .0
                .frontmatter_list(key)
                .ok_or_else(|| self.damage_of_field(key, "it must be a list on one line")),
        }
    }

    /// Reads the promises. People edit `completion_promise`, so if it differs from the first entry of `promises`, it
    /// replaces that entry.
    fn read_promises(&self) -> Result<Vec<Promise>, LoopRecordDamage> {
        let mut promises: Vec<Promise> = match self.0.frontmatter_value("promises") {
            None | Some(Value::Null) => Vec::new(),
            Some(value) => serde_json::from_value(value.clone()).map_err(|_| {
                self.damage_of_field("promises", "it must be [{\"text\": …, \"outcome\": \"done|blocked\"}]")
            })?,
        };
        match (self.optional_text(PROMISE_KEY), promises.first_mut()) {
            (Some(text), None) => promises.push(Promise { text, outcome: PromiseOutcome::Done }),
            (Some(text), Some(first)) => first.text = text,
            (None, _) => {}
        }
        Ok(promises)
    }

    fn read_deadline(&self) -> Result<Option<String>, LoopRecordDamage> {
        let Some(text) = self.optional_text("deadline") else { return Ok(None) };
        match time::parse_time(&text) {
            Some(_) => Ok(Some(text)),
            None => Err(self.damage_of_field("deadline", &format!("`{text}` is not a valid time"))),
        }
    }

    /// Reads the last stop. An unreadable value is ignored, because the engine can work without it.
    fn read_last_stop(&self) -> Option<LastStop> {
        serde_json::from_value(self.0.frontmatter_value("last_stop")?.clone()).ok()
    }
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
