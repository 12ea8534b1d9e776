//! The other sessions of this project: the sessions that are running now, and what other sessions did while this one
//! was inactive.

mod active;
pub mod activity;
mod clashes;
pub(crate) mod continued;
pub(crate) mod others;

use std::path::{Path, PathBuf};

use model::brief::{BriefOccasion, BriefSection, Candidate};
use model::digest::{ChangesAfterRun, Digest, Failure, FileUse, Prompt, UnseenRun};
use model::event::{EventName, EventSet};
use model::id::Id;
use model::packet::words;
use model::prompt::{self, PromptKind};
use model::render::{format_path_or_code, in_backticks, in_quotation_marks, inline_for_model, utf16_length};
use model::score::ScoreSignal;
use model::statement;
use model::text::count_with_noun;
use model::time;
use serde_json::json;

use crate::Result;
use crate::features::{BriefContext, Feature, ProjectContext, StatusReportLine, StatusTone};
use crate::project::trust;
use crate::session::facts::{self, ExaminedFiles};
use crate::session::files_at_end;
use crate::session::last;
use crate::session::roster::{self, RosterEntry};

pub const FEATURE_ROW: Feature = Feature {
    name: "sessions",
    wanted_events: EventSet::from_names(&[EventName::Prompt, EventName::SessionStart]),
    decide: clashes::decide_clash_warning,
    update_at_checkpoint: files_at_end::update_at_checkpoint,
    brief_candidates,
    brief_sections: &[
        RUNNING_SESSIONS_BRIEF_SECTION.name,
        OTHER_WORKTREE_BRIEF_SECTION.name,
        CHANGES_SINCE_BRIEF_SECTION.name,
        continued::CONTINUED_WORK_BRIEF_SECTION.name,
    ],
    status: status_lines,
    ..Feature::EMPTY_FEATURE
};

const RUNNING_SESSIONS_BRIEF_SECTION: BriefSection = BriefSection {
    section_position: 4,
    rank_step_per_form: 1,
    name: "running",
    title: "Also active",
    signal: ScoreSignal::Activity,
};
const OTHER_WORKTREE_BRIEF_SECTION: BriefSection = BriefSection {
    section_position: 0,
    rank_step_per_form: 1,
    name: "worktree",
    title: "Another worktree",
    signal: ScoreSignal::Activity,
};
const CHANGES_SINCE_BRIEF_SECTION: BriefSection = BriefSection {
    section_position: 5,
    rank_step_per_form: 1,
    name: "meanwhile",
    title: "Done by others since this session was last active",
    signal: ScoreSignal::Activity,
};

const MAX_SESSIONS_MENTIONED: usize = 4;
const MAX_FILES_PER_SESSION: usize = 4;

const MAX_CHANGED_FILES_NAMED: usize = 12;

const MAX_FAILING_COMMANDS_COUNTED: usize = 10;

fn brief_candidates(context: &BriefContext) -> Result<Vec<Candidate>> {
    let BriefContext { project, occasion, session, .. } = context;
    let continued = continued::continued_work_candidate(context);
    if *occasion == BriefOccasion::Asked {
        return Ok(continued.into_iter().collect());
    }
    let ProjectContext { store, world, .. } = *project;
    let entries = context.roster.entries()?;
    let running: Vec<&RosterEntry> =
        roster::running_sessions(entries, store, *session, world.now).take(MAX_SESSIONS_MENTIONED).collect();
    // The limit applies to the descriptions of all sessions together.
    let mut left = project.settings.awareness_max_chars;
    let mut told: Vec<Candidate> =
        running.iter().map(|entry| running_candidate(project, entry, &mut left)).collect();
    told.extend(continued);
    if let (Some(session), BriefOccasion::Resumed | BriefOccasion::Replayed) = (session, occasion) {
        let is_other = |entry: &RosterEntry| entry.session != **session && !running.contains(&entry);
        told.extend(sessions_since_candidates(project, entries, session, is_other));
        told.extend(changed_files_candidate(project, session));
    }
    Ok(told)
}

fn status_lines(project: &ProjectContext) -> Result<Vec<StatusReportLine>> {
    let ProjectContext { store, world, .. } = *project;
    let entries = roster::read_roster(store, roster::ROSTER_TAIL_BYTES)?;
    let mut lines = last_session_lines(project, &entries)?;
    lines.extend(later_session_line(project, &entries));
    let running: Vec<&RosterEntry> =
        roster::running_sessions(&entries, store, None, world.now).take(MAX_SESSIONS_MENTIONED).collect();
    if running.is_empty() {
        return Ok(lines);
    }
    let names: Vec<String> = running.iter().map(|entry| short_session_id(&entry.session)).collect();
    let ids: Vec<&str> = running.iter().map(|entry| entry.session.as_str()).collect();
    let head = count_with_noun(running.len(), "session");
    let line =
        StatusReportLine::colored("running", StatusTone::Good, head, format!(": {}", names.join(", ")));
    lines.push(line.with_json("running", json!(ids)));
    Ok(lines)
}

