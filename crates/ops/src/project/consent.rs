//! A command runs only if this user allowed it on this machine. Only this module checks and records this
//! permission.
//!
//! Records in the project's folder are only data: a clone, a pull or an edit can bring any of them. A digest in the
//! state folder (`store::Consents`) shows that the user allowed a record. This module knows which digests each kind
//! of record needs.

use std::path::Path;

use jiff::Timestamp;
use model::config::Stage;
use model::consent::{self, Digest};
use model::gate::Output;
use model::loops::Loop;
use store::{ConsentKind, Consents, Root, Run, Store};

use crate::{Error, Result, World};

/// Returns whether the user started this loop here, in its current form.
pub(crate) fn is_started_here(store: &Store, state: &Loop) -> bool {
    store.is_given(ConsentKind::Loop, &state.id, &[consent::of_loop(state)])
}

/// Returns whether the user started this loop for the next session, whichever that is.
pub(crate) fn may_be_claimed(store: &Store, state: &Loop) -> bool {
    store.is_given(ConsentKind::Loop, &state.id, &[consent::of_loop(state), consent::of_claim(state)])
}

/// Which session may run a loop that the user allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    OneSession,
    NextSession,
}

/// Allows a loop. `before` is the loop as it was allowed until now: its consent stays valid, in case a crash
/// prevents the new loop from being written.
pub(crate) fn allow_loop(
    store: &Store,
    before: Option<&Loop>,
    state: &Loop,
    claim: Claim,
    now: Timestamp,
) -> Result<()> {
    let mut digests: Vec<Digest> = before.into_iter().chain([state]).map(consent::of_loop).collect();
    if claim == Claim::NextSession {
        digests.push(consent::of_claim(state));
    }
    Ok(need(store)?.replace(ConsentKind::Loop, &state.id, &digests, now)?)
}

/// Withdraws the consent for a loop that must never run again.
pub(crate) fn withdraw_loop(store: &Store, id: &str) -> Result<()> {
    match store.consents() {
        Some(consents) => Ok(consents.withdraw(ConsentKind::Loop, id)?),
        None => Ok(()),
    }
}

/// Returns whether the user allowed the command that produces this output. An output without a command launches
/// nothing.
pub(crate) fn is_launch_allowed(store: &Store, root: &Root, run: &Run, output: &Output) -> bool {
    store.is_given(ConsentKind::StageRun, &run_id(root, run), &[consent::of_output(output)])
}

pub(crate) fn allow_launches<'a>(
    store: &Store,
    root: &Root,
    run: &Run,
    outputs: impl Iterator<Item = &'a Output>,
    now: Timestamp,
) -> Result<()> {
    let digests: Vec<Digest> =
        outputs.filter(|output| !output.launch.is_empty()).map(consent::of_output).collect();
    match digests.is_empty() {
        true => Ok(()),
        false => Ok(need(store)?.add(ConsentKind::StageRun, &run_id(root, run), &digests, now)?),
    }
}

/// Returns whether a stage is allowed. Stages in the user's own settings are allowed. Stages that the project's
/// settings define or extend must be adopted first.
pub(crate) fn is_stage_allowed(world: &World, store: &Store, stage: &Stage) -> bool {
    let own = world.config_file().is_some_and(|path| path.display().to_string() == stage.source);
    own || store.is_given(ConsentKind::StageDefinition, &stage.name, &[consent::of_stage(stage)])
}

pub(crate) fn allow_stage(store: &Store, stage: &Stage, now: Timestamp) -> Result<()> {
    let digest = consent::of_stage(stage);
    Ok(need(store)?.replace(ConsentKind::StageDefinition, &stage.name, &[digest], now)?)
}

/// Returns the folder of a run, relative to the root. Two worktrees of a root can have folders with the same name.
fn run_id(root: &Root, run: &Run) -> String {
    let inside =
        |base: &Path| run.path().strip_prefix(base).ok().map(|rel| rel.to_string_lossy().into_owned());
    inside(&root.path).unwrap_or_else(|| run.path().to_string_lossy().into_owned())
}

fn need(store: &Store) -> Result<&Consents> {
    store.consents().ok_or_else(|| Error::Refused {
        what: "there is no place to record what you allowed to run: neither HOME nor XDG_STATE_HOME is set, or this root has no root.json"
            .into(),
        hint: "set HOME to your home folder; `thru init` makes the root".into(),
    })
}
