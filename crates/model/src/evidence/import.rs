//! Reads evidence in the layout of opencode-swarm: bundles, the gates of a task, verdicts of phase verifiers, and other
//! files.

use serde_json::{Map, Value};

use super::{EntryType, EvidenceEntry, EvidenceOrigin, EvidenceVerdict};
use crate::id::Id;
use crate::text::fnv_fingerprint;

/// The content of a file in another tool's evidence folder.
#[derive(Clone, Debug, PartialEq)]
pub enum ForeignEvidence {
    Evidence {
        task: String,
        entries: Vec<EvidenceEntry>,
    },
    /// The file is not evidence. The string describes what it is.
    NotEvidence(&'static str),
}

/// Reads a file. `path` is relative to the evidence folder. The error describes why the file cannot be read.
pub fn read_foreign_evidence_file(path: &str, bytes: &[u8]) -> Result<ForeignEvidence, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let Value::Object(fields) = serde_json::from_slice::<Value>(bytes).map_err(|error| error.to_string())?
    else {
        return Err("it is not a JSON object".to_owned());
    };
    if file_stem(path).starts_with("agent-tools-") {
        return Ok(ForeignEvidence::NotEvidence("a list of the tools that agents had"));
    }
    if path.starts_with("sbom/") {
        return Ok(ForeignEvidence::NotEvidence("a bill of materials"));
    }
    let task = task_of_file(path, &fields);
    let entries: Vec<EvidenceEntry> = match (fields.get("entries"), fields.get("gates")) {
        (Some(Value::Array(entries)), _) => {
            entries.iter().map(|entry| entry_of_bundle(&task, entry)).collect()
        }
        (_, Some(Value::Object(gates))) => entries_of_gates(&task, &fields, gates),
        _ => vec![note_of_any_file(&task, path, &Value::Object(fields))],
    };
    Ok(ForeignEvidence::Evidence { task, entries })
}

/// Returns the task named in the file's content, or else the name of the file's folder, or else the file's own name. A
/// number after a space is removed, because macOS gives a copy of `2.1.json` the name `2.1 2.json`.
fn task_of_file(path: &str, fields: &Map<String, Value>) -> String {
    let said = ["task_id", "taskId"].iter().find_map(|key| fields.get(*key)?.as_str());
    if let Some(said) = said.and_then(|said| Id::new(said.trim()).ok()) {
        return said.to_string();
    }
    let folder = path.rsplit_once('/').map(|(folder, _)| folder.replace('/', "."));
    let name = folder.unwrap_or_else(|| file_stem(path).to_owned());
    let name = match name.rsplit_once(' ') {
        Some((name, copy)) if copy.bytes().all(|b| b.is_ascii_digit()) => name.to_owned(),
        _ => name,
    };
    // `2.3-screening-decision` belongs to task 2.3.
    let number = name.split('-').next().unwrap_or_default();
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let name = if is_number { number } else { &name };
    Id::new(name).map_or_else(|_| to_valid_id(name), |id| id.to_string())
}

/// Turns any name into a valid id.
fn to_valid_id(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '_' };
    let name: String = name.chars().map(kept).take(64).collect();
    let name: Vec<&str> = name.split('.').filter(|part| !part.is_empty()).collect();
    let name = format!("_{}", name.join(".").trim_start_matches('-'));
    Id::new(&name).map_or_else(|_| "_imported".to_owned(), |id| id.to_string())
}

fn file_stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".json").unwrap_or(name)
}

/// Reads an entry of a bundle. If a field has an unexpected type, the whole original entry is kept in the metadata.
fn entry_of_bundle(task: &str, value: &Value) -> EvidenceEntry {
    let mut entry = match serde_json::from_value::<EvidenceEntry>(value.clone()) {
        Ok(entry) => entry,
        Err(_) => {
            let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            let mut entry = EvidenceEntry {
                entry_type: text("type"),
                timestamp: text("timestamp"),
                agent: text("agent"),
                verdict: text("verdict"),
                summary: text("summary"),
                ..EvidenceEntry::default()
            };
            entry.metadata.insert("original".to_owned(), value.clone());
            entry
        }
    };
    if entry.entry_type.is_empty() {
        entry.entry_type = EntryType::Note.name().to_owned();
    }
    if entry.verdict.is_empty() {
        entry.verdict = EvidenceVerdict::Info.name().to_owned();
    }
    with_import_id(task, entry, value)
}

