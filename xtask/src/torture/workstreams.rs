//! Torture tests of workstreams: sandboxes with a manifest, and the checks afterwards.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;

use super::prepare::{TOOL_DONE_HOOK_ARGV, prepare_records};
use crate::sandbox::{SANDBOX_SESSION_ID, Sandbox, payload};

/// Prepares a sandbox with a manifest that has steps, and a session that is working on it.
pub fn prepare_workstream(sandbox: &Sandbox) -> Result<()> {
    prepare_records(sandbox)?;
    let folder = workstream_folder(sandbox, "01-old");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("steps.md"), "- [x] one\n- [ ] two\n")?;
    sandbox.run_successfully(&["resume", "new", "01-old"], &[])?;
    let command = "cat .agent/context/workstreams/01-old/steps.md";
    sandbox
        .run_successfully(
            TOOL_DONE_HOOK_ARGV,
            &payload::bash_payload(&sandbox.dir, "toolu_workstream", command),
        )
        .map(drop)
}

/// Prepares a sandbox with one of the user's own folders, which has no manifest.
pub fn prepare_folder_without_manifest(sandbox: &Sandbox) -> Result<()> {
    prepare_records(sandbox)?;
    let folder = workstream_folder(sandbox, "02-fresh");
    fs::create_dir_all(&folder)?;
    Ok(fs::write(folder.join("plan.md"), "A plan.\n")?)
}

pub fn is_manifest_created(sandbox: &Sandbox) -> bool {
    let manifest = workstream_folder(sandbox, "02-fresh").join("resume-context.md");
    file_contains(manifest.clone(), "- \"plan.md\"") && file_contains(manifest, "# Validation Gate")
}

const LEGACY_MANIFEST: &str =
    "---\nresume_version: \"1.0\"\nphase: planning\nlast_skill: plan-project\n---\nWritten by a person.\n";

/// Prepares a sandbox with two files in an old format: one next to its plan, and one in the folder for plans.
pub fn prepare_legacy_manifests(sandbox: &Sandbox) -> Result<()> {
    prepare_records(sandbox)?;
    for folder in LEGACY_FOLDERS.map(|folder| workstream_folder(sandbox, folder)) {
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("plan.md"), "A plan.\n")?;
        fs::write(folder.join("_resume.md"), LEGACY_MANIFEST)?;
    }
    Ok(())
}

const LEGACY_FOLDERS: [&str; 2] = ["03-beside", "04-below/01-planning"];

pub fn prepare_migrated_manifests(sandbox: &Sandbox) -> Result<()> {
    prepare_legacy_manifests(sandbox)?;
    sandbox.run_successfully(&["resume", "migrate"], &[]).map(drop)
}

fn is_file_moved(sandbox: &Sandbox, there: &str, gone: &str) -> bool {
    LEGACY_FOLDERS.map(|folder| workstream_folder(sandbox, folder)).iter().all(|folder| {
        fs::read_to_string(folder.join(there)).is_ok_and(|text| text == LEGACY_MANIFEST)
            && !folder.join(gone).exists()
    })
}

pub fn are_manifests_migrated(sandbox: &Sandbox) -> bool {
    let made = |folder| {
        file_contains(workstream_folder(sandbox, folder).join("resume-context.md"), "current_phase: planning")
    };
    is_file_moved(sandbox, "_resume.md.backup", "_resume.md") && LEGACY_FOLDERS.into_iter().all(made)
}

pub fn are_manifests_rolled_back(sandbox: &Sandbox) -> bool {
    let made = |folder| workstream_folder(sandbox, folder).join("resume-context.md").exists();
    is_file_moved(sandbox, "_resume.md", "_resume.md.backup") && !LEGACY_FOLDERS.into_iter().any(made)
}

fn workstream_folder(sandbox: &Sandbox, id: &str) -> PathBuf {
    sandbox.store_folder().join("workstreams").join(id)
}

fn file_contains(path: PathBuf, text: &str) -> bool {
    fs::read_to_string(path).is_ok_and(|found| found.contains(text))
}

pub fn is_box_ticked(sandbox: &Sandbox) -> bool {
    file_contains(workstream_folder(sandbox, "01-old").join("steps.md"), "[x] two")
        && file_contains(workstream_folder(sandbox, "01-old").join("resume-context.md"), "2/2 tasks complete")
}

pub fn is_workstream_used(sandbox: &Sandbox) -> bool {
    file_contains(sandbox.store_folder().join("state/workstream-used").join(SANDBOX_SESSION_ID), "01-old")
        && file_contains(
            sandbox.store_folder().join(format!("state/precompact/{SANDBOX_SESSION_ID}.json")),
            "\"confidence\":\"high\"",
        )
}

pub fn is_workstream_detected(sandbox: &Sandbox) -> bool {
    file_contains(
        sandbox.store_folder().join("state/precompact_state.json"),
        "\"active_project_id\":\"01-old\"",
    )
}
