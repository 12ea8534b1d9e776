//! The violations that a hook or a command can commit in a hostile store.

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use super::StoreRules;
use super::commands::{CommandLine, StoreCommandKind};
use super::files::{OUTSIDE_FILE_CANARY, PROMPT_CANARY, TEXT_CANARY};
use crate::sandbox::HUNG_MESSAGE;
use crate::torture::judge;
use crate::torture::snapshot::Snapshot;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Violation {
    /// A command from the store was run.
    RanCommand,
    /// An agent was given a prompt from the store, or was told that text from the store came from the user.
    PromptGiven,
    /// A path that must not change was changed.
    WroteForbidden,
    /// Text from outside the project was shown.
    LeakedText,
    /// A hook took longer than its deadline, or used more than 8 MB.
    ExceededLimits,
    /// A wrong exit code, a panic or a hang.
    Crashed,
}

pub type Violations = Vec<(Violation, String)>;

/// Judges a hook. A hook may write records in a trusted store, and must write nothing in an untrusted store.
pub fn judge_hook(rules: &StoreRules, output: &Output, changed: &[PathBuf], found: &mut Violations) {
    let mut wrong = Vec::new();
    judge::judge_hook_output(output, &mut wrong);
    found.extend(wrong.into_iter().map(|(_, text)| (Violation::Crashed, text)));
    report_fed_prompt(rules, output, found);
    report_leaked_text(output, found);
    for path in changed {
        if report_if_command_ran(path, found) {
            continue;
        }
        let is_record = rules
            .writable_folders
            .iter()
            .any(|folder| path.starts_with(Path::new(folder).join(".agent/context")));
        if !is_record {
            found.push((Violation::WroteForbidden, format!("a hook changed {}", path.display())));
        } else if !rules.is_trusted {
            found.push((
                Violation::WroteForbidden,
                format!("a hook changed {} of a store that is not trusted", path.display()),
            ));
        }
    }
}

pub fn judge_command(
    rules: &StoreRules,
    line: &CommandLine,
    output: &Output,
    changed: &[PathBuf],
    found: &mut Violations,
) {
    let mut wrong = Vec::new();
    judge::judge_command_output(output, &mut wrong);
    found.extend(wrong.into_iter().map(|(_, text)| (Violation::Crashed, text)));
    if output.stderr == HUNG_MESSAGE.as_bytes() {
        found.push((Violation::Crashed, HUNG_MESSAGE.to_owned()));
    }
    report_leaked_text(output, found);
    for path in changed {
        if !report_if_command_ran(path, found) && !may_command_change_path(rules, line.kind, path) {
            found.push((Violation::WroteForbidden, format!("it changed {}", path.display())));
        }
    }
}

fn may_command_change_path(rules: &StoreRules, kind: StoreCommandKind, path: &Path) -> bool {
    let below = |folder: &str, name: &str| path.starts_with(Path::new(folder).join(name));
    let is_record = rules.writable_folders.iter().any(|folder| below(folder, ".agent"));
    // A command may change the exclude list of the repository in which it runs.
    let is_own_list = || {
        let in_project = rules.writable_folders.iter().any(|folder| Path::new(folder).starts_with("project"));
        let is_list = path.ends_with("info/exclude") || path.ends_with("info");
        in_project && path.starts_with("project/.git") && is_list
    };
    let is_setting = || {
        let names = [".claude", ".factory", ".opencode", ".git/info"];
        rules
            .writable_folders
            .iter()
            .copied()
            .chain(["home"])
            .any(|folder| names.iter().any(|name| below(folder, name)))
            || path.starts_with("config/opencode")
    };
    is_record
        || path.starts_with(rules.state_folder)
        || (kind == StoreCommandKind::Settings && (is_setting() || is_own_list()))
}

/// Returns whether a changed path shows that a command from the store was run. If so, adds the violation to `found`.
fn report_if_command_ran(path: &Path, found: &mut Violations) -> bool {
    let is_canary = path.starts_with("canary");
    if is_canary {
        found
            .push((Violation::RanCommand, format!("the command `{}` of the store was run", file_name(path))));
    }
    is_canary
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

pub fn report_fed_prompt(rules: &StoreRules, output: &Output, found: &mut Violations) {
    let text = String::from_utf8_lossy(&output.stdout);
    let reply: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let told = || judge::first_line(&output.stdout);
    if reply["decision"] == "block" || reply["continue"] == false {
        found.push((Violation::PromptGiven, format!("a hook blocked the agent: {}", told())));
    }
    if text.contains(PROMPT_CANARY) {
        found.push((Violation::PromptGiven, format!("a hook gave the agent the store's prompt: {}", told())));
    }
    if text.to_lowercase().contains("the user started") {
        found.push((
            Violation::PromptGiven,
            format!("a hook said that the user started the store's loop: {}", told()),
        ));
    }
    if !rules.is_trusted {
        let only_to_the_user = reply
            .as_object()
            .is_some_and(|reply| reply.keys().all(|key| key == "systemMessage" || key == "tell"));
        if text.contains(TEXT_CANARY) || !(text.trim().is_empty() || only_to_the_user) {
            found.push((
                Violation::PromptGiven,
                format!("a hook told the agent about a store that is not trusted: {}", told()),
            ));
        }
    }
}

fn report_leaked_text(output: &Output, found: &mut Violations) {
    for bytes in [&output.stdout, &output.stderr] {
        if String::from_utf8_lossy(bytes).contains(OUTSIDE_FILE_CANARY) {
            found.push((Violation::LeakedText, "a file outside the project was shown".to_owned()));
        }
    }
}

/// Reports every file from outside the project whose content was copied to the store.
pub fn report_copied_files(before: &Snapshot, after: &Snapshot, changed: &[PathBuf], found: &mut Violations) {
    for path in changed {
        let holds = |snapshot: &Snapshot| {
            snapshot
                .file_bytes(path)
                .is_some_and(|bytes| String::from_utf8_lossy(bytes).contains(OUTSIDE_FILE_CANARY))
        };
        if holds(after) && !holds(before) {
            found.push((
                Violation::LeakedText,
                format!("a file outside the project was copied to {}", path.display()),
            ));
        }
    }
}
