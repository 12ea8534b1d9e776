//! Paths in records. They are relative to the checkout and are only data: no file is opened merely because a record
//! contains its path.

use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckoutPath<'a> {
    /// The normalised path, with `/` and without `.` and `..`. It is `.` for the checkout itself, and absolute if
    /// `is_outside` is set.
    pub path: Cow<'a, str>,
    pub is_outside: bool,
}

impl CheckoutPath<'_> {
    pub fn path_if_inside(self) -> Option<String> {
        (!self.is_outside).then(|| self.path.into_owned())
    }
}

/// Returns `path` relative to `checkout`, which must be absolute. The file system is not consulted, because the file
/// may no longer exist.
pub fn path_within_checkout<'a>(checkout: &str, path: &'a str) -> CheckoutPath<'a> {
    let path: Cow<'a, str> = if path.contains('\\') && !path.contains('/') {
        Cow::Owned(path.replace('\\', "/")) // a path from Windows
    } else {
        Cow::Borrowed(path)
    };
    let mut parts: Vec<&str> = if is_absolute(&path) { Vec::new() } else { split_path(checkout).collect() };
    for part in split_path(&path) {
        match part {
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let base: Vec<&str> = split_path(checkout).collect();
    match parts.strip_prefix(base.as_slice()) {
        Some([]) => CheckoutPath { path: Cow::Borrowed("."), is_outside: false },
        Some(rest) => CheckoutPath { path: Cow::Owned(rest.join("/")), is_outside: false },
        None => CheckoutPath { path: Cow::Owned(join_absolute(&parts)), is_outside: true },
    }
}

fn split_path(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !matches!(*part, "" | "."))
}

/// The path of the store, relative to the root.
pub const STORE_FOLDER: &str = ".agent/context";

/// Returns whether a file is in a store. `path` is relative to the checkout, or absolute if the file is outside. The root
/// can be a subfolder of the checkout. What a user keeps elsewhere in `.agent` belongs to the project.
pub fn is_in_store(path: &str) -> bool {
    let is_start = |before: &str| before.is_empty() || before.ends_with('/');
    path.match_indices(STORE_FOLDER)
        .any(|(at, found)| is_start(&path[..at]) && path[at + found.len()..].starts_with('/'))
}

/// Returns whether a path is below a folder for temporary files, including a folder that the shell makes up, as in
/// `$(mktemp -d)`.
pub fn is_in_temporary_folder(path: &str) -> bool {
    const TEMPORARY_FOLDERS: [&str; 6] =
        ["/tmp", "/var/tmp", "/var/folders", "/dev/shm", "$TMPDIR", "${TMPDIR}"];
    let path = path.strip_prefix("/private").unwrap_or(path);
    let is_below = |folder: &&str| {
        path.strip_prefix(*folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    TEMPORARY_FOLDERS.iter().any(is_below) || path.starts_with("$(mktemp")
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.as_bytes().get(1) == Some(&b':')
}

fn join_absolute(parts: &[&str]) -> String {
    let drive = parts.first().is_some_and(|p| p.ends_with(':'));
    if drive { parts.join("/") } else { format!("/{}", parts.join("/")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_folders_are_recognised() {
        for (path, expected) in [
            ("/tmp/try", true),
            ("/tmp", true),
            ("/private/tmp/try/sub", true),
            ("/private/var/folders/x1/T/try", true),
            ("$TMPDIR/try", true),
            ("${TMPDIR}/try", true),
            ("$(mktemp -d)", true),
            ("/tmpfiles/a", false),
            ("/home/me/tmp/a", false),
            ("tmp/a", false),
            ("$TMPDIRS/a", false),
            ("", false),
        ] {
            assert_eq!(is_in_temporary_folder(path), expected, "{path}");
        }
    }

    #[test]
    fn tells_records_from_files_of_the_project() {
        for (path, expected) in [
            (".agent/context/plan.md", true),
            (".agent/context/outputs/audit.md", true),
            ("sub/.agent/context/plan.md", true),
            ("/elsewhere/.agent/context/plan.md", true),
            (".agent/x.md", false),
            (".agent/context", false),
            (".agent/contextual.md", false),
            (".agent/context.md", false),
            ("my.agent/context/a.rs", false),
            ("src/.agents/context/a.rs", false),
            ("src/a.rs", false),
        ] {
            assert_eq!(is_in_store(path), expected, "{path}");
        }
    }

    #[test]
    fn tells_inside_from_outside() {
        let cases = [
            ("/p", "/p/src/a.rs", "src/a.rs", false),
            ("/p", "src//./a.rs", "src/a.rs", false),
            ("/p", "/p/x/../src/a.rs", "src/a.rs", false),
            ("/p/", "/p", ".", false),
            ("/p", "../q/a", "/q/a", true),
            ("/p", "/pq/a", "/pq/a", true),
            ("/p", "/etc/passwd", "/etc/passwd", true),
            ("/p", "../../../..", "/", true),
            ("/p", "", ".", false),
            ("C:/p", "C:\\p\\a.rs", "a.rs", false),
            ("C:/p", "D:\\a.rs", "D:/a.rs", true),
        ];
        for (checkout, path, expected, outside) in cases {
            assert_eq!(
                path_within_checkout(checkout, path),
                CheckoutPath { path: expected.into(), is_outside: outside },
                "{checkout} {path}"
            );
        }
    }
}
