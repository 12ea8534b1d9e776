//! Finds out what is wrong after a command has run under bad conditions.

use std::process::Output;

use anyhow::Result;

use super::LossKind;
use super::integrity;
use super::prepare::{self, TOOL_DONE_HOOK_ARGV};
use super::rows::{self, HookWriteExpectation, TortureRow};
use super::snapshot::Snapshot;
use crate::sandbox::{Sandbox, payload};

pub type Failures = Vec<(LossKind, String)>;

/// The documented exit codes: 0 ok, 1 finding, 2 usage, 3 and 4 gates, 10 absent, 11 permission, 12 damaged,
/// 13 foreign, 14 busy, 15 refused, 16 I/O.
const EXIT_CODES: &[i32] = &[0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 15, 16];

/// The beginning of the only reply that is not JSON. Before a compaction, Claude Code passes a hook's plain text to
/// the summariser.
const SUMMARY_REPLY_START: &[u8] = b"Keep verbatim in the summary: ";

/// Checks that a hook exits with 0 and prints nothing or one JSON object.
pub fn judge_hook_output(output: &Output, wrong: &mut Failures) {
    match output.status.code() {
        Some(0) => {}
        Some(code) => {
            wrong.push((
                LossKind::NoLoss,
                format!("the hook ended with {code}: {}", first_line(&output.stderr)),
            ));
        }
        None => {
            wrong.push((
                LossKind::NoLoss,
                format!("the hook: {}: {}", output.status, first_line(&output.stderr)),
            ));
        }
    }
    if !output.stdout.trim_ascii().is_empty()
        && !output.stdout.starts_with(SUMMARY_REPLY_START)
        && serde_json::from_slice::<serde_json::Value>(&output.stdout).is_err()
    {
        wrong.push((
            LossKind::NoLoss,
            format!("the hook printed something other than JSON: {}", first_line(&output.stdout)),
        ));
    }
    judge_no_panic(output, wrong);
}

/// Checks that a command exits with a documented code, and that it prints a reason if the code is not 0.
pub fn judge_command_output(output: &Output, wrong: &mut Failures) {
    match output.status.code() {
        Some(code) if EXIT_CODES.contains(&code) => {}
        Some(code) => wrong.push((
            LossKind::NoLoss,
            format!("exit code {code} is not documented: {}", first_line(&output.stderr)),
        )),
        None => wrong.push((LossKind::NoLoss, format!("{}: {}", output.status, first_line(&output.stderr)))),
    }
    judge_no_panic(output, wrong);
}

/// Checks that a failing command prints a reason on stderr. With `--json`, or with findings (exit code 1), the reason
/// may be on stdout.
pub fn judge_error_message(argv: &[&str], output: &Output, wrong: &mut Failures) {
    let data = argv.contains(&"--json") || output.status.code() == Some(1);
    let told = !output.stderr.trim_ascii().is_empty() || (data && !output.stdout.trim_ascii().is_empty());
    if !output.status.success() && !told {
        wrong.push((LossKind::NoLoss, format!("ended with {} and said nothing", output.status)));
    }
}

fn judge_no_panic(output: &Output, wrong: &mut Failures) {
    for text in [&output.stderr, &output.stdout].map(|bytes| String::from_utf8_lossy(bytes)) {
        if let Some(line) =
            text.lines().find(|line| line.contains("panicked at") || line.contains("RUST_BACKTRACE"))
        {
            wrong.push((LossKind::NoLoss, format!("it panicked: {line}")));
        }
    }
}

/// Checks that every record still exists, now and after the next commands, and that the next commands and `thru
/// doctor` work.
pub fn judge_aftermath(
    row: &TortureRow,
    sandbox: &Sandbox,
    [before, after]: [&Snapshot; 2],
    loss: LossKind,
    wrong: &mut Failures,
) -> Result<()> {
    let lost = |when: &str, now: &Snapshot, wrong: &mut Failures| {
        let found = integrity::find_losses(before, now, row.allowed_removal);
        wrong.extend(found.into_iter().map(|text| (loss, format!("{when}: {text}"))));
    };
    lost("right after", after, wrong);
    judge_doctor(sandbox, wrong)?;

    let again = sandbox.run_thru(row.argv, &(row.stdin)(&sandbox.dir))?;
    if !again.status.success() {
        wrong.push((
            LossKind::NoLoss,
            format!("the same command again: {}: {}", again.status, first_line(&again.stderr)),
        ));
    } else if !(row.is_done)(sandbox) {
        wrong.push((
            LossKind::NoLoss,
            "the same command, run again, reported success, but did not succeed".into(),
        ));
    }
    judge_status(sandbox, wrong)?;

    let silent = row.hooks_after == HookWriteExpectation::WriteNothing;
    let output =
        sandbox.run_thru(TOOL_DONE_HOOK_ARGV, &payload::bash_payload(&sandbox.dir, "toolu_after", "true"))?;
    judge_hook_output(&output, wrong);
    let written = rows::tool_call_ids(sandbox).iter().any(|id| id == "toolu_after");
    if written == silent {
        let what =
            if silent { "wrote into a project that is not trusted" } else { "left no line in the journal" };
        wrong.push((LossKind::NoLoss, format!("the next hook {what}")));
    }
    lost("after the next commands", &Snapshot::take(&sandbox.dir)?, wrong);
    Ok(())
}

fn judge_doctor(sandbox: &Sandbox, wrong: &mut Failures) -> Result<()> {
    let output = sandbox.run_thru(&["doctor"], b"")?;
    judge_no_panic(&output, wrong);
    match output.status.code() {
        Some(0) => {}
        Some(1) if !output.stdout.trim_ascii().is_empty() || !output.stderr.trim_ascii().is_empty() => {}
        Some(1) => wrong.push((LossKind::NoLoss, "doctor reports a problem but does not say which".into())),
        _ => {
            wrong.push((
                LossKind::NoLoss,
                format!("doctor: {}: {}", output.status, first_line(&output.stderr)),
            ));
        }
    }
    Ok(())
}

fn judge_status(sandbox: &Sandbox, wrong: &mut Failures) -> Result<()> {
    let output = sandbox.run_thru(&["status", "--json"], b"")?;
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    if !output.status.success() {
        wrong.push((
            LossKind::NoLoss,
            format!("status afterwards: {}: {}", output.status, first_line(&output.stderr)),
        ));
    } else if told["project_id"].as_str().map(str::to_owned) != prepare::project_id(sandbox) {
        wrong.push((LossKind::NoLoss, format!("status afterwards names project {}", told["project_id"])));
    }
    Ok(())
}

pub fn first_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().next().unwrap_or("(nothing)").chars().take(200).collect()
}
