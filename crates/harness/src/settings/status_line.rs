//! Manages our command in a harness's status line setting. If the setting already contains a command that the user
//! chose, our command calls it first. Removing our command restores the user's command, byte for byte.

use super::command::{is_thru_program, quote_shell_word, simple_commands};
use super::edit::{TextEdit, apply_edits};
use super::insert::{ExistingItems, FileFormatting, InsertionPoint};
use super::problem::{SettingsProblem, wrong_shape_problem};
use super::remove::{BracketAuthor, leading_line_end_length, remove_items};
use super::render::{JsonNode, print_member, print_node, quote_json_string};
use super::survey::{split_byte_order_mark, top_level_object};
use super::tree::{self, JsonContainer, JsonItem};

/// The subcommand that our command calls.
const STATUSLINE_SUBCOMMAND: &str = "statusline";
/// The option whose value is the user's own command.
const USER_COMMAND_OPTION: &str = "--after";

enum CurrentStatusLine {
    None,
    /// Our command. `member_index` is the index of the setting, `command` is the range of our command, and
    /// `user_command` is the user's own command inside it.
    Ours {
        member_index: usize,
        command: std::ops::Range<usize>,
        user_command: Option<String>,
    },
    /// The user's own command.
    UserCommand {
        command: std::ops::Range<usize>,
        line: String,
    },
}

/// Makes `program` write the status line. If the user has a command, `program` calls it first.
pub fn install_status_line(
    bytes: Option<&[u8]>,
    key: &str,
    program: &str,
) -> Result<Vec<u8>, SettingsProblem> {
    let (mark, text) = split_byte_order_mark(bytes.unwrap_or_default())?;
    let Some(root) = top_level_object(text)? else {
        let look = FileFormatting::detect(text, None).new_file_formatting();
        let file = JsonNode::Object(vec![JsonNode::object_member(
            key,
            new_status_line_node(&status_line_command(program, None), FileBeforeInstall::Blank),
        )]);
        return Ok([mark, &print_node(&file, &look), look.line_end, text].concat().into_bytes());
    };
    let edits = match current_status_line(text, &root, key)? {
        CurrentStatusLine::Ours { command, user_command, .. } => {
            vec![TextEdit::replacement(
                command,
                quote_json_string(&status_line_command(program, user_command.as_deref())),
            )]
        }
        CurrentStatusLine::UserCommand { command, line: own } => {
            // Replace the user's command only if uninstalling can restore it exactly.
            if quote_json_string(&own) != text[command.clone()] {
                let why =
                    format!("the command of `{key}` is written with escapes that could not be restored");
                return Err(wrong_shape_problem(text, command.start, why));
            }
            vec![TextEdit::replacement(command, quote_json_string(&status_line_command(program, Some(&own))))]
        }
        CurrentStatusLine::None => {
            let habits = FileFormatting::detect(text, Some(&root));
            let spot = InsertionPoint::at_end_of(text, &habits, &root, None, ExistingItems::Other);
            let object =
                new_status_line_node(&status_line_command(program, None), FileBeforeInstall::NotBlank);
            // If the line end before the closing bracket existed before the installation, write the object on one
            // line. Uninstalling then keeps that line end (see `insert`).
            let object =
                if spot.formatting.hooks_on_one_line { JsonNode::OneLine(Box::new(object)) } else { object };
            let member = print_member(key, &object, &spot.formatting);
            spot.insert_items(&[member])
        }
    };
    Ok([mark, &apply_edits(text, edits)].concat().into_bytes())
}

pub fn is_our_status_line(bytes: &[u8], key: &str) -> Result<bool, SettingsProblem> {
    let (_, text) = split_byte_order_mark(bytes)?;
    let Some(root) = top_level_object(text)? else { return Ok(false) };
    Ok(matches!(current_status_line(text, &root, key)?, CurrentStatusLine::Ours { .. }))
}

