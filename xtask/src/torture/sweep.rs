//! Breaks every file system call of every command once: the process is killed there, or the call fails.
//!
//! strace counts each kind of call separately, so the sweep handles one kind after another: it breaks the first
//! `openat`, then the second, … until the command ends without reaching the fault. In this way every call of the
//! command is broken once. A quick run breaks only the first of several equal calls.

use std::collections::{BTreeSet, HashSet};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, Output};

use anyhow::{Context as _, Result, ensure};

use super::integrity::Takes;
use super::judge::{self, Wrongs};
use super::rows::{ROWS, Row};
use super::settings;
use super::snapshot::Snapshot;
use super::{Depth, Loss, Tally, on_all_cores};
use crate::sandbox::{self, Lab, Sandbox};
use crate::strace::{self, Call};

/// Calls that can fail because of a broken disk, a full table or a missing permission. The `?` makes strace skip a call
/// that the architecture does not have.
const CALLS: &str = "?open,?openat,?openat2,?creat,?mkdir,?mkdirat,?rename,?renameat,?renameat2,?link,?linkat,?symlink,\
    ?symlinkat,?unlink,?unlinkat,?rmdir,?write,?writev,?pwrite64,?read,?pread64,?lseek,?fsync,?fdatasync,?ftruncate,\
    ?truncate,?fallocate,?flock,?fcntl,?stat,?lstat,?fstat,?statx,?newfstatat,?access,?faccessat,?faccessat2,?getdents64,\
    ?readlink,?readlinkat,?chmod,?fchmod,?fchmodat,?getcwd,?utimensat,?copy_file_range,?close";

/// Commands that make thousands of calls. Only a full run makes each of their calls fail. A quick run still kills
/// them at each call.
const LONG: &[&str] = &["uninstall --all"];

/// Calls that start another process. They are traced, but never made to fail.
const STARTS: &[&str] = &["fork", "vfork", "clone", "clone3"];

/// Calls that change nothing on disk. Killing a process at such a call has the same effect as killing it at its
/// next change.
const READS: &[&str] = &[
    "read",
    "pread64",
    "lseek",
    "fcntl",
    "stat",
    "lstat",
    "fstat",
    "statx",
    "newfstatat",
    "access",
    "faccessat",
    "faccessat2",
    "getdents64",
    "readlink",
    "readlinkat",
    "getcwd",
    "close",
];

const ERRORS: &[&str] = &["ENOSPC", "EIO", "EROFS", "EACCES", "EMFILE"];
/// The errors that a quick run uses in turn, so that each call fails once.
const ERRORS_QUICK: &[&str] = &["EIO", "EACCES"];

#[derive(Debug, Clone, Copy)]
enum Fault {
    Kill,
    KillAtChanges,
    Error(&'static str),
    ErrorsByTurns,
}

impl Fault {
    fn inject(self, call: &str, number: usize) -> String {
        let error = |error: &str| format!("inject={call}:error={error}:when={number}");
        match self {
            Self::Kill | Self::KillAtChanges => format!("inject={call}:signal=SIGKILL:when={number}"),
            Self::Error(name) => error(name),
            Self::ErrorsByTurns => error(ERRORS_QUICK[number % ERRORS_QUICK.len()]),
        }
    }

    fn passes_over(self, call: &str) -> bool {
        matches!(self, Self::KillAtChanges) && READS.contains(&call)
    }

    /// Returns the numbers of the calls of one kind that are broken. A quick run breaks only the first of several
    /// equal calls.
    fn numbers(self, firsts: &BTreeSet<usize>) -> Box<dyn Iterator<Item = usize> + '_> {
        match self {
            Self::ErrorsByTurns => Box::new(firsts.iter().copied()),
            Self::Kill | Self::KillAtChanges | Self::Error(_) => Box::new(1..),
        }
    }

