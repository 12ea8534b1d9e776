//! Torture tests of packets: sandboxes with a packet, and the checks afterwards.

use std::fs;
use std::path::Path;

use anyhow::Result;

use super::integrity;
use super::prepare::{prepare_records, prompt_payload, session_start_payload};
use crate::sandbox::{SANDBOX_SESSION_ID, Sandbox};

const OTHER_SESSION_ID: &str = "0197a000-9999-7222-8333-444455556666";

/// Prepares a sandbox with a packet that a person has edited, and with a file that can be confirmed as relevant to the
/// packet.
pub fn prepare_packet(sandbox: &Sandbox) -> Result<()> {
    prepare_records(sandbox)?;
    fs::create_dir_all(sandbox.project_folder().join("src"))?;
    fs::write(sandbox.project_folder().join("src/a.rs"), "fn a() {}\n")?;
    let text = "---\nid: 20260102T000000Z-mine\ncreated_at: 2026-01-02T00:00:00Z\nupdated_at: 2026-01-02T00:00:00Z\n\
                status: draft\npurpose: go on\nrelevant_files_confirmed: []\n---\n\n## Plan\n\nOld.\n\n## Notes\n\n";
    Ok(fs::write(packet_path(sandbox), format!("{text}{}\n", integrity::HANDWRITTEN_TEXT))?)
}

fn packet_path(sandbox: &Sandbox) -> std::path::PathBuf {
    sandbox.store_folder().join("packets/20260102T000000Z-mine.md")
}

fn packet_contains(sandbox: &Sandbox, text: &str) -> bool {
    fs::read_to_string(packet_path(sandbox)).is_ok_and(|packet| packet.contains(text))
}

pub fn is_packet_active(sandbox: &Sandbox) -> bool {
    packet_contains(sandbox, "status: active")
}

pub fn is_file_confirmed(sandbox: &Sandbox) -> bool {
    packet_contains(sandbox, "relevant_files_confirmed: [\"src/a.rs\"]")
}

pub fn section_text(_: &Path) -> Vec<u8> {
    b"New.\n".to_vec()
}

pub fn is_section_set(sandbox: &Sandbox) -> bool {
    packet_contains(sandbox, "## Plan\n\nNew.\n\n## Notes")
}

pub fn is_packet_written(sandbox: &Sandbox) -> bool {
    count_packets_named(sandbox, "go-on") >= 1
}

/// Prepares a sandbox with a session whose harness is no longer running.
pub fn prepare_dead_session(sandbox: &Sandbox) -> Result<()> {
    prepare_records(sandbox)?;
    sandbox.run_successfully(&["hook", "claude-code", "UserPromptSubmit"], &prompt_payload(&sandbox.dir))?;
    let sessions = sandbox.store_folder().join("indexes/sessions.jsonl");
    let text = fs::read_to_string(&sessions)?.replacen("\"process\":\"", "\"process\":\"9", 1);
    Ok(fs::write(sessions, text)?)
}

/// Prepares a sandbox with a packet that another session has claimed.
pub fn prepare_claimed_packet(sandbox: &Sandbox) -> Result<()> {
    prepare_packet(sandbox)?;
    sandbox.run_successfully(
        &["hook", "claude-code", "SessionStart"],
        &other_session_start_payload(&sandbox.dir),
    )?;
    sandbox.run_successfully(&["pickup", "mine", "--claim", "--session", OTHER_SESSION_ID], b"").map(drop)
}

pub fn is_packet_taken_over(sandbox: &Sandbox) -> bool {
    is_packet_active(sandbox)
        && packet_contains(sandbox, SANDBOX_SESSION_ID)
        && !packet_contains(sandbox, OTHER_SESSION_ID)
}

pub fn other_session_start_payload(sandbox: &Path) -> Vec<u8> {
    let text = String::from_utf8_lossy(&session_start_payload(sandbox))
        .replace(SANDBOX_SESSION_ID, OTHER_SESSION_ID);
    text.into_bytes()
}

fn count_packets_named(sandbox: &Sandbox, part: &str) -> usize {
    let names = fs::read_dir(sandbox.store_folder().join("packets")).into_iter().flatten().flatten();
    names
        .filter(|entry| {
            entry.file_name().to_string_lossy().contains(part)
                && !entry.file_name().to_string_lossy().ends_with(".tmp")
        })
        .count()
}
