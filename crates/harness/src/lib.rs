//! The formats of each harness. All functions here are pure, and none of them opens a file.
//!
//! Each harness has a row in [`HARNESSES`] and a folder. All folders contain the same files. A harness's own types
//! never leave this crate.

#![forbid(unsafe_code)]

use std::borrow::Cow;

use model::event::{Event, EventKind, EventName, ToolDone};
use model::packet::pickup::FileMentionStyle;
use model::reply::Reply;
use settings::TimeoutUnit;
use transcript::walk::JsonWalk;

pub mod agents;
mod capabilities;
pub mod claude_code;
pub mod commands;
pub mod droid;
mod fields;
mod instructions;
pub mod opencode;
pub mod plugin;
pub mod process;
pub mod settings;
pub mod status;
mod tools;
pub mod transcript;

pub use capabilities::{Capabilities, ReportCoverage};
pub use instructions::{INSTRUCTION_FILES, INSTRUCTION_FOLDERS};

/// Returns whether a payload is one complete object. The content of the object is checked when it is decoded.
pub fn is_complete_payload(payload: &[u8]) -> bool {
    let text = payload.strip_prefix(b"\xef\xbb\xbf").unwrap_or(payload).trim_ascii();
    // Check the first and last bytes before parsing, because most incomplete payloads fail this check.
    if !(text.starts_with(b"{") && text.ends_with(b"}")) {
        return false;
    }
    let mut walk = JsonWalk::new(text);
    walk.skip_value();
    !walk.is_torn() && walk.unread_bytes().is_empty()
}

#[derive(Debug)]
pub struct Harness {
    /// The name on the command line and in records.
    pub name: &'static str,
    /// The name as people write it, such as `Claude Code`.
    pub title: &'static str,
    /// Other names of the harness, in older records and on the command line.
    pub aliases: &'static [&'static str],
    /// The command that starts the harness. Its process has the same name.
    pub program: &'static str,
    /// Parts of the path of the harness's program or script. They identify the harness wherever it is installed.
    pub program_paths: &'static [&'static str],
    /// The name of the harness's settings folder, both in a project and in HOME. If `folder_variable` is set, its value
    /// replaces the folder in HOME.
    pub folder: &'static str,
    pub folder_variable: Option<&'static str>,
    pub user_folder: UserFolder,
    /// The variable that contains the project's folder while a hook runs. `None` if the harness puts that folder into
    /// the payload's `cwd` instead.
    pub project_variable: Option<&'static str>,
    /// The harness sets at least one of these variables in every process that it starts.
    pub marker_variables: &'static [&'static str],
    /// The variable that contains the session's id, if there is one.
    pub session_variable: Option<&'static str>,
    /// The events that we register for, and our names for them.
    pub events: &'static [RegisteredEvent],
    /// An event that the harness also uses to report the summary of a compaction. Such a report is recorded in the
    /// journal as a `summary` event.
    pub summary_event: Option<&'static str>,
    pub capabilities: Capabilities,
    /// Further limitations of the harness, one sentence each.
    pub limitations: &'static [&'static str],
    /// The length of the longest text that reaches the model in full, in UTF-16 units.
    pub max_context_length: usize,
    pub decode: DecodeFn,
    pub encode: fn(&Reply, &EventKind) -> Vec<u8>,
    /// Returns the text of a tool's result if a hook may replace it. Results of tools that read files are never
    /// replaced, because a model that requests a file needs the whole file.
    pub replaceable_text: ReplaceableTextFn,
    pub transcript: TranscriptSource,
    /// How many times in a row a stop hook may make the agent continue; `None` if there is no limit.
    pub stop_block_limit: Option<StopBlockLimit>,
    /// Reads the user's settings and returns the number of days after which the harness deletes transcripts; `None`
    /// if it keeps them.
    pub retention_days: fn(&str) -> Option<u32>,
    /// How a prompt must mention a file so that the harness reads the file.
    pub mention_style: FileMentionStyle,
    /// Paths of the files in which a project describes its agents for this harness, relative to the project. `{role}`
    /// is the role's name.
    pub agent_description_files: &'static [&'static str],
    pub install: InstallMethod,
    /// How our status line is installed; `None` if the harness does not let programs write its status line.
    pub status_line: Option<status::StatusLineSupport>,
    pub commands: SlashCommands,
    /// How agents are defined; `None` if the harness does not read agents from files.
    pub agents: Option<agents::AgentFiles>,
}

