//! The rows of the benchmark. To add a row, add a line to `ROWS`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::json;

use crate::dist::LinkKind;
use crate::sandbox::{SESSION, Sandbox, payload};
use crate::transcript;

pub struct Row {
    pub name: &'static str,
    pub sandbox: fn(&Sandbox) -> Result<()>,
    pub argv: &'static [&'static str],
    pub payload: fn(&Path) -> Vec<u8>,
    pub target: TimeTarget,
    /// Whether the row is also run 64 times in parallel. Only one row is.
    pub crowd: bool,
    /// The transcript in the row's payload.
    pub transcript: Option<TranscriptSpec>,
    /// Resets the sandbox before each sample. Gets the transcript and the round. Its time is not measured.
    pub before_each: fn(&Sandbox, &Path, usize) -> Result<()>,
    /// Whether the hook must print something in every sample. Without this check, a hook that does nothing would look
    /// fast.
    pub speaks: bool,
    /// Whether each sample is the first event of a new session.
    pub new_session: bool,
}

impl Row {
    /// Returns a row whose session is seen for the first time in every sample.
    const fn at_first_contact(self, size: Size) -> Self {
        let transcript = Some(TranscriptSpec { size, use_: TranscriptUse::Still });
        Self { transcript, before_each: remove_session_records, ..self }
    }

    /// Returns a row in which a new session starts in every sample and gets a brief. A second start of the same session
    /// would get no brief.
    const fn at_each_start(self) -> Self {
        Self { before_each: forget_starts, speaks: true, new_session: true, ..self }
    }

    /// Returns a row whose transcript was read before and has since grown by a turn.
    const fn with_cursor(self, size: Size) -> Self {
        Self {
            transcript: Some(TranscriptSpec { size, use_: TranscriptUse::Growing }),
            before_each: append_turn,
            ..self
        }
    }
}

#[derive(Clone, Copy)]
pub enum Size {
    Mb1,
    Mb10,
    /// 100 MB, or 10 MB in a quick run.
    Mb100,
    /// 500 MB, or 50 MB in a quick run.
    Large,
    /// 1 GB, or 100 MB in a quick run.
    Gb1,
}

/// Whether rows append to their transcript. Rows with the same use and size share a file.
#[derive(Clone, Copy)]
enum TranscriptUse {
    Still,
    Growing,
}

#[derive(Clone, Copy)]
pub struct TranscriptSpec {
    size: Size,
    use_: TranscriptUse,
}

impl TranscriptSpec {
    /// Returns the transcript, which is created once in the folder of the run.
    pub fn create(&self, lab: &Path, large: usize) -> Result<PathBuf> {
        let (name, mb) = match self.size {
            Size::Mb1 => ("1", 1),
            Size::Mb10 => ("10", 10),
            Size::Mb100 => ("100", large / 5),
            Size::Large => ("large", large),
            Size::Gb1 => ("1000", large * 2),
        };
        let path = match self.use_ {
            TranscriptUse::Still => lab.join(format!("transcript-{name}.jsonl")),
            TranscriptUse::Growing => lab.join(format!("transcript-{name}-growing.jsonl")),
        };
        if !path.exists() {
            transcript::write_transcript(&path, &lab.join("project"), mb * transcript::MEGABYTE)?;
        }
        Ok(path)
    }
}

/// The highest allowed cost of a row, as a multiple of `/bin/true`.
pub struct TimeTarget {
    musl: f64,
    gnu: f64,
}

impl TimeTarget {
    pub fn of(&self, kind: LinkKind) -> f64 {
        match kind {
            LinkKind::Musl => self.musl,
            LinkKind::StaticGnu => self.gnu,
            // The dynamic loader was measured to cost 0.5 to 0.7, in addition to glibc's own start-up.
            LinkKind::Dynamic => self.gnu + 0.7,
        }
    }
}

const fn at_most(musl: f64, gnu: f64) -> TimeTarget {
    TimeTarget { musl, gnu }
}

