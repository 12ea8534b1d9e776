//! How each harness speaks. Pure: bytes in, values out.
//!
//! One row per harness in [`HARNESSES`], one folder each with the same files. A harness's types never leave here.

#![forbid(unsafe_code)]

use model::event::{Event, EventName, Kind};
use model::packet::pickup::Mention;
use model::reply::Reply;
use settings::TimeoutUnit;
use transcript::walk::Walk;

mod capabilities;
pub mod claude_code;
pub mod commands;
pub mod droid;
mod fields;
pub mod opencode;
pub mod plugin;
pub mod process;
pub mod settings;
mod tools;
pub mod transcript;

pub use capabilities::{Capabilities, Coverage};

/// Whether a payload is all there: one object that is closed. What is in it shows when it is decoded.
pub fn is_whole(payload: &[u8]) -> bool {
    let text = payload.strip_prefix(b"\xef\xbb\xbf").unwrap_or(payload).trim_ascii();
    // Looked at only where it can be: most of what is not whole does not end like it.
    if !(text.starts_with(b"{") && text.ends_with(b"}")) {
        return false;
    }
    let mut walk = Walk::new(text);
    walk.skip();
    !walk.is_torn() && walk.rest().is_empty()
}

/// What we know of one harness.
#[derive(Debug)]
pub struct Harness {
    /// The word on the command line and in records.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Other words for it, in older records and from people.
    pub aliases: &'static [&'static str],
    /// The program a user types, which is also the name of its process.
    pub program: &'static str,
    /// What the path of its program or script contains, wherever it is installed.
    pub program_paths: &'static [&'static str],
    /// The folder of its settings, in a project and, unless a variable says otherwise, in HOME.
    pub folder: &'static str,
    pub folder_variable: Option<&'static str>,
    /// Where its folder is that belongs to a person.
    pub home: Home,
    /// The variable that holds the project's folder while a hook runs. None: the payload's `cwd` is that folder.
    pub project_dir: Option<&'static str>,
    /// Variables of which one is set in everything the harness starts.
    pub presence: &'static [&'static str],
    /// The variable that holds the session's id, where there is one.
    pub session: Option<&'static str>,
    /// The events we ask for, and what they are to us.
    pub events: &'static [Wired],
    pub capabilities: Capabilities,
    /// What else it cannot do, or does its own way, a sentence each.
    pub limits: &'static [&'static str],
    /// Most text that reaches the model whole, in UTF-16 units.
    pub context_cap: usize,
    pub decode: Decode,
    pub encode: fn(&Reply, &Kind) -> Vec<u8>,
    pub transcript: Transcript,
    /// How often in a row it lets a stop hook send the agent on; none where there is no limit.
    pub block_cap: Option<BlockCap>,
    /// After how many days it deletes its transcripts, by the person's settings; none where it does not.
    pub transcripts_kept: fn(&str) -> Option<u32>,
    /// How a prompt names a file so that the harness reads it.
    pub mention: Mention,
    /// Where a project describes its agents for this harness, below the project; `{role}` is the role's name.
    pub agent_files: &'static [&'static str],
    pub install: Install,
    pub commands: Commands,
}

/// Where its transcript is, and how it is read.
#[derive(Clone, Copy, Debug)]
pub enum Transcript {
    /// A file of JSON lines to which the harness appends. The payloads of hooks name it.
    JsonLines { read_line: transcript::ReadLine },
    /// A database that a program of its own, or `sqlite3`, is asked. No hook reads it, because that starts a process.
    Database(Database),
}

/// A database of sessions.
#[derive(Clone, Copy, Debug)]
pub struct Database {
    /// Reads one row of the answer.
    pub read_line: transcript::ReadLine,
    /// The file, below the folder for a person's data.
    pub file: &'static str,
    /// The variable that names another file: absolute, or in the folder of `file`.
    pub file_variable: &'static str,
    /// The arguments with which its own program answers a query in JSON; `{query}` is the query.
    pub arguments: &'static [&'static str],
    /// A session as rows with one column, `line`, which holds a JSON object; `{session}` is its id.
    pub query: &'static str,
}

impl Transcript {
    pub fn read_line(&self) -> transcript::ReadLine {
        match self {
            Transcript::JsonLines { read_line } | Transcript::Database(Database { read_line, .. }) => {
                *read_line
            }
        }
    }
}