/// Where a harness's transcript is, and how it is read.
#[derive(Clone, Copy, Debug)]
pub enum TranscriptSource {
    /// A file of JSON lines to which the harness appends. Hook payloads contain its path.
    JsonLines { read_line: transcript::ReadLine },
    /// A database that is queried through the harness's own program or `sqlite3`. Hooks never read it, because a query
    /// starts a process.
    Database(SessionDatabase),
}

#[derive(Clone, Copy, Debug)]
pub struct SessionDatabase {
    /// Reads one row of the query's result.
    pub read_line: transcript::ReadLine,
    /// The path of the database file, relative to the user's data folder.
    pub file: &'static str,
    /// The variable that selects a different file. Its value is an absolute path, or the name of a file in the folder
    /// that contains `file`.
    pub file_variable: &'static str,
    /// The arguments that make the harness's own program print the result of a query as JSON; `{query}` is the query.
    pub arguments: &'static [&'static str],
    /// The variables that keep the harness's own program from using the network.
    pub offline_variables: &'static [(&'static str, &'static str)],
    /// The query that selects a session's rows. Each row has one column, `line`, which contains a JSON object.
    /// `{session}` stands for the session's id.
    pub query: &'static str,
}

impl TranscriptSource {
    pub fn read_line(&self) -> transcript::ReadLine {
        match self {
            TranscriptSource::JsonLines { read_line }
            | TranscriptSource::Database(SessionDatabase { read_line, .. }) => *read_line,
        }
    }
}

/// Where a harness keeps its per-user folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserFolder {
    /// In HOME, under the same name as in a project.
    Folder,
    /// In `$XDG_CONFIG_HOME` or `~/.config`, under this name.
    Config(&'static str),
}

/// How thru is installed so that a harness calls it.
#[derive(Clone, Copy, Debug)]
pub enum InstallMethod {
    /// Entries in a table of hooks, in a JSON settings file.
    HookTable(HookTable),
    /// Our plugin, which the harness loads.
    Plugin(Plugin),
}

/// Our plugin for a harness. All installations have the same plugin file, except for one line.
#[derive(Clone, Copy, Debug)]
pub struct Plugin {
    /// The path of the file, relative to the harness's folder.
    pub file: &'static str,
    pub file_text: &'static str,
    /// The beginning of the line that an installation fills in; see [`plugin::PluginSettings`].
    pub settings_line_start: &'static str,
}

/// A table of hooks: the file that contains it, and how a hook is written in it.
#[derive(Clone, Copy, Debug)]
pub struct HookTable {
    /// The file for one user in one project; `None` if the harness has no local file.
    pub local_file: Option<&'static str>,
    /// Whether the local file of the main checkout also applies to the other worktrees of a repository.
    pub local_serves_worktrees: bool,
    /// The settings file. Each user and each project has one.
    pub file: SettingsFile,
    /// A file that is used instead of `file` if it already contains hooks and `file` does not exist.
    pub alternative_file: Option<SettingsFile>,
    pub hook_form: HookForm,
    pub timeout_unit: TimeoutUnit,
    /// Whether the harness silently ignores a whole settings file with comments or trailing commas.
    pub rejects_comments: bool,
}