const fn row(
    name: &'static str,
    sandbox: fn(&Sandbox) -> Result<()>,
    argv: &'static [&'static str],
    payload: fn(&Path) -> Vec<u8>,
    target: TimeTarget,
) -> Row {
    Row {
        name,
        sandbox,
        argv,
        payload,
        target,
        crowd: false,
        transcript: None,
        before_each: leave_unchanged,
        speaks: false,
        new_session: false,
    }
}

/// The benchmark. Each target has two values, because glibc's start-up costs about half a `/bin/true` more than musl's.
pub const ROWS: &[Row] = &[
    Row { crowd: true, ..row(TOOL_DONE, trusted, POST_TOOL_USE, edit_4k, at_most(1.0, 1.5)) },
    row("hook tool-done, 4 KB command with a secret", trusted, POST_TOOL_USE, bash_4k, at_most(1.0, 1.5)),
    row("hook tool-done, 2 MB payload", trusted, POST_TOOL_USE, edit_2m, at_most(5.0, 5.5)),
    row("hook, no root", nothing, POST_TOOL_USE, edit_4k, at_most(0.9, 1.4)),
    row("hook, root not trusted", untrusted, POST_TOOL_USE, edit_4k, at_most(1.0, 1.5)),
    row("hook prompt", trusted, PROMPT, prompt, at_most(1.5, 2.0)),
    row("hook prompt, 1 MB transcript", trusted, PROMPT, prompt, at_most(1.5, 2.0)).with_cursor(Size::Mb1),
    row("hook prompt, 500 MB transcript", trusted, PROMPT, prompt, at_most(1.5, 2.0))
        .with_cursor(Size::Large),
    row("hook prompt, full store", scored, PROMPT, prompt, at_most(1.5, 2.0)),
    row("hook session-start", trusted, START, start, at_most(8.0, 8.5)),
    row("hook session-start, full store", filled, START, start, at_most(8.0, 8.5)).at_each_start(),
    Row {
        before_each: brief_due,
        speaks: true,
        ..row("hook session-start(compact), full store", filled, START, restart, at_most(8.0, 8.5))
    },
    row("hook session-start, full store, scoring", scored, START, start, at_most(8.0, 8.5)).at_each_start(),
    Row {
        before_each: brief_due,
        speaks: true,
        ..row("hook session-start(compact), full store, scoring", scored, START, restart, at_most(8.0, 8.5))
    },
    row("hook stop, no transcript", trusted, STOP, stop, at_most(2.5, 3.0)),
    row("hook stop, 1 MB, first contact", trusted, STOP, stop, FIRST_CONTACT).at_first_contact(Size::Mb1),
    row("hook stop, 1 MB, cursor", trusted, STOP, stop, at_most(2.5, 3.0)).with_cursor(Size::Mb1),
    row("hook stop, 500 MB, first contact", trusted, STOP, stop, FIRST_CONTACT).at_first_contact(Size::Large),
    row("hook stop, 500 MB, cursor", trusted, STOP, stop, at_most(2.5, 3.0)).with_cursor(Size::Large),
    Row {
        before_each: loop_begins,
        speaks: true,
        ..row("hook stop, a loop goes on", looping, STOP, stop, at_most(2.5, 3.0))
    },
    row("hook stop, another session's loop", foreign_loop, STOP, stop, at_most(2.5, 3.0)),
    row("hook before-compact, no transcript", trusted, COMPACT, compact, at_most(6.0, 6.5)),
    row("hook before-compact, 1 MB, first contact", trusted, COMPACT, compact, FIRST_CONTACT)
        .at_first_contact(Size::Mb1),
    row("hook before-compact, 1 MB, cursor", trusted, COMPACT, compact, at_most(4.0, 4.5))
        .with_cursor(Size::Mb1),
    row("hook before-compact, 10 MB, first contact", trusted, COMPACT, compact, FIRST_CONTACT)
        .at_first_contact(Size::Mb10),
    row("hook before-compact, 100 MB, first contact", trusted, COMPACT, compact, FIRST_CONTACT)
        .at_first_contact(Size::Mb100),
    row("hook before-compact, 1 GB, first contact", trusted, COMPACT, compact, FIRST_CONTACT)
        .at_first_contact(Size::Gb1),
    row("hook session-start(resume), 1 GB, first contact", trusted, START, resumed, FIRST_CONTACT)
        .at_first_contact(Size::Gb1),
    row(COMPACT_MEDIUM, trusted, COMPACT, compact, at_most(4.0, 4.5)).with_cursor(Size::Mb10),
    row(COMPACT_LARGE, trusted, COMPACT, compact, at_most(4.0, 4.5)).with_cursor(Size::Large),
    row("hook session-start, 100,000 packets", many_packets, START, start, at_most(10.0, 10.5))
        .at_each_start(),
    row("thru packet list, 100,000 packets", many_packets, &["packet", "list"], empty, at_most(60.0, 60.0)),
    row("thru pickup ID, 100,000 packets", many_packets, PICKUP, empty, at_most(4.0, 4.5)),
    row("hook before-compact, workstream", with_workstream, COMPACT, compact, at_most(6.0, 6.5)),
    Row {
        before_each: brief_due,
        speaks: true,
        ..row("hook session-start(compact), workstream", with_workstream, START, restart, at_most(8.0, 8.5))
    },
    row("hook prompt, workstream", with_workstream, PROMPT, prompt, at_most(2.5, 3.0)),
    row("hook before-compact, role", with_role, COMPACT, compact, at_most(6.0, 6.5)),
    Row {
        before_each: brief_due,
        speaks: true,
        ..row("hook session-start(compact), role", with_role, START, restart, at_most(8.0, 8.5))
    },
    row("hook tool-done, role file read", with_role, POST_TOOL_USE, reads_role, at_most(2.5, 3.0)),
    Row {
        speaks: true,
        ..row("hook subagent-start, output expected", expecting, AGENT_START, agent_start, at_most(1.5, 2.0))
    },
    Row {
        speaks: true,
        ..row("hook subagent-start, full store, scoring", scored, AGENT_START, coder_start, at_most(8.0, 8.5))
    },
    row("hook subagent-stop, output missing", expecting, AGENT_STOP, agent_stop, at_most(2.5, 3.0)),
    row("thru gate check, 8 outputs", reported, &["gate", "check"], empty, at_most(6.0, 6.5)),
    row("thru plan show, 2,000 tasks, 5,000 decisions", decided, &["plan", "show"], empty, at_most(6.0, 6.5)),
    row("hook tool-done, 2,000 tasks, 5,000 decisions", decided, POST_TOOL_USE, edit_4k, at_most(1.0, 1.5)),
    row("hook session-start, 2,000 tasks, 5,000 decisions", decided, START, start, at_most(8.0, 8.5))
        .at_each_start(),
    Row {
        before_each: brief_due,
        speaks: true,
        ..row(
            "hook session-start(compact), 2,000 tasks, 5,000 decisions",
            decided,
            START,
            restart,
            at_most(8.0, 8.5),
        )
    },
    Row {
        before_each: brief_due,
        speaks: true,
        ..row(
            "hook session-start(compact), evidence of 1,000 files",
            proven,
            START,
            restart,
            at_most(8.0, 8.5),
        )
    },
    Row {
        speaks: true,
        ..row("thru statusline", trusted, &["statusline"], session_status, at_most(1.5, 2.0))
    },
    Row {
        speaks: true,
        ..row("thru statusline, full store", scored, &["statusline"], session_status, at_most(1.5, 2.0))
    },
    row("thru status", trusted, &["status"], empty, at_most(4.0, 4.5)),
    row("thru --version", nothing, &["--version"], empty, at_most(4.0, 4.5)),
];

