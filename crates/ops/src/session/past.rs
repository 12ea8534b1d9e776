//! Gathers what happened before, for a brief: the digest of the right session, hook problems, missing files.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::digest::{Digest, GitOnDisk};
use model::event::EventName;
use model::id::Id;
use model::receipt::{LOST, Outcome, Receipt};
use store::{Root, Store, layout};

/// How many bytes of the end of a log are read. Recent events are in this part.
const TAIL: u64 = 32 * 1024;

/// How many files are checked on disk.
const LOOKED_FOR: usize = 60;
/// How many problems are reported.
const PROBLEMS: usize = 3;

/// How many predecessors of a continued session are read.
pub const GENERATIONS: usize = 8;

/// How many edited files are compared with git's index.
const MOST_COMPARED: usize = 200;

/// Everything that a brief needs to know about one session.
#[derive(Debug, Default)]
pub struct Gathered {
    pub digest: Digest,
    pub problems: Vec<String>,
    pub gone: Vec<String>,
}

impl Gathered {
    /// Returns the same without what happened in the session. Only its identity is kept.
    pub fn outline(self) -> Gathered {
        let mut digest = Digest::new(&self.digest.session);
        digest.harness = self.digest.harness;
        digest.home = self.digest.home;
        digest.last_at = self.digest.last_at;
        Gathered { digest, gone: Vec::new(), ..self }
    }
}

/// Gathers what a brief can say about one session, apart from what features add.
pub fn of_session(store: &Store, root: &Root, session: &Id) -> store::Result<Gathered> {
    Ok(of_digest(store, root, whole(store, session, GENERATIONS)?))
}

/// Gathers the same for a session whose digest was already read.
pub fn of_digest(store: &Store, root: &Root, mut digest: Digest) -> Gathered {
    bring_back(&mut digest, &root.checkout);
    if !digest.worktree.is_empty() && !Path::new(&digest.worktree).is_dir() {
        digest.forget_edits();
    }
    digest.disk = on_disk(&digest, &root.checkout);
    digest.is_changed_since = is_changed_since(store, &digest, &root.checkout);
    let gone = gone_files(&digest, &root.checkout, LOOKED_FOR);
    let unread = digest.transcript_unread_words().into_iter().chain(digest.unread_words());
    let problems = unread.chain(problems(store)).collect();
    Gathered { problems, gone, digest }
}

/// Returns whether files were changed since the last record of a session. Only checks and failures depend on it.
fn is_changed_since(store: &Store, digest: &Digest, checkout: &Path) -> bool {
    if digest.checks.is_empty() && digest.failures.is_empty() {
        return false;
    }
    let home = Path::new(&digest.home);
    let folder = if home.is_absolute() && home.is_dir() { home } else { checkout };
    changed_since(store, digest, folder)
        .is_some_and(|since| !since.changed.is_empty() || !since.gone.is_empty())
}

/// Files of a session that somebody has changed or deleted since its last record.
#[derive(Debug, Default)]
pub struct ChangedSince {
    pub changed: Vec<String>,
    pub gone: Vec<String>,
}

/// Compares the files of a session in `folder` with its journal. Both times come from the file system. Returns `None` if
/// the session has no journal.
pub fn changed_since(store: &Store, digest: &Digest, folder: &Path) -> Option<ChangedSince> {
    let session = Id::new(&digest.session).ok()?;
    let last = store.dir().look(&layout::journal(&session)).ok()??.changed;
    let is_later = |meta: &Metadata| {
        let at = meta.modified().ok().and_then(|at| Timestamp::try_from(at).ok());
        at.is_some_and(|at| at > last)
    };
    let mut since = ChangedSince::default();
    let own = digest.ranked_files();
    for file in own.iter().filter(|file| !file.outside && file.edits + file.reads > 0).take(LOOKED_FOR) {
        let whole = folder.join(&file.path);
        match whole.symlink_metadata() {
            Ok(meta) if meta.is_file() && is_later(&meta) => since.changed.push(file.path.clone()),
            Ok(_) => {}
            // If the folder has changed since, the file was deleted since.
            Err(_)
                if !file.deleted
                    && whole
                        .parent()
                        .and_then(|dir| dir.metadata().ok())
                        .is_some_and(|dir| is_later(&dir)) =>
            {
                since.gone.push(file.path.clone());
            }
            Err(_) => {}
        }
    }
    Some(since)
}

