//! Decides where new items go and how they are formatted. New items follow the file's own formatting. Nothing is
//! deleted.
//!
//! `remove` must restore the original bytes, so each rule of this module has its inverse in `remove`:
//! - In a non-empty container, the items go after the last token. All white space before one of our items is ours.
//! - In an empty container without a line end, we add a line end before the closing bracket. That line end is ours too.
//! - In an empty container with a line end, that line end stays before the closing bracket. To distinguish this from
//!   the previous case, hooks in such a container are written on one line ([`TextFormatting::short_hooks`]).
//! - If the file is on one line, an empty container gets no white space.

use super::edit::TextEdit;
use super::render::TextFormatting;
use super::tree::{Container, Item};

#[derive(Clone, Debug)]
pub struct FileFormatting {
    pub line_end: &'static str,
    pub unit: String,
    pub colon: &'static str,
}

impl FileFormatting {
    pub fn detect(text: &str, root: Option<&Container>) -> Self {
        let items = root.map_or(&[][..], |root| &root.items);
        let unit = items
            .iter()
            .find(|item| has_line_end(item.text_before(text)))
            .map(|item| indentation_at(text, item.start))
            .or_else(|| {
                text.lines()
                    .filter(|line| line.trim_start().starts_with('"'))
                    .map(|line| indentation_at(line, 0))
                    .next()
            })
            .unwrap_or("  ");
        let colon = items.iter().find_map(|item| {
            let between = &text[item.key.as_ref()?.end..item.value.start];
            [":", ": ", " : ", " :"].into_iter().find(|colon| *colon == between)
        });
        FileFormatting { line_end: line_ending(text), unit: unit.to_owned(), colon: colon.unwrap_or(": ") }
    }

    pub fn new_file_formatting(&self) -> TextFormatting {
        TextFormatting {
            lines: true,
            short_hooks: false,
            line_end: self.line_end,
            indent: String::new(),
            unit: self.unit.clone(),
            colon: self.colon,
        }
    }
}

/// Whether the container already has items of the same kind. If so, new items are formatted like them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Siblings {
    Same,
    Other,
}

/// A position for new items in a container.
#[derive(Debug)]
pub struct InsertionPoint {
    at: usize,
    /// The position for a new comma, after the current last item.
    comma: Option<usize>,
    lead: String,
    between: String,
    /// The text after our last item: the file's trailing comma, or the line of the closing bracket.
    tail: String,
    pub look: TextFormatting,
}

impl InsertionPoint {
    /// Finds the position at the end of `container`, which is the value of the item `own`.
    pub fn at_end_of(
        text: &str,
        habits: &FileFormatting,
        container: &Container,
        own: Option<&Item>,
        siblings: Siblings,
    ) -> Self {
        match container.items.last() {
            Some(last) => Self::after_last_item(text, habits, container, last, siblings),
            None => Self::in_empty_container(text, habits, container, own),
        }
    }

    fn after_last_item(
        text: &str,
        habits: &FileFormatting,
        container: &Container,
        last: &Item,
        siblings: Siblings,
    ) -> Self {
        let indent = indentation_at(text, last.start);
        let gap = last.text_before(text);
        let mut look = TextFormatting { indent: indent.to_owned(), ..habits.new_file_formatting() };
        if let Some(unit) = indent.strip_prefix(indentation_at(text, container.open))
            && has_line_end(gap)
            && !unit.is_empty()
        {
            look.unit = unit.to_owned();
        }
        let lead = if has_line_end(gap) || container.anchor_needs_line {
            format!("{}{indent}", habits.line_end)
        } else if container.items.len() > 1 && gap.bytes().all(|byte| byte == b' ') {
            gap.to_owned()
        } else {
            look.space_after_comma().to_owned()
        };
        let sibling = container.items.iter().rev().map(|item| &text[item.value.clone()]);
        let sibling = sibling
            .filter(|value| siblings == Siblings::Same && value.len() > 2)
            .find(|v| v.starts_with(['{', '[']));
        look.lines = match sibling {
            Some(value) => has_line_end(value),
            None => has_line_end(gap) || has_line_end(&text[last.range()]),
        };
        InsertionPoint {
            at: container.anchor,
            comma: last.comma.is_none().then_some(last.end()),
            between: lead.clone(),
            lead,
            tail: if last.comma.is_some() { ",".into() } else { String::new() },
            look,
        }
    }

    fn in_empty_container(
        text: &str,
        habits: &FileFormatting,
        container: &Container,
        own: Option<&Item>,
    ) -> Self {
        let blank = &text[container.anchor..container.close];
        let loose = has_line_end(blank);
        if !loose && own.is_some_and(|item| !has_line_end(item.text_before(text))) {
            let look = TextFormatting { lines: false, ..habits.new_file_formatting() };
            let between = look.space_after_comma().to_owned();
            return InsertionPoint {
                at: container.anchor,
                comma: None,
                lead: String::new(),
                between,
                tail: String::new(),
                look,
            };
        }
        let outer = indentation_at(text, container.open);
        let look = TextFormatting {
            short_hooks: loose,
            indent: format!("{outer}{}", habits.unit),
            ..habits.new_file_formatting()
        };
        let lead = format!("{}{}", habits.line_end, look.indent);
        InsertionPoint {
            at: if loose { container.anchor } else { container.close },
            comma: None,
            between: lead.clone(),
            lead,
            tail: if loose { String::new() } else { format!("{}{outer}", habits.line_end) },
            look,
        }
    }

    pub fn insert_items(self, items: &[String]) -> Vec<TextEdit> {
        let body = items.join(&format!(",{}", self.between));
        let comma = self.comma.map(|at| TextEdit::insertion(at, ","));
        comma
            .into_iter()
            .chain([TextEdit::insertion(self.at, format!("{}{body}{}", self.lead, self.tail))])
            .collect()
    }
}

pub fn has_line_end(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

/// Returns the line end of the file's first line.
fn line_ending(text: &str) -> &'static str {
    match (text.find('\n'), text.find('\r')) {
        (Some(lf), Some(cr)) if cr + 1 == lf => "\r\n",
        (None, Some(_)) => "\r",
        _ => "\n",
    }
}

/// Returns the white space at the beginning of the line that contains `at`.
fn indentation_at(text: &str, at: usize) -> &str {
    let start = text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1);
    let line = &text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
