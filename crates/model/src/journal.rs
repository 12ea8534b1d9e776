//! Lines of a session's journal: what they hold, how they are cut to size and cleaned.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::Serialize;

use crate::event::{Action, Agent, Event, Kind, ToolDone};
use crate::place::{self, Place};
use crate::redact::{self, redact};
use crate::text::cut;
use crate::time;

/// Longest texts kept, in bytes. A line must stay one small write; the transcript has the rest.
const PROMPT_BYTES: usize = 64 * 1024;
const COMMAND_BYTES: usize = 8 * 1024;
const ERROR_BYTES: usize = 2 * 1024;
const PATH_BYTES: usize = 4 * 1024;
const NAME_BYTES: usize = 256;

/// How much past its limit a text is looked at, so that a secret across the cut is seen whole.
const MARGIN: usize = 4 * 1024;

/// Where and under what settings an event is written down.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    pub harness: &'a str,
    /// Top folder of the checkout the event came from: the root, or one of its git worktrees.
    pub checkout: &'a str,
    pub redact: redact::Options,
    pub now: Timestamp,
}

#[derive(Debug, Default, Serialize)]
#[serde(default)]
struct Line<'a> {
    v: u8,
    ts: String,
    harness: &'a str,
    event: &'a str,
    session: &'a str,
    worktree: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<AgentField<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ok: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<FileField<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<u64>,
}

#[derive(Debug, Serialize)]
struct AgentField<'a> {
    id: Cow<'a, str>,
    #[serde(rename = "type")]
    kind: Cow<'a, str>,
}

#[derive(Debug, Serialize)]
struct FileField<'a> {
    path: Cow<'a, str>,
    action: Action,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    outside: bool,
}

/// The event as one line of JSON without its line end, redacted.
pub fn line(event: &Event, scene: &Scene) -> Vec<u8> {
    let mut line = Line {
        v: 1,
        ts: time::rfc3339(scene.now),
        harness: scene.harness,
        event: event.kind.name(),
        session: &event.session,
        worktree: scene.checkout,
        cwd: event.cwd.as_deref().and_then(|cwd| below(cwd, scene)),
        agent: event.agent.as_ref().map(|Agent { id, kind }| AgentField {
            id: scene.clean(id, NAME_BYTES),
            kind: scene.clean(kind, NAME_BYTES),
        }),
        ..Line::default()
    };
    match &event.kind {
        Kind::Prompt { text } => line.text = Some(scene.clean(text, PROMPT_BYTES)),
        Kind::ToolDone(done) => fill_tool(&mut line, done, scene),
        Kind::SessionStart { source } => line.name = Some(source.name().into()),
        Kind::BeforeCompact { trigger: name }
        | Kind::AfterCompact { trigger: name }
        | Kind::SessionEnd { reason: name } => line.name = name.as_ref().map(|n| scene.clean(n, NAME_BYTES)),
        Kind::Other { name } => line.name = Some(scene.clean(name, NAME_BYTES)),
        Kind::SubagentStart | Kind::SubagentStop | Kind::Stop => {}
    }
    // Strings, numbers and one level of structs: serialising them cannot fail.
    serde_json::to_vec(&line).unwrap_or_default()
}

fn fill_tool<'a>(line: &mut Line<'a>, done: &'a ToolDone<'_>, scene: &Scene<'a>) {
    line.tool = Some(scene.clean(&done.tool, NAME_BYTES));
    line.id = done.id.as_ref().map(|id| scene.clean(id, NAME_BYTES));
    line.ok = Some(!done.failed);
    line.command = done.command.as_ref().map(|text| scene.clean(text, COMMAND_BYTES));
    line.exit = done.exit;
    line.error = done.error.as_ref().map(|text| scene.clean(text, ERROR_BYTES));
    line.ms = done.ms;
    line.files = done
        .files
        .iter()
        .map(|file| {
            let Place { path, outside } = place::within(scene.checkout, &file.path);
            let path = Cow::Owned(scene.clean(&path, PATH_BYTES).into_owned());
            FileField { path, action: file.action, outside }
        })
        .collect();
}

/// The working directory, when it is not simply the top of the checkout.
fn below<'a>(cwd: &str, scene: &Scene) -> Option<Cow<'a, str>> {
    let place = place::within(scene.checkout, cwd);
    (place.path != ".").then(|| Cow::Owned(scene.clean(&place.path, PATH_BYTES).into_owned()))
}

impl Scene<'_> {
    /// Redacted, then cut. Only as much is looked at as can end up in the line.
    fn clean<'t>(&self, text: &'t str, limit: usize) -> Cow<'t, str> {
        let seen = cut(text, limit + MARGIN);
        let whole = seen.len() == text.len();
        let redacted = redact(seen, self.redact);
        // Where the text itself was cut, its last stretch may hold half a secret: that stretch is not kept.
        let keep = if whole { limit } else { limit.min(redacted.len().saturating_sub(MARGIN)) };
        if redacted.len() <= keep {
            return redacted;
        }
        let kept = cut(&redacted, keep);
        Cow::Owned(format!("{kept}… [cut: {} of {} bytes]", kept.len(), text.len()))
    }
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
