//! The plan on disk: `plan.json`, `plan.md` for people to read, and the ledger, which is always written first.

use std::time::Duration;

use model::event::TodoStatus;
use model::plan::{LedgerLine, LinkedTodos, Plan, PlanUnreadableReason};
use serde::Deserialize;

use crate::{Durability, Error, LineTally, Lock, Result, SessionState, Store, layout};

/// The size limit of a plan. No real plan is this large.
const MAX_PLAN_FILE_BYTES: usize = 64 * 1024 * 1024;

/// The fields of the ledger's last line that are needed to check whether `plan.json` matches the ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct LastLedgerLine {
    pub seq: u64,
    #[serde(rename = "before")]
    pub hash_before: String,
    #[serde(rename = "after")]
    pub hash_after: String,
}

impl Store {
    /// Takes the lock that is held while the plan is read, changed and written.
    pub fn lock_plan(&self, wait: Duration) -> Result<Lock> {
        self.lock_by_path(layout::PLAN_LOCK, wait)
    }

    /// Returns the bytes of `plan.json`, or `None` if it does not exist.
    pub fn read_plan_bytes(&self) -> Result<Option<Vec<u8>>> {
        self.read_if_exists(layout::PLAN_FILE)
    }

    pub fn read_plan_view(&self) -> Result<Option<Vec<u8>>> {
        self.read_if_exists(layout::PLAN_VIEW_FILE)
    }

    pub fn parse_plan(&self, bytes: &[u8]) -> Result<Plan> {
        let path = || self.dir().path().join(layout::PLAN_FILE);
        Plan::parse(bytes).map_err(|problem| match problem {
            PlanUnreadableReason::Damaged { line, why } => Error::Damaged { path: path(), line, why },
            PlanUnreadableReason::Foreign { why } => Error::Foreign { path: path(), why },
        })
    }

    pub fn read_plan_ledger(&self) -> Result<(Vec<LedgerLine>, LineTally)> {
        let mut lines = Vec::new();
        let tally = self.dir().each_record(layout::PLAN_LEDGER, |line| lines.push(line))?;
        Ok((lines, tally))
    }

    /// Returns the fields of the ledger's last complete line, without reading the whole ledger.
    pub fn read_last_plan_ledger_line(&self) -> Result<Option<LastLedgerLine>> {
        // Most lines contain a single task, so a small window is tried first. A line can contain a whole plan.
        for window in [8 * 1024, 1024 * 1024, u64::MAX] {
            let tail = match self.dir().read_tail(layout::PLAN_LEDGER, window) {
                Err(Error::Absent { .. }) => return Ok(None),
                tail => tail?,
            };
            // Search backwards from the end, because a line can be as long as the plan.
            let mut rest = tail.as_slice();
            while !rest.is_empty() {
                let start = memchr::memrchr(b'\n', rest).map_or(0, |end| end + 1);
                if let Ok(end) = serde_json::from_slice(&ledger_line_without_changes(&rest[start..])) {
                    return Ok(Some(end));
                }
                rest = &rest[..start.saturating_sub(1)];
            }
        }
        Ok(None)
    }

    /// Appends the ledger lines and then writes the plan. Both are on disk when this returns.
    pub fn write_plan(&self, lines: &[LedgerLine], plan: &Plan) -> Result<()> {
        let lines: Vec<Vec<u8>> = lines.iter().map(LedgerLine::to_bytes).collect();
        self.dir().append_lines_synced(layout::PLAN_LEDGER, &lines)?;
        self.dir().write(layout::PLAN_FILE, &plan.to_bytes(), Durability::Synced)
    }

    pub fn write_plan_view(&self, view: &str) -> Result<()> {
        self.dir().write(layout::PLAN_VIEW_FILE, view.as_bytes(), Durability::Relaxed)
    }

    fn read_if_exists(&self, rel: &str) -> Result<Option<Vec<u8>>> {
        match self.dir().read_file(rel, MAX_PLAN_FILE_BYTES) {
            Err(Error::Absent { .. }) => Ok(None),
            bytes => bytes.map(Some),
        }
    }
}

/// Returns a complete ledger line without its changes, which can contain a whole plan. The changes are the last
/// field, and no string can contain that field's name unescaped. An incomplete line is returned unchanged.
fn ledger_line_without_changes(line: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    const CHANGES_FIELD_START: &[u8] = b",\"changes\":[";
    let at = line
        .windows(CHANGES_FIELD_START.len())
        .take(MAX_LINE_HEAD_BYTES)
        .position(|part| part == CHANGES_FIELD_START);
    match at.filter(|_| line.ends_with(b"}}]}")) {
        Some(at) => [&line[..at], b"}"].concat().into(),
        None => line.into(),
    }
}

/// If the part of the line before the changes is longer than this, the whole line is parsed.
const MAX_LINE_HEAD_BYTES: usize = 16 * 1024;

/// The file has one line for each entry in the task list, with the entry's fingerprint and state.
impl SessionState for LinkedTodos {
    const STATE_FOLDER: &'static str = layout::PLAN_TODOS_FOLDER;
    const MAX_STATE_FILE_BYTES: usize = 64 * 1024;

    fn parse(bytes: &[u8]) -> std::result::Result<LinkedTodos, String> {
        let read = |line: &str| {
            let (mark, status) = line.split_once(' ')?;
            let status = match status {
                "pending" => TodoStatus::Pending,
                "in_progress" => TodoStatus::InProgress,
                "completed" => TodoStatus::Completed,
                _ => return None,
            };
            Some((u64::from_str_radix(mark, 16).ok()?, status))
        };
        Ok(LinkedTodos { last_statuses: String::from_utf8_lossy(bytes).lines().filter_map(read).collect() })
    }

    fn to_bytes(&self) -> Vec<u8> {
        let word = |status: &TodoStatus| match status {
            TodoStatus::Pending | TodoStatus::Deleted => "pending",
            TodoStatus::InProgress => "in_progress",
            TodoStatus::Completed => "completed",
        };
        let lines = self.last_statuses.iter().map(|(mark, status)| format!("{mark:016x} {}\n", word(status)));
        lines.collect::<String>().into_bytes()
    }
}
