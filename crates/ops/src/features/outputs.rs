//! `thru gate`: checks that the files that sub-agents had to write exist, are complete and are fresh.

mod adopt;
mod expect;
mod hook;
mod launch;
mod live;
mod orphan;
mod report;
mod run;
mod seal;

use std::path::{Path, PathBuf};
use std::time::Duration;

use model::config::Resolved;
use model::event::{EventName, EventSet};
use model::gate::{self, Expected, Gate, Judged, Omission, Output, Tier, Verdict};
use model::id::Id;
use serde::Serialize;
use store::{CheckDepth, Lock, Root, Run, Store, layout};

use crate::features::Feature;
use crate::project::{Project, settings, trust};
use crate::{Error, Result, World};

use orphan::Orphan;

pub use adopt::{Adoption, LaunchShown, adopt, to_adopt};
pub use expect::{ExpectOptions, Expectation, Wanted, expect};
pub use hook::{Open, OpenOutput, open};
pub(crate) use live::live_run;
pub use live::{Live, Where, clear_live, live, set_live};
pub use run::{Again, Options, Progress, run};
pub use seal::{Prompt, Sealed, prompt, seal};

pub const ROW: Feature = Feature {
    name: "outputs",
    wants: EventSet::of(&[EventName::SubagentStart, EventName::SubagentStop]),
    annotate: hook::annotate,
    decide: hook::decide,
    candidates: hook::candidates,
    sections: hook::SECTIONS,
    checks: report::checks,
    status: report::status,
    ..Feature::NONE
};

/// How long to wait for another process that is working in the same run. A child that a killed run was just starting
/// keeps its lock slightly longer than the run itself.
const PATIENCE: Duration = Duration::from_secs(2);

/// The state of a run.
#[derive(Clone, Debug, Serialize)]
pub struct GateReport {
    pub run: PathBuf,
    pub stage: String,
    pub attempt: u32,
    pub gate: Gate,
    pub outputs: Vec<Row>,
    /// The note about omitted outputs, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omissions: Option<PathBuf>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub file: String,
    pub tier: Tier,
    pub verdict: Verdict,
    /// Why the output is not valid.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub remedy: String,
    /// How often it was launched since the stage was begun.
    pub attempts: u32,
    /// The output of the launched command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<PathBuf>,
    /// The last message of an agent that left no file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_message: Option<PathBuf>,
}

/// Returns the verdicts of the live run, or of the newest run of a stage. Writes nothing.
pub fn check(world: &World, stage: Option<&str>) -> Result<GateReport> {
    let place = GateContext::find(world)?;
    let run = place.run(stage)?;
    let expected = place.expected(&run)?;
    report(&place, &run, &expected)
}

/// Where a gate command works.
struct GateContext {
    root: Root,
    store: Store,
    resolved: Resolved,
    trusted: bool,
    /// How to trust the root, if it is not trusted.
    trust_hint: String,
}

impl GateContext {
    fn find(world: &World) -> Result<GateContext> {
        Ok(GateContext::of(world, Project::find(world)?))
    }

    fn of(world: &World, project: Project) -> GateContext {
        let Project { root, store, marker } = project;
        let trusted = world.trusts(&marker, &root.path);
        // The settings of a clone are somebody else's text, so they are used only if the root is trusted.
        let resolved = settings::resolve(world, trusted.then_some(&store));
        let trust_hint = match trusted {
            true => String::new(),
            false => trust::advice(world, &marker.project_id, &root.path, "expected.json"),
        };
        GateContext { root, store, resolved, trusted, trust_hint }
    }

    /// Finds the run of `stage`: the live run if it belongs to that stage, or else the newest run in `outputs/` that
    /// does.
    fn run(&self, stage: Option<&str>) -> Result<Run> {
        let Some(stage) = stage else {
            return self.live()?.map(|live| live.run).ok_or_else(|| self.no_live_run());
        };
        let id = Id::new(stage).map_err(|bad| Error::Usage {
            what: bad.to_string(),
            hint: "a stage has a name such as `review`".into(),
        })?;
        let is_of = |run: &Run| run.expected().is_ok_and(|expected| expected.stage == stage);
        let live = self.live()?.map(|live| live.run);
        let live = live.map(|run| if is_of(&run) { run } else { run.listed(&id) });
        if let Some(run) = live.filter(is_of) {
            return Ok(run);
        }
        // The name of a run ends with its time, so the last one is the newest.
        let names = self.store.runs()?;
        let named = names.iter().rev().filter(|name| name.starts_with(&format!("{stage}-")));
        let mut runs =
            named.filter_map(|name| Run::open(&self.root.path, &in_outputs(name)).ok()).filter(is_of);
        runs.next().ok_or_else(|| Error::Absent {
            what: format!("{}: there is no run of stage `{stage}`", self.outputs().display()),
            hint: format!("`thru gate expect {stage} --critical {stage}-ROLE.md` makes one"),
        })
    }

