//! Claude Code.

pub mod transcript;
mod wire;

use crate::Harness;

pub const ROW: Harness = Harness {
    name: "claude-code",
    project_dir: "CLAUDE_PROJECT_DIR",
    presence: &["CLAUDECODE", "CLAUDE_CODE_SESSION_ID"],
    decode: wire::decode,
    encode: wire::encode,
};
