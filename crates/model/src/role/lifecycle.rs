//! The state of a role between two compactions. Each allowed step is in a table, and each step taken is recorded with
//! its author, time and reason.
//!
//! active → saving → saved → compacting → recovering → active
//!
//! A step that is not in [`ALLOWED_STEPS`] is refused. These functions have no side effects: the caller reads and
//! writes the record while it holds the lock.

use std::fmt;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::id::Id;
use crate::marker::RootMarkerProblem;
use crate::time;

pub const SCHEMA_VERSION: u32 = 1;

/// How many steps are stored. Older steps are only counted.
const MAX_STEPS_STORED: usize = 400;

/// How long a session that is compacting or recovering has exclusive use of the role. Both take minutes, so a session
/// that takes longer than this is assumed to be dead.
const MAX_EXCLUSIVE_ROLE_USE: SignedDuration = SignedDuration::from_hours(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LifecycleState {
    /// The agent is working.
    Active,
    /// The file is being checked.
    Saving,
    /// The file is saved and valid.
    Saved,
    Compacting,
    /// The session continues after a compaction, and the file has not been read again yet.
    Recovering,
}

pub const ALL_STATES: [LifecycleState; 5] = [
    LifecycleState::Active,
    LifecycleState::Saving,
    LifecycleState::Saved,
    LifecycleState::Compacting,
    LifecycleState::Recovering,
];

pub const ALLOWED_STEPS: &[(LifecycleState, LifecycleState)] = &[
    (LifecycleState::Active, LifecycleState::Saving),
    (LifecycleState::Saving, LifecycleState::Saved),
    (LifecycleState::Saved, LifecycleState::Compacting),
    (LifecycleState::Compacting, LifecycleState::Recovering),
    (LifecycleState::Recovering, LifecycleState::Active),
    // The file was not valid.
    (LifecycleState::Saving, LifecycleState::Active),
    // The file was edited again.
    (LifecycleState::Saved, LifecycleState::Active),
    // A session restarted without reporting a compaction.
    (LifecycleState::Active, LifecycleState::Recovering),
    (LifecycleState::Saved, LifecycleState::Recovering),
    // The compaction did not happen.
    (LifecycleState::Compacting, LifecycleState::Active),
];

/// An event that may change the state of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifecycleEvent {
    /// Somebody ran `thru lifecycle save`.
    Save(ContextFileValidity),
    /// A compaction was announced.
    Compaction(ContextFileValidity),
    /// The session continues after a compaction, or was resumed.
    Start,
    /// The announced compaction did not happen.
    NotCompacted,
    FileRead,
    FileEdited,
    /// Somebody ran `thru recover`.
    Recover,
}

/// Whether the context file was valid when it was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextFileValidity {
    Valid,
    Invalid,
}

impl LifecycleState {
    pub fn name(self) -> &'static str {
        match self {
            LifecycleState::Active => "active",
            LifecycleState::Saving => "saving",
            LifecycleState::Saved => "saved",
            LifecycleState::Compacting => "compacting",
            LifecycleState::Recovering => "recovering",
        }
    }

    pub fn allowed_next_states(self) -> Vec<LifecycleState> {
        ALLOWED_STEPS.iter().filter(|(from, _)| *from == self).map(|(_, to)| *to).collect()
    }
}

impl fmt::Display for LifecycleState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The lifecycle of one role in one root, stored in `state/lifecycle/<stem>.json`, where the stem is
/// [`state_file_stem`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lifecycle {
    pub schema_version: u32,
    pub role: String,
    pub state: LifecycleState,
    pub since: String,
    /// The session that is compacting or recovering.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// The steps, oldest first.
    pub history: Vec<LifecycleStep>,
    /// How many older steps are no longer stored.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[serde(rename = "forgotten")]
    pub dropped_steps: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LifecycleStep {
    pub at: String,
    pub from: LifecycleState,
    pub to: LifecycleState,
    pub why: String,
    /// `cli`, or the harness whose hook took the step.
    #[serde(rename = "by")]
    pub actor: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// Whether the step had to be forced, because it is not in the table of allowed steps.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forced: bool,
}

