//! A role is a named agent with a context file and a lifecycle. This module checks and fixes the context file and
//! summarises it for a brief.

mod check;
pub mod event;
mod fix;
mod header;
pub mod lifecycle;
mod section;

use jiff::Timestamp;
use serde::Serialize;

use crate::brief::{BriefSection, Candidate};
use crate::document::Document;
use crate::id::Id;
use crate::redact::{self, redact_text};
use crate::render::{format_path_or_code as shown_path, in_backticks, in_quotation_marks};
use crate::score::ScoreSignal;
use crate::time;

pub use check::{
    ContextFileCheckReport, ContextFileFinding, ContextFileFindingKind, FactsOutsideContextFile,
};
pub use fix::{FixedContextFile, fix_context_file};

/// The suffix of a context file's name.
pub const CONTEXT_FILE_SUFFIX: &str = ".context.md";

/// The documentation of a context file's format.
pub const CONTEXT_FILE_FORMAT_TEXT: &str = include_str!("role/schema.md");

/// The JSON Schema of the report that `thru recover --json` prints.
pub const RECOVER_REPORT_JSON_SCHEMA: &str = include_str!("role/schema.json");

/// The maximum number of recovery steps in a brief.
const MAX_RECOVERY_STEPS_IN_BRIEF: usize = 10;

/// The maximum number of key files in a brief.
const MAX_KEY_FILES_IN_BRIEF: usize = 12;

/// The maximum number of finished tasks in a brief.
const MAX_DONE_TASKS_IN_BRIEF: usize = 6;

/// The maximum length of each quoted text in a brief, in characters.
const MAX_QUOTED_TEXT_CHARS: usize = 400;

/// Returns the name of a role's context file, such as `tester.context.md`.
pub fn context_file_name(role: &Id) -> String {
    format!("{role}{CONTEXT_FILE_SUFFIX}")
}

/// Returns the role that a context file belongs to.
pub fn role_of_file(path: &str) -> Option<Id> {
    let name = path.rsplit(['/', '\\']).next()?;
    Id::new(name.strip_suffix(CONTEXT_FILE_SUFFIX)?).ok()
}

/// A parsed context file. Parsing never fails. [`ContextFile::check`] returns the problems.
#[derive(Clone, Debug)]
pub struct ContextFile {
    document: Document,
}

/// The structured content of a context file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ContextFileContent {
    pub title: String,
    pub updated: String,
    pub role: String,
    pub pane: String,
    pub goal: String,
    pub recovery_steps: Vec<String>,
    pub completed: Vec<String>,
    pub pending: Vec<String>,
    pub key_files: Vec<String>,
}

/// A file that a role's context file lists as important.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFile {
    pub line: usize,
    /// The path as written, without a line number.
    pub path: String,
}

impl ContextFile {
    pub fn read(bytes: impl Into<Vec<u8>>) -> ContextFile {
        ContextFile { document: Document::parse(bytes) }
    }

    pub fn key_files(&self) -> Vec<KeyFile> {
        section::key_files(&self.document)
    }

    pub fn key_rules(&self) -> Vec<String> {
        section::section_items(&self.document, &section::RULES_SECTION)
    }

    pub fn check(&self, facts: &FactsOutsideContextFile) -> ContextFileCheckReport {
        check::check_context_file(&self.document, facts)
    }

    pub fn parsed_content(&self) -> ContextFileContent {
        let field = |key| header::header_value(&self.document, key).unwrap_or_default();
        let document = &self.document;
        let title = document.headings().first().filter(|heading| heading.line == 1);
        ContextFileContent {
            title: title.map(|heading| heading.text.clone()).unwrap_or_default(),
            updated: field(header::UPDATED_KEY),
            role: field(header::ROLE_KEY),
            pane: field(header::PANE_KEY),
            goal: section::GOAL_SECTION
                .find_in_document(document)
                .map(|found| found.text())
                .unwrap_or_default(),
            recovery_steps: section::recovery_steps(document).into_iter().map(|item| item.text).collect(),
            completed: section::completed_tasks(document),
            pending: section::section_items(document, &section::PENDING_SECTION),
            key_files: self.key_files().into_iter().map(|file| file.path).collect(),
        }
    }
}

/// The facts about a role for a brief.
#[derive(Clone, Copy, Debug)]
pub struct RoleFacts<'a> {
    pub role: &'a Id,
    /// The path of the context file, which may not exist yet.
    pub path: &'a str,
    pub file: Option<&'a ContextFile>,
    pub report: Option<&'a ContextFileCheckReport>,
    pub redact_options: redact::RedactOptions,
}

pub const ROLE_BRIEF_SECTION: BriefSection = BriefSection {
    section_position: 1,
    rank_step_per_form: 1,
    name: "role",
    title: "Role of this session",
    signal: ScoreSignal::Role,
};

