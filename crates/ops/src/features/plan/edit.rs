//! `thru plan init|add|set` and `thru task …`. Each command changes the plan while it holds the plan's lock.

use model::plan::{
    self, CompletionEvidence, NewTask, Phase, PhaseStatus, Plan, Task, TaskFieldChanges, TaskSize, TaskStatus,
};
use model::swarm::SwarmId;
use serde::Serialize;
use store::Store;

use super::{
    LedgerNote, MAX_PLAN_LOCK_WAIT, MissingPlanPolicy, PlanAuthor, PlanChangeResult, change_plan,
    refused_error,
};
use crate::features::evidence;
use crate::input_redactor::InputRedactor;
use crate::project::{Project, settings};
use crate::{Error, Result, World};

#[derive(Clone, Debug, Serialize)]
pub struct TaskReport {
    pub task: Task,
    pub changed: bool,
    /// The tasks that became ready through this change.
    pub newly_ready: Vec<String>,
    /// The phase that ended with this task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase_ended: Option<u32>,
    /// Whether a secret in the input was redacted.
    pub redacted: bool,
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct PlanReport {
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_phase: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<PhaseSummary>,
    pub changed: bool,
    pub redacted: bool,
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct PhaseSummary {
    pub id: u32,
    pub name: String,
    pub status: PhaseStatus,
}

#[derive(Clone, Debug)]
pub enum TaskCommand<'a> {
    Start,
    Done { without_evidence: Option<&'a str> },
    Block { why: &'a str },
    Unblock,
}

impl TaskCommand<'_> {
    fn command_name(&self) -> &'static str {
        match self {
            TaskCommand::Start => "task_started",
            TaskCommand::Done { .. } => "task_done",
            TaskCommand::Block { .. } => "task_blocked",
            TaskCommand::Unblock => "task_unblocked",
        }
    }
}

pub fn apply_task_step(
    world: &World,
    id: &str,
    step: &TaskCommand,
    session: Option<&str>,
) -> Result<TaskReport> {
    let project = Project::find_for_reading(world)?;
    let store = &project.store;
    let author = PlanAuthor::current_author(world, session)?;
    let given = InputRedactor::with_settings_of(world);
    let entry = LedgerNote { change_kind: step.command_name(), id: id.to_owned(), ..LedgerNote::default() };
    let mut before = Plan::default();
    let changed =
        change_plan(store, &author, entry, (MissingPlanPolicy::IsError, MAX_PLAN_LOCK_WAIT), |plan| {
            before = plan.clone();
            let (by, at) = (author.author.as_str(), author.formatted_time());
            let mut why = String::new();
            let after = match step {
                TaskCommand::Start => plan::start_task(plan, id, by, &at),
                TaskCommand::Unblock => plan::unblock_task(plan, id),
                TaskCommand::Block { why: reason } => {
                    why = given.redact_text(reason).into_owned();
                    plan::block_task(plan, id, &why)
                }
                TaskCommand::Done { without_evidence: Some(reason) } => {
                    why = given.redact_text(reason).into_owned();
                    plan::complete_task(plan, id, by, &at, &CompletionEvidence::Waived(&why))
                }
                TaskCommand::Done { without_evidence: None } => {
                    let proof = find_fresh_proof(world, &project, plan.task(id));
                    let rejection = evidence::describe_rejection(store, id);
                    let acceptance = match (&proof, &rejection) {
                        (Ok(shown), _) => {
                            why.clone_from(shown);
                            CompletionEvidence::Proven
                        }
                        (Err(what), _) if !what.is_empty() => CompletionEvidence::Unproven(what),
                        (Err(_), Some(what)) => CompletionEvidence::Rejected(what),
                        (Err(what), None) => CompletionEvidence::Unproven(what),
                    };
                    plan::complete_task(plan, id, by, &at, &acceptance)
                }
            };
            Ok((after.map_err(refused_error)?, LedgerNote { why, ..LedgerNote::default() }))
        })?;
    build_task_report(&before, changed, id, given.has_redacted())
}

/// Describes the fresh evidence which shows that a task passed. If there is no such evidence, the error describes the
/// evidence that exists.
fn find_fresh_proof(
    world: &World,
    project: &Project,
    task: Option<&Task>,
) -> std::result::Result<String, String> {
    // Only tasks with an acceptance criterion need evidence.
    let task = task.filter(|task| task.acceptance.is_some()).ok_or_else(String::new)?;
    evidence::record_runs_of_current_session(world, project);
    let judge = evidence::FreshnessJudge::new(&project.store, &project.root.checkout);
    evidence::show::describe_fresh_proof(&project.store, &judge, task)
}

fn build_task_report(
    before: &Plan,
    changed: PlanChangeResult,
    id: &str,
    redacted: bool,
) -> Result<TaskReport> {
    let PlanChangeResult { plan, changed, notes } = changed;
    let task = plan.task(id).cloned().ok_or_else(super::no_plan_error)?;
    let was_ready: Vec<&str> =
        plan::standing_of_plan(before).ready.iter().map(|task| task.id.as_str()).collect();
    let ready = plan::standing_of_plan(&plan).ready;
    let newly_ready = ready.iter().map(|task| &task.id).filter(|id| !was_ready.contains(&id.as_str()));
    let phase_ended = plan::newly_ended_phases(before, &plan).first().copied();
    Ok(TaskReport {
        task,
        changed,
        newly_ready: newly_ready.cloned().collect(),
        phase_ended,
        redacted,
        notes,
    })
}

#[derive(Clone, Debug, Default)]
pub struct AddTaskRequest {
    pub id: Option<String>,
    pub phase: Option<u32>,
    pub text: String,
    pub size: Option<TaskSize>,
    pub depends: Vec<String>,
    pub acceptance: Option<String>,
    pub files: Vec<String>,
}

pub fn add_task(world: &World, wanted: AddTaskRequest, session: Option<&str>) -> Result<TaskReport> {
    let store = Project::find_or_create(world)?.store;
    let author = PlanAuthor::current_author(world, session)?;
    let given = InputRedactor::with_settings_of(world);
    let new = NewTask {
        id: wanted.id,
        phase: wanted.phase,
        description: given.redact_text(wanted.text.trim()).into_owned(),
        size: wanted.size,
        dependency_ids: wanted.depends,
        acceptance: wanted.acceptance.as_deref().map(|text| given.redact_text(text.trim()).into_owned()),
        files: wanted.files.iter().map(|file| given.redact_text(file).into_owned()).collect(),
    };
    require_nonempty(&new.description, "what the task is")?;
    let mut before = Plan::default();
    let mut made = String::new();
    let entry = LedgerNote { change_kind: "task_added", ..LedgerNote::default() };
    let changed =
        change_plan(&store, &author, entry, (MissingPlanPolicy::BeginEmpty, MAX_PLAN_LOCK_WAIT), |plan| {
            before = plan.clone();
            let (after, id) = plan::add_task(plan, &new).map_err(refused_error)?;
            made.clone_from(&id);
            Ok((after, LedgerNote { id, ..LedgerNote::default() }))
        })?;
    build_task_report(&before, changed, &made, given.has_redacted())
}

/// Creates a plan. If there already is one, it is replaced only if `replace` is true. The old plan stays in the
/// ledger.
pub fn begin_plan(world: &World, title: &str, phases: &[String], replace: bool) -> Result<PlanReport> {
    let store = Project::find_or_create(world)?.store;
    let author = PlanAuthor::current_author(world, None)?;
    let given = InputRedactor::with_settings_of(world);
    let title = given.redact_text(title.trim()).into_owned();
    require_nonempty(&title, "what the plan is for")?;
    let mut new = Plan::new(&title);
    if let Ok(swarm) = SwarmId::new(settings::settings_here(world).settings().swarm_id.trim()) {
        new.swarm = swarm.to_string();
    }
    for (i, name) in phases.iter().enumerate() {
        let id = u32::try_from(i + 1).unwrap_or(u32::MAX);
        new.phases.push(Phase { id, name: given.redact_text(name.trim()).into_owned(), ..Phase::default() });
    }
    refuse_if_plan_exists(&store, replace)?;
    let entry = LedgerNote { change_kind: "plan_begun", ..LedgerNote::default() };
    let changed =
        change_plan(&store, &author, entry, (MissingPlanPolicy::BeginEmpty, MAX_PLAN_LOCK_WAIT), |_| {
            Ok((new, LedgerNote::default()))
        })?;
    Ok(build_plan_report(changed, None, given.has_redacted()))
}

pub(super) fn refuse_if_plan_exists(store: &Store, replace: bool) -> Result<()> {
    match super::load_plan(store)? {
        Some(loaded) if !replace => Err(Error::Refused {
            what: format!("there is already a plan: {}", super::to_one_line(&loaded.plan.title)),
            hint: "`--replace` replaces it; the old one stays in the ledger (`thru plan log`)".into(),
        }),
        _ => Ok(()),
    }
}

pub fn add_phase(world: &World, name: &str, id: Option<u32>) -> Result<PlanReport> {
    let store = Project::find_or_create(world)?.store;
    let author = PlanAuthor::current_author(world, None)?;
    let given = InputRedactor::with_settings_of(world);
    let name = given.redact_text(name.trim()).into_owned();
    require_nonempty(&name, "what the phase is called")?;
    let mut made = 0;
    let entry = LedgerNote { change_kind: "phase_added", ..LedgerNote::default() };
    let changed =
        change_plan(&store, &author, entry, (MissingPlanPolicy::BeginEmpty, MAX_PLAN_LOCK_WAIT), |plan| {
            let (after, id) = plan::add_phase(plan, &name, id).map_err(refused_error)?;
            made = id;
            Ok((after, LedgerNote { id: id.to_string(), ..LedgerNote::default() }))
        })?;
    Ok(build_plan_report(changed, Some(made), given.has_redacted()))
}

pub fn set_task(world: &World, id: &str, mut wanted: TaskFieldChanges) -> Result<TaskReport> {
    let store = Project::find_for_reading(world)?.store;
    let author = PlanAuthor::current_author(world, None)?;
    let given = InputRedactor::with_settings_of(world);
    for text in [&mut wanted.description, &mut wanted.acceptance].into_iter().flatten() {
        *text = given.redact_text(text.trim()).into_owned();
    }
    if let Some(text) = &wanted.description {
        require_nonempty(text, "what the task is")?;
    }
    if wanted.status == Some(TaskStatus::Blocked) {
        return Err(Error::Usage {
            what: "blocking a task needs a reason".into(),
            hint: format!("`thru task block {id} WHY`"),
        });
    }
    let mut before = Plan::default();
    let entry = LedgerNote { change_kind: "task_set", id: id.to_owned(), ..LedgerNote::default() };
    let changed =
        change_plan(&store, &author, entry, (MissingPlanPolicy::IsError, MAX_PLAN_LOCK_WAIT), |plan| {
            before = plan.clone();
            Ok((plan::set_task(plan, id, &wanted).map_err(refused_error)?, LedgerNote::default()))
        })?;
    build_task_report(&before, changed, id, given.has_redacted())
}

/// The changes that `thru plan set` makes to the plan itself or to a phase.
#[derive(Clone, Debug, Default)]
pub struct PlanOrPhaseChange {
    pub title: Option<String>,
    pub current_phase: Option<u32>,
    pub phase: Option<u32>,
    pub name: Option<String>,
    pub status: Option<PhaseStatus>,
}

pub fn set_plan_or_phase(world: &World, wanted: &PlanOrPhaseChange) -> Result<PlanReport> {
    let store = Project::find_for_reading(world)?.store;
    let author = PlanAuthor::current_author(world, None)?;
    let given = InputRedactor::with_settings_of(world);
    let clean =
        |text: &Option<String>| text.as_deref().map(|text| given.redact_text(text.trim()).into_owned());
    let (title, name) = (clean(&wanted.title), clean(&wanted.name));
    let id = wanted.phase.map(|id| id.to_string()).unwrap_or_default();
    let entry = LedgerNote {
        change_kind: if wanted.phase.is_some() { "phase_set" } else { "plan_set" },
        id,
        ..LedgerNote::default()
    };
    let changed =
        change_plan(&store, &author, entry, (MissingPlanPolicy::IsError, MAX_PLAN_LOCK_WAIT), |plan| {
            let mut after = plan.clone();
            after.title = title.unwrap_or(after.title);
            if let Some(id) = wanted.current_phase {
                plan::find_phase(plan, id).map_err(refused_error)?;
                after.current_phase = Some(id);
            }
            if let Some(id) = wanted.phase {
                plan::find_phase(plan, id).map_err(refused_error)?;
                for phase in after.phases.iter_mut().filter(|phase| phase.id == id) {
                    phase.name = name.clone().unwrap_or_else(|| phase.name.clone());
                    phase.status = wanted.status.unwrap_or(phase.status);
                }
            }
            Ok((after, LedgerNote::default()))
        })?;
    Ok(build_plan_report(changed, wanted.phase, given.has_redacted()))
}

pub(super) fn build_plan_report(changed: PlanChangeResult, phase: Option<u32>, redacted: bool) -> PlanReport {
    let PlanChangeResult { plan, changed, notes } = changed;
    let head = phase.and_then(|id| plan.phase(id));
    let phase =
        head.map(|phase| PhaseSummary { id: phase.id, name: phase.name.clone(), status: phase.status });
    PlanReport { title: plan.title, current_phase: plan.current_phase, phase, changed, redacted, notes }
}

fn require_nonempty(text: &str, what: &str) -> Result<()> {
    match text.is_empty() {
        true => Err(Error::Usage { what: format!("say {what}"), hint: "the text is empty".into() }),
        false => Ok(()),
    }
}
