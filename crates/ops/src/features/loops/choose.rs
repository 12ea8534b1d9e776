//! Determines which loop a command is about, and which session should run the loop.

use model::id::{self, Id};
use model::loops::pointer::ForegroundPointer;
use model::loops::{Loop, LoopStatus};
use store::Store;

use super::{all_loops, foreground_pointer, usage_error};
use crate::project::Project;
use crate::project::consent::LoopClaimRight;
use crate::project::trust;
use crate::session::list;
use crate::session::list::SessionChoiceReason;
use crate::session::roster;
use crate::{Error, Result, World};

/// The maximum number of loops that an error message lists for each status.
const MAX_LOOPS_NAMED: usize = 3;

#[derive(Clone, Copy, Debug)]
pub enum WantedLoopOwner<'a> {
    CurrentSession,
    NamedSession(&'a str),
    /// The session that starts next.
    NextSession,
}

#[derive(Clone, Debug)]
pub(super) enum LoopOwner {
    Session(Id, SessionChoiceReason),
    NextSession,
}

impl LoopOwner {
    pub(super) fn claim(&self) -> LoopClaimRight {
        match self {
            LoopOwner::Session(..) => LoopClaimRight::OneSession,
            LoopOwner::NextSession => LoopClaimRight::NextSession,
        }
    }
}

pub(super) fn open_store(world: &World) -> Result<Store> {
    Ok(Project::find_for_reading(world)?.store)
}

/// Returns an error if the root is not trusted. Hooks do nothing in an untrusted root, so a loop would never run
/// there.
pub(super) fn require_trust(world: &World, project: &Project) -> Result<()> {
    let Project { root, marker, .. } = project;
    match world.is_trusted(marker, &root.path) {
        true => Ok(()),
        false => Err(Error::Refused {
            what: format!("{}: this root is not trusted, so no loop runs here", root.path.display()),
            hint: trust::how_to_trust(world, &marker.project_id, &root.path, "the records in .agent/context"),
        }),
    }
}

pub(super) fn open_trusted_project(world: &World) -> Result<Project> {
    let project = Project::find_for_reading(world)?;
    require_trust(world, &project)?;
    Ok(project)
}

/// What a command does with a loop. This determines which loop is chosen if the user names none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoopCommandPurpose {
    View,
    /// Take the loop out of the foreground.
    LeaveForeground,
    Resume,
}

/// Finds a loop by its whole id, by the beginning of its id, or by a part of its name. If `named` is `None`, returns
/// the only loop that suits `aim`.
pub(super) fn choose_loop(
    world: &World,
    store: &Store,
    named: Option<&str>,
    aim: LoopCommandPurpose,
) -> Result<Id> {
    let hint = || "`thru loop list` shows the loops".to_owned();
    let Some(named) = named else {
        let here = current_session(world, store);
        let (records, _) = all_loops(store)?;
        let loops: Vec<&Loop> = records.iter().map(|record| &record.loop_state).collect();
        let id = match loops_for_use(aim, &loops, &foreground_pointer(store)?, here.as_ref().map(Id::as_str))
            .as_slice()
        {
            [one] => one.id.clone(),
            [] => return Err(no_loop_error(aim, &loops, here.as_ref())),
            many => {
                return Err(Error::Refused {
                    what: format!("{} loops match; name one", many.len()),
                    hint: many.iter().map(|one| one.id.as_str()).collect::<Vec<_>>().join(", "),
                });
            }
        };
        return Id::new(&id).map_err(|bad| usage_error(bad.to_string(), &hint()));
    };
    let all = store.loop_ids()?;
    if let Some(id) = all.iter().find(|id| id.as_str() == named) {
        return Ok(id.clone());
    }
    let names: Vec<&str> = all.iter().map(Id::as_str).collect();
    match id::names_matching_word(&names, named).as_slice() {
        [one] => Id::new(one).map_err(|bad| usage_error(bad.to_string(), &hint())),
        [] => Err(Error::Absent { what: format!("there is no loop `{named}`"), hint: hint() }),
        many => Err(Error::Refused {
            what: format!("`{named}` matches {} loops", many.len()),
            hint: many.join(", "),
        }),
    }
}