/// Returns only hook problems. Used if no session was recorded, perhaps because the disk is full.
pub fn only_problems(store: &Store) -> Gathered {
    Gathered { problems: problems(store), ..Gathered::default() }
}

/// Returns what git's files say about the session's checkout.
fn on_disk(digest: &Digest, checkout: &Path) -> Option<GitOnDisk> {
    let folder = if digest.worktree.is_empty() { checkout } else { Path::new(&digest.worktree) };
    let head = store::git::head(folder)?;
    let remote = store::git::remote(folder, &head.branch);
    let edited: Vec<&str> = digest.unsaved_files().take(MOST_COMPARED).collect();
    let unchanged = store::git::unchanged(folder, &edited).into_iter().map(str::to_owned).collect();
    Some(GitOnDisk {
        unchanged,
        has_remote: remote.is_some(),
        remote_commit: remote.and_then(|remote| remote.commit),
        branch: head.branch,
        commit: head.commit,
    })
}

/// Returns a session together with the sessions it continues. Some harnesses give a session a new id at every
/// compaction.
pub fn whole(store: &Store, session: &Id, generations: usize) -> store::Result<Digest> {
    let digest = store.digest(session, |_| {})?;
    let earlier = Id::new(&digest.previous).ok().filter(|_| generations > 0);
    Ok(match earlier.and_then(|earlier| whole(store, &earlier, generations - 1).ok()) {
        Some(earlier) => digest.after(earlier),
        None => digest,
    })
}

/// Returns the failures since the last successful session start, without repetitions.
fn problems(store: &Store) -> Vec<String> {
    let Ok(tail) = store.dir().recent(layout::RECEIPTS, TAIL) else { return Vec::new() };
    let lines = tail.split(|b| *b == b'\n').rev();
    let receipts = lines.filter_map(|line| serde_json::from_slice::<Receipt>(line).ok());
    receipts
        .take_while(|receipt| {
            receipt.event != EventName::SessionStart.name() || receipt.outcome == Outcome::Failed
        })
        .filter_map(|receipt| {
            let Receipt { event, harness, ts, error, .. } = receipt;
            error.map(|error| match event.as_str() {
                LOST => error,
                _ => format!("the hook for {event} of {harness} failed at {ts}: {error}"),
            })
        })
        .take(PROBLEMS)
        .collect()
}

/// Marks existing files as not deleted: a command can restore a deleted file without naming it.
pub fn bring_back(digest: &mut Digest, checkout: &Path) {
    let folders = folders(digest, checkout);
    for file in digest.files.iter_mut().filter(|file| file.deleted && !file.outside).take(LOOKED_FOR) {
        file.deleted = !is_in(&folders, &file.path);
    }
}

/// Returns those of the `most` important files that no longer exist.
pub fn gone_files(digest: &Digest, checkout: &Path, most: usize) -> Vec<String> {
    let ranked = digest.ranked_files();
    let folders = folders(digest, checkout);
    let named = ranked.iter().filter(|file| !file.outside).take(most);
    named.filter(|file| !is_in(&folders, &file.path)).map(|file| file.path.clone()).collect()
}

/// Returns the folders where a session's files can be: its worktree and this checkout. A file in either of them
/// exists.
fn folders(digest: &Digest, checkout: &Path) -> Vec<PathBuf> {
    let home = Path::new(&digest.home);
    let other = (home.is_absolute() && home != checkout).then(|| home.to_owned());
    other.into_iter().chain([checkout.to_owned()]).collect()
}

fn is_in(folders: &[PathBuf], path: &str) -> bool {
    folders.iter().any(|folder| folder.join(path).symlink_metadata().is_ok())
}
