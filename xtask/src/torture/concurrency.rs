//! Many processes change one record at the same time. Nothing may be lost, torn or created twice.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Barrier;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::judge::first_line;
use super::prepare::{self, TOOL_DONE_HOOK_ARGV};
use super::rows;
use super::snapshot::Snapshot;
use super::{LossKind, TortureDepth, TortureTally, integrity};
use crate::sandbox::{SANDBOX_SESSION_ID, Sandbox, SandboxRoot, payload};

pub const PARALLEL_WRITERS: usize = 64;

/// Makes many hooks append to one log at the same time. Hooks take no lock, so each write must be one complete line.
pub fn appends_at_once(lab: &SandboxRoot, depth: TortureDepth) -> Result<TortureTally> {
    append_from_many_processes(&lab.sandbox("appends")?, depth)
}

/// Like `appends_at_once`, but rotates the log repeatedly during the writes.
pub fn simultaneous_appends_with_rotation(lab: &SandboxRoot, depth: TortureDepth) -> Result<TortureTally> {
    let sandbox = lab.sandbox("appends-rotating")?;
    prepare::set_smallest_log_limit(&sandbox)?;
    append_from_many_processes(&sandbox, depth)
}

fn append_from_many_processes(sandbox: &Sandbox, depth: TortureDepth) -> Result<TortureTally> {
    let each = if depth == TortureDepth::Quick { 20 } else { 100 };
    sandbox.init_root()?;
    let mut wrong = Vec::new();
    let failed = run_writers(|writer| {
        let mut failed = Vec::new();
        for number in 0..each {
            // The lines have different lengths, so that a torn line cannot look complete by chance.
            let command = format!("echo {}", "x".repeat((writer * 37 + number * 101) % 1000));
            let output = sandbox.run_thru(
                TOOL_DONE_HOOK_ARGV,
                &payload::bash_payload(&sandbox.dir, &call_id(writer, number), &command),
            )?;
            if !output.status.success() {
                failed.push(format!("a hook ended with {}", output.status));
            }
        }
        Ok(failed)
    })?;
    wrong.extend(failed.into_iter().map(|text| (LossKind::NoLoss, text)));

    let torn: usize = rows::read_journals(sandbox)?.iter().map(|log| integrity::count_torn_lines(log)).sum();
    if torn > 0 {
        wrong.push((LossKind::RecordLost, format!("{torn} torn lines")));
    }
    let found = rows::tool_call_ids(sandbox);
    let distinct: BTreeSet<&String> = found.iter().collect();
    let missing =
        (0..PARALLEL_WRITERS).flat_map(|writer| (0..each).map(move |number| call_id(writer, number)));
    let missing = missing.filter(|id| !distinct.contains(id)).count();
    if missing > 0 {
        wrong.push((
            LossKind::RecordLost,
            format!("{missing} of {} lines are missing", PARALLEL_WRITERS * each),
        ));
    }
    if found.len() != distinct.len() {
        wrong.push((LossKind::NoLoss, format!("{} lines were written twice", found.len() - distinct.len())));
    }
    Ok(build_tally(PARALLEL_WRITERS * each, wrong, "64 × `thru hook claude-code PostToolUse` on one session"))
}

fn call_id(writer: usize, number: usize) -> String {
    format!("toolu_w{writer}n{number}")
}

