//! The rows of the benchmark. To add a row, add a line to `ROWS`.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::prepare::{
    BEFORE_COMPACT_HOOK_ARGV, PICKUP_ARGV, PROMPT_HOOK_ARGV, SESSION_START_HOOK_ARGV, STOP_HOOK_ARGV,
    SUBAGENT_START_HOOK_ARGV, SUBAGENT_STOP_HOOK_ARGV, TOOL_DONE_HOOK_ARGV, agent_start_payload, append_turn,
    bash_4k_payload, coder_start_payload, compact_payload, edit_2m_payload, edit_4k_payload, empty_payload,
    leave_sandbox_empty, leave_sandbox_unchanged, make_brief_due, prepare_complete_run, prepare_evidence,
    prepare_live_run, prepare_loop, prepare_loop_for_next_session, prepare_many_decisions,
    prepare_many_sessions, prepare_packets, prepare_role, prepare_scored_briefs, prepare_trusted_root,
    prepare_untrusted_clone, prepare_workstream, prompt_payload, remove_new_sessions, remove_session_records,
    restart_payload, restore_loop, resume_payload, role_payload, session_start_payload, status_payload,
    stop_payload, subagent_stop_payload,
};
use crate::dist::LinkKind;
use crate::sandbox::Sandbox;
use crate::transcript;

pub struct BenchRow {
    pub name: &'static str,
    pub sandbox: fn(&Sandbox) -> Result<()>,
    pub argv: &'static [&'static str],
    pub payload: fn(&Path) -> Vec<u8>,
    pub target: TimeTarget,
    /// Whether the row's hook is also run 64 times in parallel. Only one row has this flag.
    pub run_in_parallel: bool,
    /// The transcript in the row's payload.
    pub transcript: Option<TranscriptSpec>,
    /// Resets the sandbox before each sample. The time that this takes is not included in the sample. The arguments are
    /// the sandbox, the transcript and the number of the round.
    pub before_each: fn(&Sandbox, &Path, usize) -> Result<()>,
    /// Whether the hook must print something in every sample. Without this check, a hook that does nothing would look
    /// fast.
    pub must_print: bool,
    /// Whether each sample is the first event of a new session.
    pub new_session: bool,
}

impl BenchRow {
    /// Returns a row for first contacts: in every sample, the hook reads the session's transcript for the first time.
    const fn at_first_contact(self, size: TranscriptSize) -> Self {
        let transcript = Some(TranscriptSpec { size, transcript_use: TranscriptUse::Unchanged });
        Self { transcript, before_each: remove_session_records, ..self }
    }

    /// Returns a row in which a new session starts in every sample and gets a brief. A second start of the same session
    /// would get no brief.
    const fn with_new_session_per_sample(self) -> Self {
        Self { before_each: remove_new_sessions, must_print: true, new_session: true, ..self }
    }

    /// Returns a row whose transcript was read before and has since grown by a turn.
    const fn with_cursor(self, size: TranscriptSize) -> Self {
        Self {
            transcript: Some(TranscriptSpec { size, transcript_use: TranscriptUse::Growing }),
            before_each: append_turn,
            ..self
        }
    }
}

#[derive(Clone, Copy)]
pub enum TranscriptSize {
    Mb1,
    Mb10,
    /// 100 MB, or 10 MB in a quick run.
    Mb100,
    /// 500 MB, or 50 MB in a quick run.
    Large,
    /// 1 GB, or 100 MB in a quick run.
    Gb1,
}

/// Whether a row appends to its transcript. Rows that use a transcript of the same size in the same way share a file.
#[derive(Clone, Copy)]
enum TranscriptUse {
    Unchanged,
    Growing,
}

#[derive(Clone, Copy)]
pub struct TranscriptSpec {
    size: TranscriptSize,
    transcript_use: TranscriptUse,
}

impl TranscriptSpec {
    /// Creates the transcript in the folder of the run unless it exists, and returns its path.
    pub fn create(&self, lab: &Path, large: usize) -> Result<PathBuf> {
        let (name, mb) = match self.size {
            TranscriptSize::Mb1 => ("1", 1),
            TranscriptSize::Mb10 => ("10", 10),
            TranscriptSize::Mb100 => ("100", large / 5),
            TranscriptSize::Large => ("large", large),
            TranscriptSize::Gb1 => ("1000", large * 2),
        };
        let path = match self.transcript_use {
            TranscriptUse::Unchanged => lab.join(format!("transcript-{name}.jsonl")),
            TranscriptUse::Growing => lab.join(format!("transcript-{name}-growing.jsonl")),
        };
        if !path.exists() {
            transcript::write_transcript(&path, &lab.join("project"), mb * transcript::MEGABYTE)?;
        }
        Ok(path)
    }
}

