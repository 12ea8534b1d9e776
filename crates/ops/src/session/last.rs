//! Finds the last session that did any work. If the user names no session, `thru brief`, `thru status` and the brief at a
//! session start describe this session.

use std::path::Path;

use model::digest::Digest;
use model::id::Id;

use crate::Result;
use crate::features::{ProjectContext, sessions};
use crate::project::trust;
use crate::session::facts::{self, ExaminedFiles, FilesListedByGit};
use crate::session::list::{self, LastSession, SessionChoiceReason};
use crate::session::project_rules;
use crate::session::roster::{self, RosterEntry};

/// How many other sessions are searched for uncommitted files and failed checks.
const MAX_OTHER_SESSIONS: usize = 6;

/// The last session that did any work. Sessions from this checkout are preferred.
#[derive(Debug)]
pub struct LastAtWork {
    pub digest: Digest,
    /// A more recent session in another worktree, if there is one.
    pub elsewhere: Option<Digest>,
}

/// Finds the last active session that did any work, among the sessions that `fits` accepts. A later session does not count
/// if the user only asked a question and the agent answered it without a tool.
pub fn find_last_at_work(
    project: &ProjectContext,
    entries: &[RosterEntry],
    fits: impl Fn(&RosterEntry) -> bool,
) -> Option<LastAtWork> {
    let last = roster::last_session_with_work(project, entries, &fits)?;
    if sessions::describe_other_worktree(project, &last).is_none() {
        return Some(LastAtWork { digest: last, elsewhere: None });
    }
    let is_here = |entry: &RosterEntry| {
        fits(entry)
            && trust::path_after_project_move(project, Path::new(&entry.worktree)) == project.root.checkout
    };
    match roster::last_session_with_work(project, entries, is_here).filter(roster::did_session_do_work) {
        Some(here) => Some(LastAtWork { digest: here, elsewhere: Some(last) }),
        None => Some(LastAtWork { digest: last, elsewhere: None }),
    }
}

/// Returns the digests of the recent sessions in this checkout that `fits` accepts. The session with the id
/// `described` is left out.
pub fn digests_of_other_recent_sessions(
    project: &ProjectContext,
    entries: &[RosterEntry],
    described: &str,
    fits: impl Fn(&RosterEntry) -> bool,
) -> Vec<Digest> {
    let is_here = |entry: &RosterEntry| {
        fits(entry)
            && entry.session.as_str() != described
            && trust::path_after_project_move(project, Path::new(&entry.worktree)) == project.root.checkout
    };
    let recent = roster::sort_by_activity(entries, project.store, is_here);
    let digest = |entry: &RosterEntry| project.store.current_digest(&entry.session, |_| {}).ok();
    // Sessions that `thru gate run` launched are not the user's own, and neither are those without a request. They are
    // read, but they do not count, so that they do not hide the user's sessions.
    let (mut counted, mut digests) = (0, Vec::new());
    for entry in recent.into_iter().take(2 * MAX_OTHER_SESSIONS) {
        let Some(mut digest) = digest(entry) else { continue };
        digest.is_launched_by_gate_run = entry.is_launched_by_gate_run;
        counted += usize::from(!entry.is_launched_by_gate_run && !digest.prompts.is_empty());
        digests.push(digest);
        if counted == MAX_OTHER_SESSIONS {
            break;
        }
    }
    digests
}

/// Adds what earlier sessions left in this checkout: uncommitted files, failed checks and instructions.
pub fn add_facts_of_earlier_sessions(
    project: &ProjectContext,
    entries: &[RosterEntry],
    described: &mut Digest,
    examined: ExaminedFiles,
) {
    if sessions::other_worktree(project, described).is_some() {
        return add_project_rules(project, entries, described, &[]);
    }
    let running = ids_of_running_sessions(project, entries, None);
    let is_over = |entry: &RosterEntry| !running.contains(&&entry.session);
    let mut ended = digests_of_other_recent_sessions(project, entries, &described.session, is_over);
    add_facts_left_by(project, entries, described, (&mut ended, &running), examined);
}

