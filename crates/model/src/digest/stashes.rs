//! Which files are in a stash.

use super::effects::is_file_or_folder_of;
use super::{Digest, FileUse, RecordedEffect};
use crate::declared::may_declare_names;
use crate::effect::{Effect, EffectKind, SOME_CHANGES};

impl Digest {
    /// Marks the files that a stash contains.
    pub(super) fn add_stash(&mut self, stash: &Effect) {
        // If the command names a file of the session by its whole path, it does not mean a file of the same name in
        // another folder.
        let is_exact =
            |file: &FileUse| stash.stash_names().any(|name| name.trim_start_matches("./") == file.path);
        let exact: Vec<bool> = self.files.iter().map(is_exact).collect();
        let has_exact = exact.contains(&true);
        for (file, is_exact) in self.files.iter_mut().zip(exact) {
            let is_covered = match has_exact {
                true => is_exact || stash.stash_names().any(|name| is_in_folder(&file.path, name)),
                false => stash.stash_may_contain(&file.path),
            };
            // A stash leaves untracked files alone. It is unknown whether git tracks a file that a command wrote, so such
            // a file counts only if it may contain declarations.
            file.stashed |= is_covered
                && file.has_uncommitted_change()
                && (file.edits > 0 || may_declare_names(&file.path));
        }
    }

    /// Marks the files that `git stash pop` or `apply` wrote back, or that `drop` or `clear` threw away. The effect must
    /// be the last one.
    pub(super) fn end_stash(&mut self, effect: &Effect) {
        let now = self.record_count;
        let earlier = &self.effects[..self.effects.len().saturating_sub(1)];
        let mut outstanding = outstanding_stashes(earlier);
        let ended = (effect.what != "clear").then(|| remove_stash(&mut outstanding, effect)).flatten();
        let is_in_ended = |file: &FileUse| {
            // `clear` ends all stashes. If another command ended an unknown stash, the file may be in that
            // stash.
            let Some(ended) = ended else { return true };
            let holds = |used: &&&RecordedEffect| used.effect.stash_may_contain(&file.path);
            // Stashing removes changes from the checkout, so a change can only be in the first stash that was
            // made after it.
            let after_change = outstanding.iter().chain([&ended]).filter(holds);
            let first =
                after_change.filter(|used| used.record > file.changed_at()).map(|used| used.record).min();
            ended.effect.stash_may_contain(&file.path) && first.is_none_or(|first| first == ended.record)
        };
        for file in self.files.iter_mut().filter(|file| file.stashed) {
            if is_in_ended(file) {
                file.stashed = false;
                if effect.kind == EffectKind::StashDrop {
                    file.saved_at = now;
                }
            }
        }
    }
}

impl Effect {
    /// Returns the names that a stash was limited to.
    fn stash_names(&self) -> impl Iterator<Item = &str> {
        self.place.split(' ').filter(|name| !name.is_empty() && self.place != SOME_CHANGES)
    }

    pub(super) fn is_stash_of_named_files(&self) -> bool {
        self.stash_names().next().is_some()
    }

    /// Returns whether a stash covers a file. Returns false if it is unknown which changes the stash covers.
    pub(super) fn stash_may_contain(&self, path: &str) -> bool {
        self.place.is_empty() || self.stash_names().any(|name| is_file_or_folder_of(name, path))
    }
}

/// Returns the stashes of the session's repository that no command of the session applied or dropped, oldest first.
pub(super) fn outstanding_stashes(effects: &[RecordedEffect]) -> Vec<&RecordedEffect> {
    let mut stashes = Vec::new();
    for used in effects.iter().filter(|used| !used.is_in_other_repository) {
        match (used.effect.kind, used.effect.what.as_str()) {
            (EffectKind::Stash, _) => stashes.push(used),
            (EffectKind::StashDrop, "clear") => stashes.clear(),
            (EffectKind::Unstash, "apply") => {}
            (EffectKind::Unstash | EffectKind::StashDrop, _) => {
                remove_stash(&mut stashes, &used.effect);
            }
            _ => {}
        }
    }
    stashes
}

/// Removes the stash that a command applied or dropped: the newest one, unless the command names another one, such as
/// `stash@{1}`.
fn remove_stash<'d>(stashes: &mut Vec<&'d RecordedEffect>, effect: &Effect) -> Option<&'d RecordedEffect> {
    let digits = effect.place.trim_matches(|c: char| !c.is_ascii_digit());
    let place = stashes.len().checked_sub(1 + digits.parse::<usize>().unwrap_or(0))?;
    Some(stashes.remove(place))
}

fn is_in_folder(path: &str, folder: &str) -> bool {
    let folder = folder.trim_start_matches("./").trim_end_matches('/');
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}
