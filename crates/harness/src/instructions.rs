//! Files that agents and their harnesses obey. Anybody who can write these files can change what agents are told and
//! which programs run.

/// Files that agents and their harnesses read automatically. Their content is given to an agent or determines which
/// programs run. The names are written in lower case. The list includes files of other agents, because people use
/// several agents.
pub const INSTRUCTION_FILES: &[&str] = &[
    "agents.md",
    "agent.md",
    "agents.override.md",
    "claude.md",
    "claude.local.md",
    "gemini.md",
    "qwen.md",
    "copilot-instructions.md",
    ".mcp.json",
    "mcp.json",
    "opencode.json",
    "opencode.jsonc",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    ".goosehints",
    ".aider.conf.yml",
];

/// Folders whose contents are read automatically by agents and their harnesses.
pub const INSTRUCTION_FOLDERS: &[&str] = &[
    ".claude",
    ".factory",
    ".opencode",
    ".codex",
    ".gemini",
    ".qwen",
    ".cursor",
    ".windsurf",
    ".continue",
    ".roo",
    ".kiro",
    ".agents",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_harness_is_among_them() {
        for harness in crate::HARNESSES {
            assert!(INSTRUCTION_FOLDERS.contains(&harness.folder), "{}", harness.folder);
        }
    }
}
