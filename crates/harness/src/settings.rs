//! Our hooks in other people's settings files, JSON and JSON with comments: put in, updated, taken out, found.
//!
//! The file is not ours. So we never print it anew: we look where things stand and splice. What comes out is what went in
//! plus our entries, in the file's own indentation, line ends and commas; comments and others' hooks stay byte for byte.
//! Installing twice is installing once, and [`uninstall`] after [`install`] gives back the bytes from before, from the
//! file alone (see `render::Before` and `insert` for how). A file that does not parse, or has something else where hooks
//! go, is left alone with a [`Problem`] that says where.

mod command;
mod edit;
mod insert;
mod plan;
mod problem;
mod remove;
mod render;
mod scan;
mod survey;
mod tree;

pub use command::{Command, quoted};
pub use model::diff::diff;
pub use problem::Problem;

use edit::apply;
use plan::Plan;
use survey::{Hook, Survey, split_mark};

/// One hook to have in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The harness's own name for the event.
    pub event: String,
    /// Left out of the file if none: to some harnesses an empty one matches nothing.
    pub matcher: Option<String>,
    pub command: Command,
    /// Always written: some defaults are 1.5 s, some ten minutes.
    pub timeout: Timeout,
}

/// How long the harness waits for a hook, and in what unit it is told so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout {
    pub seconds: u32,
    pub unit: TimeoutUnit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutUnit {
    Seconds,
    Milliseconds,
}

impl Timeout {
    /// The number in the file.
    fn number(self) -> u32 {
        match self.unit {
            TimeoutUnit::Seconds => self.seconds,
            TimeoutUnit::Milliseconds => self.seconds.saturating_mul(1_000),
        }
    }
}

/// Where in a file the hooks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HookLocation {
    /// The key of the object whose members are events; none if events are the file's own keys.
    pub key: Option<&'static str>,
    /// The key that switches all hooks off when it is `true`.
    pub off_switch: Option<&'static str>,
}

impl HookLocation {
    /// `settings.json` and `settings.local.json` of Claude Code.
    pub const CLAUDE_CODE: HookLocation =
        HookLocation { key: Some("hooks"), off_switch: Some("disableAllHooks") };
    /// `settings.json` of Droid.
    pub const DROID_SETTINGS: HookLocation =
        HookLocation { key: Some("hooks"), off_switch: Some("hooksDisabled") };
    /// `hooks.json` of Droid: events at the top, against its documentation.
    pub const DROID_HOOKS: HookLocation = HookLocation { key: None, off_switch: None };
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
    fn new(mark: &str, text: &str, changes: Vec<Change>) -> Self {
        Outcome { bytes: [mark, text].concat().into_bytes(), changes, blank: text.trim().is_empty() }
    }

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
pub fn install(bytes: Option<&[u8]>, place: &HookLocation, entries: &[Entry]) -> Result<Outcome, Problem> {
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
    let text = apply(text, plan.edits(text, place, &survey)?);
    Ok(Outcome::new(mark, &text, changes))
}

/// Takes all hooks of ours out of a file.
pub fn uninstall(bytes: &[u8], place: &HookLocation) -> Result<Outcome, Problem> {
    let (mark, text) = split_mark(bytes)?;
    let survey = Survey::of(text, place)?;
    let all: Vec<&Hook> = survey.ours.iter().collect();
    let text = apply(text, remove::remove(text, place, &survey, &all));
    Ok(Outcome::new(mark, &text, all.iter().map(|hook| hook.removed()).collect()))
}

/// The hooks of ours that are in a file.
pub fn find(bytes: &[u8], place: &HookLocation) -> Result<Vec<Found>, Problem> {
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
pub fn switched_off(bytes: &[u8], place: &HookLocation) -> Result<Option<usize>, Problem> {
    let (_, text) = split_mark(bytes)?;
    let (Some(key), Some(root)) = (place.off_switch, Survey::of(text, place)?.root) else { return Ok(None) };
    // Twice, and the last one counts: so `JSON.parse` has it.
    let switch = root.items.iter().rev().find(|item| tree::is_named(text, item, key));
    let on = switch.filter(|item| &text[item.value.clone()] == "true");
    Ok(on.map(|item| problem::line_of(text, item.start)))
}
