//! Every promise in SECURITY.md has a test.

use std::fs;
use std::path::{Path, PathBuf};

fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the section below a heading, up to the next heading of the same level.
pub(crate) fn section_below<'a>(page: &'a str, heading: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no {heading}"));
    rest.split("\n## ").next().unwrap()
}

/// Returns the tests that are listed in the comment after a promise, as in `test: a::b, c::d; torture: e`.
fn tests_named_by(promise: &str) -> Vec<(String, String)> {
    let Some((_, comment)) = promise.split_once("<!--") else { return Vec::new() };
    let comment = comment.split("-->").next().unwrap();
    let kinds = comment.split(';').filter_map(|part| part.split_once(':'));
    let names = kinds.flat_map(|(kind, names)| {
        names.split(',').map(|name| (kind.trim().to_owned(), name.trim().to_owned())).collect::<Vec<_>>()
    });
    names.collect()
}

/// Finds every file that may contain the module `name`.
fn find_module_files(folder: &Path, name: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            find_module_files(&path, name, found);
        } else if path.file_name().is_some_and(|file| file == format!("{name}.rs").as_str()) {
            found.push(path);
        }
    }
}

fn is_existing_test(reference: &str) -> bool {
    let Some((module, function)) = reference.rsplit_once("::") else { return false };
    let mut files = Vec::new();
    find_module_files(&workspace_root().join("crates"), module.rsplit("::").next().unwrap(), &mut files);
    files.iter().any(|file| {
        let text = fs::read_to_string(file).unwrap();
        let at = text.find(&format!("fn {function}("));
        at.is_some_and(|at| text[..at].trim_end().ends_with("#[test]"))
    })
}

fn is_torture_section(name: &str) -> bool {
    let text = fs::read_to_string(workspace_root().join("xtask/src/torture.rs")).unwrap();
    text.contains(&format!("name: \"{name}\""))
}

#[test]
fn every_promise_names_a_test() {
    let page = fs::read_to_string(workspace_root().join("SECURITY.md")).unwrap();
    let promised = section_below(&page, "## What is promised");
    let mut promises = 0;
    for line in promised.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        // Each line must be one sentence, because a second sentence could make a promise without a test.
        let promise = line.strip_prefix("- ").unwrap_or_else(|| panic!("not a promise of its own: {line}"));
        let text = promise.split("<!--").next().unwrap().trim();
        assert!(
            text.ends_with('.') && !text.trim_end_matches('.').contains(". "),
            "not one sentence: {text}"
        );
        let references = tests_named_by(promise);
        assert!(!references.is_empty(), "no test shows: {text}");
        for (kind, name) in references {
            let exists = match kind.as_str() {
                "test" => is_existing_test(&name),
                "torture" => is_torture_section(&name),
                _ => false,
            };
            assert!(exists, "{kind} {name} is not there, but is to show: {text}");
        }
        promises += 1;
    }
    assert!(promises >= 20, "{promises} promises");
}

#[test]
fn a_reference_to_nothing_is_found() {
    assert!(is_existing_test("security::every_promise_names_a_test"));
    assert!(!is_existing_test("security::section"), "a function that is not a test shows nothing");
    assert!(!is_existing_test("security::nobody_wrote_this"));
    assert!(is_torture_section("hostile places") && !is_torture_section("friendly places"));
    let both = tests_named_by("Text. <!-- test: a::b, c::d; torture: e -->");
    let pair = |kind: &str, name: &str| (kind.to_owned(), name.to_owned());
    assert_eq!(both, [pair("test", "a::b"), pair("test", "c::d"), pair("torture", "e")]);
    assert_eq!(tests_named_by("Text."), []);
}

#[test]
fn the_page_says_how_to_report_and_is_found_from_the_readme() {
    let page = fs::read_to_string(workspace_root().join("SECURITY.md")).unwrap();
    for heading in ["## What is not promised", "## How to report"] {
        assert!(section_below(&page, heading).len() > 100, "{heading}");
    }
    assert!(fs::read_to_string(workspace_root().join("README.md")).unwrap().contains("](SECURITY.md)"));
}
