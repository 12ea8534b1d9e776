//! Every subcommand, with arguments that make it do real work in a hostile store.

use anyhow::{Result, ensure};

use super::files::{LOOP_ID, PACKET_ID, PROMISE_TEXT, ROLE_NAME, RUN_ID, WORKSTREAM_ID};
use crate::sandbox::{SANDBOX_SESSION_ID, Sandbox};

/// What a command may do outside its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreCommandKind {
    /// The command may write records and, if that is its purpose, a trust record.
    Plain,
    /// The command changes the settings of harnesses, and the exclude list of this clone.
    Settings,
    /// The user starts a loop with the command. The agent may get the loop's prompt afterwards, but nothing may run.
    StartsLoop,
}

#[derive(Debug, Clone, Copy)]
pub struct CommandLine {
    pub argv: &'static [&'static str],
    pub kind: StoreCommandKind,
    pub stdin: &'static str,
    /// Whether the command runs as if an agent had started it inside a harness.
    pub in_harness: bool,
}

impl CommandLine {
    /// Returns whether the command can affect later hooks. If so, a session is run after it.
    pub fn is_session_run_after_command(&self) -> bool {
        ["loop", "gate", "trust", "init", "pickup", "import", "role"].contains(&self.argv[0])
    }
}

const fn plain_command(argv: &'static [&'static str]) -> CommandLine {
    CommandLine { argv, kind: StoreCommandKind::Plain, stdin: "", in_harness: false }
}

const fn wiring_command(argv: &'static [&'static str]) -> CommandLine {
    CommandLine { kind: StoreCommandKind::Settings, ..plain_command(argv) }
}

const fn starting_command(argv: &'static [&'static str]) -> CommandLine {
    CommandLine { kind: StoreCommandKind::StartsLoop, ..plain_command(argv) }
}

const fn agent_command(argv: &'static [&'static str]) -> CommandLine {
    CommandLine { in_harness: true, ..plain_command(argv) }
}

const fn command_with_stdin(argv: &'static [&'static str], stdin: &'static str) -> CommandLine {
    CommandLine { stdin, ..plain_command(argv) }
}

const OUTPUT_FILE: &str = "review-security.md";

