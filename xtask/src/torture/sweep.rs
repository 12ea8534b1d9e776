//! Breaks every file system call of every command once. Either the process is killed at the call, or the call fails.
//!
//! strace counts each kind of call separately, so the sweep handles one kind after another. It breaks the first
//! `openat`, then the second, and so on, until the command ends without reaching the fault. A quick run breaks only the
//! first of several equal calls.

use std::collections::{BTreeSet, HashSet};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, Output};

use anyhow::{Context as _, Result, ensure};

use super::integrity::AllowedRemoval;
use super::judge::{self, Failures};
use super::rows::{ROWS, Row};
use super::settings;
use super::snapshot::Snapshot;
use super::{LossKind, TortureDepth, TortureTally, on_all_cores};
use crate::sandbox::{self, Sandbox, SandboxRoot};
use crate::strace::{self, SystemCall};

/// Calls that can fail because of a broken disk, a full table or a missing permission. The `?` tells strace to ignore a
/// call that the architecture does not have.
const FAULTY_CALLS: &str = "?open,?openat,?openat2,?creat,?mkdir,?mkdirat,?rename,?renameat,?renameat2,?link,?linkat,?symlink,\
    ?symlinkat,?unlink,?unlinkat,?rmdir,?write,?writev,?pwrite64,?read,?pread64,?lseek,?fsync,?fdatasync,?ftruncate,\
    ?truncate,?fallocate,?flock,?fcntl,?stat,?lstat,?fstat,?statx,?newfstatat,?access,?faccessat,?faccessat2,?getdents64,\
    ?readlink,?readlinkat,?chmod,?fchmod,?fchmodat,?getcwd,?utimensat,?copy_file_range,?close";

/// Commands that make thousands of calls. Only a full run makes each of their calls fail. A quick run only kills them
/// at each call.
const LONG_COMMANDS: &[&str] = &["uninstall --all"];

/// Calls that start another process. They are traced, but never made to fail.
const PROCESS_STARTING_CALLS: &[&str] = &["fork", "vfork", "clone", "clone3"];