/// Makes all processes read, change and write one trust record at the same time.
pub fn simultaneous_trust_updates(lab: &SandboxRoot, depth: TortureDepth) -> Result<TortureTally> {
    let each = if depth == TortureDepth::Quick { 5 } else { 20 };
    let sandbox = lab.sandbox("updates")?;
    sandbox.init_root()?;
    let marker = fs::read(sandbox.store_folder().join("root.json"))?;
    let folder = |writer: usize, number: usize| sandbox.dir.join(format!("copies/w{writer}n{number}"));
    for writer in 0..PARALLEL_WRITERS {
        for number in 0..each {
            let store = folder(writer, number).join(".agent/context");
            fs::create_dir_all(&store)?;
            fs::write(store.join("root.json"), &marker)?;
        }
    }
    let failed = run_writers(|writer| {
        let mut failed = Vec::new();
        for number in 0..each {
            let copy = folder(writer, number);
            let output = sandbox.run_thru(&["trust", "--root", &copy.to_string_lossy()], b"")?;
            if !output.status.success() {
                failed.push(format!("trust ended with {}: {}", output.status, first_line(&output.stderr)));
            }
        }
        Ok(failed)
    })?;
    let mut wrong: Vec<_> = failed.into_iter().map(|text| (LossKind::NoLoss, text)).collect();
    let record = fs::read(prepare::trust_record_path(&sandbox)?).context("reading the trust record")?;
    let roots = integrity::trusted_roots(&record).unwrap_or_default();
    let all = (0..PARALLEL_WRITERS).flat_map(|writer| (0..each).map(move |number| (writer, number)));
    let missing =
        all.filter(|&(writer, number)| !roots.contains(&*folder(writer, number).to_string_lossy())).count();
    if missing > 0 {
        wrong.push((
            LossKind::RecordLost,
            format!("{missing} of {} roots are missing", PARALLEL_WRITERS * each),
        ));
    }
    Ok(build_tally(PARALLEL_WRITERS * each, wrong, "64 × `thru trust --root COPY` on copies of one project"))
}

/// Makes all processes create the same root at the same time. One process must win, and all must report the same
/// project id.
pub fn simultaneous_inits(lab: &SandboxRoot, depth: TortureDepth) -> Result<TortureTally> {
    let rounds = if depth == TortureDepth::Quick { 10 } else { 50 };
    let mut wrong = Vec::new();
    for round in 0..rounds {
        let sandbox = lab.sandbox(&format!("inits-{round}"))?;
        let told: Vec<String> = run_writers(|_| {
            let output = sandbox.run_thru(&["init", "--json"], b"")?;
            let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
            Ok(vec![match (output.status.success(), told["project_id"].as_str()) {
                (true, Some(id)) => id.to_owned(),
                (true, None) => format!("its output contains no project_id: {}", first_line(&output.stdout)),
                (false, _) => format!("{}: {}", output.status, first_line(&output.stderr)),
            }])
        })?;
        let kept = prepare::project_id(&sandbox).unwrap_or_default();
        let others: BTreeSet<&String> = told.iter().filter(|id| **id != kept).collect();
        for other in others {
            wrong.push((
                LossKind::RecordLost,
                format!("round {round}: root.json says {kept}, one init said {other}"),
            ));
        }
        fs::remove_dir_all(&sandbox.dir)?;
    }
    Ok(build_tally(PARALLEL_WRITERS * rounds, wrong, "64 × `thru init --json` in one empty folder"))
}

/// Makes 64 hooks report the same tool call at the same time. The call must be recorded once.
pub fn simultaneous_reports_of_same_call(lab: &SandboxRoot, depth: TortureDepth) -> Result<TortureTally> {
    let rounds = if depth == TortureDepth::Quick { 2 } else { 10 };
    let mut wrong = Vec::new();
    for round in 0..rounds {
        let sandbox = lab.sandbox(&format!("same-call-{round}"))?;
        sandbox.init_root()?;
        let told = payload::edit_payload(&sandbox.dir, "toolu_same", 400, "none");
        let failed = run_writers(|_| {
            let output = sandbox.run_thru(TOOL_DONE_HOOK_ARGV, &told)?;
            Ok(if output.status.success() { vec![] } else { vec![format!("a hook: {}", output.status)] })
        })?;
        wrong.extend(failed.into_iter().map(|text| (LossKind::NoLoss, text)));
        for when in ["before any stop", "after a stop"] {
            let shown = prepare::record_ids_shown_by_thru_journal(&sandbox)
                .iter()
                .filter(|id| *id == "toolu_same")
                .count();
            if shown != 1 {
                wrong.push((LossKind::NoLoss, format!("{when}: thru journal shows the call {shown} times")));
            }
            let edits = prepare::edit_count_shown_by_thru_files(&sandbox, "src/session.rs");
            if edits != Some(1) {
                wrong.push((LossKind::NoLoss, format!("{when}: thru files counts {edits:?} edits")));
            }
            sandbox.run_successfully(prepare::STOP_HOOK_ARGV, &prepare::stop_payload(&sandbox.dir))?;
        }
        fs::remove_dir_all(&sandbox.dir)?;
    }
    let reproduce =
        "64 × `thru hook claude-code PostToolUse` with one payload; thru journal --json; thru files --json";
    Ok(build_tally(PARALLEL_WRITERS * rounds, wrong, reproduce))
}

