//! What a hook or a command must not have done in a hostile store.

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use super::Rules;
use super::commands::{Kind, Line};
use super::files::{ORDER, SECRET, TEXT};
use crate::sandbox::HUNG;
use crate::torture::judge;
use crate::torture::snapshot::Snapshot;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Violation {
    /// A command from the store was run.
    Ran,
    /// An agent was given a prompt from the store, or was told that text from the store is the user's.
    Fed,
    /// Something changed that must not change.
    Wrote,
    /// Text from outside the project was shown.
    Leaked,
    /// A hook took longer than its deadline, or used more than 8 MB.
    Limits,
    /// A wrong exit code, a panic or a hang.
    Broke,
}

pub type Violations = Vec<(Violation, String)>;

/// Judges a hook. A hook may write records in a trusted store, and must write nothing in any other store.
pub fn of_hook(rules: &Rules, output: &Output, changed: &[PathBuf], found: &mut Violations) {
    let mut wrong = Vec::new();
    judge::hook_output(output, &mut wrong);
    found.extend(wrong.into_iter().map(|(_, text)| (Violation::Broke, text)));
    fed(rules, output, found);
    leaked(output, found);
    for path in changed {
        if ran(path, found) {
            continue;
        }
        let is_record =
            rules.writes.iter().any(|folder| path.starts_with(Path::new(folder).join(".agent/context")));
        if !is_record {
            found.push((Violation::Wrote, format!("a hook changed {}", path.display())));
        } else if !rules.is_trusted {
            found.push((
                Violation::Wrote,
                format!("a hook changed {} of a store that is not trusted", path.display()),
            ));
        }
    }
}

pub fn of_command(rules: &Rules, line: &Line, output: &Output, changed: &[PathBuf], found: &mut Violations) {
    let mut wrong = Vec::new();
    judge::cli_output(output, &mut wrong);
    found.extend(wrong.into_iter().map(|(_, text)| (Violation::Broke, text)));
    if output.stderr == HUNG.as_bytes() {
        found.push((Violation::Broke, HUNG.to_owned()));
    }
    leaked(output, found);
    for path in changed {
        if !ran(path, found) && !may_change(rules, line.kind, path) {
            found.push((Violation::Wrote, format!("it changed {}", path.display())));
        }
    }
}

fn may_change(rules: &Rules, kind: Kind, path: &Path) -> bool {
    let below = |folder: &str, name: &str| path.starts_with(Path::new(folder).join(name));
    let is_record = rules.writes.iter().any(|folder| below(folder, ".agent"));
    // The exclude list belongs to the repository around the current folder.
    let is_own_list = || {
        let in_project = rules.writes.iter().any(|folder| Path::new(folder).starts_with("project"));
        let is_list = path.ends_with("info/exclude") || path.ends_with("info");
        in_project && path.starts_with("project/.git") && is_list
    };
    let is_setting = || {
        let names = [".claude", ".factory", ".opencode", ".git/info"];
        rules
            .writes
            .iter()
            .copied()
            .chain(["home"])
            .any(|folder| names.iter().any(|name| below(folder, name)))
            || path.starts_with("config/opencode")
    };
    is_record || path.starts_with(rules.state) || (kind == Kind::Settings && (is_setting() || is_own_list()))
}

/// Returns whether a changed path shows that a command of the store was run, and adds the violation to `found`.
fn ran(path: &Path, found: &mut Violations) -> bool {
    let is_canary = path.starts_with("canary");
    if is_canary {
        found.push((Violation::Ran, format!("the command `{}` of the store was run", name_of(path))));
    }
    is_canary
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

pub fn fed(rules: &Rules, output: &Output, found: &mut Violations) {
    let text = String::from_utf8_lossy(&output.stdout);
    let reply: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let told = || judge::first_line(&output.stdout);
    if reply["decision"] == "block" || reply["continue"] == false {
        found.push((Violation::Fed, format!("a hook held the agent: {}", told())));
    }
    if text.contains(ORDER) {
        found.push((Violation::Fed, format!("a hook gave the agent the store's prompt: {}", told())));
    }
    if text.to_lowercase().contains("the user started") {
        found.push((Violation::Fed, format!("a hook called the store's loop the user's: {}", told())));
    }
    if !rules.is_trusted {
        let only_to_the_user = reply
            .as_object()
            .is_some_and(|reply| reply.keys().all(|key| key == "systemMessage" || key == "tell"));
        if text.contains(TEXT) || !(text.trim().is_empty() || only_to_the_user) {
            found.push((
                Violation::Fed,
                format!("a hook told the agent of a store that is not trusted: {}", told()),
            ));
        }
    }
}

fn leaked(output: &Output, found: &mut Violations) {
    for bytes in [&output.stdout, &output.stderr] {
        if String::from_utf8_lossy(bytes).contains(SECRET) {
            found.push((Violation::Leaked, "a file outside the project was shown".to_owned()));
        }
    }
}

/// Reports every file from outside the project whose content was copied into the store.
pub fn copied(before: &Snapshot, after: &Snapshot, changed: &[PathBuf], found: &mut Violations) {
    for path in changed {
        let holds = |snapshot: &Snapshot| {
            snapshot.file(path).is_some_and(|bytes| String::from_utf8_lossy(bytes).contains(SECRET))
        };
        if holds(after) && !holds(before) {
            found.push((
                Violation::Leaked,
                format!("a file outside the project was copied to {}", path.display()),
            ));
        }
    }
}
