//! The verbs. Joins model, harness and store: synchronous, light, one file per verb.
//!
//! [`hook`] is the whole hot path. Everything here gets time, environment and settings passed in.

#![forbid(unsafe_code)]

mod checkpoint;
pub mod doctor;
mod error;
pub mod files;
pub mod firing;
mod git;
pub mod harnesses;
pub mod hook;
pub mod init;
pub mod install;
pub mod journal;
mod past;
pub mod process;
mod retell;
pub mod sessions;
pub mod settings;
pub mod status;
pub mod transcript;
pub mod trust;
mod world;

pub use error::{Error, ErrorKind};
pub use world::World;

pub type Result<T> = std::result::Result<T, Error>;
