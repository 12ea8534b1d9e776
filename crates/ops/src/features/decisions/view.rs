//! `context.md`, written from the decisions and from what the last sessions were about.

use std::time::Duration;

use model::decision::{self, Activity, Contents};
use model::digest::Digest;
use model::time;
use store::{Store, layout};

use crate::Result;
use crate::features::ProjectContext;
use crate::session::roster;

/// Sessions that are named.
const SESSIONS: usize = 5;

/// Writes the view anew. What a person wrote into it is kept beside it, and the note says where.
pub(super) fn write(project: &ProjectContext, wait: Duration) -> Result<Option<String>> {
    let store = project.store;
    let _lock = store.lock_context_view(wait)?;
    let now = project.world.now;
    let decisions = super::all(store, now)?;
    let title = project.root.path.file_name().unwrap_or_default().to_string_lossy();
    let activity = activity(store);
    let at = time::rfc3339(now);
    let view =
        decision::render(&Contents { title: &title, decisions: &decisions, activity: &activity, at: &at });
    let is_edited = store.context_view()?.is_some_and(|known| {
        let text = String::from_utf8_lossy(&known);
        !text.trim().is_empty() && !decision::is_as_written(&text)
    });
    let kept = match is_edited {
        true => store.dir().set_aside(layout::CONTEXT_VIEW, &format!("edited-{}", time::compact(now)))?,
        false => None,
    };
    store.write_context_view(&view)?;
    Ok(kept.map(|kept| {
        format!("context.md had been edited: it is kept as {kept}; it is written from the decisions")
    }))
}

/// What the last sessions were about, the one that was active last first. What cannot be read is left out: it is a view.
fn activity(store: &Store) -> Vec<Activity> {
    let entries = roster::read(store, roster::TAIL).unwrap_or_default();
    let last = roster::by_activity(&entries, store, |_| true);
    let of = |digest: Digest| Activity {
        calls: digest.called,
        edited: digest.files.iter().filter(|file| file.edits > 0).count(),
        failing: digest.open_failures().count(),
        about: digest.goal().newest.map(|prompt| prompt.text.clone()).unwrap_or_default(),
        session: digest.session,
        harness: digest.harness,
        last_at: digest.last_at,
    };
    let digests =
        last.into_iter().take(SESSIONS).filter_map(|entry| store.session(&entry.session).get().ok()?);
    digests.filter(roster::says_something).map(of).collect()
}
