//! Runs the shell lines that must pass before a promise is accepted.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use model::journal::{self, RecordPolicy};
use model::loops::ValidatorFailure;
use model::redact::{REDACTION_MARGIN, Redacted};

use crate::features::ProjectContext;
use crate::hook::context::HookContext;
use crate::process::{self, CommandJob, EndedCommand, ExitReason};

/// How many bytes at the end of the output are kept.
const MAX_OUTPUT_BYTES: usize = 16 * 1024;

/// Validators end this much before the harness's own deadline, so that the harness receives our answer in time.
const DEADLINE_MARGIN: Duration = Duration::from_secs(2);

/// Runs the validators one after another within the available time, and returns the first failure.
pub fn run_until_first_failure(context: &HookContext, validators: &[String]) -> Option<ValidatorFailure> {
    let whole = Duration::from_secs(context.project.settings.validator_timeout.into())
        .saturating_sub(DEADLINE_MARGIN);
    let until = Instant::now() + whole;
    let variables = [("THROUGHLINE_HOOK", OsString::from("1"))];
    validators.iter().find_map(|command| {
        let failed = |how: String, output: &[u8]| {
            let options = context.project.settings.redact_options();
            let output = Redacted::redact_tail(&String::from_utf8_lossy(output), MAX_OUTPUT_BYTES, options)
                .to_string();
            Some(ValidatorFailure {
                command: Redacted::redact_whole(command, options).to_string(),
                how,
                output,
            })
        };
        let ended = process::run_command(&CommandJob {
            argv: &["sh".to_owned(), "-c".to_owned(), command.clone()],
            folder: &context.project.root.checkout,
            input: b"",
            variables: &variables,
            timeout: until.saturating_duration_since(Instant::now()),
            keep: MAX_OUTPUT_BYTES + REDACTION_MARGIN,
        });
        if let Ok(ended) = &ended {
            journal_run(context, command, ended);
        }
        match ended {
            Ok(ended) if ended.is_success() => None,
            Ok(ended) => failed(ended.how.to_string(), &ended.output),
            Err(error) => failed(format!("it could not be started: {error}"), b""),
        }
    })
}

/// Records the run in the journal: a check that passed here is not failing any more. If that fails, only this is lost.
fn journal_run(context: &HookContext, command: &str, ended: &EndedCommand) {
    let ProjectContext { store, root, settings, .. } = context.project;
    let checkout = root.checkout.to_string_lossy();
    let policy = RecordPolicy { checkout: &checkout, ..context.record_policy() };
    let exit = match ended.how {
        ExitReason::Exit(code) => Some(i64::from(code)),
        ExitReason::Signal(_) | ExitReason::TimedOut => None,
    };
    let output = String::from_utf8_lossy(&ended.output);
    let record = journal::record_of_validator(context.event, command, exit, &output, &policy);
    let kept = store.append_journal(context.session, &record.to_json_line(), settings.log_limit_bytes());
    if let Err(error) = kept {
        context.add_warning(error.to_string());
    }
}
