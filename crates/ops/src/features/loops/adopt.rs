//! `thru loop adopt`: shows the user what a loop would feed and run, and records the user's consent.

use model::consent;
use model::loops::{Loop, LoopStatus};
use serde::Serialize;

use super::{LoopChanged, choose_loop, foreground_pointer, loop_shown, not_active_error, open_trusted_store};
use crate::features::loops::choose::LoopUse;
use crate::project::consent::{LoopClaimRight, allow_loop, is_started_here};
use crate::project::person::require_person;
use crate::setup::init::LOCK_WAIT;
use crate::{Error, Result, World};

/// A loop that the user is asked to allow. Only this content is adopted, even if the file changes meanwhile.
#[derive(Clone, Debug, Serialize)]
pub struct LoopAdoption {
    #[serde(flatten)]
    pub shown: super::LoopShown,
    #[serde(skip)]
    state: Loop,
}

pub fn prepare_adoption(world: &World, named: &str) -> Result<LoopAdoption> {
    require_person(world, "a loop is not adopted", &format!("thru loop adopt {named}"))?;
    let store = open_trusted_store(world)?;
    let state = store.read_loop(&choose_loop(world, &store, Some(named), LoopUse::Look)?)?.state;
    if matches!(state.status, LoopStatus::Done | LoopStatus::Cancelled) {
        return Err(not_active_error(&state));
    }
    Ok(LoopAdoption { shown: loop_shown(&store, &state, &foreground_pointer(&store)?), state })
}

/// Records the user's consent to what was shown.
pub fn adopt_loop(world: &World, adoption: &LoopAdoption) -> Result<LoopChanged> {
    let store = open_trusted_store(world)?;
    let _lock = store.lock_loops(LOCK_WAIT)?;
    let id = choose_loop(world, &store, Some(&adoption.state.id), LoopUse::Look)?;
    let state = store.read_loop(&id)?.state;
    if consent::digest_of_loop(&state) != consent::digest_of_loop(&adoption.state) {
        return Err(Error::Refused {
            what: format!("{id} was changed while you looked at it"),
            hint: format!("`thru loop adopt {id}` shows it as it is now"),
        });
    }
    let changed = !is_started_here(&store, &state);
    let claim =
        if state.session.is_none() { LoopClaimRight::NextSession } else { LoopClaimRight::OneSession };
    allow_loop(&store, None, &state, claim, world.now)?;
    let shown = loop_shown(&store, &state, &foreground_pointer(&store)?);
    let next = match shown.status {
        LoopStatus::Active if shown.foreground || shown.waiting => None,
        LoopStatus::Active => Some(format!("`thru loop activate {id} --next` gives it to the next session")),
        _ => Some(format!("`thru loop resume {id}` continues it")),
    };
    Ok(LoopChanged { shown, changed, chosen: None, notes: next.into_iter().collect() })
}