/// Who takes a step in a role's lifecycle, and when.
#[derive(Clone, Copy, Debug)]
pub struct LifecycleStepActor<'a> {
    pub actor: &'a str,
    /// The session, or `None` for a command outside any session.
    pub session: Option<&'a str>,
    /// The session that this one continues. Both belong to the same agent.
    pub previous_session: Option<&'a str>,
    pub now: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LifecycleStepRefusal {
    #[error("{role} is {state} and cannot become {to}; it can become {}", list_states(.allowed))]
    NotInTable { role: String, state: LifecycleState, to: LifecycleState, allowed: Vec<LifecycleState> },
    /// Another session with the same role is compacting or recovering, so it has exclusive use of the role.
    #[error("{role} is {state} in session {session}, and only that session may change it now")]
    UsedByOtherSession { role: String, state: LifecycleState, session: String },
}

/// Whether to force a step that is not in the table of allowed steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForceStep {
    No,
    Yes,
}

/// Returns the name of a role's state file, without its suffix.
pub fn state_file_stem(role: &Id) -> String {
    role.as_str().replace(['-', '.'], "_")
}

impl Lifecycle {
    pub fn new(role: &Id, now: Timestamp) -> Lifecycle {
        Lifecycle {
            schema_version: SCHEMA_VERSION,
            role: role.to_string(),
            state: LifecycleState::Active,
            since: time::to_rfc3339(now),
            session: String::new(),
            history: Vec::new(),
            dropped_steps: 0,
        }
    }

