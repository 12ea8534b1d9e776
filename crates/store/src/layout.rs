//! The names of all files below a root. They are defined only in this module.

use model::gate;
use model::id::Id;

/// The path of the store, relative to the root.
pub const STORE_FOLDER: &str = model::checkout_path::STORE_FOLDER;

pub const MARKER_FILE: &str = "root.json";
pub const PROJECT_SETTINGS_FILE: &str = "config.toml";
pub const GITIGNORE_FILE: &str = ".gitignore";
pub const SESSIONS_INDEX: &str = "indexes/sessions.jsonl";
pub const RECEIPTS_LOG: &str = "indexes/receipts.jsonl";
pub const JOURNALS_FOLDER: &str = "sessions";
/// The receipts in this machine's state folder, for events without a usable root.
pub const STATE_FOLDER_RECEIPTS_FILE: &str = "receipts.jsonl";
/// The list of checkouts in which `thru install` was run, in this machine's state folder.
pub const STATE_FOLDER_INSTALLS_FILE: &str = "installs.jsonl";

/// A folder whose content can be deleted at any time.
pub const SCRATCH_FOLDER: &str = "scratch";

/// The folders that `thru init` creates, so that a new user sees where records are kept.
pub const INITIAL_FOLDERS: &[&str] = &["indexes", "loops", "packets", "scratch", "sessions", "state"];

/// The lock that is held while `root.json` is changed.
pub const MARKER_LOCK: &str = "state/locks/root.lock";

/// Returns the path of the lock that is held while a session's digest is updated from its journal.
pub fn session_lock_path(session: &Id) -> String {
    format!("{LOCKS_FOLDER}/session-{session}.lock")
}

pub const PACKETS_FOLDER: &str = "packets";
pub const PACKETS_INDEX: &str = "indexes/packets.tsv";
/// The lock that is held while a packet is changed.
pub const PACKETS_LOCK: &str = "state/locks/packets.lock";

pub fn packet_path(id: &Id) -> String {
    packet_path_by_name(id.as_str())
}

/// Returns the path of a packet whose name was found in the folder.
pub(crate) fn packet_path_by_name(name: &str) -> String {
    format!("{PACKETS_FOLDER}/{name}.md")
}

/// The folder that records which packet each session has claimed.
pub const CLAIMED_PACKETS_FOLDER: &str = "state/claims";
/// The folder with a file for each session that crashed or handed over its work. The file contains the name of the
/// session's packet.
pub const PACKETS_OF_ENDED_SESSIONS_FOLDER: &str = "state/swept";
/// The lock that is held while packets for crashed sessions are written.
pub const SWEEP_LOCK: &str = "state/locks/sweep.lock";
pub const DECISIONS_LOG: &str = "decisions.jsonl";
/// The decisions, patterns and recent activity, for people to read.
pub const CONTEXT_VIEW_FILE: &str = "context.md";
/// The lock that is held while `context.md` is written.
pub const CONTEXT_VIEW_LOCK: &str = "state/locks/context.lock";
/// The lock that a command holds while it reads the decisions and adds one.
pub const DECISIONS_LOCK: &str = "state/locks/decisions.lock";
/// The folder that records which of a session's answers have been compared with the decisions.
pub const ANSWERS_SEEN_FOLDER: &str = "state/answers-seen";

pub const PLAN_FILE: &str = "plan.json";
/// The plan, for people to read.
pub const PLAN_VIEW_FILE: &str = "plan.md";
/// The log of changes to the plan.
pub const PLAN_LEDGER: &str = "plan-ledger.jsonl";
/// The folder with the records of finished phases.
pub const PHASE_RECORDS_FOLDER: &str = "phases";
/// The lock that is held while the plan is changed.
pub const PLAN_LOCK: &str = "state/locks/plan.lock";
/// The folder that records the last known state of each session's task list. Only later changes to the list are
/// applied to the plan.
pub const PLAN_TODOS_FOLDER: &str = "state/plan-todos";

pub fn phase_record_path(phase: u32) -> String {
    format!("{PHASE_RECORDS_FOLDER}/{phase}.md")
}

/// The folder with the evidence that tasks are done. Each task has its own subfolder.
pub const EVIDENCE_FOLDER: &str = "evidence";
/// The folder that records which of a session's test runs have been recorded as evidence.
pub const RUNS_RECORDED_AS_EVIDENCE_FOLDER: &str = "state/evidence";
/// The file in a task's folder with the entries that were moved out of the bundle.
pub const EVIDENCE_ARCHIVE_FILE: &str = "archive.jsonl";