pub const COMMAND_LINES: &[CommandLine] = &[
    wiring_command(&["init"]),
    wiring_command(&["init", "--shared"]),
    wiring_command(&["init", "--nested"]),
    wiring_command(&["install", "claude-code"]),
    wiring_command(&["install", "claude-code", "--project"]),
    wiring_command(&["install", "claude-code", "--user"]),
    wiring_command(&["install", "droid", "--project"]),
    wiring_command(&["install", "droid", "--user"]),
    wiring_command(&["install", "opencode", "--project"]),
    wiring_command(&["install", "opencode", "--user"]),
    wiring_command(&["uninstall", "claude-code"]),
    wiring_command(&["uninstall", "claude-code", "--project"]),
    wiring_command(&["uninstall", "droid", "--project"]),
    wiring_command(&["uninstall", "opencode", "--project"]),
    plain_command(&["status"]),
    plain_command(&["status", "--json"]),
    plain_command(&["handoff", "go on"]),
    plain_command(&["handoff", "go on", "--session", SANDBOX_SESSION_ID]),
    plain_command(&["pickup"]),
    plain_command(&["pickup", PACKET_ID, "--hydrate"]),
    plain_command(&["pickup", PACKET_ID, "--claim", "--session", SANDBOX_SESSION_ID]),
    plain_command(&["packet", "list"]),
    plain_command(&["packet", "show", PACKET_ID]),
    plain_command(&["packet", "open", PACKET_ID]),
    plain_command(&["packet", "activate", PACKET_ID]),
    plain_command(&["packet", "done", PACKET_ID]),
    plain_command(&["packet", "block", PACKET_ID, "--reason", "waiting"]),
    plain_command(&["packet", "confirm", PACKET_ID, "src/a.rs"]),
    plain_command(&["packet", "confirm", PACKET_ID, "../outside/secret.md"]),
    plain_command(&["packet", "unconfirm", PACKET_ID, "src/a.rs"]),
    command_with_stdin(&["packet", "set", PACKET_ID, "--section", "Plan"], "A plan.\n"),
    plain_command(&["packet", "validate"]),
    plain_command(&["packet", "validate", PACKET_ID]),
    plain_command(&["packet", "import", ".factory/handoffs/evil.md"]),
    plain_command(&["sweep"]),
    starting_command(&["loop", "start", "mine", "--promise", PROMISE_TEXT, "--session", SANDBOX_SESSION_ID]),
    starting_command(&["loop", "start", "--from-packet", PACKET_ID, "--session", SANDBOX_SESSION_ID]),
    starting_command(&["loop", "start", "--from-packet", PACKET_ID, "--next"]),
    plain_command(&["loop", "list"]),
    plain_command(&["loop", "show"]),
    plain_command(&["loop", "show", LOOP_ID]),
    plain_command(&["loop", "activate", LOOP_ID, "--session", SANDBOX_SESSION_ID]),
    plain_command(&["loop", "activate", LOOP_ID, "--next"]),
    plain_command(&["loop", "pause", LOOP_ID]),
    plain_command(&["loop", "resume", LOOP_ID, "--session", SANDBOX_SESSION_ID]),
    plain_command(&["loop", "resume", LOOP_ID, "--next", "--max-iterations", "99"]),
    plain_command(&["loop", "resume"]),
    plain_command(&["loop", "cancel", LOOP_ID]),
    plain_command(&["loop", "log", LOOP_ID]),
    plain_command(&["loop", "adopt", LOOP_ID]),
    command_with_stdin(&["loop", "adopt", LOOP_ID], "yes\ny\n"),
    agent_command(&["loop", "adopt", LOOP_ID]),
    plain_command(&["files"]),
    plain_command(&["gate", "expect", "review"]),
    plain_command(&["gate", "check"]),
    plain_command(&["gate", "check", "--stage", "review"]),
    plain_command(&["gate", "run"]),
    plain_command(&["gate", "run", "--again", "--json"]),
    plain_command(&["gate", "run", "--stage", "review"]),
    command_with_stdin(&["gate", "run", "--adopt"], "yes\ny\n"),
    command_with_stdin(&["gate", "run", "--adopt", "--stage", "review"], "yes\ny\n"),
    agent_command(&["gate", "run", "--adopt"]),
    agent_command(&["gate", "run"]),
    plain_command(&["gate", "prompt", OUTPUT_FILE]),
    plain_command(&["gate", "seal", OUTPUT_FILE]),
    plain_command(&["gate", "live"]),
    plain_command(&["gate", "live", "--set", RUN_ID]),
    plain_command(&["gate", "live", "--set", "../outside/run"]),
    plain_command(&["gate", "live", "--clear"]),
    plain_command(&["journal"]),
    plain_command(&["journal", "--list"]),
    plain_command(&["import", "ralph"]),
    plain_command(&["import", "factory"]),
    plain_command(&["import", "swarm"]),
    plain_command(&["import", "agents"]),
    plain_command(&["plan", "show"]),
    plain_command(&["plan", "init", "Mine"]),
    plain_command(&["plan", "import", "../outside/secret.md"]),
    plain_command(&["plan", "import", "--from-session"]),
    plain_command(&["plan", "add", "One"]),
    plain_command(&["plan", "set", "--title", "Other"]),
    plain_command(&["plan", "next"]),
    plain_command(&["plan", "check"]),
    plain_command(&["plan", "log"]),
    plain_command(&["task", "add", "Write it"]),
    plain_command(&["task", "start", "1.1"]),
    plain_command(&["task", "done", "1.1"]),
    plain_command(&["task", "block", "1.1", "waiting"]),
    plain_command(&["task", "unblock", "1.1"]),
    plain_command(&["task", "show", "1.1"]),
    plain_command(&["evidence", "add", "1.1", "--summary", "seen"]),
    plain_command(&["evidence", "run", "1.1", "--", "true"]),
    plain_command(&["evidence", "list"]),
    plain_command(&["evidence", "show", "1.1"]),
    plain_command(&["evidence", "archive", "--keep", "1"]),
    plain_command(&["decide", "Keep it small"]),
    plain_command(&["decisions", "list"]),
    plain_command(&["decisions", "show", "D1"]),
    plain_command(&["decisions", "supersede", "D1", "Make it large"]),
    plain_command(&["decisions", "accept", "D1"]),
    wiring_command(&["swarm", "install"]),
    wiring_command(&["swarm", "uninstall"]),
    plain_command(&["swarm", "list"]),
    plain_command(&["swarm", "agents"]),
    plain_command(&["swarm", "plan"]),
    plain_command(&["swarm", "diagnose"]),
    plain_command(&["swarm", "status"]),
    plain_command(&["swarm", "retrieve", "0123456789ab"]),
    plain_command(&["swarm", "benchmark"]),
    // Without `--dry-run`, the command may write to any path in its input.
    command_with_stdin(&["swarm", "extract", "--dry-run"], "```rust ../outside/made.rs\nfn made() {}\n```\n"),
    command_with_stdin(&["swarm", "domains"], "a database\n"),
    command_with_stdin(&["statusline"], "{}"),
    plain_command(&["brief"]),
    plain_command(&["brief", "--all", "--event", "compact"]),
    plain_command(&["resume", "new", "02-mine"]),
    plain_command(&["resume", "new", WORKSTREAM_ID, "--load", "../outside/secret.md"]),
    plain_command(&["resume", "use", WORKSTREAM_ID]),
    plain_command(&["resume", "list"]),
    plain_command(&["resume", "show", WORKSTREAM_ID]),
    plain_command(&["resume", "validate"]),
    plain_command(&["resume", "update", WORKSTREAM_ID, "--task-done"]),
    plain_command(&["resume", "migrate"]),
    plain_command(&["resume", "migrate", "--rollback"]),
    plain_command(&["resume", "gate", WORKSTREAM_ID]),
    plain_command(&["config"]),
    plain_command(&["trust"]),
    agent_command(&["trust"]),
    plain_command(&["trust", "--list"]),
    plain_command(&["trust", "--revoke"]),
    plain_command(&["doctor"]),
    command_with_stdin(&["redact"], "token = none\n"),
    plain_command(&["context", "init"]),
    plain_command(&["context", "validate", "--all"]),
    plain_command(&["context", "schema"]),
    plain_command(&["context", "new", "scribe"]),
    plain_command(&["context", "new", ROLE_NAME]),
    plain_command(&["context", "fix", ROLE_NAME]),
    plain_command(&["context", "lifecycle", "status"]),
    plain_command(&["context", "recover", ROLE_NAME]),
    plain_command(&["role", "bind", ROLE_NAME, "--session", SANDBOX_SESSION_ID]),
    plain_command(&["role", "unbind", "--session", SANDBOX_SESSION_ID]),
    plain_command(&["role", "list"]),
    plain_command(&["lifecycle", "init", ROLE_NAME]),
    plain_command(&["lifecycle", "save", ROLE_NAME]),
    plain_command(&["lifecycle", "status"]),
    plain_command(&["lifecycle", "pre-compact", ROLE_NAME]),
    plain_command(&["lifecycle", "recover", ROLE_NAME]),
    plain_command(&["recover", ROLE_NAME]),
    plain_command(&["harness", "list"]),
    plain_command(&["harness", "show", "opencode"]),
    plain_command(&["completions", "bash"]),
    // An older binary, given with `--bin`, might lack this command. It would then report a usage error.
    plain_command(&["debug", "hook", "claude-code", "SessionStart"]),
];

