//! Which loop is meant, in which project, and whose it shall be.

use model::id::Id;
use model::loops::pointer::Pointer;
use store::Store;

use super::{front, usage};
use crate::project::Project;
use crate::sessions::Chosen;
use crate::{Error, Result, World, sessions};

/// Whose a loop shall be.
#[derive(Clone, Copy, Debug)]
pub enum Wanted<'a> {
    /// The session this runs in.
    Here,
    Session(&'a str),
    /// The next one that starts.
    Next,
}

#[derive(Clone, Debug)]
pub(super) enum Owner {
    Session(Id, Chosen),
    Next,
}

pub(super) fn open(world: &World) -> Result<Store> {
    Ok(Project::find(world)?.store)
}

/// Hooks do nothing in a root that is not trusted: a loop there would never run.
pub(super) fn need_trust(world: &World, project: &Project) -> Result<()> {
    let Project { root, marker, .. } = project;
    match world.trusts(marker, &root.path) {
        true => Ok(()),
        false => Err(Error::Refused {
            what: format!("{}: this root is not trusted, so no loop runs here", root.path.display()),
            hint: "look at the records in .agent/context, then run `thru trust`".into(),
        }),
    }
}

pub(super) fn trusted(world: &World) -> Result<Store> {
    let project = Project::find(world)?;
    need_trust(world, &project)?;
    Ok(project.store)
}

/// A whole id, the beginning of one, or a part of its name; without any, the one in the foreground.
pub(super) fn choose(world: &World, store: &Store, named: Option<&str>) -> Result<Id> {
    let hint = || "`thru loop list` shows the loops there are".to_owned();
    let Some(named) = named else {
        let pointer = front(store)?;
        let front = in_front(world, store, &pointer).and_then(|id| Id::new(&id).ok());
        // Of one alone there is no doubt which is meant.
        let only = || <[Id; 1]>::try_from(store.loop_ids().ok()?).ok().map(|[id]| id);
        return front.or_else(only).ok_or_else(|| Error::Absent {
            what: "no loop is in the foreground; name one".into(),
            hint: hint(),
        });
    };
    let all = store.loop_ids()?;
    if let Some(id) = all.iter().find(|id| id.as_str() == named) {
        return Ok(id.clone());
    }
    let by = |fits: &dyn Fn(&str) -> bool| all.iter().filter(|id| fits(id.as_str())).collect::<Vec<_>>();
    let mut matching = by(&|id| id.split_once('-').is_some_and(|(_, slug)| slug == named));
    if matching.is_empty() {
        matching = by(&|id| id.starts_with(named));
    }
    if matching.is_empty() {
        matching = by(&|id| id.contains(named));
    }
    match matching.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(Error::Absent { what: format!("there is no loop `{named}`"), hint: hint() }),
        many => Err(Error::Refused {
            what: format!("`{named}` fits {} loops", many.len()),
            hint: many.iter().map(|id| id.as_str()).collect::<Vec<_>>().join(", "),
        }),
    }
}

/// The session a loop shall hold. Never a guess, except inside a harness that does not tell its session.
pub(super) fn find_owner(world: &World, store: &Store, wanted: Wanted) -> Result<Owner> {
    match wanted {
        Wanted::Next => return Ok(Owner::Next),
        Wanted::Session(named) => {
            let (session, chosen) = sessions::choose(world, store, Some(named))?;
            return Ok(Owner::Session(session, chosen));
        }
        Wanted::Here => {}
    }
    if let Ok((session, Chosen::Harness)) = sessions::choose(world, store, None) {
        return Ok(Owner::Session(session, Chosen::Harness));
    }
    let newest = sessions::newest(store)?;
    let around = world.harness().and_then(harness::by_name).filter(|around| around.session.is_none());
    if let (Some(around), Some(newest)) = (around, &newest)
        && newest.harness == around.name
        && let Ok(session) = Id::new(&newest.session)
    {
        return Ok(Owner::Session(session, Chosen::Guess));
    }
    let known = newest.map_or(String::new(), |newest| format!(" (the newest is {})", newest.session));
    Err(usage(
        "which session shall the loop hold? This is not run inside a harness that says so".into(),
        &format!("--session ID names one{known}; --next takes the next one that starts here"),
    ))
}

pub(super) fn in_front(world: &World, store: &Store, pointer: &Pointer) -> Option<String> {
    // Inside a session only its own loop is meant: what is done to it is final.
    if let Ok((session, Chosen::Harness)) = sessions::choose(world, store, None) {
        return pointer.of(session.as_str()).map(str::to_owned);
    }
    let last = || pointer.active_loop_id.clone().or_else(|| pointer.by_session.values().next_back().cloned());
    last()
}
