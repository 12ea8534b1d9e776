//! Determines the edits that turn our hooks in a file into the hooks that should be there.

use super::command::Command;
use super::edit::Edit;
use super::insert::{FileFormatting, InsertionPoint, Siblings};
use super::render::{self, Before, Look, Node, group, print, print_member};
use super::survey::{Hook, Survey};
use super::tree::Container;
use super::{Change, Entry, HookLocation, Problem, What};

/// Which hook in the file matches which entry.
pub struct Plan<'a> {
    pairs: Vec<(&'a Hook, &'a Entry)>,
    missing: Vec<&'a Entry>,
    /// Our hooks that no entry asks for.
    pub surplus: Vec<&'a Hook>,
}

impl<'a> Plan<'a> {
    pub fn new(survey: &'a Survey, entries: &'a [Entry]) -> Self {
        let mut surplus: Vec<&Hook> = survey.ours.iter().collect();
        let mut missing: Vec<&Entry> = entries.iter().collect();
        let mut pairs = Vec::new();
        // First keep the hooks that are already correct, then change other hooks into missing ones.
        for fits in [Hook::is, Hook::can_become] {
            missing.retain(|entry| match surplus.iter().position(|hook| fits(hook, entry)) {
                Some(index) => {
                    pairs.push((surplus.remove(index), *entry));
                    false
                }
                None => true,
            });
        }
        Plan { pairs, missing, surplus }
    }

    /// Returns the edits that update existing hooks and add missing ones.
    pub fn edits(&self, text: &str, place: &HookLocation, survey: &Survey) -> Result<Vec<Edit>, Problem> {
        let mut edits: Vec<Edit> = self.pairs.iter().flat_map(|(hook, entry)| update(hook, entry)).collect();
        edits.extend(add(text, place, survey, &self.missing)?);
        Ok(edits)
    }

    /// Returns what the plan does to each hook.
    pub fn changes(&self, entries: &[Entry]) -> Vec<Change> {
        let mut replaced: Vec<&Hook> = self.surplus.clone();
        let mut changes: Vec<Change> = Vec::new();
        for entry in entries {
            let what = match self.pairs.iter().find(|(_, paired)| std::ptr::eq(*paired, entry)) {
                Some((hook, _)) if hook.is(entry) => What::Kept,
                Some(_) => What::Updated,
                None => match replaced.iter().position(|hook| hook.event == entry.event) {
                    Some(index) => {
                        replaced.remove(index);
                        What::Updated
                    }
                    None => What::Added,
                },
            };
            changes.push(Change { event: entry.event.clone(), what });
        }
        changes.extend(replaced.iter().map(|hook| hook.removed()));
        changes
    }
}

/// Changes only the values in which a hook differs from its entry.
fn update(hook: &Hook, entry: &Entry) -> Vec<Edit> {
    let (old, new) = (parts(&hook.command), parts(&entry.command));
    let spans = &hook.spans;
    let mut edits = Vec::new();
    if old.0 != new.0 {
        edits.push(Edit::replace(spans.command.clone(), render::string(new.0)));
    }
    if let (Some(span), Some(args)) = (&spans.args, new.1)
        && old.1 != new.1
    {
        edits.push(Edit::replace(
            span.clone(),
            print(&render::words(args), &FileFormatting::of("", None).look()),
        ));
    }
    if let Some(span) = &spans.timeout
        && hook.timeout != Some(entry.timeout.number())
    {
        edits.push(Edit::replace(span.clone(), entry.timeout.number().to_string()));
    }
    if let (Some(span), Some(matcher)) = (&spans.matcher, &entry.matcher)
        && hook.alone
        && hook.matcher.as_ref() != Some(matcher)
    {
        edits.push(Edit::replace(span.clone(), render::string(matcher)));
    }
    edits
}

fn parts(command: &Command) -> (&str, Option<&[String]>) {
    match command {
        Command::Exec { program, args } => (program, Some(args)),
        Command::Shell(line) => (line, None),
    }
}

