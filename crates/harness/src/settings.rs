//! Our hooks in other people's settings files, JSON and JSON with comments: put in, updated, taken out, found.
//!
//! The file is not ours. So we never print it anew: we look where things stand and splice. What comes out is what went in
//! plus our entries, in the file's own indentation, line ends and commas; comments and others' hooks stay byte for byte.
//! Installing twice is installing once, and [`uninstall`] after [`install`] gives back the bytes from before, from the
//! file alone (see `render::Before` and `insert` for how). A file that does not parse, or has something else where hooks
//! go, is left alone with a [`Problem`] that says where.

mod command;
mod diff;
mod edit;
mod insert;
mod problem;
mod remove;
mod render;
mod scan;
mod survey;
mod tree;

pub use command::Command;
pub use diff::diff;
pub use problem::Problem;

use edit::{Edit, apply};
use insert::{Habits, Kin, Spot};
use render::{Before, Look, Node, group, print, print_member};
use survey::{Hook, Survey, split_mark};

/// One hook to have in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The harness's own name for the event.
    pub event: String,
    /// Left out of the file if none: to some harnesses an empty one matches nothing.
    pub matcher: Option<String>,
    pub command: Command,
    /// In the unit of the harness. Always written: some defaults are 1.5 s, some ten minutes.
    pub timeout: u32,
}

/// Where in a file the hooks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The key of the object whose members are events; none if events are the file's own keys.
    pub key: Option<&'static str>,
    /// The key that switches all hooks off when it is `true`.
    pub off_switch: Option<&'static str>,
}

impl Place {
    /// `settings.json` and `settings.local.json` of Claude Code.
    pub const CLAUDE_CODE: Place = Place { key: Some("hooks"), off_switch: Some("disableAllHooks") };
    /// `settings.json` of Droid.
    pub const DROID_SETTINGS: Place = Place { key: Some("hooks"), off_switch: Some("hooksDisabled") };
    /// `hooks.json` of Droid: events at the top, against its documentation.
    pub const DROID_HOOKS: Place = Place { key: None, off_switch: None };
}

/// What a file has become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub bytes: Vec<u8>,
    /// What happened to each hook of ours, in the order of the entries, then those taken out.
    pub changes: Vec<Change>,
    /// There is nothing left but blanks: before us there was no file, or one like this. Whoever knows which does the rest.
    pub blank: bool,
}

impl Outcome {
    pub fn changed(&self) -> bool {
        self.changes.iter().any(|change| change.what != What::Kept)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub event: String,
    pub what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It was there and right.
    Kept,
    Added,
    /// It was there with another path, time or matcher.
    Updated,
    Removed,
}

/// A hook of ours that is in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub event: String,
    pub matcher: Option<String>,
    pub command: Command,
    pub timeout: Option<u32>,
    pub line: usize,
}

/// Makes the hooks of ours in a file be exactly `entries`: what is missing is added at the end of where it belongs, what
/// differs is changed in place, what is of ours and not asked for goes. `bytes` is none where there is no file.
pub fn install(bytes: Option<&[u8]>, place: &Place, entries: &[Entry]) -> Result<Outcome, Problem> {
    let (mark, text) = split_mark(bytes.unwrap_or_default())?;
    let before = Survey::of(text, place)?;
    for entry in entries {
        before.event(text, place, &entry.event)?;
    }
    let plan = Plan::new(&before, entries);
    let text = &apply(text, remove::remove(text, place, &before, &plan.surplus));
    let changes = plan.changes(entries);

    let survey = Survey::of(text, place)?;
    let plan = Plan::new(&survey, entries);
    let mut edits: Vec<Edit> = plan.pairs.iter().flat_map(|(hook, entry)| update(hook, entry)).collect();
    edits.extend(add(text, place, &survey, &plan.missing)?);
    let text = apply(text, edits);
    Ok(Outcome { blank: text.trim().is_empty(), bytes: [mark, &text].concat().into_bytes(), changes })
}

/// Takes all hooks of ours out of a file.
pub fn uninstall(bytes: &[u8], place: &Place) -> Result<Outcome, Problem> {
    let (mark, text) = split_mark(bytes)?;
    let survey = Survey::of(text, place)?;
    let all: Vec<&Hook> = survey.ours.iter().collect();
    let changes = all.iter().map(|hook| Change { event: hook.event.clone(), what: What::Removed }).collect();
    let text = apply(text, remove::remove(text, place, &survey, &all));
    Ok(Outcome { blank: text.trim().is_empty(), bytes: [mark, &text].concat().into_bytes(), changes })
}

/// The hooks of ours that are in a file.
pub fn find(bytes: &[u8], place: &Place) -> Result<Vec<Found>, Problem> {
    let (_, text) = split_mark(bytes)?;
    let found = Survey::of(text, place)?.ours.into_iter().map(|hook| Found {
        line: problem::line_of(text, hook.range.start),
        event: hook.event,
        matcher: hook.matcher,
        command: hook.command,
        timeout: hook.timeout,
    });
    Ok(found.collect())
}

/// The line of the setting that switches all hooks off, if it is there and `true`.
pub fn switched_off(bytes: &[u8], place: &Place) -> Result<Option<usize>, Problem> {
    let (_, text) = split_mark(bytes)?;
    let (Some(key), Some(root)) = (place.off_switch, Survey::of(text, place)?.root) else { return Ok(None) };
    // Twice, and the last one counts: so `JSON.parse` has it.
    let switch = root.items.iter().rev().find(|item| tree::is_named(text, item, key));
    let on = switch.filter(|item| &text[item.value.clone()] == "true");
    Ok(on.map(|item| problem::line_of(text, item.start)))
}

