//! What a brief says about the plan: its progress, the current task, the blocked tasks, the ready tasks. Each
//! finished phase is one line, with the path of its record.

use model::brief::{Candidate, Section};
use model::id::Id;
use model::plan::{self, Plan, Progress, Standing, Task, task_words, waiting_words};
use model::render::inline;
use model::score::Signal;
use store::layout;

use crate::Result;
use crate::features::{BriefContext, ProjectContext, swarm};

const SECTION: Section = Section { order: 2, longer: 1, name: "plan", title: "Plan", signal: Signal::Phase };
pub const SECTIONS: &[&str] = &[SECTION.name];

/// How many tasks of each kind are named. Of the others only the number is given.
const NAMED: usize = 5;

/// How many dependencies of the current task are candidates, nearest first.
const DEPENDENCIES: usize = 20;

pub fn candidates(context: &BriefContext) -> Result<Vec<Candidate>> {
    let Some(loaded) = super::load(context.project.store)? else { return Ok(Vec::new()) };
    let standing = plan::standing(&loaded.plan);
    if is_history(&standing) {
        return Ok(Vec::new());
    }
    if let Some(other) = swarm::foreign(&context.project, &loaded.plan) {
        return Ok(vec![Candidate::new(&SECTION, "plan", swarm::foreign_words(&other, &loaded.plan))]);
    }
    let evidence = with_evidence(context);
    let scored = |id: &str, text: String, signal: Signal| {
        let candidate = Candidate::new(&SECTION, format!("task:{id}"), text).with(signal, 1.0);
        let has_evidence = evidence.iter().any(|task| task.as_str() == id);
        if has_evidence { candidate.with(Signal::EvidencePresence, 1.0) } else { candidate }
    };
    let phase = Candidate::new(&SECTION, "plan", plan_words(&loaded.plan, &standing));
    let mut all = vec![phase.with(Signal::Phase, 1.0)];
    let current: Vec<&Task> = match standing.in_progress.as_slice() {
        [] => Vec::new(),
        in_progress => in_progress.iter().take(NAMED).copied().collect(),
    };
    for task in &current {
        all.push(scored(&task.id, current_words(&standing, task), Signal::CurrentTask));
    }
    for task in standing.blocked.iter().take(NAMED) {
        let why =
            task.blocked_reason.as_deref().map_or(String::new(), |why| format!(": {}", inline(why, 160)));
        let held: Vec<String> =
            standing.held_up_by(&task.id).iter().take(NAMED).map(|task| inline(&task.id, 64)).collect();
        let held = if held.is_empty() { String::new() } else { format!(" (holds up {})", held.join(", ")) };
        let text = format!("blocked: {}{why}{held}", task_words(task, 100));
        all.push(scored(&task.id, text, Signal::BlockedTask));
    }
    // If no task is in progress, the first ready task counts as the current task.
    let (signal, value) = if current.is_empty() { (Signal::CurrentTask, 1.0) } else { (Signal::Phase, 0.5) };
    if !standing.ready.is_empty() {
        let shown: Vec<String> =
            standing.ready.iter().take(NAMED).map(|task| task_words(task, 100)).collect();
        let more = standing.ready.len().saturating_sub(NAMED);
        let more = if more == 0 { String::new() } else { format!(" +{more}") };
        let text = format!("ready to begin: {}{more}", shown.join("; "));
        all.push(Candidate::new(&SECTION, "plan:ready", text).with(signal, value));
    } else if current.is_empty()
        && let Some(first) = loaded.plan.tasks().find(|task| !task.status.is_over())
        && let Some(waits) = waiting_words(&standing, first, NAMED)
    {
        let text = format!("nothing is ready: {} waits for {waits}", task_words(first, 100));
        all.push(Candidate::new(&SECTION, "plan:ready", text).with(signal, value));
    }
    // Dependencies are added only for scoring. In the fixed order, the current task names the tasks that it waits for.
    if context.project.settings.brief_scoring_enabled
        && let Some(task) = standing.task
    {
        let told: Vec<String> = all.iter().map(|candidate| candidate.id.clone()).collect();
        let others = standing.dependencies(task).into_iter();
        let others = others.filter(|(task, _)| !told.contains(&format!("task:{}", task.id)));
        for (dependency, depth) in others.take(DEPENDENCIES) {
            let text = format!("{} depends on: {}", inline(&task.id, 64), dependency_words(dependency));
            let mut candidate = scored(&dependency.id, text, Signal::DependencyProximity);
            candidate.signals.depth = Some(depth);
            // The id must not begin like that of a task in progress or a blocked task, because a sub-agent is given
            // those.
            candidate.id = format!("dependency:{}", dependency.id);
            all.push(candidate);
        }
    }
    Ok(all)
}

