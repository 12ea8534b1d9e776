//! A role: a named agent with a context file. The file is checked, fixed and summarised in a brief, and the role has
//! a lifecycle.

mod check;
pub mod event;
mod fix;
mod header;
pub mod lifecycle;
mod section;

use jiff::Timestamp;
use serde::Serialize;

use crate::brief::{Candidate, Section};
use crate::document::Document;
use crate::id::Id;
use crate::redact::{self, redact};
use crate::render::{code, path as shown_path, quoted};
use crate::score::Signal;
use crate::time;

pub use check::{Facts, Finding, Kind, RoleReport};
pub use fix::{Fixed, fix};

/// The suffix of a context file's name.
pub const SUFFIX: &str = ".context.md";

/// The schema of a context file, in words.
pub const SCHEMA: &str = include_str!("role/schema.md");

/// The JSON Schema of what `thru recover --json` reports about a file.
pub const JSON_SCHEMA: &str = include_str!("role/schema.json");

/// The most recovery steps that go into a brief.
const MOST_STEPS: usize = 10;

/// The most key files that go into a brief.
const MOST_FILES: usize = 12;

/// The most finished tasks that go into a brief.
const MOST_DONE: usize = 6;

/// The longest text that goes into a brief, in characters.
const LONGEST_TEXT: usize = 400;

/// Returns the name of a role's context file, such as `tester.context.md`.
pub fn file_name(role: &Id) -> String {
    format!("{role}{SUFFIX}")
}

/// Returns the role whose context file has this name.
pub fn of_file(path: &str) -> Option<Id> {
    let name = path.rsplit(['/', '\\']).next()?;
    Id::new(name.strip_suffix(SUFFIX)?).ok()
}

/// A parsed context file. Parsing never fails; [`ContextFile::check`] says what is wrong.
#[derive(Clone, Debug)]
pub struct ContextFile {
    document: Document,
}

/// The content of a file without its prose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Essentials {
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

/// A file that the role calls important.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFile {
    pub line: usize,
    /// The path as written, without the position inside the file.
    pub path: String,
}

impl ContextFile {
    pub fn read(bytes: impl Into<Vec<u8>>) -> ContextFile {
        ContextFile { document: Document::parse(bytes) }
    }

    pub fn key_files(&self) -> Vec<KeyFile> {
        section::key_files(&self.document)
    }

    /// Returns the role's rules, if it has any.
    pub fn key_rules(&self) -> Vec<String> {
        section::items(&self.document, &section::RULES)
    }

    pub fn check(&self, facts: &Facts) -> RoleReport {
        check::check(&self.document, facts)
    }

    pub fn essentials(&self) -> Essentials {
        let field = |key| header::value(&self.document, key).unwrap_or_default();
        let document = &self.document;
        let title = document.headings().first().filter(|heading| heading.line == 1);
        Essentials {
            title: title.map(|heading| heading.text.clone()).unwrap_or_default(),
            updated: field(header::UPDATED),
            role: field(header::ROLE),
            pane: field(header::PANE),
            goal: section::GOAL.find(document).map(|found| found.text()).unwrap_or_default(),
            recovery_steps: section::steps(document).into_iter().map(|item| item.text).collect(),
            completed: section::completed(document),
            pending: section::items(document, &section::PENDING),
            key_files: self.key_files().into_iter().map(|file| file.path).collect(),
        }
    }
}

/// What a brief says about a role.
#[derive(Clone, Copy, Debug)]
pub struct RoleFacts<'a> {
    pub role: &'a Id,
    /// The path of the context file, or the path that it would have.
    pub path: &'a str,
    pub file: Option<&'a ContextFile>,
    pub report: Option<&'a RoleReport>,
    pub redact: redact::Options,
}

pub const SECTION: Section =
    Section { order: 1, longer: 1, name: "role", title: "Role", signal: Signal::Role };

