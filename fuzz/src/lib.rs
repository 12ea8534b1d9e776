//! Makes the targets of `cargo xtask fuzz` available to cargo-fuzz.

#![allow(clippy::expect_used, reason = "a target reports a failure with a panic")]

#[path = "../../xtask/src/fuzz/targets.rs"]
pub mod targets;
