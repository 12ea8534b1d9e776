//! Reads the history of a checkout from git's own files: the moves of HEAD, what references point to, and the stashes.

use std::os::fd::AsFd;
use std::path::Path;

use model::digest::{HistoryOnDisk, RefsOnDisk, StashOnDisk};

use super::{
    GitHead, MAX_PACKED_REFS_BYTES, REFLOG_TAIL_BYTES, commit_on_remote, each_move_in_reflog,
    find_packed_ref, git_folders, is_commit_hash, moves_of_head, read_first_line, remote_names,
};
use crate::dir::Dir;
use crate::read::{open_outside_store, read_lines, require_regular_file};

/// How many loose references are read. These are references that git has not packed. A session start has no time for
/// more.
const MAX_LOOSE_REFS: usize = 1_000;
const MAX_FOLDER_DEPTH_OF_REFS: usize = 8;

/// How many remotes are searched for a branch.
const MAX_REMOTES: usize = 8;

/// Reads the newest moves of HEAD, and the commits of its branch on the remotes.
pub fn read_history(dir: &Path, head: &GitHead) -> HistoryOnDisk {
    let Some((_, common)) = git_folders(dir) else { return HistoryOnDisk::default() };
    let moves_of_head = moves_of_head(dir).unwrap_or_default();
    let remotes = remote_names(&common).unwrap_or_default().into_iter().take(MAX_REMOTES);
    let remote_commits =
        remotes.filter_map(|remote| commit_on_remote(&common, &remote, &head.branch)).collect();
    HistoryOnDisk { head: head.commit.clone(), moves_of_head, remote_commits }
}

/// Finds the commits to which branches, tags and remote branches point. Returns those that `is_named` accepts, and
/// whether there may be others.
pub fn read_refs(dir: &Path, is_named: impl Fn(&str) -> bool) -> RefsOnDisk {
    let unknown = RefsOnDisk { commits: Vec::new(), has_others: true };
    let Some((_, common)) = git_folders(dir) else { return unknown };
    let mut found = FoundRefs { refs: RefsOnDisk::default(), left: MAX_LOOSE_REFS, is_named: &is_named };
    found.add_loose_refs(&common.join("refs"), 0);
    found.add_packed_refs(&common.join("packed-refs"));
    found.refs
}

/// Reads the list of stashes. Returns `None` if it cannot be read.
pub fn read_stashes(dir: &Path) -> Option<Vec<StashOnDisk>> {
    let (_, common) = git_folders(dir)?;
    let mut stashes = Vec::new();
    let is_there = read_first_line(&common.join("refs/stash")).is_some()
        || find_packed_ref(&common.join("packed-refs"), "refs/stash").is_some();
    if !is_there {
        return (!common.join("reftable").exists()).then_some(stashes);
    }
    let reflog = common.join("logs/refs/stash");
    let is_whole = reflog.metadata().is_ok_and(|meta| meta.len() <= REFLOG_TAIL_BYTES);
    let is_read = each_move_in_reflog(&reflog, |found| {
        stashes.push(StashOnDisk { description: found.what.to_owned(), at: found.at });
    });
    (is_whole && is_read).then_some(stashes)
}

struct FoundRefs<'f> {
    refs: RefsOnDisk,
    /// How many more files are read.
    left: usize,
    is_named: &'f dyn Fn(&str) -> bool,
}

impl FoundRefs<'_> {
    fn add_commit(&mut self, commit: &str) {
        if !(self.is_named)(commit) {
            self.refs.has_others = true;
        } else if !self.refs.commits.iter().any(|known| known == commit) {
            self.refs.commits.push(commit.to_owned());
        }
    }

    fn add_loose_refs(&mut self, folder: &Path, depth: usize) {
        let names = Dir::open(folder).and_then(|dir| dir.list_names_up_to(self.left + 1));
        let Ok(names) = names else {
            self.refs.has_others = true;
            return;
        };
        // A stash is not part of the work on a branch.
        for name in names.iter().filter(|name| depth > 0 || *name != "stash") {
            if self.left == 0 || depth > MAX_FOLDER_DEPTH_OF_REFS {
                self.refs.has_others = true;
                return;
            }
            self.left -= 1;
            let path = folder.join(name);
            match read_first_line(&path) {
                Some(commit) if is_commit_hash(&commit) => self.add_commit(&commit),
                // Such as `origin/HEAD`, which names another reference.
                Some(text) if text.starts_with("ref:") => {}
                _ if path.is_dir() => self.add_loose_refs(&path, depth + 1),
                _ => self.refs.has_others = true,
            }
        }
    }

    fn add_packed_refs(&mut self, path: &Path) {
        let Ok(file) = open_outside_store(path) else {
            self.refs.has_others |= path.symlink_metadata().is_ok();
            return;
        };
        let size =
            require_regular_file(file.as_fd(), path).ok().filter(|size| *size <= MAX_PACKED_REFS_BYTES);
        let read = size.and_then(|size| {
            let add = |line: &[u8]| {
                let Ok(line) = std::str::from_utf8(line) else { return };
                // A line such as `^1a2b3c4` follows the line of a tag. It contains the tag's commit.
                let commit = line.strip_prefix('^').or_else(|| Some(line.split_once(' ')?.0));
                let is_stash = line.ends_with(" refs/stash");
                if let Some(commit) = commit.filter(|commit| is_commit_hash(commit) && !is_stash) {
                    self.add_commit(commit);
                }
            };
            read_lines(&file, path, 0, size, add).ok()
        });
        self.refs.has_others |= read.is_none();
    }
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
