//! Describes the recent work of other agents, for sub-agents that are starting and for briefs.

use jiff::{SignedDuration, Timestamp};
use model::activity::scan;
use model::activity::{self, Activity};
use model::brief::{BriefSection, Candidate};
use model::id::Id;
use model::journal::JournalRecord;
use model::profile;
use model::score::ScoreSignal;
use model::time;
use store::{Store, layout};

use super::active;
use crate::Result;
use crate::features::ProjectContext;

const RECENT_WORK_BRIEF_SECTION: BriefSection = BriefSection {
    section_position: 4,
    rank_step_per_form: 1,
    name: profile::ACTIVITY_SECTION,
    title: "What others did recently",
    signal: ScoreSignal::Activity,
};

/// A sub-agent is told only about calls that are more recent than this.
const MAX_CALL_AGE_TOLD_TO_SUBAGENT: SignedDuration = SignedDuration::from_mins(30);

const MAX_OTHER_SESSIONS_DESCRIBED: usize = 4;
/// How many bytes at the end of a journal are searched for recent work.
const RECENT_WORK_TAIL_BYTES: u64 = 64 * 1024;

/// Returns a candidate for a sub-agent that is starting. The candidate describes the work of the last half hour, both
/// by the other agents of the same session and by other sessions.
pub fn recent_work_candidate_for_subagent(
    project: &ProjectContext,
    session: &Id,
) -> Result<Option<Candidate>> {
    let ProjectContext { store, settings, world, .. } = *project;
    let from = start_of_recent_time(world.now);
    let mut done = calls_of_session_since(store, session, &from);
    for other in active::sessions_active_since(store, session, world.now, &from)?
        .iter()
        .take(MAX_OTHER_SESSIONS_DESCRIBED)
    {
        done.extend(calls_of_session_since(store, other, &from));
    }
    let text = activity::describe_recent_activity(&done, session.as_str(), settings.awareness_max_chars);
    Ok(text.map(|text| Candidate::new(&RECENT_WORK_BRIEF_SECTION, "activity:lately", text)))
}

/// Describes, for a brief, the recent work of another session's agents in at most `max` characters. Returns `None` if
/// that session has neither sub-agents nor a role.
pub fn describe_recent_work_of_session(project: &ProjectContext, session: &Id, max: usize) -> Option<String> {
    if max == 0 {
        return None;
    }
    let done = calls_of_session_since(project.store, session, &start_of_recent_time(project.world.now));
    let is_plain = done.iter().all(|call| call.agent.is_none() && call.role.is_empty());
    (!is_plain).then(|| activity::describe_recent_activity(&done, session.as_str(), max)).flatten()
}

fn start_of_recent_time(now: Timestamp) -> String {
    time::to_rfc3339(now.saturating_sub(MAX_CALL_AGE_TOLD_TO_SUBAGENT).unwrap_or(Timestamp::MIN))
}

/// Returns a session's calls since the time `from`. They are read from the journal, because the log contains them
/// only after the next checkpoint.
fn calls_of_session_since(store: &Store, session: &Id, from: &str) -> Vec<Activity> {
    let Ok(text) = store.dir().read_recent_lines(&layout::journal_path(session), RECENT_WORK_TAIL_BYTES)
    else {
        return Vec::new();
    };
    let role = store.role_of_session(session).ok().flatten().map(|role| role.to_string()).unwrap_or_default();
    let is_recent = |line: &&[u8]| scan::time_of_line(line).is_some_and(|ts| ts >= from);
    let records = text.split(|b| *b == b'\n').filter(is_recent).filter_map(JournalRecord::parse_line);
    records.filter_map(|record| Activity::from_record(&record, &role)).collect()
}
