//! `thru swarm status`: shows what agents did, by tool, by agent and by session.

use std::collections::BTreeMap;

use model::activity::{Activity, CallCounts, count_calls_by};
use model::digest::Digest;
use model::id::Id;
use serde::Serialize;
use store::{Store, layout};

use crate::features::summaries::{self, SavedTokens};
use crate::project::Project;
use crate::session::list;
use crate::{Result, World};

#[derive(Clone, Debug, Default, Serialize)]
pub struct ActivityReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    pub calls: u64,
    pub tools: Vec<CallCounts>,
    /// Counts by sub-agent type. The main agent's calls are counted under the role of its session.
    pub agents: Vec<CallCounts>,
    /// Counts by session, most recently active first.
    pub sessions: Vec<SessionCounts>,
    /// The tokens that summaries have saved in all sessions, even if the report is about one session.
    pub summaries: SavedTokens,
}

#[derive(Clone, Debug, Serialize)]
pub struct SessionCounts {
    #[serde(flatten)]
    pub counts: CallCounts,
    pub harness: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub role: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sub_agents: Vec<String>,
    #[serde(rename = "edited")]
    pub edited_files: usize,
}

pub fn activity_report(world: &World, session: Option<&str>) -> Result<ActivityReport> {
    let Some(Project { store, .. }) = Project::find_if_present(world)? else {
        return Ok(ActivityReport::default());
    };
    let chosen = match session {
        Some(named) => vec![list::choose_session(world, &store, Some(named))?.0],
        None => list::all_session_ids(&store)?,
    };
    let mut logged: BTreeMap<String, Vec<Activity>> = BTreeMap::new();
    store.dir().each_record(layout::ACTIVITY_LOG, |line: Activity| {
        logged.entry(line.session.clone()).or_default().push(line);
    })?;
    let (mut all, mut sessions) = (Vec::new(), Vec::new());
    for id in &chosen {
        let calls = calls_of_session(&store, id, logged.remove(id.as_str()).unwrap_or_default())?;
        sessions.extend(session_counts(&calls));
        all.extend(calls);
    }
    sessions.sort_by(|a, b| b.counts.last_at.cmp(&a.counts.last_at));
    Ok(ActivityReport {
        session: session.map(|_| chosen[0].to_string()),
        calls: all.len() as u64,
        tools: count_calls_by(&all, |call| &call.tool),
        agents: count_calls_by(&all, Activity::agent_name),
        sessions,
        summaries: summaries::count_saved_tokens(&store)?,
    })
}

/// Returns the calls of a session: the calls in the log, and the calls since the last checkpoint, which are not in
/// the log yet. The log is only a cache. If the number of calls in it does not match the digest, all calls are read
/// from the journal.
fn calls_of_session(store: &Store, session: &Id, logged: Vec<Activity>) -> Result<Vec<Activity>> {
    let role = store.role_of_session(session).ok().flatten().map(|role| role.to_string()).unwrap_or_default();
    let mut unfolded = Vec::new();
    let digest =
        store.current_digest(session, |record| unfolded.extend(Activity::from_record(record, &role)))?;
    let folded = digest.call_count.saturating_sub(unfolded.len() as u64);
    if folded == 0 {
        return Ok(unfolded);
    }
    if logged.len() as u64 == folded {
        return Ok(logged.into_iter().chain(unfolded).collect());
    }
    let mut whole = Vec::new();
    let mut empty = Digest::new(session.as_str());
    store.fold_new_journal_lines(session, &mut empty, &mut |record| {
        whole.extend(Activity::from_record(record, &role));
    })?;
    Ok(whole)
}

/// Returns a session's counts, or `None` if the session made no calls.
fn session_counts(calls: &[Activity]) -> Option<SessionCounts> {
    let last = calls.last()?;
    let mut sub_agents: Vec<String> =
        calls.iter().filter(|call| call.agent.is_some()).map(|call| call.agent_name().to_owned()).collect();
    sub_agents.sort();
    sub_agents.dedup();
    let mut edited: Vec<(&str, &str)> = calls
        .iter()
        .flat_map(|call| call.edited_files().map(|file| (call.worktree.as_str(), file.path.as_str())))
        .collect();
    edited.sort_unstable();
    edited.dedup();
    Some(SessionCounts {
        counts: count_calls_by(calls, |call| &call.session).into_iter().next()?,
        harness: last.harness.clone(),
        role: last.role.clone(),
        sub_agents,
        edited_files: edited.len(),
    })
}
