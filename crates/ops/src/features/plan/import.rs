//! `thru plan import`: reads a plan from a file or a session. A session can contain a plan that the user approved,
//! and the agent's own task list.

use std::path::Path;

use model::digest::Digest;
use model::id::Id;
use model::plan::{
    self, ImportWarning, ImportedPlan, LinkedTodos, Phase, Plan, PlanUnreadableReason, Task, TaskStatus,
};
use model::render::one_line;
use model::text::fnv_fingerprint;
use serde::Serialize;
use serde_json::Value;
use store::{FoundRoot, Store, layout};

use super::{LedgerNote, MAX_PLAN_LOCK_WAIT, MissingPlanPolicy, PlanAuthor, PlanSource, change_plan};
use crate::input_redactor::InputRedactor;
use crate::project::{Project, settings};
use crate::session::list::{self, SessionChoiceReason};
use crate::{Error, Result, World, WriteMode};

/// The size limit of the file. A plan written by hand is never this large.
const MAX_FILE_BYTES: usize = 16 * 1024 * 1024;

/// What an import does with an existing plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingPlanPolicy {
    /// Keep the existing plan and refuse the import.
    Refuse,
    /// Replace the existing plan, which stays in the ledger.
    Replace,
    /// Append the imported phases to the existing plan.
    Append,
}

