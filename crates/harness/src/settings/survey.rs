//! Finds the hooks in a settings file, and determines which of them are ours.

use std::ops::Range;

use super::command::HookCommand;
use super::insert::contains_line_break;
use super::problem::{
    SettingsProblem, duplicate_key_problem, not_utf8_problem, syntax_problem, wrong_shape_problem,
};
use super::render::ContentBeforeInstall;
use super::tree::{JsonContainer, JsonItem, check_json, has_key, read_container, string_value};
use super::{HookChange, HookChangeKind, HookEntry, HookLocation};

const BYTE_ORDER_MARK: &str = "\u{feff}";

pub fn split_byte_order_mark(bytes: &[u8]) -> Result<(&'static str, &str), SettingsProblem> {
    let text = std::str::from_utf8(bytes).map_err(|error| not_utf8_problem(bytes, error.valid_up_to()))?;
    Ok(text.strip_prefix(BYTE_ORDER_MARK).map_or(("", text), |rest| (BYTE_ORDER_MARK, rest)))
}

/// Returns the outermost object, or `None` if the file is blank.
pub fn top_level_object(text: &str) -> Result<Option<JsonContainer>, SettingsProblem> {
    let Some(range) = check_json(text).map_err(|fault| syntax_problem(text, fault))? else { return Ok(None) };
    if !text[range.clone()].starts_with('{') {
        return Err(wrong_shape_problem(text, range.start, "the file does not contain a JSON object"));
    }
    Ok(Some(read_container(text, range.start)))
}

/// The parts of a settings file that contain hooks.
#[derive(Debug)]
pub struct SettingsSurvey {
    /// The outermost object. `None` if the file is blank.
    pub root: Option<JsonContainer>,
    /// The index of the member of `root` whose value is the object with the events, if there is one.
    pub events_member_index: Option<usize>,
    /// The object with the events, if the events are not top-level keys.
    nested_events: Option<JsonContainer>,
    /// The array of each event, in the order of the file. `None` if the value of an event is not an array.
    pub event_arrays: Vec<Option<JsonContainer>>,
    pub our_hooks: Vec<InstalledThruHook>,
}

#[derive(Debug)]
pub struct InstalledThruHook {
    pub event: String,
    pub matcher: Option<String>,
    pub command: HookCommand,
    pub timeout: Option<u32>,
    pub state_before: ContentBeforeInstall,
    /// Whether the hook is written on one line.
    pub is_on_one_line: bool,
    /// Whether the hook is the only one in its matcher group.
    pub only_in_group: bool,
    pub hook_path: HookIndexes,
    pub text_range: Range<usize>,
    pub value_spans: HookValueSpans,
}

/// The index of the event, of the group in the event's array, and of the hook in the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HookIndexes {
    pub event: usize,
    pub group: usize,
    pub hook: usize,
}

/// The positions of the values that we may change.
#[derive(Debug)]
pub struct HookValueSpans {
    pub matcher: Option<Range<usize>>,
    pub command: Range<usize>,
    pub args: Option<Range<usize>>,
    pub timeout: Option<Range<usize>>,
}

impl SettingsSurvey {
    pub fn survey_text(text: &str, place: &HookLocation) -> Result<Self, SettingsProblem> {
        let mut survey = SettingsSurvey {
            root: None,
            events_member_index: None,
            nested_events: None,
            event_arrays: Vec::new(),
            our_hooks: Vec::new(),
        };
        let Some(root) = top_level_object(text)? else { return Ok(survey) };
        if let Some(key) = place.key {
            survey.events_member_index = only_item_named(text, &root, key)?;
            if let Some(item) = survey.events_member_index.map(|index| &root.items[index]) {
                if !text[item.value_range.clone()].starts_with('{') {
                    return Err(wrong_shape_problem(
                        text,
                        item.value_range.start,
                        format!("`{key}` is not an object"),
                    ));
                }
                survey.nested_events = Some(read_container(text, item.value_range.start));
            }
        }
        survey.root = Some(root);
        if let Some(events) = survey.events_object(place) {
            let arrays: Vec<_> =
                events.items.iter().map(|item| open_container(text, &item.value_range, '[')).collect();
            let hooks = events.items.iter().zip(&arrays).enumerate().filter_map(|(index, (item, array))| {
                let event = string_value(text, item.key_range.as_ref()?)?;
                Some(own_hooks_in_event(text, index, &event, array.as_ref()?))
            });
            survey.our_hooks = hooks.flatten().collect();
            survey.event_arrays = arrays;
        }
        Ok(survey)
    }

    /// Returns the object whose members are events.
    pub fn events_object(&self, place: &HookLocation) -> Option<&JsonContainer> {
        if place.key.is_some() { self.nested_events.as_ref() } else { self.root.as_ref() }
    }

    /// Returns the index of `event` among the file's events, or `None` if the file does not contain it. Returns an error
    /// if a hook cannot be added to the event.
    pub fn event_index(
        &self,
        text: &str,
        place: &HookLocation,
        event: &str,
    ) -> Result<Option<usize>, SettingsProblem> {
        let Some(events) = self.events_object(place) else { return Ok(None) };
        let Some(index) = only_item_named(text, events, event)? else { return Ok(None) };
        let Some(array) = &self.event_arrays[index] else {
            let at = events.items[index].value_range.start;
            return Err(wrong_shape_problem(text, at, format!("`{event}` is not an array")));
        };
        match array.items.iter().find(|group| !text[group.value_range.clone()].starts_with('{')) {
            Some(group) => {
                Err(wrong_shape_problem(text, group.start, format!("a hook of `{event}` is not an object")))
            }
            None => Ok(Some(index)),
        }
    }
}