/// Returns the error that is shown if the user named no loop and no loop suits the command. The hint lists the loops
/// that the user may mean.
fn no_loop_error(aim: LoopCommandPurpose, loops: &[&Loop], here: Option<&Id>) -> Error {
    let place = if here.is_some() { "this session" } else { "this project" };
    let what = match aim {
        LoopCommandPurpose::Resume => format!("no loop in {place} is paused"),
        LoopCommandPurpose::View if loops.is_empty() => "there are no loops in this project".to_owned(),
        LoopCommandPurpose::View | LoopCommandPurpose::LeaveForeground => {
            format!("no loop in {place} is running")
        }
    };
    let ids = |title: &str, statuses: &[LoopStatus]| {
        let mut fitting: Vec<&Loop> =
            loops.iter().copied().filter(|known| statuses.contains(&known.status)).collect();
        fitting.sort_by(|a, b| (&b.updated_at, &b.id).cmp(&(&a.updated_at, &a.id)));
        let more = fitting.len().saturating_sub(MAX_LOOPS_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let named: Vec<&str> = fitting.iter().take(MAX_LOOPS_NAMED).map(|known| known.id.as_str()).collect();
        (!named.is_empty()).then(|| format!("{title}: {}{more}", named.join(", ")))
    };
    let active = if here.is_some() { "running or waiting, in this or another session" } else { "waiting" };
    let active = if aim == LoopCommandPurpose::Resume { "not paused" } else { active };
    let open = [ids(active, &[LoopStatus::Active]), ids("paused", &[LoopStatus::Paused])];
    let open: Vec<String> = open.into_iter().flatten().collect();
    let ended = ids("ended", &[LoopStatus::Done, LoopStatus::Cancelled]);
    let hint = match (open.is_empty(), ended) {
        (false, _) => format!("name the loop that you mean; {}", open.join("; ")),
        (true, Some(ended)) => format!("`thru loop start` starts one; {ended}"),
        (true, None) => "`thru loop start` starts one".to_owned(),
    };
    Error::Absent { what, hint }
}

/// Returns the session in which a loop should run. If a harness runs this command without naming the session, the
/// session is guessed.
pub(super) fn find_loop_owner(world: &World, store: &Store, wanted: WantedLoopOwner) -> Result<LoopOwner> {
    match wanted {
        WantedLoopOwner::NextSession => return Ok(LoopOwner::NextSession),
        WantedLoopOwner::NamedSession(named) => {
            let (session, chosen) = list::choose_session(world, store, Some(named))?;
            return Ok(LoopOwner::Session(session, chosen));
        }
        WantedLoopOwner::CurrentSession => {}
    }
    if let Ok((session, SessionChoiceReason::Harness)) = list::choose_session(world, store, None) {
        return Ok(LoopOwner::Session(session, SessionChoiceReason::Harness));
    }
    let newest = list::last_active_session_with_time(store)?;
    let around = world
        .calling_harness()
        .and_then(harness::harness_by_name)
        .filter(|around| around.session_variable.is_none());
    if let (Some(around), Some(newest)) = (around, &newest)
        && newest.harness == around.name
        && let Ok(session) = Id::new(&newest.session)
    {
        return Ok(LoopOwner::Session(session, SessionChoiceReason::Guess));
    }
    let entries = roster::read_roster(store, roster::ROSTER_TAIL_BYTES)?;
    let hint = match list::last_running_session(&entries, store, world.now, |_| true) {
        Some(session) => format!(
            "use --session ID (the newest that has not ended is {session}), or --next for the next session that starts here"
        ),
        None => "use --next for the next session that starts here; no session is open now".to_owned(),
    };
    Err(usage_error(
        "which session should run the loop? This command does not know which session it runs in".into(),
        &hint,
    ))
}

/// Like [`find_loop_owner`], except when no harness runs the command. In that case, an existing loop keeps its session or,
/// if it has none, waits for the next session.
pub(super) fn find_owner_of_existing_loop(
    world: &World,
    store: &Store,
    id: &Id,
    wanted: WantedLoopOwner,
) -> Result<LoopOwner> {
    match (find_loop_owner(world, store, wanted), wanted) {
        (Err(Error::Usage { .. }), WantedLoopOwner::CurrentSession) => {
            let session = store.read_loop(id)?.loop_state.session.and_then(|session| Id::new(&session).ok());
            Ok(session.map_or(LoopOwner::NextSession, |session| {
                LoopOwner::Session(session, SessionChoiceReason::Named)
            }))
        }
        (owner, _) => owner,
    }
}

/// Returns the session that this command runs in, if the harness names it. A command that names no loop acts only on
/// that session's loops, because some commands cannot be undone.
pub(super) fn current_session(world: &World, store: &Store) -> Option<Id> {
    match list::choose_session(world, store, None) {
        Ok((session, SessionChoiceReason::Harness)) => Some(session),
        _ => None,
    }
}

/// Returns the loops that a command may act on if the user names none. For a command that only reads, the newest loop
/// is chosen, because reading does no harm.
fn loops_for_use<'a>(
    aim: LoopCommandPurpose,
    loops: &[&'a Loop],
    pointer: &ForegroundPointer,
    here: Option<&str>,
) -> Vec<&'a Loop> {
    let is_ours = |known: &Loop| here.is_none() || known.session.as_deref() == here;
    let fits = |known: &Loop| match aim {
        LoopCommandPurpose::Resume => known.status == LoopStatus::Paused,
        LoopCommandPurpose::View | LoopCommandPurpose::LeaveForeground => {
            known.status == LoopStatus::Active && pointer.contains_loop(&known.id)
        }
    };
    let fitting: Vec<&Loop> = loops.iter().copied().filter(|known| fits(known) && is_ours(known)).collect();
    let newest = |of: &[&'a Loop]| {
        of.iter().copied().max_by(|a, b| (&a.updated_at, &a.id).cmp(&(&b.updated_at, &b.id)))
    };
    match (aim, fitting.as_slice()) {
        // No loop is in the foreground, so view the most recently changed one.
        (LoopCommandPurpose::View, []) => {
            let ours: Vec<&Loop> = loops.iter().copied().filter(|known| is_ours(known)).collect();
            newest(if loops.len() == 1 { loops } else { &ours }).into_iter().collect()
        }
        (LoopCommandPurpose::View, many) => newest(many).into_iter().collect(),
        // Inside a session, resume that session's most recently changed paused loop.
        (LoopCommandPurpose::Resume, many) if here.is_some() => newest(many).into_iter().collect(),
        _ => fitting,
    }
}

pub(super) fn foreground_loop_id(
    world: &World,
    store: &Store,
    pointer: &ForegroundPointer,
) -> Option<String> {
    if let Some(session) = current_session(world, store) {
        return pointer.loop_of_session(session.as_str()).map(str::to_owned);
    }
    let of_session = || pointer.by_session.values().next_back().cloned();
    pointer.active_loop_id.clone().or_else(of_session).or_else(|| pointer.loop_for_next_session.clone())
}

#[cfg(test)]
#[path = "choose_tests.rs"]
mod tests;