/// A part of the names of rows with a slow setup. A quick run leaves these rows out.
pub const MANY_PACKETS: &str = "100,000 packets";

/// The row whose system calls are counted.
pub const TOOL_DONE: &str = "hook tool-done, 4 KB edit";
pub const COMPACT_MEDIUM: &str = "hook before-compact, 10 MB, cursor";
pub const COMPACT_LARGE: &str = "hook before-compact, 500 MB, cursor";

/// A part of the name of each row that measures a first contact. A first contact happens once per session and reads up
/// to 14 MB.
pub const FIRST_CONTACT_NAME: &str = "first contact";
/// The target of the rows that measure a first contact.
const FIRST_CONTACT: TimeTarget = at_most(30.0, 30.5);
const PROMPT: &[&str] = &["hook", "claude-code", "UserPromptSubmit"];
const PICKUP: &[&str] = &["pickup", "20260101T000000Z-fix-the-thing-050000"];
const START: &[&str] = &["hook", "claude-code", "SessionStart"];
const STOP: &[&str] = &["hook", "claude-code", "Stop"];
pub const COMPACT: &[&str] = &["hook", "claude-code", "PreCompact"];
pub const POST_TOOL_USE: &[&str] = &["hook", "claude-code", "PostToolUse"];

const AGENT_START: &[&str] = &["hook", "claude-code", "SubagentStart"];
const AGENT_STOP: &[&str] = &["hook", "claude-code", "SubagentStop"];

