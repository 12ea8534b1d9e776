//! Packets: one handoff each, a markdown record that people edit and tools read.

mod choose;
mod compose;
pub mod confirm;
pub mod drift;
pub mod import;
pub mod pickup;
pub mod words;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::document::{Document, FindingKind, Head, Item};
use crate::finding::{Finding, Level};
use crate::render::{code, inline};
use crate::time;

pub use compose::{Draft, Git, Material, NONE, compose};

/// The headings of a packet, in order. All of them are level 2.
pub const INTENT: &str = "Intent";
pub const CONTEXT: &str = "Context";
pub const CONSTRAINTS: &str = "Constraints";
pub const DECISIONS: &str = "Decisions";
pub const FILES: &str = "Relevant Files";
pub const NEXT_PROMPT: &str = "Next Prompt (Draft)";
pub const PLAN: &str = "Plan";
pub const VALIDATORS: &str = "Validators / Exit Criteria";
pub const QUESTIONS: &str = "Open Questions";
pub const NOTES: &str = "Notes";

pub const HEADINGS: &[&str] =
    &[INTENT, CONTEXT, CONSTRAINTS, DECISIONS, FILES, NEXT_PROMPT, PLAN, VALIDATORS, QUESTIONS, NOTES];

/// Below [`FILES`], level 3.
pub const CONFIRMED: &str = "Confirmed";
pub const SUGGESTED: &str = "Suggested";

/// What this build writes and reads. A packet that says nothing of it is of the first.
pub const SCHEMA_VERSION: i64 = 1;

const REQUIRED: &[&str] = &["id", "created_at", "updated_at", "status", "purpose"];
const SOURCES: &[&str] =
    &["claude-code", "droid", "opencode", "codex", "gemini", "unknown", "factory", "claude"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Draft,
    Active,
    Done,
    Blocked,
}

impl Status {
    pub const ALL: [Status; 4] = [Status::Draft, Status::Active, Status::Done, Status::Blocked];

    pub fn parse(text: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.name() == text.trim())
    }

    pub fn name(self) -> &'static str {
        match self {
            Status::Draft => "draft",
            Status::Active => "active",
            Status::Done => "done",
            Status::Blocked => "blocked",
        }
    }
}

/// What the frontmatter says. Whatever is missing or odd is empty here; [`validate`] says so.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Packet {
    pub id: String,
    pub created_at: String,
    pub updated_at: String,
    pub status: Option<Status>,
    pub purpose: String,
    pub source: String,
    pub session_id: String,
    pub transcript_path: String,
    pub confirmed: Vec<String>,
    pub suggested: Vec<String>,
    pub validators: Vec<String>,
    pub loop_promise: Option<String>,
    pub loop_max_iterations: i64,
    pub project_id: String,
    pub head: String,
    pub branch: String,
    pub dirty: Option<i64>,
    pub claimed_by: String,
    pub claimed_at: String,
    /// What the files held when the packet was written: path and fingerprint.
    #[serde(skip)]
    pub files_seen: Vec<(String, String)>,
    /// How the validators ended when they were last seen.
    pub checks_seen: Vec<Check>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Check {
    pub command: String,
    pub ok: bool,
    pub at: String,
}

impl Packet {
    /// With the files that only the text names as confirmed: whoever wrote them there meant them.
    pub fn whole(document: &Document, name: &str) -> Packet {
        let mut packet = Packet::read(document, name);
        for file in confirm::listed(document) {
            if !packet.confirmed.contains(&file) {
                packet.confirmed.push(file);
            }
        }
        packet
    }

    /// The frontmatter. `name` is the file's, without its ending: it counts, whatever `id` says.
    pub fn read(document: &Document, name: &str) -> Packet {
        let text = |key: &str| document.text(key).unwrap_or_default().trim().to_owned();
        let list = |key: &str| document.list(key).unwrap_or_default();
        Packet {
            id: name.to_owned(),
            created_at: text("created_at"),
            updated_at: text("updated_at"),
            status: Status::parse(&text("status")),
            purpose: text("purpose"),
            source: source_name(&text("source")).to_owned(),
            session_id: text("session_id"),
            transcript_path: text("transcript_path"),
            confirmed: list("relevant_files_confirmed"),
            suggested: list("relevant_files_suggested"),
            validators: list("validators"),
            loop_promise: Some(text("loop_promise"))
                .filter(|promise| !promise.is_empty() && promise != "null"),
            loop_max_iterations: document.int("loop_max_iterations").unwrap_or(0),
            project_id: text("project_id"),
            head: text("head"),
            branch: text("branch"),
            dirty: document.int("dirty"),
            claimed_by: text("claimed_by"),
            claimed_at: text("claimed_at"),
            files_seen: pairs(document.get("files_seen")),
            checks_seen: document
                .get("checks_seen")
                .and_then(|value| serde_json::from_value(value.clone()).ok())
                .unwrap_or_default(),
        }
    }

