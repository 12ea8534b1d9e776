//! `root.json`, the marker that makes a folder a root.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The project id that [`RootMarker::placeholder`] uses.
const NIL_PROJECT_ID: &str = "00000000-0000-0000-0000-000000000000";

/// The newest layout of `.agent/context/` that this version can write.
pub const NEWEST_STORE_VERSION: u64 = 1;

/// Which parts of the store are in git.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SharingMode {
    /// Nothing is in git. Git ignores the whole store.
    Private,
    /// The records are in git. Git still ignores journals, indexes and state.
    Shared,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootMarker {
    pub project_id: ProjectId,
    pub name: String,
    pub created_at: String,
    pub mode: SharingMode,
    pub last_session: Option<String>,
}

/// A UUID in canonical form. Other forms are refused, because the id is also the file name of the trust record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ProjectId(String);

impl ProjectId {
    pub fn new(text: &str) -> Option<ProjectId> {
        let shaped = text.len() == 36
            && text.bytes().enumerate().all(|(i, b)| match i {
                8 | 13 | 18 | 23 => b == b'-',
                _ => b.is_ascii_digit() || (b'a'..=b'f').contains(&b),
            });
        shaped.then(|| ProjectId(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl RootMarker {
    /// Returns the project id, or `None` for a folder without a marker.
    pub fn project_id(&self) -> Option<&str> {
        Some(self.project_id.as_str()).filter(|id| *id != NIL_PROJECT_ID)
    }

    /// Returns a placeholder marker for a store without a `root.json`. Such a store can never be trusted.
    pub fn placeholder() -> RootMarker {
        RootMarker {
            project_id: ProjectId(NIL_PROJECT_ID.to_owned()),
            name: String::new(),
            created_at: String::new(),
            mode: SharingMode::Private,
            last_session: None,
        }
    }
}

/// Why a `root.json` cannot be used. The store itself reports missing and unreadable files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootMarkerProblem {
    Damaged { line: usize, why: String },
    Foreign { why: String },
}

/// The raw fields of the file. They are parsed one by one, so that a field of the wrong type does not hide the
/// others.
#[derive(Deserialize)]
struct RawRootMarker<'a> {
    #[serde(borrow)]
    schema_version: Option<&'a RawValue>,
    #[serde(borrow)]
    project_id: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    created_at: Option<&'a RawValue>,
    #[serde(borrow)]
    mode: Option<&'a RawValue>,
    #[serde(borrow)]
    last_session: Option<&'a RawValue>,
}

pub fn parse_root_marker(bytes: &[u8]) -> Result<RootMarker, RootMarkerProblem> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.is_empty() {
        return Err(RootMarkerProblem::Damaged { line: 1, why: "the file is empty".to_owned() });
    }
    if !bytes.trim_ascii_start().starts_with(b"{") {
        let why = "not a valid marker: it is not a JSON object".to_owned();
        return Err(RootMarkerProblem::Damaged { line: 1, why });
    }
    let wire: RawRootMarker = serde_json::from_slice(bytes).map_err(|e| RootMarkerProblem::Damaged {
        line: e.line().max(1),
        why: format!("not a valid marker: {e}"),
    })?;
    let version =
        wire.schema_version.and_then(number_value).ok_or_else(|| missing_field_problem("schema_version"))?;
    if version > NEWEST_STORE_VERSION {
        return Err(RootMarkerProblem::Foreign {
            why: format!(
                "schema_version is {version}; this version of thru supports up to {NEWEST_STORE_VERSION}"
            ),
        });
    }
    let project_id = wire
        .project_id
        .and_then(string_value)
        .and_then(|id| ProjectId::new(&id))
        .ok_or_else(|| missing_field_problem("project_id (a lower-case uuid)"))?;
    Ok(RootMarker {
        project_id,
        name: wire.name.and_then(string_value).unwrap_or_default(),
        created_at: wire.created_at.and_then(string_value).unwrap_or_default(),
        mode: match wire.mode.and_then(string_value).as_deref() {
            Some("shared") => SharingMode::Shared,
            _ => SharingMode::Private,
        },
        last_session: wire.last_session.and_then(string_value),
    })
}

/// Returns the bytes of a new `root.json`.
pub fn render_root_marker(marker: &RootMarker) -> Vec<u8> {
    let mut fields = Map::new();
    fields.insert("schema_version".into(), NEWEST_STORE_VERSION.into());
    fields.insert("project_id".into(), marker.project_id.as_str().into());
    fields.insert("name".into(), marker.name.as_str().into());
    fields.insert("created_at".into(), marker.created_at.as_str().into());
    fields
        .insert("mode".into(), if marker.mode == SharingMode::Shared { "shared" } else { "private" }.into());
    to_pretty_json(&Value::Object(fields))
}

/// Returns the file with a new `last_session`, or `None` if nothing changes. Unknown keys are kept, in order.
pub fn with_last_session(bytes: &[u8], session: &str) -> Option<Vec<u8>> {
    let mut value: Value = serde_json::from_slice(bytes).ok()?;
    let fields = value.as_object_mut()?;
    if fields.get("last_session").and_then(Value::as_str) == Some(session) {
        return None;
    }
    fields.insert("last_session".into(), session.into());
    Some(to_pretty_json(&value))
}

fn to_pretty_json(value: &Value) -> Vec<u8> {
    format!("{value:#}\n").into_bytes()
}

fn missing_field_problem(field: &str) -> RootMarkerProblem {
    RootMarkerProblem::Damaged { line: 1, why: format!("it has no usable {field}") }
}

fn string_value(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

fn number_value(raw: &RawValue) -> Option<u64> {
    let text = raw.get().trim_matches('"');
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST_PROJECT_ID: &str = "0199f0a2-1111-7abc-8def-0123456789ab";

    #[test]
    fn what_is_written_reads_back() {
        let marker = RootMarker {
            project_id: ProjectId::new(TEST_PROJECT_ID).unwrap(),
            name: "demo \"x\"".into(),
            created_at: "2026-11-15T19:22:00Z".into(),
            mode: SharingMode::Shared,
            last_session: None,
        };
        assert_eq!(parse_root_marker(&render_root_marker(&marker)), Ok(marker));
    }

    #[test]
    fn unknown_keys_and_their_order_survive_an_edit() {
        let before = format!(
            r#"{{"zebra": 1, "schema_version": 1, "project_id": "{TEST_PROJECT_ID}", "apple": {{"b": 1, "a": 2}}}}"#
        );
        let after = String::from_utf8(with_last_session(before.as_bytes(), "s1").unwrap()).unwrap();
        let place = |key: &str| after.find(key).unwrap();
        assert!(place("zebra") < place("schema_version") && place("\"b\"") < place("\"a\""), "{after}");
        assert_eq!(parse_root_marker(after.as_bytes()).unwrap().last_session.as_deref(), Some("s1"));
        assert_eq!(with_last_session(after.as_bytes(), "s1"), None, "the session is still the same");
    }

    #[test]
    fn damaged_and_foreign_are_told_apart() {
        let damaged =
            |text: &str| matches!(parse_root_marker(text.as_bytes()), Err(RootMarkerProblem::Damaged { .. }));
        for text in
            ["", "{", "[]", "null", "{}", r#"{"schema_version":1}"#, r#"{"schema_version":1,"project_id":7}"#]
        {
            assert!(damaged(text), "{text}");
        }
        assert!(damaged(r#"{"schema_version":1,"project_id":"../../../etc/passwd"}"#));
        let newer = format!(r#"{{"schema_version":2,"project_id":"{TEST_PROJECT_ID}"}}"#);
        assert!(matches!(parse_root_marker(newer.as_bytes()), Err(RootMarkerProblem::Foreign { .. })));
        let odd = format!(
            r#"{{"schema_version":1,"project_id":"{TEST_PROJECT_ID}","name":7,"mode":[],"created_at":{{}}}}"#
        );
        assert_eq!(parse_root_marker(odd.as_bytes()).unwrap().name, "");
    }
}
