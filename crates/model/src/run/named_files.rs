//! Finds the test files and scripts that a check names in its command line.

use super::check::ProjectCheck;
use crate::checkout_path::path_within_checkout;

/// Returns, for each word of a check that seems to name a file, the paths that it may mean. The paths are relative to
/// the checkout. Options are left out. A check without such words concerns the whole project.
pub fn files_named_by_check(check: &ProjectCheck, checkout: &str) -> Vec<Vec<String>> {
    let words = check.program_and_arguments.iter();
    words
        .map(|word| paths_meant_by_word(check.program(), word))
        .filter(|paths| !paths.is_empty())
        .map(|paths| paths.iter().filter_map(|path| path_below(checkout, &check.folder, path)).collect())
        .collect()
}

fn paths_meant_by_word(program: &str, word: &str) -> Vec<String> {
    let word = match word.strip_prefix("--test ").or(word.strip_prefix("--test=")) {
        // For Cargo, the value of `--test` is the name of a test binary, which is usually the name of its source
        // file.
        Some(name) if program == "cargo" => return vec![format!("tests/{name}.rs")],
        // This option of node has no value, so a file may follow it.
        Some(file) if program == "node" => file,
        _ => word,
    };
    // pytest accepts the name of a test after the file.
    let name = word.split("::").next().unwrap_or(word);
    if word.starts_with('-') || !name.contains(['.', '/']) {
        return Vec::new();
    }
    if program != "unittest" || name.contains('/') || name.ends_with(".py") {
        return vec![name.to_owned()];
    }
    // The name of a module, perhaps followed by a class and a test.
    let parts: Vec<&str> = name.split('.').collect();
    (1..=parts.len()).rev().map(|length| format!("{}.py", parts[..length].join("/"))).collect()
}

fn path_below(checkout: &str, folder: &str, path: &str) -> Option<String> {
    let whole = match folder.is_empty() || path.starts_with('/') {
        true => path.to_owned(),
        false => format!("{folder}/{path}"),
    };
    let found = path_within_checkout(checkout, &whole);
    (!found.is_outside).then(|| found.path.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::checks_of_command;

    #[test]
    fn the_files_that_a_check_names() {
        for (command, expected) in [
            ("npm test", &[][..]),
            ("npm test -- ./test/a.test.js", &[&["test/a.test.js"][..]]),
            ("node --test test/a.test.js test/b.test.js", &[&["test/a.test.js"], &["test/b.test.js"]]),
            ("cd test && node --test a.test.js", &[&["test/a.test.js"]]),
            ("pytest -q -k total /p/tests/test_a.py::test_x", &[&["tests/test_a.py"]]),
            ("pytest /elsewhere/test_a.py", &[&[]]),
            ("python3 scripts/try.py", &[&["scripts/try.py"]]),
            (
                "python3 -m unittest tests.test_a.Case",
                &[&["tests/test_a/Case.py", "tests/test_a.py", "tests.py"]],
            ),
            ("cargo test --test cli", &[&["tests/cli.rs"]]),
            ("go test ./...", &[&["..."]]),
        ] {
            let check = checks_of_command(command, "").remove(0);
            assert_eq!(files_named_by_check(&check, "/p"), expected, "{command}");
        }
    }
}
