//! Evidence that a task is done. Each task has one bundle, with an entry for each test run, review, diff, approval or
//! note.
//!
//! Only a run that `thru` itself saw is proof: either a command that it ran or a test run in a tool call. The entry
//! of such a run is bound to its files ([`FileListing`]) and becomes stale when they change. Only [`standing`] judges
//! evidence, and all code that shows evidence uses its judgement.

mod import;
mod judged;
mod limits;
mod listing;
mod observed;
mod patch;
mod standing;

use serde_json::{Map, Value};

pub use import::{ForeignEvidence, read_foreign_evidence_file};
pub use judged::{AgentAnswer, entry_of_answer};
pub use limits::{
    MAX_BUNDLE_BYTES, MAX_ENTRIES_PER_BUNDLE, MAX_EVIDENCE_BYTES_PER_TASK, MAX_PATCH_BYTES, TrimmedBundle,
    archive_entries_over_limits, max_old_entries_beside_new_ones, trim_to_count,
};
pub use listing::{FileListing, ListedFileState};
pub use observed::{entry_of_run, task_of_run, verdict_of_run};
pub use patch::{PatchStats, patch_stats};
pub use standing::{
    EvidenceStanding, Freshness, ProofState, judge_evidence, rejecting_entry, tree_hashes_in_effect,
};

use crate::plan::PlanUnreadableReason;
use crate::plan::fields::keeping_the_rest;
use crate::run::TestCounts;
use crate::time;

pub const SCHEMA_VERSION: &str = "1.0.0";

/// The scope of an entry that covers the whole project.
pub const WHOLE_PROJECT_SCOPE: &str = "project";

keeping_the_rest! {
    pub struct EvidenceBundle {
        schema_version: String,
        task_id: String,
        entries: Vec<EvidenceEntry>,
        created_at: String,
        updated_at: String,
    }
}

keeping_the_rest! {
    pub struct EvidenceEntry {
        /// The id of the entry, which prevents the same event from being recorded twice. It is empty in files from
        /// other tools.
        id: String = skip String::is_empty,
        task_id: String,
        /// `review`, `test`, `diff`, `approval` or `note`. Other tools use other types.
        entry_type as "type": String,
        /// Where the entry comes from: `run`, `observed`, `claimed` or `imported`.
        kind: String = skip String::is_empty,
        timestamp: String,
        agent: String,
        /// `pass`, `fail`, `warn`, `skip`, `approved`, `rejected` or `info`.
        verdict: String,
        summary: String,
        metadata: Map<String, Value> = skip Map::is_empty,
        /// This field and the next belong to reviews.
        risk: Option<String> = skip Option::is_none,
        issues: Vec<Value> = skip Vec::is_empty,
        /// This field and the next two belong to test runs.
        tests_passed: Option<u64> = skip Option::is_none,
        tests_failed: Option<u64> = skip Option::is_none,
        failures: Vec<Value> = skip Vec::is_empty,
        /// This field and the next three belong to diffs.
        files_changed: Vec<Value> = skip Vec::is_empty,
        additions: Option<u64> = skip Option::is_none,
        deletions: Option<u64> = skip Option::is_none,
        patch_path: Option<String> = skip Option::is_none,
        command: Option<String> = skip Option::is_none,
        /// The folder in which the command ran, relative to the checkout.
        folder: String = skip String::is_empty,
        exit_code: Option<i64> = skip Option::is_none,
        /// The commit that was checked out when the entry was recorded.
        head: String = skip String::is_empty,
        /// The hash of the files to which the entry is bound.
        tree: String = skip String::is_empty,
        files: Option<u64> = skip Option::is_none,
        /// `project` if the entry covers the whole project. In that case, a new file also makes the entry stale.
        scope: String = skip String::is_empty,
        /// A file that was edited between the start of the command and the writing of the entry. If there is such a
        /// file, the entry is stale from the start.
        changed: String = skip String::is_empty,
    }
}

/// The type of an entry. Unknown types from other tools are kept as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryType {
    Review,
    Test,
    Diff,
    Approval,
    Note,
}

impl EntryType {
    pub const ALL: [EntryType; 5] =
        [EntryType::Review, EntryType::Test, EntryType::Diff, EntryType::Approval, EntryType::Note];