/// Adds what the `ended` sessions left. A check that failed in one of them may have passed since then in one of the
/// `running` sessions. The digests of the `running` sessions are read only if a failure is open, because most session
/// starts need none of them.
pub fn add_facts_left_by(
    project: &ProjectContext,
    entries: &[RosterEntry],
    described: &mut Digest,
    (ended, running): (&mut [Digest], &[&Id]),
    examined: ExaminedFiles,
) {
    for earlier in ended.iter_mut().filter(|earlier| earlier.has_open_failure_of_check()) {
        facts::drop_runs_of_missing_files(earlier, &project.root.checkout);
    }
    let mut listed = FilesListedByGit::default();
    if described.git_on_disk.is_some() {
        described.uncommitted_by_others =
            facts::uncommitted_by_others(project, ended, described, examined, &mut listed);
    }
    if examined == ExaminedFiles::OfSession {
        facts::add_changes_of_files_of_others(project, described, ended);
    }
    // Most sessions contain no instruction that lasts, so their packets need not be read.
    for earlier in ended.iter_mut().filter(|earlier| earlier.lasting_instructions(|_| false).next().is_some())
    {
        facts::add_end_of_closed_work(project.store, earlier);
    }
    described.is_launched_by_gate_run = is_launched_by_gate_run(entries, described);
    described.instructions_of_earlier_sessions = described.instructions_left_by(ended);
    add_project_rules(project, entries, described, ended);
    if !ended.iter().any(Digest::has_open_failure_of_check) {
        return;
    }
    for earlier in ended.iter_mut().filter(|earlier| earlier.has_open_failure_of_check()) {
        facts::add_changes_on_disk(project, earlier, examined, &mut listed);
    }
    let is_running = |entry: &RosterEntry| running.contains(&&entry.session);
    let running = digests_of_other_recent_sessions(project, entries, &described.session, is_running);
    described.failures_of_earlier_sessions = described.failures_left_by(ended, &running);
}

/// Adds the user's rules for the whole project. They apply in every worktree, so they are told even if the described session
/// was in another one and nothing else of it concerns this checkout.
pub fn add_project_rules(
    project: &ProjectContext,
    entries: &[RosterEntry],
    described: &mut Digest,
    ended: &[Digest],
) {
    described.is_launched_by_gate_run = is_launched_by_gate_run(entries, described);
    // If the log of the rules cannot be read, the rules of the last sessions are still known.
    let rules = project_rules::read_rules(project.store).unwrap_or_default();
    described.add_project_rules(&rules, ended);
}

fn is_launched_by_gate_run(entries: &[RosterEntry], digest: &Digest) -> bool {
    entries.iter().any(|entry| entry.is_launched_by_gate_run && entry.session.as_str() == digest.session)
}

/// Returns the sessions that are running in other processes, except `this` one.
pub fn ids_of_running_sessions<'e>(
    project: &ProjectContext,
    entries: &'e [RosterEntry],
    this: Option<&Id>,
) -> Vec<&'e Id> {
    let running = roster::running_sessions(entries, project.store, this, project.world.now);
    running.map(|entry| &entry.session).collect()
}

/// Returns the last active session that did any work, whether it is still running or not. If there is none, returns the
/// last active session with a request, or else the last active session.
pub fn last_session_at_work(project: &ProjectContext) -> Result<Option<Id>> {
    let entries = roster::read_roster(project.store, list::SESSION_LIST_TAIL_BYTES)?;
    let worked = find_last_at_work(project, &entries, |_| true);
    match worked.and_then(|last| Id::new(&last.digest.session).ok()) {
        Some(session) => Ok(Some(session)),
        None => list::last_active_session(project.store),
    }
}

/// Describes the last session that did any work.
pub fn describe_last_session(project: &ProjectContext) -> Result<Option<LastSession>> {
    let Some(session) = last_session_at_work(project)? else { return Ok(None) };
    let described = list::describe_session(project.store, &session)?;
    let digest = project.store.current_digest(&session, |_| {}).unwrap_or_default();
    let worktree = sessions::describe_other_worktree(project, &digest);
    Ok(described.map(|last| LastSession { worktree, ..last }))
}

/// Like [`list::choose_session`], but if the session must be guessed, returns the last active session that did any work.
pub fn choose_session_at_work(
    project: &ProjectContext,
    named: Option<&str>,
) -> Result<(Id, SessionChoiceReason)> {
    match list::choose_session(project.world, project.store, named)? {
        (session, SessionChoiceReason::Guess) => {
            Ok((last_session_at_work(project)?.unwrap_or(session), SessionChoiceReason::Guess))
        }
        chosen => Ok(chosen),
    }
}
