//! Changes that a command such as `git checkout FILE` or `git reset --hard` threw away.

use super::{Digest, FileEdit};

impl Digest {
    /// Records that the newest command threw away the changes to some files.
    pub(super) fn discard_changes(&mut self, is_meant: impl Fn(&str) -> bool) {
        let now = self.record_count;
        for file in &mut self.files {
            if file.is_outside_checkout || file.stashed || !is_meant(&file.path) {
                continue;
            }
            let is_lost = |edit: &&mut FileEdit| {
                edit.path == file.path && edit.record > file.saved_at && edit.record < now
            };
            self.changes.iter_mut().filter(is_lost).for_each(|edit| edit.is_discarded = true);
            if file.has_uncommitted_change() {
                file.edits_by_commands = 0;
            }
            file.discarded_at = now;
        }
    }

    /// Returns whether an edit was thrown away before it was committed. Git does not throw away a file that it does not
    /// track.
    pub fn is_thrown_away(&self, edit: &FileEdit) -> bool {
        let is_untracked =
            || self.git_on_disk.as_ref().is_some_and(|disk| disk.untracked_files.contains(&edit.path));
        edit.is_discarded && !is_untracked()
    }

    /// If all edits of a file were thrown away, counts them as reads instead. Git's own files must show that
    /// the file has not been changed since.
    pub fn forget_edits_thrown_away(&mut self) {
        let Some(disk) = &self.git_on_disk else { return };
        for file in &mut self.files {
            let is_unchanged = file.saved_at == 0
                && file.discarded_at >= file.changed_at()
                && disk.files_equal_to_index.contains(&file.path);
            if is_unchanged && file.discarded_at > 0 {
                file.reads += std::mem::take(&mut file.edits);
                (file.edited_at, file.written_at) = (0, 0);
            }
        }
    }
}

#[cfg(test)]
#[path = "thrown_away_tests.rs"]
mod tests;
