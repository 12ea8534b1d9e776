//! The formats of each harness. Everything here is pure: bytes in, values out.
//!
//! Each harness has a row in [`HARNESSES`] and a folder, and all these folders contain the same files. A harness's own
//! types never leave this crate.

#![forbid(unsafe_code)]

use std::borrow::Cow;

use model::event::{Event, EventKind, EventName, ToolDone};
use model::packet::pickup::MentionStyle;
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

pub use capabilities::{Capabilities, Coverage};
pub use instructions::{INSTRUCTION_FILES, INSTRUCTION_FOLDERS};

/// Returns whether a payload is complete, that is, one closed object. Its content is checked when it is decoded.
pub fn is_complete_payload(payload: &[u8]) -> bool {
    let text = payload.strip_prefix(b"\xef\xbb\xbf").unwrap_or(payload).trim_ascii();
    // Check the first and last byte first: most incomplete payloads fail here.
    if !(text.starts_with(b"{") && text.ends_with(b"}")) {
        return false;
    }
    let mut walk = JsonWalk::new(text);
    walk.skip_value();
    !walk.is_torn() && walk.unread_bytes().is_empty()
}

/// What we know about one harness.
#[derive(Debug)]
pub struct Harness {
    /// The name on the command line and in records.
    pub name: &'static str,
    /// The name that people use.
    pub title: &'static str,
    /// Other names of the harness, in older records and on the command line.
    pub aliases: &'static [&'static str],
    /// The command that starts the harness; its process has the same name.
    pub program: &'static str,
    /// Parts of the path of the harness's program or script that identify the harness wherever it is installed.
    pub program_paths: &'static [&'static str],
    /// The folder of the harness's settings, in a project and in HOME. A variable can name another folder instead of
    /// the one in HOME.
    pub folder: &'static str,
    pub folder_variable: Option<&'static str>,
    /// Where its per-user folder is.
    pub home: UserFolder,
    /// The variable that contains the project's folder while a hook runs. `None` if the payload's `cwd` is that
    /// folder.
    pub project_dir: Option<&'static str>,
    /// Variables of which at least one is set in every process that the harness starts.
    pub presence: &'static [&'static str],
    /// The variable that contains the session's id, if there is one.
    pub session: Option<&'static str>,
    /// The events that we register for, and our names for them.
    pub events: &'static [WiredEvent],
    /// The event that also reports the summary of a compaction. The journal then contains a `summary` event instead.
    pub brings_summary: Option<&'static str>,
    pub capabilities: Capabilities,
    /// Other things that the harness cannot do or does differently, one sentence each.
    pub limits: &'static [&'static str],
    /// The longest text that reaches the model uncut, in UTF-16 units.
    pub context_cap: usize,
    pub decode: DecodeFn,
    pub encode: fn(&Reply, &EventKind) -> Vec<u8>,
    /// Returns the text of a tool's result if a hook may replace it. Results of tools that read files are never
    /// replaced, because a model that asks for a file wants all of it.
    pub replaceable: ReplaceableFn,
    pub transcript: TranscriptSource,
    /// How many times in a row a stop hook may make the agent continue; `None` if there is no limit.
    pub block_cap: Option<StopBlockLimit>,
    /// Returns the number of days after which the harness deletes transcripts, given the user's settings; `None` if it
    /// never deletes them.
    pub transcripts_kept: fn(&str) -> Option<u32>,
    /// How a prompt must name a file so that the harness reads the file.
    pub mention: MentionStyle,
    /// Where a project describes its agents for this harness, relative to the project; `{role}` is the role's name.
    pub agent_files: &'static [&'static str],
    pub install: InstallMethod,
    /// How our status line is installed; `None` if the harness lets no program write its status line.
    pub status_line: Option<status::StatusLineSupport>,
    pub commands: SlashCommands,
    /// How its agents are defined; `None` if no file can define a sub-agent of this harness.
    pub agents: Option<agents::AgentFiles>,
}

/// Where a harness's transcript is, and how it is read.
#[derive(Clone, Copy, Debug)]
pub enum TranscriptSource {
    /// A file of JSON lines to which the harness appends. Hook payloads name it.
    JsonLines { read_line: transcript::ReadLine },
    /// A database that is queried through the harness's own program or `sqlite3`. Hooks never read it, because a query
    /// starts a process.
    Database(SessionDatabase),
}

/// A database of sessions.
#[derive(Clone, Copy, Debug)]
pub struct SessionDatabase {
    /// Reads one row of the query's result.
    pub read_line: transcript::ReadLine,
    /// The file, relative to the folder for the user's data.
    pub file: &'static str,
    /// The variable that names another file: an absolute path, or a name in the folder of `file`.
    pub file_variable: &'static str,
    /// The arguments with which the harness's own program answers a query in JSON; `{query}` is the query.
    pub arguments: &'static [&'static str],
    /// The variables that keep the harness's own program from using the network.
    pub offline: &'static [(&'static str, &'static str)],
    /// Selects a session as rows with one column, `line`, which contains a JSON object. `{session}` stands for its id.
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
    /// In the folder for settings, `$XDG_CONFIG_HOME` or `~/.config`, under this name.
    Config(&'static str),
}

