//! Tests of the real binary, called as people and harnesses call it.
//!
//! `THRU_BIN` names the binary to test, which is the release build in CI. Otherwise the debug build is tested.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, clippy::print_stderr)]
#![allow(clippy::needless_pass_by_value)]

mod call;
mod env;
mod pty;
mod tree;

mod announcements;
mod answers;
mod as_sent;
mod auto_init;
mod awareness;
mod benchmark;
mod briefs;
mod changes_by_hand;
mod claims;
mod clones;
mod completions;
mod config;
mod consent;
mod decisions;
mod docs;
mod doctor;
mod droid;
mod earlier_files;
mod effects;
mod errors;
mod events;
mod evidence;
mod extract;
mod files_with_new_times;
mod first_contact;
mod first_week;
mod gate_folders;
mod gate_hooks;
mod gate_runs;
mod gates;
mod hook_promises;
mod hostile_text;
mod init;
mod install;
mod install_script;
mod leaks;
mod limits;
mod loop_hooks;
mod loops;
mod lost;
mod made_up;
mod moves;
mod newcomer;
mod next_steps;
mod obstacles;
mod occasions;
mod one_brief;
mod open_failures;
mod opencode;
mod ownership;
mod packet_edits;
mod packet_facts;
mod packet_sweeps;
mod packets;
mod page_claims;
mod pages;
mod payloads;
mod plans;
mod quotations;
mod readme;
mod receipts;
mod recovery;
mod redact;
mod repositories;
mod restores;
mod resume;
mod roles;
mod roots;
mod rotation;
mod scoring;
mod secrets;
mod security;
mod session_ids;
mod session_list;
mod settings_files;
mod shared;
mod standing_rules;
mod status;
mod summaries;
mod swarms;
mod switches;
mod syscalls;
mod trust;
mod usage;
mod workstream_states;
mod worktrees;

use std::path::Path;

use crate::env::names_in;

#[test]
fn no_test_file_is_forgotten() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = include_str!("main.rs");
    let named = |file: &str| main.lines().any(|line| line == format!("mod {file};"));
    let files = names_in(&folder);
    let forgotten: Vec<_> = files.iter().filter_map(|name| name.strip_suffix(".rs")).collect();
    let forgotten: Vec<_> = forgotten.into_iter().filter(|name| *name != "main" && !named(name)).collect();
    assert!(files.len() > 20 && forgotten.is_empty(), "not in main.rs: {forgotten:?}");
}
