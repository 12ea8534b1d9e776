//! Starts commands that the user asked for: a validator, a launch command. Their time is limited, and so is the
//! amount of output that is kept.

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

/// How long to wait between two checks of a running command.
const TICK: Duration = Duration::from_millis(5);

/// How long a command may take to end after SIGTERM, and how long its last output may take to arrive after it has
/// ended.
const GRACE: Duration = Duration::from_millis(500);

#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The program and its arguments. No shell is used; a caller that wants a shell passes `sh -c LINE`.
    pub argv: &'a [String],
    pub folder: &'a Path,
    pub input: &'a [u8],
    pub variables: &'a [(&'a str, OsString)],
    pub timeout: Duration,
    /// How many bytes of the end of the output are kept.
    pub keep: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub how: How,
    /// The stdout and stderr of the command together, in order of arrival.
    pub output: Vec<u8>,
    pub took: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Exit(i32),
    Signal(i32),
    /// The time was up, so the command and everything it had started were ended.
    TimedOut,
}

impl Ended {
    pub fn is_ok(&self) -> bool {
        self.how == How::Exit(0)
    }
}

impl std::fmt::Display for How {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            How::Exit(code) => write!(f, "exit {code}"),
            How::Signal(signal) => write!(f, "ended by signal {signal}"),
            How::TimedOut => f.write_str("timed out"),
        }
    }
}

/// Runs a command to its end, or until its time is up. An error means that the command could not be started.
pub fn run(job: &Job) -> std::io::Result<Ended> {
    run_heard(job, None, None, |_| {})
}

/// What a caller can do to observe a running command.
#[derive(Clone, Copy)]
pub(crate) struct Watch<'a> {
    /// Ends the command if this process is killed.
    pub watchman: &'a ProcessReaper,
    /// Called with the process id of the command when it has started.
    pub began: &'a dyn Fn(u32),
}

/// Like [`run`], but passes the output on as it arrives, accepts a file in place of `input`, and lets the caller
/// observe the command.
pub(crate) fn run_heard(
    job: &Job,
    stdin: Option<File>,
    watch: Option<Watch>,
    hear: impl FnMut(&[u8]) + Send + 'static,
) -> std::io::Result<Ended> {
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
    // The command gets its own process group, so that everything it starts can be ended with it.
    let stdin = stdin.map_or_else(Stdio::piped, Stdio::from);
    command.process_group(0).stdin(stdin).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn()?;
    if let Some(watch) = watch {
        watch.watchman.began(child.id());
        (watch.began)(child.id());
    }
    // `command` holds writing ends of the pipe, and the reader sees the end of the output only when all writing
    // ends are closed.
    drop(command);
    let (stdin, input) = (child.stdin.take(), job.input.to_vec());
    // A command need not read its input, so a broken pipe is not an error.
    std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
    let captured = listen(reader, job.keep, hear);
    let how = wait(&mut child, job.timeout);
    if let Some(watch) = watch {
        watch.watchman.ended(child.id());
    }
    let how = how?;
    let output = captured.text();
    Ok(Ended { how, output, took: started.elapsed() })
}

fn wait(child: &mut Child, timeout: Duration) -> std::io::Result<How> {
    let until = Instant::now() + timeout;
    while Instant::now() < until {
        if let Some(status) = child.try_wait()? {
            return Ok(how(status));
        }
        std::thread::sleep(TICK);
    }
    end(child);
    child.wait()?;
    Ok(How::TimedOut)
}

fn end(child: &mut Child) {
    let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return };
    end_group(group, || !matches!(child.try_wait(), Ok(None)));
}

/// Asks the whole process group to end, then kills it.
pub(crate) fn end_group(group: Pid, mut is_over: impl FnMut() -> bool) {
    let _ = kill_process_group(group, Signal::TERM);
    let until = Instant::now() + GRACE;
    while Instant::now() < until && !is_over() {
        std::thread::sleep(TICK);
    }
    let _ = kill_process_group(group, Signal::KILL);
}

fn how(status: ExitStatus) -> How {
    match (status.code(), status.signal()) {
        (Some(code), _) => How::Exit(code),
        (None, signal) => How::Signal(signal.unwrap_or(0)),
    }
}

/// A command's output so far, and whether it is complete. A process that the command left behind may hold the pipe
/// open for ever, so nobody waits for the end of the output longer than [`GRACE`].
struct CapturedOutput(Arc<Mutex<(Vec<u8>, bool)>>);

fn listen(
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
        let until = Instant::now() + GRACE;
        loop {
            let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if said.1 || Instant::now() >= until {
                return std::mem::take(&mut said.0);
            }
            drop(said);
            std::thread::sleep(TICK);
        }
    }
}

#[cfg(test)]
#[path = "process/process_tests.rs"]
mod tests;
