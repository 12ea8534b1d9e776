//! Imports handoffs written by other tools or by people. Their text is kept, and recognised parts are moved below the
//! packet's headings.

use jiff::Timestamp;
use serde_json::json;

use super::{
    ALL_HEADINGS, ALLOWED_PACKET_SOURCES, CONFIRMED_FILES_HEADING, CONSTRAINTS_HEADING, CONTEXT_HEADING,
    DECISIONS_HEADING, INTENT_HEADING, NEXT_PROMPT_HEADING, NONE_RECORDED, NOTES_HEADING, PLAN_HEADING,
    Packet, PacketStatus, QUESTIONS_HEADING, RELEVANT_FILES_HEADING, SUGGESTED_HEADING, VALIDATORS_HEADING,
};
use crate::document::{Document, Heading, wrap_verbatim};
use crate::loops::promise;
use crate::render::{in_backticks, inline_for_model};
use crate::time;

#[derive(Clone, Copy, Debug)]
pub struct ForeignHandoff<'a> {
    pub id: &'a str,
    /// The file name, used as the title if the handoff has none.
    pub name: &'a str,
    /// The path of the original file.
    pub from: &'a str,
    /// A fingerprint of the file's bytes. It is used to recognise a repeated import.
    pub fingerprint: &'a str,
    pub document: &'a Document,
    pub project_id: &'a str,
    pub now: Timestamp,
}

