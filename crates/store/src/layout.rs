//! The names of all files below a root. No other file spells these names.

use model::gate;
use model::id::Id;

/// The store itself, relative to the root.
pub const STORE: &str = ".agent/context";

pub const MARKER: &str = "root.json";
pub const CONFIG: &str = "config.toml";
pub const GITIGNORE: &str = ".gitignore";
pub const SESSIONS: &str = "indexes/sessions.jsonl";
pub const RECEIPTS: &str = "indexes/receipts.jsonl";
pub const JOURNALS: &str = "sessions";
/// Receipts in the state folder of this machine, for events without a usable root.
pub const STATE_RECEIPTS: &str = "receipts.jsonl";
/// Where `thru install` wrote, in the same folder.
pub const STATE_INSTALLS: &str = "installs.jsonl";

/// Anything in it may be deleted at any time.
pub const SCRATCH: &str = "scratch";

/// The folders that `init` creates, so that a newcomer sees what goes where.
pub const FOLDERS: &[&str] = &["indexes", "loops", "packets", "scratch", "sessions", "state"];

/// Held while `root.json` is changed.
pub const MARKER_LOCK: &str = "state/locks/root.lock";

/// The lock held while a session is folded.
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

/// Returns the path for a name that was found in the folder.
pub(crate) fn packet_named(name: &str) -> String {
    format!("{PACKETS}/{name}.md")
}

/// Which packet each session has claimed.
pub const CLAIMS: &str = "state/claims";
/// Crashed sessions that were dealt with, each with the packet that was written for it.
pub const SWEPT: &str = "state/swept";
/// Held while crashed sessions are dealt with.
pub const SWEEP_LOCK: &str = "state/locks/sweep.lock";
pub const DECISIONS: &str = "decisions.jsonl";
/// Decisions, patterns and activity as people read them.
pub const CONTEXT_VIEW: &str = "context.md";
/// Held while that is written.
pub const CONTEXT_LOCK: &str = "state/locks/context.lock";
/// Held by a command that reads the decisions and then adds one.
pub const DECISIONS_LOCK: &str = "state/locks/decisions.lock";
/// Which answers of a session are among the decisions.
pub const ANSWERS_SEEN: &str = "state/answers-seen";

/// The plan, its readable view, and its ledger of changes.
pub const PLAN: &str = "plan.json";
pub const PLAN_VIEW: &str = "plan.md";
pub const PLAN_LEDGER: &str = "plan-ledger.jsonl";
/// What is kept of finished phases.
pub const PHASES: &str = "phases";
/// Held while the plan is changed.
pub const PLAN_LOCK: &str = "state/locks/plan.lock";
/// The state of a session's own todo list when the plan last followed it.
pub const PLAN_TODOS: &str = "state/plan-todos";

pub fn phase_record(phase: u32) -> String {
    format!("{PHASES}/{phase}.md")
}

/// Evidence that tasks are done: a folder for each.
pub const EVIDENCE: &str = "evidence";
/// Which test runs of a session are already evidence.
pub const EVIDENCE_SEEN: &str = "state/evidence";
/// In the folder of a task: entries that were moved out of the bundle.
pub const EVIDENCE_ARCHIVE: &str = "archive.jsonl";

pub fn evidence_folder(task: &Id) -> String {
    format!("{EVIDENCE}/{task}")
}

pub fn evidence_bundle(task: &Id) -> String {
    format!("{EVIDENCE}/{task}/bundle.json")
}

/// The files that entries with this tree are about.
pub fn evidence_listing(tree: &str) -> String {
    format!("{tree}.files")
}

/// Held while the evidence of a task is changed.
pub fn evidence_lock(task: &Id) -> String {
    format!("{LOCKS}/evidence-{task}.lock")
}

/// The originals of summarised outputs, a line for each summary, and what is known of originals that were removed.
pub const SUMMARIES: &str = "summaries";
pub const SUMMARIES_INDEX: &str = "summaries/index.jsonl";
pub const SUMMARIES_ARCHIVE: &str = "summaries/archive.jsonl";

/// The name of an original in its folder.
pub fn original(id: &str) -> String {
    format!("{id}.txt")
}

/// Every run of the benchmark.
pub const BENCHMARKS: &str = "benchmarks.json";
/// Held while a run is added.
pub const BENCHMARKS_LOCK: &str = "state/locks/benchmarks.lock";

/// Loops and their logs.
pub const LOOPS: &str = "loops";
/// Which loop is in the foreground of which session.
pub const ACTIVE_LOOP: &str = "indexes/active-loop.json";
/// Held while a loop or the foreground pointer is changed.
pub const LOOPS_LOCK: &str = "state/locks/loops.lock";