/// Reads `{taskId, required_gates, gates: {reviewer: {sessionId, timestamp, agent}}}`. A gate shows that an agent ran,
/// but not what it found, so it becomes a note.
fn entries_of_gates(
    task: &str,
    fields: &Map<String, Value>,
    gates: &Map<String, Value>,
) -> Vec<EvidenceEntry> {
    let required = fields.get("required_gates").cloned().unwrap_or_default();
    let of_gate = |(name, gate): (&String, &Value)| {
        let text = |key: &str| gate.get(key).and_then(Value::as_str).map(str::to_owned);
        let mut entry = EvidenceEntry {
            entry_type: EntryType::Note.name().to_owned(),
            timestamp: text("timestamp").unwrap_or_default(),
            agent: text("agent").unwrap_or_else(|| name.clone()),
            verdict: EvidenceVerdict::Info.name().to_owned(),
            summary: format!("the gate {name} was passed in another tool, which did not record the verdict"),
            ..EvidenceEntry::default()
        };
        entry.metadata.insert("gate".to_owned(), gate.clone());
        entry.metadata.insert("required_gates".to_owned(), required.clone());
        with_import_id(task, entry, &serde_json::json!([name, gate]))
    };
    let mut entries: Vec<EvidenceEntry> = gates.iter().map(of_gate).collect();
    let has_gates = !entries.is_empty();
    if !has_gates {
        let mut entry = EvidenceEntry {
            entry_type: EntryType::Note.name().to_owned(),
            verdict: EvidenceVerdict::Info.name().to_owned(),
            summary: "no gate has been passed yet".to_owned(),
            ..EvidenceEntry::default()
        };
        entry.metadata.insert("required_gates".to_owned(), required.clone());
        entries.push(with_import_id(task, entry, &serde_json::json!(["no gates", required])));
    }
    entries
}

/// Turns any other file into a note that contains the file's whole content.
fn note_of_any_file(task: &str, path: &str, value: &Value) -> EvidenceEntry {
    let text = |keys: &[&str]| keys.iter().find_map(|key| value.get(*key)?.as_str()).map(str::to_owned);
    let verdict = text(&["verdict", "status"])
        .and_then(|word| EvidenceVerdict::parse(&word))
        .unwrap_or(EvidenceVerdict::Info);
    let said = text(&["summary", "rationale", "message", "recommendation"]);
    let mut entry = EvidenceEntry {
        entry_type: EntryType::Note.name().to_owned(),
        timestamp: text(&["timestamp", "generated_at", "generatedAt", "created_at"]).unwrap_or_default(),
        agent: text(&["agent"]).unwrap_or_default(),
        verdict: verdict.name().to_owned(),
        summary: said.map_or_else(|| path.to_owned(), |said| format!("{}: {said}", file_stem(path))),
        ..EvidenceEntry::default()
    };
    entry.metadata.insert("original".to_owned(), value.clone());
    with_import_id(task, entry, value)
}

/// Gives the entry an id that is derived from its content, so that a second import is recognised.
fn with_import_id(task: &str, entry: EvidenceEntry, original: &Value) -> EvidenceEntry {
    let mark = fnv_fingerprint([task, &original.to_string()]);
    let task_id = if entry.task_id.is_empty() { task.to_owned() } else { entry.task_id };
    EvidenceEntry {
        id: format!("i-{mark:016x}"),
        task_id,
        kind: EvidenceOrigin::Imported.name().to_owned(),
        ..entry
    }
}
