//! Collects the facts for a brief: a session's digest, recent problems in hooks, and missing files.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::checkout_path;
use model::digest::{Digest, FileTime, FileUse, GitOnDisk, OtherBranch};
use model::event::EventName;
use model::id::Id;
use model::receipt::{HookOutcome, RECORDS_LOST_EVENT, Receipt};
use model::redact::{RedactOptions, Redacted};
use store::{Store, layout};

use crate::features::packets::claimed;
use crate::features::{ProjectContext, sessions};
use crate::project::git;
use crate::project::trust;
use crate::session::files_at_end;
use crate::session::git_history::CheckoutHistory;

/// How many bytes are read from the end of a log, where the most recent events are.
const LOG_TAIL_BYTES: u64 = 32 * 1024;

/// How many files are looked up on disk.
const MAX_FILES_CHECKED: usize = 60;
const MAX_HOOK_PROBLEMS_TOLD: usize = 3;

/// How many predecessors are read if a session continues other sessions.
pub const MAX_PREDECESSOR_SESSIONS_READ: usize = 8;

/// How many changed files are compared with git's index.
const MAX_FILES_COMPARED: usize = 200;

/// How many branches are searched for a session's last commit.
const MAX_BRANCHES_SEARCHED: usize = 4;

/// A hook checks at most this many files of an earlier session. It compares their modification times with the times of
/// that session's commands.
const MAX_FILES_OF_EARLIER_SESSION_CHECKED: usize = 16;

/// A `thru` command compares the modification times of at most this many files with the times of earlier runs. A hook
/// compares at most `MAX_FILES_CHECKED` files.
const MAX_FILES_EXAMINED_BY_COMMAND: usize = 1_000;

/// The files whose modification times are compared with the times of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExaminedFiles {
    /// Only files that the session named. This is for hooks, because they do not run git.
    OfSession,
    /// Also files that git lists as changed.
    ListedByGit,
}

/// The facts about an earlier session: its digest, compared with the files on disk.
#[derive(Debug, Default)]
pub struct SessionFacts {
    pub digest: Digest,
    /// Which parts of the transcript or journal were not read, and what recently failed in hooks.
    pub problems: Vec<String>,
    /// The session's files that no longer exist.
    pub missing_files: Vec<String>,
}

impl SessionFacts {
    /// Keeps only the session's identity, its folder, the time of its last activity and the problems.
    pub fn keep_only_identity(self) -> SessionFacts {
        let mut digest = Digest::new(&self.digest.session);
        digest.harness = self.digest.harness;
        digest.first_worktree = self.digest.first_worktree;
        digest.last_at = self.digest.last_at;
        SessionFacts { digest, missing_files: Vec::new(), ..self }
    }
}

/// Collects the facts about one session, without the candidates of features.
pub fn gather_session_facts(
    project: &ProjectContext,
    session: &Id,
    examined: ExaminedFiles,
) -> store::Result<SessionFacts> {
    let digest = digest_with_predecessors(project.store, session, MAX_PREDECESSOR_SESSIONS_READ)?;
    Ok(facts_of_digest(project, digest, examined))
}

/// Collects the facts about a session whose digest has already been read.
pub fn facts_of_digest(
    project: &ProjectContext,
    mut digest: Digest,
    examined: ExaminedFiles,
) -> SessionFacts {
    let ProjectContext { store, root, .. } = *project;
    update_paths_after_move(project, &mut digest);
    digest.is_of_other_worktree = sessions::other_worktree(project, &digest).is_some();
    unmark_existing_files_as_deleted(&mut digest, &root.checkout);
    if !digest.worktree.is_empty() && !Path::new(&digest.worktree).is_dir() {
        digest.mark_all_edits_as_saved();
    }
    add_current_state_from_disk(project, &mut digest, examined);
    let gone = important_files_now_missing(&digest, &root.checkout, MAX_FILES_CHECKED);
    let unread = digest.describe_missing_transcript().into_iter().chain(digest.describe_missing_journal());
    let problems = unread.chain(recent_hook_problems(store)).collect();
    SessionFacts { problems, missing_files: gone, digest }
}

