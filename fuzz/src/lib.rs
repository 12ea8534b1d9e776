//! The targets of `cargo xtask fuzz`, for cargo-fuzz.

#![allow(clippy::expect_used, reason = "a target says what is wrong by a panic")]

#[path = "../../xtask/src/fuzz/targets.rs"]
pub mod targets;
