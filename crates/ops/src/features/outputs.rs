//! `thru gate`: checks whether the files that sub-agents must write exist, are complete and are fresh.

mod adopt;
mod earlier;
mod expect;
mod hook;
mod launch;
mod live;
mod orphan;
mod passed;
mod report;
mod run;
mod seal;
mod worker;

use std::path::PathBuf;
use std::time::Duration;

use model::config::ResolvedSettings;
use model::event::{EventName, EventSet};
use model::gate::{
    self, ExpectedOutput, ExpectedOutputs, GateResult, JudgedOutput, OmittedOutput, OutputTier,
    OutputVerdict, RemedyCommands,
};
use model::id::Id;
use serde::Serialize;
use store::{Lock, OutputReadDepth, Root, RunFolder, Store, layout};

use crate::features::Feature;
use crate::project::{Project, settings, trust};
use crate::{Error, Result, World};

use orphan::OrphanedLaunch;

pub use adopt::{LaunchShown, LaunchesToAdopt, adopt_launches, find_launches_to_adopt};
pub use earlier::open_earlier_stages;
pub use expect::{
    ExpectedFile, ExpectedOutputsReport, ExpectedOutputsRequest, UnfinishedRun, expect_outputs,
};
pub use hook::{LiveRunState, OpenOutput, live_run_state};
pub(crate) use live::live_run_of_project;
pub use live::{ClearedLiveRun, LiveRunReport, LiveRunSource, clear_live_run, set_live_run, show_live_run};
pub use passed::ChangeSincePass;
pub use run::{GateRunOptions, GateRunProgress, RelaunchPolicy, run_gate};
pub use seal::{InstructionForOutputAuthor, SealReport, output_prompt, seal_output};

pub const FEATURE_ROW: Feature = Feature {
    name: "outputs",
    wanted_events: EventSet::from_names(&[EventName::SubagentStart, EventName::SubagentStop]),
    annotate: hook::annotate_subagent_stop,
    decide: hook::decide,
    brief_candidates: hook::brief_candidates,
    brief_sections: hook::BRIEF_SECTION_NAMES,
    continue_under_new_id: worker::continue_under_new_id,
    doctor_checks: report::doctor_checks,
    status: report::status_lines,
    ..Feature::EMPTY_FEATURE
};

/// How long to wait for another process that is working in the same run. If `thru gate run` is killed while it starts
/// a child, the child holds the lock slightly longer than its parent.
const MAX_RUN_LOCK_WAIT: Duration = Duration::from_secs(2);

#[derive(Clone, Debug, Serialize)]
pub struct GateReport {
    pub run: PathBuf,
    pub stage: String,
    pub attempt: u32,
    pub gate: GateResult,
    pub outputs: Vec<OutputReportRow>,
    /// The time at which the stage passed, and the inputs that have changed since then. `None` if the stage has
    /// not passed or no inputs have changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_since_pass: Option<ChangeSincePass>,
    /// The file that lists the omitted outputs, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omissions: Option<PathBuf>,
}

#[derive(Clone, Debug, Serialize)]
pub struct OutputReportRow {
    pub file: String,
    pub tier: OutputTier,
    pub verdict: OutputVerdict,
    /// Why the output is not valid. Empty if it is valid.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Whether the output is stale only because its inputs have changed.
    #[serde(skip)]
    pub have_inputs_changed: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub remedy: String,
    /// How many times the output's command has been launched since the stage began.
    pub attempts: u32,
    /// The file that contains what the launched command printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<PathBuf>,
    /// The file that contains the last message of a sub-agent that wrote no valid output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_message: Option<PathBuf>,
}

impl GateReport {
    /// Returns whether the stage passed earlier, and changed inputs are the only reason why outputs are now invalid.
    pub fn fails_only_because_of_inputs(&self) -> bool {
        let is_because_of_inputs =
            |row: &OutputReportRow| row.verdict == OutputVerdict::Valid || row.have_inputs_changed;
        self.changed_since_pass.is_some() && self.outputs.iter().all(is_because_of_inputs)
    }
}

/// Returns the verdicts on the outputs of the newest run of `stage` or, if `stage` is `None`, of the live run.
pub fn check_gate(world: &World, stage: Option<&str>) -> Result<GateReport> {
    let place = GateContext::find_project(world)?;
    let run = place.find_run(stage)?;
    let expected = place.read_expected(&run)?;
    worker::record_calling_agent_works_on_run(world, &place, &run);
    let report = build_gate_report(&place, &run, &expected)?;
    if report.gate == GateResult::Pass && expected.passed_at.is_none() {
        // Errors are ignored, because the verdicts are right without this record.
        let _ = record_pass_found_by_check(world, &place, &run);
    }
    Ok(report)
}

/// Records that a run has passed, after a check has found all its outputs to be valid. The record is part of the run's
/// list of outputs. This list is read again under the lock, because a `gate run` may have changed it.
fn record_pass_found_by_check(world: &World, place: &GateContext, run: &RunFolder) -> Result<()> {
    if !place.trusted {
        return Ok(());
    }
    let _lock = place.lock_run(run, "gate check")?;
    let mut expected = place.read_expected(run)?;
    passed::record_pass(&place.root, run, &mut expected, world.now)
}

