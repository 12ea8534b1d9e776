//! Reversible summaries: a large tool output is stored, and the model is shown a summary of it. This is off by
//! default, and then it adds nothing to the cost of a tool call.

pub(crate) mod import;
pub mod retrieve;
mod saved;

use std::time::Duration;

use model::event::{EventName, EventSet, Kind};
use model::redact::Redacted;
use model::reply::{Part, Reply};
use model::summary::{self, ArchivedOutput, SummarisedOutput};
use model::time;
use store::layout;

use crate::Result;
use crate::features::{Decision, Feature, ProjectContext};
use crate::hook::context::HookContext;

pub use import::{ImportedOutput, OutputsReport};
pub use saved::{Saved, saved};

pub const ROW: Feature = Feature {
    name: "summaries",
    wants: EventSet::of(&[EventName::ToolDone, EventName::SessionEnd]),
    decide,
    ..Feature::NONE
};

/// The longest output that is summarised. Harnesses show a model less than this.
const LARGEST: usize = 8 * 1024 * 1024;

fn decide<'c>(context: &'c HookContext) -> Result<Decision<'c>> {
    let project = &context.project;
    match &context.event.kind {
        Kind::ToolDone(_) if project.settings.summaries_enabled => summarise(context),
        // Originals were stored while this was on, or were imported.
        Kind::SessionEnd { .. } if project.store.dir().look(layout::SUMMARIES_INDEX)?.is_some() => {
            Ok(Decision::change(Part::silent(), "a session ended", "remove old originals", || {
                remove_outdated(project, context.deadline.wait())?;
                Ok(Part::silent())
            }))
        }
        _ => Ok(Decision::nothing("")),
    }
}

fn summarise<'c>(context: &'c HookContext) -> Result<Decision<'c>> {
    let Kind::ToolDone(done) = &context.event.kind else { return Ok(Decision::nothing("")) };
    let threshold = context.project.settings.summaries_threshold_bytes;
    let is_small = |bytes: usize| !summary::is_over(bytes, threshold) || bytes > LARGEST;
    if done.failed || context.event.torn || is_small(done.result.len()) {
        return Ok(Decision::nothing("the call failed, or its output is not large"));
    }
    if summary::is_retrieval(&done.tool, done.command.as_deref()) {
        return Ok(Decision::nothing("the output is a stored one"));
    }
    let Some(text) = (context.harness.replaceable)(done).filter(|text| !is_small(text.len())) else {
        return Ok(Decision::nothing("the output cannot be replaced, or is not large"));
    };
    let original = Redacted::whole(&text, context.project.settings.redact());
    let id = summary::id(&summary::digest(original.as_bytes()));
    let room = summary::room(text.len().min(original.len()), context.harness.context_cap);
    let Some(summary) = summary::summarise(&original, &id, room) else {
        return Ok(Decision::nothing("its error lines alone are too long for a summary"));
    };
    let noted = SummarisedOutput {
        ts: time::rfc3339(context.project.world.now),
        id,
        session: context.session.to_string(),
        tool: model::render::one_line(&done.tool, 100),
        kind: summary.kind,
        bytes: original.len(),
        lines: summary.lines,
        errors: summary.errors,
        summary_bytes: summary.text.len(),
        imported: false,
    };
    let what = format!("store {} bytes as {}", noted.bytes, noted.id);
    let original = original.to_string();
    let part = Part::of(Reply::Output(summary.text));
    let answer = part.clone();
    // If the original cannot be stored, this fails, and the output is not replaced.
    Ok(Decision::change(part, "the output is large", what, move || {
        let limit = context.project.settings.log_limit_bytes();
        context.project.store.keep_original(original.as_bytes(), &noted, limit, context.deadline.wait())?;
        Ok(answer)
    }))
}

/// Removes the originals that are too old, and notes the digest of each.
fn remove_outdated(project: &ProjectContext, wait: Duration) -> Result<()> {
    let _lock = project.store.lock_summaries(wait)?;
    let (summarised, _) = project.store.summarised()?;
    for id in summary::outdated(&summarised, project.world.now).into_iter().filter(|id| summary::is_id(id)) {
        let Some(original) = project.store.original(id)? else { continue };
        project.store.archive_original(&ArchivedOutput {
            ts: time::rfc3339(project.world.now),
            id: id.to_owned(),
            digest: summary::digest(&original),
            bytes: original.len(),
        })?;
    }
    Ok(())
}
