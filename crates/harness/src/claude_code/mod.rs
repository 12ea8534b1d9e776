//! Claude Code's row in [`HARNESSES`](crate::HARNESSES).

mod agents;
pub mod transcript;
mod wire;

use model::event::EventName;
use model::packet::pickup::FileMentionStyle;

use crate::settings::{HookLocation, TimeoutUnit};
use crate::status::{self, StatusLineSupport};
use crate::{
    Capabilities, Harness, HookForm, HookTable, InstallMethod, RegisteredEvent, STOP_HOOK_TIMEOUT_SECONDS,
    SettingsFile, SlashCommands, StopBlockLimit, TranscriptSource, UserFolder,
};

pub const HARNESS_ROW: Harness = Harness {
    name: "claude-code",
    title: "Claude Code",
    aliases: &["claude"],
    program: "claude",
    program_paths: &["/@anthropic-ai/claude-code", "/claude/versions/"],
    folder: ".claude",
    folder_variable: Some("CLAUDE_CONFIG_DIR"),
    user_folder: UserFolder::Folder,
    project_variable: Some("CLAUDE_PROJECT_DIR"),
    marker_variables: &["CLAUDECODE", "CLAUDE_CODE_SESSION_ID"],
    session_variable: Some("CLAUDE_CODE_SESSION_ID"),
    events: &[
        RegisteredEvent { harness_event: "SessionStart", our_event: EventName::SessionStart, timeout: 10 },
        RegisteredEvent { harness_event: "UserPromptSubmit", our_event: EventName::Prompt, timeout: 10 },
        RegisteredEvent { harness_event: "PostToolUse", our_event: EventName::ToolDone, timeout: 10 },
        RegisteredEvent { harness_event: "PostToolUseFailure", our_event: EventName::ToolDone, timeout: 10 },
        RegisteredEvent { harness_event: "PreCompact", our_event: EventName::BeforeCompact, timeout: 10 },
        RegisteredEvent { harness_event: "PostCompact", our_event: EventName::AfterCompact, timeout: 10 },
        RegisteredEvent { harness_event: "SubagentStart", our_event: EventName::SubagentStart, timeout: 10 },
        RegisteredEvent { harness_event: "SubagentStop", our_event: EventName::SubagentStop, timeout: 10 },
        RegisteredEvent {
            harness_event: "Stop",
            our_event: EventName::Stop,
            timeout: STOP_HOOK_TIMEOUT_SECONDS,
        },
        RegisteredEvent { harness_event: "SessionEnd", our_event: EventName::SessionEnd, timeout: 10 },
    ],
    summary_event: Some("SubagentStop"),
    capabilities: Capabilities { hides_guidance_from_model: false, ..Capabilities::FULL_CAPABILITIES },
    limitations: &[],
    // If a hook's context is longer than 10,000 UTF-16 units, Claude Code silently reduces it to a preview of 2 KB.
    max_context_length: 9_500,
    decode: wire::decode,
    encode: wire::encode,
    replaceable_text: wire::replaceable_output,
    transcript: TranscriptSource::JsonLines { read_line: transcript::read_line },
    stop_block_limit: Some(StopBlockLimit { max_blocks: 8, variable: "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP" }),
    retention_days: transcript_retention_days,
    mention_style: FileMentionStyle::At,
    agent_description_files: &[".claude/agents/{role}/SKILL.md", ".claude/agents/{role}.md"],
    install: InstallMethod::HookTable(HookTable {
        local_file: Some("settings.local.json"),
        local_serves_worktrees: true,
        file: SettingsFile { name: "settings.json", hook_location: HookLocation::CLAUDE_CODE },
        alternative_file: None,
        hook_form: HookForm::Exec,
        timeout_unit: TimeoutUnit::Seconds,
        rejects_comments: true,
    }),
    status_line: Some(StatusLineSupport {
        settings_key: "statusLine",
        read_input: status::parse_session_status,
    }),
    commands: SlashCommands::MarkdownFiles {
        reserved_names: &["context", "compact", "clear", "loop", "status", "resume", "plan"],
        runs_shell_lines: true,
    },
    agents: Some(agents::AGENT_FILES),
};

/// Returns the setting `cleanupPeriodDays`, or 30 if it is not set.
fn transcript_retention_days(settings: &str) -> Option<u32> {
    let (_, rest) = settings.split_once("\"cleanupPeriodDays\"").unwrap_or(("", ":30"));
    let number = rest.trim_start().strip_prefix(':')?.trim_start();
    number.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}