struct GateContext {
    root: Root,
    store: Store,
    settings: ResolvedSettings,
    trusted: bool,
    /// The hint that says how to trust the root. Empty if the root is trusted.
    trust_hint: String,
}

impl GateContext {
    fn find_project(world: &World) -> Result<GateContext> {
        Ok(GateContext::from_project(world, Project::find_for_reading(world)?))
    }

    fn from_project(world: &World, project: Project) -> GateContext {
        let Project { root, store, marker } = project;
        let trusted = world.is_trusted(&marker, &root.path);
        // The settings in a clone were written by somebody else, so they are used only if the root is trusted.
        let resolved = settings::resolve_settings(world, trusted.then_some(&store));
        let trust_hint = match trusted {
            true => String::new(),
            false => trust::how_to_trust(world, &marker.project_id, &root.path, "expected.json"),
        };
        GateContext { root, store, settings: resolved, trusted, trust_hint }
    }

    /// Finds a run of `stage`: the live run if it belongs to that stage, or else the stage's newest run in
    /// `outputs/`. If `stage` is `None`, returns the live run.
    fn find_run(&self, stage: Option<&str>) -> Result<RunFolder> {
        let Some(stage) = stage else {
            return self.find_live_run()?.map(|live| live.run).ok_or_else(|| self.no_live_run_error());
        };
        let id = Id::new(stage).map_err(|bad| Error::Usage {
            what: bad.to_string(),
            hint: "use a name such as `review`".into(),
        })?;
        let is_of = |run: &RunFolder| run.read_expected().is_ok_and(|expected| expected.stage == stage);
        let live = self.find_live_run()?.map(|live| live.run);
        let live = live.map(|run| if is_of(&run) { run } else { run.with_list_of_stage(&id) });
        if let Some(run) = live.filter(is_of) {
            return Ok(run);
        }
        // A run's name ends with the time, so the last name belongs to the newest run.
        let names = self.store.run_names()?;
        let named = names.iter().rev().filter(|name| name.starts_with(&format!("{stage}-")));
        let mut runs = named
            .filter_map(|name| RunFolder::open(&self.root.path, &run_path_below_root(name)).ok())
            .filter(is_of);
        runs.next().ok_or_else(|| Error::Absent {
            what: format!("{}: there is no run of stage `{stage}`", self.outputs_folder().display()),
            hint: format!("`thru gate expect {stage} --critical {stage}-ROLE.md` creates one"),
        })
    }

    fn read_expected(&self, run: &RunFolder) -> Result<ExpectedOutputs> {
        match run.read_expected() {
            Err(store::Error::Absent { path }) => Err(Error::Absent {
                what: format!("{}: there is no such file, so nothing is expected here", path.display()),
                hint: "`thru gate expect STAGE --critical FILE…` creates it".into(),
            }),
            Err(store::Error::Damaged { path, line, why }) => Err(Error::Damaged {
                path,
                line,
                why,
                hint: "fix it, or let `thru gate expect STAGE --critical FILE…` create a new run".into(),
            }),
            expected => Ok(expected?),
        }
    }

    fn no_live_run_error(&self) -> Error {
        let path = self.store.dir().path().join(layout::LIVE_RUN_FILE);
        let setting = match self.settings.settings().live_state_file {
            path if path.is_empty() => String::new(),
            path => {
                let path = self.root.checkout.join(&*path);
                let how = if path.exists() { "names no run" } else { "does not exist" };
                format!(", and {} {how}", path.display())
            }
        };
        Error::Absent {
            what: format!("no run is live: {} does not exist{setting}", path.display()),
            hint: "`thru gate expect STAGE --critical FILE…` creates a run and that file; `thru gate live --set DIR` names an existing run"
                .into(),
        }
    }

    fn outputs_folder(&self) -> PathBuf {
        self.store.dir().path().join(layout::OUTPUTS_FOLDER)
    }

    fn judge_output(&self, run: &RunFolder, output: &ExpectedOutput) -> Result<JudgedOutput> {
        judge_file(run, output, &self.root)
    }

    /// Takes the lock that a process holds while it works in a run. If another process holds the lock, the error
    /// names that process.
    fn lock_run(&self, run: &RunFolder, command: &str) -> Result<Lock> {
        let who = format!("`thru {command}` (process {})", std::process::id());
        match self.store.lock_run(run, &who, MAX_RUN_LOCK_WAIT) {
            Err(store::Error::Busy { .. }) => Err(Error::Busy {
                what: format!(
                    "{}: {} is working on this run",
                    run.path().display(),
                    self.store
                        .describe_process_working_in_run(run)
                        .unwrap_or_else(|| "another thru process".to_owned())
                ),
                hint: "wait for it to finish; `thru gate check` shows its progress".into(),
            }),
            lock => Ok(lock?),
        }
    }
}

