//! Prints our entries in the style of the file that they go into.
//!
//! We may choose the order of the keys in our own hook, and we use it to record [`Before`]. The order is kept when the
//! harness rewrites its settings, and it needs no extra key, which a strict harness would refuse. So `uninstall` is the
//! exact inverse of `install`, and nothing is stored elsewhere.

use super::Entry;
use super::command::Command;

/// What was around an entry before we added it, and therefore what must remain when the entry is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// There was something else, or nothing that must stay. Whatever becomes empty when our hooks are removed is
    /// removed too, up to the outermost braces. Key order: `type`, `command`, `timeout`, the usual one.
    Something,
    /// There was an empty array for the event, which stays. Key order: `command`, `type`, `timeout`.
    EmptyArray,
    /// There was an empty object for the events, which stays. Key order: `type`, `timeout`, `command`.
    EmptyObject,
    /// There was no file, or a blank one, so the outermost braces are removed too. Key order: `timeout`, `type`,
    /// `command`.
    NoFile,
}

impl Before {
    /// Determines the variant from the order of a hook's keys.
    pub fn of<'a>(keys: impl Iterator<Item = &'a str>) -> Self {
        let order: Vec<&str> = keys.filter(|key| ["type", "command", "timeout"].contains(key)).collect();
        match order.as_slice() {
            ["command", "type", ..] => Before::EmptyArray,
            ["type", "timeout", "command"] => Before::EmptyObject,
            ["timeout", "type", "command"] => Before::NoFile,
            _ => Before::Something,
        }
    }
}

/// The formatting of new text.
#[derive(Clone, Debug)]
pub struct Look {
    /// True if the new text has several lines, false if it has one.
    pub lines: bool,
    /// Whether the hook itself is written on one line although the rest is not. Like the key order, this records what
    /// was there before: the line end before the closing bracket already existed (see `insert`).
    pub short_hooks: bool,
    pub line_end: &'static str,
    /// The indentation of the line on which the new text starts.
    pub indent: String,
    pub unit: String,
    pub colon: &'static str,
}

impl Look {
    /// Returns the white space after a comma if the items are on one line.
    pub fn space(&self) -> &'static str {
        if self.colon.ends_with(' ') { " " } else { "" }
    }
}

/// A value that we write.
#[derive(Clone, Debug)]
pub enum Node {
    Object(Vec<(String, Node)>),
    Array(Vec<Node>),
    Text(String),
    Number(u32),
    /// A value that is always printed on one line.
    Short(Box<Node>),
}

impl Node {
    pub fn member(key: &str, value: Node) -> (String, Node) {
        (key.to_owned(), value)
    }
}

/// Builds the object of one matcher: `{"matcher": …, "hooks": [ours]}`.
pub fn group(entry: &Entry, before: Before, look: &Look) -> Node {
    let hook = hook(entry, before);
    let hook = if look.short_hooks { Node::Short(Box::new(hook)) } else { hook };
    let matcher = entry.matcher.clone().map(|matcher| Node::member("matcher", Node::Text(matcher)));
    let hooks = Node::member("hooks", Node::Array(vec![hook]));
    Node::Object(matcher.into_iter().chain([hooks]).collect())
}

fn hook(entry: &Entry, before: Before) -> Node {
    let kind = [Node::member("type", Node::Text("command".into()))];
    let command = match &entry.command {
        Command::Exec { program, args } => {
            vec![Node::member("command", Node::Text(program.clone())), Node::member("args", words(args))]
        }
        Command::Shell(line) => vec![Node::member("command", Node::Text(line.clone()))],
    };
    let timeout = [Node::member("timeout", Node::Number(entry.timeout.number()))];
    Node::Object(match before {
        Before::Something => kind.into_iter().chain(command).chain(timeout).collect(),
        Before::EmptyArray => command.into_iter().chain(kind).chain(timeout).collect(),
        Before::EmptyObject => kind.into_iter().chain(timeout).chain(command).collect(),
        Before::NoFile => timeout.into_iter().chain(kind).chain(command).collect(),
    })
}

/// Returns a list of words, on one line.
pub fn words(words: &[String]) -> Node {
    Node::Short(Box::new(Node::Array(words.iter().cloned().map(Node::Text).collect())))
}

/// Prints `value`; lines after the first are indented as `look` says.
pub fn print(value: &Node, look: &Look) -> String {
    let mut out = String::new();
    write(value, look, 0, look.lines, &mut out);
    out
}

/// Prints a member of an object, including its key.
pub fn print_member(key: &str, value: &Node, look: &Look) -> String {
    format!("{}{}{}", string(key), look.colon, print(value, look))
}

pub fn string(value: &str) -> String {
    serde_json::Value::from(value).to_string()
}

fn write(value: &Node, look: &Look, depth: usize, lines: bool, out: &mut String) {
    match value {
        Node::Text(value) => out.push_str(&string(value)),
        Node::Number(value) => out.push_str(&value.to_string()),
        Node::Short(value) => write(value, look, depth, false, out),
        Node::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                lead(index, look, depth, lines, out);
                write(item, look, depth + 1, lines, out);
            }
            close(']', look, depth, lines, out);
        }
        Node::Object(members) => {
            out.push('{');
            for (index, (key, value)) in members.iter().enumerate() {
                lead(index, look, depth, lines, out);
                out.push_str(&string(key));
                out.push_str(look.colon);
                write(value, look, depth + 1, lines, out);
            }
            close('}', look, depth, lines, out);
        }
    }
}

fn lead(index: usize, look: &Look, depth: usize, lines: bool, out: &mut String) {
    if index > 0 {
        out.push(',');
    }
    if lines {
        line(look, depth + 1, out);
    } else if index > 0 {
        out.push_str(look.space());
    }
}

fn close(bracket: char, look: &Look, depth: usize, lines: bool, out: &mut String) {
    if lines {
        line(look, depth, out);
    }
    out.push(bracket);
}

fn line(look: &Look, depth: usize, out: &mut String) {
    out.push_str(look.line_end);
    out.push_str(&look.indent);
    out.push_str(&look.unit.repeat(depth));
}
