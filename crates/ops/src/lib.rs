//! The verbs. Joins model, harness and store: synchronous, light, one file per verb.
//!
//! [`hook`] is the whole hot path. Everything here gets time, environment and settings passed in.

#![forbid(unsafe_code)]

mod alive;
mod backup;
pub mod brief;
mod checkpoint;
pub mod context;
mod deadline;
pub mod doctor;
mod error;
pub mod factory;
pub mod files;
pub mod firing;
pub mod gate;
mod git;
mod given;
pub mod handoff;
pub mod harnesses;
pub mod hook;
pub mod init;
pub mod install;
pub mod journal;
pub mod lifecycle;
pub mod loops;
mod mode;
pub mod packet;
mod past;
pub mod pickup;
pub mod process;
pub mod project;
pub mod recover;
pub mod resume;
mod retell;
pub mod role;
pub mod sessions;
pub mod settings;
pub mod status;
pub mod sweep;
pub mod transcript;
mod transcript_reader;
pub mod trust;
mod watchman;
mod workstreams;
mod world;

pub use error::{Error, ErrorKind};
pub use mode::Mode;
pub use world::World;

pub type Result<T> = std::result::Result<T, Error>;