/// Adds the current state, as shown by git's files and the times of the session's files. The user may have committed or
/// edited something since the session's last record.
pub fn add_current_state_from_disk(project: &ProjectContext, digest: &mut Digest, examined: ExaminedFiles) {
    let checkout = &project.root.checkout;
    add_end_of_closed_work(project.store, digest);
    settle_unclear_commits(project, digest);
    drop_runs_of_missing_files(digest, checkout);
    add_changes_on_disk(project, digest, examined, &mut FilesListedByGit::default());
    let redact = project.settings.redact_options();
    CheckoutHistory::new(&git_folder(digest, checkout), redact).add_fates(digest);
    digest.git_on_disk = git_state_on_disk(digest, checkout, redact);
    digest.forget_edits_thrown_away();
    digest.mark_files_written_by_commands();
    if digest.git_on_disk.is_some() {
        let folders = session_folders(digest, checkout);
        digest.mark_edits_of_missing_files_as_saved(|path| !exists_in_any_folder(&folders, path));
    }
    digest.are_files_changed_since = have_files_changed_since_session(project.store, digest, checkout);
}

/// Finds out from git's own files whether command lines made commits that their output does not show. Few sessions have
/// such command lines, so usually nothing is read.
fn settle_unclear_commits(project: &ProjectContext, digest: &mut Digest) {
    let checkout = &project.root.checkout;
    for worktree in digest.worktrees_with_unclear_commits() {
        let folder = if worktree.is_empty() { checkout } else { Path::new(&worktree) };
        // A journal can name any folder.
        if folder != checkout && !git::is_same_repository(checkout, folder) {
            continue;
        }
        let mut moves = store::git::moves_of_head(folder).unwrap_or_default();
        for found in &mut moves {
            let redacted = Redacted::redact_whole(&found.what, project.settings.redact_options());
            found.what = redacted.into_text().into_owned();
        }
        let head = store::git::read_head(folder).unwrap_or_default();
        digest.settle_unclear_commits(&worktree, &head.commit, &moves);
    }
}

/// Sets `closed_work_until`. Everything that the user said up to this time is about a packet that is now done.
pub fn add_end_of_closed_work(store: &Store, digest: &mut Digest) {
    let session = Id::new(&digest.session).ok();
    let until = session.and_then(|session| claimed::closed_work_until(store, &session));
    digest.closed_work_until = until.unwrap_or_default();
}

/// Drops a run of the session if the run names files and none of these files still exists. If another branch is
/// checked out, all runs are kept, because the files may be on the session's branch.
pub fn drop_runs_of_missing_files(digest: &mut Digest, checkout: &Path) {
    let folders = session_folders(digest, checkout);
    let named = digest.files_named_by_runs();
    let is_missing = |path: &&str| !exists_in_any_folder(&folders, path);
    let missing: Vec<String> = named.into_iter().filter(is_missing).map(str::to_owned).collect();
    if missing.is_empty() {
        return;
    }
    let branch = store::git::read_head(checkout).map_or(String::new(), |head| head.branch);
    if digest.branch.is_empty() || digest.branch == branch {
        digest.drop_runs_of_missing_files(&missing);
    }
}

/// The uncommitted files in each folder, as listed by git. They are kept here so that git runs only once per folder,
/// even if several sessions worked there.
#[derive(Default)]
pub struct FilesListedByGit(Vec<(PathBuf, Vec<String>)>);

impl FilesListedByGit {
    /// Lists nothing for a hook, because hooks do not run git.
    fn list_files_to_examine(
        &mut self,
        folder: &Path,
        examined: ExaminedFiles,
        redact: RedactOptions,
    ) -> &[String] {
        match examined {
            ExaminedFiles::ListedByGit => self.list_files_below(folder, redact),
            ExaminedFiles::OfSession => &[],
        }
    }

