//! Runs commands that the user asked for, such as validators and launch commands. Both their running time and the
//! amount of output that is kept are limited.

pub(crate) mod alive;
pub mod info;
pub(crate) mod reaper;

use std::ffi::OsString;
use std::fs::File;
use std::io::{PipeReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::process::reaper::ProcessReaper;

/// How long to wait before checking again whether a command has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// How long a command may take to end after SIGTERM. This is also how long to wait for its last output after it has
/// ended.
const MAX_EXIT_TIME_AFTER_SIGTERM: Duration = Duration::from_millis(500);

#[derive(Clone, Copy, Debug)]
pub struct CommandJob<'a> {
    /// The program and its arguments. A caller that needs a shell passes `sh -c LINE`.
    pub argv: &'a [String],
    pub folder: &'a Path,
    pub input: &'a [u8],
    pub variables: &'a [(&'a str, OsString)],
    pub timeout: Duration,
    /// How many bytes are kept from the end of the output.
    pub kept_output_bytes: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedCommand {
    pub exit_reason: ExitReason,
    /// The command's stdout and stderr together, in order of arrival.
    pub output: Vec<u8>,
    pub duration: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitReason {
    Exit(i32),
    Signal(i32),
    /// The time limit was reached, so the command and all processes that it had started were killed.
    TimedOut,
}

impl EndedCommand {
    pub fn is_success(&self) -> bool {
        self.exit_reason == ExitReason::Exit(0)
    }
}

impl std::fmt::Display for ExitReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ExitReason::Exit(code) => write!(f, "exit {code}"),
            ExitReason::Signal(signal) => write!(f, "ended by signal {signal}"),
            ExitReason::TimedOut => f.write_str("timed out"),
        }
    }
}

/// Runs a command until it ends or its time is up. Returns an error if the command could not be started.
pub fn run_command(job: &CommandJob) -> std::io::Result<EndedCommand> {
    run_command_streaming_output(job, None, None, |_| {})
}

/// How the caller observes a running command.
#[derive(Clone, Copy)]
pub(crate) struct CommandObserver<'a> {
    /// Kills the command if thru itself is killed.
    pub reaper: &'a ProcessReaper,
    /// Called with the command's process id once it has started.
    pub on_start: &'a dyn Fn(u32),
}

/// Like [`run_command`], but passes output on as it arrives, accepts a file as stdin in place of `input`, and lets
/// the caller observe the command.
pub(crate) fn run_command_streaming_output(
    job: &CommandJob,
    stdin: Option<File>,
    watch: Option<CommandObserver>,
    hear: impl FnMut(&[u8]) + Send + 'static,
) -> std::io::Result<EndedCommand> {
    let started = Instant::now();
    let Some((program, arguments)) = job.argv.split_first() else {
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "an empty command"));
    };
    let (reader, writer) = std::io::pipe()?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(job.folder)
        .envs(job.variables.iter().map(|(name, value)| (name, value)));
    // Give the command its own process group, so that all processes that it starts can be killed together.
    let stdin = stdin.map_or_else(Stdio::piped, Stdio::from);
    command.process_group(0).stdin(stdin).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn()?;
    if let Some(watch) = watch {
        watch.reaper.add_process_group(child.id());
        (watch.on_start)(child.id());
    }
    // `command` still has write ends of the pipe open, and the reader sees the end of the output only when all of
    // them are closed.
    drop(command);
    let (stdin, input) = (child.stdin.take(), job.input.to_vec());
    // A broken pipe is ignored, because a command need not read its input.
    std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
    let captured = capture_in_thread(reader, job.kept_output_bytes, hear);
    let how = wait_with_timeout(&mut child, job.timeout);
    if let Some(watch) = watch {
        watch.reaper.forget_process_group(child.id());
    }
    let how = how?;
    let output = captured.text();
    Ok(EndedCommand { exit_reason: how, output, duration: started.elapsed() })
}

fn wait_with_timeout(child: &mut Child, timeout: Duration) -> std::io::Result<ExitReason> {
    let until = Instant::now() + timeout;
    while Instant::now() < until {
        if let Some(status) = child.try_wait()? {
            return Ok(exit_reason(status));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    end_child(child);
    child.wait()?;
    Ok(ExitReason::TimedOut)
}

fn end_child(child: &mut Child) {
    let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return };
    terminate_group(group, || !matches!(child.try_wait(), Ok(None)));
}

/// Sends SIGTERM to the whole process group. If the group is still running after [`MAX_EXIT_TIME_AFTER_SIGTERM`],
/// sends SIGKILL.
pub(crate) fn terminate_group(group: Pid, mut is_over: impl FnMut() -> bool) {
    let _ = kill_process_group(group, Signal::TERM);
    let until = Instant::now() + MAX_EXIT_TIME_AFTER_SIGTERM;
    while Instant::now() < until && !is_over() {
        std::thread::sleep(POLL_INTERVAL);
    }
    let _ = kill_process_group(group, Signal::KILL);
}

fn exit_reason(status: ExitStatus) -> ExitReason {
    match (status.code(), status.signal()) {
        (Some(code), _) => ExitReason::Exit(code),
        (None, signal) => ExitReason::Signal(signal.unwrap_or(0)),
    }
}

/// A command's output so far, and whether it is complete. A process that the command left behind may keep the pipe
/// open, so the wait for the rest of the output is limited to [`MAX_EXIT_TIME_AFTER_SIGTERM`].
struct CapturedOutput(Arc<Mutex<(Vec<u8>, bool)>>);

fn capture_in_thread(
    mut reader: PipeReader,
    keep: usize,
    mut hear: impl FnMut(&[u8]) + Send + 'static,
) -> CapturedOutput {
    let shared = Arc::new(Mutex::new((Vec::new(), false)));
    let captured = CapturedOutput(Arc::clone(&shared));
    std::thread::spawn(move || {
        let mut chunk = vec![0; 64 * 1024];
        while let Ok(n @ 1..) = reader.read(&mut chunk) {
            hear(&chunk[..n]);
            let mut said = shared.lock().unwrap_or_else(PoisonError::into_inner);
            said.0.extend_from_slice(&chunk[..n]);
            let over = said.0.len().saturating_sub(keep);
            said.0.drain(..over);
        }
        shared.lock().unwrap_or_else(PoisonError::into_inner).1 = true;
    });
    captured
}

impl CapturedOutput {
    fn text(&self) -> Vec<u8> {
        let until = Instant::now() + MAX_EXIT_TIME_AFTER_SIGTERM;
        loop {
            let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if said.1 || Instant::now() >= until {
                return std::mem::take(&mut said.0);
            }
            drop(said);
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

#[cfg(test)]
#[path = "process/process_tests.rs"]
mod tests;
