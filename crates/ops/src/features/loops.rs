//! Loops and their commands. The submodule [`stop`] handles stops, and [`session`] handles session starts.

mod adopt;
mod choose;
mod notes;
pub mod ralph;
mod report;
pub(crate) mod session;
pub mod start;
pub(crate) mod stop;
mod stop_facts;
mod validators;

use jiff::{SignedDuration, Timestamp};
use model::event::{EventKind, EventName, EventSet};
use model::id::Id;
use model::loops::log::{LoopEvent, LoopLogEntry};
use model::loops::pointer::ForegroundPointer;
use model::loops::{EndReason, Loop, LoopRecord, LoopStatus, Promise, ResumeCommand, command_to_resume};
use model::time;
use serde::Serialize;
use store::{FoundRoot, Store};

pub use adopt::{LoopToAdopt, adopt_loop, find_loop_to_adopt};
pub use choose::WantedLoopOwner;
use choose::{
    LoopCommandPurpose, LoopOwner, choose_loop, find_loop_owner, find_owner_of_existing_loop,
    foreground_loop_id, open_store, open_trusted_project, require_trust,
};
use notes::notes_before_run;
pub use report::{advice_on_ended_session, advice_without_consent, short_session_id};

use crate::features::{Feature, FeatureAnswer};
use crate::hook::context::HookContext;
use crate::project::{Project, consent, settings};
use crate::session::list::SessionChoiceReason;
use crate::session::roster::{self, SessionEnd};
use crate::setup::init::MAX_WAIT_FOR_RECORD_LOCK;
use crate::{Error, Result, World};

pub const FEATURE_ROW: Feature = Feature {
    name: "loops",
    wanted_events: EventSet::from_names(&[
        EventName::SessionStart,
        EventName::Prompt,
        EventName::Stop,
        EventName::SessionEnd,
    ]),
    decide,
    brief_candidates: session::brief_candidates,
    brief_sections: session::BRIEF_SECTION_NAMES,
    continue_under_new_id: session::continue_under_new_id,
    doctor_checks: report::doctor_checks,
    status: report::status_lines,
    ..Feature::EMPTY_FEATURE
};