/// Returns the role's candidates for a brief: who it is, its goal, its first steps, and problems with its file.
pub fn candidates(told: &RoleFacts) -> Vec<Candidate> {
    let RoleFacts { role, path, .. } = *told;
    let fact = |what: &str, text: String| Candidate::new(&SECTION, format!("role:{role}:{what}"), text);
    // The content of the file is data, so it is quoted or shown as code.
    let quoted = |text: &str, most| quoted(&redact(text, told.redact), most);
    let Some(file) = told.file else {
        let path = code(path, 200);
        return vec![fact(
            "name",
            format!("{role}, without a context file: {path} would be it (`thru context new {role}`)"),
        )];
    };
    let Essentials { updated, goal, recovery_steps, pending, completed, key_files, .. } = file.essentials();
    let updated = if updated.is_empty() {
        String::new()
    } else {
        format!(", updated {}", shown_path(&redact(&updated, told.redact), 40))
    };
    let mut all = vec![fact(
        "name",
        format!(
            "{role}; its context file is {}{updated}; `thru recover {role}` prints all of it",
            code(path, 200)
        ),
    )];
    if !goal.is_empty() && goal != UNSET_GOAL {
        all.push(fact("goal", format!("Its goal: {}", quoted(&goal, LONGEST_TEXT))));
    }
    let steps: Vec<String> = (1..)
        .zip(&recovery_steps)
        .take(MOST_STEPS)
        .map(|(n, step)| format!("{n}. {}", quoted(step, 160)))
        .collect();
    if !steps.is_empty() {
        all.push(fact("recovery", format!("Its checklist for a recovery: {}", steps.join("; "))));
    }
    if !pending.is_empty() {
        all.push(fact("pending", format!("Pending: {}", quoted(&pending.join("; "), LONGEST_TEXT))));
    }
    let rules = file.key_rules();
    if !rules.is_empty() {
        all.push(fact("rules", format!("Its rules: {}", quoted(&rules.join("; "), LONGEST_TEXT))));
    }
    if !key_files.is_empty() {
        let left = key_files.len().saturating_sub(MOST_FILES);
        let more = if left > 0 { format!(" +{left}") } else { String::new() };
        let named: Vec<String> = key_files
            .iter()
            .take(MOST_FILES)
            .map(|file| shown_path(&redact(file, told.redact), 120))
            .collect();
        all.push(fact("files", format!("Its key files: {}{more}", named.join(", "))));
    }
    if !completed.is_empty() {
        // The tasks that were finished last matter most.
        let left = completed.len().saturating_sub(MOST_DONE);
        let more = if left > 0 { format!(" (+{left} before)") } else { String::new() };
        all.push(fact(
            "done",
            format!("Completed: {}{more}", quoted(&completed[left..].join("; "), LONGEST_TEXT)),
        ));
    }
    let errors = told.report.map(RoleReport::errors).unwrap_or_default();
    if !errors.is_empty() {
        let words: Vec<String> = errors.iter().take(3).map(|error| quoted(&error.to_string(), 160)).collect();
        let more = if errors.len() > 3 { format!("; and {} more", errors.len() - 3) } else { String::new() };
        all.push(fact(
            "errors",
            format!(
                "Its context file is not valid, so it does not count as saved: {}{more}",
                words.join("; ")
            ),
        ));
    }
    all
}

/// The goal in a new file. A file that still contains it is not valid.
pub(crate) const UNSET_GOAL: &str = "Not set yet: one or two sentences on what this role is after.";

/// Returns a template for a new context file. It is valid except for its goal, and does not claim any finished work.
pub fn template(role: &Id, pane: &str, path: &str, now: Timestamp) -> String {
    let title: Vec<String> =
        role.as_str().split(['-', '_', '.']).filter(|word| !word.is_empty()).map(capitalised).collect();
    let updated = time::rfc3339(now);
    let updated = updated.get(..16).unwrap_or(&updated);
    format!(
        "# {} — Session Context\n\n\
         **Updated**: {updated}Z\n\
         **Role**: {role}\n\
         **Pane**: {pane}\n\n\
         ## Current Goal\n\
         {UNSET_GOAL}\n\n\
         ## Recovery Steps\n\
         1. Read this file\n\
         2. Read the files under Key Files\n\
         3. Go on with what is pending\n\n\
         ## Completed Work\n\
         ### Task 1: Make this file (DONE)\n\
         - With `thru context new {role}`\n\n\
         ## Pending\n\
         - Say what the goal is\n\n\
         ## Key Files\n\
         - `{path}` — this file\n",
        title.join(" "),
    )
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
#[path = "role_tests.rs"]
mod tests;
