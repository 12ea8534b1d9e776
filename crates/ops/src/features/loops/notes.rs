//! The notes that a command prints when a loop is about to run: at its start, and when it is resumed or activated.

use harness::{HARNESSES, Harness};
use model::loops::{Loop, PromiseOutcome};

use super::{LoopOwner, end_of_session};
use crate::World;
use crate::project::Project;
use crate::session::roster;
use crate::setup::install;
use store::Store;

/// Says what the user must know before a loop runs: what ends it if it has no promise, whether its session can run it,
/// and how its harness limits it.
pub(super) fn notes_before_run(
    world: &World,
    project: &Project,
    state: &Loop,
    owner: &LoopOwner,
) -> Vec<String> {
    let mut notes = Vec::new();
    let limit = match (state.max_iterations, &state.deadline) {
        (0, None) => None,
        (0, Some(_)) => Some("its time is up".to_owned()),
        (most, None) => Some(format!("{most} iterations have run")),
        (most, Some(_)) => Some(format!("{most} iterations have run or its time is up")),
    };
    if !state.promises.iter().any(|promise| promise.outcome == PromiseOutcome::Done) {
        notes.push(match limit {
            Some(limit) => format!(
                "it has no promise, so it continues until {limit}; a loop that is started with --promise TEXT ends when \
                 the work is done"
            ),
            None => "only a lack of progress or `thru loop cancel` ends this loop".into(),
        });
    }
    notes.extend(note_on_ended_session(world, &project.store, owner));
    for harness in harnesses_of_owner(world, project, owner) {
        let Some(cap) = &harness.stop_block_limit else { continue };
        if (world.read_variable)(cap.variable).is_none_or(|value| value != "0") {
            notes.push(format!(
                "{} continues at most {} times in a row without a tool call; start it with {}=0 to remove this limit",
                harness.title, cap.max_blocks, cap.variable
            ));
        }
    }
    notes
}

/// Returns the harness of the session in which the loop will run. If the loop waits for the next session, returns all
/// harnesses whose hooks are installed for this project.
fn harnesses_of_owner(world: &World, project: &Project, owner: &LoopOwner) -> Vec<&'static Harness> {
    let around = world.calling_harness().and_then(harness::harness_by_name);
    let of_session = match owner {
        LoopOwner::Session(session, _) => {
            let entries = roster::read_roster(&project.store, u64::MAX).unwrap_or_default();
            entries
                .into_iter()
                .find(|entry| entry.session == *session)
                .and_then(|entry| harness::harness_by_name(&entry.harness))
        }
        LoopOwner::NextSession => None,
    };
    match (of_session.or(around), owner) {
        (Some(one), _) => vec![one],
        (None, LoopOwner::Session(..)) => Vec::new(),
        (None, LoopOwner::NextSession) => {
            let is_wired = |harness: &&Harness| {
                !install::files_that_call_thru(world, harness, &project.root.checkout).is_empty()
            };
            HARNESSES.iter().filter(is_wired).collect()
        }
    }
}

/// Returns a note if the session that should run a loop has ended or crashed.
fn note_on_ended_session(world: &World, store: &Store, owner: &LoopOwner) -> Option<String> {
    let LoopOwner::Session(session, _) = owner else { return None };
    let end = end_of_session(world, store, session.as_str())?.describe();
    Some(format!(
        "session {session} {end}; the loop continues if the session is resumed, and `--next` gives the loop to the next \
         session that starts here"
    ))
}
