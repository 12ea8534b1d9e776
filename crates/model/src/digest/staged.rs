//! The names that `git add` and similar commands staged.

use serde::{Deserialize, Serialize};

use super::effects::is_file_or_folder_of;

const MAX_STAGED_NAMES_KEPT: usize = 200;

/// This name stands for all files. Git accepts it as a path, too.
const ALL_FILES: &str = ":/";

/// The names staged since the last commit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct StagedNames {
    names: Vec<StagedName>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct StagedName {
    name: String,
    /// The records in which the name was first and last staged.
    first: u64,
    last: u64,
}

impl StagedNames {
    /// Records the files that the commands stage, or commit directly with `--all`.
    pub(super) fn add_commands(&mut self, commands: &[Vec<String>], record: u64) {
        for words in commands {
            let mut rest = words.iter().skip_while(|word| *word != "git").skip(1);
            let Some(verb) = rest.find(|word| matches!(word.as_str(), "add" | "commit" | "rm" | "mv")) else {
                continue;
            };
            let short = |word: &String, letter: char| {
                word.starts_with('-') && !word.starts_with("--") && word.contains(letter)
            };
            if verb == "commit" {
                if rest.any(|word| word == "--all" || short(word, 'a')) {
                    self.add_name(ALL_FILES, record);
                }
                continue;
            }
            for word in rest {
                let is_all = matches!(word.as_str(), "." | "-A" | "--all" | "-u" | ALL_FILES)
                    || word.contains(['*', '$']);
                if is_all {
                    self.add_name(ALL_FILES, record);
                } else if !word.starts_with('-') {
                    self.add_name(word, record);
                }
            }
        }
    }

    /// Records that a name was staged.
    pub(super) fn add_name(&mut self, name: &str, record: u64) {
        let has_room = self.names.len() < MAX_STAGED_NAMES_KEPT || name == ALL_FILES;
        match self.names.iter_mut().find(|known| known.name == name) {
            Some(known) => known.last = record,
            None if has_room => {
                self.names.push(StagedName { name: name.to_owned(), first: record, last: record });
            }
            None => {}
        }
    }

    /// Returns whether a `git add` was seen that stages this file.
    pub(super) fn names_file(&self, path: &str) -> bool {
        self.names.iter().any(|staged| is_file_or_folder_of(&staged.name, path))
    }

    /// Returns whether a commit made now would contain a file. If no `git add` was seen, the commit is assumed to
    /// contain all files.
    pub(super) fn would_commit_contain_file(&self, path: &str) -> bool {
        self.names.is_empty() || self.names_file(path)
    }

    /// Returns the names that were staged in or before `record`. Removes them, except those that were staged
    /// again later.
    pub(super) fn take_up_to(&mut self, record: u64) -> StagedNames {
        let names = self.names.iter().filter(|staged| staged.first <= record).cloned().collect();
        self.names.retain(|staged| staged.last > record);
        StagedNames { names }
    }
}
