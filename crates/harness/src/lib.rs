//! How each harness speaks. Pure: bytes in, values out.
//!
//! One row per harness in [`HARNESSES`], one folder each with the same files. A harness's types never leave here.

#![forbid(unsafe_code)]

use model::event::{Event, EventName, Kind};
use model::reply::Reply;
use transcript::walk::Walk;

pub mod claude_code;
pub mod commands;
pub mod droid;
mod fields;
pub mod settings;
mod tools;
pub mod transcript;

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
    /// The variable that holds the project's folder while a hook runs.
    pub project_dir: &'static str,
    /// Variables of which one is set in everything the harness starts.
    pub presence: &'static [&'static str],
    /// The variable that holds the session's id, where there is one.
    pub session: Option<&'static str>,
    /// The events we ask for, and what they are to us.
    pub events: &'static [Wired],
    /// What it does not tell, and what follows from that.
    pub missing: &'static [&'static str],
    /// Most text that reaches the model whole, in UTF-16 units.
    pub context_cap: usize,
    pub decode: Decode,
    pub read_line: transcript::ReadLine,
    /// Whether hooks tell of every prompt and every compaction. Where not, the transcript is asked for them.
    pub tells_all: bool,
    pub encode: fn(&Reply, &Kind) -> Vec<u8>,
    /// How often in a row it lets a stop hook send the agent on; none where there is no limit.
    pub block_cap: Option<BlockCap>,
    /// After how many days it deletes its transcripts, by the person's settings; none where it does not.
    pub transcripts_kept: fn(&str) -> Option<u32>,
    pub install: Install,
}

/// Where its settings are, and in what form it wants a hook.
#[derive(Clone, Copy, Debug)]
pub struct Install {
    /// The program a user types.
    pub program: &'static str,
    /// The folder of its settings, in a project and, unless a variable says otherwise, in HOME.
    pub folder: &'static str,
    pub folder_variable: Option<&'static str>,
    /// The file that one person has for one project. None: it has no such file.
    pub local: Option<&'static str>,
    /// The file of a person, and of a project.
    pub file: File,
    /// Used instead of `file` where it already holds hooks and `file` is not there.
    pub other: Option<File>,
    pub form: Form,
    /// Whether it ignores a settings file with comments or trailing commas, whole and without a word.
    pub strict: bool,
    /// Commands of its own that ours must not hide.
    pub taken: &'static [&'static str],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    pub name: &'static str,
    pub place: settings::Place,
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

pub const HARNESSES: &[Harness] = &[claude_code::ROW, droid::ROW];

pub fn by_name(name: &str) -> Option<&'static Harness> {
    HARNESSES.iter().find(|harness| harness.name == name)
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
