//! Runs a harness as a child process that reads and writes lines of JSON. Every wait has a limit, every started process
//! is ended, and all output is kept for the failure message.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

/// The limit of every wait. It is far longer than any step takes on a busy machine, and far shorter than the limit of a
/// CI job.
pub const WAIT_LIMIT: Duration = Duration::from_secs(120);

const LEFTOVER_WAIT: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub struct TestProcess {
    name: String,
    child: Child,
    stdin: Option<ChildStdin>,
    incoming: Receiver<TimedLine>,
    seen: Vec<TimedLine>,
    stderr: Arc<Mutex<String>>,
    stderr_ended: Receiver<()>,
    ended: bool,
}

/// A line of stdout, and when it was read.
#[derive(Clone, Debug)]
pub struct TimedLine {
    pub at: Instant,
    pub json: Value,
}

#[derive(Debug)]
pub struct EndedProcess {
    pub status: ExitStatus,
    pub lines: Vec<TimedLine>,
    pub stderr: String,
}

impl TestProcess {
    /// Starts a process in its own group, so that all processes that it starts can be ended with it.
    pub fn start(mut command: Command) -> TestProcess {
        let name = command.get_program().to_string_lossy().rsplit('/').next().unwrap_or_default().to_owned();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().unwrap_or_else(|error| panic!("starting {command:?}: {error}"));
        let (sender, incoming) = mpsc::channel();
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let json = serde_json::from_str(&line).unwrap_or(Value::String(line));
                if sender.send(TimedLine { at: Instant::now(), json }).is_err() {
                    return;
                }
            }
        });
        let (sender, stderr_ended) = mpsc::channel();
        let stderr = Arc::new(Mutex::new(String::new()));
        let said = Arc::clone(&stderr);
        let pipe = BufReader::new(child.stderr.take().expect("piped"));
        thread::spawn(move || {
            for line in pipe.split(b'\n').map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line).into_owned() + "\n";
                said.lock().unwrap_or_else(PoisonError::into_inner).push_str(&line);
            }
            let _ = sender.send(());
        });
        let stdin = child.stdin.take();
        TestProcess { name, child, stdin, incoming, seen: Vec::new(), stderr, stderr_ended, ended: false }
    }

    pub fn stderr(&self) -> String {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn send(&mut self, line: &Value) {
        let written = self.stdin.as_mut().map(|stdin| writeln!(stdin, "{line}").and_then(|()| stdin.flush()));
        if !matches!(written, Some(Ok(()))) {
            self.fail(&format!("does not take {line}"));
        }
    }

    pub fn close_stdin(&mut self) {
        drop(self.stdin.take());
    }

    pub fn wait_for(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + WAIT_LIMIT;
        loop {
            match self.incoming.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    self.seen.push(line.clone());
                    if is_it(&line.json) {
                        return line.json;
                    }
                }
                Err(RecvTimeoutError::Timeout) => self.fail(&format!("no {what} within {WAIT_LIMIT:?}")),
                Err(RecvTimeoutError::Disconnected) => self.fail(&format!("ended without {what}")),
            }
        }
    }

    /// Closes stdin and waits for the end of the process.
    pub fn close_and_wait(mut self) -> EndedProcess {
        drop(self.stdin.take());
        let until = Instant::now() + WAIT_LIMIT;
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(10)),
                _ => self.fail(&format!("did not end within {WAIT_LIMIT:?}")),
            }
        };
        self.finish_process(status)
    }

    /// Kills the process with a signal that it cannot handle, to simulate a crash.
    pub fn kill(mut self) -> EndedProcess {
        self.child.kill().expect("it is our child");
        let status = self.child.wait().expect("it is our child");
        self.finish_process(status)
    }

    /// Ends the process as Ctrl-C on a terminal would: the whole group gets a signal that it can handle.
    pub fn interrupt(mut self) -> EndedProcess {
        // Also send SIGTERM, because a shell without job control, which CI may use, makes background processes ignore
        // SIGINT.
        for signal in [Signal::INT, Signal::TERM] {
            if let Some(group) = Pid::from_raw(self.child.id() as i32) {
                let _ = kill_process_group(group, signal);
            }
            let limit = Instant::now() + Duration::from_secs(10);
            while Instant::now() < limit {
                if matches!(self.child.try_wait(), Ok(Some(_))) {
                    return self.close_and_wait();
                }
                thread::sleep(Duration::from_millis(50));
            }
        }
        self.close_and_wait()
    }

    fn finish_process(&mut self, status: ExitStatus) -> EndedProcess {
        self.ended = true;
        let stderr = self.drain_pipes();
        EndedProcess { status, lines: std::mem::take(&mut self.seen), stderr }
    }

    /// Reads the remaining output. The wait is short, because a process that the harness left running may keep the
    /// pipes open.
    fn drain_pipes(&mut self) -> String {
        while let Ok(line) = self.incoming.recv_timeout(LEFTOVER_WAIT) {
            self.seen.push(line);
        }
        let _ = self.stderr_ended.recv_timeout(LEFTOVER_WAIT);
        self.stderr()
    }

    fn end_group(&mut self) {
        if let Some(group) = Pid::from_raw(self.child.id() as i32) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
        self.ended = true;
    }

    fn fail(&mut self, why: &str) -> ! {
        self.end_group();
        let stderr = self.drain_pipes();
        panic!("{} {why}\n{}", self.name, format_output(&self.seen, &stderr));
    }
}

impl Drop for TestProcess {
    fn drop(&mut self) {
        if !self.ended {
            self.end_group();
        }
    }
}

impl EndedProcess {
    pub fn assert_success(&self) {
        assert!(self.status.success(), "{}\n{self}", self.status);
    }
}

impl std::fmt::Display for EndedProcess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&format_output(&self.lines, &self.stderr))
    }
}

fn format_output(lines: &[TimedLine], stderr: &str) -> String {
    let mut text = String::from("--- stdout\n");
    for line in lines {
        let line = line.json.to_string();
        text.extend(line.chars().take(600).chain(['\n']));
    }
    text + "--- stderr\n" + stderr
}
