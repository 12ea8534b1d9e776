//! Where things are below a root. The only place that spells these names.

use model::gate;
use model::id::Id;

/// The store itself, seen from the root.
pub const STORE: &str = ".agent/context";

pub const MARKER: &str = "root.json";
pub const CONFIG: &str = "config.toml";
pub const GITIGNORE: &str = ".gitignore";
pub const SESSIONS: &str = "indexes/sessions.jsonl";
pub const RECEIPTS: &str = "indexes/receipts.jsonl";
pub const JOURNALS: &str = "sessions";
/// In the state folder of this machine: what happened where there is no root to note it in.
pub const STATE_RECEIPTS: &str = "receipts.jsonl";

/// Anything in it may be deleted at any time.
pub const SCRATCH: &str = "scratch";

/// Made by init, so that a newcomer sees what goes where.
pub const FOLDERS: &[&str] = &["indexes", "loops", "packets", "scratch", "sessions", "state"];

/// Held while `root.json` is changed.
pub const MARKER_LOCK: &str = "state/locks/root.lock";

/// Held while a session is folded.
pub fn session_lock(session: &Id) -> String {
    format!("{LOCKS}/session-{session}.lock")
}

pub const PACKETS: &str = "packets";
pub const PACKETS_INDEX: &str = "indexes/packets.tsv";
/// Held while a packet is changed.
pub const PACKETS_LOCK: &str = "state/locks/packets.lock";

pub fn packet(id: &Id) -> String {
    packet_named(id.as_str())
}

/// For a name that was found in the folder.
pub(crate) fn packet_named(name: &str) -> String {
    format!("{PACKETS}/{name}.md")
}

/// Which packet a session has claimed.
pub const CLAIMS: &str = "state/claims";
/// Dead sessions that were seen to, each with the packet that was made of it.
pub const SWEPT: &str = "state/swept";
/// Held while dead sessions are seen to.
pub const SWEEP_LOCK: &str = "state/locks/sweep.lock";
pub const DECISIONS: &str = "decisions.jsonl";
/// Decisions, patterns and activity as people read them.
pub const CONTEXT_VIEW: &str = "context.md";
/// Held while that is written.
pub const CONTEXT_LOCK: &str = "state/locks/context.lock";
/// Which answers of a session are among the decisions.
pub const ANSWERS_SEEN: &str = "state/answers-seen";

/// The plan, its readable view, and every change of it.
pub const PLAN: &str = "plan.json";
pub const PLAN_VIEW: &str = "plan.md";
pub const PLAN_LEDGER: &str = "plan-ledger.jsonl";
/// What is kept of the phases that are over.
pub const PHASES: &str = "phases";
/// Held while the plan is changed.
pub const PLAN_LOCK: &str = "state/locks/plan.lock";
/// How a session's own list stood when the plan followed it last.
pub const PLAN_TODOS: &str = "state/plan-todos";

pub fn phase_record(phase: u32) -> String {
    format!("{PHASES}/{phase}.md")
}

/// Loops and their logs.
pub const LOOPS: &str = "loops";
/// Which loop is in the foreground, of whom.
pub const ACTIVE_LOOP: &str = "indexes/active-loop.json";
/// Held while a loop or the pointer to it is changed.
pub const LOOPS_LOCK: &str = "state/locks/loops.lock";

/// Held while a loop's validators run.
pub fn validators_lock(id: &Id) -> String {
    format!("{LOCKS}/validators-{id}.lock")
}

pub fn loop_log(id: &Id) -> String {
    format!("{LOOPS}/{id}.log.jsonl")
}
pub const WORKSTREAMS: &str = "workstreams";
/// Held while a manifest or its steps are changed.
pub const WORKSTREAMS_LOCK: &str = "state/locks/workstreams.lock";
/// Which workstream was active when a session was compacted, and the newest of them for everybody.
pub const PRECOMPACT: &str = "state/precompact";
pub const PRECOMPACT_STATE: &str = "state/precompact_state.json";

pub fn precompact(session: &Id) -> String {
    format!("{PRECOMPACT}/{session}.json")
}
/// Which unread files a session was reminded of.
pub const REMINDED: &str = "state/reminded";
/// Which boxes a session's own list has ticked.
pub const TICKED: &str = "state/ticked";

pub const RELEVANT_FILES: &str = "indexes/relevant-files.jsonl";

/// A session folded, so that its start need not read the whole journal.
pub const DIGESTS: &str = "state/digest";
/// How far a session's transcript has been read.
pub const CURSORS: &str = "state/cursors";
/// How many records could not be written, and when. Made in advance, because a full disk takes no new file.
pub const LOST: &str = "state/lost.json";
/// Which facts a session's context holds since its last compaction.
pub const CONTEXT_HELD: &str = "state/told";
/// Sessions between a compaction and their brief.
pub const PENDING: &str = "state/pending";
pub const LOCKS: &str = "state/locks";
/// Which role a session has.
pub const ROLES: &str = "state/roles";
/// Where each role stands.
pub const LIFECYCLES: &str = "state/lifecycle";

/// Held while a role moves.
pub fn lifecycle_lock(machine: &str) -> String {
    format!("{LOCKS}/lifecycle-{machine}.lock")
}

/// The runs of stages, a folder each.
pub const OUTPUTS: &str = "outputs";
/// In the folder of a run: what must be left there, and what the stage went on without.
pub const EXPECTED: &str = gate::EXPECTED;
pub const OMISSIONS: &str = gate::OMISSIONS;
/// Which run is the live one.
pub const LIVE: &str = "state/live.json";

/// What stands beside an output: the last words of an agent that left none, what a launched command got and said.
pub fn last_message(output: &str) -> String {
    format!("{output}{}", gate::LAST_MESSAGE)
}

pub fn launch_prompt(output: &str) -> String {
    format!("{output}{}", gate::LAUNCH_PROMPT)
}

pub fn launch_log(output: &str) -> String {
    format!("{output}{}", gate::LAUNCH_LOG)
}

/// Who works on an output, for as long as he does.
pub fn launch_process(output: &str) -> String {
    format!("{output}{}", gate::LAUNCH_PROCESS)
}

/// Where the list of a stage is kept while another stage of the same folder is the current one.
pub fn expected_of(stage: &str) -> String {
    format!("expected.{stage}.json")
}

/// What such a stage goes on without.
pub fn stage_omissions_file(stage: &str) -> String {
    format!("omissions.{stage}.md")
}

/// Held while outputs of a run are made.
pub fn outputs_lock(what: &str) -> String {
    format!("{LOCKS}/outputs-{what}.lock")
}

pub fn journal(session: &Id) -> String {
    format!("{JOURNALS}/{session}.jsonl")
}

/// The first of the parts that readers take before [`journal`] itself.
pub fn first_journal_part(session: &Id) -> String {
    format!("{JOURNALS}/{session}~0001.jsonl")
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
!/phases/
!/context.md
!/decisions.jsonl
!/evidence/
.*.tmp
*.damaged-*
";

/// What [`IGNORE_SHARED`] lets into git, besides the ignore file itself.
pub fn shared_records() -> Vec<&'static str> {
    let kept = IGNORE_SHARED.lines().filter_map(|line| line.strip_prefix("!/"));
    kept.filter(|name| *name != GITIGNORE).collect()
}
