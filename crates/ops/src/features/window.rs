//! Warns the agent when its context window is 70 percent full, and again at 90 percent.

use model::digest::Digest;
use model::event::{EventKind, EventName, EventSet, StartSource};
use model::reply::{Reply, ReplyPart};
use model::session::PendingBrief;
use model::window::{self, WindowWarning};
use serde::{Deserialize, Serialize};
use store::{Durability, SessionState, layout};

use crate::Result;
use crate::features::{Feature, FeatureAnswer};
use crate::hook::context::HookContext;

pub const FEATURE_ROW: Feature = Feature {
    name: "window",
    wanted_events: EventSet::from_names(&[
        EventName::Prompt,
        EventName::SessionStart,
        EventName::AfterCompact,
    ]),
    decide,
    update_at_checkpoint,
    ..Feature::EMPTY_FEATURE
};

/// The warnings about the session's current context window. The file is created when the first level is reached, and
/// removed at a compaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct WindowState {
    /// The highest level that the agent has been warned about.
    #[serde(rename = "told")]
    told_level: u64,
    /// The size of the window in tokens, which changes if the user switches models.
    limit: u64,
    /// The warning to give at the next prompt.
    #[serde(rename = "due")]
    due_warning: Option<WindowWarning>,
}

/// Records at a checkpoint that the context window has reached a warning level. The agent is warned at the next prompt.
fn update_at_checkpoint(context: &HookContext, digest: &Digest) -> Result<Option<String>> {
    let settings = context.project.settings;
    // Only a stop leads to a warning. Before a compaction, a warning would come too late, and after the end of a
    // session, nobody would read it.
    let EventKind::Stop(stop) = &context.event.kind else { return Ok(None) };
    if !settings.brief_budget_warnings {
        return Ok(None);
    }
    let used = stop.context_use.as_ref().unwrap_or(&digest.context);
    let Some((level, limit)) = window::reached_level(used, &settings.brief_model_limits) else {
        return Ok(None);
    };
    let session = context.project.store.session_state(context.session);
    let known = session.read_state::<WindowState>()?;
    let state = known.clone().unwrap_or_default().with_window(level, limit);
    if level > state.told_level {
        let warning = WindowWarning {
            level,
            limit,
            tokens: used.tokens,
            estimated: used.estimated,
            prompts: digest.prompt_count,
            calls: digest.call_count,
            edited_files: digest.files.iter().filter(|file| file.is_edited()).count(),
        };
        session.write_state(&WindowState { due_warning: Some(warning), ..state })?;
    } else if known.is_some_and(|known| known != state) {
        session.write_state(&state)?;
    }
    Ok(None)
}

impl WindowState {
    /// Returns the state for a window of size `limit`. If the size has changed, the levels above `level` count as not
    /// reported.
    fn with_window(self, level: u64, limit: u64) -> WindowState {
        if self.limit == limit {
            return self;
        }
        let due = self.due_warning.filter(|due| due.level <= level);
        WindowState { told_level: self.told_level.min(level), limit, due_warning: due }
    }
}

fn decide<'c>(context: &'c HookContext<'_>) -> Result<FeatureAnswer<'c>> {
    let store = context.project.store;
    if context.event.subagent.is_some() {
        return Ok(FeatureAnswer::no_action("a sub-agent has a window of its own"));
    }
    let Some(state) = store.session_state(context.session).read_state::<WindowState>()? else {
        return Ok(FeatureAnswer::no_action("the context window has not reached a warning level"));
    };
    if is_new_window(context) {
        return Ok(FeatureAnswer::with_change(
            ReplyPart::silent(),
            "a compaction opened a new window",
            "forget the warnings about the old window",
            move || {
                store.session_state(context.session).remove_state::<WindowState>()?;
                Ok(ReplyPart::silent())
            },
        ));
    }
    let Some(warning) = state.due_warning.filter(|_| matches!(context.event.kind, EventKind::Prompt { .. }))
    else {
        return Ok(FeatureAnswer::no_action(
            "no warning about the context window is due, or this event is not a prompt",
        ));
    };
    let handoff = harness::commands::command_name_in_harness(context.harness, "handoff");
    let part = ReplyPart::from_reply(Reply::ContextForAgent(warning.describe_for_agent(&handoff)));
    Ok(FeatureAnswer::with_change(part, "the window is filling up", "record the warning", move || {
        // If hooks are installed twice, two processes handle this event. The lock ensures that only the first one
        // warns the agent.
        let _lock = store.lock_session_digest(context.session, context.deadline.lock_wait())?;
        let session = store.session_state(context.session);
        let Some(due) = session.read_state::<WindowState>()?.and_then(|state| state.due_warning) else {
            return Ok(ReplyPart::silent());
        };
        session.write_state(&WindowState { told_level: due.level, limit: due.limit, due_warning: None })?;
        Ok(ReplyPart::from_reply(Reply::ContextForAgent(due.describe_for_agent(&handoff))))
    }))
}

/// Returns whether the context window that the state describes has been replaced.
fn is_new_window(context: &HookContext) -> bool {
    match context.event.kind {
        EventKind::SessionStart { source } => matches!(source, StartSource::Compact | StartSource::Clear),
        EventKind::AfterCompact { .. } => true,
        // If no hook reported the compaction, thru finds it in the transcript. A brief is then due.
        EventKind::Prompt { .. } => context.pending_brief == Some(PendingBrief::Due),
        _ => false,
    }
}

impl SessionState for WindowState {
    const STATE_FOLDER: &'static str = layout::WINDOW_WARNINGS_FOLDER;
    const STATE_FILE_SUFFIX: &'static str = ".json";
    const MAX_STATE_FILE_BYTES: usize = 4 * 1024;
    const WRITE_DURABILITY: Durability = Durability::Rebuildable;

    fn parse(bytes: &[u8]) -> std::result::Result<WindowState, String> {
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    }

    fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}