/// Returns the command lines for this binary. Returns an error if the help lists a subcommand for which there is no
/// command line.
pub fn all_command_lines(sandbox: &Sandbox) -> Result<Vec<CommandLine>> {
    let mut known: Vec<Vec<String>> = Vec::new();
    for command in commands_in_help(sandbox, &["--help"])? {
        let nested = commands_in_help(sandbox, &["help", &command])?;
        if nested.is_empty() {
            known.push(vec![command]);
        } else {
            known.extend(nested.into_iter().map(|nested| vec![command.clone(), nested]));
        }
    }
    let runs = |words: &[String], line: &CommandLine| {
        words.iter().map(String::as_str).eq(line.argv.iter().copied().take(words.len()))
    };
    let forgotten: Vec<String> = known
        .iter()
        .filter(|words| words[0] != "hook" && !COMMAND_LINES.iter().any(|line| runs(words, line)))
        .map(|words| words.join(" "))
        .collect();
    ensure!(
        forgotten.is_empty(),
        "the hostile stores do not test this command: thru {}",
        forgotten.join(", thru ")
    );
    Ok(COMMAND_LINES.to_vec())
}

/// Returns the commands that a help page lists. Continuation lines are indented more deeply and are skipped.
fn commands_in_help(sandbox: &Sandbox, argv: &[&str]) -> Result<Vec<String>> {
    let output = sandbox.run_successfully(argv, b"")?;
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    let rows =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = rows.filter(|row| !row.starts_with("   ")).filter_map(|row| row.split_whitespace().next());
    Ok(names.filter(|name| *name != "help").map(str::to_owned).collect())
}
