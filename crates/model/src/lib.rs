//! The types and rules of Throughline. This crate is pure: it uses no files, no clock, no environment and no
//! processes.

#![forbid(unsafe_code)]

pub mod activity;
pub mod benchmark;
pub mod brief;
pub mod clean;
pub mod config;
pub mod consent;
pub mod content;
pub mod decide;
pub mod decision;
pub mod declared;
pub mod diff;
pub mod digest;
pub mod document;
pub mod domains;
pub mod effect;
pub mod error_line;
pub mod event;
pub mod evidence;
pub mod extract;
pub mod failure;
pub mod finding;
pub mod gate;
pub mod id;
pub mod journal;
pub mod loops;
pub mod manifest;
pub mod marker;
pub mod packet;
pub mod place;
pub mod plan;
pub mod profile;
pub mod prompt;
pub mod receipt;
pub mod redact;
pub mod render;
pub mod reply;
pub mod role;
pub mod run;
pub mod score;
pub mod session;
pub mod shell;
pub mod statement;
pub mod suggest;
pub mod summary;
pub mod swarm;
pub mod text;
pub mod time;
pub mod tokens;
pub mod transcript;
pub mod verdict;
pub mod window;
pub mod workstream;