    fn list_files_below(&mut self, folder: &Path, redact: RedactOptions) -> &[String] {
        let place = self.0.iter().position(|(known, _)| known == folder).unwrap_or_else(|| {
            self.0.push((folder.to_owned(), git::list_uncommitted_files_below(folder, redact)));
            self.0.len() - 1
        });
        &self.0[place].1
    }
}

/// Adds the files that were changed after one of the session's runs, or by a command that does not name them. Nothing is
/// added if the session's folder no longer exists.
pub fn add_changes_on_disk(
    project: &ProjectContext,
    digest: &mut Digest,
    examined: ExaminedFiles,
    listed: &mut FilesListedByGit,
) {
    let has_runs = !digest.checks.is_empty() || !digest.failures.is_empty();
    if !has_runs && !digest.may_have_changed_unnamed_files() {
        return;
    }
    let Some(folder) = existing_session_folder(digest, &project.root.checkout) else { return };
    let times = times_of_files_to_compare(project, digest, folder, examined, listed);
    digest.add_changes_on_disk(&times, project.world.now);
}

/// Also compares the files that other sessions edited with the times of the session's runs. A hook does not run git, so it
/// would not see otherwise that such a file was changed by hand after a check.
pub fn add_changes_of_files_of_others(project: &ProjectContext, digest: &mut Digest, others: &[Digest]) {
    if digest.checks.is_empty() && digest.failures.is_empty() {
        return;
    }
    let Some(folder) = existing_session_folder(digest, &project.root.checkout) else { return };
    let own = digest.files_to_compare_with_runs(&[]);
    let mut edited: Vec<String> = Vec::new();
    for file in others.iter().flat_map(|other| &other.files) {
        if file.edits > 0 && !file.is_outside_checkout && !edited.contains(&file.path) {
            edited.push(file.path.clone());
        }
    }
    let paths = digest.files_to_compare_with_runs(&edited);
    if paths.len() == own.len() {
        return;
    }
    let times = times_of_files(folder, paths.into_iter().take(MAX_FILES_CHECKED));
    digest.add_changes_on_disk(&times, project.world.now);
}

/// Returns the modification times that are compared with the times of the session's runs.
pub fn times_of_files_to_compare(
    project: &ProjectContext,
    digest: &Digest,
    folder: &Path,
    examined: ExaminedFiles,
    listed: &mut FilesListedByGit,
) -> Vec<FileTime> {
    let most = match examined {
        ExaminedFiles::ListedByGit => MAX_FILES_EXAMINED_BY_COMMAND,
        ExaminedFiles::OfSession => MAX_FILES_CHECKED,
    };
    let listed = listed.list_files_to_examine(folder, examined, project.settings.redact_options());
    times_of_files(folder, digest.files_to_compare_with_runs(listed).into_iter().take(most))
}

/// Returns the modification times of those paths that are files. Times at which git checked out files are left out.
fn times_of_files<'p>(folder: &Path, paths: impl Iterator<Item = &'p str>) -> Vec<FileTime> {
    // A file that no longer exists has no time.
    let time = |path: &str| {
        let meta = folder.join(path).symlink_metadata().ok().filter(Metadata::is_file)?;
        Some(FileTime { path: path.to_owned(), modified_at: time_of_change(&meta)? })
    };
    let mut times: Vec<FileTime> = paths.filter_map(time).collect();
    drop_times_given_by_git(&mut times, folder);
    times
}

/// Returns the folder that a session's paths are relative to, or `None` if it no longer exists. A journal can name any
/// folder, so another checkout counts only if it belongs to the same repository.
fn existing_session_folder<'d>(digest: &'d Digest, checkout: &'d Path) -> Option<&'d Path> {
    match Path::new(&digest.first_worktree) {
        home if home.as_os_str().is_empty() => Some(checkout),
        home => (home == checkout || home.is_absolute() && git::is_same_repository(checkout, home))
            .then_some(home),
    }
}

/// Replaces the paths of the session's folders with their new paths if the project has been moved since the session.
/// Otherwise, the session's files would count as gone.
fn update_paths_after_move(project: &ProjectContext, digest: &mut Digest) {
    for folder in [&mut digest.first_worktree, &mut digest.worktree] {
        if !folder.is_empty() && !Path::new(folder).is_dir() {
            let moved = trust::path_after_project_move(project, Path::new(folder));
            *folder = moved.to_string_lossy().into_owned();
        }
    }
}

