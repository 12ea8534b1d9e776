//! A command from the records runs only if the user has allowed it on this machine. Only this module checks and
//! records that permission.
//!
//! Records in the project's folder do not give permission, because a clone, a pull or an edit can add any record. A
//! digest in the state folder (`store::Consents`) shows that the user has allowed a record. Each kind of record has
//! its own digests.

use std::path::Path;

use jiff::Timestamp;
use model::config::StageDefinition;
use model::consent::{self, ConsentDigest};
use model::gate::ExpectedOutput;
use model::loops::Loop;
use store::{ConsentKind, Consents, Root, RunFolder, Store};

use crate::{Error, Result, World};

/// Returns whether the user started this loop, in its current form, on this machine.
pub(crate) fn is_started_here(store: &Store, state: &Loop) -> bool {
    store.is_consent_given(ConsentKind::Loop, &state.id, &[consent::digest_of_loop(state)])
}

/// Returns whether the user started this loop for the next session.
pub(crate) fn may_next_session_claim_loop(store: &Store, state: &Loop) -> bool {
    store.is_consent_given(
        ConsentKind::Loop,
        &state.id,
        &[consent::digest_of_loop(state), consent::digest_of_claim(state)],
    )
}

/// Which session may run the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoopClaimRight {
    OneSession,
    NextSession,
}

/// Allows a loop. `before` is the form of the loop that was allowed until now. It stays allowed, in case a crash
/// prevents the new form from being written.
pub(crate) fn allow_loop(
    store: &Store,
    before: Option<&Loop>,
    state: &Loop,
    claim: LoopClaimRight,
    now: Timestamp,
) -> Result<()> {
    let mut digests: Vec<ConsentDigest> =
        before.into_iter().chain([state]).map(consent::digest_of_loop).collect();
    if claim == LoopClaimRight::NextSession {
        digests.push(consent::digest_of_claim(state));
    }
    Ok(require_consents(store)?.replace_digests(ConsentKind::Loop, &state.id, &digests, now)?)
}

/// Withdraws the consent to a loop that must never run again.
pub(crate) fn withdraw_loop_consent(store: &Store, id: &str) -> Result<()> {
    match store.consents() {
        Some(consents) => Ok(consents.withdraw_consent(ConsentKind::Loop, id)?),
        None => Ok(()),
    }
}

/// Returns whether the user has allowed the command that produces this output. An output without a command needs no
/// consent.
pub(crate) fn is_launch_allowed(
    store: &Store,
    root: &Root,
    run: &RunFolder,
    output: &ExpectedOutput,
) -> bool {
    store.is_consent_given(
        ConsentKind::StageRun,
        &run_folder_id(root, run),
        &[consent::digest_of_output(output)],
    )
}

pub(crate) fn allow_launches<'a>(
    store: &Store,
    root: &Root,
    run: &RunFolder,
    outputs: impl Iterator<Item = &'a ExpectedOutput>,
    now: Timestamp,
) -> Result<()> {
    let digests: Vec<ConsentDigest> =
        outputs.filter(|output| !output.launch.is_empty()).map(consent::digest_of_output).collect();
    match digests.is_empty() {
        true => Ok(()),
        false => Ok(require_consents(store)?.add_digests(
            ConsentKind::StageRun,
            &run_folder_id(root, run),
            &digests,
            now,
        )?),
    }
}

/// Returns whether a stage is allowed. Stages in the user's own settings always are. Stages that the project's
/// settings define or extend must be adopted first.
pub(crate) fn is_stage_allowed(world: &World, store: &Store, stage: &StageDefinition) -> bool {
    let own = world.user_settings_file().is_some_and(|path| path.display().to_string() == stage.source);
    own || store.is_consent_given(
        ConsentKind::StageDefinition,
        &stage.name,
        &[consent::digest_of_stage(stage)],
    )
}

pub(crate) fn allow_stage(store: &Store, stage: &StageDefinition, now: Timestamp) -> Result<()> {
    let digest = consent::digest_of_stage(stage);
    Ok(require_consents(store)?.replace_digests(ConsentKind::StageDefinition, &stage.name, &[digest], now)?)
}

/// Returns an id for a run: its path, relative to the root if possible. The whole path is used because two worktrees
/// can have folders with the same name.
fn run_folder_id(root: &Root, run: &RunFolder) -> String {
    let inside =
        |base: &Path| run.path().strip_prefix(base).ok().map(|rel| rel.to_string_lossy().into_owned());
    inside(&root.path).unwrap_or_else(|| run.path().to_string_lossy().into_owned())
}

fn require_consents(store: &Store) -> Result<&Consents> {
    store.consents().ok_or_else(|| Error::Refused {
        what: "there is no place to record what you allowed to run: neither HOME nor XDG_STATE_HOME is set, or this root has no root.json"
            .into(),
        hint: "set HOME to your home folder; `thru init` creates root.json".into(),
    })
}
