//! The commands that the torture tests run. To add a command, add a line to `ROWS`.

use std::path::Path;

use anyhow::Result;

use super::integrity::AllowedRemoval;
pub use super::journals::{read_journals, tool_call_ids};
use super::prepare::{
    LOOP_PROMPT, SESSION_START_HOOK_ARGV, STOP_HOOK_ARGV, TOOL_DONE_HOOK_ARGV, always_counts_as_done,
    compact_payload, droid_stop_payload, empty_stdin, end_payload, failure_payload, has_loop_continued,
    is_droid_transcript_in_journal, is_loop_active, is_loop_cancelled, is_loop_claimed, is_loop_done,
    is_loop_paused, is_root_marked, is_root_trusted, is_root_untrusted, is_transcript_in_journal,
    prepare_clone, prepare_compaction, prepare_droid_transcript, prepare_full_log, prepare_hooks,
    prepare_loop, prepare_nothing, prepare_promise, prepare_ralph_loop_file, prepare_records,
    prepare_repository, prepare_root, prepare_settings, prepare_transcript, prepare_waiting_loop,
    promise_payload, prompt_payload, restart_payload, session_start_payload, stop_payload, tool_payload,
};
use super::roles::{
    ROLE_PATH, has_lifecycle_begun, has_role_file, is_role_active, is_role_bound, is_role_compacting,
    is_role_file_fixed, is_role_recovering, is_role_saved, payload_reading_context_file,
    prepare_compacting_role, prepare_invalid_context_file, prepare_role,
};
use super::settings::{
    has_status_line, is_unwired, is_unwired_for_user, is_wired_for_user, is_wired_locally,
};
use super::{decisions, evidence, gates, packets, plans, summaries, swarm, workstreams};
use crate::sandbox::{SANDBOX_SESSION_ID, Sandbox};

#[derive(Debug, Clone, Copy)]
pub struct TortureRow {
    pub name: &'static str,
    /// Creates the initial state for the command.
    pub sandbox: fn(&Sandbox) -> Result<()>,
    pub argv: &'static [&'static str],
    pub stdin: fn(&Path) -> Vec<u8>,
    /// Returns whether the state is correct after the command reported success.
    pub is_done: fn(&Sandbox) -> bool,
    pub allowed_removal: AllowedRemoval,
    /// Whether hooks write in this sandbox after the command. In an untrusted project, they must not.
    pub hooks_after: HookWriteExpectation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookWriteExpectation {
    WriteRecords,
    WriteNothing,
}

impl TortureRow {
    pub fn is_hook(&self) -> bool {
        self.argv.first() == Some(&"hook")
    }
}

const fn command_row(
    name: &'static str,
    sandbox: fn(&Sandbox) -> Result<()>,
    argv: &'static [&'static str],
    is_done: fn(&Sandbox) -> bool,
) -> TortureRow {
    TortureRow {
        name,
        sandbox,
        argv,
        stdin: empty_stdin,
        is_done,
        allowed_removal: AllowedRemoval::Nothing,
        hooks_after: HookWriteExpectation::WriteRecords,
    }
}

const fn hook_row(
    name: &'static str,
    argv: &'static [&'static str],
    stdin: fn(&Path) -> Vec<u8>,
) -> TortureRow {
    TortureRow {
        name,
        sandbox: prepare_records,
        argv,
        stdin,
        is_done: always_counts_as_done,
        allowed_removal: AllowedRemoval::Nothing,
        hooks_after: HookWriteExpectation::WriteRecords,
    }
}

const fn hook_row_on(
    sandbox: fn(&Sandbox) -> Result<()>,
    name: &'static str,
    argv: &'static [&'static str],
    stdin: fn(&Path) -> Vec<u8>,
) -> TortureRow {
    TortureRow { sandbox, ..hook_row(name, argv, stdin) }
}