    /// Confirmed files first, then the suggested ones; each once.
    pub fn files(&self) -> Vec<&str> {
        let mut files: Vec<&str> = Vec::new();
        for path in self.confirmed.iter().chain(&self.suggested) {
            if !files.contains(&path.as_str()) {
                files.push(path);
            }
        }
        files
    }
}

fn pairs(value: Option<&Value>) -> Vec<(String, String)> {
    let object = value.and_then(Value::as_object);
    let pair = |(path, digest): (&String, &Value)| Some((path.clone(), digest.as_str()?.to_owned()));
    object.into_iter().flatten().filter_map(pair).collect()
}

/// Names that older files use.
fn source_name(source: &str) -> &str {
    match source {
        "factory" => "droid",
        "claude" => "claude-code",
        other => other,
    }
}

/// `fix: the Parser!` → `fix-the-parser`. What has no letter that a file name should hold becomes `packet`.
pub fn slug(purpose: &str) -> String {
    const MOST: usize = 48;
    let mut slug = String::new();
    for c in purpose.chars().flat_map(char::to_lowercase) {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    // Between two words where that is possible.
    if slug.len() > MOST {
        let cut = slug[..=MOST].rfind('-').filter(|at| *at > MOST / 2).unwrap_or(MOST);
        slug.truncate(cut);
    }
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "packet".to_owned() } else { slug.to_owned() }
}

/// The n-th name to try for a packet written now: `<ts>-<slug>`, then `-2`, `-3`.
pub fn id(now: Timestamp, purpose: &str, n: usize) -> String {
    let first = format!("{}-{}", time::compact(now), slug(purpose));
    if n < 2 { first } else { format!("{first}-{n}") }
}

/// The version that a packet is of, if this build does not know it yet.
pub fn newer(document: &Document) -> Option<i64> {
    document.int("schema_version").filter(|version| *version > SCHEMA_VERSION)
}

/// What is off with a packet. Errors are what a reader cannot do without; the rest stays usable.
pub fn validate(document: &Document, file: &str) -> Vec<Finding> {
    let name = file.rsplit('/').next().and_then(|name| name.strip_suffix(".md")).unwrap_or(file);
    let mut findings: Vec<Finding> = Vec::new();
    let mut find = |level, line: Option<usize>, text: String, hint: &str| {
        let finding = Finding::new(level, text).at(file, line);
        findings.push(if hint.is_empty() { finding } else { finding.hint(hint) });
    };
    for odd in document.findings() {
        let (level, hint) = match odd.kind {
            FindingKind::UnclosedFrontmatter => (Level::Error, HEAD_HINT),
            _ => (Level::Warning, ""),
        };
        find(level, Some(odd.line), odd.kind.to_string(), hint);
    }
    if !document.has_frontmatter() {
        if !document.findings().iter().any(|odd| odd.kind == FindingKind::UnclosedFrontmatter) {
            let text = "no frontmatter: the file does not begin with `---`";
            find(Level::Error, Some(1), text.into(), HEAD_HINT);
        }
        return findings;
    }
    let line = |key: &str| document.entry(key).map(|entry| entry.line);
    if let Some(version) = newer(document) {
        find(
            Level::Error,
            line("schema_version"),
            format!("`schema_version` is {version}, this thru knows up to {SCHEMA_VERSION}"),
            "use the version of thru that wrote it, or a newer one",
        );
    }
    for key in REQUIRED {
        if document.text(key).is_none_or(|text| text.trim().is_empty()) {
            find(Level::Error, line(key).or(Some(1)), format!("`{key}` is missing"), HEAD_HINT);
        }
    }
    let text = |key: &str| document.text(key).filter(|text| !text.trim().is_empty());
    if let Some(id) = text("id").filter(|id| *id != name) {
        let hint = "the file's name counts; give both the same";
        find(Level::Warning, line("id"), format!("`id` is {id}, the file is called {name}"), hint);
    }
    for key in ["created_at", "updated_at", "claimed_at"] {
        if let Some(bad) = text(key).filter(|text| time::parse(text).is_none()) {
            find(
                Level::Error,
                line(key),
                format!("`{key}` is `{bad}`, which is no time"),
                "write it like 2026-11-15T19:22:00Z",
            );
        }
    }
    if let Some(bad) = text("status").filter(|status| Status::parse(status).is_none()) {
        find(
            Level::Error,
            line("status"),
            format!("`status` is `{bad}`"),
            "it is one of draft, active, done, blocked",
        );
    }
    if let Some(bad) = text("source").filter(|source| !SOURCES.contains(source)) {
        find(
            Level::Warning,
            line("source"),
            format!("`source` is `{bad}`, which is no harness that thru knows"),
            "",
        );
    }
    for key in ["relevant_files_confirmed", "relevant_files_suggested", "validators"] {
        if document.get(key).is_some_and(|value| !value.is_null()) && document.list(key).is_none() {
            find(
                Level::Error,
                line(key),
                format!("`{key}` is no list"),
                "write a JSON list on one line: [\"a\", \"b\"]",
            );
        }
    }
    for key in ["loop_max_iterations", "dirty"] {
        if text(key).is_some() && document.int(key).is_none() {
            find(Level::Error, line(key), format!("`{key}` is no whole number"), "");
        }
    }
    validate_headings(document, &mut find);
    validate_lists(document, &mut find);
    findings
}

