//! Files that end too early: what a power cut or a killed writer leaves.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::judge::{self, Wrongs};
use super::rows::{self, TOOL_DONE};
use super::snapshot::Snapshot;
use super::{Depth, Loss, Tally, on_all_cores};
use crate::sandbox::{Lab, SESSION, Sandbox, payload};

/// A log, and the event that appends to it.
type Log = (&'static str, &'static [&'static str], fn(&Path) -> Vec<u8>);
const LOGS: &[Log] = &[
    ("sessions/SESSION.jsonl", TOOL_DONE, tool),
    ("indexes/receipts.jsonl", &["hook", "claude-code", "Stop"], rows::stop),
    ("indexes/sessions.jsonl", &["hook", "claude-code", "SessionStart"], rows::start),
];

fn tool(sandbox: &Path) -> Vec<u8> {
    payload::bash(sandbox, "toolu_healed", "true")
}

pub fn logs(lab: &Lab, _: Depth) -> Result<Tally> {
    on_all_cores(LOGS, |at, (name, argv, stdin)| {
        let sandbox = lab.sandbox(&format!("torn-log-{at}"))?;
        rows::lived_in(&sandbox)?;
        let before = Snapshot::take(&sandbox.dir)?;
        let path = sandbox.store().join(name.replace("SESSION", SESSION));
        let whole = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        let last = last_line_start(&whole);
        let mut tally = Tally::default();
        for cut in last..whole.len() {
            before.restore(&sandbox.dir)?;
            fs::write(&path, &whole[..cut])?;
            let output = sandbox.run(argv, &stdin(&sandbox.dir))?;
            let mut wrong = Vec::new();
            judge::hook_output(&output, &mut wrong);
            healed(&fs::read(&path)?, &whole[..cut], &mut wrong);
            if cut % 8 == 0 {
                readable(&sandbox, &mut wrong)?;
            }
            tally.point(wrong, || format!("head -c {cut} of {name}, then thru {}", argv.join(" ")));
        }
        Ok(tally)
    })
}

fn last_line_start(log: &[u8]) -> usize {
    let body = log.strip_suffix(b"\n").unwrap_or(log);
    body.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1)
}

/// Checks that a log begins with its old bytes, then a line end if there was none, and then one or more complete
/// new lines.
fn healed(log: &[u8], old: &[u8], wrong: &mut Wrongs) {
    let Some(new) = log.strip_prefix(old) else {
        wrong.push((Loss::Record, "what was before the cut has changed".into()));
        return;
    };
    let new = if old.is_empty() || old.ends_with(b"\n") {
        new
    } else if let Some(new) = new.strip_prefix(b"\n") {
        new
    } else {
        wrong.push((Loss::Record, "the new line is glued to the torn one".into()));
        return;
    };
    let whole = new.ends_with(b"\n") && super::integrity::torn_lines(new) == 0;
    if !whole || new.trim_ascii().is_empty() {
        wrong.push((Loss::Record, format!("no whole new line: {}", judge::first_line(new))));
    }
}

fn readable(sandbox: &Sandbox, wrong: &mut Wrongs) -> Result<()> {
    for argv in [["status", "--json"], ["doctor", "--json"]] {
        let output = sandbox.run(&argv, b"")?;
        judge::cli_output(&output, wrong);
        if output.status.code().is_none_or(|code| code > 1) {
            wrong.push((Loss::None, format!("{} afterwards: {}", argv[0], output.status)));
        }
    }
    Ok(())
}

type Finder = fn(&Sandbox) -> Result<PathBuf>;

/// Truncates root.json and the trust record. These files are replaced by rename, so only a bad disk could truncate
/// them. But a damaged file must never be taken for a missing file.
pub fn whole_files(lab: &Lab, depth: Depth) -> Result<Tally> {
    let step = if depth == Depth::Quick { 24 } else { 6 };
    let files: [(&str, Finder); 2] = [
        ("root.json", |sandbox| Ok(sandbox.store().join("root.json"))),
        ("the trust record", rows::trust_record),
    ];
    on_all_cores(&files, |at, (name, path)| {
        let sandbox = lab.sandbox(&format!("torn-file-{at}"))?;
        rows::lived_in(&sandbox)?;
        let path = path(&sandbox)?;
        let whole = fs::read(&path)?;
        ensure!(!whole.is_empty(), "{} is empty to begin with", path.display());
        let before = Snapshot::take(&sandbox.dir)?;
        let mut tally = Tally::default();
        // Never cut off only the final line end, because a file without it is still complete.
        let end = whole.trim_ascii_end().len();
        for cut in (0..end).step_by(step) {
            for argv in [["init", "--json"].as_slice(), &["trust"], &["status", "--json"], TOOL_DONE, START] {
                before.restore(&sandbox.dir)?;
                fs::write(&path, &whole[..cut])?;
                let wrong = damaged(&sandbox, &path, &whole[..cut], argv)?;
                tally.point(wrong, || format!("head -c {cut} of {name}, then thru {}", argv.join(" ")));
            }
        }
        Ok(tally)
    })
}

const START: &[&str] = &["hook", "claude-code", "SessionStart"];

fn damaged(sandbox: &Sandbox, path: &Path, bytes: &[u8], argv: &[&str]) -> Result<Wrongs> {
    let mut wrong = Vec::new();
    let stdin = if argv == START { rows::start(&sandbox.dir) } else { tool(&sandbox.dir) };
    let output = sandbox.run(argv, &stdin)?;
    if argv[0] == "hook" {
        judge::hook_output(&output, &mut wrong);
    } else {
        judge::cli_output(&output, &mut wrong);
        judge::says_why(argv, &output, &mut wrong);
    }
    // The damaged file must be kept, either in place or, if a write has to replace it, under another name.
    let kept = fs::read(path).is_ok_and(|now| now == bytes);
    if !kept && !set_aside(path, bytes)? {
        wrong.push((Loss::TakenForEmpty, format!("the damaged file was overwritten ({})", output.status)));
    }
    Ok(wrong)
}

fn set_aside(path: &Path, bytes: &[u8]) -> Result<bool> {
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

    fn verdict(log: &str, old: &str) -> usize {
        let mut wrong = Vec::new();
        healed(log.as_bytes(), old.as_bytes(), &mut wrong);
        wrong.len()
    }

    #[test]
    fn a_log_is_healed_by_a_line_end_and_a_whole_line() {
        assert_eq!(verdict("{}\n{\"a\n{}\n", "{}\n{\"a"), 0);
        assert_eq!(verdict("{}\n{}\n", "{}\n"), 0);
        assert_eq!(verdict("{}\n{\"a{}\n", "{}\n{\"a"), 1);
        assert_eq!(verdict("{}\n{\"a", "{}\n{\"a"), 1);
        assert_eq!(verdict("{\"a", "{}\n"), 1);
    }

    #[test]
    fn the_last_line_is_found() {
        assert_eq!(last_line_start(b"{}\n{}\n"), 3);
        assert_eq!(last_line_start(b"{}\n"), 0);
        assert_eq!(last_line_start(b""), 0);
    }
}
