//! Validates packets, and reports each problem with its line number.

use super::{
    ALL_HEADINGS, ALLOWED_PACKET_SOURCES, CONFIRMED_FILES_HEADING, PacketStatus, RELEVANT_FILES_HEADING,
    SCHEMA_VERSION, SUGGESTED_HEADING, VALIDATORS_HEADING, confirm, schema_version_if_too_new,
};
use crate::document::{Document, DocumentFindingKind, HeadingPattern, ListItem};
use crate::finding::{Finding, FindingLevel};
use crate::render::{in_backticks, in_quotation_marks};
use crate::time;

const REQUIRED_PACKET_KEYS: &[&str] = &["id", "created_at", "updated_at", "status", "purpose"];

/// Returns the problems in a packet. Errors make the packet unusable, and warnings do not.
pub fn validate_packet(document: &Document, file: &str) -> Vec<Finding> {
    let name = file.rsplit('/').next().and_then(|name| name.strip_suffix(".md")).unwrap_or(file);
    let mut findings: Vec<Finding> = Vec::new();
    let mut find = |level, line: Option<usize>, text: String, hint: &str| {
        let finding = Finding::new(level, text).at_line(file, line);
        findings.push(if hint.is_empty() { finding } else { finding.with_hint(hint) });
    };
    for odd in document.findings() {
        let (level, hint) = match odd.kind {
            DocumentFindingKind::UnclosedFrontmatter => (FindingLevel::Error, FRONTMATTER_HINT),
            _ => (FindingLevel::Warning, ""),
        };
        find(level, Some(odd.line), odd.kind.to_string(), hint);
    }
    if !document.has_frontmatter() {
        if !document.findings().iter().any(|odd| odd.kind == DocumentFindingKind::UnclosedFrontmatter) {
            let text = "no frontmatter: the file does not begin with `---`";
            find(FindingLevel::Error, Some(1), text.into(), FRONTMATTER_HINT);
        }
        return findings;
    }
    let line = |key: &str| document.frontmatter_entry(key).map(|entry| entry.line);
    if let Some(version) = schema_version_if_too_new(document) {
        find(
            FindingLevel::Error,
            line("schema_version"),
            format!("`schema_version` is {version}; this version of thru supports up to {SCHEMA_VERSION}"),
            "use the version of thru that wrote it, or a newer one",
        );
    }
    for key in REQUIRED_PACKET_KEYS {
        if document.frontmatter_text(key).is_none_or(|text| text.trim().is_empty()) {
            find(FindingLevel::Error, line(key).or(Some(1)), format!("`{key}` is missing"), FRONTMATTER_HINT);
        }
    }
    let text = |key: &str| document.frontmatter_text(key).filter(|text| !text.trim().is_empty());
    if let Some(id) = text("id").filter(|id| *id != name) {
        let hint = "the file name takes precedence; make the two match";
        find(FindingLevel::Warning, line("id"), format!("`id` is {id}, but the file is called {name}"), hint);
    }
    for key in ["created_at", "updated_at", "claimed_at"] {
        if let Some(bad) = text(key).filter(|text| time::parse_time(text).is_none()) {
            find(
                FindingLevel::Error,
                line(key),
                format!("`{key}` is `{bad}`, which is not a valid time"),
                "write it like 2026-11-15T19:22:00Z",
            );
        }
    }
    if let Some(bad) = text("status").filter(|status| PacketStatus::parse(status).is_none()) {
        find(
            FindingLevel::Error,
            line("status"),
            format!("`status` is `{bad}`"),
            "it must be one of draft, active, done, blocked",
        );
    }
    if let Some(bad) = text("source").filter(|source| !ALLOWED_PACKET_SOURCES.contains(source)) {
        find(
            FindingLevel::Warning,
            line("source"),
            format!("`source` is `{bad}`, which is not a known harness"),
            "",
        );
    }
    for key in ["relevant_files_confirmed", "relevant_files_suggested", "validators"] {
        if document.frontmatter_value(key).is_some_and(|value| !value.is_null())
            && document.frontmatter_list(key).is_none()
        {
            find(
                FindingLevel::Error,
                line(key),
                format!("`{key}` is not a list"),
                "write a JSON list on one line: [\"a\", \"b\"]",
            );
        }
    }
    for key in ["loop_max_iterations", "dirty"] {
        if text(key).is_some() && document.frontmatter_integer(key).is_none() {
            find(FindingLevel::Error, line(key), format!("`{key}` is not a whole number"), "");
        }
    }
    validate_headings(document, &mut find);
    validate_lists(document, &mut find);
    findings
}