pub fn trusted(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()
}

/// A project with a thousand sessions. The last session has ten thousand journal lines and a digest.
fn filled(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()?;
    sandbox.run_successfully(START, &start(&sandbox.dir))?;
    sandbox.run_successfully(PROMPT, &prompt(&sandbox.dir))?;
    let sessions = sandbox.store_folder().join("indexes/sessions.jsonl");
    // The session with the journal comes last, so that a new session is told about it.
    let last = std::fs::read_to_string(&sessions)?;
    repeat_last(&sessions, SESSION, 999, |number| format!("0197a000-1111-7222-8333-{number:012}"))?;
    let others = std::fs::read_to_string(&sessions)?;
    std::fs::write(&sessions, [&others[last.len()..], &last].concat())?;
    for tool in [edit_4k(&sandbox.dir), bash_4k(&sandbox.dir)] {
        sandbox.run_successfully(POST_TOOL_USE, &tool)?;
        repeat_last(&sandbox.journal_path(), "toolu_01bench", 4_999, |number| format!("toolu_{number:06}"))?;
    }
    sandbox.run_successfully(STOP, &stop(&sandbox.dir)).map(drop)
}

/// Like `filled`, with a plan of 200 tasks, 500 decisions and 1,000 packets. Briefs are ranked by score.
fn scored(sandbox: &Sandbox) -> Result<()> {
    filled(sandbox)?;
    add_plan(sandbox, 10, 20)?;
    sandbox.run_successfully(&["task", "start", "5.1"], b"")?;
    add_decisions(sandbox, 500)?;
    add_packets(sandbox, 1_000)?;
    std::fs::write(sandbox.store_folder().join("config.toml"), "[brief.scoring]\nenabled = true\n")?;
    Ok(())
}

/// A project with a large plan, and as many decisions as a team makes in years.
fn decided(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()?;
    add_plan(sandbox, 20, 100)?;
    add_decisions(sandbox, 5_000)
}

