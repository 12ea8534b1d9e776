//! Settings files that are unfit for hooks: git tracks the file, or the harness ignores it.

use std::path::{Path, PathBuf};

use harness::Harness;
use serde::Serialize;

use super::InstallScope;
use super::places::{harness_folder, harnesses_in_use, hook_table_of_harness, settings_file};
use crate::World;

/// If git tracks more files than this in a harness's folder, no advice about them is given.
const MAX_TRACKED_FILES: usize = 10_000;

/// Returns the local settings file of a harness if git tracks it, and what to do instead of installing into it. Returns
/// `None` if hooks can be installed into the local file, or if the harness has none. Reads git's index itself, because
/// `thru doctor` starts no process.
pub fn local_settings_file_tracked_by_git(
    world: &World,
    harness: &Harness,
    project: &Path,
) -> Option<(PathBuf, String)> {
    let name = hook_table_of_harness(harness)?.local_file?;
    let folder = project.join(harness.folder);
    let tracked = store::Checkout::open(&folder).ok()?.tracked_files(MAX_TRACKED_FILES)?;
    let is_tracked = tracked.iter().any(|file| file == name);
    is_tracked.then(|| (folder.join(name), advice_for_tracked_file(world, harness, project)))
}

/// A harness's settings file into which hooks are not installed because git tracks it.
#[derive(Clone, Debug, Serialize)]
pub struct TrackedSettings {
    pub harness: &'static str,
    pub title: &'static str,
    pub path: PathBuf,
}

/// Returns the first harness in use whose local settings file is tracked by git.
pub fn tracked_settings(world: &World, project: &Path) -> Option<TrackedSettings> {
    harnesses_in_use(world, project).into_iter().find_map(|harness| {
        let (path, _) = local_settings_file_tracked_by_git(world, harness, project)?;
        Some(TrackedSettings { harness: harness.name, title: harness.title, path })
    })
}

/// Returns advice on where to install hooks if git tracks the local settings file.
pub(super) fn advice_for_tracked_file(world: &World, harness: &Harness, project: &Path) -> String {
    let file = |scope: InstallScope| {
        let folder = harness_folder(world, harness, project, scope).ok()?;
        let file = settings_file(harness, &folder, scope).ok()??;
        Some(format!(" ({})", folder.join(file.name).display()))
    };
    let [own, shared] =
        [InstallScope::User, InstallScope::Project].map(|scope| file(scope).unwrap_or_default());
    let name = harness.name;
    format!(
        "`thru install {name} --user` uses your settings for all projects{own}; `thru install {name} --project` uses the \
         project's settings, which everybody who uses the repository gets{shared}; or make git stop tracking the file, \
         then run `thru install {name}`"
    )
}

/// Returns whether the harness ignores this file and every hook in it.
pub fn is_file_ignored_by_harness(harness: &Harness, bytes: &[u8]) -> bool {
    let json = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let is_strict = hook_table_of_harness(harness).is_some_and(|table| table.rejects_comments);
    is_strict && serde_json::from_slice::<serde::de::IgnoredAny>(json).is_err()
}

pub fn note_on_file_ignored_by_harness(harness: &Harness) -> String {
    format!(
        "{} ignores this file as long as it has comments or trailing commas, so none of its hooks run",
        harness.title
    )
}