/// Describes the last session that did any work: what the user last asked for, and which commands fail. Checks that failed
/// in earlier sessions and have not been run since also count as failing.
fn last_session_lines(project: &ProjectContext, entries: &[RosterEntry]) -> Result<Vec<StatusReportLine>> {
    let Some(session) = last::last_session_at_work(project)? else { return Ok(Vec::new()) };
    let Ok(mut digest) =
        facts::digest_with_predecessors(project.store, &session, facts::MAX_PREDECESSOR_SESSIONS_READ)
    else {
        return Ok(Vec::new());
    };
    facts::add_current_state_from_disk(project, &mut digest, ExaminedFiles::ListedByGit);
    last::add_facts_of_earlier_sessions(project, entries, &mut digest, ExaminedFiles::ListedByGit);
    let mut lines = Vec::new();
    if let Some(prompt) = words::prompts_about_work(&digest.prompts).last() {
        let line = StatusReportLine::plain("last prompt", in_quotation_marks(&prompt.text, 160));
        lines.push(line.with_json("last_prompt", json!(prompt.text)));
    }
    let outside = match digest.describe_change_outside_session() {
        "" => String::new(),
        change => format!(", {change}"),
    };
    let describe = |run: &Option<UnseenRun>, since_failure: &ChangesAfterRun, outside: &str| match run {
        Some(run) => {
            let since_run = describe_changes(&run.changes_since, outside);
            format!(", {}", run.describe(since_run.trim_start_matches(", ")))
        }
        None => describe_changes(since_failure, outside),
    };
    let of_session = digest.open_failures().map(|failure| {
        let run = digest.unseen_run_after(failure);
        (failure, describe(&run, &digest.changes_after_check(failure.record), &outside), run)
    });
    let earlier = digest.failures_of_earlier_sessions.iter().map(|failure| {
        let since = describe(&failure.unseen_run, &failure.changes_since, "");
        let since = format!(", in an earlier session{since}");
        (failure, since, failure.unseen_run.clone())
    });
    let all: Vec<(&Failure, String, Option<UnseenRun>)> =
        of_session.chain(earlier).take(MAX_FAILING_COMMANDS_COUNTED).collect();
    let failing: Vec<String> = all.iter().map(|(failure, ..)| failure.command_as_typed()).collect();
    if let (Some(first), Some((_, when, unseen_run))) = (failing.first(), all.first()) {
        let more = match failing.len() {
            1 => when.clone(),
            count => format!("{when} (and {} more)", count - 1),
        };
        let may_be_mended = unseen_run.as_ref().is_some_and(|run| run.is_after_changes);
        let label = if may_be_mended { "unknown" } else { "failing" };
        let line = StatusReportLine::colored(label, StatusTone::Warning, in_backticks(first, 120), more);
        lines.push(line.with_json("failing", json!(failing)));
    }
    Ok(lines)
}

/// Says whether files changed after a run. If no change is known, returns `outside`, which says what others changed.
fn describe_changes(changes: &ChangesAfterRun, outside: &str) -> String {
    match (changes.edited.is_empty(), changes.maybe_changed.is_empty()) {
        (false, _) => ", before the last edit".to_owned(),
        (true, false) => ", and files may have changed since".to_owned(),
        (true, true) => outside.to_owned(),
    }
}

/// Names a session that worked in another worktree after the last session in this checkout. Returns `None` if that
/// worktree still exists.
fn later_session_line(project: &ProjectContext, entries: &[RosterEntry]) -> Option<StatusReportLine> {
    let later = last::find_last_at_work(project, entries, |_| true)?.elsewhere?;
    let left = last_words_in_removed_worktree(project, &later);
    if left.is_empty() {
        return None;
    }
    let session = model::activity::short_session_id(&later.session);
    let worktree = describe_other_worktree(project, &later)?;
    let line = StatusReportLine::plain("later", format!("session {session} in {worktree}{left}"));
    let json = json!({"session": later.session, "worktree": later.first_worktree, "last_message": later.last_message});
    Some(line.with_json("later_session", json))
}

