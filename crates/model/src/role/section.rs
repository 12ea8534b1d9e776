//! The sections of a context file, with their names, common synonyms and content.

use crate::document::{Document, Heading, HeadingMatching, HeadingPattern, ListItem, Section};

use super::KeyFile;

/// A section with its heading and common synonyms.
#[derive(Debug)]
pub struct ContextFileSection {
    pub name: &'static str,
    matching: HeadingMatching,
    /// Synonyms of the name, in lower case.
    aliases: &'static [&'static str],
}

pub const RECOVERY_SECTION: ContextFileSection = ContextFileSection {
    name: "Recovery Steps",
    matching: HeadingMatching::Exact,
    aliases: &[
        "recovery",
        "recovery step",
        "recovery instructions",
        "recovery procedure",
        "recovery checklist",
        "steps to recover",
        "how to recover",
        "resume steps",
    ],
};
pub const COMPLETED_SECTION: ContextFileSection = ContextFileSection {
    name: "Completed Work",
    matching: HeadingMatching::Prefix,
    aliases: &[
        "completed",
        "completed this session",
        "completed tasks",
        "completed so far",
        "work completed",
        "done",
        "done so far",
        "finished work",
        "what was done",
    ],
};
pub const GOAL_SECTION: ContextFileSection = ContextFileSection {
    name: "Current Goal",
    matching: HeadingMatching::Exact,
    aliases: &["goal", "goals", "current goals", "objective", "current objective"],
};
pub const PENDING_SECTION: ContextFileSection = ContextFileSection {
    name: "Pending",
    matching: HeadingMatching::Prefix,
    aliases: &[
        "outstanding",
        "outstanding work",
        "remaining",
        "remaining work",
        "open tasks",
        "to do",
        "todo",
        "still to do",
    ],
};
pub const KEY_FILES_SECTION: ContextFileSection = ContextFileSection {
    name: "Key Files",
    matching: HeadingMatching::Exact,
    aliases: &["important files", "relevant files", "files"],
};

/// An optional section. Its absence is not reported.
pub const RULES_SECTION: ContextFileSection = ContextFileSection {
    name: "Key Rules",
    matching: HeadingMatching::Prefix,
    aliases: &["rules", "operational rules", "important rules"],
};

pub const CONTEXT_FILE_SECTIONS: [&ContextFileSection; 5] =
    [&RECOVERY_SECTION, &COMPLETED_SECTION, &GOAL_SECTION, &PENDING_SECTION, &KEY_FILES_SECTION];

impl ContextFileSection {
    fn heading_pattern(&self) -> HeadingPattern<'static> {
        HeadingPattern { level: 2, text: self.name, matching: self.matching }
    }

    pub fn find_in_document<'d>(&self, document: &'d Document) -> Option<Section<'d>> {
        document.find_section(&[self.heading_pattern()])
    }

    /// Returns the heading that was clearly meant as this section, if the section is missing.
    pub fn misnamed_heading<'d>(&self, document: &'d Document) -> Option<&'d Heading> {
        if self.find_in_document(document).is_some() {
            return None;
        }
        let wanted = self.name.to_lowercase();
        document.headings().iter().find(|heading| {
            let text = heading.text.trim_end_matches(':').trim().to_lowercase();
            // At other heading levels, only the section's own name is accepted, because `### Done` may mean something
            // else.
            let own = text == wanted || self.matching == HeadingMatching::Prefix && text.starts_with(&wanted);
            (heading.level == 2 && (own || self.aliases.contains(&text.as_str())))
                || (own && heading.level <= 3 && heading.line > 1)
        })
    }

    /// Returns the heading with the correct name. The text after the name is kept.
    pub fn corrected_heading(&self, heading: &Heading) -> String {
        let own = heading.text.to_lowercase().starts_with(&self.name.to_lowercase());
        let rest =
            heading.text.get(self.name.len()..).filter(|_| own && self.matching == HeadingMatching::Prefix);
        format!("## {}{}", self.name, rest.unwrap_or_default().trim_end_matches(':'))
    }
}

/// Returns the numbered items of the recovery section.
pub fn recovery_steps(document: &Document) -> Vec<ListItem> {
    let items =
        RECOVERY_SECTION.find_in_document(document).map(|section| section.items()).unwrap_or_default();
    items.into_iter().filter(|item| item.number.is_some()).collect()
}

pub fn section_items(document: &Document, named: &ContextFileSection) -> Vec<String> {
    let items = named.find_in_document(document).map(|section| section.items()).unwrap_or_default();
    items.into_iter().map(|item| item.text).collect()
}

pub fn headings_in_section<'d>(
    document: &'d Document,
    section: &Section,
) -> impl Iterator<Item = &'d Heading> {
    let span = section.span.clone();
    document.headings().iter().filter(move |heading| span.contains(&heading.span.start))
}

/// Returns whether a heading names a task, such as `### Task 8: …`.
pub fn is_task_heading(heading: &Heading) -> bool {
    let rest = heading.text.strip_prefix("Task ").filter(|_| heading.level == 3);
    let digits = rest.map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
    digits > 0 && rest.is_some_and(|rest| rest[digits..].starts_with(':'))
}

/// Returns the completed tasks. They are the task headings or, if there are no task headings, the numbered items.
pub fn completed_tasks(document: &Document) -> Vec<String> {
    let Some(section) = COMPLETED_SECTION.find_in_document(document) else { return Vec::new() };
    let tasks: Vec<String> = headings_in_section(document, &section)
        .filter(|heading| is_task_heading(heading))
        .map(|heading| heading.text.clone())
        .collect();
    if !tasks.is_empty() {
        return tasks;
    }
    section.items().into_iter().filter(|item| item.number.is_some()).map(|item| item.text).collect()
}

/// Returns the paths in the section Key Files. The path of an item is its first text in backticks, or else its first
/// word if that word looks like a path.
pub fn key_files(document: &Document) -> Vec<KeyFile> {
    let items =
        KEY_FILES_SECTION.find_in_document(document).map(|section| section.items()).unwrap_or_default();
    items
        .into_iter()
        .filter_map(|item| Some(KeyFile { line: item.line, path: path_in_item(&item.text)? }))
        .collect()
}

fn path_in_item(text: &str) -> Option<String> {
    let quoted = text.split('`').nth(1).filter(|_| text.matches('`').count() > 1);
    let word = match quoted {
        Some(quoted) => quoted.trim(),
        None => {
            let word = text.split_whitespace().next()?.trim_end_matches([':', ',', ';']);
            let like_path = word.contains('/')
                || word.rsplit_once('.').is_some_and(|(stem, ending)| !stem.is_empty() && !ending.is_empty());
            Some(word).filter(|_| like_path && !word.contains("://"))?
        }
    };
    // `src/a.rs:30` is a position in `src/a.rs`.
    let path = match word.rsplit_once(':') {
        Some((path, place)) if place.bytes().all(|b| b.is_ascii_digit() || b == b'-') => path,
        _ => word,
    };
    // A pattern, or text of several words, is not a path.
    let plain = !path.is_empty() && !path.contains(|c: char| c.is_whitespace() || "*?{<$".contains(c));
    plain.then(|| path.to_owned())
}
