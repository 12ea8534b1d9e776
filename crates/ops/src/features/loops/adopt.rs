//! `thru loop adopt`: shows a loop's prompt and commands to the user, and records the user's consent.

use model::consent;
use model::id::Id;
use model::loops::{Loop, LoopStatus, ResumeCommand, command_to_resume};
use serde::Serialize;

use super::notes::notes_before_run;
use super::{
    LoopChanged, LoopOwner, choose_loop, foreground_pointer, loop_shown, open_trusted_project, require_open,
};
use crate::features::loops::choose::LoopCommandPurpose;
use crate::project::consent::{LoopClaimRight, allow_loop, is_started_here};
use crate::project::person::require_person;
use crate::session::list::SessionChoiceReason;
use crate::setup::init::MAX_WAIT_FOR_RECORD_LOCK;
use crate::{Error, Result, World};

/// A loop that the user is asked to allow. The consent covers exactly this content, even if the file changes before
/// the user answers.
#[derive(Clone, Debug, Serialize)]
pub struct LoopToAdopt {
    #[serde(flatten)]
    pub shown_loop: super::LoopShown,
    #[serde(skip)]
    state: Loop,
}

/// Returns the loop to show to the user. The user's consent is recorded later, by [`adopt_loop`].
pub fn find_loop_to_adopt(world: &World, named: &str) -> Result<LoopToAdopt> {
    require_person(world, "a loop cannot be adopted", &format!("thru loop adopt {named}"))?;
    let store = open_trusted_project(world)?.store;
    let state =
        store.read_loop(&choose_loop(world, &store, Some(named), LoopCommandPurpose::View)?)?.loop_state;
    require_open(&state)?;
    Ok(LoopToAdopt { shown_loop: loop_shown(world, &store, &state, &foreground_pointer(&store)?), state })
}

/// Records the user's consent to exactly the loop that was shown.
pub fn adopt_loop(world: &World, loop_to_adopt: &LoopToAdopt) -> Result<LoopChanged> {
    let project = open_trusted_project(world)?;
    let store = &project.store;
    let _lock = store.lock_loops(MAX_WAIT_FOR_RECORD_LOCK)?;
    let id = choose_loop(world, store, Some(&loop_to_adopt.state.id), LoopCommandPurpose::View)?;
    let state = store.read_loop(&id)?.loop_state;
    if consent::digest_of_loop(&state) != consent::digest_of_loop(&loop_to_adopt.state) {
        return Err(Error::Refused {
            what: format!("{id} was changed while you were looking at it"),
            hint: format!("`thru loop adopt {id}` shows it as it is now"),
        });
    }
    let changed = !is_started_here(store, &state);
    let claim =
        if state.session.is_none() { LoopClaimRight::NextSession } else { LoopClaimRight::OneSession };
    allow_loop(store, None, &state, claim, world.now)?;
    let shown_loop = loop_shown(world, store, &state, &foreground_pointer(store)?);
    let notes = match shown_loop.status {
        // The loop runs from now on.
        LoopStatus::Active if shown_loop.foreground || shown_loop.waits_for_session => {
            let session = state.session.as_deref().and_then(|session| Id::new(session).ok());
            let owner = session.map_or(LoopOwner::NextSession, |session| {
                LoopOwner::Session(session, SessionChoiceReason::Named)
            });
            notes_before_run(world, &project, &state, &owner)
        }
        LoopStatus::Active => vec![format!("`thru loop activate {id} --next` gives it to the next session")],
        _ => {
            let ResumeCommand { command, effect } = command_to_resume(&state, world.now);
            vec![format!("`{command}` {effect}")]
        }
    };
    Ok(LoopChanged { shown_loop, changed, session_choice: None, notes })
}