fn add_decisions(sandbox: &Sandbox, decisions: usize) -> Result<()> {
    sandbox.run_successfully(
        &["decide", "Decision number 000000: the parser keeps comments", "--why", "people write them"],
        b"",
    )?;
    let log = sandbox.store_folder().join("decisions.jsonl");
    let line = std::fs::read_to_string(&log)?;
    let id = line.split("\"id\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
    let lines: String = (0..decisions)
        .map(|number| {
            line.replace("000000", &format!("{number:06}")).replace(id, &format!("d-{number:012x}"))
        })
        .collect();
    Ok(std::fs::write(&log, lines)?)
}

/// A project with a task in progress and evidence about a thousand files. The evidence is so old that only the times of
/// the files are compared.
fn proven(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()?;
    let folder = sandbox.dir.join("src");
    std::fs::create_dir_all(&folder)?;
    for number in 0..1_000 {
        std::fs::write(folder.join(format!("file-{number:04}.rs")), format!("fn f{number}() {{}}\n"))?;
    }
    sandbox.run_successfully(&["plan", "init", "Parser", "--phase", "Read"], b"")?;
    sandbox.run_successfully(&["task", "add", "Lexer"], b"")?;
    sandbox.run_successfully(&["task", "start", "1.1"], b"")?;
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    sandbox.run_successfully(&["evidence", "run", "1.1", "--", "true"], b"").map(drop)
}

/// Creates a plan with `phases` phases of `tasks` tasks each; a fifth of the tasks are done.
fn add_plan(sandbox: &Sandbox, phases: usize, tasks: usize) -> Result<()> {
    let mut text = "# A large plan\n".to_owned();
    for phase in 1..=phases {
        text.push_str(&format!("## Phase {phase}: Part {phase}\n"));
        for task in 1..=tasks {
            let mark = if phase <= phases / 5 { "x" } else { " " };
            let depends = if task > 1 { format!(" (depends: {phase}.{})", task - 1) } else { String::new() };
            text.push_str(&format!(
                "- [{mark}] {phase}.{task}: Change number {task} of part {phase}, in its module and its tests [SMALL]{depends}\n"
            ));
        }
    }
    let file = sandbox.dir.join("large-plan.md");
    std::fs::write(&file, text)?;
    sandbox.run_successfully(&["plan", "import", &file.to_string_lossy()], b"").map(drop)
}

/// A project with a hundred thousand packets. The packets were listed once, so there is an index. Their folder is old
/// enough that the index is used.
fn many_packets(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()?;
    add_packets(sandbox, 100_000)
}

fn add_packets(sandbox: &Sandbox, packets: usize) -> Result<()> {
    let folder = sandbox.store_folder().join("packets");
    std::fs::create_dir_all(&folder)?;
    for number in 0..packets {
        let id = format!("20260101T000000Z-fix-the-thing-{number:06}");
        let at = "2026-01-01T00:00:00Z";
        let head = format!(
            "---\nid: {id}\ncreated_at: {at}\nupdated_at: {at}\nstatus: draft\npurpose: fix number {number}\n---\n"
        );
        std::fs::write(
            folder.join(format!("{id}.md")),
            format!("{head}\n## Next Prompt (Draft)\n\nGo on.\n"),
        )?;
    }
    let past = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    std::fs::File::open(&folder)?.set_modified(past)?;
    sandbox.run_successfully(&["packet", "list"], b"").map(drop)
}

/// A live run with eight outputs. Six outputs exist and have 20 KB each. The sub-agent must write one of the two
/// missing outputs.
fn expecting(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()?;
    let mut words = vec!["gate", "expect", "review"];
    words.extend(OUTPUT_NAMES);
    sandbox.run_successfully(&words, b"")?;
    write_outputs(sandbox, &OUTPUT_NAMES[..6])
}

fn reported(sandbox: &Sandbox) -> Result<()> {
    expecting(sandbox)?;
    write_outputs(sandbox, &OUTPUT_NAMES[6..])
}

fn write_outputs(sandbox: &Sandbox, names: &[&str]) -> Result<()> {
    let outputs = sandbox.store_folder().join("outputs");
    let run = std::fs::read_dir(&outputs)?.next().context("expect made no run")??.path();
    let text = "A line of a report, of the usual length.\n".repeat(500);
    for name in names {
        std::fs::write(run.join(name), format!("{text}\n<!-- AGENT_COMPLETE -->\n"))?;
    }
    Ok(())
}

const OUTPUT_NAMES: &[&str] = &[
    "review-a.md",
    "review-b.md",
    "review-c.md",
    "review-d.md",
    "review-e.md",
    "review-f.md",
    "review-g.md",
    "review-security.md",
];

/// Appends copies of the last line of a log, each with another id.
fn repeat_last(log: &Path, id: &str, times: usize, other: impl Fn(usize) -> String) -> Result<()> {
    let text = std::fs::read_to_string(log).with_context(|| format!("reading {}", log.display()))?;
    let line = text.lines().last().context("the log is empty")?;
    let copies: String = (0..times).map(|number| line.replace(id, &other(number)) + "\n").collect();
    Ok(std::fs::OpenOptions::new().append(true).open(log)?.write_all(copies.as_bytes())?)
}

/// A project whose session owns a loop, and a copy of the loop's initial state.
fn looping(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()?;
    sandbox.run_successfully(START, &start(&sandbox.dir))?;
    sandbox.run_successfully(
        &["loop", "start", "Make all tests pass", "--promise", "ALL PASS", "--session", SESSION],
        b"",
    )?;
    Ok(std::fs::copy(only_loop_path(sandbox)?, sandbox.dir.join("loop.md")).map(drop)?)
}

fn foreign_loop(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()?;
    sandbox
        .run_successfully(&["loop", "start", "Make all tests pass", "--promise", "ALL PASS", "--next"], b"")
        .map(drop)
}

fn only_loop_path(sandbox: &Sandbox) -> Result<PathBuf> {
    let mut files =
        std::fs::read_dir(sandbox.store_folder().join("loops"))?.flatten().map(|entry| entry.path());
    files.find(|path| path.extension().is_some_and(|found| found == "md")).context("there is no loop")
}

fn loop_begins(sandbox: &Sandbox, _: &Path, _: usize) -> Result<()> {
    Ok(std::fs::copy(sandbox.dir.join("loop.md"), only_loop_path(sandbox)?).map(drop)?)
}

fn leave_unchanged(_: &Sandbox, _: &Path, _: usize) -> Result<()> {
    Ok(())
}

fn remove_session_records(sandbox: &Sandbox, _: &Path, _: usize) -> Result<()> {
    for name in ["state/cursors", "state/digest", "state/pending", "sessions"] {
        if let Ok(entries) = std::fs::read_dir(sandbox.store_folder().join(name)) {
            for entry in entries {
                std::fs::remove_file(entry?.path())?;
            }
        }
    }
    Ok(())
}

/// The prefix of the ids of new sessions.
const NEW_SESSIONS: &str = "0197a000-2222-7222-8333-";

/// Returns the id of the session that starts in this round.
pub fn new_session(round: usize) -> String {
    format!("{NEW_SESSIONS}{:012x}", round & 0xffff_ffff_ffff)
}

/// Removes the sessions of earlier rounds, so that the store is the same in each round.
fn forget_starts(sandbox: &Sandbox, _: &Path, _: usize) -> Result<()> {
    let (list, first) =
        (sandbox.store_folder().join("indexes/sessions.jsonl"), sandbox.dir.join("sessions.jsonl"));
    match (first.exists(), list.exists()) {
        (true, _) => std::fs::copy(&first, &list).map(drop)?,
        (false, true) => std::fs::copy(&list, &first).map(drop)?,
        (false, false) => std::fs::write(&first, "")?,
    }
    let state = std::fs::read_dir(sandbox.store_folder().join("state")).into_iter().flatten().flatten();
    for folder in state.map(|entry| entry.path()).chain([sandbox.store_folder().join("sessions")]) {
        for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if file.file_name().to_string_lossy().starts_with(NEW_SESSIONS) {
                std::fs::remove_file(file.path())?;
            }
        }
    }
    Ok(())
}

