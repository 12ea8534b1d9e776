//! `thru import swarm`: imports the records that opencode-swarm keeps in `.swarm`. The original files are not changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::plan::{self, ImportWarning, ImportedPlan, Plan, TaskStatus};
use model::render::one_line;
use model::text::fnv_fingerprint;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Dir, FoundRoot};

use crate::features::decisions;
use crate::features::evidence::{self, import::EvidenceImportReport};
use crate::features::plan::import::{self, ExistingPlanPolicy, IncomingPlan, PlanImportReport};
use crate::features::summaries::{self, import::OutputImportReport};
use crate::input_redactor::InputRedactor;
use crate::project::benchmark::{self, BenchmarkRunsImportReport};
use crate::{Error, Result, World, WriteMode};

/// The folder in which opencode-swarm keeps its records in a project.
pub const FOREIGN_SWARM_FOLDER: &str = ".swarm";

/// The size limit of a file. It is high because a ledger contains the whole plan many times.
const MAX_FILE_BYTES: usize = 256 * 1024 * 1024;

#[derive(Clone, Debug, Serialize)]
pub struct SwarmImportReport {
    #[serde(serialize_with = "serialize_path")]
    pub folder: PathBuf,
    /// The imported plan, or `None` if the folder has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanImportReport>,
    /// The imported decisions. `None` if the folder has no context.md, or if that file contains neither decisions nor
    /// patterns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decisions: Option<decisions::import::DecisionImportReport>,
    /// The imported evidence, or `None` if the folder has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceImportReport>,
    /// The imported outputs that were summarised, or `None` if the folder has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summaries: Option<OutputImportReport>,
    /// The imported benchmark runs, or `None` if the folder has no benchmarks.json.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub benchmarks: Option<BenchmarkRunsImportReport>,
}

fn serialize_path<S: serde::Serializer>(path: &Path, to: S) -> std::result::Result<S::Ok, S::Error> {
    to.collect_str(&path.display())
}

pub fn import_swarm(
    world: &World,
    folder: Option<&Path>,
    place: ExistingPlanPolicy,
    mode: WriteMode,
) -> Result<SwarmImportReport> {
    let (FoundRoot::Marked { root, .. } | FoundRoot::Unmarked(root)) = world.find_root()?;
    // A folder that the user names may be a link. The default folder in the project must not be one, because it may
    // come from another person. The files in either folder may also come from another person, so links to files are
    // not followed and pipes are not read.
    let folder = match folder {
        Some(folder) => Dir::open(folder)?,
        None => Dir::open(&root.checkout)?.open_subfolder(FOREIGN_SWARM_FOLDER)?,
    };
    let plan = match read_plan(world, &folder)? {
        Some(incoming) => Some(import::import_plan(world, &incoming, place, mode)?),
        None => None,
    };
    let evidence = evidence::import::import_evidence(world, &folder, mode)?;
    let decisions = decisions::import::import_swarm_context_file(world, &folder, mode)?;
    let summaries = summaries::import::import_outputs(world, &folder, mode)?;
    let benchmarks = benchmark::import_benchmark_runs(world, &folder, mode)?;
    let folder = folder.path().to_owned();
    let is_nothing = plan.is_none() && evidence.is_none() && decisions.is_none();
    if is_nothing && summaries.is_none() && benchmarks.is_none() {
        return Err(Error::Absent {
            what: format!(
                "{}: there is no plan.json, plan.md, plan-ledger.jsonl, evidence, summaries or benchmarks.json in it, and no decision in a context.md",
                folder.display()
            ),
            hint: "name the folder that contains them: `thru import swarm FOLDER`".into(),
        });
    }
    Ok(SwarmImportReport { folder, plan, evidence, decisions, summaries, benchmarks })
}

