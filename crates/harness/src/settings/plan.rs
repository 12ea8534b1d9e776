//! Determines the edits that make a file contain exactly the wanted hooks.

use super::command::HookCommand;
use super::edit::TextEdit;
use super::insert::{ExistingItems, FileFormatting, InsertionPoint};
use super::render::{
    self, ContentBeforeInstall, JsonNode, TextFormatting, new_matcher_group_node, print_member, print_node,
};
use super::survey::{InstalledThruHook, SettingsSurvey};
use super::tree::JsonContainer;
use super::{HookChange, HookChangeKind, HookEntry, HookLocation, SettingsProblem};

/// The result of comparing the wanted entries with our hooks in the file.
pub struct HookPlan<'a> {
    matched_pairs: Vec<(&'a InstalledThruHook, &'a HookEntry)>,
    missing: Vec<&'a HookEntry>,
    /// Our hooks that match none of the wanted entries.
    pub surplus: Vec<&'a InstalledThruHook>,
}

impl<'a> HookPlan<'a> {
    pub fn new(survey: &'a SettingsSurvey, entries: &'a [HookEntry]) -> Self {
        let mut surplus: Vec<&InstalledThruHook> = survey.our_hooks.iter().collect();
        let mut missing: Vec<&HookEntry> = entries.iter().collect();
        let mut matched_pairs = Vec::new();
        // First keep our hooks that are already correct. Then reuse our other hooks for entries that are still missing.
        for fits in [InstalledThruHook::matches_entry, InstalledThruHook::can_be_turned_into_entry] {
            missing.retain(|entry| match surplus.iter().position(|hook| fits(hook, entry)) {
                Some(index) => {
                    matched_pairs.push((surplus.remove(index), *entry));
                    false
                }
                None => true,
            });
        }
        HookPlan { matched_pairs, missing, surplus }
    }

    pub fn to_edits(
        &self,
        text: &str,
        place: &HookLocation,
        survey: &SettingsSurvey,
    ) -> Result<Vec<TextEdit>, SettingsProblem> {
        let mut edits: Vec<TextEdit> =
            self.matched_pairs.iter().flat_map(|(hook, entry)| update_hook(hook, entry)).collect();
        edits.extend(add_missing_hooks(text, place, survey, &self.missing)?);
        Ok(edits)
    }

    pub fn to_changes(&self, entries: &[HookEntry]) -> Vec<HookChange> {
        let mut replaced: Vec<&InstalledThruHook> = self.surplus.clone();
        let mut changes: Vec<HookChange> = Vec::new();
        for entry in entries {
            let kind = match self.matched_pairs.iter().find(|(_, paired)| std::ptr::eq(*paired, entry)) {
                Some((hook, _)) if hook.matches_entry(entry) => HookChangeKind::Kept,
                Some(_) => HookChangeKind::Updated,
                None => match replaced.iter().position(|hook| hook.event == entry.event) {
                    Some(index) => {
                        replaced.remove(index);
                        HookChangeKind::Updated
                    }
                    None => HookChangeKind::Added,
                },
            };
            changes.push(HookChange { event: entry.event.clone(), kind });
        }
        changes.extend(replaced.iter().map(|hook| hook.to_removal()));
        changes
    }
}

/// Returns edits for only those values of a hook that differ from its entry.
fn update_hook(hook: &InstalledThruHook, entry: &HookEntry) -> Vec<TextEdit> {
    let (old, new) = (command_and_arguments(&hook.command), command_and_arguments(&entry.command));
    let spans = &hook.value_spans;
    let mut edits = Vec::new();
    if old.0 != new.0 {
        edits.push(TextEdit::replacement(spans.command.clone(), render::quote_json_string(new.0)));
    }
    if let (Some(span), Some(args)) = (&spans.args, new.1)
        && old.1 != new.1
    {
        edits.push(TextEdit::replacement(
            span.clone(),
            print_node(
                &render::new_word_list_node(args),
                &FileFormatting::detect("", None).new_file_formatting(),
            ),
        ));
    }
    if let Some(span) = &spans.timeout
        && hook.timeout != Some(entry.timeout.number_in_unit())
    {
        edits.push(TextEdit::replacement(span.clone(), entry.timeout.number_in_unit().to_string()));
    }
    if let (Some(span), Some(matcher)) = (&spans.matcher, &entry.matcher)
        && hook.only_in_group
        && hook.matcher.as_ref() != Some(matcher)
    {
        edits.push(TextEdit::replacement(span.clone(), render::quote_json_string(matcher)));
    }
    edits
}

fn command_and_arguments(command: &HookCommand) -> (&str, Option<&[String]>) {
    match command {
        HookCommand::Exec { program, args } => (program, Some(args)),
        HookCommand::Shell(line) => (line, None),
    }
}