const HEAD_HINT: &str = "`thru packet show` prints one; the first lines of one that is right are the pattern";

fn validate_headings(document: &Document, find: &mut impl FnMut(Level, Option<usize>, String, &str)) {
    let mut last = 0;
    for heading in HEADINGS {
        match document.headings().iter().find(|known| known.level == 2 && known.text == *heading) {
            None => find(
                Level::Warning,
                None,
                format!("`## {heading}` is missing"),
                "the packet can be picked up all the same; that part is then empty",
            ),
            Some(known) => {
                if known.line < last {
                    let text = format!("`## {heading}` stands before what should come first");
                    find(Level::Note, Some(known.line), text, "");
                }
                last = last.max(known.line);
            }
        }
    }
    for sub in [CONFIRMED, SUGGESTED] {
        let files = document.section(&[Head::exact(2, FILES)]).is_some();
        if files && document.section(&[Head::exact(2, FILES), Head::exact(3, sub)]).is_none() {
            find(Level::Warning, None, format!("`### {sub}` below `## {FILES}` is missing"), "");
        }
    }
}

/// Where the frontmatter, which tools read, and the text, which people read, do not say the same.
fn validate_lists(document: &Document, find: &mut impl FnMut(Level, Option<usize>, String, &str)) {
    const FILES_HINT: &str = "`thru packet confirm` and `unconfirm` keep both in step";
    const OTHER_HINT: &str = "the frontmatter counts; give both the same";
    let below = |sub| vec![Head::exact(2, FILES), Head::exact(3, sub)];
    for (key, path, hint) in [
        ("relevant_files_confirmed", below(CONFIRMED), FILES_HINT),
        ("relevant_files_suggested", below(SUGGESTED), OTHER_HINT),
        ("validators", vec![Head::exact(2, VALIDATORS)], OTHER_HINT),
    ] {
        let Some(section) = document.section(&path) else { continue };
        let (known, items) = (document.list(key).unwrap_or_default(), section.items());
        let is_own =
            |text: &str, entry: &str| text.starts_with(&code(entry, 300)) || confirm::names(text, entry);
        let heading = format!("{} {}", "#".repeat(section.heading.level.into()), section.heading.text);
        for entry in known.iter().filter(|entry| !items.iter().any(|item| is_own(&item.text, entry))) {
            let text = format!("`{key}` has {}, `{heading}` does not list it", code(entry, 200));
            find(Level::Note, document.entry(key).map(|entry| entry.line), text, hint);
        }
        let is_entry = |text: &str| match key {
            "validators" => text.starts_with('`'),
            _ => confirm::path_in(text).is_some(),
        };
        let unknown =
            |item: &&Item| is_entry(&item.text) && !known.iter().any(|entry| is_own(&item.text, entry));
        for item in items.iter().filter(unknown) {
            let text = format!("`{heading}` lists “{}”, `{key}` does not have it", inline(&item.text, 100));
            find(Level::Note, Some(item.line), text, hint);
        }
    }
}

#[cfg(test)]
#[path = "packet_tests.rs"]
mod tests;
