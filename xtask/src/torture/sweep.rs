//! Breaks every file system call of every command once. Either the process is killed at the call, or the call fails.
//!
//! strace counts each kind of call separately, so the sweep handles one kind after another. It breaks the first
//! `openat`, then the second, and so on, until the command ends without reaching the fault. Most commands begin with
//! the same calls, so a quick run breaks each distinct call in only a few of the commands.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, Output};

use anyhow::{Context as _, Result, ensure};

use super::integrity::AllowedRemoval;
use super::judge::{self, Failures};
use super::rows::{ROWS, TortureRow};
use super::settings;
use super::snapshot::Snapshot;
use super::{LossKind, TortureDepth, TortureTally, map_on_all_cores, on_all_cores};
use crate::sandbox::{self, Sandbox, SandboxRoot};
use crate::strace::{self, FirstDistinctCallsByKind, SystemCall};

/// Calls that can fail because of a broken disk, a full file table or a missing permission. The `?` tells strace to
/// ignore a call that the architecture does not have.
const FAULTY_CALLS: &str = "?open,?openat,?openat2,?creat,?mkdir,?mkdirat,?rename,?renameat,?renameat2,?link,?linkat,?symlink,\
    ?symlinkat,?unlink,?unlinkat,?rmdir,?write,?writev,?pwrite64,?read,?pread64,?lseek,?fsync,?fdatasync,?ftruncate,\
    ?truncate,?fallocate,?flock,?fcntl,?stat,?lstat,?fstat,?statx,?newfstatat,?access,?faccessat,?faccessat2,?getdents64,\
    ?readlink,?readlinkat,?chmod,?fchmod,?fchmodat,?getcwd,?utimensat,?copy_file_range,?close";

/// Commands that make thousands of system calls. Only a full run makes each of these calls fail. A quick run only
/// kills the command at each call.
const COMMANDS_WITH_MANY_CALLS: &[&str] = &["uninstall --all"];

/// System calls that start another process. They are traced, but never made to fail.
const PROCESS_STARTING_CALLS: &[&str] = &["fork", "vfork", "clone", "clone3"];

/// System calls that change nothing on disk. Killing a process at such a call has the same effect as killing it at its
/// next call that changes something.
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
/// A quick run makes each system call fail once. It uses these errors in turn.
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
    let rows: Vec<&TortureRow> = ROWS.iter().filter(|row| row.name.contains(&lab.row_filter)).collect();
    let mut jobs = Vec::new();
    for &fault in faults {
        match fault {
            InjectedFault::ErrorsByTurns | InjectedFault::KillAtChanges => {
                let is_swept =
                    |row: &&&TortureRow| !fault.is_error() || !COMMANDS_WITH_MANY_CALLS.contains(&row.name);
                let rows: Vec<&TortureRow> = rows.iter().filter(is_swept).copied().collect();
                let calls = map_on_all_cores(&rows, |_, row| system_calls_of_one_run(lab, row, fault))?;
                let commands_per_call =
                    if fault.is_error() { COMMANDS_FAILED_PER_CALL } else { COMMANDS_KILLED_PER_CALL };
                jobs.extend(
                    rows.into_iter()
                        .zip(choose_calls(calls, commands_per_call))
                        .map(|(row, calls)| FaultSweep { row, fault, calls: Some(calls) }),
                );
            }
            _ => jobs.extend(rows.iter().map(|row| FaultSweep { row, fault, calls: None })),
        }
    }
    on_all_cores(&jobs, |_, sweep| {
        sweep_row(lab, sweep).with_context(|| format!("{} ({:?})", sweep.row.name, sweep.fault))
    })
}

/// A command, and which of its system calls are made to fail.
struct FaultSweep<'a> {
    row: &'a TortureRow,
    fault: InjectedFault,
    /// The numbers of the calls that must fail, by kind, or `None` if every call must fail.
    calls: Option<BTreeMap<String, BTreeSet<usize>>>,
}

/// How many times the clean run is repeated if a fault was not injected. If the call occurs in all of these runs,
/// strace is at fault. Otherwise, the call is made only in some runs.
const RUNS_TO_SHOW_CHANCE: usize = 4;

/// Many commands make the same system call. A quick run kills at most this many of these commands at that call.
const COMMANDS_KILLED_PER_CALL: usize = 3;

/// A quick run makes the same system call fail in at most this many commands. The limit for kills is higher, because a
/// quick run kills a command only at calls that change the disk, and such calls are much rarer.
const COMMANDS_FAILED_PER_CALL: usize = 1;

/// Runs a command once and returns its calls, without the names that differ between commands.
fn system_calls_of_one_run(
    lab: &SandboxRoot,
    row: &TortureRow,
    fault: InjectedFault,
) -> Result<FirstDistinctCallsByKind> {
    let name = format!("trace-{}-{fault:?}", row.name).replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let sandbox = lab.sandbox(&name)?;
    (row.sandbox)(&sandbox)?;
    let log = lab.path().join(format!("{name}.strace"));
    let bench = StracedCommand { log, row, fault, sandbox: &sandbox };
    let (_, log) = bench.run_under_strace(&format!("trace={FAULTY_CALLS}"), &["-y"])?;
    let folder = sandbox.dir.to_str().context("the path of the sandbox is not Unicode")?;
    let calls = strace::first_distinct_system_calls(&log.replace(folder, ""));
    std::fs::remove_dir_all(&sandbox.dir)?;
    Ok(calls)
}

