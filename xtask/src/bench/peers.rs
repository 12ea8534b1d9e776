//! `cargo xtask bench --peers`: compares the speed of our hook with that of hooks in other languages that do the same
//! work. All of them are timed in the same run.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::prepare::{TOOL_DONE_HOOK_ARGV, edit_4k_payload, prepare_trusted_root};
use super::{BenchOptions, TRUE_PROGRAM, TimedCommand, kb_to_mb};
use crate::dist::LinkKind;
use crate::memory;
use crate::sandbox::{self, Sandbox, SandboxRoot};
use crate::stats::{percentile, ratio};
use crate::table::{self, ColumnAlignment};

struct PeerProgram {
    name: &'static str,
    interpreter: &'static str,
    /// The programs that the script calls.
    needed_programs: &'static [&'static str],
    script: &'static str,
}

const PEERS: &[PeerProgram] = &[
    PeerProgram { name: "bash and jq", interpreter: "bash", needed_programs: &["jq"], script: "hook.sh" },
    PeerProgram { name: "python3", interpreter: "python3", needed_programs: &[], script: "hook.py" },
    PeerProgram { name: "node", interpreter: "node", needed_programs: &[], script: "hook.js" },
];

struct PeerHook {
    name: &'static str,
    command: Command,
    payload: Vec<u8>,
    samples: Vec<u64>,
    peak_kb: u64,
}

impl TimedCommand for PeerHook {
    fn command_and_stdin(&mut self) -> (&mut Command, &[u8]) {
        (&mut self.command, &self.payload)
    }
    fn add_sample(&mut self, time: u64) {
        self.samples.push(time);
    }
}

/// Prints the table. Only our own hook has a target.
pub fn run_peer_benchmark(lab: &SandboxRoot, kind: LinkKind, options: &BenchOptions) -> Result<()> {
    let sandbox = lab.sandbox("peer-thru")?;
    prepare_trusted_root(&sandbox)?;
    let mut hooks = vec![prepare_hook("thru", sandbox.thru_command(TOOL_DONE_HOOK_ARGV), &sandbox)?];
    for peer in PEERS {
        let missing = [&[peer.interpreter], peer.needed_programs]
            .concat()
            .into_iter()
            .find(|name| find_program(name).is_none());
        if let Some(missing) = missing {
            println!("skipped: {}: {missing} is not installed", peer.name);
            continue;
        }
        let sandbox = lab.sandbox(&format!("peer-{}", peer.interpreter))?;
        prepare_trusted_root(&sandbox)?;
        hooks.push(prepare_hook(peer.name, peer_command(peer, &sandbox)?, &sandbox)?);
    }
    let mut true_command = lab.sandbox("true")?.command(Path::new(TRUE_PROGRAM), &[]);
    let floor = super::collect_samples(&mut true_command, &mut hooks, options.rounds)?;
    let helper = memory::PeakMemoryHelper::build()?;
    for hook in &mut hooks {
        hook.peak_kb = helper.peak_kb(&hook.command, &hook.payload)?;
    }
    table::print_overwritten_progress_line("");
    print!("{}", format_report(kind, options, &floor, &hooks));
    Ok(())
}

fn peer_command(peer: &PeerProgram, sandbox: &Sandbox) -> Result<Command> {
    let interpreter = find_program(peer.interpreter).context("the interpreter is no longer installed")?;
    let script = crate::workspace_root().join("xtask/peers").join(peer.script);
    let mut command = sandbox.command(&interpreter, &[&*script.to_string_lossy()]);
    // The programs that the script calls may be outside the default PATH of a sandbox, so add their folders.
    let folders =
        peer.needed_programs.iter().filter_map(|name| find_program(name)?.parent().map(Path::to_path_buf));
    let path = folders.chain(["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from));
    command.env("PATH", std::env::join_paths(path)?);
    Ok(command)
}

/// Prepares a hook for timing. First checks that the hook does its work.
fn prepare_hook(name: &'static str, mut command: Command, sandbox: &Sandbox) -> Result<PeerHook> {
    let payload = edit_4k_payload(&sandbox.dir);
    let output = sandbox::run_with_timeout(&mut command, &payload)?;
    let log = std::fs::read_to_string(sandbox.journal_path()).unwrap_or_default();
    let line: Value = log.lines().last().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
    ensure!(
        output.status.success() && line["id"] == "toolu_01bench" && line.to_string().contains("session.rs"),
        "the hook of {name} did not do its work: {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(PeerHook { name, command, payload, samples: Vec::new(), peak_kb: 0 })
}

/// Returns the real path of a program. The program on PATH may be a shim, whose own time must not be measured.
fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())?;
    if name != "python3" {
        return Some(found);
    }
    let told = Command::new(found).args(["-c", "import sys; print(sys.executable)"]).output().ok()?;
    let real = PathBuf::from(String::from_utf8_lossy(&told.stdout).trim());
    real.is_file().then_some(real)
}

fn format_report(kind: LinkKind, options: &BenchOptions, floor: &[u64], hooks: &[PeerHook]) -> String {
    let base = percentile(floor, 50.0);
    let ours = hooks.first().map_or(0, |hook| percentile(&hook.samples, 50.0));
    let head = ["tool-done, 4 KB edit", "p50 µs", "p99 µs", "memory MB", "× true", "× thru"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let mut add = |name: &str, samples: &[u64], memory: String| {
        let half = percentile(samples, 50.0);
        rows.push(vec![
            name.to_owned(),
            format!("{}", half / 1000),
            format!("{}", percentile(samples, 99.0) / 1000),
            memory,
            format!("{:.2}", ratio(half, base)),
            format!("{:.2}", ratio(half, ours)),
        ]);
    };
    add(TRUE_PROGRAM, floor, String::new());
    for hook in hooks {
        add(hook.name, &hook.samples, format!("{:.1}", kb_to_mb(hook.peak_kb)));
    }
    let align = [
        ColumnAlignment::Left,
        ColumnAlignment::Right,
        ColumnAlignment::Right,
        ColumnAlignment::Right,
        ColumnAlignment::Right,
        ColumnAlignment::Right,
    ];
    let table = if options.markdown {
        table::markdown_table(&align, &rows)
    } else {
        table::plain_table(&align, &rows)
    };
    let rounds = table::format_thousands(options.rounds);
    format!(
        "thru, {}, beside hooks that do the same, {rounds} rounds in random order\n\n{table}",
        kind.name()
    )
}