const FRONTMATTER_HINT: &str =
    "`thru packet show` prints a packet; use the first lines of a valid one as a template";

fn validate_headings(document: &Document, find: &mut impl FnMut(FindingLevel, Option<usize>, String, &str)) {
    let mut last = 0;
    for heading in ALL_HEADINGS {
        match document.headings().iter().find(|known| known.level == 2 && known.text == *heading) {
            None => find(
                FindingLevel::Warning,
                None,
                format!("`## {heading}` is missing"),
                "the packet can still be picked up; that part will be empty",
            ),
            Some(known) => {
                if known.line < last {
                    let text = format!("`## {heading}` comes too early");
                    find(FindingLevel::Note, Some(known.line), text, "");
                }
                last = last.max(known.line);
            }
        }
    }
    for sub in [CONFIRMED_FILES_HEADING, SUGGESTED_HEADING] {
        let files = document.find_section(&[HeadingPattern::exact(2, RELEVANT_FILES_HEADING)]).is_some();
        if files
            && document
                .find_section(&[
                    HeadingPattern::exact(2, RELEVANT_FILES_HEADING),
                    HeadingPattern::exact(3, sub),
                ])
                .is_none()
        {
            find(
                FindingLevel::Warning,
                None,
                format!("`### {sub}` below `## {RELEVANT_FILES_HEADING}` is missing"),
                "",
            );
        }
    }
}

/// Reports differences between the lists in the frontmatter, which tools read, and the lists in the text, which people
/// read.
fn validate_lists(document: &Document, find: &mut impl FnMut(FindingLevel, Option<usize>, String, &str)) {
    const FILES_HINT: &str = "`thru packet confirm` and `unconfirm` change both lists";
    const DIFFERENCE_HINT: &str = "the frontmatter takes precedence; make the two match";
    let below = |sub| vec![HeadingPattern::exact(2, RELEVANT_FILES_HEADING), HeadingPattern::exact(3, sub)];
    for (key, path, hint) in [
        ("relevant_files_confirmed", below(CONFIRMED_FILES_HEADING), FILES_HINT),
        ("relevant_files_suggested", below(SUGGESTED_HEADING), DIFFERENCE_HINT),
        ("validators", vec![HeadingPattern::exact(2, VALIDATORS_HEADING)], DIFFERENCE_HINT),
    ] {
        let Some(section) = document.find_section(&path) else { continue };
        let (known, items) = (document.frontmatter_list(key).unwrap_or_default(), section.items());
        let is_own = |text: &str, entry: &str| {
            text.starts_with(&in_backticks(entry, 300)) || confirm::item_names_file(text, entry)
        };
        let heading = format!("{} {}", "#".repeat(section.heading.level.into()), section.heading.text);
        for entry in known.iter().filter(|entry| !items.iter().any(|item| is_own(&item.text, entry))) {
            let text = format!("`{key}` has {}, but `{heading}` does not list it", in_backticks(entry, 200));
            find(FindingLevel::Note, document.frontmatter_entry(key).map(|entry| entry.line), text, hint);
        }
        let is_entry = |text: &str| match key {
            "validators" => text.starts_with('`'),
            _ => confirm::path_in_item(text).is_some(),
        };
        let unknown =
            |item: &&ListItem| is_entry(&item.text) && !known.iter().any(|entry| is_own(&item.text, entry));
        for item in items.iter().filter(unknown) {
            let text =
                format!("`{heading}` lists {}, but `{key}` does not", in_quotation_marks(&item.text, 100));
            find(FindingLevel::Note, Some(item.line), text, hint);
        }
    }
}
