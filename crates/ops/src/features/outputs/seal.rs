//! `thru gate prompt` and `thru gate seal`: commands for the author of an output.

use std::path::{Path, PathBuf};

use model::document::Document;
use model::gate::{self, COMPLETION_LINE, ExpectedOutput, OutputEnding, OutputScanner};
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

/// Returns the instruction to put into the prompt of the sub-agent that writes `file`. An output of the live run can be
/// given by name. An output of any other run must be given by its path.
pub fn output_prompt(world: &World, file: &str) -> Result<InstructionForOutputAuthor> {
    let place = GateContext::find_project(world)?;
    if file.contains('/') {
        let (run, name) = find_expected_output(world, &place, Path::new(file))?
            .ok_or_else(|| unknown_output_error(&place, Path::new(file), ""))?;
        return Ok(instruction_for_author(world, &place, run, &name, true));
    }
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
    Ok(instruction_for_author(world, &place, live.run, file, expected))
}

fn instruction_for_author(
    world: &World,
    place: &GateContext,
    run: RunFolder,
    file: &str,
    expected: bool,
) -> InstructionForOutputAuthor {
    worker::record_calling_agent_works_on_run(world, place, &run);
    let path = run.path().join(file);
    // Errors are ignored, because the instruction is right without this record.
    let _ = renew_stale_request(world, place, &run.with_list_of_output(file), file);
    InstructionForOutputAuthor { text: gate::subagent_instruction(&path.to_string_lossy()), path, expected }
}

/// If the inputs of an output have changed, records a new request with the present inputs. Whoever asked for the
/// instruction will write the output for these inputs. Without the new request, the output would still count as
/// stale.
fn renew_stale_request(world: &World, place: &GateContext, run: &RunFolder, file: &str) -> Result<()> {
    if !place.trusted || world.is_inside_gate_run_launch() {
        return Ok(());
    }
    let is_stale =
        |output: &ExpectedOutput| Ok::<_, Error>(place.judge_output(run, output)?.have_inputs_changed);
    let expected = run.read_expected()?;
    let Some(output) = expected.outputs.iter().find(|output| output.file == file) else { return Ok(()) };
    if !is_stale(output)? {
        return Ok(());
    }
    let _lock = place.lock_run(run, "gate prompt")?;
    let mut expected = place.read_expected(run)?;
    let Some(i) = expected.outputs.iter().position(|output| output.file == file) else { return Ok(()) };
    let output = &expected.outputs[i];
    if is_stale(output)? {
        let digest = store::inputs_digest(&store::input_folder(&place.root, output), &output.inputs)?;
        expected.renew_request(i, &digest, world.now);
        run.write_expected(&expected)?;
    }
    Ok(())
}

/// Suggests a `thru gate expect` command that requests a file in a new stage. The command must not name an existing
/// stage, because it would then replace everything that this stage expects.
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
    let place = GateContext::find_project(world)?;
    let (run, name) = find_expected_output(world, &place, file)?
        .ok_or_else(|| unknown_output_error(&place, file, ", so nothing was added to it"))?;
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

/// Finds the run that expects an output, and the output's name in that run. Returns `None` if no run expects it. A file
/// that no run expects is not sealed, because nothing would ever check its seal.
pub(super) fn find_expected_output(
    world: &World,
    place: &GateContext,
    file: &Path,
) -> Result<Option<(RunFolder, String)>> {
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
    Ok(known.map(|run| (run, name.to_owned())))
}

pub(super) fn unknown_output_error(place: &GateContext, file: &Path, result: &str) -> Error {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let live = match place.find_live_run() {
        Ok(Some(_)) => "`thru gate check` shows what the live run expects",
        _ => "no run is live",
    };
    Error::Refused {
        what: format!("{}: no run expects this file{result}", file.display()),
        hint: format!("{live}{}", how_to_expect(place, &name)),
    }
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
