//! `thru plan show|next|check|log` and `thru task show`: show the plan and change nothing.

use std::collections::{BTreeMap, HashSet};

use model::finding::{Finding, FindingLevel};
use model::plan::{self, LedgerLine, PhaseStatus, Plan, PlanStanding, Task, TaskProgress};
use model::text::count_with_noun;
use serde::Serialize;
use store::layout;

use super::{LoadedPlan, PlanSource, load_existing_plan};
use crate::features::evidence::{self, show::TaskEvidenceLine};
use crate::project::Project;
use crate::{Error, Result, World};

#[derive(Debug)]
pub struct PlanShown {
    pub loaded: LoadedPlan,
    /// The evidence of each task that has any, by task id.
    pub evidence: BTreeMap<String, TaskEvidenceLine>,
}

impl PlanShown {
    pub fn standing(&self) -> PlanStanding<'_> {
        plan::standing_of_plan(&self.loaded.plan)
    }

    pub fn to_json(&self) -> PlanJson<'_> {
        let standing = self.standing();
        let ready: HashSet<&str> = standing.ready.iter().map(|task| task.id.as_str()).collect();
        let ids = |tasks: &[&Task]| tasks.iter().map(|task| task.id.clone()).collect::<Vec<_>>();
        let phases = self.loaded.plan.phases.iter().map(|phase| PhaseJson {
            id: phase.id,
            name: &phase.name,
            status: phase.status,
            progress: TaskProgress::count_tasks(&phase.tasks),
            tasks: phase
                .tasks
                .iter()
                .map(|task| TaskJson {
                    task,
                    evidence: self.evidence.get(&task.id),
                    ready: ready.contains(task.id.as_str()),
                    waits_for: match task.status.is_over() {
                        true => Vec::new(),
                        false => standing.open_dependencies(task).map(|(id, _)| id.to_owned()).collect(),
                    },
                })
                .collect(),
        });
        PlanJson {
            title: &self.loaded.plan.title,
            swarm: &self.loaded.plan.swarm,
            source: self.loaded.source,
            progress: standing.progress,
            current_phase: standing.current_phase.map(|phase| phase.id),
            current_task: standing.current_task.map(|task| task.id.clone()),
            ready: ids(&standing.ready),
            in_progress: ids(&standing.in_progress),
            blocked: ids(&standing.blocked),
            phases: phases.collect(),
            problems: plan::find_plan_problems(&self.loaded.plan).iter().map(ToString::to_string).collect(),
        }
    }
}

#[derive(Debug, Serialize)]
pub struct PlanJson<'p> {
    title: &'p str,
    swarm: &'p str,
    source: PlanSource,
    progress: TaskProgress,
    current_phase: Option<u32>,
    current_task: Option<String>,
    ready: Vec<String>,
    in_progress: Vec<String>,
    blocked: Vec<String>,
    phases: Vec<PhaseJson<'p>>,
    problems: Vec<String>,
}

#[derive(Debug, Serialize)]
struct PhaseJson<'p> {
    id: u32,
    name: &'p str,
    status: PhaseStatus,
    progress: TaskProgress,
    tasks: Vec<TaskJson<'p>>,
}

#[derive(Debug, Serialize)]
struct TaskJson<'p> {
    #[serde(flatten)]
    task: &'p Task,
    ready: bool,
    waits_for: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<&'p TaskEvidenceLine>,
}

pub fn show_plan(world: &World) -> Result<PlanShown> {
    let project = Project::find_for_reading(world)?;
    let loaded = load_existing_plan(&project.store)?;
    let judge = evidence::FreshnessJudge::new(&project.store, &project.root.checkout);
    Ok(PlanShown { loaded, evidence: evidence::show::evidence_lines(&project.store, &judge) })
}

