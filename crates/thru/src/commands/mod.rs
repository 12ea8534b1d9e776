//! One file per command; its doc comment is its help.

pub mod brief;
pub mod completions;
pub mod config;
pub mod context;
pub mod debug;
pub mod doctor;
pub mod files;
pub mod gate;
pub mod handoff;
pub mod harness;
pub mod hook;
pub mod import;
pub mod init;
pub mod install;
pub mod journal;
pub mod lifecycle;
pub mod loops;
pub mod packet;
pub mod pickup;
pub mod recover;
pub mod redact;
pub mod resume;
pub mod role;
pub mod status;
pub mod sweep;
pub mod trust;
