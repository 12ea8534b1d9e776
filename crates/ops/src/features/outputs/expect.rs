//! `thru gate expect`: records what a stage must produce, and creates the run for it.

use std::path::PathBuf;

use model::gate::{Expected, Output, Tier, Verdict, is_of_run, role_of};
use model::id::Id;
use model::{place, time};
use serde::Serialize;
use store::{Lock, Root, Run, layout};

use super::{GateContext, Where};
use crate::project::Project;
use crate::project::consent::{allow_launches, is_stage_allowed};
use crate::setup::init::PATIENCE;
use crate::{Error, Result, World};

/// What was requested. If no file is named, the stage's definition in the settings is used.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub stage: String,
    pub critical: Vec<String>,
    pub advisory: Vec<String>,
    /// Files whose names determine their tier.
    pub files: Vec<String>,
    /// Paths relative to the working directory.
    pub inputs: Vec<String>,
    pub prompt: Option<String>,
    pub launch: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Expectation {
    pub run: PathBuf,
    pub stage: String,
    pub outputs: Vec<ExpectOptions>,
    /// Where an earlier `expected.json` of this folder was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_aside: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct ExpectOptions {
    pub path: PathBuf,
    pub tier: Tier,
}

pub fn expect(world: &World, wanted: &Wanted) -> Result<Expectation> {
    let stage = Id::new(&wanted.stage).map_err(|bad| Error::Usage {
        what: bad.to_string(),
        hint: "a stage has a name such as `review`".into(),
    })?;
    let place = GateContext::of(world, Project::find_or_make(world)?);
    let outputs = outputs(world, &place, wanted)?;
    for output in &outputs {
        check_name(&output.file)?;
    }
    let _lock = place.store.lock_runs(PATIENCE)?;
    let folder = folder(world, &place, &stage)?;
    let outputs = outputs.into_iter().map(|output| folder.asked(world, &place, output));
    let expected = Expected::new(stage.as_str(), outputs.collect::<Result<_>>()?);
    // Up to here nothing in use has been changed, so an invalid request leaves everything as it was.
    let Folder { run, kind, .. } = folder;
    if is_given(world, &place, wanted) {
        allow_launches(&place.store, &place.root, &run, expected.outputs.iter(), world.now)?;
    }
    let set_aside = match kind {
        FolderKind::New => None,
        FolderKind::Shared(_) => make_room(world, &run, &stage)?,
    };
    run.write_expected(&expected)?;
    if let FolderKind::New = kind {
        let name = run.path().file_name().unwrap_or_default().to_string_lossy();
        place.store.set_live(Some(&super::in_outputs(&name)), world.now)?;
    }
    Ok(Expectation {
        run: run.path().to_owned(),
        stage: expected.stage,
        outputs: expected
            .outputs
            .into_iter()
            .map(|output| ExpectOptions { path: run.path().join(&output.file), tier: output.tier })
            .collect(),
        set_aside,
    })
}

/// Returns whether the user who runs this command chose the launch command. The project's settings may come from
/// somebody else, so the user must adopt those first.
fn is_given(world: &World, place: &GateContext, wanted: &Wanted) -> bool {
    let by_name = [&wanted.critical, &wanted.advisory, &wanted.files].iter().any(|files| !files.is_empty());
    let stage = || place.resolved.stages.iter().find(|stage| stage.name == wanted.stage);
    by_name || stage().is_some_and(|stage| is_stage_allowed(world, &place.store, stage))
}

/// The folder where the outputs go.
struct Folder {
    run: Run,
    /// Whether the folder is new, or an orchestrator's folder for all its stages.
    kind: FolderKind,
    /// The lock of an existing folder, where another process may be working.
    _lock: Option<Lock>,
}

enum FolderKind {
    New,
    /// Contains the last request for the same stage, if there was one.
    Shared(Option<Expected>),
}

impl Folder {
    /// Returns an output that counts from now, with the current inputs. In a shared folder a valid output stays valid
    /// if it was requested in the same way before, or not at all, because the folder is for one piece of work.
    fn asked(&self, world: &World, place: &GateContext, output: Output) -> Result<Output> {
        let earlier = match &self.kind {
            FolderKind::New => return Ok(Output { not_before: Some(world.now), ..output }),
            FolderKind::Shared(earlier) => earlier.as_ref(),
        };
        let known = earlier.and_then(|list| list.outputs.iter().find(|known| known.file == output.file));
        let is_same =
            known.is_none_or(|known| known.inputs == output.inputs && known.prompt == output.prompt);
        let known = known.unwrap_or(&output).clone();
        if !is_same || place.judge(&self.run, &known)?.verdict != Verdict::Valid {
            return Ok(Output { not_before: Some(world.now), ..output });
        }
        let Output { not_before, inputs_digest, attempts, was_valid, .. } = known;
        Ok(Output { not_before, inputs_digest, attempts, was_valid, ..output })
    }
}

