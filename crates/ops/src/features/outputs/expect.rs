//! `thru gate expect`: records what a stage must produce, and creates the run for it.

use std::path::PathBuf;

use model::gate::{
    ExpectedOutput, ExpectedOutputs, OutputTier, OutputVerdict, agent_role_in_output_file_name,
    is_reserved_output_name,
};
use model::id::Id;
use model::{checkout_path, time};
use serde::Serialize;
use store::{Lock, Root, RunFolder, layout};

use super::hook::{LiveRunState, state_of_run};
use super::{GateContext, LiveRunSource, earlier, worker};
use crate::project::Project;
use crate::project::consent::{allow_launches, is_stage_allowed};
use crate::setup::init::MAX_WAIT_FOR_RECORD_LOCK;
use crate::{Error, Result, World};

/// The outputs that a stage must produce. If the request names no file, the stage's definition in the settings is
/// used.
#[derive(Clone, Debug, Default)]
pub struct ExpectedOutputsRequest {
    pub stage: String,
    pub critical: Vec<String>,
    pub advisory: Vec<String>,
    /// Files whose tier, critical or advisory, is derived from their names.
    pub files: Vec<String>,
    /// The paths of the input files, relative to the working directory.
    pub inputs: Vec<String>,
    pub prompt: Option<String>,
    pub launch: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct ExpectedOutputsReport {
    pub run: PathBuf,
    pub stage: String,
    pub outputs: Vec<ExpectedFile>,
    /// The session that is told about the stage: the session that began it, or else the session that was last active
    /// in this checkout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The name under which an earlier `expected.json` in this folder was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_aside: Option<String>,
    /// The previous run of this stage, if it had valid outputs and the stage had not passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished_run: Option<UnfinishedRun>,
    /// The stages before this one that still have open outputs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub still_open: Vec<LiveRunState>,
}

#[derive(Clone, Debug, Serialize)]
pub struct ExpectedFile {
    pub path: PathBuf,
    pub tier: OutputTier,
}

/// A run whose valid outputs do not count in the new run of its stage.
#[derive(Clone, Debug, Serialize)]
pub struct UnfinishedRun {
    pub run: PathBuf,
    pub valid_outputs: usize,
}

pub fn expect_outputs(world: &World, wanted: &ExpectedOutputsRequest) -> Result<ExpectedOutputsReport> {
    let stage = Id::new(&wanted.stage)
        .map_err(|bad| Error::Usage { what: bad.to_string(), hint: "use a name such as `review`".into() })?;
    let place = GateContext::from_project(world, Project::find_or_create(world)?);
    let outputs = requested_outputs(world, &place, wanted)?;
    for output in &outputs {
        check_output_name(&output.file)?;
    }
    let _lock = place.store.lock_run_creation(MAX_WAIT_FOR_RECORD_LOCK)?;
    let folder = choose_folder(world, &place, &stage)?;
    let outputs = outputs.into_iter().map(|output| folder.renew_output(world, &place, output));
    let expected = ExpectedOutputs::new(stage.as_str(), outputs.collect::<Result<_>>()?);
    // Everything above only checks the request, so an invalid request changes no existing file.
    let ChosenRunFolder { run, kind, .. } = folder;
    if is_launch_chosen_by_user(world, &place, wanted) {
        allow_launches(&place.store, &place.root, &run, expected.outputs.iter(), world.now)?;
    }
    let set_aside = match kind {
        RunFolderKind::New => None,
        RunFolderKind::Shared(_) => set_aside_old_list(world, &run, &stage)?,
    };
    run.write_expected(&expected)?;
    let mut unfinished_run = None;
    if let RunFolderKind::New = kind {
        unfinished_run = unfinished_live_run(&place, &stage);
        let name = run.path().file_name().unwrap_or_default().to_string_lossy();
        let folder = super::run_path_below_root(&name);
        earlier::make_run_live(&place, &folder, Some(stage.as_str()), world.now)?;
    }
    let session = worker::record_calling_session_works_on_run(world, &place, &run)?;
    Ok(ExpectedOutputsReport {
        run: run.path().to_owned(),
        session: session.map(|session| session.to_string()),
        stage: expected.stage,
        outputs: expected
            .outputs
            .into_iter()
            .map(|output| ExpectedFile { path: run.path().join(&output.file), tier: output.tier })
            .collect(),
        set_aside,
        unfinished_run,
        still_open: earlier::open_earlier_stages(&place.store, &place.root, &place.settings.settings()),
    })
}

/// Returns whether the user who runs this command chose the launch command. The project's settings may come from
/// another person, so the user must adopt the launch commands in them first.
fn is_launch_chosen_by_user(world: &World, place: &GateContext, wanted: &ExpectedOutputsRequest) -> bool {
    let by_name = [&wanted.critical, &wanted.advisory, &wanted.files].iter().any(|files| !files.is_empty());
    let stage = || place.settings.stages.iter().find(|stage| stage.name == wanted.stage);
    by_name || stage().is_some_and(|stage| is_stage_allowed(world, &place.store, stage))
}

/// Returns the live run if it belongs to this stage and has both valid and invalid outputs. Errors are ignored, because
/// the result is used only for a warning.
fn unfinished_live_run(place: &GateContext, stage: &Id) -> Option<UnfinishedRun> {
    let run = place.find_live_run().ok()??.run;
    let expected = run.read_expected().ok().filter(|expected| expected.stage == stage.as_str())?;
    let state = state_of_run(&run, &expected, &place.root).ok()?;
    let valid_outputs = state.outputs - state.invalid_outputs.len();
    let is_unfinished = valid_outputs > 0 && !state.invalid_outputs.is_empty();
    is_unfinished.then_some(UnfinishedRun { run: state.run, valid_outputs })
}

struct ChosenRunFolder {
    run: RunFolder,
    kind: RunFolderKind,
    /// The lock on an existing folder, in which another process may be working.
    _lock: Option<Lock>,
}

enum RunFolderKind {
    New,
    /// An orchestrator's folder for all its stages, with the last request for this stage.
    Shared(Option<ExpectedOutputs>),
}

impl ChosenRunFolder {
    /// Sets the output's `not_before` to the current time, so that an older file is not valid. All work in a shared
    /// folder belongs together, so a file there that is already valid stays valid. This does not apply if the last
    /// request for the file had other inputs or another prompt.
    fn renew_output(
        &self,
        world: &World,
        place: &GateContext,
        output: ExpectedOutput,
    ) -> Result<ExpectedOutput> {
        let earlier = match &self.kind {
            RunFolderKind::New => return Ok(ExpectedOutput { not_before: Some(world.now), ..output }),
            RunFolderKind::Shared(earlier) => earlier.as_ref(),
        };
        let known = earlier.and_then(|list| list.outputs.iter().find(|known| known.file == output.file));
        let is_same =
            known.is_none_or(|known| known.inputs == output.inputs && known.prompt == output.prompt);
        // The inputs of this request are those of this checkout, even if the last request came from another one.
        let inputs_checkout = output.inputs_checkout.clone();
        let known = ExpectedOutput { inputs_checkout, ..known.unwrap_or(&output).clone() };
        if !is_same || place.judge_output(&self.run, &known)?.verdict != OutputVerdict::Valid {
            return Ok(ExpectedOutput { not_before: Some(world.now), ..output });
        }
        let ExpectedOutput { not_before, inputs_digest, attempts, was_valid, .. } = known;
        Ok(ExpectedOutput { not_before, inputs_digest, attempts, was_valid, ..output })
    }
}

/// Returns the folder for a stage: the folder of the live run if an orchestrator created it, or else a new folder.
fn choose_folder(world: &World, place: &GateContext, stage: &Id) -> Result<ChosenRunFolder> {
    let outputs = place.outputs_folder();
    // A live run that no longer exists must not prevent a new run.
    let live = place.find_live_run().unwrap_or(None).filter(|live| !live.run.path().starts_with(&outputs));
    if let Some(live) = live {
        // Lock the folder, because its list must not change while another process is working in it.
        let lock = place.lock_run(&live.run, "gate expect")?;
        let kind = RunFolderKind::Shared(last_expected_of_stage(&live.run, stage));
        return Ok(ChosenRunFolder { run: live.run, kind, _lock: Some(lock) });
    }
    let name =
        Id::new(&format!("{stage}-{}", time::format_time_for_file_name(world.now))).map_err(|bad| {
            Error::Usage { what: bad.to_string(), hint: "choose a shorter name for the stage".into() }
        })?;
    Ok(ChosenRunFolder { run: place.store.create_run(&name)?, kind: RunFolderKind::New, _lock: None })
}

fn last_expected_of_stage(run: &RunFolder, stage: &Id) -> Option<ExpectedOutputs> {
    let current = run.read_expected().ok().filter(|list| list.stage == stage.as_str());
    current.or_else(|| run.read_list_of_stage(stage).ok())
}

/// Makes room for a stage's list. If the current list belongs to another stage, it is renamed to the file name for
/// that stage. An earlier list of the same stage is moved aside.
fn set_aside_old_list(world: &World, run: &RunFolder, stage: &Id) -> Result<Option<String>> {
    let word = format!("replaced-{}", time::format_time_for_file_name(world.now));
    let other = run.read_expected().ok().filter(|list| list.stage != stage.as_str());
    let mut set_aside = None;
    match other.and_then(|list| Id::new(&list.stage).ok()) {
        Some(other) => {
            run.rename_aside(&layout::expected_file_of_stage(other.as_str()), &word)?;
            run.rename_list_for_stage(&other)?;
        }
        None => set_aside = run.rename_aside(layout::EXPECTED_FILE, &word)?,
    }
    let aside = run.rename_aside(&layout::expected_file_of_stage(stage.as_str()), &word)?;
    Ok(set_aside.or(aside))
}

fn requested_outputs(
    world: &World,
    place: &GateContext,
    wanted: &ExpectedOutputsRequest,
) -> Result<Vec<ExpectedOutput>> {
    let inputs = input_paths_below_root(world, &place.root, &wanted.inputs)?;
    let named = [
        (&wanted.critical, Some(OutputTier::Critical)),
        (&wanted.advisory, Some(OutputTier::Advisory)),
        (&wanted.files, None),
    ];
    let mut outputs = Vec::new();
    for (files, tier) in named {
        for file in files {
            let output = ExpectedOutput::new(file);
            outputs.push(ExpectedOutput { tier: tier.unwrap_or(output.tier), ..output });
        }
    }
    if outputs.is_empty() {
        outputs = outputs_from_settings(place, &wanted.stage)?;
    }
    for output in &mut outputs {
        // Options on the command line take precedence over the definition in the settings.
        if !inputs.is_empty() {
            output.inputs.clone_from(&inputs);
        }
        if let Some(prompt) = &wanted.prompt {
            output.prompt =
                prompt.replace("{role}", agent_role_in_output_file_name(&output.file, &wanted.stage));
        }
        if !wanted.launch.is_empty() {
            output.launch.clone_from(&wanted.launch);
        }
        if !output.inputs.is_empty() {
            output.inputs_checkout = store::recorded_checkout(&place.root, &place.root.checkout);
        }
        let folder = store::input_folder(&place.root, output);
        output.inputs_digest = store::inputs_digest(&folder, &output.inputs)?;
    }
    for (i, output) in outputs.iter().enumerate() {
        if outputs[..i].iter().any(|known| known.file == output.file) {
            return Err(Error::Usage {
                what: format!("`{}` is named twice", output.file),
                hint: "name each output only once, as critical or as advisory".into(),
            });
        }
    }
    Ok(outputs)
}

fn outputs_from_settings(place: &GateContext, stage: &str) -> Result<Vec<ExpectedOutput>> {
    let defined = place.settings.stages.iter().find(|known| known.name == stage);
    match defined.map(|stage| (stage, &stage.unusable_reason)) {
        Some((stage, None)) => Ok(stage.expected_outputs()),
        Some((_, Some(finding))) => {
            let line = finding.line.map_or(String::new(), |line| format!(":{line}"));
            let file = finding.file.as_deref().unwrap_or_default();
            Err(Error::Refused {
                what: format!("{file}{line}: {}", finding.text),
                hint: "fix the definition, or name the outputs with --critical and --advisory".into(),
            })
        }
        None => Err(Error::Usage {
            what: format!("no output is named, and no settings file defines [stages.{stage}]"),
            hint: format!("`thru gate expect {stage} --critical {stage}-ROLE.md`"),
        }),
    }
}

/// Returns the paths of input files relative to the checkout, which is how records store them.
fn input_paths_below_root(world: &World, root: &Root, named: &[String]) -> Result<Vec<String>> {
    let mut inputs = Vec::with_capacity(named.len());
    for named in named {
        let path = world.require_cwd()?.join(named);
        let absent =
            |why: &str, hint: &str| Error::Absent { what: format!("{named}: {why}"), hint: hint.into() };
        let place =
            checkout_path::path_within_checkout(&root.checkout.to_string_lossy(), &path.to_string_lossy())
                .path_if_inside();
        let Some(place) = place else {
            return Err(absent("this is not a file in the project", "an input must be inside the project"));
        };
        if !root.checkout.join(&place).is_file() {
            return Err(absent("there is no such file", "an input must exist before the work starts"));
        }
        inputs.push(place);
    }
    Ok(inputs)
}

pub(super) fn check_output_name(file: &str) -> Result<()> {
    let usage = |what: String| Error::Usage { what, hint: "use a name such as `review-security.md`".into() };
    Id::new(file).map_err(|bad| usage(bad.to_string()))?;
    if is_reserved_output_name(file) {
        return Err(usage(format!("`{file}` is reserved for the run itself")));
    }
    Ok(())
}

impl LiveRunSource {
    pub fn describe(self) -> &'static str {
        match self {
            LiveRunSource::LiveJson => layout::LIVE_RUN_FILE,
            LiveRunSource::LiveStateFile => "gates.live_state_file",
        }
    }
}
