//! Runs the shell lines that must pass before a promise is accepted.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use model::loops::Failure;
use model::redact::{MARGIN as REDACTION_MARGIN, Redacted};

use crate::hook::context::HookContext;
use crate::process::{self, Job};

/// How many bytes of the end of the output are kept.
const OUTPUT: usize = 16 * 1024;

/// Validators end this much before the harness's own deadline, so that the harness receives our answer in time.
const MARGIN: Duration = Duration::from_secs(2);

/// Runs the validators one after another within the available time, and returns the first failure.
pub fn first_failure(context: &HookContext, validators: &[String]) -> Option<Failure> {
    let whole = Duration::from_secs(context.project.settings.validator_timeout.into()).saturating_sub(MARGIN);
    let until = Instant::now() + whole;
    let variables = [("THROUGHLINE_HOOK", OsString::from("1"))];
    validators.iter().find_map(|command| {
        let failed = |how: String, output: &[u8]| {
            let options = context.project.settings.redact();
            let output = Redacted::tail(&String::from_utf8_lossy(output), OUTPUT, options).to_string();
            Some(Failure { command: Redacted::whole(command, options).to_string(), how, output })
        };
        let ended = process::run(&Job {
            argv: &["sh".to_owned(), "-c".to_owned(), command.clone()],
            folder: &context.project.root.checkout,
            input: b"",
            variables: &variables,
            timeout: until.saturating_duration_since(Instant::now()),
            keep: OUTPUT + REDACTION_MARGIN,
        });
        match ended {
            Ok(ended) if ended.is_ok() => None,
            Ok(ended) => failed(ended.how.to_string(), &ended.output),
            Err(error) => failed(format!("it could not be started: {error}"), b""),
        }
    })
}
