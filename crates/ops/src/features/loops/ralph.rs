//! `thru import ralph`: imports the loop that the ralph plugin keeps in `.claude/ralph-loop.local.md`. That file
//! stays unchanged.

use std::path::{Path, PathBuf};

use model::document::Document;
use model::loops::log::LoopEvent;
use model::loops::pointer::ForegroundPointer;
use model::loops::{Loop, LoopStatus, Promise, PromiseOutcome, command_to_resume, promise};
use model::text::fnv_fingerprint;
use model::time;
use serde::Serialize;
use store::{FoundRoot, read_outside_store};

use super::start::write_new_loop;
use super::{
    LoopShown, all_loops, append_to_log, loop_shown, loop_shown_with_consent, read_or_rebuild_pointer,
    require_trust,
};
use crate::project::Project;
use crate::setup::init::MAX_WAIT_FOR_RECORD_LOCK;
use crate::{Error, Result, World, WriteMode};

pub const RALPH_STATE_FILE: &str = ".claude/ralph-loop.local.md";

const MAX_FILE_BYTES: usize = 1024 * 1024;

#[derive(Clone, Debug, Serialize)]
pub struct RalphImportReport {
    pub file: PathBuf,
    #[serde(rename = "loop")]
    pub shown_loop: LoopShown,
    /// The command that continues the loop once it is adopted.
    #[serde(skip)]
    pub command_to_resume: String,
    /// Whether the loop was written. False if it was already imported, or if this was a dry run.
    pub written: bool,
    pub already_imported: bool,
}

pub fn import_ralph_loop(world: &World, file: Option<&Path>, mode: WriteMode) -> Result<RalphImportReport> {
    let found = world.find_root()?;
    let (FoundRoot::Marked { root, .. } | FoundRoot::Unmarked(root)) = &found;
    let file = file.map_or_else(|| root.checkout.join(RALPH_STATE_FILE), Path::to_owned);
    let mut state = read_ralph_loop(world, &file)?;
    if let (FoundRoot::Unmarked(_), WriteMode::DryRun) = (&found, mode) {
        return Ok(RalphImportReport {
            file,
            shown_loop: loop_shown_with_consent(&state, &ForegroundPointer::default(), false),
            command_to_resume: command_to_resume(&state, world.now).command,
            written: false,
            already_imported: false,
        });
    }
    let project = Project::find_or_create(world)?;
    require_trust(world, &project)?;
    let store = project.store;
    let _lock = (mode == WriteMode::Write).then(|| store.lock_loops(MAX_WAIT_FOR_RECORD_LOCK)).transpose()?;
    let (records, _) = all_loops(&store)?;
    let front = read_or_rebuild_pointer(&store, &records);
    if let Some(known) = records.iter().find(|record| record.loop_state.imported_from == state.imported_from)
    {
        return Ok(RalphImportReport {
            file,
            shown_loop: loop_shown(world, &store, &known.loop_state, &front),
            command_to_resume: command_to_resume(&known.loop_state, world.now).command,
            written: false,
            already_imported: true,
        });
    }
    if mode == WriteMode::Write {
        state = write_new_loop(world, &store, state)?;
        append_to_log(world, &store, &state, LoopEvent::Paused)?;
    }
    Ok(RalphImportReport {
        file,
        shown_loop: loop_shown(world, &store, &state, &front),
        command_to_resume: command_to_resume(&state, world.now).command,
        written: mode == WriteMode::Write,
        already_imported: false,
    })
}

/// Reads the plugin's loop. The new loop is paused for two reasons: thru and the plugin must not both give the agent
/// the prompt, and nothing may run unless the user asks for it.
fn read_ralph_loop(world: &World, file: &Path) -> Result<Loop> {
    let bytes = read_outside_store(file, MAX_FILE_BYTES)?;
    let damaged = |why: &str| {
        Error::Store(store::Error::Damaged { path: file.to_owned(), line: None, why: why.to_owned() })
    };
    let text = String::from_utf8(bytes).map_err(|_| damaged("it is not UTF-8 text"))?;
    let document = Document::parse(text.as_str());
    if !document.has_frontmatter() {
        return Err(damaged("it has no frontmatter; is it a loop of the ralph plugin?"));
    }
    // Remove the blank line that the plugin writes before the prompt, and the newline that it writes after it.
    let body = std::str::from_utf8(document.body()).unwrap_or_default();
    let prompt = body.trim_start_matches(['\r', '\n']);
    let prompt = prompt.strip_suffix('\n').unwrap_or(prompt).to_owned();
    if prompt.trim().is_empty() {
        return Err(damaged("there is no prompt after the frontmatter"));
    }
    let count = |key: &str| document.frontmatter_integer(key).and_then(|n| u64::try_from(n).ok());
    let promised = document
        .frontmatter_text("completion_promise")
        .filter(|text| promise::why_invalid_promise(text).is_none());
    let started = document.frontmatter_text("started_at").and_then(time::parse_time).unwrap_or(world.now);
    // Identify the loop by fields that stay the same while it runs. The iteration number changes, so it is not used.
    let origin = fnv_fingerprint([
        &prompt,
        promised.unwrap_or_default(),
        document.frontmatter_text("started_at").unwrap_or_default(),
    ]);
    Ok(Loop {
        id: String::new(),
        created_at: time::to_rfc3339(started),
        updated_at: time::to_rfc3339(world.now),
        status: LoopStatus::Paused,
        iteration: count("iteration").unwrap_or(1).max(1),
        max_iterations: count("max_iterations").unwrap_or(0),
        promises: promised
            .map(|text| Promise { text: text.to_owned(), outcome: PromiseOutcome::Done })
            .into_iter()
            .collect(),
        source_packet_id: None,
        imported_from: Some(format!("ralph-{origin:016x}")),
        session: None,
        end_reason: None,
        ended_detail: None,
        validators: Vec::new(),
        deadline: None,
        last_message_digest: None,
        last_stop: None,
        prompt,
    })
}
