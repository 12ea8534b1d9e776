//! Records the user's answers as decisions. When a tool call returns an answer, the hook for that call appends a line
//! to the decision log. Answers that no hook reported are added at the next checkpoint.

use model::decision::{self, Decision};
use model::digest::Digest;
use model::event::EventKind;
use model::journal::RecordedAnswer;
use model::redact::redact_text;
use model::reply::ReplyPart;
use model::text::{count_with_noun, fnv_fingerprint};
use model::time;
use store::{AnswersFingerprint, Durability, layout};

use super::{MAX_LOG_TAIL_BYTES, view};
use crate::Result;
use crate::features::{self, ProjectContext, plan, swarm};
use crate::hook::context::HookContext;

pub fn decide<'c>(context: &'c HookContext) -> Result<features::FeatureAnswer<'c>> {
    let answers = &context.record.answers;
    let EventKind::ToolDone(done) = &context.event.kind else {
        return Ok(features::FeatureAnswer::no_action(""));
    };
    // A truncated payload may contain only half of an answer.
    if answers.is_empty() || done.failed || context.event.is_payload_truncated {
        return Ok(features::FeatureAnswer::no_action(""));
    }
    let decisions = decisions_from_answers(&context.project, context.session.as_str(), answers);
    if decisions.is_empty() {
        return Ok(features::FeatureAnswer::no_action("the user gave no answer, or replied with a question"));
    }
    let what = format!("record {}", count_with_noun(decisions.len(), "decision"));
    Ok(features::FeatureAnswer::with_change(
        ReplyPart::silent(),
        "the user answered a question",
        what,
        move || {
            context.project.store.append_decisions(&decisions, Durability::Relaxed)?;
            Ok(ReplyPart::silent())
        },
    ))
}

/// Adds the answers that only the transcript contains, then rewrites `context.md` if it is out of date.
pub fn update_at_checkpoint(context: &HookContext, digest: &Digest) -> Result<Option<String>> {
    let store = context.project.store;
    let parts = digest.answers.iter().flat_map(|answer| [&answer.question, &answer.answer]);
    let seen = AnswersFingerprint(fnv_fingerprint(parts));
    let session = store.session_state(context.session);
    if !digest.answers.is_empty() && session.read_state::<AnswersFingerprint>()? != Some(seen) {
        let known: Vec<String> =
            store.newest_decisions(MAX_LOG_TAIL_BYTES)?.0.into_iter().map(|decision| decision.id).collect();
        let mut new = decisions_from_answers(&context.project, context.session.as_str(), &digest.answers);
        new.retain(|decision| !known.contains(&decision.id));
        match new.is_empty() {
            true => store.sync_decisions()?,
            false => store.append_decisions(&new, Durability::Synced)?,
        }
        session.write_state(&seen)?;
    }
    if is_view_outdated(store)? {
        let note = view::rewrite_context_view(&context.project, context.deadline.lock_wait(), Some(digest))?;
        note.into_iter().for_each(|note| context.add_warning(note));
    }
    Ok(None)
}

/// Returns whether the log may have been written after `context.md`, the readable view of it. The clock of the file
/// system ticks every few milliseconds, so two files with the same time may have been written in either order.
fn is_view_outdated(store: &store::Store) -> Result<bool> {
    let Some(log) = store.dir().file_info(layout::DECISIONS_LOG)? else { return Ok(false) };
    Ok(store
        .dir()
        .file_info(layout::CONTEXT_VIEW_FILE)?
        .is_none_or(|view| view.modified_at <= log.modified_at))
}

fn decisions_from_answers(
    project: &ProjectContext,
    session: &str,
    answers: &[RecordedAnswer],
) -> Vec<Decision> {
    let (phase, task) = current_phase_and_task(project);
    let ts = time::to_rfc3339(project.world.now);
    let whole = |decision: Decision| Decision {
        // The question and the answer were redacted separately. Joined, they may form a secret that neither contains
        // alone.
        text: redact_text(&decision.text, project.settings.redact_options()).into_owned(),
        ts: ts.clone(),
        session: session.to_owned(),
        phase,
        task: task.clone(),
        ..decision
    };
    answers.iter().filter_map(decision::decision_from_answer).map(whole).collect()
}

/// Returns the current phase and task. If the plan cannot be read or belongs to another swarm, both are empty.
pub(super) fn current_phase_and_task(project: &ProjectContext) -> (Option<u32>, String) {
    let Ok(Some(loaded)) = plan::load_plan(project.store) else { return (None, String::new()) };
    // If the plan belongs to another swarm, this session's decision has nothing to do with the plan's phases and
    // tasks, so it gets neither a phase nor a task.
    if swarm::foreign_swarm_of_plan(project, &loaded.plan).is_some() {
        return (None, String::new());
    }
    let standing = model::plan::standing_of_plan(&loaded.plan);
    let task = standing.in_progress.first().map(|task| task.id.clone()).unwrap_or_default();
    (standing.current_phase.map(|phase| phase.id), task)
}