/// Returns the folder for a stage: the one that an orchestrator made live, or else a new folder.
fn folder(world: &World, place: &GateContext, stage: &Id) -> Result<Folder> {
    let outputs = place.outputs();
    // A live run that no longer exists must not prevent a new one.
    let live = place.live().unwrap_or(None).filter(|live| !live.run.path().starts_with(&outputs));
    if let Some(live) = live {
        // A run that is working in the folder uses the list it began with, so the folder is locked.
        let lock = place.lock(&live.run, "gate expect")?;
        let kind = FolderKind::Shared(earlier(&live.run, stage));
        return Ok(Folder { run: live.run, kind, _lock: Some(lock) });
    }
    let name = Id::new(&format!("{stage}-{}", time::compact(world.now))).map_err(|bad| Error::Usage {
        what: bad.to_string(),
        hint: "choose a shorter name for the stage".into(),
    })?;
    Ok(Folder { run: place.store.new_run(&name)?, kind: FolderKind::New, _lock: None })
}

/// Returns the last request for a stage.
fn earlier(run: &Run, stage: &Id) -> Option<Expected> {
    let current = run.expected().ok().filter(|list| list.stage == stage.as_str());
    current.or_else(|| run.list_of(stage).ok())
}

/// Makes room for a stage's list. The list of another stage stays next to it; an earlier list of the same stage is
/// moved aside.
fn make_room(world: &World, run: &Run, stage: &Id) -> Result<Option<String>> {
    let word = format!("replaced-{}", time::compact(world.now));
    let other = run.expected().ok().filter(|list| list.stage != stage.as_str());
    let mut set_aside = None;
    match other.and_then(|list| Id::new(&list.stage).ok()) {
        Some(other) => {
            run.set_aside(&layout::expected_of(other.as_str()), &word)?;
            run.keep_list(&other)?;
        }
        None => set_aside = run.set_aside(layout::EXPECTED, &word)?,
    }
    let aside = run.set_aside(&layout::expected_of(stage.as_str()), &word)?;
    Ok(set_aside.or(aside))
}

fn outputs(world: &World, place: &GateContext, wanted: &Wanted) -> Result<Vec<Output>> {
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
        // The command line takes precedence over a definition in the settings.
        if !inputs.is_empty() {
            output.inputs.clone_from(&inputs);
        }
        if let Some(prompt) = &wanted.prompt {
            output.prompt = prompt.replace("{role}", role_of(&output.file, &wanted.stage));
        }
        if !wanted.launch.is_empty() {
            output.launch.clone_from(&wanted.launch);
        }
        output.inputs_digest = store::inputs_digest(&place.root.checkout, &output.inputs)?;
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

fn defined(place: &GateContext, stage: &str) -> Result<Vec<Output>> {
    let defined = place.resolved.stages.iter().find(|known| known.name == stage);
    match defined.map(|stage| (stage, &stage.broken)) {
        Some((stage, None)) => Ok(stage.expected()),
        Some((_, Some(finding))) => {
            let line = finding.line.map_or(String::new(), |line| format!(":{line}"));
            let file = finding.file.as_deref().unwrap_or_default();
            Err(Error::Refused {
                what: format!("{file}{line}: {}", finding.text),
                hint: "fix the definition, or name the outputs with --critical and --advisory".into(),
            })
        }
        None => Err(Error::Usage {
            what: format!("nothing is named, and no settings file defines [stages.{stage}]"),
            hint: format!("`thru gate expect {stage} --critical {stage}-ROLE.md`"),
        }),
    }
}

/// Returns the paths of files of the project, in the form that records use.
fn inputs(world: &World, root: &Root, named: &[String]) -> Result<Vec<String>> {
    let mut inputs = Vec::with_capacity(named.len());
    for named in named {
        let path = world.need_cwd()?.join(named);
        let absent =
            |why: &str, hint: &str| Error::Absent { what: format!("{named}: {why}"), hint: hint.into() };
        let place = place::within(&root.checkout.to_string_lossy(), &path.to_string_lossy()).into_inside();
        let Some(place) = place else {
            return Err(absent("this is not a file of the project", "an input must be inside the project"));
        };
        if !root.checkout.join(&place).is_file() {
            return Err(absent("there is no such file", "an input must exist before the work starts"));
        }
        inputs.push(place);
    }
    Ok(inputs)
}

pub(super) fn check_name(file: &str) -> Result<()> {
    let usage = |what: String| Error::Usage {
        what,
        hint: "an output has a name such as `review-security.md`".into(),
    };
    Id::new(file).map_err(|bad| usage(bad.to_string()))?;
    if is_of_run(file) {
        return Err(usage(format!("`{file}` is reserved for the run itself")));
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
