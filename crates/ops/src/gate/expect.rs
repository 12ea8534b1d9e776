//! `thru gate expect`: says what a stage must leave, and makes the run it is left in.

use std::path::PathBuf;

use model::gate::{Expected, Output, Tier, role_of};
use model::id::Id;
use model::{place, time};
use serde::Serialize;
use store::{Lock, Root, Run, layout};

use super::{Place, Where};
use crate::init::PATIENCE;
use crate::project::Project;
use crate::{Error, Result, World};

/// What was asked for. Without any file, what the settings define for the stage.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub stage: String,
    pub critical: Vec<String>,
    pub advisory: Vec<String>,
    /// Their names tell the tier.
    pub files: Vec<String>,
    /// As seen from the working directory.
    pub inputs: Vec<String>,
    pub prompt: Option<String>,
    pub launch: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Expectation {
    pub run: PathBuf,
    pub stage: String,
    pub outputs: Vec<Wish>,
    /// Where an earlier `expected.json` of this folder was moved to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_aside: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Wish {
    pub path: PathBuf,
    pub tier: Tier,
}

pub fn expect(world: &World, wanted: &Wanted) -> Result<Expectation> {
    let stage = Id::new(&wanted.stage).map_err(|bad| Error::Usage {
        what: bad.to_string(),
        hint: "a stage is called like `review`".into(),
    })?;
    let place = Place::of(world, Project::find_or_make(world)?);
    let mut outputs = outputs(world, &place, wanted)?;
    for output in &mut outputs {
        check_name(&output.file)?;
        output.not_before = Some(world.now);
        output.inputs_digest = store::inputs_digest(&place.root.checkout, &output.inputs)?;
    }
    let expected = Expected::new(stage.as_str(), outputs);
    let _lock = place.store.lock_runs(PATIENCE)?;
    let Folder { run, set_aside, _lock } = folder(world, &place, &stage)?;
    run.write_expected(&expected)?;
    Ok(Expectation {
        run: run.path().to_owned(),
        stage: expected.stage,
        outputs: expected
            .outputs
            .into_iter()
            .map(|output| Wish { path: run.path().join(&output.file), tier: output.tier })
            .collect(),
        set_aside,
    })
}

/// Where the outputs are to come.
struct Folder {
    run: Run,
    set_aside: Option<String>,
    /// A folder that was there before can have somebody at work in it.
    _lock: Option<Lock>,
}

/// An orchestrator that keeps its own folders says where; otherwise each run has a new one.
fn folder(world: &World, place: &Place, stage: &Id) -> Result<Folder> {
    let outputs = place.outputs();
    // A live run that is gone must not stand in the way of a new one.
    let live = place.live().unwrap_or(None).filter(|live| !live.run.path().starts_with(&outputs));
    if let Some(live) = live {
        // A run that is at work there goes by the list it began with.
        let lock = place.lock(&live.run, "gate expect")?;
        let aside = format!("replaced-{}", time::compact(world.now));
        let set_aside = live.run.set_aside(layout::EXPECTED, &aside)?;
        return Ok(Folder { run: live.run, set_aside, _lock: Some(lock) });
    }
    let name = Id::new(&format!("{stage}-{}", time::compact(world.now))).map_err(|bad| Error::Usage {
        what: bad.to_string(),
        hint: "choose a shorter name for the stage".into(),
    })?;
    let run = place.store.new_run(&name)?;
    let name = run.path().file_name().unwrap_or_default().to_string_lossy();
    place.store.set_live(Some(&super::in_outputs(&name)))?;
    Ok(Folder { run, set_aside: None, _lock: None })
}

fn outputs(world: &World, place: &Place, wanted: &Wanted) -> Result<Vec<Output>> {
    let inputs = inputs(world, &place.root, &wanted.inputs)?;
    let named = [
        (&wanted.critical, Some(Tier::Critical)),
        (&wanted.advisory, Some(Tier::Advisory)),
        (&wanted.files, None),
    ];
    let mut outputs = Vec::new();
    for (files, tier) in named {
        for file in files {
            let output = Output::new(file);
            outputs.push(Output { tier: tier.unwrap_or(output.tier), ..output });
        }
    }
    if outputs.is_empty() {
        outputs = defined(place, &wanted.stage)?;
    }
    for output in &mut outputs {
        // What was said here and now goes before what a definition says.
        if !inputs.is_empty() {
            output.inputs.clone_from(&inputs);
        }
        if let Some(prompt) = &wanted.prompt {
            output.prompt = prompt.replace("{role}", role_of(&output.file, &wanted.stage));
        }
        if !wanted.launch.is_empty() {
            output.launch.clone_from(&wanted.launch);
        }
    }
    for (i, output) in outputs.iter().enumerate() {
        if outputs[..i].iter().any(|known| known.file == output.file) {
            return Err(Error::Usage {
                what: format!("`{}` is named twice", output.file),
                hint: "an output is critical or advisory".into(),
            });
        }
    }
    Ok(outputs)
}

fn defined(place: &Place, stage: &str) -> Result<Vec<Output>> {
    let defined = place.resolved.stages.iter().find(|known| known.name == stage);
    match defined.map(|stage| (stage, &stage.broken)) {
        Some((stage, None)) => Ok(stage.expected()),
        Some((_, Some(finding))) => {
            let line = finding.line.map_or(String::new(), |line| format!(":{line}"));
            let file = finding.file.as_deref().unwrap_or_default();
            Err(Error::Refused {
                what: format!("{file}{line}: {}", finding.text),
                hint: "mend the definition, or name the outputs with --critical and --advisory".into(),
            })
        }
        None => Err(Error::Usage {
            what: format!("nothing is named, and no settings file defines [stages.{stage}]"),
            hint: format!("`thru gate expect {stage} --critical {stage}-ROLE.md`"),
        }),
    }
}

/// Files of the project, as records name them.
fn inputs(world: &World, root: &Root, named: &[String]) -> Result<Vec<String>> {
    let mut inputs = Vec::with_capacity(named.len());
    for named in named {
        let path = world.need_cwd()?.join(named);
        let place =
            place::within(&root.checkout.to_string_lossy(), &path.to_string_lossy()).path.into_owned();
        let absent =
            |why: &str, hint: &str| Error::Absent { what: format!("{named}: {why}"), hint: hint.into() };
        if place.starts_with('/') {
            return Err(absent("this is no file of the project", "an input lies inside the project"));
        }
        if !root.checkout.join(&place).is_file() {
            return Err(absent("there is no such file", "an input is there before it is worked on"));
        }
        inputs.push(place);
    }
    Ok(inputs)
}

fn check_name(file: &str) -> Result<()> {
    let usage =
        |what: String| Error::Usage { what, hint: "an output is called like `review-security.md`".into() };
    Id::new(file).map_err(|bad| usage(bad.to_string()))?;
    if [layout::EXPECTED, layout::OMISSIONS].contains(&file) {
        return Err(usage(format!("`{file}` is a file of the run itself")));
    }
    Ok(())
}

impl Where {
    pub fn words(self) -> &'static str {
        match self {
            Where::LiveJson => layout::LIVE,
            Where::LiveStateFile => "gates.live_state_file",
        }
    }
}
