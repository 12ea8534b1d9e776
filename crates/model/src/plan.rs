//! The plan, with its phases and tasks. `plan.json` is authoritative, and `plan.md` is a view of it. Every change is
//! written to the ledger first.

mod change;
mod check;
mod edit;
pub(crate) mod fields;
mod follow;
mod graph;
mod index;
mod json;
mod ledger;
mod markdown;
mod outline;
mod standing;
mod words;

use serde::{Deserialize, Serialize};

pub use change::{PlanChange, apply_changes, changes_between_plans};
pub use check::{PlanProblem, find_plan_problems};
pub use edit::{
    CompletionEvidence, NewTask, PlanEditRefusal, RefusalKind, TaskFieldChanges, add_phase, add_task,
    append_plan, block_task, complete_task, find_phase, newly_ended_phases, refuse_new_problems, set_task,
    start_task, unblock_task,
};
pub use follow::{LinkedTodos, PlanUpdatedFromTodos, follow_todos, has_task_for_todo};
pub use graph::{GraphLine, draw_graph};
pub use json::{ImportWarning, ImportedPlan, read_json_or_markdown};
pub use ledger::{LedgerComparison, LedgerLine, ReplayedLedger, fold_ledger};
pub use markdown::{is_plan_view_unedited, render_plan};
pub use outline::read_outline as read_markdown;
pub use standing::{PlanStanding, TaskProgress, compare_ids_naturally, current_phase, standing_of_plan};
pub use words::{PhaseNotes, describe_open_dependencies, describe_task, render_phase_record};

use crate::text;
use fields::keeping_the_rest;

/// The version that this build writes. Unknown fields in files of the same major version are kept.
pub const SCHEMA_VERSION: &str = "1.0.0";

keeping_the_rest! {
    pub struct Plan {
        schema_version: String,
        title: String,
        swarm: String,
        /// The phase that a person chose, or `None` if the current phase is derived from the tasks.
        current_phase: Option<u32> = skip Option::is_none,
        phases: Vec<Phase>,
        migration_status: String = skip String::is_empty,
    }
}

/// The value of `migration_status` in a plan that another tool or a person wrote.
const MIGRATED_STATUS: &str = "migrated";

/// The owner of a plan. Only these fields of `plan.json` are parsed, so that reading the owner of a large plan is
/// fast.
#[derive(Debug, Deserialize)]
pub struct PlanOwner {
    #[serde(default)]
    pub swarm: String,
    #[serde(default)]
    migration_status: String,
}

impl PlanOwner {
    /// Parses the owner. Returns `None` if the file cannot be parsed. If the swarm comes before the phases, as in the
    /// files that thru writes, the phases are not parsed. The `migration_status` may then be missing, which does no
    /// harm, because it is used only for plans without a swarm.
    pub fn read(bytes: &[u8]) -> Option<PlanOwner> {
        let head = memchr::memmem::find(bytes, b"\"phases\"").map_or(&bytes[..0], |at| &bytes[..at]);
        let head = head.trim_ascii_end();
        let closed = [head.strip_suffix(b",").unwrap_or(head), b"}"].concat();
        let owner = serde_json::from_slice(&closed).ok();
        owner
            .filter(|owner: &PlanOwner| !owner.swarm.trim().is_empty())
            .or_else(|| serde_json::from_slice(bytes).ok())
    }

    pub fn is_migrated(&self) -> bool {
        self.migration_status == MIGRATED_STATUS
    }
}

keeping_the_rest! {
    pub struct Phase {
        id: u32,
        name: String,
        status: PhaseStatus,
        tasks: Vec<Task>,
    }
}

