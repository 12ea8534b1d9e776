//! No hook may exceed its deadline or use more than eight megabytes, whatever is in place of the files that it
//! reads.
//!
//! At every event, each file is replaced with a gigabyte of data (a sparse file, which needs no disk space), a
//! pipe, a device and a folder.

use std::fs::{self, File};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use super::judge::{self, Wrongs};
use super::rows;
use super::snapshot::Snapshot;
use super::{Depth, Loss, Tally};
use crate::memory::Helper;
use crate::sandbox::{Lab, SESSION, Sandbox, payload};

const GIGABYTE: u64 = 1 << 30;
const MOST_KB: u64 = 8 * 1024;

/// How many times a slow hook is tried. Other processes make some runs slow, but not all runs.
const TRIES: usize = 5;

/// An event, its deadline and its payload.
struct Event {
    name: &'static str,
    deadline: Duration,
    payload: fn(&Path) -> Vec<u8>,
}

const fn event(name: &'static str, ms: u64, payload: fn(&Path) -> Vec<u8>) -> Event {
    Event { name, deadline: Duration::from_millis(ms), payload }
}

const EVENTS: &[Event] = &[
    event("SessionStart", 200, rows::start),
    event("SessionStart", 200, resume),
    event("UserPromptSubmit", 200, rows::prompt),
    event("PostToolUse", 50, rows::tool),
    event("PostToolUseFailure", 50, rows::failure),
    event("PreCompact", 50, rows::compact),
    event("Stop", 200, rows::stop),
    event("SessionEnd", 200, rows::end),
];

fn resume(sandbox: &Path) -> Vec<u8> {
    payload::event(sandbox, "SessionStart", json!({"source": "resume"}))
}

type Make = fn(&Path) -> Result<()>;

/// The things that are put in place of a file.
const FORMS: &[(&str, Make)] =
    &[("a gigabyte", make_huge), ("a pipe", make_pipe), ("a device", make_device), ("a folder", make_folder)];

fn make_huge(path: &Path) -> Result<()> {
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

/// Returns every file that some hook reads.
fn places(sandbox: &Sandbox) -> Result<Vec<PathBuf>> {
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
        &format!("state/claims/{SESSION}"),
        &format!("state/cursors/{SESSION}.json"),
        &format!("state/digest/{SESSION}.json"),
        &format!("state/pending/{SESSION}"),
        &format!("state/precompact/{SESSION}.json"),
        &format!("state/reminded/{SESSION}"),
        &format!("state/roles/{SESSION}"),
        &format!("state/swept/{SESSION}"),
        &format!("state/ticked/{SESSION}"),
        &format!("sessions/{SESSION}.jsonl"),
    ]
    .map(|rel| sandbox.store().join(rel));
    let outside = [
        sandbox.project().join(".git"),
        sandbox.dir.join("config/throughline/config.toml"),
        sandbox.dir.join("home/.claude/projects/p/s.jsonl"),
        rows::trust_record(sandbox)?,
    ];
    Ok(store.into_iter().chain(outside).collect())
}

pub fn run(lab: &Lab, depth: Depth) -> Result<Tally> {
    let memory = Helper::build()?;
    let mut tally = Tally::default();
    let first = lab.sandbox("limits")?;
    rows::lived_in(&first)?;
    let before = Snapshot::take(&first.dir)?;
    // Without root.json or the trust record a hook must not write anything, and an unusable journal is reported in
    // a receipt.
    let needed = [first.store().join("root.json"), first.journal(), rows::trust_record(&first)?];
    let events = if depth == Depth::Quick { &EVENTS[..4] } else { EVENTS };
    for place in places(&first)? {
        for (form, make) in FORMS {
            for event in events {
                let prepare = || -> Result<()> {
                    clear(&first, &before, &place)?;
                    make(&place).with_context(|| format!("making {form} of {}", place.display()))
                };
                let wrong = check(&first, &memory, event, &prepare, !needed.contains(&place))?;
                let shown = place.strip_prefix(&first.dir).unwrap_or(&place).display();
                tally.point(wrong, || {
                    format!("{form} in place of {shown}: thru hook claude-code {}", event.name)
                });
            }
        }
    }
    for (about, keep_digest) in [("without a digest", false), ("with a digest", true)] {
        for event in events {
            let prepare = || long_journal(&first, &before, keep_digest);
            let wrong = check(&first, &memory, event, &prepare, true)?;
            tally.point(wrong, || {
                format!("a journal of 500 MB {about}: thru hook claude-code {}", event.name)
            });
        }
    }
    fs::remove_dir_all(&first.dir)?;
    Ok(tally)
}

