//! What other agents do at the same time: tells a starting sub-agent about it, and warns if two sessions edit the same
//! file.

use jiff::{SignedDuration, Timestamp};
use model::activity::{self, Activity, Clash};
use model::brief::{Candidate, Section};
use model::event::{Event, Kind, Source};
use model::id::Id;
use model::journal::Record;
use model::profile;
use model::reply::{Part, Reply};
use model::score::Signal;
use model::time;
use store::{Durability, SessionState, Store, layout};

use crate::Result;
use crate::features::{Decision, ProjectContext};
use crate::hook::context::HookContext;
use crate::session::roster::{self, Entry};

const LATELY: Section = Section {
    order: 4,
    longer: 1,
    name: profile::ACTIVITY,
    title: "What others did lately",
    signal: Signal::Activity,
};

/// A session is examined for conflicting edits only if its last record is newer than this.
const NEAR: SignedDuration = SignedDuration::from_mins(60);

/// A sub-agent is told only what is newer than this.
const RECENT: SignedDuration = SignedDuration::from_mins(30);

/// How many other sessions are considered at most.
const SESSIONS: usize = 4;
/// How many sessions at the end of the list are searched for them.
const LOOKED_AT: usize = 8;
/// How much of the end of a journal is read.
const TAIL: u64 = 64 * 1024;

/// How many files are mentioned at once.
const TOLD: usize = 5;

/// The conflicting edits that a session was told about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ClashesTold {
    marks: Vec<u64>,
}

/// How many marks are kept; the oldest are dropped first.
const MARKS: usize = 256;

/// At a prompt or a session start, tells the agent once about each file that another session edited at about the same
/// time.
pub fn decide<'c>(context: &'c HookContext<'_>) -> Result<Decision<'c>> {
    if context.event.agent.is_some() || !may_tell(context.event) {
        return Ok(Decision::nothing("only a prompt or a resumed session is told what others edited"));
    }
    let store = context.project.store;
    let others = near_sessions(&context.project, context.session)?;
    if others.is_empty() {
        return Ok(Decision::nothing("no other session was active in the last hour"));
    }
    let own = tail(store, context.session);
    let theirs: Vec<Activity> = others.iter().flat_map(|entry| tail(store, &entry.session)).collect();
    let clashes = untold(store, context.session, activity::clashes(&own, &theirs));
    if clashes.is_empty() {
        return Ok(Decision::nothing("no other session edited a file of this one lately, or it was told"));
    }
    let what = "record that it was told of these edits";
    Ok(Decision::change(part(&clashes), "another session edits the same file", what, move || {
        // Hooks may be installed twice: the second process sees that the first one has told the agent.
        let _lock = store.lock_session(context.session, context.deadline.wait())?;
        let clashes = untold(store, context.session, clashes);
        let session = store.session(context.session);
        let mut told = session.get::<ClashesTold>()?.unwrap_or_default();
        told.marks.extend(clashes.iter().map(Clash::mark));
        told.marks.drain(..told.marks.len().saturating_sub(MARKS));
        session.put(&told)?;
        Ok(part(&clashes))
    }))
}

fn may_tell(event: &Event) -> bool {
    match event.kind {
        Kind::Prompt { .. } => true,
        // A new session has not edited anything.
        Kind::SessionStart { source } => matches!(source, Source::Resume | Source::Compact | Source::Fork),
        _ => false,
    }
}

fn part(clashes: &[Clash]) -> Part {
    if clashes.is_empty() {
        return Part::silent();
    }
    Part::of(Reply::Context(clashes.iter().map(|clash| clash.words(title(&clash.harness))).collect()))
}

/// Returns the name that people use for a harness.
fn title(harness: &str) -> &str {
    harness::by_name(harness).map_or(harness, |row| row.title)
}

fn untold(store: &Store, session: &Id, mut clashes: Vec<Clash>) -> Vec<Clash> {
    let told = store.session(session).get::<ClashesTold>().ok().flatten().unwrap_or_default();
    clashes.retain(|clash| !told.marks.contains(&clash.mark()));
    clashes.truncate(TOLD);
    clashes
}

/// Returns, for a starting sub-agent, what the other agents of its session and other sessions did in the last half
/// hour.
pub fn lately(project: &ProjectContext, session: &Id) -> Result<Option<Candidate>> {
    let ProjectContext { store, settings, world, .. } = *project;
    let mut done = tail(store, session);
    for entry in near_sessions(project, session)? {
        done.extend(tail(store, &entry.session));
    }
    done.retain(|call| is_within(&call.ts, world.now, RECENT));
    let text = activity::lately(&done, session.as_str(), settings.awareness_max_chars);
    Ok(text.map(|text| Candidate::new(&LATELY, "activity:lately", text)))
}

/// Returns, for a brief, what the agents of another session did lately, if it has sub-agents or a role.
pub fn of_session(project: &ProjectContext, session: &Id) -> Option<String> {
    let mut done = tail(project.store, session);
    done.retain(|call| is_within(&call.ts, project.world.now, RECENT));
    let is_plain = done.iter().all(|call| call.agent.is_none() && call.role.is_empty());
    let max = project.settings.awareness_max_chars;
    (!is_plain).then(|| activity::lately(&done, session.as_str(), max)).flatten()
}

/// Returns other sessions that were active in the last hour. The session with the newest line comes first.
fn near_sessions(project: &ProjectContext, own: &Id) -> Result<Vec<Entry>> {
    let ProjectContext { store, world, .. } = *project;
    let entries = roster::read(store, roster::TAIL)?;
    let others = entries.into_iter().rev().filter(|entry| entry.session != *own && !entry.continued);
    let near = others.take(LOOKED_AT).filter(|entry| is_within(&entry.active_at(store), world.now, NEAR));
    Ok(near.take(SESSIONS).collect())
}

fn is_within(ts: &str, now: Timestamp, most: SignedDuration) -> bool {
    time::parse(ts).is_some_and(|at| now.duration_since(at) <= most)
}

/// Returns the last calls of a session. They are in the journal at once, but in the log only after a checkpoint.
fn tail(store: &Store, session: &Id) -> Vec<Activity> {
    let Ok(text) = store.dir().recent(&layout::journal(session), TAIL) else { return Vec::new() };
    let role = store.role_of(session).ok().flatten().map(|role| role.to_string()).unwrap_or_default();
    let records = text.split(|b| *b == b'\n').filter_map(Record::read);
    records.filter_map(|record| Activity::of(&record, &role)).collect()
}

impl SessionState for ClashesTold {
    const FOLDER: &'static str = layout::CLASHES_TOLD;
    const LARGEST: usize = 64 * 1024;
    const DURABILITY: Durability = Durability::Cache;

    fn parse(bytes: &[u8]) -> std::result::Result<ClashesTold, String> {
        let text = String::from_utf8_lossy(bytes);
        let marks: std::result::Result<Vec<u64>, _> =
            text.lines().map(|line| u64::from_str_radix(line, 16)).collect();
        Ok(ClashesTold { marks: marks.map_err(|error| error.to_string())? })
    }

    fn bytes(&self) -> Vec<u8> {
        self.marks.iter().map(|mark| format!("{mark:016x}\n")).collect::<String>().into_bytes()
    }
}
