//! Claude Code.

pub mod transcript;
mod wire;

use crate::settings::Place;
use crate::{BlockCap, File, Form, Harness, Install, STOP_TIMEOUT, Wired};

pub const ROW: Harness = Harness {
    name: "claude-code",
    title: "Claude Code",
    project_dir: "CLAUDE_PROJECT_DIR",
    presence: &["CLAUDECODE", "CLAUDE_CODE_SESSION_ID"],
    session: Some("CLAUDE_CODE_SESSION_ID"),
    events: &[
        Wired { event: "SessionStart", neutral: "session-start", timeout: 10 },
        Wired { event: "UserPromptSubmit", neutral: "prompt", timeout: 10 },
        Wired { event: "PostToolUse", neutral: "tool-done", timeout: 10 },
        Wired { event: "PostToolUseFailure", neutral: "tool-done", timeout: 10 },
        Wired { event: "PreCompact", neutral: "before-compact", timeout: 10 },
        Wired { event: "PostCompact", neutral: "after-compact", timeout: 10 },
        Wired { event: "SubagentStart", neutral: "subagent-start", timeout: 10 },
        Wired { event: "SubagentStop", neutral: "subagent-stop", timeout: 10 },
        Wired { event: "Stop", neutral: "stop", timeout: STOP_TIMEOUT },
        Wired { event: "SessionEnd", neutral: "session-end", timeout: 10 },
    ],
    missing: &[],
    // Over 10,000 it silently becomes a preview of 2 KB.
    context_cap: 9_500,
    decode: wire::decode,
    read_line: transcript::read_line,
    tells_all: true,
    encode: wire::encode,
    block_cap: Some(BlockCap { times: 8, variable: "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP" }),
    transcripts_kept,
    install: Install {
        program: "claude",
        paths: &["/@anthropic-ai/claude-code", "/claude/versions/"],
        folder: ".claude",
        folder_variable: Some("CLAUDE_CONFIG_DIR"),
        local: Some("settings.local.json"),
        file: File { name: "settings.json", place: Place::CLAUDE_CODE },
        other: None,
        form: Form::Exec,
        strict: true,
        taken: &["context", "compact", "clear", "status", "resume"],
    },
};

/// `cleanupPeriodDays`, 30 unless the settings say otherwise.
fn transcripts_kept(settings: &str) -> Option<u32> {
    let (_, rest) = settings.split_once("\"cleanupPeriodDays\"").unwrap_or(("", ":30"));
    let number = rest.trim_start().strip_prefix(':')?.trim_start();
    number.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}
