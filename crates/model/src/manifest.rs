//! Manifests (`resume-context.md`): the files to load, their order, and the questions to answer before work
//! continues.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use crate::document::{Document, HeadingPattern};
use crate::finding::{Finding, FindingLevel};
use crate::time;

pub const MANIFEST_FILE_NAME: &str = "resume-context.md";
/// The file name of a manifest in older versions. `migrate` converts files with this name.
pub const LEGACY_MANIFEST_FILE_NAME: &str = "_resume.md";
/// The maximum size of a manifest in bytes. Longer text belongs in the files that the manifest lists.
pub const MAX_MANIFEST_BYTES: usize = 5 * 1024;

pub const SCHEMA_VERSION: &str = "1.0";
pub const KNOWN_PHASES: &[&str] =
    &["research", "planning", "execution", "ready-for-implementation", "testing", "review"];

/// The phase assumed if a manifest contains no known phase.
pub const DEFAULT_MANIFEST_PHASE: &str = "execution";

/// The next action in a new manifest. It is not the name of a skill or command. It stands for the first unticked
/// checkbox of the steps.
pub const NEXT_ACTION_OF_NEW_MANIFEST: &str = "next-open-step";
/// Explains [`NEXT_ACTION_OF_NEW_MANIFEST`] to people who read the manifest.
const NEXT_OPEN_STEP_COMMENT: &str = "  # no skill or command: the first unticked checkbox of the steps";
/// The former name of [`NEXT_ACTION_OF_NEW_MANIFEST`].
const FORMER_NEXT_ACTION_OF_NEW_MANIFEST: &str = "continue-next-step";

/// The maximum depth of a workstream's folder below the root. The deepest is `.agent/context/workstreams/<id>`.
const MAX_FOLDER_DEPTH: usize = 4;

const GATE_QUESTIONS_HEADING: HeadingPattern<'static> = HeadingPattern::prefix(1, "Validation Gate");

/// The parsed content of a manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Manifest {
    pub project_id: String,
    pub project_name: String,
    pub current_phase: String,
    pub next_action: String,
    pub files_to_load: Vec<String>,
    pub last_updated: String,
    pub current_section: Option<i64>,
    pub current_task: Option<i64>,
    pub progress: String,
    pub continue_at: String,
    pub blockers: Vec<String>,
    pub session_ids: Vec<String>,
    /// The questions of the gate, each including the text below it.
    pub questions: Vec<String>,
}

pub fn read_manifest(document: &Document) -> Manifest {
    let text = |key: &str| document.frontmatter_text(key).unwrap_or_default().to_owned();
    let list = |key: &str| document.frontmatter_list(key).unwrap_or_default();
    Manifest {
        project_id: text("project_id"),
        project_name: text("project_name"),
        current_phase: text("current_phase"),
        next_action: text("next_action"),
        files_to_load: list("files_to_load"),
        last_updated: text("last_updated"),
        current_section: document.frontmatter_integer("current_section"),
        current_task: document.frontmatter_integer("current_task"),
        progress: text("progress"),
        continue_at: text("continue_at"),
        blockers: list("blockers"),
        session_ids: list("session_ids"),
        questions: gate_questions(document),
    }
}

impl Manifest {
    /// Returns the skill or command that continues the work, if the manifest names one.
    pub fn action_that_continues_work(&self) -> Option<&str> {
        let action = self.next_action.as_str();
        (!["", NEXT_ACTION_OF_NEW_MANIFEST, FORMER_NEXT_ACTION_OF_NEW_MANIFEST].contains(&action))
            .then_some(action)
    }

    /// Returns the state of the workstream: `finished` once every step is done, and before that its phase. Only a person
    /// changes the phase, so it can lag behind the steps.
    pub fn state(&self) -> &str {
        if self.is_finished() { "finished" } else { &self.current_phase }
    }

    /// Returns whether every step is done, according to `progress`.
    pub fn is_finished(&self) -> bool {
        matches!(progress_counts(&self.progress), Some((done, all)) if all > 0 && done == all)
    }
}

