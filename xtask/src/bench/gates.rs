//! Counts what a hook does, instead of measuring its time. The counts are the same in every run, so CI can enforce
//! limits.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::prepare::{
    BEFORE_COMPACT_HOOK_ARGV, TOOL_DONE_HOOK_ARGV, compact_payload, edit_4k_payload, prepare_trusted_root,
};
use super::rows::FIRST_CONTACT_ROW_MARK;
use crate::sandbox::{self, Sandbox, SandboxRoot};
use crate::strace::{self, SystemCall};
use crate::table::{self, ColumnAlignment};
use crate::transcript;

const MAX_HOOK_SYSTEM_CALLS: usize = 40;
const MAX_INSTRUCTIONS: usize = 150_000;
/// How many bytes of a transcript the before-compact hook may read, no matter how long the transcript is.
const MAX_TRANSCRIPT_BYTES_READ: usize = 16 * transcript::MEGABYTE + 128 * 1024;
const MAX_HOOK_MEMORY_KB: u64 = 8 * 1024;
/// The memory limit for the hook that reads a session's transcript for the first time. This happens once per session
/// and reads up to 14 MB.
const MAX_FIRST_CONTACT_MEMORY_KB: u64 = 24 * 1024;

/// Prints the limits and returns whether all of them were met.
pub fn check_limits<'a>(lab: &SandboxRoot, peaks: impl Iterator<Item = (&'a str, u64)>) -> Result<bool> {
    let mut gates = LimitChecks::default();
    let hooks = peaks.filter(|(name, _)| name.contains("hook"));
    let (first, later): (Vec<_>, Vec<_>) = hooks.partition(|(name, _)| name.contains(FIRST_CONTACT_ROW_MARK));
    for (hooks, most) in [(later, MAX_HOOK_MEMORY_KB), (first, MAX_FIRST_CONTACT_MEMORY_KB)] {
        let (name, peak) = hooks.into_iter().max_by_key(|(_, peak)| *peak).unwrap_or(("no hook measured", 0));
        gates.check_limit(format!("most memory of a hook, KB ({name})"), peak as usize, most as usize);
    }

    let sandbox = lab.sandbox("gates")?;
    prepare_trusted_root(&sandbox)?;
    // The first event of a session creates the journal, and all later events only append to it. So one hook runs
    // before anything is counted.
    sandbox.run_successfully(TOOL_DONE_HOOK_ARGV, &edit_4k_payload(&sandbox.dir))?;
    let mut opened = Vec::new();
    if strace::is_strace_installed() {
        let log = trace_system_calls(&sandbox, TOOL_DONE_HOOK_ARGV, &edit_4k_payload(&sandbox.dir))?;
        let calls: Vec<SystemCall> = strace::parse_strace_log(&log).collect();
        let synced =
            calls.iter().filter(|call| ["fsync", "fdatasync", "sync", "syncfs"].contains(&call.name)).count();
        gates.check_limit("system calls of tool-done".into(), calls.len(), MAX_HOOK_SYSTEM_CALLS);
        gates.check_limit("of these, waiting for the disk (fsync)".into(), synced, 0);
        opened = calls
            .iter()
            .filter(|call| call.name.starts_with("open"))
            .map(|call| {
                let path = call.path().unwrap_or("?").replace(&*sandbox.dir.to_string_lossy(), "");
                if call.failed { format!("{path} (missing)") } else { path }
            })
            .collect();
    } else {
        gates.skip_limit("system calls of tool-done", "strace is not installed");
    }
    let name = "bytes before-compact reads of 20 MB";
    if strace::is_strace_installed() {
        gates.check_limit(name.into(), bytes_read_at_first_contact(&sandbox)?, MAX_TRANSCRIPT_BYTES_READ);
    } else {
        gates.skip_limit(name, "strace is not installed");
    }
    match count_instructions(&sandbox)? {
        Some(count) => gates.report_missed_limit_without_failing(
            "user instructions of tool-done".into(),
            count,
            MAX_INSTRUCTIONS,
        ),
        None => gates.skip_limit("user instructions of tool-done", "valgrind is not installed"),
    }
    print!(
        "\n{}",
        table::plain_table(
            &[ColumnAlignment::Left, ColumnAlignment::Right, ColumnAlignment::Right, ColumnAlignment::Left],
            &gates.rows
        )
    );
    if !opened.is_empty() {
        println!("\nFiles tool-done opens, in order:");
        for path in opened {
            println!("  {path}");
        }
    }
    Ok(!gates.any_missed)
}

