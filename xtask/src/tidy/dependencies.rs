//! Checks the list of packages that hooks are linked with, and the total number of packages, so that neither grows
//! unnoticed.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::TidyFinding;

const OPS_DEPENDENCY_LIST_FILE: &str = "xtask/ops-dependencies.txt";
const MAX_PACKAGES: usize = 300;

pub fn check_dependencies(root: &Path) -> Result<Vec<TidyFinding>> {
    let mut findings = Vec::new();
    let written = std::fs::read_to_string(root.join(OPS_DEPENDENCY_LIST_FILE)).unwrap_or_default();
    let found = dependencies_of_ops()?;
    findings.extend(differences(&written, &found));
    let lock = std::fs::read_to_string(root.join("Cargo.lock")).context("reading Cargo.lock")?;
    let packages = lock.lines().filter(|line| *line == "[[package]]").count();
    if packages > MAX_PACKAGES {
        findings.push(TidyFinding::new("Cargo.lock", format!("{packages} packages, at most {MAX_PACKAGES}")));
    }
    Ok(findings)
}

pub fn write_dependency_list(root: &Path) -> Result<()> {
    let mut text: String = dependencies_of_ops()?.into_iter().collect::<Vec<_>>().join("\n");
    text.push('\n');
    std::fs::write(root.join(OPS_DEPENDENCY_LIST_FILE), text)
        .with_context(|| format!("writing {OPS_DEPENDENCY_LIST_FILE}"))
}

/// Returns the names of the packages that `ops` depends on. The versions are in the lock file. The target is fixed, so
/// that the list is the same on every machine.
fn dependencies_of_ops() -> Result<BTreeSet<String>> {
    let output = crate::cargo_command()
        .args(["tree", "--package", "ops", "--edges", "normal", "--prefix", "none", "--format", "{p}"])
        .args(["--target", "x86_64-unknown-linux-musl"])
        .output()
        .context("starting cargo tree")?;
    if !output.status.success() {
        bail!("cargo tree: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(package_names(&String::from_utf8_lossy(&output.stdout)))
}

fn package_names(tree: &str) -> BTreeSet<String> {
    tree.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

fn differences(written: &str, found: &BTreeSet<String>) -> Vec<TidyFinding> {
    let listed: Vec<&str> = written.lines().map(str::trim).collect();
    let gone = (1..).zip(&listed).filter(|(_, name)| !name.is_empty() && !found.contains(**name)).map(
        |(number, name)| {
            TidyFinding::new(
                format!("{OPS_DEPENDENCY_LIST_FILE}:{number}"),
                format!("{name} is no longer linked by ops (cargo xtask tidy --bless)"),
            )
        },
    );
    let new = found.iter().filter(|name| !listed.contains(&name.as_str())).map(|name| {
        TidyFinding::new(
            OPS_DEPENDENCY_LIST_FILE,
            format!("{name} is new on the hook path; if this is intended, run cargo xtask tidy --bless"),
        )
    });
    gone.chain(new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_without_versions_and_once() {
        let tree =
            "ops v0.1.0 (/x/crates/ops)\nserde v1.0.1\nserde v1.0.1 (*)\nserde_derive v1 (proc-macro)\n";
        assert_eq!(package_names(tree).into_iter().collect::<Vec<_>>(), ["ops", "serde", "serde_derive"]);
    }

    #[test]
    fn both_directions_are_told() {
        let found: BTreeSet<String> = ["a", "b"].map(str::to_owned).into();
        let findings = differences("a\nc\n", &found);
        assert_eq!(findings[0].place, "xtask/ops-dependencies.txt:2");
        assert!(findings[1].text.starts_with("b is new"));
        assert_eq!(findings.len(), 2);
        assert!(differences("a\nb\n", &found).is_empty());
    }
}