/// Returns the gate's numbered questions, each including the checkboxes below it.
fn gate_questions(document: &Document) -> Vec<String> {
    let Some(gate) = document.find_section(&[GATE_QUESTIONS_HEADING]) else { return Vec::new() };
    let mut questions: Vec<String> = Vec::new();
    for item in gate.items() {
        let text = item.text.replace("**", "");
        match questions.last_mut().filter(|_| item.number.is_none()) {
            Some(last) => {
                let between = if last.ends_with([':', '?', '.']) { " " } else { ": " };
                last.push_str(&format!("{between}{text}"));
            }
            None => questions.push(text),
        }
    }
    questions
}

/// Returns whether an id has the form `NN-kebab-case`.
pub fn is_workstream_id(id: &str) -> bool {
    let Some((number, name)) = id.split_once('-') else { return false };
    let kebab = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    (2..=4).contains(&number.len())
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && id.len() <= 100
        && name.split('-').all(kebab)
}

/// Returns the id with a number of at least two digits: `1-parser` becomes `01-parser`.
pub fn id_with_padded_number(id: &str) -> Cow<'_, str> {
    match id.split_once('-') {
        Some((number, _)) if number.len() == 1 && number.as_bytes()[0].is_ascii_digit() => {
            format!("0{id}").into()
        }
        _ => id.into(),
    }
}

/// Returns the problems in a manifest, ordered by line.
pub fn check_manifest(document: &Document) -> Vec<Finding> {
    let mut findings: Vec<Finding> = document
        .findings()
        .iter()
        .map(|odd| Finding::new(FindingLevel::Warning, odd.kind.to_string()).at_line("", Some(odd.line)))
        .collect();
    let mut find = |level, key: Option<&str>, text: String, hint: &str| {
        let line = key.and_then(|key| document.frontmatter_entry(key)).map(|entry| entry.line);
        let finding = Finding::new(level, text).at_line("", line);
        findings.push(if hint.is_empty() { finding } else { finding.with_hint(hint) });
    };
    if !document.has_frontmatter() {
        find(
            FindingLevel::Error,
            None,
            "there is no frontmatter".into(),
            "the file must begin with a `---` line",
        );
        return findings;
    }
    match (document.frontmatter_text("resume_schema_version"), document.frontmatter_value("resume_version")) {
        (Some(SCHEMA_VERSION), _) => {}
        (Some(other), _) => find(
            FindingLevel::Error,
            Some("resume_schema_version"),
            format!("resume_schema_version is `{other}`; this version of thru supports {SCHEMA_VERSION}"),
            "",
        ),
        (None, Some(_)) => find(
            FindingLevel::Warning,
            Some("resume_version"),
            "resume_version is the old name of resume_schema_version".into(),
            "write resume_schema_version: \"1.0\" instead",
        ),
        (None, None) => {
            find(FindingLevel::Error, None, "resume_schema_version is missing".into(), "write \"1.0\"");
        }
    }
    for key in ["project_id", "project_name", "current_phase", "next_action", "last_updated"] {
        if document.frontmatter_text(key).is_none_or(|text| text.trim().is_empty()) {
            find(FindingLevel::Error, Some(key), format!("{key} is missing"), "");
        }
    }
    if let Some(id) = document.frontmatter_text("project_id").filter(|id| !is_workstream_id(id)) {
        find(
            FindingLevel::Error,
            Some("project_id"),
            format!("project_id `{id}` is not NN-kebab-case"),
            "like 24-new-parser",
        );
    }
    if let Some(phase) =
        document.frontmatter_text("current_phase").filter(|phase| !KNOWN_PHASES.contains(phase))
    {
        let hint = format!("one of {}", KNOWN_PHASES.join(", "));
        find(
            FindingLevel::Error,
            Some("current_phase"),
            format!("current_phase `{phase}` is unknown"),
            &hint,
        );
    }
    if let Some(at) = document.frontmatter_text("last_updated").filter(|at| time::parse_time(at).is_none()) {
        find(
            FindingLevel::Error,
            Some("last_updated"),
            format!("last_updated `{at}` is not a valid time"),
            "like 2026-11-15T19:22:00Z",
        );
    }
    match document.frontmatter_list("files_to_load") {
        None => {
            find(
                FindingLevel::Error,
                Some("files_to_load"),
                "files_to_load is missing".into(),
                "a list of paths",
            );
        }
        Some(files) if files.is_empty() => {
            find(
                FindingLevel::Error,
                Some("files_to_load"),
                "files_to_load names no files".into(),
                "at least one",
            );
        }
        Some(files) => {
            for file in &files {
                let why = match () {
                    () if file.starts_with('/') => "is not a relative path",
                    // No workstream folder is this deep, so a path with so many `..` components leads out of the
                    // project. A path with fewer of them may also lead out, depending on the location of the manifest.
                    () if file.split('/').filter(|part| *part == "..").count() > MAX_FOLDER_DEPTH => {
                        "is outside the project and is not opened"
                    }
                    () => continue,
                };
                let text = format!("`{file}` {why}");
                find(
                    FindingLevel::Error,
                    Some("files_to_load"),
                    text,
                    "a path relative to the workstream's folder",
                );
            }
        }
    }
    for (key, least) in [("current_section", 0), ("current_task", 1)] {
        match document.frontmatter_value(key) {
            None => find(FindingLevel::Warning, None, format!("{key} is missing"), ""),
            Some(value) if value.as_i64().is_none_or(|n| n < least) => {
                find(
                    FindingLevel::Error,
                    Some(key),
                    format!("{key} must be a whole number of at least {least}"),
                    "",
                );
            }
            Some(_) => {}
        }
    }
    match document.frontmatter_text("progress") {
        None => find(FindingLevel::Warning, Some("progress"), "progress is missing".into(), PROGRESS_HINT),
        Some(text) if !is_progress_text(text) => {
            find(
                FindingLevel::Error,
                Some("progress"),
                format!("progress `{text}` is not a count"),
                PROGRESS_HINT,
            );
        }
        Some(_) => {}
    }
    if document.frontmatter_value("continue_at").is_some_and(|value| value.as_str().is_none_or(str::is_empty))
    {
        find(
            FindingLevel::Error,
            Some("continue_at"),
            "continue_at does not name a place in a file".into(),
            "like \"src/api.rs:142\"",
        );
    }
    for key in ["blockers", "session_ids"] {
        let texts = |value: &Value| value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
        if document.frontmatter_value(key).is_some_and(|value| !texts(value)) {
            find(
                FindingLevel::Error,
                Some(key),
                format!("{key} is not a list of strings"),
                "like [\"one\", \"two\"]",
            );
        }
    }
    let asked = gate_questions(document);
    if asked.is_empty() {
        find(
            FindingLevel::Warning,
            None,
            "there are no questions under `# Validation Gate`".into(),
            "write numbered questions, each with the file that answers it",
        );
    }
    for (i, _) in asked.iter().enumerate().filter(|(_, question)| !question_names_file(question)) {
        let text = format!("question {} of the gate names no file", i + 1);
        find(FindingLevel::Warning, None, text, "say which file answers it, e.g. (from plan.md)");
    }
    if document.bytes().len() > MAX_MANIFEST_BYTES {
        let size = document.bytes().len();
        find(
            FindingLevel::Warning,
            None,
            format!("{size} bytes; the limit for a manifest is {MAX_MANIFEST_BYTES}"),
            "move explanations to a file that the manifest loads",
        );
    }
    findings
}