/// Returns whether files were changed since a session's last record. This matters only for checks and failures, so if
/// there are none, no file is examined.
pub(crate) fn have_files_changed_since_session(store: &Store, digest: &Digest, checkout: &Path) -> bool {
    if digest.checks.is_empty() && digest.failures.is_empty() {
        return false;
    }
    let home = Path::new(&digest.first_worktree);
    let folder = if home.is_absolute() && home.is_dir() { home } else { checkout };
    // A change to one of thru's records, such as a role, is not a change to the project.
    let is_of_project = |path: &String| !checkout_path::is_in_store(path);
    files_changed_since_last_record(store, digest, folder)
        .is_some_and(|since| since.changed.iter().chain(&since.missing_files).any(is_of_project))
}

/// The files of a session that were changed or deleted after the session's last record.
#[derive(Debug, Default)]
pub struct FilesChangedSinceSession {
    pub changed: Vec<String>,
    pub missing_files: Vec<String>,
}

/// Compares the times of a session's files in `folder` with the time of the session's journal. Both come from the
/// file system. Returns `None` if the session has no journal.
pub fn files_changed_since_last_record(
    store: &Store,
    digest: &Digest,
    folder: &Path,
) -> Option<FilesChangedSinceSession> {
    let session = Id::new(&digest.session).ok()?;
    let last = store.dir().file_info(&layout::journal_path(&session)).ok()??.modified_at;
    let later_time = |meta: &Metadata| time_of_change(meta).filter(|at| *at > last);
    let (mut since, mut changed) = (FilesChangedSinceSession::default(), Vec::new());
    for file in files_to_compare(digest) {
        let whole = folder.join(&file.path);
        match whole.symlink_metadata() {
            Ok(meta) => {
                let at = later_time(&meta).filter(|_| meta.is_file());
                changed.extend(at.map(|modified_at| FileTime { path: file.path.clone(), modified_at }));
            }
            // The file is missing. If its folder was changed after the last record, the file was probably deleted then.
            Err(_)
                if !file.deleted
                    && whole
                        .parent()
                        .and_then(|dir| dir.metadata().ok())
                        .is_some_and(|dir| later_time(&dir).is_some()) =>
            {
                since.missing_files.push(file.path.clone());
            }
            Err(_) => {}
        }
    }
    drop_times_given_by_git(&mut changed, folder);
    since.changed = changed.into_iter().map(|file| file.path).collect();
    files_at_end::drop_files_with_same_content(store, &session, folder, &mut since.changed);
    Some(since)
}

/// Returns the session's most important files in the checkout. They are compared with the files on disk.
pub fn files_to_compare(digest: &Digest) -> Vec<FileUse> {
    let is_own = |file: &&FileUse| !file.is_outside_checkout && file.edits + file.reads > 0;
    digest.ranked_files().into_iter().filter(is_own).take(MAX_FILES_CHECKED).cloned().collect()
}

/// Returns the checkout in which a session started, even if the project has been moved since.
pub fn folder_of_session(project: &ProjectContext, digest: &Digest) -> PathBuf {
    match digest.first_worktree.is_empty() {
        true => project.root.checkout.clone(),
        false => trust::path_after_project_move(project, Path::new(&digest.first_worktree)),
    }
}

fn time_of_change(meta: &Metadata) -> Option<Timestamp> {
    Timestamp::try_from(meta.modified().ok()?).ok()
}

/// Drops the times at which git checked out files. They do not show whether the content changed.
fn drop_times_given_by_git(times: &mut Vec<FileTime>, folder: &Path) {
    if !times.is_empty() {
        model::digest::drop_times_of_checkouts(times, &store::git::times_of_checkouts(folder));
    }
}