/// Calls that change nothing on disk. Killing a process at such a call has the same effect as killing it at its next
/// change.
const READ_ONLY_CALLS: &[&str] = &[
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

const INJECTED_ERRORS: &[&str] = &["ENOSPC", "EIO", "EROFS", "EACCES", "EMFILE"];
/// The errors that a quick run injects in turn, so that each call fails once.
const QUICK_INJECTED_ERRORS: &[&str] = &["EIO", "EACCES"];

#[derive(Debug, Clone, Copy)]
enum InjectedFault {
    Kill,
    KillAtChanges,
    Error(&'static str),
    ErrorsByTurns,
}

impl InjectedFault {
    fn strace_option(self, call: &str, number: usize) -> String {
        let error = |error: &str| format!("inject={call}:error={error}:when={number}");
        match self {
            Self::Kill | Self::KillAtChanges => format!("inject={call}:signal=SIGKILL:when={number}"),
            Self::Error(name) => error(name),
            Self::ErrorsByTurns => error(QUICK_INJECTED_ERRORS[number % QUICK_INJECTED_ERRORS.len()]),
        }
    }

    fn skips_call(self, call: &str) -> bool {
        matches!(self, Self::KillAtChanges) && READ_ONLY_CALLS.contains(&call)
    }

    /// Returns the numbers of the calls of one kind that are broken. A quick run breaks only the first of several
    /// equal calls.
    fn call_numbers(self, firsts: &BTreeSet<usize>) -> Box<dyn Iterator<Item = usize> + '_> {
        match self {
            Self::ErrorsByTurns => Box::new(firsts.iter().copied()),
            Self::Kill | Self::KillAtChanges | Self::Error(_) => Box::new(1..),
        }
    }

    /// Returns whether this fault would leave a descriptor open. If strace makes a call fail, the call is not executed,
    /// whereas a real `close` frees its descriptor even if it returns an error. So a parent would keep its end of a
    /// pipe open and wait forever. Commands that start other processes are not tested with this fault.
    fn leaves_descriptor_open(self, call: &str) -> bool {
        self.is_error() && call == "close"
    }

    fn is_error(self) -> bool {
        matches!(self, Self::Error(_) | Self::ErrorsByTurns)
    }
}

pub fn kill_at_every_call(lab: &SandboxRoot, depth: TortureDepth) -> Result<TortureTally> {
    sweep_all_rows(
        lab,
        &[if depth == TortureDepth::Quick { InjectedFault::KillAtChanges } else { InjectedFault::Kill }],
    )
}

pub fn fail_every_call(lab: &SandboxRoot, depth: TortureDepth) -> Result<TortureTally> {
    match depth {
        TortureDepth::Quick => sweep_all_rows(lab, &[InjectedFault::ErrorsByTurns]),
        TortureDepth::Full => sweep_all_rows(
            lab,
            &INJECTED_ERRORS.iter().map(|&error| InjectedFault::Error(error)).collect::<Vec<_>>(),
        ),
    }
}

fn sweep_all_rows(lab: &SandboxRoot, faults: &[InjectedFault]) -> Result<TortureTally> {
    let jobs: Vec<(&Row, InjectedFault)> = ROWS
        .iter()
        .filter(|row| row.name.contains(&lab.row_filter))
        .flat_map(|row| faults.iter().map(move |&fault| (row, fault)))
        .filter(|(row, fault)| {
            !(matches!(fault, InjectedFault::ErrorsByTurns) && LONG_COMMANDS.contains(&row.name))
        })
        .collect();
    on_all_cores(&jobs, |_, (row, fault)| {
        sweep_row(lab, row, *fault).with_context(|| format!("{} ({fault:?})", row.name))
    })
}

/// Breaks every call of one command with one kind of fault.
fn sweep_row(lab: &SandboxRoot, row: &Row, fault: InjectedFault) -> Result<TortureTally> {
    let name = format!("sweep-{}-{fault:?}", row.name).replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let sandbox = lab.sandbox(&name)?;
    (row.sandbox)(&sandbox)?;
    let before = Snapshot::take(&sandbox.dir)?;
    let bench =
        StracedCommand { log: lab.path().join(format!("{name}.strace")), row, fault, sandbox: &sandbox };

    let (_, log) = bench
        .run_under_strace(&format!("trace={FAULTY_CALLS},?{}", PROCESS_STARTING_CALLS.join(",?")), &["-y"])?;
    let starts_others = strace::parse_log(&log).any(|call| PROCESS_STARTING_CALLS.contains(&call.name));
    let clean = Snapshot::take(&sandbox.dir)?;
    let firsts = strace::first_calls_by_kind(&log);
    let mut tally = TortureTally::default();
    let mut judged = HashSet::new();
    // The state that the last command left, or `None` if another command has run since.
    let mut left = None;
    let kinds = firsts.iter().filter(|(call, _)| {
        let is_spared = PROCESS_STARTING_CALLS.contains(&call.as_str())
            || fault.skips_call(call)
            || starts_others && fault.leaves_descriptor_open(call);
        !is_spared
    });
    for (call, firsts) in kinds {
        for number in fault.call_numbers(firsts) {
            match left.take() {
                Some(left) => before.restore_changed(&left, &sandbox.dir)?,
                None => before.restore(&sandbox.dir)?,
            }
            let inject = fault.strace_option(call, number);
            let (output, log) = bench.run_under_strace(&format!("trace={call}"), &["-e", &inject])?;
            if !strace::was_injected(&log) && !strace::was_killed(&log) {
                if number == 1 {
                    // The clean run made this call, so the sweep must fail if the fault is never injected. The only
                    // exception is a random call, which a second clean run does not make: one write in sixteen removes
                    // leftovers of a cache.
                    before.restore(&sandbox.dir)?;
                    let (_, log) = bench.run_under_strace(&format!("trace={FAULTY_CALLS}"), &[])?;
                    let is_made = strace::parse_log(&log).any(|made| made.name == call);
                    ensure!(!is_made, "strace did not inject the fault: {inject}");
                }
                break;
            }
            let hit = strace::parse_log(&log).find(|call| call.injected);
            let mut wrong = judge_output_of_broken_command(row, &sandbox, &output, hit.as_ref());
            let after = Snapshot::take(&sandbox.dir)?;
            if row.allowed_removal == AllowedRemoval::Settings {
                // A temporary file may remain only if its removal failed.
                let may_litter = hit.as_ref().is_none_or(|call| call.name.contains("unlink"));
                settings::judge_settings_files(&before, &clean, &after, may_litter, &mut wrong);
            }
            // Most faults leave the disk in one of a few states. The next commands are tested only once for each state.
            let loss = loss_kind(hit.as_ref());
            if judged.insert((after.fingerprint(), loss)) {
                judge::judge_aftermath(row, &sandbox, [&before, &after], loss, &mut wrong)?;
                if row.allowed_removal == AllowedRemoval::Settings {
                    settings::judge_round_trip(row, &sandbox, &mut wrong)?;
                }
            } else {
                left = Some(after);
            }
            tally.faults_injected += 1;
            tally.count_point(wrong, || bench.reproduce_command(&inject));
        }
    }
    std::fs::remove_dir_all(&sandbox.dir)?;
    Ok(tally)
}

/// Returns what is wrong with the output and the exit code of a broken command.
fn judge_output_of_broken_command(
    row: &Row,
    sandbox: &Sandbox,
    output: &Output,
    hit: Option<&SystemCall>,
) -> Failures {
    let mut wrong = Vec::new();
    let killed = output.status.signal() == Some(9) && output.stderr != sandbox::HUNG_MESSAGE.as_bytes();
    if killed {
        // A killed process prints nothing, and that is correct.
    } else if row.is_hook() {
        judge::judge_hook_output(output, &mut wrong);
    } else {
        judge::judge_command_output(output, &mut wrong);
        // If writing the message failed, there is no message.
        if !hit.is_some_and(|call| {
            call.name.starts_with("write") && ["1,", "2,"].iter().any(|fd| call.arguments.starts_with(fd))
        }) {
            judge::judge_error_message(row.argv, output, &mut wrong);
        }
        if output.status.success() && !(row.is_done)(sandbox) {
            wrong.push((LossKind::NoLoss, "it reported success, but did not succeed".into()));
        }
    }
    wrong
}

/// Classifies a missing record. If only a read failed, an unreadable file was treated as an empty file.
fn loss_kind(hit: Option<&SystemCall>) -> LossKind {
    let reading = hit.is_some_and(|call| {
        let reads = ["read", "pread64", "lseek", "getdents64", "readlink", "readlinkat", "getcwd"];
        let opens = call.name.starts_with("open") && !call.arguments.contains("O_CREAT");
        reads.contains(&call.name) || opens || call.name.contains("stat") || call.name.contains("access")
    });
    if reading { LossKind::TreatedAsEmpty } else { LossKind::RecordLost }
}

struct StracedCommand<'a> {
    log: PathBuf,
    row: &'a Row,
    fault: InjectedFault,
    sandbox: &'a Sandbox,
}

