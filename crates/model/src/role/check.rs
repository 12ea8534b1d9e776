//! The validator for context files, with every rule of the format and its message. The caller passes in the facts from
//! the disk.

use std::fmt;

use jiff::Timestamp;
use serde::Serialize;

use crate::document::{Document, DocumentFindingKind};
use crate::render::one_line;
use crate::text::count_with_noun;
use crate::time;

use super::PLACEHOLDER_GOAL;
use super::header::{
    self, FieldSpelling, HEADER_KEYS, HeaderField, MAX_HEADER_LINES, TitleDash, UPDATED_KEY, UpdatedDate,
};
use super::section::{
    self, COMPLETED_SECTION, ContextFileSection, GOAL_SECTION, KEY_FILES_SECTION, PENDING_SECTION,
    RECOVERY_SECTION,
};

/// The required form of line 1.
const REQUIRED_TITLE_FORM: &str = "# <Role Name> — Session Context";

/// Facts that are not in the file itself.
#[derive(Clone, Copy, Debug)]
pub struct FactsOutsideContextFile<'a> {
    pub now: Timestamp,
    /// The age in hours after which a file is stale.
    pub stale_hours: u64,
    /// The time of the newest commit, or `None` if it is unknown.
    pub newest_commit: Option<Timestamp>,
    /// The key files that do not exist, each as it is written in the context file.
    pub missing_key_files: &'a [String],
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContextFileFinding {
    pub kind: ContextFileFindingKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ContextFileFindingKind {
    Title,
    Missing,
    Format,
    Content,
    /// A recommendation. All other kinds are errors.
    Recommended,
}

/// All findings. Errors come first, in the order of the rules, followed by recommendations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextFileCheckReport {
    pub findings: Vec<ContextFileFinding>,
}

impl ContextFileCheckReport {
    pub fn errors(&self) -> Vec<&ContextFileFinding> {
        self.findings.iter().filter(|finding| finding.kind != ContextFileFindingKind::Recommended).collect()
    }

    pub fn count_warnings(&self) -> usize {
        self.findings.len() - self.errors().len()
    }

    pub fn is_valid(&self) -> bool {
        self.errors().is_empty()
    }

    /// Returns the last line of a report, such as `PASS: tester.context.md (2 warnings)`.
    pub fn verdict_line(&self, name: &str) -> String {
        let (errors, warnings) = (self.errors().len(), count_with_noun(self.count_warnings(), "warning"));
        match errors {
            0 => format!("PASS: {name} ({warnings})"),
            _ => format!("FAIL: {name} ({}, {warnings})", count_with_noun(errors, "error")),
        }
    }
}

impl fmt::Display for ContextFileFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            ContextFileFindingKind::Title => "ERROR: TITLE",
            ContextFileFindingKind::Missing => "ERROR: MISSING",
            ContextFileFindingKind::Format => "ERROR: FORMAT",
            ContextFileFindingKind::Content => "ERROR: CONTENT",
            ContextFileFindingKind::Recommended => "WARN: RECOMMENDED",
        };
        let line = self.line.map_or(String::new(), |line| format!("line {line}: "));
        write!(f, "{kind}: {line}{}", self.text)
    }
}

pub fn check_context_file(document: &Document, facts: &FactsOutsideContextFile) -> ContextFileCheckReport {
    let mut findings = Vec::new();
    let mut add =
        |kind, line: Option<usize>, text: String| findings.push(ContextFileFinding { kind, line, text });
    if let Some(finding) =
        document.findings().iter().find(|finding| finding.kind == DocumentFindingKind::NotUtf8)
    {
        add(ContextFileFindingKind::Format, Some(finding.line), "it is not UTF-8 text".to_owned());
    }
    if let Some(text) = title_problem(document) {
        add(ContextFileFindingKind::Title, Some(1), text);
    }
    let fields = header::header_fields(document);
    for key in HEADER_KEYS {
        check_metadata(key, &fields, &mut add);
    }
    for named in [&RECOVERY_SECTION, &COMPLETED_SECTION] {
        if named.find_in_document(document).is_none() {
            add(ContextFileFindingKind::Missing, None, describe_missing_section(named, document));
        }
    }
    if let Some(section) = RECOVERY_SECTION.find_in_document(document)
        && !section.items().iter().any(|item| is_numbered_one(document.bytes().get(item.span.clone())))
    {
        let text = "\"## Recovery Steps\" has no step \"1.\"".to_owned();
        add(ContextFileFindingKind::Content, Some(section.heading.line), text);
    }
    if let Some(section) = GOAL_SECTION.find_in_document(document)
        && String::from_utf8_lossy(section.content()).contains(PLACEHOLDER_GOAL)
    {
        let text = "\"## Current Goal\" is not filled in; write one or two sentences about what this role is to achieve";
        add(ContextFileFindingKind::Content, Some(section.heading.line), text.to_owned());
    }
    let mut warn = |line, text: String| add(ContextFileFindingKind::Recommended, line, text);
    add_recommendations(document, facts, &fields, &mut warn);
    ContextFileCheckReport { findings }
}

