//! `thru files`: ranks the project's files by how tools used them.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use model::digest::Digest;
use model::time;
use serde::Serialize;

use crate::project::{Project, git};
use crate::session::{facts, list};
use crate::{Result, World};

#[derive(Clone, Debug, Serialize)]
pub struct FilesReport {
    /// The session's id, if a single session was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    pub sessions: usize,
    /// The files, most important first.
    pub files: Vec<FileRow>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct FileRow {
    pub path: String,
    pub edits: u32,
    /// How many commands changed the file.
    #[serde(skip_serializing_if = "is_zero")]
    pub edits_by_commands: u32,
    pub reads: u32,
    /// How many times the file was only mentioned in a command line.
    pub guesses: u32,
    pub last_at: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub outside: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ignored: bool,
    /// The worktrees of the sessions that used the file.
    #[serde(skip)]
    homes: Vec<String>,
    #[serde(skip)]
    worth: f64,
}

pub fn files_report(world: &World, session: Option<&str>) -> Result<FilesReport> {
    let Some(Project { root, store, .. }) = Project::find_if_present(world)? else {
        return Ok(FilesReport { session: None, sessions: 0, files: Vec::new() });
    };
    let chosen = match session {
        Some(named) => vec![list::choose_session(world, &store, Some(named))?.0],
        None => list::all_session_ids(&store)?,
    };
    let mut rows = BTreeMap::new();
    for id in &chosen {
        // If a single session was requested, include its earlier ids. Otherwise, the list of sessions already
        // contains them.
        let digest = match session {
            Some(_) => facts::digest_with_predecessors(&store, id, facts::MAX_PREDECESSOR_SESSIONS_READ)?,
            None => store.current_digest(id, |_| {})?,
        };
        add_session_files(&mut rows, &digest, world.now);
    }
    let mut files: Vec<FileRow> = rows.into_values().collect();
    for row in files.iter_mut().filter(|row| !row.outside) {
        // A file may exist only in the worktree where it was created, so look in every worktree that the row lists.
        let folders = row.homes.iter().map(Path::new).chain([root.checkout.as_path()]);
        row.gone = folders.into_iter().all(|folder| folder.join(&row.path).symlink_metadata().is_err());
    }
    let inside: Vec<&str> = files.iter().filter(|row| !row.outside).map(|row| row.path.as_str()).collect();
    let ignored = git::ignored_paths(&root.checkout, &inside);
    for row in &mut files {
        row.ignored = ignored.contains(&row.path);
        row.worth *= if row.ignored || row.gone { 0.3 } else { 1.0 };
    }
    files.sort_by(|a, b| b.worth.total_cmp(&a.worth).then_with(|| a.path.cmp(&b.path)));
    Ok(FilesReport { session: session.map(|_| chosen[0].to_string()), sessions: chosen.len(), files })
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Adds the files of one session. The weight of the files is halved for every day since the session's last record.
fn add_session_files(rows: &mut BTreeMap<String, FileRow>, digest: &Digest, now: Timestamp) {
    let last = time::parse_time(&digest.last_at).unwrap_or(now);
    let days = (now.as_second() - last.as_second()).max(0) as f64 / 86_400.0;
    let ranked = digest.ranked_files();
    let most = ranked.len() as f64;
    for (rank, file) in ranked.into_iter().enumerate() {
        let row = rows.entry(file.path.clone()).or_default();
        row.path.clone_from(&file.path);
        row.edits += file.edits;
        row.edits_by_commands += file.edits_by_commands;
        row.reads += file.reads;
        row.guesses += file.mentions_in_commands;
        row.outside = file.is_outside_checkout;
        if !digest.first_worktree.is_empty() && !row.homes.contains(&digest.first_worktree) {
            row.homes.push(digest.first_worktree.clone());
        }
        if row.last_at < digest.last_at {
            row.last_at.clone_from(&digest.last_at);
        }
        row.worth += (most - rank as f64) / most * (-days).exp2();
    }
}