const PROGRESS_HINT: &str = "like \"14/40 tasks complete\"";

fn is_progress_text(text: &str) -> bool {
    progress_counts(text).is_some()
}

/// Parses the counts in a string such as `14/40 tasks complete`.
fn progress_counts(text: &str) -> Option<(u32, u32)> {
    let (done, all) = text.split_whitespace().next()?.split_once('/')?;
    let (done, all) = (done.parse().ok()?, all.parse().ok()?);
    (done <= all).then_some((done, all))
}

pub fn has_checkboxes(steps: &Document) -> bool {
    steps.list_items().iter().any(|item| item.checked.is_some())
}

/// Returns whether a question names a file, such as `plan.md` or `src/api.rs`.
fn question_names_file(question: &str) -> bool {
    let words = question.split(|c: char| c.is_whitespace() || "()[]`\"',;:?".contains(c));
    words.map(|word| word.trim_end_matches('.')).any(|word| {
        word.rsplit_once('.').is_some_and(|(name, ending)| {
            !name.is_empty()
                && (1..=8).contains(&ending.len())
                && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
    })
}

/// The content of a new manifest.
#[derive(Clone, Copy, Debug)]
pub struct NewManifestContent<'a> {
    pub project_id: &'a str,
    pub project_name: &'a str,
    pub phase: &'a str,
    pub next_action: &'a str,
    pub files_to_load: &'a [String],
    pub session: Option<&'a str>,
    pub now: Timestamp,
}

pub fn create_manifest(new: &NewManifestContent) -> Vec<u8> {
    let quote = |text: &str| Value::from(text).to_string();
    let files: String = new.files_to_load.iter().map(|file| format!("  - {}\n", quote(file))).collect();
    let sessions =
        new.session.map_or(String::new(), |session| format!("session_ids: {}\n", json!([session])));
    let questions: String = new
        .files_to_load
        .iter()
        .enumerate()
        .map(|(i, file)| format!("{}. {} (from {file})\n", i + 1, question_about_file(file)))
        .collect();
    let NewManifestContent { project_id, project_name, phase, next_action, .. } = new;
    let about_action = if *next_action == NEXT_ACTION_OF_NEW_MANIFEST { NEXT_OPEN_STEP_COMMENT } else { "" };
    format!(
        "---\nresume_schema_version: \"{SCHEMA_VERSION}\"\nlast_updated: \"{}\"\nproject_id: \"{project_id}\"\nproject_name: \
         {}\ncurrent_phase: {phase}\nnext_action: {}{about_action}\nfiles_to_load:\n{files}current_section: 0\ncurrent_task: \
         1\nprogress: \"0/0 tasks complete\"\n{sessions}---\n\n# Validation Gate\n\n{questions}",
        time::to_rfc3339(new.now),
        quote(project_name),
        quote(next_action),
    )
    .into_bytes()
}

fn question_about_file(file: &str) -> &'static str {
    let name = file.rsplit('/').next().unwrap_or(file);
    match () {
        () if name.contains("overview") => "What problem is solved, and what shows that it is solved?",
        () if name.contains("plan") => "What is the approach, and which alternatives were rejected?",
        () if is_steps_file(file) => "Which step is next, and what does it need?",
        () => "What does this file say about the next step?",
    }
}

