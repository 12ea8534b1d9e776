//! Adds, updates, removes and finds our hooks in other people's settings files, which are JSON or JSON with comments.
//!
//! The file is not ours, so we never rewrite it. We only insert or delete text at certain positions. New entries
//! follow the file's indentation, line ends and commas. Comments and other people's hooks stay the same, byte for
//! byte. Installing twice has the same result as installing once. [`uninstall_hooks`] after [`install_hooks`]
//! restores the original bytes from the file alone (see `render::ContentBeforeInstall` and `insert`). If a file does
//! not parse, or contains an unexpected value where hooks belong, it is not changed, and a [`SettingsProblem`] gives
//! the position.

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

pub use command::{HookCommand, quote_shell_word};
pub use model::diff::unified_diff;
pub use problem::SettingsProblem;

use edit::apply_edits;
use plan::HookPlan;
use survey::{InstalledThruHook, SettingsSurvey, split_byte_order_mark};

/// A hook that the file should contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookEntry {
    /// The harness's own name for the event.
    pub event: String,
    /// The matcher. `None` leaves it out of the file, because an empty matcher matches nothing in some harnesses.
    pub matcher: Option<String>,
    pub command: HookCommand,
    /// The timeout is always written, because the default timeouts of harnesses range from 1.5 seconds to ten minutes.
    pub timeout: HookTimeout,
}

/// How long the harness waits for a hook, and the unit of this time in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HookTimeout {
    pub seconds: u32,
    pub unit: TimeoutUnit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutUnit {
    Seconds,
    Milliseconds,
}

impl HookTimeout {
    fn number_in_unit(self) -> u32 {
        match self.unit {
            TimeoutUnit::Seconds => self.seconds,
            TimeoutUnit::Milliseconds => self.seconds.saturating_mul(1_000),
        }
    }
}

/// Where the hooks are in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HookLocation {
    /// The key of the object whose members are events; `None` if events are top-level keys.
    pub key: Option<&'static str>,
    /// The key that disables all hooks when it is `true`.
    pub disabling_key: Option<&'static str>,
}

impl HookLocation {
    /// The location in `settings.json` and `settings.local.json` of Claude Code.
    pub const CLAUDE_CODE: HookLocation =
        HookLocation { key: Some("hooks"), disabling_key: Some("disableAllHooks") };
    /// The location of hooks in Droid's `settings.json`.
    pub const DROID_SETTINGS: HookLocation =
        HookLocation { key: Some("hooks"), disabling_key: Some("hooksDisabled") };
    /// The location in `hooks.json` of Droid. Events are top-level keys, contrary to Droid's documentation.
    pub const DROID_HOOKS: HookLocation = HookLocation { key: None, disabling_key: None };
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditOutcome {
    pub bytes: Vec<u8>,
    /// What happened to each of our hooks: first the hooks that match an entry, in the order of the entries, then the
    /// removed hooks.
    pub changes: Vec<HookChange>,
    /// Whether only white space is left. This happens if there was no file, or only a blank file, before we installed
    /// our hooks. The caller knows which of the two is the case.
    pub is_now_blank: bool,
}

impl EditOutcome {
    fn new(mark: &str, text: &str, changes: Vec<HookChange>) -> Self {
        EditOutcome {
            bytes: [mark, text].concat().into_bytes(),
            changes,
            is_now_blank: text.trim().is_empty(),
        }
    }

    pub fn has_changed(&self) -> bool {
        self.changes.iter().any(|change| change.kind != HookChangeKind::Kept)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookChange {
    pub event: String,
    pub kind: HookChangeKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookChangeKind {
    /// The file already contained the correct hook.
    Kept,
    Added,
    /// The hook had another command, timeout or matcher.
    Updated,
    Removed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundHook {
    pub event: String,
    pub matcher: Option<String>,
    pub command: HookCommand,
    pub timeout: Option<u32>,
    pub line: usize,
}

/// Makes `entries` our only hooks in a file. Adds missing hooks at the end of their list, changes outdated hooks in
/// place, and removes our hooks that are not in `entries`. `bytes` is `None` if there is no file.
pub fn install_hooks(
    bytes: Option<&[u8]>,
    place: &HookLocation,
    entries: &[HookEntry],
) -> Result<EditOutcome, SettingsProblem> {
    let (mark, text) = split_byte_order_mark(bytes.unwrap_or_default())?;
    let before = SettingsSurvey::survey_text(text, place)?;
    for entry in entries {
        before.event_index(text, place, &entry.event)?;
    }
    let plan = HookPlan::new(&before, entries);
    let text = &apply_edits(text, remove::removal_edits(text, place, &before, &plan.surplus));
    let changes = plan.to_changes(entries);

    let survey = SettingsSurvey::survey_text(text, place)?;
    let plan = HookPlan::new(&survey, entries);
    let text = apply_edits(text, plan.to_edits(text, place, &survey)?);
    Ok(EditOutcome::new(mark, &text, changes))
}

pub fn uninstall_hooks(bytes: &[u8], place: &HookLocation) -> Result<EditOutcome, SettingsProblem> {
    let (mark, text) = split_byte_order_mark(bytes)?;
    let survey = SettingsSurvey::survey_text(text, place)?;
    let all: Vec<&InstalledThruHook> = survey.our_hooks.iter().collect();
    let text = apply_edits(text, remove::removal_edits(text, place, &survey, &all));
    Ok(EditOutcome::new(mark, &text, all.iter().map(|hook| hook.to_removal()).collect()))
}

pub fn find_thru_hooks(bytes: &[u8], place: &HookLocation) -> Result<Vec<FoundHook>, SettingsProblem> {
    let (_, text) = split_byte_order_mark(bytes)?;
    let found = SettingsSurvey::survey_text(text, place)?.our_hooks.into_iter().map(|hook| FoundHook {
        line: problem::line_number(text, hook.text_range.start),
        event: hook.event,
        matcher: hook.matcher,
        command: hook.command,
        timeout: hook.timeout,
    });
    Ok(found.collect())
}

/// Returns the number of the line that disables all hooks. Returns `None` if hooks are not disabled.
pub fn line_disabling_hooks(bytes: &[u8], place: &HookLocation) -> Result<Option<usize>, SettingsProblem> {
    let (_, text) = split_byte_order_mark(bytes)?;
    let (Some(key), Some(root)) = (place.disabling_key, SettingsSurvey::survey_text(text, place)?.root)
    else {
        return Ok(None);
    };
    // If the key occurs twice, the last value is used, as in `JSON.parse`.
    let switch = root.items.iter().rev().find(|item| tree::has_key(text, item, key));
    let on = switch.filter(|item| &text[item.value_range.clone()] == "true");
    Ok(on.map(|item| problem::line_number(text, item.start)))
}
