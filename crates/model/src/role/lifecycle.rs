//! The state of a role between two compactions: one table of steps, and a record of who took them, when and why.
//!
//!     active → saving → saved → compacting → recovering → active
//!
//! A step that is not in [`TABLE`] is refused. The functions are pure: the caller reads and writes the record, under
//! its lock.

use std::fmt;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::id::Id;
use crate::marker::Problem;
use crate::time;

pub const SCHEMA_VERSION: u32 = 1;

/// The most steps that are stored. Older ones are only counted.
const MOST_STEPS: usize = 400;

/// How long a session that compacts or recovers has the role to itself. A compaction or a recovery takes minutes, so a
/// session that needs longer than this is assumed to be dead.
const HELD_FOR: SignedDuration = SignedDuration::from_hours(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The agent is working.
    Active,
    /// The file is being checked.
    Saving,
    /// The file is written and valid.
    Saved,
    Compacting,
    /// The session continues after a compaction, and the file has not been read again yet.
    Recovering,
}

pub const STATES: [State; 5] =
    [State::Active, State::Saving, State::Saved, State::Compacting, State::Recovering];

/// All allowed steps.
pub const TABLE: &[(State, State)] = &[
    (State::Active, State::Saving),
    (State::Saving, State::Saved),
    (State::Saved, State::Compacting),
    (State::Compacting, State::Recovering),
    (State::Recovering, State::Active),
    // The file was not valid.
    (State::Saving, State::Active),
    // The file was edited again.
    (State::Saved, State::Active),
    // A session started again without a reported compaction.
    (State::Active, State::Recovering),
    (State::Saved, State::Recovering),
    // The compaction never happened.
    (State::Compacting, State::Active),
];

/// What happened to a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// Somebody ran `thru lifecycle save`.
    Save(Validity),
    /// A compaction was announced.
    Compaction(Validity),
    /// The session continues after a compaction, or was resumed.
    Start,
    /// A prompt came although a compaction was announced.
    NeverCame,
    FileRead,
    FileEdited,
    /// Somebody ran `thru recover`.
    Recover,
}

