//! `thru gate prompt` and `thru gate seal`: commands for the author of an output.

use std::path::{Path, PathBuf};

use model::document::Document;
use model::gate::{self, COMPLETION_LINE, OutputEnding, OutputScanner};
use model::id::Id;
use model::text;
use serde::Serialize;
use store::RunFolder;

use super::{GateContext, earlier, worker};
use crate::{Error, Result, World};

#[derive(Clone, Debug, Serialize)]
pub struct SealReport {
    pub path: PathBuf,
    /// Whether the line was appended. False if the output was already sealed.
    pub changed: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct InstructionForOutputAuthor {
    pub path: PathBuf,
    pub text: String,
    /// Whether the run expects this output.
    pub expected: bool,
}

/// Returns the instruction to put into the prompt of the sub-agent that writes `file` into the live run.
pub fn output_prompt(world: &World, file: &str) -> Result<InstructionForOutputAuthor> {
    let place = GateContext::find_project(world)?;
    let live = place.find_live_run()?.ok_or_else(|| place.no_live_run_error())?;
    super::expect::check_output_name(file)?;
    let expected = match live.run.read_expected() {
        Err(store::Error::Absent { .. }) => false,
        expected => {
            expected?;
            let lists = live.run.read_all_lists();
            let names = || lists.iter().flat_map(|list| &list.outputs).map(|output| output.file.as_str());
            if !names().any(|name| name == file) {
                return Err(unexpected_output_error(&place, file, names()));
            }
            true
        }
    };
    worker::record_calling_agent_works_on_run(world, &place, &live.run);
    let path = live.run.path().join(file);
    Ok(InstructionForOutputAuthor {
        text: gate::subagent_instruction(&path.to_string_lossy()),
        path,
        expected,
    })
}

/// Names the command that asks for a file in a stage of its own. `thru gate expect` replaces everything that its stage
/// expected before, so the command must not name a stage that exists.
fn how_to_expect(place: &GateContext, file: &str) -> String {
    let live = place.find_live_run().ok().flatten().map(|live| live.run.read_all_lists());
    let earlier = earlier::open_earlier_stages(&place.store, &place.root, &place.settings.settings());
    let mut stages: Vec<String> = live.into_iter().flatten().map(|list| list.stage).collect();
    stages.extend(earlier.into_iter().map(|earlier| earlier.stage));
    let stem = file.split('.').next().unwrap_or_default();
    let own = [stem.to_owned(), format!("{stem}-more")];
    match own.iter().find(|name| Id::new(name).is_ok() && !stages.contains(name)) {
        Some(own) if super::expect::check_output_name(file).is_ok() => {
            format!("; `thru gate expect {own} {file}` asks for it, in a stage of its own")
        }
        _ => String::new(),
    }
}

fn unexpected_output_error<'a>(
    place: &GateContext,
    file: &str,
    names: impl Iterator<Item = &'a str>,
) -> Error {
    let near = text::nearest_allowed_word(file, names);
    let near = near.map_or(String::new(), |near| format!("did you mean {near}? "));
    Error::Usage {
        what: format!("{file}: the live run does not expect this file, so no gate would wait for it"),
        hint: format!("{near}`thru gate check` shows what the run expects{}", how_to_expect(place, file)),
    }
}

/// Adds the line that marks an output as complete. An output of the live run can be given by name. An output of any
/// other run must be given by its path.
pub fn seal_output(world: &World, file: &Path) -> Result<SealReport> {
    let (run, name) = find_expected_output(world, file)?;
    let path = run.path().join(&name);
    let bytes = match run.read_output(&name) {
        Err(store::Error::Absent { .. }) => {
            return Err(Error::Absent {
                what: format!("{}: there is no such file yet", path.display()),
                hint: format!("`thru gate prompt {name}` prints the instruction for its author"),
            });
        }
        bytes => bytes?,
    };
    let reading = OutputScanner::scan_whole_output(&bytes);
    if let Some(line) = reading.line_of_open_fence() {
        return Err(Error::Refused {
            what: format!("{}:{line}: this line opens a code fence that is never closed", path.display()),
            hint: "close the fence; a last line inside it does not count".into(),
        });
    }
    match reading.ending() {
        OutputEnding::Sealed => return Ok(SealReport { path, changed: false }),
        OutputEnding::Empty | OutputEnding::OnlySentinel => {
            return Err(Error::Refused {
                what: format!("{}: it is empty", path.display()),
                hint: "seal an output only when it is complete".into(),
            });
        }
        OutputEnding::NoSentinel | OutputEnding::SentinelInFence { .. } => {}
    }
    run.append_to_output(&name, &last_line_to_append(bytes))?;
    Ok(SealReport { path, changed: true })
}

/// Finds the run that expects an output, and the output's name in that run. A file that no run expects is not sealed,
/// because nothing would ever check its seal.
fn find_expected_output(world: &World, file: &Path) -> Result<(RunFolder, String)> {
    let place = GateContext::find_project(world)?;
    let Some(name) = file.file_name().and_then(|name| name.to_str()) else {
        return Err(Error::Usage {
            what: format!("{}: this is not a file name", file.display()),
            hint: "name an output, such as `review-security.md`".into(),
        });
    };
    let expects = |run: &RunFolder| {
        let lists = run.read_all_lists();
        let mut outputs = lists.iter().flat_map(|expected| &expected.outputs);
        !gate::is_reserved_output_name(name) && outputs.any(|output| output.file == name)
    };
    let here = || {
        let path = world.require_cwd().ok()?.join(file);
        let (base, rel) = super::live::folder_below_root(&place.root, path.parent()?).ok()?;
        RunFolder::open(base, &rel).ok()
    };
    let bare = file.components().count() == 1;
    let live = if bare { place.find_live_run()?.map(|live| live.run) } else { None };
    let known = live.filter(&expects).or_else(|| here().filter(&expects));
    known.map(|run| (run, name.to_owned())).ok_or_else(|| Error::Refused {
        what: format!("{}: no run expects this file, so nothing was added to it", file.display()),
        hint: format!("`thru gate check` shows what the live run expects{}", how_to_expect(&place, name)),
    })
}

/// Returns the line to append. It is preceded by enough line breaks to leave a blank line, so that it does not become
/// part of a paragraph.
fn last_line_to_append(bytes: Vec<u8>) -> Vec<u8> {
    let document = Document::parse(bytes);
    let end = document.line_ending();
    let bytes = document.into_bytes();
    let ends = [end.repeat(2), end.to_owned()].iter().filter(|gap| bytes.ends_with(gap.as_bytes())).count();
    format!("{}{COMPLETION_LINE}{end}", end.repeat(2 - ends)).into_bytes()
}
