//! At a checkpoint, updates the plan's tasks that came from the harness's own task list, if that list has changed.

use model::digest::Digest;
use model::id::Id;
use model::plan::{LinkedTodos, follow_todos};
use store::layout;

use super::{LedgerNote, MissingPlanPolicy, PlanAuthor, PlanSource, change_plan};
use crate::Result;
use crate::features::evidence;
use crate::hook::context::HookContext;

pub fn update_at_checkpoint(context: &HookContext, digest: &Digest) -> Result<Option<String>> {
    let store = context.project.store;
    if digest.todos.is_empty() || store.dir().file_info(layout::PLAN_FILE)?.is_none() {
        return Ok(None);
    }
    let session = store.session_state(context.session);
    let known: LinkedTodos = session.read_state()?.unwrap_or_default();
    let by = context.session.to_string();
    let author = PlanAuthor { author: by, at: context.project.world.now };
    // Usually the list has not changed since the last stop, so the plan need not be read.
    let now = follow_todos(&model::plan::Plan::default(), &known, &digest.todos, "", "").todos;
    if now == known {
        return Ok(None);
    }
    let Some(loaded) = super::load_plan(store)? else { return Ok(None) };
    let at = author.formatted_time();
    let moves = |plan: &model::plan::Plan| {
        let followed = follow_todos(plan, &known, &digest.todos, &author.author, &at);
        followed.reopen_rejected_tasks(|id| evidence::describe_rejection(store, id).is_some())
    };
    let (followed, rejected) = moves(&loaded.plan);
    let still_open = |id: String| {
        format!("{id} was rejected, so it stays open, although the task list reports it as done")
    };
    let mut notes: Vec<String> = rejected.into_iter().map(still_open).collect();
    // If an earlier stop was killed, the ledger can be newer than the file. Rebuild the file now, because otherwise
    // it would stay outdated until the next change.
    if !followed.changed_ids.is_empty() || loaded.source == PlanSource::Ledger {
        let entry = LedgerNote { change_kind: "followed_todo", ..LedgerNote::default() };
        let changed = change_plan(
            store,
            &author,
            entry,
            (MissingPlanPolicy::IsError, context.deadline.lock_wait()),
            |plan| {
                let (followed, _) = moves(plan);
                Ok((
                    followed.plan,
                    LedgerNote { id: followed.changed_ids.join(" "), ..LedgerNote::default() },
                ))
            },
        )?;
        notes.extend(changed.notes);
    }
    session.write_state(&now)?;
    notes.into_iter().for_each(|note| context.add_warning(note));
    Ok(None)
}

pub fn continue_under_new_id(context: &HookContext, previous: &Id) -> Result<()> {
    Ok(context.project.store.session_state(context.session).inherit_from_session::<LinkedTodos>(previous)?)
}