pub fn evidence_folder_path(task: &Id) -> String {
    format!("{EVIDENCE_FOLDER}/{task}")
}

pub fn evidence_bundle_path(task: &Id) -> String {
    format!("{EVIDENCE_FOLDER}/{task}/bundle.json")
}

/// Returns the name of the file listing with this tree hash.
pub fn evidence_listing_file(tree: &str) -> String {
    format!("{tree}.files")
}

/// Returns the path of the lock that is held while a task's evidence is changed.
pub fn evidence_lock_path(task: &Id) -> String {
    format!("{LOCKS_FOLDER}/evidence-{task}.lock")
}

/// The folder with the originals of summarised outputs.
pub const SUMMARIES_FOLDER: &str = "summaries";
/// The log of summaries, with one line for each summary.
pub const SUMMARIES_INDEX: &str = "summaries/index.jsonl";
/// The log of removed originals.
pub const SUMMARIES_ARCHIVE: &str = "summaries/archive.jsonl";
/// The lock that is held while the original of a summarised output is stored, and while old originals are removed.
pub const SUMMARIES_LOCK: &str = "state/locks/summaries.lock";

pub fn original_file_name(id: &str) -> String {
    format!("{id}.txt")
}

/// The file with all benchmark runs.
pub const BENCHMARKS_FILE: &str = "benchmarks.json";
/// The lock that is held while a benchmark run is added.
pub const BENCHMARKS_LOCK: &str = "state/locks/benchmarks.lock";

/// The folder with the loops and their logs.
pub const LOOPS_FOLDER: &str = "loops";
/// The file that records which loop is in the foreground of each session.
pub const FOREGROUND_LOOPS_FILE: &str = "indexes/active-loop.json";
/// The lock that is held while a loop or the foreground pointer is changed.
pub const LOOPS_LOCK: &str = "state/locks/loops.lock";

/// Returns the path of the lock that is held while a loop's validators run.
pub fn validators_lock_path(id: &Id) -> String {
    format!("{LOCKS_FOLDER}/validators-{id}.lock")
}

pub fn loop_log_path(id: &Id) -> String {
    format!("{LOOPS_FOLDER}/{id}.log.jsonl")
}
pub const WORKSTREAMS_FOLDER: &str = "workstreams";
/// The lock that is held while a manifest or its steps file is changed.
pub const WORKSTREAMS_LOCK: &str = "state/locks/workstreams.lock";
/// The folder that records which workstream was active when a session was compacted.
pub const WORKSTREAM_AT_COMPACTION_FOLDER: &str = "state/precompact";
/// A copy of the newest file in [`WORKSTREAM_AT_COMPACTION_FOLDER`], whichever session it belongs to.
pub const PRECOMPACT_STATE_FILE: &str = "state/precompact_state.json";

pub fn workstream_at_compaction_path(session: &Id) -> String {
    format!("{WORKSTREAM_AT_COMPACTION_FOLDER}/{session}.json")
}
/// The folder that records which workstream was chosen for a session with `thru resume use`.
pub const CHOSEN_WORKSTREAM_FOLDER: &str = "state/workstream-used";
/// The folder that records which files a session was reminded to read.
pub const REMINDERS_FOLDER: &str = "state/reminded";
/// The folder that records which checkboxes were ticked because of a session's task list.
pub const TICKED_BOXES_FOLDER: &str = "state/ticked";

pub const RELEVANT_FILES_INDEX: &str = "indexes/relevant-files.jsonl";
/// The log of all sessions' tool calls, which checkpoints copy from the journals.
pub const ACTIVITY_LOG: &str = "indexes/activity.jsonl";

/// The log of the user's rules for the whole project. It grows only when the user states or lifts such a rule.
pub const PROJECT_RULES_LOG: &str = "state/rules.jsonl";

