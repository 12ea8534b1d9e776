//! Handoffs that others wrote: their text is kept, and what is recognised finds its place.

use jiff::Timestamp;
use serde_json::json;

use super::{
    CONFIRMED, CONSTRAINTS, CONTEXT, DECISIONS, FILES, HEADINGS, INTENT, NEXT_PROMPT, NONE, NOTES, PLAN,
    QUESTIONS, SUGGESTED, Status, VALIDATORS,
};
use crate::document::{Document, wrap_verbatim};
use crate::render::{code, inline};
use crate::time;

#[derive(Clone, Copy, Debug)]
pub struct Foreign<'a> {
    pub id: &'a str,
    /// What it is called where it has no title.
    pub name: &'a str,
    /// Where it came from, for whoever wants to see the original.
    pub from: &'a str,
    /// Of its bytes: the same file is imported once.
    pub fingerprint: &'a str,
    pub document: &'a Document,
    pub project_id: &'a str,
    pub now: Timestamp,
}

/// What people call our sections.
const NAMES: &[(&str, &[&str])] = &[
    (NEXT_PROMPT, &["next prompt", "prompt", "kickoff", "resume prompt"]),
    (INTENT, &["intent", "goal", "objective", "purpose", "task", "mission", "what we are doing", "request"]),
    (CONSTRAINTS, &["constraint", "rules", "requirement", "do not", "don't", "guardrail"]),
    (DECISIONS, &["decision", "decided", "choices", "rationale"]),
    (FILES, &["relevant files", "files", "key files", "changed files", "artifacts"]),
    (
        PLAN,
        &[
            "plan",
            "next step",
            "next action",
            "todo",
            "to do",
            "remaining",
            "pending",
            "what's left",
            "what is left",
        ],
    ),
    (VALIDATORS, &["validator", "exit criteria", "acceptance", "definition of done", "verification", "test"]),
    (QUESTIONS, &["open question", "question", "blocker", "unknown", "risk"]),
    (
        CONTEXT,
        &[
            "context",
            "background",
            "current state",
            "state",
            "status",
            "summary",
            "progress",
            "done",
            "completed",
        ],
    ),
];

/// The title of a foreign handoff: its first heading, or what its frontmatter says.
pub fn title(document: &Document, name: &str) -> String {
    let said = ["purpose", "title", "goal", "name"].iter().find_map(|key| document.text(key));
    let heading =
        document.headings().iter().find(|heading| heading.level == 1).map(|heading| heading.text.as_str());
    let title = said.or(heading).map_or(name, str::trim);
    let title = title
        .trim_start_matches("Handoff:")
        .trim_start_matches("Handoff")
        .trim_start_matches([':', '-', '—', ' ']);
    inline(if title.is_empty() { name } else { title }, 200)
}

/// The packet's bytes.
pub fn render(foreign: &Foreign) -> Vec<u8> {
    let Foreign { id, name, from, fingerprint, document, project_id, now } = *foreign;
    let mut bodies: Vec<(&str, String)> = HEADINGS.iter().map(|heading| (*heading, String::new())).collect();
    for (heading, text) in parts(document) {
        let place = heading.as_deref().map_or(NOTES, place_of);
        let Some((_, body)) = bodies.iter_mut().find(|(known, _)| *known == place) else { continue };
        if !body.is_empty() {
            body.push_str("\n\n");
        }
        if place == NOTES
            && let Some(heading) = &heading
        {
            body.push_str(&format!("### {heading}\n\n"));
        }
        body.push_str(&text);
    }
    let files = paths(&bodies);
    let purpose = title(document, name);
    let mut text = String::new();
    for (heading, body) in &bodies {
        let body = match *heading {
            FILES => file_section(body, &files),
            INTENT if body.is_empty() => purpose.clone(),
            _ => safe(body),
        };
        text.push_str(&format!("\n## {heading}\n\n{body}\n"));
    }
    let now = time::rfc3339(now);
    let mut packet = Document::parse(text.into_bytes());
    for (key, value) in [
        ("id", json!(id)),
        ("created_at", json!(now)),
        ("updated_at", json!(now)),
        ("status", json!(Status::Draft.name())),
        ("purpose", json!(purpose)),
        ("source", json!("unknown")),
        ("relevant_files_confirmed", json!([])),
        ("relevant_files_suggested", json!(files)),
        ("validators", json!([])),
        ("loop_promise", json!(null)),
        ("loop_max_iterations", json!(0)),
        ("project_id", json!(project_id)),
        ("imported_from", json!(from)),
        ("imported_digest", json!(fingerprint)),
    ] {
        let _ = packet.set(key, value);
    }
    packet.into_bytes()
}

/// The text before the first section, and each section of level 1 to 3 with what is directly below it.
fn parts(document: &Document) -> Vec<(Option<String>, String)> {
    let (mut parts, mut heading, mut text) = (Vec::new(), None, String::new());
    let headings = document.headings();
    for line in document.lines().filter(|line| line.start >= document.bytes().len() - document.body().len()) {
        let words = String::from_utf8_lossy(line.text(document.bytes())).into_owned();
        match headings.iter().find(|known| known.line == line.number && known.level <= 3) {
            Some(known) => {
                parts.push((heading.replace(known.text.clone()), std::mem::take(&mut text)));
            }
            None => {
                text.push_str(&words);
                text.push('\n');
            }
        }
    }
    parts.push((heading, text));
    parts
        .into_iter()
        .map(|(heading, text)| (heading, text.trim().to_owned()))
        .filter(|(_, text)| !text.is_empty())
        .collect()
}

fn place_of(heading: &str) -> &'static str {
    let heading = heading.to_lowercase();
    let known = NAMES.iter().find(|(_, names)| names.iter().any(|name| heading.contains(name)));
    known.map_or(NOTES, |(place, _)| place)
}

/// What stands in backticks or at the beginning of an item in a section about files, and looks like a path.
fn paths(bodies: &[(&str, String)]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let body = bodies.iter().find(|(heading, _)| *heading == FILES).map_or("", |(_, body)| body);
    for line in body.lines() {
        let line = line.trim().trim_start_matches(['-', '*', ' ', '@']);
        let word = match line.split_once('`') {
            Some((_, rest)) => rest.split('`').next().unwrap_or_default(),
            None => line.split([' ', ':', ',']).next().unwrap_or_default(),
        };
        let is_path =
            word.contains(['/', '.']) && !word.contains("://") && !word.ends_with('.') && word.len() < 300;
        if is_path && !found.iter().any(|known| known == word) {
            found.push(word.to_owned());
        }
    }
    found
}

fn file_section(body: &str, files: &[String]) -> String {
    let listed: Vec<String> = files.iter().map(|path| format!("- {}", code(path, 300))).collect();
    let listed = if listed.is_empty() { NONE.to_owned() } else { listed.join("\n") };
    let kept =
        if body.is_empty() { String::new() } else { format!("\n\n### As it was written\n\n{}", safe(body)) };
    format!("### {CONFIRMED}\n\n{NONE}\n\n### {SUGGESTED}\n\n{listed}{kept}")
}

/// A text that would break the packet apart goes in between fences.
fn safe(body: &str) -> String {
    if body.is_empty() {
        return NONE.to_owned();
    }
    let alone = Document::parse(body.as_bytes());
    let breaks = alone.headings().iter().any(|heading| heading.level <= 2) || !alone.findings().is_empty();
    if breaks {
        String::from_utf8_lossy(&wrap_verbatim(body.as_bytes(), "\n")).into_owned()
    } else {
        body.to_owned()
    }
}
