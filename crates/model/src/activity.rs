//! The activity of agents. `indexes/activity.jsonl` has one line for each tool call. It is derived from the journals,
//! so it can be deleted without losing information.

pub mod scan;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::event::EventName;
use crate::journal::{JournalRecord, RecordedAgent, RecordedFile};
use crate::render::{format_path_or_code, inline_for_model, utf16_length};
use crate::text::{count_with_noun, fnv_fingerprint};
use crate::time;

const MAX_FILES_PER_CALL: usize = 8;

/// The name of the main agent if its session has no role.
const MAIN_AGENT: &str = "main";

/// One tool call, with its agent, tool, files and result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Activity {
    pub ts: String,
    pub session: String,
    pub harness: String,
    pub worktree: String,
    /// The role of the session when this line was written.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub role: String,
    /// The sub-agent that made the call, or `None` for the main agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<RecordedAgent>,
    /// The harness's id for the call.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    pub tool: String,
    /// Whether the call succeeded, or `None` if that is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<RecordedFile>,
}

impl Activity {
    /// Creates the line for a record. Returns `None` if the record is not a tool call.
    pub fn from_record(record: &JournalRecord, role: &str) -> Option<Activity> {
        if record.event_name() != Some(EventName::ToolDone) {
            return None;
        }
        // Files that were only guessed are left out, because a command line may mention a file that the command does
        // not change.
        let files =
            record.files.iter().filter(|file| !file.guess).take(MAX_FILES_PER_CALL).cloned().collect();
        Some(Activity {
            ts: record.ts.to_string(),
            session: record.session.to_string(),
            harness: record.harness.to_string(),
            worktree: record.worktree.to_string(),
            role: role.to_owned(),
            agent: record.agent.clone(),
            id: record.id.to_string(),
            tool: record.tool.to_string(),
            // A pipe can hide a failure from the harness, so a recorded failure overrides the harness's result.
            ok: if record.ended == "failed" { Some(false) } else { record.ok },
            ms: record.ms,
            files,
        })
    }

    /// Returns one line of JSON without a trailing newline.
    pub fn to_json_line(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Returns the files that the call changed.
    pub fn edited_files(&self) -> impl Iterator<Item = &RecordedFile> {
        let is_edit = |file: &&RecordedFile| file.action.changes_file();
        self.files.iter().filter(is_edit).filter(|_| self.ok != Some(false))
    }

    /// Returns the type of a sub-agent. For the main agent, returns the role of the session or `main`.
    pub fn agent_name(&self) -> &str {
        match &self.agent {
            Some(agent) if agent.kind.is_empty() => "sub-agent",
            Some(agent) => &agent.kind,
            None if self.role.is_empty() => MAIN_AGENT,
            None => &self.role,
        }
    }
}

/// The number of calls to one tool, or by one agent or session, and their results.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CallCounts {
    pub name: String,
    pub calls: u64,
    pub ok: u64,
    pub failed: u64,
    /// The average over the calls whose duration is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_ms: Option<u64>,
    pub last_at: String,
}

/// Counts calls, grouped by the name that `name` returns. The most frequent name comes first.
pub fn count_calls_by<'a>(
    activity: &'a [Activity],
    name: impl Fn(&'a Activity) -> &'a str,
) -> Vec<CallCounts> {
    #[derive(Default)]
    struct CountSum {
        counts: CallCounts,
        total_ms: u64,
        timed_calls: u64,
    }
    let mut sums: BTreeMap<&str, CountSum> = BTreeMap::new();
    for one in activity {
        let sum = sums.entry(name(one)).or_default();
        sum.counts.calls += 1;
        sum.counts.ok += u64::from(one.ok == Some(true));
        sum.counts.failed += u64::from(one.ok == Some(false));
        sum.total_ms = sum.total_ms.saturating_add(one.ms.unwrap_or(0));
        sum.timed_calls += u64::from(one.ms.is_some());
        if sum.counts.last_at < one.ts {
            sum.counts.last_at.clone_from(&one.ts);
        }
    }
    let finish = |(name, sum): (&str, CountSum)| CallCounts {
        name: name.to_owned(),
        average_ms: sum.total_ms.checked_div(sum.timed_calls),
        ..sum.counts
    };
    let mut counts: Vec<CallCounts> = sums.into_iter().map(finish).collect();
    counts.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.name.cmp(&b.name)));
    counts
}

