//! `thru plan init|add|set` and `thru task …`: each changes the plan under its lock.

use model::plan::{self, Acceptance, NewTask, Phase, PhaseStatus, Plan, Size, Task, TaskChange, TaskStatus};
use model::swarm::SwarmId;
use serde::Serialize;
use store::Store;

use super::{Author, Begin, Changed, Entry, WAIT, change, refused};
use crate::features::evidence;
use crate::input_redactor::InputRedactor;
use crate::project::{Project, settings};
use crate::{Error, Result, World};

/// The result of a command that changes a task.
#[derive(Clone, Debug, Serialize)]
pub struct TaskReport {
    pub task: Task,
    pub changed: bool,
    /// Tasks that became ready.
    pub newly_ready: Vec<String>,
    /// The phase that ended because this task ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase_ended: Option<u32>,
    /// Whether a secret in the input was redacted.
    pub covered: bool,
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct PlanReport {
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_phase: Option<u32>,
    /// The phase that was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<PhaseHead>,
    pub changed: bool,
    pub covered: bool,
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct PhaseHead {
    pub id: u32,
    pub name: String,
    pub status: PhaseStatus,
}

/// A step that a command takes with a task: `thru task start|done|block|unblock`.
#[derive(Clone, Debug)]
pub enum Step<'a> {
    Start,
    Done { without_evidence: Option<&'a str> },
    Block { why: &'a str },
    Unblock,
}

impl Step<'_> {
    fn what(&self) -> &'static str {
        match self {
            Step::Start => "task_started",
            Step::Done { .. } => "task_done",
            Step::Block { .. } => "task_blocked",
            Step::Unblock => "task_unblocked",
        }
    }
}

pub fn step(world: &World, id: &str, step: &Step, session: Option<&str>) -> Result<TaskReport> {
    let project = Project::find(world)?;
    let store = &project.store;
    let author = Author::here(world, session)?;
    let given = InputRedactor::to(world);
    let entry = Entry { what: step.what(), id: id.to_owned(), ..Entry::default() };
    let mut before = Plan::default();
    let changed = change(store, &author, entry, (Begin::Never, WAIT), |plan| {
        before = plan.clone();
        let (by, at) = (author.by.as_str(), author.when());
        let mut why = String::new();
        let after = match step {
            Step::Start => plan::start(plan, id, by, &at),
            Step::Unblock => plan::unblock(plan, id),
            Step::Block { why: reason } => {
                why = given.clean(reason).into_owned();
                plan::block(plan, id, &why)
            }
            Step::Done { without_evidence: Some(reason) } => {
                why = given.clean(reason).into_owned();
                plan::done(plan, id, by, &at, &Acceptance::Waived(&why))
            }
            Step::Done { without_evidence: None } => {
                let proof = proof(world, &project, plan.task(id));
                let rejection = evidence::rejection(store, id);
                let acceptance = match (&proof, &rejection) {
                    (Ok(shown), _) => {
                        why.clone_from(shown);
                        Acceptance::Proven
                    }
                    (Err(what), _) if !what.is_empty() => Acceptance::Unproven(what),
                    (Err(_), Some(what)) => Acceptance::Rejected(what),
                    (Err(what), None) => Acceptance::Unproven(what),
                };
                plan::done(plan, id, by, &at, &acceptance)
            }
        };
        Ok((after.map_err(refused)?, Entry { why, ..Entry::default() }))
    })?;
    task_report(&before, changed, id, given.was_covered())
}

/// Returns the fresh evidence that a task passed. If there is none, the error says what evidence there is.
fn proof(world: &World, project: &Project, task: Option<&Task>) -> std::result::Result<String, String> {
    // Only a task with an acceptance criterion needs evidence.
    let task = task.filter(|task| task.acceptance.is_some()).ok_or_else(String::new)?;
    evidence::observe_here(world, project);
    let judge = evidence::Judge::new(&project.store, &project.root.checkout);
    evidence::show::proof(&project.store, &judge, task)
}

fn task_report(before: &Plan, changed: Changed, id: &str, covered: bool) -> Result<TaskReport> {
    let Changed { plan, changed, notes } = changed;
    let task = plan.task(id).cloned().ok_or_else(super::no_plan)?;
    let was_ready: Vec<&str> = plan::standing(before).ready.iter().map(|task| task.id.as_str()).collect();
    let ready = plan::standing(&plan).ready;
    let newly_ready = ready.iter().map(|task| &task.id).filter(|id| !was_ready.contains(&id.as_str()));
    let phase_ended = plan::ended(before, &plan).first().copied();
    Ok(TaskReport { task, changed, newly_ready: newly_ready.cloned().collect(), phase_ended, covered, notes })
}

/// The input of `thru task add`.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub id: Option<String>,
    pub phase: Option<u32>,
    pub text: String,
    pub size: Option<Size>,
    pub depends: Vec<String>,
    pub acceptance: Option<String>,
    pub files: Vec<String>,
}

