//! Edits our hooks in other people's settings files (JSON, and JSON with comments): adds, updates, removes and finds
//! them.
//!
//! The file is not ours, so we never rewrite it. We find positions and insert or delete text there. The result is the
//! input plus our entries, in the file's own indentation, line ends and commas; comments and other people's hooks stay
//! byte for byte. Installing twice has the same result as installing once. [`uninstall`] after [`install`] restores the
//! original bytes from the file alone (see `render::Before` and `insert`). A file that does not parse, or has another
//! kind of value where hooks belong, is left alone, with a [`Problem`] that names the position.

mod command;
mod edit;
mod insert;
mod plan;
mod problem;
mod remove;
mod render;
mod scan;
pub mod status_line;
mod survey;
mod tree;

pub use command::{Command, quoted};
pub use model::diff::diff;
pub use problem::Problem;

use edit::apply;
use plan::Plan;
use survey::{Hook, Survey, split_mark};

/// One hook that the file should contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The harness's own name for the event.
    pub event: String,
    /// `None` leaves the matcher out of the file, because in some harnesses an empty matcher matches nothing.
    pub matcher: Option<String>,
    pub command: Command,
    /// The timeout is always written, because the defaults range from 1.5 seconds to ten minutes.
    pub timeout: Timeout,
}

/// How long the harness waits for a hook, and in which unit the file gives that time.
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
    /// Returns the number that is written to the file.
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
    /// The key of the object whose members are events; `None` if events are top-level keys.
    pub key: Option<&'static str>,
    /// The key that disables all hooks when it is `true`.
    pub off_switch: Option<&'static str>,
}

impl HookLocation {
    /// The location in `settings.json` and `settings.local.json` of Claude Code.
    pub const CLAUDE_CODE: HookLocation =
        HookLocation { key: Some("hooks"), off_switch: Some("disableAllHooks") };
    /// The location in `settings.json` of Droid.
    pub const DROID_SETTINGS: HookLocation =
        HookLocation { key: Some("hooks"), off_switch: Some("hooksDisabled") };
    /// The location in `hooks.json` of Droid. Events are top-level keys, contrary to Droid's documentation.
    pub const DROID_HOOKS: HookLocation = HookLocation { key: None, off_switch: None };
}

/// The result of editing a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub bytes: Vec<u8>,
    /// What happened to each of our hooks: first the hooks of the entries, in the order of the entries, then the
    /// removed hooks.
    pub changes: Vec<Change>,
    /// True if only white space is left, because there was no file, or a blank one, before we installed our hooks. The
    /// caller knows which of the two it was.
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
    /// The hook was already there and correct.
    Kept,
    Added,
    /// The hook had another command, timeout or matcher.
    Updated,
    Removed,
}

/// One of our hooks, found in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub event: String,
    pub matcher: Option<String>,
    pub command: Command,
    pub timeout: Option<u32>,
    pub line: usize,
}

/// Changes a file so that our hooks in it are exactly `entries`: adds missing hooks at the end of their list, changes
/// differing ones in place, and removes those that `entries` does not contain. `bytes` is `None` if there is no file.
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

/// Removes all our hooks from a file.
pub fn uninstall(bytes: &[u8], place: &HookLocation) -> Result<Outcome, Problem> {
    let (mark, text) = split_mark(bytes)?;
    let survey = Survey::of(text, place)?;
    let all: Vec<&Hook> = survey.ours.iter().collect();
    let text = apply(text, remove::remove(text, place, &survey, &all));
    Ok(Outcome::new(mark, &text, all.iter().map(|hook| hook.removed()).collect()))
}

/// Finds our hooks in a file.
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

/// Returns the number of the line with the setting that disables all hooks, if that setting is `true`.
pub fn switched_off(bytes: &[u8], place: &HookLocation) -> Result<Option<usize>, Problem> {
    let (_, text) = split_mark(bytes)?;
    let (Some(key), Some(root)) = (place.off_switch, Survey::of(text, place)?.root) else { return Ok(None) };
    // If the key occurs twice, the last one counts, as in `JSON.parse`.
    let switch = root.items.iter().rev().find(|item| tree::is_named(text, item, key));
    let on = switch.filter(|item| &text[item.value.clone()] == "true");
    Ok(on.map(|item| problem::line_of(text, item.start)))
}
