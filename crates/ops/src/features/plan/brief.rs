//! The part of a brief about the plan: its progress, the current task, the blocked tasks and the ready tasks. For
//! finished phases, the brief mentions only their records.

use model::brief::{BriefSection, Candidate};
use model::id::Id;
use model::plan::{self, Plan, PlanStanding, Task, TaskProgress, describe_open_dependencies, describe_task};
use model::render::inline_for_model;
use model::score::ScoreSignal;
use store::layout;

use crate::Result;
use crate::features::{BriefContext, ProjectContext, swarm};

const PLAN_BRIEF_SECTION: BriefSection = BriefSection {
    section_position: 2,
    rank_step_per_form: 1,
    name: "plan",
    title: "Plan",
    signal: ScoreSignal::Phase,
};
pub const BRIEF_SECTION_NAMES: &[&str] = &[PLAN_BRIEF_SECTION.name];

/// How many tasks of each kind a brief lists.
const MAX_TASKS_NAMED: usize = 5;

/// How many dependencies of the current task become candidates, nearest first.
const MAX_DEPENDENCIES: usize = 20;

pub fn brief_candidates(context: &BriefContext) -> Result<Vec<Candidate>> {
    let Some(loaded) = super::load_plan(context.project.store)? else { return Ok(Vec::new()) };
    let standing = plan::standing_of_plan(&loaded.plan);
    if is_plan_finished(&standing) {
        return Ok(Vec::new());
    }
    if let Some(other) = swarm::foreign_swarm_of_plan(&context.project, &loaded.plan) {
        return Ok(vec![Candidate::new(
            &PLAN_BRIEF_SECTION,
            "plan",
            swarm::describe_foreign_plan(&other, &loaded.plan),
        )]);
    }
    let evidence = tasks_with_evidence(context);
    let scored = |id: &str, text: String, signal: ScoreSignal| {
        let candidate =
            Candidate::new(&PLAN_BRIEF_SECTION, format!("task:{id}"), text).with_signal(signal, 1.0);
        let has_evidence = evidence.iter().any(|task| task.as_str() == id);
        if has_evidence { candidate.with_signal(ScoreSignal::EvidencePresence, 1.0) } else { candidate }
    };
    let phase = Candidate::new(&PLAN_BRIEF_SECTION, "plan", describe_plan(&loaded.plan, &standing));
    let mut all = vec![phase.with_signal(ScoreSignal::Phase, 1.0)];
    let current: Vec<&Task> = match standing.in_progress.as_slice() {
        [] => Vec::new(),
        in_progress => in_progress.iter().take(MAX_TASKS_NAMED).copied().collect(),
    };
    for task in &current {
        all.push(scored(&task.id, describe_current_task(&standing, task), ScoreSignal::CurrentTask));
    }
    for task in standing.blocked.iter().take(MAX_TASKS_NAMED) {
        let why = task
            .blocked_reason
            .as_deref()
            .map_or(String::new(), |why| format!(": {}", inline_for_model(why, 160)));
        let held: Vec<String> = standing
            .tasks_waiting_for(&task.id)
            .iter()
            .take(MAX_TASKS_NAMED)
            .map(|task| inline_for_model(&task.id, 64))
            .collect();
        let held = if held.is_empty() { String::new() } else { format!(" (holds up {})", held.join(", ")) };
        let text = format!("blocked: {}{why}{held}", describe_task(task, 100));
        all.push(scored(&task.id, text, ScoreSignal::BlockedTask));
    }
    // If no task is in progress, the ready tasks are scored as if they were the current task.
    let (signal, value) =
        if current.is_empty() { (ScoreSignal::CurrentTask, 1.0) } else { (ScoreSignal::Phase, 0.5) };
    if !standing.ready.is_empty() {
        let shown: Vec<String> =
            standing.ready.iter().take(MAX_TASKS_NAMED).map(|task| describe_task(task, 100)).collect();
        let more = standing.ready.len().saturating_sub(MAX_TASKS_NAMED);
        let more = if more == 0 { String::new() } else { format!(" +{more}") };
        let text = format!("ready to begin: {}{more}", shown.join("; "));
        all.push(Candidate::new(&PLAN_BRIEF_SECTION, "plan:ready", text).with_signal(signal, value));
    } else if current.is_empty()
        && let Some(first) = loaded.plan.tasks().find(|task| !task.status.is_over())
        && let Some(waits) = describe_open_dependencies(&standing, first, MAX_TASKS_NAMED)
    {
        let text = format!("nothing is ready: {} waits for {waits}", describe_task(first, 100));
        all.push(Candidate::new(&PLAN_BRIEF_SECTION, "plan:ready", text).with_signal(signal, value));
    }
    // Dependencies become candidates only for scoring. Without scoring, candidates have a fixed order, and the line
    // about the current task already names the dependencies.
    if context.project.settings.brief_scoring_enabled
        && let Some(task) = standing.current_task
    {
        let told: Vec<String> = all.iter().map(|candidate| candidate.id.clone()).collect();
        let others = standing.all_dependencies_of_task(task).into_iter();
        let others = others.filter(|(task, _)| !told.contains(&format!("task:{}", task.id)));
        for (dependency, depth) in others.take(MAX_DEPENDENCIES) {
            let text =
                format!("{} depends on: {}", inline_for_model(&task.id, 64), describe_dependency(dependency));
            let mut candidate = scored(&dependency.id, text, ScoreSignal::DependencyProximity);
            candidate.signals.depth = Some(depth);
            // Sub-agents get every candidate whose id begins with `task:`. Dependencies are not meant for them, so
            // their ids have another prefix.
            candidate.id = format!("dependency:{}", dependency.id);
            all.push(candidate);
        }
    }
    Ok(all)
}

