//! Confirmed files. They are listed in the frontmatter for tools and below `### Confirmed` for people. The text
//! around that list is never changed.

use serde_json::json;

use super::{CONFIRMED_FILES_HEADING, NONE_RECORDED, RELEVANT_FILES_HEADING};
use crate::document::{Document, EditError, HeadingPattern, ListItem};
use crate::render::in_backticks;

const CONFIRMED_FILES_KEY: &str = "relevant_files_confirmed";

const FILES_HEADINGS: [HeadingPattern<'static>; 2] =
    [HeadingPattern::exact(2, RELEVANT_FILES_HEADING), HeadingPattern::exact(3, CONFIRMED_FILES_HEADING)];

/// Adds files to the list in the frontmatter and to the list below `### Confirmed`. In the second list, a new line is
/// inserted after the last item.
pub fn confirm_files(document: &mut Document, files: &[String]) -> Result<(), EditError> {
    let mut list = document.frontmatter_list(CONFIRMED_FILES_KEY).unwrap_or_default();
    for file in files {
        if !list.contains(file) {
            list.push(file.clone());
            document.set_frontmatter_entry(CONFIRMED_FILES_KEY, json!(list))?;
        }
        let is_listed = section_items(document).iter().any(|item| item_names_file(&item.text, file));
        if !is_listed {
            add_line(document, &format!("- {} — chosen by the user", in_backticks(file, 300)))?;
        }
    }
    Ok(())
}

/// Removes files from the list in the frontmatter and from the list below `### Confirmed`. Other lines are left
/// alone.
pub fn unconfirm_files(document: &mut Document, files: &[String]) -> Result<(), EditError> {
    let mut list = document.frontmatter_list(CONFIRMED_FILES_KEY).unwrap_or_default();
    let before = list.len();
    list.retain(|known| !files.contains(known));
    if list.len() != before {
        document.set_frontmatter_entry(CONFIRMED_FILES_KEY, json!(list))?;
    }
    while let Some(item) = section_items(document)
        .into_iter()
        .find(|item| files.iter().any(|file| item_names_file(&item.text, file)))
    {
        remove_list_item_line(document, &item)?;
    }
    Ok(())
}

/// Returns the files listed below `### Confirmed`.
pub fn files_listed_as_confirmed(document: &Document) -> Vec<String> {
    section_items(document).iter().filter_map(|item| path_in_item(&item.text)).map(str::to_owned).collect()
}

/// Returns the path in a list item. This is the text in backticks, or the first word if it looks like a path.
pub(super) fn path_in_item(text: &str) -> Option<&str> {
    let text = text.trim_start().trim_start_matches('@');
    let marks = text.len() - text.trim_start_matches('`').len();
    let path = match text.split_at(marks) {
        ("", _) => text.split([' ', ',']).next().unwrap_or_default().trim_end_matches(':'),
        (fence, rest) => rest.split_once(fence)?.0.trim_matches(' '),
    };
    let is_path = path.contains(['/', '.'])
        && !path.contains("://")
        && !path.ends_with('.')
        && !path.contains(char::is_whitespace)
        && path.len() < 300;
    is_path.then_some(path)
}

/// Returns whether a list item names this file.
pub(super) fn item_names_file(text: &str, file: &str) -> bool {
    text.starts_with(&in_backticks(file, 300)) || path_in_item(text) == Some(file)
}

fn section_items(document: &Document) -> Vec<ListItem> {
    document.find_section(&FILES_HEADINGS).map(|section| section.items()).unwrap_or_default()
}

fn add_line(document: &mut Document, line: &str) -> Result<(), EditError> {
    let Some(section) = document.find_section(&FILES_HEADINGS) else {
        return document.set_section(&FILES_HEADINGS, line);
    };
    let content = section.content();
    if content.is_empty() || content == NONE_RECORDED.as_bytes() {
        return document.set_section(&FILES_HEADINGS, line);
    }
    let end = document.line_ending();
    let new = match section.items().last() {
        // The section contains only prose, so the list starts below that prose.
        None => [content, end.repeat(2).as_bytes(), line.as_bytes()].concat(),
        Some(last) => {
            let body = section.body();
            let at = end_of_item(body, last.span.end - section.span.start);
            [&body[..at], end.as_bytes(), line.as_bytes(), &body[at..]].concat()
        }
    };
    document.set_section(&FILES_HEADINGS, new)
}

/// Returns where an item ends. The item includes its continuation lines and ends before a blank line or at the end of
/// the section.
fn end_of_item(body: &[u8], mut at: usize) -> usize {
    loop {
        let rest = &body[at..];
        let Some(next) = rest.iter().position(|b| *b == b'\n').map(|end| end + 1) else { return at };
        let line = rest[next..].split(|b| *b == b'\n').next().unwrap_or_default().trim_ascii_end();
        if line.is_empty() {
            return at;
        }
        at += next + line.len();
    }
}

fn remove_list_item_line(document: &mut Document, item: &ListItem) -> Result<(), EditError> {
    let Some(section) = document.find_section(&FILES_HEADINGS) else { return Ok(()) };
    let (body, start) = (section.body(), section.span.start);
    let (from, to) = (item.span.start - start, item.span.end - start);
    let end = body[to..].iter().position(|b| *b == b'\n').map_or(body.len(), |at| to + at + 1);
    let new = [&body[..from], &body[end..]].concat();
    document.set_section(
        &FILES_HEADINGS,
        if new.trim_ascii().is_empty() { NONE_RECORDED.as_bytes() } else { &new },
    )
}

#[cfg(test)]
#[path = "confirm_tests.rs"]
mod tests;
