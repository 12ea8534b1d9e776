//! `thru plan show|next|check|log` and `thru task show`: show the plan and change nothing.

use std::collections::{BTreeMap, HashSet};

use model::finding::{Finding, Level};
use model::plan::{self, Line, PhaseStatus, Plan, Progress, Standing, Task};
use model::text::count;
use serde::Serialize;
use store::layout;

use super::{Loaded, Source, need};
use crate::features::evidence::{self, show::EvidenceLine};
use crate::project::Project;
use crate::{Error, Result, World};

/// The whole plan, with its computed state.
#[derive(Debug)]
pub struct Shown {
    pub loaded: Loaded,
    /// Evidence by task. Tasks without evidence are left out.
    pub evidence: BTreeMap<String, EvidenceLine>,
}

impl Shown {
    pub fn standing(&self) -> Standing<'_> {
        plan::standing(&self.loaded.plan)
    }

    /// Returns everything, for `--json`.
    pub fn report(&self) -> PlanJson<'_> {
        let standing = self.standing();
        let ready: HashSet<&str> = standing.ready.iter().map(|task| task.id.as_str()).collect();
        let ids = |tasks: &[&Task]| tasks.iter().map(|task| task.id.clone()).collect::<Vec<_>>();
        let phases = self.loaded.plan.phases.iter().map(|phase| PhaseJson {
            id: phase.id,
            name: &phase.name,
            status: phase.status,
            progress: Progress::of(&phase.tasks),
            tasks: phase
                .tasks
                .iter()
                .map(|task| TaskJson {
                    task,
                    evidence: self.evidence.get(&task.id),
                    ready: ready.contains(task.id.as_str()),
                    waits_for: match task.status.is_over() {
                        true => Vec::new(),
                        false => standing.waits_for(task).map(|(id, _)| id.to_owned()).collect(),
                    },
                })
                .collect(),
        });
        PlanJson {
            title: &self.loaded.plan.title,
            swarm: &self.loaded.plan.swarm,
            source: self.loaded.from,
            progress: standing.progress,
            current_phase: standing.phase.map(|phase| phase.id),
            current_task: standing.task.map(|task| task.id.clone()),
            ready: ids(&standing.ready),
            in_progress: ids(&standing.in_progress),
            blocked: ids(&standing.blocked),
            phases: phases.collect(),
            problems: plan::problems(&self.loaded.plan).iter().map(ToString::to_string).collect(),
        }
    }
}

#[derive(Debug, Serialize)]
pub struct PlanJson<'p> {
    title: &'p str,
    swarm: &'p str,
    source: Source,
    progress: Progress,
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
    progress: Progress,
    tasks: Vec<TaskJson<'p>>,
}

#[derive(Debug, Serialize)]
struct TaskJson<'p> {
    #[serde(flatten)]
    task: &'p Task,
    ready: bool,
    waits_for: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<&'p EvidenceLine>,
}

pub fn show(world: &World) -> Result<Shown> {
    let project = Project::find(world)?;
    let loaded = need(&project.store)?;
    let judge = evidence::Judge::new(&project.store, &project.root.checkout);
    Ok(Shown { loaded, evidence: evidence::show::lines(&project.store, &judge) })
}

/// One task, with the tasks that it waits for and the tasks that wait for it.
#[derive(Debug, Serialize)]
pub struct TaskShown {
    pub task: Task,
    pub phase_name: String,
    pub ready: bool,
    pub waits_for: Vec<String>,
    pub held_up: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceLine>,
    /// The changes of the task, oldest first.
    pub history: Vec<HistoryLine>,
}

#[derive(Debug, Serialize)]
pub struct HistoryLine {
    pub seq: u64,
    pub at: String,
    pub what: String,
    pub id: String,
    pub by: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
}

impl From<Line> for HistoryLine {
    fn from(line: Line) -> HistoryLine {
        let Line { seq, ts, what, id, by, why, .. } = line;
        HistoryLine { seq, at: ts, what, id, by, why }
    }
}

pub fn task(world: &World, id: &str) -> Result<TaskShown> {
    let project = Project::find(world)?;
    let plan = need(&project.store)?.plan;
    let standing = plan::standing(&plan);
    let Some(task) = plan.task(id) else {
        let near = plan.near(id).map_or(String::new(), |near| format!("did you mean {near}? "));
        return Err(Error::Absent {
            what: format!("there is no task {}", super::line(id)),
            hint: format!("{near}`thru plan show` lists the tasks"),
        });
    };
    let judge = evidence::Judge::new(&project.store, &project.root.checkout);
    let history = log(world)?.lines.into_iter().filter(|line| line.id == id).collect();
    Ok(TaskShown {
        phase_name: plan.phase(task.phase).map(|phase| phase.name.clone()).unwrap_or_default(),
        ready: standing.ready.iter().any(|ready| ready.id == task.id),
        waits_for: standing.waits_for(task).map(|(id, _)| id.to_owned()).collect(),
        held_up: standing.held_up_by(id).into_iter().map(|task| task.id.clone()).collect(),
        evidence: evidence::show::line(&project.store, &judge, id),
        task: task.clone(),
        history,
    })
}

