//! Checks a user's settings after an installation: each file has either its old bytes or its new bytes, and the old
//! bytes can be restored.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::Result;

use super::LossKind;
use super::integrity::is_settings_path;
use super::judge::{Failures, first_line};
use super::prepare::{
    GIT_EXCLUDE_LIST_TEXT, GIT_EXCLUDE_PATH, LOCAL_SETTINGS_PATH, USER_SETTINGS_PATH, USER_SETTINGS_TEXT,
    has_our_hooks,
};
use super::rows::TortureRow;
use super::snapshot::Snapshot;
use crate::sandbox::Sandbox;

/// Checks that each settings file is in one of two states: as it was before the command, or as the command leaves it
/// if no fault occurs. In both states, the file may be missing.
pub fn judge_settings_files(
    before: &Snapshot,
    clean: &Snapshot,
    after: &Snapshot,
    may_litter: bool,
    wrong: &mut Failures,
) {
    let all: BTreeSet<&Path> = [before, clean, after]
        .iter()
        .flat_map(|snapshot| snapshot.files())
        .map(|(path, _)| path)
        .filter(|path| is_settings_path(path))
        .collect();
    for path in all {
        let found = after.file_bytes(path);
        if found == before.file_bytes(path) || found == clean.file_bytes(path) {
            continue;
        }
        let temporary = path.extension().is_some_and(|extension| extension == "tmp");
        match found {
            Some(_) if temporary && may_litter => {}
            Some(_) if temporary => {
                wrong.push((LossKind::NoLoss, format!("a temporary file is left: {}", path.display())));
            }
            Some(bytes) => wrong.push((
                LossKind::RecordLost,
                format!(
                    "{} is neither the old nor the new: {} bytes, {}",
                    path.display(),
                    bytes.len(),
                    first_line(bytes)
                ),
            )),
            None => wrong.push((LossKind::RecordLost, format!("{} is gone", path.display()))),
        }
    }
}

/// Checks that installing and uninstalling again restores the original bytes.
pub fn judge_round_trip(row: &TortureRow, sandbox: &Sandbox, wrong: &mut Failures) -> Result<()> {
    let scope = if row.argv.contains(&"--user") { "--user" } else { "--local" };
    // The status line is in the user's settings, even if the hooks are in the project's settings.
    let line = row.argv.contains(&"--statusline");
    let steps = [("install", scope), ("uninstall", scope), ("uninstall", "--user")];
    for (verb, scope) in steps.into_iter().take(if line { 3 } else { 2 }) {
        let output = match row.argv.first() {
            Some(&"swarm") => sandbox.run_thru(&["swarm", verb, "--harness", "claude-code", scope], b"")?,
            _ => sandbox.run_thru(&[verb, "claude-code", scope], b"")?,
        };
        if !output.status.success() {
            let why = first_line(&output.stderr);
            wrong.push((LossKind::NoLoss, format!("{verb} afterwards: {}: {why}", output.status)));
        }
    }
    let none = row.name.contains("no settings");
    let mut expect =
        vec![(if scope == "--user" { USER_SETTINGS_PATH } else { LOCAL_SETTINGS_PATH }, USER_SETTINGS_TEXT)];
    if scope == "--local" {
        expect.push((GIT_EXCLUDE_PATH, GIT_EXCLUDE_LIST_TEXT));
    }
    if line {
        expect.push((USER_SETTINGS_PATH, USER_SETTINGS_TEXT));
    }
    for (path, original) in expect {
        let found = fs::read(sandbox.dir.join(path)).ok();
        let original = (!none || path == GIT_EXCLUDE_PATH).then_some(original.as_bytes());
        if found.as_deref() != original {
            let found =
                found.map_or("not there".to_owned(), |bytes| String::from_utf8_lossy(&bytes).into_owned());
            let found: String = found.chars().take(300).collect();
            wrong.push((
                LossKind::RecordLost,
                format!("install and uninstall afterwards: {path} is {found:?}"),
            ));
        }
    }
    Ok(())
}

pub fn is_wired_locally(sandbox: &Sandbox) -> bool {
    has_our_hooks(sandbox, LOCAL_SETTINGS_PATH)
}

pub fn has_status_line(sandbox: &Sandbox) -> bool {
    let text = fs::read_to_string(sandbox.dir.join(USER_SETTINGS_PATH)).unwrap_or_default();
    is_wired_locally(sandbox) && text.contains(" statusline\"")
}

pub fn is_wired_for_user(sandbox: &Sandbox) -> bool {
    has_our_hooks(sandbox, USER_SETTINGS_PATH)
}

pub fn is_unwired(sandbox: &Sandbox) -> bool {
    fs::read_to_string(sandbox.dir.join(LOCAL_SETTINGS_PATH)).is_ok_and(|text| text == USER_SETTINGS_TEXT)
        && fs::read_to_string(sandbox.dir.join(GIT_EXCLUDE_PATH))
            .is_ok_and(|text| text == GIT_EXCLUDE_LIST_TEXT)
}

pub fn is_unwired_for_user(sandbox: &Sandbox) -> bool {
    fs::read_to_string(sandbox.dir.join(USER_SETTINGS_PATH)).is_ok_and(|text| text == USER_SETTINGS_TEXT)
}