    fn expected(&self, run: &Run) -> Result<Expected> {
        match run.expected() {
            Err(store::Error::Absent { path }) => Err(Error::Absent {
                what: format!("{}: there is no such file, so nothing is expected here", path.display()),
                hint: "`thru gate expect STAGE --critical FILE…` makes it".into(),
            }),
            Err(store::Error::Damaged { path, line, why }) => Err(Error::Damaged {
                path,
                line,
                why,
                hint: "fix it, or let `thru gate expect STAGE --critical FILE…` make a new run".into(),
            }),
            expected => Ok(expected?),
        }
    }

    fn no_live_run(&self) -> Error {
        let path = self.store.dir().path().join(layout::LIVE);
        let setting = match self.resolved.settings().live_state_file {
            path if path.is_empty() => String::new(),
            path => {
                let path = self.root.checkout.join(&*path);
                let how = if path.exists() { "names none" } else { "is not there" };
                format!(", and {} {how}", path.display())
            }
        };
        Error::Absent {
            what: format!("no run is live: {} does not exist{setting}", path.display()),
            hint: "`thru gate expect STAGE --critical FILE…` makes a run and that file; `thru gate live --set DIR` \
                   points it to one"
                .into(),
        }
    }

    fn outputs(&self) -> PathBuf {
        self.store.dir().path().join(layout::OUTPUTS)
    }

    fn judge(&self, run: &Run, output: &Output) -> Result<Judged> {
        judge(run, output, &self.root.checkout)
    }

    /// Takes the lock that a process holds while it works in a run. If another process has it, the error names that
    /// process.
    fn lock(&self, run: &Run, command: &str) -> Result<Lock> {
        let who = format!("`thru {command}` (process {})", std::process::id());
        match self.store.lock_run(run, &who, PATIENCE) {
            Err(store::Error::Busy { .. }) => Err(Error::Busy {
                what: format!(
                    "{}: {} is working in this run",
                    run.path().display(),
                    self.store.current_worker(run).unwrap_or_else(|| "another thru".to_owned())
                ),
                hint: "wait until it ends; `thru gate check` shows its progress".into(),
            }),
            lock => Ok(lock?),
        }
    }
}

fn need_trust(place: &GateContext) -> Result<()> {
    match place.trusted {
        true => Ok(()),
        false => Err(Error::Refused {
            what: "this root is not trusted, so no command in its records is started".into(),
            hint: format!("{}, in a terminal", place.trust_hint),
        }),
    }
}

/// Returns the path of a run, relative to the root.
fn in_outputs(name: &str) -> String {
    format!("{}/{}/{name}", layout::STORE, layout::OUTPUTS)
}

/// Judges an output. `base` is the folder that its inputs are relative to.
fn judge(run: &Run, output: &Output, base: &Path) -> Result<Judged> {
    let seen = run.look(&output.file, CheckDepth::Whole)?;
    let inputs = if output.inputs_digest.is_empty() {
        String::new()
    } else {
        store::inputs_digest(base, &output.inputs)?
    };
    Ok(gate::judge(output, &seen, &inputs))
}

fn report(place: &GateContext, run: &Run, expected: &Expected) -> Result<GateReport> {
    let mut rows = Vec::with_capacity(expected.outputs.len());
    for output in &expected.outputs {
        rows.push(row(place, run, output, place.judge(run, output)?)?);
    }
    let omissions = run.path().join(stage_omissions_file(run, expected));
    let omitted = rows.iter().any(|row| Omission::is_omitted(row.tier, row.verdict));
    Ok(GateReport {
        run: run.path().to_owned(),
        stage: expected.stage.clone(),
        attempt: expected.attempt,
        gate: gate::gate(rows.iter().map(|row| (row.tier, row.verdict))),
        omissions: (omitted && omissions.exists()).then_some(omissions),
        outputs: rows,
    })
}

/// Returns the file where a stage records omitted outputs. A stage that is not the folder's current one has its own
/// file.
fn stage_omissions_file(run: &Run, expected: &Expected) -> String {
    match run.list() == layout::EXPECTED {
        true => layout::OMISSIONS.to_owned(),
        false => layout::stage_omissions_file(&expected.stage),
    }
}

fn row(place: &GateContext, run: &Run, output: &Output, judged: Judged) -> Result<Row> {
    let invalid = judged.verdict != Verdict::Valid;
    let log = layout::launch_log(&output.file);
    let log = (invalid && run.holds(&log)).then(|| run.path().join(log));
    let shown = log.as_ref().map(|log| log.display().to_string());
    let absent = store::absent_inputs(&place.root.checkout, &output.inputs)?;
    let remedy = match Orphan::of(run, &output.file) {
        _ if !invalid => String::new(),
        Some(orphan) => orphan.remedy(),
        None if !absent.is_empty() => format!("restore its input {}", absent.join(", ")),
        None => gate::remedy(output, judged.verdict, shown.as_deref()),
    };
    Ok(Row {
        file: output.file.clone(),
        tier: output.tier,
        verdict: judged.verdict,
        why: judged.why,
        remedy,
        attempts: output.attempts,
        last_message: place.store.message(run, &output.file).filter(|_| invalid),
        log,
    })
}
