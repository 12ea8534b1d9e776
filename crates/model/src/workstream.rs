//! Determines a session's active workstream, and reads and writes the small file that preserves it across a
//! compaction.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::digest::Digest;
use crate::manifest::is_workstream_id;
use crate::time;

/// The largest state file that `thru` writes, in bytes.
pub const MAX_WORKSTREAM_STATE_FILE_BYTES: usize = 1024;

/// Folders that contain workstreams, relative to the root.
const WORKSTREAM_FOLDERS: &[&str] = &[".agent/context/workstreams/", "02-projects/"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DetectionConfidence {
    High,
    Medium,
    Low,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DetectionMethod {
    /// Detected from the session's actions or from a manifest that names the session.
    Transcript,
    /// Taken from the last detection.
    Cache,
    Fallback,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DetectedWorkstream {
    pub id: Option<String>,
    pub confidence: DetectionConfidence,
    pub method: DetectionMethod,
}

/// The facts from which the workstream is detected.
#[derive(Clone, Copy, Debug)]
pub struct DetectionFacts<'a> {
    /// The workstream whose manifest names this session.
    pub workstream_naming_session: Option<&'a str>,
    pub digest: &'a Digest,
    /// The ids of the existing workstreams. A path may name a workstream that does not exist.
    pub existing_workstreams: &'a [String],
    /// The result of the last detection.
    pub last_detected: Option<&'a str>,
}

pub fn workstream_of_path(path: &str) -> Option<&str> {
    let rest = WORKSTREAM_FOLDERS.iter().find_map(|home| path.strip_prefix(home))?;
    rest.split_once('/').map(|(id, _)| id).filter(|id| is_workstream_id(id))
}

/// Returns the workstream whose manifest names the session, or else the workstream used most since the last detection,
/// or else the last detected workstream. Older actions are not counted again, because the last detection already
/// included them.
pub fn detect_workstream(clues: &DetectionFacts) -> DetectedWorkstream {
    let found =
        |id: &str, confidence, method| DetectedWorkstream { id: Some(id.to_owned()), confidence, method };
    if let Some(id) = clues.workstream_naming_session {
        return found(id, DetectionConfidence::High, DetectionMethod::Transcript);
    }
    match (find_leader(clues), clues.last_detected) {
        (LeadingWorkstream::One(id), Some(cached)) if id == cached => {
            found(id, DetectionConfidence::High, DetectionMethod::Transcript)
        }
        (LeadingWorkstream::One(id), _) => {
            found(id, DetectionConfidence::Medium, DetectionMethod::Transcript)
        }
        // A session that is working on several workstreams has no active one, even if it had one before.
        (LeadingWorkstream::Many, _) | (LeadingWorkstream::None, None) => DetectedWorkstream {
            id: None,
            confidence: DetectionConfidence::Low,
            method: DetectionMethod::Fallback,
        },
        (LeadingWorkstream::None, Some(cached)) => {
            found(cached, DetectionConfidence::Low, DetectionMethod::Cache)
        }
    }
}

enum LeadingWorkstream<'d> {
    None,
    One(&'d str),
    Many,
}

/// Finds the most used workstream. Edits count more than reads, and later actions count more than earlier ones. Among
/// three or more workstreams, one must have a clear lead.
fn find_leader<'d>(clues: &DetectionFacts<'d>) -> LeadingWorkstream<'d> {
    let DetectionFacts { digest, existing_workstreams: there, .. } = *clues;
    let since = digest.last_compaction_before_work.max(digest.records_at_last_detection);
    let mut weights: BTreeMap<&str, f64> = BTreeMap::new();
    let own = |file: &&crate::digest::FileUse| {
        !file.is_outside_checkout
            && file.last_use_record > since
            && file.edits + file.reads + file.mentions_in_commands > file.uses_by_subagents
    };
    for file in digest.files.iter().filter(own) {
        let Some(id) = workstream_of_path(&file.path).filter(|id| there.iter().any(|there| there == id))
        else {
            continue;
        };
        let uses = 3.0 * f64::from(file.edits) + f64::from(file.reads) + f64::from(file.mentions_in_commands);
        let late = (-(digest.record_count.saturating_sub(file.last_use_record) as f64) / 50.0).exp2();
        *weights.entry(id).or_default() += uses.ln_1p() * (0.25 + late);
    }
    let mut ranked: Vec<(&str, f64)> = weights.into_iter().collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    match ranked.as_slice() {
        [] => LeadingWorkstream::None,
        [(first, weight), (_, second), _, ..] if *weight < 1.5 * second => {
            let _ = first;
            LeadingWorkstream::Many
        }
        [(first, _), ..] => LeadingWorkstream::One(first),
    }
}

