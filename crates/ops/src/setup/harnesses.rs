//! `thru harness list|show`: describe what each harness reports and does not report, and how it calls thru.

use harness::{HARNESSES, Harness, InstallMethod, SlashCommands, TranscriptSource, commands};
use serde::Serialize;

use crate::{Error, Result};

#[derive(Clone, Debug, Serialize)]
pub struct HarnessRow {
    pub name: &'static str,
    pub title: &'static str,
    pub events: Vec<EventRow>,
    pub missing: Vec<String>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct EventRow {
    pub event: &'static str,
    #[serde(rename = "neutral")]
    pub our_event: &'static str,
}

pub fn list_harnesses() -> Vec<HarnessRow> {
    HARNESSES.iter().map(harness_row).collect()
}

pub fn harness_title(name: &str) -> &str {
    harness::harness_by_name(name).map_or(name, |harness| harness.title)
}

fn harness_row(harness: &'static Harness) -> HarnessRow {
    HarnessRow {
        name: harness.name,
        title: harness.title,
        events: harness
            .events
            .iter()
            .map(|e| EventRow { event: e.harness_event, our_event: e.our_event.name() })
            .collect(),
        missing: harness.describe_gaps(),
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct HarnessShown {
    #[serde(flatten)]
    pub row: HarnessRow,
    /// The file that makes the harness call thru, relative to the harness's folder.
    #[serde(rename = "calls_from")]
    pub calling_file: String,
    pub transcript: &'static str,
    /// The slash commands, as a user types them.
    pub commands: Vec<String>,
    /// The length of the longest text that reaches the model uncut, in UTF-16 units.
    #[serde(rename = "context_cap")]
    pub max_context_length: usize,
    /// The environment variable with the id of the session in which a command runs.
    pub session_variable: Option<&'static str>,
}

pub fn show_harness(name: &str) -> Result<HarnessShown> {
    let named = |harness: &&Harness| harness.name == name || harness.aliases.contains(&name);
    let harness = HARNESSES.iter().find(named).ok_or_else(|| Error::Usage {
        what: format!("unknown harness `{name}`"),
        hint: format!("one of {}", installable_harnesses().collect::<Vec<_>>().join(", ")),
    })?;
    let file = match &harness.install {
        InstallMethod::HookTable(table) => table.local_file.unwrap_or(table.file.name),
        InstallMethod::Plugin(plugin) => plugin.file,
    };
    let program = "thru";
    let commands: Vec<String> = match harness.commands {
        SlashCommands::MarkdownFiles { .. } => {
            commands::command_files(harness, program).into_iter().map(|command| command.name).collect()
        }
        SlashCommands::InPlugin { .. } => {
            commands::plugin_commands(harness, program).into_iter().map(|command| command.name).collect()
        }
    };
    Ok(HarnessShown {
        row: harness_row(harness),
        calling_file: format!("{}/{file}", harness.folder),
        transcript: match harness.transcript {
            TranscriptSource::JsonLines { .. } => "lines of JSON, read by hooks at a checkpoint",
            TranscriptSource::Database(_) => "a database, read by commands only",
        },
        commands: commands.into_iter().map(|name| format!("/{name}")).collect(),
        max_context_length: harness.max_context_length,
        session_variable: harness.session_variable,
    })
}

/// Returns the names of the harnesses that thru can be installed into.
pub fn installable_harnesses() -> impl Iterator<Item = &'static str> {
    HARNESSES.iter().map(|harness| harness.name)
}

pub fn harness_names() -> impl Iterator<Item = &'static str> {
    harness::harness_names()
}

#[cfg(test)]
#[path = "harnesses_tests.rs"]
mod tests;