/// Returns a candidate saying that the last session worked in another worktree, so the files it mentions are not the
/// files of this worktree.
pub fn other_worktree_candidate(project: &ProjectContext, digest: &Digest) -> Option<Candidate> {
    let worktree = describe_other_worktree(project, digest)?;
    let is_gone = other_worktree(project, digest).is_some_and(|home| !home.is_dir());
    let files = if is_gone { "" } else { "; its files are in that worktree, not in this one" };
    let head = store::git::read_head(&project.root.checkout).filter(|head| !head.branch.is_empty());
    let here = head.map_or(String::new(), |head| {
        format!("branch {} is checked out here; ", format_path_or_code(&head.branch, 80))
    });
    let text = format!("{here}that session was in {worktree}{files}");
    Some(Candidate::new(&OTHER_WORKTREE_BRIEF_SECTION, "worktree", text))
}

/// Returns a candidate about a later session in another worktree. The brief itself is about a session in this
/// checkout.
pub fn later_session_elsewhere_candidate(project: &ProjectContext, digest: &Digest) -> Option<Candidate> {
    let worktree = describe_other_worktree(project, digest)?;
    let session = model::activity::short_session_id(&digest.session);
    let until = format_path_or_code(&digest.last_at, 30);
    let left = last_words_in_removed_worktree(project, digest);
    let text = format!("until {until}, session {session} worked in {worktree}{}{left}", last_request(digest));
    Some(Candidate::new(&OTHER_WORKTREE_BRIEF_SECTION, format!("elsewhere:{}", digest.session), text))
}

/// Quotes the end of a session's last message if its worktree was removed. Nobody continues the work there, so this is the
/// only place where the next session learns what was left open. Empty for other sessions.
fn last_words_in_removed_worktree(project: &ProjectContext, digest: &Digest) -> String {
    const MAX_LAST_WORDS_CHARS: usize = 200;
    let is_gone = other_worktree(project, digest).is_some_and(|home| !home.is_dir());
    let words = statement::last_sentences(&digest.last_message, MAX_LAST_WORDS_CHARS);
    match is_gone && !words.is_empty() {
        true => {
            format!("; its last message ended with {}", in_quotation_marks(&words, MAX_LAST_WORDS_CHARS + 2))
        }
        false => String::new(),
    }
}

/// Describes a session's worktree, for example `the worktree /p/x (branch topic)`. Returns `None` if it is this
/// checkout.
pub fn describe_other_worktree(project: &ProjectContext, digest: &Digest) -> Option<String> {
    let home = other_worktree(project, digest)?;
    if !home.is_dir() {
        let branch = digest.git_state().branch;
        let checkout = &project.root.checkout;
        let name = format_path_or_code(branch, 80);
        let began = time::parse_time(&digest.first_at);
        let was_merged = |branch: &str| {
            began.is_some_and(|began| store::git::was_branch_merged_since(checkout, branch, began))
        };
        let branch = match () {
            () if branch.is_empty() => String::new(),
            () if was_merged(branch) => {
                format!(" after its branch {name} was merged")
            }
            () if store::git::is_branch_gone(checkout, branch) => format!(" together with its branch {name}"),
            () => format!(" (its branch was {name})"),
        };
        return Some(format!(
            "the worktree {}, which has since been removed{branch}",
            format_path_or_code(&home.to_string_lossy(), 200)
        ));
    }
    let branch = store::git::read_head(&home).filter(|head| !head.branch.is_empty());
    let branch =
        branch.map_or(String::new(), |head| format!(" (branch {})", format_path_or_code(&head.branch, 80)));
    Some(format!("the worktree {}{branch}", format_path_or_code(&home.to_string_lossy(), 200)))
}

/// Returns a session's worktree, or `None` if it is this checkout. The folder may no longer exist.
pub fn other_worktree(project: &ProjectContext, digest: &Digest) -> Option<PathBuf> {
    if digest.first_worktree.is_empty() || Path::new(&digest.first_worktree) == project.root.checkout {
        return None;
    }
    let home = trust::path_after_project_move(project, Path::new(&digest.first_worktree));
    (home != project.root.checkout).then_some(home)
}

/// Describes a running session, for example `session 1a2b3c4d (Claude Code) in the worktree /p/x, branch topic;
/// editing src/a.rs; asked “…”`. The recent work of the session's agents takes at most `left` characters, and its
/// length is subtracted from `left`.
fn running_candidate(project: &ProjectContext, entry: &RosterEntry, left: &mut usize) -> Candidate {
    let digest = project.store.current_digest(&entry.session, |_| {}).unwrap_or_default();
    let folder = Path::new(&entry.worktree);
    let mut text = session_with_harness(entry);
    text.push_str(&match folder == project.root.checkout {
        true => " in this same checkout".to_owned(),
        false => format!(" in the worktree {}", format_path_or_code(&entry.worktree, 160)),
    });
    if let Some(head) = store::git::read_head(folder).filter(|head| !head.branch.is_empty()) {
        text.push_str(&format!(", branch {}", format_path_or_code(&head.branch, 80)));
    }
    let edited = last_edited_files(&digest);
    if !edited.is_empty() {
        text.push_str(&format!("; editing {}", edited.join(", ")));
    }
    if let Some(did) = others::describe_recent_work_of_session(project, &entry.session, *left) {
        *left = left.saturating_sub(utf16_length(&did));
        text.push_str(&format!("; recently {did}"));
    }
    text.push_str(&last_request(&digest));
    Candidate::new(&RUNNING_SESSIONS_BRIEF_SECTION, format!("running:{}", entry.session), text)
}