/// Which hook in the file stands for which entry.
struct Plan<'a> {
    pairs: Vec<(&'a Hook, &'a Entry)>,
    missing: Vec<&'a Entry>,
    /// Hooks of ours that nobody asks for.
    surplus: Vec<&'a Hook>,
}

impl<'a> Plan<'a> {
    fn new(survey: &'a Survey, entries: &'a [Entry]) -> Self {
        let mut surplus: Vec<&Hook> = survey.ours.iter().collect();
        let mut missing: Vec<&Entry> = entries.iter().collect();
        let mut pairs = Vec::new();
        // What is right stays, before anything is bent to fit.
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

    fn changes(&self, entries: &[Entry]) -> Vec<Change> {
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
        let removed = replaced.iter().map(|hook| Change { event: hook.event.clone(), what: What::Removed });
        changes.into_iter().chain(removed.collect::<Vec<_>>()).collect()
    }
}

/// Changes the values in which a hook differs from its entry, and no other byte.
fn update(hook: &Hook, entry: &Entry) -> Vec<Edit> {
    if hook.is(entry) {
        return Vec::new();
    }
    let mut edits = Vec::new();
    let (program, args) = match &entry.command {
        Command::Exec { program, args } => (program, Some(args)),
        Command::Shell(line) => (line, None),
    };
    match &hook.command {
        Command::Exec { program: old, .. } | Command::Shell(old) if old != program => {
            edits.push(Edit::replace(hook.spans.command.clone(), render::string(program)));
        }
        _ => {}
    }
    if let (Some(args), Command::Exec { args: old, .. }, Some(span)) = (args, &hook.command, &hook.spans.args)
        && old != args
    {
        let look = Habits::of("", None).look();
        edits.push(Edit::replace(span.clone(), print(&render::words(args), &look)));
    }
    if let Some(span) = &hook.spans.timeout
        && hook.timeout != Some(entry.timeout)
    {
        edits.push(Edit::replace(span.clone(), entry.timeout.to_string()));
    }
    if let (true, Some(span), Some(matcher)) = (hook.alone, &hook.spans.matcher, &entry.matcher)
        && hook.matcher.as_ref() != Some(matcher)
    {
        edits.push(Edit::replace(span.clone(), render::string(matcher)));
    }
    edits
}

/// Puts in what is missing: groups into arrays that are there, events into the events' object, or the object itself.
fn add(text: &str, place: &Place, survey: &Survey, missing: &[&Entry]) -> Result<Vec<Edit>, Problem> {
    if missing.is_empty() {
        return Ok(Vec::new());
    }
    let habits = Habits::of(text, survey.root.as_ref());
    let Some(root) = &survey.root else {
        let look = habits.look();
        let events = events_node(missing, Before::NoFile, &look);
        let file = match place.key {
            Some(key) => Node::Object(vec![Node::member(key, events)]),
            None => events,
        };
        return Ok(vec![Edit::insert(0, print(&file, &look) + look.line_end)]);
    };
    let Some(events) = survey.events(place) else {
        let spot = Spot::find(text, &habits, root, None, Kin::Other);
        let node = events_node(missing, Before::Something, &spot.look);
        let member = print_member(place.key.unwrap_or_default(), &node, &spot.look);
        return Ok(spot.insert(&[member]));
    };

    let mut edits = Vec::new();
    let mut new_events: Vec<&Entry> = Vec::new();
    for (index, entries) in by_event(missing) {
        let Some(found) = survey.event(text, place, index)? else {
            new_events.extend(entries);
            continue;
        };
        let Some(array) = &survey.arrays[found] else { continue };
        let ours: Vec<&Hook> = survey.ours.iter().filter(|hook| hook.at.event == found).collect();
        let before = match ours.first() {
            _ if array.items.is_empty() => Before::EmptyArray,
            Some(hook) => hook.before,
            None => Before::Something,
        };
        let mut spot = Spot::find(text, &habits, array, Some(&events.items[found]), Kin::Same);
        spot.look.short_hooks |= ours.iter().any(|hook| hook.short);
        let groups: Vec<String> =
            entries.iter().map(|entry| print(&group(entry, before, &spot.look), &spot.look)).collect();
        edits.extend(spot.insert(&groups));
    }
    if !new_events.is_empty() {
        // Hooks of an earlier version know what was here before them; those of today must not forget it.
        let known = |hook: &&Hook| matches!(hook.before, Before::EmptyObject | Before::NoFile);
        let before = match survey.ours.iter().find(known) {
            _ if events.items.is_empty() => Before::EmptyObject,
            Some(hook) => hook.before,
            None => Before::Something,
        };
        let own = survey.member.map(|member| &root.items[member]);
        let mut spot = Spot::find(text, &habits, events, own, Kin::Same);
        spot.look.short_hooks |= survey.ours.iter().any(|hook| hook.short);
        let members: Vec<String> = by_event(&new_events)
            .into_iter()
            .map(|(event, entries)| {
                print_member(event, &array_node(&entries, before, &spot.look), &spot.look)
            })
            .collect();
        edits.extend(spot.insert(&members));
    }
    Ok(edits)
}

/// Entries of one event together, events in the order in which they first come.
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