#[derive(Debug, Serialize)]
pub struct Log {
    pub lines: Vec<HistoryLine>,
    /// The number of lines that cannot be read.
    pub torn: usize,
}

pub fn log(world: &World) -> Result<Log> {
    let project = Project::find(world)?;
    let (lines, tally) = project.store.plan_ledger()?;
    Ok(Log { lines: lines.into_iter().map(HistoryLine::from).collect(), torn: tally.torn.len() })
}

/// What `thru plan check` found.
#[derive(Debug, Serialize)]
pub struct Checked {
    pub title: String,
    pub tasks: usize,
    pub ledger_lines: usize,
    pub findings: Vec<Finding>,
}

impl Checked {
    pub fn is_good(&self) -> bool {
        self.findings.iter().all(|finding| finding.level == Level::Note)
    }
}

pub fn check(world: &World) -> Result<Checked> {
    let project = Project::find(world)?;
    let loaded = need(&project.store)?;
    let (findings, ledger_lines) = findings(&project.store, &loaded)?;
    let tasks = loaded.plan.tasks().count();
    Ok(Checked { title: loaded.plan.title, tasks, ledger_lines, findings })
}

/// Returns what is wrong with the plan, its ledger and its view.
pub(super) fn findings(
    store: &store::Store,
    Loaded { plan, from }: &Loaded,
) -> Result<(Vec<Finding>, usize)> {
    let error = |text: String| Finding::new(Level::Error, text).at(layout::PLAN, None);
    let hint = "fix it with `thru plan set ID --depends …`, or in plan.json";
    let mut found: Vec<Finding> =
        plan::problems(plan).iter().map(|problem| error(problem.to_string()).hint(hint)).collect();
    let (lines, tally) = store.plan_ledger()?;
    let count_lines = lines.len();
    if !tally.torn.is_empty() {
        let text = format!(
            "{} could not be read (cut off by a crash, or not written by thru)",
            count(tally.torn.len(), "line")
        );
        let line = tally.torn.first().map(|(_, line)| *line);
        found.push(Finding::new(Level::Note, text).at(layout::PLAN_LEDGER, line));
    }
    let fold = plan::fold(lines);
    for seq in &fold.gaps {
        let text = format!("change {seq} does not follow from the one before it: lines are missing");
        found.push(Finding::new(Level::Warning, text).at(layout::PLAN_LEDGER, None));
    }
    match from {
        Source::File if fold.plan.as_ref() != Some(plan) => {
            found.push(
                Finding::new(Level::Warning, "the ledger gives another plan than plan.json")
                    .at(layout::PLAN_LEDGER, None),
            );
        }
        Source::File => {}
        Source::Ledger => found.push(
            Finding::new(
                Level::Note,
                "plan.json is older than the ledger, because a change was interrupted; the ledger is right",
            )
            .at(layout::PLAN, None)
            .hint("the next change rewrites it"),
        ),
        Source::EditedFile => found.push(
            Finding::new(
                Level::Note,
                "plan.json was edited by hand; the next change records that in the ledger",
            )
            .at(layout::PLAN, None),
        ),
    }
    if let Some(view) = store.plan_view()?
        && !plan::is_as_written(&String::from_utf8_lossy(&view))
    {
        let hint = format!("`thru plan import {}/{}` imports that", layout::STORE, layout::PLAN_VIEW);
        found.push(
            Finding::new(Level::Note, "plan.md was edited by hand").at(layout::PLAN_VIEW, None).hint(hint),
        );
    }
    Ok((found, count_lines))
}

/// The tasks that can be begun now, and the others.
#[derive(Debug, Serialize)]
pub struct Next {
    pub in_progress: Vec<Task>,
    pub ready: Vec<Task>,
    /// Open tasks that are not ready, each with the tasks that it waits for.
    pub waiting: Vec<Waiting>,
    pub progress: Progress,
}

#[derive(Debug, Serialize)]
pub struct Waiting {
    pub id: String,
    pub waits_for: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_reason: Option<String>,
}

pub fn next(world: &World) -> Result<Next> {
    let project = Project::find(world)?;
    let plan: Plan = need(&project.store)?.plan;
    let standing = plan::standing(&plan);
    let clone = |tasks: &[&Task]| tasks.iter().map(|task| (*task).clone()).collect::<Vec<_>>();
    let listed: HashSet<&str> =
        standing.ready.iter().chain(&standing.in_progress).map(|task| task.id.as_str()).collect();
    let is_listed = |task: &Task| task.status.is_over() || listed.contains(task.id.as_str());
    let waiting = plan.tasks().filter(|task| !is_listed(task)).map(|task| Waiting {
        id: task.id.clone(),
        waits_for: standing.waits_for(task).map(|(id, _)| id.to_owned()).collect(),
        blocked_reason: task.blocked_reason.clone(),
    });
    Ok(Next {
        waiting: waiting.collect(),
        in_progress: clone(&standing.in_progress),
        ready: clone(&standing.ready),
        progress: standing.progress,
    })
}
