//! The sections of a context file, with their names, common synonyms and content.

use crate::document::{Document, HeadMatching, Heading, ListItem, Section, SectionHead};

use super::KeyFile;

/// A section with its heading and common synonyms.
#[derive(Debug)]
pub struct NamedSection {
    pub name: &'static str,
    matching: HeadMatching,
    /// Synonyms of the name, in lower case.
    aliases: &'static [&'static str],
}

pub const RECOVERY_SECTION: NamedSection = NamedSection {
    name: "Recovery Steps",
    matching: HeadMatching::Exact,
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
pub const COMPLETED_SECTION: NamedSection = NamedSection {
    name: "Completed Work",
    matching: HeadMatching::Prefix,
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
pub const GOAL_SECTION: NamedSection = NamedSection {
    name: "Current Goal",
    matching: HeadMatching::Exact,
    aliases: &["goal", "goals", "current goals", "objective", "current objective"],
};
pub const PENDING_SECTION: NamedSection = NamedSection {
    name: "Pending",
    matching: HeadMatching::Prefix,
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
pub const KEY_FILES_SECTION: NamedSection = NamedSection {
    name: "Key Files",
    matching: HeadMatching::Exact,
    aliases: &["important files", "relevant files", "files"],
};

/// An optional section. Its absence is not reported.
pub const RULES_SECTION: NamedSection = NamedSection {
    name: "Key Rules",
    matching: HeadMatching::Prefix,
    aliases: &["rules", "operational rules", "important rules"],
};

pub const ALL_SECTIONS: [&NamedSection; 5] =
    [&RECOVERY_SECTION, &COMPLETED_SECTION, &GOAL_SECTION, &PENDING_SECTION, &KEY_FILES_SECTION];

impl NamedSection {
    fn head(&self) -> SectionHead<'static> {
        SectionHead { level: 2, text: self.name, matching: self.matching }
    }

    pub fn find<'d>(&self, document: &'d Document) -> Option<Section<'d>> {
        document.section(&[self.head()])
    }

    /// Returns the heading that was clearly meant as this section, if the section is missing.
    pub fn misnamed_heading<'d>(&self, document: &'d Document) -> Option<&'d Heading> {
        if self.find(document).is_some() {
            return None;
        }
        let wanted = self.name.to_lowercase();
        document.headings().iter().find(|heading| {
            let text = heading.text.trim_end_matches(':').trim().to_lowercase();
            // At other levels only the section's own name is accepted, because `### Done` may mean something else.
            let own = text == wanted || self.matching == HeadMatching::Prefix && text.starts_with(&wanted);
            (heading.level == 2 && (own || self.aliases.contains(&text.as_str())))
                || (own && heading.level <= 3 && heading.line > 1)
        })
    }

    /// Returns the heading with the correct name. The text after the name is kept.
    pub fn corrected_heading(&self, heading: &Heading) -> String {
        let own = heading.text.to_lowercase().starts_with(&self.name.to_lowercase());
        let rest =
            heading.text.get(self.name.len()..).filter(|_| own && self.matching == HeadMatching::Prefix);
        format!("## {}{}", self.name, rest.unwrap_or_default().trim_end_matches(':'))
    }
}

/// Returns the numbered items of the recovery section.
pub fn recovery_steps(document: &Document) -> Vec<ListItem> {
    let items = RECOVERY_SECTION.find(document).map(|section| section.items()).unwrap_or_default();
    items.into_iter().filter(|item| item.number.is_some()).collect()
}

pub fn section_items(document: &Document, named: &NamedSection) -> Vec<String> {
    let items = named.find(document).map(|section| section.items()).unwrap_or_default();
    items.into_iter().map(|item| item.text).collect()
}

pub fn headings_in<'d>(document: &'d Document, section: &Section) -> impl Iterator<Item = &'d Heading> {
    let span = section.span.clone();
    document.headings().iter().filter(move |heading| span.contains(&heading.span.start))
}

/// Returns whether a heading names a task, such as `### Task 8: …`.
pub fn is_task_heading(heading: &Heading) -> bool {
    let rest = heading.text.strip_prefix("Task ").filter(|_| heading.level == 3);
    let digits = rest.map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
    digits > 0 && rest.is_some_and(|rest| rest[digits..].starts_with(':'))
}

/// Returns the completed tasks. They are the task headings or, without such headings, the numbered items.
pub fn completed_tasks(document: &Document) -> Vec<String> {
    let Some(section) = COMPLETED_SECTION.find(document) else { return Vec::new() };
    let tasks: Vec<String> = headings_in(document, &section)
        .filter(|heading| is_task_heading(heading))
        .map(|heading| heading.text.clone())
        .collect();
    if !tasks.is_empty() {
        return tasks;
    }
    section.items().into_iter().filter(|item| item.number.is_some()).map(|item| item.text).collect()
}

/// Returns the paths in the section Key Files. For each item, this is the first text in backticks, or else the first
/// word if it looks like a path.
pub fn key_files(document: &Document) -> Vec<KeyFile> {
    let items = KEY_FILES_SECTION.find(document).map(|section| section.items()).unwrap_or_default();
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
