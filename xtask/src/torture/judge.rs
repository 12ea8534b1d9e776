//! Decides what is wrong after a command ran under bad conditions.

use std::process::Output;

use anyhow::Result;

use super::Loss;
use super::integrity;
use super::rows::{self, Hooks, Row, TOOL_DONE};
use super::snapshot::Snapshot;
use crate::sandbox::{Sandbox, payload};

pub type Wrongs = Vec<(Loss, String)>;

/// The documented exit codes: 0 ok, 1 finding, 2 usage, 3 and 4 gates, 10 absent, 11 permission, 12 damaged,
/// 13 foreign, 14 busy, 15 refused, 16 I/O.
const EXIT_CODES: &[i32] = &[0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 15, 16];

/// The beginning of the only reply that is not JSON: before a compaction, Claude Code passes plain text to the
/// summariser.
const FOR_THE_SUMMARY: &[u8] = b"Keep verbatim in the summary: ";

/// Checks that a hook exits with 0 and prints nothing or one JSON object.
pub fn hook_output(output: &Output, wrong: &mut Wrongs) {
    match output.status.code() {
        Some(0) => {}
        Some(code) => {
            wrong.push((Loss::None, format!("the hook ended with {code}: {}", first_line(&output.stderr))));
        }
        None => {
            wrong.push((Loss::None, format!("the hook: {}: {}", output.status, first_line(&output.stderr))));
        }
    }
    if !output.stdout.trim_ascii().is_empty()
        && !output.stdout.starts_with(FOR_THE_SUMMARY)
        && serde_json::from_slice::<serde_json::Value>(&output.stdout).is_err()
    {
        wrong.push((
            Loss::None,
            format!("the hook printed something else than JSON: {}", first_line(&output.stdout)),
        ));
    }
    no_panic(output, wrong);
}

/// Checks that a command exits with a documented code, and that it says why if the code is not 0.
pub fn cli_output(output: &Output, wrong: &mut Wrongs) {
    match output.status.code() {
        Some(code) if EXIT_CODES.contains(&code) => {}
        Some(code) => wrong.push((
            Loss::None,
            format!("exit code {code} is not documented: {}", first_line(&output.stderr)),
        )),
        None => wrong.push((Loss::None, format!("{}: {}", output.status, first_line(&output.stderr)))),
    }
    no_panic(output, wrong);
}

/// Checks that a failing command says why: on stderr or, with `--json` or for findings (exit code 1), on stdout.
pub fn says_why(argv: &[&str], output: &Output, wrong: &mut Wrongs) {
    let data = argv.contains(&"--json") || output.status.code() == Some(1);
    let told = !output.stderr.trim_ascii().is_empty() || (data && !output.stdout.trim_ascii().is_empty());
    if !output.status.success() && !told {
        wrong.push((Loss::None, format!("ended with {} and said nothing", output.status)));
    }
}

fn no_panic(output: &Output, wrong: &mut Wrongs) {
    for text in [&output.stderr, &output.stdout].map(|bytes| String::from_utf8_lossy(bytes)) {
        if let Some(line) =
            text.lines().find(|line| line.contains("panicked at") || line.contains("RUST_BACKTRACE"))
        {
            wrong.push((Loss::None, format!("it panicked: {line}")));
        }
    }
}

/// Checks whether every record still exists, now and after the next commands. Also checks whether these commands
/// work, and whether `thru doctor` still answers.
pub fn aftermath(
    row: &Row,
    sandbox: &Sandbox,
    [before, after]: [&Snapshot; 2],
    loss: Loss,
    wrong: &mut Wrongs,
) -> Result<()> {
    let lost = |when: &str, now: &Snapshot, wrong: &mut Wrongs| {
        let found = integrity::check(before, now, row.takes);
        wrong.extend(found.into_iter().map(|text| (loss, format!("{when}: {text}"))));
    };
    lost("right after", after, wrong);
    doctor(sandbox, wrong)?;

    let again = sandbox.run(row.argv, &(row.stdin)(&sandbox.dir))?;
    if !again.status.success() {
        wrong.push((
            Loss::None,
            format!("the same command again: {}: {}", again.status, first_line(&again.stderr)),
        ));
    } else if !(row.done)(sandbox) {
        wrong.push((Loss::None, "the same command again said it succeeded, and had not".into()));
    }
    status(sandbox, wrong)?;

    let silent = row.hooks_after == Hooks::Silent;
    let output = sandbox.run(TOOL_DONE, &payload::bash(&sandbox.dir, "toolu_after", "true"))?;
    hook_output(&output, wrong);
    let written = rows::journal_ids(sandbox).iter().any(|id| id == "toolu_after");
    if written == silent {
        let what =
            if silent { "wrote into a project that is not trusted" } else { "left no line in the journal" };
        wrong.push((Loss::None, format!("the next hook {what}")));
    }
    lost("after the next commands", &Snapshot::take(&sandbox.dir)?, wrong);
    Ok(())
}

fn doctor(sandbox: &Sandbox, wrong: &mut Wrongs) -> Result<()> {
    let output = sandbox.run(&["doctor"], b"")?;
    no_panic(&output, wrong);
    match output.status.code() {
        Some(0) => {}
        Some(1) if !output.stdout.trim_ascii().is_empty() || !output.stderr.trim_ascii().is_empty() => {}
        Some(1) => wrong.push((Loss::None, "doctor found something and does not say what".into())),
        _ => wrong.push((Loss::None, format!("doctor: {}: {}", output.status, first_line(&output.stderr)))),
    }
    Ok(())
}

fn status(sandbox: &Sandbox, wrong: &mut Wrongs) -> Result<()> {
    let output = sandbox.run(&["status", "--json"], b"")?;
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    if !output.status.success() {
        wrong.push((
            Loss::None,
            format!("status afterwards: {}: {}", output.status, first_line(&output.stderr)),
        ));
    } else if told["project_id"].as_str().map(str::to_owned) != rows::project_id(sandbox) {
        wrong.push((Loss::None, format!("status afterwards names project {}", told["project_id"])));
    }
    Ok(())
}

pub fn first_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().next().unwrap_or("(nothing)").chars().take(200).collect()
}
