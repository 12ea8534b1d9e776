//! The rows of the benchmark. A new one is one line in `ROWS`.

use std::path::Path;

use anyhow::Result;
use serde_json::json;

use crate::dist::Kind;
use crate::scene::{Scene, payload};

pub struct Row {
    pub name: &'static str,
    pub scene: fn(&Scene) -> Result<()>,
    pub argv: &'static [&'static str],
    pub payload: fn(&Path) -> Vec<u8>,
    pub target: Target,
    /// The one row that is also run 64 times at once.
    pub crowd: bool,
}

/// The most a row may cost, in `/bin/true`s.
pub struct Target {
    musl: f64,
    gnu: f64,
}

impl Target {
    pub fn of(&self, kind: Kind) -> f64 {
        match kind {
            Kind::Musl => self.musl,
            Kind::StaticGnu => self.gnu,
            // What the loader takes on top of glibc's own start-up, measured: 0.5 to 0.7.
            Kind::Dynamic => self.gnu + 0.7,
        }
    }
}

const fn at_most(musl: f64, gnu: f64) -> Target {
    Target { musl, gnu }
}

const fn row(
    name: &'static str,
    scene: fn(&Scene) -> Result<()>,
    argv: &'static [&'static str],
    payload: fn(&Path) -> Vec<u8>,
    target: Target,
) -> Row {
    Row { name, scene, argv, payload, target, crowd: false }
}

/// glibc's start-up costs about half a `/bin/true` more than musl's: hence the second figure.
pub const ROWS: &[Row] = &[
    Row { crowd: true, ..row(TOOL_DONE, trusted, POST_TOOL_USE, edit_4k, at_most(1.0, 1.5)) },
    row("hook tool-done, 4 KB command with a secret", trusted, POST_TOOL_USE, bash_4k, at_most(1.0, 1.5)),
    row("hook tool-done, 2 MB payload", trusted, POST_TOOL_USE, edit_2m, at_most(5.0, 5.5)),
    row("hook, no root", nothing, POST_TOOL_USE, edit_4k, at_most(0.9, 1.4)),
    row("hook, root not trusted", untrusted, POST_TOOL_USE, edit_4k, at_most(1.0, 1.5)),
    row("hook prompt", trusted, &["hook", "claude-code", "UserPromptSubmit"], prompt, at_most(1.5, 2.0)),
    row("hook session-start", trusted, &["hook", "claude-code", "SessionStart"], start, at_most(8.0, 8.5)),
    row("hook stop", trusted, &["hook", "claude-code", "Stop"], stop, at_most(1.5, 2.0)),
    row("hook before-compact", trusted, &["hook", "claude-code", "PreCompact"], compact, at_most(6.0, 6.5)),
    row("thru status", trusted, &["status"], empty, at_most(4.0, 4.5)),
    row("thru --version", nothing, &["--version"], empty, at_most(4.0, 4.5)),
];

/// The row whose system calls are counted.
pub const TOOL_DONE: &str = "hook tool-done, 4 KB edit";
pub const POST_TOOL_USE: &[&str] = &["hook", "claude-code", "PostToolUse"];

pub fn trusted(scene: &Scene) -> Result<()> {
    scene.init()
}

/// As after a clone: the store is there, the record of trust is not.
fn untrusted(scene: &Scene) -> Result<()> {
    scene.init()?;
    Ok(std::fs::remove_dir_all(scene.state())?)
}

fn nothing(_: &Scene) -> Result<()> {
    Ok(())
}

pub fn edit_4k(scene: &Path) -> Vec<u8> {
    payload::edit(scene, "toolu_01bench", 3_400, &payload::github_token())
}

fn edit_2m(scene: &Path) -> Vec<u8> {
    payload::edit(scene, "toolu_01bench", 1_900_000, &payload::github_token())
}

/// The command is what a journal line keeps, so here redaction has to work.
fn bash_4k(scene: &Path) -> Vec<u8> {
    let script = payload::code(3_300, &payload::github_token());
    payload::bash(scene, "toolu_01bench", &format!("cat > src/session.rs <<'EOF'\n{script}EOF"))
}

fn prompt(scene: &Path) -> Vec<u8> {
    let text = "Please make the token cache survive a restart, and do not log the password any more.";
    payload::event(scene, "UserPromptSubmit", json!({"prompt": text}))
}

fn start(scene: &Path) -> Vec<u8> {
    payload::event(scene, "SessionStart", json!({"source": "startup", "model": "claude-opus-4"}))
}

fn stop(scene: &Path) -> Vec<u8> {
    let text = "All tests pass. Next: the cache of tokens.";
    payload::event(scene, "Stop", json!({"stop_hook_active": false, "last_assistant_message": text}))
}

fn compact(scene: &Path) -> Vec<u8> {
    payload::event(scene, "PreCompact", json!({"trigger": "auto", "custom_instructions": ""}))
}

fn empty(_: &Path) -> Vec<u8> {
    Vec::new()
}