/// Restores the sandbox without the file at `place`.
fn clear(sandbox: &Sandbox, before: &Snapshot, place: &Path) -> Result<()> {
    before.restore(&sandbox.dir)?;
    fs::create_dir_all(place.parent().context("a file without a folder")?)?;
    if place.is_dir() && !place.is_symlink() {
        fs::remove_dir_all(place)?;
    } else if place.symlink_metadata().is_ok() {
        fs::remove_file(place)?;
    }
    Ok(())
}

/// Makes a journal of 500 MB. Most of it is a hole in the file. The last part repeats the records that were in the
/// journal.
fn long_journal(sandbox: &Sandbox, before: &Snapshot, keep_digest: bool) -> Result<()> {
    before.restore(&sandbox.dir)?;
    // The journal must not be rotated, so that it is one file.
    fs::create_dir_all(sandbox.dir.join("config/throughline"))?;
    fs::write(sandbox.dir.join("config/throughline/config.toml"), "[hooks]\nlog_limit_kib = 1000000\n")?;
    if keep_digest {
        sandbox.must(&["hook", "claude-code", "Stop"], &rows::stop(&sandbox.dir))?;
    } else {
        let _ = fs::remove_dir_all(sandbox.store().join("state/digest"));
    }
    let known = fs::read(sandbox.journal())?;
    let mut file = File::options().write(true).open(sandbox.journal())?;
    file.seek(SeekFrom::Start(500 << 20))?;
    file.write_all(b"\n")?;
    // The last eight megabytes are real records. This is more than a hook reads.
    for _ in 0..(8 << 20) / known.len().max(1) {
        file.write_all(&known)?;
    }
    Ok(())
}

fn check(
    sandbox: &Sandbox,
    memory: &Helper,
    event: &Event,
    prepare: &dyn Fn() -> Result<()>,
    records: bool,
) -> Result<Wrongs> {
    let argv = ["hook", "claude-code", event.name];
    let stdin = (event.payload)(&sandbox.dir);
    let mut wrong = Vec::new();
    let mut took = Duration::MAX;
    for at in 0..TRIES {
        prepare()?;
        let start = Instant::now();
        let output = sandbox.run(&argv, &stdin)?;
        took = took.min(start.elapsed());
        if at == 0 {
            judge::hook_output(&output, &mut wrong);
            if records && event.name == "PostToolUse" && !ends_with_call(sandbox)? {
                wrong.push((Loss::Record, "the tool call is not in the journal".into()));
            }
        }
        if took <= event.deadline {
            break;
        }
    }
    if took > event.deadline {
        wrong.push((
            Loss::None,
            format!("took {} ms, its deadline is {}", took.as_millis(), event.deadline.as_millis()),
        ));
    }
    prepare()?;
    let peak = memory.peak_kb(&sandbox.thru(&argv), &stdin)?;
    if peak > MOST_KB {
        wrong.push((Loss::None, format!("took {peak} KB of memory")));
    }
    Ok(wrong)
}

/// Returns whether the journal's last bytes contain the call. Only these are read, because the file can have half a
/// gigabyte.
fn ends_with_call(sandbox: &Sandbox) -> Result<bool> {
    use std::os::unix::fs::FileExt as _;
    let file = File::open(sandbox.journal())?;
    let size = file.metadata()?.len();
    let mut tail = vec![0; usize::try_from(size.min(64 * 1024))?];
    let from = size - tail.len() as u64;
    file.read_exact_at(&mut tail, from)?;
    Ok(String::from_utf8_lossy(&tail).contains(rows::TOOL_ID))
}
