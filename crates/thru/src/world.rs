//! The one place where clock, environment and working directory are read.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use jiff::Timestamp;
use model::time;
use ops::World;

/// What the name of every variable of ours begins with.
pub const PREFIX: &str = "THROUGHLINE_";

pub fn var(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// Returns the clock's time, or `THROUGHLINE_NOW` in tests. The error contains that variable if it is not a time.
pub fn now() -> Result<Timestamp, String> {
    match std::env::var("THROUGHLINE_NOW") {
        Ok(text) => time::parse(&text).ok_or(text),
        Err(_) => Ok(Timestamp::now()),
    }
}

/// The effective user.
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// `word` is how this program was called.
pub fn world(root: Option<PathBuf>, word: Option<&OsStr>, now: Timestamp) -> World<'static> {
    let cwd = std::env::current_dir().ok();
    World {
        var: &var,
        has_variables: true,
        program: program(word, cwd.as_deref()),
        cwd,
        root,
        now,
        user: user(),
    }
}

/// Returns the path of this binary by the name it was called with: a harness should call a link that an upgrade
/// moves.
fn program(word: Option<&OsStr>, cwd: Option<&Path>) -> PathBuf {
    let exact = std::env::current_exe().unwrap_or_default();
    let word = Path::new(word.unwrap_or_default());
    let candidates: Vec<PathBuf> = if word.components().count() > 1 {
        cwd.map(|cwd| straight(&cwd.join(word))).into_iter().collect()
    } else {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).map(|folder| folder.join(word)).collect()
    };
    let is_this = |candidate: &PathBuf| {
        candidate.is_absolute() && candidate.canonicalize().is_ok_and(|real| real == exact)
    };
    candidates.into_iter().find(is_this).unwrap_or(exact)
}

/// Removes `.` and `..`. Links are resolved only if there is a `..`; elsewhere they are kept.
fn straight(path: &Path) -> PathBuf {
    let climbs = path.components().any(|part| part == Component::ParentDir);
    match (path.parent().map(Path::canonicalize), path.file_name()) {
        (Some(Ok(folder)), Some(name)) if climbs => folder.join(name),
        _ => path.components().collect(),
    }
}
