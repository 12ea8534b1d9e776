//! The names of all files below a root. No other module contains these names.

use model::gate;
use model::id::Id;

/// The store itself, relative to the root.
pub const STORE_FOLDER: &str = ".agent/context";

pub const MARKER_FILE: &str = "root.json";
pub const CONFIG_FILE: &str = "config.toml";
pub const GITIGNORE: &str = ".gitignore";
pub const SESSIONS_INDEX: &str = "indexes/sessions.jsonl";
pub const RECEIPTS_LOG: &str = "indexes/receipts.jsonl";
pub const JOURNALS_FOLDER: &str = "sessions";
/// Receipts in the state folder of this machine, for events without a usable root.
pub const STATE_RECEIPTS: &str = "receipts.jsonl";
/// The list of checkouts in which `thru install` was run, in the state folder of this machine.
pub const STATE_INSTALLS: &str = "installs.jsonl";

/// A folder whose content may be deleted at any time.
pub const SCRATCH: &str = "scratch";

/// The folders that `init` creates, so that a new user sees where records are kept.
pub const INITIAL_FOLDERS: &[&str] = &["indexes", "loops", "packets", "scratch", "sessions", "state"];

/// The lock held while `root.json` is changed.
pub const MARKER_LOCK: &str = "state/locks/root.lock";

/// The lock held while a session's journal is folded into its digest.
pub fn session_lock_path(session: &Id) -> String {
    format!("{LOCKS}/session-{session}.lock")
}

pub const PACKETS: &str = "packets";
pub const PACKETS_INDEX: &str = "indexes/packets.tsv";
/// The lock held while a packet is changed.
pub const PACKETS_LOCK: &str = "state/locks/packets.lock";

pub fn packet_path(id: &Id) -> String {
    packet_path_by_name(id.as_str())
}

/// Returns the path of a packet whose name was found in the folder.
pub(crate) fn packet_path_by_name(name: &str) -> String {
    format!("{PACKETS}/{name}.md")
}

/// The folder that records which packet each session has claimed.
pub const CLAIMS_FOLDER: &str = "state/claims";
/// The folder with a file for each crashed session that was handled. The file names the packet that was written for the
/// session.
pub const SWEPT_FOLDER: &str = "state/swept";
/// The lock held while crashed sessions are handled.
pub const SWEEP_LOCK: &str = "state/locks/sweep.lock";
pub const DECISIONS: &str = "decisions.jsonl";
/// Decisions, patterns and activity, for people to read.
pub const CONTEXT_VIEW: &str = "context.md";
/// The lock held while `context.md` is written.
pub const CONTEXT_LOCK: &str = "state/locks/context.lock";
/// The lock that a command holds while it reads the decisions and adds a decision.
pub const DECISIONS_LOCK: &str = "state/locks/decisions.lock";
/// The folder that records which answers of a session have been compared with the decisions.
pub const ANSWERS_SEEN_FOLDER: &str = "state/answers-seen";

pub const PLAN: &str = "plan.json";
/// The plan, for people to read.
pub const PLAN_VIEW: &str = "plan.md";
/// The log of changes to the plan.
pub const PLAN_LEDGER: &str = "plan-ledger.jsonl";
/// The folder with the records of finished phases.
pub const PHASES: &str = "phases";
/// The lock held while the plan is changed.
pub const PLAN_LOCK: &str = "state/locks/plan.lock";
/// The folder with the state of each session's todo list when the plan was last updated from it.
pub const PLAN_TODOS_FOLDER: &str = "state/plan-todos";

pub fn phase_record_path(phase: u32) -> String {
    format!("{PHASES}/{phase}.md")
}

/// Evidence that tasks are done, in a folder for each task.
pub const EVIDENCE: &str = "evidence";
/// The folder that records which test runs of a session have become evidence.
pub const EVIDENCE_SEEN_FOLDER: &str = "state/evidence";
/// In the folder of a task: entries that were moved out of the bundle.
pub const EVIDENCE_ARCHIVE: &str = "archive.jsonl";