keeping_the_rest! {
    pub struct Task {
        id: String,
        phase: u32,
        status: TaskStatus,
        size: Option<TaskSize> = skip Option::is_none,
        description: String,
        depends: Vec<String>,
        acceptance: Option<String> = skip Option::is_none,
        files_touched: Vec<String>,
        evidence_path: Option<String> = skip Option::is_none,
        blocked_reason: Option<String> = skip Option::is_none,
        /// The session that is or was working on the task, or `user`.
        claimed_by: Option<String> = skip Option::is_none,
        started_at: Option<String> = skip Option::is_none,
        done_at: Option<String> = skip Option::is_none,
        /// Why the task was completed without evidence.
        without_evidence: Option<String> = skip Option::is_none,
        /// The entry in a harness's own todo list from which the task was created.
        todo: Option<String> = skip Option::is_none,
        /// Whether the harness's list shows the task as done although no evidence exists yet.
        reported_done: bool = skip is_false,
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    #[default]
    Pending,
    InProgress,
    #[serde(alias = "complete", alias = "done")]
    Completed,
    Blocked,
    /// The task is no longer wanted.
    Closed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseStatus {
    #[default]
    Pending,
    InProgress,
    #[serde(alias = "completed", alias = "done")]
    Complete,
    Blocked,
    Closed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskSize {
    Small,
    Medium,
    Large,
}

impl TaskStatus {
    pub const ALL: [TaskStatus; 5] = [
        TaskStatus::Pending,
        TaskStatus::InProgress,
        TaskStatus::Completed,
        TaskStatus::Blocked,
        TaskStatus::Closed,
    ];

    pub fn name(self) -> &'static str {
        match self {
            TaskStatus::Pending => "pending",
            TaskStatus::InProgress => "in_progress",
            TaskStatus::Completed => "completed",
            TaskStatus::Blocked => "blocked",
            TaskStatus::Closed => "closed",
        }
    }

    pub fn parse(word: &str) -> Option<TaskStatus> {
        Some(match normalise_status(word).as_str() {
            "pending" | "todo" | "open" | "not_started" | "ready" | "" => TaskStatus::Pending,
            "in_progress" | "active" | "started" | "wip" | "doing" | "running" => TaskStatus::InProgress,
            "completed" | "complete" | "done" | "finished" | "passed" => TaskStatus::Completed,
            "blocked" | "failed" | "stuck" => TaskStatus::Blocked,
            "closed" | "cancelled" | "canceled" | "skipped" | "dropped" | "wontfix" => TaskStatus::Closed,
            _ => return None,
        })
    }

    /// Returns whether the task is completed or closed. If so, tasks that depend on it may start.
    pub fn is_over(self) -> bool {
        matches!(self, TaskStatus::Completed | TaskStatus::Closed)
    }
}

impl PhaseStatus {
    pub const ALL: [PhaseStatus; 5] = [
        PhaseStatus::Pending,
        PhaseStatus::InProgress,
        PhaseStatus::Complete,
        PhaseStatus::Blocked,
        PhaseStatus::Closed,
    ];

    pub fn name(self) -> &'static str {
        match self {
            PhaseStatus::Pending => "pending",
            PhaseStatus::InProgress => "in_progress",
            PhaseStatus::Complete => "complete",
            PhaseStatus::Blocked => "blocked",
            PhaseStatus::Closed => "closed",
        }
    }

    pub fn parse(word: &str) -> Option<PhaseStatus> {
        TaskStatus::parse(word).map(PhaseStatus::from_task_status)
    }

    pub fn from_task_status(status: TaskStatus) -> PhaseStatus {
        match status {
            TaskStatus::Pending => PhaseStatus::Pending,
            TaskStatus::InProgress => PhaseStatus::InProgress,
            TaskStatus::Completed => PhaseStatus::Complete,
            TaskStatus::Blocked => PhaseStatus::Blocked,
            TaskStatus::Closed => PhaseStatus::Closed,
        }
    }

    pub fn is_over(self) -> bool {
        matches!(self, PhaseStatus::Complete | PhaseStatus::Closed)
    }
}

impl TaskSize {
    pub fn name(self) -> &'static str {
        match self {
            TaskSize::Small => "small",
            TaskSize::Medium => "medium",
            TaskSize::Large => "large",
        }
    }

    pub fn parse(word: &str) -> Option<TaskSize> {
        Some(match word.trim().to_ascii_lowercase().as_str() {
            "small" | "s" | "xs" => TaskSize::Small,
            "medium" | "m" => TaskSize::Medium,
            "large" | "l" | "xl" => TaskSize::Large,
            _ => return None,
        })
    }
}