#[derive(Debug, Serialize)]
pub struct TaskShown {
    pub task: Task,
    pub phase_name: String,
    pub ready: bool,
    pub waits_for: Vec<String>,
    pub waiting_tasks: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<TaskEvidenceLine>,
    /// The changes to the task, oldest first.
    pub history: Vec<PlanHistoryLine>,
}

#[derive(Debug, Serialize)]
pub struct PlanHistoryLine {
    pub seq: u64,
    pub at: String,
    #[serde(rename = "what")]
    pub change_kind: String,
    pub id: String,
    #[serde(rename = "by")]
    pub author: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
}

impl From<LedgerLine> for PlanHistoryLine {
    fn from(line: LedgerLine) -> PlanHistoryLine {
        let LedgerLine { seq, ts, change_kind, id, author, why, .. } = line;
        PlanHistoryLine { seq, at: ts, change_kind, id, author, why }
    }
}

pub fn show_task(world: &World, id: &str) -> Result<TaskShown> {
    let project = Project::find_for_reading(world)?;
    let plan = load_existing_plan(&project.store)?.plan;
    let standing = plan::standing_of_plan(&plan);
    let Some(task) = plan.task(id) else {
        let near = plan.nearest_task_id(id).map_or(String::new(), |near| format!("did you mean {near}? "));
        return Err(Error::Absent {
            what: format!("there is no task {}", super::to_one_line(id)),
            hint: format!("{near}`thru plan show` lists the tasks"),
        });
    };
    let judge = evidence::FreshnessJudge::new(&project.store, &project.root.checkout);
    let history = show_plan_log(world)?.lines.into_iter().filter(|line| line.id == id).collect();
    Ok(TaskShown {
        phase_name: plan.phase(task.phase).map(|phase| phase.name.clone()).unwrap_or_default(),
        ready: standing.ready.iter().any(|ready| ready.id == task.id),
        waits_for: standing.open_dependencies(task).map(|(id, _)| id.to_owned()).collect(),
        waiting_tasks: standing.tasks_waiting_for(id).into_iter().map(|task| task.id.clone()).collect(),
        evidence: evidence::show::evidence_line(&project.store, &judge, id),
        task: task.clone(),
        history,
    })
}

#[derive(Debug, Serialize)]
pub struct PlanLogReport {
    pub lines: Vec<PlanHistoryLine>,
    /// How many lines cannot be read.
    pub torn: usize,
}

pub fn show_plan_log(world: &World) -> Result<PlanLogReport> {
    let project = Project::find_for_reading(world)?;
    let (lines, tally) = project.store.read_plan_ledger()?;
    Ok(PlanLogReport {
        lines: lines.into_iter().map(PlanHistoryLine::from).collect(),
        torn: tally.invalid_lines.len(),
    })
}

#[derive(Debug, Serialize)]
pub struct CheckedPlan {
    pub title: String,
    pub tasks: usize,
    pub ledger_lines: usize,
    pub findings: Vec<Finding>,
}

impl CheckedPlan {
    pub fn is_good(&self) -> bool {
        self.findings.iter().all(|finding| finding.level == FindingLevel::Note)
    }
}

pub fn check_plan(world: &World) -> Result<CheckedPlan> {
    let project = Project::find_for_reading(world)?;
    let loaded = load_existing_plan(&project.store)?;
    let (findings, ledger_lines) = plan_findings(&project.store, &loaded)?;
    let tasks = loaded.plan.tasks().count();
    Ok(CheckedPlan { title: loaded.plan.title, tasks, ledger_lines, findings })
}

