//! Packets. A packet is one handoff: a markdown record that people can edit and tools can read.

mod choose;
mod compose;
pub mod confirm;
pub mod drift;
pub mod import;
pub mod pickup;
mod quoted;
mod slug;
mod validate;
pub mod words;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::document::Document;
use crate::time;

pub use choose::work_named_by_goal;
pub use compose::{
    ContinuedPacket, ContinuedSession, GitFacts, NONE_RECORDED, PacketDraft, PacketMaterial,
    REASON_TO_RUN_CHECK, check_to_begin_with, compose_packet, is_title_of_finished_work,
};
pub use quoted::{QuotedMessage, is_purpose_part_of_message, remaining_messages};
pub use slug::{readable_slug, slug_of_purpose};
pub use validate::validate_packet;

/// The first of a packet's level-2 headings. The constants below are the other headings, in the order of a packet.
pub const INTENT_HEADING: &str = "Intent";
pub const CONTEXT_HEADING: &str = "Context";
pub const CONSTRAINTS_HEADING: &str = "Constraints";
pub const DECISIONS_HEADING: &str = "Decisions";
pub const RELEVANT_FILES_HEADING: &str = "Relevant Files";
pub const NEXT_PROMPT_HEADING: &str = "Next Prompt (Draft)";
pub const PLAN_HEADING: &str = "Plan";
pub const VALIDATORS_HEADING: &str = "Validators / Exit Criteria";
pub const QUESTIONS_HEADING: &str = "Open Questions";
pub const NOTES_HEADING: &str = "Notes";

pub const ALL_HEADINGS: &[&str] = &[
    INTENT_HEADING,
    CONTEXT_HEADING,
    CONSTRAINTS_HEADING,
    DECISIONS_HEADING,
    RELEVANT_FILES_HEADING,
    NEXT_PROMPT_HEADING,
    PLAN_HEADING,
    VALIDATORS_HEADING,
    QUESTIONS_HEADING,
    NOTES_HEADING,
];

/// The prefix of a constraint that quotes the user.
pub const USER_QUOTE_PREFIX: &str = "the user: ";

/// The frontmatter field in which a finished packet records the packet that continues it.
pub const CONTINUED_BY_FIELD: &str = "continued_by";

/// The first of the two level-3 headings below [`RELEVANT_FILES_HEADING`].
pub const CONFIRMED_FILES_HEADING: &str = "Confirmed";
pub const SUGGESTED_HEADING: &str = "Suggested";

/// The schema version that this build reads and writes. A packet without a version has version 1.
pub const SCHEMA_VERSION: i64 = 1;

/// The allowed values of `source`, which are part of the format. A test in `ops` checks that every harness is
/// included.
pub const ALLOWED_PACKET_SOURCES: &[&str] =
    &["claude-code", "droid", "opencode", "codex", "gemini", "unknown", "factory", "claude", "open-code"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PacketStatus {
    Draft,
    Active,
    Done,
    Blocked,
}

impl PacketStatus {
    pub const ALL: [PacketStatus; 4] =
        [PacketStatus::Draft, PacketStatus::Active, PacketStatus::Done, PacketStatus::Blocked];

    pub fn parse(text: &str) -> Option<PacketStatus> {
        PacketStatus::ALL.into_iter().find(|status| status.name() == text.trim())
    }

    pub fn name(self) -> &'static str {
        match self {
            PacketStatus::Draft => "draft",
            PacketStatus::Active => "active",
            PacketStatus::Done => "done",
            PacketStatus::Blocked => "blocked",
        }
    }
}

/// The frontmatter of a packet. Missing or invalid fields are left empty. [`validate`] reports them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Packet {
    pub id: String,
    pub created_at: String,
    pub updated_at: String,
    pub status: Option<PacketStatus>,
    pub purpose: String,
    pub source: String,
    pub session_id: String,
    pub transcript_path: String,
    pub confirmed: Vec<String>,
    pub suggested: Vec<String>,
    pub validators: Vec<String>,
    pub loop_promise: Option<String>,
    pub loop_max_iterations: i64,
    pub project_id: String,
    pub head: String,
    pub branch: String,
    pub dirty: Option<i64>,
    pub claimed_by: String,
    pub claimed_at: String,
    /// The packet that continues this one, or empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub continued_by: String,
    /// File paths, each with a fingerprint of the file's content when the packet was written.
    #[serde(skip)]
    pub files_seen: Vec<(String, String)>,
    /// The last observed run of each validator.
    pub checks_seen: Vec<RecordedCheck>,
    /// A fingerprint of all uncommitted files with their content, or empty if it is unknown.
    #[serde(skip)]
    pub fingerprint_of_changes: String,
}