/// Returns what is wrong with line 1.
fn title_problem(document: &Document) -> Option<String> {
    let bytes = document.bytes();
    let first = document.lines().next().map(|line| String::from_utf8_lossy(line.text(bytes)).into_owned());
    if first.as_deref().unwrap_or_default().trim().is_empty() {
        return Some(format!("it is empty; write \"{REQUIRED_TITLE_FORM}\""));
    }
    let Some(heading) = document.headings().first().filter(|heading| (heading.line, heading.level) == (1, 1))
    else {
        return Some(format!("it is not a heading of level 1; write \"{REQUIRED_TITLE_FORM}\""));
    };
    let title = heading.text.as_str();
    match header::find_title_dash(title) {
        Some((TitleDash::En, _)) => {
            return Some(
                "there is an en dash (U+2013) after the name; write an em dash — (U+2014)".to_owned(),
            );
        }
        Some((TitleDash::Hyphen, _)) => {
            return Some("there is a hyphen after the name; write an em dash — (U+2014)".to_owned());
        }
        None => {
            return Some(format!(
                "there is no em dash — (U+2014) after the name; write \"{REQUIRED_TITLE_FORM}\""
            ));
        }
        Some((TitleDash::Em, at)) if at.start == 0 => {
            return Some(format!("there is no name before the dash; write \"{REQUIRED_TITLE_FORM}\""));
        }
        Some((TitleDash::Em, _)) => {}
    }
    (!header::ends_with_context(title))
        .then(|| format!("it does not end with the word Context; write \"{REQUIRED_TITLE_FORM}\""))
}

fn check_metadata(
    key: &str,
    fields: &[HeaderField],
    add: &mut impl FnMut(ContextFileFindingKind, Option<usize>, String),
) {
    let of_key = || fields.iter().filter(|field| field.key == key);
    let in_header = |field: &&HeaderField| field.line <= MAX_HEADER_LINES;
    // A field with the correct spelling is preferred to an earlier field with a wrong spelling.
    let exact = of_key().filter(in_header).find(|field| field.spelling == FieldSpelling::Exact);
    let Some(field) = exact.or_else(|| of_key().find(in_header)) else {
        let sharing =
            fields.iter().filter(in_header).find(|field| field.value.contains(&format!("**{key}**:")));
        match (sharing, of_key().find(|field| field.spelling == FieldSpelling::Exact)) {
            (Some(other), _) => {
                add(
                    ContextFileFindingKind::Format,
                    Some(other.line),
                    format!("**{}** and **{key}** share a line; write each on its own line", other.key),
                );
            }
            (None, Some(late)) => add(
                ContextFileFindingKind::Missing,
                Some(late.line),
                format!("**{key}** is too far down; it belongs in the first {MAX_HEADER_LINES} lines"),
            ),
            (None, None) => {
                add(
                    ContextFileFindingKind::Missing,
                    None,
                    format!("**{key}** is not in the first {MAX_HEADER_LINES} lines; write \"**{key}**: …\""),
                );
            }
        }
        return;
    };
    let line = Some(field.line);
    if field.spelling == FieldSpelling::Loose {
        add(
            ContextFileFindingKind::Format,
            line,
            format!("**{key}** is not spelled exactly like this; write \"**{key}**: …\""),
        );
    }
    for again in of_key().filter(in_header).filter(|other| other.line != field.line) {
        add(
            ContextFileFindingKind::Format,
            Some(again.line),
            format!("**{key}** is repeated; line {} already has it", field.line),
        );
    }
    if field.value.is_empty() {
        add(ContextFileFindingKind::Format, line, format!("**{key}** is empty"));
    } else if key == UPDATED_KEY {
        match header::parse_updated_date(&field.value) {
            UpdatedDate::Time(_) => {}
            UpdatedDate::Impossible(text) => {
                add(
                    ContextFileFindingKind::Format,
                    line,
                    format!("**{key}** says {text}, which is not a calendar date"),
                );
            }
            UpdatedDate::NoDate => add(
                ContextFileFindingKind::Format,
                line,
                format!("**{key}** contains no date; write it like 2026-11-15 or 2026-11-15T19:22Z"),
            ),
        }
    }
}

