//! `thru statusline`: prints the line that a harness shows below its prompt. Like a hook it never fails. If the user
//! had a status line before, it comes first.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::{hook, output};

/// Runs the command. `words` are the arguments after `thru statusline`. Whatever is wrong, it prints what it can and
/// exits with 0.
pub fn run(words: &[OsString], has_variables: bool, started: Instant) {
    std::panic::set_hook(Box::new(|_| {}));
    let payload = hook::read_payload(started);
    let own = words.iter().position(|word| word == "--after").and_then(|at| words.get(at + 1));
    if let Some(own) = own {
        output::data(&output_of(own, &payload));
    }
    let world = hook::hook_world(crate::world::now().unwrap_or_default(), has_variables);
    let line = catch_unwind(AssertUnwindSafe(|| ops::session::status_line::line(&world, &payload)));
    let line = line.ok().flatten();
    if words.iter().any(|word| word == "--json") {
        output::json(&serde_json::json!({ "line": line }));
    } else if let Some(line) = line {
        output::line(line);
    }
}

/// Runs the user's previous status line as the harness did: in a shell, with the same input.
fn output_of(command: &OsStr, payload: &[u8]) -> Vec<u8> {
    let started = Command::new("sh")
        .arg("-c")
        .arg(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = started else { return Vec::new() };
    let stdin = child.stdin.take();
    // The command may print before it has read all of its input.
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