/// Returns the tasks that have evidence. They are needed only for scoring, so without scoring the list is empty.
fn with_evidence(context: &BriefContext) -> Vec<Id> {
    match context.project.settings.brief_scoring_enabled {
        true => context.project.store.evidence_tasks().map_or(Vec::new(), |(tasks, _)| tasks),
        false => Vec::new(),
    }
}

fn dependency_words(task: &Task) -> String {
    format!("{} ({})", task_words(task, 160), task.status.name().replace('_', " "))
}

/// Returns the state of the plan and the tasks in progress, in the same words as the brief.
pub fn facts_for_summary(project: &ProjectContext) -> Result<Vec<String>> {
    let Some(loaded) = super::load(project.store)? else { return Ok(Vec::new()) };
    let standing = plan::standing(&loaded.plan);
    if is_history(&standing) || swarm::foreign(project, &loaded.plan).is_some() {
        return Ok(Vec::new());
    }
    let current = standing.in_progress.iter().take(NAMED).map(|task| current_words(&standing, task));
    Ok(std::iter::once(format!("plan {}", plan_words(&loaded.plan, &standing))).chain(current).collect())
}

/// Returns whether the plan is finished, or has no tasks.
fn is_history(standing: &Standing) -> bool {
    standing.progress.done == standing.progress.total
}

/// Describes the plan: `“Title”: phase 2 of 4 “Name”, 3 of 7 tasks done; 12 of 30 in all.`
fn plan_words(plan: &Plan, standing: &Standing) -> String {
    let title = inline(&plan.title, 100).replace(['“', '”'], "\"");
    let Progress { done, total } = standing.progress;
    let phase = standing.phase.map_or(String::new(), |phase| {
        let own = Progress::of(&phase.tasks);
        let place = plan.phases.iter().position(|known| known.id == phase.id).map_or(1, |place| place + 1);
        let of = plan.phases.len();
        let name = inline(&phase.name, 100).replace(['“', '”'], "\"");
        format!(" phase {} “{name}” ({place} of {of}), {} of {} tasks done;", phase.id, own.done, own.total)
    });
    let over: Vec<String> =
        plan.phases.iter().filter(|phase| phase.status.is_over()).map(|phase| phase.id.to_string()).collect();
    let over = match over.as_slice() {
        [] => String::new(),
        ids => {
            let folder = format!("{}/{}", layout::STORE, layout::PHASES);
            format!(" Over: phase {}, see {folder}/<n>.md.", ids.join(", "))
        }
    };
    format!("“{title}”:{phase} {done} of {total} in all.{over} `thru plan show` has all of it.")
}

fn current_words(standing: &Standing, task: &Task) -> String {
    let mut text = format!("in progress: {}", task_words(task, 300));
    if let Some(acceptance) = &task.acceptance {
        text.push_str(&format!("; done when: {}", inline(acceptance, 300)));
    }
    if !task.files_touched.is_empty() {
        text.push_str(&format!("; files: {}", inline(&task.files_touched.join(", "), 200)));
    }
    if let Some(waits) = waiting_words(standing, task, NAMED) {
        text.push_str(&format!("; it waits for {waits}"));
    }
    let held = standing.held_up_by(&task.id);
    if !held.is_empty() {
        let shown: Vec<String> = held.iter().take(NAMED).map(|task| inline(&task.id, 64)).collect();
        text.push_str(&format!("; {} wait for it", shown.join(", ")));
    }
    text
}
