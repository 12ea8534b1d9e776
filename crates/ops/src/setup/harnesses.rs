//! `thru harness list` and `show`: what each harness reports, what it does not report, and how it calls us.

use harness::{Commands, HARNESSES, Harness, Install, Transcript, commands};
use serde::Serialize;

use crate::{Error, Result};

#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub name: &'static str,
    pub title: &'static str,
    pub events: Vec<EventRow>,
    pub missing: Vec<String>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct EventRow {
    pub event: &'static str,
    pub neutral: &'static str,
}

pub fn list() -> Vec<Row> {
    HARNESSES.iter().map(row).collect()
}

/// Returns the name that people use for a harness.
pub fn title(name: &'static str) -> &'static str {
    harness::by_name(name).map_or(name, |harness| harness.title)
}

fn row(harness: &'static Harness) -> Row {
    Row {
        name: harness.name,
        title: harness.title,
        events: harness
            .events
            .iter()
            .map(|e| EventRow { event: e.event, neutral: e.neutral.name() })
            .collect(),
        missing: harness.gaps(),
    }
}

/// One harness, and how it calls us.
#[derive(Clone, Debug, Serialize)]
pub struct Shown {
    #[serde(flatten)]
    pub row: Row,
    /// The file that makes the harness call us, relative to the harness's folder.
    pub calls_from: String,
    pub transcript: &'static str,
    /// Slash commands, as a user types them.
    pub commands: Vec<String>,
    /// The longest text that reaches the model without being cut, in UTF-16 units.
    pub context_cap: usize,
    /// The variable that tells a command which session it runs in.
    pub session_variable: Option<&'static str>,
}

pub fn show(name: &str) -> Result<Shown> {
    let named = |harness: &&Harness| harness.name == name || harness.aliases.contains(&name);
    let harness = HARNESSES.iter().find(named).ok_or_else(|| Error::Usage {
        what: format!("unknown harness `{name}`"),
        hint: format!("one of {}", wirable().collect::<Vec<_>>().join(", ")),
    })?;
    let file = match &harness.install {
        Install::HookTable(table) => table.local.unwrap_or(table.file.name),
        Install::Plugin(plugin) => plugin.file,
    };
    let program = "thru";
    let commands: Vec<String> = match harness.commands {
        Commands::MarkdownFiles { .. } => {
            commands::all(harness, program).into_iter().map(|command| command.name).collect()
        }
        Commands::InPlugin { .. } => {
            commands::for_plugin(harness, program).into_iter().map(|command| command.name).collect()
        }
    };
    Ok(Shown {
        row: row(harness),
        calls_from: format!("{}/{file}", harness.folder),
        transcript: match harness.transcript {
            Transcript::JsonLines { .. } => "lines of JSON, read by hooks at a checkpoint",
            Transcript::Database(_) => "a database, read by commands only",
        },
        commands: commands.into_iter().map(|name| format!("/{name}")).collect(),
        context_cap: harness.context_cap,
        session_variable: harness.session,
    })
}

/// Returns the names of the harnesses that thru can be installed into.
pub fn wirable() -> impl Iterator<Item = &'static str> {
    HARNESSES.iter().map(|harness| harness.name)
}

/// Returns the names of all harnesses for which a prompt can be written.
pub fn names() -> impl Iterator<Item = &'static str> {
    harness::names()
}

#[cfg(test)]
#[path = "harnesses_tests.rs"]
mod tests;