/// The folder with each session's digest, so that a session start need not read the whole journal.
pub const DIGESTS_FOLDER: &str = "state/digest";
/// The folder that records how far each session's transcript has been read.
pub const CURSORS_FOLDER: &str = "state/cursors";
/// The file that records how many records could not be written, and when. It is created in advance, because a full
/// disk accepts no new file.
pub const LOST_RECORDS_FILE: &str = "state/reserved.json";
/// The former name of [`LOST_RECORDS_FILE`] in the same folder. The file is renamed when a session starts.
pub const FORMER_LOST_RECORDS_NAME: &str = "lost.json";
/// The folder that records which facts each session has received since its last compaction.
pub const CONTEXT_HELD_FOLDER: &str = "state/told";
/// The folder with the last brief that each session got on each occasion.
pub const SENT_BRIEFS_FOLDER: &str = "state/sent";
/// The folder that records which warnings about its context window each session has received.
pub const WINDOW_WARNINGS_FOLDER: &str = "state/window";
/// The folder that records the content of each session's files when the session ended, as hashes.
pub const FILES_AT_END_FOLDER: &str = "state/files-at-end";
/// The folder that records which clashes each session has been warned about.
pub const CLASHES_TOLD_FOLDER: &str = "state/clashes-told";
/// The folder that records which sessions are about to be compacted, or have been compacted and still need a brief.
pub const PENDING_SESSIONS_FOLDER: &str = "state/pending";
pub const LOCKS_FOLDER: &str = "state/locks";
/// The folder with the role of each session.
pub const ROLES_FOLDER: &str = "state/roles";
/// The folder with the lifecycle state of each role.
pub const LIFECYCLES_FOLDER: &str = "state/lifecycle";

/// Returns the path of the lock that is held while a role's state is changed.
pub fn lifecycle_lock_path(machine: &str) -> String {
    format!("{LOCKS_FOLDER}/lifecycle-{machine}.lock")
}

/// The folder with the runs of stages. Each run has its own subfolder.
pub const OUTPUTS_FOLDER: &str = "outputs";
/// The file in a run that lists the expected outputs.
pub const EXPECTED_FILE: &str = gate::EXPECTED_FILE;
/// The file in a run that lists the omitted outputs. The stage continued without these outputs.
pub const OMITTED_OUTPUTS_FILE: &str = gate::OMITTED_OUTPUTS_FILE;
/// The folder that records which run each session works on.
pub const RUN_WORKED_ON_BY_SESSION_FOLDER: &str = "state/gate-run";
/// The file that names the live run.
pub const LIVE_RUN_FILE: &str = "state/live.json";

/// Returns the name of the file with the last message of a sub-agent that did not write its output. The file is next
/// to the missing output.
pub fn last_message_file_name(output: &str) -> String {
    format!("{output}{}", gate::LAST_MESSAGE_SUFFIX)
}

/// Returns the name of the file with the prompt for a launched command. The file is next to the command's output.
pub fn launch_prompt_file_name(output: &str) -> String {
    format!("{output}{}", gate::LAUNCH_PROMPT_SUFFIX)
}

/// Returns the name of the file with everything that a launched command printed. The file is next to the command's
/// output.
pub fn launch_log_file_name(output: &str) -> String {
    format!("{output}{}", gate::LAUNCH_LOG_SUFFIX)
}

/// Returns the name of the file that records which process is working on an output. The file is next to the output.
pub fn launch_process_file(output: &str) -> String {
    format!("{output}{}", gate::LAUNCH_PROCESS_SUFFIX)
}

/// Returns the name of the list of expected outputs for a stage that is not the folder's current stage.
pub fn expected_file_of_stage(stage: &str) -> String {
    format!("expected.{stage}.json")
}

/// Returns the name of the list of omitted outputs for a stage that is not the folder's current stage.
pub fn stage_omissions_file(stage: &str) -> String {
    format!("omissions.{stage}.md")
}

/// Returns the path of the lock that is held while a run's outputs are produced.
pub fn outputs_lock_path(what: &str) -> String {
    format!("{LOCKS_FOLDER}/outputs-{what}.lock")
}

pub fn journal_path(session: &Id) -> String {
    format!("{JOURNALS_FOLDER}/{session}.jsonl")
}

/// Returns the path of a journal's first rotated part, which is read before [`journal_path`] itself.
pub fn first_journal_part_path(session: &Id) -> String {
    format!("{JOURNALS_FOLDER}/{session}~0001.jsonl")
}

/// The `.gitignore` that keeps all records out of git.
pub const GITIGNORE_TEXT_IGNORING_ALL: &str =
    "# Written by `thru init`: nothing in here goes into git. `thru init --shared` changes that.\n*\n";

/// The `.gitignore` that lets git track only the records that a team shares.
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
    kept.filter(|name| *name != GITIGNORE_FILE).collect()
}
