//! Other sessions of this project: those that run at the same time, and what was done since this one was last active.

mod active;
pub mod activity;
mod clashes;
pub(crate) mod others;

use std::path::Path;

use model::brief::{Candidate, Occasion, Section};
use model::digest::{Digest, FileUse};
use model::event::{EventName, EventSet};
use model::id::Id;
use model::packet::words;
use model::render::{code, inline, path, quoted, width};
use model::score::Signal;
use model::text::count;
use serde_json::json;
use store::Store;

use crate::Result;
use crate::features::{BriefContext, Feature, ProjectContext, StatusLine, Tone, Urgency};
use crate::project::trust;
use crate::session::past;
use crate::session::roster::{self, Entry};

pub const ROW: Feature = Feature {
    name: "sessions",
    wants: EventSet::of(&[EventName::Prompt, EventName::SessionStart]),
    decide: clashes::decide,
    candidates,
    sections: &[RUNNING.name, WORKTREE.name, MEANWHILE.name],
    status,
    ..Feature::NONE
};

const RUNNING: Section =
    Section { order: 4, longer: 1, name: "running", title: "Also at work", signal: Signal::Activity };
const WORKTREE: Section =
    Section { order: 0, longer: 1, name: "worktree", title: "Another worktree", signal: Signal::Activity };
const MEANWHILE: Section = Section {
    order: 5,
    longer: 1,
    name: "meanwhile",
    title: "Done by others since this session was last active",
    signal: Signal::Activity,
};

/// How many sessions are mentioned.
const TOLD: usize = 4;
/// How many files of each session are mentioned.
const FILES: usize = 4;

/// How many changed files are named.
const CHANGED: usize = 12;

/// How many failing commands `thru status` counts at most.
const FAILING: usize = 10;

fn candidates(context: &BriefContext) -> Result<Vec<Candidate>> {
    let BriefContext { project, occasion, session, .. } = context;
    if *occasion == Occasion::Asked {
        return Ok(Vec::new());
    }
    let ProjectContext { store, world, .. } = *project;
    let entries = context.roster.entries()?;
    let running: Vec<&Entry> = roster::running(entries, store, *session, world.now).take(TOLD).collect();
    // The limit applies to what is told about all sessions together.
    let mut left = project.settings.awareness_max_chars;
    let mut told: Vec<Candidate> =
        running.iter().map(|entry| running_candidate(project, entry, &mut left)).collect();
    if let (Some(session), Occasion::Resumed | Occasion::Replayed) = (session, occasion) {
        let is_other = |entry: &Entry| entry.session != **session && !running.contains(&entry);
        told.extend(worked_since(project, entries, session, is_other));
        told.extend(changed_since(project, session));
    }
    Ok(told)
}

fn status(project: &ProjectContext) -> Result<Vec<StatusLine>> {
    let ProjectContext { store, world, .. } = *project;
    let entries = roster::read(store, roster::TAIL)?;
    let mut lines = last_work(store, &entries);
    let running: Vec<&Entry> = roster::running(&entries, store, None, world.now).take(TOLD).collect();
    if running.is_empty() {
        return Ok(lines);
    }
    let names: Vec<String> = running.iter().map(|entry| short(&entry.session)).collect();
    let ids: Vec<&str> = running.iter().map(|entry| entry.session.as_str()).collect();
    let head = count(running.len(), "session");
    let line = StatusLine::toned("running", Tone::Good, head, format!(": {}", names.join(", ")));
    lines.push(line.with_json("running", json!(ids)));
    Ok(lines)
}

/// Describes the last active session: what was asked of it, and what fails.
fn last_work(store: &Store, entries: &[Entry]) -> Vec<StatusLine> {
    let Some(session) = roster::last_active(entries, store, |_| true) else { return Vec::new() };
    let Ok(digest) = past::whole(store, &session, past::GENERATIONS) else { return Vec::new() };
    let mut lines = Vec::new();
    if let Some(prompt) = words::real(&digest.prompts).last() {
        let line = StatusLine::plain("last prompt", quoted(&prompt.text, 160));
        let line = line.with_json("last_prompt", json!(prompt.text));
        lines.push(line.with_next(Urgency::Last, "thru brief", "shows where the last session stood"));
    }
    let failing: Vec<String> = digest.open_failures().take(FAILING).map(|failure| failure.run()).collect();
    if let Some(first) = failing.first() {
        let more =
            if failing.len() > 1 { format!(" (and {} more)", failing.len() - 1) } else { String::new() };
        let line = StatusLine::toned("failing", Tone::Warning, code(first, 120), more);
        lines.push(line.with_json("failing", json!(failing)));
    }
    lines
}

/// Says that the last session worked in another worktree, so that its files are not the ones here.
pub fn elsewhere(project: &ProjectContext, digest: &Digest) -> Option<Candidate> {
    if digest.home.is_empty() || Path::new(&digest.home) == project.root.checkout {
        return None;
    }
    let home = trust::place_now(project, Path::new(&digest.home));
    if home == project.root.checkout {
        return None;
    }
    let branch = store::git::head(&home).filter(|head| !head.branch.is_empty());
    let branch = branch.map_or(String::new(), |head| format!(" (branch {})", path(&head.branch, 80)));
    let there = if home.is_dir() { "" } else { ", which is gone" };
    let text = format!(
        "that session was in the worktree {}{branch}{there}; its files are that worktree's, not this one's",
        path(&home.to_string_lossy(), 200)
    );
    Some(Candidate::new(&WORKTREE, "worktree", text))
}

