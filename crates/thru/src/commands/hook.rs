use ops::Result;

use crate::output::{self, DIM};

/// Take one event from a harness: payload on stdin, answer on stdout, exit 0
///
/// Harnesses call this, not people. It is never slow, never in the way and silent when anything is wrong; what went
/// wrong is in `thru doctor`. Events are the harness's own names (PostToolUse) or ours (tool-done).
///
/// To wire Claude Code, put this into .claude/settings.local.json, with every event you want captured:
///
///   {"hooks": {
///     "SessionStart":       [{"hooks": [{"type": "command", "command": "thru hook claude-code SessionStart"}]}],
///     "UserPromptSubmit":   [{"hooks": [{"type": "command", "command": "thru hook claude-code UserPromptSubmit"}]}],
///     "PostToolUse":        [{"hooks": [{"type": "command", "command": "thru hook claude-code PostToolUse"}]}],
///     "PostToolUseFailure": [{"hooks": [{"type": "command", "command": "thru hook claude-code PostToolUseFailure"}]}],
///     "PreCompact":         [{"hooks": [{"type": "command", "command": "thru hook claude-code PreCompact"}]}],
///     "Stop":               [{"hooks": [{"type": "command", "command": "thru hook claude-code Stop"}]}],
///     "SessionEnd":         [{"hooks": [{"type": "command", "command": "thru hook claude-code SessionEnd"}]}]
///   }}
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// claude-code
    #[arg(required = true)]
    harness: String,
    /// The event's name
    event: Option<String>,
}

/// Only a call without an event comes here: a whole one is taken before any argument is parsed. Still exit 0, because
/// a harness may treat anything else as a veto.
pub fn run(args: &Args) -> Result<u8> {
    output::talk(format_args!(
        "{DIM}note:{DIM:#} `thru hook {}` wants an event; nothing was done",
        args.harness
    ));
    Ok(0)
}