/// The highest allowed time of a row, as a multiple of the time of `/bin/true`.
pub struct TimeTarget {
    musl: f64,
    gnu: f64,
}

impl TimeTarget {
    pub fn of(&self, kind: LinkKind) -> f64 {
        match kind {
            LinkKind::Musl => self.musl,
            LinkKind::StaticGnu => self.gnu,
            // The dynamic loader needs additional time. According to measurements, it takes 0.5 to 0.7 times as long
            // as `/bin/true`.
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
) -> BenchRow {
    BenchRow {
        name,
        sandbox,
        argv,
        payload,
        target,
        run_in_parallel: false,
        transcript: None,
        before_each: leave_sandbox_unchanged,
        must_print: false,
        new_session: false,
    }
}

/// The rows of the benchmark. Each target has two values, because a program linked with glibc starts more slowly than
/// one linked with musl. The difference is about half the time that `/bin/true` takes.
pub const ROWS: &[BenchRow] = &[
    BenchRow {
        run_in_parallel: true,
        ..row(
            TOOL_DONE_ROW_NAME,
            prepare_trusted_root,
            TOOL_DONE_HOOK_ARGV,
            edit_4k_payload,
            at_most(1.0, 1.5),
        )
    },
    row(
        "hook tool-done, 4 KB command with a secret",
        prepare_trusted_root,
        TOOL_DONE_HOOK_ARGV,
        bash_4k_payload,
        at_most(1.0, 1.5),
    ),
    row(
        "hook tool-done, 2 MB payload",
        prepare_trusted_root,
        TOOL_DONE_HOOK_ARGV,
        edit_2m_payload,
        at_most(5.0, 5.5),
    ),
    row("hook, no root", leave_sandbox_empty, TOOL_DONE_HOOK_ARGV, edit_4k_payload, at_most(0.9, 1.4)),
    row(
        "hook, root not trusted",
        prepare_untrusted_clone,
        TOOL_DONE_HOOK_ARGV,
        edit_4k_payload,
        at_most(1.0, 1.5),
    ),
    row("hook prompt", prepare_trusted_root, PROMPT_HOOK_ARGV, prompt_payload, at_most(1.5, 2.0)),
    row(
        "hook prompt, 1 MB transcript",
        prepare_trusted_root,
        PROMPT_HOOK_ARGV,
        prompt_payload,
        at_most(1.5, 2.0),
    )
    .with_cursor(TranscriptSize::Mb1),
    row(
        "hook prompt, 500 MB transcript",
        prepare_trusted_root,
        PROMPT_HOOK_ARGV,
        prompt_payload,
        at_most(1.5, 2.0),
    )
    .with_cursor(TranscriptSize::Large),
    row(
        "hook prompt, full store",
        prepare_scored_briefs,
        PROMPT_HOOK_ARGV,
        prompt_payload,
        at_most(1.5, 2.0),
    ),
    row(
        "hook session-start",
        prepare_trusted_root,
        SESSION_START_HOOK_ARGV,
        session_start_payload,
        at_most(8.0, 8.5),
    ),
    row(
        "hook session-start, full store",
        prepare_many_sessions,
        SESSION_START_HOOK_ARGV,
        session_start_payload,
        at_most(8.0, 8.5),
    )
    .with_new_session_per_sample(),
    BenchRow {
        before_each: make_brief_due,
        must_print: true,
        ..row(
            "hook session-start(compact), full store",
            prepare_many_sessions,
            SESSION_START_HOOK_ARGV,
            restart_payload,
            at_most(8.0, 8.5),
        )
    },
    row(
        "hook session-start, full store, scoring",
        prepare_scored_briefs,
        SESSION_START_HOOK_ARGV,
        session_start_payload,
        at_most(8.0, 8.5),
    )
    .with_new_session_per_sample(),
    BenchRow {
        before_each: make_brief_due,
        must_print: true,
        ..row(
            "hook session-start(compact), full store, scoring",
            prepare_scored_briefs,
            SESSION_START_HOOK_ARGV,
            restart_payload,
            at_most(8.0, 8.5),
        )
    },
    row("hook stop, no transcript", prepare_trusted_root, STOP_HOOK_ARGV, stop_payload, at_most(2.5, 3.0)),
    row(
        "hook stop, 1 MB, first contact",
        prepare_trusted_root,
        STOP_HOOK_ARGV,
        stop_payload,
        FIRST_CONTACT_TIME_TARGET,
    )
    .at_first_contact(TranscriptSize::Mb1),
    row("hook stop, 1 MB, cursor", prepare_trusted_root, STOP_HOOK_ARGV, stop_payload, at_most(2.5, 3.0))
        .with_cursor(TranscriptSize::Mb1),
    row(
        "hook stop, 500 MB, first contact",
        prepare_trusted_root,
        STOP_HOOK_ARGV,
        stop_payload,
        FIRST_CONTACT_TIME_TARGET,
    )
    .at_first_contact(TranscriptSize::Large),
    row("hook stop, 500 MB, cursor", prepare_trusted_root, STOP_HOOK_ARGV, stop_payload, at_most(2.5, 3.0))
        .with_cursor(TranscriptSize::Large),
    BenchRow {
        before_each: restore_loop,
        must_print: true,
        ..row("hook stop, a loop continues", prepare_loop, STOP_HOOK_ARGV, stop_payload, at_most(2.5, 3.0))
    },
    row(
        "hook stop, another session's loop",
        prepare_loop_for_next_session,
        STOP_HOOK_ARGV,
        stop_payload,
        at_most(2.5, 3.0),
    ),
    row(
        "hook before-compact, no transcript",
        prepare_trusted_root,
        BEFORE_COMPACT_HOOK_ARGV,
        compact_payload,
        at_most(6.0, 6.5),
    ),
    row(
        "hook before-compact, 1 MB, first contact",
        prepare_trusted_root,
        BEFORE_COMPACT_HOOK_ARGV,
        compact_payload,
        FIRST_CONTACT_TIME_TARGET,
    )
    .at_first_contact(TranscriptSize::Mb1),
    row(
        "hook before-compact, 1 MB, cursor",
        prepare_trusted_root,
        BEFORE_COMPACT_HOOK_ARGV,
        compact_payload,
        at_most(4.0, 4.5),
    )
    .with_cursor(TranscriptSize::Mb1),
    row(
        "hook before-compact, 10 MB, first contact",
        prepare_trusted_root,
        BEFORE_COMPACT_HOOK_ARGV,
        compact_payload,
        FIRST_CONTACT_TIME_TARGET,
    )
    .at_first_contact(TranscriptSize::Mb10),
    row(
        "hook before-compact, 100 MB, first contact",
        prepare_trusted_root,
        BEFORE_COMPACT_HOOK_ARGV,
        compact_payload,
        FIRST_CONTACT_TIME_TARGET,
    )
    .at_first_contact(TranscriptSize::Mb100),
    row(
        "hook before-compact, 1 GB, first contact",
        prepare_trusted_root,
        BEFORE_COMPACT_HOOK_ARGV,
        compact_payload,
        FIRST_CONTACT_TIME_TARGET,
    )
    .at_first_contact(TranscriptSize::Gb1),
    row(
        "hook session-start(resume), 1 GB, first contact",
        prepare_trusted_root,
        SESSION_START_HOOK_ARGV,
        resume_payload,
        FIRST_CONTACT_TIME_TARGET,
    )
    .at_first_contact(TranscriptSize::Gb1),
    row(
        COMPACT_10_MB_ROW_NAME,
        prepare_trusted_root,
        BEFORE_COMPACT_HOOK_ARGV,
        compact_payload,
        at_most(4.0, 4.5),
    )
    .with_cursor(TranscriptSize::Mb10),
    row(
        COMPACT_LARGE_ROW_NAME,
        prepare_trusted_root,
        BEFORE_COMPACT_HOOK_ARGV,
        compact_payload,
        at_most(4.0, 4.5),
    )
    .with_cursor(TranscriptSize::Large),
    row(
        "hook session-start, 100,000 packets",
        prepare_packets,
        SESSION_START_HOOK_ARGV,
        session_start_payload,
        at_most(10.0, 10.5),
    )
    .with_new_session_per_sample(),
    row(
        "thru packet list, 100,000 packets",
        prepare_packets,
        &["packet", "list"],
        empty_payload,
        at_most(60.0, 60.0),
    ),
    row("thru pickup ID, 100,000 packets", prepare_packets, PICKUP_ARGV, empty_payload, at_most(4.0, 4.5)),
    row(
        "hook before-compact, workstream",
        prepare_workstream,
        BEFORE_COMPACT_HOOK_ARGV,
        compact_payload,
        at_most(6.0, 6.5),
    ),
    BenchRow {
        before_each: make_brief_due,
        must_print: true,
        ..row(
            "hook session-start(compact), workstream",
            prepare_workstream,
            SESSION_START_HOOK_ARGV,
            restart_payload,
            at_most(8.0, 8.5),
        )
    },
    row("hook prompt, workstream", prepare_workstream, PROMPT_HOOK_ARGV, prompt_payload, at_most(2.5, 3.0)),
    row(
        "hook before-compact, role",
        prepare_role,
        BEFORE_COMPACT_HOOK_ARGV,
        compact_payload,
        at_most(6.0, 6.5),
    ),
    BenchRow {
        before_each: make_brief_due,
        must_print: true,
        ..row(
            "hook session-start(compact), role",
            prepare_role,
            SESSION_START_HOOK_ARGV,
            restart_payload,
            at_most(8.0, 8.5),
        )
    },
    row("hook tool-done, role file read", prepare_role, TOOL_DONE_HOOK_ARGV, role_payload, at_most(2.5, 3.0)),
    BenchRow {
        must_print: true,
        ..row(
            "hook subagent-start, output expected",
            prepare_live_run,
            SUBAGENT_START_HOOK_ARGV,
            agent_start_payload,
            at_most(1.5, 2.0),
        )
    },
    BenchRow {
        must_print: true,
        ..row(
            "hook subagent-start, full store, scoring",
            prepare_scored_briefs,
            SUBAGENT_START_HOOK_ARGV,
            coder_start_payload,
            at_most(8.0, 8.5),
        )
    },
    row(
        "hook subagent-stop, output missing",
        prepare_live_run,
        SUBAGENT_STOP_HOOK_ARGV,
        subagent_stop_payload,
        at_most(2.5, 3.0),
    ),
    row(
        "thru gate check, 8 outputs",
        prepare_complete_run,
        &["gate", "check"],
        empty_payload,
        at_most(6.0, 6.5),
    ),
    row(
        "thru plan show, 2,000 tasks, 5,000 decisions",
        prepare_many_decisions,
        &["plan", "show"],
        empty_payload,
        at_most(6.0, 6.5),
    ),
    row(
        "hook tool-done, 2,000 tasks, 5,000 decisions",
        prepare_many_decisions,
        TOOL_DONE_HOOK_ARGV,
        edit_4k_payload,
        at_most(1.0, 1.5),
    ),
    row(
        "hook session-start, 2,000 tasks, 5,000 decisions",
        prepare_many_decisions,
        SESSION_START_HOOK_ARGV,
        session_start_payload,
        at_most(8.0, 8.5),
    )
    .with_new_session_per_sample(),
    BenchRow {
        before_each: make_brief_due,
        must_print: true,
        ..row(
            "hook session-start(compact), 2,000 tasks, 5,000 decisions",
            prepare_many_decisions,
            SESSION_START_HOOK_ARGV,
            restart_payload,
            at_most(8.0, 8.5),
        )
    },
    BenchRow {
        before_each: make_brief_due,
        must_print: true,
        ..row(
            "hook session-start(compact), evidence of 1,000 files",
            prepare_evidence,
            SESSION_START_HOOK_ARGV,
            restart_payload,
            at_most(8.0, 8.5),
        )
    },
    BenchRow {
        must_print: true,
        ..row("thru statusline", prepare_trusted_root, &["statusline"], status_payload, at_most(1.5, 2.0))
    },
    BenchRow {
        must_print: true,
        ..row(
            "thru statusline, full store",
            prepare_scored_briefs,
            &["statusline"],
            status_payload,
            at_most(1.5, 2.0),
        )
    },
    row("thru status", prepare_trusted_root, &["status"], empty_payload, at_most(4.0, 4.5)),
    row("thru --version", leave_sandbox_empty, &["--version"], empty_payload, at_most(4.0, 4.5)),
];

/// Rows whose name contains this text have a slow setup. A quick run leaves them out.
pub const MANY_PACKETS_ROW_MARK: &str = "100,000 packets";

/// The row whose system calls are counted.
pub const TOOL_DONE_ROW_NAME: &str = "hook tool-done, 4 KB edit";
pub const COMPACT_10_MB_ROW_NAME: &str = "hook before-compact, 10 MB, cursor";
pub const COMPACT_LARGE_ROW_NAME: &str = "hook before-compact, 500 MB, cursor";

/// Rows whose name contains this text measure a first contact, which happens once per session and reads up to 14 MB.
pub const FIRST_CONTACT_ROW_MARK: &str = "first contact";
/// The time target of the rows in which a hook reads a session's transcript for the first time.
const FIRST_CONTACT_TIME_TARGET: TimeTarget = at_most(30.0, 30.5);