    /// Whether this fault would leave a descriptor open. If strace makes a call fail, the call is not made, whereas
    /// a real `close` frees its descriptor even if it returns an error. So the parent would keep its end of a pipe
    /// open and wait forever. Commands that start others are not tested with this fault.
    fn leaves_open(self, call: &str) -> bool {
        self.is_error() && call == "close"
    }

    fn is_error(self) -> bool {
        matches!(self, Self::Error(_) | Self::ErrorsByTurns)
    }
}

pub fn kill(lab: &Lab, depth: Depth) -> Result<Tally> {
    sweep(lab, &[if depth == Depth::Quick { Fault::KillAtChanges } else { Fault::Kill }])
}

pub fn errors(lab: &Lab, depth: Depth) -> Result<Tally> {
    match depth {
        Depth::Quick => sweep(lab, &[Fault::ErrorsByTurns]),
        Depth::Full => sweep(lab, &ERRORS.iter().map(|&error| Fault::Error(error)).collect::<Vec<_>>()),
    }
}

fn sweep(lab: &Lab, faults: &[Fault]) -> Result<Tally> {
    let jobs: Vec<(&Row, Fault)> = ROWS
        .iter()
        .filter(|row| row.name.contains(&lab.rows))
        .flat_map(|row| faults.iter().map(move |&fault| (row, fault)))
        .filter(|(row, fault)| !(matches!(fault, Fault::ErrorsByTurns) && LONG.contains(&row.name)))
        .collect();
    on_all_cores(&jobs, |_, (row, fault)| {
        one(lab, row, *fault).with_context(|| format!("{} ({fault:?})", row.name))
    })
}

/// Breaks every call of one command with one kind of fault.
fn one(lab: &Lab, row: &Row, fault: Fault) -> Result<Tally> {
    let name = format!("sweep-{}-{fault:?}", row.name).replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let sandbox = lab.sandbox(&name)?;
    (row.sandbox)(&sandbox)?;
    let before = Snapshot::take(&sandbox.dir)?;
    let bench = Bench { log: lab.path().join(format!("{name}.strace")), row, fault, sandbox: &sandbox };

    let (_, log) = bench.run(&format!("trace={CALLS},?{}", STARTS.join(",?")), &["-y"])?;
    let starts_others = strace::calls(&log).any(|call| STARTS.contains(&call.name));
    let clean = Snapshot::take(&sandbox.dir)?;
    let firsts = strace::first_of_their_kind(&log);
    let mut tally = Tally::default();
    let mut judged = HashSet::new();
    // The state that the last command left, if no other command ran since.
    let mut left = None;
    let kinds = firsts.iter().filter(|(call, _)| {
        let is_spared = STARTS.contains(&call.as_str())
            || fault.passes_over(call)
            || starts_others && fault.leaves_open(call);
        !is_spared
    });
    for (call, firsts) in kinds {
        for number in fault.numbers(firsts) {
            match left.take() {
                Some(left) => before.undo(&left, &sandbox.dir)?,
                None => before.restore(&sandbox.dir)?,
            }
            let inject = fault.inject(call, number);
            let (output, log) = bench.run(&format!("trace={call}"), &["-e", &inject])?;
            if !strace::was_injected(&log) && !strace::was_killed(&log) {
                if number == 1 {
                    // The clean run made this call, so if the fault is never injected, the sweep must fail. The
                    // exception is a call that a second clean run does not make. Such a call is random: one write
                    // in sixteen tidies a cache.
                    before.restore(&sandbox.dir)?;
                    let (_, log) = bench.run(&format!("trace={CALLS}"), &[])?;
                    let is_made = strace::calls(&log).any(|made| made.name == call);
                    ensure!(!is_made, "strace did not inject what it was asked to: {inject}");
                }
                break;
            }
            let hit = strace::calls(&log).find(|call| call.injected);
            let mut wrong = said(row, &sandbox, &output, hit.as_ref());
            let after = Snapshot::take(&sandbox.dir)?;
            if row.takes == Takes::Settings {
                // A temporary file may be left behind only if removing it failed.
                let may_litter = hit.as_ref().is_none_or(|call| call.name.contains("unlink"));
                settings::old_or_new(&before, &clean, &after, may_litter, &mut wrong);
            }
            // Most faults leave the disk in one of a few states. The next commands are tested only once for each
            // state.
            let loss = loss(hit.as_ref());
            if judged.insert((after.fingerprint(), loss)) {
                judge::aftermath(row, &sandbox, [&before, &after], loss, &mut wrong)?;
                if row.takes == Takes::Settings {
                    settings::there_and_back(row, &sandbox, &mut wrong)?;
                }
            } else {
                left = Some(after);
            }
            tally.faults += 1;
            tally.point(wrong, || bench.reproduce(&inject));
        }
    }
    std::fs::remove_dir_all(&sandbox.dir)?;
    Ok(tally)
}