/// Makes 64 hooks report the stop of one session at the same time. The transcript contains calls that no hook has
/// reported.
pub fn simultaneous_stops(lab: &SandboxRoot, depth: TortureDepth) -> Result<TortureTally> {
    let rounds = if depth == TortureDepth::Quick { 2 } else { 10 };
    let mut wrong = Vec::new();
    for round in 0..rounds {
        let sandbox = lab.sandbox(&format!("stops-{round}"))?;
        prepare::prepare_transcript(&sandbox)?;
        let before = Snapshot::take(&sandbox.dir)?;
        let failed = run_writers(|_| {
            let output = sandbox.run_thru(prepare::STOP_HOOK_ARGV, &prepare::stop_payload(&sandbox.dir))?;
            Ok(if output.status.success() { vec![] } else { vec![format!("a stop: {}", output.status)] })
        })?;
        wrong.extend(failed.into_iter().map(|text| (LossKind::NoLoss, text)));
        let lost = integrity::find_losses(
            &before,
            &Snapshot::take(&sandbox.dir)?,
            integrity::AllowedRemoval::Nothing,
        );
        wrong.extend(lost.into_iter().map(|text| (LossKind::RecordLost, text)));
        let ids = rows::tool_call_ids(&sandbox);
        let distinct: BTreeSet<&String> = ids.iter().collect();
        if distinct.len() != ids.len() {
            wrong
                .push((LossKind::NoLoss, format!("{} lines were written twice", ids.len() - distinct.len())));
        }
        let digest =
            fs::read(sandbox.store_folder().join(format!("state/digest/{SANDBOX_SESSION_ID}.json")))?;
        if serde_json::from_slice::<Value>(&digest).is_err() {
            wrong.push((LossKind::RecordLost, "the digest cannot be read".into()));
        }
        if !prepare::is_transcript_in_journal(&sandbox) {
            wrong.push((LossKind::RecordLost, "not every call of the transcript is there once".into()));
        }
        fs::remove_dir_all(&sandbox.dir)?;
    }
    Ok(build_tally(
        PARALLEL_WRITERS * rounds,
        wrong,
        "64 × `thru hook claude-code Stop` of one session with a transcript",
    ))
}

/// Makes two sessions claim one packet at the same time. Only one of them may get it.
pub fn simultaneous_packet_claims(lab: &SandboxRoot, depth: TortureDepth) -> Result<TortureTally> {
    let rounds = if depth == TortureDepth::Quick { 50 } else { 1_000 };
    let sandbox = lab.sandbox("claims")?;
    sandbox.init_root()?;
    // A session can claim a packet only if hooks work, because a hook reports the end of the session.
    let mut install = sandbox.thru_command(&["install", "claude-code", "--local"]);
    ensure!(
        crate::sandbox::run_with_timeout(&mut install, b"")?.status.success(),
        "hooks cannot be installed"
    );
    let packet = sandbox.store_folder().join("packets/one.md");
    let mut wrong = Vec::new();
    for round in 0..rounds {
        fs::create_dir_all(sandbox.store_folder().join("packets"))?;
        fs::write(&packet, "---\nid: one\nstatus: draft\npurpose: x\n---\n")?;
        let barrier = Barrier::new(2);
        let codes: Vec<Option<i32>> = std::thread::scope(|scope| {
            let claim = |session: &str| {
                let mut command = sandbox.thru_command(&["pickup", "one", "--claim"]);
                command.env("CLAUDE_CODE_SESSION_ID", session);
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    crate::sandbox::run_with_timeout(&mut command, b"")
                        .ok()
                        .and_then(|output| output.status.code())
                })
            };
            [claim("a"), claim("b")].into_iter().map(|thread| thread.join().unwrap_or_default()).collect()
        });
        let winners = codes.iter().filter(|code| **code == Some(0)).count();
        let refused = codes.iter().filter(|code| **code == Some(15)).count();
        let text = fs::read_to_string(&packet)?;
        let holder = if codes[0] == Some(0) { "claimed_by: a\n" } else { "claimed_by: b\n" };
        if winners != 1 || refused != 1 || !text.contains(holder) {
            wrong.push((
                LossKind::RecordLost,
                format!("round {round}: exit codes {codes:?}, packet:\n{text}"),
            ));
        }
    }
    Ok(build_tally(rounds, wrong, "2 × `thru pickup one --claim`"))
}