/// Returns a row for a command that changes a harness's settings.
const fn settings_row(
    name: &'static str,
    sandbox: fn(&Sandbox) -> Result<()>,
    argv: &'static [&'static str],
    done: fn(&Sandbox) -> bool,
) -> TortureRow {
    TortureRow { allowed_removal: AllowedRemoval::Settings, ..command_row(name, sandbox, argv, done) }
}

pub const ROWS: &[TortureRow] = &[
    command_row("init, empty folder", prepare_nothing, &["init"], is_root_marked),
    command_row("init, again", prepare_records, &["init"], is_root_marked),
    command_row("context init, empty folder", prepare_nothing, &["context", "init"], is_root_marked),
    command_row("trust", prepare_clone, &["trust"], is_root_trusted),
    TortureRow {
        allowed_removal: AllowedRemoval::Trust,
        hooks_after: HookWriteExpectation::WriteNothing,
        ..command_row("trust --revoke", prepare_records, &["trust", "--revoke"], is_root_untrusted)
    },
    hook_row("hook SessionStart", &["hook", "claude-code", "SessionStart"], session_start_payload),
    hook_row("hook UserPromptSubmit", &["hook", "claude-code", "UserPromptSubmit"], prompt_payload),
    hook_row("hook PostToolUse", TOOL_DONE_HOOK_ARGV, tool_payload),
    hook_row("hook PostToolUseFailure", &["hook", "claude-code", "PostToolUseFailure"], failure_payload),
    hook_row("hook PreCompact", &["hook", "claude-code", "PreCompact"], compact_payload),
    hook_row("hook Stop", &["hook", "claude-code", "Stop"], stop_payload),
    TortureRow {
        is_done: is_transcript_in_journal,
        ..hook_row_on(prepare_transcript, "hook Stop, transcript", STOP_HOOK_ARGV, stop_payload)
    },
    TortureRow {
        is_done: is_transcript_in_journal,
        ..hook_row_on(
            prepare_transcript,
            "hook PreCompact, transcript",
            &["hook", "claude-code", "PreCompact"],
            compact_payload,
        )
    },
    hook_row_on(
        prepare_compaction,
        "hook SessionStart(compact)",
        &["hook", "claude-code", "SessionStart"],
        restart_payload,
    ),
    TortureRow {
        is_done: is_droid_transcript_in_journal,
        ..hook_row_on(
            prepare_droid_transcript,
            "hook droid Stop",
            &["hook", "droid", "Stop"],
            droid_stop_payload,
        )
    },
    hook_row("hook SessionEnd", &["hook", "claude-code", "SessionEnd"], end_payload),
    TortureRow {
        is_done: has_loop_continued,
        ..hook_row_on(prepare_loop, "hook Stop, a loop continues", STOP_HOOK_ARGV, stop_payload)
    },
    TortureRow {
        is_done: is_loop_done,
        ..hook_row_on(prepare_promise, "hook Stop, a loop ends", STOP_HOOK_ARGV, promise_payload)
    },
    TortureRow {
        is_done: is_loop_claimed,
        ..hook_row_on(
            prepare_waiting_loop,
            "hook SessionStart, a loop waits",
            SESSION_START_HOOK_ARGV,
            session_start_payload,
        )
    },
    command_row("loop start", prepare_records, &["loop", "start", "--next", LOOP_PROMPT], is_loop_active),
    command_row("loop cancel", prepare_loop, &["loop", "cancel", "make-it-green"], is_loop_cancelled),
    command_row("loop pause", prepare_loop, &["loop", "pause", "make-it-green"], is_loop_paused),
    command_row("import ralph", prepare_ralph_loop_file, &["import", "ralph"], is_loop_paused),
    TortureRow {
        sandbox: prepare_root,
        ..hook_row(
            "hook SessionStart, first ever",
            &["hook", "claude-code", "SessionStart"],
            session_start_payload,
        )
    },
    TortureRow {
        sandbox: prepare_root,
        ..hook_row("hook PostToolUse, first ever", TOOL_DONE_HOOK_ARGV, tool_payload)
    },
    TortureRow {
        sandbox: prepare_full_log,
        ..hook_row("hook PostToolUse, the log is full", TOOL_DONE_HOOK_ARGV, tool_payload)
    },
    command_row("context new", prepare_records, &["context", "new", "tester"], has_role_file),
    TortureRow {
        allowed_removal: AllowedRemoval::ContextFileError,
        ..command_row(
            "context fix",
            prepare_invalid_context_file,
            &["context", "fix", ROLE_PATH],
            is_role_file_fixed,
        )
    },
    TortureRow {
        allowed_removal: AllowedRemoval::Role,
        ..command_row(
            "role unbind",
            prepare_role,
            &["role", "unbind", "--session", SANDBOX_SESSION_ID],
            |sandbox| !is_role_bound(sandbox),
        )
    },
    command_row(
        "role bind",
        prepare_role,
        &["role", "bind", "tester", "--session", SANDBOX_SESSION_ID],
        is_role_bound,
    ),
    command_row("lifecycle init", prepare_role, &["lifecycle", "init", "scribe"], has_lifecycle_begun),
    command_row("lifecycle save", prepare_role, &["lifecycle", "save", "tester"], is_role_saved),
    command_row("recover", prepare_compacting_role, &["recover", "tester"], is_role_active),
    TortureRow {
        is_done: is_role_compacting,
        ..hook_row_on(
            prepare_role,
            "hook PreCompact, role",
            &["hook", "claude-code", "PreCompact"],
            compact_payload,
        )
    },
    TortureRow {
        is_done: is_role_recovering,
        ..hook_row_on(
            prepare_compacting_role,
            "hook SessionStart(compact), role",
            &["hook", "claude-code", "SessionStart"],
            restart_payload,
        )
    },
    TortureRow {
        is_done: is_role_active,
        ..hook_row_on(
            prepare_compacting_role,
            "hook PostToolUse, role file",
            TOOL_DONE_HOOK_ARGV,
            payload_reading_context_file,
        )
    },
    settings_row(
        "install --local",
        prepare_settings,
        &["install", "claude-code", "--local"],
        is_wired_locally,
    ),
    settings_row(
        "install --local, no settings",
        prepare_repository,
        &["install", "claude-code", "--local"],
        is_wired_locally,
    ),
    settings_row(
        "install --user",
        prepare_settings,
        &["install", "claude-code", "--user"],
        is_wired_for_user,
    ),
    settings_row(
        "install --statusline",
        prepare_settings,
        &["install", "claude-code", "--statusline"],
        has_status_line,
    ),
    settings_row("swarm install", prepare_settings, swarm::SWARM_INSTALL_ARGV, swarm::are_agents_installed),
    settings_row(
        "swarm uninstall",
        swarm::prepare_installed_agents,
        swarm::SWARM_UNINSTALL_ARGV,
        swarm::are_agents_uninstalled,
    ),
    settings_row("uninstall", prepare_hooks, &["uninstall", "claude-code", "--local"], is_unwired),
    settings_row(
        "uninstall --user",
        prepare_hooks,
        &["uninstall", "claude-code", "--user"],
        is_unwired_for_user,
    ),
    settings_row("uninstall --all", prepare_hooks, &["uninstall", "--all"], |sandbox| {
        is_unwired(sandbox) && is_unwired_for_user(sandbox)
    }),
    command_row("handoff", prepare_records, &["handoff", "go on"], packets::is_packet_written),
    command_row(
        "packet activate",
        packets::prepare_packet,
        &["packet", "activate", "mine"],
        packets::is_packet_active,
    ),
    command_row(
        "packet confirm",
        packets::prepare_packet,
        &["packet", "confirm", "mine", "src/a.rs"],
        packets::is_file_confirmed,
    ),
    TortureRow {
        stdin: packets::section_text,
        ..command_row(
            "packet set",
            packets::prepare_packet,
            &["packet", "set", "mine", "--section", "Plan"],
            packets::is_section_set,
        )
    },
    // The command names the session, because a second claim is accepted only from the same session.
    command_row(
        "pickup --claim",
        packets::prepare_packet,
        &["pickup", "mine", "--claim", "--session", SANDBOX_SESSION_ID],
        packets::is_packet_active,
    ),
    command_row(
        "pickup --take-over",
        packets::prepare_claimed_packet,
        &["pickup", "mine", "--take-over", "--session", SANDBOX_SESSION_ID],
        packets::is_packet_taken_over,
    ),
    command_row("sweep", packets::prepare_dead_session, &["sweep"], always_counts_as_done),
    hook_row_on(
        packets::prepare_dead_session,
        "hook SessionStart, a dead session",
        &["hook", "claude-code", "SessionStart"],
        packets::other_session_start_payload,
    ),
    command_row("gate expect", gates::prepare_gate_files, gates::EXPECT_COMMAND, gates::is_output_expected),
    command_row(
        "gate run, one there, one not",
        gates::prepare_half_finished_run,
        &["gate", "run", "--again", "--jobs", "1"],
        gates::are_outputs_valid,
    ),
    command_row(
        "gate seal",
        gates::prepare_unsealed_output,
        &["gate", "seal", "review-a.md"],
        gates::is_output_sealed,
    ),
    command_row(
        "gate live --set",
        gates::prepare_half_finished_run,
        &["gate", "live", "--set", "src"],
        gates::is_src_set_live,
    ),
    TortureRow {
        is_done: gates::is_last_message_saved,
        ..hook_row_on(
            gates::prepare_half_finished_run,
            "hook SubagentStop, no output",
            &["hook", "claude-code", "SubagentStop"],
            gates::subagent_stop_payload,
        )
    },
    command_row(
        "resume new",
        workstreams::prepare_folder_without_manifest,
        &["resume", "new", "02-fresh"],
        workstreams::is_manifest_created,
    ),
    command_row(
        "resume migrate",
        workstreams::prepare_legacy_manifests,
        &["resume", "migrate"],
        workstreams::are_manifests_migrated,
    ),
    TortureRow {
        allowed_removal: AllowedRemoval::Manifest,
        ..command_row(
            "resume migrate --rollback",
            workstreams::prepare_migrated_manifests,
            &["resume", "migrate", "--rollback"],
            workstreams::are_manifests_rolled_back,
        )
    },
    command_row(
        "resume use",
        workstreams::prepare_workstream,
        &["resume", "use", "01", "--session", SANDBOX_SESSION_ID],
        workstreams::is_workstream_used,
    ),
    command_row(
        "resume update",
        workstreams::prepare_workstream,
        &["resume", "update", "--task-done"],
        workstreams::is_box_ticked,
    ),
    TortureRow {
        is_done: workstreams::is_workstream_detected,
        ..hook_row_on(
            workstreams::prepare_workstream,
            "hook PreCompact, workstream",
            &["hook", "claude-code", "PreCompact"],
            compact_payload,
        )
    },
    command_row(
        "plan init",
        prepare_records,
        &["plan", "init", "Parser", "--phase", "Read", "--replace"],
        plans::is_plan_begun,
    ),
    command_row(
        "plan import",
        plans::prepare_plan_file_to_import,
        &["plan", "import", "todo.md"],
        plans::is_plan_imported,
    ),
    command_row(
        "task done, the phase ends",
        plans::prepare_plan_with_one_open_task,
        &["task", "done", "1.2"],
        plans::is_phase_over,
    ),
    command_row(
        "evidence add",
        plans::prepare_plan,
        &["evidence", "add", "1.1", "--summary", "seen"],
        evidence::is_entry_added,
    ),
    command_row(
        "evidence run",
        plans::prepare_plan,
        &["evidence", "run", "1.1", "--", "true"],
        evidence::is_run_recorded,
    ),
    command_row(
        "evidence add, a full bundle",
        evidence::prepare_full_bundle,
        &["evidence", "add", "1.1", "--summary", "seen"],
        evidence::is_oldest_archived,
    ),
    command_row(
        "evidence archive",
        evidence::prepare_evidence_entries,
        &["evidence", "archive", "--keep", "1"],
        evidence::are_entries_archived,
    ),
    command_row(
        "import swarm, evidence",
        evidence::prepare_swarm_evidence,
        &["import", "swarm"],
        evidence::is_evidence_imported,
    ),
    TortureRow {
        is_done: evidence::is_observed_run_recorded,
        ..hook_row_on(
            evidence::prepare_test_run,
            "hook Stop, a test run is evidence",
            STOP_HOOK_ARGV,
            stop_payload,
        )
    },
    TortureRow {
        is_done: swarm::is_verdict_recorded,
        ..hook_row_on(
            plans::prepare_plan,
            "hook SubagentStop, a verdict",
            swarm::SUBAGENT_STOP_HOOK_ARGV,
            swarm::verdict_payload,
        )
    },
    command_row(
        "swarm plan --adopt",
        swarm::prepare_foreign_plan,
        &["swarm", "plan", "--adopt"],
        swarm::is_plan_adopted,
    ),
    command_row(
        "task start",
        plans::prepare_plan,
        &["task", "start", "1.1", "--session", SANDBOX_SESSION_ID],
        plans::is_task_started,
    ),
    command_row(
        "task add, plan.json edited by hand",
        plans::prepare_edited_plan,
        &["task", "add", "more"],
        plans::is_task_added,
    ),
    TortureRow {
        is_done: plans::are_todos_followed,
        ..hook_row_on(
            plans::prepare_changed_todos,
            "hook Stop, a todo moves its task",
            STOP_HOOK_ARGV,
            stop_payload,
        )
    },
    command_row(
        "decide",
        decisions::prepare_decisions,
        &["decide", "Use TOML", "--why", "edited"],
        decisions::is_decision_recorded,
    ),
    command_row(
        "import swarm, decisions",
        decisions::prepare_swarm_decisions,
        &["import", "swarm"],
        decisions::are_decisions_imported,
    ),
    TortureRow {
        is_done: decisions::is_answer_recorded,
        ..hook_row_on(
            decisions::prepare_decisions,
            "hook PostToolUse, an answer",
            TOOL_DONE_HOOK_ARGV,
            decisions::answer_payload,
        )
    },
    TortureRow {
        is_done: decisions::is_answer_recorded,
        ..hook_row_on(
            decisions::prepare_answered_question,
            "hook Stop after an answer",
            STOP_HOOK_ARGV,
            stop_payload,
        )
    },
    TortureRow {
        is_done: summaries::are_originals_whole,
        ..hook_row_on(
            summaries::prepare_summaries,
            "hook PostToolUse, a summary",
            TOOL_DONE_HOOK_ARGV,
            summaries::large_output_payload,
        )
    },
    command_row(
        "swarm benchmark",
        summaries::prepare_benchmark_runs,
        &["swarm", "benchmark"],
        summaries::has_third_benchmark_run,
    ),
    command_row(
        "import swarm, summaries",
        summaries::prepare_swarm_outputs,
        &["import", "swarm"],
        summaries::are_outputs_imported,
    ),
    command_row(
        "import agents",
        summaries::prepare_session_agents,
        &["import", "agents"],
        summaries::is_agent_imported,
    ),
    command_row("status --json", prepare_records, &["status", "--json"], is_root_marked),
    command_row("doctor", prepare_records, &["doctor"], is_root_marked),
    command_row("config", prepare_records, &["config"], is_root_marked),
];