/// Returns the tasks that have evidence. Only scoring needs this list, so it is empty if scoring is disabled.
fn tasks_with_evidence(context: &BriefContext) -> Vec<Id> {
    match context.project.settings.brief_scoring_enabled {
        true => context.project.store.tasks_with_evidence().map_or(Vec::new(), |(tasks, _)| tasks),
        false => Vec::new(),
    }
}

fn describe_dependency(task: &Task) -> String {
    format!("{} ({})", describe_task(task, 160), task.status.name().replace('_', " "))
}

/// Describes the plan's progress and the tasks in progress, with the same text as a brief.
pub fn facts_for_summary(project: &ProjectContext) -> Result<Vec<String>> {
    let Some(loaded) = super::load_plan(project.store)? else { return Ok(Vec::new()) };
    let standing = plan::standing_of_plan(&loaded.plan);
    if is_plan_finished(&standing) || swarm::foreign_swarm_of_plan(project, &loaded.plan).is_some() {
        return Ok(Vec::new());
    }
    let current =
        standing.in_progress.iter().take(MAX_TASKS_NAMED).map(|task| describe_current_task(&standing, task));
    Ok(std::iter::once(format!("plan {}", describe_plan(&loaded.plan, &standing))).chain(current).collect())
}

/// Returns whether the plan has no open tasks. A plan without tasks counts as finished.
fn is_plan_finished(standing: &PlanStanding) -> bool {
    standing.progress.done == standing.progress.total
}

/// Describes the plan, for example `“Title”: phase 2 “Name” (2 of 4), 3 of 7 tasks done; 12 of 30 done in all.`
fn describe_plan(plan: &Plan, standing: &PlanStanding) -> String {
    let title = inline_for_model(&plan.title, 100).replace(['“', '”'], "\"");
    let TaskProgress { done, total } = standing.progress;
    let phase = standing.current_phase.map_or(String::new(), |phase| {
        let own = TaskProgress::count_tasks(&phase.tasks);
        let place = plan.phases.iter().position(|known| known.id == phase.id).map_or(1, |place| place + 1);
        let of = plan.phases.len();
        let name = inline_for_model(&phase.name, 100).replace(['“', '”'], "\"");
        format!(" phase {} “{name}” ({place} of {of}), {} of {} tasks done;", phase.id, own.done, own.total)
    });
    let over: Vec<String> =
        plan.phases.iter().filter(|phase| phase.status.is_over()).map(|phase| phase.id.to_string()).collect();
    let over = match over.as_slice() {
        [] => String::new(),
        ids => {
            let folder = format!("{}/{}", layout::STORE_FOLDER, layout::PHASE_RECORDS_FOLDER);
            format!(" Finished phases: {}; see {folder}/<n>.md.", ids.join(", "))
        }
    };
    format!("“{title}”:{phase} {done} of {total} done in all.{over} `thru plan show` shows the whole plan.")
}

fn describe_current_task(standing: &PlanStanding, task: &Task) -> String {
    let mut text = format!("in progress: {}", describe_task(task, 300));
    if let Some(acceptance) = &task.acceptance {
        text.push_str(&format!("; done when: {}", inline_for_model(acceptance, 300)));
    }
    if !task.files_touched.is_empty() {
        text.push_str(&format!("; files: {}", inline_for_model(&task.files_touched.join(", "), 200)));
    }
    if let Some(waits) = describe_open_dependencies(standing, task, MAX_TASKS_NAMED) {
        text.push_str(&format!("; it waits for {waits}"));
    }
    let held = standing.tasks_waiting_for(&task.id);
    if !held.is_empty() {
        let shown: Vec<String> =
            held.iter().take(MAX_TASKS_NAMED).map(|task| inline_for_model(&task.id, 64)).collect();
        text.push_str(&format!("; waiting for it: {}", shown.join(", ")));
    }
    text
}
