//! What a heading or a label such as `**Tasks:**` says about the list below it.

use super::item;
use super::phase::explicit_phase;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Under {
    #[default]
    Unsaid,
    /// Work: `Tasks:`, `Queue`, `Roadmap`.
    Work,
    /// Criteria: `Acceptance criteria:`, `Definition of done`.
    Criteria,
    /// A list that is not work: `Rules`, `Notes`, `Out of scope`.
    Beside,
}

const WORK: [&str; 14] = [
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

const CRITERIA: [&str; 8] = [
    "criteria",
    "criterion",
    "acceptance",
    "definition of done",
    "done when",
    "tests required",
    "required tests",
    "success metrics",
];

const BESIDE: [&str; 36] = [
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

pub fn of_words(text: &str) -> Under {
    let lower = text.to_lowercase();
    if CRITERIA.iter().any(|words| lower.contains(words)) {
        return Under::Criteria;
    }
    let has = |words: &[&str]| lower.split(|c: char| !c.is_alphanumeric()).any(|word| words.contains(&word));
    if has(&WORK) {
        Under::Work
    } else if has(&BESIDE) {
        Under::Beside
    } else {
        Under::Unsaid
    }
}

/// Returns what a heading says about the list below it. A heading that says nothing about it continues what the heading
/// above says. The heading of a phase or of a task does so only within criteria.
pub fn of_heading(text: &str, above: Under) -> Under {
    if explicit_phase(text).is_some() || item::is_task_heading(text) {
        return if above == Under::Criteria { above } else { Under::Unsaid };
    }
    match of_words(text) {
        Under::Unsaid => above,
        said => said,
    }
}

/// Returns the words of a label: `**Tasks:**`, `**Tasks**:`, `**Tasks**` or `Tasks:`. `**Goal:** text` ends the label
/// above it and says nothing about a list.
pub fn label(text: &str) -> Option<&str> {
    let text = text.trim();
    if let Some((words, behind)) = text.strip_prefix("**").and_then(|rest| rest.split_once("**")) {
        let behind = behind.trim();
        if behind.is_empty() || behind.ends_with(':') {
            return Some(words.trim_end_matches(':'));
        }
        return (words.ends_with(':') || behind.starts_with(':')).then_some("");
    }
    let words = text.strip_suffix(':')?;
    (words.len() <= LONGEST && !words.contains(". ")).then_some(words)
}

/// Returns the words of a label that is an item: `- **Acceptance criteria**:`.
pub fn label_of_list(text: &str) -> Option<&str> {
    let bare = text.trim().trim_end_matches(['*', '_']);
    let words = bare.strip_suffix(':').map(|words| words.trim_matches(['*', '_']))?;
    (words.len() <= LONGEST).then_some(words)
}

const LONGEST: usize = 48;
