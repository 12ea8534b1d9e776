//! `thru gate run --adopt`: shows the user what a run would launch, and records the user's consent.

use std::path::PathBuf;

use model::config::StageDefinition;
use model::consent::digest_of_output;
use model::gate::ExpectedOutput;
use serde::Serialize;

use super::run::find_or_create_run;
use super::{GateContext, require_trust};
use crate::project::consent::{allow_launches, allow_stage, is_launch_allowed, is_stage_allowed};
use crate::project::person::require_person;
use crate::{Result, World};

/// The launches that the user is asked to allow. The consent covers exactly this content, even if the file changes
/// before the user answers.
#[derive(Clone, Debug, Serialize)]
pub struct LaunchesToAdopt {
    pub run: PathBuf,
    pub stage: String,
    /// The launches without consent. If there are none, the user is not asked.
    pub launches: Vec<LaunchShown>,
    /// The settings file whose table `[stages.<stage>]` defines these launches. If there is one, the consent also
    /// covers later runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "definition")]
    pub settings_file: Option<String>,
    #[serde(skip)]
    outputs: Vec<ExpectedOutput>,
    #[serde(skip)]
    stage_definition: Option<StageDefinition>,
}

#[derive(Clone, Debug, Serialize)]
pub struct LaunchShown {
    pub file: String,
    pub launch: Vec<String>,
    pub prompt: String,
    /// The worktree in which the command runs, if it is not the root's own checkout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkout: Option<String>,
}

impl From<&ExpectedOutput> for LaunchShown {
    fn from(output: &ExpectedOutput) -> LaunchShown {
        let checkout = output.other_checkout().map(str::to_owned);
        let ExpectedOutput { file, launch, prompt, .. } = output.clone();
        LaunchShown { file, launch, prompt, checkout }
    }
}

/// Returns the launches to show to the user. The user's consent is recorded later, by [`adopt_launches`].
pub fn find_launches_to_adopt(world: &World, stage: Option<&str>) -> Result<LaunchesToAdopt> {
    require_person(world, "launch commands cannot be adopted", "thru gate run --adopt")?;
    let place = GateContext::find_project(world)?;
    require_trust(&place)?;
    let run = find_or_create_run(world, &place, stage)?;
    let expected = place.read_expected(&run)?;
    let is_foreign = |output: &&ExpectedOutput| {
        !output.launch.is_empty() && !is_launch_allowed(&place.store, &place.root, &run, output)
    };
    let outputs: Vec<ExpectedOutput> = expected.outputs.iter().filter(is_foreign).cloned().collect();
    let says_the_same = |stage: &&StageDefinition| {
        let launched: Vec<ExpectedOutput> =
            stage.expected_outputs().into_iter().filter(|o| !o.launch.is_empty()).collect();
        // A definition names no checkout: its commands run in the checkout in which the user requests the stage.
        let in_any_checkout =
            |output: &ExpectedOutput| ExpectedOutput { inputs_checkout: String::new(), ..output.clone() };
        let digests: Vec<_> = outputs.iter().map(in_any_checkout).map(|o| digest_of_output(&o)).collect();
        stage.name == expected.stage
            && stage.unusable_reason.is_none()
            && !launched.is_empty()
            && launched.iter().all(|output| digests.contains(&digest_of_output(output)))
            && !is_stage_allowed(world, &place.store, stage)
    };
    let stage_definition = place.settings.stages.iter().find(says_the_same).cloned();
    Ok(LaunchesToAdopt {
        run: run.path().to_owned(),
        stage: expected.stage.clone(),
        launches: outputs.iter().map(LaunchShown::from).collect(),
        settings_file: stage_definition.as_ref().map(|stage| stage.source.clone()),
        outputs,
        stage_definition,
    })
}

/// Records the user's consent to exactly the launches that were shown.
pub fn adopt_launches(world: &World, stage: Option<&str>, launches: &LaunchesToAdopt) -> Result<()> {
    let place = GateContext::find_project(world)?;
    require_trust(&place)?;
    let run = place.find_run(stage)?;
    if run.path() != launches.run {
        return Err(crate::Error::Refused {
            what: format!("{} is no longer the live run", launches.run.display()),
            hint: "`thru gate run --adopt` shows the live run".into(),
        });
    }
    allow_launches(&place.store, &place.root, &run, launches.outputs.iter(), world.now)?;
    match &launches.stage_definition {
        Some(stage) => allow_stage(&place.store, stage, world.now),
        None => Ok(()),
    }
}
