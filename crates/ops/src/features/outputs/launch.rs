//! One launch of an output's command. The command gets its prompt on stdin. While it runs, everything it prints is
//! redacted and logged next to the output file.

use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use model::gate::{self, ExpectedOutput};
use model::redact::{self, redact_text};
use model::render::one_line;
use model::time;
use store::{Durability, RunFolder, layout};

use super::orphan;
use crate::Result;
use crate::process::reaper::ProcessReaper;
use crate::process::{self, CommandJob, CommandObserver};
use crate::world::OUTPUT_VARIABLE;

/// The maximum number of bytes that are kept from the output of one launch.
const MAX_LAUNCH_LOG_BYTES: usize = 4 * 1024 * 1024;

/// How many bytes are held back while waiting for the end of a private key.
const MAX_PENDING_BYTES: usize = 256 * 1024;

pub(super) struct OutputLaunch<'a> {
    pub run: &'a Arc<RunFolder>,
    pub output: &'a ExpectedOutput,
    /// The folder in which the command runs.
    pub folder: &'a Path,
    pub timeout: Duration,
    pub reaper: &'a ProcessReaper,
    pub redact_options: redact::RedactOptions,
    pub now: Timestamp,
}

/// Runs the command. Returns a message that says how it ended or why it could not be started.
pub(super) fn run_launch(launch: &OutputLaunch) -> Result<String> {
    let OutputLaunch { run, output, .. } = launch;
    let path = run.path().join(&output.file);
    let prompt = layout::launch_prompt_file_name(&output.file);
    run.write_file(&prompt, &gate::launch_prompt(output, &path.to_string_lossy()), Durability::Relaxed)?;
    // A process that inherits this file as stdin keeps the lock, even after the current process has ended. If the
    // current run is killed, the lock tells the next run that the launched process is still working.
    let stdin = run.open_with_inherited_lock(&prompt)?;
    let log = Arc::new(Mutex::new(LaunchLog::new(launch)));
    let write = Arc::clone(&log);
    let held = |log: &Mutex<LaunchLog>, text: &[u8]| {
        log.lock().unwrap_or_else(PoisonError::into_inner).push_output(text);
    };
    let began = |process| orphan::record_launch_process(run, &output.file, process, launch.now);
    let ended = process::run_command_streaming_output(
        &CommandJob {
            argv: &output.launch,
            folder: launch.folder,
            input: b"",
            variables: &[(OUTPUT_VARIABLE, OsString::from(path))],
            timeout: launch.timeout,
            kept_output_bytes: 0,
        },
        stdin,
        Some(CommandObserver { reaper: launch.reaper, on_start: &began }),
        move |said| held(&write, said),
    );
    let how = match ended {
        Ok(ended) => format!("{} after {:.1} s", ended.exit_reason, ended.duration.as_secs_f64()),
        Err(error) => format!("cannot be started: {error}"),
    };
    orphan::remove_launch_record(run, &output.file);
    log.lock().unwrap_or_else(PoisonError::into_inner).finish(&how);
    Ok(how)
}

struct LaunchLog {
    run: Arc<RunFolder>,
    name: String,
    redact_options: redact::RedactOptions,
    pending: Vec<u8>,
    written: usize,
}

impl LaunchLog {
    fn new(launch: &OutputLaunch) -> LaunchLog {
        let OutputLaunch { run, output, now, .. } = launch;
        let log = LaunchLog {
            run: Arc::clone(run),
            name: layout::launch_log_file_name(&output.file),
            redact_options: launch.redact_options,
            pending: Vec::new(),
            written: 0,
        };
        let command = one_line(&redact_text(&output.launch.join(" "), launch.redact_options), 400);
        log.append(&format!("=== {}, launch {}: {command}", time::to_rfc3339(*now), output.attempts + 1));
        log
    }

    fn push_output(&mut self, said: &[u8]) {
        if self.written >= MAX_LAUNCH_LOG_BYTES {
            return;
        }
        self.pending.extend_from_slice(said);
        let ready = if self.pending.len() > MAX_PENDING_BYTES {
            self.pending.len()
        } else {
            redactable_length(&self.pending)
        };
        let text: Vec<u8> = self.pending.drain(..ready).collect();
        self.write_redacted(&text);
        if self.written >= MAX_LAUNCH_LOG_BYTES {
            self.append("=== the rest is not kept");
        }
    }

    fn finish(&mut self, how: &str) {
        let rest = std::mem::take(&mut self.pending);
        self.write_redacted(&rest);
        self.append(&format!("=== {how}"));
    }

    fn write_redacted(&mut self, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        self.written += text.len();
        let text = String::from_utf8_lossy(text);
        let clean = redact_text(&text, self.redact_options).into_owned();
        self.append(clean.strip_suffix('\n').unwrap_or(&clean));
    }

    /// Appends text to the log. Errors are ignored, because a launch should not fail if its log cannot be written.
    fn append(&self, text: &str) {
        let _ = self.run.append_lines(&self.name, &[text]);
    }
}

/// Returns how many bytes of the pending output can be redacted now: all complete lines, up to a private key whose
/// end has not arrived yet.
fn redactable_length(pending: &[u8]) -> usize {
    let lines = pending.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let find = |text: &[u8], word: &[u8]| text.windows(word.len()).rposition(|window| window == word);
    match find(&pending[..lines], b"-----BEGIN ") {
        Some(begin) if find(&pending[begin..lines], b"-----END ").is_none() => {
            pending[..begin].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)
        }
        _ => lines,
    }
}

#[cfg(test)]
mod tests {
    use super::redactable_length;

    #[test]
    fn a_private_key_waits_for_its_end() {
        for (text, expected) in [
            ("", 0),
            ("half", 0),
            ("one\nhalf", 4),
            ("one\n-----BEGIN KEY-----\nabc\n", 4),
            ("one\n-----BEGIN KEY-----\nabc\n-----END KEY-----\nx", 46),
            ("-----BEGIN A-----\n-----END A-----\n-----BEGIN B-----\n", 34),
        ] {
            assert_eq!(redactable_length(text.as_bytes()), expected, "{text:?}");
        }
    }
}
