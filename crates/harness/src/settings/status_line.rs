//! Our command in a harness's status line setting. If the user has a command there, ours calls it first, and removing
//! ours restores the user's byte for byte.

use super::command::{is_thru, quoted, simple_commands};
use super::edit::{Edit, apply};
use super::insert::{FileFormatting, InsertionPoint, Siblings};
use super::problem::{Problem, wrong_shape};
use super::remove::{Brackets, cut_items, line_end};
use super::render::{Node, print, print_member, string as json_string};
use super::survey::{split_mark, top_level};
use super::tree::{self, Container, Item};

/// The subcommand that our command calls.
const WORD: &str = "statusline";
/// The option that contains the user's own command.
const AFTER: &str = "--after";

/// What a settings file contains as its status line.
enum Current {
    None,
    /// Our command: `member` is the index of the setting, `command` the range of the command, `after` the user's own
    /// command.
    Ours {
        member: usize,
        command: std::ops::Range<usize>,
        after: Option<String>,
    },
    /// The user's own command.
    Theirs {
        command: std::ops::Range<usize>,
        line: String,
    },
}

/// Makes `program` write the status line, after the user's own command if there is one.
pub fn install(bytes: Option<&[u8]>, key: &str, program: &str) -> Result<Vec<u8>, Problem> {
    let (mark, text) = split_mark(bytes.unwrap_or_default())?;
    let Some(root) = top_level(text)? else {
        let look = FileFormatting::of(text, None).look();
        let file = Node::Object(vec![Node::member(key, node(&line(program, None), Blank::Before))]);
        return Ok([mark, &print(&file, &look), look.line_end, text].concat().into_bytes());
    };
    let edits = match current(text, &root, key)? {
        Current::Ours { command, after, .. } => {
            vec![Edit::replace(command, json_string(&line(program, after.as_deref())))]
        }
        Current::Theirs { command, line: own } => {
            // Replace the user's command only if uninstalling can write it again exactly.
            if json_string(&own) != text[command.clone()] {
                let why =
                    format!("the command of `{key}` is written with escapes that could not be restored");
                return Err(wrong_shape(text, command.start, why));
            }
            vec![Edit::replace(command, json_string(&line(program, Some(&own))))]
        }
        Current::None => {
            let habits = FileFormatting::of(text, Some(&root));
            let spot = InsertionPoint::find(text, &habits, &root, None, Siblings::Other);
            let object = node(&line(program, None), Blank::No);
            // Writing the object on one line records that the line end before the closing bracket was there before us
            // (see `insert`).
            let object = if spot.look.short_hooks { Node::Short(Box::new(object)) } else { object };
            let member = print_member(key, &object, &spot.look);
            spot.insert(&[member])
        }
    };
    Ok([mark, &apply(text, edits)].concat().into_bytes())
}

/// Returns whether the status line of these settings is ours.
pub fn is_ours(bytes: &[u8], key: &str) -> Result<bool, Problem> {
    let (_, text) = split_mark(bytes)?;
    let Some(root) = top_level(text)? else { return Ok(false) };
    Ok(matches!(current(text, &root, key)?, Current::Ours { .. }))
}

/// Removes our command, and restores the user's own.
pub fn uninstall(bytes: &[u8], key: &str) -> Result<Vec<u8>, Problem> {
    let (mark, text) = split_mark(bytes)?;
    let Some(root) = top_level(text)? else { return Ok(bytes.to_vec()) };
    // A value of another shape is not ours, so there is nothing to remove.
    let Ok(current) = current(text, &root, key) else { return Ok(bytes.to_vec()) };
    let edits = match current {
        Current::Ours { command, after: Some(own), .. } => vec![Edit::replace(command, json_string(&own))],
        Current::Ours { member, .. } => {
            let item = &root.items[member];
            match root.items.len() == 1 && was_blank(text, item) {
                true => {
                    let end = root.close + 1;
                    vec![Edit::cut(root.open..end + line_end(&text[end..]))]
                }
                false => {
                    let is_short = !text[item.value.clone()].contains(['\n', '\r']);
                    let brackets = if is_short { Brackets::NotOurs } else { Brackets::Ours };
                    cut_items(text, &root, &[member], brackets)
                }
            }
        }
        Current::Theirs { .. } | Current::None => return Ok(bytes.to_vec()),
    };
    Ok([mark, &apply(text, edits)].concat().into_bytes())
}

fn current(text: &str, root: &Container, key: &str) -> Result<Current, Problem> {
    // If the key occurs twice, the last one counts, as in `JSON.parse`.
    let found = root.items.iter().enumerate().rev().find(|(_, item)| tree::is_named(text, item, key));
    let Some((member, item)) = found else { return Ok(Current::None) };
    let wrong = |why: &str| wrong_shape(text, item.value.start, format!("`{key}` {why}"));
    if !text[item.value.clone()].starts_with('{') {
        return Err(wrong("is not an object"));
    }
    let object = tree::container(text, item.value.start);
    let value =
        |name| object.items.iter().find(|item| tree::is_named(text, item, name)).map(|item| &item.value);
    let kind = value("type").and_then(|kind| tree::string(text, kind));
    let command = value("command").filter(|_| kind.as_deref() == Some("command"));
    let Some((command, line)) = command.and_then(|range| Some((range.clone(), tree::string(text, range)?)))
    else {
        return Err(wrong("has no command"));
    };
    Ok(match ours(&line) {
        Some(after) => Current::Ours { member, command, after },
        None => Current::Theirs { command, line },
    })
}

/// Returns the user's own command within our command; `None` if the command is not ours.
fn ours(line: &str) -> Option<Option<String>> {
    match simple_commands(line)?.as_slice() {
        [words] => match words.as_slice() {
            [program, word] if is_thru(program) && word == WORD => Some(None),
            [program, word, after, own] if is_thru(program) && word == WORD && after == AFTER => {
                Some(Some(own.clone()))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Returns our command: `/abs/thru statusline --after 'the user's own'`.
fn line(program: &str, after: Option<&str>) -> String {
    let own = after.map_or(String::new(), |own| format!(" {AFTER} {}", quoted(own)));
    format!("{} {WORD}{own}", quoted(program))
}

/// Whether the file was blank before us. The order of the keys records it, as `render::Before` does for hooks.
#[derive(Clone, Copy, PartialEq)]
enum Blank {
    Before,
    No,
}

fn node(line: &str, blank: Blank) -> Node {
    let mut members = vec![
        Node::member("type", Node::Text("command".to_owned())),
        Node::member("command", Node::Text(line.to_owned())),
    ];
    if blank == Blank::Before {
        members.reverse();
    }
    Node::Object(members)
}

fn was_blank(text: &str, item: &Item) -> bool {
    let object = tree::container(text, item.value.start);
    object.items.first().is_some_and(|first| tree::is_named(text, first, "command"))
}

#[cfg(test)]
#[path = "status_line_tests.rs"]
mod tests;