pub fn evidence_folder_path(task: &Id) -> String {
    format!("{EVIDENCE}/{task}")
}

pub fn evidence_bundle_path(task: &Id) -> String {
    format!("{EVIDENCE}/{task}/bundle.json")
}

/// Returns the name of the file that lists the files with this tree hash.
pub fn evidence_listing_file(tree: &str) -> String {
    format!("{tree}.files")
}

/// The lock held while the evidence of a task is changed.
pub fn evidence_lock_path(task: &Id) -> String {
    format!("{LOCKS}/evidence-{task}.lock")
}

/// The folder with the originals of summarised outputs.
pub const SUMMARIES: &str = "summaries";
/// The log of summaries, with one line for each summary.
pub const SUMMARIES_INDEX: &str = "summaries/index.jsonl";
/// The log of removed originals.
pub const SUMMARIES_ARCHIVE: &str = "summaries/archive.jsonl";
/// The lock held while an original is stored, and while old originals are removed.
pub const SUMMARIES_LOCK: &str = "state/locks/summaries.lock";

pub fn original_file_name(id: &str) -> String {
    format!("{id}.txt")
}

/// Every run of the benchmark.
pub const BENCHMARKS: &str = "benchmarks.json";
/// The lock held while a run of the benchmark is added.
pub const BENCHMARKS_LOCK: &str = "state/locks/benchmarks.lock";

/// The folder of loops and their logs.
pub const LOOPS: &str = "loops";
/// Which loop is in the foreground of each session.
pub const ACTIVE_LOOP: &str = "indexes/active-loop.json";
/// The lock held while a loop or the foreground pointer is changed.
pub const LOOPS_LOCK: &str = "state/locks/loops.lock";

/// The lock held while a loop's validators run.
pub fn validators_lock_path(id: &Id) -> String {
    format!("{LOCKS}/validators-{id}.lock")
}

pub fn loop_log_path(id: &Id) -> String {
    format!("{LOOPS}/{id}.log.jsonl")
}
pub const WORKSTREAMS: &str = "workstreams";
/// The lock held while a manifest or its steps are changed.
pub const WORKSTREAMS_LOCK: &str = "state/locks/workstreams.lock";
/// The folder that records which workstream was active when a session was compacted.
pub const PRECOMPACT_FOLDER: &str = "state/precompact";
/// The newest record of `state/precompact`, for any session.
pub const PRECOMPACT_STATE_FILE: &str = "state/precompact_state.json";

pub fn precompact_path(session: &Id) -> String {
    format!("{PRECOMPACT_FOLDER}/{session}.json")
}
/// The folder that records which workstream `thru resume use` selected for a session.
pub const WORKSTREAM_USED_FOLDER: &str = "state/workstream-used";
/// The folder that records which files a session was reminded to read.
pub const REMINDERS_FOLDER: &str = "state/reminded";
/// The folder that records which boxes were ticked because of a session's todo list.
pub const TICKED_FOLDER: &str = "state/ticked";

pub const RELEVANT_FILES_INDEX: &str = "indexes/relevant-files.jsonl";
/// The log of tool calls of all sessions. Checkpoints copy the calls from the journals.
pub const ACTIVITY_LOG: &str = "indexes/activity.jsonl";

