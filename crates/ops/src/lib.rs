//! The operations of thru. This crate combines `model`, `harness` and `store`.
//!
//! [`hook`] is the hot path, and [`features`] is the table of features that the hook calls. The time, the environment
//! and the settings are always passed in.

#![forbid(unsafe_code)]

mod error;
pub mod features;
pub mod hook;
pub mod input;
mod input_redactor;
mod mode;
pub mod process;
pub mod project;
pub mod session;
pub mod setup;
mod world;

pub use error::{Error, ErrorKind};
pub use mode::WriteMode;
pub use world::World;

pub type Result<T> = std::result::Result<T, Error>;