/// Names that foreign handoffs often use for the sections of a packet.
const SECTION_NAMES: &[(&str, &[&str])] = &[
    (NEXT_PROMPT_HEADING, &["next prompt", "prompt", "kickoff", "resume prompt"]),
    (
        INTENT_HEADING,
        &["intent", "goal", "objective", "purpose", "task", "mission", "what we are doing", "request"],
    ),
    (CONSTRAINTS_HEADING, &["constraint", "rules", "requirement", "do not", "don't", "guardrail"]),
    (DECISIONS_HEADING, &["decision", "decided", "choices", "rationale"]),
    (RELEVANT_FILES_HEADING, &["relevant files", "files", "key files", "changed files", "artifacts"]),
    (
        PLAN_HEADING,
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
    (
        VALIDATORS_HEADING,
        &["validator", "exit criteria", "acceptance", "definition of done", "verification", "test"],
    ),
    (QUESTIONS_HEADING, &["open question", "question", "blocker", "unknown", "risk"]),
    (
        CONTEXT_HEADING,
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

/// Returns a foreign handoff's title from its frontmatter, or else its first heading, or else its file name.
pub fn handoff_title(document: &Document, name: &str) -> String {
    let said = ["purpose", "title", "goal", "name"].iter().find_map(|key| document.frontmatter_text(key));
    let heading =
        document.headings().iter().find(|heading| heading.level == 1).map(|heading| heading.text.as_str());
    let title = said.or(heading).map_or(name, str::trim);
    let title = title
        .trim_start_matches("Handoff:")
        .trim_start_matches("Handoff")
        .trim_start_matches([':', '-', '—', ' ']);
    inline_for_model(if title.is_empty() { name } else { title }, 200)
}

/// Converts a foreign handoff into the bytes of a packet.
pub fn render_packet(foreign: &ForeignHandoff) -> Vec<u8> {
    let ForeignHandoff { id, name, from, fingerprint, document, project_id, now } = *foreign;
    let sorted = SortedHandoff::sort_sections(document);
    let theirs = Packet::read_frontmatter(document, id);
    let either = |listed: Vec<String>, found: Vec<String>| {
        let mut all = listed;
        all.extend(found.into_iter().filter(|path| !all.contains(path)).collect::<Vec<_>>());
        all
    };
    let confirmed = either(theirs.confirmed, paths_in_text(&sorted.confirmed));
    let suggested = either(theirs.suggested, paths_in_text(&sorted.suggested));
    let suggested = either(suggested, paths_in_text(sorted.body_below(RELEVANT_FILES_HEADING)));
    let purpose = handoff_title(document, name);
    let mut text = String::new();
    for (heading, body) in &sorted.bodies {
        let body = match *heading {
            RELEVANT_FILES_HEADING => sorted.file_section(&confirmed, &suggested),
            INTENT_HEADING if body.is_empty() => purpose.clone(),
            _ => fenced_if_needed(body),
        };
        text.push_str(&format!("\n## {heading}\n\n{body}\n"));
    }
    let now = time::to_rfc3339(now);
    let created = if time::parse_time(&theirs.created_at).is_some() { &theirs.created_at } else { &now };
    let source = if ALLOWED_PACKET_SOURCES.contains(&theirs.source.as_str()) {
        theirs.source.as_str()
    } else {
        "unknown"
    };
    let promise = theirs.loop_promise.filter(|promise| promise::why_invalid_promise(promise).is_none());
    let mut entries = vec![
        ("id", json!(id)),
        ("created_at", json!(created)),
        ("updated_at", json!(now)),
        ("status", json!(PacketStatus::Draft.name())),
        ("purpose", json!(purpose)),
        ("source", json!(source)),
    ];
    let told = |key, text: &str| (!text.is_empty()).then(|| (key, json!(text)));
    entries.extend(told("session_id", &theirs.session_id));
    entries.extend(told("transcript_path", &theirs.transcript_path));
    entries.extend([
        ("relevant_files_confirmed", json!(confirmed)),
        ("relevant_files_suggested", json!(suggested)),
        ("validators", json!(theirs.validators)),
        ("loop_promise", json!(promise)),
        ("loop_max_iterations", json!(theirs.loop_max_iterations.max(0))),
        ("project_id", json!(project_id)),
    ]);
    entries.extend(told("head", &theirs.head));
    entries.extend(told("branch", &theirs.branch));
    entries.extend(theirs.dirty.map(|dirty| ("dirty", json!(dirty))));
    // File fingerprints are left out, because they describe the original checkout.
    entries.extend((!theirs.checks_seen.is_empty()).then(|| ("checks_seen", json!(theirs.checks_seen))));
    entries.push(("imported_from", json!(from)));
    entries.push(("imported_digest", json!(fingerprint)));
    let mut packet = Document::parse(text.into_bytes());
    for (key, value) in entries {
        let _ = packet.set_frontmatter_entry(key, value);
    }
    packet.into_bytes()
}

/// The text of a foreign handoff, sorted by packet heading.
struct SortedHandoff {
    bodies: Vec<(&'static str, String)>,
    /// The unchanged text below the heading `Confirmed` of the files section.
    confirmed: String,
    suggested: String,
}

impl SortedHandoff {
    fn sort_sections(document: &Document) -> SortedHandoff {
        let bodies = ALL_HEADINGS.iter().map(|heading| (*heading, String::new())).collect();
        let mut sorted = SortedHandoff { bodies, confirmed: String::new(), suggested: String::new() };
        let mut above = NOTES_HEADING;
        for (heading, text) in split_at_headings(document) {
            let own = heading.as_ref().and_then(|heading| packet_heading_for(&heading.text));
            let deep = heading.as_ref().is_some_and(|heading| heading.level > 2);
            let place = match own {
                Some(place) if !deep || above == NOTES_HEADING => place,
                _ if deep => above,
                _ => NOTES_HEADING,
            };
            above = match heading.as_ref().map_or(0, |heading| heading.level) {
                // A title describes the whole text rather than one section, so the text below it goes into the notes.
                0 | 1 => NOTES_HEADING,
                2 => place,
                _ => above,
            };
            if text.trim().is_empty() || text.trim() == NONE_RECORDED {
                continue;
            }
            let name = heading.as_ref().map_or("", |heading| heading.text.as_str());
            let body = match (place, name) {
                (RELEVANT_FILES_HEADING, CONFIRMED_FILES_HEADING) => &mut sorted.confirmed,
                (RELEVANT_FILES_HEADING, SUGGESTED_HEADING) => &mut sorted.suggested,
                _ => {
                    let Some((_, body)) = sorted.bodies.iter_mut().find(|(known, _)| *known == place) else {
                        continue;
                    };
                    body
                }
            };
            if !body.is_empty() {
                body.push_str("\n\n");
            }
            let is_told = (place == NOTES_HEADING && name != NOTES_HEADING || deep && own != Some(place))
                && !name.is_empty();
            if is_told && ![CONFIRMED_FILES_HEADING, SUGGESTED_HEADING].contains(&name) {
                body.push_str(&format!("### {name}\n\n"));
            }
            body.push_str(&text);
        }
        sorted
    }

    fn body_below(&self, heading: &str) -> &str {
        self.bodies.iter().find(|(known, _)| *known == heading).map_or("", |(_, body)| body)
    }

    /// Keeps the text about files, and adds files that this text does not list.
    fn file_section(&self, confirmed: &[String], suggested: &[String]) -> String {
        let part = |text: &str, files: &[String]| {
            let written = paths_in_text(text);
            let missing = files.iter().filter(|path| !written.contains(path));
            let missing: Vec<String> = missing.map(|path| format!("- {}", in_backticks(path, 300))).collect();
            let text = if text.is_empty() { String::new() } else { fenced_if_needed(text) };
            let parts: Vec<String> =
                [text, missing.join("\n")].into_iter().filter(|t| !t.is_empty()).collect();
            if parts.is_empty() { NONE_RECORDED.to_owned() } else { parts.join("\n") }
        };
        let kept = match self.body_below(RELEVANT_FILES_HEADING) {
            "" => String::new(),
            body => format!("\n\n### Original text\n\n{}", fenced_if_needed(body)),
        };
        let (confirmed, suggested) = (part(&self.confirmed, confirmed), part(&self.suggested, suggested));
        format!(
            "### {CONFIRMED_FILES_HEADING}\n\n{confirmed}\n\n### {SUGGESTED_HEADING}\n\n{suggested}{kept}"
        )
    }
}

/// Returns the text before the first heading, then each heading of level 1 to 3 with the text directly below it.
pub(super) fn split_at_headings(document: &Document) -> Vec<(Option<Heading>, String)> {
    let (mut parts, mut heading, mut text) = (Vec::new(), None, String::new());
    let headings = document.headings();
    for line in document.lines().filter(|line| line.start >= document.bytes().len() - document.body().len()) {
        let words = String::from_utf8_lossy(line.text(document.bytes())).into_owned();
        match headings.iter().find(|known| known.line == line.number && known.level <= 3) {
            Some(known) => {
                parts.push((heading.replace(known.clone()), std::mem::take(&mut text)));
            }
            None => {
                text.push_str(&words);
                text.push('\n');
            }
        }
    }
    parts.push((heading, text));
    parts.into_iter().map(|(heading, text)| (heading, text.trim().to_owned())).collect()
}

/// Returns the packet heading for a foreign heading that has the same name or a common alternative name.
fn packet_heading_for(heading: &str) -> Option<&'static str> {
    if let Some(ours) = ALL_HEADINGS.iter().find(|ours| **ours == heading) {
        return Some(ours);
    }
    let heading = heading.to_lowercase();
    let known = SECTION_NAMES.iter().find(|(_, names)| names.iter().any(|name| heading.contains(name)));
    known.map(|(place, _)| *place)
}

/// Returns the strings that look like paths, either in backticks or at the start of a line.
fn paths_in_text(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
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

/// Wraps a section's body in a code fence if it would otherwise break the structure of the packet.
fn fenced_if_needed(body: &str) -> String {
    if body.is_empty() {
        return NONE_RECORDED.to_owned();
    }
    let alone = Document::parse(body.as_bytes());
    let breaks = alone.headings().iter().any(|heading| heading.level <= 2) || !alone.findings().is_empty();
    if breaks {
        String::from_utf8_lossy(&wrap_verbatim(body.as_bytes(), "\n")).into_owned()
    } else {
        body.to_owned()
    }
}
