//! What agents did: one line of `indexes/activity.jsonl` for each tool call, folded from the journals. Deleting the log
//! loses nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::event::{Action, EventName};
use crate::journal::{AgentField, FileField, Record};

/// The most files of one call that are kept.
const FILES: usize = 8;

/// One tool call: who, what, which files, and how it went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Activity {
    pub ts: String,
    pub session: String,
    pub harness: String,
    pub worktree: String,
    /// The role that the session had when its journal was folded.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub role: String,
    /// The sub-agent that made the call; `None` for the main agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentField>,
    /// The harness's id of the call.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    pub tool: String,
    /// `None` if nothing says how it went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileField>,
}

impl Activity {
    /// Returns `None` for a record that is not a tool call.
    pub fn of(record: &Record, role: &str) -> Option<Activity> {
        if record.event_name() != Some(EventName::ToolDone) {
            return None;
        }
        // The name of a file in a command's text says nothing about what was done to it.
        let files = record.files.iter().filter(|file| !file.guess).take(FILES).cloned().collect();
        Some(Activity {
            ts: record.ts.to_string(),
            session: record.session.to_string(),
            harness: record.harness.to_string(),
            worktree: record.worktree.to_string(),
            role: role.to_owned(),
            agent: record.agent.clone(),
            id: record.id.to_string(),
            tool: record.tool.to_string(),
            // A pipe can hide a failure from the harness.
            ok: if record.ended == "failed" { Some(false) } else { record.ok },
            ms: record.ms,
            files,
        })
    }

    /// Returns one line of JSON, without its line end.
    pub fn line(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Returns the files that the call changed.
    pub fn edited(&self) -> impl Iterator<Item = &FileField> {
        let is_edit =
            |file: &&FileField| matches!(file.action, Action::Create | Action::Edit | Action::Delete);
        self.files.iter().filter(is_edit).filter(|_| self.ok != Some(false))
    }

    /// Returns the type of a sub-agent, or else the role of the session, or else `main`.
    pub fn agent_name(&self) -> &str {
        match &self.agent {
            Some(agent) if agent.kind.is_empty() => "sub-agent",
            Some(agent) => &agent.kind,
            None if self.role.is_empty() => "main",
            None => &self.role,
        }
    }
}

/// The calls of one tool, agent or session.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Counts {
    pub name: String,
    pub calls: u64,
    pub ok: u64,
    pub failed: u64,
    /// Over the calls whose duration is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_ms: Option<u64>,
    pub last_at: String,
}

/// Counts calls by a name, the most frequent name first.
pub fn count_by<'a>(activity: &'a [Activity], name: impl Fn(&'a Activity) -> &'a str) -> Vec<Counts> {
    #[derive(Default)]
    struct Sum {
        counts: Counts,
        ms: u64,
        timed: u64,
    }
    let mut sums: BTreeMap<&str, Sum> = BTreeMap::new();
    for one in activity {
        let sum = sums.entry(name(one)).or_default();
        sum.counts.calls += 1;
        sum.counts.ok += u64::from(one.ok == Some(true));
        sum.counts.failed += u64::from(one.ok == Some(false));
        sum.ms = sum.ms.saturating_add(one.ms.unwrap_or(0));
        sum.timed += u64::from(one.ms.is_some());
        if sum.counts.last_at < one.ts {
            sum.counts.last_at.clone_from(&one.ts);
        }
    }
    let finish = |(name, sum): (&str, Sum)| Counts {
        name: name.to_owned(),
        average_ms: sum.ms.checked_div(sum.timed),
        ..sum.counts
    };
    let mut counts: Vec<Counts> = sums.into_iter().map(finish).collect();
    counts.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.name.cmp(&b.name)));
    counts
}

#[cfg(test)]
#[path = "activity_tests.rs"]
mod tests;