/// The folder with the digest of each session, so that a session start need not read the whole journal.
pub const DIGESTS_FOLDER: &str = "state/digest";
/// The folder that records how far each session's transcript has been read.
pub const CURSORS_FOLDER: &str = "state/cursors";
/// The number of records that could not be written, and when. The file is created in advance, because a full disk
/// accepts no new file.
pub const LOST_RECORDS_FILE: &str = "state/reserved.json";
/// The former name of [`LOST_RECORDS_FILE`], in the same folder. A session start renames the file.
pub const FORMER_LOST_RECORDS_NAME: &str = "lost.json";
/// The folder that records the facts in each session's context since its last compaction.
pub const CONTEXT_HELD_FOLDER: &str = "state/told";
/// The folder with the last brief that was sent to each session on each occasion.
pub const SENT_BRIEFS_FOLDER: &str = "state/sent";
/// The folder that records how full each session's context window was when the agent was last warned.
pub const WINDOWS_FOLDER: &str = "state/window";
/// The folder that records which clashes each session was warned about.
pub const CLASHES_TOLD_FOLDER: &str = "state/clashes-told";
/// The folder that records which sessions were compacted and have not received their brief yet.
pub const PENDING_FOLDER: &str = "state/pending";
pub const LOCKS: &str = "state/locks";
/// The folder with the role of each session.
pub const ROLES_FOLDER: &str = "state/roles";
/// The folder with the lifecycle state of each role.
pub const LIFECYCLES_FOLDER: &str = "state/lifecycle";

/// The lock held while a role changes state.
pub fn lifecycle_lock_path(machine: &str) -> String {
    format!("{LOCKS}/lifecycle-{machine}.lock")
}

/// The folder with the runs of stages, one folder for each run.
pub const OUTPUTS: &str = "outputs";
/// The file in a run's folder that lists the expected outputs.
pub const EXPECTED_FILE: &str = gate::EXPECTED_FILE;
/// The file in a run's folder that lists the outputs that the stage continued without.
pub const OMISSIONS_FILE: &str = gate::OMISSIONS_FILE;
/// The folder that records which run each session works on.
pub const WORKED_RUN_FOLDER: &str = "state/gate-run";
/// The file that names the live run.
pub const LIVE_RUN_FILE: &str = "state/live.json";

/// Returns the file next to an output that contains the last message of an agent that did not write the output.
pub fn last_message_file(output: &str) -> String {
    format!("{output}{}", gate::LAST_MESSAGE_SUFFIX)
}

/// Returns the file next to an output that contains the input of a launched command.
pub fn launch_prompt_file(output: &str) -> String {
    format!("{output}{}", gate::LAUNCH_PROMPT_SUFFIX)
}

/// Returns the file next to an output that contains the output of a launched command.
pub fn launch_log_file(output: &str) -> String {
    format!("{output}{}", gate::LAUNCH_LOG_SUFFIX)
}

/// Returns the file that records which process is working on an output.
pub fn launch_process_file(output: &str) -> String {
    format!("{output}{}", gate::LAUNCH_PROCESS_SUFFIX)
}

/// Returns the name of the list of expected outputs of a stage that is not the folder's current stage.
pub fn expected_file_of_stage(stage: &str) -> String {
    format!("expected.{stage}.json")
}

/// Returns the name of the list of omitted outputs of a stage that is not the folder's current stage.
pub fn stage_omissions_file(stage: &str) -> String {
    format!("omissions.{stage}.md")
}

/// Returns the lock that is held while outputs of a run are produced.
pub fn outputs_lock_path(what: &str) -> String {
    format!("{LOCKS}/outputs-{what}.lock")
}

pub fn journal_path(session: &Id) -> String {
    format!("{JOURNALS_FOLDER}/{session}.jsonl")
}

/// Returns the first part of a journal, which is read before [`journal_path`] itself.
pub fn first_journal_part_path(session: &Id) -> String {
    format!("{JOURNALS_FOLDER}/{session}~0001.jsonl")
}

/// The ignore file that keeps all records out of git.
pub const GITIGNORE_ALL: &str =
    "# Written by `thru init`: nothing in here goes into git. `thru init --shared` changes that.\n*\n";

/// The ignore file that lets git track only the records that a team shares.
pub const GITIGNORE_SHARED: &str = "\
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

/// Returns the names of the records that [`GITIGNORE_SHARED`] lets git track.
pub fn shared_records() -> Vec<&'static str> {
    let kept = GITIGNORE_SHARED.lines().filter_map(|line| line.strip_prefix("!/"));
    kept.filter(|name| *name != GITIGNORE).collect()
}
