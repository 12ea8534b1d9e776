//! `plan-ledger.jsonl` has one line for every change, written before `plan.json`. The plan can be rebuilt from these
//! lines.

use serde::{Deserialize, Serialize};

use super::{Plan, PlanChange, apply_changes, changes_between_plans};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LedgerLine {
    pub seq: u64,
    pub ts: String,
    /// A readable name for the kind of change, such as `task_started`, `task_done` or `imported`.
    #[serde(rename = "what")]
    pub change_kind: String,
    /// The task or phase that changed. It is empty if the change concerns the whole plan.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The session that made the change, or `user`.
    #[serde(rename = "by")]
    pub author: String,
    /// The hash of `plan.json` before the change. It is empty if the file did not exist.
    #[serde(rename = "before")]
    pub hash_before: String,
    #[serde(rename = "after")]
    pub hash_after: String,
    /// The hash of the edited file, if this line records an edit by hand.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[serde(rename = "adopted")]
    pub edited_file_hash: String,
    /// The reason for the change, if one was required.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    pub changes: Vec<PlanChange>,
}

impl LedgerLine {
    /// Returns the line for a change to a plan. `hash_before` is the old plan, whose hash goes into the line, and
    /// `after` is the new plan. The line also contains the hash of the new plan and the changes. If there is no
    /// old plan, the line contains the whole new plan instead of the changes.
    pub fn of_change(seq: u64, hash_before: Option<&Plan>, after: &Plan) -> LedgerLine {
        let changes = match hash_before {
            Some(hash_before) => changes_between_plans(hash_before, after),
            None => vec![PlanChange::Plan(Box::new(after.clone()))],
        };
        let hash_before = hash_before.map(Plan::content_hash).unwrap_or_default();
        LedgerLine { seq, hash_before, hash_after: after.content_hash(), changes, ..LedgerLine::default() }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// The result of replaying a ledger.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplayedLedger {
    /// The plan, or `None` if the ledger is empty.
    pub plan: Option<Plan>,
    pub last_line: Option<LedgerLine>,
    pub lines: usize,
    /// The sequence numbers of lines whose `hash_before` differs from the `hash_after` of the line before them.
    pub discontinuous_seqs: Vec<u64>,
}

/// Replays the lines, oldest first.
pub fn fold_ledger(lines: impl IntoIterator<Item = LedgerLine>) -> ReplayedLedger {
    let mut fold = ReplayedLedger::default();
    for line in lines {
        fold.lines += 1;
        let starts_anew = matches!(line.changes.as_slice(), [PlanChange::Plan(_), ..]);
        let follows = fold.last_line.as_ref().map_or("", |last| &last.hash_after) == line.hash_before;
        if !follows && !starts_anew {
            fold.discontinuous_seqs.push(line.seq);
        }
        if fold.plan.is_some() || starts_anew {
            fold.plan = Some(apply_changes(fold.plan.take().unwrap_or_default(), &line.changes));
        }
        fold.last_line = Some(line);
    }
    fold
}

#[derive(Clone, Debug, PartialEq)]
pub enum LedgerComparison {
    /// The file matches the ledger.
    Same,
    /// The file contains an earlier state, because a crash interrupted a change after the ledger was written but before
    /// the file was written. The state in the ledger is used.
    FileBehind,
    /// Somebody edited the file. The state in the file is used, and the next change records the edit in the ledger.
    FileEdited,
}

impl LedgerComparison {
    pub fn compare_with_file<'l>(
        file: &str,
        lines: impl DoubleEndedIterator<Item = &'l LedgerLine>,
    ) -> LedgerComparison {
        let mut newest_first = lines.rev();
        match newest_first.next() {
            Some(last) if last.hash_after == file => LedgerComparison::Same,
            Some(last) if last.hash_before == file || last.edited_file_hash == file => {
                LedgerComparison::FileBehind
            }
            Some(_) if newest_first.any(|line| line.hash_after == file || line.edited_file_hash == file) => {
                LedgerComparison::FileBehind
            }
            _ => LedgerComparison::FileEdited,
        }
    }
}
