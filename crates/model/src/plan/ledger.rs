//! `plan-ledger.jsonl`: one line for every change, written before the change. `plan.json` can be rebuilt from it.

use serde::{Deserialize, Serialize};

use super::{Change, Plan, apply, diff};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Line {
    pub seq: u64,
    pub ts: String,
    /// What happened, in a word for people: `task_started`, `task_done`, `imported`.
    pub what: String,
    /// The task or phase that changed; empty for the whole plan.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Who made the change: a session, or `user`.
    pub by: String,
    /// The hash of `plan.json` before the change; empty if there was none.
    pub before: String,
    pub after: String,
    /// The hash of the edited file, if this line adopts an edit.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub adopted: String,
    /// The reason, if one was required.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    pub changes: Vec<Change>,
}

impl Line {
    /// Returns the line for a change from `before` to `after`. Without an earlier plan, it contains the whole plan.
    pub fn of(seq: u64, before: Option<&Plan>, after: &Plan) -> Line {
        let changes = match before {
            Some(before) => diff(before, after),
            None => vec![Change::Plan(Box::new(after.clone()))],
        };
        let before = before.map(Plan::hash).unwrap_or_default();
        Line { seq, before, after: after.hash(), changes, ..Line::default() }
    }

    pub fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// The result of replaying a ledger.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fold {
    /// The plan; `None` if the ledger is empty.
    pub plan: Option<Plan>,
    pub last: Option<Line>,
    pub lines: usize,
    /// The numbers of the lines that do not follow from the previous one.
    pub gaps: Vec<u64>,
}

/// Replays the lines, oldest first.
pub fn fold(lines: impl IntoIterator<Item = Line>) -> Fold {
    let mut fold = Fold::default();
    for line in lines {
        fold.lines += 1;
        let starts_anew = matches!(line.changes.as_slice(), [Change::Plan(_), ..]);
        let follows = fold.last.as_ref().map_or("", |last| &last.after) == line.before;
        if !follows && !starts_anew {
            fold.gaps.push(line.seq);
        }
        if fold.plan.is_some() || starts_anew {
            fold.plan = Some(apply(fold.plan.take().unwrap_or_default(), &line.changes));
        }
        fold.last = Some(line);
    }
    fold
}

/// How `plan.json` compares with the ledger.
#[derive(Clone, Debug, PartialEq)]
pub enum Rebuilt {
    /// The file matches the ledger.
    Same,
    /// The file is an earlier state, because a change was interrupted between the two writes. The ledger is right.
    Behind,
    /// Somebody edited the file. The file is right, and the next change records that in the ledger.
    Edited,
}

impl Rebuilt {
    /// Compares the hash of `plan.json` with the ledger's lines.
    pub fn of<'l>(file: &str, lines: impl DoubleEndedIterator<Item = &'l Line>) -> Rebuilt {
        let mut newest_first = lines.rev();
        match newest_first.next() {
            Some(last) if last.after == file => Rebuilt::Same,
            Some(last) if last.before == file || last.adopted == file => Rebuilt::Behind,
            Some(_) if newest_first.any(|line| line.after == file || line.adopted == file) => Rebuilt::Behind,
            _ => Rebuilt::Edited,
        }
    }
}
