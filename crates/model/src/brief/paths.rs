//! Shortens paths but keeps them usable. A folder is printed once for all its files, and each file is printed as the
//! shortest path suffix that is unique in the session.

use std::collections::HashMap;

use crate::render::format_path_or_code;
use crate::text::FingerprintHasherBuilder;

#[derive(Debug)]
pub(super) struct PathEndings<'a> {
    count: HashMap<&'a str, u32, FingerprintHasherBuilder>,
    /// For each folder, the number of files with a unique name, then the number of other files.
    names: HashMap<&'a str, (u32, u32), FingerprintHasherBuilder>,
}

/// If at most this many files in a folder have unique names, they are listed together with the other files in the
/// folder, so that the folder is printed only once.
const MAX_NAMES_BELOW_FOLDER: u32 = 4;

impl<'a> PathEndings<'a> {
    pub fn count_endings(paths: impl IntoIterator<Item = &'a str> + Clone) -> PathEndings<'a> {
        let mut all = PathEndings { count: HashMap::default(), names: HashMap::default() };
        for path in paths.clone() {
            path_endings(path).for_each(|ending| *all.count.entry(ending).or_default() += 1);
        }
        for path in paths {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            let (telling, others) = all.names.entry(folder).or_default();
            let is_told = !is_common_name(name) && all.count.get(name) == Some(&1);
            *(if is_told { telling } else { others }) += 1;
        }
        all
    }

    /// Returns whether no other file of the session ends with this suffix.
    pub fn is_unique(&self, ending: &str) -> bool {
        self.count.get(ending).is_none_or(|times| *times < 2)
    }

    /// Splits a path into its folder and the shortest suffix that is unique in the session. The folder is empty if
    /// the suffix is the whole path.
    pub fn split_at_unique_ending<'p>(&self, path: &'p str) -> (&'p str, &'p str) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let together = self
            .names
            .get(folder)
            .is_some_and(|(telling, others)| *others > 0 && *telling <= MAX_NAMES_BELOW_FOLDER);
        let telling = |ending: &&str| ending.contains('/') || !together && !is_common_name(ending);
        let ending = path_endings(path).filter(telling).find(|ending| self.is_unique(ending)).unwrap_or(path);
        match path.len() - ending.len() {
            0 => ("", ending),
            1 => ("/", ending),
            folder => (&path[..folder - 1], ending),
        }
    }
}

/// Lists the first `most` paths, then the number of omitted ones. The folder of several files is printed once, in the
/// form that shells expand: `src/{a.rs,b.rs}, README.md, +2 more`.
pub(crate) fn list_by_folder<'p>(paths: impl Iterator<Item = &'p str>, most: usize) -> String {
    let (mut folders, mut more): (Vec<(&str, Vec<String>)>, usize) = (Vec::new(), 0);
    for (place, path) in paths.enumerate() {
        if place >= most {
            more += 1;
            continue;
        }
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let name = format_path_or_code(name, 120);
        match folders.iter_mut().find(|(known, _)| *known == folder) {
            Some((_, names)) => names.push(name),
            None => folders.push((folder, vec![name])),
        }
    }
    let words = |(folder, names): &(&str, Vec<String>)| match (*folder, names.as_slice()) {
        ("", names) => names.join(", "),
        (folder, [name]) => format!("{}/{name}", format_path_or_code(folder, 200)),
        (folder, names) => format!("{}/{{{}}}", format_path_or_code(folder, 200), names.join(",")),
    };
    let more = if more > 0 { format!(", +{more} more") } else { String::new() };
    format!("{}{more}", folders.iter().map(words).collect::<Vec<_>>().join(", "))
}

/// Returns whether a name is one short plain word, such as `types.go` or `mod.rs`. Project files that the session has
/// not used may have the same name.
fn is_common_name(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name);
    let plain = stem.bytes().all(|byte| byte.is_ascii_lowercase())
        || stem.bytes().all(|byte| byte.is_ascii_uppercase());
    plain && stem.len() <= 12
}

/// Returns the suffixes of a path, shortest first: `c`, `b/c`, `a/b/c`.
pub(super) fn path_endings(path: &str) -> impl Iterator<Item = &str> {
    let slashes = path.bytes().enumerate().rev().filter(|(_, byte)| *byte == b'/');
    slashes.map(|(at, _)| &path[at + 1..]).filter(|ending| !ending.is_empty()).chain([path])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_listed_with_their_folder() {
        let paths = ["tests/a.py", "README.md", "tests/b.py", "src/x/c.py", "d.py"];
        let list = |most| list_by_folder(paths.into_iter(), most);
        assert_eq!(list(9), "tests/{a.py,b.py}, README.md, d.py, src/x/c.py");
        assert_eq!(list(2), "tests/a.py, README.md, +3 more");
    }

    #[test]
    fn an_ending_is_no_other_files() {
        let paths = [
            "src/a/mod.rs",
            "src/b/mod.rs",
            "src/b/x1.rs",
            "y.rs",
            "/tmp/z_1.rs",
            "/w1.rs",
            "src/c/types.rs",
            "a/b/main_loop.rs",
        ];
        let endings = PathEndings::count_endings(paths);
        let split: Vec<(&str, &str)> =
            paths.iter().map(|path| endings.split_at_unique_ending(path)).collect();
        let expected = [
            ("src", "a/mod.rs"),
            ("src", "b/mod.rs"),
            ("src", "b/x1.rs"),
            ("", "y.rs"),
            ("/tmp", "z_1.rs"),
            ("", "/w1.rs"),
            ("src", "c/types.rs"),
            ("a/b", "main_loop.rs"),
        ];
        assert_eq!(split, expected);
        assert_eq!(
            PathEndings::count_endings(["a/x", "b/a/x"]).split_at_unique_ending("a/x"),
            ("", "a/x"),
            "nothing shorter is left"
        );
        assert_eq!(
            PathEndings::count_endings(["a/x", "b/a/x"]).split_at_unique_ending("b/a/x"),
            ("", "b/a/x")
        );
    }
}