/// Returns only the recent problems in hooks. This is used if no session was recorded, perhaps because the disk is
/// full.
pub fn facts_with_hook_problems_only(store: &Store) -> SessionFacts {
    SessionFacts { problems: recent_hook_problems(store), ..SessionFacts::default() }
}

/// Returns the checkout in which the session last worked.
fn git_folder(digest: &Digest, checkout: &Path) -> PathBuf {
    if digest.worktree.is_empty() { checkout.to_owned() } else { PathBuf::from(&digest.worktree) }
}

fn git_state_on_disk(digest: &Digest, checkout: &Path, redact: RedactOptions) -> Option<GitOnDisk> {
    let folder = &git_folder(digest, checkout);
    let head = store::git::read_head(folder)?;
    let remote = store::git::remote_assumed_for_branch(folder, &head.branch);
    let mut changed: Vec<&str> = digest.files_without_observed_commit().take(MAX_FILES_COMPARED).collect();
    for path in digest.files_maybe_written_by_commands() {
        if !changed.contains(&path) {
            changed.push(path);
        }
    }
    let compared = store::git::compare_with_index(folder, &changed);
    let owned = |paths: Vec<&str>| paths.into_iter().map(str::to_owned).collect();
    Some(GitOnDisk {
        files_equal_to_index: owned(compared.unchanged),
        files_changed_in_index: owned(compared.changed),
        untracked_files: owned(compared.untracked),
        has_remote: remote.is_some(),
        remote_commit: remote.and_then(|remote| remote.commit),
        other_branch: find_other_branch(digest, folder, &head),
        branch: git::redacted_branch(&head, redact),
        commit: head.commit,
    })
}

/// Returns the branch with the session's last commit, if another branch is checked out now. Usually the session's branch
/// is still checked out, and no reflog is read.
fn find_other_branch(digest: &Digest, folder: &Path, head: &store::git::GitHead) -> Option<OtherBranch> {
    let names = digest.branches_possibly_left(&head.branch);
    if head.branch.is_empty() || names.is_empty() {
        return None;
    }
    let moves = |branch: &str| store::git::moves_of_branch(folder, branch);
    let here = moves(&head.branch);
    let found = names
        .into_iter()
        .take(MAX_BRANCHES_SEARCHED)
        .find_map(|name| digest.other_branch_with_commits(name, &head.commit, &here, &moves(name)))?;
    let tip = store::git::read_branch_commit(folder, &found.name)?;
    let remote = store::git::remote_assumed_for_branch(folder, &found.name);
    let may_be_on_remote = match remote.and_then(|remote| remote.commit) {
        Some(commit) => commit == tip,
        // A fetch may have removed the remote branch after it was pushed and merged.
        None => store::git::last_fetched_at(folder)
            .is_some_and(|fetched| fetched.as_second() > found.committed_at.as_second()),
    };
    let began = model::time::parse_time(&digest.first_at);
    Some(OtherBranch {
        is_merged: began.is_some_and(|began| store::git::was_branch_merged_since(folder, &found.name, began)),
        may_be_on_remote,
        ..found
    })
}

