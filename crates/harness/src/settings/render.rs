//! Renders our entries in the style of the file.
//!
//! The key order of our own hooks encodes a [`ContentBeforeInstall`]. A harness that rewrites its settings keeps the
//! order of keys, whereas a strict harness would refuse an extra key. With this encoding, `uninstall` is the exact
//! inverse of `install` and needs no record outside the file.

use super::HookEntry;
use super::command::HookCommand;

/// What surrounded an entry before we added it. This determines what must remain when the entry is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentBeforeInstall {
    /// None of the other variants applies. Any object or array that becomes empty when our hooks are removed is
    /// removed too, except for the outermost braces. Our entry has the usual key order `type`, `command`, `timeout`.
    OtherContent,
    /// There was an empty array for the event. It stays when our entry is removed. To mark this case, our entry has
    /// the key order `command`, `type`, `timeout`.
    EmptyArray,
    /// There was an empty object for the events. It stays when our entry is removed. To mark this case, our entry has
    /// the key order `type`, `timeout`, `command`.
    EmptyObject,
    /// There was no file, or a blank file, so the outermost braces are removed with our entry. To mark this case, our
    /// entry has the key order `timeout`, `type`, `command`.
    NoFile,
}

impl ContentBeforeInstall {
    /// Determines the variant from the order of a hook's keys.
    pub fn guess_from_key_order_of_hook<'a>(keys: impl Iterator<Item = &'a str>) -> Self {
        let order: Vec<&str> = keys.filter(|key| ["type", "command", "timeout"].contains(key)).collect();
        match order.as_slice() {
            ["command", "type", ..] => ContentBeforeInstall::EmptyArray,
            ["type", "timeout", "command"] => ContentBeforeInstall::EmptyObject,
            ["timeout", "type", "command"] => ContentBeforeInstall::NoFile,
            _ => ContentBeforeInstall::OtherContent,
        }
    }
}

#[derive(Clone, Debug)]
pub struct TextFormatting {
    /// Whether the new text has several lines.
    pub uses_lines: bool,
    /// Whether the hook itself is written on one line although the text around it is not. This marks a container that
    /// had a line end before its closing bracket when we installed the hook, so that `uninstall` keeps that line end
    /// (see `insert`).
    pub hooks_on_one_line: bool,
    pub line_end: &'static str,
    /// The indentation of the line on which the new text starts.
    pub indent: String,
    pub indent_unit: String,
    pub colon_text: &'static str,
}

impl TextFormatting {
    /// Returns the white space after a comma if the items are on one line.
    pub fn space_after_comma(&self) -> &'static str {
        if self.colon_text.ends_with(' ') { " " } else { "" }
    }
}

/// A value that we write.
#[derive(Clone, Debug)]
pub enum JsonNode {
    Object(Vec<(String, JsonNode)>),
    Array(Vec<JsonNode>),
    Text(String),
    Number(u32),
    /// A value that is always printed on one line.
    OneLine(Box<JsonNode>),
}

impl JsonNode {
    pub fn object_member(key: &str, value: JsonNode) -> (String, JsonNode) {
        (key.to_owned(), value)
    }
}

/// Builds a matcher group: `{"matcher": …, "hooks": [ours]}`.
pub fn new_matcher_group_node(
    entry: &HookEntry,
    before: ContentBeforeInstall,
    look: &TextFormatting,
) -> JsonNode {
    let hook = new_hook_node(entry, before);
    let hook = if look.hooks_on_one_line { JsonNode::OneLine(Box::new(hook)) } else { hook };
    let matcher =
        entry.matcher.clone().map(|matcher| JsonNode::object_member("matcher", JsonNode::Text(matcher)));
    let hooks = JsonNode::object_member("hooks", JsonNode::Array(vec![hook]));
    JsonNode::Object(matcher.into_iter().chain([hooks]).collect())
}

fn new_hook_node(entry: &HookEntry, before: ContentBeforeInstall) -> JsonNode {
    let kind = [JsonNode::object_member("type", JsonNode::Text("command".into()))];
    let command = match &entry.command {
        HookCommand::Exec { program, args } => {
            vec![
                JsonNode::object_member("command", JsonNode::Text(program.clone())),
                JsonNode::object_member("args", new_word_list_node(args)),
            ]
        }
        HookCommand::Shell(line) => vec![JsonNode::object_member("command", JsonNode::Text(line.clone()))],
    };
    let timeout = [JsonNode::object_member("timeout", JsonNode::Number(entry.timeout.number_in_unit()))];
    JsonNode::Object(match before {
        ContentBeforeInstall::OtherContent => kind.into_iter().chain(command).chain(timeout).collect(),
        ContentBeforeInstall::EmptyArray => command.into_iter().chain(kind).chain(timeout).collect(),
        ContentBeforeInstall::EmptyObject => kind.into_iter().chain(timeout).chain(command).collect(),
        ContentBeforeInstall::NoFile => timeout.into_iter().chain(kind).chain(command).collect(),
    })
}

pub fn new_word_list_node(words: &[String]) -> JsonNode {
    JsonNode::OneLine(Box::new(JsonNode::Array(words.iter().cloned().map(JsonNode::Text).collect())))
}

/// Prints `value`. Lines after the first are indented according to `look`.
pub fn print_node(value: &JsonNode, look: &TextFormatting) -> String {
    let mut out = String::new();
    write_node(value, look, 0, look.uses_lines, &mut out);
    out
}

/// Prints a member of an object, including its key.
pub fn print_member(key: &str, value: &JsonNode, look: &TextFormatting) -> String {
    format!("{}{}{}", quote_json_string(key), look.colon_text, print_node(value, look))
}

pub fn quote_json_string(value: &str) -> String {
    serde_json::Value::from(value).to_string()
}

fn write_node(value: &JsonNode, look: &TextFormatting, depth: usize, lines: bool, out: &mut String) {
    match value {
        JsonNode::Text(value) => out.push_str(&quote_json_string(value)),
        JsonNode::Number(value) => out.push_str(&value.to_string()),
        JsonNode::OneLine(value) => write_node(value, look, depth, false, out),
        JsonNode::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                write_item_start(index, look, depth, lines, out);
                write_node(item, look, depth + 1, lines, out);
            }
            write_closing_bracket(']', look, depth, lines, out);
        }
        JsonNode::Object(members) => {
            out.push('{');
            for (index, (key, value)) in members.iter().enumerate() {
                write_item_start(index, look, depth, lines, out);
                out.push_str(&quote_json_string(key));
                out.push_str(look.colon_text);
                write_node(value, look, depth + 1, lines, out);
            }
            write_closing_bracket('}', look, depth, lines, out);
        }
    }
}

fn write_item_start(index: usize, look: &TextFormatting, depth: usize, lines: bool, out: &mut String) {
    if index > 0 {
        out.push(',');
    }
    if lines {
        write_line_break(look, depth + 1, out);
    } else if index > 0 {
        out.push_str(look.space_after_comma());
    }
}

fn write_closing_bracket(bracket: char, look: &TextFormatting, depth: usize, lines: bool, out: &mut String) {
    if lines {
        write_line_break(look, depth, out);
    }
    out.push(bracket);
}

fn write_line_break(look: &TextFormatting, depth: usize, out: &mut String) {
    out.push_str(look.line_end);
    out.push_str(&look.indent);
    out.push_str(&look.indent_unit.repeat(depth));
}