/// Removes our command, and restores the user's own command.
pub fn uninstall_status_line(bytes: &[u8], key: &str) -> Result<Vec<u8>, SettingsProblem> {
    let (mark, text) = split_byte_order_mark(bytes)?;
    let Some(root) = top_level_object(text)? else { return Ok(bytes.to_vec()) };
    // A value in another form is not ours, so there is nothing to remove.
    let Ok(current) = current_status_line(text, &root, key) else { return Ok(bytes.to_vec()) };
    let edits = match current {
        CurrentStatusLine::Ours { command, user_command: Some(own), .. } => {
            vec![TextEdit::replacement(command, quote_json_string(&own))]
        }
        CurrentStatusLine::Ours { member_index, .. } => {
            let item = &root.items[member_index];
            match root.items.len() == 1 && was_file_blank(text, item) {
                true => {
                    let end = root.close_bracket + 1;
                    vec![TextEdit::deletion(root.open_bracket..end + leading_line_end_length(&text[end..]))]
                }
                false => {
                    let is_short = !text[item.value_range.clone()].contains(['\n', '\r']);
                    let brackets = if is_short { BracketAuthor::NotOurs } else { BracketAuthor::Ours };
                    remove_items(text, &root, &[member_index], brackets)
                }
            }
        }
        CurrentStatusLine::UserCommand { .. } | CurrentStatusLine::None => return Ok(bytes.to_vec()),
    };
    Ok([mark, &apply_edits(text, edits)].concat().into_bytes())
}

fn current_status_line(
    text: &str,
    root: &JsonContainer,
    key: &str,
) -> Result<CurrentStatusLine, SettingsProblem> {
    // If the key occurs twice, the last value is used, as in `JSON.parse`.
    let found = root.items.iter().enumerate().rev().find(|(_, item)| tree::has_key(text, item, key));
    let Some((member, item)) = found else { return Ok(CurrentStatusLine::None) };
    let wrong = |why: &str| wrong_shape_problem(text, item.value_range.start, format!("`{key}` {why}"));
    if !text[item.value_range.clone()].starts_with('{') {
        return Err(wrong("is not an object"));
    }
    let object = tree::read_container(text, item.value_range.start);
    let value =
        |name| object.items.iter().find(|item| tree::has_key(text, item, name)).map(|item| &item.value_range);
    let kind = value("type").and_then(|kind| tree::string_value(text, kind));
    let command = value("command").filter(|_| kind.as_deref() == Some("command"));
    let Some((command, line)) =
        command.and_then(|range| Some((range.clone(), tree::string_value(text, range)?)))
    else {
        return Err(wrong("has no command"));
    };
    Ok(match user_command_within(&line) {
        Some(after) => CurrentStatusLine::Ours { member_index: member, command, user_command: after },
        None => CurrentStatusLine::UserCommand { command, line },
    })
}

/// Returns the user's own command inside our command, if there is one. Returns `None` if the line is not our command.
fn user_command_within(line: &str) -> Option<Option<String>> {
    match simple_commands(line)?.as_slice() {
        [words] => match words.as_slice() {
            [program, word] if is_thru_program(program) && word == STATUSLINE_SUBCOMMAND => Some(None),
            [program, word, after, own]
                if is_thru_program(program)
                    && word == STATUSLINE_SUBCOMMAND
                    && after == USER_COMMAND_OPTION =>
            {
                Some(Some(own.clone()))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Returns our command, such as `/abs/thru statusline --after 'echo mine'`.
fn status_line_command(program: &str, after: Option<&str>) -> String {
    let own = after.map_or(String::new(), |own| format!(" {USER_COMMAND_OPTION} {}", quote_shell_word(own)));
    format!("{} {STATUSLINE_SUBCOMMAND}{own}", quote_shell_word(program))
}

/// Whether the file was blank before our installation. The order of the keys records this, as with
/// `render::ContentBeforeInstall` for hooks.
#[derive(Clone, Copy, PartialEq)]
enum FileBeforeInstall {
    Blank,
    NotBlank,
}

fn new_status_line_node(line: &str, file: FileBeforeInstall) -> JsonNode {
    let mut members = vec![
        JsonNode::object_member("type", JsonNode::Text("command".to_owned())),
        JsonNode::object_member("command", JsonNode::Text(line.to_owned())),
    ];
    if file == FileBeforeInstall::Blank {
        members.reverse();
    }
    JsonNode::Object(members)
}

fn was_file_blank(text: &str, item: &JsonItem) -> bool {
    let object = tree::read_container(text, item.value_range.start);
    object.items.first().is_some_and(|first| tree::has_key(text, first, "command"))
}

#[cfg(test)]
#[path = "status_line_tests.rs"]
mod tests;
