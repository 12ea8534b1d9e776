//! Checks that every source file mentioned in ARCHITECTURE.md exists, and that the file defines the items listed after
//! its name.

use std::path::{Path, PathBuf};

use super::TidyFinding;

const ARCHITECTURE_PAGE: &str = "ARCHITECTURE.md";

/// A name in backticks that ends with one of these extensions is the name of a source file.
const SOURCE_EXTENSIONS: &[&str] = &[".rs", ".js", ".ld"];

const ITEM_KEYWORDS: &[&str] = &["fn", "struct", "enum", "trait", "type", "const", "static", "mod"];

/// Checks the page. `read` returns the text of a source file.
pub fn check_page(
    path: &Path,
    text: &str,
    files: &[PathBuf],
    read: impl Fn(&Path) -> String,
) -> Vec<TidyFinding> {
    if path != Path::new(ARCHITECTURE_PAGE) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let place = || format!("{ARCHITECTURE_PAGE}:{}", number + 1);
        for (file, items) in named_files(line) {
            let found: Vec<&PathBuf> = files.iter().filter(|path| is_path_named(path, file)).collect();
            if found.is_empty() {
                findings.push(TidyFinding::new(place(), format!("there is no file `{file}`")));
            }
            for item in items {
                if !found.is_empty() && !found.iter().any(|path| defines_item(&read(path), item)) {
                    findings.push(TidyFinding::new(place(), format!("`{file}` does not define `{item}`")));
                }
            }
        }
    }
    findings
}

/// Returns the files that a line names in backticks, each with the items after it: `` `a.rs`: `one`, `two` ``.
fn named_files(line: &str) -> Vec<(&str, Vec<&str>)> {
    // The parts at odd positions are between backticks.
    let parts: Vec<&str> = line.split('`').collect();
    let mut files: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut has_items = false;
    for (i, part) in parts.iter().enumerate().skip(1).step_by(2) {
        if SOURCE_EXTENSIONS.iter().any(|end| part.ends_with(end)) && !part.contains(['<', ' ']) {
            files.push((part, Vec::new()));
            has_items = parts.get(i + 1).is_some_and(|between| *between == ": ");
        } else if let Some((_, items)) = files.last_mut().filter(|_| has_items) {
            items.push(part);
            has_items = parts.get(i + 1).is_some_and(|between| *between == ", ");
        }
    }
    files
}

/// Returns whether a path ends with a name. ARCHITECTURE.md leaves out `crates/` and any folder that is clear from
/// the context.
fn is_path_named(path: &Path, name: &str) -> bool {
    path.ends_with(name)
}

fn defines_item(source: &str, item: &str) -> bool {
    let name = item.rsplit("::").next().unwrap_or(item);
    source.lines().any(|line| {
        let words: Vec<&str> =
            line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect();
        words.windows(2).any(|pair| ITEM_KEYWORDS.contains(&pair[0]) && pair[1] == name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_files_and_items_are_reported_with_their_line() {
        let files = [PathBuf::from("crates/model/src/a.rs"), PathBuf::from("crates/ops/src/b/c.rs")];
        let read = |path: &Path| match path.ends_with("a.rs") {
            true => "pub fn one() {}\nimpl X {\n    const fn two(self) {}\n}\n".to_owned(),
            false => "pub(crate) struct Three;\n".to_owned(),
        };
        let page = "`model/src/a.rs`: `one`, `X::two` and `three`\n`b/c.rs`: `Three`; `a.rs`: `four`\n`<h>/d.rs` `e.rs`\n";
        let findings = check_page(Path::new(ARCHITECTURE_PAGE), page, &files, read);
        assert_eq!(
            findings,
            [
                TidyFinding::new("ARCHITECTURE.md:2", "`a.rs` does not define `four`"),
                TidyFinding::new("ARCHITECTURE.md:3", "there is no file `e.rs`"),
            ]
        );
        assert!(check_page(Path::new("README.md"), page, &files, read).is_empty());
    }
}