/// The maximum number of times that one stop is reported. The reports end as soon as the loop blocks the stop.
const MAX_REPORTS_OF_ONE_STOP: usize = 10;

/// Makes 64 processes report different stops of one loop at the same time. Each stop must be counted.
pub fn loop_iterations_at_once(lab: &SandboxRoot, depth: TortureDepth) -> Result<TortureTally> {
    let each = if depth == TortureDepth::Quick { 5 } else { 20 };
    let sandbox = lab.sandbox("iterations")?;
    prepare::prepare_loop(&sandbox)?;
    let settings = "[hooks]\ndeadline_ms = 5000\n[loops]\nno_progress_turns = 0\n";
    fs::write(sandbox.store_folder().join("config.toml"), settings)?;
    sandbox.run_successfully(&["loop", "pause", "make-it-green"], b"")?;
    sandbox.run_successfully(&["loop", "resume", "make-it-green", "--max-iterations", "0"], b"")?;
    let failed = run_writers(|writer| {
        let mut failed = Vec::new();
        for number in 0..each {
            let said = format!("Turn {number} of {writer}.");
            let more = json!({"last_assistant_message": said, "transcript_path": null});
            let stop = payload::hook_payload(&sandbox.dir, "Stop", more);
            // If the lock is not free in time, the hook lets the agent stop and does not count the stop. So the stop
            // is reported again.
            let mut tries =
                (0..MAX_REPORTS_OF_ONE_STOP).map(|_| sandbox.run_thru(prepare::STOP_HOOK_ARGV, &stop));
            if !tries.any(|output| output.is_ok_and(|output| !output.stdout.is_empty())) {
                failed.push(format!("a stop was not blocked in {MAX_REPORTS_OF_ONE_STOP} tries"));
            }
        }
        Ok(failed)
    })?;
    let mut wrong: Vec<_> = failed.into_iter().map(|text| (LossKind::NoLoss, text)).collect();
    let counted =
        prepare::list_loops(&sandbox).first().and_then(|one| one["iteration"].as_u64()).unwrap_or_default();
    if counted != 1 + (PARALLEL_WRITERS * each) as u64 {
        wrong.push((
            LossKind::RecordLost,
            format!("{} stops were counted as {counted}", PARALLEL_WRITERS * each),
        ));
    }
    Ok(build_tally(PARALLEL_WRITERS * each, wrong, "64 × `thru hook claude-code Stop` of one loop"))
}

/// Runs `WRITERS` threads that start together, and collects their results.
pub fn run_writers(work: impl Fn(usize) -> Result<Vec<String>> + Sync) -> Result<Vec<String>> {
    let barrier = Barrier::new(PARALLEL_WRITERS);
    std::thread::scope(|scope| {
        let start = |writer| {
            let (barrier, work) = (&barrier, &work);
            scope.spawn(move || {
                barrier.wait();
                work(writer)
            })
        };
        let threads: Vec<_> = (0..PARALLEL_WRITERS).map(start).collect();
        let mut all = Vec::new();
        for thread in threads {
            all.extend(thread.join().expect("a writer panicked")?);
        }
        Ok(all)
    })
}

pub fn build_tally(points: usize, wrong: Vec<(LossKind, String)>, reproduce: &str) -> TortureTally {
    let mut tally = TortureTally::default();
    tally.count_tested_point(wrong, || reproduce.to_owned());
    tally.points_tested = points;
    tally
}
