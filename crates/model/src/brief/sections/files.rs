//! Files grouped by folder: edited files, and files that were read and are likely to be needed.

use std::collections::BTreeMap;

use crate::brief::BriefMaterial;
use crate::brief::candidate::FactClass;
use crate::brief::gather::GatheredCandidates;
use crate::brief::paths::PathEndings;
use crate::checkout_path::is_in_store;
use crate::digest::{Digest, FileUse};
use crate::render::{format_path_or_code, in_backticks, is_plain_path};
use crate::text::cut_to_bytes;

/// If there is a summary, a file that was read before the last edit is usually left out. This many files are exceptions:
/// those that are most likely to be needed. They are left out only if the summary mentions them.
const MAX_LIKELY_FILES_LISTED_BESIDE_SUMMARY: usize = 4;

pub fn gather_files(material: &BriefMaterial, all: &mut GatheredCandidates) {
    let BriefMaterial { digest, missing_files: gone, .. } = *material;
    let endings = PathEndings::count_endings(digest.files.iter().map(|file| file.path.as_str()));
    let used = digest.files.iter().filter(|file| file.edits + file.reads > 0 && !file.is_outside_checkout);
    let folders = PrintedFolders::choose(used.map(|file| file.path.as_str()), |name| endings.is_unique(name));
    let last_edit = digest.files.iter().map(|file| file.edited_at).max().unwrap_or(0);
    let goal = digest.current_goal();
    let task = goal
        .task_prompt
        .filter(|_| !goal.is_answered)
        .or(goal.newest_prompt)
        .map_or(0, |prompt| prompt.record);
    let mut place = 0;
    for file in digest.ranked_files() {
        if is_git_name_or_folder(file, digest) || file.was_missing {
            continue;
        }
        let class = match (file.is_edited(), file.reads) {
            (false, 0) => FactClass::Named,
            (false, _) => FactClass::Read,
            (true, _) => FactClass::Edited,
        };
        let (folder, name) = match is_plain_path(&file.path) {
            // A path that is not plain is printed as code, so its folder and its name must not be printed separately.
            false => ("", file.path.as_str()),
            true => folders
                .split_path(&file.path, |name| endings.is_unique(name))
                .unwrap_or_else(|| endings.split_at_unique_ending(&file.path)),
        };
        // A record of thru that was only read is no file of the project.
        let is_record = !file.is_edited() && is_in_store(&file.path);
        if file.deleted || gone.contains(&file.path) || is_from_cache(file) || is_record {
            continue;
        }
        // Leave out some of the files that were only mentioned in a command. A file outside the project may be
        // temporary, and a file that was last mentioned before the current task belongs to an earlier task.
        if class == FactClass::Named && (file.is_outside_checkout || file.last_use_record < task) {
            continue;
        }
        let candidate = all.add_fact(
            class,
            format!("file:{}", cut_to_bytes(&file.path, 300)),
            file_forms(digest, file, name),
        );
        candidate.folder =
            Some(if folder.is_empty() { String::new() } else { format_path_or_code(folder, 200) });
        // If there is a summary, files that were read before the last edit are left out, except those most likely to
        // be needed.
        let served = class == FactClass::Read
            && file.last_use_record < last_edit
            && place >= MAX_LIKELY_FILES_LISTED_BESIDE_SUMMARY;
        candidate.strings_stating_fact = vec![if served { String::new() } else { name.to_owned() }];
        // Edited and read files are ranked together. Files that were only mentioned are not part of this ranking.
        if class != FactClass::Named {
            candidate.position_in_class = place;
            place += 1;
        }
    }
}

/// Returns whether a file outside the project was only read and belongs to an installed program.
fn is_from_cache(file: &FileUse) -> bool {
    const INSTALL_FOLDERS: &[&str] = &["cache", ".cache", "plugins", "node_modules", "site-packages"];
    file.is_outside_checkout
        && file.edits == 0
        && file.path.split('/').any(|part| INSTALL_FOLDERS.contains(&part))
}

/// The folders that are printed once for all their files.
struct PrintedFolders<'p> {
    /// The folder that saves the most characters if it is printed only once. Empty if no folder contains two files.
    main_folder: &'p str,
    /// Folders in the main folder that get a line of their own. They contain so many files that a separate line makes
    /// the list shorter.
    folders_with_own_line: Vec<&'p str>,
}

/// How many characters a folder's line needs in addition to the names of the folder and its files.
const FOLDER_LINE_CHARS: usize = 12;

