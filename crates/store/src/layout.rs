//! Where things are below a root. The only place that spells these names.

use model::id::Id;

/// The store itself, seen from the root.
pub const STORE: &str = ".agent/context";

pub const MARKER: &str = "root.json";
pub const CONFIG: &str = "config.toml";
pub const GITIGNORE: &str = ".gitignore";
pub const SESSIONS: &str = "indexes/sessions.jsonl";
pub const RECEIPTS: &str = "indexes/receipts.jsonl";
pub const JOURNALS: &str = "sessions";

/// Made by init, so that a newcomer sees what goes where.
pub const FOLDERS: &[&str] = &["indexes", "loops", "packets", "scratch", "sessions", "state"];

/// Held while `root.json` is changed.
pub const MARKER_LOCK: &str = "state/locks/root.lock";

pub fn journal(session: &Id) -> String {
    format!("{JOURNALS}/{session}.jsonl")
}

/// Everything stays out of git.
pub const IGNORE_ALL: &str =
    "# Written by `thru init`: nothing in here goes into git. `thru init --shared` changes that.\n*\n";

/// What a team shares goes into git, the rest stays out.
pub const IGNORE_SHARED: &str = "\
# Written by `thru init --shared`: records that a team shares are in git, the rest is not.
/*
!/.gitignore
!/root.json
!/packets/
!/agents/
!/workstreams/
!/plan.json
!/plan.md
!/plan-ledger.jsonl
!/decisions.jsonl
!/evidence/
.*.tmp
*.damaged-*
";
