//! Reads decisions and patterns from a `context.md` that another tool wrote. Below a heading such as "Decisions",
//! they are list items, table rows or separate headings.

mod entry;

use serde::Serialize;

use super::DecisionKind;
use crate::document::Document;
use crate::render::one_line;
use crate::text::count_with_noun;
use entry::{SectionBlock, split_blocks};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutlinedDecisions {
    pub decisions: Vec<OutlinedDecision>,
    pub warnings: Vec<OutlineWarning>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutlinedDecision {
    pub line: usize,
    pub kind: DecisionKind,
    pub text: String,
    pub why: String,
    /// The heading above the decision. It is empty if the heading is only "Decisions" or "Patterns".
    pub topic: String,
    /// The date as written in the file. It is empty if there is none.
    pub date: String,
}

/// A warning about text that was left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OutlineWarning {
    pub line: usize,
    pub text: String,
}

/// What a section contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DecisionSectionRole {
    HasDecisions(DecisionKind),
    /// Decisions that are still open.
    HasOpenQuestions,
}

/// A heading that determines what its section contains.
struct DecisionSectionHeading {
    level: u8,
    role: DecisionSectionRole,
    /// Whether `role` also applies to the headings below this one.
    applies_below: bool,
}

pub fn read_decisions(bytes: &[u8]) -> OutlinedDecisions {
    let document = Document::parse(bytes);
    let lines: Vec<(usize, String)> = document
        .lines()
        .map(|line| (line.number, String::from_utf8_lossy(line.text(document.bytes())).into_owned()))
        .collect();
    let headings = document.headings();
    let mut out = OutlinedDecisions::default();
    // The open headings, outermost first.
    let mut role_headings: Vec<DecisionSectionHeading> = Vec::new();
    for (i, heading) in headings.iter().enumerate() {
        let end = headings.get(i + 1).map_or(usize::MAX, |next| next.line);
        let own: Vec<(usize, &str)> = lines
            .iter()
            .filter(|(number, _)| (heading.line + 1..end).contains(number))
            .map(|(number, text)| (*number, text.as_str()))
            .collect();
        let blocks = split_blocks(&own);
        role_headings.retain(|known| heading.level > known.level);
        let role = match role_of_heading(&heading.text, heading.level) {
            Some(role) => {
                let has_entries = blocks.iter().any(SectionBlock::is_decision_entry);
                // A heading of level 3 or deeper that has its own entries does not pass its role on to the headings
                // below it.
                role_headings.push(DecisionSectionHeading {
                    level: heading.level,
                    role,
                    applies_below: heading.level <= 2 || !has_entries,
                });
                Some((role, true))
            }
            None => role_headings.last().filter(|known| known.applies_below).map(|known| (known.role, false)),
        };
        match role {
            None => {}
            Some((DecisionSectionRole::HasOpenQuestions, _)) => {
                let entries = blocks.iter().filter(|block| block.is_decision_entry()).count();
                if entries > 0 {
                    let title = one_line(&heading.text, 80);
                    let text = format!(
                        "“{title}” is not decided yet: {} left out",
                        count_with_noun(entries, "line")
                    );
                    out.warnings.push(OutlineWarning { line: heading.line, text });
                }
            }
            Some((DecisionSectionRole::HasDecisions(kind), is_own)) => {
                let title = if is_own { "" } else { heading.text.as_str() };
                let topic = topic_of_heading(&heading.text, is_own);
                entry::read_entries(&blocks, heading.line, title, &mut out, |found| OutlinedDecision {
                    kind,
                    topic: topic.clone(),
                    ..found
                });
            }
        }
    }
    out
}

fn role_of_heading(title: &str, level: u8) -> Option<DecisionSectionRole> {
    let words: Vec<String> = title
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let decides = has(&[
        "decisions",
        "adrs",
        "decisiones",
        "decisões",
        "entscheidungen",
        "décisions",
        "решения",
        "决策",
        "决定",
    ]) || has(&["decision", "decided", "adr"]) && words.len() <= 2;
    if decides {
        let is_open =
            has(&["pending", "open", "undecided", "needed", "unresolved", "todo", "deferred", "awaiting"]);
        return Some(if is_open {
            DecisionSectionRole::HasOpenQuestions
        } else {
            DecisionSectionRole::HasDecisions(DecisionKind::Decision)
        });
    }
    let patterns = has(&["patterns", "conventions"]) && words.len() <= 3 && level <= 2;
    patterns.then_some(DecisionSectionRole::HasDecisions(DecisionKind::Pattern))
}

fn topic_of_heading(title: &str, is_own: bool) -> String {
    let is_plain = matches!(title.trim().to_lowercase().as_str(), "decisions" | "patterns");
    if is_own && is_plain { String::new() } else { one_line(title, 120) }
}

#[cfg(test)]
#[path = "outline_tests.rs"]
mod tests;