fn describe_missing_section(named: &ContextFileSection, document: &Document) -> String {
    let text = format!("there is no \"## {}\"", named.name);
    match named.misnamed_heading(document) {
        Some(heading) => {
            let marks = "#".repeat(usize::from(heading.level));
            format!("{text}; line {} has \"{marks} {}\"", heading.line, one_line(&heading.text, 60))
        }
        None => text,
    }
}

/// Returns whether an item is numbered `1.` and not `1)`.
fn is_numbered_one(item: Option<&[u8]>) -> bool {
    item.unwrap_or_default().trim_ascii_start().starts_with(b"1.")
}

fn add_recommendations(
    document: &Document,
    facts: &FactsOutsideContextFile,
    fields: &[HeaderField],
    warn: &mut impl FnMut(Option<usize>, String),
) {
    for named in [&GOAL_SECTION, &PENDING_SECTION, &KEY_FILES_SECTION] {
        if named.find_in_document(document).is_none() {
            warn(None, describe_missing_section(named, document));
        }
    }
    let updated = fields.iter().find(|field| field.key == UPDATED_KEY && field.line <= MAX_HEADER_LINES);
    if let Some((line, UpdatedDate::Time(at))) =
        updated.map(|field| (field.line, header::parse_updated_date(&field.value)))
    {
        let hours = (facts.now.as_second() - at.as_second()) / 3_600;
        if u64::try_from(hours).is_ok_and(|hours| hours >= facts.stale_hours) {
            let ago = time::describe_age(at, facts.now);
            warn(
                Some(line),
                format!("**{UPDATED_KEY}** was {ago}; a file older than {} h is stale", facts.stale_hours),
            );
        }
        // A commit in the same minute does not count as later, because times in context files have no seconds.
        let is_later = |commit: &Timestamp| commit.as_second() >= at.as_second() + 60;
        if let Some(commit) = facts.newest_commit.filter(is_later) {
            warn(
                Some(line),
                format!("**{UPDATED_KEY}** is older than the newest commit ({})", time::to_rfc3339(commit)),
            );
        }
    }
    if let Some(first) = section::recovery_steps(document).first()
        && !first.text.trim_start_matches(['*', '_']).to_lowercase().starts_with("read this file")
    {
        warn(Some(first.line), "the first step should be \"Read this file\"".to_owned());
    }
    if let Some(section) = COMPLETED_SECTION.find_in_document(document) {
        let items = section.items();
        let mut headings = section::headings_in_section(document, &section);
        let line = Some(section.heading.line);
        if !headings.any(section::is_task_heading) && !items.iter().any(|item| item.number.is_some()) {
            warn(line, "\"## Completed Work\" has neither \"### Task N:\" nor a numbered list".to_owned());
        }
        let marked = section::headings_in_section(document, &section)
            .any(|heading| heading.text.contains("(DONE"))
            || items.iter().any(|item| item.text.contains("(DONE"));
        if !marked {
            warn(line, "nothing in \"## Completed Work\" is marked (DONE)".to_owned());
        }
    }
    for file in
        section::key_files(document).iter().filter(|file| facts.missing_key_files.contains(&file.path))
    {
        warn(Some(file.line), format!("the key file `{}` does not exist", one_line(&file.path, 200)));
    }
    for finding in document.findings() {
        if let DocumentFindingKind::Unclosed(block) = finding.kind {
            warn(
                Some(finding.line),
                format!("a {block} is opened and never closed; what follows it is not read"),
            );
        }
    }
}