/// Returns the files that the sessions in `digests` changed and that are not committed. The journals, the times of
/// the files and git's index show which files these are. The uncommitted files of the session `described` are left
/// out.
pub fn uncommitted_by_others(
    project: &ProjectContext,
    digests: &mut [Digest],
    described: &Digest,
    examined: ExaminedFiles,
    listed: &mut FilesListedByGit,
) -> Vec<String> {
    let checkout = &project.root.checkout;
    let own = described.git_state();
    let is_own = |path: &str| own.uncommitted.iter().any(|file| file.path == path);
    let mut others = Digest::new("");
    let mut add = |file: &FileUse| {
        let is_known = others.files.iter().any(|known| known.path == file.path);
        let is_at_risk = !file.deleted && !file.is_outside_checkout && !is_own(&file.path);
        if is_at_risk && !is_known && checkout.join(&file.path).symlink_metadata().is_ok() {
            others.files.push(file.clone());
        }
    };
    let history = CheckoutHistory::new(checkout, project.settings.redact_options());
    let mut last_changed_by_commands = Vec::new();
    for digest in digests.iter_mut() {
        history.add_fates(digest);
        digest.files.iter().filter(|file| file.may_have_uncommitted_change()).for_each(&mut add);
        let by_commands = changed_by_unnamed_commands(project, digest, examined, listed);
        by_commands.iter().for_each(&mut add);
        last_changed_by_commands.extend(by_commands.into_iter().map(|file| file.path));
    }
    if others.files.is_empty() {
        return Vec::new();
    }
    // Only the files are compared here. The branch is not used, so the settings for its redaction do not matter.
    others.git_on_disk = git_state_on_disk(&others, checkout, RedactOptions::default());
    let Some(disk) = &others.git_on_disk else { return Vec::new() };
    // A staged file matches git's index, just as a committed file does. The sessions' records tell the two apart.
    let is_staged = |path: &String| {
        let mut all = digests.iter().chain([described]);
        disk.files_equal_to_index.contains(path)
            && all.any(|digest| digest.has_staged_uncommitted(path, &disk.commit))
    };
    let state = others.git_state();
    let is_at_risk =
        |path: &&String| state.uncommitted.iter().any(|file| file.path == **path) || is_staged(path);
    let at_risk = others.files.iter().map(|file| &file.path).filter(is_at_risk);
    let (mut by_commands, edited): (Vec<String>, Vec<String>) =
        at_risk.cloned().partition(|path| last_changed_by_commands.contains(path));
    by_commands.extend(without_files_changed_by_hand(project.store, checkout, digests, edited));
    let is_told = |path: &String| by_commands.contains(path);
    others.files.iter().map(|file| &file.path).filter(|path| is_told(path)).cloned().collect()
}

/// Leaves out the files that were changed by hand after the changes of all sessions had been committed.
fn without_files_changed_by_hand(
    store: &Store,
    checkout: &Path,
    digests: &[Digest],
    mut paths: Vec<String>,
) -> Vec<String> {
    if paths.is_empty() {
        return paths;
    }
    let last_recorded_at = |digest: &Digest| {
        let session = Id::new(&digest.session).ok()?;
        Some(store.dir().file_info(&layout::journal_path(&session)).ok()??.modified_at)
    };
    let sessions: Vec<(&Digest, Option<Timestamp>)> =
        digests.iter().map(|digest| (digest, last_recorded_at(digest))).collect();
    let editors_of = |path: &str| {
        let path = path.to_owned();
        sessions.iter().filter(move |(digest, _)| {
            digest.files.iter().any(|file| file.path == path && file.may_have_uncommitted_change())
        })
    };
    // Most uncommitted files were changed by sessions. Git's files are read only if a file is newer than the records.
    let is_newer = |path: &str| {
        let changed_at =
            checkout.join(path).symlink_metadata().ok().and_then(|meta| time_of_change(&meta))?;
        let mut editors = editors_of(path);
        editors.all(|(_, last)| last.is_some_and(|last| last < changed_at)).then_some(())
    };
    let newer: Vec<String> = paths.iter().filter(|path| is_newer(path).is_some()).cloned().collect();
    if newer.is_empty() {
        return paths;
    }
    let names: Vec<&str> = newer.iter().map(String::as_str).collect();
    let compared = store::git::compare_with_index(checkout, &names);
    let moves = store::git::moves_of_head(checkout).unwrap_or_default();
    let Some(committed_at) = model::digest::time_of_last_commit(&moves) else { return paths };
    let is_committed = |path: &str, in_index: i64| {
        editors_of(path).all(|(digest, last)| {
            last.is_some_and(|last| digest.is_change_in_commit(path, (last, committed_at), in_index))
        })
    };
    paths.retain(|path| {
        let entry = compared.times_in_index.iter().find(|(name, _)| name == path);
        entry.is_none_or(|(_, in_index)| !is_committed(path, *in_index))
    });
    paths
}