/// How a harness gets slash commands.
#[derive(Clone, Copy, Debug)]
pub enum SlashCommands {
    /// Markdown files in the subfolder `commands` of the harness's settings folder.
    MarkdownFiles {
        own_commands: OwnCommands,
        /// Whether the harness runs lines that begin with `!` before the model sees the command.
        runs_shell_lines: bool,
    },
    /// The plugin adds the commands.
    InPlugin { own_commands: OwnCommands },
}

/// The slash commands that a harness has itself. Our commands must not hide them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnCommands {
    /// The version of the harness whose commands are listed.
    pub version: &'static str,
    /// The names of the commands and their aliases.
    pub names: &'static [&'static str],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingsFile {
    pub name: &'static str,
    pub hook_location: settings::HookLocation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookForm {
    /// Program and arguments, without a shell.
    Exec,
    /// A line for `sh`.
    Shell,
}

/// How many times in a row a stop can be blocked without a tool call in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopBlockLimit {
    pub max_blocks: u64,
    /// The variable that overrides the limit. The value 0 removes the limit.
    pub variable: &'static str,
}

/// An event that we register for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisteredEvent {
    /// The harness's name for the event.
    pub harness_event: &'static str,
    /// Our name for the event.
    pub our_event: EventName,
    /// The number of seconds after which the harness may kill our hook. The limit is far higher than needed, to allow
    /// for a slow disk.
    pub timeout: u32,
}

/// The timeout of the hook at a stop, in seconds. The validators of a loop may run during this hook. The timeout equals
/// the default of `loops.validator_timeout`; an installation uses the configured value.
pub const STOP_HOOK_TIMEOUT_SECONDS: u32 = 300;

/// Decodes a payload. The second argument is the event's name from the command line, which is used if the payload does
/// not contain one.
pub type DecodeFn = for<'a> fn(&'a [u8], &'a str) -> Result<Event<'a>, UndecodablePayload>;

pub type ReplaceableTextFn = for<'a> fn(&ToolDone<'a>) -> Option<Cow<'a, str>>;

pub const HARNESSES: &[Harness] = &[claude_code::HARNESS_ROW, droid::HARNESS_ROW, opencode::HARNESS_ROW];

/// Harnesses that thru cannot be installed into yet. thru can import packets from them, and write prompts for them.
pub const OTHER_HARNESSES: &[HarnessWithoutInstallation] = &[
    HarnessWithoutInstallation { name: "codex", mention_style: FileMentionStyle::Plain },
    HarnessWithoutInstallation { name: "gemini", mention_style: FileMentionStyle::At },
];

#[derive(Clone, Copy, Debug)]
pub struct HarnessWithoutInstallation {
    pub name: &'static str,
    pub mention_style: FileMentionStyle,
}

pub fn harness_by_name(name: &str) -> Option<&'static Harness> {
    HARNESSES.iter().find(|harness| harness.name == name)
}

pub fn harness_names() -> impl Iterator<Item = &'static str> {
    HARNESSES.iter().map(|harness| harness.name).chain(OTHER_HARNESSES.iter().map(|other| other.name))
}

/// Returns how prompts for a harness mention files. `word` is the harness's name or alias. Returns `None` if the
/// harness is unknown.
pub fn mention_style(word: &str) -> Option<FileMentionStyle> {
    let named = |harness: &&Harness| harness.name == word || harness.aliases.contains(&word);
    let other = || OTHER_HARNESSES.iter().find(|other| other.name == word).map(|other| other.mention_style);
    HARNESSES.iter().find(named).map(|harness| harness.mention_style).or_else(other)
}

/// Why a payload cannot be decoded. The reason is recorded in the receipt and never shown to a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UndecodablePayload {
    NotAnObject(String),
    NoSession,
}

impl std::fmt::Display for UndecodablePayload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            UndecodablePayload::NotAnObject(why) => write!(f, "the payload is not a JSON object: {why}"),
            UndecodablePayload::NoSession => f.write_str("the payload has no session id"),
        }
    }
}