fn append_turn(_: &Sandbox, path: &Path, round: usize) -> Result<()> {
    transcript::append_turn(path, Path::new("/project"), round)
}

fn brief_due(sandbox: &Sandbox, _: &Path, _: usize) -> Result<()> {
    let folder = sandbox.store_folder().join("state/pending");
    std::fs::create_dir_all(&folder)?;
    Ok(std::fs::write(folder.join(SESSION), "due\n")?)
}

/// A project whose session has a role, with a context file of typical size.
fn with_role(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()?;
    sandbox.run_successfully(START, &start(&sandbox.dir))?;
    sandbox.run_successfully(&["context", "new", "tester"], b"")?;
    sandbox.run_successfully(&["role", "bind", "tester", "--session", SESSION], b"").map(drop)
}

/// A project with a manifest of three files, a session that is working on it, and an earlier compaction.
fn with_workstream(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()?;
    sandbox.run_successfully(START, &start(&sandbox.dir))?;
    let folder = sandbox.store_folder().join("workstreams/01-bench");
    std::fs::create_dir_all(&folder)?;
    for (name, text) in
        [("overview.md", "why\n"), ("plan.md", "how\n"), ("steps.md", "- [x] one\n- [ ] two\n")]
    {
        std::fs::write(folder.join(name), text.repeat(100))?;
    }
    sandbox.run_successfully(&["resume", "new", "01-bench"], b"")?;
    let input = json!({"file_path": folder.join("plan.md")});
    let read = json!({"tool_name": "Read", "tool_use_id": "toolu_01bench", "tool_input": input});
    sandbox.run_successfully(POST_TOOL_USE, &payload::hook_payload(&sandbox.dir, "PostToolUse", read))?;
    sandbox.run_successfully(COMPACT, &compact(&sandbox.dir)).map(drop)
}