pub fn add_task(world: &World, wanted: Wanted, session: Option<&str>) -> Result<TaskReport> {
    let store = Project::find_or_make(world)?.store;
    let author = Author::here(world, session)?;
    let given = InputRedactor::to(world);
    let new = NewTask {
        id: wanted.id,
        phase: wanted.phase,
        description: given.clean(wanted.text.trim()).into_owned(),
        size: wanted.size,
        depends: wanted.depends,
        acceptance: wanted.acceptance.as_deref().map(|text| given.clean(text.trim()).into_owned()),
        files: wanted.files.iter().map(|file| given.clean(file).into_owned()).collect(),
    };
    need_words(&new.description, "what the task is")?;
    let mut before = Plan::default();
    let mut made = String::new();
    let entry = Entry { what: "task_added", ..Entry::default() };
    let changed = change(&store, &author, entry, (Begin::IfNone, WAIT), |plan| {
        before = plan.clone();
        let (after, id) = plan::add_task(plan, &new).map_err(refused)?;
        made.clone_from(&id);
        Ok((after, Entry { id, ..Entry::default() }))
    })?;
    task_report(&before, changed, &made, given.was_covered())
}

/// Begins a plan. An existing plan is replaced only if `replace` is true. It then stays in the ledger.
pub fn init(world: &World, title: &str, phases: &[String], replace: bool) -> Result<PlanReport> {
    let store = Project::find_or_make(world)?.store;
    let author = Author::here(world, None)?;
    let given = InputRedactor::to(world);
    let title = given.clean(title.trim()).into_owned();
    need_words(&title, "what the plan is for")?;
    let mut new = Plan::new(&title);
    if let Ok(swarm) = SwarmId::new(settings::here(world).settings().swarm_id.trim()) {
        new.swarm = swarm.to_string();
    }
    for (i, name) in phases.iter().enumerate() {
        let id = u32::try_from(i + 1).unwrap_or(u32::MAX);
        new.phases.push(Phase { id, name: given.clean(name.trim()).into_owned(), ..Phase::default() });
    }
    refuse_if_there(&store, replace)?;
    let entry = Entry { what: "plan_begun", ..Entry::default() };
    let changed = change(&store, &author, entry, (Begin::IfNone, WAIT), |_| Ok((new, Entry::default())))?;
    Ok(plan_report(changed, None, given.was_covered()))
}

pub(super) fn refuse_if_there(store: &Store, replace: bool) -> Result<()> {
    match super::load(store)? {
        Some(loaded) if !replace => Err(Error::Refused {
            what: format!("there is a plan already: {}", super::line(&loaded.plan.title)),
            hint: "`--replace` replaces it; the old one stays in the ledger (`thru plan log`)".into(),
        }),
        _ => Ok(()),
    }
}

