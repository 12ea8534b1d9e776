//! What a list contains, according to its heading or to a label such as `**Tasks:**`.

use super::item;
use super::phase::parse_explicit_phase_heading;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListMeaning {
    #[default]
    Unlabelled,
    /// Work, labelled `Tasks:`, `Queue` or `Roadmap`.
    Tasks,
    /// Criteria, labelled `Acceptance criteria:` or `Definition of done`.
    Criteria,
    /// Other content, labelled `Rules`, `Notes` or `Out of scope`.
    OtherContent,
}

const TASK_LIST_LABEL_WORDS: [&str; 14] = [
    "task",
    "tasks",
    "step",
    "steps",
    "todo",
    "todos",
    "queue",
    "roadmap",
    "backlog",
    "milestones",
    "tracks",
    "subtasks",
    "任务",
    "步骤",
];

const CRITERIA_LIST_LABEL_WORDS: [&str; 8] = [
    "criteria",
    "criterion",
    "acceptance",
    "definition of done",
    "done when",
    "tests required",
    "required tests",
    "success metrics",
];

const OTHER_LIST_LABEL_WORDS: [&str; 36] = [
    "rule",
    "rules",
    "note",
    "notes",
    "analysis",
    "flow",
    "strategy",
    "rollback",
    "guidelines",
    "guideline",
    "legend",
    "scope",
    "context",
    "background",
    "overview",
    "goal",
    "goals",
    "objective",
    "objectives",
    "risk",
    "risks",
    "assumptions",
    "constraints",
    "principles",
    "decisions",
    "questions",
    "references",
    "glossary",
    "philosophy",
    "conventions",
    "rationale",
    "why",
    "changelog",
    "log",
    "history",
    "summary",
];

pub fn meaning_of_list_label(text: &str) -> ListMeaning {
    let lower = text.to_lowercase();
    if CRITERIA_LIST_LABEL_WORDS.iter().any(|words| lower.contains(words)) {
        return ListMeaning::Criteria;
    }
    let has = |words: &[&str]| lower.split(|c: char| !c.is_alphanumeric()).any(|word| words.contains(&word));
    if has(&TASK_LIST_LABEL_WORDS) {
        ListMeaning::Tasks
    } else if has(&OTHER_LIST_LABEL_WORDS) {
        ListMeaning::OtherContent
    } else {
        ListMeaning::Unlabelled
    }
}

/// Returns the meaning of the list below a heading. A heading that does not say what its list contains inherits the
/// meaning from the heading above. The heading of a phase or a task inherits only `Criteria`.
pub fn meaning_of_heading(text: &str, above: ListMeaning) -> ListMeaning {
    if parse_explicit_phase_heading(text).is_some() || item::is_task_heading(text) {
        return if above == ListMeaning::Criteria { above } else { ListMeaning::Unlabelled };
    }
    match meaning_of_list_label(text) {
        ListMeaning::Unlabelled => above,
        said => said,
    }
}

/// Returns the words of a label such as `**Tasks:**`, `**Tasks**:`, `**Tasks**` or `Tasks:`. The result is empty for
/// `**Goal:** text`, which ends the list of the label above it.
pub fn label_words(text: &str) -> Option<&str> {
    let text = text.trim();
    if let Some((words, behind)) = text.strip_prefix("**").and_then(|rest| rest.split_once("**")) {
        let behind = behind.trim();
        if behind.is_empty() || behind.ends_with(':') {
            return Some(words.trim_end_matches(':'));
        }
        return (words.ends_with(':') || behind.starts_with(':')).then_some("");
    }
    let words = text.strip_suffix(':')?;
    (words.len() <= MAX_TASK_LIST_LABEL_CHARS && !words.contains(". ")).then_some(words)
}

/// Returns the words of a label in a list item, such as `- **Acceptance criteria**:`.
pub fn label_at_item_end(text: &str) -> Option<&str> {
    let bare = text.trim().trim_end_matches(['*', '_']);
    let words = bare.strip_suffix(':').map(|words| words.trim_matches(['*', '_']))?;
    (words.len() <= MAX_TASK_LIST_LABEL_CHARS).then_some(words)
}

const MAX_TASK_LIST_LABEL_CHARS: usize = 48;