    pub fn parse(bytes: &[u8]) -> Result<Lifecycle, RootMarkerProblem> {
        #[derive(Deserialize)]
        struct VersionField {
            schema_version: u32,
        }
        let damaged =
            |e: serde_json::Error| RootMarkerProblem::Damaged { line: e.line(), why: e.to_string() };
        let VersionField { schema_version } = serde_json::from_slice(bytes).map_err(damaged)?;
        if schema_version > SCHEMA_VERSION {
            return Err(RootMarkerProblem::Foreign {
                why: format!(
                    "its schema_version is {schema_version}; this version of thru supports {SCHEMA_VERSION}"
                ),
            });
        }
        serde_json::from_slice(bytes).map_err(damaged)
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Takes the steps that follow from an event and returns their number. If a step is refused, nothing changes.
    pub fn apply_event(
        &mut self,
        happened: LifecycleEvent,
        force: ForceStep,
        actor: &LifecycleStepActor,
    ) -> Result<usize, LifecycleStepRefusal> {
        if let Some(session) = self.other_exclusive_session(actor).filter(|_| force == ForceStep::No) {
            return Err(LifecycleStepRefusal::UsedByOtherSession {
                role: self.role.clone(),
                state: self.state,
                session,
            });
        }
        let steps = lifecycle_steps_after_event(self.state, happened);
        let mut moved = self.clone();
        for (to, why) in &steps {
            moved.take_step(*to, why, force, actor)?;
        }
        *self = moved;
        Ok(steps.len())
    }

    /// Takes one step, which must be in [`ALLOWED_STEPS`] unless it is forced.
    pub fn take_step(
        &mut self,
        to: LifecycleState,
        why: &str,
        force: ForceStep,
        actor: &LifecycleStepActor,
    ) -> Result<(), LifecycleStepRefusal> {
        let from = self.state;
        let allowed = from.allowed_next_states();
        let forced = !allowed.contains(&to);
        if forced && force == ForceStep::No {
            return Err(LifecycleStepRefusal::NotInTable {
                role: self.role.clone(),
                state: from,
                to,
                allowed,
            });
        }
        let (at, session) = (time::to_rfc3339(actor.now), actor.session.unwrap_or_default().to_owned());
        let (why, by) = (why.to_owned(), actor.actor.to_owned());
        self.history.push(LifecycleStep {
            at: at.clone(),
            from,
            to,
            why,
            actor: by,
            session: session.clone(),
            forced,
        });
        let over = self.history.len().saturating_sub(MAX_STEPS_STORED);
        self.history.drain(..over);
        self.dropped_steps += over as u64;
        self.session = if is_exclusive_state(to) { session } else { String::new() };
        (self.state, self.since) = (to, at);
        Ok(())
    }

    /// Returns the other session that currently has exclusive use of this role, if any.
    fn other_exclusive_session(&self, actor: &LifecycleStepActor) -> Option<String> {
        let since = time::parse_time(&self.since)?;
        let fresh = actor.now.duration_since(since) < MAX_EXCLUSIVE_ROLE_USE;
        let own = [actor.session, actor.previous_session].contains(&Some(&self.session));
        let other = !self.session.is_empty() && actor.session.is_some() && !own;
        (is_exclusive_state(self.state) && fresh && other).then(|| self.session.clone())
    }
}

fn is_exclusive_state(state: LifecycleState) -> bool {
    matches!(state, LifecycleState::Compacting | LifecycleState::Recovering)
}

/// Returns the steps that follow from an event, each with its reason. The caller checks them against
/// [`ALLOWED_STEPS`].
fn lifecycle_steps_after_event(
    state: LifecycleState,
    happened: LifecycleEvent,
) -> Vec<(LifecycleState, &'static str)> {
    use LifecycleState::{Active, Compacting, Recovering, Saved, Saving};
    const SAVE_STEP: (LifecycleState, &str) = (Saving, "save");
    const VALID_STEP: (LifecycleState, &str) = (Saved, "the file is valid");
    const INVALID_STEP: (LifecycleState, &str) = (Active, "the file is not valid");
    const EDITED_AGAIN_STEP: (LifecycleState, &str) = (Active, "edited again");
    const SAVE_AGAIN_STEP: (LifecycleState, &str) = (Active, "to be saved again");
    const COMPACT_STEP: (LifecycleState, &str) = (Compacting, "a compaction was announced");
    const CHECK_STEP: (LifecycleState, &str) = (Saving, "checked before a compaction");
    const NO_COMPACTION_STEP: (LifecycleState, &str) = (Active, "the compaction did not happen");
    const RECOVER_STEP: (LifecycleState, &str) = (Recovering, "the session continued");
    match (happened, state) {
        (LifecycleEvent::Save(ContextFileValidity::Valid), Saving) => vec![VALID_STEP],
        (LifecycleEvent::Save(ContextFileValidity::Valid), Saved) => {
            vec![SAVE_AGAIN_STEP, SAVE_STEP, VALID_STEP]
        }
        (LifecycleEvent::Save(ContextFileValidity::Valid), _) => vec![SAVE_STEP, VALID_STEP],
        (LifecycleEvent::Save(ContextFileValidity::Invalid), Saving) => vec![INVALID_STEP],
        (LifecycleEvent::Save(ContextFileValidity::Invalid), Saved) => {
            vec![SAVE_AGAIN_STEP, SAVE_STEP, INVALID_STEP]
        }
        (LifecycleEvent::Save(ContextFileValidity::Invalid), _) => vec![SAVE_STEP, INVALID_STEP],
        (LifecycleEvent::Compaction(ContextFileValidity::Invalid), _) => vec![],
        (LifecycleEvent::Compaction(ContextFileValidity::Valid), Active) => {
            vec![CHECK_STEP, VALID_STEP, COMPACT_STEP]
        }
        (LifecycleEvent::Compaction(ContextFileValidity::Valid), Saving) => vec![VALID_STEP, COMPACT_STEP],
        (LifecycleEvent::Compaction(ContextFileValidity::Valid), Saved) => vec![COMPACT_STEP],
        (LifecycleEvent::Compaction(ContextFileValidity::Valid), Compacting) => {
            vec![NO_COMPACTION_STEP, CHECK_STEP, VALID_STEP, COMPACT_STEP]
        }
        // The agent continued from the brief and did not read the file.
        (LifecycleEvent::Compaction(ContextFileValidity::Valid), Recovering) => {
            vec![(Active, "continued to work without reading the file"), CHECK_STEP, VALID_STEP, COMPACT_STEP]
        }
        (LifecycleEvent::Start, Recovering) => vec![],
        (LifecycleEvent::Start, Saving) => vec![(Active, "the save was interrupted"), RECOVER_STEP],
        (LifecycleEvent::Start, _) => vec![RECOVER_STEP],
        (
            LifecycleEvent::NotCompacted | LifecycleEvent::FileRead | LifecycleEvent::FileEdited,
            Compacting,
        ) => {
            vec![NO_COMPACTION_STEP]
        }
        (LifecycleEvent::FileRead | LifecycleEvent::FileEdited, Recovering) => {
            vec![(Active, "the file was read")]
        }
        (LifecycleEvent::FileEdited, Saved) => vec![EDITED_AGAIN_STEP],
        (LifecycleEvent::NotCompacted | LifecycleEvent::FileRead | LifecycleEvent::FileEdited, _) => vec![],
        (LifecycleEvent::Recover, Active) => vec![],
        (LifecycleEvent::Recover, _) => vec![(Active, "recover")],
    }
}

fn list_states(states: &[LifecycleState]) -> String {
    states.iter().map(|state| state.name()).collect::<Vec<_>>().join(" or ")
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

#[cfg(test)]
#[path = "lifecycle_tests.rs"]
mod tests;