impl StracedCommand<'_> {
    fn run_under_strace(&self, trace: &str, more: &[&str]) -> Result<(Output, String)> {
        let mut strace = Command::new("strace");
        strace
            .args(self.strace_follow_option())
            .args(["-qq", "-s", "256", "-e", trace, "-o"])
            .arg(&self.log)
            .args(more);
        let mut command = sandbox::wrap_command(strace, &self.sandbox.thru_command(self.row.argv));
        let output = sandbox::run_with_timeout(&mut command, &(self.row.stdin)(&self.sandbox.dir))?;
        let log = std::fs::read(&self.log)
            .context("strace wrote no log; perhaps this user may not trace processes")?;
        Ok((output, String::from_utf8_lossy(&log).into_owned()))
    }

    fn strace_follow_option(&self) -> &'static [&'static str] {
        if self.row.allowed_removal == AllowedRemoval::Settings {
            return &[]; // An installation runs git, and git's calls must not be broken.
        }
        // With seccomp, calls that are not traced cost nothing, which saves most of the time. But strace cannot kill a
        // process in this mode.
        if self.fault.is_error() { &["-f", "--seccomp-bpf"] } else { &["-f"] }
    }

    fn reproduce_command(&self, inject: &str) -> String {
        let words: Vec<&str> = self.strace_follow_option().iter().copied().chain(["-e", inject]).collect();
        format!("{}: strace {} thru {}", self.row.name, words.join(" "), self.row.argv.join(" "))
    }
}