/// Returns the role's candidates for a brief: its identity, its goal, its first steps, and problems with its file.
pub fn role_candidates(told: &RoleFacts) -> Vec<Candidate> {
    let RoleFacts { role, path, .. } = *told;
    let fact =
        |what: &str, text: String| Candidate::new(&ROLE_BRIEF_SECTION, format!("role:{role}:{what}"), text);
    // The content of the file is untrusted data, so it is quoted or formatted as code.
    let quoted = |text: &str, most| in_quotation_marks(&redact_text(text, told.redact_options), most);
    let Some(file) = told.file else {
        let path = in_backticks(path, 200);
        return vec![fact(
            "name",
            format!("{role} has no context file yet; `thru context new {role}` creates {path}"),
        )];
    };
    let ContextFileContent { updated, goal, recovery_steps, pending, completed, key_files, .. } =
        file.parsed_content();
    let updated = if updated.is_empty() {
        String::new()
    } else {
        format!(", updated {}", shown_path(&redact_text(&updated, told.redact_options), 40))
    };
    let mut all = vec![fact(
        "name",
        format!(
            "{role}; its context file is {}{updated}; `thru recover {role}` prints all of it",
            in_backticks(path, 200)
        ),
    )];
    if !goal.is_empty() && goal != PLACEHOLDER_GOAL {
        all.push(fact("goal", format!("Its goal: {}", quoted(&goal, MAX_QUOTED_TEXT_CHARS))));
    }
    let steps: Vec<String> = (1..)
        .zip(&recovery_steps)
        .take(MAX_RECOVERY_STEPS_IN_BRIEF)
        .map(|(n, step)| format!("{n}. {}", quoted(step, 160)))
        .collect();
    if !steps.is_empty() {
        all.push(fact("recovery", format!("Its recovery steps: {}", steps.join("; "))));
    }
    if !pending.is_empty() {
        all.push(fact("pending", format!("Pending: {}", quoted(&pending.join("; "), MAX_QUOTED_TEXT_CHARS))));
    }
    let rules = file.key_rules();
    if !rules.is_empty() {
        all.push(fact("rules", format!("Its rules: {}", quoted(&rules.join("; "), MAX_QUOTED_TEXT_CHARS))));
    }
    if !key_files.is_empty() {
        let left = key_files.len().saturating_sub(MAX_KEY_FILES_IN_BRIEF);
        let more = if left > 0 { format!(" +{left}") } else { String::new() };
        let named: Vec<String> = key_files
            .iter()
            .take(MAX_KEY_FILES_IN_BRIEF)
            .map(|file| shown_path(&redact_text(file, told.redact_options), 120))
            .collect();
        all.push(fact("files", format!("Its key files: {}{more}", named.join(", "))));
    }
    if !completed.is_empty() {
        // Only the last finished tasks are listed.
        let left = completed.len().saturating_sub(MAX_DONE_TASKS_IN_BRIEF);
        let more = if left > 0 { format!(" (+{left} before)") } else { String::new() };
        all.push(fact(
            "done",
            format!("Completed: {}{more}", quoted(&completed[left..].join("; "), MAX_QUOTED_TEXT_CHARS)),
        ));
    }
    let errors = told.report.map(ContextFileCheckReport::errors).unwrap_or_default();
    if !errors.is_empty() {
        let words: Vec<String> = errors.iter().take(3).map(|error| quoted(&error.to_string(), 160)).collect();
        let more = if errors.len() > 3 { format!("; and {} more", errors.len() - 3) } else { String::new() };
        all.push(fact(
            "errors",
            format!(
                "Its context file is not valid, so the role does not count as saved: {}{more}",
                words.join("; ")
            ),
        ));
    }
    all
}

/// The placeholder goal in a new file. A file that still contains it is not valid.
pub(crate) const PLACEHOLDER_GOAL: &str = "Not set yet: one or two sentences on what this role is after.";

/// Returns a template for a new context file. Its only error is the unset goal, and it lists no finished work.
pub fn context_file_template(role: &Id, pane: &str, path: &str, now: Timestamp) -> String {
    let title: Vec<String> =
        role.as_str().split(['-', '_', '.']).filter(|word| !word.is_empty()).map(capitalise).collect();
    let updated = time::to_rfc3339(now);
    let updated = updated.get(..16).unwrap_or(&updated);
    format!(
        "# {} — Session Context\n\n\
         **Updated**: {updated}Z\n\
         **Role**: {role}\n\
         **Pane**: {pane}\n\n\
         ## Current Goal\n\
         {PLACEHOLDER_GOAL}\n\n\
         ## Recovery Steps\n\
         1. Read this file\n\
         2. Read the files under Key Files\n\
         3. Continue with the pending work\n\n\
         ## Completed Work\n\
         ### Task 1: Create this file (DONE)\n\
         - With `thru context new {role}`\n\n\
         ## Pending\n\
         - State the goal\n\n\
         ## Key Files\n\
         - `{path}` — this file\n",
        title.join(" "),
    )
}

fn capitalise(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
#[path = "role_tests.rs"]
mod tests;
