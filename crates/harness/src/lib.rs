//! How each harness speaks. Pure: bytes in, values out.
//!
//! One row per harness in [`HARNESSES`], one folder each with the same files. A harness's types never leave here.

#![forbid(unsafe_code)]

use model::event::Event;
use model::reply::Reply;

pub mod claude_code;
pub mod droid;
mod fields;
pub mod settings;
pub mod transcript;

/// What we know of one harness.
#[derive(Debug)]
pub struct Harness {
    /// The word on the command line and in records.
    pub name: &'static str,
    /// The variable that holds the project's folder while a hook runs.
    pub project_dir: &'static str,
    /// Variables of which one is set in everything the harness starts.
    pub presence: &'static [&'static str],
    pub decode: Decode,
    pub encode: fn(&Reply) -> Vec<u8>,
}

/// Payload, and the event's name from the command line in case the payload has none.
pub type Decode = for<'a> fn(&'a str, &'a str) -> Result<Event<'a>, Undecodable>;

pub const HARNESSES: &[Harness] = &[claude_code::ROW];

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