/// The lock held while a loop's validators run.
pub fn validators_lock(id: &Id) -> String {
    format!("{LOCKS}/validators-{id}.lock")
}

pub fn loop_log(id: &Id) -> String {
    format!("{LOOPS}/{id}.log.jsonl")
}
pub const WORKSTREAMS: &str = "workstreams";
/// Held while a manifest or its steps are changed.
pub const WORKSTREAMS_LOCK: &str = "state/locks/workstreams.lock";
/// Which workstream was active when a session was compacted, and the newest of them for all sessions.
pub const PRECOMPACT: &str = "state/precompact";
pub const PRECOMPACT_STATE: &str = "state/precompact_state.json";

pub fn precompact(session: &Id) -> String {
    format!("{PRECOMPACT}/{session}.json")
}
/// Which workstream a session was told to work on, by `thru resume use`.
pub const WORKSTREAM_USED: &str = "state/workstream-used";
/// Which unread files a session was reminded of.
pub const REMINDED: &str = "state/reminded";
/// Which boxes a session's own list has ticked.
pub const TICKED: &str = "state/ticked";

pub const RELEVANT_FILES: &str = "indexes/relevant-files.jsonl";
/// What agents did: a line for each tool call, folded from the journals at checkpoints.
pub const ACTIVITY: &str = "indexes/activity.jsonl";

/// The digest of each session, so that its start need not read the whole journal.
pub const DIGESTS: &str = "state/digest";
/// How far each session's transcript has been read.
pub const CURSORS: &str = "state/cursors";
/// How many records could not be written, and when. Created in advance, because a full disk takes no new file.
pub const LOST: &str = "state/lost.json";
/// Which facts a session's context contains since its last compaction.
pub const CONTEXT_HELD: &str = "state/told";
/// How full each session's context window was when it was told.
pub const WINDOWS: &str = "state/window";
/// Which edits of other sessions each session was told of.
pub const CLASHES_TOLD: &str = "state/clashes-told";
/// Sessions between a compaction and their brief.
pub const PENDING: &str = "state/pending";
pub const LOCKS: &str = "state/locks";
/// Which role each session has.
pub const ROLES: &str = "state/roles";
/// The lifecycle state of each role.
pub const LIFECYCLES: &str = "state/lifecycle";

/// The lock held while a role changes state.
pub fn lifecycle_lock(machine: &str) -> String {
    format!("{LOCKS}/lifecycle-{machine}.lock")
}

/// The runs of stages, one folder each.
pub const OUTPUTS: &str = "outputs";
/// The files in a run's folder: what is expected there, and what the stage went on without.
pub const EXPECTED: &str = gate::EXPECTED;
pub const OMISSIONS: &str = gate::OMISSIONS;
/// Which run is the live one.
pub const LIVE: &str = "state/live.json";

/// Files next to an output: the last message of an agent that did not write it, and what a launched command received
/// and printed.
pub fn last_message(output: &str) -> String {
    format!("{output}{}", gate::LAST_MESSAGE)
}

pub fn launch_prompt(output: &str) -> String {
    format!("{output}{}", gate::LAUNCH_PROMPT)
}

pub fn launch_log(output: &str) -> String {
    format!("{output}{}", gate::LAUNCH_LOG)
}

/// The process that is working on an output.
pub fn launch_process(output: &str) -> String {
    format!("{output}{}", gate::LAUNCH_PROCESS)
}

/// The expectation list of a stage while another stage of the same folder is the current one.
pub fn expected_of(stage: &str) -> String {
    format!("expected.{stage}.json")
}

/// What such a stage went on without.
pub fn stage_omissions_file(stage: &str) -> String {
    format!("omissions.{stage}.md")
}

/// The lock held while outputs of a run are made.
pub fn outputs_lock(what: &str) -> String {
    format!("{LOCKS}/outputs-{what}.lock")
}

pub fn journal(session: &Id) -> String {
    format!("{JOURNALS}/{session}.jsonl")
}

/// The first journal part, which readers read before [`journal`] itself.
pub fn first_journal_part(session: &Id) -> String {
    format!("{JOURNALS}/{session}~0001.jsonl")
}

/// Keeps everything out of git.
pub const IGNORE_ALL: &str =
    "# Written by `thru init`: nothing in here goes into git. `thru init --shared` changes that.\n*\n";

/// Lets what a team shares into git and keeps the rest out.
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
