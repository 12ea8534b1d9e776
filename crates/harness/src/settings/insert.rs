//! Determines where new items go and how they are formatted. New items follow the file's own formatting. Nothing is
//! deleted.
//!
//! `remove` must restore the original bytes, so each rule of this module has its inverse in `remove`:
//! - In a non-empty container, the items go after the last token. All white space before one of our items is ours.
//! - In an empty container without a line end, we add a line end before the closing bracket. That line end is ours too.
//! - If an empty container already has a line end, we insert the items before this line end. To distinguish
//!   this case from the previous one, hooks in such a container are written on one line
//!   ([`TextFormatting::hooks_on_one_line`]).
//! - If the file is on one line, an empty container gets no white space.

use super::edit::TextEdit;
use super::render::TextFormatting;
use super::tree::{JsonContainer, JsonItem};

#[derive(Clone, Debug)]
pub struct FileFormatting {
    pub line_end: &'static str,
    pub indent_unit: String,
    pub colon_text: &'static str,
}

impl FileFormatting {
    pub fn detect(text: &str, root: Option<&JsonContainer>) -> Self {
        let items = root.map_or(&[][..], |root| &root.items);
        let unit = items
            .iter()
            .find(|item| contains_line_break(item.text_before(text)))
            .map(|item| indentation_at(text, item.start))
            .or_else(|| {
                text.lines()
                    .filter(|line| line.trim_start().starts_with('"'))
                    .map(|line| indentation_at(line, 0))
                    .next()
            })
            .unwrap_or("  ");
        let colon = items.iter().find_map(|item| {
            let between = &text[item.key_range.as_ref()?.end..item.value_range.start];
            [":", ": ", " : ", " :"].into_iter().find(|colon| *colon == between)
        });
        FileFormatting {
            line_end: line_ending(text),
            indent_unit: unit.to_owned(),
            colon_text: colon.unwrap_or(": "),
        }
    }

    pub fn new_file_formatting(&self) -> TextFormatting {
        TextFormatting {
            uses_lines: true,
            hooks_on_one_line: false,
            line_end: self.line_end,
            indent: String::new(),
            indent_unit: self.indent_unit.clone(),
            colon_text: self.colon_text,
        }
    }
}

/// Whether the container already has items of the same kind as the new items. If so, the new items are formatted like
/// the existing ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingItems {
    Same,
    Other,
}

/// A position for new items in a container.
#[derive(Debug)]
pub struct InsertionPoint {
    insertion_offset: usize,
    /// The position for a new comma, after the current last item.
    comma_position: Option<usize>,
    text_before: String,
    text_between: String,
    /// The text after our last item: the file's trailing comma, or the line of the closing bracket.
    text_after: String,
    pub formatting: TextFormatting,
}

impl InsertionPoint {
    /// Determines where to add items at the end of `container`. If the container is the value of an item, `own`
    /// is that item.
    pub fn at_end_of(
        text: &str,
        habits: &FileFormatting,
        container: &JsonContainer,
        own: Option<&JsonItem>,
        siblings: ExistingItems,
    ) -> Self {
        match container.items.last() {
            Some(last) => Self::after_last_item(text, habits, container, last, siblings),
            None => Self::in_empty_container(text, habits, container, own),
        }
    }

    fn after_last_item(
        text: &str,
        habits: &FileFormatting,
        container: &JsonContainer,
        last: &JsonItem,
        siblings: ExistingItems,
    ) -> Self {
        let indent = indentation_at(text, last.start);
        let gap = last.text_before(text);
        let mut formatting = TextFormatting { indent: indent.to_owned(), ..habits.new_file_formatting() };
        if let Some(unit) = indent.strip_prefix(indentation_at(text, container.open_bracket))
            && contains_line_break(gap)
            && !unit.is_empty()
        {
            formatting.indent_unit = unit.to_owned();
        }
        let lead = if contains_line_break(gap) || container.last_token_needs_line_end {
            format!("{}{indent}", habits.line_end)
        } else if container.items.len() > 1 && gap.bytes().all(|byte| byte == b' ') {
            gap.to_owned()
        } else {
            formatting.space_after_comma().to_owned()
        };
        let sibling = container.items.iter().rev().map(|item| &text[item.value_range.clone()]);
        let sibling = sibling
            .filter(|value| siblings == ExistingItems::Same && value.len() > 2)
            .find(|v| v.starts_with(['{', '[']));
        formatting.uses_lines = match sibling {
            Some(value) => contains_line_break(value),
            None => contains_line_break(gap) || contains_line_break(&text[last.range()]),
        };
        InsertionPoint {
            insertion_offset: container.last_token_end,
            comma_position: last.comma_position.is_none().then_some(last.end()),
            text_between: lead.clone(),
            text_before: lead,
            text_after: if last.comma_position.is_some() { ",".into() } else { String::new() },
            formatting,
        }
    }

    fn in_empty_container(
        text: &str,
        habits: &FileFormatting,
        container: &JsonContainer,
        own: Option<&JsonItem>,
    ) -> Self {
        let blank = &text[container.last_token_end..container.close_bracket];
        let loose = contains_line_break(blank);
        if !loose && own.is_some_and(|item| !contains_line_break(item.text_before(text))) {
            let look = TextFormatting { uses_lines: false, ..habits.new_file_formatting() };
            let text_between = look.space_after_comma().to_owned();
            return InsertionPoint {
                insertion_offset: container.last_token_end,
                comma_position: None,
                text_before: String::new(),
                text_between,
                text_after: String::new(),
                formatting: look,
            };
        }
        let outer = indentation_at(text, container.open_bracket);
        let look = TextFormatting {
            hooks_on_one_line: loose,
            indent: format!("{outer}{}", habits.indent_unit),
            ..habits.new_file_formatting()
        };
        let lead = format!("{}{}", habits.line_end, look.indent);
        InsertionPoint {
            insertion_offset: if loose { container.last_token_end } else { container.close_bracket },
            comma_position: None,
            text_between: lead.clone(),
            text_before: lead,
            text_after: if loose { String::new() } else { format!("{}{outer}", habits.line_end) },
            formatting: look,
        }
    }

    pub fn insert_items(self, items: &[String]) -> Vec<TextEdit> {
        let body = items.join(&format!(",{}", self.text_between));
        let comma = self.comma_position.map(|at| TextEdit::insertion(at, ","));
        comma
            .into_iter()
            .chain([TextEdit::insertion(
                self.insertion_offset,
                format!("{}{body}{}", self.text_before, self.text_after),
            )])
            .collect()
    }
}

pub fn contains_line_break(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

/// Returns the line ending of the file's first line.
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