/// Returns whether a file contains the steps, that is, the checkboxes to tick.
pub fn is_steps_file(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.contains("steps") || name.contains("tasks")
}

/// Updates section, task, progress and time from the checkboxes in `steps`. Returns false if nothing changed. A
/// hand-written `next_action` is kept.
pub fn update_from_steps(manifest: &mut Document, steps: &Document, now: Timestamp) -> bool {
    let boxes: Vec<_> = steps.list_items().into_iter().filter(|item| item.checked.is_some()).collect();
    if boxes.is_empty() {
        return false;
    }
    let done = boxes.iter().filter(|item| item.checked == Some(true)).count();
    let next = boxes.iter().position(|item| item.checked == Some(false));
    let line = boxes[next.unwrap_or(boxes.len() - 1)].line;
    // A section is a heading with checkboxes below it. Sections are counted from 1.
    let holds = |from: usize, to: usize| boxes.iter().any(|item| (from..to).contains(&item.line));
    let starts: Vec<usize> = steps.headings().iter().map(|heading| heading.line).collect();
    let ends = starts.iter().skip(1).copied().chain([usize::MAX]);
    let sections: Vec<usize> =
        starts.iter().zip(ends).filter(|(from, to)| holds(**from, *to)).map(|(from, _)| *from).collect();
    let section = sections.iter().filter(|start| **start <= line).count();
    let before = manifest.bytes().to_vec();
    let values = [
        ("current_section", json!(section)),
        ("current_task", json!(next.map_or(boxes.len(), |next| next + 1))),
        ("progress", json!(format!("{done}/{} tasks complete", boxes.len()))),
    ];
    for (key, value) in values {
        // Setting an entry cannot fail here, because the keys are valid.
        let _ = manifest.set_frontmatter_entry(key, value);
    }
    if manifest.bytes() == before {
        return false;
    }
    let _ = manifest.set_frontmatter_entry("last_updated", time::to_rfc3339(now));
    true
}

/// Returns the text of the next unticked checkbox.
pub fn text_of_next_unticked_box(steps: &Document) -> Option<String> {
    steps.list_items().into_iter().find(|item| item.checked == Some(false)).map(|item| item.text)
}

