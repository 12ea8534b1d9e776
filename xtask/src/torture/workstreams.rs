//! Workstreams under torture: scenes with a manifest, and what must be true afterwards.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;

use super::rows::{TOOL_DONE, lived_in};
use crate::scene::{Scene, payload};

/// A manifest with steps, and a session that works on it.
pub fn with_one(scene: &Scene) -> Result<()> {
    lived_in(scene)?;
    let folder = home(scene, "01-old");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("steps.md"), "- [x] one\n- [ ] two\n")?;
    scene.must(&["resume", "new", "01-old"], &[])?;
    let command = "cat .agent/context/workstreams/01-old/steps.md";
    scene.must(TOOL_DONE, &payload::bash(&scene.dir, "toolu_workstream", command)).map(drop)
}

/// A folder of somebody's own, with no manifest yet.
pub fn without_manifest(scene: &Scene) -> Result<()> {
    lived_in(scene)?;
    let folder = home(scene, "02-fresh");
    fs::create_dir_all(&folder)?;
    Ok(fs::write(folder.join("plan.md"), "A plan.\n")?)
}

pub fn is_made(scene: &Scene) -> bool {
    let manifest = home(scene, "02-fresh").join("resume-context.md");
    holds(manifest.clone(), "- \"plan.md\"") && holds(manifest, "# Validation Gate")
}

const LEGACY: &str =
    "---\nresume_version: \"1.0\"\nphase: planning\nlast_skill: plan-project\n---\nWritten by a person.\n";

/// Two old files: one beside its plan, one in the folder for plans.
pub fn with_legacy(scene: &Scene) -> Result<()> {
    lived_in(scene)?;
    for folder in OLD.map(|folder| home(scene, folder)) {
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("plan.md"), "A plan.\n")?;
        fs::write(folder.join("_resume.md"), LEGACY)?;
    }
    Ok(())
}

const OLD: [&str; 2] = ["03-beside", "04-below/01-planning"];

pub fn with_migrated(scene: &Scene) -> Result<()> {
    with_legacy(scene)?;
    scene.must(&["resume", "migrate"], &[]).map(drop)
}

fn stands(scene: &Scene, there: &str, gone: &str) -> bool {
    OLD.map(|folder| home(scene, folder)).iter().all(|folder| {
        fs::read_to_string(folder.join(there)).is_ok_and(|text| text == LEGACY) && !folder.join(gone).exists()
    })
}

pub fn is_migrated(scene: &Scene) -> bool {
    let made = |folder| holds(home(scene, folder).join("resume-context.md"), "current_phase: planning");
    stands(scene, "_resume.md.backup", "_resume.md") && OLD.into_iter().all(made)
}

pub fn is_rolled_back(scene: &Scene) -> bool {
    let made = |folder| home(scene, folder).join("resume-context.md").exists();
    stands(scene, "_resume.md", "_resume.md.backup") && !OLD.into_iter().any(made)
}

fn home(scene: &Scene, id: &str) -> PathBuf {
    scene.store().join("workstreams").join(id)
}

fn holds(path: PathBuf, text: &str) -> bool {
    fs::read_to_string(path).is_ok_and(|found| found.contains(text))
}

pub fn is_ticked(scene: &Scene) -> bool {
    holds(home(scene, "01-old").join("steps.md"), "[x] two")
        && holds(home(scene, "01-old").join("resume-context.md"), "2/2 tasks complete")
}

pub fn is_detected(scene: &Scene) -> bool {
    holds(scene.store().join("state/precompact_state.json"), "\"active_project_id\":\"01-old\"")
}
