//! Truncated files, as after a power cut or a killed writer.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::judge::{self, Failures};
use super::prepare::{self, TOOL_DONE_HOOK_ARGV};
use super::snapshot::Snapshot;
use super::{LossKind, TortureDepth, TortureTally, on_all_cores};
use crate::sandbox::{SANDBOX_SESSION_ID, Sandbox, SandboxRoot, payload};

/// A log, the arguments of a hook that appends to it, and a function that creates the hook's payload.
type LogAndEvent = (&'static str, &'static [&'static str], fn(&Path) -> Vec<u8>);
const TORN_LOGS: &[LogAndEvent] = &[
    ("sessions/SESSION.jsonl", TOOL_DONE_HOOK_ARGV, tool_payload),
    ("indexes/receipts.jsonl", &["hook", "claude-code", "Stop"], prepare::stop_payload),
    ("indexes/sessions.jsonl", &["hook", "claude-code", "SessionStart"], prepare::session_start_payload),
];

fn tool_payload(sandbox: &Path) -> Vec<u8> {
    payload::bash_payload(sandbox, "toolu_healed", "true")
}

pub fn torn_logs(lab: &SandboxRoot, _: TortureDepth) -> Result<TortureTally> {
    on_all_cores(TORN_LOGS, |at, (name, argv, stdin)| {
        let sandbox = lab.sandbox(&format!("torn-log-{at}"))?;
        prepare::prepare_records(&sandbox)?;
        let before = Snapshot::take(&sandbox.dir)?;
        let path = sandbox.store_folder().join(name.replace("SESSION", SANDBOX_SESSION_ID));
        let whole = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        let last = last_line_start(&whole);
        let mut tally = TortureTally::default();
        for cut in last..whole.len() {
            before.restore(&sandbox.dir)?;
            fs::write(&path, &whole[..cut])?;
            let output = sandbox.run_thru(argv, &stdin(&sandbox.dir))?;
            let mut wrong = Vec::new();
            judge::judge_hook_output(&output, &mut wrong);
            judge_healed_log(&fs::read(&path)?, &whole[..cut], &mut wrong);
            if cut % 8 == 0 {
                judge_readable(&sandbox, &mut wrong)?;
            }
            tally.count_tested_point(wrong, || {
                format!("head -c {cut} of {name}, then thru {}", argv.join(" "))
            });
        }
        Ok(tally)
    })
}

fn last_line_start(log: &[u8]) -> usize {
    let body = log.strip_suffix(b"\n").unwrap_or(log);
    body.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1)
}

/// Checks that a log begins with its old bytes, then a line end if there was none, then one or more complete new lines.
fn judge_healed_log(log: &[u8], old: &[u8], wrong: &mut Failures) {
    let Some(new) = log.strip_prefix(old) else {
        wrong.push((LossKind::RecordLost, "the bytes before the cut have changed".into()));
        return;
    };
    let new = if old.is_empty() || old.ends_with(b"\n") {
        new
    } else if let Some(new) = new.strip_prefix(b"\n") {
        new
    } else {
        wrong.push((LossKind::RecordLost, "the new line was joined to the torn line".into()));
        return;
    };
    let whole = new.ends_with(b"\n") && super::integrity::count_torn_lines(new) == 0;
    if !whole || new.trim_ascii().is_empty() {
        wrong.push((LossKind::RecordLost, format!("no whole new line: {}", judge::first_line(new))));
    }
}

fn judge_readable(sandbox: &Sandbox, wrong: &mut Failures) -> Result<()> {
    for argv in [["status", "--json"], ["doctor", "--json"]] {
        let output = sandbox.run_thru(&argv, b"")?;
        judge::judge_command_output(&output, wrong);
        if output.status.code().is_none_or(|code| code > 1) {
            wrong.push((LossKind::NoLoss, format!("{} afterwards: {}", argv[0], output.status)));
        }
    }
    Ok(())
}

type FindFileFn = fn(&Sandbox) -> Result<PathBuf>;

/// Truncates root.json and the trust record. Both are replaced by a rename, so only a bad disk could truncate them.
/// Still, a damaged file must never be treated as a missing file.
pub fn truncated_files(lab: &SandboxRoot, depth: TortureDepth) -> Result<TortureTally> {
    let step = if depth == TortureDepth::Quick { 24 } else { 6 };
    let files: [(&str, FindFileFn); 2] = [
        ("root.json", |sandbox| Ok(sandbox.store_folder().join("root.json"))),
        ("the trust record", prepare::trust_record_path),
    ];
    on_all_cores(&files, |at, (name, path)| {
        let sandbox = lab.sandbox(&format!("torn-file-{at}"))?;
        prepare::prepare_records(&sandbox)?;
        let path = path(&sandbox)?;
        let whole = fs::read(&path)?;
        ensure!(!whole.is_empty(), "{} is empty before the test", path.display());
        let before = Snapshot::take(&sandbox.dir)?;
        let mut tally = TortureTally::default();
        // If only the final newline were cut off, the file would still be complete, so always cut off more.
        let end = whole.trim_ascii_end().len();
        for cut in (0..end).step_by(step) {
            for argv in [
                ["init", "--json"].as_slice(),
                &["trust"],
                &["status", "--json"],
                TOOL_DONE_HOOK_ARGV,
                SESSION_START_HOOK,
            ] {
                before.restore(&sandbox.dir)?;
                fs::write(&path, &whole[..cut])?;
                let wrong = try_damaged_file(&sandbox, &path, &whole[..cut], argv)?;
                tally.count_tested_point(wrong, || {
                    format!("head -c {cut} of {name}, then thru {}", argv.join(" "))
                });
            }
        }
        Ok(tally)
    })
}

const SESSION_START_HOOK: &[&str] = &["hook", "claude-code", "SessionStart"];

fn try_damaged_file(sandbox: &Sandbox, path: &Path, bytes: &[u8], argv: &[&str]) -> Result<Failures> {
    let mut wrong = Vec::new();
    let stdin = if argv == SESSION_START_HOOK {
        prepare::session_start_payload(&sandbox.dir)
    } else {
        tool_payload(&sandbox.dir)
    };
    let output = sandbox.run_thru(argv, &stdin)?;
    if argv[0] == "hook" {
        judge::judge_hook_output(&output, &mut wrong);
    } else {
        judge::judge_command_output(&output, &mut wrong);
        judge::judge_error_message(argv, &output, &mut wrong);
    }
    // The damaged file must still exist, either at its path or, if a write must replace it, under another name.
    let kept = fs::read(path).is_ok_and(|now| now == bytes);
    if !kept && !is_set_aside(path, bytes)? {
        wrong.push((
            LossKind::TreatedAsEmpty,
            format!("the damaged file was overwritten ({})", output.status),
        ));
    }
    Ok(wrong)
}

fn is_set_aside(path: &Path, bytes: &[u8]) -> Result<bool> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Ok(false);
    };
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let found = entry.file_name().to_string_lossy().starts_with(&format!("{name}.damaged-"));
        if found && fs::read(entry.path())? == bytes {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_failures(log: &str, old: &str) -> usize {
        let mut wrong = Vec::new();
        judge_healed_log(log.as_bytes(), old.as_bytes(), &mut wrong);
        wrong.len()
    }

    #[test]
    fn a_log_is_healed_by_a_line_end_and_a_whole_line() {
        assert_eq!(count_failures("{}\n{\"a\n{}\n", "{}\n{\"a"), 0);
        assert_eq!(count_failures("{}\n{}\n", "{}\n"), 0);
        assert_eq!(count_failures("{}\n{\"a{}\n", "{}\n{\"a"), 1);
        assert_eq!(count_failures("{}\n{\"a", "{}\n{\"a"), 1);
        assert_eq!(count_failures("{\"a", "{}\n"), 1);
    }

    #[test]
    fn the_last_line_is_found() {
        assert_eq!(last_line_start(b"{}\n{}\n"), 3);
        assert_eq!(last_line_start(b"{}\n"), 0);
        assert_eq!(last_line_start(b""), 0);
    }
}