fn reads_role(sandbox: &Path) -> Vec<u8> {
    let file = sandbox.join("project/.agent/context/agents/tester.context.md");
    let more =
        json!({"tool_name": "Read", "tool_use_id": "toolu_01bench", "tool_input": {"file_path": file}});
    payload::hook_payload(sandbox, "PostToolUse", more)
}

/// A project as after a clone: the store exists, but there is no trust record.
fn untrusted(sandbox: &Sandbox) -> Result<()> {
    sandbox.init_root()?;
    Ok(std::fs::remove_dir_all(sandbox.state_folder())?)
}

fn nothing(_: &Sandbox) -> Result<()> {
    Ok(())
}

pub fn edit_4k(sandbox: &Path) -> Vec<u8> {
    payload::edit_payload(sandbox, "toolu_01bench", 3_400, &payload::github_token())
}

fn edit_2m(sandbox: &Path) -> Vec<u8> {
    payload::edit_payload(sandbox, "toolu_01bench", 1_900_000, &payload::github_token())
}

/// The payload of a Bash call with 4 KB. The journal keeps the command, so the command must be redacted.
fn bash_4k(sandbox: &Path) -> Vec<u8> {
    let script = payload::code(3_300, &payload::github_token());
    payload::bash_payload(sandbox, "toolu_01bench", &format!("cat > src/session.rs <<'EOF'\n{script}EOF"))
}

fn prompt(sandbox: &Path) -> Vec<u8> {
    let text = "Please make the token cache survive a restart, and do not log the password any more.";
    payload::hook_payload(sandbox, "UserPromptSubmit", json!({"prompt": text}))
}

/// The JSON that a harness passes to a status line program.
fn session_status(sandbox: &Path) -> Vec<u8> {
    let project = sandbox.join("project");
    let status = json!({"session_id": SESSION, "context_window": {"used_percentage": 42},
        "workspace": {"project_dir": project, "current_dir": project}});
    status.to_string().into_bytes()
}

fn start(sandbox: &Path) -> Vec<u8> {
    payload::hook_payload(sandbox, "SessionStart", json!({"source": "startup", "model": "claude-opus-4"}))
}

fn restart(sandbox: &Path) -> Vec<u8> {
    payload::hook_payload(sandbox, "SessionStart", json!({"source": "compact", "model": "claude-opus-4"}))
}

fn resumed(sandbox: &Path) -> Vec<u8> {
    payload::hook_payload(sandbox, "SessionStart", json!({"source": "resume"}))
}

fn agent_start(sandbox: &Path) -> Vec<u8> {
    payload::hook_payload(sandbox, "SubagentStart", json!({"agent_id": "a1", "agent_type": "security"}))
}

fn coder_start(sandbox: &Path) -> Vec<u8> {
    payload::hook_payload(sandbox, "SubagentStart", json!({"agent_id": "a1", "agent_type": "coder"}))
}

fn agent_stop(sandbox: &Path) -> Vec<u8> {
    let text = "All is well, but I did not write it down.";
    payload::hook_payload(
        sandbox,
        "SubagentStop",
        json!({"agent_id": "a1", "agent_type": "security", "last_assistant_message": text}),
    )
}

fn stop(sandbox: &Path) -> Vec<u8> {
    let text = "All tests pass. Next: the cache of tokens.";
    payload::hook_payload(sandbox, "Stop", json!({"stop_hook_active": false, "last_assistant_message": text}))
}

pub fn compact(sandbox: &Path) -> Vec<u8> {
    payload::hook_payload(sandbox, "PreCompact", json!({"trigger": "auto", "custom_instructions": ""}))
}

fn empty(_: &Path) -> Vec<u8> {
    Vec::new()
}
