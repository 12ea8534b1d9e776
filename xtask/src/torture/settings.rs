//! What an installation may leave of a user's settings: the old bytes or the new bytes, and a way to restore the
//! old bytes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::Result;

use super::Loss;
use super::integrity::is_settings;
use super::judge::{Wrongs, first_line};
use super::rows::{EXCLUDE, EXCLUDE_FILE, LOCAL_SETTINGS, Row, SETTINGS, USER_SETTINGS, holds_hooks};
use super::snapshot::Snapshot;
use crate::sandbox::Sandbox;

/// Checks that each settings file is unchanged, or is the same as after the command without a fault. A missing file
/// counts as a state too.
pub fn old_or_new(
    before: &Snapshot,
    clean: &Snapshot,
    after: &Snapshot,
    may_litter: bool,
    wrong: &mut Wrongs,
) {
    let all: BTreeSet<&Path> = [before, clean, after]
        .iter()
        .flat_map(|snapshot| snapshot.files())
        .map(|(path, _)| path)
        .filter(|path| is_settings(path))
        .collect();
    for path in all {
        let found = after.file(path);
        if found == before.file(path) || found == clean.file(path) {
            continue;
        }
        let temporary = path.extension().is_some_and(|extension| extension == "tmp");
        match found {
            Some(_) if temporary && may_litter => {}
            Some(_) if temporary => {
                wrong.push((Loss::None, format!("a temporary file is left: {}", path.display())));
            }
            Some(bytes) => wrong.push((
                Loss::Record,
                format!(
                    "{} is neither the old nor the new: {} bytes, {}",
                    path.display(),
                    bytes.len(),
                    first_line(bytes)
                ),
            )),
            None => wrong.push((Loss::Record, format!("{} is gone", path.display()))),
        }
    }
}

/// Checks that installing and uninstalling again restores the original bytes.
pub fn there_and_back(row: &Row, sandbox: &Sandbox, wrong: &mut Wrongs) -> Result<()> {
    let scope = if row.argv.contains(&"--user") { "--user" } else { "--local" };
    // Even if the hooks are in the project's settings, the status line is in the user's settings.
    let line = row.argv.contains(&"--statusline");
    let steps = [("install", scope), ("uninstall", scope), ("uninstall", "--user")];
    for (verb, scope) in steps.into_iter().take(if line { 3 } else { 2 }) {
        let output = match row.argv.first() {
            Some(&"swarm") => sandbox.run(&["swarm", verb, "--harness", "claude-code", scope], b"")?,
            _ => sandbox.run(&[verb, "claude-code", scope], b"")?,
        };
        if !output.status.success() {
            let why = first_line(&output.stderr);
            wrong.push((Loss::None, format!("{verb} afterwards: {}: {why}", output.status)));
        }
    }
    let none = row.name.contains("no settings");
    let mut expect = vec![(if scope == "--user" { USER_SETTINGS } else { LOCAL_SETTINGS }, SETTINGS)];
    if scope == "--local" {
        expect.push((EXCLUDE_FILE, EXCLUDE));
    }
    if line {
        expect.push((USER_SETTINGS, SETTINGS));
    }
    for (path, original) in expect {
        let found = fs::read(sandbox.dir.join(path)).ok();
        let original = (!none || path == EXCLUDE_FILE).then_some(original.as_bytes());
        if found.as_deref() != original {
            let found =
                found.map_or("not there".to_owned(), |bytes| String::from_utf8_lossy(&bytes).into_owned());
            let found: String = found.chars().take(300).collect();
            wrong.push((Loss::Record, format!("install and uninstall afterwards: {path} is {found:?}")));
        }
    }
    Ok(())
}

pub fn wired_locally(sandbox: &Sandbox) -> bool {
    holds_hooks(sandbox, LOCAL_SETTINGS)
}

pub fn has_status_line(sandbox: &Sandbox) -> bool {
    let text = fs::read_to_string(sandbox.dir.join(USER_SETTINGS)).unwrap_or_default();
    wired_locally(sandbox) && text.contains(" statusline\"")
}

pub fn wired_for_user(sandbox: &Sandbox) -> bool {
    holds_hooks(sandbox, USER_SETTINGS)
}

pub fn unwired(sandbox: &Sandbox) -> bool {
    fs::read_to_string(sandbox.dir.join(LOCAL_SETTINGS)).is_ok_and(|text| text == SETTINGS)
        && fs::read_to_string(sandbox.dir.join(EXCLUDE_FILE)).is_ok_and(|text| text == EXCLUDE)
}

pub fn unwired_for_user(sandbox: &Sandbox) -> bool {
    fs::read_to_string(sandbox.dir.join(USER_SETTINGS)).is_ok_and(|text| text == SETTINGS)
}