/// Adds the missing hooks. They become new groups in existing arrays, new events, or a new object that contains the
/// events.
fn add_missing_hooks(
    text: &str,
    place: &HookLocation,
    survey: &SettingsSurvey,
    missing: &[&HookEntry],
) -> Result<Vec<TextEdit>, SettingsProblem> {
    if missing.is_empty() {
        return Ok(Vec::new());
    }
    let habits = FileFormatting::detect(text, survey.root.as_ref());
    let Some(root) = &survey.root else { return Ok(vec![new_file_edit(place, missing, &habits)]) };
    let Some(events) = survey.events_object(place) else {
        let spot = InsertionPoint::at_end_of(text, &habits, root, None, ExistingItems::Other);
        let object = new_events_node(missing, ContentBeforeInstall::OtherContent, &spot.formatting);
        let member = print_member(place.key.unwrap_or_default(), &object, &spot.formatting);
        return Ok(spot.insert_items(&[member]));
    };
    let mut edits = Vec::new();
    let mut new_events: Vec<&HookEntry> = Vec::new();
    for (event, entries) in group_by_event(missing) {
        let Some(index) = survey.event_index(text, place, event)? else {
            new_events.extend(entries);
            continue;
        };
        if let Some(array) = &survey.event_arrays[index] {
            let ours: Vec<&InstalledThruHook> =
                survey.our_hooks.iter().filter(|hook| hook.hook_path.event == index).collect();
            let spot = InsertionPoint::at_end_of(
                text,
                &habits,
                array,
                Some(&events.items[index]),
                ExistingItems::Same,
            );
            edits.extend(add_groups(array, spot, &ours, &entries));
        }
    }
    if !new_events.is_empty() {
        let own = survey.events_member_index.map(|member| &root.items[member]);
        let spot = InsertionPoint::at_end_of(text, &habits, events, own, ExistingItems::Same);
        edits.extend(add_events(events, spot, &survey.our_hooks, &new_events));
    }
    Ok(edits)
}

fn new_file_edit(place: &HookLocation, entries: &[&HookEntry], habits: &FileFormatting) -> TextEdit {
    let look = habits.new_file_formatting();
    let events = new_events_node(entries, ContentBeforeInstall::NoFile, &look);
    let file = match place.key {
        Some(key) => JsonNode::Object(vec![JsonNode::object_member(key, events)]),
        None => events,
    };
    TextEdit::insertion(0, print_node(&file, &look) + look.line_end)
}

/// Adds groups to an event's array. `ours` contains those of our hooks that are already in the array. Each of
/// them records what the file contained before our installation. The new groups must record the same, because
/// the old groups may be removed.
fn add_groups(
    array: &JsonContainer,
    mut spot: InsertionPoint,
    ours: &[&InstalledThruHook],
    entries: &[&HookEntry],
) -> Vec<TextEdit> {
    let before = match ours.first() {
        _ if array.items.is_empty() => ContentBeforeInstall::EmptyArray,
        Some(hook) => hook.state_before,
        None => ContentBeforeInstall::OtherContent,
    };
    spot.formatting.hooks_on_one_line |= ours.iter().any(|hook| hook.is_on_one_line);
    let groups: Vec<String> = entries
        .iter()
        .map(|entry| print_node(&new_matcher_group_node(entry, before, &spot.formatting), &spot.formatting))
        .collect();
    spot.insert_items(&groups)
}

/// Adds events to `events`, the object whose members are events. `ours` contains those of our hooks that are already in
/// the file. They record what the file contained before our installation. The new hooks must record the same (see
/// [`add_groups`]).
fn add_events(
    events: &JsonContainer,
    mut spot: InsertionPoint,
    ours: &[InstalledThruHook],
    entries: &[&HookEntry],
) -> Vec<TextEdit> {
    let known = |hook: &&InstalledThruHook| {
        matches!(hook.state_before, ContentBeforeInstall::EmptyObject | ContentBeforeInstall::NoFile)
    };
    let before = match ours.iter().find(known) {
        _ if events.items.is_empty() => ContentBeforeInstall::EmptyObject,
        Some(hook) => hook.state_before,
        None => ContentBeforeInstall::OtherContent,
    };
    spot.formatting.hooks_on_one_line |= ours.iter().any(|hook| hook.is_on_one_line);
    let member = |(event, entries): (&str, Vec<&HookEntry>)| {
        print_member(event, &new_groups_node(&entries, before, &spot.formatting), &spot.formatting)
    };
    let members: Vec<String> = group_by_event(entries).into_iter().map(member).collect();
    spot.insert_items(&members)
}

/// Groups entries by event, in the order in which events first appear.
fn group_by_event<'a>(entries: &[&'a HookEntry]) -> Vec<(&'a str, Vec<&'a HookEntry>)> {
    let mut events: Vec<(&str, Vec<&HookEntry>)> = Vec::new();
    for entry in entries {
        match events.iter_mut().find(|(event, _)| *event == entry.event) {
            Some((_, entries)) => entries.push(entry),
            None => events.push((&entry.event, vec![entry])),
        }
    }
    events
}

fn new_events_node(entries: &[&HookEntry], before: ContentBeforeInstall, look: &TextFormatting) -> JsonNode {
    let members = group_by_event(entries).into_iter();
    JsonNode::Object(
        members
            .map(|(event, entries)| JsonNode::object_member(event, new_groups_node(&entries, before, look)))
            .collect(),
    )
}

fn new_groups_node(entries: &[&HookEntry], before: ContentBeforeInstall, look: &TextFormatting) -> JsonNode {
    JsonNode::Array(entries.iter().map(|entry| new_matcher_group_node(entry, before, look)).collect())
}