/// Normalises `IN PROGRESS`, `in-progress` and `in_progress` to one word.
fn normalise_status(word: &str) -> String {
    word.trim().to_lowercase().replace([' ', '-'], "_")
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanUnreadableReason {
    Damaged {
        line: Option<usize>,
        why: String,
    },
    /// The file has a version that this build must not overwrite.
    Foreign {
        why: String,
    },
}

impl Plan {
    pub fn new(title: &str) -> Plan {
        Plan {
            schema_version: SCHEMA_VERSION.to_owned(),
            title: title.to_owned(),
            swarm: "default".to_owned(),
            migration_status: "native".to_owned(),
            ..Plan::default()
        }
    }

    /// Returns whether the plan was imported from a file that another tool or a person wrote.
    pub fn is_migrated(&self) -> bool {
        self.migration_status == MIGRATED_STATUS
    }

    /// Parses a `plan.json` from thru's own store. An older format is converted and marked as `migrated`.
    pub fn parse(bytes: &[u8]) -> Result<Plan, PlanUnreadableReason> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        match read_version(bytes)? {
            PlanVersion::Current => {
                // Checking the whole text for UTF-8 once is faster than checking each string.
                let read = match std::str::from_utf8(bytes) {
                    Ok(text) => serde_json::from_str(text),
                    Err(_) => serde_json::from_slice(bytes),
                };
                let mut plan: Plan = read.map_err(|error| damaged_reason(&error))?;
                plan.set_phase_fields();
                Ok(plan)
            }
            PlanVersion::Missing => Ok(json::read_unversioned_json(bytes)?.plan),
            PlanVersion::Newer(version) => Err(PlanUnreadableReason::Foreign {
                why: format!("schema_version is {version}; this version of thru writes {SCHEMA_VERSION}"),
            }),
        }
    }

    /// Returns the bytes of `plan.json`.
    pub fn to_bytes(&self) -> Vec<u8> {
        // A plan contains only strings, numbers and maps with string keys, so this cannot fail.
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Returns the hash that identifies this plan in the ledger.
    pub fn content_hash(&self) -> String {
        sha256_hex(&self.to_bytes())
    }

    pub fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.phases.iter().flat_map(|phase| &phase.tasks)
    }

    pub fn task(&self, id: &str) -> Option<&Task> {
        self.tasks().find(|task| task.id == id)
    }

    pub fn phase(&self, id: u32) -> Option<&Phase> {
        self.phases.iter().find(|phase| phase.id == id)
    }

    fn task_mut(&mut self, id: &str) -> Option<&mut Task> {
        self.phases.iter_mut().flat_map(|phase| &mut phase.tasks).find(|task| task.id == id)
    }

    fn phase_mut(&mut self, id: u32) -> Option<&mut Phase> {
        self.phases.iter_mut().find(|phase| phase.id == id)
    }

    /// Returns the task id most similar to `typed`, for a hint.
    pub fn nearest_task_id(&self, typed: &str) -> Option<&str> {
        text::nearest_allowed_word(typed, self.tasks().map(|task| task.id.as_str()))
    }

    /// Sets each task's `phase` field to the phase that contains the task.
    fn set_phase_fields(&mut self) {
        for phase in &mut self.phases {
            phase.tasks.iter_mut().for_each(|task| task.phase = phase.id);
        }
    }
}

pub fn sha256_hex(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

enum PlanVersion {
    Current,
    /// The file has no version. Either it was written before versions were introduced, or another tool wrote it.
    Missing,
    Newer(String),
}

fn read_version(bytes: &[u8]) -> Result<PlanVersion, PlanUnreadableReason> {
    // thru writes the version first, so a file that thru wrote need not be parsed just for its version.
    let first = bytes.trim_ascii_start().strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    let value = first.and_then(|rest| rest.strip_prefix(b"\"schema_version\": "));
    if value.is_some_and(|value| value.starts_with(b"\"1.")) {
        return Ok(PlanVersion::Current);
    }
    #[derive(Deserialize)]
    struct VersionField {
        schema_version: Option<serde_json::Value>,
    }
    let head: VersionField = serde_json::from_slice(bytes).map_err(|error| damaged_reason(&error))?;
    let version = match head.schema_version {
        None | Some(serde_json::Value::Null) => return Ok(PlanVersion::Missing),
        Some(serde_json::Value::String(version)) => version,
        Some(other) => other.to_string(),
    };
    match version.split('.').next() {
        Some("1") => Ok(PlanVersion::Current),
        Some("0") => Ok(PlanVersion::Missing),
        _ => Ok(PlanVersion::Newer(version)),
    }
}

fn damaged_reason(error: &serde_json::Error) -> PlanUnreadableReason {
    PlanUnreadableReason::Damaged { line: Some(error.line().max(1)), why: error.to_string() }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
