//! Checks that every package we build with has a licence under which we may distribute it. `cargo deny` checks this
//! more thoroughly (see deny.toml, which contains the same list), but it is not installed everywhere.

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::TidyFinding;

const ALLOWED_LICENCES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

pub fn check_licences() -> Result<Vec<TidyFinding>> {
    let output = crate::cargo_command()
        .args(["metadata", "--format-version", "1"])
        .output()
        .context("starting cargo")?;
    if !output.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata")?;
    let packages = metadata["packages"].as_array().context("cargo metadata names no packages")?;
    let mut findings = Vec::new();
    for package in packages {
        let name = format!(
            "{} {}",
            package["name"].as_str().unwrap_or("?"),
            package["version"].as_str().unwrap_or("?")
        );
        match package["license"].as_str() {
            Some(expression) if is_licence_expression_allowed(expression) => {}
            Some(expression) => {
                findings.push(TidyFinding::new("Cargo.lock", format!("{name} is under {expression}")));
            }
            None => findings.push(TidyFinding::new("Cargo.lock", format!("{name} declares no licence"))),
        }
    }
    Ok(findings)
}

/// Returns whether an SPDX expression is satisfied, which means that one of its alternatives is on the list. The old
/// notation `MIT/Apache-2.0` means OR.
fn is_licence_expression_allowed(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let result = parse_or(&words, &mut at);
    result && at == words.len()
}

fn parse_or(words: &[&str], at: &mut usize) -> bool {
    let mut result = parse_and(words, at);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        // Do not short-circuit, because all words must be consumed.
        result |= parse_and(words, at);
    }
    result
}

fn parse_and(words: &[&str], at: &mut usize) -> bool {
    let mut result = parse_term(words, at);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        result &= parse_term(words, at);
    }
    result
}

fn parse_term(words: &[&str], at: &mut usize) -> bool {
    let Some(&word) = words.get(*at) else { return false };
    *at += 1;
    if word == "(" {
        let result = parse_or(words, at);
        let closed = words.get(*at) == Some(&")");
        *at += 1;
        return result && closed;
    }
    if words.get(*at) == Some(&"WITH") {
        let exception = words.get(*at + 1).copied().unwrap_or_default();
        *at += 2;
        // An exception only grants additional rights, so only the licence itself must be allowed.
        return ALLOWED_LICENCES.contains(&word)
            || ALLOWED_LICENCES.contains(&format!("{word} WITH {exception}").as_str());
    }
    ALLOWED_LICENCES.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::is_licence_expression_allowed;

    #[test]
    fn expressions_are_read_as_spdx_means_them() {
        for (expression, verdict) in [
            ("MIT", true),
            ("MIT OR GPL-3.0", true),
            ("MIT AND GPL-3.0", false),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
            ("GPL-3.0 OR (MIT AND AGPL-3.0)", false),
            ("MIT/Apache-2.0", true),
            ("Apache-2.0 WITH LLVM-exception OR GPL-2.0", true),
            ("GPL-2.0 WITH Classpath-exception-2.0", false),
            ("", false),
            ("(MIT", false),
        ] {
            assert_eq!(is_licence_expression_allowed(expression), verdict, "{expression}");
        }
    }
}