/// The content of `precompact_state.json`. It is flat and small, and equal facts always give equal bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorkstreamAtCompaction {
    pub active_project_id: Option<String>,
    pub confidence: DetectionConfidence,
    pub detection_method: DetectionMethod,
    pub timestamp: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_id: Option<String>,
}

impl WorkstreamAtCompaction {
    pub fn into_detected_workstream(self) -> DetectedWorkstream {
        DetectedWorkstream {
            id: self.active_project_id,
            confidence: self.confidence,
            method: self.detection_method,
        }
    }

    pub fn new(
        detected: DetectedWorkstream,
        session: &str,
        root: &str,
        now: Timestamp,
    ) -> WorkstreamAtCompaction {
        WorkstreamAtCompaction {
            active_project_id: detected.id,
            confidence: detected.confidence,
            detection_method: detected.method,
            timestamp: time::to_rfc3339(now),
            session_id: Some(session.to_owned()),
            root_id: Some(root.to_owned()),
        }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Parses the file. Returns an error if the file is too large or is not JSON, if its fields are not at the top
    /// level, or if a field is missing or invalid.
    pub fn parse(bytes: &[u8]) -> Result<WorkstreamAtCompaction, String> {
        if bytes.len() >= MAX_WORKSTREAM_STATE_FILE_BYTES {
            return Err(format!(
                "{} bytes; it must be smaller than {MAX_WORKSTREAM_STATE_FILE_BYTES}",
                bytes.len()
            ));
        }
        let value: Value = serde_json::from_slice(bytes).map_err(|error| format!("not JSON: {error}"))?;
        if value.get("project_detection").is_some() {
            return Err("`project_detection` is nested; its fields must be at the top level".to_owned());
        }
        let text = |key: &str| match value.get(key) {
            None => Err(format!("`{key}` is missing")),
            Some(found) => found.as_str().ok_or_else(|| format!("`{key}` is not a string")),
        };
        let active = match value.get("active_project_id") {
            None => return Err("`active_project_id` is missing".to_owned()),
            Some(Value::Null) => None,
            Some(Value::String(id)) if is_workstream_id(id) => Some(id.clone()),
            Some(other) => return Err(format!("`active_project_id` is {other}, which is not NN-kebab-case")),
        };
        let confidence = match text("confidence")? {
            "high" => DetectionConfidence::High,
            "medium" => DetectionConfidence::Medium,
            "low" => DetectionConfidence::Low,
            other => return Err(format!("`confidence` is `{other}`, not one of high, medium, low")),
        };
        let detection_method = match text("detection_method")? {
            "transcript" => DetectionMethod::Transcript,
            "cache" => DetectionMethod::Cache,
            "fallback" => DetectionMethod::Fallback,
            other => {
                return Err(format!(
                    "`detection_method` is `{other}`, not one of transcript, cache, fallback"
                ));
            }
        };
        let timestamp = text("timestamp")?;
        time::parse_time(timestamp)
            .ok_or_else(|| format!("`timestamp` is `{timestamp}`, which is not a valid time"))?;
        let some = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        Ok(WorkstreamAtCompaction {
            active_project_id: active,
            confidence,
            detection_method,
            timestamp: timestamp.to_owned(),
            session_id: some("session_id"),
            root_id: some("root_id"),
        })
    }
}

#[cfg(test)]
#[path = "workstream_tests.rs"]
mod tests;