fn decide<'c>(context: &'c HookContext<'_>) -> Result<FeatureAnswer<'c>> {
    // A loop never blocks a sub-agent and never acts on a truncated payload.
    if context.event.subagent.is_some() || context.event.is_payload_truncated {
        return Ok(FeatureAnswer::no_action("loops act only on complete events of the main agent"));
    }
    match &context.event.kind {
        EventKind::Stop(stopped) => stop::decide_at_stop(context, stopped),
        EventKind::SessionStart { source } => session::claim_waiting_loop(context, *source),
        EventKind::Prompt { .. } | EventKind::SessionEnd { .. } => {
            stop::decide_after_overridden_stop(context)
        }
        EventKind::ToolDone(_)
        | EventKind::BeforeCompact { .. }
        | EventKind::Summary { .. }
        | EventKind::AfterCompact { .. }
        | EventKind::SubagentStart
        | EventKind::SubagentStop { .. }
        | EventKind::Other { .. } => Ok(FeatureAnswer::no_action("loops do not act on this event")),
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct LoopShown {
    pub id: String,
    pub status: LoopStatus,
    pub iteration: u64,
    pub max_iterations: u64,
    pub promises: Vec<Promise>,
    /// Whether the user has allowed the loop in its current form on this machine. If not, no agent gets the loop's
    /// prompt, and the loop's validators do not run.
    #[serde(rename = "started_here")]
    pub is_allowed_here: bool,
    /// Whether the project's folder was moved and its new path is not trusted yet. If so, no loop is allowed.
    #[serde(skip)]
    pub is_folder_moved: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// How the loop's session ended. Set only if the loop is active and allowed but cannot run, because its session
    /// is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_end: Option<SessionEnd>,
    /// Whether the loop keeps its session from stopping.
    pub foreground: bool,
    /// Whether the loop is waiting for the next session to start.
    #[serde(rename = "waiting")]
    pub waits_for_session: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_reason: Option<EndReason>,
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
pub struct LoopListing {
    /// All loops, most recently changed first.
    pub loops: Vec<LoopShown>,
    /// The files that cannot be read as loops.
    pub damaged: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct LoopLogShown {
    #[serde(rename = "loop")]
    pub shown_loop: LoopShown,
    pub entries: Vec<LoopLogEntry>,
    /// How many lines of the loop's log cannot be read.
    pub torn: usize,
}

#[derive(Clone, Debug, Serialize)]
pub struct LoopChanged {
    #[serde(rename = "loop")]
    pub shown_loop: LoopShown,
    /// Whether the command changed the loop. False if there was nothing to change.
    pub changed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "chosen")]
    pub session_choice: Option<SessionChoiceReason>,
    pub notes: Vec<String>,
}

/// What `thru loop resume` changes about a loop: its limits and the session that runs it.
#[derive(Clone, Copy, Debug)]
pub struct ResumeOptions<'a> {
    pub max_iterations: Option<u64>,
    pub seconds: Option<i64>,
    pub owner: WantedLoopOwner<'a>,
}

/// Lists the loops. If there is no root, the list is empty and no error is returned.
pub fn list_loops(world: &World) -> Result<LoopListing> {
    let (root, store) = match world.find_root()? {
        FoundRoot::Marked { root, store, .. } => (root, store),
        FoundRoot::Unmarked(_) => return Ok(LoopListing { loops: Vec::new(), damaged: Vec::new() }),
    };
    let is_folder_moved = report::is_folder_moved(world, &store, &root);
    let (records, damaged) = all_loops(&store)?;
    let pointer = read_or_rebuild_pointer(&store, &records);
    let shown = records.iter().map(|record| loop_shown(world, &store, &record.loop_state, &pointer));
    let mut loops: Vec<LoopShown> = shown.map(|shown| LoopShown { is_folder_moved, ..shown }).collect();
    loops.sort_by(|a, b| (&b.updated_at, &b.id).cmp(&(&a.updated_at, &a.id)));
    Ok(LoopListing { loops, damaged: damaged.iter().map(ToString::to_string).collect() })
}

pub fn show_loop(world: &World, named: Option<&str>) -> Result<(LoopShown, String)> {
    let store = open_store(world)?;
    let record = store.read_loop(&choose_loop(world, &store, named, LoopCommandPurpose::View)?)?;
    let text = String::from_utf8_lossy(record.bytes()).into_owned();
    Ok((loop_shown(world, &store, &record.loop_state, &store.read_foreground()?.unwrap_or_default()), text))
}

pub fn show_loop_log(world: &World, named: Option<&str>) -> Result<LoopLogShown> {
    let store = open_store(world)?;
    let id = choose_loop(world, &store, named, LoopCommandPurpose::View)?;
    let record = store.read_loop(&id)?;
    let mut entries = Vec::new();
    let tally = store.each_loop_log_entry(&id, |entry| entries.push(entry))?;
    let pointer = store.read_foreground()?.unwrap_or_default();
    Ok(LoopLogShown {
        shown_loop: loop_shown(world, &store, &record.loop_state, &pointer),
        entries,
        torn: tally.invalid_lines.len(),
    })
}

/// Puts a loop into the foreground of a session. The previous foreground loop stays active and waits.
pub fn activate_loop(world: &World, named: &str, owner: WantedLoopOwner) -> Result<LoopChanged> {
    let project = open_trusted_project(world)?;
    let store = &project.store;
    let id = choose_loop(world, store, Some(named), LoopCommandPurpose::View)?;
    let owner = find_owner_of_existing_loop(world, store, &id, owner)?;
    let _lock = store.lock_loops(MAX_WAIT_FOR_RECORD_LOCK)?;
    let record = store.read_loop(&id)?;
    require_open(&record.loop_state)?;
    require_consent(store, &record.loop_state)?;
    if record.loop_state.status == LoopStatus::Paused {
        return Err(paused_error(&record.loop_state, world.now));
    }
    let mut next = record.loop_state.clone();
    next.last_stop = None;
    write_and_set_foreground(world, &project, &record, next, &owner, LoopEvent::Activated)
}

pub fn resume_loop(world: &World, named: Option<&str>, how: ResumeOptions) -> Result<LoopChanged> {
    let project = open_trusted_project(world)?;
    let store = &project.store;
    let id = choose_loop(world, store, named, LoopCommandPurpose::Resume)?;
    let owner = find_owner_of_existing_loop(world, store, &id, how.owner)?;
    let _lock = store.lock_loops(MAX_WAIT_FOR_RECORD_LOCK)?;
    let record = store.read_loop(&id)?;
    let mut next = record.loop_state.clone();
    require_open(&next)?;
    require_consent(store, &next)?;
    if next.status == LoopStatus::Active {
        return Err(already_active_error(&next));
    }
    next.max_iterations = how.max_iterations.unwrap_or(next.max_iterations);
    if let Some(seconds) = how.seconds {
        next.deadline = Some(deadline_after(world.now, seconds)?);
    }
    let ResumeCommand { command, effect } = command_to_resume(&next, world.now);
    if next.has_used_up_iterations() {
        return Err(Error::Refused {
            what: format!("{id} has used up its {} iterations", next.max_iterations),
            hint: format!("`{command}` {effect}; N counts from the start of the loop"),
        });
    }
    if next.is_out_of_time(world.now) {
        return Err(Error::Refused {
            what: format!("{id} has run out of time"),
            hint: format!("`{command}` {effect}"),
        });
    }
    next.status = LoopStatus::Active;
    (next.end_reason, next.ended_detail, next.last_stop) = (None, None, None);
    write_and_set_foreground(world, &project, &record, next, &owner, LoopEvent::Resumed)
}

pub fn pause_loop(world: &World, named: Option<&str>) -> Result<LoopChanged> {
    change_and_remove_from_foreground(world, named, |state| match state.status {
        LoopStatus::Active => {
            state.status = LoopStatus::Paused;
            Ok(Some(LoopEvent::Paused))
        }
        LoopStatus::Paused => Ok(None),
        LoopStatus::Done | LoopStatus::Cancelled => Err(ended_error(state)),
    })
}

pub fn cancel_loop(world: &World, named: Option<&str>) -> Result<LoopChanged> {
    change_and_remove_from_foreground(world, named, |state| match state.status {
        LoopStatus::Cancelled => Ok(None),
        LoopStatus::Done => Err(ended_error(state)),
        LoopStatus::Active | LoopStatus::Paused => {
            state.end_with_reason(EndReason::Cancelled, None);
            Ok(Some(LoopEvent::Cancelled))
        }
    })
}

fn change_and_remove_from_foreground(
    world: &World,
    named: Option<&str>,
    change: impl FnOnce(&mut Loop) -> Result<Option<LoopEvent>>,
) -> Result<LoopChanged> {
    let store = open_store(world)?;
    let id = choose_loop(world, &store, named, LoopCommandPurpose::LeaveForeground)?;
    let _lock = store.lock_loops(MAX_WAIT_FOR_RECORD_LOCK)?;
    let record = store.read_loop(&id)?;
    let mut next = record.loop_state.clone();
    let event = change(&mut next)?;
    let mut pointer = foreground_pointer(&store)?;
    if event.is_some() {
        next.set_updated_time(world.now);
        write_loop(&store, &id, &record, next.clone())?;
    }
    if pointer.contains_loop(id.as_str()) || pointer.active_loop_id.as_deref() == Some(id.as_str()) {
        pointer.remove_loop(id.as_str());
        store.write_foreground_pointer(&pointer)?;
    }
    if let Some(event) = event {
        append_to_log(world, &store, &next, event)?;
    }
    if next.status == LoopStatus::Cancelled {
        // Withdraw the consent, so that it does not come back if somebody restores the file.
        consent::withdraw_loop_consent(&store, &next.id)?;
    }
    Ok(LoopChanged {
        shown_loop: loop_shown(world, &store, &next, &pointer),
        changed: event.is_some(),
        session_choice: None,
        notes: Vec::new(),
    })
}

/// Writes a loop that is about to run, and puts it into the foreground.
fn write_and_set_foreground(
    world: &World,
    project: &Project,
    record: &LoopRecord,
    mut next: Loop,
    owner: &LoopOwner,
    event: LoopEvent,
) -> Result<LoopChanged> {
    let store = &project.store;
    let id =
        Id::new(&next.id).map_err(|bad| usage_error(bad.to_string(), "`thru loop list` shows the loops"))?;
    next.set_updated_time(world.now);
    next.session = match owner {
        LoopOwner::Session(session, _) => Some(session.to_string()),
        LoopOwner::NextSession => None,
    };
    consent::allow_loop(store, Some(&record.loop_state), &next, owner.claim(), world.now)?;
    write_loop(store, &id, record, next.clone())?;
    let (pointer, mut notes) = point_to_loop(store, &next, owner)?;
    notes.extend(notes_before_run(world, project, &next, owner));
    append_to_log(world, store, &next, event)?;
    let session_choice = match owner {
        LoopOwner::Session(_, session_choice) => Some(*session_choice),
        LoopOwner::NextSession => None,
    };
    Ok(LoopChanged {
        shown_loop: loop_shown(world, store, &next, &pointer),
        changed: true,
        session_choice,
        notes,
    })
}

/// Changes the foreground pointer so that it points to a loop. The returned note names the previous foreground loop.
fn point_to_loop(store: &Store, state: &Loop, owner: &LoopOwner) -> Result<(ForegroundPointer, Vec<String>)> {
    let mut pointer = foreground_pointer(store)?;
    let before = match owner {
        LoopOwner::Session(session, _) => pointer.loop_of_session(session.as_str()).map(str::to_owned),
        LoopOwner::NextSession => pointer.loop_for_next_session.clone(),
    };
    match owner {
        LoopOwner::Session(session, _) => pointer.set_foreground_loop_of_session(&state.id, session.as_str()),
        LoopOwner::NextSession => pointer.set_for_next_session(&state.id),
    }
    store.write_foreground_pointer(&pointer)?;
    let was = match owner {
        LoopOwner::Session(..) => "was in the foreground, and now waits",
        LoopOwner::NextSession => "was waiting for the next session, and now waits behind this loop",
    };
    let notes = before
        .filter(|before| *before != state.id)
        .map(|before| format!("{before} {was}; `thru loop activate {before}` brings it back"));
    Ok((pointer, notes.into_iter().collect()))
}

fn write_loop(store: &Store, id: &Id, record: &LoopRecord, next: Loop) -> Result<()> {
    let edited = record.with_state(next).map_err(|error| Error::Refused {
        what: format!("{id}: {error}"),
        hint: "fix the frontmatter of the loop by hand".into(),
    })?;
    Ok(store.write_loop(id, &edited)?)
}

fn append_to_log(world: &World, store: &Store, state: &Loop, event: LoopEvent) -> Result<()> {
    let Ok(id) = Id::new(&state.id) else { return Ok(()) };
    let entry = LoopLogEntry {
        session: state.session.clone(),
        reason: state.end_reason,
        ..LoopLogEntry::new(&time::to_rfc3339(world.now), event, state.iteration)
    };
    let limit = settings::settings_here(world).settings().log_limit_bytes();
    Ok(store.append_loop_log(&id, &entry, limit)?)
}

fn loop_shown(world: &World, store: &Store, state: &Loop, pointer: &ForegroundPointer) -> LoopShown {
    let shown = loop_shown_with_consent(state, pointer, consent::is_started_here(store, state));
    let is_open = shown.is_allowed_here && shown.status == LoopStatus::Active;
    let session = state.session.as_deref().filter(|_| is_open);
    LoopShown { session_end: session.and_then(|session| end_of_session(world, store, session)), ..shown }
}

/// Returns how the session of a loop ended, or `None` if it may be running.
fn end_of_session(world: &World, store: &Store, session: &str) -> Option<SessionEnd> {
    let entries = roster::read_roster(store, u64::MAX).ok()?;
    roster::how_session_ended(&entries, store, session, world.now)
}

fn loop_shown_with_consent(state: &Loop, pointer: &ForegroundPointer, is_allowed_here: bool) -> LoopShown {
    let state = state.clone();
    let foreground =
        state.session.as_deref().is_some_and(|session| pointer.loop_of_session(session) == Some(&state.id));
    let runs = is_allowed_here && state.status == LoopStatus::Active;
    LoopShown {
        foreground: foreground && runs,
        waits_for_session: pointer.loop_for_next_session.as_deref() == Some(&state.id) && runs,
        session_end: None,
        is_allowed_here,
        is_folder_moved: false,
        id: state.id,
        status: state.status,
        iteration: state.iteration,
        max_iterations: state.max_iterations,
        promises: state.promises,
        session: state.session,
        ended_reason: state.end_reason,
        ended_detail: state.ended_detail,
        validators: state.validators,
        deadline: state.deadline,
        created_at: state.created_at,
        updated_at: state.updated_at,
        prompt: state.prompt,
    }
}

/// Returns the foreground loop of the current session, or else the loop that was last put into the foreground.
pub fn foreground_loop(world: &World, store: &Store) -> Result<Option<LoopShown>> {
    let pointer = foreground_pointer(store)?;
    let Some(id) = foreground_loop_id(world, store, &pointer).and_then(|id| Id::new(&id).ok()) else {
        return Ok(None);
    };
    match store.read_loop(&id) {
        Ok(record) => Ok(Some(loop_shown(world, store, &record.loop_state, &pointer))
            .filter(|shown| shown.foreground || shown.waits_for_session)),
        Err(store::Error::Absent { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether an active or paused loop lacks the user's consent. Such a loop came with a clone or a pull, was
/// edited by somebody, or was created by a version of thru that did not record consent.
fn is_without_consent(store: &Store, state: &Loop) -> bool {
    matches!(state.status, LoopStatus::Active | LoopStatus::Paused) && !consent::is_started_here(store, state)
}

fn require_consent(store: &Store, state: &Loop) -> Result<()> {
    match consent::is_started_here(store, state) {
        true => Ok(()),
        false => Err(Error::Refused {
            what: format!(
                "{} was not started here, or its prompt, promises, validators or limits were changed",
                state.id
            ),
            hint: format!(
                "`thru loop adopt {}` shows its prompt and its commands, and asks whether you allow them",
                state.id
            ),
        }),
    }
}

/// Returns every loop, and an error for every file that cannot be read as a loop.
fn all_loops(store: &Store) -> store::Result<(Vec<LoopRecord>, Vec<store::Error>)> {
    let (mut records, mut damaged) = (Vec::new(), Vec::new());
    for id in store.loop_ids()? {
        match store.read_loop(&id) {
            Ok(record) => records.push(record),
            Err(error) => damaged.push(error),
        }
    }
    Ok((records, damaged))
}

/// Returns the foreground pointer. The pointer is an index that may be deleted, so it is rebuilt from the loops if
/// necessary.
fn read_or_rebuild_pointer(store: &Store, records: &[LoopRecord]) -> ForegroundPointer {
    match store.read_foreground() {
        Ok(Some(pointer)) => pointer,
        // Leave out loops that the user did not start on this machine, because no session may claim them.
        _ => ForegroundPointer::rebuild_from(
            records
                .iter()
                .map(|record| &record.loop_state)
                .filter(|state| consent::is_started_here(store, state)),
        ),
    }
}

/// Like [`read_or_rebuild_pointer`], but reads the loops only if the pointer must be rebuilt.
pub(crate) fn foreground_pointer(store: &Store) -> store::Result<ForegroundPointer> {
    match store.read_foreground() {
        Ok(Some(pointer)) => Ok(pointer),
        Ok(None) | Err(store::Error::Damaged { .. }) => {
            Ok(read_or_rebuild_pointer(store, &all_loops(store)?.0))
        }
        Err(error) => Err(error),
    }
}

fn deadline_after(now: Timestamp, seconds: i64) -> Result<String> {
    let until = now.checked_add(SignedDuration::from_secs(seconds));
    let until =
        until.map_err(|_| usage_error("that duration is too long".into(), "write it like 2h or 1h30m"))?;
    Ok(time::to_rfc3339(until))
}

fn usage_error(what: String, hint: &str) -> Error {
    Error::Usage { what, hint: hint.to_owned() }
}

fn already_active_error(state: &Loop) -> Error {
    Error::Refused {
        what: format!("{} is already active", state.id),
        hint: format!("`thru loop activate {}` brings it to the foreground", state.id),
    }
}

fn paused_error(state: &Loop, now: Timestamp) -> Error {
    let ResumeCommand { command, effect } = command_to_resume(state, now);
    Error::Refused { what: format!("{} is paused", state.id), hint: format!("`{command}` {effect}") }
}

fn ended_error(state: &Loop) -> Error {
    Error::Refused {
        what: format!("{} is {}, and that is final", state.id, state.status.name()),
        hint: "`thru loop start` begins a new one".into(),
    }
}

/// Returns an error if a loop has ended for good.
fn require_open(state: &Loop) -> Result<()> {
    match state.status {
        LoopStatus::Active | LoopStatus::Paused => Ok(()),
        LoopStatus::Done | LoopStatus::Cancelled => Err(ended_error(state)),
    }
}
