//! Counts what a hook does instead of timing it. The counts are the same in every run, so CI can enforce limits.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::rows::{AT_FIRST_CONTACT, COMPACT, POST_TOOL_USE, compact, edit_4k, trusted};
use crate::sandbox::{self, Lab, Sandbox};
use crate::strace::{self, Call};
use crate::table::{self, Align};
use crate::transcript;

const MOST_CALLS: usize = 40;
const MOST_INSTRUCTIONS: usize = 150_000;
/// How much of a transcript before-compact may read, however long it is.
const MOST_READ: usize = 16 * transcript::MB + 128 * 1024;
const MOST_MEMORY_KB: u64 = 8 * 1024;
/// The limit at a first contact, which happens once per session and reads up to 14 MB.
const MOST_MEMORY_AT_FIRST_CONTACT_KB: u64 = 24 * 1024;

/// Prints the limits and returns whether all of them were met.
pub fn check<'a>(lab: &Lab, peaks: impl Iterator<Item = (&'a str, u64)>) -> Result<bool> {
    let mut gates = Gates::default();
    let hooks = peaks.filter(|(name, _)| name.contains("hook"));
    let (first, later): (Vec<_>, Vec<_>) = hooks.partition(|(name, _)| name.contains(AT_FIRST_CONTACT));
    for (hooks, most) in [(later, MOST_MEMORY_KB), (first, MOST_MEMORY_AT_FIRST_CONTACT_KB)] {
        let (name, peak) = hooks.into_iter().max_by_key(|(_, peak)| *peak).unwrap_or(("no hook measured", 0));
        gates.add(format!("most memory of a hook, KB ({name})"), peak as usize, most as usize);
    }

    let sandbox = lab.sandbox("gates")?;
    trusted(&sandbox)?;
    // The first event of a session creates the journal, and all others only append to it. So one hook runs before any
    // call is counted.
    sandbox.must(POST_TOOL_USE, &edit_4k(&sandbox.dir))?;
    let mut opened = Vec::new();
    if strace::installed() {
        let log = trace(&sandbox, POST_TOOL_USE, &edit_4k(&sandbox.dir))?;
        let calls: Vec<Call> = strace::calls(&log).collect();
        let synced =
            calls.iter().filter(|call| ["fsync", "fdatasync", "sync", "syncfs"].contains(&call.name)).count();
        gates.add("system calls of tool-done".into(), calls.len(), MOST_CALLS);
        gates.add("of these, waiting for the disk (fsync)".into(), synced, 0);
        opened = calls
            .iter()
            .filter(|call| call.name.starts_with("open"))
            .map(|call| {
                let path = call.path().unwrap_or("?").replace(&*sandbox.dir.to_string_lossy(), "");
                if call.failed { format!("{path} (not there)") } else { path }
            })
            .collect();
    } else {
        gates.skip("system calls of tool-done", "strace is not installed");
    }
    let name = "bytes before-compact reads of 20 MB";
    if strace::installed() {
        gates.add(name.into(), read_at_first_contact(&sandbox)?, MOST_READ);
    } else {
        gates.skip(name, "strace is not installed");
    }
    match instructions(&sandbox)? {
        Some(count) => gates.mention("user instructions of tool-done".into(), count, MOST_INSTRUCTIONS),
        None => gates.skip("user instructions of tool-done", "valgrind is not installed"),
    }
    print!("\n{}", table::plain(&[Align::Left, Align::Right, Align::Right, Align::Left], &gates.rows));
    if !opened.is_empty() {
        println!("\nFiles tool-done opens, in order:");
        for path in opened {
            println!("  {path}");
        }
    }
    Ok(!gates.missed)
}

#[derive(Debug)]
struct Gates {
    rows: Vec<Vec<String>>,
    missed: bool,
}

impl Default for Gates {
    fn default() -> Self {
        Self { rows: vec![["counted", "found", "at most", ""].map(str::to_owned).to_vec()], missed: false }
    }
}

impl Gates {
    fn add(&mut self, name: String, found: usize, most: usize) {
        let verdict = if found <= most { "ok" } else { "MISSED" };
        self.missed |= found > most;
        self.rows.push(vec![name, table::thousands(found), table::thousands(most), verdict.into()]);
    }

    /// Prints a missed limit without failing: it was set for musl, which starts with fewer calls.
    fn mention(&mut self, name: String, found: usize, most: usize) {
        let missed = self.missed;
        self.add(name, found, most);
        self.missed = missed;
    }

    fn skip(&mut self, name: &str, why: &str) {
        self.rows.push(vec![name.to_owned(), String::new(), String::new(), format!("skipped: {why}")]);
    }
}

fn trace(sandbox: &Sandbox, argv: &[&str], payload: &[u8]) -> Result<String> {
    let log = sandbox.dir.join("strace.log");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-s", "4096", "-o"]).arg(&log);
    sandbox::finish(&mut sandbox::inside(strace, &sandbox.thru(argv)), payload)?;
    Ok(String::from_utf8_lossy(&std::fs::read(&log).context("reading what strace wrote")?).into_owned())
}

fn read_at_first_contact(sandbox: &Sandbox) -> Result<usize> {
    let path = sandbox.dir.join("transcript.jsonl");
    transcript::write(&path, &sandbox.project(), 20 * transcript::MB)?;
    let mut payload: Value = serde_json::from_slice(&compact(&sandbox.dir))?;
    payload["transcript_path"] = json!(path);
    let log = trace(sandbox, COMPACT, payload.to_string().as_bytes())?;
    let descriptor = strace::calls(&log)
        .find(|call| call.name.starts_with("open") && call.path().is_some_and(|at| path.ends_with(at)))
        .and_then(|call| call.returned)
        .context("before-compact did not open its transcript")?;
    let of_it = format!("{descriptor},");
    // Another file may get the same descriptor after the transcript is closed; it would be small, so it does not
    // matter.
    let read = strace::calls(&log)
        .filter(|call| ["read", "pread64"].contains(&call.name) && call.arguments.starts_with(&of_it));
    Ok(read.filter_map(|call| call.returned).sum())
}

/// Returns the number of user-space instructions, as callgrind counts them; `None` if valgrind is not installed.
fn instructions(sandbox: &Sandbox) -> Result<Option<usize>> {
    let installed = Command::new("valgrind")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok();
    if !installed {
        return Ok(None);
    }
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    let output = sandbox::finish(
        &mut sandbox::inside(valgrind, &sandbox.thru(POST_TOOL_USE)),
        &edit_4k(&sandbox.dir),
    )?;
    Ok(collected(&String::from_utf8_lossy(&output.stderr)))
}

/// Reads the number from a line such as `==123== Collected : 77012`.
fn collected(text: &str) -> Option<usize> {
    text.lines()
        .find_map(|line| line.split_once("Collected :"))
        .and_then(|(_, number)| number.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callgrind_is_read() {
        assert_eq!(collected("==1== Events    : Ir\n==1== Collected : 77012\n==1==\n"), Some(77012));
        assert_eq!(collected("valgrind: failed to start\n"), None);
    }

    #[test]
    fn a_gate_is_missed_above_its_limit_only() {
        let mut gates = Gates::default();
        gates.add("a".into(), 40, 40);
        assert!(!gates.missed);
        gates.add("b".into(), 41, 40);
        assert!(gates.missed);
    }
}