/// Returns the files that were probably changed by a command that does not name them. For this, the modification times
/// of the files are compared with the times of the session's commands.
fn changed_by_unnamed_commands(
    project: &ProjectContext,
    digest: &Digest,
    examined: ExaminedFiles,
    listed: &mut FilesListedByGit,
) -> Vec<FileUse> {
    let checkout = &project.root.checkout;
    let folder = existing_session_folder(digest, checkout).filter(|folder| *folder == checkout);
    let Some(folder) = folder.filter(|_| digest.may_have_changed_unnamed_files()) else { return Vec::new() };
    let most = match examined {
        ExaminedFiles::ListedByGit => MAX_FILES_EXAMINED_BY_COMMAND,
        ExaminedFiles::OfSession => MAX_FILES_OF_EARLIER_SESSION_CHECKED,
    };
    let listed = listed.list_files_to_examine(folder, examined, project.settings.redact_options());
    let paths = digest.files_to_compare_with_runs(listed).into_iter().take(most);
    digest.files_changed_during_commands(&times_of_files(folder, paths))
}

/// Returns a session's digest, merged with the digests of the sessions that it continues. Some harnesses give a
/// session a new id at every compaction.
pub fn digest_with_predecessors(store: &Store, session: &Id, generations: usize) -> store::Result<Digest> {
    let digest = store.current_digest(session, |_| {})?;
    let earlier = Id::new(&digest.continued_session).ok().filter(|_| generations > 0);
    Ok(match earlier.and_then(|earlier| digest_with_predecessors(store, &earlier, generations - 1).ok()) {
        Some(earlier) => digest.append_to_earlier_digest(earlier),
        None => digest,
    })
}

/// Describes the newest failures since the last successful session start.
fn recent_hook_problems(store: &Store) -> Vec<String> {
    let Ok(tail) = store.dir().read_recent_lines(layout::RECEIPTS_LOG, LOG_TAIL_BYTES) else {
        return Vec::new();
    };
    let lines = tail.split(|b| *b == b'\n').rev();
    let receipts = lines.filter_map(|line| serde_json::from_slice::<Receipt>(line).ok());
    receipts
        .take_while(|receipt| {
            receipt.event != EventName::SessionStart.name() || receipt.outcome == HookOutcome::Failed
        })
        .filter_map(|receipt| {
            let Receipt { event, harness, ts, error, .. } = receipt;
            error.map(|error| match event.as_str() {
                RECORDS_LOST_EVENT => error,
                _ => format!("the {harness} hook for {event} failed at {ts}: {error}"),
            })
        })
        .take(MAX_HOOK_PROBLEMS_TOLD)
        .collect()
}

/// Clears the `deleted` flag of files that exist. A command can restore a deleted file without naming it.
pub fn unmark_existing_files_as_deleted(digest: &mut Digest, checkout: &Path) {
    let folders = session_folders(digest, checkout);
    for file in digest
        .files
        .iter_mut()
        .filter(|file| file.deleted && !file.is_outside_checkout)
        .take(MAX_FILES_CHECKED)
    {
        file.deleted = !exists_in_any_folder(&folders, &file.path);
    }
}

/// Checks the most important files, at most `most` of them, and returns the paths of those that no longer exist.
pub fn important_files_now_missing(digest: &Digest, checkout: &Path, most: usize) -> Vec<String> {
    let ranked = digest.ranked_files();
    let folders = session_folders(digest, checkout);
    let named = ranked.iter().filter(|file| !file.is_outside_checkout).take(most);
    named.filter(|file| !exists_in_any_folder(&folders, &file.path)).map(|file| file.path.clone()).collect()
}

/// Returns the folders that may contain a session's files: the session's own folder and this checkout. A file counts as
/// existing if it is in one of them.
fn session_folders(digest: &Digest, checkout: &Path) -> Vec<PathBuf> {
    let home = Path::new(&digest.first_worktree);
    let other = (home.is_absolute() && home != checkout).then(|| home.to_owned());
    other.into_iter().chain([checkout.to_owned()]).collect()
}

fn exists_in_any_folder(folders: &[PathBuf], path: &str) -> bool {
    folders.iter().any(|folder| folder.join(path).symlink_metadata().is_ok())
}
