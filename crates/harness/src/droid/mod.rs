//! Factory Droid.

mod agents;
pub mod transcript;
mod wire;

use model::event::EventName;
use model::packet::pickup::Mention;

use crate::settings::{HookLocation, TimeoutUnit};
use crate::{
    Capabilities, Commands, Coverage, File, Form, Harness, Home, HookTable, Install, STOP_TIMEOUT,
    Transcript, Wired,
};

pub const ROW: Harness = Harness {
    name: "droid",
    title: "Factory Droid",
    aliases: &["factory"],
    program: "droid",
    program_paths: &["/@factory/cli", "/node_modules/droid/"],
    folder: ".factory",
    folder_variable: None,
    home: Home::Folder,
    project_dir: Some("FACTORY_PROJECT_DIR"),
    presence: &["FACTORY_PROJECT_DIR", "DROID_PROJECT_DIR"],
    session: None,
    events: &[
        Wired { event: "SessionStart", neutral: EventName::SessionStart, timeout: 10 },
        Wired { event: "UserPromptSubmit", neutral: EventName::Prompt, timeout: 10 },
        Wired { event: "PostToolUse", neutral: EventName::ToolDone, timeout: 10 },
        Wired { event: "PreCompact", neutral: EventName::BeforeCompact, timeout: 10 },
        Wired { event: "SubagentStop", neutral: EventName::SubagentStop, timeout: 10 },
        Wired { event: "Stop", neutral: EventName::Stop, timeout: STOP_TIMEOUT },
        Wired { event: "SessionEnd", neutral: EventName::SessionEnd, timeout: 10 },
    ],
    capabilities: Capabilities {
        reports_prompts: Coverage::AllBut("the prompt of a one-shot `droid exec`"),
        reports_compactions: Coverage::AllBut("an automatic compaction"),
        reports_failed_tools: false,
        names_subagents: false,
        replays_conversation: true,
        hides_guidance: false,
    },
    limits: &[],
    context_cap: 9_500,
    decode: wire::decode,
    encode: wire::encode,
    replaceable: |_| None,
    transcript: Transcript::JsonLines { read_line: transcript::read_line },
    block_cap: None,
    transcripts_kept: |_| None,
    mention: Mention::Plain,
    agent_files: &[],
    install: Install::HookTable(HookTable {
        local: None,
        file: File { name: "hooks.json", place: HookLocation::DROID_HOOKS },
        other: Some(File { name: "settings.json", place: HookLocation::DROID_SETTINGS }),
        form: Form::Shell,
        timeouts: TimeoutUnit::Seconds,
        strict: false,
    }),
    commands: Commands::MarkdownFiles { taken: &["compact", "clear", "status"], runs_lines: false },
    agents: Some(agents::FILES),
};