/// Returns what is wrong with the output and the exit code of the command that was broken.
fn said(row: &Row, sandbox: &Sandbox, output: &Output, hit: Option<&Call>) -> Wrongs {
    let mut wrong = Vec::new();
    let killed = output.status.signal() == Some(9) && output.stderr != sandbox::HUNG.as_bytes();
    if killed {
        // A killed process rightly prints nothing.
    } else if row.is_hook() {
        judge::hook_output(output, &mut wrong);
    } else {
        judge::cli_output(output, &mut wrong);
        // If writing the message failed, there is no message.
        if !hit.is_some_and(|call| {
            call.name.starts_with("write") && ["1,", "2,"].iter().any(|fd| call.arguments.starts_with(fd))
        }) {
            judge::says_why(row.argv, output, &mut wrong);
        }
        if output.status.success() && !(row.done)(sandbox) {
            wrong.push((Loss::None, "it said it succeeded, and had not".into()));
        }
    }
    wrong
}

/// Returns how to classify a missing record. If only a read failed, an unreadable file was taken for an empty file.
fn loss(hit: Option<&Call>) -> Loss {
    let reading = hit.is_some_and(|call| {
        let reads = ["read", "pread64", "lseek", "getdents64", "readlink", "readlinkat", "getcwd"];
        let opens = call.name.starts_with("open") && !call.arguments.contains("O_CREAT");
        reads.contains(&call.name) || opens || call.name.contains("stat") || call.name.contains("access")
    });
    if reading { Loss::TakenForEmpty } else { Loss::Record }
}

/// A command that runs under strace.
struct Bench<'a> {
    log: PathBuf,
    row: &'a Row,
    fault: Fault,
    sandbox: &'a Sandbox,
}

impl Bench<'_> {
    fn run(&self, trace: &str, more: &[&str]) -> Result<(Output, String)> {
        let mut strace = Command::new("strace");
        strace.args(self.follow()).args(["-qq", "-s", "256", "-e", trace, "-o"]).arg(&self.log).args(more);
        let mut command = sandbox::inside(strace, &self.sandbox.thru(self.row.argv));
        let output = sandbox::finish(&mut command, &(self.row.stdin)(&self.sandbox.dir))?;
        let log = std::fs::read(&self.log).context("strace left no log; may this user trace processes?")?;
        Ok((output, String::from_utf8_lossy(&log).into_owned()))
    }

    fn follow(&self) -> &'static [&'static str] {
        if self.row.takes == Takes::Settings {
            return &[]; // Installing runs git, whose own calls must not be broken.
        }
        // With seccomp the kernel skips calls that are not traced, which saves most of the time; but then strace
        // cannot kill a process.
        if self.fault.is_error() { &["-f", "--seccomp-bpf"] } else { &["-f"] }
    }

    fn reproduce(&self, inject: &str) -> String {
        let words: Vec<&str> = self.follow().iter().copied().chain(["-e", inject]).collect();
        format!("{}: strace {} thru {}", self.row.name, words.join(" "), self.row.argv.join(" "))
    }
}
