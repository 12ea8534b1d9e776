//! Finds the hooks in a settings file: where they are, and which are ours.

use std::ops::Range;

use super::command::Command;
use super::insert::has_line_end;
use super::problem::{Problem, duplicate, invalid, not_utf8, wrong_shape};
use super::render::Before;
use super::tree::{Container, Item, check, container, is_named, string};
use super::{Change, Entry, HookLocation, What};

const BOM: &str = "\u{feff}";

/// Splits the byte order mark from the text.
pub fn split_mark(bytes: &[u8]) -> Result<(&'static str, &str), Problem> {
    let text = std::str::from_utf8(bytes).map_err(|error| not_utf8(bytes, error.valid_up_to()))?;
    Ok(text.strip_prefix(BOM).map_or(("", text), |rest| (BOM, rest)))
}

/// Returns the outermost object; `None` in a blank file.
pub fn top_level(text: &str) -> Result<Option<Container>, Problem> {
    let Some(range) = check(text).map_err(|fault| invalid(text, fault))? else { return Ok(None) };
    if !text[range.clone()].starts_with('{') {
        return Err(wrong_shape(text, range.start, "the file is not an object"));
    }
    Ok(Some(container(text, range.start)))
}

/// The structure of a settings file, as far as hooks are concerned.
#[derive(Debug)]
pub struct Survey {
    /// The outermost object; `None` in a blank file.
    pub root: Option<Container>,
    /// The index of the root's member that contains the events' object, if there is one.
    pub member: Option<usize>,
    /// The events' object, if the events are below a key of their own.
    nested: Option<Container>,
    /// For each member of the events' object, its array; `None` if its value is not an array.
    pub arrays: Vec<Option<Container>>,
    pub ours: Vec<Hook>,
}

/// One of our hooks in a file.
#[derive(Debug)]
pub struct Hook {
    pub event: String,
    pub matcher: Option<String>,
    pub command: Command,
    pub timeout: Option<u32>,
    pub before: Before,
    /// Whether the hook is written on one line.
    pub short: bool,
    /// Whether the hook is the only one in its matcher group.
    pub alone: bool,
    pub at: Path,
    pub range: Range<usize>,
    pub spans: Spans,
}

/// The indexes of the event, of the group in its array, and of the hook in that group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    pub event: usize,
    pub group: usize,
    pub hook: usize,
}

/// The positions of the values that we may change.
#[derive(Debug)]
pub struct Spans {
    pub matcher: Option<Range<usize>>,
    pub command: Range<usize>,
    pub args: Option<Range<usize>>,
    pub timeout: Option<Range<usize>>,
}

impl Survey {
    pub fn of(text: &str, place: &HookLocation) -> Result<Self, Problem> {
        let mut survey =
            Survey { root: None, member: None, nested: None, arrays: Vec::new(), ours: Vec::new() };
        let Some(root) = top_level(text)? else { return Ok(survey) };
        if let Some(key) = place.key {
            survey.member = only(text, &root, key)?;
            if let Some(item) = survey.member.map(|index| &root.items[index]) {
                if !text[item.value.clone()].starts_with('{') {
                    return Err(wrong_shape(text, item.value.start, format!("`{key}` is not an object")));
                }
                survey.nested = Some(container(text, item.value.start));
            }
        }
        survey.root = Some(root);
        if let Some(events) = survey.events(place) {
            let arrays: Vec<_> = events.items.iter().map(|item| opened(text, &item.value, '[')).collect();
            let hooks = events.items.iter().zip(&arrays).enumerate().filter_map(|(index, (item, array))| {
                let event = string(text, item.key.as_ref()?)?;
                Some(hooks_of(text, index, &event, array.as_ref()?))
            });
            survey.ours = hooks.flatten().collect();
            survey.arrays = arrays;
        }
        Ok(survey)
    }

    /// Returns the object whose members are events.
    pub fn events(&self, place: &HookLocation) -> Option<&Container> {
        if place.key.is_some() { self.nested.as_ref() } else { self.root.as_ref() }
    }

    /// Returns the index of `event` in the events' object. It is an error if we cannot add to that event.
    pub fn event(&self, text: &str, place: &HookLocation, event: &str) -> Result<Option<usize>, Problem> {
        let Some(events) = self.events(place) else { return Ok(None) };
        let Some(index) = only(text, events, event)? else { return Ok(None) };
        let Some(array) = &self.arrays[index] else {
            let at = events.items[index].value.start;
            return Err(wrong_shape(text, at, format!("`{event}` is not an array")));
        };
        match array.items.iter().find(|group| !text[group.value.clone()].starts_with('{')) {
            Some(group) => {
                Err(wrong_shape(text, group.start, format!("a hook of `{event}` is not an object")))
            }
            None => Ok(Some(index)),
        }
    }
}