/// Ticks the next unticked checkbox and returns its text.
pub fn tick_next_box(steps: &mut Document) -> Option<String> {
    let next = steps.list_items().into_iter().find(|item| item.checked == Some(false))?;
    steps.tick_checkbox(next.line).ok()?;
    Some(next.text)
}

/// Ticks the checkboxes whose text is in `done`. Returns whether any checkbox was ticked.
pub fn tick_named_boxes<'t>(steps: &mut Document, done: impl Iterator<Item = &'t str>) -> bool {
    let done: Vec<String> = done.map(|text| text.trim().to_lowercase()).collect();
    let open: Vec<usize> = steps
        .list_items()
        .into_iter()
        .filter(|item| item.checked == Some(false) && done.contains(&item.text.trim().to_lowercase()))
        .map(|item| item.line)
        .collect();
    open.iter().filter(|line| steps.tick_checkbox(**line).is_ok()).count() > 0
}

/// Converts an old `_resume.md` to a manifest. Keys are renamed, missing values are added and the body is kept.
/// `files` are the existing files to load.
pub fn migrate_legacy(legacy: &[u8], project_id: &str, files: &[String], now: Timestamp) -> Document {
    let mut document = Document::parse(legacy);
    let text = |document: &Document, keys: &[&str]| {
        keys.iter()
            .find_map(|key| document.frontmatter_text(key))
            .map(str::to_owned)
            .filter(|text| !text.is_empty())
    };
    let name = || {
        let words: Vec<&str> = project_id.split('-').skip(1).collect();
        words.join(" ")
    };
    let phase = text(&document, &["current_phase", "phase"]).map(|phase| normalise_phase(&phase));
    // Times in older files may lack the zone, the seconds or the `T`.
    let updated = text(&document, &["last_updated", "updated"])
        .map(|updated| time::parse_time(&updated).map_or(updated, time::to_rfc3339));
    let listed = document.frontmatter_list("files_to_load").filter(|files| !files.is_empty());
    let values = [
        ("resume_schema_version", Some(json!(SCHEMA_VERSION))),
        ("last_updated", Some(json!(updated.unwrap_or_else(|| time::to_rfc3339(now))))),
        ("project_id", Some(json!(project_id))),
        (
            "project_name",
            Some(json!(text(&document, &["project_name", "name", "project"]).unwrap_or_else(name))),
        ),
        (
            "current_phase",
            Some(json!(
                phase
                    .filter(|p| KNOWN_PHASES.contains(&p.as_str()))
                    .unwrap_or_else(|| DEFAULT_MANIFEST_PHASE.into())
            )),
        ),
        (
            "next_action",
            Some(json!(
                text(&document, &["next_action", "last_skill"]).unwrap_or_else(|| "execute-project".into())
            )),
        ),
        ("files_to_load", listed.is_none().then(|| json!(files))),
    ];
    for (key, value) in values {
        if let Some(value) = value.filter(|value| document.frontmatter_value(key) != Some(value)) {
            let _ = document.set_frontmatter_entry(key, value);
        }
    }
    for old in ["resume_version", "updated", "phase", "last_skill"] {
        document.remove_frontmatter_entry(old);
    }
    document
}

/// Returns the phase in an old file if it is not a known phase. `migrate` replaces such a phase.
pub fn unknown_phase_in_legacy_file(legacy: &[u8]) -> Option<String> {
    let document = Document::parse(legacy);
    let phase =
        document.frontmatter_text("current_phase").or_else(|| document.frontmatter_text("phase"))?.to_owned();
    (!phase.is_empty() && !KNOWN_PHASES.contains(&normalise_phase(&phase).as_str())).then_some(phase)
}

fn normalise_phase(phase: &str) -> String {
    phase.trim().to_lowercase().replace(['_', ' '], "-")
}

/// Returns whether two manifests differ only in their time.
pub fn are_manifests_equal_except_time(a: &[u8], b: &[u8]) -> bool {
    let without = |bytes: &[u8]| {
        let mut document = Document::parse(bytes);
        document.remove_frontmatter_entry("last_updated");
        document.into_bytes()
    };
    without(a) == without(b)
}

#[cfg(test)]
#[path = "manifest_tests.rs"]
mod tests;