/// Returns a candidate for each session that ended and was active after this session's last activity.
fn sessions_since_candidates(
    project: &ProjectContext,
    entries: &[RosterEntry],
    session: &Id,
    is_other: impl Fn(&RosterEntry) -> bool,
) -> Vec<Candidate> {
    let store = project.store;
    let Some(own) = entries.iter().find(|entry| entry.session == *session) else { return Vec::new() };
    let since = own.time_of_last_activity(store);
    let later = roster::sort_by_activity(entries, store, is_other);
    let later = later.into_iter().map(|entry| (entry.time_of_last_activity(store), entry));
    let mut told = Vec::new();
    for (at, entry) in later.take_while(|(at, _)| *at > since) {
        let Ok(digest) = store.current_digest(&entry.session, |_| {}) else { continue };
        if told.len() == MAX_SESSIONS_MENTIONED || !roster::has_request_or_work(&digest) {
            continue;
        }
        let edited = last_edited_files(&digest);
        let edited =
            if edited.is_empty() { String::new() } else { format!("; edited {}", edited.join(", ")) };
        let text = format!(
            "{}, until {}{edited}{}",
            session_with_harness(entry),
            format_path_or_code(&at, 30),
            last_request(&digest)
        );
        told.push(Candidate::new(&CHANGES_SINCE_BRIEF_SECTION, format!("worked:{}", entry.session), text));
    }
    told
}

/// If files of this session have changed since its last record, returns a candidate that lists them.
fn changed_files_candidate(project: &ProjectContext, session: &Id) -> Option<Candidate> {
    let digest = project.store.current_digest(session, |_| {}).ok()?;
    let folder = facts::folder_of_session(project, &digest);
    let since = facts::files_changed_since_last_record(project.store, &digest, &folder)?;
    let shown =
        |files: Vec<String>| files.iter().map(|file| format_path_or_code(file, 160)).collect::<Vec<_>>();
    let (changed, gone) = (shown(since.changed), shown(since.missing_files));
    let parts: Vec<String> = [("changed", changed), ("gone", gone)]
        .into_iter()
        .filter(|(_, files)| !files.is_empty())
        .map(|(what, files)| format!("{what}: {}", format_first_names(&files, MAX_CHANGED_FILES_NAMED)))
        .collect();
    (!parts.is_empty()).then(|| {
        Candidate::new(&CHANGES_SINCE_BRIEF_SECTION, "changed:files", format!("Files {}", parts.join("; ")))
    })
}

/// Lists the first `most` names and the number of the others: `a, b, +3 more`.
fn format_first_names(names: &[String], most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let shown = names[..names.len() - more].join(", ");
    if more > 0 { format!("{shown}, +{more} more") } else { shown }
}

/// Names a session and its harness, for example `session 1a2b3c4d (Claude Code)`.
fn session_with_harness(entry: &RosterEntry) -> String {
    let harness =
        harness::harness_by_name(&entry.harness).map_or(entry.harness.as_str(), |harness| harness.title);
    format!("session {} ({})", short_session_id(&entry.session), inline_for_model(harness, 40))
}

fn short_session_id(session: &Id) -> String {
    model::activity::short_session_id(session.as_str())
}

fn last_edited_files(digest: &Digest) -> Vec<String> {
    let mut edited: Vec<&FileUse> = digest.files.iter().filter(|file| file.is_edited()).collect();
    edited.sort_by_key(|file| std::cmp::Reverse(file.changed_at()));
    edited.into_iter().take(MAX_FILES_PER_SESSION).map(|file| format_path_or_code(&file.path, 120)).collect()
}

/// Quotes what the user last asked for. A message that only agrees or says “continue” is left out, because it does not
/// name the work.
fn last_request(digest: &Digest) -> String {
    let prompts = words::prompts_about_work(&digest.prompts);
    let names_work = |prompt: &&&Prompt| {
        prompt.prompt_kind() != PromptKind::Approval && !prompt::begins_with_agreement(&prompt.text)
    };
    let named = prompts.iter().rev().find(names_work).or(prompts.last());
    named.map_or(String::new(), |last| format!("; the user asked {}", in_quotation_marks(&last.text, 100)))
}