impl ExistingPlanPolicy {
    /// Converts the flags `--append` and `--replace`. They cannot both be true, because the argument parser rejects
    /// that combination.
    pub fn from_flags(append: bool, replace: bool) -> ExistingPlanPolicy {
        match (append, replace) {
            (true, _) => ExistingPlanPolicy::Append,
            (_, true) => ExistingPlanPolicy::Replace,
            (false, false) => ExistingPlanPolicy::Refuse,
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct PlanImportReport {
    pub from: String,
    pub title: String,
    pub phases: usize,
    pub tasks: usize,
    pub completed: usize,
    pub blocked: usize,
    pub dependencies: usize,
    /// What was ambiguous in the source, and how it was interpreted.
    pub warnings: Vec<ImportWarning>,
    /// Whether the plan was written. False if it was already imported, or if this was a dry run.
    pub written: bool,
    pub already_imported: bool,
    pub redacted: bool,
    pub notes: Vec<String>,
}

pub(crate) struct IncomingPlan {
    pub from: String,
    pub plan: Plan,
    pub warnings: Vec<ImportWarning>,
    /// A fingerprint of the source, by which a second import of the same source is recognised. Empty if the source is
    /// the `plan.md` that thru itself writes.
    pub fingerprint: String,
    pub redacted: bool,
}

/// Imports a plan from a `plan.json` or `plan.md`, whoever wrote the file.
pub fn import_plan_file(
    world: &World,
    path: &Path,
    place: ExistingPlanPolicy,
    mode: WriteMode,
) -> Result<PlanImportReport> {
    let mut incoming = read_plan_file(world, path)?;
    assign_to_swarm_of_project(world, &mut incoming.plan);
    if is_own_view(world, path)? {
        // The file is this project's own `plan.md` or an edited copy of it, not a different plan, so the import
        // replaces the current plan.
        return import_plan(
            world,
            &IncomingPlan { fingerprint: String::new(), ..incoming },
            ExistingPlanPolicy::Replace,
            mode,
        );
    }
    import_plan(world, &incoming, place, mode)
}

/// If the plan names no swarm, assigns it to this project's swarm. This is allowed because the user asked for the
/// import.
fn assign_to_swarm_of_project(world: &World, plan: &mut Plan) {
    if plan.swarm.trim().is_empty() {
        settings::settings_here(world).settings().swarm_id.trim().clone_into(&mut plan.swarm);
    }
}

pub(crate) fn read_plan_file(world: &World, path: &Path) -> Result<IncomingPlan> {
    let bytes = store::read_file_named_by_user(path, MAX_FILE_BYTES)?;
    let given = InputRedactor::with_settings_of(world);
    let cleaned = given.redact_bytes(&bytes);
    let ImportedPlan { mut plan, warnings } = parse_plan_file(path, &cleaned)?;
    if plan.title.trim().is_empty() {
        plan.title = path.file_stem().map_or("Plan".to_owned(), |stem| stem.to_string_lossy().into_owned());
    }
    let fingerprint = format!("{:016x}", fnv_fingerprint([&bytes]));
    Ok(IncomingPlan {
        from: path.display().to_string(),
        plan,
        warnings,
        fingerprint,
        redacted: given.has_redacted(),
    })
}

pub(crate) fn parse_plan_file(path: &Path, bytes: &[u8]) -> Result<ImportedPlan> {
    let path = || path.to_owned();
    plan::read_json_or_markdown(bytes).map_err(|problem| match problem {
        PlanUnreadableReason::Damaged { line, why } => Error::Damaged {
            path: path(),
            line,
            why,
            hint: "a plan is markdown with headings and `- [ ]` items, or JSON with phases and tasks".into(),
        },
        PlanUnreadableReason::Foreign { why } => store::Error::Foreign { path: path(), why }.into(),
    })
}

fn is_own_view(world: &World, path: &Path) -> Result<bool> {
    let FoundRoot::Marked { root, .. } = world.find_root()? else { return Ok(false) };
    let folder = root.path.join(layout::STORE_FOLDER).canonicalize().ok();
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_view =
        name == layout::PLAN_VIEW_FILE || name.starts_with(&format!("{}.edited-", layout::PLAN_VIEW_FILE));
    Ok(is_view
        && folder.is_some()
        && path.canonicalize().ok().and_then(|path| path.parent().map(Path::to_owned)) == folder)
}

/// The field of a plan that records what was imported into it.
const IMPORT_MARKS_FIELD: &str = "imported_from";

pub(crate) fn import_plan(
    world: &World,
    incoming: &IncomingPlan,
    place: ExistingPlanPolicy,
    mode: WriteMode,
) -> Result<PlanImportReport> {
    let store = match mode {
        WriteMode::Write => Some(Project::find_or_create(world)?.store),
        // In a dry run, a missing project is not an error. It only means that nothing has been imported before.
        WriteMode::DryRun => match Project::find_for_reading(world) {
            Ok(project) => Some(project.store),
            Err(Error::NoRoot { .. }) => None,
            Err(error) => return Err(error),
        },
    };
    let loaded = match &store {
        Some(store) => super::load_plan(store)?,
        None => None,
    };
    let is_behind = loaded.as_ref().is_some_and(|loaded| loaded.source == PlanSource::Ledger);
    let there = loaded.map(|loaded| loaded.plan);
    let known =
        there.as_ref().is_some_and(|plan| import_marks(plan).contains(&incoming.fingerprint.as_str()));
    let mut report = build_plan_import_report(incoming);
    report.already_imported = known;
    let same =
        there.as_ref().is_some_and(|plan| without_import_marks(plan) == without_import_marks(&incoming.plan));
    if known && place != ExistingPlanPolicy::Append || same {
        // An earlier import of this plan may have been killed after it wrote the ledger and before it wrote the file.
        // If so, rebuild the file.
        if let (true, WriteMode::Write, Some(store)) = (is_behind, mode, &store) {
            let entry = LedgerNote { change_kind: "imported", ..LedgerNote::default() };
            let author = PlanAuthor::current_author(world, None)?;
            let keep = |plan: &Plan| Ok((plan.clone(), LedgerNote::default()));
            report.notes =
                change_plan(store, &author, entry, (MissingPlanPolicy::IsError, MAX_PLAN_LOCK_WAIT), keep)?
                    .notes;
        }
        return Ok(report);
    }
    if let (Some(plan), ExistingPlanPolicy::Refuse) = (&there, place) {
        return Err(Error::Refused {
            what: format!("there is already a plan: {}", super::to_one_line(&plan.title)),
            hint: "`--append` adds these phases to it; `--replace` replaces it, and the old one stays in the ledger"
                .into(),
        });
    }
    let (WriteMode::Write, Some(store)) = (mode, store) else { return Ok(report) };
    let author = PlanAuthor::current_author(world, None)?;
    let entry =
        LedgerNote { change_kind: "imported", why: one_line(&incoming.from, 200), ..LedgerNote::default() };
    let changed =
        change_plan(&store, &author, entry, (MissingPlanPolicy::BeginEmpty, MAX_PLAN_LOCK_WAIT), |plan| {
            let mut next = match (&there, place) {
                (Some(_), ExistingPlanPolicy::Append) => plan::append_plan(plan, &incoming.plan),
                _ => incoming.plan.clone(),
            };
            let mut all: Vec<Value> = import_marks(plan).into_iter().map(Value::from).collect();
            if !incoming.fingerprint.is_empty()
                && !all.iter().any(|mark| mark.as_str() == Some(&incoming.fingerprint))
            {
                all.push(incoming.fingerprint.clone().into());
                next.rest.insert(IMPORT_MARKS_FIELD.to_owned(), Value::Array(all));
            }
            Ok((next, LedgerNote::default()))
        })?;
    report.written = changed.changed;
    report.notes = changed.notes;
    Ok(report)
}

fn import_marks(plan: &Plan) -> Vec<&str> {
    match plan.rest.get(IMPORT_MARKS_FIELD) {
        Some(Value::Array(marks)) => marks.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn without_import_marks(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.rest.shift_remove(IMPORT_MARKS_FIELD);
    plan
}

fn build_plan_import_report(incoming: &IncomingPlan) -> PlanImportReport {
    let IncomingPlan { from, plan, warnings, redacted, .. } = incoming;
    let with = |status: TaskStatus| plan.tasks().filter(|task| task.status == status).count();
    PlanImportReport {
        from: from.clone(),
        title: plan.title.clone(),
        phases: plan.phases.len(),
        tasks: plan.tasks().count(),
        completed: with(TaskStatus::Completed),
        blocked: with(TaskStatus::Blocked),
        dependencies: plan.tasks().map(|task| task.depends.len()).sum(),
        warnings: warnings.clone(),
        written: false,
        already_imported: false,
        redacted: *redacted,
        notes: Vec::new(),
    }
}

/// Imports the plan that the user approved in a session, and the agent's own task list.
pub fn import_session_plan(
    world: &World,
    named: Option<&str>,
    place: ExistingPlanPolicy,
    mode: WriteMode,
) -> Result<(PlanImportReport, Id, SessionChoiceReason)> {
    let project = Project::find_for_reading(world)?;
    let (session, chosen) = list::choose_session(world, &project.store, named)?;
    let digest = project.store.current_digest(&session, |_| {})?;
    let mut incoming = plan_from_digest(&digest).ok_or_else(|| Error::Absent {
        what: format!("session {session} has neither an approved plan nor a task list"),
        hint: "`thru plan import FILE` reads a plan from a file; `--session ID` names another session".into(),
    })?;
    assign_to_swarm_of_project(world, &mut incoming.plan);
    let report = import_plan(world, &incoming, place, mode)?;
    if report.written {
        link_tasks_to_session(&project.store, &session, &digest)?;
    }
    Ok((report, session, chosen))
}

fn plan_from_digest(digest: &Digest) -> Option<IncomingPlan> {
    let text = approved_plan(digest);
    let todos: Vec<_> = digest.todos.iter().filter(|todo| !todo.text.trim().is_empty()).collect();
    if text.is_none() && todos.is_empty() {
        return None;
    }
    let (mut plan, warnings) = match text.map(|text| plan::read_json_or_markdown(text.as_bytes())) {
        Some(Ok(ImportedPlan { plan, warnings })) => (plan, warnings),
        _ => (Plan::new(""), Vec::new()),
    };
    if plan.title.trim().is_empty() {
        plan.title = digest.prompts.first().map_or("Plan".to_owned(), |prompt| one_line(&prompt.text, 80));
    }
    let parts = text.into_iter().chain(todos.iter().map(|todo| todo.text.as_str()));
    let fingerprint = format!("{:016x}", fnv_fingerprint(parts));
    let own =
        todos.iter().filter(|todo| !plan::has_task_for_todo(&plan, &todo.text)).map(|todo| todo.text.clone());
    let own: Vec<String> = own.collect();
    if !own.is_empty() {
        let id = plan.phases.iter().map(|phase| phase.id).max().map_or(1, |id| id.saturating_add(1));
        let name = if plan.phases.is_empty() { "Tasks" } else { "The agent's own list" };
        plan.phases.push(Phase { id, name: name.to_owned(), ..Phase::default() });
        let tasks = own.into_iter().enumerate().map(|(i, text)| Task {
            id: format!("{id}.{}", i + 1),
            phase: id,
            description: text.clone(),
            todo: Some(text),
            ..Task::default()
        });
        if let Some(phase) = plan.phases.last_mut() {
            phase.tasks.extend(tasks);
        }
    }
    // Copy the state of each entry in the agent's todo list to the matching task.
    let followed =
        plan::follow_todos(&plan, &LinkedTodos::default(), &digest.todos, &digest.session, &digest.last_at);
    let from = format!("session {}", digest.session);
    Some(IncomingPlan { from, plan: followed.plan, warnings, fingerprint, redacted: false })
}

/// Links the tasks to the session's list, so that later changes to the list also update the tasks.
fn link_tasks_to_session(store: &Store, session: &Id, digest: &Digest) -> Result<()> {
    let seen = plan::follow_todos(&Plan::default(), &LinkedTodos::default(), &digest.todos, "", "").todos;
    Ok(store.session_state(session).write_state(&seen)?)
}

fn approved_plan(digest: &Digest) -> Option<&str> {
    digest.plan.as_ref().map(|plan| plan.text.as_str()).filter(|plan| !plan.trim().is_empty())
}
