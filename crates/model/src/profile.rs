//! Decides what a sub-agent is given when it starts, by its kind.

use crate::brief::Candidate;
use crate::config::Settings;

/// The words that a profile in the settings can contain.
pub const CLASSES: &[&str] = &[
    "all",
    "goal",
    "requirements",
    "plan",
    "task",
    "files",
    "diff",
    "failures",
    "tests",
    "decisions",
    "state",
    "outside",
];

/// The section with what other agents did, which every profile includes.
pub const ACTIVITY: &str = "activity";

/// What one kind of agent is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile<'a> {
    pub name: &'static str,
    classes: Vec<&'a str>,
}

/// Returns the profile of a sub-agent. Its type may have a prefix, as in `mega_coder` or `plugin:coder`. Other kinds
/// get the general profile.
pub fn of<'a>(kind: &str, settings: &'a Settings) -> Profile<'a> {
    let named = [
        ("architect", &settings.profile_architect),
        ("coder", &settings.profile_coder),
        ("reviewer", &settings.profile_reviewer),
        ("critic", &settings.profile_critic),
        ("test_engineer", &settings.profile_test_engineer),
        ("explorer", &settings.profile_explorer),
        ("sme", &settings.profile_sme),
    ];
    let kind = kind.to_lowercase().replace(['-', ':', ' '], "_");
    let is = |name: &str| kind.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('_'));
    let found = named.into_iter().find(|(name, _)| is(name));
    let (name, classes) = found.unwrap_or(("general", &settings.profile_general));
    Profile { name, classes: classes.split(',').map(str::trim).filter(|word| !word.is_empty()).collect() }
}

impl Profile<'_> {
    /// Returns whether the profile can include facts of this section. Tasks are in the section of the plan.
    pub fn has_section(&self, name: &str) -> bool {
        name == ACTIVITY || self.classes.iter().any(|class| contains(class, name, name == "plan", false))
    }

    /// Keeps only the candidates that the profile includes.
    pub(crate) fn choose(&self, candidates: &mut Vec<Candidate>) {
        let has_task = candidates.iter().any(is_task);
        candidates.retain(|one| {
            let name = one.class.name();
            name == ACTIVITY || self.classes.iter().any(|class| contains(class, name, is_task(one), has_task))
        });
    }
}

/// Whether a candidate is a task of the plan, in progress or blocked.
fn is_task(candidate: &Candidate) -> bool {
    candidate.id.starts_with("task:")
}

/// Returns whether a class of the settings contains facts of the class `name`.
fn contains(class: &str, name: &str, is_task: bool, has_task: bool) -> bool {
    match class {
        "all" => name != "problem",
        "goal" => name == "goal",
        "requirements" => is_task || matches!(name, "goal" | "words" | "earlier"),
        "plan" => name == "plan",
        // Without a plan, the goal takes the place of the task.
        "task" => is_task || name == "goal" && !has_task,
        "files" => matches!(name, "edited" | "read" | "named"),
        "diff" => matches!(name, "edited" | "at-risk"),
        "failures" => matches!(name, "failing" | "trap"),
        "tests" => matches!(name, "check" | "evidence"),
        "decisions" => name == "decisions",
        "state" => matches!(name, "state" | "done"),
        "outside" => name == "outside",
        _ => false,
    }
}

#[cfg(test)]
#[path = "profile_tests.rs"]
mod tests;
