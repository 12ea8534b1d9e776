//! Checks that no hook exceeds its deadline or uses more than eight megabytes, even if its files are replaced.
//!
//! For every event, each file is replaced in turn with a gigabyte of data (a sparse file, which needs no disk space),
//! a pipe, a device and a folder.

use std::fs::{self, File};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use super::judge::{self, Failures};
use super::prepare;
use super::snapshot::Snapshot;
use super::{LossKind, TortureDepth, TortureTally};
use crate::memory::PeakMemoryHelper;
use crate::sandbox::{SANDBOX_SESSION_ID, Sandbox, SandboxRoot, payload};

const GIGABYTE: u64 = 1 << 30;
const MAX_MEMORY_KB: u64 = 8 * 1024;

/// How many times a slow hook is tried. Other processes can slow down some runs, but rarely all of them.
const MAX_TRIES_OF_SLOW_HOOK: usize = 5;

struct LimitedEvent {
    name: &'static str,
    deadline: Duration,
    payload: fn(&Path) -> Vec<u8>,
}

const fn limited_event(name: &'static str, ms: u64, payload: fn(&Path) -> Vec<u8>) -> LimitedEvent {
    LimitedEvent { name, deadline: Duration::from_millis(ms), payload }
}

const LIMITED_EVENTS: &[LimitedEvent] = &[
    limited_event("SessionStart", 200, prepare::session_start_payload),
    limited_event("SessionStart", 200, resume_payload),
    limited_event("UserPromptSubmit", 200, prepare::prompt_payload),
    limited_event("PostToolUse", 50, prepare::tool_payload),
    limited_event("PostToolUseFailure", 50, prepare::failure_payload),
    limited_event("PreCompact", 50, prepare::compact_payload),
    limited_event("Stop", 200, prepare::stop_payload),
    limited_event("SessionEnd", 200, prepare::end_payload),
];

fn resume_payload(sandbox: &Path) -> Vec<u8> {
    payload::hook_payload(sandbox, "SessionStart", json!({"source": "resume"}))
}

type MakeObstacleFn = fn(&Path) -> Result<()>;

/// The kinds of objects with which the tests replace a file.
const OBSTACLE_FORMS: &[(&str, MakeObstacleFn)] = &[
    ("a gigabyte", make_gigabyte_file),
    ("a pipe", make_pipe),
    ("a device", make_device),
    ("a folder", make_folder),
];

fn make_gigabyte_file(path: &Path) -> Result<()> {
    Ok(File::create(path)?.set_len(GIGABYTE)?)
}

fn make_pipe(path: &Path) -> Result<()> {
    ensure!(Command::new("mkfifo").arg(path).status().context("starting mkfifo")?.success(), "mkfifo failed");
    Ok(())
}

fn make_device(path: &Path) -> Result<()> {
    Ok(symlink("/dev/zero", path)?)
}

fn make_folder(path: &Path) -> Result<()> {
    Ok(fs::create_dir(path)?)
}

/// Returns every file that a hook reads.
fn files_read_by_hooks(sandbox: &Sandbox) -> Result<Vec<PathBuf>> {
    let store = [
        "root.json",
        "config.toml",
        "decisions.jsonl",
        "packets/20261115T192200Z-a.md",
        "loops/a.md",
        "agents/dev.context.md",
        "workstreams/01-a/resume-context.md",
        "indexes/active-loop.json",
        "indexes/packets.tsv",
        "indexes/receipts.jsonl",
        "indexes/sessions.jsonl",
        "indexes/relevant-files.jsonl",
        "state/live.json",
        "state/reserved.json",
        "state/precompact_state.json",
        &format!("state/claims/{SANDBOX_SESSION_ID}"),
        &format!("state/cursors/{SANDBOX_SESSION_ID}.json"),
        &format!("state/digest/{SANDBOX_SESSION_ID}.json"),
        &format!("state/gate-run/{SANDBOX_SESSION_ID}"),
        &format!("state/pending/{SANDBOX_SESSION_ID}"),
        &format!("state/precompact/{SANDBOX_SESSION_ID}.json"),
        &format!("state/reminded/{SANDBOX_SESSION_ID}"),
        &format!("state/roles/{SANDBOX_SESSION_ID}"),
        &format!("state/sent/{SANDBOX_SESSION_ID}.json"),
        &format!("state/swept/{SANDBOX_SESSION_ID}"),
        &format!("state/ticked/{SANDBOX_SESSION_ID}"),
        &format!("sessions/{SANDBOX_SESSION_ID}.jsonl"),
    ]
    .map(|rel| sandbox.store_folder().join(rel));
    let outside = [
        sandbox.project_folder().join(".git"),
        sandbox.dir.join("config/throughline/config.toml"),
        sandbox.dir.join("home/.claude/projects/p/s.jsonl"),
        prepare::trust_record_path(sandbox)?,
    ];
    Ok(store.into_iter().chain(outside).collect())
}

