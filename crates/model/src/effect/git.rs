//! Rules for git: what its arguments and its output say that it did.

use super::git_lines::{commit_line, deleted_branch, pushed, rebased, shown_commit, subject, updating};
use super::parts::Part;
use super::said::{Said, is_commit};
use super::{Effect, Kind, Seen, flag, value_of};

/// Applies the rule for the words after `git`.
pub(super) fn rule(seen: &mut Seen, part: &Part) {
    let mut words = &part.words[1..];
    let mut folder = part.folder.clone();
    while let Some(word) = words.first().filter(|word| word.starts_with('-')) {
        let takes_value = matches!(word.as_str(), "-C" | "-c" | "--git-dir" | "--work-tree");
        if word == "-C" {
            folder = words.get(1).cloned().unwrap_or_default();
        }
        words = words.get(1 + usize::from(takes_value)..).unwrap_or_default();
    }
    let Some((verb, rest)) = words.split_first() else { return };
    if flag(rest, &["--dry-run", "--abort", "--quit", "-h", "--help"]) {
        return;
    }
    let git = Git { seen, part, rest, folder };
    match verb.as_str() {
        "commit" => git.commit(),
        "cherry-pick" | "revert" => git.picked(verb),
        "push" => git.push(),
        "merge" => git.merge(),
        "pull" => git.pull(),
        "rebase" => git.rebase(),
        "tag" => git.tag(),
        "branch" => git.branch(),
        "checkout" | "switch" => git.checkout(),
        "restore" => git.restore(),
        "reset" => git.reset(),
        "stash" => git.stash(),
        "clean" => git.clean(),
        "worktree" => git.worktree(),
        "init" | "clone" => git.made_repository(),
        _ => {}
    }
}

struct Git<'s, 'a, 'p> {
    seen: &'s mut Seen<'a>,
    part: &'p Part,
    rest: &'p [String],
    folder: String,
}

