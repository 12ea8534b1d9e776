//! Writes `context.md` from the decisions and from what the last sessions were about.

use std::borrow::Cow;
use std::time::Duration;

use model::decision::{self, Activity, Contents};
use model::digest::Digest;
use model::time;
use store::{Store, layout};

use crate::Result;
use crate::features::ProjectContext;
use crate::session::roster::{self, Entry};

/// How many sessions the view names.
const SESSIONS: usize = 5;

/// Rewrites the view. If a person edited the view, the edited file is kept next to the new one, and the note says
/// where. `digest` is the digest of a session that is being folded now.
pub(super) fn write(
    project: &ProjectContext,
    wait: Duration,
    digest: Option<&Digest>,
) -> Result<Option<String>> {
    let store = project.store;
    let _lock = store.lock_context_view(wait)?;
    let now = project.world.now;
    // Read as much as a hook reads, so that hooks and commands write the same view.
    let (decisions, is_all) = super::recent(store, now)?;
    let title = project.root.path.file_name().unwrap_or_default().to_string_lossy();
    let activity = activity(store, digest);
    let at = time::rfc3339(now);
    let view = decision::render(&Contents {
        title: &title,
        decisions: &decisions,
        is_all,
        activity: &activity,
        at: &at,
    });
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

/// Returns what the last sessions were about, last active first. Sessions that cannot be read are left out, because
/// this is only a view.
fn activity(store: &Store, folded: Option<&Digest>) -> Vec<Activity> {
    let entries = roster::read(store, roster::TAIL).unwrap_or_default();
    let last = roster::by_activity(&entries, store, |_| true);
    let of = |digest: &Digest| Activity {
        session: digest.session.clone(),
        harness: digest.harness.clone(),
        last_at: digest.last_at.clone(),
        calls: digest.called,
        edited: digest.files.iter().filter(|file| file.edits > 0).count(),
        failing: digest.open_failures().count(),
        about: digest.goal().newest.map(|prompt| prompt.text.clone()).unwrap_or_default(),
    };
    let digest = |entry: &&Entry| -> Option<Cow<Digest>> {
        match folded.filter(|folded| folded.session == entry.session.as_str()) {
            Some(folded) => Some(Cow::Borrowed(folded)),
            None => store.session(&entry.session).get().ok()?.map(Cow::Owned),
        }
    };
    let digests = last.iter().take(SESSIONS).filter_map(digest);
    digests.filter(|digest| roster::says_something(digest)).map(|digest| of(&digest)).collect()
}
