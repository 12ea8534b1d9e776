//! The one place where clock, environment and working directory are read.

use std::ffi::OsString;
use std::path::PathBuf;

use jiff::Timestamp;
use model::time;
use ops::World;

pub fn var(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// The clock, or `THROUGHLINE_NOW` in tests. Err holds what that variable says when it is no time.
pub fn now() -> Result<Timestamp, String> {
    match std::env::var("THROUGHLINE_NOW") {
        Ok(text) => time::parse(&text).ok_or(text),
        Err(_) => Ok(Timestamp::now()),
    }
}

pub fn world(root: Option<PathBuf>, now: Timestamp) -> World<'static> {
    World { var: &var, cwd: std::env::current_dir().ok(), root, program: program(), now }
}

/// Where this binary is. Not resolved further: a link that an upgrade moves along is what a harness should call.
fn program() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| PathBuf::from("thru"))
}