impl Hook {
    pub fn removed(&self) -> Change {
        Change { event: self.event.clone(), what: What::Removed }
    }

    /// Returns whether the hook already is `entry`. The matcher is ignored if the user has other hooks in the same
    /// group.
    pub fn is(&self, entry: &Entry) -> bool {
        self.event == entry.event
            && self.command == entry.command
            && self.timeout == Some(entry.timeout.number())
            && (!self.alone || self.matcher == entry.matcher)
    }

    /// Returns whether the hook can be turned into `entry` by changing values only.
    pub fn can_become(&self, entry: &Entry) -> bool {
        self.event == entry.event
            && matches!(self.command, Command::Exec { .. }) == matches!(entry.command, Command::Exec { .. })
            && self.spans.timeout.is_some()
            && (!self.alone || self.spans.matcher.is_some() == entry.matcher.is_some())
    }
}

/// Finds the only item with that name. A duplicate is an error: some readers use the first, some the last.
fn only(text: &str, object: &Container, key: &str) -> Result<Option<usize>, Problem> {
    let mut found = object.items.iter().enumerate().filter(|(_, item)| is_named(text, item, key));
    let first = found.next();
    match found.next() {
        Some((_, second)) => Err(duplicate(text, second.start, key)),
        None => Ok(first.map(|(index, _)| index)),
    }
}

fn opened(text: &str, value: &Range<usize>, bracket: char) -> Option<Container> {
    text[value.clone()].starts_with(bracket).then(|| container(text, value.start))
}

fn hooks_of(text: &str, event_index: usize, event: &str, array: &Container) -> Vec<Hook> {
    let mut found = Vec::new();
    for (group_index, group) in array.items.iter().enumerate() {
        let Some((group, hooks)) = group_parts(text, group) else { continue };
        let matcher = member(text, &group, "matcher");
        let first = found.len();
        for (hook_index, item) in hooks.items.iter().enumerate() {
            let at = Path { event: event_index, group: group_index, hook: hook_index };
            found.extend(hook(text, event, matcher, at, item));
        }
        let alone = found.len() - first == hooks.items.len();
        found[first..].iter_mut().for_each(|hook| hook.alone = alone);
    }
    found
}

/// Returns the object of a matcher group and the array of its hooks.
pub fn group_parts(text: &str, group: &Item) -> Option<(Container, Container)> {
    let group = opened(text, &group.value, '{')?;
    let hooks = opened(text, &member(text, &group, "hooks")?.value, '[')?;
    Some((group, hooks))
}

fn hook(text: &str, event: &str, matcher: Option<&Item>, at: Path, item: &Item) -> Option<Hook> {
    let object = opened(text, &item.value, '{')?;
    let value = |key| member(text, &object, key).map(|item| item.value.clone());
    if value("type").is_some_and(|kind| string(text, &kind).as_deref() != Some("command")) {
        return None;
    }
    let (command, args, timeout) = (value("command")?, value("args"), value("timeout"));
    let program = string(text, &command)?;
    let keys: Vec<String> = object
        .items
        .iter()
        .filter_map(|item| item.key.as_ref())
        .filter_map(|key| string(text, key))
        .collect();
    let found = Hook {
        event: event.to_owned(),
        matcher: matcher.and_then(|item| string(text, &item.value)),
        command: match &args {
            Some(args) => {
                let words = opened(text, args, '[')?.items;
                Command::Exec {
                    program,
                    args: words.iter().map(|word| string(text, &word.value)).collect::<Option<_>>()?,
                }
            }
            None => Command::Shell(program),
        },
        timeout: timeout.as_ref().and_then(|range| text[range.clone()].parse().ok()),
        before: Before::of(keys.iter().map(String::as_str)),
        short: !has_line_end(&text[item.range()]),
        alone: true,
        at,
        range: item.range(),
        spans: Spans { matcher: matcher.map(|item| item.value.clone()), command, args, timeout },
    };
    found.command.is_ours().then_some(found)
}

fn member<'a>(text: &str, object: &'a Container, key: &str) -> Option<&'a Item> {
    object.items.iter().find(|item| is_named(text, item, key))
}
