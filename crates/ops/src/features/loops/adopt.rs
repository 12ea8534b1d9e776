//! `thru loop adopt`: shows the user what a loop would feed and run, and records the user's consent.

use model::consent;
use model::loops::{Loop, Status};
use serde::Serialize;

use super::{Changed, choose, front, not_active, shown, trusted};
use crate::features::loops::choose::LoopUse;
use crate::project::consent::{Claim, allow_loop, is_started_here};
use crate::project::person::require_person;
use crate::setup::init::PATIENCE;
use crate::{Error, Result, World};

/// A loop that the user is asked to allow. Only this content is adopted, even if the file changes meanwhile.
#[derive(Clone, Debug, Serialize)]
pub struct Adoption {
    #[serde(flatten)]
    pub shown: super::Shown,
    #[serde(skip)]
    state: Loop,
}

pub fn to_adopt(world: &World, named: &str) -> Result<Adoption> {
    require_person(world, "a loop is not adopted", &format!("thru loop adopt {named}"))?;
    let store = trusted(world)?;
    let state = store.read_loop(&choose(world, &store, Some(named), LoopUse::Look)?)?.state;
    if matches!(state.status, Status::Done | Status::Cancelled) {
        return Err(not_active(&state));
    }
    Ok(Adoption { shown: shown(&store, &state, &front(&store)?), state })
}

/// Records the user's consent to what was shown.
pub fn adopt(world: &World, adoption: &Adoption) -> Result<Changed> {
    let store = trusted(world)?;
    let _lock = store.lock_loops(PATIENCE)?;
    let id = choose(world, &store, Some(&adoption.state.id), LoopUse::Look)?;
    let state = store.read_loop(&id)?.state;
    if consent::of_loop(&state) != consent::of_loop(&adoption.state) {
        return Err(Error::Refused {
            what: format!("{id} was changed while you looked at it"),
            hint: format!("`thru loop adopt {id}` shows it as it is now"),
        });
    }
    let changed = !is_started_here(&store, &state);
    let claim = if state.session.is_none() { Claim::NextSession } else { Claim::OneSession };
    allow_loop(&store, None, &state, claim, world.now)?;
    let shown = shown(&store, &state, &front(&store)?);
    let next = match shown.status {
        Status::Active if shown.foreground || shown.waiting => None,
        Status::Active => Some(format!("`thru loop activate {id} --next` gives it to the next session")),
        _ => Some(format!("`thru loop resume {id}` continues it")),
    };
    Ok(Changed { shown, changed, chosen: None, notes: next.into_iter().collect() })
}
