//! Factory Droid.

pub mod transcript;
mod wire;

use model::event::EventName;

use crate::settings::Place;
use crate::{File, Form, Harness, Install, STOP_TIMEOUT, Wired};

pub const ROW: Harness = Harness {
    name: "droid",
    title: "Factory Droid",
    project_dir: "FACTORY_PROJECT_DIR",
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
    missing: &[
        "no hook for a tool that failed: found in the transcript at the next stop",
        "no hook for an automatic compaction: found in the transcript at the next prompt or stop",
        "no prompt hook in one-shot `droid exec`: found in the transcript at the stop",
        "no hook after a compaction and none when a sub-agent starts",
        "no word about which sub-agent has stopped: outputs are judged by `thru gate check`, not as they are left",
    ],
    context_cap: 9_500,
    decode: wire::decode,
    read_line: transcript::read_line,
    tells_all: false,
    encode: wire::encode,
    block_cap: None,
    transcripts_kept: |_| None,
    install: Install {
        program: "droid",
        folder: ".factory",
        folder_variable: None,
        local: None,
        file: File { name: "hooks.json", place: Place::DROID_HOOKS },
        other: Some(File { name: "settings.json", place: Place::DROID_SETTINGS }),
        form: Form::Shell,
        strict: false,
        taken: &["compact", "clear", "status"],
    },
};
