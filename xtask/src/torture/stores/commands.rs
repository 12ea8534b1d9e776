//! Every subcommand, with arguments that make it do real work in a hostile store.

use anyhow::{Result, ensure};

use super::files::{LOOP, PACKET, PROMISE, ROLE, RUN, WORKSTREAM};
use crate::sandbox::{SESSION, Sandbox};

/// What a command may do outside its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The command writes records and, if that is its purpose, trust.
    Plain,
    /// The command changes settings of harnesses, and the exclude list of this clone.
    Settings,
    /// The user starts a loop with the command. The loop's prompt may be fed afterwards, but nothing may run.
    StartsLoop,
}

#[derive(Debug, Clone, Copy)]
pub struct Line {
    pub argv: &'static [&'static str],
    pub kind: Kind,
    pub stdin: &'static str,
    /// Whether the command runs inside a harness, as if an agent ran it.
    pub in_harness: bool,
}

impl Line {
    /// Returns whether the command can affect what hooks do afterwards. If so, a session is run after it.
    pub fn precedes_session(&self) -> bool {
        ["loop", "gate", "trust", "init", "pickup", "import", "role"].contains(&self.argv[0])
    }
}

const fn plain(argv: &'static [&'static str]) -> Line {
    Line { argv, kind: Kind::Plain, stdin: "", in_harness: false }
}

const fn wires(argv: &'static [&'static str]) -> Line {
    Line { kind: Kind::Settings, ..plain(argv) }
}

const fn starts(argv: &'static [&'static str]) -> Line {
    Line { kind: Kind::StartsLoop, ..plain(argv) }
}

const fn agent(argv: &'static [&'static str]) -> Line {
    Line { in_harness: true, ..plain(argv) }
}

const fn reads(argv: &'static [&'static str], stdin: &'static str) -> Line {
    Line { stdin, ..plain(argv) }
}

const OUTPUT: &str = "review-security.md";

