//! Reads the clock, the environment and the working directory.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use jiff::Timestamp;
use model::time;
use ops::World;

use crate::clock;
use crate::output::OutputFormat;

/// The prefix of thru's own environment variables.
pub const VARIABLE_PREFIX: &str = "THROUGHLINE_";

pub fn read_variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// Returns the current time, or the time in `THROUGHLINE_NOW`, which tests set. If that value is not a valid time, it
/// is returned as the error.
pub fn current_time() -> Result<Timestamp, String> {
    match std::env::var("THROUGHLINE_NOW") {
        Ok(text) => time::parse_time(&text).ok_or(text),
        Err(_) => Ok(Timestamp::now()),
    }
}

pub fn effective_user_id() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Collects what `ops` needs to know about this process. `word` is the name under which the program was called.
pub fn build_world(
    root: Option<PathBuf>,
    word: Option<&OsStr>,
    now: Timestamp,
    format: OutputFormat,
) -> World<'static> {
    let cwd = std::env::current_dir().ok();
    let world = World {
        read_variable: &read_variable,
        time_for_reader: str::to_owned,
        has_variables: true,
        program_path: own_program_path(word, cwd.as_deref()),
        cwd,
        root,
        now,
        user_id: effective_user_id(),
    };
    // A command that an agent runs prints for that agent.
    match format == OutputFormat::Text && world.calling_harness().is_none() {
        true => World { time_for_reader: clock::local_date_and_time, ..world },
        false => world,
    }
}

/// Returns the path of this program, under the name by which it was called. If that path is a link, harnesses should
/// call the link, because an upgrade changes only the link's target.
fn own_program_path(word: Option<&OsStr>, cwd: Option<&Path>) -> PathBuf {
    let exact = std::env::current_exe().unwrap_or_default();
    let word = Path::new(word.unwrap_or_default());
    let candidates: Vec<PathBuf> = if word.components().count() > 1 {
        cwd.map(|cwd| normalize_path(&cwd.join(word))).into_iter().collect()
    } else {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).map(|folder| folder.join(word)).collect()
    };
    let is_this = |candidate: &PathBuf| {
        candidate.is_absolute() && candidate.canonicalize().is_ok_and(|real| real == exact)
    };
    candidates.into_iter().find(is_this).unwrap_or(exact)
}

/// Removes `.` and `..` from a path. Links are resolved only if the path contains `..`.
fn normalize_path(path: &Path) -> PathBuf {
    let climbs = path.components().any(|part| part == Component::ParentDir);
    match (path.parent().map(Path::canonicalize), path.file_name()) {
        (Some(Ok(folder)), Some(name)) if climbs => folder.join(name),
        _ => path.components().collect(),
    }
}
