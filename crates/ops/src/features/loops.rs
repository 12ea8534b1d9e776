//! The commands of loops. [`stop`] handles a stop, and [`session`] handles a session start.

mod adopt;
mod choose;
pub mod ralph;
mod report;
pub(crate) mod session;
pub mod start;
pub(crate) mod stop;
mod stop_facts;
mod validators;

use jiff::{SignedDuration, Timestamp};
use model::event::{EventName, EventSet, Kind};
use model::id::Id;
use model::loops::log::{Entry, Event};
use model::loops::pointer::Pointer;
use model::loops::{Ended, Loop, Promise, Record, Status};
use model::time;
use serde::Serialize;
use store::{Found, Store};

pub use adopt::{Adoption, adopt, to_adopt};
pub use choose::Wanted;
use choose::{LoopUse, Owner, choose, find_owner, in_front, need_trust, open, trusted};
pub use report::short;

use crate::features::{Decision, Feature};
use crate::hook::context::HookContext;
use crate::project::{consent, settings};
use crate::session::list::Chosen;
use crate::setup::init::PATIENCE;
use crate::{Error, Result, World};

pub const ROW: Feature = Feature {
    name: "loops",
    wants: EventSet::of(&[
        EventName::SessionStart,
        EventName::Prompt,
        EventName::Stop,
        EventName::SessionEnd,
    ]),
    decide,
    candidates: session::candidates,
    sections: session::SECTIONS,
    continue_as: session::continue_as,
    checks: report::checks,
    status: report::status,
    ..Feature::NONE
};

/// Decides what loops do with an event of the main agent.
fn decide<'c>(context: &'c HookContext<'_>) -> Result<Decision<'c>> {
    // A loop never holds a sub-agent, and a truncated payload is not a reason to hold anybody.
    if context.event.agent.is_some() || context.event.torn {
        return Ok(Decision::nothing("loops act only on complete events of the main agent"));
    }
    match &context.event.kind {
        Kind::Stop(stopped) => stop::decide(context, stopped),
        Kind::SessionStart { source } => session::begin(context, *source),
        Kind::Prompt { .. } | Kind::SessionEnd { .. } => stop::notice(context),
        Kind::ToolDone(_)
        | Kind::BeforeCompact { .. }
        | Kind::Summary { .. }
        | Kind::AfterCompact { .. }
        | Kind::SubagentStart
        | Kind::SubagentStop { .. }
        | Kind::Other { .. } => Ok(Decision::nothing("loops do not act on this event")),
    }
}

