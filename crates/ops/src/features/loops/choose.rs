//! Determines which loop is meant, in which project, and which session it should hold.

use model::id::{self, Id};
use model::loops::pointer::Pointer;
use model::loops::{Loop, Status};
use store::Store;

use super::{all, front, usage};
use crate::project::Project;
use crate::project::consent::Claim;
use crate::project::trust;
use crate::session::list;
use crate::session::list::Chosen;
use crate::session::roster::{self, Entry};
use crate::{Error, Result, World};

/// Which session a loop should hold.
#[derive(Clone, Copy, Debug)]
pub enum Wanted<'a> {
    /// The current session.
    Here,
    Session(&'a str),
    /// The next session to start.
    Next,
}

#[derive(Clone, Debug)]
pub(super) enum Owner {
    Session(Id, Chosen),
    Next,
}

impl Owner {
    pub(super) fn claim(&self) -> Claim {
        match self {
            Owner::Session(..) => Claim::OneSession,
            Owner::Next => Claim::NextSession,
        }
    }
}

pub(super) fn open(world: &World) -> Result<Store> {
    Ok(Project::find(world)?.store)
}

/// Refuses an untrusted root: hooks do nothing there, so a loop would never run.
pub(super) fn need_trust(world: &World, project: &Project) -> Result<()> {
    let Project { root, marker, .. } = project;
    match world.trusts(marker, &root.path) {
        true => Ok(()),
        false => Err(Error::Refused {
            what: format!("{}: this root is not trusted, so no loop runs here", root.path.display()),
            hint: trust::advice(world, &marker.project_id, &root.path, "the records in .agent/context"),
        }),
    }
}

pub(super) fn trusted(world: &World) -> Result<Store> {
    let project = Project::find(world)?;
    need_trust(world, &project)?;
    Ok(project.store)
}

/// What a command needs a loop for, if the user did not name a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoopUse {
    Look,
    /// To remove the loop from the foreground.
    SetBack,
    Resume,
}

/// Finds a loop by its whole id, the beginning of its id, or a part of its name. Without a name, returns the loop
/// if only one can be meant.
pub(super) fn choose(world: &World, store: &Store, named: Option<&str>, aim: LoopUse) -> Result<Id> {
    let hint = || "`thru loop list` shows the loops".to_owned();
    let Some(named) = named else {
        let here = here(world, store);
        let (records, _) = all(store)?;
        let loops: Vec<&Loop> = records.iter().map(|record| &record.state).collect();
        let id = match meant(aim, &loops, &front(store)?, here.as_ref().map(Id::as_str)).as_slice() {
            [one] => one.id.clone(),
            [] => {
                let of = if here.is_some() { " of this session" } else { "" };
                let what = match aim {
                    LoopUse::Resume => format!("no loop{of} is paused; name one"),
                    LoopUse::Look | LoopUse::SetBack => format!("no loop{of} is in the foreground; name one"),
                };
                return Err(Error::Absent { what, hint: hint() });
            }
            many => {
                return Err(Error::Refused {
                    what: format!("{} loops match; name one", many.len()),
                    hint: many.iter().map(|one| one.id.as_str()).collect::<Vec<_>>().join(", "),
                });
            }
        };
        return Id::new(&id).map_err(|bad| usage(bad.to_string(), &hint()));
    };
    let all = store.loop_ids()?;
    if let Some(id) = all.iter().find(|id| id.as_str() == named) {
        return Ok(id.clone());
    }
    let names: Vec<&str> = all.iter().map(Id::as_str).collect();
    match id::meant(&names, named).as_slice() {
        [one] => Id::new(one).map_err(|bad| usage(bad.to_string(), &hint())),
        [] => Err(Error::Absent { what: format!("there is no loop `{named}`"), hint: hint() }),
        many => Err(Error::Refused {
            what: format!("`{named}` fits {} loops", many.len()),
            hint: many.join(", "),
        }),
    }
}

/// Returns the session that a loop should hold. The session is never guessed, except inside a harness that does not
/// say which session it runs.
pub(super) fn find_owner(world: &World, store: &Store, wanted: Wanted) -> Result<Owner> {
    match wanted {
        Wanted::Next => return Ok(Owner::Next),
        Wanted::Session(named) => {
            let (session, chosen) = list::choose(world, store, Some(named))?;
            return Ok(Owner::Session(session, chosen));
        }
        Wanted::Here => {}
    }
    if let Ok((session, Chosen::Harness)) = list::choose(world, store, None) {
        return Ok(Owner::Session(session, Chosen::Harness));
    }
    let newest = list::newest(store)?;
    let around = world.harness().and_then(harness::by_name).filter(|around| around.session.is_none());
    if let (Some(around), Some(newest)) = (around, &newest)
        && newest.harness == around.name
        && let Ok(session) = Id::new(&newest.session)
    {
        return Ok(Owner::Session(session, Chosen::Guess));
    }
    let entries = roster::read(store, roster::TAIL)?;
    let open = roster::by_activity(&entries, store, Entry::is_open);
    let hint = match open.first() {
        Some(entry) => format!(
            "use --session ID (the newest that has not ended is {}), or --next for the next session that starts here",
            entry.session
        ),
        None => "use --next for the next session that starts here; no session is open now".to_owned(),
    };
    Err(usage("which session should the loop hold? No harness says which one this runs in".into(), &hint))
}

/// Returns the current session. Inside a session, a command that names no loop means a loop of that session,
/// because some commands cannot be undone.
fn here(world: &World, store: &Store) -> Option<Id> {
    match list::choose(world, store, None) {
        Ok((session, Chosen::Harness)) => Some(session),
        _ => None,
    }
}

/// Returns the loops that can be meant if the user names none. A command that only reads does no harm, so it gets
/// the newest loop.
fn meant<'a>(aim: LoopUse, loops: &[&'a Loop], pointer: &Pointer, here: Option<&str>) -> Vec<&'a Loop> {
    let is_ours = |known: &Loop| here.is_none() || known.session.as_deref() == here;
    let fits = |known: &Loop| match aim {
        LoopUse::Resume => known.status == Status::Paused,
        LoopUse::Look | LoopUse::SetBack => known.status == Status::Active && pointer.holds(&known.id),
    };
    let fitting: Vec<&Loop> = loops.iter().copied().filter(|known| fits(known) && is_ours(known)).collect();
    let newest = |of: &[&'a Loop]| {
        of.iter().copied().max_by(|a, b| (&a.updated_at, &a.id).cmp(&(&b.updated_at, &b.id)))
    };
    match (aim, fitting.as_slice()) {
        // No loop is in the foreground: use the loop that was changed last.
        (LoopUse::Look, []) => {
            let ours: Vec<&Loop> = loops.iter().copied().filter(|known| is_ours(known)).collect();
            newest(if loops.len() == 1 { loops } else { &ours }).into_iter().collect()
        }
        (LoopUse::Look, many) => newest(many).into_iter().collect(),
        // Inside a session, the loop that is meant is the one of its own paused loops that was changed last.
        (LoopUse::Resume, many) if here.is_some() => newest(many).into_iter().collect(),
        _ => fitting,
    }
}

pub(super) fn in_front(world: &World, store: &Store, pointer: &Pointer) -> Option<String> {
    if let Some(session) = here(world, store) {
        return pointer.of(session.as_str()).map(str::to_owned);
    }
    let last = || pointer.active_loop_id.clone().or_else(|| pointer.by_session.values().next_back().cloned());
    last()
}

#[cfg(test)]
#[path = "choose_tests.rs"]
mod tests;