/// The edits of two sessions to the same file clash if they are at most this far apart in time.
pub const MAX_CLASH_GAP: SignedDuration = SignedDuration::from_mins(10);

/// A file that this session and another one edited at about the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// The path as this session records it: relative to its checkout, or absolute.
    pub path: String,
    pub other_session: String,
    /// The harness of the other session.
    pub other_harness: String,
    /// The agent that edited the file in the other session.
    pub other_agent: String,
    /// The time of the other session's edit.
    pub other_edit_at: String,
    /// The time of this session's edit.
    pub own_edit_at: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherSessionState {
    Open,
    Ended,
}

/// Returns the files that this session and another one edited within ten minutes of each other. If several
/// other sessions edited the same file, there is one clash for each of them. A clash contains the other session's last
/// edit that is close to an edit by this session. The newest clash comes first.
pub fn find_clashes(own: &[Activity], others: &[Activity]) -> Vec<Clash> {
    let mut mine: BTreeMap<String, Vec<(Timestamp, &Activity, &str)>> = BTreeMap::new();
    for (whole, call, path) in own.iter().flat_map(edited_paths) {
        if let Some(at) = time::parse_time(&call.ts) {
            mine.entry(whole).or_default().push((at, call, path));
        }
    }
    mine.values_mut().for_each(|edits| edits.sort_by_key(|(at, ..)| *at));
    let mut found: BTreeMap<(String, &str), Clash> = BTreeMap::new();
    for (whole, other, _) in others.iter().flat_map(edited_paths) {
        let Some((at, edits)) = time::parse_time(&other.ts).zip(mine.get(&whole)) else { continue };
        let Some((_, own, path)) = nearest_edit(edits, at) else { continue };
        let clash = Clash {
            path: (*path).to_owned(),
            other_session: other.session.clone(),
            other_harness: other.harness.clone(),
            other_agent: other.agent_name().to_owned(),
            other_edit_at: other.ts.clone(),
            own_edit_at: own.ts.clone(),
        };
        let known = found.entry((whole, &other.session)).or_insert_with(|| clash.clone());
        if known.other_edit_at <= clash.other_edit_at {
            *known = clash;
        }
    }
    let mut found: Vec<Clash> = found.into_values().collect();
    found.sort_by(|a, b| b.other_edit_at.cmp(&a.other_edit_at).then_with(|| a.path.cmp(&b.path)));
    found
}

/// Returns the edit that is nearest to a time. Returns `None` if no edit is near enough to count as a clash.
/// `edits` must be sorted by time.
fn nearest_edit<'e, 'a>(
    edits: &'e [(Timestamp, &'a Activity, &'a str)],
    at: Timestamp,
) -> Option<&'e (Timestamp, &'a Activity, &'a str)> {
    let distance = |edit: &&(Timestamp, &Activity, &str)| edit.0.duration_since(at).abs();
    let later = edits.partition_point(|(own_at, ..)| *own_at < at);
    let near = edits[..later].last().into_iter().chain(edits.get(later));
    near.min_by_key(distance).filter(|edit| distance(edit) <= MAX_CLASH_GAP)
}

/// Returns the full path of each file that a call changed, with the call and the path as recorded.
fn edited_paths(activity: &Activity) -> impl Iterator<Item = (String, &Activity, &str)> {
    activity.edited_files().map(move |file| {
        let whole = match file.outside {
            true => file.path.clone(),
            false => format!("{}/{}", activity.worktree, file.path),
        };
        (whole, activity, file.path.as_str())
    })
}

impl Clash {
    /// Returns a fingerprint of the file and the other session.
    pub fn fingerprint(&self) -> u64 {
        fnv_fingerprint([&self.other_session, &self.path])
    }