/// The last run of a validator before the packet was written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordedCheck {
    pub command: String,
    pub ok: bool,
    /// Whether the result is unknown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unknown: bool,
    /// Whether a file was edited after the run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub edited_since: bool,
    pub at: String,
}

impl Packet {
    /// Reads a packet. Files that are listed as confirmed only in the packet's text are included, because a person
    /// added them there.
    pub fn read_with_listed_files(document: &Document, name: &str) -> Packet {
        let mut packet = Packet::read_frontmatter(document, name);
        for file in confirm::files_listed_as_confirmed(document) {
            if !packet.confirmed.contains(&file) {
                packet.confirmed.push(file);
            }
        }
        packet
    }

    /// Reads the frontmatter. The id is `name`, which is the file name without its extension. The field `id` is
    /// ignored.
    pub fn read_frontmatter(document: &Document, name: &str) -> Packet {
        let text = |key: &str| document.frontmatter_text(key).unwrap_or_default().trim().to_owned();
        let list = |key: &str| document.frontmatter_list(key).unwrap_or_default();
        Packet {
            id: name.to_owned(),
            created_at: text("created_at"),
            updated_at: text("updated_at"),
            status: PacketStatus::parse(&text("status")),
            purpose: text("purpose"),
            source: current_source_name(&text("source")).to_owned(),
            session_id: text("session_id"),
            transcript_path: text("transcript_path"),
            confirmed: list("relevant_files_confirmed"),
            suggested: list("relevant_files_suggested"),
            validators: list("validators"),
            loop_promise: Some(text("loop_promise"))
                .filter(|promise| !promise.is_empty() && promise != "null"),
            loop_max_iterations: document.frontmatter_integer("loop_max_iterations").unwrap_or(0),
            project_id: text("project_id"),
            head: text("head"),
            branch: text("branch"),
            dirty: document.frontmatter_integer("dirty"),
            claimed_by: text("claimed_by"),
            claimed_at: text("claimed_at"),
            continued_by: text(CONTINUED_BY_FIELD),
            files_seen: text_pairs(document.frontmatter_value("files_seen")),
            checks_seen: document
                .frontmatter_value("checks_seen")
                .and_then(|value| serde_json::from_value(value.clone()).ok())
                .unwrap_or_default(),
            fingerprint_of_changes: text("changes_seen"),
        }
    }

    /// Returns the confirmed files, then the suggested files, without duplicates.
    pub fn confirmed_and_suggested_files(&self) -> Vec<&str> {
        let mut files: Vec<&str> = Vec::new();
        for path in self.confirmed.iter().chain(&self.suggested) {
            if !files.contains(&path.as_str()) {
                files.push(path);
            }
        }
        files
    }
}

fn text_pairs(value: Option<&Value>) -> Vec<(String, String)> {
    let object = value.and_then(Value::as_object);
    let pair = |(path, digest): (&String, &Value)| Some((path.clone(), digest.as_str()?.to_owned()));
    object.into_iter().flatten().filter_map(pair).collect()
}

/// Maps the source names in older files to current ones.
fn current_source_name(source: &str) -> &str {
    match source {
        "factory" => "droid",
        "claude" => "claude-code",
        other => other,
    }
}

/// Returns the n-th candidate for a new packet's id: `<ts>-<slug>`, then the same with `-2`, `-3` and so on.
pub fn packet_id(now: Timestamp, purpose: &str, n: usize) -> String {
    let first = format!("{}-{}", time::format_time_for_file_name(now), slug_of_purpose(purpose));
    if n < 2 { first } else { format!("{first}-{n}") }
}

/// Returns the packet's schema version if it is newer than this build supports.
pub fn schema_version_if_too_new(document: &Document) -> Option<i64> {
    document.frontmatter_integer("schema_version").filter(|version| *version > SCHEMA_VERSION)
}

#[cfg(test)]
#[path = "packet_tests.rs"]
mod tests;