/// Reads `plan.json`, or else `plan.md`, or else the last plan in the ledger. The times come from the ledger.
fn read_plan(world: &World, dir: &Dir) -> Result<Option<IncomingPlan>> {
    let (redactor, folder) = (InputRedactor::with_settings_of(world), dir.path());
    let file = |name: &str| -> Result<Option<Vec<u8>>> {
        match dir.read_file(name, MAX_FILE_BYTES) {
            Err(store::Error::Absent { .. }) => Ok(None),
            bytes => Ok(Some(redactor.redact_bytes(&bytes?).into_owned())),
        }
    };
    let (json, view, ledger) = (file("plan.json")?, file("plan.md")?, file("plan-ledger.jsonl")?);
    let fingerprint = format!(
        "swarm-{:016x}",
        fnv_fingerprint([&json, &view, &ledger].map(|bytes| bytes.as_deref().unwrap_or_default()))
    );
    let ledger = SwarmLedger::read(ledger.as_deref().unwrap_or_default());
    let mut warnings: Vec<ImportWarning> = Vec::new();
    let mut warn = |text: String| warnings.push(ImportWarning { line: 0, text });
    let of_view =
        view.as_deref().map(|bytes| import::parse_plan_file(&folder.join("plan.md"), bytes)).transpose()?;
    let of_json = match json.as_deref().map(|bytes| import::parse_plan_file(&folder.join("plan.json"), bytes))
    {
        // If `plan.json` cannot be used, use `plan.md` or the ledger instead.
        Some(Err(error)) if of_view.is_some() || ledger.plan.is_some() => {
            warn(format!("plan.json is left out: {error}"));
            None
        }
        read => read.transpose()?,
    };
    let has_tasks = |read: &ImportedPlan| read.plan.tasks().next().is_some();
    let (name, chosen) = match (of_json, of_view, ledger.plan.clone()) {
        (Some(json), view, _) if has_tasks(&json) => {
            warn_of_difference(&json.plan, view.as_ref().map(|view| &view.plan), &mut warn);
            ("plan.json", json)
        }
        (_, Some(view), _) if has_tasks(&view) => ("plan.md", view),
        (_, _, Some(plan)) => ("plan-ledger.jsonl", ImportedPlan { plan, warnings: Vec::new() }),
        (Some(json), _, None) => ("plan.json", json),
        (None, Some(view), None) => ("plan.md", view),
        (None, None, None) => return Ok(None),
    };
    let ImportedPlan { mut plan, warnings: own } = chosen;
    warnings.extend(own);
    ledger.set_task_times(&mut plan);
    if plan.title.trim().is_empty() {
        plan.title = "Plan".to_owned();
    }
    let from = folder.join(name).display().to_string();
    Ok(Some(IncomingPlan { from, plan, warnings, fingerprint, redacted: redactor.has_redacted() }))
}

/// Adds a warning if `plan.md`, which shows the plan to people, differs from the plan. Somebody may have edited
/// `plan.md` by hand, but opencode-swarm itself uses `plan.json`.
fn warn_of_difference(plan: &Plan, view: Option<&Plan>, warn: &mut impl FnMut(String)) {
    let Some(view) = view else { return };
    let only: Vec<String> = view
        .tasks()
        .filter(|task| plan.task(&task.id).is_none())
        .map(|task| one_line(&task.id, 40))
        .collect();
    if !only.is_empty() {
        warn(format!(
            "plan.md has tasks that plan.json does not have; they are left out: {}",
            only.join(", ")
        ));
    }
    let differ = |task: &&plan::Task| {
        plan.task(&task.id).is_some_and(|known| known.status.is_over() != task.status.is_over())
    };
    let differing: Vec<String> = view.tasks().filter(differ).map(|task| one_line(&task.id, 40)).collect();
    if !differing.is_empty() {
        warn(format!(
            "plan.md and plan.json disagree about what is done; plan.json takes precedence: {}",
            differing.join(", ")
        ));
    }
}

/// The facts from the ledger: when tasks changed their status, and the last complete plan.
#[derive(Default)]
struct SwarmLedger {
    plan: Option<Plan>,
    status_change_times: BTreeMap<(String, TaskStatus), String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SwarmLedgerEvent {
    event_type: String,
    timestamp: String,
    task_id: Option<String>,
    to_status: Option<String>,
    payload: Value,
}

impl SwarmLedger {
    fn read(bytes: &[u8]) -> SwarmLedger {
        let mut ledger = SwarmLedger::default();
        for line in bytes.split(|b| *b == b'\n') {
            let Ok(event) = serde_json::from_slice::<SwarmLedgerEvent>(line) else { continue };
            let status = event.to_status.as_deref().and_then(TaskStatus::parse);
            if let (Some(task), Some(status)) = (event.task_id, status) {
                if let Some(known) = ledger.plan.as_mut() {
                    let tasks = known.phases.iter_mut().flat_map(|phase| &mut phase.tasks);
                    tasks.filter(|known| known.id == task).for_each(|known| known.status = status);
                }
                ledger.status_change_times.insert((task, status), event.timestamp);
            }
            // These three kinds of events contain the whole plan.
            if matches!(event.event_type.as_str(), "plan_created" | "snapshot" | "plan_rebuilt")
                && let Some(whole) = event
                    .payload
                    .get("plan")
                    .or(Some(&event.payload))
                    .filter(|plan| plan.get("phases").is_some())
                && let Ok(read) = plan::read_json_or_markdown(whole.to_string().as_bytes())
            {
                ledger.plan = Some(read.plan);
            }
        }
        ledger
    }

    /// Sets the times at which tasks were started and completed. A task that was reopened gets no completion time.
    fn set_task_times(&self, plan: &mut Plan) {
        let at =
            |id: &str, status: TaskStatus| self.status_change_times.get(&(id.to_owned(), status)).cloned();
        for task in plan.phases.iter_mut().flat_map(|phase| &mut phase.tasks) {
            if matches!(task.status, TaskStatus::InProgress | TaskStatus::Completed)
                && task.started_at.is_none()
            {
                task.started_at = at(&task.id, TaskStatus::InProgress);
            }
            if task.status == TaskStatus::Completed && task.done_at.is_none() {
                task.done_at = at(&task.id, TaskStatus::Completed);
            }
        }
    }
}
