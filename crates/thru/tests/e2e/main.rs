//! End-to-end tests: the real harnesses, driven offline against a scripted model, call the real `thru`.
//!
//! `cargo xtask e2e` installs the harnesses and runs these tests. The tests check what the hooks recorded in the
//! journal and what the model received.
#![allow(clippy::expect_used, reason = "a test that cannot go on stops")]

mod anthropic;
mod available;
mod awareness_tests;
mod claude;
mod claude_tests;
mod commands_tests;
mod crash_tests;
mod droid;
mod droid_tests;
mod gate_tests;
mod hooks;
mod http;
mod install_tests;
mod journal;
mod loops_tests;
mod model;
mod occasion_tests;
#[cfg(target_os = "linux")]
mod offline_tests;
mod openai;
mod opencode;
mod opencode_broken_tests;
mod opencode_loops_tests;
mod opencode_processes_tests;
mod opencode_sessions_tests;
mod opencode_tests;
mod packet_tests;
mod plan_tests;
mod plugin_tests;
mod process;
mod resume_tests;
mod role_tests;
mod scratch;
mod script;
mod summary_tests;
mod swarm_tests;
mod terminal;
mod told_tests;
