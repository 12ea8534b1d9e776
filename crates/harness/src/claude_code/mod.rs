//! Claude Code's row in [`HARNESSES`](crate::HARNESSES).

mod agents;
pub mod transcript;
mod wire;

use model::event::EventName;
use model::packet::pickup::MentionStyle;

use crate::settings::{HookLocation, TimeoutUnit};
use crate::status::{self, StatusLineSupport};
use crate::{
    Capabilities, Harness, HookForm, HookTable, InstallMethod, STOP_TIMEOUT, SettingsFile, SlashCommands,
    StopBlockLimit, TranscriptSource, UserFolder, WiredEvent,
};

pub const ROW: Harness = Harness {
    name: "claude-code",
    title: "Claude Code",
    aliases: &["claude"],
    program: "claude",
    program_paths: &["/@anthropic-ai/claude-code", "/claude/versions/"],
    folder: ".claude",
    folder_variable: Some("CLAUDE_CONFIG_DIR"),
    home: UserFolder::Folder,
    project_variable: Some("CLAUDE_PROJECT_DIR"),
    marker_variables: &["CLAUDECODE", "CLAUDE_CODE_SESSION_ID"],
    session_variable: Some("CLAUDE_CODE_SESSION_ID"),
    events: &[
        WiredEvent { event: "SessionStart", neutral: EventName::SessionStart, timeout: 10 },
        WiredEvent { event: "UserPromptSubmit", neutral: EventName::Prompt, timeout: 10 },
        WiredEvent { event: "PostToolUse", neutral: EventName::ToolDone, timeout: 10 },
        WiredEvent { event: "PostToolUseFailure", neutral: EventName::ToolDone, timeout: 10 },
        WiredEvent { event: "PreCompact", neutral: EventName::BeforeCompact, timeout: 10 },
        WiredEvent { event: "PostCompact", neutral: EventName::AfterCompact, timeout: 10 },
        WiredEvent { event: "SubagentStart", neutral: EventName::SubagentStart, timeout: 10 },
        WiredEvent { event: "SubagentStop", neutral: EventName::SubagentStop, timeout: 10 },
        WiredEvent { event: "Stop", neutral: EventName::Stop, timeout: STOP_TIMEOUT },
        WiredEvent { event: "SessionEnd", neutral: EventName::SessionEnd, timeout: 10 },
    ],
    summary_event: Some("SubagentStop"),
    capabilities: Capabilities { hides_guidance: false, ..Capabilities::FULL_CAPABILITIES },
    limits: &[],
    // If a context is longer than 10,000 UTF-16 units, Claude Code silently reduces it to a preview of 2 KB.
    context_cap: 9_500,
    decode: wire::decode,
    encode: wire::encode,
    replaceable: wire::replaceable_output,
    transcript: TranscriptSource::JsonLines { read_line: transcript::read_line },
    block_cap: Some(StopBlockLimit { times: 8, variable: "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP" }),
    retention_days: transcript_retention_days,
    mention: MentionStyle::At,
    agent_files: &[".claude/agents/{role}/SKILL.md", ".claude/agents/{role}.md"],
    install: InstallMethod::HookTable(HookTable {
        local: Some("settings.local.json"),
        local_serves_worktrees: true,
        file: SettingsFile { name: "settings.json", place: HookLocation::CLAUDE_CODE },
        alternative_file: None,
        form: HookForm::Exec,
        timeouts: TimeoutUnit::Seconds,
        rejects_comments: true,
    }),
    status_line: Some(StatusLineSupport { key: "statusLine", read: status::parse_session_status }),
    commands: SlashCommands::MarkdownFiles {
        taken: &["context", "compact", "clear", "loop", "status", "resume", "plan"],
        runs_lines: true,
    },
    agents: Some(agents::AGENT_FILES),
};

/// Returns the setting `cleanupPeriodDays`, or 30 if it is not set.
fn transcript_retention_days(settings: &str) -> Option<u32> {
    let (_, rest) = settings.split_once("\"cleanupPeriodDays\"").unwrap_or(("", ":30"));
    let number = rest.trim_start().strip_prefix(':')?.trim_start();
    number.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}
