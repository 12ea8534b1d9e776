//! Places where nobody should start `thru`, input that nobody should send, and full disks.
//!
//! The rules are the same everywhere: a hook exits with 0 and prints nothing, a command says what is wrong and
//! exits with a documented code, nothing hangs, no existing file changes, and no file is created elsewhere.

mod disks;
mod input;
mod places;

use std::path::Path;
use std::process::{Command, Output};

pub use disks::disks;
pub use input::input;
pub use places::places;

use super::Loss;
use super::integrity::{self, Takes};
use super::judge::{self, Wrongs};
use super::rows::{self, TOOL_DONE};
use super::snapshot::Snapshot;
use crate::sandbox::{self, Sandbox};

const START: &[&str] = &["hook", "claude-code", "SessionStart"];

/// The commands that are tried in each place.
const TRIED: &[&[&str]] = &[
    TOOL_DONE,
    START,
    &["hook", "claude-code", "Stop"],
    &["init"],
    &["context", "init"],
    &["trust"],
    &["trust", "--revoke"],
    &["status", "--json"],
    &["doctor"],
    &["config"],
];

fn stdin_of(argv: &[&str], sandbox: &Path) -> Vec<u8> {
    match argv {
        ["hook", _, "SessionStart"] => rows::start(sandbox),
        ["hook", _, "Stop"] => rows::stop(sandbox),
        ["hook", ..] => rows::tool(sandbox),
        _ => Vec::new(),
    }
}

fn judge_output(argv: &[&str], output: &Output, wrong: &mut Wrongs) {
    if argv.first() == Some(&"hook") {
        judge::hook_output(output, wrong);
        // Only a session start may print something: a notice that the project is not trusted.
        if argv != START && !output.stdout.is_empty() {
            wrong.push((Loss::None, format!("the hook printed: {}", judge::first_line(&output.stdout))));
        }
    } else {
        judge::cli_output(output, wrong);
    }
}

/// Returns what the command may remove.
fn takes(argv: &[&str]) -> Takes {
    if argv == ["trust", "--revoke"] { Takes::Trust } else { Takes::Nothing }
}

fn judge_files(argv: &[&str], before: &Snapshot, after: &Snapshot, wrong: &mut Wrongs) {
    let found = integrity::check(before, after, takes(argv));
    wrong.extend(found.into_iter().map(|text| (Loss::Record, text)));
}

/// Returns the command as a user would type it, shortened.
fn told(name: &str, argv: &[&str]) -> String {
    format!("{name}: thru {}", argv.join(" "))
}

/// Returns a command that runs `thru` through a shell line, which ends in `"$@"`.
fn through_shell(line: &str, sandbox: &Sandbox, argv: &[&str]) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", line, "sh"]);
    sandbox::inside(shell, &sandbox.thru(argv))
}
