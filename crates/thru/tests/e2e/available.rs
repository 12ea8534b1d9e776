//! Finds a harness. If it is not installed, its tests are skipped with a message. In CI they fail instead.

use std::io::Write;
use std::path::{Path, PathBuf};

/// Returns the binary that the variable names, or else the binary that `scripts/harnesses.sh` installed.
pub fn harness(variable: &str, name: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).map_or_else(|| installed().join(name), PathBuf::from);
    match path.canonicalize() {
        Ok(path) => Some(path),
        Err(_) => {
            skip(&format!("{name} is not at {}: run scripts/harnesses.sh", path.display()));
            None
        }
    }
}

pub fn skip(why: &str) {
    let ci = std::env::var("CI").is_ok_and(|value| !["", "0", "false"].contains(&value.as_str()));
    assert!(!ci, "skipped: {why} (CI is set, and there nothing may be skipped)");
    note(&format!("skipped: {why}"));
}

/// Prints directly to stderr, because the test runner shows a test's output only if it fails.
pub fn note(text: &str) {
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    let _ = writeln!(std::io::stderr(), "{test}: {text}");
}

fn installed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/harnesses")
}