fn require_trust(place: &GateContext) -> Result<()> {
    match place.trusted {
        true => Ok(()),
        false => Err(Error::Refused {
            what: "this root is not trusted, so no command from its records is run".into(),
            hint: format!("{}, in a terminal", place.trust_hint),
        }),
    }
}

fn run_path_below_root(name: &str) -> String {
    format!("{}/{}/{name}", layout::STORE_FOLDER, layout::OUTPUTS_FOLDER)
}

fn judge_file(run: &RunFolder, output: &ExpectedOutput, root: &Root) -> Result<JudgedOutput> {
    let seen = run.examine_output(&output.file, OutputReadDepth::Whole)?;
    let inputs = if output.inputs_digest.is_empty() {
        String::new()
    } else {
        store::inputs_digest(&store::input_folder(root, output), &output.inputs)?
    };
    Ok(gate::judge_output(output, &seen, &inputs))
}

fn build_gate_report(place: &GateContext, run: &RunFolder, expected: &ExpectedOutputs) -> Result<GateReport> {
    let mut rows = Vec::with_capacity(expected.outputs.len());
    let commands = commands_for_run(place, run, &expected.stage);
    let mut changed = Vec::new();
    for output in &expected.outputs {
        let judged = place.judge_output(run, output)?;
        if judged.have_inputs_changed {
            changed.push(output);
        }
        rows.push(output_row(place, run, output, judged, &commands)?);
    }
    let omissions = run.path().join(stage_omissions_file(run, expected));
    let omitted = rows.iter().any(|row| OmittedOutput::may_omit(row.tier, row.verdict));
    Ok(GateReport {
        run: run.path().to_owned(),
        stage: expected.stage.clone(),
        attempt: expected.attempt,
        gate: gate::gate_result(rows.iter().map(|row| (row.tier, row.verdict))),
        changed_since_pass: ChangeSincePass::find(&place.root, expected, &changed)?,
        omissions: (omitted && omissions.exists()).then_some(omissions),
        outputs: rows,
    })
}

/// Returns how suggested commands must name this run and its outputs. `file` is the folder to put before the name of
/// an output. It is empty if the bare name is enough.
fn commands_for_run(place: &GateContext, run: &RunFolder, stage: &str) -> RemedyCommands {
    let live = place.find_live_run().ok().flatten();
    let is_in_live_folder = live.is_some_and(|live| live.run.path() == run.path());
    let is_chosen = is_in_live_folder && run.list_file_name() == layout::EXPECTED_FILE;
    RemedyCommands {
        stage: (!is_chosen).then(|| stage.to_owned()),
        file: if is_in_live_folder { String::new() } else { run.path().display().to_string() },
    }
}

/// Returns the name of the file in which a stage records omitted outputs. A stage that is not the folder's current
/// stage has a separate file.
fn stage_omissions_file(run: &RunFolder, expected: &ExpectedOutputs) -> String {
    match run.list_file_name() == layout::EXPECTED_FILE {
        true => layout::OMITTED_OUTPUTS_FILE.to_owned(),
        false => layout::stage_omissions_file(&expected.stage),
    }
}

/// Returns the inputs of an output that do not exist. If they belong to another checkout, their paths are absolute.
fn absent_inputs(root: &Root, output: &ExpectedOutput) -> Result<Vec<String>> {
    let folder = store::input_folder(root, output);
    let absent = store::absent_inputs(&folder, &output.inputs)?.into_iter();
    let shown = |input: &str| match folder == root.checkout {
        true => input.to_owned(),
        false => folder.join(input).display().to_string(),
    };
    Ok(absent.map(shown).collect())
}

fn output_row(
    place: &GateContext,
    run: &RunFolder,
    output: &ExpectedOutput,
    judged: JudgedOutput,
    commands: &RemedyCommands,
) -> Result<OutputReportRow> {
    let invalid = judged.verdict != OutputVerdict::Valid;
    let log = layout::launch_log_file_name(&output.file);
    let log = (invalid && run.has_file(&log)).then(|| run.path().join(log));
    let shown = log.as_ref().map(|log| log.display().to_string());
    let absent = absent_inputs(&place.root, output)?;
    let remedy = match OrphanedLaunch::read_record(run, &output.file) {
        _ if !invalid => String::new(),
        Some(orphan) => orphan.remedy(),
        None if !absent.is_empty() => format!("restore its input {}", absent.join(", ")),
        None => {
            let name = |folder: &str| match folder {
                "" => output.file.clone(),
                folder => format!("{folder}/{}", output.file),
            };
            let commands = RemedyCommands { file: name(&commands.file), ..commands.clone() };
            gate::remedy_for_output(output, &judged, shown.as_deref(), &commands)
        }
    };
    Ok(OutputReportRow {
        file: output.file.clone(),
        tier: output.tier,
        verdict: judged.verdict,
        have_inputs_changed: judged.have_inputs_changed,
        why: judged.why,
        remedy,
        attempts: output.attempts,
        last_message: place.store.saved_message_path(run, &output.file).filter(|_| invalid),
        log,
    })
}
