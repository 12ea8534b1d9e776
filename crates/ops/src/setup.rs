//! Creates roots, and installs hooks and agents into harnesses.

pub mod agents;
pub(crate) mod backup;
pub mod factory;
pub mod harnesses;
pub mod init;
pub mod install;
pub mod swarm;
