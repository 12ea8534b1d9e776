//! `thru import ralph`: imports the loop of the ralph plugin, `.claude/ralph-loop.local.md`. The original stays
//! unchanged.

use std::path::{Path, PathBuf};

use model::document::Document;
use model::loops::log::Event;
use model::loops::pointer::Pointer;
use model::loops::{Loop, Outcome, Promise, Status, promise};
use model::text::fingerprint;
use model::time;
use serde::Serialize;
use store::{Found, read_own};

use super::start::create;
use super::{Shown, all, as_shown, need_trust, note, pointer, shown};
use crate::project::Project;
use crate::setup::init::PATIENCE;
use crate::{Error, Mode, Result, World};

pub const FILE: &str = ".claude/ralph-loop.local.md";

const LARGEST: usize = 1024 * 1024;

#[derive(Clone, Debug, Serialize)]
pub struct RalphReport {
    pub file: PathBuf,
    #[serde(rename = "loop")]
    pub shown: Shown,
    /// False if the loop was already imported, or if this was a dry run.
    pub written: bool,
    /// Whether the loop had been imported before.
    pub known: bool,
}

pub fn run(world: &World, file: Option<&Path>, mode: Mode) -> Result<RalphReport> {
    let found = world.find()?;
    let (Found::Marked { root, .. } | Found::Unmarked(root)) = &found;
    let file = file.map_or_else(|| root.checkout.join(FILE), Path::to_owned);
    let mut state = read(world, &file)?;
    if let (Found::Unmarked(_), Mode::DryRun) = (&found, mode) {
        return Ok(RalphReport {
            file,
            shown: as_shown(&state, &Pointer::default(), false),
            written: false,
            known: false,
        });
    }
    let project = Project::find_or_make(world)?;
    need_trust(world, &project)?;
    let store = project.store;
    let _lock = (mode == Mode::Write).then(|| store.lock_loops(PATIENCE)).transpose()?;
    let (records, _) = all(&store)?;
    let front = pointer(&store, &records);
    if let Some(known) = records.iter().find(|record| record.state.imported_from == state.imported_from) {
        return Ok(RalphReport {
            file,
            shown: shown(&store, &known.state, &front),
            written: false,
            known: true,
        });
    }
    if mode == Mode::Write {
        state = create(world, &store, state)?;
        note(world, &store, &state, Event::Paused)?;
    }
    Ok(RalphReport { file, shown: shown(&store, &state, &front), written: mode == Mode::Write, known: false })
}

/// Reads the loop. It is imported as paused, because two hooks must not feed the same prompt, and nothing may run
/// without being asked for.
fn read(world: &World, file: &Path) -> Result<Loop> {
    let bytes = read_own(file, LARGEST)?;
    let damaged = |why: &str| {
        Error::Store(store::Error::Damaged { path: file.to_owned(), line: None, why: why.to_owned() })
    };
    let text = String::from_utf8(bytes).map_err(|_| damaged("it is not UTF-8 text"))?;
    let document = Document::parse(text.as_str());
    if !document.has_frontmatter() {
        return Err(damaged("it has no frontmatter; is it a loop of the ralph plugin?"));
    }
    // The plugin writes a blank line after the frontmatter, and one line end after the prompt.
    let body = std::str::from_utf8(document.body()).unwrap_or_default();
    let prompt = body.trim_start_matches(['\r', '\n']);
    let prompt = prompt.strip_suffix('\n').unwrap_or(prompt).to_owned();
    if prompt.trim().is_empty() {
        return Err(damaged("there is no prompt after the frontmatter"));
    }
    let count = |key: &str| document.int(key).and_then(|n| u64::try_from(n).ok());
    let promised = document.text("completion_promise").filter(|text| promise::flaw(text).is_none());
    let started = document.text("started_at").and_then(time::parse).unwrap_or(world.now);
    // These fields identify the loop, because they stay the same while it runs. Its iteration number changes.
    let origin =
        fingerprint([&prompt, promised.unwrap_or_default(), document.text("started_at").unwrap_or_default()]);
    Ok(Loop {
        id: String::new(),
        created_at: time::rfc3339(started),
        updated_at: time::rfc3339(world.now),
        status: Status::Paused,
        iteration: count("iteration").unwrap_or(1).max(1),
        max_iterations: count("max_iterations").unwrap_or(0),
        promises: promised
            .map(|text| Promise { text: text.to_owned(), outcome: Outcome::Done })
            .into_iter()
            .collect(),
        source_packet_id: None,
        imported_from: Some(format!("ralph-{origin:016x}")),
        session: None,
        ended: None,
        ended_detail: None,
        validators: Vec::new(),
        deadline: None,
        last_message_digest: None,
        last_stop: None,
        prompt,
    })
}