/// How a harness is made to call us.
#[derive(Clone, Copy, Debug)]
pub enum InstallMethod {
    /// By entries in a table of hooks, in a JSON settings file.
    HookTable(HookTable),
    /// By our plugin, which it loads.
    Plugin(Plugin),
}

/// A plugin: one file that is the same for all installations, except for one line.
#[derive(Clone, Copy, Debug)]
pub struct Plugin {
    /// The path relative to the harness's folder.
    pub file: &'static str,
    pub text: &'static str,
    /// The beginning of the line that is filled in at installation; see [`plugin::PluginSettings`].
    pub slot: &'static str,
}

/// A table of hooks: which file contains it, and the form of a hook in it.
#[derive(Clone, Copy, Debug)]
pub struct HookTable {
    /// The file for one user in one project; `None` if there is no such file.
    pub local: Option<&'static str>,
    /// Whether the local file of a repository's main checkout also applies to its other worktrees.
    pub local_serves_worktrees: bool,
    /// The settings file; users and projects have one each.
    pub file: SettingsFile,
    /// This file is used instead of `file` if it already contains hooks and `file` does not exist.
    pub other: Option<SettingsFile>,
    pub form: HookForm,
    pub timeouts: TimeoutUnit,
    /// Whether the harness silently ignores a whole settings file with comments or trailing commas.
    pub strict: bool,
}

/// How a harness gets slash commands.
#[derive(Clone, Copy, Debug)]
pub enum SlashCommands {
    /// Markdown files in the `commands` folder of its settings.
    MarkdownFiles {
        /// The harness's own commands, which ours must not hide.
        taken: &'static [&'static str],
        /// Whether it runs lines that begin with `!` before the model sees the command.
        runs_lines: bool,
    },
    /// The plugin adds the commands.
    InPlugin {
        /// The harness's own commands, which ours must not hide.
        taken: &'static [&'static str],
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingsFile {
    pub name: &'static str,
    pub place: settings::HookLocation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookForm {
    /// Program and arguments, without a shell.
    Exec,
    /// A line for `sh`.
    Shell,
}

/// How often in a row a stop can be blocked without a tool call in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopBlockLimit {
    pub times: u64,
    /// The variable that overrides the limit. The value 0 removes the limit.
    pub variable: &'static str,
}

/// An event that we register for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WiredEvent {
    /// The harness's name for the event.
    pub event: &'static str,
    /// Our name for the event.
    pub neutral: EventName,
    /// Seconds after which the harness may kill our hook. They are far more than a hook needs, to allow for a slow
    /// disk.
    pub timeout: u32,
}

/// The timeout at a stop, where the validators of a loop may run. This is the default of `loops.validator_timeout`;
/// installing uses the configured value.
pub const STOP_TIMEOUT: u32 = 300;

/// Decodes a payload. The second argument is the event's name on the command line, in case the payload has none.
pub type DecodeFn = for<'a> fn(&'a [u8], &'a str) -> Result<Event<'a>, Undecodable>;

pub type ReplaceableFn = for<'a> fn(&ToolDone<'a>) -> Option<Cow<'a, str>>;

pub const HARNESSES: &[Harness] = &[claude_code::ROW, droid::ROW, opencode::ROW];

/// Harnesses that thru cannot be installed into yet. A packet can come from them, and a prompt can be written for them.
pub const OTHER_HARNESSES: &[OtherHarness] = &[
    OtherHarness { name: "codex", mention: MentionStyle::Plain },
    OtherHarness { name: "gemini", mention: MentionStyle::At },
];

/// What is known about a harness without an adapter.
#[derive(Clone, Copy, Debug)]
pub struct OtherHarness {
    pub name: &'static str,
    pub mention: MentionStyle,
}

pub fn harness_by_name(name: &str) -> Option<&'static Harness> {
    HARNESSES.iter().find(|harness| harness.name == name)
}

/// Lists the names of all harnesses that a prompt can be written for.
pub fn harness_names() -> impl Iterator<Item = &'static str> {
    HARNESSES.iter().map(|harness| harness.name).chain(OTHER_HARNESSES.iter().map(|other| other.name))
}

/// Returns how a prompt names a file for a harness, given its name or an alias. `None` if there is no such harness.
pub fn mention_style(word: &str) -> Option<MentionStyle> {
    let named = |harness: &&Harness| harness.name == word || harness.aliases.contains(&word);
    let other = || OTHER_HARNESSES.iter().find(|other| other.name == word).map(|other| other.mention);
    HARNESSES.iter().find(named).map(|harness| harness.mention).or_else(other)
}

/// Why a payload cannot be used. The reason goes on a receipt and is never shown to a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undecodable {
    NotAnObject(String),
    NoSession,
}

impl std::fmt::Display for Undecodable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Undecodable::NotAnObject(why) => write!(f, "the payload is not a JSON object: {why}"),
            Undecodable::NoSession => f.write_str("the payload names no session"),
        }
    }
}
