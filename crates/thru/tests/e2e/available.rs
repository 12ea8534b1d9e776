//! Finds a harness. If the harness is not installed, its tests are skipped with a message, or fail in CI.

use std::io::Write;
use std::path::{Path, PathBuf};

/// Returns the binary that the variable names, or else the binary that `scripts/harnesses.sh` installed.
pub fn find_harness(variable: &str, name: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).map_or_else(|| harnesses_folder().join(name), PathBuf::from);
    match path.canonicalize() {
        Ok(path) => Some(path),
        Err(_) => {
            report_skipped(&format!("{name} is not at {}: run scripts/harnesses.sh", path.display()));
            None
        }
    }
}

pub fn report_skipped(why: &str) {
    let ci = std::env::var("CI").is_ok_and(|value| !["", "0", "false"].contains(&value.as_str()));
    assert!(!ci, "skipped: {why} (CI is set, and there nothing may be skipped)");
    print_to_stderr(&format!("skipped: {why}"));
}

/// Prints directly to stderr, because the test runner shows the output of a test only if the test fails.
pub fn print_to_stderr(text: &str) {
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    let _ = writeln!(std::io::stderr(), "{test}: {text}");
}

fn harnesses_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/harnesses")
}