#[derive(Debug)]
struct LimitChecks {
    rows: Vec<Vec<String>>,
    any_missed: bool,
}

impl Default for LimitChecks {
    fn default() -> Self {
        Self {
            rows: vec![["counted", "found", "at most", ""].map(str::to_owned).to_vec()],
            any_missed: false,
        }
    }
}

impl LimitChecks {
    fn check_limit(&mut self, name: String, found: usize, most: usize) {
        let verdict = if found <= most { "ok" } else { "MISSED" };
        self.any_missed |= found > most;
        self.rows.push(vec![
            name,
            table::format_thousands(found),
            table::format_thousands(most),
            verdict.into(),
        ]);
    }

    /// Like `check_limit`, but the check does not fail if the limit is exceeded. The limit was set for a musl build,
    /// and a glibc build does more work at start-up.
    fn report_missed_limit_without_failing(&mut self, name: String, found: usize, most: usize) {
        let missed = self.any_missed;
        self.check_limit(name, found, most);
        self.any_missed = missed;
    }

    fn skip_limit(&mut self, name: &str, why: &str) {
        self.rows.push(vec![name.to_owned(), String::new(), String::new(), format!("skipped: {why}")]);
    }
}

fn trace_system_calls(sandbox: &Sandbox, argv: &[&str], payload: &[u8]) -> Result<String> {
    let log = sandbox.dir.join("strace.log");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-s", "4096", "-o"]).arg(&log);
    sandbox::run_with_timeout(&mut sandbox::wrap_command(strace, &sandbox.thru_command(argv)), payload)?;
    Ok(String::from_utf8_lossy(&std::fs::read(&log).context("reading the log of strace")?).into_owned())
}

fn bytes_read_at_first_contact(sandbox: &Sandbox) -> Result<usize> {
    let path = sandbox.dir.join("transcript.jsonl");
    transcript::write_transcript(&path, &sandbox.project_folder(), 20 * transcript::MEGABYTE)?;
    let mut payload: Value = serde_json::from_slice(&compact_payload(&sandbox.dir))?;
    payload["transcript_path"] = json!(path);
    let log = trace_system_calls(sandbox, BEFORE_COMPACT_HOOK_ARGV, payload.to_string().as_bytes())?;
    let descriptor = strace::parse_strace_log(&log)
        .find(|call| call.name.starts_with("open") && call.path().is_some_and(|at| path.ends_with(at)))
        .and_then(|call| call.returned)
        .context("before-compact did not open its transcript")?;
    let of_it = format!("{descriptor},");
    // After the transcript is closed, another file may get the same descriptor. Such a file is small enough to be
    // ignored.
    let read = strace::parse_strace_log(&log)
        .filter(|call| ["read", "pread64"].contains(&call.name) && call.arguments.starts_with(&of_it));
    Ok(read.filter_map(|call| call.returned).sum())
}

/// Returns the number of user-space instructions according to callgrind, or `None` if valgrind is not installed.
fn count_instructions(sandbox: &Sandbox) -> Result<Option<usize>> {
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
    let output = sandbox::run_with_timeout(
        &mut sandbox::wrap_command(valgrind, &sandbox.thru_command(TOOL_DONE_HOOK_ARGV)),
        &edit_4k_payload(&sandbox.dir),
    )?;
    Ok(parse_callgrind_instruction_count(&String::from_utf8_lossy(&output.stderr)))
}

/// Reads the number from a line such as `==123== Collected : 77012`.
fn parse_callgrind_instruction_count(text: &str) -> Option<usize> {
    text.lines()
        .find_map(|line| line.split_once("Collected :"))
        .and_then(|(_, number)| number.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callgrind_is_read() {
        assert_eq!(
            parse_callgrind_instruction_count("==1== Events    : Ir\n==1== Collected : 77012\n==1==\n"),
            Some(77012)
        );
        assert_eq!(parse_callgrind_instruction_count("valgrind: failed to start\n"), None);
    }

    #[test]
    fn a_gate_is_missed_above_its_limit_only() {
        let mut gates = LimitChecks::default();
        gates.check_limit("a".into(), 40, 40);
        assert!(!gates.any_missed);
        gates.check_limit("b".into(), 41, 40);
        assert!(gates.any_missed);
    }
}