impl InstalledThruHook {
    pub fn to_removal(&self) -> HookChange {
        HookChange { event: self.event.clone(), kind: HookChangeKind::Removed }
    }

    /// Returns whether the hook equals `entry`. The matcher is ignored if the group also contains the user's own hooks.
    pub fn matches_entry(&self, entry: &HookEntry) -> bool {
        self.event == entry.event
            && self.command == entry.command
            && self.timeout == Some(entry.timeout.number_in_unit())
            && (!self.only_in_group || self.matcher == entry.matcher)
    }

    /// Returns whether the hook can be turned into `entry` by changing values only.
    pub fn can_be_turned_into_entry(&self, entry: &HookEntry) -> bool {
        self.event == entry.event
            && matches!(self.command, HookCommand::Exec { .. })
                == matches!(entry.command, HookCommand::Exec { .. })
            && self.value_spans.timeout.is_some()
            && (!self.only_in_group || self.value_spans.matcher.is_some() == entry.matcher.is_some())
    }
}

/// Finds the only item with this key. A duplicate is an error, because some parsers use the first value and some the
/// last.
fn only_item_named(text: &str, object: &JsonContainer, key: &str) -> Result<Option<usize>, SettingsProblem> {
    let mut found = object.items.iter().enumerate().filter(|(_, item)| has_key(text, item, key));
    let first = found.next();
    match found.next() {
        Some((_, second)) => Err(duplicate_key_problem(text, second.start, key)),
        None => Ok(first.map(|(index, _)| index)),
    }
}

fn open_container(text: &str, value: &Range<usize>, bracket: char) -> Option<JsonContainer> {
    text[value.clone()].starts_with(bracket).then(|| read_container(text, value.start))
}

fn own_hooks_in_event(
    text: &str,
    event_index: usize,
    event: &str,
    array: &JsonContainer,
) -> Vec<InstalledThruHook> {
    let mut found = Vec::new();
    for (group_index, group) in array.items.iter().enumerate() {
        let Some((group, hooks)) = group_and_hooks_array(text, group) else { continue };
        let matcher = find_member(text, &group, "matcher");
        let first = found.len();
        for (hook_index, item) in hooks.items.iter().enumerate() {
            let at = HookIndexes { event: event_index, group: group_index, hook: hook_index };
            found.extend(read_own_hook(text, event, matcher, at, item));
        }
        let alone = found.len() - first == hooks.items.len();
        found[first..].iter_mut().for_each(|hook| hook.only_in_group = alone);
    }
    found
}

/// Returns the object of a matcher group and the array of its hooks.
pub fn group_and_hooks_array(text: &str, group: &JsonItem) -> Option<(JsonContainer, JsonContainer)> {
    let group = open_container(text, &group.value_range, '{')?;
    let hooks = open_container(text, &find_member(text, &group, "hooks")?.value_range, '[')?;
    Some((group, hooks))
}

fn read_own_hook(
    text: &str,
    event: &str,
    matcher: Option<&JsonItem>,
    at: HookIndexes,
    item: &JsonItem,
) -> Option<InstalledThruHook> {
    let object = open_container(text, &item.value_range, '{')?;
    let value = |key| find_member(text, &object, key).map(|item| item.value_range.clone());
    if value("type").is_some_and(|kind| string_value(text, &kind).as_deref() != Some("command")) {
        return None;
    }
    let (command, args, timeout) = (value("command")?, value("args"), value("timeout"));
    let program = string_value(text, &command)?;
    let keys: Vec<String> = object
        .items
        .iter()
        .filter_map(|item| item.key_range.as_ref())
        .filter_map(|key| string_value(text, key))
        .collect();
    let found = InstalledThruHook {
        event: event.to_owned(),
        matcher: matcher.and_then(|item| string_value(text, &item.value_range)),
        command: match &args {
            Some(args) => {
                let words = open_container(text, args, '[')?.items;
                HookCommand::Exec {
                    program,
                    args: words
                        .iter()
                        .map(|word| string_value(text, &word.value_range))
                        .collect::<Option<_>>()?,
                }
            }
            None => HookCommand::Shell(program),
        },
        timeout: timeout.as_ref().and_then(|range| text[range.clone()].parse().ok()),
        state_before: ContentBeforeInstall::guess_from_key_order_of_hook(keys.iter().map(String::as_str)),
        is_on_one_line: !contains_line_break(&text[item.range()]),
        only_in_group: true,
        hook_path: at,
        text_range: item.range(),
        value_spans: HookValueSpans {
            matcher: matcher.map(|item| item.value_range.clone()),
            command,
            args,
            timeout,
        },
    };
    found.command.is_thru_hook().then_some(found)
}

fn find_member<'a>(text: &str, object: &'a JsonContainer, key: &str) -> Option<&'a JsonItem> {
    object.items.iter().find(|item| has_key(text, item, key))
}