pub const LINES: &[Line] = &[
    wires(&["init"]),
    wires(&["init", "--shared"]),
    wires(&["init", "--nested"]),
    wires(&["install", "claude-code"]),
    wires(&["install", "claude-code", "--project"]),
    wires(&["install", "claude-code", "--user"]),
    wires(&["install", "droid", "--project"]),
    wires(&["install", "droid", "--user"]),
    wires(&["install", "opencode", "--project"]),
    wires(&["install", "opencode", "--user"]),
    wires(&["uninstall", "claude-code"]),
    wires(&["uninstall", "claude-code", "--project"]),
    wires(&["uninstall", "droid", "--project"]),
    wires(&["uninstall", "opencode", "--project"]),
    plain(&["status"]),
    plain(&["status", "--json"]),
    plain(&["handoff", "go on"]),
    plain(&["handoff", "go on", "--session", SESSION]),
    plain(&["pickup"]),
    plain(&["pickup", PACKET, "--hydrate"]),
    plain(&["pickup", PACKET, "--claim", "--session", SESSION]),
    plain(&["packet", "list"]),
    plain(&["packet", "show", PACKET]),
    plain(&["packet", "open", PACKET]),
    plain(&["packet", "activate", PACKET]),
    plain(&["packet", "done", PACKET]),
    plain(&["packet", "block", PACKET, "--reason", "waiting"]),
    plain(&["packet", "confirm", PACKET, "src/a.rs"]),
    plain(&["packet", "confirm", PACKET, "../outside/secret.md"]),
    plain(&["packet", "unconfirm", PACKET, "src/a.rs"]),
    reads(&["packet", "set", PACKET, "--section", "Plan"], "A plan.\n"),
    plain(&["packet", "validate"]),
    plain(&["packet", "validate", PACKET]),
    plain(&["packet", "import", ".factory/handoffs/evil.md"]),
    plain(&["sweep"]),
    starts(&["loop", "start", "mine", "--promise", PROMISE, "--session", SESSION]),
    starts(&["loop", "start", "--from-packet", PACKET, "--session", SESSION]),
    starts(&["loop", "start", "--from-packet", PACKET, "--next"]),
    plain(&["loop", "list"]),
    plain(&["loop", "show"]),
    plain(&["loop", "show", LOOP]),
    plain(&["loop", "activate", LOOP, "--session", SESSION]),
    plain(&["loop", "activate", LOOP, "--next"]),
    plain(&["loop", "pause", LOOP]),
    plain(&["loop", "resume", LOOP, "--session", SESSION]),
    plain(&["loop", "resume", LOOP, "--next", "--max-iterations", "99"]),
    plain(&["loop", "resume"]),
    plain(&["loop", "cancel", LOOP]),
    plain(&["loop", "log", LOOP]),
    plain(&["loop", "adopt", LOOP]),
    reads(&["loop", "adopt", LOOP], "yes\ny\n"),
    agent(&["loop", "adopt", LOOP]),
    plain(&["files"]),
    plain(&["gate", "expect", "review"]),
    plain(&["gate", "check"]),
    plain(&["gate", "check", "--stage", "review"]),
    plain(&["gate", "run"]),
    plain(&["gate", "run", "--again", "--json"]),
    plain(&["gate", "run", "--stage", "review"]),
    reads(&["gate", "run", "--adopt"], "yes\ny\n"),
    reads(&["gate", "run", "--adopt", "--stage", "review"], "yes\ny\n"),
    agent(&["gate", "run", "--adopt"]),
    agent(&["gate", "run"]),
    plain(&["gate", "prompt", OUTPUT]),
    plain(&["gate", "seal", OUTPUT]),
    plain(&["gate", "live"]),
    plain(&["gate", "live", "--set", RUN]),
    plain(&["gate", "live", "--set", "../outside/run"]),
    plain(&["gate", "live", "--clear"]),
    plain(&["journal"]),
    plain(&["journal", "--list"]),
    plain(&["import", "ralph"]),
    plain(&["import", "factory"]),
    plain(&["import", "swarm"]),
    plain(&["import", "agents"]),
    plain(&["plan", "show"]),
    plain(&["plan", "init", "Mine"]),
    plain(&["plan", "import", "../outside/secret.md"]),
    plain(&["plan", "import", "--from-session"]),
    plain(&["plan", "add", "One"]),
    plain(&["plan", "set", "--title", "Other"]),
    plain(&["plan", "next"]),
    plain(&["plan", "check"]),
    plain(&["plan", "log"]),
    plain(&["task", "add", "Write it"]),
    plain(&["task", "start", "1.1"]),
    plain(&["task", "done", "1.1"]),
    plain(&["task", "block", "1.1", "waiting"]),
    plain(&["task", "unblock", "1.1"]),
    plain(&["task", "show", "1.1"]),
    plain(&["evidence", "add", "1.1", "--summary", "seen"]),
    plain(&["evidence", "run", "1.1", "--", "true"]),
    plain(&["evidence", "list"]),
    plain(&["evidence", "show", "1.1"]),
    plain(&["evidence", "archive", "--keep", "1"]),
    plain(&["decide", "Keep it small"]),
    plain(&["decisions", "list"]),
    plain(&["decisions", "show", "D1"]),
    plain(&["decisions", "supersede", "D1", "Make it large"]),
    plain(&["decisions", "accept", "D1"]),
    wires(&["swarm", "install"]),
    wires(&["swarm", "uninstall"]),
    plain(&["swarm", "list"]),
    plain(&["swarm", "agents"]),
    plain(&["swarm", "plan"]),
    plain(&["swarm", "diagnose"]),
    plain(&["swarm", "status"]),
    plain(&["swarm", "retrieve", "0123456789ab"]),
    plain(&["swarm", "benchmark"]),
    // Without `--dry-run` the command would be allowed to write wherever its user tells it to.
    reads(&["swarm", "extract", "--dry-run"], "```rust ../outside/made.rs\nfn made() {}\n```\n"),
    reads(&["swarm", "domains"], "a database\n"),
    reads(&["statusline"], "{}"),
    plain(&["brief"]),
    plain(&["brief", "--all", "--event", "compact"]),
    plain(&["resume", "new", "02-mine"]),
    plain(&["resume", "new", WORKSTREAM, "--load", "../outside/secret.md"]),
    plain(&["resume", "use", WORKSTREAM]),
    plain(&["resume", "show", WORKSTREAM]),
    plain(&["resume", "validate"]),
    plain(&["resume", "update", WORKSTREAM, "--task-done"]),
    plain(&["resume", "migrate"]),
    plain(&["resume", "migrate", "--rollback"]),
    plain(&["resume", "gate", WORKSTREAM]),
    plain(&["config"]),
    plain(&["trust"]),
    agent(&["trust"]),
    plain(&["trust", "--list"]),
    plain(&["trust", "--revoke"]),
    plain(&["doctor"]),
    reads(&["redact"], "token = none\n"),
    plain(&["context", "init"]),
    plain(&["context", "validate", "--all"]),
    plain(&["context", "schema"]),
    plain(&["context", "new", "scribe"]),
    plain(&["context", "new", ROLE]),
    plain(&["context", "fix", ROLE]),
    plain(&["context", "lifecycle", "status"]),
    plain(&["context", "recover", ROLE]),
    plain(&["role", "bind", ROLE, "--session", SESSION]),
    plain(&["role", "unbind", "--session", SESSION]),
    plain(&["role", "list"]),
    plain(&["lifecycle", "init", ROLE]),
    plain(&["lifecycle", "save", ROLE]),
    plain(&["lifecycle", "status"]),
    plain(&["lifecycle", "pre-compact", ROLE]),
    plain(&["lifecycle", "recover", ROLE]),
    plain(&["recover", ROLE]),
    plain(&["harness", "list"]),
    plain(&["harness", "show", "opencode"]),
    plain(&["completions", "bash"]),
    // A binary that `--bin` names may not have this command. Then the line is a usage error.
    plain(&["debug", "hook", "claude-code", "SessionStart"]),
];

/// Returns the lines for this binary. It is an error if the help lists a subcommand that has no line here.
pub fn all(sandbox: &Sandbox) -> Result<Vec<Line>> {
    let mut known: Vec<Vec<String>> = Vec::new();
    for command in listed(sandbox, &["--help"])? {
        let nested = listed(sandbox, &["help", &command])?;
        if nested.is_empty() {
            known.push(vec![command]);
        } else {
            known.extend(nested.into_iter().map(|nested| vec![command.clone(), nested]));
        }
    }
    let runs = |words: &[String], line: &Line| {
        words.iter().map(String::as_str).eq(line.argv.iter().copied().take(words.len()))
    };
    let forgotten: Vec<String> = known
        .iter()
        .filter(|words| words[0] != "hook" && !LINES.iter().any(|line| runs(words, line)))
        .map(|words| words.join(" "))
        .collect();
    ensure!(forgotten.is_empty(), "the hostile stores do not run: thru {}", forgotten.join(", thru "));
    Ok(LINES.to_vec())
}

/// Returns the commands that a help page lists. A line that continues another is indented more deeply, and is
/// skipped.
fn listed(sandbox: &Sandbox, argv: &[&str]) -> Result<Vec<String>> {
    let output = sandbox.must(argv, b"")?;
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    let rows =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = rows.filter(|row| !row.starts_with("   ")).filter_map(|row| row.split_whitespace().next());
    Ok(names.filter(|name| *name != "help").map(str::to_owned).collect())
}
