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