/// Whether the context file was valid when it was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validity {
    Valid,
    Invalid,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            State::Active => "active",
            State::Saving => "saving",
            State::Saved => "saved",
            State::Compacting => "compacting",
            State::Recovering => "recovering",
        }
    }

    /// Returns the states a role can move to from here.
    pub fn allowed(self) -> Vec<State> {
        TABLE.iter().filter(|(from, _)| *from == self).map(|(_, to)| *to).collect()
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One role in one root: `state/lifecycle/<machine>.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lifecycle {
    pub schema_version: u32,
    pub role: String,
    pub state: State,
    pub since: String,
    /// The session that compacts or recovers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// The steps, oldest first.
    pub history: Vec<Step>,
    /// How many older steps are no longer stored.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forgotten: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub at: String,
    pub from: State,
    pub to: State,
    pub why: String,
    /// `cli`, or the harness whose hook took the step.
    pub by: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// Whether the step is not in the table and was forced.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forced: bool,
}

/// Who moves a role.
#[derive(Clone, Copy, Debug)]
pub struct Actor<'a> {
    pub by: &'a str,
    /// The session; `None` at a terminal outside every session.
    pub session: Option<&'a str>,
    /// The session that this one continues: the same agent under a new id.
    pub previous: Option<&'a str>,
    pub now: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("{role} is {state} and cannot become {to}; it can become {}", listed(.allowed))]
    NotInTable { role: String, state: State, to: State, allowed: Vec<State> },
    /// Two sessions have the same role, and the other one, which compacts or recovers, has it to itself.
    #[error("{role} is {state} in session {session}, which has it to itself")]
    Held { role: String, state: State, session: String },
}

/// Whether to force a step that is not in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insist {
    No,
    Yes,
}

/// Returns the name of a role's state file, without its suffix.
pub fn machine(role: &Id) -> String {
    role.as_str().replace(['-', '.'], "_")
}

impl Lifecycle {
    pub fn new(role: &Id, now: Timestamp) -> Lifecycle {
        Lifecycle {
            schema_version: SCHEMA_VERSION,
            role: role.to_string(),
            state: State::Active,
            since: time::rfc3339(now),
            session: String::new(),
            history: Vec::new(),
            forgotten: 0,
        }
    }

    pub fn parse(bytes: &[u8]) -> Result<Lifecycle, Problem> {
        #[derive(Deserialize)]
        struct Version {
            schema_version: u32,
        }
        let damaged = |e: serde_json::Error| Problem::Damaged { line: e.line(), why: e.to_string() };
        let Version { schema_version } = serde_json::from_slice(bytes).map_err(damaged)?;
        if schema_version > SCHEMA_VERSION {
            return Err(Problem::Foreign {
                why: format!("its schema_version is {schema_version}; this thru supports {SCHEMA_VERSION}"),
            });
        }
        serde_json::from_slice(bytes).map_err(damaged)
    }

    pub fn render(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Takes the steps that follow from what happened, and returns how many. If it refuses, nothing has changed.
    pub fn hear(&mut self, happened: Happened, insist: Insist, actor: &Actor) -> Result<usize, Refused> {
        if let Some(session) = self.held_by_another(actor).filter(|_| insist == Insist::No) {
            return Err(Refused::Held { role: self.role.clone(), state: self.state, session });
        }
        let steps = steps_after(self.state, happened);
        let mut moved = self.clone();
        for (to, why) in &steps {
            moved.step(*to, why, insist, actor)?;
        }
        *self = moved;
        Ok(steps.len())
    }

    /// Takes one step, which is in the table or forced.
    pub fn step(&mut self, to: State, why: &str, insist: Insist, actor: &Actor) -> Result<(), Refused> {
        let from = self.state;
        let allowed = from.allowed();
        let forced = !allowed.contains(&to);
        if forced && insist == Insist::No {
            return Err(Refused::NotInTable { role: self.role.clone(), state: from, to, allowed });
        }
        let (at, session) = (time::rfc3339(actor.now), actor.session.unwrap_or_default().to_owned());
        let (why, by) = (why.to_owned(), actor.by.to_owned());
        self.history.push(Step { at: at.clone(), from, to, why, by, session: session.clone(), forced });
        let over = self.history.len().saturating_sub(MOST_STEPS);
        self.history.drain(..over);
        self.forgotten += over as u64;
        self.session = if is_held(to) { session } else { String::new() };
        (self.state, self.since) = (to, at);
        Ok(())
    }

    /// Returns the other session that has this role to itself now.
    fn held_by_another(&self, actor: &Actor) -> Option<String> {
        let since = time::parse(&self.since)?;
        let fresh = actor.now.duration_since(since) < HELD_FOR;
        let own = [actor.session, actor.previous].contains(&Some(&self.session));
        let other = !self.session.is_empty() && actor.session.is_some() && !own;
        (is_held(self.state) && fresh && other).then(|| self.session.clone())
    }
}

fn is_held(state: State) -> bool {
    matches!(state, State::Compacting | State::Recovering)
}

/// Returns the steps that follow from what happened, each with its reason. The table decides whether they are
/// allowed.
fn steps_after(state: State, happened: Happened) -> Vec<(State, &'static str)> {
    use State::{Active, Compacting, Recovering, Saved, Saving};
    const SAVE: (State, &str) = (Saving, "save");
    const VALID: (State, &str) = (Saved, "the file is valid");
    const INVALID: (State, &str) = (Active, "the file is not valid");
    const EDITED_AGAIN: (State, &str) = (Active, "edited again");
    const SAVE_AGAIN: (State, &str) = (Active, "to be saved again");
    const COMPACT: (State, &str) = (Compacting, "a compaction was announced");
    const CHECK: (State, &str) = (Saving, "checked before a compaction");
    const NEVER_CAME: (State, &str) = (Active, "the compaction never came");
    const START: (State, &str) = (Recovering, "the session continued");
    match (happened, state) {
        (Happened::Save(Validity::Valid), Saving) => vec![VALID],
        (Happened::Save(Validity::Valid), Saved) => vec![SAVE_AGAIN, SAVE, VALID],
        (Happened::Save(Validity::Valid), _) => vec![SAVE, VALID],
        (Happened::Save(Validity::Invalid), Saving) => vec![INVALID],
        (Happened::Save(Validity::Invalid), Saved) => vec![SAVE_AGAIN, SAVE, INVALID],
        (Happened::Save(Validity::Invalid), _) => vec![SAVE, INVALID],
        (Happened::Compaction(Validity::Invalid), _) => vec![],
        (Happened::Compaction(Validity::Valid), Active) => vec![CHECK, VALID, COMPACT],
        (Happened::Compaction(Validity::Valid), Saving) => vec![VALID, COMPACT],
        (Happened::Compaction(Validity::Valid), Saved) => vec![COMPACT],
        (Happened::Compaction(Validity::Valid), Compacting) => vec![NEVER_CAME, CHECK, VALID, COMPACT],
        // The agent continued with the brief alone.
        (Happened::Compaction(Validity::Valid), Recovering) => {
            vec![(Active, "worked on without reading the file"), CHECK, VALID, COMPACT]
        }
        (Happened::Start, Recovering) => vec![],
        (Happened::Start, Saving) => vec![(Active, "the save was interrupted"), START],
        (Happened::Start, _) => vec![START],
        (Happened::NeverCame | Happened::FileRead | Happened::FileEdited, Compacting) => vec![NEVER_CAME],
        (Happened::FileRead | Happened::FileEdited, Recovering) => vec![(Active, "the file was read")],
        (Happened::FileEdited, Saved) => vec![EDITED_AGAIN],
        (Happened::NeverCame | Happened::FileRead | Happened::FileEdited, _) => vec![],
        (Happened::Recover, Active) => vec![],
        (Happened::Recover, _) => vec![(Active, "recover")],
    }
}

fn listed(states: &[State]) -> String {
    states.iter().map(|state| state.name()).collect::<Vec<_>>().join(" or ")
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

#[cfg(test)]
#[path = "lifecycle_tests.rs"]
mod tests;