/// `thru plan add`: adds a phase.
pub fn add_phase(world: &World, name: &str, id: Option<u32>) -> Result<PlanReport> {
    let store = Project::find_or_make(world)?.store;
    let author = Author::here(world, None)?;
    let given = InputRedactor::to(world);
    let name = given.clean(name.trim()).into_owned();
    need_words(&name, "what the phase is called")?;
    let mut made = 0;
    let entry = Entry { what: "phase_added", ..Entry::default() };
    let changed = change(&store, &author, entry, (Begin::IfNone, WAIT), |plan| {
        let (after, id) = plan::add_phase(plan, &name, id).map_err(refused)?;
        made = id;
        Ok((after, Entry { id: id.to_string(), ..Entry::default() }))
    })?;
    Ok(plan_report(changed, Some(made), given.was_covered()))
}

/// `thru plan set TASK`: changes a task.
pub fn set_task(world: &World, id: &str, mut wanted: TaskChange) -> Result<TaskReport> {
    let store = Project::find(world)?.store;
    let author = Author::here(world, None)?;
    let given = InputRedactor::to(world);
    for text in [&mut wanted.description, &mut wanted.acceptance].into_iter().flatten() {
        *text = given.clean(text.trim()).into_owned();
    }
    if let Some(text) = &wanted.description {
        need_words(text, "what the task is")?;
    }
    if wanted.status == Some(TaskStatus::Blocked) {
        return Err(Error::Usage {
            what: "blocking a task needs a reason".into(),
            hint: format!("`thru task block {id} WHY`"),
        });
    }
    let mut before = Plan::default();
    let entry = Entry { what: "task_set", id: id.to_owned(), ..Entry::default() };
    let changed = change(&store, &author, entry, (Begin::Never, WAIT), |plan| {
        before = plan.clone();
        Ok((plan::set_task(plan, id, &wanted).map_err(refused)?, Entry::default()))
    })?;
    task_report(&before, changed, id, given.was_covered())
}

/// What `thru plan set` changes in the plan itself or in a phase.
#[derive(Clone, Debug, Default)]
pub struct HeadChange {
    pub title: Option<String>,
    pub current_phase: Option<u32>,
    pub phase: Option<u32>,
    pub name: Option<String>,
    pub status: Option<PhaseStatus>,
}

pub fn set_head(world: &World, wanted: &HeadChange) -> Result<PlanReport> {
    let store = Project::find(world)?.store;
    let author = Author::here(world, None)?;
    let given = InputRedactor::to(world);
    let clean = |text: &Option<String>| text.as_deref().map(|text| given.clean(text.trim()).into_owned());
    let (title, name) = (clean(&wanted.title), clean(&wanted.name));
    let id = wanted.phase.map(|id| id.to_string()).unwrap_or_default();
    let entry =
        Entry { what: if wanted.phase.is_some() { "phase_set" } else { "plan_set" }, id, ..Entry::default() };
    let changed = change(&store, &author, entry, (Begin::Never, WAIT), |plan| {
        let mut after = plan.clone();
        after.title = title.unwrap_or(after.title);
        if let Some(id) = wanted.current_phase {
            plan::find_phase(plan, id).map_err(refused)?;
            after.current_phase = Some(id);
        }
        if let Some(id) = wanted.phase {
            plan::find_phase(plan, id).map_err(refused)?;
            for phase in after.phases.iter_mut().filter(|phase| phase.id == id) {
                phase.name = name.clone().unwrap_or_else(|| phase.name.clone());
                phase.status = wanted.status.unwrap_or(phase.status);
            }
        }
        Ok((after, Entry::default()))
    })?;
    Ok(plan_report(changed, wanted.phase, given.was_covered()))
}

pub(super) fn plan_report(changed: Changed, phase: Option<u32>, covered: bool) -> PlanReport {
    let Changed { plan, changed, notes } = changed;
    let head = phase.and_then(|id| plan.phase(id));
    let phase = head.map(|phase| PhaseHead { id: phase.id, name: phase.name.clone(), status: phase.status });
    PlanReport { title: plan.title, current_phase: plan.current_phase, phase, changed, covered, notes }
}

fn need_words(text: &str, what: &str) -> Result<()> {
    match text.is_empty() {
        true => Err(Error::Usage { what: format!("say {what}"), hint: "it is empty".into() }),
        false => Ok(()),
    }
}
