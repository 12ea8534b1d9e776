//! Writes `context.md`, which lists the decisions and describes the last sessions.

use std::borrow::Cow;
use std::time::Duration;

use model::decision::{self, ContextViewContents, SessionActivity};
use model::digest::Digest;
use model::time;
use store::{Store, layout};

use crate::Result;
use crate::features::ProjectContext;
use crate::session::roster::{self, RosterEntry};

/// How many sessions `context.md` lists.
const MAX_SESSIONS_NAMED: usize = 5;

/// Rewrites `context.md`. If a person edited the file, the edited version is kept next to the new one, and the returned
/// note gives its name. At a checkpoint, `digest` is the session's new digest, which is not on disk yet.
pub(super) fn rewrite_context_view(
    project: &ProjectContext,
    wait: Duration,
    digest: Option<&Digest>,
) -> Result<Option<String>> {
    let store = project.store;
    let _lock = store.lock_context_view(wait)?;
    let now = project.world.now;
    // Read no more of the log than a hook reads, so that hooks and commands write the same `context.md`.
    let (decisions, is_complete) = super::recent_decisions(store, now)?;
    let title = project.root.path.file_name().unwrap_or_default().to_string_lossy();
    let activity = recent_session_activity(store, digest);
    let at = time::to_rfc3339(now);
    let view = decision::render_context_view(&ContextViewContents {
        title: &title,
        decisions: &decisions,
        is_complete,
        activity: &activity,
        at: &at,
    });
    let is_edited = store.read_context_view()?.is_some_and(|known| {
        let text = String::from_utf8_lossy(&known);
        !text.trim().is_empty() && !decision::is_context_view_unedited(&text)
    });
    let kept = match is_edited {
        true => store.dir().rename_aside(
            layout::CONTEXT_VIEW_FILE,
            &format!("edited-{}", time::format_time_for_file_name(now)),
        )?,
        false => None,
    };
    store.write_context_view(&view)?;
    Ok(kept.map(|kept| {
        format!(
            "context.md was edited by hand: your version was kept as {kept}, and context.md was rewritten \
             from the decisions"
        )
    }))
}

/// Describes the last sessions, most recently active first. Sessions that cannot be read are left out, because
/// `context.md` is only a summary for people.
fn recent_session_activity(store: &Store, folded: Option<&Digest>) -> Vec<SessionActivity> {
    let entries = roster::read_roster(store, roster::ROSTER_TAIL_BYTES).unwrap_or_default();
    let last = roster::sort_by_activity(&entries, store, |_| true);
    let of = |digest: &Digest| SessionActivity {
        session: digest.session.clone(),
        harness: digest.harness.clone(),
        last_at: digest.last_at.clone(),
        calls: digest.call_count,
        edited_files: digest.files.iter().filter(|file| file.is_edited()).count(),
        failing: digest.open_failures().count(),
        about: digest.current_goal().newest_prompt.map(|prompt| prompt.text.clone()).unwrap_or_default(),
    };
    let digest = |entry: &&RosterEntry| -> Option<Cow<Digest>> {
        match folded.filter(|folded| folded.session == entry.session.as_str()) {
            Some(folded) => Some(Cow::Borrowed(folded)),
            None => store.session_state(&entry.session).read_state().ok()?.map(Cow::Owned),
        }
    };
    let digests = last.iter().take(MAX_SESSIONS_NAMED).filter_map(digest);
    digests.filter(|digest| roster::has_request_or_work(digest)).map(|digest| of(&digest)).collect()
}