    /// Describes the clash in one line for the agent. `title` is the name of the other session's harness.
    pub fn describe_for_agent(&self, title: &str, other: OtherSessionState) -> String {
        let ended = match other {
            OtherSessionState::Open => "",
            OtherSessionState::Ended => ", which has since ended,",
        };
        let agent = if self.other_agent == MAIN_AGENT {
            String::new()
        } else {
            format!(", {}", format_path_or_code(&self.other_agent, 40))
        };
        format!(
            "Throughline: session {} ({}{agent}){ended} edited {} at {}, and this session edited it at {}. Read it again before you \
             change it.\n",
            short_session_id(&self.other_session),
            inline_for_model(title, 40),
            format_path_or_code(&self.path, 200),
            format_path_or_code(&self.other_edit_at, 30),
            format_path_or_code(&self.own_edit_at, 30),
        )
    }
}

/// Returns an abbreviated session id, which every command accepts.
pub fn short_session_id(session: &str) -> String {
    format_path_or_code(session.split('-').next().filter(|first| first.len() >= 8).unwrap_or(session), 40)
}

const MAX_FILES_NAMED_PER_AGENT: usize = 3;

/// Describes the activity of each agent in one phrase, such as `coder of session 1a2b3c4d edited src/a.rs, src/b.rs
/// (2 of 5 calls failed)`. The most recently active agent comes first. Phrases that do not fit into `max` characters
/// are left out. A phrase mentions its session unless that session is `own`.
pub fn describe_recent_activity(activity: &[Activity], own: &str, max: usize) -> Option<String> {
    let mut actors: Vec<(&Activity, Vec<&Activity>)> = Vec::new();
    for one in activity {
        let is_same =
            |known: &Activity| known.session == one.session && known.agent_name() == one.agent_name();
        match actors.iter_mut().find(|(known, _)| is_same(known)) {
            Some((last, calls)) => {
                *last = one;
                calls.push(one);
            }
            None => actors.push((one, vec![one])),
        }
    }
    actors.sort_by(|(a, _), (b, _)| b.ts.cmp(&a.ts).then_with(|| a.agent_name().cmp(b.agent_name())));
    let mut text = String::new();
    for (last, calls) in &actors {
        let Some(phrase) = describe_agent_activity(last, calls, own) else { continue };
        let separator = if text.is_empty() { "" } else { "; " };
        if utf16_length(&text) + utf16_length(separator) + utf16_length(&phrase) <= max {
            text.push_str(separator);
            text.push_str(&phrase);
        }
    }
    (!text.is_empty()).then_some(text)
}

/// Describes the activity of one agent. Returns `None` if the agent changed no files and none of its calls failed.
fn describe_agent_activity(last: &Activity, calls: &[&Activity], own: &str) -> Option<String> {
    let whose = if last.session == own {
        String::new()
    } else {
        format!(" of session {}", short_session_id(&last.session))
    };
    let failed = calls.iter().filter(|call| call.ok == Some(false)).count();
    let mut files: Vec<&str> = Vec::new();
    for file in calls.iter().rev().flat_map(|call| call.edited_files()) {
        if !files.contains(&file.path.as_str()) {
            files.push(&file.path);
        }
    }
    let mut text = format!("{}{whose}", format_path_or_code(last.agent_name(), 40));
    text.push_str(&match files.len() {
        0 if failed == 0 => return None,
        0 => format!(" made {}", count_with_noun(calls.len(), "call")),
        n => {
            let named: Vec<String> = files
                .iter()
                .take(MAX_FILES_NAMED_PER_AGENT)
                .map(|file| format_path_or_code(file, 80))
                .collect();
            let more = if n > MAX_FILES_NAMED_PER_AGENT {
                format!(" +{}", n - MAX_FILES_NAMED_PER_AGENT)
            } else {
                String::new()
            };
            format!(" edited {}{more}", named.join(", "))
        }
    });
    if failed > 0 {
        text.push_str(&format!(" ({failed} of {} failed)", count_with_noun(calls.len(), "call")));
    }
    Some(text)
}

#[cfg(test)]
#[path = "activity_tests.rs"]
mod tests;
