//! Determines which facts a sub-agent of each kind gets when it starts.

use crate::brief::Candidate;
use crate::config::Settings;

/// The words that may occur in a profile in the settings.
pub const PROFILE_CLASSES: &[&str] = &[
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

/// The section about other agents' activity. Every profile includes it.
pub const ACTIVITY_SECTION: &str = "activity";

/// The classes of facts for one kind of sub-agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubagentProfile<'a> {
    pub name: &'static str,
    classes: Vec<&'a str>,
}

/// Returns the profile for a sub-agent's type, which may have a prefix, as in `mega_coder` or `plugin:coder`. An
/// unknown type gets the general profile.
pub fn profile_of_subagent<'a>(kind: &str, settings: &'a Settings) -> SubagentProfile<'a> {
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
    SubagentProfile {
        name,
        classes: classes.split(',').map(str::trim).filter(|word| !word.is_empty()).collect(),
    }
}

impl SubagentProfile<'_> {
    /// Returns whether the profile can include facts from this section. Tasks belong to the plan section.
    pub fn has_section(&self, name: &str) -> bool {
        name == ACTIVITY_SECTION
            || self.classes.iter().any(|class| class_contains(class, name, name == "plan", false))
    }

    pub(crate) fn keep_candidates_of_profile(&self, candidates: &mut Vec<Candidate>) {
        let has_task = candidates.iter().any(is_task_candidate);
        candidates.retain(|one| {
            let name = one.class.name();
            name == ACTIVITY_SECTION
                || self
                    .classes
                    .iter()
                    .any(|class| class_contains(class, name, is_task_candidate(one), has_task))
        });
    }
}

fn is_task_candidate(candidate: &Candidate) -> bool {
    candidate.id.starts_with("task:")
}

/// Returns whether a class in the settings covers facts of the class `name`.
fn class_contains(class: &str, name: &str, is_task: bool, has_task: bool) -> bool {
    match class {
        "all" => name != "problem",
        "goal" => name == "goal",
        "requirements" => is_task || matches!(name, "goal" | "words" | "earlier"),
        "plan" => name == "plan",
        // Without a current task, the goal is used instead.
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