impl<'p> PrintedFolders<'p> {
    /// Only files whose names are unique in the session can be listed below a folder of their own. The others are
    /// listed below the main folder, with the rest of their path.
    fn choose(paths: impl Iterator<Item = &'p str>, is_unique: impl Fn(&str) -> bool) -> PrintedFolders<'p> {
        let (mut below, mut directly) = (BTreeMap::<&str, usize>::new(), BTreeMap::<&str, usize>::new());
        for path in paths {
            let folders =
                path.match_indices('/').map(|(at, _)| &path[..at]).filter(|folder| !folder.is_empty());
            folders.for_each(|folder| *below.entry(folder).or_default() += 1);
            if let Some((folder, _)) = path.rsplit_once('/').filter(|(_, name)| is_unique(name)) {
                *directly.entry(folder).or_default() += 1;
            }
        }
        let saved = |folder: &str, files: usize| files.saturating_sub(1) * (folder.len() + 1);
        let best = below.into_iter().filter(|(_, files)| *files > 1);
        let best = best.max_by_key(|(folder, files)| (saved(folder, *files), folder.len()));
        let main = best.map_or("", |(folder, _)| folder);
        let is_worth_a_line = |(folder, files): &(&str, usize)| {
            path_below(main, folder)
                .is_some_and(|sub| files * (sub.len() + 1) > folder.len() + FOLDER_LINE_CHARS)
        };
        let own = directly.into_iter().filter(is_worth_a_line).map(|(folder, _)| folder).collect();
        PrintedFolders { main_folder: main, folders_with_own_line: own }
    }

    /// Splits a path into one of the printed folders and a remainder that is unique in the session. Returns `None` if
    /// there is no such folder.
    fn split_path<'f>(&self, path: &'f str, is_unique: impl Fn(&str) -> bool) -> Option<(&'f str, &'f str)> {
        let own = self.folders_with_own_line.iter().filter(|folder| {
            path_below(folder, path).is_some_and(|name| !name.contains('/') && is_unique(name))
        });
        let mut folders = own.chain([&self.main_folder]);
        let folder = folders.find(|folder| path_below(folder, path).is_some_and(&is_unique))?;
        Some((&path[..folder.len()], path_below(folder, path)?))
    }
}

fn path_below<'p>(folder: &str, path: &'p str) -> Option<&'p str> {
    path.strip_prefix(folder)?.strip_prefix('/').filter(|_| !folder.is_empty())
}

/// Returns whether a name from a command line is inside `.git`, or is a folder whose files are listed anyway.
fn is_git_name_or_folder(file: &FileUse, digest: &Digest) -> bool {
    let is_below = |other: &FileUse| {
        other.path.strip_prefix(file.path.as_str()).is_some_and(|rest| rest.starts_with('/'))
    };
    file.edits + file.reads == 0
        && (file.path.split('/').any(|part| part == ".git") || digest.files.iter().any(is_below))
}

/// The longer form says what was changed in the file or, if that is not known, how often it was edited.
pub(super) fn file_forms(digest: &Digest, file: &FileUse, name: &str) -> Vec<String> {
    const MAX_NAMES: usize = 2;
    let name = format_path_or_code(name, 200);
    let names = digest.names_changed_in_current_work(&file.path);
    let mut changed = names.added.iter().chain(&names.changed);
    let told: Vec<String> = changed.by_ref().take(MAX_NAMES).map(|name| in_backticks(name, 60)).collect();
    if !told.is_empty() {
        let more = match changed.count() {
            0 => String::new(),
            more => format!(", +{more}"),
        };
        return vec![name.clone(), format!("{name} ({}{more})", told.join(", "))];
    }
    let often = (file.edits > 1).then(|| format!("{}×", file.edits));
    match often {
        None => vec![name],
        Some(often) => vec![name.clone(), format!("{name} ({often})")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_printed_once_for_its_files() {
        let split = |paths: &[&'static str]| {
            let endings = PathEndings::count_endings(paths.iter().copied());
            let is_unique = |name: &str| endings.is_unique(name);
            let folders = PrintedFolders::choose(paths.iter().copied(), is_unique);
            let split = paths.iter().map(|path| folders.split_path(path, is_unique).unwrap_or_default());
            split.collect::<Vec<_>>()
        };
        assert_eq!(
            split(&["src/cli/a.rs", "src/cli/sub/b.rs", "docs/c.md"]),
            [("src/cli", "a.rs"), ("src/cli", "sub/b.rs"), ("", "")]
        );
        assert_eq!(split(&["a.rs", "b.rs"]), [("", ""), ("", "")]);
        assert_eq!(split(&["src/a.rs"]), [("", "")]);
        let many = [
            "project/app/main.py",
            "project/app/urls.py",
            "project/app/util.py",
            "project/app/tests/x1.py",
            "project/app/settings/a1.py",
            "project/app/settings/b1.py",
            "project/app/settings/c1.py",
            "project/app/settings/d1.py",
        ];
        let found = split(&many);
        assert_eq!(found[0], ("project/app", "main.py"));
        assert_eq!(found[3], ("project/app", "tests/x1.py"));
        assert_eq!(found[4], ("project/app/settings", "a1.py"));
        // A file whose name is not unique is printed with the rest of its path, so a separate line for its folder
        // saves nothing.
        let shared = [
            "project/shop/cart/types.go",
            "project/shop/cart/prices/types.go",
            "project/shop/cart/prices/taxes.go",
            "project/shop/cart/orders/taxes.go",
            "project/shop/cart/prices/total.go",
            "project/shop/main_menu.go",
            "project/shop/help_page.go",
            "project/shop/users/login_page.go",
        ];
        let folders: Vec<&str> = split(&shared).into_iter().map(|(folder, _)| folder).collect();
        assert_eq!(folders, ["project/shop"; 8]);
        assert_eq!(path_below("src", "srcs/a.rs"), None);
    }
}
