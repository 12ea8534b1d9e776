//! Roles, for the doctor: files that are not valid, states that cannot be read, and roles stuck on their way.

use jiff::SignedDuration;
use model::finding::{Finding, Level};
use model::role::lifecycle::State;
use model::text::count;
use model::time;
use store::Store;

use super::{Check, of_error};
use crate::World;
use crate::features::roles::look;

/// A compaction that takes longer did not happen.
const STUCK: SignedDuration = SignedDuration::from_hours(24);

/// None where nobody works with roles.
pub fn check(world: &World, store: &Store) -> Option<Check> {
    let mut findings = Vec::new();
    let (mut files, mut states) = (0, 0);
    match look(world).and_then(|roles| Ok((roles.files()?, roles))) {
        Ok((found, roles)) => {
            files = found.len();
            for file in found {
                let report = roles.check(world, &file.bytes);
                if !report.is_valid() {
                    let text = format!("a context file with {}", count(report.errors().len(), "error"));
                    let finding = Finding::new(Level::Note, text).at(file.shown.clone(), None);
                    findings.push(finding.hint(format!("`thru context validate {}` names them", file.shown)));
                }
            }
        }
        Err(error) => findings.push(of_error(&error)),
    }
    let lifecycles = store.lifecycles().unwrap_or_else(|error| {
        findings.push(of_error(&error.into()));
        Vec::new()
    });
    for (_, lifecycle) in lifecycles {
        states += 1;
        match lifecycle {
            Ok(lifecycle) => {
                let since = time::parse(&lifecycle.since).unwrap_or(world.now);
                let on_its_way = matches!(lifecycle.state, State::Compacting | State::Recovering);
                if on_its_way && world.now.duration_since(since) > STUCK {
                    let (role, state) = (&lifecycle.role, lifecycle.state);
                    let text = format!("{role} has been {state} since {}", lifecycle.since);
                    let hint = format!("`thru recover {role}` brings it back to active");
                    findings.push(Finding::new(Level::Note, text).hint(hint));
                }
            }
            Err(error) => findings.push(of_error(&error.into())),
        }
    }
    if files + states == 0 && findings.is_empty() {
        return None;
    }
    let text = format!("{}, {}", count(files, "context file"), count(states, "lifecycle"));
    Some(Check { name: "roles", text, findings })
}
