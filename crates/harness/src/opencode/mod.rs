//! OpenCode's row in [`HARNESSES`](crate::HARNESSES). Our own JavaScript plugin calls `thru`, with payloads that we
//! define.

mod agents;
pub mod transcript;
mod wire;

use model::event::EventName;
use model::packet::pickup::FileMentionStyle;

use crate::{
    Capabilities, Harness, InstallMethod, OwnCommands, Plugin, RegisteredEvent, STOP_HOOK_TIMEOUT_SECONDS,
    SessionDatabase, SlashCommands, TranscriptSource, UserFolder,
};

pub const HARNESS_ROW: Harness = Harness {
    name: "opencode",
    title: "OpenCode",
    aliases: &["open-code"],
    program: "opencode",
    program_paths: &["/opencode-ai/", "/node_modules/opencode-"],
    folder: ".opencode",
    folder_variable: None,
    user_folder: UserFolder::Config("opencode"),
    project_variable: None,
    marker_variables: &["OPENCODE", "OPENCODE_PID"],
    // Our plugin sets this variable for every shell that a session opens.
    session_variable: Some("OPENCODE_SESSION_ID"),
    // OpenCode uses the same event names for sessions and sub-agents. Our plugin adds the prefix `subagent.` to the
    // events of a sub-agent.
    events: &[
        RegisteredEvent { harness_event: "session.created", our_event: EventName::SessionStart, timeout: 2 },
        RegisteredEvent { harness_event: "chat.message", our_event: EventName::Prompt, timeout: 2 },
        RegisteredEvent { harness_event: "tool.execute.after", our_event: EventName::ToolDone, timeout: 2 },
        RegisteredEvent {
            harness_event: "experimental.session.compacting",
            our_event: EventName::BeforeCompact,
            timeout: 2,
        },
        RegisteredEvent {
            harness_event: "experimental.text.complete",
            our_event: EventName::Summary,
            timeout: 2,
        },
        RegisteredEvent {
            harness_event: "session.compacted",
            our_event: EventName::AfterCompact,
            timeout: 2,
        },
        // The plugin sends this event at the first request after a compaction, because there may be no prompt before
        // that request.
        RegisteredEvent {
            harness_event: "experimental.chat.messages.transform",
            our_event: EventName::SessionStart,
            timeout: 2,
        },
        RegisteredEvent {
            harness_event: "subagent.created",
            our_event: EventName::SubagentStart,
            timeout: 2,
        },
        RegisteredEvent { harness_event: "subagent.idle", our_event: EventName::SubagentStop, timeout: 2 },
        RegisteredEvent {
            harness_event: "session.idle",
            our_event: EventName::Stop,
            timeout: STOP_HOOK_TIMEOUT_SECONDS,
        },
        RegisteredEvent { harness_event: "session.deleted", our_event: EventName::SessionEnd, timeout: 2 },
        RegisteredEvent { harness_event: "dispose", our_event: EventName::SessionEnd, timeout: 2 },
    ],
    summary_event: None,
    capabilities: Capabilities::FULL_CAPABILITIES,
    limitations: &[
        "a turn does not count as a stop if it is aborted, if it ends with an error, or if a permission is refused during it; a loop does not continue after such a turn",
        "an `opencode serve` process that is ended by a signal does not report the end of its sessions; `thru sweep` finds them",
        "in plain `opencode run` a loop continues before the turn ends, because the program exits when it is idle",
        "OpenCode never calls the hook for permission requests, so `thru` does not see them",
    ],
    max_context_length: 9_500,
    decode: wire::decode,
    encode: wire::encode,
    replaceable_text: wire::replaceable_output,
    transcript: TranscriptSource::Database(SessionDatabase {
        read_line: transcript::read_line,
        file: "opencode/opencode.db",
        file_variable: "OPENCODE_DB",
        arguments: &["db", "{query}", "--format", "json"],
        offline_variables: &[
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
            ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
            ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
            ("OPENCODE_DISABLE_SHARE", "1"),
            ("npm_config_offline", "true"),
        ],
        query: transcript::SESSION_QUERY,
    }),
    stop_block_limit: None,
    retention_days: |_| None,
    mention_style: FileMentionStyle::Plain,
    agent_description_files: &[".opencode/agent/{role}.md", ".opencode/agents/{role}.md"],
    install: InstallMethod::Plugin(Plugin {
        file: "plugins/throughline.js",
        file_text: include_str!("../../../../plugins/opencode/throughline.js"),
        settings_line_start: "const INSTALLED = ",
    }),
    status_line: None,
    commands: SlashCommands::InPlugin { own_commands: OWN_COMMANDS },
    agents: Some(agents::AGENT_FILES),
};

/// OpenCode's own commands and their aliases.
const OWN_COMMANDS: OwnCommands = OwnCommands {
    version: "1.18.33",
    names: &[
        "agent",
        "agents",
        "clear",
        "compact",
        "connect",
        "continue",
        "copy",
        "debug",
        "diff",
        "editor",
        "exit",
        "export",
        "fork",
        "help",
        "init",
        "mcp",
        "mcps",
        "mo",
        "model",
        "models",
        "move",
        "new",
        "open",
        "org",
        "orgs",
        "q",
        "quit",
        "redo",
        "rename",
        "resume",
        "review",
        "sessions",
        "share",
        "skills",
        "status",
        "summarize",
        "switch-org",
        "terminal",
        "themes",
        "thinking",
        "timeline",
        "timestamps",
        "toggle-thinking",
        "toggle-timestamps",
        "undo",
        "unshare",
        "variants",
        "warp",
        "workspace",
        "workspaces",
    ],
};
