//! Runs the shell lines that must pass before a promise is accepted.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use model::journal::{self, MAX_VALIDATOR_OUTPUT_BYTES_SEARCHED, ValidatorRun};
use model::loops::ValidatorFailure;
use model::redact::{REDACTION_MARGIN_BYTES, Redacted};

use crate::hook::context::{HookContext, record_policy_of};
use crate::process::{self, CommandJob, EndedCommand, ExitReason};

/// The time between the deadline of the validators and the harness's own deadline. thru needs this time to
/// answer.
const VALIDATORS_DEADLINE_MARGIN: Duration = Duration::from_secs(2);

/// Runs the validators one after another within the time limit, and returns the first failure.
pub fn run_until_first_failure(context: &HookContext, validators: &[String]) -> Option<ValidatorFailure> {
    let whole = Duration::from_secs(context.project.settings.validator_timeout.into())
        .saturating_sub(VALIDATORS_DEADLINE_MARGIN);
    let until = Instant::now() + whole;
    let variables = [("THROUGHLINE_HOOK", OsString::from("1"))];
    validators.iter().find_map(|command| {
        let failed = |how: String, output: &[u8]| {
            let options = context.project.settings.redact_options();
            let output = String::from_utf8_lossy(output);
            let output = Redacted::redact_tail(&output, MAX_VALIDATOR_OUTPUT_BYTES_SEARCHED, options);
            Some(ValidatorFailure::new(&Redacted::redact_whole(command, options), how, &output))
        };
        let ended = process::run_command(&CommandJob {
            argv: &["sh".to_owned(), "-c".to_owned(), command.clone()],
            folder: &context.project.root.checkout,
            input: b"",
            variables: &variables,
            timeout: until.saturating_duration_since(Instant::now()),
            kept_output_bytes: MAX_VALIDATOR_OUTPUT_BYTES_SEARCHED + REDACTION_MARGIN_BYTES,
        });
        if let Ok(ended) = &ended {
            record_validator_run_in_journal(context, command, ended);
        }
        match ended {
            Ok(ended) if ended.is_success() => None,
            Ok(ended) => failed(ended.exit_reason.to_string(), &ended.output),
            Err(error) => failed(format!("it could not be started: {error}"), b""),
        }
    })
}

/// Writes the run to the session's journal, so that briefs and packets can show whether the command passed.
fn record_validator_run_in_journal(context: &HookContext, command: &str, ended: &EndedCommand) {
    let project = &context.project;
    let checkout = project.root.checkout.to_string_lossy();
    let run = ValidatorRun {
        command,
        exit_code: match ended.exit_reason {
            ExitReason::Exit(code) => Some(code.into()),
            ExitReason::Signal(_) | ExitReason::TimedOut => None,
        },
        output: &String::from_utf8_lossy(&ended.output),
        ms: u64::try_from(ended.duration.as_millis()).unwrap_or(u64::MAX),
    };
    let policy = record_policy_of(project, context.harness, &checkout);
    let line = journal::validator_run_line(context.session.as_str(), &run, &policy);
    if let Err(error) =
        project.store.append_journal(context.session, &line, project.settings.log_limit_bytes())
    {
        context.add_warning(error.to_string());
    }
}