/// Where a harness keeps the folder that belongs to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// In HOME, under the name that it has in a project too.
    Folder,
    /// In the folder for settings, `$XDG_CONFIG_HOME` or `~/.config`, under this name.
    Config(&'static str),
}

/// How it is told to call us.
#[derive(Clone, Copy, Debug)]
pub enum Install {
    /// Entries in a table of hooks, in a settings file of JSON.
    HookTable(HookTable),
    /// A program of ours that it loads.
    Plugin(Plugin),
}

/// A plugin: one file, the same for everybody but for one line.
#[derive(Clone, Copy, Debug)]
pub struct Plugin {
    /// Below the harness's folder.
    pub file: &'static str,
    pub text: &'static str,
    /// How the line begins behind which stands what installing knows; see [`plugin::Settings`].
    pub slot: &'static str,
}

/// A table of hooks: which file, and in what form a hook stands there.
#[derive(Clone, Copy, Debug)]
pub struct HookTable {
    /// The file that one person has for one project. None: it has no such file.
    pub local: Option<&'static str>,
    /// The file of a person, and of a project.
    pub file: File,
    /// Used instead of `file` where it already holds hooks and `file` is not there.
    pub other: Option<File>,
    pub form: Form,
    pub timeouts: TimeoutUnit,
    /// Whether it ignores a settings file with comments or trailing commas, whole and without a word.
    pub strict: bool,
}

/// How it is given slash commands.
#[derive(Clone, Copy, Debug)]
pub enum Commands {
    /// Markdown files in the folder `commands` of its settings.
    MarkdownFiles {
        /// Commands of its own that ours must not hide.
        taken: &'static [&'static str],
        /// Whether it runs the lines that begin with `!` before the model sees the command.
        runs_lines: bool,
    },
    /// The plugin adds them.
    InPlugin {
        /// Commands of its own that ours must not hide.
        taken: &'static [&'static str],
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    pub name: &'static str,
    pub place: settings::HookLocation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Program and arguments, no shell.
    Exec,
    /// A line for `sh`.
    Shell,
}

/// How often in a row a stop can be blocked without a tool call in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockCap {
    pub times: u64,
    /// The variable that says otherwise; 0 lifts it.
    pub variable: &'static str,
}

/// An event we are wired to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wired {
    /// The harness's name for it.
    pub event: &'static str,
    /// Ours.
    pub neutral: EventName,
    /// Seconds after which the harness may kill us. Far more than we take; it is there for a sick disk.
    pub timeout: u32,
}

/// At a stop the validators of a loop may run. This is the default of `loops.validator_timeout`; installing takes what is
/// set.
pub const STOP_TIMEOUT: u32 = 300;

/// Payload, and the event's name from the command line in case the payload has none.
pub type Decode = for<'a> fn(&'a [u8], &'a str) -> Result<Event<'a>, Undecodable>;

pub const HARNESSES: &[Harness] = &[claude_code::ROW, droid::ROW, opencode::ROW];

/// Harnesses that thru cannot be wired to yet. A packet can come from one, and a prompt be written for one.
pub const OTHERS: &[Other] =
    &[Other { name: "codex", mention: Mention::Plain }, Other { name: "gemini", mention: Mention::At }];

/// What is known of a harness without an adapter.
#[derive(Clone, Copy, Debug)]
pub struct Other {
    pub name: &'static str,
    pub mention: Mention,
}

pub fn by_name(name: &str) -> Option<&'static Harness> {
    HARNESSES.iter().find(|harness| harness.name == name)
}

/// The names of all that a prompt can be written for.
pub fn names() -> impl Iterator<Item = &'static str> {
    HARNESSES.iter().map(|harness| harness.name).chain(OTHERS.iter().map(|other| other.name))
}

/// How a prompt names a file for a harness, known by its name or an alias. None where there is no such harness.
pub fn mention_for(word: &str) -> Option<Mention> {
    let named = |harness: &&Harness| harness.name == word || harness.aliases.contains(&word);
    let other = || OTHERS.iter().find(|other| other.name == word).map(|other| other.mention);
    HARNESSES.iter().find(named).map(|harness| harness.mention).or_else(other)
}

/// Why a payload is of no use. It ends up on a receipt, never in front of a user.
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