pub fn run_limits(lab: &SandboxRoot, depth: TortureDepth) -> Result<TortureTally> {
    let memory = PeakMemoryHelper::build()?;
    let mut tally = TortureTally::default();
    let first = lab.sandbox("limits")?;
    prepare::prepare_records(&first)?;
    let before = Snapshot::take(&first.dir)?;
    // Without root.json or the trust record, a hook must not write anything. An unusable journal is reported in a
    // receipt.
    let needed =
        [first.store_folder().join("root.json"), first.journal_path(), prepare::trust_record_path(&first)?];
    let events = if depth == TortureDepth::Quick { &LIMITED_EVENTS[..4] } else { LIMITED_EVENTS };
    for place in files_read_by_hooks(&first)? {
        for (form, make) in OBSTACLE_FORMS {
            for event in events {
                let prepare = || -> Result<()> {
                    restore_without_file(&first, &before, &place)?;
                    make(&place).with_context(|| format!("making {form} of {}", place.display()))
                };
                let wrong = check_event(&first, &memory, event, &prepare, !needed.contains(&place))?;
                let shown = place.strip_prefix(&first.dir).unwrap_or(&place).display();
                tally.count_tested_point(wrong, || {
                    format!("{form} in place of {shown}: thru hook claude-code {}", event.name)
                });
            }
        }
    }
    for (about, keep_digest) in [("without a digest", false), ("with a digest", true)] {
        for event in events {
            let prepare = || make_long_journal(&first, &before, keep_digest);
            let wrong = check_event(&first, &memory, event, &prepare, true)?;
            tally.count_tested_point(wrong, || {
                format!("a journal of 500 MB {about}: thru hook claude-code {}", event.name)
            });
        }
    }
    fs::remove_dir_all(&first.dir)?;
    Ok(tally)
}

/// Restores the sandbox and removes the file at `place`.
fn restore_without_file(sandbox: &Sandbox, before: &Snapshot, place: &Path) -> Result<()> {
    before.restore(&sandbox.dir)?;
    fs::create_dir_all(place.parent().context("the path has no parent folder")?)?;
    if place.is_dir() && !place.is_symlink() {
        fs::remove_dir_all(place)?;
    } else if place.symlink_metadata().is_ok() {
        fs::remove_file(place)?;
    }
    Ok(())
}

/// Makes a journal of 500 MB. Most of it is a hole, and its end repeats the existing records.
fn make_long_journal(sandbox: &Sandbox, before: &Snapshot, keep_digest: bool) -> Result<()> {
    before.restore(&sandbox.dir)?;
    // Rotation is prevented, so that the journal stays one file.
    fs::create_dir_all(sandbox.dir.join("config/throughline"))?;
    fs::write(sandbox.dir.join("config/throughline/config.toml"), "[hooks]\nlog_limit_kib = 1000000\n")?;
    if keep_digest {
        sandbox.run_successfully(&["hook", "claude-code", "Stop"], &prepare::stop_payload(&sandbox.dir))?;
    } else {
        let _ = fs::remove_dir_all(sandbox.store_folder().join("state/digest"));
    }
    let known = fs::read(sandbox.journal_path())?;
    let mut file = File::options().write(true).open(sandbox.journal_path())?;
    file.seek(SeekFrom::Start(500 << 20))?;
    file.write_all(b"\n")?;
    // Write eight megabytes of real records at the end. A hook reads less than that.
    for _ in 0..(8 << 20) / known.len().max(1) {
        file.write_all(&known)?;
    }
    Ok(())
}

fn check_event(
    sandbox: &Sandbox,
    memory: &PeakMemoryHelper,
    event: &LimitedEvent,
    prepare: &dyn Fn() -> Result<()>,
    records: bool,
) -> Result<Failures> {
    let argv = ["hook", "claude-code", event.name];
    let stdin = (event.payload)(&sandbox.dir);
    let mut wrong = Vec::new();
    let mut took = Duration::MAX;
    for at in 0..MAX_TRIES_OF_SLOW_HOOK {
        prepare()?;
        let start = Instant::now();
        let output = sandbox.run_thru(&argv, &stdin)?;
        took = took.min(start.elapsed());
        if at == 0 {
            judge::judge_hook_output(&output, &mut wrong);
            if records && event.name == "PostToolUse" && !journal_ends_with_call(sandbox)? {
                wrong.push((LossKind::RecordLost, "the tool call is not in the journal".into()));
            }
        }
        if took <= event.deadline {
            break;
        }
    }
    if took > event.deadline {
        wrong.push((
            LossKind::NoLoss,
            format!("took {} ms, its deadline is {}", took.as_millis(), event.deadline.as_millis()),
        ));
    }
    prepare()?;
    let peak = memory.peak_kb(&sandbox.thru_command(&argv), &stdin)?;
    if peak > MAX_MEMORY_KB {
        wrong.push((LossKind::NoLoss, format!("took {peak} KB of memory")));
    }
    Ok(wrong)
}

/// Returns whether the end of the journal contains the call. Only the end is read, because the file may be 500 MB long.
fn journal_ends_with_call(sandbox: &Sandbox) -> Result<bool> {
    use std::os::unix::fs::FileExt as _;
    let file = File::open(sandbox.journal_path())?;
    let size = file.metadata()?.len();
    let mut tail = vec![0; usize::try_from(size.min(64 * 1024))?];
    let from = size - tail.len() as u64;
    file.read_exact_at(&mut tail, from)?;
    Ok(String::from_utf8_lossy(&tail).contains(prepare::TOOL_CALL_ID))
}
