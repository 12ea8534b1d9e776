//! Reversible summaries: a large tool output is stored, and the model gets a summary instead. The feature is off by
//! default. While it is off, it does not slow down tool calls.

pub(crate) mod import;
pub mod retrieve;
mod saved;

use std::time::Duration;

use model::event::{EventKind, EventName, EventSet};
use model::redact::Redacted;
use model::reply::{Reply, ReplyPart};
use model::summary::{self, ArchivedOutput, SummarisedOutput};
use model::time;
use store::layout;

use crate::Result;
use crate::features::{Feature, FeatureAnswer, ProjectContext};
use crate::hook::context::HookContext;

pub use import::{ImportedOutput, OutputImportReport};
pub use saved::{SavedTokens, count_saved_tokens};

pub const FEATURE_ROW: Feature = Feature {
    name: "summaries",
    wanted_events: EventSet::from_names(&[EventName::ToolDone, EventName::SessionEnd]),
    decide,
    ..Feature::EMPTY_FEATURE
};

/// The longest output that is summarised. Harnesses never show a model more than this.
const MAX_OUTPUT_BYTES: usize = 8 * 1024 * 1024;

fn decide<'c>(context: &'c HookContext) -> Result<FeatureAnswer<'c>> {
    let project = &context.project;
    match &context.event.kind {
        EventKind::ToolDone(_) if project.settings.summaries_enabled => summarise_output(context),
        // Remove the old outputs even if the feature is off now, because they may have been stored earlier or imported.
        EventKind::SessionEnd { .. } if project.store.dir().file_info(layout::SUMMARIES_INDEX)?.is_some() => {
            Ok(FeatureAnswer::with_change(
                ReplyPart::silent(),
                "a session ended",
                "remove old originals",
                || {
                    remove_old_originals(project, context.deadline.lock_wait())?;
                    Ok(ReplyPart::silent())
                },
            ))
        }
        _ => Ok(FeatureAnswer::no_action("")),
    }
}

fn summarise_output<'c>(context: &'c HookContext) -> Result<FeatureAnswer<'c>> {
    let EventKind::ToolDone(done) = &context.event.kind else { return Ok(FeatureAnswer::no_action("")) };
    let threshold = context.project.settings.summaries_threshold_bytes;
    let is_small =
        |bytes: usize| !summary::is_large_enough_for_summary(bytes, threshold) || bytes > MAX_OUTPUT_BYTES;
    if done.failed || context.event.is_payload_truncated || is_small(done.raw_result.len()) {
        return Ok(FeatureAnswer::no_action("the call failed, or its output is not large"));
    }
    if summary::is_call_retrieving_original(&done.tool, done.command.as_deref()) {
        return Ok(FeatureAnswer::no_action("the output is itself a stored original"));
    }
    let Some(text) = (context.harness.replaceable_text)(done).filter(|text| !is_small(text.len())) else {
        return Ok(FeatureAnswer::no_action("the output cannot be replaced, or is not large"));
    };
    let original = Redacted::redact_whole(&text, context.project.settings.redact_options());
    let id = summary::output_id(&summary::output_digest(original.as_bytes()));
    let room = summary::summary_room(text.len().min(original.len()), context.harness.max_context_length);
    let Some(summary) = summary::summarise_output(&original, &id, room) else {
        return Ok(FeatureAnswer::no_action("its error lines alone are too long for a summary"));
    };
    let noted = SummarisedOutput {
        ts: time::to_rfc3339(context.project.world.now),
        id,
        session: context.session.to_string(),
        tool: model::render::one_line(&done.tool, 100),
        kind: summary.kind,
        bytes: original.len(),
        lines: summary.original_lines,
        errors: summary.error_line_count,
        summary_bytes: summary.text.len(),
        imported: false,
    };
    let what = format!("store {} bytes as {}", noted.bytes, noted.id);
    let original = original.to_string();
    let part = ReplyPart::from_reply(Reply::ReplaceToolOutput(summary.text));
    let answer = part.clone();
    // If the original cannot be stored, this change fails and the model gets the output itself.
    Ok(FeatureAnswer::with_change(part, "the output is large", what, move || {
        let limit = context.project.settings.log_limit_bytes();
        context.project.store.write_original(
            original.as_bytes(),
            &noted,
            limit,
            context.deadline.lock_wait(),
        )?;
        Ok(answer)
    }))
}

/// Removes the originals that are too old. The log keeps the digest of each of them.
fn remove_old_originals(project: &ProjectContext, wait: Duration) -> Result<()> {
    let _lock = project.store.lock_summaries(wait)?;
    let (summarised, _) = project.store.list_summarised_outputs()?;
    for id in summary::ids_of_outdated_originals(&summarised, project.world.now)
        .into_iter()
        .filter(|id| summary::is_output_id(id))
    {
        let Some(original) = project.store.read_original(id)? else { continue };
        project.store.archive_original(&ArchivedOutput {
            ts: time::to_rfc3339(project.world.now),
            id: id.to_owned(),
            digest: summary::output_digest(&original),
            bytes: original.len(),
        })?;
    }
    Ok(())
}