/// Describes a running session:
/// `session 1a2b3c4d (Claude Code) in the worktree /p/x, branch topic; editing src/a.rs; asked “…”`. What its agents
/// did lately takes at most `left` characters, and is subtracted from them.
fn running_candidate(project: &ProjectContext, entry: &Entry, left: &mut usize) -> Candidate {
    let digest = project.store.digest(&entry.session, |_| {}).unwrap_or_default();
    let folder = Path::new(&entry.worktree);
    let mut text = who(entry);
    text.push_str(&match folder == project.root.checkout {
        true => " in this same checkout".to_owned(),
        false => format!(" in the worktree {}", path(&entry.worktree, 160)),
    });
    if let Some(head) = store::git::head(folder).filter(|head| !head.branch.is_empty()) {
        text.push_str(&format!(", branch {}", path(&head.branch, 80)));
    }
    let edited = edited_last(&digest);
    if !edited.is_empty() {
        text.push_str(&format!("; editing {}", edited.join(", ")));
    }
    if let Some(did) = others::of_session(project, &entry.session, *left) {
        *left = left.saturating_sub(width(&did));
        text.push_str(&format!("; lately {did}"));
    }
    text.push_str(&asked(&digest));
    Candidate::new(&RUNNING, format!("running:{}", entry.session), text)
}

/// Returns the sessions that worked after this one and have ended.
fn worked_since(
    project: &ProjectContext,
    entries: &[Entry],
    session: &Id,
    is_other: impl Fn(&Entry) -> bool,
) -> Vec<Candidate> {
    let store = project.store;
    let Some(own) = entries.iter().find(|entry| entry.session == *session) else { return Vec::new() };
    let since = own.active_at(store);
    let later = roster::by_activity(entries, store, is_other);
    let later = later.into_iter().map(|entry| (entry.active_at(store), entry));
    let mut told = Vec::new();
    for (at, entry) in later.take_while(|(at, _)| *at > since) {
        let Ok(digest) = store.digest(&entry.session, |_| {}) else { continue };
        if told.len() == TOLD || !roster::says_something(&digest) {
            continue;
        }
        let edited = edited_last(&digest);
        let edited =
            if edited.is_empty() { String::new() } else { format!("; edited {}", edited.join(", ")) };
        let text = format!("{}, until {}{edited}{}", who(entry), path(&at, 30), asked(&digest));
        told.push(Candidate::new(&MEANWHILE, format!("worked:{}", entry.session), text));
    }
    told
}

/// Returns the files of this session that somebody has changed since its last record.
fn changed_since(project: &ProjectContext, session: &Id) -> Option<Candidate> {
    let digest = project.store.digest(session, |_| {}).ok()?;
    let folder = match digest.home.is_empty() {
        true => project.root.checkout.clone(),
        false => trust::place_now(project, Path::new(&digest.home)),
    };
    let since = past::changed_since(project.store, &digest, &folder)?;
    let shown = |files: Vec<String>| files.iter().map(|file| path(file, 160)).collect::<Vec<_>>();
    let (changed, gone) = (shown(since.changed), shown(since.gone));
    let parts: Vec<String> = [("changed", changed), ("gone", gone)]
        .into_iter()
        .filter(|(_, files)| !files.is_empty())
        .map(|(what, files)| format!("{what}: {}", some_of(&files, CHANGED)))
        .collect();
    (!parts.is_empty())
        .then(|| Candidate::new(&MEANWHILE, "changed:files", format!("Files {}", parts.join("; "))))
}

/// Lists the first names and counts the others: `a, b, +3 more`.
fn some_of(names: &[String], most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let shown = names[..names.len() - more].join(", ");
    if more > 0 { format!("{shown}, +{more} more") } else { shown }
}

/// Names a session and its harness: `session 1a2b3c4d (Claude Code)`.
fn who(entry: &Entry) -> String {
    let harness = harness::by_name(&entry.harness).map_or(entry.harness.as_str(), |harness| harness.title);
    format!("session {} ({})", short(&entry.session), inline(harness, 40))
}

fn short(session: &Id) -> String {
    model::activity::short(session.as_str())
}

fn edited_last(digest: &Digest) -> Vec<String> {
    let mut edited: Vec<&FileUse> = digest.files.iter().filter(|file| file.edits > 0).collect();
    edited.sort_by_key(|file| std::cmp::Reverse(file.edited_at));
    edited.into_iter().take(FILES).map(|file| path(&file.path, 120)).collect()
}

fn asked(digest: &Digest) -> String {
    let prompts = words::real(&digest.prompts);
    prompts.last().map_or(String::new(), |last| format!("; asked {}", quoted(&last.text, 100)))
}
