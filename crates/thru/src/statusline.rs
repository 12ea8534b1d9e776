//! `thru statusline`: prints the line that a harness shows below its prompt. Like a hook, the command never fails. If
//! the user already had a status line, its output comes first.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::{hook, output};

#[derive(Debug, Default)]
pub struct StatusLineCall {
    /// The command of the status line that the user already had. Its output comes first.
    pub user_command: Option<OsString>,
    /// The value of `--root`.
    pub root: Option<PathBuf>,
    pub json: bool,
}

impl StatusLineCall {
    /// Reads the arguments after `thru statusline`, without an argument parser. Unknown arguments are ignored.
    pub fn from_words(words: &[OsString]) -> StatusLineCall {
        let value = |name: &str| {
            let given = words.iter().position(|word| word == name).and_then(|at| words.get(at + 1)).cloned();
            let joined =
                || words.iter().find_map(|word| word.to_str()?.strip_prefix(name)?.strip_prefix('='));
            given.or_else(|| joined().map(OsString::from))
        };
        let json = words.iter().any(|word| word == "--json");
        StatusLineCall { user_command: value("--after"), root: value("--root").map(PathBuf::from), json }
    }
}

/// Prints the status line. If the user's command or thru's own part fails, the other is still printed, and no error is
/// reported.
pub fn run_status_line(call: StatusLineCall, has_variables: bool, started: Instant) {
    std::panic::set_hook(Box::new(|_| {}));
    let payload = hook::read_payload(started);
    if let Some(own) = &call.user_command {
        output::print_data(&run_previous_status_line(own, &payload));
    }
    let world = hook::hook_world(crate::world::current_time().unwrap_or_default(), has_variables);
    let world = ops::World { root: call.root, ..world };
    let line =
        catch_unwind(AssertUnwindSafe(|| ops::session::status_line::render_status_line(&world, &payload)));
    let line = line.ok().flatten();
    if call.json {
        output::print_json(&serde_json::json!({ "line": line }));
    } else if let Some(line) = line {
        output::print_line(line);
    }
}

/// Runs the user's previous status line as the harness did: in a shell, with the same input.
fn run_previous_status_line(command: &OsStr, payload: &[u8]) -> Vec<u8> {
    let started = Command::new("sh")
        .arg("-c")
        .arg(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = started else { return Vec::new() };
    let stdin = child.stdin.take();
    // The command may print before it has read all of its input, so write its input and read its output at the same
    // time.
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(payload)));
        child.wait_with_output()
    });
    let mut text = output.map(|output| output.stdout).unwrap_or_default();
    if !text.is_empty() && !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    text
}