pub(super) fn plan_findings(
    store: &store::Store,
    LoadedPlan { plan, source }: &LoadedPlan,
) -> Result<(Vec<Finding>, usize)> {
    let error = |text: String| Finding::new(FindingLevel::Error, text).at_line(layout::PLAN_FILE, None);
    let hint = "fix it with `thru plan set ID --depends …`, or in plan.json";
    let mut found: Vec<Finding> = plan::find_plan_problems(plan)
        .iter()
        .map(|problem| error(problem.to_string()).with_hint(hint))
        .collect();
    let (lines, tally) = store.read_plan_ledger()?;
    let count_lines = lines.len();
    if !tally.invalid_lines.is_empty() {
        let text = format!(
            "{} could not be read (cut off by a crash, or not written by thru)",
            count_with_noun(tally.invalid_lines.len(), "line")
        );
        let line = tally.invalid_lines.first().map(|(_, line)| *line);
        found.push(Finding::new(FindingLevel::Note, text).at_line(layout::PLAN_LEDGER, line));
    }
    let fold = plan::fold_ledger(lines);
    for seq in &fold.discontinuous_seqs {
        let text = format!("change {seq} does not follow from the one before it: lines are missing");
        found.push(Finding::new(FindingLevel::Warning, text).at_line(layout::PLAN_LEDGER, None));
    }
    match source {
        PlanSource::File if fold.plan.as_ref() != Some(plan) => {
            found.push(
                Finding::new(
                    FindingLevel::Warning,
                    "the ledger describes a different plan than plan.json does",
                )
                .at_line(layout::PLAN_LEDGER, None),
            );
        }
        PlanSource::File => {}
        PlanSource::Ledger => found.push(
            Finding::new(
                FindingLevel::Note,
                "plan.json is older than the ledger, because a change was interrupted; the ledger is right",
            )
            .at_line(layout::PLAN_FILE, None)
            .with_hint("the next change rewrites it"),
        ),
        PlanSource::EditedFile => found.push(
            Finding::new(
                FindingLevel::Note,
                "plan.json was edited by hand; the next change records that in the ledger",
            )
            .at_line(layout::PLAN_FILE, None),
        ),
    }
    if let Some(view) = store.read_plan_view()?
        && !plan::is_plan_view_unedited(&String::from_utf8_lossy(&view))
    {
        let hint = format!(
            "`thru plan import {}/{}` imports your edits",
            layout::STORE_FOLDER,
            layout::PLAN_VIEW_FILE
        );
        found.push(
            Finding::new(FindingLevel::Note, "plan.md was edited by hand")
                .at_line(layout::PLAN_VIEW_FILE, None)
                .with_hint(hint),
        );
    }
    Ok((found, count_lines))
}

/// The tasks that are in progress, can be started now, or are waiting.
#[derive(Debug, Serialize)]
pub struct NextTasks {
    pub in_progress: Vec<Task>,
    pub ready: Vec<Task>,
    /// The open tasks that are not ready, each with the tasks that it waits for.
    pub waiting: Vec<WaitingTask>,
    pub progress: TaskProgress,
}

#[derive(Debug, Serialize)]
pub struct WaitingTask {
    pub id: String,
    pub waits_for: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_reason: Option<String>,
}

pub fn list_next_tasks(world: &World) -> Result<NextTasks> {
    let project = Project::find_for_reading(world)?;
    let plan: Plan = load_existing_plan(&project.store)?.plan;
    let standing = plan::standing_of_plan(&plan);
    let clone = |tasks: &[&Task]| tasks.iter().map(|task| (*task).clone()).collect::<Vec<_>>();
    let listed: HashSet<&str> =
        standing.ready.iter().chain(&standing.in_progress).map(|task| task.id.as_str()).collect();
    let is_listed = |task: &Task| task.status.is_over() || listed.contains(task.id.as_str());
    let waiting = plan.tasks().filter(|task| !is_listed(task)).map(|task| WaitingTask {
        id: task.id.clone(),
        waits_for: standing.open_dependencies(task).map(|(id, _)| id.to_owned()).collect(),
        blocked_reason: task.blocked_reason.clone(),
    });
    Ok(NextTasks {
        waiting: waiting.collect(),
        in_progress: clone(&standing.in_progress),
        ready: clone(&standing.ready),
        progress: standing.progress,
    })
}
