//! Records the verdicts of reviewers, critics and test engineers as evidence. When one of these agents stops, its
//! verdict is added to the current task.

use model::event::EventKind;
use model::evidence::{self, AgentAnswer, task_of_run};
use model::id::Id;
use model::plan::standing_of_plan;
use model::reply::ReplyPart as Reply;
use model::swarm::{SwarmRole, agent_named_by_task_description, swarm_of_agent_name};
use model::time;
use model::verdict::VerdictProblem;
use store::layout;

use super::write_evidence_entry;
use crate::Result;
use crate::features::{FeatureAnswer, plan, swarm};
use crate::hook::context::HookContext;

/// The longest answer that is examined. A longer answer counts as unreadable, because its verdict may be in the part
/// that was not read.
const MAX_ANSWER_BYTES: usize = 256 * 1024;

pub fn decide<'c>(context: &'c HookContext<'_>) -> Result<FeatureAnswer<'c>> {
    let event = context.event;
    let EventKind::SubagentStop { message, task: asked } = &event.kind else {
        return Ok(FeatureAnswer::no_action("no sub-agent has stopped"));
    };
    let (name, agent_id) = event.subagent.as_ref().map_or(("", ""), |agent| (&*agent.agent_type, &*agent.id));
    let asked = asked.as_deref().unwrap_or_default();
    // If the harness does not name the agent, take the name from its task description.
    let called = if name.is_empty() { agent_named_by_task_description(asked) } else { name };
    let Some(part) = SwarmRole::from_agent_type(called).filter(|part| part.evidence_type_judged().is_some())
    else {
        return Ok(FeatureAnswer::no_action("this sub-agent gives no verdicts"));
    };
    if !swarm_of_agent_name(called).is_some_and(|swarm| swarm::is_swarm_in_use(&context.project, &swarm)) {
        return Ok(FeatureAnswer::no_action("this sub-agent belongs to no swarm that is in use here"));
    }
    let store = context.project.store;
    if store.dir().file_info(layout::PLAN_FILE)?.is_none() {
        return Ok(FeatureAnswer::no_action("there is no plan that its verdict could belong to"));
    }
    let Some(loaded) = plan::load_plan(store)? else {
        return Ok(FeatureAnswer::no_action("there is no plan"));
    };
    if let Some(other) = swarm::foreign_swarm_of_plan(&context.project, &loaded.plan) {
        let why = format!("the plan belongs to the swarm {other}, so the verdict is not recorded");
        context.add_warning(why.clone());
        return Ok(FeatureAnswer::no_action(why));
    }
    let at = time::to_rfc3339(context.project.world.now);
    let current = || standing_of_plan(&loaded.plan).current_task;
    let task = task_of_run(&loaded.plan, context.session.as_str(), &at, &at).or_else(current);
    let Some(task) = task.and_then(|task| Id::new(&task.id).ok()) else {
        return Ok(FeatureAnswer::no_action("no task is in progress or ready"));
    };
    // Do not look for a verdict in a truncated answer, because the answer may end before its verdict.
    let message = message.as_deref().unwrap_or_default();
    let unread_reason = match message.len() {
        _ if event.is_payload_truncated => Some(VerdictProblem::Incomplete),
        bytes if bytes > MAX_ANSWER_BYTES => Some(VerdictProblem::TooLong),
        _ => None,
    };
    let text = context
        .record_policy()
        .redact_and_cut(if unread_reason.is_none() { message } else { "" }, MAX_ANSWER_BYTES);
    let entry = evidence::entry_of_answer(
        &AgentAnswer {
            swarm_role: part,
            agent: if name.is_empty() { part.name() } else { name },
            agent_id,
            session: context.session.as_str(),
            harness: context.harness.name,
            at: &at,
            text: &text,
            unread_reason,
        },
        task.as_str(),
    );
    let Some(mut entry) = entry else {
        return Ok(FeatureAnswer::no_action("this sub-agent gives no verdicts"));
    };
    if let Some(head) = store::git::read_head(&context.project.root.checkout) {
        entry.head = head.commit;
    }
    let what = format!("record the verdict {} of the {} as evidence for {task}", entry.verdict, part.name());
    let why = format!("{} is evidence for the current task", entry.summary);
    Ok(FeatureAnswer::with_change(Reply::silent(), why, what, move || {
        let written = write_evidence_entry(
            store,
            &task,
            entry,
            None,
            (context.project.world.now, context.deadline.lock_wait()),
        )?;
        written.notes.into_iter().for_each(|note| context.add_warning(note));
        Ok(Reply::silent())
    }))
}
