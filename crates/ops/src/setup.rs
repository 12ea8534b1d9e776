//! Making a root, and wiring harnesses to it.

pub(crate) mod backup;
pub mod factory;
pub mod harnesses;
pub mod init;
pub mod install;
pub mod swarm;