    pub fn name(self) -> &'static str {
        match self {
            EntryType::Review => "review",
            EntryType::Test => "test",
            EntryType::Diff => "diff",
            EntryType::Approval => "approval",
            EntryType::Note => "note",
        }
    }

    pub fn parse(word: &str) -> Option<EntryType> {
        let word = word.trim().to_ascii_lowercase();
        EntryType::ALL.into_iter().find(|known| known.name() == word)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvidenceVerdict {
    Pass,
    Fail,
    Warn,
    Skip,
    Approved,
    Rejected,
    Info,
}

impl EvidenceVerdict {
    pub const ALL: [EvidenceVerdict; 7] = [
        EvidenceVerdict::Pass,
        EvidenceVerdict::Fail,
        EvidenceVerdict::Warn,
        EvidenceVerdict::Skip,
        EvidenceVerdict::Approved,
        EvidenceVerdict::Rejected,
        EvidenceVerdict::Info,
    ];

    pub fn name(self) -> &'static str {
        match self {
            EvidenceVerdict::Pass => "pass",
            EvidenceVerdict::Fail => "fail",
            EvidenceVerdict::Warn => "warn",
            EvidenceVerdict::Skip => "skip",
            EvidenceVerdict::Approved => "approved",
            EvidenceVerdict::Rejected => "rejected",
            EvidenceVerdict::Info => "info",
        }
    }

    pub fn parse(word: &str) -> Option<EvidenceVerdict> {
        let word = word.trim().to_ascii_lowercase();
        EvidenceVerdict::ALL.into_iter().find(|known| known.name() == word)
    }

    pub fn is_good(self) -> bool {
        matches!(self, EvidenceVerdict::Pass | EvidenceVerdict::Approved)
    }

    pub fn is_negative_verdict(self) -> bool {
        matches!(self, EvidenceVerdict::Fail | EvidenceVerdict::Rejected)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvidenceOrigin {
    /// `thru` ran the command.
    Run,
    /// A hook saw the test run.
    Observed,
    /// A person or an agent reported the result.
    Claimed,
    /// Another tool recorded the entry.
    Imported,
}

impl EvidenceOrigin {
    pub fn name(self) -> &'static str {
        match self {
            EvidenceOrigin::Run => "run",
            EvidenceOrigin::Observed => "observed",
            EvidenceOrigin::Claimed => "claimed",
            EvidenceOrigin::Imported => "imported",
        }
    }
}

impl EvidenceEntry {
    /// Returns the verdict. An unknown word is read as information, which is neither good nor bad.
    pub fn verdict(&self) -> EvidenceVerdict {
        EvidenceVerdict::parse(&self.verdict).unwrap_or(EvidenceVerdict::Info)
    }

    pub fn kind(&self) -> EvidenceOrigin {
        match self.kind.as_str() {
            "run" => EvidenceOrigin::Run,
            "observed" => EvidenceOrigin::Observed,
            "imported" => EvidenceOrigin::Imported,
            _ => EvidenceOrigin::Claimed,
        }
    }

    /// Returns whether `thru` itself saw the run.
    pub fn is_seen_by_thru(&self) -> bool {
        matches!(self.kind(), EvidenceOrigin::Run | EvidenceOrigin::Observed)
    }

    /// Returns whether this is a gate that another tool recorded. A gate shows that an agent ran, but not what it
    /// found. Earlier versions imported gates as verdicts.
    pub fn is_imported_gate(&self) -> bool {
        self.kind() == EvidenceOrigin::Imported && self.metadata.contains_key("gate")
    }

    /// Describes the entry in one line for a person.
    pub fn describe(&self) -> String {
        let verdict = crate::render::one_line(&self.verdict, 40);
        format!("{verdict}: {}", standing::describe_entry(self, crate::render::one_line))
    }

    pub fn covers_whole_project(&self) -> bool {
        self.scope == WHOLE_PROJECT_SCOPE
    }

    /// Returns the counts of a test run, such as `12 passed, 1 failed`, or `None` if there are none.
    pub fn test_counts(&self) -> Option<TestCounts> {
        let counts = TestCounts { passed: self.tests_passed, failed: self.tests_failed };
        (counts != TestCounts::default()).then_some(counts)
    }
}

impl EvidenceBundle {
    pub fn new(task: &str, at: &str) -> EvidenceBundle {
        EvidenceBundle {
            schema_version: SCHEMA_VERSION.to_owned(),
            task_id: task.to_owned(),
            created_at: at.to_owned(),
            updated_at: at.to_owned(),
            ..EvidenceBundle::default()
        }
    }

    pub fn parse(bytes: &[u8]) -> Result<EvidenceBundle, PlanUnreadableReason> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let bundle: EvidenceBundle = serde_json::from_slice(bytes).map_err(|error| {
            PlanUnreadableReason::Damaged { line: Some(error.line().max(1)), why: error.to_string() }
        })?;
        match bundle.schema_version.split('.').next() {
            Some("1" | "0" | "") => Ok(bundle),
            _ => Err(PlanUnreadableReason::Foreign {
                why: format!(
                    "schema_version is {}; this version of thru writes {SCHEMA_VERSION}",
                    crate::render::one_line(&bundle.schema_version, 40)
                ),
            }),
        }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        // A bundle contains only strings, numbers and maps with string keys, so this cannot fail.
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Inserts an entry in chronological order, because observed runs and imports may be recorded late. Returns false
    /// if the same entry already exists.
    pub fn add_entry(&mut self, entry: EvidenceEntry) -> bool {
        let is_known = !entry.id.is_empty() && self.entries.iter().any(|known| known.id == entry.id);
        if !is_known {
            // An entry with an invalid time comes first. Otherwise it could settle a failure that may in fact be newer.
            let when = |entry: &EvidenceEntry| time::parse_time(&entry.timestamp);
            let before = self.entries.iter().rposition(|known| when(known) <= when(&entry));
            let at = before.map_or(0, |before| before + 1);
            if at == self.entries.len() {
                self.updated_at.clone_from(&entry.timestamp);
            }
            self.entries.insert(at, entry);
        }
        !is_known
    }
}

#[cfg(test)]
#[path = "evidence_tests.rs"]
mod tests;