/// Adds what is missing: groups to existing arrays, events to the events' object, or the object itself.
fn add(text: &str, place: &HookLocation, survey: &Survey, missing: &[&Entry]) -> Result<Vec<Edit>, Problem> {
    if missing.is_empty() {
        return Ok(Vec::new());
    }
    let habits = FileFormatting::of(text, survey.root.as_ref());
    let Some(root) = &survey.root else { return Ok(vec![new_file(place, missing, &habits)]) };
    let Some(events) = survey.events(place) else {
        let spot = InsertionPoint::find(text, &habits, root, None, Siblings::Other);
        let object = events_node(missing, Before::Something, &spot.look);
        let member = print_member(place.key.unwrap_or_default(), &object, &spot.look);
        return Ok(spot.insert(&[member]));
    };
    let mut edits = Vec::new();
    let mut new_events: Vec<&Entry> = Vec::new();
    for (event, entries) in by_event(missing) {
        let Some(index) = survey.event(text, place, event)? else {
            new_events.extend(entries);
            continue;
        };
        if let Some(array) = &survey.arrays[index] {
            let ours: Vec<&Hook> = survey.ours.iter().filter(|hook| hook.at.event == index).collect();
            let spot = InsertionPoint::find(text, &habits, array, Some(&events.items[index]), Siblings::Same);
            edits.extend(new_groups(array, spot, &ours, &entries));
        }
    }
    if !new_events.is_empty() {
        let own = survey.member.map(|member| &root.items[member]);
        let spot = InsertionPoint::find(text, &habits, events, own, Siblings::Same);
        edits.extend(new_members(events, spot, &survey.ours, &new_events));
    }
    Ok(edits)
}

fn new_file(place: &HookLocation, entries: &[&Entry], habits: &FileFormatting) -> Edit {
    let look = habits.look();
    let events = events_node(entries, Before::NoFile, &look);
    let file = match place.key {
        Some(key) => Node::Object(vec![Node::member(key, events)]),
        None => events,
    };
    Edit::insert(0, print(&file, &look) + look.line_end)
}

/// Adds groups to an event's array. `ours` are our hooks that are already in the array. They record what was there
/// before us, and the new groups must record the same, because the old ones may be removed.
fn new_groups(array: &Container, mut spot: InsertionPoint, ours: &[&Hook], entries: &[&Entry]) -> Vec<Edit> {
    let before = match ours.first() {
        _ if array.items.is_empty() => Before::EmptyArray,
        Some(hook) => hook.before,
        None => Before::Something,
    };
    spot.look.short_hooks |= ours.iter().any(|hook| hook.short);
    let groups: Vec<String> =
        entries.iter().map(|entry| print(&group(entry, before, &spot.look), &spot.look)).collect();
    spot.insert(&groups)
}

/// Adds events to the events' object. `ours` are our hooks that are already in the file. The new hooks record the same
/// as these do (see [`new_groups`]).
fn new_members(events: &Container, mut spot: InsertionPoint, ours: &[Hook], entries: &[&Entry]) -> Vec<Edit> {
    let known = |hook: &&Hook| matches!(hook.before, Before::EmptyObject | Before::NoFile);
    let before = match ours.iter().find(known) {
        _ if events.items.is_empty() => Before::EmptyObject,
        Some(hook) => hook.before,
        None => Before::Something,
    };
    spot.look.short_hooks |= ours.iter().any(|hook| hook.short);
    let member = |(event, entries): (&str, Vec<&Entry>)| {
        print_member(event, &array_node(&entries, before, &spot.look), &spot.look)
    };
    let members: Vec<String> = by_event(entries).into_iter().map(member).collect();
    spot.insert(&members)
}

/// Groups entries by event, in the order in which events first appear.
fn by_event<'a>(entries: &[&'a Entry]) -> Vec<(&'a str, Vec<&'a Entry>)> {
    let mut events: Vec<(&str, Vec<&Entry>)> = Vec::new();
    for entry in entries {
        match events.iter_mut().find(|(event, _)| *event == entry.event) {
            Some((_, entries)) => entries.push(entry),
            None => events.push((&entry.event, vec![entry])),
        }
    }
    events
}

fn events_node(entries: &[&Entry], before: Before, look: &Look) -> Node {
    let members = by_event(entries).into_iter();
    Node::Object(
        members.map(|(event, entries)| Node::member(event, array_node(&entries, before, look))).collect(),
    )
}

fn array_node(entries: &[&Entry], before: Before, look: &Look) -> Node {
    Node::Array(entries.iter().map(|entry| group(entry, before, look)).collect())
}
