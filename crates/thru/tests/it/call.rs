//! One run of the binary, with its input, its output and a time limit.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

/// The time limit of a call. It is far longer than any call takes on a busy machine, so only a hanging call reaches it.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);

pub struct ThruCall {
    command: Command,
    stdin: Vec<u8>,
    /// How long stdin stays open after the input is written.
    open_for: Duration,
}

#[derive(Debug)]
pub struct ThruOutput {
    pub stdout: String,
    pub stderr: String,
    pub code: i32,
    pub bytes: Vec<u8>,
}

impl ThruCall {
    pub fn new(command: Command) -> ThruCall {
        ThruCall { command, stdin: Vec::new(), open_for: Duration::ZERO }
    }

    pub fn with_argument(mut self, word: impl AsRef<OsStr>) -> ThruCall {
        self.command.arg(word);
        self
    }

    pub fn in_folder(mut self, folder: impl AsRef<Path>) -> ThruCall {
        self.command.current_dir(folder);
        self
    }

    pub fn with_variable(mut self, name: &str, value: impl AsRef<OsStr>) -> ThruCall {
        self.command.env(name, value);
        self
    }

    pub fn without_variable(mut self, name: &str) -> ThruCall {
        self.command.env_remove(name);
        self
    }

    pub fn with_stdin(mut self, bytes: impl Into<Vec<u8>>) -> ThruCall {
        self.stdin = bytes.into();
        self
    }

    pub fn with_stdin_left_open(mut self) -> ThruCall {
        self.open_for = CALL_TIMEOUT * 2;
        self
    }

    pub fn with_user(mut self, id: u32) -> ThruCall {
        self.command.uid(id).gid(id);
        self
    }

    /// Runs the same call through another program. That program's arguments are `words`, the binary, and the binary's
    /// arguments.
    pub fn through_program(self, program: impl AsRef<OsStr>, words: &[&OsStr]) -> ThruCall {
        let mut command = Command::new(program);
        command.args(words).arg(self.command.get_program()).args(self.command.get_args());
        self.with_command(command)
    }

    pub fn with_program(self, program: &Path) -> ThruCall {
        let mut command = Command::new(program);
        command.args(self.command.get_args());
        self.with_command(command)
    }

    fn with_command(self, mut command: Command) -> ThruCall {
        command.env_clear();
        command.envs(self.command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if let Some(folder) = self.command.get_current_dir() {
            command.current_dir(folder);
        }
        ThruCall { command, stdin: self.stdin, open_for: self.open_for }
    }

    /// Runs the call on a terminal into which `typed` is typed. Stdout and stderr are returned together as stdout.
    pub fn run_on_terminal(mut self, typed: &str) -> ThruOutput {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let open = || std::fs::File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let mut child = self.command.stdin(open()).stdout(open()).stderr(open()).spawn().unwrap();
        drop(self.command);
        let mut master = std::fs::File::from(master);
        master.write_all(typed.as_bytes()).unwrap();
        // When a terminal is closed, reading returns an error instead of an end of file.
        let said = read_in_thread(master).recv_timeout(CALL_TIMEOUT);
        if said.is_err() {
            let _ = child.kill();
        }
        let (bytes, status) = (said.unwrap(), child.wait().unwrap());
        ThruOutput {
            stdout: String::from_utf8_lossy(&bytes).into_owned(),
            stderr: String::new(),
            code: status.code().unwrap_or(-1),
            bytes,
        }
    }

    pub fn run(mut self) -> ThruOutput {
        let piped = self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap_or_else(|e| panic!("{:?}: {e}", self.command));
        let mut stdin = child.stdin.take().unwrap();
        let (input, open_for) = (std::mem::take(&mut self.stdin), self.open_for);
        // A program that does not read its input has not failed. Its output shows what it did.
        std::thread::spawn(move || {
            let _ = stdin.write_all(&input);
            std::thread::sleep(open_for);
        });
        let (stdout, stderr) =
            (read_in_thread(child.stdout.take().unwrap()), read_in_thread(child.stderr.take().unwrap()));
        let (Ok(stdout), Ok(stderr)) = (stdout.recv_timeout(CALL_TIMEOUT), stderr.recv_timeout(CALL_TIMEOUT))
        else {
            let _ = child.kill();
            panic!("{:?} hangs", self.command);
        };
        let status = child.wait().unwrap();
        ThruOutput {
            stdout: String::from_utf8_lossy(&stdout).into_owned(),
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
            // If a signal killed the program, the code is 128 plus the signal's number, as in a shell.
            code: status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
            bytes: stdout,
        }
    }
}

fn read_in_thread(mut pipe: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (done, result) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        let _ = done.send(bytes);
    });
    result
}

impl ThruOutput {
    #[track_caller]
    pub fn assert_ok(self) -> ThruOutput {
        self.assert_exit_code(0)
    }

    #[track_caller]
    pub fn assert_exit_code(self, code: i32) -> ThruOutput {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub fn assert_silent(&self, about: &str) {
        let said = (self.code, self.stdout.as_str(), self.stderr.as_str());
        assert_eq!(said, (0, "", ""), "{about}");
    }

    /// Asserts that a hook tells nobody anything, except where a session starts, is resumed or is forked. There, the user
    /// alone gets one message, which contains `part`.
    #[track_caller]
    pub fn assert_told_only_where_session_starts(&self, fixture: &str, part: &str, about: &str) {
        if !["SessionStart.startup", "SessionStart.resume", "SessionStart.fork"].contains(&fixture) {
            return self.assert_silent(&format!("{about}: {fixture}"));
        }
        assert_eq!((self.code, self.stderr.as_str()), (0, ""), "{about}: {fixture}");
        let answer = self.json();
        assert_eq!(answer.as_object().map(|answer| answer.len()), Some(1), "{about}: {fixture}: {answer}");
        let told = answer["systemMessage"].as_str().unwrap_or_else(|| panic!("{about}: {fixture}: {answer}"));
        assert!(told.contains(part), "{about}: {fixture}: {told}");
        assert!(told.contains("`thru doctor`") && !told.contains('\n'), "{about}: {fixture}: {told}");
    }

    /// Asserts that Claude Code accepts a hook's output: no output, context at events that allow it, or plain text for
    /// a summariser.
    #[track_caller]
    pub fn assert_accepted_by_harness(&self, about: &str) {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""), "{about}");
        if self.stdout.is_empty() || self.stdout.starts_with("Keep verbatim in the summary: ") {
            return;
        }
        let answer = self.json();
        let output = answer["hookSpecificOutput"].as_object().unwrap_or_else(|| panic!("{about}: {answer}"));
        let event = output["hookEventName"].as_str().unwrap_or_default();
        assert!(["SessionStart", "UserPromptSubmit", "SubagentStart"].contains(&event), "{about}: {answer}");
        assert!(
            output["additionalContext"].as_str().is_some_and(|text| text.len() < 9_500),
            "{about}: {answer}"
        );
        assert_eq!((answer.as_object().map(|a| a.len()), output.len()), (Some(1), 2), "{about}: {answer}");
    }

    /// Returns a hook's text for the model. The result is empty if there is none.
    #[track_caller]
    pub fn context_for_model(&self) -> String {
        if self.stdout.is_empty() {
            return String::new();
        }
        self.json()["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|e| panic!("not JSON: {e}: {self:?}"))
    }
}

/// The format of an output in snapshots.
impl std::fmt::Display for ThruOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit: {}", self.code)?;
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                write!(f, "\n---- {name}\n{}", text.trim_end_matches('\n'))?;
            }
        }
        Ok(())
    }
}
