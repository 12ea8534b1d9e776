//! Every event of every harness, in the order of a session. The payloads make each hook do real work.

use std::path::Path;

use anyhow::{Result, ensure};
use harness::HARNESSES;
use serde_json::{Value, json};

use super::files::{PROMISE_TEXT, ROLE_NAME};
use crate::sandbox::SANDBOX_SESSION_ID;

#[derive(Debug, Clone)]
pub struct HookSpec {
    pub harness: &'static str,
    pub event: &'static str,
    pub deadline_ms: u64,
    extra_fields: Value,
}

impl HookSpec {
    pub fn argv(&self) -> [&'static str; 3] {
        ["hook", self.harness, self.event]
    }

    /// Returns whether this hook would claim, continue or end a loop.
    pub fn affects_loops(&self) -> bool {
        let starts = self.event == "SessionStart" && self.extra_fields["source"] == "startup";
        self.harness == HARNESSES[0].name && (starts || self.event == "Stop")
    }

    pub fn payload(&self, home: &Path, cwd: &Path) -> Vec<u8> {
        let mut value = json!({
            "session_id": SANDBOX_SESSION_ID,
            "transcript_path": home.join(".claude/projects/p/s.jsonl"),
            "cwd": cwd,
            "permission_mode": "default",
            "hook_event_name": self.event,
        });
        if let (Some(base), Some(more)) = (value.as_object_mut(), self.extra_fields.as_object()) {
            base.extend(more.clone());
        }
        value.to_string().into_bytes()
    }
}

/// Returns the hooks in the order of a session: start, work, compaction, sub-agent, stop, end, resume.
pub fn all_hooks() -> Result<Vec<HookSpec>> {
    let mut hooks = Vec::new();
    for harness in HARNESSES {
        let mut order: Vec<(usize, HookSpec)> = Vec::new();
        for wired in harness.events {
            let calls = payloads_of_event(wired.harness_event);
            // Every event of a harness must have payloads in `payloads_of_event`.
            ensure!(
                !calls.is_empty(),
                "the hostile stores have no payload for {} {}",
                harness.name,
                wired.harness_event
            );
            let deadline_ms =
                if ["tool-done", "before-compact"].contains(&wired.our_event.name()) { 50 } else { 200 };
            order.extend(calls.into_iter().map(|(at, more)| {
                (
                    at,
                    HookSpec {
                        harness: harness.name,
                        event: wired.harness_event,
                        deadline_ms,
                        extra_fields: more,
                    },
                )
            }));
        }
        order.sort_by_key(|(at, _)| *at);
        hooks.extend(order.into_iter().map(|(_, hook)| hook));
    }
    Ok(hooks)
}

/// Returns the payloads of an event, each with its position in a session.
fn payloads_of_event(event: &str) -> Vec<(usize, Value)> {
    let role_file = format!(".agent/context/agents/{ROLE_NAME}.context.md");
    let said = format!("All is done. <promise>{PROMISE_TEXT}</promise>");
    let read = json!({"tool_name": "Read", "tool_use_id": "toolu_role", "tool_input": {"file_path": role_file},
        "tool_response": {"type": "text"}});
    let bash = json!({"tool_name": "Bash", "tool_use_id": "toolu_bash", "tool_input": {"command": "cargo test"},
        "tool_response": {"stdout": "ok\n", "stderr": ""}});
    let agent = json!({"agent_id": "a1", "agent_type": "security", "last_assistant_message": said,
        "prompt": "Write .agent/context/outputs/review-20260101T000000Z/review-security.md"});
    let summary = json!({"agent_id": "a2", "agent_type": "", "last_assistant_message": "A summary."});
    match event {
        "SessionStart" => vec![
            (0, json!({"source": "startup"})),
            (50, json!({"source": "compact"})),
            (110, json!({"source": "resume"})),
            (120, json!({"source": "clear"})),
        ],
        "UserPromptSubmit" => vec![(10, json!({"prompt": "Fix the failing test, please."}))],
        "PostToolUse" => vec![(20, bash), (21, read)],
        "PostToolUseFailure" => vec![(
            22,
            json!({"tool_name": "Bash", "tool_use_id": "toolu_failed", "tool_input": {"command": "false"},
                "error": "Exit code 1", "is_interrupt": false}),
        )],
        "PreCompact" => vec![(30, json!({"trigger": "auto", "custom_instructions": ""}))],
        "PostCompact" => {
            vec![(41, json!({"trigger": "auto", "summary": "A summary.", "compact_summary": "A summary."}))]
        }
        "SubagentStart" => vec![(60, agent)],
        "SubagentStop" => vec![(40, summary), (70, agent)],
        "Stop" => vec![
            (80, json!({"stop_hook_active": false, "last_assistant_message": "Done."})),
            (90, json!({"stop_hook_active": true, "last_assistant_message": said})),
        ],
        "SessionEnd" => vec![(100, json!({"reason": "exit"}))],
        other => plugin_payloads_of_event(other, &said),
    }
}

/// Returns the payloads of an event in the format of a plugin.
fn plugin_payloads_of_event(event: &str, said: &str) -> Vec<(usize, Value)> {
    let agent = json!({"agent_id": "ses_a1", "agent_type": "security", "source": "startup", "message": said});
    match event {
        "session.created" => vec![(0, json!({"source": "startup"})), (110, json!({"source": "resume"}))],
        "chat.message" => {
            vec![(10, json!({"prompt": "Fix the failing test, please.", "message_id": "msg_1"}))]
        }
        "tool.execute.after" => vec![(
            20,
            json!({"tool": "bash", "call_id": "call_1", "input": {"command": "cargo test"},
                "result": {"exit": 0, "output": "ok\n"}}),
        )],
        "experimental.session.compacting" => vec![(30, json!({"trigger": "auto"}))],
        "experimental.text.complete" => vec![(40, json!({"text": "A summary.", "part_id": "prt_1"}))],
        "session.compacted" => vec![(41, json!({"trigger": "auto"}))],
        "experimental.chat.messages.transform" => vec![(50, json!({"source": "compact"}))],
        "subagent.created" => vec![(60, agent)],
        "subagent.idle" => vec![(70, agent)],
        "session.idle" => vec![
            (80, json!({"message": "Done.", "message_id": "msg_2"})),
            (90, json!({"message": said, "message_id": "msg_3"})),
        ],
        "session.deleted" => vec![(99, json!({"reason": "deleted"}))],
        "dispose" => vec![(100, json!({"reason": "dispose"}))],
        _ => Vec::new(),
    }
}