/// A loop, as it is shown to a person.
#[derive(Clone, Debug, Serialize)]
pub struct Shown {
    pub id: String,
    pub status: Status,
    pub iteration: u64,
    pub max_iterations: u64,
    pub promises: Vec<Promise>,
    /// Whether this user allowed the loop on this machine, in its current form. If not, its prompt is never fed and
    /// its validators never run.
    pub started_here: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Whether the loop keeps its session from stopping.
    pub foreground: bool,
    /// Whether the loop waits for the next session that starts.
    pub waiting: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_reason: Option<Ended>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_detail: Option<String>,
    pub validators: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
    pub created_at: String,
    pub updated_at: String,
    pub prompt: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct List {
    /// Sorted so that the loop that was changed last comes first.
    pub loops: Vec<Shown>,
    /// Files that cannot be read as loops.
    pub damaged: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Log {
    #[serde(rename = "loop")]
    pub shown: Shown,
    pub entries: Vec<Entry>,
    /// The number of lines that cannot be read.
    pub torn: usize,
}

/// What a command did to a loop.
#[derive(Clone, Debug, Serialize)]
pub struct Changed {
    #[serde(rename = "loop")]
    pub shown: Shown,
    /// False if there was nothing to change.
    pub changed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen: Option<Chosen>,
    /// What else the user should know.
    pub notes: Vec<String>,
}

/// What to change about a loop when it continues.
#[derive(Clone, Copy, Debug)]
pub struct Resumption<'a> {
    pub max_iterations: Option<u64>,
    pub seconds: Option<i64>,
    pub owner: Wanted<'a>,
}

/// Lists the loops. Without a root the list is empty, which is not an error.
pub fn list(world: &World) -> Result<List> {
    let store = match world.find()? {
        Found::Marked { store, .. } => store,
        Found::Unmarked(_) => return Ok(List { loops: Vec::new(), damaged: Vec::new() }),
    };
    let (records, damaged) = all(&store)?;
    let pointer = pointer(&store, &records);
    let mut loops: Vec<Shown> = records.iter().map(|record| shown(&store, &record.state, &pointer)).collect();
    loops.sort_by(|a, b| (&b.updated_at, &b.id).cmp(&(&a.updated_at, &a.id)));
    Ok(List { loops, damaged: damaged.iter().map(ToString::to_string).collect() })
}

pub fn show(world: &World, named: Option<&str>) -> Result<(Shown, String)> {
    let store = open(world)?;
    let record = store.read_loop(&choose(world, &store, named, LoopUse::Look)?)?;
    let text = String::from_utf8_lossy(record.bytes()).into_owned();
    Ok((shown(&store, &record.state, &store.foreground()?.unwrap_or_default()), text))
}

pub fn log(world: &World, named: Option<&str>) -> Result<Log> {
    let store = open(world)?;
    let id = choose(world, &store, named, LoopUse::Look)?;
    let record = store.read_loop(&id)?;
    let mut entries = Vec::new();
    let tally = store.loop_log(&id, |entry| entries.push(entry))?;
    let pointer = store.foreground()?.unwrap_or_default();
    Ok(Log { shown: shown(&store, &record.state, &pointer), entries, torn: tally.torn.len() })
}

/// Puts a loop into the foreground of a session. The loop that was in the foreground before stays active and waits.
pub fn activate(world: &World, named: &str, owner: Wanted) -> Result<Changed> {
    let store = trusted(world)?;
    let id = choose(world, &store, Some(named), LoopUse::Look)?;
    let owner = find_owner(world, &store, owner)?;
    let _lock = store.lock_loops(PATIENCE)?;
    let record = store.read_loop(&id)?;
    if record.state.status != Status::Active {
        return Err(not_active(&record.state));
    }
    need_started_here(&store, &record.state)?;
    let mut next = record.state.clone();
    next.last_stop = None;
    put_forward(world, &store, &record, next, &owner, Event::Activated)
}

pub fn resume(world: &World, named: Option<&str>, how: Resumption) -> Result<Changed> {
    let store = trusted(world)?;
    let id = choose(world, &store, named, LoopUse::Resume)?;
    let known = store.read_loop(&id)?.state.session;
    let owner = match (find_owner(world, &store, how.owner), how.owner, known) {
        // Outside a harness, the loop returns to its earlier session.
        (Err(_), Wanted::Here, Some(session)) => match Id::new(&session) {
            Ok(session) => Owner::Session(session, Chosen::Named),
            Err(_) => Owner::Next,
        },
        (owner, _, _) => owner?,
    };
    let _lock = store.lock_loops(PATIENCE)?;
    let record = store.read_loop(&id)?;
    let mut next = record.state.clone();
    match next.status {
        Status::Active => return Err(not_paused(&next)),
        Status::Done | Status::Cancelled => return Err(not_active(&next)),
        Status::Paused => need_started_here(&store, &next)?,
    }
    next.max_iterations = how.max_iterations.unwrap_or(next.max_iterations);
    if next.max_iterations > 0 && next.iteration >= next.max_iterations {
        return Err(Error::Refused {
            what: format!("{id} has used up its {} iterations", next.max_iterations),
            hint: format!(
                "`thru loop resume {id} --max-iterations N` gives it more; N counts from its start"
            ),
        });
    }
    if let Some(seconds) = how.seconds {
        next.deadline = Some(deadline(world.now, seconds)?);
    }
    if next.deadline.as_deref().and_then(time::parse).is_some_and(|deadline| deadline <= world.now) {
        return Err(Error::Refused {
            what: format!("the time of {id} is up"),
            hint: format!("`thru loop resume {id} --for 1h` gives it more"),
        });
    }
    next.status = Status::Active;
    (next.ended, next.ended_detail, next.last_stop) = (None, None, None);
    put_forward(world, &store, &record, next, &owner, Event::Resumed)
}

pub fn pause(world: &World, named: Option<&str>) -> Result<Changed> {
    set_back(world, named, |state| match state.status {
        Status::Active => {
            state.status = Status::Paused;
            Ok(Some(Event::Paused))
        }
        Status::Paused => Ok(None),
        Status::Done | Status::Cancelled => Err(not_active(state)),
    })
}

/// Ends a loop permanently.
pub fn cancel(world: &World, named: Option<&str>) -> Result<Changed> {
    set_back(world, named, |state| match state.status {
        Status::Cancelled => Ok(None),
        Status::Done => Err(not_active(state)),
        Status::Active | Status::Paused => {
            state.end(Ended::Cancelled, None);
            Ok(Some(Event::Cancelled))
        }
    })
}

/// Applies `change` to a loop and removes the loop from the foreground.
fn set_back(
    world: &World,
    named: Option<&str>,
    change: impl FnOnce(&mut Loop) -> Result<Option<Event>>,
) -> Result<Changed> {
    let store = open(world)?;
    let id = choose(world, &store, named, LoopUse::SetBack)?;
    let _lock = store.lock_loops(PATIENCE)?;
    let record = store.read_loop(&id)?;
    let mut next = record.state.clone();
    let event = change(&mut next)?;
    let mut pointer = front(&store)?;
    if event.is_some() {
        next.touch(world.now);
        write(&store, &id, &record, next.clone())?;
    }
    if pointer.holds(id.as_str()) || pointer.active_loop_id.as_deref() == Some(id.as_str()) {
        pointer.clear(id.as_str());
        store.write_foreground(&pointer)?;
    }
    if let Some(event) = event {
        note(world, &store, &next, event)?;
    }
    if next.status == Status::Cancelled {
        // If somebody restores the file later, the user's consent is not restored with it.
        consent::withdraw_loop(&store, &next.id)?;
    }
    Ok(Changed {
        shown: shown(&store, &next, &pointer),
        changed: event.is_some(),
        chosen: None,
        notes: Vec::new(),
    })
}

/// Writes a loop that is about to run, and sets the foreground pointer to it.
fn put_forward(
    world: &World,
    store: &Store,
    record: &Record,
    mut next: Loop,
    owner: &Owner,
    event: Event,
) -> Result<Changed> {
    let id = Id::new(&next.id).map_err(|bad| usage(bad.to_string(), "`thru loop list` shows the loops"))?;
    next.touch(world.now);
    next.session = match owner {
        Owner::Session(session, _) => Some(session.to_string()),
        Owner::Next => None,
    };
    consent::allow_loop(store, Some(&record.state), &next, owner.claim(), world.now)?;
    write(store, &id, record, next.clone())?;
    let (pointer, notes) = point(store, &next, owner)?;
    note(world, store, &next, event)?;
    let chosen = match owner {
        Owner::Session(_, chosen) => Some(*chosen),
        Owner::Next => None,
    };
    Ok(Changed { shown: shown(store, &next, &pointer), changed: true, chosen, notes })
}

/// Sets the foreground pointer to a loop. The notes say which loop it replaces.
fn point(store: &Store, state: &Loop, owner: &Owner) -> Result<(Pointer, Vec<String>)> {
    let mut pointer = front(store)?;
    let before = match owner {
        Owner::Session(session, _) => pointer.of(session.as_str()).map(str::to_owned),
        Owner::Next => pointer.next.clone(),
    };
    match owner {
        Owner::Session(session, _) => pointer.set(&state.id, session.as_str()),
        Owner::Next => pointer.set_next(&state.id),
    }
    store.write_foreground(&pointer)?;
    let notes = before.filter(|before| *before != state.id).map(|before| {
        format!("{before} was in the foreground and waits now; `thru loop activate {before}` brings it back")
    });
    Ok((pointer, notes.into_iter().collect()))
}

fn write(store: &Store, id: &Id, record: &Record, next: Loop) -> Result<()> {
    let edited = record.edited(next).map_err(|error| Error::Refused {
        what: format!("{id}: {error}"),
        hint: "fix the frontmatter of the loop by hand".into(),
    })?;
    Ok(store.write_loop(id, &edited)?)
}

/// Adds a line to the loop's log.
fn note(world: &World, store: &Store, state: &Loop, event: Event) -> Result<()> {
    let Ok(id) = Id::new(&state.id) else { return Ok(()) };
    let entry = Entry {
        session: state.session.clone(),
        reason: state.ended,
        ..Entry::new(&time::rfc3339(world.now), event, state.iteration)
    };
    let limit = settings::here(world).settings().log_limit_bytes();
    Ok(store.append_loop_log(&id, &entry, limit)?)
}

fn shown(store: &Store, state: &Loop, pointer: &Pointer) -> Shown {
    as_shown(state, pointer, consent::is_started_here(store, state))
}

fn as_shown(state: &Loop, pointer: &Pointer, started_here: bool) -> Shown {
    let state = state.clone();
    let foreground = state.session.as_deref().is_some_and(|session| pointer.of(session) == Some(&state.id));
    let runs = started_here && state.status == Status::Active;
    Shown {
        foreground: foreground && runs,
        waiting: pointer.next.as_deref() == Some(&state.id) && runs,
        started_here,
        id: state.id,
        status: state.status,
        iteration: state.iteration,
        max_iterations: state.max_iterations,
        promises: state.promises,
        session: state.session,
        ended_reason: state.ended,
        ended_detail: state.ended_detail,
        validators: state.validators,
        deadline: state.deadline,
        created_at: state.created_at,
        updated_at: state.updated_at,
        prompt: state.prompt,
    }
}

/// Returns the loop in the foreground: the loop of the current session, or else the loop that was put there last.
pub fn foreground(world: &World, store: &Store) -> Result<Option<Shown>> {
    let pointer = front(store)?;
    let Some(id) = in_front(world, store, &pointer).and_then(|id| Id::new(&id).ok()) else { return Ok(None) };
    match store.read_loop(&id) {
        Ok(record) => {
            Ok(Some(shown(store, &record.state, &pointer)).filter(|shown| shown.foreground || shown.waiting))
        }
        Err(store::Error::Absent { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether a loop came with a clone or a pull, was changed by somebody, or was made by a version without
/// consent records.
fn is_foreign(store: &Store, state: &Loop) -> bool {
    matches!(state.status, Status::Active | Status::Paused) && !consent::is_started_here(store, state)
}

fn need_started_here(store: &Store, state: &Loop) -> Result<()> {
    match consent::is_started_here(store, state) {
        true => Ok(()),
        false => Err(Error::Refused {
            what: format!(
                "{} was not started here, or its prompt, promises, validators or limits were changed",
                state.id
            ),
            hint: format!("`thru loop adopt {}` shows its prompt and its commands, and asks", state.id),
        }),
    }
}

/// Returns every loop, and an error for every file that cannot be read as a loop.
fn all(store: &Store) -> store::Result<(Vec<Record>, Vec<store::Error>)> {
    let (mut records, mut damaged) = (Vec::new(), Vec::new());
    for id in store.loop_ids()? {
        match store.read_loop(&id) {
            Ok(record) => records.push(record),
            Err(error) => damaged.push(error),
        }
    }
    Ok((records, damaged))
}

/// Returns the foreground pointer. It is an index that may be deleted, so it is rebuilt if necessary.
fn pointer(store: &Store, records: &[Record]) -> Pointer {
    match store.foreground() {
        Ok(Some(pointer)) => pointer,
        // Leave out loops that were not started here: they wait for no session.
        _ => Pointer::rebuilt(
            records.iter().map(|record| &record.state).filter(|state| consent::is_started_here(store, state)),
        ),
    }
}

/// Returns the foreground pointer. The loops are read only if the pointer must be rebuilt.
pub(crate) fn front(store: &Store) -> store::Result<Pointer> {
    match store.foreground() {
        Ok(Some(pointer)) => Ok(pointer),
        Ok(None) | Err(store::Error::Damaged { .. }) => Ok(pointer(store, &all(store)?.0)),
        Err(error) => Err(error),
    }
}

fn deadline(now: Timestamp, seconds: i64) -> Result<String> {
    let until = now.checked_add(SignedDuration::from_secs(seconds));
    let until = until.map_err(|_| usage("that time is too long".into(), "write it like 2h or 1h30m"))?;
    Ok(time::rfc3339(until))
}

fn usage(what: String, hint: &str) -> Error {
    Error::Usage { what, hint: hint.to_owned() }
}

fn not_paused(state: &Loop) -> Error {
    Error::Refused {
        what: format!("{} is active already", state.id),
        hint: format!("`thru loop activate {}` brings it to the foreground", state.id),
    }
}

fn not_active(state: &Loop) -> Error {
    let id = &state.id;
    match state.status {
        Status::Paused => Error::Refused {
            what: format!("{id} is paused"),
            hint: format!("`thru loop resume {id}` continues it"),
        },
        status => Error::Refused {
            what: format!("{id} is {}, and stays so", status.name()),
            hint: "`thru loop start` begins a new one".into(),
        },
    }
}