/// Chooses the system calls that a quick run breaks: each distinct call, in the first few commands that make it.
fn choose_calls(
    commands: Vec<FirstDistinctCallsByKind>,
    commands_per_call: usize,
) -> Vec<BTreeMap<String, BTreeSet<usize>>> {
    let mut chosen_before: HashMap<(String, String), usize> = HashMap::new();
    let mut is_chosen = |kind: &str, arguments: String| {
        let times = chosen_before.entry((kind.to_owned(), arguments)).or_default();
        *times += 1;
        *times <= commands_per_call
    };
    commands
        .into_iter()
        .map(|calls| {
            calls
                .into_iter()
                .map(|(kind, calls)| {
                    let chosen =
                        calls.into_iter().filter(|(_, arguments)| is_chosen(&kind, arguments.clone()));
                    let numbers = chosen.map(|(number, _)| number).collect();
                    (kind, numbers)
                })
                .collect()
        })
        .collect()
}

/// Runs one command many times. In each run, one system call gets a fault of the given kind.
fn sweep_row(lab: &SandboxRoot, sweep: &FaultSweep) -> Result<TortureTally> {
    let FaultSweep { row, fault, .. } = *sweep;
    let name = format!("sweep-{}-{fault:?}", row.name).replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let sandbox = lab.sandbox(&name)?;
    (row.sandbox)(&sandbox)?;
    let before = Snapshot::take(&sandbox.dir)?;
    let bench =
        StracedCommand { log: lab.path().join(format!("{name}.strace")), row, fault, sandbox: &sandbox };

    let (_, log) = bench
        .run_under_strace(&format!("trace={FAULTY_CALLS},?{}", PROCESS_STARTING_CALLS.join(",?")), &["-y"])?;
    let starts_others =
        strace::parse_strace_log(&log).any(|call| PROCESS_STARTING_CALLS.contains(&call.name));
    let clean = Snapshot::take(&sandbox.dir)?;
    let made: BTreeSet<&str> = strace::parse_strace_log(&log).map(|call| call.name).collect();
    let mut tally = TortureTally::default();
    let mut judged = HashSet::new();
    // The state of the sandbox after the last run with a fault, or `None` if the current state is not known.
    let mut left = None;
    let kinds = made.into_iter().filter(|call| {
        let is_spared = PROCESS_STARTING_CALLS.contains(call)
            || fault.skips_call(call)
            || starts_others && fault.leaves_descriptor_open(call);
        !is_spared
    });
    for call in kinds {
        let numbers: Box<dyn Iterator<Item = usize>> = match &sweep.calls {
            Some(calls) => Box::new(calls.get(call).into_iter().flatten().copied()),
            None => Box::new(1..),
        };
        for number in numbers {
            match left.take() {
                Some(left) => before.restore_changed_paths(&left, &sandbox.dir)?,
                None => before.restore(&sandbox.dir)?,
            }
            let inject = fault.strace_option(call, number);
            let (output, log) = bench.run_under_strace(&format!("trace={call}"), &["-e", &inject])?;
            if !strace::was_fault_injected(&log) && !strace::was_killed(&log) {
                // The clean run made this call, so the sweep must fail if the fault is never injected. The only
                // exception is a call that is made at random: one write in sixteen removes leftovers of a cache.
                let makes_again = || -> Result<bool> {
                    before.restore(&sandbox.dir)?;
                    let (_, log) = bench.run_under_strace(&format!("trace={FAULTY_CALLS}"), &[])?;
                    Ok(strace::parse_strace_log(&log).any(|made| made.name == call))
                };
                let mut is_always_made = number == 1;
                for _ in 0..RUNS_TO_SHOW_CHANCE {
                    is_always_made = is_always_made && makes_again()?;
                }
                ensure!(!is_always_made, "strace did not inject the fault: {inject}");
                break;
            }
            let hit = strace::parse_strace_log(&log).find(|call| call.injected);
            let mut wrong = judge_output_of_broken_command(row, &sandbox, &output, hit.as_ref());
            let after = Snapshot::take(&sandbox.dir)?;
            if row.allowed_removal == AllowedRemoval::Settings {
                // A temporary file may be left over only if its removal failed.
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
            tally.count_tested_point(wrong, || bench.reproduce_command(&inject));
        }
    }
    std::fs::remove_dir_all(&sandbox.dir)?;
    Ok(tally)
}

/// Returns what is wrong with the output and the exit code of a broken command.
fn judge_output_of_broken_command(
    row: &TortureRow,
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
        // If writing the message failed, no message is expected.
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

/// Returns the kind of loss if a record is missing after a fault. If the fault was in a call that only reads, an
/// unreadable file was treated as an empty file.
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
    row: &'a TortureRow,
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
            return &[]; // An installation runs git, whose own system calls must not fail here.
        }
        // With seccomp, system calls that are not traced cost nothing, which saves most of the time. But in this mode
        // strace cannot kill a process, so seccomp is used only for calls that return an error.
        if self.fault.is_error() { &["-f", "--seccomp-bpf"] } else { &["-f"] }
    }

    fn reproduce_command(&self, inject: &str) -> String {
        let words: Vec<&str> = self.strace_follow_option().iter().copied().chain(["-e", inject]).collect();
        format!("{}: strace {} thru {}", self.row.name, words.join(" "), self.row.argv.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_every_command_makes_is_broken_in_a_few_commands() {
        let command = |own: &str| {
            let opens = BTreeMap::from([(1, "root.json".to_owned()), (3, own.to_owned())]);
            FirstDistinctCallsByKind::from([("openat".to_owned(), opens)])
        };
        let commands = ["a", "b", "c", "d", "e"].map(command).to_vec();
        let chosen = choose_calls(commands, 2);
        let shared = chosen.iter().filter(|calls| calls["openat"].contains(&1)).count();
        assert_eq!(shared, 2);
        assert!(chosen.iter().all(|calls| calls["openat"].contains(&3)));
    }
}