impl<'a> Git<'_, 'a, '_> {
    fn said(&self) -> &Said<'a> {
        self.seen.said
    }

    fn add(&mut self, kind: Kind, what: &str, place: &str, id: &str) {
        // Work in a repository that the same command line created is an experiment.
        if self.seen.trial {
            return;
        }
        let effect = Effect { folder: self.folder.clone(), ..Effect::new(kind, what, place, id) };
        self.seen.found.push(effect);
    }

    fn operands(&self) -> Vec<&str> {
        self.rest.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect()
    }

    fn made_repository(self) {
        self.seen.trial |= self.seen.happened(self.part) && self.part.words.iter().any(|word| word == "init");
    }

    fn commit(mut self) {
        let is_amend = flag(self.rest, &["--amend"]);
        let kind = if is_amend { Kind::Amend } else { Kind::Commit };
        if let Some(line) = self.said().take(commit_line) {
            self.add(kind, line.subject, line.branch, line.id);
            if self.part.repeats {
                while let Some(line) = self.said().take(commit_line) {
                    self.add(kind, line.subject, line.branch, line.id);
                }
            }
            return;
        }
        let none =
            ["nothing to commit", "nothing added to commit", "no changes added to commit", "hook failed"];
        if none.iter().any(|words| self.said().contains(words)) {
            return;
        }
        // If a pipe cut the output, its end can still show that there was a commit.
        let is_cut =
            self.said().lines().any(|line| line.contains(" changed, ") || line.starts_with(" create mode "));
        if !(is_cut || self.seen.happened(self.part)) {
            return;
        }
        // `-qam text`: the last of several short options takes the value.
        let is_message = |word: &&str| {
            let options = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
            options
                .and_then(|rest| rest.strip_suffix('m'))
                .is_some_and(|rest| rest.chars().all(|c| "aqsvne".contains(c)))
        };
        let option = self.rest.iter().map(String::as_str).find(is_message).unwrap_or("-m");
        let subject =
            value_of(self.rest, &[option, "-m", "--message"]).map(|text| subject(&text)).unwrap_or_default();
        let id = self.said().take(shown_commit).unwrap_or_default();
        self.add(kind, &subject, "", id);
    }

    /// Adds one commit for each commit that was picked or reverted.
    fn picked(mut self, verb: &str) {
        let mut any = false;
        while let Some(line) = self.said().take(commit_line) {
            any = true;
            self.add(Kind::Commit, line.subject, line.branch, line.id);
        }
        let is_open = flag(self.rest, &["-n", "--no-commit", "--skip"]) || self.said().contains("CONFLICT");
        if !any && !is_open && self.seen.happened(self.part) {
            let what = format!("{verb} {}", self.operands().join(" "));
            self.add(Kind::Commit, &what, "", "");
        }
    }

    fn push(mut self) {
        if flag(self.rest, &["-n"]) {
            return;
        }
        let operands = self.operands();
        let remote = operands.first().copied().unwrap_or_default().to_owned();
        let updates = pushed(self.said());
        if !updates.is_empty() {
            for update in updates {
                let place = if remote.is_empty() { update.to } else { remote.as_str() };
                self.add(Kind::Push, &update.what, place, update.range);
            }
            return;
        }
        if self.said().contains("Everything up-to-date") {
            let branch = operands.get(1).copied().unwrap_or_default().to_owned();
            self.add(Kind::UpToDate, &branch, &remote, "");
        } else if !self.said().contains("rejected]") && self.seen.happened(self.part) {
            let what = operands.get(1..).unwrap_or_default().join(" ");
            let what = if flag(self.rest, &["--tags"]) { "tags".to_owned() } else { what };
            self.add(Kind::Push, &what, &remote, "");
        }
    }

    fn merge(mut self) {
        if let Some(line) = self.said().take(commit_line) {
            self.add(Kind::Merge, line.subject, line.branch, line.id);
            return;
        }
        let none = [
            "CONFLICT",
            "Already up to date",
            "stopped before committing",
            "Squash commit",
            "Automatic merge failed",
        ];
        if none.iter().any(|words| self.said().contains(words))
            || flag(self.rest, &["--no-commit", "--squash"])
        {
            return;
        }
        let moved = self.said().take(updating);
        let made =
            self.said().lines().any(|line| line.starts_with("Merge made by") || line == "Fast-forward");
        if made || moved.is_some() || self.seen.happened(self.part) {
            let operands = self.operands();
            let what = value_of(self.rest, &["-m"]);
            let named = operands
                .iter()
                .find(|word| what.as_deref() != Some(**word))
                .copied()
                .unwrap_or_default()
                .to_owned();
            self.add(Kind::Merge, &named, "", moved.unwrap_or_default());
        }
    }

    fn pull(mut self) {
        if self.said().contains("CONFLICT") || self.said().contains("Already up to date") {
            return;
        }
        let moved = self.said().take(updating);
        let rebased = self.said().take(rebased);
        if moved.is_some() || rebased.is_some() {
            let what = self.operands().join(" ");
            self.add(Kind::Pull, &what, rebased.unwrap_or_default(), moved.unwrap_or_default());
        }
    }

    fn rebase(mut self) {
        // Each step of a rebase prints a line like that of a commit, but is not a new commit.
        while self.said().take(commit_line).is_some() {}
        if let Some(branch) = self.said().take(rebased) {
            let onto = self.operands().first().copied().unwrap_or_default().to_owned();
            self.add(Kind::Rebase, &onto, branch, "");
        }
    }

    fn tag(mut self) {
        let operands = self.operands();
        let is_list =
            flag(self.rest, &["-l", "--list", "-n", "--contains", "--points-at", "--sort", "-v", "--merged"]);
        if is_list || operands.is_empty() {
            return;
        }
        let message = value_of(self.rest, &["-m", "-am", "-sm"]);
        let Some(name) = operands.iter().find(|word| message.as_deref() != Some(**word)) else { return };
        let name = (*name).to_owned();
        if flag(self.rest, &["-d", "--delete"]) {
            let deleted = self.said().take(|line| line.strip_prefix("Deleted tag '")?.split('\'').next());
            if deleted.is_some() || self.seen.happened(self.part) {
                self.add(Kind::Tag, &format!("deleted {}", deleted.unwrap_or(&name)), "", "");
            }
        } else if self.seen.happened(self.part) {
            self.add(Kind::Tag, &name, "", "");
        }
    }

    fn branch(mut self) {
        let mut any = false;
        while let Some((name, id)) = self.said().take(deleted_branch) {
            any = true;
            self.add(Kind::Branch, &format!("deleted {name}"), "", id);
        }
        let lists = [
            "-a",
            "-r",
            "-v",
            "-vv",
            "-l",
            "--list",
            "--show-current",
            "--contains",
            "--merged",
            "--no-merged",
            "--sort",
            "--format",
            "--points-at",
            "-u",
            "--set-upstream-to",
            "--unset-upstream",
            "--edit-description",
            "-av",
            "-avv",
            "-rv",
        ];
        let operands = self.operands();
        let is_list = self.rest.iter().any(|word| lists.contains(&word.split('=').next().unwrap_or(word)));
        if any || is_list || operands.is_empty() || !self.seen.happened(self.part) {
            return;
        }
        let names = operands.join(" ");
        if flag(self.rest, &["-d", "-D", "--delete"]) {
            self.add(Kind::Branch, &format!("deleted {names}"), "", "");
        } else if flag(self.rest, &["-m", "-M", "--move"]) {
            self.add(
                Kind::Branch,
                &format!("renamed to {}", operands.last().copied().unwrap_or_default().to_owned()),
                "",
                "",
            );
        } else {
            let name = operands[0].to_owned();
            self.add(Kind::Branch, &name, "", "");
        }
    }

    fn checkout(mut self) {
        let quoted = |line: &'a str, before: &str| line.strip_prefix(before)?.strip_suffix('\'');
        if let Some(name) = self.said().take(|line| quoted(line, "Switched to a new branch '")) {
            self.add(Kind::Branch, name, "", "");
            return;
        }
        if let Some(name) = self.said().take(|line| {
            quoted(line, "Switched to branch '").or_else(|| quoted(line, "Switched to and reset branch '"))
        }) {
            self.add(Kind::Switch, name, "", "");
            return;
        }
        if let Some(id) = self.said().take(|line| line.strip_prefix("HEAD is now at ")?.split(' ').next()) {
            self.add(Kind::Switch, "", "", id);
            return;
        }
        let new = value_of(self.rest, &["-b", "-B", "-c", "-C", "--create"]);
        let behind = self.rest.iter().position(|word| word == "--");
        let updated = self.said().lines().any(|line| line.starts_with("Updated ") && line.contains(" path"));
        if let Some(name) = new {
            if self.seen.happened(self.part) {
                self.add(Kind::Branch, &name, "", "");
            }
        } else if let Some(place) = behind.filter(|place| place + 1 < self.rest.len()) {
            if updated || self.seen.happened(self.part) {
                let files = self.rest[place + 1..].join(" ");
                self.add(Kind::Discard, &files, "", "");
            }
        } else if updated || self.operands() == ["."] {
            let files = self.operands().join(" ");
            self.add(Kind::Discard, &files, "", "");
        } else if let [name] = self.operands()[..]
            && self.seen.happened(self.part)
            && !self.said().contains("did not match")
        {
            let name = name.to_owned();
            self.add(Kind::Switch, &name, "", "");
        }
    }

    fn restore(mut self) {
        let staged = flag(self.rest, &["--staged", "-S"]) && !flag(self.rest, &["--worktree", "-W"]);
        if !staged && self.seen.happened(self.part) {
            let files = self.operands().join(" ");
            self.add(Kind::Discard, &files, "", "");
        }
    }

    fn reset(mut self) {
        let hard = flag(self.rest, &["--hard", "--keep", "--merge"]);
        let at = self.said().take(|line| line.strip_prefix("HEAD is now at ")?.split(' ').next());
        let operands = self.operands();
        let to = operands.first().copied().unwrap_or_default().to_owned();
        // Without a commit, or with files, a reset only unstages.
        let moves = !matches!(to.as_str(), "" | "HEAD")
            && operands.len() == 1
            && !flag(self.rest, &["--"])
            && (to.contains(['~', '^', '@']) || is_commit(&to) || flag(self.rest, &["--soft", "--mixed"]));
        if hard && (at.is_some() || self.seen.happened(self.part)) {
            self.add(Kind::Reset, &format!("--hard {to}"), "", at.unwrap_or_default());
        } else if moves && self.seen.happened(self.part) {
            self.add(Kind::Reset, &to, "", "");
        }
    }

    fn stash(mut self) {
        let verb = self.operands().first().copied().unwrap_or("push").to_owned();
        match verb.as_str() {
            "push" | "save" => {
                let none = self.said().contains("No local changes to save");
                let saved =
                    self.said().take(|line| line.strip_prefix("Saved working directory and index state "));
                if saved.is_some() || !none && self.seen.happened(self.part) {
                    self.add(Kind::Stash, saved.unwrap_or_default(), "", "");
                }
            }
            "pop" | "apply" | "drop" | "clear" => {
                let kind =
                    if matches!(verb.as_str(), "pop" | "apply") { Kind::Unstash } else { Kind::StashDrop };
                let dropped = self.said().take(|line| line.strip_prefix("Dropped "));
                if dropped.is_some() || self.seen.happened(self.part) {
                    self.add(kind, &verb, "", "");
                }
            }
            _ => {}
        }
    }

    fn clean(mut self) {
        let forced = self.rest.iter().any(|word| {
            word == "--force"
                || word.starts_with('-')
                    && !word.starts_with("--")
                    && word.contains('f')
                    && !word.contains('n')
        });
        if forced && self.seen.happened(self.part) {
            self.add(Kind::Discard, "untracked files", "", "");
        }
    }

    fn worktree(mut self) {
        let operands = self.operands();
        let Some(path) = operands.get(1).map(|path| (*path).to_owned()) else { return };
        if matches!(operands[0], "add" | "remove") && self.seen.happened(self.part) {
            let what = if operands[0] == "add" { path } else { format!("removed {path}") };
            self.add(Kind::Worktree, &what, "", "");
        }
    }
}
