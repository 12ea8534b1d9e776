//! Runs `thru` in folders where nobody should start it, with input that nobody should send, and on full disks.
//!
//! The rules are always the same: a hook exits with 0 and prints nothing, a command reports what is wrong and exits
//! with a documented code, nothing hangs, no existing file changes, and no file is created outside the project.

mod disks;
mod input;
mod places;

use std::path::Path;
use std::process::{Command, Output};

pub use disks::broken_disks;
pub use input::hostile_input;
pub use places::hostile_places;

use super::LossKind;
use super::integrity::{self, AllowedRemoval};
use super::judge::{self, Failures};
use super::prepare::{self, TOOL_DONE_HOOK_ARGV};
use super::snapshot::Snapshot;
use crate::sandbox::{self, Sandbox};

const SESSION_START_HOOK: &[&str] = &["hook", "claude-code", "SessionStart"];

/// The commands that are tried in each folder.
const COMMANDS_TRIED: &[&[&str]] = &[
    TOOL_DONE_HOOK_ARGV,
    SESSION_START_HOOK,
    &["hook", "claude-code", "Stop"],
    &["init"],
    &["context", "init"],
    &["trust"],
    &["trust", "--revoke"],
    &["status", "--json"],
    &["doctor"],
    &["config"],
];

fn stdin_for_command(argv: &[&str], sandbox: &Path) -> Vec<u8> {
    match argv {
        ["hook", _, "SessionStart"] => prepare::session_start_payload(sandbox),
        ["hook", _, "Stop"] => prepare::stop_payload(sandbox),
        ["hook", ..] => prepare::tool_payload(sandbox),
        _ => Vec::new(),
    }
}

fn judge_output(argv: &[&str], output: &Output, wrong: &mut Failures) {
    if argv.first() == Some(&"hook") {
        judge::judge_hook_output(output, wrong);
        // Only a session start may print something: a notice that the project is not trusted.
        if argv != SESSION_START_HOOK && !output.stdout.is_empty() {
            wrong
                .push((LossKind::NoLoss, format!("the hook printed: {}", judge::first_line(&output.stdout))));
        }
    } else {
        judge::judge_command_output(output, wrong);
    }
}

fn allowed_removal(argv: &[&str]) -> AllowedRemoval {
    if argv == ["trust", "--revoke"] { AllowedRemoval::Trust } else { AllowedRemoval::Nothing }
}

fn judge_files(argv: &[&str], before: &Snapshot, after: &Snapshot, wrong: &mut Failures) {
    let found = integrity::find_losses(before, after, allowed_removal(argv));
    wrong.extend(found.into_iter().map(|text| (LossKind::RecordLost, text)));
}

fn command_for_display(name: &str, argv: &[&str]) -> String {
    format!("{name}: thru {}", argv.join(" "))
}

/// Returns a command that runs `thru` through a shell line ending in `"$@"`.
fn wrap_in_shell(line: &str, sandbox: &Sandbox, argv: &[&str]) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", line, "sh"]);
    sandbox::wrap_command(shell, &sandbox.thru_command(argv))
}
