//! Files grouped by folder: edited files, and files that were read and are likely to be needed.

use std::collections::BTreeMap;

use crate::brief::BriefMaterial;
use crate::brief::candidate::FactClass;
use crate::brief::gather::GatheredCandidates;
use crate::brief::paths::PathEndings;
use crate::digest::{Digest, FileUse};
use crate::render::path_or_code;
use crate::text::cut_to_bytes;

/// The number of most likely files to add to a summary that lacks them, even if they were read long ago.
const MAX_LIKELY_FILES: usize = 4;

pub fn gather_files(material: &BriefMaterial, all: &mut GatheredCandidates) {
    let BriefMaterial { digest, gone, .. } = *material;
    let endings = PathEndings::count_endings(digest.files.iter().map(|file| file.path.as_str()));
    let used = digest.files.iter().filter(|file| file.edits + file.reads > 0 && !file.outside);
    let main_folder = folder_shared_by_most(used.map(|file| file.path.as_str()));
    let last_edit = digest.files.iter().map(|file| file.edited_at).max().unwrap_or(0);
    let goal = digest.current_goal();
    let task = goal.task.filter(|_| !goal.is_answered).or(goal.newest).map_or(0, |prompt| prompt.record);
    let mut place = 0;
    for file in digest.ranked_files() {
        if is_git_name_or_folder(file, digest) {
            continue;
        }
        let class = match (file.edits, file.reads) {
            (0, 0) => FactClass::Named,
            (0, _) => FactClass::Read,
            _ => FactClass::Edited,
        };
        let (folder, name) = match path_below(&main_folder, &file.path) {
            Some(name) => (main_folder.as_str(), name),
            None => endings.split_at_unique_ending(&file.path),
        };
        if file.deleted || gone.contains(&file.path) || is_from_cache(file) {
            continue;
        }
        // A file that was only named in a command may be temporary, or belong to an earlier task. Such files are not
        // needed.
        if class == FactClass::Named && (file.outside || file.last < task) {
            continue;
        }
        let candidate = all.add_fact(
            class,
            format!("file:{}", cut_to_bytes(&file.path, 300)),
            file_forms(file, name),
        );
        candidate.folder = Some(if folder.is_empty() { String::new() } else { path_or_code(folder, 200) });
        // If there is a summary, files that were read before the last edit are left out, except the most likely ones.
        let served = class == FactClass::Read && file.last < last_edit && place >= MAX_LIKELY_FILES;
        candidate.known_by = vec![if served { String::new() } else { name.to_owned() }];
        // Edited and read files share one ranking.
        if class != FactClass::Named {
            candidate.place = place;
            place += 1;
        }
    }
}

/// Whether a file outside the project was only read and belongs to an installed program.
fn is_from_cache(file: &FileUse) -> bool {
    const INSTALL_FOLDERS: &[&str] = &["cache", ".cache", "plugins", "node_modules", "site-packages"];
    file.outside && file.edits == 0 && file.path.split('/').any(|part| INSTALL_FOLDERS.contains(&part))
}

/// Returns the folder that saves most if it is printed once for all files below it; empty if no folder has two.
fn folder_shared_by_most<'p>(paths: impl Iterator<Item = &'p str>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for path in paths {
        let folders = path.match_indices('/').map(|(at, _)| &path[..at]).filter(|folder| !folder.is_empty());
        folders.for_each(|folder| *counts.entry(folder).or_default() += 1);
    }
    let saved = |folder: &str, files: usize| files.saturating_sub(1) * (folder.len() + 1);
    let best = counts.into_iter().max_by_key(|(folder, files)| (saved(folder, *files), folder.len()));
    best.filter(|(_, files)| *files > 1).map_or(String::new(), |(folder, _)| folder.to_owned())
}

fn path_below<'p>(folder: &str, path: &'p str) -> Option<&'p str> {
    path.strip_prefix(folder)?.strip_prefix('/').filter(|_| !folder.is_empty())
}

/// Whether a name from a command line is inside `.git`, or is a folder whose files are listed anyway.
fn is_git_name_or_folder(file: &FileUse, digest: &Digest) -> bool {
    let is_below = |other: &FileUse| {
        other.path.strip_prefix(file.path.as_str()).is_some_and(|rest| rest.starts_with('/'))
    };
    file.edits + file.reads == 0
        && (file.path.split('/').any(|part| part == ".git") || digest.files.iter().any(is_below))
}

fn file_forms(file: &FileUse, name: &str) -> Vec<String> {
    let name = path_or_code(name, 200);
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
    fn the_folder_that_saves_most_is_printed_once() {
        let cases: &[(&[&str], &str)] = &[
            (&["src/cli/a.rs", "src/cli/b.rs", "docs/c.md"], "src/cli"),
            (&["app/x/y/a.py", "app/x/b.py", "app/x/z/c.py", "app/d.py"], "app/x"),
            (&["a.rs", "b.rs"], ""),
            (&["src/a.rs"], ""),
        ];
        for (paths, folder) in cases {
            assert_eq!(folder_shared_by_most(paths.iter().copied()), *folder, "{paths:?}");
        }
        assert_eq!(path_below("src", "src/a.rs"), Some("a.rs"));
        assert_eq!(path_below("src", "srcs/a.rs"), None);
        assert_eq!(path_below("", "a.rs"), None);
    }
}
